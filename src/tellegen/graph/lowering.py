"""From a described model to its PowerGraph: nodes are numbered, references found, loose ends refused, laws brought into one
form.
"""

from collections.abc import Iterable, Sequence
from string import digits

from tellegen.core.domains import DOMAINS, REFERENCES
from tellegen.core.errors import Finding, GraphError
from tellegen.core.memory import remembered, without_collector
from tellegen.core.names import listing, nearest
from tellegen.core.union_find import UnionFind
from tellegen.elements import KINDS
from tellegen.expressions import Expression
from tellegen.graph import rules
from tellegen.graph.heat import joined_by_heat, with_heat_conduction
from tellegen.graph.port_laws import VariableNames, coupling_of, port_of, power_fields
from tellegen.graph.power_graph import Coupling, Node, Port, PowerGraph, SwitchingLaw
from tellegen.graph.signal_lowering import with_signals
from tellegen.graph.switching import command_signal, switching_law
from tellegen.model.model import MECHANISM, Element, Model


class NodeTable:
    """Numbers nodes in order of first use and watches over their domains."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.domains: list[str] = []
        self.first_user: list[str] = []
        self.findings: list[Finding] = []
        self._number: dict[str | tuple[str, str], int] = {}

    def terminals_of(self, element: Element) -> tuple[int, ...]:
        """The numbers of the nodes that an element joins."""
        domains = element.kind.domains
        if len(domains) == 1:
            domain = domains[0]
            return tuple([self._node(name, domain, element) for name in element.nodes])
        return tuple([self._node(name, domains[k // 2], element) for k, name in enumerate(element.nodes)])

    def _node(self, name: str, domain: str, element: Element) -> int:
        # Two domains may share the word of their reference (frame), never the node.
        key = (domain, name) if name in REFERENCES else name
        number = self._number.get(key)
        if number is None:
            if name in REFERENCES and name != DOMAINS[domain].reference:
                self.findings.append(_wrong_reference(name, domain, element))
            number = self._number[key] = len(self.names)
            self.names.append(name)
            self.domains.append(domain)
            self.first_user.append(element.name)
        elif self.domains[number] != domain:
            self.findings.append(self._mixed(number, domain, element))
        return number

    def _mixed(self, node: int, domain: str, element: Element) -> Finding:
        mine, theirs = DOMAINS[domain], DOMAINS[self.domains[node]]
        couplings = _couplings_between(mine.name, theirs.name)
        what = (
            f"node '{self.names[node]}' is {theirs.name} for '{self.first_user[node]}' and {mine.name} for '{element.name}' "
            f"({element.kind.name})"
        )
        fix = f"join the domains through a coupling ({couplings}), or use an element of the {theirs.name} domain"
        return rules.MIXED_DOMAINS.finding(
            what, where=element.name, fix=fix, place=element.place, members=[element.name]
        )


def _wrong_reference(name: str, domain: str, element: Element) -> Finding:
    right = DOMAINS[domain].reference
    what = f"'{element.name}' ({element.kind.name}) is {domain}, but '{name}' is the reference of another domain"
    return rules.WRONG_REFERENCE.finding(
        what, where=element.name, fix=f"write '{right}'", place=element.place, members=[element.name]
    )


def _couplings_between(one: str, two: str) -> str:
    names = {kind.name for kind in KINDS.values() if kind.role == "coupling" and set(kind.domains) == {one, two}}
    return listing(sorted(names)) if names else "'connection'"


LIKE_REFERENCES = frozenset({"ground", "earth", "reference"})
"""What other tools call a reference."""
MOST_COMPARED = 200
"""The names of nodes are compared in networks of so many at most: larger ones are seldom written by hand."""


def dangling_nodes(model: Model, terminals: list[tuple[int, ...]], nodes: NodeTable) -> Iterable[Finding]:
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


def unconnected_parts(model: Model, terminals: list[tuple[int, ...]], count: int) -> Iterable[Finding]:
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


@remembered
def lower(model: Model) -> PowerGraph:
    """The PowerGraph of a model, which is lowered once.

    Raises: GraphError with everything found, when nodes dangle, domains mix or parts do not hang together.
    """
    with without_collector():
        return _lowered(model)


def _lowered(model: Model) -> PowerGraph:
    if not any(element.kind.role != "coupling" for element in model.elements):
        raise rules.EMPTY.error(f"'{model.name}' has no element to connect", fix="add elements under 'network'")
    nodes = NodeTable()
    terminals = [nodes.terminals_of(element) for element in model.elements]
    names = VariableNames(model)
    moving = _moving_parameters(model)
    parameters = {name: p.expression for name, p in model.parameters.items() if name not in moving}
    ports: list[Port] = []
    couplings: list[Coupling] = []
    switching: dict[int, SwitchingLaw] = {}
    commands = [command_signal(e, parameters) for e in model.elements if e.switching is not None]
    for element, ends in zip(model.elements, terminals, strict=True):
        if element.kind.role == "coupling":
            couplings.append(coupling_of(element, ends))
        else:
            if element.switching is not None:
                switching[len(ports)] = switching_law(element, parameters)
            ports.append(port_of(element, ends, names, parameters))
    findings = [*nodes.findings, *names.findings, *dangling_nodes(model, terminals, nodes)]
    references, notices = references_of(terminals, nodes)
    findings += unconnected_parts(model, terminals, len(nodes.names))
    if any(finding.severity == "error" for finding in findings):
        raise GraphError([finding for finding in findings if finding.severity == "error"])
    listed = tuple(
        Node(name, domain, k in references)
        for k, (name, domain) in enumerate(zip(nodes.names, nodes.domains, strict=True))
    )
    couplings = with_heat_conduction(couplings, model, listed, ports)
    fields = power_fields(model, ports)
    graph = PowerGraph(
        name=model.name,
        nodes=listed,
        ports=tuple(ports),
        couplings=tuple(couplings),
        parameters=parameters,
        findings=(*model.findings, *findings, *notices),
        displacements=model.displacements,
        moving=moving,
        fields=fields,
        vectors=model.vectors,
        signals=tuple(command for command in commands if command is not None),
        switching=switching,
    )
    return with_signals(graph, model)


def _moving_parameters(model: Model) -> dict[str, Expression]:
    """Parameters that depend on displacements and so change along the motion, each after those it uses."""
    moving: dict[str, Expression] = {}
    waiting = {name: p.expression for name, p in model.parameters.items() if p.expression is not None}
    found = bool(model.displacements)
    while found:
        reach = moving.keys() | model.displacements.keys()
        new = {name: e for name, e in waiting.items() if reach & e.free_symbols and name not in moving}
        moving |= new
        found = bool(new)
    return moving
