"""The symbols of one-ports: what engineers of each domain draw for a resistor, a spring, an accumulator, ..."""

from collections.abc import Mapping

from tellegen.drawing.geometry import Point
from tellegen.drawing.symbols_parts import Part, Symbol, arc, arrow, bumps, circle, hatching, line, rectangle, shape
from tellegen.elements import ElementKind

RADIUS = 15.0
"""Of the circle of a source."""
INLINE_HALF = 24.0
"""Half the height of a disc or a block on its line of motion."""


def _leads(length: float, inner: float) -> tuple[Part, Part]:
    """The two wires between the terminals and what is in the middle."""
    return line((-length / 2, 0), (-inner, 0)), line((inner, 0), (length / 2, 0))


def _boxed(*inside: Part, half: float = 17, high: float = 7, letter: str = "") -> Symbol:
    length = 2 * half + 12
    body = rectangle(-half, -high, half, high)
    return Symbol(length, high, high, (*_leads(length, half), body, *inside), letter)


def _round(*inside: Part, letter: str = "") -> Symbol:
    length = 2 * RADIUS + 12
    return Symbol(length, RADIUS, RADIUS, (*_leads(length, RADIUS), circle(0, 0, RADIUS), *inside), letter)


def _plus_minus() -> Symbol:
    """A source of an across variable; its first terminal is the plus."""
    return _round(line((-10, 0), (-3, 0)), line((-6.5, -3.5), (-6.5, 3.5)), line((7, -3.5), (7, 3.5)))


def _driven() -> Symbol:
    """A source of a through variable: the arrow runs from the first terminal to the second."""
    return _round(line((-9, 0), (2, 0)), arrow((10, 0), (1, 0)))


def _capacitor() -> Symbol:
    plates = line((-3.5, -13), (-3.5, 13), weight="bold"), line((3.5, -13), (3.5, 13), weight="bold")
    return Symbol(40, 13, 13, (*_leads(40, 3.5), *plates))


def _coil() -> Symbol:
    return Symbol(56, 8, 3, (*_leads(56, 22), bumps(-22, 22, 4)))


def _spring() -> Symbol:
    count, inner = 8, 22.0
    step = 2 * inner / count
    zigzag: list[Point] = [(-30, 0), (-inner, 0)]
    zigzag += [(-inner + (k + 0.5) * step, -9 if k % 2 == 0 else 9) for k in range(count)]
    return Symbol(60, 9, 9, (line(*zigzag, (inner, 0), (30, 0)),))


def _damper() -> Symbol:
    cup = line((14, -10), (-10, -10), (-10, 10), (14, 10))
    piston = line((2, -7.5), (2, 7.5), weight="bold")
    return Symbol(56, 10, 10, (line((-28, 0), (-10, 0)), cup, piston, line((2, 0), (28, 0))))


def _dry_friction() -> Symbol:
    """A block that rubs on a surface."""
    block, surface = rectangle(-14, -7, 8, 5), line((-10, 7), (18, 7), (18, 0), (26, 0))
    marks = [line((x, 7), (x - 4, 12), weight="hair") for x in (-4, 3, 10, 17)]
    return Symbol(52, 8, 12, (line((-26, 0), (-14, 0)), block, surface, *marks))


def _stop() -> Symbol:
    bars = line((-5, -11), (-5, 11), weight="bold"), line((5, -11), (5, 11), weight="bold")
    return Symbol(44, 12, 12, (*_leads(44, 5), *bars, *hatching((5, -11), (5, 11), -1)))


def _clutch() -> Symbol:
    discs = line((-4, -16), (-4, 16), weight="bold"), line((4, -16), (4, 16), weight="bold")
    return Symbol(40, 16, 16, (*_leads(40, 4), *discs))


def _one_way() -> Symbol:
    return Symbol(44, 9, 9, (*_leads(44, 9), shape((-9, -9), (-9, 9), (9, 0)), line((9, -9), (9, 9))))


def _switch() -> Symbol:
    knobs = circle(-12, 0, 2.4), circle(12, 0, 2.4)
    return Symbol(46, 13, 4, (*_leads(46, 14.4), *knobs, line((-10, -1.4), (10, -12.5))))


def _check_valve() -> Symbol:
    seat = line((11, -9), (2, 0), (11, 9))
    return Symbol(44, 9, 9, (line((-22, 0), (-11, 0)), circle(-4.5, 0, 6.5), seat, line((2, 0), (22, 0))))


def _shutoff() -> Symbol:
    return Symbol(46, 9, 9, (*_leads(46, 14), shape((-14, -9), (0, 0), (-14, 9)), shape((14, -9), (0, 0), (14, 9))))


def _throttle() -> Symbol:
    """A narrow place in a pipe."""
    return Symbol(50, 11, 11, (line((-25, 0), (25, 0)), arc(0, -15, 12, 0.35, 1.3), arc(0, 15, 12, 2.35, 1.3)))


def _pipe() -> Symbol:
    """A slug of fluid in a long pipe."""
    inside = line((-14, 0), (6, 0)), arrow((14, 0), (1, 0), 8, 6)
    return _boxed(*inside, half=22, high=8)


def _accumulator() -> Symbol:
    """A vessel with a membrane."""
    sides = line((-14, -10), (14, -10)), line((-14, 10), (14, 10))
    ends = arc(-14, 0, 10, 1, 2), arc(14, 0, 10, 3, 2)
    membrane = line((0, -10), (0, 10), dashed=True)
    return Symbol(60, 10, 10, (*_leads(60, 24), *sides, *ends, membrane))


def _shorted_turn() -> Symbol:
    return _boxed(line((-10, -3), (-10, 3), (10, 3), (10, -3), weight="hair"))


_SYMBOLS: Mapping[str, Symbol] = {
    "capacitor": _capacitor(),
    "inductor": _coil(),
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
    "friction": _damper(),
    "rotational mobility": _damper(),
    "dry friction": _dry_friction(),
    "rotational dry friction": _dry_friction(),
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
    "shorted turn": _shorted_turn(),
}


def symbol_of(kind: ElementKind) -> Symbol:
    """The symbol of a one-port; a plain box for kinds that have none of their own."""
    if kind.name in _SYMBOLS:
        return _SYMBOLS[kind.name]
    if kind.role == "source":
        return _driven() if kind.side == "through" else _plus_minus()
    return _boxed()


def _block() -> Symbol:
    """A mass on its line of motion."""
    return Symbol(44, INLINE_HALF, INLINE_HALF, (rectangle(-22, -INLINE_HALF, 22, INLINE_HALF),))


def _disc() -> Symbol:
    """An inertia on its shaft, seen from the side."""
    return Symbol(16, INLINE_HALF + 4, INLINE_HALF + 4, (rectangle(-8, -INLINE_HALF - 4, 8, INLINE_HALF + 4),))


def _bearing() -> Symbol:
    """A shaft that rubs in the frame."""
    below = hatching((-13, 5), (13, 5), 1)
    above = hatching((13, -5), (-13, -5), 1)
    return Symbol(30, 11, 11, (line((-15, 0), (15, 0)), *below, *above))


def twist(sense: int) -> Symbol:
    """A torque of the outside on a shaft: an arrow round its near side, up or down."""
    turn = Part(
        (("M", ((-5.0, -17.0 * sense),)), ("C", ((7.0, -17.0 * sense), (7.0, 14.0 * sense), (-1.0, 16.0 * sense))))
    )
    return Symbol(34, 18, 18, (line((-17, 0), (17, 0)), turn, arrow((-6, 17.0 * sense), (-0.94, 0.34 * sense), 10, 8)))


INLINE: Mapping[str, Symbol] = {
    "mass": _block(),
    "inertia": _disc(),
    "friction": _bearing(),
    "rotational dry friction": _bearing(),
}
"""Symbols of elements that sit on the line of motion of their node and need no second terminal."""

FORCE = Symbol(46, 5, 5, (line((-23, 0), (14, 0), weight="bold"), arrow((23, 0), (1, 0), 12, 10)))
"""A force of the outside on a body."""

_EARTH = line((-11, 0), (11, 0)), line((-7, 4.5), (7, 4.5)), line((-3, 9), (3, 9))
_TANK = (line((-13, -3), (-13, 9), (13, 9), (13, -3)), line((0, 0), (0, 5)))
_GROUNDS: Mapping[str, tuple[Part, ...]] = {"gnd": _EARTH, "tank": _TANK}


def ground_of(reference: str) -> tuple[Part, ...]:
    """The mark of a reference, below a point at its top."""
    return _GROUNDS.get(reference) or tuple(hatching((13, 0), (-13, 0), -1))


WALL = tuple(hatching((0, -13), (0, 13), -1))
"""The frame, at the end of a rod that points along +x."""
