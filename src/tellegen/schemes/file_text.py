"""A whole model file around a scheme: name, parameters, displacements, the scheme, and details of its elements."""

from collections.abc import Mapping

from tellegen.description.writing import quoted, sentence
from tellegen.expressions import to_text
from tellegen.graph import PowerGraph


def file_text(
    graph: PowerGraph, scheme: str, details: Mapping[str, Mapping[str, str]], parameters: Mapping[str, str] | None
) -> str:
    """The text of a file; parameters whose text is not given are written as plain numbers in SI units."""
    parts = [f"system: {sentence(graph.name)}\n", _parameters(graph, parameters or {})]
    if graph.displacements:
        rates = "".join(f"  {name}: {quoted(to_text(rate))}\n" for name, rate in graph.displacements.items())
        parts.append("displacements:\n" + rates)
    parts += [scheme, _details(details)]
    return "\n".join(part for part in parts if part)


def _parameters(graph: PowerGraph, given: Mapping[str, str]) -> str:
    lines = []
    for name, value in {**graph.parameters, **graph.moving}.items():
        text = given.get(name, "" if value is None else quoted(to_text(value)))
        lines.append(f"  {quoted(name)}: {text}".rstrip() + "\n")
    return "parameters:\n" + "".join(lines) if lines else ""


def _details(details: Mapping[str, Mapping[str, str]]) -> str:
    lines = [
        f"  {name}: {{" + ", ".join(f"{key}: {quoted(text)}" for key, text in keys.items()) + "}\n"
        for name, keys in details.items()
    ]
    return "elements:\n" + "".join(lines) if lines else ""
