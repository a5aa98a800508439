"""The model with a source at every constraint: its equations, its constraints, and the symmetric linear system for their
forces, solved with symbols.

Pivots stay on the diagonal, where they are positive in every configuration; an entry beside it may vanish along the motion.
Short entries keep generated code short: the derivative of a long formula by its n variables is n times as long.

With sources in the place of the constraints the model has equations L x' + N x + f = -A x + B u + B_l lambda, and the constraints
are c = C_l x = 0. A speed v without inertia has no equation of its own: what acts on it vanishes, and its rate is unknown like the
forces. Along the motion c' + alpha c = 0 and these balances are

    [ E     C_v ] [ lambda ]   [ -C_l L^-1 (pull) - C_l' x - alpha c ]
    [ C_v^T  0  ] [   v'   ] = [ -(pull at v)                        ]      with  E = C_l L^-1 B_l,

symmetric, with E definite: pivots of forces come first, those of speeds when all forces at them are gone.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import final

from tellegen.causality import CausalGraph
from tellegen.conditioning import rules
from tellegen.conditioning.constraints import ConstrainedModel
from tellegen.conditioning.opened_constraints import OpenedModel, fresh_name
from tellegen.core.domains import other_side
from tellegen.core.names import listing
from tellegen.equations.matrices import Matrix, Vector, dot, solved_linear_system
from tellegen.equations.outputs import port_readings
from tellegen.equations.storages import ParameterRates
from tellegen.equations.system import EquationSystem
from tellegen.expressions import ONE, ZERO, Expression, is_zero, symbol, total
from tellegen.expressions.elimination import Elimination, ResidueField, leaf_count, with_definitions
from tellegen.expressions.evaluation import residues
from tellegen.graph import Field, StorageLaw

LONGEST = 6
"""Entries with more leaves than this get a name."""

_NONE: frozenset[int] = frozenset()


class EntryNames:
    """Names for long formulas, in order of definition."""

    def __init__(self, prefix: str, taken: Iterable[str]) -> None:
        self.prefix, self.taken = prefix, set(taken)
        self.where: dict[str, Expression] = {}

    def kept(self, expression: Expression) -> Expression:
        """The expression, or a name for it where it is long."""
        if leaf_count(expression) <= LONGEST:
            return ZERO if is_zero(expression) else expression
        # Numbers go on where they are, so that a name says in which order it was found.
        k = len(self.where) + 1
        while f"{self.prefix}_{k}" in self.taken:
            k += 1
        name = f"{self.prefix}_{k}"
        self.taken.add(name)
        self.where[name] = expression
        return symbol(name)


def elimination_order(pattern: Sequence[Iterable[int]], late: Iterable[int] = ()) -> tuple[list[int], int]:
    """The order of pivots with the fewest neighbours first, and how many entries beside the diagonal the factors get.

    `pattern` tells for each row of a symmetric matrix in which columns something stands. Rows that are `late` have no pivot of
    their own: they come when all rows that they are coupled with at first are gone.
    """
    # Minimum degree (Tinney and Walker 1967): the pivot with the fewest neighbours fills in least.
    near = {i: set(columns) - {i} for i, columns in enumerate(pattern)}
    # A speed without inertia has a zero on the diagonal until its forces have been eliminated.
    before = {i: set(near[i]) for i in late}
    order, entries = [], 0
    while near:
        ready = (i for i in near if not before.get(i, _NONE) & near.keys())
        pivot = min(ready, key=lambda i: (len(near[i]), i))
        joined = near.pop(pivot)
        for i in joined:
            near[i] |= joined
            near[i] -= {i, pivot}
        order.append(pivot)
        entries += len(joined)
    return order, entries


def solved_definite(
    matrix: Matrix, right: Sequence[Sequence[Expression]], names: EntryNames, late: Iterable[int] = ()
) -> Matrix | None:
    """matrix^-1 right over `names`; None where the matrix is singular. Of the matrix, the part above the diagonal is read.

    Rows that are `late` have a zero on the diagonal, and get their pivot from the others.
    """
    # Checked first, modulo a prime: the elimination below would divide by zero.
    if _is_singular(matrix):
        return None
    n, width = len(matrix), len(right[0]) if right else 0
    a: list[list[Expression]] = [[ZERO] * n for _ in matrix]
    # Both triangles from one: the elimination stays symmetric, whatever rounding or renaming did to the other.
    for i, row in enumerate(matrix):
        for j in range(i, n):
            a[i][j] = a[j][i] = names.kept(row[j])
    b = [list(row) for row in right]
    order, _ = elimination_order([[j for j, e in enumerate(row) if e is not ZERO] for row in a], late)
    beside: list[list[int]] = []  # for each pivot, the later rows that it changes
    for k, pivot in enumerate(order):
        later = [other for other in order[k + 1 :] if a[other][pivot] is not ZERO]
        beside.append(later)
        for m, other in enumerate(later):
            # Long quotients get names, so that generated code computes them once.
            factor = names.kept(a[other][pivot] / a[pivot][pivot])
            for j in later[m:]:
                a[other][j] = a[j][other] = _less(a[other][j], factor, a[pivot][j], names)
            for j in range(width):
                b[other][j] = _less(b[other][j], factor, b[pivot][j], names)
    found: list[list[Expression]] = [[ZERO] * width for _ in range(n)]
    for pivot, later in zip(reversed(order), reversed(beside), strict=True):
        for j in range(width):
            rest = b[pivot][j]
            for other in later:
                rest = _less(rest, a[pivot][other], found[other][j], names)
            found[pivot][j] = names.kept(rest / a[pivot][pivot])
    return tuple(map(tuple, found))


def _is_singular(matrix: Matrix) -> bool:
    """Whether rows of the matrix depend on each other, whatever the values."""
    rows = [{j: value for j, e in enumerate(row) if (value := (residues(e) or (1,))[0])} for row in matrix]
    return bool(Elimination(rows, ResidueField()).eliminate_all(range(len(matrix))))


def _less(entry: Expression, factor: Expression, other: Expression, names: EntryNames) -> Expression:
    return entry if factor is ZERO or other is ZERO else names.kept(entry - factor * other)


Rows = tuple[Mapping[int, Expression], ...]
"""The entries of each row of a matrix, by column."""


def inverse_inertias(L: Matrix, parameters: Mapping[str, Expression | None]) -> Rows | None:
    """L^-1 row by row, block by block; states without inertia have an empty row. None where a block is singular."""
    rows: list[Mapping[int, Expression]] = [{} for _ in L]
    # Storages that share no energy are inverted by themselves: a matrix of hundreds is mostly diagonal.
    for block in coupled_blocks(L):
        if len(block) == 1:
            (i,) = block
            rows[i] = {} if L[i][i] is ZERO else {i: ONE / L[i][i]}
            continue
        unit = tuple(tuple(ONE if i == j else ZERO for j in block) for i in block)
        found = solved_linear_system(tuple(tuple(L[i][j] for j in block) for i in block), unit, len(block), parameters)
        if found is None:
            return None
        for i, row in zip(block, found, strict=True):
            rows[i] = {j: e for j, e in zip(block, row, strict=True) if e is not ZERO}
    return tuple(rows)


def inertias_of_fields(own: Sequence[Expression], fields: Iterable[Field], ports: Sequence[int]) -> Matrix:
    """The inertias of the storages at some ports: their own, and what fields have beside their diagonals."""
    place = {k: i for i, k in enumerate(ports)}
    rows = [[e if i == j else ZERO for j in range(len(own))] for i, e in enumerate(own)]
    for field in fields:
        for k, row in zip(field.ports, field.matrix, strict=True):
            for j, e in zip(field.ports, row, strict=True):
                if k != j and k in place and j in place:
                    rows[place[k]][place[j]] = e
    return tuple(map(tuple, rows))


def coupled_blocks(L: Matrix) -> list[list[int]]:
    """The places of states that share entries of L, directly or through others."""
    near = [{j for j, e in enumerate(row) if e is not ZERO} for row in L]
    seen: set[int] = set()
    found: list[list[int]] = []
    for start in range(len(near)):
        if start in seen:
            continue
        reached, ahead = {start}, [start]
        while ahead:
            fresh = near[ahead.pop()] - reached
            reached |= fresh
            ahead.extend(fresh)
        seen |= reached
        found.append(sorted(reached))
    return found


THIN = 6
"""With at most so many entries a row in the factors of E, formulas are as short as the chain is long: any number is solved for."""


@final
@dataclass(frozen=True)
class ForceSystem:
    """`matrix` times the forces, and the rates of speeds without inertia behind them, is `right` less the share of the drift."""

    names: tuple[str, ...]
    rates: tuple[str, ...]
    constraints: Vector
    matrix: Matrix
    right: Vector

    @property
    def unknowns(self) -> tuple[str, ...]:
        """The forces, then the rates."""
        return (*self.names, *self.rates)

    def pulled(self, drift: Expression) -> list[Expression]:
        """The right side with the share that lets errors of the constraints decay."""
        shares = (*(drift * c for c in self.constraints), *(ZERO for _ in self.rates))
        return [e - share for e, share in zip(self.right, shares, strict=True)]


@final
@dataclass(frozen=True)
class ForceFormulas:
    """The unknowns by formulas of states, displacements and inputs, over the names of `where`."""

    formulas: Mapping[str, Expression]
    where: Mapping[str, Expression]


@final
class ForceBalance:
    """The equations of the opened model, and its constraints with their rates."""

    def __init__(self, found: ConstrainedModel, opened: OpenedModel) -> None:
        self.found, self.opened = found, opened
        self.causal: CausalGraph = opened.causal
        self.system: EquationSystem = opened.system
        self.graph = self.causal.graph
        system = self.system
        self.names = tuple(opening.name for opening in opened.openings)
        self.at = [system.inputs.index(name) for name in self.names]
        self.where = {n: e for n, e in system.where.items() if n not in opened.model.parameters}
        self.x = [symbol(name) for name in system.states]
        self.motion = ParameterRates(self.graph.position_dependent, system.displacements)
        self.L = [self._inertia(i) for i in range(len(system.states))]
        # Speeds without inertia have no equation for their rate, which is therefore unknown like the forces.
        self.massless = [i for i, inertia in enumerate(self.L) if inertia is ZERO]

    @property
    def held(self) -> bool:
        """Whether storages behind sources stay as they are: what they take stands by its name in what others take."""
        return bool(self.opened.held)

    def _inertia(self, i: int) -> Expression:
        law = self.graph.ports[self.causal.integral[i]].law
        own = law.inertia if isinstance(law, StorageLaw) else None
        return own if self.held and own is not None else self._written(self.system.matrices["L"][i][i])

    @property
    def apart(self) -> bool:
        """Whether each rate follows from what the storages take: inertias of their own, none, or regular fields."""
        return self._inverse_or_none is not None

    @property
    def inverse(self) -> Rows:
        """L^-1 row by row; states without inertia have an empty row."""
        found = self._inverse_or_none
        assert found is not None, "only asked for where it exists"
        return found

    @cached_property
    def _inverse_or_none(self) -> Rows | None:
        return inverse_inertias(self.inertias, self.system.parameters) if self._has_matrices else None

    @property
    def _has_matrices(self) -> bool:
        """Whether fields have matrices: where storages are held, the equations do not tell the slopes of an energy."""
        states = {*self.causal.integral}
        return not self.held or all(f.energy is None or states.isdisjoint(f.ports) for f in self.graph.fields)

    @cached_property
    def inertias(self) -> Matrix:
        """L; where storages behind sources are held, without their share."""
        if not self.held:
            return tuple(tuple(map(self._written, row)) for row in self.system.matrices["L"])
        return inertias_of_fields(self.L, self.graph.fields, self.causal.integral)

    @property
    def solvable(self) -> bool:
        """Whether formulas for the forces exist: inertias with an inverse, and no law in the way."""
        return self.apart and not self.system.algebraic.unknowns

    @property
    def thin(self) -> bool:
        """Whether the factors are sparse, as in chains whose constraints hold neighbours: entries are common states of rows."""
        pattern = self._pattern()
        late = range(len(self.names), len(pattern))
        # Fill decides: a chain of any length stays short, a closed loop of bodies does not.
        return elimination_order(pattern, late)[1] <= THIN * len(pattern)

    def _pattern(self) -> list[set[int]]:
        """Where the system for the forces and rates has entries."""
        C, count = self.system.matrices["C"], len(self.names)
        rows = [{j for j, e in enumerate(C[i]) if e is not ZERO} for i in self.at]
        holding: dict[int, set[int]] = {}
        for i, row in enumerate(rows):
            for j in row:
                holding.setdefault(j, set()).add(i)
        place = {j: count + k for k, j in enumerate(self.massless)}
        # Two constraints are coupled where they hold a common state; one without inertia couples them through its own
        # row.
        pattern = [
            set().union(*({place[j]} if j in place else holding[j] for j in row)) | {i} for i, row in enumerate(rows)
        ]
        return [*pattern, *(set(holding.get(j, ())) for j in self.massless)]

    # -- the system for the forces ---------------------------------------------------------------------------------------------

    @cached_property
    def rates(self) -> tuple[str, ...]:
        """Names for the rates of the speeds without inertia."""
        taken = self.taken
        return tuple(fresh_name(f"{self.system.states[j]}_rate", taken) for j in self.massless)

    def forces(self) -> ForceSystem:
        """The linear system for the forces and rates."""
        return self._system_of_forces

    @cached_property
    def _system_of_forces(self) -> ForceSystem:
        C = [self.constraint(i) for i in self.at]
        pull = [self._pull(i) for i in range(len(self.x))]
        by_forces = self._by_forces()
        massive = [[(j, c) for j, c in enumerate(row) if c is not ZERO and j not in self.massless] for row in C]
        matrix = [self._row(row, C[i], by_forces) for i, row in enumerate(massive)]
        rates = [total(e * pull[m] for m, e in row.items()) for row in self.inverse]
        # c' = C x' + C' x = 0: the rates without forces, and the motion of the constraint itself.
        right = [-total(c * rates[j] for j, c in row) - self.rate_of_row(C[i]) for i, row in enumerate(massive)]
        count = len(self.names)
        # The balance at a speed without inertia: forces and pull add to zero.
        for j in self.massless:
            matrix.append((*(by_forces[j].get(k, ZERO) for k in range(count)), *(ZERO for _ in self.massless)))
            right.append(-pull[j])
        constraints = tuple(dot(row, self.x) for row in C)
        return ForceSystem(self.names, self.rates, constraints, tuple(matrix), tuple(right))

    def _by_forces(self) -> list[dict[int, Expression]]:
        if self.held:
            slopes = ({k: e.derivative(name) for k, name in enumerate(self.names)} for e in self._taken)
            return [{k: e for k, e in row.items() if e is not ZERO} for row in slopes]
        B = self.system.matrices["B"]
        return [{k: self._written(row[m]) for k, m in enumerate(self.at) if row[m] is not ZERO} for row in B]

    def _row(
        self, massive: list[tuple[int, Expression]], row: Vector, by_forces: list[dict[int, Expression]]
    ) -> Vector:
        shares: dict[int, list[Expression]] = {}
        for j, c in massive:
            for m, share in self.inverse[j].items():
                for k, b in by_forces[m].items():
                    shares.setdefault(k, []).append(c * b * share)
        forces = (total(shares[k]) if k in shares else ZERO for k in range(len(self.names)))
        return (*forces, *(row[j] for j in self.massless))

    def solution(self, forces: ForceSystem, drift: Expression = ZERO) -> ForceFormulas:
        """The unknowns by elimination, with names for what grows long."""
        named = EntryNames("e", self.taken | {*forces.rates})
        pulls = {
            fresh_name(f"b_{name}", named.taken): e
            for name, e in zip(forces.unknowns, forces.pulled(drift), strict=True)
        }
        late = range(len(forces.names), len(forces.unknowns))
        solved = solved_definite(forces.matrix, [[symbol(name)] for name in pulls], named, late)
        assert solved is not None, "a dependent storage has an inertia of its own, so that E is definite"
        formulas = {name: row[0] for name, row in zip(forces.unknowns, solved, strict=True)}
        return ForceFormulas(formulas, {**pulls, **named.where})

    @cached_property
    def taken(self) -> set[str]:
        """Names that mean something in the model."""
        model, system = self.found.model, self.system
        taken = {*self.names, *system.states, *system.inputs, *model.signals, *system.displacements}
        taken |= {n for p in self.graph.ports for n in (p.across, p.through, p.state)}
        return taken | {*self.graph.parameters, *self.graph.position_dependent, *(e.name for e in model.elements)}

    def constraint(self, i: int) -> Vector:
        """The row of an output that is to vanish: the difference of velocities at a sink.

        Raises: ConditioningError (C103) where an input stands in it.
        """
        system = self.system
        if not self.follows_states(i):
            inputs = [n for n, e in zip(system.inputs, system.matrices["D"][i], strict=True) if e is not ZERO]
            what = f"the constraint of '{system.inputs[i]}' contains {listing(inputs) or 'a resistance'}"
            fix = "put a compliance where it is, or run the form derivative"
            raise rules.FOLLOWS_A_SOURCE.error(what, where=system.inputs[i], fix=fix)
        return tuple(self._written(e) for e in system.matrices["C"][i])

    def follows_states(self, i: int) -> bool:
        """Whether a constraint holds states alone, no inputs and no resistances."""
        system = self.system
        return system.vectors["f_y"][i] is ZERO and all(e is ZERO for e in system.matrices["D"][i])

    def rate_of_row(self, row: Vector) -> Expression:
        """What the motion of a row of constraints adds to the rate of the constraint."""
        return with_definitions(dot((self.motion.rate_of(c) for c in row), self.x), self.motion.slopes)

    def _pull(self, i: int) -> Expression:
        """What pulls state i but for the forces: B u - A x - N x - f."""
        # With storages behind sources the matrices do not tell what each takes, so the slopes of readings are taken.
        if self.held:
            return self._taken[i].substitute(dict.fromkeys(self.names, ZERO))
        system, m = self.system, self.system.matrices
        inputs = total(m["B"][i][k] * symbol(n) for k, n in enumerate(system.inputs) if k not in self.at)
        rest = dot(m["A"][i], self.x) + dot(m["N"][i], self.x) + system.vectors["f"][i]
        return self._written(inputs - rest)

    @cached_property
    def _taken(self) -> list[Expression]:
        """What the storages with states take, by states, inputs, forces and what storages behind sources take."""
        ports = [self.graph.ports[k] for k in self.causal.integral]
        names = [port.variable(other_side(port.law.side)) for port in ports]
        readings = port_readings(self.causal, names)
        return [readings.get(name, ZERO) for name in names]

    def _written(self, expression: Expression) -> Expression:
        return with_definitions(expression, self.where)
