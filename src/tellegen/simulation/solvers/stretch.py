"""One stretch of a run: from where it stands to its end or its first event, by one compiled solver."""

import ctypes
import os
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field, fields
from functools import cached_property
from queue import SimpleQueue
from typing import Any, Final, TypeVar, final

import numpy as np
from numpy.typing import NDArray

from tellegen.compiler.context import Array, Integers, ModelContext, address_of, stop_building_slopes
from tellegen.compiler.numeric_model import NumericModel, SparsityPattern
from tellegen.simulation.solvers import jobs
from tellegen.simulation.solvers.delays import Past, longest_delay_step
from tellegen.simulation.solvers.jobs import Job
from tellegen.simulation.solvers.library import Run, library
from tellegen.simulation.trajectory import Effort, HeldRows

Found = TypeVar("Found")
Work = tuple[Callable[[], Any], Future[Any]]

_IDLE: list[SimpleQueue[Work]] = []


def in_a_thread(work: Callable[[], Found]) -> Future[Found]:
    """Start the work in an idle thread, or in a new one where all are busy."""
    try:
        # Threads are kept: starting one takes longer than a short run.
        queue = _IDLE.pop()
    except IndexError:
        queue = SimpleQueue()
        threading.Thread(target=_serve, args=(queue,), name="tellegen-solver", daemon=True).start()
    future: Future[Found] = Future()
    queue.put((work, future))
    return future


def _serve(queue: SimpleQueue[Work]) -> None:
    while True:
        work, future = queue.get()
        try:
            found = work()
        except BaseException as error:  # handed to whoever waits for the result
            # Idle again before the result is known: whoever waits for it may have more work at once.
            _IDLE.append(queue)
            future.set_exception(error)
        else:
            _IDLE.append(queue)
            future.set_result(found)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_IDLE.clear)  # threads do not come along


DENSE_SIZE: Final = 10
DENSE_SHARE: Final = 0.3
"""Full matrices are eliminated as such when they are small or at least this full."""

BAND_WIDTH: Final = 24
"""A mean band no wider than this is eliminated as a band: meshes of more than some hundred elements are wider."""


def sparse_elimination_order(pattern: SparsityPattern) -> Integers | None:
    """The columns in the order of elimination, or None where the matrix is treated as full.

    Narrow networks (ladders, trees, chains) by reverse Cuthill-McKee; meshes by least degree.
    """
    size, entries = pattern.size, len(pattern.indices)
    # Index lists of a sparse elimination cost more than the zeros that they spare.
    if size <= DENSE_SIZE or entries >= DENSE_SHARE * size * size:
        return None
    order = np.zeros(size, dtype=np.int32)
    function = library().tg_order
    function.restype = ctypes.c_int64
    function.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
    width = function(size, pattern.indptr.ctypes.data, pattern.indices.ctypes.data, order.ctypes.data)
    if 0 <= width <= BAND_WIDTH * size:
        return order
    return _least_degree(pattern)


def _least_degree(pattern: SparsityPattern) -> Integers:
    """Multiple minimum degree on A + A^T, as SuperLU does it; only the order of its columns is used."""
    from scipy.sparse import csc_array  # noqa: PLC0415
    from scipy.sparse.linalg import splu  # noqa: PLC0415

    size = pattern.size
    columns = np.repeat(np.arange(size), np.diff(pattern.indptr))
    # Numbers that need no pivoting, for only the order is wanted: the diagonal outweighs its column.
    values = np.where(columns == pattern.indices, float(size), 1.0)
    matrix = csc_array((values, pattern.indices, pattern.indptr), shape=(size, size))
    matrix = matrix + float(size) * csc_array((np.ones(size), (np.arange(size), np.arange(size))), shape=(size, size))
    factors = splu(matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    return np.argsort(factors.perm_c).astype(np.int32)


POLL_S: Final = 0.05
MOST_BREAKS: Final = 10_000
"""Of one stretch in a run through modes."""
BRIEF_WORK: Final = 2e6
"""Multiplications of a stretch that is over before anybody could stop it, some milliseconds: it needs no thread of its own."""
LOG_SIZE: Final = 100_000
"""Events kept in the log of one stretch; further ones still happen."""


@final
@dataclass(frozen=True)
class SolverSettings:
    """What is asked of every solver; `first_step` 0 leaves it to the solver, and is the step of methods that keep theirs."""

    rtol: float
    atol: Array
    max_step: float = np.inf
    first_step: float = 0.0
    max_steps: int = 100_000_000
    most_expected: int = 0
    """A run that will need more steps than these is given up as soon as that shows; 0: it goes on."""
    keep_books: bool = True
    watch_stiffness: bool = False
    work: float = np.inf
    """Multiplications that the solver will need for its steps, where that is known."""
    pause_at: float = np.inf
    pause_turns: int = 0
    """An explicit run pauses after this time where a variable has turned back so often by then."""


@final
@dataclass
class RunRows:
    """Output rows, allocated before the run: the first `done` are written.

    `samples` has an entry for each sampling instant that was met: its time, and what is held from then on.
    """

    t: Array
    y: Array
    yp: Array
    done: int = 0
    samples: list[Array] = field(default_factory=list)

    @classmethod
    def at(cls, times: Array, width: int) -> "RunRows":
        """Room for rows at the given times."""
        return cls(times, np.empty((len(times), width)), np.empty((len(times), width)))

    def with_last(self, at: "StatePoint") -> "RunRows":
        """The rows that are written, and one where a run ended between two of them, in the place of the next one."""
        if self.done == len(self.t) or (self.done and at.t <= self.t[self.done - 1]):
            return self
        self.y[self.done], self.yp[self.done] = at.y, at.yp
        return RunRows(np.append(self.t[: self.done], at.t), self.y, self.yp, self.done + 1, self.samples)

    def memory(self, held: Array) -> HeldRows | None:
        """What was held at each row that is written; `held` is what was held at the start. None where nothing is sampled."""
        if not len(held):
            return None
        # What was held at the start holds from the beginning of time, so that every row finds an entry.
        log = np.vstack([np.concatenate([[-np.inf], held]), *self.samples])
        return HeldRows(np.searchsorted(self.t[: self.done], log[:, 0]), log[:, 1:], self.done)


@final
@dataclass(frozen=True)
class StatePoint:
    """Where a run stands."""

    t: float
    y: Array
    yp: Array


@final
@dataclass(frozen=True)
class Watch:
    """Who looks at a run from outside: told the time reached now and then, and asked whether to go on."""

    progress: Callable[[float], None] | None = None
    cancel: threading.Event | None = None
    running: list[Job] | None = None
    """For a caller that looks after Ctrl-C itself: the job that runs in the present thread is put here."""
    steps: Callable[[int], None] | None = None
    """Told how many steps were made, just before each time reached."""


@final
@dataclass(frozen=True)
class StretchEnd:
    """How a stretch ended: a status of `jobs`, where it stands, and what was counted on the way."""

    status: int
    standing: StatePoint
    effort: Effort
    energies: Array
    """Supplied, dissipated, generated, work of modulation."""
    events: tuple[tuple[float, int], ...] = ()
    signs: tuple[int, ...] = ()
    """Of each event function that ended the stretch: 1 rising, -1 falling, 0 not involved."""
    detail: int = 0
    failed: int | None = None
    last_step: float = 0.0
    turns: int = 0
    """How often the variable that swings most has turned back."""


@final
@dataclass(frozen=True)
class PreparedModel:
    """A model with what solvers need beside it: made once, used for every stretch."""

    model: NumericModel
    pattern: SparsityPattern
    colours: Integers
    order: Integers | None
    directions: Integers
    terminal: Integers
    bends: Integers
    periods: Array
    offsets: Array
    blocks: int = 1
    addresses: dict[str, int] | None = None
    known_breaks: dict[str, tuple[float, float, Array]] = field(default_factory=dict)

    def breaks(self, start: float, until: float) -> Array:
        """The break times of a stretch. They are listed once: many short stretches would list them to the end each time."""
        first, last, times = self.known_breaks.get("listed", (np.inf, -np.inf, np.zeros(0)))
        if not first <= start <= until <= last:
            last = until + (
                until - start if start <= last else 0.0
            )  # an end that moves on with each stretch is not listed each time
            times = self.model.stop_times(last, start)
            self.known_breaks["listed"] = start, last, times
        if not len(times):
            return times
        return times[np.searchsorted(times, start, "right") : np.searchsorted(times, until, "left")]

    def reach(self, start: float) -> float:
        """How far a stretch may lead so that its breaks are listed in no time: a run of many periods has millions of them."""
        # Breaks in a second, of all signals together.
        often = sum(1.0 / known.period for known in self.model.breaks if known.period)
        return start + MOST_BREAKS / often if often > 0.0 else np.inf

    @property
    def width(self) -> int:
        """The length of y, sensitivities included."""
        return self.model.size * self.blocks

    @cached_property
    def template(self) -> Job:
        """A job with what is the same in every stretch; its arrays are those of this object."""
        # Most of a job is the same in every stretch: a run with thousands of changes of mode copies it in one piece.
        model, job = self.model, Job()
        for name, function in (self.addresses or model.addresses).items():
            setattr(job, name, function)
        for name, values in self.job_arrays.items():
            setattr(job, name, address_of(values))
        job.order = None if self.order is None else address_of(self.order)
        job.n, job.blocks = self.width, self.blocks
        job.n_states, job.n_differential = len(model.states), model.size - len(model.unknowns)
        job.n_events, job.n_memory = len(model.events), len(model.memory)
        job.n_contents = len(model.contents) if job.contents else 0
        job.n_groups, job.n_observables = len(model.sample_groups), len(model.observables)
        # A model written by hand does not say: then its powers may read them.
        job.powers_read_rates = int(model.data is None or model.data.powers_read_rates)
        job.n_colours = int(self.colours.max(initial=-1)) + 1
        return job

    @cached_property
    def job_arrays(self) -> dict[str, NDArray[Any]]:
        """Arrays for jobs, under the names that they have there."""
        return {
            "columns": np.ascontiguousarray(self.pattern.indptr, dtype=np.int32),
            "rows": np.ascontiguousarray(self.pattern.indices, dtype=np.int32),
            "colours": np.ascontiguousarray(self.colours, dtype=np.int32),
            "directions": self.directions,
            "terminal": self.terminal,
            "bends": self.bends,
            "keepers": np.array(self.model.contents or [0], dtype=np.int32),
            "periods": self.periods,
            "offsets": self.offsets,
            **vars(NO_LOG),
        }


def prepare(model: NumericModel) -> PreparedModel:
    """The model ready for any solver; made once for each."""
    known: PreparedModel | None = model.plans.get("prepared")
    if known is not None:
        return known
    made = PreparedModel(
        model,
        pattern=model.pattern,
        colours=model.colours,
        order=sparse_elimination_order(model.pattern),
        directions=np.array([e.direction for e in model.events] or [0], dtype=np.int32),
        terminal=np.array([int(e.kind == "transition") for e in model.events] or [0], dtype=np.int32),
        bends=np.array([int(e.kind == "bend") for e in model.events] or [0], dtype=np.int32),
        periods=np.array([g.period for g in model.sample_groups] or [0.0]),
        offsets=np.array([g.offset for g in model.sample_groups] or [0.0]),
    )
    found: PreparedModel = model.plans.setdefault("prepared", made)  # of two threads the first one decides
    return found


def run_stretch(
    run: Run,
    prepared: PreparedModel,
    context: ModelContext,
    settings: SolverSettings,
    rows: RunRows,
    standing: StatePoint,
    *,
    until: float,
    watch: Watch | None = None,
    address: int | None = None,
    past: Past | None = None,
) -> StretchEnd:
    """Advance to `until` or to the first terminal event; rows are written on the way.

    `address` is that of the context where it is not the model's own (sensitivities wrap it).
    """
    model = prepared.model
    job, arrays = make_job(prepared, context, settings, rows, standing, until, address=address, past=past)
    # A short stretch goes without a thread: handing work over would take longer than the work.
    status = run(job) if watch is None and _is_brief(model, settings, job) else _run_watched(run, job, watch or Watch())
    if job.cancel and status not in (jobs.FINISHED, jobs.EVENT):
        status = jobs.CANCELLED  # what is stopped may fail in any way
    rows.done = job.next_time
    log = arrays.log
    if job.n_sampled:
        rows.samples.append(log.sample_log[: job.n_sampled])
    return StretchEnd(
        status,
        StatePoint(job.t, arrays.y, arrays.yp),
        Effort(job.steps, job.rejected, job.rhs_calls, job.jacobians, job.factorisations),
        energies=np.array(job.books[:]),
        events=log.events(job.n_logged) if job.n_logged else (),
        signs=tuple(log.event_signs[: job.n_events].tolist()) if job.n_events else (),
        detail=job.detail,
        failed=context.failed,
        last_step=job.last_step,
        turns=job.turns,
    )


@final
@dataclass(frozen=True)
class Log:
    """Where events and samples of one stretch are written. Fields have the names of the job's."""

    event_times: Array
    event_numbers: Integers
    event_signs: Integers
    sample_log: Array

    def events(self, count: int) -> tuple[tuple[float, int], ...]:
        """The first events: when, and the number of the event function."""
        return tuple(zip(self.event_times[:count].tolist(), self.event_numbers[:count].tolist(), strict=True))


NO_LOG: Final = Log(np.zeros(1), np.zeros(1, dtype=np.int32), np.zeros(1, dtype=np.int32), np.zeros((0, 1)))
"""Of models without events and samples: nothing is written."""

_LOG: Final = tuple(f.name for f in fields(Log))


@final
@dataclass(frozen=True)
class JobArrays:
    """The arrays of one stretch that a job points to, which must live as long."""

    y: Array
    yp: Array
    atol: Array
    stops: Array
    log: Log


def make_job(
    prepared: PreparedModel,
    context: ModelContext,
    settings: SolverSettings,
    rows: RunRows,
    standing: StatePoint,
    until: float,
    *,
    address: int | None = None,
    past: Past | None = None,
) -> tuple[Job, JobArrays]:
    """The struct for the solvers in C, and the arrays behind it."""
    model = prepared.model
    arrays = _job_arrays(prepared, settings, standing, until)
    job = Job.from_buffer_copy(prepared.template)
    job.context = context.address if address is None else address
    job.history = None if past is None else past.address
    job.y, job.yp = address_of(arrays.y), address_of(arrays.yp)
    job.atol, job.stops = address_of(arrays.atol), address_of(arrays.stops)
    log = arrays.log
    if log is not NO_LOG:
        for name in _LOG:
            setattr(job, name, address_of(getattr(log, name)))
    job.n_stops, job.log_size = len(arrays.stops), len(log.event_times) - 1
    job.until, job.t = until, standing.t
    job.times, job.out_y, job.out_yp = address_of(rows.t), address_of(rows.y), address_of(rows.yp)
    job.n_times, job.next_time = len(rows.t), rows.done
    job.rtol = settings.rtol
    # A step longer than the shortest delay would read what it is about to write.
    job.max_step = min(settings.max_step, longest_delay_step(model), until - standing.t)
    job.first_step, job.max_steps, job.most_expected = settings.first_step, settings.max_steps, settings.most_expected
    job.halfway = standing.t
    job.keep_books = int(settings.keep_books and "balance" in model.addresses)
    job.watch_stiffness = int(settings.watch_stiffness)
    job.pause_at, job.pause_turns = settings.pause_at, settings.pause_turns
    job.sample_room = len(log.sample_log)
    return job, arrays


def _job_arrays(prepared: PreparedModel, settings: SolverSettings, standing: StatePoint, until: float) -> JobArrays:
    model, breaks = prepared.model, prepared.breaks(standing.t, until) if np.isfinite(until) else ()
    return JobArrays(
        y=np.array(standing.y, dtype=float),
        yp=np.array(standing.yp, dtype=float),
        atol=np.ascontiguousarray(settings.atol, dtype=float),
        stops=np.ascontiguousarray(breaks, dtype=float),  # the past tells when they come back through delays
        log=_log(model, until - standing.t) if model.events or model.sample_groups else NO_LOG,
    )


def _log(model: NumericModel, duration: float) -> Log:
    # one instant ends a stretch where all events do: short stretches would spend their time on an empty log
    size = LOG_SIZE if any(e.kind != "transition" for e in model.events) else len(model.events)
    return Log(
        event_times=np.zeros(size + 1),
        event_numbers=np.zeros(size + 1, dtype=np.int32),
        event_signs=np.zeros(len(model.events) + 1, dtype=np.int32),
        sample_log=np.zeros((sampling_instants(model, duration), len(model.memory) + 1)),
    )


def sampling_instants(model: NumericModel, duration: float) -> int:
    """At most so many sampling instants come in a time."""
    if not np.isfinite(duration):
        return 0
    return sum(LOG_SIZE if group.is_latch else int(duration / group.period) + 2 for group in model.sample_groups)


def _is_brief(model: NumericModel, settings: SolverSettings, job: Job) -> bool:
    """Whether a stretch takes no time worth watching: functions of the host may take any, and so may models in Python."""
    halts = job.n_times + job.n_stops + job.sample_room
    host = model.backend == "python" or (model.data is not None and model.data.external is not None)
    return not host and settings.work + halts * model.size < BRIEF_WORK


def _run_watched(run: Run, job: Job, watch: Watch) -> int:
    def stretch(running: list[Job]) -> int:
        running[:] = [job]
        return run(job)

    return watched(stretch, watch)


def watched(work: Callable[[list[Job]], Found], watch: Watch) -> Found:
    """Work that runs one stretch or several, in a thread of its own, so that Ctrl-C and `cancel` are heard within a step.

    It puts the job that runs into the list that it is given.
    """
    if watch.running is not None:
        return work(watch.running)
    # Ctrl-C is heard in the main thread only: elsewhere there is nothing to listen for.
    if threading.current_thread() is not threading.main_thread() and watch == Watch():
        return work([])
    running, thread = list[Job](), list[int]()

    def begun() -> Found:
        thread.append(threading.get_ident())
        return work(running)

    # Slopes that are being compiled hold a stretch up for seconds, and it does not look at its job meanwhile.
    def stop() -> None:
        if thread:
            stop_building_slopes(thread[0])
        for job in tuple(running):
            job.cancel = 1

    def reached() -> tuple[int, float] | None:
        return next(((int(job.steps), float(job.progress)) for job in tuple(running)), None)

    return wait_for_work(begun, watch, stop, reached)


def wait_for_work(
    work: Callable[[], Found], watch: Watch, stop: Callable[[], None], reached: Callable[[], tuple[int, float] | None]
) -> Found:
    """What work gives that runs in a thread of its own. `reached` tells its steps and time, `stop` asks it to end."""
    made, stopping, wait = in_a_thread(work), False, POLL_S / 16
    while True:
        try:
            return made.result(wait)
        except TimeoutError:
            if made.done():  # what runs may give up by the same error
                return made.result()
        except KeyboardInterrupt:
            stopping = True
        # Often at first: who changes a value in a window cancels the run before, which was to take a tenth of a second.
        wait = min(2 * wait, POLL_S)
        stopping = stopping or (watch.cancel is not None and watch.cancel.is_set())
        if stopping:  # again each time: a stretch that was just about to begin has not heard of it
            stop()
        if (at := reached()) is not None:
            if watch.steps is not None:
                watch.steps(at[0])
            if watch.progress is not None:
                watch.progress(at[1])
