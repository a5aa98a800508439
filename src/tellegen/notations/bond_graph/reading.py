"""The elements of a bond graph, from its part of a model file: its bonds checked, with the signals that drive its sources."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from tellegen.core.errors import Finding, TellegenError
from tellegen.core.files import clip
from tellegen.core.names import did_you_mean
from tellegen.model.bond_graph import (
    DETECTORS,
    BondGraph,
    BondItem,
    PowerBond,
    SignalBond,
)
from tellegen.notations.bond_graph import rules
from tellegen.notations.bond_graph.elements import PORTS_KEY, Details, emit_elements
from tellegen.notations.bond_graph.lines import read_lines, with_scalar_bonds
from tellegen.notations.bond_graph.network import BondDomains
from tellegen.notations.context import ReadingContext
from tellegen.notations.network.lines import read_elements
from tellegen.notations.yaml.document import MappingNode, Node, Scalar


def check_bonds(graph: BondGraph) -> list[Finding]:
    """A finding for each item with too few or too many bonds."""
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
        if wrong := check_bonds(graph):
            context.broken.update(written.items)
            context.add_errors(wrong)
            return None
        elements = [item.name for item in written.items.values() if item.role != "junction"]
        more = with_signals(context, written, read_elements(context, details, elements, "the bond graph"))
        graph = replace(graph, items={name: _settled(context, item, more) for name, item in graph.items.items()})
        domains = BondDomains(context, graph)
        domains.find()
        emit_elements(context, graph, domains, more, node)
    except TellegenError:
        context.broken.update(written.items)  # so that the experiment does not call them unknown
        raise
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
