"""The energy that a storage holds, as an expression of its state."""

from fractions import Fraction

from tellegen.expressions import ZERO, Add, Expression, Mul, Number, Pow, number
from tellegen.graph import StorageLaw
from tellegen.graph.laws import ARGUMENT, argument

HALF = number(Fraction(1, 2))


def stored_energy(law: StorageLaw, at: Expression) -> Expression | None:
    """The stored energy at a value of the state, zero at rest; None where it has no closed form that we find.

    Linear: inertia x^2 / 2. The user's energy function as given. Otherwise the integral of output d(energy variable).
    """
    if law.inertia is not None:
        return HALF * law.inertia * at * at
    if law.energy is not None:
        return law.energy.substitute({ARGUMENT: at})
    if law.output is not None:
        found = antiderivative(law.output)
    else:
        assert law.content is not None, "a nonlinear law gives content, output or energy"
        found = antiderivative(argument() * law.content.derivative(ARGUMENT))
    if found is None:
        return None
    return found.substitute({ARGUMENT: at}) - found.substitute({ARGUMENT: ZERO})


def antiderivative(expression: Expression) -> Expression | None:
    """The integral over ARGUMENT of a polynomial in it; None for anything else."""
    powers = _powers(expression)
    if powers is None or -1 in powers:
        return None
    return sum((c * argument() ** (n + 1) / number(n + 1) for n, c in powers.items()), ZERO)


def _powers(expression: Expression) -> dict[Fraction, Expression] | None:
    """The coefficients of the powers of ARGUMENT, or None when the expression is no sum of such powers."""
    if ARGUMENT not in expression.free_symbols:
        return {Fraction(0): expression}
    if expression is argument():
        return {Fraction(1): number(1)}
    if isinstance(expression, Add):
        return _powers_of_sum(expression)
    if isinstance(expression, Mul):
        total: dict[Fraction, Expression] | None = {Fraction(0): number(expression.coefficient)}
        for base, exponent in expression.factors:
            total = _times(total, _powers(base**exponent))
        return total
    if isinstance(expression, Pow) and isinstance(expression.exponent, Number):
        return _powers_of_power(expression.base, expression.exponent.value)
    return None


def _powers_of_sum(expression: Add) -> dict[Fraction, Expression] | None:
    total: dict[Fraction, Expression] = {Fraction(0): number(expression.constant)}
    for term, coefficient in expression.terms:
        found = _powers(term)
        if found is None:
            return None
        for n, c in found.items():
            total[n] = total.get(n, ZERO) + coefficient * c
    return total


def _powers_of_power(base: Expression, exponent: Fraction) -> dict[Fraction, Expression] | None:
    if base is argument():
        return {exponent: number(1)}
    if exponent.denominator != 1 or not 0 < exponent <= 8:
        return None
    inside = _powers(base)
    total: dict[Fraction, Expression] | None = {Fraction(0): number(1)}
    for _ in range(int(exponent)):
        total = _times(total, inside)
    return total


def _times(
    a: dict[Fraction, Expression] | None, b: dict[Fraction, Expression] | None
) -> dict[Fraction, Expression] | None:
    if a is None or b is None:
        return None
    total: dict[Fraction, Expression] = {}
    for n, c in a.items():
        for m, d in b.items():
            total[n + m] = total.get(n + m, ZERO) + c * d
    return total
