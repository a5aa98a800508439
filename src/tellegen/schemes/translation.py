"""A causal graph as the elements of a network, and a model as the text of a file in any notation: network, bond graph or POG."""

from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, final

from tellegen.causality import CausalGraph, assign_causality
from tellegen.core.domains import REFERENCES
from tellegen.core.union_find import UnionFind
from tellegen.elements import COUPLING_OF, coupling_kind, multiport_kind
from tellegen.expressions import ONE, symbol
from tellegen.graph import Coupling, Field, Port, PowerGraph, SourceLaw, lower
from tellegen.graph.signals import Value
from tellegen.model.laws import MatrixField, Multiport
from tellegen.model.model import Element, Model
from tellegen.notations.signals.blocks import FORMULA
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
    """Elements between nodes, the fields that some of them form, and the names of nodes that wires and references join."""

    elements: tuple[Element, ...]
    fields: tuple[MatrixField, ...] = ()
    nodes: Mapping[str, str] = field(default_factory=dict)


def network_of(causal: CausalGraph, *, model: Model | None = None) -> NetworkScheme:
    """The elements between nodes that a causal graph stands for; connections of modulus one that are wires are left out.

    Elements with modes are those of the `model` that the graph was made from; without one they are shown as they are now.
    """
    graph = causal.graph
    nodes = _Nodes(graph, set() if model is None else {node for port in model.ports.values() for node in port.nodes})
    # Mechanisms and parts join their nodes by couplings of ratio one: as wires they disappear from the network.
    couplings = [c for c in graph.couplings if c.element not in nodes.wires]
    described = {} if model is None else {e.name: e for e in model.elements}
    in_fields = {k for field in graph.fields for k in field.ports}
    elements = []
    for k, port in enumerate(graph.ports):
        # The graph knows an element with modes as it is now; the model knows all its modes.
        if k in graph.switching and port.element in described:
            elements.append(replace(described[port.element], nodes=nodes.of_port(k)))
        else:
            elements.append(
                _field_member(port, nodes.of_port(k)) if k in in_fields else _element(port, nodes.of_port(k))
            )
    fields = [_field(field, graph, elements) for field in graph.fields]
    for coupling in couplings:
        own, at = described.get(coupling.element), nodes.of_coupling(coupling.element)
        # The graph knows the modulus of what passes on heat; the model knows the parameter that it is made of.
        elements.append(replace(own, nodes=at) if own is not None and own.kind.heat else _coupling(coupling, at))
    return NetworkScheme(tuple(elements), tuple(fields), nodes.called())


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


@dataclass(slots=True)
class _Ends:
    """Where a port or one side of a coupling meets the nodes; what is `grounded` stores against its minus node."""

    plus: int
    minus: int
    grounded: bool = False
    coupling: str = ""


class _Nodes:
    """Names of nodes; those that a wire joins are one. Those `at_ports` of a part stay apart from references of their domain."""

    def __init__(self, graph: PowerGraph, at_ports: Container[str] = ()) -> None:
        self._nodes = graph.nodes
        self.groups = UnionFind(len(graph.nodes))
        references: dict[str, int] = {}
        for k, node in enumerate(graph.nodes):
            # All references of a domain are one point; but a part that has none of its own is joined to others by its ports.
            if node.reference and (node.name in REFERENCES or node.name not in at_ports):
                self.groups.join(references.setdefault(node.domain, k), k)
        self.wires: set[str] = set()
        self._ports = [_Ends(p.plus, p.minus, element_texts.element_kind(p).grounded) for p in graph.ports]
        self._sides = {
            c.element: tuple(_Ends(b.plus, b.minus, coupling=c.element) for b in (*c.side_1, *c.side_2))
            for c in graph.couplings
        }
        self._make_wires([c.element for c in graph.couplings if _may_be_wire(c)])
        # Wires are found before nodes are named: a group may contain a reference, whose name it then has.
        self._names: dict[int, str] = {}
        for k, node in enumerate(graph.nodes):
            group = self.groups.find(k)
            if group not in self._names or node.name in REFERENCES:
                self._names[group] = node.name

    def called(self) -> dict[str, str]:
        """The name that each node of the graph has now."""
        return {node.name: self._names[self.groups.find(k)] for k, node in enumerate(self._nodes)}

    def of_port(self, k: int) -> tuple[str, str]:
        """The nodes of a port."""
        return self._named(self._ports[k])

    def of_coupling(self, element: str) -> tuple[str, ...]:
        """The nodes of a coupling, side after side."""
        return tuple(name for ends in self._sides[element] for name in self._named(ends))

    def _named(self, ends: _Ends) -> tuple[str, str]:
        return self._names[self.groups.find(ends.plus)], self._names[self.groups.find(ends.minus)]

    def _make_wires(self, waiting: list[str]) -> None:
        """Join the nodes of connections of modulus one; what no wire can replace stays a transformer of ratio one."""
        # One wire may make room for another, so that it fits only afterwards: repeat until nothing changes.
        for fits in (self._have_a_node_in_common, self._can_be_hung_together):
            tried = 0
            while tried < len(waiting):
                one, two = self._sides[waiting[0]]
                if fits(one, two):
                    self.wires.add(waiting.pop(0))
                    tried = 0
                else:
                    waiting.append(waiting.pop(0))
                    tried += 1

    def _have_a_node_in_common(self, one: _Ends, two: _Ends) -> bool:
        """Whether both pairs share a node; the others are joined then, for equal across variables make them equal too."""
        if self._same(one.minus, two.minus):
            self.groups.join(one.plus, two.plus)
        elif self._same(one.plus, two.plus):
            self.groups.join(one.minus, two.minus)
        else:
            return False
        return True

    def _can_be_hung_together(self, one: _Ends, two: _Ends) -> bool:
        """Whether what stands on one pair can hang on the other, because it meets the rest at one of its own nodes alone.

        Loops and cut sets stay what they are when a part of a graph is hung at another node (Whitney 1933); the nodes of the
        other pair take the place of its own.
        """
        for host, guest in ((one, two), (two, one)):
            for hinge, free, new, end in (
                (guest.minus, guest.plus, host.minus, host.plus),
                (guest.plus, guest.minus, host.plus, host.minus),
            ):
                part, nodes = self._part_behind(free, hinge, guest.coupling)
                at_hinge = [ends for ends in part if self._same(hinge, ends.minus) or self._same(hinge, ends.plus)]
                stays = {self.groups.find(host.plus), self.groups.find(host.minus)} & nodes
                if stays or any(ends.grounded for ends in at_hinge):
                    continue
                for ends in at_hinge:
                    ends.plus = new if self._same(hinge, ends.plus) else ends.plus
                    ends.minus = new if self._same(hinge, ends.minus) else ends.minus
                self.groups.join(free, end)
                return True
        return False

    def _part_behind(self, start: int, hinge: int, but: str) -> tuple[list[_Ends], set[int]]:
        """What hangs together from a node on without passing another one, and its nodes; one coupling counts for nothing."""
        around: dict[int, list[_Ends]] = defaultdict(list)
        for ends in (
            *self._ports,
            *(e for name, sides in self._sides.items() if name not in {but, *self.wires} for e in sides),
        ):
            for node in {self.groups.find(ends.plus), self.groups.find(ends.minus)}:
                around[node].append(ends)
        nodes, waiting = {self.groups.find(start)}, [self.groups.find(start)]
        part: dict[int, _Ends] = {}
        while waiting:
            for ends in around[waiting.pop()]:
                part[id(ends)] = ends
                further = {self.groups.find(n) for n in (ends.plus, ends.minus) if not self._same(n, hinge)} - nodes
                nodes |= further
                waiting += further
        return list(part.values()), nodes

    def _same(self, a: int, b: int) -> bool:
        return self.groups.find(a) == self.groups.find(b)


def _may_be_wire(coupling: Coupling) -> bool:
    # By identity: a modulus that is one only for some values of its parameters is no wire.
    # One whose variables have names stays: a wire has no line to name them on.
    if not _is_scalar(coupling) or coupling.K[0][0] is not ONE or coupling.names:
        return False
    one, two = coupling.side_1[0], coupling.side_2[0]
    return one.domain == two.domain and one.side == two.side


def _field_member(port: Port, nodes: tuple[str, str]) -> Element:
    """A port whose law or value is that of its field."""
    return replace(_element(port, nodes, own=False), kind=element_texts.member_kind(port))


def _element(port: Port, nodes: tuple[str, str], *, own: bool = True) -> Element:
    # A kind that stores nothing by its nature needs no law that says so.
    weightless = element_texts.weightless_kind(port) if own else None
    kind = weightless or element_texts.element_kind(port)
    law = element_texts.element_law(port) if own else None
    valued = weightless is None and (law is None or law.form == "potential")
    value = element_texts.element_value(port, kind) if valued else None
    variables = {
        side: port.variable(side)
        for side in ("across", "through")
        if port.variable(side) != default_variable(port, port.element, side)
    } | element_texts.named_content(port, port.element)
    return Element(
        name=port.element,
        kind=kind,
        nodes=nodes,
        value=None if isinstance(port.law, SourceLaw) or not own else value,
        law=law,
        variables=variables,
        initial=port.initial,
        initial_content=port.initial_content,
        prefer=port.prefer,
        forced=port.forced,
        place=port.place,
        signal=port.law.signal if isinstance(port.law, SourceLaw) else None,
    )


def _is_scalar(coupling: Coupling) -> bool:
    return len(coupling.side_1) == len(coupling.side_2) == 1


def _multiport(coupling: Coupling, nodes: tuple[str, ...]) -> Element:
    one, two = coupling.side_1, coupling.side_2
    given, gives = tuple(range(len(one))), tuple(range(len(one), len(one) + len(two)))
    relation = Multiport(given, gives, tuple(b.side for b in one), tuple(b.side for b in two), coupling.K)
    domains = tuple(branch.domain for branch in (*one, *two))
    return Element(coupling.element, multiport_kind(domains), nodes, None, multiport=relation, place=coupling.place)


def _coupling(coupling: Coupling, nodes: tuple[str, ...]) -> Element:
    if not _is_scalar(coupling):
        return _multiport(coupling, nodes)
    one, two = coupling.side_1[0], coupling.side_2[0]
    # A motor is called a motor where a kind of that name fits; else the connection is written in its general form.
    kind = coupling_kind((one.domain, two.domain), *COUPLING_OF[one.side, two.side])
    return Element(
        coupling.element, kind, nodes, coupling.K[0][0], variables=dict(coupling.names), place=coupling.place
    )


Notation = Literal["network", "bond", "pog"]


def translation(model: Model, notation: Notation) -> str:
    """The text of a file that describes the same model in a notation; its equations are the same.

    Raises: GraphError for what another notation has no place for.
    """
    # All notations come from one graph, so that they cannot say different things about one model.
    return _WRITERS[notation](model, assign_causality(lower(model)))


def _network(model: Model, causal: CausalGraph) -> str:
    found = network_of(causal, model=model)
    _refuse_shorted(found)
    there = _at_nodes(model, found.nodes)
    return to_yaml(replace(there, elements=found.elements, fields=found.fields, source="", parts=()))


def _at_nodes(model: Model, called: Mapping[str, str]) -> Model:
    """The model with its ports and sensors at nodes as they are called now."""

    def now(nodes: Iterable[object]) -> tuple[str, ...]:
        return tuple(called.get(str(node), str(node)) for node in nodes)

    ports = {
        name: replace(port, nodes=(called.get(port.nodes[0], port.nodes[0]), called.get(port.nodes[1], port.nodes[1])))
        for name, port in model.ports.items()
    }
    signals = dict(model.signals)
    for name, signal in model.signals.items():
        if signal.block == "across" and isinstance(ends := signal.settings["across"], tuple) and now(ends) != ends:
            texts = {**signal.texts, "across": f"[{', '.join(now(ends))}]"}
            signals[name] = replace(signal, settings={**signal.settings, "across": now(ends)}, texts=texts)
    return replace(model, ports=ports, signals=signals)


def _refuse_shorted(scheme: NetworkScheme) -> None:
    """Refuse what a file may not say: junctions can short an element without a wire, nodes cannot.

    Raises: GraphError (G202).
    """
    # A winding of a field may be shorted by a node too: others drive its current.
    members = {name for field in scheme.fields for name in field.members}
    for element in scheme.elements:
        pairs = () if element.name in members else zip(element.nodes[::2], element.nodes[1::2], strict=True)
        if any(plus == minus for plus, minus in pairs):
            raise rules.SHORTED_ELEMENT.error(
                f"junctions short '{element.name}': as a network both its ends would be at one node",
                where=element.name,
                fix=f"remove '{element.name}', or the bond that closes the ring of junctions around it",
                place=element.place,
            )


def _measured_at_elements(model: Model, causal: CausalGraph) -> Model:
    """The model with the sensors between nodes as sums of variables of elements: bond graphs and ladders have no nodes."""
    laws = {law.name: law.expression for law in causal.graph.signals if isinstance(law, Value)}
    signals = {
        name: replace(given, block=FORMULA, settings={FORMULA: laws[name]}) if given.block == "across" else given
        for name, given in model.signals.items()
    }
    return replace(model, signals=signals)


_WRITERS: dict[Notation, Callable[[Model, CausalGraph], str]] = {
    "network": _network,
    "bond": lambda model, causal: bond_graph_text(
        bond_graph(causal, vectors=True), model=_measured_at_elements(model, causal)
    ),
    "pog": lambda model, causal: ladder_text(pog(causal), model=_measured_at_elements(model, causal)),
}
NOTATIONS: tuple[Notation, ...] = tuple(_WRITERS)
