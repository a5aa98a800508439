"""Constraints opened: the places where a residual sink, a parasitic element or a sensor can stand, which of them free every
storage, and the signals of their forces.

A storage that decides an across variable and may not (a mass moved by a rod, a capacitor beside another) is parted from what
decides it, and the element stands between the two nodes. A storage that decides a through variable gets the element beside it.

The end of the connection that brings the velocity of a dependent storage, or else the storage itself, gets a node of its own. In
mechanisms the ideal sensors of joints are such ends: parted at all its joints a mechanism is a heap of free bodies, and the forces
are those of the joints. A place is no good where it makes the equations divide by what vanishes in positions of the mechanism.
"""

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf
from typing import final

from tellegen.causality import CausalGraph, assign_causality
from tellegen.conditioning import rules
from tellegen.conditioning.constraints import ConstrainedModel, Constraint
from tellegen.core.domains import DOMAINS, REFERENCES, Side
from tellegen.core.errors import CausalityError, TellegenError
from tellegen.core.memory import remembered
from tellegen.core.units import Dimension, parse_unit
from tellegen.elements import ACTS_ON, KINDS, ElementKind, Role, kinds_of
from tellegen.equations.derivation import derive_equations
from tellegen.equations.system import EquationSystem
from tellegen.expressions import ZERO, Expression, Mul, Pow, Symbol, postorder, symbol
from tellegen.graph import Port, StorageLaw, lower
from tellegen.model.model import Element, Model
from tellegen.model.signals import SignalDefinition


def formula_signal(name: str, formula: Expression, unit: str = "") -> SignalDefinition:
    """A signal given by a formula."""
    return SignalDefinition(name, "formula", {"formula": formula}, _dimension(unit), unit=unit)


def integral_signal(name: str, rate: Expression, domain: str, side: Side) -> SignalDefinition:
    """A power variable that is the integral of a rate."""
    settings = {"integral": rate, "initial": ZERO}
    unit = unit_of(domain, side)
    return SignalDefinition(name, "integral", settings, _dimension(unit), unit=unit)


def starting_at(signal: SignalDefinition, value: Expression) -> SignalDefinition:
    """An integral that starts elsewhere."""
    return replace(signal, settings={**signal.settings, "initial": value})


def unit_of(domain: str, side: Side) -> str:
    """The unit of a power variable."""
    return DOMAINS[domain].power(side).unit


def _dimension(unit: str) -> Dimension | None:
    return parse_unit(unit).dimension if unit else None


def driven_source(element: Element, port: Port, signal: Expression) -> Element:
    """A source in the place of a storage, which imposes what the storage decided."""
    side = port.law.side
    kind = next(k for k in kinds_of(port.domain, "source") if k.side == side)
    return replace(element, kind=kind, value=None, prefer=None, forced=False, signal=signal)


@final
@dataclass(frozen=True)
class ConstraintOpening:
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
class OpenedModel:
    """The model with nodes parted, and the places that wait for elements.

    `held` are places at storages that follow a source: their constraints stay closed, with a sensor of the force.
    """

    model: Model
    openings: tuple[ConstraintOpening, ...]
    held: tuple[ConstraintOpening, ...] = ()

    def filled(self, fill: Callable[[ConstraintOpening], tuple[Element, ...]]) -> Model:
        """The model with elements at the openings, and sensors at those that are held."""
        new = [element for opening in self.openings for element in fill(opening)]
        # Held constraints stay closed: an ideal sensor there reads the force without changing anything.
        new += [element for opening in self.held for element in residual_sink(opening)]
        signals = {opening.name: force_signal(opening, symbol(opening.sensor)) for opening in self.held}
        return replace(
            self.model,
            elements=(*self.model.elements, *new),
            signals={**self.model.signals, **signals},
            findings=(),
            source="",
            parts=(),
        )

    def freed(self, fill: Callable[[ConstraintOpening], tuple[Element, ...]]) -> Model:
        """The same with states for the storages whose constraints are open, before those that have no inertia."""
        model = self.filled(fill)
        # Causality would be free to choose; storages whose constraints are open are meant to be states.
        free = {opening.constraint.storage for opening in self.openings}
        elements = (replace(e, prefer=e.kind.side, forced=False) if e.name in free else e for e in model.elements)
        return replace(model, elements=tuple(elements))

    def holding(self, storages: Container[str]) -> "OpenedModel":
        """The same with the constraints of some storages held."""
        held = tuple(o for o in self.openings if o.constraint.storage in storages)
        if not held:
            # A copy would forget its causality, which is remembered on the object.
            return self  # with what it knows already
        return replace(self, openings=tuple(o for o in self.openings if o not in held), held=held)

    @cached_property
    def causal(self) -> CausalGraph:
        """The causality with a source of its force at every opening.

        Raises: CausalityError where two sources decide one variable.
        """
        return assign_causality(lower(self.freed(force_source)))

    @cached_property
    def system(self) -> EquationSystem:
        """The equations with these sources."""
        return derive_equations(self.causal)


def kind_at(opening: ConstraintOpening, role: Role, side: Side | None = None) -> ElementKind | None:
    """A kind of element of the domain of an opening; None where the domain has none."""
    # Kinds given by their energy have no parameter that could be made small or zero.
    kinds = [k for k in kinds_of(opening.domain, role) if not k.energy and (side is None or k.side == side)]
    return kinds[0] if kinds else None


def conductor_at(opening: ConstraintOpening) -> ElementKind | None:
    """A connection that lets its two sides become equal and keeps what the other domains lose: heat over a small difference."""
    pair = (opening.domain, opening.domain)
    return next((k for k in KINDS.values() if k.role == "coupling" and k.domains == pair and k.heat), None)


def has_sinks(opened: OpenedModel) -> bool:
    """Whether every domain with an opening has an element that can be a residual sink."""
    return all(_sink_kind(opening) is not None for opening in (*opened.openings, *opened.held))


def _sink_kind(opening: ConstraintOpening) -> ElementKind | None:
    return kind_at(opening, "resistive", "across" if opening.series else "through")


def residual_sink(opening: ConstraintOpening) -> tuple[Element, ...]:
    """The residual sink with its ideal law: what it decides is such that its other variable is zero.

    Raises: ConditioningError (C110) where the domain has no such element.
    """
    kind = _sink_kind(opening)
    if kind is None:
        raise no_opening(opening)
    return (Element(opening.sensor, kind, opening.nodes, value=ZERO, variables={opening.side: opening.sensor}),)


def force_source(opening: ConstraintOpening) -> tuple[Element, ...]:
    """A source of the force of the constraint.

    Raises: ConditioningError (C110) where the domain has no such source.
    """
    kind = kind_at(opening, "source", opening.side)
    if kind is None:
        raise no_opening(opening)
    return (Element(opening.name, kind, opening.nodes),)


def force_signal(opening: ConstraintOpening, formula: Expression) -> SignalDefinition:
    """The force of a constraint as a signal."""
    return formula_signal(opening.name, formula, unit_of(opening.domain, opening.side))


def no_opening(opening: ConstraintOpening) -> TellegenError:
    """The error for a domain without the element that is needed."""
    return rules.NO_OPENING.error(
        f"nothing of the {opening.domain} domain can stand between '{opening.constraint.storage}' and what decides it",
        where=opening.constraint.storage,
        fix="choose the form derivative or residual",
    )


def fresh_name(name: str, taken: set[str]) -> str:
    """The name, with `_1` behind it until nothing else has it."""
    while name in taken:
        name += "_1"
    return name


def maximum_matching(lists: Sequence[Sequence[str]]) -> list[str | None]:
    """For each list one of its names, no name twice, None where there is none: as many as possible get one.

    The matching grows along alternating paths (Kuhn 1955), so that earlier ones give up a name only for another one.
    """
    owner: dict[str, int] = {}
    names: list[str | None] = [None] * len(lists)
    for k in range(len(lists)):
        # Breadth first along alternating paths: the shortest one changes as few earlier choices as possible.
        came: dict[str, int] = {}  # by whom a name was reached
        free = _first_free(k, lists, owner, came)
        while free is not None:
            taker = came[free]
            left = names[taker]
            names[taker], owner[free] = free, taker
            free = left
    return names


def _first_free(
    start: int, lists: Sequence[Sequence[str]], owner: Mapping[str, int], came: dict[str, int]
) -> str | None:
    """A name that nobody has, reached from `start` over names that others have; `came` tells the way back."""
    waiting = [start]
    for k in waiting:  # grows while it is read
        for name in lists[k]:
            if name in came:
                continue
            came[name] = k
            if name not in owner:
                return name
            waiting.append(owner[name])
    return None


MOST_TRIED = 200
"""Up to so many constraints the best place of each is found by trial; in larger models the storage itself is parted."""


@remembered
def open_constraints(found: ConstrainedModel) -> OpenedModel:
    """The model with every constraint between storages opened.

    Each is opened where its force is that of a connection. Where that frees too little or too much, or divides by what may vanish,
    every dependent storage itself is parted, which always frees all.

    Raises: ConditioningError (C110) where a domain has no source to stand there.
    """
    # Joints first, since their forces are what a designer asks for; parting all storages always works.
    return next((o for o in _attempts(found) if _frees(o, found)), None) or _parted(found)


@remembered
def regular_in_every_position(found: ConstrainedModel) -> ConstrainedModel:
    """The same, with storages that have no inertia among those that are treated where else something that may vanish divides.

    A slide between two bodies that others decide is such: its speed follows from one component of a velocity, by a cosine.
    """
    # Only mechanisms divide by what vanishes; all others are left alone at no cost.
    if not found.has_massless or not _divisors(open_constraints(found).system):
        return found
    more = replace(found, massless=True)
    return found if _divisors(open_constraints(more).system) else more


def _attempts(found: ConstrainedModel) -> Iterator[OpenedModel]:
    # Joints are parted all at once, because the bodies of a loop come free only together.
    if any(_sensors(found, constraint) for constraint in found.constraints):
        yield _at_joints(found)
    if len(found.constraints) <= MOST_TRIED:
        yield _tried(found)


def _frees(opened: OpenedModel, found: ConstrainedModel) -> bool:
    """Whether no storage depends on another one any more, and equations divide by nothing that they did not divide by before."""
    # Those that follow sources may go on doing so.
    left = max(_following(found.causal) - len(found.constraints), 0)
    if _dependent(opened) > left:
        return False
    divisors = _divisors(opened.system)
    # What the model divided by before, it may divide by: those positions are dead centres of the mechanism itself.
    return not divisors or divisors <= _divisors(found.system)


def _dependent(opened: OpenedModel) -> float:
    """How many storages depend on others when sources stand at the openings; infinite where two sources decide one force."""
    try:
        return _following(opened.causal)
    # A place where two forces would decide one variable is no place at all.
    except CausalityError:
        return inf


def _following(causal: CausalGraph) -> int:
    """How many storages depend on others; one without inertia stores nothing, and may follow as it likes."""
    laws = (causal.graph.ports[k].law for k in causal.derivative)
    return sum(not (isinstance(law, StorageLaw) and law.inertia is ZERO) for law in laws)


def _divisors(system: EquationSystem) -> set[Expression]:
    """What equations divide by that may vanish: all but parameters, which are masses and lengths."""
    # Parameters are positive in any sensible model; what moves may pass through zero.
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


def _at_joints(found: ConstrainedModel) -> OpenedModel:
    """Each constraint opened at a sensor of its own, the nearest where that leaves one for the others; else the storage parted."""
    near = [_sensors(found, constraint) for constraint in found.constraints]
    # Each joint can bring one force, so joints are shared out like jobs: as many constraints as possible get one.
    places = maximum_matching(near)
    opened = OpenedModel(found.model, ())
    for constraint, place in zip(found.constraints, places, strict=True):
        sensor = None if place is None else found.elements[place]
        more = _own(opened.model, found, constraint) if sensor is None else _behind(opened.model, sensor, constraint)
        opened = _joined(opened, more)
    return opened


def _parted(found: ConstrainedModel) -> OpenedModel:
    """Every dependent storage parted from its node."""
    opened = OpenedModel(found.model, ())
    for constraint in found.constraints:
        opened = _joined(opened, _own(opened.model, found, constraint))
    return opened


def _tried(found: ConstrainedModel) -> OpenedModel:
    """Constraints opened one after the other, each at the first place that frees a storage."""
    opened = OpenedModel(found.model, ())
    for constraint in found.constraints:
        left = _dependent(opened)
        # The storage itself is the last resort: there the force is that of the inertia alone.
        trials = [*_at_ends(opened.model, found, constraint), _own(opened.model, found, constraint)]
        for trial in trials:
            moved = _joined(opened, trial)
            if trial is trials[-1] or _dependent(moved) < left:
                opened = moved
                break
    return opened


def _joined(opened: OpenedModel, more: OpenedModel) -> OpenedModel:
    return OpenedModel(more.model, (*opened.openings, *more.openings))


# -- places --------------------------------------------------------------------------------------------------------------------


def _sensors(found: ConstrainedModel, constraint: Constraint) -> list[str]:
    """Ideal sensors that hold a storage to others, the joints of mechanisms: of its own domain first, the nearest first."""
    domain = found.elements[constraint.storage].kind.domains[0]
    elements = (found.elements[name] for name in reversed(constraint.follows))
    sensors = [e for e in elements if e.kind.role == "resistive" and e.value is ZERO and e.kind.side == "across"]
    # A stable sort: within a domain the nearest joint stays first.
    return [e.name for e in sorted(sensors, key=lambda e: e.kind.domains[0] != domain)]


def _behind(model: Model, sensor: Element, constraint: Constraint) -> OpenedModel:
    """An opening behind an ideal sensor."""
    # The far end of the sensor: its own variable keeps its meaning.
    node = sensor.nodes[1]
    beyond = fresh_name(f"{node}_{constraint.force}", _nodes(model))
    opening = ConstraintOpening(constraint, (beyond, node), sensor.kind.domains[0], True)
    return OpenedModel(_moved(model, sensor.name, 1, beyond), (opening,))


def _own(model: Model, found: ConstrainedModel, constraint: Constraint) -> OpenedModel:
    """An opening between a storage and its node, or beside it."""
    element = found.elements[constraint.storage]
    domain = element.kind.domains[0]
    # A spring or an inductor that decides its flow stands in a branch: the force source is put beside it.
    if element.kind.side == "through":
        return OpenedModel(model, (ConstraintOpening(constraint, (element.nodes[0], element.nodes[1]), domain, False),))
    node = _node(element)
    other = fresh_name(f"{node}_{constraint.force}", _nodes(model))
    moved = _moved(model, element.name, element.nodes.index(node), other)
    return OpenedModel(moved, (ConstraintOpening(constraint, (node, other), domain, True),))


def _at_ends(model: Model, found: ConstrainedModel, constraint: Constraint) -> Iterator[OpenedModel]:
    """Openings at the connections that bring the velocity of a storage."""
    element = found.elements[constraint.storage]
    if element.kind.side == "through":
        return
    node, domain = _node(element), element.kind.domains[0]
    other = fresh_name(f"{node}_{constraint.force}", _nodes(model))
    for name, terminal in _deciding_ends(model, node):
        yield OpenedModel(
            _moved(model, name, terminal, other), (ConstraintOpening(constraint, (other, node), domain, True),)
        )


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
    # False sorts before True: ends that are decided by the relation come first.
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
    elements = tuple(
        replace(e, nodes=(*e.nodes[:terminal], node, *e.nodes[terminal + 1 :])) if e.name == name else e
        for e in model.elements
    )
    return replace(model, elements=elements)
