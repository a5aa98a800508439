"""Where a conditioned model starts: every state from what the user said about the model as it was, and parasitic elements with
the forces of the rigid model.
"""

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import final

from tellegen.conditioning.constraint_forces import ForceBalance, ForceSystem
from tellegen.conditioning.constraints import ConstrainedModel
from tellegen.conditioning.opened_constraints import starting_at
from tellegen.core.errors import ConditioningError
from tellegen.core.names import TIME
from tellegen.equations import start
from tellegen.expressions import ZERO, Expression, Number, number, symbol, total
from tellegen.expressions.elimination import with_definitions
from tellegen.graph import lower, with_experiment
from tellegen.model.model import Model

CarriedForces = Callable[[], Mapping[str, float]]
"""Tells what the rigid model carries where it starts, by the names of the forces."""


def no_forces_known() -> Mapping[str, float]:
    """Of no force."""
    return {}


@final
@dataclass(frozen=True)
class InitialForces:
    """`states` are those of the parasitic elements, by the names of the forces that they carry."""

    balance: ForceBalance
    states: Mapping[str, str] = field(default_factory=dict)

    def at(self, values: Mapping[str, float], carried: CarriedForces = no_forces_known) -> dict[str, float]:
        """What the states are where the rigid model starts; `carried` is asked where forces do not follow from numbers alone."""
        found: Mapping[str, float]
        try:
            found = self._solved(self.balance.forces(), {TIME: 0.0, **values})
        # The rigid model itself can be asked then: it is more work, but has an answer.
        except (ConditioningError, ArithmeticError, KeyError):
            found = (
                carried()
            )  # an input in a constraint, a law in the way, a number that is missing, a position found later
        known = {state: found[name] for name, state in self.states.items() if name in found}
        return {state: value for state, value in known.items() if isfinite(value)}

    def inertia(self, force: str, values: Mapping[str, float]) -> float | None:
        """What a force moves along its constraint when all constraints are open: the reciprocal of its entry in E."""
        try:
            forces = self.balance.forces()
            i = forces.names.index(force)
            (entry,) = self._numbers([forces.matrix[i][i]], {TIME: 0.0, **values})
        except (ConditioningError, ArithmeticError, KeyError):
            return None
        # E = C L^-1 C^T is the compliance of the masses against the force, so that its reciprocal is the inertia moved.
        return 1 / entry if entry > 0 else None

    def _solved(self, forces: ForceSystem, values: Mapping[str, float]) -> dict[str, float]:
        known = {**values, **self._driven(values)}
        matrix = [self._numbers(row, known) for row in forces.matrix]
        found = _solution(matrix, self._numbers(forces.right, known))
        return dict(zip(forces.unknowns, found, strict=True))

    def _driven(self, values: Mapping[str, float]) -> dict[str, float]:
        """What sources give that a formula drives, such as weights."""
        drivers = self.balance.system.signals.drivers
        # The forces themselves are the unknowns: their sources are not asked.
        known = {n: e for n, e in drivers.items() if n not in self.balance.names}
        return dict(zip(known, self._numbers(list(known.values()), values), strict=True))

    def _numbers(self, row: Sequence[Expression], values: Mapping[str, float]) -> list[float]:
        return [with_definitions(e, self.balance.graph.position_dependent).evaluate(values) for e in row]


def _solution(matrix: Sequence[Sequence[float]], right: Sequence[float]) -> list[float]:
    """The solution of a small linear system, by elimination with the largest pivots.

    Raises: ZeroDivisionError for a singular matrix.
    """
    rows = [[*row, b] for row, b in zip(matrix, right, strict=True)]
    n = len(rows)
    for k in range(n):
        # Pivots are chosen by size: numbers of a mechanism range over many decades.
        best = max(range(k, n), key=lambda i: abs(rows[i][k]))
        rows[k], rows[best] = rows[best], rows[k]
        for row in rows[k + 1 :]:
            factor = row[k] / rows[k][k]
            row[k:] = [a - factor * b for a, b in zip(row[k:], rows[k][k:], strict=True)]
    found = [0.0] * n
    for k in reversed(range(n)):
        found[k] = (rows[k][n] - sum(rows[k][j] * found[j] for j in range(k + 1, n))) / rows[k][k]
    return found


NOTHING: Mapping[str, float] = {}


@final
@dataclass(frozen=True)
class InitialStates:
    """Initial values of new states by the names of the model as it was, and the names that are no states any more.

    A formula may read the states whose formulas come before it. `forces` are found with numbers, when all others are known.
    """

    formulas: Mapping[str, Expression] = field(default_factory=dict)
    replaced: tuple[str, ...] = ()
    forces: InitialForces | None = None

    def joined(self, others: "InitialStates") -> "InitialStates":
        """These and others."""
        forces = self.forces or others.forces
        return InitialStates({**self.formulas, **others.formulas}, (*self.replaced, *others.replaced), forces)


def with_initial_states(
    model: Model,
    found: ConstrainedModel,
    starts: InitialStates,
    given: Mapping[str, float] = NOTHING,
    parameters: Mapping[str, float] = NOTHING,
    inputs: Mapping[str, float] = NOTHING,
    carried: CarriedForces = no_forces_known,
) -> Model:
    """The conditioned model with its initial values; `given`, `parameters` and `inputs` come before those that the model has.

    `carried` tells the forces of the rigid model where they have no formula.

    States whose start cannot be told, for want of a number, begin at zero.
    """
    # Given values come before those of the model, which in turn come before zero.
    values = {**start.model_start(found.model, given, parameters), **inputs}
    initial = {n: e for n, e in model.experiment.initial.items() if n not in starts.replaced}
    initial |= {n: number(v) for n, v in given.items() if n not in starts.replaced}
    # A storage that was merged into a field has no name any more by which it could start.
    graph = lower(model)
    initial = {n: e for n, e in initial.items() if n in start.initial_names(graph, model)}
    moving, signals = found.causal.graph.position_dependent, dict(model.signals)
    for name, formula in starts.formulas.items():
        value = _value(with_definitions(formula, moving), values)
        # Formulas are in an order in which each may read the states before it.
        if value is not None:
            values[name] = value
        # A state that is the integral of a signal starts there; zero is its default.
        if value and name in signals:
            signals[name] = starting_at(signals[name], number(value))
        elif value:
            initial[name] = number(value)
    forces = starts.forces.at(values, carried) if starts.forces is not None else {}
    initial |= {name: number(value) for name, value in forces.items() if value and name not in given}
    # Last, states that are said nothing of, because storages that followed them decide their start.
    begun = model if signals == model.signals else replace(model, signals=signals)
    return start.starting_at(with_experiment(begun, replace(model.experiment, initial=initial)), values)


def _value(formula: Expression, values: Mapping[str, float]) -> float | None:
    """A number, or None where one is missing or the formula has none at this place."""
    if not formula.free_symbols <= values.keys():
        return None
    try:
        return formula.evaluate(values)
    except ArithmeticError:
        return None  # a mechanism whose displacements are found when a run begins


def initial_states_of_dependents(found: ConstrainedModel, balance: ForceBalance) -> InitialStates:
    """The starts of storages that have states of their own once their constraints are open.

    Along a tree each constraint gives one of them by its neighbours; round loops they follow from the equations of the model.
    """
    outputs = {constraint.output for constraint in found.constraints}
    # Short formulas along a tree: those of the equations would contain the whole mechanism.
    one_by_one = _along_constraints(balance, outputs)
    if one_by_one is not None:
        return InitialStates(one_by_one, tuple(outputs))
    return InitialStates(
        {n: found.written(e) for n, e in found.system.dependent.items() if n in outputs}, tuple(outputs)
    )


def _along_constraints(balance: ForceBalance, outputs: Set[str]) -> dict[str, Expression] | None:
    """The outputs one by one, each from a constraint in which it is the last unknown; None where none is left to begin with."""
    if not all(map(balance.follows_states, balance.at)):
        return None
    states = balance.system.states
    rows = []
    for i in balance.at:
        row = balance.constraint(i)
        rows.append({states[j]: c for j, c in enumerate(row) if c is not ZERO})
    waiting: dict[str, list[int]] = {}
    unknown = [set(row) & outputs for row in rows]
    for k, names in enumerate(unknown):
        for name in names:
            waiting.setdefault(name, []).append(k)
    # Constraints with one unknown are solved, which makes others ready; each is read once.
    ready = [k for k, names in enumerate(unknown) if len(names) == 1]
    found: dict[str, Expression] = {}
    for k in ready:  # grows while it is read
        if not unknown[k]:
            continue
        (name,) = unknown[k]
        factor = rows[k][name]
        # A factor that moves may be zero at the start, and the quotient undefined.
        if not isinstance(factor, Number):
            return None  # it may vanish
        others = [(c, symbol(n)) for n, c in rows[k].items() if n != name]
        found[name] = -total(c * x for c, x in others) / factor
        for other in waiting[name]:
            unknown[other].discard(name)
            if len(unknown[other]) == 1:
                ready.append(other)
    return found if outputs <= found.keys() else None
