"""Formulas from text, by a small parser of our own: nothing is evaluated, sizes and depths are bounded."""

import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Final, NamedTuple, NoReturn, final

from tellegen.core.errors import Place
from tellegen.core.names import NAME, did_you_mean, listing
from tellegen.expressions.canonical import (
    COMPARE,
    CONSTANTS,
    MINUS_ONE,
    ONE,
    logic,
    number,
    power,
    product,
    relation,
    total,
)
from tellegen.expressions.functions import ALIASES, FUNCTIONS, call
from tellegen.expressions.nodes import Condition, Expression, Number, Operator, Rational, intern_number, intern_symbol
from tellegen.expressions.printing import LARGEST_EXPONENT
from tellegen.expressions.rules import (
    ARGUMENTS,
    CONDITION,
    INDEX,
    OUT_OF_RANGE,
    SYNTAX,
    TOO_LARGE,
    UNIT,
    UNKNOWN_FUNCTION,
)
from tellegen.expressions.tokens import AFTER_NUMBER, KEYWORDS, NUMBER, PATH, AbstractTokens, clipped, unit_end

MOST_DIGITS: Final = 4_000

UnitReader = Callable[[str, int], Expression]
"""Gives the factor of a unit from its text and its offset in the formula; raises its own error if it is unknown."""

_ELSEWHERE = {
    "heaviside": "step",
    "rect": "pulse",
    "sgn": "sign",
    "signum": "sign",
    "square": "pulse",
    "triangle": "trapezoid",
}
"""What other programs call functions that are known here by another word."""
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
    # Refused before it is a number: 1e999999999 must not be computed.
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


_KEYWORD = re.compile(rf"({NAME.pattern})[ \t\r\n]*=(?!=)")


class Macro(NamedTuple):
    """A function that the caller adds to formulas: its least and most number of arguments, and what it stands for.

    Arguments may be given by the `names` of their places, as in `step(24 V, start=1 s)`; `build` gets None for one left out before
    another that is given.
    """

    least: int
    most: int
    build: Callable[..., Expression]
    names: tuple[str, ...] = ()


def _span(macro: Macro | None) -> str:
    assert macro is not None, "a function is in the table or a macro"
    if macro.least == macro.most:
        return f"{macro.least} argument{'s' if macro.least != 1 else ''}"
    return f"{macro.least} to {macro.most} arguments"


LONGEST: Final = 10_000

_PLAIN = re.compile(rf"[ \t]*(?:({NUMBER})(?:[ \t]+([A-Za-zµμΩ°%]+))?|({PATH}))[ \t]*")
_ARITHMETIC = frozenset("+-*/")
_OPERATORS: dict[str, Operator] = {"<": "<", "<=": "<=", ">": ">", ">=": ">=", "==": "==", "!=": "!="}
_NO_INDICES: Mapping[str, int] = {}
_NO_MACROS: Mapping[str, Macro] = {}


def parse(
    text: str,
    *,
    place: Place | None = None,
    unit: UnitReader | None = None,
    is_unit: Callable[[str], bool] | None = None,
    indices: Mapping[str, int] = _NO_INDICES,
    macros: Mapping[str, Macro] = _NO_MACROS,
) -> Expression:
    """The expression that a formula means.

    `unit` turns the unit behind a number into a factor (without it units are refused), `is_unit` says where a unit such
    as that of `1 ohm/i` ends, `indices` are the counters of repetitions with their values, and `macros` add functions.

    Raises: DescriptionError with a code from D001 on, naming the column, what stands there and what should.
    """
    # Most formulas of a file are a number with its unit, or a name: read by one expression, without a parser.
    match = _PLAIN.fullmatch(text) if len(text) <= LONGEST else None
    if match is not None:
        digits, word, name = match.groups()
        if name is not None:
            if name not in RESERVED_WORDS and name not in indices:
                return intern_symbol(name)
        elif word is None or (unit is not None and word not in indices and word not in KEYWORDS):
            # Longer ones get their message from the parser.
            value = decimal(digits) if len(digits) < 300 else None
            if value is not None and (word is None or unit is None):
                return intern_number(value)
            if value is not None and unit is not None:
                return product((intern_number(value), unit(word, match.start(2))))
    return _Parser(text, place, unit, is_unit=is_unit, indices=indices, macros=macros).whole()


@final
class _Quantity(NamedTuple):
    """A number with a unit, and where it was read."""

    start: int
    whole: Expression
    number: Expression
    unit: Expression


@final
class _Parser(AbstractTokens):
    """Recursive descent over one text: operators by their precedence, then numbers with units, names, and functions."""

    def __init__(
        self,
        text: str,
        place: Place | None,
        unit: UnitReader | None,
        *,
        is_unit: Callable[[str], bool] | None,
        indices: Mapping[str, int],
        macros: Mapping[str, Macro],
    ) -> None:
        super().__init__(text, place)
        self.unit = unit
        self.is_unit = is_unit
        self.indices = indices
        self.macros = macros
        self.in_index = False
        self.quantity = _Quantity(-1, ONE, ONE, ONE)

    def whole(self) -> Expression:
        if len(self.text) > LONGEST:
            what = f"the formula has {len(self.text)} characters, at most {LONGEST} are read"
            self.fail(TOO_LARGE, LONGEST, what, "give parts of the formula names of their own")
        self.advance()
        result = self.formula()
        if self.kind != "end":
            self.expected("an operator or the end of the formula")
        if isinstance(result, Condition):
            self.fail(CONDITION, 0, "found a condition, expected a value", "write if(condition, value, other value)")
        return result

    def formula(self) -> Expression:
        """Comparisons joined by `and` and `or`, or simply a value."""
        start = self.start
        either: list[Expression] = []
        both: list[Expression] = []
        while True:
            both.append(self.comparison())
            if self.kind == "keyword" and self.word == "and":
                self.advance()
                continue
            either.append(both[0] if len(both) == 1 else self.joined("and", both, start))
            both = []
            if not (self.kind == "keyword" and self.word == "or"):
                return either[0] if len(either) == 1 else self.joined("or", either, start)
            self.advance()

    def joined(self, word: str, conditions: list[Expression], start: int) -> Expression:
        for condition in conditions:
            if not isinstance(condition, Condition):
                self.fail(
                    CONDITION, start, f"'{word}' joins conditions, found the value '{condition}'", "compare it: x > 0"
                )
        return logic("and" if word == "and" else "or", *conditions)

    def comparison(self) -> Expression:
        negations = 0
        while self.kind == "keyword" and self.word == "not":
            negations += 1
            self.advance()
        start = self.start
        left = self.value()
        if self.kind == "sign" and self.word in COMPARE:
            left = self.compared(left, start)
        # After the value is read, because `not` binds less tightly than a comparison.
        if negations and not isinstance(left, Condition):
            self.fail(CONDITION, start, f"'not' needs a condition, found the value '{left}'", "compare it: not x > 0")
        return logic("not", left) if negations % 2 else left

    def compared(self, left: Expression, start: int) -> Expression:
        operator = self.word
        self.advance()
        right_start = self.start
        right = self.value()
        for side, offset in ((left, start), (right, right_start)):
            self.refuse_condition(side, offset)
        if self.kind == "sign" and self.word in COMPARE:
            self.fail(SYNTAX, self.start, f"found a second comparison '{self.word}'", "write a < b and b < c")
        return relation(_OPERATORS[operator], left, right)

    def value(self) -> Expression:
        """Sums and products, collected before they are built so that long ones take linear time."""
        first = self.start
        terms: list[Expression] = []
        factors = [self.factor()]
        while self.kind == "sign" and self.word in _ARITHMETIC:
            operator, offset = self.word, self.start
            if not terms and len(factors) == 1:
                self.refuse_condition(factors[0], first)
            self.advance()
            operand_start = self.start
            operand = self.factor()
            self.refuse_condition(operand, operand_start)
            if operator == "*":
                factors.append(operand)
            elif operator == "/" and self._is_fraction_of_unit(factors, operand_start, operand):
                factors += [self.build(offset, power, self.quantity.number, MINUS_ONE), self.quantity.unit]
            elif operator == "/":
                # Division is a power, so that the column of a division by zero is that of its sign.
                factors.append(self.build(offset, power, operand, MINUS_ONE))
            else:
                terms.append(self.build(offset, product, factors))
                # Terms are collected and added once: a sum of ten thousand terms takes linear time.
                factors = [operand] if operator == "+" else [MINUS_ONE, operand]
        if not terms and len(factors) == 1:
            return factors[0]
        return self.build(first, total, [*terms, self.build(first, product, factors)])

    def _is_fraction_of_unit(self, factors: list[Expression], start: int, operand: Expression) -> bool:
        """Whether a unit behind a fraction of numbers belongs to all of it: 10/3 V is 3.33 V, as on paper."""
        own = start == self.quantity.start and operand is self.quantity.whole
        return own and all(isinstance(factor, Number) for factor in factors)

    def factor(self) -> Expression:
        """A power, with its sign before it: -x^2 is -(x^2)."""
        start, negative = self.start, False
        while self.kind == "sign" and self.word in ("+", "-"):
            # The sign stands before the power: -x^2 is -(x^2), as in mathematics.
            negative ^= self.word == "-"
            self.advance()
        inner = self.start
        result = self.atom()
        if self.kind == "sign" and self.word in ("^", "**"):
            result = self.raised(result, inner)
        if inner != start:
            self.refuse_condition(result, inner)
        return -result if negative else result

    def raised(self, base: Expression, start: int) -> Expression:
        offset = self.start
        self.refuse_condition(base, start)
        self.enter()
        self.advance()
        exponent_start = self.start
        # From the right: a^b^c is a^(b^c).
        exponent = self.factor()
        self.depth -= 1
        self.refuse_condition(exponent, exponent_start)
        return self.build(offset, power, base, exponent)

    def atom(self) -> Expression:
        if self.kind == "number":
            return self.number()
        if self.kind == "name":
            return self.name()
        if self.kind == "keyword" and self.word == "if":
            return self.function("if", self.start)
        if self.kind != "sign" or self.word != "(":
            self.expected("a number, a name, a function or '('")
        self.enter()
        self.advance()
        result = self.formula()
        self.take(")", "to close the parenthesis")
        self.depth -= 1
        return result

    # -- numbers and names ---------------------------------------------------------------------------------------------------------

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
        # Texts of many digits are cut in the message, which would else fill a screen.
        if value is None:
            what = f"the number '{clipped(text)}' is out of range"
            self.fail(
                OUT_OF_RANGE, start, what, f"the power of ten lies between -{LARGEST_EXPONENT} and {LARGEST_EXPONENT}"
            )
        result = self.build(start, number, value)
        # A word behind a number can only be its unit; products are written with a star.
        match = AFTER_NUMBER.match(self.text, self.end)
        if match is None or match[2] in ("and", "or"):
            self.advance()
            return result
        factor = self._read_unit(match[1], match[2], match.start(2))
        self.advance()
        whole = self.build(start, product, (result, factor))
        self.quantity = _Quantity(start, whole, result, factor)
        return whole

    def _read_unit(self, gap: str, word: str, start: int) -> Expression:
        follows = self.text[start + len(word) : start + len(word) + 1]
        # 2 i is meant as a product where i counts, 2 sin(x) wherever it stands.
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
        # `1 e-3` would be read as one of a unit e, less three.
        if _POWER_OF_TEN.match(self.text, start):
            self.fail(SYNTAX, start, f"found '{word}' after a space", "write a power of ten without a space: 1e-3")
        # A unit goes on over * and / as long as unit words follow: in `2 V/R` the R is a parameter, in `2 V/A` the A a unit.
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
        # The token took plain indices with it; what follows now holds a counter, as in x[i+1].
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
        # An index counts and measures nothing.
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
            self.fail(INDEX, start, f"the index is {clipped(str(value))}, expected a whole number from 0 on")
        return int(value.rational)

    # -- functions and macros ------------------------------------------------------------------------------------------------------

    def function(self, name: str, start: int) -> Expression:
        """Read the arguments of a function or a macro, and build what it stands for."""
        known = ALIASES.get(name, name)
        if known not in FUNCTIONS and name not in self.macros:
            self.unknown_function(name, start)
        # `if` is a keyword, so its word is still ahead; the name of any other function has been read.
        if name == "if":
            self.advance()
        self.take("(", f"after '{name}'")
        self.enter()
        args: list[tuple[Expression, int]] = []
        named: dict[str, tuple[Expression, int]] = {}
        while not (self.kind == "sign" and self.word == ")"):
            if args or named:
                self.take(",", f"or ')' after an argument of {name}")
            offset = self.start
            # A name before `=` is looked for in the text itself: `==` is a comparison, and no token for a single = exists.
            word = self._keyword(name, offset)
            if word is None and named:
                self.fail(ARGUMENTS, offset, f"an argument of '{name}' without a name follows one with a name")
            found = (self.formula(), offset)
            if word is None:
                args.append(found)
            elif word in named or word in self.macros[name].names[: len(args)]:
                self.fail(ARGUMENTS, offset, f"'{name}' has its '{word}' twice", "leave one of them out")
            else:
                named[word] = found
        self.advance()
        self.depth -= 1
        return self._applied(name, known, args, start) if not named else self._expanded(name, args, named, start)

    def _keyword(self, function: str, offset: int) -> str | None:
        """The name of the argument that follows, with its `=` read; None where the argument has no name."""
        macro = self.macros.get(function)
        match = _KEYWORD.match(self.text, offset) if macro is not None and macro.names else None
        if macro is None or match is None:
            return None
        if match[1] not in macro.names:
            fix = did_you_mean(match[1], macro.names) or f"its arguments are {listing(macro.names)}"
            self.fail(ARGUMENTS, offset, f"'{function}' has no argument '{match[1]}'", fix)
        self.end = match.end()
        self.advance()
        return match[1]

    def _expanded(
        self, name: str, args: list[tuple[Expression, int]], named: dict[str, tuple[Expression, int]], start: int
    ) -> Expression:
        """A macro with arguments given by name."""
        macro = self.macros[name]
        values: list[Expression | None] = [arg for arg, _ in args]
        for arg, offset in (*args, *named.values()):
            self.refuse_condition(arg, offset)
        values += [named[word][0] if word in named else None for word in macro.names[len(args) :]]
        missing = [word for word, value in zip(macro.names[: macro.least], values, strict=False) if value is None]
        if missing or len(values) > macro.most:
            self.fail(ARGUMENTS, start, f"'{name}' lacks its {listing(missing)}", f"expected {_span(macro)}")
        # Arguments left out at the end take the defaults of what is built.
        while values and values[-1] is None:
            values.pop()
        return self.build(start, macro.build, *values)

    def _applied(self, name: str, known: str, args: list[tuple[Expression, int]], start: int) -> Expression:
        macro = self.macros.get(name)
        row = FUNCTIONS[known] if macro is None else None
        fits = row.takes(len(args)) if row else macro is not None and macro.least <= len(args) <= macro.most
        if not fits:
            wanted = row.arity if row else _span(macro)
            self.fail(ARGUMENTS, start, f"'{name}' has {len(args)}, expected {wanted}")
        for position, (arg, offset) in enumerate(args):
            if known == "if" and position == 0:
                if not isinstance(arg, Condition):
                    what = f"found the value '{clipped(str(arg))}', expected a condition"
                    self.fail(CONDITION, offset, what, "compare it: if(x > 0, a, b)")
            else:
                self.refuse_condition(arg, offset)
        values = [arg for arg, _ in args]
        return self.build(start, macro.build, *values) if macro else self.build(start, call, known, *values)

    def unknown_function(self, name: str, start: int) -> NoReturn:
        """Raise that there is no such function, with the nearest one."""
        words = [*FUNCTIONS, *ALIASES, *self.macros]
        meant = _ELSEWHERE.get(name.lower())
        near = f"did you mean '{meant}'?" if meant in words else did_you_mean(name, words)
        fix = near or f"the functions are {listing(words, 40)}; a product is written {name}*(...)"
        self.fail(UNKNOWN_FUNCTION, start, f"unknown function '{clipped(name)}'", fix)
