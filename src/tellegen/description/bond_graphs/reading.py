"""The elements of a bond graph, from its part of a model file."""

from dataclasses import replace

from tellegen.core.errors import TellegenError
from tellegen.core.names import did_you_mean
from tellegen.description.bond_graphs import rules
from tellegen.description.bond_graphs.checking import check_bonds
from tellegen.description.bond_graphs.details import read_elements
from tellegen.description.bond_graphs.domains import Domains
from tellegen.description.bond_graphs.emission import Details, emit_elements
from tellegen.description.bond_graphs.expansion import expanded
from tellegen.description.bond_graphs.graph import JUNCTIONS, BondGraph, Item
from tellegen.description.bond_graphs.lines import read_lines
from tellegen.description.bond_graphs.signal_bonds import with_signals
from tellegen.description.bond_graphs.vectors import PORTS
from tellegen.description.context import Context
from tellegen.description.document import Node


def read_bond_graph(context: Context, node: Node, details: Node | None) -> BondGraph | None:
    """Add the elements of a bond graph to the model; `details` holds laws, values and initial values by element.

    Gives the bond graph as it is written, or None when errors were collected.
    """
    written = read_lines(context, node)
    if written is None:
        return None
    try:
        graph = expanded(written)
        if wrong := check_bonds(graph):
            context.broken.update(written.items)
            context.add_errors(wrong)
            return None
        elements = [item.name for item in written.items.values() if item.kind not in JUNCTIONS]
        more = with_signals(context, written, read_elements(context, details, elements, "the bond graph"))
        graph = replace(graph, items={name: _settled(context, item, more) for name, item in graph.items.items()})
        domains = Domains(context, graph)
        domains.find()
        emit_elements(context, graph, domains, more, node)
    except TellegenError:
        context.broken.update(written.items)  # so that the experiment does not call them unknown
        raise
    return written


def _settled(context: Context, item: Item, more: Details) -> Item:
    """A port of an IC field becomes the storage that it is: `ports` says I or C for each."""
    if item.kind != "IC":
        return item
    given = more[item.origin].get(PORTS) if item.origin in more else None
    words = [] if given is None else context.texts(given, f"the ports of {item.origin}")
    if len(words) != item.size:
        what = f"'IC:{item.origin}' has {item.size} ports, and {len(words)} of them are said to be I or C"
        fix = f"write 'ports: [{', '.join(['I', 'C', 'C', 'C'][: max(item.size, 2)])}]' under 'elements'"
        raise rules.WRONG_SIZE.error(what, where=item.origin, fix=fix, place=item.place)
    word = words[max(item.part, 1) - 1]
    if word.text not in ("I", "C"):
        fix = did_you_mean(word.text, ("I", "C")) or "write I or C"
        raise context.error(rules.UNKNOWN_ITEM_KIND, word, f"'{word.text}' is no kind of storage", fix=fix)
    return replace(item, kind="I" if word.text == "I" else "C")
