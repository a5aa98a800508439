"""Equations with exact numbers in place of their symbols."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cached_property

from hypothesis import assume

from support import exact
from support.networks import Network, equations
from tellegen.core.errors import CausalityError
from tellegen.equations.system import EquationSystem, MatrixName
from tellegen.expressions import Expression, evaluate_exact

CONFLICTS = ("K101", "K105")


def legal(network: Network) -> "Evaluated":
    """The equations of a network, with its numbers; networks whose sources or couplings contradict each other are passed over.

    So are networks with a coincidence of moduli: their equations are those of values in general position.
    """
    try:
        system = equations(network)
    except CausalityError as error:
        assume(error.code not in CONFLICTS)
        raise
    assert system.origin is not None
    assume(all(finding.code != "K106" for finding in system.origin.findings))
    return Evaluated(system, network.values)


class Evaluated:
    """A linear system at given parameters."""

    def __init__(self, system: EquationSystem, values: Mapping[str, Fraction]) -> None:
        self.system = system
        self.values = dict(values)
        for name, e in system.where.items():
            self.values[name] = evaluate_exact(e, self.values)
        self.n, self.m = len(system.states), len(system.inputs)
        assert system.origin is not None
        self.ports = system.origin.graph.ports
        self.integral = [self.ports[k].element for k in system.origin.integral]

    def matrix(self, name: MatrixName) -> exact.Rows:
        return [[evaluate_exact(e, self.values) for e in row] for row in self.system.matrices[name]]

    @cached_property
    def L(self) -> exact.Rows:
        return self.matrix("L")

    @cached_property
    def A(self) -> exact.Rows:
        return self.matrix("A")

    @cached_property
    def B(self) -> exact.Rows:
        return self.matrix("B")

    @cached_property
    def C(self) -> exact.Rows:
        return self.matrix("C")

    @cached_property
    def D(self) -> exact.Rows:
        return self.matrix("D")

    @cached_property
    def B_1(self) -> exact.Rows:
        return self.matrix("B_1")

    @cached_property
    def D_1(self) -> exact.Rows:
        return self.matrix("D_1")

    @property
    def has_input_rates(self) -> bool:
        return not (self.system.is_zero("B_1") and self.system.is_zero("D_1"))

    def transfer_matrix(self, s: Fraction) -> exact.Rows | None:
        """C (L s + A)^-1 (B + B_1 s) + D + D_1 s."""
        states = exact.solve_dense(exact.plus(self.A, self.L, s), exact.plus(self.B, self.B_1, s))
        if states is None:
            return None
        direct = exact.plus(self.D, self.D_1, s)
        return exact.plus(direct, exact.product(self.C, states, self.m))

    def rate(self, x: Sequence[Fraction], u: Sequence[Fraction], u_rate: Sequence[Fraction]) -> list[Fraction]:
        """x' from L x' = -A x + B u + B_1 u'."""
        driven = [
            -a + b + c
            for a, b, c in zip(
                exact.times(self.A, x), exact.times(self.B, u), exact.times(self.B_1, u_rate), strict=True
            )
        ]
        found = exact.solve_dense(self.L, [[e] for e in driven])
        assert found is not None, "the energy matrix of independent storages is regular"
        return [row[0] for row in found]

    def output(self, x: Sequence[Fraction], u: Sequence[Fraction], u_rate: Sequence[Fraction]) -> list[Fraction]:
        """C x + D u + D_1 u', the conjugates of the inputs."""
        terms = (exact.times(self.C, x), exact.times(self.D, u), exact.times(self.D_1, u_rate))
        return [sum(parts, Fraction(0)) for parts in zip(*terms, strict=True)]

    def at(self, expression: Expression, x: Sequence[Fraction], u: Sequence[Fraction]) -> Fraction:
        """The value of an expression of states and inputs."""
        names = (*self.system.states, *self.system.inputs)
        return evaluate_exact(expression, self.values | dict(zip(names, (*x, *u), strict=True)))

    def energy(self, x: Sequence[Fraction], u: Sequence[Fraction]) -> Fraction:
        assert self.system.stored_energy is not None
        return self.at(self.system.stored_energy, x, u)

    def dissipated(self, x: Sequence[Fraction], u: Sequence[Fraction]) -> Fraction:
        return self.at(self.system.dissipated_power, x, u)

    def storage_outputs(self, x: Sequence[Fraction], u: Sequence[Fraction]) -> dict[str, Fraction]:
        """The output of every storage, by the name of its element."""
        assert self.system.origin is not None
        found = dict(zip(self.integral, x, strict=True))
        dependent = [self.ports[k].element for k in self.system.origin.derivative]
        for element, e in zip(dependent, self.system.dependent.values(), strict=True):
            found[element] = self.at(e, x, u)
        return found
