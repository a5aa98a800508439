"""What is to be simulated: a model, a start, a horizon, and what is asked of the solver. Each choice stands for itself."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from tellegen.compiler.context import Array, ModelContext
from tellegen.compiler.numeric_model import NumericModel
from tellegen.core.names import did_you_mean, listing
from tellegen.simulation import rules


@final
class Solver(NamedTuple):
    """What a solver can do; in C it is the function `tg_` and its word."""

    keeps_step: bool = False
    explicit: bool = False
    """It advances x' = f alone: no unknowns, and no rates that are given by equations."""
    has_sensitivities: bool = False


SOLVERS: Final[Mapping[str, Solver]] = {
    "auto": Solver(),
    "exponential": Solver(explicit=True),
    "runge-kutta": Solver(explicit=True, has_sensitivities=True),
    "cvode": Solver(explicit=True, has_sensitivities=True),
    "ida": Solver(has_sensitivities=True),
    "midpoint": Solver(keeps_step=True),
    "discrete-gradient": Solver(keeps_step=True),
    "heyoka": Solver(explicit=True),
}
FIXED_STEP: Final = tuple(name for name, solver in SOLVERS.items() if solver.keeps_step)

FINEST_RTOL: Final = 1e-14
DEFAULT_ROWS: Final = 1001
BLOCK: Final = 100_000
"""Output times that are made at once, in no time."""
ATOL_OVER_RTOL: Final = 1e-3
"""Where no absolute tolerance is given: values a thousand times smaller than one unit still count relatively."""


@final
@dataclass(frozen=True)
class Problem:
    """A run from t0 to `until`.

    `times` are the output times, or how many of them, evenly spaced. `y0` gives initial values by name or as a whole; those not
    named are the model's own. `atol` is one number or one for each variable by name. Tolerances hold for every variable, whatever
    the size of the model. `step` is the step of the methods that keep theirs. `context` continues with the memory of an earlier
    run. `before` says what sampled and delayed signals were before the start, by name; the others had their initial values.
    `rows_at_changes` adds rows on both sides of every change of mode, so that none hides between two rows. A run that ends early
    has a row where it ends in any case.
    """

    model: NumericModel
    until: float
    t0: float = 0.0
    y0: Mapping[str, float] | Array | None = None
    yp0: Array | None = None
    times: Array | int = DEFAULT_ROWS
    solver: str = "auto"
    rtol: float = 1e-6
    atol: float | Mapping[str, float] | None = None
    max_step: float = np.inf
    step: float | None = None
    max_steps: int = 100_000_000
    parameters: Mapping[str, float] | Array | None = None
    inputs: Mapping[str, float] | Array | None = None
    books: bool = True
    context: ModelContext | None = None
    before: Mapping[str, float] = field(default_factory=dict)
    rows_at_changes: bool = False

    def checked(self) -> "Problem":
        """The same problem, when it makes sense.

        Raises: SimulationError naming the first thing that does not.
        """
        _check_solver(self.solver)
        _check_tolerances(self)
        _check_horizon(self)
        _check_numbers(self)
        return self

    @cached_property
    def given(self) -> tuple[Array, Array]:
        """The values of parameters and inputs.

        Raises: CompilerError naming one that the model does not have.
        """
        if self.context is not None:
            return self.context.parameters, self.context.inputs
        return self.model.parameters_with(self.parameters), self.model.inputs_with(self.inputs)

    def start(self) -> Array:
        """y at t0, before algebraic unknowns are made consistent.

        Raises: SimulationError naming an initial value that is no variable, or is not a number.
        """
        names = self.model.names
        if self.y0 is None:
            y = self.model.start()
        elif isinstance(self.y0, Mapping):
            y, place = self.model.start(), self.model.index
            for name, value in self.y0.items():
                # The usual case is looked up at once; `index_of` is there to raise the error with near names.
                y[place[name] if name in place else index_of(name, self.model, "an initial value")] = value
        else:
            y = np.array(self.y0, dtype=float)
        if y.shape != (len(names),):
            raise rules.NO_SUCH_VARIABLE.error(
                f"{len(y)} initial values are given for {len(names)} variables",
                where=self.model.name,
                fix=listing(names),
            )
        if not np.isfinite(y).all():
            name, value = next((name, v) for name, v in zip(names, y, strict=True) if not np.isfinite(v))
            raise rules.NOT_A_NUMBER.error(
                f"the initial value of '{name}' is {value}", where=self.model.name, fix=f"give '{name}' a number"
            )
        return y

    def tolerances(self) -> Array:
        """The absolute tolerance of each variable."""
        default = ATOL_OVER_RTOL * self.rtol
        if not isinstance(self.atol, Mapping):
            return np.full(self.model.size, self.absolute_tolerance(""))
        found = np.full(self.model.size, default)
        for name, value in self.atol.items():
            found[index_of(name, self.model, "a tolerance")] = value
        return found

    def absolute_tolerance(self, name: str) -> float:
        """The absolute tolerance of a variable, which may be one of another mode."""
        default = ATOL_OVER_RTOL * self.rtol
        if isinstance(self.atol, Mapping):
            return float(self.atol.get(name, default))
        return default if self.atol is None else float(self.atol)

    def output_times(self, chosen: Callable[[int], NDArray[np.int64]] | None = None) -> Array:
        """The times of the rows, in order: of all, or of those `chosen` of so many."""
        if not isinstance(self.times, int):
            times = np.ascontiguousarray(self.times, dtype=float)
            return times if chosen is None else times[chosen(len(times))]
        if self.times <= 1:
            return np.array([self.until])
        if chosen is None:
            return _evenly_spaced(self.t0, self.until, self.times)
        rows = chosen(self.times)  # all of ten million would need room of their own
        some = np.asarray(rows * ((self.until - self.t0) / (self.times - 1)) + self.t0, dtype=np.float64)
        # Exactly, as in the whole list: a row beyond the end by rounding would never be written.
        some[rows == self.times - 1] = self.until
        return some


def _evenly_spaced(start: float, stop: float, count: int) -> Array:
    """Times as `linspace` gives them, block by block, so that Ctrl-C is heard in between."""
    times, block, step = np.empty(count), np.arange(min(BLOCK, count), dtype=float), (stop - start) / (count - 1)
    for first in range(0, count, BLOCK):
        part = times[first : first + BLOCK]
        part[:] = (block[: len(part)] + first) * step + start
    # start + n step misses the end by rounding, and a row behind the end would never be written.
    times[-1] = stop
    return times


def index_of(name: str, model: NumericModel, word: str) -> int:
    """The place of a variable in y.

    Raises: SimulationError with the nearest names.
    """
    if name not in model.index:
        names = model.names
        raise rules.NO_SUCH_VARIABLE.error(
            f"{word} is given for '{name}', which is not a variable of the model",
            where=model.name,
            fix=did_you_mean(name, names) or f"the variables are {listing(names)}",
        )
    return model.index[name]


def _check_solver(solver: str) -> None:
    if solver not in SOLVERS:
        fix = did_you_mean(solver, SOLVERS) or f"the solvers are {listing(SOLVERS)}"
        raise rules.UNKNOWN_SOLVER.error(f"there is no solver '{solver}'", fix=fix)


def _check_tolerances(problem: Problem) -> None:
    # Finer than this, rounding in a single step is larger than its tolerance.
    if not FINEST_RTOL <= problem.rtol < 1.0:
        raise rules.BAD_TOLERANCE.error(
            f"the relative tolerance is {problem.rtol:g}",
            fix=f"choose one between {FINEST_RTOL:g} and 1, 1e-6 for example",
        )
    _check_absolute_tolerances(problem)
    if not problem.max_step > 0.0:
        raise rules.BAD_TOLERANCE.error(f"the largest step is {problem.max_step:g}", fix="give a positive time")
    if problem.step is not None and not (np.isfinite(problem.step) and problem.step > 0.0):
        raise rules.NO_STEP.error(f"the step is {problem.step:g}", fix="give a positive time")
    # Refused rather than ignored: who gives a step believes that it is kept.
    if problem.step is not None and problem.solver not in FIXED_STEP:
        raise rules.UNUSED_STEP.error(
            f"a step of {problem.step:g} s is given, and the solver '{problem.solver}' chooses its own steps",
            where=problem.model.name,
            fix=f"choose '{FIXED_STEP[0]}' or '{FIXED_STEP[1]}', or give the longest step as max_step",
        )


def _check_absolute_tolerances(problem: Problem) -> None:
    if not isinstance(problem.atol, Mapping) and 0.0 < problem.absolute_tolerance("") < np.inf:
        return  # one for all
    tolerances = problem.tolerances()
    bad = ~(np.isfinite(tolerances) & (tolerances > 0.0))
    if bad.any():
        at = int(np.argmax(bad))
        raise rules.BAD_TOLERANCE.error(
            f"the absolute tolerance of '{problem.model.names[at]}' is {tolerances[at]:g}",
            fix="give a small positive number: an error that does not matter for this variable",
        )


def _check_horizon(problem: Problem) -> None:
    if not (math.isfinite(problem.t0) and math.isfinite(problem.until)) or problem.until <= problem.t0:
        raise rules.BAD_HORIZON.error(
            f"the run ends at t = {problem.until:g} s and starts at t = {problem.t0:g} s",
            fix="let it end after its start",
        )
    if isinstance(problem.times, int):
        return  # evenly spaced: ten million need not be made to be looked at
    times = problem.output_times()
    # One look at all times where they are right; what is wrong with others is looked for only then.
    ordered = times.ndim == 1 and len(times) > 0 and bool((times[1:] >= times[:-1]).all())
    if not (ordered and problem.t0 <= times[0] and times[-1] <= problem.until):
        _check_times(problem, times)


def _check_times(problem: Problem, times: Array) -> None:
    """What is wrong with output times that are known to be wrong."""
    if times.ndim != 1:
        raise rules.BAD_TIMES.error(f"the output times have {times.ndim} dimensions", fix="give a list of times")
    if len(times) == 0 or not np.isfinite(times).all():
        raise rules.BAD_TIMES.error("the output times are empty or not numbers", fix="give at least one time")
    if (times[1:] < times[:-1]).any():
        at = int(np.argmax(np.diff(times) < 0.0))
        raise rules.BAD_TIMES.error(f"output time {times[at + 1]:g} s stands after {times[at]:g} s", fix="sort them")
    if times[0] < problem.t0 or times[-1] > problem.until:
        raise rules.BAD_TIMES.error(
            f"output times reach from {times[0]:g} s to {times[-1]:g} s, the run from {problem.t0:g} s to {problem.until:g} s",
            fix="keep them inside the run",
        )


def _check_numbers(problem: Problem) -> None:
    model = problem.model
    parameters, inputs = problem.given
    for names, values, word in ((model.parameters, parameters, "parameter"), (model.inputs, inputs, "input")):
        finite = np.isfinite(values[: len(names)])
        if not finite.all():
            at = int(np.argmin(finite))
            what = f"{word} '{names[at]}' is {values[at]}"
            raise rules.NOT_A_NUMBER.error(what, where=model.name, fix=f"give '{names[at]}' a number")
    # A run that goes on has its inputs in the context.
    if problem.context is None and model.inputs:
        given = problem.inputs if isinstance(problem.inputs, Mapping) else ()
        # An input that nobody names would be zero, and a motor without voltage is more often a slip than a wish.
        missing = [] if isinstance(problem.inputs, np.ndarray) else [name for name in model.inputs if name not in given]
        if missing:
            raise rules.MISSING_INPUT.error(
                f"nothing says what {listing(missing)} does",
                where=model.name,
                fix=f"give {missing[0]} a signal or a value in the experiment",
                members=missing,
            )
