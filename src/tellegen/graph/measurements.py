"""Variables that signals read, as expressions of the power variables of ports.

Ports have their across and through variables. What a storage keeps follows from its law, a power is a product, and the variables of
couplings and the differences between nodes follow from Kirchhoff's laws.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, partial
from heapq import heappop, heappush
from operator import itemgetter
from types import MappingProxyType
from typing import NamedTuple

from tellegen.core.domains import DOMAINS, Side, other_side
from tellegen.core.names import named_after
from tellegen.expressions import ONE, ZERO, Expression, Number, Pow, number, postorder, symbol, total
from tellegen.graph.power_graph import Branch, Coupling, Node, Port, ResistiveLaw, SourceLaw, StorageLaw, heat_taken
from tellegen.model.model import SIDES, Element, side_names

_POWER = "power."

_DEEPEST, _MOST_ASKED = 100, 1000
"""So many couplings are asked one after the other, and in all, for what flows through the first."""


class _CouplingPort(NamedTuple):
    """A port of a coupling: the number of the coupling, its place on its side, and 1 on side 1, where power enters, else -1."""

    coupling: int
    place: int
    branch: Branch
    direction: int


_Asked = tuple[tuple[_CouplingPort, Side], ...]
_Edge = tuple[int, Expression, float]
"""Another node, the across variable on the way there, and how far that is."""


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
        self._left = 0
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

    def difference(
        self, plus: int, minus: int, more: Mapping[int, Sequence[_Edge]] = MappingProxyType({})
    ) -> Expression | None:
        """The shortest sum of across variables of ports, those that storages and sources decide before the others.

        `more` are further ways from a node to another.
        """
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
            for other, term, weight in (*edges.get(node, ()), *more.get(node, ())):
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

    def _edges(self) -> dict[int, list[_Edge]]:
        edges: dict[int, list[_Edge]] = {}
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

    # -- couplings -------------------------------------------------------------------------------------------------------------

    def _of_coupling(self, port: _CouplingPort, side: Side) -> Expression | None:
        self._left = _MOST_ASKED
        return self._variable(port, side, ())

    def _variable(self, port: _CouplingPort, side: Side, asked: _Asked) -> Expression | None:
        """A variable of a port; through variables enter side 1 at plus, and leave side 2. `asked` are those that wait for it."""
        self._left -= 1
        if (port, side) in asked or len(asked) > _DEEPEST or self._left < 0:
            return None
        # What the ports around it tell comes first; the law of the coupling asks for variables of its other ports,
        # and the last way for those of further couplings.
        around = self._by_balance if side == "through" else self._by_way
        asked = (*asked, (port, side))
        ways = (
            partial(around, others=False),
            partial(self._by_law, side),
            partial(around, others=True),
            partial(self._by_inverse, side),
        )
        return next((found for find in ways if (found := find(port, asked)) is not None), None)

    def _by_way(self, port: _CouplingPort, asked: _Asked, *, others: bool) -> Expression | None:
        """The across variable by those on a way between the nodes."""
        more: dict[int, list[_Edge]] = {}
        for node, ports in self._at.items() if others else ():
            for other in ports:
                plus, minus = other.branch.plus, other.branch.minus
                if node == plus and other != port and (known := self._variable(other, "across", asked)) is not None:
                    more.setdefault(plus, []).append((minus, known, 10.0))
                    more.setdefault(minus, []).append((plus, -known, 10.0))
        return self.difference(port.branch.plus, port.branch.minus, more)

    def _by_balance(self, port: _CouplingPort, asked: _Asked, *, others: bool) -> Expression | None:
        """The through variable by what meets at either end."""
        for node, direction in ((port.branch.plus, 1), (port.branch.minus, -1)):
            found = self._balance(node, port, asked, others=others)
            if found is not None:
                return found if direction * port.direction > 0 else -found
        return None

    def _balance(self, node: int, port: _CouplingPort, asked: _Asked, *, others: bool) -> Expression | None:
        """What flows from a node into a port of a coupling."""
        # At a reference everything meets that is grounded anywhere: its balance says nothing about this part.
        beside = [p for p in self._at.get(node, ()) if p != port]
        if self.nodes[node].reference or (beside and not others):
            return None
        leaving = [
            (ONE if p.plus == node else -ONE) * along(p, "through")
            for p in self.ports
            # What has both ends at the node leaves as it enters.
            if node in (p.plus, p.minus) and p.plus != p.minus
        ]
        for other in beside:
            known = self._variable(other, "through", asked)
            if known is None:
                return None
            leaving.append(known if (other.branch.plus == node) == (other.direction > 0) else -known)
        return -total(leaving)

    def _by_law(self, side: Side, port: _CouplingPort, asked: _Asked) -> Expression | None:
        """By z_2 = K z_1 and w_1 = K^T w_2, where the variable stands on the left."""
        coupling = self.couplings[port.coupling]
        second = port.direction < 0
        if (port.branch.side == side) != second:
            return None
        factors = coupling.K[port.place] if second else [row[port.place] for row in coupling.K]
        terms = []
        for place, (factor, branch) in enumerate(
            zip(factors, coupling.side_1 if second else coupling.side_2, strict=True)
        ):
            if factor is ZERO:
                continue
            read = branch.side if second else other_side(branch.side)
            other = _CouplingPort(port.coupling, place, branch, -port.direction)
            known = self._variable(other, read, asked)
            if known is None:
                return None
            terms.append(factor * known)
        return total(terms)

    def _by_inverse(self, side: Side, port: _CouplingPort, asked: _Asked) -> Expression | None:
        """By the same laws, where the variable stands alone on the right."""
        coupling = self.couplings[port.coupling]
        second = port.direction < 0
        if (port.branch.side == side) == second:
            return None
        rows = list(zip(*coupling.K, strict=True)) if second else coupling.K
        for place, (row, branch) in enumerate(zip(rows, coupling.side_1 if second else coupling.side_2, strict=True)):
            inverse = _inverse(row[port.place])
            if inverse is None or any(factor is not ZERO for k, factor in enumerate(row) if k != port.place):
                continue
            read = other_side(branch.side) if second else branch.side
            known = self._variable(_CouplingPort(port.coupling, place, branch, -port.direction), read, asked)
            if known is not None:
                return inverse * known
        return None

    @cached_property
    def _at(self) -> dict[int, list[_CouplingPort]]:
        """The ports of couplings at each node."""
        found: dict[int, list[_CouplingPort]] = {}
        for k, coupling in enumerate(self.couplings):
            for port in _ports_of(k, coupling):
                # What has both ends at one node carries nothing through it.
                if port.branch.plus != port.branch.minus:
                    for node in (port.branch.plus, port.branch.minus):
                        found.setdefault(node, []).append(port)
        return found


def along(port: Port, side: Side) -> Expression:
    """A power variable counted as Kirchhoff's laws do: across from plus to minus, through entering at plus."""
    # The name of what a source answers counts out of it, as the output y does: V_I of a current source rises against
    # its arrow. A sum round a loop or at a node that took the name as it stands would have the wrong sign there.
    value = symbol(port.variable(side))
    return -value if isinstance(port.law, SourceLaw) and port.law.side != side else value


def _inverse(factor: Expression) -> Expression | None:
    """One over a factor that is a number or is itself one over something, as notations write a coupling the other way round.

    None for others: a ratio that moves may pass zero, where the variable on the left tells nothing.
    """
    if factor is ZERO:
        return None
    inverse = ONE / factor
    raised = (node for node in postorder(inverse) if isinstance(node, Pow) and node.base.free_symbols)
    divides = any(not isinstance(node.exponent, Number) or node.exponent.value < 0 for node in raised)
    return None if divides else inverse


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


def _ports_of(number: int, coupling: Coupling) -> Iterator[_CouplingPort]:
    for direction, side in ((1, coupling.side_1), (-1, coupling.side_2)):
        yield from (_CouplingPort(number, place, branch, direction) for place, branch in enumerate(side))


def _coupling_names(
    elements: Sequence[Element], couplings: Sequence[Coupling]
) -> dict[str, tuple[_CouplingPort, Side]]:
    """Names of the variables of couplings, with the port that has them."""
    found: dict[str, tuple[_CouplingPort, Side]] = {}
    by_name = {coupling.element: k for k, coupling in enumerate(couplings)}
    for element in elements:
        if element.kind.role != "coupling" or element.name not in by_name:
            continue
        number = by_name[element.name]
        relation = element.multiport
        order = range(2) if relation is None else (*relation.given, *relation.gives)
        ports = zip(order, _ports_of(number, couplings[number]), strict=True)
        for k, port in sorted(ports, key=itemgetter(0)):
            for side in SIDES:
                for name in side_names(element, k, side):
                    found.setdefault(name, (port, side))
    return found
