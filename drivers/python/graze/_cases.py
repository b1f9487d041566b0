"""From a case, or from keywords, to a result."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Optional, Union, cast

import numpy
import xarray

from graze import _graze
from graze._results import Result, to_xarray

#: The name of a model, the path of a model file (ending in .toml), or the table [model] of a case.
Model = Union[str, os.PathLike, Mapping[str, Any]]
#: A bar where somebody sees it (None), always (True), never (False); or a function of the share that is done, 0 … 1.
Progress = Union[None, bool, Callable[[float], None]]
#: An initial state: its numbers, or some of them by name; `time` is that of the start.
Initial = Union[Sequence[float], Mapping[str, float]]
Observables = Mapping[str, Union[str, Mapping[str, str]]]


class _Bar:
    """A progress bar on stderr that appears when a run takes longer than a second."""

    def __init__(self):
        from tqdm.std import tqdm

        self.bar = tqdm(total=100, delay=1, file=sys.stderr, leave=False,
                        bar_format="{percentage:5.1f} % |{bar:30}| {remaining} left")

    def __call__(self, share: float) -> None:
        self.bar.update(100 * share - self.bar.n)

    def close(self) -> None:
        self.bar.close()


def _somebody_looks() -> bool:
    return "ipykernel" in sys.modules or (sys.stderr is not None and sys.stderr.isatty())


def _overrides(settings: Optional[Mapping[str, Any]]) -> list[str]:
    lines = []
    for key, value in (settings or {}).items():
        line = _graze.toml_document({"x": {"value": value}}).split("value = ", 1)[1]
        lines.append(f"{key}={line.strip()}")
    return lines


def _case(case: Union[str, os.PathLike, Mapping[str, Any]], settings: Optional[Mapping[str, Any]]) -> _graze.Case:
    overrides = _overrides(settings)
    if isinstance(case, Mapping):
        return _graze.case_of_text(_graze.toml_document({"graze": 1, **case}), "case", overrides)
    if isinstance(case, str) and "\n" in case:
        return _graze.case_of_text(case, "case", overrides)
    return _graze.case_of_file(os.fspath(case), overrides)


def run(case: Union[str, os.PathLike, Mapping[str, Any]], *, settings: Optional[Mapping[str, Any]] = None,
        threads: int = 0, progress: Progress = None) -> Result:
    """Does the analysis of a case, in memory; the result is what `graze run` writes to its file.

    case      path of a case file, its TOML text, or the same as a dictionary of dictionaries
    settings  changes as of `--set`: {"analysis.axis.points": 11, "model.r1": 0.9}
    threads   0: what the case says, else as many as the machine has; no array depends on it
    progress  None: a bar in a terminal or notebook when it takes longer than a second; True, False; or a function
              that is called with the share done, 0 … 1, some twenty times a second

    Returns an xarray.Dataset with the arrays, dimensions, units (`units`) and classes (`flag_values`,
    `flag_meanings`) of the file (data/FORMAT.md); where the file has groups (`continue`, `curves`), a dictionary of
    datasets by their paths: the root "/", "/bifurcation", … Arrays are numpy's without having been copied.

    Raises InputError for a case that breaks a rule, MemoryError for one that is too large, KeyboardInterrupt after
    Ctrl-C. Other threads of Python run meanwhile.
    """
    given = _case(case, settings)
    for text in given.warnings:
        warnings.warn(text, stacklevel=2)
    bar = _Bar() if progress is True or (progress is None and _somebody_looks()) else None
    watcher = progress if callable(progress) else bar
    try:
        triple = _graze.run(given, threads, watcher)
    finally:
        if bar:
            bar.close()
    return to_xarray(triple, _graze.attributes(given, threads))


def _is_axis(value: Any) -> bool:
    return not isinstance(value, (str, Mapping)) and numpy.ndim(value) == 1 and numpy.asarray(value).dtype.kind in "fiu"


def _model_table(model: Model, parameters: Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(model, Mapping):
        return {**model, **parameters}
    name = os.fspath(model)
    return {"file" if name.endswith(".toml") else "name": name, **parameters}


def case_of(model: Model, analysis: str, keys: Mapping[str, Any], parameters: Mapping[str, Any],
            common: Mapping[str, Any], axis: Optional[Callable[[str, Any], dict[str, Any]]] = None) -> dict[str, Any]:
    """A case as a dictionary: `axis` makes the table of an axis out of a name and what is given for it."""
    table: dict[str, Any] = {"name": analysis}
    names = [name for name, value in parameters.items() if axis and _is_axis(value)]
    free = [key for key, value in keys.items() if key.startswith("axis") and value is None]
    table.update({key: axis(name, parameters[name]) for key, name in zip(free, names) if axis})
    if len(names) > len(free):
        raise _graze.InputError(f"{analysis}: too many axes: {', '.join(names)}")
    table.update({key: value for key, value in keys.items() if value is not None})
    case: dict[str, Any] = {"graze": 1}
    if common.get("title"):
        case["title"] = common["title"]
    case["model"] = _model_table(model, {name: v for name, v in parameters.items() if name not in names})
    initial = common.get("initial")
    if initial is not None:
        case["initial"] = initial if isinstance(initial, Mapping) else {"state": [float(x) for x in initial]}
    case["analysis"] = table
    if common.get("tolerance"):
        case["tolerance"] = common["tolerance"]
    if common.get("seed") is not None:
        case["run"] = {"seed": common["seed"]}
    if common.get("observables"):
        case["observable"] = [{"name": name, **(value if isinstance(value, Mapping) else {"value": value})}
                              for name, value in common["observables"].items()]
    return case


def _values(what: str) -> Callable[[str, Any], dict[str, Any]]:
    return lambda name, values: {what: name, "values": numpy.asarray(values, float)}


def _range(name: str, ends: Any) -> dict[str, Any]:
    if len(ends) != 2:
        raise _graze.InputError(f"{name} = {ends}: a range has two ends: {name}=(from, to)")
    return {"parameter": name, "from": float(ends[0]), "to": float(ends[1])}


_COMMON = ("title", "initial", "tolerance", "seed", "observables")
_NOT_KEYS = ("model", "threads", "progress", "parameters", *_COMMON)


def _do(analysis: str, given: dict[str, Any], axis=None, at: Optional[Mapping[str, float]] = None) -> Result:
    """Runs the analysis with the arguments of its function, its locals(). `at`: values of parameters that have an
    axis, too."""
    keys = {name: value for name, value in given.items() if name not in _NOT_KEYS}
    case = case_of(given["model"], analysis, keys, given["parameters"], {k: given.get(k) for k in _COMMON}, axis)
    case["model"].update(at or {})
    return run(case, threads=given["threads"], progress=given["progress"])


def sweep(model: Model, *, axis: Optional[Mapping[str, Any]] = None, axis2: Optional[Mapping[str, Any]] = None,
          map: Optional[str] = None, contact: Optional[str] = None, side: Optional[str] = None,
          coordinate: Optional[str] = None, level: Optional[float] = None, direction: Optional[str] = None,
          transient: Optional[int] = None, record: Optional[int] = None, max_period: Optional[int] = None,
          extension: Optional[int] = None, persist: Optional[float] = None, exponent: Optional[int] = None,
          itinerary: Optional[int] = None, start: Optional[str] = None, starts: Optional[int] = None,
          low: Optional[Sequence[float]] = None, high: Optional[Sequence[float]] = None,
          initial: Optional[Initial] = None, tolerance: Optional[Mapping[str, float]] = None,
          seed: Optional[int] = None, observables: Optional[Observables] = None,
          title: Optional[str] = None, threads: int = 0, progress: Progress = None,
          **parameters: Any) -> xarray.Dataset:
    """Attractors over one parameter of a model, or a map over two.

        graze.sweep("two_dof_stops", delta=numpy.linspace(0.1, 1.5, 1401), r1=0.8)

    parameters  of the model, in its units (`graze.models(name)`): a number, or the values of an axis as a
                one-dimensional array, once or twice; `axis={"parameter": …, "from": …, "to": …, "points": …}` instead
    map         "stroboscopic" | "impact" (with `contact`, `side`) | "section" (with `coordinate`, `level`,
                `direction`): the section whose iterates are classified
    transient, record, max_period   map iterates dropped, kept; longest period looked for
    start       "fixed" | "follow_up" | "follow_down" | "follow_both" | "random" (with `starts`, `low`, `high`)
    initial     the initial state: numbers, or some of them by name
    observables  expressions by name, told beside the states: {"power": "F*cos(omega*t)*v"}
    and what else `graze analyses sweep` tells; None: the program's default.

    Returns and raises as `run`. Dimensions: the parameters, `start` first where there are several.
    """
    return cast(xarray.Dataset, _do("sweep", locals(), _values("parameter")))


def basins(model: Model, *, axis: Optional[Mapping[str, Any]] = None, axis2: Optional[Mapping[str, Any]] = None,
           axis3: Optional[Mapping[str, Any]] = None, axis4: Optional[Mapping[str, Any]] = None,
           samples: Optional[int] = None, low: Optional[Sequence[float]] = None,
           high: Optional[Sequence[float]] = None, map: Optional[str] = None, contact: Optional[str] = None,
           side: Optional[str] = None, coordinate: Optional[str] = None, level: Optional[float] = None,
           direction: Optional[str] = None, transient: Optional[int] = None, record: Optional[int] = None,
           max_period: Optional[int] = None, extension: Optional[int] = None, persist: Optional[float] = None,
           exponent: Optional[int] = None, initial: Optional[Initial] = None,
           tolerance: Optional[Mapping[str, float]] = None, seed: Optional[int] = None,
           observables: Optional[Observables] = None, title: Optional[str] = None, threads: int = 0,
           progress: Progress = None, **parameters: Any) -> xarray.Dataset:
    """Which attractor each initial state of a grid, or of a random sample, leads to.

        graze.basins("impact_oscillator", x=numpy.linspace(-2, 0, 200), v=numpy.linspace(-2, 2, 200), omega=2.8)

    parameters  of the model: numbers; and the states of the grid: their values as one-dimensional arrays, up to
                four. States without an axis have the value of `initial`.
    samples     in place of a grid: so many random initial states between `low` and `high`
    observables  expressions by name, told beside the states: {"power": "F*cos(omega*t)*v"}
    and what else `graze analyses basins` tells; None: the program's default.

    Returns and raises as `run`: `basin` numbers the attractors, largest basin first (data/FORMAT.md).
    """
    return cast(xarray.Dataset, _do("basins", locals(), _values("state")))


def simulate(model: Model, *, periods: Optional[float] = None, end_time: Optional[float] = None,
             skip_periods: Optional[float] = None, samples_per_period: Optional[float] = None,
             samples: Optional[int] = None, energy: Optional[bool] = None, initial: Optional[Initial] = None,
             tolerance: Optional[Mapping[str, float]] = None, observables: Optional[Observables] = None,
             title: Optional[str] = None, threads: int = 0,
             progress: Progress = None, **parameters: Any) -> xarray.Dataset:
    """One motion as a time series with all its events.

        motion = graze.simulate("impact_oscillator", periods=10, initial={"x": -0.5}, omega=2.8)
        motion.state.sel(component=0), motion.event_time[motion.event_kind == 0]

    periods       forcing periods recorded; or `end_time`
    skip_periods  forcing periods dropped before
    energy        whether its energy and what adds to it and takes from it are told, of linear systems
    parameters    of the model: numbers
    observables  expressions by name, told beside the states: {"power": "F*cos(omega*t)*v"}
    and what else `graze analyses simulate` tells; None: the program's default.

    Returns and raises as `run`. A motion that breaks off says so in `outcome`.
    """
    return cast(xarray.Dataset, _do("simulate", {**locals(), "seed": None}))


def continue_(model: Model, *, axis: Optional[Mapping[str, Any]] = None, start: Optional[str] = None,
              sweep: Optional[str] = None, at: Optional[float] = None, starts: Optional[int] = None,
              low: Optional[Sequence[float]] = None, high: Optional[Sequence[float]] = None,
              step: Optional[float] = None, points: Optional[int] = None, generations: Optional[int] = None,
              branches: Optional[int] = None, seconds: Optional[float] = None, map: Optional[str] = None,
              contact: Optional[str] = None, side: Optional[str] = None, coordinate: Optional[str] = None,
              level: Optional[float] = None, direction: Optional[str] = None, transient: Optional[int] = None,
              record: Optional[int] = None, max_period: Optional[int] = None, extension: Optional[int] = None,
              persist: Optional[float] = None, exponent: Optional[int] = None, initial: Optional[Initial] = None,
              tolerance: Optional[Mapping[str, float]] = None, seed: Optional[int] = None,
              observables: Optional[Observables] = None,
              title: Optional[str] = None, threads: int = 0, progress: Progress = None,
              **parameters: Any) -> dict[str, xarray.Dataset]:
    """Branches of periodic orbits over a parameter, stable or not, and their bifurcations.

        branches = graze.continue_("impact_oscillator", omega=(2.0, 3.0), at=2.2, b=0.1)
        branches["/"].stable, branches["/bifurcation"].kind

    parameters  of the model: numbers; one of them as its range (from, to)
    start       "state" (what `initial` settles to at `at`) | "random" (with `starts`, `low`, `high`) | "from_sweep"
                (with `sweep`, a result file)
    observables  expressions by name, told beside the states: {"power": "F*cos(omega*t)*v"}
    and what else `graze analyses continue` tells; None: the program's default.

    Returns a dictionary of datasets: "/" has the points of all branches, "/bifurcation" what was located.
    Raises as `run`.
    """
    return cast("dict[str, xarray.Dataset]", _do("continue", locals(), _range))


def curves(model: Model, *, axis: Optional[Mapping[str, Any]] = None, axis2: Optional[Mapping[str, Any]] = None,
           at: Optional[Mapping[str, float]] = None, start: Optional[str] = None, branches: Optional[str] = None,
           kind: Optional[str] = None, kinds: Optional[Sequence[str]] = None, switch: Optional[bool] = None,
           beyond: Optional[bool] = None, step: Optional[float] = None, points: Optional[int] = None,
           curves: Optional[int] = None, seconds: Optional[float] = None, map: Optional[str] = None,
           contact: Optional[str] = None, side: Optional[str] = None, coordinate: Optional[str] = None,
           level: Optional[float] = None, direction: Optional[str] = None, transient: Optional[int] = None,
           record: Optional[int] = None, max_period: Optional[int] = None, extension: Optional[int] = None,
           persist: Optional[float] = None, exponent: Optional[int] = None, initial: Optional[Initial] = None,
           tolerance: Optional[Mapping[str, float]] = None, seed: Optional[int] = None, title: Optional[str] = None,
           threads: int = 0, progress: Progress = None, **parameters: Any) -> dict[str, xarray.Dataset]:
    """Curves of bifurcations over two parameters, and the points of codimension two on them.

        graze.curves("impact_oscillator", F=(0.01, 1.5), omega=(0.6, 2.4), at={"F": 0.3, "omega": 1.3}, b=0.05)
        graze.curves("two_dof_stops", delta=(0.2, 1.0), d1=(-0.5, 0.0), start="from_continue", branches="branches.h5")

    parameters  of the model: numbers; two of them as their ranges (from, to)
    at          start "state": where in these ranges the motion from `initial` settles to the first orbit
    start       "state" | "from_continue" (with `branches`, a result file over one of the two parameters)
    and what else `graze analyses curves` tells; None: the program's default.

    Returns a dictionary of datasets: "/" has the points of all curves, "/curve/0" and so on those of each, "/codim2"
    the points of codimension two, "/start" what came of each start. Raises as `run`.
    """
    given = {name: value for name, value in locals().items() if name != "at"}
    return cast("dict[str, xarray.Dataset]", _do("curves", given, _range, at))


def models(name: Optional[str] = None) -> Union[list[str], dict[str, Any]]:
    """The names of all models; with a name its description: meaning, equations, parameters (with unit, default and
    range), states, contacts, citations. Raises InputError naming the nearest model."""
    return _graze.model_names() if name is None else _graze.model(name)
