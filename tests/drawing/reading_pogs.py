"""Reads a POG figure back: its shapes alone, as an eye follows the wires."""

from collections import defaultdict
from collections.abc import Iterator

from tellegen.scenes.geometry import Point
from tellegen.scenes.ink import Stroke, distance
from tellegen.scenes.scene import Block, Dot, Scene, Sum, Wire
from tellegen.scenes.strokes import SUM_RADIUS

NEAR = 1.0


def shown_elements(scene: Scene) -> list[str]:
    """The elements of the elaboration blocks, each as often as it stands there; a vector block stands for several."""
    parts = ("gain", "A", "D")
    return [
        name
        for shape in scene.shapes
        if isinstance(shape, Block) and shape.origin.part in parts
        for name in shape.origin.element.split()
    ]


class Signals:
    """The signal-flow graph of a figure: which shape each wire leaves, which it enters, and whether a spot negates it there."""

    def __init__(self, scene: Scene, first: str = "") -> None:
        found = [s for s in scene.shapes if isinstance(s, Block | Sum | Dot)]
        self.nodes: list[Block | Sum | Dot] = sorted(found, key=lambda s: not first or s.origin.part != first)
        self.edges: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for wire in scene.shapes:
            if isinstance(wire, Wire):
                start, end = self._node_at(wire.points[0]), self._node_at(wire.points[-1])
                if start is not None and end is not None:
                    self.edges[start].append((end, self._negated(end, wire.points[-2])))

    def _node_at(self, point: Point) -> int | None:
        for k, node in enumerate(self.nodes):
            if isinstance(node, Block):
                touched = node.box.grown(NEAR).contains(point)
            else:
                reach = SUM_RADIUS + NEAR if isinstance(node, Sum) else NEAR
                touched = distance(point, Stroke(node.centre, node.centre)) <= reach
            if touched:
                return k
        return None

    def _negated(self, k: int, before: Point) -> int:
        node = self.nodes[k]
        if not isinstance(node, Sum):
            return 0
        dx, dy = before[0] - node.centre[0], before[1] - node.centre[1]
        side = ((dx > 0) - (dx < 0), 0) if abs(dx) > abs(dy) else (0, (dy > 0) - (dy < 0))
        return int(side in node.spots)


def signal_loops(scene: Scene, most: int) -> list[int]:
    """The number of spots along each elementary loop of a figure, up to so many loops."""
    signals = Signals(scene)
    found: list[int] = []
    for spots in _loops(signals):
        found.append(spots)
        if len(found) == most:
            break
    return found


def loops_through(scene: Scene, part: str) -> list[int]:
    """The number of spots along each elementary loop through the block of one part of the equations."""
    return [*_loops(Signals(scene, first=part), roots=1)]


def _loops(signals: Signals, roots: int | None = None) -> Iterator[int]:
    for root in range(len(signals.nodes) if roots is None else roots):
        # A loop is found from its first node only.
        stack: list[tuple[int, int, frozenset[int]]] = [(root, 0, frozenset((root,)))]
        while stack:
            here, spots, seen = stack.pop()
            for ahead, minus in signals.edges[here]:
                if ahead == root:
                    yield spots + minus
                elif ahead > root and ahead not in seen:
                    stack.append((ahead, spots + minus, seen | {ahead}))
