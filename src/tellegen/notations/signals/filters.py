"""Signal blocks that look at the past of their input through a rational function of s."""

from collections.abc import Sequence
from typing import Final

from tellegen.expressions import ONE, PI, ZERO, Expression, Number, call, symbol, total
from tellegen.notations.signals import rules
from tellegen.notations.signals.block_settings import BlockSettings, SignalParts

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
