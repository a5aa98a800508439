"""What a YAML text is made of: texts, lists and mappings, each with its place."""

from collections.abc import Iterator
from typing import final

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
class Sequence:
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
class Mapping:
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


Node = Scalar | Sequence | Mapping
