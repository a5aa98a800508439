"""Impacts of rigid bodies: the across variable of a stop leaves it reversed, by an impulse that every storage behind it feels."""

from dataclasses import dataclass, replace
from typing import final

import numpy as np
from numpy.typing import NDArray

from tellegen.core.errors import ERROR_OF_LAYER, Finding
from tellegen.simulation.handover import Handover, bounced, hand_over
from tellegen.simulation.mode_models import HybridState, Mode, ModeModel, ModeModels
from tellegen.simulation.stretch import Standing

Array = NDArray[np.float64]


@final
@dataclass(frozen=True)
class Impact:
    """What an impact leaves: the state, the mode to go on from, what was handed over, and whether the bodies now rest.

    `contact` is the mode in which they touch.
    """

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
        self, model: ModeModel, state: HybridState, mode: Mode, element: str, to: str, at: Standing
    ) -> Impact | None:
        """The impact of an element that would change to the mode `to`; None where that change is no impact.

        Raises: CausalityError when the bodies cannot be in contact.
        """
        k = self.models.elements.index(element)
        transition = next(t for t in self.models.laws[k].transitions[model.mode[k]] if t.to == to)
        if transition.restitution is None:
            return None
        contact = tuple(to if i == k else word for i, word in enumerate(mode))
        target = self.models.get(contact)
        if isinstance(target, Finding):
            raise ERROR_OF_LAYER[target.code[0]](target)
        storages = self.models.storages
        restitution = transition.restitution.evaluate(storages.environment(state.displacements))
        target.remember(state)
        plastic = hand_over(target, storages, state, at.t)
        if self._hardly_moves(element, restitution, self._speed(model, element, at)):
            return Impact(replace(state, outputs=plastic.outputs), contact, plastic, True, contact)
        made = bounced(storages, state, plastic, restitution)
        return Impact(replace(state, outputs=made.outputs), mode, made, False, contact)

    def _hardly_moves(self, element: str, restitution: float, speed: float) -> bool:
        fastest = self._fastest[element] = max(self._fastest.get(element, 0.0), speed)
        return restitution * speed <= max(self.rtol * fastest, self.atol)

    @staticmethod
    def again(models: ModeModels, state: HybridState, element: str, impact: "Impact", before: Mode, t: float) -> Array:
        """The outputs after the same impact from a state nearby, where nothing else is decided."""
        target = models.get(impact.contact)
        assert isinstance(target, ModeModel), "the impact has happened"
        target.remember(state)
        plastic = hand_over(target, models.storages, state, t)
        if impact.rests:
            return plastic.outputs
        k = models.elements.index(element)
        transition = next(to for to in models.laws[k].transitions[before[k]] if to.to == impact.contact[k])
        assert transition.restitution is not None, "the impact has happened"
        restitution = transition.restitution.evaluate(models.storages.environment(state.displacements))
        return bounced(models.storages, state, plastic, restitution).outputs

    @staticmethod
    def _speed(model: ModeModel, element: str, at: Standing) -> float:
        """The across variable of the element before the impact."""
        observables = model.model.observables
        place = next(i for i, o in enumerate(observables) if o.element == element and o.kind == "across")
        return float(model.model.observe(at.t, at.y, at.yp, model.context)[place])
