"""The grammar of a file as one table: which keys a mapping has, what each holds, and what it means.

Readers take the known keys from it, the JSON Schema its shapes, the writer its order, reference pages its sentences. The tables of
signal blocks, of joints and of kinds of elements are written in the same words, where their meaning is.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple, final

Schema = dict[str, Any]

WORD = "[A-Za-z](_?[A-Za-z0-9])*_?"
INDEXED_WORD = rf"{WORD}(\[[^\[\]]+\])?"
INDEXED_NAME = rf"^({INDEXED_WORD}\.)*{INDEXED_WORD}$"
PLAIN_NAME = rf"^({INDEXED_WORD}\.)*{WORD}$"
NODE_NAME = rf"^\s*(({INDEXED_WORD}\.)*{INDEXED_WORD}|[0-9]+)\s*$"


@final
class Leaf(NamedTuple):
    """What readers take as a whole: `word` says what it is, `schema` what an editor can check of it."""

    word: str
    schema: Schema


@final
class Words(NamedTuple):
    """One of a few words."""

    words: tuple[str, ...]

    @property
    def word(self) -> str:
        """What it is."""
        return "word"

    @property
    def schema(self) -> Schema:
        """The words as an enumeration."""
        return {"enum": list(self.words)}


@final
class Listed(NamedTuple):
    """A list; where `text` is set, one text with commas says the same."""

    item: "Content"
    least: int = 0
    most: int = 0
    text: bool = False

    @property
    def schema(self) -> Schema:
        """An array, or the text."""
        sizes = {word: size for word, size in (("minItems", self.least), ("maxItems", self.most)) if size}
        array = {"type": "array", "items": self.item.schema, **sizes}
        return {"anyOf": [array, {"type": "string", "pattern": r"\S"}]} if self.text else array


@final
class Named(NamedTuple):
    """A mapping from names; without a pattern any text is a name. `empty` sections may be left blank."""

    values: "Content"
    pattern: str = INDEXED_NAME
    empty: bool = False
    least: int = 0

    @property
    def schema(self) -> Schema:
        """An object of any size."""
        kind = {"type": ["object", "null"] if self.empty else "object"}
        if not self.pattern:
            return {**kind, "additionalProperties": self.values.schema}
        shape = {**kind, "patternProperties": {self.pattern: self.values.schema}, "additionalProperties": False}
        return shape | ({"minProperties": self.least} if self.least else {})


@final
class AnyOf(NamedTuple):
    """One of several shapes."""

    contents: tuple["Content", ...]

    @property
    def schema(self) -> Schema:
        """The shapes side by side."""
        return {"anyOf": [content.schema for content in self.contents]}


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

    @property
    def schema(self) -> Schema:
        """What it holds, and its sentence."""
        default = f" ({self.default} where left out)" if self.default else ""
        return {**self.holds.schema, **({"description": self.summary + default} if self.summary else {})}


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

    @property
    def schema(self) -> Schema:
        """An object that has no other keys."""
        shape: Schema = {"type": ["object", "null"] if self.empty else "object"}
        shape |= {"description": self.summary} if self.summary else {}
        shape["properties"] = {key.name: key.schema for key in self.keys}
        needed = {"required": names} if (names := [key.name for key in self.keys if key.required]) else {}
        if self.others:
            return shape | {"patternProperties": {self.others: True}, "additionalProperties": False, **needed}
        groups = {word: groups for word, groups in (("anyOf", self.any_of), ("oneOf", self.one_of)) if groups}
        shape |= needed | {word: [{"required": list(group)} for group in groups[word]] for word in groups}
        return shape | {"additionalProperties": False}


Content = Leaf | Words | Listed | Named | AnyOf | Record
"""What a key holds."""


def defined(word: str) -> Leaf:
    """What the schema defines under a name, once for all its places."""
    return Leaf(word, {"$ref": f"#/$defs/{word}"})


def keys(holds: Content, summaries: Iterable[tuple[str, str]]) -> tuple[Key, ...]:
    """Keys that hold the same."""
    return tuple(Key(name, holds, summary) for name, summary in summaries)


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


def repeated(section: str, summary: str) -> Record:
    """A block of lines of a section, copied for each value of its indices."""
    return Record((Key("repeat", RANGES, required=True), Key(section, defined(section), required=True)), summary)


# Parameters, laws and tables

INTERPOLATIONS = ("linear", "cubic")

_POINTS = Listed(PAIR, 2)
TABLE = Record(
    (
        Key("points", _POINTS, "the points, each `[time, value]`"),
        *keys(
            TEXT,
            (
                ("file", "a CSV or Parquet file beside the model"),
                ("time", "the column of the times, or of whatever the table is read at"),
                ("column", "the column of the values"),
                ("unit", "the unit of the values, such as V"),
                ("time unit", "the unit of the times, such as ms"),
            ),
        ),
    ),
    any_of=(("points",), ("file", "time", "column")),
)
TABLE_OR_POINTS = AnyOf((_POINTS, TABLE))

_ANY_TABLE = Leaf("table", {"type": ["array", "object"]})
_INTERPOLATION = Key(
    "interpolation", Words(INTERPOLATIONS), "linear, or cubic: smooth, rising and falling only where the points do"
)
CURVE = Record(
    (
        Key(
            "table",
            _ANY_TABLE,
            "the points, each `[argument, value]`, or `{file: lift.csv, time: angle, column: lift}`",
            required=True,
        ),
        Key("at", VALUE, "where the table is read: a displacement, or a formula of one", required=True),
        _INTERPOLATION,
        Key(
            "period",
            VALUE,
            "after how much the table begins again; beyond its points a table without period goes on straight",
        ),
    )
)
SLOPE = Record(
    (
        Key("slope of", VALUE, "a parameter that depends on a displacement", required=True),
        Key("by", VALUE, "the displacement", required=True),
    )
)
LAW_TABLE = Record(
    (
        Key(
            "table",
            _ANY_TABLE,
            "the points, each `[argument, value]`, or `{file: run.csv, time: i, column: v}`",
            required=True,
        ),
        Key(
            "gives",
            TEXT,
            "the letter of what the table gives; the left side of the kind's own law where nothing is said",
        ),
        _INTERPOLATION,
    ),
    "a law by points",
)

# Ports and parts

SOURCE = "source"
AT = "at"
_PORT = AnyOf(
    (
        Listed(NODE, 1, 2),
        Leaf(
            "nodes",
            {"type": ["string", "integer"], "description": "a node against the reference, or two separated by a comma"},
        ),
        Record((Key(SOURCE, TEXT, "the source whose place the port takes", required=True),)),
        Record((Key(AT, TEXT, "the element whose two nodes the port has", required=True),)),
        repeated("ports", "ports that are copied for each value of the indices"),
    )
)
PORTS = Named(_PORT, empty=True)
SIGNAL_PORTS = Record(
    keys(
        LIST_OF_TEXTS,
        (
            ("inputs", "signals and inputs of sources that another system may give a formula"),
            ("outputs", "signals and variables that are meant to be read from outside"),
        ),
    ),
    empty=True,
)
PART = Record(
    (
        Key(
            "use",
            TEXT,
            "a file beside the model, such as motor.yaml, or a part of the library by its name",
            required=True,
        ),
        Key(
            "ports",
            defined("ports"),
            "which nodes each port is joined to: a node, two nodes, or {source: name} for the place of a source",
        ),
        Key(
            "signals",
            Named(SIGNAL, empty=True),
            "what each signal input is given: a formula of signals, variables, parameters and time",
        ),
        Key(
            "parameters",
            Named(VALUE, empty=True),
            "values of parameters of the part; they may also stand beside the other keys",
        ),
        Key(
            "names",
            AnyOf((Named(TEXT, empty=True), Listed(TEXT), TEXT)),
            "what is inside by other names than `part.name`: {inside: outside}, a list of names that stay, or `own` for all",
        ),
    ),
    others=INDEXED_NAME,  # parameters of the part beside its keys
)
PARTS = Named(AnyOf((PART, repeated("parts", "parts that are copied for each value of the indices"))), empty=True)

# Positions

CLOSURE = Record((Key("equations", TEXTS, required=True), Key("solves", TEXTS, required=True)))
"""Formulas of displacements that are zero, and the displacements that follow from them."""

_POINTS_BY_NAME = Named(PAIR, "")
PLACED_BODY = Record(
    (
        Key("at", PAIR, "where its origin is, [x, y]; at the origin of the plane where left out"),
        Key("angle", QUANTITY, "its angle, anticlockwise; zero where left out"),
        Key("points", _POINTS_BY_NAME, "further points, in its own coordinates"),
    ),
    empty=True,
)
PLACED_PART = Record(
    (
        Key("at", PAIR, "where the origin of its plane is, [x, y]"),
        Key("angle", QUANTITY, "the angle by which its plane is turned, anticlockwise"),
    )
)
DRAWN_JOINTS = keys(
    TEXTS,
    (
        ("revolute", "a pin"),
        ("prismatic", "a slide of the second body along the first"),
        ("fixed", "a weld"),
        ("spring", "a spring between two points"),
        ("wheel", "a wheel at a point of a body, seen from above"),
        ("omniwheel", "a wheel with rollers at a point of a body, seen from above"),
    ),
)
DRAWN_SETTINGS = (
    Key("direction", QUANTITY, "the angle of a slide or of a wheel in its first body", "rad"),
    Key("radius", QUANTITY, "of a wheel", "m"),
)
GEOMETRY = Record(
    (
        Key(
            "bodies",
            Named(PLACED_BODY, ""),
            "what moves, one a line: {at: [x, y], angle: theta, points: {A: [x, y]}}; 'ground' has points only",
        ),
        Key(
            "joints",
            Named(Record((*DRAWN_JOINTS, *DRAWN_SETTINGS)), ""),
            "what is drawn where bodies meet, one a line: {revolute: [ground.O, crank]}",
        ),
        Key(
            "parts",
            Named(PLACED_PART, ""),
            "where parts that have bodies are, one a line: {at: [x, y], angle: 90 deg}; at the origin where left out",
        ),
    )
)

# The experiment

_VARIABLE = r"^[A-Za-z]"
EXPERIMENT = Record(
    (
        Key("until", QUANTITY, "the duration of the run, such as 0.5 s", "s"),
        Key(
            "inputs",
            Named(SIGNAL, _VARIABLE),
            "what each input does over time: a quantity, or a shape such as step(24 V)",
        ),
        Key("initial", Named(QUANTITY, _VARIABLE), "values of variables at the start"),
        Key("outputs", LIST_OF_TEXTS, "the variables to show"),
        Key(
            "units",
            Named(TEXT, _VARIABLE),
            "what variables are shown in, such as {omega: rpm}; values stay what they are",
        ),
        Key("rtol", VALUE, "the relative tolerance"),
        Key("atol", VALUE, "the absolute tolerance"),
    ),
    empty=True,
)
