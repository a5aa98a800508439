"""Runs of conditioned models: initial values and parameters are given by the names of the model as it was."""

from collections.abc import Mapping

from tellegen.conditioning.forms import Conditioned
from tellegen.description import Model
from tellegen.equations.system import parameter_values
from tellegen.experiments.courses import Course
from tellegen.experiments.initial_values import initial_states
from tellegen.experiments.quantities import Quantity
from tellegen.experiments.setting_up import with_parameters
from tellegen.graph import lower


def begun_model(
    conditioned: Conditioned,
    initial: Mapping[str, Quantity] | None,
    parameters: Mapping[str, Quantity] | None,
    inputs: Mapping[str, Course] | None = None,
) -> Model:
    """The conditioned model with every state at the start that the given values make.

    Raises: SimulationError for a name or a value that cannot be used.
    """
    base = conditioned.base
    own = {name: value for name, value in (parameters or {}).items() if name in base.parameters}
    graph = with_parameters(lower(base), base, own)
    values = parameter_values(graph.parameters)
    given = {**(base.experiment.initial if base.closures else {}), **(initial or {})}
    constant = {name: float(course) for name, course in (inputs or {}).items() if isinstance(course, int | float)}
    return conditioned.begun(initial_states(graph, base, given, values), values, constant)
