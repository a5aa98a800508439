"""The elements of a bond graph, from its part of a model file."""

from tellegen.core.domains import Side
from tellegen.core.errors import Place, TellegenError
from tellegen.description.bond_graphs.details import add_details, read_elements
from tellegen.description.bond_graphs.domains import Domains, kind_of
from tellegen.description.bond_graphs.graph import JUNCTIONS, TWO_PORTS, BondGraph, Item
from tellegen.description.bond_graphs.lines import read_lines
from tellegen.description.bond_graphs.network import Joint, Layout, check_bonds, connection_type, oriented
from tellegen.description.context import Context
from tellegen.description.document import Mapping, Node, Scalar
from tellegen.description.keys import make_form
from tellegen.description.network import Line, emit_line
from tellegen.description.quantities import Reading
from tellegen.elements import ElementKind, connection
from tellegen.expressions import ONE

_NEVER = 9


def read_bond_graph(context: Context, node: Node, details: Node | None) -> BondGraph | None:
    """Add the elements of a bond graph to the model; `details` holds laws, values and initial values by element.

    Gives the bond graph as it is written, or None when errors were collected.
    """
    graph = read_lines(context, node)
    if graph is None:
        return None
    if wrong := check_bonds(graph):
        context.broken.update(graph.items)
        context.add_errors(wrong)
        return None
    try:
        domains = Domains(context, graph)
        domains.find()
        layout = Layout(graph, domains)
        layout.settle()
        _Emitter(context, graph, domains, layout, node).emit(details)
    except TellegenError:
        context.broken.update(graph.items)  # so that the experiment does not call them unknown
        raise
    return graph


class _Emitter:
    """Turns items into the lines that a network would have, in the order of description."""

    def __init__(self, context: Context, graph: BondGraph, domains: Domains, layout: Layout, node: Node) -> None:
        self.context = context
        self.graph = graph
        self.domains = domains
        self.layout = layout
        self.node = node
        self.elements = [item for item in graph.items.values() if item.kind not in JUNCTIONS]

    def emit(self, details: Node | None) -> None:
        more = read_elements(self.context, details, (item.name for item in self.elements), "the bond graph")
        one_ports = [item for item in self.elements if item.kind not in TWO_PORTS]
        kinds = {item.name: self._kind(item, more.get(item.name)) for item in one_ports}
        variables = self._variables(kinds)
        for item in self.elements:
            try:
                if item.kind in TWO_PORTS:
                    line = self._two_port(item)
                else:
                    kind = kinds[item.name]
                    line = self._line(item.name, kind, item.place, oriented(self.layout.at[item.name, ""], kind.side))
                    line.variables = variables.get(item.name)
                if item.name in more:
                    add_details(self.context, line, more[item.name])
                emit_line(self.context, line)
            except TellegenError as error:
                self.context.broken.add(item.name)
                self.context.collect(error)
        for joint in self.layout.rigid:
            self._rigid(joint)

    def _kind(self, item: Item, given: Mapping | None) -> ElementKind:
        parameter = self.context.parameters.get(item.name)
        keys = () if given is None else [key.text for key in given.keys]
        domain = self.domains.domain(item.name)
        return kind_of(item, domain, None if parameter is None else parameter.dimension, keys)

    def _variables(self, kinds: dict[str, ElementKind]) -> dict[str, dict[str, str]]:
        """The names of variables by element.

        The name that a junction gives to what it shares goes to the first storage that decides it. Where there is none it goes to
        a resistive element, or to the output of a source, whose half arrow counts the variable in the same direction.
        """
        best: dict[str, tuple[int, str]] = {}
        for name, kind in kinds.items():
            bond = self.graph.bonds_of(name)[0]
            other = bond.head if bond.tail == name else bond.tail
            if self.graph.items[other].kind not in JUNCTIONS:
                continue
            own, group = self.graph.items[name].variable, self.layout.group(other)
            rank = self._rank(kind, group.shares, bond.head == name)
            if own and kind.side == group.shares:  # it has a name of its own, which may be that of the junction
                rank = -1 if own == group.variable else _NEVER
            if group.variable and rank < best.get(group.name, (_NEVER, ""))[0]:
                best[group.name] = (rank, name)
        found: dict[str, dict[str, str]] = {
            name: {kind.side: item.variable}
            for name, kind in kinds.items()
            if (item := self.graph.items[name]).variable
        }
        for junction, (_, name) in best.items():
            group = self.layout.group(junction)
            found.setdefault(name, {})[group.shares] = group.variable
        return found

    @staticmethod
    def _rank(kind: ElementKind, shares: Side, into: bool) -> int:
        if kind.role == "storage" and kind.side == shares:
            return 0
        if kind.role == "resistive" and into:
            return 1
        return 2 if kind.role == "source" and kind.side != shares and not into else _NEVER

    def _two_port(self, item: Item) -> Line:
        tail, head = self.domains.domain(item.name, "in"), self.domains.domain(item.name, "out")
        coupling, reciprocal = connection_type(item.kind, tail, head)
        kind = connection((tail.name, head.name), coupling, reciprocal=reciprocal)
        one, two = self.layout.at[item.name, "in"], self.layout.at[item.name, "out"]
        return self._line(item.name, kind, item.place, (one.plus, one.minus, two.plus, two.minus))

    def _rigid(self, joint: Joint) -> None:
        """A bond that needs a connection of modulus one."""
        bond, domain = joint.bond, joint.node.domain
        name = f"{bond.tail}_to_{bond.head}"
        while name in self.graph.items or name in self.context.elements:
            name += "_2"
        path, node = (joint.path.plus, joint.path.minus), (joint.node.name, domain.reference)
        nodes = (*path, *node) if joint.path.leaves else (*node, *path)
        line = self._line(name, connection((domain.name, domain.name), "transformer"), bond.place, nodes)
        line.value = Reading(ONE, ONE)
        emit_line(self.context, line)

    def _line(self, name: str, kind: ElementKind, place: Place | None, nodes: tuple[str, ...]) -> Line:
        at = place or self.context.place(self.node)
        key = Scalar(name, at.line, at.column, len(at.text), False)
        return Line(key, at, make_form(kind), name, nodes)
