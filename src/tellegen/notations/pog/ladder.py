"""A ladder as it stands in a file: sections, elaboration and connection blocks, branches and domains, and how they are read.

The reader makes it from a file and turns it into elements; schemes are turned into it to be drawn as lanes or written.

A vector ladder has several lanes. A section then lists a row of across variables and a row of through variables, an element of a
block stands for every lane (`[L:L_1, L:L_2]`, with `none` where a lane has none), and a connection has a matrix. A minus sign
before an element or a given variable counts it against the ladder.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Generic, Literal, TypeVar, final

from tellegen.core.domains import DOMAINS, Side, other_side
from tellegen.core.errors import TellegenError
from tellegen.core.files import clip
from tellegen.core.names import did_you_mean
from tellegen.notations.context import ReadingContext
from tellegen.notations.network.fields import LAWS, is_energy
from tellegen.notations.network.keys import SIDES
from tellegen.notations.pog import rules
from tellegen.notations.yaml.document import MappingNode, Node, Scalar, SequenceNode

Way = Literal["series", "parallel"]
WAYS: tuple[Way, Way] = ("series", "parallel")
Word = TypeVar("Word", bound=str)

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
"""Stands for an element that a lane has not, and for a variable without a name of its own."""


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
        """A variable of the section; NONE where it has no name."""
        return (self.across if side == "across" else self.through)[lane]

    def imposed(self, lane: int) -> LadderElement | None:
        """The variable that the section itself says is imposed in a lane."""
        return None if self.sources is None else self.sources[lane]


@final
@dataclass(slots=True, eq=False)
class LadderConnection(Generic[Entry]):
    """x_2 = K x_1 between the lanes before it and those behind it; K is a matrix, or `value` a modulus that stands in the ladder.

    `takes` and `gives` say which variables x_1 and x_2 are, where the neighbours do not. `domains` are those of the lanes behind,
    as far as the connection knows them, and `names` those that its variables `across_1`, ... have.
    """

    name: Scalar
    K: tuple[tuple[Entry, ...], ...] = ()
    value: Entry | None = None
    takes: tuple[Side, ...] = ()
    gives: tuple[Side, ...] = ()
    domains: tuple[str, ...] = ()
    node: Node = NOWHERE
    names: dict[str, str] = field(default_factory=dict)


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
        # Blocks of one kind in a row are one block: that is how a person draws them.
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


# Reading entries


def _read_name(context: ReadingContext, text: Scalar, subject: str) -> str:
    """The text of a node, which must be a name that formulas can use."""
    context.refuse_reserved(text, subject)
    return context.name(text, subject)


def _read_matrix(context: ReadingContext, node: Node, subject: str) -> tuple[tuple[Scalar, ...], ...]:
    """The rows of a matrix, all of one length."""
    rows = list(node) if isinstance(node, SequenceNode) else []
    if not rows or not all(isinstance(row, SequenceNode) for row in rows):
        fix = "write it row by row: '[[1, 2], [3, 4]]'"
        raise context.error(rules.BAD_BLOCK, node, f"{subject} is not a list of rows", fix=fix)
    found = tuple(tuple(context.texts(row, subject)) for row in rows)
    if len({len(row) for row in found}) > 1 or not found[0]:
        what = f"the rows of {subject} have {', '.join(str(len(row)) for row in found)} entries"
        raise context.error(rules.WRONG_WIDTH, node, what, fix="give all rows the same number of entries")
    return found


class _EntryReader:
    """Reads one entry of a ladder, whose first key is its word."""

    def __init__(self, context: ReadingContext, node: Node, depth: int) -> None:
        self.context, self.node, self.depth = context, node, depth
        self.word = ""

    def _refuse(self, what: str, fix: str, node: Node | None = None) -> TellegenError:
        return self.context.error(rules.BAD_BLOCK, self.node if node is None else node, what, fix=fix)

    def read(self) -> ReadPart | None:
        """The part, or None where errors inside it were collected."""
        mapping = self.context.mapping(self.node, "an entry of the ladder")
        self.word = word = mapping.keys[0].text if mapping.keys else ""
        # YAML joins lines without a dash before them to the entry above: two blocks become one mapping.
        if len(mapping.keys[1:]) > (word == "mixed"):
            words = ", ".join(clip(key.text) for key in mapping.keys[:4])
            what = f"an entry of the ladder has several keys: {words}"
            raise self._refuse(what, "start a line with '-' for each block")
        if word not in BLOCKS:
            fix = did_you_mean(word, BLOCKS) or f"the entries are {', '.join(BLOCKS)}"
            raise self._refuse(f"'{clip(word)}' is no block of a ladder", fix)
        given = mapping.values[0]
        if word == "section":
            return self._section(given)
        if word == "connect":
            return self._connection(given)
        if word == "domain":
            return self._domain(given)
        if word in ("branch", "series branch"):
            return self._branch(given)
        items = self._items(given)
        if word == "mixed":
            return LadderBlock(self._ways(mapping.get("ways")), items, mixed=True, node=self.node)
        return LadderBlock(("series" if word == "series" else "parallel",), items, node=self.node)

    # -- elements --------------------------------------------------------------------------------------------------------------

    def _items(self, given: Node) -> list[BlockItem[Scalar]]:
        nodes = list(given) if isinstance(given, SequenceNode) else self.context.texts(given, f"'{self.word}'")
        if not nodes:
            fix = f"write its elements, such as '{self.word}: [R:R_a]', or remove it"
            raise self._refuse(f"the {self.word} block is empty", fix)
        return [self._item(node) for node in nodes]

    def _item(self, node: Node) -> BlockItem[Scalar]:
        if isinstance(node, MappingNode):
            return self._described(node)
        if isinstance(node, SequenceNode):
            texts = [self.context.scalar(text, f"an element of '{self.word}'") for text in node]
            entries = tuple(None if text.text == NONE else self._entry(text) for text in texts)
            if all(entry is None for entry in entries):
                raise self._refuse("an element has no lane", "write at least one element in it", node)
            return entries
        return (self._entry(self.context.scalar(node, f"an entry of '{self.word}'")),)

    def _entry(self, text: Scalar) -> LadderElement:
        letter, colon, name = (part.strip() for part in text.text.partition(":"))
        plain = letter.removeprefix("-").strip()
        if not colon or plain not in (*STORAGES, *RESISTIVE, SWITCHING):
            fix = "write a letter, a colon and a name, such as 'L:L_a' or 'R:R_a'"
            raise self.context.error(rules.BAD_LETTER, text, f"'{clip(text.text)}' is no element of a ladder", fix=fix)
        at = Scalar(name, text.line, text.column, text.length, text.quoted)
        return LadderElement(plain, _read_name(self.context, at, "an element"), text, letter.startswith("-"))

    def _described(self, node: MappingNode) -> BlockItem[Scalar]:
        """An element with a matrix or with a transfer function."""
        word = node.keys[0].text
        keys = [key.text for key in node.keys]
        # With a space behind the colon, `L: L_a` is a mapping to YAML.
        if not {"numerator", "denominator", "matrix", LAWS} & set(keys):
            fix = "put no space behind the colon: 'L:L_a'"
            raise self._refuse(f"an entry of '{self.word}' is not a single text", fix, node)
        if word not in (*STORAGES, *RESISTIVE, *MATRICES):
            fix = "write a letter before its name: '{L: coils, matrix: [[L_1, M], [M, L_2]]}', or 'energy', 'power' or 'static'"
            raise self.context.error(rules.BAD_LETTER, node, f"'{clip(word)}' is no element of a ladder", fix=fix)
        name = self.context.scalar(node.values[0], "the name of an element")
        _read_name(self.context, name, "an element")
        if "matrix" in keys or LAWS in keys:
            return self._field(word, name, node)
        return self._transfer(word, name, node)

    def _field(self, word: str, name: Scalar, node: MappingNode) -> LadderField[Scalar]:
        matrix: tuple[tuple[Scalar, ...], ...] = ()
        lanes: tuple[int, ...] = ()
        lists = {
            LAWS: f"the laws of '{name.text}'",
            "causality": f"the causality of {name.text}",
            "initial": f"the initial values of {name.text}",
        }
        given: dict[str, tuple[Scalar, ...]] = dict.fromkeys(lists, ())
        variables = []
        for key, value in zip(node.keys[1:], node.values[1:], strict=True):
            if key.text == "matrix":
                matrix = _read_matrix(self.context, value, f"the matrix of '{name.text}'")
            elif key.text == "lanes":
                lanes = self._lanes(name, value)
            elif key.text in lists:
                given[key.text] = tuple(self.context.texts(value, lists[key.text]))
            else:
                # Words for variables depend on the domain of a lane, which is known later.
                variables.append((key.text, tuple(self.context.texts(value, f"the names of the {key.text}"))))
        laws = given[LAWS]
        if laws and matrix:
            raise self._refuse(f"'{name.text}' has a matrix and laws", "keep one of them", node)
        if matrix and len(matrix) != len(matrix[0]):
            what = f"the matrix of '{name.text}' has {len(matrix)} rows and {len(matrix[0])} columns"
            fix = "the matrix of an elaboration block is square"
            raise self.context.error(rules.WRONG_WIDTH, node, what, fix=fix, where=name.text)
        size = len(laws or matrix)
        if lanes and len(lanes) != size and not is_energy(laws):
            said, each = (f"{size} laws", "law") if laws else (f"a matrix of {size} rows", "row")
            what = f"'{name.text}' names {len(lanes)} lanes for {said}"
            raise self.context.error(rules.WRONG_WIDTH, node, what, fix=f"name a lane for each {each}", where=name.text)
        return LadderField(
            word=word,
            name=name,
            matrix=matrix,
            variables=tuple(variables),
            initial=given["initial"],
            lanes=lanes,
            causality=given["causality"],
            laws=laws,
        )

    def _lanes(self, name: Scalar, node: Node) -> tuple[int, ...]:
        found = []
        for text in self.context.texts(node, f"the lanes of {name.text}"):
            # Four digits are more lanes than anybody draws, and bound what is made for them.
            if not text.text.isdecimal() or not 0 < int(text.text) < 10_000 or int(text.text) - 1 in found:
                what = f"'{clip(text.text)}' is no lane for '{name.text}'"
                raise self.context.error(rules.WRONG_WIDTH, text, what, fix="number lanes from 1, each once")
            found.append(int(text.text) - 1)
        return tuple(found)

    def _transfer(self, word: str, name: Scalar, node: MappingNode) -> LadderTransfer:
        self.context.check_keys(node, (word, "numerator", "denominator"), f"the transfer function {name.text}")
        if word not in (*RESISTIVE, "power", "static"):
            fix = "write R, d for across over through, G, b for through over across; 'power' gives what the block takes"
            what = f"'{word}' does not say which variable the transfer function '{name.text}' gives"
            raise self.context.error(rules.BAD_LETTER, node, what, fix=fix, where=name.text)
        top, bottom = node.get("numerator"), node.get("denominator")
        if top is None or bottom is None:
            missing = "numerator" if top is None else "denominator"
            fix = "give both, as coefficients of falling powers of s: 'numerator: [1, 3], denominator: [1, 2]'"
            raise self._refuse(f"the transfer function '{name.text}' has no {missing}", fix, node)
        denominator = tuple(self.context.texts(bottom, "the denominator"))
        return LadderTransfer(word, name, self._numerators(name, top), denominator)

    def _numerators(self, name: Scalar, node: Node) -> tuple[tuple[tuple[Scalar, ...], ...], ...]:
        if not isinstance(node, SequenceNode) or not any(isinstance(item, SequenceNode) for item in node):
            return ((tuple(self.context.texts(node, "the numerator")),),)
        rows = [list(row) if isinstance(row, SequenceNode) else [row] for row in node]
        # What a transfer matrix gives it gives at the ports where it is told: as many rows as columns.
        if any(len(row) != len(rows) for row in rows):
            what = f"the transfer matrix '{name.text}' has {len(rows)} rows of {', '.join(str(len(r)) for r in rows)} entries"
            fix = "give a square matrix of numerators: 'numerator: [[[1, 2], [1]], [[1], [1, 3]]]'"
            raise self.context.error(rules.WRONG_WIDTH, node, what, fix=fix, where=name.text)
        return tuple(tuple(tuple(self.context.texts(entry, "a numerator")) for entry in row) for row in rows)

    # -- branches --------------------------------------------------------------------------------------------------------------

    def _branch(self, given: Node) -> LadderBranch[Scalar] | None:
        found = read_parts(self.context, given, f"'{self.word}'", self.depth + 1)
        if found is None:
            return None
        if not found:
            raise self._refuse(f"the {self.word} is empty", "write its blocks, or a section with a given variable")
        return LadderBranch("parallel" if self.word == "branch" else "series", ReadLadder(parts=found), self.node)

    # -- sections --------------------------------------------------------------------------------------------------------------

    def _section(self, given: Node) -> LadderSection:
        section = LadderSection(*self._rows(given), node=self.node)
        if len(section.across) != len(section.through):
            what = f"a section has {len(section.across)} across and {len(section.through)} through variables"
            raise self.context.error(rules.WRONG_WIDTH, self.node, what, fix="give one of each for every lane")
        for text in (*section.across, *section.through):
            if text.text != NONE:
                _read_name(self.context, text, "a variable")
        return section

    def _rows(self, given: Node) -> tuple[tuple[Scalar, ...], tuple[Scalar, ...], LaneRow | None]:
        """The across variables, the through variables, and what is said to be given of them."""
        two = "a section has two power variables"
        if isinstance(given, MappingNode):
            self.context.check_keys(given, ("across", "through", "given"), "a section")
            across, through = given.get("across"), given.get("through")
            if across is None or through is None:
                raise self._refuse(two, "write 'section: {across: V_a, through: I_a, given: V_a}'")
            named = self._row(across), self._row(through)
            return *named, self._given(*named, given.get("given"))
        if isinstance(given, SequenceNode) and any(isinstance(item, SequenceNode) for item in given):
            rows = list(given)
            if len(rows) != 2:
                fix = "write the across variables, then the through variables: 'section: [[V_1, V_2], [I_1, I_2]]'"
                raise self._refuse("a section has two rows of power variables", fix)
            return self._row(rows[0]), self._row(rows[1]), None
        texts = self._row(given)
        if len(texts) != 2:
            raise self._refuse(two, "write the across variable, then the through variable: 'section: [V_a, I_a]'")
        return texts[:1], texts[1:], None

    def _row(self, node: Node) -> tuple[Scalar, ...]:
        return tuple(self.context.texts(node, "'section'"))

    def _given(self, across: tuple[Scalar, ...], through: tuple[Scalar, ...], node: Node | None) -> LaneRow | None:
        """What a source imposes in each lane; a minus sign before it counts it against the ladder."""
        if node is None:
            return None
        known = [text.text for text in (*across, *through)]
        found: dict[str, LadderElement] = {}
        for text in self.context.texts(node, "'given'"):
            name = text.text.removeprefix("-").strip()
            if name not in known:
                fix = did_you_mean(name, known) or f"its variables are {', '.join(known)}"
                raise self._refuse(f"'{clip(name)}' is no variable of this section", fix, text)
            found[name] = LadderElement("", name, text, text.text.startswith("-"))
        for one, two in zip(across, through, strict=False):
            # Two imposed variables would impose a power, and nothing in the ladder could answer.
            if one.text in found and two.text in found:
                what = f"both '{one.text}' and '{two.text}' are given"
                raise self._refuse(what, "a source imposes one of the two; the other answers it", node)
        return tuple(found.get(one.text) or found.get(two.text) for one, two in zip(across, through, strict=False))

    # -- connections, domains, ways --------------------------------------------------------------------------------------------

    def _connection(self, given: Node) -> LadderConnection[Scalar]:
        if not isinstance(given, MappingNode):
            texts = self.context.texts(given, "'connect'")
            if len(texts) != 1:
                raise self._refuse("a connection has one modulus", "write 'connect: K'")
            _read_name(self.context, texts[0], "a connection")
            return LadderConnection(texts[0], node=self.node)
        self.context.check_keys(given, ("name", "K", "takes", "gives"), "a connection")
        name = given.get("name")
        if name is None:
            raise self._refuse("a connection has no name", "write 'connect: {name: gear, K: [[2, 1], [0, 1]]}'")
        found = LadderConnection[Scalar](self.context.scalar(name, "the name of a connection"), node=self.node)
        _read_name(self.context, found.name, "a connection")
        K = given.get("K")
        if isinstance(K, SequenceNode):
            found.K = _read_matrix(self.context, K, f"the matrix of '{found.name.text}'")
        elif K is not None:
            found.value = self.context.formula(K, f"the modulus of {found.name.text}")
        takes, gives = given.get("takes"), given.get("gives")
        found.takes = () if takes is None else self._words(takes, "takes", SIDES, "power variable")
        found.gives = () if gives is None else self._words(gives, "gives", SIDES, "power variable")
        return found

    def _words(self, node: Node, key: str, known: tuple[Word, Word], meaning: str) -> tuple[Word, ...]:
        """One of two words for each lane."""
        found = []
        for text in self.context.texts(node, f"'{key}'"):
            if text.text not in known:
                fix = did_you_mean(text.text, known) or f"write '{known[0]}' or '{known[1]}'"
                raise self._refuse(f"'{clip(text.text)}' is no {meaning}", fix, text)
            found.append(known[0] if text.text == known[0] else known[1])
        return tuple(found)

    def _domain(self, given: Node) -> LadderDomains:
        texts = self.context.texts(given, "'domain'")
        for text in texts:
            if text.text not in DOMAINS:
                fix = did_you_mean(text.text, DOMAINS) or f"the domains are {', '.join(DOMAINS)}"
                raise self._refuse(f"'{clip(text.text)}' is no domain", fix)
        if not texts:
            raise self._refuse("'' is no domain", f"the domains are {', '.join(DOMAINS)}")
        return LadderDomains(tuple(text.text for text in texts), self.node)

    def _ways(self, node: Node | None) -> tuple[Way, ...]:
        if node is None:
            fix = "add 'ways: [series, parallel]' to the entry, one word for each lane"
            raise self._refuse("a mixed block does not say how its lanes are joined", fix)
        return self._words(node, "ways", WAYS, "way to join a lane")


DEEPEST_BRANCH = 20
"""Branches may be nested so deep."""


def read_parts(context: ReadingContext, node: Node, subject: str = "'pog'", depth: int = 0) -> list[ReadPart] | None:
    """The parts of a ladder, or None when errors were collected."""
    if not isinstance(node, SequenceNode):
        fix = "write a list such as '- section: [V, I]', '- series: [L:L_a]'"
        raise context.error(rules.BAD_BLOCK, node, f"{subject} is not a list", fix=fix)
    if depth > DEEPEST_BRANCH:
        fix = "start the side ladder from a section of the main ladder"
        raise context.error(rules.BAD_BLOCK, node, f"branches are nested deeper than {DEEPEST_BRANCH}", fix=fix)
    parts: list[ReadPart] = []
    for entry in node:
        with context.collecting():
            if (part := _EntryReader(context, entry, depth).read()) is not None:
                parts.append(part)
    if len(parts) == len(node):
        return parts
    # What can be read of it is known by name, so that an experiment with these names is not wrong, too.
    context.broken.update(part_names(parts))
    return None
