"""Bond graphs as scenes."""

from tellegen.core.names import did_you_mean, listing
from tellegen.drawing import rules
from tellegen.drawing.bond_bands import bands_of
from tellegen.drawing.bond_clusters import Side
from tellegen.drawing.bond_cuts import cut_bond, is_far
from tellegen.drawing.bond_layout import MESHED, PLAIN, Layout, lay_out
from tellegen.drawing.bond_moved import moved_layout
from tellegen.drawing.bond_plan import Link, Plan, plan_bonds
from tellegen.drawing.bond_routes import Router
from tellegen.drawing.bond_rows import Skeleton, skeleton_of
from tellegen.drawing.geometry import Box, Point
from tellegen.drawing.moving import moved, tidy
from tellegen.drawing.options import DEFAULTS, Options
from tellegen.drawing.scene import Scene, Shape
from tellegen.schemes.bond_graph_scheme import BondGraphScheme

MARGIN = 26.0
MOST_AGAIN = 800
"""Figures with more bonds are arranged once."""
MOST_NAMED = 12
"""Items that a message names."""


def bond_scene(scheme: BondGraphScheme, options: Options = DEFAULTS) -> Scene:
    """The figure of a bond graph: a trunk from its first source, branches under and over it, meshes closed round them.

    Raises: FigureError (F160) where a place is given for an item that is not there.
    """
    plan = plan_bonds(scheme, options)
    title = f"Bond graph: {scheme.name}" if scheme.name else "Bond graph"
    if not plan.nodes:
        return Scene(title, "no elements", Box(0, 0, 2 * MARGIN, 2 * MARGIN), ())
    skeleton = skeleton_of(plan)
    layout = _arranged(plan, skeleton, options)
    if options.places:
        layout = _moved(plan, layout, options)
    return _framed(title, about(scheme, layout.pen.left_out, layout.cut), plan, layout, options)


def _arranged(plan: Plan, skeleton: Skeleton, options: Options) -> Layout:
    """Places for everything, with more space between rows where labels find no place otherwise."""
    made: list[Layout] = []
    for spacing in MESHED if skeleton.closing else PLAIN:
        layout = lay_out(plan, skeleton, options, spacing)
        if skeleton.closing:
            _close_meshes(plan, layout, skeleton.closing, options)
        layout.pen.settle()
        made.append(layout)
        if not layout.pen.left_out or len(plan.links) > MOST_AGAIN:
            break
    return min(made, key=lambda layout: layout.pen.left_out)


def _moved(plan: Plan, usual: Layout, options: Options) -> Layout:
    """The layout with items where a person put them, in the coordinates of the figure."""
    for name in options.places:
        if name not in plan.nodes:
            fix = did_you_mean(name, plan.nodes) or f"the items are {listing(list(plan.nodes), MOST_NAMED)}"
            raise rules.NO_SUCH_ITEM.error(f"there is no '{name}' in this bond graph to be put anywhere", fix=fix)
    box = _frame(plan, usual, options)[1]
    elsewhere = Layout()
    elsewhere.absorb(usual, -box.left, -box.top)
    return moved_layout(plan, elsewhere, options)


def about(scheme: BondGraphScheme, left_out: int = 0, cut: int = 0) -> str:
    """The bonds in words, for those who cannot see the figure, how many of them are cut and how many labels found no room."""
    parts = (
        f"{scheme.kind_of(bond.tail)}:{bond.tail} to {scheme.kind_of(bond.head)}:{bond.head}" for bond in scheme.bonds
    )
    told = "; ".join([", ".join(parts), *(f"conflict: {text}" for text in conflicts_of(scheme))])
    if cut:
        told += f"; {cut} bonds that lead far are drawn at both ends only, each with the name of what is at the other"
    if not left_out:
        return told
    labels = "1 label is" if left_out == 1 else f"{left_out} labels are"
    return f"{told}; {labels} left out for want of room"


def conflicts_of(scheme: BondGraphScheme) -> list[str]:
    """What contradicts itself in the causality of a bond graph, in words."""
    return [finding.what for finding in scheme.causal.contradictions]


def _close_meshes(plan: Plan, layout: Layout, links: tuple[Link, ...], options: Options) -> None:
    router = Router(layout.pen, len(links))
    sides = [[layout.closing[end].pop(0) for end in (link.tail, link.head)] for link in links]
    ends = [
        [_port(layout, end, side, link) for end, side in zip((link.tail, link.head), pair, strict=True)]
        for link, pair in zip(links, sides, strict=True)
    ]
    for (start, end), (first, last) in zip(ends, sides, strict=True):
        router.reserve(start, first)
        router.reserve(end, last)
    closed = list(zip(links, ends, sides, strict=True))
    cut = [item for item in closed if router.is_vast and is_far(*item[1])]
    for link, (start, end), (first, last) in cut:
        cut_bond(layout.pen, plan, link, ((link.tail, start, first), (link.head, end, last)), options)
    router.look()
    layout.cut = len(cut)
    for link, (start, end), (first, last) in (item for item in closed if item not in cut):
        layout.routes[id(link)] = points = router.route(start, first, end, last)
        layout.pen.bond(link, points, options)
        router.look()


def _port(layout: Layout, name: str, side: Side, link: Link) -> Point:
    (x, y), gap = layout.at[name], layout.gaps[name]
    x += layout.ports.get((name, id(link)), (0.0, 0.0))[0]
    match side:
        case "N":
            return x, y + gap.top
        case "S":
            return x, y + gap.bottom
        case "E":
            return x + gap.right, y
        case "W":
            return x + gap.left, y


def _frame(plan: Plan, layout: Layout, options: Options) -> tuple[list[Shape], Box]:
    """What stands behind the figure, and the box round all of it."""
    ink = layout.extent()
    bands, box = bands_of(plan, layout, ink, options)
    return (bands, box) if bands else ([], ink.grown(MARGIN))


def _framed(title: str, text: str, plan: Plan, layout: Layout, options: Options) -> Scene:
    """The figure as a scene that begins at the origin; where items were put somewhere, that is where they are."""
    bands, box = _frame(plan, layout, options)
    dx, dy = (0.0, 0.0) if options.places else (-box.left, -box.top)
    shapes = tuple(moved(shape, dx, dy) for shape in (*bands, *layout.pen.shapes))
    return tidy(Scene(title, text, box.moved(dx, dy), shapes))
