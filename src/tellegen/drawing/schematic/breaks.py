"""Where a schematic that is too wide is broken: into rows, or into pieces for narrow columns, with the same letter at both ends
of each break.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import accumulate, pairwise
from typing import final

from tellegen.drawing.schematic.bodies import LabelMeasure
from tellegen.drawing.schematic.layout import BODY, CELLS, RIGHT, SchematicLayout
from tellegen.drawing.schematic.plan import SchematicLink, SchematicPlan, Station
from tellegen.model.model import Element

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def split_into_rows(plan: SchematicPlan, layout: SchematicLayout, width: float, used: int) -> list[SchematicPlan]:
    """The rows of a plan, as few as fit; one where it is narrow enough. `used` letters are taken by other plans."""
    last = len(plan.stations) - 1
    if layout.width <= width or last == 0:
        return [plan]
    cuts = [0]
    places = _places(layout)
    for k, following in pairwise([*places, last]):
        if _right(layout, following) - layout.lefts[CELLS * cuts[-1] + BODY] > width and k > cuts[-1]:
            cuts.append(k)
    return _rows(plan, [*cuts, last], used)


def break_letter(number: int) -> str:
    """A, B, ..., Z, A1, B1, ..."""
    turn, place = divmod(number, len(LETTERS))
    return LETTERS[place] + (str(turn) if turn else "")


def _right(layout: SchematicLayout, k: int) -> float:
    return layout.lefts[CELLS * k + RIGHT] + layout.widths[CELLS * k + RIGHT]


def _places(layout: SchematicLayout) -> list[int]:
    """The nodes over which no line goes."""
    over = [0] * (CELLS * len(layout.plan.stations) + 1)
    for arc in layout.arcs:
        over[arc.cells[0] + 1] += 1
        over[arc.cells[1]] -= 1
    covered = list(accumulate(over))
    inner = range(1, len(layout.plan.stations) - 1)
    over_lines = [range(min(held), max(held)) for held in _stations_of_lines(layout.plan)]
    return [
        k
        for k in inner
        if k in layout.bodies and covered[CELLS * k + RIGHT] == 0 and not any(k in line for line in over_lines)
    ]


def _stations_of_lines(plan: SchematicPlan) -> list[list[int]]:
    """The stations from which something leads to each return line, or hangs from it."""
    held: dict[str, list[int]] = {}
    for k, station in enumerate(plan.stations):
        nodes = station.element.nodes if station.element is not None else ()
        ends = [end for item in station.hanging for end in (item.line, item.reference)]
        for line in {*nodes, *ends} & plan.returns.keys():
            held.setdefault(line, []).append(k)
    return list(held.values())


def _rows(plan: SchematicPlan, cuts: list[int], used: int) -> list[SchematicPlan]:
    place = {station.key: k for k, station in enumerate(plan.stations)}
    rows: list[SchematicPlan] = []
    links: list[list[SchematicLink]] = [[] for _ in cuts[1:]]
    row_of = [row for row, (start, end) in enumerate(pairwise(cuts)) for _ in range(start, end)]
    for link in plan.links:
        links[row_of[min(place[link.first], place[link.second])]].append(link)
    for row, (start, end) in enumerate(pairwise(cuts)):
        stations = list(plan.stations[start : end + 1])
        if start:
            stations[0] = replace(stations[0], hanging=[], port="", before=break_letter(used + row - 1))
        if end < len(plan.stations) - 1:
            stations[-1] = replace(stations[-1], after=break_letter(used + row))
        rows.append(SchematicPlan(tuple(stations), tuple(links[row]), plan.rail_ports, plan.returns))
    return rows


def split_into_pieces(
    plan: SchematicPlan, text: Callable[[Element], str], measure: LabelMeasure, width: float, used: int
) -> tuple[list[SchematicPlan], int]:
    """Pieces of a plan, each as long as it can be without being wider, and how many letters tie them together.

    A plan with return lines stays whole: these pass below all of it. `used` letters are taken by other plans.
    """
    if plan.returns:
        return [plan], 0
    pieces = _Pieces(plan, text, measure, width, used)
    return pieces.plans, len(pieces.letters)


@final
class _Pieces:
    def __init__(
        self, plan: SchematicPlan, text: Callable[[Element], str], measure: LabelMeasure, width: float, used: int
    ) -> None:
        self.plan, self.text, self.measure, self.width = plan, text, measure, width
        self.place = {station.key: k for k, station in enumerate(plan.stations)}
        self.letters = {
            station.key: "M" for station in plan.stations
        }  # as wide as any, until it is known who needs one
        pieces = [*self._pieces()]
        shown = Counter(station.key for start, end in pieces for station in self._stations(start, end))
        shared = [station.key for station in plan.stations if shown[station.key] > 1]
        self.letters = {key: break_letter(used + k) for k, key in enumerate(shared)}
        self.plans = [self._piece(start, end) for start, end in pieces]

    def _pieces(self) -> Iterator[tuple[int, int]]:
        """The first and the last station of each piece: nodes at which it is cut, or the ends of the plan."""
        last = len(self.plan.stations) - 1
        start = 0
        while start < last or start == 0:
            ends = [k for k in range(start + 1, last) if self.plan.stations[k].element is None]
            end = next(iter(ends), last)
            for k in [*ends, last]:
                if self._width(start, k) > self.width:
                    break
                end = k
            yield start, end
            if end >= last:
                return
            start = end

    def _width(self, start: int, end: int) -> float:
        return SchematicLayout(self._piece(start, end), self.text, self.measure).width

    def _piece(self, start: int, end: int) -> SchematicPlan:
        return SchematicPlan(self._stations(start, end), tuple(self._links(start, end)), self.plan.rail_ports)

    def _links(self, start: int, end: int) -> Iterator[SchematicLink]:
        """What is drawn in a piece: all terminals of its elements, and what leads on from its nodes to the right."""
        last = len(self.plan.stations) - 1
        for link in self.plan.links:
            one, two = self.place[link.first], self.place[link.second]
            at = one if link.terminal >= 0 else min(one, two)
            if start <= at < end or at == end == last:
                yield link

    def _stations(self, start: int, end: int) -> tuple[Station, ...]:
        """The stations of a piece, and copies of the nodes elsewhere that its links lead to."""
        own = list(self.plan.stations[start : end + 1])
        if start:
            own[0] = replace(own[0], hanging=[], port="")
        inside = {station.key for station in own}
        near = dict.fromkeys(key for link in self._links(start, end) for key in (link.first, link.second))
        # A node at which a piece is cut needs no copy where nothing is joined to it.
        own = [station for station in own if station.key in near or station.hanging or station.port] or own[:1]
        copies = [
            replace(self.plan.stations[self.place[key]], hanging=[], port="") for key in near if key not in inside
        ]
        before = [station for station in copies if self.place[station.key] < start]
        after = [station for station in copies if self.place[station.key] > end]
        return tuple(map(self._lettered, (*before, *own, *after)))

    def _lettered(self, station: Station) -> Station:
        """A node with the letter that it has in all pieces; the name of a port tells as much."""
        if station.element is not None:
            return station
        port = self.plan.stations[self.place[station.key]].port
        return replace(station, port=port or self.letters.get(station.key, ""))
