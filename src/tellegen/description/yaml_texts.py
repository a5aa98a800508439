"""Texts, lists and mappings as a model file spells them."""

import json
import re
from collections.abc import Iterable, Mapping

from tellegen.description.signals.writing import Text

_PLAIN = re.compile(
    r"[A-Za-z0-9_(.+/°µμΩΩ-][^\x00-\x1f\x7f-\x9f,\[\]{}#&*!|>'\"%@`:]*(?:[*%][^\x00-\x1f\x7f-\x9f,\[\]{}#&!|>'\"@`:]*)*"
)


def quoted(text: str) -> str:
    """The text as YAML reads it back, inside brackets or outside: plain where that is safe, else in double quotes."""
    if _PLAIN.fullmatch(text) and text == text.strip() and not text.startswith(("- ", "-", ".")) and text != "...":
        return text
    if re.fullmatch(r"-[0-9.][0-9A-Za-z.*/^() +-]*", text) and text == text.strip():
        return text  # a negative quantity
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\x7f")


def sentence(text: str) -> str:
    """A text on a line of its own, where commas and apostrophes do no harm."""
    safe = re.fullmatch(r"[A-Za-z0-9(](?:[^\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff:#]|:(?=\S))*", text)
    return text if safe and text == text.strip() else quoted(text)


def list_text(texts: Iterable[str]) -> str:
    """A list in brackets."""
    return "[" + ", ".join(map(quoted, texts)) + "]"


def nested_text(text: Text) -> str:
    """A text, or a list of texts or of lists."""
    if isinstance(text, str):
        return quoted(text)
    return "[" + ", ".join(quoted(entry) if isinstance(entry, str) else list_text(entry) for entry in text) + "]"


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


def mapping_text(texts: Mapping[str, str]) -> str:
    """Names with texts, in braces."""
    return "{" + ", ".join(f"{quoted(key)}: {quoted(value)}" for key, value in texts.items()) + "}"
