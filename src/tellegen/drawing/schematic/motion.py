"""A schematic in motion: bodies move with their nodes, springs and dampers reach from one node to the other, and marks on discs,
wheels and machines turn with their shafts.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import cos, floor, log10, sin
from typing import final

import numpy as np
from numpy.typing import NDArray

from tellegen.drawing.schematic.symbols import MECHANICAL_DOMAINS, circle, is_load, line, one_port_symbol
from tellegen.expressions import Number
from tellegen.graph.measurements import Measurements
from tellegen.model.model import Element
from tellegen.results import Run
from tellegen.scenes.geometry import Box, Point, hull, outline_points, union
from tellegen.scenes.ink import distance, ink_box, strokes_through
from tellegen.scenes.lettering import quantity_latex
from tellegen.scenes.scene import MARGIN, Curve, Dot, Label, Origin, Scene, Shape, Wire, framed_scene, mapped, moved

Array = NDArray[np.float64]
TRANSLATIONAL, ROTATIONAL = "translational", "rotational"
FARTHEST = 60.0
"""So far the largest motion leads on the page, where what stands beside it leaves the room."""
SHORTEST, LONGEST = 0.75, 1.8
"""A spring is drawn between these shares of its length at rest."""
LEAST_WIRE = 2.0
NEAR = 1.6
"""A wire that comes so near to a symbol touches it."""
STILL = 1e-12
"""Metres or radians: what moves less does not move."""
LARGEST_TURN = 0.6
"""Radians from frame to frame: marks that turn faster seem to jump."""
SMALLEST = 16.0
"""A circle that is smaller is no wheel, but its hub."""


def node_motions(run: Run, domain: str = TRANSLATIONAL) -> dict[str, Array]:
    """How far each node of a domain that moves has moved since the start, at the times of the run, in metres or radians."""
    graph = run.graph
    reference = next((node.name for node in graph.nodes if node.reference and node.domain == domain), None)
    if reference is None:
        return {}
    measuring, lengths = Measurements(graph.nodes, graph.ports, graph.couplings), dict[str, Array]()
    found: dict[str, Array] = {}
    for node in graph.nodes:
        speed = None if node.domain != domain else measuring.between(node.name, reference, domain)
        if speed is None or node.reference:
            continue
        way = np.zeros(len(run.t))
        for name in speed.free_symbols:
            if name not in lengths:
                lengths[name] = _integral(run.t, run.values(name))
            share = speed.derivative(name)
            assert isinstance(share, Number), "a sum of across variables"
            way = way + float(share.rational) * lengths[name]
        if float(np.max(np.abs(way), initial=0.0)) > STILL:
            found[node.name] = way
    return found


def _integral(t: Array, values: Array) -> Array:
    steps = np.nan_to_num((values[1:] + values[:-1]) / 2 * np.diff(t))
    return np.concatenate(([0.0], np.cumsum(steps)))


@final
@dataclass(frozen=True, slots=True)
class _Stretched:
    """A symbol between two places of the axis that move with a node each; None stands for one that stays."""

    low: float
    high: float
    nodes: tuple[str | None, str | None]


@final
class SchematicMotion:
    """Which shapes of a schematic move with which nodes. `axis` is 0 where bodies move across the page, 1 where up and down."""

    def __init__(
        self, shapes: Sequence[Shape], elements: Iterable[Element], ways: Mapping[str, Array], scale: float = 0.0
    ) -> None:
        self.shapes, self.ways = shapes, ways
        self.elements = {
            e.name: e for e in elements if TRANSLATIONAL in e.kind.domains and not ways.keys().isdisjoint(e.nodes)
        }
        self._boxes = {name: box for name in self.elements if (box := self._box(name)) is not None}
        wires = [s for s in shapes if isinstance(s, Wire)]
        self._wires: dict[str, list[Wire]] = {}
        for wire in wires:
            self._wires.setdefault(wire.origin.port, []).append(wire)
        touched = {name: self._touched(name) for name in self._boxes if len(self.elements[name].kind.domains) == 1}
        votes = [axis for sides in touched.values() for axis, _, _ in sides]
        self.axis = int(2 * sum(votes) > len(votes))
        self.stretched = {
            name: made for name, sides in touched.items() if (made := self._stretch(name, sides)) is not None
        }
        self.carried = {name: node for name in touched if name not in self.stretched and (node := self._carrier(name))}
        self.scale = scale or self._scale()

    def _box(self, name: str) -> Box | None:
        curves = [
            s for s in self.shapes if isinstance(s, Curve) and s.origin.element == name and s.origin.part == "symbol"
        ]
        points = [point for curve in curves for point in outline_points(curve.outline)]
        return Box(*np.min(points, axis=0), *np.max(points, axis=0)) if points else None

    def _touched(self, name: str) -> list[tuple[int, int, str]]:
        """The sides of a symbol at which wires of its nodes end: the axis, 0 for the lower side or 1, and the node."""
        box, found = self._boxes[name], []
        (x, y), nodes = box.centre, self.elements[name].nodes
        for axis, side, at in (
            (0, 0, (box.left, y)),
            (0, 1, (box.right, y)),
            (1, 0, (x, box.top)),
            (1, 1, (x, box.bottom)),
        ):
            found += [
                (axis, side, n) for n in dict.fromkeys(nodes) if any(_reaches(w, at) for w in self._wires.get(n, ()))
            ]
        return found

    def _stretch(self, name: str, sides: list[tuple[int, int, str]]) -> _Stretched | None:
        element, box = self.elements[name], self._boxes[name]
        # Bodies, arrows of forces and the circles of sources keep their shape.
        if element.kind.role == "source" or is_load(element.kind) or element.kind.grounded:
            return None
        ends: dict[int, str] = {side: node for axis, side, node in sides if axis == self.axis}
        if not ends:
            return None
        others = [node for node in element.nodes if node not in ends.values()]
        first, second = (ends.get(side, others[0] if others else "") for side in (0, 1))
        low, high = (box.left, box.right) if self.axis == 0 else (box.top, box.bottom)
        return _Stretched(low, high, (self._moving(first), self._moving(second)))

    def _moving(self, node: str) -> str | None:
        return node if node in self.ways else None

    def _carrier(self, name: str) -> str | None:
        """The node with which a body moves; a source between two nodes stays."""
        element = self.elements[name]
        if element.kind.grounded or is_load(element.kind):
            moving = [node for node in element.nodes if node in self.ways]
            return moving[0] if len(moving) == 1 else None
        return None

    def _scale(self) -> float:
        """Units of the page for a metre: as much as the farthest, the springs and the wires to what stays allow."""
        farthest = max(float(np.max(np.abs(way))) for way in self.ways.values())
        found = FARTHEST / farthest
        for held in self.stretched.values():
            length = held.high - held.low
            change = self._sign * (self._way(held.nodes[1]) - self._way(held.nodes[0]))
            found = min(
                found, _room(-np.min(change), (1 - SHORTEST) * length), _room(np.max(change), (LONGEST - 1) * length)
            )
        for node in self.ways:
            for wire in self._wires.get(node, ()):
                for end, free in (*pairwise(wire.points), *pairwise(wire.points[::-1])):
                    gap = free[self.axis] - end[self.axis]
                    if self._is_held(end) and gap:
                        change = self._sign * self._way(node) * np.sign(gap)
                        found = min(found, _room(-np.min(change), max(abs(gap) - LEAST_WIRE, LEAST_WIRE)))
        return found

    @property
    def _sign(self) -> float:
        """A body that moves forward moves to the right, or up."""
        return 1.0 if self.axis == 0 else -1.0

    def _way(self, node: str | None) -> Array:
        return np.zeros(1) if node is None else self.ways[node]

    def _is_held(self, point: Point) -> bool:
        """Whether a wire ends there at something that stays."""
        return any(
            box.grown(NEAR).contains(point)
            for name, box in self._boxes.items()
            if name not in self.stretched and name not in self.carried
        )

    def shift(self, node: str | None, k: int) -> float:
        """How far along the axis what moves with a node is on the page at a row of the run."""
        return 0.0 if node is None or node not in self.ways else float(self._sign * self.scale * self.ways[node][k])

    def mark_shift(self, element: str, k: int) -> tuple[float, float]:
        """How far what stands beside an element has moved."""
        held = self.stretched.get(element)
        far = self.shift(self.carried.get(element), k)
        if held is not None:
            far = (self.shift(held.nodes[0], k) + self.shift(held.nodes[1], k)) / 2
        return (far, 0.0) if self.axis == 0 else (0.0, far)

    def moves(self, shape: Shape) -> bool:
        """Whether a shape moves at all."""
        origin = shape.origin
        if origin.part == "wall":
            return False
        if origin.element in self.stretched:
            return any(self.stretched[origin.element].nodes)
        return origin.element in self.carried or _node_of(origin) in self.ways

    def at(self, k: int) -> Iterator[Shape]:
        """The shapes that move, at a row of the run."""
        return (self._placed(shape, k) for shape in self.shapes if self.moves(shape))

    def _placed(self, shape: Shape, k: int) -> Shape:
        origin = shape.origin
        held = self.stretched.get(origin.element)
        if held is not None and isinstance(shape, Curve):
            low, high = (self.shift(node, k) for node in held.nodes)
            growth = (high - low) / (held.high - held.low)
            return mapped(shape, lambda p: self._along(p, low + growth * (p[self.axis] - held.low)), lambda box: box)
        if origin.element in self.elements:
            return moved(shape, *self.mark_shift(origin.element, k))
        far = self.shift(_node_of(origin), k)
        if isinstance(shape, Wire | Dot):
            return mapped(shape, lambda p: p if self._is_held(p) else self._along(p, far), lambda box: box)
        return moved(shape, *self._along((0.0, 0.0), far))

    def _along(self, point: Point, far: float) -> Point:
        return (point[0] + far, point[1]) if self.axis == 0 else (point[0], point[1] + far)

    def rows(self) -> list[int]:
        """The rows of the run at which some node is farthest."""
        return sorted({int(row) for way in self.ways.values() for row in (np.argmin(way), np.argmax(way))})

    def with_room(self, scene: Scene) -> Scene:
        """The scene with room for all of the motion, and below it the length of a part of it."""
        box = union([scene.box, *(ink_box(self.at(row)).grown(MARGIN / 2) for row in self.rows())])
        length = _round_length(FARTHEST / 1.5 / self.scale)
        y, x = box.bottom + MARGIN / 4, box.left + MARGIN
        bar, origin = length * self.scale, Origin(part="motion scale")
        marks = (line((x, y), (x + bar, y)), *(line((at, y - 4), (at, y + 4)) for at in (x, x + bar)))
        drawn = [replace(mark, origin=origin) for mark in marks]
        text = Label(
            rf"{quantity_latex(length, 'm')}\text{{ of motion}}", (x + bar + 8, y), 13.0, "left", origin=origin
        )
        grown = union([box, ink_box([text, *drawn]).grown(MARGIN / 2)])
        return framed_scene(scene.title, scene.about, grown, (*scene.shapes, *drawn, text))


@final
@dataclass(frozen=True, slots=True)
class _Turning:
    """What turns with a node: a wheel seen from its front, or a disc from its side, where `edge` is half its width."""

    element: str
    node: str
    centre: Point
    radius: float
    edge: float = 0.0
    spoke: bool = False


@final
class ShaftMarks:
    """Marks on what turns, from the shapes of a schematic and the angles of its nodes at the frames."""

    def __init__(self, shapes: Sequence[Shape], elements: Iterable[Element], angles: Mapping[str, Array]) -> None:
        fastest = max((float(np.max(np.abs(np.diff(angle)), initial=0.0)) for angle in angles.values()), default=0.0)
        self.slower = max(1.0, _round_length(2 * fastest / LARGEST_TURN)) if fastest > 0 else 1.0
        """So many times less than the shafts the marks turn: faster, they would seem to stand or to run backwards."""
        self.angles = {node: angle / self.slower for node, angle in angles.items()}
        self.turning = [
            turning
            for element in elements
            if not angles.keys().isdisjoint(element.nodes)
            for turning in self._found(element, shapes)
        ]

    def _found(self, element: Element, shapes: Sequence[Shape]) -> Iterator[_Turning]:
        ends = [
            (n, d) for n, d in zip(element.nodes, np.repeat(element.kind.domains, 2), strict=True) if n in self.angles
        ]
        nodes = [node for node, domain in ends if domain == ROTATIONAL]
        own = [
            s for s in shapes if isinstance(s, Curve) and s.origin.element == element.name and s.origin.part == "symbol"
        ]
        # Of a planetary gear the circles are sun, planets and ring, which turn in ways of their own.
        if not nodes or not own or element.kind.domains.count(ROTATIONAL) > 2:
            return
        if element.kind.grounded and one_port_symbol(element.kind).on_shaft is not None:
            box = ink_box(own)
            if box.height > box.width:
                yield _Turning(element.name, nodes[0], box.centre, box.height / 2, box.width / 2)
            return
        wires = [s for s in shapes if isinstance(s, Wire) and s.origin.port in nodes]
        for curve in own:
            x, y = (box := hull(outline_points(curve.outline))).centre
            if [step for step, _ in curve.outline] != list("MCCCCZ") or box.width < SMALLEST or not wires:
                continue
            # Of two wheels each turns with the shaft that leads to it.
            near = min(wires, key=lambda w: min(abs(u - x) + abs(v - y) for u, v in w.points))
            # A machine has a letter in its middle, a pump an arrow: their marks are on the rim.
            spoke = MECHANICAL_DOMAINS.issuperset(element.kind.domains)
            yield _Turning(element.name, near.origin.port, (x, y), box.width / 2, spoke=spoke)

    def at(self, k: int) -> Iterator[Shape]:
        """The marks at a frame."""
        for turning in self.turning:
            angle, (x, y), radius = float(self.angles[turning.node][k]), turning.centre, turning.radius
            if turning.edge:
                # A point of the rim that faces us at the start goes down, as the arrows of torques tell, and is pale behind.
                level = y + radius * sin(angle)
                mark = line((x - turning.edge, level), (x + turning.edge, level), weight="bold")
                mark = replace(mark, tone="power" if cos(angle) >= 0 else "quiet")
            else:
                rim = x + radius * cos(angle), y - radius * sin(angle)
                mark = line((x, y), rim) if turning.spoke else circle(*rim, 3.5, filled=True)
                mark = replace(mark, tone="power")
            yield replace(mark, origin=Origin(turning.element, "turning", turning.node))

    def with_words(self, scene: Scene) -> Scene:
        """The scene with words below it where the marks turn slower than the shafts."""
        if self.slower == 1 or not self.turning:
            return scene
        at = scene.box.left + MARGIN, scene.box.bottom + MARGIN / 4
        told = f"marks turn {self.slower:g} times slower than shafts"
        text = Label(
            told, at, 13.0, "left", math=False, slanted=True, tone="quiet", origin=Origin(part="turning scale")
        )
        grown = union([scene.box, ink_box([text]).grown(MARGIN / 2)])
        return framed_scene(scene.title, scene.about, grown, (*scene.shapes, text))


def _node_of(origin: Origin) -> str:
    """The node of a wire, of an open end or of the circle of a port."""
    if origin.part == "port":
        return origin.element
    return "" if origin.element else origin.port


def _reaches(wire: Wire, at: Point) -> bool:
    return any(distance(at, stroke) <= NEAR for stroke in strokes_through(wire.points))


def _room(change: float, room: float) -> float:
    """The scale at which a change takes all of its room."""
    return room / change if change > STILL else np.inf


def _round_length(length: float) -> float:
    """The largest length of one, two or five with zeros that is not longer."""
    power = 10.0 ** floor(log10(length))
    return float(max(share * power for share in (1, 2, 5) if share * power <= length * (1 + 1e-9)))
