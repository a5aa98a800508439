"""Units of measurement: a small table of SI units and prefixes with exact factors, the grammar of unit texts, and dimensions.

A unit text such as `m^3/(Pa*s)` becomes a `Unit`: its factor to SI and its dimension. Angles have no dimension here, so
`rad` may be written or left out. The table is our own because it reads a value a hundred times faster than pint.
"""

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple, final

from tellegen.core.errors import Place, Rule, Rulebook
from tellegen.core.names import nearest

RULES = Rulebook("D")

_EXAMPLE = """\
system: Charging a capacitor
parameters: {{R: {R}, C: 1 mF}}
network:
  V: {{voltage source: [a, gnd]}}
  R: {{resistor: [a, b]}}
  C: {{capacitor: [b, gnd]}}
experiment: {{until: 5 s, inputs: {{V: step(10 V)}}}}
"""

UNKNOWN_UNIT = RULES.rule(
    "D050",
    "unknown unit",
    meaning="A word stands where a unit is expected, and it is not in the table of units.",
    why="a value without a known unit has no size",
    example=_EXAMPLE.format(R="2 kohn"),
    instead=_EXAMPLE.format(R="2 kohm"),
)

MALFORMED_UNIT = RULES.rule(
    "D051",
    "malformed unit",
    meaning="The parts of a unit are not joined by `*`, `/`, `^` and parentheses into a product of powers.",
    why="a unit is a product of powers of unit words",
    example=_EXAMPLE.format(R="2 ohm^99"),
    instead=_EXAMPLE.format(R="2 V/A"),
)

OFFSET_UNIT = RULES.rule(
    "D052",
    "temperature scale inside a product",
    meaning="A temperature scale with a zero of its own (`degC`, `degF`) is multiplied, divided or raised to a power.",
    why="20 degC is 293.15 K, but a difference of 20 degC is 20 K: inside a product nobody can tell which is meant",
    example=_EXAMPLE.format(R="2 kohm, alpha: 0.01 ohm/degC"),
    instead=_EXAMPLE.format(R="2 kohm, alpha: 0.01 ohm/K"),
)

DIFFERENT_DIMENSIONS = RULES.rule(
    "D053",
    "different dimensions",
    meaning="A value is asked for in a unit that measures another quantity.",
    why="a unit converts only to units of the same quantity",
)


Exponent = int | Fraction


@final
class Dimension(NamedTuple):
    """The exponents of the seven SI base units."""

    kg: Exponent = 0
    m: Exponent = 0
    s: Exponent = 0
    A: Exponent = 0
    K: Exponent = 0
    mol: Exponent = 0
    cd: Exponent = 0

    def times(self, other: "Dimension") -> "Dimension":
        """The dimension of a product."""
        return Dimension(*(a + b for a, b in zip(self, other, strict=True)))

    def over(self, other: "Dimension") -> "Dimension":
        """The dimension of a quotient."""
        return Dimension(*(a - b for a, b in zip(self, other, strict=True)))

    def power(self, exponent: Exponent) -> "Dimension":
        """The dimension of a power; `power(Fraction(1, 2))` is that of a square root."""
        return Dimension(*(a * exponent for a in self))


DIMENSIONLESS = Dimension()


PREFIXES = {
    "Y": 24, "Z": 21, "E": 18, "P": 15, "T": 12, "G": 9, "M": 6, "k": 3, "h": 2, "da": 1,
    "d": -1, "c": -2, "m": -3, "u": -6, "µ": -6, "μ": -6, "n": -9, "p": -12, "f": -15, "a": -18, "z": -21, "y": -24,
}  # fmt: skip

# Defined by other units, in order; a word may use those above it. Words of this table take SI prefixes.
PREFIXABLE = {
    "m": "", "g": "", "s": "", "A": "", "K": "", "mol": "", "cd": "",
    "rad": "1", "sr": "1",
    "Hz": "1/s", "N": "kg*m/s^2", "Pa": "N/m^2", "J": "N*m", "W": "J/s", "C": "A*s", "V": "W/A", "F": "C/V",
    "ohm": "V/A", "\u03a9": "ohm", "\u2126": "ohm", "S": "A/V", "Wb": "V*s", "T": "Wb/m^2", "H": "Wb/A",
    "lm": "cd", "lx": "lm/m^2",
    "L": "dm^3", "l": "dm^3", "VA": "V*A", "var": "V*A",
}  # fmt: skip

PREFIXABLE_FACTORS = {
    "eV": ("1.602176634e-19", "J"), "Wh": ("3600", "J"), "Ah": ("3600", "C"), "bar": ("1e5", "Pa"),
    "P": ("0.1", "Pa*s"), "St": ("1e-4", "m^2/s"),
}  # fmt: skip

PLAIN = {
    "%": ("0.01", "1"), "ppm": ("1e-6", "1"),
    "min": ("60", "s"), "h": ("3600", "s"), "d": ("86400", "s"),
    "t": ("1000", "kg"), "lb": ("0.45359237", "kg"), "oz": ("0.028349523125", "kg"),
    "in": ("0.0254", "m"), "ft": ("0.3048", "m"), "yd": ("0.9144", "m"), "mi": ("1609.344", "m"),
    "kgf": ("9.80665", "N"), "lbf": ("4.4482216152605", "N"), "atm": ("101325", "Pa"), "mmHg": ("133.322387415", "Pa"),
    "psi": ("1", "lbf/in^2"), "ksi": ("1000", "lbf/in^2"), "hp": ("550", "ft*lbf/s"), "mph": ("1", "mi/h"),
    "gal": ("231", "in^3"),
}  # fmt: skip

ANGLES = {  # a double holds pi to its last bit; these factors are as exact as a number in a file can use
    "deg": (Fraction(math.pi) / 180, "1"), "°": (Fraction(math.pi) / 180, "1"),
    "rev": (2 * Fraction(math.pi), "1"), "turn": (2 * Fraction(math.pi), "1"),
    "rpm": (Fraction(math.pi) / 30, "1/s"), "rps": (2 * Fraction(math.pi), "1/s"),
}  # fmt: skip

SCALES = {
    "degC": (Fraction(1), Fraction("273.15")), "°C": (Fraction(1), Fraction("273.15")),
    "degF": (Fraction(5, 9), Fraction("459.67") * 5 / 9), "°F": (Fraction(5, 9), Fraction("459.67") * 5 / 9),
}  # fmt: skip

HINTS = {
    "sec": "s", "hr": "h", "hour": "h", "day": "d", "days": "d", "Kg": "kg", "celsius": "degC", "Celsius": "degC",
    "kelvin": "K", "degK": "K", "lpm": "L/min", "gpm": "gal/min", "mps": "m/s", "kph": "km/h", "kmh": "km/h",
    "ampere": "A", "watt": "W", "joule": "J", "pascal": "Pa", "farad": "F", "henry": "H", "second": "s", "minute": "min",
    "gram": "g", "fahrenheit": "degF", "radians": "rad", "revolution": "rev",
    "inch": "in", "foot": "ft", "lbs": "lb", "newton": "N", "volt": "V", "amp": "A", "metre": "m", "meter": "m",
    "radian": "rad", "degree": "deg", "degrees": "deg", "litre": "L", "liter": "L", "Siemens": "S", "mho": "S",
    "ohm": "ohm", "hertz": "Hz", "coulomb": "C", "tesla": "T", "weber": "Wb", "kilogram": "kg",
}  # fmt: skip
"""Words that people write for a unit and that spelling alone would not lead to it."""


_MAX_LENGTH = 200

_MAX_EXPONENT = 30

_MAX_FACTOR = 10**300  # numerator and denominator must each fit a double


class UnitError(Exception):
    """What is wrong with a unit text and where in it, before the place in the file is known."""

    def __init__(self, rule: Rule, what: str, fix: str, at: int, word: str) -> None:
        super().__init__(what)
        self.rule, self.what, self.fix, self.at, self.word = rule, what, fix, at, word


Measure = tuple[Fraction, Dimension]
"""A factor to SI and a dimension."""

_TOKEN = re.compile(
    r"\s*(?:(?P<word>°?[^\W\d_⁰¹²³⁴⁵⁶⁷⁸⁹]+|[°%])|(?P<number>\d+(?:\.\d*)?)|(?P<raised>[⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+)|(?P<sign>\*\*|[-+*·⋅×/^()])|(?P<end>$))"
)

_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "0123456789+-")

_TIMES = frozenset("*·⋅×")

_ONE: Measure = (Fraction(1), DIMENSIONLESS)


def _read_measure(text: str, look_up: Callable[[str], Measure | None]) -> Measure:
    """What a unit text measures: the words are those that `look_up` knows.

    Raises: UnitError.
    """
    return _Reader(text, look_up).read()


class _Reader:
    """Reads one unit text by recursive descent; its length bounds the recursion and the size of the numbers."""

    def __init__(self, text: str, look_up: Callable[[str], Measure | None]) -> None:
        self.text = text
        self.look_up = look_up
        self.at = self.next_at = 0
        self.kind, self.token = "", ""

    def read(self) -> Measure:
        # Recursion and the size of numbers are bounded by the length of the text.
        if len(self.text) > _MAX_LENGTH:
            raise self.malformed(
                f"a unit of {len(self.text)} characters is too long", f"use at most {_MAX_LENGTH} characters"
            )
        self.advance()
        measure = self.product()
        if self.kind != "end":
            raise self.misplaced()
        return measure

    def advance(self) -> None:
        match = _TOKEN.match(self.text, self.next_at)
        if match is None:
            self.at = self.next_at
            while self.text[self.at].isspace():
                self.at += 1
            self.token = self.text[self.at]
            raise self.malformed(f"'{self.token}' cannot stand in a unit", "join unit words by *, / and ^, as in N*m/A")
        self.kind = match.lastgroup or "end"
        self.token = match.group(self.kind)
        self.at, self.next_at = match.start(self.kind), match.end()

    def product(self) -> Measure:
        measure = self.power()
        # From the left, as in formulas: W/m*K is (W/m)*K; write W/(m*K).
        while self.token in _TIMES or self.token == "/":
            sign = -1 if self.token == "/" else 1
            self.advance()
            measure = self.join(measure, self.power(), sign)
        return measure

    def power(self) -> Measure:
        measure = self.atom()
        while self.token in ("^", "**") or self.kind == "raised":
            measure = self.raise_to(measure, self.exponent())
        return measure

    def atom(self) -> Measure:
        if self.kind == "word":
            found = self.look_up(self.token)
            if found is None:
                raise self.unknown()
            self.advance()
            return found
        if self.token == "1":
            self.advance()
            return _ONE
        if self.token == "(":
            self.advance()
            measure = self.product()
            if self.token != ")":
                raise self.malformed("a ')' is missing in the unit", "close the parenthesis")
            self.advance()
            return measure
        raise self.misplaced()

    def exponent(self) -> Exponent:
        """A whole number, or that of a root: `Pa^0.5`, `Pa^(1/2)`."""
        if self.kind == "raised":
            digits = self.token.translate(_SUPERSCRIPTS)
            return self.exact(digits)
        self.advance()
        opened = self.token == "("
        if opened:
            self.advance()
        sign = self.token if self.token in ("-", "+") else ""
        if sign:
            self.advance()
        found = self.exact(sign + self.digits())
        if opened and self.token == "/":
            self.advance()
            below = self.digits()
            if not below.strip("0."):
                raise self.malformed(f"the exponent of a unit is divided by {below}", "write Pa^(1/2)")
            found = Fraction(found) / self.exact(below)
        if opened:
            if self.token != ")":
                raise self.malformed("a ')' is missing after the exponent", "close the parenthesis")
            self.advance()
        return found

    def digits(self) -> str:
        if self.kind != "number":
            raise self.malformed("the exponent of a unit must be a number", "write m^2, s^-1 or Pa^0.5")
        return self.token

    def exact(self, digits: str) -> Exponent:
        """An exponent in bounds; reads past its last digit."""
        # The length first: int() of a long text takes the square of its length.
        found = Fraction(digits) if len(digits) <= 6 else Fraction(_MAX_EXPONENT + 1)
        if abs(found) > _MAX_EXPONENT or found.denominator > _MAX_EXPONENT:
            raise self.malformed(f"the exponent {digits} is too large", f"use exponents up to {_MAX_EXPONENT}")
        self.advance()
        return int(found) if found.denominator == 1 else found

    def join(self, a: Measure, b: Measure, sign: int) -> Measure:
        factor = a[0] * b[0] if sign > 0 else a[0] / b[0]
        return self.bounded((factor, a[1].times(b[1]) if sign > 0 else a[1].over(b[1])))

    def raise_to(self, a: Measure, exponent: Exponent) -> Measure:
        # The root of a factor is as exact as a double, unless it is a whole number.
        factor = Fraction(a[0] ** exponent) if isinstance(exponent, int) else Fraction(float(a[0]) ** float(exponent))
        return self.bounded((factor, a[1].power(exponent)))

    def bounded(self, measure: Measure) -> Measure:
        """Keep numbers small while reading: towers of powers would otherwise grow without end."""
        factor, dimension = measure
        if max(factor.numerator, factor.denominator) > _MAX_FACTOR or any(abs(Fraction(p)) > 99 for p in dimension):
            raise self.malformed("the unit is too large or too small for a number", "use a smaller prefix or exponent")
        return measure

    def unknown(self) -> UnitError:
        # 20 degC inside a product could be 20 K or 293.15 K.
        if self.token in SCALES:
            fix = "use K for temperature differences"
            return UnitError(OFFSET_UNIT, f"'{self.token}' stands inside a product of units", fix, self.at, self.token)
        return UnitError(UNKNOWN_UNIT, f"'{self.token}' is not a unit", "", self.at, self.token)

    def misplaced(self) -> UnitError:
        fix = "join unit words by *, / and ^, as in N*m/A"
        if self.kind == "end":
            return self.malformed(
                "the unit ends where a unit word is expected" if self.text.strip() else "the unit is empty", fix
            )
        if self.kind == "number":
            word = re.search(r"[^\W\d_]+\Z", self.text[: self.at])
            fix = f"write {word[0]}^{self.token} for a power" if word else "only 1 may stand in a unit, as in 1/s"
            return self.malformed(f"the number {self.token} stands inside a unit", fix)
        return self.malformed(f"'{self.token}' stands where it makes no unit", fix)

    def malformed(self, what: str, fix: str) -> UnitError:
        return UnitError(MALFORMED_UNIT, what, fix, self.at, self.token or self.text)


@lru_cache(maxsize=4096)
def is_unit(word: str) -> bool:
    """Whether a single word, such as `mH` or `rpm`, is a unit (no products, no powers)."""
    return word in SCALES or _look_up_word(word, _unit_table()) is not None


def unit_words() -> Iterator[str]:
    """Every unit word that the table lists, without prefixes."""
    yield from _unit_table()
    yield from SCALES


@lru_cache(maxsize=1)
def _unit_table() -> dict[str, Measure]:
    """Every word without prefix; built on first use, each definition from the words above it."""
    base = {name: Dimension(**{name: 1}) for name in Dimension._fields}
    table: dict[str, Measure] = {name: (Fraction(1), dimension) for name, dimension in base.items()}
    table["g"] = (Fraction(1, 1000), base["kg"])

    def define(word: str, factor: Fraction, text: str) -> None:
        measure = _read_measure(text, lambda part: _look_up_word(part, table))
        table[word] = (factor * measure[0], measure[1])

    # In the order of the table, each from words above it; a ring cannot be written.
    for word, text in PREFIXABLE.items():
        if text:
            define(word, Fraction(1), text)
    for word, (number, text) in (PREFIXABLE_FACTORS | PLAIN).items():
        define(word, Fraction(number), text)
    for word, (factor, text) in ANGLES.items():
        define(word, factor, text)
    return table


def _look_up_word(word: str, table: dict[str, Measure]) -> Measure | None:
    """The word, or a prefix and a word. The whole word wins: `min` is a minute, `cd` a candela, `ft` a foot."""
    if (whole := table.get(word)) is not None:
        return whole
    for length in (2, 1):  # `da` before `d`
        prefix, rest = word[:length], word[length:]
        # Minutes, inches and percents take no prefixes: `mmin` would be read as a unit by chance.
        if prefix in PREFIXES and rest in table and (rest in PREFIXABLE or rest in PREFIXABLE_FACTORS):
            factor, dimension = table[rest]
            return Fraction(10) ** PREFIXES[prefix] * factor, dimension
    return None


def _unit_suggestion(word: str) -> str:
    """What to do about a word that is no unit: the unit that was probably meant."""
    if (hint := HINTS.get(word) or HINTS.get(word.lower()) or HINTS.get(word.lower().removesuffix("s"))) is not None:
        return f"did you mean '{hint}'?"
    # Only letters that begin products of units: `kg` must not become k*g.
    if word[0] in "NVAWJ" and all(is_unit(letter) for letter in word):
        return f"did you mean '{'*'.join(word)}'?"  # `Nm` is how a catalogue prints it
    if word.startswith("kg") and is_unit(word[2:]):
        return f"did you mean 'kg*{word[2:]}'?"
    close = nearest(word, _words_with_prefix_of(word))
    return f"did you mean '{close}'?" if close else "units are SI units with prefixes, such as mH, kohm, N*m/A, rad/s"


def unit_advice(name: str) -> str:
    """What to do about a unit that stands where a name is read, as in `500/s` or `kg*m2`; nothing for other words."""
    if is_unit(name):
        return f"as a unit, '{name}' stands behind its number, after a space: 1 {name}, or 1 {name}^-1"
    word, digit = name[:-1], name[-1:]
    # m2 and m3 are how people write areas and volumes.
    return f"as a unit, write {word}^{digit}" if digit in "23" and is_unit(word) else ""


def _words_with_prefix_of(word: str) -> list[str]:
    """Known words, and all units with the prefix that `word` seems to start with, in either case of letters."""
    prefixes = [p for p in PREFIXES if word.lower().startswith(p.lower())]
    prefixed = [p + base for p in prefixes for base in (*PREFIXABLE, *PREFIXABLE_FACTORS)]
    return [*unit_words(), *prefixed]


__all__ = [
    "DIMENSIONLESS", "OFFSET_UNIT", "Dimension", "Exponent", "Unit", "convert", "describe", "dimension_of", "is_unit",
    "parse_unit", "unit_words",
]  # fmt: skip


@final
@dataclass(frozen=True, slots=True)
class Unit:
    """A unit: its value in SI is `number * factor + offset`; the offset is zero except for temperature scales."""

    factor: Fraction
    dimension: Dimension
    text: str
    offset: Fraction = Fraction(0)

    def to_si(self, number: float) -> float:
        """The number in SI; dividing by 1000 keeps 4.7 mH at 0.0047, where multiplying by 0.001 may miss a digit."""
        return number * self.factor.numerator / self.factor.denominator + float(self.offset)

    def from_si(self, value: float) -> float:
        """The SI value in this unit."""
        return (value - float(self.offset)) * self.factor.denominator / self.factor.numerator


def parse_unit(text: str, place: Place | None = None) -> Unit:
    """The unit that a text such as `N*m/A` stands for.

    `place` is where the text starts in a file; an error points at the word inside it.

    Raises: DescriptionError (D050, D051, D052) when the text is not a unit.
    """
    try:
        return _parse(text)
    except UnitError as problem:
        spot = place._replace(column=place.column + problem.at, text=problem.word) if place else None
        fix = problem.fix or _unit_suggestion(problem.word)
        raise problem.rule.error(problem.what, fix=fix, place=spot) from None


def dimension_of(text: str) -> Dimension:
    """The dimension of a unit text."""
    return parse_unit(text).dimension


def convert(value: float, source: str, target: str, place: Place | None = None) -> float:
    """The value, given in unit `source`, as a number of unit `target`; temperature scales keep their offsets."""
    a, b = parse_unit(source, place), parse_unit(target)
    if a.dimension != b.dimension:
        raise DIFFERENT_DIMENSIONS.error(
            f"'{source}' does not convert to '{target}'",
            why=f"'{source}' is a unit of {describe(a.dimension)}, '{target}' of {describe(b.dimension)}",
            fix=f"give the value in a unit of {describe(b.dimension)}",
            place=place,
        )
    # An infinite limit is infinite in every unit, and no Fraction.
    if not math.isfinite(value):
        return value
    # Exact until the last step, so that there and back is the same number wherever a double can say so.
    return float((Fraction(value) * a.factor + a.offset - b.offset) / b.factor)


# The first unit is the one to read; those behind it have the same dimension and are shown beside it.
_READABLE = (
    "V", "A", "ohm (V/A)", "S (A/V)", "H", "F", "C (A*s)", "Wb (V*s, N*m/A)", "T", "V/m", "V/s", "A/s", "1/ohm^2",
    "m", "s", "kg", "K", "mol", "cd", "m/s", "m/s^2", "m^2", "m^3", "1/m", "1/s (rad/s)", "1/s^2 (rad/s^2)",
    "1/K", "1/A", "1/V",
    "N", "N*s (kg*m/s)", "N/m", "N*s/m (kg/s)", "m/N", "m/(N*s)", "N/A (V*s/m)", "kg*m^2", "N*m (J)", "N*m*s",
    "1/(N*m)", "1/(N*m*s)", "W", "kg/m", "kg/m^3",
    "Pa", "Pa*s", "m^3/s", "m^3/Pa", "m^3/(Pa*s)", "m^3/(s*Pa^0.5)", "Pa/m^3", "Pa*s/m^3",
    "Pa*s^2/m^3", "Pa*s^2/m^6", "m^2/s", "1/Pa",
    "J/K (W/K*s)", "W/K", "K/W", "W/K^2", "J/(kg*K)", "W/(m*K)", "W/(m^2*K)", "W/m^2", "J/kg (m^2/s^2)", "1/H (A/Wb)",
)  # fmt: skip


def describe(dimension: Dimension) -> str:
    """A readable unit of the dimension: `ohm (V/A)`, `m^3/(Pa*s)`, `1` for a number, else a product of base units."""
    if dimension == DIMENSIONLESS:
        return "1"
    return _readable().get(dimension) or _in_base_units(dimension)


@lru_cache(maxsize=1)
def _readable() -> dict[Dimension, str]:
    return {dimension_of(text.split(" ", 1)[0]): text for text in _READABLE}


def _in_base_units(dimension: Dimension) -> str:
    powers = dict(zip(Dimension._fields, dimension, strict=True))
    above = [_power_text(word, power) for word, power in powers.items() if power > 0]
    below = [_power_text(word, -power) for word, power in powers.items() if power < 0]
    numerator = "*".join(above) or "1"
    if not below:
        return numerator
    return f"{numerator}/{below[0]}" if len(below) == 1 else f"{numerator}/({'*'.join(below)})"


def _power_text(word: str, power: Exponent) -> str:
    exact = Fraction(power)
    if exact == 1:
        return word
    decimal = str(float(exact)) if 10**6 % exact.denominator == 0 else f"({exact})"
    return f"{word}^{exact}" if exact.denominator == 1 else f"{word}^{decimal}"


@lru_cache(maxsize=4096)
def _parse(text: str) -> Unit:
    stripped = text.strip()
    if stripped in SCALES:
        factor, offset = SCALES[stripped]
        return Unit(factor, Dimension(K=1), text, offset)
    factor, dimension = _read_measure(text, lambda word: _look_up_word(word, _unit_table()))
    return Unit(factor, dimension, text)
