"""The elements of a bond graph, from its part of a model file: its bonds checked, the signals that drive its sources, and its items
as elements that a network would have, vector items and two-ports with a matrix among them.

K has a row for each bond out and a column for each bond in; the conjugates run back by its transpose.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from tellegen.core.domains import Domain, Side, other_side
from tellegen.core.errors import Finding, Place, TellegenError
from tellegen.core.files import clip
from tellegen.core.names import did_you_mean, joined, listing
from tellegen.core.units import Dimension, parse_unit
from tellegen.elements import ElementKind, connection, multiport_kind
from tellegen.expressions import ONE, ZERO, Expression, symbol
from tellegen.model.bond_graph import (
    DETECTORS,
    SINKS,
    BondGraph,
    BondItem,
    PowerBond,
    SignalBond,
    bond_ends,
    part_name,
    plain_kind,
)
from tellegen.model.laws import Multiport
from tellegen.model.model import RESIDUAL_SINK, Element
from tellegen.notations import rules as notations_rules
from tellegen.notations.bond_graph import network, rules
from tellegen.notations.bond_graph.lines import read_lines, with_scalar_bonds
from tellegen.notations.context import ReadingContext
from tellegen.notations.network import rules as network_rules
from tellegen.notations.network.elements import ElementLine, add_element_of_line, allow_variables
from tellegen.notations.network.fields import (
    ENERGY,
    LAWS,
    MATRIX,
    FieldLaw,
    FieldReader,
    Rows,
    direct_kind,
    law_key,
    power_letters,
    read_matrix,
)
from tellegen.notations.network.keys import make_form
from tellegen.notations.network.lines import add_details, read_elements, switching_kind
from tellegen.notations.quantities import QuantityReading
from tellegen.notations.yaml.document import MappingNode, Node, Scalar, SequenceNode

PORTS_KEY = "ports"
KINDS_KEY = "kinds"
"""The kind of each port of a field, where its matrix gives efforts for some and flows for others."""
NONE = "none"
"""The entry of a list for a component about which nothing is said."""


PortVariable = tuple[Domain, Side]
Details = Mapping[str, MappingNode]


def _unit(row: PortVariable, column: PortVariable) -> Dimension:
    units = [parse_unit(domain.power(side).unit).dimension for domain, side in (row, column)]
    return units[0].over(units[1])


class _Emitter:
    """Turns the items of a graph of scalar bonds into lines of a network."""

    def __init__(
        self, context: ReadingContext, graph: BondGraph, domains: network.BondDomains, details: Details, node: Node
    ) -> None:
        self.context, self.graph, self.domains, self.details = context, graph, domains, details
        self.node = node
        self.kinds = {item.name: self._kind(item) for item in graph.of_role("one-port")}
        self.layout = network.JunctionNodes(graph, domains)
        self.layout.settle(self.kinds)

    def _kind(self, item: BondItem) -> ElementKind:
        context, domain = self.context, self.domains.domain(item.name)
        parameter, given = context.parameters.get(item.origin), self.details.get(item.origin)
        if item.letters == "Sw":
            return switching_kind(context, item.name, domain, given, item.place)
        keys = () if given is None else [key.text for key in given.keys]
        return network.element_kind_of(item, domain, None if parameter is None else parameter.dimension, keys)

    def emit(self) -> None:
        variables = self._variables()
        for group in self._groups():
            first = len(self.context.pending)
            with self.context.collecting(*{group[0].origin, *(item.name for item in group)}):
                if group[0].role == "two-port":
                    self._two_port(group[0])
                else:
                    self._one_ports(group, [self.kinds[item.name] for item in group], variables)
            # A resistance or a modulus may move with states and signals; storages are constant.
            if group[0].letters in ("R", "MR", "MTF", "MGY"):
                allow_variables(self.context, first)
        for joint in self.layout.rigid:
            self._rigid(joint)
        for junction in self.layout.probes:
            self._probe(junction)

    def _groups(self) -> Iterator[list[BondItem]]:
        """The elements in the order of description, the components of a vector item together."""
        group: list[BondItem] = []
        for item in self.graph.items.values():
            if item.role == "junction":
                continue
            if group and item.origin != group[0].origin:
                yield group
                group = []
            group.append(item)
        if group:
            yield group

    # -- one-ports -------------------------------------------------------------------------------------------------------------

    def _one_ports(self, items: list[BondItem], kinds: list[ElementKind], variables: dict[str, dict[str, str]]) -> None:
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
            self.context.fields.append(law.field(items[0].origin, members, items[0].place))
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
        reader = FieldReader(self.context, at, kinds)
        if key.text == ENERGY and kinds[0].role != "storage":
            what = f"the field '{name}' stores nothing, so it has no '{key.text}' of several variables"
            fix = "give a matrix, or a law for each port"
            raise self.context.error(network_rules.NO_LAW_HERE, key, what, fix=fix, where=name)
        read = {ENERGY: reader.energy, LAWS: reader.laws}.get(key.text, reader.matrix)
        return read(node)

    def _one_port(
        self,
        item: BondItem,
        kind: ElementKind,
        names: dict[str, str] | None,
        node: MappingNode | None,
        law: Scalar | None,
    ) -> ElementLine:
        measures = item.letters in DETECTORS or item.letters in SINKS
        # What measures has for its own variable the one that its law leaves open.
        side = other_side(kind.side) if measures else kind.side
        line = self._line(item.name, kind, item.place, network.oriented_nodes(self.layout.at[item.name, "", 0], side))
        line.variables = names
        if measures:
            line.value = QuantityReading(ZERO, ZERO)
            if item.letters in SINKS:
                line.notes = {RESIDUAL_SINK: item.letters}
            if item.letters in DETECTORS:
                # A detector is there for what it reads: without another name that variable is called like the detector.
                line.variables = {side: item.variable or item.name, **(names or {})}
        add_details(self.context, line, node and self._part_details(item, kind, node, law))
        if (
            item.part
            and law is None
            and line.value is None
            and line.law is None
            and item.origin in self.context.parameters
        ):
            own = QuantityReading(symbol(item.origin), symbol(item.origin))
            line.value = self.context.settled(own, line.form.dimension, f"the value of {item.origin}", line.key)
        return line

    def _part_details(self, item: BondItem, kind: ElementKind, node: MappingNode, law: Scalar | None) -> MappingNode:
        """What is said about one component: its entry of each list unless that is `none`, and all that is the same for every one.

        `law` is the key that says the law of the whole field.
        """
        keys, values = [], []
        form = make_form(kind)
        for key, value in node.items():
            if key is law or key.text == PORTS_KEY or (law is not None and key.text == KINDS_KEY):
                continue
            meaning = form.keys.get(key.text, ("", ""))[0]
            said = self._part(item, key, value, numbered=meaning == "variable") if item.part else value
            if said is not None:
                keys.append(key)
                values.append(said)
        return MappingNode(tuple(keys), tuple(values), node.line, node.column, node.length)

    def _part(self, item: BondItem, key: Scalar, value: Node, *, numbered: bool) -> Node | None:
        if isinstance(value, SequenceNode):
            entries = list(value)
            if len(entries) != item.size:
                what = f"'{key.text}' of {item.origin} has {len(entries)} entries, and {item.origin} has {item.size} components"
                fix = f"give {item.size}, or one for all"
                raise self.context.error(notations_rules.WRONG_SHAPE, value, what, fix=fix)
            entry = entries[item.part - 1]
            return None if isinstance(entry, Scalar) and entry.text == NONE else entry
        if isinstance(value, Scalar) and numbered:
            return Scalar(part_name(value.text, item.part), value.line, value.column, value.length, value.quoted)
        return value

    def _listed_kind(self, item: BondItem, node: Node, kinds: Iterable[ElementKind]) -> ElementKind:
        """The kind that a list of kinds names for one component, among those that it can be."""
        at = self._part(item, Scalar(KINDS_KEY, node.line, node.column, node.length, False), node, numbered=False)
        text = self.context.scalar(at or node, f"the kind of {item.name}")
        names = {name: kind for kind in kinds for name in (kind.name, *kind.aliases)}
        if text.text not in names:
            fix = did_you_mean(text.text, names) or f"write one of {listing(names, 12)}"
            what = f"'{text.text}' is no kind of element that '{item.name}' can be"
            raise self.context.error(notations_rules.UNKNOWN_KIND, text, what, fix=fix, where=item.origin)
        return names[text.text]

    def _field_kind(self, item: BondItem, key: Scalar, node: MappingNode) -> ElementKind:
        """The kind of a member of a field, whose parameter multiplies."""
        domain = self.domains.domain(item.name)
        kinds = sorted(network.one_port_kinds(item.letters, domain), key=lambda k: k.inverse)
        if not kinds:
            raise network.no_such_element(item, domain)
        if (words := node.get(KINDS_KEY)) is not None:
            return self._listed_kind(item, words, kinds)
        named = [k for k in kinds if k.quantity is not None and key.text in (k.quantity.key, k.quantity.word)]
        if not named and key.text not in (MATRIX, ENERGY, LAWS, "value"):
            known = ["matrix", *(k.quantity.key for k in kinds if k.quantity is not None)]
            raise self.context.unknown_key(key, known, f"the field {item.origin}")
        if kinds[0].role == "source" or item.letters in (*DETECTORS, *SINKS):
            what = f"'{item.letters}:{item.origin}' has no matrix"
            raise self.context.error(notations_rules.NO_VALUE_HERE, key, what, fix="leave it out", where=item.origin)
        return (*named, *kinds)[0]

    # -- variables -------------------------------------------------------------------------------------------------------------

    def _variables(self) -> dict[str, dict[str, str]]:
        """The names of variables by element: its own, and that of what its junction shares."""
        found: dict[str, dict[str, str]] = {
            name: {self._decided(item, kind): item.variable}
            for name, kind in self.kinds.items()
            if (item := self.graph.items[name]).variable and item.letters not in DETECTORS
        }
        for name, group in self.layout.named.items():
            found.setdefault(name, {})[group.shares] = group.variable
        return found

    def _decided(self, item: BondItem, kind: ElementKind) -> Side:
        """The variable that a one-port decides: of a resistive element with a law the one on its left side."""
        given = self.details.get(item.origin)
        law = None if given is None or kind.role != "resistive" else given.get("law")
        other = other_side(kind.side)
        told = law.get("gives") if isinstance(law, MappingNode) else law
        if not isinstance(told, Scalar):
            return kind.side
        left = told.text.partition("=")[0].strip()
        return other if left in (*kind.domain.power(other).letters, other) else kind.side

    def _probe(self, group: network.JunctionGroup) -> None:
        """An ideal sensor that carries the name of what a junction shares, where no element of it can."""
        domain = group.domain
        kinds = network.one_port_kinds("De" if group.shares == domain.effort else "Df", domain)
        if not kinds:
            raise network.no_such_element(self.graph.items[group.name], domain)
        kind = kinds[0]
        end = self.layout.at[group.name, "", 0]
        # A sensor is called like what it reads, unless something else has that name.
        taken = group.variable in self.graph.items or group.variable in self.context.elements
        name = group.name if taken else group.variable
        line = self._line(name, kind, self.graph.items[group.name].place, (end.plus, end.minus))
        line.value = QuantityReading(ZERO, ZERO)
        line.variables = {group.shares: group.variable}
        add_element_of_line(self.context, line)

    # -- two-ports -------------------------------------------------------------------------------------------------------------

    def _two_port(self, item: BondItem) -> None:
        into, out = _ports_of(item.name, self.graph.bonds_of(item.name))
        given = [self.domains.domain(item.name, "in", k) for k in sorted(set(into))]
        gives = [self.domains.domain(item.name, "out", k) for k in sorted(set(out))]
        if len(given) == len(gives) == 1:
            self._scalar_two_port(item, given[0], gives[0])
            return
        # A connection of several ports: those of its bonds in, then those of its bonds out.
        ends = [self.layout.at[item.name, "in", k + 1] for k in range(len(given))]
        ends += [self.layout.at[item.name, "out", k + 1] for k in range(len(gives))]
        like = plain_kind(item.letters) == "TF"
        ports_in = [(domain, domain.flow) for domain in given]
        ports_out = [(domain, domain.flow if like else domain.effort) for domain in gives]
        K = self._moduli(item, ports_in, ports_out)
        relation = Multiport.of_sides([side for _, side in ports_in], [side for _, side in ports_out], K)
        kind = multiport_kind(tuple(domain.name for domain in (*given, *gives)))
        nodes = tuple(node for end in ends for node in (end.plus, end.minus))
        self.context.elements[item.name] = Element(item.name, kind, nodes, multiport=relation, place=item.place)

    def _moduli(self, item: BondItem, given: Sequence[PortVariable], gives: Sequence[PortVariable]) -> Rows:
        """The matrix that is given; one modulus for all components where both sides have one size.

        Raises: DescriptionError when the matrix is missing or has another shape.
        """
        context, details, at = self.context, self.details.get(item.name), item.place
        for key in details.keys if details is not None else ():
            if key.text not in ("K", "value"):
                raise context.unknown_key(key, ("K",), f"the two-port {item.name}")
        value: Node | None = None if details is None or not details.keys else details.values[0]
        key = Scalar(item.name, at.line if at else 1, at.column if at else 1, len(item.name), False)
        subject = f"an entry of {item.name}"
        if isinstance(value, SequenceNode) and any(isinstance(row, SequenceNode) for row in value):
            texts = read_matrix(context, key, value, len(gives), len(given))
            return tuple(
                tuple(
                    context.checked_quantity(text, _unit(two, one), subject).expression
                    for one, text in zip(given, row, strict=True)
                )
                for two, row in zip(gives, texts, strict=True)
            )
        if len(given) != len(gives):
            what = f"'{item.letters}:{item.name}' has {len(given)} bonds in and {len(gives)} out, and no matrix"
            shape = f"with {len(gives)} rows and {len(given)} columns"
            fix = f"write '{item.name}: {{K: [[...], ...]}}' under 'elements', {shape}"
            raise notations_rules.MISSING_KEY.error(what, where=item.name, fix=fix, place=at)
        if value is None and item.name not in context.parameters:
            what = f"the modulus of '{item.name}' is not given"
            fix = f"add '{item.name}' to the parameters, or 'K' under 'elements'"
            raise notations_rules.MISSING_KEY.error(what, where=item.name, fix=fix, place=at)
        modulus: Expression = symbol(item.name)
        if value is not None:
            text = context.formula(value, f"the modulus of {item.name}")
            modulus = context.checked_quantity(text, _unit(gives[0], given[0]), subject).expression
        count = range(len(gives))
        return tuple(tuple(modulus if i == j else ZERO for j in count) for i in count)

    def _scalar_two_port(self, item: BondItem, tail: Domain, head: Domain) -> None:
        coupling, reciprocal = network.connection_type(item.letters, tail, head)
        kind = connection((tail.name, head.name), coupling, reciprocal=reciprocal)
        one, two = self.layout.at[item.name, "in", 1], self.layout.at[item.name, "out", 1]
        line = self._line(item.name, kind, item.place, (one.plus, one.minus, two.plus, two.minus))
        if item.name in self.details:
            add_details(self.context, line, self.details[item.name])
        add_element_of_line(self.context, line)

    def _rigid(self, joint: network.PathJoint) -> None:
        """A bond that needs a connection of modulus one."""
        bond, domain = joint.bond, joint.node.domain
        name = joined(bond.tail, "to", bond.head)
        # Nobody wrote this connection, so its name must give way to all that somebody did write.
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


# From the file


def _check_bonds(graph: BondGraph) -> list[Finding]:
    return [
        rules.WRONG_BONDS.finding(
            f"'{item.letters}:{clip(item.name)}' {what}", where=clip(item.name), fix=fix, place=item.place
        )
        for item in graph.items.values()
        for what, fix in _wrong_bonds(item, graph.bonds_of(item.name))
    ] + [finding for item in graph.items.values() if item.letters in DETECTORS for finding in _disturbing(item, graph)]


def _disturbing(item: BondItem, graph: BondGraph) -> Iterator[Finding]:
    """A detector of effort stands on a 0-junction, one of flow on a 1-junction: elsewhere it would stop the power."""
    junction = "0" if item.letters == "De" else "1"
    for bond in graph.bonds_of(item.name):
        other = graph.items[bond.head if bond.tail == item.name else bond.tail]
        if other.letters != junction:
            word = "effort" if item.letters == "De" else "flow"
            what = f"'{item.letters}:{clip(item.name)}' is bonded to '{other.letters}:{clip(other.name)}'"
            fix = f"bond it to a {junction}-junction, whose bonds share the {word}"
            yield rules.DISTURBING_DETECTOR.finding(what, where=clip(item.name), fix=fix, place=item.place)


def _ports_of(name: str, bonds: Sequence[PowerBond]) -> tuple[list[int], list[int]]:
    """The ports at which bonds come in, and those at which they go out."""
    return [b.head_port for b in bonds if b.head == name], [b.tail_port for b in bonds if b.tail == name]


def _wrong_bonds(item: BondItem, bonds: Sequence[PowerBond]) -> Iterator[tuple[str, str]]:
    """What is wrong with the bonds of an item, and its repair."""
    if item.role == "junction":
        if len(bonds) < 2:
            yield "has only one bond", "remove the junction, or bond something else to it"
    elif any(bond.tail == bond.head for bond in bonds):
        yield "is bonded to itself", "bond it to a junction"
    elif item.role == "one-port":
        if len(bonds) != 1:
            one = "a component" if item.part else "a one-port"
            yield f"has {len(bonds)} bonds", f"{one} has one: join it through a junction"
    else:
        # A two-port with a matrix may have several bonds a side, each at a port of its own.
        into, out = (sorted(set(ports)) for ports in _ports_of(item.name, bonds))
        if not into or not out or len(into) + len(out) < len(bonds):
            fix = f"write 'a -> {item.letters}:{clip(item.name)} -> b': the half arrows pass through it"
            counts = [len(ports) for ports in _ports_of(item.name, bonds)]
            yield f"has {counts[0]} bond{'' if counts[0] == 1 else 's'} in and {counts[1]} out, not one and one", fix
        for ports, side in ((into, "in"), (out, "out")):
            if ports and ports[-1] != len(ports):
                missing = min(set(range(1, ports[-1])) - set(ports))
                yield f"has no bond {side} at its port {missing}", "bond all its ports"


SIGNAL = "signal"


def with_signals(context: ReadingContext, graph: BondGraph, details: dict[str, MappingNode]) -> dict[str, MappingNode]:
    """The details of elements with the signals that bonds bring to sources.

    Raises: DescriptionError for signals that end elsewhere, for a source with two signals, and for MSe and MSf without one.
    """
    found = dict(details)
    for bond in graph.signals:
        item, known = graph.items[bond.target], found.get(bond.target)
        if item.letters not in ("MSe", "MSf"):
            raise _no_source(item, bond)
        if known is not None and SIGNAL in known:
            what = f"'{item.letters}:{item.name}' follows two signals"
            raise rules.BAD_SIGNAL_BOND.error(what, where=item.name, fix="keep one of them", place=bond.place)
        found[item.name] = _with_signal(known, bond)
    for item in graph.items.values():
        if item.letters in ("MSe", "MSf") and SIGNAL not in found.get(item.name, ()):
            what = f"nothing says which signal '{item.letters}:{item.name}' follows"
            fix = f"write '... => {item.name}' on a line of its own, or '{item.letters[1:]}:{item.name}' for an input"
            raise rules.BAD_SIGNAL_BOND.error(what, where=item.name, fix=fix, place=item.place)
    return found


def _with_signal(known: MappingNode | None, bond: SignalBond) -> MappingNode:
    at = bond.place
    assert at is not None, "a signal that was read has a place"
    key = Scalar(SIGNAL, at.line, at.column, len(at.text), False)
    text = Scalar(bond.expression, at.line, at.column, len(at.text), False)
    keys, values = (known.keys, known.values) if known is not None else ((), ())
    return MappingNode((*keys, key), (*values, text), at.line, at.column, len(at.text))


def _no_source(item: BondItem, bond: SignalBond) -> TellegenError:
    what = f"the signal ends at '{item.letters}:{item.name}', which follows none"
    fix = "lead it to MSe or MSf; a modulus reads signals in its formula"
    if item.letters in ("Se", "Sf", "MSe", "MSf"):
        fix = f"write 'M{item.letters}:{item.name}'"
    return rules.BAD_SIGNAL_BOND.error(what, where=item.name, fix=fix, place=bond.place)


def read_bond_graph(context: ReadingContext, node: Node, details: Node | None) -> BondGraph | None:
    """Add the elements of a bond graph to the model; `details` holds laws, values and initial values by element.

    Gives the bond graph as it is written, or None when errors were collected.
    """
    written = read_lines(context, node)
    if written is None:
        return None
    try:
        graph = with_scalar_bonds(written)
        if wrong := _check_bonds(graph):
            context.broken.update(written.items)
            context.add_errors(wrong)
            return None
        elements = [item.name for item in written.items.values() if item.role != "junction"]
        more = with_signals(context, written, read_elements(context, details, elements, "the bond graph"))
        graph = replace(graph, items={name: _settled(context, item, more) for name, item in graph.items.items()})
        domains = network.BondDomains(context, graph)
        domains.find()
        _Emitter(context, graph, domains, more, node).emit()
    except TellegenError:
        context.broken.update(written.items)  # so that the experiment does not call them unknown
        raise
    context.bond_numbers = {bond.number: ends for bond, ends in bond_ends(written, {}) if bond.numbered}
    return written


def _settled(context: ReadingContext, item: BondItem, more: Details) -> BondItem:
    """A port of an IC field becomes the storage that it is: `ports` says I or C for each."""
    if item.letters != "IC":
        return item
    given = more[item.origin].get(PORTS_KEY) if item.origin in more else None
    words = [] if given is None else context.texts(given, f"the ports of {item.origin}")
    if len(words) != item.size:
        what = f"'IC:{item.origin}' has {item.size} ports, and {len(words)} of them are said to be I or C"
        fix = f"write 'ports: [{', '.join(['I', 'C', 'C', 'C'][: max(item.size, 2)])}]' under 'elements'"
        raise rules.WRONG_SIZE.error(what, where=item.origin, fix=fix, place=item.place)
    word = words[max(item.part, 1) - 1]
    if word.text not in ("I", "C"):
        fix = did_you_mean(word.text, ("I", "C")) or "write I or C"
        raise context.error(rules.UNKNOWN_ITEM_KIND, word, f"'{word.text}' is no kind of storage", fix=fix)
    return replace(item, letters="I" if word.text == "I" else "C")
