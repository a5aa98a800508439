"""What stands behind a scheme after causes have changed: elements, sources, causal graph, bond graph."""

from collections.abc import Collection, Mapping
from dataclasses import replace

from tellegen.causality import CausalGraph
from tellegen.causality.causal_graph import Dependence
from tellegen.core.domains import DOMAINS, Side, other_side
from tellegen.core.errors import GraphError
from tellegen.expressions import ZERO
from tellegen.graph import Port, SourceLaw
from tellegen.schemes.bond_graph_scheme import Bond, BondEnd, BondGraphScheme, OnePort
from tellegen.schemes.finishing import one_port_kind, one_port_letters
from tellegen.schemes.gains import dependent_gains
from tellegen.schemes.pog_scheme import PogScheme, Section
from tellegen.schemes.raising import bond_graph


def with_causes(scheme: PogScheme, turned: Collection[str]) -> PogScheme:
    """The scheme with the decisions of some elements turned; its blocks, summations and sections are turned already."""
    opposite = _told_the_other_way(scheme)
    elements = {
        name: _turned(item, opposite=name in opposite) if name in turned else item
        for name, item in scheme.elements.items()
    }
    states = tuple(name for name, item in elements.items() if item.causality == "integral")
    result = replace(scheme, elements=elements, states=states)
    causal = _causal(scheme.causal, scheme.elements, elements)
    result = replace(result, causal=causal)
    result = replace(result, causal=replace(causal, dependent=_dependences(result)))
    if result.bond_graph is None:
        return result
    if not result.ladders:  # in a mesh the sections between junctions do not tell which strokes change
        return replace(result, bond_graph=_raised(result.causal))
    sections = {frozenset((s.left, s.right)): s for s in result.sections.values()}
    bonds = tuple(_bond(bond, elements, sections) for bond in result.bond_graph.bonds)
    return replace(result, bond_graph=replace(result.bond_graph, one_ports=elements, bonds=bonds, causal=result.causal))


def _raised(causal: CausalGraph) -> BondGraphScheme | None:
    try:
        return bond_graph(causal)
    except GraphError:
        return None


def _told_the_other_way(scheme: PogScheme) -> set[str]:
    """The sources to which the scheme brings a variable that counts against the direction of their ports."""

    def way(variable: str) -> int:
        return -1 if variable in scheme.turned else 1

    pairs = zip(scheme.sources(), scheme.inputs, scheme.outputs, strict=True)
    return {source.name for source, name, output in pairs if output.sign * way(name) * way(output.signal) > 0}


def _turned(item: OnePort, *, opposite: bool) -> OnePort:
    """The element with the other variable decided; a source takes over the direction of the variable that it was told."""
    decides = other_side(item.decides)
    if not isinstance(item.port.law, SourceLaw):
        return replace(item, decides=decides)
    port = replace(item.port, law=SourceLaw(decides, item.port.variable(decides)))
    if opposite:
        port = replace(port, plus=port.minus, minus=port.plus)
    kind = one_port_kind(port)
    return replace(item, port=port, decides=decides, kind=kind, letters=one_port_letters(port, kind, moving=False))


def _causal(causal: CausalGraph, before: Mapping[str, OnePort], after: Mapping[str, OnePort]) -> CausalGraph:
    now: dict[int, OnePort] = {id(item.port): after[name] for name, item in before.items()}
    ports: list[Port] = []
    decides: list[Side] = []
    for k, port in enumerate(causal.graph.ports):
        item = now.get(id(port))
        ports.append(port if item is None else item.port)
        decides.append(causal.decides[k] if item is None else item.decides)
    return replace(causal, graph=replace(causal.graph, ports=tuple(ports)), decides=tuple(decides), paths=())


def _dependences(scheme: PogScheme) -> tuple[Dependence, ...]:
    """The storages in derivative causality, each with the ports that decide its output."""
    at = {id(port): k for k, port in enumerate(scheme.causal.graph.ports)}

    def place(name: str) -> int:
        return at[id(scheme.elements[name].port)]

    blocks, T, T_u = dependent_gains(scheme)
    sources = [item.name for item in scheme.sources()]
    found = []
    for block, row, row_u in zip(blocks, T, T_u, strict=True):
        on = [place(name) for name, e in zip(scheme.states, row, strict=True) if e is not ZERO]
        on += [place(name) for name, e in zip(sources, row_u, strict=True) if e is not ZERO]
        found.append(Dependence(place(block.name), tuple(on)))
    return tuple(sorted(found, key=lambda dependence: dependence.port))


def _bond(bond: Bond, elements: Mapping[str, OnePort], sections: Mapping[frozenset[str], Section]) -> Bond:
    effort = DOMAINS[bond.domain].effort
    leaf = next((end for end in (bond.tail, bond.head) if end in elements), "")
    if leaf:
        receiver = bond.other(leaf) if elements[leaf].decides == effort else leaf
    else:
        section = sections[frozenset((bond.tail, bond.head))]
        receiver = section.right if section.rightward == effort else section.left
    stroke: BondEnd = "tail" if receiver == bond.tail else "head"
    return replace(bond, stroke=stroke)
