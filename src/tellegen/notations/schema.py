"""The keys of a whole file, and its JSON Schema for editors that complete and check while one types.

A schema sees keys and shapes. That the kind is the first key, that names exist and that units fit is said by the reader.
"""

from tellegen.elements import KINDS
from tellegen.model.bond_graph import ITEM_KINDS
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
    Key,
    Leaf,
    Listed,
    Named,
    Record,
    Schema,
    defined,
    repeated,
)
from tellegen.notations.mechanism.joint_kinds import MECHANISM
from tellegen.notations.network.keys import (
    CONNECTION,
    MULTIPORT_LINE,
    connection_record,
    details_record,
    field_record,
    make_form,
)
from tellegen.notations.pog.blocks import block_schema
from tellegen.notations.signals.blocks import BLOCKS
from tellegen.notations.signals.shapes import SHAPES

VERSION = 1
NOTATIONS = ("network", "bond graph", "pog")
"""The keys under which a file describes its elements; it has one of them."""


def _bond_graph() -> Listed:
    count = r"(\s*\[\s*\w+\s*\])?"
    item = rf"\s*(({'|'.join(ITEM_KINDS)}){count}\s*:\s*)?{WORD}{count}\s*(\([^()]*\))?\s*"
    example = (
        "such as 'Se:V -> 1:i (I)', 'i -> R:R_a' or '1[3]:i -> I:coils'; 'De:v => MSe:V' leads a signal to a source"
    )
    kinds = "; ".join(f"{kind} is a {text}" for kind, text in ITEM_KINDS.items())
    formula = r"[^>]*[^>\s][^>]*"
    signal = rf"{formula}(=>{formula})*=>{item}"
    line = {"type": "string", "pattern": f"^({item}(->{item})+|{signal})$", "description": f"bonds, {example}: {kinds}"}
    return Listed(Leaf("bonds", line), 1)


FILE = Record(
    (
        Key("system", VALUE, "the name of the system", required=True),
        Key("about", TEXT, "what it is, in a sentence or two"),
        Key("version", Leaf("version", {"enum": [VERSION, str(VERSION)]}), "the version of this format: 1"),
        Key(
            "parameters",
            defined("parameters"),
            "named constants: numbers with units, and expressions of other parameters",
        ),
        Key(
            "ports",
            defined("ports"),
            "where other systems are joined to this one: a node, two nodes, or {source: name} for the place of a source",
        ),
        Key("signal ports", SIGNAL_PORTS, "the signals that this system takes from others and those that it offers"),
        Key(
            "displacements",
            Named(TEXT, PLAIN_NAME),
            "angles and positions that parameters may read, with their rates: 'theta: omega'",
        ),
        Key(
            "parts",
            defined("parts"),
            "systems used as elements of this one, one a line: {use: motor.yaml, ports: {shaft: s}, K: 0.1 N*m/A}",
        ),
        Key("network", defined("network"), "elements between nodes, one a line"),
        Key(
            "mechanism", MECHANISM, "planar rigid bodies and their joints, whose nodes elements of the network may use"
        ),
        Key(
            "bond graph",
            _bond_graph(),
            "junctions, one-ports and two-ports joined by half arrows, one chain of bonds a line",
        ),
        Key("pog", Listed(defined("block"), 1), "the sections, elaboration blocks and connections of a ladder"),
        Key(
            "closures",
            Named(CLOSURE, ""),
            "loops of positions: equations of displacements that stay zero, and the displacements that follow from them",
        ),
        Key(
            "signals",
            defined("signals"),
            "references, sensors and controllers: formulas and blocks that are causal and carry no power",
        ),
        Key(
            "elements",
            defined("elements"),
            "laws, values and initial values of the elements of a bond graph or a ladder",
        ),
        Key("experiment", defined("experiment"), "how long to run, with which inputs, from where"),
        Key(
            "geometry",
            GEOMETRY,
            "where the bodies of a network are, for figures: {bodies: {crank: {at: [0 m, 0 m], angle: theta}}}",
        ),
        Key("layout", Leaf("anything", {}), "where items stand in figures: 'bond: {L_a: [340, 120]}'"),
    )
)


def schema() -> Schema:
    """The schema of a model file (draft 2020-12). Scalars may be texts or what YAML makes of them."""
    notations = [{"required": [word]} for word in NOTATIONS]
    # A system may also be made of parts or of a mechanism and of nothing else.
    alone = {"anyOf": [{"required": ["parts"]}, {"required": ["mechanism"]}], "not": {"anyOf": notations}}
    file = FILE.schema
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Tellegen model",
        "description": "A physical system as a network, a bond graph or a POG ladder, with parameters and an experiment.",
        **{word: file[word] for word in ("type", "properties", "required")},
        "oneOf": [*notations, alone],
        "dependentSchemas": {"elements": {"anyOf": [{"required": ["bond graph"]}, {"required": ["pog"]}]}},
        "additionalProperties": False,
        "$defs": {word: content.schema for word, content in _definitions().items()},
    }


def _definitions() -> dict[str, Content]:
    lines = {f"element {word}": make_form(kind).record(word) for word, kind in KINDS.items()}
    lines[f"element {CONNECTION}"] = connection_record()
    rows = Listed(AnyOf((QUANTITY, Listed(QUANTITY)))).schema
    blocks = [block.record for block in BLOCKS.values()]
    return {
        "quantity": Leaf(
            "quantity", {**VALUE.schema, "description": "a number with its unit, or an expression of parameters"}
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
        "field": field_record(),
        "listed": Leaf(
            "listed",
            {**rows, "description": "an entry for each component of a vector item, or the rows of a matrix"},
        ),
        "law_table": LAW_TABLE,
        "multiport": MULTIPORT_LINE,
        "block": Leaf("block", block_schema(WORD)),
        "elements": Named(details_record(), PLAIN_NAME, empty=True),
        "experiment": EXPERIMENT,
        "signal": Leaf("signal", {**VALUE.schema, "description": _signal_words()}),
        "signals": Named(AnyOf((defined("signal"), *blocks)), PLAIN_NAME, empty=True),
        **lines,
    }


def _signal_words() -> str:
    """What may stand where a signal is given."""
    shapes = "; ".join(f"{shape.usage(name)}: {shape.summary}" for name, shape in SHAPES.items())
    return f"a quantity, which stays constant, or a formula of signals, variables, the time t and shapes: {shapes}"
