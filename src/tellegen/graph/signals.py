"""Signals once lowered: causal, without power. Every controller, sensor, reference and table is made of these six; and where
formulas of time jump or bend.

Expressions are over power variables of ports, states, displacements, other signals, parameters and TIME. A signal that is a share
of what its author wrote in fewer words, a controller or a shape, keeps that as its `definition`, for those who print it.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, islice, pairwise, product
from typing import Literal, final

from tellegen.core.errors import Place
from tellegen.core.names import TIME
from tellegen.expressions import (
    PI,
    ZERO,
    Call,
    Expression,
    Relation,
    call,
    is_zero,
    number,
    postorder,
    rebuild,
    replaced,
    symbol,
)
from tellegen.expressions.nodes import Mul, Pow
from tellegen.model.signals import SignalDefinition

Interpolation = Literal["linear", "previous", "cubic"]


@final
@dataclass(frozen=True, slots=True)
class Break:
    """A time at which a signal jumps or bends, known beforehand; with `period`, every such time before and after it too."""

    at: Expression
    period: Expression | None = None


@final
@dataclass(frozen=True, slots=True)
class Value:
    """A signal that is a function of others at the same time.

    `named` says that it is a power variable to which the author gave its name; `between` which elements of a ladder it lies.
    """

    name: str
    expression: Expression
    breaks: tuple[Break, ...] = ()
    place: Place | None = None
    unit: str = ""
    named: bool = False
    between: tuple[str, str] | None = None
    definition: SignalDefinition | None = field(default=None, compare=False)


@final
@dataclass(frozen=True, slots=True)
class Integral:
    """A signal with a rate: a state of its own, such as the integral part of a controller."""

    name: str
    rate: Expression
    initial: Expression
    place: Place | None = None
    unit: str = ""
    definition: SignalDefinition | None = field(default=None, compare=False)


@final
@dataclass(frozen=True, slots=True)
class Sampled:
    """A signal that takes the value of `expression` at offset, offset + period, ... and holds it in between.

    All signals sampled at one instant read the values from before it. A latch has the period zero: it takes the value as
    soon as that is another than what it holds, all latches of an instant together, and again until none changes.
    """

    name: str
    expression: Expression
    period: Expression
    offset: Expression
    initial: Expression
    place: Place | None = None
    unit: str = ""
    definition: SignalDefinition | None = field(default=None, compare=False)

    @property
    def is_latch(self) -> bool:
        """Whether events decide, and no clock."""
        return self.period is ZERO


@final
@dataclass(frozen=True, slots=True)
class Delayed:
    """A signal that repeats `expression` a constant time later; `initial` before that time has passed."""

    name: str
    expression: Expression
    by: Expression
    initial: Expression
    place: Place | None = None
    unit: str = ""
    definition: SignalDefinition | None = field(default=None, compare=False)


@final
@dataclass(frozen=True, slots=True)
class Table:
    """A signal read from points, in SI units, at the value of `argument`; beyond the points the last value holds."""

    name: str
    argument: Expression
    points: tuple[float, ...]
    values: tuple[float, ...]
    interpolation: Interpolation = "linear"
    place: Place | None = None
    unit: str = ""
    definition: SignalDefinition | None = field(default=None, compare=False)


@final
@dataclass(frozen=True, slots=True)
class External:
    """A signal computed by a Python function of the arguments: the slow path, never made from a file.

    `breaks` are the times at which it jumps or bends, or begins to move after a rest.
    """

    name: str
    arguments: tuple[Expression, ...]
    function: Callable[..., float]
    place: Place | None = None
    unit: str = ""
    breaks: tuple[Break, ...] = ()
    definition: SignalDefinition | None = field(default=None, compare=False)


SignalLaw = Value | Integral | Sampled | Delayed | Table | External


def expressions_of(law: SignalLaw) -> tuple[Expression, ...]:
    """The formulas of variables in a signal."""
    if isinstance(law, Integral):
        return (law.rate,)
    if isinstance(law, Table):
        return (law.argument,)
    return law.arguments if isinstance(law, External) else (law.expression,)


MOST_CASES = 16
"""So many combinations of branches are looked at in one comparison; what is nested deeper bends without notice."""

MOST_TABLE_STOPS = 1000
"""At so many points of a table solvers stop without asking how much it bends there."""
UNSEEN = 1e-8
"""Of the area by which a table moves: what a step may leap over between two stops of a longer one."""

_ROUNDED = ("floor", "ceil")


def breaks_of(expression: Expression, parameters: Collection[str]) -> tuple[Break, ...]:
    """The times, known beforehand, at which an expression jumps or bends, in order of their discovery.

    Times depend on numbers and parameters alone: where a state decides, an event is needed instead.
    """
    # Nothing else is known beforehand: where a state decides, an event has to be found on the way.
    if TIME not in expression.free_symbols:
        return ()
    found: dict[tuple[Expression, Expression | None], Break] = {}
    for difference in _switching(expression):
        known = _break_of(difference)
        # A time that needs anything but parameters is not known before the run.
        if known is not None and _names(known) <= set(parameters):
            found.setdefault((known.at, known.period), known)
    return tuple(found.values())


def stops_of_table(law: Table) -> tuple[float, ...]:
    """The arguments at which a table jumps or bends so that a step must end there.

    Those are all points that do not lie on the line through the two beside them. Of a long table, such as a dense measurement,
    points are left out as long as what the table adds to the line on which it left the last stop stays a tiny share of all that
    it moves by: no step can leap over more than that, and between its ends it sees the others as it sees any smooth course.
    One that is joined smoothly stops steps only where it begins to bend otherwise than before: so does a pulse, several times.
    """
    pieces = [(low, high, f, g) for (low, f), (high, g) in pairwise(zip(law.points, law.values, strict=True))]
    held = law.interpolation == "previous"
    slopes = [0.0 if held or high == low else (g - f) / (high - low) for low, high, f, g in pieces]
    # Beyond the points the last value holds.
    before, after = [0.0, *slopes], [*slopes, 0.0]
    jumps = [(held and f != g) or low == high for low, high, f, g in pieces]
    bends = [one != two for one, two in zip(before, after, strict=True)]
    moves = [bends[0], *(bend or jump for bend, jump in zip(bends[1:], jumps, strict=True))]
    if sum(moves) <= MOST_TABLE_STOPS:
        return tuple(dict.fromkeys(x for x, move in zip(law.points, moves, strict=True) if move))
    middle = sorted(law.values)[len(law.values) // 2]
    allowed = UNSEEN * sum((high - low) * (abs(f - middle) + abs(g - middle)) / 2 for low, high, f, g in pieces)
    turns = _turns(law.points, slopes) if law.interpolation == "cubic" else [True] * len(pieces)
    found, area, line, slope = [law.points[0]], 0.0, law.values[0], slopes[0]
    for k, (low, high, f, g) in enumerate(pieces):
        last = found[-1]
        ends = (f, f) if held else (f, g)
        off = (abs(ends[0] - line - slope * (low - last)), abs(ends[1] - line - slope * (high - last)))
        area += (high - low) * (off[0] + off[1]) / 2
        # What is too much after this piece began at its start.
        if area > allowed and low > last and turns[k]:
            found.append(low)
            area, line, slope = 0.0, f, slopes[k]
    return (*found, law.points[-1])


def _turns(points: Sequence[float], slopes: Sequence[float]) -> list[bool]:
    """Whether a smooth course bends at the first point of each piece otherwise than at the point before: by more than half."""
    widths = [high - low for low, high in pairwise(points)]
    bends = [
        (two - one) / (w + v or 1.0) for (one, two), (w, v) in zip(pairwise(slopes), pairwise(widths), strict=True)
    ]
    known = [0.0, 0.0, *bends]  # there is nothing to bend before the first two points
    return [True, *(abs(now - old) > 0.5 * max(abs(now), abs(old)) for old, now in pairwise(known[1:]))]


def breaks_of_table(
    law: Table, argument: Expression, parameters: Collection[str]
) -> tuple[tuple[Break, ...], tuple[Expression, ...]]:
    """The times at which a table of time jumps or bends; and what vanishes at those of which no formula gives the time.

    `argument` is that of the table, with what it reads of time written out.
    """
    if TIME not in argument.free_symbols or not argument.free_symbols <= {TIME, *parameters}:
        return (), ()
    breaks, crossings = dict[Break, None](), dict[Expression, None]()
    stops = tuple(number(stop) for stop in stops_of_table(law))
    for case in _cases(argument):
        if TIME not in case.free_symbols:
            continue
        known = _break_of(case)
        if known is None or not _names(known) <= set(parameters):
            crossings |= dict.fromkeys(case - stop for stop in stops)
            continue
        if known.period is None:
            # How far one more of the argument is from its zero is known, too: a thousand points cost a thousand sums.
            later = 1 / case.derivative(TIME)
            breaks |= dict.fromkeys(Break(known.at + stop * later) for stop in stops)
        else:
            breaks |= {again: None for stop in stops if (again := _break_of(case - stop)) is not None}
    return tuple(breaks), tuple(crossings)


def crossings_of(expression: Expression, parameters: Collection[str]) -> tuple[Expression, ...]:
    """What vanishes where an expression of time jumps or bends, of which no formula gives the times: they have to be looked for.

    Only time and parameters are in it: where a state decides, an event is needed instead.
    """
    if TIME not in expression.free_symbols:
        return ()
    found: dict[Expression, None] = {}
    for difference in _switching(expression):
        if TIME not in difference.free_symbols or not difference.free_symbols <= {TIME, *parameters}:
            continue
        known = _break_of(difference)
        if known is None or not _names(known) <= set(parameters):
            rounded = isinstance(difference, Call) and difference.name in _ROUNDED
            # What is rounded jumps where it passes a whole number, which a sine of it shows.
            found[call("sin", PI * difference.args[0]) if rounded else difference] = None
    return tuple(found)


def courses_of(expression: Expression, parameters: Collection[str]) -> tuple[Expression, ...]:
    """The largest parts of an expression that time and parameters alone decide, and that may rest for long and then move.

    A sum of sines and ramps never rests; powers and functions of them may.
    """
    if TIME not in expression.free_symbols:
        return ()
    known, found = {TIME, *parameters}, dict[Expression, None]()
    waiting = [expression]
    while waiting:
        part = waiting.pop()
        if TIME not in part.free_symbols or isinstance(part, Relation):
            continue
        if not part.free_symbols <= known:
            waiting += part.args
        elif _may_rest(part):
            found[part] = None
    return tuple(found)


def _may_rest(course: Expression) -> bool:
    for node in postorder(course):
        moving = [arg for arg in node.args if TIME in arg.free_symbols]
        if isinstance(node, Call) and node.name in ("if", "min", "max", "floor", "ceil", "sign", "abs"):
            continue
        if isinstance(node, Call) and moving and not (node.name in ("sin", "cos") and _slope(moving[0]) is not None):
            return True
        if isinstance(node, Pow) and moving:
            return True
        if isinstance(node, Mul):
            factors = [exponent for base, exponent in node.factors if TIME in base.free_symbols]
            if len(factors) > 1 or any(exponent != 1 for exponent in factors):
                return True
    return False


def _names(known: Break) -> set[str]:
    period = known.period.free_symbols if known.period is not None else frozenset()
    return {*known.at.free_symbols, *period}


def _switching(expression: Expression) -> Iterator[Expression]:
    """What changes its sign, or passes a whole number, where the expression switches."""
    for node in postorder(expression):
        if isinstance(node, Relation):
            yield from _cases(node.left - node.right)
        elif isinstance(node, Call) and node.name in ("min", "max"):
            for one, two in combinations(node.arguments, 2):
                yield from _cases(one - two)
        elif isinstance(node, Call) and node.name in ("abs", "sign"):
            yield from _cases(node.arguments[0])
        elif isinstance(node, Call) and node.name in _ROUNDED:
            # Floor and ceil jump where their argument passes a whole number.
            yield node


def _cases(expression: Expression) -> Iterable[Expression]:
    """The expression with each minimum, maximum and condition inside replaced by one of its branches."""
    # A comparison such as t < if(a, 1, 2) switches at different times in each case, so every branch is looked at.
    made: dict[Expression, list[Expression]] = {}
    for node in postorder(expression):
        branches: list[Expression] = []
        if isinstance(node, Call) and node.name in ("min", "max", "if"):
            # The condition of an `if` is no value; it is a comparison of its own, and looked at as such.
            first = 1 if node.name == "if" else 0
            branches = [case for arg in node.arguments[first:] for case in made[arg]]
        elif isinstance(node, Relation) or not node.args:
            branches = [node]
        else:
            branches = [rebuild(node, args) for args in product(*(made[arg] for arg in node.args))]
        made[node] = list(islice(dict.fromkeys(branches), MOST_CASES))
    return made[expression]


def _break_of(difference: Expression) -> Break | None:
    """Where a difference vanishes: once if it is linear in time, again and again with a rounding of time in it."""
    if isinstance(difference, Call) and difference.name in _ROUNDED:
        slope = _slope(difference.arguments[0])
        if slope is None:
            return None
        return Break(-difference.arguments[0].substitute({TIME: 0}) / slope, call("abs", 1 / slope))
    # Periodic signals are written with floor: t - T floor(t/T) is a saw.
    rounded = [node for node in postorder(difference) if isinstance(node, Call) and node.name in _ROUNDED]
    if not rounded:
        slope = _slope(difference)
        return None if slope is None else Break(-difference.substitute({TIME: 0}) / slope)
    return _periodic(difference, rounded)


def _periodic(difference: Expression, rounded: list[Call]) -> Break | None:
    """a t + b + c floor(p t + q) repeats itself when a/p + c = 0; the zero of its first period is then one of many."""
    if len(set(rounded)) != 1:
        return None
    rate = _slope(rounded[0].arguments[0])
    # As a name of its own the rounding can be differentiated by, as if it were constant between its jumps.
    name = "@rounded"
    plain = replaced(difference, rounded[0], symbol(name))
    slope, share = plain.derivative(TIME), plain.derivative(name)
    if rate is None or slope is ZERO or {TIME, name} & {*slope.free_symbols, *share.free_symbols}:
        return None
    # Over one period t grows by 1/rate and the rounding by one: only where both shares cancel does the difference
    # repeat.
    if not is_zero(slope / rate + share):
        return None
    return Break(-plain.substitute({TIME: 0, name: 0}) / slope, call("abs", 1 / rate))


def _slope(expression: Expression) -> Expression | None:
    """The rate of an expression that is linear in time, else None."""
    slope = expression.derivative(TIME)
    # is_zero sees a slope that vanishes without being written so; dividing by it would put the break at infinity.
    if slope is ZERO or TIME in slope.free_symbols or is_zero(slope):
        return None
    return slope
