"""Signals once lowered: causal, without power. Every controller, sensor, reference and table is made of these six.

Expressions are over power variables of ports, states, displacements, other signals, parameters and TIME.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, final

from tellegen.core.errors import Place
from tellegen.core.names import TIME
from tellegen.expressions import Expression

__all__ = [
    "TIME",
    "Break",
    "Delayed",
    "External",
    "Integral",
    "Interpolation",
    "Sampled",
    "SignalLaw",
    "Table",
    "Value",
]

Interpolation = Literal["linear", "previous", "cubic"]


@final
@dataclass(frozen=True, slots=True)
class Break:
    """A time at which a signal jumps or bends, known beforehand; with `period`, every such time after it too."""

    at: Expression
    period: Expression | None = None


@final
@dataclass(frozen=True, slots=True)
class Value:
    """A signal that is a function of others at the same time."""

    name: str
    expression: Expression
    breaks: tuple[Break, ...] = ()
    place: Place | None = None
    unit: str = ""


@final
@dataclass(frozen=True, slots=True)
class Integral:
    """A signal with a rate: a state of its own, such as the integral part of a controller."""

    name: str
    rate: Expression
    initial: Expression
    place: Place | None = None
    unit: str = ""


@final
@dataclass(frozen=True, slots=True)
class Sampled:
    """A signal that takes the value of `expression` at offset, offset + period, ... and holds it in between.

    All signals sampled at one instant read the values from before it.
    """

    name: str
    expression: Expression
    period: Expression
    offset: Expression
    initial: Expression
    place: Place | None = None


@final
@dataclass(frozen=True, slots=True)
class Delayed:
    """A signal that repeats `expression` a constant time later; `initial` before that time has passed."""

    name: str
    expression: Expression
    by: Expression
    initial: Expression
    place: Place | None = None


@final
@dataclass(frozen=True, slots=True)
class Table:
    """A signal read from points, in SI units, at the value of `argument`; beyond the points the last value holds."""

    name: str
    argument: Expression
    points: tuple[float, ...]
    values: tuple[float, ...]
    interpolation: Interpolation = "linear"
    place: Place | None = None


@final
@dataclass(frozen=True, slots=True)
class External:
    """A signal computed by a Python function of the arguments: the slow path, never made from a file."""

    name: str
    arguments: tuple[Expression, ...]
    function: Callable[..., float]
    place: Place | None = None


SignalLaw = Value | Integral | Sampled | Delayed | Table | External
