"""Sums, products, powers and comparisons in canonical form: their constructors, and the light rules that they apply.

Like terms and like powers are collected, rational numbers folded, sums and products flattened, and an integer power of
a product is distributed. Products of sums are never expanded. A number times a sum is distributed, so that `e + e` and
`2*e` are one expression.
"""

import math
import operator as op
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any, TypeGuard

from tellegen.expressions import nodes
from tellegen.expressions.rules import DivisionByZeroError, TooLargeError

LARGEST_BITS = 13_287
"""Numerators and denominators have at most 4000 digits, so that no formula can fill the memory."""

_SMALL_ENOUGH = 1 << 62


def _exact_number(q: nodes.Rational) -> nodes.Rational:
    """A number in its final form; small whole ones, which are most, take no time.

    Raises: OverflowError beyond 4000 digits.
    """
    # Nearly all numbers are small and whole; they pass by two comparisons.
    return q if type(q) is int and -_SMALL_ENOUGH < q < _SMALL_ENOUGH else nodes.as_integer(bounded(q))


def bounded(q: nodes.Rational) -> nodes.Rational:
    """The number itself.

    Raises: OverflowError beyond 4000 digits.
    """
    # A file from anywhere may hold 9^9^9^9, which would fill the memory before anything could refuse it.
    if q.numerator.bit_length() > LARGEST_BITS or q.denominator.bit_length() > LARGEST_BITS:
        raise TooLargeError("a number with more than 4000 digits")
    return q


def _integer_power(value: nodes.Rational, n: int) -> nodes.Rational:
    """A number to a whole power.

    Raises: ZeroDivisionError, OverflowError for a result beyond 4000 digits.
    """
    if not value and n < 0:
        raise DivisionByZeroError("division by zero")
    size = max(abs(value.numerator), value.denominator)
    # Estimated before it is computed: the power itself is what must not be made.
    if size > 1 and abs(n) * (size.bit_length() - 1) > LARGEST_BITS:
        raise TooLargeError("a power with more than 4000 digits")
    return _exact_number(Fraction(value) ** n if n < 0 else value**n)


def _exact_power(value: nodes.Rational, q: nodes.Rational) -> nodes.Rational | None:
    """A positive number to a fractional power where the result is rational, else None."""
    up, down = _exact_root(value.numerator, q.denominator), _exact_root(value.denominator, q.denominator)
    if up is None or down is None:
        return None
    return _integer_power(nodes.as_integer(Fraction(up, down)), q.numerator)


def _exact_root(n: int, k: int) -> int | None:
    """The whole number whose k-th power is n (n >= 0), or None."""
    if n < 2:
        return n
    if k == 2:
        # Exact at any size: a float would be rounded before it is compared.
        root = math.isqrt(n)
    # The root lies between one and two then.
    elif k >= n.bit_length():
        return None
    else:
        root = _floor_root(n, k)
    return root if root**k == n else None


def _floor_root(n: int, k: int) -> int:
    root = 1 << -(-n.bit_length() // k)
    while True:  # Newton's iteration from above falls until it has reached the floor
        lower = ((k - 1) * root + n // root ** (k - 1)) // k
        if lower >= root:
            return root
        root = lower


ZERO = nodes.intern_number(0)
ONE = nodes.intern_number(1)
MINUS_ONE = nodes.intern_number(-1)
HALF = nodes.intern_number(Fraction(1, 2))
PI = nodes.intern_constant("pi", math.pi)
CONSTANTS = {"pi": PI}

_SMALL = [nodes.intern_number(n) for n in range(-16, 65)]  # held, so that common numbers are not made again and again


def rational(x: nodes.Scalar) -> nodes.Rational:
    """The exact number that a person means by `x`: 0.1 is 1/10.

    Raises: ValueError when `x` is not finite.
    """
    if isinstance(x, int):
        return int(x)
    if isinstance(x, float):
        if not math.isfinite(x):
            raise ValueError(f"an expression holds finite numbers only, not {x}")
        # The shortest decimal that gives the same float is what was typed: 0.1 means 1/10, not 3602879701896397/2^55.
        return nodes.as_integer(Fraction(float.__repr__(x)))
    return nodes.as_integer(Fraction(x))


def number(x: nodes.Scalar) -> nodes.Number:
    """The expression of a number; a float counts as its shortest decimal text, so 0.1 is 1/10."""
    return nodes.intern_number(bounded(x if type(x) is int else rational(x)))


def symbol(name: str) -> nodes.Symbol:
    """The expression of a name or path. The caller vouches that the name is legal; `pi` is refused."""
    if name in CONSTANTS:
        raise ValueError(f"'{name}' is a constant and cannot name anything else")
    return nodes.intern_symbol(name)


def as_expression(x: nodes.Expression | nodes.Scalar) -> nodes.Expression:
    """An expression as it is, a number as an expression."""
    return x if isinstance(x, nodes.Expression) else number(x)


def _refuse_condition(term: nodes.Expression) -> None:
    if isinstance(term, nodes.Condition):
        raise TypeError(f"a condition is not a number: {term!r}")


def split_coefficient(term: nodes.Expression) -> tuple[nodes.Rational, nodes.Expression]:
    """The rational number and the rest, whose product the term is; a sum keeps its numbers."""
    if isinstance(term, nodes.Mul) and term.coefficient != 1:
        return term.coefficient, _unit(term)
    if isinstance(term, nodes.Number):
        return term.rational, ONE
    return 1, term


def _unit(product: nodes.Mul) -> nodes.Expression:
    factors = product.factors
    return _power_of(*factors[0]) if len(factors) == 1 else nodes.intern_mul(1, dict(factors))


def total(terms: Iterable[nodes.Expression]) -> nodes.Expression:
    """The sum of all terms; much faster than adding them one by one."""
    constant: nodes.Rational = 0
    collected: dict[nodes.Expression, nodes.Rational] = {}
    for term in terms:
        # The commonest kind first: sums of a network are sums of names.
        if isinstance(term, nodes.Symbol):
            collected[term] = collected.get(term, 0) + 1
        elif isinstance(term, nodes.Number):
            constant = _exact_number(constant + term.rational)
        elif isinstance(term, nodes.Add):
            constant = _exact_number(constant + term.constant)
            for base, c in term.terms:
                collected[base] = collected.get(base, 0) + c
        elif isinstance(term, nodes.Mul):
            c = term.coefficient
            base = term if c == 1 else _unit(term)
            collected[base] = collected.get(base, 0) + c
        else:
            _refuse_condition(term)
            collected[term] = collected.get(term, 0) + 1
    # Collected once at the end: adding n terms one by one would build n sums.
    return _sum_of(constant, collected)


def _sum_of(constant: nodes.Rational, collected: dict[nodes.Expression, nodes.Rational]) -> nodes.Expression:
    kept = {term: _exact_number(c) for term, c in collected.items() if c}
    if not kept:
        return nodes.intern_number(constant)
    # A sum of one term is that term; two forms of one thing would not be the same object.
    if len(kept) == 1 and not constant:
        ((term, c),) = kept.items()
        return _scaled(term, c)
    return nodes.intern_add(constant, kept)


def _scaled(term: nodes.Expression, c: nodes.Rational) -> nodes.Expression:
    if c == 1:
        return term
    if isinstance(term, nodes.Mul):
        return nodes.intern_mul(c, dict(term.factors))
    return nodes.intern_mul(c, dict((_as_factor(term),)))


def _as_factor(term: nodes.Expression) -> tuple[nodes.Expression, nodes.Rational]:
    """Base and rational exponent of a term that is neither a number nor a product.

    A power with the symbolic exponent n*e is base^e to the power n, so that a^x * a^(2*x) can be collected.
    """
    if not isinstance(term, nodes.Pow):
        return term, 1
    if isinstance(term.exponent, nodes.Number):
        return term.base, term.exponent.rational
    n, rest = whole_content(term.exponent)
    return (term, 1) if n == 1 else (nodes.intern_pow(term.base, rest), n)


def whole_content(exponent: nodes.Expression) -> tuple[int, nodes.Expression]:
    """The whole number in front of a symbolic exponent (of a sum, in front of its first term), and the rest.

    Whole only: (a^x)^2 is a^(2*x), but sqrt(a^x) need not be a^(x/2), as x = 2 shows.
    """
    n = _leading(exponent).numerator
    return n, exponent if n == 1 else mul(nodes.intern_number(nodes.as_integer(Fraction(1, n))), exponent)


def _leading(exponent: nodes.Expression) -> nodes.Rational:
    # A sum has no coefficient of its own, so that of its first term stands for it; the order of terms is fixed, and so
    # is the choice.
    return exponent.terms[0][1] if isinstance(exponent, nodes.Add) else split_coefficient(exponent)[0]


def _power_of(base: nodes.Expression, q: nodes.Rational) -> nodes.Expression:
    """The node of a factor taken from a product."""
    # The form of a factor inside a product and of a power that stands alone differ: here the pair becomes a node again.
    if q == 1:
        return base
    # (a^x)^2 is written a^(2*x), whichever way it came about.
    if type(q) is int and is_symbolic_power(base):
        return nodes.intern_pow(base.base, mul(nodes.intern_number(q), base.exponent))
    return nodes.intern_pow(base, nodes.intern_number(q))


def is_symbolic_power(x: nodes.Expression) -> TypeGuard[nodes.Pow]:
    """Whether the exponent is more than a number."""
    return isinstance(x, nodes.Pow) and not isinstance(x.exponent, nodes.Number)


def mul(*factors: nodes.Expression) -> nodes.Expression:
    """The product of all factors."""
    return product(factors)


def product(factors: Iterable[nodes.Expression]) -> nodes.Expression:
    """The product of all factors; much faster than multiplying them one by one."""
    coefficient: nodes.Rational = 1
    collected: dict[nodes.Expression, nodes.Rational] = {}
    for factor in factors:
        if isinstance(factor, nodes.Symbol):
            collected[factor] = collected.get(factor, 0) + 1
        elif isinstance(factor, nodes.Number):
            # Bounded at each step, as a long product of large numbers would otherwise grow unseen.
            coefficient = _exact_number(coefficient * factor.rational)
        elif isinstance(factor, nodes.Mul):
            coefficient = _exact_number(coefficient * factor.coefficient)
            for base, q in factor.factors:
                collected[base] = collected.get(base, 0) + q
        else:
            _refuse_condition(factor)
            base, q = _as_factor(factor)
            collected[base] = collected.get(base, 0) + q
    return _product_of(coefficient, collected)


def _product_of(coefficient: nodes.Rational, collected: dict[nodes.Expression, nodes.Rational]) -> nodes.Expression:
    if not coefficient:
        return ZERO
    kept: dict[nodes.Expression, nodes.Rational] = {}
    again: list[nodes.Expression] = []
    for base, exponent in collected.items():
        q = nodes.as_integer(exponent)
        if not q:
            continue
        if _issettled(base, q):
            kept[base] = _exact_number(q)
        else:
            again.append(power(base, nodes.intern_number(q)))
    # What was collected may collapse further, as 2^(1/2) * 2^(1/2) does, and join with factors that were settled before.
    if again:
        return product([nodes.intern_number(coefficient), *again, *[_power_of(b, q) for b, q in kept.items()]])
    return _settled_product(coefficient, kept)


def _issettled(base: nodes.Expression, q: nodes.Rational) -> bool:
    """Whether base^q, met when exponents were collected, is already in canonical form."""
    if isinstance(base, nodes.Number):
        # Numbers keep fractional exponents below one alone: 2^(3/2) is 2*2^(1/2), so that equal numbers are one object.
        return 0 < q < 1 and (base.rational < 0 or _exact_power(base.rational, q) is None)
    if isinstance(base, nodes.Mul):
        return type(q) is not int and (base.coefficient == 1 or _root_of_coefficient(base, q) is None)
    if isinstance(base, nodes.Pow) and type(q) is int:
        return is_symbolic_power(base) and math.gcd(q, _leading(base.exponent).denominator) == 1
    return True


def _settled_product(coefficient: nodes.Rational, factors: dict[nodes.Expression, nodes.Rational]) -> nodes.Expression:
    if not factors:
        return nodes.intern_number(coefficient)
    if len(factors) == 1:
        ((base, q),) = factors.items()
        if coefficient == 1:
            return _power_of(base, q)
        # A number times a sum is distributed, so that e + e and 2*e are one; sums of sums are never multiplied out,
        # which would explode.
        if isinstance(base, nodes.Add) and q == 1:
            constant = _exact_number(base.constant * coefficient)
            return nodes.intern_add(constant, {term: _exact_number(c * coefficient) for term, c in base.terms})
    return nodes.intern_mul(coefficient, factors)


def power(base: nodes.Expression, exponent: nodes.Expression) -> nodes.Expression:
    """`base ^ exponent`.

    Raises: ZeroDivisionError for a negative power of zero, OverflowError for a number of more than 4000 digits.
    """
    if isinstance(exponent, nodes.Number):
        return _rational_power(base, exponent.rational)
    _refuse_condition(base)
    _refuse_condition(exponent)
    # 0^x is left alone: it is 0, 1 or nothing, as x says.
    return ONE if base is ONE else nodes.intern_pow(base, exponent)


def _rational_power(base: nodes.Expression, q: nodes.Rational) -> nodes.Expression:
    if q in (0, 1):
        _refuse_condition(base)
        return base if q else ONE
    if isinstance(base, nodes.Number):
        return _number_power(base.rational, q)
    if isinstance(base, nodes.Mul):
        return _product_power(base, q)
    if isinstance(base, nodes.Pow) and type(q) is int:
        return power(base.base, mul(base.exponent, nodes.intern_number(q)))
    _refuse_condition(base)
    return nodes.intern_pow(base, nodes.intern_number(q))


def _product_power(base: nodes.Mul, q: nodes.Rational) -> nodes.Expression:
    if type(q) is int:
        coefficient = _integer_power(base.coefficient, q)
        return _product_of(coefficient, {b: bounded(e * q) for b, e in base.factors})
    root = _root_of_coefficient(base, q)
    # The coefficient leaves a root where its own root is exact: sqrt(4*x) is 2*sqrt(x), which like terms need to be seen.
    if root is None or base.coefficient == 1:
        return nodes.intern_pow(base, nodes.intern_number(q))
    return mul(nodes.intern_number(root), power(_unit(base), nodes.intern_number(q)))


def _root_of_coefficient(base: nodes.Mul, q: nodes.Rational) -> nodes.Rational | None:
    return _exact_power(base.coefficient, q) if base.coefficient > 0 else None


def _number_power(value: nodes.Rational, q: nodes.Rational) -> nodes.Expression:
    if type(q) is int:
        return nodes.intern_number(_integer_power(value, q))
    if not value:
        if q < 0:
            raise DivisionByZeroError("division by zero")
        return ZERO
    exact = _exact_power(value, q) if value > 0 else None
    if exact is not None:
        return nodes.intern_number(exact)
    # The exponent lies between zero and one afterwards.
    below = math.floor(q)  # 2^(3/2) is 2*2^(1/2): the exponent of a number lies between 0 and 1
    rest = nodes.intern_pow(nodes.intern_number(value), nodes.intern_number(q - below))
    return mul(nodes.intern_number(_integer_power(value, below)), rest) if below else rest


def sqrt(x: nodes.Expression) -> nodes.Expression:
    """The square root, x^(1/2)."""
    return power(x, HALF)


nodes.ENGINE.number = number
nodes.ENGINE.total = total
nodes.ENGINE.product = product
nodes.ENGINE.power = power


COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "<": op.lt,
    "<=": op.le,
    ">": op.gt,
    ">=": op.ge,
    "==": op.eq,
    "!=": op.ne,
}

TRUE = nodes.intern_logic("true", ())
FALSE = nodes.intern_logic("false", ())


def relation(
    operator: nodes.Operator, left: nodes.Expression | nodes.Scalar, right: nodes.Expression | nodes.Scalar
) -> nodes.Condition:
    """A comparison; TRUE or FALSE where both sides are numbers or the same expression."""
    a, b = as_expression(left), as_expression(right)
    for side in (a, b):
        if isinstance(side, nodes.Condition):
            raise TypeError(f"a condition cannot be compared: {side!r}")
    # Equal expressions are one object, so this decides x <= x for every x.
    if a is b:
        return TRUE if operator in ("<=", ">=", "==") else FALSE
    if isinstance(a, nodes.Number) and isinstance(b, nodes.Number):
        return TRUE if COMPARE[operator](a.rational, b.rational) else FALSE
    return nodes.intern_relation(operator, a, b)


def logic(operator: nodes.Connective, *conditions: nodes.Expression) -> nodes.Condition:
    """Conditions joined by `and`, `or`, or one under `not`; TRUE and FALSE are folded, an empty `and` is TRUE."""
    for condition in conditions:
        if not isinstance(condition, nodes.Condition):
            raise TypeError(f"not a condition: {condition!r}")
    if operator == "not":
        return _negated(*conditions)
    # TRUE changes nothing in an `and` and decides an `or`; FALSE the other way round.
    neutral, decisive = (TRUE, FALSE) if operator == "and" else (FALSE, TRUE)
    flat = [inner for condition in conditions for inner in _flattened(operator, condition) if inner is not neutral]
    if decisive in flat:
        return decisive
    # In the order of the text, each once.
    kept = tuple(dict.fromkeys(flat))
    if not kept:
        return neutral
    return nodes.intern_logic(operator, kept) if len(kept) > 1 else _condition(kept[0])


def _flattened(operator: nodes.Connective, condition: nodes.Expression) -> tuple[nodes.Expression, ...]:
    same = isinstance(condition, nodes.Logic) and condition.operator == operator
    return condition.args if same else (condition,)


def _negated(*conditions: nodes.Expression) -> nodes.Condition:
    if len(conditions) != 1:
        raise TypeError(f"'not' takes one condition, not {len(conditions)}")
    inner = conditions[0]
    if inner is TRUE or inner is FALSE:
        return FALSE if inner is TRUE else TRUE
    if isinstance(inner, nodes.Logic) and inner.operator == "not":
        return _condition(inner.arguments[0])
    return nodes.intern_logic("not", (inner,))


def _condition(x: nodes.Expression) -> nodes.Condition:
    assert isinstance(x, nodes.Condition), "conditions are joined with conditions only"
    return x
