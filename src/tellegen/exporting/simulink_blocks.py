"""From a block diagram to the blocks and lines of Simulink, laid out like the figure of the scheme.

The top system has an empty name. A signal that a block reads in another system than the one that makes it goes through an outport
and an inport, which are made when they are first needed.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import final

from tellegen.core.names import TIME
from tellegen.exporting.diagram import (
    Diagram,
    DiagramColumn,
    Formula,
    Hold,
    Integrator,
    TransportDelay,
    formula,
    formula_of,
)
from tellegen.exporting.matlab_program import inertia_text, number_text, row_text, table_arguments
from tellegen.exporting.matlab_steps import TABLES
from tellegen.expressions import Expression, symbol
from tellegen.expressions.matlab import MatlabLines, has_choice, matlab_name, to_matlab
from tellegen.graph.signals import Table

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
class SimulinkWiring:
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


COLUMN_WIDTH, ROW_HEIGHT = 190, 220
"""How far columns and ladders stand apart, in the pixels of Simulink."""
ACROSS = {
    "source": 20,
    "function": 180,
    "sum": 90,
    "gain": 360,
    "integrator": 270,
    "rates": 420,
    "states": 600,
    "outport": 780,
}
"""How far from the left blocks of a kind stand, inside a column and beside the ladder."""
MOST_IN_A_CIRCLE = 3


def simulink_blocks(diagram: Diagram) -> SimulinkWiring:
    """All blocks of a diagram with their lines."""
    return DiagramBuilder(diagram).built()


@final
class DiagramBuilder:
    """First every block with what it makes, then every line. `home` is the system of what belongs to no column."""

    def __init__(self, diagram: Diagram, wiring: SimulinkWiring | None = None, home: str = TOP) -> None:
        self.diagram = diagram
        self.wiring = SimulinkWiring() if wiring is None else wiring
        self.home = home
        self.systems: dict[str, str] = {}
        self.inputs: list[tuple[str, str, int, str]] = []  # system, block, port, signal
        self._rows: dict[tuple[str, str], int] = {}
        self._before: dict[str, str] = {}
        self._taken = {*diagram.names_given(), *diagram.parameters, *diagram.names_read()}
        self._below = 40 + ROW_HEIGHT * (1 + max((c.row for c in diagram.columns), default=-1))

    def built(self) -> SimulinkWiring:
        """The whole model."""
        diagram = self.diagram
        for column in diagram.columns:
            self._column(column)
        self._clock()
        self.signals()
        for integrator in diagram.integrators:
            self._integrator(integrator)
        self.kept()
        self._outports()
        self.connect()
        return self.wiring

    def signals(self) -> None:
        """The blocks of everything that follows from states and time at once."""
        diagram = self.diagram
        for item in (*diagram.formulas, *diagram.readings):
            self._table(item) if isinstance(item, Table) else self._formula(item)
        self._rates()
        self._unknowns()

    def kept(self) -> None:
        """The blocks of what samples hold and delays repeat."""
        for hold in self.diagram.holds:
            self._hold(hold)
        for delay in self.diagram.delays:
            self._delay(delay)

    def largest(self, name: str, signals: Sequence[str]) -> None:
        """The largest of some signals; -1 of none."""
        lines = [f"tg_y = max([{'; '.join(map(matlab_name, signals))}]);"]
        if signals:
            self._scripted(name, self.home, "function", lines, map(symbol, signals))
        else:
            self._put(name, self.home, "constant", "source", (), (("Value", "-1"),))

    def connect(self) -> None:
        """All lines that blocks have asked for."""
        for system, block, port, signal in self.inputs:
            self.wiring.connect(signal, system, block, port)

    # -- kinds of blocks -------------------------------------------------------------------------------------------------------

    def _column(self, column: DiagramColumn) -> None:
        """A subsystem for each column, named as the element, with its power sections in its description."""
        left, top = 40 + COLUMN_WIDTH * column.place, 40 + ROW_HEIGHT * column.row
        said = "; ".join(f"{across} and {through}" for across, through in column.sections)
        settings = (("Description", f"power sections: {said}"),) if said else ()
        position = (left, top, left + 110, top + 140)
        block = SimulinkBlock(TOP, matlab_name(column.name), "subsystem", position, settings)
        self.systems[column.name] = self.wiring.add(block)

    def _clock(self) -> None:
        if TIME in self.diagram.names_read() or any(hold.offset > 0 for hold in self.diagram.holds):
            self._put(TIME, TOP, "clock", "source", ())

    def _formula(self, item: Formula) -> None:
        system = self.systems.get(item.column, self.home)
        if item.kind == "gain" and item.factor is not None and not has_choice(item.factor):
            ((read, _),) = item.terms
            self._put(item.name, system, "gain", "gain", (read,), (("Gain", to_matlab(item.factor)),))
        elif item.kind == "sum" and item.terms:
            signs = "".join("+" if sign > 0 else "-" for _, sign in item.terms)
            shape = "round" if len(signs) <= MOST_IN_A_CIRCLE else "rectangular"
            settings = (("IconShape", shape), ("Inputs", signs))
            self._put(item.name, system, "sum", "sum", [name for name, _ in item.terms], settings)
        else:
            self._function(item.name, system, item.expression)

    def _function(self, name: str, system: str, expression: Expression) -> None:
        """A function of signals, or a constant of parameters."""
        alone = expression.free_symbols <= {*self.diagram.parameters, TIME}
        place = "source" if alone and system == self.home else "function"  # at the left of a column stand its inports
        if expression.free_symbols <= self.diagram.parameters.keys():
            text = to_matlab(expression)
            if has_choice(expression):
                text = number_text(expression.evaluate(self.diagram.parameters))
            self._put(name, system, "constant", place, (), (("Value", text),))
            return
        made = MatlabLines()
        made.assign("tg_y", expression)
        self._scripted(name, system, place, made.lines, [expression])

    def _scripted(
        self,
        name: str,
        system: str,
        place: str,
        lines: Iterable[str],
        expressions: Iterable[Expression],
        helpers: Iterable[str] = (),
    ) -> str:
        """A MATLAB Function block with these lines, which give tg_y."""
        read = sorted(frozenset().union(*(e.free_symbols for e in expressions)))
        signals = [n for n in read if n not in self.diagram.parameters]
        parameters = tuple(matlab_name(n) for n in read if n in self.diagram.parameters)
        arguments = ", ".join([*map(matlab_name, signals), *parameters])
        script = (f"function tg_y = tg_block({arguments})", *lines, "end", *helpers)
        return self._put(name, system, "function", place, signals, (), script, parameters)

    def _table(self, item: Table) -> None:
        read = formula_of(item)
        if item.interpolation == "cubic":
            made = MatlabLines()
            made.lines.append(f"tg_y = tg_cubic({table_arguments(item)}, {made.text(read)});")
            self._scripted(item.name, self.home, "function", made.lines, [read], TABLES.splitlines())
            return
        argument = self._fresh(f"{item.name}_argument")
        self._formula(formula(argument, read, self.diagram.parameters))
        settings = (
            ("BreakpointsForDimension1", row_text(item.points)),
            ("Table", row_text(item.values)),
            ("InterpMethod", "Linear point-slope" if item.interpolation == "linear" else "Flat"),
            ("ExtrapMethod", "Clip"),
        )
        self._put(item.name, self.home, "lookup table", "gain", (argument,), settings)

    def _rates(self) -> None:
        """The matrix of inertias: one function that gives all rates, and what takes them apart."""
        inertia = self.diagram.inertia
        if inertia is None or not inertia.rates:
            return
        made = MatlabLines()
        made.lines.append(f"tg_y = {inertia_text(inertia, made)};")
        entries = [e for row in inertia.matrix for e in row]
        together = self._fresh("rates")
        system = self.systems.get(inertia.column, self.home)
        place = "rates" if system == self.home else "function"
        self._scripted(together, system, place, made.lines, [*entries, *map(symbol, inertia.right)])
        apart = self._place(system, place)
        name = self.wiring.add(
            SimulinkBlock(system, "rates_apart", "demux", apart, (("Outputs", str(len(inertia.rates))),))
        )
        self.inputs.append((system, name, 1, together))
        for k, rate in enumerate(inertia.rates, 1):
            self.wiring.make(rate, system, name, k)

    def _integrator(self, item: Integrator) -> None:
        system = self.systems.get(item.column, TOP)
        settings = (("InitialCondition", number_text(item.initial)),)
        self._put(item.name, system, "integrator", "integrator" if system else "states", (item.rate,), settings)

    def _hold(self, hold: Hold) -> None:
        """What is sampled at one instant reads what others held before it: through a memory."""
        initial = {other.name: other.initial for other in self.diagram.holds}
        for name in sorted(hold.expression.free_symbols & initial.keys() - self._before.keys()):
            self._before[name] = self._fresh(f"{name}_before")
            before = (("InitialCondition", number_text(initial[name])),)
            self._put(self._before[name], TOP, "memory", "gain", (name,), before)
        taken = self._fresh(f"{hold.name}_taken")
        read = hold.expression.substitute({n: symbol(b) for n, b in self._before.items()})
        self._formula(formula(taken, read, self.diagram.parameters))
        settings = sample_time(hold)
        if hold.offset <= 0:
            self._put(hold.name, TOP, "zero-order hold", "states", (taken,), settings)
            return
        held = self._fresh(f"{hold.name}_held")
        self._put(held, TOP, "zero-order hold", "states", (taken,), settings)
        self._scripted(hold.name, TOP, "function", until_sampled(hold, held), [symbol(TIME), symbol(held)])

    def _delay(self, delay: TransportDelay) -> None:
        self._put(delay.name, TOP, "transport delay", "states", (delay.source,), delay_time(delay))

    def _unknowns(self) -> None:
        """Simulink looks for the values at which the residuals vanish."""
        unknowns = self.diagram.unknowns
        for name, residual, guess in zip(unknowns.names, unknowns.residuals, unknowns.guesses, strict=True):
            vanishing = self._fresh(f"{name}_residual")
            self._function(vanishing, self.home, residual)
            settings = (("InitialGuess", number_text(guess)),)
            self._put(name, self.home, "algebraic constraint", "states", (vanishing,), settings)

    def _outports(self) -> None:
        for k, signal in enumerate(self.diagram.recorded, 1):
            position, settings = self._place(TOP, "outport"), (("Port", str(k)),)
            name = self.wiring.add(SimulinkBlock(TOP, f"{matlab_name(signal)}_out", "outport", position, settings))
            self.inputs.append((TOP, name, 1, signal))

    # -- places ----------------------------------------------------------------------------------------------------------------

    def _put(
        self,
        signal: str,
        system: str,
        kind: str,
        place: str,
        reads: Iterable[str],
        settings: tuple[tuple[str, str], ...] = (),
        script: tuple[str, ...] = (),
        parameters: tuple[str, ...] = (),
    ) -> str:
        """Add the block that makes a signal."""
        block = SimulinkBlock(
            system, matlab_name(signal), kind, self._place(system, place), settings, script, parameters
        )
        name = self.wiring.add(block)
        self.wiring.make(signal, system, name)
        self.inputs += [(system, name, port, read) for port, read in enumerate(reads, 1)]
        return name

    def _fresh(self, name: str) -> str:
        """A name that no signal and no parameter has."""
        while name in self._taken:
            name += "_"
        self._taken.add(name)
        return name

    def _place(self, system: str, place: str) -> Position:
        """Blocks of a kind stand below each other."""
        row = self._rows[system, place] = self._rows.get((system, place), -1) + 1
        left, top = ACROSS[place], 40 + 60 * row + (self._below if system == TOP else 0)
        return left, top, left + 60, top + 34


def sample_time(hold: Hold) -> tuple[tuple[str, str], ...]:
    """When a zero-order hold takes its values."""
    return (("SampleTime", row_text((hold.period, hold.offset))),)


def delay_time(delay: TransportDelay) -> tuple[tuple[str, str], ...]:
    """How late a transport delay is, and what it tells before."""
    return (("DelayTime", number_text(delay.by)), ("InitialOutput", number_text(delay.initial)))


def until_sampled(hold: Hold, held: str) -> list[str]:
    """The lines of a function that gives the initial value before the first sample."""
    lines = [f"if {matlab_name(TIME)} < {number_text(hold.offset)}", f"  tg_y = {number_text(hold.initial)};"]
    return [*lines, "else", f"  tg_y = {matlab_name(held)};", "end"]
