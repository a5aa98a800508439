"""The JSON Schema of one entry of a POG ladder."""

from typing import Any

from tellegen.core.domains import DOMAINS
from tellegen.description.ladders.blocks import BLOCKS, MATRICES, NONE, RESISTIVE, STORAGES, SWITCHING

Shape = dict[str, Any]

_VALUE: Shape = {"type": ["string", "number"]}


def block_shape(word: str) -> Shape:
    """The shape of an entry; `word` is the pattern of a name. Branches refer to `#/$defs/block`."""
    name = {"type": "string", "pattern": rf"^\s*-?\s*{word}\s*$"}
    shapes: dict[str, Shape] = {
        "section": _section(name),
        "connect": {"anyOf": [name, _list(name, minItems=1, maxItems=1), _connection(name)]},
        "domain": {"anyOf": [{"enum": list(DOMAINS)}, _list({"enum": list(DOMAINS)}, minItems=1)]},
        **{block: _elements(word, name) for block in ("series", "parallel", "mixed")},
        **{block: _list({"$ref": "#/$defs/block"}, minItems=1) for block in ("branch", "series branch")},
    }
    ways = {
        "description": "series or parallel, for each lane of a mixed block",
        **_texts({"enum": ["series", "parallel"]}),
    }
    return {
        "type": "object",
        "properties": {block: {**shapes[block], "description": text} for block, text in BLOCKS.items()}
        | {"ways": ways},
        "minProperties": 1,
        "maxProperties": 2,
        "dependentRequired": {"mixed": ["ways"], "ways": ["mixed"]},
        "oneOf": [{"required": [block]} for block in BLOCKS],
        "additionalProperties": False,
    }


def _list(item: Shape, **size: int) -> Shape:
    return {"type": "array", "items": item, **size}


def _texts(item: Shape, **size: int) -> Shape:
    """A list, or one text with commas."""
    return {"anyOf": [_list(item, **size), {"type": "string", "pattern": r"\S"}]}


def _section(name: Shape) -> Shape:
    row = {"anyOf": [name, _list(name, minItems=1)]}
    keys = {
        "type": "object",
        "properties": {"across": row, "through": row, "given": row},
        "required": ["across", "through"],
        "additionalProperties": False,
    }
    return {
        "anyOf": [_texts(name, minItems=2, maxItems=2), _list(_list(name, minItems=1), minItems=2, maxItems=2), keys]
    }


def _connection(name: Shape) -> Shape:
    sides = {"anyOf": [{"enum": ["across", "through"]}, _list({"enum": ["across", "through"]}, minItems=1)]}
    return {
        "type": "object",
        "properties": {"name": name, "K": {"anyOf": [_VALUE, _matrix(_VALUE)]}, "takes": sides, "gives": sides},
        "required": ["name"],
        "additionalProperties": False,
    }


def _matrix(entry: Shape) -> Shape:
    return _list(_list(entry, minItems=1), minItems=1)


def _elements(word: str, name: Shape) -> Shape:
    letters = (*STORAGES, *RESISTIVE)
    element = {"type": "string", "pattern": rf"^\s*-?\s*({'|'.join((*letters, SWITCHING))})\s*:\s*{word}\s*$"}
    lanes = _list({"anyOf": [element, {"enum": [NONE]}]}, minItems=1)
    field = {
        "type": "object",
        "properties": dict.fromkeys((*letters, *MATRICES), name)
        | {"matrix": _matrix(_VALUE), "law": _texts({"type": "string"}, minItems=1), "lanes": {}},
        "anyOf": [{"required": [word]} for word in ("matrix", "law")],
        "additionalProperties": {"anyOf": [_list(_VALUE), _VALUE]},
    }
    polynomial = _texts(_VALUE, minItems=1)
    transfer = {
        "type": "object",
        "properties": {
            **dict.fromkeys((*RESISTIVE, "power", "static"), name),
            "numerator": {"anyOf": [polynomial, _matrix(polynomial)]},
            "denominator": polynomial,
        },
        "required": ["numerator", "denominator"],
        "additionalProperties": False,
    }
    return _texts({"anyOf": [element, lanes, field, transfer]}, minItems=1)
