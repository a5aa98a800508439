"""Columns of a scalar POG that say nothing: a junction without elements, and an ideal sensor, which takes no power.

Nobody draws them by hand. The sections on both sides of such a column have the same power, so that one of them is enough; what a
sensor reads is told under the figure.
"""

from collections.abc import Callable
from dataclasses import replace

from tellegen.drawing.pog_plan import ColumnPlan, ElementPlan, End, LadderPlan, Line, SectionPlan

IsSensor = Callable[[str], bool]


def without_bare_columns(ladder: LadderPlan, is_sensor: IsSensor) -> LadderPlan:
    """The ladder without the columns that say nothing; the ladder itself where no others would be left."""
    kept: list[ColumnPlan] = []
    before: SectionPlan | None = None  # the section that stands for that behind a column left out
    for column in ladder.columns:
        moved = column if before is None else replace(column, left=before)
        if not _is_bare(moved, is_sensor):
            kept.append(moved)
            before = None
        elif moved.right is not None:
            before = moved.left
        elif kept and isinstance(kept[-1].content, ElementPlan):
            kept[-1] = replace(kept[-1], right=None, minus=_without_right(kept[-1]))
        else:
            return ladder
    return replace(ladder, columns=tuple(kept)) if kept else ladder


def _is_bare(column: ColumnPlan, is_sensor: IsSensor) -> bool:
    if column.left is None or column.left.link or (column.right is not None and column.right.link):
        return False
    if isinstance(column.content, ElementPlan):
        return is_sensor(column.content.element)
    return column.content is None and column.right is not None and not column.minus


def _without_right(column: ColumnPlan) -> frozenset[tuple[Line, End]]:
    """The negated inputs of a column behind which nothing stands any more."""
    return frozenset(place for place in column.minus if place[1] != "right")
