"""The physical domain of every bond: from the words of domains and the units of parameters, spread along bonds."""

from collections.abc import Iterable
from functools import cache

from tellegen.core.domains import DOMAINS, Domain
from tellegen.core.errors import TellegenError
from tellegen.core.units import Dimension, parse_unit
from tellegen.description.bond_graphs import rules
from tellegen.description.bond_graphs.graph import TWO_PORTS, BondGraph, Item, ItemKind, plain_kind
from tellegen.description.context import Context
from tellegen.elements import ElementKind, kinds_of

Place_ = tuple[str, str, int]
"""An item as seen from one of its bonds: a two-port has two sides with a port for each bond, any other item only one place."""


@cache
def one_port_kinds(kind: ItemKind, domain: Domain) -> tuple[ElementKind, ...]:
    """The kinds of element that a one-port can be in a domain, the one that a bare number means first.

    A detector of effort and the residual sink rSe are resistive elements whose flow is zero, Df and rSf those without effort.
    """
    letters = plain_kind(kind)
    if letters in ("Se", "Sf"):
        side = domain.effort if letters == "Se" else domain.flow
        return tuple(k for k in kinds_of(domain.name, "source") if k.side == side)
    if letters in ("De", "rSe", "Df", "rSf"):
        side = domain.flow if letters in ("De", "rSe") else domain.effort
        return tuple(k for k in kinds_of(domain.name, "resistive") if k.side == side)
    if letters == "Sw":
        return tuple(kinds_of(domain.name, "switching"))
    if letters == "R":  # e = R f unless the unit says otherwise
        return tuple(sorted(kinds_of(domain.name, "resistive"), key=lambda k: k.side != domain.effort))
    side = domain.effort if letters == "C" else domain.flow
    storages = [k for k in kinds_of(domain.name, "storage") if k.side == side]
    return tuple(sorted(storages, key=lambda k: k.inverse))  # a bare number is a compliance, not a stiffness


def kind_of(item: Item, domain: Domain, dimension: Dimension | None, keys: Iterable[str] = ()) -> ElementKind:
    """The kind of element that a one-port is: the one whose parameter has the dimension given, or whose keys are used."""
    kinds = one_port_kinds(item.kind, domain)
    if not kinds:
        raise no_such_element(item, domain)
    fitting = [k for k in kinds if has_dimension(k, dimension)]
    keyed = [k for k in kinds if k.quantity is not None and k.quantity.key in keys]
    return (*fitting, *keyed, *kinds)[0]


def no_such_element(item: Item, domain: Domain) -> TellegenError:
    """The error for a one-port that a domain does not have."""
    fix = "keep to C, Se and Sf there; heat passes through an entropy conductor of a network"
    if domain.heat_books or kinds_of(domain.name, "resistive"):
        fix = "keep to C, R, Se and Sf there"
    what = f"'{item.kind}:{item.name}' is {domain.name}, and that domain has no such element"
    return rules.NO_SUCH_ELEMENT.error(what, where=item.name, fix=fix, place=item.place)


def has_dimension(kind: ElementKind, dimension: Dimension | None) -> bool:
    """Whether the parameter of a kind has a dimension."""
    return kind.quantity is not None and parse_unit(kind.quantity.unit).dimension == dimension


@cache
def _domains_of(letters: ItemKind, dimension: Dimension) -> tuple[Domain, ...]:
    """The domains in which a one-port can have a parameter of the dimension."""
    return tuple(d for d in DOMAINS.values() if any(has_dimension(k, dimension) for k in one_port_kinds(letters, d)))


class Domains:
    """Spreads what is known about domains along the bonds of a graph."""

    def __init__(self, context: Context, graph: BondGraph) -> None:
        self.context = context
        self.graph = graph
        self.known: dict[Place_, str] = {}
        self.because: dict[Place_, str] = {}
        self._neighbours: dict[Place_, list[Place_]] = {}
        for bond in graph.bonds:
            tail, head = self.end(bond.tail, "out", bond.tail_port), self.end(bond.head, "in", bond.head_port)
            self._neighbours.setdefault(tail, []).append(head)
            self._neighbours.setdefault(head, []).append(tail)

    def end(self, name: str, direction: str, port: int) -> Place_:
        """The end of a bond at an item: two-ports tell the bonds that come in from those that go out, and count both."""
        return (name, direction, port) if self.graph.items[name].kind in TWO_PORTS else (name, "", 0)

    def find(self) -> None:
        """Settle the domain of every end.

        Raises: DescriptionError where two domains meet, or nothing is known.
        """
        for item in self.graph.items.values():
            for domain, reason in self._evidence(item):
                self._spread((item.name, "", 0), domain, reason)
        for item in self.graph.items.values():
            end = (item.name, "", 0)
            fitting = [d.name for d in self._fitting(item)[0]]
            if self.known.get(end) not in fitting and (hint := self._hint(item)) is not None:
                self._spread(end, *hint)
        unknown = [end for end in self._neighbours if end not in self.known]
        if unknown:
            raise self._no_domain(unknown)

    def domain(self, name: str, direction: str = "", port: int = 0) -> Domain:
        """The domain of an item, or of one port of a two-port."""
        return DOMAINS[self.known[self.end(name, direction, port)]]

    def _evidence(self, item: Item) -> Iterable[tuple[str, str]]:
        if item.domain:
            yield item.domain, f"'{item.name}' is called {item.domain}"
        fitting, unit = self._fitting(item)
        if len(fitting) == 1:
            yield fitting[0].name, f"'{item.name}' is given in {unit}"

    def _hint(self, item: Item) -> tuple[str, str] | None:
        """What a unit says that two domains share, where nothing else is known: the one that is told by its units."""
        fitting, unit = self._fitting(item)
        told = [d for d in fitting if d.told_by_units]
        return (told[0].name, f"'{item.name}' is given in {unit}") if len(told) == 1 else None

    def _fitting(self, item: Item) -> tuple[tuple[Domain, ...], str]:
        """The domains that the unit of a parameter fits."""
        parameter = self.context.parameters.get(item.origin)
        if item.kind not in ("C", "I", "R", "MR") or parameter is None or parameter.dimension is None:
            return (), ""
        return _domains_of(item.kind, parameter.dimension), parameter.unit

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

    def _no_domain(self, unknown: list[Place_]) -> TellegenError:
        items = [self.graph.items[name] for name, _, _ in unknown]
        item = next((item for item in items if item.kind not in TWO_PORTS), items[0])
        words = ", ".join(DOMAINS)
        if item.kind in TWO_PORTS:
            fix = f"put a junction with a domain beside it, such as '1:j (electrical)' (one of {words})"
        else:
            shown = f"{item.kind}:{item.name} (electrical)"
            fix = f"write a domain behind it, such as '{shown}' (one of {words}), or give units"
        what = f"the domain of '{item.name}' is not known"
        return rules.NO_DOMAIN.error(what, where=item.name, fix=fix, place=item.place)
