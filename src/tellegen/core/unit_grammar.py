"""The grammar of units: product = power {("*" | "/") power}, power = (word | "1" | "(" product ")") ["^" integer]."""

import re
from collections.abc import Callable
from fractions import Fraction

from tellegen.core.dimensions import DIMENSIONLESS, Dimension
from tellegen.core.errors import Rule
from tellegen.core.unit_definitions import SCALES
from tellegen.core.unit_rules import MALFORMED_UNIT, OFFSET_UNIT, UNKNOWN_UNIT

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


def read_measure(text: str, look_up: Callable[[str], Measure | None]) -> Measure:
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

    def exponent(self) -> int:
        if self.kind == "raised":
            digits = self.token.translate(_SUPERSCRIPTS)
        else:
            self.advance()
            opened = self.token == "("
            if opened:
                self.advance()
            sign = self.token if self.token in ("-", "+") else ""
            if sign:
                self.advance()
            if self.kind != "number" or not self.token.isdigit():
                raise self.malformed("the exponent of a unit must be a whole number", "write m^2 or s^-1")
            digits = sign + self.token
            if opened:
                self.advance()
                if self.token != ")":
                    raise self.malformed("a ')' is missing after the exponent", "close the parenthesis")
        if len(digits) > 4 or abs(int(digits)) > _MAX_EXPONENT:
            raise self.malformed(f"the exponent {digits} is too large", f"use exponents up to {_MAX_EXPONENT}")
        self.advance()
        return int(digits)

    def join(self, a: Measure, b: Measure, sign: int) -> Measure:
        factor = a[0] * b[0] if sign > 0 else a[0] / b[0]
        return self.bounded((factor, a[1].times(b[1]) if sign > 0 else a[1].over(b[1])))

    def raise_to(self, a: Measure, exponent: int) -> Measure:
        return self.bounded((a[0] ** exponent, a[1].power(exponent)))

    def bounded(self, measure: Measure) -> Measure:
        """Keep numbers small while reading: towers of powers would otherwise grow without end."""
        factor, dimension = measure
        if max(factor.numerator, factor.denominator) > _MAX_FACTOR or any(abs(Fraction(p)) > 99 for p in dimension):
            raise self.malformed("the unit is too large or too small for a number", "use a smaller prefix or exponent")
        return measure

    def unknown(self) -> UnitError:
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
