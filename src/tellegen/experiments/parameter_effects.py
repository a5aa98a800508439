"""`sensitivities`: how the variables of a run change with parameters, integrated beside them."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tellegen.causality import assign_causality
from tellegen.compiler.compiling import compile_model
from tellegen.core.errors import SimulationError
from tellegen.core.names import did_you_mean, listing
from tellegen.description import Model
from tellegen.description.opening import AnyModel, as_model
from tellegen.equations.system import parameter_values
from tellegen.experiments import rules
from tellegen.experiments.courses import Course, with_courses
from tellegen.experiments.initial_values import initial_states
from tellegen.experiments.quantities import Quantity
from tellegen.experiments.setting_up import duration_of, with_parameters
from tellegen.experiments.simulating import DEFAULT_RTOL
from tellegen.expressions import Expression, number
from tellegen.graph import PowerGraph, drive, lower
from tellegen.results.labelling import column
from tellegen.results.units import variable_units
from tellegen.simulation.problem import DEFAULT_ROWS, Problem
from tellegen.simulation.sensitivities import integrate_sensitivities

if TYPE_CHECKING:
    import xarray

Array = npt.NDArray[np.float64]

NUDGE = 6e-6
"""Of central differences of initial values: the cube root of the rounding unit."""


def sensitivities(
    model: AnyModel,
    parameters: Sequence[str],
    until: Quantity | None = None,
    *,
    inputs: Mapping[str, Course] | None = None,
    initial: Mapping[str, Quantity] | None = None,
    values: Mapping[str, Quantity] | None = None,
    solver: str = "auto",
    rtol: float = DEFAULT_RTOL,
    times: npt.ArrayLike | None = None,
) -> "xarray.Dataset":
    """How states, displacements and signal states change with parameters: d(variable)/d(parameter) over time, in SI units.

    One array a variable, over `t` and `parameter`. Parameters, inputs and initial values that follow from a parameter change with
    it. `values` gives parameters other values. What is not given is taken from the experiment of the model.

    >>> import tellegen as tg
    >>> slopes = tg.sensitivities("rlc", ["R", "C"], until=0.01)
    >>> slopes["V_C"].dims
    ('t', 'parameter')

    Raises: SimulationError for a name that is no parameter (S302), or a model that changes its mode (S126).
    """
    described = as_model(model)
    graph = with_parameters(lower(described), described, values or {})
    _check_names(graph, parameters)
    graph, courses = with_courses(graph, {**described.experiment.inputs, **(inputs or {})})
    graph = drive(graph, courses)  # constant inputs too: they may follow from a parameter
    numeric = compile_model(assign_causality(graph))
    known = parameter_values(graph.parameters)
    given: Mapping[str, Quantity | Expression] = {**described.experiment.initial, **(initial or {})}
    problem = Problem(
        numeric,
        duration_of(described, until, known),
        y0=_own(initial_states(graph, described, given, known), numeric.names),
        times=DEFAULT_ROWS if times is None else np.asarray(times, dtype=float),
        solver=solver,
        rtol=rtol,
    )
    slopes = [_start_slope(graph, described, given, numeric.names, name) for name in parameters]
    made = integrate_sensitivities(problem, parameters, start_slopes=np.column_stack(slopes))
    if made.status == "failed":
        assert made.finding is not None, "a run that fails says why"
        raise SimulationError(made.finding)
    assert made.sensitivities is not None, "they were asked for"
    return _labelled(graph, made.t, numeric.names, parameters, made.sensitivities)


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


def _own(start: Mapping[str, float], names: Sequence[str]) -> dict[str, float]:
    return {name: value for name, value in start.items() if name in names}


def _start_slope(
    graph: PowerGraph, model: Model, given: Mapping[str, Quantity | Expression], names: Sequence[str], name: str
) -> Array:
    """How the initial values change with a parameter, by central differences."""
    value = parameter_values(graph.parameters).get(name, 0.0)
    nudge = NUDGE * (abs(value) or 1.0)
    sides = []
    for moved in (value + nudge, value - nudge):
        values = parameter_values({**graph.parameters, name: number(moved)})
        start = initial_states(graph, model, given, values)
        sides.append(np.array([start.get(variable, 0.0) for variable in names]))
    return np.asarray((sides[0] - sides[1]) / (2.0 * nudge))


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
