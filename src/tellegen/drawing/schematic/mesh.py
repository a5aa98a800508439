"""Meshed networks of wires or pipes: nodes on a grid, routes of their links along its lines, and the sketch made from both.

What is between a node and its reference hangs beside the node, with the mark of the reference or, in the lowest row, a common rail.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import heappop, heappush
from itertools import pairwise
from statistics import fmean
from typing import final

from tellegen.drawing.schematic.layout import SchematicLayout
from tellegen.drawing.schematic.plan import SchematicLabels, SchematicLink, SchematicPlan, Station
from tellegen.drawing.schematic.rails import distances, neighbours
from tellegen.drawing.schematic.sketch import AbstractSketchMaker, has_one_ports_alone, one_ports, sketch_shapes
from tellegen.model.model import Element, Sketch
from tellegen.scenes.geometry import straightened
from tellegen.scenes.ink import ink_box
from tellegen.scenes.scene import Shape

GridCell = tuple[int, int]
"""Column and row; rows count downwards."""
GridPath = tuple[GridCell, ...]
"""The cells of a link from its first node to its second, one step each."""
Neighbours = Mapping[str, Sequence[str]]
"""The neighbours of each node."""

EAST, SOUTH, WEST, NORTH = (1, 0), (0, 1), (-1, 0), (0, -1)
FARTHEST = 12
"""How far from its neighbours a node is looked a place for."""
# Three corners are still better than a line through a node; a change of direction decides between equals alone.
BEND, BLOCKED, STRANGER, TURN = 0.6, 2.0, 0.3, 0.05
"""What speaks against a place, in steps: a corner, a node in between, a strange node beside it, a change of direction."""


def place_in_layers(near: Neighbours, starts: Iterable[str]) -> dict[str, GridCell]:
    """Nodes in columns by their distance from the starts, beside the neighbours that they have in the column before."""
    # The order of description decides rows in the first column; all later ones follow their neighbours.
    first = list(dict.fromkeys(starts))
    places: dict[str, GridCell] = {name: (0, row) for row, name in enumerate(first)}
    layers: dict[int, list[str]] = {}
    for name, column in distances(first, near).items():
        if column:
            layers.setdefault(column, []).append(name)
    for column in sorted(layers):
        taken: set[int] = set()
        wanted = {name: fmean(places[o][1] for o in near[name] if o in places) for name in layers[column]}
        for name in sorted(layers[column], key=wanted.__getitem__):
            middle, most = round(wanted[name]), len(taken)
            # The nearest row that is free; of two that are equally near the lower one, with the larger number.
            row = -min((abs(r - middle), -r) for r in range(middle - most, middle + most + 1) if r not in taken)[1]
            taken.add(row)
            places[name] = column, row
    return places


@final
class _Growth:
    """Nodes one after the other, those with most neighbours on the grid first, each where it is nearest to them.

    Lines go on straight where they can; `first` is the direction of the first.
    """

    def __init__(self, near: Neighbours, first: GridCell) -> None:
        self.near = near
        self.ways = (EAST, SOUTH, NORTH, WEST) if first == EAST else (SOUTH, EAST, WEST, NORTH)
        self.places: dict[str, GridCell] = {}
        self.taken: dict[GridCell, str] = {}
        self.heading: dict[str, GridCell] = {}

    def grow(self, start: str) -> dict[str, GridCell]:
        self._put(start, (0, 0), self.ways[0])
        known: dict[str, int] = {}
        queue: list[tuple[int, int, str]] = []
        self._meet(start, known, queue)
        while queue:
            _, _, name = heappop(queue)
            # An older entry of a node that was placed meanwhile.
            if name not in self.places:
                self._settle(name)
                self._meet(name, known, queue)
        return self.places

    def _meet(self, name: str, known: dict[str, int], queue: list[tuple[int, int, str]]) -> None:
        """Count a new node at its neighbours: those with many come next."""
        for other in self.near[name]:
            if other not in self.places:
                # The same node may be in the heap with several counts; that with most neighbours comes out first.
                number = known.setdefault(other, len(known))
                count = sum(third in self.places for third in self.near[other])
                heappush(queue, (-count, number, other))

    def _put(self, name: str, cell: GridCell, heading: GridCell) -> None:
        self.places[name] = cell
        self.taken[cell] = name
        self.heading[name] = heading

    def _settle(self, name: str) -> None:
        # By the order of description: the first friend is the parent, whose line goes on.
        friends = [other for other in self.near[name] if other in self.places]
        for reach in range(1, FARTHEST):
            cells = {cell for other in friends for cell in self._cells(self.places[other], reach)}
            if cells:
                costs = {cell: self._cost(name, cell, friends) for cell in cells}
                best = min(cells, key=lambda cell: (costs[cell], self._rank(cell)))
                # A place one step farther may still be better where it is nearer to others.
                if reach > 1 or costs[best] < BLOCKED + len(friends):
                    self._put(name, best, _way(self.places[friends[0]], best))
                    return
        # No free cell within reach: far out, where it disturbs nobody and the routes find it.
        right = max(x for x, _ in self.taken) + 1
        self._put(name, (right, 0), EAST)

    def _rank(self, cell: GridCell) -> GridCell:
        """Which of equally good cells is better: that further down, or that further to the left."""
        return (-cell[1], cell[0]) if self.ways[0] == SOUTH else cell

    def _cells(self, centre: GridCell, reach: int) -> Iterator[GridCell]:
        x, y = centre
        for dx in range(-reach, reach + 1):
            for dy in range(abs(dx) - reach, reach - abs(dx) + 1):
                if (x + dx, y + dy) not in self.taken:
                    yield x + dx, y + dy

    def _cost(self, name: str, cell: GridCell, friends: list[str]) -> float:
        x, y = cell
        total = 0.0
        for other in friends:
            u, v = self.places[other]
            on_line = x == u or y == v
            hindered = (
                BLOCKED * sum(map(self.taken.__contains__, _straight_path(cell, (u, v))[1:-1])) if on_line else BEND
            )
            total += abs(x - u) + abs(y - v) + hindered
        parent = friends[0]
        way = _way(self.places[parent], cell)
        # A line that turns at each node is a staircase: going on straight reads best.
        if way != self.heading[parent]:
            total += TURN * (1 + self.ways.index(way))
        for dx, dy in self.ways:
            neighbour = self.taken.get((x + dx, y + dy))
            if neighbour is not None and neighbour not in self.near[name]:
                total += STRANGER
        return total


def _straight_path(one: GridCell, two: GridCell) -> GridPath:
    """The cells from one to another on the same line, with both."""
    (x, y), (u, v) = one, two
    dx, dy = (u > x) - (u < x), (v > y) - (v < y)
    return tuple((x + k * dx, y + k * dy) for k in range(max(abs(u - x), abs(v - y)) + 1))


def _way(one: GridCell, two: GridCell) -> GridCell:
    """The main direction from a cell to another."""
    dx, dy = two[0] - one[0], two[1] - one[1]
    if abs(dx) >= abs(dy):
        return EAST if dx >= 0 else WEST
    return SOUTH if dy > 0 else NORTH


WAYS = (EAST, SOUTH, WEST, NORTH)
CORNER, CROSSING = 2.0, 6.0
"""What a corner and a crossing cost, in steps."""
MARGIN = 3
"""Free lines round the nodes."""


@final
class GridRoutes:
    """The lines of a grid with nodes on some of its cells, and the links that lie there."""

    def __init__(self, nodes: Mapping[str, GridCell]) -> None:
        self.nodes = nodes
        self.cells = {cell: name for name, cell in nodes.items()}
        self.lines: set[frozenset[GridCell]] = set()
        """The pieces that are taken."""
        self.passed: dict[GridCell, str] = {}
        """What lies on a cell without a node: a level line, an upright one, or a corner."""
        columns, rows = zip(*nodes.values(), strict=True)
        self.low = min(columns) - MARGIN, min(rows) - MARGIN
        self.high = max(columns) + MARGIN, max(rows) + MARGIN
        self.cost = 0.0

    def straight(self, one: str, two: str) -> GridPath | None:
        """The straight way between two nodes, where it is free; it is taken then."""
        (x, y), (u, v) = self.nodes[one], self.nodes[two]
        if x != u and y != v:
            return None
        path = _straight_path((x, y), (u, v))
        # Neither through a node nor across another line: a straight way is only taken where it costs nothing.
        if any(cell in self.cells or cell in self.passed for cell in path[1:-1]):
            return None
        if any(frozenset(piece) in self.lines for piece in pairwise(path)):
            return None
        self._take(path)
        return path

    def route(self, one: str, two: str) -> GridPath | None:
        """The cheapest way between two nodes by free lines; None where there is none."""
        path = self._search(self.nodes[one], self.nodes[two])
        if path is not None:
            self._take(path)
        return path

    def _take(self, path: GridPath) -> None:
        for piece in pairwise(path):
            self.lines.add(frozenset(piece))
            self.cost += 1
        for before, cell, after in zip(path, path[1:], path[2:], strict=False):
            level, upright = before[1] == after[1], before[0] == after[0]
            self.cost += (0 if level or upright else CORNER) + (CROSSING if cell in self.passed else 0)
            self.passed[cell] = (
                "corner" if cell in self.passed else "level" if level else "upright" if upright else "corner"
            )

    def _search(self, start: GridCell, end: GridCell) -> GridPath | None:
        best: dict[tuple[GridCell, int], float] = {}
        came: dict[tuple[GridCell, int], tuple[GridCell, int]] = {}
        # A*: what is left to go is at least the distance along the grid, so that the first way found is the cheapest.
        queue: list[tuple[float, float, GridCell, int]] = [(0.0, 0.0, start, -1)]
        while queue:
            _, cost, cell, way = heappop(queue)
            if cell == end:
                return _traced((cell, way), came)
            # A better way to this state was found after it was put into the queue.
            if cost > best.get((cell, way), cost):
                continue
            for step, (dx, dy) in enumerate(WAYS):
                there = cell[0] + dx, cell[1] + dy
                price = self._price(cell, there, way, step, start, end)
                if price is None:
                    continue
                # The state has the direction too: what a step costs depends on whether it turns.
                state, total = (there, step), cost + price
                if total < best.get(state, 1e18):
                    best[state] = total
                    came[state] = cell, way
                    ahead = abs(there[0] - end[0]) + abs(there[1] - end[1])
                    heappush(queue, (total + ahead, total, there, step))
        return None

    def _price(
        self, cell: GridCell, there: GridCell, way: int, step: int, start: GridCell, end: GridCell
    ) -> float | None:
        """What a step costs; None where it cannot be taken."""
        # Never straight back.
        if way >= 0 and (step - way) % 4 == 2:
            return None
        inside = self.low[0] <= there[0] <= self.high[0] and self.low[1] <= there[1] <= self.high[1]
        if not inside or frozenset((cell, there)) in self.lines or (there in self.cells and there != end):
            return None
        price = 1.0
        if way >= 0 and step != way:
            if cell in self.passed:
                return None  # no corner on another line
            price += CORNER
        held = self.passed.get(there)
        if held is not None and there != end:
            # Lines may only cross at right angles: along each other, or at a corner, one could not tell them apart.
            if held != ("upright" if step % 2 == 0 else "level"):
                return None
            price += CROSSING
        return price


def _traced(state: tuple[GridCell, int], came: Mapping[tuple[GridCell, int], tuple[GridCell, int]]) -> GridPath:
    cells = [state[0]]
    while state in came:
        state = came[state]
        cells.append(state[0])
    return tuple(reversed(cells))


FINENESS = (2, 3, 4)
"""Lines of the grid from a node to the next, tried in this order: those between are for links that go round."""
TAP, TAPS, HANG = 0.42, 0.62, 1.0
"""From a node to the first element that hangs beside it, from one to the next, and how far they hang."""
LANE, DEEP = 0.4, 1.15
"""Between lines that run beside each other, and under a row from which something hangs."""
ACROSS, DOWN = 1.0, 1.15
"""The least distance of nodes beside and under each other."""
ROOM = 0.72
"""The least length of a piece of line that an element stands on."""

LONELY, LONELY_SOURCE = 2.5, 7.0
"""What speaks against an element with a mark of its own for its reference, and against a source that is not on the left."""


def mesh_sketches(plan: SchematicPlan) -> Iterator[Sketch]:
    """Sketches of one connected part, the best first, then the same turned; none where its links find no way."""
    near = neighbours(((link.first, link.second) for link in plan.links), (s.key for s in plan.stations))
    # Every way is routed before one is chosen: a placement that looks good may leave no room for its links.
    choices = [*_choices(plan, near)]
    made = [mesh for places, level in choices if (mesh := _routed(plan, places, level=level)) is not None]
    yield from (mesh.sketch() for mesh in sorted(made, key=lambda mesh: mesh.cost))
    for places, level in choices:
        # Transposed, a wide figure is a tall one with the same neighbours.
        turned = {key: (row, column) for key, (column, row) in places.items()}
        if (mesh := _routed(plan, turned, level=level)) is not None:
            yield mesh.sketch()


def _choices(plan: SchematicPlan, near: Neighbours) -> Iterator[tuple[dict[str, GridCell], bool]]:
    """Several ways to place the nodes, and whether elements at corners shall lie level: in layers they go from left to right."""
    driven = [s.key for s in plan.stations if any(h.element and h.element.kind.role == "source" for h in s.hanging)]
    fed = [link.first for link in plan.links if link.element is not None and link.element.kind.role == "source"]
    # Readers look for the source first; without one, a node at the edge makes the rest grow away from it.
    start = next(iter((*driven, *fed)), min(near, key=lambda key: len(near[key])))
    # Several sources, as the phases of a grid: each has a row of its own.
    if len(driven) > 1:
        yield place_in_layers(near, driven), True
    yield _Growth(near, SOUTH).grow(start), False
    yield _Growth(near, EAST).grow(start), False


def _routed(plan: SchematicPlan, places: dict[str, GridCell], *, level: bool) -> "_Mesh | None":
    for fineness in FINENESS:
        mesh = _Mesh(plan, {key: (fineness * x, fineness * y) for key, (x, y) in places.items()}, level=level)
        if mesh.complete:
            return mesh
    return None


@final
class _Mesh(AbstractSketchMaker):
    """Nodes on the lines of a grid with the ways of all links."""

    def __init__(self, plan: SchematicPlan, nodes: dict[str, GridCell], *, level: bool) -> None:
        super().__init__()
        self.plan, self.nodes, self.level = plan, nodes, level
        self.tracks = GridRoutes(nodes)
        self.paths: dict[int, GridPath] = {}
        for k, link in enumerate(plan.links):
            # Straight links first: they cost no corner, and those that must go round can see where they lie.
            if (path := self.tracks.straight(link.first, link.second)) is not None:
                self.paths[k] = path
        left = [k for k in range(len(plan.links)) if k not in self.paths]
        # Short ones first: they have the fewest ways to choose between.
        for k in sorted(left, key=self._distance):
            path = self.tracks.route(plan.links[k].first, plan.links[k].second)
            if path is None:
                break
            self.paths[k] = path
        self.complete = len(self.paths) == len(plan.links)

    def _distance(self, k: int) -> int:
        (x, y), (u, v) = (self.nodes[end] for end in (self.plan.links[k].first, self.plan.links[k].second))
        return abs(x - u) + abs(y - v)

    @property
    def cost(self) -> tuple[float, float]:
        """Length, corners, crossings and what hangs away from the rail; of equal ones the wider figure is better."""
        columns, rows = zip(*self.nodes.values(), strict=True)
        # What hangs in the lowest row shares one rail; elsewhere each element needs a mark of its own.
        lonely = 0.0
        for station in self.plan.stations:
            beside = self._beside(station)
            lonely += LONELY_SOURCE * sum(element.kind.role == "source" for element in beside)
            lonely += LONELY * len(beside) if self.nodes[station.key][1] != max(rows) else 0.0
        return self.tracks.cost + lonely, (max(rows) - min(rows)) - (max(columns) - min(columns))

    # -- the sketch ------------------------------------------------------------------------------------------------------------

    def sketch(self) -> Sketch:
        """Lines become places: as near to each other as what stands between them allows."""
        self.xs, self.ys = self._columns(), self._rows()
        self.outermost: dict[str, str] = {}
        self._in_column: dict[int, list[Station]] = {}
        for station in self.plan.stations:
            self._in_column.setdefault(self.nodes[station.key][0], []).append(station)
        for station in self.plan.stations:
            self.point(station.key, self._at(self.nodes[station.key]), station.key)
        self._hang_all()
        for k, link in enumerate(self.plan.links):
            self._draw(link, self.paths[k])
        return self.made()

    def _at(self, cell: GridCell) -> complex:
        return complex(self.xs[cell[0]], -self.ys[cell[1]])

    def _used(self, axis: int) -> list[int]:
        """The lines along one axis on which something lies."""
        found = {cell[axis] for cell in self.nodes.values()}
        for path in self.paths.values():
            found |= {one[axis] for one, two in pairwise(path) if one[axis] == two[axis]}
        return sorted(found)

    def _columns(self) -> dict[int, float]:
        reach: dict[int, float] = {}
        for station in self.plan.stations:
            column = self.nodes[station.key][0]
            taps = len(self._beside(station))
            reach[column] = max(reach.get(column, 0.0), self._tap(station, taps - 1) + LANE if taps else 0.0)
        # What hangs on the right of a node takes width: the next column begins behind it.
        return self._spread(self._used(0), reach, {column: ACROSS + far for column, far in reach.items()})

    def _rows(self) -> dict[int, float]:
        deep = {self.nodes[s.key][1]: DEEP for s in self.plan.stations if self._beside(s)}
        rows = {cell[1] for cell in self.nodes.values()}
        return self._spread(self._used(1), deep, {row: max(DOWN, deep.get(row, 0.0)) for row in rows})

    def _spread(self, lines: list[int], behind: dict[int, float], pitch: dict[int, float]) -> dict[int, float]:
        """The place of each line: `behind` keeps the next line away from one, `pitch` the next one with nodes."""
        places: dict[int, float] = {}
        last: int | None = None
        for k, line in enumerate(lines):
            place = places[lines[k - 1]] + LANE + behind.get(lines[k - 1], 0.0) if k else 0.0
            if line in pitch:
                if last is not None:
                    place = max(place, places[last] + pitch[last])
                last = line
            places[line] = place
        return places

    # -- what hangs ------------------------------------------------------------------------------------------------------------

    def _leading(self) -> list[Station]:
        """The nodes in the first column with a source: it stands on their left."""
        first = min(x for x, _ in self.nodes.values())
        # A link goes round on the left: a source there would stand in its way.
        if any(x < first for path in self.paths.values() for x, _ in path):
            return []
        return [s for s in self.plan.stations if self.nodes[s.key][0] == first and _sources(s)]

    def _beside(self, station: Station) -> list[Element]:
        """What hangs on the right of a node, in order."""
        elements = [item.element for item in station.hanging if item.element is not None]
        leading = _sources(station)[:1] if any(s is station for s in self._leading()) else []
        return [element for element in elements if not any(element is other for other in leading)]

    def _tap(self, station: Station, k: int) -> float:
        """How far to the right of a node its k-th element hangs: the first under it where nothing else leads down."""
        x, y = self.nodes[station.key]
        # The first element hangs straight below its node unless a link leads down there.
        return k * TAPS + (TAP if frozenset(((x, y), (x, y + 1))) in self.tracks.lines else 0.0)

    def _hang_all(self) -> None:
        lowest = max(y for _, y in self.nodes.values())
        # A link below the lowest row would cross the rail.
        free = max(self.ys) == lowest
        rails: dict[str, list[str]] = {}
        for station in self.plan.stations:
            here = self.points[station.key]
            last = station.key
            for k, element in enumerate(self._beside(station)):
                tap = self.point(f"{station.key}|{k}", here + self._tap(station, k), station.key)
                self.wires.append((last, tap))
                foot = self._hang(element, tap, HANG, station.key)
                if free and self.nodes[station.key][1] == lowest:
                    rails.setdefault(self.nodes_at[foot], []).append(foot)
                last = tap
            self.outermost[station.key] = last
        self._lead(rails)
        for feet in rails.values():
            ordered = sorted(feet, key=lambda foot: (self.points[foot].real, -self.points[foot].imag))
            self.wires += pairwise(ordered)

    def _hang(self, element: Element, tap: str, far: float, node: str) -> str:
        """An element down from a point; gives the label of its lower end."""
        reference = next((other for other in element.nodes if other != node), node)
        foot = self.point(f"{tap}|foot", self.points[tap] - far * 1j, reference)
        self.element(element, tap, foot, side=-1)
        return foot

    def _lead(self, rails: dict[str, list[str]]) -> None:
        """Sources on the left: one beside all rows down to the rail; several in their own rows, from a rail on the left."""
        leading = self._leading()
        if len(leading) == 1:
            station, element = leading[0], _sources(leading[0])[0]
            corner = self.point(f"{station.key}|left", self.points[station.key] - ACROSS * 0.75, station.key)
            self.wires.append((station.key, corner))
            # The source reaches down to the rail, so that it closes the circuit like the left side of a ladder.
            bottom = min((self.points[foot].imag for feet in rails.values() for foot in feet), default=None)
            far = HANG if bottom is None else self.points[corner].imag - bottom
            foot = self._hang(element, corner, far, station.key)
            if self.nodes_at[foot] in rails:
                rails[self.nodes_at[foot]].append(foot)
            return
        ends: dict[str, list[str]] = {}
        for station in leading:
            element = _sources(station)[0]
            reference = next((node for node in element.nodes if node != station.key), station.key)
            outer = self.point(f"{station.key}|left", self.points[station.key] - ACROSS, reference)
            self.element(element, outer, station.key)
            ends.setdefault(reference, []).append(outer)
        for outers in ends.values():
            self.wires += pairwise(sorted(outers, key=lambda label: -self.points[label].imag))

    # -- links -----------------------------------------------------------------------------------------------------------------

    def _draw(self, link: SchematicLink, path: GridPath) -> None:
        """The corners of a way as points, and the element on its longest piece."""
        corners = straightened(path)
        labels = [
            link.first,
            *(f"{link.first}>{link.second}>{id(link)}>{k}" for k in range(1, len(corners) - 1)),
            link.second,
        ]
        for label, cell in zip(labels[1:-1], corners[1:-1], strict=True):
            self.point(label, self._at(cell), "")
        for end, other in ((0, 1), (-1, -2)):
            # A line to the right begins behind what hangs beside the node.
            if corners[other][1] == corners[end][1] and corners[other][0] > corners[end][0]:
                labels[end] = self._beyond(labels[end])
        spans = [abs(self.points[a] - self.points[b]) for a, b in pairwise(labels)]
        level = [abs((self.points[a] - self.points[b]).imag) < 1e-9 for a, b in pairwise(labels)]
        # First a piece that is long enough, then one that lies as wished, then the longest.
        best = max(range(len(spans)), key=lambda k: (spans[k] >= ROOM, level[k] == self.level, spans[k]))
        for k, label in enumerate(labels[1:-1], 1):
            # Corners before the element belong to its first node, those behind it to the second.
            self.nodes_at[label] = link.first if k <= best or link.element is None else link.second
        for k, (one, two) in enumerate(pairwise(labels)):
            if k != best or link.element is None:
                self.wires.append((one, two))
                continue
            self.element(link.element, one, two)

    def _beyond(self, node: str) -> str:
        """The point on the right of a node, behind what hangs in its column: elements in one gap stand over each other."""
        column, row = self.nodes[node]
        taps = [self._tap(s, len(self._beside(s)) - 1) for s in self._in_column[column] if self._beside(s)]
        end, place = self.outermost[node], complex(self.xs[column] + max(taps, default=0.0), -self.ys[row])
        if abs(self.points[end] - place) < 1e-9:
            return end
        label = self.point(f"{node}|end", place, node)
        self.wires.append((end, label))
        return label


def _sources(station: Station) -> list[Element]:
    return [h.element for h in station.hanging if h.element is not None and h.element.kind.role == "source"]


def is_meshed(plan: SchematicPlan, layout: SchematicLayout) -> bool:
    """Whether wires or pipes form meshes beyond neighbours on the line; a line below all others takes most of these."""
    return has_one_ports_alone(plan) and any(
        abs(layout.place[arc.link.first] - layout.place[arc.link.second]) > 1 for arc in layout.arcs
    )


def mesh_shapes(plan: SchematicPlan, texts: SchematicLabels, room: float) -> list[Shape]:
    """A meshed part with its nodes on a grid, turned where it would be too wide; nothing where there is no room for that."""
    hanging, linking = one_ports(plan)
    elements = hanging + linking
    narrowest: list[Shape] = []
    for sketch in mesh_sketches(plan):
        shapes = sketch_shapes(elements, sketch, texts)
        if shapes and ink_box(shapes).width <= room:
            return shapes
        if not narrowest or (shapes and ink_box(shapes).width < ink_box(narrowest).width):
            narrowest = shapes
    return narrowest
