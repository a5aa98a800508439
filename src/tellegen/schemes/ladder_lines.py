"""The entries of a ladder as lines of YAML."""

import re
from collections.abc import Mapping, Sequence

from tellegen.description.yaml_texts import quoted
from tellegen.schemes.ladder_entries import Entry

_ELEMENT = re.compile(r"-?(?:[A-Za-z]|Sw):[A-Za-z][A-Za-z0-9_]*")


def ladder_lines(entries: Sequence[Entry], indent: str = "  ") -> str:
    """One line an entry; side ladders are indented."""
    lines = []
    for entry in entries:
        bullet = f"{indent}- "
        for word, value in entry.items():
            if word in ("branch", "series branch"):
                lines.append(f"{bullet}{word}:\n{ladder_lines(value, indent + '    ')}")  # type: ignore[arg-type]
            else:
                lines.append(f"{bullet}{word}: {_flow(value)}\n")
            bullet = f"{indent}  "
    return "".join(lines)


def _flow(value: object) -> str:
    if isinstance(value, str):
        return value if _ELEMENT.fullmatch(value) else quoted(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {_flow(text)}" for key, text in value.items()) + "}"
    assert isinstance(value, Sequence), "an entry is a text, a list or a mapping"
    return "[" + ", ".join(map(_flow, value)) + "]"
