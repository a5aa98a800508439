"""Where the columns and side ladders of a POG go: rows cut to the width of a figure, no two ladders on top of each other."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, pairwise
from string import ascii_uppercase
from typing import final

from tellegen.drawing.options import Options
from tellegen.drawing.pog import measures
from tellegen.drawing.pog.plan import BranchPlan, ColumnPlan, ConnectionPlan, LadderPlan, SectionPlan, earlier_columns
from tellegen.notations.layout import ItemPositions
from tellegen.scenes.geometry import Box, ceil_to, union
from tellegen.scenes.scene import MARGIN

ROOMY = 1.2
"""A row that was one before may be so much wider, and the figure is drawn smaller."""
NOWHERE: ItemPositions = {}
NARROWEST = 320
"""A side ladder has at least this width before it goes on elsewhere."""


@final
class _RowCutter:
    """Cuts ladders that are wider than a figure may be; what is cut off goes on in further rows, under a letter."""

    def __init__(self, max_width: float, earlier: ItemPositions) -> None:
        self.max_width, self.earlier = max_width, earlier
        self.waiting: list[LadderPlan] = []
        self._letters = _letters()

    def fitting(self, ladder: LadderPlan, x: float) -> LadderPlan:
        """The ladder as far as there is room to the right of x, and its side ladders likewise."""
        # The room also has to hold the leads at both ends and the margins; where the ladder is cut, the letters of links too.
        widths = [measures.column_width(column) for column in ladder.columns]
        room = max(self.max_width - x - 2 * (measures.LEAD + MARGIN), NARROWEST)
        if sum(widths) > room:
            room = max(room - 2 * measures.LINK_SPACE, NARROWEST)
        end = _earlier_end(ladder, widths, room, self.earlier) or _end(ladder, widths, room)
        columns: list[ColumnPlan] = []
        right = 0.0
        for column, width in zip(ladder.columns[:end], widths, strict=False):
            content = column.content
            if isinstance(content, BranchPlan):
                start = x + right + width / 2 + measures.BRANCH_SHIFT
                content = replace(content, ladder=self.fitting(content.ladder, start))
            columns.append(replace(column, content=content))
            right += width
        if end < len(ladder.columns):
            return self._cut(ladder, columns, end)
        return replace(ladder, columns=tuple(columns))

    def _cut(self, ladder: LadderPlan, columns: list[ColumnPlan], k: int) -> LadderPlan:
        section = ladder.columns[k].left
        assert section is not None, "a ladder is cut at a section"
        # The section is drawn twice, at the end of this row and at the start of the next: under K here and K' there.
        letter = next(self._letters)
        rest = list(ladder.columns[k:])
        start = replace(section, link=f"{letter}'")
        rest[0] = replace(rest[0], left=start)
        self.waiting.append(LadderPlan(tuple(rest), start))
        columns[-1] = replace(columns[-1], right=replace(section, link=letter))
        return replace(ladder, columns=tuple(columns))


def _end(ladder: LadderPlan, widths: Sequence[float], room: float) -> int:
    """How many columns stand in a row: as many as there is room for, or about half of them where few would be left alone."""
    starts = list(accumulate(widths, initial=0.0))
    cuts = [k for k, column in enumerate(ladder.columns) if k and column.left is not None]
    end = next((k for k in cuts if starts[k + 1] > room), len(widths))
    # A rest of less than half a row would stand nearly alone below a full one.
    left = starts[-1] - starts[end]
    if not 0 < left < starts[end] / 2:
        return end
    # A row starts behind a connection where it can, with what moves together.
    fitting = [k for k in cuts if k <= end and starts[-1] - starts[k] <= room]
    behind = [k for k in fitting if isinstance(ladder.columns[k - 1].content, ConnectionPlan)]
    return min(behind or fitting, key=lambda k: abs(starts[k] - starts[-1] / 2))


def _earlier_end(ladder: LadderPlan, widths: Sequence[float], room: float, earlier: ItemPositions) -> int:
    """How many columns stood in a row of an earlier figure; 0 where that is not known, or where there is no room for them now."""
    places = earlier_columns(ladder, earlier)
    starts = list(accumulate(widths, initial=0.0))
    end = len(widths)
    # Where a column stands left of the one before it, the earlier figure began a new row between the two.
    for one, two in pairwise(places):
        if places[two][0] <= places[one][0]:
            cuts = [k for k in range(one + 1, two + 1) if ladder.columns[k].left is not None]
            end = max((k for k in cuts if starts[k] <= ROOMY * room), default=0)
            break
    return end if places and starts[end] <= ROOMY * room else 0


def _letters() -> Iterator[str]:
    yield from ascii_uppercase
    for first in _letters():
        for second in ascii_uppercase:
            yield first + second


def rows_of(ladders: Iterable[LadderPlan], max_width: float, earlier: ItemPositions = NOWHERE) -> list[LadderPlan]:
    """The ladders as rows that are not wider than a figure may be, cut where they were in an earlier figure."""
    rows = _RowCutter(max_width, earlier)
    rows.waiting = list(ladders)
    found: list[LadderPlan] = []
    while rows.waiting:
        # What is cut off a ladder comes directly below it, before the other ladders.
        ladder = rows.waiting.pop(0)
        ahead, rows.waiting = rows.waiting, []
        found.append(rows.fitting(ladder, 0))
        rows.waiting += ahead
    return found


@final
@dataclass(frozen=True, slots=True)
class LadderSpacing:
    """How much room is needed above and below the lines of a ladder."""

    above: float
    below: float
    drop: float
    """From the lower line of a ladder to the upper line of a side ladder below."""
    rise: float
    """From the upper line of a ladder to the lower line of a side ladder above."""
    branch_section: float
    """From the lower line of a ladder to the section across the wires of a side ladder below."""
    raised_section: float
    """The same from its upper line to that of a side ladder above."""
    earlier: ItemPositions = field(default_factory=dict)
    """Where elements stood in an earlier figure: side ladders stay on their side."""

    @staticmethod
    def of(options: Options) -> "LadderSpacing":
        """The room that what the options ask for takes."""
        arrows = measures.ARROW_SPACE if options.power_directions else 0
        numbers = measures.NUMBER_SPACE if options.section_numbers else 0
        captions = measures.CAPTION_BELOW + 6 - measures.BAND_BELOW if options.shows_captions else 0
        drop = measures.BRANCH_DROP + arrows + numbers
        above, below = measures.BAND_ABOVE + numbers, measures.BAND_BELOW + arrows + captions
        sections = measures.BRANCH_SECTION + arrows, measures.BRANCH_SECTION + numbers
        return LadderSpacing(above, below, drop, drop + captions, *sections, options.earlier.places)


@final
@dataclass(frozen=True, slots=True)
class PlacedBranch:
    """A side ladder: `x`, `y` lead from the origin of its parent to its own."""

    column: int
    ladder: "PlacedLadder"
    x: float
    y: float
    above: bool


@final
@dataclass(frozen=True, slots=True)
class PlacedLadder:
    """A ladder about the point where its first section meets its upper line; `borders` are the places of its sections."""

    plan: LadderPlan
    borders: tuple[float, ...]
    height: float
    branches: tuple[PlacedBranch, ...]
    extent: Box
    bare: Box
    """Without the side ladders."""

    def middle(self, column: int) -> float:
        """The x of the middle of a column."""
        return (self.borders[column] + self.borders[column + 1]) / 2


def place_ladder(plan: LadderPlan, space: LadderSpacing, *, side: str = "") -> PlacedLadder:
    """A ladder with its side ladders placed: those of a main ladder below and above in turn, others away from the main one."""
    borders = [0.0]
    for column in plan.columns:
        borders.append(borders[-1] + measures.column_width(column))
    height = measures.ladder_height(plan.columns)
    left = -measures.LEAD - _link(plan.entry) if plan.entry is not None else 0.0
    last = plan.columns[-1].right if plan.columns else None
    right = borders[-1] + (0 if last is None else measures.LEAD + _link(last))
    bare = Box(left, -space.above, right, height + space.below)
    # A source at a branch has no ladder, only two stubs beyond its section.
    if side and not plan.columns:
        return PlacedLadder(plan, tuple(borders), 0, (), Box(-1, 0, 1, measures.STUB), Box(-1, 0, 1, measures.STUB))
    branches = tuple(_branches(plan, borders, height, space, side))
    boxes = [branch.ladder.extent.moved(branch.x, branch.y) for branch in branches]
    return PlacedLadder(plan, tuple(borders), height, branches, union([bare, *boxes]), bare)


def _link(section: SectionPlan | None) -> float:
    return measures.LINK_SPACE if section is not None and section.link else 0


def _branches(
    plan: LadderPlan, borders: list[float], height: float, space: LadderSpacing, side: str
) -> Iterator[PlacedBranch]:
    """From right to left: wires to the ladders further left then pass none of those that are placed."""
    numbers = [k for k, column in enumerate(plan.columns) if isinstance(column.content, BranchPlan)]
    taken: dict[bool, list[Box]] = {False: [], True: []}
    for place, k in reversed(list(enumerate(numbers))):
        content = plan.columns[k].content
        assert isinstance(content, BranchPlan), "only branches have side ladders"
        above = side == "above" or (not side and _is_above(plan, content.ladder, place, space.earlier))
        ladder = place_ladder(content.ladder, space, side="above" if above else "below")
        middle = (borders[k] + borders[k + 1]) / 2
        if not content.ladder.columns:
            # Stubs stay next to the line, and ladders placed later go round them.
            y = -(space.branch_section + measures.STUB) if above else height + space.branch_section
            ring = _link(content.ladder.entry)
            taken[above].append(Box(borders[k], y - ring, borders[k + 1], y + measures.STUB + ring))
            yield PlacedBranch(k, ladder, middle, y, above)
            continue
        # Its first section stands so far from the wires that the labels of it keep clear of them.
        clear = measures.PORT_HALF + measures.GRID + measures.label_width(content.ladder.entry) / 2
        x = ceil_to(middle + max(measures.BRANCH_SHIFT, clear), measures.GRID)
        y = _free_level(ladder, x, middle, height, space, taken[above], above=above)
        taken[above].append(_with_elbow(ladder, x, y, middle))
        yield PlacedBranch(k, ladder, x, y, above)


def _is_above(plan: LadderPlan, side: LadderPlan, number: int, earlier: ItemPositions) -> bool:
    """Whether a side ladder stands above: where it did, else every second one."""
    here, there = (next(iter(earlier_columns(ladder, earlier).values()), None) for ladder in (plan, side))
    if here is None or there is None or here[1] == there[1]:
        return number % 2 == 1
    return there[1] < here[1]


def _with_elbow(ladder: PlacedLadder, x: float, y: float, middle: float) -> Box:
    box = ladder.extent.moved(x, y)
    return Box(min(box.left, middle - measures.PORT_HALF - measures.GRID), box.top, box.right, box.bottom)


def _free_level(
    ladder: PlacedLadder, x: float, middle: float, height: float, space: LadderSpacing, taken: list[Box], *, above: bool
) -> float:
    """The y of a side ladder, as near to its parent as what is placed already allows."""
    box = _with_elbow(ladder, x, 0, middle)
    # What hangs on the near side of a side ladder needs room too.
    # Then it is pushed away from the line past everything whose width it shares, however far apart the ladders are in height.
    near = -ladder.extent.top - space.above if not above else ladder.extent.bottom - ladder.height - space.below
    y = -(space.rise + near + ladder.height) if above else height + space.drop + near
    for other in taken:
        if box.left < other.right + measures.GAP and other.left < box.right + measures.GAP:
            over, under = other.top - measures.GAP - box.bottom, other.bottom + measures.GAP - box.top
            y = min(y, over) if above else max(y, under)
    return -ceil_to(-y, 2) if above else ceil_to(y, 2)


def stack(ladders: Iterable[PlacedLadder]) -> list[float]:
    """The y of each ladder, one under the other."""
    found: list[float] = []
    bottom = 0.0
    for ladder in ladders:
        y = 0.0 if not found else ceil_to(bottom + measures.GAP - ladder.extent.top, measures.GRID)
        found.append(y)
        bottom = y + ladder.extent.bottom
    return found
