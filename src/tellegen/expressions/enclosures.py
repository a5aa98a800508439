"""Where formulas of one variable vanish, found for certain: intervals that enclose all values of a formula (Moore 1966).

A formula whose enclosure over a piece leaves zero out has no zero there; one whose slope keeps its sign has at most one. Pieces are
halved until one of both holds. Samples, however many, would miss a pulse that is narrower than their distance.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from tellegen.expressions.nodes import Add, Call, Condition, Constant, Expression, Mul, Number, Pow, Symbol, postorder


class Interval(NamedTuple):
    """All numbers from `low` to `high`."""

    low: float
    high: float


EVERYTHING: Final = Interval(-math.inf, math.inf)
MOST_PIECES: Final = 50_000
"""So many pieces are looked at: a formula that swings more often in a run is followed up to there."""
NARROW: Final = 1e-11
"""Of the whole: in a piece so short a formula may touch zero, and is taken to."""
SAME: Final = 1e-14
_ROUNDING: Final = 4e-16
_STEPPING = ("floor", "ceil", "sign", "if", "abs", "min", "max")


def zeros_of(formula: Expression, name: str, low: float, high: float) -> list[float]:
    """The values of `name` between two bounds at which a formula of it alone vanishes or changes its sign, in order."""
    # The slope of what steps says nothing about its steps.
    steps = any(isinstance(node, Call) and node.name in _STEPPING for node in postorder(formula))
    slope = None if steps else formula.derivative(name)
    nodes, slopes = postorder(formula), None if slope is None else postorder(slope)
    found: list[float] = []
    # From left to right, so that what is found is whole up to the last piece.
    waiting = [Interval(low, high)]
    for _ in range(MOST_PIECES):
        if not waiting:
            break
        piece = waiting.pop()
        values = _enclosed(nodes, name, piece)
        if values.low > 0.0 or values.high < 0.0:
            continue
        rates = EVERYTHING if slopes is None else _enclosed(slopes, name, piece)
        narrow = piece.high - piece.low <= NARROW * (high - low)
        if rates.low > 0.0 or rates.high < 0.0 or narrow:
            zeros = _one_zero(lambda t: formula.evaluate({name: t}), piece, touches=narrow)
            # A zero where two pieces meet belongs to both.
            found += [t for t in zeros if not found or t - found[-1] > SAME * (high - low)]
            continue
        middle = 0.5 * (piece.low + piece.high)
        waiting += [Interval(middle, piece.high), Interval(piece.low, middle)]
    return found


def _one_zero(value: Callable[[float], float], piece: Interval, *, touches: bool) -> list[float]:
    low, high = piece
    try:
        left, right = value(low), value(high)
        if left * right > 0.0:
            return [0.5 * (low + high)] if touches else []
        # As near as floats are to each other at the ends: about zero they never end.
        apart = 1e-16 * max(abs(low), abs(high))
        while high - low > apart and low < (middle := 0.5 * (low + high)) < high:
            here = value(middle)
            if (here > 0.0) == (right > 0.0) and (here < 0.0) == (right < 0.0):
                high = middle
            else:
                low = middle
    except (ArithmeticError, ValueError):
        return [0.5 * (low + high)]
    return [high]


def _enclosed(nodes: Sequence[Expression], name: str, at: Interval) -> Interval:
    """An interval that holds all values of the last of the nodes, each of which stands behind those it is made of."""
    found: dict[Expression, Interval] = {}
    for node in nodes:
        try:
            value = EVERYTHING if isinstance(node, Condition) else _value(node, name, at, found)
        except (ArithmeticError, ValueError):
            value = EVERYTHING
        found[node] = value if value.low <= value.high else EVERYTHING
    return found[nodes[-1]]


def _value(node: Expression, name: str, at: Interval, known: Mapping[Expression, Interval]) -> Interval:
    if isinstance(node, Number):
        value = float(node.value)
        return _wider(value, value)
    if isinstance(node, Constant):
        return _wider(node.value, node.value)
    if isinstance(node, Symbol):
        return at if node.name == name else EVERYTHING
    if isinstance(node, Add):
        total = Interval(float(node.constant), float(node.constant))
        for term, factor in node.terms:
            part = _product(known[term], Interval(float(factor), float(factor)))
            total = _wider(total.low + part.low, total.high + part.high)
        return total
    if isinstance(node, Mul):
        whole = _wider(float(node.coefficient), float(node.coefficient))
        for base, exponent in node.factors:
            whole = _product(whole, _power(known[base], float(exponent)))
        return whole
    if isinstance(node, Pow):
        return _power_of(known[node.base], known[node.exponent])
    assert isinstance(node, Call)
    enclose = _CALLS.get(node.name)
    return EVERYTHING if enclose is None else enclose(*(known[argument] for argument in node.arguments))


def _wider(low: float, high: float) -> Interval:
    """With room for what rounding may have taken."""
    return Interval(low - _ROUNDING * abs(low), high + _ROUNDING * abs(high))


def _hull(*values: float) -> Interval:
    if any(math.isnan(value) for value in values):
        return EVERYTHING
    return _wider(min(values), max(values))


def _product(a: Interval, b: Interval) -> Interval:
    if a == (0.0, 0.0) or b == (0.0, 0.0):
        return Interval(0.0, 0.0)
    return _hull(a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high)


def _power(base: Interval, exponent: float) -> Interval:
    if exponent == 1.0:
        return base
    if exponent < 0.0 and base.low <= 0.0 <= base.high:
        return EVERYTHING
    if exponent == int(exponent):
        ends = _hull(base.low**exponent, base.high**exponent)
        return Interval(0.0, ends.high) if base.low < 0.0 < base.high and int(exponent) % 2 == 0 else ends
    # A root has no value below zero: what reaches there is cut off.
    return EVERYTHING if base.high < 0.0 else _hull(max(base.low, 0.0) ** exponent, base.high**exponent)


def _power_of(base: Interval, exponent: Interval) -> Interval:
    middle = 0.5 * (exponent.low + exponent.high)
    if exponent.high - exponent.low <= 4.0 * _ROUNDING * abs(middle) + 0.0:
        return _power(base, round(middle) if abs(middle - round(middle)) <= _ROUNDING * abs(middle) * 2 else middle)
    if base.low <= 0.0:
        return EVERYTHING
    return _hull(*(x**y for x in base for y in exponent))


def _rising(
    function: Callable[[float], float], low: float = -math.inf, high: float = math.inf
) -> Callable[..., Interval]:
    def enclose(x: Interval) -> Interval:
        return _hull(function(max(x.low, low)), function(min(x.high, high)))

    return enclose


def _sine(x: Interval) -> Interval:
    if not x.high - x.low < 2.0 * math.pi:
        return Interval(-1.0, 1.0)
    found = _hull(math.sin(x.low), math.sin(x.high))
    # A little further than the piece: the place of a crest is rounded too.
    room = 1e-15 * max(abs(x.low), abs(x.high), 1.0)

    def passes(crest: float) -> bool:
        turns = math.floor((x.high + room - crest) / (2.0 * math.pi))
        return crest + 2.0 * math.pi * turns >= x.low - room

    return Interval(
        -1.0 if passes(-0.5 * math.pi) else found.low - room, 1.0 if passes(0.5 * math.pi) else found.high + room
    )


def _cosine(x: Interval) -> Interval:
    return _sine(Interval(x.low + 0.5 * math.pi, x.high + 0.5 * math.pi))


def _absolute(x: Interval) -> Interval:
    least = 0.0 if x.low <= 0.0 <= x.high else min(abs(x.low), abs(x.high))
    return Interval(least, max(abs(x.low), abs(x.high)))


def _rounded(function: Callable[[float], float]) -> Callable[..., Interval]:
    return lambda x: Interval(*(function(end) if math.isfinite(end) else end for end in x))


def _either(_: Interval, one: Interval, two: Interval) -> Interval:
    return Interval(min(one.low, two.low), max(one.high, two.high))


_CALLS: Mapping[str, Callable[..., Interval]] = {
    "sin": _sine,
    "cos": _cosine,
    "exp": _rising(lambda x: math.inf if x > 709.0 else math.exp(x)),
    "log": lambda x: EVERYTHING if x.low <= 0.0 else _rising(math.log)(x),
    "sqrt": _rising(math.sqrt, low=0.0),
    "tanh": _rising(math.tanh),
    "atan": _rising(math.atan),
    "asin": _rising(math.asin, -1.0, 1.0),
    "sinh": _rising(math.sinh),
    "abs": _absolute,
    "sign": _rounded(lambda x: math.copysign(1.0, x) if x else 0.0),
    "floor": _rounded(math.floor),
    "ceil": _rounded(math.ceil),
    "min": lambda *all_of: Interval(min(x.low for x in all_of), min(x.high for x in all_of)),
    "max": lambda *all_of: Interval(max(x.low for x in all_of), max(x.high for x in all_of)),
    "if": _either,
}
