"""What a text means, shown: findings with remedies, elements, parameters, figures, equations. Called in worker processes.

All of it comes from the functions that the command line calls; here it is only put into the words of the protocol.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from time import perf_counter

from tellegen.causality import assign_causality
from tellegen.causality.rules import DEPENDENT_STORAGE
from tellegen.core.errors import Finding, Place, TellegenError
from tellegen.core.units import parse_unit
from tellegen.drawing import Figure, draw
from tellegen.drawing.memory import Memory
from tellegen.drawing.rules import NO_SUCH_ITEM
from tellegen.equations.checking import Check, check
from tellegen.equations.derivation import derive_equations
from tellegen.equations.steps import derivation_steps
from tellegen.equations.system import parameter_values
from tellegen.expressions import Expression
from tellegen.expressions.symbols import written_with
from tellegen.graph import lower
from tellegen.model.model import Element, Model, Parameter
from tellegen.notations.reading import model_of_document
from tellegen.notations.yaml.document import MappingNode, read_document
from tellegen.notations.yaml.writing import tree_of
from tellegen.reporting.formulas import LinkedNames, inline_formula, page_lines, readable_unit, to_mathml
from tellegen.reporting.reports import element_links
from tellegen.scenes.lettering import name_latex
from tellegen.server.protocol import (
    ElementFacts,
    FindingLine,
    ParameterFacts,
    Remedy,
    Structure,
    Theme,
    View,
    ViewPicture,
)

MOST_DRAWN = 250
"""Models with more elements are not drawn live; `tellegen draw` draws them."""
MOST_EQUATIONS = 60
"""Models with more states are not derived live."""
MOST_SHARED = 6
"""A name that more elements share, such as a common speed, says nothing about any of them."""


@lru_cache(maxsize=4)
def model_of(text: str, file: str, folder: str) -> Model:
    """The model that a text describes. Several views ask for the same one after another."""
    return model_of_document(read_document(text, file), folder=Path(folder))


def structure(version: int, text: str, file: str, folder: str) -> Structure:
    """What a text says, without its views."""
    began = perf_counter()
    root = _root(text, file)
    tree = tree_of(root) if root is not None else {}
    try:
        model = model_of(text, file, folder)
    except TellegenError as error:
        return _broken(version, file, tree, _findings(error.findings, root, text), began)
    found = check(model)
    return Structure(
        version=version,
        ok=found.ok,
        name=model.name,
        about=model.about,
        notation=_notation(tree),
        rows={title: told for title, told in found.rows().items() if told},
        findings=_findings(found.findings, root, text),
        elements=tuple(_element(one, tree) for one in model.elements),
        parameters=tuple(_parameters(model, tree)),
        nodes=tuple(dict.fromkeys(node for one in model.elements for node in one.nodes)),
        states=found.states,
        links=_links(model),
        until=str(_at(tree, "experiment", "until") or ""),
        inputs=_inputs(found, tree),
        seconds=perf_counter() - began,
    )


def _broken(version: int, file: str, tree: object, findings: tuple[FindingLine, ...], began: float) -> Structure:
    """What can be said of a text that is no model."""
    return Structure(
        version=version,
        ok=False,
        name=str(_at(tree, "system") or file),
        about="",
        notation=_notation(tree),
        rows={},
        findings=findings,
        elements=(),
        parameters=(),
        nodes=(),
        states=(),
        links={},
        until=str(_at(tree, "experiment", "until") or ""),
        inputs={},
        seconds=perf_counter() - began,
    )


def _root(text: str, file: str) -> MappingNode | None:
    """The text as a tree with places; None where it is none."""
    try:
        return read_document(text, file).root
    except TellegenError:
        return None


def _at(tree: object, *path: str) -> object:
    for key in path:
        tree = tree.get(key) if isinstance(tree, Mapping) else None
    return tree


def _notation(tree: object) -> str:
    words = ("network", "bond graph", "pog", "mechanism")
    return next((word for word in words if isinstance(tree, Mapping) and word in tree), "network")


def _inputs(found: Check, tree: object) -> dict[str, str]:
    given = _at(tree, "experiment", "inputs")
    return {name: str(_at(given, name) or "") for name in found.inputs}


# -- Findings ----------------------------------------------------------------------------------------------------------------------

Entries = list[tuple[int, int, str]]
"""Where the entries of a text begin, and how they are called; what belongs to none has no name."""

_QUOTED = re.compile(r"'([^']+)'")
_DESCRIBED = ("parameters", "network", "bond graph", "pog", "mechanism", "signals")
_MEANT = re.compile(r"did you mean '([^']+)'\?")
_REMOVE = re.compile(r"remove (?:one of )?((?:'[^']+'(?:, | or )?)+)")
_JOIN = re.compile(r"join '([^']+)' to another element or to '([^']+)'")


def _findings(findings: Iterable[Finding], root: MappingNode | None, text: str) -> tuple[FindingLine, ...]:
    """Findings for the page. What is said of an entry that is wrong itself follows from that, and has no remedy of its own."""
    tree = tree_of(root) if root is not None else {}
    entries = _entries(root) if root is not None else []
    found = tuple(findings)
    wrong = {_entry_at(entries, one.place) for one in found if one.severity == "error"} - {""}
    return tuple(_finding(one, tree, text, entries, wrong) for one in found)


def _finding(found: Finding, tree: object, text: str, entries: Entries, wrong: set[str]) -> FindingLine:
    place = found.place
    line, column = (place.line, place.column) if place is not None else (0, 0)
    lines = text.split("\n")
    # What stands in the file of a part has no place in this text.
    if not 1 <= line <= len(lines):
        line = column = 0
    length = len(place.text.strip()) if place is not None and line and place.text.strip() in lines[line - 1] else 0
    own = _entry_at(entries, place)
    follows = next((name for name in _QUOTED.findall(found.what) if name in wrong and name != own), "")
    return FindingLine(
        code=found.code,
        severity=found.severity,
        what=found.what,
        why=found.why,
        fix=f"mend {follows} first: this follows from it" if follows else found.fix,
        line=line,
        column=column,
        length=length,
        members=found.members,
        elements=tuple(dict.fromkeys((*found.members, *([own] if own and line else [])))),
        follows=follows,
        remedies=() if follows else tuple(_remedies(found, tree, length)),
    )


def _entries(root: MappingNode) -> Entries:
    found = [(key.line, key.column, "") for key in root.keys]
    for section in _DESCRIBED:
        inner = root.get(section)
        found += [(key.line, key.column, key.text) for key in inner.keys] if isinstance(inner, MappingNode) else []
    return sorted(found)


def _entry_at(entries: Entries, place: Place | None) -> str:
    """The entry in which something stands."""
    if place is None:
        return ""
    after = bisect_right(entries, (place.line, place.column), key=lambda entry: entry[:2])
    return entries[after - 1][2] if after else ""


def _remedies(found: Finding, tree: object, length: int) -> Iterator[Remedy]:
    """What the words of a finding propose and a gesture can do."""
    place = found.place
    if (meant := _MEANT.search(found.fix)) and place is not None and length:
        arguments: dict[str, object] = {"line": place.line, "column": place.column, "old": place.text.strip()}
        yield Remedy(f"Write '{meant[1]}'", "replace", {**arguments, "new": meant[1]})
    if named := _REMOVE.search(found.fix):
        for name in dict.fromkeys(re.findall(r"'([^']+)'", named[1])):
            if _at(tree, "network", name) is not None:
                yield Remedy(f"Remove {name}", "delete", {"name": name})
    if found.code == DEPENDENT_STORAGE.code:
        for name in found.members[:1]:
            if _at(tree, "parameters", name) is not None:
                yield Remedy(f"{name} \N{RIGHTWARDS ARROW} 0", "limit", {"limits": {name: "0"}})
        yield Remedy("Parasitic elements", "condition", {"form": "parasitic"})
        yield Remedy("Merge what moves together", "condition", {"form": "field"})
    if joined := _JOIN.search(found.fix):
        yield Remedy(f"Join {joined[1]} to {joined[2]}", "join", {"first": joined[2], "second": joined[1]})


# -- Elements and parameters -------------------------------------------------------------------------------------------------------


def _element(one: Element, tree: object) -> ElementFacts:
    entry = _at(tree, "network", one.name)
    words = list(entry.items()) if isinstance(entry, Mapping) else []
    settings = {str(key): value for key, value in words[1:] if isinstance(value, str)}
    symbols = sorted(one.value.free_symbols) if one.value is not None else []
    own = bool(words) or _at(tree, "bond graph") is not None
    return ElementFacts(
        name=one.name,
        kind=one.kind.name,
        domain=one.kind.domains[0],
        nodes=one.nodes,
        settings=settings,
        parameters=tuple(symbols),
        variables=tuple(one.variables.values()),
        own=own,
    )


def _parameters(model: Model, tree: object) -> Iterator[ParameterFacts]:
    values = parameter_values({name: item.expression for name, item in model.parameters.items()})
    users: dict[str, list[str]] = {}
    limited: set[str] = set()
    for one in model.elements:
        for name in sorted(one.value.free_symbols) if one.value is not None else ():
            users.setdefault(name, []).append(one.name)
            if isinstance(one.value, Expression) and str(one.value) == name:
                limited.add(name)
    ways: dict[str, list[tuple[str, ...]]] = {name: [("parameters", name)] for name in model.parameters}
    for one in model.elements:
        if one.kind.quantity is not None and one.name in ways:
            # A value may stand in the line of its element.
            ways[one.name].append(("network", one.name, one.kind.quantity.key))
    for name, item in model.parameters.items():
        path = next((path for path in ways[name] if isinstance(_at(tree, *path), str)), ())
        text, own = _at(tree, *path), bool(path)
        plain = own and item.expression is not None and not item.expression.free_symbols and _is_plain(str(text))
        number, unit = _measured(item, values.get(name))
        yield ParameterFacts(
            name=name,
            text=str(text) if own else f"{number:g} {unit}".strip(),
            number=number,
            unit=unit,
            shown_unit=readable_unit(unit),
            plain=plain,
            own=own,
            path=path,
            mathml=inline_formula(name_latex(name)),
            elements=tuple(users.get(name, ())),
            limits=name in limited and own,
            span=_span(item, model) if number == 0 else 0.0,
            moved_by=() if plain else _moved_by(name, model),
        )


def _span(item: Parameter, model: Model) -> float:
    """How far from 0 a value may well be: as far as the largest value of its unit; a right angle; else one unit."""
    alike = [one for one in model.parameters.values() if one.unit == item.unit and one.expression is not None]
    plain = [one.expression.evaluate({}) for one in alike if one.expression and not one.expression.free_symbols]
    largest = max((abs(_measured(item, float(value))[0]) for value in plain), default=0.0)
    return largest or {"deg": 90.0, "rad": 1.5}.get(item.unit, 1.0)


def _moved_by(name: str, model: Model) -> tuple[str, ...]:
    """The parameters with numbers that the formula of a parameter comes down to."""
    found: list[str] = []
    left, seen = [name], {name}
    while left:
        item = model.parameters.get(one := left.pop(0))
        needed = sorted(item.expression.free_symbols) if item is not None and item.expression is not None else []
        if item is not None and not needed and one != name:
            found.append(one)
        left += [other for other in needed if other not in seen]
        seen.update(needed)
    return tuple(found)


_PLAIN = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?(\s+\S+)?\s*")


def _is_plain(text: str) -> bool:
    """Whether a value is a number with a unit, which a slider can write again."""
    return _PLAIN.fullmatch(text) is not None


def _measured(item: Parameter, value: float | None) -> tuple[float, str]:
    """The value in the unit of the file, else in SI, and the unit."""
    if value is None:
        return 0.0, item.unit
    if item.unit:
        unit = parse_unit(item.unit)
        return (value - unit.offset) / unit.factor, item.unit
    return value, ""


# -- Pictures ----------------------------------------------------------------------------------------------------------------------


def _links(model: Model) -> dict[str, tuple[str, ...]]:
    # Bond graphs call elements of parts and bodies by names that formulas have, too.
    plain = {name: (one.name,) for one in model.elements if (name := re.sub(r"\W+", "_", one.name)) != one.name}
    return plain | {name: names for name, names in element_links(model).items() if len(names) <= MOST_SHARED}


def picture(text: str, file: str, folder: str, view: View, theme: Theme) -> ViewPicture:
    """One view of a text; where there is none, the reason.

    Raises: DescriptionError where the text is no model.
    """
    model = model_of(text, file, folder)
    if len(model.elements) > MOST_DRAWN:
        return ViewPicture(view, reason=f"{len(model.elements)} elements are too many for a live view")
    try:
        if view not in {"equations", "steps"}:
            figure = _figure(model, view, theme)
            return ViewPicture(view, inline_svg(figure.svg(symbols=True)), dict(Memory.of(figure.scene).places))
        with written_with(model.symbols):
            return _formulas(model, view)
    except TellegenError as error:
        return ViewPicture(view, reason=error.what)


def _figure(model: Model, view: View, theme: Theme) -> Figure:
    """A figure with items where they were put. Names of junctions may change with an edit: their places count for nothing then."""
    try:
        return draw(model, view, theme=theme)
    except TellegenError as error:
        if error.code != NO_SUCH_ITEM.code:
            raise
    usual = draw(replace(model, layout={}, turned={}), view, theme=theme)
    there = Memory.of(usual.scene).places.keys()
    kept = {name: at for name, at in model.layout.get(view, {}).items() if name in there}
    turned = {name: angle for name, angle in model.turned.items() if name in there}
    return draw(replace(model, layout={view: kept}, turned=turned), view, theme=theme)


def _formulas(model: Model, view: View) -> ViewPicture:
    system = derive_equations(assign_causality(lower(model)))
    if len(system.states) > MOST_EQUATIONS:
        return ViewPicture(
            view, reason=f"{len(system.states)} states are too many for a live view: 'tellegen derive' tells them"
        )
    if view == "steps":
        return ViewPicture(view, text=derivation_steps(system).to_text())
    names = LinkedNames(_links(model))
    return ViewPicture(view, lines=tuple(names.linked(to_mathml(line)) for line in page_lines(system.to_latex())))


_GROUND = re.compile(r'<rect [^>]*fill="#[0-9A-Fa-f]{6}"/>\n')


def inline_svg(svg: str) -> str:
    """A figure as part of a page: without the paper behind it and what files remember, and without names that are not unique."""
    plain = _GROUND.sub("", svg, count=1)
    plain = re.sub(r"<metadata>.*?</metadata>\n?", "", plain, flags=re.DOTALL)
    return re.sub(r'<g id="[^"]*"', "<g", plain)


def thumbnail(name_or_text: str, file: str, folder: str, theme: Theme) -> str:
    """A small picture of a model for the gallery."""
    model = model_of(name_or_text, file, folder)
    return draw(model, "network", theme=theme, max_width=700).svg(symbols=True)
