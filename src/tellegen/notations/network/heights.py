"""The weights of masses that say how high they are, and the gravity that pulls them.

A mass with a height has an element beside it that keeps the energy m g h of its height. A height that nobody described is a
displacement of its own, which the velocity of the mass moves upwards.
"""

from dataclasses import replace

from tellegen.core.units import parse_unit
from tellegen.elements import KINDS
from tellegen.expressions import Expression, Symbol, symbol, to_text
from tellegen.model.dimensions import without_marks
from tellegen.model.laws import Law
from tellegen.model.model import Element, Parameter, variable_name
from tellegen.notations.context import MassHeight, ReadingContext
from tellegen.notations.network import rules
from tellegen.notations.yaml.document import Node

GRAVITY = "gravity"
METRE, ACCELERATION = parse_unit("m").dimension, parse_unit("m/s^2").dimension


def read_gravity(context: ReadingContext, node: Node) -> Expression:
    """The acceleration of free fall; a plain number becomes the parameter of that name, so that a run can change it."""
    reading = context.quantity(context.scalar(node, GRAVITY), GRAVITY)
    settled = context.settled(reading, ACCELERATION, GRAVITY, context.scalar(node, GRAVITY))
    if settled.marked is None and GRAVITY not in context.parameters:
        place = context.place(node)
        context.parameters[GRAVITY] = Parameter(GRAVITY, settled.expression, settled.dimension, settled.unit, place)
        return symbol(GRAVITY)
    return settled.expression


def add_weights(context: ReadingContext) -> None:
    """Add the weights of the masses with a height, when all masses are known.

    Raises: DescriptionError (D156) where no gravity is given.
    """
    for height in context.heights:
        if context.gravity is None:
            what = f"the mass {height.mass} has a height, but no gravity pulls it"
            fix = "write 'gravity: 9.81 m/s^2' at the top of the file"
            raise context.error(rules.NO_GRAVITY, height.node, what, fix=fix, where=height.mass)
        _add_weight(context, height, context.elements[height.mass], context.gravity)


def _add_weight(context: ReadingContext, height: MassHeight, mass: Element, gravity: Expression) -> None:
    assert mass.value is not None, "a mass with a height has a value"
    marked = height.marked
    # A new name is the height itself: it rises as fast as the mass.
    if isinstance(marked, Symbol) and not context.is_known(marked.name):
        context.displacements[marked.name] = symbol(variable_name(mass, "across"))
    found = context.check_later(marked, METRE, f"the height of {mass.name}", height.node)
    energy = mass.value * gravity * without_marks(found)
    name, kind = f"{mass.name}.weight", KINDS["weight"]
    law = Law("potential", "", energy, kind.side, to_text(energy))
    weight = Element(name, kind, mass.nodes, None, law, place=mass.place)
    context.elements[name] = replace(weight, notes=mass.notes)
