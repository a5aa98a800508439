"""Functional mock-up units (FMI 2.0 and 3.0) as models see them: what a description says, and the signals that ask a unit."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, final

UnitKind = Literal["model exchange", "co-simulation"]
UnitQuestion = Literal["rate", "output", "indicator"]


@final
@dataclass(frozen=True, slots=True)
class UnitVariable:
    """A real variable of a unit: its name, its value reference, its unit and its value at the start, where there is one."""

    name: str
    reference: int
    unit: str = ""
    start: float | None = None
    about: str = ""


@final
@dataclass(frozen=True)
class MockupUnit:
    """What the description of a unit says. `identifiers` name its libraries by kind, `keeps` and `asks_steps` what they can.

    `rates` are the references of the derivatives of `states`; `indicators` counts the event indicators.
    """

    path: str
    name: str
    version: Literal["2", "3"]
    token: str
    identifiers: Mapping[UnitKind, str] = field(hash=False)
    keeps: Mapping[UnitKind, bool] = field(hash=False)
    asks_steps: bool
    inputs: tuple[UnitVariable, ...]
    outputs: tuple[UnitVariable, ...]
    parameters: tuple[UnitVariable, ...]
    states: tuple[UnitVariable, ...]
    indicators: int
    until: float | None = None
    about: str = ""


@final
@dataclass(frozen=True)
class UnitUse:
    """A unit as a block of a model uses it: its kind, the inputs and parameters that it is given, in this order, and its period.

    `states` are the names of its states in the model, `events` that of the signal which counts its events.
    """

    unit: MockupUnit
    kind: UnitKind
    inputs: tuple[int, ...]
    parameters: tuple[int, ...]
    every: float = 0.0
    states: tuple[str, ...] = ()
    events: str = ""


@final
@dataclass(frozen=True)
class UnitSignal:
    """What a signal asks of a unit: one of its rates, outputs or event indicators."""

    use: UnitUse
    question: UnitQuestion
    place: int

    def __call__(self, *arguments: float) -> float:
        """Never by itself: C calls the unit."""
        raise RuntimeError("a functional mock-up unit runs in compiled code only: a C compiler is needed")
