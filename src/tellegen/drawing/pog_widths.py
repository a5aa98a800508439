"""The widths of POG columns and the height of ladders, from the texts in them."""

from collections.abc import Iterable

from tellegen.drawing.pog_measures import (
    BRANCH_OVERHANG,
    FREE_GAP,
    GRID,
    HEIGHT,
    PORT_HALF,
    PORT_WIDTH,
    SIDE_WIRE,
    SMALL,
    TEXT,
    box_size,
    ceil_to,
    width_of,
)
from tellegen.drawing.pog_plan import BoxPlan, BranchPlan, ColumnPlan, ConnectionPlan, ElementPlan, SectionPlan


def column_width(column: ColumnPlan) -> float:
    """The width of a column: its content, and room for the labels of its sections."""
    match column.content:
        case ElementPlan() as element:
            own = _element_width(element)
        case ConnectionPlan() as connection:
            boxes = (connection.upper, connection.lower)
            widest = max(box_size(box.text, connection=True)[0] for box in boxes)
            values = (width_of(box.value, SMALL) + 16 for box in boxes)
            # A tall block reaches to the level of the labels, which stand half in this column.
            own = max(100, widest + 60, widest + _widest_label(column) + 8, *values)
        case BranchPlan(ladder=ladder):
            own = _port_width(ladder.entry)
        case None:
            own = 60
    labels = max((_label_width(column, upper=upper) for upper in (True, False)), default=0)
    return ceil_to(max(own, labels), GRID)


def _element_width(element: ElementPlan) -> float:
    halves = [45.0, 8 + width_of(element.energy, SMALL) + 8]
    for box in element.boxes:
        half = box_size(box.text)[0] / 2
        halves.append(half + 28)
        if box.side:
            halves.append(half + SIDE_WIRE + 4 + width_of(box.side, SMALL) + 10)
        if box.value:
            halves.append(half + 5 + width_of(box.value, SMALL) + 10)
    return 2 * max(halves)


def _port_width(entry: SectionPlan | None) -> float:
    if entry is None:
        return PORT_WIDTH
    label = max(width_of(entry.upper, TEXT), width_of(entry.lower, TEXT))
    return max(PORT_WIDTH, 2 * (PORT_HALF + BRANCH_OVERHANG + 6 + label + 5))


def _widest_label(column: ColumnPlan) -> float:
    sections = [section for section in (column.left, column.right) if section is not None]
    return max((width_of(text, TEXT) for section in sections for text in (section.upper, section.lower)), default=0)


def _label_width(column: ColumnPlan, *, upper: bool) -> float:
    labels = [s.upper if upper else s.lower for s in (column.left, column.right) if s is not None]
    return sum(width_of(label, TEXT) for label in labels) / 2 + 14


def element_height(element: ElementPlan) -> float:
    """The height that the boxes of an element need between the lines."""
    return sum(box_size(box.text)[1] for box in element.boxes) + FREE_GAP * (len(element.boxes) + 1)


def ladder_height(columns: Iterable[ColumnPlan]) -> float:
    """From the upper to the lower line."""
    tallest: float = HEIGHT
    for column in columns:
        if isinstance(column.content, ElementPlan):
            tallest = max(tallest, element_height(column.content))
        elif isinstance(column.content, ConnectionPlan):
            boxes = (column.content.upper, column.content.lower)
            tallest = max(tallest, sum(box_size(b.text, connection=True)[1] for b in boxes) / 2 + 60 + _values(boxes))
    return ceil_to(tallest, GRID)


def _values(boxes: Iterable[BoxPlan]) -> float:
    return 24.0 * sum(1 for box in boxes if box.value)
