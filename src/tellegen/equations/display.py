"""What every printout of equations has in common: what it reads, and which terms the equations have.

    L x' + N x + f = -A x + B u + B_1 u'
                 y =  C x + D u + D_1 u' + f_y

Terms that vanish are left out. With the sign "+" the equation is `L x' = A x + B u` with A negated; N and f keep their
place on the left.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple, Protocol

from tellegen.equations.matrices import Matrix, Vector, negative
from tellegen.expressions import ZERO, Expression

SparseRows = Mapping[tuple[int, int], Expression]
Sign = Literal["-", "+"]
"""The sign in front of A: "-" of the Mechatronics paper, "+" of the lecture and of POG_Modeler."""


class Unknowns(Protocol):
    """Algebraic unknowns and their residuals."""

    @property
    def unknowns(self) -> tuple[str, ...]:
        """Their names."""

    @property
    def residuals(self) -> Vector:
        """What vanishes at their solution."""


class Equations(Protocol):
    """What printers read of a system of equations."""

    @property
    def name(self) -> str:
        """The name of the system."""

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
        """Parameters with their values, None for those without one."""

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
    def algebraic(self) -> Unknowns:
        """Unknowns of nonlinear resistive loops."""

    @property
    def where(self) -> Mapping[str, Expression]:
        """Names inside the entries, in order of definition."""

    @property
    def dependent(self) -> Mapping[str, Expression]:
        """Outputs of the storages in derivative causality."""

    def values(self) -> dict[str, float]:
        """The values of the parameters that have one."""


class Term(NamedTuple):
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


class Sides(NamedTuple):
    """An equation: its terms left and right of the sign."""

    left: tuple[Term, ...]
    right: tuple[Term, ...]


def signed_power_matrix(equations: Equations, sign: Sign) -> Matrix:
    """A as it stands in the equation of a sign convention."""
    A = equations.matrices["A"]
    return A if sign == "-" else negative(A)


def vanishes(rows: Matrix) -> bool:
    """Whether a matrix holds nothing but zeros, or nothing at all."""
    return all(e is ZERO for row in rows for e in row)


def state_equation(equations: Equations, sign: Sign) -> Sides:
    """The terms of `L x' + N x + f = -A x + B u + B_1 u'`; A and B stay where they vanish: they make the form."""
    x, u = equations.states, equations.inputs
    m = equations.matrices
    left = [
        Term(False, "L", "x", True, m["L"], x),
        Term(False, "N", "x", False, m["N"], x),
        Term(False, "f", "", False, _column(equations.vectors["f"]), ()),
    ]
    right = [
        Term(sign == "-", "A", "x", False, signed_power_matrix(equations, sign), x),
        Term(False, "B", "u", False, m["B"], u),
        Term(False, "B_1", "u", True, m["B_1"], u),
    ]
    driven = {"A", "B"} if u and vanishes(m["B_1"]) else {"A"}
    return Sides(_needed(left, {"L"}), _needed(right, driven))


def output_equation(equations: Equations) -> Sides:
    """The terms of `y = C x + D u + D_1 u' + f_y`."""
    x, u = equations.states, equations.inputs
    m = equations.matrices
    right = [
        Term(False, "C", "x", False, m["C"], x),
        Term(False, "D", "u", False, m["D"], u),
        Term(False, "D_1", "u", True, m["D_1"], u),
        Term(False, "f_y", "", False, _column(equations.vectors["f_y"]), ()),
    ]
    return Sides((), _needed(right, {"C"} if x else {"D"}))


def _column(vector: Vector) -> Matrix:
    return tuple((e,) for e in vector)


def _needed(terms: list[Term], kept: set[str]) -> tuple[Term, ...]:
    return tuple(term for term in terms if term.matrix in kept or not vanishes(term.rows))


def summaries(equations: Equations) -> Iterator[tuple[str, Expression]]:
    """The scalar lines below the matrices: stored energy and dissipated power, where they say something."""
    if equations.stored_energy is not None and equations.stored_energy is not ZERO:
        yield "E", equations.stored_energy
    if equations.dissipated_power is not ZERO:
        yield "P_d", equations.dissipated_power


class SparseForm(Protocol):
    """What printers read of a form `E w' = F w + G u + h`, `y = H w + D u`; entries by row and column, from 0."""

    @property
    def name(self) -> str:
        """The name of the system."""

    @property
    def unknowns(self) -> tuple[str, ...]:
        """The names of w."""

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


class TransferForm(Protocol):
    """What printers read of a transfer matrix: one row an output, one column an input."""

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
        """Parameters with their values."""

    @property
    def entries(self) -> Matrix:
        """G(s)."""

    @property
    def where(self) -> Mapping[str, Expression]:
        """Names inside the entries, in order of definition."""

    @property
    def variable(self) -> str:
        """The Laplace variable."""
