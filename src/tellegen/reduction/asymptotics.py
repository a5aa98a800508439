"""The limit of a formula when several parameters tend to zero or infinity together, whatever their ratios: by leading terms, or
factor by factor where fractions are nested.

Where nothing is 0/0, 0 times infinity or a difference of infinities, the limit of a formula is that formula of the limits of its
parts. Elsewhere it is kept as a product of sums, whose common factors cancel before anything is expanded: eliminations divide
by the same pivots again and again.

Each parameter p stands for something small: e = p where it tends to zero, e = 1/p where it tends to infinity. A formula is a
quotient of sums of products of powers of these, and its limit is read from the powers. Where it would depend on which of two
small things is smaller, there is no common limit.
"""

from collections.abc import Iterable, Mapping
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
    product,
    rebuild,
    total,
)
from tellegen.expressions.simplification import shortened

Orders = tuple[tuple[str, Fraction], ...]
"""The small things in a product with their powers, by name."""

PLAIN: Orders = ()


def times_powers(m: Orders, n: Orders, exponent: Fraction | int = 1) -> Orders:
    """The powers of m * n^exponent."""
    powers = dict(m)
    for name, q in n:
        powers[name] = powers.get(name, Fraction(0)) + exponent * q
    return tuple(sorted((name, q) for name, q in powers.items() if q))


def is_smaller_order(n: Orders, m: Orders) -> bool:
    """Whether m is n, or smaller than n, whatever the ratios."""
    # m/n has no negative power of anything small: so it stays finite whichever of the small things is smaller.
    return all(q >= 0 for _, q in times_powers(m, n, -1))


Terms = frozenset[tuple[Orders, Expression]]
"""A sum: coefficients with the powers of small things before them."""

MOST_FACTORED_WORK = 200_000


class LimitTooLongError(Exception):
    """A formula whose sums have too many terms, or that is no quotient of sums."""


class IndeterminateError(Exception):
    """The limits of the parts of a formula do not tell that of the whole."""


def limit_by_parts(expression: Expression, orders: Mapping[str, int]) -> Expression | None:
    """The limit of a formula from those of its parts; None where it is infinite.

    Raises: IndeterminateError where these do not tell it.
    """
    known: dict[Expression, Expression | None] = {}

    def limit(node: Expression) -> Expression | None:
        # Expressions share parts: without a memory a nested fraction would be walked exponentially often.
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
    # inf - inf may be anything, and the sign of an infinite parameter times its coefficient is not looked at either.
    if len(infinite) > 1:
        raise IndeterminateError("a difference of infinities")
    return None if infinite else total([constant, *(c * e for e, c in terms if e is not None)])


def _product_of_limits(coefficient: Expression, factors: list[Expression | None]) -> Expression | None:
    # Zero times infinity is left to the leading terms, which see how fast both tend.
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
    # An even root of a negative limit has no real value.
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
        # The term that outgrows all others decides; without one, the limit depends on ratios.
        leader = next((t for t in terms if all(is_smaller_order(t[0], other) for other, _ in terms)), None)
        if leader is None:
            return None
        total = times_powers(total, leader[0], exponent)
        coefficient = coefficient * power(leader[1], number(exponent))
    return coefficient, total


class _Factoring:
    """Writes expressions as products of sums, each subexpression once."""

    def __init__(self, orders: Mapping[str, int]) -> None:
        self.small = orders
        self.known: dict[Expression, Factored] = {}
        self.work = 0

    def of(self, node: Expression) -> Factored:
        if node not in self.known:
            self.known[node] = self._made(node)
        return self.known[node]

    def _made(self, node: Expression) -> Factored:
        if self.small.keys().isdisjoint(node.free_symbols):
            return Factored(node, PLAIN, {})
        if isinstance(node, Symbol):
            # A parameter that tends to infinity is a small thing to the power -1.
            return Factored(ONE, ((node.name, Fraction(self.small[node.name])),), {})
        if isinstance(node, Mul):
            factors = [(self.of(base), _whole(Fraction(q))) for base, q in node.factors]
            return _product(number(node.coefficient), factors)
        if isinstance(node, Pow) and isinstance(node.exponent, Number):
            return _product(ONE, [(self.of(node.base), _whole(Fraction(node.exponent.rational)))])
        if isinstance(node, Add):
            return self._sum(node)
        raise LimitTooLongError(str(node))

    def _sum(self, node: Add) -> Factored:
        """The sum over what all terms have in common."""
        terms = [_product(number(c), [(self.of(term), 1)]) for term, c in node.terms]
        if node.constant:
            terms.append(Factored(number(node.constant), PLAIN, {}))
        # Common factors are divided out before anything is expanded: pivots of an elimination stand in every term.
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
        # One term needs no sum: what is left is a product again, which cancels further up.
        if len(left) == 1:
            ((orders, coefficient),) = left.items()
            return Factored(coefficient, times_powers(shared, orders), common)
        return _product(
            ONE, [(Factored(ONE, shared, common), 1), (Factored(ONE, PLAIN, {frozenset(left.items()): 1}), 1)]
        )

    def _expanded(self, term: Factored, shared: Orders, sums: Mapping[Terms, int]) -> dict[Orders, Expression]:
        found: dict[Orders, Expression] = {times_powers(term.orders, shared, -1): term.coefficient}
        for terms, exponent in sums.items():
            for _ in range(exponent):
                # The work is counted, not the time: the same formula is refused on every machine.
                self.work += len(found) * len(terms)
                if self.work > MOST_FACTORED_WORK:
                    raise LimitTooLongError("a formula of many fractions")
                found = _multiplied(found, dict(terms))
        return found


def _whole(q: Fraction) -> int:
    # A root of a sum is no product of sums; other ways have to tell the limit.
    if q.denominator != 1:
        raise LimitTooLongError("a root of a formula of many fractions")
    return q.numerator


def _product(coefficient: Expression, factors: Iterable[tuple[Factored, int]]) -> Factored:
    orders: Orders = PLAIN
    sums: dict[Terms, int] = {}
    for factor, exponent in factors:
        coefficient = coefficient * power(factor.coefficient, number(exponent))
        orders = times_powers(orders, factor.orders, exponent)
        for terms, e in factor.sums.items():
            sums[terms] = sums.get(terms, 0) + e * exponent
    # Zero has no powers: they would make it look small instead of absent.
    if coefficient is ZERO:
        return Factored(ZERO, PLAIN, {})
    return Factored(coefficient, orders, {terms: e for terms, e in sums.items() if e})


def _least(all_orders: Iterable[Orders]) -> Orders:
    """The powers of small things that all terms have before them."""
    found = [dict(orders) for orders in all_orders]
    names = {name for orders in found for name in orders}
    least = ((name, min(orders.get(name, Fraction(0)) for orders in found)) for name in names)
    return tuple(sorted((name, q) for name, q in least if q))


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
    # A comparison is no quotient: it is taken at the limits of its sides.
    if isinstance(expression, Condition):
        return _continued(expression, orders)
    try:
        found = _Quotients(orders).of(expression)
    # Quotients first, since they tell most; products of sums where these grow too long.
    except TooManyFractionsError as reason:
        return _factored_limit(expression, orders, reason)
    above, below = _without_zeros(found.above), _without_zeros(found.below)
    # Compared term by term, so that the answer holds whatever the ratios of the parameters are.
    if not above or _smaller(above, below):
        return ZERO
    if not below or _smaller(below, above):
        return None
    first, second = _leader(above), _leader(below)
    # Terms of one order lead above and below: the limit is the quotient of their coefficients.
    if first is not None and first == second:
        return above[first] / below[second]
    # No single leader, but both sums may have the same leading part up to a factor.
    proportional = _common_ratio(above, below)
    if proportional is None:
        raise DependsOnRatioError(*_names(above, below))
    return proportional


def _factored_limit(expression: Expression, orders: Mapping[str, int], reason: NoLimitError) -> Expression | None:
    """The limit of a formula of many fractions: from the limits of its parts, or the leading terms of its factors.

    Where these do not tell it, most of the fractions may cancel: an elimination that nothing required leaves such formulas.
    """
    try:
        # The cheapest way first: where no 0/0 occurs the parts tell all.
        return limit_by_parts(expression, orders)
    except IndeterminateError:
        pass
    try:
        found = leading_term(expression, orders)
    except (LimitTooLongError, ZeroDivisionError):
        found = None
    if found is None:
        # A last attempt: an elimination that nothing required leaves factors that cancel only when the formula is made short.
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
    # Any term that none outgrows will do, since the factor has to be the same for all of them.
    leading = next((m for m in below if not any(n != m and is_smaller_order(n, m) for n in below)), None)
    if leading is None or leading not in above:
        return None
    ratio = above[leading] / below[leading]
    rest = _without_zeros(_sum(above, {m: -ratio * c for m, c in below.items()}))
    return ratio if _smaller(rest, below) else None


def _without_zeros(terms: Sum) -> Sum:
    return {orders: c for orders, c in terms.items() if not is_zero(c)}


def _smaller(a: Sum, b: Sum) -> bool:
    """Whether every term of a is smaller than some term of b, whatever the ratios."""
    return all(any(m != n and is_smaller_order(n, m) for n in b) for m in a)


def _leader(terms: Sum) -> Orders | None:
    """The term that no other outgrows, where there is one."""
    return next((m for m in terms if all(is_smaller_order(m, other) for other in terms)), None)


def _names(*sums: Sum) -> list[str]:
    return sorted({name for terms in sums for orders in terms for name, _ in orders})


class _Quotients:
    """Writes expressions as quotients of sums, each subexpression once."""

    def __init__(self, orders: Mapping[str, int]) -> None:
        self.orders = orders
        self.known: dict[Expression, _Quotient] = {}
        self.work = 0

    def of(self, node: Expression) -> _Quotient:
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
            # Equal denominators add without growing: most terms of an elimination have one.
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
            # Small whole powers by repeated products: a table of binomials would not pay.
            found = one
            for _ in range(abs(q.numerator) - 1):
                found = self._times(found, one)
            return found
        return _Quotient(_root(one.above, abs(q), base), _root(one.below, abs(q), base))

    def _times(self, one: _Quotient, two: _Quotient) -> _Quotient:
        return _Quotient(self._product(one.above, two.above), self._product(one.below, two.below))

    def _product(self, a: Sum, b: Sum) -> Sum:
        # Each pair of terms costs as much as its coefficients are long.
        lengths = [sum(len(c.args) for c in terms.values()) for terms in (a, b)]
        self.work += len(a) * len(b) + lengths[0] * len(b) + len(a) * lengths[1]
        if self.work > MOST_WORK:
            raise TooManyFractionsError("a formula of many fractions")
        return _multiplied(a, b)


def _continued(node: Expression, orders: Mapping[str, int]) -> Expression:
    """A function at the limits of its arguments, a comparison at those of its sides."""
    limits = [limit_of(argument, orders) for argument in node.args]
    values = [value for value in limits if value is not None]
    if len(values) < len(limits):
        raise NoLimitError(str(node))
    # On the way the two sides differ, so that the comparison may be true there and false at the limit.
    if isinstance(node, Relation) and values[0] is values[1]:  # equal at the limit only: K > 0 holds on the way to zero
        raise NoLimitError(str(node))
    try:
        return rebuild(node, tuple(values))
    except (ArithmeticError, ValueError) as reason:
        raise NoLimitError(str(node)) from reason


def _root(terms: Sum, q: Fraction, base: Expression) -> Sum:
    leader = _leader(_without_zeros(terms))
    # The root of a sum is the root of its leading term, where that is positive.
    if leader is None or (q.denominator % 2 == 0 and never_positive(terms[leader])):
        raise NoLimitError(str(power(base, number(q))))
    return {tuple((name, n * q) for name, n in leader): power(terms[leader], number(q))}


def _multiplied(a: Sum, b: Sum) -> Sum:
    """The terms of a product of sums, those of equal powers together."""
    found: Sum = {}
    for m, c in a.items():
        for n, d in b.items():
            key = times_powers(m, n)
            found[key] = found.get(key, ZERO) + c * d
    return found


def _sum(a: Sum, b: Sum) -> Sum:
    found = dict(a)
    for m, c in b.items():
        found[m] = found.get(m, ZERO) + c
    return found
