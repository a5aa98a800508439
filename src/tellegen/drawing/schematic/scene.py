"""Physical schematics as scenes: each connected part as columns, bridge, mesh or rows, whichever fits the page without
crossings.
"""

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import accumulate, pairwise
from typing import final

from tellegen.core.domains import REFERENCES
from tellegen.drawing.memory import LadderNames, check_places
from tellegen.drawing.options import DEFAULTS, READABLE, SCREEN, Options, with_layout
from tellegen.drawing.schematic.bodies import LABEL_GAP, TERMINAL, terminal_shapes
from tellegen.drawing.schematic.bridge import bridge_shapes
from tellegen.drawing.schematic.columns import ColumnDrawing, arrange_in_columns, column_bands
from tellegen.drawing.schematic.layout import BODY, CELLS, RIGHT, SchematicLayout
from tellegen.drawing.schematic.mesh import is_meshed, mesh_shapes
from tellegen.drawing.schematic.plan import (
    LABEL_SIZE,
    SchematicLabels,
    SchematicLink,
    SchematicPlan,
    Station,
    plan_schematic,
    schematic_elements,
)
from tellegen.drawing.schematic.rails import (
    ReturnDepths,
    common_return_lines,
    crowded_nodes,
    rails_of,
    return_lines_behind_machines,
    switching_leg_nodes,
)
from tellegen.drawing.schematic.row_drawing import BAND_MARGIN, TIE, RowDrawing, row_bands
from tellegen.drawing.schematic.sketch import sketch_shapes
from tellegen.drawing.schematic.symbols import RETURN, can_turn, is_load
from tellegen.drawing.schematic.wires import Collisions, count_crossings
from tellegen.elements import ElementKind
from tellegen.model.model import NOTHING, Element, Model
from tellegen.scenes.geometry import Box, along, direction, union
from tellegen.scenes.ink import free_ends, ink_box
from tellegen.scenes.scene import MARGIN, Label, Origin, Scene, Shape, Wire, framed_scene, mapped, moved
from tellegen.scenes.strokes import POINT

BETWEEN = 34.0
"""Between parts that nothing links."""
SHARE = 0.6
"""At this size the texts of pieces can be read: so much wider than asked they may be."""
WIDER = 1.2
"""So much wider than asked for a bridge, a schematic in columns or one without crossings may be before it is cut into rows."""

NOT_AS_GIVEN = (
    "laid out anew: where the netlist puts its elements they would lie on each other, or others are there now"
)


def schematic_scene(model: Model, options: Options = DEFAULTS) -> Scene:
    """The schematic of a model: the symbols of its elements, wires, pipes and shafts between them, references below.

    Raises: FigureError (F160) for a place of something that is not there, F180 where no network stands for the model.
    """
    elements = schematic_elements(model)
    options = with_layout(options, model, "network")
    check_places(
        {**options.places, **dict.fromkeys(model.turned, (0.0, 0.0))}, (e.name for e in elements), "this schematic"
    )
    return options.earlier.nearest(_network(model, elements, choice) for choice in options.like_earlier())


def _network(model: Model, elements: tuple[Element, ...], options: Options) -> Scene:
    title = f"Schematic: {model.name}" if model.name else "Schematic"
    texts = SchematicLabels(model, options)
    # Who wrote a netlist with places has drawn it already: that comes before anything we would choose.
    shapes = sketch_shapes(elements, model.sketch, texts) if model.sketch is not None else []
    notes = [NOT_AS_GIVEN] if model.sketch is not None and not shapes else []
    rigid = (e.name for e in elements if e.name in model.turned and not can_turn(e.kind))
    notes += (f"'{name}' is not turned: its symbol has no two ends" for name in rigid)
    lines: LadderNames = ()
    if not shapes:
        shapes, lines = arrange_schematic(elements, texts, _ports(model))
    shapes += _open_ends(elements, shapes)
    if not shapes:
        return Scene(title, "no elements", Box(0, 0, 2 * MARGIN, 2 * MARGIN), ())
    # The network in words, for those who cannot see the figure.
    words = "; ".join(f"{element.kind.name} {element.name} at {', '.join(element.nodes)}" for element in elements)
    # Figures that are kept or compared begin at zero, wherever their parts were laid out.
    scene = framed_scene(title, words, ink_box(shapes).grown(MARGIN), shapes)
    return options.earlier.settle(replace(scene, notation="network", lines=lines, notes=tuple(notes)), options.places)


def _open_ends(elements: Iterable[Element], shapes: list[Shape]) -> list[Shape]:
    """Small circles at the wires of nodes that join only one element: they end at nothing on purpose."""
    joined = Counter(node for element in elements for node in element.nodes)
    loose = {node for node, count in joined.items() if count == 1}
    found: list[Shape] = []
    if loose:
        for wire, end, before in free_ends(shapes):
            if wire.origin.port in loose:
                centre = along(end, direction(before, end), TERMINAL.length / 2)
                found += terminal_shapes(centre, Origin(part="end", port=wire.origin.port))
    return found


def _ports(model: Model) -> dict[str, str]:
    """What stands at the nodes of ports: the name of the port, or those of its nodes where both are drawn."""
    found: dict[str, str] = {}
    for port in model.ports.values():
        first, second = port.nodes
        # A source is drawn as what it is, not as a port at which one may join others.
        if not port.source:
            # At a reference one node says all; else both wires of the port are drawn, and each has its own name.
            found |= {first: port.name} if second in REFERENCES else {first: first, second: second}
    return found


def arrange_schematic(
    elements: Iterable[Element], texts: SchematicLabels, ports: Mapping[str, str] = NOTHING
) -> tuple[list[Shape], LadderNames]:
    """The shapes of some elements between nodes, one connected part under the other, in rows that are not too wide.

    A part that goes on in the domain in which the one before it ends stands beside that, where there is room.
    `ports` are the words at nodes to which others may be joined. The stations of each part come with the shapes, in their order.
    """
    return _Arrangement(tuple(elements), texts, ports).best()


@final
@dataclass(frozen=True, slots=True)
class _DrawnPart:
    """One connected part as rows, and how many letters tie these together.

    On a `level` line others may stand beside it. What is `settled` is drawn so however small its texts become.
    """

    rows: Sequence[list[Shape]]
    letters: int = 0
    level: bool = False
    settled: bool = False

    @property
    def width(self) -> float:
        return max(ink_box(row).width for row in self.rows)


@final
class _Arrangement:
    """The ways to draw a network. Plans differ in the nodes that are lines below the others; each part has several layouts."""

    def __init__(self, elements: tuple[Element, ...], texts: SchematicLabels, ports: Mapping[str, str]) -> None:
        self.elements, self.texts, self.ports = elements, texts, ports
        self.wide = WIDER * texts.options.room
        self.room = texts.options.room - 2 * (MARGIN + BAND_MARGIN)
        """How wide the ink of a row may be."""
        domains = {domain for element in elements for domain in element.kind.domains}
        self.banded = texts.options.shows_bands and len(domains) > 1
        # Several questions are asked about each plan before one is drawn.
        self._layout = cache(lambda plan: SchematicLayout(plan, texts))
        self._bridge = cache(lambda plan: bridge_shapes(plan, texts, self.wide))

    def best(self) -> tuple[list[Shape], LadderNames]:
        """The shapes with fewest crossings of wires, and the stations of each part."""
        plain = plan_schematic(self.elements, self.ports, order=self.texts.options.earlier.lines)
        rails = rails_of(self.elements)
        legs = switching_leg_nodes(self.elements, rails)
        # Legs of switches are lines of their own kind; all else is asked only where there are none.
        chosen = self._plans(legs, self.room) if legs else []
        chosen = chosen or self._plans(self._unnamed(common_return_lines(self.elements)), self.room) or plain
        shapes = self._placed(chosen)
        crossings = count_crossings(shapes)
        # Lines to a star cross legs however they are drawn.
        is_bridge = crossings > 0 and any(map(self._bridge, chosen))
        for lines in self._lower_lines(rails) if crossings and not is_bridge else ():
            # Fewer crossings may cost a little width, but no second row.
            plans = self._plans(self._unnamed(lines), max(self.room, WIDER * ink_box(shapes).width))
            # A line that was taken out must not have torn a part into two.
            other = self._placed(plans) if len(plans) == len(plain) else []
            if other and count_crossings(other) < crossings and not _broken(other, lines):
                shapes, crossings, chosen = other, count_crossings(other), plans
        return shapes, tuple(tuple(station.key for station in plan.stations) for plan in chosen)

    # -- plans -----------------------------------------------------------------------------------------------------------------

    def _plans(self, lines: ReturnDepths, room: float) -> list[SchematicPlan]:
        """The connected parts with return lines; none where one is too long for a row, or a shaft reaches down to them."""
        plans = plan_schematic(self.elements, self.ports, lines, self.texts.options.earlier.lines)
        layouts = [self._layout(plan) for plan in plans if plan.returns]
        # Where something hangs lower than return lines these would lead through it.
        fits = all(_depth(layout) < RETURN and self._widest(layout) <= room for layout in layouts)
        return plans if fits else []

    def _unnamed(self, lines: ReturnDepths) -> ReturnDepths:
        """Lines without those that have the name of a port: others are joined to these, and no way leads to them from below."""
        return {node: depth for node, depth in lines.items() if node not in self.ports}

    def _lower_lines(self, rails: frozenset[str]) -> Iterator[ReturnDepths]:
        """What may be drawn below the references: what is behind machines, or one of the nodes where most wires meet."""
        yield return_lines_behind_machines(self.elements, rails)
        yield from ({node: 0} for node in crowded_nodes(self.elements, rails))

    def _widest(self, layout: SchematicLayout) -> float:
        """The width of a part, or of the widest of its rows where it is cut into several."""
        if layout.width <= self.room:
            return layout.width
        return max(self._layout(row).width for row in self._cut(layout, 0)) + 2 * TIE

    def _cut(self, layout: SchematicLayout, letters: int) -> list[SchematicPlan]:
        return split_into_rows(layout.plan, layout, self.room - 2 * TIE, letters)

    # -- parts -----------------------------------------------------------------------------------------------------------------

    def _placed(self, plans: Iterable[SchematicPlan]) -> list[Shape]:
        shapes: list[Shape] = []
        letters = 0
        last = Box(0.0, -BETWEEN, 0.0, -BETWEEN)
        line, before = 0.0, ""
        for plan in plans:
            part = self._part(plan, letters)
            letters += part.letters
            first, end = plan.stations[0].domain, plan.stations[-1].domain
            for row in part.rows:
                box = ink_box(row)
                # On with the line in the same domain, as a shaft that was parted in two: it reads as one.
                beside = part.level and first == before and last.right + BETWEEN + box.width <= self.room
                if beside:
                    # What an element that was taken out has joined stays where it was.
                    dx, dy = last.right + BETWEEN - box.left, line
                else:
                    dx, dy = -box.left, last.bottom + BETWEEN - box.top
                shapes += (moved(shape, dx, dy) for shape in row)
                here = box.moved(dx, dy)
                last = union([last, here]) if beside else here
                line, before = dy, end if part.level else ""
        return shapes

    def _part(self, plan: SchematicPlan, letters: int) -> _DrawnPart:
        """One connected part: the first way that fits, cut to pieces where nobody could read it and pieces are narrower."""
        usual = next(self._ways(plan, letters))
        # Cutting to pieces is the last resort: letters have to be looked for.
        if usual.settled or self._is_readable(usual):
            return usual
        return min(usual, self._pieces(plan, letters), key=lambda part: part.width)

    def _ways(self, plan: SchematicPlan, letters: int) -> Iterator[_DrawnPart]:
        """The ways to draw a part, the best first: made only as far as they are asked for."""
        # The line is drawn level and stood up, so labels are measured across it.
        if _is_upright(plan):
            layout = SchematicLayout(plan, SchematicLabels(self.texts.model, self.texts.options, upright=True))
            yield _DrawnPart([_stood_up(RowDrawing(layout).shapes)], settled=True)
        boxed = self._columns(plan)
        columns = [_DrawnPart([boxed])] if boxed else []
        yield from (part for part in columns if part.width <= self.wide)
        if bridge := self._bridge(plan):
            yield _DrawnPart([bridge])
        layout = self._layout(plan)
        # Rows would draw a mesh with long lines above; a grid shows it.
        if is_meshed(plan, layout) and (mesh := mesh_shapes(plan, self.texts, self.room)):
            yield _DrawnPart([mesh])
        parts = [plan] if layout.width <= self.room else self._cut(layout, letters)
        # In one with small letters it reads better than with letters that have to be looked for; captions are left out then.
        whole = [_DrawnPart([[s for s in boxed if s.origin.part != "caption"]])] if boxed and len(parts) > 1 else []
        yield from filter(self._is_readable, whole)
        rows = [self._row(layout if part is plan else self._layout(part), marked=len(parts) > 1) for part in parts]
        row_by_row = _DrawnPart(rows, len(rows) - 1, level=len(rows) == 1)
        # Wide columns still say more than rows that are no narrower.
        yield from (part for part in columns if part.width <= row_by_row.width)
        yield row_by_row

    def _is_readable(self, part: _DrawnPart) -> bool:
        """Whether texts can be read at the width asked for. On a screen one looks closer, so parts are left whole."""
        room = self.texts.options.room
        # A wide figure is drawn smaller as a whole, and its smallest text decides.
        sizes = [shape.size for row in part.rows for shape in row if isinstance(shape, Label)]
        points = POINT * min(sizes, default=LABEL_SIZE) * min(1.0, room / (part.width + 2 * MARGIN))
        return round(points, 1) >= READABLE or room >= SCREEN

    def _pieces(self, plan: SchematicPlan, letters: int) -> _DrawnPart:
        """A part that is cut wherever that makes it narrow enough."""
        parts, used = split_into_pieces(plan, self.texts, self.room / SHARE, letters)
        # A node that several pieces show needs a name of its own in each, or memory would take them for one.
        rows = [self._row(self._layout(part), marked=True, piece=f"piece {k}") for k, part in enumerate(parts, 1)]
        return _DrawnPart(rows, used)

    def _row(self, layout: SchematicLayout, *, marked: bool, piece: str = "") -> list[Shape]:
        shapes = RowDrawing(layout, marked=marked, piece=piece).shapes
        bands = row_bands(layout, ink_box(shapes), self.texts.options) if self.banded else []
        return [*bands, *shapes]

    def _columns(self, plan: SchematicPlan) -> list[Shape]:
        """A part with elements of many ports in columns; nothing where it has none, or where lines would have to cross."""
        columns = arrange_in_columns(plan)
        if columns is None:
            return []
        drawing = ColumnDrawing(columns, self.texts)
        # Where bridges are in each other's way, one of them may lead below.
        for ends in dict.fromkeys(frozenset((bridge.first, bridge.second)) for bridge in columns.bridges):
            if drawing.is_complete:
                break
            # One after another: the first that makes all others fit is taken below.
            lower = arrange_in_columns(plan, ends)
            drawing = drawing if lower is None else ColumnDrawing(lower, self.texts)
        if not drawing.is_complete or _is_torn(plan, drawing.shapes):
            return []
        return [*(column_bands(drawing, self.texts.options) if self.banded else ()), *drawing.shapes]


def _broken(shapes: Iterable[Shape], lines: Container[str]) -> bool:
    """Whether a return line is in several pieces, which only marks of a reference would tie together, or meets another wire."""
    # Without symbols: only whether wires of different nodes meet.
    faults = Collisions()
    for shape in shapes:
        if shape.origin.part == "ground" and shape.origin.port in lines:
            return True
        if isinstance(shape, Wire):
            for one, two in pairwise(shape.points):
                faults.wire(one, two, shape.origin.port)
    return faults.found()


def _depth(layout: SchematicLayout) -> float:
    on_shafts = [body for k, body in layout.bodies.items() if layout.plan.stations[k].is_shaft]
    pieces = [piece for body in on_shafts for piece in body.pieces]
    return max((p.centre[1] + p.symbol.down + LABEL_GAP for p in pieces if p.symbol is not None), default=0.0)


def _is_torn(plan: SchematicPlan, shapes: list[Shape]) -> bool:
    """Whether a wire ends at nothing though several lines meet at its node, as one that leads back to its own box would."""
    met = Counter(node for link in plan.links for node in (link.first, link.second))
    return any(met[wire.origin.port] > 1 for wire, _, _ in free_ends(shapes))


def _stood_up(shapes: Iterable[Shape]) -> list[Shape]:
    """A row whose line of nodes goes upwards: what was above it is on the right."""
    return [mapped(shape, lambda point: (-point[1], -point[0]), lambda box: box) for shape in shapes]


def _is_upright(plan: SchematicPlan) -> bool:
    """Whether bodies stand over each other: on a moved support that carries them on springs and dampers, or over a floor.

    One draws a car on its road and a ball over its floor from below, not from left to right.
    """
    if any(not station.is_shaft or station.domain != "translational" for station in plan.stations):
        return False
    # Asked by what elements do, never by the names of their kinds: those of other packs count as well.
    hung = [[item.element.kind for item in s.hanging if item.element is not None] for s in plan.stations]
    # A body over its floor: a ball, a press, a hopping leg.
    if len(hung) == 1:
        return any(map(_is_body, hung[0])) and any(kind.behaviour == "stop" for kind in hung[0])
    # A road that lifts its wheel is a source of motion alone at its node.
    moved_supports = [
        kinds for kinds in hung if len(kinds) == 1 and kinds[0].role == "source" and not is_load(kinds[0])
    ]
    others = [kind for kinds in hung if kinds not in moved_supports for kind in kinds]
    carriers = [link.element.kind for link in plan.links if link.element is not None]
    return (
        bool(moved_supports)
        and all(_is_body(kind) or is_load(kind) for kind in others)
        and all(kind.role in ("storage", "resistive") for kind in carriers)
    )


def _is_body(kind: ElementKind) -> bool:
    """Whether a kind is a mass: it stands against the frame, and keeps something."""
    return kind.grounded and not kind.weightless


LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def split_into_rows(plan: SchematicPlan, layout: SchematicLayout, width: float, used: int) -> list[SchematicPlan]:
    """The rows of a plan, as few as fit; one where it is narrow enough. `used` letters are taken by other plans."""
    last = len(plan.stations) - 1
    # A single station cannot be cut however wide it is.
    if layout.width <= width or last == 0:
        return [plan]
    cuts = [0]
    places = _places(layout)
    for k, following in pairwise([*places, last]):
        # As far as it goes: the fewest rows come from filling each one.
        end = CELLS * following + RIGHT
        if layout.lefts[end] + layout.widths[end] - layout.lefts[CELLS * cuts[-1] + BODY] > width and k > cuts[-1]:
            cuts.append(k)
    return _rows(plan, [*cuts, last], used)


def break_letter(number: int) -> str:
    """A, B, ..., Z, A1, B1, ..."""
    turn, place = divmod(number, len(LETTERS))
    return LETTERS[place] + (str(turn) if turn else "")


def _places(layout: SchematicLayout) -> list[int]:
    """The nodes over which no line goes."""
    # Counts of lines that begin and end, summed up from the left: how many pass over each cell.
    over = [0] * (CELLS * len(layout.plan.stations) + 1)
    for arc in layout.arcs:
        over[arc.cells[0] + 1] += 1
        over[arc.cells[1]] -= 1
    covered = list(accumulate(over))
    inner = range(1, len(layout.plan.stations) - 1)
    # A return line is whole or it is wrong, so nothing is cut above one.
    over_lines = [range(min(held), max(held)) for held in _stations_of_lines(layout.plan)]
    return [
        k
        for k in inner
        if k in layout.bodies and covered[CELLS * k + RIGHT] == 0 and not any(k in line for line in over_lines)
    ]


def _stations_of_lines(plan: SchematicPlan) -> list[list[int]]:
    """The stations from which something leads to each return line, or hangs from it."""
    held: dict[str, list[int]] = {}
    for k, station in enumerate(plan.stations):
        nodes = station.element.nodes if station.element is not None else ()
        ends = [end for item in station.hanging for end in (item.line, item.reference)]
        for line in {*nodes, *ends} & plan.returns.keys():
            held.setdefault(line, []).append(k)
    return list(held.values())


def _rows(plan: SchematicPlan, cuts: list[int], used: int) -> list[SchematicPlan]:
    place = {station.key: k for k, station in enumerate(plan.stations)}
    rows: list[SchematicPlan] = []
    links: list[list[SchematicLink]] = [[] for _ in cuts[1:]]
    row_of = [row for row, (start, end) in enumerate(pairwise(cuts)) for _ in range(start, end)]
    for link in plan.links:
        links[row_of[min(place[link.first], place[link.second])]].append(link)
    for row, (start, end) in enumerate(pairwise(cuts)):
        stations = list(plan.stations[start : end + 1])
        if start:
            stations[0] = replace(stations[0], hanging=[], port="", before=break_letter(used + row - 1))
        if end < len(plan.stations) - 1:
            stations[-1] = replace(stations[-1], after=break_letter(used + row))
        rows.append(SchematicPlan(tuple(stations), tuple(links[row]), plan.rail_ports, plan.returns))
    return rows


def split_into_pieces(
    plan: SchematicPlan, texts: SchematicLabels, width: float, used: int
) -> tuple[list[SchematicPlan], int]:
    """Pieces of a plan, each as long as it can be without being wider, and how many letters tie them together.

    A plan with return lines stays whole: these pass below all of it. `used` letters are taken by other plans.
    """
    if plan.returns:
        return [plan], 0
    pieces = _Pieces(plan, texts, width, used)
    return pieces.plans, len(pieces.letters)


@final
class _Pieces:
    def __init__(self, plan: SchematicPlan, texts: SchematicLabels, width: float, used: int) -> None:
        self.plan, self.texts, self.width = plan, texts, width
        self.place = {station.key: k for k, station in enumerate(plan.stations)}
        self.letters = {station.key: "M" for station in plan.stations}
        # Cuts depend on the width of letters, and letters on the cuts: at first M stands for all.
        pieces = [*self._pieces()]
        shown = Counter(station.key for start, end in pieces for station in self._stations(start, end))
        shared = [station.key for station in plan.stations if shown[station.key] > 1]
        self.letters = {key: break_letter(used + k) for k, key in enumerate(shared)}
        self.plans = [self._piece(start, end) for start, end in pieces]

    def _pieces(self) -> Iterator[tuple[int, int]]:
        """The first and the last station of each piece: nodes at which it is cut, or the ends of the plan."""
        last = len(self.plan.stations) - 1
        start = 0
        while start < last or start == 0:
            # Cuts are made at nodes: a box cannot stand in two pieces.
            ends = [k for k in range(start + 1, last) if self.plan.stations[k].element is None]
            end = next(iter(ends), last)
            for k in [*ends, last]:
                if SchematicLayout(self._piece(start, k), self.texts).width > self.width:
                    break
                end = k
            yield start, end
            if end >= last:
                return
            start = end

    def _piece(self, start: int, end: int) -> SchematicPlan:
        return SchematicPlan(self._stations(start, end), tuple(self._links(start, end)), self.plan.rail_ports)

    def _links(self, start: int, end: int) -> Iterator[SchematicLink]:
        """What is drawn in a piece: all terminals of its elements, and what leads on from its nodes to the right."""
        last = len(self.plan.stations) - 1
        for link in self.plan.links:
            one, two = self.place[link.first], self.place[link.second]
            # Terminals stay with their box; other links belong to the piece of their left end.
            at = one if link.terminal >= 0 else min(one, two)
            if start <= at < end or at == end == last:
                yield link

    def _stations(self, start: int, end: int) -> tuple[Station, ...]:
        """The stations of a piece, and copies of the nodes elsewhere that its links lead to."""
        own = list(self.plan.stations[start : end + 1])
        if start:
            own[0] = replace(own[0], hanging=[], port="")
        inside = {station.key for station in own}
        near = dict.fromkeys(key for link in self._links(start, end) for key in (link.first, link.second))
        # A node at which a piece is cut needs no copy where nothing is joined to it.
        own = [station for station in own if station.key in near or station.hanging or station.port] or own[:1]
        copies = [
            replace(self.plan.stations[self.place[key]], hanging=[], port="") for key in near if key not in inside
        ]
        before = [station for station in copies if self.place[station.key] < start]
        after = [station for station in copies if self.place[station.key] > end]
        return tuple(map(self._lettered, (*before, *own, *after)))

    def _lettered(self, station: Station) -> Station:
        """A node with the letter that it has in all pieces; the name of a port tells as much."""
        if station.element is not None:
            return station
        port = self.plan.stations[self.place[station.key]].port
        return replace(station, port=port or self.letters.get(station.key, ""))
