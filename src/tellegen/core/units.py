"""Units of measurement: a small table of SI units and prefixes, with exact factors.

A unit text such as `m^3/(Pa*s)` becomes a `Unit`: its factor to SI and its dimension. Angles have no dimension here, so
`rad` may be written or left out. The table is our own because it reads a value a hundred times faster than pint.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import final

from tellegen.core.dimensions import DIMENSIONLESS, Dimension, Exponent
from tellegen.core.errors import Place
from tellegen.core.unit_definitions import SCALES
from tellegen.core.unit_grammar import Measure, UnitError, read_measure
from tellegen.core.unit_rules import DIFFERENT_DIMENSIONS, OFFSET_UNIT
from tellegen.core.unit_table import is_unit, look_up_word, unit_suggestion, unit_table, unit_words

__all__ = [
    "DIMENSIONLESS",
    "OFFSET_UNIT",
    "Dimension",
    "Exponent",
    "Unit",
    "convert",
    "describe",
    "dimension_of",
    "is_unit",
    "parse_unit",
    "unit_words",
]


@final
@dataclass(frozen=True, slots=True)
class Unit:
    """A unit: its value in SI is `number * factor + offset`; the offset is zero except for temperature scales."""

    factor: Fraction
    dimension: Dimension
    text: str
    offset: Fraction = Fraction(0)

    def to_si(self, number: float) -> float:
        """The number in SI; dividing by 1000 keeps 4.7 mH at 0.0047, where multiplying by 0.001 may miss a digit."""
        return number * self.factor.numerator / self.factor.denominator + float(self.offset)

    def from_si(self, value: float) -> float:
        """The SI value in this unit."""
        return (value - float(self.offset)) * self.factor.denominator / self.factor.numerator


def parse_unit(text: str, place: Place | None = None) -> Unit:
    """The unit that a text such as `N*m/A` stands for.

    `place` is where the text starts in a file; an error points at the word inside it.

    Raises: DescriptionError (D050, D051, D052) when the text is not a unit.
    """
    try:
        return _parse(text)
    except UnitError as problem:
        spot = place._replace(column=place.column + problem.at, text=problem.word) if place else None
        fix = problem.fix or unit_suggestion(problem.word)
        raise problem.rule.error(problem.what, fix=fix, place=spot) from None


def dimension_of(text: str) -> Dimension:
    """The dimension of a unit text."""
    return parse_unit(text).dimension


def convert(value: float, source: str, target: str, place: Place | None = None) -> float:
    """The value, given in unit `source`, as a number of unit `target`; temperature scales keep their offsets."""
    a, b = parse_unit(source, place), parse_unit(target)
    if a.dimension != b.dimension:
        raise DIFFERENT_DIMENSIONS.error(
            f"'{source}' does not convert to '{target}'",
            why=f"'{source}' is a unit of {describe(a.dimension)}, '{target}' of {describe(b.dimension)}",
            fix=f"give the value in a unit of {describe(b.dimension)}",
            place=place,
        )
    if not math.isfinite(value):
        return value
    return float((Fraction(value) * a.factor + a.offset - b.offset) / b.factor)


# The first unit is the one to read; those behind it have the same dimension and are shown beside it.
_READABLE = (
    "V", "A", "ohm (V/A)", "S (A/V)", "H", "F", "C (A*s)", "Wb (V*s, N*m/A)", "T", "V/m", "V/s", "A/s", "1/ohm^2",
    "m", "s", "kg", "K", "mol", "cd", "m/s", "m/s^2", "m^2", "m^3", "1/m", "1/s (rad/s)", "1/s^2 (rad/s^2)",
    "1/K", "1/A", "1/V",
    "N", "N*s (kg*m/s)", "N/m", "N*s/m (kg/s)", "m/N", "m/(N*s)", "N/A (V*s/m)", "kg*m^2", "N*m (J)", "N*m*s",
    "1/(N*m)", "1/(N*m*s)", "W", "kg/m", "kg/m^3",
    "Pa", "Pa*s", "m^3/s", "m^3/Pa", "m^3/(Pa*s)", "Pa/m^3", "Pa*s/m^3", "Pa*s^2/m^3", "Pa*s^2/m^6", "m^2/s", "1/Pa",
    "J/K (W/K*s)", "W/K", "K/W", "W/K^2", "J/(kg*K)", "W/(m*K)", "W/(m^2*K)", "W/m^2", "J/kg (m^2/s^2)", "1/H (A/Wb)",
)  # fmt: skip


def describe(dimension: Dimension) -> str:
    """A readable unit of the dimension: `ohm (V/A)`, `m^3/(Pa*s)`, `1` for a number, else a product of base units."""
    if dimension == DIMENSIONLESS:
        return "1"
    return _readable().get(dimension) or _in_base_units(dimension)


@lru_cache(maxsize=1)
def _readable() -> dict[Dimension, str]:
    return {dimension_of(text.split(" ", 1)[0]): text for text in _READABLE}


def _in_base_units(dimension: Dimension) -> str:
    powers = dict(zip(Dimension._fields, dimension, strict=True))
    above = [_power_text(word, power) for word, power in powers.items() if power > 0]
    below = [_power_text(word, -power) for word, power in powers.items() if power < 0]
    numerator = "*".join(above) or "1"
    if not below:
        return numerator
    return f"{numerator}/{below[0]}" if len(below) == 1 else f"{numerator}/({'*'.join(below)})"


def _power_text(word: str, power: Exponent) -> str:
    exact = Fraction(power)
    if exact == 1:
        return word
    return f"{word}^{exact}" if exact.denominator == 1 else f"{word}^({exact})"


@lru_cache(maxsize=4096)
def _parse(text: str) -> Unit:
    stripped = text.strip()
    if stripped in SCALES:
        factor, offset = SCALES[stripped]
        return Unit(factor, Dimension(K=1), text, offset)
    factor, dimension = read_measure(text, _factor_of_word)
    return Unit(factor, dimension, text)


def _factor_of_word(word: str) -> Measure | None:
    return look_up_word(word, unit_table())
