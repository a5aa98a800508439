"""Units in which variables are shown: on a terminal, in plots and in the heads of CSV files. Values stay what they are, in SI."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import final

import numpy as np
from numpy.typing import NDArray

from tellegen.core.units import describe, parse_unit
from tellegen.description import unit_rules

Array = NDArray[np.float64]


@final
@dataclass(frozen=True)
class DisplayUnits:
    """The unit that each variable is shown in; those not named are shown in SI."""

    units: Mapping[str, str] = field(default_factory=dict)

    def unit(self, name: str, si: str) -> str:
        """The unit that a variable is shown in, `si` where none was chosen."""
        return self.units.get(name, si)

    def shown(self, name: str, values: Array) -> Array:
        """SI values as numbers of the unit that is shown."""
        unit = self.units.get(name)
        return values if unit is None else in_unit(values, unit)

    def shown_value(self, name: str, value: float) -> float:
        """One SI value as a number of the unit that is shown."""
        unit = self.units.get(name)
        return value if unit is None else parse_unit(unit).from_si(value)


def in_unit(values: Array, unit: str) -> Array:
    """SI values as numbers of a unit."""
    found = parse_unit(unit)
    return (values - float(found.offset)) * found.factor.denominator / found.factor.numerator


def to_si(numbers: Array, unit: str) -> Array:
    """Numbers of a unit as SI values."""
    found = parse_unit(unit)
    return numbers * found.factor.numerator / found.factor.denominator + float(found.offset)


def si_of(unit: str) -> str:
    """The SI unit of what a unit measures; one that is SI already stays as it is written."""
    found = parse_unit(unit)
    return unit if found.factor == 1 and not found.offset else describe(found.dimension).split(" ", 1)[0]


def check_unit(name: str, unit: str, si: str, *, from_ambient: bool) -> None:
    """Refuse a unit that measures something else than the variable.

    Raises: DescriptionError for what is no unit (D050) or measures another quantity (D493), and for a temperature scale where
    temperatures count from the ambient (D492).
    """
    wanted = parse_unit(unit)
    if si and parse_unit(si).dimension != wanted.dimension:
        fitting = describe(parse_unit(si).dimension)
        what = f"'{name}' is in {si} and cannot be shown in {unit}"
        raise unit_rules.BAD_DISPLAY_UNIT.error(what, where=name, fix=f"choose a unit of {fitting}")
    if wanted.offset and from_ambient:
        what = f"'{name}' counts from the ambient, and {unit} has a zero of its own"
        fix = "show it in K, or describe the system in the domain 'thermal', whose temperatures are absolute"
        raise unit_rules.SCALE_FROM_AMBIENT.error(what, where=name, fix=fix)
