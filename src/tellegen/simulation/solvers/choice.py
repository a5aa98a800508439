"""Which solver suits a model: read from its structure and, where that is not enough, from one estimate of its fastest motion."""

import math
from dataclasses import dataclass
from typing import Final, final

import numpy as np

from tellegen.compiler.context import ModelContext
from tellegen.compiler.numeric_model import NumericModel
from tellegen.core.names import listing
from tellegen.simulation import rules
from tellegen.simulation.problem import SOLVERS
from tellegen.simulation.solvers.stretch import StatePoint
from tellegen.simulation.solvers.taylor import check_smooth

STIFF_STEPS: Final = 5_000.0
"""Explicit steps that stability alone would ask for: beyond these an implicit step is cheaper."""

LARGE: Final = 400
FEW_RADIANS: Final = 1e5
"""The exponential of a decaying model takes steps of some of its time constants: up to so many of them that is no matter."""

FEW_DECAYS: Final = 100.0
MANY_RADIANS: Final = 1e6
"""What decays so often during a run cannot be followed motion by motion."""

SMALL: Final = 64
"""Up to so many variables all eigenvalues take less time than an estimate of one of them."""

_EXPLICIT_REACH: Final = 6.0
_INTERPOLANT_REACH: Final = 3.3
_ITERATIONS: Final = 30
_CLOSE: Final = 1e-3


@final
@dataclass(frozen=True, slots=True)
class SolverChoice:
    """A solver and the reason for it, in one line."""

    solver: str
    reason: str
    may_switch: bool = False
    stiff: bool = False
    """Of the exponential: whether fast motions die away, which takes another one."""
    longest_step: float = np.inf
    """Of explicit solvers on decaying models: what is left of fast motions must stay small between the ends of steps too."""
    work: float = np.inf
    """Multiplications that it will take, where that is known before."""


@final
@dataclass(frozen=True, slots=True)
class FastestMotion:
    """The largest eigenvalue of the Jacobian at the start: its size, and how much of it is decay (0 to 1)."""

    size: float
    decay: float


def reason_in_words(choice: SolverChoice, model: NumericModel) -> str:
    """The reason for a solver, and that the formulas of the model run in Python where they do."""
    if model.backend == "c" or choice.solver == "heyoka":  # which compiles formulas itself
        return choice.reason
    return f"{choice.reason}; in Python, without a C compiler"


def choose(model: NumericModel, asked: str, context: ModelContext, start: StatePoint, until: float) -> SolverChoice:
    """The solver asked for, when it suits the model, or the one that suits it best.

    Raises: SimulationError (S115) when the solver asked for cannot advance this model.
    """
    if asked != "auto":
        _check_suits(model, asked)
        if not model.size and asked in ("cvode", "ida"):  # SUNDIALS cannot be given nothing to integrate
            return SolverChoice("runge-kutta", f"without states there is nothing for '{asked}' to do")
        # These two alone need to know how fast the model moves.
        if asked not in ("runge-kutta", "exponential"):
            return SolverChoice(asked, "asked for")
        speed = fastest_motion(model, context, start)
        if asked == "exponential":
            radians = speed.size * (until - start.t)
            return SolverChoice(
                asked, "asked for", may_switch=radians < MANY_RADIANS, stiff=_decays(speed, until - start.t)
            )
        return SolverChoice(asked, "asked for", longest_step=_longest_step(speed, until - start.t))
    if not model.explicit:
        # Only IDA advances 0 = F(t, y, yp): no estimate is needed.
        unknowns = len(model.unknowns)
        what = f"{unknowns} algebraic unknowns" if unknowns != 1 else "an algebraic unknown"
        return SolverChoice("ida", f"implicit model with {what}" if unknowns else "implicit model")
    speed = fastest_motion(model, context, start)
    # What stability alone would ask of an explicit method, were accuracy no matter.
    steps = speed.size * (until - start.t) / _EXPLICIT_REACH
    # A motion that swings must be followed anyway: only what dies away makes an implicit step worth its price.
    is_stiff = speed.decay > 0.5 and steps > STIFF_STEPS
    # The fastest motion fits into the run so few times that following it costs nothing beside setting up a solver.
    is_short = speed.size * (until - start.t) * model.size <= FEW_RADIANS
    # First the linear models: the exponential takes one long step where others take thousands.
    if exponential_suits(model) and (speed.decay < 0.1 or is_short):
        work = speed.size * (until - start.t) * len(model.pattern.indices)
        return SolverChoice("exponential", "linear with constant coefficients", work=work)
    if exponential_suits(model) and _decays(speed, until - start.t):
        return SolverChoice("exponential", f"linear and stiff: {_fastest(speed)}", may_switch=True, stiff=True)
    if is_stiff:
        return SolverChoice("cvode", f"stiff: {_fastest(speed)}")
    if model.size > LARGE:
        return SolverChoice("cvode", f"large: {model.size} states")
    # Perhaps stiff, perhaps not: CVODE can do both.
    if not np.isfinite(speed.size):
        return SolverChoice("cvode", "its fastest motion could not be estimated")
    step = _longest_step(speed, until - start.t)
    return SolverChoice("runge-kutta", "smooth and not stiff", may_switch=True, longest_step=step)


def _decays(speed: FastestMotion, horizon: float) -> bool:
    """Whether the fastest motion dies away many times over during the run."""
    return speed.decay > 0.5 and speed.size * horizon > FEW_DECAYS


def _fastest(speed: FastestMotion) -> str:
    return f"its fastest time constant is {1.0 / speed.size:.2g} s"


def _longest_step(speed: FastestMotion, horizon: float) -> float:
    """Well inside the region of stability: at its edge the interpolant magnifies decayed motions. None where that is too short."""
    if speed.decay <= 0.5 or not 0.0 < speed.size * horizon < STIFF_STEPS * _EXPLICIT_REACH:
        return np.inf
    return _INTERPOLANT_REACH / speed.size


def exponential_suits(model: NumericModel) -> bool:
    """Whether the exponential can advance the model: linear, explicit, without events and delays."""
    return model.linear and model.explicit and not model.events and not model.delays and model.size > 0


def _check_suits(model: NumericModel, asked: str) -> None:
    if SOLVERS[asked].explicit and not model.explicit:
        names = listing(model.unknowns) if model.unknowns else "its rates"
        raise rules.UNSUITED.error(
            f"'{asked}' needs explicit rates, and this model gives {names} by implicit equations",
            where=model.name,
            fix="choose 'ida', or leave the choice to 'auto'",
        )
    if asked == "heyoka":
        check_smooth(model)
    if asked == "exponential" and not exponential_suits(model):
        if not model.linear:
            why = "the model is not linear with constant coefficients"
        else:
            why = "the model has events or delays" if model.events or model.delays else "the model has no states"
        raise rules.UNSUITED.error(
            f"'exponential' cannot be used: {why}", where=model.name, fix="leave the choice to 'auto'"
        )


def fastest_motion(model: NumericModel, context: ModelContext, start: StatePoint) -> FastestMotion:
    """The largest eigenvalue: of a small model as it is, else an estimate at the cost of some tens of evaluations."""
    if model.size == 0:
        return FastestMotion(0.0, 0.0)
    estimated = _largest_eigenvalue if model.size <= SMALL and not model.slopes_wait else _power_iteration
    if not model.linear:
        return estimated(model, context, start)
    key = context.parameters.tobytes(), start.y.tobytes()
    known: tuple[tuple[bytes, bytes], FastestMotion] | None = model.plans.get("speed")
    if known is None or known[0] != key:  # of a linear model it is the same in the next run
        known = model.plans["speed"] = key, estimated(model, context, start)
    return known[1]


def _largest_eigenvalue(model: NumericModel, context: ModelContext, start: StatePoint) -> FastestMotion:
    n = model.size
    columns, direction = np.empty((n, n)), np.zeros(n)
    for k, column in enumerate(columns):
        # Column by column through the one tangent that every model has.
        direction[k] = 1.0
        bad = model.prepared_tangent(start.t, start.y, direction, column, context)()
        direction[k] = 0.0
        if bad or not np.isfinite(column).all():
            return FastestMotion(np.inf, 0.0)
    found = np.linalg.eigvals(columns)
    largest = complex(found[int(np.argmax(np.abs(found)))])
    size = abs(largest)
    # the share of the square that points along: all of it for a decaying motion, none for a swinging one
    return FastestMotion(size, max(0.0, ((largest / size) ** 2).real) if size > 0.0 else 0.0)


def _power_iteration(model: NumericModel, context: ModelContext, start: StatePoint) -> FastestMotion:
    """With the tangent. Where two motions swing it need not settle, and may be off by some times."""
    n = model.size
    scale = np.maximum(np.abs(start.y), 1e-3 * float(np.max(np.abs(start.y), initial=0.0)))
    # At rest there is no scale: SI units make one.
    scale[scale == 0.0] = 1.0
    # By chance, lest it be orthogonal to the fastest motion; but the same in every run.
    direction = np.random.default_rng(1).standard_normal(n) * scale
    image, second = np.empty(n), np.empty(n)
    # Compiling slopes for an estimate would take longer than many a run.
    prepared = model.prepared_difference if model.slopes_wait else model.prepared_tangent
    # Twice the Jacobian each time: of a swinging motion the first image tells nothing, for it is a quarter of a turn
    # off.
    first, again = (prepared(start.t, start.y, *pair, context) for pair in ((direction, image), (image, second)))
    size, decay = 0.0, 0.0
    for _ in range(_ITERATIONS):
        direction /= math.sqrt(float(direction @ direction)) or 1.0
        if first() or again():
            return FastestMotion(np.inf, 0.0)
        length = math.sqrt(float(second @ second))
        if length == 0.0 or not math.isfinite(length):
            break
        # The second image is longer by the square of the eigenvalue.
        before, size = size, math.sqrt(length)
        # of a decaying motion the second image points along the direction, of a swinging one against it
        along = float(direction @ second) / length
        known, decay = decay, max(0.0, along)
        if abs(size - before) <= _CLOSE * size and abs(decay - known) <= _CLOSE:
            break
        # In place: the prepared calls know the arrays by their addresses.
        direction[:] = second
    return FastestMotion(size, decay)
