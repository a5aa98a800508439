"""A whole model file around a scheme: name, parameters, displacements, the scheme, and details of its elements."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import replace

from tellegen.core.domains import DOMAINS
from tellegen.description.model import Model
from tellegen.description.writing import quoted, sentence
from tellegen.expressions import to_text
from tellegen.graph import PowerGraph

Detail = str | Sequence["Detail"]
"""What stands behind a key: a text, a list of them, or the rows of a matrix."""


def with_ports_at(model: Model, nodes: Container[str] = ()) -> Model:
    """The model with those of its ports that a notation can say: the places of sources, and nodes that have a name there."""
    kept = {
        name: port
        for name, port in model.ports.items()
        if port.source or (port.nodes[0] in nodes and port.nodes[1] == DOMAINS[port.domain].reference)
    }
    return replace(model, ports=kept)


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
    for name, value in {**graph.parameters, **graph.moving}.items():
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
