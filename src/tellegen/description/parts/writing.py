"""Parts and ports as they stand in a file, for parts that still are what their files say."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import final

from tellegen.core.domains import DOMAINS
from tellegen.core.names import is_name
from tellegen.core.units import Dimension
from tellegen.description.curves import curve_keys
from tellegen.description.model import Model, Parameter, Part, Port, Slope
from tellegen.description.parts.instances import Instance, instance_of
from tellegen.description.parts.lines import KEYS
from tellegen.description.parts.names import written_names
from tellegen.description.parts.ports import AT, SOURCE
from tellegen.description.parts.shelf import SUFFIX
from tellegen.expressions import Expression

Text = Callable[[Expression, str, Dimension | None, str], str]
"""Writes an expression: as the user wrote it where that still is the expression, else with units where they are needed."""


@final
@dataclass(frozen=True, slots=True)
class KeptParts:
    """Parts that can be written as parts, and the names that they bring along."""

    parts: tuple[Part, ...] = ()
    names: frozenset[str] = frozenset()
    first: bool = False


def kept_parts(model: Model) -> KeptParts:
    """The parts of which every element, parameter and signal is still the one that the file of the part gives."""
    elements = {element.name: element for element in model.elements}
    fields = {field.name: field for field in model.fields}
    kept: list[Part] = []
    names: set[str] = set()
    for part in model.parts:
        if not (is_name(part.use) or part.use.endswith(SUFFIX)):
            continue  # built in Python: no file holds it
        made = instance_of(part)
        wanted: tuple[tuple[Mapping[str, object], Mapping[str, object]], ...] = (
            (made.elements, elements),
            (_without_slopes(made.parameters), _without_slopes(model.parameters)),
            (made.displacements, model.displacements),
            (made.signals, model.signals),
            ({field.name: field for field in made.fields}, fields),
        )
        if all(there.get(name) == value for here, there in wanted for name, value in here.items()):
            kept.append(part)
            names |= _names(made)
    first = bool(model.elements) and model.elements[0].name in names
    inside = all(name in names for name in elements if _belongs(name, kept))
    return KeptParts(tuple(kept), frozenset(names), first) if inside else KeptParts()


def _without_slopes(parameters: Mapping[str, Parameter]) -> dict[str, Parameter]:
    """Parameters to compare: the value of a slope follows from what else is set."""
    return {name: replace(p, expression=None) if isinstance(p.curve, Slope) else p for name, p in parameters.items()}


def _names(made: Instance) -> set[str]:
    return {*made.elements, *made.parameters, *made.displacements, *made.signals, *(f.name for f in made.fields)}


def _belongs(name: str, parts: Iterable[Part]) -> bool:
    return "." in name and any(name.startswith(f"{part.name}.") for part in parts)


def port_texts(ports: Mapping[str, Port]) -> dict[str, str | list[str] | dict[str, str]]:
    """The ports that a system offers."""
    words = {name: {SOURCE: port.source} if port.source else {AT: port.at} for name, port in ports.items()}
    return {
        name: words[name] if port.source or port.at else _ends(port.nodes, port.domain) for name, port in ports.items()
    }


def part_keys(part: Part, text: Text) -> dict[str, object]:
    """The keys of the line of a part: texts, lists and mappings of them."""
    keys: dict[str, object] = {"use": part.use}
    if part.ports:
        keys["ports"] = {name: _ends(nodes, part.model.ports[name].domain) for name, nodes in part.ports.items()}
    if part.names:
        keys["names"] = written_names(part)
    if part.signals:
        signals = part.model.signals
        units = {name: signals[name].dimension if name in signals else None for name in part.signals}
        keys["signals"] = {n: text(e, part.texts.get(n, ""), units[n], "") for n, e in part.signals.items()}
    bound: dict[str, object] = {
        name: curve_keys(p, text) or text(p.expression, part.texts.get(name, ""), p.dimension, p.unit)
        for name, p in part.bindings.items()
        if p.expression is not None
    }
    hidden = {name: value for name, value in bound.items() if name in KEYS}
    keys |= {name: value for name, value in bound.items() if name not in KEYS}
    return keys | ({"parameters": hidden} if hidden else {})


def _ends(nodes: tuple[str, str], domain: str) -> str | list[str]:
    return nodes[0] if nodes[1] == DOMAINS[domain].reference else list(nodes)
