"""The equations of a part of the library: a source at every port, chosen so that as few storages as possible are dependent.

A part through which no power passes from some ports to others, such as a spline that turns and slides, has a set of equations
for each of its pieces.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from tellegen.core.domains import DOMAINS, Side
from tellegen.core.errors import TellegenError
from tellegen.elements import kinds_of
from tellegen.equations.system import EquationSystem
from tellegen.model.model import Element, Model, SystemPort
from tellegen.workflow.deriving import derive

MOST_PORTS = 8
"""With more ports all are driven by one kind of source: every further one doubles the number of choices."""


def part_equations(model: Model) -> list[str]:
    """The equations of each piece of a part in LaTeX; none where no choice of sources gives equations."""
    found = [_best(piece) for piece in _pieces(model)]
    return [system.to_latex() for system in found if system is not None]


def _best(model: Model) -> EquationSystem | None:
    best: EquationSystem | None = None
    for driven in _driven(model):
        found = _derived(driven)
        if found is not None and (best is None or len(found.states) > len(best.states)):
            best = found
            if not best.dependent:
                break
    return best


def _pieces(model: Model) -> Iterator[Model]:
    """The part by what is joined: elements share a node that is no reference, or a field."""
    references = {domain.reference for domain in DOMAINS.values()}
    groups: list[set[str]] = []
    by_name = {element.name: element.nodes for element in model.elements}
    coupled = [{node for member in field.members for node in by_name[member]} for field in model.fields]
    for joined in [*map(set, by_name.values()), *coupled]:
        nodes = joined - references
        met = [group for group in groups if group & nodes]
        groups = [group for group in groups if group not in met] + [nodes.union(*met)]
    for group in groups:
        elements = tuple(e for e in model.elements if group & {*e.nodes})
        ports = {name: port for name, port in model.ports.items() if group & {*port.nodes}}
        if ports:
            fields = tuple(f for f in model.fields if group & {*by_name[f.members[0]]})
            yield replace(model, elements=elements, ports=ports, fields=fields)


def _driven(model: Model) -> Iterator[Model]:
    ports = [port for port in model.ports.values() if not port.source]
    sides: tuple[Side, ...] = ("across", "through")
    choices = [sides] * len(ports) if len(ports) <= MOST_PORTS else [sides[:1]] * len(ports)
    for chosen in product(*choices):
        sources = [_source(port, side) for port, side in zip(ports, chosen, strict=True)]
        yield replace(model, elements=(*model.elements, *sources))


def _source(port: SystemPort, side: Side) -> Element:
    """A source that supplies power to the port where its input and what it meets have one sign."""
    domain = DOMAINS[port.domain]
    (kind,) = (kind for kind in kinds_of(port.domain, "source") if kind.side == side)
    nodes = port.nodes if side == "across" else port.nodes[::-1]
    name = f"{domain.power(side).symbol}_{port.name}".replace("[", "_").replace("]", "")
    return Element(name, kind, nodes, None)


def _derived(model: Model) -> EquationSystem | None:
    try:
        found = derive(model)
    except TellegenError:
        return None
    return found if isinstance(found, EquationSystem) else None
