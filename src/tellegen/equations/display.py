"""What every printout of equations has in common: which terms the equations have.

    L x' + N x + f = -A x + B u + B_1 u'
                 y =  C x + D u + D_1 u' + f_y

Terms that vanish are left out. With the sign "+" the equation is `L x' = A x + B u` with A negated; N and f keep their
place on the left.
"""

from collections.abc import Iterator
from typing import Literal, NamedTuple

from tellegen.equations.matrices import Matrix, Vector, dot, negative
from tellegen.equations.readable_forms import Equations, Signals
from tellegen.expressions import ZERO, Expression, symbol
from tellegen.graph.signals import Delayed, Sampled, Table

Sign = Literal["-", "+"]
"""The sign in front of A: "-" of the Mechatronics paper, "+" of the lecture and of POG_Modeler."""


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
        Term(False, "f", "", False, column(equations.vectors["f"]), ()),
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
        Term(False, "f_y", "", False, column(equations.vectors["f_y"]), ()),
    ]
    return Sides((), _needed(right, {"C"} if x else {"D"}))


def column(vector: Vector) -> Matrix:
    """The vector as a matrix of one column."""
    return tuple((e,) for e in vector)


def _needed(terms: list[Term], kept: set[str]) -> tuple[Term, ...]:
    return tuple(term for term in terms if term.matrix in kept or not vanishes(term.rows))


def signal_lines(signals: Signals) -> Iterator[tuple[str, bool, str, tuple[Expression, ...]]]:
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


def summaries(equations: Equations) -> Iterator[tuple[str, Expression]]:
    """The scalar lines below the matrices: stored energy and dissipated power, where they say something."""
    if equations.stored_energy is not None and equations.stored_energy is not ZERO:
        yield "E", equations.stored_energy
    if equations.dissipated_power is not ZERO:
        yield "P_d", equations.dissipated_power


def readings(equations: Equations) -> dict[str, Expression]:
    """What is measured, each as one formula; rates of inputs have a prime."""
    rows = equations.measured
    x, u = ([symbol(name) for name in names] for names in (equations.states, equations.inputs))
    rates = [symbol(f"{name}'") for name in equations.inputs]
    return {
        name: dot(rows.C[k], x) + dot(rows.D[k], u) + dot(rows.D_1[k], rates) + rows.rest[k]
        for k, name in enumerate(rows.names)
    }
