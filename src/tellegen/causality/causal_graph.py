"""The result of causality: what each port decides, which storages depend on others, which paths close without a state."""

from dataclasses import dataclass
from typing import Literal, final

from tellegen.core.domains import Side, other_side
from tellegen.core.errors import Finding
from tellegen.graph import PowerGraph, ResistiveLaw, SourceLaw, StorageLaw

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
