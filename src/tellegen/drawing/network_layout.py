"""Places for one connected part of a schematic: stations on a line, elements between neighbours on it, the others above it.

Every station has three cells: lanes on its left for lines that go up from there, its body, and lanes on its right; a gap follows.
Symbols above the line stand in gaps, where no line goes up, so that nothing ever lies on a symbol.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import final

from tellegen.description.model import Element
from tellegen.drawing.network_bodies import CLEAR, PAD, Body, BodyMaker, Measure
from tellegen.drawing.network_boxes import LANE, Box, Pin, make_box
from tellegen.drawing.network_plan import Link, Plan, Station
from tellegen.drawing.symbols_oneports import symbol_of
from tellegen.drawing.symbols_twoports import MID, ROW

BESIDE = 9.0
"""Between a symbol on the line and the station next to it."""
ABOVE = 14.0
"""Between a line and what is below it."""
CELLS = 4
LEFT, BODY, RIGHT, GAP = range(CELLS)


@final
@dataclass(slots=True)
class Arc:
    """A link above the line: the cells where it goes up, their lanes, its height, and the gap in which its symbol stands."""

    link: Link
    cells: tuple[int, int]
    ends: tuple[str, str]
    gap: int
    x: list[float]
    height: float = 0.0


@final
@dataclass(slots=True)
class Layout:
    """Everything that has a place. Cells have a left end and a width; `rows` are links on the line, by the gap they are in."""

    plan: Plan
    place: Mapping[str, int]
    heights: Mapping[str, float]
    bodies: dict[int, Body]
    boxes: dict[int, Box]
    rows: dict[int, Link]
    arcs: list[Arc]
    lefts: list[float]
    widths: list[float]

    def start(self, station: int) -> float:
        """The left end of the body of a station."""
        return self.lefts[CELLS * station + BODY]

    def middle(self, station: int) -> float:
        """The middle of the symbol of a station with ports."""
        return self.start(station) + self.boxes[station].left + self._before(station)

    def _before(self, station: int) -> float:
        return self.widths[CELLS * station + BODY] - self.boxes[station].left - self.boxes[station].right - self.after[station]

    @property
    def after(self) -> dict[int, float]:
        """The room behind the symbols of stations with ports, for labels."""
        return self._after

    _after: dict[int, float]
