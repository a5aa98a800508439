"""The JSON Schema of model files, made from the tables of kinds, blocks and keys, for editors that complete and check while one
types.

A schema sees keys and shapes. That the kind is the first key, that names exist and that units fit is said by the reader.
"""

from typing import Any

from tellegen.core.domains import DOMAINS, Side
from tellegen.elements import KINDS, ElementKind, connection
from tellegen.model.bond_graph import ITEMS
from tellegen.notations.experiment import EXPERIMENT_KEYS
from tellegen.notations.geometry import geometry_shape
from tellegen.notations.mechanism.reading import closures_schema, mechanism_schema
from tellegen.notations.network.keys import CONNECTION, form_of, make_form, variable_words
from tellegen.notations.network.laws import INTERPOLATIONS, LAW_TABLE_KEYS
from tellegen.notations.network.multiports import EACH, FIELD, KINDS_OF_PORTS, MIXED_FIELD, MULTIPORT
from tellegen.notations.parameters import CURVE_KEYS, SLOPE_KEYS
from tellegen.notations.parts.ports import AT, SIGNAL_PORT_KEYS, SOURCE
from tellegen.notations.parts.reading import PART_KEYS
from tellegen.notations.pog.ladder import block_schema
from tellegen.notations.reading import TOP_KEYS, VERSION
from tellegen.notations.signals.blocks import BLOCKS, BlockKey, SignalBlock
from tellegen.notations.signals.shapes import SHAPES
from tellegen.notations.signals.tables import SIGNAL_TABLE_KEYS as TABLE_KEYS

Schema = dict[str, Any]

WORD = "[A-Za-z](_?[A-Za-z0-9])*_?"
INDEXED_WORD = rf"{WORD}(\[[^\[\]]+\])?"
INDEXED_NAME = rf"^({INDEXED_WORD}\.)*{INDEXED_WORD}$"
NAME = rf"^({INDEXED_WORD}\.)*{WORD}$"
NODE = rf"^\s*(({INDEXED_WORD}\.)*{INDEXED_WORD}|[0-9]+)\s*$"

VALUE_SHAPE: Schema = {"$ref": "#/$defs/quantity"}


def named_shape(values: Schema, pattern: str = INDEXED_NAME) -> Schema:
    """A mapping from names to values of one shape."""
    return {"type": "object", "patternProperties": {pattern: values}, "additionalProperties": False}


def list_shape(item: Schema, **size: int) -> Schema:
    """A list, or one text with commas."""
    if size.get("maxItems") == 1:
        return {"anyOf": [item, {"type": "array", "items": item, **size}]}
    return {"anyOf": [{"type": "array", "items": item, **size}, {"type": "string", "pattern": r"\S"}]}


def ranges_shape() -> Schema:
    """Indices with their first and last values."""
    bounds = {"type": "string", "pattern": r"^.+\.\..+$", "description": "first..last, such as 1..100"}
    return named_shape(bounds, f"^{WORD}$") | {"minProperties": 1}


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
_TEXTS = ("value", "setting", "start")


def definition_of(word: str) -> str:
    """The name under which the schema defines the lines of a kind."""
    return "element " + word


def element_shape(word: str, kind: ElementKind) -> Schema:
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
        return list_shape(times, minItems=1) | {
            "description": f"the times at which it is {key}, and no longer, in turn"
        }
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


def connection_shape() -> Schema:
    """The line of a coupling that is given by its relation."""
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


def details_shape() -> Schema:
    """What can be said about an element whose kind a bond graph or a ladder decides: the keys of all kinds."""
    kinds = [*dict.fromkeys(KINDS.values()), connection(("electrical", "rotational"), "transformer")]
    properties: Schema = {}
    for kind in kinds:
        form = make_form(kind)
        for key in form.known:
            if key in ("domains", "relation"):
                continue
            meaning = form.keys[key][0]
            shape = VALUE_SHAPE if meaning in _TEXTS else _setting(kind, key, *form.keys[key])
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
    properties = {key: {**texts, "description": text} for key, text in SIGNAL_PORT_KEYS.items()}
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
        "properties": {key: {**shapes[key], "description": text} for key, text in PART_KEYS.items()},
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


def signal_words() -> str:
    """What may stand where a signal is given."""
    shapes = "; ".join(f"{shape.usage(name)}: {shape.summary}" for name, shape in SHAPES.items())
    return f"a quantity, which stays constant, or a formula of signals, variables, the time t and shapes: {shapes}"


def signal_block_shape(block: SignalBlock) -> Schema:
    """The mapping of one signal block."""
    keys = [key for key in block.keys if key.name != "function"]
    return {
        "type": "object",
        "description": block.summary,
        "properties": {key.name: _signal_key(key) for key in keys},
        "required": [key.name for key in keys if key.required],
        "additionalProperties": False,
    }


def _signal_key(key: BlockKey) -> Schema:
    formula = {"$ref": "#/$defs/quantity"}
    shapes: dict[str, Schema] = {
        "formula": formula,
        "constant": formula,
        "time": formula,
        "formulas": list_shape(formula, minItems=1),
        "arguments": list_shape(formula, minItems=1),
        "limits": list_shape(formula, minItems=2, maxItems=2),
        "word": {"enum": list(key.words)},
        "nodes": list_shape({"$ref": "#/$defs/node"}, minItems=1, maxItems=2),
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
        "displacements": named_shape({"type": "string"}, NAME),
        "parts": {"$ref": "#/$defs/parts"},
        "network": {"$ref": "#/$defs/network"},
        "bond graph": _bond_graph(),
        "pog": {"type": "array", "items": {"$ref": "#/$defs/block"}, "minItems": 1},
        "mechanism": mechanism_schema(),
        "closures": closures_schema(),
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
        "parameters": named_shape({"anyOf": [{"type": ["string", "number", "null"]}, {"$ref": "#/$defs/curve"}]}),
        "curve": _curve(),
        "network": named_shape({"$ref": "#/$defs/entry"}) | {"type": ["object", "null"]},
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
        "block": block_schema(WORD),
        "elements": named_shape(details_shape(), NAME) | {"type": ["object", "null"]},
        "experiment": _experiment(),
        "signal": {"type": ["string", "number"], "description": signal_words()},
        "signals": named_shape({"anyOf": [{"$ref": "#/$defs/signal"}, *map(signal_block_shape, BLOCKS.values())]}, NAME)
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
    return list_shape({"$ref": "#/$defs/node"}, minItems=4)


def _field() -> Schema:
    """Storages or resistive elements coupled by a matrix."""
    kinds = [word for word, kind in KINDS.items() if kind.role in ("storage", "resistive") and not kind.inverse]
    row = {"type": "array", "items": {"$ref": "#/$defs/quantity"}, "minItems": 2}
    words = sorted({word for d in DOMAINS.values() for side in SIDES for word in (*variable_words(d, side), side)})
    pair = {"type": "array", "items": {"$ref": "#/$defs/node"}, "minItems": 2, "maxItems": 2}  # with `each`
    properties: dict[str, Schema] = {f"{word}{FIELD}": {"anyOf": [_ports(), pair]} for word in kinds}
    properties[MIXED_FIELD] = _ports()
    properties[EACH] = ranges_shape() | {"description": "one port for each value of an index"}
    properties[KINDS_OF_PORTS] = list_shape({"enum": kinds}, minItems=2)
    rows = {"type": "array", "items": row, "minItems": 2, "description": "one row a port"}
    formula = {"type": "string", "description": "every entry by its row and column, which count from 1"}
    properties["matrix"] = {"anyOf": [rows, formula]}
    properties["energy"] = {"type": "string", "description": "a formula of the energy variables, such as phi_1 and x_2"}
    properties["law"] = {"type": "array", "items": {"type": "string"}, "description": "outputs by energy variables"}
    properties["initial"] = list_shape({"$ref": "#/$defs/quantity"}, minItems=2)
    names = list_shape({"$ref": "#/$defs/name"}, minItems=2)
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
        "domains": list_shape({"enum": list(DOMAINS)}, minItems=2),
        "relation": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]},
    }
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _bond_graph() -> Schema:
    count = r"(\s*\[\s*\w+\s*\])?"
    item = rf"\s*(({'|'.join(ITEMS)}){count}\s*:\s*)?{WORD}{count}\s*(\([^()]*\))?\s*"
    example = (
        "such as 'Se:V -> 1:i (I)', 'i -> R:R_a' or '1[3]:i -> I:coils'; 'De:v => MSe:V' leads a signal to a source"
    )
    kinds = "; ".join(f"{kind} is a {row.meaning}" for kind, row in ITEMS.items())
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
        "inputs": named_shape({"$ref": "#/$defs/signal"}, names),
        "initial": named_shape({"$ref": "#/$defs/quantity"}, names),
        "outputs": {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "string"}]},
        "units": named_shape({"type": "string"}, names),
        "rtol": {"type": ["string", "number"]},
        "atol": {"type": ["string", "number"]},
    }
    properties = {key: {**shapes[key], "description": text} for key, text in EXPERIMENT_KEYS.items()}
    return {"type": ["object", "null"], "properties": properties, "additionalProperties": False}
