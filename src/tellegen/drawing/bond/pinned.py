"""A bond graph in which some items stand where a person put them; the others move as little as that allows."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from math import hypot
from statistics import median
from typing import final

from tellegen.drawing.bond.clusters import Side, Slot, clipped, draw_beside, draw_text, gap_of, is_wide
from tellegen.drawing.bond.layout import BondLayout
from tellegen.drawing.bond.plan import BondLink, BondPlan
from tellegen.drawing.bond.routes import Router
from tellegen.drawing.geometry import Box, Point
from tellegen.drawing.ink import Grid, Ink, Stroke, strokes_through, touch
from tellegen.drawing.memory import STILL, bond_places
from tellegen.drawing.options import Options
from tellegen.drawing.scene import moved

STEP, FARTHEST = 10.0, 40
"""Free places are looked for on a grid of this step, at most so many steps away."""
APART = 14.0
"""Between the texts of items."""
HEADROOM, SIGNAL_ROOM = 34.0, 40.0
"""Above an item with a modulus, and beside one that a signal moves."""


def pinned_layout(plan: BondPlan, usual: BondLayout, options: Options) -> BondLayout:
    """A layout with items at the places of the options, made from the usual one."""
    return _Drawing(_Arrangement(plan, usual, options.places), options).layout


@final
class _Arrangement:
    """A place for every item: those given first, then the others as near as they can be to where they should be."""

    def __init__(self, plan: BondPlan, usual: BondLayout, places: Mapping[str, Point]) -> None:
        self.plan, self.usual = plan, usual
        self.links: dict[str, list[BondLink]] = {name: [] for name in plan.nodes}
        for link in plan.links:
            self.links[link.tail].append(link)
            self.links[link.head].append(link)
        self.before = {**_leaves(plan, usual), **usual.at}
        self.given = [name for name in plan.nodes if name in places]
        self.at: dict[str, Point] = {}
        self._inks: list[Ink] = []
        self._grid = Grid()
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
        return not any(
            isinstance(ink := self._inks[k], Box) and touch(ink.grown(-1.0), line, 0) for k in self._grid.near(line.box)
        )

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
        return x + median(map(self._moved_right, held)), y + median(map(self._moved_down, held))

    def _moved_right(self, name: str) -> float:
        return self.at[name][0] - self.before[name][0]

    def _moved_down(self, name: str) -> float:
        return self.at[name][1] - self.before[name][1]

    def _nearest(self, name: str, wanted: Point) -> Point:
        x, y = wanted
        return next((at for dx, dy in _rings() if self._is_free(name, at := (x + dx, y + dy))), wanted)

    def _is_free(self, name: str, at: Point) -> bool:
        box = self._solid(name, at).grown(APART)
        if any(touch(box, self._inks[k], 0) for k in self._grid.near(box)):
            return False
        return all(map(self.is_clear, self._lines(name, at)))

    def _lines(self, name: str, at: Point) -> Iterator[Stroke]:
        """The straight bonds of an item to those that have a place."""
        for link in self.links[name]:
            if link.other(name) in self.at and id(link) not in self.usual.routes:
                yield self.line(link, name, at)

    def _settle(self, name: str, at: Point) -> None:
        inks: list[Ink] = [*self._lines(name, at), self._solid(name, at)]
        for ink in inks:
            self._grid.add(ink if isinstance(ink, Box) else ink.box, len(self._inks))
            self._inks.append(ink)
        self.at[name] = at

    def _solid(self, name: str, at: Point) -> Box:
        """What an item covers, with its modulus and the signals that move it."""
        box, text = self.gap(name, at), self.plan.nodes[name].text
        above = (HEADROOM if text.modulus else 0.0) + (SIGNAL_ROOM if text.signals else 0.0)
        below = SIGNAL_ROOM if text.signals else 0.0
        return Box(box.left, box.top - above, box.right, box.bottom + below).grown(-2.0)


@final
class _Drawing:
    """Draws what was arranged: straight bonds where nothing is in their way, the others round it."""

    def __init__(self, arranged: _Arrangement, options: Options) -> None:
        self.arranged, self.options = arranged, options
        self.layout = layout = BondLayout()
        layout.at, layout.ports = arranged.at, arranged.usual.ports
        plan, self.pen = arranged.plan, layout.pen
        for name in plan.nodes:
            layout.gaps[name] = self._item(name)
        round_others: list[BondLink] = []
        for link in plan.links:
            points = self._usual_route(link) or self._straight(link)
            if points:
                self.pen.bond(link, points, options, element=self._leaf(link), later=True)
            else:
                round_others.append(link)
        self.pen.label()
        if round_others:
            self._route(round_others)
        self.pen.settle()

    def _item(self, name: str) -> Box:
        """Draw an item, and give the box about its centre at which its bonds stop."""
        arranged, at = self.arranged, self.arranged.at[name]
        node = arranged.plan.nodes[name]
        if node.role != "leaf" and is_wide(arranged.plan, name):
            (x, y), (u, v) = arranged.before[name], at
            for shape in arranged.usual.pen.shapes:
                if shape.origin.element == node.element:
                    self.pen.put(moved(shape, u - x, v - y))
            return arranged.usual.gaps[name]
        near = [arranged.at[link.other(name)] for link in arranged.links[name]]
        slot = _slot_of(at, near[0]) if node.role == "leaf" else "N"
        gap = gap_of(node, (0.0, 0.0), slot)
        above = any(v < at[1] and abs(u - at[0]) < at[1] - v for u, v in near)
        if node.text.modulus and above:
            draw_beside(self.pen, node, gap, right=False, centre=at)
        else:
            draw_text(self.pen, node, at, "name", slot)
        return gap

    def _usual_route(self, link: BondLink) -> tuple[Point, ...]:
        """The usual line of a bond round others, where both its ends are where they were and nothing came into its way."""
        ends = [(self.arranged.before[name], self.arranged.at[name]) for name in (link.tail, link.head)]
        route = self.arranged.usual.routes.get(id(link), ())
        stays = all(hypot(x - u, y - v) < STILL for (x, y), (u, v) in ends)
        return route if stays and all(map(self.arranged.is_clear, strokes_through(route))) else ()

    def _straight(self, link: BondLink) -> tuple[Point, ...]:
        line = self.arranged.line(link, link.tail, self.arranged.at[link.tail])
        straight = id(link) not in self.arranged.usual.routes and self.arranged.is_clear(line)
        return (line.start, line.end) if straight else ()

    def _leaf(self, link: BondLink) -> str:
        nodes = [self.arranged.plan.nodes[name] for name in (link.tail, link.head)]
        return next((node.element for node in nodes if node.role == "leaf"), "")

    def _route(self, links: list[BondLink]) -> None:
        router = Router(self.pen, len(links))
        taken = {name: self._taken(name, links) for link in links for name in (link.tail, link.head)}
        ends = [[self._port(link, name, taken[name]) for name in (link.tail, link.head)] for link in links]
        for port, side in (end for pair in ends for end in pair):
            router.reserve(port, side)
        for link, ((start, first), (end, last)) in zip(links, ends, strict=True):
            points = router.route(start, first, end, last)
            self.pen.bond(link, points, self.options, element=self._leaf(link))
            router.look()

    def _taken(self, name: str, routed: list[BondLink]) -> set[Side]:
        """The sides of an item on which its straight bonds leave."""
        at = self.arranged.at
        others = [link.other(name) for link in self.arranged.links[name] if not any(link is one for one in routed)]
        return {_sides(at[other][0] - at[name][0], at[other][1] - at[name][1])[0] for other in others}

    def _port(self, link: BondLink, name: str, taken: set[Side]) -> tuple[Point, Side]:
        """Where a bond that goes round others leaves an item: as usual, or on a free side that looks towards its other end."""
        (x, y), box = self.arranged.end(name, link, self.arranged.at[name])
        if (name, id(link)) in self.layout.ports:
            above = self.layout.ports[name, id(link)][1] < 0
            return ((x, box.top), "N") if above else ((x, box.bottom), "S")
        u, v = self.arranged.at[link.other(name)]
        wanted = _sides(u - x, v - y)
        route = self.arranged.usual.routes.get(id(link))
        if route is not None:
            (a, b), (c, d) = route[:2] if name == link.tail else route[:-3:-1]
            wanted = (_sides(c - a, d - b)[0], *wanted)
        side = next((side for side in wanted if side not in taken), wanted[0])
        taken.add(side)
        ports: dict[Side, Point] = {"E": (box.right, y), "W": (box.left, y), "S": (x, box.bottom), "N": (x, box.top)}
        return ports[side], side


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


def _leaves(plan: BondPlan, usual: BondLayout) -> dict[str, Point]:
    names = {node.element for node in plan.nodes.values() if node.role == "leaf"}
    return {name: at for name, at in bond_places(usual.pen.shapes).items() if name in names}


@lru_cache(maxsize=1)
def _rings() -> tuple[Point, ...]:
    """Steps away from a place, the shortest first."""
    reach = range(-FARTHEST, FARTHEST + 1)
    return tuple(sorted(((i * STEP, j * STEP) for i in reach for j in reach), key=lambda step: (hypot(*step), step)))
