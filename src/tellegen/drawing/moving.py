"""Shapes elsewhere, and figures with tidy coordinates."""

from collections.abc import Callable
from dataclasses import replace

from tellegen.drawing.geometry import Box, Point
from tellegen.drawing.scene import Band, Block, Bond, Curve, Dot, Label, Ring, Scene, Section, Shape, Sum, Wire


def moved(shape: Shape, dx: float, dy: float) -> Shape:
    """The same shape at another place."""

    def to(point: Point) -> Point:
        return point[0] + dx, point[1] + dy

    return mapped(shape, to, lambda box: box.moved(dx, dy))


def tidy(scene: Scene) -> Scene:
    """The scene with all coordinates rounded to a thousandth, so that equal figures are equal on every machine."""

    def box(old: Box) -> Box:
        return Box(*(_rounded(side) for side in (old.left, old.top, old.right, old.bottom)))

    def point(old: Point) -> Point:
        return _rounded(old[0]), _rounded(old[1])

    return replace(scene, box=box(scene.box), shapes=tuple(mapped(shape, point, box) for shape in scene.shapes))


def _rounded(value: float) -> float:
    return round(value, 3) + 0.0  # minus zero is zero


def mapped(shape: Shape, point: Callable[[Point], Point], box: Callable[[Box], Box]) -> Shape:
    """The shape with its points and boxes elsewhere."""
    match shape:
        case Wire() | Bond():
            return replace(shape, points=tuple(map(point, shape.points)))
        case Block() | Band():
            return replace(shape, box=box(shape.box))
        case Sum() | Dot() | Ring():
            return replace(shape, centre=point(shape.centre))
        case Section():
            return replace(shape, start=point(shape.start), end=point(shape.end))
        case Label():
            return replace(shape, at=point(shape.at))
        case Curve():
            outline = tuple((letter, tuple(map(point, points))) for letter, points in shape.outline)
            return replace(shape, outline=outline)
