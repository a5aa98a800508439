"""The limit of a formula when several parameters tend to zero or infinity together, whatever their ratios.

Each parameter p stands for something small: e = p where it tends to zero, e = 1/p where it tends to infinity. A formula is a
quotient of sums of products of powers of these, and its limit is read from the powers. Where it would depend on which of two
small things is smaller, there is no common limit.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from tellegen.expressions import (
    ONE,
    ZERO,
    Add,
    Condition,
    Expression,
    Mul,
    Number,
    Pow,
    Relation,
    Symbol,
    is_zero,
    number,
    power,
    rebuild,
)
from tellegen.expressions.rational import shortened
from tellegen.reduction.factored_limits import (
    IndeterminateError,
    TooLongError,
    leading_term,
    limit_by_parts,
    never_positive,
)
from tellegen.reduction.orders import PLAIN, Orders, divides, times

Sum = dict[Orders, Expression]
"""Coefficients by the powers of small things."""


class DependsOnRatioError(Exception):
    """The limit depends on how two parameters tend to theirs; the arguments are their names."""


class NoLimitError(Exception):
    """A function has no value where its argument tends to, or the formula is too large to tell."""


class TooManyFractionsError(NoLimitError):
    """The formula is too large to be brought over one denominator."""


MOST_WORK = 20_000
"""Terms multiplied while sums are brought over common denominators: nested fractions of a mesh could go on for hours."""


@final
@dataclass(frozen=True)
class _Quotient:
    above: Sum
    below: Sum


def limit_of(expression: Expression, orders: Mapping[str, int]) -> Expression | None:
    """The limit of an expression; `orders` is 1 for names that tend to zero and -1 for infinity. None where it is infinite.

    Raises: DependsOnRatioError, NoLimitError.
    """
    if orders.keys().isdisjoint(expression.free_symbols):
        return expression
    if isinstance(expression, Condition):
        return _continued(expression, orders)
    try:
        found = _Quotients(orders).of(expression)
    except TooManyFractionsError as reason:
        return _factored_limit(expression, orders, reason)
    above, below = _without_zeros(found.above), _without_zeros(found.below)
    if not above or _smaller(above, below):
        return ZERO
    if not below or _smaller(below, above):
        return None
    first, second = _leader(above), _leader(below)
    if first is not None and first == second:
        return above[first] / below[second]
    proportional = _common_ratio(above, below)
    if proportional is None:
        raise DependsOnRatioError(*_names(above, below))
    return proportional


def _factored_limit(expression: Expression, orders: Mapping[str, int], reason: NoLimitError) -> Expression | None:
    """The limit of a formula of many fractions: from the limits of its parts, or the leading terms of its factors.

    Where these do not tell it, most of the fractions may cancel: an elimination that nothing required leaves such formulas.
    """
    try:
        return limit_by_parts(expression, orders)
    except IndeterminateError:
        pass
    try:
        found = leading_term(expression, orders)
    except (TooLongError, ZeroDivisionError):
        found = None
    if found is None:
        short = shortened(expression)
        if short is expression:
            raise reason
        return limit_of(short, orders)
    coefficient, powers = found
    if coefficient is ZERO or (powers and all(q > 0 for _, q in powers)):
        return ZERO
    if not powers:
        return coefficient
    if all(q < 0 for _, q in powers):
        return None
    raise DependsOnRatioError(*(name for name, _ in powers))


def _common_ratio(above: Sum, below: Sum) -> Expression | None:
    """The factor by which one sum is the other, up to what is smaller than it: (a + b) c/(a + b) is c, whatever a/b."""
    leading = next((m for m in below if not any(n != m and divides(n, m) for n in below)), None)
    if leading is None or leading not in above:
        return None
    ratio = above[leading] / below[leading]
    rest = _without_zeros(_sum(above, {m: -ratio * c for m, c in below.items()}))
    return ratio if _smaller(rest, below) else None


def _without_zeros(terms: Sum) -> Sum:
    return {orders: c for orders, c in terms.items() if not is_zero(c)}


def _smaller(a: Sum, b: Sum) -> bool:
    """Whether every term of a is smaller than some term of b, whatever the ratios."""
    return all(any(m != n and divides(n, m) for n in b) for m in a)


def _leader(terms: Sum) -> Orders | None:
    """The term that no other outgrows, where there is one."""
    return next((m for m in terms if all(divides(m, other) for other in terms)), None)


def _names(*sums: Sum) -> list[str]:
    return sorted({name for terms in sums for orders in terms for name, _ in orders})


class _Quotients:
    """Writes expressions as quotients of sums, each subexpression once."""

    def __init__(self, orders: Mapping[str, int]) -> None:
        self.orders = orders
        self.known: dict[Expression, _Quotient] = {}
        self.work = 0

    def of(self, node: Expression) -> _Quotient:
        """The quotient that a node is."""
        found = self.known.get(node)
        if found is None:
            found = self.known[node] = self._made(node)
        return found

    def _made(self, node: Expression) -> _Quotient:
        if self.orders.keys().isdisjoint(node.free_symbols):
            return _Quotient({PLAIN: node}, {PLAIN: ONE})
        if isinstance(node, Symbol):
            small: Sum = {((node.name, Fraction(1)),): ONE}
            plain: Sum = {PLAIN: ONE}
            return _Quotient(small, plain) if self.orders[node.name] > 0 else _Quotient(plain, small)
        if isinstance(node, Add):
            return self._sum_of(node)
        if isinstance(node, Mul):
            found = _Quotient({PLAIN: number(node.coefficient)}, {PLAIN: ONE})
            for base, q in node.factors:
                found = self._times(found, self._power(base, Fraction(q)))
            return found
        if isinstance(node, Pow) and isinstance(node.exponent, Number):
            return self._power(node.base, Fraction(node.exponent.rational))
        return _Quotient({PLAIN: _continued(node, self.orders)}, {PLAIN: ONE})

    def _sum_of(self, node: Add) -> _Quotient:
        found = _Quotient({PLAIN: number(node.constant)}, {PLAIN: ONE})
        for term, c in node.terms:
            share = self.of(number(c) * term) if c != 1 else self.of(term)
            if share.below == found.below:
                found = _Quotient(_sum(found.above, share.above), found.below)
                continue
            above = _sum(self._product(found.above, share.below), self._product(share.above, found.below))
            found = _Quotient(above, self._product(found.below, share.below))
        return found

    def _power(self, base: Expression, q: Fraction) -> _Quotient:
        inside = self.of(base)
        one = inside if q > 0 else _Quotient(inside.below, inside.above)
        if q.denominator == 1:
            found = one
            for _ in range(abs(q.numerator) - 1):
                found = self._times(found, one)
            return found
        return _Quotient(_root(one.above, abs(q), base), _root(one.below, abs(q), base))

    def _times(self, one: _Quotient, two: _Quotient) -> _Quotient:
        return _Quotient(self._product(one.above, two.above), self._product(one.below, two.below))

    def _product(self, a: Sum, b: Sum) -> Sum:
        found: Sum = {}
        for m, c in a.items():
            for n, d in b.items():
                self.work += 1 + len(c.args) + len(d.args)
                if self.work > MOST_WORK:
                    raise TooManyFractionsError("a formula of many fractions")
                key = times(m, n)
                found[key] = found.get(key, ZERO) + c * d
        return found


def _continued(node: Expression, orders: Mapping[str, int]) -> Expression:
    """A function at the limits of its arguments, a comparison at those of its sides."""
    limits = [limit_of(argument, orders) for argument in node.args]
    values = [value for value in limits if value is not None]
    if len(values) < len(limits):
        raise NoLimitError(str(node))
    if isinstance(node, Relation) and values[0] is values[1]:  # equal at the limit only: K > 0 holds on the way to zero
        raise NoLimitError(str(node))
    try:
        return rebuild(node, tuple(values))
    except (ArithmeticError, ValueError) as reason:
        raise NoLimitError(str(node)) from reason


def _root(terms: Sum, q: Fraction, base: Expression) -> Sum:
    leader = _leader(_without_zeros(terms))
    if leader is None or (q.denominator % 2 == 0 and never_positive(terms[leader])):
        raise NoLimitError(str(power(base, number(q))))
    return {tuple((name, n * q) for name, n in leader): power(terms[leader], number(q))}


def _sum(a: Sum, b: Sum) -> Sum:
    found = dict(a)
    for m, c in b.items():
        found[m] = found.get(m, ZERO) + c
    return found
