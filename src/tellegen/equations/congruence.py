"""Dependent storages by the congruent transformation x = T z + T_u u.

x are the outputs of all storages, z those of the independent ones. With L the energy matrix of all storages and T' the
derivative along the motion (T and L may depend on displacements, and T on states: see `state_motion`),

    T^T L T z' + T^T (L T' + L' T) z + T^T L T_u u' + T^T (L T_u' + L' T_u) u

is what the storages together take from the rest of the model, and the sources see T_u^T (L x)' beside their own share.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import final

from tellegen.equations.matrices import Matrix, Sparse, congruent, plus, zeros
from tellegen.expressions import ONE, ZERO, Expression, symbol, total
from tellegen.expressions.entries import substituted


@final
@dataclass(frozen=True)
class Reading:
    """`P z' + C z + D u + D_1 u'`."""

    P: Matrix
    C: Matrix
    D: Matrix
    D_1: Matrix


@final
@dataclass(frozen=True)
class Congruence:
    """T and T_u with their derivatives along the motion, and the energy matrix of all storages."""

    T: Matrix
    T_u: Matrix
    T_rate: Matrix
    T_u_rate: Matrix
    energy: Sparse
    energy_rate: Sparse
    states: int
    inputs: int
    carried: Matrix = ()  # how outputs move with rates of inputs because T and T_u read states or inputs

    def shortened(self, short: Callable[[Expression], Expression]) -> "Congruence":
        """The same with entries of T, T_u and their rates made short: products of long ones would be read by nobody."""

        def all_of(matrix: Matrix) -> Matrix:
            return tuple(tuple(map(short, row)) for row in matrix)

        return replace(
            self,
            T=all_of(self.T),
            T_u=all_of(self.T_u),
            T_rate=all_of(self.T_rate),
            T_u_rate=all_of(self.T_u_rate),
        )

    def L(self) -> Matrix:
        """The energy matrix T^T L T of the independent storages."""
        return congruent(self.T, self.energy, self.T, self.states, self.states)

    def N(self) -> Matrix:
        """T^T (L T' + L' T), what the motion of the transformation and of the storages adds."""
        return self._moved(self.T, self.T, self.T_rate, self.states, self.states)

    def B_1(self) -> Matrix:
        """T^T L T_u, what rates of the inputs take."""
        return congruent(self.T, self.energy, self._by_input_rates(), self.states, self.inputs)

    def B_rate(self) -> Matrix:
        """T^T (L T_u' + L' T_u), what inputs take when their share in the storages changes."""
        return self._moved(self.T, self.T_u, self.T_u_rate, self.states, self.inputs)

    def P(self) -> Matrix:
        """T_u^T L T, what sources see of the rates of the states."""
        return congruent(self.T_u, self.energy, self.T, self.inputs, self.states)

    def C_rate(self) -> Matrix:
        """T_u^T (L T' + L' T), what sources see of the states through the motion."""
        return self._moved(self.T_u, self.T, self.T_rate, self.inputs, self.states)

    def D_1(self) -> Matrix:
        """T_u^T L T_u, what sources see of their own rates."""
        return congruent(self.T_u, self.energy, self._by_input_rates(), self.inputs, self.inputs)

    def D_rate(self) -> Matrix:
        """T_u^T (L T_u' + L' T_u), what sources see of themselves through the motion."""
        return self._moved(self.T_u, self.T_u, self.T_u_rate, self.inputs, self.inputs)

    def read_by(self, gains: Matrix, rows: int) -> "Reading":
        """What `gains^T (L x)'` is: a sum of the rates of contents, over the rates of states, states, inputs and their rates."""
        return Reading(
            P=congruent(gains, self.energy, self.T, rows, self.states),
            C=self._moved(gains, self.T, self.T_rate, rows, self.states),
            D=self._moved(gains, self.T_u, self.T_u_rate, rows, self.inputs),
            D_1=congruent(gains, self.energy, self._by_input_rates(), rows, self.inputs),
        )

    def _by_input_rates(self) -> Matrix:
        return plus(self.T_u, self.carried) if self.carried else self.T_u

    def _moved(self, left: Matrix, right: Matrix, right_rate: Matrix, rows: int, columns: int) -> Matrix:
        carried = congruent(left, self.energy, right_rate, rows, columns)
        return plus(carried, congruent(left, self.energy_rate, right, rows, columns)) if self.energy_rate else carried


def congruence(
    T: Sequence[Sequence[Expression]],
    T_u: Sequence[Sequence[Expression]],
    energy: Sparse,
    motion: "Motion",
    states: int,
    inputs: int,
    curved: Collection[tuple[int, int]] = (),
) -> Congruence:
    """The transformation from the rows of the dependent storages; `curved` entries of the energy are slopes of nonlinear laws."""
    identity = tuple(tuple(ONE if i == j else ZERO for j in range(states)) for i in range(states))
    whole = (*identity, *map(tuple, T))
    whole_u = (*zeros(states, inputs), *map(tuple, T_u))
    rates = {place: motion.rate_of(entry) for place, entry in energy.items() if place not in curved}
    energy_rate = {place: rate for place, rate in rates.items() if rate is not ZERO}
    return Congruence(whole, whole_u, motion.rate(whole), motion.rate(whole_u), energy, energy_rate, states, inputs)


class Motion:
    """How expressions change along the motion: by displacements, whose rates are known, and by parameters that depend on them."""

    def __init__(self, moving: Mapping[str, Expression], rates: Mapping[str, Expression]) -> None:
        self.moving = moving
        self.rates = dict(rates)
        self.slopes: dict[str, Expression] = {}
        for name in moving:
            written = substituted(symbol(name), moving)
            slopes = {d: written.derivative(d) for d in rates if d in written.free_symbols}
            self.slopes |= {f"{name}_{d}": slope for d, slope in slopes.items()}
            self.rates[name] = total(symbol(f"{name}_{d}") * rates[d] for d in slopes)

    def definitions(self) -> dict[str, Expression]:
        """What the names of moving parameters and of their slopes by displacements (`H_theta`) stand for."""
        return {**self.moving, **self.slopes}

    def rate(self, matrix: Matrix) -> Matrix:
        """The derivative along the motion."""
        if not self.rates:
            return tuple((ZERO,) * len(row) for row in matrix)
        return tuple(tuple(self.rate_of(e) for e in row) for row in matrix)

    def rate_of(self, expression: Expression) -> Expression:
        """The derivative of one expression along the motion."""
        if not self.rates or expression is ZERO:  # nearly all entries of large models
            return ZERO
        names = sorted(expression.free_symbols & self.rates.keys())
        return total(expression.derivative(name) * self.rates[name] for name in names)
