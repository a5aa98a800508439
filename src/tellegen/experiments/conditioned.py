"""Runs of conditioned models: initial values and parameters are given by the names of the model as it was."""

from collections.abc import Callable, Mapping

from tellegen.conditioning.forms import Conditioned
from tellegen.core.names import TIME
from tellegen.description import Model
from tellegen.description.signals.values import Signal
from tellegen.equations.system import parameter_values
from tellegen.experiments.courses import Course, with_courses
from tellegen.experiments.initial_values import initial_states
from tellegen.experiments.quantities import Quantity
from tellegen.experiments.setting_up import with_parameters
from tellegen.graph import PowerGraph, lower


def begun_model(
    conditioned: Conditioned,
    initial: Mapping[str, Quantity] | None,
    parameters: Mapping[str, Quantity] | None,
    inputs: Mapping[str, Course] | None,
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


def _first_values(graph: PowerGraph, inputs: Mapping[str, Course], values: Mapping[str, float]) -> dict[str, float]:
    """What inputs are at t = 0, as far as that follows from numbers."""
    known = {TIME: 0.0, **values}
    found: dict[str, float] = {}
    for name, course in with_courses(graph, inputs)[1].items():
        formula = course.expression if isinstance(course, Signal) else course
        if isinstance(formula, float):
            found[name] = formula
        elif formula is not None and formula.free_symbols <= known.keys():
            found[name] = formula.evaluate(known)
    functions = {name: course for name, course in inputs.items() if callable(course)}
    return found | {name: float(function(0.0)) for name, function in functions.items()}
