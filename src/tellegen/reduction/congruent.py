"""The congruent transformation x = T z + T_u u of a system of equations, with a T that the user gives; it may be singular or
rectangular.

T may be rectangular, which reduces and transforms at once, and may depend on displacements and states. With

    r = L x' + (A + N) x - B u + f - B_1 u'

the reduced equations are T^T r = 0, and the outputs y = C x + D u + D_1 u' + f_y + T_u^T r: what the constraints carry answers the
inputs that they follow.

It keeps L symmetric and positive semidefinite and what A dissipates, and needs no inverse of T. A regular T is a change of
coordinates, which no input notices; one with fewer columns imposes that x stays among its combinations.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import final

from tellegen.core.errors import TellegenError
from tellegen.core.names import did_you_mean, is_name
from tellegen.equations.matrices import (
    Matrix,
    Sparse,
    Vector,
    congruent,
    dot,
    negative,
    plus,
    product,
    solved_linear_system,
    zeros,
)
from tellegen.equations.storages import Congruence, ParameterRates
from tellegen.equations.system import Algebraic, EquationSystem, MatrixName
from tellegen.expressions import ONE, ZERO, Expression, as_expression, is_zero, parse, symbol
from tellegen.expressions.elimination import NamedEntries, solve, with_definitions
from tellegen.reduction import rules


def in_congruent_coordinates(system: EquationSystem, T: Matrix, T_u: Matrix, states: Sequence[str]) -> EquationSystem:
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
        # States that keep their name stay as they are in laws; the others are replaced by the new coordinates.
        self.gone = {s: e for s, e in zip(system.states, x, strict=True) if s not in states}
        self.rates = {d: e.substitute(self.gone) for d, e in system.displacements.items()}

    def system(self) -> EquationSystem:
        before, L = self.before, self.before.matrices["L"]
        energy: Sparse = {(i, j): e for i, row in enumerate(L) for j, e in enumerate(row) if not is_zero(e)}
        motion = ParameterRates({}, self.rates)
        # The rates of the energy matrix itself stand in N of the system already.
        shared = Congruence(
            self.T, self.T_u, motion.rate(self.T), motion.rate(self.T_u), energy, {}, states=self.n, inputs=self.m
        )
        terms = self._terms(shared)
        # What an input does through the rate of a state: where T_u ties states to inputs, the outputs contain z'.
        P = shared.P()
        # z' is replaced from the equations themselves, so that the form keeps outputs without rates of states.
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
            # The signs are those of L x' = -A x + B u + B_1 u', with x = T z + T_u u put in and T^T in front
            # (docs/theory/power_oriented_graphs.md).
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
        return tuple(tuple(with_definitions(e, self.before.where) for e in row) for row in matrix)


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
        return ZERO if entry_found is None else with_definitions(entry_found.expression, field.where)

    return tuple(tuple(share(i, j) for j in range(n)) for i in range(len(P)))


def _transposed(matrix: Matrix, columns: int) -> Matrix:
    return tuple(tuple(row[j] for row in matrix) for j in range(columns))


def _cleared(matrix: Matrix) -> Matrix:
    return tuple(tuple(ZERO if is_zero(e) else e for e in row) for row in matrix)


Entry = Expression | str | int | float
Given = Sequence[Sequence[Entry]]


@final
@dataclass(frozen=True)
class Transformed:
    """A system in new coordinates. `regular` tells whether T can be inverted, `energetic` whether each new state stores energy."""

    equations: EquationSystem
    T: Matrix
    T_u: Matrix
    regular: bool
    energetic: bool
    account: str

    def __str__(self) -> str:
        return self.account


def congruent_transformation(
    system: EquationSystem, T: Given, *, T_u: Given | None = None, states: Sequence[str] | None = None
) -> Transformed:
    """The system in the coordinates z of x = T z + T_u u.

    Entries are formulas as text, numbers or expressions, over parameters and displacements. A column of T that is one state
    keeps its name; others are z_1, z_2, ... unless `states` names them.

    Raises: ReductionError (T130) for matrices of another shape, names that the system does not know, and a T_u whose outputs would
    need rates of states that store nothing.
    """
    n, m = len(system.states), len(system.inputs)
    given = _read(system, T, "T", None)
    columns = len(given[0]) if given else 0
    driven = zeros(n, m) if T_u is None else _read(system, T_u, "T_u", m)
    names = _names(system, given, columns, states)
    written = tuple(tuple(with_definitions(e, system.where) for e in row) for row in given)
    # A square T that cannot be inverted ties states to each other just as a rectangular one does.
    regular = columns == n and solved_linear_system(written, zeros(n, 0), 0, system.parameters) is not None
    energetic = _energetic(system, written, columns)
    # A combination that stores nothing has no rate that the equations would give.
    if not energetic and any(not is_zero(e) for row in driven for e in row):
        what = "T^T L T is singular, and T_u ties states to inputs"
        why = "the outputs then need rates of states that have none"
        raise _refused(what, why=why, fix="leave out the states that store nothing, or T_u")
    found = in_congruent_coordinates(system, given, driven, names)
    return Transformed(found, given, driven, regular, energetic, _account(system, names, regular, energetic))


def _refused(what: str, *, fix: str, why: str | None = None, where: str = "") -> TellegenError:
    return rules.BAD_TRANSFORMATION.error(what, where=where, why=why, fix=fix)


def _read(system: EquationSystem, matrix: Given, word: str, columns: int | None) -> Matrix:
    rows = [list(row) for row in matrix]
    if len(rows) != len(system.states):
        what = f"{word} has {len(rows)} rows for {len(system.states)} states"
        raise _refused(what, fix=f"give a row for each of {', '.join(system.states) or '(no state)'}")
    widths = {len(row) for row in rows}
    wanted = columns if columns is not None else max(widths, default=0)
    if widths - {wanted}:
        what = f"{word} has rows of {', '.join(map(str, sorted(widths)))} entries, where {wanted} are needed"
        raise _refused(what, fix="give each row the same number of entries" if columns is None else "give one an input")
    return tuple(tuple(_entry(system, e, word) for e in row) for row in rows)


def _entry(system: EquationSystem, entry: Entry, word: str) -> Expression:
    found = parse(entry) if isinstance(entry, str) else as_expression(entry)
    known = [*system.parameters, *system.where, *system.displacements]
    for name in sorted(found.free_symbols):
        if name not in known:
            fix = did_you_mean(name, known) or f"the parameters are {', '.join(known[:20])}"
            raise _refused(f"{word} reads '{name}', which is no parameter of the system", where=name, fix=fix)
    return found


def _names(system: EquationSystem, T: Matrix, columns: int, wanted: Sequence[str] | None) -> tuple[str, ...]:
    taken = {*system.parameters, *system.where, *system.inputs, *system.displacements}
    if wanted is None:
        free = (name for k in range(1, 2 * columns + len(taken) + 2) if (name := f"z_{k}") not in taken)
        return tuple(_same_state(system, T, j) or next(free) for j in range(columns))
    if len(wanted) != columns or len(set(wanted)) < columns:
        what = f"{len(wanted)} names are given for {columns} new states"
        raise _refused(what, fix="give each column of T a name of its own")
    for name in wanted:
        if name in taken or not is_name(name):
            raise _refused(
                f"'{name}' cannot be the name of a state", where=name, fix="choose a name that is not in use"
            )
        # The name of a state for another variable would make runs of the two models look comparable.
        if name in system.states and _same_state(system, T, wanted.index(name)) != name:
            what = f"'{name}' is a state already, and its column of T makes another variable of it"
            raise _refused(what, where=name, fix="choose a name that is not in use")
    return tuple(wanted)


def _same_state(system: EquationSystem, T: Matrix, column: int) -> str:
    """The state that a new one equals: its row of T is one in this column and zero elsewhere."""
    for name, row in zip(system.states, T, strict=True):
        # By identity: an entry that is one only for some values is no name.
        if row[column] is ONE and all(e is ZERO for j, e in enumerate(row) if j != column):
            return name
    return ""


def _energetic(system: EquationSystem, T: Matrix, columns: int) -> bool:
    L = system.matrices["L"]
    sparse = {(i, j): with_definitions(e, system.where) for i, row in enumerate(L) for j, e in enumerate(row)}
    energy = congruent(T, {at: e for at, e in sparse.items() if e is not ZERO}, T, columns, columns)
    return solved_linear_system(energy, zeros(columns, 0), 0, system.parameters) is not None


def _account(system: EquationSystem, names: Sequence[str], regular: bool, energetic: bool) -> str:
    kind = "a change of coordinates" if regular else f"{len(system.states)} states tied to {len(names)}"
    store = (
        "" if energetic else "; the new energy matrix is singular: some combination of the new states stores nothing"
    )
    return f"x = T z with z = {', '.join(names) or '(nothing)'}: {kind}{store}"
