"""`invert`: what inputs must be so that outputs follow a course, through anything that lies between them, and how large they get.

The inverse is a model again: signals compute the inputs from the states and from the derivatives of the courses, sources follow
them, and whatever simulates models simulates it. Rounding would add up along the integrations between an input and its output, so
that the error e of each output obeys (d/dt + k)^r e = 0 besides, which changes nothing where e is zero.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import comb
from typing import Final, TypedDict, Unpack, final, overload

import numpy as np
from numpy.typing import NDArray

from tellegen.analysis.linear_model import LinearModel, energy_coordinates, linear_model
from tellegen.analysis.poles import Pole, zeros
from tellegen.analysis.summary import complex_text
from tellegen.conditioning.opened_constraints import formula_signal, fresh_name
from tellegen.core.errors import EquationError, Finding
from tellegen.core.names import TIME, did_you_mean, identifier, listing
from tellegen.core.tables import table_lines
from tellegen.equations.derivation import measured_equations
from tellegen.equations.forms.inverse import InverseSystem, invert_equations
from tellegen.equations.outputs import measurable_names
from tellegen.equations.system import parameter_values
from tellegen.experiments.input_signals import InputSignal, with_input_signals
from tellegen.experiments.quantities import Quantity
from tellegen.experiments.setup import duration_of, with_parameters
from tellegen.experiments.simulating import simulate
from tellegen.expressions import Expression, number, symbol, total
from tellegen.graph import PowerGraph, lower
from tellegen.graph.signal_lowering import drive_given_inputs
from tellegen.graph.signals import breaks_of
from tellegen.model.model import Element, Model, input_name
from tellegen.model.signals import Signal
from tellegen.notations.loading import AnyModel, as_model
from tellegen.notations.signals.formulas import SHAPES
from tellegen.plots import Look, Plot
from tellegen.results.run import Run
from tellegen.studies import rules
from tellegen.studies.inverse_start import CourseStart, start_on_course

Array = NDArray[np.float64]

FINE: Final = 1e-8
"""The relative tolerance of an inverse, unless another is asked for."""

SETTLING: Final = 10.0
"""How many time constants of its error the end of a run is away."""

STANDING: Final = 1e-9
"""A pole this close to the imaginary axis, beside its size, stands on it."""

ROUNDED: Final = 0.01
"""The share of the tolerance that rounding may take of an output."""

MANY_DERIVATIVES: Final = 6
"""So many derivatives of a course take more digits than numbers have, where states are fast beside the course."""

FAR_OFF: Final = 1e4
"""An output that is farther from its course than so many tolerances has left it."""


@final
@dataclass(frozen=True, slots=True)
class InputSize:
    """How large an input gets, and its conjugate and its power where it is that of a source."""

    name: str
    unit: str
    peak: float
    rms: float
    conjugate: str = ""
    conjugate_unit: str = ""
    conjugate_peak: float = 0.0
    conjugate_rms: float = 0.0
    power_peak: float | None = None

    def to_json(self) -> dict[str, object]:
        """The record of `invert --json`."""
        record: dict[str, object] = {"unit": self.unit, "peak": self.peak, "rms": self.rms}
        if self.conjugate:
            record["conjugate"] = {
                "name": identifier(self.conjugate),
                "unit": self.conjugate_unit,
                "peak": self.conjugate_peak,
                "rms": self.conjugate_rms,
            }
        return record if self.power_peak is None else {**record, "power_peak": self.power_peak}


@final
@dataclass(frozen=True, eq=False)
class Inverse:
    """The run of a model whose inputs are what makes its outputs follow their courses.

    `equations` are the inverse, `model` the model whose sources follow it. `poles` are those of the states left to themselves where
    the run begins, `moved` the states that begin elsewhere than the model says, with both values.
    """

    equations: InverseSystem
    model: Model
    run: Run
    poles: tuple[Pole, ...] = ()
    moved: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    @property
    def t(self) -> Array:
        """The times of the rows, in s."""
        return self.run.t

    def values(self, name: str, unit: str | None = None) -> Array:
        """The numbers of any variable of the model, row by row."""
        return self.run.values(name, unit)

    def plot(self, *names: str, **look: Unpack[Look]) -> Plot:
        """The inputs over time, and the outputs below them; or the variables named."""
        return self.run.plot(*(names or (*self.equations.inputs, *self.equations.plant.outputs)), **look)

    @property
    def sizes(self) -> dict[str, InputSize]:
        """Peak and root mean square of each input, with its conjugate and its power: what an actuator has to give."""
        return {name: self._size(name) for name in self.equations.inputs}

    def _size(self, name: str) -> InputSize:
        found = self.values(name)
        size = InputSize(name, self.run.unit(name) or "", *self._measures(found))
        source = next((e for e in self.model.elements if e.kind.role == "source" and input_name(e) == name), None)
        if source is None:
            return size
        told = self.run.output_names[self.run.input_names.index(name)]
        powers = self.values(f"power.{source.name}")
        peak, rms = self._measures(self.values(told))
        return replace(
            size,
            conjugate=told,
            conjugate_unit=self.run.unit(told) or "",
            conjugate_peak=peak,
            conjugate_rms=rms,
            power_peak=float(np.abs(powers).max(initial=0.0)),
        )

    def _measures(self, values: Array) -> tuple[float, float]:
        t = self.t
        square = float(np.trapezoid(values**2, t)) / float(t[-1] - t[0]) if len(t) > 1 else float(values[0]) ** 2
        return float(np.abs(values).max(initial=0.0)), float(np.sqrt(square))

    @property
    def findings(self) -> tuple[Finding, ...]:
        """A warning where the states left to themselves move away."""
        growing = [pole.value for pole in self.poles if pole.value.real > STANDING * abs(pole.value)]
        if not growing:
            return ()
        told = ", ".join(complex_text(value, both=True) for value in growing)
        return (
            rules.UNSTABLE_REST.finding(
                f"states left to themselves have poles at {told} where the run begins, and move away",
                where=self.equations.name,
                fix="prescribe another output, or keep the course short against these poles",
            ),
        )

    def to_text(self) -> str:
        """Relative degrees and formulas, what the inputs must give, and where the states begin."""
        rows: list[tuple[str, ...]] = []
        for size in self.sizes.values():
            rows.append((size.name, f"peak {size.peak:.6g} {size.unit}", f"rms {size.rms:.6g} {size.unit}"))
            if size.conjugate:
                peak, rms, unit = size.conjugate_peak, size.conjugate_rms, size.conjugate_unit
                rows.append((size.conjugate, f"peak {peak:.6g} {unit}", f"rms {rms:.6g} {unit}"))
            if size.power_peak is not None:
                rows.append(("", f"peak power {size.power_peak:.6g} W", ""))
        parts = [self.equations.to_text(), "\n".join([f"until t = {self.t[-1]:g} s", *table_lines(rows)])]
        if self.moved:
            told: list[tuple[str, ...]] = [
                (name, f"{to:.6g}", f"(the model says {at:.6g})") for name, (at, to) in self.moved.items()
            ]
            parts.append("\n".join(["begins on the course", *table_lines(told)]))
        if self.poles:
            told_poles = ", ".join(complex_text(pole.value, both=True) for pole in self.poles)
            parts.append(f"poles of the states left to themselves, at the start  {told_poles}")
        return "\n\n".join([*parts, *map(str, self.findings)])

    def to_json(self) -> dict[str, object]:
        """The equations, and what the inputs must give."""
        return {
            **self.equations.to_json(),
            "until": float(self.t[-1]),
            "sizes": {identifier(name): size.to_json() for name, size in self.sizes.items()},
            "poles": [[pole.value.real, pole.value.imag] for pole in self.poles],
            "start": {identifier(name): {"model": at, "course": to} for name, (at, to) in self.moved.items()},
            "energy": self.run.energy.to_json(),
            "findings": [finding.to_json() for finding in self.findings],
        }

    def __str__(self) -> str:
        return self.to_text()


Courses = Mapping[str, InputSignal]


class RunOptions(TypedDict, total=False):
    """How the run of an inverse is asked for: as that of `simulate`."""

    until: Quantity | None
    inputs: Mapping[str, InputSignal] | None
    initial: Mapping[str, Quantity] | None
    parameters: Mapping[str, Quantity] | None
    rtol: float | None
    samples: int | None


@overload
def invert(
    model: AnyModel, *, prescribe: Courses, for_: Sequence[str] = (), **options: Unpack[RunOptions]
) -> Inverse: ...


@overload
def invert(
    model: AnyModel, *, prescribe: Sequence[str], for_: Sequence[str] = (), **options: Unpack[RunOptions]
) -> InverseSystem: ...


def invert(
    model: AnyModel,
    *,
    prescribe: Courses | Sequence[str],
    for_: Sequence[str] = (),
    until: Quantity | None = None,
    inputs: Mapping[str, InputSignal] | None = None,
    initial: Mapping[str, Quantity] | None = None,
    parameters: Mapping[str, Quantity] | None = None,
    rtol: float | None = None,
    samples: int | None = None,
) -> Inverse | InverseSystem:
    """The inputs `for_` which outputs follow their courses: sizes of actuators, feed-forward.

    `prescribe` gives each output, any variable of the model, a course: a number, a formula of t, or a shape such as
    "quintic(0, 1, from=0, to=2)". It is differentiated as often as storages lie between input and output. Names alone give the
    equations of the inverse, and no run. `for_` names as many inputs, sources or signals; without it, those that nothing drives.
    The other inputs do what the experiment says, or `inputs`.

    Raises: EquationError where the inputs cannot do it (E140, E141, E142); ReductionError for names (T311), courses (T312), modes
    (T313) and starts (T314) that cannot be used, and for an output that leaves its course (T315).
    """
    described = as_model(model)
    asked = _Asked(
        described,
        (prescribe,) if isinstance(prescribe, str) else prescribe,
        tuple(for_),
        inputs or {},
        parameters or {},
    )
    equations = asked.equations()
    if not isinstance(prescribe, Mapping):
        return equations
    courses = {name: _references(asked.graph, name, course, equations) for name, course in prescribe.items()}
    start = start_on_course(described, asked.graph, asked.values, equations, courses, initial or {})
    end = duration_of(described, until, asked.values)
    _check_on_the_way(equations, start, end)
    settling = _settling(equations, start.values, end, _tolerance(described, rtol))
    made = _following_model(described, asked, equations, courses, start.gains, settling)
    moved = {name: (start.model[name], start.found[name]) for name in start.moved}
    run = simulate(
        _without_initial_values(made) if moved else made,
        until,
        initial=start.found if moved else initial,
        parameters=parameters,
        inputs={name: course for name, course in (inputs or {}).items() if name not in equations.inputs},
        rtol=_tolerance(described, rtol),
        samples=samples,
        outputs=(*described.experiment.outputs, *equations.inputs),
        on_failure="return",
    )
    if run.finding is not None and run.status == "failed":
        raise _left(
            equations.plant.outputs,
            float(run.t[-1]) if len(run.t) else 0.0,
            f"the inverse ends there: {run.finding.what}",
        )
    found = Inverse(equations, made, run, _poles(equations, start.values), moved)
    _check_on_course(found, courses, _tolerance(described, rtol))
    return found


def _tolerance(model: Model, rtol: float | None) -> float:
    given = rtol if rtol is not None else model.experiment.rtol
    return FINE if given is None else given


# -- What is asked for ---------------------------------------------------------------------------------------------------------


@final
class _Asked:
    """Names that were checked, and the graph in which all other inputs do what they do."""

    def __init__(
        self,
        model: Model,
        outputs: Iterable[str],
        inputs: tuple[str, ...],
        courses: Courses,
        parameters: Mapping[str, Quantity],
    ) -> None:
        self.model = model
        self.outputs = tuple(outputs)
        self.parameters = parameters
        lowered = lower(model)
        if lowered.switching:
            name = lowered.ports[next(iter(lowered.switching))].element
            raise rules.INVERSE_OF_MODES.error(
                f"'{name}' has modes, and '{model.name}' has another inverse in each of them",
                where=name,
                fix="replace it by a law that is smooth, or look at the model in one mode",
            )
        self.inputs = inputs or tuple(
            n for n in model.inputs if n not in model.experiment.inputs and n not in _driven_names(model)
        )
        known = (*model.inputs, *model.signals, *_driven_names(model))
        for name in self.inputs:
            if name not in known:
                fix = did_you_mean(name, known) or f"the inputs are {listing(model.inputs, 20)}"
                raise rules.WRONG_INVERSE.error(f"'{name}' is no input of '{model.name}'", where=name, fix=fix)
        if len(self.inputs) != len(self.outputs) or not self.inputs:
            what = f"{_counted(self.outputs, 'output')} cannot be given courses by {_counted(self.inputs, 'input')}"
            raise rules.WRONG_INVERSE.error(
                what, where=model.name, fix="ask for one input for each output: for_=[...], --for"
            )
        self.courses = {
            name: course for name, course in {**model.experiment.inputs, **courses}.items() if name not in self.inputs
        }
        self.graph = self._prepared(lowered)
        self.values = parameter_values(self.graph.parameters)

    def _prepared(self, graph: PowerGraph) -> PowerGraph:
        changed = with_parameters(graph, self.model, self.parameters)
        changed, courses = with_input_signals(changed, self.courses)
        return drive_given_inputs(changed, courses)

    def equations(self) -> InverseSystem:
        """The inverse of the model."""
        # What controllers compute is there without being measured, also where it has a memory.
        measured = [name for name in self.outputs if name not in self.model.signals]
        system = measured_equations(self.model, measured, self._prepared)
        made = invert_equations(system, self.outputs, self.inputs, measurable_names(self.model))
        return replace(made, followers=frozenset(n for closure in self.model.closures for n in closure.solves))


def _driven_names(model: Model) -> tuple[str, ...]:
    return tuple(input_name(e) for e in model.elements if e.kind.role == "source" and e.signal is not None)


def _counted(names: Sequence[str], word: str) -> str:
    return f"{len(names)} {word}{'' if len(names) == 1 else 's'} ({listing(names)})" if names else f"no {word}"


# -- Courses -------------------------------------------------------------------------------------------------------------------


def _references(graph: PowerGraph, name: str, course: InputSignal, equations: InverseSystem) -> tuple[Expression, ...]:
    """The course of an output and its derivatives, as many as its relative degree.

    Raises: ReductionError (T312) where it has fewer.
    """
    needed = equations.degrees[name]
    formula = _formula(graph, name, course)
    unknown = formula.free_symbols - equations.plant.parameters.keys() - {TIME}
    if unknown:
        what = f"the course of '{name}' reads {listing(sorted(unknown))}"
        raise rules.ROUGH_COURSE.error(what, where=name, fix="write it as a formula of t and of parameters")
    found = [formula]
    for _ in range(needed):
        found.append(found[-1].derivative(TIME))
    values = equations.plant.values()
    for order, derivative in enumerate(found[:-1]):
        for known in breaks_of(formula, values.keys()):
            t = known.at.evaluate(values)
            # At t = 0 the model may start with any speed.
            if t > 0.0 and jumps_at(derivative, t, values):
                raise _too_rough(name, order, t, needed)
    return tuple(found)


def _formula(graph: PowerGraph, name: str, course: InputSignal) -> Expression:
    if callable(course) and not isinstance(course, Signal | Expression | str):
        raise rules.ROUGH_COURSE.error(
            f"the course of '{name}' is a Python function, of which no derivative is known",
            where=name,
            fix="write it as a formula of t, or as a shape such as quintic(...)",
        )
    if isinstance(course, Signal) and course.expression is None:
        return SHAPES[course.shape].build(*course.arguments)
    _, courses = with_input_signals(graph, {name: course})
    written = courses[name]
    formula = written.expression if isinstance(written, Signal) else written
    return formula if isinstance(formula, Expression) else number(float(formula or 0.0))


def _too_rough(name: str, order: int, t: float, needed: int) -> Exception:
    upto = ("", " and its rate", f" and its derivatives up to order {needed - 1}")[min(needed - 1, 2)]
    jumps = ("it", "its rate", f"its derivative of order {order}")[min(order, 2)]
    return rules.ROUGH_COURSE.error(
        f"'{name}' has the relative degree {needed}, so that its course{upto} must be continuous: {jumps} jumps at t = {t:g} s",
        where=name,
        fix="go from one value to the next smoothly: quintic(...) has two continuous derivatives, sin, cos and exp have all",
    )


def jumps_at(formula: Expression, t: float, values: Mapping[str, float]) -> bool:
    """Whether a formula of time differs on both sides of a time, however close they are."""

    def apart(by: float) -> float:
        before, after = (formula.evaluate({**values, TIME: t + side * by * max(1.0, t)}) for side in (-1, 1))
        return abs(after - before)

    # A continuous function comes closer in proportion to the distance, a jump does not.
    return apart(1e-7) > max(0.5 * apart(1e-6), 1e-9)


# -- The model that follows ------------------------------------------------------------------------------------------------------


def _following_model(
    model: Model,
    asked: _Asked,
    equations: InverseSystem,
    courses: Mapping[str, Sequence[Expression]],
    gains: Array,
    settling: Mapping[str, float],
) -> Model:
    """The model with signals for its inputs; others see them as any signal. `settling` is the k of each output."""
    taken = {*model.parameters, *measurable_names(model), *(e.name for e in model.elements)}
    taken |= {*equations.rates, *equations.plant.algebraic.unknowns, *equations.inputs}
    signals: dict[str, Expression] = {}
    commands: dict[str, Expression] = {}
    for output, chain, names in zip(equations.plant.outputs, equations.chains, equations.courses, strict=True):
        signals |= dict(zip(names, courses[output], strict=True))
        r, k = len(chain), number(settling[output])
        # The binomial of (d/dt + k)^r e = 0, e the distance from the course.
        errors = (
            comb(r, i) * k ** (r - i) * (symbol(name) - e)
            for i, (name, e) in enumerate(zip(names[:-1], chain, strict=True))
        )
        commands[names[-1]] = total([symbol(names[-1]), *errors])
    needed = {name: e.substitute(commands) for name, e in equations.formulas.items()}
    # Elimination may divide by what vanishes on the way though the inputs act independently; Newton's method does not.
    if not needed or (len(needed) > 1 and equations.turns):
        needed, unknowns = _unknown_inputs(equations, commands, gains, taken)
        signals |= unknowns
    written = {name: formula_signal(name, e) for name, e in signals.items()}
    for name in needed.keys() & model.signals.keys():
        kept = model.signals[name]
        written[name] = replace(formula_signal(name, needed[name]), dimension=kept.dimension, unit=kept.unit)
    return replace(
        model,
        elements=tuple(driven_element(e, needed) for e in model.elements),
        signals={**model.signals, **written},
        experiment=replace(
            model.experiment,
            # A source that follows the inverse follows no course of the experiment any more.
            inputs={n: course for n, course in model.experiment.inputs.items() if n not in needed},
            rtol=_tolerance(model, None),
        ),
        source="",
    )


def _unknown_inputs(
    equations: InverseSystem, commands: Mapping[str, Expression], gains: Array, taken: set[str]
) -> tuple[dict[str, Expression], dict[str, Expression]]:
    """Inputs that do not act in proportion, as signals that read themselves: the run solves for them as for any algebraic loop."""
    names = {name: fresh_name(f"{identifier(name)}_needed", taken) for name in equations.inputs}
    own: dict[str, Expression] = {name: symbol(signal) for name, signal in names.items()}
    missing = [
        commands[course[-1]] - e.substitute(own) for course, e in zip(equations.courses, equations.highest, strict=True)
    ]
    # Each equation in the unit of its input, so that one tolerance serves all.
    inverse = np.linalg.pinv(gains)
    loops = {
        signal: own[name] + total(number(float(inverse[j, i])) * e for i, e in enumerate(missing))
        for j, (name, signal) in enumerate(names.items())
    }
    return own, loops


def driven_element(element: Element, inputs: Mapping[str, Expression]) -> Element:
    """The element, which follows a formula where it is the source of one of the inputs."""
    if element.kind.role != "source" or (name := input_name(element)) not in inputs:
        return element
    return replace(element, signal=inputs[name], signal_text="")


def _without_initial_values(model: Model) -> Model:
    """The model without initial values of its own: those of dependent storages would contradict a start on the courses."""
    elements = tuple(replace(e, initial=None) if e.kind.role == "storage" else e for e in model.elements)
    return replace(model, elements=elements, experiment=replace(model.experiment, initial={}))


# -- What comes out ----------------------------------------------------------------------------------------------------------------


def _settling(equations: InverseSystem, at: Mapping[str, float], until: float, rtol: float) -> dict[str, float]:
    """How fast the error of each output dies away, in 1/s.

    The rounding of the highest derivative, which is as large as the product of the poles that it leads through, moves the output
    by its r-th integral: the larger k, the less of it stays.
    """
    found = dict.fromkeys(equations.plant.outputs, SETTLING / until)
    if max(equations.degrees.values()) < MANY_DERIVATIVES:
        return found
    try:
        own = np.sort(np.abs(np.linalg.eigvals(energy_coordinates(_tangent(equations, at)).A)))
    except EquationError:
        return found
    for output, degree in equations.degrees.items():
        fast = np.log(np.maximum(own[-degree:], SETTLING / until))
        needed = np.exp((np.log(np.finfo(float).eps / (ROUNDED * rtol)) + np.sum(fast)) / degree)
        found[output] = float(f"{max(found[output], min(needed, np.exp(np.mean(fast)))):.3g}")
    return found


def _tangent(equations: InverseSystem, at: Mapping[str, float]) -> LinearModel:
    """The tangent model at the start. Raises: EquationError where a law has no slope, as a root at zero."""
    return linear_model(equations.plant.everywhere(lambda e: e.substitute({TIME: number(0)})), at)


def _poles(equations: InverseSystem, at: Mapping[str, float]) -> tuple[Pole, ...]:
    """The poles of the states left to themselves: the zeros of the tangent model at the start."""
    if not equations.remaining:
        return ()
    try:
        return zeros(_tangent(equations, at))
    # There is no tangent model to have zeros.
    except EquationError:
        return ()


def _check_on_course(found: Inverse, courses: Mapping[str, Sequence[Expression]], rtol: float) -> None:
    """Refuse a run whose outputs are not where they should be.

    Raises: SimulationError (S455).
    """
    for output, names in zip(found.equations.plant.outputs, found.equations.courses, strict=True):
        is_, wanted = found.values(output), found.values(names[0])
        scale = max(float(np.abs(wanted).max(initial=0.0)), float(np.abs(is_).max(initial=0.0)))
        off = np.abs(is_ - wanted) > FAR_OFF * rtol * scale + 1e-12
        if off.any():
            t = float(found.t[int(np.argmax(off))])
            degree = found.equations.degrees[output]
            why = "no finite input keeps it there"
            # Each derivative takes the speed of the fastest states off the digits that a number has.
            why = f"after {degree} derivatives rounding moves it" if degree >= MANY_DERIVATIVES else why
            raise _left([output], t, why)


def _check_on_the_way(equations: InverseSystem, start: CourseStart, until: float) -> None:
    """Refuse what is seen before a run: inputs that do not act where it begins, and other inputs that make an output jump.

    Raises: SimulationError (S455).
    """
    plant = equations.plant
    if start.acts_weakly:
        what = f"there {listing(plant.inputs, 20)} cannot move {'it' if len(plant.outputs) == 1 else 'them'}: what they do vanishes"
        raise _left(plant.outputs, 0.0, what)
    known = {*plant.parameters}
    for output, chain in zip(plant.outputs, equations.chains, strict=True):
        for order, expression in enumerate(chain):
            for one in breaks_of(expression, known):
                t = one.at.evaluate(start.values)
                if 0.0 < t < until and jumps_at(expression, t, start.values):
                    word = (
                        ("it jumps", "its rate jumps")[order] if order < 2 else f"its derivative of order {order} jumps"
                    )
                    raise _left(
                        [output], t, f"{word}, whatever {listing(plant.inputs, 20)} may do, because another input jumps"
                    )


def _left(outputs: Sequence[str], t: float, why: str) -> Exception:
    verb = "leaves its course" if len(outputs) == 1 else "leave their courses"
    return rules.LEFT_COURSE.error(
        f"{listing(outputs, 20)} {verb} at t = {t:.6g} s: {why}",
        where=outputs[0],
        fix="look at what jumps, vanishes or saturates between inputs and outputs, or give a gentler course",
    )
