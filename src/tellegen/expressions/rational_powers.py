"""Exact arithmetic of rational numbers: their final form, and powers and roots that are rational again."""

import math
from fractions import Fraction

from tellegen.expressions.interning import whole
from tellegen.expressions.nodes import Rational

LARGEST_BITS = 13_287
"""Numerators and denominators have at most 4000 digits, so that no formula can fill the memory."""

_SMALL_ENOUGH = 1 << 62


def settled(q: Rational) -> Rational:
    """A number in its final form; small whole ones, which are most, take no time.

    Raises: OverflowError beyond 4000 digits.
    """
    return q if type(q) is int and -_SMALL_ENOUGH < q < _SMALL_ENOUGH else whole(bounded(q))


def bounded(q: Rational) -> Rational:
    """The number itself.

    Raises: OverflowError beyond 4000 digits.
    """
    if q.numerator.bit_length() > LARGEST_BITS or q.denominator.bit_length() > LARGEST_BITS:
        raise OverflowError("a number with more than 4000 digits")
    return q


def integer_power(value: Rational, n: int) -> Rational:
    """A number to a whole power.

    Raises: ZeroDivisionError, OverflowError for a result beyond 4000 digits.
    """
    if not value and n < 0:
        raise ZeroDivisionError("division by zero")
    size = max(abs(value.numerator), value.denominator)
    if size > 1 and abs(n) * (size.bit_length() - 1) > LARGEST_BITS:
        raise OverflowError("a power with more than 4000 digits")
    return settled(Fraction(value) ** n if n < 0 else value**n)


def exact_power(value: Rational, q: Rational) -> Rational | None:
    """A positive number to a fractional power where the result is rational, else None."""
    up, down = exact_root(value.numerator, q.denominator), exact_root(value.denominator, q.denominator)
    if up is None or down is None:
        return None
    return integer_power(whole(Fraction(up, down)), q.numerator)


def exact_root(n: int, k: int) -> int | None:
    """The whole number whose k-th power is n (n >= 0), or None."""
    if n < 2:
        return n
    if k == 2:
        root = math.isqrt(n)
    elif k >= n.bit_length():
        return None
    else:
        root = _floor_root(n, k)
    return root if root**k == n else None


def _floor_root(n: int, k: int) -> int:
    root = 1 << -(-n.bit_length() // k)
    while True:  # Newton's iteration from above falls until it has reached the floor
        lower = ((k - 1) * root + n // root ** (k - 1)) // k
        if lower >= root:
            return root
        root = lower
