"""The JSON Schema of model files, made from the registry of kinds, for editors that complete and check while one types.

A schema sees keys and shapes. That the kind is the first key, that names exist and that units fit is said by the reader.
"""

from typing import Any

from tellegen.core.domains import DOMAINS
from tellegen.description.experiment import KEYS as EXPERIMENT_KEYS
from tellegen.description.experiment import SHAPES
from tellegen.description.keys import CONNECTION, form_of, make_form
from tellegen.description.reading import TOP_KEYS, VERSION
from tellegen.elements import KINDS, ElementKind, connection

Schema = dict[str, Any]

_INDEXED_NAME = r"^[A-Za-z](_?[A-Za-z0-9])*_?(\[[^\[\]]+\])?$"
_NAME = r"^[A-Za-z](_?[A-Za-z0-9])*_?$"
_NODE = r"^\s*([A-Za-z](_?[A-Za-z0-9])*_?(\[[^\[\]]+\])?|[0-9]+)\s*$"

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
        "description": "A physical system as a network of elements, with parameters and an experiment.",
        "type": "object",
        "properties": _top(),
        "required": ["system", "network"],
        "additionalProperties": False,
        "$defs": _definitions(),
    }


def _top() -> Schema:
    shapes: dict[str, Schema] = {
        "system": {"type": ["string", "number"]},
        "about": {"type": "string"},
        "version": {"enum": [VERSION, str(VERSION)]},
        "parameters": {"$ref": "#/$defs/parameters"},
        "network": {"$ref": "#/$defs/network"},
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
        "parameters": _names({"type": ["string", "number", "null"]}),
        "network": _names({"$ref": "#/$defs/entry"}) | {"type": ["object", "null"]},
        "entry": {
            "anyOf": [{"$ref": f"#/$defs/{_key(word)}"} for word in [*KINDS, CONNECTION]] + [{"$ref": "#/$defs/repeat"}]
        },
        "repeat": _repeat(),
        "experiment": _experiment(),
        "signal": {"type": ["string", "number"], "description": _signals()},
        **{_key(word): _element(word, kind) for word, kind in KINDS.items()},
        _key(CONNECTION): _connection(),
    }


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
    if meaning == "notes":
        return {"type": "object", "description": _DESCRIPTIONS["notes"]}
    if meaning == "initial":
        return {"$ref": "#/$defs/quantity", "description": _DESCRIPTIONS["initial"]}
    example = f", such as {kind.law}" if key == "law" else ""
    return {"type": "string", "description": _DESCRIPTIONS[key] + example}


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


def _repeat() -> Schema:
    bounds = {"type": "string", "pattern": r"^.+\.\..+$", "description": "first..last, such as 1..100"}
    return {
        "type": "object",
        "description": "a block of lines, copied for each value of its indices",
        "properties": {"repeat": _names(bounds, _NAME) | {"minProperties": 1}, "network": {"$ref": "#/$defs/network"}},
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
        "rtol": {"type": ["string", "number"]},
        "atol": {"type": ["string", "number"]},
    }
    properties = {key: {**shapes[key], "description": text} for key, text in EXPERIMENT_KEYS.items()}
    return {"type": ["object", "null"], "properties": properties, "additionalProperties": False}


def _signals() -> str:
    shapes = "; ".join(f"{shape.usage(name)}: {shape.summary}" for name, shape in SHAPES.items())
    return f"a quantity, which stays constant, or a shape over time: {shapes}"
