"""Bond graphs as scenes: whole, in pieces for narrow columns, or with items where an earlier figure had them.

What is left are trees, whose rows can be as narrow as asked; pieces stand beside each other where there is room.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from math import dist
from typing import final

from tellegen.drawing.bond.bands import bands_of
from tellegen.drawing.bond.clusters import Side, ceil_to_grid
from tellegen.drawing.bond.layout import MESHED, PLAIN, BondLayout, ClosingEnds, RowLayout, Spacing, lay_out_bonds
from tellegen.drawing.bond.pinned import pinned_layout
from tellegen.drawing.bond.plan import BondLink, BondNode, BondPlan, ItemText, plan_bonds
from tellegen.drawing.bond.routes import Router, cut_bond, ends_from_above, is_far, reading_effort
from tellegen.drawing.bond.skeleton import BondRow, Skeleton, skeleton_of
from tellegen.drawing.formulas import name_latex
from tellegen.drawing.geometry import Box, Point
from tellegen.drawing.ink import overlapping
from tellegen.drawing.memory import STILL, bond_places, check_places
from tellegen.drawing.options import DEFAULTS, READABLE, SCREEN, Options
from tellegen.drawing.scene import Label, Scene, Shape, moved, tidy
from tellegen.drawing.strokes import POINT
from tellegen.schemes.bond_graph_scheme import BondGraphScheme

SIZE = 0.6
"""At this size all texts of pieces can be read: so much wider than asked they may be."""
BESIDE, BELOW = 50.0, 60.0
"""Between pieces."""
AHEAD = 8
"""So many pieces are looked at for one that fits beside another."""


def _is_unreadable(layout: BondLayout, options: Options) -> bool:
    """Whether a figure for print could not be read at the width asked for. On a screen one looks closer, so it is left whole."""
    sizes = [shape.size for shape in layout.pen.shapes if isinstance(shape, Label)]
    zoom = options.room / max(layout.extent().width, options.room)
    return options.room < SCREEN and round(POINT * zoom * min(sizes, default=READABLE), 1) < READABLE


def _lay_out_in_pieces(
    plan: BondPlan, closing: Collection[BondLink], whole: BondLayout, options: Options
) -> tuple[BondPlan, BondLayout]:
    """The narrowest of a whole figure and of its pieces, with the plan that it shows."""
    narrower = replace(options, max_width=options.room / SIZE)
    found = plan, whole
    for spacing in PLAIN:
        pieces = _Pieces(plan, closing, narrower, spacing)
        layout = pieces.packed()
        layout.cut = len(pieces.cut)
        layout.pen.settle()
        if layout.extent().width < whole.extent().width:
            found = pieces.plan, layout
        if not layout.pen.left_out:
            break
    return found


@final
class _Pieces:
    """Cuts bonds until the rows of each piece are narrow enough."""

    def __init__(self, plan: BondPlan, closing: Collection[BondLink], options: Options, spacing: Spacing) -> None:
        self.spacing = spacing
        # Nothing is won by rows that are narrower than the widest item.
        self.options = replace(options, max_width=max(options.room, _widest(plan, options, spacing)))
        self.cut = {id(link): link for link in closing}
        self.plan = _cut_plan(plan, self.cut)
        self._known: dict[frozenset[str], BondLayout] = {}
        while link := self._next_cut():
            self.cut[id(link)] = link
            self.plan = _cut_plan(plan, self.cut)

    def _next_cut(self) -> BondLink | None:
        """A bond within a piece that is too wide."""
        for row in skeleton_of(self.plan).trunks:
            if row.links or row.branches:
                layout = self._laid(row)
                if layout.extent().width > self.options.room:
                    return self._widest_branch(row) if row.branches else self._last_fitting(row)
        return None

    def _laid(self, row: BondRow) -> BondLayout:
        """The layout of a row, made once: its nodes and what hangs at them tell it from others."""
        nodes = [*_names(row)]
        names = frozenset((*nodes, *(link.other(name) for name in nodes for link in self.plan.leaves[name])))
        if names not in self._known:
            self._known[names] = RowLayout(self.plan, self.options, ClosingEnds(), self.spacing).laid(row)
        return self._known[names]

    def _widest_branch(self, row: BondRow) -> BondLink:
        branches = [pair for hung in row.branches.values() for pair in hung]
        return max(branches, key=lambda pair: self._laid(pair[1]).extent().width)[0]

    def _last_fitting(self, row: BondRow) -> BondLink:
        """The last bond of a row before which it is narrow enough."""
        for k in range(len(row.links) - 1, 0, -1):
            if self._laid(BondRow(row.nodes[: k + 1], row.links[:k])).extent().width <= self.options.room:
                return row.links[k]
        return row.links[0]

    def packed(self) -> BondLayout:
        """All pieces in rows, each beside the one before it where there is room."""
        waiting = [self._laid(row) for row in skeleton_of(self.plan).trunks]
        whole = BondLayout()
        top = 0.0
        while waiting:
            shelf = self._shelf(waiting)
            waiting = [layout for layout in waiting if all(layout is not other for other in shelf)]
            right = 0.0
            for layout in shelf:
                box = layout.extent()
                whole.absorb(layout, ceil_to_grid(right - box.left), ceil_to_grid(top - box.top))
                right += box.width + BESIDE
            top += max(layout.extent().height for layout in shelf) + BELOW
        return whole

    def _shelf(self, waiting: list[BondLayout]) -> list[BondLayout]:
        """The first piece, and those of the next few that fit beside it."""
        found, width = [waiting[0]], waiting[0].extent().width
        for layout in waiting[1:AHEAD]:
            wider = width + BESIDE + layout.extent().width
            if wider <= self.options.room:
                found.append(layout)
                width = wider
        return found


def _widest(plan: BondPlan, options: Options, spacing: Spacing) -> float:
    """The width of the widest item by itself, with what hangs at it."""
    apart = _cut_plan(plan, {id(link) for link in plan.links if link.tail in plan.edges and link.head in plan.edges})
    rows = RowLayout(apart, options, ClosingEnds(), spacing)
    return max(rows.laid(BondRow([name], [])).extent().width for name in plan.edges)


def _names(row: BondRow) -> Iterator[str]:
    yield from row.nodes
    for hung in row.branches.values():
        for _, branch in hung:
            yield from _names(branch)


def _cut_plan(plan: BondPlan, cut: Collection[int]) -> BondPlan:
    """A plan in which some links, by identity, are two: from each end to the name of the other."""
    nodes, links = dict(plan.nodes), []
    leaves = {name: list(own) for name, own in plan.leaves.items()}
    edges = {name: [link for link in own if id(link) not in cut] for name, own in plan.edges.items()}
    for link in plan.links:
        if id(link) not in cut:
            links.append(link)
            continue
        for own in (link.tail, link.head):
            other = _elsewhere(plan.nodes[link.other(own)], link, own)
            nodes[other.name] = other
            end = _ended(link, own, other.name)
            links.append(end)
            leaves[own].append(end)
    return BondPlan(nodes, tuple(links), _frozen(leaves), _frozen(edges))


def _elsewhere(node: BondNode, link: BondLink, own: str) -> BondNode:
    """What stands at the free end of a bond that is cut."""
    name = f"bond {link.number} at {own}" if link.number else f"joint of {link.tail} at {own}"
    return BondNode(name, "", "leaf", ItemText("", name_latex(node.element)), link.domain)


def _ended(link: BondLink, own: str, other: str) -> BondLink:
    """A link that ends at a name instead of at the node that has it."""
    tail, head = (own if name == own else other for name in (link.tail, link.head))
    return replace(link, tail=tail, head=head, stroke=tail if link.stroke == link.tail else head)


def _frozen(found: dict[str, list[BondLink]]) -> dict[str, tuple[BondLink, ...]]:
    return {name: tuple(own) for name, own in found.items()}


MARGIN = 26.0
MOST_AGAIN, MOST_RAISED = 800, 150
"""Figures with more bonds are arranged once; with more than the second number, bonds come to wide items from below only."""
AT_BONDS = ("effort", "flow")
"""The labels of bonds that a figure can do without."""
MOST_TRIES = 4
"""How often items that lie on others are let go."""


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
    kept = {name: at for name, at in options.earlier.places.items() if name in plan.nodes}

    def drawn(shown: BondPlan, made: BondLayout, placed: Options, kind: str = "bond") -> Scene:
        return _framed(title, bonds_in_words(scheme, made.pen.left_out, made.cut), shown, made, placed, kind)

    if kept:
        return _like_earlier(plan, layout, kept, options, drawn)
    if options.places:
        return drawn(plan, _moved(plan, layout, options), options)
    if _is_unreadable(layout, options):
        return drawn(*_lay_out_in_pieces(plan, skeleton.closing, layout, options), options, "")
    return drawn(plan, layout, options)


def _arranged(plan: BondPlan, skeleton: Skeleton, options: Options) -> BondLayout:
    """Places for everything, with more space between rows where labels find no place otherwise."""
    made: list[BondLayout] = []
    for spacing in MESHED if skeleton.closing else PLAIN:
        layout = _closed(plan, skeleton, options, spacing)
        raised = ends_from_above(plan, skeleton.closing, layout) if len(plan.links) <= MOST_RAISED else {}
        if raised:
            layout = min(layout, _closed(plan, skeleton, options, spacing, raised), key=reading_effort)
        made.append(layout)
        if not layout.pen.left_out or len(plan.links) > MOST_AGAIN:
            break
    return min(made, key=lambda layout: layout.pen.left_out)


def _closed(
    plan: BondPlan,
    skeleton: Skeleton,
    options: Options,
    spacing: Spacing,
    raised: Mapping[str, Sequence[int]] | None = None,
) -> BondLayout:
    """A layout with all bonds and labels."""
    layout = lay_out_bonds(plan, skeleton, options, spacing, raised)
    if skeleton.closing:
        _close_meshes(plan, layout, skeleton.closing, options)
    layout.pen.settle()
    return layout


def _like_earlier(
    plan: BondPlan,
    usual: BondLayout,
    kept: dict[str, Point],
    options: Options,
    drawn: Callable[[BondPlan, BondLayout, Options], Scene],
) -> Scene:
    """The figure with items where an earlier one had them: the usual one where they still are there.

    What then lies on something else, because its text is wider now, may move to the next free place.
    """
    fresh = drawn(plan, usual, options) if not options.places else None
    if fresh is not None:
        found = bond_places(fresh.shapes)
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


def _moved(plan: BondPlan, usual: BondLayout, options: Options) -> BondLayout:
    """The layout with items where a person put them, in the coordinates of the figure."""
    check_places(options.places, plan.nodes, "this bond graph")
    box = _frame(plan, usual, options)[1]
    elsewhere = BondLayout()
    elsewhere.absorb(usual, -box.left, -box.top)
    return pinned_layout(plan, elsewhere, options)


def bonds_in_words(scheme: BondGraphScheme, left_out: int = 0, cut: int = 0) -> str:
    """The bonds in words, for those who cannot see the figure, how many of them are cut and how many labels found no room."""
    parts = (
        f"{scheme.kind_of(bond.tail)}:{bond.tail} to {scheme.kind_of(bond.head)}:{bond.head}" for bond in scheme.bonds
    )
    told = "; ".join([", ".join(parts), *(f"conflict: {text}" for text in _conflicts(scheme))])
    if cut:
        told += f"; {cut} bonds that lead far are drawn at both ends only, each with the name of what is at the other"
    if not left_out:
        return told
    return f"{told}; {_left_out(left_out)}"


def _conflicts(scheme: BondGraphScheme) -> list[str]:
    """What contradicts itself in the causality of a bond graph, in words."""
    return [finding.what for finding in scheme.causal.contradictions]


def _close_meshes(plan: BondPlan, layout: BondLayout, links: tuple[BondLink, ...], options: Options) -> None:
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


def _port(layout: BondLayout, name: str, side: Side, link: BondLink) -> Point:
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


def _frame(plan: BondPlan, layout: BondLayout, options: Options) -> tuple[list[Shape], Box]:
    """What stands behind the figure, and the box round all of it."""
    ink = layout.extent()
    bands, box = bands_of(plan, layout, ink, options)
    return (bands, box) if bands else ([], ink.grown(MARGIN))


def _framed(title: str, text: str, plan: BondPlan, layout: BondLayout, options: Options, kind: str) -> Scene:
    """The figure as a scene that begins at the origin; where items were put somewhere, that is where they are."""
    bands, box = _frame(plan, layout, options)
    dx, dy = (0.0, 0.0) if options.places else (-box.left, -box.top)
    shapes = tuple(moved(shape, dx, dy) for shape in (*bands, *layout.pen.shapes))
    return tidy(Scene(title, text, box.moved(dx, dy), shapes, kind))
