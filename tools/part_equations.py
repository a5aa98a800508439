"""The equations of a part of the library: a source at every port, chosen so that as few storages as possible are dependent."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from tellegen.core.domains import DOMAINS, Side
from tellegen.core.errors import TellegenError
from tellegen.description import Model
from tellegen.description.model import Element, Port
from tellegen.elements import kinds_of
from tellegen.equations.system import EquationSystem
from tellegen.workflow import derive

MOST_PORTS = 8
"""With more ports all are driven by one kind of source: every further one doubles the number of choices."""


def part_equations(model: Model) -> str:
    """What `derive` prints for a part, without the table of its values; empty where no choice of sources gives equations."""
    best: EquationSystem | None = None
    for driven in _driven(model):
        found = _derived(driven)
        if found is not None and (best is None or len(found.states) > len(best.states)):
            best = found
            if not best.dependent:
                break
    return "" if best is None else _shown(best.to_text())


def _driven(model: Model) -> Iterator[Model]:
    ports = [port for port in model.ports.values() if not port.source]
    sides: tuple[Side, ...] = ("across", "through")
    choices = [sides] * len(ports) if len(ports) <= MOST_PORTS else [sides[:1]] * len(ports)
    for chosen in product(*choices):
        sources = [_source(port, side) for port, side in zip(ports, chosen, strict=True)]
        yield replace(model, elements=(*model.elements, *sources))


def _source(port: Port, side: Side) -> Element:
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


def _shown(text: str) -> str:
    """Without the name of the system, which is a heading, and the values, which are in the table of parameters."""
    _, _, rest = text.partition("\n\n")
    return rest.partition("\n\nparameters\n")[0].strip("\n")
