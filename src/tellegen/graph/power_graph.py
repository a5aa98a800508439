"""The PowerGraph: ports of storages, resistive elements and sources, joined by a power-conserving interconnection.

The interconnection is a graph of nodes and branches (Kirchhoff's two laws) in which some branches are the sides of couplings
(transformers and gyrators). Any Dirac structure can be written so: a 0-junction is a pair of nodes, a 1-junction a ring of
branches, and a bond between junctions that is no tree a transformer of modulus one.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, final

from tellegen.core.domains import DOMAINS, Domain, Side
from tellegen.core.errors import Finding, Place
from tellegen.expressions import Expression
from tellegen.graph.laws import PortLaw, ResistiveLaw, SourceLaw, StorageLaw
from tellegen.graph.modes import SwitchingLaw
from tellegen.graph.signals import SignalLaw


@final
@dataclass(frozen=True, slots=True)
class Node:
    """A point where across variables meet. The across variable of a `reference` is zero by definition."""

    name: str
    domain: str
    reference: bool


@final
@dataclass(frozen=True, slots=True)
class Port:
    """One power port of one element: across = p[plus] - p[minus], through enters at plus, so power is positive into the element.

    A source is counted the same way; its output is the conjugate with the opposite sign, so that y*u is the power it supplies.
    `transferred` marks a dissipator whose heat goes into a thermal port, and the source that brings it there: nothing is lost.
    `part_of` names the field, made from other elements, that the port belongs to; a source that does moves the field's matrix.
    """

    element: str
    domain: str
    plus: int
    minus: int
    law: PortLaw
    across: str
    through: str
    state: str = ""
    initial: Expression | None = None
    prefer: Side | None = None
    forced: bool = False
    place: Place | None = None
    transferred: bool = False
    part_of: str = ""

    def variable(self, side: Side) -> str:
        """The name of a power variable of the port."""
        return self.across if side == "across" else self.through


def heat_taken(port: Port, nodes: Sequence[Node]) -> int:
    """How the heat flow through a port counts: what comes from the reference or goes to it is not that of the system.

    One where it ends at the reference, minus one where it begins there, zero between two other nodes: all is passed on.
    """
    return int(nodes[port.minus].reference) - int(nodes[port.plus].reference)


class Branch(NamedTuple):
    """One side of a coupling between two nodes, with the power variable that the coupling's matrix acts on."""

    plus: int
    minus: int
    domain: str
    side: Side


@final
@dataclass(frozen=True, slots=True)
class Coupling:
    """A power-conserving connection: z_2 = K z_1 and, for the conjugates, w_1 = K^T w_2. Power enters at 1 and leaves at 2.

    z_k are the power variables named by `side` of the branches, so one matrix writes transformers and gyrators of both readings,
    scalar and vectorial. Through variables enter at `plus` of branches of side 1 and leave at `plus` of branches of side 2.
    `names` are those that the user gave to power variables of its ports: `across_1`, `through_2`, ...
    """

    element: str
    side_1: tuple[Branch, ...]
    side_2: tuple[Branch, ...]
    K: tuple[tuple[Expression, ...], ...]
    place: Place | None = None
    names: Mapping[str, str] = field(default_factory=dict, compare=False)

    @property
    def free_symbols(self) -> frozenset[str]:
        """The names in the matrix."""
        return frozenset().union(*(entry.free_symbols for row in self.K for entry in row))


@final
@dataclass(frozen=True, slots=True)
class Field:
    """Ports of one storage or resistive element whose laws are coupled by a matrix.

    Storages: energy variables = matrix * outputs, the matrix symmetric. Resistive: the variables that the laws give = matrix * the
    others. The laws of the ports hold the diagonal. A field with an `energy`, which is over the states of its ports, has laws that
    give their outputs by all these states; its matrix is the identity, and the first port holds the energy of all. `by_laws` says
    the same of a resistive field: the law of each port reads what the others are told, under the names of these variables.
    `stiffness` is the inverse of the matrix where the user gave that: texts keep it.
    """

    element: str
    ports: tuple[int, ...]
    matrix: tuple[tuple[Expression, ...], ...]
    energy: Expression | None = None
    by_laws: bool = False
    stiffness: tuple[tuple[Expression, ...], ...] | None = field(default=None, compare=False)


@final
@dataclass(frozen=True, slots=True)
class PowerGraph:
    """A flattened model. Ports stand in the order of description; node 0.. are listed in order of first use.

    `displacements` are states of their own that laws and moduli may read: name and rate, an expression of power variables.
    `moving` are parameters that depend on them. `signals` are causal and without power, each after those it reads at the same time.
    `switching` gives the modes of ports that have them, by index; the law of such a port is that of its mode now. `now` names the
    modes of ports that are not where they start. `vectors` name the elements that were written as one vector item.
    """

    name: str
    nodes: tuple[Node, ...]
    ports: tuple[Port, ...]
    couplings: tuple[Coupling, ...]
    parameters: Mapping[str, Expression | None]
    findings: tuple[Finding, ...] = ()
    fields: tuple[Field, ...] = ()
    displacements: Mapping[str, Expression] = field(default_factory=dict)
    moving: Mapping[str, Expression] = field(default_factory=dict)
    signals: tuple[SignalLaw, ...] = ()
    switching: Mapping[int, SwitchingLaw] = field(default_factory=dict)
    now: Mapping[int, str] = field(default_factory=dict)
    vectors: Mapping[str, tuple[str, ...]] = field(default_factory=dict, compare=False)

    def storages(self) -> Iterator[int]:
        """Indices of the storage ports."""
        return (k for k, port in enumerate(self.ports) if isinstance(port.law, StorageLaw))

    def resistive(self) -> Iterator[int]:
        """Indices of the resistive ports."""
        return (k for k, port in enumerate(self.ports) if isinstance(port.law, ResistiveLaw))

    def sources(self) -> Iterator[int]:
        """Indices of the source ports."""
        return (k for k, port in enumerate(self.ports) if isinstance(port.law, SourceLaw))

    def domain_of(self, port: int) -> Domain:
        """The domain of a port."""
        return DOMAINS[self.ports[port].domain]

    def mode_of(self, port: int) -> str:
        """The mode in which a port is now; empty for ports without modes."""
        law = self.switching.get(port)
        return "" if law is None else self.now.get(port, law.start)

    @property
    def mode(self) -> dict[str, str]:
        """The mode of every element that has modes."""
        return {self.ports[k].element: self.mode_of(k) for k in self.switching}

    def in_mode(self, mode: Mapping[str, str]) -> "PowerGraph":
        """The same graph with each switching element named in `mode` in the mode given there."""
        ports, now = list(self.ports), dict(self.now)
        for k, law in self.switching.items():
            if (word := mode.get(ports[k].element)) is not None:
                ports[k] = replace(ports[k], law=law.modes[word])
                now[k] = word
        return replace(self, ports=tuple(ports), now=now)
