"""The physical domain of every bond: from the words of domains and the units of parameters, spread along bonds."""

from collections.abc import Iterable

from tellegen.core.domains import DOMAINS, Domain
from tellegen.core.errors import TellegenError
from tellegen.core.units import Dimension, parse_unit
from tellegen.description.bond_graphs import rules
from tellegen.description.bond_graphs.graph import TWO_PORTS, BondGraph, Item
from tellegen.description.context import Context
from tellegen.elements import ElementKind, kinds_of

Place_ = tuple[str, str]
"""An item as seen from one of its bonds: a two-port has a side for each, any other item only one."""


def one_port_kinds(item: Item, domain: Domain) -> list[ElementKind]:
    """The kinds of element that a one-port can be in a domain, the one that a bare number means first."""
    if item.kind in ("Se", "Sf"):
        side = domain.effort if item.kind == "Se" else domain.flow
        return [k for k in kinds_of(domain.name, "source") if k.side == side]
    if item.kind == "R":  # e = R f unless the unit says otherwise
        return sorted(kinds_of(domain.name, "resistive"), key=lambda k: k.side != domain.effort)
    side = domain.effort if item.kind == "C" else domain.flow
    storages = [k for k in kinds_of(domain.name, "storage") if k.side == side]
    return sorted(storages, key=lambda k: k.inverse)  # a bare number is a compliance, not a stiffness


def kind_of(item: Item, domain: Domain, dimension: Dimension | None) -> ElementKind:
    """The kind of element that a one-port is: the one whose parameter has the dimension given."""
    kinds = one_port_kinds(item, domain)
    fitting = [k for k in kinds if k.quantity is not None and parse_unit(k.quantity.unit).dimension == dimension]
    return (fitting or kinds)[0]


class Domains:
    """Spreads what is known about domains along the bonds of a graph."""

    def __init__(self, context: Context, graph: BondGraph) -> None:
        self.context = context
        self.graph = graph
        self.known: dict[Place_, str] = {}
        self.because: dict[Place_, str] = {}
        self._neighbours: dict[Place_, list[Place_]] = {}
        for bond in graph.bonds:
            tail, head = self.end(bond.tail, "out"), self.end(bond.head, "in")
            self._neighbours.setdefault(tail, []).append(head)
            self._neighbours.setdefault(head, []).append(tail)

    def end(self, name: str, direction: str) -> Place_:
        """The end of a bond at an item: two-ports tell the bond that comes in from the one that goes out."""
        return (name, direction if self.graph.items[name].kind in TWO_PORTS else "")

    def find(self) -> None:
        """Settle the domain of every end.

        Raises: DescriptionError where two domains meet, or nothing is known.
        """
        for item in self.graph.items.values():
            for domain, reason in self._evidence(item):
                self._spread((item.name, ""), domain, reason)
        unknown = [end for end in self._neighbours if end not in self.known]
        if unknown:
            raise self._no_domain(unknown[0][0])

    def domain(self, name: str, direction: str = "") -> Domain:
        """The domain of an item, or of one side of a two-port."""
        return DOMAINS[self.known[self.end(name, direction)]]

    def _evidence(self, item: Item) -> Iterable[tuple[str, str]]:
        if item.domain:
            yield item.domain, f"'{item.name}' is called {item.domain}"
        parameter = self.context.parameters.get(item.name)
        if item.kind in ("C", "I", "R") and parameter is not None and parameter.dimension is not None:
            fitting = [d for d in DOMAINS.values() if self._fits(item, d, parameter.dimension)]
            if len(fitting) == 1:
                yield fitting[0].name, f"'{item.name}' is given in {parameter.unit}"

    @staticmethod
    def _fits(item: Item, domain: Domain, dimension: Dimension) -> bool:
        units = [k.quantity.unit for k in one_port_kinds(item, domain) if k.quantity is not None]
        return any(parse_unit(unit).dimension == dimension for unit in units)

    def _spread(self, start: Place_, domain: str, reason: str) -> None:
        stack = [start]
        while stack:
            end = stack.pop()
            if end not in self.known:
                self.known[end], self.because[end] = domain, reason
                stack.extend(self._neighbours.get(end, ()))
            elif self.known[end] != domain:
                raise self._two_domains(end, domain, reason)

    def _two_domains(self, end: Place_, domain: str, reason: str) -> TellegenError:
        item = self.graph.items[end[0]]
        what = f"'{item.name}' would be {self.known[end]} and {domain}: {self.because[end]}, but {reason}"
        return rules.TWO_DOMAINS.error(
            what, where=item.name, fix="put TF or GY between the two domains", place=item.place
        )

    def _no_domain(self, name: str) -> TellegenError:
        item = self.graph.items[name]
        words = ", ".join(DOMAINS)
        fix = f"write a domain behind it, such as '{item.kind}:{name} (electrical)' (one of {words}), or give units"
        return rules.NO_DOMAIN.error(f"the domain of '{name}' is not known", where=name, fix=fix, place=item.place)
