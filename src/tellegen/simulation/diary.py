"""What a run through modes met, instant by instant, for whoever goes the same way again."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import final

from tellegen.compiler.channels import EventFunction
from tellegen.simulation.impacts import Impact
from tellegen.simulation.mode_choice import Trial
from tellegen.simulation.mode_models import HybridState, ModeModel, ModeModels
from tellegen.simulation.stretch import Standing


@final
@dataclass(frozen=True)
class Knock:
    """An impact of an element."""

    element: str
    impact: Impact


@final
@dataclass(frozen=True)
class Passage:
    """From one stretch to the next: the mode that was left and where, by which events and impacts, and the one entered.

    `memory` is what sampled signals held.
    """

    before: ModeModel
    left: Standing
    hits: tuple[EventFunction, ...]
    knocks: tuple[Knock, ...]
    entered: Trial
    memory: Mapping[str, float]

    @property
    def changed(self) -> bool:
        """Whether the mode changed, or a body bounced."""
        return bool(self.knocks) or self.before.mode != self.entered.model.mode


@final
@dataclass
class Diary:
    """The start of a run and every passage from then on."""

    passages: list[Passage] = field(default_factory=list)
    models: ModeModels | None = None
    state: HybridState | None = None
    first: Trial | None = None
    memory: Mapping[str, float] = field(default_factory=dict)

    def begin(self, models: ModeModels, state: HybridState, first: Trial) -> None:
        """Note the start: the state from which the first mode was entered."""
        self.models, self.state, self.first = models, state, first
        held = first.model.context.memory[: len(first.model.model.memory)].tolist()
        self.memory = dict(zip(first.model.model.memory, held, strict=True))
