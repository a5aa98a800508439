"""Everything before the first step: a model with its parameters, inputs and start becomes a problem for a solver.

Laws that are infinitely steep at zero, such as that of an orifice, are softened where the tolerance hides it: the flow of
Q = K*sqrt(P) changes without bound while P changes by less than a run can tell from zero, so that no solver settles there. With
s = sqrt(x^2 + d^2), a law f(x) is replaced by

    f(0) + |x|/s (f(s) - f(0)) where x > 0,   f(0) + |x|/s (f(-s) - f(0)) where x < 0

which is K x/(x^2 + d^2)^(1/4) for an orifice of both ways (Merritt, Hydraulic Control Systems, 1967), nothing where nothing passes,
and f itself where x is far from zero. To have the same flow, x moves by no more than d: one tolerance of the largest across or
through variable that is given.
"""

import math
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final, NamedTuple, final

from tellegen.causality import CausalGraph, assign_causality
from tellegen.compiler.compiling import compile_model
from tellegen.compiler.context import Array
from tellegen.compiler.enclosures import frequencies
from tellegen.compiler.numeric_model import NumericModel
from tellegen.core.domains import Side, other_side
from tellegen.core.errors import DescriptionError, Finding
from tellegen.core.memory import without_collector
from tellegen.core.names import TIME, did_you_mean, identifier, listing, unused
from tellegen.core.ordering import in_order
from tellegen.equations.start import initial_names, solved_at_start
from tellegen.equations.system import parameter_values
from tellegen.experiments import rules
from tellegen.experiments.initial_values import chosen_start, independent_start, initial_states, with_drift_control
from tellegen.experiments.input_signals import InputSignal, blind_spots, with_input_signals
from tellegen.experiments.quantities import SECOND, Quantity, computed, expression_of, value_of
from tellegen.expressions import ZERO, Call, Expression, call, number, postorder, relation, symbol
from tellegen.expressions.nodes import Mul, Number, Pow
from tellegen.graph import PowerGraph, ResistiveLaw, SourceLaw, StorageLaw, drive, lower
from tellegen.graph.power_graph import ARGUMENT, PortLaw, argument
from tellegen.graph.signal_lowering import named_variables
from tellegen.graph.switching import put_into_mode
from tellegen.model.model import Model
from tellegen.model.signals import Signal
from tellegen.notations.quantities import parse_marked
from tellegen.notations.reading import check_numbers
from tellegen.notations.scales import doubtful_scales, is_on_scale
from tellegen.notations.signals.formulas import NOT_UNITS, SHAPE_MACROS, check_times
from tellegen.results.run import Run
from tellegen.simulation.hybrid.integration import integrate_graph
from tellegen.simulation.problem import DEFAULT_ROWS, Problem
from tellegen.simulation.solvers.unit_events import first_states
from tellegen.simulation.trajectory import Trajectory

LEAST_SIZE: Final = 1e-3
"""What counts as the size of a variable of which nothing is given, in SI units: default tolerances take the same."""

NEAR: Final = 1e-8
NEARER: Final = 1e-12
"""Where a law is looked at, beside the size of its argument."""

STEEPER: Final = 5.0
JUMP: Final = 0.5
"""From near to nearer the secant of a steep law grows so many times, and the law falls below this share: else it jumps."""

LOOKS: Final = 256


def soften_laws(
    graph: PowerGraph,
    values: Mapping[str, float],
    start: Mapping[str, float],
    inputs: Mapping[str, float],
    until: float,
    rtol: float,
) -> PowerGraph:
    """The graph with its infinitely steep laws softened.

    The width of each is a parameter of the graph, so that another tolerance needs no other program. `start` and `inputs` are
    initial values and constant inputs by name.
    """
    rooted = [k for k, port in enumerate(graph.ports) if _has_roots(port.law)]
    sizes = _sizes(graph, values, start, inputs, until) if rooted else {}
    widths: dict[str, Expression | None] = {}
    ports = list(graph.ports)
    for k in rooted:
        port, law = ports[k], ports[k].resistive
        assert law.expression is not None, "roots stand in a formula"
        size = sizes.get((port.domain, other_side(law.side)), LEAST_SIZE)
        if is_steep(law.expression, values, size):
            name = unused(f"softness_{identifier(port.element)}", graph.parameters)
            widths[name] = number(rtol * size)
            ports[k] = replace(port, law=replace(law, expression=softened(law.expression, symbol(name))))
    return replace(graph, ports=tuple(ports), parameters={**graph.parameters, **widths}) if widths else graph


def softened(law: Expression, width: Expression) -> Expression:
    """The law without its steep place."""
    x = argument()
    s = call("sqrt", x * x + width * width)
    middle, above, below = (law.substitute({ARGUMENT: at}) for at in (ZERO, s, -s))
    rise = call("if", relation(">", x, ZERO), above - middle, middle - below)  # an event: a solver would step over it
    return middle + rise * x / s


def is_steep(law: Expression, values: Mapping[str, float], size: float) -> bool:
    """Whether the slope of a law grows without bound towards zero, where it is continuous. Names without a value count as one."""
    known = {name: values.get(name, 1.0) for name in law.free_symbols}
    try:
        middle = law.evaluate({**known, ARGUMENT: 0.0})
        # A secant that keeps growing towards zero is a root; one that falls by half at most is a jump, which is an
        # event and no steep place.
        far, near = (_rise(law, known, middle, share * size) for share in (NEAR, NEARER))
    except (ArithmeticError, ValueError):
        return False
    return far > 0.0 and near < JUMP * far and near / NEARER > STEEPER * far / NEAR


def _rise(law: Expression, known: Mapping[str, float], middle: float, x: float) -> float:
    """How far a law is from its value at zero, on the side where it is farther."""
    return max(abs(law.evaluate({**known, ARGUMENT: at}) - middle) for at in (x, -x))


def _has_roots(law: PortLaw) -> bool:
    """Whether a static law holds a power below one of something: nothing else is steep where it is continuous."""
    for node in postorder(law.expression) if isinstance(law, ResistiveLaw) and law.expression is not None else ():
        if isinstance(node, Mul) and any(0 < q < 1 for _, q in node.factors):
            return True
        if isinstance(node, Pow) and not (isinstance(node.exponent, Number) and not 0 < node.exponent.value < 1):
            return True
    return False


def _sizes(
    graph: PowerGraph,
    values: Mapping[str, float],
    start: Mapping[str, float],
    inputs: Mapping[str, float],
    until: float,
) -> dict[tuple[str, Side], float]:
    """The largest values that initial values and sources give to power variables, by domain and side."""
    found: dict[tuple[str, Side], list[float]] = {}
    for port in graph.ports:
        law = port.law
        if isinstance(law, StorageLaw) and not law.keeps_energy_variable:
            found.setdefault((port.domain, law.side), [LEAST_SIZE]).append(abs(start.get(port.state, 0.0)))
        elif isinstance(law, SourceLaw):
            found.setdefault((port.domain, law.side), [LEAST_SIZE]).extend(_sizes_of_source(law, values, inputs, until))
    return {kind: max(x for x in sizes if math.isfinite(x)) for kind, sizes in found.items()}


def _sizes_of_source(
    law: SourceLaw, values: Mapping[str, float], inputs: Mapping[str, float], until: float
) -> Iterator[float]:
    """Sizes of what a source gives; nothing where it follows other signals."""
    if law.signal is None:
        yield abs(inputs.get(law.input, 0.0))
    elif law.signal.free_symbols <= {*values, TIME}:
        for k in range(LOOKS + 1):
            try:
                yield abs(law.signal.evaluate({**values, TIME: until * k / LOOKS}))
            except (ArithmeticError, ValueError):
                return


class SortedSettings(NamedTuple):
    """Texts by name, as `simulate` takes them."""

    parameters: dict[str, str]
    inputs: dict[str, str]
    initial: dict[str, str]


def sort_settings(model: Model, given: Mapping[str, str]) -> SortedSettings:
    """The values by what they are for: a parameter where one has the name, else an input, else an initial value.

    Raises: SimulationError (S302) with the nearest name.
    """
    found = SortedSettings({}, {}, {})
    names = initial_names(lower(model), model) if given else {}
    for name, text in given.items():
        if name in model.parameters:
            found.parameters[name] = text
        elif name in model.inputs:
            found.inputs[name] = text
        elif name in names:
            found.initial[name] = text
        else:
            known = [*model.parameters, *model.inputs, *names]
            fix = did_you_mean(name, known) or f"some that are: {listing(known, 20)}"
            raise rules.NO_SUCH_SETTING.error(f"'{name}' is no parameter, no input and no initial value", fix=fix)
    return found


ROWS_A_PERIOD: Final = 20
STEPS_A_PERIOD: Final = 32
"""Solvers look for events in between, too."""
MOST_ROWS: Final = 50_001
MOST_VALUES: Final = 5_000_000
"""Beyond these the rows no longer follow the inputs: whoever wants them asks for them."""

_CASES: Final = ("if", "max", "min", "sign")


def default_rows(graph: PowerGraph, values: Mapping[str, float], until: float, variables: int) -> int:
    """Rows for a run until a time. Models with modes have rows at every change beside these."""
    if graph.switching or not math.isfinite(until):
        return DEFAULT_ROWS
    # Rows follow the fastest input: a thousand of them over fifty thousand periods would show a wave that is not there.
    turns = _fastest(graph, values, until) * until
    most = min(MOST_ROWS, MOST_VALUES // max(variables, 1))
    return max(DEFAULT_ROWS, min(math.ceil(turns * ROWS_A_PERIOD) + 1, most))


def longest_input_step(graph: PowerGraph, values: Mapping[str, float], until: float) -> float:
    """How long steps may be where laws or signals have cases: while a diode blocks, no state feels what will open it."""
    if not math.isfinite(until) or not (graph.switching or any(map(_has_cases, _cased(graph)))):
        return math.inf
    fastest = _fastest(graph, values, until)
    return 1.0 / (STEPS_A_PERIOD * fastest) if fastest > 0.0 else math.inf


def _has_cases(formula: Expression) -> bool:
    return any(isinstance(node, Call) and node.name in _CASES for node in postorder(formula))


def _cased(graph: PowerGraph) -> Iterator[Expression]:
    """The formulas whose cases may depend on what an input does."""
    yield from _formulas(graph)
    for port in graph.ports:
        if isinstance(port.law, ResistiveLaw) and port.law.expression is not None:
            yield port.law.expression


def _fastest(graph: PowerGraph, values: Mapping[str, float], until: float) -> float:
    """The highest frequency of what turns with time alone."""
    return max((f for e in _formulas(graph) for f in frequencies(e, values, TIME, (0.0, until))), default=0.0)


def _formulas(graph: PowerGraph) -> Iterator[Expression]:
    for port in graph.ports:
        if isinstance(port.law, SourceLaw) and port.law.signal is not None:
            yield port.law.signal
    for law in graph.signals:
        yield from (given for name in ("expression", "rate") if (given := getattr(law, name, None)) is not None)


FAR = 1e9
"""A time, in s, at which all steps and ramps are over where the experiment does not say how long it takes."""


@final
@dataclass(frozen=True)
class Setup:
    """A model ready to be simulated, and how long that took.

    `inputs` are those that stay constant, with their values; the others are in the program.
    """

    model: Model
    causal: CausalGraph
    numeric: NumericModel
    parameters: Mapping[str, float]
    inputs: Mapping[str, float]
    start: Mapping[str, float]
    until: float
    seconds: float = 0.0
    doubts: tuple[Finding, ...] = ()
    """Warnings about the values given to parameters, and about speeds at which nobody asked to start."""
    lowered: PowerGraph | None = None
    """The graph of the model as it was described, without what was given."""
    before: Mapping[str, float] = field(default_factory=dict)
    """What sampled and delayed signals hold at the start, where that is not what they say."""

    @property
    def graph(self) -> PowerGraph:
        """The graph with its inputs driven."""
        return self.causal.graph


def set_up(
    model: Model,
    *,
    until: Quantity | None = None,
    inputs: Mapping[str, InputSignal] | None = None,
    initial: Mapping[str, Quantity] | None = None,
    parameters: Mapping[str, Quantity] | None = None,
    mode: Mapping[str, str] | None = None,
    rtol: float | None = None,
    alike: Setup | None = None,
) -> Setup:
    """The model compiled, with what is given taken before what its experiment says.

    Changing a parameter, an initial value or a constant input compiles nothing again. With `rtol`, laws that are infinitely steep
    at zero are softened within that tolerance. `alike` is the same model set up before, with other numbers for the same names:
    its graph and causality serve again where no number is zero that was not, nor the other way round.

    Raises: SimulationError for a name or a value that cannot be used, and errors of the layers in between.
    """
    began = time.perf_counter()
    with without_collector():
        lowered = lower(model) if alike is None or alike.lowered is None else alike.lowered
        graph = with_parameters(lowered, model, parameters or {})
        values = parameter_values(graph.parameters)
        doubts = _doubts_about(model, values) if parameters else ()
        _refuse_scales_in_courses(model, inputs or {}, initial or {})
        duration = duration_of(model, until, values)
        check_times(_texts_of_signals(model, inputs or {}), values)
        # What is given wins over the experiment.
        graph, courses = with_input_signals(graph, {**model.experiment.inputs, **(inputs or {})}, duration)
        # As numbers of the run, not of the program: a sweep over a constant input compiles once.
        graph, constants = _without_constants(drive(graph, courses), values)
        graph = with_drift_control(put_into_mode(graph, mode or {}), model.closures)
        begun = {**solved_at_start(graph, model), **model.experiment.initial}
        start = initial_states(graph, model, {**begun, **(initial or {})}, values)
        # Softening is a matter of solvers; equations that are printed keep the law as it was written.
        if rtol is not None:
            graph = soften_laws(graph, values, start, constants, duration, rtol)
        causal = _causality_like(alike, graph, values) or assign_causality(graph)
        numeric = compile_model(causal)
    if not graph.switching:  # with modes, a storage that follows others now may be a state later
        said = {**initial_values_of_dependents(causal, values), **start}
        start = independent_start(said, causal, numeric, constants)
        if model.mechanism is not None:
            doubts = (*doubts, *chosen_start(said, start, causal, numeric, constants))
    start |= first_states(numeric, {n: v for n, v in start.items() if n in numeric.index}, constants)
    doubts = (*doubts, *blind_spots(graph, duration), *_switches_unknown(numeric, duration))
    return Setup(
        model=model,
        causal=causal,
        numeric=numeric,
        parameters=values,
        inputs=constants,
        start=start,
        until=duration,
        seconds=time.perf_counter() - began,
        doubts=doubts,
        lowered=lowered,
    )


def _texts_of_signals(model: Model, inputs: Mapping[str, InputSignal]) -> Iterator[str]:
    for course in {**model.experiment.inputs, **inputs}.values():
        yield course if isinstance(course, str) else getattr(course, "text", "")
    for part in model.signals.values():
        yield from part.texts.values()


def _switches_unknown(numeric: NumericModel, until: float) -> Iterator[Finding]:
    """A warning where formulas of time switch too often to be followed to the end."""
    known = numeric.breaks_known_until(until) if math.isfinite(until) else until
    if known < until:
        yield rules.SWITCHES_UNKNOWN.finding(
            f"formulas of time switch so often that no stops are known after t = {known:.4g} s",
            where=numeric.name,
            fix=f"run to {known:.3g} s at most, give 'max_step', or write the course as a pulse with a period",
        )


def _causality_like(known: Setup | None, graph: PowerGraph, values: Mapping[str, float]) -> CausalGraph | None:
    """The causality found before; None where other numbers may have changed it."""
    if known is None or values.keys() != known.parameters.keys():
        return None
    # Only a number that vanishes makes another structure; all others are as good as any.
    same = all((value == 0.0) == (known.parameters[name] == 0.0) for name, value in values.items())
    # Ideal ports that repeat others were turned: their graph is not the one that is asked for.
    same = same and all(a.law.side == b.law.side for a, b in zip(known.graph.ports, graph.ports, strict=True))
    return replace(known.causal, graph=graph) if same else None


def run_of_trajectory(ready: Setup, problem: Problem, made: Trajectory, shown: tuple[str, ...] = ()) -> Run:
    """A trajectory with the names of its model."""
    run = Run(
        name=ready.model.name,
        trajectory=made,
        graph=ready.graph,
        parameters=ready.parameters,
        given_inputs=ready.inputs,
        shown=shown or ready.model.experiment.outputs,
        again=partial(_with_rows_at, ready.graph, problem),
        notices=(*ready.doubts, *ready.causal.findings, *ready.numeric.findings, *ready.numeric.later_findings),
        described_signals=(*ready.model.signals, *named_variables(ready.graph)),
        elements=ready.model.elements,
    )
    left_out = tuple(_left_out(ready, run)) if ready.graph.switching and len(run.t) else ()
    return replace(run, notices=(*left_out, *run.notices)) if left_out else run


def _with_rows_at(graph: PowerGraph, problem: Problem, times: Array) -> Trajectory:
    return integrate_graph(graph, replace(problem, times=times))


def _left_out(ready: Setup, run: Run) -> Iterator[Finding]:
    """Warnings about storages without initial value that others decide in the mode of the description, if these move."""
    ports = ready.graph.ports
    for d in ready.causal.dependent:
        port = ports[d.port]
        if port.state in ready.start or port.initial is not None or port.storage.inertia is ZERO:
            continue
        on = [ports[k].element for k in d.on if isinstance(ports[k].law, StorageLaw)]
        moving = [ports[k] for k in d.on if isinstance(ports[k].law, StorageLaw)]
        if not any(run.values(other.variable(other.law.side))[0] for other in moving):
            continue
        value = run.values(port.variable(port.law.side))[0]
        told = f"at {value:.4g}, as {listing(on)} {'makes' if len(on) == 1 else 'make'} it" if value else "at zero"
        yield rules.LEFT_OUT.finding(
            f"'{port.state}' is given no initial value: it starts {told}",
            where=port.element,
            fix=f"give '{port.state}' an initial value, if it should start elsewhere",
            place=port.place,
            members=(port.element, *on),
        )


def initial_values_of_dependents(causal: CausalGraph, values: Mapping[str, float]) -> dict[str, float]:
    """The initial values that storages give themselves although others decide them."""
    followers = [causal.graph.ports[d.port] for d in causal.dependent]
    return {port.state: e.evaluate(values) for port in followers if (e := port.initial_state) is not None}


def with_parameters(graph: PowerGraph, model: Model, given: Mapping[str, Quantity]) -> PowerGraph:
    """The graph with other values of parameters; those that follow from them change too.

    Raises: SimulationError for a name that is no parameter (S302), or a value that cannot be used (S303); DescriptionError for
        what a file with these values is refused for.
    """
    if not given:
        return graph
    changed: dict[str, Expression | None] = dict(graph.parameters)
    for name, value in given.items():
        if name in graph.position_dependent:
            what = f"'{name}' follows the motion, so it has no value to set"
            raise rules.NO_SUCH_SETTING.error(what, fix=f"set what it is made of: {listing(_base(graph, name))}")
        if name not in changed:
            fix = did_you_mean(name, changed) or f"the parameters are {listing(changed, 20)}"
            raise rules.NO_SUCH_SETTING.error(f"'{name}' is not a parameter of '{graph.name}'", fix=fix)
        if name in model.counts:
            what = f"'{name}' decided how many elements '{graph.name}' has, so a run cannot change it"
            raise rules.NO_SUCH_SETTING.error(what, fix=f"change '{name}' in the file of the model")
        changed[name] = expression = expression_of(value, model.parameters[name].dimension, f"the parameter {name}")
        unknown = sorted(expression.free_symbols - changed.keys())
        if unknown:
            fix = did_you_mean(unknown[0], changed) or "give a finite number, or a text with a unit such as '4.7 mH'"
            raise rules.BAD_SETTING.error(f"the parameter {name} uses '{unknown[0]}', which is no parameter", fix=fix)
    _check_order(changed)
    found = replace(graph, parameters=changed)
    _doubts_about(model, parameter_values(found.parameters))
    refuse_scales(model, given, changed)
    return found


def _refuse_scales_in_courses(model: Model, inputs: Mapping[str, InputSignal], initial: Mapping[str, Quantity]) -> None:
    """Raises: DescriptionError (D492) where a formula of parameters gives a point of a scale for a difference."""
    courses = {name: course for name, course in inputs.items() if isinstance(course, str | Signal)}
    starts = {name: value for name, value in initial.items() if isinstance(value, str)}
    if not (courses or starts) or not any(is_on_scale(p.unit) for p in model.parameters.values()):
        return
    given = {n: c if isinstance(c, Signal) else _formula_of(c) for n, c in courses.items()}
    begun = {name: parse_marked(text, None) for name, text in starts.items() if not is_on_scale(text)}
    now = replace(
        model.experiment, inputs={**model.experiment.inputs, **given}, initial={**model.experiment.initial, **begun}
    )
    if findings := tuple(doubtful_scales(replace(model, experiment=now))):
        raise DescriptionError(findings)


def _formula_of(text: str) -> Signal:
    """A formula as a signal of the experiment; one on a scale is refused by its text."""
    return Signal(
        "formula",
        (),
        text,
        None if is_on_scale(text) else parse_marked(text, None, macros=SHAPE_MACROS, names=NOT_UNITS),
    )


def refuse_scales(model: Model, given: Mapping[str, Quantity], changed: Mapping[str, Expression | None]) -> None:
    """Raises: DescriptionError (D492) where a file with these values would take a point of a scale for a difference."""
    units = {name: text for name, value in given.items() if is_on_scale(text := str(value))}
    if units:
        now = {
            name: replace(p, expression=changed[name], unit=units.get(name, p.unit))
            for name, p in model.parameters.items()
        }
        if findings := tuple(doubtful_scales(replace(model, parameters=now))):
            raise DescriptionError(findings)


def model_with_parameters(model: Model, given: Mapping[str, Quantity]) -> Model:
    """The model with other values of parameters, as if its file had them.

    Raises: SimulationError for a name that is no parameter (S302), or a value that cannot be used (S303).
    """
    if not given:
        return model
    values = with_parameters(lower(model), model, given).parameters
    changed = {name: replace(model.parameters[name], expression=values[name], curve=None) for name in given}
    return replace(model, parameters={**model.parameters, **changed}, source="")


def _check_order(formulas: Mapping[str, Expression | None]) -> None:
    """Raises: SimulationError (S303) where values that are given lead a parameter back to itself."""
    reads = {name: formulas.keys() & e.free_symbols for name, e in formulas.items() if e is not None}
    known = {name: read & reads.keys() for name, read in reads.items()}
    waiting = known.keys() - set(in_order(known))
    if waiting:
        # Those that only read the circle are waiting too: what every one of them leads to is in it.
        name = next(name for name in formulas if name in waiting)
        path: list[str] = []
        while name not in path:
            path.append(name)
            name = min(waiting & known[name])
        circle = [*path[path.index(name) :], name]
        what = f"the parameter {name} is defined by itself: {' -> '.join(circle)}"
        raise rules.BAD_SETTING.error(what, fix=f"give '{name}' a value that does not use it, such as '{name}=1'")


def _doubts_about(model: Model, values: Mapping[str, float]) -> tuple[Finding, ...]:
    """Warnings about elements that the values given make active.

    Raises: DescriptionError for what a file with these values is refused for.
    """
    errors, warnings = check_numbers({e.name: e for e in model.elements}, model.fields, values)
    if errors:
        raise DescriptionError(errors)
    return tuple(warnings)


def _base(graph: PowerGraph, name: str) -> list[str]:
    return sorted(graph.position_dependent[name].free_symbols & graph.parameters.keys())


def _without_constants(graph: PowerGraph, values: Mapping[str, float]) -> tuple[PowerGraph, dict[str, float]]:
    """The graph with constant inputs left to the solver, so that another constant needs no other program."""
    constants: dict[str, float] = {}
    ports = list(graph.ports)
    for k, port in enumerate(ports):
        if (
            isinstance(port.law, SourceLaw)
            and port.law.signal is not None
            and port.law.signal.free_symbols <= values.keys()
        ):
            constants[port.law.input] = computed(port.law.signal, values, f"the input {port.law.input}")
            ports[k] = replace(port, law=replace(port.law, signal=None))
    return replace(graph, ports=tuple(ports)), constants


def duration_of(model: Model, until: Quantity | None, values: Mapping[str, float]) -> float:
    """How long to run: the time given, else that of the experiment.

    Raises: SimulationError (S301) where neither says so.
    """
    if until is None and model.experiment.until is None:
        raise rules.NO_DURATION.error(
            f"nothing says how long to run '{model.name}'",
            where=model.name,
            fix="give a time, as until=2 or --until 2, or write 'experiment: {until: 2 s}'",
        )
    if until is None:
        assert model.experiment.until is not None, "one of the two is there"
        return model.experiment.until.evaluate(values)
    return value_of(until, SECOND, "the duration", values)


def end_of_experiment(model: Model, values: Mapping[str, float]) -> float:
    """The time at which signals have come to what they hold: the end of the experiment."""
    return model.experiment.until.evaluate(values) if model.experiment.until is not None else FAR
