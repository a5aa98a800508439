"""Blocks and summations of a POG: what elements, two-ports and junctions do with signals."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from tellegen.core.domains import DOMAINS, Side, other_side
from tellegen.expressions import ONE, Expression, split_coefficient
from tellegen.graph import ResistiveLaw, SourceLaw, StorageLaw
from tellegen.schemes import rules
from tellegen.schemes.bond_graph_scheme import Bond, BondGraphScheme, OnePort, TwoPort
from tellegen.schemes.pog_scheme import Block, Output, Summation


class Joint(NamedTuple):
    """One bond at a junction: its own variable, which is not the shared one, whether power leaves, and whether it decides."""

    own: str
    leaves: bool
    brings: bool


def joint(bond: Bond, junction: str, shares: Side) -> Joint:
    """A bond as its junction sees it."""
    return Joint(bond.variable(other_side(shares)), bond.tail == junction, bond.receives(junction) == shares)


class Flow:
    """Collects blocks and summations."""

    def __init__(self, graph: BondGraphScheme) -> None:
        self.graph = graph
        self.blocks: dict[str, Block] = {}
        self.summations: dict[str, Summation] = {}
        for field in graph.causal.graph.fields:
            law = graph.causal.graph.ports[field.ports[0]].law
            if isinstance(law, ResistiveLaw):
                what = f"'{field.element}' is a resistive field of {len(field.ports)} ports"
                raise rules.NO_SCALAR_BOND.error(what, where=field.element, fix="look at the equations instead")

    def sum(self, joints: Sequence[Joint]) -> str:
        """The summation of a junction: the conjugate of the shared variable at the bond that decides it. Gives its output."""
        (decider,) = (j for j in joints if j.brings)
        terms: dict[str, int] = {}
        for j in joints:
            if j is not decider:  # two bonds between the same junctions have one variable, and may cancel
                terms[j.own] = terms.get(j.own, 0) + (1 if j.leaves != decider.leaves else -1)
        inputs = tuple((name, sign) for name, sign in terms.items() if sign)
        if not terms:
            return ""
        self.summations[decider.own] = Summation(decider.own, inputs)
        return decider.own

    def one_port(self, item: OnePort) -> tuple[str, ...]:
        """The block of an element; sources have none."""
        law = item.port.law
        if isinstance(law, SourceLaw):
            return ()
        (bond,) = self.graph.bonds_of(item.name)
        given, told = bond.variable(item.decides), bond.variable(other_side(item.decides))
        if isinstance(law, ResistiveLaw):
            gain = law.coefficient
            if gain is not None and item.decides != law.side:
                gain = ONE / gain
            self._add(Block(item.name, "static", told, given, gain, False, item.name, law=law))
        else:
            integral = item.causality == "integral"
            kind = "storage" if integral else "derivative"
            gain = None if item.field else self._storage_gain(law, integral)
            self._add(Block(item.name, kind, told, given, gain, integral, item.name, self._energy(item, law), law))  # type: ignore[arg-type]
        return (item.name,)

    @staticmethod
    def _storage_gain(law: StorageLaw, integral: bool) -> Expression | None:
        return law.inertia if law.inertia is None or not integral else ONE / law.inertia

    @staticmethod
    def _energy(item: OnePort, law: StorageLaw) -> str:
        if law.keeps_energy_variable:
            return item.port.state
        return f"{DOMAINS[item.domain].energy(law.side).symbol}_{item.name}"

    def two_port(self, item: TwoPort) -> tuple[str, ...]:
        """The two blocks of a connection: K on one line, its transpose on the other."""
        bonds = self.graph.bonds_of(item.name)
        a, b = bonds if bonds[0].head == item.name else bonds[::-1]
        m, inverse = item.modulus, ONE / item.modulus
        effort_enters = a.receives(item.name) == DOMAINS[a.domain].effort
        if item.kind == "TF":
            pairs = (
                ((a.effort, b.effort), (b.flow, a.flow)) if effort_enters else ((b.effort, a.effort), (a.flow, b.flow))
            )
        else:
            pairs = (
                ((a.effort, b.flow), (b.effort, a.flow)) if effort_enters else ((b.flow, a.effort), (a.flow, b.effort))
            )
        gain = inverse if effort_enters else m
        # The block of the line that leads away from side a comes first.
        forward = pairs if pairs[0][0] in (a.effort, a.flow) else pairs[::-1]
        names = (item.name, f"{item.name}_transposed")
        for name, (told, given) in zip(names, forward, strict=True):
            self._add(Block(name, "connection", told, given, gain, False, item.name))
        return names

    def _add(self, block: Block) -> None:
        negative = block.gain is not None and split_coefficient(block.gain)[0] < 0
        self.blocks[block.name] = replace(block, sign=-1) if negative else block

    def outputs(self) -> tuple[Output, ...]:
        """The conjugates of the inputs."""
        found = []
        for item in self.graph.sources():
            (bond,) = self.graph.bonds_of(item.name)
            sign = 1 if bond.tail == item.name else -1
            found.append(Output(bond.variable(other_side(item.decides)), sign))
        return tuple(found)

    def inputs(self) -> tuple[str, ...]:
        """The signals of the sources."""
        return tuple(self.graph.bonds_of(i.name)[0].variable(i.decides) for i in self.graph.sources())
