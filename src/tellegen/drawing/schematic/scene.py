"""Physical schematics as scenes: each connected part as columns, bridge, mesh or rows, whichever fits the page without
crossings.
"""

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping
from itertools import pairwise

from tellegen.core.domains import REFERENCES
from tellegen.drawing.geometry import Box, Point, union
from tellegen.drawing.ink import free_ends, ink_box
from tellegen.drawing.memory import LadderNames, check_places
from tellegen.drawing.options import DEFAULTS, READABLE, SCREEN, Options, with_layout
from tellegen.drawing.scene import Label, Origin, Scene, Shape, Wire, moved, tidy
from tellegen.drawing.schematic.bodies import LABEL_GAP, TERMINAL
from tellegen.drawing.schematic.breaks import split_into_pieces, split_into_rows
from tellegen.drawing.schematic.column_drawing import ColumnDrawing, column_bands
from tellegen.drawing.schematic.columns import arrange_in_columns
from tellegen.drawing.schematic.layout import SchematicLayout
from tellegen.drawing.schematic.outlines import curves, placed
from tellegen.drawing.schematic.plan import (
    LABEL_SIZE,
    SchematicLabels,
    SchematicPlan,
    label_extent,
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
from tellegen.drawing.schematic.row_drawing import BAND_MARGIN, LEAD, RING, RowDrawing, row_bands
from tellegen.drawing.schematic.sketch import bridge_shapes, is_meshed, mesh_shapes, sketch_shapes
from tellegen.drawing.schematic.symbols import RETURN
from tellegen.drawing.schematic.wires import Collisions, count_crossings
from tellegen.drawing.strokes import POINT, along, direction
from tellegen.model.model import NOTHING, Element, Model

MARGIN, BETWEEN = 26.0, 34.0
"""Round the figure, and between parts that nothing links."""
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
    check_places(options.places, (element.name for element in elements), "this schematic")
    return options.earlier.nearest(_network(model, elements, choice) for choice in options.like_earlier())


def _network(model: Model, elements: tuple[Element, ...], options: Options) -> Scene:
    title = f"Schematic: {model.name}" if model.name else "Schematic"
    texts = SchematicLabels(model, options)
    shapes = sketch_shapes(elements, model.sketch, texts) if model.sketch is not None else []
    notes = (NOT_AS_GIVEN,) if model.sketch is not None and not shapes else ()
    lines: LadderNames = ()
    if not shapes:
        shapes, lines = arrange_schematic(elements, texts, _ports(model))
    shapes += _open_ends(elements, shapes)
    if not shapes:
        return Scene(title, "no elements", Box(0, 0, 2 * MARGIN, 2 * MARGIN), ())
    box = ink_box(shapes).grown(MARGIN)
    placed = tuple(moved(shape, -box.left, -box.top) for shape in shapes)
    words = "; ".join(_words(elements))
    scene = Scene(title, words, Box(0, 0, box.width, box.height), placed, "network", lines, notes)
    return options.earlier.settle(tidy(scene), options.places)


def _open_ends(elements: Iterable[Element], shapes: list[Shape]) -> list[Shape]:
    """Small circles at the wires of nodes that join only one element: they end at nothing on purpose."""
    joined = Counter(node for element in elements for node in element.nodes)
    loose = {node for node, count in joined.items() if count == 1}
    found: list[Shape] = []
    if loose:
        for wire, end, before in free_ends(shapes):
            if wire.origin.port in loose:
                way = direction(before, end)
                centre = along(end, way, TERMINAL.length / 2)
                found += curves(TERMINAL.parts, placed(centre, (1, 0)), Origin(part="end", port=wire.origin.port))
    return found


def _ports(model: Model) -> dict[str, str]:
    """What stands at the nodes of ports: the name of the port, or those of its nodes where both are drawn."""
    found: dict[str, str] = {}
    for port in model.ports.values():
        first, second = port.nodes
        if not port.source:
            found |= {first: port.name} if second in REFERENCES else {first: first, second: second}
    return found


def schematic_shapes(
    elements: Iterable[Element], texts: SchematicLabels, ports: Mapping[str, str] = NOTHING
) -> list[Shape]:
    """The shapes of some elements between nodes; see `arranged_network`."""
    return arrange_schematic(elements, texts, ports)[0]


def arrange_schematic(
    elements: Iterable[Element], texts: SchematicLabels, ports: Mapping[str, str] = NOTHING
) -> tuple[list[Shape], LadderNames]:
    """The shapes of some elements between nodes, one connected part under the other, in rows that are not too wide.

    A part that goes on in the domain in which the one before it ends stands beside that, where there is room.
    `ports` are the words at nodes to which others may be joined. The stations of each part come with the shapes, in their order.
    """
    described = tuple(elements)
    plain = plan_schematic(described, ports, order=texts.options.earlier.lines)
    room = _room(texts)
    legs = switching_leg_nodes(described, rails_of(described))
    chosen = _plans(described, texts, ports, legs, room) if legs else []
    chosen = chosen or _plans(described, texts, ports, _unnamed(common_return_lines(described), ports), room) or plain
    shapes = _placed(described, texts, chosen)
    crossings = count_crossings(shapes)
    # Lines to a star cross legs however they are drawn.
    is_bridge = crossings > 0 and any(bridge_shapes(plan, texts, WIDER * texts.options.room) for plan in chosen)
    for lines in _lower_lines(described) if crossings and not is_bridge else ():
        plans = _plans(described, texts, ports, _unnamed(lines, ports), max(room, WIDER * ink_box(shapes).width))
        other = _placed(described, texts, plans) if len(plans) == len(plain) else []
        if other and count_crossings(other) < crossings and not _broken(other, lines):
            shapes, crossings, chosen = other, count_crossings(other), plans
    return shapes, tuple(tuple(station.key for station in plan.stations) for plan in chosen)


def _unnamed(lines: ReturnDepths, ports: Container[str]) -> ReturnDepths:
    """Lines without those that have the name of a port: others are joined to these, and below all else there is no way to them."""
    return {node: depth for node, depth in lines.items() if node not in ports}


def _lower_lines(described: tuple[Element, ...]) -> Iterator[ReturnDepths]:
    """What may be drawn below the references: what is behind machines, or one of the nodes where most wires meet."""
    rails = rails_of(described)
    yield return_lines_behind_machines(described, rails)
    yield from ({node: 0} for node in crowded_nodes(described, rails))


def _broken(shapes: Iterable[Shape], lines: Container[str]) -> bool:
    """Whether a return line is in several pieces, which only marks of a reference would tie together, or meets another wire."""
    faults = Collisions()
    for shape in shapes:
        if shape.origin.part == "ground" and shape.origin.port in lines:
            return True
        if isinstance(shape, Wire):
            for one, two in pairwise(shape.points):
                faults.wire(one, two, shape.origin.port)
    return faults.found()


def _placed(described: tuple[Element, ...], texts: SchematicLabels, plans: Iterable[SchematicPlan]) -> list[Shape]:
    shapes: list[Shape] = []
    letters = 0
    banded = texts.options.shows_bands and len({d for element in described for d in element.kind.domains}) > 1
    room = _room(texts)
    last = Box(0.0, -BETWEEN, 0.0, -BETWEEN)
    line, before = 0.0, ""
    for plan in plans:
        rows, used, level = _rows(plan, texts, letters, banded=banded)
        letters += used
        first, end = plan.stations[0].domain, plan.stations[-1].domain
        for row in rows:
            box = ink_box(row)
            beside = level and first == before and last.right + BETWEEN + box.width <= room
            if beside:
                # What an element that was taken out has joined stays where it was.
                dx, dy = last.right + BETWEEN - box.left, line
            else:
                dx, dy = -box.left, last.bottom + BETWEEN - box.top
            shapes += (moved(shape, dx, dy) for shape in row)
            here = box.moved(dx, dy)
            last = union([last, here]) if beside else here
            line, before = dy, end if level else ""
    return shapes


def _plans(
    elements: tuple[Element, ...], texts: SchematicLabels, ports: Mapping[str, str], lines: ReturnDepths, room: float
) -> list[SchematicPlan]:
    """The connected parts with return lines; none where one is too long for a row, or something on a shaft reaches down to them."""
    plans = plan_schematic(elements, ports, lines, texts.options.earlier.lines)
    layouts = [SchematicLayout(plan, texts.of, label_extent) for plan in plans if plan.returns]
    fits = all(_depth(layout) < RETURN and _widest(layout, texts) <= room for layout in layouts)
    return plans if fits else []


def _room(texts: SchematicLabels) -> float:
    """How wide the ink of a row may be."""
    return texts.options.room - 2 * (MARGIN + BAND_MARGIN)


def _widest(layout: SchematicLayout, texts: SchematicLabels) -> float:
    """The width of a part, or of the widest of its rows where it is cut into several."""
    whole = layout.lefts[-1] + layout.widths[-1]
    if whole <= _room(texts):
        return whole
    parts = split_into_rows(layout.plan, layout, _room(texts) - 2 * (LEAD + 2 * RING), 0)
    layouts = [SchematicLayout(part, texts.of, label_extent) for part in parts]
    return max(part.lefts[-1] + part.widths[-1] for part in layouts) + 2 * (LEAD + 2 * RING)


def _depth(layout: SchematicLayout) -> float:
    """How far down what is on shafts reaches."""
    on_shafts = [body for k, body in layout.bodies.items() if layout.plan.stations[k].is_shaft]
    pieces = [piece for body in on_shafts for piece in body.pieces]
    return max((p.centre[1] + p.symbol.down + LABEL_GAP for p in pieces if p.symbol is not None), default=0.0)


def _words(elements: tuple[Element, ...]) -> Iterator[str]:
    """The network in words, for those who cannot see the figure."""
    for element in elements:
        yield f"{element.kind.name} {element.name} at {', '.join(element.nodes)}"


def _rows(
    plan: SchematicPlan, texts: SchematicLabels, letters: int, *, banded: bool
) -> tuple[list[list[Shape]], int, bool]:
    """The rows of one connected part, and the number of letters that tie them together.

    And whether it is one row on a level line, so that others may stand beside it.
    """
    if _upright(plan):
        layout = SchematicLayout(plan, texts.of, lambda text: label_extent(text)[::-1])
        return [RowDrawing(layout, _up).shapes], 0, False
    rows, level = _usual_rows(plan, texts, letters, banded=banded)
    if _is_readable(rows, texts):
        return rows, len(rows) - 1, level
    pieces, used = _pieces(plan, texts, letters, banded=banded)
    narrower = max(ink_box(row).width for row in pieces) < max(ink_box(row).width for row in rows)
    return (pieces, used, False) if narrower else (rows, len(rows) - 1, level)


def _is_readable(rows: Iterable[list[Shape]], texts: SchematicLabels) -> bool:
    """Whether rows have texts that can be read at the width asked for. On a screen one looks closer, so they are left whole."""
    wide = max(ink_box(row).width for row in rows) + 2 * MARGIN
    sizes = [shape.size for row in rows for shape in row if isinstance(shape, Label)]
    points = POINT * min(sizes, default=LABEL_SIZE) * min(1.0, texts.options.room / wide)
    return round(points, 1) >= READABLE or texts.options.room >= SCREEN


def _pieces(
    plan: SchematicPlan, texts: SchematicLabels, letters: int, *, banded: bool
) -> tuple[list[list[Shape]], int]:
    """The rows of a part that is cut wherever that makes it narrow enough, and the number of their letters."""
    parts, used = split_into_pieces(plan, texts.of, label_extent, _room(texts) / SHARE, letters)
    rows = [
        _row(SchematicLayout(part, texts.of, label_extent), texts, banded=banded, marked=True, piece=f"piece {k}")
        for k, part in enumerate(parts, 1)
    ]
    return rows, used


def _usual_rows(
    plan: SchematicPlan, texts: SchematicLabels, letters: int, *, banded: bool
) -> tuple[list[list[Shape]], bool]:
    """The rows of a part that is cut only where no line goes on."""
    boxed = _columns(plan, texts, banded=banded)
    if boxed and ink_box(boxed).width <= WIDER * texts.options.room:
        return [boxed], False
    if bridge := bridge_shapes(plan, texts, WIDER * texts.options.room):
        return [bridge], False
    whole = SchematicLayout(plan, texts.of, label_extent)
    if is_meshed(plan, whole) and (mesh := mesh_shapes(plan, texts, _room(texts))):
        return [mesh], False
    room = _room(texts)
    fits = whole.lefts[-1] + whole.widths[-1] <= room
    parts = [plan] if fits else split_into_rows(plan, whole, room - 2 * (LEAD + 2 * RING), letters)
    layouts = [whole] if len(parts) == 1 else [SchematicLayout(part, texts.of, label_extent) for part in parts]
    rows = [_row(layout, texts, banded=banded, marked=len(parts) > 1) for layout in layouts]
    if boxed and ink_box(boxed).width <= max(ink_box(row).width for row in rows):
        return [boxed], False
    return rows, len(rows) == 1


def _row(
    layout: SchematicLayout, texts: SchematicLabels, *, banded: bool, marked: bool, piece: str = ""
) -> list[Shape]:
    shapes = RowDrawing(layout, _same, marked=marked, piece=piece).shapes
    bands = row_bands(layout, ink_box(shapes), texts.options) if banded else []
    return [*bands, *shapes]


def _columns(plan: SchematicPlan, texts: SchematicLabels, *, banded: bool) -> list[Shape]:
    """A part with elements of many ports in columns; nothing where it has none, or where lines would have to cross."""
    columns = arrange_in_columns(plan)
    if columns is None:
        return []
    drawing = ColumnDrawing(columns, texts)
    # Where bridges are in each other's way, one of them may lead below.
    for ends in dict.fromkeys(frozenset((bridge.first, bridge.second)) for bridge in columns.bridges):
        if drawing.is_complete:
            break
        lower = arrange_in_columns(plan, ends)
        drawing = drawing if lower is None else ColumnDrawing(lower, texts)
    if not drawing.is_complete or _is_torn(plan, drawing.shapes):
        return []
    return [*(column_bands(drawing, texts.options) if banded else ()), *drawing.shapes]


def _is_torn(plan: SchematicPlan, shapes: list[Shape]) -> bool:
    """Whether a wire ends at nothing though several lines meet at its node, as one that leads back to its own box would."""
    met = Counter(node for link in plan.links for node in (link.first, link.second))
    return any(met[wire.origin.port] > 1 for wire, _, _ in free_ends(shapes))


def _same(point: Point) -> Point:
    return point


def _up(point: Point) -> Point:
    """The line of nodes goes upwards, and what was above it is on the right."""
    return -point[1], -point[0]


def _upright(plan: SchematicPlan) -> bool:
    """Whether bodies stand over each other: on a moved support that carries them on springs and dampers, or over a floor."""
    if any(not station.is_shaft or station.domain != "translational" for station in plan.stations):
        return False
    hung = {s.key: [item.element.kind.name for item in s.hanging if item.element is not None] for s in plan.stations}
    if len(hung) == 1:
        return any("mass" in kinds and "hard stop" in kinds for kinds in hung.values())
    supports = {key for key, kinds in hung.items() if kinds == ["velocity source"]}
    others = {name for key, kinds in hung.items() if key not in supports for name in kinds}
    carriers = {link.element.kind.name for link in plan.links if link.element is not None}
    return (
        bool(supports)
        and others <= {"mass", "force source"}
        and carriers <= {"spring", "damper", "compliance", "mobility"}
    )
