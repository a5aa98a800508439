"""`sensitivities`: how the variables of a run change with parameters, integrated beside them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, final

import numpy as np
import numpy.typing as npt

from tellegen.causality import CausalGraph, assign_causality
from tellegen.compiler.compiling import compile_model
from tellegen.compiler.numeric_model import NumericModel
from tellegen.core.errors import SimulationError
from tellegen.core.names import did_you_mean, listing
from tellegen.equations.start import solved_at_start
from tellegen.equations.system import parameter_values
from tellegen.experiments import rules, setup
from tellegen.experiments.initial_values import independent_start, initial_states
from tellegen.experiments.input_signals import InputSignal, with_input_signals
from tellegen.experiments.quantities import Quantity
from tellegen.experiments.simulating import DEFAULT_RTOL
from tellegen.experiments.steady_state import FINE
from tellegen.expressions import Expression, number
from tellegen.graph import PowerGraph, drive, lower
from tellegen.model.model import Model, Start
from tellegen.notations.loading import AnyModel, as_model
from tellegen.results.records import column
from tellegen.results.units import variable_units
from tellegen.simulation import sensitivity_jumps
from tellegen.simulation.global_error import has_memory
from tellegen.simulation.hybrid.sensitivities import integrate_mode_sensitivities
from tellegen.simulation.problem import DEFAULT_ROWS, Problem
from tellegen.simulation.sensitivities import (
    DelaySlopes,
    SensitivityRows,
    integrate_sensitivities,
    observable_slopes,
)
from tellegen.simulation.starting import find_equilibrium

if TYPE_CHECKING:
    import xarray

Array = npt.NDArray[np.float64]


def sensitivities(
    model: AnyModel,
    parameters: Sequence[str],
    until: Quantity | None = None,
    *,
    inputs: Mapping[str, InputSignal] | None = None,
    initial: Mapping[str, Quantity] | None = None,
    values: Mapping[str, Quantity] | None = None,
    outputs: Sequence[str] = (),
    solver: str = "auto",
    rtol: float = DEFAULT_RTOL,
    times: npt.ArrayLike | None = None,
) -> "xarray.Dataset":
    """How the variables of a run change with parameters: d(variable)/d(parameter) over time, in SI units.

    One array a variable, over `t` and `parameter`: states, displacements and signal states, and what `outputs` names beside them,
    any power variable, signal or output, `power.R`, `energy.C`. Parameters, inputs, initial values and times of steps that
    follow from a parameter change with it; where the mode changes, the instant moves with the parameter and the sensitivities jump.
    `values` gives parameters other values. What is not given is taken from the experiment of the model.

    >>> import tellegen as tg
    >>> slopes = tg.sensitivities("rlc", ["R", "C"], until=0.01, outputs=["power.R"])
    >>> slopes["V_C"].dims
    ('t', 'parameter')

    Raises: SimulationError for a name that is no parameter (S302) or no variable (S176), or an event that only
    grazes its limit (S175).
    """
    described = as_model(model)
    made = sensitivity_runs(
        described,
        parameters,
        until,
        inputs=inputs,
        initial=initial,
        values=values,
        outputs=outputs,
        solver=solver,
        rtol=rtol,
    )
    found = made.rows(None if times is None else np.asarray(times, dtype=float))
    return _labelled(made.graph, found.t, made.names, parameters, found.slopes)


class SlopeRows(NamedTuple):
    """Variables and their slopes at times: by row and name, and by row, name and parameter."""

    t: Array
    values: Array
    slopes: Array


@final
@dataclass(frozen=True)
class SensitivityRuns:
    """A model ready to be integrated with the slopes of some variables along some parameters, again and again for other values."""

    described: Model
    graph: PowerGraph
    causal: CausalGraph
    parameters: tuple[str, ...]
    names: tuple[str, ...]
    given: Mapping[str, Quantity | Expression]
    duration: float
    solver: str
    rtol: float
    start: Start = "initial"

    def with_values(self, values: Mapping[str, float]) -> "SensitivityRuns":
        """The same with other numbers for its parameters."""
        numbers = {name: number(value) for name, value in values.items()}
        parameters = {**self.graph.parameters, **numbers}
        # Causality may have turned laws that hold in no other way: its graph is another one.
        causal = replace(self.causal, graph=replace(self.causal.graph, parameters=parameters))
        return replace(self, graph=replace(self.graph, parameters=parameters), causal=causal)

    def rows(self, times: Array | None = None) -> SlopeRows:
        """The variables at times, with their slopes.

        Raises: SimulationError where the run does not reach its end, or an event only grazes its limit (S175).
        """
        graph, causal, parameters = self.graph, self.causal, self.parameters
        numeric, known = compile_model(causal), parameter_values(graph.parameters)
        if self.start == "steady" and (graph.switching or has_memory(numeric)):
            what = f"'{graph.name}' begins in the steady state, and has modes or signals that are sampled or delayed"
            fix = "give the initial values and 'start: initial', or compare runs with other values"
            raise rules.SLOPES_FROM_REST.error(what, fix=fix)

        def starts(name: str, value: float) -> dict[str, float]:
            """The initial values where a parameter has another value."""
            values = parameter_values({**graph.parameters, name: number(value)})
            found = initial_states(graph, self.described, self.given, values)
            if graph.switching:
                return found
            said = {**setup.initial_values_of_dependents(causal, values), **found}
            begun = independent_start(said, causal, numeric, {})
            if self.start == "initial":
                return begun
            near = Problem(numeric, self.duration, y0=begun, rtol=FINE, parameters=values)
            return dict(zip(numeric.names, find_equilibrium(near).y.tolist(), strict=True))

        problem = Problem(
            numeric,
            self.duration,
            y0=starts(parameters[0], known[parameters[0]]),
            times=DEFAULT_ROWS if times is None else times,
            solver=self.solver,
            rtol=self.rtol,
            max_step=setup.longest_input_step(graph, known, self.duration),
        )
        moving, delays = (
            sensitivity_jumps.parameter_dependent_breaks(graph, parameters),
            sensitivity_jumps.delay_slopes(graph, parameters),
        )
        if graph.switching:
            parts = integrate_mode_sensitivities(graph, problem, parameters, starts, moving, delays)
        else:
            parts = [_one_mode(problem, parameters, starts, known, moving, delays)]
        told = [_by_name(part, parameters, self.names) for part in parts]
        t, values, slopes = (np.concatenate(found) for found in ([p.t for p in parts], *zip(*told, strict=True)))
        return SlopeRows(t, values, slopes)


def sensitivity_runs(
    described: Model,
    parameters: Sequence[str],
    until: Quantity | None = None,
    *,
    inputs: Mapping[str, InputSignal] | None = None,
    initial: Mapping[str, Quantity | Expression] | None = None,
    values: Mapping[str, Quantity] | None = None,
    outputs: Sequence[str] = (),
    solver: str = "auto",
    rtol: float = DEFAULT_RTOL,
    further: Mapping[str, float] | None = None,
    start: Start | None = None,
) -> SensitivityRuns:
    """The model ready for slopes along parameters. `further` are parameters that the model does not have, for inputs and initial
    values to read.

    Raises: SimulationError for a name that is no parameter (S302) or no variable (S176).
    """
    graph = setup.with_parameters(lower(described), described, values or {})
    graph = replace(graph, parameters={**graph.parameters, **{name: number(v) for name, v in (further or {}).items()}})
    _check_names(graph, parameters)
    graph, courses = with_input_signals(graph, {**described.experiment.inputs, **(inputs or {})})
    graph = drive(graph, courses)  # constant inputs too: they may follow from a parameter
    known = parameter_values(graph.parameters)
    given: Mapping[str, Quantity | Expression] = {
        **solved_at_start(graph, described),
        **described.experiment.initial,
        **(initial or {}),
    }
    duration = setup.duration_of(described, until, known)
    graph = setup.soften_laws(graph, known, initial_states(graph, described, given, known), {}, duration, rtol)
    causal = assign_causality(graph)
    names = _shown(graph, compile_model(causal), outputs)
    return SensitivityRuns(
        described=described,
        graph=graph,
        causal=causal,
        parameters=tuple(parameters),
        names=tuple(names),
        given=given,
        duration=duration,
        solver=solver,
        rtol=rtol,
        start=start or described.experiment.start,
    )


def _one_mode(
    problem: Problem,
    parameters: Sequence[str],
    starts: Callable[[str, float], Mapping[str, float]],
    known: Mapping[str, float],
    moving: sensitivity_jumps.ParameterDependentBreaks,
    delays: DelaySlopes,
) -> SensitivityRows:
    variables = problem.model.names
    slopes = [_start_slope(starts, variables, name, known.get(name, 0.0)) for name in parameters]
    made, part = integrate_sensitivities(
        problem, parameters, start_slopes=np.column_stack(slopes), moving=moving, delays=delays
    )
    if made.status == "failed":
        assert made.finding is not None, "a run that fails says why"
        raise SimulationError(made.finding)
    return part


def _shown(graph: PowerGraph, numeric: NumericModel, outputs: Sequence[str]) -> list[str]:
    """The variables of the result.

    Raises: SimulationError (S176) for an output that the model does not have.
    """
    modes = (graph.ports[k].state for k in graph.storages()) if graph.switching else ()
    always = dict.fromkeys((*modes, *numeric.names))
    if graph.switching:  # the unknowns of one mode are none of another
        always = dict.fromkeys(name for name in always if name not in numeric.unknowns)
    observed = [o.name for o in numeric.observables]
    for name in outputs:
        if name not in observed and name not in always:
            fix = did_you_mean(name, [*always, *observed]) or f"some are {listing(observed, 12)}"
            raise rules.NO_SUCH_OUTPUT.error(f"'{name}' is not a variable of '{graph.name}'", fix=fix)
    return list(dict.fromkeys((*always, *outputs)))


def _by_name(part: SensitivityRows, parameters: Sequence[str], names: Sequence[str]) -> tuple[Array, Array]:
    """The variables asked for and their slopes, by row and variable, and by row, variable and parameter."""
    own = {name: k for k, name in enumerate(part.model.names)}
    observed = {o.name: k for k, o in enumerate(part.model.observables)}
    told, others = (None, None) if own.keys() >= set(names) else observable_slopes(part, parameters)
    values, found = np.empty((len(part.t), len(names))), np.empty((len(part.t), len(names), len(parameters)))
    for k, name in enumerate(names):
        if name in own:
            values[:, k], found[:, k] = part.y[:, own[name]], part.slopes[:, own[name]]
        else:
            assert told is not None, "something is not a variable"
            assert others is not None, "they come together"
            values[:, k], found[:, k] = told[:, observed[name]], others[:, observed[name]]
    return values, found


def _check_names(graph: PowerGraph, parameters: Sequence[str]) -> None:
    for name in parameters:
        if name not in graph.parameters:
            fix = did_you_mean(name, graph.parameters) or f"the parameters are {listing(graph.parameters, 20)}"
            raise rules.NO_SUCH_SETTING.error(f"'{name}' is not a parameter of '{graph.name}'", fix=fix)
        value = graph.parameters[name]
        if value is not None and value.free_symbols:
            what = f"'{name}' follows from {listing(sorted(value.free_symbols))}"
            raise rules.NO_SUCH_SETTING.error(what, fix=f"ask for these, or give '{name}' a value of its own")
    if not parameters:
        raise rules.NO_SUCH_SETTING.error("no parameter is asked for", fix=f"some are {listing(graph.parameters, 12)}")


def _start_slope(
    starts: Callable[[str, float], Mapping[str, float]], variables: Sequence[str], name: str, value: float
) -> Array:
    """How the initial values change with a parameter, by central differences."""
    # The start may be found by Newton's method, of which there is no formula to differentiate.
    step = sensitivity_jumps.difference_step(value)
    up, down = (starts(name, value + by) for by in (step, -step))
    return np.array([(up.get(v, 0.0) - down.get(v, 0.0)) / (2.0 * step) for v in variables])


def _labelled(
    graph: PowerGraph, t: Array, names: Sequence[str], parameters: Sequence[str], found: Array
) -> "xarray.Dataset":
    import xarray  # noqa: PLC0415  heavy, and only needed by who asks for it

    units = variable_units(graph)
    arrays = {
        column(name): (
            ("t", "parameter"),
            found[:, k, :],
            {"units": f"{units.get(name, '') or '1'} per unit of the parameter", "long_name": name},
        )
        for k, name in enumerate(names)
    }
    times = ("t", t, {"units": "s", "long_name": "time"})
    return xarray.Dataset(arrays, coords={"t": times, "parameter": list(parameters)}, attrs={"title": graph.name})
