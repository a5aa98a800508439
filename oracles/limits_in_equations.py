"""Limits taken in the equations themselves: an oracle for the package, which takes them on the graph.

The output that goes with such an input is its constraint, 0 = C_w x + D_w u + f_w. Where the variable stands in it linearly and
in no law, it is solved for, and nothing is left of it.

Where a source meets a dependent storage, its output holds P x' with P = -B_1^T, and equations replace x' by P L^-1 times the rest:
quotients of inertias, which have no limit of their own. Without them the outputs have one.

With L V = 0 in the limit, the equations V^T (A x - B u) = 0 are constraints. They are solved for the states without inertia where
dissipation determines these, and otherwise tie the other states to each other; what then only rates determine drops out of the
congruent transformation (Zanasi, Grossi and Giuliani: corking machine, section 5). States whose inertia is infinite
become inputs.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import final

from tellegen.core.names import listing
from tellegen.equations.matrices import Matrix, Vector, dot, negative, plus, product, zeros
from tellegen.equations.storages import ParameterRates
from tellegen.equations.system import Algebraic, EquationSystem, MatrixName
from tellegen.expressions import ONE, ZERO, Expression, is_zero, symbol
from tellegen.expressions.elimination import Elimination, Entry, NamedEntries, with_definitions
from tellegen.reduction import rules
from tellegen.reduction.asymptotics import DependsOnRatioError, NoLimitError, limit_of
from tellegen.reduction.congruent import in_congruent_coordinates, times_inverse
from tellegen.reduction.limits import Limit, Limits, read_limits
from tellegen.reduction.transformation import divides_by

INSTEAD = "take the limit of the model, not of its equations"


class EntryLimits:
    """Takes the limits of entries of systems that share their parameters and definitions with the first one."""

    def __init__(self, system: EquationSystem, limits: tuple[Limit, ...]) -> None:
        self.orders = {limit.name: limit.order for limit in limits if limit.order}
        self.targets = {limit.name: limit.to for limit in limits if limit.order == 0 and limit.to is not None}
        given = {n: e for n, e in system.parameters.items() if e is not None}
        self.names = {limit.name for limit in limits}
        self.reach = _reach({**given, **system.where}, self.names)
        self.definitions = {n: e for n, e in given.items() if n in self.reach and n not in self.names}

    def _written(self, system: EquationSystem, e: Expression) -> Expression:
        return with_definitions(with_definitions(with_definitions(e, system.where), self.definitions), self.targets)

    def of(self, system: EquationSystem, e: Expression) -> Expression | None:
        """The limit of an entry; None where it is infinite.

        Raises: ReductionError (T105, T106) where there is none.
        """
        if e.free_symbols.isdisjoint(self.reach):
            return e
        try:
            return limit_of(self._written(system, e), self.orders)
        except DependsOnRatioError as ratio:
            raise rules.RATIO_OF_LIMITS.error(
                f"an entry depends on the ratio {'/'.join(map(str, ratio.args[:2]))} of the limits",
                fix=f"keep one of {listing(map(str, ratio.args))}",
            ) from ratio
        except NoLimitError as reason:
            raise rules.NO_LIMIT.error(f"the limit of an entry was not found: {reason}", fix=INSTEAD) from reason

    def beside_energy(self, system: EquationSystem) -> EquationSystem:
        """The system with all matrices but L and A at the limit.

        Dependent storages stand in them too, where sources meet them or the motion changes them.
        """
        matrices = dict(system.matrices)
        for name in ("N", "B", "C", "D", "B_1", "D_1"):
            rows = [[self.of(system, e) for e in row] for row in matrices[name]]
            if any(e is None for row in rows for e in row):
                raise rules.NO_LIMIT.error(f"an entry of {name} has no limit", fix=INSTEAD)
            matrices[name] = tuple(tuple(e for e in row if e is not None) for row in rows)
        return replace(system, matrices=matrices)

    def energy(self, system: EquationSystem) -> tuple[Matrix, list[int]]:
        """L at the limit, and the states that freeze."""
        rows = [[self.of(system, e) for e in row] for row in system.matrices["L"]]
        frozen = [k for k, row in enumerate(rows) if row[k] is None]
        found = []
        for i, row in enumerate(rows):
            # What a state shares with a frozen one is finite, and the rate of that one is zero.
            if i not in frozen and any(e is None for j, e in enumerate(row) if j not in frozen):
                raise rules.NO_LIMIT.error(
                    f"the states joined with '{system.states[i]}' freeze only together",
                    where=system.states[i],
                    fix=INSTEAD,
                )
            found.append(tuple(ZERO if e is None else e for e in row))
        return tuple(found), frozen

    def growing(self, system: EquationSystem) -> Matrix:
        """The coefficients with which [L, -B_1] grows without bound, the sum over all parameters that make it grow."""
        L, B_1 = system.matrices["L"], system.matrices["B_1"]
        return tuple(
            tuple(self._coefficient(system, e) for e in (*a, *(-e for e in b))) for a, b in zip(L, B_1, strict=True)
        )

    def _coefficient(self, system: EquationSystem, e: Expression) -> Expression:
        if e.free_symbols.isdisjoint(self.reach):
            return ZERO
        whole = self._written(system, e)
        found: Expression = ZERO
        for name in sorted(whole.free_symbols & self.orders.keys()):
            small = symbol(name) if self.orders[name] > 0 else ONE / symbol(name)
            try:
                found = found + (limit_of(whole * small, {name: self.orders[name]}) or ZERO)
            except (DependsOnRatioError, NoLimitError):
                continue  # what does not grow like one parameter alone is judged entry by entry
        return found


def _reach(definitions: dict[str, Expression], names: set[str]) -> set[str]:
    """All names that lead to one of the names, directly or not."""
    reach, grown = set(names), True
    while grown:
        new = {n for n, e in definitions.items() if n not in reach and reach & e.free_symbols}
        reach |= new
        grown = bool(new)
    return reach


COLUMNS: tuple[MatrixName, ...] = ("B", "D", "B_1", "D_1")


def with_unknowns(system: EquationSystem, names: Sequence[str]) -> EquationSystem:
    """The system in which some inputs are whatever makes their own outputs vanish.

    Raises: ReductionError (T110) where a constraint does not hold the variable, or rates of it are needed.
    """
    waiting = list(names)
    while solvable := [name for name in waiting if _linear(system, name)]:
        system = _solved(system, solvable[0])
        waiting.remove(solvable[0])
    for name in waiting:
        system = _unknown(system, name)
    return system


def _linear(system: EquationSystem, name: str) -> bool:
    """Whether a variable stands in its own constraint with a constant coefficient, and in no law."""
    k = system.inputs.index(name)
    read = [*system.vectors["f"], *system.vectors["f_y"], *system.algebraic.residuals]
    coefficient = system.matrices["D"][k][k]
    constant = coefficient.free_symbols.isdisjoint({*system.states, *system.inputs, *system.algebraic.unknowns})
    return not is_zero(coefficient) and constant and all(name not in e.free_symbols for e in read)


def _solved(system: EquationSystem, name: str) -> EquationSystem:
    """The system with a variable replaced from its own constraint, which is linear in it."""
    _refuse_rates(system, name)
    k = system.inputs.index(name)
    m, v = system.matrices, system.vectors
    D = m["D"][k][k]
    row: Vector = tuple(-e / D for e in (*m["C"][k], *m["D"][k], v["f_y"][k]))  # the variable by x, u and the rest
    n = len(system.states)
    C_w, D_w, f_w = row[:n], row[n:-1], row[-1]
    B, D_out = [line[k] for line in m["B"]], [line[k] for line in m["D"]]
    matrices: dict[MatrixName, Matrix] = {
        **m,
        "A": tuple(tuple(e - b * c for e, c in zip(line, C_w, strict=True)) for line, b in zip(m["A"], B, strict=True)),
        "B": tuple(tuple(e + b * d for e, d in zip(line, D_w, strict=True)) for line, b in zip(m["B"], B, strict=True)),
        "C": tuple(
            tuple(e + d * c for e, c in zip(line, C_w, strict=True)) for line, d in zip(m["C"], D_out, strict=True)
        ),
        "D": tuple(
            tuple(e + o * d for e, d in zip(line, D_w, strict=True)) for line, o in zip(m["D"], D_out, strict=True)
        ),
    }
    f = tuple(e - b * f_w for e, b in zip(v["f"], B, strict=True))
    f_y = tuple(e + d * f_w for e, d in zip(v["f_y"], D_out, strict=True))
    others = [symbol(u) if u != name else ZERO for u in system.inputs]
    value = dot(C_w, map(symbol, system.states)) + dot(D_w, others) + f_w
    return _without(replace(system, matrices=matrices, vectors={"f": f, "f_y": f_y}), name, {name: value})


def _unknown(system: EquationSystem, name: str) -> EquationSystem:
    """The system with a variable as an algebraic unknown, and its constraint as a residual."""
    _refuse_rates(system, name)
    k = system.inputs.index(name)
    m, v = system.matrices, system.vectors
    w = symbol(name)
    residual = dot(m["C"][k], map(symbol, system.states)) + dot(m["D"][k], map(symbol, system.inputs)) + v["f_y"][k]
    if name not in residual.free_symbols:
        raise rules.NONLINEAR_CONSTRAINT.error(
            f"the constraint of '{name}' ties other variables to each other by a law that is not linear",
            where=name,
            fix="take the limit of the model, not of its equations",
        )
    f = tuple(e - line[k] * w for e, line in zip(v["f"], m["B"], strict=True))
    f_y = tuple(e + line[k] * w for e, line in zip(v["f_y"], m["D"], strict=True))
    algebraic = Algebraic((*system.algebraic.unknowns, name), (*system.algebraic.residuals, residual))
    return _without(replace(system, vectors={"f": f, "f_y": f_y}, algebraic=algebraic), name, {})


def _refuse_rates(system: EquationSystem, name: str) -> None:
    k = system.inputs.index(name)
    m = system.matrices
    if any(not is_zero(line[k]) for line in (*m["B_1"], *m["D_1"])):
        raise rules.NONLINEAR_CONSTRAINT.error(
            f"the rate of '{name}' is needed, whose constraint is not linear",
            where=name,
            fix="take the limit of the model, not of its equations",
        )


def _without(system: EquationSystem, name: str, value: dict[str, Expression]) -> EquationSystem:
    """The system without an input and its output; `value` replaces it where energies and rates read it."""
    k = system.inputs.index(name)

    def fewer(matrix: Matrix) -> Matrix:
        return tuple((*row[:k], *row[k + 1 :]) for row in matrix)

    matrices = {n: fewer(M) if n in COLUMNS else M for n, M in system.matrices.items()}
    for n in ("C", "D", "D_1"):
        rows = matrices[n]
        matrices[n] = (*rows[:k], *rows[k + 1 :])
    f_y = system.vectors["f_y"]
    energy = system.stored_energy
    return replace(
        system,
        inputs=(*system.inputs[:k], *system.inputs[k + 1 :]),
        outputs=(*system.outputs[:k], *system.outputs[k + 1 :]),
        matrices=matrices,
        vectors={**system.vectors, "f_y": (*f_y[:k], *f_y[k + 1 :])},
        stored_energy=None if energy is None else energy.substitute(value),
        dissipated_power=system.dissipated_power.substitute(value),
        displacements={d: e.substitute(value) for d, e in system.displacements.items()},
    )


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
        return ZERO if entry is None else with_definitions(entry.expression, field.where)

    T = tuple(tuple(share(i, j) for j in range(n)) for i in range(n))
    T_u = tuple(tuple(share(i, n + j) for j in range(m)) for i in range(n))
    mixed = [i for i in pivots if any(e is not ZERO for j, e in enumerate((*T[i], *T_u[i])) if j != i)]
    names = [f"{name}_frozen" if i in mixed else name for i, name in enumerate(system.states)]
    return in_congruent_coordinates(system, T, T_u, names)


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


def _matrix_rate(system: EquationSystem, matrix: Matrix) -> Matrix:
    """The derivative of a matrix along the motion of the displacements of a system."""
    written = tuple(tuple(with_definitions(e, system.where) for e in row) for row in matrix)
    return ParameterRates({}, system.displacements).rate(written)


def with_output_rates(system: EquationSystem, P: Matrix, T: Matrix, T_u: Matrix) -> EquationSystem:
    """The reduced system with the share P x' of the full model in its outputs; x = T z + T_u u."""
    if all(is_zero(e) for row in P for e in row):
        return system
    n, inputs = len(system.states), len(system.inputs)
    rate, rate_u = _matrix_rate(system, T), _matrix_rate(system, T_u)
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
    return tuple(tuple(with_definitions(e, system.where) for e in row) for row in matrix)


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
        system = system.with_entries(lambda e: with_definitions(e, system.where))
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
        return bool({*system.displacements, *system.states} & with_definitions(e, system.where).free_symbols)

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
        apart = in_congruent_coordinates(system, T, zeros(n, len(system.inputs)), names)
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
        equations = with_output_rates(in_congruent_coordinates(self.system, T, T_u, seen), self.P, T, T_u)
        equations = with_unknowns(equations, self.unknowns)
        constraints = tuple(tuple(row.get(c, ZERO) for c in range(self.n + self.m)) for row in rows)
        return EquationReduction(
            equations, self.system, T, T_u, V, constraints, tuple(self.system.states[k] for k in free)
        )

    def _written(self, e: Entry) -> Expression:
        return with_definitions(e.expression, self.field.where)

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
                column[k] = with_definitions(found[k][c].expression, field.where)
        columns.append(column)
    return pivots, tuple(tuple(column[i] for column in columns) for i in range(n))
