"""Variables that signals read, as expressions of the power variables of ports.

Ports have their across and through variables. What a storage keeps follows from its law, a power is a product, and the variables of
couplings and the differences between nodes follow from Kirchhoff's laws.
"""

from collections.abc import Mapping, Sequence
from heapq import heappop, heappush

from tellegen.core.domains import DOMAINS, Side
from tellegen.core.names import named_after
from tellegen.expressions import ONE, ZERO, Expression, number, symbol, total
from tellegen.graph.power_graph import Branch, Coupling, Node, Port, ResistiveLaw, SourceLaw, StorageLaw, heat_taken
from tellegen.model.model import SIDES, Element, side_names

_POWER = "power."


class Measurements:
    """What can be measured in a graph."""

    def __init__(
        self,
        nodes: Sequence[Node],
        ports: Sequence[Port],
        couplings: Sequence[Coupling],
        elements: Sequence[Element] = (),
    ) -> None:
        self.nodes = nodes
        self.ports = ports
        self.couplings = couplings
        self.names = {name for port in ports for name in (port.across, port.through, port.state)}
        self._sides = _coupling_names(elements, couplings)
        # Names of contents are made when one is asked for: most models read none, and a large one has thousands.
        self._contents: dict[str, int] | None = None
        self._chosen = {e.name: e.variables["energy"] for e in elements if "energy" in e.variables}

    def _of_port(self, name: str) -> Expression | None:
        """The power of an element, or what a storage keeps."""
        if name.startswith(_POWER):
            element = name.removeprefix(_POWER)
            return next((self._power(port) for port in self.ports if port.element == element), None)
        if self._contents is None:
            self._contents = {n: k for k, port in enumerate(self.ports) if (n := _content_name(port, self._chosen))}
        return _content(self.ports[self._contents[name]]) if name in self._contents else None

    def _power(self, port: Port) -> Expression:
        """The power into a port; where heat is counted, the heat that it takes from nodes other than the reference."""
        # Temperature times heat flow is no power; the heat flow is one by itself.
        heat = DOMAINS[port.domain].heat_books
        power = number(heat_taken(port, self.nodes)) * along(port, "through") if heat else _power_into(port)
        # Power counts into elements and out of sources.
        return -power if isinstance(port.law, SourceLaw) else power

    def replacements(self, names: frozenset[str]) -> dict[str, Expression]:
        """What the names stand for that are no variables of ports but follow from them."""
        found: dict[str, Expression] = {}
        for name in names:
            if name in self.names:
                continue
            known = self._of_coupling(*self._sides[name]) if name in self._sides else self._of_port(name)
            if known is not None:
                found[name] = known
        return found

    def unreachable(self, names: frozenset[str]) -> list[str]:
        """Variables of couplings that no sensor at the ports gives."""
        own = (names & self._sides.keys()) - self.names
        return sorted(own - self.replacements(own).keys())

    def between(self, plus: str, minus: str, domain: str | None = None) -> Expression | None:
        """The across variable from one node to another by the ports between them; None where only couplings join them."""
        ends = [self._number(name, domain) for name in (plus, minus)]
        if ends[0] is None or ends[1] is None:
            return None
        return self.difference(ends[0], ends[1])

    def domain_of(self, node: str) -> str | None:
        """The domain of a node."""
        return next((n.domain for n in self.nodes if n.name == node), None)

    def _number(self, name: str, domain: str | None) -> int | None:
        return next((k for k, n in enumerate(self.nodes) if n.name == name and domain in (None, n.domain)), None)

    def difference(self, plus: int, minus: int) -> Expression | None:
        """The shortest sum of across variables of ports, those that storages and sources decide before the others."""
        # Dijkstra's algorithm. Any path between the nodes gives the same difference, but a short one over states gives
        # formulas that a reader and a compiler like.
        best: dict[int, float] = {plus: 0.0}
        came: dict[int, tuple[int, Expression]] = {}
        queue: list[tuple[float, int]] = [(0.0, plus)]
        edges = self._edges()
        while queue:
            cost, node = heappop(queue)
            if node == minus:
                break
            for other, term, weight in edges.get(node, ()):
                if cost + weight < best.get(other, float("inf")):
                    best[other] = cost + weight
                    came[other] = (node, term)
                    heappush(queue, (cost + weight, other))
        if minus not in best:
            return None
        terms: list[Expression] = []
        while minus != plus:
            minus, term = came[minus]
            terms.append(term)
        return total(terms)

    def _edges(self) -> dict[int, list[tuple[int, Expression, float]]]:
        edges: dict[int, list[tuple[int, Expression, float]]] = {}
        for port in self.ports:
            # What storages and sources decide is known at once; the across variable of a resistor has to be computed
            # first, and may close a loop.
            weight = 10.0 if isinstance(port.law, ResistiveLaw) or port.law.side == "through" else 1.0
            across = along(port, "across")
            edges.setdefault(port.plus, []).append((port.minus, across, weight))
            edges.setdefault(port.minus, []).append((port.plus, -across, weight))
        references: dict[str, int] = {}
        for k, node in enumerate(self.nodes):
            # Two parts may both be grounded without a port between their grounds.
            if node.reference:  # all references of a domain that are named so are one point
                first = references.setdefault(node.domain, k)
                if first != k and self.nodes[first].name == node.name:
                    edges.setdefault(first, []).append((k, ZERO, 0.0))
                    edges.setdefault(k, []).append((first, ZERO, 0.0))
        return edges

    def _of_coupling(self, branch: Branch, side: Side, sign: int) -> Expression | None:
        if side == "across":
            return self.difference(branch.plus, branch.minus)
        # Kirchhoff's law at either end gives the same current; one of the ends may have a second coupling, whose
        # current is unknown too.
        for node, direction in ((branch.plus, 1), (branch.minus, -1)):
            found = self._balance(node, branch)
            if found is not None:
                return found if direction * sign > 0 else -found
        return None

    def _balance(self, node: int, branch: Branch) -> Expression | None:
        """What flows from a node into a branch, where no other coupling meets it."""
        others = [b for c in self.couplings for b in (*c.side_1, *c.side_2) if b != branch]
        # At a reference everything meets that is grounded anywhere: its balance says nothing about this part.
        if self.nodes[node].reference or any(node in (b.plus, b.minus) for b in others):
            return None
        leaving = [
            (ONE if port.plus == node else -ONE) * along(port, "through")
            for port in self.ports
            # What has both ends at the node leaves as it enters.
            if node in (port.plus, port.minus) and port.plus != port.minus
        ]
        return -total(leaving)


def along(port: Port, side: Side) -> Expression:
    """A power variable counted as Kirchhoff's laws do: across from plus to minus, through entering at plus."""
    # The name of what a source answers counts out of it, as the output y does: V_I of a current source rises against
    # its arrow. A sum round a loop or at a node that took the name as it stands would have the wrong sign there.
    value = symbol(port.variable(side))
    return -value if isinstance(port.law, SourceLaw) and port.law.side != side else value


def _power_into(port: Port) -> Expression:
    return along(port, "across") * along(port, "through")


def _content_name(port: Port, chosen: Mapping[str, str]) -> str:
    """The name of what a storage keeps, empty where that is its state or there is nothing."""
    if not isinstance(port.law, StorageLaw) or port.law.keeps_energy_variable:
        return ""
    return chosen.get(port.element) or named_after(DOMAINS[port.domain].energy(port.law.side).symbol, port.element)


def _content(port: Port) -> Expression | None:
    """What a storage keeps, by its output."""
    return port.storage.content_at(symbol(port.variable(port.storage.side)))


def _coupling_names(elements: Sequence[Element], couplings: Sequence[Coupling]) -> dict[str, tuple[Branch, Side, int]]:
    """Names of the variables of couplings, with their branch; through variables of side 2 leave at plus."""
    found: dict[str, tuple[Branch, Side, int]] = {}
    by_name = {coupling.element: coupling for coupling in couplings}
    for element in elements:
        coupling = by_name.get(element.name)
        if coupling is None or element.multiport is not None:
            continue
        branches = [(coupling.side_1[0], 1), (coupling.side_2[0], -1)]
        for port, (branch, sign) in enumerate(branches):
            for side in SIDES:
                for name in side_names(element, port, side):
                    found.setdefault(name, (branch, side, sign))
    return found
