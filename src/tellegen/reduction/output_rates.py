"""Rates of states in the outputs: put aside before a limit is taken, and replaced from the reduced equations afterwards.

Where a source meets a dependent storage, its output holds P x' with P = -B_1^T, and equations replace x' by P L^-1 times the rest:
quotients of inertias, which have no limit of their own. Without them the outputs have one.
"""

from dataclasses import replace

from tellegen.equations.matrices import Matrix, dot, negative, plus, product
from tellegen.equations.system import EquationSystem, MatrixName
from tellegen.expressions import is_zero
from tellegen.expressions.entries import substituted
from tellegen.reduction.congruent import moved, times_inverse


def output_rates(system: EquationSystem) -> Matrix:
    """P: how rates of the states stand in the outputs of a model that was derived."""
    B_1 = system.matrices["B_1"]
    return tuple(tuple(-row[j] for row in B_1) for j in range(len(system.inputs)))


def without_output_rates(system: EquationSystem) -> EquationSystem:
    """The system whose outputs lack the share P x', which equations had replaced."""
    if system.is_zero("B_1"):
        return system
    written = replace(system, matrices={n: _written(system, M) for n, M in system.matrices.items()})
    m = written.matrices
    Z = times_inverse(output_rates(written), m["L"], system.parameters)
    return _changed(written, Z, 1)


def with_output_rates(system: EquationSystem, P: Matrix, T: Matrix, T_u: Matrix) -> EquationSystem:
    """The reduced system with the share P x' of the full model in its outputs; x = T z + T_u u."""
    if all(is_zero(e) for row in P for e in row):
        return system
    n, inputs = len(system.states), len(system.inputs)
    rate, rate_u = moved(system, T), moved(system, T_u)
    matrices: dict[MatrixName, Matrix] = {
        **system.matrices,
        "C": plus(system.matrices["C"], product(P, rate, n)),
        "D": plus(system.matrices["D"], product(P, rate_u, inputs)),
        "D_1": plus(system.matrices["D_1"], product(P, T_u, inputs)),
    }
    Z = times_inverse(product(P, T, n), system.matrices["L"], system.parameters)
    return _changed(replace(system, matrices=matrices), Z, -1)


def _changed(system: EquationSystem, Z: Matrix, sign: int) -> EquationSystem:
    """The system with Z L x' taken out of its outputs (sign 1), or put in (sign -1), by its equations."""
    m, f = system.matrices, system.vectors["f"]
    n, inputs = len(system.states), len(system.inputs)
    S = Z if sign > 0 else negative(Z)
    matrices: dict[MatrixName, Matrix] = {
        **m,
        "C": plus(m["C"], product(S, plus(m["A"], m["N"]), n)),
        "D": plus(m["D"], negative(product(S, m["B"], inputs))),
        "D_1": plus(m["D_1"], negative(product(S, m["B_1"], inputs))),
    }
    f_y = tuple(a + dot(row, f) for a, row in zip(system.vectors["f_y"], S, strict=True))
    return replace(system, matrices=matrices, vectors={**system.vectors, "f_y": f_y})


def _written(system: EquationSystem, matrix: Matrix) -> Matrix:
    return tuple(tuple(substituted(e, system.where) for e in row) for row in matrix)
