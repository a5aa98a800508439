"""Everything before the first step: a model with its parameters, inputs and start becomes a problem for a solver."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import final

from tellegen.causality import CausalGraph, assign_causality
from tellegen.compiler.compiling import compile_model
from tellegen.compiler.numeric_model import NumericModel
from tellegen.core.errors import DescriptionError, Finding
from tellegen.core.names import did_you_mean, listing
from tellegen.description import Model
from tellegen.description.files import without_collector
from tellegen.description.values import check_physics
from tellegen.equations.system import parameter_values
from tellegen.experiments import rules
from tellegen.experiments.courses import Course, with_courses
from tellegen.experiments.following_starts import own_start
from tellegen.experiments.initial_values import initial_states
from tellegen.experiments.positions import with_drift_control
from tellegen.experiments.quantities import SECOND, Quantity, computed, expression_of, value_of
from tellegen.experiments.softening import soften
from tellegen.expressions import Expression
from tellegen.graph import PowerGraph, SourceLaw, drive, lower
from tellegen.graph.switching import put_into_mode

FAR = 1e9
"""A time, in s, at which all steps and ramps are over where the experiment does not say how long it takes."""


@final
@dataclass(frozen=True)
class Setup:
    """A model ready to be simulated, and how long that took.

    `inputs` are those that stay constant, with their values; the others are in the program.
    """

    model: Model
    causal: CausalGraph
    numeric: NumericModel
    parameters: Mapping[str, float]
    inputs: Mapping[str, float]
    start: Mapping[str, float]
    until: float
    seconds: float = 0.0
    doubts: tuple[Finding, ...] = ()
    """Warnings about the values given to parameters."""

    @property
    def graph(self) -> PowerGraph:
        """The graph with its inputs driven."""
        return self.causal.graph


def set_up(
    model: Model,
    *,
    until: Quantity | None = None,
    inputs: Mapping[str, Course] | None = None,
    initial: Mapping[str, Quantity] | None = None,
    parameters: Mapping[str, Quantity] | None = None,
    mode: Mapping[str, str] | None = None,
    rtol: float | None = None,
) -> Setup:
    """The model compiled, with what is given taken before what its experiment says.

    Changing a parameter, an initial value or a constant input compiles nothing again. With `rtol`, laws that are infinitely steep
    at zero are softened within that tolerance.

    Raises: SimulationError for a name or a value that cannot be used, and errors of the layers in between.
    """
    began = time.perf_counter()
    with without_collector():
        graph = with_parameters(lower(model), model, parameters or {})
        values = parameter_values(graph.parameters)
        doubts = _doubts_about(model, values) if parameters else ()
        graph, courses = with_courses(graph, {**model.experiment.inputs, **(inputs or {})})
        graph, constants = _without_constants(drive(graph, courses), values)
        graph = with_drift_control(put_into_mode(graph, mode or {}), model.closures)
        start = initial_states(graph, model, {**model.experiment.initial, **(initial or {})}, values)
        duration = duration_of(model, until, values)
        if rtol is not None:
            graph = soften(graph, values, start, constants, duration, rtol)
        causal = assign_causality(graph)
        numeric = compile_model(causal)
    if not graph.switching:  # with modes, a storage that follows others now may be a state later
        start = own_start({**told_by_followers(causal, values), **start}, causal, numeric, constants)
    return Setup(model, causal, numeric, values, constants, start, duration, time.perf_counter() - began, doubts)


def told_by_followers(causal: CausalGraph, values: Mapping[str, float]) -> dict[str, float]:
    """The initial values that storages give themselves although others decide them."""
    followers = [causal.graph.ports[d.port] for d in causal.dependent]
    return {port.state: port.initial.evaluate(values) for port in followers if port.initial is not None}


def with_parameters(graph: PowerGraph, model: Model, given: Mapping[str, Quantity]) -> PowerGraph:
    """The graph with other values of parameters; those that follow from them change too.

    Raises: SimulationError for a name that is no parameter (S302), or a value that cannot be used (S303).
    """
    if not given:
        return graph
    changed: dict[str, Expression | None] = dict(graph.parameters)
    for name, value in given.items():
        if name in graph.moving:
            what = f"'{name}' follows the motion, so it has no value to set"
            raise rules.NO_SUCH_SETTING.error(what, fix=f"set what it is made of: {listing(_base(graph, name))}")
        if name not in changed:
            fix = did_you_mean(name, changed) or f"the parameters are {listing(changed, 20)}"
            raise rules.NO_SUCH_SETTING.error(f"'{name}' is not a parameter of '{graph.name}'", fix=fix)
        if name in model.counts:
            what = f"'{name}' decided how many elements '{graph.name}' has, so a run cannot change it"
            raise rules.NO_SUCH_SETTING.error(what, fix=f"change '{name}' in the file of the model")
        changed[name] = expression = expression_of(value, model.parameters[name].dimension, f"the parameter {name}")
        unknown = sorted(expression.free_symbols - changed.keys())
        if unknown:
            fix = did_you_mean(unknown[0], changed) or "give a finite number, or a text with a unit such as '4.7 mH'"
            raise rules.BAD_SETTING.error(f"the parameter {name} uses '{unknown[0]}', which is no parameter", fix=fix)
    return replace(graph, parameters=changed)


def _doubts_about(model: Model, values: Mapping[str, float]) -> tuple[Finding, ...]:
    """Warnings about elements that the values given make active.

    Raises: DescriptionError where a storage would be negative or empty.
    """
    errors, warnings = check_physics(model.elements, values)
    if errors:
        raise DescriptionError(errors)
    return tuple(warnings)


def _base(graph: PowerGraph, name: str) -> list[str]:
    return sorted(graph.moving[name].free_symbols & graph.parameters.keys())


def _without_constants(graph: PowerGraph, values: Mapping[str, float]) -> tuple[PowerGraph, dict[str, float]]:
    """The graph with constant inputs left to the solver, so that another constant needs no other program."""
    constants: dict[str, float] = {}
    ports = list(graph.ports)
    for k, port in enumerate(ports):
        if (
            isinstance(port.law, SourceLaw)
            and port.law.signal is not None
            and port.law.signal.free_symbols <= values.keys()
        ):
            constants[port.law.input] = computed(port.law.signal, values, f"the input {port.law.input}")
            ports[k] = replace(port, law=replace(port.law, signal=None))
    return replace(graph, ports=tuple(ports)), constants


def duration_of(model: Model, until: Quantity | None, values: Mapping[str, float]) -> float:
    """How long to run: the time given, else that of the experiment.

    Raises: SimulationError (S301) where neither says so.
    """
    if until is None and model.experiment.until is None:
        raise rules.NO_DURATION.error(
            f"nothing says how long to run '{model.name}'",
            where=model.name,
            fix="give a time, as until=2 or --until 2, or write 'experiment: {until: 2 s}'",
        )
    if until is None:
        assert model.experiment.until is not None, "one of the two is there"
        return model.experiment.until.evaluate(values)
    return value_of(until, SECOND, "the duration", values)


def end_of(model: Model, values: Mapping[str, float]) -> float:
    """The time at which signals have come to what they hold: the end of the experiment."""
    return model.experiment.until.evaluate(values) if model.experiment.until is not None else FAR
