"""A junction or multiport with the elements round it, drawn about its own centre.

Storages stand above, resistive elements below, sources left or right; what finds its place taken goes to another side or to a
corner. An item that cannot be split and has many bonds is a wide box with bonds along its lower side.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Literal, final, get_args

from tellegen.drawing.bond.pen import ITEM, OTHER_END, VARIABLE, BondPen, upright_room
from tellegen.drawing.bond.plan import BondLink, BondNode, BondPlan
from tellegen.drawing.memory import NAME_RISE
from tellegen.drawing.options import Options
from tellegen.scenes.geometry import Box, Point, ceil_to, direction, union
from tellegen.scenes.scene import Block, Label, Origin, Wire, label_box
from tellegen.scenes.typesetting import COLON, set_math

Side = Literal["N", "S", "E", "W"]
Slot = Literal["N", "S", "E", "W", "NE", "NW", "SE", "SW"]

# The usual steps, so that items with short names stand evenly; where labels need more, bonds become longer (`level_length`).
PITCH, ONE_PORT = 150.0, 105.0
"""Between the items of a row, and from a row to the elements above and below it."""
CORNER = (105.0, 92.0)
CORNER_GAP = Box(-28.0, -28.0, 28.0, 28.0)
"""Bonds to corners stop so far out, so that their strokes clear those of the sides."""
# A junction is one digit, whatever its ink: all its bonds stop at the same distance. A text has its own box.
JUNCTION_GAP = (12.0, 14.0)
TEXT_GAP = (7.0, 6.0)
ROOM = 34.0
"""What a level bond needs beside its widest label, for barb and stroke."""
MODULUS, DOTS, NOTE = 31.0, 18.0, 12.0
DESCENT = 4.0
"""How far letters with a subscript go below their baseline."""
MOST_AT_TEXT = 3
"""Bonds at a field: left, right and below; with more it is a box."""
MOST_AT_TWO_PORT = 2
"""What has more is no two-port, whatever its letters: it is a box, with its matrix as its name."""
BOX_HALF, LEAF_ROOM = 17.0, 50.0
CHANNEL, STUB = 8.0, 44.0
RAISED = 30.0
"""Between the bonds that come to a wide box from above, right of its middle."""
SIGNAL = 24.0
"""The least length of the arrow of a signal."""

_VECTOR: Mapping[Slot, tuple[int, int]] = {
    slot: (("E" in slot) - ("W" in slot), ("S" in slot) - ("N" in slot)) for slot in get_args(Slot)
}
"""How far a place is to the right and down."""
# Where an element of a kind goes: all elements choose from the first table before any chooses from the second, so that an element
# is never driven from its own side by one that found its side taken. Corners come last, since slanted bonds are harder to read.
_FIRST: Mapping[str, tuple[Slot, ...]] = {
    "source": ("W", "E"),
    "storage": ("N",),
    "resistive": ("S",),
    "elsewhere": ("S", "N"),
}
_THEN: Mapping[str, tuple[Slot, ...]] = {
    "source": ("S", "N", "SW", "SE", "NW", "NE"),
    "storage": ("E", "W", "S", "NE", "NW", "SE", "SW"),
    "resistive": ("E", "W", "N", "SE", "SW", "NE", "NW"),
    "elsewhere": ("E", "W", "SE", "SW", "NE", "NW"),
}
_SIDES: Mapping[str, tuple[Slot, ...]] = {
    kind: tuple(slot for slot in slots if len(slot) == 1) for kind, slots in _THEN.items()
}
_ANY: Mapping[str, tuple[Slot, ...]] = {kind: tuple(_VECTOR) for kind in _THEN}
_TURNED: Mapping[Slot, Slot] = {"E": "W", "W": "E", "NE": "NW", "NW": "NE", "SE": "SW", "SW": "SE"}
"""In a row that runs to the left, left and right change places."""


@final
@dataclass(frozen=True)
class Cluster:
    """What is drawn about a node; `gap` is the box, about its centre, at which its bonds stop.

    `ports` tells for the bonds under a wide node, by the identity of their links, where they end.
    """

    pen: BondPen
    gap: Box
    ports: Mapping[int, Point]


Port = tuple[BondLink, float, float]
"""A bond at a wide node, with the space that it needs to its left and right."""


def level_length(link: BondLink, options: Options) -> float:
    """The least length of a level bond: its labels, its barb and its stroke."""
    texts = [text for text in (link.effort, link.flow) if text] if options.variables else []
    return max((set_math(text, VARIABLE).box.width for text in texts), default=0.0) + ROOM


def side_point(side: Side, centre: Point, box: Box) -> Point:
    """Where a bond on a side of an item meets the box about it, in line with its centre."""
    x, y = centre
    points: dict[Side, Point] = {"E": (box.right, y), "W": (box.left, y), "S": (x, box.bottom), "N": (x, box.top)}
    return points[side]


def is_wide(plan: BondPlan, name: str) -> bool:
    """Whether a node is a box with bonds along its lower side."""
    node = plan.nodes[name]
    most = MOST_AT_TWO_PORT if node.text.modulus else MOST_AT_TEXT
    return node.role == "multiport" and len(plan.edges[name]) + len(plan.leaves[name]) > most


def cluster_of(
    plan: BondPlan,
    name: str,
    taken: Iterable[Side],
    options: Options,
    *,
    against: bool = False,
    avoided: tuple[Side, ...] = (),
    closing: tuple[Side, ...] = (),
    ports: Sequence[Port] = (),
    raised: Sequence[int] = (),
) -> Cluster:
    """A node with its elements.

    `taken` are the sides that its other bonds need, `closing` those of bonds that close meshes, `avoided` those to be used last;
    `against` tells that its row runs to the left. `ports` are the bonds under a wide node, each with the space that it needs to its
    left and right; those that are `raised`, by the identity of their links, are above it.
    """
    node = plan.nodes[name]
    if is_wide(plan, name):
        covered = list(taken).count("N") > closing.count("N")
        return _wide_cluster(plan, node, ports, raised, options, against=against, covered=covered)
    pen = BondPen()
    taken = list(taken)
    gap = gap_of(node, (0, 0), "N")
    # A bond from above would run through the modulus, which else stands over the letters of its two-port.
    if node.text.modulus and "N" in taken:
        sides: tuple[Side, Side] = ("E", "W") if against else ("W", "E")
        beside = next((side for side in sides if side not in taken), sides[0])
        draw_beside(pen, node, gap, right=beside == "E")
        taken.append(beside)
    else:
        draw_text(pen, node, (0, 0), "name")
    # Bonds of rows have their room from the pitch; the others must find their first piece free of labels.
    for side in taken:
        if side in ("N", "S") or side in closing:
            _keep_free(pen, gap, side)
    links = plan.leaves[name]
    leaves = [plan.nodes[link.other(name)] for link in links]
    slots = _choose_slots(leaves, {*taken}, {*avoided}, node, against=against)
    for link in links:
        leaf = plan.nodes[link.other(name)]
        _draw_leaf(pen, link, leaf, slots[leaf.name], gap, options)
    pen.label()
    if node.text.note:
        # Last, since the name of a junction can do with any corner.
        _draw_note(pen, node)
    return Cluster(pen, gap, {})


def _keep_free(pen: BondPen, gap: Box, side: Side, x: float = 0.0) -> None:
    """Room for the first piece of a bond on a side."""
    room: dict[Side, Box] = {
        "N": Box(x - CHANNEL, gap.top - STUB, x + CHANNEL, gap.top),
        "S": Box(x - CHANNEL, gap.bottom, x + CHANNEL, gap.bottom + STUB),
        "E": Box(gap.right, -CHANNEL, gap.right + STUB, CHANNEL),
        "W": Box(gap.left - STUB, -CHANNEL, gap.left, CHANNEL),
    }
    pen.keep_free(room[side])


def _wide_cluster(
    plan: BondPlan,
    node: BondNode,
    ports: Sequence[Port],
    raised: Sequence[int],
    options: Options,
    *,
    against: bool,
    covered: bool,
) -> Cluster:
    """A box with its text in the middle, and elements and bonds under it; bonds that lead elsewhere stand above it too.

    `covered` tells that a bond comes from above.
    """
    # Widths are counted along the row, from where it comes: a row to the left has its first port at the right.
    way = -1 if against else 1
    below_it = [port for port in ports if id(port[0]) not in raised]
    wanted = [*below_it, *(_room_below(plan, node, link, options, way) for link in plan.leaves[node.name])]
    # Bonds that lead elsewhere stand above it, up to half of all, so that it is half as wide.
    free = [port for port in wanted if plan.nodes[port[0].other(node.name)].text.is_name]
    count = 0 if covered else min(len(free), len(wanted) // 2)
    upper = free[len(free) - count :]
    lower = [port for port in wanted if port not in upper]
    # The arrow of a signal comes from above too, at the end of the box where the row begins.
    signal = set_math(node.text.signals, VARIABLE).box.width / 2 + 10 if node.text.signals and upper else 0.0
    below, above = _spread(lower), _spread(upper, signal)
    across = max((*below, *above, 0.0))
    text = set_math(_boxed(node), ITEM).box.width
    half = ceil_to(max(across / 2 + 20, text / 2 + 12, RAISED * (len(raised) + 1)))
    found = {id(link): (way * (x - half + 20), BOX_HALF) for (link, _, _), x in zip(lower, below, strict=True)}
    found |= {key: (way * RAISED * k, -BOX_HALF) for k, key in enumerate(raised[::way], 1)}
    over = {id(link): way * (x - half + 20) for (link, _, _), x in zip(upper, above, strict=True)}
    pen = BondPen()
    pen.put(Block(Box(-half, -BOX_HALF, half, BOX_HALF), origin=_origin(node, "box")))
    pen.put(Label(_boxed(node), (0, NAME_RISE), ITEM, level="baseline", origin=_origin(node, "name")))
    if node.text.signals:
        at = way * (20 - half) if upper else -way * half / 2
        _draw_signal(pen, node, at, Box(-half, 4 - BOX_HALF, half, BOX_HALF), upwards=False)
    # Bonds stop a little before the box: strokes would lie on its border.
    gap = Box(-half, -BOX_HALF, half, BOX_HALF).grown(4)
    for link, _, _ in ports:
        _keep_free(pen, gap, "N" if id(link) in raised else "S", found[id(link)][0])
    for link in plan.leaves[node.name]:
        leaf, up = plan.nodes[link.other(node.name)], id(link) in over
        x, y = (over[id(link)], -ONE_PORT) if up else (found[id(link)][0], ONE_PORT)
        slot: Slot = "N" if up else "S"
        draw_text(pen, leaf, (x, y), "name", slot)
        inner, outer = clipped((x, 0), (x, y), gap, gap_of(leaf, (x, y), slot))
        pen.bond(link, (inner, outer) if link.tail == node.name else (outer, inner), options, element=leaf.element)
    return Cluster(pen, gap, found)


def _spread(ports: Sequence[Port], start: float = 0.0) -> list[float]:
    """How far along a wide node each bond stands; the first one keeps clear of what is at the start."""
    places: list[float] = []
    for k, (_, left, _) in enumerate(ports):
        before = places[-1] + ports[k - 1][2] if k else start
        places.append(ceil_to(before + left) if k or start else 0.0)
    return places


def _room_below(plan: BondPlan, node: BondNode, link: BondLink, options: Options, way: int) -> Port:
    """The space along the row for an element below a wide node; where the bond leads elsewhere, for its labels and its name."""
    leaf = plan.nodes[link.other(node.name)]
    if leaf.text.letters:
        return link, LEAF_ROOM, LEAF_ROOM
    half = set_math(leaf.text.latex(), VARIABLE).box.width / 2 + TEXT_GAP[0]
    left, right = (max(half, side) for side in upright_room(link, options))
    return (link, left, right) if way > 0 else (link, right, left)


def _boxed(node: BondNode) -> str:
    """The text in a box: there the modulus follows the letters."""
    if node.text.boxed:
        return node.text.parameter
    letters = rf"\mathrm{{{node.text.letters}}}"
    inside = node.text.modulus or node.text.parameter
    return f"{letters}{COLON}{inside}" if inside else letters


def _choose_slots(
    leaves: list[BondNode], taken: set[Side], avoided: set[Side], node: BondNode, *, against: bool = False
) -> dict[str, Slot]:
    """A place for every element at a node."""
    used: set[Slot] = {*taken, *avoided}
    if node.text.modulus:
        used.add("N")
    slots: dict[str, Slot] = {}
    for table in (_FIRST, _SIDES, _THEN, _ANY):
        # The side that looks back at the parent is avoided while there is another one: a bond there would seem to lead to it.
        used -= {*avoided} - taken if table is _THEN else set()
        for leaf in leaves:
            if leaf.name in slots:
                continue
            wanted: tuple[Slot, ...] = table[_kind(leaf)]
            turned = tuple(_TURNED.get(slot, slot) for slot in wanted) if against else wanted
            free = next((slot for slot in turned if slot not in used), None)
            if free is not None:
                slots[leaf.name] = free
                used.add(free)
    assert len(slots) == len(leaves), "the plan splits junctions with more elements than places"
    return slots


def _kind(leaf: BondNode) -> str:
    letters = leaf.text.letters
    if not letters:
        return "elsewhere"
    if letters in ("I", "C", "IC"):
        return "storage"
    return "resistive" if letters.endswith("R") or letters == "Sw" else "source"


def clipped(start: Point, end: Point, start_gap: Box, end_gap: Box) -> tuple[Point, Point]:
    """A straight bond between two centres, cut off where it leaves the one box and enters the other."""
    there, back = direction(start, end), direction(end, start)
    one, two = _exit(start, there, start_gap), _exit(end, back, end_gap)
    return (start[0] + there[0] * one, start[1] + there[1] * one), (end[0] + back[0] * two, end[1] + back[1] * two)


def _exit(point: Point, unit: Point, box: Box) -> float:
    """How far one goes from a point in a box until one leaves it."""
    reach = inf
    for place, step, low, high in ((point[0], unit[0], box.left, box.right), (point[1], unit[1], box.top, box.bottom)):
        if abs(step) > 1e-9:
            reach = min(reach, ((high if step > 0 else low) - place) / step)
    return max(reach, 0.0)


def gap_of(node: BondNode, centre: Point, slot: Slot) -> Box:
    """The box about a node at which bonds stop."""
    if node.role == "junction":
        return Box(*centre, *centre).grown(*JUNCTION_GAP)
    return label_box(_text_label(node, centre, slot, "name")).grown(*TEXT_GAP)


def _text_label(node: BondNode, centre: Point, slot: Slot, part: str) -> Label:
    latex = node.text.latex(reversed_="W" in slot)
    if node.text.boxed:
        origin = Origin(part="word", port=node.name, domain=node.domain)
        return Label(latex, (centre[0], centre[1] + NAME_RISE), ITEM, level="baseline", origin=origin)
    if not node.text.letters:
        origin = Origin(part=OTHER_END, port=node.name, domain=node.domain)
        return Label(latex, (centre[0], centre[1] + NAME_RISE), VARIABLE, level="baseline", tone="quiet", origin=origin)
    origin = Origin(node.element, part, "" if node.name == node.element else node.name, 1, node.domain)
    return Label(latex, (centre[0], centre[1] + NAME_RISE), ITEM, level="baseline", origin=origin)


def draw_text(pen: BondPen, node: BondNode, centre: Point, part: str, slot: Slot = "N") -> None:
    """The text of an item, with its modulus above and the signals that move it."""
    label = _text_label(node, centre, slot, part)
    pen.put(label)
    target = label_box(label)
    x, y = centre
    if node.text.modulus:
        pen.put(Label("{:}", (x, y - DOTS), ITEM, origin=_origin(node, "dots")))
        # Only the part below a usual subscript counts, so that the moduli of a row stand on one line; fractions stand higher.
        below = set_math(node.text.modulus, VARIABLE).box.bottom
        at = (x, y - MODULUS - max(0.0, below - DESCENT))
        modulus = Label(node.text.modulus, at, VARIABLE, level="baseline", origin=_origin(node, "modulus"))
        pen.put(modulus)
        target = label_box(modulus)
    if node.text.signals:
        _draw_signal(pen, node, x, target, upwards=slot.startswith("S"))


def draw_beside(pen: BondPen, node: BondNode, gap: Box, *, right: bool, centre: Point = (0.0, 0.0)) -> None:
    """An item with its modulus beside it, since a bond comes from above; `gap` is about the centre."""
    way = 1 if right else -1
    x, y = centre
    pen.put(_text_label(node, centre, "N", "name"))
    edge = x + (gap.right if right else gap.left) - way * TEXT_GAP[0]
    pen.put(Label(r"{\cdot}\,{\cdot}", (edge + way * 9, y), VARIABLE, origin=_origin(node, "dots")))
    align: Literal["left", "right"] = "left" if right else "right"
    at = edge + way * 18, y + NAME_RISE - 1
    modulus = Label(node.text.modulus, at, VARIABLE, align, "baseline", origin=_origin(node, "modulus"))
    pen.put(modulus)
    if node.text.signals:
        box = label_box(modulus)
        _draw_signal(pen, node, box.centre[0], box, upwards=True)


def _draw_signal(pen: BondPen, node: BondNode, x: float, target: Box, *, upwards: bool) -> None:
    """An arrow from the name of a signal to what it moves."""
    size = label_box(Label(node.text.signals, (0, 0), VARIABLE)).height
    tip = target.bottom + 4 if upwards else target.top - 4
    tail = tip + SIGNAL if upwards else tip - SIGNAL
    middle = tail + 4 + size / 2 if upwards else tail - 4 - size / 2
    pen.put(Label(node.text.signals, (x, middle), VARIABLE, tone="quiet", origin=_origin(node, "signal")))
    pen.put(Wire(((x, tail), (x, tip)), True, "signal", "quiet", _origin(node, "signal")))


def _origin(node: BondNode, part: str) -> Origin:
    return Origin(node.element, part, "", 1, node.domain)


def _draw_leaf(pen: BondPen, link: BondLink, leaf: BondNode, slot: Slot, gap: Box, options: Options) -> None:
    # Labels wait until all bonds of the cluster are drawn: else the first label would stand where the next bond goes.
    centre = _leaf_centre(leaf, link, slot, gap, options)
    draw_text(pen, leaf, centre, "name", slot)
    inner_gap, outer_gap = gap, gap_of(leaf, centre, slot)
    if len(slot) > 1:
        inner_gap, outer_gap = union([gap, CORNER_GAP]), outer_gap.grown(4)
    inner, outer = clipped((0, 0), centre, inner_gap, outer_gap)
    points = (outer, inner) if link.tail == leaf.name else (inner, outer)
    pen.bond(link, points, options, element=leaf.element, later=True)


def _leaf_centre(leaf: BondNode, link: BondLink, slot: Slot, gap: Box, options: Options) -> Point:
    right, down = _VECTOR[slot]
    half = set_math(leaf.text.latex(reversed_="W" in slot), ITEM).box.width / 2
    # Elements above and below stand in line, whatever their labels, which are beside upright bonds; level bonds are as long as the
    # labels over and under them need.
    if down == 0:
        reach = (gap.right if right > 0 else -gap.left) + level_length(link, options) + TEXT_GAP[0] + half
        return right * max(PITCH, ceil_to(reach)), 0
    if right == 0:
        return 0, down * ONE_PORT
    return right * (CORNER[0] + max(0.0, half - 25)), down * CORNER[1]


def _draw_note(pen: BondPen, node: BondNode) -> None:
    """The name of a junction at the first of its corners that is free."""
    for right, down in ((1, -1), (-1, -1), (1, 1), (-1, 1)):
        align: Literal["left", "right"] = "left" if right > 0 else "right"
        at = (right * 9.0, down * 17.0)
        label = Label(node.text.note, at, NOTE, align, tone="quiet", origin=_origin(node, "note"))
        if pen.is_free(label_box(label), 1):
            pen.put(label)
            return
