"""Files of before: what version 1 of the format meant otherwise, and how a file says it now.

Version 1 had weights as inputs of force sources, `BODY.weight_x` and `BODY.weight_y`, and read the initial value of a storage whose
law keeps its content as that content, whatever its unit. A file without a version means the newest one, unless it names what only
version 1 had. Trees are changed for reading, with the places of the file as it is; texts are changed by `tellegen migrate`.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple, final

from tellegen.elements import ElementKind
from tellegen.expressions import Number
from tellegen.model.laws import Law
from tellegen.notations.context import ReadingContext
from tellegen.notations.quantities import number_text
from tellegen.notations.yaml.document import Document, MappingNode, Node, Scalar, SequenceNode
from tellegen.notations.yaml.writing import scalar_source

BEFORE = "1"

_WEIGHT = re.compile(r"(?<![\w.])(?!power\.|energy\.)((?:[A-Za-z]\w*(?:\[[^\]]*\])?\.)+)weight_([xy])(?![\w.])")
_LISTS = ("inputs", "units")


class TextChange(NamedTuple):
    """Characters of a file, from the first index up to the second, and what stands there now."""

    start: int
    end: int
    text: str


@final
class _Weights:
    """Takes the inputs of version 1 out of a tree; `changes` are those of the text, `told` says them."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.changes: list[TextChange] = []
        self.told: dict[str, None] = {}

    def root(self) -> MappingNode:
        """The tree without them."""
        root = self.document.root
        values: list[Node] = []
        for key, value in root.items():
            if key.text == "experiment" and isinstance(value, MappingNode):
                values.append(self._experiment(value))
            else:
                values.append(self._formulas(value) if key.text in ("signals", "network") else value)
        return _same(root, root.keys, tuple(values))

    def _experiment(self, node: MappingNode) -> MappingNode:
        kept: list[tuple[Scalar, Node]] = []
        for position, (key, value) in enumerate(node.items()):
            if key.text in _LISTS and isinstance(value, MappingNode):
                # A section of which nothing is left goes as a whole.
                if left := self._without(node, position, value):
                    kept.append((key, left))
            else:
                kept.append((key, self._formulas(value, plain=True) if key.text == "outputs" else value))
        return _same(node, tuple(key for key, _ in kept), tuple(value for _, value in kept))

    def _without(self, experiment: MappingNode, place: int, node: MappingNode) -> MappingNode | None:
        gone = [position for position, key in enumerate(node.keys) if _WEIGHT.fullmatch(key.text)]
        for position in gone:
            self.told[f"'{node.keys[position].text}' is no input any more: gravity is potential energy"] = None
        if gone and len(gone) == len(node):
            self.changes.append(_removed(self.document, experiment, place))
            return None
        self.changes += [_removed(self.document, node, position) for position in gone]
        kept = [entry for position, entry in enumerate(node.items()) if position not in gone]
        return _same(node, tuple(key for key, _ in kept), tuple(value for _, value in kept))

    def _formulas(self, node: Node, *, plain: bool = False) -> Node:
        """A weight pushed, and pulls now: its force has the other sign; a list of outputs names the force as it is."""
        if isinstance(node, MappingNode):
            return _same(node, node.keys, tuple(self._formulas(value) for value in node.values))
        if isinstance(node, SequenceNode):
            items = tuple(self._formulas(item, plain=plain) for item in node)
            return SequenceNode(items, node.line, node.column, node.length)
        found = _WEIGHT.search(node.text)
        if found is None:
            return node
        text = _WEIGHT.sub(r"\1F_weight_\2" if plain else r"(-\1F_weight_\2)", node.text)
        self.told[f"'{found[0]}' is '{found[1]}F_weight_{found[2]}' now, which counts into the weight"] = None
        start = self.document.start(node)
        self.changes.append(TextChange(start, start + node.length, scalar_source(text, flow=True, quoted=node.quoted)))
        return Scalar(text, node.line, node.column, node.length, node.quoted)


def _same(node: MappingNode, keys: tuple[Scalar, ...], values: tuple[Node, ...]) -> MappingNode:
    return MappingNode(keys, values, node.line, node.column, node.length)


def _removed(document: Document, mapping: MappingNode, position: int) -> TextChange:
    """An entry taken out: its line where it has one of its own, else the entry with the comma that parts it from the others."""
    text, key, value = document.text, mapping.keys[position], mapping.values[position]
    start, end = document.start(key), document.end(value)
    line = document.line_starts[key.line - 1]
    rest = re.compile(r"[ \t]*,?[ \t]*(?:#[^\n]*)?(?:\r?\n|\Z)").match(text, end)
    if not text[line:start].strip() and rest:
        return TextChange(line, rest.end(), "")
    if position + 1 < len(mapping.keys):
        return TextChange(start, document.start(mapping.keys[position + 1]), "")
    before = document.end(mapping.values[position - 1]) if position else start
    return TextChange(before, end, "")


def is_of_version_1(document: Document) -> bool:
    """Whether a file says so, or says nothing and names what only version 1 had."""
    version = document.root.get("version")
    if version is not None:
        return isinstance(version, Scalar) and version.text.strip() == BEFORE
    experiment = document.root.get("experiment")
    if not isinstance(experiment, MappingNode):
        return False
    return any(_WEIGHT.fullmatch(name) for name in _names(experiment))


def _names(experiment: MappingNode) -> Iterator[str]:
    for word in _LISTS:
        if isinstance(section := experiment.get(word), MappingNode):
            yield from section


class Migrated(NamedTuple):
    """A document whose tree says what version 1 meant in the words of now, what changed, and the changes of its text."""

    document: Document
    told: tuple[str, ...]
    changes: tuple[TextChange, ...]


def migrated(document: Document) -> Migrated:
    """A document of version 1 by its tree; its text and its places stay."""
    weights = _Weights(document)
    root = weights.root()
    return Migrated(replace(document, root=root), tuple(weights.told), tuple(weights.changes))


def keeps_content(kind: ElementKind, law: Law | None) -> bool:
    """Whether the state of a storage is what it holds: version 1 read its initial value as that."""
    if kind.role != "storage" or law is None:
        return False
    return law.form == "output" or (law.form == "energy" and law.variable in kind.domain.energy(kind.side).letters)


def content_changes(context: ReadingContext) -> Iterator[tuple[str, TextChange]]:
    """What is said about each initial value that was read as a content, and how the file says it now."""
    for element, kind, node in context.read_as_content:
        unit, output = kind.domain.energy(kind.side).unit, kind.domain.power(kind.side).unit
        value = context.elements[element].initial
        below = f"({output})" if {"*", "/"} & {*output} else output
        text = number_text(value.rational, unit) if isinstance(value, Number) else f"({node.text})*(1 {unit}/{below})"
        start = context.document.start(node)
        change = TextChange(start, start + node.length, scalar_source(text, flow=True, quoted=node.quoted))
        yield f"the initial value of {element} is what it holds, {text}", change


def with_changes(text: str, changes: list[TextChange]) -> str:
    """The text with all changes made, the last one first, so that the places of the others hold."""
    for change in sorted(set(changes), reverse=True):
        text = text[: change.start] + change.text + text[change.end :]
    return text
