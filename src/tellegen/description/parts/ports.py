"""What a system offers to others: `ports: {shaft: s, ends: [a, b], supply: {source: V}, hook: {at: m}}`, and signal ports."""

from collections.abc import Iterable

from tellegen.core.domains import DOMAINS, REFERENCES
from tellegen.core.errors import Place, TellegenError
from tellegen.core.names import did_you_mean, listing
from tellegen.description.context import Context, EnoughError
from tellegen.description.document import Mapping, Node
from tellegen.description.model import Element, Port
from tellegen.description.parts import rules
from tellegen.description.parts.repeated_ports import PortEntry, port_entries
from tellegen.description.signals.values import SignalPorts
from tellegen.description.variables import input_name, known_variables

SOURCE = "source"
AT = "at"
SIGNAL_KEYS = {
    "inputs": "signals and inputs of sources that another system may give a formula",
    "outputs": "signals and variables that are meant to be read from outside",
}


def read_ports(context: Context, node: Node) -> dict[str, Port]:
    """The power ports of a system, once its elements are known; errors are collected."""
    domains = node_domains(context.elements.values())
    found: dict[str, Port] = {}
    for entry in port_entries(context, node, "'ports'"):
        try:
            if entry.name in found:
                what = f"the port '{entry.name}' is described twice"
                fix = "inside a 'repeat' a name needs every index, such as 'phase[k]'"
                raise context.error(rules.BAD_PORT, entry.key, what, fix=fix)
            found[entry.name] = _read_port(context, entry, domains)
        except TellegenError as error:
            context.collect(error)
    return found


def node_domains(elements: Iterable[Element]) -> dict[str, str]:
    """The domain of every node but the references, by the first element at it."""
    found: dict[str, str] = {}
    for element in elements:
        for k, node in enumerate(element.nodes):
            if node not in REFERENCES:
                found.setdefault(node, element.kind.domains[k // 2])
    return found


def ends_of(source: Element) -> tuple[str, str]:
    """The nodes of what takes the place of a source: its across variable is that of the source, a reference comes second."""
    first, second = source.nodes[:2] if source.kind.side == "across" else source.nodes[1::-1]
    return (second, first) if first in REFERENCES else (first, second)  # against a reference there is one way round


def find_source(context: Context, node: Mapping, subject: str) -> Element:
    """The source that `{source: V}` names."""
    context.check_keys(node, (SOURCE,), subject)
    named = node.get(SOURCE)
    if named is None:
        raise context.error(rules.BAD_PORT, node, f"{subject} names no source", fix="write a node, or {source: name}")
    text = context.scalar(named, f"the source of {subject}")
    element = context.elements.get(text.text)
    if element is None and text.text in context.broken:
        raise EnoughError  # what is wrong with it has been said
    if element is None or element.kind.role != "source":
        sources = [name for name, e in context.elements.items() if e.kind.role == "source"]
        fix = did_you_mean(text.text, sources) or (f"the sources are {listing(sources)}" if sources else "name a node")
        what = f"{subject} names '{text.text}', which is {'not a source' if element else 'no element'}"
        raise context.error(rules.BAD_PORT, text, what, fix=fix)
    return element


def _read_port(context: Context, entry: PortEntry, domains: dict[str, str]) -> Port:
    name, node = entry.name, entry.value
    place = context.place(entry.key)
    if isinstance(node, Mapping) and (at := node.get(AT)) is not None:
        context.check_keys(node, (AT,), f"the port '{name}'")
        return _port_at(context, name, at, place)
    if isinstance(node, Mapping):
        source = find_source(context, node, f"the port '{name}'")
        return Port(name, source.kind.domain.name, ends_of(source), source.name, place)
    texts = context.texts(node, f"the port '{name}'")
    if not 1 <= len(texts) <= 2:
        what = f"the port '{name}' has {len(texts)} nodes"
        raise context.error(rules.BAD_PORT, node, what, fix="give one node against the reference, or two")
    nodes = [entry.node(context, text) for text in texts]
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
    return Port(name, domain.name, ends, "", place)


def _port_at(context: Context, name: str, node: Node, place: Place) -> Port:
    """`{at: J}`: the two nodes of an element, for notations whose nodes have no names."""
    text = context.scalar(node, f"the element of the port '{name}'")
    element = context.elements.get(text.text)
    if element is None and text.text in context.broken:
        raise EnoughError  # what is wrong with it has been said
    if element is None or len(element.nodes) != 2:
        known = [n for n, e in context.elements.items() if len(e.nodes) == 2]
        fix = did_you_mean(text.text, known[:2000]) or "name an element between two nodes"
        what = f"the port '{name}' is at '{text.text}', which is {'no element' if element is None else 'between more nodes'}"
        raise context.error(rules.BAD_PORT, text, what, fix=fix)
    return Port(name, element.kind.domain.name, (element.nodes[0], element.nodes[1]), "", place, element.name)


# Signals


def read_signal_ports(context: Context, node: Node) -> SignalPorts:
    """The signals that a system takes and offers, once all are known; errors are collected."""
    mapping = context.mapping(node, "'signal ports'")
    context.check_keys(mapping, SIGNAL_KEYS, "the signal ports")
    inputs = _names(context, mapping, "inputs", signal_inputs(context.elements.values(), context.signals))
    readable = [*known_variables(context.elements.values()), *context.signals, *context.displacements]
    return SignalPorts(inputs, _names(context, mapping, "outputs", readable))


def signal_inputs(elements: Iterable[Element], signals: Iterable[str]) -> list[str]:
    """What a system may be given as a signal: the inputs of its sources that nothing drives, and its signals."""
    free = [input_name(e) for e in elements if e.kind.role == "source" and e.signal is None]
    return [*signals, *free]


def _names(context: Context, mapping: Mapping, key: str, known: list[str]) -> tuple[str, ...]:
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
