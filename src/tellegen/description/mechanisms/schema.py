"""The part of the JSON Schema that describes mechanisms, made from the table of joints."""

from typing import Any

from tellegen.description.mechanisms.joint_kinds import JOINTS, JointKind, Key
from tellegen.description.mechanisms.lines import BODY_KEYS
from tellegen.description.mechanisms.reading import ASSEMBLY_KEYS, KEYS

Schema = dict[str, Any]

_QUANTITY: Schema = {"$ref": "#/$defs/quantity"}
_PAIR: Schema = {"type": "array", "items": _QUANTITY, "minItems": 2, "maxItems": 2}
_TEXTS: Schema = {"type": ["array", "string"], "items": {"type": "string"}}


def mechanism_shape() -> Schema:
    """Bodies, joints, gravity and the independent coordinates."""
    shapes: dict[str, Schema] = {
        "gravity": {"anyOf": [_QUANTITY, _PAIR]},
        "bodies": {"type": "object", "additionalProperties": _body()},
        "joints": {"type": "object", "additionalProperties": {"anyOf": [_joint(kind) for kind in JOINTS.values()]}},
        "independent": _TEXTS,
        "assembly": _assembly(),
    }
    return {
        "type": "object",
        "properties": {key: {**shapes[key], "description": text} for key, text in KEYS.items()},
        "required": ["bodies"],
        "additionalProperties": False,
    }


def _assembly() -> Schema:
    properties = {key: {**_QUANTITY, "description": text} for key, text in ASSEMBLY_KEYS.items()}
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _body() -> Schema:
    points = {"type": "object", "additionalProperties": _PAIR}
    shapes = {"centre": _PAIR, "points": points, "mass": _QUANTITY, "inertia": _QUANTITY}
    names = {
        "angle": {"type": "string"},
        "angular velocity": {"type": "string"},
        "position": _TEXTS,
        "velocity": _TEXTS,
    }
    shapes |= names
    return {
        "type": ["object", "null"],
        "properties": {key: {**shapes[key], "description": text} for key, text in BODY_KEYS.items()},
        "additionalProperties": False,
    }


def _joint(kind: JointKind) -> Schema:
    joined = {**_TEXTS, "description": kind.summary}
    return {
        "type": "object",
        "properties": {kind.word: joined} | {key.name: _key(key) for key in kind.keys},
        "required": [kind.word, *(key.name for key in kind.keys if key.required)],
        "additionalProperties": False,
    }


def _key(key: Key) -> Schema:
    shape = _QUANTITY if key.shape == "quantity" else _TEXTS if key.shape == "name" else {"type": ["string", "number"]}
    return {**shape, "description": key.summary}


def closures_shape() -> Schema:
    """Loops of positions: equations, and what follows from them."""
    closure = {
        "type": "object",
        "properties": {"equations": _TEXTS, "solves": _TEXTS},
        "required": ["equations", "solves"],
        "additionalProperties": False,
    }
    return {"type": "object", "additionalProperties": closure}
