"""Causality of a network without couplings: a normal tree by priority, and the blocks of its graph.

Ports that decide their across variable form a spanning tree, the others the cotree (Bryant 1959; Chua and Lin 1975, section 8).
Kruskal's algorithm on the wishes, across before through, finds the tree that grants the most important ones; the branches of a
tree form a matroid, so greedy choice is optimal. Near-linear.
"""

from collections.abc import Mapping, Sequence

from tellegen.causality.exact import Demand
from tellegen.core.domains import Side
from tellegen.core.union_find import UnionFind
from tellegen.graph import PowerGraph


def biconnected_components(ends: Mapping[int, tuple[int, int]]) -> list[list[int]]:
    """The edges of each component; `ends` gives the two vertices of every edge. Edges from a vertex to itself are left out."""
    at: dict[int, list[tuple[int, int]]] = {}
    for edge, (a, b) in ends.items():
        # A branch from a node to itself meets no other one: it is a loop alone.
        if a != b:
            at.setdefault(a, []).append((edge, b))
            at.setdefault(b, []).append((edge, a))
    # Depth first (Hopcroft and Tarjan 1973), on a stack of our own: a ladder of ten thousand cells would exceed Python's recursion.
    search = _Search(at)
    for vertex in at:
        search.start(vertex)
    return search.components


class _Search:
    """A depth-first search that closes a component whenever no edge leads back above its first vertex."""

    def __init__(self, at: Mapping[int, list[tuple[int, int]]]) -> None:
        self.at = at
        self.components: list[list[int]] = []
        self.found: dict[int, int] = {}
        self.low: dict[int, int] = {}
        self.edges: list[int] = []

    def start(self, root: int) -> None:
        """Search everything that hangs together with `root`."""
        if root in self.found:
            return
        self._enter(root)
        stack = [(root, -1, 0, iter(self.at[root]))]
        while stack:
            vertex, arrived_by, mark, neighbours = stack[-1]
            step = next(neighbours, None)
            if step is None:
                stack.pop()
                if stack:
                    self._leave(stack[-1][0], vertex, mark)
            # By number, not by vertex: two parallel branches are a loop, and must not be taken for the way back.
            elif step[0] != arrived_by:
                edge, other = step
                if other not in self.found:
                    stack.append((other, edge, len(self.edges), iter(self.at[other])))
                    self.edges.append(edge)
                    self._enter(other)
                # Each edge that leads back is met from both ends, and counted at the lower one alone.
                elif self.found[other] < self.found[vertex]:
                    self.edges.append(edge)
                    self.low[vertex] = min(self.low[vertex], self.found[other])

    def _enter(self, vertex: int) -> None:
        self.found[vertex] = self.low[vertex] = len(self.found)

    def _leave(self, above: int, vertex: int, mark: int) -> None:
        """Back at `above`: close the component of the edge to `vertex`, or pass on how far up it reaches."""
        self.low[above] = min(self.low[above], self.low[vertex])
        if self.low[vertex] >= self.found[above]:
            self.components.append(self.edges[mark:])
            del self.edges[mark:]


class NormalTree:
    """The spanning tree of across-deciding ports, rooted at the references."""

    def __init__(self, graph: PowerGraph, order: Sequence[Demand]) -> None:
        self.graph = graph
        groups = UnionFind(len(graph.nodes))
        # Kruskal's algorithm takes branches in order of importance. Who wants to decide its through variable stays out
        # of the tree, so the most important of them come last, when the tree is nearly full.
        across_first = [d for d in order if d.wants == "across"] + [d for d in reversed(order) if d.wants == "through"]
        self.in_tree = [False] * len(graph.ports)
        for demand in across_first:
            port = graph.ports[demand.port]
            self.in_tree[demand.port] = groups.join(port.plus, port.minus)
        self._root()

    @property
    def decides(self) -> tuple[Side, ...]:
        """The power variable that each port decides."""
        return tuple("across" if inside else "through" for inside in self.in_tree)

    def _root(self) -> None:
        """Give every node its parent branch and depth, breadth first from the references."""
        graph, count = self.graph, len(self.graph.nodes)
        at: list[list[int]] = [[] for _ in range(count)]
        for k, port in enumerate(graph.ports):
            if self.in_tree[k]:
                at[port.plus].append(k)
                at[port.minus].append(k)
        self.parent = [-1] * count
        self.depth = [-1] * count
        self.order: list[int] = []
        for root in [k for k, node in enumerate(graph.nodes) if node.reference]:
            self.depth[root] = 0
            # The list grows while it is walked: breadth first, so that a parent comes before its children in `order`.
            queue = [root]
            for node in queue:
                for k in at[node]:
                    other = self._other_end(k, node)
                    if self.depth[other] < 0:
                        self.depth[other] = self.depth[node] + 1
                        self.parent[other] = k
                        queue.append(other)
            self.order += queue

    def _other_end(self, port: int, node: int) -> int:
        ends = self.graph.ports[port]
        return ends.minus if ends.plus == node else ends.plus

    def loop(self, port: int) -> list[int]:
        """The tree branches that close a loop with a branch outside the tree."""
        a, b = self.graph.ports[port].plus, self.graph.ports[port].minus
        left: list[int] = []
        right: list[int] = []
        while a != b:
            # Always the deeper end goes up, so both meet at their common ancestor and nothing above it is touched.
            if self.depth[a] >= self.depth[b]:
                left.append(self.parent[a])
                a = self._other_end(self.parent[a], a)
            else:
                right.append(self.parent[b])
                b = self._other_end(self.parent[b], b)
        return left + right[::-1]

    def cut(self, port: int) -> list[int]:
        """The branches outside the tree that cross the cut of a tree branch."""
        ends = self.graph.ports[port]
        top = ends.plus if self.parent[ends.plus] == port else ends.minus
        # Taking a tree branch out parts the nodes in two; what joins the parts is its cut, and decides its through
        # variable by Kirchhoff's law.
        below = self._subtree(top)
        return [
            k
            for k, other in enumerate(self.graph.ports)
            if not self.in_tree[k] and (other.plus in below) != (other.minus in below)
        ]

    def _subtree(self, top: int) -> set[int]:
        below = {top}
        for node in self.order:
            k = self.parent[node]
            if k >= 0 and node != top and self._other_end(k, node) in below:
                below.add(node)
        return below

    def partners(self, port: int) -> list[int]:
        """The ports that decide the variable which `port` does not: its loop or its cut."""
        return self.cut(port) if self.in_tree[port] else self.loop(port)

    def resistive_blocks(self, resistive: Sequence[int]) -> list[list[int]]:
        """Resistive ports that decide each other without a storage between them.

        With the other tree branches contracted and the other cotree branches removed, two resistive branches share a loop exactly
        when they lie in one biconnected component.
        """
        chosen = set(resistive)
        places = UnionFind(len(self.graph.nodes))
        for k, port in enumerate(self.graph.ports):
            if self.in_tree[k] and k not in chosen:
                # A tree branch that is no resistor imposes its across variable: seen from the resistors its ends are one place.
                places.join(port.plus, port.minus)
        ends = {k: (places.find(self.graph.ports[k].plus), places.find(self.graph.ports[k].minus)) for k in resistive}
        return [sorted(block) for block in biconnected_components(ends) if len(block) > 1]
