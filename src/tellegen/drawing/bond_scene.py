"""Bond graphs as scenes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import dist

from tellegen.core.names import did_you_mean, listing
from tellegen.drawing import rules
from tellegen.drawing.bond_bands import bands_of
from tellegen.drawing.bond_clusters import Side
from tellegen.drawing.bond_cuts import cut_bond, is_far
from tellegen.drawing.bond_layout import MESHED, PLAIN, Layout, Spacing, lay_out
from tellegen.drawing.bond_moved import STILL, moved_layout, places_in
from tellegen.drawing.bond_pieces import in_pieces, is_too_small
from tellegen.drawing.bond_plan import Link, Plan, plan_bonds
from tellegen.drawing.bond_raising import effort_to_read, raised_ends
from tellegen.drawing.bond_routes import Router
from tellegen.drawing.bond_rows import Skeleton, skeleton_of
from tellegen.drawing.checks import overlapping
from tellegen.drawing.geometry import Box, Point
from tellegen.drawing.moving import moved, tidy
from tellegen.drawing.options import DEFAULTS, Options
from tellegen.drawing.scene import Label, Scene, Shape
from tellegen.schemes.bond_graph_scheme import BondGraphScheme

MARGIN = 26.0
MOST_AGAIN, MOST_RAISED = 800, 150
"""Figures with more bonds are arranged once; with more than the second number, bonds come to wide items from below only."""
AT_BONDS = ("effort", "flow")
"""The labels of bonds that a figure can do without."""
MOST_TRIES = 4
"""How often items that lie on others are let go."""
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
    kept = {} if options.earlier is None else {k: at for k, at in options.earlier.places.items() if k in plan.nodes}

    def drawn(shown: Plan, made: Layout, placed: Options, kind: str = "bond") -> Scene:
        return _framed(title, about(scheme, made.pen.left_out, made.cut), shown, made, placed, kind)

    if kept:
        return _like_earlier(plan, layout, kept, options, drawn)
    if options.places:
        return drawn(plan, _moved(plan, layout, options), options)
    if is_too_small(layout, options):
        return drawn(*in_pieces(plan, skeleton.closing, layout, options), options, "")
    return drawn(plan, layout, options)


def _arranged(plan: Plan, skeleton: Skeleton, options: Options) -> Layout:
    """Places for everything, with more space between rows where labels find no place otherwise."""
    made: list[Layout] = []
    for spacing in MESHED if skeleton.closing else PLAIN:
        layout = _closed(plan, skeleton, options, spacing)
        raised = raised_ends(plan, skeleton.closing, layout) if len(plan.links) <= MOST_RAISED else {}
        if raised:
            layout = min(layout, _closed(plan, skeleton, options, spacing, raised), key=effort_to_read)
        made.append(layout)
        if not layout.pen.left_out or len(plan.links) > MOST_AGAIN:
            break
    return min(made, key=lambda layout: layout.pen.left_out)


def _closed(
    plan: Plan,
    skeleton: Skeleton,
    options: Options,
    spacing: Spacing,
    raised: Mapping[str, Sequence[int]] | None = None,
) -> Layout:
    """A layout with all bonds and labels."""
    layout = lay_out(plan, skeleton, options, spacing, raised)
    if skeleton.closing:
        _close_meshes(plan, layout, skeleton.closing, options)
    layout.pen.settle()
    return layout


def _like_earlier(
    plan: Plan,
    usual: Layout,
    kept: dict[str, Point],
    options: Options,
    drawn: Callable[[Plan, Layout, Options], Scene],
) -> Scene:
    """The figure with items where an earlier one had them: the usual one where they still are there.

    What then lies on something else, because its text is wider now, may move to the next free place.
    """
    fresh = drawn(plan, usual, options) if not options.places else None
    if fresh is not None:
        found = places_in(fresh)
        if all(name in found and dist(found[name], at) < STILL for name, at in kept.items()):
            return fresh
    made: list[tuple[int, Scene]] = []
    for _ in range(MOST_TRIES if len(plan.links) <= MOST_AGAIN else 1):
        chosen = replace(options, places={**kept, **options.places})
        scene = drawn(plan, _moved(plan, usual, chosen), chosen)
        crowded = list(overlapping(scene))
        made.append((len(crowded), scene))
        origins = [shape.origin for pair in crowded for shape in pair]
        free = {name for origin in origins for name in (origin.port, origin.element)} & kept.keys()
        if not free:
            break
        kept = {name: at for name, at in kept.items() if name not in free}
    best = _without_crowded(min(made, key=lambda one: one[0])[1])
    least = sum(1 for _ in overlapping(best))
    if fresh is not None and least > sum(1 for _ in overlapping(fresh)):
        return fresh  # nothing is so much like an earlier figure that it may lie on something else
    return best


def _without_crowded(scene: Scene) -> Scene:
    """The scene without the variables of bonds that would lie on something; that they are left out is told."""
    shapes = [shape for pair in overlapping(scene) for shape in pair]
    crowded = {id(shape) for shape in shapes if isinstance(shape, Label) and shape.origin.part in AT_BONDS}
    if not crowded:
        return scene
    told = _left_out(len(crowded))
    return replace(
        scene, about=f"{scene.about}; {told}", shapes=tuple(shape for shape in scene.shapes if id(shape) not in crowded)
    )


def _left_out(labels: int) -> str:
    return f"{'1 label is' if labels == 1 else f'{labels} labels are'} left out for want of room"


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
    return f"{told}; {_left_out(left_out)}"


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


def _framed(title: str, text: str, plan: Plan, layout: Layout, options: Options, kind: str) -> Scene:
    """The figure as a scene that begins at the origin; where items were put somewhere, that is where they are."""
    bands, box = _frame(plan, layout, options)
    dx, dy = (0.0, 0.0) if options.places else (-box.left, -box.top)
    shapes = tuple(moved(shape, dx, dy) for shape in (*bands, *layout.pen.shapes))
    return tidy(Scene(title, text, box.moved(dx, dy), shapes, kind))
