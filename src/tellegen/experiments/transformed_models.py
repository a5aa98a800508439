"""Runs of conditioned and reduced models: starts by the names of the model as it was, and removed variables."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np
from numpy.typing import NDArray

from tellegen.conditioning.forms import Conditioned
from tellegen.core.names import TIME
from tellegen.equations.system import parameter_values
from tellegen.experiments.initial_values import initial_states
from tellegen.experiments.input_signals import InputSignal, with_input_signals
from tellegen.experiments.quantities import Quantity
from tellegen.experiments.setup import with_parameters
from tellegen.expressions import ZERO, Expression
from tellegen.expressions.elimination import used_names
from tellegen.graph import PowerGraph, lower
from tellegen.model.model import Model
from tellegen.model.signals import Signal
from tellegen.reduction import Reduction
from tellegen.results.run import Run
from tellegen.results.units import variable_units


def model_at_start(
    conditioned: Conditioned,
    initial: Mapping[str, Quantity] | None,
    parameters: Mapping[str, Quantity] | None,
    inputs: Mapping[str, InputSignal] | None,
    forces_of: Callable[[Conditioned], Mapping[str, float]],
) -> Model:
    """The conditioned model with every state at the start that the given values make.

    `forces_of` gives what the constraints of a rigid model carry there: parasitic springs begin so where no formula tells.

    Raises: SimulationError for a name or a value that cannot be used.
    """
    base = conditioned.base
    own = {name: value for name, value in (parameters or {}).items() if name in base.parameters}
    graph = with_parameters(lower(base), base, own)
    values = parameter_values(graph.parameters)
    given = {**(base.experiment.initial if base.closures else {}), **(initial or {})}
    starts = initial_states(graph, base, given, values)
    first = _first_values(graph, inputs or {}, values)
    return conditioned.begun(starts, values, first, lambda: forces_of(conditioned.rigid()))


def _first_values(
    graph: PowerGraph, inputs: Mapping[str, InputSignal], values: Mapping[str, float]
) -> dict[str, float]:
    """What inputs are at t = 0, as far as that follows from numbers."""
    known = {TIME: 0.0, **values}
    found: dict[str, float] = {}
    for name, signal in with_input_signals(graph, inputs)[1].items():
        formula = signal.expression if isinstance(signal, Signal) else signal
        if isinstance(formula, float):
            found[name] = formula
        elif formula is not None and formula.free_symbols <= known.keys():
            found[name] = formula.evaluate(known)
    functions = {name: given for name, given in inputs.items() if callable(given)}
    return found | {name: float(function(0.0)) for name, function in functions.items()}


Array = NDArray[np.float64]


@final
@dataclass(frozen=True)
class RemovedVariables:
    """The variables that a reduction removed, for the runs of its model."""

    reduction: Reduction

    @cached_property
    def units(self) -> Mapping[str, str]:
        """The variables that a formula gives, with their SI units."""
        of_full = variable_units(self.reduction.causal.graph)
        return {name: of_full.get(name, "") for name in self.reduction.recovered}

    def values(self, run: Run, names: Sequence[str]) -> Mapping[str, Array]:
        """Their numbers along a run."""
        return recovered_variables(self.reduction, run, names)


def recovered_variables(reduction: Reduction, run: Run, names: Iterable[str]) -> dict[str, Array]:
    """Variables of `reduction.recovered` along a run of the reduced model.

    Rates of inputs are differences over the rows. A variable whose formula holds something that the run has not is left out.
    """
    wanted = {name: reduction.recovered[name] for name in names if name in reduction.recovered}
    where = {**reduction.equations.where, **reduction.where}
    # Formulas of what was removed may read names of the reduction; only those that count are evaluated.
    needed = used_names(wanted.values(), where)
    defined = {name: e for name, e in where.items() if name in needed}
    free = {n for e in (*wanted.values(), *defined.values()) for n in e.free_symbols} - defined.keys()
    moving = {name: run.values(name) for name in free if name not in run.parameters and name in run}
    for rate, name in reduction.input_rates.items():
        if rate in free:
            moving[rate] = np.gradient(run.values(name), run.t)
    known = dict(moving)
    constants: dict[str, float] = dict(run.parameters)
    found: dict[str, Array] = {}
    for name, e in {**defined, **wanted}.items():
        if not e.free_symbols <= {*constants, *known}:
            continue
        # Constant along the run, so evaluated once.
        if known.keys().isdisjoint(e.free_symbols) and name in defined:
            constants[name] = e.evaluate(constants)
            continue
        values = _values_along(e, constants, known, len(run.t))
        if name in defined:
            known[name] = values
        else:
            found[name] = values
    return {name: values for name, values in found.items() if np.isfinite(values).all()}


def _values_along(e: Expression, constants: Mapping[str, float], known: Mapping[str, Array], rows: int) -> Array:
    """An expression along the rows: at once where it is linear in what moves, as most constraint forces are."""
    names = sorted(e.free_symbols & known.keys())
    slopes = {name: e.derivative(name) for name in names}
    # Linear in what moves: one product of arrays in place of a formula at each row.
    if all(known.keys().isdisjoint(slope.free_symbols) for slope in slopes.values()):
        values = np.full(rows, e.substitute(dict.fromkeys(names, ZERO)).evaluate(constants))
        for name, slope in slopes.items():
            values += slope.evaluate(constants) * known[name]
        return values
    moments = ({**constants, **{n: float(known[n][row]) for n in names}} for row in range(rows))
    return np.array([e.evaluate(values) for values in moments])
