"""Expressions as sums of powers of one name."""

from collections.abc import Mapping
from fractions import Fraction

from tellegen.expressions.canonical import ONE, ZERO, number, symbol, total
from tellegen.expressions.nodes import Add, Expression, Mul, Number, Pow

Powers = dict[Fraction, Expression]
"""Coefficients by exponent."""

MOST_FACTORS = 8
"""Integer powers of sums are multiplied out up to here."""


def powers_of(expression: Expression, name: str) -> Powers | None:
    """The coefficients of the powers of a name, or None where the expression is no sum of such powers."""
    if name not in expression.free_symbols:
        return {Fraction(0): expression}
    if expression is symbol(name):
        return {Fraction(1): ONE}
    if isinstance(expression, Add):
        return _of_sum(expression, name)
    if isinstance(expression, Mul):
        found: Powers | None = {Fraction(0): number(expression.coefficient)}
        for base, exponent in expression.factors:
            found = _times(found, powers_of(base**exponent, name))
        return found
    if isinstance(expression, Pow) and isinstance(expression.exponent, Number):
        return _of_power(expression.base, expression.exponent.value, name)
    return None


def sum_of_powers(powers: Mapping[Fraction, Expression], name: str) -> Expression:
    """The expression with these coefficients."""
    return total(c * symbol(name) ** n for n, c in powers.items())


def _of_sum(expression: Add, name: str) -> Powers | None:
    found: Powers = {Fraction(0): number(expression.constant)} if expression.constant else {}
    for term, coefficient in expression.terms:
        powers = powers_of(term, name)
        if powers is None:
            return None
        for n, c in powers.items():
            found[n] = found.get(n, ZERO) + coefficient * c
    return found


def _of_power(base: Expression, exponent: Fraction, name: str) -> Powers | None:
    if base is symbol(name):
        return {exponent: ONE}
    if exponent.denominator != 1 or not 0 < exponent <= MOST_FACTORS:
        return None
    inside = powers_of(base, name)
    found: Powers | None = {Fraction(0): ONE}
    for _ in range(int(exponent)):
        found = _times(found, inside)
    return found


def _times(a: Powers | None, b: Powers | None) -> Powers | None:
    if a is None or b is None:
        return None
    found: Powers = {}
    for n, c in a.items():
        for m, d in b.items():
            found[n + m] = found.get(n + m, ZERO) + c * d
    return found
