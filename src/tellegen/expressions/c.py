"""Formulas in C99, all numbers double."""

from collections.abc import Mapping, Sequence
from typing import final

from tellegen.core.names import identifier
from tellegen.expressions.functions import FUNCTIONS
from tellegen.expressions.infix import AbstractInfix, enclosed, listed
from tellegen.expressions.layout import ATOM, COMPARISON, PRODUCT, Piece, decimal_text
from tellegen.expressions.nodes import Constant, Expression, Rational
from tellegen.expressions.text import checked_identifier

C_PRELUDE = """\
#include <math.h>
#ifndef M_PI
#define M_PI 3.14159265358979323846
#endif
static inline double tellegen_sign(double x) { return (x > 0.0) - (x < 0.0); }
"""
"""What the text of `to_c` needs before it."""

_MOST_FACTORS = 4


@final
class _C(AbstractInfix):
    words = {"and": "&&", "or": "||", "not": "!", "true": "1", "false": "0"}  # noqa: RUF012

    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = names

    def number(self, q: Rational) -> tuple[str, str]:
        text = decimal_text(q)
        if text is not None:
            return _double(text, q), ""
        if q.denominator == 1:
            return _double(repr(float(q)), q), ""
        up, down = _shortest(q.numerator), _shortest(q.denominator)
        return (up, down) if up and down else (_double(repr(float(q)), q), "")

    def name(self, name: str) -> str:
        return self.names[name] if name in self.names else checked_identifier(identifier(name))

    def constant(self, node: Constant) -> str:
        return "M_PI"

    def root(self, base: Piece) -> str:
        return f"sqrt({base.text})"

    def power(self, base: Piece, exponent: Piece) -> Piece:
        count = _SMALL.get(exponent.text, 0)
        if count and base.size == 1 and base.holds == ATOM:
            return Piece("*".join([base.text] * count), PRODUCT, base.size + 1)
        return Piece(f"pow({base.text}, {exponent.text})", ATOM, base.size + exponent.size)

    def call(self, name: str, args: Sequence[Piece]) -> Piece:
        if name == "if":
            condition, yes, no = args
            text = f"({enclosed(condition, COMPARISON)} ? {yes.text} : {no.text})"
            return Piece(text, ATOM, 1 + sum(arg.size for arg in args))
        function = FUNCTIONS[name]
        if function.most is not None:
            return listed(function.c, args)
        result = args[0]
        for arg in args[1:]:
            result = listed(function.c, (result, arg))
        return result


_SMALL = {f"{n}.0": n for n in range(2, _MOST_FACTORS + 1)}


def _double(text: str, q: Rational) -> str:
    """A literal of type double. Raises OverflowError when no double can hold it."""
    float(q)
    return text if any(mark in text for mark in ".en") else f"{text}.0"


def _shortest(n: int) -> str | None:
    """A whole number as an exact double, or None where it would be rounded."""
    return f"{n}.0" if n < 2**53 else None


def to_c(expression: Expression, names: Mapping[str, str] | None = None) -> str:
    """The formula in C99; `names` gives the C text of names that are not plain identifiers there, such as `x[3]`.

    Raises: OverflowError when a number is beyond the range of double.
    """
    return _C(names or {}).print(expression)
