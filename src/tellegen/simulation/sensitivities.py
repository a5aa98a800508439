"""Forward sensitivities: a model with its derivatives along parameters as one wider model, and its integration."""

import ctypes
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Final, final

import numpy as np

from tellegen.compiler.context import Array, Integers, ModelContext, TgContext
from tellegen.compiler.numeric_model import NumericModel, native_addresses
from tellegen.core.names import did_you_mean, listing
from tellegen.simulation import rules, sensitivity_jumps
from tellegen.simulation.integration import settings_for, settings_of, solver_function, stored_energy_at, trajectory_of
from tellegen.simulation.problem import SOLVERS, Problem
from tellegen.simulation.solvers import jobs, stretch
from tellegen.simulation.solvers.choice import SolverChoice, choose
from tellegen.simulation.solvers.delays import Past
from tellegen.simulation.solvers.jobs import FUNCTIONS, SlopeWrapper
from tellegen.simulation.solvers.library import library, solver
from tellegen.simulation.starting import consistent_start
from tellegen.simulation.trajectory import HeldRows, Trajectory, observe_rows

DelaySlopes = Mapping[str, tuple[Array, Array]]
"""How delays and their initial values change with each parameter, by the names of the delayed signals."""


@final
class SensitivityModel:
    """y of a model, then dy/dp for each parameter p asked for.

    `held` is d(memory)/dp, a row for each parameter. `settings` have the tolerances of the wider model: those of dy/dp are those of
    y over the size of the parameter.
    """

    def __init__(
        self,
        plain: stretch.PreparedModel,
        context: ModelContext,
        numbers: Integers,
        settings: stretch.SolverSettings,
        *,
        through_modes: bool,
    ) -> None:
        model, count = plain.model, len(numbers)
        self.model, self.context, self.numbers, self.plain = model, context, numbers, plain
        self.prepared = replace(
            plain, blocks=1 + count, addresses=_addresses(model), terminal=_terminal(plain, through_modes=through_modes)
        )
        # Sensitivities have the unit of y over that of p: this gives all of them tolerances of one meaning.
        sizes = [abs(context.parameters[k]) or 1.0 for k in numbers]
        self.settings = replace(
            settings, atol=np.concatenate([settings.atol, *(settings.atol / size for size in sizes)])
        )
        self.held = np.zeros((count, max(len(model.memory), 1)))
        self._held_before = np.zeros_like(self.held)
        self._room = np.zeros(5 * max(model.size, len(model.memory), 1))
        self._direction = np.zeros(max(len(model.parameters), 1))
        self._log = np.zeros((0, 1))
        self._struct = self._wrapped()
        self.past: Past | None = None
        latches = [model.memory[k] for group in model.sample_groups if group.is_latch for k in group.members]
        if latches:
            raise rules.NO_SENSITIVITY.error(
                f"'{latches[0]}' changes at instants that move with the parameters, and slopes across them are not known",
                where=latches[0],
                fix="use differences of two runs",
            )
        if model.sample_groups:
            self._look_beside()

    def delay(self, slopes: DelaySlopes, past: Past | None = None) -> None:
        """Let delayed signals be repeated with their sensitivities, from the start of a run on; `past` is that of another mode."""
        model, count = self.model, len(self.numbers)
        if not model.delays:
            return
        by, initial = (np.zeros((count, len(model.delays))) for _ in range(2))
        for i, delayed in enumerate(model.delays):
            by[:, i], initial[:, i] = slopes.get(delayed.name, (0.0, 0.0))
        self.past, self._by_slopes = past or Past(model, self.context, initial), by
        self._observed = np.zeros(2 * len(model.observables))
        self._struct.history, self._struct.by_slopes = self.past.address, by.ctypes.data
        self._struct.n_delays, self._struct.n_observables = len(model.delays), len(model.observables)
        self._struct.observed = self._observed.ctypes.data
        told = library().tg_moved_past
        self.context.remember(ctypes.cast(told, ctypes.c_void_p).value, self.address)
        self._look_beside()

    def _look_beside(self) -> None:
        """Contexts with a little more and a little less of each parameter, for what no tangent tells: samples and delays."""
        # What a signal samples may read anything; differences of it need no further code.
        steps = [sensitivity_jumps.difference_step(self.context.parameters[k]) for k in self.numbers]
        self._contexts = [
            sensitivity_jumps.context_with_parameter(self.model, self.context, int(k), by)
            for k, step in zip(self.numbers, steps, strict=True)
            for by in (step, -step)
        ]
        self._beside = (ctypes.c_void_p * len(self._contexts))(*(c.address for c in self._contexts))
        self._struct.beside = ctypes.addressof(self._beside)

    @property
    def address(self) -> int:
        """Where the context that solvers are given lies."""
        return ctypes.addressof(self._struct)

    def begin(self, start: stretch.StatePoint, slopes: Array) -> stretch.StatePoint:
        """The start with its sensitivities (parameters by variables); those of algebraic unknowns and rates follow."""
        model, count = self.model, len(self.numbers)
        # One larger model, whose blocks share one Jacobian: any solver takes it as it is.
        y = np.concatenate([start.y, np.ascontiguousarray(slopes).ravel()])
        wide = stretch.StatePoint(start.t, y, np.concatenate([start.yp, np.zeros(count * model.size)]))
        if model.explicit:
            return wide
        empty = stretch.RunRows.at(np.zeros(0), self.prepared.width)
        job, arrays = stretch.make_job(
            self.prepared, self.context, self.settings, empty, wide, np.inf, address=self.address
        )
        # States and their slopes are kept; slopes of algebraic unknowns follow from the same equations.
        if solver("tg_consistent")(job) != jobs.FINISHED:
            raise rules.NOT_CONSISTENT.error(
                f"the sensitivities of the algebraic unknowns at t = {start.t:g} s were not found", where=model.name
            )
        return stretch.StatePoint(start.t, arrays.y, arrays.yp)

    @contextmanager
    def moved_past(self, k: int, by: float) -> Iterator[None]:
        """Delayed signals as they would have been with parameter k moved by a little; whoever reads moves the parameter itself."""
        self._struct.along, self._struct.shift = k, by
        try:
            yield
        finally:
            self._struct.shift = 0.0

    def expect_samples(self, duration: float) -> None:
        """Room for the sampling instants of a stretch; forgets those before it."""
        instants = len(self.model.sample_groups) * stretch.sampling_instants(self.model, duration)
        self._log = np.zeros((instants, 1 + len(self.numbers) * len(self.model.memory)))
        self._struct.log = self._log.ctypes.data
        self._struct.log_room, self._struct.log_count = len(self._log), 0
        self._struct.sampled_at = -np.inf

    def held_at(self, times: Array, first: Array) -> Array:
        """d(memory)/dp at times of the stretch: rows, parameters, places; `first` is what it was at its start."""
        places = len(self.model.memory)
        start = np.concatenate([[-np.inf], first[:, :places].ravel()])
        # What held at the start holds from the beginning of time, so that every row finds an entry.
        log = np.vstack([start, self._log[: self._struct.log_count]])
        found = log[np.searchsorted(log[:, 0], times, side="right") - 1, 1:]
        return np.asarray(found.reshape(len(times), len(self.numbers), places))

    def _wrapped(self) -> SlopeWrapper:
        model, struct = self.model, SlopeWrapper()
        # The wrapper begins with a context of its own: to a solver it is one, while the model is given the true one.
        ctypes.memmove(ctypes.addressof(struct.head), self.context.address, ctypes.sizeof(TgContext))
        struct.model = self.context.address
        for name in FUNCTIONS:
            setattr(struct, name, model.addresses.get(name))
        struct.n, struct.count, struct.n_memory = model.size, len(self.numbers), len(model.memory)
        struct.parameters, struct.direction = self.numbers.ctypes.data, self._direction.ctypes.data
        struct.held, struct.held_before = self.held.ctypes.data, self._held_before.ctypes.data
        struct.room, struct.sampled_at = self._room.ctypes.data, -np.inf
        return struct


def parameter_numbers(model: NumericModel, parameters: Sequence[str]) -> Integers:
    """The places of parameters in a model.

    Raises: SimulationError (S126) for a name that is none.
    """
    for name in parameters:
        if name not in model.parameters:
            raise rules.NO_SENSITIVITY.error(
                f"there is no parameter '{name}'",
                where=model.name,
                fix=did_you_mean(name, model.parameters) or f"the parameters are {listing(model.parameters)}",
            )
    return np.array([model.parameters.index(name) for name in parameters], dtype=np.int32)


def _terminal(plain: stretch.PreparedModel, *, through_modes: bool) -> Integers:
    """Which events end a stretch: those where rates jump; transitions are known from the run before, where there are any."""
    kinds = [event.kind for event in plain.model.events]
    # When modes change is known from the run before; here only rates that jump stop the run, and slopes with them.
    if through_modes:
        return np.array([int(kind != "transition") for kind in kinds] or [0], dtype=np.int32)
    return np.ones_like(plain.terminal)


def _addresses(model: NumericModel) -> dict[str, int]:
    ours = native_addresses(library(), "tg_wrapped_{}")
    # rates and powers of a model side by side would have the powers where the slopes belong
    assert ours.keys() == set(FUNCTIONS), "the wrapper passes on every other function that solvers call"
    return {name: address for name, address in ours.items() if name in model.addresses}


NO_DELAYS: Final[DelaySlopes] = {}


@final
@dataclass(frozen=True)
class SensitivityRows:
    """Rows of one model: variables and rates, and how they and what is held change with each parameter.

    `slopes` and `rate_slopes` are by row, variable and parameter; `held` by row, parameter and place in the memory. `wide` is the
    model that they come from, which keeps the past of delayed signals.
    """

    wide: SensitivityModel
    t: Array
    y: Array
    yp: Array
    slopes: Array
    rate_slopes: Array
    memory: HeldRows | None
    held: Array

    @property
    def model(self) -> NumericModel:
        """The model of these rows."""
        return self.wide.model


def integrate_sensitivities(
    problem: Problem,
    parameters: Sequence[str],
    *,
    start_slopes: Array | None = None,
    moving: sensitivity_jumps.ParameterDependentBreaks = sensitivity_jumps.NOTHING_MOVES,
    delays: DelaySlopes = NO_DELAYS,
) -> tuple[Trajectory, SensitivityRows]:
    """The trajectory, and its rows with dy/dp in SI units.

    `start_slopes` is dy0/dp (variables by parameters) where initial values depend on the parameters; zero without it. The
    sensitivities keep the tolerance of the run, relative to the size of the parameter.

    At sampling instants and where a law jumps they jump as the variational equations do. Sampling periods are taken as given;
    `moving` are the scheduled instants that change with the parameters, `delays` the delays that do.

    Raises: SimulationError (S126) for a model that changes its mode, or naming a parameter that the model does not have.
    """
    began = time.perf_counter()
    problem.checked()
    model = problem.model
    numbers = parameter_numbers(model, parameters)
    if any(event.kind == "transition" for event in model.events):
        raise rules.NO_SENSITIVITY.error(
            "a model with modes has several models, and this is one of them",
            where=model.name,
            fix="give the graph to integrate_mode_slopes",
        )
    context = problem.context or model.new_context(problem.parameters, problem.inputs)
    settings, plain = settings_of(problem), stretch.prepare(model)
    start = consistent_start(plain, context, settings, problem.t0, problem.start(), problem.yp0)
    wide = SensitivityModel(plain, context, numbers, settings, through_modes=False)
    wide.delay(delays)
    if problem.context is None and model.sample_groups:
        # Samples at the start see slopes too: a held value may depend on the parameter from the first moment.
        wide.held[:] = sensitivity_jumps.first_sample_slopes(model, context, start, numbers, start_slopes)
        start = consistent_start(plain, context, settings, problem.t0, start.y, start.yp)
    held = context.memory[: len(model.memory)].copy()
    choice = solver_with_sensitivities(choose(model, problem.solver, context, start, problem.until))
    rows = stretch.RunRows.at(problem.output_times(), wide.prepared.width)
    before = stored_energy_at(model, context, start)
    ready = time.perf_counter()
    slopes = np.zeros((len(numbers), model.size)) if start_slopes is None else np.asarray(start_slopes, dtype=float).T
    advance = SensitivityIntegration(problem, moving)
    first_slopes = wide.held.copy()
    ends, choice = advance.through(wide, choice, rows, wide.begin(start, slopes), problem.until)
    seconds = (ready - began, time.perf_counter() - ready)
    books = before if problem.books else None
    made = trajectory_of(ends, wide.prepared, context, rows, choice, settings, books=books, seconds=seconds, held=held)
    return made, sensitivity_rows(wide, rows, made.memory, first_slopes)


@final
@dataclass(frozen=True)
class SensitivityIntegration:
    """Advances models with their sensitivities through all that makes these jump while the mode stays."""

    problem: Problem
    moving: sensitivity_jumps.ParameterDependentBreaks

    def through(
        self,
        wide: SensitivityModel,
        choice: SolverChoice,
        rows: stretch.RunRows,
        standing: stretch.StatePoint,
        until: float,
    ) -> tuple[list[stretch.StretchEnd], SolverChoice]:
        """From where it stands to `until`: how each stretch ended, and the solver of the last one."""
        ends: list[stretch.StretchEnd] = []
        wide.expect_samples(until - standing.t)
        # Scheduled instants that move with a parameter are ends of stretches, for the slopes jump there.
        for instant in (*self.moving.between(standing.t, until).tolist(), np.inf):
            # A little beyond, so that the solver has crossed the break and rates are those behind it.
            goal = min(instant + _gap(instant), until)
            while True:
                run, asked = solver_function(choice.solver), settings_for(choice, wide.settings)
                ends.append(
                    stretch.run_stretch(
                        run,
                        wide.prepared,
                        wide.context,
                        asked,
                        rows,
                        standing,
                        until=goal,
                        address=wide.address,
                        past=wide.past,
                    )
                )
                standing, status = ends[-1].standing, ends[-1].status
                if status == jobs.EVENT:
                    if wide.past is not None:
                        wide.past.mark_break()
                    standing = self._after_event(wide, ends[-1])
                elif status == jobs.STIFF and self.problem.solver == "auto":
                    choice = SolverChoice("cvode", f"stiff from t = {standing.t:.3g} s on, where Runge-Kutta stopped")
                else:
                    break
            if ends[-1].status != jobs.FINISHED:
                break
            if goal < until and (by := self.moving.slopes(instant)) is not None:
                if wide.past is not None:
                    # The instant is told again with the slopes behind the jump.
                    wide.past.forget_last()
                standing = self._jumped(wide, standing, by)
        return ends, choice

    @property
    def aside(self) -> float:
        """How far from an instant both its sides are looked at."""
        return sensitivity_jumps.ASIDE * (self.problem.until - self.problem.t0)

    def _after_event(self, wide: SensitivityModel, end: stretch.StretchEnd) -> stretch.StatePoint:
        """Where a run goes on after the rates jumped; several events at once are one jump of the rates."""
        at, slopes = split_sensitivities(wide, end.standing)
        earlier, later = sensitivity_jumps.rates_on_both_sides(wide.plain, wide.context, at, self.aside)
        # Rates that do not jump leave the slopes as they are: an event that only bends costs nothing.
        if np.allclose(earlier, later, rtol=1e-6, atol=0.0):
            return end.standing
        event = int(np.flatnonzero(end.signs)[0])
        by = sensitivity_jumps.event_time_slopes(wide, at, slopes, wide.held, event, self.aside)
        return self._jumped(wide, end.standing, by)

    def _jumped(self, wide: SensitivityModel, standing: stretch.StatePoint, by: Array) -> stretch.StatePoint:
        """The sensitivities after an instant that moves with the parameters by `by`."""
        at, slopes = split_sensitivities(wide, standing)
        earlier, later = sensitivity_jumps.rates_on_both_sides(wide.plain, wide.context, at, self.aside)
        # Unknowns have no rates of their own: their slopes follow when the start is made consistent.
        moving = wide.model.size - len(wide.model.unknowns)
        slopes[:, :moving] += np.outer(by, (earlier - later)[:moving])
        return wide.begin(at, slopes)


def split_sensitivities(wide: SensitivityModel, standing: stretch.StatePoint) -> tuple[stretch.StatePoint, Array]:
    """Where the model stands, and its sensitivities by parameter."""
    n = wide.model.size
    slopes = standing.y[n:].reshape(len(wide.numbers), n).copy()
    return stretch.StatePoint(standing.t, standing.y[:n].copy(), standing.yp[:n].copy()), slopes


def sensitivity_rows(
    wide: SensitivityModel, rows: stretch.RunRows, memory: HeldRows | None, first: Array
) -> SensitivityRows:
    """The rows of a stretch."""
    n, done, count = wide.model.size, rows.done, len(wide.numbers)

    def blocks(values: Array) -> Array:
        # The solver keeps one block for each parameter; people ask by variable.
        return np.ascontiguousarray(values[:done, n:].reshape(done, count, n).transpose(0, 2, 1))

    t = rows.t[:done]
    return SensitivityRows(
        wide,
        t,
        y=rows.y[:done, :n],
        yp=rows.yp[:done, :n],
        slopes=blocks(rows.y),
        rate_slopes=blocks(rows.yp),
        memory=memory,
        held=wide.held_at(t, first),
    )


def observable_slopes(part: SensitivityRows, parameters: Sequence[str]) -> tuple[Array, Array]:
    """Observables by row, and d(observable)/dp by row, observable and parameter.

    Observables are differentiated along the known slopes by central differences, good to about nine digits.
    """
    model, wide = part.model, part.wide
    everything = np.arange(len(model.observables))
    found = np.zeros((len(part.t), len(everything), len(parameters)))

    def told(context: ModelContext, y: Array, yp: Array, memory: HeldRows | None) -> Array:
        into = np.empty((len(part.t), len(everything)))
        observe_rows(model, context, part.t, y, yp, memory=memory, indices=everything, into=into)
        return into

    for k, number in enumerate(parameter_numbers(model, parameters)):
        step = sensitivity_jumps.difference_step(wide.context.parameters[number])
        for by in (step, -step):
            context = sensitivity_jumps.context_with_parameter(model, wide.context, int(number), by)
            memory = None if part.memory is None else HeldRows.of(np.asarray(part.memory) + by * part.held[:, k])
            with wide.moved_past(k, by):
                # Along the slopes: the difference is of the parameter and of all that moves with it.
                y, yp = part.y + by * part.slopes[..., k], part.yp + by * part.rate_slopes[..., k]
                found[..., k] += told(context, y, yp, memory) / (2.0 * by)
    here = sensitivity_jumps.context_with_parameter(model, wide.context, 0, 0.0)
    return told(here, part.y, part.yp, part.memory), found


def solver_with_sensitivities(choice: SolverChoice) -> SolverChoice:
    """The exponential, heyoka and the methods of fixed step have no sensitivities: their neighbours have.

    Raises: SimulationError (S126) for a solver that was asked for and has none.
    """
    if choice.solver == "exponential":
        return SolverChoice("runge-kutta", "sensitivities of a linear model", may_switch=True)
    if not SOLVERS[choice.solver].has_sensitivities:
        raise rules.NO_SENSITIVITY.error(
            f"'{choice.solver}' gives no sensitivities", fix="choose 'runge-kutta', 'cvode' or 'ida'"
        )
    return choice


def _gap(t: float) -> float:
    """What solvers leave between a break and where they go on."""
    return 8.0 * float(np.finfo(float).eps) * abs(t) if np.isfinite(t) else 0.0
