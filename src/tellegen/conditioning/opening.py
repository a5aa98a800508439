"""Openings: places of a residual sink, of a parasitic element or of a sensor in a constraint, and what can stand there.

A storage that decides an across variable and may not (a mass moved by a rod, a capacitor beside another) is parted from what
decides it, and the element stands between the two nodes. A storage that decides a through variable gets the element beside it.
"""

from collections.abc import Callable, Container
from dataclasses import dataclass, replace
from functools import cached_property
from typing import final

from tellegen.causality import CausalGraph, assign_causality
from tellegen.conditioning import rules
from tellegen.conditioning.constrained import Constraint
from tellegen.conditioning.signals import formula_signal, unit_of
from tellegen.core.domains import Side
from tellegen.core.errors import TellegenError
from tellegen.description.model import Element, Model
from tellegen.description.signals.values import SignalDefinition
from tellegen.elements import KINDS, ElementKind, Role, kinds_of
from tellegen.equations.assembly import derive_equations
from tellegen.equations.system import EquationSystem
from tellegen.expressions import ZERO, Expression, symbol
from tellegen.graph import lower


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
    """The model with nodes parted, and the places that wait for elements.

    `held` are places at storages that follow a source: their constraints stay closed, with a sensor of the force.
    """

    model: Model
    openings: tuple[Opening, ...]
    held: tuple[Opening, ...] = ()

    def filled(self, fill: Callable[[Opening], tuple[Element, ...]]) -> Model:
        """The model with elements at the openings, and sensors at those that are held."""
        new = [element for opening in self.openings for element in fill(opening)]
        new += [element for opening in self.held for element in sink(opening)]
        signals = {opening.name: force_signal(opening, symbol(opening.sensor)) for opening in self.held}
        return replace(
            self.model,
            elements=(*self.model.elements, *new),
            signals={**self.model.signals, **signals},
            findings=(),
            source="",
            parts=(),
        )

    def freed(self, fill: Callable[[Opening], tuple[Element, ...]]) -> Model:
        """The same with states for the storages whose constraints are open, before those that have no inertia."""
        model = self.filled(fill)
        free = {opening.constraint.storage for opening in self.openings}
        elements = (replace(e, prefer=e.kind.side, forced=False) if e.name in free else e for e in model.elements)
        return replace(model, elements=tuple(elements))

    def holding(self, storages: Container[str]) -> "Opened":
        """The same with the constraints of some storages held."""
        held = tuple(o for o in self.openings if o.constraint.storage in storages)
        if not held:
            return self  # with what it knows already
        return replace(self, openings=tuple(o for o in self.openings if o not in held), held=held)

    @cached_property
    def causal(self) -> CausalGraph:
        """The causality with a source of its force at every opening.

        Raises: CausalityError where two sources decide one variable.
        """
        return assign_causality(lower(self.freed(source)))

    @cached_property
    def system(self) -> EquationSystem:
        """The equations with these sources."""
        return derive_equations(self.causal)


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
    return all(_sink_kind(opening) is not None for opening in (*opened.openings, *opened.held))


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


def force_signal(opening: Opening, formula: Expression) -> SignalDefinition:
    """The force of a constraint as a signal."""
    return formula_signal(opening.name, formula, unit_of(opening.domain, opening.side))


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
