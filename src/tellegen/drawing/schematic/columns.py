"""Schematics with elements of many ports: these are boxes in columns, and all else lies in strands between facing boxes.

A strand is what hangs together without the boxes. It leads from one box to one in the next column, or is tied to one box alone. A
one-port between two strands is a bridge over the boxes.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import final

from tellegen.core.domains import REFERENCES
from tellegen.core.union_find import UnionFind
from tellegen.drawing.schematic.layout import is_planetary_gear
from tellegen.drawing.schematic.plan import SchematicLink, SchematicPlan, Station, stations_between
from tellegen.drawing.schematic.rails import distances, neighbours
from tellegen.drawing.schematic.symbols import MECHANICAL_DOMAINS

LEAST_TIES = 3
"""What an element must have to be a box in a column."""


@final
@dataclass(frozen=True, slots=True)
class Strand:
    """Stations from left to right, in the gap before a column; `ties` are the boxes on its left and right, or nothing."""

    plan: SchematicPlan
    gap: int
    ties: tuple[str, str]

    @property
    def ends(self) -> tuple[str, str]:
        """The nodes at its ends."""
        return self.plan.stations[0].key, self.plan.stations[-1].key

    @property
    def is_bare(self) -> bool:
        """Whether it is a wire alone."""
        return not any(s.hanging or s.port or s.element for s in self.plan.stations) and not self.plan.links

    @property
    def domains(self) -> tuple[str, ...]:
        """The domains that follow each other in it."""
        nodes = [station.domain for station in self.plan.stations if station.element is None]
        return tuple(d for k, d in enumerate(nodes) if k == 0 or nodes[k - 1] != d)


@final
@dataclass(frozen=True, slots=True)
class Columns:
    """Boxes by column from top to bottom, the strands of each gap from top to bottom, and bridges from left to right.

    `below` are the ends of bridges that lead under the boxes.
    """

    boxes: tuple[tuple[Station, ...], ...]
    gaps: tuple[tuple[Strand, ...], ...]
    bridges: tuple[SchematicLink, ...]
    below: frozenset[str] = frozenset()


def arrange_in_columns(plan: SchematicPlan, below: frozenset[str] = frozenset()) -> Columns | None:
    """The columns of a connected part; None where it has no such boxes, or where lines would have to cross.

    Bridges between the nodes `below` lead under the boxes.
    """
    ties = Counter(link.first for link in plan.links if link.terminal >= 0)
    plain = [s for s in plan.stations if s.element is not None and s.symbol is None and ties[s.key] >= LEAST_TIES]
    if not plain or _has_returns(plan) or any(_stays_on_line(plan, station) for station in plain):
        return None
    return _ColumnArranger(plan, {station.key: station for station in plain}).columns(below)


def _has_returns(plan: SchematicPlan) -> bool:
    """Whether something is tied to a return line, which would have to pass under all strands."""
    tied = {node for station in plan.stations if station.element is not None for node in station.element.nodes}
    tied |= {node for station in plan.stations for item in station.hanging for node in (item.line, item.reference)}
    return not tied.isdisjoint(plan.returns)


def _stays_on_line(plan: SchematicPlan, station: Station) -> bool:
    """Whether a box has a symbol of its own, or terminals at a node that is drawn as a rail without being a reference."""
    assert station.element is not None, "a node is no box"
    drawn = REFERENCES | {link.second for link in plan.links}
    return is_planetary_gear(station.element) or not drawn.issuperset(station.element.nodes)


@final
@dataclass
class _Group:
    """Stations that hang together, with the links between them and those that tie them to boxes, in order of description."""

    stations: list[Station] = field(default_factory=list)
    links: list[SchematicLink] = field(default_factory=list)
    ties: list[SchematicLink] = field(default_factory=list)
    order: int = 0

    @property
    def is_simple(self) -> bool:
        """Whether it can lie between two columns."""
        return 0 < len(self.ties) <= 2 and len({tie.first for tie in self.ties}) == len(self.ties)


@final
class _ColumnArranger:
    def __init__(self, plan: SchematicPlan, boxes: Mapping[str, Station]) -> None:
        self.plan, self.boxes = plan, boxes
        self.turned: set[str] = set()
        """Nodes at whose terminals strands change sides, so that a bridge leads from one side of the box to the other."""
        self.order = {
            key: k for k, key in enumerate(dict.fromkeys(link.first for link in plan.links if link.first in boxes))
        }

    def columns(self, below: frozenset[str]) -> Columns | None:
        groups, bridges = self._groups()
        if not all(group.is_simple for group in groups):
            return None
        levels = self._levels(groups)
        if levels is None:
            return None
        self._turn(groups, bridges, levels)
        columns = self._stacked(groups, levels)
        place = {key: k for column in columns for k, key in enumerate(column)}
        strands = [self._strand(group, levels) for group in self._by_domain(groups)]
        if any(strand is None for strand in strands):
            return None
        climbing = {end for bridge in bridges for end in (bridge.first, bridge.second)}
        gaps = [
            _sorted([s for s in strands if s is not None and s.gap == gap], place, climbing, below)
            for gap in range(len(columns) + 1)
        ]
        if not all(_is_straight(gap, place) for gap in gaps):
            return None
        ordered = _from_left(bridges, gaps)
        if ordered is None:
            return None
        boxes = tuple(tuple(self.boxes[key] for key in column) for column in columns)
        return Columns(boxes, tuple(map(tuple, gaps)), ordered, below)

    # -- strands ---------------------------------------------------------------------------------------------------------------

    def _groups(self) -> tuple[list[_Group], list[SchematicLink]]:
        """What hangs together without boxes; where that is too much for a strand, one-ports between boxes become bridges."""
        inner = [link for link in self.plan.links if link.first not in self.boxes]
        tied = {link.second for link in self.plan.links if link.first in self.boxes}
        crowded = {s.key for group in self._joined(inner) if not group.is_simple for s in group.stations}
        bridges = [
            link
            for link in inner
            if link.element is not None and link.first in tied & crowded and link.second in tied & crowded
        ]
        return self._joined([link for link in inner if not any(link is bridge for bridge in bridges)]), bridges

    def _joined(self, links: list[SchematicLink]) -> list[_Group]:
        stations = [station for station in self.plan.stations if station.key not in self.boxes]
        number = {station.key: k for k, station in enumerate(stations)}
        sets = UnionFind(len(stations))
        for link in links:
            sets.join(number[link.first], number[link.second])
        found: dict[int, _Group] = {}
        for station in stations:
            found.setdefault(sets.find(number[station.key]), _Group()).stations.append(station)
        for link in links:
            found[sets.find(number[link.first])].links.append(link)
        for k, link in enumerate(self.plan.links):
            if link.first in self.boxes:
                group = found[sets.find(number[link.second])]
                # Terminals of one box at one node are one: a star point is led out once, behind the phases.
                again = any((tie.first, tie.second) == (link.first, link.second) for tie in group.ties)
                group.order = group.order if group.ties and not again else k
                group.ties += [] if again else [link]
        return sorted(found.values(), key=lambda group: group.order)

    def _strand(self, group: _Group, levels: Mapping[str, int]) -> Strand | None:
        ties = sorted(group.ties, key=lambda tie: levels[tie.first])
        if len(ties) == 2:
            left, right = ties
            gap, keys = levels[right.first], (left.second, right.second)
            boxes = left.first, right.first
        else:
            (tie,) = ties
            before = self._is_before(tie, levels)
            gap = levels[tie.first] + (0 if before else 1)
            keys, boxes = (("", tie.second), ("", tie.first)) if before else ((tie.second, ""), (tie.first, ""))
        order = stations_between(group.links, keys, [station.key for station in group.stations])
        stations = {station.key: station for station in group.stations}
        if order is None or any(stations[end].element is not None for end in (order[0], order[-1])):
            return None
        plan = SchematicPlan(tuple(stations[key] for key in order), tuple(group.links), self.plan.rail_ports)
        return Strand(plan, gap, boxes)

    def _turn(self, groups: list[_Group], bridges: list[SchematicLink], levels: Mapping[str, int]) -> None:
        """Put the second end of a bridge on the other side of the only box, where both would be on one."""
        if max(levels.values()):
            return
        tie_of = {s.key: group.ties[0] for group in groups if len(group.ties) == 1 for s in group.stations}
        for bridge in bridges:
            ends = [tie_of.get(end) for end in (bridge.first, bridge.second)]
            if ends[0] is not None and ends[1] is not None:
                sides = [self._is_before(tie, levels) for tie in (ends[0], ends[1])]
                if sides[0] == sides[1]:
                    self.turned.add(ends[1].second)

    def _is_before(self, tie: SchematicLink, levels: Mapping[str, int]) -> bool:
        """Whether a strand with one tie is on the left of its box: at the first column, and of one alone in the first domain."""
        return self._belongs_before(tie, levels) != (tie.second in self.turned)

    def _belongs_before(self, tie: SchematicLink, levels: Mapping[str, int]) -> bool:
        last = max(levels.values())
        if last:
            return levels[tie.first] == 0
        domains = [self._domain(link) for link in self.plan.links if link.first in self.boxes]
        if len(set(domains)) > 1:
            return self._domain(tie) == domains[0]
        ties = [link for link in self.plan.links if link.first == tie.first]
        return 2 * next(k for k, link in enumerate(ties) if link is tie) < len(ties)

    def _domain(self, tie: SchematicLink) -> str:
        element = self.boxes[tie.first].element
        assert element is not None, "a box is an element"
        return element.kind.domains[tie.terminal // 2]

    def _by_domain(self, groups: list[_Group]) -> list[_Group]:
        """Those of one domain together, in the order of description otherwise."""
        domains = list(dict.fromkeys(self._domain(group.ties[0]) for group in groups))
        return sorted(groups, key=lambda group: domains.index(self._domain(group.ties[0])))

    # -- columns ---------------------------------------------------------------------------------------------------------------

    def _levels(self, groups: list[_Group]) -> dict[str, int] | None:
        """The column of each box: those that are fed first, then by how many strands away they are."""
        ties = ((one.first, two.first) for group in groups for one, two in pairwise(group.ties))
        near = neighbours(ties, self.order)
        fed = [key for key in self.order if any(_is_fed(g) for g in groups if [t.first for t in g.ties] == [key])]
        levels = distances(fed or list(self.order)[:1], near)
        beside = any(levels.get(a) == levels.get(b) for a in near for b in near[a])
        return None if beside or len(levels) < len(self.boxes) else levels

    def _stacked(self, groups: list[_Group], levels: Mapping[str, int]) -> list[list[str]]:
        """The boxes of each column: as those in the column before to which they lead."""
        columns: list[list[str]] = [[] for _ in range(max(levels.values()) + 1)]
        for key in self.order:
            columns[levels[key]].append(key)
        for before, column in pairwise(columns):
            pairs = [{tie.first for tie in group.ties} for group in groups]
            first = {key: min(k for k, other in enumerate(before) if {key, other} in pairs) for key in column}
            column.sort(key=first.__getitem__)
        return columns


def _is_fed(group: _Group) -> bool:
    """Whether wires or pipes of a group have a source that decides what is across them."""
    hung = [h.element.kind for s in group.stations for h in s.hanging if h.element is not None]
    return any(
        kind.role == "source" and kind.side == "across" and kind.domains[0] not in MECHANICAL_DOMAINS for kind in hung
    )


def _sorted(strands: list[Strand], place: Mapping[str, int], climbing: set[str], below: frozenset[str]) -> list[Strand]:
    """Strands from top to bottom: as their boxes, those with a bridge on top, or at the bottom where it leads below."""

    def rank(strand: Strand) -> tuple[int, int, int]:
        places = [place[box] for box in strand.ties if box]
        ends = {*strand.ends}
        return places[0], places[-1], 2 if below & ends else 0 if climbing & ends else 1

    return sorted(strands, key=rank)


def _is_straight(strands: list[Strand], place: Mapping[str, int]) -> bool:
    """Whether no two strands of a gap cross on their way to their boxes."""
    sides = ([place[strand.ties[side]] for strand in strands if strand.ties[side]] for side in (0, 1))
    return all(one <= two for side in sides for one, two in pairwise(side))


def _from_left(bridges: list[SchematicLink], gaps: list[list[Strand]]) -> tuple[SchematicLink, ...] | None:
    """The bridges as they lead from left to right; None where one does not lead from the end of a strand to another gap."""
    gap_of = {end: k for k, strands in enumerate(gaps) for strand in strands for end in strand.ends}
    if any(bridge.first not in gap_of or bridge.second not in gap_of for bridge in bridges):
        return None
    turned = [b if gap_of[b.first] < gap_of[b.second] else SchematicLink(b.second, b.first, b.element) for b in bridges]
    return None if any(gap_of[b.first] == gap_of[b.second] for b in bridges) else tuple(turned)
