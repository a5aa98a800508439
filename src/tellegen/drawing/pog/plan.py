"""What a POG figure shows, before anything has a place: ladders of columns between power sections.

Scalar ladders, vector lanes and single vector blocks all become a plan, and one layout draws them. Signals have directions only;
where a line has a summation, where a branch dot and where a bare corner follows from them by one rule (`node_kind`).
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, final

from tellegen.core.domains import Side
from tellegen.notations.layout import ItemPositions
from tellegen.scenes.scene import Tone, Weight
from tellegen.schemes.pog_scheme import Direction, Matrix

Line = Literal["upper", "lower"]
LINES: tuple[Line, Line] = ("upper", "lower")
End = Literal["left", "right", "vertical"]
Way = Literal["down", "up"]
NodeKind = Literal["sum", "dot", "bend", "zero", "end", "none"]


Signed = tuple[tuple[str, int], ...]
"""Names of variables, each with the sign with which it stands in a vector."""


def other_line(line: Line) -> Line:
    """The line across."""
    return "lower" if line == "upper" else "upper"


@final
@dataclass(frozen=True, slots=True)
class SectionPlan:
    """A power section with its labels (LaTeX). The upper variable goes right or left, the lower one the other way.

    `link` is the letter under which a ladder goes on elsewhere. `lanes` are the domains of a vector section, each with the side of
    its upper variable, and `size` tells how many variables each line has. `carries` are the sections of the scheme and the elements
    whose powers make up its power; none where that is not known. `given` are the inputs that come in at the end of a ladder.
    """

    name: str
    upper: str
    lower: str
    upper_goes_right: bool
    direction: Direction
    domain: str
    link: str = ""
    lanes: tuple[tuple[str, Side], ...] = ()
    carries: tuple[str, ...] = ()
    size: int = 1
    given: Signed = ()

    @property
    def weight(self) -> Weight:
        """Of its wires: bold for vectors."""
        return "bold" if self.size > 1 else "thin"

    @property
    def first_domain(self) -> str:
        """The domain of its first lane: what a figure that knows one domain a line is coloured by."""
        return self.domain.partition(",")[0]

    def goes_right(self, line: Line) -> bool:
        """Whether the signal on a line goes to the right."""
        return self.upper_goes_right == (line == "upper")

    def label(self, line: Line) -> str:
        """The variable on a line."""
        return self.upper if line == "upper" else self.lower


@final
@dataclass(frozen=True, slots=True)
class BoxPlan:
    """A block with its text (LaTeX). `side` are further inputs, which come in from the right; `value` is written beside it.

    `matrix` is what it multiplies by, or its inverse where it is `inverted`; none where no matrix says it. A matrix of transfer
    functions also multiplies the integral of what comes in, by `integral`.
    """

    part: str
    text: str
    side: str = ""
    value: str = ""
    matrix: Matrix | None = None
    inverted: bool = False
    integral: Matrix | None = None


@final
@dataclass(frozen=True, slots=True)
class ElementPlan:
    """An elaboration block: boxes in the order of the signal, which runs down or up; `energy` labels the wire between them.

    `states` are the variables that come out of one that stores, empty names where a lane stores nothing.
    """

    element: str
    boxes: tuple[BoxPlan, ...]
    way: Way
    domain: str
    energy: str = ""
    weight: Weight = "thin"
    tone: Tone = "ink"
    states: Signed = ()


@final
@dataclass(frozen=True, slots=True)
class IntegralPlan:
    """Blocks that make displacements of the signal on the lower line, from left to right; `label` is what comes out of them."""

    boxes: tuple[BoxPlan, ...]
    label: str
    weight: Weight = "thin"


@final
@dataclass(frozen=True, slots=True)
class ConnectionPlan:
    """A connection block: a box on each line."""

    element: str
    upper: BoxPlan
    lower: BoxPlan

    def box(self, line: Line) -> BoxPlan:
        """The box on a line."""
        return self.upper if line == "upper" else self.lower


@final
@dataclass(frozen=True, slots=True)
class BranchPlan:
    """A side ladder. `comes_in` says for each line whether its vertical wire brings a signal.

    `crossed` tells that the upper variable is on the lower line of the side ladder, and the reverse.
    """

    ladder: "LadderPlan"
    comes_in: Mapping[Line, bool]
    crossed: bool = False

    def line_there(self, line: Line) -> Line:
        """The line of the side ladder that goes on with a line of this one."""
        return other_line(line) if self.crossed else line


@final
@dataclass(frozen=True, slots=True)
class ColumnPlan:
    """One column between two sections (None: nothing stands there). `minus` are the negated inputs of its summations.

    `integral` stands to the right of the last column of a ladder, and gives no power back.
    """

    left: SectionPlan | None
    right: SectionPlan | None
    content: ElementPlan | ConnectionPlan | BranchPlan | None
    minus: frozenset[tuple[Line, End]] = frozenset()
    wire_domain: str = ""
    integral: IntegralPlan | None = None

    def ends(self, line: Line) -> tuple[list[End], list[End]]:
        """The ends from which signals come to the node on a line, and those to which they go."""
        comes: list[End] = []
        goes: list[End] = []
        # Power sections carry two variables that run against each other, so each line says by itself where its signal comes from.
        if self.left is not None:
            (comes if self.left.goes_right(line) else goes).append("left")
        if self.right is not None:
            (goes if self.right.goes_right(line) else comes).append("right")
        elif self.integral is not None and line == "lower":
            goes.append("right")
        match self.content:
            case ElementPlan(way=way):
                (comes if (way == "down") == (line == "lower") else goes).append("vertical")
            case BranchPlan(comes_in=comes_in):
                (comes if comes_in[line] else goes).append("vertical")
            case _:
                pass
        return comes, goes

    def node_kind(self, line: Line) -> NodeKind:
        """What stands where wires meet: signals that come together are summed, one that goes to two places has a branch dot."""
        comes, goes = self.ends(line)
        # A single negated signal needs a summation too: nothing else on the line could carry its sign.
        if len(comes) > 1 or any((line, end) in self.minus for end in comes):
            return "sum"
        if not comes:
            return "zero" if goes else "none"
        if len(goes) > 1:
            return "dot"
        return "bend" if goes else "end"


@final
@dataclass(frozen=True, slots=True)
class LadderPlan:
    """Columns from left to right; `entry` is the section at the left end."""

    columns: tuple[ColumnPlan, ...]
    entry: SectionPlan | None = None

    def sections(self) -> list[SectionPlan | None]:
        """The sections from left to right, one more than there are columns."""
        return [self.entry, *(column.right for column in self.columns)]

    def with_sections(self, told: Callable[[SectionPlan], SectionPlan]) -> "LadderPlan":
        """The ladder, and its side ladders, with other sections in the places of its own; columns are asked from left to right."""
        entry = None if self.entry is None else told(self.entry)
        columns: list[ColumnPlan] = []
        for column in self.columns:
            content = column.content
            if isinstance(content, BranchPlan):
                content = replace(content, ladder=content.ladder.with_sections(told))
            left, right = (None if one is None else told(one) for one in (column.left, column.right))
            columns.append(replace(column, left=left, right=right, content=content))
        return LadderPlan(tuple(columns), entry)

    def all_sections(self) -> Iterator[SectionPlan]:
        """The sections of this ladder and of its side ladders."""
        # Loops with a list of what waits: side ladders of side ladders may be deeper than Python's stack.
        ladders = [self, *(c.content.ladder for c in self.all_columns() if isinstance(c.content, BranchPlan))]
        for ladder in ladders:
            yield from (section for section in ladder.sections() if section is not None)

    def all_columns(self) -> Iterator[ColumnPlan]:
        """The columns of this ladder and of its side ladders."""
        waiting: list[LadderPlan] = [self]
        while waiting:
            for column in waiting.pop().columns:
                yield column
                if isinstance(column.content, BranchPlan):
                    waiting.append(column.content.ladder)


@final
@dataclass(frozen=True, slots=True)
class FigurePlan:
    """All ladders of a figure, the equations that say what their letters mean (LaTeX), and notes in words."""

    title: str
    about: str
    ladders: tuple[LadderPlan, ...]
    legend: tuple[str, ...] = ()
    notes: tuple[str, ...] = field(default=())


def elements_along_ladders(plan: FigurePlan) -> tuple[tuple[str, ...], ...]:
    """The elements along each ladder, from left to right; a ladder comes before those at its side."""
    found: list[tuple[str, ...]] = []
    waiting = list(reversed(plan.ladders))
    while waiting:
        columns = waiting.pop().columns
        found.append(tuple(c.content.element for c in columns if isinstance(c.content, ElementPlan | ConnectionPlan)))
        waiting += reversed([c.content.ladder for c in columns if isinstance(c.content, BranchPlan)])
    return tuple(found)


def earlier_columns(ladder: LadderPlan, earlier: ItemPositions) -> dict[int, tuple[float, float]]:
    """Where the columns of a ladder stood in an earlier figure, by their numbers."""
    found: dict[int, tuple[float, float]] = {}
    for k, column in enumerate(ladder.columns):
        names = column.content.element.split() if isinstance(column.content, ElementPlan | ConnectionPlan) else []
        place = next((earlier[name] for name in names if name in earlier), None)
        if place is not None:
            found[k] = place
    return found
