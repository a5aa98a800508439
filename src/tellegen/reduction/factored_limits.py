"""Limits of formulas of many nested fractions, which common denominators would make too long.

Where nothing is 0/0, 0 times infinity or a difference of infinities, the limit of a formula is that formula of the limits of its
parts. Elsewhere it is kept as a product of sums, whose common factors cancel before anything is expanded: eliminations divide
by the same pivots again and again.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from tellegen.expressions import (
    ONE,
    ZERO,
    Add,
    Expression,
    Mul,
    Number,
    Pow,
    Symbol,
    is_zero,
    number,
    power,
    product,
    total,
)
from tellegen.reduction.orders import PLAIN, Orders, divides, times

Terms = frozenset[tuple[Orders, Expression]]
"""A sum: coefficients with the powers of small things before them."""

MOST_WORK = 200_000


class TooLongError(Exception):
    """A formula whose sums have too many terms, or that is no quotient of sums."""


class IndeterminateError(Exception):
    """The limits of the parts of a formula do not tell that of the whole."""


def limit_by_parts(expression: Expression, orders: Mapping[str, int]) -> Expression | None:
    """The limit of a formula from those of its parts; None where it is infinite.

    Raises: IndeterminateError where these do not tell it.
    """
    known: dict[Expression, Expression | None] = {}

    def limit(node: Expression) -> Expression | None:
        if node not in known:
            known[node] = made(node)
        return known[node]

    def made(node: Expression) -> Expression | None:
        if orders.keys().isdisjoint(node.free_symbols):
            return node
        if isinstance(node, Symbol):
            return ZERO if orders[node.name] > 0 else None
        if isinstance(node, Add):
            return _sum_of_limits(number(node.constant), [(limit(term), number(c)) for term, c in node.terms])
        if isinstance(node, Mul):
            factors = [_power_of_limit(limit(base), Fraction(q)) for base, q in node.factors]
            return _product_of_limits(number(node.coefficient), factors)
        if isinstance(node, Pow) and isinstance(node.exponent, Number):
            return _power_of_limit(limit(node.base), Fraction(node.exponent.rational))
        raise IndeterminateError(str(node))

    return limit(expression)


def _sum_of_limits(constant: Expression, terms: list[tuple[Expression | None, Expression]]) -> Expression | None:
    infinite = [e for e, _ in terms if e is None]
    if len(infinite) > 1:
        raise IndeterminateError("a difference of infinities")
    return None if infinite else total([constant, *(c * e for e, c in terms if e is not None)])


def _product_of_limits(coefficient: Expression, factors: list[Expression | None]) -> Expression | None:
    vanishes = any(e is not None and is_zero(e) for e in factors)
    if any(e is None for e in factors):
        if vanishes:
            raise IndeterminateError("zero times infinity")
        return None
    return ZERO if vanishes else product([coefficient, *(e for e in factors if e is not None)])


def _power_of_limit(base: Expression | None, q: Fraction) -> Expression | None:
    if base is None:
        return None if q > 0 else ZERO
    if is_zero(base):
        return ZERO if q > 0 else None
    if q.denominator % 2 == 0 and never_positive(base):
        raise IndeterminateError("a root of a negative number")
    return power(base, number(q))


def never_positive(expression: Expression) -> bool:
    """Whether a formula is seen to be zero or negative for all values: a negative number, or one times even powers."""
    if isinstance(expression, Number):
        return expression.rational <= 0
    if isinstance(expression, Mul):
        return expression.coefficient < 0 and all(Fraction(q) % 2 == 0 for _, q in expression.factors)
    return False


@final
@dataclass(frozen=True)
class Factored:
    """coefficient * powers of small things * product of sums, each to a power."""

    coefficient: Expression
    orders: Orders
    sums: Mapping[Terms, int]


def leading_term(expression: Expression, orders: Mapping[str, int]) -> tuple[Expression, Orders] | None:
    """The coefficient and the powers of small things that a formula tends to; None where no term of some sum outgrows the others.

    Raises: TooLongError where it takes too long to tell.
    """
    found = _Factoring(orders).of(expression)
    coefficient, total = found.coefficient, found.orders
    for terms, exponent in found.sums.items():
        leader = next((t for t in terms if all(divides(t[0], other) for other, _ in terms)), None)
        if leader is None:
            return None
        total = times(total, leader[0], exponent)
        coefficient = coefficient * power(leader[1], number(exponent))
    return coefficient, total


class _Factoring:
    """Writes expressions as products of sums, each subexpression once."""

    def __init__(self, orders: Mapping[str, int]) -> None:
        self.small = orders
        self.known: dict[Expression, Factored] = {}
        self.work = 0

    def of(self, node: Expression) -> Factored:
        """The product that a node is."""
        if node not in self.known:
            self.known[node] = self._made(node)
        return self.known[node]

    def _made(self, node: Expression) -> Factored:
        if self.small.keys().isdisjoint(node.free_symbols):
            return Factored(node, PLAIN, {})
        if isinstance(node, Symbol):
            return Factored(ONE, ((node.name, Fraction(self.small[node.name])),), {})
        if isinstance(node, Mul):
            factors = [(self.of(base), _whole(Fraction(q))) for base, q in node.factors]
            return _product(number(node.coefficient), factors)
        if isinstance(node, Pow) and isinstance(node.exponent, Number):
            return _product(ONE, [(self.of(node.base), _whole(Fraction(node.exponent.rational)))])
        if isinstance(node, Add):
            return self._sum(node)
        raise TooLongError(str(node))

    def _sum(self, node: Add) -> Factored:
        """The sum over what all terms have in common."""
        terms = [_product(number(c), [(self.of(term), 1)]) for term, c in node.terms]
        if node.constant:
            terms.append(Factored(number(node.constant), PLAIN, {}))
        names = {terms_ for term in terms for terms_ in term.sums}
        common = {s: e for s in names if (e := min(term.sums.get(s, 0) for term in terms))}
        shared = _least(term.orders for term in terms)
        expanded: dict[Orders, Expression] = {}
        for term in terms:
            rest = {s: term.sums.get(s, 0) - common.get(s, 0) for s in names}
            for orders, coefficient in self._expanded(term, shared, rest).items():
                expanded[orders] = expanded.get(orders, ZERO) + coefficient
        left = {orders: e for orders, e in expanded.items() if not is_zero(e)}
        if not left:
            return Factored(ZERO, PLAIN, {})
        if len(left) == 1:
            ((orders, coefficient),) = left.items()
            return Factored(coefficient, times(shared, orders), common)
        return _product(
            ONE, [(Factored(ONE, shared, common), 1), (Factored(ONE, PLAIN, {frozenset(left.items()): 1}), 1)]
        )

    def _expanded(self, term: Factored, shared: Orders, sums: Mapping[Terms, int]) -> dict[Orders, Expression]:
        found: dict[Orders, Expression] = {times(term.orders, shared, -1): term.coefficient}
        for terms, exponent in sums.items():
            for _ in range(exponent):
                found = self._multiplied(found, terms)
        return found

    def _multiplied(self, one: Mapping[Orders, Expression], terms: Terms) -> dict[Orders, Expression]:
        self.work += len(one) * len(terms)
        if self.work > MOST_WORK:
            raise TooLongError("a formula of many fractions")
        found: dict[Orders, Expression] = {}
        for m, c in one.items():
            for n, d in terms:
                key = times(m, n)
                found[key] = found.get(key, ZERO) + c * d
        return found


def _whole(q: Fraction) -> int:
    if q.denominator != 1:
        raise TooLongError("a root of a formula of many fractions")
    return q.numerator


def _product(coefficient: Expression, factors: Iterable[tuple[Factored, int]]) -> Factored:
    orders: Orders = PLAIN
    sums: dict[Terms, int] = {}
    for factor, exponent in factors:
        coefficient = coefficient * power(factor.coefficient, number(exponent))
        orders = times(orders, factor.orders, exponent)
        for terms, e in factor.sums.items():
            sums[terms] = sums.get(terms, 0) + e * exponent
    if coefficient is ZERO:
        return Factored(ZERO, PLAIN, {})
    return Factored(coefficient, orders, {terms: e for terms, e in sums.items() if e})


def _least(all_orders: Iterable[Orders]) -> Orders:
    """The powers of small things that all terms have before them."""
    found = [dict(orders) for orders in all_orders]
    names = {name for orders in found for name in orders}
    least = ((name, min(orders.get(name, Fraction(0)) for orders in found)) for name in names)
    return tuple(sorted((name, q) for name, q in least if q))
