"""Bond graphs as scenes."""

from tellegen.drawing.bond_bands import bands_of
from tellegen.drawing.bond_clusters import Side
from tellegen.drawing.bond_layout import Layout, lay_out
from tellegen.drawing.bond_plan import Link, Plan, plan_bonds
from tellegen.drawing.bond_routes import Router
from tellegen.drawing.bond_rows import skeleton_of
from tellegen.drawing.geometry import Box, Point
from tellegen.drawing.moving import moved, tidy
from tellegen.drawing.options import DEFAULTS, Options
from tellegen.drawing.scene import Scene, Shape
from tellegen.schemes.bond_graph_scheme import BondGraphScheme

MARGIN = 26.0


def bond_scene(scheme: BondGraphScheme, options: Options = DEFAULTS) -> Scene:
    """The figure of a bond graph: a trunk from its first source, branches under and over it, meshes closed round them."""
    plan = plan_bonds(scheme, options)
    title = f"Bond graph: {scheme.name}" if scheme.name else "Bond graph"
    if not plan.nodes:
        return Scene(title, "no elements", Box(0, 0, 2 * MARGIN, 2 * MARGIN), ())
    skeleton = skeleton_of(plan)
    layout = lay_out(plan, skeleton, options)
    if skeleton.closing:
        _close_meshes(layout, skeleton.closing, options)
    layout.pen.settle()
    return _framed(title, about(scheme, layout.pen.left_out), plan, layout, options)


def about(scheme: BondGraphScheme, left_out: int = 0) -> str:
    """The bonds in words, for those who cannot see the figure, and how many labels found no room."""
    parts = (
        f"{scheme.kind_of(bond.tail)}:{bond.tail} to {scheme.kind_of(bond.head)}:{bond.head}" for bond in scheme.bonds
    )
    told = "; ".join([", ".join(parts), *(f"conflict: {text}" for text in conflicts_of(scheme))])
    if not left_out:
        return told
    labels = "1 label is" if left_out == 1 else f"{left_out} labels are"
    return f"{told}; {labels} left out for want of room"


def conflicts_of(scheme: BondGraphScheme) -> list[str]:
    """What contradicts itself in the causality of a bond graph, in words."""
    causal = scheme.causal
    return [finding.what for finding in causal.findings[: len(causal.conflicts)]]


def _close_meshes(layout: Layout, links: tuple[Link, ...], options: Options) -> None:
    router = Router(layout.pen)
    sides = [[layout.closing[end].pop(0) for end in (link.tail, link.head)] for link in links]
    ends = [
        [_port(layout, end, side, link) for end, side in zip((link.tail, link.head), pair, strict=True)]
        for link, pair in zip(links, sides, strict=True)
    ]
    for (start, end), (first, last) in zip(ends, sides, strict=True):
        router.reserve(start, first)
        router.reserve(end, last)
    for link, (start, end), (first, last) in zip(links, ends, sides, strict=True):
        points = router.route(start, first, end, last)
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


def _framed(title: str, text: str, plan: Plan, layout: Layout, options: Options) -> Scene:
    """Move everything so that the figure begins at the origin, on the grid."""
    ink = layout.extent()
    bands, box = bands_of(plan, layout, ink, options)
    if not bands:
        box = ink.grown(MARGIN)
    dx, dy = -box.left, -box.top
    shapes: list[Shape] = [moved(shape, dx, dy) for shape in (*bands, *layout.pen.shapes)]
    return tidy(Scene(title, text, Box(0, 0, box.width, box.height), tuple(shapes)))
