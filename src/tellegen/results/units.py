"""SI units of the variables of a model."""

from tellegen.core.domains import DOMAINS
from tellegen.core.units import Dimension, describe, parse_unit
from tellegen.expressions import Symbol
from tellegen.graph import PowerGraph, StorageLaw
from tellegen.graph.signals import Integral, Value

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
        units[name] = integrated(units.get(rate.name, "")) if isinstance(rate, Symbol) else ""
    for signal in graph.signals:
        if isinstance(signal, Value | Integral) and signal.unit:
            units[signal.name] = signal.unit
    return units


def integrated(unit: str) -> str:
    """The unit of the integral over time: that of an angular velocity is an angle."""
    if not unit:
        return ""
    if unit.endswith("/s"):
        return unit.removesuffix("/s")
    return describe(parse_unit(unit).dimension.times(SECOND)).split(" ", 1)[0]


def ratio(above: str, below: str) -> str:
    """The unit of one quantity over another: `A/V`, `1` where they are the same."""
    if above == below:
        return "1"
    if not below or below == "1":
        return above
    over = f"({above})" if "/" in above else above or "1"
    return f"{over}/({below})" if "*" in below or "/" in below else f"{over}/{below}"
