"""A bond graph as a value: junctions, one-ports and two-ports joined by half arrows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, final

from tellegen.core.errors import Place

ItemKind = Literal["0", "1", "Se", "Sf", "C", "I", "R", "TF", "GY"]

JUNCTIONS: Final = ("0", "1")
ONE_PORTS: Final = ("Se", "Sf", "C", "I", "R")
TWO_PORTS: Final = ("TF", "GY")
KINDS: Final[dict[str, str]] = {
    "0": "junction of one effort",
    "1": "junction of one flow",
    "Se": "source of effort",
    "Sf": "source of flow",
    "C": "storage of displacement",
    "I": "storage of momentum",
    "R": "resistive element",
    "TF": "transformer: e_a = m e_b, f_b = m f_a along the half arrows",
    "GY": "gyrator: e_a = r f_b, e_b = r f_a along the half arrows",
}


@final
@dataclass(frozen=True, slots=True)
class Item:
    """A junction, a one-port or a two-port. `variable` names what a junction's bonds share, `domain` is what the user said."""

    name: str
    kind: ItemKind
    variable: str = ""
    domain: str = ""
    place: Place | None = None


@final
@dataclass(frozen=True, slots=True)
class Bond:
    """A half arrow: power is positive from `tail` to `head`."""

    tail: str
    head: str
    place: Place | None = None


@final
@dataclass(frozen=True, slots=True)
class BondGraph:
    """Items by name, in the order of description, and their bonds."""

    items: dict[str, Item]
    bonds: tuple[Bond, ...]
    _at: Mapping[str, Sequence[Bond]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        at: dict[str, list[Bond]] = {}
        for bond in self.bonds:
            at.setdefault(bond.tail, []).append(bond)
            at.setdefault(bond.head, []).append(bond)
        object.__setattr__(self, "_at", at)

    def bonds_of(self, name: str) -> Sequence[Bond]:
        """The bonds at an item; one that starts and ends there counts twice."""
        return self._at.get(name, ())
