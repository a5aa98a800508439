"""Links of a meshed network along the lines of a grid: no two on one piece of a line, crossings where there is no other way."""

from collections.abc import Mapping
from heapq import heappop, heappush
from itertools import pairwise
from typing import final

from tellegen.drawing.network_places import EAST, NORTH, SOUTH, WEST, Cell

WAYS = (EAST, SOUTH, WEST, NORTH)
CORNER, CROSSING = 2.0, 6.0
"""What a corner and a crossing cost, in steps."""
MARGIN = 3
"""Free lines round the nodes."""

Path = tuple[Cell, ...]
"""The cells of a link from its first node to its second, one step each."""


@final
class Tracks:
    """The lines of a grid with nodes on some of its cells, and the links that lie there."""

    def __init__(self, nodes: Mapping[str, Cell]) -> None:
        self.nodes = nodes
        self.cells = {cell: name for name, cell in nodes.items()}
        self.lines: dict[frozenset[Cell], int] = {}
        """The pieces that are taken."""
        self.passed: dict[Cell, str] = {}
        """What lies on a cell without a node: a level line, an upright one, or a corner."""
        columns, rows = zip(*nodes.values(), strict=True)
        self.low = min(columns) - MARGIN, min(rows) - MARGIN
        self.high = max(columns) + MARGIN, max(rows) + MARGIN
        self.cost = 0.0

    def straight(self, one: str, two: str) -> Path | None:
        """The straight way between two nodes, where it is free; it is taken then."""
        (x, y), (u, v) = self.nodes[one], self.nodes[two]
        if x != u and y != v:
            return None
        dx, dy = (u > x) - (u < x), (v > y) - (v < y)
        steps = max(abs(u - x), abs(v - y))
        path = tuple((x + k * dx, y + k * dy) for k in range(steps + 1))
        if any(cell in self.cells or cell in self.passed for cell in path[1:-1]):
            return None
        if any(frozenset(piece) in self.lines for piece in pairwise(path)):
            return None
        self._take(path)
        return path

    def route(self, one: str, two: str) -> Path | None:
        """The cheapest way between two nodes by free lines; None where there is none."""
        path = self._search(self.nodes[one], self.nodes[two])
        if path is not None:
            self._take(path)
        return path

    def _take(self, path: Path) -> None:
        for piece in pairwise(path):
            self.lines[frozenset(piece)] = 1
            self.cost += 1
        for before, cell, after in zip(path, path[1:], path[2:], strict=False):
            level, upright = before[1] == after[1], before[0] == after[0]
            self.cost += (0 if level or upright else CORNER) + (CROSSING if cell in self.passed else 0)
            self.passed[cell] = (
                "corner" if cell in self.passed else "level" if level else "upright" if upright else "corner"
            )

    def _search(self, start: Cell, end: Cell) -> Path | None:
        best: dict[tuple[Cell, int], float] = {}
        came: dict[tuple[Cell, int], tuple[Cell, int]] = {}
        queue: list[tuple[float, float, Cell, int]] = [(0.0, 0.0, start, -1)]
        while queue:
            _, cost, cell, way = heappop(queue)
            if cell == end:
                return _traced((cell, way), came)
            if cost > best.get((cell, way), cost):
                continue
            for step, (dx, dy) in enumerate(WAYS):
                there = cell[0] + dx, cell[1] + dy
                price = self._price(cell, there, way, step, start, end)
                if price is None:
                    continue
                state, total = (there, step), cost + price
                if total < best.get(state, 1e18):
                    best[state] = total
                    came[state] = cell, way
                    ahead = abs(there[0] - end[0]) + abs(there[1] - end[1])
                    heappush(queue, (total + ahead, total, there, step))
        return None

    def _price(self, cell: Cell, there: Cell, way: int, step: int, start: Cell, end: Cell) -> float | None:
        """What a step costs; None where it cannot be taken."""
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
            if held != ("upright" if step % 2 == 0 else "level"):
                return None
            price += CROSSING
        return price


def _traced(state: tuple[Cell, int], came: Mapping[tuple[Cell, int], tuple[Cell, int]]) -> Path:
    cells = [state[0]]
    while state in came:
        state = came[state]
        cells.append(state[0])
    return tuple(reversed(cells))
