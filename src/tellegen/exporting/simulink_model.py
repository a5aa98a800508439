"""A Simulink model as a value: blocks in systems, and lines between their ports.

The top system has an empty name. A signal that a block reads in another system than the one that makes it goes through an outport
and an inport, which are made when they are first needed.
"""

from dataclasses import dataclass, replace
from typing import final

from tellegen.expressions.matlab import matlab_name

TOP = ""
LIBRARY = {
    "algebraic constraint": "simulink/Math Operations/Algebraic Constraint",
    "clock": "simulink/Sources/Clock",
    "constant": "simulink/Sources/Constant",
    "demux": "simulink/Signal Routing/Demux",
    "function": "simulink/User-Defined Functions/MATLAB Function",
    "gain": "simulink/Math Operations/Gain",
    "hit crossing": "simulink/Discontinuities/Hit Crossing",
    "inport": "simulink/Sources/In1",
    "integrator": "simulink/Continuous/Integrator",
    "lookup table": "simulink/Lookup Tables/1-D Lookup Table",
    "memory": "simulink/Discrete/Memory",
    "multiport switch": "simulink/Signal Routing/Multiport Switch",
    "outport": "simulink/Sinks/Out1",
    "subsystem": "built-in/Subsystem",
    "sum": "simulink/Math Operations/Sum",
    "transport delay": "simulink/Continuous/Transport Delay",
    "zero-order hold": "simulink/Discrete/Zero-Order Hold",
}
"""The kinds of blocks, and where Simulink has them."""

Position = tuple[int, int, int, int]


@final
@dataclass(frozen=True, slots=True)
class SimulinkBlock:
    """A block in a system. A function has a `script`, whose arguments are its inputs and then the `parameters` named here."""

    system: str
    name: str
    kind: str
    position: Position
    settings: tuple[tuple[str, str], ...] = ()
    script: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        """Its path in the model."""
        return f"{self.system}/{self.name}" if self.system else self.name


@final
@dataclass(frozen=True, slots=True)
class SimulinkLine:
    """A line in a system from an output of one block to an input of another; ports count from 1."""

    system: str
    source: str
    source_port: int
    target: str
    target_port: int


@final
class Wiring:
    """Collects blocks and lines. Every signal has one place where it is made."""

    def __init__(self) -> None:
        self.blocks: list[SimulinkBlock] = []
        self.lines: list[SimulinkLine] = []
        self._names: dict[str, set[str]] = {}
        self._made: dict[str, tuple[str, str, int]] = {}
        self._inside: dict[tuple[str, str], str] = {}
        self._ports: dict[tuple[str, str], list[str]] = {}

    def add(self, block: SimulinkBlock) -> str:
        """Put a block into its system; gives its name there, which is another one where that is taken."""
        taken = self._names.setdefault(block.system, set())
        name = block.name
        while name in taken:
            name += "_"
        taken.add(name)
        self.blocks.append(replace(block, name=name))
        return name

    @property
    def made(self) -> set[str]:
        """The signals that have a block."""
        return set(self._made)

    def make(self, signal: str, system: str, block: str, port: int = 1) -> None:
        """Say which output of which block a signal is."""
        self._made[signal] = system, block, port

    def connect(self, signal: str, system: str, block: str, port: int) -> None:
        """Lead a signal to an input of a block."""
        source, source_port = self._source(signal, system)
        self.lines.append(SimulinkLine(system, source, source_port, block, port))

    def _source(self, signal: str, system: str) -> tuple[str, int]:
        """The block and port that give a signal inside a system."""
        home, block, port = self._made[signal]
        if home == system:
            return block, port
        if system == TOP:
            return home, self._outport(signal, home, block, port)
        return self._inport(signal, system), 1

    def _outport(self, signal: str, system: str, block: str, port: int) -> int:
        """The number of the port through which a signal leaves its system."""
        ports = self._ports.setdefault((system, "out"), [])
        if signal not in ports:
            ports.append(signal)
            y = 40 * len(ports)
            settings = (("Port", str(len(ports))),)
            name = self.add(
                SimulinkBlock(system, f"{matlab_name(signal)}_out", "outport", (460, y, 490, y + 14), settings)
            )
            self.lines.append(SimulinkLine(system, block, port, name, 1))
        return ports.index(signal) + 1

    def _inport(self, signal: str, system: str) -> str:
        """The inport through which a signal enters a system."""
        if (system, signal) not in self._inside:
            ports = self._ports.setdefault((system, "in"), [])
            ports.append(signal)
            y = 40 * len(ports)
            settings = (("Port", str(len(ports))),)
            name = self.add(SimulinkBlock(system, matlab_name(signal), "inport", (30, y, 60, y + 14), settings))
            self._inside[system, signal] = name
            self.connect(signal, TOP, system, len(ports))
        return self._inside[system, signal]
