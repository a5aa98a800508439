"""The printer of formulas in one line; text, Python and C differ in how they write numbers, powers and functions."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence

from tellegen.expressions.canonical import is_symbolic_power
from tellegen.expressions.interning import magnitude
from tellegen.expressions.layout import (
    AND,
    ATOM,
    COMPARISON,
    NOT,
    OR,
    POWER,
    PRODUCT,
    SUM,
    Factors,
    Piece,
    Term,
    factors_of,
    in_reading_order,
    terms_in_reading_order,
)
from tellegen.expressions.nodes import (
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
    postorder,
)


def enclosed(piece: Piece, least: int) -> str:
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
    def root(self, base: Piece) -> str:
        """A square root."""

    @abstractmethod
    def power(self, base: Piece, exponent: Piece) -> Piece:
        """A power other than a square root."""

    @abstractmethod
    def call(self, name: str, args: Sequence[Piece]) -> Piece:
        """A function with its arguments."""

    def print(self, expression: Expression) -> str:
        """The text of an expression."""
        pieces: dict[Expression, Piece] = {}
        for node in postorder(expression):
            pieces[node] = self.piece(node, pieces)
        return pieces[expression].text

    def piece(self, node: Expression, pieces: dict[Expression, Piece]) -> Piece:
        """One node, whose arguments are already printed."""
        if isinstance(node, Symbol):
            return Piece(self.name(node.name), ATOM, 1)
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
            return Piece(self.constant(node), ATOM, 0)
        return self.condition(node, pieces)

    def signed(self, negative: bool, piece: Piece) -> Piece:
        """A piece with its sign."""
        return Piece(f"-{piece.text}", SUM, piece.size) if negative else piece

    def sum(self, node: Add, pieces: dict[Expression, Piece]) -> Piece:
        """A sum; its number comes last, or first where all the rest is negative."""
        terms = [Term(self.quotient(magnitude(c), self.parts(t, pieces), pieces), c < 0) for t, c in node.terms]
        ordered = terms_in_reading_order(terms)
        if node.constant:
            last = Term(self.quotient(magnitude(node.constant), (), pieces), node.constant < 0)
            positives = sum(not term.negative for term in ordered)
            ordered.insert(len(ordered) if last.negative else positives, last)
        first, *rest = ordered
        text = f"-{first.piece.text}" if first.negative else first.piece.text
        text += "".join(f" {'-' if term.negative else '+'} {term.piece.text}" for term in rest)
        return Piece(text, SUM, sum(term.piece.size for term in ordered))

    def parts(self, term: Expression, pieces: dict[Expression, Piece]) -> Factors:
        """The factors of a term of a sum; a language that gives products a name of their own takes `pieces` for that."""
        return factors_of(term)

    def quotient(self, coefficient: Rational, factors: Factors, pieces: dict[Expression, Piece]) -> Piece:
        """A positive number times powers, as numerator over denominator."""
        up_number, down_number = self.number(coefficient)
        up = self.product([self.factor(b, q, pieces) for b, q in factors if q > 0], up_number)
        down = self.product([self.factor(b, -q, pieces) for b, q in factors if q < 0], down_number)
        assert up is not None, "the numerator has at least its number"
        if down is None:
            return up
        return Piece(f"{enclosed(up, PRODUCT)}/{enclosed(down, POWER)}", PRODUCT, up.size + down.size)

    def product(self, factors: Iterable[Piece], number: str) -> Piece | None:
        """Factors joined by stars after a number, or None where there is neither."""
        ordered = in_reading_order(factors)
        if number and not (ordered and number in ("1", "1.0")):
            ordered.insert(0, Piece(number, ATOM, 1))
        if not ordered:
            return None
        if len(ordered) == 1:
            return ordered[0]
        return Piece("*".join(enclosed(f, PRODUCT) for f in ordered), PRODUCT, sum(f.size for f in ordered))

    def factor(self, base: Expression, q: Rational, pieces: dict[Expression, Piece]) -> Piece:
        """A power with a positive rational exponent."""
        if q == 1:
            return pieces[base]
        if q.denominator == 2 and q.numerator == 1:
            return Piece(self.root(pieces[base]), ATOM, pieces[base].size + 1)
        if q.denominator == 1 and is_symbolic_power(base):
            exponent = self.quotient(q, ((base.exponent, 1),), pieces)
            return self.power(pieces[base.base], exponent)
        return self.power(pieces[base], self.quotient(q, (), pieces))

    def lone_power(self, node: Pow, pieces: dict[Expression, Piece]) -> Piece:
        """A power that is not part of a product."""
        if isinstance(node.exponent, Number):
            return self.quotient(1, factors_of(node), pieces)
        return self.power(pieces[node.base], pieces[node.exponent])

    def condition(self, node: Expression, pieces: dict[Expression, Piece]) -> Piece:
        """A comparison, or comparisons joined."""
        args = [pieces[arg] for arg in node.args]
        size = sum(arg.size for arg in args)
        if isinstance(node, Relation):
            return Piece(f"{args[0].text} {node.operator} {args[1].text}", COMPARISON, size)
        assert isinstance(node, Logic), "what is left are joined conditions"
        word = self.words[node.operator]
        if node.operator == "not":
            return Piece(f"{word}({args[0].text})", NOT, size)
        if not args:
            return Piece(word, ATOM, 1)
        level = AND if node.operator == "and" else OR
        return Piece(f" {word} ".join(enclosed(arg, level + 1) for arg in args), level, size)


def listed(function: str, args: Sequence[Piece]) -> Piece:
    """A function with its arguments in parentheses."""
    return Piece(f"{function}({', '.join(arg.text for arg in args)})", ATOM, 1 + sum(arg.size for arg in args))


def raised(base: Piece, sign: str, exponent: Piece) -> Piece:
    """A power with an operator; exponents other than names and whole numbers stand in parentheses."""
    return Piece(f"{enclosed(base, ATOM)}{sign}{enclosed(exponent, ATOM)}", POWER, base.size + exponent.size)
