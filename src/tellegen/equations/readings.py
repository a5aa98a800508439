"""From what is measured to its rows: formulas of power variables over states, inputs and the rates of inputs.

What a dependent storage takes is the rate of its content, so that a force between two rigid masses reads accelerations. These are
replaced from the equations, as they are in the outputs of sources that such storages follow.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import final

from tellegen.core.names import listing
from tellegen.equations import rules
from tellegen.equations.congruence import Congruence
from tellegen.equations.matrices import Matrix, Vector, dot, negative, plus, product
from tellegen.equations.measured import Measured, linear_part
from tellegen.equations.port_variables import PortVariables
from tellegen.equations.resistive import Told
from tellegen.equations.signal_equations import SignalEquations
from tellegen.equations.structure import CausalStructure
from tellegen.equations.system import EquationSystem
from tellegen.expressions import ZERO, Expression, total
from tellegen.graph.signals import Value


@final
@dataclass(frozen=True)
class Balance:
    """`L x' = -A_N x + B u + B_1 u' - f`, with A_N = A + N, and a function that gives the rows of P L^-1."""

    L: Matrix
    A_N: Matrix
    B: Matrix
    B_1: Matrix
    f: Vector
    times_inverse: Callable[[Matrix], Matrix]


@final
class Readings:
    """Writes what is measured as rows."""

    def __init__(
        self,
        structure: CausalStructure,
        told: Told,
        shared: Congruence,
        moved: Mapping[int, Expression],
        balance: Balance,
    ) -> None:
        self.causal = structure.causal
        self.variables = PortVariables(structure, told, rates=True)
        self.shared = shared
        self.moved = moved
        self.balance = balance
        ports = self.causal.graph.ports
        order = [*self.causal.integral, *self.causal.derivative]
        self.rates = {ports[k].variable(self.causal.decides[k]): order.index(k) for k in self.causal.derivative}
        self.formulas = {law.name: law.expression for law in self.causal.graph.signals if isinstance(law, Value)}

    def measured(self, system: EquationSystem, names: Mapping[str, str]) -> Measured:
        """The rows of what is named, by the formula of its signal.

        Raises: EquationError (E133) for what is no function of states, displacements and inputs.
        """
        known = {*system.states, *system.inputs, *system.displacements, *system.algebraic.unknowns}
        constant = {*system.parameters, *system.where}
        values = {name: self._written(name, signal, known | constant) for name, signal in names.items()}
        parts = {name: self._without_rates(name, e) for name, e in values.items()}
        linear = [linear_part(e, system.states, system.inputs, known, system.where) for e, _ in parts.values()]
        C, D = tuple(part.row for part in linear), tuple(part.row_u for part in linear)
        rest: Vector = tuple(part.rest for part in linear)
        D_1: Matrix = tuple((ZERO,) * len(system.inputs) for _ in linear)
        gains = [gains for _, gains in parts.values()]
        if any(gains):
            C, D, D_1, rest = self._with_rates(gains, (C, D, D_1, rest))
        return Measured(tuple(names), C, D, D_1, rest)

    def _written(self, name: str, signal: str, known: set[str]) -> Expression:
        """The formula over states, inputs, displacements, unknowns and the rates that dependent storages decide."""
        found = self.formulas.get(signal)
        if found is None:
            raise _not_measured(name, f"the signal '{signal}' has a memory, a table or a function of its own")
        left: frozenset[str] = frozenset()
        while (open_names := found.free_symbols - known - self.rates.keys()) and open_names != left:
            left = open_names
            formulas = {n: self.formulas[n] for n in open_names if n in self.formulas}
            found = found.substitute(formulas | self.variables.replacements(open_names - formulas.keys()))
        if open_names:
            raise _not_measured(name, f"it reads {listing(sorted(open_names))}")
        return found

    def _without_rates(self, name: str, expression: Expression) -> tuple[Expression, dict[int, Expression]]:
        """The part without rates, and the factor of each rate by the place of its storage."""
        rates = [rate for rate in self.rates if rate in expression.free_symbols]
        gains = {self.rates[rate]: expression.derivative(rate) for rate in rates}
        if any(e.free_symbols & self.rates.keys() for e in gains.values()):
            raise _not_measured(name, f"it is not linear in {listing(rates)}, which rates of states decide")
        return expression.substitute(dict.fromkeys(rates, ZERO)), gains

    def _with_rates(
        self, gains: list[dict[int, Expression]], rows: tuple[Matrix, Matrix, Matrix, Vector]
    ) -> tuple[Matrix, Matrix, Matrix, Vector]:
        """Rows to which the rates of dependent contents are added: the transformation T_u with the gains in its place."""
        (C, D, D_1, rest), b, shared = rows, self.balance, self.shared
        taken = tuple(tuple(row.get(i, ZERO) for row in gains) for i in range(len(shared.T)))
        view = shared.read_by(taken, len(gains))
        Z = b.times_inverse(view.P)
        states, inputs = shared.states, shared.inputs
        C = plus(C, plus(view.C, negative(product(Z, b.A_N, states))))
        D = plus(D, plus(view.D, product(Z, b.B, inputs)))
        D_1 = plus(D_1, plus(view.D_1, product(Z, b.B_1, inputs)))
        moved = [total(row[i] * e for i, e in self.moved.items() if i in row) for row in gains]
        rest = tuple(r + m - dot(z, b.f) for r, m, z in zip(rest, moved, Z, strict=True))
        return C, D, D_1, rest


def _not_measured(name: str, why: str) -> Exception:
    return rules.NOT_MEASURED.error(
        f"'{name}' is no output of the equations: {why}",
        where=name,
        fix="measure a state or a power variable, or derive the closed loop with closed=True",
    )


def without_formulas(signals: SignalEquations, names: frozenset[str]) -> SignalEquations:
    """The signals without those that were only there to be measured."""
    return SignalEquations(tuple(law for law in signals.laws if law.name not in names), signals.drivers)
