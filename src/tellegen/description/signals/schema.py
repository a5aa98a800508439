"""The schema of signals: formulas with shapes over time, and blocks."""

from tellegen.description.schema_shapes import Schema, listed
from tellegen.description.shapes import SHAPES
from tellegen.description.signals.blocks import Block, Key
from tellegen.description.signals.tables import KEYS as TABLE_KEYS


def signal_words() -> str:
    """What may stand where a signal is given."""
    shapes = "; ".join(f"{shape.usage(name)}: {shape.summary}" for name, shape in SHAPES.items())
    return f"a quantity, which stays constant, or a formula of signals, variables, the time t and shapes: {shapes}"


def signal_block_shape(block: Block) -> Schema:
    """The mapping of one signal block."""
    keys = [key for key in block.keys if key.name != "function"]
    return {
        "type": "object",
        "description": block.summary,
        "properties": {key.name: _signal_key(key) for key in keys},
        "required": [key.name for key in keys if key.required],
        "additionalProperties": False,
    }


def _signal_key(key: Key) -> Schema:
    formula = {"$ref": "#/$defs/quantity"}
    shapes: dict[str, Schema] = {
        "formula": formula,
        "constant": formula,
        "time": formula,
        "formulas": listed(formula, minItems=1),
        "arguments": listed(formula, minItems=1),
        "limits": listed(formula, minItems=2, maxItems=2),
        "word": {"enum": list(key.words)},
        "nodes": listed({"$ref": "#/$defs/node"}, minItems=1, maxItems=2),
        "table": _table(),
    }
    default = f" ({key.default} where left out)" if key.default else ""
    return {**shapes[key.reads], "description": key.summary + default}


def _table() -> Schema:
    """Points, or a file with two columns."""
    point = {"type": "array", "items": {"$ref": "#/$defs/quantity"}, "minItems": 2, "maxItems": 2}
    points = {"type": "array", "items": point, "minItems": 2}
    text = {"type": "string"}
    properties = {key: {**(points if key == "points" else text), "description": t} for key, t in TABLE_KEYS.items()}
    mapping = {
        "type": "object",
        "properties": properties,
        "anyOf": [{"required": ["points"]}, {"required": ["file", "time", "column"]}],
        "additionalProperties": False,
    }
    return {"anyOf": [points, mapping]}
