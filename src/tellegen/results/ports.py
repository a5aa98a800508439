"""Where the variables of elements stand among the observables, and which elements lie on which side of a coupling."""

from collections.abc import Sequence
from itertools import pairwise
from typing import final

from tellegen.compiler.numeric_model import Observable, ObservableKind
from tellegen.core.domains import DOMAINS
from tellegen.core.union_find import UnionFind
from tellegen.graph import Coupling, PowerGraph, ResistiveLaw, SourceLaw
from tellegen.graph.power_graph import heat_taken
from tellegen.results import rules


@final
class Catalogue:
    """The observables by name, and by kind and element."""

    def __init__(self, observables: Sequence[Observable]) -> None:
        self.observables = observables
        self.by_name: dict[str, int] = {}
        self.by_kind: dict[str, dict[str, list[int]]] = {}
        for k, o in enumerate(observables):
            # The output of a source stands there as its power variable too, with the same value.
            self.by_name.setdefault(o.name, k)
            self.by_kind.setdefault(o.kind, {}).setdefault(o.element, []).append(k)

    def of(self, kind: ObservableKind, element: str) -> list[int]:
        """The places of the observables of one kind of an element; several where it has several ports."""
        return self.by_kind.get(kind, {}).get(element, [])

    def elements(self, kind: ObservableKind) -> list[str]:
        """The elements that have observables of a kind, in the order of description."""
        return list(self.by_kind.get(kind, {}))


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


def supplying(graph: PowerGraph) -> set[str]:
    """The sources that supply energy: not those that bring the heat of dissipators."""
    return {port.element for port in graph.ports if isinstance(port.law, SourceLaw) and not port.transferred}


def transferring(graph: PowerGraph) -> list[str]:
    """The dissipators whose heat goes into a thermal port."""
    return [port.element for port in graph.ports if port.transferred and not isinstance(port.law, SourceLaw)]


def exchanges_heat(graph: PowerGraph) -> bool:
    """Whether heat passes between the system and the ambient."""
    leads = (port for port in graph.ports if isinstance(port.law, ResistiveLaw))
    return any(DOMAINS[port.domain].heat_books and heat_taken(port, graph.nodes) for port in leads)
