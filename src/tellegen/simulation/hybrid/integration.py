"""A run through several modes: advance one until an event, decide the next, hand the states over, go on."""

import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final, final

import numpy as np

from tellegen.causality import CausalGraph
from tellegen.compiler.compiling import compile_model
from tellegen.compiler.context import Array, stop_building_slopes
from tellegen.compiler.numeric_model import NumericModel
from tellegen.compiler.toolchain import CompilerStoppedError, stop_compiler
from tellegen.core.cancellation import Cancellable
from tellegen.core.errors import Finding, TellegenError
from tellegen.graph import PowerGraph
from tellegen.simulation import integration, rules
from tellegen.simulation.energy_books import ModelRows, checked_books
from tellegen.simulation.failures import ChatterDetector, finding_of
from tellegen.simulation.global_error import whole_run_within_tolerance
from tellegen.simulation.hybrid import mode_models
from tellegen.simulation.hybrid.account import HybridAccount, ModeChange, ModeChangeLog, ModeRows
from tellegen.simulation.hybrid.handover import ROUNDING, Impact, Impacts
from tellegen.simulation.hybrid.mode_choice import ModeChoice, ModeTrial
from tellegen.simulation.hybrid.relay import CHATTER_SHARE, PROBE_SHARE, ModeRelay, Relayed
from tellegen.simulation.problem import FIXED_STEP, Problem, index_of
from tellegen.simulation.solvers import jobs, stretch
from tellegen.simulation.solvers.choice import SolverChoice, choose, reason_in_words
from tellegen.simulation.solvers.jobs import Job
from tellegen.simulation.solvers.library import Run
from tellegen.simulation.starting import take_first_samples
from tellegen.simulation.trajectory import RunEvent, Status, Trajectory, rows_of_segments

CHATTER_EVENTS: Final = 100
"""So many events within a small share of the run, in which no storage moves by its tolerance, are no motion."""

PROBE_ULPS: Final = 2.0**14
FIRST_STEP_SHARE: Final = 1e-3
EVENT_STEPS: Final = 200
STATELESS_STEPS: Final = 1000
"""The least number of steps of a whole run, in modes with and without states."""
SHORT: Final = 0.004937
"""The share of a run after which a guard that stays at zero is looked at again; odd, so that it meets no break or sample."""


def integrate_graph(graph: PowerGraph, problem: Problem, watch: stretch.Watch | None = None) -> Trajectory:
    """Advance a graph from its start to its end, through all modes that it meets; `problem` has the model of its mode now.

    Raises: SimulationError when the problem makes no sense or there is no start to advance from.
    """
    return integrate_modes(graph, problem, watch) if graph.switching else integration.integrate(problem, watch)


def integrate_modes(
    graph: PowerGraph,
    problem: Problem,
    watch: stretch.Watch | None = None,
    *,
    compiled: Callable[[CausalGraph], NumericModel] = compile_model,
    diary: ModeChangeLog | None = None,
) -> Trajectory:
    """Advance a graph with modes. Initial values and tolerances by name may be those of any storage.

    `diary` is told the start and every instant at which a stretch ends and the next begins.

    Rows belong to the model of their segment: its variables stand in the first columns, the others are not numbers. A run that
    fails or is cancelled on the way is a result too.

    Raises: SimulationError when there is no mode to start in.
    """
    checked = _checked(problem, graph)
    # By name: a mode may have other parameters and inputs, in another order.
    parameters = mode_models.named_values(problem.parameters, problem.model.parameters)
    inputs = mode_models.named_values(problem.inputs, problem.model.inputs)
    models, told = (
        mode_models.ModeModels(graph, compiled, parameters, inputs, problem.before),
        integration.monotonic_watch(watch),
    )

    def run(asked: Problem) -> Trajectory:
        nonlocal models
        # A second run shares what was compiled, and not what the first one left in contexts and past.
        models = models.for_new_run() if models.met else models
        made = _HybridRun(models, asked, diary)
        # Nobody listens: a thread of its own would only cost time.
        if told is None and threading.current_thread() is not threading.main_thread():
            return made.run()
        return stretch.wait_for_work(made.run, told or stretch.Watch(), made.stop, lambda: (made.steps, made.progress))

    # A diary is the way of one run: it must not be told of coarser and finer ones.
    return run(checked) if diary is not None else whole_run_within_tolerance(checked, run)


@final
class _HybridRun:
    """The loop over modes. `trial` is the mode that the run is in, `here` where it stands, `end` how its last stretch ended."""

    trial: ModeTrial
    here: stretch.StatePoint
    held: Array

    def __init__(self, models: mode_models.ModeModels, problem: Problem, diary: ModeChangeLog | None = None) -> None:
        self.problem = problem
        self.diary = diary
        self.running: list[Job] = []
        # The whole run has a thread of its own already; stretches run in it directly and leave their job here.
        self.direct = stretch.Watch(running=self.running)
        self.stopped = threading.Event()
        self.deciding = Cancellable()
        self.worker: int | None = None
        self.began = time.perf_counter()
        self.ready = self.began
        self.asked = integration.settings_of(problem)
        self.models = models
        self.choice = ModeChoice(self.models, self._settings)
        self.impacts = Impacts(self.models, problem.rtol, float(self._tolerances(("",))[0]))
        self.account = HybridAccount(problem.output_times())
        self.relay = ModeRelay(models, problem, self.account, self.choice)
        self.settings: dict[mode_models.Mode, stretch.SolverSettings] = {}
        self.solvers: dict[mode_models.Mode, tuple[SolverChoice, Run]] = {}
        self.tuned: dict[mode_models.Mode, stretch.SolverSettings] = {}
        self.recent: deque[RunEvent] = deque(maxlen=CHATTER_EVENTS)
        self.passed: deque[Array] = deque(maxlen=CHATTER_EVENTS)
        self.doublings = ChatterDetector(problem.until)
        self.ever_faster: Finding | None = None
        self.end: stretch.StretchEnd | None = None
        self.reached = problem.t0

    def run(self) -> Trajectory:
        """The whole run.

        Raises: SimulationError (S125) when it is stopped before it has begun.
        """
        # Only now: the run may be made in one thread and go on in another.
        self.worker = threading.get_ident()
        try:
            with self.deciding.here():
                stored = self._start()
            first = self._solver()[0]
        except CompilerStoppedError:
            raise rules.CANCELLED.error(
                "the run was cancelled before it began", where=self.problem.model.name
            ) from None
        self.ready = time.perf_counter()
        finding = self._loop()
        assert self.end is not None, "the loop has run a stretch"
        return self._trajectory(self.end, first, finding, stored)

    @property
    def progress(self) -> float:
        """The time reached."""
        return max(self.reached, *(float(job.progress) for job in tuple(self.running)), self.problem.t0)

    @property
    def steps(self) -> int:
        """The steps made."""
        return self.account.effort.steps + sum(int(job.steps) for job in tuple(self.running))

    def stop(self) -> None:
        """End the run as soon as possible, from another thread; what is finished is kept."""
        # A flag first: a stretch may just have ended, and the next job is not there yet.
        self.stopped.set()
        for job in self.running:
            job.cancel = 1
        if self.worker is not None:
            stop_building_slopes(self.worker)
            stop_compiler(self.worker)
        self.deciding.stop(CompilerStoppedError)

    def _start(self) -> float:
        """Find the first mode; gives the energy stored before it was entered."""
        problem, models = self.problem, self.models
        given = mode_models.initial_values(problem)
        state = mode_models.starting_state(models, given, problem.t0)
        # No step is known yet; a guess will do for looking ahead.
        step = FIRST_STEP_SHARE * (problem.until - problem.t0)
        probe = self._probe(problem.t0, step)
        self.trial = self.choice.next_mode(state, models.start, problem.t0, probe)
        # A clutch that is open forces no speed on what is behind it, whatever mode the description begins with.
        if self.trial.model.mode != models.start:
            state = mode_models.starting_state(models, given, problem.t0, self.trial.model.mode)
            self.trial = self.choice.next_mode(state, models.start, problem.t0, probe)
        model = self.trial.model
        # What is sampled at the start may close a switch: the mode is chosen again with it.
        if take_first_samples(model.model, model.context, self.trial.standing):
            sampled = dict(zip(model.model.memory, map(float, model.context.memory), strict=False))
            self.trial = self.choice.next_mode(replace(state, memory=sampled), model.mode, problem.t0, probe)
        self._note_changes(models.start, problem.t0)
        model, handover = self.trial.model, self.trial.handover
        self.held = model.context.memory[: len(model.model.memory)].copy()
        if self.diary is not None:
            self.diary.begin(models, state, self.trial)
        stored = integration.stored_energy_at(model.model, model.context, self.trial.standing)
        environment = models.storages.environment(state.displacements)
        # The books begin before the handover into the first mode, for what that lost or took is part of the run.
        return stored - models.storages.energy_change(handover.among, state.outputs, handover.outputs, environment)

    def _loop(self) -> Finding | None:
        """Stretch after stretch; gives why it ended before its end."""
        while True:
            self.end = end = self._advance()
            self.here, model = end.standing, self.trial.model
            ended = end.status != jobs.FINISHED or end.standing.t >= self.problem.until
            if ended and end.status != jobs.EVENT:
                return finding_of(end, model.model, model.context, self._settings(model), self._solver()[0].solver)
            if self.stopped.is_set():
                return self._cancelled(end)
            try:
                with self.deciding.here():
                    self._change(end)
            except CompilerStoppedError:
                return self._cancelled(end)
            # No mode to go on in: rows up to here are a result too.
            except TellegenError as error:
                return error.finding
            if (finding := self._chattering(end.standing.t) or self.ever_faster) is not None:
                return finding

    # -- one stretch -----------------------------------------------------------------------------------------------------------

    def _settings(self, model: mode_models.ModeModel) -> stretch.SolverSettings:
        if model.mode in self.settings:
            return self.settings[model.mode]
        # Guards follow inputs that no state may feel, so steps stay short enough to see them; without states nothing else does.
        steps = EVENT_STEPS if model.model.size else STATELESS_STEPS
        longest = min(self.problem.max_step, (self.problem.until - self.problem.t0) / steps)
        made = replace(self.asked, atol=self._tolerances(model.model.names), max_step=longest)
        self.settings[model.mode] = made
        return made

    def _tolerances(self, names: tuple[str, ...]) -> Array:
        return np.array([self.problem.absolute_tolerance(name) for name in names])

    def _solver(self) -> tuple[SolverChoice, Run]:
        """The solver of the mode, chosen when it is first entered."""
        mode, model = self.trial.model.mode, self.trial.model
        if mode not in self.solvers:
            made = choose(model.model, self.problem.solver, model.context, self.trial.standing, self.problem.until)
            # a stretch between two events is too short for the exponential of stiff models to pay
            self._use(SolverChoice("cvode", made.reason) if made.stiff else made)
        return self.solvers[mode]

    def _use(self, choice: SolverChoice) -> None:
        """Use a solver from now on in this mode."""
        self.solvers[self.trial.model.mode] = choice, integration.solver_function(choice.solver)
        self.tuned[self.trial.model.mode] = integration.settings_for(choice, self._settings(self.trial.model))

    def _advance(self) -> stretch.StretchEnd:
        """Advance in one mode, or through known changes; an implicit solver goes on where an explicit one meets a stiff stretch."""
        while True:
            _, run = self._solver()
            # A diary is told of every change, one by one.
            end = self._relay() if self.diary is None and self.relay.suits(self.trial) else self._stretch(run)
            if end.status != jobs.STIFF or not self._solver()[0].may_switch:
                return end
            # For this mode from now on: it would be as stiff when it is next met.
            self._use(SolverChoice("cvode", f"stiff from t = {end.standing.t:.3g} s on"))
            self.trial = replace(self.trial, standing=end.standing)

    def _relay(self) -> stretch.StretchEnd:
        """Advance through all changes of mode that came before."""
        made = self.relay.advance(self.trial, self._until(), self._relay_solver, self.running)
        self.reached = made.end.standing.t
        self.account.relayed(made)
        if made.model is not self.trial.model or len(made.changes):
            self.trial = ModeTrial(made.model, made.since, self.trial.handover, smooth=True)
        self._note_relayed(made)
        return made.end

    def _relay_solver(self, model: mode_models.ModeModel) -> tuple[str, stretch.SolverSettings] | None:
        if model.mode not in self.solvers:
            return None
        return f"tg_{self.solvers[model.mode][0].solver.replace('-', '_')}", self.tuned[model.mode]

    def _note_relayed(self, made: Relayed) -> None:
        """Write down the events of changes that were not decided here."""
        known: dict[tuple[int, int], list[tuple[str, str]]] = {}
        changes = made.changes
        for t, lost, before, after in zip(
            *(changes[name].tolist() for name in ("t", "lost", "from", "to")), strict=True
        ):
            if (words := known.get((before, after))) is None:
                words = known[before, after] = self._words(made.modes[before].mode, made.modes[after].mode)
            for name, what in words:
                self.account.events.append(happening := RunEvent(t, name, what))
                self.ever_faster = self.doublings.note(happening) or self.ever_faster
            if lost:
                self.account.lose(lost, ", ".join(name for name, _ in words))

    def _words(self, before: mode_models.Mode, after: mode_models.Mode) -> list[tuple[str, str]]:
        """Which elements change between two modes, and how."""
        names = zip(self.models.elements, before, after, strict=True)
        return [(name, f"{old} to {new}") for name, old, new in names if old != new]

    def _stretch(self, run: Run) -> stretch.StretchEnd:
        """Advance in one mode, decided here."""
        model, standing = self.trial.model, self.trial.standing
        # Each mode observes in an order of its own; the past is one.
        if (past := self.models.past) is not None:
            past.follow(model.model)
        end = stretch.run_stretch(
            run,
            model.prepared,
            model.context,
            self.tuned[model.mode],
            self.account.rows(model),
            standing,
            until=self._until(),
            watch=self.direct,
            past=past,
        )
        self.reached = end.standing.t
        self.running.clear()  # its steps are in the account from here on
        self.account.stretch(model, end)
        return end

    def _until(self) -> float:
        """Where a stretch ends at the latest: where a guard stays at zero, soon, to look at it again."""
        until, here = self.problem.until, self.trial.standing.t
        # Not beyond the rows for which there is room, nor beyond breaks that can be listed in no time.
        far = min(until, self.trial.model.prepared.reach(here), self.account.reach())
        return min(far, here + SHORT * (until - self.problem.t0)) if self.trial.undecided else far

    def _cancelled(self, end: stretch.StretchEnd) -> Finding | None:
        self.end = replace(end, status=jobs.CANCELLED)
        model = self.trial.model
        return finding_of(self.end, model.model, model.context, self._settings(model), "")

    # -- from one mode to the next ---------------------------------------------------------------------------------------------

    def _change(self, end: stretch.StretchEnd) -> None:
        """Impacts first, then the mode that follows."""
        model, at = self.trial.model, end.standing
        if self.models.past is not None:
            # Signals jump here: what the past tells must not be smoothed across.
            self.models.past.mark_break()
        events = model.model.events
        # Restarts are events too, but of the same mode: they have done their work by ending the stretch.
        hits = [e for e, sign in zip(events, end.signs, strict=True) if sign and e.kind == "transition"]
        fired = frozenset(event.name for event in hits)
        state, mode = model.state(at.t, at.y, at.yp), model.mode
        noted, impacts = len(self.account.events), list[Impact]()
        for event in hits:
            # One after the other: each impact starts from the speeds that the one before has left.
            impact = self.impacts.hit(model, state, mode, event.element, event.to, at)
            if impact is not None:
                # The event is answered: asked for again it would be taken for a change of mode.
                state, mode, fired = impact.state, impact.mode, frozenset()
                impacts.append(impact)
                self.account.impulse(impact.handover, event.element)
                if not impact.rests:
                    self._note(RunEvent(at.t, event.element, "impact"))
        self.trial = self.choice.next_mode(state, mode, at.t, self._probe(at.t, end.last_step), fired)
        self.here = self.trial.standing
        if hits and not impacts and self.diary is None and self.relay.suits(self.trial):
            self.relay.learn(model, end.signs, self.choice.way)
        if self.diary is not None:
            self.diary.changes.append(ModeChange(model, at, tuple(hits), tuple(impacts), self.trial, state.memory))
        self._note_changes(model.mode, at.t)
        self._note_released(model, at)
        # Only where something happened: stretches also end where a guard was to be looked at again.
        if self.problem.rows_at_changes and len(self.account.events) > noted:
            self.account.change(model, at, self.trial.model, self.trial.standing)

    def _probe(self, t: float, step: float) -> float:
        # Far enough to be resolved by time, near enough that nothing else happens: the sign of a guard decides there.
        return max(PROBE_SHARE * step, PROBE_ULPS * float(np.spacing(max(abs(t), self.problem.until * 1e-6))))

    def _note_changes(self, before: mode_models.Mode, t: float) -> None:
        """Which elements changed, and what it cost."""
        words = self._words(before, self.trial.model.mode)
        self.account.impulse(self.trial.handover, ", ".join(name for name, _ in words))
        for name, what in words:
            self._note(change := RunEvent(t, name, what))
            self.ever_faster = self.ever_faster or self.doublings.note(change)

    def _note_released(self, before: mode_models.ModeModel, at: stretch.StatePoint) -> None:
        """What a damped stop still keeps when it lets go, for it cannot pull: that is lost in it."""
        after, here = self.trial.model, self.trial.standing
        if before is after or not self.models.keeping:
            return
        kept = np.subtract(before.kept_at(at, self.models.keeping), after.kept_at(here, self.models.keeping))
        held = integration.stored_energy_at(before.model, before.context, at)
        # Where it is pressed again before it has come out, a part of that is there again: a loss below zero.
        for name, lost in zip(self.models.keeping, kept.tolist(), strict=True):
            if abs(lost) > ROUNDING * held:
                self.account.impulsive += lost
                self.account.lose(lost, name)

    def _note(self, happening: RunEvent) -> None:
        self.account.events.append(happening)
        self.recent.append(happening)
        self.passed.append(self.trial.handover.outputs)

    def _chattering(self, t: float) -> Finding | None:
        """The finding for events that follow each other in no time."""
        recent = self.recent
        if len(recent) < CHATTER_EVENTS or t - recent[0].t > CHATTER_SHARE * (self.problem.until - self.problem.t0):
            return None
        # A fast pulse that does move something is a motion, however short its time.
        if self._moves():
            return None
        element, count = Counter(h.element for h in recent).most_common(1)[0]
        return rules.CHATTERING.finding(
            f"at t = {t:.6g} s '{element}' changed its mode {count} times in {t - recent[0].t:.2g} s",
            where=element,
            fix=f"give the control of '{element}' a hysteresis, or the elements around it a storage or a resistance",
            members=sorted({h.element for h in recent}),
        )

    def _moves(self) -> bool:
        """Whether a storage has moved by more than its tolerance during the latest events."""
        passed = np.array(self.passed)
        moved, size = np.ptp(passed, axis=0), np.max(np.abs(passed), axis=0)
        return bool(np.any(moved > self.problem.absolute_tolerance("") + self.problem.rtol * size))

    # -- the result ------------------------------------------------------------------------------------------------------------

    def _trajectory(
        self, end: stretch.StretchEnd, first: SolverChoice, finding: Finding | None, stored: float
    ) -> Trajectory:
        model, account = self.trial.model, self.account
        endings: dict[int, Status] = {jobs.FINISHED: "finished", jobs.CANCELLED: "cancelled"}
        if end.status not in (jobs.FINISHED, jobs.EVENT):
            account.ended(model, self.here)
        rows = account.finished(self.held, model.model)
        books = (
            account.books(stored, integration.stored_energy_at(model.model, model.context, self.here))
            if self.problem.books
            else None
        )
        books, gap = checked_books(books, self.problem.rtol, model.model.name, lambda: self._parts(rows))
        return Trajectory(
            rows.t,
            rows.y,
            rows.yp,
            segments=rows.segments,
            solver=first.solver,
            reason=reason_in_words(first, rows.segments[0].model),
            books=books,
            events=tuple(account.events),
            effort=account.effort,
            setup_s=self.ready - self.began,
            solve_s=time.perf_counter() - self.ready,
            status=endings.get(end.status, "failed"),
            finding=finding or gap,
            memory=rows.memory,
            losses=account.losses,
            past=self.models.past,
            turns=account.turns + len(account.events),
        )

    def _parts(self, rows: ModeRows) -> list[ModelRows]:
        """The rows of each mode, with what its model was given."""
        known = {id(mode.model): mode for mode in self.models.met}
        made: list[ModelRows] = []
        for model, at in rows_of_segments(rows.segments, len(rows.t)):
            mode = known[id(model)]
            y, yp = (values[at, : model.size] for values in (rows.y, rows.yp))
            made.append(ModelRows(mode.model, mode.context, self._settings(mode).atol, rows.t[at], y, yp))
        return made


def _checked(problem: Problem, graph: PowerGraph) -> Problem:
    """Refuse a problem that makes no sense; tolerances may be those of variables that the first mode does not have."""
    if problem.solver in (*FIXED_STEP, "heyoka"):
        steps = "keeps its step and " if problem.solver in FIXED_STEP else ""
        raise rules.UNSUITED.error(
            f"'{problem.solver}' {steps}looks for no events, and this model changes its mode",
            where=problem.model.name,
            fix="choose 'runge-kutta', 'cvode' or 'ida', or leave the choice to 'auto'",
        )
    known = problem.model.names
    if isinstance(problem.atol, Mapping):
        # A state of another mode is no slip of the pen; a name of no mode is.
        later = {graph.ports[k].state for k in graph.storages()}
        for name in problem.atol.keys() - later:
            index_of(name, problem.model, "a tolerance")
        problem = replace(problem, atol={name: value for name, value in problem.atol.items() if name in known})
    return problem.checked()
