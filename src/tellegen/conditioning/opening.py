"""Where constraints are opened: the place of a residual sink, of a parasitic element or of a sensor in a zero-order causal path.

A storage that decides an across variable and may not (a mass moved by a rod, a capacitor beside another) is parted from what
decides it: the end of the connection that brings its velocity, or else the storage itself, gets a node of its own, and the element
stands between the two nodes. A storage that decides a through variable gets the element beside it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from math import inf
from typing import final

from tellegen.causality import assign_causality
from tellegen.conditioning import rules
from tellegen.conditioning.constrained import Constrained, Constraint
from tellegen.core.domains import REFERENCES, Side
from tellegen.core.errors import CausalityError, TellegenError
from tellegen.description.model import Element, Model
from tellegen.elements import ACTS_ON, KINDS, ElementKind, Role, kinds_of
from tellegen.expressions import ZERO
from tellegen.graph import lower

MOST_TRIED = 200
"""Up to so many constraints the best place of each is found by trial; in larger models the storage itself is parted."""


@final
@dataclass(frozen=True)
class Opening:
    """A place for an element: its two nodes, along which the force acts on the storage, and whether it stands in series."""

    constraint: Constraint
    nodes: tuple[str, str]
    domain: str
    series: bool

    @property
    def name(self) -> str:
        """The name of the force of the constraint, and of the element that brings it."""
        return self.constraint.force

    @property
    def sensor(self) -> str:
        """The name of a sensor of the force."""
        return f"{self.name}_s"

    @property
    def side(self) -> Side:
        """The power variable that the element decides: the force in series, the velocity beside."""
        return "through" if self.series else "across"


@final
@dataclass(frozen=True)
class Opened:
    """The model with nodes parted, and the places that wait for elements."""

    model: Model
    openings: tuple[Opening, ...]

    def filled(self, fill: Callable[[Opening], tuple[Element, ...]]) -> Model:
        """The model with elements at the openings."""
        new = tuple(element for opening in self.openings for element in fill(opening))
        return replace(self.model, elements=(*self.model.elements, *new), findings=(), source="", parts=())


def open_constraints(found: Constrained) -> Opened:
    """The model with every constraint between storages opened.

    Each is opened where its force is that of a connection; where that frees too little or too much, as in closed loops of rigid
    bodies, every dependent storage itself is parted, which always frees all.

    Raises: ConditioningError (C110) where a domain has no source to stand there.
    """
    left = len(found.causal.dependent) - len(found.constraints)
    joints = _opened_joints(found)
    if joints is not None and _dependent(joints) <= left:
        return joints
    few = len(found.constraints) <= MOST_TRIED
    best = _opened(found, few=few)
    if few and _dependent(best) > left:
        return _opened(found, few=False)
    return best


def _opened_joints(found: Constrained) -> Opened | None:
    """All constraints opened at once, each at the sensor nearest to its storage; None where one has no sensor of its own."""
    opened = Opened(found.model, ())
    for constraint in found.constraints:
        place = next(_at_sensors(opened.model, found, constraint), None)
        if place is None:
            return None
        opened = Opened(place.model, (*opened.openings, *place.openings))
    return opened


def _opened(found: Constrained, *, few: bool) -> Opened:
    """Constraints opened one after the other; with `few`, each at the first place that frees a storage."""
    opened = Opened(found.model, ())
    for constraint in found.constraints:
        element = found.elements[constraint.storage]
        left = _dependent(opened) if few else 0
        trials = list(_at_sensors(opened.model, found, constraint)) if few else []
        trials += _places(opened.model, element, constraint, few=few)
        for trial in trials:
            moved = Opened(trial.model, (*opened.openings, *trial.openings))
            if trial is trials[-1] or _dependent(moved) < left:
                opened = moved
                break
    return opened


def kind_at(opening: Opening, role: Role, side: Side | None = None) -> ElementKind | None:
    """A kind of element of the domain of an opening; None where the domain has none."""
    kinds = [k for k in kinds_of(opening.domain, role) if not k.energy and (side is None or k.side == side)]
    return kinds[0] if kinds else None


def conductor_at(opening: Opening) -> ElementKind | None:
    """A connection that lets its two sides become equal and keeps what the other domains lose: heat over a small difference."""
    pair = (opening.domain, opening.domain)
    return next((k for k in KINDS.values() if k.role == "coupling" and k.domains == pair and k.heat), None)


def has_sinks(opened: Opened) -> bool:
    """Whether every domain with an opening has an element that can be a residual sink."""
    return all(_sink_kind(opening) is not None for opening in opened.openings)


def _sink_kind(opening: Opening) -> ElementKind | None:
    return kind_at(opening, "resistive", "across" if opening.series else "through")


def sink(opening: Opening) -> tuple[Element, ...]:
    """The residual sink with its ideal law: what it decides is such that its other variable is zero.

    Raises: ConditioningError (C110) where the domain has no such element.
    """
    kind = _sink_kind(opening)
    if kind is None:
        raise no_opening(opening)
    return (Element(opening.sensor, kind, opening.nodes, value=ZERO, variables={opening.side: opening.sensor}),)


def source(opening: Opening) -> tuple[Element, ...]:
    """A source of the force of the constraint.

    Raises: ConditioningError (C110) where the domain has no such source.
    """
    kind = kind_at(opening, "source", opening.side)
    if kind is None:
        raise no_opening(opening)
    return (Element(opening.name, kind, opening.nodes),)


def no_opening(opening: Opening) -> TellegenError:
    """The error for a domain without the element that is needed."""
    return rules.NO_OPENING.error(
        f"nothing of the {opening.domain} domain can stand between '{opening.constraint.storage}' and what decides it",
        where=opening.constraint.storage,
        fix="choose the form derivative or residual",
    )


def fresh(name: str, taken: set[str]) -> str:
    """The name, with `_1` behind it until nothing else has it."""
    while name in taken:
        name += "_1"
    return name


def _dependent(opened: Opened) -> float:
    """How many storages depend on others when sources stand at the openings; infinite where two sources decide one force."""
    try:
        return len(assign_causality(lower(opened.filled(source))).dependent)
    except CausalityError:
        return inf


def _places(model: Model, element: Element, constraint: Constraint, *, few: bool) -> Iterator[Opened]:
    """Models with one more opening, the best place first; the last one always opens."""
    domain = element.kind.domains[0]
    if element.kind.side == "through":
        yield Opened(model, (Opening(constraint, (element.nodes[0], element.nodes[1]), domain, False),))
        return
    node = next((n for n in element.nodes if n not in REFERENCES), element.nodes[0])
    other = fresh(f"{node}_{constraint.force}", {n for e in model.elements for n in e.nodes})
    for name, terminal in _deciding_ends(model, node) if few else ():
        yield Opened(_moved(model, name, terminal, other), (Opening(constraint, (other, node), domain, True),))
    terminal = element.nodes.index(node)
    yield Opened(_moved(model, element.name, terminal, other), (Opening(constraint, (node, other), domain, True),))


def _at_sensors(model: Model, found: Constrained, constraint: Constraint) -> Iterator[Opened]:
    """Models with one more opening at an ideal sensor that holds the storage to others, the nearest first.

    These are the joints of mechanisms. Opened there, a constraint holds the two bodies that are joined and no others, and its force
    is that of the joint.
    """
    domain = found.elements[constraint.storage].kind.domains[0]
    now = {e.name: e.nodes for e in model.elements}
    for name in reversed(constraint.follows):
        element = found.elements[name]
        node = element.nodes[1]
        sensor = element.kind.role == "resistive" and element.value is ZERO and element.kind.domains[0] == domain
        if (
            sensor and node not in REFERENCES and now[name] == element.nodes
        ):  # otherwise another constraint is opened there
            beyond = f"{node}_{constraint.force}"
            yield Opened(_moved(model, name, 1, beyond), (Opening(constraint, (beyond, node), domain, True),))


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
