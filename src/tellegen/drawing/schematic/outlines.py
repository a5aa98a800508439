"""Outlines that symbols are made of, drawn along +x about their middle, and the maps that put them into a figure.

A symbol is drawn along +x with its middle at the origin and y downwards, and turned to where it belongs when it is placed.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from math import cos, pi, sin
from typing import final

from tellegen.scenes.geometry import Point
from tellegen.scenes.scene import Curve, Origin, Weight
from tellegen.scenes.typesetting import Command, Outline

PointMap = Callable[[Point], Point]
"""From the coordinates of a symbol to those of the figure."""

# 4/3 (sqrt 2 - 1): with these the curve meets the middle of the arc, and is off by less than 3e-4 radii elsewhere.
_ROUND = 0.5523
"""Where the control points of a quarter circle stand, in radii."""


@final
@dataclass(frozen=True, slots=True)
class SymbolOutline:
    """One outline of a symbol."""

    outline: Outline
    filled: bool = False
    weight: Weight = "thin"
    dashed: bool = False


@final
@dataclass(frozen=True, slots=True)
class OnePortSymbol:
    """A one-port along +x: its terminals are at -length/2 and length/2, its ink reaches `up` and `down` from the axis.

    `letter` is a text in its middle. `on_shaft` is what it is on the line of motion of its node instead, where it needs no second
    terminal; a `named` one is a block there, with its label inside.
    """

    length: float
    up: float
    down: float
    parts: tuple[SymbolOutline, ...]
    letter: str = ""
    on_shaft: "OnePortSymbol | None" = None
    named: bool = False


def upside_down_outline(part: SymbolOutline) -> SymbolOutline:
    """The part upside down."""
    return replace(part, outline=tuple((word, tuple((x, -y) for x, y in points)) for word, points in part.outline))


def line(*points: Point, weight: Weight = "thin", dashed: bool = False) -> SymbolOutline:
    """Straight pieces through points."""
    return SymbolOutline(_straight(points), weight=weight, dashed=dashed)


def closed_polygon(*points: Point, filled: bool = False, weight: Weight = "thin") -> SymbolOutline:
    """A closed polygon; its last side is there as a line of its own, so that a wire may be found to end at it."""
    return SymbolOutline((*_straight((*points, points[0])), ("Z", ())), filled, weight)


def rectangle(left: float, top: float, right: float, bottom: float, *, filled: bool = False) -> SymbolOutline:
    """A rectangle by its sides."""
    return closed_polygon((left, top), (right, top), (right, bottom), (left, bottom), filled=filled)


def circle(x: float, y: float, radius: float, *, filled: bool = False) -> SymbolOutline:
    """A full circle."""
    return SymbolOutline((*_turn(x, y, radius, 0, 4), ("Z", ())), filled)


def arc(x: float, y: float, radius: float, start: float, quarters: float) -> SymbolOutline:
    """A piece of a circle from an angle (in quarters of a turn, clockwise on the page) over so many quarters."""
    return SymbolOutline(_turn(x, y, radius, start, quarters))


def coil_windings(start: float, end: float, count: int) -> SymbolOutline:
    """Half circles over the axis, one beside the other: a coil."""
    width = (end - start) / count
    steps: list[Command] = []
    for k in range(count):
        x = start + (k + 0.5) * width
        turn = _turn(x, 0, width / 2, 2, 2)
        # Each winding begins where the last one ended: without a new start the coil stays one line, with round joints.
        steps += turn if not steps else turn[1:]
    return SymbolOutline(tuple(steps))


def arrow(tip: Point, towards: Point, length: float = 9, width: float = 7) -> SymbolOutline:
    """A filled arrowhead at a tip, along a unit direction."""
    (x, y), (dx, dy) = tip, towards
    back = x - dx * length, y - dy * length
    return closed_polygon(
        tip,
        (back[0] - dy * width / 2, back[1] + dx * width / 2),
        (back[0] + dy * width / 2, back[1] - dx * width / 2),
        filled=True,
    )


def hatching(start: Point, end: Point, side: int = 1, gap: float = 6, depth: float = 6) -> Iterator[SymbolOutline]:
    """A straight edge and short slanted strokes on one side of it (+1: to the right of its direction on the page)."""
    (x, y), (u, v) = start, end
    length = abs(u - x) + abs(v - y)
    dx, dy = (u - x) / length, (v - y) / length
    yield line(start, end)
    # Two at least: one stroke alone reads as a wire that ends there.
    count = max(2, round(length / gap))
    for k in range(count):
        # Strokes end just before the end of their piece: they hang back and would stick out at the start otherwise.
        a = (k + 0.9) * length / count
        foot = x + dx * a, y + dy * a
        yield line(
            foot, (foot[0] - dx * depth - dy * depth * side, foot[1] - dy * depth + dx * depth * side), weight="hair"
        )


def curves(parts: Iterable[SymbolOutline], move: PointMap, origin: Origin) -> Iterator[Curve]:
    """The parts of a symbol at their place in a figure."""
    for part in parts:
        outline = tuple((letter, tuple(map(move, points))) for letter, points in part.outline)
        closed = bool(outline) and outline[-1][0] == "Z"
        yield Curve(outline, part.weight, part.filled, closed, part.dashed, origin=origin)


def placed(at: Point, towards: Point) -> PointMap:
    """Turns a symbol so that its axis points along a unit vector, with its middle at a point."""
    (x, y), (dx, dy) = at, towards
    return lambda p: (x + p[0] * dx - p[1] * dy, y + p[0] * dy + p[1] * dx)


def mirrored(at: Point) -> PointMap:
    """Left and right exchanged, with the middle at a point."""
    return lambda p: (at[0] - p[0], at[1] + p[1])


def _straight(points: Iterable[Point]) -> Outline:
    return tuple(("M" if k == 0 else "L", (point,)) for k, point in enumerate(points))


def _turn(x: float, y: float, radius: float, start: float, quarters: float) -> Outline:
    """A turn as Bezier curves, none longer than a quarter."""
    # Rounded up: a single curve over more than a quarter is visibly no circle.
    count = max(1, -(-abs(quarters) // 1))
    step = quarters / count * pi / 2
    reach = _ROUND * radius * (step / (pi / 2))
    angle = start * pi / 2
    steps: list[Command] = [("M", ((x + radius * cos(angle), y + radius * sin(angle)),))]
    for _ in range(int(count)):
        a, b = angle, angle + step
        p = x + radius * cos(a) - reach * sin(a), y + radius * sin(a) + reach * cos(a)
        q = x + radius * cos(b) + reach * sin(b), y + radius * sin(b) - reach * cos(b)
        steps.append(("C", (p, q, (x + radius * cos(b), y + radius * sin(b)))))
        angle = b
    return tuple(steps)
