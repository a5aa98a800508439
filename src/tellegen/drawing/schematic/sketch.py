"""A schematic after a sketch, which a netlist gives or which is made for a bridge or a mesh: points have places, and elements
stand between them.

A sketch tells proportions, not sizes: the figure is as small as labels and symbols allow.
"""

from collections.abc import Iterator, Mapping
from itertools import pairwise, product
from typing import final

from tellegen.core.domains import REFERENCES
from tellegen.drawing.schematic.bodies import LABEL_GAP, element_shapes, label_shape
from tellegen.drawing.schematic.plan import SchematicLabels, SchematicPlan
from tellegen.drawing.schematic.rails import connected_groups, neighbours
from tellegen.drawing.schematic.symbols import OnePortSymbol, curves, placed, rectangle, reference_mark
from tellegen.drawing.schematic.wires import Collisions, Net
from tellegen.model.model import Element, Sketch, SketchedBranch
from tellegen.scenes.geometry import Point, box_about
from tellegen.scenes.ink import Pen
from tellegen.scenes.scene import Origin, Shape, label_box

# The largest is for formulas as labels; what does not fit then would not fit on a page.
UNITS = (110.0, 120.0, 130.0, 150.0, 175.0, 205.0, 240.0)
"""What one unit of a sketch may be in the figure, the smallest first."""
LEAST_LEAD = 5.0
"""Of the wire between a point and a symbol."""
BLOCK_HALF, BLOCK_EDGE = 24.0, 14.0
"""Half the height of a connection block, and what it is wider than its terminals."""
LEVEL = 1e-6
"""A direction that is so near to an axis lies on it."""
FOOT = 9.0
"""From a node to the mark of its reference."""
ALONG = (0.0, 0.12, -0.12, 0.25, -0.25)
"""Where beside a symbol its label may stand, in units along it."""


def sketch_shapes(elements: tuple[Element, ...], sketch: Sketch, texts: SchematicLabels) -> list[Shape]:
    """The shapes of a sketch; none where it puts things on each other or does not know all elements."""
    # A netlist that was edited since may have other elements, or the same ones between other nodes.
    if {element.name for element in elements} != sketch.branches.keys() or any(
        tuple(sketch.nodes[p] for p in sketch.branches[e.name].points) != e.nodes for e in elements
    ):
        return []
    fitting: list[SketchDrawing] = []
    for unit in UNITS:
        drawing = SketchDrawing(elements, sketch, texts, unit)
        if drawing.faulty:
            continue
        # The smallest unit at which all labels are where they were asked for; else the smallest that fits at all.
        if not drawing.displaced:
            return drawing.pen.shapes
        fitting.append(drawing)
    return fitting[0].pen.shapes if fitting else []


@final
class SketchDrawing:
    """Draws a sketch in one size. `displaced` counts the labels that are not where they should be."""

    def __init__(self, elements: tuple[Element, ...], sketch: Sketch, texts: SchematicLabels, unit: float) -> None:
        self.sketch, self.texts, self.unit = sketch, texts, unit
        self.pen = Pen()
        self.faults = Collisions()
        self.displaced = 0
        self._crowded = False
        self._nets: dict[str, Net] = {}
        self._pieces: dict[str, list[tuple[complex, complex]]] = {}
        self._labels: list[tuple[Element, OnePortSymbol, complex, complex]] = []
        for element in elements:
            branch = sketch.branches[element.name]
            if len(branch.points) == 2:
                self._one_port(element, branch)
            else:
                self._block(element, branch)
        for one, two in sketch.wires:
            self._wire(sketch.nodes[one], sketch.points[one], sketch.points[two])
        # Labels come last, when all that they must keep free of is drawn.
        self._draw_nets({e.name: e for e in elements})
        for label in self._labels:
            self._label(*label)

    @property
    def faulty(self) -> bool:
        """Whether a symbol has no room, a label found none, or something lies on something else."""
        return self._crowded or self.pen.left_out > 0 or self.faults.found()

    # -- elements --------------------------------------------------------------------------------------------------------------

    def _one_port(self, element: Element, branch: SketchedBranch) -> None:
        first, second = (self.sketch.points[point] for point in branch.points)
        start, end = (first, second) if branch.drawn else (second, first)
        # A sketch may put two nodes on one point: no size makes room between them.
        if start == end:
            self._crowded = True
            return
        way = (end - start) / abs(end - start)
        offset = branch.shifts[0] * way * 1j
        symbol = self.texts.symbol(element)
        half = symbol.length / 2 / self.unit
        centre = (start + end) / 2 + offset
        # A symbol longer than its line would reach into what lies behind the node.
        self._crowded |= abs(end - start) / 2 - half < LEAST_LEAD / self.unit
        # A netlist may draw a branch against its sign; the symbol then points the other way.
        forward = way if branch.drawn else -way
        for node, point, near in zip(element.nodes, (first, second), (-half, half), strict=True):
            self._wire(node, point, point + offset)
            self._wire(node, point + offset, centre + near * forward)
        self._symbol(element, symbol, centre, forward)
        self._labels.append((element, symbol, centre, branch.label * way * 1j))

    def _block(self, element: Element, branch: SketchedBranch) -> None:
        """A connection block: a box with the terminals of its sides above and below."""
        tops = [self.sketch.points[branch.points[k]] for k in (0, 2)]
        bottoms = [self.sketch.points[branch.points[k]] for k in (1, 3)]
        if tops[0] == bottoms[0] or tops[1] == bottoms[1]:
            self._crowded = True
            return
        # Along and across its first side: a sketch may lie in any direction.
        down = (bottoms[0] - tops[0]) / abs(bottoms[0] - tops[0])
        ends = [
            (top + shift * down * 1j, bottom + shift * down * 1j)
            for top, bottom, shift in zip(tops, bottoms, branch.shifts, strict=True)
        ]
        middle = sum(a + b for a, b in ends) / 4
        half = BLOCK_HALF / self.unit
        text = self.texts.of(element)
        apart = abs(((ends[1][0] - ends[0][0]) * down.conjugate()).imag) * self.unit
        wide = max(apart / 2 + BLOCK_EDGE, self.texts.extent(text)[0] / 2 + 8)
        for side, (top, bottom) in enumerate(ends):
            for point, end, sense, node in (
                (tops[side], top, -1, element.nodes[2 * side]),
                (bottoms[side], bottom, 1, element.nodes[2 * side + 1]),
            ):
                # The terminal is where the line meets the edge of the box.
                level = ((middle - end) * down.conjugate()).real + sense * half
                # The lines of both sides end inside the box, or one of them would pass through it.
                self._crowded |= sense * level > 0
                self._wire(node, point, end)
                self._wire(node, end, end + level * down)
        block = OnePortSymbol(2 * BLOCK_HALF, wide, wide, (rectangle(-BLOCK_HALF, -wide, BLOCK_HALF, wide),))
        self._symbol(element, block, middle, down)
        self.pen.put(label_shape(element, text, self._at(middle)))

    def _symbol(self, element: Element, symbol: OnePortSymbol, centre: complex, towards: complex) -> None:
        at, way = self._at(centre), (towards.real, -towards.imag)
        across = symbol.up + symbol.down
        size = abs(way[0]) * symbol.length + abs(way[1]) * across, abs(way[1]) * symbol.length + abs(way[0]) * across
        # Neither level nor upright.
        if min(map(abs, way)) > LEVEL:
            self.faults.slanted(at, way, symbol.length, across)
        else:
            self.faults.symbol(box_about(at, *size))
        for shape in element_shapes(element, symbol, placed(at, way)):
            self.pen.put(shape)

    def _label(self, element: Element, symbol: OnePortSymbol, centre: complex, side: complex) -> None:
        """The label beside its symbol: on the side that was asked for, else on the other."""
        text = self.texts.of(element)
        along, across = self.texts.extent(text)
        away = max(symbol.up, symbol.down) + LABEL_GAP + (abs(side.real) * along + abs(side.imag) * across) / 2
        # First where it was asked for, then a little further along, then on the other side.
        for k, (way, shift) in enumerate(product((side, -side), ALONG)):
            at = self._at(centre + way * away / self.unit + shift * side * 1j)
            label = label_shape(element, text, at)
            if self.pen.is_free(label_box(label), LABEL_GAP - 1 if k == 0 else 1.5):
                self.pen.put(label)
                self.displaced += k > 0
                return
        # A label on something else is worse than a larger figure: the next unit is tried.
        self.pen.left_out += 1

    # -- wires -----------------------------------------------------------------------------------------------------------------

    def _wire(self, node: str, one: complex, two: complex) -> None:
        if abs(one - two) > 1e-9:
            self._pieces.setdefault(node, []).append((one, two))

    def _draw_nets(self, elements: Mapping[str, Element]) -> None:
        domains = {node: e.kind.domains[k // 2] for e in elements.values() for k, node in enumerate(e.nodes)}
        for node, drawn in self._pieces.items():
            pieces = list(_split(drawn))
            groups = connected_groups(neighbours(pieces))
            # Pieces of one node that nothing joins on the page are joined by their marks.
            marked = node in REFERENCES or len(groups) > 1
            net = Net(Origin(part="rail" if marked else "wire", port=node, domain=domains.get(node, "")), dots=True)
            for one, two in pieces:
                net.join(self._at(one), self._at(two))
                self.faults.wire(self._at(one), self._at(two), node)
            for ends in groups if marked else ():
                self._ground(node, net, ends)
            for shape in net.shapes():
                self.pen.put(shape)

    def _ground(self, node: str, net: Net, ends: list[complex]) -> None:
        """The mark of a reference under the lowest of its points, the first from the left."""
        # Below the lowest point there is nothing that a mark could touch.
        x, y = self._at(min(ends, key=lambda end: (end.imag, end.real)))
        net.join((x, y), (x, y + FOOT))
        self.faults.wire((x, y), (x, y + FOOT), node)
        mark = reference_mark(node if node in REFERENCES else "gnd")
        for curve in curves(mark, placed((x, y + FOOT), (1, 0)), Origin(part="ground", port=node)):
            self.pen.put(curve)

    def _at(self, place: complex) -> Point:
        return place.real * self.unit, -place.imag * self.unit


def _split(pieces: list[tuple[complex, complex]]) -> Iterator[tuple[complex, complex]]:
    """The same lines in pieces that have only ends in common, each once."""
    ends = list(dict.fromkeys(_rounded(end) for piece in pieces for end in piece))
    seen: set[frozenset[complex]] = set()
    for one, two in pieces:
        start, end = _rounded(one), _rounded(two)
        span = end - start
        on = {}
        for point in ends:
            share = (point - start) / span if span else 0j
            # Netlists give places in few digits: a point so near to a line is meant to lie on it.
            if abs(share.imag) * abs(span) < 1e-4 and -1e-6 <= share.real <= 1 + 1e-6:
                on[point] = share.real
        for a, b in pairwise(sorted(on, key=on.__getitem__)):
            if (key := frozenset((a, b))) not in seen:
                seen.add(key)
                yield a, b


def _rounded(point: complex) -> complex:
    # Ends that were computed from shifts and angles meet again when rounded.
    return complex(round(point.real, 4), round(point.imag, 4))


class AbstractSketchMaker:
    """What makes a sketch, as it goes: labels of points with their places and nodes, wires between them, and elements."""

    def __init__(self) -> None:
        self.points: dict[str, complex] = {}
        self.nodes_at: dict[str, str] = {}
        self.wires: list[tuple[str, str]] = []
        self.branches: dict[str, SketchedBranch] = {}

    def point(self, label: str, place: complex, node: str) -> str:
        """A point of a node; gives its label back."""
        self.points[label], self.nodes_at[label] = place, node
        return label

    def element(self, element: Element, one: str, two: str, side: int = 1) -> None:
        """An element between points; its label is above it or, where it is upright, on its left (side 1) or right (-1)."""
        first, second = (one, two) if self.nodes_at[one] == element.nodes[0] else (two, one)
        way = self.points[second] - self.points[first]
        # A sketch counts the sides of labels in the direction of the element, a reader on the page.
        ahead = 1 if way.real > 1e-9 or way.imag > 1e-9 else -1
        self.branches[element.name] = SketchedBranch((first, second), (0.0,), ahead * side, drawn=True)

    def made(self) -> Sketch:
        """The sketch."""
        return Sketch(self.points, self.nodes_at, tuple(self.wires), self.branches)


def has_one_ports_alone(plan: SchematicPlan) -> bool:
    """Whether a part has one-ports of wires or pipes alone, no names of ports and no return lines."""
    others = (station.element is not None or station.is_shaft or station.port for station in plan.stations)
    return not plan.returns and not any(others)


def one_ports(plan: SchematicPlan) -> tuple[tuple[Element, ...], tuple[Element, ...]]:
    """Those that hang from nodes, by these, and those between nodes, in the order of description."""
    hanging = (item.element for station in plan.stations for item in station.hanging)
    linking = (link.element for link in plan.links)
    return tuple(e for e in hanging if e is not None), tuple(e for e in linking if e is not None)
