"""Reads schematics back: which wires reach the symbol of an element, and what lies on what."""

from collections import defaultdict
from itertools import combinations, pairwise

from tellegen.core.domains import REFERENCES
from tellegen.core.union_find import UnionFind
from tellegen.scenes.geometry import Box, Point, hull
from tellegen.scenes.ink import Grid, Stroke, distance, strokes_through, touch
from tellegen.scenes.scene import Curve, Scene, Wire

NEAR = 0.5
"""Ends so near to a line are on it."""


def wires(scene: Scene) -> list[Wire]:
    return [shape for shape in scene.shapes if isinstance(shape, Wire)]


def symbols(scene: Scene) -> dict[str, list[Curve]]:
    """The outlines of each element's symbol."""
    found: dict[str, list[Curve]] = defaultdict(list)
    for shape in scene.shapes:
        if isinstance(shape, Curve) and shape.origin.part == "symbol":
            found[shape.origin.element].append(shape)
    return found


def symbol_boxes(scene: Scene) -> dict[str, Box]:
    return {
        name: hull(point for curve in curves for _, points in curve.outline for point in points)
        for name, curves in symbols(scene).items()
    }


def symbols_on_each_other(scene: Scene) -> list[tuple[str, str]]:
    boxes = {name: box.grown(-NEAR) for name, box in symbol_boxes(scene).items()}
    names, grid = list(boxes), Grid()
    for k, name in enumerate(names):
        grid.add(boxes[name], k)
    pairs = [(name, names[j]) for k, name in enumerate(names) for j in grid.near(boxes[name]) if j > k]
    return [(one, two) for one, two in pairs if boxes[one].overlaps(boxes[two])]


def wires_through_symbols(scene: Scene) -> list[tuple[str, str]]:
    """Wires with a piece inside the box of a symbol of an element that they do not end at."""
    found = []
    boxes = {name: box.grown(-1.5) for name, box in symbol_boxes(scene).items() if box.width > 3 and box.height > 3}
    for wire in wires(scene):
        for a, b in pairwise(wire.points):
            (piece,) = strokes_through((a, b))
            # The box of a slanted symbol is larger than the symbol: what leads to it ends inside.
            slanted = a[0] != b[0] and a[1] != b[1]
            found += [
                (wire.origin.port, name)
                for name, box in boxes.items()
                if touch(box, piece, 0) and not (slanted and (box.contains(a) or box.contains(b)))
            ]
    return found


def nodes_at(scene: Scene) -> dict[str, set[str]]:
    """The nodes whose wires end at the symbol of each element; references are left out."""
    strokes: list[tuple[str, Stroke]] = []
    grid = Grid()
    for name, curves in symbols(scene).items():
        for curve in curves:
            for stroke in strokes_through(tuple(point for _, points in curve.outline for point in points)):
                grid.add(stroke.box.grown(NEAR), len(strokes))
                strokes.append((name, stroke))
    found: dict[str, set[str]] = {name: set() for name in symbols(scene)}
    for wire in wires(scene):
        if wire.origin.port in REFERENCES:
            continue
        for end in (wire.points[0], wire.points[-1]):
            near = [strokes[k] for k in grid.near(Box(*end, *end))]
            for name, stroke in near:
                if distance(end, stroke) < NEAR:
                    found[name].add(wire.origin.port)
    return found


def false_joints(scene: Scene) -> list[tuple[str, str]]:
    """Wires of two nodes that meet: an end of one on the other, or pieces along each other."""
    pieces: list[tuple[str, Stroke]] = []
    grid = Grid()
    ends: list[tuple[str, Point]] = []
    for wire in wires(scene):
        name = f"{wire.origin.part} {wire.origin.port}"
        ends += [(name, point) for point in wire.points]
        for stroke in strokes_through(wire.points):
            grid.add(stroke.box.grown(NEAR), len(pieces))
            pieces.append((name, stroke))
    found = []
    for name, end in ends:
        for k in grid.near(Box(*end, *end)):
            other, stroke = pieces[k]
            if other != name and distance(end, stroke) < NEAR:
                found.append((name, other))
    return found


def broken_nodes(scene: Scene) -> list[str]:
    """Nodes whose wires do not hang together, where blocks and discs on the line hold their two sides together."""
    pieces: dict[str, list[Wire]] = defaultdict(list)
    for wire in wires(scene):
        if wire.origin.part == "wire":
            pieces[wire.origin.port].append(wire)
    boxes = symbol_boxes(scene)
    at = nodes_at(scene)
    broken = []
    for node, own in pieces.items():
        inline = [box for name, box in boxes.items() if at[name] == {node}]
        groups = UnionFind(len(own) + len(inline))
        for (i, one), (j, two) in combinations(enumerate(own), 2):
            if _meet(one, two):
                groups.join(i, j)
        for i, wire in enumerate(own):
            for j, box in enumerate(inline):
                if any(box.grown(NEAR).contains(end) for end in (wire.points[0], wire.points[-1])):
                    groups.join(i, len(own) + j)
        if len({groups.find(i) for i in range(len(own))}) > 1:
            broken.append(node)
    return broken


def _meet(one: Wire, two: Wire) -> bool:
    for wire, other in ((one, two), (two, one)):
        for end in (wire.points[0], wire.points[-1]):
            if any(distance(end, stroke) < NEAR for stroke in strokes_through(other.points)):
                return True
    return False
