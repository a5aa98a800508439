"""The items of a bond graph as the elements that a network would have, vector items and two-ports with a matrix among them.

K has a row for each bond out and a column for each bond in; the conjugates run back by its transpose.
"""

from collections.abc import Iterable, Iterator
from collections.abc import Mapping as TypingMapping
from collections.abc import Sequence as TypingSequence

from tellegen.core.domains import Domain, Side
from tellegen.core.errors import Place, TellegenError
from tellegen.core.names import did_you_mean, listing
from tellegen.core.units import Dimension, parse_unit
from tellegen.elements import ElementKind, connection
from tellegen.expressions import ONE, ZERO, Expression, symbol
from tellegen.model.bond_graph import (
    DETECTORS,
    JUNCTIONS,
    SINKS,
    TWO_PORTS,
    WrittenBondGraph,
    WrittenItem,
    part_name,
    plain_kind,
)
from tellegen.model.laws import MatrixField, Multiport
from tellegen.model.model import Element
from tellegen.notations import rules as notations_rules
from tellegen.notations.bond_graph.network import (
    BondDomains,
    JunctionEnd,
    JunctionGroup,
    JunctionNodes,
    PathJoint,
    connection_type,
    element_kind_of,
    no_such_element,
    one_port_kinds,
    oriented_nodes,
)
from tellegen.notations.context import ReadingContext
from tellegen.notations.element_details import KIND, add_details, switching_kind
from tellegen.notations.network import rules as network_rules
from tellegen.notations.network.elements import ElementLine, add_element_of_line, allow_variables, settle_dimension
from tellegen.notations.network.fields import (
    ENERGY,
    LAWS,
    MATRIX,
    FieldLaw,
    Rows,
    direct_kind,
    field_energy,
    field_laws,
    field_matrix,
    law_key,
    power_letters,
    read_entry,
    read_matrix,
)
from tellegen.notations.network.keys import MULTIPORT, make_form
from tellegen.notations.network.switching import SwitchingLine
from tellegen.notations.quantities import QuantityReading
from tellegen.notations.yaml.document import MappingNode, Node, Scalar, SequenceNode

PORTS_KEY = "ports"
KINDS_KEY = "kinds"
"""The kind of each port of a field, where its matrix gives efforts for some and flows for others."""
NONE = "none"
"""The entry of a list for a component about which nothing is said."""


def is_matrix(node: Node | None) -> bool:
    """Whether a value is a list of lists."""
    return isinstance(node, SequenceNode) and any(isinstance(row, SequenceNode) for row in node)


def part_details(
    context: ReadingContext, item: WrittenItem, kind: ElementKind, node: MappingNode, law: Scalar | None
) -> MappingNode:
    """What is said about one component: its entry of each list unless that is `none`, and all that is the same for every one.

    `law` is the key that says the law of the whole field.
    """
    keys, values = [], []
    form = make_form(kind)
    for key, value in node.items():
        if (
            key is law
            or key.text == PORTS_KEY
            or (law is not None and key.text == KINDS_KEY)
            or (key.text == KIND and item.kind == "Sw")
        ):
            continue
        meaning = form.keys.get(key.text, ("", ""))[0]
        said = _part(context, item, key, value, numbered=meaning == "variable") if item.part else value
        if said is not None:
            keys.append(key)
            values.append(said)
    return MappingNode(tuple(keys), tuple(values), node.line, node.column, node.length)


def listed_kind(context: ReadingContext, item: WrittenItem, node: Node, kinds: Iterable[ElementKind]) -> ElementKind:
    """The kind that a list of kinds names for one component, among those that it can be."""
    at = _part(context, item, Scalar(KINDS_KEY, node.line, node.column, node.length, False), node, numbered=False)
    text = context.scalar(at or node, f"the kind of {item.name}")
    names = {name: kind for kind in kinds for name in (kind.name, *kind.aliases)}
    if text.text not in names:
        fix = did_you_mean(text.text, names) or f"write one of {listing(names, 12)}"
        what = f"'{text.text}' is no kind of element that '{item.name}' can be"
        raise context.error(notations_rules.UNKNOWN_KIND, text, what, fix=fix, where=item.origin)
    return names[text.text]


def _part(context: ReadingContext, item: WrittenItem, key: Scalar, value: Node, *, numbered: bool) -> Node | None:
    if isinstance(value, SequenceNode):
        entries = list(value)
        if len(entries) != item.size:
            what = f"'{key.text}' of {item.origin} has {len(entries)} entries, and {item.origin} has {item.size} components"
            raise context.error(notations_rules.WRONG_SHAPE, value, what, fix=f"give {item.size}, or one for all")
        entry = entries[item.part - 1]
        return None if isinstance(entry, Scalar) and entry.text == NONE else entry
    if isinstance(value, Scalar) and numbered:
        return Scalar(part_name(value.text, item.part), value.line, value.column, value.length, value.quoted)
    return value


PortVariable = tuple[Domain, Side]


def matrix_two_port(
    context: ReadingContext,
    item: WrittenItem,
    given: TypingSequence[Domain],
    gives: TypingSequence[Domain],
    ends: TypingSequence[JunctionEnd],
    details: MappingNode | None,
) -> Element:
    """The connection of several ports that a two-port stands for; `ends` are those of its bonds in, then of its bonds out.

    Raises: DescriptionError when its matrix is missing or has another shape.
    """
    like = plain_kind(item.kind) == "TF"
    ports_in = [(domain, domain.flow) for domain in given]
    ports_out = [(domain, domain.flow if like else domain.effort) for domain in gives]
    relation = Multiport(
        tuple(range(len(given))),
        tuple(range(len(given), len(ends))),
        tuple(side for _, side in ports_in),
        tuple(side for _, side in ports_out),
        _modulus(context, item, ports_in, ports_out, details),
    )
    domains = tuple(domain.name for domain in (*given, *gives))
    summary = "passes power between several ports"
    kind = ElementKind(MULTIPORT, "coupling", domains, summary, "", coupling="transformer")
    nodes = tuple(node for end in ends for node in (end.plus, end.minus))
    return Element(item.name, kind, nodes, None, multiport=relation, place=item.place)


def _modulus(
    context: ReadingContext,
    item: WrittenItem,
    given: TypingSequence[PortVariable],
    gives: TypingSequence[PortVariable],
    details: MappingNode | None,
) -> Rows:
    """The matrix that is given; one modulus for all components where both sides have one size."""
    for key in details.keys if details is not None else ():
        if key.text not in ("K", "value"):
            raise context.unknown_key(key, ("K",), f"the two-port {item.name}")
    value: Node | None = None if details is None or not details.keys else details.values[0]
    at = item.place
    key = Scalar(item.name, at.line if at else 1, at.column if at else 1, len(item.name), False)
    if value is not None and is_matrix(value):
        texts = read_matrix(context, key, value, len(gives), len(given))
        return tuple(
            tuple(read_entry(context, text, _unit(two, one), key) for one, text in zip(given, row, strict=True))
            for two, row in zip(gives, texts, strict=True)
        )
    if len(given) != len(gives):
        what = f"'{item.kind}:{item.name}' has {len(given)} bonds in and {len(gives)} out, and no matrix"
        shape = f"with {len(gives)} rows and {len(given)} columns"
        fix = f"write '{item.name}: {{K: [[...], ...]}}' under 'elements', {shape}"
        raise notations_rules.MISSING_KEY.error(what, where=item.name, fix=fix, place=at)
    modulus = _common_modulus(context, item, value, _unit(gives[0], given[0]), key)
    count = range(len(gives))
    return tuple(tuple(modulus if i == j else ZERO for j in count) for i in count)


def _common_modulus(
    context: ReadingContext, item: WrittenItem, value: Node | None, unit: Dimension, key: Scalar
) -> Expression:
    if value is not None:
        return read_entry(context, context.formula(value, f"the modulus of {item.name}"), unit, key)
    if item.name not in context.parameters:
        what = f"the modulus of '{item.name}' is not given"
        fix = f"add '{item.name}' to the parameters, or 'K' under 'elements'"
        raise notations_rules.MISSING_KEY.error(what, where=item.name, fix=fix, place=item.place)
    return symbol(item.name)


def _unit(row: PortVariable, column: PortVariable) -> Dimension:
    units = [parse_unit(domain.power(side).unit).dimension for domain, side in (row, column)]
    return units[0].over(units[1])


Details = TypingMapping[str, MappingNode]


def emit_elements(
    context: ReadingContext, graph: WrittenBondGraph, domains: BondDomains, details: Details, node: Node
) -> None:
    """Add the elements of an expanded bond graph to the model."""
    one_ports = [i for i in graph.items.values() if i.kind not in JUNCTIONS and i.kind not in TWO_PORTS]
    kinds = {item.name: _kind(context, item, domains.domain(item.name), details) for item in one_ports}
    layout = JunctionNodes(graph, domains)
    layout.settle(kinds)
    _Emitter(context, graph, domains, layout, kinds, details, node).emit()


def _kind(context: ReadingContext, item: WrittenItem, domain: Domain, details: Details) -> ElementKind:
    parameter, given = context.parameters.get(item.origin), details.get(item.origin)
    if item.kind == "Sw":
        return switching_kind(context, item.name, domain, given, item.place)
    keys = () if given is None else [key.text for key in given.keys]
    return element_kind_of(item, domain, None if parameter is None else parameter.dimension, keys)


class _Emitter:
    """Turns items into lines of a network."""

    def __init__(
        self,
        context: ReadingContext,
        graph: WrittenBondGraph,
        domains: BondDomains,
        layout: JunctionNodes,
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
                allow_variables(self.context, first)
        for joint in self.layout.rigid:
            self._rigid(joint)
        for junction in self.layout.probes:
            self._probe(junction)

    def _groups(self) -> Iterator[list[WrittenItem]]:
        """The elements in the order of description, the components of a vector item together."""
        group: list[WrittenItem] = []
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

    def _one_ports(
        self, items: list[WrittenItem], kinds: list[ElementKind], variables: dict[str, dict[str, str]]
    ) -> None:
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
                line.value = QuantityReading(value, value)
            if law is not None and law.laws:
                line.value, line.law = None, law.laws[k]
            add_element_of_line(self.context, line)
        members = tuple(item.name for item in items)
        if law is not None:
            name, place = items[0].origin, items[0].place
            field = MatrixField(name, members, law.matrix, place, law.energy, law.letters, law.stiffness)
            self.context.fields.append(field)
        elif len(items) > 1:
            self.context.vectors[items[0].origin] = members

    def _is_numbered(self, node: MappingNode | None, kinds: list[ElementKind]) -> bool:
        """Whether laws give variables with the number of a port: those of one field, not one a component."""
        given = None if node is None else node.get(LAWS)
        texts = [text.text for text in given if isinstance(text, Scalar)] if isinstance(given, SequenceNode) else []
        names = power_letters(kinds)
        return any(text.partition("=")[0].strip() in names for text in texts)

    def _field_law(self, name: str, kinds: list[ElementKind], key: Scalar, node: Node) -> FieldLaw:
        at = Scalar(name, key.line, key.column, key.length, False)
        if key.text in (ENERGY, LAWS):
            if kinds[0].role != "storage" and key.text == ENERGY:
                what = f"the field '{name}' stores nothing, so it has no '{key.text}' of several variables"
                fix = "give a matrix, or a law for each port"
                raise self.context.error(network_rules.NO_LAW_HERE, key, what, fix=fix, where=name)
            read = field_energy if key.text == ENERGY else field_laws
            return read(self.context, at, kinds, node)
        return field_matrix(self.context, at, kinds, node)

    def _one_port(
        self,
        item: WrittenItem,
        kind: ElementKind,
        names: dict[str, str] | None,
        node: MappingNode | None,
        law: Scalar | None,
    ) -> ElementLine:
        domain = self.domains.domain(item.name)
        measures = item.kind in DETECTORS or item.kind in SINKS
        side = kind.side
        if measures:  # its own variable is the one that its law leaves open
            side = domain.effort if item.kind in ("De", "rSe") else domain.flow
        line = self._line(item.name, kind, item.place, oriented_nodes(self.layout.at[item.name, "", 0], side))
        line.variables = names
        if measures:
            line.value = QuantityReading(ZERO, ZERO)
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
            own = QuantityReading(symbol(item.origin), symbol(item.origin))
            line.value = settle_dimension(
                self.context, own, line.form.dimension, f"the value of {item.origin}", line.key, ()
            )
        return line

    def _field_kind(self, item: WrittenItem, key: Scalar, node: MappingNode) -> ElementKind:
        """The kind of a member of a field, whose parameter multiplies."""
        domain = self.domains.domain(item.name)
        kinds = sorted(one_port_kinds(item.kind, domain), key=lambda k: k.inverse)
        if not kinds:
            raise no_such_element(item, domain)
        if (words := node.get(KINDS_KEY)) is not None:
            return listed_kind(self.context, item, words, kinds)
        named = [k for k in kinds if k.quantity is not None and key.text in (k.quantity.key, k.quantity.word)]
        if not named and key.text not in (MATRIX, ENERGY, LAWS, "value"):
            known = ["matrix", *(k.quantity.key for k in kinds if k.quantity is not None)]
            raise self.context.unknown_key(key, known, f"the field {item.origin}")
        if kinds[0].role == "source" or item.kind in (*DETECTORS, *SINKS):
            what = f"'{item.kind}:{item.origin}' has no matrix"
            raise self.context.error(notations_rules.NO_VALUE_HERE, key, what, fix="leave it out", where=item.origin)
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

    def _probe(self, group: JunctionGroup) -> None:
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
        line.value = QuantityReading(ZERO, ZERO)
        line.variables = {group.shares: group.variable}
        add_element_of_line(self.context, line)

    # -- two-ports -------------------------------------------------------------------------------------------------------------

    def _two_port(self, item: WrittenItem) -> None:
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

    def _scalar_two_port(self, item: WrittenItem, tail: Domain, head: Domain) -> None:
        coupling, reciprocal = connection_type(item.kind, tail, head)
        kind = connection((tail.name, head.name), coupling, reciprocal=reciprocal)
        one, two = self.layout.at[item.name, "in", 1], self.layout.at[item.name, "out", 1]
        line = self._line(item.name, kind, item.place, (one.plus, one.minus, two.plus, two.minus))
        if item.name in self.details:
            add_details(self.context, line, self.details[item.name])
        add_element_of_line(self.context, line)

    def _rigid(self, joint: PathJoint) -> None:
        """A bond that needs a connection of modulus one."""
        bond, domain = joint.bond, joint.node.domain
        name = f"{bond.tail}_to_{bond.head}".replace("[", "_").replace("]", "")
        while name in self.graph.items or name in self.context.elements:
            name += "_2"
        path, node = (joint.path.plus, joint.path.minus), (joint.node.name, domain.reference)
        nodes = (*path, *node) if joint.path.leaves else (*node, *path)
        line = self._line(name, connection((domain.name, domain.name), "transformer"), bond.place, nodes)
        line.value = QuantityReading(ONE, ONE)
        add_element_of_line(self.context, line)

    def _line(self, name: str, kind: ElementKind, place: Place | None, nodes: tuple[str, ...]) -> ElementLine:
        at = place or self.context.place(self.node)
        key = Scalar(name, at.line, at.column, len(at.text), False)
        return ElementLine(key, at, make_form(kind), name, nodes)
