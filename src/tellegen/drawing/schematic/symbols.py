"""The symbols of schematics: what engineers of each domain draw for a resistor, a spring, a pump, a gear; and their outlines.

A symbol is drawn along +x about its middle, y downwards, and turned to where it belongs when it is placed. Of two-ports the first
port is on the left. Wires and pipes meet them at TOP (first node) and BOTTOM (second node), shafts and rods at MID.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from math import cos, hypot, pi, sin
from typing import Literal, final

from tellegen.elements import KINDS, ElementKind
from tellegen.model.model import MECHANISM
from tellegen.scenes.geometry import Command, Outline, Point, PointMap, mapped_outline, polyline
from tellegen.scenes.scene import Curve, Origin, Weight

# 4/3 (sqrt 2 - 1): with these the curve meets the middle of the arc, and is off by less than 3e-4 radii elsewhere.
_ROUND = 0.5523
"""Where the control points of a quarter circle stand, in radii."""


@final
@dataclass(frozen=True, slots=True)
class OnePortSymbol:
    """A one-port along +x: its terminals are at -length/2 and length/2, its ink reaches `up` and `down` from the axis.

    `letter` is a text in its middle. `on_shaft` is what it is on the line of motion of its node instead, where it needs no second
    terminal; a `named` one is a block there, with its label inside. `standing` is what stands on the pipe of its node instead.
    """

    length: float
    up: float
    down: float
    parts: tuple[Curve, ...]
    letter: str = ""
    on_shaft: "OnePortSymbol | None" = None
    named: bool = False
    standing: "OnePortSymbol | None" = None


def line(*points: Point, weight: Weight = "thin", dashed: bool = False) -> Curve:
    """Straight pieces through points."""
    return Curve(polyline(points), weight, dashed=dashed)


def closed_polygon(*points: Point, filled: bool = False, weight: Weight = "thin") -> Curve:
    """A closed polygon; its last side is there as a line of its own, so that a wire may be found to end at it."""
    return Curve(polyline((*points, points[0]), closed=True), weight, filled, closed=True)


def rectangle(left: float, top: float, right: float, bottom: float, *, filled: bool = False) -> Curve:
    """A rectangle by its sides."""
    return closed_polygon((left, top), (right, top), (right, bottom), (left, bottom), filled=filled)


def circle(x: float, y: float, radius: float, *, filled: bool = False) -> Curve:
    """A full circle."""
    return Curve((*_turn(x, y, radius, 0, 4), ("Z", ())), filled=filled, closed=True)


def arc(x: float, y: float, radius: float, start: float, quarters: float) -> Curve:
    """A piece of a circle from an angle (in quarters of a turn, clockwise on the page) over so many quarters."""
    return Curve(_turn(x, y, radius, start, quarters))


def coil_windings(start: float, end: float, count: int) -> Curve:
    """Half circles over the axis, one beside the other: a coil."""
    width = (end - start) / count
    steps: list[Command] = []
    for k in range(count):
        x = start + (k + 0.5) * width
        turn = _turn(x, 0, width / 2, 2, 2)
        # Each winding begins where the last one ended: without a new start the coil stays one line, with round joints.
        steps += turn if not steps else turn[1:]
    return Curve(tuple(steps))


def arrow(tip: Point, towards: Point, length: float = 9, width: float = 7) -> Curve:
    """A filled arrowhead at a tip, along a unit direction."""
    (x, y), (dx, dy) = tip, towards
    back = x - dx * length, y - dy * length
    return closed_polygon(
        tip,
        (back[0] - dy * width / 2, back[1] + dx * width / 2),
        (back[0] + dy * width / 2, back[1] - dx * width / 2),
        filled=True,
    )


def hatching(start: Point, end: Point, side: int = 1, gap: float = 6, depth: float = 6) -> Iterator[Curve]:
    """A straight edge and short slanted strokes on one side of it (+1: to the right of its direction on the page)."""
    (x, y), (u, v) = start, end
    length = abs(u - x) + abs(v - y)
    dx, dy = (u - x) / length, (v - y) / length
    yield line(start, end)
    # Two at least: one stroke alone reads as a wire that ends there.
    count = max(2, round(length / gap))
    for k in range(count):
        # Strokes end just before the end of their piece: they hang back and would stick out at the start otherwise.
        a = (k + 0.9) * length / count
        foot = x + dx * a, y + dy * a
        yield line(
            foot, (foot[0] - dx * depth - dy * depth * side, foot[1] - dy * depth + dx * depth * side), weight="hair"
        )


def curves(parts: Iterable[Curve], move: PointMap, origin: Origin) -> Iterator[Curve]:
    """The outlines of a symbol at their place in a figure."""
    return (replace(part, outline=mapped_outline(part.outline, move), origin=origin) for part in parts)


def placed(at: Point, towards: Point) -> PointMap:
    """Turns a symbol so that its axis points along a unit vector, with its middle at a point."""
    (x, y), (dx, dy) = at, towards
    return lambda p: (x + p[0] * dx - p[1] * dy, y + p[0] * dy + p[1] * dx)


def mirrored(at: Point) -> PointMap:
    """Left and right exchanged, with the middle at a point."""
    return lambda p: (at[0] - p[0], at[1] + p[1])


def _turn(x: float, y: float, radius: float, start: float, quarters: float) -> Outline:
    """A turn as Bezier curves, none longer than a quarter."""
    # Rounded up: a single curve over more than a quarter is visibly no circle.
    count = max(1, -(-abs(quarters) // 1))
    step = quarters / count * pi / 2
    reach = _ROUND * radius * (step / (pi / 2))
    angle = start * pi / 2
    steps: list[Command] = [("M", ((x + radius * cos(angle), y + radius * sin(angle)),))]
    for _ in range(int(count)):
        a, b = angle, angle + step
        p = x + radius * cos(a) - reach * sin(a), y + radius * sin(a) + reach * cos(a)
        q = x + radius * cos(b) + reach * sin(b), y + radius * sin(b) - reach * cos(b)
        steps.append(("C", (p, q, (x + radius * cos(b), y + radius * sin(b)))))
        angle = b
    return tuple(steps)


# -- one-ports ---------------------------------------------------------------------------------------------------------------------

RADIUS = 15.0
"""Of the circle of a source."""
INLINE_HALF = 24.0
"""Half the height of a disc or a block on its line of motion."""


# Leads are part of a symbol: where it ends its wires begin, so that no writer of wires has to know what is inside.
def _led(length: float, inner: float, high: float, *parts: Curve, letter: str = "") -> OnePortSymbol:
    """A symbol with two wires between its terminals and what is in the middle, which is as high up as down."""
    leads = line((-length / 2, 0), (-inner, 0)), line((inner, 0), (length / 2, 0))
    return OnePortSymbol(length, high, high, (*leads, *parts), letter)


def _boxed(*inside: Curve, half: float = 17, high: float = 7) -> OnePortSymbol:
    # 6 of wire on each side, so that a box never touches the node beside it.
    return _led(2 * half + 12, half, high, rectangle(-half, -high, half, high), *inside)


def _round(*inside: Curve, letter: str = "") -> OnePortSymbol:
    return _led(2 * RADIUS + 12, RADIUS, RADIUS, circle(0, 0, RADIUS), *inside, letter=letter)


def _upright(*places: float, half: float) -> Iterator[Curve]:
    """Bold strokes across the axis: plates, discs and bars."""
    return (line((x, -half), (x, half), weight="bold") for x in places)


# An across source shows its sign, a through source its direction: both tell the reader which way values count.
_PLUS_MINUS = _round(line((-10, 0), (-3, 0)), line((-6.5, -3.5), (-6.5, 3.5)), line((7, -3.5), (7, 3.5)))
"""A source of an across variable; its first terminal is the plus."""
_DRIVEN = _round(line((-9, 0), (2, 0)), arrow((10, 0), (1, 0)))
"""A source of a through variable: the arrow runs from the first terminal to the second."""
_CAPACITOR = _led(40, 3.5, 13, *_upright(-3.5, 3.5, half=13))
_ZIGZAG: list[Point] = [(-22 + 5.5 * (k + 0.5), -9 if k % 2 == 0 else 9) for k in range(8)]
_SPRING = OnePortSymbol(60, 9, 9, (line((-30, 0), (-22, 0), *_ZIGZAG, (22, 0), (30, 0)),))
_CUP = line((-28, 0), (-10, 0)), line((14, -10), (-10, -10), (-10, 10), (14, 10))
_DAMPER = OnePortSymbol(56, 10, 10, (*_CUP, *_upright(2, half=7.5), line((2, 0), (28, 0))))
# A block that rubs on a surface. This leads to the second terminal, so that it may be the frame or another body.
_RUBBING = line((-26, 0), (-14, 0)), rectangle(-14, -7, 8, 5), line((-10, 7), (18, 7), (18, 0), (26, 0))
_DRY_FRICTION = OnePortSymbol(
    52, 8, 12, (*_RUBBING, *(line((x, 7), (x - 4, 12), weight="hair") for x in (-4, 3, 10, 17)))
)
_STOP = _led(44, 5, 12, *_upright(-5, 5, half=11), *hatching((5, -11), (5, 11), -1))
_CLUTCH = _led(40, 4, 16, *_upright(-4, 4, half=16))
_ONE_WAY = _led(44, 9, 9, closed_polygon((-9, -9), (-9, 9), (9, 0)), line((9, -9), (9, 9)))
_SWITCH = replace(_led(46, 14.4, 13, circle(-12, 0, 2.4), circle(12, 0, 2.4), line((-10, -1.4), (10, -12.5))), down=4)
# The seat is open towards the ball: fluid lifts it from left to right and presses it on its way back.
_BALL_AND_SEAT = line((-22, 0), (-11, 0)), circle(-4.5, 0, 6.5), line((11, -9), (2, 0), (11, 9)), line((2, 0), (22, 0))
_SHUTOFF = _led(46, 14, 9, *(closed_polygon((x, -9), (0, 0), (x, 9)) for x in (-14, 14)))
_THROTTLE = OnePortSymbol(50, 11, 11, (line((-25, 0), (25, 0)), arc(0, -15, 12, 0.35, 1.3), arc(0, 15, 12, 2.35, 1.3)))
"""A narrow place in a pipe."""
_SLUG = _boxed(line((-14, 0), (6, 0)), arrow((14, 0), (1, 0), 8, 6), half=22, high=8)
"""A slug of fluid in a long pipe."""
_CAPSULE = line((-7.5, -10), (7.5, -10)), line((-7.5, 10), (7.5, 10)), arc(-7.5, 0, 10, 1, 2), arc(7.5, 0, 10, 3, 2)
_VESSEL = line((-14, -10), (14, -10)), line((-14, 10), (14, 10)), arc(-14, 0, 10, 1, 2), arc(14, 0, 10, 3, 2)
_ACCUMULATOR = _led(60, 24, 10, *_VESSEL, line((0, -10), (0, 10), dashed=True))
"""A vessel with a membrane."""
_GAS = closed_polygon((4, 0), (12, -5), (12, 5))
_STANDING = OnePortSymbol(35, 11, 11, (*_CAPSULE, line((-2, -10), (-2, 10)), _GAS))
"""The same on the line of its node, with gas above the fluid: nothing leads on from there to a tank (ISO 1219-1)."""
_COIL = replace(_led(56, 22, 8, coil_windings(-22, 22, 4)), down=3)
_COUPLED_COIL = replace(_COIL, up=12, parts=(*_COIL.parts, circle(-22, -9, 2.2, filled=True)))
"""A coil that shares its flux with others: a dot at its first end, as those of the others have."""
_WINDING = line((-10, -3), (-10, 3), (10, 3), (10, -3), weight="hair")
_DISC = OnePortSymbol(16, INLINE_HALF + 4, INLINE_HALF + 4, (rectangle(-8, -INLINE_HALF - 4, 8, INLINE_HALF + 4),))
"""An inertia on its shaft, seen from the side."""
_BEARING = OnePortSymbol(
    30, 11, 11, (line((-15, 0), (15, 0)), *hatching((-13, 5), (13, 5), 1), *hatching((13, -5), (-13, -5), 1))
)
"""A shaft that rubs in the frame."""

# Kinds that do the same in several domains share a symbol: who reads one domain can read the others.
_ONE_PORTS: Mapping[str, OnePortSymbol] = {
    **dict.fromkeys(("capacitor", "heat capacity", "entropy capacity"), _CAPACITOR),
    "inductor": _COIL,
    "coupled coil": _COUPLED_COIL,
    **dict.fromkeys(("voltage source", "pressure source", "mmf source"), _PLUS_MINUS),
    "velocity source": _round(letter="v"),
    "speed source": _round(letter=r"\omega"),
    **dict.fromkeys(("temperature source", "absolute temperature source"), _round(letter="T")),
    **dict.fromkeys(("spring", "compliance", "torsion spring", "torsion compliance"), _SPRING),
    **dict.fromkeys(("damper", "mobility", "rotational mobility"), _DAMPER),
    # Against the frame this is the bearing of its own shaft; only between two shafts is it a damper.
    "friction": replace(_DAMPER, on_shaft=_BEARING),
    "dry friction": _DRY_FRICTION,
    "rotational dry friction": replace(_DRY_FRICTION, on_shaft=_BEARING),
    "inertia": replace(_boxed(), on_shaft=_DISC),
    # The name stands in the block: beside it the line of motion goes on to both sides.
    **dict.fromkeys(("mass", MECHANISM), replace(_boxed(), named=True)),
    **dict.fromkeys(("linear clutch", "clutch"), _CLUTCH),
    **dict.fromkeys(("ratchet", "freewheel", "diode"), _ONE_WAY),
    "check valve": OnePortSymbol(44, 9, 9, _BALL_AND_SEAT),
    **dict.fromkeys(("hard stop", "rotational stop"), _STOP),
    "switch": _SWITCH,
    "shutoff valve": _SHUTOFF,
    **dict.fromkeys(("hydraulic resistor", "leak", "gas conductor", "gas resistor"), _THROTTLE),
    "fluid inertia": _SLUG,
    "accumulator": replace(_ACCUMULATOR, standing=_STANDING),
    "stiff chamber": _ACCUMULATOR,
    "gas capacity": _led(60, 24, 10, *_VESSEL),
    "shorted turn": _boxed(_WINDING),
}


def one_port_symbol(kind: ElementKind) -> OnePortSymbol:
    """The symbol of a one-port; a plain box for kinds that have none of their own."""
    if kind.name in _ONE_PORTS:
        return _ONE_PORTS[kind.name]
    # Kinds of packs may have no picture here; whether they drive, and what, shows all the same.
    if kind.role in ("source", "potential"):
        return _DRIVEN if kind.side == "through" else _PLUS_MINUS
    return _boxed()


def can_turn(kind: ElementKind) -> bool:
    """Whether a symbol has two ends that may stand across their line: a mass has not, nor has a force at a body."""
    return kind.terminals == 2 and not (kind.grounded or is_load(kind) or one_port_symbol(kind).named)


ACROSS = 8.0
"""Between a symbol that stands across its line and the wires that lead round to its ends."""


def turned_symbol(symbol: OnePortSymbol, angle: int) -> OnePortSymbol:
    """A symbol across its line, its first end up (90 degrees) or down (270), with the wires that lead to its ends.

    As one symbol it gets the room that it needs wherever symbols stand, and its own ends are where wires look for them.
    """
    sense = 1.0 if angle == 90 else -1.0
    half, wide = symbol.length / 2, max(symbol.up, symbol.down) + ACROSS
    quarter = placed((0.0, 0.0), (0.0, sense))
    parts = [replace(part, outline=mapped_outline(part.outline, quarter)) for part in symbol.parts]
    leads = (line((-s * wide, 0), (-s * wide, -s * sense * half), (0, -s * sense * half)) for s in (1, -1))
    return OnePortSymbol(2 * wide, half, half, (*leads, *parts), symbol.letter)


def named_block(along: float, across: float) -> OnePortSymbol:
    """A block on its line of motion, with a label of this extent inside."""
    # At least as large as the symbols beside it: a mass named m is no smaller thing than one named m_piston.
    half, high = max(20.0, along / 2 + 8), max(24.0, across / 2 + 8)
    return OnePortSymbol(2 * half, high, high, (rectangle(-half, -high, half, high),))


def is_load(kind: ElementKind) -> bool:
    """Whether a kind is a weight, or a force or torque of the outside: an arrow at a body, without the frame behind it."""
    return kind.role in ("source", "potential") and kind.side == "through" and kind.domains[0] in MECHANICAL_DOMAINS


def is_feed(kind: ElementKind) -> bool:
    """Whether a kind is a source that holds a voltage, a pressure or another effort of wires and pipes."""
    return kind.role == "source" and kind.side == "across" and kind.domains[0] not in MECHANICAL_DOMAINS


# The arrow goes round the side of the shaft that a reader sees; up or down tells which way it counts.
def torque_arrow(sense: int) -> OnePortSymbol:
    """A torque of the outside on a shaft: an arrow round its near side, up or down."""
    start, control, other, end = (-5.0, -17.0 * sense), (7.0, -17.0 * sense), (7.0, 14.0 * sense), (-1.0, 16.0 * sense)
    turn = Curve((("M", (start,)), ("C", (control, other, end))))
    head = arrow((-6, 17.0 * sense), (-0.94, 0.34 * sense), 10, 8)
    return OnePortSymbol(34, 18, 18, (line((-17, 0), (17, 0)), turn, head))


FORCE_ARROW = OnePortSymbol(46, 5, 5, (line((-23, 0), (14, 0), weight="bold"), arrow((23, 0), (1, 0), 12, 10)))
"""A force of the outside on a body."""
_GROUNDS: Mapping[str, tuple[Curve, ...]] = {
    "gnd": tuple(line((-half, y), (half, y)) for half, y in ((11, 0), (7, 4.5), (3, 9))),
    "tank": (line((-13, -3), (-13, 9), (13, 9), (13, -3)), line((0, 0), (0, 5))),
}


def reference_mark(reference: str) -> tuple[Curve, ...]:
    """The mark of a reference, below a point at its top."""
    return _GROUNDS.get(reference) or tuple(hatching((13, 0), (-13, 0), -1))


# One wall for all rods: the frame is one body, and its pieces differ in nothing but their place.
WALL = tuple(hatching((0, -13), (0, 13), -1))
"""The frame, at the end of a rod that points along +x."""

# -- two-ports ---------------------------------------------------------------------------------------------------------------------

ROW, TOP, MID, BOTTOM, RAIL = -55.0, -43.0, 0.0, 43.0, 55.0
"""Heights: of the line of nodes and of the rail, of the terminals below the one and above the other, of shafts and rods."""
RETURN = 88.0
"""Where return lines are: below the marks of references."""
MECHANICAL_DOMAINS = frozenset({"translational", "rotational"})
"""Domains whose nodes are shafts, rods and plates; the others have wires or pipes, with a rail for their reference."""

Caption = Literal["left", "right", "above", "inside"] | Point
"""Where the label stands: beside, above or inside the symbol, or with its left lower corner at a point."""


@final
@dataclass(frozen=True, slots=True)
class TwoPortSymbol:
    """A two-port about its middle. `pins` are the terminals, two a port in order; a shaft has one, its frame is not drawn.

    `mirrored` is the symbol to be turned round instead, where its terminals change places then; `pulling` is that of a two-port
    whose second port has its first node at the frame.
    """

    left: float
    right: float
    up: float
    down: float
    pins: tuple[Point | None, ...]
    parts: tuple[Curve, ...]
    letter: str = ""
    caption: Caption = "above"
    mirrored: "TwoPortSymbol | None" = None
    pulling: "TwoPortSymbol | None" = None


def _wires(x: float) -> tuple[Point, Point]:
    """The terminals of a port of wires or pipes."""
    return (x, TOP), (x, BOTTOM)


def _shafts(left: float, right: float, up: float, down: float, parts: tuple[Curve, ...]) -> TwoPortSymbol:
    """A two-port between two shafts or rods, which end where it does."""
    return TwoPortSymbol(left, right, up, down, ((-left, MID), None, (right, MID), None), parts)


def _between_wires(left: float, right: float, *parts: Curve) -> TwoPortSymbol:
    """A two-port between wires or pipes on both sides."""
    return TwoPortSymbol(-left, right, -TOP, BOTTOM, (*_wires(left), *_wires(right)), parts)


def _pipes(x: float, high: float) -> tuple[Curve, Curve]:
    """What leads from the terminals of a port to what is in the middle."""
    return line((x, TOP), (x, -high)), line((x, high), (x, BOTTOM))


def _machine(*inside: Curve, wired: int, letter: str = "") -> TwoPortSymbol:
    """A circle with wires or pipes above and below, and a shaft at one side; `wired` is the port that has the wires."""
    radius, end = 22.0, 30.0
    # The shaft leaves on the side that faces away from the wires: the first port is on the left of all symbols.
    side = 1 if wired == 0 else -1
    shaft, rod = line((side * radius, MID), (side * end, MID)), ((side * end, MID), None)
    pins = (*_wires(0.0), *rod) if wired == 0 else (*rod, *_wires(0.0))
    parts = (*_pipes(0, radius), circle(0, 0, radius), shaft, *inside)
    left, right = (radius, end) if wired == 0 else (end, radius)
    caption: Caption = "left" if wired == 0 else "right"
    return TwoPortSymbol(left, right, -TOP, BOTTOM, pins, parts, letter=letter, caption=caption)


def _cylinder(upper: float = -22.0, lower: float = 16.0) -> TwoPortSymbol:
    """A cylinder whose first node is at the head, its second at the rod.

    Where the rod points to the left, pressure at the first node still pushes to the right: it is at the rod then.
    """
    barrel, piston, rod = rectangle(-36, -19, 28, 19), rectangle(-4, -19, 4, 19), rectangle(4, -3, 40, 3)
    ports = line((upper, TOP), (upper, -19)), line((lower, 19), (lower, BOTTOM))
    pins = ((upper, TOP), (lower, BOTTOM), (40.0, MID), None)
    # Only one of the two names the other as its mirror image, or making them would never end.
    mirrored = _cylinder(lower, upper) if upper < lower else None
    caption = max(-12.0, upper + 4), -19.0
    return TwoPortSymbol(36, 40, -TOP, BOTTOM, pins, (barrel, piston, rod, *ports), caption=caption, mirrored=mirrored)


def _both_ways(cylinder: TwoPortSymbol, ring: TwoPortSymbol) -> TwoPortSymbol:
    """A cylinder that is drawn as a ring where its pressure pulls the rod back."""
    pulling = replace(
        ring,
        pins=(*ring.pins[:2], None, ring.pins[2]),
        mirrored=replace(cylinder, pins=(*cylinder.pins[:2], None, cylinder.pins[2])),
    )
    return replace(cylinder, pulling=pulling)


def _standing_coil(x: float, sense: int) -> tuple[Curve, ...]:
    """A coil from TOP to BOTTOM whose windings bulge to one side."""
    return (*_pipes(x, 28), *(arc(x, y, 7, 3, 2 * sense) for y in (-21, -7, 7, 21)))


_BRUSHES = rectangle(-5, -26, 5, -21.4, filled=True), rectangle(-5, 21.4, 5, 26, filled=True)
_CORE = line((-4, -28), (-4, 28)), line((4, -28), (4, 28))
_ARCS = arc(-26, 0, 16, 3, 2), arc(26, 0, 16, 1, 2)
_FORMER = line((4, -26), (4, 26), weight="bold"), line((4, MID), (24, MID))
_WHEELS = circle(-14, 0, 14), circle(22, 0, 22), circle(-14, 0, 2, filled=True), circle(22, 0, 2, filled=True)
# Tangents of both pulleys, which touch them a little beside the top where the second is larger.
_BELT = (
    *(circle(-20, 0, 11), circle(22, 0, 17), circle(-20, 0, 2, filled=True), circle(22, 0, 2, filled=True)),
    *(line((-21.6, 10.9 * side), (19.6, 16.8 * side)) for side in (-1, 1)),
)
_PULLEY = (
    *(circle(-10, 0, 15), circle(-10, 0, 2, filled=True), line((-34, 0), (-10, 0))),
    *(line((-10, 15 * side), (24, 15 * side)) for side in (-1, 1)),
    *(line((24, -15), (24, 15), weight="bold"), line((24, 0), (34, 0))),
)
_DOTS = circle(-11, -32, 2.2, filled=True), circle(11, -32, 2.2, filled=True)
"""Where both sides of coupled coils are positive."""
_PINION = circle(-10, 0, 15), circle(-10, 0, 2, filled=True), line((-34, 0), (-10, 0)), rectangle(-30, 15, 18, 21)
_TEETH = [line((x, 15), (x, 18), weight="hair") for x in range(-26, 18, 4)]
_SPINDLE = line((-40, 0), (-30, 0)), rectangle(-30, -5, 22, 5), rectangle(-12, -14, 8, 14)
_THREADS = [line((x, 5), (x + 4, -5), weight="hair") for x in (-28, -22, -18, 10, 15)]
_BEAM = line((-32, -10), (32, 10), weight="bold"), closed_polygon((0, 0), (-8, 15), (8, 15)), line((-13, 15), (13, 15))
_BARRELS = rectangle(-34, -20, 4, 20), rectangle(4, -11, 34, 11)
_PISTONS = rectangle(-14, -20, -8, 20), rectangle(16, -11, 22, 11), line((-8, 0), (16, 0), weight="bold")
_HEAT = rectangle(-20, ROW - 9, 20, ROW + 9), line((-12, ROW), (4, ROW)), arrow((12, ROW), (1, 0), 8, 6)
_HEAT_LEADS = line((-28, ROW), (-20, ROW)), line((20, ROW), (28, ROW))
_CONDUCTOR = TwoPortSymbol(28, 28, 9 - ROW, 0, ((-28.0, ROW), None, (28.0, ROW), None), (*_HEAT, *_HEAT_LEADS))
"""What passes heat from left to right, with its arrow."""
_VOICE_COIL = TwoPortSymbol(
    14, 24, -TOP, BOTTOM, (*_wires(-14.0), (24.0, MID), None), (*_standing_coil(-14, 1), *_FORMER), caption=(0.0, -26.0)
)

# A spool may be anywhere between its outer positions. The squares (ISO 1219) stand on each other: pipes come from left and right.
_SQUARES = [rectangle(-16, y - 13, 16, y + 13) for y in (-26, 0, 26)]
_SPOOL = [line((x, -39), (x, 39), weight="hair") for x in (-20, 20)]
_SHUT = [
    part
    for side in (-1, 1)
    for y in (-6, 6)
    for part in (line((16 * side, y), (9 * side, y)), line((9 * side, y - 3), (9 * side, y + 3)))
]
_STRAIGHT = (
    line((-16, -32), (10, -32)),
    arrow((16, -32), (1, 0), 8, 6),
    line((16, -20), (-10, -20)),
    arrow((-16, -20), (-1, 0), 8, 6),
)
_SLANT = 32 / hypot(32, 12), 12 / hypot(32, 12)
_CROSSED = [
    part
    for side in (-1, 1)
    for part in (line((16 * side, 20), (-16 * side, 32)), arrow((-16 * side, 32), (-side * _SLANT[0], _SLANT[1]), 8, 6))
]
_VALVE_LEADS = [
    line((30 * side, y), (30 * side, u), (16 * side, u)) for side in (-1, 1) for y, u in ((TOP, -6), (BOTTOM, 6))
]
_OPENINGS = (*_SQUARES, *_SPOOL, *_SHUT, *_STRAIGHT, *_CROSSED, *_VALVE_LEADS)
_VALVE = _between_wires(-30.0, 30.0, *_OPENINGS)
"""Four edges that a spool opens and closes: supply and tank on the left, both lines of the load on the right."""

_TWO_PORTS: Mapping[str, TwoPortSymbol] = {
    "dc machine": _machine(*_BRUSHES, wired=0, letter=r"\mathrm{M}"),
    "generator": _machine(*_BRUSHES, wired=0, letter=r"\mathrm{G}"),
    "pump": _machine(closed_polygon((-7, -10), (7, -10), (0, -21.5), filled=True), wired=1),
    "hydraulic motor": _machine(closed_polygon((-7, -21), (7, -21), (0, -9.5), filled=True), wired=0),
    "piston": _both_ways(_cylinder(), _cylinder(16.0, -22.0)),
    "transformer": _between_wires(-20.0, 20.0, *_standing_coil(-20, 1), *_standing_coil(20, -1), *_CORE, *_DOTS),
    "gyrator": _between_wires(-26.0, 26.0, *_ARCS, *_pipes(-26, 16), *_pipes(26, 16)),
    # Turns round a core, whose flux goes on to the right.
    "coil": _between_wires(-16.0, 8.0, *_standing_coil(-16, 1), line((8, TOP), (8, BOTTOM), weight="bold")),
    "voice coil": _VOICE_COIL,
    # The second wheel is the larger one whatever the ratio: a symbol tells the kind, the label tells the number.
    "gear": _shafts(36, 52, 22, 22, (*_WHEELS, line((-36, 0), (-14, 0)), line((22, 0), (52, 0)))),
    "belt": _shafts(36, 52, 17, 17, (*_BELT, line((-36, 0), (-20, 0)), line((22, 0), (52, 0)))),
    "pulley": _shafts(34, 34, 15, 15, _PULLEY),
    "rack": _shafts(34, 34, 15, 21, (*_PINION, *_TEETH, line((18, 18), (28, 18), (28, 0), (34, 0)))),
    # The rod leaves the nut off the axis and returns to it, so that the spindle may turn through.
    "screw": _shafts(40, 38, 14, 14, (*_SPINDLE, *_THREADS, line((8, -10), (30, -10), (30, 0), (38, 0)))),
    "lever": _shafts(40, 40, 11, 15, (*_BEAM, line((-40, 0), (-32, 0), (-32, -10)), line((40, 0), (32, 0), (32, 10)))),
    # A large piston that drives a small one.
    "pressure intensifier": replace(
        _between_wires(-26.0, 29.0, *_BARRELS, *_PISTONS, *_pipes(-26, 20), *_pipes(29, 11)), left=34, right=34
    ),
    "directional valve": _VALVE,
    **dict.fromkeys(("entropy conductor", "radiator"), _CONDUCTOR),
}

# In this order: the first of the same domains and coupling lends its symbol.
_MACHINES = ("dc machine", "voice coil", "pump", "hydraulic motor", "piston")
"""What a connection between their domains is drawn as."""

_PLANETS = ((-18, 0), (9, -15.6), (9, 15.6))
PLANETARY_GEAR = TwoPortSymbol(
    left=35,
    right=35,
    up=35,
    down=27,
    pins=((-35.0, MID), (35.0, MID), (0.0, -35.0)),
    parts=(
        *(circle(x, y, radius) for x, y, radius in ((0, 0, 27), (0, 0, 9), *((x, y, 9) for x, y in _PLANETS))),
        *(line((0, 0), planet, weight="hair") for planet in _PLANETS),
        *(line((-35, 0), (-27, 0)), line((27, 0), (35, 0)), line((0, -35), (0, -27))),
    ),
    caption=(12.0, -25.0),
)
"""A sun, its planets and their ring, for three shafts whose speeds one relation binds: left, right and above."""


def upside_down(symbol: TwoPortSymbol) -> TwoPortSymbol:
    """The symbol upside down."""
    pins = tuple(None if pin is None else (pin[0], -pin[1]) for pin in symbol.pins)
    parts = tuple(
        replace(part, outline=mapped_outline(part.outline, lambda at: (at[0], -at[1]))) for part in symbol.parts
    )
    caption = symbol.caption
    if isinstance(caption, tuple):
        # What was a free corner may have a wire now: the label moves behind the terminal that is above.
        upper = max(pin[0] for pin in pins if pin is not None and pin[1] < MID)
        caption = max(caption[0], upper + 4), caption[1]
    opposite = None if symbol.mirrored is None else upside_down(symbol.mirrored)
    return replace(symbol, up=symbol.down, down=symbol.up, pins=pins, parts=parts, caption=caption, mirrored=opposite)


def two_port_symbol(kind: ElementKind) -> TwoPortSymbol | None:
    """The symbol of a kind of two-port, or nothing where it has none of its own.

    A connection between machines and wires or pipes has that of the machine that does the same.
    """
    machines = (KINDS[name] for name in _MACHINES)
    same = (m.name for m in machines if (m.domains, m.coupling) == (kind.domains, kind.coupling))
    return _TWO_PORTS.get(kind.name) or _TWO_PORTS.get(next(same, ""))


def plain_box(
    levels: tuple[tuple[float, ...], tuple[float, ...]], half: float, crown: int, spacing: float
) -> TwoPortSymbol:
    """A plain box with terminals at some levels on the left and on the right, and `crown` terminals on its top side."""
    # MID always counts: a box without any terminal at its height still surrounds the line of shafts.
    used = [*levels[0], *levels[1], MID]
    top, bottom = min(used) - 22, max(used) + 22
    pins: list[Point | None] = [(-half, y) for y in levels[0]]
    pins += [(half, y) for y in levels[1]]
    pins += [((k - (crown - 1) / 2) * spacing, top) for k in range(crown)]
    body = rectangle(-half, top, half, bottom)
    return TwoPortSymbol(half, half, -top, bottom, tuple(pins), (body,), caption="inside")
