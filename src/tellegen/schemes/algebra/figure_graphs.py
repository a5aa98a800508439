"""Power graphs rewritten for figures: dependent storages of a mesh as one field, and a star of like branches as lanes.

The storages that others depend on keep their nodes. What lies behind these nodes (dependent storages, rigid connections, dampers)
acts on them as an energy matrix, a resistive matrix and a connection to the sources there. The graph made so has integral
causality, and its figure shows lanes as those of any other graph. It is made for figures: what is measured behind the nodes is not
in it.

The connection has ones only: its vector of across variables is the one of the node, over and over, and the through variables of
the branches add up at the node. The graph means the same with it.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import final

from tellegen.expressions import ONE, ZERO, is_zero
from tellegen.graph import Branch, Coupling, Field, Node, Port, PowerGraph, ResistiveLaw, SourceLaw, StorageLaw
from tellegen.schemes.gains import path_gains, signal_gains
from tellegen.schemes.names import UniqueNames
from tellegen.schemes.pog_scheme import Matrix, PogScheme


def collapsed_graph(scheme: PogScheme) -> PowerGraph | None:
    """The graph with one field for what moves together; None where the model has another shape.

    Each storage that others depend on lies between a node of its own and the reference; nothing but linear resistive elements,
    connections and sources of through variables lies behind, and no ratio moves.
    """
    part = _part(scheme)
    if part is None or scheme.vector is None:
        return None
    states = [scheme.causal.integral.index(k) for k in part.independent]
    rest = [k for k in range(len(scheme.states)) if k not in states]
    L, N = scheme.vector.L, scheme.vector.N
    # A ratio that moves has no constant field to show; one that ties other storages too has no field of its own.
    if any(not is_zero(e) for row in N for e in row) or any(not is_zero(L[i][j]) for i in states for j in rest):
        return None
    ratios = _ratios(scheme, part, states)
    if ratios is None:
        return None
    # Only what lies behind the nodes dissipates here: everything else is silenced for the question.
    A = path_gains(_alone(scheme, part)).A
    return _made(scheme.causal.graph, part, _taken(L, states), _taken(A, states), ratios)


@final
@dataclass(frozen=True)
class _Part:
    """Ports and couplings that become a field: the storages that stay, what moves with them, and sources behind."""

    independent: tuple[int, ...]
    dependent: tuple[int, ...]
    static: tuple[int, ...]
    sources: tuple[int, ...]
    couplings: tuple[int, ...]


def _part(scheme: PogScheme) -> _Part | None:
    causal = scheme.causal
    graph = causal.graph
    independent = tuple(sorted({k for dependence in causal.dependent for k in dependence.on}))
    kept = {graph.ports[k].plus for k in independent}
    held = [graph.ports[k] for k in (*independent, *causal.derivative)]
    # Storages that follow sources or the structure alone leave no storage at which a field could stand.
    # A field that changes with a mode, or two storages at one node, would need another figure in each mode.
    if (
        not independent
        or graph.switching
        or len(kept) < len(independent)
        or any(not isinstance(p.law, StorageLaw) or p.law.inertia is None for p in held)
    ):
        return None
    if not all(_is_grounded(graph.ports[k], graph) and causal.decides[k] == "across" for k in independent):
        return None
    behind = _nodes_behind(graph, (graph.ports[k] for k in causal.derivative), kept)
    inside = [k for k, p in enumerate(graph.ports) if {p.plus, p.minus} & behind]
    # Dampers to the reference at the kept nodes belong to the field as well: they act on the same speeds.
    inside += [k for k in graph.resistive() if k not in inside and graph.ports[k].plus in kept and _is_plain(k, graph)]
    couplings = tuple(n for n, c in enumerate(graph.couplings) if c.nodes & behind)
    outer = {node for n in couplings for node in graph.couplings[n].nodes} - behind - kept
    found = {
        kind: tuple(k for k in inside if isinstance(graph.ports[k].law, kind)) for kind in (ResistiveLaw, SourceLaw)
    }
    storages = {k for k in inside if isinstance(graph.ports[k].law, StorageLaw)}
    # What hangs on other nodes of the model would lose its neighbour.
    if any(not graph.nodes[n].reference for n in outer) or storages != set(causal.derivative):
        return None
    static, sources = found[ResistiveLaw], found[SourceLaw]
    if any({*field.ports} & {*inside, *independent} for field in graph.fields):
        return None
    if not all(_is_linear(graph.ports[k]) for k in static) or len(static) + len(couplings) < len(independent):
        return None
    if not all(_has_reference(graph.ports[k], graph) and causal.decides[k] == "through" for k in sources):
        return None
    return _Part(independent, tuple(causal.derivative), static, sources, couplings)


def _is_linear(port: Port) -> bool:
    return isinstance(port.law, ResistiveLaw) and port.law.coefficient is not None


def _is_grounded(port: Port, graph: PowerGraph) -> bool:
    return graph.nodes[port.minus].reference and not graph.nodes[port.plus].reference


def _has_reference(port: Port, graph: PowerGraph) -> bool:
    return graph.nodes[port.minus].reference != graph.nodes[port.plus].reference


def _is_plain(k: int, graph: PowerGraph) -> bool:
    return _is_linear(graph.ports[k]) and graph.nodes[graph.ports[k].minus].reference


def _nodes_behind(graph: PowerGraph, ports: Iterable[Port], kept: set[int]) -> set[int]:
    """The nodes that hang together with some ports, but for references and the nodes that are kept."""

    def free(nodes: Iterable[int]) -> set[int]:
        return {n for n in nodes if not graph.nodes[n].reference and n not in kept}

    groups = [{p.plus, p.minus} for p in graph.ports] + [c.nodes for c in graph.couplings]
    found = free(node for port in ports for node in (port.plus, port.minus))
    grown = True
    # A fixed point over the elements: nodes that hang together are found without building a graph for it.
    while grown:
        more = set().union(*(free(group) for group in groups if group & found))
        grown = not more <= found
        found |= more
    return found


def _alone(scheme: PogScheme, part: _Part) -> PogScheme:
    """The scheme with every other static element silent."""
    inside = {id(scheme.causal.graph.ports[k]) for k in part.static}
    blocks = {}
    for name, block in scheme.blocks.items():
        silent = block.kind == "static" and id(scheme.elements[name].port) not in inside
        # Silenced and not removed: paths through connections stay as they are.
        blocks[name] = replace(block, gain=ZERO, terms=()) if silent else block
    return replace(scheme, blocks=blocks)


def _ratios(scheme: PogScheme, part: _Part, states: list[int]) -> Matrix | None:
    """What the sources behind are told, by the storages that stay; None where anything else counts."""
    order = [id(item.port) for item in scheme.sources()]
    ends = [scheme.outputs[order.index(id(scheme.causal.graph.ports[k]))] for k in part.sources]
    gains = signal_gains(scheme, [end.signal for end in ends])
    names = [scheme.blocks[scheme.states[k]].output for k in states]
    if any(not is_zero(e) for end in ends for name, e in gains[end.signal].items() if name not in names):
        return None
    return tuple(tuple(-end.sign * gains[end.signal].get(n, ZERO) for n in names) for end in ends)


def _taken(matrix: Matrix, rows: list[int]) -> Matrix:
    return tuple(tuple(matrix[i][j] for j in rows) for i in rows)


def _made(graph: PowerGraph, part: _Part, L: Matrix, A: Matrix, ratios: Matrix) -> PowerGraph:
    ports = graph.ports
    gone = {*part.independent, *part.dependent, *part.static, *part.sources}
    held = [ports[k] for k in part.independent]
    # Whoever looks for an element finds it at the block that stands for it.
    # Several names in one, since a click on the field should find each element that it stands for.
    moved = [" ".join((held[0].element, *(ports[k].element for k in part.dependent))), *(p.element for p in held[1:])]
    static = [ports[k].element for k in part.static] + [graph.couplings[n].element for n in part.couplings]
    n = len(held)
    stored = [replace(p, element=moved[i], law=StorageLaw("across", L[i][i])) for i, p in enumerate(held)]
    # The resistive part is spread over the members, with its matrix as a field of its own.
    taking = [
        Port(
            " ".join(static[i::n]),
            p.domain,
            p.plus,
            p.minus,
            ResistiveLaw("through", A[i][i], coupled=n > 1),
            f"{p.across}_taken",
            through=f"{p.through}_taken",
        )
        for i, p in enumerate(held)
    ]
    others = [k for k in range(len(ports)) if k not in gone]
    at = {k: i for i, k in enumerate(others)}
    made = [*(ports[k] for k in others), *stored, *taking, *(ports[k] for k in part.sources)]
    fields = [replace(f, ports=tuple(at[k] for k in f.ports)) for f in graph.fields]
    if n > 1:
        base = len(others)
        fields.append(Field("stored", tuple(range(base, base + n)), L))
        fields.append(Field("taken", tuple(range(base + n, base + 2 * n)), A))
    couplings = [c for k, c in enumerate(graph.couplings) if k not in part.couplings]
    if part.sources:
        couplings.append(_connection(held, [ports[k] for k in part.sources], ratios))
    return _renumbered(replace(graph, ports=tuple(made), fields=tuple(fields), couplings=tuple(couplings)))


def _connection(held: Iterable[Port], sources: Iterable[Port], ratios: Matrix) -> Coupling:
    sides = [tuple(Branch(p.plus, p.minus, p.domain, "across") for p in side) for side in (held, sources)]
    return Coupling("ratios", sides[0], sides[1], ratios)


def _renumbered(graph: PowerGraph) -> PowerGraph:
    used = {n for p in graph.ports for n in (p.plus, p.minus)}.union(*(c.nodes for c in graph.couplings))
    # Nodes of what is gone would show as open ends.
    at: Mapping[int, int] = {n: k for k, n in enumerate(sorted(used))}

    couplings = tuple(c.with_nodes(at) for c in graph.couplings)
    ports = tuple(replace(p, plus=at[p.plus], minus=at[p.minus]) for p in graph.ports)
    return replace(graph, nodes=tuple(graph.nodes[n] for n in at), ports=ports, couplings=couplings)


FEWEST_BRANCHES = 4
"""So many like branches are drawn as one vector."""


def star_graph(graph: PowerGraph) -> PowerGraph | None:
    """The graph with a connection before the branches of its first star; None where it has no star."""
    network = _Network(graph)
    for node in range(len(graph.nodes)):
        alike = network.like_branches(node)
        if len(alike) >= FEWEST_BRANCHES:
            return _connected(graph, node, alike)
    return None


@final
class _Network:
    """The ports at each node, and the branches that begin there."""

    def __init__(self, graph: PowerGraph) -> None:
        self.graph = graph
        self.at: dict[int, list[int]] = {}
        for k, port in enumerate(graph.ports):
            for node in (port.plus, port.minus):
                self.at.setdefault(node, []).append(k)
        self.coupled: dict[int, list[int]] = {}
        for k, coupling in enumerate(graph.couplings):
            for branch in (*coupling.side_1, *coupling.side_2):
                for node in (branch.plus, branch.minus):
                    self.coupled.setdefault(node, []).append(k)
        self.in_fields = {k for field in graph.fields for k in field.ports}

    def like_branches(self, node: int) -> list[int]:
        """The first ports of the branches at a node that are the most alike."""
        found: dict[object, list[int]] = {}
        if not self.graph.nodes[node].reference:
            for k in self._ahead(node):
                shape = self._shape(node, k)
                if shape is not None:
                    found.setdefault(shape, []).append(k)
        return max(found.values(), key=len, default=[])

    def _ahead(self, node: int) -> Iterator[int]:
        """The ports between a node and others that are no reference."""
        return (k for k in self.at.get(node, ()) if not self.graph.nodes[self._other(node, k)].reference)

    def _other(self, node: int, k: int) -> int:
        port = self.graph.ports[k]
        return port.minus if port.plus == node else port.plus

    def _shape(self, node: int, k: int) -> tuple[object, ...] | None:
        """The kinds of elements along a branch that is a chain to its end; None for any other."""
        shape: list[object] = []
        seen, through, passed = {node}, {k}, set[int]()
        node = self._other(node, k)
        # Followed to its end, node by node: only whole branches of the same shape can be lanes.
        while node not in seen and not self._is_special(through):
            seen.add(node)
            shape += sorted(map(self._kind, through))
            mine = [n for n in self.at.get(node, ()) if n not in through]
            ahead = [n for n in self._ahead(node) if n in mine]
            couplings = [c for c in self.coupled.get(node, ()) if c not in passed]
            beside = [n for n in mine if n not in ahead]
            # A fork, a source or a field on the way makes the branch one of a kind.
            if self._is_special(beside) or len(ahead) + len(couplings) > 1:
                return None
            shape += sorted(map(self._kind, beside))
            if not ahead and not couplings:
                return tuple(shape)
            through, passed = {*ahead}, {*couplings}
            behind = self._passed(node, couplings[0]) if couplings else self._other(node, ahead[0])
            if behind is None:
                return None
            shape += [self.graph.couplings[c].side_2[0].domain for c in couplings]
            node = behind
        return None

    def _passed(self, node: int, k: int) -> int | None:
        """The node at the other side of a connection between two nodes and their references; None for any other."""
        coupling = self.graph.couplings[k]
        if len(coupling.side_1) > 1 or len(coupling.side_2) > 1:
            return None
        ends = [n for n in coupling.nodes - {node} if not self.graph.nodes[n].reference]
        return ends.pop() if len(ends) == 1 else None

    def _is_special(self, ports: Iterable[int]) -> bool:
        """Whether some of the ports are sources, or belong to fields: they make no lanes of a star."""
        return any(k in self.in_fields or isinstance(self.graph.ports[k].law, SourceLaw) for k in ports)

    def _kind(self, k: int) -> tuple[str, str, str]:
        port = self.graph.ports[k]
        return port.domain, type(port.law).__name__, port.law.side


def _connected(graph: PowerGraph, node: int, branches: list[int]) -> PowerGraph | None:
    """The graph with a node more for each branch, and the connection between them and the node."""
    here = graph.nodes[node]
    reference = next(
        (n for n, other in enumerate(graph.nodes) if other.reference and other.domain == here.domain), None
    )
    if reference is None:
        return None
    names = UniqueNames([*(other.name for other in graph.nodes), *(port.element for port in graph.ports)])
    begins = {k: len(graph.nodes) + j for j, k in enumerate(branches)}
    nodes = [Node(names.take(f"{here.name}_{j}"), here.domain, False) for j in range(1, len(branches) + 1)]
    star = Coupling(
        names.take("star"),
        (Branch(node, reference, here.domain, "across"),),
        tuple(Branch(end, reference, here.domain, "across") for end in begins.values()),
        tuple((ONE,) for _ in branches),
    )
    return replace(
        graph,
        nodes=(*graph.nodes, *nodes),
        ports=tuple(_moved(port, node, begins, k) for k, port in enumerate(graph.ports)),
        couplings=(*graph.couplings, star),
    )


def _moved(port: Port, node: int, begins: Mapping[int, int], k: int) -> Port:
    """A port, at the node of its own where it begins a branch."""
    if k not in begins:
        return port
    return replace(port, plus=begins[k]) if port.plus == node else replace(port, minus=begins[k])
