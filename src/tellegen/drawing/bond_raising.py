"""Bonds that close meshes come to a wide item from above where their other end stands above it: no hook round the item then."""

from itertools import pairwise

from tellegen.drawing.bond_clusters import is_wide
from tellegen.drawing.bond_layout import Layout
from tellegen.drawing.bond_plan import Link, Plan

HIGHER = 90.0
"""So much above a wide item the other end of a bond must stand."""
CORNER, LEFT_OUT = 60.0, 2000.0
"""What a corner of a bond, and a label without a place, cost the reader, as lengths that the eye follows."""


def raised_ends(plan: Plan, links: tuple[Link, ...], layout: Layout) -> dict[str, list[int]]:
    """For each wide item the bonds, by the identity of their links, that would come from above; from left to right."""
    found: dict[str, list[Link]] = {}
    for link in links:
        for name in (link.tail, link.head):
            other = link.other(name)
            if is_wide(plan, name) and layout.at[other][1] < layout.at[name][1] - HIGHER:
                found.setdefault(name, []).append(link)
    return {
        name: [id(link) for link in sorted(ends, key=lambda link: layout.at[link.other(name)][0])]
        for name, ends in found.items()
    }


def effort_to_read(layout: Layout) -> float:
    """How much the eye has to follow in the bonds that close meshes."""
    effort = LEFT_OUT * layout.pen.left_out
    for points in layout.routes.values():
        effort += CORNER * (len(points) - 2)
        effort += sum(abs(a - c) + abs(b - d) for (a, b), (c, d) in pairwise(points))
    return effort
