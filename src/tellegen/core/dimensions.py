"""Dimensions: what a quantity measures, whatever its unit."""

from fractions import Fraction
from typing import NamedTuple, final

Exponent = int | Fraction


@final
class Dimension(NamedTuple):
    """The exponents of the seven SI base units."""

    kg: Exponent = 0
    m: Exponent = 0
    s: Exponent = 0
    A: Exponent = 0
    K: Exponent = 0
    mol: Exponent = 0
    cd: Exponent = 0

    def times(self, other: "Dimension") -> "Dimension":
        """The dimension of a product."""
        return Dimension(*(a + b for a, b in zip(self, other, strict=True)))

    def over(self, other: "Dimension") -> "Dimension":
        """The dimension of a quotient."""
        return Dimension(*(a - b for a, b in zip(self, other, strict=True)))

    def power(self, exponent: Exponent) -> "Dimension":
        """The dimension of a power; `power(Fraction(1, 2))` is that of a square root."""
        return Dimension(*(a * exponent for a in self))


DIMENSIONLESS = Dimension()
