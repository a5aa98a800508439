"""The keys of a whole file, and its JSON Schema for editors that complete and check while one types.

A schema sees keys and shapes. That the kind is the first key, that names exist and that units fit is said by the reader.
"""

from tellegen.core.domains import DOMAINS
from tellegen.elements import KINDS
from tellegen.model.bond_graph import ITEMS
from tellegen.notations.grammar import (
    CLOSURE,
    CURVE,
    EXPERIMENT,
    GEOMETRY,
    INDEXED_NAME,
    LAW_TABLE,
    NODE,
    NODE_NAME,
    PARTS,
    PLAIN_NAME,
    PORTS,
    QUANTITY,
    SIGNAL_PORTS,
    SLOPE,
    TEXT,
    VALUE,
    WORD,
    AnyOf,
    Content,
    Leaf,
    Listed,
    Named,
    Schema,
    defined,
    record,
    repeated,
    schema_of,
)
from tellegen.notations.mechanism.joints import MECHANISM
from tellegen.notations.network import keys
from tellegen.notations.pog.ladder import BLOCKS as LADDER_BLOCKS
from tellegen.notations.pog.ladder import MATRICES, RESISTIVE, STORAGES, SWITCHING
from tellegen.notations.pog.ladder import NONE as NO_LANE
from tellegen.notations.signals.blocks import BLOCKS
from tellegen.notations.signals.shapes import SHAPES

VERSION = 1
NOTATIONS = ("network", "bond graph", "pog")
"""The keys under which a file describes its elements; it has one of them."""


def _bond_graph() -> Listed:
    # Editors know regular expressions and no grammar: this one lets through what looks like a chain of bonds.
    count = r"(\s*\[\s*\w+\s*\])?"
    item = rf"\s*(({'|'.join(ITEMS)}){count}\s*:\s*)?{WORD}{count}\s*(\([^()]*\))?\s*"
    example = (
        "such as 'Se:V -> 1:i (I)', 'i -> R:R_a' or '1[3]:i -> I:coils'; 'De:v => MSe:V' leads a signal to a source"
    )
    kinds = "; ".join(f"{kind} is a {row.meaning}" for kind, row in ITEMS.items())
    formula = r"[^>]*[^>\s][^>]*"
    signal = rf"{formula}(=>{formula})*=>{item}"
    line = {"type": "string", "pattern": f"^({item}(->{item})+|{signal})$", "description": f"bonds, {example}: {kinds}"}
    return Listed(Leaf("bonds", line), 1)


FILE = record(
    """
    system*  | value | the name of the system
    about    | text  | what it is, in a sentence or two
    version  | version | the version of this format: 1
    parameters | #parameters | named constants: numbers with units, and expressions of other parameters
    ports    | #ports | where other systems are joined to this one: a node, two nodes, or {source: name} for the place of a source
    signal ports | signal ports | the signals that this system takes from others and those that it offers
    displacements | rates | angles and positions that parameters may read, with their rates: 'theta: omega'
    parts    | #parts | systems used as elements of this one, one a line: {use: motor.yaml, ports: {shaft: s}, K: 0.1 N*m/A}
    network  | #network | elements between nodes, one a line
    mechanism | mechanism | planar rigid bodies and their joints, whose nodes elements of the network may use
    bond graph | bonds | junctions, one-ports and two-ports joined by half arrows, one chain of bonds a line
    pog      | blocks | the sections, elaboration blocks and connections of a ladder
    closures | closures | loops of positions: equations of displacements that stay zero, and the displacements that follow \
from them
    signals  | #signals | references, sensors and controllers: formulas and blocks that are causal and carry no power
    elements | #elements | laws, values and initial values of the elements of a bond graph or a ladder
    experiment | #experiment | how long to run, with which inputs, from where
    geometry | geometry | where the bodies of a network are, for figures: {bodies: {crank: {at: [0 m, 0 m], angle: theta}}}
    layout   | anything | where items stand in figures: 'bond: {L_a: [340, 120]}'
    """,
    {
        "version": Leaf("version", {"enum": [VERSION, str(VERSION)]}),
        "signal ports": SIGNAL_PORTS,
        "rates": Named(TEXT, PLAIN_NAME),
        "mechanism": MECHANISM,
        "bonds": _bond_graph(),
        "blocks": Listed(defined("block"), 1),
        "closures": Named(CLOSURE, ""),
        "geometry": GEOMETRY,
    },
)


def schema() -> Schema:
    """The schema of a model file (draft 2020-12). Scalars may be texts or what YAML makes of them."""
    notations = [{"required": [word]} for word in NOTATIONS]
    # A system may also be made of parts or of a mechanism and of nothing else.
    alone = {"anyOf": [{"required": ["parts"]}, {"required": ["mechanism"]}], "not": {"anyOf": notations}}
    file = schema_of(FILE)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Tellegen model",
        "description": "A physical system as a network, a bond graph or a POG ladder, with parameters and an experiment.",
        **{word: file[word] for word in ("type", "properties", "required")},
        "oneOf": [*notations, alone],
        "dependentSchemas": {"elements": {"anyOf": [{"required": ["bond graph"]}, {"required": ["pog"]}]}},
        "additionalProperties": False,
        "$defs": {word: schema_of(content) for word, content in _definitions().items()},
    }


def _definitions() -> dict[str, Content]:
    # A definition for each kind, so that an editor offers the keys of the kind that stands first.
    lines = {f"element {word}": keys.make_form(kind).record(word) for word, kind in KINDS.items()}
    lines[f"element {keys.CONNECTION}"] = keys.connection_record()
    rows = schema_of(Listed(AnyOf((QUANTITY, Listed(QUANTITY)))))
    blocks = [block.record for block in BLOCKS.values()]
    return {
        "quantity": Leaf(
            "quantity", {**VALUE.shape, "description": "a number with its unit, or an expression of parameters"}
        ),
        "name": Leaf("name", {"type": "string", "pattern": INDEXED_NAME}),
        "node": Leaf("node", {"type": ["string", "integer"], "pattern": NODE_NAME}),
        "nodes": AnyOf(
            (
                Listed(NODE, 1, 4),
                Leaf("nodes", {"type": ["string", "integer"], "description": "nodes separated by commas"}),
            )
        ),
        "parameters": Named(AnyOf((Leaf("value", {"type": ["string", "number", "null"]}), defined("curve")))),
        "curve": AnyOf((CURVE, SLOPE)),
        "network": Named(defined("entry"), empty=True),
        "entry": AnyOf(tuple(map(defined, (*lines, "repeat", "field", "multiport")))),
        "repeat": repeated("network", "a block of lines, copied for each value of its indices"),
        "ports": PORTS,
        "parts": PARTS,
        "field": keys.field_record(),
        "listed": Leaf(
            "listed", {**rows, "description": "an entry for each component of a vector item, or the rows of a matrix"}
        ),
        "law_table": LAW_TABLE,
        "multiport": keys.MULTIPORT_LINE,
        "block": _ladder_block(),
        "elements": Named(keys.details_record(), PLAIN_NAME, empty=True),
        "experiment": EXPERIMENT,
        "signal": Leaf("signal", {**VALUE.shape, "description": _signal_words()}),
        "signals": Named(AnyOf((defined("signal"), *blocks)), PLAIN_NAME, empty=True),
        **lines,
    }


def _signal_words() -> str:
    """What may stand where a signal is given."""
    shapes = "; ".join(f"{shape.usage(name)}: {shape.summary}" for name, shape in SHAPES.items())
    return f"a quantity, which stays constant, or a formula of signals, variables, the time t and shapes: {shapes}"


# The entries of a ladder


def _ladder_block() -> Leaf:
    """An entry of a ladder: one block, of one kind. Branches refer to it again."""
    name = {"type": "string", "pattern": rf"^\s*-?\s*{WORD}\s*$"}
    sides, rows = {"enum": ["across", "through"]}, _listed(_listed(VALUE.shape, minItems=1), minItems=1)
    row = {"anyOf": [name, _listed(name, minItems=1)]}
    side_words = {"anyOf": [sides, _listed(sides, minItems=1)]}
    section = _mapping({"across": row, "through": row, "given": row}, "across", "through")
    two_rows = _listed(_listed(name, minItems=1), minItems=2, maxItems=2)
    K = {"anyOf": [VALUE.shape, rows]}
    connection = _mapping({"name": name, "K": K, "takes": side_words, "gives": side_words}, "name")
    domains = {"enum": list(DOMAINS)}
    shapes: dict[str, Schema] = {
        "section": {"anyOf": [_texts(name, minItems=2, maxItems=2), two_rows, section]},
        "connect": {"anyOf": [name, _listed(name, minItems=1, maxItems=1), connection]},
        "domain": {"anyOf": [domains, _listed(domains, minItems=1)]},
        **dict.fromkeys(("series", "parallel", "mixed"), _ladder_elements(name, rows)),
        **dict.fromkeys(("branch", "series branch"), _listed({"$ref": "#/$defs/block"}, minItems=1)),
    }
    ways = _texts({"enum": ["series", "parallel"]})
    shape = {
        "type": "object",
        "properties": {block: {**shapes[block], "description": text} for block, text in LADDER_BLOCKS.items()}
        | {"ways": {"description": "series or parallel, for each lane of a mixed block", **ways}},
        "minProperties": 1,
        "maxProperties": 2,
        "dependentRequired": {"mixed": ["ways"], "ways": ["mixed"]},
        "oneOf": [{"required": [block]} for block in LADDER_BLOCKS],
        "additionalProperties": False,
    }
    return Leaf("block", shape)


def _ladder_elements(name: Schema, rows: Schema) -> Schema:
    """What a block holds: elements, a row of them over the lanes, a field by a matrix or by laws, a transfer function."""
    letters = (*STORAGES, *RESISTIVE)
    element = {"type": "string", "pattern": rf"^\s*-?\s*({'|'.join((*letters, SWITCHING))})\s*:\s*{WORD}\s*$"}
    lanes = _listed({"anyOf": [element, {"enum": [NO_LANE]}]}, minItems=1)
    field = {
        "type": "object",
        "properties": dict.fromkeys((*letters, *MATRICES), name)
        | {"matrix": rows, "law": _texts({"type": "string"}, minItems=1), "lanes": {}},
        "anyOf": [{"required": [word]} for word in ("matrix", "law")],
        "additionalProperties": {"anyOf": [_listed(VALUE.shape), VALUE.shape]},
    }
    polynomial = _texts(VALUE.shape, minItems=1)
    polynomials = {
        "numerator": {"anyOf": [polynomial, _listed(_listed(polynomial, minItems=1), minItems=1)]},
        "denominator": polynomial,
    }
    given = dict.fromkeys((*RESISTIVE, "power", "static"), name)
    transfer = _mapping({**given, **polynomials}, *polynomials)
    return _texts({"anyOf": [element, lanes, field, transfer]}, minItems=1)


def _listed(item: Schema, **size: int) -> Schema:
    return {"type": "array", "items": item, **size}


def _texts(item: Schema, **size: int) -> Schema:
    """A list, or one text with commas."""
    return {"anyOf": [_listed(item, **size), {"type": "string", "pattern": r"\S"}]}


def _mapping(properties: Schema, *required: str) -> Schema:
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}
