"""Frozen states: what has infinite inertia keeps its value, and is an input of the others."""

from dataclasses import replace

from tellegen.equations.matrices import Matrix, plus, zeros
from tellegen.equations.system import EquationSystem
from tellegen.expressions import ONE, ZERO, Expression, is_zero
from tellegen.expressions.elimination import Elimination
from tellegen.expressions.entries import NamedEntries, substituted
from tellegen.reduction.congruent import transformed


def with_shares_apart(system: EquationSystem, growing: Matrix, field: NamedEntries) -> EquationSystem:
    """The system in coordinates in which each state either freezes or keeps a finite inertia.

    `growing` is the part of [L, -B_1] that grows without bound. What it does not see of x and u stays free; of what it sees, one
    combination for each of its pivots freezes: two flywheels that a third, infinite one joins still turn against each other.
    """
    n, m = len(system.states), len(system.inputs)
    rows = [{j: field.entry(e) for j, e in enumerate(row) if not is_zero(e)} for row in growing]
    if all(set(row) <= {i} for i, row in enumerate(rows)):
        return system
    elimination = Elimination(rows, field)
    pivots = [k for k in range(n) if elimination.eliminate(k)]
    found = elimination.express(pivots)

    def share(i: int, j: int) -> Expression:
        if i == j:
            return ONE
        entry = found.get(i, {}).get(j) if i in pivots and j not in pivots else None
        return ZERO if entry is None else substituted(entry.expression, field.where)

    T = tuple(tuple(share(i, j) for j in range(n)) for i in range(n))
    T_u = tuple(tuple(share(i, n + j) for j in range(m)) for i in range(n))
    mixed = [i for i in pivots if any(e is not ZERO for j, e in enumerate((*T[i], *T_u[i])) if j != i)]
    names = [f"{name}_frozen" if i in mixed else name for i, name in enumerate(system.states)]
    return transformed(system, T, T_u, names)


def with_frozen_states(system: EquationSystem, L: Matrix, frozen: list[int]) -> EquationSystem:
    """The system with L at its limit, and frozen states as inputs after the others.

    The output that goes with a frozen state is what its source supplies: the row A x - B u + f, without the rates of states that
    it shares inertia with.
    """
    kept = [k for k in range(len(system.states)) if k not in frozen]
    m, v = system.matrices, system.vectors
    AN = plus(m["A"], m["N"])

    def rows(M: Matrix) -> Matrix:
        return tuple(M[i] for i in kept)

    def square(M: Matrix) -> Matrix:
        return tuple(tuple(M[i][j] for j in kept) for i in kept)

    B = tuple((*m["B"][i], *(-AN[i][j] for j in frozen)) for i in kept)
    D = tuple((*row, *(c[j] for j in frozen)) for row, c in zip(m["D"], m["C"], strict=True))
    D += tuple((*(-e for e in m["B"][i]), *(AN[i][j] for j in frozen)) for i in frozen)
    wide = len(frozen)
    still = zeros(len(kept), wide)
    return replace(
        system,
        states=tuple(system.states[k] for k in kept),
        inputs=(*system.inputs, *(system.states[k] for k in frozen)),
        outputs=(*system.outputs, *(f"y_{system.states[k]}" for k in frozen)),
        matrices={
            "L": square(L),
            "A": square(m["A"]),
            "N": square(m["N"]),
            "B": B,
            "C": (*(tuple(row[j] for j in kept) for row in m["C"]), *(tuple(AN[i][j] for j in kept) for i in frozen)),
            "D": D,
            "B_1": tuple((*a, *b) for a, b in zip(rows(m["B_1"]), still, strict=True)),
            "D_1": (
                *((*row, *(ZERO,) * wide) for row in m["D_1"]),
                *((*(-e for e in m["B_1"][i]), *(ZERO,) * wide) for i in frozen),
            ),
        },
        vectors={"f": tuple(v["f"][k] for k in kept), "f_y": (*v["f_y"], *(v["f"][k] for k in frozen))},
    )
