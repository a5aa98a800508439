"""YAML as it is written: how texts, lists and mappings are spelled, and edits of a file that keep everything else as it is:
comments, order, blank lines, quotes, line endings.

A text stands plain where that reads back as the same text, else in quotes. An edit replaces text at the place recorded for a node,
reads the result again and compares it with what was asked. It either gives the document asked for or says that it cannot; it never
gives another one.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tellegen.core.errors import TellegenError
from tellegen.core.files import LINE_BREAK
from tellegen.core.names import did_you_mean
from tellegen.notations.yaml import rules
from tellegen.notations.yaml.document import Document, MappingNode, Node, Scalar, SequenceNode, read_document

Tree = str | Sequence["Tree"] | Mapping[str, "Tree"]
"""What a node stands for, without places; an entry to add is given like this."""

_SAFE_START = re.compile(r"[^\s\-?:,\[\]{}#&*!|>'\"%@`]|-[^\s,\[\]{}]")
_UNSAFE = re.compile(
    r":(?=\s|$)|\s#|[^\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)
_UNSAFE_IN_FLOW = re.compile(r"[,\[\]{}]|:(?![A-Za-z0-9_])|\?")
# Besides what YAML forbids, the separators of lines that only some readers take for line ends.
_ESCAPED = re.compile('["\\\\\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]')
_SHORT_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def quote_if_needed(text: str, flow: bool) -> str:
    """The text as YAML: as it is where that reads back as the same text, else in double quotes.

    `flow` says that it stands inside braces or brackets, where commas and brackets end a text.
    """
    plain = (
        _SAFE_START.match(text)
        and text == text.strip()
        and not text.startswith(("---", "..."))
        and not _UNSAFE.search(text)
        and not (flow and _UNSAFE_IN_FLOW.search(text))
    )
    return text if plain else _quoted(text)


def _quoted(text: str) -> str:
    """In double quotes with the escapes that YAML and JSON share."""
    return '"' + _ESCAPED.sub(lambda c: _SHORT_ESCAPES.get(c.group(), f"\\u{ord(c.group()):04x}"), text) + '"'


def scalar_source(text: str, flow: bool, quoted: bool) -> str:
    """A text in quotes, or without them where it needs none."""
    return _quoted(text) if quoted else quote_if_needed(text, flow)


def _tree_source(value: Tree, flow: bool, quoted: bool) -> str:
    """A tree on one line; everything inside braces or brackets is in flow style."""
    if isinstance(value, str):
        return scalar_source(value, flow, quoted)
    if isinstance(value, Mapping):
        return "{" + ", ".join(entry_source(k, v, True, quoted) for k, v in value.items()) + "}"
    return "[" + ", ".join(_tree_source(item, True, quoted) for item in value) + "]"


def entry_source(key: str, value: Tree, flow: bool, quoted: bool) -> str:
    """A key and its value on one line."""
    return f"{scalar_source(key, flow, quoted)}: {_tree_source(value, flow, quoted)}"


_PLAIN_TEXT = re.compile(
    r"[A-Za-z0-9_(.+/°µμΩΩ-][^\x00-\x1f\x7f-\x9f,\[\]{}#&*!|>'\"%@`:]*(?:[*%][^\x00-\x1f\x7f-\x9f,\[\]{}#&!|>'\"@`:]*)*"
)


# Two rules, for two tasks. An edit keeps close to what stands in a file of a user: `quote_if_needed`. In files that are
# written anew a text gets quotes wherever it might be read otherwise in any place, so that it can be moved: `quoted`.
def quoted(text: str) -> str:
    """The text as YAML reads it back, inside brackets or outside: plain where that is safe, else in double quotes."""
    if _PLAIN_TEXT.fullmatch(text) and text == text.strip() and not text.startswith(("- ", "-", ".")) and text != "...":
        return text
    # A dash with a space behind it begins an item of a list; one before a digit is a sign.
    if re.fullmatch(r"-[0-9.][0-9A-Za-z.*/^() +-]*", text) and text == text.strip():
        return text  # a negative quantity
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\x7f")


def sentence_text(text: str) -> str:
    """A text on a line of its own, where commas and apostrophes do no harm."""
    safe = re.fullmatch(r"[A-Za-z0-9(](?:[^\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff:#]|:(?=\S))*", text)
    return text if safe and text == text.strip() else quoted(text)


def list_text(texts: Iterable[str]) -> str:
    """A list in brackets."""
    return "[" + ", ".join(map(quoted, texts)) + "]"


def line_text(pairs: Iterable[tuple[str, str]]) -> str:
    """Keys with values that are spelled already, in braces."""
    return "{" + ", ".join(f"{key}: {value}" for key, value in pairs) + "}"


def tree_text(value: object) -> str:
    """Texts, lists and mappings of texts in braces and brackets."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{quoted(str(key))}: {tree_text(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(tree_text, value)) + "]"
    return quoted(str(value))


# Edits

NodePath = tuple[str | int, ...]
"""Keys and indices (from 0) from the root of a document to a node."""

_Change = tuple[int, int, str]
"""Replace the characters from the first index up to the second by the text."""


def tree_of(node: Node) -> Any:
    """What a node says, wherever it stands and however it is written."""
    if isinstance(node, MappingNode):
        return {key.text: tree_of(value) for key, value in node.items()}
    return [tree_of(item) for item in node] if isinstance(node, SequenceNode) else node.text


def _changed(tree: Any, path: NodePath, change: Callable[[Any], Tree]) -> Any:
    """The tree with a change of what a path leads to."""
    if not path:
        return change(tree)
    if isinstance(tree, dict):
        return {key: _changed(part, path[1:], change) if key == path[0] else part for key, part in tree.items()}
    return [_changed(part, path[1:], change) if k == path[0] else part for k, part in enumerate(tree)]


_REST_OF_LINE = re.compile(r"[ \t]*+(?P<comma>,?+)[ \t]*+(?:#[^\r\n]*+)?+(?=[\r\n]|\Z)")
_COMMA_LATER = re.compile(r"(?:\s|#[^\r\n]*+)*+,")  # possessive: a comma inside a comment does not count


def set_scalar(document: Document, path: NodePath, text: str) -> Document:
    """The document with another text at `path`; a text that needs quotes gets them, one that had them keeps them."""
    node, in_flow = _find(document, path)
    if not isinstance(node, Scalar):
        raise _misfit(document, node, f"{_show(path)} is not a single value", "set one of the values inside it")
    start, source = document.start(node), document.source(node)
    # A block text owns the line ends behind it: the line that follows needs them.
    end = start + len(source.rstrip())
    source = scalar_source(text, in_flow, node.quoted and document.text[start] in "'\"")
    if not node.length:
        source = _after_colon(document.text[:start], source)
    return _edited(document, (start, end, source), path, lambda _: text)


def add_entry(document: Document, path: NodePath, key: str, value: Tree) -> Document:
    """The document with a new last entry in the mapping at `path` (an empty value counts as an empty mapping).

    A block gets a new line with the same indentation; a nested `value` is written in braces and brackets on one line.
    """
    node, in_flow = _find(document, path)
    if isinstance(node, MappingNode):
        if (known := node.key(key)) is not None:
            raise _misfit(document, known, f"the key '{key}' is already there", "choose another name")
        add = _added_in_braces if _is_flow(document, node) else _added_in_block
        change = add(document, node, key, value)
    elif isinstance(node, Scalar) and not node.length:
        change = _added_in_nothing(document, path, node, (key, value), in_flow)
    else:
        raise _misfit(document, node, f"{_show(path)} is not a mapping", "add the entry to a mapping")

    return _edited(document, change, path, lambda old: {**(old or {}), key: value})


def add_item(document: Document, path: NodePath, text: str) -> Document:
    """The document with a new last item in the list at `path` (an empty value counts as an empty list)."""
    node, in_flow = _find(document, path)
    if isinstance(node, SequenceNode):
        change = _new_item(document, node, text)
    elif isinstance(node, Scalar) and not node.length and not in_flow:
        mapping = find(document, path[:-1])
        assert isinstance(mapping, MappingNode), "a key leads to a value of a mapping"
        indent = " " * (mapping.keys[mapping.values.index(node)].column + 1)
        change = _new_line_after(document, document.start(node), f"{indent}- {quote_if_needed(text, flow=False)}")
    else:
        raise _misfit(document, node, f"{_show(path)} is not a list", "add the item to a list")
    return _edited(document, change, path, lambda old: [*(old or ()), text])


def _new_item(document: Document, node: SequenceNode, text: str) -> _Change:
    if not _is_flow(document, node):
        line = " " * (node.column - 1) + f"- {quote_if_needed(text, flow=False)}"
        return _new_line_after(document, document.end(node), line)
    source = quote_if_needed(text, flow=True)
    at = document.end(node.items[-1]) if node.items else document.start(node) + 1
    return at, at, f", {source}" if node.items else source


def remove(document: Document, path: NodePath) -> Document:
    """The document without the entry, or the item, that a path leads to; a comment behind it on its line goes with it.

    Comments on lines of their own stay: nobody can tell what they belong to.
    """
    parent, last = path[:-1], path[-1]
    node, _ = _find(document, parent)
    find(document, path)
    inside = isinstance(node, SequenceNode | MappingNode) and _is_flow(document, node)
    change = _removed_in_braces(document, node, last) if inside else _removed_in_block(document, node, last)

    def without(old: Any) -> Tree:
        if isinstance(old, list):
            rest: Tree = [item for k, item in enumerate(old) if k != last]
        else:
            rest = {key: value for key, value in old.items() if key != last}
        # A block without a line left is nothing; braces stay.
        return rest if inside or rest else ""

    return _edited(document, change, parent, without)


def _parts(node: Node, which: str | int) -> tuple[int, Sequence[Node], Sequence[Node]]:
    """The position of an entry, where each entry begins, and the value that ends it."""
    if isinstance(node, MappingNode):
        position = node.position(str(which))
        assert position is not None, "the entry was found before"
        return position, node.keys, node.values
    assert isinstance(node, SequenceNode), "the item was found before"
    assert isinstance(which, int), "items have numbers"
    return which, node.items, node.items


def _removed_in_block(document: Document, node: Node, which: str | int) -> _Change:
    k, starts, ends = _parts(node, which)
    text = document.text
    begin = document.line_starts[starts[k].line - 1]
    found = LINE_BREAK.search(text, max(document.end(ends[k]) - 1, begin))
    end = found.end() if found else len(text)
    # At the end of a text without a line end the one before goes, or a new empty line would stay.
    if found is None and begin and (before := re.search(r"(\r\n|\r|\n)\Z", text[:begin])):
        begin = before.start()
    return begin, end, ""


def _removed_in_braces(document: Document, node: Node, which: str | int) -> _Change:
    k, starts, ends = _parts(node, which)
    if k > 0:
        return document.end(ends[k - 1]), document.end(ends[k]), ""
    stop = document.start(starts[1]) if len(starts) > 1 else document.end(ends[0])
    return document.start(starts[0]), stop, ""


def find(document: Document, path: NodePath) -> Node:
    """The node that a path leads to.

    Raises: DescriptionError (D073) when there is none.
    """
    return _find(document, path)[0]


def _added_in_block(document: Document, mapping: MappingNode, key: str, value: Tree) -> _Change:
    line = " " * (mapping.column - 1) + entry_source(key, value, False, False)
    return _new_line_after(document, document.end(mapping), line)


def _added_in_nothing(
    document: Document, path: NodePath, node: Scalar, entry: tuple[str, Tree], in_flow: bool
) -> _Change:
    """The first entry below a key without value: two columns further in, on a line of its own."""
    at = document.start(node)
    if in_flow or not isinstance(path[-1], str):
        braces = "{" + entry_source(*entry, True, False) + "}"
        return at, at, _after_colon(document.text[:at], braces)
    mapping = find(document, path[:-1])
    assert isinstance(mapping, MappingNode), "a word leads to a value of a mapping"
    line = " " * (mapping.keys[mapping.values.index(node)].column + 1) + entry_source(*entry, False, False)
    return _new_line_after(document, at, line)


def _new_line_after(document: Document, index: int, line: str) -> _Change:
    """A new line below the one that `index` stands in; behind a block text, which owns its line ends, at `index`."""
    text, newline = document.text, _newline(document)
    if index and text[index - 1] in "\r\n":
        return index, index, line + newline
    found = LINE_BREAK.search(text, index)
    at = found.start() if found else len(text)
    return at, at, newline + line


def _added_in_braces(document: Document, mapping: MappingNode, key: str, value: Tree) -> _Change:
    text = document.text
    if not mapping.keys:
        at = document.start(mapping) + 1
        source = entry_source(key, value, True, False)
        # Without a space before it a `#` would be part of the value and no comment.
        return at, at, source + " " if text[at] == "#" else source
    last = mapping.keys[-1]
    end = document.end(mapping.values[-1])
    source = entry_source(key, value, True, text[document.start(last)] == '"')
    rest = _REST_OF_LINE.match(text, end)
    first_in_line = not text[document.line_starts[last.line - 1] : document.start(last)].strip()
    if first_in_line and rest:  # one entry per line: the comment stays with its entry
        stop, comma = rest.end(), rest["comma"]
        indent = _newline(document) + " " * (last.column - 1)
        return end, stop, ("" if comma else ",") + text[end:stop] + indent + source + comma
    if later := _COMMA_LATER.match(text, end):
        return later.end(), later.end(), " " + source
    return end, end, ", " + source


def _find(document: Document, path: NodePath) -> tuple[Node, bool]:
    """The node at a path, and whether it stands inside braces or brackets."""
    node: Node = document.root
    in_flow = False
    for depth, step in enumerate(path):
        in_flow = in_flow or _is_flow(document, node)
        node = _step(document, node, step, path[: depth + 1])
    return node, in_flow


def _step(document: Document, node: Node, step: str | int, path: NodePath) -> Node:
    found: Node | None = None
    fix = ""
    if isinstance(node, MappingNode) and isinstance(step, str):
        found, fix = node.get(step), did_you_mean(step, node)
    elif isinstance(node, SequenceNode) and isinstance(step, int) and 0 <= step < len(node):
        found = node.items[step]
    if found is None:
        raise _misfit(document, node, f"there is no {_show(path)}", fix)
    return found


def _misfit(document: Document, node: Node, what: str, fix: str) -> TellegenError:
    return rules.EDIT_DOES_NOT_FIT.error(what, fix=fix, place=document.place(node))


def _show(path: NodePath) -> str:
    return f"'{' / '.join(map(str, path))}'" if path else "the file itself"


def _edited(document: Document, change: _Change, path: NodePath, asked: Callable[[Any], Tree]) -> Document:
    """The document with the change made, provided that it is as asked at `path` and the same everywhere else."""
    start, end, source = change
    text = document.text[:start] + source + document.text[end:]
    node = find(document, path)
    try:
        edited = read_document(text, document.file)
    except TellegenError as error:
        raise _misfit(document, node, f"the edit at {_show(path)} gives no valid file: {error.what}", "") from error
    # The proof of every edit: whatever stands around it, nothing else can have changed unseen.
    wanted = _changed(tree_of(document.root), path, asked)
    if json.dumps(tree_of(edited.root)) != json.dumps(wanted, default=dict):  # as texts, which keep the order of keys
        what = f"the edit at {_show(path)} would change something else too"
        raise _misfit(document, node, what, "write this part of the file on lines of its own first")
    return replace(edited, has_byte_order_mark=document.has_byte_order_mark)


def _is_flow(document: Document, node: Node) -> bool:
    """Whether a collection stands in braces or brackets; a block starts with its first key, which never does."""
    return not isinstance(node, Scalar) and document.text[document.start(node)] in "{["


def _after_colon(before: str, source: str) -> str:
    """The first value of a key, or of an item, that had none."""
    if not before.rstrip().endswith((":", "-")):
        return ": " + source  # a key alone in braces, `{a}`
    return source if before[-1].isspace() else " " + source


def _newline(document: Document) -> str:
    found = LINE_BREAK.search(document.text)
    return found.group() if found else "\n"
