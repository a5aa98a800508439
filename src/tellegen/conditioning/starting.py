"""Where a conditioned model starts: every state from what the user said about the model as it was."""

from collections.abc import Mapping, Set
from dataclasses import dataclass, field, replace
from typing import final

from tellegen.conditioning.balance import Balance
from tellegen.conditioning.constrained import Constrained, start_values
from tellegen.conditioning.force_starts import Carried, ForceStarts, nothing_known
from tellegen.conditioning.signals import starting_at
from tellegen.description.model import Model
from tellegen.expressions import ZERO, Expression, Number, number, symbol, total
from tellegen.expressions.entries import substituted

NOTHING: Mapping[str, float] = {}


@final
@dataclass(frozen=True)
class Starts:
    """Initial values of new states by the names of the model as it was, and the names that are no states any more.

    A formula may read the states whose formulas come before it. `forces` are found with numbers, when all others are known.
    """

    formulas: Mapping[str, Expression] = field(default_factory=dict)
    replaced: tuple[str, ...] = ()
    forces: ForceStarts | None = None

    def joined(self, others: "Starts") -> "Starts":
        """These and others."""
        forces = self.forces or others.forces
        return Starts({**self.formulas, **others.formulas}, (*self.replaced, *others.replaced), forces)


def started(
    model: Model,
    found: Constrained,
    starts: Starts,
    given: Mapping[str, float] = NOTHING,
    parameters: Mapping[str, float] = NOTHING,
    inputs: Mapping[str, float] = NOTHING,
    carried: Carried = nothing_known,
) -> Model:
    """The conditioned model with its initial values; `given`, `parameters` and `inputs` come before those that the model has.

    `carried` tells the forces of the rigid model where they have no formula.

    States whose start cannot be told, for want of a number, begin at zero.
    """
    values = {**start_values(_with_parameters(found.model, parameters), given, found.causal), **inputs}
    initial = {n: e for n, e in model.experiment.initial.items() if n not in starts.replaced}
    initial |= {n: number(v) for n, v in given.items() if n not in starts.replaced}
    moving, signals = found.causal.graph.moving, dict(model.signals)
    for name, formula in starts.formulas.items():
        value = _value(substituted(formula, moving), values)
        if value is not None:
            values[name] = value
        if value and name in signals:
            signals[name] = starting_at(signals[name], number(value))
        elif value:
            initial[name] = number(value)
    forces = starts.forces.at(values, carried) if starts.forces is not None else {}
    initial |= {name: number(value) for name, value in forces.items() if value and name not in given}
    return replace(model, signals=signals, experiment=replace(model.experiment, initial=initial))


def _value(formula: Expression, values: Mapping[str, float]) -> float | None:
    """A number, or None where one is missing or the formula has none at this place."""
    if not formula.free_symbols <= values.keys():
        return None
    try:
        return formula.evaluate(values)
    except ArithmeticError:
        return None  # a mechanism whose displacements are found when a run begins


def _with_parameters(model: Model, given: Mapping[str, float]) -> Model:
    changed = {n: replace(p, expression=number(given[n])) if n in given else p for n, p in model.parameters.items()}
    return replace(model, parameters=changed)


def dependent_starts(found: Constrained, balance: Balance) -> Starts:
    """The starts of storages that have states of their own once their constraints are open.

    Along a tree each constraint gives one of them by its neighbours; round loops they follow from the equations of the model.
    """
    outputs = {constraint.output for constraint in found.constraints}
    one_by_one = _along_constraints(balance, outputs)
    if one_by_one is not None:
        return Starts(one_by_one, tuple(outputs))
    return Starts({n: found.written(e) for n, e in found.system.dependent.items() if n in outputs}, tuple(outputs))


def _along_constraints(balance: Balance, outputs: Set[str]) -> dict[str, Expression] | None:
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
    ready = [k for k, names in enumerate(unknown) if len(names) == 1]
    found: dict[str, Expression] = {}
    for k in ready:  # grows while it is read
        if not unknown[k]:
            continue
        (name,) = unknown[k]
        factor = rows[k][name]
        if not isinstance(factor, Number):
            return None  # it may vanish
        others = [(c, symbol(n)) for n, c in rows[k].items() if n != name]
        found[name] = -total(c * x for c, x in others) / factor
        for other in waiting[name]:
            unknown[other].discard(name)
            if len(unknown[other]) == 1:
                ready.append(other)
    return found if outputs <= found.keys() else None
