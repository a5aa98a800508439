"""What every printout of a form has in common: the names that it reads, and the terms that its equations have.

    L x' + N x + f = -A x + B u + B_1 u'
                 y =  C x + D u + D_1 u' + f_y

Terms that vanish are left out. With the sign "+" the equation is `L x' = A x + B u` with A negated; N and f keep their
place on the left.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal, NamedTuple, Protocol

from tellegen.equations.matrices import Matrix, Vector, dot, negative
from tellegen.equations.printing.explanation import ExplanationSection
from tellegen.expressions import ZERO, Expression, symbol
from tellegen.graph.signals import Delayed, External, Sampled, Table

SparseRows = Mapping[tuple[int, int], Expression]


class ReadableUnknowns(Protocol):
    """Algebraic unknowns and their residuals."""

    @property
    def unknowns(self) -> tuple[str, ...]:
        """Their names."""

    @property
    def residuals(self) -> Vector:
        """What vanishes at their solution."""


class Labelled(Protocol):
    """What printers read of every form."""

    @property
    def name(self) -> str:
        """The name of the system."""

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names of u."""

    @property
    def outputs(self) -> tuple[str, ...]:
        """The names of y."""

    @property
    def parameters(self) -> Mapping[str, Expression | None]:
        """Parameters with their values, None for those without one."""


class ReadableSignals(Protocol):
    """What printers read of signals."""

    @property
    def names(self) -> frozenset[str]:
        """The names of the signals."""

    @property
    def values(self) -> Mapping[str, Expression]:
        """Signals that are formulas."""

    @property
    def states(self) -> Mapping[str, Expression]:
        """Signals with a rate."""

    @property
    def others(self) -> tuple[Sampled | Delayed | Table | External, ...]:
        """Signals that are sampled, delayed, read from a table, or functions."""

    @property
    def drivers(self) -> Mapping[str, Expression]:
        """What drives which input."""

    def entries(self) -> list[Expression]:
        """Every formula of variables."""


class ElementModes(NamedTuple):
    """The words for the modes of an element, and the one that equations hold in."""

    words: tuple[str, ...]
    now: str


class MeasuredRows(Protocol):
    """`C x + D u + D_1 u' + rest` for each name."""

    @property
    def names(self) -> tuple[str, ...]:
        """What is measured."""

    @property
    def C(self) -> Matrix:
        """The coefficients of states."""

    @property
    def D(self) -> Matrix:
        """The coefficients of inputs."""

    @property
    def D_1(self) -> Matrix:
        """The coefficients of rates of inputs."""

    @property
    def rest(self) -> Vector:
        """What is not linear."""


class ReadableEquations(Labelled, Protocol):
    """What printers read of a system of equations."""

    def with_entries(self, change: Callable[[Expression], Expression]) -> "ReadableEquations":
        """The equations with every expression in them changed."""

    @property
    def states(self) -> tuple[str, ...]:
        """The names of x."""

    @property
    def displacements(self) -> Mapping[str, Expression]:
        """Displacements with their rates."""

    @property
    def matrices(self) -> Mapping[Any, Matrix]:
        """L, A, B, C, D, N, B_1, D_1."""

    @property
    def vectors(self) -> Mapping[Any, Vector]:
        """f and f_y."""

    @property
    def stored_energy(self) -> Expression | None:
        """The stored energy, None where it has no closed form."""

    @property
    def dissipated_power(self) -> Expression:
        """The power lost in resistive elements."""

    @property
    def algebraic(self) -> ReadableUnknowns:
        """Unknowns of nonlinear resistive loops."""

    @property
    def where(self) -> Mapping[str, Expression]:
        """Names inside the entries, in order of definition."""

    @property
    def measured(self) -> "MeasuredRows":
        """What detectors read."""

    @property
    def dependent(self) -> Mapping[str, Expression]:
        """Outputs of the storages in derivative causality."""

    @property
    def signals(self) -> "ReadableSignals":
        """Signals beside the power equations."""

    @property
    def modes(self) -> Mapping[str, ElementModes]:
        """The modes of the elements that have some."""

    def values(self) -> dict[str, float]:
        """The values of the parameters that have one."""


class SparseForm(Labelled, Protocol):
    """What printers read of a form `E w' = F w + G u + h`, `y = H w + D u`; entries by row and column, from 0."""

    @property
    def unknowns(self) -> tuple[str, ...]:
        """The names of w."""

    @property
    def E(self) -> SparseRows:
        """What multiplies w'."""

    @property
    def F(self) -> SparseRows:
        """What multiplies w."""

    @property
    def G(self) -> SparseRows:
        """What multiplies u."""

    @property
    def H(self) -> SparseRows:
        """What multiplies w in the outputs."""

    @property
    def D(self) -> SparseRows:
        """What multiplies u in the outputs."""

    @property
    def h(self) -> Mapping[int, Expression]:
        """What is not linear in w, by row."""


class TransferForm(Labelled, Protocol):
    """What printers read of a transfer matrix: one row an output, one column an input."""

    @property
    def entries(self) -> Matrix:
        """G(s)."""

    @property
    def where(self) -> Mapping[str, Expression]:
        """Names inside the entries, in order of definition."""

    @property
    def variable(self) -> str:
        """The Laplace variable."""


class HamiltonianForm(Labelled, Protocol):
    """What printers read of a port-Hamiltonian form."""

    def with_entries(self, change: Callable[[Expression], Expression]) -> "HamiltonianForm":
        """The form with every expression in it changed."""

    @property
    def states(self) -> tuple[str, ...]:
        """The names of x."""

    @property
    def matrices(self) -> Mapping[Any, Matrix]:
        """J, R, g, P, S, N, and E and E_1 in the co-energy form."""

    @property
    def H(self) -> Expression | None:
        """The stored energy, None where it has no closed form."""

    @property
    def H_heat(self) -> Expression | None:
        """What capacities of heat add, which is no energy."""

    @property
    def grad_H(self) -> Vector:
        """The co-energy variables."""

    @property
    def f(self) -> Vector:
        """Nonlinear resistive laws in the state equation."""

    @property
    def f_y(self) -> Vector:
        """Nonlinear resistive laws in the outputs."""

    @property
    def energy_variables(self) -> Mapping[str, Expression]:
        """What the states are in power variables; empty in the co-energy form."""

    @property
    def co_energy(self) -> tuple[str, ...]:
        """The states that are co-energy variables."""

    @property
    def multipliers(self) -> tuple[str, ...]:
        """The states without energy: what sources supply that decide the output of a storage."""

    @property
    def signals(self) -> ReadableSignals:
        """What drives inputs and moduli."""

    @property
    def algebraic(self) -> ReadableUnknowns:
        """Unknowns of nonlinear resistive loops."""

    @property
    def where(self) -> Mapping[str, Expression]:
        """Names inside the entries, in order of definition."""

    @property
    def displacements(self) -> Mapping[str, Expression]:
        """Displacements with their rates."""

    def values(self) -> dict[str, float]:
        """The values of the parameters that have one."""


class ReadableExplanation(Protocol):
    """What printers read of a derivation step by step."""

    @property
    def name(self) -> str:
        """The name of the system."""

    @property
    def sign(self) -> Literal["-", "+"]:
        """The sign in front of A."""

    @property
    def states(self) -> tuple[str, ...]:
        """The names of x."""

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names of u."""

    @property
    def outputs(self) -> tuple[str, ...]:
        """The names of y."""

    @property
    def parameters(self) -> Mapping[str, Expression | None]:
        """Parameters with their values."""

    @property
    def sections(self) -> tuple[ExplanationSection, ...]:
        """The steps."""

    @property
    def where(self) -> Mapping[str, Expression]:
        """Names inside the formulas, in order of definition."""

    def values(self) -> dict[str, float]:
        """The values of the parameters that have one."""


Sign = Literal["-", "+"]
"""The sign in front of A: "-" of the Mechatronics paper, "+" of the lecture and of POG_Modeler."""


class MatrixTerm(NamedTuple):
    """One term of an equation: `matrix` times `vector`, or the vector `matrix` alone. `dotted` marks x' and u'."""

    negative: bool
    matrix: str
    vector: str
    dotted: bool
    rows: Matrix
    factors: tuple[str, ...]

    @property
    def alone(self) -> bool:
        """Whether the term is a vector of its own, without a factor."""
        return not self.vector


class EquationSides(NamedTuple):
    """An equation: its terms left and right of the sign."""

    left: tuple[MatrixTerm, ...]
    right: tuple[MatrixTerm, ...]


def signed_power_matrix(equations: ReadableEquations, sign: Sign) -> Matrix:
    """A as it stands in the equation of a sign convention."""
    A = equations.matrices["A"]
    return A if sign == "-" else negative(A)


def vanishes(rows: Matrix) -> bool:
    """Whether a matrix holds nothing but zeros, or nothing at all."""
    return all(e is ZERO for row in rows for e in row)


def state_equation(equations: ReadableEquations, sign: Sign) -> EquationSides:
    """The terms of `L x' + N x + f = -A x + B u + B_1 u'`; A and B stay where they vanish: they make the form."""
    x, u = equations.states, equations.inputs
    m = equations.matrices
    left = [
        MatrixTerm(False, "L", "x", True, m["L"], x),
        MatrixTerm(False, "N", "x", False, m["N"], x),
        MatrixTerm(False, "f", "", False, as_column(equations.vectors["f"]), ()),
    ]
    right = [
        MatrixTerm(sign == "-", "A", "x", False, signed_power_matrix(equations, sign), x),
        MatrixTerm(False, "B", "u", False, m["B"], u),
        MatrixTerm(False, "B_1", "u", True, m["B_1"], u),
    ]
    driven = {"A", "B"} if u and vanishes(m["B_1"]) else {"A"}
    return EquationSides(_needed(left, {"L"}), _needed(right, driven))


def output_equation(equations: ReadableEquations) -> EquationSides:
    """The terms of `y = C x + D u + D_1 u' + f_y`."""
    x, u = equations.states, equations.inputs
    m = equations.matrices
    right = [
        MatrixTerm(False, "C", "x", False, m["C"], x),
        MatrixTerm(False, "D", "u", False, m["D"], u),
        MatrixTerm(False, "D_1", "u", True, m["D_1"], u),
        MatrixTerm(False, "f_y", "", False, as_column(equations.vectors["f_y"]), ()),
    ]
    return EquationSides((), _needed(right, {"C"} if x else {"D"}))


def as_column(vector: Vector) -> Matrix:
    """The vector as a matrix of one column."""
    return tuple((e,) for e in vector)


def _needed(terms: list[MatrixTerm], kept: set[str]) -> tuple[MatrixTerm, ...]:
    return tuple(term for term in terms if term.matrix in kept or not vanishes(term.rows))


def signal_lines(signals: ReadableSignals) -> Iterator[tuple[str, bool, str, tuple[Expression, ...]]]:
    """What is said of each signal: its name, whether its rate is given, a word such as `delay`, and what stands in it.

    Formulas and rates have no word and one expression. What drives inputs comes last.
    """
    for name, value in signals.values.items():
        yield name, False, "", (value,)
    for name, rate in signals.states.items():
        yield name, True, "", (rate,)
    for law in signals.others:
        if isinstance(law, Sampled):
            yield law.name, False, "sample", (law.expression, law.period)
        elif isinstance(law, Delayed):
            yield law.name, False, "delay", (law.expression, law.by)
        elif isinstance(law, Table):
            yield law.name, False, "table", (law.argument,)
        else:
            yield law.name, False, "function", law.arguments
    for name, value in signals.drivers.items():
        yield name, False, "", (value,)


def summaries(equations: ReadableEquations) -> Iterator[tuple[str, Expression]]:
    """The scalar lines below the matrices: stored energy and dissipated power, where they say something."""
    if equations.stored_energy is not None and equations.stored_energy is not ZERO:
        yield "E", equations.stored_energy
    if equations.dissipated_power is not ZERO:
        yield "P_d", equations.dissipated_power


def measured_formulas(equations: ReadableEquations) -> dict[str, Expression]:
    """What is measured, each as one formula; rates of inputs have a prime."""
    rows = equations.measured
    x, u = ([symbol(name) for name in names] for names in (equations.states, equations.inputs))
    rates = [symbol(f"{name}'") for name in equations.inputs]
    return {
        name: dot(rows.C[k], x) + dot(rows.D[k], u) + dot(rows.D_1[k], rates) + rows.rest[k]
        for k, name in enumerate(rows.names)
    }


HEAT_NOTE = "J*K; temperature times heat flow is no power, so H_heat falls as heat spreads but is no energy"


class SignedMatrix(NamedTuple):
    """A matrix inside a group, with its sign."""

    negative: bool
    matrix: str
    rows: Matrix


class MatrixSum(NamedTuple):
    """A sum of matrices times one vector, `(J - R) grad_H`; without a vector, a column of its own."""

    negative: bool
    shares: tuple[SignedMatrix, ...]
    vector: str
    dotted: bool
    factors: tuple[Expression, ...]


def energy_label(form: HamiltonianForm) -> str:
    """H, or H(x) where H is a name of the model."""
    return "H(x)" if "H" in {*form.parameters, *form.states, *form.inputs, *form.where} else "H"


def energy_functions(form: HamiltonianForm) -> list[tuple[str, str, Expression | None]]:
    """H with its name, and what capacities of heat add with a word about it; a model of heat alone has no H."""
    shown: list[tuple[str, str, Expression | None]] = []
    if form.H is not ZERO or form.H_heat is ZERO:
        shown.append((energy_label(form), "", form.H))
    if form.H_heat is not ZERO:
        shown.append(("H_heat", HEAT_NOTE, form.H_heat))
    return shown


def hamiltonian_state(form: HamiltonianForm) -> tuple[tuple[MatrixSum, ...], tuple[MatrixSum, ...]]:
    """Both sides of `E x' + E_1 x + f = (J - R) grad_H + (g - P) u`; f stands right. The left one is empty for x' alone."""
    m = form.matrices
    x, u = _symbols(form.states), _symbols(form.inputs)
    left: list[MatrixSum] = []
    if "E" in m:
        left = [_group([("", "E", m["E"])], "x", x, dotted=True), _group([("", "E_1", m["E_1"])], "x", x)]
    right = [
        _group([("", "J", m["J"]), ("-", "R", m["R"])], "grad_H", form.grad_H, kept={"J"}),
        _group([("", "g", m["g"]), ("-", "P", m["P"])], "u", u, kept={"g"} if u else set()),
        _group([("", "f", as_column(form.f))], "", (), negative=True),
    ]
    return _filled(left), _filled(right)


def hamiltonian_output(form: HamiltonianForm) -> tuple[MatrixSum, ...]:
    """The right side of `y = (g + P)^T grad_H + (S + N) u + f_y`."""
    m = form.matrices
    n = len(form.inputs)
    g, p = _turned(m["g"], n), _turned(m["P"], n)
    kept = {"g^T"} if form.states else {"S"}
    return _filled(
        [
            _group([("", "g^T", g), ("", "P^T", p)], "grad_H", form.grad_H, kept=kept),
            _group([("", "S", m["S"]), ("", "N", m["N"])], "u", _symbols(form.inputs), kept=kept),
            _group([("", "f_y", as_column(form.f_y))], "", ()),
        ]
    )


def _group(
    shares: list[tuple[str, str, Matrix]],
    vector: str,
    factors: tuple[Expression, ...],
    *,
    dotted: bool = False,
    negative: bool = False,
    kept: set[str] | frozenset[str] = frozenset(),
) -> MatrixSum:
    shown = [(sign, name, rows) for sign, name, rows in shares if name in kept or not vanishes(rows)]
    return MatrixSum(
        negative, tuple(SignedMatrix(sign == "-", name, rows) for sign, name, rows in shown), vector, dotted, factors
    )


def _filled(groups: list[MatrixSum]) -> tuple[MatrixSum, ...]:
    return tuple(group for group in groups if group.shares)


def _symbols(names: tuple[str, ...]) -> tuple[Expression, ...]:
    return tuple(map(symbol, names))


def _turned(matrix: Matrix, columns: int) -> Matrix:
    return tuple(tuple(row[j] for row in matrix) for j in range(columns))
