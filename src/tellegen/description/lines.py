"""One line of a network as it was read: what it says, before it becomes an element."""

from collections.abc import Mapping as TypingMapping
from dataclasses import dataclass
from typing import final

from tellegen.core.domains import Side
from tellegen.core.errors import DescriptionError, Place, TellegenError
from tellegen.core.units import Dimension
from tellegen.description import rules
from tellegen.description.context import Context, Pending
from tellegen.description.dimensions import NUMBER, Measure, Open, names_in, si_unit
from tellegen.description.document import Scalar
from tellegen.description.indexing import Pattern
from tellegen.description.keys import (
    Form,
)
from tellegen.description.quantities import Reading
from tellegen.description.relations import Law
from tellegen.description.switching import SwitchingLine
from tellegen.expressions import Expression

Indices = tuple[str, ...]

Names = TypingMapping[str, str | Pattern]


@final
@dataclass(slots=True)
class Line:
    """One line of a network as it is written; inside a `repeat` names are patterns and values depend on the indices."""

    key: Scalar
    place: Place
    form: Form
    name: str | Pattern
    nodes: tuple[str | Pattern, ...]
    value: Reading | None = None
    law: Law | None = None
    initial: Reading | None = None
    variables: Names | None = None
    prefer: Side | None = None
    forced: bool = False
    notes: dict[str, str] | None = None
    value_node: Scalar | None = None
    initial_node: Scalar | None = None
    switching: SwitchingLine | None = None
    signal: Expression | None = None
    signal_text: str = ""
    signal_node: Scalar | None = None
    heat: str | Pattern | None = None


def reserved(context: Context, node: Scalar, subject: str) -> TellegenError:
    """The error for a name that means something else in formulas."""
    what = f"'{node.text}' cannot name {subject}: it has a meaning of its own in formulas"
    return context.error(rules.BAD_NAME, node, what, why="a formula could not use it", fix="choose another name")


def settle(
    context: Context, reading: Reading, wanted: Dimension, subject: str, node: Scalar, indices: Indices
) -> Reading:
    """A reading whose dimension is checked: at once if only numbers and indices stand in it, else when parameters are known."""
    if reading.marked is None:
        if reading.dimension is not None and reading.dimension != wanted:
            raise DescriptionError(context.wrong_dimension(subject, reading.dimension, wanted, context.place(node)))
        return reading
    counters: dict[str, Measure] = dict.fromkeys(indices, NUMBER)
    pending = Pending(reading.marked, wanted, subject, lambda: context.text_place(node), counters)
    if any(name not in counters for name in names_in(reading.marked)):
        context.pending.append(pending)
        return reading
    measure = context.check(pending)
    if isinstance(measure, Open):
        return Reading(reading.expression)
    return Reading(reading.expression, None, measure, si_unit(measure))
