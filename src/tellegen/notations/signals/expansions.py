"""What signal blocks become: the elementary signals of each, but for those that remember (`latches`).

Maps become tables of one argument, a table along the rows for each column, and one that tells the way between two columns: every
tool that knows tables knows maps. Clarke's and Park's transformations keep amplitudes: a balanced system of amplitude 1 has an
arrow of length 1, and a power told by two axes takes a factor of 3/2.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Final

from tellegen.core.names import TIME
from tellegen.expressions import (
    ONE,
    PI,
    ZERO,
    Expression,
    Number,
    Symbol,
    as_expression,
    call,
    logic,
    number,
    relation,
    symbol,
    total,
)
from tellegen.model.signals import MapPoints, Points
from tellegen.notations.signals import rules
from tellegen.notations.signals.block_settings import BlockSettings, SignalParts
from tellegen.notations.signals.units import GIVEN_NAMES, unit_parts, unit_variable

CLAMPING = ONE / 1000
"""The width, beside the parts of a controller, in which clamping stops its integral.

An integral that stops dead at a limit often has no motion to follow: going on drives the output beyond the limit, standing still
lets it fall back, again and again in no time. Over a width it finds the rate at which the output stays at the limit.
"""
TINY = ONE / 10**60


def expand_itself(given: BlockSettings) -> SignalParts:
    """A block that needs no others."""
    yield given.definition


def expand_unit(given: BlockSettings) -> SignalParts:
    """A unit: its states, what it tells, and its first output."""
    every = given.expression("every") if "every" in given else None
    yield from unit_parts(given.definition, every, {key: given.several(key) for key in GIVEN_NAMES})


def expand_output(given: BlockSettings) -> SignalParts:
    """What another signal brought, under its name there."""
    unit = given.expression("of")
    assert isinstance(unit, Symbol), "a unit is told by its name"
    yield given.formula(given.name, symbol(unit_variable(unit.name, given.word("output", ""))))


def expand_integral(given: BlockSettings) -> SignalParts:
    """The integral; with limits it stops there until its input turns back."""
    rate = given.expression("integral")
    limits = given.several("limits")
    if limits:
        rate = call("if", _outward(symbol(given.name), rate, limits, at=True), ZERO, rate)
    # A condition on the state itself: it stops at the limit without a state of its own for that.
    yield given.part(given.name, "integral", integral=rate, initial=given.expression("initial"))


def expand_pid(given: BlockSettings) -> SignalParts:
    """P + I + D of the error, the derivative filtered, the output limited, the integral kept from winding up."""
    yield from _sampled_pid(given) if "every" in given else _continuous_pid(given)


def _continuous_pid(given: BlockSettings) -> SignalParts:
    e = given.expression("pid")
    terms = [given.expression("K_p") * e]
    if "K_d" in given:
        T_f = given.expression("filter")
        filtered = given.inner("filter")
        slope = (e - symbol(filtered)) / T_f
        yield given.part(filtered, "integral", integral=slope, initial=ZERO)
        terms.append(given.expression("K_d") * slope)
    if "K_i" not in given:
        yield given.formula(given.name, given.limited(total(terms)))
        return
    state = given.inner("integral", alike=True)
    asked = total([*terms, symbol(state)])
    rate = given.expression("K_i") * e
    if "limits" in given:
        unlimited = given.inner("unlimited", alike=True)
        yield given.formula(unlimited, asked)
        asked = symbol(unlimited)
        rate = _kept_from_winding_up(given, asked, rate, size=_magnitude([*terms, symbol(state)]))
    yield given.part(state, "integral", integral=rate, initial=given.expression("initial"))
    yield given.formula(given.name, given.limited(asked))


def _kept_from_winding_up(given: BlockSettings, asked: Expression, rate: Expression, *, size: Expression) -> Expression:
    if given.word("anti-windup", "clamp") == "back-calculation":
        # What the limits cut off is fed back to the integral, which follows with the time constant of tracking.
        return rate + (symbol(given.name) - asked) / given.expression("tracking", _tracking_time(given))
    low, high = given.several("limits")
    # Relative to the parts of the controller, so that it serves volts and radians alike.
    width = CLAMPING * size
    upwards = call("max", rate, ZERO) * _share(ONE - (asked - high) / width)
    return upwards + call("min", rate, ZERO) * _share(ONE - (low - asked) / width)


def _magnitude(parts: list[Expression]) -> Expression:
    """How large the parts of a controller are, where they cancel, too: smooth, and never zero."""
    return call("sqrt", total([*(x**2 for x in parts), TINY]))


def _share(x: Expression) -> Expression:
    return call("min", call("max", x, ZERO), ONE)


def _outward(x: Expression, rate: Expression, limits: tuple[Expression, ...], *, at: bool) -> Expression:
    """Whether x is beyond a limit, or `at` one, and its rate would drive it further."""
    low, high = limits
    return logic(
        "or",
        logic("and", relation(">=" if at else ">", x, high), relation(">", rate, ZERO)),
        logic("and", relation("<=" if at else "<", x, low), relation("<", rate, ZERO)),
    )


def _tracking_time(given: BlockSettings) -> Expression:
    """The time of the controller's own integral part, K_p/K_i."""
    return given.expression("K_p") / given.expression("K_i")


def _sampled_pid(given: BlockSettings) -> SignalParts:
    """The same with backward differences, computed once a period; what is sampled reads the values from before."""
    e, h = given.expression("pid"), given.expression("every")
    timing = {"every": h, "offset": given.expression("offset")}
    terms = [given.expression("K_p") * e]
    if "K_d" in given:
        before, held, new = (
            given.inner("error"),
            given.inner("derivative", alike=True),
            given.inner("slope", alike=True),
        )
        T_f = given.expression("filter")
        # The derivative filter (K_d s)/(T_f s + 1) with s = (1 - 1/z)/h, the backward difference.
        slope = (T_f * symbol(held) + given.expression("K_d") * (e - symbol(before))) / (T_f + h)
        yield given.formula(new, slope)
        # Samples of one instant read the values from before, so the new slope is a formula of its own.
        yield given.part(before, "sample", sample=e, initial=ZERO, **timing)
        yield given.part(held, "sample", sample=symbol(new), initial=ZERO, **timing)
        terms.append(symbol(new))
    if "K_i" not in given:
        yield given.part(given.name, "sample", sample=given.limited(total(terms)), initial=ZERO, **timing)
        return
    state, unlimited = given.inner("integral", alike=True), given.inner("unlimited", alike=True)
    step = given.expression("K_i") * h * e
    asked = symbol(unlimited)
    yield given.formula(unlimited, total([*terms, symbol(state), step]))
    kept = symbol(state) + (_sampled_step(given, asked, step, h) if "limits" in given else step)
    yield given.part(state, "sample", sample=kept, initial=given.expression("initial"), **timing)
    yield given.part(given.name, "sample", sample=given.limited(asked), initial=ZERO, **timing)


def _sampled_step(given: BlockSettings, asked: Expression, step: Expression, h: Expression) -> Expression:
    if given.word("anti-windup", "clamp") == "back-calculation":
        return step + h * (given.limited(asked) - asked) / given.expression("tracking", _tracking_time(given))
    return call("if", _outward(asked, step, given.several("limits"), at=False), ZERO, step)


def expand_state_feedback(given: BlockSettings) -> SignalParts:
    """u = N r - K x."""
    products = [k * x for k, x in zip(given.several("gains"), given.several("state feedback"), strict=True)]
    ahead = given.expression("reference gain", ONE) * given.expression("reference")
    yield given.formula(given.name, ahead - total(products))


def expand_saturation(given: BlockSettings) -> SignalParts:
    """The input between two limits."""
    yield given.formula(given.name, given.limited(given.expression("saturate")))


def expand_dead_zone(given: BlockSettings) -> SignalParts:
    """Zero between two limits, beyond them the distance to the nearer one."""
    y, (low, high) = given.expression("dead zone"), given.several("limits")
    yield given.formula(given.name, call("max", y - high, ZERO) + call("min", y - low, ZERO))


def expand_quantisation(given: BlockSettings) -> SignalParts:
    """The nearest multiple of the step."""
    step = given.expression("step")
    yield given.formula(given.name, step * call("floor", given.expression("quantise") / step + ONE / 2))


def expand_rate_limit(given: BlockSettings) -> SignalParts:
    """The input itself where its slope is between the limits; else it goes on at a limit until the input is met again."""
    asked, limits, own = given.expression("rate limit"), given.several("limits"), symbol(given.name)
    if "every" in given:
        timing = {"every": given.expression("every"), "offset": given.expression("offset")}
        low, high = (limit * timing["every"] for limit in limits)
        step = call("min", call("max", asked - own, low), high)
        yield given.part(given.name, "sample", sample=own + step, initial=given.expression("initial"), **timing)
        return
    # A state that follows with a time constant T lags by T times its rate. Adding that to it gives the input back, exactly, while
    # the rate is free; at a limit the sum goes on at that limit, and meets the input just where the rate becomes free again.
    T, behind = given.expression("time constant", SHORT), given.inner("behind", alike=True)
    ahead, (low, high) = asked - symbol(behind), (limit * T for limit in limits)
    # Conditions, not min and max: a solver stops where one changes, and steps over a bend, which is sharp for one so short.
    falling = call("if", relation("<", ahead, low), symbol(behind) + low, asked)
    yield given.formula(given.name, call("if", relation(">", ahead, high), symbol(behind) + high, falling))
    yield given.part(behind, "integral", integral=(own - symbol(behind)) / T, initial=given.expression("initial"))


SHORT = ONE / 10**6
"""How early a limit of rates may set in, in seconds."""


def expand_pwm(given: BlockSettings) -> SignalParts:
    """One while a saw that rises from 0 to 1 in each period is below the duty, else zero; or the mean of that."""
    duty, level = given.expression("pwm"), given.expression("height", ONE)
    if given.word("as", "switched") == "averaged":
        yield given.formula(given.name, level * call("min", call("max", duty, ZERO), ONE))
        return
    periods = (symbol(TIME) - given.expression("offset")) / given.expression("every")
    held = given.inner("duty")
    # Read at the beginning of each period, as timers of controllers do: a duty that moves cannot switch twice in one.
    timing = {"every": given.expression("every"), "offset": given.expression("offset")}
    yield given.part(held, "sample", sample=duty, initial=ZERO, **timing)
    saw = periods - call("floor", periods)
    yield given.formula(given.name, call("if", relation("<", saw, symbol(held)), level, ZERO))


def expand_noise(given: BlockSettings) -> SignalParts:
    """Normal numbers by the transformation of Box and Muller (1958), one for each sample, the same for the same seed everywhere."""
    every, offset = given.expression("every"), given.expression("offset")
    count = call("floor", (symbol(TIME) - offset) / every + ONE / 2)
    first, second = (_random(count, given.expression("seed", ONE) + k * LARGE_STEP) for k in range(2))
    # Never the logarithm of zero.
    size = call("sqrt", -2 * call("log", call("max", first, LEAST_RANDOM)))
    drawn = given.expression("noise") * size * call("cos", 2 * PI * second)
    yield given.part(given.name, "sample", sample=drawn, initial=ZERO, every=every, offset=offset)


LEAST_RANDOM = ONE / 10**9
LARGE_STEP = number(Fraction(379, 10))


def _random(count: Expression, seed: Expression) -> Expression:
    """A number between 0 and 1 that looks like chance: the digits of a sine that are far behind the point.

    A formula, so that a run, a unit of another tool and a microcontroller draw the same noise without a generator of their own.
    """
    hashed = call("sin", count * number(Fraction(129898, 10000)) + seed * number(Fraction(78233, 1000))) * 43758
    return hashed - call("floor", hashed)


def expand_table(given: BlockSettings) -> SignalParts:
    """Points read at time, or at the value of a formula."""
    at, how = given.expression("at", symbol(TIME)), given.word("interpolation", "linear")
    yield given.part(given.name, "table", table=given.settings["table"], at=at, interpolation=how)


# Through a rational function of s

HIGHEST_ORDER: Final = 10


def expand_transfer_function(given: BlockSettings) -> SignalParts:
    """The controllable canonical form: a chain of integrals, the last one fed back.

    Raises: DescriptionError for one that is not proper.
    """
    yield from _rational(
        given, given.expression("transfer function"), given.several("numerator"), given.several("denominator")
    )


def _rational(
    given: BlockSettings, u: Expression, above: Sequence[Expression], below: Sequence[Expression]
) -> SignalParts:
    numerator, denominator = _trimmed(above), _trimmed(below)
    if not denominator or len(numerator) > len(denominator):
        what = f"the transfer function {given.name} has a numerator of degree {len(numerator) - 1}"
        what += f" and a denominator of degree {len(denominator) - 1}" if denominator else " and the denominator 0"
        fix = "add a pole: a longer denominator"
        raise rules.IMPROPER.error(what, where=given.name, fix=fix, place=given.definition.place)
    n = len(denominator) - 1
    # Monic first: the chain of integrals ends in one whose input has the factor one.
    a = [e / denominator[0] for e in denominator]
    b = [ZERO] * (n + 1 - len(numerator)) + [e / denominator[0] for e in numerator]
    names = [given.inner(str(k + 1)) for k in range(n)]
    x = [symbol(name) for name in names]
    for k, name in enumerate(names):
        last = u - total(a[n - j] * x[j] for j in range(n))
        yield given.part(name, "integral", integral=x[k + 1] if k + 1 < n else last, initial=ZERO)
    output = b[0] * u + total((b[n - j] - a[n - j] * b[0]) * x[j] for j in range(n))
    yield given.formula(given.name, output)


def _trimmed(coefficients: Sequence[Expression]) -> list[Expression]:
    """Coefficients from the highest power on, zeros before it left out."""
    found = list(coefficients)
    while found and isinstance(found[0], Number) and not found[0].rational:
        found.pop(0)
    return found


def expand_low_pass(given: BlockSettings) -> SignalParts:
    """y' = (u - y)/T."""
    rate = (given.expression("low pass") - symbol(given.name)) / given.expression("time constant")
    yield given.part(given.name, "integral", integral=rate, initial=given.expression("initial"))


def expand_derivative(given: BlockSettings) -> SignalParts:
    """s/(T s + 1) of its input."""
    state = given.inner("filter")
    slope = (given.expression("derivative") - symbol(state)) / given.expression("filter")
    yield given.part(state, "integral", integral=slope, initial=given.expression("initial"))
    yield given.formula(given.name, slope)


def expand_filter(given: BlockSettings) -> SignalParts:
    """A Butterworth filter: flat in its band, and down by 3 dB at the corner, whatever its order.

    A high pass is the low pass in 1/s, a band pass the low pass in (s^2 + w_0^2)/(s (w_2 - w_1)) with w_0^2 = w_1 w_2.
    """
    n, u, kind = (
        given.whole_number("order", 1, HIGHEST_ORDER, default=2),
        given.expression("filter"),
        given.word("pass", "low"),
    )
    corners = given.several("corner")
    if len(corners) != (2 if kind == "band" else 1):
        needed = "two corners, the lower one first" if kind == "band" else "one corner"
        raise given.refused(f"a {kind} pass needs {needed}: 'corner' has {len(corners)}", fix=f"give {needed}")
    a = _butterworth(n)
    turning = [2 * PI * corner for corner in corners]
    if kind == "band":
        width, centre = turning[1] - turning[0], turning[0] * turning[1]
        # (s^2 + centre)^k (s width)^(n - k), from the highest power on.
        below: list[Expression] = [ZERO] * (2 * n + 1)
        for k, factor in enumerate(a):
            for j, coefficient in enumerate(_power_of_sum(centre, k)):
                below[2 * n - (n - k + 2 * j)] += factor * width ** (n - k) * coefficient
        above: list[Expression] = [width**n, *[ZERO] * n]
    else:
        below = [factor / turning[0] ** k for k, factor in reversed(list(enumerate(a)))]
        above = [ONE] if kind == "low" else [below[0], *[ZERO] * n]
    yield from _rational(given, u, above, below)


def _butterworth(n: int) -> list[Expression]:
    """The coefficients of the low pass with corner 1, from the lowest power on.

    Its poles lie evenly on the left half of the unit circle; their product has a_k/a_(k-1) = cos((k-1) g)/sin(k g), g = pi/(2 n).
    """
    found: list[Expression] = [ONE]
    angle = PI / (2 * n)
    for k in range(1, n + 1):
        found.append(found[-1] * call("cos", (k - 1) * angle) / call("sin", k * angle))
    return found


def _power_of_sum(square: Expression, k: int) -> list[Expression]:
    """The coefficients of (s^2 + square)^k by powers of s^2, from the lowest on."""
    found: list[Expression] = [ONE]
    for _ in range(k):
        found = [square * low + high for low, high in zip([*found, ZERO], [ZERO, *found], strict=True)]
    return found


# Machines with three phases

PHASES = 3


def _lag(k: int) -> Expression:
    """The angle by which a phase comes later than the first."""
    return 2 * PI * k / PHASES


def expand_clarke(given: BlockSettings) -> SignalParts:
    """What three phases are along an axis at rest, or all together."""
    yield given.formula(given.name, _along(given, "clarke", {"alpha": 0 * PI, "beta": PI / 2}))


def expand_park(given: BlockSettings) -> SignalParts:
    """What three phases are along an axis that turns, or all together."""
    angle = given.expression("angle")
    yield given.formula(given.name, _along(given, "park", {"d": angle, "q": angle + PI / 2}))


def _along(given: BlockSettings, key: str, axes: dict[str, Expression]) -> Expression:
    phases, axis = _phases(given, key, PHASES), given.word("axis", next(iter(axes)))
    if axis == "zero":
        return total(phases) / PHASES
    return 2 * total(call("cos", axes[axis] - _lag(k)) * phase for k, phase in enumerate(phases)) / PHASES


def expand_inverse_park(given: BlockSettings) -> SignalParts:
    """One of three phases of an arrow that is told along axes that turn, or at rest without an angle."""
    d, q = _phases(given, "inverse park", 2)
    angle = given.expression("angle") - _lag("abc".index(given.word("phase", "a")))
    yield given.formula(given.name, d * call("cos", angle) - q * call("sin", angle))


def _phases(given: BlockSettings, key: str, count: int) -> tuple[Expression, ...]:
    found = given.several(key)
    if len(found) != count:
        raise given.refused(f"'{key}' has {len(found)} formulas", fix=f"give {count}")
    return found


# Values over two arguments


def expand_map(given: BlockSettings) -> SignalParts:
    """The value at two places."""
    grid, how = given.settings["map"], given.word("interpolation", "linear")
    assert isinstance(grid, MapPoints), "the reader has read a grid"
    row, column = given.several("at")
    along: list[Expression] = []
    for k in range(len(grid.columns)):
        points = Points(grid.rows, tuple(line[k] for line in grid.values))
        name = given.inner(f"column_{k + 1}", alike=True)
        yield given.part(name, "table", table=points, at=row, interpolation=how)
        along.append(symbol(name))
    shares = []
    for k, (low, high) in enumerate(pairwise(grid.columns)):
        name = given.inner(f"share_{k + 1}")
        yield given.part(name, "table", table=Points((low, high), (0.0, 1.0)), at=column, interpolation="linear")
        shares.append(symbol(name))
    widths = [as_expression(high - low) for low, high in pairwise(grid.columns)]
    rises = [high - low for low, high in pairwise(along)]
    if how == "linear":
        yield given.formula(given.name, along[0] + total(s * rise for s, rise in zip(shares, rises, strict=True)))
        return
    slopes = _monotone_slopes(widths, [rise / width for rise, width in zip(rises, widths, strict=True)])
    steps = zip(shares, rises, widths, pairwise(slopes), strict=True)
    yield given.formula(given.name, along[0] + total(_risen(s, rise, width, *ends) for s, rise, width, ends in steps))


def _risen(s: Expression, rise: Expression, width: Expression, first: Expression, last: Expression) -> Expression:
    """How far a cubic with the slopes of both ends has risen at a share of the way."""
    return rise * (3 * s**2 - 2 * s**3) + width * (first * (s**3 - 2 * s**2 + s) + last * (s**3 - s**2))


def _monotone_slopes(widths: list[Expression], rises: list[Expression]) -> list[Expression]:
    """Slopes of Fritsch and Butland (1984), as tables of one argument have them, where values are not known before the run."""
    found = [rises[0]]
    for (h, k), (left, right) in zip(pairwise(widths), pairwise(rises), strict=True):
        # The harmonic mean, weighted by the distances; zero at a peak. Without a quotient of what may be zero.
        weighted = (2 * k + h) * right + (k + 2 * h) * left
        found.append(3 * (h + k) * call("max", left * right, ZERO) * weighted / (weighted**2 + TINY))
    return [*found, rises[-1]]
