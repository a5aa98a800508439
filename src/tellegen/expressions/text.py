"""Formulas as papers write them, which `parse` reads back, and as Python."""

from collections.abc import Sequence
from typing import final

from tellegen.core.names import identifier
from tellegen.expressions.functions import FUNCTIONS
from tellegen.expressions.infix import AbstractInfix, enclosed, listed, raised
from tellegen.expressions.layout import ATOM, COMPARISON, NOT, Piece, written_number
from tellegen.expressions.nodes import ENGINE, Constant, Expression, Rational


@final
class _Text(AbstractInfix):
    words = {"and": "and", "or": "or", "not": "not ", "true": "true", "false": "false"}  # noqa: RUF012

    def number(self, q: Rational) -> tuple[str, str]:
        return written_number(q)

    def name(self, name: str) -> str:
        return name

    def constant(self, node: Constant) -> str:
        return node.name

    def root(self, base: Piece) -> str:
        return f"sqrt({base.text})"

    def power(self, base: Piece, exponent: Piece) -> Piece:
        return raised(base, "^", exponent)

    def call(self, name: str, args: Sequence[Piece]) -> Piece:
        return listed(name, args)


@final
class _Python(AbstractInfix):
    words = {"and": "and", "or": "or", "not": "not ", "true": "True", "false": "False"}  # noqa: RUF012

    def number(self, q: Rational) -> tuple[str, str]:
        return str(q.numerator), str(q.denominator) if q.denominator > 1 else ""

    def name(self, name: str) -> str:
        return checked_identifier(identifier(name))

    def constant(self, node: Constant) -> str:
        return node.name

    def root(self, base: Piece) -> str:
        return f"sqrt({base.text})"

    def power(self, base: Piece, exponent: Piece) -> Piece:
        return raised(base, "**", exponent)

    def call(self, name: str, args: Sequence[Piece]) -> Piece:
        if name != "if":
            return listed(FUNCTIONS[name].python, args)
        condition, yes, no = args
        text = f"({enclosed(yes, NOT)} if {enclosed(condition, COMPARISON)} else {no.text})"
        return Piece(text, ATOM, 1 + sum(arg.size for arg in args))


def checked_identifier(name: str) -> str:
    """The name, if a program can hold it; whatever a file says, no other text may reach a compiler."""
    if not (name.isascii() and name.isidentifier()):
        raise ValueError(f"not an identifier: {name!r}")
    return name


_TEXT = _Text()
_PYTHON = _Python()


def to_text(expression: Expression) -> str:
    """The formula as papers write it, with ^ for powers; `parse` reads it back to the same expression."""
    return _TEXT.print(expression)


def to_python(expression: Expression) -> str:
    """The formula in Python; `PYTHON_NAMESPACE` holds the functions that it calls."""
    return _PYTHON.print(expression)


to_yaml = to_text

ENGINE.text = to_text
