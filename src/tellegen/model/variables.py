"""The names and dimensions of the variables of elements: those that users chose, `<symbol>_<element>` for the others."""

from collections.abc import Iterable

from tellegen.core.domains import DOMAINS, Side, other_side
from tellegen.core.names import named_after
from tellegen.core.units import DIMENSIONLESS, Dimension, parse_unit
from tellegen.expressions import ZERO
from tellegen.model.model import Element

SIDES: tuple[Side, Side] = ("across", "through")


def input_name(source: Element) -> str:
    """The name of the input that a source follows."""
    return source.variables.get(source.kind.side, source.name)


def variable_name(element: Element, side: Side) -> str:
    """The name of a power variable of a one-port: the one chosen, else `<symbol>_<element>`; an input is named by its source."""
    if element.kind.role == "source" and side == element.kind.side:
        return input_name(element)
    return element.variables.get(side) or named_after(element.kind.domain.power(side).symbol, element.name)


def state_variables(elements: Iterable[Element]) -> dict[str, Dimension]:
    """What storages remember: their outputs and their contents."""
    found: dict[str, Dimension] = {}
    listed = list(elements)
    for element in listed:
        if element.kind.role == "storage":
            domain, side = element.kind.domain, element.kind.side
            found[variable_name(element, side)] = _dimension(domain.power(side).unit)
            stored = element.variables.get("energy") or named_after(domain.energy(side).symbol, element.name)
            # A name that somebody chose for an output comes before one that only follows from a content.
            found.setdefault(stored, _dimension(domain.energy(side).unit))
    return found | _given_way(listed, of_storages=True)


def sensed_variables(elements: Iterable[Element]) -> set[str]:
    """What ideal sensors read: the variable that an element with the law zero is told."""
    ideal = (e for e in elements if e.kind.role == "resistive" and e.value is ZERO)
    return {variable_name(element, other_side(element.kind.side)) for element in ideal}


def known_variables(elements: Iterable[Element]) -> dict[str, Dimension]:
    """All variables of the elements, with their dimensions."""
    listed = list(elements)
    found = state_variables(listed)
    for element in listed:
        found |= _coupling_variables(element) if element.kind.role == "coupling" else _port_variables(element)
        found.setdefault(f"power.{element.name}", _dimension("W"))
        found.setdefault(f"energy.{element.name}", _dimension("J"))
    return found | _given_way(listed)


def _given_way(elements: list[Element], *, of_storages: bool = False) -> dict[str, Dimension]:
    """Variables without a chosen name whose default another element has chosen: a trailing underscore tells them apart."""
    ports = [element for element in elements if element.kind.role != "coupling"]
    chosen = {name for element in ports for name in element.variables.values()}
    chosen |= {input_name(element) for element in ports if element.kind.role == "source"}
    found: dict[str, Dimension] = {}
    for element in ports:
        for side in SIDES:
            imposed = element.kind.role == "source" and side == element.kind.side
            counts = not of_storages or (element.kind.role == "storage" and side == element.kind.side)
            if counts and side not in element.variables and not imposed and variable_name(element, side) in chosen:
                name = variable_name(element, side)
                found[f"{name}_"] = _dimension(element.kind.domain.power(side).unit)
    return found


def ambient_temperatures(elements: Iterable[Element]) -> set[str]:
    """The temperatures that count from the ambient: those of the domain `heat`."""
    ports = [e for e in elements if e.kind.role != "coupling" and e.kind.domain.heat_books]
    return {variable_name(element, "across") for element in ports}


def _port_variables(element: Element) -> dict[str, Dimension]:
    side = element.kind.side
    power = element.kind.domain.power
    return {variable_name(element, s): _dimension(power(s).unit) for s in (side, other_side(side))}


def _coupling_variables(element: Element) -> dict[str, Dimension]:
    found: dict[str, Dimension] = {}
    for port, name in enumerate(element.kind.domains, start=1):
        for side in SIDES:
            variable = DOMAINS[name].power(side)
            chosen = element.variables.get(f"{side}_{port}")
            own = named_after(variable.symbol, element.name)
            # Where both sides have a variable of this symbol, its number tells them apart; else the plain name will do.
            names = (chosen,) if chosen else (own, f"{own}_{port}")
            found |= dict.fromkeys(names, _dimension(variable.unit))
    return found


def _dimension(unit: str) -> Dimension:
    return parse_unit(unit).dimension if unit else DIMENSIONLESS
