"""A model ready for many runs: rows of values become tables for the batch in C, or runs are made one by one."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final, Literal, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from tellegen.core.errors import Finding, TellegenError
from tellegen.equations.start import initial_names, solved_at_start
from tellegen.experiments.input_signals import InputSignal
from tellegen.experiments.quantities import SECOND, Quantity, expression_of, value_of
from tellegen.experiments.setup import Setup, run_of_trajectory, set_up, sort_settings
from tellegen.experiments.simulating import DEFAULT_RTOL, simulate
from tellegen.expressions import Expression
from tellegen.expressions.nodes import Mul, Number, Symbol
from tellegen.graph import PowerGraph, SourceLaw
from tellegen.graph.signals import Delayed
from tellegen.model.dimensions import si_unit
from tellegen.model.model import Model, Start
from tellegen.results.run import Run
from tellegen.simulation import batches
from tellegen.simulation.integration import settings_of
from tellegen.simulation.lanes import Keeping
from tellegen.simulation.problem import FINEST_RTOL, FIXED_STEP, Problem
from tellegen.simulation.sensitivity_jumps import NOTHING_MOVES, parameter_dependent_breaks
from tellegen.simulation.solvers import jobs
from tellegen.simulation.solvers.choice import SolverChoice, choose
from tellegen.simulation.solvers.stretch import SolverSettings, StatePoint, prepare
from tellegen.simulation.trajectory import Segment, Trajectory
from tellegen.studies.runs.keep import Kept, channel_of, default_kept, read_kept, values_of_run
from tellegen.studies.runs.lane_runs import CARD, CORES, LaneRuns, plan_in_lanes, plan_on_card

Array = NDArray[np.float64]

REFUSED: Final = 100
"""The status of a run whose values the model does not take."""
FAILED: Final = 101
"""The status of a run that failed where no solver of the batch says how."""

SMALL_LINEAR: Final = 64
FEW_RADIANS: Final = 5e3
"""Linear models so small and slow go quicker by Runge-Kutta where only their ends are kept."""

PILOTS: Final = 16
ASIDE: Final = 1.01
ONE_BY_ONE: Final = 8
"""Up to so many runs are each made as `simulate` makes them."""


@final
@dataclass(frozen=True)
class RunSettings:
    """What is the same in all runs, as `simulate` takes it."""

    until: Quantity | None = None
    inputs: Mapping[str, InputSignal] = field(default_factory=dict)
    initial: Mapping[str, Quantity] = field(default_factory=dict)
    parameters: Mapping[str, Quantity] = field(default_factory=dict)
    solver: str = "auto"
    rtol: float | None = None
    atol: float | None = None
    max_step: Quantity | None = None
    step: Quantity | None = None
    start: Start | None = None
    samples: int | None = None
    times: tuple[float, ...] | None = None


@final
@dataclass(frozen=True)
class Plan:
    """How all runs of a study are made: chosen once, from some of them."""

    how: Literal["batch", "one by one"]
    reason: str
    solver: str = "auto"
    stiff: bool = False
    share: float = 1.0
    """Of the tolerance asked for."""
    max_step: float = np.inf
    seconds: float = 0.0
    """Of a run, on one core."""
    pair: str = ""
    """The method of runs in lanes; where it is empty, `solver` makes one run after the other."""
    varied: tuple[str, ...] = ()
    """What differs between runs in lanes; all else are numbers in their program."""
    pair_share: float = 1.0
    """In lanes: of the tolerance asked for."""
    most_steps: int = 0
    """In lanes: a run that takes more is left to `solver`."""
    step: float = 0.0
    """In lanes: that of a method which keeps its step."""
    device: str = CORES
    """Where lanes are: on the cores, or on a graphics card."""
    single: bool = False
    """On a card: in single precision."""


class Made(NamedTuple):
    """Runs that were made: what is kept, and how each ended; `findings` are those of runs that failed, by number."""

    out: Array
    rows: Array
    status: NDArray[np.int8]
    steps: NDArray[np.int64]
    reached: Array
    findings: dict[int, Finding]
    interrupted: list[bool]
    """Not empty where Ctrl-C came before the last run."""


class Names(NamedTuple):
    """What is varied, sorted by what it is."""

    parameters: tuple[str, ...]
    inputs: tuple[str, ...]
    initial: tuple[str, ...]


@final
class ModelRuns:
    """All runs of one model that differ in the values of some names. `first` are such values; rows keep the order of `names`."""

    def __init__(
        self,
        model: Model,
        names: Sequence[str],
        first: Sequence[float],
        settings: RunSettings,
        keep: Sequence[str] = (),
    ) -> None:
        self.model, self.names, self.settings = model, tuple(names), settings
        self.kinds = sorted_names(model, names)
        self.rtol = settings.rtol if settings.rtol is not None else model.experiment.rtol or DEFAULT_RTOL
        self.ready = self.setup(first)
        self.problem = self._problem(self.ready).checked()
        whole = self._run_before(self.ready)
        self.kept = read_kept(keep or default_kept(whole), whole, with_rows=self.has_rows, until=self.ready.until)
        self.whole = whole

    @property
    def has_rows(self) -> bool:
        """Whether variables are kept row by row."""
        return self.settings.samples is not None or self.settings.times is not None

    @property
    def numbers(self) -> tuple[Kept, ...]:
        """What is kept as one number a run."""
        return tuple(kept for kept in self.kept if not kept.is_rows)

    @property
    def rows(self) -> tuple[Kept, ...]:
        """What is kept row by row."""
        return tuple(kept for kept in self.kept if kept.is_rows)

    def unit(self, name: str) -> str:
        """The SI unit of what is varied."""
        if name in self.kinds.parameters:
            dimension = self.model.parameters[name].dimension
            return "" if dimension is None else si_unit(dimension)
        return self.whole.unit(name) if name in self.whole else ""

    # -- One run -----------------------------------------------------------------------------------------------------------------

    def given(self, row: Sequence[float] | Array) -> dict[str, Any]:
        """The settings of a run with these values, as `simulate` takes them."""
        values = dict(zip(self.names, map(float, row), strict=True))
        return {
            kind: {**getattr(self.settings, kind), **{name: values[name] for name in getattr(self.kinds, kind)}}
            for kind in Names._fields
        }

    def setup(self, row: Sequence[float] | Array, alike: Setup | None = None) -> Setup:
        """The model set up with these values."""
        return set_up(self.model, until=self.settings.until, rtol=self.rtol, alike=alike, **self.given(row))

    def simulated(self, row: Sequence[float] | Array, *, own_rows: bool = False) -> Run:
        """The whole run, as `simulate` makes it; `own_rows` are those that `simulate` would choose."""
        s = self.settings
        rows: dict[str, Any] = (
            {} if own_rows else {"samples": s.samples, "times": None if s.times is None else list(s.times)}
        )
        return simulate(
            self.model,
            s.until,
            solver=s.solver,
            rtol=s.rtol,
            atol=s.atol,
            max_step=s.max_step,
            step=s.step if s.solver in FIXED_STEP else None,
            start=s.start,
            progress=False,
            on_failure="return",
            **rows,
            **self.given(row),
        )

    def _problem(self, ready: Setup, share: float = 1.0) -> Problem:
        atol = self.settings.atol if self.settings.atol is not None else self.model.experiment.atol
        return Problem(
            ready.numeric,
            ready.until,
            y0=dict(ready.start),
            times=self.row_times(ready.until) if self.has_rows else np.array([ready.until]),
            solver=self.settings.solver,
            rtol=self.rtol if share == 1.0 else max(share * self.rtol, FINEST_RTOL),
            atol=None if atol is None else share * atol,
            max_step=np.inf if self.settings.max_step is None else value_of(self.settings.max_step, None, "max_step"),
            step=self.step if self.settings.solver in FIXED_STEP else None,
            inputs=dict(ready.inputs),
            books=False,
        )

    @property
    def step(self) -> float | None:
        """The step that is asked for."""
        return None if self.settings.step is None else value_of(self.settings.step, SECOND, "step")

    def row_times(self, until: float) -> Array:
        """The times of rows of a run until a time."""
        if self.settings.times is not None:
            return np.asarray(self.settings.times, dtype=float)
        return np.linspace(0.0, until, (self.settings.samples or 0) + 1) if self.has_rows else np.zeros(0)

    def _run_before(self, ready: Setup) -> Run:
        """The run before its first row: it knows its variables."""
        empty = np.zeros((0, ready.numeric.size))
        nothing = Trajectory(np.zeros(0), empty, empty, (Segment(0, ready.numeric),), "", "")
        return run_of_trajectory(ready, self.problem, nothing)

    # -- How they are made -----------------------------------------------------------------------------------------------------

    @cached_property
    def channels(self) -> dict[str, int | None]:
        """Where the variables that are kept stand among what the model tells; None where it does not."""
        return {kept.name: channel_of(kept.name, self.whole.channels) for kept in self.kept}

    def refusal(self) -> str:
        """Why the batch in C cannot make these runs; empty where it can."""
        numeric, data = self.ready.numeric, self.ready.numeric.data
        if self.ready.graph.switching:
            return "the model changes its mode"
        if numeric.backend != "c":
            return "there is no C compiler"
        if numeric.delays:
            return "signals are delayed"
        if data is not None and data.external is not None:
            return "signals are functions of Python"
        if data is not None and data.coefficients is not None:
            return "the model is large"
        if (self.settings.start or self.model.experiment.start) == "steady":
            return "runs start at rest, which is looked for first"
        if self.settings.solver not in ("auto", "runge-kutta", "cvode", "ida", "exponential"):
            return f"'{self.settings.solver}' makes runs one by one"
        away = [name for name, place in self.channels.items() if place is None]
        if away:
            return f"'{away[0]}' follows from several variables"
        return ""

    def plan(self, values: Array, device: str = CORES, *, single: bool = False) -> Plan:
        """How to make these runs, from some of them: the solver, and the share of the tolerance that all of them keep.

        Raises: SimulationError where none of those that are looked at can be made, (S128) for a step that nobody keeps, and
        (S430) for a card that cannot make them.
        """
        replace(self.problem, step=self.step, solver=self._keeper_of_steps(device)).checked()
        rows = pilot_rows(values)
        plan = self._plan_one_by_one(values, rows)
        if device == CARD:
            return plan_on_card(self, plan, values, rows, single=single)
        return plan_in_lanes(self, plan, values, rows)

    def _keeper_of_steps(self, device: str) -> str:
        """The solver, and on a card one that keeps its step as the method does which a step asks for there."""
        on_card = device == CARD and self.step is not None and self.settings.solver in ("auto", "runge-kutta")
        return FIXED_STEP[0] if on_card else self.settings.solver

    def _plan_one_by_one(self, values: Array, rows: list[int]) -> Plan:
        """How to make these runs one after the other."""
        refusal = self.refusal()
        if refusal or 1 < len(values) <= ONE_BY_ONE:
            plan = Plan("one by one", refusal or "the runs are few")
            return self._timed(plan, values[len(values) // 2 :][:1]) if len(values) > ONE_BY_ONE else plan
        found: list[tuple[SolverChoice, Trajectory]] = []
        problems: list[TellegenError] = []
        for number in rows:
            try:
                run = self.simulated(values[number], own_rows=True)
                ready = self.setup(values[number], self.ready)
                found.append((self._choice(ready), run.trajectory))
            except TellegenError as error:
                problems.append(error)
        if not found:
            return Plan("one by one", f"a pilot found no run that can be made: {problems[0].what}")
        choices = [choice for choice, _ in found]
        first = self._common_choice(choices)
        share = min(made.share for _, made in found)
        steps = [choice.longest_step for choice in choices]
        return self._timed(Plan("batch", first.reason, first.solver, first.stiff, share, min(steps)), values[rows])

    def _timed(self, plan: Plan, values: Array) -> Plan:
        """The plan with how long a run takes by it, which decides how many of them are written at once."""
        began = time.perf_counter()
        self.make(values, plan)
        return replace(plan, seconds=(time.perf_counter() - began) / len(values))

    def _choice(self, ready: Setup) -> SolverChoice:
        problem = self._problem(ready)
        context = ready.numeric.new_context(*problem.given)
        y = problem.start()
        start = StatePoint(0.0, y, np.zeros_like(y))
        return choose(ready.numeric, self.settings.solver, context, start, ready.until)

    def _common_choice(self, choices: Sequence[SolverChoice]) -> SolverChoice:
        """The solver that suits all: an implicit one where any run wants it."""
        for word in ("ida", "cvode"):
            if (found := next((choice for choice in choices if choice.solver == word), None)) is not None:
                return found
        first = next((choice for choice in choices if choice.solver == "runge-kutta"), choices[0])
        if first.solver == "exponential" and (self._looks_inside or self.ready.numeric.memory):
            # the exponential leaps over whole runs, and tells nothing in between
            stiff = any(choice.stiff for choice in choices)
            return SolverChoice("cvode" if stiff else "runge-kutta", "linear; its course is looked at step by step")
        small = self.ready.numeric.size <= SMALL_LINEAR and all(c.work <= FEW_RADIANS for c in choices)
        if first.solver == "exponential" and not first.stiff and small and self.settings.solver == "auto":
            return SolverChoice("runge-kutta", "small and linear, and only ends of runs are kept")
        return first

    @property
    def _looks_inside(self) -> bool:
        """Whether more is kept than last values."""
        return any(kept.word != "last" for kept in self.kept)

    # -- Making them -----------------------------------------------------------------------------------------------------------

    def make(
        self,
        values: Array,
        plan: Plan,
        threads: int = 1,
        between: Callable[[int], bool] | None = None,
        *,
        finer: float = 1.0,
    ) -> Made:
        """All runs with these rows of values. Those that were not made, because `between` stopped them, have a negative status."""
        made = self.nothing_made(len(values))
        alone = (
            range(len(values))
            if plan.how == "one by one"
            else self._make_batch(values, plan, made, threads, between, finer)
        )
        for count, number in enumerate(alone):
            if made.interrupted or (between is not None and between(count)):
                break
            self._make_one(values[number], number, made, finer)
        return made

    def nothing_made(self, count: int) -> Made:
        """Room for so many runs, none of which was made."""
        return Made(
            out=np.full((count, len(self.numbers)), np.nan),
            rows=np.full((count, len(self.row_times(self.ready.until)), len(self.rows)), np.nan),
            status=np.full(count, batches.UNMADE, dtype=np.int8),
            steps=np.zeros(count, dtype=np.int64),
            reached=np.zeros(count),
            findings={},
            interrupted=[],
        )

    def _make_batch(
        self,
        values: Array,
        plan: Plan,
        made: Made,
        threads: int,
        between: Callable[[int], bool] | None,
        finer: float,
    ) -> list[int]:
        """Make what the batch can take; gives the numbers of the others."""
        tables, rows, others = self._tables(values, made)
        if plan.pair and len(rows):
            left = self._make_in_lanes(tables, rows, plan, made, threads=threads, between=between, finer=finer)
            tables, rows = part_of(tables, left), rows[left]
        if not len(rows) or made.interrupted:
            return others
        settings = self._settings(plan.share * finer, plan)
        batch = batches.Batch(
            prepared=prepare(self.ready.numeric),
            context=self.ready.numeric.new_context(*self.problem.given),
            settings=replace(settings, watch_stiffness=plan.solver == "runge-kutta"),
            solver=f"tg_{'stiff_' * plan.stiff}{plan.solver.replace('-', '_')}",
            instead="tg_cvode" if plan.solver in ("runge-kutta", "exponential") and self.ready.numeric.size else "",
            kept=self.keeping.numbers,
            row_places=self.keeping.rows,
        )
        found = batch.run(tables, threads, between)
        if found.interrupted:
            made.interrupted.append(True)
        status = np.where((found.status == jobs.FINISHED) & ~_is_whole(found), jobs.NOT_FINITE, found.status)
        self._keep(made, rows, tables, found._replace(status=status.astype(np.int8)))
        return others

    def _make_in_lanes(
        self,
        tables: batches.RunTables,
        rows: NDArray[np.int64],
        plan: Plan,
        made: Made,
        *,
        threads: int,
        between: Callable[[int], bool] | None,
        finer: float,
    ) -> NDArray[np.int64]:
        """Make runs in lanes; gives the places of those that are left."""
        taken = np.flatnonzero(self.lane_runs(plan).taken(tables))
        found = self.in_lanes(part_of(tables, taken), plan, threads, between, finer)
        if found.interrupted:
            made.interrupted.append(True)
        good = (found.status == jobs.FINISHED) & _is_whole(found)
        done = taken[good]
        self._keep(made, rows[done], part_of(tables, done), found.part(good))
        return np.setdiff1d(np.arange(len(rows)), done)

    def in_lanes(
        self,
        tables: batches.RunTables,
        plan: Plan,
        threads: int = 1,
        between: Callable[[int], bool] | None = None,
        finer: float = 1.0,
    ) -> batches.BatchResult:
        """Runs by the program of a plan; some of them may be left to another solver."""
        settings = self._settings(plan.pair_share * finer, plan)
        if plan.step:
            # a step to the fourth is what its error follows
            settings = replace(settings, max_step=plan.step * finer**0.25)
        return self.lane_runs(plan).run(tables, settings, plan.most_steps, threads, between)

    def tables(self, values: Array) -> tuple[batches.RunTables, NDArray[np.int64], list[int]]:
        """Tables of the runs with these values, the numbers of these runs, and of those that must be made one by one."""
        return self._tables(values, self.nothing_made(len(values)))

    def lane_runs(self, plan: Plan) -> LaneRuns:
        """The program of a plan with runs in lanes; made once."""
        key = plan.pair, plan.varied, plan.device, plan.single
        if key not in self._lane_runs:
            self._lane_runs[key] = LaneRuns(
                self.ready,
                self.problem.given,
                plan.varied,
                keeping=self.keeping,
                pair=plan.pair,
                device=plan.device,
                single=plan.single,
            )
        return self._lane_runs[key]

    @cached_property
    def _lane_runs(self) -> dict[tuple[object, ...], LaneRuns]:
        return {}

    @cached_property
    def keeping(self) -> Keeping:
        """What is kept, by channels: numbers in the order of `order`."""
        numbers = self.numbers
        return Keeping(
            tuple((numbers[k].kind, self.channels[numbers[k].name] or 0, numbers[k].at) for k in self.order),
            tuple(self.channels[kept.name] or 0 for kept in self.rows),
        )

    @cached_property
    def order(self) -> list[int]:
        """What is asked for at a time comes last, and in order of time."""
        numbers = self.numbers
        return sorted(range(len(numbers)), key=lambda k: (numbers[k].word == "at", numbers[k].at))

    def _settings(self, share: float, plan: Plan) -> SolverSettings:
        settings = settings_of(self._problem(self.ready, share))
        return replace(settings, keep_books=False, max_step=min(settings.max_step, plan.max_step))

    def _keep(self, made: Made, rows: NDArray[np.int64], tables: batches.RunTables, found: batches.BatchResult) -> None:
        for place, k in enumerate(self.order):
            made.out[rows, k] = self.numbers[k].finished(found.out[:, place], tables.untils)
        made.rows[rows] = found.rows
        made.status[rows], made.steps[rows], made.reached[rows] = found.status, found.counts[:, 0], found.reached
        made.out[rows[found.status != jobs.FINISHED]] = np.nan

    def _make_one(self, row: Array, number: int, made: Made, finer: float) -> None:
        """Make one run as `simulate` does."""
        try:
            run = (self if finer == 1.0 else self.finer(finer)).simulated(row, own_rows=bool(self.numbers))
        except TellegenError as error:
            made.status[number], made.findings[number] = REFUSED, error.finding
            return
        if run.status == "cancelled":
            made.interrupted.append(True)
            return
        made.steps[number], made.reached[number] = run.trajectory.steps, run.t[-1] if len(run.t) else 0.0
        if run.status != "finished":
            made.status[number] = FAILED
            if run.finding is not None:
                made.findings[number] = run.finding
            return
        made.out[number] = [values_of_run(kept, run) for kept in self.numbers]
        if self.rows:
            shown = self.simulated(row) if self.numbers else run
            made.rows[number] = shown.table([kept.name for kept in self.rows])
        bad = not np.isfinite(made.out[number]).all()
        made.status[number] = jobs.NOT_FINITE if bad else jobs.FINISHED

    def finer(self, share: float) -> "ModelRuns":
        """The same runs with a share of the tolerance."""
        rtol = max(share * self.rtol, FINEST_RTOL)
        atol = None if self.settings.atol is None else share * self.settings.atol
        kept = [kept.text for kept in self.kept]
        first = [self.base_value(name) for name in self.names]
        return ModelRuns(self.model, self.names, first, replace(self.settings, rtol=rtol, atol=atol), kept)

    def base_value(self, name: str) -> float:
        """The value that a name has where runs are prepared; zero where nothing says so."""
        return self._known.get(name, 0.0)

    @cached_property
    def _known(self) -> dict[str, float]:
        return {**self.ready.start, **self.ready.inputs, **self.ready.parameters}

    def tolerance_of(self, column: Array) -> float:
        """What counts as one tolerance of numbers such as these."""
        atol = self.problem.absolute_tolerance("")
        return float(atol + self.rtol * np.max(np.abs(column), initial=0.0))

    # -- Rows of values as tables ------------------------------------------------------------------------------------------------

    def _tables(self, values: Array, made: Made) -> tuple[batches.RunTables, NDArray[np.int64], list[int]]:
        """Tables for the batch, which runs they are of, and which runs must be made one by one."""
        direct = self._is_direct & self._alike(values) if self._is_direct else np.zeros(len(values), dtype=bool)
        if direct.all():
            return self._direct_tables(values), np.arange(len(values)), []
        others: list[int] = []
        rows, parts = list[int](), list[batches.RunTables]()
        if direct.any():
            rows += np.flatnonzero(direct).tolist()
            parts.append(self._direct_tables(values[direct]))
        for number in np.flatnonzero(~direct).tolist():
            try:
                found = self._table_of(self.setup(values[number], self.ready))
            except TellegenError as error:
                made.status[number], made.findings[number] = REFUSED, error.finding
                continue
            if found is None:
                others.append(number)
            else:
                rows.append(number)
                parts.append(found)
        return _joined(parts or [self._direct_tables(values[:0])], self), np.array(rows, dtype=np.int64), others

    def _table_of(self, ready: Setup) -> batches.RunTables | None:
        """The row of one run; None where its values make another program of the model."""
        numeric, own = ready.numeric, self.ready.numeric
        alike = numeric.parameters == own.parameters and dict(numeric.addresses) == dict(own.addresses)
        if not alike or numeric.sample_groups != own.sample_groups or numeric.crossings != own.crossings:
            return None
        problem = self._problem(ready).checked()
        parameters, inputs = problem.given
        return batches.RunTables(
            parameters=parameters[None, :],
            inputs=inputs[None, :],
            starts=problem.start()[None, :],
            memory=numeric.initial_memory[None, :],
            untils=np.array([ready.until]),
            row_times=self.row_times(ready.until)[None, :],
            stops=[numeric.stop_times(ready.until)],
        )

    def _direct_tables(self, values: Array) -> batches.RunTables:
        count, numeric = len(values), self.ready.numeric
        given, inputs = self.problem.given
        parameters, inputs = np.tile(given, (count, 1)), np.tile(inputs, (count, 1))
        starts = np.tile(self.problem.start(), (count, 1))
        for k, name in enumerate(self.names):
            if name in self.kinds.parameters:
                parameters[:, numeric.parameters.index(name)] = values[:, k]
            elif name in self.kinds.inputs:
                inputs[:, numeric.inputs.index(name)] = values[:, k]
            else:
                starts[:, numeric.index[name]] = values[:, k]
        until = self.ready.until
        memory = np.tile(numeric.initial_memory, (count, 1))
        times = np.tile(self.row_times(until), (count, 1))
        return batches.RunTables(parameters, inputs, starts, memory, np.full(count, until), times)

    def _alike(self, values: Array) -> NDArray[np.bool_]:
        """The rows whose values have the signs of the first ones: other signs may make the model wrong, or another one."""
        first = np.array([self.base_value(name) for name in self.names])
        wanted = np.sign(first)
        checked = np.array([name in self.kinds.parameters for name in self.names])
        return np.asarray(((np.sign(values) == wanted) | ~checked).all(axis=1) & np.isfinite(values).all(axis=1))

    @cached_property
    def _is_direct(self) -> bool:
        """Whether the values varied are themselves all that differs: no start, duration or break follows from them."""
        return next(self._followers(), None) is None and self._is_direct_aside()

    def _is_direct_aside(self) -> bool:
        """Whether a row beside the first one has the tables of a model set up with it: what was read in formulas is tried."""
        aside = np.array([[self.base_value(name) * ASIDE or ASIDE - 1.0 for name in self.names]])
        try:
            told = self._table_of(self.setup(aside[0], self.ready))
        except TellegenError:
            return False
        if told is None:
            return False
        found, breaks = self._direct_tables(aside), prepare(self.ready.numeric).breaks(0.0, self.ready.until)
        alike = all(
            np.array_equal(getattr(told, name), getattr(found, name)) for name in batches.RunTables._fields[:-1]
        )
        return alike and told.stops is not None and np.array_equal(told.stops[0], breaks)

    def _followers(self) -> Iterator[str]:
        """What else changes with the values: something is said once it is found."""
        ready, model, graph = self.ready, self.model, self.ready.graph
        numeric, kinds = ready.numeric, self.kinds
        if not set(kinds.parameters) <= set(numeric.parameters) or not set(kinds.inputs) <= set(numeric.inputs):
            yield "a name is no number of the program"
        bound = kinds.initial and (model.closures or ready.causal.dependent)
        if bound or any(name not in numeric.index for name in kinds.initial):
            yield "a start that others follow"
        moved = _moved(graph.parameters, kinds.parameters)
        lowered = ready.lowered
        if lowered is None or set(graph.parameters) - set(lowered.parameters):
            yield "softened laws"
        if kinds.parameters and (model.closures or any(self._reads(moved, ready))):
            yield "formulas of parameters"
        if kinds.parameters and parameter_dependent_breaks(graph, kinds.parameters) is not NOTHING_MOVES:
            yield "breaks"
        initial = {**solved_at_start(graph, model), **model.experiment.initial, **self.settings.initial}
        names = initial_names(graph, model) if initial or kinds.initial else {}
        for name in (*initial, *kinds.initial):
            place = names.get(name)
            if (
                place is not None
                and place.port is not None
                and (place.is_content != place.port.storage.keeps_energy_variable or place.port.state != name)
            ):
                yield f"the start of {name}"
        followers = {graph.ports[d.port].state for d in ready.causal.dependent}
        if followers & ({port.state for port in graph.ports if port.initial is not None} | set(initial)):
            yield "a follower with a start"

    def _reads(self, moved: frozenset[str], ready: Setup) -> Iterator[bool]:
        """Whether what is read before a run depends on parameters that move."""
        graph, model = ready.graph, self.model
        formulas: list[Expression | None] = [port.initial for port in graph.ports]
        formulas += [
            getattr(law, name, None) for law in graph.signals for name in ("initial", "period", "offset", "by")
        ]
        sources = ready.lowered.ports if ready.lowered is not None else ()
        formulas += [
            p.law.signal for p in sources if isinstance(p.law, SourceLaw) and _is_constant(p.law.signal, graph)
        ]
        formulas += [
            *model.experiment.initial.values(),
            model.experiment.until if self.settings.until is None else None,
        ]
        for signal in model.experiment.inputs.values():
            formulas += [e for e in (signal.expression, *signal.arguments) if _is_constant(e, graph)]
        for given in (*self.settings.initial.values(), self.settings.until, *self.settings.inputs.values()):
            if isinstance(given, str):
                formulas.append(_formula(given))
            elif isinstance(given, Expression):
                formulas.append(given)
        # Numbers that elements follow by a formula may change their sign where no parameter does.
        formulas += [e.value for e in model.elements if e.value is not None and not _keeps_sign(e.value)]
        # Whether a matrix is one of a passive field is seen from its numbers.
        members = {name for matrix in model.fields for name in matrix.members}
        formulas += [e.value for e in model.elements if e.name in members]
        formulas += [
            e for f in model.fields for e in (f.energy, *(e for row in (*f.matrix, *(f.stiffness or ())) for e in row))
        ]
        for formula in formulas:
            if isinstance(formula, Expression) and formula.free_symbols & moved:
                yield True
        yield any(isinstance(law, Delayed) for law in graph.signals)
        follow = [
            e for n, e in graph.parameters.items() if e is not None and e.free_symbols & moved and not _keeps_sign(e)
        ]
        yield bool(follow)


def _is_constant(signal: Expression | None, graph: PowerGraph) -> bool:
    """Whether what a source gives follows from parameters alone: it is worked out before the run then."""
    return signal is not None and signal.free_symbols <= graph.parameters.keys()


def _is_whole(found: batches.BatchResult) -> NDArray[np.bool_]:
    """Which runs have given numbers for all that is kept."""
    return np.asarray(np.isfinite(found.out).all(axis=1))


def part_of(tables: batches.RunTables, places: NDArray[np.int64]) -> batches.RunTables:
    """The rows of some runs."""
    if len(places) == len(tables.untils):
        return tables
    own = None if tables.stops is None else [tables.stops[k] for k in places]
    return batches.RunTables._make([*(array[places] for array in tables[:-1]), own])


def _joined(parts: Sequence[batches.RunTables], runs: ModelRuns) -> batches.RunTables:
    if len(parts) == 1:
        return parts[0]
    stacked: dict[str, Any] = {
        name: np.concatenate([getattr(part, name) for part in parts]) for name in batches.RunTables._fields[:-1]
    }
    shared = prepare(runs.ready.numeric).breaks(0.0, runs.ready.until)
    stops: list[Array] = []
    for part in parts:
        stops += [shared] * len(part.untils) if part.stops is None else list(part.stops)
    return batches.RunTables(**stacked, stops=stops)


def _moved(parameters: Mapping[str, Expression | None], names: Sequence[str]) -> frozenset[str]:
    """The names, and the parameters that follow from them."""
    found = set(names)
    while True:
        more = {n for n, e in parameters.items() if n not in found and e is not None and e.free_symbols & found}
        if not more:
            return frozenset(found)
        found |= more


def _keeps_sign(formula: Expression) -> bool:
    """Whether a formula is a name, a number, or a product of such: its sign follows from theirs."""
    if isinstance(formula, Mul):
        return all(_keeps_sign(base) for base, _ in formula.factors)
    return isinstance(formula, Number | Symbol)


def _formula(text: str) -> Expression | None:
    try:
        return expression_of(text, None, "a value")
    except TellegenError:
        return None


def sorted_names(model: Model, names: Sequence[str]) -> Names:
    """The names by what they are.

    Raises: SimulationError (S302) with the nearest name.
    """
    found = sort_settings(model, dict.fromkeys(names, ""))
    return Names(tuple(found.parameters), tuple(found.inputs), tuple(found.initial))


def pilot_rows(values: Array) -> list[int]:
    """Some rows that stand for all: where each value is smallest and largest, and others spread over the table."""
    corners = [int(k) for column in values.T for k in (np.argmin(column), np.argmax(column))]
    spread = np.linspace(0, len(values) - 1, min(PILOTS, len(values))).astype(int).tolist()
    return list(dict.fromkeys([*corners, *spread]))[:PILOTS]
