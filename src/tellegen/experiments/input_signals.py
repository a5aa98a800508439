"""What inputs do over time: `step(24)`, `sine(10, 50)`, a text as in a model file, a formula, a Python function."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, final

from tellegen.core.domains import DOMAINS
from tellegen.core.errors import Finding, Place
from tellegen.core.names import TIME, did_you_mean, listing, unused
from tellegen.core.units import Dimension, parse_unit
from tellegen.experiments import rules
from tellegen.experiments.quantities import Quantity, expression_of
from tellegen.expressions import Expression, symbol
from tellegen.graph import PowerGraph, SourceLaw
from tellegen.graph.signal_lowering import taken_names
from tellegen.graph.signals import External, Table
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
    graph: PowerGraph, courses: Mapping[str, InputSignal]
) -> tuple[PowerGraph, dict[str, Signal | Expression | float]]:
    """The graph with the tables and Python functions among the courses as signals, and the courses as `drive` takes them.

    Raises: SimulationError (S304, S303) for a course that cannot be used; DescriptionError for a text that cannot be read.
    """
    ports = {port.law.input: port for port in graph.ports if isinstance(port.law, SourceLaw)}
    found: dict[str, Signal | Expression | float] = {}
    for name, course in courses.items():
        port = ports.get(name)
        # A name that is no input is refused later, by `drive`, with all that there are.
        unit = None if port is None else parse_unit(DOMAINS[port.domain].power(port.law.side).unit).dimension
        if isinstance(course, Signal) and course.expression is None:
            graph, found[name] = _with_table(graph, name, course)
        elif isinstance(course, Signal):
            found[name] = _checked_shape(course, unit, name, graph)
        elif isinstance(course, str):
            found[name] = _formula(course, unit, name, graph)
        elif isinstance(course, Expression):
            found[name] = course
        elif callable(course):
            graph, found[name] = _with_function(graph, name, course)
        else:
            found[name] = expression_of(course, unit, f"the input {name}")
    return graph, found


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
    signal = Table(unused(f"{name}_table", taken_names(graph)), symbol(TIME), times, values)
    return replace(graph, signals=(*graph.signals, signal)), symbol(signal.name)


def _with_function(graph: PowerGraph, name: str, function: Callable[[float], float]) -> tuple[PowerGraph, Expression]:
    try:
        # Tried before the run: an error in the first step would come out of compiled code.
        first: Any = function(0.0)
        float(first)
    except Exception as reason:
        what = f"the Python function of the input {name} gives no number at t = 0: {reason}"
        raise rules.BAD_COURSE.error(what, fix="let it take the time in s and give a number") from reason
    signal = External(unused(f"{name}_function", taken_names(graph)), (symbol(TIME),), WatchedFunction(name, function))
    return replace(graph, signals=(*graph.signals, signal)), symbol(signal.name)


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
