"""Powers of several small things: which of two products is smaller, whatever the ratios of the small things."""

from fractions import Fraction

Orders = tuple[tuple[str, Fraction], ...]
"""The small things in a product with their powers, by name."""

PLAIN: Orders = ()


def times(m: Orders, n: Orders, exponent: Fraction | int = 1) -> Orders:
    """The powers of m * n^exponent."""
    powers = dict(m)
    for name, q in n:
        powers[name] = powers.get(name, Fraction(0)) + exponent * q
    return tuple(sorted((name, q) for name, q in powers.items() if q))


def divides(n: Orders, m: Orders) -> bool:
    """Whether m is n, or smaller than n, whatever the ratios."""
    return all(q >= 0 for _, q in times(m, n, -1))
