"""Which bonds a figure marks: those of conflicts, of storages in derivative causality, and of loops that lock."""

from typing import final

from tellegen.core.union_find import UnionFind
from tellegen.description.bond_graphs.graph import SINKS
from tellegen.graph import SourceLaw
from tellegen.schemes.bond_graph_scheme import Bond, BondGraphScheme


@final
class Warnings:
    """What is marked in one bond graph."""

    def __init__(self, scheme: BondGraphScheme) -> None:
        self.scheme = scheme
        causal = scheme.causal
        self.conflicts = {causal.graph.ports[k].element for k in causal.conflicts}.union(causal.rigid)
        shown = {name for item in scheme.two_ports.values() for name in item.origins}.union(scheme.one_ports)
        # A coupling that only joins junctions is no item: then the loop of junctions itself is marked.
        self._loops = self._round() if not shown.issuperset(causal.rigid) else frozenset[int]()

    def marks(self, bond: Bond) -> bool:
        """Whether a bond is drawn as a warning."""
        return bond.number in self._loops or self._is_warned(bond.tail) or self._is_warned(bond.head)

    def is_sink(self, bond: Bond) -> bool:
        """Whether a bond leads to a residual sink that decides a force of its own; one that only reads a force is none."""
        ends = [self.scheme.one_ports[name] for name in (bond.tail, bond.head) if name in self.scheme.one_ports]
        return any(item.letters in SINKS and isinstance(item.port.law, SourceLaw) for item in ends)

    def _is_warned(self, name: str) -> bool:
        if name in self.scheme.two_ports:
            return not self.conflicts.isdisjoint(self.scheme.two_ports[name].origins)
        if name not in self.scheme.one_ports:
            return False
        return name in self.conflicts or self.scheme.one_ports[name].causality == "derivative"

    def _round(self) -> frozenset[int]:
        """The bonds between junctions that lie on a loop: their ends hang together without them."""
        number = {name: k for k, name in enumerate(self.scheme.junctions)}
        between = [bond for bond in self.scheme.bonds if bond.tail in number and bond.head in number]
        found: set[int] = set()
        for bond in between:
            groups = UnionFind(len(number))
            for other in between:
                if other is not bond:
                    groups.join(number[other.tail], number[other.head])
            if groups.find(number[bond.tail]) == groups.find(number[bond.head]):
                found.add(bond.number)
        return frozenset(found)
