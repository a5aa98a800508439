"""Residual sinks that a bond graph was described with, as they are drawn."""

from dataclasses import replace

from tellegen.causality import assign_causality
from tellegen.core.domains import other_side
from tellegen.core.errors import CausalityError
from tellegen.elements import kinds_of
from tellegen.expressions import ZERO, symbol
from tellegen.graph import lower
from tellegen.model.mechanism import RIGID
from tellegen.model.model import RESIDUAL_SINK, Element, Model, variable_name


def with_free_sinks(model: Model, *, joints: bool = False) -> Model:
    """The model as it is drawn: a residual sink between storages that depend on each other decides its own force.

    From nothing but that force, as a source would: then both storages have integral causality. The equations are those of the model
    all the same, for they are what is left when the force has been solved for. A sink that frees no storage only reads, and stays.
    With `joints` the reactions of rigid joints, else flows that are zero, are residual sinks too.
    """
    held = {element.name for element in model.elements if joints and _is_reaction(model, element)}
    sinks = [element.name for element in model.elements if RESIDUAL_SINK in element.notes or element.name in held]
    if held:
        # The masses of a mechanism prefer to follow its coordinates; between sinks each has a motion of its own.
        free = tuple(replace(e, prefer="across") if _is_inertia(e) else e for e in model.elements)
        model = replace(model, elements=free)
    dependent = len(assign_causality(lower(model)).dependent) if sinks else 0
    for name in sinks:
        if not dependent:
            break
        freed = replace(model, elements=tuple(_freed(e) if e.name == name else e for e in model.elements))
        try:
            left = len(assign_causality(lower(freed)).dependent)
        except CausalityError:
            continue  # what it would decide is decided already
        if left < dependent:
            model, dependent = freed, left
    return model


def _is_reaction(model: Model, element: Element) -> bool:
    joint = model.mechanism.joints.get(element.name.partition(".")[0]) if model.mechanism is not None else None
    return joint is not None and joint.kind in RIGID and element.value is ZERO and element.kind.role != "storage"


def _is_inertia(element: Element) -> bool:
    return element.kind.role == "storage" and element.prefer == "through" and element.value not in (None, ZERO)


def _freed(sink: Element) -> Element:
    """A source that reads nothing but what it decides."""
    side = other_side(sink.kind.side)
    force = variable_name(sink, side)
    kind = next(kind for kind in kinds_of(sink.kind.domain.name, "source") if kind.side == side)
    return Element(
        sink.name, kind, sink.nodes, variables={side: force}, place=sink.place, notes=sink.notes, signal=symbol(force)
    )
