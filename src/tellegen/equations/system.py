"""The equations of a model in the POG form, as a value."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal, final

from tellegen.core.names import listing
from tellegen.equations import rules
from tellegen.equations.display import Sign
from tellegen.equations.latex import equations_to_latex
from tellegen.equations.matrices import Matrix, Vector
from tellegen.equations.measured import NOTHING_MEASURED, Measured
from tellegen.equations.readable_forms import Modes
from tellegen.equations.record import equations_to_record
from tellegen.equations.signal_equations import NO_SIGNALS, SignalEquations
from tellegen.equations.text import equations_to_text
from tellegen.expressions import ZERO, Expression, number
from tellegen.expressions.sympy_view import matrix_to_sympy

if TYPE_CHECKING:
    from tellegen.causality import CausalGraph

MatrixName = Literal["L", "A", "B", "C", "D", "N", "B_1", "D_1"]
VectorName = Literal["f", "f_y"]


@final
@dataclass(frozen=True)
class Algebraic:
    """Unknowns without a derivative, and the residuals that vanish at their solution."""

    unknowns: tuple[str, ...] = ()
    residuals: Vector = ()


@final
@dataclass(frozen=True)
class EquationSystem:
    """`L x' + N x + f = -A x + B u + B_1 u'`, `y = C x + D u + D_1 u' + f_y`, `0 = residual(x, u, w)`.

    L is symmetric and positive semidefinite; A_s dissipates and A_w redistributes. N, f, B_1, D_1, f_y and the algebraic part are
    zero or empty for most models. Entries are over parameters, states, inputs, unknowns, and the names listed in `where`, in order.
    `signals` are causal and beside the power equations; moduli and coefficients may read them, and what they drive is an input.
    `dependent` expresses the outputs of the storages in derivative causality (the rows of T and T_u below the identity), `measured`
    what detectors read beside the outputs y.

    `matrices` and `vectors` hold our own expressions; `eq.L`, `eq.A`, ... are SymPy's view of them.
    """

    name: str
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    parameters: Mapping[str, Expression | None]
    matrices: Mapping[MatrixName, Matrix]
    vectors: Mapping[VectorName, Vector]
    stored_energy: Expression | None
    dissipated_power: Expression
    algebraic: Algebraic = Algebraic()
    where: Mapping[str, Expression] = field(default_factory=dict)
    dependent: Mapping[str, Expression] = field(default_factory=dict)
    initial: Mapping[str, Expression] = field(default_factory=dict)
    displacements: Mapping[str, Expression] = field(default_factory=dict)
    signals: SignalEquations = NO_SIGNALS
    measured: Measured = NOTHING_MEASURED
    origin: "CausalGraph | None" = field(default=None, compare=False, repr=False)

    @property
    def linear(self) -> bool:
        """Whether the matrices hold neither states nor inputs and no further terms are left."""
        variables = {*self.states, *self.inputs, *self.displacements, *self.algebraic.unknowns, *self.signals.names}
        if self.algebraic.unknowns or any(e is not ZERO for vector in self.vectors.values() for e in vector):
            return False
        entries = (e for matrix in self.matrices.values() for row in matrix for e in row)
        return not any(variables & e.free_symbols for e in (*entries, *self.where.values()))

    @property
    def modes(self) -> dict[str, Modes]:
        """The modes of the elements that have some, and the mode in which these equations hold."""
        if self.origin is None:
            return {}
        graph = self.origin.graph
        return {graph.ports[k].element: Modes(tuple(law.modes), graph.mode_of(k)) for k, law in graph.switching.items()}

    @property
    def symmetric_part(self) -> Matrix:
        """A_s, the part of A that dissipates."""
        return _half_sum(self.matrices["A"], 1)

    @property
    def skew_part(self) -> Matrix:
        """A_w, the part of A that only redistributes."""
        return _half_sum(self.matrices["A"], -1)

    def values(self) -> dict[str, float]:
        """The values of the parameters that have one."""
        return parameter_values(self.parameters)

    def is_zero(self, name: "MatrixName | VectorName") -> bool:
        """Whether a matrix or vector vanishes."""
        if name in self.vectors:
            return all(e is ZERO for e in self.vectors[name])  # type: ignore[index]
        return all(e is ZERO for row in self.matrices[name] for e in row)  # type: ignore[index]

    def with_entries(self, change: Callable[[Expression], Expression]) -> "EquationSystem":
        """The system with every expression in it changed."""
        energy = self.stored_energy
        return replace(
            self,
            matrices={name: tuple(tuple(map(change, row)) for row in m) for name, m in self.matrices.items()},
            vectors={name: tuple(map(change, v)) for name, v in self.vectors.items()},
            algebraic=Algebraic(self.algebraic.unknowns, tuple(map(change, self.algebraic.residuals))),
            dependent={name: change(e) for name, e in self.dependent.items()},
            signals=self.signals.changed(change),
            measured=self.measured.changed(change),
            stored_energy=None if energy is None else change(energy),
            dissipated_power=change(self.dissipated_power),
        )

    def entries(self) -> list[Expression]:
        """Every expression of the equations."""
        flat = [e for m in self.matrices.values() for row in m for e in row]
        vectors = [e for v in self.vectors.values() for e in v]
        energy = [] if self.stored_energy is None else [self.stored_energy]
        others = [
            *self.algebraic.residuals,
            *self.dependent.values(),
            *self.signals.entries(),
            *self.measured.entries(),
        ]
        return [*flat, *vectors, *others, *energy, self.dissipated_power]

    # -- Printouts -------------------------------------------------------------------------------------------------------------

    def to_text(self, sign: Sign = "-") -> str:
        """The equations as text for a terminal."""
        return equations_to_text(self, sign=sign)

    def to_latex(self, sign: Sign = "-") -> str:
        """The equations as an amsmath `align*` environment."""
        return equations_to_latex(self, sign=sign)

    def to_json(self, sign: Sign = "-") -> dict[str, object]:
        """The record that `derive --json` prints: names, values of parameters, matrices of formulas in Python syntax."""
        return equations_to_record(self, sign)

    def __str__(self) -> str:
        return self.to_text()

    def _repr_latex_(self) -> str:
        return f"$$\n{equations_to_latex(self, environment='aligned')}\n$$"

    # -- SymPy's view ----------------------------------------------------------------------------------------------------------

    @property
    def L(self) -> Any:
        """The energy matrix as a SymPy matrix."""
        return matrix_to_sympy(self.matrices["L"])

    @property
    def A(self) -> Any:
        """The power matrix as a SymPy matrix, in the sign of `L x' = -A x + B u`."""
        return matrix_to_sympy(self.matrices["A"])

    @property
    def B(self) -> Any:
        """The input matrix as a SymPy matrix."""
        return matrix_to_sympy(self.matrices["B"])

    @property
    def C(self) -> Any:
        """The output matrix as a SymPy matrix."""
        return matrix_to_sympy(self.matrices["C"])

    @property
    def D(self) -> Any:
        """The input-output matrix as a SymPy matrix."""
        return matrix_to_sympy(self.matrices["D"])

    @property
    def A_s(self) -> Any:
        """The symmetric part of A as a SymPy matrix."""
        return matrix_to_sympy(self.symmetric_part)

    @property
    def A_w(self) -> Any:
        """The skew part of A as a SymPy matrix."""
        return matrix_to_sympy(self.skew_part)


def parameter_values(parameters: Mapping[str, Expression | None]) -> dict[str, float]:
    """Numbers for the parameters that have a value, whatever their order; a parameter of a valueless one has none.

    Raises: EquationError (E110) where the values of some give no number for another, such as a division by zero.
    """
    values: dict[str, float] = {}
    waiting = {name: e for name, e in parameters.items() if e is not None}
    while waiting:
        ready = [name for name, e in waiting.items() if e.free_symbols <= values.keys()]
        if not ready:
            break
        for name in ready:
            values[name] = _computed(name, waiting.pop(name), values)
    return {name: values[name] for name in parameters if name in values}


def _computed(name: str, expression: Expression, values: Mapping[str, float]) -> float:
    try:
        value = expression.evaluate(values)
    except OverflowError:
        reason = "it is too large for a number"
    except (ArithmeticError, ValueError) as problem:
        reason = str(problem)
    else:
        if isfinite(value):
            return value
        reason = f"the result is {value}"
    made_of = sorted(expression.free_symbols)
    fix = f"change {listing(made_of)}, of which it is made" if made_of else "give a finite number"
    raise rules.NOT_COMPUTABLE.error(f"the value of {name} cannot be computed: {reason}", fix=fix)


def _half_sum(matrix: Matrix, sign: int) -> Matrix:
    half = number(Fraction(1, 2))
    n = len(matrix)
    return tuple(tuple(half * (matrix[i][j] + sign * matrix[j][i]) for j in range(n)) for i in range(n))
