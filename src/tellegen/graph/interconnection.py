"""The equations of the interconnection: Kirchhoff's laws and the relations of couplings, over any arithmetic.

Columns: across and through of port k are 2k and 2k+1; then one column for each node that is no reference, and two for the
through variables of each coupling. These last are internal: no element has a law for them.
"""

from collections.abc import Callable, Iterator
from typing import TypeVar

from tellegen.core.domains import Side
from tellegen.expressions import ONE, ZERO, Expression
from tellegen.graph.power_graph import Coupling, PowerGraph

T = TypeVar("T")


def column(port: int, side: Side) -> int:
    """The column of a power variable of a port."""
    return 2 * port + (side == "through")


class Interconnection:
    """Numbers the columns of a PowerGraph and writes its equations."""

    def __init__(self, graph: PowerGraph) -> None:
        self.graph = graph
        base = 2 * len(graph.ports)
        self._node: dict[int, int] = {}
        for k, node in enumerate(graph.nodes):
            if not node.reference:
                self._node[k] = base + len(self._node)
        self._coupling = base + len(self._node)

    @property
    def internal(self) -> range:
        """The columns that no element has a law for."""
        return range(2 * len(self.graph.ports), self._coupling + 2 * len(self.graph.couplings))

    @property
    def coupling_columns(self) -> range:
        """The columns of the through variables of couplings, two a coupling."""
        return range(self._coupling, self._coupling + 2 * len(self.graph.couplings))

    def rows(self, value: Callable[[Expression], T]) -> Iterator[dict[int, T]]:
        """The equations as rows; `value` turns a coefficient into an entry of the arithmetic at hand."""
        one, minus = value(ONE), value(-ONE)
        at_node: dict[int, dict[int, T]] = {node: {} for node in self._node}
        for k, port in enumerate(self.graph.ports):
            row: dict[int, T] = {2 * k: one}
            if port.plus in self._node:
                row[self._node[port.plus]] = minus
            if port.minus in self._node:
                row[self._node[port.minus]] = one
            yield row
            _leave(at_node, port.plus, port.minus, 2 * k + 1, one, minus)
        for k, coupling in enumerate(self.graph.couplings):
            first, second = self._coupling + 2 * k, self._coupling + 2 * k + 1
            for relation in self._relations(coupling, first, second):
                yield {c: value(entry) for c, entry in relation.items() if entry is not ZERO}
            _leave(at_node, coupling.plus_1, coupling.minus_1, first, one, minus)
            _leave(at_node, coupling.plus_2, coupling.minus_2, second, minus, one)
        yield from at_node.values()

    def _relations(self, c: Coupling, first: int, second: int) -> Iterator[dict[int, Expression]]:
        """The two equations of a coupling, with the through variables of its sides in columns `first` and `second`."""
        k = c.modulus
        side_1, side_2 = (c.plus_1, c.minus_1), (c.plus_2, c.minus_2)
        if c.type == "transformer":
            driven, driving, out, into = (
                (side_2, side_1, first, second) if c.reciprocal else (side_1, side_2, second, first)
            )
            yield self._across({}, driven, ONE, driving, -k)
            yield {out: ONE, into: -k}
        elif c.reciprocal:
            yield self._across({second: -k}, side_1, ONE)
            yield self._across({first: -k}, side_2, ONE)
        else:
            yield self._across({second: ONE}, side_1, -k)
            yield self._across({first: ONE}, side_2, -k)

    def _across(
        self,
        row: dict[int, Expression],
        ends: tuple[int, int],
        factor: Expression,
        more: tuple[int, int] | None = None,
        factor_of_more: Expression = ZERO,
    ) -> dict[int, Expression]:
        """Add `factor` times the across variable between two nodes to a row; sides may share nodes, as in an autotransformer."""
        for node, coefficient in ((ends[0], factor), (ends[1], -factor)):
            if node in self._node:
                row[self._node[node]] = row.get(self._node[node], ZERO) + coefficient
        return row if more is None else self._across(row, more, factor_of_more)


def _leave(at_node: dict[int, dict[int, T]], plus: int, minus: int, through: int, at_plus: T, at_minus: T) -> None:
    """A through variable leaves the node `plus` and enters the node `minus`."""
    if plus in at_node:
        at_node[plus][through] = at_plus
    if minus in at_node:
        at_node[minus][through] = at_minus
