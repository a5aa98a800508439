"""The JSON Schema of model files, made from the registry of kinds, for editors that complete and check while one types.

A schema sees keys and shapes. That the kind is the first key, that names exist and that units fit is said by the reader.
"""

from tellegen.core.domains import DOMAINS, Side
from tellegen.description.bond_graphs.graph import KINDS as ITEM_KINDS
from tellegen.description.curves import SLOPE_KEYS
from tellegen.description.curves import TABLE_KEYS as CURVE_KEYS
from tellegen.description.element_schema import connection_shape, definition_of, details_shape, element_shape
from tellegen.description.experiment import KEYS as EXPERIMENT_KEYS
from tellegen.description.geometries import geometry_shape
from tellegen.description.keys import CONNECTION, variable_words
from tellegen.description.ladders.shapes import block_shape
from tellegen.description.law_tables import INTERPOLATIONS, LAW_TABLE_KEYS
from tellegen.description.mechanisms.schema import closures_shape, mechanism_shape
from tellegen.description.multiports import EACH, FIELD, KINDS_OF_PORTS, MIXED_FIELD, MULTIPORT
from tellegen.description.parts.schema import parts_shape, ports_shape, signal_ports_shape
from tellegen.description.reading import TOP_KEYS, VERSION
from tellegen.description.schema_shapes import (
    INDEXED_NAME,
    NAME,
    NODE,
    VALUE_SHAPE,
    WORD,
    Schema,
    listed,
    named,
    ranges_shape,
)
from tellegen.description.signals.blocks import BLOCKS
from tellegen.description.signals.schema import signal_block_shape, signal_words
from tellegen.elements import KINDS

SIDES: tuple[Side, Side] = ("across", "through")


def schema() -> Schema:
    """The schema of a model file (draft 2020-12). Scalars may be texts or what YAML makes of them."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Tellegen model",
        "description": "A physical system as a network, a bond graph or a POG ladder, with parameters and an experiment.",
        "type": "object",
        "properties": _top(),
        "required": ["system"],
        "oneOf": [
            *(notations := [{"required": [word]} for word in ("network", "bond graph", "pog")]),
            _parts_alone(notations),
        ],
        "dependentSchemas": {"elements": {"anyOf": [{"required": ["bond graph"]}, {"required": ["pog"]}]}},
        "additionalProperties": False,
        "$defs": _definitions(),
    }


def _parts_alone(notations: list[Schema]) -> Schema:
    """A system that is made of parts or of a mechanism and of nothing else."""
    return {"anyOf": [{"required": ["parts"]}, {"required": ["mechanism"]}], "not": {"anyOf": notations}}


def _top() -> Schema:
    shapes: dict[str, Schema] = {
        "system": {"type": ["string", "number"]},
        "about": {"type": "string"},
        "version": {"enum": [VERSION, str(VERSION)]},
        "parameters": {"$ref": "#/$defs/parameters"},
        "ports": {"$ref": "#/$defs/ports"},
        "signal ports": signal_ports_shape(),
        "displacements": named({"type": "string"}, NAME),
        "parts": {"$ref": "#/$defs/parts"},
        "network": {"$ref": "#/$defs/network"},
        "bond graph": _bond_graph(),
        "pog": {"type": "array", "items": {"$ref": "#/$defs/block"}, "minItems": 1},
        "mechanism": mechanism_shape(),
        "closures": closures_shape(),
        "geometry": geometry_shape(),
        "signals": {"$ref": "#/$defs/signals"},
        "elements": {"$ref": "#/$defs/elements"},
        "experiment": {"$ref": "#/$defs/experiment"},
        "layout": True,  # type: ignore[dict-item]  # `true` is a schema that allows everything
    }
    return {
        key: {**shapes[key], "description": text} if isinstance(shapes[key], dict) else {"description": text}
        for key, text in TOP_KEYS.items()
    }


def _definitions() -> Schema:
    return {
        "quantity": {
            "type": ["string", "number"],
            "description": "a number with its unit, or an expression of parameters",
        },
        "name": {"type": "string", "pattern": INDEXED_NAME},
        "node": {"type": ["string", "integer"], "pattern": NODE},
        "nodes": {
            "anyOf": [
                {"type": "array", "items": {"$ref": "#/$defs/node"}, "minItems": 1, "maxItems": 4},
                {"type": ["string", "integer"], "description": "nodes separated by commas"},
            ]
        },
        "parameters": named({"anyOf": [{"type": ["string", "number", "null"]}, {"$ref": "#/$defs/curve"}]}),
        "curve": _curve(),
        "network": named({"$ref": "#/$defs/entry"}) | {"type": ["object", "null"]},
        "entry": {
            "anyOf": [{"$ref": f"#/$defs/{definition_of(word)}"} for word in [*KINDS, CONNECTION]]
            + [{"$ref": f"#/$defs/{word}"} for word in ("repeat", "field", "multiport")]
        },
        "repeat": _repeat(),
        "ports": ports_shape(INDEXED_NAME, ranges_shape()),
        "parts": parts_shape(INDEXED_NAME, ranges_shape()),
        "field": _field(),
        "listed": {
            "type": "array",
            "items": {"anyOf": [VALUE_SHAPE, {"type": "array", "items": VALUE_SHAPE}]},
            "description": "an entry for each component of a vector item, or the rows of a matrix",
        },
        "law_table": _law_table(),
        "multiport": _multiport(),
        "block": block_shape(WORD),
        "elements": named(details_shape(), NAME) | {"type": ["object", "null"]},
        "experiment": _experiment(),
        "signal": {"type": ["string", "number"], "description": signal_words()},
        "signals": named({"anyOf": [{"$ref": "#/$defs/signal"}, *map(signal_block_shape, BLOCKS.values())]}, NAME)
        | {"type": ["object", "null"]},
        **{definition_of(word): element_shape(word, kind) for word, kind in KINDS.items()},
        definition_of(CONNECTION): connection_shape(),
    }


def _curve() -> Schema:
    """A parameter given by points, or by the slope of another."""
    shapes: dict[str, Schema] = {
        "table": {"type": ["array", "object"]},
        "interpolation": {"enum": list(INTERPOLATIONS)},
    }
    value: Schema = {"type": ["string", "number"]}
    kinds = []
    for keys, needed in ((CURVE_KEYS, ["table", "at"]), (SLOPE_KEYS, list(SLOPE_KEYS))):
        properties = {key: {**shapes.get(key, value), "description": text} for key, text in keys.items()}
        kinds.append({"type": "object", "properties": properties, "required": needed, "additionalProperties": False})
    return {"anyOf": kinds}


def _law_table() -> Schema:
    """A law given by points."""
    shapes: dict[str, Schema] = {
        "table": {"type": ["array", "object"]},
        "gives": {"type": "string"},
        "interpolation": {"enum": list(INTERPOLATIONS)},
    }
    properties = {key: shapes[key] | {"description": text} for key, text in LAW_TABLE_KEYS.items()}
    return {
        "type": "object",
        "description": "a law by points",
        "properties": properties,
        "required": ["table"],
        "additionalProperties": False,
    }


def _ports() -> Schema:
    """The nodes of an element with several ports."""
    return listed({"$ref": "#/$defs/node"}, minItems=4)


def _field() -> Schema:
    """Storages or resistive elements coupled by a matrix."""
    kinds = [word for word, kind in KINDS.items() if kind.role in ("storage", "resistive") and not kind.inverse]
    row = {"type": "array", "items": {"$ref": "#/$defs/quantity"}, "minItems": 2}
    words = sorted({word for d in DOMAINS.values() for side in SIDES for word in (*variable_words(d, side), side)})
    pair = {"type": "array", "items": {"$ref": "#/$defs/node"}, "minItems": 2, "maxItems": 2}  # with `each`
    properties: dict[str, Schema] = {f"{word}{FIELD}": {"anyOf": [_ports(), pair]} for word in kinds}
    properties[MIXED_FIELD] = _ports()
    properties[EACH] = ranges_shape() | {"description": "one port for each value of an index"}
    properties[KINDS_OF_PORTS] = listed({"enum": kinds}, minItems=2)
    rows = {"type": "array", "items": row, "minItems": 2, "description": "one row a port"}
    formula = {"type": "string", "description": "every entry by its row and column, which count from 1"}
    properties["matrix"] = {"anyOf": [rows, formula]}
    properties["energy"] = {"type": "string", "description": "a formula of the energy variables, such as phi_1 and x_2"}
    properties["law"] = {"type": "array", "items": {"type": "string"}, "description": "outputs by energy variables"}
    properties["initial"] = listed({"$ref": "#/$defs/quantity"}, minItems=2)
    names = listed({"$ref": "#/$defs/name"}, minItems=2)
    indexed = {"type": "string", "pattern": INDEXED_NAME, "description": "a name with the index of each"}
    properties |= {word: {"anyOf": [names, indexed]} for word in words}
    named = [{"required": [f"{word}{FIELD}"]} for word in kinds]
    named.append({"required": [MIXED_FIELD, KINDS_OF_PORTS]})
    return {
        "type": "object",
        "properties": properties,
        "anyOf": [{"required": [word]} for word in ("matrix", "energy", "law")],
        "oneOf": named,
        "additionalProperties": False,
    }


def _multiport() -> Schema:
    """A connection of several ports."""
    properties: dict[str, Schema] = {
        MULTIPORT: _ports(),
        "domains": listed({"enum": list(DOMAINS)}, minItems=2),
        "relation": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]},
    }
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _bond_graph() -> Schema:
    count = r"(\s*\[\s*\w+\s*\])?"
    item = rf"\s*(({'|'.join(ITEM_KINDS)}){count}\s*:\s*)?{WORD}{count}\s*(\([^()]*\))?\s*"
    example = (
        "such as 'Se:V -> 1:i (I)', 'i -> R:R_a' or '1[3]:i -> I:coils'; 'De:v => MSe:V' leads a signal to a source"
    )
    kinds = "; ".join(f"{kind} is a {text}" for kind, text in ITEM_KINDS.items())
    formula = r"[^>]*[^>\s][^>]*"
    signal = rf"{formula}(=>{formula})*=>{item}"
    line = {"type": "string", "pattern": f"^({item}(->{item})+|{signal})$", "description": f"bonds, {example}: {kinds}"}
    return {"type": "array", "items": line, "minItems": 1}


def _repeat() -> Schema:
    return {
        "type": "object",
        "description": "a block of lines, copied for each value of its indices",
        "properties": {"repeat": ranges_shape(), "network": {"$ref": "#/$defs/network"}},
        "required": ["repeat", "network"],
        "additionalProperties": False,
    }


def _experiment() -> Schema:
    names = r"^[A-Za-z]"
    shapes: dict[str, Schema] = {
        "until": {"$ref": "#/$defs/quantity"},
        "inputs": named({"$ref": "#/$defs/signal"}, names),
        "initial": named({"$ref": "#/$defs/quantity"}, names),
        "outputs": {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "string"}]},
        "units": named({"type": "string"}, names),
        "rtol": {"type": ["string", "number"]},
        "atol": {"type": ["string", "number"]},
    }
    properties = {key: {**shapes[key], "description": text} for key, text in EXPERIMENT_KEYS.items()}
    return {"type": ["object", "null"], "properties": properties, "additionalProperties": False}
