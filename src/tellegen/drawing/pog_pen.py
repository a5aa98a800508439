"""Collects the shapes of a POG figure. Wires that meet at a bare corner become one line, so that the corner is sharp."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal, final

from tellegen.drawing.geometry import Point
from tellegen.drawing.options import Options
from tellegen.drawing.pog_measures import SUM_RADIUS
from tellegen.drawing.pog_plan import NodeKind
from tellegen.drawing.scene import Block, Dot, Label, Origin, Shape, Sum, Weight, Wire

Side = Literal["left", "right", "up", "down"]
STEP: dict[Side, Point] = {"left": (-1, 0), "right": (1, 0), "up": (0, -1), "down": (0, 1)}
ZERO_RADIUS = 9.0
LEAD_PART = "lead"


@final
@dataclass(frozen=True, slots=True)
class Node:
    """Where wires meet on a line: a summation, a dot, a bare corner, a zero, an end, or a box."""

    x: float
    y: float
    kind: NodeKind | Literal["box"]
    half: float = 0
    """Half the width of a box."""

    @property
    def takes_head(self) -> bool:
        """Whether a wire that comes here has an arrowhead."""
        return self.kind in ("sum", "box", "end")

    def edge(self, side: Side) -> Point:
        """Where a wire touches it."""
        radius = {"sum": SUM_RADIUS, "zero": ZERO_RADIUS, "box": self.half}.get(self.kind, 0)
        dx, dy = STEP[side]
        return self.x + dx * radius, self.y + dy * radius


@final
class Pen:
    """Draws into a list of shapes, moved by the origin of the ladder that is drawn."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.shapes: list[Shape] = []
        self._wires: list[Wire] = []
        self._bends: set[Point] = set()

    def weight(self, weight: Weight) -> Weight:
        """Vectors are bold, or double where the options ask for it."""
        return self.options.vectors if weight == "bold" else weight

    def add(self, *shapes: Shape) -> None:
        """Draw shapes as they are."""
        self.shapes.extend(shapes)

    def wire(self, points: Iterable[Point], head: bool, weight: Weight, origin: Origin) -> None:
        """A piece of a wire in the direction of its signal."""
        found = tuple(points)
        if found[0] != found[-1]:
            self._wires.append(Wire(found, head, self.weight(weight), origin=origin))

    def node(self, node: Node, spots: tuple[Point, ...], weight: Weight, origin: Origin) -> None:
        """The mark of a node, where it has one."""
        at = (node.x, node.y)
        match node.kind:
            case "sum":
                self.add(Sum(at, spots, origin=origin))
            case "dot":
                self.add(Dot(at, self.weight(weight), origin=replace(origin, part="dot")))
            case "zero":
                self.add(Label("0", at, size=14, origin=replace(origin, part="zero")))
            case "bend":
                self._bends.add(at)
            case _:
                pass

    def box(self, block: Block, text: str, size: float) -> None:
        """A block and its text."""
        origin = replace(block.origin, part=f"{block.origin.part} text")
        self.add(block, Label(text, block.box.centre, size=size, tone=block.tone, origin=origin))

    def finished(self) -> list[Shape]:
        """All shapes, with wires joined at bare corners."""
        return [*self.shapes, *_joined(self._wires, self._bends)]


def _joined(wires: list[Wire], bends: set[Point]) -> list[Wire]:
    """Wires that meet in a bend as one."""
    after = {wire.points[0]: k for k, wire in enumerate(wires) if wire.points[0] in bends}
    found: list[Wire] = []
    gone: set[int] = set(after.values())
    begun = [k for k in range(len(wires)) if k not in gone]
    # A ring of wires without a beginning is begun anywhere.
    for k in (*begun, *sorted(gone)):
        if k in gone and k not in after.values():
            continue
        wire = wires[k]
        if k in gone:
            gone.discard(k)
            after.pop(wire.points[0], None)
        while not wire.head and (next_ := after.pop(wire.points[-1], None)) is not None:
            wire = _one(wire, wires[next_])
        found.append(wire)
    return found


def _one(first: Wire, second: Wire) -> Wire:
    origin = second.origin if second.origin.part == LEAD_PART else first.origin
    return Wire(_straightened((*first.points, *second.points[1:])), second.head, first.weight, origin=origin)


def _straightened(points: tuple[Point, ...]) -> tuple[Point, ...]:
    """Without points in the middle of a straight piece."""
    found = [points[0]]
    for here, ahead in pairwise(points[1:]):
        (x, y), (u, v), (a, b) = found[-1], here, ahead
        if not (x == u == a or y == v == b):
            found.append(here)
    return (*found, points[-1])
