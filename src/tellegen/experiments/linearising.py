"""Where a model is linearised, and what of it: operating point, inputs, plant and closed loop.

One answer for `analyse`, `linearise` and the closed form of `derive`: the point that is given, else the steady state with all
controllers at work, else where the experiment starts.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import final

import numpy as np

from tellegen.analysis import rules as analysis_rules
from tellegen.analysis.linear_model import Array, linear_model
from tellegen.analysis.poles import loop_poles
from tellegen.analysis.summary import ClosedLoop, LinearAnalysis, PowerSplit
from tellegen.core.errors import EquationError, SimulationError, TellegenError
from tellegen.core.names import TIME, did_you_mean, listing
from tellegen.core.units import Dimension, parse_unit
from tellegen.equations.derivation import measured_equations
from tellegen.equations.forms.closed_loop import (
    close_loop,
    following_inputs,
    held_signals,
    inputs_chosen,
    moved_names,
    open_loop,
    with_moduli_as_signals,
)
from tellegen.equations.forms.linearisation import linearise_equations, linearise_loop
from tellegen.equations.matrices import Vector, dot
from tellegen.equations.start import model_start
from tellegen.equations.system import (
    EquationSystem,
    OperatingPoint,
    parameter_values,
    with_measured_outputs,
    with_values,
)
from tellegen.experiments import rules
from tellegen.experiments.initial_values import initial_states
from tellegen.experiments.input_signals import InputSignal
from tellegen.experiments.quantities import Quantity, refuse_scale, value_of
from tellegen.experiments.setup import Setup, end_of_experiment, set_up, with_parameters
from tellegen.experiments.steady_state import constant_past, mode_that_holds, power_at_rest, steady_state_of_mode
from tellegen.expressions import Expression, symbol
from tellegen.graph import PowerGraph, lower, put_into_mode, with_experiment
from tellegen.graph.signal_lowering import drive_given_inputs
from tellegen.graph.signals import Delayed, Integral, Sampled
from tellegen.model.model import Model, ambient_temperatures, input_name
from tellegen.model.signals import Signal
from tellegen.results.units import variable_units
from tellegen.simulation import rules as simulation_rules
from tellegen.simulation.problem import Problem
from tellegen.simulation.solvers.stretch import SolverSettings, StatePoint, prepare
from tellegen.simulation.starting import consistent_start, find_equilibrium

FINE = 1e-10
"""The tolerance of a steady state."""

GIVEN = "at the given point"
AT_START = "where the experiment starts; there is no steady state"
"""What the page says of points that were not found as a steady state."""


@final
@dataclass(frozen=True)
class Linearisation:
    """A model with all that decides what its linear model is.

    `system` holds what is measured too; `start` and `held_inputs` are the start of the experiment and its inputs in the end,
    `given` is the point that was asked for. The plant is cut open at `cut`; `constants` are inputs of plant and loop besides.
    """

    model: Model
    graph: PowerGraph
    system: EquationSystem
    values: Mapping[str, float]
    follows: Mapping[str, Signal]
    parameters: Mapping[str, Quantity]
    mode: Mapping[str, str]
    start: Mapping[str, float]
    held_inputs: Mapping[str, float]
    given: Mapping[str, float] | None
    time: float
    cut: tuple[str, ...]
    constants: tuple[str, ...]

    @staticmethod
    def of(
        model: Model,
        *,
        at: Mapping[str, Quantity] | None = None,
        inputs: Mapping[str, Quantity] | None = None,
        parameters: Mapping[str, Quantity] | None = None,
        outputs: Iterable[str] | None = None,
        as_inputs: Iterable[str] | None = None,
        mode: Mapping[str, str] | None = None,
    ) -> "Linearisation":
        """All of it from what a user gives.

        Raises: SimulationError for a name (S302) or value (S303) that cannot be used.
        """
        as_inputs = None if as_inputs is None else tuple(as_inputs)
        model = with_moduli_as_signals(model, as_inputs)
        follows = following_inputs(model, inputs or {})
        lowered = lower(model)
        # A diode that blocks at the start conducts where the model rests: the linear model is that of the point.
        if not mode and lowered.switching:
            mode = mode_that_holds(model, at, {"inputs": inputs, "parameters": parameters})

        def prepared(found: PowerGraph) -> PowerGraph:
            changed = with_parameters(found, model, parameters or {})
            return drive_given_inputs(put_into_mode(changed, mode or {}), follows)

        # The same graph twice: with names for what is measured, and without for units and starts.
        graph = prepared(lowered)
        system = measured_equations(model, outputs, prepared)
        values = parameter_values(graph.parameters)
        units = variable_units(graph)
        point = None if at is None else _point(system, at, units, values)
        controllers = {name for name, found in model.signals.items() if found.block == "pid"}
        cut, constants = inputs_chosen(system, as_inputs, controllers)
        held = _inputs(system, model, inputs or {}, values, units)
        begun = {name: v for name, v in (point or {}).items() if name in (*system.states, *system.displacements)}
        # A point needs no experiment; without one it is looked at from its beginning.
        needs_none = at is not None and model.experiment.until is None
        start = initial_states(graph, model, {**model.experiment.initial, **begun}, values)
        if not graph.switching:  # states start where storages that follow them say
            decided = model_start(model, start, values)
            start |= {name: decided[name] for name in system.states if name in decided}
        time = 0.0 if needs_none else end_of_experiment(model, values)
        return Linearisation(
            model=model,
            graph=graph,
            system=system,
            values=values,
            follows=follows,
            parameters=parameters or {},
            mode=mode or {},
            start={**start, **(point or {})},
            held_inputs=held,
            given=point,
            time=(point or {}).get(TIME, time),
            cut=cut,
            constants=constants,
        )

    # -- the models ------------------------------------------------------------------------------------------------------------

    def plant(self, point: OperatingPoint) -> EquationSystem:
        """The model cut open, not linearised yet."""
        return open_loop(self.system, (*self.cut, *self.constants), point.values)

    def further(self, plant: EquationSystem) -> int:
        """How many inputs of the plant are no sources."""
        return sum(name not in self.system.inputs for name in plant.inputs)

    def whole(self) -> EquationSystem:
        """The closed loop, not linearised yet.

        Raises: EquationError where it is not continuous.
        """
        return close_loop(with_measured_outputs(self.system), self.time, self.constants)

    @property
    def opened(self) -> tuple[str, ...]:
        """Where a loop was cut: without a controller that reads states there is none."""
        moved = moved_names(self.system)
        return tuple(name for name in self.cut if name in moved)

    def closed_loop(self, point: OperatingPoint, units: Mapping[str, str]) -> ClosedLoop | None:
        """The closed loop at the point; None where none was cut.

        Where a sampled controller, a delay or a function leaves no linear model, the poles are None and the reason says it.
        """
        if not self.opened:
            return None
        try:
            loop = self.whole()
            # With symbols where that is possible; numbers always are.
            linear = linearise_loop(loop, point.values, point.origin) or linearise_equations(
                loop, point.values, point.origin
            )
            found = linear_model(linear)
            if linear.point is not None:
                found = replace(found, point=linear.point.values, origin=linear.point.origin)
            return ClosedLoop(self.opened, loop_poles(found), linear=LinearAnalysis(found, units))
        # An analysis of the plant is worth having though its controller is sampled; the reason is told beside it.
        except TellegenError as error:
            return ClosedLoop(self.opened, None, error.finding.what)

    def held(self, point: OperatingPoint) -> dict[str, float]:
        """The sampled and delayed signals that the plant reads, with the values that they keep."""
        return {name: point.values[name] for name in held_signals(self.system, self.cut) if name in point.values}

    # -- the point -------------------------------------------------------------------------------------------------------------

    def point(self, *, strict: bool) -> OperatingPoint:
        """The operating point: the one given, else the steady state, else, unless `strict`, where the experiment starts.

        Raises: EquationError (E201) where there is no steady state, none was given and the model is not linear.
        """
        if self.given is not None:
            return OperatingPoint(self._there(self.start, self.time), GIVEN if self.given else "where the model starts")
        if not self._has_signals:
            return self._plain_point(strict)
        try:
            found, problem = self._rest
            return OperatingPoint({**self.values, **self._named(found, problem), **self._free}, self._at_rest)
        except SimulationError as error:
            there = OperatingPoint(self._there(self.start, self.time), AT_START)
            if strict and not self.plant(there).linear:
                raise analysis_rules.NO_STEADY_STATE.error(
                    error.finding.what,
                    where=self.system.name,
                    fix="give the point at which the model is wanted, or other inputs",
                    members=error.finding.members,
                ) from error
            return there

    @property
    def _free(self) -> dict[str, float]:
        """The inputs that nothing drives."""
        return {name: v for name, v in self.held_inputs.items() if name not in self.system.signals.drivers}

    @property
    def _has_signals(self) -> bool:
        return bool(self.system.signals.laws or self.system.signals.drivers)

    @property
    def _at_rest(self) -> str:
        until = self.model.experiment.until
        return "in steady state" + (f", inputs as at t = {self.time:g} s" if until is not None else "")

    def _plain_point(self, strict: bool) -> OperatingPoint:
        """The point of a model without signals."""
        # A linear model has the same matrices everywhere, unless a parameter is an input of it.
        if self.system.linear and not self.constants:
            return OperatingPoint({**self.start, **self.held_inputs}, self._at_rest)
        # What is an input has a value at the point, a parameter too.
        chosen = {name: self.values[name] for name in self.constants if name in self.values}
        try:
            problem = partial(self._problem, self.start, self.time)
            found = _rest(self.system, self.held_inputs, self.start, problem)
            return OperatingPoint({**chosen, **found}, self._at_rest)
        except EquationError:
            if strict:
                raise
            return OperatingPoint({**chosen, **self.start, **self.held_inputs}, AT_START)

    def _there(self, start: Mapping[str, float], time: float) -> dict[str, float]:
        """All that is known where states are given; signals are evaluated there, and sampled as they would be."""
        known = {**self.values, **start, **self._free, TIME: time}
        if not self._has_signals:
            return known
        problem = self._problem(start, time)
        model, context = problem.model, problem.context
        assert context is not None, "made with one"
        past = constant_past(problem)
        settings = SolverSettings(problem.rtol, problem.tolerances())
        found = consistent_start(prepare(model), context, settings, time, problem.start())
        for number, group in enumerate(model.sample_groups):
            taken = model.sample(time, found.y, found.yp, number, context)
            # What is given is held, and the rest is what would be taken there.
            for k in group.members:
                context.memory[k] = start.get(model.memory[k], taken[k])
        now = model.observe(time, found.y, found.yp, context)
        for k, delay in enumerate(model.delays):
            past.values[k] = start.get(delay.name, float(now[delay.observable]))
        found = consistent_start(prepare(model), context, settings, time, found.y)
        return {**known, **self._named(found, problem)}

    @cached_property
    def _rest(self) -> tuple[StatePoint, Problem]:
        """The steady state with all controllers at work.

        Raises: SimulationError where there is none.
        """
        problem = self._problem(self.start, self.time)
        try:
            return steady_state_of_mode(problem, constant_past(problem)), problem
        except FloatingPointError as error:
            raise simulation_rules.NO_EQUILIBRIUM.error(
                "no equilibrium was found: a law has no value on the way to it",
                where=self.model.name,
                fix="start nearer to the equilibrium",
            ) from error

    def _named(self, found: StatePoint, problem: Problem) -> dict[str, float]:
        """States, variables and signals of a point, by name."""
        model, context = problem.model, problem.context
        assert context is not None, "made with one"
        observed = model.observe(found.t, found.y, found.yp, context)
        seen = {o.name: float(v) for o, v in zip(model.observables, observed, strict=True) if o.kind in _VARIABLES}
        held = dict(zip(model.memory, map(float, context.memory), strict=False))
        return {**seen, **held, **dict(zip(model.names, map(float, found.y), strict=True)), TIME: found.t}

    def power(self) -> PowerSplit | None:
        """The powers of all elements in steady state; None where there is none."""
        try:
            if self._has_signals:
                found, problem = self._rest
            else:
                problem = self._problem(self.point(strict=True).values, self.time)
                found = find_equilibrium(problem)
            observed = problem.model.observe(found.t, found.y, np.zeros(problem.model.size), problem.context)
        except (SimulationError, FloatingPointError):
            return None
        return power_at_rest(self._ready(self.start).graph, problem.model, lambda k: float(observed[k]))

    # -- the compiled model ----------------------------------------------------------------------------------------------------

    def _ready(self, start: Mapping[str, float]) -> Setup:
        """The model compiled with constant inputs, but for those that follow signals of the model."""
        free: dict[str, InputSignal] = {
            name: self.held_inputs[name]
            for name in self.model.inputs
            if name in self.held_inputs and not _is_driven(self.model, name)
        }
        free |= self.follows
        lasting = {law.name for law in self.system.signals.others}
        without = with_experiment(self.model, replace(self.model.experiment, inputs={}, initial={}))
        return set_up(
            without,
            until=1.0,
            inputs=free,
            initial={name: v for name, v in start.items() if name not in lasting and name != TIME},
            parameters=self.parameters,
            mode=self.mode,
        )

    def _problem(self, start: Mapping[str, float], time: float) -> Problem:
        begun = {name: v for name, v in start.items() if name in self.start} if start is not self.start else start
        ready = self._ready(begun)
        known = {name: start[name] for name in ready.numeric.names if name in start}
        context = ready.numeric.new_context(None, dict(ready.inputs))
        return Problem(ready.numeric, time + 1.0, time, y0=known, rtol=FINE, context=context)


_VARIABLES = ("across", "through", "signal")


def _rest(
    system: EquationSystem, held: Mapping[str, float], start: Mapping[str, float], problem: Callable[[], Problem]
) -> dict[str, float]:
    """The steady state by Newton's method; where that fails, by following the motion until it has died away."""
    try:
        return steady_state(system, held, start)
    # Newton's method finds nothing where slopes vanish; a motion still ends somewhere.
    except EquationError:
        try:
            made = problem()
            found = find_equilibrium(made).y
        except SimulationError:
            found = None
        if found is None:
            raise
    return {**held, **dict(zip(made.model.names, map(float, found), strict=True))}


def _point(
    system: EquationSystem, at: Mapping[str, Quantity], units: Mapping[str, str], values: Mapping[str, float]
) -> dict[str, float]:
    """The values of a point that was given."""
    memory = [law.name for law in system.signals.laws if isinstance(law, Integral | Sampled | Delayed)]
    known = (*system.states, *system.displacements, *memory, TIME)
    _check_names(at, known, f"a state of '{system.name}'", "states")
    return {name: value_of(v, _dimension(units, name), f"the value of {name}", values) for name, v in at.items()}


def operating_point(
    model: Model, *, at: Mapping[str, float] | None, inputs: Mapping[str, float], mode: Mapping[str, str]
) -> OperatingPoint:
    """The point of a model with its controllers at work; a model without an experiment is looked at where it starts."""
    states = {} if at is None and model.experiment.until is None else at
    # The equations are there already, in the mode that they say.
    own = lower(model).in_mode(mode).mode
    return Linearisation.of(model, at=states, inputs=inputs, mode=own).point(strict=False)


def _inputs(
    system: EquationSystem,
    model: Model,
    given: Mapping[str, Quantity],
    values: Mapping[str, float],
    units: Mapping[str, str],
) -> dict[str, float]:
    """The constant value of each input: the one given, else that of the experiment in the end."""
    _check_names(given, system.inputs, f"an input of '{system.name}'", "inputs")
    found = {name: _in_the_end(signal, model, values) for name, signal in model.experiment.inputs.items()}
    for name in given.keys() & ambient_temperatures(model.elements):
        refuse_scale(given[name], f"the input {name}")
    found |= {name: value_of(v, _dimension(units, name), f"the input {name}", values) for name, v in given.items()}
    return {name: found.get(name, 0.0) for name in system.inputs}


def _dimension(units: Mapping[str, str], name: str) -> Dimension | None:
    return parse_unit(units[name]).dimension if units.get(name) else None


def _in_the_end(signal: Signal, model: Model, values: Mapping[str, float]) -> float:
    """What a shape has come to at the end of the experiment; of a sine, what it swings about."""
    # A steady state swings about the offset.
    if signal.shape == "sine":
        return signal.arguments[3].evaluate(values) if len(signal.arguments) > 3 else 0.0
    if signal.shape == "chirp" or signal.expression is None:
        return 0.0
    known = {**values, TIME: end_of_experiment(model, values)}
    return signal.expression.evaluate(known) if signal.expression.free_symbols <= known.keys() else 0.0


def _is_driven(model: Model, name: str) -> bool:
    return any(e.signal is not None and input_name(e) == name for e in model.elements if e.kind.role == "source")


def _check_names(given: Iterable[str], known: Sequence[str], what: str, word: str) -> None:
    """Refuse names that are not known.

    Raises: SimulationError (S302) with the nearest name.
    """
    for name in given:
        if name not in known:
            fix = did_you_mean(name, known) or f"the {word} are {listing(known, 20)}"
            raise rules.NO_SUCH_SETTING.error(f"'{name}' is not {what}", fix=fix)


STEPS = 60
CLOSE = 1e-10


def steady_state(
    system: EquationSystem, inputs: Mapping[str, float], start: Mapping[str, float] | None = None
) -> dict[str, float]:
    """Values of states, displacements and algebraic unknowns at which nothing moves, beside those of the inputs.

    Found by Newton's method with halved steps from `start` (zero where not given). Where many states would do, as a charge that
    nobody drains, the one nearest to the start is taken.

    Raises: EquationError (E201) naming what keeps moving.
    """
    # Unknowns of algebraic equations are looked for together with the states: at rest they have to hold as well.
    names = (*system.states, *system.displacements, *system.algebraic.unknowns)
    problem = _Rates(system, names, {n: float(inputs.get(n, 0.0)) for n in system.inputs})
    here = np.array([float((start or {}).get(name, 0.0)) for name in names])
    rates = problem.rates(here)
    for _ in range(STEPS):
        if problem.is_small(rates, here):
            return {**problem.inputs, **dict(zip(names, map(float, here), strict=True))}
        # Newton alone may leap over a kink of a friction law and never come back: steps are halved until they help.
        there, after = problem.advance(here, problem.newton_step(rates, here), rates)
        # No rate came down any further: what is left cannot come to rest under these inputs.
        if not np.any(np.abs(after) < np.abs(rates)):
            break
        here, rates = there, after
    moving = [name for name, r, s in zip(names, rates, problem.sizes(here), strict=True) if abs(r) > CLOSE * s]
    raise analysis_rules.NO_STEADY_STATE.error(
        f"{listing(moving)} {'keeps' if len(moving) == 1 else 'keep'} moving",
        where=system.name,
        fix="give the point at which the model is wanted, or other inputs",
        members=moving,
    )


class _Rates:
    """What must vanish, with its derivatives, as functions of an array."""

    def __init__(self, system: EquationSystem, names: Sequence[str], inputs: Mapping[str, float]) -> None:
        # Derivatives by states must see through the names of `where`.
        numeric = _written_out(with_values(system))
        m, x = numeric.matrices, [symbol(n) for n in numeric.states]
        u = [symbol(n) for n in numeric.inputs]
        forces = tuple(
            dot(b, u) - dot(a, x) - dot(n, x) - f
            for a, n, b, f in zip(m["A"], m["N"], m["B"], numeric.vectors["f"], strict=True)
        )
        self.names, self.inputs = names, dict(inputs)
        self.functions: Vector = (*forces, *numeric.displacements.values(), *numeric.algebraic.residuals)
        self.derivatives = [
            [(j, e.derivative(name)) for j, name in enumerate(names) if name in e.free_symbols] for e in self.functions
        ]

    def rates(self, at: Array) -> Array:
        """The functions at a point; infinite where a law is not defined there."""
        values = self._values(at)
        try:
            return np.array([e.evaluate(values) for e in self.functions], dtype=float)
        except (ArithmeticError, ValueError, TypeError):
            # Outside of its domain a law rejects the step, and a shorter one is tried.
            return np.full(len(self.functions), np.inf)

    def sizes(self, at: Array) -> Array:
        """How large the terms of each function are, so that a rest can be judged."""
        jacobian = self.jacobian(at)
        # What stays at rest without any state, such as a weight, is a size to compare with too.
        values = {**self._values(at), **dict.fromkeys(self.names, 0.0)}
        offset = np.array([_magnitude(e, values) for e in self.functions])
        return np.asarray(np.abs(jacobian) @ np.abs(at) + offset)

    def is_small(self, rates: Array, at: Array) -> bool:
        """Whether all that is left of the functions is rounding."""
        return bool(np.all(np.abs(rates) <= CLOSE * self.sizes(at)))

    def jacobian(self, at: Array) -> Array:
        """The derivatives at a point."""
        values = self._values(at)
        found = np.zeros((len(self.functions), len(self.names)))
        for i, row in enumerate(self.derivatives):
            for j, e in row:
                found[i, j] = e.evaluate(values)
        return found

    def newton_step(self, rates: Array, at: Array) -> Array:
        """The smallest step that makes the rates vanish to first order, rows and columns scaled to one."""
        jacobian = self.jacobian(at)
        # Newtons and amperes in one matrix: unscaled, the smallest unit would decide what counts as zero.
        rows = np.abs(jacobian).max(axis=1, initial=0.0)
        rows[rows == 0] = 1.0
        columns = np.abs(jacobian / rows[:, None]).max(axis=0, initial=0.0)
        columns[columns == 0] = 1.0
        # Least squares, since the matrix may be singular: a charge that nothing drains stays where it is.
        step, *_ = np.linalg.lstsq(jacobian / rows[:, None] / columns, -rates / rows, rcond=1e-12)
        return np.asarray(step / columns)

    def advance(self, at: Array, step: Array, rates: Array) -> tuple[Array, Array]:
        """The step, halved until it brings the rates down."""
        share, sizes = 1.0, self.sizes(at)
        sizes[sizes == 0] = 1.0
        before = np.abs(rates / sizes).max()
        while True:
            there = at + share * step
            found = self.rates(there)
            # Where not even so short a step helps, the direction leads nowhere, and the search ends with it.
            if share < 1e-4 or np.abs(found / sizes).max() < before:
                return there, found
            share /= 2

    def _values(self, at: Array) -> dict[str, float]:
        return {**self.inputs, **dict(zip(self.names, map(float, at), strict=True))}


def _written_out(system: EquationSystem) -> EquationSystem:
    written: dict[str, Expression] = {}
    for name, expression in system.where.items():
        written[name] = expression.substitute(written)
    moved = {name: e.substitute(written) for name, e in system.displacements.items()}
    return replace(system.with_entries(lambda e: e.substitute(written)), where={}, displacements=moved)


def _magnitude(function: Expression, values: Mapping[str, float]) -> float:
    """How large a function is; zero at a point where it is not defined, such as a linkage folded flat."""
    try:
        return abs(function.evaluate(values))
    except (ArithmeticError, ValueError, TypeError):
        return 0.0
