"""Where the columns and side ladders of a POG go: widths, heights, rows, and no two ladders on top of each other."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import final

from tellegen.description.layouts import Places
from tellegen.drawing.earlier import earlier_places
from tellegen.drawing.geometry import Box, union
from tellegen.drawing.options import Options
from tellegen.drawing.pog_measures import (
    ARROW_SPACE,
    BAND_ABOVE,
    BAND_BELOW,
    BRANCH_DROP,
    BRANCH_SECTION,
    BRANCH_SHIFT,
    CAPTION_BELOW,
    GAP,
    GRID,
    LEAD,
    LINK_SPACE,
    NUMBER_SPACE,
    PORT_HALF,
    STUB,
    TEXT,
    ceil_to,
    width_of,
)
from tellegen.drawing.pog_plan import (
    BranchPlan,
    LadderPlan,
    SectionPlan,
    earlier_columns,
)
from tellegen.drawing.pog_widths import column_width, ladder_height


@final
@dataclass(frozen=True, slots=True)
class Space:
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
    earlier: Places = field(default_factory=dict)
    """Where elements stood in an earlier figure: side ladders stay on their side."""

    @staticmethod
    def of(options: Options) -> "Space":
        """The room that what the options ask for takes."""
        arrows = ARROW_SPACE if options.power_directions else 0
        numbers = NUMBER_SPACE if options.section_numbers else 0
        captions = CAPTION_BELOW + 6 - BAND_BELOW if options.shows_captions else 0
        drop = BRANCH_DROP + arrows + numbers
        above, below = BAND_ABOVE + numbers, BAND_BELOW + arrows + captions
        sections = BRANCH_SECTION + arrows, BRANCH_SECTION + numbers
        return Space(above, below, drop, drop + captions, *sections, earlier_places(options))


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


def place_ladder(plan: LadderPlan, space: Space, *, side: str = "") -> PlacedLadder:
    """A ladder with its side ladders placed: those of a main ladder below and above in turn, others away from the main one."""
    borders = [0.0]
    for column in plan.columns:
        borders.append(borders[-1] + column_width(column))
    height = ladder_height(plan.columns)
    left = -LEAD - _link(plan.entry) if plan.entry is not None else 0.0
    last = plan.columns[-1].right if plan.columns else None
    right = borders[-1] + (0 if last is None else LEAD + _link(last))
    bare = Box(left, -space.above, right, height + space.below)
    if side and not plan.columns:
        return PlacedLadder(plan, tuple(borders), 0, (), Box(-1, 0, 1, STUB), Box(-1, 0, 1, STUB))
    branches = tuple(_branches(plan, borders, height, space, side))
    boxes = [branch.ladder.extent.moved(branch.x, branch.y) for branch in branches]
    return PlacedLadder(plan, tuple(borders), height, branches, union([bare, *boxes]), bare)


def _link(section: SectionPlan | None) -> float:
    return LINK_SPACE if section is not None and section.link else 0


def _branches(plan: LadderPlan, borders: list[float], height: float, space: Space, side: str) -> Iterator[PlacedBranch]:
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
            y = -(space.branch_section + STUB) if above else height + space.branch_section
            ring = _link(content.ladder.entry)
            taken[above].append(Box(borders[k], y - ring, borders[k + 1], y + STUB + ring))
            yield PlacedBranch(k, ladder, middle, y, above)
            continue
        x = ceil_to(middle + _shift(content.ladder.entry), GRID)
        y = _free_level(ladder, x, middle, height, space, taken[above], above=above)
        taken[above].append(_with_elbow(ladder, x, y, middle))
        yield PlacedBranch(k, ladder, x, y, above)


def _is_above(plan: LadderPlan, side: LadderPlan, number: int, earlier: Places) -> bool:
    """Whether a side ladder stands above: where it did, else every second one."""
    here, there = (next(iter(earlier_columns(ladder, earlier).values()), None) for ladder in (plan, side))
    if here is None or there is None or here[1] == there[1]:
        return number % 2 == 1
    return there[1] < here[1]


def _shift(entry: SectionPlan | None) -> float:
    """From the middle of a branch column to the first section of its side ladder, whose labels keep clear of the wires."""
    label = max(width_of(entry.upper, TEXT), width_of(entry.lower, TEXT)) if entry is not None else 0
    return max(BRANCH_SHIFT, PORT_HALF + GRID + label / 2)


def _with_elbow(ladder: PlacedLadder, x: float, y: float, middle: float) -> Box:
    box = ladder.extent.moved(x, y)
    return Box(min(box.left, middle - PORT_HALF - GRID), box.top, box.right, box.bottom)


def _free_level(
    ladder: PlacedLadder, x: float, middle: float, height: float, space: Space, taken: list[Box], *, above: bool
) -> float:
    """The y of a side ladder, as near to its parent as what is placed already allows."""
    box = _with_elbow(ladder, x, 0, middle)
    # What hangs on the near side of a side ladder needs room too.
    near = -ladder.extent.top - space.above if not above else ladder.extent.bottom - ladder.height - space.below
    y = -(space.rise + near + ladder.height) if above else height + space.drop + near
    for other in taken:
        if box.left < other.right + GAP and other.left < box.right + GAP:
            y = min(y, other.top - GAP - box.bottom) if above else max(y, other.bottom + GAP - box.top)
    return -ceil_to(-y, 2) if above else ceil_to(y, 2)


def stack(ladders: Iterable[PlacedLadder]) -> list[float]:
    """The y of each ladder, one under the other."""
    found: list[float] = []
    bottom = 0.0
    for ladder in ladders:
        y = 0.0 if not found else ceil_to(bottom + GAP - ladder.extent.top, GRID)
        found.append(y)
        bottom = y + ladder.extent.bottom
    return found
