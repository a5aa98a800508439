"""`analyse`: from a model to its linear analysis in one call, the poles with its controllers among it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tellegen.analysis.linear_model import linear_model
from tellegen.analysis.poles import loop_poles
from tellegen.analysis.steady import steady_state
from tellegen.analysis.summary import Analysis, ClosedLoop, PowerSplit
from tellegen.core.errors import EquationError, SimulationError, TellegenError
from tellegen.core.names import TIME, did_you_mean, listing
from tellegen.core.units import Dimension, parse_unit
from tellegen.equations.derivation import measured_equations
from tellegen.equations.forms.closed_loop import close_loop, following_inputs, hold_signals
from tellegen.equations.forms.linearisation import linearise_equations, linearise_loop
from tellegen.equations.system import EquationSystem, parameter_values
from tellegen.experiments import rules
from tellegen.experiments.initial_values import initial_states
from tellegen.experiments.input_signals import InputSignal
from tellegen.experiments.quantities import Quantity, value_of
from tellegen.experiments.setup import Setup, end_of_experiment, set_up, with_experiment, with_parameters
from tellegen.experiments.steady_state import power_at_rest
from tellegen.graph import PowerGraph, lower
from tellegen.graph.signal_lowering import drive_given_inputs
from tellegen.model.model import Model, input_name
from tellegen.model.signals import Signal
from tellegen.notations.loading import AnyModel, as_model
from tellegen.results.units import variable_units
from tellegen.simulation.problem import Problem
from tellegen.simulation.solvers.stretch import StatePoint
from tellegen.simulation.starting import find_equilibrium


def closed_loop(system: EquationSystem, at: Mapping[str, float]) -> ClosedLoop | None:
    """The closed loop at values of states, controllers, inputs and references (zero where not given); None without controllers.

    Where a sampled controller, a delay or a function leaves no linear model, the poles are None and the reason says it.
    """
    driven = tuple(system.signals.drivers)
    if not driven:
        return None
    try:
        loop = close_loop(system, float(at.get(TIME, 0.0)))
        known = {name: at[name] for name in (*loop.states, *loop.displacements, *loop.inputs) if name in at}
        # With symbols where that is possible; numbers always are.
        linear = linearise_loop(loop, known) or linearise_equations(loop, known)
        return ClosedLoop(driven, loop_poles(linear_model(linear)))
    # An analysis of the plant is worth having though its controller is sampled; the reason is told beside it.
    except TellegenError as error:
        return ClosedLoop(driven, None, error.finding.what)


def _loop_at_rest(ready: Setup, problem: Problem) -> dict[str, float]:
    """The steady state of the model with its controllers, signals included; empty where there is none."""
    found = _observed_at_rest(ready, problem)
    if found is None:
        return {}
    point, observed = found
    numeric = ready.numeric
    signals = {o.name: float(v) for o, v in zip(numeric.observables, observed, strict=True) if o.kind == "signal"}
    return {**signals, **dict(zip(numeric.names, map(float, point.y), strict=True)), TIME: point.t}


def _observed_at_rest(ready: Setup, problem: Problem) -> tuple[StatePoint, NDArray[np.float64]] | None:
    """The steady state, and what is observed there; None where there is none."""
    numeric = ready.numeric
    try:
        found = find_equilibrium(problem)
        context = numeric.new_context(None, dict(ready.inputs))
        return found, numeric.observe(found.t, found.y, np.zeros(numeric.size), context)
    except (SimulationError, FloatingPointError):
        return None


FINE = 1e-10
"""The tolerance of a steady state."""


def analyse(
    model: AnyModel,
    *,
    at: Mapping[str, Quantity] | None = None,
    inputs: Mapping[str, Quantity] | None = None,
    parameters: Mapping[str, Quantity] | None = None,
    outputs: Iterable[str] | None = None,
) -> Analysis:
    """Poles, zeros, responses and the split of power of a model.

    A nonlinear model is linearised: at the point that `at` gives (states and displacements; what is not given is zero), else at the
    steady state under the inputs. Inputs are those of the experiment after all its steps and ramps, unless `inputs` gives others.

    Sources that signals drive count as inputs; `closed_loop` of the result has the poles with the controllers. `outputs` names
    what is measured beside the outputs that are conjugate to the inputs; without it, what the detectors of the model read.

    Raises: EquationError when there is no steady state (E201) or no such point; SimulationError (S302) for an unknown name.
    """
    described = as_model(model)
    follows = following_inputs(described, inputs or {})

    def prepared(found: PowerGraph) -> PowerGraph:
        return drive_given_inputs(with_parameters(found, described, parameters or {}), follows)

    # The same graph twice: with names for what is measured, and without for units and starts.
    graph = prepared(lower(described))
    system = measured_equations(described, outputs, prepared)
    values = parameter_values(graph.parameters)
    held = _inputs(system, described, inputs or {}, values, variable_units(graph))
    if at is not None:
        _check_names(at, (*system.states, *system.displacements), f"a state of '{system.name}'", "states")
        units = variable_units(graph)
        point = {name: value_of(v, _dimension(units, name), f"the value of {name}", values) for name, v in at.items()}
        there = {**point, **held}
        plain = hold_signals(system, there)
        return Analysis(linear_model(plain, there), units, closed_loop=closed_loop(system, there), modes=graph.mode)
    start = initial_states(graph, described, described.experiment.initial, values)
    ready = _with_held_inputs(described, held, start, parameters or {}, follows)
    # At the end of the experiment steps and ramps are over, so what they hold is constant.
    plain = hold_signals(system, {TIME: end_of_experiment(described, values)})
    # A linear model has the same matrices everywhere.
    rest = {**start, **held} if plain.linear else _rest(plain, held, start, ready)
    power = _steady_power(ready, rest)
    loop = None
    if system.signals.drivers:
        loop = closed_loop(system, {**rest, **_loop_at_rest(ready, _problem(ready, rest))})
    return Analysis(linear_model(plain, rest), variable_units(graph), power, loop, graph.mode)


def _inputs(
    system: EquationSystem,
    model: Model,
    given: Mapping[str, Quantity],
    values: Mapping[str, float],
    units: Mapping[str, str],
) -> dict[str, float]:
    """The constant value of each input: the one given, else that of the experiment in the end."""
    _check_names(given, system.inputs, f"an input of '{system.name}'", "inputs")
    found = {name: _in_the_end(signal, model, values) for name, signal in model.experiment.inputs.items()}
    found |= {name: value_of(v, _dimension(units, name), f"the input {name}", values) for name, v in given.items()}
    return {name: found.get(name, 0.0) for name in system.inputs}


def _dimension(units: Mapping[str, str], name: str) -> Dimension | None:
    return parse_unit(units[name]).dimension if units.get(name) else None


def _in_the_end(signal: Signal, model: Model, values: Mapping[str, float]) -> float:
    """What a shape has come to at the end of the experiment; of a sine, what it swings about."""
    # A steady state swings about the offset.
    if signal.shape == "sine":
        return signal.arguments[3].evaluate(values) if len(signal.arguments) > 3 else 0.0
    if signal.shape == "chirp" or signal.expression is None:
        return 0.0
    known = {**values, TIME: end_of_experiment(model, values)}
    return signal.expression.evaluate(known) if signal.expression.free_symbols <= known.keys() else 0.0


def _with_held_inputs(
    model: Model,
    held: Mapping[str, float],
    start: Mapping[str, float],
    parameters: Mapping[str, Quantity],
    follows: Mapping[str, Signal],
) -> Setup:
    """The model compiled with constant inputs, but for those that follow signals of the model."""
    free: dict[str, InputSignal] = {
        name: held[name] for name in model.inputs if name in held and not _is_driven(model, name)
    }
    free |= follows
    without = with_experiment(model, replace(model.experiment, inputs={}, initial={}))
    return set_up(without, until=1.0, inputs=free, initial=start, parameters=parameters)


def _rest(
    system: EquationSystem, held: Mapping[str, float], start: Mapping[str, float], ready: Setup
) -> dict[str, float]:
    """The steady state by Newton's method; where that fails, by following the motion until it has died away."""
    try:
        return steady_state(system, held, start)
    # Newton's method finds nothing where slopes vanish; a motion still ends somewhere.
    except EquationError:
        try:
            found = find_equilibrium(_problem(ready, start)).y
        except SimulationError:
            found = None
        if found is None:
            raise
    return {**held, **dict(zip(ready.numeric.names, map(float, found), strict=True))}


def _problem(ready: Setup, start: Mapping[str, float]) -> Problem:
    known = {name: start[name] for name in ready.numeric.names if name in start}
    t0 = end_of_experiment(ready.model, ready.parameters)
    return Problem(ready.numeric, t0 + 1.0, t0, y0=known, inputs=dict(ready.inputs), rtol=FINE)


def _steady_power(ready: Setup, rest: Mapping[str, float]) -> PowerSplit | None:
    """The powers of all elements in steady state; None where there is none."""
    found = _observed_at_rest(ready, _problem(ready, rest))
    return None if found is None else power_at_rest(ready.graph, ready.numeric, lambda k: float(found[1][k]))


def _is_driven(model: Model, name: str) -> bool:
    return any(e.signal is not None and input_name(e) == name for e in model.elements if e.kind.role == "source")


def _check_names(given: Mapping[str, object], known: Sequence[str], what: str, word: str) -> None:
    for name in given:
        if name not in known:
            fix = did_you_mean(name, known) or f"the {word} are {listing(known, 20)}"
            raise rules.NO_SUCH_SETTING.error(f"'{name}' is not {what}", fix=fix)
