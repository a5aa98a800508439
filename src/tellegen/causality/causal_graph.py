"""The result of causality: what each port decides, which storages depend on others, which paths close without a state, what
outputs are called, and where rings with moving moduli are torn.

Where displacements change moduli, a pivot must vanish nowhere but in true singular positions. So the interconnection is not
eliminated by least fill: velocities are followed from what decides them outwards, forces from the ends inwards, and only what
does not move is divided by. In a closed chain both come to a stop. Then the speed of the first storage in order that follows others
is taken as known, or the force of the last ideal port; what closes the chain gives the equation for it.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, final

from tellegen.core.domains import Side, other_side
from tellegen.core.errors import Finding
from tellegen.core.memory import Known
from tellegen.graph import PowerGraph, ResistiveLaw, SourceLaw, StorageLaw
from tellegen.graph.interconnection import column

PathKind = Literal["storage-storage", "source-storage", "resistor-resistor", "junction loop", "unit loop"]
"""Zero-order causal paths: integral with derivative storage, source with dependent storage, resistor with resistor, solvable loop
inside the junction structure, loop of unit gain."""


@final
@dataclass(frozen=True, slots=True)
class ZeroOrderPath:
    """A causal path without a state between its ends; `members` are element names, the deciding one first where there is one."""

    kind: PathKind
    members: tuple[str, ...]


@final
@dataclass(frozen=True, slots=True)
class Dependence:
    """A storage in derivative causality (a port) and the ports whose decisions fix its output."""

    port: int
    on: tuple[int, ...]


@final
@dataclass(frozen=True, slots=True)
class CausalGraph:
    """A PowerGraph with causality. `decides[k]` is the power variable that port k imposes on the interconnection.

    `conflicts` are the ports that cannot decide what they must, `rigid` the elements of a loop of couplings that locks or leaves a
    variable open. Only a causality made for a figure has them, with their findings first: no equations follow.
    """

    graph: PowerGraph
    decides: tuple[Side, ...]
    dependent: tuple[Dependence, ...]
    paths: tuple[ZeroOrderPath, ...]
    method: Literal["normal tree", "elimination"]
    findings: tuple[Finding, ...]
    conflicts: tuple[int, ...] = ()
    rigid: tuple[str, ...] = ()
    known: Known = field(default_factory=Known, init=False, compare=False, repr=False)

    @property
    def contradictions(self) -> tuple[Finding, ...]:
        """Why no equations follow: a finding for each conflict, and one for a rigid loop."""
        return self.findings[: len(self.conflicts) + bool(self.rigid)]

    @property
    def integral(self) -> list[int]:
        """Ports of the storages in integral causality, in the order of description: the states."""
        return [
            k
            for k, port in enumerate(self.graph.ports)
            if isinstance(port.law, StorageLaw) and self.decides[k] == port.law.side
        ]

    @property
    def derivative(self) -> list[int]:
        """Ports of the storages in derivative causality."""
        return [dependence.port for dependence in self.dependent]

    @property
    def resistive(self) -> list[int]:
        """Ports of the resistive elements."""
        return [k for k, port in enumerate(self.graph.ports) if isinstance(port.law, ResistiveLaw)]

    @property
    def sources(self) -> list[int]:
        """Ports of the sources, in the order of description: the inputs."""
        return [k for k, port in enumerate(self.graph.ports) if isinstance(port.law, SourceLaw)]

    def follows(self, port: int) -> Side:
        """The power variable of a port that the interconnection decides."""
        return other_side(self.decides[port])


def names_of_outputs(causal: CausalGraph, state_at_source: Callable[[int], str]) -> dict[int, str]:
    """The name of the conjugate variable of each source, no two alike.

    The velocity at which a force acts on a mass is that of the mass, whether the mass is a state or follows others; a state at the
    same nodes has the better name. Where two sources act on one storage, the first one's answer has its name; the second takes that
    of another storage there, or its own. `state_at_source` gives the state that answers a source, or an empty text.
    """
    # The name of a mass is better than that of the source that pushes it: a reader knows velocities by the bodies that
    # have them.
    beside = _dependent_variables_beside(causal)
    states = {(causal.graph.ports[k].plus, causal.graph.ports[k].minus) for k in causal.integral}
    found: dict[int, str] = {}
    taken = {""}
    for k in causal.sources:
        port = causal.graph.ports[k]
        followers = beside.get(k, [])
        # A state at the same nodes is what the output is, and its name stands in the equations already.
        closest = [] if (port.minus, port.plus) in states else followers
        # The last one is always free: it carries the name of the source itself.
        names = [*closest, state_at_source(k), *followers, port.variable(other_side(port.source.side))]
        found[k] = next(name for name in names if name not in taken)
        taken.add(found[k])
    return found


def _dependent_variables_beside(causal: CausalGraph) -> dict[int, list[str]]:
    """For each source of a through variable the across variables of the dependent storages at the same nodes: they are the same.

    Signs agree where the two lie in opposite directions between the nodes: what a source gives, the storage takes.
    """
    ports = causal.graph.ports
    followers: dict[tuple[int, int], list[str]] = {}
    for k in causal.derivative:
        port, law = ports[k], ports[k].law
        if isinstance(law, StorageLaw) and law.side == "across" and not law.keeps_energy_variable:
            followers.setdefault((port.plus, port.minus), []).append(port.across)
    return {
        k: followers.get((ports[k].minus, ports[k].plus), []) for k in causal.sources if causal.follows(k) == "across"
    }


def position_dependent_names(graph: PowerGraph) -> frozenset[str]:
    """Displacements and parameters that depend on them, where a modulus reads one; else nothing."""
    # A modulus that moves makes a pivot that may vanish somewhere on the way, such as the cosine of an angle; one of
    # constants vanishes always or never.
    names = frozenset(graph.displacements) | frozenset(graph.position_dependent)
    return names if any(coupling.free_symbols & names for coupling in graph.couplings) else frozenset()


def tearing_order(causal: CausalGraph) -> list[int]:
    """Columns that may be taken as known: outputs of storages that follow, in order, then what ideal ports are told, last first."""
    ports = causal.graph.ports
    # First speeds of bodies that follow others: their equations are the constraints of the chain, which is what is
    # solved in the end.
    follow = [column(k, causal.follows(k)) for k in causal.derivative]
    # Ideal ports of a mechanism are its ideal joints; the last one in order closes the chain.
    ideal = [k for k, port in enumerate(ports) if isinstance(port.law, ResistiveLaw) and port.law.ideal]
    return [*follow, *(column(k, causal.follows(k)) for k in reversed(ideal))]
