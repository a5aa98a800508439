"""Bonds too long to follow with the eye: drawn at both of their ends, each with the name of what is at the other one.

A graph of a thousand elements at random has hundreds of bonds across the whole figure. Lines for all of them would cover it, and
finding ways for them would take minutes.
"""

from collections.abc import Iterator
from itertools import product

from tellegen.drawing.bond_clusters import Side
from tellegen.drawing.bond_pen import OTHER_END, SMALL, Pen
from tellegen.drawing.bond_plan import Link, Plan
from tellegen.drawing.bond_routes import LEAVING, STUB, WAYS
from tellegen.drawing.geometry import Point
from tellegen.drawing.naming import name_latex
from tellegen.drawing.options import Options
from tellegen.drawing.placing import label_box
from tellegen.drawing.scene import Align, Label, Origin

FAR = 1200.0
"""Ends further apart than this are out of each other's sight."""
STEPS, BACK = (5.0, 10.0, 16.0), (-8.0, 0.0, 8.0, 16.0)
"""Between a cut bond and the name of what it leads to, and how far back from its end the name may stand."""
SIZES = (1.0, 0.8, 0.65)
"""Parts of the size in which a name is tried, where there is little room."""

End = tuple[str, Point, Side]
"""A node, the point at which a bond leaves it, and the side."""


def is_far(start: Point, end: Point) -> bool:
    """Whether a bond between two points is too long to be followed."""
    return abs(start[0] - end[0]) + abs(start[1] - end[1]) > FAR


def cut_bond(pen: Pen, plan: Plan, link: Link, ends: tuple[End, End], options: Options) -> None:
    """Draw the two ends of a bond, from tail to head, with half arrow and stroke; its labels stand where there is room."""
    tail, head = ends
    for (_, point, side), other in ((tail, head), (head, tail)):
        dx, dy = WAYS[LEAVING[side]]
        free = point[0] + dx * STUB, point[1] + dy * STUB
        pen.bond(link, (point, free) if other is head else (free, point), options, later=True)
        _tell(pen, link, name_latex(plan.nodes[other[0]].element), free, (dx, dy))


def _tell(pen: Pen, link: Link, text: str, end: Point, way: Point) -> None:
    """Write what is at the other end, behind the end that is free or beside it."""
    origin = Origin(part=OTHER_END, port=f"bond {link.number}" if link.number else "joint", domain=link.domain)
    for share in SIZES:
        for at, align in _places(end, way):
            label = Label(text, at, share * SMALL, align, tone="quiet", origin=origin)
            if pen.is_free(label_box(label), 1.0):
                pen.put(label)
                return
    pen.left_out += 1


def _places(end: Point, way: Point) -> Iterator[tuple[Point, Align]]:
    """Where a name may stand: straight on, then to either side, then beside the bond."""
    (x, y), (dx, dy) = end, way
    for further in STEPS:
        if dx:
            yield (x + dx * further, y), "left" if dx > 0 else "right"
        else:
            yield (x, y + dy * (further + SMALL / 2)), "centre"
    for back, near, side in product(BACK, STEPS, (1, -1)):
        if dx:
            yield (x - dx * back, y + side * (near + SMALL / 2)), "centre"
        else:
            yield (x + side * near, y - dy * back), "left" if side > 0 else "right"
