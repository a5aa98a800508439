"""A causal graph as the elements of a network, and a model as the text of a file in any notation: network, bond graph or POG."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, final

from tellegen.causality import CausalGraph, assign_causality
from tellegen.core.domains import REFERENCES
from tellegen.core.errors import TellegenError
from tellegen.core.union_find import UnionFind
from tellegen.elements import COUPLING_OF, KINDS, CouplingType, ElementKind, connection, multiport_kind
from tellegen.expressions import ONE, symbol
from tellegen.graph import Coupling, Field, Port, PowerGraph, SourceLaw, lower
from tellegen.model.laws import MatrixField, Multiport
from tellegen.model.model import Element, Model
from tellegen.notations.writing import to_yaml
from tellegen.schemes import element_texts, rules
from tellegen.schemes.bond_graph_construction import bond_graph
from tellegen.schemes.bond_graph_scheme import default_variable
from tellegen.schemes.bond_graph_writing import bond_graph_text
from tellegen.schemes.pog_construction import pog
from tellegen.schemes.pog_writing import ladder_text


@final
@dataclass(frozen=True)
class NetworkScheme:
    """Elements between nodes, and the fields that some of them form."""

    elements: tuple[Element, ...]
    fields: tuple[MatrixField, ...] = ()


def network_of(causal: CausalGraph, *, model: Model | None = None) -> NetworkScheme:
    """The elements between nodes that a causal graph stands for; connections of modulus one that are wires are left out.

    Elements with modes are those of the `model` that the graph was made from; without one they are shown as they are now.

    Raises: GraphError (G205) naming the bond that no wire can replace.
    """
    graph = causal.graph
    nodes = _Nodes(graph)
    # Mechanisms and parts join their nodes by couplings of ratio one: as wires they disappear from the network.
    couplings = [c for c in graph.couplings if c.element not in nodes.wires]
    described = {} if model is None else {e.name: e for e in model.elements}
    in_fields = {k for field in graph.fields for k in field.ports}
    elements = []
    for k, port in enumerate(graph.ports):
        # The graph knows an element with modes as it is now; the model knows all its modes.
        if k in graph.switching and port.element in described:
            elements.append(replace(described[port.element], nodes=(nodes.name(port.plus), nodes.name(port.minus))))
        else:
            # A port of a field has the law or the value of that.
            own = _element(port, nodes, own=k not in in_fields)
            elements.append(replace(own, kind=element_texts.member_kind(port)) if k in in_fields else own)
    fields = [_field(field, graph, elements) for field in graph.fields]
    return NetworkScheme((*elements, *(_coupling(c, nodes) for c in couplings)), tuple(fields))


def _field(field: Field, graph: PowerGraph, elements: list[Element]) -> MatrixField:
    """A field; one without a matrix gives its members their laws."""
    members = tuple(graph.ports[k].element for k in field.ports)
    laws = element_texts.field_laws(field, graph.ports)
    # With a matrix the diagonal is the value of each member, so that a reader finds it where he looks for it.
    if not laws:
        for i, k in enumerate(field.ports):
            elements[k] = replace(elements[k], value=field.matrix[i][i])
        return MatrixField(field.element, members, field.matrix, stiffness=field.stiffness)
    for k, own in zip(field.ports, laws, strict=True):
        elements[k] = replace(elements[k], law=own)
    letters = tuple(law.variable for law in laws)
    states = [graph.ports[k].state for k in field.ports]
    named = dict(zip(states, map(symbol, letters), strict=True))
    energy = None if field.energy is None else field.energy.substitute(named)
    return MatrixField(field.element, members, field.matrix, None, energy, letters)


class _Nodes:
    """Names of nodes; those that a wire joins are one."""

    def __init__(self, graph: PowerGraph) -> None:
        self.graph = graph
        self.groups = UnionFind(len(graph.nodes))
        self.wires: set[str] = set()
        # Wires are found before nodes are named: a group may contain a reference, whose name it then has.
        self._join([c for c in graph.couplings if _may_be_wire(c)])
        self._names: dict[int, str] = {}
        for k, node in enumerate(graph.nodes):
            group = self.groups.find(k)
            if group not in self._names or node.name in REFERENCES:
                self._names[group] = node.name

    def name(self, node: int) -> str:
        """The name of a node, or of the group that wires make of it; references first."""
        return self._names[self.groups.find(node)]

    def _join(self, couplings: list[Coupling]) -> None:
        """Join the nodes of connections of modulus one whose sides have one node in common; one may make room for another."""
        # One wire may join the references of two others, so that these fit only afterwards: repeat until nothing
        # changes.
        waiting = couplings
        while waiting:
            fitting = [c for c in waiting if self._same(c.side_1[0].minus, c.side_2[0].minus)]
            # Across variables of two separate pairs are equal, but the nodes are not the same: a wire would also join
            # their references.
            if not fitting:
                raise _no_wire(waiting[0])
            for coupling in fitting:
                self.groups.join(coupling.side_1[0].plus, coupling.side_2[0].plus)
                self.wires.add(coupling.element)
            waiting = [c for c in waiting if c not in fitting]

    def _same(self, a: int, b: int) -> bool:
        both = self.graph.nodes[a].reference and self.graph.nodes[b].reference
        # All references of a domain are one point.
        return both or self.groups.find(a) == self.groups.find(b)


def _may_be_wire(coupling: Coupling) -> bool:
    # By identity: a modulus that is one only for some values of its parameters is no wire.
    if not _is_scalar(coupling) or coupling.K[0][0] is not ONE:
        return False
    one, two = coupling.side_1[0], coupling.side_2[0]
    return one.domain == two.domain and one.side == two.side


def _no_wire(coupling: Coupling) -> TellegenError:
    return rules.NO_NETWORK.error(
        f"the bond '{coupling.element}' joins two pairs of nodes without one in common",
        where=coupling.element,
        fix="keep it as a transformer of ratio one",
        place=coupling.place,
        members=[coupling.element],
    )


def _element(port: Port, nodes: _Nodes, *, own: bool = True) -> Element:
    # A kind that stores nothing by its nature needs no law that says so.
    weightless = element_texts.weightless_kind(port) if own else None
    kind = weightless or element_texts.element_kind(port)
    law = element_texts.element_law(port) if own else None
    value = element_texts.element_value(port, kind) if law is None and weightless is None else None
    variables = {
        side: port.variable(side)
        for side in ("across", "through")
        if port.variable(side) != default_variable(port, port.element, side)
    }
    return Element(
        name=port.element,
        kind=kind,
        nodes=(nodes.name(port.plus), nodes.name(port.minus)),
        value=None if isinstance(port.law, SourceLaw) or not own else value,
        law=law,
        variables=variables,
        initial=port.initial,
        prefer=port.prefer,
        forced=port.forced,
        place=port.place,
        signal=port.law.signal if isinstance(port.law, SourceLaw) else None,
    )


def _is_scalar(coupling: Coupling) -> bool:
    return len(coupling.side_1) == len(coupling.side_2) == 1


def _multiport(coupling: Coupling, nodes: _Nodes) -> Element:
    one, two = coupling.side_1, coupling.side_2
    given, gives = tuple(range(len(one))), tuple(range(len(one), len(one) + len(two)))
    relation = Multiport(given, gives, tuple(b.side for b in one), tuple(b.side for b in two), coupling.K)
    ends = tuple(nodes.name(k) for branch in (*one, *two) for k in (branch.plus, branch.minus))
    domains = tuple(branch.domain for branch in (*one, *two))
    return Element(coupling.element, multiport_kind(domains), ends, None, multiport=relation, place=coupling.place)


def _coupling(coupling: Coupling, nodes: _Nodes) -> Element:
    if not _is_scalar(coupling):
        return _multiport(coupling, nodes)
    one, two = coupling.side_1[0], coupling.side_2[0]
    # A motor is called a motor where a kind of that name fits; else the connection is written in its general form.
    kind = _coupling_kind((one.domain, two.domain), *COUPLING_OF[one.side, two.side])
    ends = tuple(nodes.name(k) for k in (one.plus, one.minus, two.plus, two.minus))
    return Element(coupling.element, kind, ends, coupling.K[0][0], place=coupling.place)


def _coupling_kind(domains: tuple[str, str], coupling: CouplingType, reciprocal: bool) -> ElementKind:
    """The kind with a name of its own where one fits, else a connection."""
    for kind in KINDS.values():
        if (
            kind.role == "coupling"
            and kind.domains == domains
            and (kind.coupling, kind.reciprocal) == (coupling, reciprocal)
        ):
            return kind
    return connection(domains, coupling, reciprocal=reciprocal)


Notation = Literal["network", "bond", "pog"]


def translation(model: Model, notation: Notation) -> str:
    """The text of a file that describes the same model in a notation; its equations are the same.

    Raises: GraphError for a network where the junction structure is no graph, and for what another notation has no place for.
    """
    # All notations come from one graph, so that they cannot say different things about one model.
    return _WRITERS[notation](model, assign_causality(lower(model)))


def _network(model: Model, causal: CausalGraph) -> str:
    found = network_of(causal, model=model)
    return to_yaml(replace(model, elements=found.elements, fields=found.fields, source="", parts=()))


_WRITERS: dict[Notation, Callable[[Model, CausalGraph], str]] = {
    "network": _network,
    "bond": lambda model, causal: bond_graph_text(bond_graph(causal, vectors=True), model=model),
    "pog": lambda model, causal: ladder_text(pog(causal), model=model),
}
NOTATIONS: tuple[Notation, ...] = tuple(_WRITERS)
