"""The limit taken in the equations themselves: constraints from the null space of L, and the congruent transformation.

With L V = 0 in the limit, the equations V^T (A x - B u) = 0 are constraints. They are solved for the states without inertia where
dissipation determines these, and otherwise tie the other states to each other; what then only rates determine drops out of the
congruent transformation (Zanasi, Grossi and Giuliani: corking machine, section 5). States whose inertia is infinite
become inputs.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import final

from tellegen.core.names import listing
from tellegen.equations.matrices import Matrix, dot, plus, product, zeros
from tellegen.equations.system import EquationSystem
from tellegen.expressions import ONE, ZERO, Expression, is_zero
from tellegen.expressions.elimination import Elimination
from tellegen.expressions.entries import Entry, NamedEntries, substituted
from tellegen.reduction import rules
from tellegen.reduction.choice import divides_by
from tellegen.reduction.congruent import transformed
from tellegen.reduction.entry_limits import EntryLimits
from tellegen.reduction.freezing import with_frozen_states, with_shares_apart
from tellegen.reduction.limits import Limit, Limits, read_limits
from tellegen.reduction.output_rates import output_rates, with_output_rates, without_output_rates
from tellegen.reduction.unknowns import with_unknowns


@final
@dataclass(frozen=True)
class EquationReduction:
    """Reduced equations with the transformation x = T z + T_u u that gave them.

    `limit` is the system with L at its limit and frozen states as inputs; `null_space` holds the columns V with L V = 0, and
    `constraints` the rows of V^T [A, -B]. `free` lists the states that only rates determine. States without inertia whose
    constraint is not linear are inputs of `limit`, and algebraic unknowns of `equations` unless they could be solved for.
    """

    equations: EquationSystem
    limit: EquationSystem
    T: Matrix
    T_u: Matrix
    null_space: Matrix
    constraints: Matrix
    free: tuple[str, ...]


def reduce_equations(system: EquationSystem, limits: Limits, *, keep: Iterable[str] = ()) -> EquationReduction:
    """Reduce equations in which parameters of storages tend to limits; the parameters of L only are meant.

    Raises: ReductionError when the limit does not exist, leaves no solution, or its constraint is not linear.
    """
    asked = read_limits(limits)
    return _Analysis(system, asked, tuple(keep)).reduction()


class _Analysis:
    def __init__(self, system: EquationSystem, limits: tuple[Limit, ...], keep: tuple[str, ...]) -> None:
        self.limits = limits
        # A name would hide that an entry vanishes together with others.
        system = system.with_entries(lambda e: substituted(e, system.where))
        names = (*system.states, *system.inputs, *system.displacements, *system.where)
        self.field = NamedEntries(system.parameters, names, prefix="a")
        self._take_limits(system, EntryLimits(system, limits))
        self.n, self.m = len(self.system.states), len(self.system.inputs)
        chosen = [self.system.states.index(name) for name in keep]
        self.order = [*chosen, *(k for k in range(self.n) if k not in chosen)]
        named = (n for n, e in system.where.items() if self._moves(e, system))
        self.moving = {*system.displacements, *system.states, *named}

    @staticmethod
    def _moves(e: Expression, system: EquationSystem) -> bool:
        return bool({*system.displacements, *system.states} & substituted(e, system.where).free_symbols)

    def _take_limits(self, system: EquationSystem, limits: EntryLimits) -> None:
        """The system at its limit, with what freezes and what a curved law tells as inputs; and P, the rates in its outputs."""
        system = without_output_rates(with_shares_apart(system, limits.growing(system), self.field))
        limit = limits.beside_energy(system)
        L, frozen = limits.energy(system)
        P = _columns((*output_rates(limit), *(L[k] for k in frozen)), frozen)
        self.system, P = self._with_curved_shares_apart(with_frozen_states(limit, L, frozen), P)
        curved = self._curved()
        self.unknowns = tuple(self.system.states[k] for k in curved)
        self.system = with_frozen_states(self.system, self.system.matrices["L"], curved)
        P = _columns(P, curved)
        self.P = (*P, *((ZERO,) * len(self.system.states) for _ in curved))

    def _with_curved_shares_apart(self, system: EquationSystem, P: Matrix) -> tuple[EquationSystem, Matrix]:
        """The system in coordinates in which combinations that store nothing are states of their own, where laws are not linear.

        With L V = 0 the new states are x = z + V mu; those that V takes part in count without it, and have another name.
        """
        L, f, n = system.matrices["L"], system.vectors["f"], len(system.states)
        pivots, V = null_space(L, range(n), self.field)
        light = [k for k in range(n) if k not in pivots]
        joined = [k for k in pivots if any(e is not ZERO for e in V[k])]
        if not joined or all(is_zero(dot([row[a] for row in V], f)) for a in range(len(light))):
            return system, P
        at = {k: a for a, k in enumerate(light)}
        T = tuple(tuple(V[i][at[j]] if j in at else ONE if i == j else ZERO for j in range(n)) for i in range(n))
        names = [f"{name}_r" if k in joined else name for k, name in enumerate(system.states)]
        apart = transformed(system, T, zeros(n, len(system.inputs)), names)
        return apart, product(P, T, n)

    def _curved(self) -> list[int]:
        """States without inertia whose own equation holds a law that is not linear: unknowns, while the rest is reduced."""
        L, f = self.system.matrices["L"], self.system.vectors["f"]
        return [k for k, row in enumerate(L) if not is_zero(f[k]) and all(is_zero(e) for e in row)]

    # -- the transformation ----------------------------------------------------------------------------------------------------

    def reduction(self) -> EquationReduction:
        """Null space, constraints, transformation, congruence."""
        pivots, V = null_space(self.system.matrices["L"], self.order, self.field)
        rows = self._constraints(V)
        T, T_u, states, free, carried = self._solved(pivots, V, rows)
        self._refuse_one_sided(carried, free)
        seen = [
            f"{self.system.states[k]}_r" if any(e is not ZERO for e in V[k]) else self.system.states[k] for k in states
        ]
        equations = with_output_rates(transformed(self.system, T, T_u, seen), self.P, T, T_u)
        equations = with_unknowns(equations, self.unknowns)
        constraints = tuple(tuple(row.get(c, ZERO) for c in range(self.n + self.m)) for row in rows)
        return EquationReduction(
            equations, self.system, T, T_u, V, constraints, tuple(self.system.states[k] for k in free)
        )

    def _written(self, e: Entry) -> Expression:
        return substituted(e.expression, self.field.where)

    def _constraints(self, V: Matrix) -> list[dict[int, Expression]]:
        """The rows of V^T (A + N) and, from column n on, of -V^T B."""
        m = self.system.matrices
        whole = tuple((*a, *(-e for e in b)) for a, b in zip(plus(m["A"], m["N"]), m["B"], strict=True))
        rows = []
        for k in range(len(V[0]) if V else 0):
            shares = [V[i][k] for i in range(self.n)]
            rest = [
                dot(shares, self.system.vectors["f"]),
                *(dot(shares, [r[j] for r in m["B_1"]]) for j in range(self.m)),
            ]
            if any(not is_zero(e) for e in rest):
                raise rules.NONLINEAR_CONSTRAINT.error(
                    "the constraint of a combination of states holds a law that is not linear, or the rate of an input",
                    fix="take the limit of the model, not of its equations",
                )
            row = {c: dot(shares, [line[c] for line in whole]) for c in range(self.n + self.m)}
            rows.append({c: e for c, e in row.items() if not is_zero(e)})
        return rows

    def _solved(
        self, pivots: list[int], V: Matrix, rows: list[dict[int, Expression]]
    ) -> tuple[Matrix, Matrix, list[int], list[int], Matrix]:
        """T and T_u: states without inertia from the constraints, then states that the constraints tie to others.

        Then the states that are left, those that only rates determine, and how x moves with each of the latter.
        """
        light = [k for k in range(self.n) if k not in pivots]
        elimination = Elimination([self._in_coordinates(row, light, V) for row in rows], self.field)
        elimination.eliminate_all(light)
        for careful in (True, False):
            for k in reversed([k for k in self.order if k in pivots]):
                if k not in elimination.pivots and (not careful or not self._moves_below(elimination, k)):
                    elimination.eliminate(k)
        self._refuse_rest(elimination)
        found = elimination.express([*light, *pivots])
        states = [k for k in pivots if k not in elimination.pivots]
        free = [k for k in light if k not in elimination.pivots]

        def row(i: int, columns: Sequence[int]) -> tuple[Expression, ...]:
            shares = {i: ONE} if i in pivots else {k: -V[k][light.index(i)] for k in pivots}
            shares = {k: e for k, e in shares.items() if e is not ZERO}
            shares |= {c: V[i][a] for a, c in enumerate(light) if V[i][a] is not ZERO}
            return tuple(
                dot(
                    shares.values(),
                    [ONE if k == c else self._written(e) if (e := found.get(k, {}).get(c)) else ZERO for k in shares],
                )
                for c in columns
            )

        T = tuple(row(i, states) for i in range(self.n))
        T_u = tuple(row(i, range(self.n, self.n + self.m)) for i in range(self.n))
        return T, T_u, states, free, tuple(row(i, free) for i in range(self.n))

    def _in_coordinates(self, row: dict[int, Expression], light: list[int], V: Matrix) -> dict[int, Entry]:
        """A constraint over the coordinates x = Q^T z + V mu, Q V = 0: column k of a state without inertia stands for its mu."""
        changed = dict(row)
        for i in range(self.n):
            if i not in light:
                hidden = dot(V[i], [row.get(c, ZERO) for c in light])
                changed[i] = row.get(i, ZERO) - hidden
        for a, c in enumerate(light):
            changed[c] = dot([V[i][a] for i in range(self.n)], [row.get(i, ZERO) for i in range(self.n)])
        return {c: self.field.entry(e) for c, e in changed.items() if not is_zero(e)}

    def _moves_below(self, elimination: Elimination[Entry], column: int) -> bool:
        """Whether every constraint that could be solved for a state would be divided by something that moves."""
        entries = [
            row[column]
            for r, row in enumerate(elimination.rows)
            if column in row and r not in elimination.pivots.values()
        ]
        return bool(self.moving) and all(divides_by(ONE / self._written(e), self.moving) for e in entries)

    def _refuse_one_sided(self, carried: Matrix, free: list[int]) -> None:
        """What only rates determine must act on the outputs as the inputs act on it: passive models cannot do otherwise."""
        B, C = self.system.matrices["B"], self.system.matrices["C"]
        for a, k in enumerate(free):
            column = [row[a] for row in carried]
            for j in range(self.m):
                if not is_zero(dot(C[j], column) - dot([row[j] for row in B], column)):
                    raise rules.NO_LIMIT.error(
                        f"the output '{self.system.outputs[j]}' holds rates that '{self.system.states[k]}' takes part in",
                        where=self.system.states[k],
                        fix="take the limit of the model, not of its equations",
                    )

    def _refuse_rest(self, elimination: Elimination[Entry]) -> None:
        solved = set(elimination.pivots.values())
        for r, row in enumerate(elimination.rows):
            inputs = [self.system.inputs[c - self.n] for c in row if c >= self.n]
            if r not in solved and inputs:
                raise rules.UNSOLVABLE.error(
                    f"the limit leaves a constraint on {listing(inputs)} alone",
                    fix=f"keep {listing(limit.name for limit in self.limits)}",
                )


def _columns(matrix: Matrix, left_out: Sequence[int]) -> Matrix:
    return tuple(tuple(e for k, e in enumerate(row) if k not in left_out) for row in matrix)


def null_space(L: Matrix, order: Sequence[int], field: NamedEntries) -> tuple[list[int], Matrix]:
    """The rows with inertia, those first that stand first in `order`, and one column V with L V = 0 for each other row."""
    n = len(L)
    elimination = Elimination([{j: field.entry(e) for j, e in enumerate(r) if not is_zero(e)} for r in L], field)
    pivots = [k for k in order if elimination.eliminate(k)]
    rest = [k for k in range(n) if k not in pivots]
    found = elimination.express(pivots)
    columns = []
    for c in rest:
        column: list[Expression] = [ZERO] * n
        column[c] = ONE
        for k in pivots:
            if c in found.get(k, {}):
                column[k] = substituted(found[k][c].expression, field.where)
        columns.append(column)
    return pivots, tuple(tuple(column[i] for column in columns) for i in range(n))
