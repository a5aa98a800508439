"""The grammar of a file as one table: which keys a mapping has, what each holds, and what it means.

Readers take the known keys from it, the JSON Schema its shapes, the writer its order, reference pages its sentences. The tables of
signal blocks, of joints and of kinds of elements are written in the same words, where their meaning is.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple, final, get_args

from tellegen.model.model import Start

Schema = dict[str, Any]

# As `core.names` has them, in the words of a schema: an editor runs no Python.
WORD = "[A-Za-z](_?[A-Za-z0-9])*_?"
INDEXED_WORD = rf"{WORD}(\[[^\[\]]+\])?"
INDEXED_NAME = rf"^({INDEXED_WORD}\.)*{INDEXED_WORD}$"
PLAIN_NAME = rf"^({INDEXED_WORD}\.)*{WORD}$"
NODE_NAME = rf"^\s*(({INDEXED_WORD}\.)*{INDEXED_WORD}|[0-9]+)\s*$"


@final
class Leaf(NamedTuple):
    """What readers take as a whole: `word` says what it is, `shape` what an editor can check of it."""

    word: str
    shape: Schema


@final
class Words(NamedTuple):
    """One of a few words."""

    words: tuple[str, ...]
    word: str = "word"


@final
class Listed(NamedTuple):
    """A list; where `text` is set, one text with commas says the same."""

    item: "Content"
    least: int = 0
    most: int = 0
    text: bool = False


@final
class Named(NamedTuple):
    """A mapping from names; without a pattern any text is a name. `empty` sections may be left blank."""

    values: "Content"
    pattern: str = INDEXED_NAME
    empty: bool = False
    least: int = 0


@final
class AnyOf(NamedTuple):
    """One of several shapes."""

    contents: tuple["Content", ...]


@final
class Key(NamedTuple):
    """A key of a mapping.

    `default` is what stands where it is left out, as it would be written. `own` is what a joint calls the variable or the
    parameter that the key is about, where that is not the key itself: the name of the joint stands before it.
    """

    name: str
    holds: "Content"
    summary: str = ""
    unit: str = ""
    required: bool = False
    default: str = ""
    own: str = ""

    @property
    def word(self) -> str:
        """What it holds, in a word."""
        return self.holds.word if isinstance(self.holds, Leaf | Words) else ""


@final
class Record(NamedTuple):
    """A mapping with known keys, and further ones where `others` is the pattern of their names.

    `any_of` and `one_of` are groups of keys of which at least one, or exactly one, is there.
    """

    keys: tuple[Key, ...]
    summary: str = ""
    empty: bool = False
    others: str = ""
    any_of: tuple[tuple[str, ...], ...] = ()
    one_of: tuple[tuple[str, ...], ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The known keys, in the order in which they are told and written."""
        return tuple(key.name for key in self.keys)


Content = Leaf | Words | Listed | Named | AnyOf | Record
"""What a key holds."""


def schema_of(content: Content | Key) -> Schema:
    """What the JSON Schema says about a key or its content."""
    # One walk for all tables: what a reader takes and what an editor offers cannot drift apart.
    match content:
        case Leaf():
            return content.shape
        case Words():
            return {"enum": list(content.words)}
        case AnyOf():
            return {"anyOf": [schema_of(one) for one in content.contents]}
        case Listed():
            sizes = {word: size for word, size in (("minItems", content.least), ("maxItems", content.most)) if size}
            array = {"type": "array", "items": schema_of(content.item), **sizes}
            return {"anyOf": [array, {"type": "string", "pattern": r"\S"}]} if content.text else array
        case Key():
            default = f" ({content.default} where left out)" if content.default else ""
            told = {"description": content.summary + default} if content.summary else {}
            return {**schema_of(content.holds), **told}
    shape: Schema = {"type": ["object", "null"] if content.empty else "object"}
    return shape | (_named_shape(content) if isinstance(content, Named) else _record_shape(content))


def _named_shape(content: Named) -> Schema:
    if not content.pattern:
        return {"additionalProperties": schema_of(content.values)}
    least = {"minProperties": content.least} if content.least else {}
    return {"patternProperties": {content.pattern: schema_of(content.values)}, "additionalProperties": False, **least}


def _record_shape(record: Record) -> Schema:
    shape: Schema = {"description": record.summary} if record.summary else {}
    shape["properties"] = {key.name: schema_of(key) for key in record.keys}
    names = [key.name for key in record.keys if key.required]
    needed: Schema = {"required": names} if names else {}
    # Parameters of a part stand beside its keys, so any name may be a key there.
    if record.others:
        return shape | {"patternProperties": {record.others: True}, "additionalProperties": False, **needed}
    for word, groups in (("anyOf", record.any_of), ("oneOf", record.one_of)):
        needed |= {word: [{"required": list(group)} for group in groups]} if groups else {}
    return shape | needed | {"additionalProperties": False}


def defined(word: str) -> Leaf:
    """What the schema defines under a name, once for all its places."""
    return Leaf(word, {"$ref": f"#/$defs/{word}"})


TEXT = Leaf("text", {"type": "string"})
VALUE = Leaf("value", {"type": ["string", "number"]})
QUANTITY = defined("quantity")
NAME = defined("name")
NODE = defined("node")
NODES = defined("nodes")
SIGNAL = defined("signal")
LISTED = defined("listed")
# Two readings of "a list of texts": figures and mechanisms take any list or text, other sections say which items they mean.
TEXTS = Leaf("texts", {"type": ["array", "string"], "items": {"type": "string"}})
LIST_OF_TEXTS = AnyOf((Listed(TEXT), TEXT))
PAIR = Listed(QUANTITY, 2, 2)
RANGES = Named(
    Leaf("range", {"type": "string", "pattern": r"^.+\.\..+$", "description": "first..last, such as 1..100"}),
    f"^{WORD}$",
    least=1,
)


_CONTENTS: dict[str, Content] = {
    "text": TEXT,
    "value": VALUE,
    "quantity": QUANTITY,
    "texts": TEXTS,
    "list of texts": LIST_OF_TEXTS,
    "pair": PAIR,
    "points by name": Named(PAIR, ""),
    "table": Leaf("table", {"type": ["array", "object"]}),
    "anything": Leaf("anything", {}),
}


def record(table: str, contents: Mapping[str, Content] | None = None, **more: Any) -> Record:
    """The record of a table with a line for each key: its name, with a star where it is needed | what it holds | its sentence.

    What it holds is a word of `contents` or one that many keys share; `#parts` is what the schema defines under that name. A unit
    may follow: `quantity in s`. Lines that end with a backslash go on.
    """
    known = _CONTENTS | dict(contents or {})
    found = []
    for line in table.strip().splitlines():
        name, word, summary = (cell.strip() for cell in line.split(" | "))
        word, _, unit = word.partition(" in ")
        holds = defined(word[1:]) if word.startswith("#") else known[word]
        found.append(Key(name.rstrip("*"), holds, summary, unit, required=name.endswith("*")))
    return Record(tuple(found), **more)


def repeated(section: str, summary: str) -> Record:
    """A block of lines of a section, copied for each value of its indices."""
    return Record((Key("repeat", RANGES, required=True), Key(section, defined(section), required=True)), summary)


# Parameters, laws and tables

INTERPOLATIONS = ("linear", "cubic")

_POINTS = Listed(PAIR, 2)
TABLE = record(
    """
    points    | points | the points, each `[time, value]`
    file      | text   | a CSV or Parquet file beside the model
    time      | text   | the column of the times, or of whatever the table is read at
    column    | text   | the column of the values
    unit      | text   | the unit of the values, such as V
    time unit | text   | the unit of the times, such as ms
    """,
    {"points": _POINTS},
    any_of=(("points",), ("file", "time", "column")),
)
TABLE_OR_POINTS = AnyOf((_POINTS, TABLE))

MAP = record(
    """
    rows        | places | where the lines of values stand, rising
    columns     | places | where the values of a line stand, rising
    values      | lines  | a line for each row, a value in it for each column
    file        | text   | a CSV file beside the model: a line with the columns, then a line for each row
    unit        | text   | the unit of the values in the file, such as 1
    row unit    | text   | the unit of its rows, such as rpm
    column unit | text   | the unit of its columns, such as N*m
    """,
    {"places": Listed(QUANTITY, 2), "lines": Listed(Listed(QUANTITY, 2), 2)},
    any_of=(("rows", "columns", "values"), ("file",)),
)

_INTERPOLATION = {"interpolation": Words(INTERPOLATIONS)}
CURVE = record(
    """
    table*        | table | the points, each `[argument, value]`, or `{file: lift.csv, time: angle, column: lift}`
    at*           | value | where the table is read: a displacement, or a formula of one
    interpolation | interpolation | linear, or cubic: smooth, rising and falling only where the points do
    period        | value | after how much the table begins again; beyond its points a table without period goes on straight
    """,
    _INTERPOLATION,
)
SLOPE = record(
    """
    slope of* | value | a parameter that depends on a displacement
    by*       | value | the displacement
    """
)
LAW_TABLE = record(
    """
    table*        | table | the points, each `[argument, value]`, or `{file: run.csv, time: i, column: v}`
    gives         | text  | the letter of what the table gives; the left side of the kind's own law where nothing is said
    interpolation | interpolation | linear, or cubic: smooth, rising and falling only where the points do
    """,
    _INTERPOLATION,
    summary="a law by points",
)

STATE = record(
    """
    when  | text  | the condition on which it is entered
    from  | text  | from which other states; from all where it is left out
    after | value | how long the state before must have lasted
    value | value | what the signal is in it
    """,
    {"from": Listed(NODE, 1, text=True)},
    summary="a state of a machine",
)

# Ports and parts

SOURCE = "source"
AT = "at"
_TWO_NODES = {"type": ["string", "integer"], "description": "a node against the reference, or two separated by a comma"}
PORTS = Named(
    AnyOf(
        (
            Listed(NODE, 1, 2),
            Leaf("nodes", _TWO_NODES),
            record(f"{SOURCE}* | text | the source whose place the port takes"),
            record(f"{AT}* | text | the element whose two nodes the port has"),
            repeated("ports", "ports that are copied for each value of the indices"),
        )
    ),
    empty=True,
)
SIGNAL_PORTS = record(
    """
    inputs  | list of texts | signals and inputs of sources that another system may give a formula
    outputs | list of texts | signals and variables that are meant to be read from outside
    """,
    empty=True,
)
PART = record(
    """
    use*       | text   | a file beside the model, such as motor.yaml, or a part of the library by its name
    ports      | #ports | which nodes each port is joined to: a node, two nodes, or {source: name} for the place of a source
    signals    | signals | what each signal input is given: a formula of signals, variables, parameters and time
    parameters | parameters | values of parameters of the part; they may also stand beside the other keys
    names      | names  | what is inside by other names than `part.name`: {inside: outside}, a list of names that stay, or \
`own` for all
    """,
    {
        "signals": Named(SIGNAL, empty=True),
        "parameters": Named(VALUE, empty=True),
        "names": AnyOf((Named(TEXT, empty=True), Listed(TEXT), TEXT)),
    },
    others=INDEXED_NAME,  # parameters of the part beside its keys
)
PARTS = Named(AnyOf((PART, repeated("parts", "parts that are copied for each value of the indices"))), empty=True)

# Positions

CLOSURE = Record((Key("equations", TEXTS, required=True), Key("solves", TEXTS, required=True)))
"""Formulas of displacements that are zero, and the displacements that follow from them."""

PLACED_BODY = record(
    """
    at     | pair | where its origin is, [x, y]; at the origin of the plane where left out
    angle  | quantity in rad | its angle, anticlockwise; zero where left out
    points | points by name | further points, in its own coordinates
    """,
    empty=True,
)
PLACED_PART = record(
    """
    at    | pair | where the origin of its plane is, [x, y]
    angle | quantity in rad | the angle by which its plane is turned, anticlockwise
    """
)
DRAWN_JOINTS = record(
    """
    revolute  | texts | a pin
    prismatic | texts | a slide of the second body along the first
    fixed     | texts | a weld
    spring    | texts | a spring between two points
    wheel     | texts | a wheel at a point of a body, seen from above
    omniwheel | texts | a wheel with rollers at a point of a body, seen from above
    """
)
DRAWN_SETTINGS = record(
    """
    direction | quantity in rad | the angle of a slide or of a wheel in its first body
    radius    | quantity in m | of a wheel
    """
)
GEOMETRY = record(
    """
    bodies | bodies | what moves, one a line: {at: [x, y], angle: theta, points: {A: [x, y]}}; 'ground' has points only
    joints | joints | what is drawn where bodies meet, one a line: {revolute: [ground.O, crank]}
    parts  | parts  | where parts that have bodies are, one a line: {at: [x, y], angle: 90 deg}; at the origin where left out
    """,
    {
        "bodies": Named(PLACED_BODY, ""),
        "joints": Named(Record((*DRAWN_JOINTS.keys, *DRAWN_SETTINGS.keys)), ""),
        "parts": Named(PLACED_PART, ""),
    },
)

# The experiment

_VARIABLE = r"^[A-Za-z]"
EXPERIMENT = record(
    """
    until   | quantity in s | the duration of the run, such as 0.5 s
    inputs  | inputs | what each input does over time: a quantity, or a shape such as step(24 V)
    initial | quantities | values of variables at the start
    start   | start | where a run begins: at the initial values, or in the steady state near them under the inputs at t = 0
    outputs | list of texts | the variables to show
    units   | units | what variables are shown in, such as {omega: rpm}; values stay what they are
    rtol    | value | the relative tolerance
    atol    | value | the absolute tolerance
    """,
    {
        "start": Words(get_args(Start)),
        "inputs": Named(SIGNAL, _VARIABLE),
        "quantities": Named(QUANTITY, _VARIABLE),
        "units": Named(TEXT, _VARIABLE),
    },
    empty=True,
)
