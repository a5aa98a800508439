"""Elements with modes: switches, diodes, clutches, stiction, stops. Each mode is an ordinary resistive law.

A closed switch is a resistive law `across = 0 * through`, an open one `through = 0 * across`: laws that cannot be inverted and so
decide their own causality. A mode of the whole graph is one word for every such element; `PowerGraph.in_mode` puts the laws in.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

from tellegen.expressions import Expression
from tellegen.graph.laws import ResistiveLaw

ACROSS = "@across"
THROUGH = "@through"
"""The power variables of the port itself in the guard of a transition; no user can write them."""


@final
@dataclass(frozen=True, slots=True)
class Transition:
    """A change of mode when `guard` rises through zero, or is positive where the mode begins.

    Guards are over ACROSS, THROUGH, parameters, states, displacements, signals and time. With `restitution` the change is an
    impact: the across variable of the port leaves it with that factor, reversed, by an impulse of the through variable; `gap` is
    then what is positive before it, and zero in the mode that it leads to.
    """

    to: str
    guard: Expression
    restitution: Expression | None = None
    gap: Expression | None = None


@final
@dataclass(frozen=True, slots=True)
class SwitchingLaw:
    """The law of a port with modes, the first one being where it starts."""

    modes: Mapping[str, ResistiveLaw]
    transitions: Mapping[str, tuple[Transition, ...]]

    @property
    def start(self) -> str:
        """The mode in which a run begins unless the start decides otherwise."""
        return next(iter(self.modes))
