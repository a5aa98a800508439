"""Measures of POG figures, in units, and where columns and side ladders go: in rows as wide as a figure may be, none on another."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, pairwise
from string import ascii_uppercase
from typing import final

from tellegen.drawing.options import Options
from tellegen.drawing.pog import plan as plans
from tellegen.notations.layout import ItemPositions
from tellegen.scenes.geometry import Box, ceil_to, union
from tellegen.scenes.scene import MARGIN
from tellegen.scenes.typesetting import set_math, set_words

# Sections stand on this grid, so that ladders over each other can be compared.
GRID = 10
HEIGHT = 170
"""From the upper to the lower line of a ladder."""
# A wire that comes from outside: long enough for its arrowhead and for the ring of a link letter to stand clear.
LEAD = 34
SECTION_OVERHANG = 16
UPPER_LABEL, LOWER_LABEL = 25, 36
"""From a line to the baseline of its labels."""
# Bands hold the labels over and under the lines; captions stand below the band, clear of the labels inside it.
BAND_ABOVE, BAND_BELOW = 48, 46
CAPTION_BELOW = 66
BAND_MARGIN, CAPTION_MARGIN = 22, 8
PLAIN_MARGIN, PLAIN_BOTTOM = 4, 10
"""Margins above and below the room that ladders ask for, with bands, with captions, and with neither."""
TEXT, FRACTION, SMALL, NOTE = 17.0, 15.0, 14.0, 12.0
PORT_HALF = 14
"""From the middle of a branch column to each of its two wires."""
PORT_WIDTH = 110
# A side ladder: its section lies across its two wires at the first distance from the line; its own upper line is at the drop,
# below that section and its labels, and its first own section is shifted so that the elbows of the wires have room.
BRANCH_SECTION, BRANCH_OVERHANG = 62, 22
BRANCH_DROP = 118
BRANCH_SHIFT = 60
STUB = 40
"""A source at a branch: how far its wires go beyond their section."""
GAP = 20
"""Between ladders that stand over each other."""
FREE_GAP = 28
"""The least length of a vertical wire between two boxes."""
ARROW_BELOW, ARROW_LENGTH, ARROW_SPACE = 52, 22, 28
NUMBER_SPACE = 16
LINK_SPACE = 34
"""Room for the letter of a link beyond a lead."""
SIDE_WIRE = 26
"""The wire of a further input of a block."""


def text_size(latex: str) -> float:
    """Fractions are set smaller, as in print."""
    return FRACTION if r"\frac" in latex else TEXT


def width_of(latex: str, size: float) -> float:
    """The width of the ink of a formula."""
    return set_math(latex, size).box.width if latex else 0


def words_width(text: str, size: float) -> float:
    """The width of the ink of words."""
    return set_words(text, size).box.width if text else 0


def box_size(latex: str, *, connection: bool = False) -> tuple[float, float]:
    """The width and height of the box round a text."""
    # Even sizes, so that the middle of a box, where its wire comes in, is on a whole unit.
    size = text_size(latex)
    ink = set_math(latex, size).box
    width = max(40 if connection else 36, ceil_to(ink.width + 14, 2))
    padding = 8 if size == FRACTION else 12
    return width, max(34 if connection else 30, ceil_to(ink.height + padding, 2))


def column_width(column: plans.ColumnPlan) -> float:
    """The width of a column: its content, and room for the labels of its sections."""
    match column.content:
        case plans.ElementPlan() as element:
            own = _element_width(element)
        case plans.ConnectionPlan() as connection:
            boxes = (connection.upper, connection.lower)
            widest = max(box_size(box.text, connection=True)[0] for box in boxes)
            values = (width_of(box.value, SMALL) + 16 for box in boxes)
            # A tall block reaches to the level of the labels, which stand half in this column.
            own = max(100, widest + 60, widest + label_width(column.left, column.right) + 8, *values)
        case plans.BranchPlan(ladder=ladder):
            # Its wires pass between the labels, which stand half in this column.
            own = max(_port_width(ladder.entry), 2 * PORT_HALF + label_width(column.left, column.right) + 8)
        case None:
            own = 60
    # A label is centred on its section and stands half in each of the columns beside it.
    sections = [section for section in (column.left, column.right) if section is not None]
    upper, lower = (sum(width_of(one.label(line), TEXT) for one in sections) / 2 + 14 for line in plans.LINES)
    return ceil_to(max(own, upper, lower), GRID)


def _element_width(element: plans.ElementPlan) -> float:
    # The wire runs in the middle, so whatever stands only at its right takes the same room at its left.
    halves = [45.0, 8 + width_of(element.energy, SMALL) + 8]
    for box in element.boxes:
        half = box_size(box.text)[0] / 2
        halves.append(half + 28)
        if box.side:
            halves.append(half + SIDE_WIRE + 4 + width_of(box.side, SMALL) + 10)
        if box.value:
            halves.append(half + 5 + width_of(box.value, SMALL) + 10)
    return 2 * max(halves)


def _port_width(entry: plans.SectionPlan | None) -> float:
    beside = PORT_HALF + BRANCH_OVERHANG + 6 + label_width(entry) + 5
    return PORT_WIDTH if entry is None else max(PORT_WIDTH, 2 * beside)


def label_width(*sections: plans.SectionPlan | None) -> float:
    """The width of the widest variable at some sections."""
    texts = (text for section in sections if section is not None for text in (section.upper, section.lower))
    return max((width_of(text, TEXT) for text in texts), default=0)


def ladder_height(columns: Iterable[plans.ColumnPlan]) -> float:
    """From the upper to the lower line."""
    tallest: float = HEIGHT
    for column in columns:
        if isinstance(column.content, plans.ElementPlan):
            boxes = [box_size(box.text)[1] for box in column.content.boxes]
            tallest = max(tallest, sum(boxes) + FREE_GAP * (len(boxes) + 1))
        elif isinstance(column.content, plans.ConnectionPlan):
            # Boxes stand on the lines, half of each between them; values are written on their inner sides.
            upper, lower = column.content.upper, column.content.lower
            boxes = [box_size(box.text, connection=True)[1] for box in (upper, lower)]
            values = 24.0 * sum(1 for box in (upper, lower) if box.value)
            tallest = max(tallest, sum(boxes) / 2 + 60 + values)
    return ceil_to(tallest, GRID)


# -- rows --------------------------------------------------------------------------------------------------------------------------

ROOMY = 1.2
"""A row that was one before, or that would leave a column alone, may be so much wider, and the figure is drawn smaller."""
NOWHERE: ItemPositions = {}
NARROWEST = 320
"""A side ladder has at least this width before it goes on elsewhere."""


@final
class _RowCutter:
    """Cuts ladders that are wider than a figure may be; what is cut off goes on in further rows, under a letter."""

    def __init__(self, max_width: float, earlier: ItemPositions) -> None:
        self.max_width, self.earlier = max_width, earlier
        self.waiting: list[plans.LadderPlan] = []
        self._letters = _letters()

    def fitting(self, ladder: plans.LadderPlan, x: float) -> plans.LadderPlan:
        """The ladder as far as there is room to the right of x, and its side ladders likewise."""
        # The room also has to hold the leads at both ends and the margins; where the ladder is cut, the letters of links too.
        widths = [column_width(column) for column in ladder.columns]
        room = max(self.max_width - x - 2 * (LEAD + MARGIN), NARROWEST)
        if sum(widths) > room:
            room = max(room - 2 * LINK_SPACE, NARROWEST)
        end = _earlier_end(ladder, widths, room, self.earlier) or _end(ladder, widths, room)
        columns: list[plans.ColumnPlan] = []
        right = 0.0
        for column, width in zip(ladder.columns[:end], widths, strict=False):
            content = column.content
            if isinstance(content, plans.BranchPlan):
                start = x + right + width / 2 + BRANCH_SHIFT
                content = replace(content, ladder=self.fitting(content.ladder, start))
            columns.append(replace(column, content=content))
            right += width
        if end < len(ladder.columns):
            return self._cut(ladder, columns, end)
        return replace(ladder, columns=tuple(columns))

    def _cut(self, ladder: plans.LadderPlan, columns: list[plans.ColumnPlan], k: int) -> plans.LadderPlan:
        section = ladder.columns[k].left
        assert section is not None, "a ladder is cut at a section"
        # The section is drawn twice, at the end of this row and at the start of the next: under K here and K' there.
        letter = next(self._letters)
        rest = list(ladder.columns[k:])
        start = replace(section, link=f"{letter}'")
        rest[0] = replace(rest[0], left=start)
        self.waiting.append(plans.LadderPlan(tuple(rest), start))
        columns[-1] = replace(columns[-1], right=replace(section, link=letter))
        return replace(ladder, columns=tuple(columns))


def _end(ladder: plans.LadderPlan, widths: Sequence[float], room: float) -> int:
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
    behind = [k for k in fitting if isinstance(ladder.columns[k - 1].content, plans.ConnectionPlan)]
    found = min(behind or fitting, key=lambda k: abs(starts[k] - starts[-1] / 2))
    # A column alone in a row is worse than a figure that is drawn a little smaller.
    alone = 1 in (found, len(widths) - found)
    return len(widths) if alone and starts[-1] <= ROOMY * room else found


def _earlier_end(ladder: plans.LadderPlan, widths: Sequence[float], room: float, earlier: ItemPositions) -> int:
    """How many columns stood in a row of an earlier figure; 0 where that is not known, or where there is no room for them now."""
    places = plans.earlier_columns(ladder, earlier)
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


def rows_of(
    ladders: Iterable[plans.LadderPlan], max_width: float, earlier: ItemPositions = NOWHERE
) -> list[plans.LadderPlan]:
    """The ladders as rows that are not wider than a figure may be, cut where they were in an earlier figure."""
    rows = _RowCutter(max_width, earlier)
    rows.waiting = list(ladders)
    found: list[plans.LadderPlan] = []
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
        arrows = ARROW_SPACE if options.power_directions else 0
        numbers = NUMBER_SPACE if options.section_numbers else 0
        captions = CAPTION_BELOW + 6 - BAND_BELOW if options.shows_captions else 0
        drop = BRANCH_DROP + arrows + numbers
        above, below = BAND_ABOVE + numbers, BAND_BELOW + arrows + captions
        sections = BRANCH_SECTION + arrows, BRANCH_SECTION + numbers
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

    plan: plans.LadderPlan
    borders: tuple[float, ...]
    height: float
    branches: tuple[PlacedBranch, ...]
    extent: Box
    bare: Box
    """Without the side ladders."""

    def middle(self, column: int) -> float:
        """The x of the middle of a column."""
        return (self.borders[column] + self.borders[column + 1]) / 2


def place_ladder(plan: plans.LadderPlan, space: LadderSpacing, *, side: str = "") -> PlacedLadder:
    """A ladder with its side ladders placed: those of a main ladder below and above in turn, others away from the main one."""
    borders = [0.0]
    for column in plan.columns:
        borders.append(borders[-1] + column_width(column))
    height = ladder_height(plan.columns)
    last = plan.columns[-1].right if plan.columns else None
    left, right = -_room_beyond(plan.entry), borders[-1] + _room_beyond(last)
    bare = Box(left, -space.above, right, height + space.below)
    # A source at a branch has no ladder, only two stubs beyond its section.
    if side and not plan.columns:
        return PlacedLadder(plan, tuple(borders), 0, (), Box(-1, 0, 1, STUB), Box(-1, 0, 1, STUB))
    branches = tuple(_branches(plan, borders, height, space, side))
    boxes = [branch.ladder.extent.moved(branch.x, branch.y) for branch in branches]
    return PlacedLadder(plan, tuple(borders), height, branches, union([bare, *boxes]), bare)


def _room_beyond(section: plans.SectionPlan | None) -> float:
    """What stands beyond the section at an end of a ladder: its lead, and half of a name that is longer than that."""
    return 0.0 if section is None else max(LEAD + _link(section), label_width(section) / 2)


def _link(section: plans.SectionPlan | None) -> float:
    return LINK_SPACE if section is not None and section.link else 0


def _branches(
    plan: plans.LadderPlan, borders: list[float], height: float, space: LadderSpacing, side: str
) -> Iterator[PlacedBranch]:
    """From right to left: wires to the ladders further left then pass none of those that are placed."""
    numbers = [k for k, column in enumerate(plan.columns) if isinstance(column.content, plans.BranchPlan)]
    taken: dict[bool, list[Box]] = {False: [], True: []}
    for place, k in reversed(list(enumerate(numbers))):
        content = plan.columns[k].content
        assert isinstance(content, plans.BranchPlan), "only branches have side ladders"
        above = side == "above" or (not side and _is_above(plan, content.ladder, place, space.earlier))
        ladder = place_ladder(content.ladder, space, side="above" if above else "below")
        middle = (borders[k] + borders[k + 1]) / 2
        if not content.ladder.columns:
            # Stubs stay next to the line, and ladders placed later go round them.
            y = -(space.branch_section + STUB) if above else height + space.branch_section
            ring = _link(content.ladder.entry)
            taken[above].append(Box(borders[k], y - ring, borders[k + 1], y + STUB + ring))
            yield PlacedBranch(k, ladder, middle, y, above)
            continue
        # Its first section stands so far from the wires that the labels of it keep clear of them.
        clear = PORT_HALF + GRID + label_width(content.ladder.entry) / 2
        x = ceil_to(middle + max(BRANCH_SHIFT, clear), GRID)
        y = _free_level(ladder, x, middle, height, space, taken[above], above=above)
        taken[above].append(_with_elbow(ladder, x, y, middle))
        yield PlacedBranch(k, ladder, x, y, above)


def _is_above(plan: plans.LadderPlan, side: plans.LadderPlan, number: int, earlier: ItemPositions) -> bool:
    """Whether a side ladder stands above: where it did, else every second one."""
    here, there = (next(iter(plans.earlier_columns(ladder, earlier).values()), None) for ladder in (plan, side))
    if here is None or there is None or here[1] == there[1]:
        return number % 2 == 1
    return there[1] < here[1]


def _with_elbow(ladder: PlacedLadder, x: float, y: float, middle: float) -> Box:
    box = ladder.extent.moved(x, y)
    return Box(min(box.left, middle - PORT_HALF - GRID), box.top, box.right, box.bottom)


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
        if box.left < other.right + GAP and other.left < box.right + GAP:
            over, under = other.top - GAP - box.bottom, other.bottom + GAP - box.top
            y = min(y, over) if above else max(y, under)
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
