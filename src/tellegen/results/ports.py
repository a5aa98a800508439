"""Where the variables of elements stand among the observables, and which elements lie on which side of a coupling."""

from collections.abc import Container, Sequence
from itertools import pairwise
from typing import final

from tellegen.compiler.numeric_model import Observable, ObservableKind
from tellegen.core.domains import DOMAINS
from tellegen.core.union_find import UnionFind
from tellegen.graph import Coupling, Port, PowerGraph, ResistiveLaw, SourceLaw
from tellegen.graph.power_graph import heat_taken
from tellegen.results import rules


@final
class Catalogue:
    """The observables by name, and by kind and element.

    Where the run is that of a form of a model, `described` is the graph of the model itself: elements that the form has merged
    into a field are there by the signals with the names of their variables, and the parts of the field are not listed.
    """

    def __init__(
        self, observables: Sequence[Observable], parts: Container[str] = (), described: PowerGraph | None = None
    ) -> None:
        self.observables = observables
        self.merged: set[str] = set()  # names of signals that are powers and energies
        self._parts = parts
        self._order = {port.element: k for k, port in enumerate(described.ports)} if described is not None else {}
        self.by_name: dict[str, int] = {}
        self.by_kind: dict[str, dict[str, list[int]]] = {}
        for k, o in enumerate(observables):
            # The output of a source stands there as its power variable too, with the same value.
            self.by_name.setdefault(o.name, k)
            self.by_kind.setdefault(o.kind, {}).setdefault(o.element, []).append(k)
        for port in described.ports if described is not None else ():
            self._read_as(port)

    def of(self, kind: ObservableKind, element: str) -> list[int]:
        """The places of the observables of one kind of an element; several where it has several ports."""
        return self.by_kind.get(kind, {}).get(element, [])

    def elements(self, kind: ObservableKind) -> list[str]:
        """The elements that have observables of a kind, in the order of description."""
        found = [element for element in self.by_kind.get(kind, {}) if element not in self._parts]
        return sorted(found, key=lambda e: self._order.get(e, len(self._order))) if self._order else found

    def _read_as(self, port: Port) -> None:
        """The variables of an element that signals tell: one that is part of a field now, or a joint between such."""
        names: dict[ObservableKind, str] = {"across": port.across, "through": port.through}
        names |= {"power": f"power.{port.element}", "energy": f"energy.{port.element}"}
        for kind, name in names.items():
            place = self.by_name.get(name)
            if place is None:
                continue
            if self.observables[place].kind == "signal" or not self.of(kind, port.element):
                self.by_kind.setdefault(kind, {})[port.element] = [place]
                self.merged |= {name} if kind in ("power", "energy") else set()


def elements_behind(graph: PowerGraph, coupling: Coupling) -> set[str]:
    """The elements on the far side of a coupling, which all its power goes to.

    Raises: SimulationError (S203) when both sides are joined by another way too.
    """
    sides = UnionFind(len(graph.nodes))

    def join(nodes: Sequence[int]) -> None:
        # No power passes a reference: its across variable is zero.
        free = [n for n in nodes if not graph.nodes[n].reference]
        for a, b in pairwise(free):
            sides.join(a, b)

    for port in graph.ports:
        join([port.plus, port.minus])
    for other in graph.couplings:
        if other is not coupling:
            join([n for branch in (*other.side_1, *other.side_2) for n in branch[:2]])
    near = {sides.find(n) for b in coupling.side_1 for n in b[:2] if not graph.nodes[n].reference}
    far = {sides.find(n) for b in coupling.side_2 for n in b[:2] if not graph.nodes[n].reference}
    if near & far:
        raise rules.NO_SEPARATE_SIDES.error(
            f"the two sides of '{coupling.element}' are joined elsewhere too",
            where=coupling.element,
            fix="ask for the powers of the elements on one side",
        )
    return {p.element for p in graph.ports if {sides.find(p.plus), sides.find(p.minus)} & far}


def sources_of(graph: PowerGraph) -> set[str]:
    """The elements whose power counts positive where it leaves them."""
    return {port.element for port in graph.ports if isinstance(port.law, SourceLaw)}


def parts_of_fields(graph: PowerGraph) -> frozenset[str]:
    """The ports and sources of fields that were made from other elements."""
    return frozenset(port.element for port in graph.ports if port.part_of)


def supplying(graph: PowerGraph) -> set[str]:
    """The sources that supply energy: not those that bring the heat of dissipators, nor those that move the matrix of a field."""
    sources = (port for port in graph.ports if isinstance(port.law, SourceLaw))
    return {port.element for port in sources if not (port.transferred or port.part_of)}


def transferring(graph: PowerGraph) -> list[str]:
    """The dissipators whose heat goes into a thermal port."""
    return [port.element for port in graph.ports if port.transferred and not isinstance(port.law, SourceLaw)]


def exchanges_heat(graph: PowerGraph) -> bool:
    """Whether heat passes between the system and the ambient."""
    leads = (port for port in graph.ports if isinstance(port.law, ResistiveLaw))
    return any(DOMAINS[port.domain].heat_books and heat_taken(port, graph.nodes) for port in leads)
