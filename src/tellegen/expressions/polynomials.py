"""Polynomials of one name: expressions as sums of its powers, and piecewise polynomials through points with their integrals.

A curve is the polynomial of one piece plus a term for each further knot, which is zero before the knot: c max(x - x_k, 0)^n to the
right of that piece, c min(x - x_k, 0)^n to its left. So derivatives, printers and compiled code need nothing new, and near the
first piece, which holds zero where it can, nothing cancels. Beyond its ends a curve goes on straight.
"""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from math import comb

from tellegen.expressions.canonical import ONE, ZERO, number, symbol, total
from tellegen.expressions.functions import call
from tellegen.expressions.nodes import Add, Expression, Mul, Number, Pow

Powers = dict[Fraction, Expression]
"""Coefficients by exponent."""

MOST_FACTORS = 8
"""Integer powers of sums are multiplied out up to here."""


def powers_of(expression: Expression, name: str) -> Powers | None:
    """The coefficients of the powers of a name, or None where the expression is no sum of such powers."""
    # Whatever it holds, it is a coefficient.
    if name not in expression.free_symbols:
        return {Fraction(0): expression}
    if expression is symbol(name):
        return {Fraction(1): ONE}
    if isinstance(expression, Add):
        return _of_sum(expression, name)
    if isinstance(expression, Mul):
        found: Powers | None = {Fraction(0): number(expression.coefficient)}
        for base, exponent in expression.factors:
            found = _times(found, powers_of(base**exponent, name))
        return found
    if isinstance(expression, Pow) and isinstance(expression.exponent, Number):
        return _of_power(expression.base, expression.exponent.value, name)
    return None


def sum_of_powers(powers: Mapping[Fraction, Expression], name: str) -> Expression:
    """The expression with these coefficients."""
    return total(c * symbol(name) ** n for n, c in powers.items())


def _of_sum(expression: Add, name: str) -> Powers | None:
    found: Powers = {Fraction(0): number(expression.constant)} if expression.constant else {}
    for term, coefficient in expression.terms:
        powers = powers_of(term, name)
        if powers is None:
            return None
        for n, c in powers.items():
            found[n] = found.get(n, ZERO) + coefficient * c
    return found


def _of_power(base: Expression, exponent: Fraction, name: str) -> Powers | None:
    if base is symbol(name):
        return {exponent: ONE}
    # A high power of a sum has more terms than anybody would integrate by hand.
    if exponent.denominator != 1 or not 0 < exponent <= MOST_FACTORS:
        return None
    inside = powers_of(base, name)
    found: Powers | None = {Fraction(0): ONE}
    for _ in range(int(exponent)):
        found = _times(found, inside)
    return found


def _times(a: Powers | None, b: Powers | None) -> Powers | None:
    if a is None or b is None:
        return None
    found: Powers = {}
    for n, c in a.items():
        for m, d in b.items():
            found[n + m] = found.get(n + m, ZERO) + c * d
    return found


CurvePoint = tuple[Fraction, Fraction]
Coefficients = tuple[Fraction, ...]
"""Coefficients by rising powers of x."""


def interpolated(points: Sequence[CurvePoint], x: Expression, *, smooth: bool) -> Expression:
    """The curve through the points: straight lines, or with `smooth` cubics that rise and fall only where the points do."""
    return _curve(_pieces(points, smooth), [p for p, _ in points], x)


def interpolated_integral(points: Sequence[CurvePoint], x: Expression, *, smooth: bool) -> Expression:
    """The integral of that curve from zero to x."""
    knots = [p for p, _ in points]
    pieces = _pieces(points, smooth)
    base = _base(knots)
    integrals = [_integral(piece) for piece in pieces]
    # Each integral is continued from its neighbour, so that only bends are left at the knots.
    for k in range(base + 1, len(pieces)):
        integrals[k] = _raised(integrals[k], _at(integrals[k - 1], knots[k - 1]) - _at(integrals[k], knots[k - 1]))
    for k in range(base - 1, -1, -1):
        integrals[k] = _raised(integrals[k], _at(integrals[k + 1], knots[k]) - _at(integrals[k], knots[k]))
    curve = _curve(integrals, knots, x)
    # The integral is zero at zero: an element at rest stores nothing.
    return curve - curve.substitute(dict.fromkeys(x.free_symbols, ZERO))


def _pieces(points: Sequence[CurvePoint], smooth: bool) -> list[Coefficients]:
    """The polynomials left of the first point, between points, and right of the last one."""
    chords = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in pairwise(points)]
    if smooth:
        slopes = _slopes(points, chords)
        inner = [_cubic(a, b, *ends) for a, b, ends in zip(points, points[1:], pairwise(slopes), strict=False)]
    else:
        slopes = [chords[0], *chords]
        inner = [_line(a, chord) for a, chord in zip(points, chords, strict=False)]
    return [_line(points[0], slopes[0]), *inner, _line(points[-1], slopes[-1])]


def _slopes(points: Sequence[CurvePoint], chords: Sequence[Fraction]) -> list[Fraction]:
    """Slopes at the points that keep the curve between its points: weighted harmonic means of the chords beside each."""
    widths = [b[0] - a[0] for a, b in pairwise(points)]
    inner = []
    for (w, v), (c, d) in zip(pairwise(widths), pairwise(chords), strict=True):
        # Slopes of Fritsch and Butland (1984): zero where the chords change their sign, so that nothing overshoots.
        one, two = 2 * v + w, v + 2 * w
        inner.append((one + two) / (one / c + two / d) if c * d > 0 else Fraction(0))
    return [chords[0], *inner, chords[-1]]


def _line(at: CurvePoint, slope: Fraction) -> Coefficients:
    return (at[1] - slope * at[0], slope)


def _cubic(a: CurvePoint, b: CurvePoint, left: Fraction, right: Fraction) -> Coefficients:
    """Hermite's polynomial between two points, by powers of x."""
    w = b[0] - a[0]
    chord = (b[1] - a[1]) / w
    return _shifted((a[1], left, (3 * chord - 2 * left - right) / w, (left + right - 2 * chord) / w**2), -a[0])


def _shifted(polynomial: Coefficients, by: Fraction) -> Coefficients:
    """p(x + by) by powers of x."""
    found = [Fraction(0)] * len(polynomial)
    for n, c in enumerate(polynomial):
        for k in range(n + 1):
            found[k] += c * comb(n, k) * by ** (n - k)
    return tuple(found)


def _integral(polynomial: Coefficients) -> Coefficients:
    return (Fraction(0), *(c / (n + 1) for n, c in enumerate(polynomial)))


def _raised(polynomial: Coefficients, by: Fraction) -> Coefficients:
    return (polynomial[0] + by, *polynomial[1:])


def _at(polynomial: Coefficients, x: Fraction) -> Fraction:
    return sum((c * x**n for n, c in enumerate(polynomial)), Fraction(0))


def _base(knots: Sequence[Fraction]) -> int:
    """The piece that holds zero; a piece beside the points only where zero is there."""
    return sum(knot <= 0 for knot in knots)


def _curve(pieces: Sequence[Coefficients], knots: Sequence[Fraction], x: Expression) -> Expression:
    base = _base(knots)
    terms = _powers(pieces[base], x)
    for k in range(base, len(knots)):
        terms += _bend(pieces[k + 1], pieces[k], knots[k], lambda e: call("max", e, ZERO), x)
    for k in range(base - 1, -1, -1):
        terms += _bend(pieces[k], pieces[k + 1], knots[k], lambda e: call("min", e, ZERO), x)
    return total(terms)


def _bend(
    there: Coefficients, here: Coefficients, knot: Fraction, beyond: Callable[[Expression], Expression], x: Expression
) -> list[Expression]:
    """What is added beyond a knot: the difference of the two polynomials, by powers of the distance from it."""
    size = max(len(there), len(here))
    padded = [tuple(p) + (Fraction(0),) * (size - len(p)) for p in (there, here)]
    # By powers of the distance from the knot: two neighbouring pieces agree there, so the low powers vanish and nothing
    # large cancels.
    change = _shifted(tuple(a - b for a, b in zip(*padded, strict=True)), knot)
    return _powers(change, beyond(x - number(knot)))


def _powers(polynomial: Coefficients, x: Expression) -> list[Expression]:
    return [number(c) * x**n for n, c in enumerate(polynomial) if c]
