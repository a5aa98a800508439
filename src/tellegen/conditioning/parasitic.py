"""Constraints made elastic: a spring and a damper, or their duals, where a residual sink would stand; how stiff they are, and
small inertias for speeds that have none.

The speed of a slide in a guide that turns moves masses only through constraints. Once these are springs, nothing but springs and
dampers acts on it, so it gets an inertia: a share of what it moves, the square of the slowest frequency of the experiment over that
of the slowest parasitic resonance. The share falls like the errors of the springs do, with order one in the stiffness.

A residual sink is the limit of a storage whose parameter tends to zero (Borutzky and Cellier 1996), so the spring that replaces it
is stiff, and a damper beside it lets the fast motion die out. The stiffness is given, or follows from what the constraint carries:
a force lambda stores lambda^2/(2 K) in the spring, which is to be a small share of the energy (Rideout and Stein 2003).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite, pi, sqrt
from typing import final

from tellegen.causality import assign_causality
from tellegen.conditioning import rules
from tellegen.conditioning.constraint_forces import ForceBalance
from tellegen.conditioning.constraints import ConstrainedModel, output_of
from tellegen.conditioning.initial_states import InitialForces
from tellegen.conditioning.opened_constraints import (
    ConstraintOpening,
    conductor_at,
    force_signal,
    fresh_name,
    kind_at,
    no_opening,
)
from tellegen.core.domains import DOMAINS
from tellegen.core.errors import TellegenError
from tellegen.core.names import did_you_mean, listing
from tellegen.core.units import parse_unit
from tellegen.elements import ElementKind, kinds_of
from tellegen.equations.start import model_start, values_of_parameters
from tellegen.expressions import ZERO, Expression, number, symbol
from tellegen.graph import Port, StorageLaw, lower
from tellegen.model.model import Element, Model, Parameter
from tellegen.model.signals import SignalDefinition

DAMPING = 0.7
"""The damping ratio of a parasitic resonance."""


@final
@dataclass(frozen=True)
class Stiffness:
    """How parasitic elements are sized: one stiffness for all, one for each force, or those that the run asks for.

    A stiffness is the reciprocal of the energy parameter of the new storage: N/m for a spring, 1/H for an inductor, 1/F beside.
    Where a domain has no second storage, it sizes the resistance alone, by which the constraint closes.
    """

    value: float | Mapping[str, float] | None = None
    damping: float = DAMPING


SUGGESTED = Stiffness()
"""Sized by the duration of the experiment."""

ERROR = 1e-3
"""The relative error of coordinates and forces for which parasitic elements are sized when nothing else is said."""


@final
@dataclass(frozen=True)
class Accuracy:
    """The relative error that parasitic elements were sized for, and what was measured on the experiment of the model."""

    asked: float
    coordinates: float
    forces: float

    @property
    def sentence(self) -> str:
        """Which error was asked for, of what, and which is left."""
        return (
            f"Parasitic elements are sized for a relative error of {self.asked:g} of coordinates and forces on the experiment; "
            f"measured: coordinates {self.coordinates:.2g}, forces {self.forces:.2g}."
        )

    def to_json(self) -> dict[str, float]:
        """Three numbers."""
        return {"error": self.asked, "coordinates": self.coordinates, "forces": self.forces}


def sized_by_duration(forces: Sequence[str]) -> str:
    """What is said of parasitic elements that were sized by the duration of the experiment, and by no error."""
    return (
        f"The parasitic elements of {listing(forces, 12)} are sized by the duration of the experiment alone, far faster than its "
        "slowest motion: no error is stated."
    )


def stiffness_for(force: float, energy: float, share: float) -> float:
    """The stiffness at which a force stores the given share of an energy: K = force^2/(2 share energy)."""
    return force * force / (2.0 * share * energy)


def with_small_inertias(model: Model, found: ConstrainedModel, resonances: Mapping[str, float]) -> Model:
    """The model with an inertia in the place of each storage without one that is free; `resonances` are squares of frequencies.

    Raises: ConditioningError (C107) where numbers are missing.
    """
    ports = found.causal.graph.ports
    places: list[tuple[int | None, Port]] = [
        (i, ports[k]) for i, k in enumerate(found.causal.integral) if _weightless(ports[k])
    ]
    places += [(None, ports[k]) for k in found.ports if _weightless(ports[k])]
    if not places:
        return model
    elements = {e.name: e for e in model.elements}
    parameters = dict(model.parameters)
    # The slowest parasitic resonance sets the share, so that the small inertia disturbs less than the springs do.
    slow, fast = _slowest(found, places[0][1]), min(resonances.values())
    for i, port in places:
        element = elements[port.element]
        moved = _inertia_around(found, port) if i is None else _moved_inertia(found, i, port)
        # A share (slow/fast)^2 of what it moves: it falls with the stiffness with order one, as the errors of the
        # springs do.
        value = moved * slow * slow / fast
        elements[port.element] = _heavier(element, value, parameters)
    return replace(model, elements=tuple(elements.values()), parameters=parameters)


def _weightless(port: Port) -> bool:
    return isinstance(port.law, StorageLaw) and port.law.inertia is ZERO


def _heavier(element: Element, value: float, parameters: dict[str, Parameter]) -> Element:
    kind = next(
        k for k in kinds_of(element.kind.domains[0], "storage") if k.side == element.kind.side and not k.weightless
    )
    assert kind.quantity is not None, "an inertia has a parameter"
    name = fresh_name(f"{kind.quantity.key}_{element.name.replace('.', '_')}", {*parameters})
    unit = kind.quantity.unit
    parameters[name] = Parameter(name, number(value), parse_unit(unit).dimension, unit)
    return replace(element, kind=kind, value=symbol(name))


def _slowest(found: ConstrainedModel, port: Port) -> float:
    """The frequency of a motion that takes the whole experiment."""
    until = found.model.experiment.until
    values = model_start(found.model)
    if until is None or not until.free_symbols <= values.keys():
        raise _no_inertia(port, "give a duration of the experiment")
    return 2 * pi / until.evaluate(values)


def _moved_inertia(found: ConstrainedModel, i: int, port: Port) -> float:
    """What a speed moves at the start: its entry in the mass matrix."""
    entry: Expression = found.written(found.system.matrices["L"][i][i])
    values = model_start(found.model)
    # In order of definition: each moving parameter may read the ones before it.
    moving = {n: e for n, e in found.causal.graph.position_dependent.items() if n not in values}
    for name, formula in moving.items():
        values[name] = formula.evaluate(values)
    if not entry.free_symbols <= values.keys():
        raise _no_inertia(port, "give values for the parameters")
    return entry.evaluate(values)


def _inertia_around(found: ConstrainedModel, port: Port) -> float:
    """The largest inertia of the domain, for a speed that follows others as long as constraints are rigid."""
    values = model_start(found.model)
    laws = (p.law for p in found.causal.graph.ports if p.domain == port.domain and p.law.side == port.law.side)
    known = [e for law in laws if isinstance(law, StorageLaw) and (e := law.inertia) is not None]
    sizes = [e.evaluate(values) for e in known if e.free_symbols <= values.keys()]
    if not any(sizes):
        raise _no_inertia(port, "give values for the parameters")
    return max(sizes)


def _no_inertia(port: Port, fix: str) -> TellegenError:
    return rules.BAD_STIFFNESS.error(
        f"no small inertia for '{output_of(port)}' follows from the model", where=port.element, fix=fix
    )


FASTER = 300.0
"""Without a value, a parasitic resonance makes so many radians for each radian of the slowest motion that the run shows."""


def parasitic_storage(opening: ConstraintOpening) -> ElementKind | None:
    """The kind of storage that makes a constraint elastic; None where a domain has no second one."""
    return kind_at(opening, "storage", opening.side)


@final
@dataclass(frozen=True)
class Elastic:
    """A model with parasitic elements: their stiffnesses, and their states, by the name of the force that they carry.

    `by_duration` are the forces for which no stiffness was given.
    """

    model: Model
    stiffnesses: Mapping[str, float]
    states: Mapping[str, str]
    by_duration: tuple[str, ...]


def parasitic_model(found: ConstrainedModel, balance: ForceBalance, stiffness: Stiffness) -> Elastic:
    """The model with parasitic elements at the openings.

    Raises: ConditioningError (C107) for a stiffness that cannot be used.
    """
    return _Parasitic(found, balance, stiffness).model()


class _Parasitic:
    def __init__(self, found: ConstrainedModel, balance: ForceBalance, stiffness: Stiffness) -> None:
        self.found, self.opened, self.stiffness = found, balance.opened, stiffness
        self.forces = InitialForces(balance)
        self.values = values_of_parameters(found.model)
        self.taken = {*found.model.parameters, *(e.name for e in found.model.elements)}
        self.nodes = {n for e in self.opened.model.elements for n in e.nodes}
        self.parameters: dict[str, Parameter] = {}
        self.signals: dict[str, SignalDefinition] = {}
        self.used: dict[str, float] = {}
        self.states: dict[str, str] = {}
        self.by_duration: list[str] = []
        # A misspelt force would be sized silently by the duration.
        self._check_names()

    def model(self) -> Elastic:
        filled = self.opened.freed(self._elements)
        model = replace(
            filled,
            parameters={**filled.parameters, **self.parameters},
            signals={**filled.signals, **self.signals},
        )
        # K/m: squares of frequencies, known only when all stiffnesses are.
        resonances = {o.name: self.used[o.name] / self._inertia(o) for o in self.opened.openings}
        finished = with_small_inertias(model, self.found, resonances)
        return Elastic(finished, self.used, self.states, tuple(self.by_duration))

    def _check_names(self) -> None:
        given = self.stiffness.value
        names = [opening.name for opening in self.opened.openings]
        for name in given if isinstance(given, Mapping) else ():
            if name not in names:
                fix = did_you_mean(name, names) or f"the constraints are {listing(names, 12)}"
                raise rules.BAD_STIFFNESS.error(f"'{name}' is the force of no constraint", fix=fix)

    def _elements(self, opening: ConstraintOpening) -> tuple[Element, ...]:
        stiffness = self._stiffness(opening)
        self.used[opening.name] = stiffness
        other = parasitic_storage(opening)
        # Heat has one kind of storage: no resonance can be made, only a conductance that closes fast.
        if other is None:
            return self._resistance_alone(opening, stiffness)
        storage = self._added(other, "K" if opening.series else "C", opening, stiffness)
        return (
            self._in_series(opening, storage, stiffness)
            if opening.series
            else self._beside(opening, storage, stiffness)
        )

    def _added(self, kind: ElementKind, letter: str, opening: ConstraintOpening, stiffness: float) -> Element:
        name = self._name(f"{letter}_{opening.name}")
        assert kind.quantity is not None, "a storage has a parameter"
        self._parameter(name, stiffness if kind.inverse else 1.0 / stiffness, kind.quantity.unit)
        return Element(name, kind, opening.nodes, value=symbol(name))

    def _in_series(self, opening: ConstraintOpening, storage: Element, stiffness: float) -> tuple[Element, ...]:
        """A spring and a damper side by side; together they carry the force of the constraint."""
        # d = 2 D sqrt(K m), the damping of the resonance with the storage that is held.
        damper = self._damper(opening, opening.nodes, sqrt(stiffness * self._inertia(opening)), "through")
        forces = [DOMAINS[opening.domain].through.symbol] * 2
        names = [self._name(f"{letter}_{e.name}") for letter, e in zip(forces, (storage, damper), strict=True)]
        spring, damper = (
            replace(e, variables={"through": name}) for e, name in zip((storage, damper), names, strict=True)
        )
        self.states[opening.name] = names[0]
        # What holds the storage is the spring and the damper together.
        self._signal(opening, symbol(names[0]) + symbol(names[1]))
        return spring, damper

    def _beside(self, opening: ConstraintOpening, storage: Element, stiffness: float) -> tuple[Element, ...]:
        """A small mass or capacitance in series with a resistance, across the storage or from one of its nodes."""
        plus, minus = self._ends(opening, storage)
        inner = fresh_name(f"{plus}_{opening.name}", self.nodes)
        self.nodes.add(inner)
        damper = self._damper(opening, (plus, inner), sqrt(stiffness * self._inertia(opening)), "across")
        across = DOMAINS[opening.domain].across.symbol
        name = self._name(f"{across}_{storage.name}")
        # Only then is the state of the new mass the difference that the constraint held at zero.
        if (plus, minus) == opening.nodes:  # a mass stands against the frame, and may move with another speed
            self.states[opening.name] = name
        self._signal(opening, self.found.taken(opening.constraint.storage))
        return replace(storage, nodes=(inner, minus), variables={"across": name}), damper

    def _resistance_alone(self, opening: ConstraintOpening, stiffness: float) -> tuple[Element, ...]:
        """Where a domain has one kind of storage: a conductance that closes the constraint at the rate asked for."""
        if kind_at(opening, "resistive") is None:
            return self._conductor(opening, stiffness)
        # Without a resonance the stiffness is taken as the rate at which the constraint closes.
        damper = self._damper(opening, opening.nodes, stiffness / (2 * self.stiffness.damping), "through")
        name = self._name(f"{DOMAINS[opening.domain].through.symbol}_{damper.name}")
        self._signal(opening, symbol(name))
        return (replace(damper, variables={"through": name}),)

    def _conductor(self, opening: ConstraintOpening, conductance: float) -> tuple[Element, ...]:
        """Where even a resistance would lose what the domain keeps: heat passes on, and makes a little entropy."""
        kind = conductor_at(opening)
        if kind is None or kind.quantity is None:
            raise no_opening(opening)
        name = self._name(f"d_{opening.name}")
        self._parameter(name, conductance, kind.quantity.unit)
        self._signal(opening, self.found.taken(opening.constraint.storage))
        reference = DOMAINS[opening.domain].reference
        nodes = (opening.nodes[0], reference, opening.nodes[1], reference)
        return (Element(name, kind, nodes, value=symbol(name)),)

    def _damper(self, opening: ConstraintOpening, ends: tuple[str, str], wave: float, gives: str) -> Element:
        """The dissipator that damps the resonance; `wave` is the square root of stiffness times inertia."""
        kind = kind_at(opening, "resistive")
        if kind is None:
            raise no_opening(opening)
        ratio = 2.0 * self.stiffness.damping * wave  # through over across in series, across over through beside
        name = self._name(f"d_{opening.name}")
        unit = kind.quantity.unit if kind.quantity is not None else ""
        self._parameter(name, ratio if kind.side == gives else 1.0 / ratio, unit)
        return Element(name, kind, ends, value=symbol(name))

    def _ends(self, opening: ConstraintOpening, storage: Element) -> tuple[str, str]:
        """Across the storage; a mass, which stands against the frame, at the node that makes all storages independent."""
        if not storage.kind.grounded:
            return opening.nodes
        reference = DOMAINS[opening.domain].reference
        free = [n for n in opening.nodes if n != reference]
        for node in free:
            trial = replace(
                self.opened.model, elements=(*self.opened.model.elements, replace(storage, nodes=(node, reference)))
            )
            model = replace(trial, parameters={**trial.parameters, **self.parameters})
            ports = assign_causality(lower(model))
            following = {ports.graph.ports[k].element for k in ports.derivative}
            if not {storage.name, opening.constraint.storage} & following:
                return node, reference
        return (free or list(opening.nodes))[0], reference

    # -- numbers and names -----------------------------------------------------------------------------------------------------

    def _stiffness(self, opening: ConstraintOpening) -> float:
        given = self.stiffness.value
        value = given.get(opening.name) if isinstance(given, Mapping) else given
        if value is None:
            self.by_duration.append(opening.name)
            return self._suggested(opening)
        if not (isfinite(value) and value > 0.0):
            raise rules.BAD_STIFFNESS.error(
                f"the stiffness at '{opening.constraint.storage}' would be {value:g}",
                where=opening.constraint.storage,
                fix="give a positive number",
            )
        return value

    def _inertia(self, opening: ConstraintOpening) -> float:
        """The energy parameter of the dependent storage: a mass, a capacitance; a compliance or an inductance beside.

        A joint that holds what turns by what slides moves neither a mass nor an inertia alone, nor does one at a speed without
        inertia.
        """
        element = self.found.elements[opening.constraint.storage]
        # A torque that holds a sliding mass moves neither: E of the force balance tells what it does move.
        if element.kind.domains[0] != opening.domain or element.kind.weightless:
            moved = self.forces.inertia(opening.name, model_start(self.found.model))
            if moved is None:
                raise self._no_value(opening)
            return moved
        if element.value is None or not element.value.free_symbols <= self.values.keys():
            raise self._no_value(opening)
        value = element.value.evaluate(self.values)
        if value <= 0:
            raise self._no_value(opening)
        return 1.0 / value if element.kind.inverse else value

    def _suggested(self, opening: ConstraintOpening) -> float:
        """The resonance of the new storage with the dependent one is far above the slowest motion of the experiment.

        A resistance alone closes its constraint as much faster as the energy of such a resonance is smaller: by the square.
        """
        until = self.found.model.experiment.until
        if until is None or not until.free_symbols <= self.values.keys():
            raise self._no_value(opening)
        slowest = 2 * pi / until.evaluate(self.values)
        # K = m w^2 with w far above the slowest motion of the experiment.
        return float(self._inertia(opening) * FASTER**2 * (slowest**2 if parasitic_storage(opening) else slowest))

    def _no_value(self, opening: ConstraintOpening) -> TellegenError:
        return rules.BAD_STIFFNESS.error(
            f"no stiffness at '{opening.constraint.storage}' follows from the model",
            where=opening.constraint.storage,
            fix="give one (stiffness=1e6), values for the parameters, and a duration of the experiment",
        )

    def _name(self, wanted: str) -> str:
        name = fresh_name(wanted, self.taken)
        self.taken.add(name)
        return name

    def _parameter(self, name: str, value: float, unit: str) -> None:
        dimension = parse_unit(unit).dimension if unit else None
        self.parameters[name] = Parameter(name, number(value), dimension, unit)

    def _signal(self, opening: ConstraintOpening, formula: Expression) -> None:
        self.signals[opening.name] = force_signal(opening, formula)
