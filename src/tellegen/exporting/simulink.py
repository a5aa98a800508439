"""From a block diagram to the blocks and lines of Simulink, laid out like the figure of the scheme, and the program that
builds them there one by one: `new_system`, `add_block`, `add_line`, `set_param`.

The top system has an empty name. A signal that a block reads in another system than the one that makes it goes through an outport
and an inport, which are made when they are first needed.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

from tellegen.core.names import TIME
from tellegen.exporting.diagram import (
    Diagram,
    DiagramColumn,
    Formula,
    Hold,
    Inertia,
    Integrator,
    MatrixBlock,
    TransportDelay,
    formula,
    formula_of,
    fresh,
)
from tellegen.exporting.matlab_program import (
    ATOL,
    RTOL,
    comment_text,
    inertia_text,
    number_text,
    program_part,
    row_text,
    table_arguments,
)
from tellegen.expressions import ZERO, Expression, symbol
from tellegen.expressions.matlab import MatlabLines, has_choice, matlab_name, to_matlab
from tellegen.graph.signals import Table

TOP = ""
# `add_block` wants whole paths; the program loads the library before the first of them.
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
    "law": "simulink/User-Defined Functions/Fcn",
    "lookup table": "simulink/Lookup Tables/1-D Lookup Table",
    "memory": "simulink/Discrete/Memory",
    "mux": "simulink/Signal Routing/Mux",
    "multiport switch": "simulink/Signal Routing/Multiport Switch",
    "outport": "simulink/Sinks/Out1",
    "subsystem": "built-in/Subsystem",
    "sum": "simulink/Math Operations/Sum",
    "transport delay": "simulink/Continuous/Transport Delay",
    "zero-order hold": "simulink/Discrete/Zero-Order Hold",
}
"""The kinds of blocks, and where Simulink has them."""

Position = tuple[int, int, int, int]
FunctionText = Callable[[Expression, Mapping[str, str]], str]
"""Writes a law in one line, over the names given to its signals."""
Settings = tuple[tuple[str, str], ...]


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
    """Collects blocks and lines. Every signal has one place where it is made.

    Blocks ask for the signals that they read; their lines are drawn when every signal has its block.
    """

    def __init__(self) -> None:
        self.blocks: list[SimulinkBlock] = []
        self.lines: list[SimulinkLine] = []
        self._names: dict[str, set[str]] = {}
        self._made: dict[str, tuple[str, str, int]] = {}
        self._inside: dict[tuple[str, str], str] = {}
        self._ports: dict[tuple[str, str], list[str]] = {}
        self._asked: list[tuple[str, str, int, str]] = []  # system, block, port, signal
        self._rows: dict[tuple[str, str], int] = {}

    def row(self, system: str, place: str) -> int:
        """How many blocks stand already at a place of a system: the row of the next one."""
        row = self._rows[system, place] = self._rows.get((system, place), -1) + 1
        return row

    def put(self, signal: str, block: SimulinkBlock, reads: Iterable[str] = ()) -> str:
        """Add the block that makes a signal and reads others."""
        name = self.read(block, reads)
        self.make(signal, block.system, name)
        return name

    def read(self, block: SimulinkBlock, signals: Iterable[str]) -> str:
        """Add a block that reads signals."""
        name = self.add(block)
        self._asked += [(block.system, name, port, signal) for port, signal in enumerate(signals, 1)]
        return name

    def connect_all(self) -> None:
        """Draw all lines that blocks have asked for."""
        for system, block, port, signal in self._asked:
            self.connect(signal, system, block, port)

    def add(self, block: SimulinkBlock) -> str:
        """Put a block into its system; gives its name there, which is another one where that is taken."""
        name = fresh(block.name, self._names.setdefault(block.system, set()))
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
        # A signal leaves a subsystem once and enters another once, however many blocks read it there.
        home, block, port = self._made[signal]
        if home == system:
            return block, port
        if system == TOP:
            return home, self._outport(signal, home, block, port)
        return self._inport(signal, system), 1

    def _outport(self, signal: str, system: str, block: str, port: int) -> int:
        """The number of the port through which a signal leaves its system."""
        ports = self._ports.setdefault((system, "outport"), [])
        if signal not in ports:
            name = self._new_port(signal, f"{matlab_name(signal)}_out", system, "outport", 460)
            self.lines.append(SimulinkLine(system, block, port, name, 1))
        return ports.index(signal) + 1

    def _inport(self, signal: str, system: str) -> str:
        """The inport through which a signal enters a system."""
        if (system, signal) not in self._inside:
            self._inside[system, signal] = self._new_port(signal, matlab_name(signal), system, "inport", 30)
            self.connect(signal, TOP, system, len(self._ports[system, "inport"]))
        return self._inside[system, signal]

    def _new_port(self, signal: str, name: str, system: str, kind: str, left: int) -> str:
        ports = self._ports.setdefault((system, kind), [])
        ports.append(signal)
        y, settings = 40 * len(ports), (("Port", str(len(ports))),)
        return self.add(SimulinkBlock(system, name, kind, (left, y, left + 30, y + 14), settings))


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
SCHEME_WIDTH, SCHEME_STEP = 110, 70
"""How far sections of a vector scheme stand apart, and blocks between its lines."""
MOST_IN_A_CIRCLE = 3


@final
class DiagramBuilder:
    """All blocks of a diagram with their lines. `home` is the system of what belongs to no column."""

    def __init__(
        self, diagram: Diagram, wiring: SimulinkWiring | None = None, home: str = TOP, law: FunctionText | None = None
    ) -> None:
        self.diagram = diagram
        self.law = law
        self.wiring = SimulinkWiring() if wiring is None else wiring
        self.home = home
        self.systems: dict[str, str] = {}
        self._before: dict[str, str] = {}
        self._taken = {*diagram.names_given(), *diagram.parameters, *diagram.names_read()}
        rows = 2 if diagram.scheme else 1 + max((c.row for c in diagram.columns), default=-1)
        self._below = 40 + ROW_HEIGHT * rows

    def built(self) -> SimulinkWiring:
        """The whole model."""
        diagram = self.diagram
        for column in diagram.columns:
            self._column(column)
        self._clock()
        for block in diagram.scheme:
            self._scheme_block(block)
        self.signals()
        for integrator in diagram.integrators:
            if not self._in_scheme(integrator):
                self._integrator(integrator)
        self.kept()
        self._outports()
        self.wiring.connect_all()
        return self.wiring

    def signals(self) -> None:
        """The blocks of everything that follows from states and time at once."""
        diagram = self.diagram
        for item in (*diagram.formulas, *diagram.readings):
            if isinstance(item, Table):
                self._table(item)
            elif not self._in_scheme(item):
                self._formula(item)
        if not diagram.scheme:
            self._rates()
        self._unknowns()

    def _in_scheme(self, item: Formula | Integrator) -> bool:
        """Whether a row of the equations is part of a block of the figure."""
        return bool(self.diagram.scheme and item.column)

    def kept(self) -> None:
        """The blocks of what samples hold and delays repeat."""
        for hold in self.diagram.holds:
            self._hold(hold)
        for delay in self.diagram.delays:
            settings = delay_time(delay)
            self._put(delay.name, TOP, "transport delay", "states", (delay.source,), settings=settings)

    def largest(self, name: str, signals: Sequence[str]) -> None:
        """The largest of some signals; -1 of none."""
        lines = [f"tg_y = max([{'; '.join(map(matlab_name, signals))}]);"]
        if signals:
            self._scripted(name, self.home, "function", lines, map(symbol, signals))
        else:
            self._put(name, self.home, "constant", "source", (), settings=(("Value", "-1"),))

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
            self._put(item.name, system, "gain", "gain", (read,), settings=(("Gain", to_matlab(item.factor)),))
        elif item.kind == "sum" and item.terms:
            signs = "".join("+" if sign > 0 else "-" for _, sign in item.terms)
            shape = "round" if len(signs) <= MOST_IN_A_CIRCLE else "rectangular"
            settings = (("IconShape", shape), ("Inputs", signs))
            self._put(item.name, system, "sum", "sum", [name for name, _ in item.terms], settings=settings)
        else:
            self._function(item.name, system, item.expression)

    def _function(self, name: str, system: str, expression: Expression) -> None:
        """A function of signals, or a constant of parameters."""
        # At the left of a column stand its inports.
        alone = expression.free_symbols <= {*self.diagram.parameters, TIME}
        place = "source" if alone and system == self.home else "function"  # at the left of a column stand its inports
        if expression.free_symbols <= self.diagram.parameters.keys():
            text = to_matlab(expression)
            # A dialog takes one expression, and `if` is none: the number is the same while parameters stay.
            if has_choice(expression):
                text = number_text(expression.evaluate(self.diagram.parameters))
            self._put(name, system, "constant", place, (), settings=(("Value", text),))
            return
        if self.law is not None:
            self._law(name, system, place, expression, self.law)
            return
        made = MatlabLines()
        made.assign("tg_y", expression)
        self._scripted(name, system, place, made.lines, [expression])

    def _law(self, name: str, system: str, place: str, expression: Expression, law: FunctionText) -> None:
        """A law in one line, of the entries of a vector: where no program may stand in a block."""
        signals = [n for n in sorted(expression.free_symbols) if n not in self.diagram.parameters]
        text = (("Expr", law(expression, {n: f"u({k})" for k, n in enumerate(signals, 1)})),)
        reads = signals
        if len(signals) > 1:
            together = fresh(f"{name}_inputs", self._taken)
            self._put(together, system, "mux", place, signals, settings=(("Inputs", str(len(signals))),))
            reads = [together]
        self._put(name, system, "law", place, reads, settings=text)

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
        # Parameters come last: Simulink turns them from inputs into values of the workspace by their names.
        script = (f"function tg_y = tg_block({arguments})", *lines, "end", *helpers)
        return self._put(name, system, "function", place, signals, script=script, parameters=parameters)

    def _table(self, item: Table) -> None:
        read = formula_of(item)
        if item.interpolation == "cubic":
            made = MatlabLines()
            # Simulink's own splines are other curves than our monotone one.
            made.lines.append(f"tg_y = tg_cubic({table_arguments(item)}, {made.text(read)});")
            self._scripted(item.name, self.home, "function", made.lines, [read], program_part("tables").splitlines())
            return
        argument = fresh(f"{item.name}_argument", self._taken)
        self._formula(formula(argument, read, self.diagram.parameters))
        settings = (
            ("BreakpointsForDimension1", row_text(item.points)),
            ("Table", row_text(item.values)),
            ("InterpMethod", "Linear point-slope" if item.interpolation == "linear" else "Flat"),
            ("ExtrapMethod", "Clip"),
        )
        self._put(item.name, self.home, "lookup table", "gain", (argument,), settings=settings)

    def _rates(self) -> None:
        """The matrix of inertias: one function that gives all rates, and what takes them apart."""
        inertia = self.diagram.inertia
        if inertia is None or not inertia.rates:
            return
        made = MatlabLines()
        made.lines.append(f"tg_y = {inertia_text(inertia, made)};")
        entries = [e for row in inertia.matrix for e in row]
        if self.law is not None:
            self._rates_by_laws(inertia)
            return
        # All rates come from one solution of a linear system: a function gives the column, a demux takes it apart.
        together = fresh("rates", self._taken)
        system = self.systems.get(inertia.column, self.home)
        place = "rates" if system == self.home else "function"
        self._scripted(together, system, place, made.lines, [*entries, *map(symbol, inertia.right)])
        settings = (("Outputs", str(len(inertia.rates))),)
        apart = SimulinkBlock(system, "rates_apart", "demux", self._place(system, place), settings)
        name = self.wiring.read(apart, [together])
        for k, rate in enumerate(inertia.rates, 1):
            self.wiring.make(rate, system, name, k)

    def _rates_by_laws(self, inertia: Inertia) -> None:
        """The rates without a program: quotients, or a gain with the inverse of a matrix that does not move."""
        system = self.systems.get(inertia.column, self.home)
        rows, n = inertia.matrix, len(inertia.rates)
        if all(rows[i][j] is ZERO for i in range(n) for j in range(n) if i != j):
            for k, (rate, arriving) in enumerate(zip(inertia.rates, inertia.right, strict=True)):
                self._function(rate, system, symbol(arriving) / rows[k][k])
            return
        wires = [fresh(name, self._taken) for name in ("arriving", "rates")]
        self._put(wires[0], system, "mux", "function", inertia.right, settings=(("Inputs", str(n)),))
        settings = (("Gain", f"inv({_matrix(rows, to_matlab)})"), ("Multiplication", "Matrix(K*u)"))
        self._put(wires[1], system, "gain", "rates", wires[:1], settings=settings)
        apart = SimulinkBlock(system, "rates_apart", "demux", self._place(system, "rates"), (("Outputs", str(n)),))
        name = self.wiring.read(apart, wires[1:])
        for k, rate in enumerate(inertia.rates, 1):
            self.wiring.make(rate, system, name, k)

    # -- the blocks of a vector scheme -----------------------------------------------------------------------------------------

    def _scheme_block(self, block: MatrixBlock) -> None:
        """One block of the figure; what it reads and makes are vectors."""
        constant = all(e.free_symbols <= self.diagram.parameters.keys() for row in block.matrix for e in row)
        if block.kind == "gain" and constant and not any(has_choice(e) for row in block.matrix for e in row):
            text = _matrix(block.matrix, to_matlab)
            settings = (("Gain", f"inv({text})" if block.inverted else text), ("Multiplication", "Matrix(K*u)"))
            self._put_wire(block, "gain", settings)
        elif block.kind in ("gain", "function"):
            self._vector_function(block)
        elif block.kind == "sum":
            self._put_wire(block, "sum", (("IconShape", "round"), ("Inputs", block.signs)))
        elif block.kind == "integrator":
            self._put_wire(block, "integrator", (("InitialCondition", _column_text(block.initial)),))
        elif block.kind == "zero":
            self._put_wire(block, "constant", (("Value", _column_text((0.0,) * block.size)),))
        elif block.kind == "collect":
            # Its own place comes before those of what turns signals round.
            place, size = self._scheme_place(block), (("Inputs", str(len(block.names))),)
            reads = [self._against(name, block) if sign < 0 else name for name, sign in block.names]
            self.wiring.put(block.name, SimulinkBlock(TOP, matlab_name(block.name), "mux", place, size), reads)
        elif block.kind == "apart":
            name = self._put_wire(block, "demux", (("Outputs", str(block.size)),))
            for k, (signal, sign) in enumerate(block.names, 1):
                # A lane that stores nothing has no state.
                if not signal:
                    continue
                self.wiring.make(signal if sign > 0 else self._turned(signal, block), TOP, name, k)
        else:
            number = len(self.diagram.recorded) + 1 + self.wiring.row(TOP, "shown")
            self._put_wire(block, "outport", (("Port", str(number)),))

    def _put_wire(
        self, block: MatrixBlock, kind: str, settings: Settings, reads: Iterable[str] | None = None, **further: Any
    ) -> str:
        made = SimulinkBlock(TOP, matlab_name(block.name), kind, self._scheme_place(block), settings, **further)
        return self.wiring.put(block.name, made, block.reads if reads is None else reads)

    def _scheme_place(self, block: MatrixBlock) -> Position:
        """Sections from left to right, the upper line above the blocks between the lines, and the lower line below them."""
        row = self.wiring.row(TOP, f"{block.line} {block.place}")
        left = 40 + SCHEME_WIDTH * block.place + SCHEME_STEP * row * (block.line != "between")
        top = {"upper": 40, "between": 110, "lower": 420}[block.line] + SCHEME_STEP * row * (block.line == "between")
        return left, top, left + 40, top + 34

    def _against(self, name: str, block: MatrixBlock) -> str:
        """A signal counted the other way."""
        turned = fresh(f"{name}_against", self._taken)
        made = SimulinkBlock(TOP, matlab_name(turned), "gain", self._scheme_place(block), (("Gain", "-1"),))
        self.wiring.put(turned, made, (name,))
        return turned

    def _turned(self, name: str, block: MatrixBlock) -> str:
        """The other way round: a wire for a signal that is the negative of it."""
        wire = fresh(f"{name}_against", self._taken)
        made = SimulinkBlock(TOP, matlab_name(name), "gain", self._scheme_place(block), (("Gain", "-1"),))
        self.wiring.put(name, made, (wire,))
        return wire

    def _vector_function(self, block: MatrixBlock) -> None:
        """A function of a wire: a matrix that moves, or rows that are not linear."""
        made = MatlabLines()
        own = [name for name, _ in block.names]
        made.lines += [f"{matlab_name(name)} = tg_u({k});" for k, name in enumerate(own, 1)]
        if block.kind == "gain":
            by = "\\" if block.inverted else "*"
            made.lines.append(f"tg_y = {_matrix(block.matrix, made.text)} {by} tg_u;")
        else:
            made.lines.append(f"tg_y = {_matrix([[e] for e in block.rows], made.text)};")
        entries = [*block.rows, *(e for row in block.matrix for e in row)]
        read = sorted(frozenset().union(*(e.free_symbols for e in entries)) - {*own})
        signals = [name for name in read if name not in self.diagram.parameters]
        parameters = tuple(matlab_name(name) for name in read if name in self.diagram.parameters)
        wire = ["tg_u"] if block.reads else []
        arguments = ", ".join([*wire, *map(matlab_name, signals), *parameters])
        script = (f"function tg_y = tg_block({arguments})", *made.lines, "end")
        self._put_wire(block, "function", (), (*block.reads, *signals), script=script, parameters=parameters)

    def _integrator(self, item: Integrator) -> None:
        system = self.systems.get(item.column, TOP)
        settings = (("InitialCondition", number_text(item.initial)),)
        self._put(
            item.name, system, "integrator", "integrator" if system else "states", (item.rate,), settings=settings
        )

    def _hold(self, hold: Hold) -> None:
        """What is sampled at one instant reads what others held before it: through a memory."""
        # Samples of one instant read each other as they were before it, whatever the order of blocks.
        initial = {other.name: other.initial for other in self.diagram.holds}
        for name in sorted(hold.expression.free_symbols & initial.keys() - self._before.keys()):
            self._before[name] = fresh(f"{name}_before", self._taken)
            before = (("InitialCondition", number_text(initial[name])),)
            self._put(self._before[name], TOP, "memory", "gain", (name,), settings=before)
        taken = fresh(f"{hold.name}_taken", self._taken)
        read = hold.expression.substitute({n: symbol(b) for n, b in self._before.items()})
        self._formula(formula(taken, read, self.diagram.parameters))
        held = fresh(f"{hold.name}_held", self._taken) if hold.offset > 0 else hold.name
        self._put(held, TOP, "zero-order hold", "states", (taken,), settings=sample_time(hold))
        # A hold knows no value before its first sample: a function gives the initial one until then.
        if hold.offset > 0:
            self._scripted(hold.name, TOP, "function", until_sampled(hold, held), [symbol(TIME), symbol(held)])

    def _unknowns(self) -> None:
        """Simulink looks for the values at which the residuals vanish."""
        unknowns = self.diagram.unknowns
        for name, residual, guess in zip(unknowns.names, unknowns.residuals, unknowns.guesses, strict=True):
            vanishing = fresh(f"{name}_residual", self._taken)
            self._function(vanishing, self.home, residual)
            # The solver of Simulink looks for the values from the start of our own run.
            settings = (("InitialGuess", number_text(guess)),)
            self._put(name, self.home, "algebraic constraint", "states", (vanishing,), settings=settings)

    def _outports(self) -> None:
        for k, signal in enumerate(self.diagram.recorded, 1):
            position, settings = self._place(TOP, "outport"), (("Port", str(k)),)
            self.wiring.read(SimulinkBlock(TOP, f"{matlab_name(signal)}_out", "outport", position, settings), [signal])

    # -- places ----------------------------------------------------------------------------------------------------------------

    def _put(
        self,
        signal: str,
        system: str,
        kind: str,
        place: str,
        reads: Iterable[str],
        **further: Any,
    ) -> str:
        """Add the block that makes a signal; `further` is what else it has: settings, a script, parameters."""
        position = self._place(system, place)
        return self.wiring.put(signal, SimulinkBlock(system, matlab_name(signal), kind, position, **further), reads)

    def _place(self, system: str, place: str) -> Position:
        """Blocks of a kind stand below each other."""
        # In the top system the blocks that belong to no column stand below the ladder.
        left, top = ACROSS[place], 40 + 60 * self.wiring.row(system, place) + (self._below if system == TOP else 0)
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


def _matrix(rows: Iterable[Iterable[Expression]], text: Callable[[Expression], str]) -> str:
    """A matrix as MATLAB writes it."""
    return "[" + "; ".join(", ".join(map(text, row)) for row in rows) + "]"


def _column_text(values: Iterable[float]) -> str:
    return "[" + "; ".join(map(number_text, values)) + "]"


MODEL = "tg_model"


def build_file(diagram: Diagram, name: str, wiring: SimulinkWiring | None = None) -> str:
    """A function that builds the diagram in Simulink; with modes, what is built is given as `wiring`."""
    wiring = wiring or DiagramBuilder(diagram).built()
    lines = [
        *_head(diagram, name),
        *(_added(block) for block in wiring.blocks),
        *(_drawn(line) for line in wiring.lines),
        *_settings(diagram),
        f"open_system({MODEL});",
        "end",
    ]
    if any(block.kind == "function" for block in wiring.blocks):
        lines += ["", FUNCTION.rstrip()]
    return "\n".join([*lines, ""])


# A quote in the title of a model would end the text, and what follows it would be run.
def quoted(text: str) -> str:
    """A text of MATLAB that holds just these characters; what cannot be printed becomes a space."""
    return "'" + comment_text(text).replace("'", "''") + "'"


def _head(diagram: Diagram, name: str) -> Iterator[str]:
    yield f"function {name}_build({MODEL})"
    yield f"% Build '{comment_text(diagram.name)}' as a Simulink model, block by block."
    yield f"%   {name}_build()          a model named {name}_model, which no function of MATLAB is called"
    yield f"%   {name}_build('other')   a model of another name"
    yield "% Parameters lie in the workspace of the model; see its Model Explorer."
    yield f"if nargin < 1, {MODEL} = {quoted(f'{name}_model')}; end"
    yield "load_system('simulink');"
    yield f"new_system({MODEL});"
    yield f"tg_p = {name}_parameters();"
    yield f"tg_workspace = get_param({MODEL}, 'ModelWorkspace');"
    yield "tg_names = fieldnames(tg_p);"
    yield "for tg_k = 1:numel(tg_names)"
    yield "  assignin(tg_workspace, tg_names{tg_k}, tg_p.(tg_names{tg_k}));"
    yield "end"


def _added(block: SimulinkBlock) -> str:
    path = f"[{MODEL}, {quoted('/' + block.path)}]"
    position = "[" + ", ".join(map(str, block.position)) + "]"
    if block.kind == "function":
        return f"tg_function({path}, {position}, {_cell(block.script)}, {_cell(block.parameters)});"
    settings = "".join(f", {quoted(key)}, {quoted(value)}" for key, value in block.settings)
    return f"add_block({quoted(LIBRARY[block.kind])}, {path}, 'Position', {position}{settings});"


def _cell(texts: Iterable[str]) -> str:
    return "{" + ", ".join(map(quoted, texts)) + "}"


def _drawn(line: SimulinkLine) -> str:
    system = f"[{MODEL}, {quoted('/' + line.system)}]" if line.system else MODEL
    ends = f"{quoted(f'{line.source}/{line.source_port}')}, {quoted(f'{line.target}/{line.target_port}')}"
    return f"add_line({system}, {ends}, 'autorouting', 'on');"


def _settings(diagram: Diagram) -> Iterator[str]:
    """The experiment: how long, how exactly, and where steps must end because an input jumps."""
    # Simulink has its own solvers and its own events: here they do what our written steps do elsewhere.
    solver = "ode15s" if diagram.stiff else "ode45"
    chosen = {
        "StopTime": number_text(diagram.until),
        "SolverType": "Variable-step",
        "Solver": solver,
        "RelTol": repr(RTOL),
        "AbsTol": repr(ATOL),
    }
    # Simulink's steps end there, so that no step of the solver hides a jump of an input.
    if diagram.stops:
        chosen |= {"OutputOption": "AdditionalOutputTimes", "OutputTimes": row_text(diagram.stops)}
    for key, value in chosen.items():
        yield f"set_param({MODEL}, {quoted(key)}, {quoted(value)});"


FUNCTION = f"""function tg_function(tg_path, tg_position, tg_lines, tg_parameters)
% A MATLAB Function block; its arguments are its inputs, but for the parameters of the model.
add_block('{LIBRARY["function"]}', tg_path, 'Position', tg_position);
tg_root = sfroot();
tg_chart = tg_root.find('-isa', 'Stateflow.EMChart', 'Path', tg_path);
tg_chart.Script = strjoin(tg_lines, char(10));
for tg_k = 1:numel(tg_parameters)
  tg_data = tg_chart.find('-isa', 'Stateflow.Data', 'Name', tg_parameters{{tg_k}});
  tg_data.Scope = 'Parameter';
end
end
"""
