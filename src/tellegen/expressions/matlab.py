"""Formulas in MATLAB, which Octave reads too."""

from collections.abc import Sequence
from typing import final

from tellegen.core.names import identifier
from tellegen.expressions.infix import AbstractInfix, listed, raised
from tellegen.expressions.layout import Piece
from tellegen.expressions.nodes import Constant, Expression, Rational
from tellegen.expressions.text import checked_identifier

KEYWORDS = frozenset(
    [
        "break",
        "case",
        "catch",
        "classdef",
        "continue",
        "else",
        "elseif",
        "end",
        "for",
        "function",
        "global",
        "if",
        "otherwise",
        "parfor",
        "persistent",
        "return",
        "spmd",
        "switch",
        "try",
        "while",
    ]
)
"""Words that cannot be names in MATLAB; they get a trailing underscore."""

CHOICE = "tg_choice"
"""The function that stands for `if`: MATLAB has no conditional expression. Both values are computed."""


@final
class _Matlab(AbstractInfix):
    words = {"and": "&&", "or": "||", "not": "~", "true": "true", "false": "false"}  # noqa: RUF012

    def number(self, q: Rational) -> tuple[str, str]:
        return str(q.numerator), str(q.denominator) if q.denominator > 1 else ""

    def name(self, name: str) -> str:
        return matlab_name(name)

    def constant(self, node: Constant) -> str:
        return node.name

    def root(self, base: Piece) -> str:
        return f"sqrt({base.text})"

    def power(self, base: Piece, exponent: Piece) -> Piece:
        return raised(base, "^", exponent)

    def call(self, name: str, args: Sequence[Piece]) -> Piece:
        if name == "if":
            return listed(CHOICE, args)
        if name in ("min", "max") and len(args) > 2:
            inner = self.call(name, args[1:])
            return listed(name, [args[0], inner])
        return listed(name, args)


def matlab_name(name: str) -> str:
    """A name as MATLAB takes it."""
    found = checked_identifier(identifier(name))
    return f"{found}_" if found in KEYWORDS else found


_MATLAB = _Matlab()


def to_matlab(expression: Expression) -> str:
    """The formula in MATLAB."""
    return _MATLAB.print(expression)
