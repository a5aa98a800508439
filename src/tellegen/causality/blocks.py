"""Biconnected components of a multigraph (Hopcroft and Tarjan 1973), without recursion."""

from collections.abc import Mapping


def biconnected_components(ends: Mapping[int, tuple[int, int]]) -> list[list[int]]:
    """The edges of each component; `ends` gives the two vertices of every edge. Edges from a vertex to itself are left out."""
    at: dict[int, list[tuple[int, int]]] = {}
    for edge, (a, b) in ends.items():
        if a != b:
            at.setdefault(a, []).append((edge, b))
            at.setdefault(b, []).append((edge, a))
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
            elif step[0] != arrived_by:
                edge, other = step
                if other not in self.found:
                    stack.append((other, edge, len(self.edges), iter(self.at[other])))
                    self.edges.append(edge)
                    self._enter(other)
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
