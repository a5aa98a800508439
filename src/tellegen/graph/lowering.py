"""From a described model to its PowerGraph: nodes are numbered, references found, laws brought into one form."""

from tellegen.core.errors import GraphError
from tellegen.description.files import without_collector
from tellegen.description.model import Model
from tellegen.expressions import Expression
from tellegen.graph import rules
from tellegen.graph.connectedness import dangling, references_of, unconnected
from tellegen.graph.fields import fields_of
from tellegen.graph.heat import with_heat
from tellegen.graph.modes import SwitchingLaw
from tellegen.graph.naming import Names
from tellegen.graph.node_table import NodeTable
from tellegen.graph.port_laws import coupling_of, port_of
from tellegen.graph.power_graph import Coupling, Node, Port, PowerGraph
from tellegen.graph.signal_lowering import with_signals
from tellegen.graph.switching import command_signal, switching_law


def lower(model: Model) -> PowerGraph:
    """The PowerGraph of a model.

    Raises: GraphError with everything found, when nodes dangle, domains mix or parts do not hang together.
    """
    with without_collector():
        return _lowered(model)


def _lowered(model: Model) -> PowerGraph:
    if not any(element.kind.role != "coupling" for element in model.elements):
        raise rules.EMPTY.error(f"'{model.name}' has no element to connect", fix="add elements under 'network'")
    nodes = NodeTable()
    terminals = [nodes.terminals_of(element) for element in model.elements]
    names = Names(model)
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
    findings = [*nodes.findings, *names.findings, *dangling(model, terminals, nodes)]
    references, notices = references_of(terminals, nodes)
    findings += unconnected(model, terminals, len(nodes.names))
    if any(finding.severity == "error" for finding in findings):
        raise GraphError([finding for finding in findings if finding.severity == "error"])
    listed = tuple(
        Node(name, domain, k in references)
        for k, (name, domain) in enumerate(zip(nodes.names, nodes.domains, strict=True))
    )
    couplings = with_heat(couplings, model, listed, ports)
    fields = fields_of(model, ports)
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
