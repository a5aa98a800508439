"""The shapes of one row of a schematic, from the places of its layout, and the areas of the domains behind it."""

from bisect import bisect
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby, pairwise, zip_longest
from math import inf
from typing import NamedTuple, final

from tellegen.core.domains import REFERENCES
from tellegen.drawing.options import Options
from tellegen.drawing.schematic import bodies, symbols
from tellegen.drawing.schematic.layout import BODY, CELLS, GAP, RaisedLink, SchematicLayout
from tellegen.drawing.schematic.plan import SchematicLink
from tellegen.drawing.schematic.rails import return_line_height
from tellegen.drawing.schematic.wires import Net
from tellegen.scenes.geometry import Box, Point, shifted
from tellegen.scenes.scene import CAPTION_DROP, Band, Label, Origin, Ring, Shape, captions_along

LEAD, RING = 22.0, 10.0
"""The wire at the end of a row, and the ring behind it."""
TIE = LEAD + 2 * RING
"""How far a row that goes on in another one reaches beyond its last node."""
FOOT = 9.0
"""From a rail to the mark of its reference."""


class Drop(NamedTuple):
    """Where something meets a rail, and the wire that leads there."""

    x: float
    reference: str
    wire: tuple[Point, ...]
    level: float = symbols.RAIL


@final
class RowDrawing:
    """Draws a layout.

    `piece` tells apart the names of a node that several pieces share. `reach` are the places to which its first station leads on to
    the left, and its last to the right.
    """

    def __init__(
        self,
        layout: SchematicLayout,
        *,
        marked: bool = False,
        piece: str = "",
        reach: tuple[Iterable[float], Iterable[float]] = ((), ()),
    ) -> None:
        self.layout, self.marked, self.piece = layout, marked, piece
        self.shapes: list[Shape] = []
        stations = layout.plan.stations
        self._nets = {
            s.key: Net(Origin(part="wire", port=s.key, domain=s.domain), dots=not s.is_shaft)
            for s in stations
            if s.element is None
        }
        self._places: dict[str, list[float]] = {key: [] for key in self._nets}
        self._drops: list[Drop] = []
        self._barriers: list[float] = []
        for station, places in zip((stations[0], stations[-1]), reach, strict=True):
            # Only nodes reach out of a row; where a box ends it, the box itself is the end.
            if station.key in self._places:
                self._places[station.key] += places
        self._draw()

    def _draw(self) -> None:
        layout = self.layout
        for k in layout.bodies:
            self._body(k)
        for k in layout.boxes:
            self._box(k)
        for gap, link in layout.on_line.items():
            self._on_line(gap, link)
        for arc in layout.arcs:
            self._arc(arc)
        for k, station in enumerate(layout.plan.stations):
            if station.element is None:
                self._row(k, station.key)
                self.shapes += self._nets[station.key].shapes()
        self.shapes += self._rails()

    # -- stations --------------------------------------------------------------------------------------------------------------

    def _body(self, k: int) -> None:
        station, body, x = self.layout.plan.stations[k], self.layout.bodies[k], self.layout.lefts[CELLS * k + 1]
        self._places[station.key] += [x + place for place in body.places]
        if station.is_shaft:
            # A rail must not pass under a shaft: its walls and rods reach down through it.
            self._barriers.append(x)
        for side, text in ((-1, station.before), (1, station.after)):
            if text:
                self._tie(station.key, body.row, x if side < 0 else x + body.width, side, text)
        # Pieces know their rails only as places; which reference is meant stands in the plan.
        references = {item.element.name if item.element else "": item.reference for item in station.hanging}
        for piece in body.pieces:
            self._piece(piece, station.key, x, references.get(piece.element.name if piece.element else "", ""))

    def _tie(self, node: str, row: float, x: float, side: int, text: str) -> None:
        """The end of a row: a letter in a ring, which the row that goes on has too."""
        end = x + side * LEAD
        centre = end + side * RING, row
        origin = Origin(node, "row", port="start" if side < 0 else "end")
        self._places[node] += [x, end]
        self.shapes.append(Ring(centre, RING, origin=origin))
        self.shapes.append(Label(rf"\mathrm{{{text}}}", centre, RING + 2, origin=origin))

    def _piece(self, piece: bodies.PlacedSymbol, node: str, x: float, reference: str) -> None:
        for wire in piece.wires:
            # What hangs from a return line belongs to that line, not to the node below which it stands.
            if piece.line:
                level = self._level(piece.line)
                self._drops.append(Drop(x + wire[0][0], piece.line, shifted(wire, x), level))
            else:
                self._nets[node].join(*shifted(wire, x))
        if piece.rail is not None:
            self._drops.append(self._drop(x + piece.rail, reference, shifted(piece.drop, x)))
        if piece.symbol is not None:
            centre, at = shifted((piece.centre, piece.text_at), x)
            if piece.element is None:
                self.shapes += bodies.terminal_shapes(centre, Origin(node, "port", self.piece), piece.text, at)
            else:
                move = symbols.placed(centre, piece.towards)
                self.shapes += bodies.element_shapes(piece.element, piece.symbol, move, piece.text, at)
        if piece.wall is not None:
            (u, v), towards = piece.wall
            name = "" if piece.element is None else piece.element.name
            self.shapes += symbols.curves(symbols.WALL, symbols.placed((x + u, v), towards), Origin(name, "wall"))

    def _drop(self, x: float, reference: str, wire: tuple[Point, ...]) -> Drop:
        """A wire down to a reference, or further to the return line that stands for it."""
        if reference in self.layout.plan.returns:
            level = self._level(reference)
            return Drop(x, reference, (*wire, (x, level)), level)
        return Drop(x, reference, wire, wire[-1][1])

    def _level(self, line: str) -> float:
        return return_line_height(self.layout.plan.returns[line])

    def _box(self, k: int) -> None:
        box, x = self.layout.boxes[k], self.layout.middle(k)
        move = symbols.mirrored((x, symbols.MID)) if box.mirrored else symbols.placed((x, symbols.MID), (1, 0))
        self.shapes += bodies.element_shapes(box.element, box.symbol, move, box.text, *shifted([box.text_at], x))
        for terminal, pin in box.rails.items():
            drop = shifted((pin.at, pin.meets), x)
            self._drops.append(self._drop(x + pin.meets[0], box.element.nodes[terminal], drop))
        # A wire that is led round below a box would cut a rail that passed there.
        self._barriers += [x + pin.meets[0] for pin in box.pins.values() if pin.meets[1] == symbols.RAIL]

    # -- links -----------------------------------------------------------------------------------------------------------------

    def _on_line(self, gap: int, link: SchematicLink) -> None:
        layout = self.layout
        if link.terminal >= 0:
            box = layout.place[link.first]
            pin, x = layout.boxes[box].pins[link.terminal], layout.middle(box)
            self._places[link.second].append(x + pin.meets[0])
            self._nets[link.second].join(*shifted((pin.meets, pin.at), x))
            return
        cell = CELLS * gap + GAP
        centre = layout.lefts[cell] + layout.widths[cell] / 2, layout.rows[link.second]
        forward = layout.place[link.first] < layout.place[link.second]
        half = self._in_link(link, centre, forward)
        self._places[link.first].append(centre[0] - (half if forward else -half))
        self._places[link.second].append(centre[0] + (half if forward else -half))

    def _in_link(self, link: SchematicLink, centre: Point, forward: bool) -> float:
        """Draw what is in a link, and give half its length."""
        if link.element is None:
            return 0.0
        symbol = self.layout.texts.symbol(link.element)
        text = self.layout.texts.of(link.element)
        at = centre[0], centre[1] - self.layout.height_of(link) + self.layout.texts.extent(text)[1] / 2
        move = symbols.placed(centre, (1.0 if forward else -1.0, 0.0))
        self.shapes += bodies.element_shapes(link.element, symbol, move, text, at)
        return symbol.length / 2

    def _arc(self, arc: RaisedLink) -> None:
        link, layout = arc.link, self.layout
        if link.terminal >= 0:
            self._arc_of_terminal(arc)
            return
        cell = arc.gap
        centre = layout.lefts[cell] + layout.widths[cell] / 2, arc.height
        half = self._in_link(link, centre, not arc.flipped)
        left, right = (link.second, link.first) if arc.flipped else (link.first, link.second)
        for node, x, end in ((left, arc.left, centre[0] - half), (right, arc.right, centre[0] + half)):
            self._places[node].append(x)
            self._nets[node].join((x, layout.rows[node]), (x, arc.height), (end, arc.height))

    def _arc_of_terminal(self, arc: RaisedLink) -> None:
        link, layout = arc.link, self.layout
        box = layout.place[link.first]
        pin, middle = layout.boxes[box].pins[link.terminal], layout.middle(box)
        own, far = (arc.right, arc.left) if arc.flipped else (arc.left, arc.right)
        (u, v), (a, b) = pin.meets, pin.at
        self._places[link.second].append(far)
        up = (far, layout.rows[link.second]), (far, arc.height), (own, arc.height)
        # Down to the height of its terminal first, then in: the wire meets a box from the side on which the pin is.
        self._nets[link.second].join(*up, (own, v), (middle + u, v), (middle + a, b))

    def _is_open(self, k: int) -> bool:
        """Whether nothing but one link is joined to a node: it has a short wire there."""
        plan = self.layout.plan
        station = plan.stations[k]
        # An end without a wire looks like a mistake of the drawing; a short one says that it is meant.
        joined = sum(station.key in (link.first, link.second) for link in plan.links)
        hung = [item for item in station.hanging if not item.line]
        return joined == 1 and not (hung or station.port or station.before or station.after)

    def _comes_from_right(self, k: int) -> bool:
        """Whether the link of an open node leads to it from the right, on the line or above it."""
        key = self.layout.plan.stations[k].key
        arc = next((arc for arc in self.layout.arcs if key in (arc.link.first, arc.link.second)), None)
        return k in self.layout.on_line if arc is None else self.layout.place[key] * CELLS < arc.gap

    def _row(self, k: int, key: str) -> None:
        body, x = self.layout.bodies[k], self.layout.lefts[CELLS * k + 1]
        closed = [(x + a, x + b) for a, b in body.closed]
        places = self._places[key]
        if self._is_open(k) and len(places) == 1:
            places.append(places[0] + (-LEAD if self._comes_from_right(k) else LEAD))
        self._nets[key].row(body.row, self._places[key], closed)

    # -- references ------------------------------------------------------------------------------------------------------------

    def _rails(self) -> Iterator[Shape]:
        """A rail for each run of neighbours that drop to one reference, with its mark near the middle.

        A node that is drawn as a rail without being a reference needs no mark, unless its rail is in several pieces: in
        several rows (`marked`) or on both sides of a shaft.
        """
        runs = list(self._runs())
        pieces = Counter(run[0].reference for run in runs)
        for run, behind in zip_longest(runs, runs[1:]):
            reference = run[0].reference
            # In several rows a plain line would seem to end with its row: each piece has the mark of a ground.
            goes_on = self.marked and reference not in self.layout.plan.returns
            mark = reference if reference in REFERENCES else ("gnd" if goes_on or pieces[reference] > 1 else "")
            beside = behind is not None and (
                behind[0].level == run[0].level or reference not in self.layout.plan.returns
            )
            yield from self._rail(run, mark, behind[0].x - run[-1].x if beside else inf)

    def _runs(self) -> Iterator[list[Drop]]:
        for level in sorted({drop.level for drop in self._drops}):
            # A return line passes under shafts, and what leads down to it goes through between the references.
            passing = [drop.x for drop in self._drops if drop.wire[0][1] < level < drop.level]
            # Shafts end above return lines.
            barriers = sorted((*self._barriers, *passing) if level < symbols.RETURN else passing)

            def rail(drop: Drop, barriers: list[float] = barriers) -> tuple[str, int]:
                # A return line is one line or it is wrong: it passes below everything.
                whole = drop.reference in self.layout.plan.returns
                return drop.reference, 0 if whole else bisect(barriers, drop.x)

            # From left to right: neighbours of one reference share a rail until something else stands between them.
            here = sorted(drop for drop in self._drops if drop.level == level)
            yield from (list(run) for _, run in groupby(here, rail))

    def _rail(self, run: list[Drop], mark: str, room: float) -> Iterator[Shape]:
        """A rail, with its mark or the name of its port; to the right there is so much room up to the next one."""
        reference, level = run[0].reference, run[0].level
        net = Net(Origin(part="rail", port=reference), dots=True)
        xs = [drop.x for drop in run]
        for drop in run:
            net.join(*drop.wire)
        net.row(level, xs)
        port = self.layout.plan.rail_ports.get(reference, "")
        if port:
            at = xs[-1], level
            if reference in self.layout.plan.returns:
                yield from self._line_port(net, reference, bodies.port_text(port), at, room)
            else:
                yield from self._rail_port(net, reference, bodies.port_text(port), at, room)
        elif not mark and len(xs) == 1:
            yield from bodies.terminal_shapes(
                (xs[0], level + bodies.TERMINAL.length / 2), Origin(part="end", port=reference)
            )
        if mark and not port:
            # Under a drop and not between two: the mark prolongs a wire instead of making a further joint.
            middle = min(xs, key=lambda x: (abs(x - (xs[0] + xs[-1]) / 2), x))
            net.join((middle, level), (middle, level + FOOT))
            origin = Origin(part="ground", port=reference)
            yield from symbols.curves(
                symbols.reference_mark(mark), symbols.placed((middle, level + FOOT), (1, 0)), origin
            )
        yield from net.shapes()

    def _line_port(self, net: Net, line: str, text: str, at: Point, room: float) -> Iterator[Shape]:
        """The circle and the name of the port at the right end of a return line; the name is above where there is little room."""
        radius, (x, y) = bodies.TERMINAL.length / 2, at
        along, across = self.layout.texts.extent(text)
        centre, origin = x + bodies.PORT_LEAD + radius, Origin(line, "port")
        net.join(at, (centre - radius, y))
        text_at = centre + radius + bodies.LABEL_GAP + along / 2, y
        if bodies.PORT_LEAD + 2 * radius + 4 * bodies.LABEL_GAP + along >= room:
            text_at = max(centre, x + bodies.LABEL_GAP + along / 2), y - radius - bodies.LABEL_GAP - across / 2
        yield from bodies.terminal_shapes((centre, y), origin, text, text_at)

    def _rail_port(self, net: Net, reference: str, text: str, end: Point, room: float) -> Iterator[Shape]:
        """The circle and the name of the port below the end of a rail to which others are joined."""
        radius, (x, level) = bodies.TERMINAL.length / 2, end
        net.join(end, (x, level + bodies.PORT_LEAD - radius))
        along, _ = self.layout.texts.extent(text)
        # To the left where the next rail is too near.
        side = 1 if radius + bodies.LABEL_GAP + along < room - radius else -1
        text_at = x + side * (radius + bodies.LABEL_GAP + along / 2), level + bodies.PORT_LEAD
        yield from bodies.terminal_shapes((x, level + bodies.PORT_LEAD), Origin(reference, "port"), text, text_at)


BAND_MARGIN = 16.0
"""Round the ink of a row."""


def row_bands(layout: SchematicLayout, ink: Box, options: Options) -> list[Shape]:
    """The bands of a row whose ink is in a box, with the words that fit under them."""
    area = ink.grown(BAND_MARGIN)
    bands = [Band(box, domain, Origin(domain=domain)) for domain, box in domain_areas(layout, area)]
    return [*bands, *(captions_along(bands, area.bottom + CAPTION_DROP) if options.shows_captions else ())]


def domain_areas(layout: SchematicLayout, area: Box) -> list[tuple[str, Box]]:
    """Domains from left to right in an area, each with its part of it."""
    stations = layout.plan.stations
    nodes = [k for k, station in enumerate(stations) if station.element is None]
    cuts, domains = [area.left], [stations[nodes[0]].domain] if nodes else []
    for one, two in pairwise(nodes):
        if stations[one].domain != stations[two].domain:
            cuts.append(_cut(layout, one, two))
            domains.append(stations[two].domain)
    cuts.append(area.right)
    spans = zip(domains, pairwise(cuts), strict=True) if domains else ()
    return [(domain, Box(left, area.top, right, area.bottom)) for domain, (left, right) in spans]


def _cut(layout: SchematicLayout, one: int, two: int) -> float:
    """Through the two-port between two nodes, or half way between them."""
    # A machine belongs to both of its domains: the border goes through it.
    between = next((k for k in range(one + 1, two) if k in layout.boxes), None)
    if between is not None:
        return layout.middle(between)
    end = layout.lefts[CELLS * one + BODY] + layout.widths[CELLS * one + BODY]
    return (end + layout.lefts[CELLS * two + BODY]) / 2
