"""Formulas of signals: expressions of variables, displacements, signals, parameters, shapes and the time `t`, read and written.

Shapes over time, `step(24 V)`, `sine(10 V, 50 Hz)`, `quintic(0, 1 rad, from=0.1 s, to=0.6 s)`, are functions in formulas of signals
and inputs. Each stands for an expression of time, so that shapes can be added and multiplied; where it jumps or bends can be read
from the conditions in that expression.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from fractions import Fraction
from functools import lru_cache, partial
from itertools import pairwise
from typing import NamedTuple, final

from tellegen.core.errors import Place, TellegenError
from tellegen.core.names import TIME, did_you_mean, listing
from tellegen.core.units import DIMENSIONLESS, Dimension, is_unit, unit_advice
from tellegen.expressions import (
    HALF,
    ONE,
    PI,
    ZERO,
    Call,
    Expression,
    Macro,
    Number,
    call,
    logic,
    number,
    relation,
    symbol,
    to_text,
)
from tellegen.expressions.tokens import AFTER_NUMBER, NUMBER, unit_end
from tellegen.model import dimensions
from tellegen.model.mockup_units import MockupUnit
from tellegen.model.model import Model, known_variables
from tellegen.model.signals import MapPoints, Points, SignalDefinition, SignalSetting
from tellegen.notations import rules as notations_rules
from tellegen.notations.context import ReadingContext, split_at_commas
from tellegen.notations.quantities import NO_INDICES, parse_marked, read_plain
from tellegen.notations.signals import rules
from tellegen.notations.signals.blocks import BLOCKS, FORMULA, PERIOD
from tellegen.notations.signals.latches import LINE, NAMES, STATE_KEYS, condition_of, condition_value, states_named
from tellegen.notations.signals.units import GIVEN_NAMES, names_given
from tellegen.notations.yaml.document import Scalar

SECOND = Dimension(s=1)
MOST_POINTS = 64
"""A table in a formula is short; longer ones are blocks of their own."""


class ShapeArgument(NamedTuple):
    """An argument of a shape: its name, and its unit, in which u is that of the signal."""

    name: str
    unit: str

    @property
    def of_input(self) -> int:
        """The power of the unit of the signal in its unit."""
        return int(self.unit.startswith("u"))

    @property
    def of_time(self) -> int:
        """The power of the second in its unit."""
        return {"s": 1, "1/s": -1, "u/s": -1}.get(self.unit, 0)

    @property
    def dimension(self) -> Dimension | None:
        """Its dimension, where that does not depend on the signal."""
        return None if self.of_input else SECOND.power(self.of_time)

    @property
    def is_frequency(self) -> bool:
        """Whether it counts cycles a second."""
        return not self.of_input and self.of_time == -1


@final
class SignalShape(NamedTuple):
    """A shape of a signal over time: how many arguments it takes, what they are, and the expression that it stands for."""

    least: int
    most: int
    summary: str
    arguments: tuple[ShapeArgument, ...]
    build: Callable[..., Expression]

    def usage(self, name: str) -> str:
        """`step(height, [start])`."""
        parts = [argument.name if i < self.least else f"[{argument.name}]" for i, argument in enumerate(self.arguments)]
        return f"{name}({', '.join(parts)}{', ...' if self.most > len(self.arguments) else ''})"

    def argument(self, place: int) -> ShapeArgument:
        """The argument at a place; those of a table come again and again."""
        return self.arguments[place % len(self.arguments)]


def _shape(summary: str, least: int, build: Callable[..., Expression], arguments: str) -> SignalShape:
    """A shape; an argument is written with its unit, where u is that of the signal: `start s`, `slope u/s`."""
    found = tuple(ShapeArgument(*argument.split(" ")) for argument in arguments.split(", "))
    return SignalShape(least, len(found), summary, found, build)


# What shapes stand for

TIME_SYMBOL: Expression = symbol(TIME)


def _at_least(left: Expression, right: Expression) -> Expression:
    return relation(">=", left, right)


def _unit_ramp(x: Expression) -> Expression:
    """x between 0 and 1, else the nearer of the two."""
    return call("min", call("max", x, ZERO), ONE)


_KNOWN: ContextVar[Mapping[str, float]] = ContextVar("known parameters", default={})  # noqa: B039  it is never written
"""The values of parameters while shapes are checked with them; what a text is read to does not depend on these."""


def _number(time: Expression | None) -> float | None:
    """A time as far as the text gives it: what parameters say is known in the run only."""
    found = None if time is None else dimensions.without_marks(time)
    if isinstance(found, Number):
        return float(found.rational)
    known = _KNOWN.get()
    if found is None or not found.free_symbols <= known.keys():
        return None
    try:
        return float(found.evaluate(known))
    except (ArithmeticError, ValueError):
        return None


def check_times(texts: Iterable[str], values: Mapping[str, float]) -> None:
    """Check the shapes in formulas with the values of parameters, as a text with numbers is checked when it is read.

    Raises: DescriptionError (D522) for times that go backwards.
    """
    token = _KNOWN.set(values)
    try:
        for text in texts:
            if _TIMED.search(text) and any(name in text for name in values):
                parse_marked(text, Place("<run>", 1, 1, text), macros=SHAPE_MACROS, names=NOT_UNITS)
    finally:
        _KNOWN.reset(token)


_TIMED = re.compile(r"\b(ramp|quintic|pulse|chirp|trapezoid)\s*\(")


def _refuse_backwards(shape: str, words: str, begin: Expression | None, end: Expression | None, *, apart: bool) -> None:
    """Refuse a time that ends before it begins, and where the shape divides by it one that is zero."""
    first, last = _number(begin), _number(end)
    if first is not None and last is not None and (last < first or (apart and last == first)):
        what = f"the {shape} goes {words} {first:g} s to {last:g} s"
        fix = "write the earlier time first" if last < first else "write step(height, start) for a jump"
        raise rules.BACKWARD_TIMES.error(what, fix=fix)


def _refuse_negative(shape: str, word: str, time: Expression | None, *, positive: bool = False) -> None:
    value = _number(time)
    if value is not None and (value < 0 or (positive and value == 0)):
        fix = "give a positive time" if positive else "give zero or a positive time"
        raise rules.BACKWARD_TIMES.error(f"the time '{word}' of the {shape} is {value:g} s", fix=fix)


def _risen(elapsed: Expression, over: Expression) -> Expression:
    """From 0 to 1 in a time; a time of zero is a jump."""
    return call("if", _at_least(elapsed, ZERO), ONE, ZERO) if _number(over) == 0.0 else _unit_ramp(elapsed / over)


def _step(height: Expression, start: Expression | None = None) -> Expression:
    return call("if", _at_least(TIME_SYMBOL, start or ZERO), height, ZERO)


def _ramp(slope: Expression, start: Expression | None = None, end: Expression | None = None) -> Expression:
    begin = start or ZERO
    _refuse_backwards("ramp", "from", begin, end, apart=False)
    elapsed = call("max", TIME_SYMBOL - begin, ZERO)
    return slope * (elapsed if end is None else call("min", elapsed, end - begin))


def _sine(
    amplitude: Expression, frequency: Expression, phase: Expression | None = None, offset: Expression | None = None
) -> Expression:
    return (offset or ZERO) + amplitude * call("sin", 2 * PI * frequency * TIME_SYMBOL + (phase or ZERO))


def _periodic(start: Expression, period: Expression | None) -> Expression:
    """The time since the start, or since the last multiple of the period after it."""
    elapsed = TIME_SYMBOL - start
    return elapsed if period is None else elapsed - period * call("floor", elapsed / period)


def _pulse(height: Expression, start: Expression, width: Expression, period: Expression | None = None) -> Expression:
    _refuse_negative("pulse", "width", width)
    _refuse_negative("pulse", "period", period, positive=True)
    within = relation("<", _periodic(start, period), width)
    return call("if", logic("and", _at_least(TIME_SYMBOL, start), within), height, ZERO)


def _chirp(
    amplitude: Expression, first: Expression, last: Expression, over: Expression, start: Expression | None = None
) -> Expression:
    _refuse_negative("chirp", "over", over)
    elapsed = call("max", TIME_SYMBOL - (start or ZERO), ZERO)
    # Over no time the last frequency is there from the start.
    if _number(over) == 0.0:
        return amplitude * call("sin", 2 * PI * last * elapsed)
    rising = call("min", elapsed, over)
    # The phase is the integral of the frequency, so the sine has no jump where the sweep ends.
    cycles = first * rising + HALF * (last - first) * rising**2 / over + last * call("max", elapsed - over, ZERO)
    return amplitude * call("sin", 2 * PI * cycles)


def _trapezoid(
    height: Expression,
    start: Expression,
    rise: Expression,
    hold: Expression,
    fall: Expression | None = None,
    period: Expression | None = None,
) -> Expression:
    for word, time in (("rise", rise), ("hold", hold), ("fall", fall)):
        _refuse_negative("trapezoid", word, time)
    _refuse_negative("trapezoid", "period", period, positive=True)
    elapsed = _periodic(start, period)
    shape = height * (_risen(elapsed, rise) - _risen(elapsed - rise - hold, rise if fall is None else fall))
    return shape if period is None else call("if", _at_least(TIME_SYMBOL, start), shape, ZERO)


def _quintic(first: Expression, last: Expression, begin: Expression, end: Expression) -> Expression:
    _refuse_backwards("quintic", "from", begin, end, apart=True)
    u = _unit_ramp((TIME_SYMBOL - begin) / (end - begin))
    return first + (last - first) * (10 * u**3 - 15 * u**4 + 6 * u**5)


def _table(*entries: Expression) -> Expression:
    """Straight lines between points; equal times are a jump. Written as a sum, so that long tables do not nest."""
    if len(entries) % 2:
        what = f"a table has {len(entries)} entries, not a time and a value for each point"
        raise rules.BAD_TABLE.error(what, fix="write table(time, value, time, value, ...)")
    times = [dimensions.without_marks(entry) for entry in entries[::2]]
    numbers = [time.rational for time in times if isinstance(time, Number)]
    back = next(((a, b) for a, b in pairwise(numbers) if b < a), None)
    if back is not None:
        what = f"the times of a table go back, from {float(back[0]):g} s to {float(back[1]):g} s"
        raise rules.UNSORTED_TABLE.error(what, fix="sort the points by time")
    found = entries[1]
    points = list(zip(entries[::2], entries[1::2], strict=True))
    for (before, low), (after, high) in pairwise(points):
        if before is after:
            found = found + call("if", _at_least(TIME_SYMBOL, after), high - low, ZERO)
        else:
            share = call("min", call("max", TIME_SYMBOL - before, ZERO), after - before)
            found = found + (high - low) * share / (after - before)
    return found


SHAPES: dict[str, SignalShape] = {
    "step": _shape("zero, then `height` from `start` on (0 s)", 1, _step, "height u, start s"),
    "ramp": _shape(
        "rises with `slope` from `start` on (0 s), and stays where it is from `end` on",
        1,
        _ramp,
        "slope u/s, start s, end s",
    ),
    "sine": _shape(
        "offset + amplitude*sin(2*pi*frequency*t + phase)", 2, _sine, "amplitude u, frequency 1/s, phase 1, offset u"
    ),
    "pulse": _shape(
        "`height` from `start` on for the time `width`, then zero; again after each `period`",
        3,
        _pulse,
        "height u, start s, width s, period s",
    ),
    "chirp": _shape(
        "a sine whose frequency goes steadily `from` one `to` another `over` a time, from `start` on (0 s), then stays",
        4,
        _chirp,
        "amplitude u, from 1/s, to 1/s, over s, start s",
    ),
    "trapezoid": _shape(
        "zero until `start`, up to `height` in the time `rise`, there for the time `hold`, back in the time `fall` (as `rise`)",
        4,
        _trapezoid,
        "height u, start s, rise s, hold s, fall s, period s",
    ),
    "quintic": _shape(
        "from `first` to `last` between the times `from` and `to`, at rest and without acceleration at both ends",
        4,
        _quintic,
        "first u, last u, from s, to s",
    ),
    "table": SignalShape(
        4,
        2 * MOST_POINTS,
        "straight lines between points, each a `time` and a `value`; a time given twice is a jump",
        (ShapeArgument("time", "s"), ShapeArgument("value", "u")),
        _table,
    ),
}
"""The shapes that an input or a signal can have; a quantity alone is constant."""


def _macro(shape: SignalShape) -> Macro:
    def build(*values: Expression | None) -> Expression:
        return shape.build(*[_with_unit(value, shape.argument(k)) for k, value in enumerate(values)])

    # Arguments that come again and again have no names of their own.
    by_name = shape.most == len(shape.arguments)
    return Macro(shape.least, shape.most, build, tuple(a.name for a in shape.arguments) if by_name else ())


def _with_unit(value: Expression | None, argument: ShapeArgument) -> Expression | None:
    # A height may be a bare number in any unit; times are in seconds and angles in radians whatever the signal is.
    if not isinstance(value, Number) or argument.dimension is None or not argument.of_time:
        return value
    return value * dimensions.unit_mark(argument.dimension)


SHAPE_MACROS: Mapping[str, Macro] = {name: _macro(shape) for name, shape in SHAPES.items()}
"""The shapes as functions of formulas whose units stand as marks; a bare number for a time is in seconds."""

_CALL = re.compile(rf"\b({'|'.join(SHAPES)})\s*\(")
# Rates of turning are a number of radians: as a frequency they would be wrong by 2 pi, and no unit would tell.
_ANGULAR = re.compile(r"\b(rad|rpm|deg)\b")
_KEYWORD = re.compile(r"\s*([A-Za-z]\w*)\s*=(?!=)")


class ArgumentText(NamedTuple):
    """The text of one argument in a call of a shape, and where it stands in the whole text."""

    shape: str
    argument: ShapeArgument
    at: int
    text: str


def _argument_texts(text: str) -> Iterator[ArgumentText]:
    """The arguments of all shapes in a formula, as they are written; what cannot be placed is left to the parser."""
    for match in _CALL.finditer(text):
        shape = SHAPES[match[1]]
        for place, (at, piece) in enumerate(split_at_commas(_inside(text, match.end()))):
            keyword = _KEYWORD.match(piece)
            named = [a for a in shape.arguments if keyword is not None and a.name == keyword[1]]
            shift = keyword.end() if keyword is not None else 0
            if keyword is None and place < shape.most:
                yield ArgumentText(match[1], shape.argument(place), match.end() + at, piece)
            elif named:
                yield ArgumentText(match[1], named[0], match.end() + at + shift, piece[shift:])


def place_arguments(shape: SignalShape, inside: str) -> str | list[tuple[ShapeArgument, tuple[int, str] | None]]:
    """The text of each argument with where it stands, None for one left out; or what is wrong with them."""
    texts = split_at_commas(inside)
    by_name = {a.name: k for k, a in enumerate(shape.arguments)} if shape.most == len(shape.arguments) else {}
    found: dict[int, tuple[int, str]] = {}
    for place, (at, piece) in enumerate(texts):
        keyword = _KEYWORD.match(piece)
        if keyword is not None and keyword[1] not in by_name:
            near = did_you_mean(keyword[1], by_name)
            return f"has no argument '{keyword[1]}'{'; ' if near else ''}{near}"
        spot = place if keyword is None else by_name[keyword[1]]
        if spot in found:
            return f"has its '{shape.argument(spot).name}' twice"
        shift = 0 if keyword is None else keyword.end()
        found[spot] = (at + shift, piece[shift:])
    missing = [shape.argument(k).name for k in range(shape.least) if k not in found]
    if missing or len(texts) > shape.most:
        counts = f"{shape.least}" if shape.least == shape.most else f"{shape.least} to {shape.most}"
        lacking = f": it lacks its {listing(missing)}" if missing and len(texts) >= shape.least else ""
        return f"has {len(texts)} argument{'' if len(texts) == 1 else 's'}, not {counts}{lacking}"
    return [(shape.argument(k), found.get(k)) for k in range(max(found, default=-1) + 1)]


def _inside(text: str, start: int) -> str:
    """What stands in the parenthesis that was opened before `start`."""
    depth = 1
    for at in range(start, len(text)):
        depth += (text[at] == "(") - (text[at] == ")")
        if not depth:
            return text[start:at]
    return text[start:]


def angular_frequency(text: str) -> ArgumentText | None:
    """The first frequency of a shape that is given as an angular velocity, which would be read as so many hertz."""
    return next((p for p in _argument_texts(text) if p.argument.is_frequency and _ANGULAR.search(p.text)), None)


_WORD = re.compile(r"[A-Za-z]+")
_QUANTITY = re.compile(rf"({NUMBER}){AFTER_NUMBER.pattern}")


class WrittenPiece(NamedTuple):
    """A piece of a formula that no formula prints as it was written: a quantity, or the call of a shape with its arguments."""

    begin: int
    end: int
    number: str = ""
    unit: str = ""
    shape: str = ""
    arguments: tuple[str, ...] = ()


def written_pieces(text: str, names: frozenset[str]) -> Iterator[WrittenPiece]:
    """The quantities and the shapes of a formula, in order; those inside the arguments of a shape belong to these."""

    def joins(word: str) -> bool:
        return word not in NOT_UNITS | names and is_unit(word)

    calls = [
        WrittenPiece(m.start(), m.end() + len(_inside(text, m.end())) + 1, "", "", m[1]) for m in _CALL.finditer(text)
    ]
    quantities = [
        m
        for m in _QUANTITY.finditer(text)
        if joins(m[3]) and text[m.start() - 1 : m.start()].strip(" (+-*/<>=,[") == ""
    ]
    ends = [(m.start(), unit_end(text, m.end(3), joins), m) for m in quantities]
    pieces = [*calls, *(WrittenPiece(begin, end, m[1], text[m.start(3) : end]) for begin, end, m in ends)]
    reached = 0
    for piece in sorted(pieces):
        if piece.begin < reached:
            continue
        reached = piece.end
        inside = text[text.index("(", piece.begin) + 1 : piece.end - 1] if piece.shape else ""
        yield (
            piece._replace(arguments=tuple(part.strip() for _, part in split_at_commas(inside)))
            if piece.shape
            else piece
        )


NOT_UNITS = frozenset({TIME})
"""In `2 V*t` the `t` is the time and not the unit."""


def parse_formula(
    context: ReadingContext, node: Scalar, subject: str, indices: Mapping[str, int] = NO_INDICES
) -> Expression:
    """The expression of a formula, units standing as marks; names are checked later, when all are known."""
    text = context.formula(node, subject)
    refuse_angular(context, text, subject)
    _refuse_doubtful(context, text, subject)
    names = _no_units(context.signal_names)
    plain = read_plain(text.text)
    if plain is not None and names.isdisjoint(_WORD.findall(plain.unit)[1:]):
        return plain.expression if plain.dimension is None else plain.expression * dimensions.unit_mark(plain.dimension)
    return parse_marked(text.text, context.text_place(text), indices, SHAPE_MACROS, names)


# The names of a model serve every formula of it: made anew for each, reading would take a time that grows with their square.


@lru_cache(maxsize=4)
def _no_units(names: frozenset[str]) -> frozenset[str]:
    return NOT_UNITS | names


@lru_cache(maxsize=4)
def _doubtful(names: frozenset[str]) -> frozenset[str]:
    return frozenset(filter(is_unit, names))


def refuse_angular(context: ReadingContext, node: Scalar, subject: str) -> None:
    """Raises: DescriptionError for a frequency given as an angular velocity, which would be read as so many hertz."""
    found = angular_frequency(node.text)
    if found is not None:
        word = "frequency" if found.argument.name == "frequency" else f"'{found.argument.name}'"
        what = f"the {word} of {subject} is given as an angular velocity: '{found.text.strip()}'"
        raise context.error(notations_rules.RADIANS_PER_SECOND, node, what, fix="give it in Hz; divide rad/s by 2*pi")


def _refuse_doubtful(context: ReadingContext, node: Scalar, subject: str) -> None:
    """Raises: DescriptionError (D521) for a word joined to a unit, as in `2 V/s`, that is a unit and names a signal too."""
    doubtful = _doubtful(context.signal_names)
    if not doubtful:
        return

    def joins(word: str) -> bool:
        return word not in NOT_UNITS and is_unit(word)

    for found in _QUANTITY.finditer(node.text):
        if not (found[2] and is_unit(found[3])):
            continue
        begin, unit = found.span(3)
        # How far the unit goes without the names in doubt, and how far with them: `V` and `V/s`.
        end = unit_end(node.text, unit, lambda word: word not in doubtful and joins(word))
        whole = unit_end(node.text, unit, joins)
        if end < whole:
            word = _WORD.findall(node.text[end:whole])[0]
            quantity = f"{found[1]} {node.text[begin:end]}"
            what = f"in '{node.text[begin:whole]}' of {subject}, '{word}' may be the unit or the signal of that name"
            fix = f"rename the signal; or, for the signal, write ({quantity}){node.text[end : end + 1]}{word}"
            place = context.text_place(node, begin)._replace(text=node.text[begin:whole])
            raise rules.SIGNAL_OR_UNIT.error(what, fix=fix, place=place)


@final
class FormulaScope:
    """What formulas of signals may read, with units; made once the elements are known."""

    def __init__(self, context: ReadingContext) -> None:
        self.context = context
        self.variables = {
            name: dimension
            for name, dimension in known_variables(context.elements.values()).items()
            if not name.startswith("energy.")
        }

    def changing(self, name: str) -> bool:
        """Whether a name stands for something that changes over time."""
        context = self.context
        if name in context.parameters:
            return False
        return name == TIME or name in context.signals or name in context.displacements or name in self.variables

    def knows(self, name: str) -> bool:
        """Whether formulas may read the name."""
        return self.changing(name) or name in self.context.parameters or self.context.is_broken(name)

    def measure(self, name: str) -> dimensions.Measure:
        """What is known about the unit of a name."""
        context = self.context
        parameter = context.parameters.get(name)
        if parameter is not None:
            return dimensions.UNKNOWN if parameter.dimension is None else parameter.dimension
        if name in context.signals:
            return context.signal_measures.get(name, dimensions.UNKNOWN)
        return SECOND if name == TIME else self.variables.get(name, dimensions.UNKNOWN)

    def measured(self, marked: Expression, subject: str, node: Scalar) -> dimensions.Measure:
        """What is known about the unit of a formula; unknown names and unlike units are collected as errors."""
        unknown = [name for name in dimensions.user_names(marked) if not self.knows(name)]
        for name in unknown:
            if not self.context.may_be_hidden(name):
                self.context.collect(self.unknown(name, subject, node))
        if unknown:
            return dimensions.UNKNOWN
        if marked is ZERO and (plain := read_plain(node.text)) is not None and plain.dimension is not None:
            return plain.dimension  # a product with zero keeps no mark of its unit
        course = self._of_course(marked)
        if course is not None:
            return course
        try:
            return dimensions.measure_of(marked, self.measure, dimensions.is_plain_factor)
        except dimensions.DimensionError as problem:
            self.context.collect(unlike_units_error(self.context, problem, subject, node))
            return dimensions.UNKNOWN

    def _of_course(self, marked: Expression) -> dimensions.Measure | None:
        """The unit of a formula of shapes alone, in which factors are numbers: in formulas of variables they may be gains."""
        if set(dimensions.user_names(marked)) != {TIME}:
            return None
        try:
            measure = dimensions.measure_of(marked, self.measure)
        except dimensions.DimensionError:
            return None
        return None if isinstance(measure, dimensions.NoDimension) or measure == DIMENSIONLESS else measure

    def unknown(self, name: str, subject: str, node: Scalar) -> TellegenError:
        """The error for a name that nothing has."""
        context = self.context
        known = [*context.signals, *self.variables, *context.displacements, *context.parameters, TIME]
        shown = [n for n in known if "." not in n]
        fix = did_you_mean(name, known[:2000]) or unit_advice(name) or f"some that are known: {listing(shown, 12)}"
        what = f"{subject} uses '{name}', which is no signal, variable or parameter"
        at = max(node.text.find(name), 0)
        place = context.text_place(node, at)._replace(text=name)
        return rules.UNKNOWN_IN_SIGNAL.error(what, fix=fix, place=place)

    def checked(self, marked: Expression, wanted: Dimension | None, subject: str, node: Scalar) -> Expression:
        """The formula in SI units, its names known and its unit as wanted; errors are collected."""
        measure = self.measured(marked, subject, node)
        if wanted is not None and not isinstance(measure, dimensions.NoDimension) and measure != wanted:
            what = f"{subject} is in {dimensions.dimension_in_words(measure)}, not in {dimensions.dimension_in_words(wanted)}"
            fix = f"give it in {dimensions.dimension_in_words(wanted)}; a gain may carry the unit"
            self.context.collect(self.context.error(rules.SIGNAL_UNITS, node, what, fix=fix))
        return dimensions.without_marks(marked)


def unlike_units_error(
    context: ReadingContext, problem: dimensions.DimensionError, subject: str, node: Scalar
) -> TellegenError:
    """The error for quantities that do not go together."""
    rule = notations_rules.MIXED_SUM if problem.mixed else notations_rules.FUNCTION_OF_UNIT
    return context.error(rule, node, f"{subject} {problem.what}", fix="check the units of its parts")


NestedText = str | Sequence["NestedText"] | Mapping[str, "NestedText"]
"""What stands behind a key: a text, a list of texts, the points of a table, what is said of the states of a machine."""

Annotate = Callable[[Expression, Dimension | None], str]
"""Writes an expression with units where its dimension would otherwise be another."""


def signal_keys(
    definition: SignalDefinition, annotate: Annotate, names: frozenset[str]
) -> Iterator[tuple[str, NestedText]]:
    """The keys of a signal with their texts, the word of its block first; `names` are those of all signals."""
    for key in BLOCKS[definition.block].keys:
        found = definition.settings.get(key.name)
        if key.name == "states":
            yield key.name, dict(_state_keys(definition, annotate, names))
        elif not key.summary:
            continue
        elif key.name in GIVEN_NAMES and isinstance(found, tuple):
            given = zip(names_given(definition.settings, key.name), found, strict=True)
            yield key.name, {n: annotate(e, None) if isinstance(e, Expression) else str(e) for n, e in given}
        elif found is not None and not callable(found):
            told = key.name == FORMULA or isinstance(found, Points | MapPoints)
            wanted = definition.dimension if told else SECOND if key.holds == PERIOD else None
            written = definition.texts.get(key.name, "")
            yield key.name, _text(found, written, names, lambda e, unit=wanted: annotate(e, unit))  # type: ignore[misc]


def names_a_shape(definition: SignalDefinition) -> bool:
    """Whether a formula has a shape in it, which stands for more than is written."""
    return definition.block == FORMULA and _CALL.search(definition.texts.get(FORMULA, "")) is not None


def as_written(definition: SignalDefinition, names: frozenset[str]) -> dict[str, NestedText] | None:
    """What the author wrote for each key of a block, or for a formula; None for a formula that is another one by now."""
    found = dict(signal_keys(definition, _quantity, names))
    return None if definition.block == FORMULA and found[FORMULA] != definition.texts.get(FORMULA) else found


def _quantity(expression: Expression, unit: Dimension | None) -> str:
    text = to_text(expression)
    return f"{text} s" if unit == SECOND and isinstance(expression, Number) else text


def _state_keys(
    definition: SignalDefinition, annotate: Annotate, names: frozenset[str]
) -> Iterator[tuple[str, dict[str, str | list[str]]]]:
    """What is said of each state of a machine."""
    told = definition.settings
    values = told["value"]
    assert isinstance(values, tuple), "each state has one"
    written = {word: definition.texts.get(word, "").split(LINE) for word in STATE_KEYS}
    valued = any(written["value"]) or any(value is not number(k) for k, value in enumerate(values))
    for k, (name, others) in enumerate(states_named(str(told[NAMES]))):
        made: dict[str, str | list[str]] = {"from": list(others)} if others else {}
        for word in STATE_KEYS:
            formulas = told[word]
            assert isinstance(formulas, tuple), "each state has one"
            formula = formulas[k]
            if isinstance(formula, Expression) and (valued if word == "value" else formula is not ZERO):
                wanted = {"value": definition.dimension, "after": SECOND}.get(word)
                said = written[word][k] if len(written[word]) == len(values) else ""
                made[word] = formula_text(formula, said, names, partial(_bare, word, annotate, wanted))
        yield name, made


def _bare(word: str, annotate: Annotate, wanted: Dimension | None, formula: Expression) -> str:
    """A formula of a state; a condition stands without what makes a number of it."""
    text = annotate(formula, wanted)
    bare = word == "when" and formula is condition_value(condition_of(formula))
    return text.removeprefix("if(").removesuffix(", 1, 0)") if bare else text


def _text(found: SignalSetting, written: str, names: frozenset[str], text: Callable[[Expression], str]) -> NestedText:
    if isinstance(found, Points):
        return [[repr(x), text(number(Fraction(repr(y))))] for x, y in zip(found.points, found.values, strict=True)]
    if isinstance(found, MapPoints):
        lines = [[text(number(Fraction(repr(value)))) for value in line] for line in found.values]
        return {"rows": list(map(repr, found.rows)), "columns": list(map(repr, found.columns)), "values": lines}
    if isinstance(found, Expression):
        return formula_text(found, written, names, text)
    if isinstance(found, tuple):
        # The text of a list is kept as a whole; its pieces hold as long as there are as many as formulas.
        pieces = [piece.strip() for _, piece in split_at_commas(written.strip("[]"))]
        texts = pieces if len(pieces) == len(found) else [""] * len(found)
        return [
            formula_text(part, one, names, text) if isinstance(part, Expression) else str(part)
            for part, one in zip(found, texts, strict=True)
        ]
    if isinstance(found, MockupUnit):
        return written or found.path
    assert isinstance(found, str), "functions have no text"
    return found


def formula_text(expression: Expression, written: str, names: frozenset[str], text: Callable[[Expression], str]) -> str:
    """What the user wrote, if that still is the expression; else the expression as `text` writes it."""
    if written:
        try:
            if isinstance(expression, Call) and expression is condition_value(condition_of(expression)):
                asked = parse_marked(f"if({written}, 1, 0)", None, macros=SHAPE_MACROS, names=NOT_UNITS | names)
                if dimensions.without_marks(asked) is expression:
                    return written
        except TellegenError:
            pass
        try:
            marked = parse_marked(written, None, macros=SHAPE_MACROS, names=NOT_UNITS | names)
            if dimensions.without_marks(marked) is expression:
                return written
        except TellegenError:
            pass
    return text(expression)


def readable_dimensions(model: Model) -> Mapping[str, Dimension]:
    """The dimensions of what formulas of signals read, besides parameters."""
    if not model.signals and not any(element.signal is not None for element in model.elements):
        return {}
    found = known_variables(model.elements) | {TIME: SECOND}
    return found | {name: s.dimension for name, s in model.signals.items() if s.dimension is not None}
