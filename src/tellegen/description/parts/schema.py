"""The shapes of ports and parts for the JSON Schema of model files."""

from typing import Any

from tellegen.description.parts.lines import KEYS
from tellegen.description.parts.ports import AT, SIGNAL_KEYS, SOURCE

Schema = dict[str, Any]


def ports_shape(name: str, ranges: Schema) -> Schema:
    """Ports by name, and repeated blocks of them: what they are in this system, or what they are joined to."""
    source = {
        "type": "object",
        "properties": {SOURCE: {"type": "string", "description": "the source whose place the port takes"}},
        "required": [SOURCE],
        "additionalProperties": False,
    }
    nodes = {"type": "array", "items": {"$ref": "#/$defs/node"}, "minItems": 1, "maxItems": 2}
    text = {"type": ["string", "integer"], "description": "a node against the reference, or two separated by a comma"}
    block = _block("ports", "ports that are copied for each value of the indices", ranges)
    element = {
        "type": "object",
        "properties": {AT: {"type": "string", "description": "the element whose two nodes the port has"}},
        "required": [AT],
        "additionalProperties": False,
    }
    return _by_name(name, {"anyOf": [nodes, text, source, element, block]})


def signal_ports_shape() -> Schema:
    """The signals that a system takes and offers."""
    texts = {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "string"}]}
    properties = {key: {**texts, "description": text} for key, text in SIGNAL_KEYS.items()}
    return {"type": ["object", "null"], "properties": properties, "additionalProperties": False}


def parts_shape(name: str, ranges: Schema) -> Schema:
    """Parts by name, and repeated blocks of them; `name` is the pattern of names, `ranges` the shape of a `repeat`."""
    value = {"type": ["string", "number"]}
    shapes: dict[str, Schema] = {
        "use": {"type": "string"},
        "ports": {"$ref": "#/$defs/ports"},
        "signals": _by_name(name, {"$ref": "#/$defs/signal"}),
        "parameters": _by_name(name, value),
        "names": {
            "anyOf": [
                _by_name(name, {"type": "string"}),
                {"type": "array", "items": {"type": "string"}},
                {"type": "string"},
            ]
        },
    }
    part = {
        "type": "object",
        "properties": {key: {**shapes[key], "description": text} for key, text in KEYS.items()},
        "patternProperties": {name: True},  # parameters of the part, and the keys above
        "additionalProperties": False,
        "required": ["use"],
    }
    block = _block("parts", "parts that are copied for each value of the indices", ranges)
    return _by_name(name, {"anyOf": [part, block]})


def _block(of: str, description: str, ranges: Schema) -> Schema:
    return {
        "type": "object",
        "description": description,
        "properties": {"repeat": ranges, of: {"$ref": f"#/$defs/{of}"}},
        "required": ["repeat", of],
        "additionalProperties": False,
    }


def _by_name(name: str, values: Schema) -> Schema:
    return {"type": ["object", "null"], "patternProperties": {name: values}, "additionalProperties": False}
