"""From a model and the names of what is measured to its equations with the rows of these."""

from collections.abc import Callable, Iterable
from dataclasses import replace

from tellegen.causality import assign_causality
from tellegen.description.measurable import detected_names, measurable_names, with_formulas
from tellegen.description.model import Model
from tellegen.equations import rules
from tellegen.equations.assembly import derive_equations
from tellegen.equations.measured import no_such_output, with_measured_outputs
from tellegen.equations.readings import without_formulas
from tellegen.equations.system import EquationSystem
from tellegen.expressions import ZERO
from tellegen.graph import PowerGraph, lower


def measured_equations(
    model: Model, names: Iterable[str] | None, prepare: Callable[[PowerGraph], PowerGraph] = lambda graph: graph
) -> EquationSystem:
    """The equations of a model with the rows of what is named, by default of what its detectors read.

    `prepare` changes the graph before causality is assigned: modes, values of parameters.

    Raises: EquationError (E132) for a name that the model does not have, (E133) for one that no row of C and D can give.
    """
    wanted = detected_names(model) if names is None else tuple(dict.fromkeys(names))
    if not wanted:
        return derive_equations(assign_causality(prepare(lower(model))))
    known = measurable_names(model)
    for name in wanted:
        if name not in known:
            raise no_such_output(name, known, model.name)
    reading, signals = with_formulas(model, wanted)
    found = derive_equations(assign_causality(prepare(lower(reading))), signals)
    return _as_described(found, frozenset(signals.values()) - model.signals.keys())


def linear_outputs(system: EquationSystem, outputs: Iterable[str] | None) -> EquationSystem:
    """The system with the outputs named, by default its own and then all that is measured; see `with_measured_outputs`.

    Raises: EquationError (E133) where the system is linear and an output is not.
    """
    found = with_measured_outputs(system, None if outputs is None else tuple(outputs))
    if system.linear and not found.linear:
        rests = zip(found.outputs, found.vectors["f_y"], strict=True)
        name = next(name for name, rest in rests if rest is not ZERO)
        what = f"'{name}' is not linear in states and inputs, so it has no transfer function"
        fix = "ask for the variables that it is made of, or linearise the model at an operating point"
        raise rules.NOT_MEASURED.error(what, where=name, fix=fix)
    return found


def _as_described(system: EquationSystem, added: frozenset[str]) -> EquationSystem:
    """The system without the signals that were only there to be measured."""
    origin = system.origin
    assert origin is not None, "equations that were just derived"
    graph = replace(origin.graph, signals=tuple(s for s in origin.graph.signals if s.name not in added))
    return replace(system, signals=without_formulas(system.signals, added), origin=replace(origin, graph=graph))
