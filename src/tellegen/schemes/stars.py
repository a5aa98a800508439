"""Stars: a node with many like branches. A connection between the node and the branches makes lanes of them.

The connection has ones only: its vector of across variables is the one of the node, over and over, and the through variables of
the branches add up at the node. The graph means the same with it.
"""

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import final

from tellegen.expressions import ONE
from tellegen.graph import Branch, Coupling, Node, Port, PowerGraph, SourceLaw
from tellegen.schemes.names import UniqueNames

MANY = 4
"""So many like branches are drawn as one vector."""


def star_graph(graph: PowerGraph) -> PowerGraph | None:
    """The graph with a connection before the branches of its first star; None where it has no star."""
    network = _Network(graph)
    for node in range(len(graph.nodes)):
        alike = network.like_branches(node)
        if len(alike) >= MANY:
            return _connected(graph, node, alike)
    return None


@final
@dataclass(frozen=True, slots=True)
class _Through:
    """What a branch came through to a node."""

    ports: AbstractSet[int]
    couplings: AbstractSet[int] = frozenset()


@final
class _Network:
    """The ports at each node, and the branches that begin there."""

    def __init__(self, graph: PowerGraph) -> None:
        self.graph = graph
        self.at: dict[int, list[int]] = {}
        for k, port in enumerate(graph.ports):
            for node in (port.plus, port.minus):
                self.at.setdefault(node, []).append(k)
        self.coupled: dict[int, list[int]] = {}
        for k, coupling in enumerate(graph.couplings):
            for branch in (*coupling.side_1, *coupling.side_2):
                for node in (branch.plus, branch.minus):
                    self.coupled.setdefault(node, []).append(k)
        self.in_fields = {k for field in graph.fields for k in field.ports}

    def like_branches(self, node: int) -> list[int]:
        """The first ports of the branches at a node that are the most alike."""
        found: dict[object, list[int]] = {}
        if not self.graph.nodes[node].reference:
            for k in self._ahead(node):
                shape = self._shape(node, k)
                if shape is not None:
                    found.setdefault(shape, []).append(k)
        return max(found.values(), key=len, default=[])

    def _ahead(self, node: int) -> Iterator[int]:
        """The ports between a node and others that are no reference."""
        return (k for k in self.at.get(node, ()) if not self.graph.nodes[self._other(node, k)].reference)

    def _other(self, node: int, k: int) -> int:
        port = self.graph.ports[k]
        return port.minus if port.plus == node else port.plus

    def _shape(self, node: int, k: int) -> tuple[object, ...] | None:
        """The kinds of elements along a branch that is a chain to its end; None for any other."""
        shape: list[object] = []
        seen, through = {node}, _Through(ports={k})
        node = self._other(node, k)
        while node not in seen and not self._is_special(through.ports):
            seen.add(node)
            shape += sorted(map(self._kind, through.ports))
            mine = [n for n in self.at.get(node, ()) if n not in through.ports]
            ahead = [n for n in self._ahead(node) if n in mine]
            couplings = [c for c in self.coupled.get(node, ()) if c not in through.couplings]
            beside = [n for n in mine if n not in ahead]
            if self._is_special(beside) or len(ahead) + len(couplings) > 1:
                return None
            shape += sorted(map(self._kind, beside))
            if not ahead and not couplings:
                return tuple(shape)
            through = _Through({*ahead}, {*couplings})
            passed = self._passed(node, couplings[0]) if couplings else self._other(node, ahead[0])
            if passed is None:
                return None
            shape += [self.graph.couplings[c].side_2[0].domain for c in couplings]
            node = passed
        return None

    def _passed(self, node: int, k: int) -> int | None:
        """The node at the other side of a connection between two nodes and their references; None for any other."""
        coupling = self.graph.couplings[k]
        if len(coupling.side_1) > 1 or len(coupling.side_2) > 1:
            return None
        ends = {n for b in (*coupling.side_1, *coupling.side_2) for n in (b.plus, b.minus)} - {node}
        ends = {n for n in ends if not self.graph.nodes[n].reference}
        return ends.pop() if len(ends) == 1 else None

    def _is_special(self, ports: Iterable[int]) -> bool:
        """Whether some of the ports are sources, or belong to fields: they make no lanes of a star."""
        return any(k in self.in_fields or isinstance(self.graph.ports[k].law, SourceLaw) for k in ports)

    def _kind(self, k: int) -> tuple[str, str, str]:
        port = self.graph.ports[k]
        return port.domain, type(port.law).__name__, port.law.side


def _connected(graph: PowerGraph, node: int, branches: list[int]) -> PowerGraph | None:
    """The graph with a node more for each branch, and the connection between them and the node."""
    here = graph.nodes[node]
    reference = next(
        (n for n, other in enumerate(graph.nodes) if other.reference and other.domain == here.domain), None
    )
    if reference is None:
        return None
    names = UniqueNames([*(other.name for other in graph.nodes), *(port.element for port in graph.ports)])
    begins = {k: len(graph.nodes) + j for j, k in enumerate(branches)}
    nodes = [Node(names.take(f"{here.name}_{j}"), here.domain, False) for j in range(1, len(branches) + 1)]
    star = Coupling(
        names.take("star"),
        (Branch(node, reference, here.domain, "across"),),
        tuple(Branch(end, reference, here.domain, "across") for end in begins.values()),
        tuple((ONE,) for _ in branches),
    )
    return replace(
        graph,
        nodes=(*graph.nodes, *nodes),
        ports=tuple(_moved(port, node, begins, k) for k, port in enumerate(graph.ports)),
        couplings=(*graph.couplings, star),
    )


def _moved(port: Port, node: int, begins: Mapping[int, int], k: int) -> Port:
    """A port, at the node of its own where it begins a branch."""
    if k not in begins:
        return port
    return replace(port, plus=begins[k]) if port.plus == node else replace(port, minus=begins[k])
