"""From a causal graph to its POG: by way of the bond graph and its strokes, or port by port where there are none."""

from collections.abc import Sequence
from dataclasses import replace

from tellegen.causality import CausalGraph
from tellegen.core.errors import GraphError
from tellegen.schemes.bond_graph_scheme import Bond, BondGraphScheme
from tellegen.schemes.flow import Flow, joint
from tellegen.schemes.ladders import LadderBuilder
from tellegen.schemes.pog_scheme import Ladder, PogScheme, Section
from tellegen.schemes.port_scheme import port_scheme
from tellegen.schemes.raising import bond_graph
from tellegen.schemes.trees import parts
from tellegen.schemes.vector import vector_block


def pog(
    causal: CausalGraph, *, derivative: bool = False, vectorial: bool = False, earlier: Sequence[Sequence[str]] = ()
) -> PogScheme:
    """The POG of a causal graph: ladders for chained and tree-like models, one vector block for all others.

    A model with dependent storages is one vector block too, because a POG has integral causality; with `derivative`, such storages
    are derivative blocks of a ladder instead. `vectorial` asks for the vector block in any case. `earlier` are the elements along
    the ladders of a scheme drawn before, the main ladder first: what is still there keeps its order and its ladder.
    """
    try:
        graph = bond_graph(causal)
    except (
        GraphError
    ):  # no strokes, or an element with both ends at one node: the equations between ports exist all the same
        scheme = port_scheme(causal)
        return replace(scheme, vector=vector_block(scheme))
    flow = Flow(graph)
    found = parts(graph, earlier)
    laddered = not vectorial and (derivative or not causal.dependent) and all(part.is_tree() for part in found)
    if laddered:
        builder = LadderBuilder(graph, flow)
        ladders = tuple(builder.ladder_of(part) for part in found)
        return _scheme(graph, flow, ladders, builder.sections)
    scheme = _scheme(graph, _flat(graph, flow), (), _flat_sections(graph))
    return replace(scheme, vector=vector_block(scheme))


def _scheme(graph: BondGraphScheme, flow: Flow, ladders: tuple[Ladder, ...], sections: dict[str, Section]) -> PogScheme:
    states = tuple(name for name, item in graph.one_ports.items() if item.causality == "integral")
    return PogScheme(
        graph.name,
        ladders,
        sections,
        flow.blocks,
        flow.summations,
        states,
        flow.inputs(),
        flow.outputs(),
        graph,
        graph.causal,
        graph.one_ports,
        frozenset(junction.variable for junction in graph.junctions.values()),
    )


def _flat(graph: BondGraphScheme, flow: Flow) -> Flow:
    """Blocks and summations without an order of columns: one summation a junction."""
    for item in graph.one_ports.values():
        flow.one_port(item)
    for two_port in graph.two_ports.values():
        flow.two_port(two_port)
    for name, junction in graph.junctions.items():
        flow.sum([joint(bond, name, junction.shares) for bond in graph.bonds_of(name)])
    return flow


def _flat_sections(graph: BondGraphScheme) -> dict[str, Section]:
    """One section a bond between junctions, two-ports and sources; left and right are tail and head."""
    sources = {item.name for item in graph.sources()}
    leaves = set(graph.one_ports) - sources
    bonds = [bond for bond in graph.bonds if not {bond.tail, bond.head} & leaves]
    return {str(k): _flat_section(str(k), bond, sources) for k, bond in enumerate(bonds, 1)}


def _flat_section(name: str, bond: Bond, sources: set[str]) -> Section:
    left, right = ("" if end in sources else end for end in (bond.tail, bond.head))
    return Section(name, left, right, bond.domain, bond.across, bond.through, "right", bond.receives(bond.head))
