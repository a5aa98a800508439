"""From a causal graph to its bond graph, one junction for each node and for each element between nodes; vector bonds where
asked for.

What is folded is what the model says belongs together: the ports of a field, and the components of a vector item. The junctions
that such a set hangs on, one each, are then the components of a vector junction, and a two-port with a matrix meets it in one bond.

A node that is no reference becomes the junction that shares its across variable; an element between two nodes stands at a junction
that shares its through variable, with a bond from the first node and one to the second. References are junctions of a zero
variable. Rules then simplify what an engineer would not draw.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, final

from tellegen.causality import CausalGraph
from tellegen.core.domains import DOMAINS, Side, other_side
from tellegen.expressions import ONE, ZERO, Expression
from tellegen.graph import Branch, Coupling, Port, PowerGraph, ResistiveLaw, SourceLaw, StorageLaw
from tellegen.schemes import rules
from tellegen.schemes.bond_graph_draft import Draft, DraftItem, Key, Matrix, simplify
from tellegen.schemes.bond_graph_scheme import Bond, BondGraphScheme, Junction, OnePort, TwoPortKind
from tellegen.schemes.element_texts import element_kind
from tellegen.schemes.names import UniqueNames, plain_name
from tellegen.schemes.strokes import finish_bond_graph

Direction = Literal["in", "out"]
FoldedEnd = tuple[str, str]
"""An item of the folded scheme; for a two-port with the side, "in" or "out"."""


@final
@dataclass
class _Folds:
    """Which scalar items are components of which vector items: name of the scalar item -> name of the whole, component."""

    part_of: dict[str, tuple[str, int]] = field(default_factory=dict)
    one_ports: dict[str, list[str]] = field(default_factory=dict)
    junctions: dict[str, list[str]] = field(default_factory=dict)

    def add(self, table: dict[str, list[str]], name: str, members: Sequence[str]) -> None:
        table[name] = list(members)
        self.part_of.update({member: (name, k) for k, member in enumerate(members, 1)})

    def drop(self, junction: str) -> None:
        """Leave the components of a junction apart."""
        for member in self.junctions.pop(junction):
            del self.part_of[member]


def fold_vectors(scheme: BondGraphScheme) -> BondGraphScheme:
    """The scheme with vector items and vector bonds; the same one where there is nothing to fold."""
    folds = _folds(scheme)
    ends = _Ends(scheme, folds)
    bonds = tuple(replace(bond, number=k) for k, bond in enumerate(_fold_bonds(scheme.bonds, ends), 1))
    return replace(
        scheme,
        junctions=dict(_junctions(scheme, folds)),
        one_ports=dict(_one_ports(scheme, folds)),
        bonds=bonds,
    )


# -- which items belong together -----------------------------------------------------------------------------------------------


def _folds(scheme: BondGraphScheme) -> _Folds:
    folds = _Folds()
    taken = UniqueNames((*scheme.junctions, *scheme.one_ports, *scheme.two_ports))
    for name, members in _vector_one_ports(scheme):
        folds.add(folds.one_ports, taken.take(plain_name(name)), members)
    for members in list(folds.one_ports.values()):
        spots = _junctions_of(scheme, members)
        if spots is not None and not any(spot in folds.part_of for spot in spots) and _are_alike(scheme, spots):
            folds.add(folds.junctions, taken.take(_common_name(spots)), spots)
    for name in _lonely(scheme, folds):
        folds.drop(name)
    return folds


def _lonely(scheme: BondGraphScheme, folds: _Folds) -> list[str]:
    """Vector junctions with one vector bond, that of a field: its ports are read better at junctions of their own."""
    count = dict.fromkeys(folds.junctions, 0)
    for bond in _fold_bonds(scheme.bonds, _Ends(scheme, folds)):
        for name in (bond.tail, bond.head):
            if bond.size > 1 and name in count:
                count[name] += 1
    return [name for name, found in count.items() if found < 2]


def _vector_one_ports(scheme: BondGraphScheme) -> Iterator[tuple[str, list[str]]]:
    """Fields and vector items with their components, as the model has them."""
    graph = scheme.causal.graph
    item_of = {item.port.element: name for name, item in scheme.one_ports.items()}
    groups = {f.element: [graph.ports[k].element for k in f.ports] for f in graph.fields}
    alike = {n: m for n, m in graph.vectors.items() if len({_form(scheme.one_ports[item_of[e]]) for e in m}) == 1}
    for name, members in {**groups, **alike}.items():
        if len(members) > 1:
            yield name, [item_of[member] for member in members]


def _form(item: OnePort) -> tuple[str, str, bool]:
    """How a one-port is written: components of a vector item that are written differently stay apart."""
    law = item.port.law
    linear = not (isinstance(law, StorageLaw) and law.inertia is None) and not (
        isinstance(law, ResistiveLaw) and law.coefficient is None
    )
    return item.letters, element_kind(item.port).name, linear


def _junctions_of(scheme: BondGraphScheme, members: Sequence[str]) -> list[str] | None:
    """The junctions that one-ports hang on, where all half arrows have one direction."""
    bonds = [scheme.bonds_of(name)[0] for name in members]
    if len({bond.head == name for bond, name in zip(bonds, members, strict=True)}) > 1:
        return None
    return [bond.other(name) for bond, name in zip(bonds, members, strict=True)]


def _are_alike(scheme: BondGraphScheme, spots: Sequence[str]) -> bool:
    """Whether items are different junctions of one kind and one domain."""
    found = [scheme.junctions[name] for name in spots if name in scheme.junctions]
    return len(set(spots)) == len(spots) == len(found) and len({(j.kind, j.domain) for j in found}) == 1


def _common_name(names: Sequence[str]) -> str:
    """What the names have in common at their beginning, `I` for `I_1` and `I_2`; all of the first where that is nothing."""
    first, last = min(names), max(names)
    shared = next((k for k, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))
    return plain_name(first[:shared].rstrip("_")) if first[:shared].rstrip("_") else names[0]


# -- items ---------------------------------------------------------------------------------------------------------------------


def _junctions(scheme: BondGraphScheme, folds: _Folds) -> Iterator[tuple[str, Junction]]:
    for name, junction in scheme.junctions.items():
        whole, part = folds.part_of.get(name, (name, 0))
        if part == 1:
            parts = tuple(scheme.junctions[member] for member in folds.junctions[whole])
            shown = _listed(part.variable for part in parts)
            yield whole, replace(junction, name=whole, variable=shown, parts=parts)
        elif part == 0:
            yield name, junction


def _one_ports(scheme: BondGraphScheme, folds: _Folds) -> Iterator[tuple[str, OnePort]]:
    for name, item in scheme.one_ports.items():
        whole, part = folds.part_of.get(name, (name, 0))
        if part == 1:
            parts = tuple(scheme.one_ports[member] for member in folds.one_ports[whole])
            letters = item.letters if len({part.kind for part in parts}) == 1 else "IC"
            if item.field and letters in ("De", "Df", "rSe", "rSf"):
                letters = "R"  # a row of zeros in the matrix of a field makes no sensor of it
            yield whole, replace(item, name=whole, letters=letters, parts=parts)
        elif part == 0:
            yield name, item


def _listed(names: Iterable[str]) -> str:
    return f"[{', '.join(names)}]"


# -- bonds ---------------------------------------------------------------------------------------------------------------------


class _Ends:
    """Where the ends of scalar bonds lie in the folded scheme."""

    def __init__(self, scheme: BondGraphScheme, folds: _Folds) -> None:
        self.scheme = scheme
        self.folds = folds
        self.sizes: dict[FoldedEnd, int] = {(name, ""): len(members) for name, members in folds.one_ports.items()}
        self.sizes |= {(name, ""): len(members) for name, members in folds.junctions.items()}
        for name, two_port in scheme.two_ports.items():
            if two_port.matrix:
                self.sizes[name, "out"], self.sizes[name, "in"] = len(two_port.matrix), len(two_port.matrix[0])

    def of(self, name: str, port: int, side: Direction) -> tuple[FoldedEnd, int]:
        """The end and the component; 0 where the end is a scalar."""
        if name in self.scheme.two_ports:
            return (name, side), port if self.sizes.get((name, side), 1) > 1 else 0
        whole, part = self.folds.part_of.get(name, (name, 0))
        return (whole, ""), part


def _fold_bonds(bonds: Sequence[Bond], ends: _Ends) -> Iterator[Bond]:
    """Each bond with its ends in the folded scheme; those that run side by side as one, where the first of them stood."""
    placed = [(b, ends.of(b.tail, b.tail_port, "out"), ends.of(b.head, b.head_port, "in")) for b in bonds]
    bundles: dict[tuple[FoldedEnd, FoldedEnd, str], dict[int, Bond]] = {}
    for bond, (tail, k), (head, j) in placed:
        if k and k == j:
            bundles.setdefault((tail, head, bond.stroke), {})[k] = bond
    for bond, (tail, k), (head, j) in placed:
        bundle = bundles.get((tail, head, bond.stroke), {}) if k and k == j else {}
        scalar = replace(bond, tail=tail[0], head=head[0], tail_port=k, head_port=j)
        if not len(bundle) == ends.sizes.get(tail) == ends.sizes.get(head):
            yield scalar
        elif bundle[1] is bond:
            parts = tuple(bundle[i] for i in sorted(bundle))
            across, through = _listed(b.across for b in parts), _listed(b.through for b in parts)
            yield replace(scalar, tail_port=0, head_port=0, across=across, through=through, parts=parts)


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
    scheme = finish_bond_graph(draft, causal)
    return fold_vectors(scheme) if vectors else scheme


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
