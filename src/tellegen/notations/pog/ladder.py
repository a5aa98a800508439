"""A ladder as it stands in a file (sections, elaboration and connection blocks, branches, domains), and its JSON Schema.

The reader makes it from a file and turns it into elements; schemes are turned into it to be drawn as lanes or written.

A vector ladder has several lanes. A section then lists a row of across variables and a row of through variables, an element of a
block stands for every lane (`[L:L_1, L:L_2]`, with `none` where a lane has none), and a connection has a matrix. A minus sign
before an element or a given variable counts it against the ladder.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar, final

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


def unplaced(text: str) -> Scalar:
    """A text that stands in no file."""
    return Scalar(text, 0, 0, len(text), False)


NOWHERE = unplaced("")
"""The node of a part that was made and not read."""

Entry = TypeVar("Entry")
"""The entries of matrices: texts with their places as they are read, expressions as they are made from a scheme."""


@final
@dataclass(frozen=True, slots=True)
class LadderElement:
    """An element of one lane: its letter and its name. A `reversed` one counts against the ladder. A source has no letter."""

    letter: str
    name: str
    text: Scalar
    reversed: bool = False

    @property
    def sign(self) -> int:
        """-1 where it counts against the ladder."""
        return -1 if self.reversed else 1


@final
@dataclass(frozen=True, slots=True)
class LadderField(Generic[Entry]):
    """Elements of all lanes, or of those that `lanes` numbers, with a matrix; `word` is a letter, or one of MATRICES.

    `laws` take the place of a matrix. A field that is made from a scheme has its `members`, and gets its word when it is written.
    """

    word: str
    name: Scalar
    matrix: tuple[tuple[Entry, ...], ...]
    variables: tuple[tuple[str, tuple[Scalar, ...]], ...] = ()
    initial: tuple[Scalar, ...] = ()
    lanes: tuple[int, ...] = ()
    causality: tuple[Scalar, ...] = ()
    laws: tuple[Scalar, ...] = ()
    members: tuple[LadderElement, ...] = ()


@final
@dataclass(frozen=True, slots=True)
class LadderTransfer:
    """A positive-real transfer function, or a matrix of them over one denominator; coefficients of falling powers of s."""

    letter: str
    name: Scalar
    numerator: tuple[tuple[tuple[Scalar, ...], ...], ...]
    denominator: tuple[Scalar, ...]


LaneRow = tuple[LadderElement | None, ...]
"""One element of a block: an entry for every lane, None for a lane that has none."""
BlockItem = LaneRow | LadderField[Entry] | LadderTransfer


@final
@dataclass(slots=True, eq=False)
class LadderBlock(Generic[Entry]):
    """An elaboration block. `ways` has a word for each lane, or one for all of them; a `mixed` one says it lane by lane."""

    ways: tuple[Way, ...]
    items: list[BlockItem[Entry]] = field(default_factory=list)
    mixed: bool = False
    node: Node = NOWHERE

    def lane_way(self, lane: int) -> Way:
        """How a lane of the block is joined."""
        return self.ways[lane] if len(self.ways) > 1 else self.ways[0]


@final
@dataclass(slots=True, eq=False)
class LadderSection:
    """A power section with a pair of variables for each lane.

    `sources` are the variables that are imposed there, lane by lane; None where the section says nothing, so that the block beside
    it takes what a source gives. A section that is made from a scheme gets the names of its variables when it is written.
    """

    across: tuple[Scalar, ...] = ()
    through: tuple[Scalar, ...] = ()
    sources: LaneRow | None = None
    node: Node = NOWHERE

    def variable(self, side: Side, lane: int) -> Scalar:
        """A variable of the section."""
        return (self.across if side == "across" else self.through)[lane]

    def imposed(self, lane: int) -> LadderElement | None:
        """The variable that the section itself says is imposed in a lane."""
        return None if self.sources is None else self.sources[lane]


@final
@dataclass(slots=True, eq=False)
class LadderConnection(Generic[Entry]):
    """x_2 = K x_1 between the lanes before it and those behind it; K is a matrix, or `value` a modulus that stands in the ladder.

    `takes` and `gives` say which variables x_1 and x_2 are, where the neighbours do not. `domains` are those of the lanes behind,
    as far as the connection knows them.
    """

    name: Scalar
    K: tuple[tuple[Entry, ...], ...] = ()
    value: Entry | None = None
    takes: tuple[Side, ...] = ()
    gives: tuple[Side, ...] = ()
    domains: tuple[str, ...] = ()
    node: Node = NOWHERE


@final
@dataclass(slots=True, eq=False)
class LadderBranch(Generic[Entry]):
    """A side ladder; it leaves in parallel or in series."""

    way: Way
    ladder: "WrittenLadder[Entry]"
    node: Node = NOWHERE

    def lane_way(self, lane: int) -> Way:
        """How every lane of it is joined."""
        return self.way


@final
@dataclass(slots=True, eq=False)
class LadderDomains:
    """The domain of the blocks up to the next connection, or one for each lane."""

    words: tuple[str, ...]
    node: Node = NOWHERE


LadderPart = LadderBlock[Entry] | LadderSection | LadderConnection[Entry] | LadderBranch[Entry] | LadderDomains


@final
@dataclass(slots=True, eq=False)
class WrittenLadder(Generic[Entry]):
    """A ladder as it stands in a file: its parts from left to right; `domains` are those of the lanes at its start, if known."""

    domains: tuple[str, ...] = ()
    parts: list[LadderPart[Entry]] = field(default_factory=list)

    def add_row(self, way: Way, row: LaneRow) -> None:
        """Add an element to the last block, or to a new one where that is of another kind."""
        last = self.parts[-1] if self.parts else None
        ways = (way,) * len(row)
        if isinstance(last, LadderBlock) and last.ways == ways:
            last.items.append(row)
        else:
            self.parts.append(LadderBlock(ways, [row]))


ReadPart = LadderPart[Scalar]
ReadLadder = WrittenLadder[Scalar]


def part_widths(part: ReadPart) -> Iterator[tuple[int, str]]:
    """The numbers of lanes that a part says there are, each with what says so."""
    if isinstance(part, LadderSection):
        yield len(part.across), f"a section of {_count(len(part.across), 'across variable')}"
    elif isinstance(part, LadderDomains) and len(part.words) > 1:
        yield len(part.words), _count(len(part.words), "domain")
    elif isinstance(part, LadderBlock):
        if part.mixed:
            yield len(part.ways), _count(len(part.ways), "way")
        for item in part.items:
            if not isinstance(item, LadderField) or not item.lanes:
                yield _width(item), item_words(item)


def part_names(parts: Iterable[ReadPart]) -> Iterator[str]:
    """The names of elements and variables in parts of a ladder and in its side ladders."""
    for part in parts:
        if isinstance(part, LadderBlock):
            yield from (name for item in part.items for name in item_names(item))
        elif isinstance(part, LadderSection):
            yield from (text.text for text in (*part.across, *part.through))
        elif isinstance(part, LadderConnection):
            yield part.name.text
        elif isinstance(part, LadderBranch):
            yield from part_names(part.ladder.parts)


def item_names(item: BlockItem[Scalar]) -> list[str]:
    """The names of the elements in one item of a block."""
    return [entry.name for entry in item if entry is not None] if isinstance(item, tuple) else [item.name.text]


def _count(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def lanes_of(item: BlockItem[Scalar]) -> tuple[int, ...]:
    """The lanes that have a part of an element."""
    if isinstance(item, tuple):
        return tuple(lane for lane, entry in enumerate(item) if entry is not None)
    if isinstance(item, LadderField) and item.lanes:
        return item.lanes
    return tuple(range(_width(item)))


def _width(item: BlockItem[Scalar]) -> int:
    if isinstance(item, tuple):
        return len(item)
    return len(item.laws or item.matrix) if isinstance(item, LadderField) else len(item.numerator)


def item_words(item: BlockItem[Scalar]) -> str:
    """An element with its number of lanes, as messages say it."""
    n = _width(item)
    if isinstance(item, tuple):
        names = ", ".join(NONE if entry is None else entry.name for entry in item)
        return f"'{names}'" if n == 1 else f"'[{names}]' of {n} lanes"
    if isinstance(item, LadderField) and item.laws:
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
