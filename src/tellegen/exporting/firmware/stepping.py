"""How a model advances by fixed steps: how long they are, by which method, and which samples are due at which of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, gcd, lcm
from typing import Literal, final, get_args

import numpy as np
from scipy.linalg import expm

from tellegen.compiler.compiling import compile_model
from tellegen.compiler.context import Array
from tellegen.compiler.numeric_model import NumericModel
from tellegen.compiler.routines import sample_groups
from tellegen.core.errors import TellegenError
from tellegen.core.names import did_you_mean
from tellegen.experiments.quantities import SECOND, Quantity, value_of
from tellegen.experiments.simulating import simulate
from tellegen.exporting import rules
from tellegen.exporting.exchanged import Exchanged

Method = Literal["exact", "rk4", "rosenbrock", "midpoint"]

STEPS = 5000
"""Of the experiment, where nothing says how long a step is."""
FINEST = 0.05
"""Of that, to meet breaks of courses."""
LOOKS = 30
"""At so many times of the experiment it is seen how fast the model is."""
STABLE = 2.5
"""Times the inverse of the fastest rate: the method of order 4 is stable up to 2.78 for a decay, and to 2.83 for an oscillation."""
WHOLE = 1e-9


@final
@dataclass(frozen=True)
class Stepping:
    """The step in seconds, the method and why, each sampled group's period and first instant in steps, and for
    `exact` its matrices: one, or three where courses of time move."""

    step: float
    method: Method
    reason: str
    periods: tuple[int, ...]
    offsets: tuple[int, ...]
    held: Array


def stepping(made: Exchanged, step: Quantity | None, method: str | None, *, is_part: bool) -> Stepping:
    """How the model advances; `is_part` says that its experiment does not tell how fast it is.

    Raises: ExportError for a method that there is not (X407), a period that is no multiple of the step (X412), or a method
        that does not fit the model or the step (X413).
    """
    if method is not None and method not in get_args(Method):
        fix = did_you_mean(method, get_args(Method)) or f"give {', '.join(get_args(Method))}"
        raise rules.UNKNOWN_OPTION.error(f"there is no method '{method}' for fixed steps", fix=fix)
    grids = _grids(made)
    h = _chosen_step(made, grids, is_part=is_part) if step is None else value_of(step, SECOND, "step")
    if not h > 0.0:
        raise rules.STEP.error(f"a step of {h:g} s goes nowhere", fix="give a positive one, as 'step=1e-4'")
    counts = [_counts(made, names, period, offset, h) for names, period, offset in grids]
    numeric = compile_model(made.causal)
    # The slopes of a linear model are the same everywhere.
    slopes = _slopes(numeric, made, is_part=is_part or numeric.linear)
    fastest = max((float(np.max(np.abs(np.linalg.eigvals(j)), initial=0.0)) for j in slopes), default=0.0)
    word, reason = _chosen_method(made, numeric, method, h, fastest)
    moves = any("t" in routine.words_read() for routine in made.code.routines if routine.name == "rhs")
    held = _held(slopes[0] if slopes else np.zeros((0, 0)), h, moves=moves) if word == "exact" else np.zeros((0, 0, 0))
    return Stepping(h, word, reason, tuple(p for p, _ in counts), tuple(o for _, o in counts), held)


def _grids(made: Exchanged) -> list[tuple[list[str], float, float]]:
    """The names, period and offset of each group of samples."""
    samples, values = made.code.program.signals.samples, made.setup.parameters
    found = []
    for members in sample_groups(samples):
        law = samples[members[0]][0]
        names = [samples[k][0].name for k in members]
        found.append((names, law.period.evaluate(values), law.offset.evaluate(values)))
    return found


def _chosen_step(made: Exchanged, grids: Sequence[tuple[list[str], float, float]], *, is_part: bool) -> float:
    """One of which periods are multiples, and times at which courses break where that asks for no much finer one."""
    values, most = made.setup.parameters, np.inf if is_part and grids else made.setup.until / STEPS
    sampled = [t for _, *both in grids for t in both if t]
    broken = [e.evaluate(values) for known in made.breaks for e in (known.at, known.period) if e is not None]
    for times in ([*sampled, *(t for t in broken if 0.0 < t < made.setup.until)], sampled):
        base = _common_share(times)
        # Breaks at odd times would make steps as short as their last digit.
        if base is not None and (base >= FINEST * most or times is sampled):
            return base / max(ceil(base / most - WHOLE), 1)
    return most


def _common_share(times: Sequence[float]) -> float | None:
    """The longest time of which all are multiples."""
    parts = [Fraction(t).limit_denominator(10**9) for t in times]
    return float(Fraction(gcd(*(t.numerator for t in parts)), lcm(*(t.denominator for t in parts)))) if parts else None


def _counts(made: Exchanged, names: Sequence[str], period: float, offset: float, h: float) -> tuple[int, int]:
    """Period and offset in steps. Raises: ExportError (X412)."""
    # What changes as soon as its condition does is looked at in each step.
    if not period:
        return 1, 0
    counts = [round(t / h) for t in (period, offset)]
    for word, t, n in zip(("every", "first after"), (period, offset), counts, strict=True):
        if abs(n * h - t) > WHOLE * max(t, h) or (word == "every" and n < 1):
            raise rules.STEP.error(
                f"'{names[0]}' is sampled {word} {t:g} s, which is no multiple of a step of {h:g} s",
                where=names[0],
                fix="give a step that divides the period",
            )
    return counts[0], counts[1]


def _slopes(numeric: NumericModel, made: Exchanged, *, is_part: bool) -> list[Array]:
    """The slopes of the rates by the states at the start; where a run of the experiment says more, along it."""
    if not numeric.size:
        return []
    points = [(0.0, np.array(made.start))]
    inputs = {v.name: v.start or 0.0 for v in made.by_role.get("input", ())}
    if not is_part:
        try:
            run = simulate(made.setup.model, samples=LOOKS, progress=False, on_failure="return")
            points += [(float(t), np.array([run.values(n)[k] for n in numeric.names])) for k, t in enumerate(run.t)]
        except TellegenError:
            pass  # the start alone tells then
    found = []
    for t, y in points:
        context = numeric.new_context(inputs=inputs)
        try:
            columns = [numeric.rhs_tangent(t, y, dy, context=context) for dy in np.eye(numeric.size)]
        except FloatingPointError:
            continue
        if np.all(np.isfinite(columns)):
            found.append(np.array(columns).T)
    return found


def _chosen_method(
    made: Exchanged, numeric: NumericModel, asked: str | None, h: float, fastest: float
) -> tuple[Method, str]:
    longest = STABLE / fastest if fastest > 0.0 else np.inf
    match asked:
        case "exact" if not numeric.linear:
            raise rules.STEP_METHOD.error(
                f"'{made.name}' is not linear, and only a linear model has exact steps",
                where=made.name,
                fix="choose rk4, or rosenbrock where the model is stiff",
            )
        case "rk4" if h > longest:
            raise rules.STEP_METHOD.error(
                f"a step of {h:g} s is too long for rk4: with rates of {fastest:.3g}/s errors grow beyond {longest:.2g} s",
                where=made.name,
                fix=f"give a step below {longest:.2g} s, or the method rosenbrock",
            )
        case "exact" | "rk4" | "rosenbrock" | "midpoint":
            return asked, "it was asked for"
        case _:
            pass
    if numeric.linear:
        return "exact", "the model is linear"
    if h <= longest:
        return "rk4", f"the fastest rate is {fastest:.3g}/s"
    return "rosenbrock", f"rk4 would not be stable with rates of {fastest:.3g}/s"


def _held(slopes: Array, h: float, *, moves: bool) -> Array:
    """What a step adds for each rate that is held, row by row; where courses move, for those at both ends and in the middle.

    phi_k(z) = the sum of z^i/(i + k)!, all by one exponential, of h A with ones behind it (Sidje 1998).
    """
    n = len(slopes)
    if not n:
        return np.zeros((1, 0, 0))
    both = np.zeros((4 * n, 4 * n))
    both[:n, :n] = h * slopes
    both[: 3 * n, n:] += np.eye(3 * n)
    one, two, three = (h * expm(both)[:n, k * n : (k + 1) * n] for k in (1, 2, 3))
    return np.array([one - 3 * two + 4 * three, 4 * two - 8 * three, 4 * three - two] if moves else [one])
