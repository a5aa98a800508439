"""The values that describe signals: what inputs do over time, the blocks that make signals, what passes between systems."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import final

from tellegen.core.errors import Place
from tellegen.core.units import Dimension
from tellegen.expressions import Expression


@final
@dataclass(frozen=True, slots=True)
class Signal:
    """What an input does over time: a constant, a named shape such as `step(24 V)` with its arguments in SI units, or a formula.

    `expression` says it as a formula of time, parameters, signals and variables, whatever the shape.
    """

    shape: str
    arguments: tuple[Expression, ...]
    text: str
    expression: Expression | None = None


@final
@dataclass(frozen=True, slots=True)
class Points:
    """The points of a table, in SI units, with what they were read from: a file and its columns, or nothing."""

    points: tuple[float, ...]
    values: tuple[float, ...]
    source: str = field(default="", compare=False)


SignalSetting = Expression | tuple[Expression, ...] | tuple[str, ...] | str | Points | Callable[..., float]
"""What a key of a signal block holds: a formula, several, names, a word, the points of a table, a Python function."""


@final
@dataclass(frozen=True, slots=True)
class SignalDefinition:
    """A causal signal: `block` is a word of the table of signal blocks, `settings` what its keys hold, in SI units.

    A plain formula is the block `formula` with the setting `formula`. Settings that were left out are not there: the table has
    their defaults. `texts` keeps what the user wrote for each key, `dimension` is None where the unit is not known. `unit` is how
    results write it, where that is more than the dimension tells: a torque is in N*m, not in J.
    """

    name: str
    block: str
    settings: Mapping[str, SignalSetting]
    dimension: Dimension | None = None
    place: Place | None = field(default=None, compare=False)
    texts: Mapping[str, str] = field(default_factory=dict, compare=False)
    unit: str = field(default="", compare=False)


@final
@dataclass(frozen=True, slots=True)
class SignalPorts:
    """The signals that a system takes from others, and those that it offers."""

    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
