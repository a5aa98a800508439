"""The power variables at the sides of couplings, from those of the elements around them.

A coupling has no variables of its own in a run. Its across variables are sums along elements between its nodes, its through
variables what these nodes still lack; where elements do not tell them, its own law does, from the other side.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import final

import numpy as np
from numpy.typing import NDArray

from tellegen.core.domains import Side
from tellegen.expressions import ZERO, Expression
from tellegen.graph import Coupling, Port, PowerGraph, SourceLaw
from tellegen.graph.power_graph import Branch

Array = NDArray[np.float64]
Known = dict[tuple[int, Side], Array]
"""Variables of branches, by the number of the branch."""
Edges = dict[int, list[tuple[int, Callable[[], Array], float]]]
"""From every node: where one can go, the across variable on the way, and its sign."""
Variable = tuple[int, Side]
Terms = list[tuple[Expression, Variable]]
Finder = Callable[[Variable, Terms, Known], None]
GROUND = -1
LEAST_FACTOR = 1e-6
"""A factor that falls below this share of itself leaves nothing but rounding to divide."""


def branch_named(graph: PowerGraph, name: str) -> int | None:
    """The number of the branch that a name means: `motor.1` is the first of the coupling 'motor', its second side comes last."""
    element, _, number = name.rpartition(".")
    own = branches_of(graph, element)
    return own[int(number) - 1] if number.isdecimal() and 0 < int(number) <= len(own) else None


def branches_of(graph: PowerGraph, element: str) -> list[int]:
    """The numbers of the branches of a coupling; none for another element."""
    names = [c.element for c in graph.couplings for _ in (*c.side_1, *c.side_2)]
    return [j for j, name in enumerate(names) if name == element]


@final
class CouplingSides:
    """Power variables of branches, over the rows of a run; power is positive from the first side to the second."""

    def __init__(
        self, graph: PowerGraph, of_port: Callable[[Port, Side], Array], value: Callable[[Expression], Array]
    ) -> None:
        self.graph = graph
        self.branches = [b for c in graph.couplings for b in (*c.side_1, *c.side_2)]
        self._of_port = of_port
        self._value = value

    @cached_property
    def known(self) -> Known:
        """All that follows: from what is known more is found, until nothing is."""
        known: Known = {}
        while True:
            count = len(known)
            self._find_across(known)
            self._find_through(known)
            self._find_by_laws(known, self._find_sum)
            if len(known) == count:  # divisions only where sums lead no further
                self._find_by_laws(known, self._find_term)
            if len(known) == count:
                return known

    # -- By the elements around ------------------------------------------------------------------------------------------------

    def _find_across(self, known: Known) -> None:
        edges = self._edges(known)
        for j, branch in enumerate(self.branches):
            if (j, "across") not in known and (value := self._along(edges, branch)) is not None:
                known[j, "across"] = value

    def _along(self, edges: Edges, branch: Branch) -> Array | None:
        """The sum on the shortest way from minus to plus."""
        start, goal = self._point(branch.minus), self._point(branch.plus)
        before: dict[int, tuple[int, Callable[[], Array], float]] = {}
        queue, seen = deque([start]), {start}
        while queue and goal not in seen:
            here = queue.popleft()
            for there, value, sign in edges.get(here, ()):
                if there not in seen:
                    seen.add(there)
                    before[there] = here, value, sign
                    queue.append(there)
        if goal not in seen:
            return None
        total: Array = np.zeros(())
        while goal != start:
            goal, value, sign = before[goal]
            total = total + sign * value()
        return total

    def _edges(self, known: Known) -> Edges:
        edges: Edges = {}

        def join(plus: int, minus: int, value: Callable[[], Array]) -> None:
            edges.setdefault(self._point(minus), []).append((self._point(plus), value, 1.0))
            edges.setdefault(self._point(plus), []).append((self._point(minus), value, -1.0))

        for port in self.graph.ports:
            join(port.plus, port.minus, lambda port=port: self._signed(port, "across"))  # type: ignore[misc]
        for (j, side), found in known.items():
            if side == "across":
                join(self.branches[j].plus, self.branches[j].minus, lambda found=found: found)  # type: ignore[misc]
        return edges

    def _find_through(self, known: Known) -> None:
        """At a node with one branch that is not known, it takes what the others leave."""
        for node in range(len(self.graph.nodes)):
            at = [(j, sign) for j, sign in self._ends(node) if (j, "through") not in known]
            if self._point(node) != GROUND and len(at) == 1:
                ((j, sign),) = at
                known[j, "through"] = -self._leaving(node, known) / sign

    def _ends(self, node: int) -> list[tuple[int, float]]:
        """The branches at a node, and whether their through variable leaves it."""
        found, j = [], 0
        for c in self.graph.couplings:
            for k, b in enumerate((*c.side_1, *c.side_2)):
                enters = 1.0 if k < len(c.side_1) else -1.0
                if node in (b.plus, b.minus) and b.plus != b.minus:
                    found.append((j, enters if node == b.plus else -enters))
                j += 1
        return found

    def _leaving(self, node: int, known: Known) -> Array:
        total: Array = np.zeros(())
        for port in self.graph.ports:
            if node in (port.plus, port.minus) and port.plus != port.minus:
                total = total + (1.0 if node == port.plus else -1.0) * self._signed(port, "through")
        for j, sign in self._ends(node):
            if (j, "through") in known:
                total = total + sign * known[j, "through"]
        return total

    # -- By its own law --------------------------------------------------------------------------------------------------------

    def _find_by_laws(self, known: Known, find: Finder) -> None:
        first = 0
        for coupling in self.graph.couplings:
            for target, terms in self._law(coupling, first):
                find(target, terms, known)
            first += len(coupling.side_1) + len(coupling.side_2)

    def _law(self, coupling: Coupling, first: int) -> Iterator[tuple[Variable, Terms]]:
        """z_2 = K z_1 and w_1 = K^T w_2: what is on the left, and the terms on the right."""
        ones = [(first + i, b.side) for i, b in enumerate(coupling.side_1)]
        twos = [(first + len(ones) + i, b.side) for i, b in enumerate(coupling.side_2)]
        for i, target in enumerate(twos):
            yield target, _present(zip(coupling.K[i], ones, strict=True))
        conjugates = [(j, _other(side)) for j, side in twos]
        for i, (j, side) in enumerate(ones):
            yield (j, _other(side)), _present((row[i], w) for row, w in zip(coupling.K, conjugates, strict=True))

    def _find_sum(self, target: Variable, terms: Terms, known: Known) -> None:
        """What is on the left, where all on the right are known."""
        if target not in known and all(read in known for _, read in terms):
            known[target] = self._sum(terms, known)

    def _find_term(self, target: Variable, terms: Terms, known: Known) -> None:
        """The one on the right that is not known, where its factor is never near zero."""
        missing = [(factor, read) for factor, read in terms if read not in known]
        if target not in known or len(missing) != 1:
            return
        ((factor, read),) = missing
        value = self._value(factor)
        if np.min(np.abs(value)) > LEAST_FACTOR * np.max(np.abs(value)):
            known[read] = (known[target] - self._sum([term for term in terms if term[1] in known], known)) / value

    def _sum(self, terms: Terms, known: Known) -> Array:
        total: Array = np.zeros(())
        for factor, read in terms:
            total = total + self._value(factor) * known[read]
        return total

    # -- The graph -------------------------------------------------------------------------------------------------------------

    def _point(self, node: int) -> int:
        """The node; references are one, of zero."""
        return GROUND if self.graph.nodes[node].reference else node

    def _signed(self, port: Port, side: Side) -> Array:
        """A variable of a port, from plus to minus; what a source answers counts the other way."""
        answer = isinstance(port.law, SourceLaw) and port.law.side != side
        return self._of_port(port, side) * (-1.0 if answer else 1.0)


def _other(side: Side) -> Side:
    return "through" if side == "across" else "across"


def _present(terms: Iterable[tuple[Expression, Variable]]) -> Terms:
    return [(factor, read) for factor, read in terms if factor is not ZERO]
