"""Formulas in one line, as papers write them and as Python; and what all printers share: fractions, decimals, the order of
terms.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import NamedTuple, final

from tellegen.core.names import identifier
from tellegen.expressions.canonical import is_symbolic_power
from tellegen.expressions.functions import FUNCTIONS
from tellegen.expressions.nodes import (
    ENGINE,
    Add,
    Call,
    Constant,
    Expression,
    Logic,
    Mul,
    Number,
    Pow,
    Rational,
    Relation,
    Symbol,
    magnitude,
    postorder,
)

MOST_DIGITS = 17
LARGEST_EXPONENT = 400
_LOOKED_AT = 80
_DIGITS = re.compile(r"([0-9]+)")

# How tightly a printed text holds together.
OR, AND, NOT, COMPARISON, SUM, PRODUCT, POWER, ATOM = range(8)

Factors = tuple[tuple[Expression, Rational], ...]


class PrintedPiece(NamedTuple):
    """A printed part: its text, how tightly it holds, and how many leaves it has (the shorter terms are read first)."""

    text: str
    holds: int
    size: int


class PrintedTerm(NamedTuple):
    """A printed term of a sum without its sign."""

    piece: PrintedPiece
    negative: bool


def factors_of(term: Expression) -> Factors:
    """Bases and exponents of a term that is no number; its coefficient is left out."""
    if isinstance(term, Mul):
        return term.factors
    if isinstance(term, Pow) and isinstance(term.exponent, Number):
        return ((term.base, term.exponent.rational),)
    return ((term, 1),)


def natural(text: str) -> tuple[object, ...]:
    """The key by which names are read in order: R_2 before R_10."""
    head = _DIGITS.split(text[:_LOOKED_AT])  # enough to order what people read, and quick where nobody can
    return *[(1, int(part), "") if part.isdigit() else (0, 0, part) for part in head], (2, 0, text)


def in_reading_order(pieces: Iterable[PrintedPiece]) -> list[PrintedPiece]:
    """Factors in the order of papers: pi, then names, then functions, then sums."""
    return sorted(pieces, key=_reading_key)


def _reading_key(piece: PrintedPiece) -> tuple[object, ...]:
    is_function = piece.holds == ATOM and "(" in piece.text
    return piece.holds == SUM, piece.size > 0, is_function, natural(piece.text)


def terms_in_reading_order(terms: Iterable[PrintedTerm]) -> list[PrintedTerm]:
    """Terms in the order of papers: positive before negative, short before long, then by name."""
    return sorted(terms, key=lambda term: (term.negative, term.piece.size, natural(term.piece.text)))


def decimal_text(q: Rational) -> str | None:
    """A positive number as a decimal of at most 17 digits, or None where it has no such decimal."""
    shift = _decimals(q.denominator)
    if shift is None or shift > LARGEST_EXPONENT:
        return None
    digits = str(q.numerator * 10**shift // q.denominator)
    bare = digits.rstrip("0") or "0"
    if len(bare) > MOST_DIGITS:
        return None
    shift -= len(digits) - len(bare)
    return _placed(bare, shift)


def _placed(digits: str, shift: int) -> str | None:
    """Digits divided by 10^shift, in the shorter of the two usual ways; None where `parse` would find it out of range."""
    exponent = len(digits) - 1 - shift
    if abs(exponent) > LARGEST_EXPONENT:
        return None
    if -4 <= exponent < 0:
        return f"0.{'0' * (-exponent - 1)}{digits}"
    if 0 <= exponent < 7:
        padded = digits.ljust(exponent + 1, "0")
        before, after = padded[: exponent + 1], padded[exponent + 1 :]
        return f"{before}.{after}" if after else before
    mantissa = f"{digits[0]}.{digits[1:]}" if len(digits) > 1 else digits
    return f"{mantissa}e{exponent}"


def _decimals(denominator: int) -> int | None:
    """The number of decimals that a fraction of this denominator needs, or None when it never ends."""
    twos = (denominator & -denominator).bit_length() - 1
    rest, fives = denominator >> twos, 0
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    return max(twos, fives) if rest == 1 else None


def written_number(q: Rational) -> tuple[str, str]:
    """A positive number as papers write it, 1/2, 0.15, 1e9: numerator and denominator, empty when there is none."""
    if q.denominator in (2, 4, 8):
        return str(q.numerator), str(q.denominator)
    text = decimal_text(q)
    if text is not None and (q.denominator > 1 or q.numerator >= 10**7):
        return text, ""
    return str(q.numerator), str(q.denominator) if q.denominator > 1 else ""


def enclosed(piece: PrintedPiece, least: int) -> str:
    """The text, in parentheses where it holds less tightly than asked."""
    return piece.text if piece.holds >= least else f"({piece.text})"


class AbstractInfix(ABC):
    """Prints expressions in one line, children first, so that depth does not matter."""

    words: dict[str, str]

    @abstractmethod
    def number(self, q: Rational) -> tuple[str, str]:
        """A positive number as numerator and denominator; the latter is empty when there is none."""

    @abstractmethod
    def name(self, name: str) -> str:
        """A name or path."""

    @abstractmethod
    def constant(self, node: Constant) -> str:
        """A mathematical constant."""

    @abstractmethod
    def root(self, base: PrintedPiece) -> str:
        """A square root."""

    @abstractmethod
    def power(self, base: PrintedPiece, exponent: PrintedPiece) -> PrintedPiece:
        """A power other than a square root."""

    @abstractmethod
    def call(self, name: str, args: Sequence[PrintedPiece]) -> PrintedPiece:
        """A function with its arguments."""

    def print(self, expression: Expression) -> str:
        """The text of an expression."""
        pieces: dict[Expression, PrintedPiece] = {}
        for node in postorder(expression):
            pieces[node] = self.piece(node, pieces)
        return pieces[expression].text

    def piece(self, node: Expression, pieces: dict[Expression, PrintedPiece]) -> PrintedPiece:
        """One node, whose arguments are already printed."""
        if isinstance(node, Symbol):
            return PrintedPiece(self.name(node.name), ATOM, 1)
        if isinstance(node, Number):
            return self.signed(node.rational < 0, self.quotient(magnitude(node.rational), (), pieces))
        if isinstance(node, Add):
            return self.sum(node, pieces)
        if isinstance(node, Mul):
            return self.signed(node.coefficient < 0, self.quotient(magnitude(node.coefficient), node.factors, pieces))
        if isinstance(node, Pow):
            return self.lone_power(node, pieces)
        if isinstance(node, Call):
            return self.call(node.name, [pieces[arg] for arg in node.arguments])
        if isinstance(node, Constant):
            return PrintedPiece(self.constant(node), ATOM, 0)
        return self.condition(node, pieces)

    def signed(self, negative: bool, piece: PrintedPiece) -> PrintedPiece:
        """A piece with its sign."""
        return PrintedPiece(f"-{piece.text}", SUM, piece.size) if negative else piece

    def sum(self, node: Add, pieces: dict[Expression, PrintedPiece]) -> PrintedPiece:
        """A sum; its number comes last, or first where all the rest is negative."""
        terms = [PrintedTerm(self.quotient(magnitude(c), self.parts(t, pieces), pieces), c < 0) for t, c in node.terms]
        ordered = terms_in_reading_order(terms)
        if node.constant:
            last = PrintedTerm(self.quotient(magnitude(node.constant), (), pieces), node.constant < 0)
            positives = sum(not term.negative for term in ordered)
            ordered.insert(len(ordered) if last.negative else positives, last)
        first, *rest = ordered
        text = f"-{first.piece.text}" if first.negative else first.piece.text
        text += "".join(f" {'-' if term.negative else '+'} {term.piece.text}" for term in rest)
        return PrintedPiece(text, SUM, sum(term.piece.size for term in ordered))

    def parts(self, term: Expression, pieces: dict[Expression, PrintedPiece]) -> Factors:
        """The factors of a term of a sum; a language that gives products a name of their own takes `pieces` for that."""
        return factors_of(term)

    def quotient(self, coefficient: Rational, factors: Factors, pieces: dict[Expression, PrintedPiece]) -> PrintedPiece:
        """A positive number times powers, as numerator over denominator."""
        up_number, down_number = self.number(coefficient)
        up = self.product([self.factor(b, q, pieces) for b, q in factors if q > 0], up_number)
        down = self.product([self.factor(b, -q, pieces) for b, q in factors if q < 0], down_number)
        assert up is not None, "the numerator has at least its number"
        if down is None:
            return up
        return PrintedPiece(f"{enclosed(up, PRODUCT)}/{enclosed(down, POWER)}", PRODUCT, up.size + down.size)

    def product(self, factors: Iterable[PrintedPiece], number: str) -> PrintedPiece | None:
        """Factors joined by stars after a number, or None where there is neither."""
        ordered = in_reading_order(factors)
        if number and not (ordered and number in ("1", "1.0")):
            ordered.insert(0, PrintedPiece(number, ATOM, 1))
        if not ordered:
            return None
        if len(ordered) == 1:
            return ordered[0]
        return PrintedPiece("*".join(enclosed(f, PRODUCT) for f in ordered), PRODUCT, sum(f.size for f in ordered))

    def factor(self, base: Expression, q: Rational, pieces: dict[Expression, PrintedPiece]) -> PrintedPiece:
        """A power with a positive rational exponent."""
        if q == 1:
            return pieces[base]
        if q.denominator == 2 and q.numerator == 1:
            return PrintedPiece(self.root(pieces[base]), ATOM, pieces[base].size + 1)
        if q.denominator == 1 and is_symbolic_power(base):
            exponent = self.quotient(q, ((base.exponent, 1),), pieces)
            return self.power(pieces[base.base], exponent)
        return self.power(pieces[base], self.quotient(q, (), pieces))

    def lone_power(self, node: Pow, pieces: dict[Expression, PrintedPiece]) -> PrintedPiece:
        """A power that is not part of a product."""
        if isinstance(node.exponent, Number):
            return self.quotient(1, factors_of(node), pieces)
        return self.power(pieces[node.base], pieces[node.exponent])

    def condition(self, node: Expression, pieces: dict[Expression, PrintedPiece]) -> PrintedPiece:
        """A comparison, or comparisons joined."""
        args = [pieces[arg] for arg in node.args]
        size = sum(arg.size for arg in args)
        if isinstance(node, Relation):
            return PrintedPiece(f"{args[0].text} {node.operator} {args[1].text}", COMPARISON, size)
        assert isinstance(node, Logic), "what is left are joined conditions"
        word = self.words[node.operator]
        if node.operator == "not":
            return PrintedPiece(f"{word}({args[0].text})", NOT, size)
        if not args:
            return PrintedPiece(word, ATOM, 1)
        level = AND if node.operator == "and" else OR
        return PrintedPiece(f" {word} ".join(enclosed(arg, level + 1) for arg in args), level, size)


def listed(function: str, args: Sequence[PrintedPiece]) -> PrintedPiece:
    """A function with its arguments in parentheses."""
    return PrintedPiece(f"{function}({', '.join(arg.text for arg in args)})", ATOM, 1 + sum(arg.size for arg in args))


def raised(base: PrintedPiece, sign: str, exponent: PrintedPiece) -> PrintedPiece:
    """A power with an operator; exponents other than names and whole numbers stand in parentheses."""
    return PrintedPiece(f"{enclosed(base, ATOM)}{sign}{enclosed(exponent, ATOM)}", POWER, base.size + exponent.size)


@final
class _Text(AbstractInfix):
    words = {"and": "and", "or": "or", "not": "not ", "true": "true", "false": "false"}  # noqa: RUF012

    def number(self, q: Rational) -> tuple[str, str]:
        return written_number(q)

    def name(self, name: str) -> str:
        return name

    def constant(self, node: Constant) -> str:
        return node.name

    def root(self, base: PrintedPiece) -> str:
        return f"sqrt({base.text})"

    def power(self, base: PrintedPiece, exponent: PrintedPiece) -> PrintedPiece:
        return raised(base, "^", exponent)

    def call(self, name: str, args: Sequence[PrintedPiece]) -> PrintedPiece:
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

    def root(self, base: PrintedPiece) -> str:
        return f"sqrt({base.text})"

    def power(self, base: PrintedPiece, exponent: PrintedPiece) -> PrintedPiece:
        return raised(base, "**", exponent)

    def call(self, name: str, args: Sequence[PrintedPiece]) -> PrintedPiece:
        if name != "if":
            return listed(FUNCTIONS[name].python, args)
        condition, yes, no = args
        text = f"({enclosed(yes, NOT)} if {enclosed(condition, COMPARISON)} else {no.text})"
        return PrintedPiece(text, ATOM, 1 + sum(arg.size for arg in args))


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
