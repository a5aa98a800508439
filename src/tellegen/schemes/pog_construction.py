"""From a causal graph to its POG: by way of the bond graph and its strokes, or port by port where there are none.

This needs no junctions and no strokes, so every model with a causality has it. The gains form a skew matrix: the connection part of
the vectorial scheme.
"""

from collections.abc import Sequence
from dataclasses import replace

from tellegen.causality import CausalGraph
from tellegen.core.domains import DOMAINS, Side, other_side
from tellegen.core.errors import GraphError
from tellegen.expressions import ONE, Expression
from tellegen.expressions.elimination import Elimination, NamedEntries, with_definitions
from tellegen.graph import ResistiveLaw, SourceLaw, StorageLaw
from tellegen.graph.interconnection import Interconnection, column
from tellegen.model.bond_graph import PowerBond
from tellegen.schemes.bond_graph_construction import bond_graph
from tellegen.schemes.bond_graph_scheme import BondGraphScheme, OnePort, connected_parts
from tellegen.schemes.gains import vector_block
from tellegen.schemes.ladders import (
    LadderBuilder,
    SignalFlow,
    decided_by_told,
    energy_name,
    finished_block,
    junction_bond,
    resistive_gain,
    storage_gain,
)
from tellegen.schemes.names import UniqueNames, plain_name
from tellegen.schemes.pog_scheme import Block, Ladder, Output, PogScheme, Section, Summation


def port_scheme(causal: CausalGraph) -> PogScheme:
    """The scheme of a causal graph without ladders."""
    return _PortScheme(causal).scheme()


def port_gains(causal: CausalGraph) -> dict[int, dict[int, Expression]]:
    """What each port is told, as gains of what the ports decide: the rows of a skew matrix."""
    graph = causal.graph
    field = NamedEntries(graph.parameters, [name for p in graph.ports for name in (p.across, p.through)])
    interconnection = Interconnection(graph)
    elimination = Elimination(interconnection.rows(field.entry), field)
    told = {column(k, causal.follows(k)): k for k in range(len(graph.ports))}
    elimination.eliminate_all(interconnection.internal)
    left = elimination.eliminate_all(told)
    assert not left, "causality has shown that every told variable is determined"
    found = elimination.express(told)
    return {
        k: {c // 2: with_definitions(e.expression, field.where) for c, e in found[at].items()} for at, k in told.items()
    }


class _PortScheme:
    """Collects blocks and summations port by port."""

    def __init__(self, causal: CausalGraph) -> None:
        self.causal = causal
        self.graph = causal.graph
        names, fields = UniqueNames(), {k: field.element for field in self.graph.fields for k in field.ports}
        self.items = [
            OnePort(names.take(plain_name(p.element)), p, causal.decides[k], field=fields.get(k, ""))
            for k, p in enumerate(self.graph.ports)
        ]
        self.names = names
        self.signals = UniqueNames(
            [*self.graph.parameters, *(n for p in self.graph.ports for n in (p.across, p.through))]
        )
        self.units = {
            p.variable(side): DOMAINS[p.domain].power(side).unit
            for p in self.graph.ports
            for side in ("across", "through")
        }
        self.blocks: dict[str, Block] = {}
        self.summations: dict[str, Summation] = {}

    def scheme(self) -> PogScheme:
        rows = {
            k: row
            for field in self.graph.fields
            if isinstance(self.graph.ports[field.ports[0]].law, ResistiveLaw) and not field.by_laws
            for k, row in zip(
                field.ports, self._field_rows(field.ports, decided_by_told(field, self.causal)), strict=True
            )
        }
        for k, item in enumerate(self.items):
            self._element(k, item, rows.get(k))
        for k, gains in port_gains(self.causal).items():
            self._told(k, gains)
        sources = [item for item in self.items if isinstance(item.port.law, SourceLaw)]
        return PogScheme(
            self.graph.name,
            (),
            {str(k): self._section(str(k), item) for k, item in enumerate(sources, 1)},
            self.blocks,
            self.summations,
            tuple(self.items[k].name for k in self.causal.integral),
            tuple(item.port.variable(item.decides) for item in sources),
            tuple(Output(item.port.variable(other_side(item.decides)), -1) for item in sources),
            None,
            self.causal,
            {item.name: item for item in self.items},
        )

    def _signal(self, k: int, *, decided: bool) -> str:
        side: Side = self.causal.decides[k] if decided else self.causal.follows(k)
        return self.graph.ports[k].variable(side)

    def _field_rows(
        self, ports: tuple[int, ...], matrix: tuple[tuple[Expression, ...], ...]
    ) -> list[tuple[Expression, tuple[tuple[str, Expression], ...]]]:
        told = [self._signal(k, decided=False) for k in ports]
        return [
            (row[i], tuple((told[j], gain) for j, gain in enumerate(row) if j != i)) for i, row in enumerate(matrix)
        ]

    def _element(
        self, k: int, item: OnePort, row: tuple[Expression, tuple[tuple[str, Expression], ...]] | None
    ) -> None:
        law = item.port.law
        told, given = self._signal(k, decided=False), self._signal(k, decided=True)
        if isinstance(law, ResistiveLaw):
            gain, terms = row if row is not None else (resistive_gain(item), ())
            block = Block(item.name, "static", told, given, gain, False, item.name, law=law, terms=terms)
        elif isinstance(law, StorageLaw):
            integral = item.causality == "integral"
            own = None if item.field else storage_gain(law, integral)
            kind = "storage" if integral else "derivative"
            block = Block(item.name, kind, told, given, own, integral, item.name, energy_name(item, law), law)  # type: ignore[arg-type]
        else:
            return
        self.blocks[item.name] = finished_block(block, item, self.units)

    def _told(self, k: int, gains: dict[int, Expression]) -> None:
        """The summation of what a port is told, with a connection block for each gain that is not one."""
        inputs = []
        for j, gain in gains.items():
            decided = self._signal(j, decided=True)
            if gain is ONE or gain is -ONE:
                inputs.append((decided, 1 if gain is ONE else -1))
                continue
            name = self.names.take(f"{self.items[k].name}_by_{self.items[j].name}")
            signal = self.signals.take(f"{self._signal(k, decided=False)}_{self.items[j].name}")
            self.units[signal] = self.units[self._signal(k, decided=False)]
            self.blocks[name] = finished_block(
                Block(name, "connection", decided, signal, gain, False, name), None, self.units
            )
            inputs.append((signal, 1))
        output = self._signal(k, decided=False)
        self.summations[output] = Summation(output, tuple(inputs))

    def _section(self, name: str, item: OnePort) -> Section:
        port = item.port
        return Section(name, "", item.name, port.domain, port.across, port.through, "left", item.decides)


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
    flow = SignalFlow(graph)
    found = connected_parts(graph, earlier)
    laddered = not vectorial and (derivative or not causal.dependent) and all(part.is_tree() for part in found)
    if laddered:
        builder = LadderBuilder(graph, flow)
        ladders = tuple(builder.ladder_of(part) for part in found)
        return _scheme(graph, flow, ladders, builder.sections)
    scheme = _scheme(graph, _flat(graph, flow), (), _flat_sections(graph))
    return replace(scheme, vector=vector_block(scheme))


def _scheme(
    graph: BondGraphScheme, flow: SignalFlow, ladders: tuple[Ladder, ...], sections: dict[str, Section]
) -> PogScheme:
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


def _flat(graph: BondGraphScheme, flow: SignalFlow) -> SignalFlow:
    """Blocks and summations without an order of columns: one summation a junction."""
    for item in graph.one_ports.values():
        flow.one_port(item)
    for two_port in graph.two_ports.values():
        flow.two_port(two_port)
    for name, junction in graph.junctions.items():
        flow.sum([junction_bond(bond, name, junction.shares) for bond in graph.bonds_of(name)])
    return flow


def _flat_sections(graph: BondGraphScheme) -> dict[str, Section]:
    """One section a bond between junctions, two-ports and sources; left and right are tail and head."""
    sources = {item.name for item in graph.sources()}
    leaves = set(graph.one_ports) - sources
    bonds = [bond for bond in graph.bonds if not {bond.tail, bond.head} & leaves]
    return {str(k): _flat_section(str(k), bond, sources) for k, bond in enumerate(bonds, 1)}


def _flat_section(name: str, bond: PowerBond, sources: set[str]) -> Section:
    left, right = ("" if end in sources else end for end in (bond.tail, bond.head))
    return Section(name, left, right, bond.domain, bond.across, bond.through, "right", bond.receives(bond.head))
