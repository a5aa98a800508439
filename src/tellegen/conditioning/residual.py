"""Residual sinks: the forces of the constraints, solved for explicitly, so that every storage has integral causality.

A sink between two storages injects the force that keeps the difference of their velocities at zero. With sources in the place of
the sinks the model has equations L x' + N x + f = -A x + B u + B_l lambda, and the constraints are c = C_l x = 0. Along the motion

    c' + alpha c = C_l x' + C_l' x + alpha C_l x = 0

is linear in lambda, with the matrix E = C_l L^-1 B_l. Small systems are solved with symbols, long entries by name; in large ones
each sink reads what the storages take, and the compiled code solves for all forces at once. alpha lets errors of c decay.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import final

from tellegen.causality import assign_causality
from tellegen.conditioning import rules
from tellegen.conditioning.constrained import Constrained, output_of
from tellegen.conditioning.definite import Named, elimination_order, solved_definite
from tellegen.conditioning.opening import Opened, Opening, fresh, sink, source
from tellegen.conditioning.parasitic import formula_signal
from tellegen.core.domains import other_side
from tellegen.core.names import listing
from tellegen.description.model import Element, Model
from tellegen.equations.assembly import derive_equations
from tellegen.equations.congruence import Motion
from tellegen.equations.matrices import Matrix, Vector, dot
from tellegen.equations.system import EquationSystem
from tellegen.expressions import ZERO, Expression, number, symbol, total
from tellegen.expressions.entries import substituted
from tellegen.graph import Port, StorageLaw, lower

MOST_EXPLICIT = 12
"""Up to so many forces are solved for with symbols."""

MOST_DRIVEN = 4
"""Up to so many forces drive a model by their formulas; more are found faster by the compiled code."""

THIN = 6
"""With at most so many entries a row in the factors of E, formulas are as short as the chain is long: any number is solved for."""


@final
@dataclass(frozen=True)
class Forces:
    """The forces of constraints by states, displacements and inputs, over the names of `where`; and the constraints themselves.

    `matrix` is E and `right` the right side of E lambda = right, without the share of the drift.
    """

    names: tuple[str, ...]
    constraints: Vector
    matrix: Matrix
    right: Vector
    formulas: Mapping[str, Expression]
    where: Mapping[str, Expression]


def constraint_forces(found: Constrained, opened: Opened, *, drift: Expression = ZERO) -> Forces | None:
    """The forces solved for with symbols; None where there are too many, or where laws stand in the way.

    Raises: ConditioningError (C103) where an input stands in a constraint.
    """
    balance = _Balance(_opened_system(opened), opened)
    few = len(opened.openings) <= MOST_EXPLICIT or balance.thin
    return balance.forces(found, drift) if few and balance.solvable else None


def residual_model(found: Constrained, opened: Opened, rate: float) -> Model:
    """The model with a source of its force at every opening, driven so that the constraint holds; `rate` is alpha.

    Raises: ConditioningError (C103) where an input stands in a constraint.
    """
    drift = number(rate)
    balance = _Balance(_opened_system(opened), opened)
    few = len(opened.openings) <= MOST_DRIVEN or balance.thin
    if not (few and balance.solvable):
        return _implicit_model(balance, opened, drift)
    forces = balance.forces(found, drift)
    formulas = forces.formulas

    def driven(opening: Opening) -> tuple[Element, ...]:
        (element,) = source(opening)
        return (replace(element, signal=formulas[opening.name]),)

    model = opened.filled(driven)
    return replace(model, signals={**model.signals, **{n: formula_signal(n, e) for n, e in forces.where.items()}})


def with_forces(model: Model, found: Constrained, opened: Opened) -> Model:
    """A model without its dependent storages, with the forces of their constraints as signals of what is left.

    Where the forces have no formula, because laws stand in the way, the model stays as it is.
    """
    forces = None if found.behind_sources else constraint_forces(found, opened)
    if forces is None:
        return model
    written = dict(forces.formulas)
    where = dict(forces.where)
    if len(forces.names) > MOST_DRIVEN:  # a loop of signals, linear in the forces: the compiled code solves it
        where = {}
        for name, row, right in zip(forces.names, forces.matrix, forces.right, strict=True):
            rest = dot(row, [symbol(other) for other in forces.names])
            written[name] = symbol(name) + (right - rest) / row[forces.names.index(name)]
    known = {port.variable(port.law.side) for port in lower(model).ports}
    hidden = {n: found.written(e) for n, e in found.system.dependent.items() if n not in known}
    signals = {n: formula_signal(n, e.substitute(hidden)) for n, e in {**where, **written}.items()}
    return replace(model, signals={**model.signals, **signals})


def sensed_model(opened: Opened) -> Model:
    """The model with a sensor of its force in every constraint."""
    model = opened.filled(sink)
    signals = {opening.name: formula_signal(opening.name, symbol(opening.sensor)) for opening in opened.openings}
    return replace(model, signals={**model.signals, **signals})


def sink_picture(opened: Opened) -> Model:
    """The model with residual sinks, as it is drawn: rSe between inertias, rSf between capacities."""

    def drawn(opening: Opening) -> tuple[Element, ...]:
        name = f"r_{opening.constraint.storage}"
        return tuple(replace(e, name=name, variables={opening.side: opening.name}) for e in sink(opening))

    return opened.filled(drawn)


def _opened_system(opened: Opened) -> EquationSystem:
    """The equations with a source at every opening."""
    return derive_equations(assign_causality(lower(opened.filled(source))))


class _Balance:
    """The equations of the opened model, and its constraints with their rates."""

    def __init__(self, system: EquationSystem, opened: Opened) -> None:
        origin = system.origin
        assert origin is not None, "equations of a model know its graph"
        self.system, self.graph = system, origin.graph
        self.names = tuple(opening.name for opening in opened.openings)
        self.at = [system.inputs.index(name) for name in self.names]
        self.where = {n: e for n, e in system.where.items() if n not in opened.model.parameters}
        self.x = [symbol(name) for name in system.states]
        self.motion = Motion(origin.graph.moving, system.displacements)
        self.L = [self._written(row[i]) for i, row in enumerate(system.matrices["L"])]

    @property
    def solvable(self) -> bool:
        """Whether each state has an inertia of its own, its equation is that of the storage, and no law stands in the way."""
        L = self.system.matrices["L"]
        alone = all((e is not ZERO) == (i == j) for i, row in enumerate(L) for j, e in enumerate(row))
        return alone and not self.system.algebraic.unknowns

    @property
    def thin(self) -> bool:
        """Whether E has sparse factors, as in chains whose constraints hold neighbours: its entries are common states of rows."""
        states = [{j for j, e in enumerate(self.system.matrices["C"][i]) if e is not ZERO} for i in self.at]
        holding: dict[int, set[int]] = {}
        for i, row in enumerate(states):
            for j in row:
                holding.setdefault(j, set()).add(i)
        pattern = [set().union(*(holding[j] for j in row)) for row in states]
        return elimination_order(pattern)[1] <= THIN * len(pattern)

    def forces(self, found: Constrained, drift: Expression) -> Forces:
        """The forces, by elimination with names for what grows long."""
        C = [self.constraint(i) for i in self.at]
        constraints = tuple(dot(row, self.x) for row in C)
        pull = [self._pull(i) for i in range(len(self.x))]
        matrices = self.system.matrices
        E = tuple(
            tuple(
                total(c * self._written(matrices["B"][j][k]) / self.L[j] for j, c in enumerate(row) if c is not ZERO)
                for k in self.at
            )
            for row in C
        )
        right = tuple(
            -total(c * pull[j] / self.L[j] for j, c in enumerate(row) if c is not ZERO) - self.moved(row) for row in C
        )
        pulled = [e - drift * c for e, c in zip(right, constraints, strict=True)]
        formulas, where = self._solved(E, pulled, found)
        return Forces(self.names, constraints, E, right, formulas, where)

    def _written(self, expression: Expression) -> Expression:
        return substituted(expression, self.where)

    def constraint(self, i: int) -> Vector:
        """The row of an output that is to vanish: the difference of velocities at a sink.

        Raises: ConditioningError (C103) where an input stands in it.
        """
        system = self.system
        inputs = [n for n, e in zip(system.inputs, system.matrices["D"][i], strict=True) if e is not ZERO]
        if inputs or system.vectors["f_y"][i] is not ZERO:
            what = f"the constraint of '{system.inputs[i]}' contains {listing(inputs) or 'a resistance'}"
            fix = "put a compliance where it is, or run the form derivative"
            raise rules.FOLLOWS_A_SOURCE.error(what, where=system.inputs[i], fix=fix)
        return tuple(self._written(e) for e in system.matrices["C"][i])

    def moved(self, row: Vector) -> Expression:
        """What the motion of a row of constraints adds to the rate of the constraint."""
        return substituted(dot((self.motion.rate_of(c) for c in row), self.x), self.motion.slopes)

    def _pull(self, i: int) -> Expression:
        """What pulls state i but for the forces: B u - A x - N x - f."""
        system, m = self.system, self.system.matrices
        inputs = total(m["B"][i][k] * symbol(n) for k, n in enumerate(system.inputs) if k not in self.at)
        rest = dot(m["A"][i], self.x) + dot(m["N"][i], self.x) + system.vectors["f"][i]
        return self._written(inputs - rest)

    def _solved(
        self, E: Matrix, right: list[Expression], found: Constrained
    ) -> tuple[dict[str, Expression], dict[str, Expression]]:
        taken = {
            *self.names,
            *self.system.states,
            *self.system.inputs,
            *found.model.signals,
            *self.system.displacements,
        }
        taken |= {n for p in self.graph.ports for n in (p.across, p.through, p.state)}
        named = Named("e", {*taken, *self.graph.parameters, *self.graph.moving})
        pulls = {fresh(f"b_{name}", named.taken): e for name, e in zip(self.names, right, strict=True)}
        solution = solved_definite(E, [[symbol(name)] for name in pulls], named)
        assert solution is not None, "a dependent storage has an inertia of its own, so that E is definite"
        found_forces = {name: row[0] for name, row in zip(self.names, solution, strict=True)}
        return found_forces, {**pulls, **named.where}


def _implicit_model(balance: "_Balance", opened: Opened, drift: Expression) -> Model:
    """Each sink reads what the storages take: its force is such that the rate of its constraint vanishes."""
    system = balance.system
    _refuse_massless(system, balance)
    taken = {output_of(p): p for p in balance.graph.ports if isinstance(p.law, StorageLaw)}
    rates = [_rate(taken[name]) for name in system.states]

    def driven(opening: Opening) -> tuple[Element, ...]:
        (element,) = source(opening)
        row = balance.constraint(system.inputs.index(opening.name))
        moved = balance.moved(row)
        closing = dot(row, rates) + moved + drift * dot(row, balance.x)
        inertia = balance.L[system.states.index(opening.constraint.output)]
        return (replace(element, signal=symbol(opening.name) + inertia * closing),)

    return opened.filled(driven)


def _refuse_massless(system: EquationSystem, balance: "_Balance") -> None:
    for name, inertia in zip(system.states, balance.L, strict=True):
        if inertia is ZERO:
            raise rules.NO_INERTIA.error(
                f"the storage of '{name}' has no inertia, so that no force follows from its rate",
                where=name,
                fix="give it an inertia, or choose the form derivative, field, lagrange or hamilton",
            )


def _rate(port: Port) -> Expression:
    """The rate of the output of a storage by what its port takes."""
    law = port.law
    assert isinstance(law, StorageLaw), "only storages have rates"
    return symbol(port.variable(other_side(law.side))) / law.inertia_at(symbol(output_of(port)))
