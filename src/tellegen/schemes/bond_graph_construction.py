"""From a causal graph to its bond graph, one junction for each node and for each element between nodes; vector bonds where
asked for.

A node that is no reference becomes the junction that shares its across variable; an element between two nodes stands at a junction
that shares its through variable, with a bond from the first node and one to the second. References are junctions of a zero
variable. Rules then simplify what an engineer would not draw.
"""

from dataclasses import replace

from tellegen.causality import CausalGraph
from tellegen.core.domains import DOMAINS, Side, other_side
from tellegen.core.errors import TellegenError
from tellegen.expressions import ONE, ZERO, Expression, split_coefficient
from tellegen.graph import Branch, Coupling, Port, PowerGraph, ResistiveLaw, SourceLaw, StorageLaw
from tellegen.graph.signal_lowering import taken_names
from tellegen.model.bond_graph import BondItem, PowerBond
from tellegen.schemes import bond_graph_scheme, rules
from tellegen.schemes.bond_graph_draft import Draft, DraftItem, Key, simplify
from tellegen.schemes.names import UniqueNames, plain_name
from tellegen.schemes.strokes import with_strokes
from tellegen.schemes.vector_folding import LaneChoice, fold_vectors


def bond_graph(
    causal: CausalGraph,
    *,
    simplified: bool = True,
    merge_two_ports: bool = False,
    vectors: bool = False,
    lanes: LaneChoice = "given",
) -> bond_graph_scheme.BondGraphScheme:
    """The bond graph of a causal graph, with strokes and variables.

    `merge_two_ports` joins neighbouring TF and GY into one. With `vectors`, fields and connections with a matrix are one item each,
    and bonds that run side by side between such items are vector bonds. Without, all bonds are scalar: a coupling with a matrix
    becomes a two-port for each entry, and the one-ports of a field name it. A coupling whose matrix mixes efforts and flows is
    written entry by entry in any case. `lanes` says what else runs side by side for figures.

    Raises: GraphError for shorted elements, and for junctions that admit no strokes.
    """
    graph = causal.graph
    _refuse_shorted(graph)
    draft = _draft(graph, whole=vectors)
    simplify(draft, graph, everything=simplified, merge_two_ports=merge_two_ports)
    scheme = _Finisher(draft, causal).scheme()
    return fold_vectors(scheme, lanes) if vectors else scheme


def _two_port_modulus(one: Branch, two: Branch, K: Expression) -> tuple[bond_graph_scheme.TwoPortKind, Expression]:
    """TF or GY, and its modulus along the half arrows, where z_2 = K z_1."""
    # A relation between two flows, or two efforts, is a transformer; between a flow and an effort it is a gyrator.
    flow_1, flow_2 = _is_flow(one), _is_flow(two)
    kind: bond_graph_scheme.TwoPortKind = "TF" if flow_1 == flow_2 else "GY"
    # Bond graphs write f_2 = m f_1 (TF) and e_2 = r f_1 (GY): a relation that starts from an effort is turned round.
    return kind, K if flow_1 else ONE / K


def _is_flow(branch: Branch) -> bool:
    side: Side = branch.side
    return DOMAINS[branch.domain].flow == side


def _refuse_shorted(graph: PowerGraph) -> None:
    ends = [(p.element, p.plus, p.minus, p.place) for p in graph.ports]
    ends += [(c.element, b.plus, b.minus, c.place) for c in graph.couplings for b in (*c.side_1, *c.side_2)]
    windings = {graph.ports[k].element for field in graph.fields for k in field.ports}
    for name, plus, minus, place in ends:
        # A bond from a junction to itself would be drawn and carry nothing: the user most likely mistyped a node.
        if plus == minus:
            what = f"both ends of '{name}' are at node '{graph.nodes[plus].name}'"
            fix = "make it a ladder, which has a place for it" if name in windings else f"remove '{name}'"
            raise rules.SHORTED_ELEMENT.error(what, where=name, fix=fix, place=place)


def _draft(graph: PowerGraph, *, whole: bool) -> Draft:
    draft = Draft()
    for k, node in enumerate(graph.nodes):
        # References are junctions too, and go by the first rule: so an element to the ground needs no case of its own.
        draft.add(DraftItem("node", k, "junction", node.domain, "across", node.reference))
    for k, port in enumerate(graph.ports):
        _draw_port(draft, k, port)
    for coupling in graph.couplings:
        if whole and (form := _matrix_form(coupling)) is not None:
            _draw_matrix(draft, coupling.element, form)
        else:
            _draw_coupling(draft, coupling)
    return draft


def _draw_port(draft: Draft, k: int, port: Port) -> None:
    path = draft.add(DraftItem("path of port", k, "junction", port.domain, "through")).key
    me = draft.add(DraftItem("port", k, "one-port", port.domain)).key
    source = isinstance(port.law, SourceLaw)
    # Half arrows point out of sources and into all others (docs/theory/bond_graphs.md): then R and C have positive parameters.
    draft.bond(me, path) if source else draft.bond(path, me)
    # Power counts out of a source, so an imposed across variable rises along the path.
    rises = source and port.law.side == "across"
    _lay(draft, path, *((port.minus, port.plus) if rises else (port.plus, port.minus)))


_MatrixForm = tuple[bond_graph_scheme.TwoPortKind, tuple[Branch, ...], tuple[Branch, ...], bond_graph_scheme.Matrix]


def _matrix_form(coupling: Coupling) -> _MatrixForm | None:
    """TF or GY with the matrix that takes the flows of the bonds in; None for scalars, and where there is no such form."""
    # A scalar coupling needs no matrix: it is a plain TF or GY.
    if len(coupling.side_1) == len(coupling.side_2) == 1:
        return None
    flows = [{_is_flow(branch) for branch in side} for side in (coupling.side_1, coupling.side_2)]
    # A two-port with a matrix has one kind on each side; a side that mixes efforts and flows is written entry by entry.
    if flows == [{True}, {True}]:
        return "TF", coupling.side_1, coupling.side_2, coupling.K
    if flows == [{True}, {False}]:
        return "GY", coupling.side_1, coupling.side_2, coupling.K
    # By K^T: the efforts of one side by those of the other is the same as the flows back, since no power is lost.
    if flows == [{False}, {False}]:  # efforts of side 2 by those of side 1: flows of side 1 by those of side 2
        return "TF", coupling.side_2, coupling.side_1, _turned(coupling)
    return None


def _turned(coupling: Coupling) -> bond_graph_scheme.Matrix:
    """The matrix from side 2 to side 1. Half arrows that run backwards turn the sign of through variables, which are the
    efforts of one reading and the flows of the other: an entry between the two readings changes its sign.
    """
    return tuple(
        tuple(coupling.K[i][j] if one.side == two.side else -coupling.K[i][j] for i, two in enumerate(coupling.side_2))
        for j, one in enumerate(coupling.side_1)
    )


def _draw_matrix(draft: Draft, element: str, form: _MatrixForm) -> None:
    """A coupling by a matrix as one two-port, with a bond for each of its branches."""
    kind, into, out, K = form
    item = draft.made("coupling", "two-port", "")
    item.kind, item.matrix, item.domains, item.origins = kind, K, (into[0].domain, out[0].domain), (element,)
    for port, branch in enumerate(into, 1):
        draft.bond(_spread(draft, branch, "through", leaves=False), item.key, 0, port)
    for port, branch in enumerate(out, 1):
        draft.bond(item.key, _spread(draft, branch, "through", leaves=True), port, 0)


def _draw_coupling(draft: Draft, coupling: Coupling) -> None:
    """A coupling by a matrix: one two-port for each entry, between junctions that share z_1 and the conjugates of z_2."""
    into = [_spread(draft, branch, branch.side, leaves=False) for branch in coupling.side_1]
    out = [_spread(draft, branch, other_side(branch.side), leaves=True) for branch in coupling.side_2]
    scalar = len(into) == len(out) == 1
    for i, (two, head) in enumerate(zip(coupling.side_2, out, strict=True)):
        for j, (one, tail) in enumerate(zip(coupling.side_1, into, strict=True)):
            # Each entry is a two-port of its own; zeros would be transformers that stop everything.
            if coupling.K[i][j] is not ZERO:
                # The index keeps apart two-ports of one matrix, and tells a reader which entry one stands for.
                origin = coupling.element if scalar else f"{coupling.element}[{i + 1},{j + 1}]"
                item = draft.made("coupling", "two-port", "")
                item.kind, item.modulus = _two_port_modulus(one, two, coupling.K[i][j])
                item.domains, item.origins = (one.domain, two.domain), (origin,)
                draft.bond(tail, item.key)
                draft.bond(item.key, head)


def _spread(draft: Draft, branch: Branch, shares: Side, *, leaves: bool) -> Key:
    """The junctions of one branch of a coupling; gives the one that shares the variable asked for."""
    path = draft.made("side", "junction", branch.domain, "through").key
    _lay(draft, path, *((branch.minus, branch.plus) if leaves else (branch.plus, branch.minus)))
    # The path itself shares the through variable; for the across variable a junction of the other kind hangs on it.
    if shares == "through":
        return path
    spot = draft.made("side", "junction", branch.domain, "across").key
    draft.bond(*((spot, path) if leaves else (path, spot)))
    return spot


def _lay(draft: Draft, path: Key, start: int, stop: int) -> None:
    draft.bond(f"node {start}", path)
    draft.bond(path, f"node {stop}")


class _Finisher:
    """Names items and variables, and finds the strokes."""

    def __init__(self, draft: Draft, causal: CausalGraph) -> None:
        self.draft = draft
        self.causal = causal
        self.graph = causal.graph
        # What reads any of these moves along a run, so its two-port or resistor is a modulated one (MTF, MGY, MR).
        variables = (name for p in self.graph.ports for name in (p.across, p.through, p.state))
        signals = (signal.name for signal in self.graph.signals)
        # What is named here is none of what the model names: a figure would say of two variables that they are one.
        self.signals = UniqueNames(taken_names(self.graph))
        self.moving = frozenset((*variables, *self.graph.position_dependent, *self.graph.displacements, *signals))
        self.names = UniqueNames()
        self.name_of: dict[Key, str] = {}
        self.variable_of: dict[Key, str] = {}

    def scheme(self) -> bond_graph_scheme.BondGraphScheme:
        items = self.draft.items.values()
        self._name_items()
        self._name_shared()
        one_ports = {self.name_of[i.key]: self._one_port(i) for i in items if i.role == "one-port"}
        two_ports = {self.name_of[i.key]: self._two_port(i) for i in items if i.role == "two-port"}
        junctions = [self._junction(i) for i in items if i.role == "junction"]
        others = [*junctions, *map(self._two_port_item, two_ports.values())]
        bonds = [self._bond(k, b) for k, b in enumerate(self._ordered_bonds(), 1)]
        graph = bond_graph_scheme.numbered_graph(others, one_ports, bonds, self.graph.bond_numbers)
        decides = {name: item.decides for name, item in one_ports.items()}
        matrices = {name: item.matrix for name, item in two_ports.items() if item.matrix}
        causal = with_strokes(graph, decides, matrices, contradictory=bool(self.causal.rigid))
        # A consistent causality of the ports does not promise strokes on every bond: loops of gyrators may have none.
        if causal is None:
            raise self._no_strokes()
        return bond_graph_scheme.BondGraphScheme(self.graph.name, causal, one_ports, two_ports, self.causal)

    def _no_strokes(self) -> TellegenError:
        names = [c.element for c in self.graph.couplings]
        return rules.NO_STROKES.error(
            f"no choice of strokes suits all junctions around {', '.join(names)}",
            where=names[0] if names else "",
            fix="look at the equations: they exist all the same",
            members=names,
        )

    # -- names -----------------------------------------------------------------------------------------------------------------

    def _name_items(self) -> None:
        items = list(self.draft.items.values())
        # One-ports take their names first: an element keeps the name that its user gave, and junctions give way.
        for item in items:
            if item.role == "one-port":
                self.name_of[item.key] = self.names.take(plain_name(self.graph.ports[item.index].element))
        for item in items:
            if item.role == "two-port":
                self.name_of[item.key] = self.names.take(plain_name("_".join(item.origins)))

    def _name_shared(self) -> None:
        """Name the shared variable of each junction after the element that decides it, and paths after their variable."""
        for item in self.draft.items.values():
            if item.role != "junction":
                continue
            self.variable_of[item.key] = self._shared_name(item)
            wanted = self.graph.nodes[item.index].name if item.origin == "node" else self.variable_of[item.key]
            self.name_of[item.key] = self.names.take(plain_name(wanted))

    def _shared_name(self, item: DraftItem) -> str:
        ports = [other.index for other in self.draft.neighbours(item) if other.role == "one-port"]
        if ports:
            # The state that decides a variable has the name under which equations and runs know it.
            best = min(ports, key=lambda k: (self._importance(k, item.shares), k))
            return self.graph.ports[best].variable(item.shares)
        symbol = DOMAINS[item.domain].power(item.shares).symbol
        if item.origin == "node":
            return self.signals.take(f"{symbol}_{plain_name(self.graph.nodes[item.index].name)}")
        if item.origin == "path of port":
            return self.signals.take(f"{symbol}_{plain_name(self.graph.ports[item.index].element)}")
        beside = [self._item_name(other) for other in self.draft.neighbours(item)]
        return self.signals.take(f"{symbol}_{'_'.join(name for name in beside if name) or 'joint'}")

    def _item_name(self, item: DraftItem) -> str:
        """The name of a node or a two-port; empty for what has none yet."""
        if item.role == "junction":
            return plain_name(self.graph.nodes[item.index].name) if item.origin == "node" else ""
        return self.name_of[item.key]

    def _importance(self, port: int, side: Side) -> int:
        """Who names a shared variable: a state that decides it, an input, what has a name of its own, a storage, any other."""
        found = self.graph.ports[port]
        law, decides = found.law, self.causal.decides[port] == side
        if decides and isinstance(law, StorageLaw | SourceLaw):
            return 0 if isinstance(law, StorageLaw) else 1
        if found.variable(side) != bond_graph_scheme.default_variable(found, found.element, side):
            return 2
        return 3 if isinstance(law, StorageLaw) else 4

    # -- bonds -----------------------------------------------------------------------------------------------------------------

    def _ordered_bonds(self) -> list[PowerBond]:
        """The bonds of one-ports in the order of description, then those of two-ports, then the others."""
        found: dict[int, PowerBond] = {}
        for role in ("one-port", "two-port", "junction"):
            for item in self.draft.items.values():
                if item.role == role:
                    # Power enters before it leaves, as one reads.
                    into_first = sorted(item.bonds.values(), key=lambda bond, key=item.key: bond.head != key)  # type: ignore[misc]
                    found.update((bond.number, bond) for bond in into_first if bond.number not in found)
        return list(found.values())

    def _bond(self, number: int, bond: PowerBond) -> PowerBond:
        tail, head = self.draft.items[bond.tail], self.draft.items[bond.head]
        domain = next(item.domain for item in (tail, head) if item.domain)
        across, through = (self._variable(tail, head, domain, side) for side in ("across", "through"))
        tail_name, head_name = self.name_of[bond.tail], self.name_of[bond.head]
        return PowerBond(
            tail_name, head_name, bond.tail_port, bond.head_port, number, domain, across=across, through=through
        )

    def _variable(self, tail: DraftItem, head: DraftItem, domain: str, side: Side) -> str:
        # A junction names the variable that it shares first: then all its bonds agree on the name.
        for item in (tail, head):
            if item.role == "junction" and item.shares == side:
                return self.variable_of[item.key]
        for item in (tail, head):
            if item.role == "one-port":
                return self.graph.ports[item.index].variable(side)
        for item in (tail, head):
            if item.role == "two-port":
                # Side 1 is where power enters a two-port, which is why the bond whose head it is has number 1.
                place = 1 if item is head else 2
                symbol = DOMAINS[domain].power(side).symbol
                given = self._given_name(item, domain, f"{side}_{place}")
                return given or self.signals.take(f"{symbol}_{self.name_of[item.key]}_{place}")
        return self.signals.take(f"{DOMAINS[domain].power(side).symbol}_{self.name_of[tail.key]}")

    def _given_name(self, item: DraftItem, domain: str, variable: str) -> str:
        """What the user calls a variable of a two-port; empty where it was turned, or joined with others."""
        made_of = [c for c in self.graph.couplings if c.element in item.origins]
        if len(item.origins) != 1 or len(made_of) != 1 or item.modulus is None:
            return ""
        (coupling,) = made_of
        # A name that the user gave holds only while the relation is the one that he wrote: same side, same sign, not
        # joined with another.
        stays = domain == (coupling.side_1 if variable.endswith("1") else coupling.side_2)[0].domain
        negative = split_coefficient(item.modulus)[0] < 0
        return coupling.names.get(variable, "") if stays and not negative else ""

    # -- items -----------------------------------------------------------------------------------------------------------------

    def _junction(self, item: DraftItem) -> BondItem:
        # In electrics a node is a 0-junction, in mechanics a node is a velocity and therefore a 1-junction: it is the
        # effort that decides.
        letters = "0" if DOMAINS[item.domain].effort == item.shares else "1"
        return BondItem(self.name_of[item.key], letters, item.domain, (self.variable_of[item.key],))

    def _one_port(self, item: DraftItem) -> bond_graph_scheme.OnePort:
        k = item.index
        port, law = self.graph.ports[k], self.graph.ports[k].law
        field = next((field.element for field in self.graph.fields if k in field.ports), "")
        found = bond_graph_scheme.OnePort(self.name_of[item.key], port, self.causal.decides[k], item.turned, field)
        # An element with modes keeps its own letters, since R or Se would hold in one mode only.
        if k in self.graph.switching:
            return replace(found, letters="Sw")
        return found.lettered(moving=isinstance(law, ResistiveLaw) and self._moves(law.coefficient))

    def _two_port(self, item: DraftItem) -> bond_graph_scheme.TwoPort:
        modulus = ONE if item.modulus is None else item.modulus
        return bond_graph_scheme.TwoPort(
            self.name_of[item.key], item.kind, modulus, item.domains, item.origins, item.matrix
        )

    def _two_port_item(self, two_port: bond_graph_scheme.TwoPort) -> BondItem:
        entries = [e for row in two_port.matrix for e in row] or [two_port.modulus]
        return BondItem(two_port.name, f"M{two_port.kind}" if any(map(self._moves, entries)) else two_port.kind)

    def _moves(self, expression: Expression | None) -> bool:
        """Whether a modulus or a value changes along a run."""
        return expression is not None and not self.moving.isdisjoint(expression.free_symbols)
