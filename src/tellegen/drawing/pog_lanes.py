"""The plan of a vector ladder: lanes that run side by side as bold wires, with a matrix in every block.

Power counts as positive to the right. The signals of all lanes must go the same way along each line; a model in which they do not
is drawn as one vector block instead.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import final

from tellegen.core.domains import DOMAINS, Side, other_side
from tellegen.drawing.naming import name_latex
from tellegen.drawing.pog_lane_signals import Lanes
from tellegen.drawing.pog_lane_texts import LaneTexts, Row, all_storages, row_of
from tellegen.drawing.pog_plan import (
    LINES,
    BoxPlan,
    ColumnPlan,
    ConnectionPlan,
    ElementPlan,
    End,
    LadderPlan,
    Line,
    SectionPlan,
)
from tellegen.drawing.pog_texts import Texts, bold
from tellegen.drawing.scene import Weight
from tellegen.expressions import latex_name
from tellegen.graph import ResistiveLaw
from tellegen.schemes.lane_ladders import lane_ladder
from tellegen.schemes.lane_walk import NoLanesError
from tellegen.schemes.pog_scheme import PogScheme
from tellegen.schemes.written import Piece, WrittenBlock, WrittenConnection, WrittenSection, gives
from tellegen.schemes.written import Way as BlockWay


@final
@dataclass(frozen=True, slots=True)
class Variable:
    """What a label will say: a letter that gets its number at the end, and the entries where they have names."""

    letter: str
    entries: tuple[str, ...]
    single: bool


@final
class LanePlanner:
    """Turns the vector ladder of a scheme into a plan."""

    def __init__(self, scheme: PogScheme, texts: Texts) -> None:
        self.scheme = scheme
        self.texts = texts
        self.boxes = LaneTexts(scheme, texts)
        self.columns: list[ColumnPlan] = []
        self.count = 0
        self.variables: dict[str, Variable] = {}
        self.beyond: tuple[str, ...] = ()
        """The sources behind the last column."""

    def ladder(self) -> LadderPlan:
        """The plan of the lanes.

        Raises: NoLanesError where the model has none, or where their signals go different ways.
        """
        written = lane_ladder(self.scheme)
        first = written.parts[0]
        if not isinstance(first, WrittenSection) or None in first.lanes:
            raise NoLanesError
        sources = [piece for piece in first.lanes if piece is not None]
        rightward = tuple(piece.item.decides for piece in sources)
        across: tuple[Side, ...] = tuple("across" for _ in sources)
        lanes = Lanes(written.domains, rightward, across)
        decided = lanes.line_of(rightward)
        names = self._names(sources, rightward)
        labels = {line: self._variable(lanes, line, names if line == decided else ()) for line in LINES}
        section = entry = self._section(lanes, labels)
        for k, part in enumerate(written.parts[1:], 1):
            last = k == len(written.parts) - 1
            match part:
                case WrittenBlock():
                    lanes, section = self._block(part, lanes, section, closed=last)
                case WrittenConnection():
                    lanes, section = self._connection(part, lanes, section)
                case WrittenSection() if last:
                    self._end(part, lanes)
                case _:
                    raise NoLanesError
        return self._labelled(self._carrying(LadderPlan(tuple(self.columns), entry)))

    def _carrying(self, ladder: LadderPlan) -> LadderPlan:
        """The ladder whose sections carry the power of all that stands to the right of them."""
        columns: list[ColumnPlan] = []
        carries = self.beyond
        for column in reversed(ladder.columns):
            right = None if column.right is None else replace(column.right, carries=carries)
            if isinstance(column.content, ElementPlan):
                carries = (*column.content.element.split(), *carries)
            left = None if column.left is None else replace(column.left, carries=carries)
            columns.append(replace(column, left=left, right=right))
        entry = None if ladder.entry is None else replace(ladder.entry, carries=carries)
        return LadderPlan(tuple(reversed(columns)), entry)

    # -- labels ----------------------------------------------------------------------------------------------------------------

    def _symbol(self, lanes: Lanes, line: Line) -> str:
        """The letter of the variables on a line: the one of their domain, or a neutral one for several."""
        sides = lanes.side(line)
        symbols = {DOMAINS[d].power(side).symbol for d, side in zip(lanes.domains, sides, strict=True)}
        letter = symbols.pop() if len(symbols) == 1 else "a" if sides[0] == "across" else "t"
        if len(sides) == 1:
            return latex_name(letter)
        return bold(letter) if len(letter) == 1 else rf"\boldsymbol{{{latex_name(letter)}}}"

    def _variable(self, lanes: Lanes, line: Line, entries: Sequence[str] = ()) -> str:
        """A token for a variable whose label follows when the ladder is complete: what decides it may stand further on."""
        token = f"@{len(self.variables)}"
        self.variables[token] = Variable(self._symbol(lanes, line), tuple(entries), len(lanes.domains) == 1)
        return token

    def _name(self, token: str, entries: Sequence[str]) -> None:
        self.variables[token] = replace(self.variables[token], entries=tuple(entries))

    def _names(self, pieces: Iterable[Piece], sides: Sequence[Side]) -> list[str]:
        return [_signed(name_latex(p.item.port.variable(side)), p.sign) for p, side in zip(pieces, sides, strict=True)]

    def _labelled(self, ladder: LadderPlan) -> LadderPlan:
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

        def said(section: SectionPlan | None) -> SectionPlan | None:
            return (
                None if section is None else replace(section, upper=labels[section.upper], lower=labels[section.lower])
            )

        self.boxes.explain()
        columns = tuple(replace(c, left=said(c.left), right=said(c.right)) for c in ladder.columns)
        return LadderPlan(columns, said(ladder.entry))

    def _section(self, lanes: Lanes, labels: dict[Line, str]) -> SectionPlan:
        self.count += 1
        domain = ", ".join(dict.fromkeys(lanes.domains))
        weight: Weight = "bold" if len(lanes.domains) > 1 else "thin"
        sides = tuple(zip(lanes.domains, lanes.side("upper"), strict=True))
        return SectionPlan(
            str(self.count),
            labels["upper"],
            labels["lower"],
            lanes.upper_goes_right,
            "right",
            domain,
            weight,
            lanes=sides,
            size=len(sides),
        )

    # -- elaboration blocks ----------------------------------------------------------------------------------------------------

    def _block(
        self, block: WrittenBlock, lanes: Lanes, section: SectionPlan, *, closed: bool
    ) -> tuple[Lanes, SectionPlan]:
        """The columns of a block, one for each row."""
        ways = block.ways
        shared = tuple(map(gives, ways))
        line = lanes.line_of(shared)
        rows = self._rows(block, shared)
        for k, (row, decides) in enumerate(rows):
            last = closed and k == len(rows) - 1
            if decides and len(row.cells) < len(ways):
                raise NoLanesError
            after = replace(lanes, rightward=shared) if decides else lanes
            shared_token = section.label(line)
            if decides:
                pieces = [row.cells[j] for j in range(len(ways))]
                self._name(shared_token, self._names(pieces, shared))
            behind = None
            if not last:
                labels = {line: shared_token, _other(line): self._variable(lanes, _other(line))}
                behind = self._section(after, labels)
            self.columns.append(self._column(row, ways, decides, line, section, behind))
            lanes = after
            section = behind or section
        return lanes, section

    def _rows(self, block: WrittenBlock, shared: tuple[Side, ...]) -> list[tuple[Row, bool]]:
        """Rows of lanes that do not meet as one; what decides comes first, then other storages, then static elements."""
        found: list[tuple[Row, bool]] = []
        for item in block.items:
            row = row_of(item)
            decides = {piece.item.decides == shared[lane] for lane, piece in row.cells.items()}
            if len(decides) != 1:
                raise NoLanesError
            free = next(
                (k for k, (r, d) in enumerate(found) if d in decides and r.cells.keys().isdisjoint(row.cells)), None
            )
            if free is None:
                found.append((row, decides.pop()))
            else:
                other, way = found[free]
                found[free] = (Row(other.cells | row.cells, other.fields + row.fields), way)
        return sorted(found, key=lambda pair: (not pair[1], not all_storages(pair[0])))

    def _column(
        self,
        row: Row,
        ways: tuple[BlockWay, ...],
        decides: bool,
        line: Line,
        left: SectionPlan,
        right: SectionPlan | None,
    ) -> ColumnPlan:
        to_lower = (line == "lower") == decides
        pieces = [row.cells[j] for j in sorted(row.cells)]
        names = " ".join(piece.item.port.element for piece in pieces)
        weight: Weight = "bold" if len(ways) > 1 else "thin"
        domain = left.domain
        boxes, energy = self.boxes.element(row, len(ways))
        derived = any(p.item.causality == "derivative" for p in pieces)
        element = ElementPlan(
            names, boxes, "down" if to_lower else "up", domain, energy, weight, "warning" if derived else "ink"
        )
        plan = ColumnPlan(left, right, element, wire_domain=domain)
        return replace(plan, minus=_minus(plan, _other(line)))

    # -- connections and ends --------------------------------------------------------------------------------------------------

    def _connection(self, part: WrittenConnection, lanes: Lanes, section: SectionPlan) -> tuple[Lanes, SectionPlan]:
        """x_2 = K x_1 on the line of x_1, its transpose on the other line; asked backwards where signals go the other way."""
        line = lanes.line_of(part.takes)
        forward = section.goes_right(line)
        square = len(part.K) == len(part.K[0])
        if not forward and not square:
            raise NoLanesError
        upper = tuple(part.gives) if line == "upper" else tuple(map(other_side, part.gives))
        onwards = tuple(part.gives) if forward else tuple(map(other_side, part.gives))
        after = Lanes(part.domains, onwards, upper)
        own, conjugate = self.boxes.connection(part.K, forward=forward)
        boxes = {line: BoxPlan("K", own), _other(line): BoxPlan("transposed", conjugate)}
        behind = self._section(after, {at: self._variable(after, at) for at in LINES})
        content = ConnectionPlan(part.name, boxes["upper"], boxes["lower"])
        self.columns.append(ColumnPlan(section, behind, content, wire_domain=section.domain))
        return after, behind

    def _end(self, part: WrittenSection, lanes: Lanes) -> None:
        """The sources behind the last block name what comes in there."""
        if None in part.lanes:
            raise NoLanesError
        pieces = [piece for piece in part.lanes if piece is not None]
        decided = tuple(piece.item.decides for piece in pieces)
        line = lanes.line_of(decided)
        # At this end a through variable comes into the lanes by default, so against the direction in which power counts.
        signs = [-p.sign if side == "through" else p.sign for p, side in zip(pieces, decided, strict=True)]
        names = [
            _signed(name_latex(p.item.port.variable(side)), sign)
            for p, side, sign in zip(pieces, decided, signs, strict=True)
        ]
        section = self.columns[-1].right
        if section is None or section.goes_right(line):
            raise NoLanesError
        self._name(section.label(line), names)
        self.beyond = tuple(piece.item.port.element for piece in pieces)


def _minus(plan: ColumnPlan, line: Line) -> frozenset[tuple[Line, End]]:
    """The negated inputs where left = right + element: power counts to the right, and into the element."""
    counts: dict[End, int] = {"left": 1, "right": -1, "vertical": -1}
    comes, goes = plan.ends(line)
    if len(goes) != 1:
        return frozenset()
    return frozenset((line, end) for end in comes if counts[end] == counts[goes[0]])


def _other(line: Line) -> Line:
    return "lower" if line == "upper" else "upper"


def _signed(text: str, sign: int) -> str:
    return text if sign > 0 else f"-{text}"


def has_lanes(scheme: PogScheme) -> bool:
    """Whether several like elements stand side by side in a field, so that lanes say more than a scalar ladder."""
    ports = scheme.causal.graph.ports
    return any(
        len(field.ports) > 1 and not isinstance(ports[field.ports[0]].law, ResistiveLaw)
        for field in scheme.causal.graph.fields
    )
