"""Residual sinks that a bond graph was described with, as they are drawn."""

from dataclasses import replace

from tellegen.causality import assign_causality
from tellegen.core.domains import other_side
from tellegen.core.errors import CausalityError
from tellegen.elements import kinds_of
from tellegen.expressions import symbol
from tellegen.graph import lower
from tellegen.model.model import RESIDUAL_SINK, Element, Model, variable_name


def with_free_sinks(model: Model) -> Model:
    """The model as it is drawn: a residual sink between storages that depend on each other decides its own force.

    From nothing but that force, as a source would: then both storages have integral causality. The equations are those of the model
    all the same, for they are what is left when the force has been solved for. A sink that frees no storage only reads, and stays.
    """
    sinks = [element.name for element in model.elements if RESIDUAL_SINK in element.notes]
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


def _freed(sink: Element) -> Element:
    """A source that reads nothing but what it decides."""
    side = other_side(sink.kind.side)
    force = variable_name(sink, side)
    kind = next(kind for kind in kinds_of(sink.kind.domain.name, "source") if kind.side == side)
    return Element(
        sink.name, kind, sink.nodes, variables={side: force}, place=sink.place, notes=sink.notes, signal=symbol(force)
    )
