"""The model with a source at every constraint: its equations, its constraints, and the linear system for their forces.

With sources in the place of the constraints the model has equations L x' + N x + f = -A x + B u + B_l lambda, and the constraints
are c = C_l x = 0. A speed v without inertia has no equation of its own: what acts on it vanishes, and its rate is unknown like the
forces. Along the motion c' + alpha c = 0 and these balances are

    [ E     C_v ] [ lambda ]   [ -C_l L^-1 (pull) - C_l' x - alpha c ]
    [ C_v^T  0  ] [   v'   ] = [ -(pull at v)                        ]      with  E = C_l L^-1 B_l,

symmetric, with E definite: pivots of forces come first, those of speeds when all forces at them are gone.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import final

from tellegen.causality import CausalGraph
from tellegen.conditioning import rules
from tellegen.conditioning.constrained import Constrained
from tellegen.conditioning.definite import Named, elimination_order, solved_definite
from tellegen.conditioning.inverse_inertias import Rows, inertias_of_fields, inverse_inertias
from tellegen.conditioning.opening import Opened, fresh
from tellegen.core.domains import other_side
from tellegen.core.names import listing
from tellegen.equations.congruence import Motion
from tellegen.equations.matrices import Matrix, Vector, dot
from tellegen.equations.port_readings import port_readings
from tellegen.equations.system import EquationSystem
from tellegen.expressions import ZERO, Expression, symbol, total
from tellegen.expressions.entries import substituted
from tellegen.graph import StorageLaw

THIN = 6
"""With at most so many entries a row in the factors of E, formulas are as short as the chain is long: any number is solved for."""


@final
@dataclass(frozen=True)
class Forces:
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
class Solution:
    """The unknowns by formulas of states, displacements and inputs, over the names of `where`."""

    formulas: Mapping[str, Expression]
    where: Mapping[str, Expression]


@final
class Balance:
    """The equations of the opened model, and its constraints with their rates."""

    def __init__(self, found: Constrained, opened: Opened) -> None:
        self.found, self.opened = found, opened
        self.causal: CausalGraph = opened.causal
        self.system: EquationSystem = opened.system
        self.graph = self.causal.graph
        system = self.system
        self.names = tuple(opening.name for opening in opened.openings)
        self.at = [system.inputs.index(name) for name in self.names]
        self.where = {n: e for n, e in system.where.items() if n not in opened.model.parameters}
        self.x = [symbol(name) for name in system.states]
        self.motion = Motion(self.graph.moving, system.displacements)
        self.L = [self._inertia(i) for i in range(len(system.states))]
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
        pattern = [
            set().union(*({place[j]} if j in place else holding[j] for j in row)) | {i} for i, row in enumerate(rows)
        ]
        return [*pattern, *(set(holding.get(j, ())) for j in self.massless)]

    # -- the system for the forces ---------------------------------------------------------------------------------------------

    @cached_property
    def rates(self) -> tuple[str, ...]:
        """Names for the rates of the speeds without inertia."""
        taken = self.taken
        return tuple(fresh(f"{self.system.states[j]}_rate", taken) for j in self.massless)

    def forces(self) -> Forces:
        """The linear system for the forces and rates."""
        return self._system_of_forces

    @cached_property
    def _system_of_forces(self) -> Forces:
        C = [self.constraint(i) for i in self.at]
        pull = [self._pull(i) for i in range(len(self.x))]
        by_forces = self._by_forces()
        massive = [[(j, c) for j, c in enumerate(row) if c is not ZERO and j not in self.massless] for row in C]
        matrix = [self._row(row, C[i], by_forces) for i, row in enumerate(massive)]
        rates = [total(e * pull[m] for m, e in row.items()) for row in self.inverse]
        right = [-total(c * rates[j] for j, c in row) - self.moved(C[i]) for i, row in enumerate(massive)]
        count = len(self.names)
        for j in self.massless:
            matrix.append((*(by_forces[j].get(k, ZERO) for k in range(count)), *(ZERO for _ in self.massless)))
            right.append(-pull[j])
        constraints = tuple(dot(row, self.x) for row in C)
        return Forces(self.names, self.rates, constraints, tuple(matrix), tuple(right))

    def _by_forces(self) -> list[dict[int, Expression]]:
        """What each force gives to each state."""
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

    def solution(self, forces: Forces, drift: Expression = ZERO) -> Solution:
        """The unknowns by elimination, with names for what grows long."""
        named = Named("e", self.taken | {*forces.rates})
        pulls = {
            fresh(f"b_{name}", named.taken): e for name, e in zip(forces.unknowns, forces.pulled(drift), strict=True)
        }
        late = range(len(forces.names), len(forces.unknowns))
        solved = solved_definite(forces.matrix, [[symbol(name)] for name in pulls], named, late)
        assert solved is not None, "a dependent storage has an inertia of its own, so that E is definite"
        formulas = {name: row[0] for name, row in zip(forces.unknowns, solved, strict=True)}
        return Solution(formulas, {**pulls, **named.where})

    @cached_property
    def taken(self) -> set[str]:
        """Names that mean something in the model."""
        model, system = self.found.model, self.system
        taken = {*self.names, *system.states, *system.inputs, *model.signals, *system.displacements}
        taken |= {n for p in self.graph.ports for n in (p.across, p.through, p.state)}
        return taken | {*self.graph.parameters, *self.graph.moving, *(e.name for e in model.elements)}

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

    def moved(self, row: Vector) -> Expression:
        """What the motion of a row of constraints adds to the rate of the constraint."""
        return substituted(dot((self.motion.rate_of(c) for c in row), self.x), self.motion.slopes)

    def _pull(self, i: int) -> Expression:
        """What pulls state i but for the forces: B u - A x - N x - f."""
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
        return substituted(expression, self.where)
