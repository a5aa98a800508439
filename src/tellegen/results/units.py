"""SI units of the variables of a model, and the units in which variables are shown."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import final

from tellegen.compiler.context import Array
from tellegen.core.domains import DOMAINS
from tellegen.core.units import Dimension, describe, parse_unit
from tellegen.expressions import Symbol
from tellegen.graph import PowerGraph, StorageLaw
from tellegen.graph.signals import Integral, Value
from tellegen.notations import rules

SECOND = Dimension(s=1)


def variable_units(graph: PowerGraph) -> dict[str, str]:
    """The units of power variables, states, inputs, displacements and signals by name; "" where a unit is not known."""
    units: dict[str, str] = {}
    for port in graph.ports:
        domain = DOMAINS[port.domain]
        units |= {port.across: domain.across.unit, port.through: domain.through.unit}
        if isinstance(port.law, StorageLaw) and port.law.keeps_energy_variable:
            units[port.state] = domain.energy(port.law.side).unit
    for name, rate in graph.displacements.items():
        units[name] = integral_unit(units.get(rate.name, "")) if isinstance(rate, Symbol) else ""
    for signal in graph.signals:
        if isinstance(signal, Value | Integral) and signal.unit:
            units[signal.name] = signal.unit
    return units


def integral_unit(unit: str) -> str:
    """The unit of the integral over time: that of an angular velocity is an angle."""
    if not unit:
        return ""
    # By its text: rad/s becomes rad, where dimensions alone would give 1.
    if unit.endswith("/s"):
        return unit.removesuffix("/s")
    return describe(parse_unit(unit).dimension.times(SECOND)).split(" ", 1)[0]


def ratio_unit(above: str, below: str) -> str:
    """The unit of one quantity over another: `A/V`, `1` where they are the same."""
    if above == below:
        return "1"
    if not below or below == "1":
        return above
    over = f"({above})" if "/" in above else above or "1"
    return f"{over}/({below})" if "*" in below or "/" in below else f"{over}/{below}"


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
    # Numerator and denominator apart: 1/60 as one float would round before it multiplies.
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
        raise rules.BAD_DISPLAY_UNIT.error(what, where=name, fix=f"choose a unit of {fitting}")
    if wanted.offset and from_ambient:
        what = f"'{name}' counts from the ambient, and {unit} has a zero of its own"
        fix = "show it in K, or describe the system in the domain 'thermal', whose temperatures are absolute"
        raise rules.SCALE_FROM_AMBIENT.error(what, where=name, fix=fix)
