"""The symbols of one-ports and two-ports: what engineers of each domain draw for a resistor, a spring, a pump, a gear.

Their first port is on the left. Wires and pipes meet them at TOP (first node) and BOTTOM (second node), shafts and rods at MID.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, final

from tellegen.drawing.schematic.outlines import (
    OnePortSymbol,
    SymbolOutline,
    arc,
    arrow,
    circle,
    closed_polygon,
    coil_windings,
    hatching,
    line,
    rectangle,
    upside_down_outline,
)
from tellegen.elements import KINDS, ElementKind
from tellegen.model.model import MECHANISM
from tellegen.scenes.geometry import Point

RADIUS = 15.0
"""Of the circle of a source."""
INLINE_HALF = 24.0
"""Half the height of a disc or a block on its line of motion."""


# Leads are part of a symbol: where it ends its wires begin, so that no writer of wires has to know what is inside.
def _leads(length: float, inner: float) -> tuple[SymbolOutline, SymbolOutline]:
    """The two wires between the terminals and what is in the middle."""
    return line((-length / 2, 0), (-inner, 0)), line((inner, 0), (length / 2, 0))


def _boxed(*inside: SymbolOutline, half: float = 17, high: float = 7, letter: str = "") -> OnePortSymbol:
    # 6 of wire on each side, so that a box never touches the node beside it.
    length = 2 * half + 12
    body = rectangle(-half, -high, half, high)
    return OnePortSymbol(length, high, high, (*_leads(length, half), body, *inside), letter)


def _round(*inside: SymbolOutline, letter: str = "") -> OnePortSymbol:
    length = 2 * RADIUS + 12
    return OnePortSymbol(length, RADIUS, RADIUS, (*_leads(length, RADIUS), circle(0, 0, RADIUS), *inside), letter)


# An across source shows its sign, a through source its direction: both tell the reader which way values count.
def _plus_minus() -> OnePortSymbol:
    """A source of an across variable; its first terminal is the plus."""
    return _round(line((-10, 0), (-3, 0)), line((-6.5, -3.5), (-6.5, 3.5)), line((7, -3.5), (7, 3.5)))


def _driven() -> OnePortSymbol:
    """A source of a through variable: the arrow runs from the first terminal to the second."""
    return _round(line((-9, 0), (2, 0)), arrow((10, 0), (1, 0)))


def _capacitor() -> OnePortSymbol:
    plates = line((-3.5, -13), (-3.5, 13), weight="bold"), line((3.5, -13), (3.5, 13), weight="bold")
    return OnePortSymbol(40, 13, 13, (*_leads(40, 3.5), *plates))


def _spring() -> OnePortSymbol:
    count, inner = 8, 22.0
    step = 2 * inner / count
    zigzag: list[Point] = [(-30, 0), (-inner, 0)]
    zigzag += [(-inner + (k + 0.5) * step, -9 if k % 2 == 0 else 9) for k in range(count)]
    return OnePortSymbol(60, 9, 9, (line(*zigzag, (inner, 0), (30, 0)),))


def _damper() -> OnePortSymbol:
    cup = line((14, -10), (-10, -10), (-10, 10), (14, 10))
    piston = line((2, -7.5), (2, 7.5), weight="bold")
    return OnePortSymbol(56, 10, 10, (line((-28, 0), (-10, 0)), cup, piston, line((2, 0), (28, 0))))


# The surface leads to the second terminal, so that it may be the frame or another body.
def _dry_friction() -> OnePortSymbol:
    """A block that rubs on a surface."""
    block, surface = rectangle(-14, -7, 8, 5), line((-10, 7), (18, 7), (18, 0), (26, 0))
    marks = [line((x, 7), (x - 4, 12), weight="hair") for x in (-4, 3, 10, 17)]
    return OnePortSymbol(52, 8, 12, (line((-26, 0), (-14, 0)), block, surface, *marks))


def _stop() -> OnePortSymbol:
    bars = line((-5, -11), (-5, 11), weight="bold"), line((5, -11), (5, 11), weight="bold")
    return OnePortSymbol(44, 12, 12, (*_leads(44, 5), *bars, *hatching((5, -11), (5, 11), -1)))


def _clutch() -> OnePortSymbol:
    discs = line((-4, -16), (-4, 16), weight="bold"), line((4, -16), (4, 16), weight="bold")
    return OnePortSymbol(40, 16, 16, (*_leads(40, 4), *discs))


def _one_way() -> OnePortSymbol:
    return OnePortSymbol(44, 9, 9, (*_leads(44, 9), closed_polygon((-9, -9), (-9, 9), (9, 0)), line((9, -9), (9, 9))))


def _switch() -> OnePortSymbol:
    knobs = circle(-12, 0, 2.4), circle(12, 0, 2.4)
    return OnePortSymbol(46, 13, 4, (*_leads(46, 14.4), *knobs, line((-10, -1.4), (10, -12.5))))


# The seat is open towards the ball: fluid lifts it from left to right and presses it on its way back.
def _check_valve() -> OnePortSymbol:
    seat = line((11, -9), (2, 0), (11, 9))
    return OnePortSymbol(44, 9, 9, (line((-22, 0), (-11, 0)), circle(-4.5, 0, 6.5), seat, line((2, 0), (22, 0))))


def _shutoff() -> OnePortSymbol:
    return OnePortSymbol(
        46,
        9,
        9,
        (*_leads(46, 14), closed_polygon((-14, -9), (0, 0), (-14, 9)), closed_polygon((14, -9), (0, 0), (14, 9))),
    )


def _throttle() -> OnePortSymbol:
    """A narrow place in a pipe."""
    return OnePortSymbol(50, 11, 11, (line((-25, 0), (25, 0)), arc(0, -15, 12, 0.35, 1.3), arc(0, 15, 12, 2.35, 1.3)))


def _pipe() -> OnePortSymbol:
    """A slug of fluid in a long pipe."""
    inside = line((-14, 0), (6, 0)), arrow((14, 0), (1, 0), 8, 6)
    return _boxed(*inside, half=22, high=8)


def _accumulator() -> OnePortSymbol:
    """A vessel with a membrane."""
    sides = line((-14, -10), (14, -10)), line((-14, 10), (14, 10))
    ends = arc(-14, 0, 10, 1, 2), arc(14, 0, 10, 3, 2)
    membrane = line((0, -10), (0, 10), dashed=True)
    return OnePortSymbol(60, 10, 10, (*_leads(60, 24), *sides, *ends, membrane))


_DISC = OnePortSymbol(16, INLINE_HALF + 4, INLINE_HALF + 4, (rectangle(-8, -INLINE_HALF - 4, 8, INLINE_HALF + 4),))
"""An inertia on its shaft, seen from the side."""


def _bearing() -> OnePortSymbol:
    """A shaft that rubs in the frame."""
    below = hatching((-13, 5), (13, 5), 1)
    above = hatching((13, -5), (-13, -5), 1)
    return OnePortSymbol(30, 11, 11, (line((-15, 0), (15, 0)), *below, *above))


# Kinds that do the same in several domains share a symbol: who reads one domain can read the others.
_ONE_PORTS: Mapping[str, OnePortSymbol] = {
    "capacitor": _capacitor(),
    "inductor": OnePortSymbol(56, 8, 3, (*_leads(56, 22), coil_windings(-22, 22, 4))),
    "voltage source": _plus_minus(),
    "pressure source": _plus_minus(),
    "mmf source": _plus_minus(),
    "velocity source": _round(letter="v"),
    "speed source": _round(letter=r"\omega"),
    "temperature source": _round(letter="T"),
    "absolute temperature source": _round(letter="T"),
    "spring": _spring(),
    "compliance": _spring(),
    "torsion spring": _spring(),
    "torsion compliance": _spring(),
    "damper": _damper(),
    "mobility": _damper(),
    # Against the frame this is the bearing of its own shaft; only between two shafts is it a damper.
    "friction": replace(_damper(), on_shaft=_bearing()),
    "rotational mobility": _damper(),
    "dry friction": _dry_friction(),
    "rotational dry friction": replace(_dry_friction(), on_shaft=_bearing()),
    "inertia": replace(_boxed(), on_shaft=_DISC),
    # The name stands in the block: beside it the line of motion goes on to both sides.
    "mass": replace(_boxed(), named=True),
    MECHANISM: replace(_boxed(), named=True),
    "linear clutch": _clutch(),
    "clutch": _clutch(),
    "ratchet": _one_way(),
    "freewheel": _one_way(),
    "diode": _one_way(),
    "check valve": _check_valve(),
    "hard stop": _stop(),
    "rotational stop": _stop(),
    "switch": _switch(),
    "shutoff valve": _shutoff(),
    "hydraulic resistor": _throttle(),
    "leak": _throttle(),
    "fluid inertia": _pipe(),
    "accumulator": _accumulator(),
    "stiff chamber": _accumulator(),
    "heat capacity": _capacitor(),
    "entropy capacity": _capacitor(),
    "shorted turn": _boxed(line((-10, -3), (-10, 3), (10, 3), (10, -3), weight="hair")),
}


def one_port_symbol(kind: ElementKind) -> OnePortSymbol:
    """The symbol of a one-port; a plain box for kinds that have none of their own."""
    if kind.name in _ONE_PORTS:
        return _ONE_PORTS[kind.name]
    # Kinds of packs may have no picture here; whether they drive, and what, shows all the same.
    if kind.role == "source":
        return _driven() if kind.side == "through" else _plus_minus()
    return _boxed()


def named_block(along: float, across: float) -> OnePortSymbol:
    """A block on its line of motion, with a label of this extent inside."""
    # At least as large as the symbols beside it: a mass named m is no smaller thing than one named m_piston.
    half, high = max(20.0, along / 2 + 8), max(24.0, across / 2 + 8)
    return OnePortSymbol(2 * half, high, high, (rectangle(-half, -high, half, high),))


def is_load(kind: ElementKind) -> bool:
    """Whether a kind is a force or a torque of the outside: an arrow at a body, without the frame that it pushes against."""
    return kind.role == "source" and kind.side == "through" and kind.domains[0] in MECHANICAL_DOMAINS


# The arrow goes round the side of the shaft that a reader sees; up or down tells which way it counts.
def torque_arrow(sense: int) -> OnePortSymbol:
    """A torque of the outside on a shaft: an arrow round its near side, up or down."""
    turn = SymbolOutline(
        (("M", ((-5.0, -17.0 * sense),)), ("C", ((7.0, -17.0 * sense), (7.0, 14.0 * sense), (-1.0, 16.0 * sense))))
    )
    return OnePortSymbol(
        34, 18, 18, (line((-17, 0), (17, 0)), turn, arrow((-6, 17.0 * sense), (-0.94, 0.34 * sense), 10, 8))
    )


FORCE_ARROW = OnePortSymbol(46, 5, 5, (line((-23, 0), (14, 0), weight="bold"), arrow((23, 0), (1, 0), 12, 10)))
"""A force of the outside on a body."""

_EARTH = line((-11, 0), (11, 0)), line((-7, 4.5), (7, 4.5)), line((-3, 9), (3, 9))
_TANK = (line((-13, -3), (-13, 9), (13, 9), (13, -3)), line((0, 0), (0, 5)))
_GROUNDS: Mapping[str, tuple[SymbolOutline, ...]] = {"gnd": _EARTH, "tank": _TANK}


def reference_mark(reference: str) -> tuple[SymbolOutline, ...]:
    """The mark of a reference, below a point at its top."""
    return _GROUNDS.get(reference) or tuple(hatching((13, 0), (-13, 0), -1))


# One wall for all rods: the frame is one body, and its pieces differ in nothing but their place.
WALL = tuple(hatching((0, -13), (0, 13), -1))
"""The frame, at the end of a rod that points along +x."""


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
    """A two-port about its middle. `pins` are the terminals, two a port in order; a shaft has one, its frame is not drawn."""

    left: float
    right: float
    up: float
    down: float
    pins: tuple[Point | None, ...]
    parts: tuple[SymbolOutline, ...]
    letter: str = ""
    caption: Caption = "above"
    mirrored: "TwoPortSymbol | None" = None

    # `mirrored` is the symbol to be turned round instead, where its terminals change places then.


def _machine(*inside: SymbolOutline, wired: int, letter: str = "", radius: float = 22) -> TwoPortSymbol:
    """A circle with wires or pipes above and below, and a shaft at one side; `wired` is the port that has the wires."""
    leads = line((0, TOP), (0, -radius)), line((0, radius), (0, BOTTOM))
    # The shaft leaves on the side that faces away from the wires: the first port is on the left of all symbols.
    side = 1 if wired == 0 else -1
    shaft = line((side * radius, MID), (side * (radius + 8), MID))
    wires, rod = ((0.0, TOP), (0.0, BOTTOM)), ((side * (radius + 8.0), MID), None)
    pins = (*wires, *rod) if wired == 0 else (*rod, *wires)
    caption: Caption = "left" if wired == 0 else "right"
    parts = (*leads, circle(0, 0, radius), shaft, *inside)
    left, right = (radius, radius + 8) if wired == 0 else (radius + 8, radius)
    return TwoPortSymbol(left, right, -TOP, BOTTOM, pins, parts, letter=letter, caption=caption)


def _motor() -> TwoPortSymbol:
    brushes = rectangle(-5, -26, 5, -21.4, filled=True), rectangle(-5, 21.4, 5, 26, filled=True)
    return _machine(*brushes, wired=0, letter=r"\mathrm{M}")


def _cylinder(upper: float = -22.0, lower: float = 16.0) -> TwoPortSymbol:
    """A cylinder whose first node is at the head, its second at the rod.

    Where the rod points to the left, pressure at the first node still pushes to the right: it is at the rod then.
    """
    barrel, piston = rectangle(-36, -19, 28, 19), rectangle(-4, -19, 4, 19)
    rod = rectangle(4, -3, 40, 3)
    ports = line((upper, TOP), (upper, -19)), line((lower, 19), (lower, BOTTOM))
    pins = ((upper, TOP), (lower, BOTTOM), (40.0, MID), None)
    parts = (barrel, piston, rod, *ports)
    # Only one of the two names the other as its mirror image, or making them would never end.
    mirrored = _cylinder(lower, upper) if upper < lower else None
    return TwoPortSymbol(36, 40, -TOP, BOTTOM, pins, parts, caption=(max(-12.0, upper + 4), -19.0), mirrored=mirrored)


def _standing_coil(x: float, sense: int) -> tuple[SymbolOutline, ...]:
    """A coil from TOP to BOTTOM whose windings bulge to one side."""
    turns = [arc(x, y, 7, 3, 2 * sense) for y in (-21, -7, 7, 21)]
    return (line((x, TOP), (x, -28)), line((x, 28), (x, BOTTOM)), *turns)


def _transformer() -> TwoPortSymbol:
    core = line((-4, -28), (-4, 28)), line((4, -28), (4, 28))
    pins = ((-20.0, TOP), (-20.0, BOTTOM), (20.0, TOP), (20.0, BOTTOM))
    return TwoPortSymbol(
        20, 20, -TOP, BOTTOM, pins, (*_standing_coil(-20, 1), *_standing_coil(20, -1), *core), caption="above"
    )


def _magnetic_coil() -> TwoPortSymbol:
    """Turns round a core, whose flux goes on to the right."""
    core = line((8, TOP), (8, BOTTOM), weight="bold")
    pins = ((-16.0, TOP), (-16.0, BOTTOM), (8.0, TOP), (8.0, BOTTOM))
    return TwoPortSymbol(16, 8, -TOP, BOTTOM, pins, (*_standing_coil(-16, 1), core), caption="above")


def _voice_coil() -> TwoPortSymbol:
    former = line((4, -26), (4, 26), weight="bold"), line((4, MID), (24, MID))
    pins = ((-14.0, TOP), (-14.0, BOTTOM), (24.0, MID), None)
    return TwoPortSymbol(14, 24, -TOP, BOTTOM, pins, (*_standing_coil(-14, 1), *former), caption=(0.0, -26.0))


def _gyrator() -> TwoPortSymbol:
    arcs = arc(-26, 0, 16, 3, 2), arc(26, 0, 16, 1, 2)
    wires = [line((x, TOP), (x, -16)) for x in (-26, 26)] + [line((x, 16), (x, BOTTOM)) for x in (-26, 26)]
    pins = ((-26.0, TOP), (-26.0, BOTTOM), (26.0, TOP), (26.0, BOTTOM))
    return TwoPortSymbol(26, 26, -TOP, BOTTOM, pins, (*arcs, *wires), caption="above")


# The second wheel is the larger one whatever the ratio: a symbol tells the kind, the label tells the number.
def _gear() -> TwoPortSymbol:
    """Two wheels whose pitch circles touch."""
    wheels = circle(-14, 0, 14), circle(22, 0, 22), circle(-14, 0, 2, filled=True), circle(22, 0, 2, filled=True)
    shafts = line((-36, 0), (-14, 0)), line((22, 0), (52, 0))
    return TwoPortSymbol(36, 52, 22, 22, ((-36.0, MID), None, (52.0, MID), None), (*wheels, *shafts))


def _rack() -> TwoPortSymbol:
    """A pinion on a toothed bar."""
    pinion = circle(-10, 0, 15), circle(-10, 0, 2, filled=True), line((-34, 0), (-10, 0))
    bar = rectangle(-30, 15, 18, 21)
    teeth = [line((x, 15), (x, 18), weight="hair") for x in range(-26, 18, 4)]
    rod = line((18, 18), (28, 18), (28, 0), (34, 0))
    return TwoPortSymbol(34, 34, 15, 21, ((-34.0, MID), None, (34.0, MID), None), (*pinion, bar, *teeth, rod))


# The rod leaves the nut off the axis and returns to it, so that the spindle may turn through.
def _screw() -> TwoPortSymbol:
    """A threaded spindle with its nut."""
    spindle, nut = rectangle(-30, -5, 22, 5), rectangle(-12, -14, 8, 14)
    threads = [line((x, 5), (x + 4, -5), weight="hair") for x in (-28, -22, -18, 10, 15)]
    rod = line((8, -10), (30, -10), (30, 0), (38, 0))
    parts = line((-40, 0), (-30, 0)), spindle, nut, *threads, rod
    return TwoPortSymbol(40, 38, 14, 14, ((-40.0, MID), None, (38.0, MID), None), parts)


def _lever() -> TwoPortSymbol:
    beam = line((-32, -10), (32, 10), weight="bold")
    pivot = closed_polygon((0, 0), (-8, 15), (8, 15)), line((-13, 15), (13, 15))
    rods = line((-40, 0), (-32, 0), (-32, -10)), line((40, 0), (32, 0), (32, 10))
    return TwoPortSymbol(40, 40, 11, 15, ((-40.0, MID), None, (40.0, MID), None), (beam, *pivot, *rods))


def _intensifier() -> TwoPortSymbol:
    """A large piston that drives a small one."""
    barrels = rectangle(-34, -20, 4, 20), rectangle(4, -11, 34, 11)
    pistons = rectangle(-14, -20, -8, 20), rectangle(16, -11, 22, 11), line((-8, 0), (16, 0), weight="bold")
    pipes = (
        line((-26, TOP), (-26, -20)),
        line((-26, 20), (-26, BOTTOM)),
        line((29, TOP), (29, -11)),
        line((29, 11), (29, BOTTOM)),
    )
    pins = ((-26.0, TOP), (-26.0, BOTTOM), (29.0, TOP), (29.0, BOTTOM))
    return TwoPortSymbol(34, 34, -TOP, BOTTOM, pins, (*barrels, *pistons, *pipes))


def _conductor() -> TwoPortSymbol:
    """What passes heat from left to right, with its arrow."""
    box = rectangle(-20, ROW - 9, 20, ROW + 9)
    inside = line((-12, ROW), (4, ROW)), arrow((12, ROW), (1, 0), 8, 6)
    leads = line((-28, ROW), (-20, ROW)), line((20, ROW), (28, ROW))
    return TwoPortSymbol(28, 28, 9 - ROW, 0, ((-28.0, ROW), None, (28.0, ROW), None), (box, *inside, *leads))


_TWO_PORTS: Mapping[str, TwoPortSymbol] = {
    "dc machine": _motor(),
    "pump": _machine(closed_polygon((-7, -10), (7, -10), (0, -21.5), filled=True), wired=1),
    "hydraulic motor": _machine(closed_polygon((-7, -21), (7, -21), (0, -9.5), filled=True), wired=0),
    "piston": _cylinder(),
    "transformer": _transformer(),
    "gyrator": _gyrator(),
    "coil": _magnetic_coil(),
    "voice coil": _voice_coil(),
    "gear": _gear(),
    "rack": _rack(),
    "screw": _screw(),
    "lever": _lever(),
    "pressure intensifier": _intensifier(),
    "entropy conductor": _conductor(),
    "radiator": _conductor(),
}


# In this order: the first of the same domains and coupling lends its symbol.
_MACHINES = ("dc machine", "voice coil", "pump", "hydraulic motor", "piston")
"""What a connection between their domains is drawn as."""


def planetary_gear() -> TwoPortSymbol:
    """A sun, its planets and their ring, for three shafts whose speeds one relation binds: left, right and above."""
    wheels = [circle(0, 0, 27), circle(0, 0, 9), *(circle(x, y, 9) for x, y in ((-18, 0), (9, -15.6), (9, 15.6)))]
    arms = [line((0, 0), (x, y), weight="hair") for x, y in ((-18, 0), (9, -15.6), (9, 15.6))]
    shafts = line((-35, 0), (-27, 0)), line((27, 0), (35, 0)), line((0, -35), (0, -27))
    pins = ((-35.0, MID), (35.0, MID), (0.0, -35.0))
    return TwoPortSymbol(35, 35, 35, 27, pins, (*wheels, *arms, *shafts), caption=(12.0, -25.0))


def upside_down(symbol: TwoPortSymbol) -> TwoPortSymbol:
    """The symbol upside down."""
    pins = tuple(None if pin is None else (pin[0], -pin[1]) for pin in symbol.pins)
    parts = tuple(upside_down_outline(part) for part in symbol.parts)
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
