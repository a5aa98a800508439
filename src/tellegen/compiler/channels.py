"""What a compiled model tells beside its rates: observables, events, sampling instants, delays, known times."""

from dataclasses import dataclass
from typing import Literal, final

ObservableKind = Literal["across", "through", "power", "energy", "signal", "output"]
EventKind = Literal["transition", "restart", "bend"]


@final
@dataclass(frozen=True, slots=True)
class Observable:
    """One number that `observe` gives: a power variable, a power, an energy, a signal or the output of a source.

    Powers are positive into storages and resistive elements and out of sources; the conjugate of a source counts the same way.
    """

    name: str
    kind: ObservableKind
    element: str = ""
    domain: str = ""
    unit: str = ""


@final
@dataclass(frozen=True, slots=True)
class EventFunction:
    """A number whose change of sign is an event: a transition of mode (rising, to the mode `to`), or a place to restart at, where
    formulas jump or only bend."""

    name: str
    element: str
    direction: int
    kind: EventKind
    to: str = ""


@final
@dataclass(frozen=True, slots=True)
class SampleGroup:
    """Signals sampled together at offset, offset + period, ...; `members` are their places in the memory."""

    period: float
    offset: float
    members: tuple[int, ...]


@final
@dataclass(frozen=True, slots=True)
class Delay:
    """A delayed signal: the observable that it repeats, how much later, and its value before."""

    name: str
    observable: int
    by: float
    initial: float


@final
@dataclass(frozen=True, slots=True)
class BreakTimes:
    """A known time at which a signal jumps or bends, and, with a period, every such time after it."""

    at: float
    period: float | None = None
