"""A bond graph as a value: junctions, one-ports and two-ports joined by half arrows, and the signals that drive sources.

The reader makes it from the lines of a file, with domains and strokes still open; the construction from a causal graph fills these
in; simplification, folding into vector bonds and inversion rewrite it; figures and the writer of files consume it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, final

from tellegen.core.domains import DOMAINS, Domain, Side, other_side
from tellegen.core.errors import Place

ItemRole = Literal["junction", "one-port", "two-port"]
BondEnd = Literal["tail", "head", ""]
LawRole = Literal["", "source", "storage", "resistive", "switching"]


@final
@dataclass(frozen=True, slots=True)
class ItemLetters:
    """What letters before a name mean: the role in the graph, that of the element, and the variable that its law gives.

    The latter is empty where letters stand for laws of either kind. A detector takes no flow (De) or no effort (Df), so that its
    law gives the variable that it does not read; so do residual sinks.
    """

    role: ItemRole
    meaning: str
    element: LawRole = ""
    gives: Literal["", "effort", "flow"] = ""


ITEMS: Final[dict[str, ItemLetters]] = {
    "0": ItemLetters("junction", "junction of one effort"),
    "1": ItemLetters("junction", "junction of one flow"),
    "Se": ItemLetters("one-port", "source of effort", "source", "effort"),
    "Sf": ItemLetters("one-port", "source of flow", "source", "flow"),
    "C": ItemLetters("one-port", "storage of displacement", "storage", "effort"),
    "I": ItemLetters("one-port", "storage of momentum", "storage", "flow"),
    "R": ItemLetters("one-port", "resistive element", "resistive"),
    "TF": ItemLetters("two-port", "transformer: e_a = m e_b, f_b = m f_a along the half arrows"),
    "GY": ItemLetters("two-port", "gyrator: e_a = r f_b, e_b = r f_a along the half arrows"),
    "MSe": ItemLetters("one-port", "source of effort that follows a signal", "source", "effort"),
    "MSf": ItemLetters("one-port", "source of flow that follows a signal", "source", "flow"),
    "MR": ItemLetters("one-port", "resistive element whose value moves", "resistive"),
    "MTF": ItemLetters("two-port", "transformer whose modulus moves"),
    "MGY": ItemLetters("two-port", "gyrator whose modulus moves"),
    "IC": ItemLetters("one-port", "storage with ports of both kinds", "storage"),
    # A detector of effort takes no flow: as a law it gives the flow, which is zero, and reads the effort.
    "De": ItemLetters("one-port", "detector of an effort: an ideal sensor", "resistive", "flow"),
    "Df": ItemLetters("one-port", "detector of a flow: an ideal sensor", "resistive", "effort"),
    "rSe": ItemLetters("one-port", "residual sink: its effort is such that its flow is zero", "resistive", "flow"),
    "rSf": ItemLetters("one-port", "residual sink: its flow is such that its effort is zero", "resistive", "effort"),
    "Sw": ItemLetters("one-port", "element with modes: a switch, a diode, a clutch, a stop", "switching"),
}
"""The letters, in the order in which messages and the reference list them."""

DETECTORS: Final = ("De", "Df")
SINKS: Final = ("rSe", "rSf")
MOST_PORTS: Final = 1000
"""The largest size of a vector bond."""
MOST_NUMBER: Final = 9999
"""The largest number that an author may give to a bond."""


def plain_kind(letters: str) -> str:
    """The letters without the one that says that a value moves: TF for MTF."""
    return letters.removeprefix("M")


def part_name(name: str, part: int) -> str:
    """The name of a component of a vector item, counted from 1."""
    return f"{name}[{part}]"


@final
@dataclass(frozen=True, slots=True)
class BondItem:
    """A junction, a one-port or a two-port.

    `variables` name what a junction's bonds share, or what a one-port decides: one name for all components, or one each. `size` is
    the number of components, 0 where nothing says it. In a graph of scalar bonds a component of a vector item is an item of its
    own, whose name says whose component it is; its `size` is that of the whole.
    """

    name: str
    letters: str
    domain: str = ""
    variables: tuple[str, ...] = ()
    size: int = 0
    place: Place | None = field(default=None, compare=False)

    @property
    def kind(self) -> str:
        """What it is: `0` or `1` of a junction, `TF` or `MGY` of a two-port."""
        return self.letters

    @property
    def role(self) -> ItemRole:
        """Junction, one-port or two-port."""
        return ITEMS[self.letters].role

    @property
    def variable(self) -> str:
        """The name of its variable, or a list of those of its components; empty where none is given."""
        return (
            self.variables[0] if len(self.variables) == 1 else f"[{', '.join(self.variables)}]" * bool(self.variables)
        )

    @property
    def shares(self) -> Side:
        """The power variable that all bonds of a junction have in common: the same in the across / through reading."""
        domain = DOMAINS[self.domain]
        return domain.effort if self.letters == "0" else domain.flow

    @property
    def series(self) -> bool:
        """Whether the elements at a junction share the through variable."""
        return self.shares == "through"

    @property
    def origin(self) -> str:
        """The name of the item as it is written."""
        return self.name.partition("[")[0]

    @property
    def part(self) -> int:
        """Which component it is, counted from 1; 0 for an item that is whole."""
        return int(self.name.partition("[")[2].rstrip("]") or 0)


@final
@dataclass(frozen=True, slots=True)
class PowerBond:
    """A half arrow: power counts as positive from `tail` to `head`. The stroke stands at the end that receives the effort.

    A port counts a component of a vector item, or a bond on one side of a two-port with a matrix, from 1; 0 means all of them.
    What is not known yet is empty. A vector bond stands for `size` scalar bonds with the same stroke. `numbered` tells that the
    author gave it its number.
    """

    tail: str
    head: str
    tail_port: int = 0
    head_port: int = 0
    number: int = 0
    domain: str = ""
    across: str = ""
    through: str = ""
    stroke: BondEnd = ""
    size: int = 1
    place: Place | None = field(default=None, compare=False)
    numbered: bool = field(default=False, compare=False)

    @property
    def effort(self) -> str:
        """The name of the effort."""
        return self.variable(DOMAINS[self.domain].effort)

    @property
    def flow(self) -> str:
        """The name of the flow."""
        return self.variable(DOMAINS[self.domain].flow)

    def variable(self, side: Side) -> str:
        """The name of a power variable."""
        return self.across if side == "across" else self.through

    def other(self, name: str) -> str:
        """The item at the other end."""
        return self.head if self.tail == name else self.tail

    def receives(self, name: str) -> Side:
        """The power variable that the item at an end is told through this bond."""
        domain: Domain = DOMAINS[self.domain]
        # The stroke stands where the effort is received, so at the other end the flow is.
        at_stroke = (self.head if self.stroke == "head" else self.tail) == name
        return domain.effort if at_stroke else domain.flow

    def brings(self, name: str) -> Side:
        """The power variable that the item at an end gives to this bond."""
        return other_side(self.receives(name))


@final
@dataclass(frozen=True, slots=True)
class SignalBond:
    """A signal that drives a source: `expression` is as the user wrote it, `place` where it stands."""

    expression: str
    target: str
    place: Place | None = field(default=None, compare=False)


@final
@dataclass(frozen=True, slots=True)
class BondGraph:
    """Items by name, in the order of description, their bonds, and the signals of sources."""

    items: Mapping[str, BondItem]
    bonds: tuple[PowerBond, ...]
    signals: tuple[SignalBond, ...] = ()
    _at: Mapping[str, tuple[PowerBond, ...]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        at: dict[str, list[PowerBond]] = {}
        for bond in self.bonds:
            # Kept once: every rewriting asks for the bonds of an item, and a search would take a time that grows with
            # the square.
            at.setdefault(bond.tail, []).append(bond)
            at.setdefault(bond.head, []).append(bond)
        object.__setattr__(self, "_at", {name: tuple(bonds) for name, bonds in at.items()})

    def bonds_of(self, name: str) -> tuple[PowerBond, ...]:
        """The bonds at an item; one that starts and ends there counts twice."""
        return self._at.get(name, ())

    def of_role(self, role: ItemRole) -> Iterator[BondItem]:
        """The junctions, the one-ports or the two-ports, in order."""
        return (item for item in self.items.values() if item.role == role)

    def __str__(self) -> str:
        """One bond a line: number, items, stroke (`|` at its end), effort and flow."""
        return "\n".join(map(self._line, self.bonds))

    def _line(self, bond: PowerBond) -> str:
        arrow = "|->" if bond.stroke == "tail" else "->|"
        if bond.size > 1:
            arrow = arrow.replace("->", f"-[{bond.size}]->")
        ends = (
            f"{self.items[name].letters}:{name}" + (f"[{port}]" if port else "")
            for name, port in ((bond.tail, bond.tail_port), (bond.head, bond.head_port))
        )
        return f"{bond.number:>3}  {f' {arrow} '.join(ends)}   ({bond.effort}, {bond.flow})"


@final
@dataclass(frozen=True, slots=True)
class BondEnds:
    """What a bond is known by however its model is drawn: one-ports and sides of two-ports keep their names.

    Junctions lose theirs. A bond between two of them is known by what hangs on either.
    """

    ports: frozenset[str]
    tail: frozenset[str] = frozenset()
    head: frozenset[str] = frozenset()

    def likeness(self, other: "BondEnds") -> int:
        """How much speaks for one and the same bond, in either direction; 0 where it is another one."""
        if self.ports or other.ports:
            return len(self.ports & other.ports)
        ways = ((self.tail & other.tail, self.head & other.head), (self.tail & other.head, self.head & other.tail))
        return max(len(one) + len(two) if one and two else 0 for one, two in ways)


def bond_ends(graph: BondGraph, called: Mapping[str, str]) -> Iterator[tuple[PowerBond, BondEnds]]:
    """Each bond with what it is known by; `called` are the names of elements where items have others."""

    def port(name: str, bond: PowerBond) -> str:
        """The end at a one-port or at a side of a two-port; nothing at a junction."""
        role, at_tail = graph.items[name].role, bond.tail == name
        if role == "junction":
            return ""
        count = bond.tail_port if at_tail else bond.head_port
        side = "" if role == "one-port" else " out" if at_tail else " in"
        return called.get(name, name) + (f"[{count}]" if count else "") + side

    def hanging(name: str) -> frozenset[str]:
        return frozenset(end for bond in graph.bonds_of(name) if (end := port(bond.other(name), bond)))

    def spot(name: str) -> frozenset[str]:
        """What hangs on a junction; where nothing does, its name and what hangs on those beside it."""
        beside = {f"beside {end}" for bond in graph.bonds_of(name) for end in hanging(bond.other(name))}
        return hanging(name) or frozenset({name, *beside})

    spots = {item.name: spot(item.name) for item in graph.of_role("junction")}
    for bond in graph.bonds:
        ports = frozenset(end for name in (bond.tail, bond.head) if (end := port(name, bond)))
        yield bond, BondEnds(ports) if ports else BondEnds(ports, spots[bond.tail], spots[bond.head])
