"""The state in which a run through several modes begins."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from tellegen.core.names import did_you_mean, listing
from tellegen.simulation import rules
from tellegen.simulation.mode_models import HybridState, ModeModel, ModeModels
from tellegen.simulation.problem import Problem

Array = NDArray[np.float64]


def starting_state(models: ModeModels, initial: Mapping[str, float], t0: float) -> HybridState:
    """The state at t0: what is given, else what the elements say, else what follows in the first mode, else zero.

    Raises: SimulationError (S116) for a name that is no variable in any mode.
    """
    storages, graph = models.storages, models.graph
    outputs = np.zeros(len(storages.ports))
    given = np.zeros(len(storages.ports), dtype=bool)
    for i, k in enumerate(storages.ports):
        port = graph.ports[k]
        if port.state in initial:
            outputs[i], given[i] = initial[port.state], True
        elif port.initial is not None:
            outputs[i], given[i] = port.initial.evaluate(storages.parameters), True
    displacements = {name: float(initial.get(name, 0.0)) for name in graph.displacements}
    state = HybridState(outputs, displacements, {}, {}, {})
    model = models.get(models.start)
    if isinstance(model, ModeModel):
        known = {**model.model.initial, **initial}
        state.signals = {name: float(known.get(name, 0.0)) for name in model.model.signal_states}
        held = dict(zip(model.model.memory, map(float, model.model.initial_memory), strict=True))
        state.memory = {name: models.before.get(name, value) for name, value in held.items()}
        _follow(model, state, given, t0)
    names = {graph.ports[k].state for k in storages.ports}
    _check_names(initial, names | displacements.keys() | state.signals.keys(), graph.name)
    return state


def _follow(model: ModeModel, state: HybridState, given: NDArray[np.bool_], t0: float) -> None:
    """Dependent storages about which nothing is said start where the first mode tells them."""
    y = model.compose(state)
    try:
        told = model.outputs(t0, y, np.zeros(len(y)))
    except FloatingPointError:
        return
    state.outputs[~given] = told[~given]


def _check_names(initial: Mapping[str, float], known: set[str], where: str) -> None:
    for name in initial:
        if name not in known:
            fix = did_you_mean(name, known) or f"the variables are {listing(sorted(known))}"
            what = f"an initial value is given for '{name}', which is not a variable of the model"
            raise rules.NO_SUCH_VARIABLE.error(what, where=where, fix=fix)


def initial_values(problem: Problem) -> dict[str, float]:
    """The initial values of a problem that are given, by name."""
    if problem.y0 is None:
        return {}
    if isinstance(problem.y0, Mapping):
        return dict(problem.y0)
    return dict(zip(problem.model.names, map(float, problem.y0), strict=True))


def named_values(values: Mapping[str, float] | Array | None, names: tuple[str, ...]) -> dict[str, float]:
    """Values by name, however they are given."""
    if values is None:
        return {}
    return dict(values) if isinstance(values, Mapping) else dict(zip(names, map(float, values), strict=True))
