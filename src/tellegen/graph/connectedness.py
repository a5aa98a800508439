"""Whether a network hangs together: loose ends, parts without a reference, parts apart."""

from collections.abc import Iterable, Sequence
from string import digits

from tellegen.core.domains import DOMAINS, REFERENCES
from tellegen.core.errors import Finding
from tellegen.core.names import listing, nearest
from tellegen.core.union_find import UnionFind
from tellegen.description.model import MECHANISM, Element, Model
from tellegen.graph import rules
from tellegen.graph.heat import joined_by_heat
from tellegen.graph.node_table import NodeTable

LIKE_REFERENCES = frozenset({"ground", "earth", "reference"})
"""What other tools call a reference."""
MOST_COMPARED = 200
"""The names of nodes are compared in networks of so many at most: larger ones are seldom written by hand."""


def dangling(model: Model, terminals: list[tuple[int, ...]], nodes: NodeTable) -> Iterable[Finding]:
    """Errors for nodes that join one terminal only."""
    degree = [0] * len(nodes.names)
    for ends in terminals:
        for node in ends:
            degree[node] += 1
    lonely = {k for k, d in enumerate(degree) if d == 1 and nodes.names[k] not in REFERENCES}
    if not lonely:
        return
    offered = {node: port.name for port in model.ports.values() for node in port.nodes}
    for element, ends in zip(model.elements, terminals, strict=True):
        for node in lonely.intersection(ends):
            name = nodes.names[node]
            domain = DOMAINS[nodes.domains[node]]
            flowing, reference = domain.through.word, domain.reference
            fix = f"join '{name}' to another element or to '{reference}', or remove '{element.name}'"
            if (meant := _spelt_alike(name, nodes.names)) is not None:
                fix = f"did you mean '{meant}'? Else {fix}"
            if name in offered:
                fix = f"join the port '{offered[name]}': use this system as a part of another"
            yield rules.DANGLING_NODE.finding(
                f"node '{name}' joins only '{element.name}': no {flowing} can pass",
                where=element.name,
                fix=fix,
                place=element.place,
                members=[element.name],
            )


def _spelt_alike(name: str, names: Sequence[str]) -> str | None:
    """The node that a lonely one was meant to be, where a slip of the pen may have parted them: `a1` is not `a2` misspelt."""
    if len(names) > MOST_COMPARED:
        return None
    letters = name.rstrip(digits)
    return nearest(name, [other for other in names if other.rstrip(digits) != letters])


def _branches(terminals: list[tuple[int, ...]]) -> Iterable[tuple[int, int]]:
    for ends in terminals:
        yield ends[0], ends[1]
        for k in range(2, len(ends), 2):
            yield ends[k], ends[k + 1]


def references_of(terminals: list[tuple[int, ...]], nodes: NodeTable) -> tuple[set[int], list[Finding]]:
    """The reference nodes: those named so, and one for each part that has none (the node met first), with a notice."""
    groups = UnionFind(len(nodes.names))
    for plus, minus in _branches(terminals):
        groups.join(plus, minus)
    references = {k for k, name in enumerate(nodes.names) if name in REFERENCES}
    settled = {groups.find(k) for k in references}
    notices = []
    last_of: dict[int, int] = {}
    for plus, minus in _branches(terminals):
        last_of.setdefault(groups.find(plus), minus)
    for root, node in last_of.items():
        if root not in settled:
            references.add(node)
            domain = nodes.domains[node]
            notices.append(
                rules.NO_REFERENCE.finding(
                    f"the {domain} part with '{nodes.first_user[node]}' has no reference: node '{nodes.names[node]}' was taken",
                    fix=f"tie a node to '{DOMAINS[domain].reference}' if the part is grounded",
                )
            )
    return references, [*notices, *_misnamed(nodes, references)]


def _misnamed(nodes: NodeTable, references: set[int]) -> Iterable[Finding]:
    """Nodes that a reader takes for a reference."""
    for k, name in enumerate(nodes.names):
        if name.casefold() in LIKE_REFERENCES and k not in references:
            reference = DOMAINS[nodes.domains[k]].reference
            yield rules.NOT_THE_REFERENCE.finding(
                f"node '{name}' is not the reference: '{reference}' is",
                where=nodes.first_user[k],
                fix=f"write '{reference}' instead of '{name}', or give the node another name",
            )


def unconnected(model: Model, terminals: list[tuple[int, ...]], count: int) -> Iterable[Finding]:
    """Errors for parts that share no power with the rest."""
    elements = model.elements
    groups = UnionFind(count)
    for ends in terminals:
        for node in ends[1:]:
            groups.join(ends[0], node)
    if model.fields:  # a matrix passes power between its ports
        first = {element.name: ends[0] for element, ends in zip(elements, terminals, strict=True)}
        for coupled in model.fields:
            for member in coupled.members[1:]:
                groups.join(first[coupled.members[0]], first[member])
    bodies = [ends[0] for element, ends in zip(elements, terminals, strict=True) if MECHANISM in element.notes]
    for node in bodies[1:]:
        groups.join(bodies[0], node)
    for one, two in joined_by_heat(elements):
        groups.join(terminals[one][0], terminals[two][0])
    members: dict[int, list[Element]] = {}
    for element, ends in zip(elements, terminals, strict=True):
        members.setdefault(groups.find(ends[0]), []).append(element)
    for part in list(members.values())[1:]:
        names = [element.name for element in part]
        yield rules.UNCONNECTED.finding(
            f"{listing(names, 4)} {'are' if len(names) > 1 else 'is'} not connected to '{elements[0].name}'",
            where=names[0],
            fix="join the parts at a node or through a coupling, or describe them in two files",
            place=part[0].place,
            members=names[:50],
        )
