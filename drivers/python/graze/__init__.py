"""Long-term motion of mechanical systems with impacts and friction, and the parameter values at which it changes.

    import graze, numpy

    result = graze.sweep("two_dof_stops", delta=numpy.linspace(0.6, 0.75, 301), r1=0.8)
    result.map_state.sel(state=0)                       # an xarray.Dataset, as in the program's result file
    graze.plot(result, panels=["x1", "class"])          # the program's diagram, a matplotlib figure

    system = graze.System("impact_oscillator", b=0.1, stop=0.1, omega=2.2)
    x, jacobian, events = system.map([-0.5, 0.0])       # one forcing period, with derivatives through impacts
    orbit = system.orbit(x, period=1)                   # refined by Newton's method
    for point in system.branch("omega", orbit, (2.0, 3.0)):
        print(point.parameter, point.stable, [at.kind for at in point.passed])

`run` does what a case file says; `sweep`, `simulate`, `continue_`, `curves` and `basins` make the case from keywords.
`models()` names the models, `models(name)` describes one.

Errors: `InputError` (a ValueError) says which setting breaks which rule, in the words of the program; `MotionError`
(a RuntimeError) that a motion broke off, its attribute `outcome` how. A point of a sweep that fails does not raise:
it is marked in `outcome`. Ctrl-C raises KeyboardInterrupt within a fraction of a second and leaves nothing behind.
"""

from graze._cases import basins, continue_, curves, models, run, simulate, sweep
from graze._graze import InputError, MotionError, __version__
from graze._plot import plot
from graze._results import flags, save
from graze._system import Branch, BranchPoint, Event, Located, Orbit, State, System

__all__ = [
    "Branch", "BranchPoint", "Event", "InputError", "Located", "MotionError", "Orbit", "State", "System",
    "__version__", "basins", "continue_", "curves", "flags", "models", "plot", "run", "save", "simulate", "sweep",
]
