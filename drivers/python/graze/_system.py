"""A model at one set of parameter values: its motion, its map, its orbits and their branches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Optional, Union

import numpy

from graze import _graze
from graze._cases import Model, case_of
from graze._graze import Event, State


@dataclass(frozen=True)
class Orbit:
    """A periodic orbit of the map."""

    state: State                #: where it begins, on the section
    period: int                 #: iterates of the map
    residual: float             #: how far it is from closing, as a share of its size
    jacobian: numpy.ndarray     #: of that many iterates, in the coordinates of the map
    multipliers: numpy.ndarray  #: its eigenvalues, complex, greatest modulus first

    @property
    def x(self) -> numpy.ndarray:
        """The state where the orbit begins."""
        return self.state.x

    @property
    def stable(self) -> bool:
        """Whether all multipliers lie in the unit circle."""
        return bool(numpy.all(numpy.abs(self.multipliers) < 1))


@dataclass(frozen=True)
class Located:
    """A point of a branch where something changes."""

    kind: str                 #: fold, period_doubling, grazing, … (data/FORMAT.md)
    contact: int              #: whose event changes, -1: none
    parameter: float          #: where
    parameter_error: float    #: estimate of its error; 0: rounding
    x: numpy.ndarray          #: a state of the orbit there
    orbit: numpy.ndarray      #: its states on the section, one below the other
    periods: int              #: of the forcing in one turn
    turn: float               #: time of one turn


@dataclass(frozen=True)
class BranchPoint:
    """A periodic orbit of a branch."""

    parameter: float            #: its value
    x: numpy.ndarray            #: the state at the first meeting with the section
    orbit: numpy.ndarray        #: all of them, one below the other
    turn: float                 #: time of one turn
    impacts: list[int]          #: per contact, in one turn
    stable: bool                #: all multipliers lie in the unit circle
    admissible: bool            #: no contact is crossed: the system itself moves so
    residual: float             #: of the equations
    multipliers: numpy.ndarray  #: complex, greatest modulus first
    passed: list[Located] = field(default_factory=list)  #: located since the point before


class Branch(Iterator[BranchPoint]):
    """Walks along a branch of periodic orbits, one point at each step of the iteration; see System.branch."""

    def __init__(self, walk: _graze.BranchWalk):
        self._walk = walk

    def __next__(self) -> BranchPoint:
        if not self._walk.next():
            raise StopIteration
        point = self._walk.point
        passed = [Located(**at) for at in point.pop("passed")]
        return BranchPoint(**point, passed=passed)

    @property
    def end(self) -> str:
        """Why the branch has ended; empty while it goes on."""
        return self._walk.end


class System:
    """A model at one set of parameter values.

        system = graze.System("impact_oscillator", b=0.1, stop=0.1, omega=2.2)
        x, jacobian, events = system.map([-0.5, 0.0])

    model       name of a model, path of a model file, or the table [model] of a case
    parameters  of the model, in its units; what is left out has its default
    map         the section of `map`, `orbit` and `branch`: "stroboscopic" (the default where the model is forced),
                "impact" with `contact` and `side`, "section" with `coordinate`, `level` and `direction`
    tolerance   keys of the table [tolerance] of a case

    Raises InputError for settings that break a rule, MotionError where the parameters make no system.

    A state is given as numbers, by name ({"x1": 0.1}, the others are those of the model's start), or as a State: what
    a motion has come to, with its time and with what the numbers do not say (which contacts are closed). What is
    given as a State comes back as one, all else as an array. Methods may be called from several threads; those of
    one System wait for each other, others run at the same time.
    """

    def __init__(self, model: Model, *, map: Optional[str] = None, contact: Optional[str] = None,
                 side: Optional[str] = None, coordinate: Optional[str] = None, level: Optional[float] = None,
                 direction: Optional[str] = None, tolerance: Optional[Mapping[str, float]] = None, **parameters: Any):
        # A case needs a question; this one is never asked.
        case = case_of(model, "simulate", {"end_time": 1.0}, parameters, {"tolerance": tolerance})
        section = {"map": map, "contact": contact, "side": side, "coordinate": coordinate, "level": level,
                   "direction": direction}
        self._system = _graze.MovingSystem(_graze.toml_document(case),
                                           {key: value for key, value in section.items() if value is not None})

    def __repr__(self) -> str:
        return f"System({', '.join(f'{name}={value:g}' for name, value in self.parameters.items())})"

    @property
    def parameters(self) -> dict[str, float]:
        """All parameters with their values."""
        return self._system.parameters

    @property
    def states(self) -> list[str]:
        """The names of the states, in order."""
        return self._system.states

    @property
    def contacts(self) -> list[str]:
        """The names of the contacts; events and gaps count them from 0."""
        return self._system.contacts

    @property
    def frictions(self) -> list[str]:
        """The names of the dry frictions."""
        return self._system.frictions

    @property
    def jumps(self) -> list[str]:
        """The names of the jump maps."""
        return self._system.jumps

    @property
    def period(self) -> float:
        """The forcing period; 0 without forcing."""
        return self._system.period

    def start(self) -> State:
        """Where a motion of the model begins when nothing else is said."""
        return self._system.start()

    def state(self, x: Union[Sequence[float], Mapping[str, float], State], time: float = 0.0) -> State:
        """A state at a time. Raises InputError for a wrong number of entries or a name that is not there."""
        if isinstance(x, State):
            return x
        if isinstance(x, Mapping):
            return self._system.state(self._named(x), time)
        return self._system.state(numpy.asarray(x, float), time)

    def advance(self, x, duration: Optional[float] = None, time: float = 0.0):
        """The motion from a state over a duration (one forcing period when left out).

        Returns the state there and the list of events on the way (kind, time, contact, approach_speed, before,
        after). `time` is that of the start, if `x` is not a State. Raises MotionError where the motion breaks off.
        """
        if duration is None:
            if not self.period > 0:
                raise _graze.InputError("without forcing there is no period: say how long")
            duration = self.period
        state, events = self._system.advance(self.state(x, time), float(duration))
        return self._like(x, state), events

    def map(self, x):
        """One iterate of the map: returns the state, the Jacobian of the map and the events on the way.

        The Jacobian is that of the coordinates on the section: on a stroboscopic one all states, on others without
        the one that the section fixes, and, under forcing, the time since phase zero as the last one. It is exact
        through impacts, sticking and complete chatter. Raises MotionError where the motion breaks off.
        """
        state, jacobian, events = self._system.map(self.state(x))
        return self._like(x, state), jacobian, events

    def orbit(self, x, period: int = 1) -> Orbit:
        """The periodic orbit near a state on the section that closes after `period` iterates of the map.

        Newton's method, with the derivatives of `map`, to a residual below 1e-10. Raises MotionError where it does
        not get there.
        """
        return Orbit(*self._system.orbit(self.state(x.state if isinstance(x, Orbit) else x), int(period)))

    def gaps(self, x) -> tuple[numpy.ndarray, numpy.ndarray]:
        """The gap of every contact, in the unit of positions and ≥ 0 while it is open, and its rate."""
        return self._system.gaps(self.state(x))

    def branch(self, parameter: str, x, range: tuple[float, float], *, period: Optional[int] = None,
               direction: int = 1, step: float = 0.02, points: int = 2000) -> Branch:
        """Follows the periodic orbit near a state over a parameter, through its bifurcations.

            branch = system.branch("omega", orbit, (2.0, 3.0))
            for point in branch: …
            print(branch.end)

        parameter  of the model; the walk begins at its value in this System
        x          an Orbit, or a state near one
        range      (from, to) of the parameter
        period     iterates of the map in one turn; that of the Orbit, else 1
        direction  +1: towards greater values first, -1: towards smaller ones
        step       greatest step of arclength; the parameter counts in units of its range
        points     at most

        The walk is done while one iterates. Raises MotionError where there is no orbit at `x`.
        """
        turns = x.period if isinstance(x, Orbit) else 1
        state = self.state(x.state if isinstance(x, Orbit) else x)
        low, high = float(range[0]), float(range[1])
        if not low < high:
            raise _graze.InputError(f"range = ({low}, {high}): must be (from, to) with from < to")
        if not low <= self.parameters.get(parameter, low) <= high:
            raise _graze.InputError(f"{parameter} = {self.parameters[parameter]} lies outside the range ({low}, {high})")
        return Branch(_graze.BranchWalk(self._system, parameter, state, int(period or turns), low, high,
                                        int(direction), float(step), int(points)))

    def _named(self, values: Mapping[str, float]) -> numpy.ndarray:
        numbers = self.start().x
        for name, value in values.items():
            if name not in self.states:
                raise _graze.InputError(f"there is no state {name}; there are: {', '.join(self.states)}")
            numbers[self.states.index(name)] = value
        return numbers

    @staticmethod
    def _like(x, state: State):
        return state if isinstance(x, State) else state.x
