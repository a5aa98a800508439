"""A bond graph as it is written: junctions, one-ports and two-ports joined by half arrows, and signals that drive sources."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, final

from tellegen.core.errors import Place

ItemKind = Literal[
    "0",
    "1",
    "Se",
    "Sf",
    "C",
    "I",
    "R",
    "TF",
    "GY",
    "MSe",
    "MSf",
    "MR",
    "MTF",
    "MGY",
    "IC",
    "De",
    "Df",
    "rSe",
    "rSf",
    "Sw",
]

JUNCTIONS: Final = ("0", "1")
TWO_PORTS: Final = ("TF", "GY", "MTF", "MGY")
SOURCES: Final = ("Se", "Sf", "MSe", "MSf")
DETECTORS: Final = ("De", "Df")
SINKS: Final = ("rSe", "rSf")
STORAGES: Final = ("C", "I", "IC")
ITEM_KINDS: Final[dict[str, str]] = {
    "0": "junction of one effort",
    "1": "junction of one flow",
    "Se": "source of effort",
    "Sf": "source of flow",
    "C": "storage of displacement",
    "I": "storage of momentum",
    "R": "resistive element",
    "TF": "transformer: e_a = m e_b, f_b = m f_a along the half arrows",
    "GY": "gyrator: e_a = r f_b, e_b = r f_a along the half arrows",
    "MSe": "source of effort that follows a signal",
    "MSf": "source of flow that follows a signal",
    "MR": "resistive element whose value moves",
    "MTF": "transformer whose modulus moves",
    "MGY": "gyrator whose modulus moves",
    "IC": "storage with ports of both kinds",
    "De": "detector of an effort: an ideal sensor",
    "Df": "detector of a flow: an ideal sensor",
    "rSe": "residual sink: its effort is such that its flow is zero",
    "rSf": "residual sink: its flow is such that its effort is zero",
    "Sw": "element with modes: a switch, a diode, a clutch, a stop",
}
MOST_PORTS: Final = 1000
"""The largest size of a vector bond."""


def plain_kind(kind: str) -> str:
    """The kind without the letter that says that its value moves: TF for MTF."""
    return kind.removeprefix("M")


def part_name(name: str, part: int) -> str:
    """The name of a component of a vector item, counted from 1."""
    return f"{name}[{part}]"


@final
@dataclass(frozen=True, slots=True)
class WrittenItem:
    """A junction, a one-port or a two-port.

    `variables` name what a junction's bonds share, or what a one-port decides: one name for all components, or one each. `domain`
    is what the user said, and so is `size`, the number of components: 0 where nothing was said. In the expanded graph the component
    `part` of a vector item has its own name, and `whole` is that of the item.
    """

    name: str
    kind: ItemKind
    variables: tuple[str, ...] = ()
    domain: str = ""
    size: int = 0
    place: Place | None = None
    whole: str = ""
    part: int = 0

    @property
    def variable(self) -> str:
        """The name of the variable of a scalar item, empty where none is given."""
        return self.variables[0] if self.variables else ""

    @property
    def origin(self) -> str:
        """The name of the item as it is written."""
        return self.whole or self.name


@final
@dataclass(frozen=True, slots=True)
class WrittenBond:
    """A half arrow: power is positive from `tail` to `head`. A port counts a component of the item; 0 means all of them."""

    tail: str
    head: str
    place: Place | None = None
    tail_port: int = 0
    head_port: int = 0


@final
@dataclass(frozen=True, slots=True)
class SignalBond:
    """A signal that drives a source: `expression` is as the user wrote it, `place` where it stands."""

    expression: str
    target: str
    place: Place


@final
@dataclass(frozen=True, slots=True)
class WrittenBondGraph:
    """Items by name, in the order of description, their bonds, and the signals of sources."""

    items: dict[str, WrittenItem]
    bonds: tuple[WrittenBond, ...]
    signals: tuple[SignalBond, ...] = ()
    _at: Mapping[str, Sequence[WrittenBond]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        at: dict[str, list[WrittenBond]] = {}
        for bond in self.bonds:
            at.setdefault(bond.tail, []).append(bond)
            at.setdefault(bond.head, []).append(bond)
        object.__setattr__(self, "_at", at)

    def bonds_of(self, name: str) -> Sequence[WrittenBond]:
        """The bonds at an item; one that starts and ends there counts twice."""
        return self._at.get(name, ())
