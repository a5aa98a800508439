"""The keys of a whole file, and its JSON Schema for editors that complete and check while one types.

A schema sees keys and shapes. That the kind is the first key, that names exist and that units fit is said by the reader.
"""

from collections.abc import Mapping

from tellegen.core.domains import DOMAINS
from tellegen.elements import KINDS
from tellegen.model.bond_graph import ITEMS
from tellegen.notations import grammar
from tellegen.notations.mechanism.joints import MECHANISM
from tellegen.notations.network import keys
from tellegen.notations.network.keys import SIDES
from tellegen.notations.pog.ladder import BLOCKS as LADDER_BLOCKS
from tellegen.notations.pog.ladder import MATRICES, RESISTIVE, STORAGES, SWITCHING, WAYS
from tellegen.notations.pog.ladder import NONE as NO_LANE
from tellegen.notations.signals.blocks import BLOCKS
from tellegen.notations.signals.formulas import SHAPES

Contents = dict[str, grammar.Content]
VERSION = 2
NOTATIONS = ("network", "bond graph", "pog")
"""The keys under which a file describes its elements; it has one of them."""


def _bond_graph() -> grammar.Listed:
    # Editors know regular expressions and no grammar: this one lets through what looks like a chain of bonds.
    count = r"(\s*\[\s*\w+\s*\])?"
    item = rf"\s*(({'|'.join(ITEMS)}){count}\s*:\s*)?{grammar.WORD}{count}\s*(\([^()]*\))?\s*"
    example = (
        "such as 'Se:V -> 1:i (I)', 'i -> R:R_a' or '1[3]:i -> I:coils', 'i -3-> C:C' for bond 3; 'De:v => MSe:V' leads a signal "
        "to a source"
    )
    kinds = "; ".join(f"{kind} is a {row.meaning}" for kind, row in ITEMS.items())
    arrow = r"(([-–][0-9]+)?(->|[-–]?[→⇀⇁])|\s(-[0-9]+)?-7\s)"
    formula = r"[^>]*[^>\s][^>]*"
    signal = rf"{formula}(=>{formula})*=>{item}"
    line = {
        "type": "string",
        "pattern": f"^({item}({arrow}{item})+|{signal})$",
        "description": f"bonds, {example}: {kinds}",
    }
    return grammar.Listed(grammar.Leaf("bonds", line), 1)


FILE = grammar.record(
    """
    system*  | value | the name of the system
    about    | text  | what it is, in a sentence or two
    version  | version | the version of this format: 2; what a file of version 1 means otherwise is told when it is read
    parameters | #parameters | named constants: numbers with units, and expressions of other parameters
    ports    | #ports | where other systems are joined to this one: a node, two nodes, or {source: name} for the place of a source
    signal ports | signal ports | the signals that this system takes from others and those that it offers
    gravity  | quantity in m/s^2 | the acceleration of free fall, which pulls bodies, and masses that have a height
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
    symbols  | symbols | how names are written in figures, formulas and plots: 'K_1: K_\\tau'
    experiment | #experiment | how long to run, with which inputs, from where
    geometry | geometry | where the bodies of a network are, for figures: {bodies: {crank: {at: [0 m, 0 m], angle: theta}}}
    layout   | anything | where items stand in figures: 'bond: {L_a: [340, 120]}', 'turned: {R_a: 90}'
    """,
    {
        "version": grammar.Leaf("version", {"enum": [number for k in (1, VERSION) for number in (k, str(k))]}),
        "signal ports": grammar.SIGNAL_PORTS,
        "rates": grammar.Named(grammar.TEXT, grammar.PLAIN_NAME),
        "mechanism": MECHANISM,
        "bonds": _bond_graph(),
        "blocks": grammar.Listed(grammar.defined("block"), 1),
        "closures": grammar.Named(grammar.CLOSURE, ""),
        "geometry": grammar.GEOMETRY,
        "symbols": grammar.Named(grammar.TEXT, grammar.INDEXED_NAME),
    },
)


def schema() -> grammar.Schema:
    """The schema of a model file (draft 2020-12). Scalars may be texts or what YAML makes of them."""
    notations = [{"required": [word]} for word in NOTATIONS]
    # A system may also be made of parts or of a mechanism and of nothing else.
    alone = {"anyOf": [{"required": ["parts"]}, {"required": ["mechanism"]}], "not": {"anyOf": notations}}
    file = grammar.schema_of(FILE)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Tellegen model",
        "description": "A physical system as a network, a bond graph or a POG ladder, with parameters and an experiment.",
        **{word: file[word] for word in ("type", "properties", "required")},
        "oneOf": [*notations, alone],
        "dependentSchemas": {"elements": {"anyOf": [{"required": ["bond graph"]}, {"required": ["pog"]}]}},
        "additionalProperties": False,
        "$defs": {word: grammar.schema_of(content) for word, content in _definitions().items()},
    }


def _definitions() -> dict[str, grammar.Content]:
    # A definition for each kind, so that an editor offers the keys of the kind that stands first.
    lines = {f"element {word}": keys.make_form(kind).record(word) for word, kind in KINDS.items()}
    lines[f"element {keys.CONNECTION}"] = keys.connection_record()
    rows = grammar.schema_of(grammar.Listed(grammar.AnyOf((grammar.QUANTITY, grammar.Listed(grammar.QUANTITY)))))
    blocks = [block.record for block in BLOCKS.values()]
    return {
        "quantity": grammar.Leaf(
            "quantity", {**grammar.VALUE.shape, "description": "a number with its unit, or an expression of parameters"}
        ),
        "name": grammar.Leaf("name", {"type": "string", "pattern": grammar.INDEXED_NAME}),
        "node": grammar.Leaf("node", {"type": ["string", "integer"], "pattern": grammar.NODE_NAME}),
        "nodes": grammar.AnyOf(
            (
                grammar.Listed(grammar.NODE, 1, 4),
                grammar.Leaf("nodes", {"type": ["string", "integer"], "description": "nodes separated by commas"}),
            )
        ),
        "parameters": grammar.Named(
            grammar.AnyOf((grammar.Leaf("value", {"type": ["string", "number", "null"]}), grammar.defined("curve")))
        ),
        "curve": grammar.AnyOf((grammar.CURVE, grammar.SLOPE)),
        "network": grammar.Named(grammar.defined("entry"), empty=True),
        "entry": grammar.AnyOf(tuple(map(grammar.defined, (*lines, "repeat", "field", "multiport")))),
        "repeat": grammar.repeated("network", "a block of lines, copied for each value of its indices"),
        "ports": grammar.PORTS,
        "parts": grammar.PARTS,
        "field": keys.field_record(),
        "listed": grammar.Leaf(
            "listed", {**rows, "description": "an entry for each component of a vector item, or the rows of a matrix"}
        ),
        "law_table": grammar.LAW_TABLE,
        "multiport": keys.MULTIPORT_LINE,
        "block": _ladder_block(),
        "elements": grammar.Named(keys.details_record(), grammar.PLAIN_NAME, empty=True),
        "experiment": grammar.EXPERIMENT,
        "signal": grammar.Leaf("signal", {**grammar.VALUE.shape, "description": _signal_words()}),
        "signals": grammar.Named(grammar.AnyOf((grammar.defined("signal"), *blocks)), grammar.PLAIN_NAME, empty=True),
        **lines,
    }


def _signal_words() -> str:
    """What may stand where a signal is given."""
    shapes = "; ".join(f"{shape.usage(name)}: {shape.summary}" for name, shape in SHAPES.items())
    return f"a quantity, which stays constant, or a formula of signals, variables, the time t and shapes: {shapes}"


# The entries of a ladder


def _ladder_block() -> grammar.Leaf:
    """An entry of a ladder: one block, of one kind. Branches refer to it again."""
    name = grammar.Leaf("name", {"type": "string", "pattern": rf"^\s*-?\s*{grammar.WORD}\s*$"})
    rows = grammar.Listed(grammar.Listed(grammar.VALUE, 1), 1)
    row, sides = _one_or_more(name), _one_or_more(grammar.Words(SIDES))
    section: Contents = {"across": row, "through": row, "given": row}
    connection: Contents = {"name": name, "K": grammar.AnyOf((grammar.VALUE, rows)), "takes": sides, "gives": sides}
    two_rows = grammar.Listed(grammar.Listed(name, 1), 2, 2)
    shapes: Contents = {
        "section": grammar.AnyOf(
            (grammar.Listed(name, 2, 2, text=True), two_rows, _record(section, "across", "through"))
        ),
        "connect": grammar.AnyOf((name, grammar.Listed(name, 1, 1), _record(connection, "name"))),
        "domain": _one_or_more(grammar.Words(tuple(DOMAINS))),
        **dict.fromkeys(("series", "parallel", "mixed"), _ladder_elements(name, rows)),
        **dict.fromkeys(("branch", "series branch"), grammar.Listed(grammar.defined("block"), 1)),
    }
    entries = [grammar.Key(block, shapes[block], text) for block, text in LADDER_BLOCKS.items()]
    ways = grammar.Listed(grammar.Words(WAYS), text=True)
    entries.append(grammar.Key("ways", ways, "series or parallel, for each lane of a mixed block"))
    more = {
        "minProperties": 1,
        "maxProperties": 2,
        "dependentRequired": {"mixed": ["ways"], "ways": ["mixed"]},
        "oneOf": [{"required": [block]} for block in LADDER_BLOCKS],
    }
    return grammar.Leaf("block", grammar.schema_of(grammar.Record(tuple(entries))) | more)


def _ladder_elements(name: grammar.Content, rows: grammar.Content) -> grammar.Listed:
    """What a block holds: elements, a row of them over the lanes, a field by a matrix or by laws, a transfer function."""
    letters = (*STORAGES, *RESISTIVE)
    pattern = rf"^\s*-?\s*({'|'.join((*letters, SWITCHING))})\s*:\s*{grammar.WORD}\s*$"
    element = grammar.Leaf("element", {"type": "string", "pattern": pattern})
    lanes = grammar.Listed(grammar.AnyOf((element, grammar.Words((NO_LANE,)))), 1)
    law = grammar.Listed(grammar.TEXT, 1, text=True)
    field = {
        **dict.fromkeys((*letters, *MATRICES), name),
        "matrix": rows,
        "law": law,
        "lanes": grammar.Leaf("lanes", {}),
    }
    more = {
        "anyOf": [{"required": [word]} for word in ("matrix", "law")],
        "additionalProperties": grammar.schema_of(grammar.AnyOf((grammar.Listed(grammar.VALUE), grammar.VALUE))),
    }
    polynomial = grammar.Listed(grammar.VALUE, 1, text=True)
    numerator = grammar.AnyOf((polynomial, grammar.Listed(grammar.Listed(polynomial, 1), 1)))
    transfer: Contents = dict.fromkeys((*RESISTIVE, "power", "static"), name)
    transfer |= {"numerator": numerator, "denominator": polynomial}
    shapes = (
        grammar.Leaf("field", grammar.schema_of(_record(field)) | more),
        _record(transfer, "numerator", "denominator"),
    )
    return grammar.Listed(grammar.AnyOf((element, lanes, *shapes)), 1, text=True)


def _one_or_more(item: grammar.Content) -> grammar.AnyOf:
    return grammar.AnyOf((item, grammar.Listed(item, 1)))


def _record(keys: Mapping[str, grammar.Content], *required: str) -> grammar.Record:
    return grammar.Record(tuple(grammar.Key(name, holds, required=name in required) for name, holds in keys.items()))
