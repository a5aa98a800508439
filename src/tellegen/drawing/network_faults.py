"""What must not happen in a schematic: symbols on each other, wires through symbols, wires of two nodes that meet."""

from typing import final

from tellegen.drawing.geometry import Box, Point
from tellegen.drawing.overlaps import Grid, Stroke, distance, touch

NEAR = 2.5
"""Wires of two nodes keep at least so far from each other's ends."""
INSIDE = 1.5
"""So much of a wire may be within the box of a symbol where it ends."""


@final
class Faults:
    """Symbols and wires as they are drawn, and whether they stand in each other's way."""

    def __init__(self) -> None:
        self._symbols: list[Box] = []
        self._wires: list[tuple[str, Stroke]] = []

    def symbol(self, box: Box) -> None:
        """A symbol takes a box; its wires end at the edge."""
        self._symbols.append(box.grown(-INSIDE))

    def wire(self, one: Point, two: Point, node: str) -> None:
        """A straight wire of a node."""
        self._wires.append((node, Stroke(one, two)))

    def found(self) -> bool:
        """Whether anything lies on anything else."""
        return self._symbols_meet() or self._wires_meet()

    def _symbols_meet(self) -> bool:
        grid = Grid()
        for k, box in enumerate(self._symbols):
            if any(box.overlaps(self._symbols[j]) for j in grid.near(box)):
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
