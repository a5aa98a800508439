"""`equilibrium`: where a model comes to rest, in the mode that keeps its steady state, else where its motion ends."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from tellegen.analysis.summary import PowerSplit, split_power
from tellegen.compiler.compiling import compile_model
from tellegen.compiler.context import PAST, ModelContext
from tellegen.compiler.numeric_model import NumericModel
from tellegen.core.errors import CausalityError, SimulationError, TellegenError
from tellegen.core.names import TIME, identifier
from tellegen.core.tables import TitledTable, tables_html, tables_text
from tellegen.equations.system import parameter_values
from tellegen.experiments.input_signals import InputSignal
from tellegen.experiments.quantities import SECOND, Quantity, value_of
from tellegen.experiments.setup import Setup, end_of_experiment, run_of_trajectory, set_up
from tellegen.expressions import number
from tellegen.graph import PowerGraph, lower
from tellegen.graph.power_graph import SourceLaw
from tellegen.graph.signals import Delayed, External, Sampled, SignalLaw, Table, Value
from tellegen.model.model import Model
from tellegen.notations.loading import AnyModel, as_model
from tellegen.results.element_variables import sources_of
from tellegen.results.run import Run
from tellegen.results.units import behind_number
from tellegen.simulation import rules
from tellegen.simulation.global_error import has_memory
from tellegen.simulation.hybrid.integration import integrate_graph
from tellegen.simulation.problem import Problem
from tellegen.simulation.solvers.stretch import StatePoint
from tellegen.simulation.starting import find_equilibrium
from tellegen.simulation.trajectory import HeldRows, Segment, Trajectory

Array = NDArray[np.float64]

SAME: Final = 1e-9
STILL: Final = 1e-6
MOST_STEPS: Final = 50
NUDGE: Final = 1e-6


@final
class ConstantPast:
    """A past in which delayed signals were always what they are now."""

    def __init__(self, values: Array) -> None:
        self.values = values
        self._told = PAST(lambda _, number, __: float(self.values[number]))

    def tie(self, context: ModelContext, /) -> None:
        """Let a context read it."""
        context.remember(self._told)


def constant_past(problem: Problem) -> ConstantPast:
    """The past of a problem at rest, which its context reads from now on."""
    assert problem.context is not None, "made with one"
    lasting = ConstantPast(np.array([delay.initial for delay in problem.model.delays]))
    lasting.tie(problem.context)
    return lasting


def steady_state_of_mode(problem: Problem, past: ConstantPast) -> StatePoint:
    """The steady state; sampled signals hold what they would take again, delayed ones are what they were."""
    model = problem.model
    return _lasting_rest(problem, past) if model.sample_groups or model.delays else find_equilibrium(problem)


def _lasting_rest(problem: Problem, past: ConstantPast) -> StatePoint:
    """States, what is held and what comes back, found together by Newton's method with differences: a controller that sums up
    errors is no state.

    Raises: SimulationError (S119) naming what keeps changing.
    """
    model, context = problem.model, problem.context
    assert context is not None, "made with one"
    n, t, held_to = model.size, problem.t0, model.size + len(model.memory)
    names = (*model.names, *model.memory, *(delay.name for delay in model.delays))
    sources = [delay.observable for delay in model.delays]

    def missing(x: Array) -> Array:
        context.memory[: len(model.memory)] = x[n:held_to]
        past.values[:] = x[held_to:]
        held = x[n:held_to].copy()
        for k, group in enumerate(model.sample_groups):
            members = list(group.members)
            # Sampled once more at rest: a controller at rest gives again what it holds.
            held[members] = model.sample(t, x[:n], np.zeros(n), k, context)[members]
        now = model.observe(t, x[:n], np.zeros(n), context)[sources] if sources else np.zeros(0)
        residual = model.residual(t, x[:n], np.zeros(n), context)
        return np.concatenate([residual, held - x[n:held_to], now - x[held_to:]])

    x = np.concatenate([problem.start(), model.initial_memory, [delay.initial for delay in model.delays]])
    for _ in range(MOST_STEPS):
        here, sizes = missing(x), NUDGE * (1.0 + np.abs(x))
        # Differences, because what a sampled controller does is no formula of the states.
        moves = [(missing(x + e) - missing(x - e)) / 2.0 for e in np.diag(sizes)]
        # Least squares, as a controller that sums up errors leaves a direction in which any value is right.
        step = sizes * np.linalg.lstsq(np.column_stack(moves), -here, rcond=1e-12)[0]
        x = x + step
        if np.all(np.abs(step) <= SAME * (1e-6 + np.abs(x))):
            break
    here = missing(x)
    worst = int(np.argmax(np.abs(here)))
    if not np.all(np.abs(here) <= STILL * (1.0 + float(np.max(np.abs(x))))):
        raise rules.NO_EQUILIBRIUM.error(
            f"no equilibrium was found: '{names[worst]}' takes another value at every instant",
            where=model.name,
            fix="simulate the model, to see how it goes on",
            members=(names[worst],),
        )
    return StatePoint(t, x[:n], np.zeros(n))


FINE: Final = 1e-10
FOLLOWED: Final = 1e-8
"""The tolerances of a steady state, and of a motion that is followed to its end."""
AHEAD: Final = 1e-3
"""How long, in s, a run from a steady state with modes is watched."""
AT_ONCE: Final = 1e-9
"""How long, in s, what follows from given states at once may take."""
MOST_MODES: Final = 64

NOTHING: Final = 1e-9
"""What a variable that rests at zero may still move by, in SI units."""

LONGER: Final = (1.0, 4.0, 16.0, 64.0)
"""How long a motion is followed, beside the experiment: each stretch goes on where the last one ended."""
MOST_CHANGES: Final = 2000
"""A stretch with more changes of mode than this does not come to rest."""
LATER: Final = (0.0137, 0.171, 0.53, 1.0, 7.3, 41.9)
"""Where inputs are looked at, to see whether they stay as they are."""


@final
@dataclass(frozen=True)
class RestingModel:
    """A model that was set up, in the mode in which it rests, and where it does; `past` tells what delayed signals were."""

    ready: Setup
    problem: Problem
    standing: StatePoint
    past: ConstantPast

    def values(self) -> dict[str, float]:
        """States, displacements and outputs of storages that follow others, by name."""
        numeric, at, graph = self.ready.numeric, self.standing, self.ready.graph
        observed = numeric.observe(at.t, at.y, at.yp, self.problem.context)
        storages = {graph.ports[k].state for k in graph.storages()}
        followers = {o.name: float(v) for o, v in zip(numeric.observables, observed, strict=True) if o.name in storages}
        own = dict(zip(numeric.names, map(float, at.y), strict=True))
        return {**followers, **{name: v for name, v in own.items() if name not in numeric.unknowns}}

    def before(self) -> dict[str, float]:
        """What sampled and delayed signals hold there, and always have."""
        numeric, context = self.ready.numeric, self.problem.context
        assert context is not None, "made with one"
        held = dict(zip(numeric.memory, context.memory.tolist(), strict=False))
        return held | {delay.name: float(v) for delay, v in zip(numeric.delays, self.past.values, strict=True)}


def find_rest(model: Model, at: Quantity | None, given: Mapping[str, Any], *, held: bool = False) -> RestingModel:
    """The steady state in the first mode that has one and keeps it, the mode that the model starts in first; else where the motion
    from the initial values ends: a ball that lies on the floor, friction that sticks, a loop that rests between two steps of a
    quantiser. With `held` what comes after that time does not count: a run may begin at rest under a source that moves at once.

    Raises: SimulationError (S119) where there is none.
    """
    first: SimulationError | None = None
    # The mode of the start first: a switch that is open stays open unless nothing rests so.
    for mode in (given["mode"], *_other_modes(model)):
        try:
            found = _in_mode(model, at, {**given, "mode": mode})
            # A steady state of a mode may be none of the model: a body may rest where its friction would not hold it.
            if not found.ready.graph.switching or _stays(found, held=held):
                return found
        except SimulationError as error:
            # The mode that the model starts in is the one a reader thinks of.
            first = first or error
        except CausalityError:  # elements that cannot be in these modes together
            continue
    if (last := _where_it_ends(model, at, given)) is not None:
        return last
    if first is not None:
        raise first
    what = "no mode keeps the steady state that it would have"
    raise rules.NO_EQUILIBRIUM.error(what, where=model.name, fix="simulate the model, to see how it goes on")


def mode_that_holds(model: Model, at: Mapping[str, Quantity] | None, given: Mapping[str, Any]) -> Mapping[str, str]:
    """The mode of the steady state, or the one that states given in `at` lead to at once; nothing where none is known."""
    given = {"initial": None, **given, "mode": None}
    try:
        if at is None:
            return find_rest(model, None, given).ready.graph.mode
        ready = _ready(model, {**given, "initial": at})
        t = end_of_experiment(model, ready.parameters) if model.experiment.until is not None else 0.0
        # All that is known: where a body sticks, its speed is no state, and yet it decides the mode.
        begun = Problem(ready.numeric, t + AT_ONCE, t, y0=dict(ready.start), rtol=FINE, inputs=dict(ready.inputs))
        made = integrate_graph(ready.graph, begun)
    # Where nothing rests, and from where nothing goes on, the mode of the start is as good as another.
    except (SimulationError, CausalityError):
        return {}
    return _last_mode(made, ready.graph.mode)


def set_up_at_start(model: Model, *, rtol: float | None = None, **given: Any) -> Setup:
    """The model set up as a run of its experiment begins: at its initial values, or at rest. Other programs begin there, too.

    Raises: SimulationError (S119) where there is no rest to begin at, and what `set_up` raises.
    """
    ready = set_up(model, rtol=rtol, **given)
    # The width of a law that was softened is in no file, and another program needs its number as any other.
    ready = replace(ready, parameters=parameter_values(ready.graph.parameters))
    if model.experiment.start == "initial":
        return ready
    given.pop("until", None)
    resting = at_rest(ready, {"mode": None, **given})
    if not resting.before:
        return resting
    # Another program knows nothing of a past: what a signal holds at first is then its initial value.
    signals = tuple(
        replace(law, initial=number(resting.before[law.name])) if isinstance(law, Sampled | Delayed) else law
        for law in resting.graph.signals
    )
    causal = replace(resting.causal, graph=replace(resting.graph, signals=signals))
    return replace(resting, causal=causal, numeric=compile_model(causal))


def at_rest(ready: Setup, settings: Mapping[str, Any]) -> Setup:
    """The model that begins in the equilibrium under the inputs at t = 0, in the modes that agree with it."""
    # Without modes and memories the states say all there is about rest.
    if not (ready.graph.switching or has_memory(ready.numeric)):
        problem = Problem(ready.numeric, ready.until, y0=dict(ready.start), rtol=FINE, inputs=dict(ready.inputs))
        return replace(ready, start=dict(zip(ready.numeric.names, find_equilibrium(problem).y.tolist(), strict=True)))
    found = find_rest(ready.model, 0.0, settings, held=True)
    numeric, causal = found.ready.numeric, found.ready.causal
    start = {name: v for name, v in found.values().items() if ready.graph.switching or name in numeric.index}
    return replace(ready, numeric=numeric, causal=causal, start=start, before=found.before())


def _in_mode(model: Model, at: Quantity | None, given: Mapping[str, Any]) -> RestingModel:
    ready = _ready(model, given)
    problem = _problem(ready, _time(ready, at))
    past = constant_past(problem)
    return RestingModel(ready, problem, steady_state_of_mode(problem, past), past)


def _ready(model: Model, given: Mapping[str, Any]) -> Setup:
    return set_up(model, until=1.0, rtol=FINE, **given)


def _time(ready: Setup, at: Quantity | None) -> float:
    return (
        end_of_experiment(ready.model, ready.parameters) if at is None else value_of(at, SECOND, "at", ready.parameters)
    )


def _other_modes(model: Model) -> Iterator[dict[str, str]]:
    """All combinations of modes, where they are few."""
    graph = lower(model)
    words = {graph.ports[k].element: tuple(law.modes) for k, law in graph.switching.items()}
    if words and prod(map(len, words.values())) <= MOST_MODES:
        for combination in product(*words.values()):
            yield dict(zip(words, combination, strict=True))


def _problem(ready: Setup, t: float, start: Mapping[str, float] | None = None) -> Problem:
    known = {name: v for name, v in (start or ready.start).items() if name in ready.numeric.names}
    context = ready.numeric.new_context(None, dict(ready.inputs))
    return Problem(ready.numeric, t + 1.0, t, y0=known, rtol=FINE, context=context)


def _stays(found: RestingModel, *, held: bool) -> bool:
    """Whether a run from there stays there and in the same mode: a body at rest does not slide."""
    at, graph, start = found.standing, found.ready.graph, found.values()
    if not _fits(found):
        return False
    # A moment of the real run decides whether it stays, with all its transitions.
    problem = Problem(found.ready.numeric, at.t + AHEAD, at.t, y0=start, inputs=dict(found.ready.inputs), times=2)
    first = {graph.ports[k].element: law.start for k, law in graph.switching.items()}
    try:
        made = integrate_graph((_held(graph, at.t) if held else graph).in_mode(first), problem)
    except TellegenError:
        return False
    last = dict(zip(made.segments[-1].model.names, made.y[-1], strict=False))
    near = (abs(last[n] - v) <= STILL * (1.0 + abs(v)) for n, v in start.items() if n in last)
    return made.status == "finished" and all(near) and _last_mode(made, first) == graph.mode


def _held(graph: PowerGraph, t: float) -> PowerGraph:
    """The graph with its inputs and signals as they are at a time: a source that begins to move disturbs no rest."""
    now = {TIME: number(t)}
    laws: list[SignalLaw] = []
    for law in graph.signals:
        if isinstance(law, Value):
            laws.append(replace(law, expression=law.expression.substitute(now), breaks=()))
        elif isinstance(law, Table):
            laws.append(replace(law, argument=law.argument.substitute(now)))
        elif isinstance(law, External):
            laws.append(replace(law, arguments=tuple(a.substitute(now) for a in law.arguments), breaks=()))
        else:
            laws.append(law)
    ports = (
        replace(port, law=replace(port.law, signal=port.law.signal.substitute(now)))
        if isinstance(port.law, SourceLaw) and port.law.signal is not None
        else port
        for port in graph.ports
    )
    return replace(graph, signals=tuple(laws), ports=tuple(ports))


def _fits(found: RestingModel) -> bool:
    """Whether bodies at rigid stops neither stand in them nor hang before them."""
    numeric, at, graph = found.ready.numeric, found.standing, found.ready.graph
    observed = numeric.observe(at.t, at.y, at.yp, found.problem.context)
    known = {**found.ready.parameters, **dict(zip(numeric.names, map(float, at.y), strict=True)), TIME: at.t}
    known |= {o.name: float(v) for o, v in zip(numeric.observables, observed, strict=True)}
    for k, law in graph.switching.items():
        for transition in (t for found in law.transitions.values() for t in found):
            if transition.gap is not None and transition.gap.free_symbols <= known.keys():
                gap, size = transition.gap.evaluate(known), STILL * (1.0 + max(map(abs, at.y), default=0.0))
                # In contact the gap is closed, apart from each other bodies do not overlap.
                if gap < -size or (graph.mode_of(k) == transition.to and gap > size):
                    return False
    return True


# -- the end of a motion -------------------------------------------------------------------------------------------------------


def _where_it_ends(model: Model, at: Quantity | None, given: Mapping[str, Any]) -> RestingModel | None:
    """Where the motion under inputs that stay as they are comes to rest; None where it does not."""
    ready = _ready(model, given)
    numeric, graph, t = ready.numeric, ready.graph, _time(ready, at)
    # A smooth model without a steady state has none in its motion either.
    if not (graph.switching or numeric.sample_groups or numeric.events):
        return None
    span = end_of_experiment(model, ready.parameters) if model.experiment.until is not None else 1.0
    # Under a sine a motion never ends.
    if not _inputs_stay(ready, t, span):
        return None
    start: Mapping[str, float] = ready.start
    now = graph
    # Longer and longer, each from where the last one ended: most motions are over soon.
    for longer in LONGER:
        problem = Problem(numeric, t + longer * span, t, y0=start, rtol=FOLLOWED, inputs=dict(ready.inputs))
        try:
            made = integrate_graph(now, problem)
        except TellegenError:
            return None
        if made.status != "finished" or len(made.events) > MOST_CHANGES:
            return None
        mode = _last_mode(made, graph.mode)
        ended = _standing(made, _ready(model, {**given, "mode": mode or None}), t)
        if _is_over(made):
            return ended
        start, now = ended.values(), graph.in_mode(mode)
    return None


def _inputs_stay(ready: Setup, t: float, span: float) -> bool:
    """Whether nothing that depends on time changes any more."""
    numeric = ready.numeric
    problem = _problem(ready, t)
    y, rest, context = problem.start(), np.zeros(numeric.size), problem.context
    try:
        now = numeric.observe(t, y, rest, context)
        later = [numeric.observe(t + share * span, y, rest, context) for share in LATER]
    except FloatingPointError:
        return False
    return all(np.allclose(now, then, rtol=SAME, atol=0.0) for then in later)


def _last_mode(made: Trajectory, first: Mapping[str, str]) -> dict[str, str]:
    mode = dict(first)
    for event in made.events:
        if " to " in event.what and event.element in mode:
            mode[event.element] = event.what.split(" to ")[1]
    return mode


def _standing(made: Trajectory, ready: Setup, t: float) -> RestingModel:
    """The last row of a motion, as a steady state of its mode."""
    last = made.segments[-1].model
    named = dict(zip(last.names, made.y[-1], strict=False))
    problem = _problem(ready, t, {name: float(v) for name, v in named.items() if name not in last.unknowns})
    if made.memory is not None and problem.context is not None:
        problem.context.memory[: len(last.memory)] = made.memory.row(-1)[: len(last.memory)]
    numeric, past = ready.numeric, constant_past(problem)
    y, rest = np.array([named[name] for name in numeric.names]), np.zeros(numeric.size)
    for _ in numeric.delays:  # one may delay another
        past.values[:] = numeric.observe(t, y, rest, problem.context)[[delay.observable for delay in numeric.delays]]
    return RestingModel(ready, problem, StatePoint(t, y, rest), past)


def _is_over(made: Trajectory) -> bool:
    """Whether nothing has changed in the last part of a motion."""
    # The last quarter, and of it what lies in the last mode.
    first = max(made.segments[-1].start, int(0.75 * len(made.t)))
    rows = made.y[first:, : made.segments[-1].model.size]
    if len(rows) < 3 or (made.events and made.events[-1].t > made.t[first]):
        return False
    return bool(np.all(np.ptp(rows, axis=0) <= STILL * np.abs(rows[-1]) + NOTHING))


# As a result


@final
@dataclass(frozen=True)
class SteadyState:
    """Where nothing changes any more, and which element then gives and takes how much power.

    `run` has one row, so that every variable of the model can be asked for: `run.values("I_a")`, `run.power("R")`.
    """

    run: Run
    power: PowerSplit

    @property
    def values(self) -> dict[str, float]:
        """States, displacements, signals, inputs and outputs in SI units, by name."""
        return self.run.final()

    def __getitem__(self, name: str) -> float:
        """Any variable of the model, in SI units."""
        return float(self.run.values(name)[0])

    def tables(self) -> list[TitledTable]:
        """The values of all variables, and the power of each element."""
        run, shown = self.run, self.run.display
        rows: list[tuple[str, ...]] = [
            (n, f"{shown.shown_value(n, v):.6g}", behind_number(shown.unit(n, run.unit(n))))
            for n, v in self.values.items()
        ]
        given = [(name, "gives", f"{power:.5g}") for name, power in self.power.given.items()]
        taken = [(name, "takes", f"{power:.5g}") for name, power in self.power.taken.items()]
        powers = [TitledTable("power [W]", [*given, *taken])] if given or taken else []
        return [TitledTable(f"steady state, inputs as at t = {run.t[0]:g} s", rows), *powers]

    def __str__(self) -> str:
        return tables_text(self.run.name, self.tables())

    def _repr_html_(self) -> str:
        return tables_html(self.run.name, self.tables())

    def to_json(self) -> dict[str, object]:
        """The record of it: values and powers in SI units."""
        return {
            "t": float(self.run.t[0]),
            "steady": {identifier(name): value for name, value in self.values.items()},
            "power": {
                "given": {identifier(name): power for name, power in self.power.given.items()},
                "taken": {identifier(name): power for name, power in self.power.taken.items()},
            },
        }


def equilibrium(
    model: AnyModel,
    *,
    inputs: Mapping[str, InputSignal] | None = None,
    initial: Mapping[str, Quantity] | None = None,
    parameters: Mapping[str, Quantity] | None = None,
    units: Mapping[str, str] | None = None,
    mode: Mapping[str, str] | None = None,
    at: Quantity | None = None,
) -> SteadyState:
    """The steady state near the initial values, inputs and time held as they are at the time `at`: by default at the end of the
    experiment, when steps and ramps are over.

    Elements with modes are in the ones that agree with it; sampled signals hold what they would take again. Where several states
    are possible, as for a ball on a floor or a body that friction holds, it is the one in which the motion from the initial
    values ends.

    >>> import tellegen as tg
    >>> found = tg.equilibrium("dc_motor_pump")
    >>> abs(found["V_a"] - 100.0) < 1e-9
    True

    Raises: SimulationError (S119) naming what keeps changing where there is none.
    """
    described = as_model(model)
    found = find_rest(described, at, {"inputs": inputs, "initial": initial, "parameters": parameters, "mode": mode})
    run = run_of_trajectory(found.ready, found.problem, _one_row(found))
    observables = run.trajectory.model.observables
    power = power_at_rest(run.graph, run.trajectory.model, lambda k: float(run.values(observables[k].name)[0]))
    return SteadyState(run.in_units(_units(found.ready, units)), power)


def _one_row(found: RestingModel) -> Trajectory:
    model, context, at = found.problem.model, found.problem.context, found.standing
    assert context is not None, "made with one"
    memory = HeldRows.of(context.memory[None, : len(model.memory)].copy()) if model.memory else None
    y, yp, past = at.y[None, :], np.zeros((1, model.size)), found.past if model.delays else None
    t, segments = np.array([at.t]), (Segment(0, model),)
    return Trajectory(t, y, yp, segments, "Newton", "a steady state", memory=memory, past=past)


def power_at_rest(graph: PowerGraph, numeric: NumericModel, value_of: Callable[[int], float]) -> PowerSplit:
    """What elements give and take; `value_of` gives the value of an observable of the model by its place."""
    sources = sources_of(graph)
    powers: dict[str, float] = {}
    for k, observable in enumerate(numeric.observables):
        if observable.kind == "power":  # power counts into elements and out of sources
            into = -value_of(k) if observable.element in sources else value_of(k)
            powers[observable.element] = powers.get(observable.element, 0.0) + into
    return split_power(powers)


def _units(ready: Setup, units: Mapping[str, str] | None) -> dict[str, str]:
    known = {o.name for o in ready.numeric.observables} | set(ready.numeric.names)
    own = {name: unit for name, unit in ready.model.experiment.units.items() if name in known}
    return {**own, **(units or {})}
