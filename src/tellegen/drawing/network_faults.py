"""What must not happen in a schematic: symbols on each other, wires through symbols, wires of two nodes that meet."""

from math import ceil
from typing import final

from tellegen.drawing.geometry import Box, Point, box_about
from tellegen.drawing.overlaps import Grid, Stroke, distance, touch

NEAR = 2.5
"""Wires of two nodes keep at least so far from each other's ends."""
SLANTED = 0.7
"""The side of the boxes along a slanted symbol, as a share of how wide it is."""
INSIDE = 1.5
"""So much of a wire may be within the box of a symbol where it ends."""


@final
class Faults:
    """Symbols and wires as they are drawn, and whether they stand in each other's way."""

    def __init__(self) -> None:
        self._symbols: list[Box] = []
        self._owners: list[int] = []
        """The number of the symbol that each box belongs to."""
        self._wires: list[tuple[str, Stroke]] = []

    def symbol(self, box: Box) -> None:
        """A symbol takes a box; its wires end at the edge."""
        self._take([box.grown(-INSIDE)])

    def slanted(self, centre: Point, way: Point, length: float, across: float) -> None:
        """A symbol on a slanted line takes small boxes along it, which its wires do not reach."""
        side = SLANTED * min(length, across)
        reach = max(0.0, length / 2 - side)
        count = max(1, ceil(2 * reach / side))
        steps = [reach * (2 * k / count - 1) for k in range(count + 1)]
        self._take([box_about((centre[0] + s * way[0], centre[1] + s * way[1]), side, side) for s in steps])

    def _take(self, boxes: list[Box]) -> None:
        owner = len(self._owners)
        self._symbols += boxes
        self._owners += [owner] * len(boxes)

    def wire(self, one: Point, two: Point, node: str) -> None:
        """A straight wire of a node."""
        self._wires.append((node, Stroke(one, two)))

    def found(self) -> bool:
        """Whether anything lies on anything else."""
        return self._symbols_meet() or self._wires_meet()

    def _symbols_meet(self) -> bool:
        grid = Grid()
        for k, box in enumerate(self._symbols):
            if any(self._owners[j] != self._owners[k] and box.overlaps(self._symbols[j]) for j in grid.near(box)):
                return True
            grid.add(box, k)
        return any(
            _runs_into(self._symbols[k], wire) for _, wire in self._wires for k in grid.near(wire.box.grown(2 * NEAR))
        )

    def _wires_meet(self) -> bool:
        """Whether an end of a wire is on the wire of another node; crossings in the open are allowed."""
        grid = Grid()
        for k, (_, wire) in enumerate(self._wires):
            grid.add(wire.box.grown(NEAR), k)
        for node, wire in self._wires:
            for end in (wire.start, wire.end):
                for k in grid.near(Box(*end, *end)):
                    other, stroke = self._wires[k]
                    if other != node and distance(end, stroke) < NEAR:
                        return True
        return False


def _runs_into(symbol: Box, wire: Stroke) -> bool:
    """Whether a wire is inside a symbol, or passes near one at which it does not end."""
    round_it = symbol.grown(INSIDE + NEAR)
    ends = round_it.contains(wire.start) or round_it.contains(wire.end)
    return touch(symbol if ends else round_it, wire, 0)
