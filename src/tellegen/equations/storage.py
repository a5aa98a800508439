"""The energy that a storage holds, as an expression of its state."""

from tellegen.core.domains import DOMAINS
from tellegen.expressions import HALF, Expression, number
from tellegen.expressions.polynomial import powers_of, sum_of_powers
from tellegen.graph import Port, StorageLaw
from tellegen.graph.laws import ARGUMENT, argument


def held_energy(port: Port, at: Expression) -> Expression | None:
    """The energy that a storage holds at a value of its state; where heat is counted, that is what it keeps."""
    assert isinstance(port.law, StorageLaw), f"'{port.element}' stores nothing"
    if DOMAINS[port.domain].heat_books:
        return port.law.content_at(at)
    return stored_energy(port.law, at)


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
    return None if found is None else found.substitute({ARGUMENT: at})


def antiderivative(expression: Expression) -> Expression | None:
    """The integral over ARGUMENT of a sum of its powers, zero at zero; None for anything else."""
    powers = powers_of(expression, ARGUMENT)
    if powers is None or any(n <= -1 for n in powers):
        return None
    return sum_of_powers({n + 1: c / number(n + 1) for n, c in powers.items()}, ARGUMENT)
