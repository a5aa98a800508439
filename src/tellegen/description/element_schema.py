"""The schema of the lines of elements, made from the registry of kinds."""

from tellegen.core.domains import DOMAINS
from tellegen.description.keys import CONNECTION, form_of, make_form
from tellegen.description.schema_shapes import VALUE_SHAPE, Schema, listed
from tellegen.elements import KINDS, ElementKind, connection

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
        return listed(times, minItems=1) | {"description": f"the times at which it is {key}, and no longer, in turn"}
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
