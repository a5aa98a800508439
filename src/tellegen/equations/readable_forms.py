"""What printers read of each form of equations: any value with these names can be printed."""

from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple, Protocol

from tellegen.equations.explanation import Section
from tellegen.equations.matrices import Matrix, Vector
from tellegen.expressions import Expression
from tellegen.graph.signals import Delayed, External, Sampled, Table

SparseRows = Mapping[tuple[int, int], Expression]


class Unknowns(Protocol):
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


class Signals(Protocol):
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


class Modes(NamedTuple):
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


class Equations(Labelled, Protocol):
    """What printers read of a system of equations."""

    def with_entries(self, change: Callable[[Expression], Expression]) -> "Equations":
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
    def algebraic(self) -> Unknowns:
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
    def signals(self) -> "Signals":
        """Signals beside the power equations."""

    @property
    def modes(self) -> Mapping[str, Modes]:
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
    def signals(self) -> Signals:
        """What drives inputs and moduli."""

    @property
    def algebraic(self) -> Unknowns:
        """Unknowns of nonlinear resistive loops."""

    @property
    def where(self) -> Mapping[str, Expression]:
        """Names inside the entries, in order of definition."""

    @property
    def displacements(self) -> Mapping[str, Expression]:
        """Displacements with their rates."""

    def values(self) -> dict[str, float]:
        """The values of the parameters that have one."""


class Explanation(Protocol):
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
    def sections(self) -> tuple[Section, ...]:
        """The steps."""

    @property
    def where(self) -> Mapping[str, Expression]:
        """Names inside the formulas, in order of definition."""

    def values(self) -> dict[str, float]:
        """The values of the parameters that have one."""
