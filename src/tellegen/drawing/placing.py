"""Where the ink of a label lies."""

from dataclasses import dataclass
from functools import lru_cache
from typing import final

from tellegen.drawing.geometry import Box, Point, hull
from tellegen.drawing.scene import Label
from tellegen.drawing.typesetting import Outline, Typeset, set_math, set_words

SLANT = 0.21
"""Slanted words lean by 12 degrees, as an oblique sans serif does."""


@final
@dataclass(frozen=True, slots=True)
class PlacedText:
    """A typeset text, and the point where the left end of its baseline goes."""

    text: Typeset
    start: Point

    @property
    def box(self) -> Box:
        """The extent of its ink on the figure."""
        return self.text.box.moved(*self.start)


def typeset(label: Label) -> Typeset:
    """The outlines of a label about the left end of its baseline."""
    if label.math:
        return set_math(label.text, label.size)
    words = set_words(label.text, label.size)
    return _leaning(words) if label.slanted else words


def place(label: Label) -> PlacedText:
    """Its outlines and where they go: ink is centred on the point of the label, or starts or ends there."""
    text = typeset(label)
    x, y = label.at
    box = text.box
    left = {"centre": x - (box.left + box.right) / 2, "left": x - box.left, "right": x - box.right}[label.align]
    return PlacedText(text, (left, y if label.level == "baseline" else y - (box.top + box.bottom) / 2))


def label_box(label: Label) -> Box:
    """The extent of the ink of a label."""
    return place(label).box


@lru_cache(maxsize=1024)
def _leaning(text: Typeset) -> Typeset:
    outlines = tuple(_lean(outline) for outline in text.outlines)
    points = [point for outline in outlines for _, ends in outline for point in ends]
    return Typeset(outlines, hull(points) if points else text.box)


def _lean(outline: Outline) -> Outline:
    return tuple((letter, tuple((x - SLANT * y, y) for x, y in points)) for letter, points in outline)
