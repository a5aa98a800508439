"""Numbers and formulas of a deck in our words, and what a source does over time as a formula.

`100n` of a capacitor is `100 nF`, `a ? b : c` is `if(a != 0, b, c)`, and PULSE is a trapezoid.
"""

import math
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from itertools import pairwise
from typing import NamedTuple, final

from tellegen.core.errors import TellegenError
from tellegen.expressions import parse

# `m` is milli and `meg` mega, in whatever letters; what follows is a unit, which SPICE does not read.
_NUMBER = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)(meg|mil|[tgkmunpfa])?[a-zA-Z_%]*", re.IGNORECASE)
_PREFIXES = {"t": ("T", 12), "g": ("G", 9), "meg": ("M", 6), "k": ("k", 3), "m": ("m", -3), "u": ("u", -6)}
_PREFIXES |= {"n": ("n", -9), "p": ("p", -12), "f": ("f", -15), "a": ("", -18)}
MIL = 25.4e-6

_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[a-zA-Z]*)|(?P<name>[a-zA-Z_][\w.]*)"
    r"|(?P<sign>\*\*|&&|\|\||==|!=|<>|<=|>=|[-+*/^()<>!?:,%]))"
)
_STRENGTH = {"||": 2, "&&": 3, "==": 4, "!=": 4, "<>": 4, "<": 5, ">": 5, "<=": 5, ">=": 5}
_STRENGTH |= {"+": 6, "-": 6, "*": 7, "/": 7, "^": 9, "**": 9}
_CONDITIONS = {"||": "or", "&&": "and", "==": "==", "!=": "!=", "<>": "!=", "<": "<", ">": ">", "<=": "<=", ">=": ">="}
_CONSTANTS = {"pi": "pi", "e": "exp(1)", "true": "1", "false": "0", "temper": "27"}
MOST_DEPTH = 60

_FUNCTIONS: dict[str, tuple[int, str]] = {
    **{
        name: (1, f"{name}({{0}})")
        for name in [
            "sin",
            "cos",
            "tan",
            "asin",
            "acos",
            "atan",
            "sinh",
            "cosh",
            "tanh",
            "exp",
            "sqrt",
            "abs",
            "floor",
            "ceil",
        ]
    },
    "ln": (1, "log({0})"),
    "log": (1, "log({0})"),
    "log10": (1, "(log({0})/log(10))"),
    "arcsin": (1, "asin({0})"),
    "arccos": (1, "acos({0})"),
    "arctan": (1, "atan({0})"),
    "asinh": (1, "log({0} + sqrt(({0})^2 + 1))"),
    "acosh": (1, "log({0} + sqrt(({0})^2 - 1))"),
    "atanh": (1, "(log((1 + {0})/(1 - {0}))/2)"),
    "sgn": (1, "sign({0})"),
    "sqr": (1, "(({0})^2)"),
    "u": (1, "if({0} > 0, 1, 0)"),
    "int": (1, "(sign({0})*floor(abs({0})))"),
    "nint": (1, "(floor(({0})/2 + 0.25) + ceil(({0})/2 - 0.25))"),  # halves go to the even number
    "min": (2, "min({0}, {1})"),
    "max": (2, "max({0}, {1})"),
    "pow": (2, "(({0})^({1}))"),
    "pwr": (2, "(abs({0})^({1}))"),
    "atan2": (2, "atan2({0}, {1})"),
    "ternary_fcn": (3, "if({0} != 0, {1}, {2})"),
    "if": (3, "if({0} != 0, {1}, {2})"),
    "limit": (3, "min(max({0}, {1}), {2})"),
    "uramp": (1, "max({0}, 0)"),
    "stp": (1, "if({0} > 0, 1, 0)"),
}
_OF_SOURCES = {"pow": (2, "(abs({0})^({1}))"), "pwr": (2, "(sign({0})*abs({0})^({1}))")}
"""What sources with formulas compute otherwise than parameters do: ngspice takes the size of a basis."""

Measured = Callable[[str, list[str]], str]
"""The signal of a voltage ("v", one or two nodes) or of a current ("i", an element) that the formula of a source reads."""


class ValueProblemError(ValueError):
    """A text that is neither a number nor a formula; the text of the exception says why."""


class FollowsError(ValueProblemError):
    """A formula that reads a voltage or a current: no parameter."""


@final
class DeckValue(NamedTuple):
    """A value: a formula in our words, the parameters that it reads (in small letters), and a number with its prefix.

    `mantissa` and `prefix` are those of a number as it was written, empty for a formula.
    """

    text: str
    names: frozenset[str] = frozenset()
    mantissa: str = ""
    prefix: str = ""

    @property
    def is_number(self) -> bool:
        """Whether it was written as a number."""
        return self.mantissa != ""

    def with_unit(self, unit: str) -> str:
        """The value of a quantity: a number keeps its digits and its prefix."""
        return f"{self.mantissa} {self.prefix}{unit}".strip() if self.is_number else self.text

    @property
    def factor(self) -> str:
        """The value as a factor or a term."""
        return self.text if re.fullmatch(r"\w+|[\d.]+(?:[eE][+-]?\d+)?", self.text) else f"({self.text})"

    def number(self, known: Mapping[str, float]) -> float | None:
        """Its size with the values of parameters that are known; None where it reads others."""
        try:
            formula = parse(self.text)
            found = float(formula.evaluate({name: known[name] for name in formula.free_symbols}))
        except (TellegenError, ArithmeticError, ValueError, KeyError, RecursionError):
            return None
        return found if math.isfinite(found) else None


def of_number(size: float) -> DeckValue:
    """A value that a card leaves to its default."""
    text = f"{size:.15g}"
    return DeckValue(text, mantissa=text)


def read_number(text: str) -> DeckValue | None:
    """The value of a number with a suffix of SPICE; None where the text is none.

    >>> read_number("100n").with_unit("F"), read_number("4.7Meg").with_unit("ohm"), read_number("10V").text
    ('100 nF', '4.7 Mohm', '10')
    """
    found = _NUMBER.fullmatch(text)
    if found is None:
        return None
    digits, suffix = found[1].removeprefix("+"), (found[2] or "").lower()
    if not math.isfinite(float(digits)):
        raise ValueProblemError(f"'{text}' is too large for a number")
    if digits.startswith((".", "-.")):
        digits = digits.replace(".", "0.", 1)
    if suffix == "mil":
        return of_number(float(digits) * MIL)
    prefix, power = _PREFIXES.get(suffix, ("", 0))
    mantissa, _, exponent = digits.lower().partition("e")
    total = int(exponent or 0) + power
    if abs(total) > 300:
        raise ValueProblemError(f"'{text}' is too large or too small for a number")
    mantissa = mantissa.removesuffix(".")
    plain = f"{mantissa}e{total}" if total else mantissa
    if total and 0 < total <= 9 and "." not in mantissa and len(mantissa) + total <= 9:
        plain = mantissa + "0" * total
    if suffix and (exponent or not prefix):
        return DeckValue(plain, mantissa=f"{mantissa}e{total}")
    return DeckValue(plain, mantissa=digits.removesuffix(".") if "e" not in digits.lower() else digits, prefix=prefix)


@final
class DeckFunction(NamedTuple):
    """A function that the deck defines: the names of its arguments, in small letters, and the text of its formula."""

    arguments: tuple[str, ...]
    text: str


FunctionOf = Callable[[str], DeckFunction | None]
MOST_CALLS = 16
"""Levels of functions that use each other."""
LONGEST_FORMULA = 50_000
"""Characters of a formula with the functions of the deck written out."""


def read_formula(
    text: str, name_of: Callable[[str], str], measured: Measured | None = None, function_of: FunctionOf | None = None
) -> DeckValue:
    """A number, or a formula with or without its braces; `name_of` gives the name of a parameter here.

    Where something is `measured`, it is the formula of a source, which reads voltages, currents and the time. Functions of the
    deck are written out.

    Raises: ValueProblemError where it is neither.
    """
    inner = text.strip()
    while inner[:1] in "{'\"" and len(inner) > 1 and inner[-1] == {"{": "}"}.get(inner[0], inner[0]):
        inner = inner[1:-1].strip()
    found = read_number(inner)
    return found if found is not None else _Formula(inner, name_of, measured, function_of).value()


@final
class _Formula:
    """One formula being read, by the strength of its operators."""

    def __init__(
        self,
        text: str,
        name_of: Callable[[str], str],
        measured: Measured | None,
        function_of: FunctionOf | None = None,
        calls: int = 0,
    ) -> None:
        # Braces inside a formula are parentheses.
        self.text, self.name_of, self.measured = text.replace("{", "(").replace("}", ")"), name_of, measured
        self.function_of, self.calls = function_of, calls
        self.names: set[str] = set()
        self.tokens = list(self._tokens())
        self.at = self.depth = 0

    def value(self) -> DeckValue:
        if not self.tokens:
            raise ValueProblemError("a value is missing")
        text = self._ternary()
        if self.at < len(self.tokens):
            raise ValueProblemError(f"'{self.tokens[self.at][1]}' makes no sense in '{self.text}'")
        return DeckValue(text, frozenset(self.names))

    def _tokens(self) -> list[tuple[str, str]]:
        found, at = [], 0
        text = self.text.rstrip()
        while at < len(text):
            match = _TOKEN.match(text, at)
            if match is None or match.lastgroup is None:
                raise ValueProblemError(f"'{text[at:].strip()[:20]}' makes no sense in a formula")
            found.append((match.lastgroup, match[match.lastgroup]))
            at = match.end()
        return found

    def _peek(self) -> str:
        kind, text = self.tokens[self.at] if self.at < len(self.tokens) else ("", "")
        return text if kind == "sign" else ""

    def _take(self, sign: str) -> None:
        if self._peek() != sign:
            raise ValueProblemError(f"'{sign}' is missing in '{self.text}'")
        self.at += 1

    def _ternary(self) -> str:
        return _as_number(*self._choice())

    def _choice(self) -> tuple[str, bool]:
        """A formula, and whether it is a condition."""
        self.depth += 1
        if self.depth > MOST_DEPTH:
            raise ValueProblemError(f"a formula has more than {MOST_DEPTH} levels")
        left, is_condition = self._binary(0)
        if self._peek() == "?":
            self.at += 1
            first = self._ternary()
            self._take(":")
            second = self._ternary()
            left, is_condition = f"if({_condition(left, is_condition)}, {first}, {second})", False
        self.depth -= 1
        return left, is_condition

    def _binary(self, weakest: int) -> tuple[str, bool]:
        self.depth += 1
        if self.depth > 4 * MOST_DEPTH:
            raise ValueProblemError(f"a formula has more than {MOST_DEPTH} levels")
        left, is_condition = self._unary()
        while (strength := _STRENGTH.get(sign := self._peek(), 0)) > weakest:
            self.at += 1
            right, other = self._binary(strength)
            if sign in ("||", "&&"):
                left = f"({_condition(left, is_condition)} {_CONDITIONS[sign]} {_condition(right, other)})"
                is_condition = True
            elif sign in _CONDITIONS:
                left, is_condition = (
                    f"({_as_number(left, is_condition)} {_CONDITIONS[sign]} {_as_number(right, other)})",
                    True,
                )
            else:
                word = "^" if sign == "**" else sign
                first, second = _as_number(left, is_condition), _as_number(right, other)
                if word == "^" and self.measured is not None and not _EVEN.fullmatch(second):
                    first = f"abs({first})"
                left, is_condition = _joined(first, word, second), False
        self.depth -= 1
        return left, is_condition

    def _unary(self) -> tuple[str, bool]:
        sign = self._peek()
        if sign in ("-", "+"):
            self.at += 1
            found, is_condition = self._binary(6)
            number = _as_number(found, is_condition)
            return (f"(-{number})" if sign == "-" else number), False
        if sign == "!":
            self.at += 1
            return f"(not {_condition(*self._unary())})", True
        return self._atom()

    def _atom(self) -> tuple[str, bool]:
        if self._peek() == "(":
            self.at += 1
            inner, is_condition = self._choice()
            self._take(")")
            return (inner if _ATOM.fullmatch(inner) else f"({inner})"), is_condition
        if self.at >= len(self.tokens):
            raise ValueProblemError(f"'{self.text}' ends too early")
        kind, text = self.tokens[self.at]
        self.at += 1
        if kind == "number":
            found = read_number(text)
            assert found is not None, "a number begins with digits, and letters may follow"
            return found.text, False
        if kind != "name":
            raise ValueProblemError(f"'{text}' makes no sense in '{self.text}'")
        return (self._call(text) if self._peek() == "(" else self._name(text)), False

    def _name(self, text: str) -> str:
        low = text.lower()
        # A parameter may have the name of a constant; its own meaning comes first.
        given = self.name_of(low)
        if given:
            self.names.add(low)
            return given
        if self.measured is not None and low in ("time", "hertz"):
            return "t/(1 s)" if low == "time" else "0"
        if low in _CONSTANTS:
            return _CONSTANTS[low]
        raise ValueProblemError(f"there is no parameter '{text}'")

    def _call(self, name: str) -> str:
        low = name.lower()
        if self.function_of is not None and (own := self.function_of(low)) is not None:
            return self._written_out(name, own)
        count, pattern = _FUNCTIONS.get(low, (0, ""))
        if low in ("v", "i") and self.measured is not None:
            return self.measured(low, self._words_inside())
        if low in ("v", "i"):
            raise FollowsError("it follows a voltage or a current")
        if self.measured is not None:
            count, pattern = _OF_SOURCES.get(low, (count, pattern))
        if not count:
            raise ValueProblemError(f"there is no function '{name}'")
        return pattern.format(*self._arguments(name, count))

    def _arguments(self, name: str, count: int) -> list[str]:
        """What stands in the parentheses behind a function."""
        self._take("(")
        arguments = [] if count == 0 and self._peek() == ")" else [self._ternary()]
        while self._peek() == ",":
            self.at += 1
            arguments.append(self._ternary())
        self._take(")")
        if len(arguments) != count:
            raise ValueProblemError(f"'{name}' takes {count} argument{'' if count == 1 else 's'}, not {len(arguments)}")
        return arguments

    def _written_out(self, name: str, own: DeckFunction) -> str:
        """The formula of a function of the deck, with what it is given in the place of its arguments."""
        given = dict(zip(own.arguments, self._arguments(name, len(own.arguments)), strict=True))
        if self.calls >= MOST_CALLS:
            raise ValueProblemError(f"'{name}' uses functions more than {MOST_CALLS} levels deep")
        texts = {low: f"({text})" for low, text in given.items()}
        inner = _Formula(
            own.text, lambda low: texts.get(low) or self.name_of(low), self.measured, self.function_of, self.calls + 1
        )
        text = inner.value().text
        if len(text) > LONGEST_FORMULA:
            raise ValueProblemError(f"'{name}' written out has more than {LONGEST_FORMULA} characters")
        self.names |= inner.names - texts.keys()
        return f"({text})"

    def _words_inside(self) -> list[str]:
        """What stands in parentheses: names of nodes are no formulas."""
        self._take("(")
        words = [""]
        while self.at < len(self.tokens) and self._peek() != ")":
            if self._peek() == ",":
                words.append("")
            else:
                words[-1] += self.tokens[self.at][1]
            self.at += 1
        self._take(")")
        return words


_EVEN = re.compile(r"\d*[02468]")


def _condition(text: str, is_condition: bool) -> str:
    return text if is_condition else f"({text} != 0)"


def _as_number(text: str, is_condition: bool) -> str:
    return f"if({text}, 1, 0)" if is_condition else text


_ATOM = re.compile(r"[\w.]+|\w*\([^()]*\)")
_TERM = re.compile(r"[\w.*/^]+|\w*\([^()]*\)")


def _joined(left: str, sign: str, right: str) -> str:
    """A product or a sum; parentheses keep what was read first together."""
    if sign in "+-":
        # A sum on the left needs none; on the right it would change its sign.
        return f"{left} {sign} {right if _TERM.fullmatch(right) else f'({right})'}"
    first = left if _ATOM.fullmatch(left) or (sign == "*" and _TERM.fullmatch(left)) else f"({left})"
    return f"{first}{sign}{right if _ATOM.fullmatch(right) else f'({right})'}"


Reader = Callable[[str], DeckValue]
SHAPES = ("pulse", "sin", "exp", "pwl", "sffm", "am")
_OTHER_NAMES = {"sine": "sin"}
REFUSED_SHAPES = ("trnoise", "trrandom", "external")
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
    over = 1 / span.end if span.end else None
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


def _of_frequency(values: list[DeckValue], unit: str, span: Span) -> SourceCourse:
    """SFFM: a sine whose phase swings, `VO + VA*sin(2*pi*FC*t + MDI*sin(2*pi*FS*t))`."""
    if len(values) < 2 or len(values) > 5:
        raise ValueProblemError("SFFM has other than two to five values")
    over = 1 / span.end if span.end else None
    carrier, depth, swing = (
        _at(values, 2, over, "frequency"),
        _at(values, 3, 0.0, ""),
        _at(values, 4, over, "frequency"),
    )
    inner = f"{depth.factor}*sin(2*pi*{_grouped(swing, 'Hz')}*t)"
    wave = f"{_grouped(values[1], unit)}*sin(2*pi*{_grouped(carrier, 'Hz')}*t + {inner})"
    return SourceCourse(_with_offset(values[0], unit, wave))


def _of_amplitude(values: list[DeckValue], unit: str, span: Span) -> SourceCourse:
    """AM: a sine whose amplitude swings, `VA*(VO + sin(2*pi*MF*t))*sin(2*pi*FC*t)` from the delay on."""
    if len(values) < 3 or len(values) > 5:
        raise ValueProblemError("AM has other than three to five values")
    carrier, delay = _at(values, 3, 1 / span.end if span.end else None, "frequency"), _at(values, 4, 0.0, "")
    elapsed = "t" if _is_zero(delay) else f"(t - {_grouped(delay, 's')})"
    swing = f"({values[1].factor} + sin(2*pi*{_grouped(values[2], 'Hz')}*{elapsed}))"
    wave = f"{_grouped(values[0], unit)}*{swing}*sin(2*pi*{_grouped(carrier, 'Hz')}*{elapsed})"
    return SourceCourse(wave if _is_zero(delay) else f"if(t < {delay.with_unit('s')}, 0 {unit}, {wave})")


_SHAPES: dict[str, Callable[[list[DeckValue], str, Span], SourceCourse]] = {
    "pulse": _pulse,
    "sin": _sine,
    "exp": _exponential,
    "pwl": _points,
    "sffm": _of_frequency,
    "am": _of_amplitude,
}
