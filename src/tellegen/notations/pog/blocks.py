"""The blocks of a ladder as they are written (sections, elaboration and connection blocks, branches, domains), and their JSON
Schema.

A vector ladder has several lanes. A section then lists a row of across variables and a row of through variables, an element of a
block stands for every lane (`[L:L_1, L:L_2]`, with `none` where a lane has none), and a connection has a matrix. A minus sign
before an element or a given variable counts it against the ladder.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, final

from tellegen.core.domains import DOMAINS, Side, other_side
from tellegen.notations.yaml.document import Node, Scalar

Way = Literal["series", "parallel"]

BLOCKS = {
    "section": "the across and the through variable of a power section, or a row of each",
    "series": "elements that share the through variable, such as [L:L_a, R:R_a]",
    "parallel": "elements that share the across variable, such as [C:C_0, G:G_0]",
    "mixed": "elements of a vector block whose lanes are in series or in parallel, as 'ways' says",
    "connect": "the modulus or the matrix of a connection block",
    "branch": "a side ladder that shares the across variable",
    "series branch": "a side ladder that shares the through variable",
    "domain": "the domain of the blocks up to the next connection, or one for each lane",
}
STORAGES = ("C", "L", "M", "m", "J", "E", "K", "I")
RESISTIVE = ("R", "G", "b", "B", "d", "D")
SWITCHING = "Sw"
"""The letters of an element with modes; `kind` under `elements` says which."""
MATRICES = ("energy", "power", "static")
"""Fields by their part in a block: the energy matrix of what it gives, the power matrix of what this loses and redistributes, and
the static matrix by which it gives what it takes."""
NONE = "none"


def taken_side(way: Way) -> Side:
    """Series blocks take the across variable, parallel blocks the through variable."""
    return "across" if way == "series" else "through"


def given_side(way: Way) -> Side:
    """The variable that the elements of a block share."""
    return other_side(taken_side(way))


@final
@dataclass(frozen=True, slots=True)
class LadderElement:
    """An element of one lane: its letter and its name. A `reversed` one counts against the ladder."""

    letter: str
    name: str
    text: Scalar
    reversed: bool = False


@final
@dataclass(frozen=True, slots=True)
class FieldItem:
    """Elements of all lanes, or of those that `lanes` numbers, with a matrix; `word` is a letter, or one of MATRICES."""

    word: str
    name: Scalar
    matrix: tuple[tuple[Scalar, ...], ...]
    variables: tuple[tuple[str, tuple[Scalar, ...]], ...] = ()
    initial: tuple[Scalar, ...] = ()
    lanes: tuple[int, ...] = ()
    causality: tuple[Scalar, ...] = ()
    laws: tuple[Scalar, ...] = ()

    # `laws` take the place of a matrix.


@final
@dataclass(frozen=True, slots=True)
class TransferItem:
    """A positive-real transfer function, or a matrix of them over one denominator; coefficients of falling powers of s."""

    letter: str
    name: Scalar
    numerator: tuple[tuple[tuple[Scalar, ...], ...], ...]
    denominator: tuple[Scalar, ...]


BlockItem = tuple[LadderElement | None, ...] | FieldItem | TransferItem
"""One element of a block: a tuple has an entry for every lane."""


@final
@dataclass(slots=True, eq=False)
class LadderBlock:
    """One entry of a ladder, of the kind that `word` says; what belongs to other words is empty."""

    word: str
    node: Node
    items: list[BlockItem] = field(default_factory=list)
    ways: tuple[Way, ...] = ()
    across: tuple[Scalar, ...] = ()
    through: tuple[Scalar, ...] = ()
    given: dict[str, bool] | None = None
    name: Scalar | None = None
    matrix: tuple[tuple[Scalar, ...], ...] = ()
    value: Scalar | None = None
    takes: tuple[Side, ...] = ()
    gives: tuple[Side, ...] = ()
    domains: tuple[str, ...] = ()
    side_ladder: "list[LadderBlock]" = field(default_factory=list)

    # `given` says which variables of a section are imposed: name, and whether it counts against the ladder.

    @property
    def elaborates(self) -> bool:
        """Whether elements stand in the block."""
        return self.word in ("series", "parallel", "mixed")

    @property
    def joins(self) -> bool:
        """Whether the block shares a variable: it has elements or a side ladder."""
        return self.elaborates or self.word in ("branch", "series branch")

    def way(self, lane: int) -> Way:
        """How a lane of the block is joined."""
        if self.word == "mixed":
            return self.ways[lane]
        return "series" if self.word.startswith("series") else "parallel"

    def widths(self) -> Iterator[tuple[int, str]]:
        """The numbers of lanes that parts of the block have, each with what says so."""
        if self.word == "section":
            yield len(self.across), f"a section of {_count(len(self.across), 'across variable')}"
        if self.word == "mixed":
            yield len(self.ways), _count(len(self.ways), "way")
        if self.domains and len(self.domains) > 1:
            yield len(self.domains), _count(len(self.domains), "domain")
        for item in self.items:
            if not isinstance(item, FieldItem) or not item.lanes:
                yield width_of(item), item_words(item)

    def variable(self, side: Side, lane: int) -> Scalar:
        """A variable of a section."""
        return (self.across if side == "across" else self.through)[lane]

    def names(self) -> Iterator[str]:
        """The names of elements and variables in the block."""
        for item in self.items:
            if isinstance(item, tuple):
                yield from (entry.name for entry in item if entry is not None)
            else:
                yield item.name.text
        yield from (text.text for text in (*self.across, *self.through))
        if self.name is not None:
            yield self.name.text
        for block in self.side_ladder:
            yield from block.names()


def _count(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def lanes_of(item: BlockItem) -> tuple[int, ...]:
    """The lanes that have a part of an element."""
    if isinstance(item, tuple):
        return tuple(lane for lane, entry in enumerate(item) if entry is not None)
    if isinstance(item, FieldItem) and item.lanes:
        return item.lanes
    return tuple(range(width_of(item)))


def width_of(item: BlockItem) -> int:
    """The number of lanes of an element."""
    if isinstance(item, tuple):
        return len(item)
    return len(item.laws or item.matrix) if isinstance(item, FieldItem) else len(item.numerator)


def item_words(item: BlockItem) -> str:
    """An element with its number of lanes, as messages say it."""
    n = width_of(item)
    if isinstance(item, tuple):
        names = ", ".join(NONE if entry is None else entry.name for entry in item)
        return f"'{names}'" if n == 1 else f"'[{names}]' of {n} lanes"
    if isinstance(item, FieldItem) and item.laws:
        return f"'{item.name.text}' with {_count(n, 'law')}"
    return f"'{item.name.text}' with a matrix of {_count(n, 'row')}"


Shape = dict[str, Any]

_VALUE: Shape = {"type": ["string", "number"]}


def block_schema(word: str) -> Shape:
    """The shape of an entry; `word` is the pattern of a name. Branches refer to `#/$defs/block`."""
    name = {"type": "string", "pattern": rf"^\s*-?\s*{word}\s*$"}
    shapes: dict[str, Shape] = {
        "section": _section(name),
        "connect": {"anyOf": [name, _list(name, minItems=1, maxItems=1), _connection(name)]},
        "domain": {"anyOf": [{"enum": list(DOMAINS)}, _list({"enum": list(DOMAINS)}, minItems=1)]},
        **{block: _elements(word, name) for block in ("series", "parallel", "mixed")},
        **{block: _list({"$ref": "#/$defs/block"}, minItems=1) for block in ("branch", "series branch")},
    }
    ways = {
        "description": "series or parallel, for each lane of a mixed block",
        **_texts({"enum": ["series", "parallel"]}),
    }
    return {
        "type": "object",
        "properties": {block: {**shapes[block], "description": text} for block, text in BLOCKS.items()}
        | {"ways": ways},
        "minProperties": 1,
        "maxProperties": 2,
        "dependentRequired": {"mixed": ["ways"], "ways": ["mixed"]},
        "oneOf": [{"required": [block]} for block in BLOCKS],
        "additionalProperties": False,
    }


def _list(item: Shape, **size: int) -> Shape:
    return {"type": "array", "items": item, **size}


def _texts(item: Shape, **size: int) -> Shape:
    """A list, or one text with commas."""
    return {"anyOf": [_list(item, **size), {"type": "string", "pattern": r"\S"}]}


def _section(name: Shape) -> Shape:
    row = {"anyOf": [name, _list(name, minItems=1)]}
    keys = {
        "type": "object",
        "properties": {"across": row, "through": row, "given": row},
        "required": ["across", "through"],
        "additionalProperties": False,
    }
    return {
        "anyOf": [_texts(name, minItems=2, maxItems=2), _list(_list(name, minItems=1), minItems=2, maxItems=2), keys]
    }


def _connection(name: Shape) -> Shape:
    sides = {"anyOf": [{"enum": ["across", "through"]}, _list({"enum": ["across", "through"]}, minItems=1)]}
    return {
        "type": "object",
        "properties": {"name": name, "K": {"anyOf": [_VALUE, _matrix(_VALUE)]}, "takes": sides, "gives": sides},
        "required": ["name"],
        "additionalProperties": False,
    }


def _matrix(entry: Shape) -> Shape:
    return _list(_list(entry, minItems=1), minItems=1)


def _elements(word: str, name: Shape) -> Shape:
    letters = (*STORAGES, *RESISTIVE)
    element = {"type": "string", "pattern": rf"^\s*-?\s*({'|'.join((*letters, SWITCHING))})\s*:\s*{word}\s*$"}
    lanes = _list({"anyOf": [element, {"enum": [NONE]}]}, minItems=1)
    field = {
        "type": "object",
        "properties": dict.fromkeys((*letters, *MATRICES), name)
        | {"matrix": _matrix(_VALUE), "law": _texts({"type": "string"}, minItems=1), "lanes": {}},
        "anyOf": [{"required": [word]} for word in ("matrix", "law")],
        "additionalProperties": {"anyOf": [_list(_VALUE), _VALUE]},
    }
    polynomial = _texts(_VALUE, minItems=1)
    transfer = {
        "type": "object",
        "properties": {
            **dict.fromkeys((*RESISTIVE, "power", "static"), name),
            "numerator": {"anyOf": [polynomial, _matrix(polynomial)]},
            "denominator": polynomial,
        },
        "required": ["numerator", "denominator"],
        "additionalProperties": False,
    }
    return _texts({"anyOf": [element, lanes, field, transfer]}, minItems=1)
