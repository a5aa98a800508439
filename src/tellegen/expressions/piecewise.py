"""Functions through points: piecewise polynomials as expressions, with their integrals.

A curve is the polynomial of one piece plus a term for each further knot, which is zero before the knot: c max(x - x_k, 0)^n to the
right of that piece, c min(x - x_k, 0)^n to its left. So derivatives, printers and compiled code need nothing new, and near the
first piece, which holds zero where it can, nothing cancels. Beyond its ends a curve goes on straight.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from math import comb

from tellegen.expressions.canonical import ZERO, number, total
from tellegen.expressions.functions import call
from tellegen.expressions.nodes import Expression

Point = tuple[Fraction, Fraction]
Polynomial = tuple[Fraction, ...]
"""Coefficients by rising powers of x."""


def interpolated(points: Sequence[Point], x: Expression, *, smooth: bool) -> Expression:
    """The curve through the points: straight lines, or with `smooth` cubics that rise and fall only where the points do."""
    return _curve(_pieces(points, smooth), [p for p, _ in points], x)


def interpolated_integral(points: Sequence[Point], x: Expression, *, smooth: bool) -> Expression:
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
    return curve - curve.substitute(dict.fromkeys(x.free_symbols, ZERO))


def _pieces(points: Sequence[Point], smooth: bool) -> list[Polynomial]:
    """The polynomials left of the first point, between points, and right of the last one."""
    chords = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in pairwise(points)]
    if smooth:
        slopes = _slopes(points, chords)
        inner = [_cubic(a, b, *ends) for a, b, ends in zip(points, points[1:], pairwise(slopes), strict=False)]
    else:
        slopes = [chords[0], *chords]
        inner = [_line(a, chord) for a, chord in zip(points, chords, strict=False)]
    return [_line(points[0], slopes[0]), *inner, _line(points[-1], slopes[-1])]


def _slopes(points: Sequence[Point], chords: Sequence[Fraction]) -> list[Fraction]:
    """Slopes at the points that keep the curve between its points: weighted harmonic means of the chords beside each."""
    widths = [b[0] - a[0] for a, b in pairwise(points)]
    inner = []
    for (w, v), (c, d) in zip(pairwise(widths), pairwise(chords), strict=True):
        one, two = 2 * v + w, v + 2 * w
        inner.append((one + two) / (one / c + two / d) if c * d > 0 else Fraction(0))
    return [chords[0], *inner, chords[-1]]


def _line(at: Point, slope: Fraction) -> Polynomial:
    return (at[1] - slope * at[0], slope)


def _cubic(a: Point, b: Point, left: Fraction, right: Fraction) -> Polynomial:
    """Hermite's polynomial between two points, by powers of x."""
    w = b[0] - a[0]
    chord = (b[1] - a[1]) / w
    return _shifted((a[1], left, (3 * chord - 2 * left - right) / w, (left + right - 2 * chord) / w**2), -a[0])


def _shifted(polynomial: Polynomial, by: Fraction) -> Polynomial:
    """p(x + by) by powers of x."""
    found = [Fraction(0)] * len(polynomial)
    for n, c in enumerate(polynomial):
        for k in range(n + 1):
            found[k] += c * comb(n, k) * by ** (n - k)
    return tuple(found)


def _integral(polynomial: Polynomial) -> Polynomial:
    return (Fraction(0), *(c / (n + 1) for n, c in enumerate(polynomial)))


def _raised(polynomial: Polynomial, by: Fraction) -> Polynomial:
    return (polynomial[0] + by, *polynomial[1:])


def _at(polynomial: Polynomial, x: Fraction) -> Fraction:
    return sum((c * x**n for n, c in enumerate(polynomial)), Fraction(0))


def _base(knots: Sequence[Fraction]) -> int:
    """The piece that holds zero; a piece beside the points only where zero is there."""
    return sum(knot <= 0 for knot in knots)


def _curve(pieces: Sequence[Polynomial], knots: Sequence[Fraction], x: Expression) -> Expression:
    base = _base(knots)
    terms = _powers(pieces[base], x)
    for k in range(base, len(knots)):
        terms += _bend(pieces[k + 1], pieces[k], knots[k], lambda e: call("max", e, ZERO), x)
    for k in range(base - 1, -1, -1):
        terms += _bend(pieces[k], pieces[k + 1], knots[k], lambda e: call("min", e, ZERO), x)
    return total(terms)


def _bend(
    there: Polynomial, here: Polynomial, knot: Fraction, beyond: Callable[[Expression], Expression], x: Expression
) -> list[Expression]:
    """What is added beyond a knot: the difference of the two polynomials, by powers of the distance from it."""
    size = max(len(there), len(here))
    padded = [tuple(p) + (Fraction(0),) * (size - len(p)) for p in (there, here)]
    change = _shifted(tuple(a - b for a, b in zip(*padded, strict=True)), knot)
    return _powers(change, beyond(x - number(knot)))


def _powers(polynomial: Polynomial, x: Expression) -> list[Expression]:
    return [number(c) * x**n for n, c in enumerate(polynomial) if c]
