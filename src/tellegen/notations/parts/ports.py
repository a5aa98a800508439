"""Ports: what a system offers to others, repeated ones among them, and where the ports of its parts meet the elements beside
them.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple, final

from tellegen.core.domains import DOMAINS, REFERENCES
from tellegen.core.errors import Place, TellegenError
from tellegen.core.names import did_you_mean, listing
from tellegen.expressions import Expression
from tellegen.model.model import Element, Model, Part, SystemPort, input_name, known_variables, variable_name
from tellegen.model.signals import SignalPorts, SignalSetting
from tellegen.notations.context import ReadingContext, StopReadingError
from tellegen.notations.grammar import AT, SIGNAL_PORTS, SOURCE
from tellegen.notations.network.keys import with_article
from tellegen.notations.network.repetition import OUTSIDE, StructureCopy, copies_of, is_block, read_repeat
from tellegen.notations.parts import rules
from tellegen.notations.yaml.document import MappingNode, Node, Scalar


@final
class PortEntry(NamedTuple):
    """One port of a `ports` mapping: its name, the words that say it, and the copy of a block that it is in."""

    name: str
    key: Scalar
    value: Node
    copy: StructureCopy


def _port_entries(
    context: ReadingContext, node: Node, subject: str, copy: StructureCopy = OUTSIDE
) -> Iterator[PortEntry]:
    """Every port of a mapping, those of repeated blocks one by one; what is wrong with a block is collected."""
    for key, value in context.mapping(node, subject).items():
        with context.collecting():
            if is_block(value):
                ranges, _, inner = read_repeat(context, key, value, "ports", copy.indices, "ports")
                for each in copies_of(context, key, ranges, copy):
                    yield from _port_entries(context, inner, f"the ports of {key.text}", each)
            else:
                yield PortEntry(copy.name(context, key, "a port"), key, value, copy)


def source_variables(source: Element) -> tuple[str, ...]:
    """The variables that go with a source."""
    return (variable_name(source, "across"), variable_name(source, "through"), f"power.{source.name}")


def names_read(model: Model) -> set[str]:
    """All names that formulas of a system read."""
    found: set[str] = set()
    formulas: list[Expression | None] = [p.expression for p in model.parameters.values()]
    formulas += model.displacements.values()
    for element in model.elements:
        formulas += [element.value, element.signal, element.law.expression if element.law else None]
        formulas += [entry for row in element.multiport.K for entry in row] if element.multiport else []
        formulas += element.switching.settings.values() if element.switching else []
    formulas += [f for s in model.signals.values() for f in _signal_formulas(s.settings.values())]
    for formula in formulas:
        if formula is not None:
            found |= formula.free_symbols
    return found


def _signal_formulas(settings: Iterable[SignalSetting]) -> Iterator[Expression]:
    for value in settings:
        if isinstance(value, Expression):
            yield value
        elif isinstance(value, tuple):
            yield from (v for v in value if isinstance(v, Expression))


def read_ports(context: ReadingContext, node: Node) -> dict[str, SystemPort]:
    """The power ports of a system, once its elements are known; errors are collected."""
    # By the elements, because nodes have no domain of their own.
    domains = _node_domains(context.elements.values())
    found: dict[str, SystemPort] = {}
    for entry in _port_entries(context, node, "'ports'"):
        with context.collecting():
            if entry.name in found:
                what = f"the port '{entry.name}' is described twice"
                fix = "inside a 'repeat' a name needs every index, such as 'phase[k]'"
                raise context.error(rules.BAD_PORT, entry.key, what, fix=fix)
            found[entry.name] = _read_port(context, entry, domains)
    return found


def _node_domains(elements: Iterable[Element]) -> dict[str, str]:
    """The domain of every node but the references, by the first element at it."""
    found: dict[str, str] = {}
    for element in elements:
        for k, node in enumerate(element.nodes):
            if node not in REFERENCES:
                found.setdefault(node, element.kind.domains[k // 2])
    return found


def _replacement_nodes(source: Element) -> tuple[str, str]:
    """The nodes of what takes the place of a source: its across variable is that of the source, a reference comes second."""
    first, second = source.nodes[:2] if source.kind.side == "across" else source.nodes[1::-1]
    return (second, first) if first in REFERENCES else (first, second)  # against a reference there is one way round


def _find_source(context: ReadingContext, node: MappingNode, subject: str) -> Element:
    """The source that `{source: V}` names."""
    context.check_keys(node, (SOURCE,), subject)
    named = node.get(SOURCE)
    if named is None:
        raise context.error(rules.BAD_PORT, node, f"{subject} names no source", fix="write a node, or {source: name}")
    text = context.scalar(named, f"the source of {subject}")
    element = context.elements.get(text.text)
    if element is None and text.text in context.broken:
        raise StopReadingError  # what is wrong with it has been said
    if element is None or element.kind.role != "source":
        sources = [name for name, e in context.elements.items() if e.kind.role == "source"]
        fix = did_you_mean(text.text, sources) or (f"the sources are {listing(sources)}" if sources else "name a node")
        what = f"{subject} names '{text.text}', which is {'not a source' if element else 'no element'}"
        raise context.error(rules.BAD_PORT, text, what, fix=fix)
    return element


def _read_port(context: ReadingContext, entry: PortEntry, domains: dict[str, str]) -> SystemPort:
    name, node = entry.name, entry.value
    place = context.place(entry.key)
    if isinstance(node, MappingNode) and (at := node.get(AT)) is not None:
        context.check_keys(node, (AT,), f"the port '{name}'")
        return _port_at(context, name, at, place)
    if isinstance(node, MappingNode):
        source = _find_source(context, node, f"the port '{name}'")
        return SystemPort(name, source.kind.domain.name, _replacement_nodes(source), source.name, place)
    texts = context.texts(node, f"the port '{name}'")
    if not 1 <= len(texts) <= 2:
        what = f"the port '{name}' has {len(texts)} nodes"
        raise context.error(rules.BAD_PORT, node, what, fix="give one node against the reference, or two")
    nodes = [entry.copy.node(context, text) for text in texts]
    found = {domains[n] for n in nodes if n in domains}
    for text, inner in zip(texts, nodes, strict=True):
        if inner not in domains and inner not in REFERENCES:
            fix = did_you_mean(inner, list(domains)[:2000]) or f"the nodes are {listing(list(domains)[:12], 12)}"
            raise context.error(rules.BAD_PORT, text, f"the port '{name}' is at '{inner}', which is no node", fix=fix)
    if len(found) != 1:
        what = f"the port '{name}' {'lies between two domains' if found else 'has no node but references'}"
        raise context.error(rules.BAD_PORT, node, what, fix="give nodes of one domain")
    domain = DOMAINS[found.pop()]
    for text, inner in zip(texts, nodes, strict=True):
        if inner in REFERENCES and inner != domain.reference:
            what = f"the port '{name}' is {domain.name}, and '{inner}' is the reference of another domain"
            raise context.error(rules.BAD_PORT, text, what, fix=f"write '{domain.reference}', or leave it out")
    second = nodes[1] if len(nodes) == 2 else domain.reference
    if nodes[0] == second:
        what = f"both ends of the port '{name}' are at '{second}'"
        raise context.error(rules.BAD_PORT, node, what, fix="give two different nodes")
    ends = (second, nodes[0]) if nodes[0] in REFERENCES else (nodes[0], second)
    return SystemPort(name, domain.name, ends, "", place)


def _port_at(context: ReadingContext, name: str, node: Node, place: Place) -> SystemPort:
    """`{at: J}`: the two nodes of an element, for notations whose nodes have no names."""
    text = context.scalar(node, f"the element of the port '{name}'")
    element = context.elements.get(text.text)
    if element is None and text.text in context.broken:
        raise StopReadingError  # what is wrong with it has been said
    if element is None or len(element.nodes) != 2:
        known = [n for n, e in context.elements.items() if len(e.nodes) == 2]
        fix = did_you_mean(text.text, known[:2000]) or "name an element between two nodes"
        what = f"the port '{name}' is at '{text.text}', which is {'no element' if element is None else 'between more nodes'}"
        raise context.error(rules.BAD_PORT, text, what, fix=fix)
    return SystemPort(name, element.kind.domain.name, (element.nodes[0], element.nodes[1]), "", place, element.name)


# Signals


def read_signal_ports(context: ReadingContext, node: Node) -> SignalPorts:
    """The signals that a system takes and offers, once all are known; errors are collected."""
    mapping = context.record(node, SIGNAL_PORTS, "'signal ports'", "the signal ports")
    # What a system may be given as a signal: the inputs of its sources that nothing drives, and its signals.
    free = [input_name(e) for e in context.elements.values() if e.kind.role == "source" and e.signal is None]
    inputs = _signal_names(context, mapping, "inputs", [*context.signals, *free])
    readable = [*known_variables(context.elements.values()), *context.signals, *context.displacements]
    return SignalPorts(inputs, _signal_names(context, mapping, "outputs", readable))


def _signal_names(context: ReadingContext, mapping: MappingNode, key: str, known: list[str]) -> tuple[str, ...]:
    node = mapping.get(key)
    if node is None:
        return ()
    texts = context.texts(node, f"the {key} of the signal ports")
    words = set(known)
    for text in texts:
        if text.text not in words and text.text not in context.broken:
            kind = "neither a signal nor an input" if key == "inputs" else "neither a signal nor a variable"
            fix = did_you_mean(text.text, known[:2000]) or "describe it under 'signals'"
            context.collect(context.error(rules.BAD_PORT, text, f"the signal port '{text.text}' is {kind}", fix=fix))
    return tuple(text.text for text in texts)


@final
class PartConnections:
    """What the parts of one system are joined to. `own` are the elements beside the parts, `taken` those sources whose place a
    part takes, with its name.
    """

    def __init__(self, context: ReadingContext) -> None:
        self.context = context
        self.parts: dict[str, Part] = {}
        self.own = dict(context.elements)
        self.taken: dict[str, str] = {}
        self._domains = {node: (domain, "") for node, domain in _node_domains(self.own.values()).items()}

    def join(self, node: str, domain: str, who: str, at: Node) -> None:
        """Watch that what meets at a node is of one domain."""
        if node in REFERENCES:
            if node != DOMAINS[domain].reference:
                what = f"{who} is {domain}, and '{node}' is the reference of another domain"
                fix = f"join it to '{DOMAINS[domain].reference}' or to {with_article(domain)} node"
                raise self.context.error(rules.WRONG_PORT_DOMAIN, at, what, fix=fix)
            return
        there, by = self._domains.setdefault(node, (domain, who))
        if there != domain:
            holder = by or next(f"the {e.kind.name} {e.name}" for e in self.own.values() if node in e.nodes)
            what = f"{who} is {domain}, and the node '{node}' is {there}: {holder} is there"
            raise self.context.error(rules.WRONG_PORT_DOMAIN, at, what, fix=f"join it to {with_article(domain)} node")

    def take_source(self, part: str, source: Element, at: Node) -> tuple[str, str]:
        """The nodes of a source of the whole whose place a port takes."""
        if source.name in self.taken or source.name not in self.own:
            holder = self.taken.get(source.name, "")
            what = f"'{source.name}' is {f'replaced by {holder} already' if holder else 'inside another part'}"
            raise self.context.error(rules.WRONG_PORT_NODES, at, what, fix="join the port to nodes")
        self.taken[source.name] = part
        return _replacement_nodes(source)

    def is_inside(self, path: str) -> str:
        """The part that a dotted name leads into, or nothing."""
        head = path
        while "." in head:
            head = head.rpartition(".")[0]
            if head in self.parts:
                return head
        return ""

    def check_network(self) -> None:
        """The network beside the parts has its own names and nodes."""
        if not self.parts:
            return
        for name, element in self.own.items():
            if "." in name and (part := self.is_inside(name)):
                what = f"the element '{name}' has a name inside the part {part}"
                fix = f"change it in the file of {part}, or choose a name without dots"
                self.context.add_errors([rules.NAME_CLASH.finding(what, where=name, fix=fix, place=element.place)])
            for node in element.nodes:
                if "." in node and (part := self.is_inside(node)):
                    ports = self.parts[part].model.ports
                    what = f"the {element.kind.name} {name} is joined to '{node}', inside the part {part}"
                    fix = f"join a port of {part} to a node: its ports are {listing(ports, 12)}"
                    self.context.add_errors(
                        [rules.INSIDE_A_PART.finding(what, where=name, fix=fix, place=element.place)]
                    )
        # A source goes when a part takes its place, and its variables go with it.
        gone = {n: (s, self.taken[s]) for s in self.taken for n in source_variables(self.own[s])}
        for name in sorted(gone.keys() & self._names_read_by_formulas()):
            source, part = gone[name]
            what = f"a formula reads '{name}' of the source '{source}', whose place the part {part} takes"
            fix = f"read a variable of {part}, or join the port to nodes"
            self.context.add_errors([rules.SOURCE_IS_READ.finding(what, fix=fix, place=self.own[source].place)])

    def _names_read_by_formulas(self) -> set[str]:
        context = self.context
        formulas = [*context.displacements.values(), *(driven.marked for driven in context.driven)]
        formulas += [f for s in context.signals.values() for f in _signal_formulas(s.settings.values())]
        return {name for formula in formulas for name in formula.free_symbols}


PortNodes = dict[str, tuple[str, str]]
"""The two nodes of the whole that each port is joined to."""


@final
class JoinedPorts:
    """What the line of a part, or of one copy of it, says under `ports`."""

    def __init__(self, connections: PartConnections, name: str, copy: StructureCopy) -> None:
        self.context: ReadingContext = connections.context
        self.connections, self.name, self.copy = connections, name, copy

    def read(self, model: Model, node: Node | None, key: Scalar) -> PortNodes:
        """The ends of every port that is joined; `key` is the name of the part."""
        found: PortNodes = {}
        subject = f"the ports of {self.name}"
        for entry in () if node is None else _port_entries(self.context, node, subject, self.copy):
            port = model.ports.get(entry.name)
            if port is None:
                raise self._unknown(model, entry)
            who = f"the port '{port.name}' of {self.name}"
            found[port.name] = nodes = self._nodes(port, entry, who)
            for outer in nodes:
                self.connections.join(outer, port.domain, who, entry.value)
        if node is not None:
            self._check_shared(model, found, node)
        self._warn_of_open(model, found, key)
        return found

    def _unknown(self, model: Model, entry: PortEntry) -> TellegenError:
        ports = model.ports
        fix = did_you_mean(entry.name, ports)
        if not fix:
            offer = f"offer some in its file: 'ports: {{{entry.name}: node}}'"
            fix = f"its ports are {listing(ports, 12)}" if ports else offer
        what = f"the part {self.name} ({model.name}) has no port '{entry.name}'"
        return self.context.error(rules.UNKNOWN_PORT, entry.key, what, fix=fix, where=self.name)

    def _nodes(self, port: SystemPort, entry: PortEntry, who: str) -> tuple[str, str]:
        context, reference, value = self.context, DOMAINS[port.domain].reference, entry.value
        if isinstance(value, MappingNode):
            source = _find_source(context, value, who)
            if source.kind.domain.name != port.domain:
                what = f"{who} is {port.domain}, and the source '{source.name}' is {source.kind.domain.name}"
                fix = f"name {with_article(port.domain)} source"
                raise context.error(rules.WRONG_PORT_DOMAIN, value, what, fix=fix, where=self.name)
            return self._ends(port, self.connections.take_source(self.name, source, value), value, who)
        texts = context.texts(value, f"the nodes of {who}")
        if not 1 <= len(texts) <= 2:
            what = f"{who} is joined to {len(texts)} nodes"
            fix = f"give one node, or two; the second is '{reference}' where it is left out"
            raise context.error(rules.WRONG_PORT_NODES, value, what, fix=fix, where=self.name)
        names = [entry.copy.node(context, text) for text in texts]
        for text, name in zip(texts, names, strict=True):
            if "." in name and (part := self.connections.is_inside(name)):
                ports = self.connections.parts[part].model.ports
                what = f"{who} is joined to '{name}', inside the part {part}"
                fix = f"join both to a node: the ports of {part} are {listing(ports, 12)}"
                raise context.error(rules.INSIDE_A_PART, text, what, fix=fix, where=self.name)
        return self._ends(port, (names[0], names[1] if len(names) == 2 else reference), value, who)

    def _ends(self, port: SystemPort, nodes: tuple[str, str], value: Node, who: str) -> tuple[str, str]:
        for inner, outer in zip(port.nodes, nodes, strict=True):
            # A port against the reference knows no other potential inside: joined elsewhere, its laws would be wrong.
            if inner in REFERENCES and outer != inner:
                what = f"{who} is joined to '{outer}' where it stands against '{inner}'"
                fix = f"give one node; to let the part float, offer two nodes of its own, such as '{port.name}: [a, b]'"
                raise self.context.error(rules.WRONG_PORT_NODES, value, what, fix=fix, where=self.name)
        return nodes

    def _check_shared(self, model: Model, found: PortNodes, node: Node) -> None:
        """A node that two ports share is one node outside as well."""
        outer_of: dict[str, tuple[str, str]] = {}
        for name, nodes in found.items():
            for inner, outer in zip(model.ports[name].nodes, nodes, strict=True):
                there, by = outer_of.setdefault(inner, (outer, name))
                if there != outer:
                    share = f"the ports '{by}' and '{name}' of {self.name} share the node '{inner}'"
                    what = f"{share}, and are joined to '{there}' and '{outer}'"
                    fix = "join both to one node"
                    raise self.context.error(rules.WRONG_PORT_NODES, node, what, fix=fix, where=self.name)

    def _warn_of_open(self, model: Model, joined: PortNodes, key: Scalar) -> None:
        open_ports = [port for name, port in model.ports.items() if name not in joined and not port.source]
        if not open_ports:
            return
        # An end at which nothing else stands passes nothing: what hangs there is as good as not connected.
        ends = Counter(node for element in model.elements for node in element.nodes)
        taken = {inner for name in joined for inner in model.ports[name].nodes}
        for port in open_ports:
            if any(ends[node] == 1 and node not in taken and node not in REFERENCES for node in port.nodes):
                what = f"the port '{port.name}' of {self.name} is open"
                fix = f"add 'ports: {{{port.name}: node}}' to its line"
                finding = rules.OPEN_PORT.finding(what, where=self.name, fix=fix, place=self.context.place(key))
                self.context.notes.append(finding)
