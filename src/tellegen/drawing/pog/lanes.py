"""The plan of a vector ladder: lanes that run side by side as bold wires, with a matrix in every block.

Power counts as positive to the right. The signals of all lanes must go the same way along each line; a model in which they do not
is drawn as one vector block instead.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import final

from tellegen.core.domains import DOMAINS, Side, other_side
from tellegen.drawing.formulas import bolded
from tellegen.drawing.pog import plan as plans
from tellegen.drawing.pog.texts import (
    DERIVATIVE,
    INTEGRATOR,
    PogTexts,
    bold,
    entries_latex,
    is_too_large,
    matrix_latex,
    raised_letter,
    with_arguments,
)
from tellegen.equations.matrices import transposed
from tellegen.expressions import ONE, ZERO, Expression, latex_name, symbol
from tellegen.expressions.symbols import NO_SYMBOLS, read_symbol
from tellegen.graph import ResistiveLaw, SourceLaw, StorageLaw
from tellegen.notations.pog import ladder as written_ladder
from tellegen.notations.pog.ladder import Way as BlockWay
from tellegen.scenes.lettering import name_latex
from tellegen.scenes.scene import Tone, Weight
from tellegen.schemes.lanes import NoLanesError, lane_ladder
from tellegen.schemes.pog_scheme import Matrix, PogScheme, SchemeBlock


def only(answers: Iterable[bool]) -> bool:
    """The answer that all lanes give.

    Raises: NoLanesError where they give different ones.
    """
    found = {*answers}
    if len(found) != 1:
        raise NoLanesError
    return found.pop()


@final
@dataclass(frozen=True, slots=True)
class _LaneSignals:
    """The signals at a section: of each lane the variable that goes to the right, and the one on the upper line."""

    domains: tuple[str, ...]
    rightward: tuple[Side, ...]
    upper: tuple[Side, ...]

    # A bold wire has one arrow: lanes whose signals run against each other cannot be drawn as one vector.
    @property
    def upper_goes_right(self) -> bool:
        """Whether the upper line goes to the right; all lanes must agree.

        Raises: NoLanesError.
        """
        return only(right == upper for right, upper in zip(self.rightward, self.upper, strict=True))

    def line_of(self, sides: Sequence[Side]) -> plans.Line:
        """The line on which all lanes have the variables asked for.

        Raises: NoLanesError where they are on different lines.
        """
        return "upper" if only(side == upper for side, upper in zip(sides, self.upper, strict=True)) else "lower"

    def side(self, line: plans.Line) -> tuple[Side, ...]:
        """The variables on a line."""
        return self.upper if line == "upper" else tuple(map(other_side, self.upper))


LONGEST_MATRIX = 250

_PLAIN = re.compile(r"\\(?:mathbf|boldsymbol|mathrm)|[{}\\]")
"""What makes a letter bold."""

Cells = dict[int, written_ladder.LadderElement]
"""Pieces by lane; the lanes of a field have a piece each."""


@final
@dataclass(frozen=True, slots=True)
class _LaneRow:
    """What one elaboration block holds: a piece for each lane that has one, and the fields among them."""

    cells: Cells
    fields: tuple[written_ladder.LadderField[Expression], ...] = ()


def _row_of(item: written_ladder.BlockItem[Expression]) -> _LaneRow:
    """An item of a written block as a row."""
    if isinstance(item, written_ladder.LadderField):
        return _LaneRow(dict(zip(item.lanes, item.members, strict=True)), (item,))
    assert isinstance(item, tuple), "the ladder of a scheme has no transfer functions"
    return _LaneRow({j: piece for j, piece in enumerate(item) if piece is not None})


@final
class _LaneTexts:
    """The texts of one vector ladder. Vectors come first in the legend, then matrices, then what moves in them."""

    def __init__(self, scheme: PogScheme, texts: PogTexts, named: Mapping[str, str]) -> None:
        self.scheme = scheme
        self.texts = texts
        self._matrices: dict[str, Matrix] = {}
        self._letters: dict[str, int] = {}
        self._named = named
        self.counted: dict[str, str] = {}
        """Names by which vectors and matrices are counted, and how they are written."""

    def vector(self, letter: str, entries: Sequence[str] = ()) -> str:
        """A letter with the next number, or the symbol for that, and its entries in the legend."""
        self._letters[letter] = number = self._letters.get(letter, 0) + 1
        name = f"{_PLAIN.sub('', letter)}_{number}"
        self.counted[name] = text = (
            bolded(read_symbol(self._named[name]).latex) if name in self._named else rf"{letter}_{{{number}}}"
        )
        if entries:
            self.texts.legend[text] = entries_latex(entries)
        return text

    def explain(self) -> None:
        """The matrices in the legend, unless only their letters are asked for."""
        if self.texts.options.matrices == "named":
            return
        for letter, matrix in self._matrices.items():
            # Zeros off the diagonal cost a reader nothing, so they do not count.
            entries = [entry for row in matrix for entry in row if entry is not ZERO]
            if is_too_large(matrix, entries, LONGEST_MATRIX):
                self.texts.left_out[letter] = None
            else:
                entry = self.texts.entry
                self.texts.legend[letter] = _diagonal(matrix, entry) or matrix_latex(matrix, entry)
        self.texts.explain_varying(entry for matrix in self._matrices.values() for row in matrix for entry in row)

    # -- elaboration blocks ----------------------------------------------------------------------------------------------------

    def element(self, row: _LaneRow, width: int) -> tuple[tuple[plans.BoxPlan, ...], str]:
        """The boxes of a row, and its energy variable.

        They are an integrator and the inverse of an energy matrix, the reverse of it where all of them differentiate, a matrix of
        static gains, or one of transfer functions.

        Raises: NoLanesError for laws that no matrix says.
        """
        blocks = {j: self.scheme.blocks[piece.name] for j, piece in row.cells.items()}
        if width == 1:  # a single lane is written as in a scalar ladder
            return self.texts.boxes(blocks[0]), self.texts.names.energy(blocks[0])
        kinds = {block.kind for block in blocks.values()}
        if len(kinds) == 1 and kinds <= {"storage", "derivative"}:
            matrix = self._filled(row, width, {j: self._energy(block) for j, block in blocks.items()})
            letter = self._matrix("L", matrix)
            # A lane without a storage has nothing to invert.
            energy = matrix if len(row.cells) == width else None
            gain = plans.BoxPlan("gain", raised_letter(letter, "-1"), matrix=energy, inverted=True)
            boxes = plans.BoxPlan("integrator", INTEGRATOR), gain
            if kinds == {"derivative"}:
                boxes = plans.BoxPlan("gain", letter), plans.BoxPlan("derivative", DERIVATIVE)
            return boxes, self.vector(bold("q"))
        if not kinds & {"storage", "derivative"}:
            for piece in row.cells.values():
                item = self.scheme.elements[piece.name]
                law = item.port.law
                if row.fields and isinstance(law, ResistiveLaw) and law.side != item.decides:
                    raise NoLanesError  # the matrix of a field, asked the other way
            gains = {j: _linear(block) for j, block in blocks.items()}
            matrix = self._filled(row, width, gains)
            return (plans.BoxPlan("gain", self._matrix("R", matrix), matrix=matrix),), ""
        # Storages and resistors side by side have one matrix of transfer functions, which a field with its own matrix is not.
        if row.fields:
            raise NoLanesError
        powers = {"storage": ONE / symbol("s"), "derivative": symbol("s")}
        transfers = {j: _linear(block) * powers.get(block.kind, ONE) for j, block in blocks.items()}
        letter = self._matrix("G", self._filled(row, width, transfers), "(s)")
        if "derivative" in kinds:
            return (plans.BoxPlan("gain", letter),), ""
        parts = [{j: _linear(block) for j, block in blocks.items() if block.integrator == stores} for stores in (0, 1)]
        static, stored = (self._filled(row, width, part) for part in parts)
        return (plans.BoxPlan("gain", letter, matrix=static, integral=stored),), ""

    def _energy(self, block: SchemeBlock) -> Expression:
        if block.field:
            return ZERO  # the matrix of the field says it
        if block.gain is None or block.gain is ZERO:
            raise NoLanesError
        return block.gain if block.kind == "derivative" else ONE / block.gain

    def _filled(self, row: _LaneRow, width: int, diagonal: dict[int, Expression]) -> Matrix:
        """The matrix of a row: diagonal, but for fields."""
        entries: list[list[Expression]] = [[ZERO] * width for _ in range(width)]
        for j, entry in diagonal.items():
            entries[j][j] = entry
        for field in row.fields:
            for i, line in zip(field.lanes, field.matrix, strict=True):
                for j, entry in zip(field.lanes, line, strict=True):
                    entries[i][j] = entry
        return tuple(map(tuple, entries))

    def _matrix(self, letter: str, matrix: Matrix, argument: str = "") -> str:
        """A letter for a matrix, with what it depends on."""
        text = self.vector(bold(letter))
        read = self.texts.read_by_all(entry for row in matrix for entry in row)
        moving = tuple(name for name in read if name != "s" or not argument)
        text = text + argument if argument else with_arguments(text, moving)
        self._matrices[text] = matrix
        return text

    # -- connections -----------------------------------------------------------------------------------------------------------

    def connection(self, K: Matrix, *, forward: bool) -> tuple[str, str]:
        """The texts of x_2 = K x_1 and of its conjugate; backwards they are inverses."""
        if len(K) == len(K[0]) == 1:
            text = self.texts.expression(K[0][0] if forward else ONE / K[0][0])
            return text, text
        letter = self._matrix("K", K)
        if forward:
            return letter, raised_letter(letter, r"\mathrm{T}")
        return raised_letter(letter, "-1"), raised_letter(letter, r"-\mathrm{T}")


def _linear(block: SchemeBlock) -> Expression:
    if block.gain is None:
        raise NoLanesError
    return block.gain


def _diagonal(matrix: Matrix, text: Callable[[Expression], str]) -> str:
    """A diagonal matrix by its entries; empty where it is none."""
    off = any(entry is not ZERO for i, row in enumerate(matrix) for j, entry in enumerate(row) if i != j)
    if off or len(matrix) != len(matrix[0]):
        return ""
    listed = ",\\,".join(text(row[i]) for i, row in enumerate(matrix))
    return rf"\mathrm{{diag}}\left({listed}\right)"


@final
@dataclass(frozen=True, slots=True)
class _LaneVariable:
    """What a label will say: a letter that gets its number at the end, and the entries where they have names."""

    letter: str
    entries: tuple[str, ...]
    single: bool


@final
class LanePlanner:
    """Turns the vector ladder of a scheme into a plan."""

    def __init__(self, scheme: PogScheme, texts: PogTexts, named: Mapping[str, str] = NO_SYMBOLS) -> None:
        self.scheme = scheme
        self.texts = texts
        self.boxes = _LaneTexts(scheme, texts, named)
        self.columns: list[plans.ColumnPlan] = []
        self.count = 0
        # Labels are given last, since numbers count from left to right and what decides a variable may stand at its right.
        self.variables: dict[str, _LaneVariable] = {}
        self.beyond: tuple[str, ...] = ()
        """The sources behind the last column."""

    def ladder(self) -> plans.LadderPlan:
        """The plan of the lanes.

        Raises: NoLanesError where the model has none, or where their signals go different ways.
        """
        written = lane_ladder(self.scheme)
        # The figure begins at sources: what they give decides which way each line runs, and everything else follows from there.
        first = written.parts[0]
        if not isinstance(first, written_ladder.LadderSection) or first.sources is None or None in first.sources:
            raise NoLanesError
        sources = [piece for piece in first.sources if piece is not None]
        rightward = tuple(self.scheme.elements[piece.name].decides for piece in sources)
        across: tuple[Side, ...] = tuple("across" for _ in sources)
        lanes = _LaneSignals(written.domains, rightward, across)
        decided = lanes.line_of(rightward)
        signs = [piece.sign for piece in sources]
        names = self._names(sources, rightward, signs)
        labels = {line: self._variable(lanes, line, names if line == decided else ()) for line in plans.LINES}
        section = entry = replace(self._section(lanes, labels), given=self._given(sources, signs))
        for k, part in enumerate(written.parts[1:], 1):
            last = k == len(written.parts) - 1
            match part:
                case written_ladder.LadderBlock():
                    lanes, section = self._block(part, lanes, section, closed=last)
                case written_ladder.LadderConnection():
                    lanes, section = self._connection(part, lanes, section)
                case written_ladder.LadderSection() if last:
                    self._end(part, lanes)
                case _:
                    raise NoLanesError
        return self._labelled(self._carrying(plans.LadderPlan(tuple(self.columns), entry)))

    def _carrying(self, ladder: plans.LadderPlan) -> plans.LadderPlan:
        """The ladder whose sections carry the power of all that stands to the right of them."""
        columns: list[plans.ColumnPlan] = []
        # From the right: what passes a section is what all behind it takes, up to the sources at the end.
        carries = self.beyond
        for column in reversed(ladder.columns):
            right = None if column.right is None else replace(column.right, carries=carries)
            if isinstance(column.content, plans.ElementPlan):
                carries = (*column.content.element.split(), *carries)
            left = None if column.left is None else replace(column.left, carries=carries)
            columns.append(replace(column, left=left, right=right))
        entry = None if ladder.entry is None else replace(ladder.entry, carries=carries)
        return plans.LadderPlan(tuple(reversed(columns)), entry)

    # -- labels ----------------------------------------------------------------------------------------------------------------

    def _symbol(self, lanes: _LaneSignals, line: plans.Line) -> str:
        """The letter of the variables on a line: the one of their domain, or a neutral one for several."""
        sides = lanes.side(line)
        # Lanes of several domains share a wire, and no letter of one of them says what all are: across and through variables.
        symbols = {DOMAINS[d].power(side).symbol for d, side in zip(lanes.domains, sides, strict=True)}
        letter = symbols.pop() if len(symbols) == 1 else "a" if sides[0] == "across" else "t"
        if len(sides) == 1:
            return latex_name(letter)
        return bold(letter) if len(letter) == 1 else rf"\boldsymbol{{{latex_name(letter)}}}"

    def _variable(self, lanes: _LaneSignals, line: plans.Line, entries: Sequence[str] = ()) -> str:
        """A token for a variable whose label follows when the ladder is complete: what decides it may stand further on."""
        token = f"@{len(self.variables)}"
        self.variables[token] = _LaneVariable(self._symbol(lanes, line), tuple(entries), len(lanes.domains) == 1)
        return token

    def _name(self, token: str, entries: Sequence[str]) -> None:
        self.variables[token] = replace(self.variables[token], entries=tuple(entries))

    def _names(
        self, pieces: Iterable[written_ladder.LadderElement], sides: Iterable[Side], signs: Iterable[int]
    ) -> list[str]:
        named = zip(pieces, sides, signs, strict=True)
        found = [(sign, name_latex(self.scheme.elements[p.name].port.variable(side))) for p, side, sign in named]
        return [text if sign > 0 else f"-{text}" for sign, text in found]

    def _given(self, pieces: Iterable[written_ladder.LadderElement], signs: Iterable[int]) -> plans.Signed:
        """The inputs of sources, with the signs that they have in their lanes."""
        laws = [self.scheme.elements[piece.name].port.law for piece in pieces]
        return tuple((law.input, sign) for law, sign in zip(laws, signs, strict=True) if isinstance(law, SourceLaw))

    def _labelled(self, ladder: plans.LadderPlan) -> plans.LadderPlan:
        """The ladder with labels for tokens, counted from left to right."""
        labels: dict[str, str] = {}
        for section in ladder.sections():
            for token in () if section is None else (section.upper, section.lower):
                if token not in labels:
                    variable = self.variables[token]
                    named = variable.single and variable.entries
                    labels[token] = (
                        variable.entries[0] if named else self.boxes.vector(variable.letter, variable.entries)
                    )

        # Matrices come behind all vectors in the legend.
        self.boxes.explain()
        return ladder.with_sections(lambda one: replace(one, upper=labels[one.upper], lower=labels[one.lower]))

    def _section(self, lanes: _LaneSignals, labels: dict[plans.Line, str]) -> plans.SectionPlan:
        self.count += 1
        domain = ", ".join(dict.fromkeys(lanes.domains))
        sides = tuple(zip(lanes.domains, lanes.side("upper"), strict=True))
        name, upper, lower, right = str(self.count), labels["upper"], labels["lower"], lanes.upper_goes_right
        return plans.SectionPlan(name, upper, lower, right, "right", domain, lanes=sides, size=len(sides))

    # -- elaboration blocks ----------------------------------------------------------------------------------------------------

    def _block(
        self,
        block: written_ladder.LadderBlock[Expression],
        lanes: _LaneSignals,
        section: plans.SectionPlan,
        *,
        closed: bool,
    ) -> tuple[_LaneSignals, plans.SectionPlan]:
        """The columns of a block, one for each row."""
        ways = block.ways
        shared = tuple(map(written_ladder.given_side, ways))
        line = lanes.line_of(shared)
        rows = self._rows(block, shared)
        for k, (row, decides) in enumerate(rows):
            last = closed and k == len(rows) - 1
            # What decides the shared variable must do so in every lane, else the others would be left without one.
            if decides and len(row.cells) < len(ways):
                raise NoLanesError
            after = replace(lanes, rightward=shared) if decides else lanes
            shared_token = section.label(line)
            if decides:
                pieces = [row.cells[j] for j in range(len(ways))]
                self._name(shared_token, self._names(pieces, shared, [piece.sign for piece in pieces]))
            behind = None
            if not last:
                labels = {line: shared_token, plans.other_line(line): self._variable(lanes, plans.other_line(line))}
                behind = self._section(after, labels)
            self.columns.append(self._column(row, ways, decides, line, section, behind))
            lanes = after
            section = behind or section
        return lanes, section

    def _rows(
        self, block: written_ladder.LadderBlock[Expression], shared: tuple[Side, ...]
    ) -> list[tuple[_LaneRow, bool]]:
        """Rows of lanes that do not meet as one; what decides comes first, then other storages, then static elements."""
        found: list[tuple[_LaneRow, bool]] = []
        for item in block.items:
            row = _row_of(item)
            # One half of a row would give the shared variables and the other half take them: no single block does both.
            decides = only(self.scheme.elements[one.name].decides == shared[k] for k, one in row.cells.items())
            apart = (k for k, (r, d) in enumerate(found) if d == decides and r.cells.keys().isdisjoint(row.cells))
            free = next(apart, len(found))
            other = found[free][0] if free < len(found) else _LaneRow({})
            found[free : free + 1] = [(_LaneRow(other.cells | row.cells, other.fields + row.fields), decides)]

        def stores(row: _LaneRow) -> bool:
            return all(isinstance(self.scheme.elements[one.name].port.law, StorageLaw) for one in row.cells.values())

        return sorted(found, key=lambda pair: (not pair[1], not stores(pair[0])))

    def _column(
        self,
        row: _LaneRow,
        ways: tuple[BlockWay, ...],
        decides: bool,
        line: plans.Line,
        left: plans.SectionPlan,
        right: plans.SectionPlan | None,
    ) -> plans.ColumnPlan:
        to_lower = (line == "lower") == decides
        pieces = [row.cells[j] for j in sorted(row.cells)]
        names = " ".join(self.scheme.elements[piece.name].port.element for piece in pieces)
        weight: Weight = "bold" if len(ways) > 1 else "thin"
        domain = left.domain
        # Texts are made in the order of the figure, since letters are numbered as they are asked for.
        boxes, energy = self.boxes.element(row, len(ways))
        derived = any(self.scheme.elements[p.name].causality == "derivative" for p in pieces)
        way: plans.Way = "down" if to_lower else "up"
        tone: Tone = "warning" if derived else "ink"
        states: plans.Signed = ()
        if boxes[0].part == "integrator" or boxes[-1].integral is not None:
            found = {j: self.scheme.elements[piece.name].port for j, piece in row.cells.items()}
            kept = {j: port.state for j, port in found.items() if isinstance(port.law, StorageLaw)}
            states = tuple((kept.get(j, ""), row.cells[j].sign if j in kept else 1) for j in range(len(ways)))
        element = plans.ElementPlan(names, boxes, way, domain, energy, weight, tone=tone, states=states)
        plan = plans.ColumnPlan(left, right, element, wire_domain=domain)
        return replace(plan, minus=_minus(plan, plans.other_line(line)))

    # -- connections and ends --------------------------------------------------------------------------------------------------

    def _connection(
        self, part: written_ladder.LadderConnection[Expression], lanes: _LaneSignals, section: plans.SectionPlan
    ) -> tuple[_LaneSignals, plans.SectionPlan]:
        """x_2 = K x_1 on the line of x_1, its transpose on the other line; asked backwards where signals go the other way."""
        line = lanes.line_of(part.takes)
        # Asked backwards K has to be inverted, which only a square one can be.
        forward = section.goes_right(line)
        square = len(part.K) == len(part.K[0])
        if not forward and not square:
            raise NoLanesError
        upper = tuple(part.gives) if line == "upper" else tuple(map(other_side, part.gives))
        onwards = tuple(part.gives) if forward else tuple(map(other_side, part.gives))
        after = _LaneSignals(part.domains, onwards, upper)
        own, conjugate = self.boxes.connection(part.K, forward=forward)
        back = transposed(part.K, len(part.K[0]))
        boxes = {
            line: plans.BoxPlan("K", own, matrix=part.K, inverted=not forward),
            plans.other_line(line): plans.BoxPlan("transposed", conjugate, matrix=back, inverted=not forward),
        }
        behind = self._section(after, {at: self._variable(after, at) for at in plans.LINES})
        content = plans.ConnectionPlan(part.name.text, boxes["upper"], boxes["lower"])
        self.columns.append(plans.ColumnPlan(section, behind, content, wire_domain=section.domain))
        return after, behind

    def _end(self, part: written_ladder.LadderSection, lanes: _LaneSignals) -> None:
        """The sources behind the last block name what comes in there."""
        if part.sources is None or None in part.sources:
            raise NoLanesError
        pieces = [piece for piece in part.sources if piece is not None]
        decided = tuple(self.scheme.elements[piece.name].decides for piece in pieces)
        line = lanes.line_of(decided)
        # At this end a through variable comes into the lanes by default, so against the direction in which power counts.
        signs = [-p.sign if side == "through" else p.sign for p, side in zip(pieces, decided, strict=True)]
        names = self._names(pieces, decided, signs)
        section = self.columns[-1].right
        # Sources at the right end must be asked for what runs to the left there, or both ends decide the same variable.
        if section is None or section.goes_right(line):
            raise NoLanesError
        self._name(section.label(line), names)
        self.columns[-1] = replace(self.columns[-1], right=replace(section, given=self._given(pieces, signs)))
        self.beyond = tuple(self.scheme.elements[piece.name].port.element for piece in pieces)


def _minus(plan: plans.ColumnPlan, line: plans.Line) -> frozenset[tuple[plans.Line, plans.End]]:
    """The negated inputs where left = right + element: power counts to the right, and into the element."""
    counts: dict[plans.End, int] = {"left": 1, "right": -1, "vertical": -1}
    comes, goes = plan.ends(line)
    if len(goes) != 1:
        return frozenset()
    return frozenset((line, end) for end in comes if counts[end] == counts[goes[0]])


def has_lanes(scheme: PogScheme) -> bool:
    """Whether several like elements stand side by side in a field, so that lanes say more than a scalar ladder."""
    ports = scheme.causal.graph.ports
    return any(
        len(field.ports) > 1 and not isinstance(ports[field.ports[0]].law, ResistiveLaw)
        for field in scheme.causal.graph.fields
    )
