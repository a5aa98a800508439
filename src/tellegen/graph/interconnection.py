"""The equations of the interconnection: Kirchhoff's laws and the relations of couplings, over any arithmetic.

Columns: across and through of port k are 2k and 2k+1; then one column for each node that is no reference, and one for the
through variable of each branch of a coupling. These last are internal: no element has a law for them.
"""

from collections.abc import Callable, Iterator
from typing import TypeVar

from tellegen.core.domains import Side, other_side
from tellegen.expressions import ONE, ZERO, Expression
from tellegen.graph.power_graph import Branch, Coupling, PowerGraph

T = TypeVar("T")
Ends = list[tuple[Branch, int]]
"""The branches of one side of a coupling, with the columns of their through variables."""


def column(port: int, side: Side) -> int:
    """The column of a power variable of a port."""
    return 2 * port + (side == "through")


class Interconnection:
    """Numbers the columns of a PowerGraph and writes its equations."""

    def __init__(self, graph: PowerGraph) -> None:
        self.graph = graph
        # Columns of ports come first, so that column // 2 is the port wherever a row is read.
        base = 2 * len(graph.ports)
        self._node: dict[int, int] = {}
        for k, node in enumerate(graph.nodes):
            if not node.reference:
                self._node[k] = base + len(self._node)
        self._coupling = base + len(self._node)

    @property
    def internal(self) -> range:
        """The columns that no element has a law for."""
        return range(2 * len(self.graph.ports), self.coupling_columns.stop)

    @property
    def coupling_columns(self) -> range:
        """The columns of the through variables of couplings: those of side 1, then those of side 2, coupling by coupling."""
        return range(self._coupling, self._coupling + sum(len(c.side_1) + len(c.side_2) for c in self.graph.couplings))

    def rows(self, value: Callable[[Expression], T]) -> Iterator[dict[int, T]]:
        """The equations as rows; `value` turns a coefficient into an entry of the arithmetic at hand."""
        # Taken once: over residues each call would look up the same two numbers for every port.
        one, minus = value(ONE), value(-ONE)
        at_node: dict[int, dict[int, T]] = {node: {} for node in self._node}
        for k, port in enumerate(self.graph.ports):
            row: dict[int, T] = {2 * k: one}
            # A port from a node to itself has no across variable, and its through variable goes round in it; what is
            # left of its row is across = 0.
            if port.plus != port.minus:
                if port.plus in self._node:
                    row[self._node[port.plus]] = minus
                if port.minus in self._node:
                    row[self._node[port.minus]] = one
            yield row
            _leave(at_node, port.plus, port.minus, 2 * k + 1, one, minus)
        through = iter(self.coupling_columns)
        for coupling in self.graph.couplings:
            ends = (
                [(branch, next(through)) for branch in coupling.side_1],
                [(branch, next(through)) for branch in coupling.side_2],
            )
            for relation in self._relations(coupling, *ends):
                yield {c: value(entry) for c, entry in relation.items() if entry is not ZERO}
            for branch, c in ends[0]:
                _leave(at_node, branch.plus, branch.minus, c, one, minus)
            # Power enters a coupling at side 1 and leaves it at side 2, so the through variables of side 2 leave at
            # plus with the other sign.
            for branch, c in ends[1]:
                _leave(at_node, branch.plus, branch.minus, c, minus, one)
        yield from at_node.values()

    def _relations(self, coupling: Coupling, ends_1: Ends, ends_2: Ends) -> Iterator[dict[int, Expression]]:
        """z_2 - K z_1 = 0 and w_1 - K^T w_2 = 0, row by row; sides may share nodes, as in an autotransformer."""
        K = coupling.K
        for i, (branch, c) in enumerate(ends_2):
            row: dict[int, Expression] = {}
            self._add(row, branch, c, branch.side, ONE)
            for j, (other, d) in enumerate(ends_1):
                self._add(row, other, d, other.side, -K[i][j])
            yield row
        for j, (branch, c) in enumerate(ends_1):
            row = {}
            self._add(row, branch, c, other_side(branch.side), ONE)
            for i, (other, d) in enumerate(ends_2):
                self._add(row, other, d, other_side(other.side), -K[i][j])
            yield row

    def _add(self, row: dict[int, Expression], branch: Branch, through: int, side: Side, factor: Expression) -> None:
        if side == "through":
            _put(row, through, factor)
            return
        if branch.plus in self._node:
            _put(row, self._node[branch.plus], factor)
        if branch.minus in self._node:
            _put(row, self._node[branch.minus], -factor)


def _put(row: dict[int, Expression], at: int, entry: Expression) -> None:
    # Sides may share a node, as in an autotransformer: both shares count.
    row[at] = row[at] + entry if at in row else entry


def _leave(at_node: dict[int, dict[int, T]], plus: int, minus: int, through: int, at_plus: T, at_minus: T) -> None:
    """A through variable leaves the node `plus` and enters the node `minus`; in a branch from a node to itself it does neither."""
    # What leaves a node and enters it again changes no balance.
    if plus == minus:
        return
    if plus in at_node:
        at_node[plus][through] = at_plus
    if minus in at_node:
        at_node[minus][through] = at_minus
