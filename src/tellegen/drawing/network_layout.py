"""Places for one connected part of a schematic: stations on a line, elements between neighbours on it, the others above it.

Every station has three cells: lanes on its left for lines that go up from there, its body, and lanes on its right; a gap follows.
Symbols above the line stand in gaps, where no line goes up, so that nothing ever lies on a symbol.
"""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import final

from tellegen.description.model import Element
from tellegen.drawing.network_bodies import CLEAR, BodyMaker, Measure
from tellegen.drawing.network_boxes import LANE, Box, make_box
from tellegen.drawing.network_pieces import Body
from tellegen.drawing.network_plan import Link, Plan
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
    """A link above the line, from its left end to its right end: the cells where it goes up, the lanes there, its height.

    `flipped` says whether its left end is the second of the link; `gap` is the cell of its symbol.
    """

    link: Link
    cells: tuple[int, int]
    flipped: bool
    gap: int
    left: float = 0.0
    right: float = 0.0
    height: float = 0.0


@final
class Layout:
    """Places for everything in a plan."""

    def __init__(
        self,
        plan: Plan,
        text: Callable[[Element], str],
        measure: Measure,
        joined: tuple[bool, bool] = (False, False),
    ) -> None:
        """`joined` says whether a line leads on from the first station to the left, and from the last to the right."""
        self.plan, self.text, self.measure, self.joined = plan, text, measure, joined
        self.place = {station.key: k for k, station in enumerate(plan.stations)}
        self.rows = {s.key: MID if s.is_shaft else ROW for s in plan.stations if s.element is None}
        self._terminals: dict[str, list[Link]] = defaultdict(list)
        for link in plan.links:
            if link.terminal >= 0:
                self._terminals[link.first].append(link)
        self.boxes: dict[int, Box] = {k: self._box(k) for k, s in enumerate(plan.stations) if s.element is not None}
        self.on_line: dict[int, Link] = {}
        self.arcs: list[Arc] = []
        for link in plan.links:
            self._sort(link)
        self._climbing = {cell for arc in self.arcs for cell in arc.cells}
        self.bodies: dict[int, Body] = {k: self._body(k) for k, s in enumerate(plan.stations) if s.element is None}
        self.lanes = self._lanes()
        self.lefts, self.widths = self._cells()
        self._lift()

    # -- what goes where -------------------------------------------------------------------------------------------------------

    def _box(self, k: int) -> Box:
        station = self.plan.stations[k]
        assert station.element is not None, "a node has no ports"
        text = self.text(station.element)
        own = self._terminals[station.key]
        return make_box(station, own, self.place, self.rows, (text, *self.measure(text)))

    def _sort(self, link: Link) -> None:
        """On the line between neighbours, or above it."""
        one, two = self.place[link.first], self.place[link.second]
        gap = min(one, two)
        if abs(one - two) == 1 and gap not in self.on_line and self._meets_line(link, one, two):
            self.on_line[gap] = link
            return
        first = CELLS * one + (RIGHT if one < two else LEFT)
        second = CELLS * two + (LEFT if one < two else RIGHT)
        if link.terminal >= 0:
            edge = self.boxes[one].pins[link.terminal].edge
            first = CELLS * one + {"left": LEFT, "crown": BODY, "right": RIGHT}[edge]
        flipped = first > second
        cells = (second, first) if flipped else (first, second)
        middle = (min(one, two) + max(one, two) - 1) // 2
        self.arcs.append(Arc(link, cells, flipped, CELLS * middle + GAP))

    def _meets_line(self, link: Link, one: int, two: int) -> bool:
        if link.terminal < 0:
            return True
        pin = self.boxes[one].pins[link.terminal]
        return pin.edge == ("right" if one < two else "left") and pin.meets[1] == self.rows[link.second]

    def _body(self, k: int) -> Body:
        station = self.plan.stations[k]
        ends = k == 0 and self.joined[0], k == len(self.plan.stations) - 1 and self.joined[1]
        free_left = (
            not (station.before or ends[0]) and k - 1 not in self.on_line and CELLS * k + LEFT not in self._climbing
        )
        free_right = (
            not (station.after or ends[1]) and k not in self.on_line and CELLS * k + RIGHT not in self._climbing
        )
        return BodyMaker(station, self.text, self.measure).make((free_left, free_right))

    # -- along the line --------------------------------------------------------------------------------------------------------

    def _lanes(self) -> dict[int, list[tuple[Arc, bool]]]:
        """The arcs that go up in each cell from left to right, and whether it is their left end. Inner arcs are outermost."""
        found: dict[int, list[tuple[Arc, bool]]] = defaultdict(list)
        # Of arcs between the same cells the first is lowest, so that it is inside at both ends.
        for arc in self.arcs:
            found[arc.cells[1]].append((arc, False))
        for arc in reversed(self.arcs):
            found[arc.cells[0]].append((arc, True))
        for ends in found.values():
            # Those that go to the left come first, the nearest outermost; then those to the right, the nearest last.
            ends.sort(key=lambda end: (end[1], -end[0].cells[1] if end[1] else -end[0].cells[0]))
        return found

    def _cells(self) -> tuple[list[float], list[float]]:
        lefts: list[float] = []
        widths: list[float] = []
        standing: dict[int, list[Link]] = defaultdict(list)
        for arc in self.arcs:
            standing[arc.gap].append(arc.link)
        x = 0.0
        for k in range(len(self.plan.stations)):
            lanes = [LANE * len(self.lanes.get(CELLS * k + side, ())) for side in (LEFT, RIGHT)]
            for width in (lanes[0], self._body_width(k), lanes[1], self._gap(k, standing[CELLS * k + GAP])):
                lefts.append(x)
                widths.append(width)
                x += width
        return lefts, widths

    def _body_width(self, k: int) -> float:
        if k in self.boxes:
            return self.boxes[k].before + self.boxes[k].after
        return self.bodies[k].width

    def _gap(self, k: int, above: list[Link]) -> float:
        if k == len(self.plan.stations) - 1:
            return 0.0
        links = [link for link in (*above, self.on_line.get(k)) if link is not None and link.element is not None]
        row = self.on_line.get(k)
        least = LANE if row is not None and row.element is None else 2 * LANE
        return max([least, *(self._span(link) + 2 * BESIDE for link in links)])

    def _span(self, link: Link) -> float:
        assert link.element is not None, "a plain wire has no symbol"
        return max(symbol_of(link.element.kind).length, self.measure(self.text(link.element))[0])

    # -- above the line --------------------------------------------------------------------------------------------------------

    def _lift(self) -> None:
        """Give lanes to the ends of arcs, then heights to arcs: the short ones are nearest to the line."""
        for cell, ends in self.lanes.items():
            for number, (arc, is_left) in enumerate(ends):
                x = self._lane(cell, number, arc)
                if is_left:
                    arc.left = x
                else:
                    arc.right = x
        tops = self._tops()
        for arc in sorted(self.arcs, key=lambda arc: arc.cells[1] - arc.cells[0]):
            self._raise(arc, tops)

    def _lane(self, cell: int, number: int, arc: Arc) -> float:
        if cell % CELLS == BODY:
            k = cell // CELLS
            return self.middle(k) + self.boxes[k].pins[arc.link.terminal].at[0]
        return self.lefts[cell] + (number + 0.5) * LANE

    def middle(self, k: int) -> float:
        """The middle of the symbol of a station with ports."""
        return self.lefts[CELLS * k + BODY] + self.boxes[k].before

    def _tops(self) -> list[float]:
        """How high each cell reaches so far."""
        tops: list[float] = []
        for k in range(len(self.plan.stations)):
            if k in self.boxes:
                tops += [self.boxes[k].top] * 3
            else:
                tops += [self.bodies[k].row, self.bodies[k].top, self.bodies[k].row]
            tops.append(self._gap_top(k))
        return tops

    def _gap_top(self, k: int) -> float:
        link = self.on_line.get(k)
        if link is None:
            return MID
        row = self.rows[link.second]
        return row if link.element is None else row - self.height_of(link)

    def height_of(self, link: Link) -> float:
        """From the axis of a symbol to the top of its label."""
        assert link.element is not None, "a plain wire has no symbol"
        return symbol_of(link.element.kind).up + CLEAR + self.measure(self.text(link.element))[1]

    def _raise(self, arc: Arc, tops: list[float]) -> None:
        first, last = arc.cells
        element = arc.link.element
        height = min(tops[first : last + 1]) - ABOVE
        if element is not None:
            height = min(height, tops[arc.gap] - symbol_of(element.kind).down - CLEAR)
        arc.height = height
        tops[first : last + 1] = [height] * (last + 1 - first)
        if element is not None:
            tops[arc.gap] = height - self.height_of(arc.link)
