"""Items of a bond graph as the elements that a network would have, in the order of description."""

from collections.abc import Iterator
from collections.abc import Mapping as TypingMapping

from tellegen.core.domains import Domain
from tellegen.core.errors import Place, TellegenError
from tellegen.description import law_rules
from tellegen.description import rules as common_rules
from tellegen.description.bond_graphs.details import add_details, switching_kind
from tellegen.description.bond_graphs.domains import Domains, kind_of, no_such_element, one_port_kinds
from tellegen.description.bond_graphs.graph import DETECTORS, JUNCTIONS, SINKS, TWO_PORTS, BondGraph, Item
from tellegen.description.bond_graphs.matrix_two_ports import matrix_two_port
from tellegen.description.bond_graphs.network import Group, Joint, Layout, connection_type, oriented
from tellegen.description.bond_graphs.vectors import KINDS, listed_kind, part_details
from tellegen.description.context import Context
from tellegen.description.document import Mapping, Node, Scalar, Sequence
from tellegen.description.emitting import emit_line
from tellegen.description.fields import ENERGY, LAWS, MATRIX, FieldLaw, field_energy, field_laws, field_matrix, law_key
from tellegen.description.keys import make_form
from tellegen.description.lines import Line, settle
from tellegen.description.moving import let_read_states
from tellegen.description.quantities import Reading
from tellegen.description.relations import MatrixField
from tellegen.description.resistive_laws import power_letters
from tellegen.description.stiffness import direct_kind
from tellegen.description.switching import SwitchingLine
from tellegen.elements import ElementKind, connection
from tellegen.expressions import ONE, ZERO, symbol

Details = TypingMapping[str, Mapping]


def emit_elements(context: Context, graph: BondGraph, domains: Domains, details: Details, node: Node) -> None:
    """Add the elements of an expanded bond graph to the model."""
    one_ports = [i for i in graph.items.values() if i.kind not in JUNCTIONS and i.kind not in TWO_PORTS]
    kinds = {item.name: _kind(context, item, domains.domain(item.name), details) for item in one_ports}
    layout = Layout(graph, domains)
    layout.settle(kinds)
    _Emitter(context, graph, domains, layout, kinds, details, node).emit()


def _kind(context: Context, item: Item, domain: Domain, details: Details) -> ElementKind:
    parameter, given = context.parameters.get(item.origin), details.get(item.origin)
    if item.kind == "Sw":
        return switching_kind(context, item.name, domain, given, item.place)
    keys = () if given is None else [key.text for key in given.keys]
    return kind_of(item, domain, None if parameter is None else parameter.dimension, keys)


class _Emitter:
    """Turns items into lines of a network."""

    def __init__(
        self,
        context: Context,
        graph: BondGraph,
        domains: Domains,
        layout: Layout,
        kinds: dict[str, ElementKind],
        details: Details,
        node: Node,
    ) -> None:
        self.context = context
        self.graph = graph
        self.domains = domains
        self.layout = layout
        self.kinds = kinds
        self.details = details
        self.node = node

    def emit(self) -> None:
        variables = self._variables()
        for group in self._groups():
            first = len(self.context.pending)
            try:
                if group[0].kind in TWO_PORTS:
                    self._two_port(group[0])
                else:
                    self._one_ports(group, [self.kinds[item.name] for item in group], variables)
            except TellegenError as error:
                self.context.broken.update({group[0].origin, *(item.name for item in group)})
                self.context.collect(error)
            if group[0].kind in ("R", "MR", "MTF", "MGY"):
                let_read_states(self.context, first)
        for joint in self.layout.rigid:
            self._rigid(joint)
        for junction in self.layout.probes:
            self._probe(junction)

    def _groups(self) -> Iterator[list[Item]]:
        """The elements in the order of description, the components of a vector item together."""
        group: list[Item] = []
        for item in self.graph.items.values():
            if item.kind in JUNCTIONS:
                continue
            if group and item.origin != group[0].origin:
                yield group
                group = []
            group.append(item)
        if group:
            yield group

    # -- one-ports -------------------------------------------------------------------------------------------------------------

    def _one_ports(self, items: list[Item], kinds: list[ElementKind], variables: dict[str, dict[str, str]]) -> None:
        """A one-port, or the components of a vector item, coupled where a matrix says so."""
        node = self.details.get(items[0].origin)
        key = None if node is None or len(items) == 1 else law_key(node)
        if key is not None and key.text == LAWS and kinds[0].role != "storage" and not self._is_numbered(node, kinds):
            key = None  # a law for each component
        law = None
        if node is not None and key is not None:
            kinds = [self._field_kind(item, key, node) for item in items]
            law = self._field_law(items[0].origin, kinds, key, node.values[node.position(key.text) or 0])
        for k, (item, kind) in enumerate(zip(items, kinds, strict=True)):
            line = self._one_port(item, kind if law is None else direct_kind(kind), variables.get(item.name), node, key)
            if law is not None and (value := law.value(k)) is not None:
                line.value = Reading(value, value)
            if law is not None and law.laws:
                line.value, line.law = None, law.laws[k]
            emit_line(self.context, line)
        members = tuple(item.name for item in items)
        if law is not None:
            name, place = items[0].origin, items[0].place
            field = MatrixField(name, members, law.matrix, place, law.energy, law.letters, law.stiffness)
            self.context.fields.append(field)
        elif len(items) > 1:
            self.context.vectors[items[0].origin] = members

    def _is_numbered(self, node: Mapping | None, kinds: list[ElementKind]) -> bool:
        """Whether laws give variables with the number of a port: those of one field, not one a component."""
        given = None if node is None else node.get(LAWS)
        texts = [text.text for text in given if isinstance(text, Scalar)] if isinstance(given, Sequence) else []
        names = power_letters(kinds)
        return any(text.partition("=")[0].strip() in names for text in texts)

    def _field_law(self, name: str, kinds: list[ElementKind], key: Scalar, node: Node) -> FieldLaw:
        at = Scalar(name, key.line, key.column, key.length, False)
        if key.text in (ENERGY, LAWS):
            if kinds[0].role != "storage" and key.text == ENERGY:
                what = f"the field '{name}' stores nothing, so it has no '{key.text}' of several variables"
                fix = "give a matrix, or a law for each port"
                raise self.context.error(law_rules.NO_LAW_HERE, key, what, fix=fix, where=name)
            read = field_energy if key.text == ENERGY else field_laws
            return read(self.context, at, kinds, node)
        return field_matrix(self.context, at, kinds, node)

    def _one_port(
        self, item: Item, kind: ElementKind, names: dict[str, str] | None, node: Mapping | None, law: Scalar | None
    ) -> Line:
        domain = self.domains.domain(item.name)
        measures = item.kind in DETECTORS or item.kind in SINKS
        side = kind.side
        if measures:  # its own variable is the one that its law leaves open
            side = domain.effort if item.kind in ("De", "rSe") else domain.flow
        line = self._line(item.name, kind, item.place, oriented(self.layout.at[item.name, "", 0], side))
        line.variables = names
        if measures:
            line.value = Reading(ZERO, ZERO)
            if item.kind in DETECTORS:
                line.variables = {side: item.variable or item.name, **(names or {})}
        if kind.role == "switching":
            line.switching = SwitchingLine(self.context, item.name, kind, ())
        if node is not None:
            add_details(self.context, line, part_details(self.context, item, kind, node, law))
        if (
            item.part
            and law is None
            and line.value is None
            and line.law is None
            and item.origin in self.context.parameters
        ):
            own = Reading(symbol(item.origin), symbol(item.origin))
            line.value = settle(self.context, own, line.form.dimension, f"the value of {item.origin}", line.key, ())
        return line

    def _field_kind(self, item: Item, key: Scalar, node: Mapping) -> ElementKind:
        """The kind of a member of a field, whose parameter multiplies."""
        domain = self.domains.domain(item.name)
        kinds = sorted(one_port_kinds(item.kind, domain), key=lambda k: k.inverse)
        if not kinds:
            raise no_such_element(item, domain)
        if (words := node.get(KINDS)) is not None:
            return listed_kind(self.context, item, words, kinds)
        named = [k for k in kinds if k.quantity is not None and key.text in (k.quantity.key, k.quantity.word)]
        if not named and key.text not in (MATRIX, ENERGY, LAWS, "value"):
            known = ["matrix", *(k.quantity.key for k in kinds if k.quantity is not None)]
            raise self.context.unknown_key(key, known, f"the field {item.origin}")
        if kinds[0].role == "source" or item.kind in (*DETECTORS, *SINKS):
            what = f"'{item.kind}:{item.origin}' has no matrix"
            raise self.context.error(common_rules.NO_VALUE_HERE, key, what, fix="leave it out", where=item.origin)
        return (*named, *kinds)[0]

    # -- variables -------------------------------------------------------------------------------------------------------------

    def _variables(self) -> dict[str, dict[str, str]]:
        """The names of variables by element: its own, and that of what its junction shares."""
        found: dict[str, dict[str, str]] = {
            name: {kind.side: item.variable}
            for name, kind in self.kinds.items()
            if (item := self.graph.items[name]).variable and item.kind not in DETECTORS
        }
        for name, group in self.layout.named.items():
            found.setdefault(name, {})[group.shares] = group.variable
        return found

    def _probe(self, group: Group) -> None:
        """An ideal sensor that carries the name of what a junction shares, where no element of it can."""
        domain = group.domain
        kinds = one_port_kinds("De" if group.shares == domain.effort else "Df", domain)
        if not kinds:
            raise no_such_element(self.graph.items[group.name], domain)
        kind = kinds[0]
        end = self.layout.at[group.name, "", 0]
        taken = group.variable in self.graph.items or group.variable in self.context.elements
        name = group.name if taken else group.variable
        line = self._line(name, kind, self.graph.items[group.name].place, (end.plus, end.minus))
        line.value = Reading(ZERO, ZERO)
        line.variables = {group.shares: group.variable}
        emit_line(self.context, line)

    # -- two-ports -------------------------------------------------------------------------------------------------------------

    def _two_port(self, item: Item) -> None:
        bonds = self.graph.bonds_of(item.name)
        given = [
            self.domains.domain(item.name, "in", k) for k in sorted({b.head_port for b in bonds if b.head == item.name})
        ]
        gives = [
            self.domains.domain(item.name, "out", k)
            for k in sorted({b.tail_port for b in bonds if b.tail == item.name})
        ]
        if len(given) == len(gives) == 1:
            self._scalar_two_port(item, given[0], gives[0])
        else:
            ends = [self.layout.at[item.name, "in", k + 1] for k in range(len(given))]
            ends += [self.layout.at[item.name, "out", k + 1] for k in range(len(gives))]
            element = matrix_two_port(self.context, item, given, gives, ends, self.details.get(item.name))
            self.context.elements[item.name] = element

    def _scalar_two_port(self, item: Item, tail: Domain, head: Domain) -> None:
        coupling, reciprocal = connection_type(item.kind, tail, head)
        kind = connection((tail.name, head.name), coupling, reciprocal=reciprocal)
        one, two = self.layout.at[item.name, "in", 1], self.layout.at[item.name, "out", 1]
        line = self._line(item.name, kind, item.place, (one.plus, one.minus, two.plus, two.minus))
        if item.name in self.details:
            add_details(self.context, line, self.details[item.name])
        emit_line(self.context, line)

    def _rigid(self, joint: Joint) -> None:
        """A bond that needs a connection of modulus one."""
        bond, domain = joint.bond, joint.node.domain
        name = f"{bond.tail}_to_{bond.head}".replace("[", "_").replace("]", "")
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
