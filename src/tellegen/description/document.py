"""A YAML file as a tree of texts with their places, read through libyaml's events.

Nothing is made from the file but texts, lists and mappings: `on`, `010` and `1:2` stay what the user wrote, and no tag
can name an object to build. Sizes and depths are bounded, so that no file can exhaust the memory.
"""

import os
from array import array
from dataclasses import dataclass, field
from pathlib import Path
from typing import final

from tellegen.core.errors import Place
from tellegen.core.names import did_you_mean
from tellegen.description import document_rules as rules
from tellegen.description.files import (
    MAX_BYTES,
    clip,
    read_bytes,
    reason,
    without_collector,
    write_bytes,
)
from tellegen.description.yaml_building import NodeBuilder, check_characters
from tellegen.description.yaml_nodes import Mapping, Node, Scalar, Sequence

__all__ = [
    "Document",
    "Mapping",
    "Node",
    "Scalar",
    "Sequence",
    "read_document",
    "write_text",
]


@final
@dataclass(frozen=True, slots=True, eq=False)
class Document:
    """A file that was read: its name, its text (without byte order mark) and the tree of its texts."""

    file: str
    text: str = field(repr=False)
    root: Mapping
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
            return Place(self.file, node.line, node.column, clip(self.source(node)))
        shown = self.source(node) if text is None else text
        return Place(self.file, node.line, node.column + self._shift(node, at), clip(shown))

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
    marked = text.startswith("\ufeff")
    text = text[1:] if marked else text
    check_characters(text, file)
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
        write_bytes(target, text.encode("utf-8"))
    except (OSError, ValueError) as error:
        what = f"'{path}' cannot be written: {reason(error)}"
        raise rules.CANNOT_WRITE.error(what, fix="choose another folder or name") from error


def _read_file(path: Path) -> str:
    try:
        data = read_bytes(path, MAX_BYTES)
    except (OSError, ValueError) as error:
        what = f"'{path}' cannot be read: {reason(error)}"
        raise rules.CANNOT_READ.error(what, fix=_nearest_file(path) or "check the name and the folder") from error
    if len(data) > MAX_BYTES:
        what = f"'{path}' is larger than {MAX_BYTES // 2**20} MiB"
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
