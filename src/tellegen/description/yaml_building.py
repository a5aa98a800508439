"""Nodes from the events of the YAML parser: every value a text, nothing shared, nothing run, sizes bounded."""

import re
from array import array
from bisect import bisect_right
from typing import Any, NoReturn, cast

import yaml
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

from tellegen.core.errors import DescriptionError, Place, TellegenError
from tellegen.description import document_rules as rules
from tellegen.description.files import (
    LINE_BREAK,
    clip,
    find_forbidden,
)
from tellegen.description.yaml_nodes import Mapping, Node, Scalar, Sequence

MAX_NODES = 5_000_000

MAX_DEPTH = 20

# What YAML allows, less what editors do not show: special line separators, and byte order marks inside the text.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")


def check_characters(text: str, file: str) -> None:
    """Raises: DescriptionError (D070) for a character that editors do not show."""
    if (found := find_forbidden(_FORBIDDEN, text, file)) is not None:
        character, place = found
        what = f"{character} cannot stand in a model file"
        raise rules.NOT_TEXT.error(what, fix="remove it, or save as UTF-8", place=place)


_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_MOST_SHARED = 10_000

_PLAIN = (None, "")
"""The style of a scalar without quotes, as PyYAML's two parsers report it."""


class NodeBuilder:
    """Builds the tree of one text from events, and refuses what models do not use."""

    def __init__(self, text: str, file: str) -> None:
        self.text = text
        self.file = file
        # The last entry is for libyaml, which puts what is missing at the end of a text on a line of its own.
        self.line_starts = array("q", [0, *(match.end() for match in LINE_BREAK.finditer(text)), len(text)])

    def build(self) -> Mapping:
        """The mapping at the top of the text. Raises: DescriptionError (D060 to D071)."""
        try:
            return self._build()
        except yaml.MarkedYAMLError as error:
            raise self._syntax_error(error) from None

    def _build(self) -> Mapping:
        """The loop over events: written flat, because it runs two million times for a file of 200 000 elements."""
        next_event = _LOADER(self.text).get_event
        shared: dict[str, str] = {}  # one copy of `resistor` instead of 200 000
        share = shared.setdefault
        stack: list[tuple[list[Node], Any]] = []
        top: list[Node] = []
        children = top
        append = children.append
        count = 0
        line = 0
        while True:
            event = next_event()
            kind = type(event)
            if count > MAX_NODES:
                self._refuse_size(event)
            if kind is ScalarEvent:
                if event.anchor is not None or event.tag is not None:
                    self._refuse_properties(event)
                mark = event.start_mark
                if mark.line + 1 != line:
                    line = mark.line + 1  # one number for all nodes of a line
                value = event.value
                if len(shared) < _MOST_SHARED or value in shared:
                    value = share(value, value)
                length = event.end_mark.index - mark.index
                append(Scalar(value, line, mark.column + 1, length, event.style not in _PLAIN))
                count += 1
            elif kind is MappingStartEvent or kind is SequenceStartEvent:
                if event.anchor is not None or event.tag is not None:
                    self._refuse_properties(event)
                stack.append((children, event))
                children = []
                append = children.append
                count += 1
                if len(stack) > MAX_DEPTH:
                    self._refuse_depth(event)
            elif kind is MappingEndEvent or kind is SequenceEndEvent:
                parent, opened = stack.pop()
                make = self._mapping if kind is MappingEndEvent else self._sequence
                parent.append(make(children, opened, event))
                children = parent
                append = children.append
            elif kind is DocumentStartEvent and top:
                self._refuse_second_document(event)
            elif kind is AliasEvent:
                self._refuse_properties(event)
            elif kind is StreamEndEvent:
                return self._root(top)

    def _sequence(self, children: list[Node], opened: Any, closed: Any) -> Sequence:
        mark = opened.start_mark
        return Sequence(tuple(children), mark.line + 1, mark.column + 1, self._length(children, opened, closed))

    def _mapping(self, children: list[Node], opened: Any, closed: Any) -> Mapping:
        keys = tuple(children[0::2])
        names = set()
        for key in keys:
            if type(key) is not Scalar:
                self._refuse_key(key)
            names.add(key.text)
        texts = cast("tuple[Scalar, ...]", keys)
        if len(names) < len(keys):
            self._refuse_duplicate(texts)
        if "<<" in names or "" in names:
            self._refuse_special_key(texts)
        mark = opened.start_mark
        length = self._length(children, opened, closed)
        return Mapping(texts, tuple(children[1::2]), mark.line + 1, mark.column + 1, length)

    def _length(self, children: list[Node], opened: Any, closed: Any) -> int:
        """Characters in a collection. A block has no closing mark: it ends with its last child, before comments."""
        start = opened.start_mark.index
        if self.text[start] in "{[" or not children:
            return int(closed.end_mark.index - start)
        last = children[-1]
        end = self.line_starts[last.line - 1] + last.column - 1 + last.length
        return end - int(start)

    def _root(self, top: list[Node]) -> Mapping:
        if not top or (isinstance(top[0], Scalar) and not top[0].length):
            place = Place(self.file, 1, 1)
            raise rules.EMPTY.error("the file is empty", fix="start with a line 'system: name'", place=place)
        if not isinstance(top[0], Mapping):
            kind = "a list" if isinstance(top[0], Sequence) else "a single value"
            what, fix = f"the file is {kind}, not a mapping", "write lines 'key: value', such as 'system: name'"
            raise rules.NOT_A_MAPPING.error(what, fix=fix, place=self._place_of(top[0]))
        return top[0]

    def _place(self, event: Any) -> Place:
        start, end = event.start_mark, event.end_mark
        return Place(self.file, start.line + 1, start.column + 1, clip(self.text[start.index : end.index]))

    def _place_of(self, node: Node) -> Place:
        start = self.line_starts[node.line - 1] + node.column - 1
        return Place(self.file, node.line, node.column, clip(self.text[start : start + node.length]))

    def _refuse_properties(self, event: Any) -> NoReturn:
        place = self._place(event)
        if event.anchor is None:
            tag = self.text[event.start_mark.index :].split(maxsplit=1)[0]
            what, fix = f"the tag '{tag}' stands before a value", "remove the tag"
            raise rules.TAG.error(what, fix=f"{fix}; a text that starts with '!' goes in quotes", place=place)
        sign, word = ("*", "alias") if type(event) is AliasEvent else ("&", "anchor")
        fix = f"write the value where it is used; a text that starts with '{sign}' goes in quotes"
        raise rules.REFERENCE.error(f"the {word} '{sign}{event.anchor}' stands here", fix=fix, place=place)

    def _refuse_depth(self, event: Any) -> NoReturn:
        what = f"lists and mappings are nested more than {MAX_DEPTH} deep"
        raise rules.TOO_DEEP.error(what, fix="take brackets away, or use parts", place=self._place(event))

    def _refuse_size(self, event: Any) -> NoReturn:
        what = f"the file has more than {MAX_NODES} keys, values and lists"
        raise rules.TOO_LARGE.error(what, fix="repeat structure by a count, or use parts", place=self._place(event))

    def _refuse_second_document(self, event: Any) -> NoReturn:
        what = "a second document starts here"
        raise rules.SEVERAL_DOCUMENTS.error(what, fix="write one file per system", place=self._place(event))

    def _refuse_key(self, key: Node) -> NoReturn:
        kind = "a mapping" if isinstance(key, Mapping) else "a list"
        fix = "a key is a word; put a text with brackets in quotes"
        raise rules.KEY_NOT_TEXT.error(f"{kind} stands where a key is expected", fix=fix, place=self._place_of(key))

    def _refuse_duplicate(self, keys: tuple[Scalar, ...]) -> NoReturn:
        first: dict[str, Scalar] = {}
        findings = []
        for key in keys:
            if first.setdefault(key.text, key) is key:
                continue
            earlier = self._place_of(first[key.text])
            what = f"the key '{key.text}' stands twice, first at line {earlier.line}, column {earlier.column}"
            fix = "rename or remove one of the two"
            findings.append(
                rules.DUPLICATE_KEY.finding(what, fix=fix, place=self._place_of(key), members=[str(earlier)])
            )
        raise DescriptionError(findings)

    def _refuse_special_key(self, keys: tuple[Scalar, ...]) -> NoReturn:
        key = next(key for key in keys if key.text in ("<<", ""))
        place = self._place_of(key)
        if key.text:
            raise rules.MERGE_KEY.error(
                "the merge key '<<' stands here", fix="write the entries themselves", place=place
            )
        raise rules.KEY_NOT_TEXT.error("a key is missing before ':'", fix="write 'key: value'", place=place)

    def _syntax_error(self, error: yaml.MarkedYAMLError) -> TellegenError:
        mark = error.problem_mark or error.context_mark
        index = min(mark.index, len(self.text)) if mark else 0
        line = bisect_right(self.line_starts, index, hi=len(self.line_starts) - 1)
        column = index - self.line_starts[line - 1] + 1
        before = self.text[self.line_starts[line - 1] : index]
        words = rules.wording_of(error.problem or error.context or "", before, self.text[index : index + 1])
        what = words.what
        if words.opened and error.context_mark is not None:
            opened = error.context_mark
            what += f" ({words.opened} is at line {opened.line + 1}, column {opened.column + 1})"
        ending = LINE_BREAK.search(self.text, index)
        rest = self.text[index : ending.start() if ending else len(self.text)]
        place = Place(self.file, line, column, clip(before + rest))
        return rules.SYNTAX.error(what, fix=words.fix, place=place)
