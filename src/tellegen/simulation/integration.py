"""`integrate`: from a Problem to a Trajectory."""

import math
import time
from dataclasses import replace
from typing import Final, Literal

import numpy as np

from tellegen.compiler.context import Array, ModelContext
from tellegen.compiler.enclosures import frequencies
from tellegen.compiler.numeric_model import NumericModel
from tellegen.core.names import TIME
from tellegen.simulation import rules
from tellegen.simulation.energy_books import ModelRows, checked_books
from tellegen.simulation.failures import finding_of
from tellegen.simulation.global_error import (
    Attempt,
    AttemptFunction,
    has_memory,
    missed_tolerance,
    run_within_tolerance,
    whole_run_within_tolerance,
)
from tellegen.simulation.problem import FIXED_STEP, Problem
from tellegen.simulation.solvers import jobs
from tellegen.simulation.solvers.choice import SolverChoice, choose, reason_in_words
from tellegen.simulation.solvers.delays import Past, past_of
from tellegen.simulation.solvers.jobs import Job
from tellegen.simulation.solvers.library import Run, solver
from tellegen.simulation.solvers.stretch import (
    PreparedModel,
    RunRows,
    SolverSettings,
    StatePoint,
    StretchEnd,
    Watch,
    prepare,
    run_stretch,
    watched,
)
from tellegen.simulation.solvers.taylor import taylor_stretch
from tellegen.simulation.solvers.unit_events import UnitEvents
from tellegen.simulation.starting import consistent_start, restore_memory, take_first_samples
from tellegen.simulation.trajectory import Books, Effort, RunEvent, Segment, Status, Trajectory

COMPARED: Final = ("runge-kutta", "cvode", "ida")
"""Solvers whose runs are compared with others, so that there may be several."""
STATIC_STEPS: Final = 200
UNFELT_STEPS: Final = 16
"""In a period of what no state feels: its powers are smooth, and the errors of their integral cancel over whole periods."""
MOST_EXPECTED: Final = 20_000_000
"""Steps of a run for which nobody has chosen a solver: minutes, of a small model. Who chooses one wants to wait."""


def integrate(problem: Problem, watch: Watch | None = None) -> Trajectory:
    """Advance a model from its start to its end.

    A run that fails or is cancelled on the way is a result too: its rows up to there are kept, and `status` and `finding` say why.

    Raises: SimulationError when the problem makes no sense or there is no start to advance from.
    """
    watch = monotonic_watch(watch)
    # What was sampled, and the past, cannot be taken up again in the middle: such runs are compared as a whole.
    if has_memory(problem.model) and problem.context is None:
        return whole_run_within_tolerance(problem, lambda asked: _integrated(asked, watch))
    return _integrated(problem, watch)


def _integrated(problem: Problem, watch: Watch | None) -> Trajectory:
    began = time.perf_counter()
    problem.checked()
    model = problem.model
    context = problem.context or model.new_context(*problem.given)
    settings = settings_of(problem)
    prepared, past = prepare(model), past_of(model, context, problem.before)
    # Before the start is made consistent: unknowns may follow from what is held.
    restore_memory(model, context, problem.before)
    start = consistent_start(prepared, context, settings, problem.t0, problem.start(), problem.yp0)
    # Samples due at the start see the consistent start, and what they then hold may change rates and unknowns.
    if problem.context is None and take_first_samples(model, context, start):
        start = consistent_start(prepared, context, settings, problem.t0, start.y, start.yp)
    # Now, for the solvers change the memory as they go; rows are told from it what was held first.
    held = context.memory[: len(model.memory)].copy()
    choice = choose(model, problem.solver, context, start, problem.until)
    rows = RunRows.at(problem.output_times(), model.size)
    # After the samples: what they move at t0 is no energy of the run.
    before = stored_energy_at(model, context, start) if problem.books else 0.0

    def keeping(given: Watch | None) -> Attempt:
        attempt = _attempting(problem, prepared, context, start, choice, watch=given, past=past)
        return run_within_tolerance(model, attempt, settings, rows, choice.solver)

    def directly(running: list[Job]) -> Attempt:
        return keeping(Watch(running=running))

    if choice.solver != "heyoka":
        # where the library is new it is compiled, which is no part of solving
        solver_function(choice.solver, stiff=choice.stiff)
    ready = time.perf_counter()
    # all attempts in one thread: going from one to another costs as much as a short run
    made = watched(directly, watch or Watch()) if choice.solver in COMPARED else keeping(watch)
    ends, choice = made.ends, made.choice
    seconds = (ready - began, time.perf_counter() - ready)
    found = trajectory_of(
        ends,
        prepared,
        context,
        rows if ends[-1].status == jobs.FINISHED else rows.with_last(ends[-1].standing),
        choice,
        settings,
        books=before if problem.books else None,
        seconds=seconds,
        held=held,
        past=past,
    )
    missed = missed_tolerance(choice.solver, settings.rtol, made.error, model.name)
    return replace(found, finding=found.finding or missed, share=made.share)


def _attempting(
    problem: Problem,
    prepared: PreparedModel,
    context: ModelContext,
    start: StatePoint,
    first: SolverChoice,
    *,
    watch: Watch | None,
    past: Past | None,
) -> AttemptFunction:
    """How to go from the start to the end, with settings and rows that may differ from one time to the next."""

    def attempt(
        settings: SolverSettings, rows: RunRows, *, until: float | None = None, after: Attempt | None = None
    ) -> Attempt:
        choice, at, ends = first, start, list[StretchEnd]()
        if after is not None:
            choice, at, ends = after.choice, after.ends[-1].standing, list(after.ends)
            # It goes on with the step that it had: starting small again would cost steps, and change the result.
            settings = replace(settings, first_step=after.ends[-1].last_step)
        horizon = problem.until if until is None else until
        units = UnitEvents.of(prepared, context, rows)
        while True:
            asked = settings_for(choice, settings)
            reach = horizon if units is None else min(horizon, units.next_after(at))
            if choice.solver == "heyoka":
                end = taylor_stretch(prepared.model, context, asked, rows, at, until=reach, watch=watch or Watch())
            else:
                run = solver_function(choice.solver, stiff=choice.stiff)
                end = run_stretch(run, prepared, context, asked, rows, at, until=reach, watch=watch, past=past)
            ends.append(end)
            at = end.standing
            if units is not None and units.stopped(end, horizon):
                at = units.passed(end)
                ends[-1] = units.told(end)
                if at.t < horizon:
                    continue
            following = _next_choice(choice, end.status, at.t, automatic=problem.solver == "auto")
            if following is None:
                return Attempt(ends, choice)
            choice = following

    return attempt


def monotonic_watch(watch: Watch | None) -> Watch | None:
    """The same watch, told of no time before one that it knows: a second run begins again."""
    if watch is None or watch.progress is None:
        return watch
    # A list, for the function below has to change it.
    tell, reached = watch.progress, [-np.inf]

    def told(t: float) -> None:
        reached[0] = max(t, reached[0])
        tell(reached[0])

    return replace(watch, progress=told)


def _next_choice(choice: SolverChoice, status: int, t: float, *, automatic: bool) -> SolverChoice | None:
    """The solver that goes on where another one had to stop; None at the end."""
    if status in (jobs.NOT_FINITE, jobs.TINY_STEP) and choice.solver == "exponential" and automatic:
        # the exponential reads inputs far ahead: small steps lead up to where one has no value
        return SolverChoice("runge-kutta", "an input is not a number later")
    if status == jobs.UNSUITED:
        if automatic:
            # The reason stays but for one word: the model is as stiff as it was, only its inputs are no constants,
            # ramps or sines.
            return SolverChoice("cvode", choice.reason.replace("linear and stiff", "stiff"))
        return replace(choice, stiff=False) if choice.may_switch else None
    # A solver that was asked for stays: the run ends there and says so.
    if status == jobs.STIFF and choice.may_switch:
        return SolverChoice("cvode", f"stiff from t = {t:.3g} s on, where Runge-Kutta stopped")
    return None


def _longest_unfelt(model: NumericModel, start: float, until: float) -> float:
    """Where no error of a state limits the step, books still want points: as many as what drives powers has turns."""
    if model.size and not model.unfelt:
        return math.inf
    span, ends = until - start, (start, until)
    fastest = max((f for e in model.unfelt for f in frequencies(e, {}, TIME, ends)), default=0.0)
    return span / max(STATIC_STEPS, UNFELT_STEPS * fastest * span) if math.isfinite(span) else math.inf


def settings_of(problem: Problem) -> SolverSettings:
    """What a problem asks of its solver.

    Raises: SimulationError (S122) when a method of fixed step has none.
    """
    if problem.solver in FIXED_STEP and problem.step is None:
        raise rules.NO_STEP.error(
            f"the solver '{problem.solver}' keeps its step, and none is given",
            where=problem.model.name,
            fix=f"give a step, for example {(problem.until - problem.t0) / 1000.0:.3g} s",
        )
    return SolverSettings(
        problem.rtol,
        problem.tolerances(),
        max_step=min(problem.max_step, _longest_unfelt(problem.model, problem.t0, problem.until)),
        first_step=problem.step or 0.0,
        max_steps=problem.max_steps,
        most_expected=MOST_EXPECTED if problem.solver == "auto" else 0,
        keep_books=problem.books,
    )


def settings_for(choice: SolverChoice, settings: SolverSettings) -> SolverSettings:
    """The settings with what an explicit solver has to mind, and whether one may give way to another."""
    longest = min(settings.max_step, choice.longest_step)
    watched = choice.solver == "runge-kutta" or (choice.stiff and choice.may_switch)
    return replace(settings, watch_stiffness=watched, max_step=longest, work=choice.work)


def solver_function(name: str, *, stiff: bool = False) -> Run:
    """The solver of a name; of the exponential, the one for what dies away fast."""
    return solver(f"tg_{'stiff_' * stiff}{name.replace('-', '_')}")


def stored_energy_at(model: NumericModel, context: ModelContext, at: StatePoint) -> float:
    """The energy in all storages; zero for a model without books."""
    if "balance" not in model.addresses:
        return 0.0
    try:
        return float(model.balance(at.t, at.y[: model.size], at.yp[: model.size], context)[4])
    except FloatingPointError:
        # A law without a value ends the run anyway, and the finding of that says more.
        return float("nan")


def trajectory_of(
    ends: list[StretchEnd],
    prepared: PreparedModel,
    context: ModelContext,
    rows: RunRows,
    choice: SolverChoice,
    settings: SolverSettings,
    *,
    books: float | None,
    seconds: tuple[float, float],
    held: Array | None = None,
    past: Past | None = None,
) -> Trajectory:
    """The rows that were written, with the account of all stretches."""
    model, last = prepared.model, ends[-1]
    account = None
    if books is not None:
        after = stored_energy_at(model, context, last.standing)
        account = Books.of(sum((end.energies for end in ends), np.zeros(4)), books, after)
    n = model.size
    seen = ModelRows(
        model, context, settings.atol, rows.t[: rows.done], rows.y[: rows.done, :n], rows.yp[: rows.done, :n]
    )
    # The end of a run that failed comes before its books: an open account only follows from it.
    account, gap = checked_books(account, settings.rtol, model.name, lambda: (seen,))
    finding = finding_of(last, model, context, settings, choice.solver) or gap
    status: dict[int, Literal["finished", "cancelled"]] = {jobs.FINISHED: "finished", jobs.CANCELLED: "cancelled"}
    # All other statuses are failures, and the finding says which.
    ending: Status = status.get(last.status, "failed")
    return Trajectory(
        seen.t,
        seen.y,
        seen.yp,
        segments=(Segment(0, model),),
        solver=choice.solver,
        reason=reason_in_words(choice, model),
        books=account,
        events=tuple(_run_event(model, t, k) for end in ends for t, k in end.events),
        effort=sum((end.effort for end in ends), Effort()),
        setup_s=seconds[0],
        solve_s=seconds[1],
        status=ending,
        finding=finding,
        memory=None if held is None else rows.memory(held),
        past=past,
        turns=max(end.turns for end in ends),
    )


def _run_event(model: NumericModel, t: float, number: int) -> RunEvent:
    event = model.events[number]
    return RunEvent(t, event.element, event.name.removeprefix(f"{event.element} "))
