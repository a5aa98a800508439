"""The congruent transformation x = T z + T_u u with a T that the user gives; it may be singular or rectangular.

It keeps L symmetric and positive semidefinite and what A dissipates, and needs no inverse of T. A regular T is a change of
coordinates, which no input notices; one with fewer columns imposes that x stays among its combinations.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from tellegen.core.errors import TellegenError
from tellegen.core.names import did_you_mean, is_name
from tellegen.equations.matrices import Matrix, zeros
from tellegen.equations.solving import solved
from tellegen.equations.system import EquationSystem
from tellegen.expressions import ONE, ZERO, Expression, as_expression, is_zero, parse
from tellegen.expressions.entries import substituted
from tellegen.reduction import rules
from tellegen.reduction.congruent import transformed

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
    written = tuple(tuple(substituted(e, system.where) for e in row) for row in given)
    regular = columns == n and solved(written, zeros(n, 0), 0, system.parameters) is not None
    energetic = _energetic(system, written, columns)
    if not energetic and any(not is_zero(e) for row in driven for e in row):
        what = "T^T L T is singular, and T_u ties states to inputs"
        why = "the outputs then need rates of states that have none"
        raise _refused(what, why=why, fix="leave out the states that store nothing, or T_u")
    found = transformed(system, given, driven, names)
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
        if name in system.states and _same_state(system, T, wanted.index(name)) != name:
            what = f"'{name}' is a state already, and its column of T makes another variable of it"
            raise _refused(what, where=name, fix="choose a name that is not in use")
    return tuple(wanted)


def _same_state(system: EquationSystem, T: Matrix, column: int) -> str:
    """The state that a new one equals: its row of T is one in this column and zero elsewhere."""
    for name, row in zip(system.states, T, strict=True):
        if row[column] is ONE and all(e is ZERO for j, e in enumerate(row) if j != column):
            return name
    return ""


def _energetic(system: EquationSystem, T: Matrix, columns: int) -> bool:
    L = [[substituted(e, system.where) for e in row] for row in system.matrices["L"]]
    LT = [[_sum(row, [line[j] for line in T]) for j in range(columns)] for row in L]
    energy = tuple(
        tuple(_sum([line[i] for line in T], [row[j] for row in LT]) for j in range(columns)) for i in range(columns)
    )
    return solved(energy, zeros(columns, 0), 0, system.parameters) is not None


def _sum(a: Sequence[Expression], b: Sequence[Expression]) -> Expression:
    found: Expression = ZERO
    for x, y in zip(a, b, strict=True):
        found = found + x * y
    return found


def _account(system: EquationSystem, names: Sequence[str], regular: bool, energetic: bool) -> str:
    kind = "a change of coordinates" if regular else f"{len(system.states)} states tied to {len(names)}"
    store = (
        "" if energetic else "; the new energy matrix is singular: some combination of the new states stores nothing"
    )
    return f"x = T z with z = {', '.join(names) or '(nothing)'}: {kind}{store}"
