"""States handed from one mode to the next by conservation of flux, charge and momentum, and impacts of rigid bodies.

Where a mode makes storages dependent, x_d = T z + x_0, and the impulses of the constraints do no work on any motion that the mode
allows: the contents change such that

    (p(z+) - p(z-)) + T^T (p_d(T z+ + x_0) - p_d-) = 0

which for linear storages is T^T L T z+ = T^T (contents before). What sources that impose x_0 supply during the impulse is
x_0 (p_d+ - p_d-); what is missing of the energy after that is lost.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, final

import numpy as np

from tellegen.compiler.context import Array
from tellegen.core.errors import ERROR_OF_LAYER, Finding
from tellegen.graph.power_graph import Transition
from tellegen.simulation.hybrid.mode_models import HybridState, Mode, ModeModel, ModeModels, Storages
from tellegen.simulation.solvers.stretch import StatePoint

MOST_ITERATIONS: Final = 50
CONVERGED: Final = 1e-13
ROUNDING: Final = 1e-13
"""A loss below this share of the energy at stake is none."""
PROBE: Final = 1e-3
"""By which share of the largest output the linear relation between storages is probed."""


@final
@dataclass(frozen=True)
class Handover:
    """The outputs of all storages in the new mode and how far they had to jump; energy that sources supplied and that was lost.

    `among` are the storages that took part. Energies are worked out when they are asked for: most modes that are tried are left.
    """

    outputs: Array
    mismatch: Array
    among: tuple[int, ...] = ()
    energies: Callable[[], tuple[float, float]] = lambda: (0.0, 0.0)

    @property
    def supplied(self) -> float:
        """The energy that sources supplied in the instant."""
        return self._energies[0]

    @property
    def lost(self) -> float:
        """The energy that was lost in the instant."""
        return self._energies[1]

    @cached_property
    def _energies(self) -> tuple[float, float]:
        return self.energies()

    def is_smooth(self, tolerance: Array) -> bool:
        """Whether no storage had to jump."""
        return not self.among or bool((np.abs(self.mismatch) <= tolerance).all())


def hand_over(target: ModeModel, storages: Storages, state: HybridState, t: float) -> Handover:
    """The outputs of all storages after the change to the mode `target`."""
    if not target.causal.dependent:
        return Handover(state.outputs.copy(), np.zeros(len(state.outputs)))
    own, dependent = target.plans.get("partners") or target.plans.setdefault("partners", _partners(target, storages))
    T, told = _relation(target, state, t, own, dependent)
    before = state.outputs
    # x_0 of the relation: what sources impose on dependent storages, whatever the others do.
    rest = told - T @ before[own]
    after = before.copy()
    mismatch = np.zeros(len(before))
    mismatch[dependent] = told - before[dependent]
    environment = storages.environment(state.displacements)
    # Others keep their contents: an impulse reaches only what the constraints join.
    among = [*own, *dependent]
    for _ in range(MOST_ITERATIONS if own else 0):  # without partners the mode tells all that there is to know
        after[dependent] = T @ after[own] + rest
        change = storages.change(among, before, after, environment)
        inertia = storages.inertia(among, after, environment)
        # All motions that the mode allows: the impulses of the constraints do no work along these.
        motion = np.vstack([np.eye(len(own)), T])
        # Newton, for contents of nonlinear laws; a linear one is done in one step.
        step = np.linalg.solve(motion.T @ inertia @ motion, motion.T @ change)
        after[own] -= step
        if np.all(np.abs(step) <= CONVERGED * (np.abs(after[own]) + np.abs(before[own]))):
            break
    after[dependent] = T @ after[own] + rest

    def energies() -> tuple[float, float]:
        supplied = float(rest @ storages.change(dependent, before, after, environment))
        lost = supplied - storages.energy_change(among, before, after, environment)
        # What is at stake, to tell a loss from rounding.
        held = abs(storages.energy_change(among, np.zeros(len(after)), before, environment)) + abs(supplied)
        return supplied, lost if abs(lost) > ROUNDING * held else 0.0

    return Handover(after, mismatch, tuple(among), energies)


def state_after_impact(storages: Storages, state: HybridState, plastic: Handover, restitution: float) -> Handover:
    """The outputs after an impact, from those after a plastic one: every storage gets 1 + e times the jump."""
    before = state.outputs
    after = before + (1.0 + restitution) * (plastic.outputs - before)

    def energies() -> tuple[float, float]:
        supplied = (1.0 + restitution) * plastic.supplied
        gained = storages.energy_change(plastic.among, before, after, storages.environment(state.displacements))
        return supplied, supplied - gained

    return replace(plastic, outputs=after, energies=energies)


def _partners(target: ModeModel, storages: Storages) -> tuple[list[int], list[int]]:
    """The independent storages that take part: those that dependent ones follow, and those in one field with any; and these."""
    dependent = [storages.place(d.port) for d in target.causal.dependent]
    place = {k: i for i, k in enumerate(storages.ports)}
    found = {place[k] for d in target.causal.dependent for k in d.on if k in place}
    # Through fields too: coils on one core share their flux, so one that jumps takes the others along.
    waiting = [*found, *dependent]
    while waiting:
        for j in storages.partners(waiting.pop()):
            if j not in found and j not in dependent:
                found.add(j)
                waiting.append(j)
    return sorted(i for i in found if target.independent[i] >= 0), dependent


def _relation(
    target: ModeModel, state: HybridState, t: float, own: list[int], dependent: list[int]
) -> tuple[Array, Array]:
    """T, and what the mode tells the dependent storages at the present outputs of the others."""
    y = target.compose(state)
    yp = np.zeros(len(y))
    observed = target.observed[dependent]

    def told(at: Array) -> Array:
        return np.asarray(target.model.observe(t, at, yp, target.context)[observed])

    base = told(y)
    if (known := target.plans.get("relation")) is not None:
        return known, base
    T = np.zeros((len(dependent), len(own)))
    largest = float(np.max(np.abs(state.outputs), initial=0.0))
    step = PROBE * largest if largest > 0.0 else 1.0
    for column, i in enumerate(own):
        moved = y.copy()
        # By a difference: the relation is linear in the outputs, so its size hardly matters.
        moved[target.independent[i]] += step
        T[:, column] = (told(moved) - base) / (moved[target.independent[i]] - y[target.independent[i]])
    if target.model.linear:  # the same whenever the mode is met
        target.plans["relation"] = T
    return T, base


@final
@dataclass(frozen=True)
class Impact:
    """What an impact leaves: the element, the state, the mode to go on from, what was handed over, and whether bodies now rest.

    `contact` is the mode in which they touch.
    """

    element: str
    state: HybridState
    mode: Mode
    handover: Handover
    rests: bool
    contact: Mode


@final
class Impacts:
    """Impacts of one run. Bounces that pile up end in rest: where the speed left is below what the tolerance tells from zero."""

    def __init__(self, models: ModeModels, rtol: float, atol: float) -> None:
        self.models = models
        self.rtol, self.atol = rtol, atol
        self._fastest: dict[str, float] = {}

    def hit(
        self, model: ModeModel, state: HybridState, mode: Mode, element: str, to: str, at: StatePoint
    ) -> Impact | None:
        """The impact of an element that would change to the mode `to`; None where that change is no impact.

        Raises: CausalityError when the bodies cannot be in contact.
        """
        transition = _transition(self.models, element, mode=model.mode, to=to)
        if transition.restitution is None:
            return None
        # The mode in which the bodies touch gives the plastic impact; a bounce is a multiple of that.
        contact = tuple(to if name == element else word for name, word in zip(self.models.elements, mode, strict=True))
        target = self.models.get(contact)
        # Bodies that cannot touch, for sources hold them apart: the run cannot go on, and says why.
        if isinstance(target, Finding):
            raise ERROR_OF_LAYER[target.code[0]](target)
        storages = self.models.storages
        restitution = transition.restitution.evaluate(storages.environment(state.displacements))
        target.remember(state)
        plastic = hand_over(target, storages, state, at.t)
        if self._hardly_moves(element, restitution, self._speed(model, element, at)):
            return Impact(element, replace(state, outputs=plastic.outputs), contact, plastic, True, contact)
        made = state_after_impact(storages, state, plastic, restitution)
        return Impact(element, replace(state, outputs=made.outputs), mode, made, False, contact)

    def _hardly_moves(self, element: str, restitution: float, speed: float) -> bool:
        # Against the fastest impact of this element so far: a ball bounces ever slower, and for ever, in theory.
        fastest = self._fastest[element] = max(self._fastest.get(element, 0.0), speed)
        return restitution * speed <= max(self.rtol * fastest, self.atol)

    @staticmethod
    def _speed(model: ModeModel, element: str, at: StatePoint) -> float:
        """The across variable of the element before the impact."""
        observables = model.model.observables
        place = next(i for i, o in enumerate(observables) if o.element == element and o.kind == "across")
        return float(model.model.observe(at.t, at.y, at.yp, model.context)[place])


def repeated_impact(models: ModeModels, state: HybridState, impact: Impact, before: Mode, t: float) -> Array:
    """The outputs after the same impact from a state nearby, where nothing else is decided."""
    target, storages = models.get(impact.contact), models.storages
    assert isinstance(target, ModeModel), "the impact has happened"
    target.remember(state)
    plastic = hand_over(target, storages, state, t)
    if impact.rests:
        return plastic.outputs
    to = impact.contact[models.elements.index(impact.element)]
    transition = _transition(models, impact.element, mode=before, to=to)
    assert transition.restitution is not None, "the impact has happened"
    restitution = transition.restitution.evaluate(storages.environment(state.displacements))
    return state_after_impact(storages, state, plastic, restitution).outputs


def _transition(models: ModeModels, element: str, *, mode: Mode, to: str) -> Transition:
    k = models.elements.index(element)
    return next(found for found in models.laws[k].transitions[mode[k]] if found.to == to)
