"""The port-Hamiltonian form as a value: its states, matrices and energy, and its printouts."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, final

from tellegen.equations.latex import hamiltonian_to_latex
from tellegen.equations.matrices import Matrix, Vector
from tellegen.equations.record import hamiltonian_to_record
from tellegen.equations.signal_equations import NO_SIGNALS, SignalEquations
from tellegen.equations.system import Algebraic, parameter_values
from tellegen.equations.text_hamiltonian import hamiltonian_to_text
from tellegen.equations.values import number_of
from tellegen.expressions import ZERO, Expression, number
from tellegen.expressions.entries import substituted
from tellegen.expressions.sympy_view import matrix_to_sympy

HamiltonianName = Literal["J", "R", "g", "P", "S", "N", "E", "E_1"]


@final
@dataclass(frozen=True)
class HamiltonianSystem:
    """`x' = (J - R) grad_H + (g - P) u`, `y = (g + P)^T grad_H + (S + N) u`, with J and N skew, R and S symmetric.

    Energy form: the states are energy variables, `H` is their energy and `grad_H` its gradient. `energy_variables` says what each
    state is in the power variables of the POG form. Co-energy form (`co_energy` lists the states that are power variables):
    the left side is `E x'`, or `E x' + E_1 x` with E_1 half the rate of E where displacements move it; `grad_H` are still the
    co-energy variables, so that the power balance reads the same:

        d(H + H_heat)/dt = y^T u - [grad_H, u]^T [[R, P], [P^T, S]] [grad_H, u] - grad_H^T f - u^T f_y

    Where a source decides the output of a storage, `multipliers` are states without energy: what these sources supply. Their rows
    are constraints, `0 = u - v`. `H_heat` is what capacities of heat add, in J*K: temperature times heat flow is no power, so it is
    a function that falls as temperatures even out, and no energy. Storages of heat and the others keep a balance each.
    `signals` are what drives inputs and moduli.

    `f` and `f_y` hold nonlinear resistive laws that are no product with the own co-energy variable; most models have none. `H` is
    None where the energy of a law has no closed form. `matrices` hold our own expressions; `form.J`, ... are SymPy's view.
    """

    name: str
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    parameters: Mapping[str, Expression | None]
    matrices: Mapping[HamiltonianName, Matrix]
    H: Expression | None
    grad_H: Vector
    f: Vector
    f_y: Vector
    energy_variables: Mapping[str, Expression] = field(default_factory=dict)
    co_energy: tuple[str, ...] = ()
    multipliers: tuple[str, ...] = ()
    H_heat: Expression | None = ZERO
    algebraic: Algebraic = field(default_factory=Algebraic)
    where: Mapping[str, Expression] = field(default_factory=dict)
    displacements: Mapping[str, Expression] = field(default_factory=dict)
    signals: SignalEquations = NO_SIGNALS

    def values(self) -> dict[str, float]:
        """The values of the parameters that have one."""
        return parameter_values(self.parameters)

    def with_entries(self, change: Callable[[Expression], Expression]) -> "HamiltonianSystem":
        """The system with every expression in it changed."""

        def changed(names: Mapping[str, Expression]) -> dict[str, Expression]:
            return {name: change(e) for name, e in names.items()}

        return replace(
            self,
            matrices={name: tuple(tuple(map(change, row)) for row in m) for name, m in self.matrices.items()},
            H=None if self.H is None else change(self.H),
            H_heat=None if self.H_heat is None else change(self.H_heat),
            grad_H=tuple(map(change, self.grad_H)),
            f=tuple(map(change, self.f)),
            f_y=tuple(map(change, self.f_y)),
            energy_variables=changed(self.energy_variables),
            algebraic=Algebraic(self.algebraic.unknowns, tuple(map(change, self.algebraic.residuals))),
            where=changed(self.where),
            displacements=changed(self.displacements),
            signals=self.signals.changed(change),
        )

    def numeric(self) -> "HamiltonianSystem":
        """The system with numbers in place of its parameters.

        Raises: EquationError naming a parameter without a value.
        """
        values = self.values()
        numbers: dict[str, Expression] = {name: number(value) for name, value in values.items()}

        def value(expression: Expression) -> Expression:
            if expression.free_symbols <= self.parameters.keys():
                return number(number_of(expression, values, self.name))
            return expression.substitute(numbers)

        written = self.with_entries(lambda e: substituted(e, self.where))
        return replace(written, where={}).with_entries(value)

    def to_text(self) -> str:
        """The form as text for a terminal."""
        return hamiltonian_to_text(self)

    def to_latex(self) -> str:
        """The form as an amsmath `align*` environment."""
        return hamiltonian_to_latex(self)

    def to_json(self) -> dict[str, object]:
        """The record that `derive --form ph --json` prints."""
        return hamiltonian_to_record(self)

    def __str__(self) -> str:
        return self.to_text()

    def _repr_latex_(self) -> str:
        return f"$$\n{hamiltonian_to_latex(self, environment='aligned')}\n$$"

    @property
    def J(self) -> Any:
        """The skew matrix that redistributes, as a SymPy matrix."""
        return matrix_to_sympy(self.matrices["J"])

    @property
    def R(self) -> Any:
        """The symmetric matrix that dissipates, as a SymPy matrix."""
        return matrix_to_sympy(self.matrices["R"])

    @property
    def g(self) -> Any:
        """The input matrix as a SymPy matrix."""
        return matrix_to_sympy(self.matrices["g"])

    @property
    def P(self) -> Any:
        """The dissipation between states and inputs, as a SymPy matrix."""
        return matrix_to_sympy(self.matrices["P"])

    @property
    def S(self) -> Any:
        """The symmetric direct term as a SymPy matrix."""
        return matrix_to_sympy(self.matrices["S"])

    @property
    def N(self) -> Any:
        """The skew direct term as a SymPy matrix."""
        return matrix_to_sympy(self.matrices["N"])
