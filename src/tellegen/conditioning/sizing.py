"""How stiff parasitic elements are: given, by an error asked for, or by the duration of the experiment."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import final

from tellegen.core.names import listing

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
