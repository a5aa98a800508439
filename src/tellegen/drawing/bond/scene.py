"""Bond graphs as scenes: whole, in pieces for narrow columns, or with items where an earlier figure or a person had them.

Behind them are the areas of the domains, where these can be told apart by straight cuts.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import combinations, pairwise
from math import dist, hypot
from statistics import median
from typing import final

from tellegen.core.union_find import UnionFind
from tellegen.drawing.bond.clusters import Side, Slot, clipped, draw_beside, draw_text, gap_of, is_wide, side_point
from tellegen.drawing.bond.layout import MESHED, PLAIN, BondLayout, Spacing, lay_out_bonds, lay_out_in_pieces
from tellegen.drawing.bond.plan import BondLink, BondPlan, Skeleton, plan_bonds, skeleton_of
from tellegen.drawing.bond.routes import BondEnd, Router, cut_bond, ends_from_above, is_far, reading_effort
from tellegen.drawing.bond.vector_names import VectorNames, vector_legend
from tellegen.drawing.formulas import explained_names, short_names
from tellegen.drawing.memory import STILL, bond_places, check_places
from tellegen.drawing.options import DEFAULTS, READABLE, SCREEN, Options
from tellegen.drawing.pog.scene import legend_shapes
from tellegen.scenes.geometry import Box, Point, union
from tellegen.scenes.ink import Pen, Stroke, inks, overlapping, strokes_through, touch
from tellegen.scenes.scene import (
    CAPTION_DROP,
    MARGIN,
    Band,
    Label,
    Scene,
    Shape,
    caption_label,
    caption_of,
    label_box,
    moved,
    tidy,
)
from tellegen.scenes.strokes import POINT
from tellegen.schemes.bond_graph_scheme import BondGraphScheme

# -- the areas of domains ----------------------------------------------------------------------------------------------------------

# Areas reach beyond the ink by the first three; the second three are the white border that remains round areas and captions.
PAD_SIDE, PAD_TOP, PAD_BOTTOM = 34.0, 34.0, 30.0
FRAME_SIDE, FRAME_TOP, FRAME_BOTTOM = 14.0, 20.0, 16.0
# Between the captions of neighbours, so that two words do not read as one.
CAPTION_GAP = 8.0
# Round a region that has a box of its own: less than the pads, since boxes must not touch each other.
REGION = 12.0


def bands_of(plan: BondPlan, layout: BondLayout, ink: Box, options: Options) -> tuple[list[Shape], Box]:
    """Bands with their captions, and the box of the whole figure; nothing where domains cannot be told apart."""
    parts = _parts(plan, layout)
    # One colour behind everything would tell nothing.
    if not options.shows_bands or len({domain for regions, _ in parts for domain, _ in regions}) < 2:
        return [], ink
    bands: list[Band] = []
    borders = [layout.at[node.name][0] for node in plan.nodes.values() if not node.domain and node.name in layout.at]
    for regions, part in parts:
        own = ink if len(parts) == 1 else part  # bonds that close meshes may lie beyond all items
        area = Box(ink.left - PAD_SIDE, own.top - PAD_TOP, ink.right + PAD_SIDE, own.bottom + PAD_BOTTOM)
        found = _columns(regions, area, borders)
        if not found:
            found = [Band(box.grown(REGION), domain) for domain, box in regions]
            found = [] if any(one.box.overlaps(two.box) for one, two in combinations(found, 2)) else found
        if not found:
            # Areas behind one part only would say that the other part has no domain.
            return [], ink
        bands += found
    captions = [label for label in _captions(bands) if options.shows_captions and layout.pen.is_free(label_box(label))]
    whole = union([ink, *(band.box for band in bands), *map(label_box, captions)])
    bottom = max(band.box.bottom for band in bands) + (CAPTION_DROP if captions else 0.0)
    bottom = max(bottom, whole.bottom) + FRAME_BOTTOM
    return [*bands, *captions], Box(whole.left - FRAME_SIDE, whole.top - FRAME_TOP, whole.right + FRAME_SIDE, bottom)


def _captions(bands: list[Band]) -> Iterable[Label]:
    """A word under each band, in short where the band is narrow; none where it would lie on the one before."""
    before: list[Box] = []
    for number, band in enumerate(bands, 1):
        at, words = (band.box.centre[0], band.box.bottom + CAPTION_DROP), caption_of(band.domain)
        label = caption_label(words, at, band.domain, str(number))
        if label_box(label).width > band.box.width:
            label = caption_label(words.split()[-1], at, band.domain, str(number))
        box = label_box(label).grown(CAPTION_GAP / 2)
        if not any(box.overlaps(other) for other in before):
            before.append(box)
            yield label


Region = tuple[str, Box]


def _parts(plan: BondPlan, layout: BondLayout) -> list[tuple[list[Region], Box]]:
    """For each connected part of the figure its regions of one domain, and the box round all its ink."""
    whole = _groups(plan, lambda one, two: True)
    region = _groups(plan, lambda one, two: bool(one) and one == two)
    domains = {node.element: node.domain for node in plan.nodes.values()}
    boxes: dict[int, dict[tuple[int, str], list[Box]]] = {}
    for shape in layout.pen.shapes:
        element = shape.origin.element
        if element in whole:
            found = boxes.setdefault(whole[element], {}).setdefault((region[element], domains[element]), [])
            found.extend(ink.box for ink in inks(shape))
    parts: list[tuple[list[Region], Box]] = []
    for regions in boxes.values():
        coloured = [(domain, union(own)) for (_, domain), own in regions.items() if domain]
        parts.append((coloured, union(box for own in regions.values() for box in own)))
    return parts


def _groups(plan: BondPlan, together: Callable[[str, str], bool]) -> dict[str, int]:
    """A number for each element, equal for those that are linked and belong together by their domains."""
    numbers = {element: k for k, element in enumerate(dict.fromkeys(node.element for node in plan.nodes.values()))}
    groups = UnionFind(len(numbers))
    for link in plan.links:
        tail, head = plan.nodes[link.tail], plan.nodes[link.head]
        if together(tail.domain, head.domain):
            groups.join(numbers[tail.element], numbers[head.element])
    return {element: groups.find(k) for element, k in numbers.items()}


def _columns(regions: list[Region], area: Box, borders: list[float]) -> list[Band]:
    """Bands over the whole height, cut through the two-port between neighbours; none where regions stand over each other."""
    ordered = sorted(regions, key=lambda region: region[1].left)
    if any(one[1].right > two[1].left for one, two in pairwise(ordered)):
        return []
    between = [(one[1].right, two[1].left) for one, two in pairwise(ordered)]
    # A transformer or gyrator belongs to both domains: the cut goes through its middle, where its two sides meet.
    cuts = [next((x for x in borders if left <= x <= right), (left + right) / 2) for left, right in between]
    cuts = [area.left, *cuts, area.right]
    made: list[Band] = []
    for (domain, _), (left, right) in zip(ordered, pairwise(cuts), strict=True):
        # Two regions of one domain beside each other are one area: a seam would look like a change of domain.
        joined = made.pop().box.left if made and made[-1].domain == domain else left
        made.append(Band(Box(joined, area.top, right, area.bottom), domain))
    return made


# -- the figure --------------------------------------------------------------------------------------------------------------------

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
    # The usual layout is made in any case: it has the lines of bonds round others, and shows where new items would stand.
    kept = {name: at for name, at in options.earlier.places.items() if name in plan.nodes}

    numbered = [f"{new} = {name}" for new, name in explained_names(short_names(scheme)).items()]
    legend = (*numbered, *vector_legend(scheme, VectorNames(scheme), options))

    def drawn(shown: BondPlan, made: BondLayout, placed: Options, kind: str = "bond") -> Scene:
        scene = _framed(title, bonds_in_words(scheme, made.pen.left_out, made.cut), shown, made, placed, kind)
        return _with_legend(scene, legend, options)

    if kept:
        return _like_earlier(plan, layout, kept, options, drawn)
    if options.places:
        return drawn(plan, _moved(plan, layout, options), options)
    if _is_unreadable(layout, options):
        # Pieces are no figure whose places can be kept, so the scene has no notation: its bonds are cut elsewhere next time.
        return drawn(*lay_out_in_pieces(plan, skeleton.closing, layout, options), options, "")
    return drawn(plan, layout, options)


def _is_unreadable(layout: BondLayout, options: Options) -> bool:
    """Whether a figure for print could not be read at the width asked for. On a screen one looks closer, so it is left whole."""
    sizes = [shape.size for shape in layout.pen.shapes if isinstance(shape, Label)]
    zoom = options.room / max(layout.extent().width, options.room)
    return options.room < SCREEN and round(POINT * zoom * min(sizes, default=READABLE), 1) < READABLE


def _arranged(plan: BondPlan, skeleton: Skeleton, options: Options) -> BondLayout:
    """Places for everything, with more space between rows where labels find no place otherwise."""
    made: list[BondLayout] = []
    for spacing in MESHED if skeleton.closing else PLAIN:
        layout = _closed(plan, skeleton, options, spacing)
        # Which bonds would better come to a wide item from above is only seen in a finished layout, so it is made twice.
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
        close_meshes(plan, layout, skeleton.closing, options)
    # Labels that found no room beside their own bond wait until everything stands, so that they block nobody.
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
        # Both of a pair are let go: which of them has to give way is decided by where there is room.
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
    about = f"{scene.about}; {_left_out(len(crowded))}"
    return replace(scene, about=about, shapes=tuple(shape for shape in scene.shapes if id(shape) not in crowded))


def _left_out(labels: int) -> str:
    return f"{'1 label is' if labels == 1 else f'{labels} labels are'} left out for want of room"


def _moved(plan: BondPlan, usual: BondLayout, options: Options) -> BondLayout:
    """The layout with items where a person put them, in the coordinates of the figure."""
    check_places(options.places, plan.nodes, "this bond graph")
    # A person reads places off the figure, whose corner is the origin; the usual layout has its first node there.
    box = _frame(plan, usual, options)[1]
    elsewhere = BondLayout()
    elsewhere.absorb(usual, -box.left, -box.top)
    return _Arrangement(plan, elsewhere, options).drawn()


def bonds_in_words(scheme: BondGraphScheme, left_out: int = 0, cut: int = 0) -> str:
    """The bonds in words, for those who cannot see the figure, how many of them are cut and how many labels found no room."""
    parts = (
        f"{scheme.kind_of(bond.tail)}:{bond.tail} to {scheme.kind_of(bond.head)}:{bond.head}" for bond in scheme.bonds
    )
    conflicts = [finding.what for finding in scheme.causal.contradictions]
    told = "; ".join([", ".join(parts), *(f"conflict: {text}" for text in conflicts)])
    if cut:
        told += f"; {cut} bonds that lead far are drawn at both ends only, each with the name of what is at the other"
    return f"{told}; {_left_out(left_out)}" if left_out else told


def close_meshes(plan: BondPlan, layout: BondLayout, links: tuple[BondLink, ...], options: Options) -> None:
    """Draw the bonds that close meshes round what stands; in vast figures those that lead far are cut."""
    router = Router(layout.pen, len(links))
    closed: list[tuple[BondLink, BondEnd, BondEnd]] = []
    for link in links:
        sides = [(name, layout.closing[name].pop(0)) for name in (link.tail, link.head)]
        start, end = ((name, side_point(side, *layout.end(name, link)), side) for name, side in sides)
        closed.append((link, start, end))
        # All ends are reserved before the first line is drawn: a line over the end of a later one would leave that no way out.
        router.reserve(*start[1:])
        router.reserve(*end[1:])
    # Cut bonds come first: their names stand close to their ends, and routed lines can still go round them.
    cut = [item for item in closed if router.is_vast and is_far(item[1][1], item[2][1])]
    for link, start, end in cut:
        cut_bond(layout.pen, plan, link, (start, end), options)
    router.look()
    layout.cut = len(cut)
    for link, start, end in (item for item in closed if item not in cut):
        layout.routes[id(link)] = points = router.route(*start[1:], *end[1:])
        layout.pen.bond(link, points, options)
        router.look()


def _frame(plan: BondPlan, layout: BondLayout, options: Options) -> tuple[list[Shape], Box]:
    """What stands behind the figure, and the box round all of it."""
    ink = layout.extent()
    bands, box = bands_of(plan, layout, ink, options)
    return (bands, box) if bands else ([], ink.grown(MARGIN))


def _framed(title: str, text: str, plan: BondPlan, layout: BondLayout, options: Options, kind: str) -> Scene:
    """The figure as a scene that begins at the origin; where items were put somewhere, that is where they are."""
    bands, box = _frame(plan, layout, options)
    # Otherwise the same `places` would give another figure the second time.
    dx, dy = (0.0, 0.0) if options.places else (-box.left, -box.top)
    shapes = tuple(moved(shape, dx, dy) for shape in (*bands, *layout.pen.shapes))
    return tidy(Scene(title, text, box.moved(dx, dy), shapes, kind))


def _with_legend(scene: Scene, legend: Sequence[str], options: Options) -> Scene:
    """The figure with equations under it."""
    if not legend:
        return scene
    inner = scene.box.grown(-MARGIN)
    shapes = legend_shapes(legend, (), Box(inner.left, inner.top, inner.right, scene.box.bottom - MARGIN / 2), options)
    texts = [label_box(shape) for shape in shapes if isinstance(shape, Label)]
    whole = union([scene.box, *(box.grown(MARGIN) for box in texts)])
    return replace(scene, box=Box(0.0, 0.0, whole.right, whole.bottom), shapes=(*scene.shapes, *shapes))


# -- items where somebody put them -------------------------------------------------------------------------------------------------

STEP, FARTHEST = 10.0, 40
"""Free places are looked for on a grid of this step, at most so many steps away."""
APART = 14.0
"""Between the texts of items."""
HEADROOM, SIGNAL_ROOM = 34.0, 40.0
"""Above an item with a modulus, and beside one that a signal moves."""


@final
class _Arrangement:
    """A place for every item: those given first, then the others as near as they can be to where they should be."""

    def __init__(self, plan: BondPlan, usual: BondLayout, options: Options) -> None:
        self.plan, self.usual, self.options = plan, usual, options
        self.layout = BondLayout()
        self.pen, places = self.layout.pen, options.places
        self.links: dict[str, list[BondLink]] = {name: [] for name in plan.nodes}
        for link in plan.links:
            self.links[link.tail].append(link)
            self.links[link.head].append(link)
        elements = {node.element for node in plan.nodes.values() if node.role == "leaf"}
        leaves = {name: at for name, at in bond_places(usual.pen.shapes).items() if name in elements}
        self.before = {**leaves, **usual.at}
        self.given = [name for name in plan.nodes if name in places]
        self.at: dict[str, Point] = {}
        self._taken = Pen()
        # What a person put somewhere is settled first, even on top of each other; junctions come before their elements, which
        # follow them and find their places more easily.
        for name in self.given:
            self._settle(name, places[name])
        skeleton = [name for name, node in plan.nodes.items() if node.role != "leaf"]
        for name in (*skeleton, *plan.nodes):
            if name not in self.at:
                self._settle(name, self._nearest(name, self._wanted(name)))

    def end(self, name: str, link: BondLink, at: Point) -> tuple[Point, Box]:
        """The point that a bond aims at, and the box at which it stops."""
        dx, _ = self.usual.ports.get((name, id(link)), (0.0, 0.0))
        return (at[0] + dx, at[1]), self.gap(name, at)

    def gap(self, name: str, at: Point) -> Box:
        """The box about an item at which bonds stop."""
        if name in self.usual.gaps:
            return self.usual.gaps[name].moved(*at)
        return gap_of(self.plan.nodes[name], at, _slot_of(at, self.at.get(self.links[name][0].other(name), at)))

    def line(self, link: BondLink, name: str, at: Point) -> Stroke:
        """A straight bond from an item at a place to the one at its other end."""
        other = link.other(name)
        (start, box), (end, far) = self.end(name, link, at), self.end(other, link, self.at[other])
        return Stroke(*clipped(start, end, box, far))

    def is_clear(self, line: Stroke) -> bool:
        """Whether a straight bond lies on no item."""
        return not any(isinstance(ink, Box) and touch(ink.grown(-1.0), line, 0) for ink in self._taken.touching(line))

    def _wanted(self, name: str) -> Point:
        """Where an item would stand: with its junction, with the neighbours that were moved, or as usual."""
        near = [link.other(name) for link in self.links[name]]
        leaf = self.plan.nodes[name].role == "leaf"
        held = [other for other in near if other in self.at and (leaf or other in self.given)]
        if 2 * len(held) <= len(near):
            # Where most items are held, the others follow them, wherever the usual figure has its origin now.
            held = self.given if 2 * len(self.given) > len(self.plan.nodes) else []
        x, y = self.before[name]
        if not held:
            return x, y
        # The median, so that one neighbour that was dragged far away does not pull the item out of its group.
        ways = [(self.at[one][0] - self.before[one][0], self.at[one][1] - self.before[one][1]) for one in held]
        return x + median(dx for dx, _ in ways), y + median(dy for _, dy in ways)

    def _nearest(self, name: str, wanted: Point) -> Point:
        """The free place that is nearest to the one wanted: for its text and for its straight bonds."""
        # Where nothing is free within reach the item stands where it wants: an overlap is seen, a lost item is not.
        x, y = wanted
        return next((at for dx, dy in _rings() if self._is_free(name, at := (x + dx, y + dy))), wanted)

    def _is_free(self, name: str, at: Point) -> bool:
        return self._taken.is_free(self._solid(name, at), APART) and all(map(self.is_clear, self._lines(name, at)))

    def _lines(self, name: str, at: Point) -> Iterator[Stroke]:
        """The straight bonds of an item to those that have a place."""
        for link in self.links[name]:
            if link.other(name) in self.at and id(link) not in self.usual.routes:
                yield self.line(link, name, at)

    def _settle(self, name: str, at: Point) -> None:
        for line in tuple(self._lines(name, at)):
            self._taken.keep_free(line)
        self._taken.keep_free(self._solid(name, at))
        self.at[name] = at

    def _solid(self, name: str, at: Point) -> Box:
        """What an item covers, with its modulus and the signals that move it."""
        box, text = self.gap(name, at), self.plan.nodes[name].text
        above = (HEADROOM if text.modulus else 0.0) + (SIGNAL_ROOM if text.signals else 0.0)
        below = SIGNAL_ROOM if text.signals else 0.0
        # A little smaller than it is, so that items which just touch in the usual figure are not driven apart.
        return Box(box.left, box.top - above, box.right, box.bottom + below).grown(-2.0)

    # -- drawn -----------------------------------------------------------------------------------------------------------------

    def drawn(self) -> BondLayout:
        """Straight bonds where nothing is in their way, the others round it."""
        self.layout.at, self.layout.ports = self.at, self.usual.ports
        for name in self.plan.nodes:
            self.layout.gaps[name] = self._item(name)
        round_others: list[BondLink] = []
        for link in self.plan.links:
            points = self._usual_route(link) or self._straight(link)
            if points:
                self.pen.bond(link, points, self.options, element=self._leaf(link), later=True)
            else:
                round_others.append(link)
        # Straight bonds get their labels first: a line that goes round others can keep clear of a label, not the reverse.
        self.pen.label()
        if round_others:
            self._route(round_others)
        self.pen.settle()
        return self.layout

    def _item(self, name: str) -> Box:
        """Draw an item, and give the box about its centre at which its bonds stop."""
        at, node = self.at[name], self.plan.nodes[name]
        if node.role != "leaf" and is_wide(self.plan, name):
            # A wide box is moved as it was drawn, with the ports that its bonds end at.
            (x, y), (u, v) = self.before[name], at
            for shape in self.usual.pen.shapes:
                if shape.origin.element == node.element:
                    self.pen.put(moved(shape, u - x, v - y))
            return self.usual.gaps[name]
        near = [self.at[link.other(name)] for link in self.links[name]]
        slot = _slot_of(at, near[0]) if node.role == "leaf" else "N"
        gap = gap_of(node, (0.0, 0.0), slot)
        # A bond that comes steeply from above would run through a modulus over the item, so that stands beside it then.
        above = any(v < at[1] and abs(u - at[0]) < at[1] - v for u, v in near)
        if node.text.modulus and above:
            draw_beside(self.pen, node, gap, right=False, centre=at)
        else:
            draw_text(self.pen, node, at, "name", slot)
        return gap

    def _usual_route(self, link: BondLink) -> tuple[Point, ...]:
        """The usual line of a bond round others, where both its ends are where they were and nothing came into its way."""
        ends = [(self.before[name], self.at[name]) for name in (link.tail, link.head)]
        route = self.usual.routes.get(id(link), ())
        stays = all(dist(*pair) < STILL for pair in ends)
        return route if stays and all(map(self.is_clear, strokes_through(route))) else ()

    def _straight(self, link: BondLink) -> tuple[Point, ...]:
        line = self.line(link, link.tail, self.at[link.tail])
        straight = id(link) not in self.usual.routes and self.is_clear(line)
        return (line.start, line.end) if straight else ()

    def _leaf(self, link: BondLink) -> str:
        nodes = [self.plan.nodes[name] for name in (link.tail, link.head)]
        return next((node.element for node in nodes if node.role == "leaf"), "")

    def _route(self, links: list[BondLink]) -> None:
        router = Router(self.pen, len(links))
        taken = {name: self._taken_sides(name, links) for link in links for name in (link.tail, link.head)}
        ends = [[self._port(link, name, taken[name]) for name in (link.tail, link.head)] for link in links]
        for port, side in (end for pair in ends for end in pair):
            router.reserve(port, side)
        for link, ((start, first), (end, last)) in zip(links, ends, strict=True):
            points = router.route(start, first, end, last)
            self.pen.bond(link, points, self.options, element=self._leaf(link))
            router.look()

    def _taken_sides(self, name: str, routed: list[BondLink]) -> set[Side]:
        """The sides of an item on which its straight bonds leave."""
        x, y = self.at[name]
        others = [self.at[link.other(name)] for link in self.links[name] if not any(link is one for one in routed)]
        return {_sides(u - x, v - y)[0] for u, v in others}

    def _port(self, link: BondLink, name: str, taken: set[Side]) -> tuple[Point, Side]:
        """Where a bond that goes round others leaves an item: as usual, or on a free side that looks towards its other end."""
        (x, y), box = self.end(name, link, self.at[name])
        if (name, id(link)) in self.layout.ports:
            above = self.layout.ports[name, id(link)][1] < 0
            return ((x, box.top), "N") if above else ((x, box.bottom), "S")
        u, v = self.at[link.other(name)]
        wanted = _sides(u - x, v - y)
        route = self.usual.routes.get(id(link))
        if route is not None:
            # The side on which it left in the usual figure comes first: then most lines stay as readers know them.
            (a, b), (c, d) = route[:2] if name == link.tail else route[:-3:-1]
            wanted = (_sides(c - a, d - b)[0], *wanted)
        # With all sides taken two bonds have to share one.
        side = next((side for side in wanted if side not in taken), wanted[0])
        taken.add(side)
        return side_point(side, (x, y), box), side


def _sides(dx: float, dy: float) -> tuple[Side, ...]:
    """The sides of an item by how well they look in a direction."""
    level: tuple[Side, Side] = ("E", "W") if dx > 0 else ("W", "E")
    upright: tuple[Side, Side] = ("S", "N") if dy > 0 else ("N", "S")
    if abs(dx) >= abs(dy):
        return level[0], upright[0], upright[1], level[1]
    return upright[0], level[0], level[1], upright[1]


def _slot_of(at: Point, junction: Point) -> Slot:
    """On which side of its junction an element stands: its letters are next to the bond."""
    dx, dy = at[0] - junction[0], at[1] - junction[1]
    if abs(dx) > abs(dy):
        return "W" if dx < 0 else "E"
    return "S" if dy > 0 else "N"


@lru_cache(maxsize=1)
def _rings() -> tuple[Point, ...]:
    """Steps away from a place, the shortest first."""
    # Equal distances are ordered by the step itself: the same figure on every machine.
    reach = range(-FARTHEST, FARTHEST + 1)
    return tuple(sorted(((i * STEP, j * STEP) for i in reach for j in reach), key=lambda step: (hypot(*step), step)))
