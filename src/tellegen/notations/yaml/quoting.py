"""Texts, lists and mappings as YAML spells them: plain where that reads back as the same text, else in quotes."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence

Tree = str | Sequence["Tree"] | Mapping[str, "Tree"]
"""What a node stands for, without places; an entry to add is given like this."""

_SAFE_START = re.compile(r"[^\s\-?:,\[\]{}#&*!|>'\"%@`]|-[^\s,\[\]{}]")
_UNSAFE = re.compile(
    r":(?=\s|$)|\s#|[^\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)
_UNSAFE_IN_FLOW = re.compile(r"[,\[\]{}]|:(?![A-Za-z0-9_])|\?")
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


def quoted(text: str) -> str:
    """The text as YAML reads it back, inside brackets or outside: plain where that is safe, else in double quotes."""
    if _PLAIN_TEXT.fullmatch(text) and text == text.strip() and not text.startswith(("- ", "-", ".")) and text != "...":
        return text
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
