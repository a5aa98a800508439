"""A YAML file as a tree of texts with their places, read through libyaml's events.

Nothing is made from the file but texts, lists and mappings: `on`, `010` and `1:2` stay what the user wrote, and no tag
can name an object to build. Sizes and depths are bounded, so that no file can exhaust the memory.
"""

import os
import re
from array import array
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn, cast, final

import yaml
from yaml import events

from tellegen.core import files
from tellegen.core.errors import DescriptionError, Place, TellegenError
from tellegen.core.hidden_characters import HIDDEN
from tellegen.core.memory import without_collector
from tellegen.core.names import did_you_mean
from tellegen.notations.yaml import rules

# A file of 200 000 elements has 1.6 million nodes. So they are no frozen dataclasses, which take three times as long to
# make, and a place is a line, a column and a length: numbers that are small or shared, where an index into the text
# would cost 32 bytes. Nodes are to be read, not changed; `edits` makes a new document.


@final
class Scalar:
    """A text: `text` as the user meant it, its place, and whether it stood in quotes (or in a block `|`, `>`)."""

    __slots__ = ("column", "length", "line", "quoted", "text")

    def __init__(self, text: str, line: int, column: int, length: int, quoted: bool) -> None:
        self.text = text
        self.line = line
        self.column = column
        self.length = length
        self.quoted = quoted

    def __repr__(self) -> str:
        return f"Scalar({self.text!r}, line {self.line})"


@final
class SequenceNode:
    """A list of nodes."""

    __slots__ = ("column", "items", "length", "line")

    def __init__(self, items: "tuple[Node, ...]", line: int, column: int, length: int) -> None:
        self.items = items
        self.line = line
        self.column = column
        self.length = length

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> "Iterator[Node]":
        return iter(self.items)

    def __repr__(self) -> str:
        return f"Sequence(of {len(self.items)}, line {self.line})"


@final
class MappingNode:
    """Keys and values in the order of the file; no key stands twice."""

    __slots__ = ("_index", "column", "keys", "length", "line", "values")

    def __init__(
        self, keys: tuple[Scalar, ...], values: "tuple[Node, ...]", line: int, column: int, length: int
    ) -> None:
        self.keys = keys
        self.values = values
        self.line = line
        self.column = column
        self.length = length
        self._index: dict[str, int] | None = None

    def items(self) -> "Iterator[tuple[Scalar, Node]]":
        """Keys with their values, in order."""
        return zip(self.keys, self.values, strict=True)

    def position(self, key: str) -> int | None:
        """Which entry has this key, counted from 0."""
        if self._index is None:
            if len(self.keys) <= 8:  # an element: a search is faster than a dictionary for each of 200 000 lines
                return next((i for i, known in enumerate(self.keys) if known.text == key), None)
            self._index = {known.text: i for i, known in enumerate(self.keys)}
        return self._index.get(key)

    def get(self, key: str) -> "Node | None":
        """The value of a key, or None."""
        found = self.position(key)
        return None if found is None else self.values[found]

    def key(self, key: str) -> Scalar | None:
        """The key itself with its place, or None."""
        found = self.position(key)
        return None if found is None else self.keys[found]

    def __contains__(self, key: str) -> bool:
        return self.position(key) is not None

    def __len__(self) -> int:
        return len(self.keys)

    def __iter__(self) -> Iterator[str]:
        return (key.text for key in self.keys)

    def __repr__(self) -> str:
        return f"Mapping(of {len(self.keys)}, line {self.line})"


Node = Scalar | SequenceNode | MappingNode


# Three times what a file of 200 000 elements has.
MAX_NODES = 5_000_000

# No model nests so deep, and walks over the tree may recurse.
MAX_DEPTH = 20

# A line may end with a carriage return; a text that an escape makes holds none, for a terminal would write over the line.
_FORBIDDEN = re.compile(HIDDEN.pattern.replace("\n", "\n\r"))


def _check_characters(text: str, file: str) -> None:
    """Raises: DescriptionError (D070) for a character that editors do not show."""
    if (found := files.find_forbidden(_FORBIDDEN, text, file)) is not None:
        character, place = found
        what = f"{character} cannot stand in a model file"
        raise rules.NOT_TEXT.error(what, fix="remove it, or save as UTF-8", place=place)


# The parser in C wherever PyYAML was built with it: the one in Python is many times slower.
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
        self.line_starts = array("q", [0, *(match.end() for match in files.LINE_BREAK.finditer(text)), len(text)])

    def build(self) -> MappingNode:
        """The mapping at the top of the text. Raises: DescriptionError (D060 to D071)."""
        try:
            return self._build()
        except yaml.MarkedYAMLError as error:
            raise self._syntax_error(error) from None

    def _build(self) -> MappingNode:
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
                what, fix = (
                    f"the file has more than {MAX_NODES} keys, values and lists",
                    "repeat structure by a count, or use parts",
                )
                raise rules.TOO_LARGE.error(what, fix=fix, place=self._place(event))
            if kind is events.ScalarEvent:
                if event.anchor is not None or event.tag is not None:
                    self._refuse_properties(event)
                mark = event.start_mark
                if mark.line + 1 != line:
                    line = mark.line + 1  # one number for all nodes of a line
                value = event.value
                # Only double quotes know escapes, and those can make what the text itself must not hold.
                if event.style == '"' and HIDDEN.search(value):
                    self._refuse_character(event)
                if len(shared) < _MOST_SHARED or value in shared:
                    value = share(value, value)
                length = event.end_mark.index - mark.index
                append(Scalar(value, line, mark.column + 1, length, event.style not in _PLAIN))
                count += 1
            elif kind is events.MappingStartEvent or kind is events.SequenceStartEvent:
                if event.anchor is not None or event.tag is not None:
                    self._refuse_properties(event)
                stack.append((children, event))
                children = []
                append = children.append
                count += 1
                if len(stack) > MAX_DEPTH:
                    what = f"lists and mappings are nested more than {MAX_DEPTH} deep"
                    raise rules.TOO_DEEP.error(what, fix="take brackets away, or use parts", place=self._place(event))
            elif kind is events.MappingEndEvent or kind is events.SequenceEndEvent:
                parent, opened = stack.pop()
                make = self._mapping if kind is events.MappingEndEvent else self._sequence
                parent.append(make(children, opened, event))
                children = parent
                append = children.append
            elif kind is events.DocumentStartEvent and top:
                what = "a second document starts here"
                raise rules.SEVERAL_DOCUMENTS.error(what, fix="write one file per system", place=self._place(event))
            # Nine lines of aliases of aliases stand for a billion nodes; a model has parameters and `repeat` instead.
            elif kind is events.AliasEvent:
                self._refuse_properties(event)
            elif kind is events.StreamEndEvent:
                return self._root(top)

    def _sequence(self, children: list[Node], opened: Any, closed: Any) -> SequenceNode:
        mark = opened.start_mark
        return SequenceNode(tuple(children), mark.line + 1, mark.column + 1, self._length(children, opened, closed))

    def _mapping(self, children: list[Node], opened: Any, closed: Any) -> MappingNode:
        keys = tuple(children[0::2])
        names = set()
        for key in keys:
            if type(key) is not Scalar:
                self._refuse_key(key)
            names.add(key.text)
        texts = cast("tuple[Scalar, ...]", keys)
        # YAML itself would let the last one win, in silence.
        if len(names) < len(keys):
            self._refuse_duplicate(texts)
        # The merge key of YAML 1.1 works on aliases, so here it can only be a slip.
        if "<<" in names or "" in names:
            self._refuse_special_key(texts)
        mark = opened.start_mark
        length = self._length(children, opened, closed)
        return MappingNode(texts, tuple(children[1::2]), mark.line + 1, mark.column + 1, length)

    def _length(self, children: list[Node], opened: Any, closed: Any) -> int:
        """Characters in a collection. A block has no closing mark: it ends with its last child, before comments."""
        start = opened.start_mark.index
        if self.text[start] in "{[" or not children:
            return int(closed.end_mark.index - start)
        last = children[-1]
        end = self.line_starts[last.line - 1] + last.column - 1 + last.length
        return end - int(start)

    def _root(self, top: list[Node]) -> MappingNode:
        if not top or (isinstance(top[0], Scalar) and not top[0].length):
            place = Place(self.file, 1, 1)
            raise rules.EMPTY.error("the file is empty", fix="start with a line 'system: name'", place=place)
        if not isinstance(top[0], MappingNode):
            kind = "a list" if isinstance(top[0], SequenceNode) else "a single value"
            what, fix = f"the file is {kind}, not a mapping", "write lines 'key: value', such as 'system: name'"
            raise rules.NOT_A_MAPPING.error(what, fix=fix, place=self._place_of(top[0]))
        return top[0]

    def _place(self, event: Any) -> Place:
        start, end = event.start_mark, event.end_mark
        return Place(self.file, start.line + 1, start.column + 1, files.clip(self.text[start.index : end.index]))

    def _place_of(self, node: Node) -> Place:
        start = self.line_starts[node.line - 1] + node.column - 1
        return Place(self.file, node.line, node.column, files.clip(self.text[start : start + node.length]))

    def _refuse_properties(self, event: Any) -> NoReturn:
        place = self._place(event)
        if event.anchor is None:
            tag = self.text[event.start_mark.index :].split(maxsplit=1)[0]
            what, fix = f"the tag '{tag}' stands before a value", "remove the tag"
            raise rules.TAG.error(what, fix=f"{fix}; a text that starts with '!' goes in quotes", place=place)
        sign, word = ("*", "alias") if type(event) is events.AliasEvent else ("&", "anchor")
        fix = f"write the value where it is used; a text that starts with '{sign}' goes in quotes"
        raise rules.REFERENCE.error(f"the {word} '{sign}{event.anchor}' stands here", fix=fix, place=place)

    def _refuse_character(self, event: Any) -> NoReturn:
        found = HIDDEN.search(event.value)
        assert found is not None, "a character was found"
        what = f"an escape stands for the character U+{ord(found[0]):04X}, which cannot stand in a model file"
        raise rules.NOT_TEXT.error(what, fix="remove the escape", place=self._place(event))

    def _refuse_key(self, key: Node) -> NoReturn:
        kind = "a mapping" if isinstance(key, MappingNode) else "a list"
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
            what = "the merge key '<<' stands here"
            raise rules.MERGE_KEY.error(what, fix="write the entries themselves", place=place)
        raise rules.KEY_NOT_TEXT.error("a key is missing before ':'", fix="write 'key: value'", place=place)

    def _syntax_error(self, error: yaml.MarkedYAMLError) -> TellegenError:
        mark = error.problem_mark or error.context_mark
        # The mark of an unclosed bracket may lie behind the text.
        index = min(mark.index, len(self.text)) if mark else 0
        line = bisect_right(self.line_starts, index, hi=len(self.line_starts) - 1)
        column = index - self.line_starts[line - 1] + 1
        before = self.text[self.line_starts[line - 1] : index]
        words = rules.wording_of(error.problem or error.context or "", before, self.text[index : index + 1])
        what = words.what
        if words.opened and error.context_mark is not None:
            opened = error.context_mark
            what += f" ({words.opened} is at line {opened.line + 1}, column {opened.column + 1})"
        ending = files.LINE_BREAK.search(self.text, index)
        rest = self.text[index : ending.start() if ending else len(self.text)]
        place = Place(self.file, line, column, files.clip(before + rest))
        return rules.SYNTAX.error(what, fix=words.fix, place=place)


__all__ = ["Document", "MappingNode", "Node", "Scalar", "SequenceNode", "read_document", "write_text"]


@final
@dataclass(frozen=True, slots=True, eq=False)
class Document:
    """A file that was read: its name, its text (without byte order mark) and the tree of its texts."""

    file: str
    text: str = field(repr=False)
    root: MappingNode
    line_starts: "array[int]" = field(repr=False)
    has_byte_order_mark: bool = False

    @property
    def content(self) -> str:
        """The text as it stands in the file, byte order mark included: what to write back."""
        return "\ufeff" + self.text if self.has_byte_order_mark else self.text

    def start(self, node: Node) -> int:
        """The index of the node's first character in the text."""
        return self.line_starts[node.line - 1] + node.column - 1

    def end(self, node: Node) -> int:
        """The index of the character after the node; a block ends with its last value, before any comment."""
        return self.start(node) + node.length

    def source(self, node: Node) -> str:
        """The node as the user wrote it, quotes and brackets included."""
        start = self.start(node)
        return self.text[start : start + node.length]

    def place(self, node: Node, at: int = 0, text: str | None = None) -> Place:
        """Where a node stands, with its text; `at` points inside the text of a scalar, at the offending `text`."""
        if at == 0 and text is None:
            return Place(self.file, node.line, node.column, files.clip(self.source(node)))
        shown = self.source(node) if text is None else text
        return Place(self.file, node.line, node.column + self._shift(node, at), files.clip(shown))

    def _shift(self, node: Node, at: int) -> int:
        """Columns from the start of the node to character `at` of its text; 0 where escapes or line breaks hide it."""
        if not isinstance(node, Scalar):
            return 0
        source = self.source(node)
        if source == node.text:
            return at
        return at + 1 if node.quoted and source[1:-1] == node.text and "\n" not in source else 0


def read_document(source: Path | str, file: str = "<text>") -> Document:
    """The tree of a YAML file (a `Path`) or of a YAML text (a `str`, then `file` names it in messages).

    Raises: DescriptionError (D060 to D072) when the text is not a mapping of names in the part of YAML that models use.
    """
    if isinstance(source, Path):
        file, text = str(source), _read_file(source)
    else:
        text = source
    # Editors on Windows put the mark there; it is no part of the first key, and is written back.
    marked = text.startswith("\ufeff")
    text = text[1:] if marked else text
    _check_characters(text, file)
    with without_collector():
        builder = NodeBuilder(text, file)
        root = builder.build()
    return Document(file, text, root, builder.line_starts, marked)


def write_text(path: Path, text: str) -> None:
    """Write a file so that it is whole at every moment: a temporary name in the same folder, then the real name.

    Raises: DescriptionError (D074); the old file is then untouched.
    """
    target = Path(os.path.realpath(path))  # a link keeps pointing at the file it points at
    try:
        files.write_bytes(target, text.encode("utf-8"))
    except (OSError, ValueError) as error:
        what = f"'{path}' cannot be written: {files.failure_reason(error)}"
        raise rules.CANNOT_WRITE.error(what, fix="choose another folder or name") from error


def _read_file(path: Path) -> str:
    try:
        data = files.read_bytes(path, files.MAX_BYTES)
    except (OSError, ValueError) as error:
        what = f"'{path}' cannot be read: {files.failure_reason(error)}"
        raise rules.CANNOT_READ.error(what, fix=_nearest_file(path) or "check the name and the folder") from error
    if len(data) > files.MAX_BYTES:
        what = f"'{path}' is larger than {files.MAX_BYTES // 2**20} MiB"
        raise rules.TOO_LARGE.error(what, fix="repeat structure by a count, or use parts", place=Place(str(path), 1, 1))
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8")
        place = Place(str(path), before.count("\n") + 1, len(before) - before.rfind("\n"))
        what = f"the byte 0x{data[error.start]:02X} is not UTF-8 text"
        raise rules.NOT_TEXT.error(what, fix="save the file as UTF-8", place=place) from None


def _nearest_file(path: Path) -> str:
    try:
        names = sorted(entry.name for entry in path.parent.iterdir() if entry.is_file())
    except (OSError, ValueError):
        return ""
    return did_you_mean(path.name, (name for name in names if name != path.name))
