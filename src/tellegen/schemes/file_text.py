"""A whole model file around a scheme: name, parameters, displacements, the scheme, and details of its elements."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import replace

from tellegen.core.domains import DOMAINS
from tellegen.core.errors import TellegenError
from tellegen.description.model import Model, Port
from tellegen.description.yaml_texts import quoted, sentence
from tellegen.elements import kinds_of
from tellegen.expressions import to_text
from tellegen.graph import PowerGraph
from tellegen.schemes import rules

Detail = str | Sequence["Detail"]
"""What stands behind a key: a text, a list of them, or the rows of a matrix."""


def with_ports(model: Model, nodes: Container[str], notation: str) -> Model:
    """The model with ports that a notation can say: places of sources, nodes with a name, and the two nodes of an element.

    Raises: GraphError (G240) for a port that is none of them.
    """
    ends = {(e.nodes[0], e.nodes[1]): e.name for e in reversed(model.elements) if len(e.nodes) == 2}
    kept = {}
    for name, port in model.ports.items():
        if port.source or port.at or (port.nodes[0] in nodes and port.nodes[1] == DOMAINS[port.domain].reference):
            kept[name] = port
        elif port.nodes in ends:
            kept[name] = replace(port, at=ends[port.nodes])
        else:
            raise _lost(port, notation)
    return replace(model, ports=kept)


def _lost(port: Port, notation: str) -> TellegenError:
    ends = " and ".join(f"'{node}'" for node in port.nodes if node != DOMAINS[port.domain].reference)
    kind = next(k for k in kinds_of(port.domain, "source") if k.side == "through")
    return rules.LOST_PORT.error(
        f"the port '{port.name}' is at {ends}, where no element ends alone, and a {notation} has no names for nodes",
        where=port.name,
        fix=f"put a {kind.name} there and write '{port.name}: {{source: ...}}'",
        place=port.place,
    )


def file_text(
    graph: PowerGraph, scheme: str, details: Mapping[str, Mapping[str, Detail]], parameters: Mapping[str, str] | None
) -> str:
    """The text of a file; parameters whose text is not given are written as plain numbers in SI units."""
    parts = [f"system: {sentence(graph.name)}\n", _parameters(graph, parameters or {})]
    if graph.displacements:
        rates = "".join(f"  {name}: {quoted(to_text(rate))}\n" for name, rate in graph.displacements.items())
        parts.append("displacements:\n" + rates)
    parts += [scheme, details_text(details)]
    return "\n".join(part for part in parts if part)


def _parameters(graph: PowerGraph, given: Mapping[str, str]) -> str:
    lines = []
    known = {**graph.parameters, **graph.moving}
    for name in dict.fromkeys((*known, *given)):
        value = known.get(name)
        text = given.get(name, "" if value is None else quoted(to_text(value)))
        lines.append(f"  {quoted(name)}: {text}".rstrip() + "\n")
    return "parameters:\n" + "".join(lines) if lines else ""


class Yaml(str):
    """A text that stands in a file as it is."""

    __slots__ = ()


def _listed(text: Detail) -> str:
    if isinstance(text, str):
        return text if isinstance(text, Yaml) else quoted(text)
    return "[" + ", ".join(map(_listed, text)) + "]"


def details_text(details: Mapping[str, Mapping[str, Detail]]) -> str:
    """The part `elements:` of a file; empty where there is nothing to say."""
    lines = [
        f"  {name}: {{" + ", ".join(f"{key}: {_listed(text)}" for key, text in keys.items()) + "}\n"
        for name, keys in details.items()
    ]
    return "elements:\n" + "".join(lines) if lines else ""
