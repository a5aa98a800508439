"""Points to nodes: points that wires join are one node, and the elements at a node say which domain it belongs to.

A connection block may join any two domains, so its kind is known only here.
"""

import functools

from tellegen.core.domains import DOMAINS, REFERENCES
from tellegen.core.union_find import UnionFind
from tellegen.description.netlists import rules
from tellegen.description.netlists.findings import Findings
from tellegen.description.netlists.lines import Branch, Wire
from tellegen.description.netlists.naming import Namespace
from tellegen.description.netlists.reading import LineReader
from tellegen.elements import CouplingType, ElementKind, connection


def find_nodes(reader: LineReader) -> dict[str, str]:
    """The node of each point; connection blocks get their kinds on the way."""
    nodes = _joined_points(reader.points, reader.wires)
    domain_of = _domains(reader.branches, nodes)
    _find_connection_kinds(reader, nodes, domain_of)
    _rename_references(reader, nodes, domain_of)
    _name_the_frame(reader.branches, nodes)
    return nodes


def _joined_points(order: dict[str, int], wires: list[Wire]) -> dict[str, str]:
    """The node of each point: the first label met of those that wires join."""
    groups = UnionFind(len(order))
    labels = sorted(order, key=order.__getitem__)
    number = {label: k for k, label in enumerate(labels)}
    for wire in wires:
        groups.join(number[wire.points[0]], number[wire.points[1]])
    first: dict[int, str] = {}
    for k, label in enumerate(labels):
        first.setdefault(groups.find(k), label)
    return {label: first[groups.find(number[label])] for label in order}


def _domains(branches: list[Branch], nodes: dict[str, str]) -> dict[str, str]:
    """The domain of each node: that of its elements, and the same at both ends of a side of a connection block."""
    blocks = [branch for branch in branches if branch.relation is not None]
    if not blocks and not REFERENCES.intersection(nodes.values()):
        return {}  # nobody asks
    found: dict[str, str] = {}
    for branch in branches:
        if branch.kind is not None:
            for point in branch.points:
                found.setdefault(nodes[point], branch.kind.domains[0])
    _spread(found, [(nodes[top], nodes[bottom]) for block in blocks for top, bottom in block.sides()])
    return found


def _spread(domain_of: dict[str, str], sides: list[tuple[str, str]]) -> None:
    """Carry domains along the sides of connection blocks: both points of a side belong to one domain."""
    neighbours: dict[str, list[str]] = {}
    for top, bottom in sides:
        neighbours.setdefault(top, []).append(bottom)
        neighbours.setdefault(bottom, []).append(top)
    known = [node for node in neighbours if node in domain_of]
    while known:
        node = known.pop()
        for other in neighbours[node]:
            if other not in domain_of:
                domain_of[other] = domain_of[node]
                known.append(other)


# Connection blocks


def _find_connection_kinds(reader: LineReader, nodes: dict[str, str], domain_of: dict[str, str]) -> None:
    was_faultless = not reader.findings.errors  # a line that was refused could have said the domain
    for branch in reader.branches:
        relation = branch.relation
        if relation is None:
            continue
        domains = [domain_of.get(nodes[top]) for top, _ in branch.sides()]
        if domains[0] is not None and domains[1] is not None:
            branch.kind = _connection(domains[0], domains[1], relation.coupling, relation.reciprocal)
        elif was_faultless:
            _report_no_domain(reader.findings, branch, domains.index(None))


@functools.cache
def _connection(first: str, second: str, coupling: CouplingType, reciprocal: bool) -> ElementKind:
    """One kind for all blocks that are alike; there are few domains, so few are kept."""
    return connection((first, second), coupling, reciprocal=reciprocal)


def _report_no_domain(findings: Findings, branch: Branch, side: int) -> None:
    top, bottom = branch.sides()[side]
    what = f"no element stands at the points '{top}' and '{bottom}' of side {side + 1}: its domain is unknown"
    fix = f"join an element to the point '{top}', such as 'rJ, {top}, {bottom}'"
    findings.error(rules.NO_DOMAIN, what, branch.line, fix=fix)


# Words that mean the reference of a domain


def _rename_references(reader: LineReader, nodes: dict[str, str], domain_of: dict[str, str]) -> None:
    names = Namespace(set(nodes), nodes)
    for word in sorted(REFERENCES.intersection(nodes.values())):
        domain = domain_of.get(word)
        if domain is None or DOMAINS[domain].reference == word:
            continue
        name = names.give(word)
        line = next(b.line for b in reader.branches if word in map(nodes.__getitem__, b.points))
        what = f"the {domain} point '{word}' is called '{name}': '{word}' is the reference of another domain"
        reader.findings.notice(rules.POINT_RENAMED, what, line, fix="give the point another label")
        for label, node in nodes.items():
            if node == word:
                nodes[label] = name


def _name_the_frame(branches: list[Branch], nodes: dict[str, str]) -> None:
    """Masses and inertias move against the frame: the node that all of a part have behind them is called so."""
    grounded = [b for b in branches if b.kind is not None and b.kind.grounded]
    if not grounded:
        return
    parts = _parts(branches, nodes)
    behind: dict[tuple[int, str], set[str]] = {}
    for branch in grounded:
        assert branch.kind is not None, "grounded branches have a kind"
        node = nodes[branch.points[1]]
        behind.setdefault((parts[node], branch.kind.domains[0]), set()).add(node)
    frames = {next(iter(found)) for found in behind.values() if len(found) == 1}
    for label, node in nodes.items():
        if node in frames:
            nodes[label] = "frame"


def _parts(branches: list[Branch], nodes: dict[str, str]) -> dict[str, int]:
    """A number for each node: the same for all that branches join without crossing a connection block."""
    number = {node: k for k, node in enumerate(dict.fromkeys(nodes.values()))}
    groups = UnionFind(len(number))
    for branch in branches:
        for top, bottom in branch.sides():
            groups.join(number[nodes[top]], number[nodes[bottom]])
    return {node: groups.find(k) for node, k in number.items()}
