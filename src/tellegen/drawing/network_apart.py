"""Schematics in pieces, for narrow columns: a node that several pieces share has a letter at each of them, as net labels do."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import final

from tellegen.description.model import Element
from tellegen.drawing.network_bodies import Measure
from tellegen.drawing.network_layout import Layout
from tellegen.drawing.network_plan import Link, Plan, Station
from tellegen.drawing.network_rows import letter


def split_apart(
    plan: Plan, text: Callable[[Element], str], measure: Measure, width: float, used: int
) -> tuple[list[Plan], int]:
    """Pieces of a plan, each as long as it can be without being wider, and how many letters tie them together.

    A plan with return lines stays whole: these pass below all of it. `used` letters are taken by other plans.
    """
    if plan.returns:
        return [plan], 0
    pieces = _Pieces(plan, text, measure, width, used)
    return pieces.plans, len(pieces.letters)


@final
class _Pieces:
    def __init__(self, plan: Plan, text: Callable[[Element], str], measure: Measure, width: float, used: int) -> None:
        self.plan, self.text, self.measure, self.width = plan, text, measure, width
        self.place = {station.key: k for k, station in enumerate(plan.stations)}
        self.letters = {
            station.key: "M" for station in plan.stations
        }  # as wide as any, until it is known who needs one
        pieces = [*self._pieces()]
        shown = Counter(station.key for start, end in pieces for station in self._stations(start, end))
        shared = [station.key for station in plan.stations if shown[station.key] > 1]
        self.letters = {key: letter(used + k) for k, key in enumerate(shared)}
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
        layout = Layout(self._piece(start, end), self.text, self.measure)
        return layout.lefts[-1] + layout.widths[-1]

    def _piece(self, start: int, end: int) -> Plan:
        return Plan(self._stations(start, end), tuple(self._links(start, end)), self.plan.rail_ports)

    def _links(self, start: int, end: int) -> Iterator[Link]:
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
