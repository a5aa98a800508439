"""The reduced model as a value, with everything that an engineer asks about it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, final

from tellegen.causality import CausalGraph
from tellegen.core.errors import Finding
from tellegen.core.names import identifier
from tellegen.description.model import Model
from tellegen.equations.assembly import derive_equations
from tellegen.equations.display import Sign
from tellegen.equations.matrices import Matrix
from tellegen.equations.record import equations_to_record
from tellegen.equations.system import EquationSystem
from tellegen.expressions import Expression, to_python
from tellegen.expressions.entries import used_names
from tellegen.expressions.sympy_view import matrix_to_sympy
from tellegen.reduction.account import Account, account_of
from tellegen.reduction.limits import Limit
from tellegen.reduction.naming import Glossary
from tellegen.reduction.recovery import Constraints, Recovered
from tellegen.reduction.text import reduction_to_latex, reduction_to_text


@final
@dataclass(frozen=True, repr=False)
class Reduction:
    """A reduced model with its equations, and how the states of the full model follow: x = T z + T_u u.

    `full` and `equations` are the equations before and after. Rows of `transformation` and `input_transformation` are the states
    of `full`; the row of a variable that only rates determine (a constraint force) is zero as far as the others allow. `recovered`
    gives every variable that the limit removes by states, inputs and their rates (`u_dot`), over `where`; `static` those that need
    no rates. Variables of `indeterminate` are nowhere determined. `findings` are notices and warnings.
    """

    limits: tuple[Limit, ...]
    original: Model
    model: Model
    causal: CausalGraph
    equations: EquationSystem
    transformation: Matrix
    input_transformation: Matrix
    static: Mapping[str, Expression]
    constraints: Constraints
    glossary: Glossary = field(compare=False)
    indeterminate: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()

    @cached_property
    def full(self) -> EquationSystem:
        """The equations of the full model."""
        return derive_equations(self.causal)

    @cached_property
    def account(self) -> Account:
        """The poles that were lost and kept, at the values of the model."""
        return account_of(self.full, self.equations, self.original, self.model)

    @cached_property
    def _by_rates(self) -> Recovered:
        return self.constraints.recovered(self.glossary)

    @property
    def recovered(self) -> Mapping[str, Expression]:
        """The variables that the limit removes: velocities without inertia, forces of constraints."""
        return {**self.static, **self._by_rates.variables}

    @property
    def where(self) -> Mapping[str, Expression]:
        """What the names in `transformation` and `recovered` stand for, beside those of the equations."""
        return self._by_rates.where

    @property
    def input_rates(self) -> Mapping[str, str]:
        """The names of rates of inputs in `recovered`, with their inputs."""
        return self._by_rates.input_rates

    @property
    def full_states(self) -> tuple[str, ...]:
        """The states of the full model: the rows of T."""
        ports = self.causal.graph.ports
        return tuple(ports[k].state for k in self.causal.integral)

    @property
    def N_1(self) -> Matrix:
        """T'^T L T of `d(J z)/dt - N_1 z = -b z + B u`, where T moves; the transpose of N."""
        N = self.equations.matrices["N"]
        return tuple(tuple(row[i] for row in N) for i in range(len(N)))

    @property
    def J(self) -> Matrix:
        """T^T L T of the same form: the energy matrix, which may depend on displacements."""
        return self.equations.matrices["L"]

    @property
    def b(self) -> Matrix:
        """T^T A T of the same form."""
        return self.equations.matrices["A"]

    @property
    def T(self) -> Any:
        """T as a SymPy matrix."""
        return matrix_to_sympy(self.transformation)

    @property
    def T_u(self) -> Any:
        """T_u as a SymPy matrix."""
        return matrix_to_sympy(self.input_transformation)

    def to_text(self, sign: Sign = "-") -> str:
        """The reduced equations, T and T_u, the removed variables, the poles and the findings, as text for a terminal."""
        return reduction_to_text(self, sign=sign)

    def to_latex(self, sign: Sign = "-") -> str:
        """The reduced equations and `x = T z + T_u u` as amsmath `align*` environments."""
        return "\n".join(reduction_to_latex(self, sign=sign))

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        limits = ", ".join(map(str, self.limits))
        return (
            f"<Reduction of {self.original.name!r} by {limits}: states {', '.join(self.equations.states) or '(none)'}>"
        )

    def _repr_latex_(self) -> str:
        return "\n\n".join(f"$$\n{part}\n$$" for part in reduction_to_latex(self, environment="aligned"))

    def to_json(self, sign: Sign = "-") -> dict[str, object]:
        """The record of the equations, with `T`, `T_u`, `recovered`, `removed_poles`, `origin` and what else there is to say."""
        record = equations_to_record(self.equations, sign)
        shown = [e for m in (self.transformation, self.input_transformation) for row in m for e in row]
        names = {**self.equations.where, **self.where}
        needed = used_names([*shown, *self.recovered.values()], names)
        if needed:
            earlier = record.get("where", {})
            assert isinstance(earlier, dict), "definitions are a mapping"
            new = {identifier(n): to_python(e) for n, e in names.items() if n in needed}
            record["where"] = {**earlier, **new}
        record["T"] = _texts(self.transformation)
        record["T_u"] = _texts(self.input_transformation)
        record["recovered"] = {identifier(n): to_python(e) for n, e in self.recovered.items()}
        if self.input_rates:
            record["input_rates"] = dict(self.input_rates)
        if self.indeterminate:
            record["indeterminate"] = [identifier(n) for n in self.indeterminate]
        record["removed_poles"] = [[p.real, p.imag] for p in self.account.removed_poles]
        record["kept_poles"] = [[p.real, p.imag] for p in self.account.kept_poles]
        record["origin"] = {
            "model": self.original.name,
            "states": [identifier(n) for n in self.full_states],
            "limits": {limit.name: limit.value for limit in self.limits},
        }
        if self.findings:
            record["findings"] = [finding.to_json() for finding in self.findings]
        return record


def _texts(matrix: Matrix) -> list[list[str]]:
    return [[to_python(e) for e in row] for row in matrix]
