"""A model with modes as blocks of Simulink: a subsystem for the diagram of each mode, and switches that choose between them.

Every storage has an integrator. Which mode holds, and the states with which it began, are kept by a memory; a hit crossing stops
the solver where a guard rises, and a function then asks the program `NAME_modes` for the mode that follows and the states handed
over to it. The integrators are reset to these. What samples hold and delays repeat is common to all modes; what goes into them is
chosen by the mode too.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, final

from tellegen.core.names import TIME
from tellegen.exporting.diagram import Diagram, DiagramUnknowns, Formula, Hold, Inertia, Integrator
from tellegen.exporting.matlab_program import number_text
from tellegen.exporting.mode_diagrams import HybridDiagram, ModeDiagram
from tellegen.exporting.simulink import (
    TOP,
    DiagramBuilder,
    Position,
    SimulinkBlock,
    SimulinkWiring,
    delay_time,
    sample_time,
    until_sampled,
)
from tellegen.expressions import Expression, symbol
from tellegen.expressions.matlab import matlab_name
from tellegen.graph.signals import Table

ACROSS = {
    "time": 40,
    "modes": 180,
    "switches": 420,
    "guards": 560,
    "events": 700,
    "memory": 840,
    "states": 980,
    "kept": 1120,
    "out": 1260,
}
"""How far from the left the blocks of a kind stand, in the pixels of Simulink."""
BEFORE, EVENT, HIT, GUARD, MODE, RESET, NOTHING = "before", "event", "hit", "guard", "mode", "reset", "nothing"


def mode_name(number: int) -> str:
    """The subsystem of a mode; modes count from 1."""
    return f"mode_{number}"


def own_name(number: int, signal: str) -> str:
    """A signal as a mode has it."""
    return f"m{number}_{signal}"


def before_name(hold: str) -> str:
    """What a sampled signal held before a sample of that instant."""
    return f"{hold}_before"


def taken_name(hold: str) -> str:
    """What a sampled signal would take."""
    return f"{hold}_taken"


def mode_diagram(mode: ModeDiagram, number: int) -> Diagram:
    """The diagram of a mode with names of its own for all signals but states and what is held or delayed.

    What samples would take is one more signal of the mode for each of them.
    """
    assert mode.diagram is not None, "only modes that can be have a diagram"
    diagram = mode.diagram
    kept = {*(hold.name for hold in diagram.holds), *(delay.name for delay in diagram.delays)}
    # States, samples and delays exist once; everything else is told apart by the number of its mode.
    common = kept | {item.name for item in diagram.integrators}
    names = {name: own_name(number, name) for name in diagram.names_given() - common}
    symbols = {name: symbol(new) for name, new in names.items()}

    def named(name: str) -> str:
        return names.get(name, name)

    def said(expression: Expression) -> Expression:
        return expression.substitute(symbols)

    def item(old: Formula | Table) -> Formula | Table:
        if isinstance(old, Table):
            return replace(old, name=named(old.name), argument=said(old.argument))
        terms = tuple((named(name), sign) for name, sign in old.terms)
        factor = None if old.factor is None else said(old.factor)
        column = mode_name(number)
        return Formula(named(old.name), old.kind, said(old.expression), terms, factor, column)

    def taken(hold: Hold) -> Formula:
        before = {h.name: symbol(before_name(h.name)) for h in diagram.holds}
        read = said(hold.expression).substitute(before)
        return Formula(own_name(number, taken_name(hold.name)), "function", read, column=mode_name(number))

    coupled = diagram.inertia
    rates = None
    if coupled is not None:
        matrix = tuple(tuple(map(said, row)) for row in coupled.matrix)
        rates = Inertia(tuple(map(named, coupled.rates)), matrix, tuple(map(named, coupled.right)))
    unknowns = diagram.unknowns
    return replace(
        diagram,
        formulas=tuple(map(item, diagram.formulas)),
        readings=(*map(item, diagram.readings), *map(taken, diagram.holds)),
        integrators=tuple(Integrator(i.name, named(i.rate), i.initial) for i in diagram.integrators),
        columns=(),
        inertia=rates,
        unknowns=DiagramUnknowns(
            tuple(map(named, unknowns.names)), tuple(map(said, unknowns.residuals)), unknowns.guesses
        ),
        delays=tuple(replace(delay, source=named(delay.source)) for delay in diagram.delays),
        recorded=tuple(map(named, diagram.recorded)),
    )


@final
class HybridBuilder:
    """All blocks of a model with modes, and their lines: first the modes with all that is in them, then the switches, the events
    and the states. `name` is that of its programs.
    """

    def __init__(self, hybrid: HybridDiagram, name: str) -> None:
        self.hybrid, self.name = hybrid, name
        self.wiring = SimulinkWiring()
        self.modes = {k: mode_diagram(mode, k) for k, mode in enumerate(hybrid.modes, 1) if mode.diagram is not None}

    def built(self) -> SimulinkWiring:
        """The whole model."""
        hybrid = self.hybrid
        self._put(TIME, "clock", "time", ())
        # Switches need an input for every number, also for modes that physics forbids.
        self._put(NOTHING, "constant", "time", (), settings=(("Value", "0"),))
        for number, diagram in self.modes.items():
            self._mode(number, diagram)
        # A storage that follows others has no rate of its own in that mode: its integrator stands still.
        rates = {k: {item.name: item.rate for item in diagram.integrators} for k, diagram in self.modes.items()}
        for state in hybrid.states:
            self._switch(f"rate_of_{state}", [rates.get(k, {}).get(state, NOTHING) for k in self._numbers()])
        shown = {k: dict(zip(self._recorded(), d.recorded, strict=True)) for k, d in self.modes.items()}
        for signal in self._recorded():
            self._switch(f"{signal}_now", [shown.get(k, {}).get(signal, NOTHING) for k in self._numbers()])
        self._switch(GUARD, [own_name(k, GUARD) if k in self.modes else NOTHING for k in self._numbers()])
        self._kept()
        self._events()
        for state in hybrid.states:
            # An event turns the reset over, so that both directions must count.
            settings = (("ExternalReset", "either"), ("InitialConditionSource", "external"))
            self._put(
                state, "integrator", "states", (f"rate_of_{state}", RESET, f"{state}_handed_over"), settings=settings
            )
        for k, signal in enumerate(self._recorded(), 1):
            block = SimulinkBlock(TOP, f"{matlab_name(signal)}_out", "outport", self._place("out"), (("Port", str(k)),))
            self.wiring.read(block, [f"{signal}_now"])
        self.wiring.connect_all()
        return self.wiring

    def _numbers(self) -> range:
        return range(1, len(self.hybrid.modes) + 1)

    def _recorded(self) -> tuple[str, ...]:
        return self.hybrid.first.recorded

    def _mode(self, number: int, diagram: Diagram) -> None:
        """The subsystem of a mode, with the largest of its guards."""
        mode = self.hybrid.modes[number - 1]
        told = ", ".join(f"{e} {w}" for e, w in zip(self.hybrid.elements, mode.words, strict=True))
        x, y = ACROSS["modes"], 40 + 180 * (number - 1)
        block = SimulinkBlock(TOP, mode_name(number), "subsystem", (x, y, x + 150, y + 140), (("Description", told),))
        home = self.wiring.add(block)
        builder = DiagramBuilder(diagram, self.wiring, home)
        builder.systems[mode_name(number)] = home
        builder.signals()
        # The largest guard rises through zero when the first of them does: one hit crossing is enough.
        guards = [own_name(number, guard.signal) for guard in mode.guards]
        builder.largest(own_name(number, GUARD), guards)

    def _switch(self, signal: str, choices: list[str]) -> None:
        """One of several signals, by the number of the mode."""
        settings = (("Inputs", str(len(choices))),)
        self._put(signal, "multiport switch", "switches", (MODE, *choices), settings=settings)

    def _kept(self) -> None:
        """What samples hold and delays repeat, from what the mode gives them."""
        for hold in self.hybrid.first.holds:
            own = [own_name(k, taken_name(hold.name)) if k in self.modes else NOTHING for k in self._numbers()]
            self._switch(taken_name(hold.name), own)
            late = hold.offset > 0
            held = f"{hold.name}_held" if late else hold.name
            self._put(held, "zero-order hold", "kept", (taken_name(hold.name),), settings=sample_time(hold))
            if late:
                head = f"function tg_y = tg_block({matlab_name(TIME)}, {matlab_name(held)})"
                script = (head, *until_sampled(hold, held), "end")
                self._put(hold.name, "function", "kept", (TIME, held), script=script)
            initial = (("InitialCondition", number_text(hold.initial)),)
            self._put(before_name(hold.name), "memory", "kept", (hold.name,), settings=initial)
        for place, delay in enumerate(self.hybrid.first.delays):
            sources = [self.modes[k].delays[place].source if k in self.modes else NOTHING for k in self._numbers()]
            self._switch(f"{delay.name}_source", sources)
            self._put(delay.name, "transport delay", "kept", (f"{delay.name}_source",), settings=delay_time(delay))

    def _events(self) -> None:
        """Mode, reset and states handed over are kept by a memory; an event asks for new ones."""
        states, first = self.hybrid.states, self.hybrid.first
        held, late = [hold.name for hold in first.holds], [delay.name for delay in first.delays]
        crossing = (("HitCrossingOffset", "0"), ("HitCrossingDirection", "rising"), ("ShowOutputPort", "on"))
        self._put(HIT, "hit crossing", "guards", (GUARD,), settings=crossing)
        # The memory breaks the circle: what follows an event reads what held before it.
        read = [TIME, HIT, BEFORE, *states, *held, *late]
        given = ["tg_x", "tg_mode", *([_column(held), _column(late)] if held or late else [])]
        script = (
            f"function tg_y = tg_block({', '.join(map(matlab_name, read))})",
            # The search runs in MATLAB itself, from the file beside the model; it is not compiled into it.
            f"coder.extrinsic('{self.name}_modes');",
            f"tg_y = {BEFORE};",
            f"if {HIT}",
            f"  tg_mode = {BEFORE}(1);",
            f"  tg_x = {_column(states)};",
            f"  [tg_mode, tg_x] = {self.name}_modes({matlab_name(TIME)}, {', '.join(given)});",
            f"  tg_y = [tg_mode; 1 - {BEFORE}(2); tg_x];",
            "end",
            "end",
        )
        self._put(EVENT, "function", "events", read, script=script)
        # The number of the mode, the state of the reset, then the states with which the run begins.
        start = "; ".join(number_text(value) for value in (self.hybrid.start + 1, 0, *self.hybrid.initial))
        self._put(BEFORE, "memory", "memory", (EVENT,), settings=(("InitialCondition", f"[{start}]"),))
        apart = SimulinkBlock(TOP, "apart", "demux", self._place("memory"), (("Outputs", str(len(states) + 2)),))
        name = self.wiring.read(apart, [BEFORE])
        for k, signal in enumerate((MODE, RESET, *(f"{state}_handed_over" for state in states)), 1):
            self.wiring.make(signal, TOP, name, k)

    def _put(self, signal: str, kind: str, place: str, reads: Iterable[str], **further: Any) -> None:
        self.wiring.put(signal, SimulinkBlock(TOP, matlab_name(signal), kind, self._place(place), **further), reads)

    def _place(self, place: str) -> Position:
        left, top = ACROSS[place], 40 + 60 * self.wiring.row(TOP, place)
        return left, top, left + 70, top + 34


def _column(signals: Iterable[str]) -> str:
    """Signals as a column of MATLAB."""
    return f"[{'; '.join(map(matlab_name, signals))}]"
