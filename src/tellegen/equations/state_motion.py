"""Moduli that read states: how a rigid transformation x = T(z) z + T_u(z) u moves with the states themselves.

What a dependent storage takes is L x', and x' = T z' + T' z + T_u u' + T_u' u, where T' now contains the rates of the states
it reads. Collected, the matrix that multiplies z' is M = T^T L (T + G), column k of G being dT/dz_k z + dT_u/dz_k u. M is not
symmetric, and z^T M z / 2 is not the energy. So L stays T^T L T, symmetric, with E = z^T L z / 2 and N + N^T = L' as it is for
displacements: the rates of the states that T reads become names, omega_rate = (M^-1 (...))_omega, which stand in N and are given
under "where". The equations keep their form and their meaning, and can still be evaluated line by line.

Rates of inputs enter x' through T_u, and through T where a modulus reads an input: what they add is linear in u' and belongs to
B_1 and D_1.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import final

from tellegen.equations.congruence import Congruence
from tellegen.equations.matrices import Matrix, Vector, congruent, dot, plus, product
from tellegen.expressions import ONE, ZERO, Expression, symbol, total


@final
@dataclass(frozen=True)
class StateMotion:
    """Slopes of the outputs of all storages through what T and T_u read: `G` by states, `G_u` by inputs."""

    shared: Congruence
    G: Matrix
    G_u: Matrix

    def inertia(self) -> Matrix:
        """M = T^T L (T + G), what multiplies the rates of the states once they are collected."""
        shared = self.shared
        return congruent(shared.T, shared.energy, plus(shared.T, self.G), shared.states, shared.states)

    def input_inertia(self) -> Matrix:
        """T^T L (T_u + G_u), what multiplies the rates of the inputs before those of the states are replaced."""
        shared = self.shared
        return congruent(shared.T, shared.energy, plus(shared.T_u, self.G_u), shared.states, shared.inputs)


def state_motion(shared: Congruence, states: Sequence[str], inputs: Sequence[str]) -> StateMotion | None:
    """The slopes of x = T z + T_u u through T and T_u; None where these read neither states nor inputs."""
    variables = {*states, *inputs}
    entries = [e for matrix in (shared.T, shared.T_u) for row in matrix for e in row]
    if all(variables.isdisjoint(e.free_symbols) for e in entries):
        return None
    return StateMotion(shared, _slopes(shared, states, inputs, states), _slopes(shared, states, inputs, inputs))


def _slopes(shared: Congruence, states: Sequence[str], inputs: Sequence[str], by: Sequence[str]) -> Matrix:
    z, u = [symbol(n) for n in states], [symbol(n) for n in inputs]
    return tuple(
        tuple(_slope(row, z, name) + _slope(row_u, u, name) for name in by)
        for row, row_u in zip(shared.T, shared.T_u, strict=True)
    )


def _slope(row: Vector, at: Sequence[Expression], name: str) -> Expression:
    return total(e.derivative(name) * x for e, x in zip(row, at, strict=True) if name in e.free_symbols)


@final
@dataclass(frozen=True)
class StateRates:
    """The rates of the states that T and T_u read: their `symbols` by state, and what these stand for.

    `definitions` leave out what rates of inputs add; `carried` is how the outputs of all storages move with these.
    """

    symbols: Mapping[str, Expression]
    definitions: Mapping[str, Expression]
    carried: Matrix


def solve_state_rates(
    motion: StateMotion, forces: Vector, names: Mapping[str, str], times_inverse: Callable[[Matrix, Matrix], Matrix]
) -> StateRates:
    """Solve M z' = forces - T^T L (T_u + G_u) u' for the states that T and T_u read.

    `names` gives the name of the rate of each state, in their order, and `times_inverse(P, M)` is P M^-1.
    """
    shared, n = motion.shared, len(names)
    read = {name for matrix in (shared.T, shared.T_u) for row in matrix for e in row for name in e.free_symbols}
    wanted = {k: state for k, state in enumerate(names) if state in read}
    unit = tuple(tuple(ONE if k == j else ZERO for j in range(n)) for k in wanted)
    rows = dict(zip(wanted, times_inverse(unit, motion.inertia()), strict=True))
    taken = motion.input_inertia()
    answers = tuple(
        tuple(-dot(rows[k], [line[j] for line in taken]) if k in rows else ZERO for j in range(shared.inputs))
        for k in range(n)
    )
    return StateRates(
        {state: symbol(names[state]) for state in wanted.values()},
        {names[state]: dot(rows[k], forces) for k, state in wanted.items()},
        plus(product(motion.G, answers, shared.inputs), motion.G_u),
    )
