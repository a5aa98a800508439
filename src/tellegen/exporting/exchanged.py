"""A model as other programs see it: its code, its variables by role, and what its parameters decide."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, final

import numpy as np

from tellegen.causality import CausalGraph, assign_causality
from tellegen.compiler.code import Code, exchanged_code, outputs_of, sloped_outputs
from tellegen.compiler.statements import Routine, variables_in, variables_read
from tellegen.core.errors import TellegenError
from tellegen.core.names import TIME, did_you_mean, listing
from tellegen.core.units import describe
from tellegen.experiments.setup import Setup
from tellegen.experiments.simulating import simulate
from tellegen.experiments.steady_state import set_up_at_start
from tellegen.exporting import rules
from tellegen.exporting.diagram_start import initial_run
from tellegen.exporting.exchanged_modes import (
    ExchangedMode,
    all_breaks,
    causal_in_mode,
    contents,
    exchanged_modes,
    mode_choices,
    only_mode,
)
from tellegen.exporting.mode_diagrams import first_words
from tellegen.expressions import Expression, Symbol, number
from tellegen.graph import PowerGraph, SourceLaw, lower
from tellegen.graph.power_graph import Node, Port
from tellegen.graph.signal_lowering import drive_given_inputs
from tellegen.graph.signals import Break, Delayed, External, SignalLaw, Value, expressions_of
from tellegen.model.model import Model
from tellegen.results.units import variable_units
from tellegen.simulation.solvers.stretch import StatePoint

NOWHERE = "electrical"
"""The domain of a source that stands for a measured value: any will do, for nothing flows through it."""


def with_signals_from_outside(graph: PowerGraph, names: Sequence[str]) -> PowerGraph:
    """The graph with some of its signals as inputs.

    Raises: ExportError (X407) for a name that is no signal.
    """
    known = [law.name for law in graph.signals]
    for name in names:
        if name not in known:
            fix = did_you_mean(name, known) or "an input beside the sources is a signal of the model"
            raise rules.UNKNOWN_OPTION.error(f"'{name}' is no signal of '{graph.name}'", fix=fix)
    kept = tuple(law for law in graph.signals if law.name not in names)
    return _with_inputs(replace(graph, signals=kept), names)


def controller_alone(graph: PowerGraph, wanted: Iterable[str]) -> tuple[PowerGraph, tuple[str, ...]]:
    """The signals that drive the power part, or are wanted, alone, and the names of those that drive.

    What they read of the power part are inputs.

    Raises: ExportError (X407) where no signal acts on the model.
    """
    signals = {law.name: law for law in graph.signals}
    driving: dict[str, None] = {}
    moving = (*(c.free_symbols for c in graph.couplings), *(e.free_symbols for e in graph.displacements.values()))
    driving.update(dict.fromkeys(name for names in moving for name in sorted(names & signals.keys())))
    for port in graph.ports:
        law = port.law
        if isinstance(law, SourceLaw) and law.signal is not None and law.signal.free_symbols & signals.keys():
            if isinstance(law.signal, Symbol):
                driving[law.signal.name] = None
            else:
                # What the formula of a source makes of signals is computed by the controller, too.
                signals[law.input] = Value(law.input, law.signal, place=port.place)
                driving[law.input] = None
        else:
            driving.update(dict.fromkeys(sorted(_read_by(port, graph) & signals.keys())))
    if not driving:
        raise rules.UNKNOWN_OPTION.error(
            f"'controller' was asked for, and no signal acts on '{graph.name}'",
            where=graph.name,
            fix="export the whole model, or drive a source by a signal",
        )
    kept = _needed(signals, [*driving, *(name for name in wanted if name in signals)])
    measured = dict.fromkeys(name for law in kept for name in sorted(_measured_by(law, graph) - signals.keys()))
    alone = replace(
        graph, nodes=(), ports=(), couplings=(), fields=(), displacements={}, switching={}, now={}, signals=tuple(kept)
    )
    return _with_inputs(alone, measured), tuple(driving)


def _read_by(port: Port, graph: PowerGraph) -> set[str]:
    """The names that the law of a port reads, in all of its modes."""
    law, read = port.law, set[str]()
    laws = [law]
    switching = graph.switching.get(graph.ports.index(port))
    if switching is not None:
        laws += switching.modes.values()
        read |= {n for ways in switching.transitions.values() for way in ways for n in way.guard.free_symbols}
    for one in laws:
        for word in ("inertia", "content", "slope", "output", "coefficient", "expression"):
            formula = getattr(one, word, None)
            read |= formula.free_symbols if formula is not None else set()
    return read


def _needed(signals: dict[str, SignalLaw], wanted: Sequence[str]) -> list[SignalLaw]:
    """The signals that some need, in their order."""
    found, waiting = set[str](), list(wanted)
    while waiting:
        name = waiting.pop()
        if name not in found and name in signals:
            found.add(name)
            waiting += _names_in(signals[name])
    return [law for name, law in signals.items() if name in found]


def _measured_by(law: SignalLaw, graph: PowerGraph) -> set[str]:
    """The names in a signal that are neither time nor parameters; those that move with a displacement are formulas of it."""
    found = _names_in(law)
    while moving := found & graph.position_dependent.keys():
        found = (found - moving).union(*(graph.position_dependent[name].free_symbols for name in moving))
    return found - {TIME, *graph.parameters}


def _names_in(law: SignalLaw) -> set[str]:
    return {name for e in expressions_of(law) for name in e.free_symbols}


def _with_inputs(graph: PowerGraph, names: Iterable[str]) -> PowerGraph:
    """The graph with a source for each name: an input under this name, through which nothing flows."""
    nodes, ports = list(graph.nodes), list(graph.ports)
    for name in names:
        plus = len(nodes)
        nodes += [Node(f"{name} from outside", NOWHERE, reference=False), Node("nothing", NOWHERE, reference=True)]
        # No name of a model has a space: what flows there is no variable that anybody is shown.
        through = f"flow of {name}"
        ports.append(Port(name, NOWHERE, plus, plus + 1, SourceLaw("across", name), across=name, through=through))
    return replace(graph, nodes=tuple(nodes), ports=tuple(ports))


Sources = Literal["open", "experiment"]

TOLERANCE = 1e-9
"""Laws that are infinitely steep are softened within this, and co-simulation steps within it."""

MOST_PORTS = 2000
NOMINAL_ROWS = 200
NUDGE = 1e-3
"""By how much a parameter is moved to see whether the start moves with it, and its cube what counts as having moved."""
AFTER_START = 1e-9
"""What counts as just after the start, as a share of the run."""

Role = Literal["state", "rate", "input", "parameter", "given parameter", "observable"]


@final
@dataclass(frozen=True)
class ExchangedVariable:
    """A variable by its role and its place there. `start` is None where it is computed."""

    name: str
    role: Role
    place: int
    unit: str = ""
    start: float | None = None
    is_output: bool = False
    is_fixed: bool = False
    nominal: float = 0.0


@final
@dataclass(frozen=True)
class Exchanged:
    """A model that is ready to be written for another program.

    `code` is that of the `first` of its modes, `states` are those of all modes, with their `start`; the first `storages` of them
    are handed over. `breaks` are the known times of all modes.
    """

    setup: Setup
    code: Code
    causal: CausalGraph
    variables: tuple[ExchangedVariable, ...]
    start: tuple[float, ...]
    start_formulas: tuple[Expression, ...]
    outputs: frozenset[str]
    states: tuple[str, ...]
    modes: tuple[ExchangedMode, ...]
    first: int = 0
    elements: tuple[str, ...] = ()
    storages: int = 0
    breaks: tuple[Break, ...] = ()

    @property
    def name(self) -> str:
        """What the model is called."""
        return self.setup.model.name

    @cached_property
    def by_role(self) -> Mapping[Role, tuple[ExchangedVariable, ...]]:
        """The variables of each role, in order."""
        found: dict[Role, list[ExchangedVariable]] = {}
        for variable in self.variables:
            found.setdefault(variable.role, []).append(variable)
        return {role: tuple(members) for role, members in found.items()}


def exchanged(
    model: Model,
    sources: Sources | Literal["constants"] = "open",
    variables: Sequence[str] = (),
    *,
    with_nominal: bool = True,
    with_modes: bool = True,
    with_delays: bool = False,
    from_outside: Sequence[str] = (),
    controller: bool = False,
) -> Exchanged:
    """The model with its sources as inputs, or with their courses inside; `variables` are further outputs. With "constants" the
    sources that are constant in the experiment are inputs, and the other courses inside.

    With `with_nominal`, a run of the experiment tells how large states become; `with_modes` and `with_delays` say what the other
    program can do. The signals `from_outside` are inputs too. A `controller` is the signals alone: its inputs are what they read
    of the power part, its outputs what they drive there.

    Raises: ExportError for what no other program can be given (X401, X402, X408, X409, X410), or for a name that is no variable
        (X407).
    """
    setup = set_up_at_start(model, rtol=TOLERANCE)
    graph = _with_sources(model, setup, sources)
    shown = tuple(dict.fromkeys((*model.experiment.outputs, *variables)))
    units = variable_units(graph)
    if from_outside:
        graph = with_signals_from_outside(graph, from_outside)
    if controller:
        graph, driving = controller_alone(graph, shown)
        shown = tuple(dict.fromkeys((*driving, *shown)))
    _refuse(model, graph, with_modes=with_modes, with_delays=with_delays)
    make = _with_modes if graph.switching else _without_modes
    made = make(setup, graph, shown)
    _refuse_rates_of_inputs(made.causal)
    if not made.code.explicit:
        raise rules.NOT_EXPLICIT.error(
            f"'{model.name}' gives its rates by equations that are solved together with its steps",
            where=model.name,
            fix="give the elements of the loop that has no state a storage or a linear law",
        )
    found = _variables(made, shown, _largest(model) if with_nominal else {}, units)
    made = replace(made, variables=found)
    unknown = [name for name in variables if name not in {v.name for v in found}]
    if unknown:
        names = [v.name for v in found]
        fix = did_you_mean(unknown[0], names) or f"some that are: {listing(names)}"
        raise rules.UNKNOWN_OPTION.error(f"'{unknown[0]}' is no variable of '{model.name}'", fix=fix)
    return made


def _without_modes(setup: Setup, graph: PowerGraph, shown: Sequence[str]) -> Exchanged:
    causal = assign_causality(graph)
    start = {**setup.numeric.initial, **setup.start}
    # A part of the model has some of its states, in the same order.
    kept = {*(port.state for port in graph.ports), *graph.displacements, *(law.name for law in graph.signals)}
    names = tuple(name for name in setup.numeric.names if name in kept)
    formulas = _start_formulas(setup, names, start)
    code = exchanged_code(causal, formulas, sloped_outputs(shown))
    values = tuple(float(start.get(name, 0.0)) for name in names)
    outputs = outputs_of(code.program, shown)
    breaks = tuple(code.program.signals.breaks)
    return Exchanged(
        setup,
        code,
        causal=causal,
        variables=(),
        start=values,
        start_formulas=formulas,
        outputs=outputs,
        states=names,
        modes=(only_mode(code),),
        breaks=breaks,
    )


def _with_modes(setup: Setup, graph: PowerGraph, shown: Sequence[str]) -> Exchanged:
    mode_choices(graph)  # counted before anything is derived
    # Our own start is taken over: which mode a run begins in, and what follows in it from the values given.
    run = initial_run(setup)
    first = first_words(setup.graph, run)
    causal = causal_in_mode(graph, first)
    plain = exchanged_code(causal, [], sloped_outputs(shown))
    storages = tuple(graph.ports[k].state for k in graph.storages())
    others = (plain.program.names[k] for k in plain.y)
    states = tuple(dict.fromkeys((*storages, *others)))
    modes = exchanged_modes(graph, plain, states, shown)
    start = {name: float(run.values(name)[0]) for name in states}
    formulas = _start_formulas(setup, states, start)
    breaks = all_breaks(modes)
    more = {"inertia": contents(graph)} if any(mode.following for mode in modes) else {"inertia": []}
    code = exchanged_code(causal, formulas, sloped_outputs(shown), breaks=breaks, more=more)
    number_of_first = [mode.words for mode in modes].index(first)
    return Exchanged(
        setup,
        code,
        causal=causal,
        variables=(),
        start=tuple(start.values()),
        start_formulas=formulas,
        outputs=outputs_of(code.program, shown),
        states=states,
        modes=modes,
        first=number_of_first,
        elements=tuple(graph.ports[k].element for k in graph.switching),
        storages=len(storages),
        breaks=breaks,
    )


def _refuse(model: Model, graph: PowerGraph, *, with_modes: bool, with_delays: bool) -> None:
    if graph.switching and not with_modes:
        fix = "export it to simulink or fmu"
        what = f"'{model.name}' has modes, and what is written here does not go from one to the next"
        raise rules.MODES.error(what, where=model.name, fix=fix)
    for law in graph.signals:
        # Each mode observes in an order of its own, and the past is one.
        if isinstance(law, Delayed) and (graph.switching or not with_delays):
            raise rules.DELAYED.error(
                f"the signal '{law.name}' repeats another one later",
                where=law.name,
                fix="leave the delay out, or give it as a lag",
            )
        if isinstance(law, External):
            raise rules.SIGNALS.error(
                f"the signal '{law.name}' is a Python function", where=law.name, fix="give it as a formula or a table"
            )
    if len(graph.ports) > MOST_PORTS:
        raise rules.NOT_EXPLICIT.error(
            f"'{model.name}' has {len(graph.ports)} ports, and code for more than {MOST_PORTS} is not written out",
            where=model.name,
            fix="export a part of it, or a reduced model",
        )


def _refuse_rates_of_inputs(causal: CausalGraph) -> None:
    """Raises: ExportError (X410) where a storage follows an input."""
    ports = causal.graph.ports
    for d in causal.dependent:
        for k in d.on:
            law = ports[k].law
            if isinstance(law, SourceLaw) and law.signal is None:
                follower = ports[d.port].element
                raise rules.RATE_OF_INPUT.error(
                    f"'{follower}' follows the input '{law.input}' and takes its rate",
                    where=follower,
                    fix="keep the courses of sources inside (sources='experiment', --sources experiment)",
                    members=(follower, law.input),
                )


def _with_sources(model: Model, setup: Setup, sources: str) -> PowerGraph:
    """The graph of a run with its sources opened, or with constant courses in it, too."""
    plain = lower(model)
    opened = {port.law.input for port in plain.ports if isinstance(port.law, SourceLaw) and port.law.signal is None}
    plain_signals = {law.name for law in plain.signals}
    graph = setup.graph
    if sources != "open":
        return drive_given_inputs(graph, _courses_inside(model, setup, but_numbers=sources == "constants"))
    ports = [
        replace(port, law=replace(port.law, signal=None))
        if isinstance(port.law, SourceLaw) and port.law.input in opened
        else port
        for port in graph.ports
    ]
    # Courses that were signals of their own are nobody's any more.
    signals = {law.name: law for law in graph.signals}
    courses = [port.law.signal for port in graph.ports if isinstance(port.law, SourceLaw) and port.law.input in opened]
    left = [name for e in courses if e is not None for name in e.free_symbols]
    while left:
        name = left.pop()
        if name in signals and name not in plain_signals:
            left += _names_read(signals.pop(name))
    return replace(graph, ports=tuple(ports), signals=tuple(signals.values()))


def _courses_inside(model: Model, setup: Setup, *, but_numbers: bool) -> dict[str, Expression]:
    """What stays constant in the experiment: as a formula of parameters where it is one, so that it moves with them."""
    courses = model.experiment.inputs
    formulas = {name: e for name in setup.inputs if name in courses and (e := courses[name].expression) is not None}
    inside = {name: e for name, e in formulas.items() if e.free_symbols}
    if but_numbers:
        return inside
    return {name: number(value) for name, value in setup.inputs.items() if name in courses} | inside


def _names_read(law: SignalLaw) -> set[str]:
    """The names in the formulas of a signal."""
    formulas = [e for word in ("expression", "argument", "rate") if (e := getattr(law, word, None)) is not None]
    return set().union(*(e.free_symbols for e in formulas))


def _start_formulas(setup: Setup, names: Sequence[str], start: Mapping[str, float]) -> tuple[Expression, ...]:
    """The start of each state: as a formula of parameters where that is what holds, else as a number."""
    graph, values = setup.graph, setup.parameters
    given: dict[str, Expression] = {p.state: e for p in graph.ports if p.state and (e := p.initial_state) is not None}
    given |= {law.name: law.initial for law in graph.signals if hasattr(law, "initial")}
    given |= setup.model.experiment.initial
    found = []
    for name in names:
        value, formula = start.get(name, 0.0), given.get(name)
        # Positions of mechanisms are solved for: then the formula says less than the number.
        holds = formula is not None and formula.free_symbols <= values.keys()
        if holds and formula is not None and abs(formula.evaluate(values) - value) <= 1e-12 * abs(value):
            found.append(formula)
        else:
            found.append(number(value))
    return tuple(found)


def _variables(
    made: Exchanged, shown: Sequence[str], nominal: Mapping[str, float], units: Mapping[str, str]
) -> tuple[ExchangedVariable, ...]:
    setup, code, names = made.setup, made.code, made.states
    program = code.program
    inputs = [program.names[k] for k in program.inputs]
    wanted = outputs_of(program, shown)
    found = [
        ExchangedVariable(
            name, "state", k, units.get(name, ""), is_output=name in wanted, nominal=nominal.get(name, 0.0)
        )
        for k, name in enumerate(names)
    ]
    found += [
        ExchangedVariable(f"der({name})", "rate", k, _per_second(units.get(name, ""))) for k, name in enumerate(names)
    ]
    begin = _input_starts(setup)
    found += [
        ExchangedVariable(name, "input", k, units.get(name, ""), start=begin.get(name, 0.0))
        for k, name in enumerate(inputs)
    ]
    taken = {*names, *inputs}
    for k, (o, _) in enumerate(program.observables):
        # The output of a source stands there as its power variable too; delays show what goes into them for the solver.
        if o.name not in taken and " " not in o.name:
            taken.add(o.name)
            unit = o.unit or units.get(o.name, "")
            found.append(ExchangedVariable(o.name, "observable", k, unit, is_output=o.name in wanted))
    told = _parameters(setup, code, taken)
    deciding = _deciding_start(made, [code.base[v.place] for v in told if v.role == "parameter"])
    # Who moved one of these would begin where the model does not: they are part of what is written, like a count of elements.
    return (*found, *(v for v in told if v.role != "parameter" or code.base[v.place] not in deciding))


def _deciding_start(made: Exchanged, names: Sequence[str]) -> set[str]:
    """The parameters by which a start is found that no formula tells: positions of a mechanism, a state of rest."""
    model, values = made.setup.model, made.setup.parameters
    found = dict(zip(made.states, zip(made.start, made.start_formulas, strict=True), strict=True))
    searched = model.mechanism is not None or model.experiment.start != "initial"
    solved = {k: value for k, (value, formula) in found.items() if not formula.free_symbols and (value or searched)}
    given = {p.state for p in made.causal.graph.ports if p.initial_state is not None} | {*model.experiment.initial}
    if not searched and solved.keys() <= given:
        return set()
    deciding = set()
    for name in names:
        moved = values[name] * (1 + NUDGE) or NUDGE
        try:
            ready = set_up_at_start(model, rtol=TOLERANCE, parameters={name: moved})
        except TellegenError:
            deciding.add(name)
            continue
        start = {**ready.numeric.initial, **ready.start}
        if any(abs(start.get(k, value) - value) > NUDGE**3 * (1 + abs(value)) for k, value in solved.items()):
            deciding.add(name)
    return deciding


def _parameters(setup: Setup, code: Code, taken: set[str]) -> list[ExchangedVariable]:
    program, model = code.program, setup.model
    read = {
        name
        for routine in code.routines
        if routine.name in ("initial", "times")
        for name in _parameters_read(routine, code.base)
    }
    found = []
    for role, names in (("parameter", code.base), ("given parameter", tuple(program.formulas))):
        for k, name in enumerate(names):
            known = model.parameters.get(name)
            # Softening and the like are no parameters of the model.
            if known is None or name in model.counts:
                continue
            unit = known.unit if known.dimension is None else describe(known.dimension).split(" ")[0]
            unit = "" if unit == "1" else unit
            shown = f"parameter.{name}" if name in taken else name
            start = setup.parameters[name] if role == "parameter" else None
            found.append(ExchangedVariable(shown, role, k, unit, start=start, is_fixed=name in read))  # type: ignore[arg-type]
    return found


def _parameters_read(routine: Routine, base: Sequence[str]) -> set[str]:
    read = variables_in(routine.results).union(*map(variables_read, routine.statements))
    return {base[routine.leaves[k][1]] for k in read if k in routine.leaves and routine.leaves[k][0] == "p"}


def _per_second(unit: str) -> str:
    return f"{unit}/s" if unit and unit != "1" else "1/s" if unit else ""


def start_point(setup: Setup, t: float = 0.0) -> StatePoint:
    """Where the run of a model begins, as its solver sees it, for a look at another time, too."""
    model, y = setup.numeric, setup.numeric.start()
    for name, value in setup.start.items():
        if name in model.index:
            y[model.index[name]] = value
    yp = model.rhs(t, y, model.new_context(inputs=dict(setup.inputs))) if model.explicit else np.zeros_like(y)
    return StatePoint(t, y, yp)


def _input_starts(setup: Setup) -> dict[str, float]:
    """The values of courses just after the start, so that constants and steps at zero need no file."""
    model, context = setup.numeric, setup.numeric.new_context(inputs=dict(setup.inputs))
    at = start_point(setup, AFTER_START * setup.until)
    observed = model.observe(at.t, at.y, at.yp, context)
    values = dict(zip((o.name for o in model.observables), observed.tolist(), strict=True))
    sources = [port for port in setup.graph.ports if isinstance(port.law, SourceLaw)]
    return {port.law.input: values[port.variable(port.law.side)] for port in sources if isinstance(port.law, SourceLaw)}


def _largest(model: Model) -> dict[str, float]:
    """The largest value of each state in the experiment; nothing where it does not run."""
    try:
        run = simulate(model, samples=NOMINAL_ROWS, progress=False, on_failure="return")
    except TellegenError:
        return {}
    names = dict.fromkeys(name for segment in run.trajectory.segments for name in segment.model.names)
    return {name: float(np.nanmax(np.abs(run.values(name)), initial=0.0)) for name in names}
