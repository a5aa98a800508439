"""The elements of a bond graph, from its part of a model file."""

from tellegen.core.domains import Side
from tellegen.core.errors import Place
from tellegen.description.bond_graphs.domains import Domains, kind_of
from tellegen.description.bond_graphs.graph import JUNCTIONS, TWO_PORTS, BondGraph, Item
from tellegen.description.bond_graphs.lines import read_lines
from tellegen.description.bond_graphs.network import Group, Layout, connection_type, oriented
from tellegen.description.context import Context
from tellegen.description.document import Mapping, Node, Scalar
from tellegen.description.keys import make_form
from tellegen.description.network import Line, emit_line, read_details
from tellegen.description.quantities import Reading
from tellegen.elements import ElementKind, connection
from tellegen.expressions import ONE


def read_bond_graph(context: Context, node: Node, details: Node | None) -> BondGraph:
    """Add the elements of a bond graph to the model; `details` holds laws, values and initial values by element."""
    graph = read_lines(context, node)
    domains = Domains(context, graph)
    domains.find()
    layout = Layout(graph, domains)
    layout.settle()
    _Emitter(context, graph, domains, layout, node).emit(details)
    return graph


class _Emitter:
    """Turns items into the lines that a network would have, in the order of description."""

    def __init__(self, context: Context, graph: BondGraph, domains: Domains, layout: Layout, node: Node) -> None:
        self.context = context
        self.graph = graph
        self.domains = domains
        self.layout = layout
        self.node = node
        self.named: set[int] = set()

    def emit(self, details: Node | None) -> None:
        more = self._details(details)
        for item in self.graph.items.values():
            if item.kind not in JUNCTIONS:
                line = self._two_port(item) if item.kind in TWO_PORTS else self._one_port(item)
                if item.name in more:
                    read_details(self.context, line, more[item.name])
                emit_line(self.context, line)
        for k, (bond, tail, head) in enumerate(self.layout.rigid, 1):
            group = self.layout.group(bond.tail)
            kind = connection((group.domain.name, group.domain.name), "transformer")
            line = self._line(f"bond_{k}", kind, bond.place, (tail.plus, tail.minus, head.plus, head.minus))
            line.value = Reading(ONE, ONE)
            emit_line(self.context, line)

    def _details(self, node: Node | None) -> dict[str, Mapping]:
        if node is None:
            return {}
        found = {}
        for key, value in self.context.mapping(node, "'elements'").items():
            if key.text not in self.graph.items or self.graph.items[key.text].kind in JUNCTIONS:
                known = [item.name for item in self.graph.items.values() if item.kind not in JUNCTIONS]
                raise self.context.unknown_key(key, known, "the elements of the bond graph")
            found[key.text] = self.context.mapping(value, f"the element '{key.text}'")
        return found

    def _line(self, name: str, kind: ElementKind, place: Place | None, nodes: tuple[str, ...]) -> Line:
        at = place or self.context.place(self.node)
        key = Scalar(name, at.line, at.column, len(at.text), False)
        return Line(key, at, make_form(kind), name, nodes)

    def _one_port(self, item: Item) -> Line:
        domain = self.domains.domain(item.name)
        parameter = self.context.parameters.get(item.name)
        kind = kind_of(item, domain, None if parameter is None else parameter.dimension)
        end = self.layout.at[item.name, ""]
        line = self._line(item.name, kind, item.place, oriented(end, kind.side))
        line.variables = self._variables(item, kind.side, kind.role == "storage")
        return line

    def _variables(self, item: Item, side: Side, stores: bool) -> dict[str, str]:
        """The name that the junction gives to the variable which it shares goes to the first storage that decides it."""
        if item.variable:
            return {side: item.variable}
        bond = self.graph.bonds_of(item.name)[0]
        other = bond.head if bond.tail == item.name else bond.tail
        if self.graph.items[other].kind not in JUNCTIONS:
            return {}
        group: Group = self.layout.group(other)
        if not stores or group.shares != side or not group.variable or id(group) in self.named:
            return {}
        self.named.add(id(group))
        return {side: group.variable}

    def _two_port(self, item: Item) -> Line:
        tail, head = self.domains.domain(item.name, "in"), self.domains.domain(item.name, "out")
        coupling, reciprocal = connection_type(item.kind, tail, head)
        kind = connection((tail.name, head.name), coupling, reciprocal=reciprocal)
        one, two = self.layout.at[item.name, "in"], self.layout.at[item.name, "out"]
        return self._line(item.name, kind, item.place, (one.plus, one.minus, two.plus, two.minus))
