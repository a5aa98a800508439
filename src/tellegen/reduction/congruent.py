"""The congruent transformation x = T z + T_u u of a system of equations, with all its terms.

T may be rectangular, which reduces and transforms at once, and may depend on displacements and states. With

    r = L x' + (A + N) x - B u + f - B_1 u'

the reduced equations are T^T r = 0, and the outputs y = C x + D u + D_1 u' + f_y + T_u^T r: what the constraints carry answers the
inputs that they follow.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import final

from tellegen.equations.congruence import Congruence, Motion
from tellegen.equations.matrices import Matrix, Sparse, Vector, dot, negative, plus, product
from tellegen.equations.system import Algebraic, EquationSystem, MatrixName
from tellegen.expressions import ZERO, Expression, is_zero, symbol
from tellegen.expressions.elimination import solve
from tellegen.expressions.entries import NamedEntries, substituted


def transformed(system: EquationSystem, T: Matrix, T_u: Matrix, states: Sequence[str]) -> EquationSystem:
    """The system in the coordinates z, named `states`; the rows of T and T_u are the states of the system."""
    return _Transformed(system, T, T_u, tuple(states)).system()


@final
@dataclass
class _Terms:
    """The matrices of the transformed equations while they are put together."""

    A: Matrix
    N: Matrix
    B: Matrix
    B_1: Matrix
    f: Vector
    C: Matrix
    D: Matrix
    D_1: Matrix
    f_y: Vector

    def without_rates(self, Z: Matrix, n: int, m: int) -> None:
        """Replace z' in the outputs, where it stands as Z L z', from the equations."""
        self.C = plus(self.C, negative(product(Z, plus(self.A, self.N), n)))
        self.D = plus(self.D, product(Z, self.B, m))
        self.D_1 = plus(self.D_1, product(Z, self.B_1, m))
        self.f_y = tuple(a - dot(row, self.f) for a, row in zip(self.f_y, Z, strict=True))


class _Transformed:
    def __init__(self, system: EquationSystem, T: Matrix, T_u: Matrix, states: tuple[str, ...]) -> None:
        self.before = system
        self.states = states
        self.n, self.m = len(states), len(system.inputs)
        self.T, self.T_u = self._written_out(T), self._written_out(T_u)
        x = [
            dot(row, map(symbol, states)) + dot(row_u, map(symbol, system.inputs))
            for row, row_u in zip(T, T_u, strict=True)
        ]
        self.gone = {s: e for s, e in zip(system.states, x, strict=True) if s not in states}
        self.rates = {d: e.substitute(self.gone) for d, e in system.displacements.items()}

    def system(self) -> EquationSystem:
        """The equations in the new coordinates."""
        before, L = self.before, self.before.matrices["L"]
        energy: Sparse = {(i, j): e for i, row in enumerate(L) for j, e in enumerate(row) if not is_zero(e)}
        motion = Motion({}, self.rates)
        # The rates of the energy matrix itself stand in N of the system already.
        shared = Congruence(self.T, self.T_u, motion.rate(self.T), motion.rate(self.T_u), energy, {}, self.n, self.m)
        terms = self._terms(shared)
        P = shared.P()
        if any(not is_zero(e) for row in P for e in row):
            terms.without_rates(times_inverse(P, shared.L(), self.before.parameters), self.n, self.m)
        matrices: dict[MatrixName, Matrix] = {"L": shared.L(), "A": terms.A, "B": terms.B, "C": terms.C, "D": terms.D}
        matrices |= {"N": terms.N, "B_1": terms.B_1, "D_1": terms.D_1}
        unknowns = before.algebraic.unknowns
        return replace(
            before,
            states=self.states,
            matrices={name: _cleared(tuple(map(self._followed, M))) for name, M in matrices.items()},
            vectors={"f": terms.f, "f_y": terms.f_y},
            displacements=self.rates,
            where={name: e.substitute(self.gone) for name, e in before.where.items()},
            stored_energy=None if before.stored_energy is None else before.stored_energy.substitute(self.gone),
            dissipated_power=before.dissipated_power.substitute(self.gone),
            algebraic=Algebraic(unknowns, self._followed(before.algebraic.residuals)),
            dependent={},
            initial={name: e for name, e in before.initial.items() if name in self.states},
            origin=None,
        )

    def _terms(self, shared: Congruence) -> _Terms:
        n, m, T, T_u = self.n, self.m, self.T, self.T_u
        A, N, B, B_1, C, D, D_1 = (
            self._written_out(self.before.matrices[name]) for name in ("A", "N", "B", "B_1", "C", "D", "D_1")
        )
        f, f_y = self._followed(self.before.vectors["f"]), self._followed(self.before.vectors["f_y"])
        seen, driven = product(plus(A, N), T, n), plus(product(plus(A, N), T_u, m), negative(B))
        return _Terms(
            A=self._left(product(A, T, n), n),
            N=plus(shared.N(), self._left(product(N, T, n), n)),
            B=negative(plus(self._left(driven, m), shared.B_rate())),
            B_1=plus(self._left(B_1, m), negative(shared.B_1())),
            f=tuple(dot(row, f) for row in _transposed(T, n)),
            C=plus(plus(product(C, T, n), self._left_u(seen, n)), shared.C_rate()),
            D=plus(plus(plus(D, product(C, T_u, m)), self._left_u(driven, m)), shared.D_rate()),
            D_1=plus(plus(D_1, shared.D_1()), negative(self._left_u(B_1, m))),
            f_y=tuple(e + dot(row, f) for e, row in zip(f_y, _transposed(T_u, m), strict=True)),
        )

    def _left(self, M: Matrix, columns: int) -> Matrix:
        return product(_transposed(self.T, self.n), M, columns)

    def _left_u(self, M: Matrix, columns: int) -> Matrix:
        return product(_transposed(self.T_u, self.m), M, columns)

    def _followed(self, vector: Vector) -> Vector:
        return tuple(e.substitute(self.gone) for e in vector)

    def _written_out(self, matrix: Matrix) -> Matrix:
        """A matrix with names replaced where displacements move them, so that rates are seen."""
        if not self.before.displacements:
            return matrix
        return tuple(tuple(substituted(e, self.before.where) for e in row) for row in matrix)


def times_inverse(P: Matrix, L: Matrix, parameters: Mapping[str, Expression | None]) -> Matrix:
    """The rows of P L^-1, for a symmetric and regular L."""
    field = NamedEntries(parameters)
    n, entry = len(L), field.entry
    rows = [{j: entry(e) for j, e in enumerate(row) if not is_zero(e)} for row in L]
    right = [{n + i: entry(P[i][j]) for i in range(len(P)) if not is_zero(P[i][j])} for j in range(n)]
    found, left = solve(rows, right, list(range(n)), field)
    assert not left, "states with inertia that no constraint ties have a regular energy matrix"

    def share(i: int, j: int) -> Expression:
        entry_found = found.get(j, {}).get(n + i)
        return ZERO if entry_found is None else substituted(entry_found.expression, field.where)

    return tuple(tuple(share(i, j) for j in range(n)) for i in range(len(P)))


def moved(system: EquationSystem, matrix: Matrix) -> Matrix:
    """The derivative of a matrix along the motion of the displacements of a system."""
    written = tuple(tuple(substituted(e, system.where) for e in row) for row in matrix)
    return Motion({}, system.displacements).rate(written)


def _transposed(matrix: Matrix, columns: int) -> Matrix:
    return tuple(tuple(row[j] for row in matrix) for j in range(columns))


def _cleared(matrix: Matrix) -> Matrix:
    return tuple(tuple(ZERO if is_zero(e) else e for e in row) for row in matrix)
