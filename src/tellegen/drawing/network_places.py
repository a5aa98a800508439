"""Places for the nodes of a meshed network on a grid, so that most links are straight."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import heappop, heappush

Cell = tuple[int, int]
"""Column and row; rows count downwards."""
Near = Mapping[str, Sequence[str]]
"""The neighbours of each node."""

EAST, SOUTH, WEST, NORTH = (1, 0), (0, 1), (-1, 0), (0, -1)
FARTHEST = 12
"""How far from its neighbours a node is looked a place for."""
BEND, BLOCKED, STRANGER, TURN = 0.6, 2.0, 0.3, 0.05
"""What speaks against a place, in steps: a corner, a node in between, a strange node beside it, a change of direction."""


def grown_places(near: Near, start: str, *, first: Cell) -> dict[str, Cell]:
    """Nodes one after the other, those with most neighbours on the grid first, each where it is nearest to them.

    Lines go on straight where they can; `first` is the direction of the first.
    """
    return _Growth(near, first).grow(start)


def layered_places(near: Near, starts: Iterable[str]) -> dict[str, Cell]:
    """Nodes in columns by their distance from the starts, beside the neighbours that they have in the column before."""
    columns: dict[str, int] = dict.fromkeys(starts, 0)
    queue = deque(columns)
    places: dict[str, Cell] = {name: (0, row) for row, name in enumerate(columns)}
    layers: dict[int, list[str]] = {}
    while queue:
        name = queue.popleft()
        for other in near[name]:
            if other not in columns:
                columns[other] = columns[name] + 1
                layers.setdefault(columns[other], []).append(other)
                queue.append(other)
    for column in sorted(layers):
        taken: set[int] = set()
        wanted = {name: _middle(places[o][1] for o in near[name] if o in places) for name in layers[column]}
        for name in sorted(layers[column], key=wanted.__getitem__):
            row = next(r for r in _around(round(wanted[name])) if r not in taken)
            taken.add(row)
            places[name] = column, row
    return places


def _middle(rows: Iterable[int]) -> float:
    found = list(rows)
    return sum(found) / len(found)


def _around(row: int) -> Iterator[int]:
    yield row
    step = 1
    while True:
        yield row + step
        yield row - step
        step += 1


class _Growth:
    def __init__(self, near: Near, first: Cell) -> None:
        self.near = near
        self.ways = (EAST, SOUTH, NORTH, WEST) if first == EAST else (SOUTH, EAST, WEST, NORTH)
        self.places: dict[str, Cell] = {}
        self.taken: dict[Cell, str] = {}
        self.heading: dict[str, Cell] = {}

    def grow(self, start: str) -> dict[str, Cell]:
        self._put(start, (0, 0), self.ways[0])
        known: dict[str, int] = {}
        queue: list[tuple[int, int, str]] = []
        self._meet(start, known, queue)
        while queue:
            _, _, name = heappop(queue)
            if name not in self.places:
                self._settle(name)
                self._meet(name, known, queue)
        return self.places

    def _meet(self, name: str, known: dict[str, int], queue: list[tuple[int, int, str]]) -> None:
        """Count a new node at its neighbours: those with many come next."""
        for other in self.near[name]:
            if other not in self.places:
                number = known.setdefault(other, len(known))
                count = sum(third in self.places for third in self.near[other])
                heappush(queue, (-count, number, other))

    def _put(self, name: str, cell: Cell, heading: Cell) -> None:
        self.places[name] = cell
        self.taken[cell] = name
        self.heading[name] = heading

    def _settle(self, name: str) -> None:
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
        right = max(x for x, _ in self.taken) + 1
        self._put(name, (right, 0), EAST)

    def _rank(self, cell: Cell) -> Cell:
        """Which of equally good cells is better: that further down, or that further to the left."""
        return (-cell[1], cell[0]) if self.ways[0] == SOUTH else cell

    def _cells(self, centre: Cell, reach: int) -> Iterator[Cell]:
        x, y = centre
        for dx in range(-reach, reach + 1):
            for dy in range(abs(dx) - reach, reach - abs(dx) + 1):
                if (x + dx, y + dy) not in self.taken:
                    yield x + dx, y + dy

    def _cost(self, name: str, cell: Cell, friends: list[str]) -> float:
        x, y = cell
        total = 0.0
        for other in friends:
            u, v = self.places[other]
            total += abs(x - u) + abs(y - v) + (BEND if x != u and y != v else self._between(cell, (u, v)))
        parent = friends[0]
        way = _way(self.places[parent], cell)
        if way != self.heading[parent]:
            total += TURN * (1 + self.ways.index(way))
        for dx, dy in self.ways:
            neighbour = self.taken.get((x + dx, y + dy))
            if neighbour is not None and neighbour not in self.near[name]:
                total += STRANGER
        return total

    def _between(self, one: Cell, two: Cell) -> float:
        """What it costs that nodes stand between two on a line."""
        (x, y), (u, v) = one, two
        dx, dy = (u > x) - (u < x), (v > y) - (v < y)
        steps = max(abs(u - x), abs(v - y))
        return BLOCKED * sum((x + k * dx, y + k * dy) in self.taken for k in range(1, steps))


def _way(one: Cell, two: Cell) -> Cell:
    """The main direction from a cell to another."""
    dx, dy = two[0] - one[0], two[1] - one[1]
    if abs(dx) >= abs(dy):
        return EAST if dx >= 0 else WEST
    return SOUTH if dy > 0 else NORTH
