"""The PowerGraph: ports of storages, resistive elements and sources with their laws and modes, joined by a power-conserving
interconnection.

A closed switch is a resistive law `across = 0 * through`, an open one `through = 0 * across`: laws that cannot be inverted and so
decide their own causality. A mode of the whole graph is one word for every such element; `PowerGraph.in_mode` puts the laws in.

The interconnection is a graph of nodes and branches (Kirchhoff's two laws) in which some branches are the sides of couplings
(transformers and gyrators). Any Dirac structure can be written so: a 0-junction is a pair of nodes, a 1-junction a ring of
branches, and a bond between junctions that is no tree a transformer of modulus one.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, final

from tellegen.core.domains import DOMAINS, Domain, Side
from tellegen.core.errors import Finding, Place
from tellegen.core.memory import Known
from tellegen.core.units import Dimension
from tellegen.expressions import ZERO, Expression, symbol, total
from tellegen.expressions.elimination import with_definitions
from tellegen.graph.signals import SignalLaw
from tellegen.model.bond_graph import BondEnds

ARGUMENT = "@"
"""Stands for the argument of a nonlinear law; no user can write it."""


def argument() -> Expression:
    """The symbol that stands for the argument of a nonlinear law."""
    return symbol(ARGUMENT)


@final
@dataclass(frozen=True, slots=True)
class StorageLaw:
    """A storage whose output is the power variable `side`, and whose energy variable is the integral of the other one.

    Linear: `inertia` (energy variable = inertia * output). Otherwise one of
    `content` (energy variable of the output), `slope` (its derivative, where only that is known) or
    `output` (output of the energy variable), each in terms of ARGUMENT. `energy` is the stored energy of the same argument
    where the user gave it, `text` a law as it was written.
    """

    side: Side
    inertia: Expression | None = None
    content: Expression | None = None
    slope: Expression | None = None
    output: Expression | None = None
    energy: Expression | None = None
    text: str = field(default="", compare=False)

    @property
    def keeps_energy_variable(self) -> bool:
        """Whether the state is the energy variable, because the law cannot be solved for it."""
        return self.output is not None

    def inertia_at(self, output: Expression) -> Expression:
        """The derivative of the energy variable with respect to the output."""
        if self.inertia is not None:
            return self.inertia
        # Only the slope enters the equations (L x'), so an energy function of the output is enough even where its
        # content has no closed form.
        slope = self.slope if self.slope is not None else self._content().derivative(ARGUMENT)
        return slope.substitute({ARGUMENT: output})

    def content_at(self, state: Expression) -> Expression | None:
        """The energy variable at a value of the state; None where only its derivative is known."""
        # The state is the energy variable itself then.
        if self.output is not None:
            return state
        if self.inertia is not None:
            return self.inertia * state
        return None if self.content is None else self.content.substitute({ARGUMENT: state})

    def _content(self) -> Expression:
        assert self.content is not None, "a storage law without inertia, slope or output has a content"
        return self.content


@final
@dataclass(frozen=True, slots=True)
class ResistiveLaw:
    """A static law that gives the power variable `side` of the other one.

    Linear: `coefficient`. Otherwise `expression` in terms of ARGUMENT. `invertible` says whether the other variable may be
    asked for too; a law that is not fixes its causality right after the sources. `coupled` tells that the matrix of a field adds
    what other ports are told, so a coefficient of zero does not make the variable zero. `text` is the law as it was written.

    A weight has a `potential` of displacements, and its `expression` is the slope of that along the motion of the port: what such
    a port takes is kept there and not lost. A stop is `elastic`: it keeps a part.
    """

    side: Side
    coefficient: Expression | None = None
    expression: Expression | None = None
    invertible: bool = True
    coupled: bool = False
    potential: Expression | None = None
    elastic: "ElasticPart | None" = None
    text: str = field(default="", compare=False)

    @property
    def linear(self) -> bool:
        """Whether one coefficient says it all."""
        return self.coefficient is not None

    @property
    def ideal(self) -> bool:
        """Whether the law makes its variable zero whatever the other one is: a closed or an open switch."""
        # By identity with ZERO: a parameter whose value is zero stays a resistance that reductions and sweeps may
        # change.
        return self.coefficient is ZERO and not self.coupled

    @property
    def free_symbols(self) -> frozenset[str]:
        """The names in the law, ARGUMENT among them."""
        law = self.coefficient if self.coefficient is not None else self.expression
        return frozenset() if law is None else law.free_symbols

    def value_at(self, argument: Expression) -> Expression:
        """The power variable `side` at a value of the other one."""
        if self.coefficient is not None:
            return self.coefficient * argument
        assert self.expression is not None, "a resistive law has a coefficient or an expression"
        return self.expression.substitute({ARGUMENT: argument})


@final
@dataclass(frozen=True, slots=True)
class ElasticPart:
    """What a resistive law keeps: its `energy` in a deformation; and the power that is `lost` all the same, over ACROSS."""

    energy: Expression
    lost: Expression


@final
@dataclass(frozen=True, slots=True)
class SourceLaw:
    """A source that imposes the power variable `side`, named `input`.

    `signal` is what drives it, where the model says so; for the equations it is an input all the same.
    """

    side: Side
    input: str
    signal: Expression | None = None


PortLaw = StorageLaw | ResistiveLaw | SourceLaw


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
    `initial` is the output of a storage at the start, with `initial_content` what it holds.
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
    initial_content: bool = False

    @property
    def initial_state(self) -> Expression | None:
        """The state at the start; None where nothing is said, or where a law has to be solved for it."""
        law = self.law
        if self.initial is None or not isinstance(law, StorageLaw) or self.initial_content == law.keeps_energy_variable:
            return self.initial
        return None if law.inertia is None or not self.initial_content else self.initial / law.inertia

    def variable(self, side: Side) -> str:
        """The name of a power variable of the port."""
        return self.across if side == "across" else self.through

    @property
    def storage(self) -> StorageLaw:
        """The law, of a port that is known to store."""
        assert isinstance(self.law, StorageLaw), f"'{self.element}' stores nothing"
        return self.law

    @property
    def resistive(self) -> ResistiveLaw:
        """The law, of a port that is known to be static."""
        assert isinstance(self.law, ResistiveLaw), f"'{self.element}' has no static law"
        return self.law

    @property
    def source(self) -> SourceLaw:
        """The law, of a port that is known to be a source."""
        assert isinstance(self.law, SourceLaw), f"'{self.element}' is no source"
        return self.law


def heat_taken(port: Port, nodes: Sequence[Node]) -> int:
    """How the heat flow through a port counts: what comes from the reference or goes to it is not that of the system.

    One where it ends at the reference, minus one where it begins there, zero between two other nodes: all is passed on.
    """
    # Heat from the ambient is bought by nobody and sold to nobody: books count what enters the system and what leaves
    # it.
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

    @property
    def nodes(self) -> frozenset[int]:
        """The nodes between which it stands."""
        return frozenset(n for branch in (*self.side_1, *self.side_2) for n in (branch.plus, branch.minus))

    def with_nodes(self, at: Mapping[int, int] | Sequence[int]) -> "Coupling":
        """The same between other nodes: `at` gives the new number of each."""
        sides = (self.side_1, self.side_2)
        one, two = (tuple(b._replace(plus=at[b.plus], minus=at[b.minus]) for b in side) for side in sides)
        return replace(self, side_1=one, side_2=two)


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
    `position_dependent` are parameters that depend on them. `signals` are causal and without power, each after those it reads at
    the same time.
    `switching` gives the modes of ports that have them, by index; the law of such a port is that of its mode now. `now` names the
    modes of ports that are not where they start. `vectors` name the elements that were written as one vector item. `dimensions` are
    those of parameters, where they are known and formulas of signals may read them. `symbols` say how names are written,
    `counted_symbols` what a vector scheme counts. `bond_numbers` are those that the author of a bond graph gave.
    """

    name: str
    nodes: tuple[Node, ...]
    ports: tuple[Port, ...]
    couplings: tuple[Coupling, ...]
    parameters: Mapping[str, Expression | None]
    findings: tuple[Finding, ...] = ()
    fields: tuple[Field, ...] = ()
    displacements: Mapping[str, Expression] = field(default_factory=dict)
    position_dependent: Mapping[str, Expression] = field(default_factory=dict)
    signals: tuple[SignalLaw, ...] = ()
    switching: Mapping[int, SwitchingLaw] = field(default_factory=dict)
    now: Mapping[int, str] = field(default_factory=dict)
    vectors: Mapping[str, tuple[str, ...]] = field(default_factory=dict, compare=False)
    dimensions: Mapping[str, Dimension] = field(default_factory=dict, compare=False)
    bond_numbers: Mapping[int, BondEnds] = field(default_factory=dict, compare=False, repr=False)
    symbols: Mapping[str, str] = field(default_factory=dict, compare=False)
    counted_symbols: Mapping[str, str] = field(default_factory=dict, compare=False)
    known: Known = field(default_factory=Known, init=False, compare=False, repr=False)

    def storages(self) -> Iterator[int]:
        """Indices of the storage ports."""
        return (k for k, port in enumerate(self.ports) if isinstance(port.law, StorageLaw))

    def resistive(self) -> Iterator[int]:
        """Indices of the resistive ports."""
        return (k for k, port in enumerate(self.ports) if isinstance(port.law, ResistiveLaw))

    def sources(self) -> Iterator[int]:
        """Indices of the source ports."""
        return (k for k, port in enumerate(self.ports) if isinstance(port.law, SourceLaw))

    def weights(self) -> Iterator[int]:
        """Indices of the ports that keep potential energy."""
        return (k for k in self.resistive() if self.ports[k].resistive.potential is not None)

    def potential_energy(self) -> Expression:
        """The potential energy of all weights, over displacements and parameters that stay."""
        found = total(e for k in self.weights() if (e := self.ports[k].resistive.potential) is not None)
        return with_definitions(found, self.position_dependent)

    def has_loose_end(self) -> bool:
        """Whether a terminal stands alone at a node, so that nothing flows through it."""
        ends = Counter(n for port in self.ports for n in (port.plus, port.minus))
        ends.update(n for c in self.couplings for b in (*c.side_1, *c.side_2) for n in (b.plus, b.minus))
        return any(count == 1 and not self.nodes[n].reference for n, count in ends.items())

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
            # Elements that are not named keep the mode they are in.
            if (word := mode.get(ports[k].element)) is not None:
                ports[k] = replace(ports[k], law=law.modes[word])
                now[k] = word
        return replace(self, ports=tuple(ports), now=now)
