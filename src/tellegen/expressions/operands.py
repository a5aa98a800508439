"""The operands of a formula: numbers with their units, names with their indices."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Final, NoReturn

from tellegen.core.errors import Place
from tellegen.core.names import NAME, did_you_mean, listing
from tellegen.expressions.canonical import CONSTANTS, number, product
from tellegen.expressions.functions import ALIASES, FUNCTIONS
from tellegen.expressions.interning import intern_symbol
from tellegen.expressions.layout import LARGEST_EXPONENT
from tellegen.expressions.nodes import Condition, Expression, Number, Rational
from tellegen.expressions.rules import CONDITION, INDEX, OUT_OF_RANGE, SYNTAX, UNIT
from tellegen.expressions.tokens import KEYWORDS, AbstractTokens, shortened
from tellegen.expressions.unit_reading import AFTER_NUMBER, unit_end

MOST_DIGITS: Final = 4_000

UnitReader = Callable[[str, int], Expression]
"""Gives the factor of a unit from its text and its offset in the formula; raises its own error if it is unknown."""

RESERVED_WORDS: Final = frozenset(FUNCTIONS) | frozenset(ALIASES) | frozenset(CONSTANTS) | KEYWORDS
"""Words that have a meaning of their own in a formula, so that nothing else can be named by them."""

_SUFFIX = re.compile(rf"\.({NAME.pattern})")
_POWER_OF_TEN = re.compile(r"[eE][+-]?[0-9]")
_POWER_OF_UNIT = re.compile(r"-[1-9](?![0-9.])(?=\s*(?:[*/)]|\Z))")
"""In `500 s-1` the catalogue means 1/s, and a formula would take 1 away."""


def decimal(text: str) -> Rational | None:
    """The exact value of a decimal number, or None when its power of ten is out of range."""
    if text.isdecimal():
        return int(text)
    mantissa, _, exponent = text.replace("E", "e").partition("e")
    before, _, after = mantissa.partition(".")
    if len(exponent) > 6:
        return None
    shift = int(exponent) if exponent else 0
    if abs(shift) > LARGEST_EXPONENT:
        return None
    shift -= len(after)
    digits = int(before + after)
    if shift >= 0:
        return digits * 10**shift  # type: ignore[no-any-return]
    value = Fraction(digits, 10**-shift)
    return value.numerator if value.denominator == 1 else value


class AbstractOperands(AbstractTokens, ABC):
    """Reads numbers and names; a name before a parenthesis is a function, an index is a value of its own."""

    def __init__(
        self,
        text: str,
        place: Place | None,
        unit: UnitReader | None,
        *,
        is_unit: Callable[[str], bool] | None,
        indices: Mapping[str, int],
    ) -> None:
        super().__init__(text, place)
        self.unit = unit
        self.is_unit = is_unit
        self.indices = indices
        self.in_index = False

    @abstractmethod
    def value(self) -> Expression:
        """Read sums and products."""

    @abstractmethod
    def function(self, name: str, start: int) -> Expression:
        """Read the arguments of a function whose name has been read."""

    @abstractmethod
    def unknown_function(self, name: str, start: int) -> NoReturn:
        """Raise that there is no such function."""

    def refuse_condition(self, x: Expression, offset: int) -> None:
        """Raise that a value is expected, where there is a condition."""
        if isinstance(x, Condition):
            self.fail(
                CONDITION, offset, "found a condition, expected a value", "write if(condition, value, other value)"
            )

    def number(self) -> Expression:
        """Read a number, and its unit where one follows."""
        start, text = self.start, self.word
        value = decimal(text) if len(text) <= MOST_DIGITS else None
        if value is None:
            what = f"the number '{shortened(text)}' is out of range"
            self.fail(
                OUT_OF_RANGE, start, what, f"the power of ten lies between -{LARGEST_EXPONENT} and {LARGEST_EXPONENT}"
            )
        result = self.build(start, number, value)
        match = AFTER_NUMBER.match(self.text, self.end)
        if match is None or match[2] in ("and", "or"):
            self.advance()
            return result
        factor = self._read_unit(match[1], match[2], match.start(2))
        self.advance()
        return self.build(start, product, (result, factor))

    def _read_unit(self, gap: str, word: str, start: int) -> Expression:
        follows = self.text[start + len(word) : start + len(word) + 1]
        if word in self.indices or follows == "(":
            self.fail(
                SYNTAX, start, f"found '{word}' after a number, expected an operator", f"write *{word} for a product"
            )
        if not gap:
            what = f"found '{word}' directly after a number, expected a space or an operator"
            self.fail(SYNTAX, start, what, self._parted(word))
        if self.unit is None:
            fix = f"leave the unit out, or write *{word} for a product"
            self.fail(UNIT, start, f"found '{word}' after a number, expected an operator; no unit is read here", fix)
        if _POWER_OF_TEN.match(self.text, start):
            self.fail(SYNTAX, start, f"found '{word}' after a space", "write a power of ten without a space: 1e-3")
        self.end = unit_end(self.text, start + len(word), self._is_unit_word)
        if (power := _POWER_OF_UNIT.match(self.text, self.end)) is not None:
            what = f"found '{power[0]}' directly after a unit: a power of the unit, or a difference?"
            self.fail(SYNTAX, self.end, what, f"write ^{power[0]} for the power, or spaces round the minus sign")
        return self.unit(self.text[start : self.end], start)

    def _parted(self, word: str) -> str:
        """How to write a number and a word that stand together: apart where the word may be a unit, as a product where a name."""
        if not word[0].isalpha():
            return f"write a space before it: {self.word} {word}"
        if self.unit is not None and self.is_unit is not None and self.is_unit(word):
            return f"write a space before a unit, {self.word} {word}, and * before a name, {self.word}*{word}"
        return f"write a space before a unit and * before a name: 4.7 mH, {self.word}*{word}"

    def _is_unit_word(self, word: str) -> bool:
        return word not in self.indices and (self.is_unit is None or self.is_unit(word))

    def name(self) -> Expression:
        """Read what a name stands for: a constant, the counter of a repetition, a function or a symbol."""
        start, name = self.start, self.word
        follows = self.text[self.end : self.end + 1]
        if follows == "[" or (follows == "." and _SUFFIX.match(self.text, self.end)):
            return self._indexed(name, start)
        self.advance()
        if self.kind == "sign" and self.word == "(":
            return self.function(name, start)
        if name in CONSTANTS:
            return CONSTANTS[name]
        if name in self.indices:
            return number(self.indices[name])
        if name in RESERVED_WORDS:
            self.fail(SYNTAX, start, f"'{name}' is a function, expected its arguments", f"write {name}(...)")
        if self.in_index:
            self._unknown_index(name, start)
        return intern_symbol(name)

    def _unknown_index(self, name: str, start: int) -> NoReturn:
        known = f"known here: {listing(self.indices)}" if self.indices else "there is no repetition here"
        self.fail(
            INDEX, start, f"'{name}' is not the counter of a repetition", did_you_mean(name, self.indices) or known
        )

    def _indexed(self, name: str, start: int) -> Expression:
        """A path with indices that are not plain numbers: x[i+1].v."""
        while True:
            follows = self.text[self.end : self.end + 1]
            suffix = _SUFFIX.match(self.text, self.end)
            if follows == "[":
                name += self._index_list()
            elif suffix is not None:
                name += suffix[0]
                self.end = suffix.end()
            else:
                break
        self.advance()
        if self.kind == "sign" and self.word == "(":
            self.unknown_function(name, start)
        if self.in_index:
            self._unknown_index(name, start)
        return intern_symbol(name)

    def _index_list(self) -> str:
        self.advance()
        self.enter()
        outer, self.in_index = self.in_index, True
        outer_unit, self.unit = self.unit, None
        numbers = []
        while True:
            self.advance()
            numbers.append(self._index())
            if not (self.kind == "sign" and self.word == ","):
                break
        self.in_index, self.unit = outer, outer_unit
        self.depth -= 1
        if self.kind != "sign" or self.word != "]":
            self.expected("']' to close the index")
        return f"[{','.join(map(str, numbers))}]"

    def _index(self) -> int:
        start = self.start
        value = self.value()
        self.refuse_condition(value, start)
        if not isinstance(value, Number) or type(value.rational) is not int or value.rational < 0:
            self.fail(INDEX, start, f"the index is {shortened(str(value))}, expected a whole number from 0 on")
        return int(value.rational)
