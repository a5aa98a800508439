"""`analyse`: from a model to its linear analysis in one call, the poles with its controllers among it."""

from collections.abc import Iterable, Mapping

from tellegen.analysis.linear_model import linear_model
from tellegen.analysis.summary import Analysis
from tellegen.experiments.linearising import Linearisation
from tellegen.experiments.quantities import Quantity
from tellegen.notations.loading import AnyModel, as_model
from tellegen.results.units import variable_units


def analyse(
    model: AnyModel,
    *,
    at: Mapping[str, Quantity] | None = None,
    inputs: Mapping[str, Quantity] | None = None,
    parameters: Mapping[str, Quantity] | None = None,
    outputs: Iterable[str] | None = None,
    as_inputs: Iterable[str] | None = None,
) -> Analysis:
    """Poles, zeros, responses and the split of power of a model.

    A nonlinear model is linearised: at the point that `at` gives (states, displacements and states of controllers; what is not
    given is as the experiment starts), else at the steady state under the inputs, controllers at work. Inputs are those of the
    experiment after all its steps and ramps, unless `inputs` gives other values. The result says which point it was.

    Sources without a signal are inputs. A source, modulus or coefficient that a signal gives keeps its value and its dependence
    on states: a weight, a battery, the drag of air. Where a controller (a signal with a memory, a pid, or a course over time)
    reaches the power equations, the model is cut open: the result is that of the plant, with what was cut among its inputs, and
    `closed_loop` of it is the whole. `as_inputs` names sources, signals, parameters or moduli (by their elements, or by their key
    where one alone has it) to be inputs instead; the loop is then cut there and nowhere else, and constants among them are inputs
    of the closed loop too.

    `outputs` names what is measured beside the outputs that are conjugate to the inputs; without it, what the detectors of the
    model read.

    Raises: EquationError when there is no steady state (E201) or no such point; SimulationError (S302) for an unknown name.
    """
    described = as_model(model)
    found = Linearisation.of(
        described, at=at, inputs=inputs, parameters=parameters, outputs=outputs, as_inputs=as_inputs
    )
    point, units = found.point(strict=True), variable_units(found.graph)
    plant = found.plant(point)
    return Analysis(
        linear_model(plant, point, further=found.further(plant)),
        units,
        None if at is not None else found.power(),
        found.closed_loop(point, units),
        found.graph.mode,
        cut=found.cut,
        held=found.held(point),
    )
