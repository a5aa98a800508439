"""Formulas from text, by a small parser of our own: nothing is evaluated, sizes and depths are bounded."""

import re
from collections.abc import Callable, Mapping
from typing import Final, final

from tellegen.core.errors import Place
from tellegen.expressions.calls import AbstractCalls, Macro
from tellegen.expressions.canonical import MINUS_ONE, power, product, total
from tellegen.expressions.conditions import COMPARE, logic, relation
from tellegen.expressions.interning import intern_number, intern_symbol
from tellegen.expressions.nodes import Condition, Expression, Operator
from tellegen.expressions.operands import RESERVED_WORDS, UnitReader, decimal
from tellegen.expressions.rules import CONDITION, SYNTAX, TOO_LARGE
from tellegen.expressions.tokens import KEYWORDS, NUMBER, PATH

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
    match = _PLAIN.fullmatch(text) if len(text) <= LONGEST else None
    if match is not None:
        digits, word, name = match.groups()
        if name is not None:
            if name not in RESERVED_WORDS and name not in indices:
                return intern_symbol(name)
        elif word is None or (unit is not None and word not in indices and word not in KEYWORDS):
            value = decimal(digits) if len(digits) < 300 else None
            if value is not None and (word is None or unit is None):
                return intern_number(value)
            if value is not None and unit is not None:
                return product((intern_number(value), unit(word, match.start(2))))
    return _Parser(text, place, unit, is_unit=is_unit, indices=indices, macros=macros).whole()


@final
class _Parser(AbstractCalls):
    """Recursive descent over one text: operators, by their precedence."""

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
            elif operator == "/":
                factors.append(self.build(offset, power, operand, MINUS_ONE))
            else:
                terms.append(self.build(offset, product, factors))
                factors = [operand] if operator == "+" else [MINUS_ONE, operand]
        if not terms and len(factors) == 1:
            return factors[0]
        return self.build(first, total, [*terms, self.build(first, product, factors)])

    def factor(self) -> Expression:
        """A power, with its sign before it: -x^2 is -(x^2)."""
        start, negative = self.start, False
        while self.kind == "sign" and self.word in ("+", "-"):
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
