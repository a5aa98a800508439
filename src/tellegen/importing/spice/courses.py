"""What a source of a deck does over time, as a formula: constants, PULSE, SIN, EXP and PWL."""

from collections.abc import Callable
from decimal import Decimal
from itertools import pairwise
from typing import NamedTuple, final

from tellegen.importing.spice.values import DeckValue, ValueProblemError, of_number

Reader = Callable[[str], DeckValue]
SHAPES = ("pulse", "sin", "exp", "pwl")
_OTHER_NAMES = {"sine": "sin"}
REFUSED_SHAPES = ("sffm", "am", "trnoise", "trrandom", "external")
_AT_FREQUENCIES = ("ac", "distof1", "distof2")
_KEYWORDS = (*SHAPES, *_OTHER_NAMES, *REFUSED_SHAPES, *_AT_FREQUENCIES, "dc", "portnum")
MOST_IN_A_FORMULA = 32
"""Points of a table that a formula still shows; longer ones are a signal of their own."""
ZERO = of_number(0.0)


class RefusedError(ValueError):
    """A course that there is nothing for; the text of the exception says which."""


@final
class Span(NamedTuple):
    """The step and the end of the run, which stand for times that a source leaves out; None without `.tran`."""

    step: float | None
    end: float | None


@final
class SourceCourse(NamedTuple):
    """A formula of the time, or the points of a long table. A source `without_course` is zero all the time."""

    text: str
    points: tuple[tuple[str, str], ...] = ()
    without_course: bool = False


def read_course(words: tuple[str, ...], options: dict[str, str], unit: str, span: Span, value: Reader) -> SourceCourse:
    """The course that the words behind the nodes of a source tell.

    Raises: RefusedError for a shape that is not read; ValueProblemError for what makes no sense.
    """
    constant: DeckValue | None = value(options["dc"]) if "dc" in options else None
    at, given = 0, len(words)
    while at < given:
        word = _OTHER_NAMES.get(words[at].lower(), words[at].lower())
        at += 1
        if word in REFUSED_SHAPES:
            raise RefusedError(word.upper())
        if word in SHAPES:
            if word == "pwl" and options.keys() & {"r", "td", "file"}:
                raise RefusedError("PWL with r=, td= or a file")
            until = next((k for k in range(at, given) if words[k].lower() in _KEYWORDS), given)
            return _SHAPES[word]([value(text) for text in words[at:until]], unit, span)
        if word == "portnum":
            raise RefusedError("PORTNUM")
        if word == "dc":
            continue
        if word in _AT_FREQUENCIES:
            # A size and a phase, both of which may be left out.
            while at < given and words[at].lower() not in _KEYWORDS:
                at += 1
        elif constant is None:
            constant = value(words[at - 1])
        else:
            raise ValueProblemError(f"'{words[at - 1]}' makes no sense in a source")
    return SourceCourse((constant or ZERO).with_unit(unit), without_course=constant is None)


def _at(values: list[DeckValue], place: int, default: float | None, what: str) -> DeckValue:
    if place < len(values):
        return values[place]
    if default is None:
        raise ValueProblemError(f"the {what} is left out, and there is no .tran that would give it")
    return of_number(default)


def _unless_zero(values: list[DeckValue], place: int, default: float | None, what: str) -> DeckValue:
    left_out = place < len(values) and _is_zero(values[place])
    return _at([] if left_out else values, place, default, what)


def _is_zero(value: DeckValue) -> bool:
    return value.is_number and float(value.text) == 0


def _difference(last: DeckValue, first: DeckValue, unit: str) -> str:
    if last.is_number and first.is_number:
        return f"{(Decimal(last.text) - Decimal(first.text)).normalize():f} {unit}"
    return last.with_unit(unit) if _is_zero(first) else f"{last.factor} - {first.factor}"


def _with_offset(offset: DeckValue, unit: str, text: str) -> str:
    return text if _is_zero(offset) else f"{offset.with_unit(unit)} + {text}"


def _pulse(values: list[DeckValue], unit: str, span: Span) -> SourceCourse:
    if len(values) < 2:
        raise ValueProblemError("PULSE has fewer than two values")
    first, last = values[0], values[1]
    delay = _at(values, 2, 0.0, "delay")
    # A jump takes a step of the run in SPICE, so a time of zero means that step; a width of zero lasts until the end.
    rise, fall = _unless_zero(values, 3, span.step, "rise time"), _unless_zero(values, 4, span.step, "fall time")
    width, period = _unless_zero(values, 5, span.end, "width"), _unless_zero(values, 6, span.end, "period")
    times = [delay, rise, width, fall]
    sizes = [float(time.text) for time in (*times, period) if time.is_number]
    if any(size < 0 for size in sizes):
        raise ValueProblemError("a time of PULSE is negative")
    repeats = not (period.is_number and span.end is not None and float(period.text) >= span.end)
    arguments = [_difference(last, first, unit), *(time.with_unit("s") for time in times)]
    arguments += [period.with_unit("s")] if repeats else []
    return SourceCourse(_with_offset(first, unit, f"trapezoid({', '.join(arguments)})"))


def _sine(values: list[DeckValue], unit: str, span: Span) -> SourceCourse:
    if len(values) < 2:
        raise ValueProblemError("SIN has fewer than two values")
    offset, size = values[0], values[1]
    over = None if span.end is None else 1 / span.end
    frequency = _at(values, 2, over, "frequency")
    if _is_zero(frequency):
        frequency = _at([], 0, over, "frequency")
    delay, damping, phase = (_at(values, place, 0.0, "") for place in (3, 4, 5))
    if _is_zero(delay) and _is_zero(damping):
        arguments = [size.with_unit(unit), frequency.with_unit("Hz")]
        arguments += [] if _is_zero(phase) else [f"phase={_angle(phase)}"]
        arguments += [] if _is_zero(offset) else [f"offset={offset.with_unit(unit)}"]
        return SourceCourse(f"sine({', '.join(arguments)})")
    elapsed = "t" if _is_zero(delay) else f"(t - {_grouped(delay, 's')})"
    turned = "" if _is_zero(phase) else f" + {_angle(phase)}"
    wave = f"{_grouped(size, unit)}*sin(2*pi*{_grouped(frequency, 'Hz')}*{elapsed}{turned})"
    if not _is_zero(damping):
        wave += f"*exp(-{elapsed}*{_grouped(damping, 's^-1')})"
    if not _is_zero(delay):
        before = "0" if _is_zero(phase) else f"{_grouped(size, unit)}*sin({_angle(phase)})"
        wave = f"if(t < {delay.with_unit('s')}, {before}, {wave})"
    return SourceCourse(_with_offset(offset, unit, wave))


def _angle(phase: DeckValue) -> str:
    return phase.with_unit("deg") if phase.is_number else f"{phase.factor}*pi/180"


def _grouped(value: DeckValue, unit: str) -> str:
    """A quantity as a factor."""
    return f"({value.with_unit(unit)})" if value.is_number else value.factor


def _exponential(values: list[DeckValue], unit: str, span: Span) -> SourceCourse:
    if len(values) < 2:
        raise ValueProblemError("EXP has fewer than two values")
    first, last = values[0], values[1]
    begin = _at(values, 2, span.step, "first delay")
    rising, falling = (
        _at(values, 3, span.step, "first time constant"),
        _at(values, 5, span.step, "second time constant"),
    )
    if len(values) > 4:
        end = values[4].with_unit("s")
    else:
        end = f"{begin.with_unit('s')} + {_at([], 0, span.step, 'second delay').with_unit('s')}"
    parts = []
    for start, time, size in (
        (begin.with_unit("s"), rising, _difference(last, first, unit)),
        (end, falling, _difference(first, last, unit)),
    ):
        elapsed = f"(t - ({start}))"
        parts.append(f"if(t > {start}, ({size})*(1 - exp(-{elapsed}/{_grouped(time, 's')})), 0)")
    return SourceCourse(_with_offset(first, unit, " + ".join(parts)))


def _points(values: list[DeckValue], unit: str, _: Span) -> SourceCourse:
    if len(values) < 2 or len(values) % 2:
        raise ValueProblemError("PWL takes pairs of a time and a value")
    times, sizes = values[::2], values[1::2]
    for one, other in pairwise(times):
        if one.is_number and other.is_number and float(other.text) <= float(one.text):
            raise ValueProblemError(f"the times of PWL do not rise: {one.text} s, then {other.text} s")
    if len(times) == 1:
        return SourceCourse(sizes[0].with_unit(unit))
    points = tuple((time.with_unit("s"), size.with_unit(unit)) for time, size in zip(times, sizes, strict=True))
    if len(points) > MOST_IN_A_FORMULA:
        return SourceCourse("", points)
    return SourceCourse(f"table({', '.join(text for point in points for text in point)})")


_SHAPES: dict[str, Callable[[list[DeckValue], str, Span], SourceCourse]] = {
    "pulse": _pulse,
    "sin": _sine,
    "exp": _exponential,
    "pwl": _points,
}
