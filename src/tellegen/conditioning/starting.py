"""Where a conditioned model starts: every state from what the user said about the model as it was."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import final

from tellegen.conditioning.constrained import Constrained, start_values
from tellegen.description.model import Model
from tellegen.expressions import Expression, number
from tellegen.expressions.entries import substituted


@final
@dataclass(frozen=True)
class Starts:
    """Initial values of new states by the names of the model as it was, and the names that are no states any more."""

    formulas: Mapping[str, Expression] = field(default_factory=dict)
    replaced: tuple[str, ...] = ()


def started(
    model: Model, found: Constrained, starts: Starts, given: Mapping[str, float], parameters: Mapping[str, float]
) -> Model:
    """The conditioned model with its initial values; `given` and `parameters` come before those that the model has.

    States whose start cannot be told, for want of a number, begin at zero.
    """
    values = {**start_values(_with_parameters(found.model, parameters), given, found.system)}
    initial = {n: e for n, e in model.experiment.initial.items() if n not in starts.replaced}
    initial |= {n: number(v) for n, v in given.items() if n not in starts.replaced}
    moving = found.causal.graph.moving
    for name, formula in starts.formulas.items():
        value = _value(substituted(formula, moving), values)
        if value:
            initial[name] = number(value)
    return replace(model, experiment=replace(model.experiment, initial=initial))


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


def dependent_starts(found: Constrained) -> Starts:
    """The starts of storages that have states of their own once their constraints are open."""
    outputs = {constraint.output for constraint in found.constraints}
    return Starts({n: found.written(e) for n, e in found.system.dependent.items() if n in outputs}, tuple(outputs))
