"""Measures of POG figures, in units, and the sizes of texts, columns and ladders."""

from collections.abc import Iterable

from tellegen.drawing.pog.plan import LINES, BranchPlan, ColumnPlan, ConnectionPlan, ElementPlan, SectionPlan
from tellegen.scenes.geometry import ceil_to
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
            own = max(100, widest + 60, widest + label_width(column.left, column.right) + 8, *values)
        case BranchPlan(ladder=ladder):
            own = _port_width(ladder.entry)
        case None:
            own = 60
    # A label is centred on its section and stands half in each of the columns beside it.
    sections = [section for section in (column.left, column.right) if section is not None]
    upper, lower = (sum(width_of(one.label(line), TEXT) for one in sections) / 2 + 14 for line in LINES)
    return ceil_to(max(own, upper, lower), GRID)


def _element_width(element: ElementPlan) -> float:
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


def _port_width(entry: SectionPlan | None) -> float:
    beside = PORT_HALF + BRANCH_OVERHANG + 6 + label_width(entry) + 5
    return PORT_WIDTH if entry is None else max(PORT_WIDTH, 2 * beside)


def label_width(*sections: SectionPlan | None) -> float:
    """The width of the widest variable at some sections."""
    texts = (text for section in sections if section is not None for text in (section.upper, section.lower))
    return max((width_of(text, TEXT) for text in texts), default=0)


def ladder_height(columns: Iterable[ColumnPlan]) -> float:
    """From the upper to the lower line."""
    tallest: float = HEIGHT
    for column in columns:
        if isinstance(column.content, ElementPlan):
            boxes = [box_size(box.text)[1] for box in column.content.boxes]
            tallest = max(tallest, sum(boxes) + FREE_GAP * (len(boxes) + 1))
        elif isinstance(column.content, ConnectionPlan):
            # Boxes stand on the lines, half of each between them; values are written on their inner sides.
            upper, lower = column.content.upper, column.content.lower
            boxes = [box_size(box.text, connection=True)[1] for box in (upper, lower)]
            values = 24.0 * sum(1 for box in (upper, lower) if box.value)
            tallest = max(tallest, sum(boxes) / 2 + 60 + values)
    return ceil_to(tallest, GRID)
