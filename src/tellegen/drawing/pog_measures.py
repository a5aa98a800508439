"""Measures of POG figures, in units, and the sizes of what has a text."""

from math import ceil

from tellegen.drawing.typesetting import set_math, set_words

GRID = 10
HEIGHT = 170
"""From the upper to the lower line of a ladder."""
LEAD = 34
MARGIN = 26
SECTION_OVERHANG = 16
UPPER_LABEL, LOWER_LABEL = 25, 36
"""From a line to the baseline of its labels."""
BAND_ABOVE, BAND_BELOW = 48, 46
CAPTION_BELOW = 66
BAND_MARGIN, CAPTION_MARGIN = 22, 8
PLAIN_MARGIN, PLAIN_BOTTOM = 4, 10
"""Margins above and below the room that ladders ask for, with bands, with captions, and with neither."""
TEXT, FRACTION, SMALL, NOTE = 17.0, 15.0, 14.0, 12.0
SUM_RADIUS = 9
PORT_HALF = 14
"""From the middle of a branch column to each of its two wires."""
PORT_WIDTH = 110
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


def ceil_to(value: float, step: float) -> float:
    """The next multiple of a step."""
    return ceil(value / step - 1e-9) * step


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
    size = text_size(latex)
    ink = set_math(latex, size).box
    width = max(40 if connection else 36, ceil_to(ink.width + 14, 2))
    padding = 8 if size == FRACTION else 12
    return width, max(34 if connection else 30, ceil_to(ink.height + padding, 2))
