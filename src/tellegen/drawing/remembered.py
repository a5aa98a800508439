"""What a figure has to remember: where everything stands in it."""

from collections.abc import Iterator
from statistics import fmean

from tellegen.drawing.bond_moved import places_in
from tellegen.drawing.geometry import Point, hull
from tellegen.drawing.memories import Remembered
from tellegen.drawing.scene import Block, Curve, Scene


def remembered(scene: Scene) -> Remembered | None:
    """What a scene has to remember; None for a kind of figure that follows from the model alone, such as equations."""
    if scene.notation not in PLACES:
        return None
    return Remembered(scene.notation, PLACES[scene.notation](scene), scene.lines)


# -- where things stand ------------------------------------------------------------------------------------------------------------


def _in_pog(scene: Scene) -> dict[str, Point]:
    """The middles of columns, by element. Those of a vector block share its place."""
    found: dict[str, list[Point]] = {}
    for shape in scene.shapes:
        if isinstance(shape, Block):
            for name in shape.origin.element.split():
                found.setdefault(name, []).append(shape.box.centre)
    return {name: _mean(points) for name, points in found.items()}


def _in_network(scene: Scene) -> dict[str, Point]:
    """The middles of symbols, by element."""
    found: dict[str, list[Point]] = {}
    for shape in scene.shapes:
        if isinstance(shape, Curve) and shape.origin.part == "symbol" and shape.origin.element:
            found.setdefault(shape.origin.element, []).extend(_points(shape))
    return {name: tuple(round(part, 3) for part in hull(points).centre) for name, points in found.items()}  # type: ignore[misc]


def _points(curve: Curve) -> Iterator[Point]:
    return (point for _, points in curve.outline for point in points)


def _mean(points: list[Point]) -> Point:
    return round(fmean(x for x, _ in points), 3), round(fmean(y for _, y in points), 3)


PLACES = {"bond": places_in, "pog": _in_pog, "network": _in_network}
"""How places are read off a scene, by notation."""
