"""Forward sensitivities: how the variables of a run change with parameters, integrated beside them."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from tellegen.compiler.numeric_model import NumericModel
from tellegen.simulation import jobs, rules
from tellegen.simulation.break_slopes import NOTHING_MOVES, MovingBreaks
from tellegen.simulation.choice import Choice, choose
from tellegen.simulation.held_rows import HeldRows
from tellegen.simulation.integration import settings_for, settings_of, solver_run, stored_energy, trajectory_of
from tellegen.simulation.problem import Problem
from tellegen.simulation.slope_jumps import ASIDE, first_held, instant_slopes, moved, nudge, rates_aside
from tellegen.simulation.slope_models import DelaySlopes, SlopeModel, parameter_numbers
from tellegen.simulation.starting import consistent_start
from tellegen.simulation.stretch import Rows, Standing, StretchEnd, Watch, prepare, run_stretch
from tellegen.simulation.trajectory import Trajectory

Array = NDArray[np.float64]
NO_DELAYS: Final[DelaySlopes] = {}


@final
@dataclass(frozen=True)
class SlopePart:
    """Rows of one model: variables and rates, and how they and what is held change with each parameter.

    `slopes` and `rate_slopes` are by row, variable and parameter; `held` by row, parameter and place in the memory. `wide` is the
    model that they come from, which keeps the past of delayed signals.
    """

    wide: SlopeModel
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
    moving: MovingBreaks = NOTHING_MOVES,
    delays: DelaySlopes = NO_DELAYS,
    watch: Watch | None = None,
) -> Trajectory:
    """The trajectory with `sensitivities`: dy/dp in SI units, by row, variable and parameter.

    `start_slopes` is dy0/dp (variables by parameters) where initial values depend on the parameters; zero without it. The
    sensitivities keep the tolerance of the run, relative to the size of the parameter.

    At sampling instants and where a law jumps they jump as the variational equations do. Sampling periods are taken as given;
    `moving` are the scheduled instants that change with the parameters, `delays` the delays that do.

    Raises: SimulationError (S126) for a model that changes its mode, or naming a parameter that the model does not have.
    """
    return _integrated(problem, parameters, start_slopes, moving, delays, watch)[0]


def integrate_slopes(
    problem: Problem,
    parameters: Sequence[str],
    *,
    start_slopes: Array | None = None,
    moving: MovingBreaks = NOTHING_MOVES,
    delays: DelaySlopes = NO_DELAYS,
) -> tuple[Trajectory, SlopePart]:
    """As `integrate_sensitivities`, with all that observing the rows needs."""
    return _integrated(problem, parameters, start_slopes, moving, delays, None)


def _integrated(
    problem: Problem,
    parameters: Sequence[str],
    start_slopes: Array | None,
    moving: MovingBreaks,
    delays: DelaySlopes,
    watch: Watch | None,
) -> tuple[Trajectory, SlopePart]:
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
    settings, plain = settings_of(problem), prepare(model)
    start = consistent_start(plain, context, settings, problem.t0, problem.start(), problem.yp0)
    wide = SlopeModel(plain, context, numbers, settings, through_modes=False)
    wide.delay(delays)
    if problem.context is None and model.sample_groups:
        wide.held[:] = first_held(model, context, start, numbers, start_slopes)
        start = consistent_start(plain, context, settings, problem.t0, start.y, start.yp)
    held = context.memory[: len(model.memory)].copy()
    choice = suited(choose(model, problem.solver, context, start, problem.until))
    rows = Rows.at(problem.output_times(), wide.prepared.width)
    before = stored_energy(model, context, start)
    ready = time.perf_counter()
    slopes = np.zeros((len(numbers), model.size)) if start_slopes is None else np.asarray(start_slopes, dtype=float).T
    advance = SlopeAdvance(problem, moving, watch)
    first_slopes = wide.held.copy()
    ends, choice = advance.through(wide, choice, rows, wide.begin(start, slopes), problem.until)
    seconds = (ready - began, time.perf_counter() - ready)
    books = before if problem.books else None
    made = trajectory_of(ends, wide.prepared, context, rows, choice, settings, books=books, seconds=seconds, held=held)
    part = part_of(wide, rows, made.memory, first_slopes)
    return replace(made, sensitivities=part.slopes), part


@final
@dataclass(frozen=True)
class SlopeAdvance:
    """Advances models with their sensitivities through all that makes these jump while the mode stays."""

    problem: Problem
    moving: MovingBreaks
    watch: Watch | None = None

    def through(
        self, wide: SlopeModel, choice: Choice, rows: Rows, standing: Standing, until: float
    ) -> tuple[list[StretchEnd], Choice]:
        """From where it stands to `until`: how each stretch ended, and the solver of the last one."""
        ends: list[StretchEnd] = []
        wide.expect_samples(until - standing.t)
        for instant in (*self.moving.between(standing.t, until).tolist(), np.inf):
            goal = min(instant + _gap(instant), until)
            while True:
                run, asked = solver_run(choice.solver, wide.model), settings_for(choice, wide.settings)
                ends.append(
                    run_stretch(
                        run,
                        wide.prepared,
                        wide.context,
                        asked,
                        rows,
                        standing,
                        goal,
                        watch=self.watch,
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
                    choice = Choice("cvode", f"stiff from t = {standing.t:.3g} s on, where Runge-Kutta stopped")
                else:
                    break
            if ends[-1].status != jobs.FINISHED:
                break
            if goal < until and (by := self.moving.slopes(instant)) is not None:
                if wide.past is not None:
                    wide.past.forget_last()
                standing = self._jumped(wide, standing, by)
        return ends, choice

    @property
    def aside(self) -> float:
        """How far from an instant both its sides are looked at."""
        return ASIDE * (self.problem.until - self.problem.t0)

    def _after_event(self, wide: SlopeModel, end: StretchEnd) -> Standing:
        """Where a run goes on after the rates jumped; several events at once are one jump of the rates."""
        at, slopes = split(wide, end.standing)
        earlier, later = rates_aside(wide.plain, wide.context, at, self.aside)
        if np.allclose(earlier, later, rtol=1e-6, atol=0.0):
            return end.standing
        event = int(np.flatnonzero(end.signs)[0])
        by = instant_slopes(
            wide.plain, wide.context, at, slopes, wide.held, wide.numbers, event, self.aside, wide.moved_past
        )
        return self._jumped(wide, end.standing, by)

    def _jumped(self, wide: SlopeModel, standing: Standing, by: Array) -> Standing:
        """The sensitivities after an instant that moves with the parameters by `by`."""
        at, slopes = split(wide, standing)
        earlier, later = rates_aside(wide.plain, wide.context, at, self.aside)
        moving = wide.model.size - len(wide.model.unknowns)
        slopes[:, :moving] += np.outer(by, (earlier - later)[:moving])
        return wide.begin(at, slopes)


def split(wide: SlopeModel, standing: Standing) -> tuple[Standing, Array]:
    """Where the model stands, and its sensitivities by parameter."""
    n = wide.model.size
    slopes = standing.y[n:].reshape(len(wide.numbers), n).copy()
    return Standing(standing.t, standing.y[:n].copy(), standing.yp[:n].copy()), slopes


def part_of(wide: SlopeModel, rows: Rows, memory: HeldRows | None, first: Array) -> SlopePart:
    """The rows of a stretch."""
    n, done, count = wide.model.size, rows.done, len(wide.numbers)

    def blocks(values: Array) -> Array:
        return np.ascontiguousarray(values[:done, n:].reshape(done, count, n).transpose(0, 2, 1))

    t = rows.t[:done]
    held = wide.held_at(t, first)
    return SlopePart(wide, t, rows.y[:done, :n], rows.yp[:done, :n], blocks(rows.y), blocks(rows.yp), memory, held)


def observable_slopes(part: SlopePart, parameters: Sequence[str]) -> Array:
    """d(observable)/dp by row, observable and parameter.

    Observables are differentiated along the known slopes by central differences, good to about nine digits.
    """
    model, wide = part.model, part.wide
    found = np.zeros((len(part.t), len(model.observables), len(parameters)))
    for k, number in enumerate(parameter_numbers(model, parameters)):
        step = nudge(wide.context.parameters[number])
        for by in (step, -step):
            context = moved(model, wide.context, int(number), by)
            with wide.moved_past(k, by):
                for i, t in enumerate(part.t):
                    if part.memory is not None:
                        context.memory[: len(model.memory)] = part.memory.row(i) + by * part.held[i, k]
                    y = part.y[i] + by * part.slopes[i, :, k]
                    yp = part.yp[i] + by * part.rate_slopes[i, :, k]
                    found[i, :, k] += model.observe(t, y, yp, context) / (2.0 * by)
    return found


def suited(choice: Choice) -> Choice:
    """The exponential, heyoka and the methods of fixed step have no sensitivities: their neighbours have.

    Raises: SimulationError (S126) for a solver that was asked for and has none.
    """
    if choice.solver == "exponential":
        return Choice("runge-kutta", "sensitivities of a linear model", may_switch=True)
    if choice.solver in ("midpoint", "discrete-gradient", "heyoka"):
        raise rules.NO_SENSITIVITY.error(
            f"'{choice.solver}' gives no sensitivities", fix="choose 'runge-kutta', 'cvode' or 'ida'"
        )
    return choice


def _gap(t: float) -> float:
    """What solvers leave between a break and where they go on."""
    return 8.0 * float(np.finfo(float).eps) * abs(t) if np.isfinite(t) else 0.0
