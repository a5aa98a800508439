"""Shapes that the parts of the schema of model files share: names, lists and ranges."""

from typing import Any

Schema = dict[str, Any]

WORD = "[A-Za-z](_?[A-Za-z0-9])*_?"
INDEXED_WORD = rf"{WORD}(\[[^\[\]]+\])?"
INDEXED_NAME = rf"^({INDEXED_WORD}\.)*{INDEXED_WORD}$"
NAME = rf"^({INDEXED_WORD}\.)*{WORD}$"
NODE = rf"^\s*(({INDEXED_WORD}\.)*{INDEXED_WORD}|[0-9]+)\s*$"

VALUE_SHAPE: Schema = {"$ref": "#/$defs/quantity"}


def named(values: Schema, pattern: str = INDEXED_NAME) -> Schema:
    """A mapping from names to values of one shape."""
    return {"type": "object", "patternProperties": {pattern: values}, "additionalProperties": False}


def listed(item: Schema, **size: int) -> Schema:
    """A list, or one text with commas."""
    if size.get("maxItems") == 1:
        return {"anyOf": [item, {"type": "array", "items": item, **size}]}
    return {"anyOf": [{"type": "array", "items": item, **size}, {"type": "string", "pattern": r"\S"}]}


def ranges_shape() -> Schema:
    """Indices with their first and last values."""
    bounds = {"type": "string", "pattern": r"^.+\.\..+$", "description": "first..last, such as 1..100"}
    return named(bounds, f"^{WORD}$") | {"minProperties": 1}
