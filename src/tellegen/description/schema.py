"""The JSON Schema of model files, made from the registry of kinds, for editors that complete and check while one types.

A schema sees keys and shapes. That the kind is the first key, that names exist and that units fit is said by the reader.
"""

from typing import Any

from tellegen.core.domains import DOMAINS, Side
from tellegen.description.bond_graphs.graph import KINDS as ITEM_KINDS
from tellegen.description.curves import SLOPE_KEYS
from tellegen.description.curves import TABLE_KEYS as CURVE_KEYS
from tellegen.description.experiment import KEYS as EXPERIMENT_KEYS
from tellegen.description.keys import CONNECTION, form_of, make_form, variable_words
from tellegen.description.ladders.shapes import block_shape
from tellegen.description.law_tables import INTERPOLATIONS, LAW_TABLE_KEYS
from tellegen.description.mechanisms.schema import closures_shape, mechanism_shape
from tellegen.description.multiports import EACH, FIELD, KINDS_OF_PORTS, MIXED_FIELD, MULTIPORT
from tellegen.description.parts.schema import parts_shape, ports_shape, signal_ports_shape
from tellegen.description.reading import TOP_KEYS, VERSION
from tellegen.description.shapes import SHAPES
from tellegen.description.signals.blocks import BLOCKS, Block, Key
from tellegen.description.signals.tables import KEYS as TABLE_KEYS
from tellegen.elements import KINDS, ElementKind, connection

Schema = dict[str, Any]
SIDES: tuple[Side, Side] = ("across", "through")

_WORD = "[A-Za-z](_?[A-Za-z0-9])*_?"
_INDEXED_WORD = rf"{_WORD}(\[[^\[\]]+\])?"
_INDEXED_NAME = rf"^({_INDEXED_WORD}\.)*{_INDEXED_WORD}$"
_NAME = rf"^({_INDEXED_WORD}\.)*{_WORD}$"
_NODE = rf"^\s*(({_INDEXED_WORD}\.)*{_INDEXED_WORD}|[0-9]+)\s*$"

_DESCRIPTIONS = {
    "initial": "the output of the storage at the start, with its unit",
    "law": "a law of its variables instead of a value",
    "energy": "the stored energy, of what is stored or of the output",
    "coenergy": "the co-energy, of the output",
    "causality": "integral, derivative, or the power variable that the element decides; with 'force' before it a demand",
    "notes": "what other tools wrote about the element",
    "domains": "the domains of the two sides",
    "relation": "how the two sides are related, such as through_2 = K*through_1",
}


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
        "displacements": _names({"type": "string"}, _NAME),
        "parts": {"$ref": "#/$defs/parts"},
        "network": {"$ref": "#/$defs/network"},
        "bond graph": _bond_graph(),
        "pog": {"type": "array", "items": {"$ref": "#/$defs/block"}, "minItems": 1},
        "mechanism": mechanism_shape(),
        "closures": closures_shape(),
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
        "name": {"type": "string", "pattern": _INDEXED_NAME},
        "node": {"type": ["string", "integer"], "pattern": _NODE},
        "nodes": {
            "anyOf": [
                {"type": "array", "items": {"$ref": "#/$defs/node"}, "minItems": 1, "maxItems": 4},
                {"type": ["string", "integer"], "description": "nodes separated by commas"},
            ]
        },
        "parameters": _names({"anyOf": [{"type": ["string", "number", "null"]}, {"$ref": "#/$defs/curve"}]}),
        "curve": _curve(),
        "network": _names({"$ref": "#/$defs/entry"}) | {"type": ["object", "null"]},
        "entry": {
            "anyOf": [{"$ref": f"#/$defs/{_key(word)}"} for word in [*KINDS, CONNECTION]]
            + [{"$ref": f"#/$defs/{word}"} for word in ("repeat", "field", "multiport")]
        },
        "repeat": _repeat(),
        "ports": ports_shape(_INDEXED_NAME, _ranges()),
        "parts": parts_shape(_INDEXED_NAME, _ranges()),
        "field": _field(),
        "listed": {
            "type": "array",
            "items": {"anyOf": [_VALUE_SHAPE, {"type": "array", "items": _VALUE_SHAPE}]},
            "description": "an entry for each component of a vector item, or the rows of a matrix",
        },
        "law_table": _law_table(),
        "multiport": _multiport(),
        "block": block_shape(_WORD),
        "elements": _names(_details(), _NAME) | {"type": ["object", "null"]},
        "experiment": _experiment(),
        "signal": {"type": ["string", "number"], "description": _signals()},
        "signals": _names({"anyOf": [{"$ref": "#/$defs/signal"}, *map(_signal_block, BLOCKS.values())]}, _NAME)
        | {"type": ["object", "null"]},
        **{_key(word): _element(word, kind) for word, kind in KINDS.items()},
        _key(CONNECTION): _connection(),
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
    return _listed({"$ref": "#/$defs/node"}, minItems=4)


def _field() -> Schema:
    """Storages or resistive elements coupled by a matrix."""
    kinds = [word for word, kind in KINDS.items() if kind.role in ("storage", "resistive") and not kind.inverse]
    row = {"type": "array", "items": {"$ref": "#/$defs/quantity"}, "minItems": 2}
    words = sorted({word for d in DOMAINS.values() for side in SIDES for word in (*variable_words(d, side), side)})
    pair = {"type": "array", "items": {"$ref": "#/$defs/node"}, "minItems": 2, "maxItems": 2}  # with `each`
    properties: dict[str, Schema] = {f"{word}{FIELD}": {"anyOf": [_ports(), pair]} for word in kinds}
    properties[MIXED_FIELD] = _ports()
    properties[EACH] = _ranges() | {"description": "one port for each value of an index"}
    properties[KINDS_OF_PORTS] = _listed({"enum": kinds}, minItems=2)
    rows = {"type": "array", "items": row, "minItems": 2, "description": "one row a port"}
    formula = {"type": "string", "description": "every entry by its row and column, which count from 1"}
    properties["matrix"] = {"anyOf": [rows, formula]}
    properties["energy"] = {"type": "string", "description": "a formula of the energy variables, such as phi_1 and x_2"}
    properties["law"] = {"type": "array", "items": {"type": "string"}, "description": "outputs by energy variables"}
    properties["initial"] = _listed({"$ref": "#/$defs/quantity"}, minItems=2)
    names = _listed({"$ref": "#/$defs/name"}, minItems=2)
    indexed = {"type": "string", "pattern": _INDEXED_NAME, "description": "a name with the index of each"}
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
        "domains": _listed({"enum": list(DOMAINS)}, minItems=2),
        "relation": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]},
    }
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _bond_graph() -> Schema:
    count = r"(\s*\[\s*\w+\s*\])?"
    item = rf"\s*(({'|'.join(ITEM_KINDS)}){count}\s*:\s*)?{_WORD}{count}\s*(\([^()]*\))?\s*"
    example = (
        "such as 'Se:V -> 1:i (I)', 'i -> R:R_a' or '1[3]:i -> I:coils'; 'De:v => MSe:V' leads a signal to a source"
    )
    kinds = "; ".join(f"{kind} is a {text}" for kind, text in ITEM_KINDS.items())
    formula = r"[^>]*[^>\s][^>]*"
    signal = rf"{formula}(=>{formula})*=>{item}"
    line = {"type": "string", "pattern": f"^({item}(->{item})+|{signal})$", "description": f"bonds, {example}: {kinds}"}
    return {"type": "array", "items": line, "minItems": 1}


def _listed(item: Schema, **size: int) -> Schema:
    """A list, or one text with commas."""
    if size.get("maxItems") == 1:
        return {"anyOf": [item, {"type": "array", "items": item, **size}]}
    return {"anyOf": [{"type": "array", "items": item, **size}, {"type": "string", "pattern": r"\S"}]}


def _details() -> Schema:
    """What can be said about an element whose kind a bond graph or a ladder decides: the keys of all kinds."""
    kinds = [*dict.fromkeys(KINDS.values()), connection(("electrical", "rotational"), "transformer")]
    properties: Schema = {}
    for kind in kinds:
        form = make_form(kind)
        for key in form.known:
            if key in ("domains", "relation"):
                continue
            meaning = form.keys[key][0]
            shape = _VALUE_SHAPE if meaning in _TEXTS else _setting(kind, key, *form.keys[key])
            # The letter of a value in one kind may be the word of a variable in another: both are texts.
            properties.setdefault(key, shape if meaning != "variable" else {"$ref": "#/$defs/quantity"})
    vectors: Schema = {key: {"anyOf": [shape, {"$ref": "#/$defs/listed"}]} for key, shape in properties.items()}
    vectors |= {
        "matrix": {"$ref": "#/$defs/listed", "description": "couples the ports of a field, row by row"},
        "ports": {"$ref": "#/$defs/listed", "description": "I or C for each port of an IC field"},
        "kind": {"type": "string", "description": "the kind of an element with modes"},
        "kinds": {
            "$ref": "#/$defs/listed",
            "description": "the kind of each port of a field, such as [resistor, conductor]",
        },
    }
    return {"type": ["object", "null"], "properties": vectors, "additionalProperties": False}


_VALUE_SHAPE: Schema = {"$ref": "#/$defs/quantity"}
_TEXTS = ("value", "setting", "start")


def _key(word: str) -> str:
    return "element " + word


def _names(values: Schema, pattern: str = _INDEXED_NAME) -> Schema:
    return {"type": "object", "patternProperties": {pattern: values}, "additionalProperties": False}


def _element(word: str, kind: ElementKind) -> Schema:
    """The line of an element whose first key is `word`."""
    form = form_of(word)
    assert form is not None, "the words are those of the registry"
    properties = {key: _setting(kind, key, form.keys[key][0], form.keys[key][1]) for key in form.known if key != word}
    domain = " and ".join(dict.fromkeys(kind.domains))
    nodes = {"$ref": "#/$defs/nodes", "description": f"{kind.summary} ({domain}); {kind.law}"}
    return {
        "type": "object",
        "description": kind.summary,
        "properties": {word: nodes, **properties},
        "required": [word],
        "additionalProperties": False,
    }


def _setting(kind: ElementKind, key: str, meaning: str, detail: str) -> Schema:
    if meaning == "value":
        assert kind.quantity is not None, "only kinds with a quantity have a value"
        unit = f" in {kind.quantity.unit}" if kind.quantity.unit not in ("", "1") else ""
        return {"$ref": "#/$defs/quantity", "description": f"{kind.quantity.word}{unit}"}
    if meaning == "variable":
        return {"$ref": "#/$defs/name", "description": f"names the {key}"}
    if meaning == "signal":
        return {"$ref": "#/$defs/signal", "description": "what drives the source"}
    if meaning == "heat":
        return {"$ref": "#/$defs/node", "description": "the thermal node that takes the heat"}
    if meaning == "notes":
        return {"type": "object", "description": _DESCRIPTIONS["notes"]}
    if meaning == "setting":
        return _setting_of_modes(kind, detail)
    if meaning == "schedule":
        times = {"$ref": "#/$defs/quantity"}
        return _listed(times, minItems=1) | {"description": f"the times at which it is {key}, and no longer, in turn"}
    if meaning == "start":
        return {"enum": list(kind.modes), "description": "the mode in which a run begins"}
    if meaning == "initial":
        return {"$ref": "#/$defs/quantity", "description": _DESCRIPTIONS["initial"]}
    if key == "law":
        described = {"type": "string", "description": f"{_DESCRIPTIONS[key]}, such as {kind.law}"}
        return {"anyOf": [described, {"$ref": "#/$defs/law_table"}]}
    return {"type": "string", "description": _DESCRIPTIONS[key]}


def _setting_of_modes(kind: ElementKind, key: str) -> Schema:
    setting = next(s for s in kind.settings if s.key == key)
    unit = f" in {setting.unit}" if setting.unit not in ("", "1") else ""
    more = ", a formula of signals, variables and time" if setting.formula else ""
    return {"$ref": "#/$defs/quantity", "description": f"{setting.word}{unit}{more}"}


def _connection() -> Schema:
    kind = connection(("electrical", "rotational"), "transformer")
    form = make_form(kind)
    ports = [f"{side}_{port}" for port in (1, 2) for side in ("across", "through")]
    words = [variable.word for domain in DOMAINS.values() for variable in (domain.across, domain.through)]
    properties: Schema = {
        CONNECTION: {"$ref": "#/$defs/nodes", "description": kind.summary},
        "domains": {
            "anyOf": [
                {"type": "array", "items": {"enum": list(DOMAINS)}, "minItems": 2, "maxItems": 2},
                {"type": "string"},
            ],
            "description": _DESCRIPTIONS["domains"],
        },
        "relation": {"type": "string", "description": _DESCRIPTIONS["relation"]},
        **{
            key: {"$ref": "#/$defs/quantity", "description": "modulus"}
            for key, m in form.keys.items()
            if m[0] == "value"
        },
        **{
            word: {"$ref": "#/$defs/name", "description": f"names the {word}"}
            for word in dict.fromkeys([*ports, *words, "speed"])
        },
        "notes": {"type": "object", "description": _DESCRIPTIONS["notes"]},
    }
    return {
        "type": "object",
        "description": kind.summary,
        "properties": properties,
        "required": [CONNECTION, "domains", "relation"],
        "additionalProperties": False,
    }


def _ranges() -> Schema:
    bounds = {"type": "string", "pattern": r"^.+\.\..+$", "description": "first..last, such as 1..100"}
    return _names(bounds, f"^{_WORD}$") | {"minProperties": 1}


def _repeat() -> Schema:
    return {
        "type": "object",
        "description": "a block of lines, copied for each value of its indices",
        "properties": {"repeat": _ranges(), "network": {"$ref": "#/$defs/network"}},
        "required": ["repeat", "network"],
        "additionalProperties": False,
    }


def _experiment() -> Schema:
    names = r"^[A-Za-z]"
    shapes: dict[str, Schema] = {
        "until": {"$ref": "#/$defs/quantity"},
        "inputs": _names({"$ref": "#/$defs/signal"}, names),
        "initial": _names({"$ref": "#/$defs/quantity"}, names),
        "outputs": {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "string"}]},
        "units": _names({"type": "string"}, names),
        "rtol": {"type": ["string", "number"]},
        "atol": {"type": ["string", "number"]},
    }
    properties = {key: {**shapes[key], "description": text} for key, text in EXPERIMENT_KEYS.items()}
    return {"type": ["object", "null"], "properties": properties, "additionalProperties": False}


def _signals() -> str:
    shapes = "; ".join(f"{shape.usage(name)}: {shape.summary}" for name, shape in SHAPES.items())
    return f"a quantity, which stays constant, or a formula of signals, variables, the time t and shapes: {shapes}"


def _signal_block(block: Block) -> Schema:
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
        "formulas": _listed(formula, minItems=1),
        "arguments": _listed(formula, minItems=1),
        "limits": _listed(formula, minItems=2, maxItems=2),
        "word": {"enum": list(key.words)},
        "nodes": _listed({"$ref": "#/$defs/node"}, minItems=1, maxItems=2),
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
