"""Cuts ladders that are wider than a figure may be into rows, with a letter at both ends of each cut."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise
from string import ascii_uppercase
from typing import final

from tellegen.description.layouts import Places
from tellegen.drawing.pog_measures import BRANCH_SHIFT, LEAD, LINK_SPACE, MARGIN
from tellegen.drawing.pog_plan import BranchPlan, ColumnPlan, ConnectionPlan, LadderPlan, earlier_columns
from tellegen.drawing.pog_widths import column_width

ROOMY = 1.2
"""A row that was one before may be so much wider, and the figure is drawn smaller."""
NOWHERE: Places = {}
NARROWEST = 320
"""A side ladder has at least this width before it goes on elsewhere."""


@final
class Rows:
    """Cuts ladders that are wider than a figure may be; what is cut off goes on in further rows, under a letter."""

    def __init__(self, max_width: float, earlier: Places) -> None:
        self.max_width, self.earlier = max_width, earlier
        self.waiting: list[LadderPlan] = []
        self._letters = _letters()

    def fitting(self, ladder: LadderPlan, x: float) -> LadderPlan:
        """The ladder as far as there is room to the right of x, and its side ladders likewise."""
        widths = [column_width(column) for column in ladder.columns]
        room = max(self.max_width - x - 2 * (LEAD + MARGIN), NARROWEST)
        if sum(widths) > room:
            room = max(room - 2 * LINK_SPACE, NARROWEST)
        end = _earlier_end(ladder, widths, room, self.earlier) or _end(ladder, widths, room)
        columns: list[ColumnPlan] = []
        right = 0.0
        for column, width in zip(ladder.columns[:end], widths, strict=False):
            columns.append(self._with_branch(column, x + right + width / 2))
            right += width
        if end < len(ladder.columns):
            return self._cut(ladder, columns, end)
        return replace(ladder, columns=tuple(columns))

    def _with_branch(self, column: ColumnPlan, x: float) -> ColumnPlan:
        if not isinstance(column.content, BranchPlan):
            return column
        fitting = self.fitting(column.content.ladder, x + BRANCH_SHIFT)
        return replace(column, content=replace(column.content, ladder=fitting))

    def _cut(self, ladder: LadderPlan, columns: list[ColumnPlan], k: int) -> LadderPlan:
        section = ladder.columns[k].left
        assert section is not None, "a ladder is cut at a section"
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
    left = starts[-1] - starts[end]
    if not 0 < left < starts[end] / 2:
        return end
    # A row starts behind a connection where it can, with what moves together.
    fitting = [k for k in cuts if k <= end and starts[-1] - starts[k] <= room]
    behind = [k for k in fitting if isinstance(ladder.columns[k - 1].content, ConnectionPlan)]
    return min(behind or fitting, key=lambda k: abs(starts[k] - starts[-1] / 2))


def _earlier_end(ladder: LadderPlan, widths: Sequence[float], room: float, earlier: Places) -> int:
    """How many columns stood in a row of an earlier figure; 0 where that is not known, or where there is no room for them now."""
    places = earlier_columns(ladder, earlier)
    starts = list(accumulate(widths, initial=0.0))
    end = len(widths)
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


def rows_of(ladders: Iterable[LadderPlan], max_width: float, earlier: Places = NOWHERE) -> list[LadderPlan]:
    """The ladders as rows that are not wider than a figure may be, cut where they were in an earlier figure."""
    rows = Rows(max_width, earlier)
    rows.waiting = list(ladders)
    found: list[LadderPlan] = []
    while rows.waiting:
        ladder = rows.waiting.pop(0)
        ahead, rows.waiting = rows.waiting, []
        found.append(rows.fitting(ladder, 0))
        rows.waiting += ahead
    return found
