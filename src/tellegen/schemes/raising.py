"""From a causal graph to its bond graph, one junction for each node and for each element between nodes.

A node that is no reference becomes the junction that shares its across variable; an element between two nodes stands at a junction
that shares its through variable, with a bond from the first node and one to the second. References are junctions of a zero
variable. Rules then simplify what an engineer would not draw.
"""

from tellegen.causality import CausalGraph
from tellegen.core.domains import DOMAINS, Side, other_side
from tellegen.expressions import ONE, ZERO, Expression
from tellegen.graph import Branch, Coupling, Port, PowerGraph, SourceLaw
from tellegen.schemes import rules
from tellegen.schemes.bond_graph_scheme import BondGraphScheme, TwoPortKind
from tellegen.schemes.draft import Draft, DraftItem, Key, Matrix
from tellegen.schemes.finishing import finished
from tellegen.schemes.folding import folded
from tellegen.schemes.simplification import simplify


def bond_graph(
    causal: CausalGraph, *, simplified: bool = True, merge_two_ports: bool = False, vectors: bool = False
) -> BondGraphScheme:
    """The bond graph of a causal graph, with strokes and variables.

    `merge_two_ports` joins neighbouring TF and GY into one. With `vectors`, fields and connections with a matrix are one item each,
    and bonds that run side by side between such items are vector bonds. Without, all bonds are scalar: a coupling with a matrix
    becomes a two-port for each entry, and the one-ports of a field name it. A coupling whose matrix mixes efforts and flows is
    written entry by entry in any case.

    Raises: GraphError for shorted elements, and for junctions that admit no strokes.
    """
    graph = causal.graph
    _refuse_shorted(graph)
    draft = _draft(graph, whole=vectors)
    simplify(draft, graph, everything=simplified, merge_two_ports=merge_two_ports)
    scheme = finished(draft, causal)
    return folded(scheme) if vectors else scheme


def two_port_modulus(one: Branch, two: Branch, K: Expression) -> tuple[TwoPortKind, Expression]:
    """TF or GY, and its modulus along the half arrows, where z_2 = K z_1."""
    flow_1, flow_2 = _is_flow(one), _is_flow(two)
    kind: TwoPortKind = "TF" if flow_1 == flow_2 else "GY"
    return kind, K if flow_1 else ONE / K


def _is_flow(branch: Branch) -> bool:
    side: Side = branch.side
    return DOMAINS[branch.domain].flow == side


def _refuse_shorted(graph: PowerGraph) -> None:
    ends = [(p.element, p.plus, p.minus, p.place) for p in graph.ports]
    ends += [(c.element, b.plus, b.minus, c.place) for c in graph.couplings for b in (*c.side_1, *c.side_2)]
    for name, plus, minus, place in ends:
        if plus == minus:
            what = f"both ends of '{name}' are at node '{graph.nodes[plus].name}'"
            raise rules.SHORTED_ELEMENT.error(what, where=name, fix=f"remove '{name}'", place=place)


def _draft(graph: PowerGraph, *, whole: bool) -> Draft:
    draft = Draft()
    for k, node in enumerate(graph.nodes):
        draft.add(DraftItem(("node", k), "junction", node.domain, "across", node.reference))
    for k, port in enumerate(graph.ports):
        _draw_port(draft, k, port)
    for coupling in graph.couplings:
        if whole and (form := _matrix_form(coupling)) is not None:
            _draw_matrix(draft, coupling.element, *form)
        else:
            _draw_coupling(draft, coupling)
    return draft


def _draw_port(draft: Draft, k: int, port: Port) -> None:
    path, me = ("path of port", k), ("port", k)
    draft.add(DraftItem(path, "junction", port.domain, "through"))
    draft.add(DraftItem(me, "one-port", port.domain))
    source = isinstance(port.law, SourceLaw)
    draft.bond(me, path) if source else draft.bond(path, me)
    # Power counts out of a source, so an imposed across variable rises along the path.
    rises = source and port.law.side == "across"
    _lay(draft, path, *((port.minus, port.plus) if rises else (port.plus, port.minus)))


_MatrixForm = tuple[TwoPortKind, tuple[Branch, ...], tuple[Branch, ...], Matrix]


def _matrix_form(coupling: Coupling) -> _MatrixForm | None:
    """TF or GY with the matrix that takes the flows of the bonds in; None for scalars, and where there is no such form."""
    if len(coupling.side_1) == len(coupling.side_2) == 1:
        return None
    flows = [{_is_flow(branch) for branch in side} for side in (coupling.side_1, coupling.side_2)]
    if flows == [{True}, {True}]:
        return "TF", coupling.side_1, coupling.side_2, coupling.K
    if flows == [{True}, {False}]:
        return "GY", coupling.side_1, coupling.side_2, coupling.K
    if flows == [{False}, {False}]:  # efforts of side 2 by those of side 1: flows of side 1 by those of side 2
        return "TF", coupling.side_2, coupling.side_1, _turned(coupling)
    return None


def _turned(coupling: Coupling) -> Matrix:
    """The matrix from side 2 to side 1. Half arrows that run backwards turn the sign of through variables, which are the
    efforts of one reading and the flows of the other: an entry between the two readings changes its sign.
    """
    return tuple(
        tuple(coupling.K[i][j] if one.side == two.side else -coupling.K[i][j] for i, two in enumerate(coupling.side_2))
        for j, one in enumerate(coupling.side_1)
    )


def _draw_matrix(
    draft: Draft, element: str, kind: TwoPortKind, into: tuple[Branch, ...], out: tuple[Branch, ...], K: Matrix
) -> None:
    """A coupling by a matrix as one two-port, with a bond for each of its branches."""
    me = draft.fresh("coupling")
    domains = (into[0].domain, out[0].domain)
    draft.add(DraftItem(me, "two-port", "", kind=kind, matrix=K, domains=domains, origins=(element,)))
    for port, branch in enumerate(into, 1):
        draft.bond(_spread(draft, branch, "through", leaves=False), me, 0, port)
    for port, branch in enumerate(out, 1):
        draft.bond(me, _spread(draft, branch, "through", leaves=True), port, 0)


def _draw_coupling(draft: Draft, coupling: Coupling) -> None:
    """A coupling by a matrix: one two-port for each entry, between junctions that share z_1 and the conjugates of z_2."""
    into = [_spread(draft, branch, branch.side, leaves=False) for branch in coupling.side_1]
    out = [_spread(draft, branch, other_side(branch.side), leaves=True) for branch in coupling.side_2]
    scalar = len(into) == len(out) == 1
    for i, (two, head) in enumerate(zip(coupling.side_2, out, strict=True)):
        for j, (one, tail) in enumerate(zip(coupling.side_1, into, strict=True)):
            if coupling.K[i][j] is not ZERO:
                origin = coupling.element if scalar else f"{coupling.element}[{i + 1},{j + 1}]"
                kind, modulus = two_port_modulus(one, two, coupling.K[i][j])
                me = draft.fresh("coupling")
                domains = (one.domain, two.domain)
                draft.add(DraftItem(me, "two-port", "", kind=kind, modulus=modulus, domains=domains, origins=(origin,)))
                draft.bond(tail, me)
                draft.bond(me, head)


def _spread(draft: Draft, branch: Branch, shares: Side, *, leaves: bool) -> Key:
    """The junctions of one branch of a coupling; gives the one that shares the variable asked for."""
    path = draft.fresh("side")
    draft.add(DraftItem(path, "junction", branch.domain, "through"))
    _lay(draft, path, *((branch.minus, branch.plus) if leaves else (branch.plus, branch.minus)))
    if shares == "through":
        return path
    spot = draft.fresh("side")
    draft.add(DraftItem(spot, "junction", branch.domain, "across"))
    draft.bond(*((spot, path) if leaves else (path, spot)))
    return spot


def _lay(draft: Draft, path: Key, start: int, stop: int) -> None:
    draft.bond(("node", start), path)
    draft.bond(path, ("node", stop))
