"""What inputs do over time: `step(24)`, `sine(10, 50)`, a text as in a model file, a formula, a Python function."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from tellegen.compiler.enclosures import stops_of_bursts
from tellegen.core.domains import DOMAINS
from tellegen.core.errors import Finding, Place
from tellegen.core.names import TIME, did_you_mean, listing, unused
from tellegen.core.units import Dimension, parse_unit
from tellegen.experiments import rules
from tellegen.experiments.quantities import Quantity, expression_of, refuse_scale
from tellegen.expressions import Expression, number, symbol
from tellegen.graph import PowerGraph, SourceLaw
from tellegen.graph.signal_lowering import taken_names
from tellegen.graph.signals import Break, External, Interpolation, Table
from tellegen.model import dimensions
from tellegen.model.signals import Signal
from tellegen.notations.quantities import parse_marked, read_plain
from tellegen.notations.signals.formulas import MOST_POINTS, NOT_UNITS, SHAPE_MACROS, SHAPES, angular_frequency

InputSignal = Signal | Expression | Quantity | Callable[[float], float]
"""What an input may be given: a shape, a formula, a constant, or a Python function of time (slow)."""

# Shapes


def step(height: Quantity, start: Quantity = 0.0) -> Signal:
    """Zero, then `height` from `start` on."""
    return _shape("step", height, start)


def ramp(slope: Quantity, start: Quantity = 0.0, end: Quantity | None = None) -> Signal:
    """Rises with `slope` from `start` on, and stays where it is from `end` on."""
    return _shape("ramp", slope, start, end)


def sine(amplitude: Quantity, frequency: Quantity, phase: Quantity = 0.0, offset: Quantity = 0.0) -> Signal:
    """`offset + amplitude*sin(2*pi*frequency*t + phase)`; the frequency is in Hz."""
    return _shape("sine", amplitude, frequency, phase, offset)


def pulse(height: Quantity, start: Quantity, width: Quantity, period: Quantity | None = None) -> Signal:
    """`height` from `start` on for the time `width`, then zero; again after each `period`."""
    return _shape("pulse", height, start, width, period)


def chirp(amplitude: Quantity, first: Quantity, last: Quantity, over: Quantity, start: Quantity = 0.0) -> Signal:
    """A sine whose frequency goes steadily from `first` to `last` (Hz) over a time, from `start` on, then stays."""
    return _shape("chirp", amplitude, first, last, over, start)


def trapezoid(
    height: Quantity,
    start: Quantity,
    rise: Quantity,
    hold: Quantity,
    fall: Quantity | None = None,
    period: Quantity | None = None,
) -> Signal:
    """Zero until `start`, up to `height` in the time `rise`, there for the time `hold`, back in the time `fall` (as `rise`)."""
    given = (height, start, rise, hold, rise if fall is None and period is not None else fall, period)
    return _shape("trapezoid", *given)


def quintic(first: Quantity, last: Quantity, begin: Quantity, end: Quantity) -> Signal:
    """From `first` to `last` between two times, at rest and without acceleration at both ends."""
    return _shape("quintic", first, last, begin, end)


def table(times: Sequence[Quantity], values: Sequence[Quantity]) -> Signal:
    """Straight lines between points; a time given twice is a jump. Before the first and after the last the value holds."""
    if len(times) != len(values) or len(times) < 2:
        what = f"a table has {len(times)} times and {len(values)} values"
        raise rules.BAD_COURSE.error(what, fix="give as many values as times, at least two")
    return _shape("table", *(entry for point in zip(times, values, strict=True) for entry in point))


SMOOTH_TABLE = "smooth table"
"""The shape of a table whose points are joined smoothly: no point of it is a stop."""


def smooth_table(times: Sequence[float], values: Sequence[float]) -> Signal:
    """A monotonic cubic between points, for dense measured data: it bends less between them than straight lines."""
    given = tuple(number(float(entry)) for point in zip(times, values, strict=True) for entry in point)
    return Signal(SMOOTH_TABLE, given, SMOOTH_TABLE)


@final
@dataclass(frozen=True)
class Course:
    """A Python function of time, with the times at which it jumps or bends, or begins to move after a rest."""

    function: Callable[[float], float]
    breaks: tuple[float, ...]

    def __call__(self, t: float) -> float:
        """Its value."""
        return self.function(t)


def course(function: Callable[[float], float], breaks: Iterable[float] = ()) -> Course:
    """A Python function of time for an input: solvers stop at its `breaks`, the times in s at which it jumps or bends.

    A function without them is looked at ten thousand times before the run, and what changes faster is missed.
    """
    try:
        times = tuple(sorted(float(t) for t in breaks))
    except (TypeError, ValueError):
        raise rules.BAD_COURSE.error("the breaks of a course are not numbers", fix="give them in s: [0.5, 2]") from None
    if not all(map(math.isfinite, times)):
        raise rules.BAD_COURSE.error("a break of a course is not finite", fix="give times of the run, in s")
    return Course(function, times)


def _shape(name: str, *arguments: Quantity | None) -> Signal:
    given = list(arguments)
    # Shapes have optional arguments at their end alone.
    while given and given[-1] is None:
        given.pop()
    expressions = tuple(expression_of(value, None, f"an argument of {name}") for value in given)
    text = f"{name}({', '.join(str(value) for value in given)})"
    # A formula of a thousand branches would be compiled into every program; the graph has tables of its own.
    if name == "table" and len(given) > 2 * MOST_POINTS:
        return Signal(name, expressions, text)
    return Signal(name, expressions, text, SHAPES[name].build(*expressions))


# Inputs of a model


def with_input_signals(
    graph: PowerGraph, courses: Mapping[str, InputSignal], until: float = 0.0
) -> tuple[PowerGraph, dict[str, Signal | Expression | float]]:
    """The graph with the tables and Python functions among the courses as signals, and the courses as `drive` takes them.

    Functions that do not tell their breaks are looked at from zero `until` a time.

    Raises: SimulationError (S304, S303) for a course that cannot be used; DescriptionError for a text that cannot be read.
    """
    ports = {port.law.input: port for port in graph.ports if isinstance(port.law, SourceLaw)}
    found: dict[str, Signal | Expression | float] = {}
    for name, course in courses.items():
        port = ports.get(name)
        # A name that is no input is refused later, by `drive`, with all that there are.
        unit = None if port is None else parse_unit(DOMAINS[port.domain].power(port.law.side).unit).dimension
        if port is not None and port.law.side == "across" and DOMAINS[port.domain].heat_books:
            refuse_scale(course.text if isinstance(course, Signal) else course, f"the input {name}")
        if isinstance(course, Signal) and course.expression is None:
            graph, found[name] = _with_table(graph, name, course)
        elif isinstance(course, Signal):
            found[name] = _checked_shape(course, unit, name, graph)
        elif isinstance(course, str):
            found[name] = _formula(course, unit, name, graph)
        elif isinstance(course, Expression):
            found[name] = course
        elif callable(course):
            graph, found[name] = _with_function(graph, name, course, until)
        else:
            found[name] = expression_of(course, unit, f"the input {name}")
        if TIME in graph.parameters and _moves(found[name]):
            what = f"the input {name} depends on time, and a parameter is named '{TIME}', like the time"
            raise rules.BAD_COURSE.error(what, fix="rename the parameter")
    return graph, found


def _moves(course: Signal | Expression | float) -> bool:
    """Whether a course reads the time, or a table or a function that does."""
    told = course.expression if isinstance(course, Signal) else course
    return isinstance(told, Expression) and bool(told.free_symbols)


def _formula(text: str, unit: Dimension | None, name: str, graph: PowerGraph) -> Expression:
    place = Place("<input>", 1, 1, text)
    # sine(1, 50 rad/s) would be taken for 50 Hz, which is off by 2 pi and looks right.
    angular = angular_frequency(text)
    if angular is not None:
        what = f"the frequency of {name} is given as an angular velocity: '{angular.text.strip()}'"
        raise rules.BAD_COURSE.error(what, fix="give it in Hz; divide rad/s by 2*pi")
    plain = read_plain(text)
    if plain is not None:
        return expression_of(text, unit, f"the input {name}")
    marked = parse_marked(text, place, macros=SHAPE_MACROS, names=NOT_UNITS)
    known = taken_names(graph) | {TIME}
    unknown = [word for word in dimensions.user_names(marked) if word not in known]
    if unknown:
        fix = did_you_mean(unknown[0], known) or f"some that are known: {listing(sorted(filter(None, known)), 12)}"
        raise rules.BAD_COURSE.error(f"the input {name} uses '{unknown[0]}', which is nothing in the model", fix=fix)
    _check_unit(marked, unit, name)
    return dimensions.without_marks(marked)


def _checked_shape(course: Signal, unit: Dimension | None, name: str, graph: PowerGraph) -> Signal:
    """A shape built in Python may hold texts with units, which are checked against the input now that it is known."""
    if any(letter.isalpha() for letter in course.text.partition("(")[2]) and course.shape in SHAPES:
        return replace(course, expression=_formula(course.text, unit, name, graph))
    return course


def _check_unit(marked: Expression, unit: Dimension | None, name: str) -> None:
    def measure(word: str) -> dimensions.Measure:
        return Dimension(s=1) if word == TIME else dimensions.NoDimension.UNKNOWN

    try:
        found = dimensions.measure_of(marked, measure)
    except dimensions.DimensionError as problem:
        raise rules.BAD_COURSE.error(f"the input {name} {problem.what}", fix="check the units of its parts") from None
    # A plain number is in the unit of the input.
    if unit is not None and isinstance(found, Dimension) and any(found) and found != unit:
        what = f"the input {name} is in {dimensions.dimension_in_words(found)}, not in {dimensions.dimension_in_words(unit)}"
        raise rules.BAD_COURSE.error(what, fix=f"give it in {dimensions.dimension_in_words(unit)}")


def _with_table(graph: PowerGraph, name: str, course: Signal) -> tuple[PowerGraph, Expression]:
    numbers = tuple(e.evaluate({}) for e in course.arguments)
    times, values = numbers[::2], numbers[1::2]
    if any(b < a for a, b in pairwise(times)):
        raise rules.BAD_COURSE.error(f"the times of the table of {name} go back", fix="sort the points by time")
    how: Interpolation = "cubic" if course.shape == SMOOTH_TABLE else "linear"
    signal = Table(unused(f"{name}_table", taken_names(graph)), symbol(TIME), times, values, how)
    return replace(graph, signals=(*graph.signals, signal)), symbol(signal.name)


def _with_function(
    graph: PowerGraph, name: str, function: Callable[[float], float], until: float
) -> tuple[PowerGraph, Expression]:
    try:
        # Tried before the run: an error in the first step would come out of compiled code.
        first: Any = function(0.0)
        float(first)
    except Exception as reason:
        what = f"the Python function of the input {name} gives no number at t = 0: {reason}"
        raise rules.BAD_COURSE.error(what, fix="let it take the time in s and give a number") from reason
    watched = WatchedFunction(name, function)
    times = function.breaks if isinstance(function, Course) else breaks_seen(watched, until).tolist()
    label = unused(f"{name}_function", taken_names(graph))
    signal = External(label, (symbol(TIME),), watched, breaks=tuple(Break(number(t)) for t in times))
    return replace(graph, signals=(*graph.signals, signal)), symbol(signal.name)


LOOKS = 10_000
"""So often a Python function is looked at, evenly over a run."""
STEEP = 0.5
"""A step between two looks is a jump where most of it is in one half, again and again."""
SEEN = 1e-6
"""Of the largest value: what moves by less rests."""


def breaks_seen(function: Callable[[float], float], until: float) -> NDArray[np.float64]:
    """Where a function jumps, or begins to move after a rest, as far as looks at even times show."""
    if not 0.0 < until < math.inf:
        return np.zeros(0)
    times = np.linspace(0.0, until, LOOKS + 1)
    values = np.nan_to_num(np.array([function(t) for t in times.tolist()]))
    steps = np.abs(np.diff(values))
    moves = steps > SEEN * np.max(np.abs(values))
    if not moves.any():
        return np.zeros(0)
    pieces = stops_of_bursts(times[:-1], values[:-1], moves)
    # Beside a step that is far larger than those next to it there may be a jump; few of them are.
    around = np.maximum(np.append(steps[1:], 0.0), np.insert(steps[:-1], 0, 0.0))
    steep = np.flatnonzero(moves & (steps > around / STEEP))
    jumps = [_jump(function, times[k], times[k + 1]) for k in steep[:LOOKS].tolist()]
    return np.unique([*pieces.tolist(), *(t for t in jumps if t is not None)])


def _jump(function: Callable[[float], float], low: float, high: float) -> float | None:
    """The time of the jump between two times; None where the function only rises."""
    left, right = function(low), function(high)
    whole = abs(right - left)
    while high - low > 1e-15 * abs(high) and low < (middle := 0.5 * (low + high)) < high:
        value = function(middle)
        if abs(value - left) > abs(right - value):
            high, right = middle, value
        else:
            low, left = middle, value
    return high if abs(right - left) > STEEP * whole else None


def blind_spots(graph: PowerGraph, until: float) -> Iterator[Finding]:
    """Notices about Python functions that do not tell their breaks: how short a pulse is missed."""
    for signal in graph.signals:
        if not (isinstance(signal, External) and isinstance(signal.function, WatchedFunction)):
            continue
        name, given = signal.function.name, signal.function.function
        if not isinstance(given, Course):
            what = f"the Python function of the input {name} was looked at every {until / LOOKS:.3g} s: shorter pulses are missed"
            fix = f"tell where it jumps and bends: tellegen.course(function, breaks=[...]) for {name}"
            yield rules.BLIND_SPOTS.finding(what, where=graph.name, fix=fix, members=[name])


@final
class WatchedFunction:
    """A Python function of time for an input, which remembers where it first gave no number."""

    def __init__(self, name: str, function: Callable[[float], float]) -> None:
        self.name, self.function = name, function
        self.trouble: tuple[float, str] | None = None

    def __call__(self, t: float) -> float:
        """Its value; not a number where it raises."""
        try:
            value = float(self.function(t))
            reason = f"it is {value}"
        # An exception cannot pass through compiled code; it is kept, and told when the run has ended.
        except Exception as raised:
            value, reason = math.nan, f"{type(raised).__name__}: {raised}"
        if not math.isfinite(value) and (self.trouble is None or t < self.trouble[0]):
            self.trouble = t, reason
        return value


def function_finding(graph: PowerGraph) -> Finding | None:
    """Which Python function of an input gave no number, and when; None where all did."""
    for signal in graph.signals:
        if isinstance(signal, External) and isinstance(signal.function, WatchedFunction):
            found = signal.function
            if found.trouble is not None:
                t, reason = found.trouble
                what = f"the Python function of the input {found.name} gives no number at t = {t:.6g} s: {reason}"
                fix = "let it give a finite number at every time of the run"
                return rules.BAD_COURSE.finding(what, where=graph.name, fix=fix, members=[found.name])
    return None
