"""What formulas of one variable do between two bounds, found for certain: intervals that enclose all values (Moore 1966).

A formula whose enclosure over a piece leaves zero out has no zero there; one whose slope keeps its sign has at most one. Pieces are
halved until one of both holds. Samples, however many, would miss a pulse that is narrower than their distance. All pieces of one
size are looked at in one go.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tellegen.compiler.context import Array
from tellegen.expressions.nodes import Add, Call, Condition, Constant, Expression, Mul, Number, Pow, Symbol, postorder

Flags = NDArray[np.bool_]


class Bounds(NamedTuple):
    """All numbers from `low` to `high`, of many pieces at once."""

    low: Array
    high: Array


class Found(NamedTuple):
    """Places in order, and up to where they are all there are."""

    places: Array
    reached: float


MOST_PIECES: Final = 1 << 20
"""So many pieces of one size are looked at: a formula that swings more often in a run is followed up to there."""
FIRST_PIECES: Final = 64
NARROW: Final = 1e-11
"""Of the whole: in a piece so short a formula may touch zero, and is taken to."""
SAME: Final = 1e-14
_ROUNDING: Final = 4e-16
_STEPPING = ("floor", "ceil", "sign", "if", "abs", "min", "max")
_HALVINGS: Final = 120


@lru_cache(maxsize=8)
def zeros_of(formula: Expression, name: str, low: float, high: float, most: int = MOST_PIECES) -> Found:
    """The values of `name` between two bounds at which a formula of it alone vanishes or changes its sign."""
    # The slope of what steps says nothing about its steps.
    steps = any(isinstance(node, Call) and node.name in _STEPPING for node in postorder(formula))
    nodes, slopes = postorder(formula), None if steps else postorder(formula.derivative(name))
    waiting, reached, settled = _pieces(low, high), high, list[Array]()
    while len(waiting):
        piece = Bounds(waiting[:, 0], waiting[:, 1])
        values = enclosed(nodes, name, piece)
        passes = (values.low <= 0.0) & (values.high >= 0.0)
        waiting = waiting[passes]
        piece = Bounds(waiting[:, 0], waiting[:, 1])
        one = piece.high - piece.low <= NARROW * (high - low)
        if slopes is not None:
            rates = enclosed(slopes, name, piece)
            one = one | (rates.low > 0.0) | (rates.high < 0.0)
        settled.append(waiting[one])
        waiting = waiting[~one]
        if 2 * len(waiting) > most:
            # From left to right, so that what is found is whole up to the last piece.
            reached = min(reached, float(waiting[most // 2, 0]))
            waiting = waiting[: most // 2]
        waiting = _halved(waiting)
    found = np.concatenate(settled)
    found = found[np.argsort(found[:, 0])]
    places = _one_zero_each(formula, name, Bounds(found[:, 0], found[:, 1]), NARROW * (high - low))
    # A zero where two pieces meet belongs to both.
    fresh = np.diff(places, prepend=-math.inf) > SAME * (high - low)
    return Found(places[fresh & (places <= reached)], reached)


QUARTER: Final = 0.25
QUIET: Final = 1e-6
"""A piece is as fine as it need be where a formula moves by a quarter of its size; it rests where that is less than a
millionth of the largest."""
MOST_COURSE: Final = 1 << 14
RISE: Final = 0.1
LONG_REST: Final = 0.1
MOST_STOPS: Final = 40
"""A burst is followed in so many stops at most, each a tenth of its height from the one before."""


@lru_cache(maxsize=8)
def awakenings(formula: Expression, name: str, low: float, high: float) -> Array:
    """Where a formula of `name` alone begins to move after a rest, and some places on its way: a step might leap over all of it."""
    nodes, waiting, settled, size = postorder(formula), _pieces(low, high), list[Array](), 0.0
    while len(waiting):
        values = enclosed(nodes, name, Bounds(waiting[:, 0], waiting[:, 1]))
        here = _values(formula, name, waiting[:, 0])
        size = max(size, float(np.max(np.abs(here[np.isfinite(here)]), initial=0.0)))
        moves = values.high - values.low
        largest = np.maximum(np.abs(values.low), np.abs(values.high))
        fine = (moves <= np.maximum(QUARTER * largest, QUIET * size)) | (
            waiting[:, 1] - waiting[:, 0] <= NARROW * (high - low)
        )
        settled.append(np.column_stack([waiting, here, moves])[fine])
        waiting = waiting[~fine]
        # So many pieces move everywhere: no step leaps over that unseen.
        if 2 * len(waiting) > MOST_COURSE:
            settled.append(np.column_stack([waiting, here[~fine], np.full(len(waiting), math.inf)]))
            break
        waiting = _halved(waiting)
    pieces = np.concatenate(settled)
    pieces = pieces[np.argsort(pieces[:, 0])]
    return stops_of_bursts(pieces[:, 0], pieces[:, 2], pieces[:, 3] > QUIET * size)


TURN: Final = {"sin": 2 * math.pi, "cos": 2 * math.pi, "tan": math.pi, "floor": 1.0}
"""By how much the argument of a function grows in one of its periods."""


def frequencies(
    formula: Expression, values: Mapping[str, float], name: str, ends: tuple[float, float]
) -> Iterator[float]:
    """How often what turns with `name` does so, at both ends: a chirp is slowest at one and fastest at the other."""
    known = values.keys() | {name}
    for node in postorder(formula):
        if isinstance(node, Call) and node.name in TURN and name in node.free_symbols and node.free_symbols <= known:
            rate = node.arguments[0].derivative(name)
            for at in ends:
                try:
                    found = rate.evaluate({**values, name: at})
                except ArithmeticError:
                    continue
                if math.isfinite(found):
                    yield abs(found) / TURN[node.name]


def stops_of_bursts(times: Array, values: Array, moves: Flags) -> Array:
    """Stops for each burst after a long rest, of pieces in order: where they begin, the values there, and whether something moves
    in them.
    """
    moves = _without_pauses(times, moves)
    begins = np.flatnonzero(moves & ~np.concatenate([[False], moves[:-1]]))
    ends = np.flatnonzero(~moves[1:] & moves[:-1]) + 1
    found: list[float] = []
    for first in begins.tolist():
        behind = ends[ends > first]
        last = int(behind[0]) if len(behind) else len(times) - 1
        # What moves from the start to the end comes as no surprise.
        if first == 0 and not len(behind):
            continue
        burst = values[first : last + 1]
        height, before, stops = float(np.max(burst) - np.min(burst)), float(burst[0]), [float(times[first])]
        for t, value in zip(times[first : last + 1].tolist(), burst.tolist(), strict=True):
            if abs(value - before) >= RISE * height and len(stops) < MOST_STOPS:
                stops.append(t)
                before = value
        # Where it rests again, so that no step reaches from the last of its tail far into the rest.
        found += [*stops, float(times[last])]
    return np.array(sorted(set(found)))


def _without_pauses(times: Array, moves: Flags) -> Flags:
    """Where something moves, or rests for a short part only of the motions beside it: a sine rests where it passes zero."""
    filled, edges = moves.copy(), np.flatnonzero(np.diff(moves)) + 1
    at = times[[0, *edges.tolist(), len(times) - 1]]
    for k, (first, behind) in enumerate(pairwise(edges.tolist())):
        before, rest, after = np.diff(at[k : k + 4])
        filled[first:behind] |= rest <= LONG_REST * min(before, after)
    return filled


def _pieces(low: float, high: float) -> Array:
    ends = np.linspace(low, high, FIRST_PIECES + 1)
    return np.column_stack([ends[:-1], ends[1:]])


def _halved(pieces: Array) -> Array:
    middle = 0.5 * (pieces[:, 0] + pieces[:, 1])
    halves = np.empty((2 * len(pieces), 2))
    halves[0::2, 0], halves[0::2, 1], halves[1::2, 0], halves[1::2, 1] = pieces[:, 0], middle, middle, pieces[:, 1]
    return halves


# -- values at points ------------------------------------------------------------------------------------------------------------


def _one_zero_each(formula: Expression, name: str, pieces: Bounds, narrow: float) -> Array:
    """The zero in each piece: those without one are dropped, but for narrow ones, which touch zero."""
    low, high = pieces.low.copy(), pieces.high.copy()
    if not len(low):
        return low
    touching = high - low <= narrow
    left, right = _values(formula, name, low), _values(formula, name, high)
    unknown = ~np.isfinite(left) | ~np.isfinite(right)
    none = (left * right > 0.0) | unknown
    middles = 0.5 * (low + high)
    for _ in range(_HALVINGS):
        # As near as floats are to each other at the ends: about zero they never end.
        middle = 0.5 * (low + high)
        open_ = (high - low > 1e-16 * np.maximum(np.abs(low), np.abs(high))) & (low < middle) & (middle < high) & ~none
        if not open_.any():
            break
        here = _values(formula, name, middle[open_])
        sides = ((here > 0.0) == (right[open_] > 0.0)) & ((here < 0.0) == (right[open_] < 0.0))
        high[open_] = np.where(sides, middle[open_], high[open_])
        low[open_] = np.where(sides, low[open_], middle[open_])
    return np.where(none, middles, high)[~none | touching | unknown]


def _values(formula: Expression, name: str, at: Array) -> Array:
    """The values at many points; not a number where there is none."""
    with np.errstate(all="ignore"):
        try:
            found: dict[Expression, Any] = {}
            for node in postorder(formula):
                found[node] = _point(node, name, at, found)
            return np.broadcast_to(np.asarray(found[formula], dtype=float), at.shape)
        except KeyError:
            return np.array([_value_or_nan(formula, name, t) for t in at.tolist()])


def _value_or_nan(formula: Expression, name: str, t: float) -> float:
    try:
        return float(formula.evaluate({name: t}))
    except (ArithmeticError, ValueError):
        return math.nan


def _point(node: Expression, name: str, at: Array, known: Mapping[Expression, Any]) -> Any:
    if isinstance(node, Number | Constant):
        return float(node.value)
    if isinstance(node, Symbol):
        return at
    if isinstance(node, Add):
        return float(node.constant) + sum(known[term] * float(factor) for term, factor in node.terms)
    if isinstance(node, Mul):
        whole: Any = float(node.coefficient)
        for base, exponent in node.factors:
            whole = whole * (known[base] if exponent == 1 else np.power(known[base], float(exponent)))
        return whole
    if isinstance(node, Pow):
        return np.power(known[node.base], known[node.exponent])
    # What is not here, such as conditions, has values point by point.
    return _POINTS[node.name if isinstance(node, Call) else ""](*(known[argument] for argument in node.args))


_POINTS: Mapping[str, Callable[..., Any]] = {
    **{word: getattr(np, word) for word in ("sin", "cos", "tan", "exp", "log", "sqrt", "tanh", "sinh", "cosh")},
    **{word: getattr(np, word) for word in ("abs", "sign", "floor", "ceil", "hypot")},
    "atan": np.arctan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "min": lambda *all_of: np.minimum.reduce(np.broadcast_arrays(*all_of)),
    "max": lambda *all_of: np.maximum.reduce(np.broadcast_arrays(*all_of)),
}


# -- enclosures ------------------------------------------------------------------------------------------------------------------


def enclosed(nodes: Sequence[Expression], name: str, at: Bounds) -> Bounds:
    """Bounds of all values of the last of the nodes in each piece; each node stands behind those it is made of."""
    found: dict[Expression, Bounds] = {}
    with np.errstate(all="ignore"):
        for node in nodes:
            value = _everything(at) if isinstance(node, Condition) else _value(node, name, at, found)
            # What has no value somewhere may be anything.
            sound = value.low <= value.high
            found[node] = Bounds(np.where(sound, value.low, -math.inf), np.where(sound, value.high, math.inf))
    return found[nodes[-1]]


def _everything(at: Bounds) -> Bounds:
    return _constant(at, -math.inf, math.inf)


def _constant(at: Bounds, low: float, high: float) -> Bounds:
    return Bounds(np.full(len(at.low), low), np.full(len(at.low), high))


def _value(node: Expression, name: str, at: Bounds, known: Mapping[Expression, Bounds]) -> Bounds:
    if isinstance(node, Number | Constant):
        return _wider(*_constant(at, float(node.value), float(node.value)))
    if isinstance(node, Symbol):
        return at if node.name == name else _everything(at)
    if isinstance(node, Add):
        total = _constant(at, float(node.constant), float(node.constant))
        for term, factor in node.terms:
            part = _product(known[term], _constant(at, float(factor), float(factor)))
            total = _wider(total.low + part.low, total.high + part.high)
        return total
    if isinstance(node, Mul):
        whole = _wider(*_constant(at, float(node.coefficient), float(node.coefficient)))
        for base, exponent in node.factors:
            whole = _product(whole, _power(known[base], float(exponent)))
        return whole
    if isinstance(node, Pow):
        return _power_of(known[node.base], known[node.exponent])
    assert isinstance(node, Call)
    enclose = _CALLS.get(node.name)
    return _everything(at) if enclose is None else enclose(*(known[argument] for argument in node.arguments))


def _wider(low: Array, high: Array) -> Bounds:
    """With room for what rounding may have taken."""
    return Bounds(low - _ROUNDING * np.abs(low), high + _ROUNDING * np.abs(high))


def _hull(*values: Array) -> Bounds:
    # Not a number in one of them stays so, and is anything then.
    return _wider(np.minimum.reduce(values), np.maximum.reduce(values))


def _product(a: Bounds, b: Bounds) -> Bounds:
    found = _hull(a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high)
    nothing = ((a.low == 0.0) & (a.high == 0.0)) | ((b.low == 0.0) & (b.high == 0.0))
    return Bounds(np.where(nothing, 0.0, found.low), np.where(nothing, 0.0, found.high))


def _power(base: Bounds, exponent: float) -> Bounds:
    if exponent == 1.0:
        return base
    spans = (base.low <= 0.0) & (base.high >= 0.0)
    if exponent == int(exponent):
        ends = _hull(base.low**exponent, base.high**exponent)
        low = np.where(spans, 0.0, ends.low) if int(exponent) % 2 == 0 else ends.low
        open_ = spans if exponent < 0.0 else np.zeros_like(spans)
        return Bounds(np.where(open_, -math.inf, low), np.where(open_, math.inf, ends.high))
    # A root has no value below zero: what reaches there is cut off.
    ends = _hull(np.maximum(base.low, 0.0) ** exponent, base.high**exponent)
    open_ = spans & (exponent < 0.0) | (base.high < 0.0)
    return Bounds(np.where(open_, -math.inf, ends.low), np.where(open_, math.inf, ends.high))


def _power_of(base: Bounds, exponent: Bounds) -> Bounds:
    middle = 0.5 * (exponent.low + exponent.high)
    first = float(middle[0]) if len(middle) else 1.0
    if np.all(exponent.high - exponent.low <= 4.0 * _ROUNDING * np.abs(middle)) and np.all(middle == first):
        near = abs(first - round(first)) <= 2.0 * _ROUNDING * abs(first)
        return _power(base, float(round(first)) if near else first)
    found = _hull(*(x**y for x in base for y in exponent))
    open_ = base.low <= 0.0
    return Bounds(np.where(open_, -math.inf, found.low), np.where(open_, math.inf, found.high))


def _rising(x: Bounds, function: Callable[[Array], Array], low: float = -math.inf, high: float = math.inf) -> Bounds:
    return _hull(function(np.maximum(x.low, low)), function(np.minimum(x.high, high)))


def _sine(x: Bounds) -> Bounds:
    found = _hull(np.sin(x.low), np.sin(x.high))
    # A little further than the piece: the place of a crest is rounded too.
    room = 1e-15 * np.maximum(np.maximum(np.abs(x.low), np.abs(x.high)), 1.0)

    def passes(crest: float) -> Flags:
        turns = np.floor((x.high + room - crest) / (2.0 * math.pi))
        return np.asarray(crest + 2.0 * math.pi * turns >= x.low - room)

    wide = ~(x.high - x.low < 2.0 * math.pi)
    low = np.where(wide | passes(-0.5 * math.pi), -1.0, found.low - room)
    return Bounds(low, np.where(wide | passes(0.5 * math.pi), 1.0, found.high + room))


def _cosine(x: Bounds) -> Bounds:
    return _sine(Bounds(x.low + 0.5 * math.pi, x.high + 0.5 * math.pi))


def _hyperbolic_cosine(x: Bounds) -> Bounds:
    size = _absolute(x)
    return _hull(np.cosh(size.low), np.cosh(size.high))


def _absolute(x: Bounds) -> Bounds:
    ends = np.abs(x.low), np.abs(x.high)
    spans = (x.low <= 0.0) & (x.high >= 0.0)
    return Bounds(np.where(spans, 0.0, np.minimum(*ends)), np.maximum(*ends))


def _logarithm(x: Bounds) -> Bounds:
    found = _rising(x, np.log)
    open_ = x.low <= 0.0
    return Bounds(np.where(open_, -math.inf, found.low), np.where(open_, math.inf, found.high))


def _each_end(x: Bounds, function: Callable[[Array], Array]) -> Bounds:
    return Bounds(function(x.low), function(x.high))


def _least(*all_of: Bounds) -> Bounds:
    return Bounds(np.minimum.reduce([x.low for x in all_of]), np.minimum.reduce([x.high for x in all_of]))


def _most(*all_of: Bounds) -> Bounds:
    return Bounds(np.maximum.reduce([x.low for x in all_of]), np.maximum.reduce([x.high for x in all_of]))


def _either(_: Bounds, one: Bounds, two: Bounds) -> Bounds:
    return Bounds(np.minimum(one.low, two.low), np.maximum(one.high, two.high))


_CALLS: Mapping[str, Callable[..., Bounds]] = {
    "sin": _sine,
    "cos": _cosine,
    "exp": partial(_rising, function=np.exp),
    "log": _logarithm,
    "sqrt": partial(_rising, function=np.sqrt, low=0.0),
    "tanh": partial(_rising, function=np.tanh),
    "atan": partial(_rising, function=np.arctan),
    "asin": partial(_rising, function=np.arcsin, low=-1.0, high=1.0),
    "sinh": partial(_rising, function=np.sinh),
    "cosh": _hyperbolic_cosine,
    "abs": _absolute,
    "sign": partial(_each_end, function=np.sign),
    "floor": partial(_each_end, function=np.floor),
    "ceil": partial(_each_end, function=np.ceil),
    "min": _least,
    "max": _most,
    "if": _either,
}
