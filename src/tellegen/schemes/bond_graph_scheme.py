"""A bond graph as a value: junctions, one-ports and two-ports joined by bonds with half arrows, strokes and variables."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, final

from tellegen.causality import CausalGraph
from tellegen.core.domains import DOMAINS, Domain, Side, other_side
from tellegen.expressions import Expression
from tellegen.graph import Port, SourceLaw, StorageLaw

JunctionKind = Literal["0", "1"]
OnePortKind = Literal["Se", "Sf", "C", "I", "R"]
TwoPortKind = Literal["TF", "GY"]
BondEnd = Literal["tail", "head"]
Causality = Literal["integral", "derivative", ""]


@final
@dataclass(frozen=True, slots=True)
class Junction:
    """A 0-junction (one effort) or a 1-junction (one flow). `shares` is the same in the across / through reading.

    A vector junction has the junctions of its components as `parts`.
    """

    name: str
    kind: JunctionKind
    domain: str
    shares: Side
    variable: str
    parts: "tuple[Junction, ...]" = ()

    @property
    def series(self) -> bool:
        """Whether its elements share the through variable."""
        return self.shares == "through"


@final
@dataclass(frozen=True, slots=True)
class OnePort:
    """A storage, resistive element or source. `decides` is the power variable that it imposes; `turned` reverses its signs.

    Only linear resistive elements are turned: their law does not see it. `field` names the multiport it is part of. `letters` are
    what stands before its name: those of its kind, or MSe, MSf, MR where a signal or a motion moves it, De, Df for an ideal sensor,
    rSe, rSf for a residual sink, IC for a field of both kinds. A vector one-port or a field has its components as `parts`, `port`
    being that of the first.
    """

    name: str
    kind: OnePortKind
    port: Port
    decides: Side
    turned: bool = False
    field: str = ""
    letters: str = ""
    parts: "tuple[OnePort, ...]" = ()

    @property
    def domain(self) -> str:
        """The physical domain."""
        return self.port.domain

    @property
    def causality(self) -> Causality:
        """Integral or derivative for a storage, empty for the others."""
        if not isinstance(self.port.law, StorageLaw):
            return ""
        return "integral" if self.decides == self.port.law.side else "derivative"


@final
@dataclass(frozen=True, slots=True)
class TwoPort:
    """TF: e_a = m e_b, f_b = m f_a; GY: e_a = r f_b, e_b = r f_a, along the half arrows a -> b. `origins` names its couplings.

    With a `matrix`, TF: f_b = K f_a, e_a = K^T e_b; GY: e_b = K f_a, e_a = K^T f_b, and `domains` are those of the first bonds in
    and out. `letters` are MTF or MGY where the modulus moves.
    """

    name: str
    kind: TwoPortKind
    modulus: Expression
    domains: tuple[str, str]
    origins: tuple[str, ...]
    letters: str = ""
    matrix: tuple[tuple[Expression, ...], ...] = ()


@final
@dataclass(frozen=True, slots=True)
class Bond:
    """A half arrow: power counts as positive from `tail` to `head`. The stroke stands at the end that receives the effort.

    A vector bond has the scalar bonds it stands for as `parts`, all with the same stroke. A scalar bond says which component of a
    vector item, or which port of a two-port with a matrix, it ends at, counted from 1.
    """

    number: int
    tail: str
    head: str
    domain: str
    across: str
    through: str
    stroke: BondEnd
    tail_port: int = 0
    head_port: int = 0
    parts: "tuple[Bond, ...]" = ()

    @property
    def size(self) -> int:
        """The number of scalar bonds it stands for."""
        return len(self.parts) or 1

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
        at_stroke = (self.head if self.stroke == "head" else self.tail) == name
        return domain.effort if at_stroke else domain.flow

    def brings(self, name: str) -> Side:
        """The power variable that the item at an end gives to this bond."""
        return other_side(self.receives(name))


@final
@dataclass(frozen=True)
class BondGraphScheme:
    """A causal bond graph. Names of items are unique; bonds are numbered from 1. `causal` is where it was raised from."""

    name: str
    junctions: Mapping[str, Junction]
    one_ports: Mapping[str, OnePort]
    two_ports: Mapping[str, TwoPort]
    bonds: tuple[Bond, ...]
    causal: CausalGraph = field(compare=False, repr=False)
    _at: Mapping[str, tuple[Bond, ...]] = field(default_factory=dict, compare=False, repr=False)

    def __post_init__(self) -> None:
        at: dict[str, list[Bond]] = {}
        for bond in self.bonds:
            at.setdefault(bond.tail, []).append(bond)
            at.setdefault(bond.head, []).append(bond)
        object.__setattr__(self, "_at", {name: tuple(bonds) for name, bonds in at.items()})

    def bonds_of(self, name: str) -> tuple[Bond, ...]:
        """The bonds at an item."""
        return self._at.get(name, ())

    def sources(self) -> Iterator[OnePort]:
        """The sources, in the order of description."""
        return (item for item in self.one_ports.values() if isinstance(item.port.law, SourceLaw))

    def kind_of(self, name: str) -> str:
        """The letters that stand before the name of an item: 0, 1, Se, Sf, C, I, R, TF, GY, MTF, De, ..."""
        if name in self.junctions:
            return self.junctions[name].kind
        item: OnePort | TwoPort = self.one_ports[name] if name in self.one_ports else self.two_ports[name]
        return item.letters or item.kind

    def size_of(self, name: str) -> int:
        """The number of components of an item; 1 for two-ports, which have a size on either side."""
        item = self.junctions.get(name) or self.one_ports.get(name)
        return len(item.parts) or 1 if item is not None else 1

    def __str__(self) -> str:
        """One bond a line: number, items, stroke (`|` at its end), effort and flow."""
        return "\n".join(self._line(bond) for bond in self.bonds)

    def _line(self, bond: Bond) -> str:
        arrow = "|->" if bond.stroke == "tail" else "->|"
        if bond.size > 1:
            arrow = arrow.replace("->", f"-[{bond.size}]->")
        ends = (
            f"{self.kind_of(name)}:{name}" + (f"[{port}]" if port else "")
            for name, port in ((bond.tail, bond.tail_port), (bond.head, bond.head_port))
        )
        return f"{bond.number:>3}  {f' {arrow} '.join(ends)}   ({bond.effort}, {bond.flow})"
