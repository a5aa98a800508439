"""The symbols of two-ports, which join the networks of their domains from left to right.

Their first port is on the left. Wires and pipes meet them at TOP (first node) and BOTTOM (second node), shafts and rods at MID.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, final

from tellegen.drawing.geometry import Point
from tellegen.drawing.symbols_parts import Part, arc, arrow, circle, line, rectangle, shape, turned_over

ROW, TOP, MID, BOTTOM, RAIL = -55.0, -43.0, 0.0, 43.0, 55.0
RETURN = 88.0
"""Where return lines are: below the marks of references."""
"""Heights: of the line of nodes and of the rail, of the terminals below the one and above the other, of shafts and rods."""
SHAFTS = frozenset({"translational", "rotational"})
"""Domains whose nodes are shafts, rods and plates; the others have wires or pipes, with a rail for their reference."""

Caption = Literal["left", "right", "above", "inside"] | Point
"""Where the label stands: beside, above or inside the symbol, or with its left lower corner at a point."""


@final
@dataclass(frozen=True, slots=True)
class TwoPort:
    """A two-port about its middle. `pins` are the terminals, two a port in order; a shaft has one, its frame is not drawn."""

    left: float
    right: float
    up: float
    down: float
    pins: tuple[Point | None, ...]
    parts: tuple[Part, ...]
    letter: str = ""
    caption: Caption = "above"
    mirrored: "TwoPort | None" = None

    # `mirrored` is the symbol to be turned round instead, where its terminals change places then.


def _machine(*inside: Part, wired: int, letter: str = "", radius: float = 22) -> TwoPort:
    """A circle with wires or pipes above and below, and a shaft at one side; `wired` is the port that has the wires."""
    leads = line((0, TOP), (0, -radius)), line((0, radius), (0, BOTTOM))
    side = 1 if wired == 0 else -1
    shaft = line((side * radius, MID), (side * (radius + 8), MID))
    wires, rod = ((0.0, TOP), (0.0, BOTTOM)), ((side * (radius + 8.0), MID), None)
    pins = (*wires, *rod) if wired == 0 else (*rod, *wires)
    caption: Caption = "left" if wired == 0 else "right"
    parts = (*leads, circle(0, 0, radius), shaft, *inside)
    left, right = (radius, radius + 8) if wired == 0 else (radius + 8, radius)
    return TwoPort(left, right, -TOP, BOTTOM, pins, parts, letter, caption)


def _motor() -> TwoPort:
    brushes = rectangle(-5, -26, 5, -21.4, filled=True), rectangle(-5, 21.4, 5, 26, filled=True)
    return _machine(*brushes, wired=0, letter=r"\mathrm{M}")


def _pump() -> TwoPort:
    return _machine(shape((-7, -10), (7, -10), (0, -21.5), filled=True), wired=1)


def _hydraulic_motor() -> TwoPort:
    return _machine(shape((-7, -21), (7, -21), (0, -9.5), filled=True), wired=0)


def _cylinder(upper: float = -22.0, lower: float = 16.0) -> TwoPort:
    """A cylinder whose first node is at the head, its second at the rod.

    Where the rod points to the left, pressure at the first node still pushes to the right: it is at the rod then.
    """
    barrel, piston = rectangle(-36, -19, 28, 19), rectangle(-4, -19, 4, 19)
    rod = rectangle(4, -3, 40, 3)
    ports = line((upper, TOP), (upper, -19)), line((lower, 19), (lower, BOTTOM))
    pins = ((upper, TOP), (lower, BOTTOM), (40.0, MID), None)
    parts = (barrel, piston, rod, *ports)
    mirrored = _cylinder(lower, upper) if upper < lower else None
    return TwoPort(36, 40, -TOP, BOTTOM, pins, parts, caption=(max(-12.0, upper + 4), -19.0), mirrored=mirrored)


def _standing_coil(x: float, sense: int) -> tuple[Part, ...]:
    """A coil from TOP to BOTTOM whose windings bulge to one side."""
    turns = [arc(x, y, 7, 3, 2 * sense) for y in (-21, -7, 7, 21)]
    return (line((x, TOP), (x, -28)), line((x, 28), (x, BOTTOM)), *turns)


def _transformer() -> TwoPort:
    core = line((-4, -28), (-4, 28)), line((4, -28), (4, 28))
    pins = ((-20.0, TOP), (-20.0, BOTTOM), (20.0, TOP), (20.0, BOTTOM))
    return TwoPort(
        20, 20, -TOP, BOTTOM, pins, (*_standing_coil(-20, 1), *_standing_coil(20, -1), *core), caption="above"
    )


def _coil() -> TwoPort:
    """Turns round a core, whose flux goes on to the right."""
    core = line((8, TOP), (8, BOTTOM), weight="bold")
    pins = ((-16.0, TOP), (-16.0, BOTTOM), (8.0, TOP), (8.0, BOTTOM))
    return TwoPort(16, 8, -TOP, BOTTOM, pins, (*_standing_coil(-16, 1), core), caption="above")


def _voice_coil() -> TwoPort:
    former = line((4, -26), (4, 26), weight="bold"), line((4, MID), (24, MID))
    pins = ((-14.0, TOP), (-14.0, BOTTOM), (24.0, MID), None)
    return TwoPort(14, 24, -TOP, BOTTOM, pins, (*_standing_coil(-14, 1), *former), caption=(0.0, -26.0))


def _gyrator() -> TwoPort:
    arcs = arc(-26, 0, 16, 3, 2), arc(26, 0, 16, 1, 2)
    wires = [line((x, TOP), (x, -16)) for x in (-26, 26)] + [line((x, 16), (x, BOTTOM)) for x in (-26, 26)]
    pins = ((-26.0, TOP), (-26.0, BOTTOM), (26.0, TOP), (26.0, BOTTOM))
    return TwoPort(26, 26, -TOP, BOTTOM, pins, (*arcs, *wires), caption="above")


def _gear() -> TwoPort:
    """Two wheels whose pitch circles touch."""
    wheels = circle(-14, 0, 14), circle(22, 0, 22), circle(-14, 0, 2, filled=True), circle(22, 0, 2, filled=True)
    shafts = line((-36, 0), (-14, 0)), line((22, 0), (52, 0))
    return TwoPort(36, 52, 22, 22, ((-36.0, MID), None, (52.0, MID), None), (*wheels, *shafts))


def _rack() -> TwoPort:
    """A pinion on a toothed bar."""
    pinion = circle(-10, 0, 15), circle(-10, 0, 2, filled=True), line((-34, 0), (-10, 0))
    bar = rectangle(-30, 15, 18, 21)
    teeth = [line((x, 15), (x, 18), weight="hair") for x in range(-26, 18, 4)]
    rod = line((18, 18), (28, 18), (28, 0), (34, 0))
    return TwoPort(34, 34, 15, 21, ((-34.0, MID), None, (34.0, MID), None), (*pinion, bar, *teeth, rod))


def _screw() -> TwoPort:
    """A threaded spindle with its nut."""
    spindle, nut = rectangle(-30, -5, 22, 5), rectangle(-12, -14, 8, 14)
    threads = [line((x, 5), (x + 4, -5), weight="hair") for x in (-28, -22, -18, 10, 15)]
    rod = line((8, -10), (30, -10), (30, 0), (38, 0))
    parts = line((-40, 0), (-30, 0)), spindle, nut, *threads, rod
    return TwoPort(40, 38, 14, 14, ((-40.0, MID), None, (38.0, MID), None), parts)


def _lever() -> TwoPort:
    beam = line((-32, -10), (32, 10), weight="bold")
    pivot = shape((0, 0), (-8, 15), (8, 15)), line((-13, 15), (13, 15))
    rods = line((-40, 0), (-32, 0), (-32, -10)), line((40, 0), (32, 0), (32, 10))
    return TwoPort(40, 40, 11, 15, ((-40.0, MID), None, (40.0, MID), None), (beam, *pivot, *rods))


def _intensifier() -> TwoPort:
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
    return TwoPort(34, 34, -TOP, BOTTOM, pins, (*barrels, *pistons, *pipes))


def _conductor() -> TwoPort:
    """What passes heat from left to right, with its arrow."""
    box = rectangle(-20, ROW - 9, 20, ROW + 9)
    inside = line((-12, ROW), (4, ROW)), arrow((12, ROW), (1, 0), 8, 6)
    leads = line((-28, ROW), (-20, ROW)), line((20, ROW), (28, ROW))
    return TwoPort(28, 28, 9 - ROW, 0, ((-28.0, ROW), None, (28.0, ROW), None), (box, *inside, *leads))


_SYMBOLS: Mapping[str, Callable[[], TwoPort]] = {
    "dc machine": _motor,
    "pump": _pump,
    "hydraulic motor": _hydraulic_motor,
    "piston": _cylinder,
    "transformer": _transformer,
    "gyrator": _gyrator,
    "coil": _coil,
    "voice coil": _voice_coil,
    "gear": _gear,
    "rack": _rack,
    "screw": _screw,
    "lever": _lever,
    "pressure intensifier": _intensifier,
    "entropy conductor": _conductor,
    "radiator": _conductor,
}


def epicyclic() -> TwoPort:
    """A sun, its planets and their ring, for three shafts whose speeds one relation binds: left, right and above."""
    wheels = [circle(0, 0, 27), circle(0, 0, 9), *(circle(x, y, 9) for x, y in ((-18, 0), (9, -15.6), (9, 15.6)))]
    arms = [line((0, 0), (x, y), weight="hair") for x, y in ((-18, 0), (9, -15.6), (9, 15.6))]
    shafts = line((-35, 0), (-27, 0)), line((27, 0), (35, 0)), line((0, -35), (0, -27))
    pins = ((-35.0, MID), (35.0, MID), (0.0, -35.0))
    return TwoPort(35, 35, 35, 27, pins, (*wheels, *arms, *shafts), caption=(12.0, -25.0))


def flipped(symbol: TwoPort) -> TwoPort:
    """The symbol upside down."""
    pins = tuple(None if pin is None else (pin[0], -pin[1]) for pin in symbol.pins)
    parts = tuple(turned_over(part) for part in symbol.parts)
    caption = symbol.caption
    if isinstance(caption, tuple):
        upper = max(pin[0] for pin in pins if pin is not None and pin[1] < MID)
        caption = max(caption[0], upper + 4), caption[1]
    opposite = None if symbol.mirrored is None else flipped(symbol.mirrored)
    return replace(symbol, up=symbol.down, down=symbol.up, pins=pins, parts=parts, caption=caption, mirrored=opposite)


def two_port_of(kind: str) -> TwoPort | None:
    """The symbol of a kind of two-port, or nothing where it has none of its own."""
    return _SYMBOLS[kind]() if kind in _SYMBOLS else None


def box_of(levels: tuple[tuple[float, ...], tuple[float, ...]], half: float, crown: int, spacing: float) -> TwoPort:
    """A plain box with terminals at some levels on the left and on the right, and `crown` terminals on its top side."""
    used = [*levels[0], *levels[1], MID]
    top, bottom = min(used) - 22, max(used) + 22
    pins: list[Point | None] = [(-half, y) for y in levels[0]]
    pins += [(half, y) for y in levels[1]]
    pins += [((k - (crown - 1) / 2) * spacing, top) for k in range(crown)]
    body = rectangle(-half, top, half, bottom)
    return TwoPort(half, half, -top, bottom, tuple(pins), (body,), caption="inside")
