"""Where constraints are opened.

The end of the connection that brings the velocity of a dependent storage, or else the storage itself, gets a node of its own. In
mechanisms the ideal sensors of joints are such ends: parted at all its joints a mechanism is a heap of free bodies, and the forces
are those of the joints. A place is no good where it makes the equations divide by what vanishes in positions of the mechanism.
"""

from collections.abc import Iterator
from dataclasses import replace
from math import inf

from tellegen.causality import CausalGraph
from tellegen.conditioning.constrained import Constrained, Constraint
from tellegen.conditioning.matching import matched
from tellegen.conditioning.opening import Opened, Opening, fresh
from tellegen.core.domains import REFERENCES, Side
from tellegen.core.errors import CausalityError
from tellegen.description.model import Element, Model
from tellegen.elements import ACTS_ON
from tellegen.equations.system import EquationSystem
from tellegen.expressions import ZERO, Expression, Mul, Pow, Symbol, postorder
from tellegen.graph import StorageLaw

MOST_TRIED = 200
"""Up to so many constraints the best place of each is found by trial; in larger models the storage itself is parted."""


def open_constraints(found: Constrained) -> Opened:
    """The model with every constraint between storages opened.

    Each is opened where its force is that of a connection. Where that frees too little or too much, or divides by what may vanish,
    every dependent storage itself is parted, which always frees all.

    Raises: ConditioningError (C110) where a domain has no source to stand there.
    """
    return next((o for o in _attempts(found) if _frees(o, found)), None) or _parted(found)


def in_every_position(found: Constrained) -> Constrained:
    """The same, with storages that have no inertia among those that are treated where else something that may vanish divides.

    A slide between two bodies that others decide is such: its speed follows from one component of a velocity, by a cosine.
    """
    if not found.has_massless or not _divisors(open_constraints(found).system):
        return found
    more = replace(found, massless=True)
    return found if _divisors(open_constraints(more).system) else more


def _attempts(found: Constrained) -> Iterator[Opened]:
    if any(_sensors(found, constraint) for constraint in found.constraints):
        yield _at_joints(found)
    if len(found.constraints) <= MOST_TRIED:
        yield _tried(found)


def _frees(opened: Opened, found: Constrained) -> bool:
    """Whether no storage depends on another one any more, and equations divide by nothing that they did not divide by before."""
    left = max(_following(found.causal) - len(found.constraints), 0)
    if _dependent(opened) > left:
        return False
    divisors = _divisors(opened.system)
    return not divisors or divisors <= _divisors(found.system)


def _dependent(opened: Opened) -> float:
    """How many storages depend on others when sources stand at the openings; infinite where two sources decide one force."""
    try:
        return _following(opened.causal)
    except CausalityError:
        return inf


def _following(causal: CausalGraph) -> int:
    """How many storages depend on others; one without inertia stores nothing, and may follow as it likes."""
    laws = (causal.graph.ports[k].law for k in causal.derivative)
    return sum(not (isinstance(law, StorageLaw) and law.inertia is ZERO) for law in laws)


def _divisors(system: EquationSystem) -> set[Expression]:
    """What equations divide by that may vanish: all but parameters, which are masses and lengths."""
    moving = {*system.displacements, *system.where}
    entries = [e for m in (system.matrices[name] for name in ("A", "B", "C", "D")) for row in m for e in row]
    found: set[Expression] = set()
    for entry in dict.fromkeys((*entries, *system.where.values(), *system.dependent.values())):
        found |= {base for node in postorder(entry) for base in _divided(node) if base.free_symbols}
    return {base for base in found if not isinstance(base, Symbol) or base.name in moving}


def _divided(node: Expression) -> Iterator[Expression]:
    if isinstance(node, Mul):
        yield from (base for base, exponent in node.factors if exponent < 0)
    elif isinstance(node, Pow):
        yield node.base


# -- attempts ------------------------------------------------------------------------------------------------------------------


def _at_joints(found: Constrained) -> Opened:
    """Each constraint opened at a sensor of its own, the nearest where that leaves one for the others; else the storage parted."""
    near = [_sensors(found, constraint) for constraint in found.constraints]
    places = matched(near)
    opened = Opened(found.model, ())
    for constraint, place in zip(found.constraints, places, strict=True):
        sensor = None if place is None else found.elements[place]
        more = _own(opened.model, found, constraint) if sensor is None else _behind(opened.model, sensor, constraint)
        opened = _joined(opened, more)
    return opened


def _parted(found: Constrained) -> Opened:
    """Every dependent storage parted from its node."""
    opened = Opened(found.model, ())
    for constraint in found.constraints:
        opened = _joined(opened, _own(opened.model, found, constraint))
    return opened


def _tried(found: Constrained) -> Opened:
    """Constraints opened one after the other, each at the first place that frees a storage."""
    opened = Opened(found.model, ())
    for constraint in found.constraints:
        left = _dependent(opened)
        trials = [*_at_ends(opened.model, found, constraint), _own(opened.model, found, constraint)]
        for trial in trials:
            moved = _joined(opened, trial)
            if trial is trials[-1] or _dependent(moved) < left:
                opened = moved
                break
    return opened


def _joined(opened: Opened, more: Opened) -> Opened:
    return Opened(more.model, (*opened.openings, *more.openings))


# -- places --------------------------------------------------------------------------------------------------------------------


def _sensors(found: Constrained, constraint: Constraint) -> list[str]:
    """Ideal sensors that hold a storage to others, the joints of mechanisms: of its own domain first, the nearest first."""
    domain = found.elements[constraint.storage].kind.domains[0]
    elements = (found.elements[name] for name in reversed(constraint.follows))
    sensors = [e for e in elements if e.kind.role == "resistive" and e.value is ZERO and e.kind.side == "across"]
    return [e.name for e in sorted(sensors, key=lambda e: e.kind.domains[0] != domain)]


def _behind(model: Model, sensor: Element, constraint: Constraint) -> Opened:
    """An opening behind an ideal sensor."""
    node = sensor.nodes[1]
    beyond = fresh(f"{node}_{constraint.force}", _nodes(model))
    opening = Opening(constraint, (beyond, node), sensor.kind.domains[0], True)
    return Opened(_moved(model, sensor.name, 1, beyond), (opening,))


def _own(model: Model, found: Constrained, constraint: Constraint) -> Opened:
    """An opening between a storage and its node, or beside it."""
    element = found.elements[constraint.storage]
    domain = element.kind.domains[0]
    if element.kind.side == "through":
        return Opened(model, (Opening(constraint, (element.nodes[0], element.nodes[1]), domain, False),))
    node = _node(element)
    other = fresh(f"{node}_{constraint.force}", _nodes(model))
    moved = _moved(model, element.name, element.nodes.index(node), other)
    return Opened(moved, (Opening(constraint, (node, other), domain, True),))


def _at_ends(model: Model, found: Constrained, constraint: Constraint) -> Iterator[Opened]:
    """Openings at the connections that bring the velocity of a storage."""
    element = found.elements[constraint.storage]
    if element.kind.side == "through":
        return
    node, domain = _node(element), element.kind.domains[0]
    other = fresh(f"{node}_{constraint.force}", _nodes(model))
    for name, terminal in _deciding_ends(model, node):
        yield Opened(_moved(model, name, terminal, other), (Opening(constraint, (other, node), domain, True),))


def _node(element: Element) -> str:
    return next((n for n in element.nodes if n not in REFERENCES), element.nodes[0])


def _nodes(model: Model) -> set[str]:
    return {n for e in model.elements for n in e.nodes}


def _deciding_ends(model: Model, node: str) -> list[tuple[str, int]]:
    """Ends of connections at a node that bring its across variable, those that their relation gives first."""
    found: list[tuple[bool, str, int]] = []
    for element in model.elements:
        if element.kind.role == "coupling":
            for terminal, name in enumerate(element.nodes):
                side, given = _end(element, terminal // 2)
                if name == node and side == "across":
                    found.append((given, element.name, terminal))
    return [(name, terminal) for _, name, terminal in sorted(found, key=lambda end: end[0])]


def _end(element: Element, port: int) -> tuple[Side, bool]:
    """The variable that the relation of a connection holds at a port, and whether it is among the given ones."""
    relation = element.multiport
    if relation is None:
        assert element.kind.coupling is not None, "a coupling says which variables it relates"
        sides = ACTS_ON[element.kind.coupling, True]
        return sides[port], port == 0
    if port in relation.given:
        return relation.given_sides[relation.given.index(port)], True
    return relation.gives_sides[relation.gives.index(port)], False


def _moved(model: Model, name: str, terminal: int, node: str) -> Model:
    """The model with one end of an element at another node."""
    elements = tuple(
        replace(e, nodes=(*e.nodes[:terminal], node, *e.nodes[terminal + 1 :])) if e.name == name else e
        for e in model.elements
    )
    return replace(model, elements=elements)
