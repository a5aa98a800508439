"""One stretch of a run: from where it stands to its end or its first event, by one compiled solver."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from tellegen.compiler.context import Context
from tellegen.compiler.numeric_model import NumericModel
from tellegen.compiler.pattern import Pattern
from tellegen.simulation import jobs
from tellegen.simulation.delays import Past, delayed_breaks, longest_step
from tellegen.simulation.elimination_order import elimination_order
from tellegen.simulation.jobs import Job
from tellegen.simulation.native_library import Run
from tellegen.simulation.trajectory import Effort

Array = NDArray[np.float64]
Integers = NDArray[np.int32]

POLL_S: Final = 0.05
LOG_SIZE: Final = 100_000
"""Events kept in the log of one stretch; further ones still happen."""


@final
@dataclass(frozen=True)
class Settings:
    """What is asked of every solver; `first_step` 0 leaves it to the solver, and is the step of methods that keep theirs."""

    rtol: float
    atol: Array
    max_step: float = np.inf
    first_step: float = 0.0
    max_steps: int = 100_000_000
    keep_books: bool = True
    watch_stiffness: bool = False


@final
@dataclass
class Rows:
    """Output rows, allocated before the run: the first `done` are written.

    `samples` has an entry for each sampling instant that was met: its time, and what is held from then on.
    """

    t: Array
    y: Array
    yp: Array
    done: int = 0
    samples: list[Array] = field(default_factory=list)

    @classmethod
    def at(cls, times: Array, width: int) -> "Rows":
        """Room for rows at the given times."""
        return cls(times, np.empty((len(times), width)), np.empty((len(times), width)))

    def memory(self, held: Array) -> Array | None:
        """What was held at each row that is written; `held` is what was held at the start. None where nothing is sampled."""
        if not len(held):
            return None
        log = np.vstack([np.concatenate([[-np.inf], held]), *self.samples])
        return np.asarray(log[np.searchsorted(log[:, 0], self.t[: self.done], side="right") - 1, 1:])


@final
@dataclass(frozen=True)
class Standing:
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


@final
@dataclass(frozen=True)
class StretchEnd:
    """How a stretch ended: a status of `jobs`, where it stands, and what was counted on the way."""

    status: int
    standing: Standing
    effort: Effort
    energies: Array
    """Supplied, dissipated, generated, work of modulation."""
    events: tuple[tuple[float, int], ...] = ()
    signs: tuple[int, ...] = ()
    """Of each event function that ended the stretch: 1 rising, -1 falling, 0 not involved."""
    detail: int = 0
    failed: int | None = None
    last_step: float = 0.0


@final
@dataclass(frozen=True)
class PreparedModel:
    """A model with what solvers need beside it: made once, used for every stretch."""

    model: NumericModel
    pattern: Pattern
    colours: Integers
    order: Integers | None
    directions: Integers
    terminal: Integers
    periods: Array
    offsets: Array
    blocks: int = 1
    addresses: dict[str, int] | None = None
    known_breaks: dict[str, tuple[float, float, Array]] = field(default_factory=dict)

    def breaks(self, start: float, until: float) -> Array:
        """The break times of a stretch. They are listed once: many short stretches would list them to the end each time."""
        first, last, times = self.known_breaks.get("listed", (np.inf, -np.inf, np.zeros(0)))
        if not first <= start <= until <= last:
            times = self.model.break_times(until, start)
            self.known_breaks["listed"] = start, until, times
        return times[np.searchsorted(times, start, "right") : np.searchsorted(times, until, "left")]

    @property
    def width(self) -> int:
        """The length of y, sensitivities included."""
        return self.model.size * self.blocks


def prepare(model: NumericModel) -> PreparedModel:
    """The model ready for any solver."""
    pattern, colours = model.pattern, model.colours
    return PreparedModel(
        model,
        pattern,
        colours,
        elimination_order(pattern),
        np.array([e.direction for e in model.events] or [0], dtype=np.int32),
        np.array([int(e.kind == "transition") for e in model.events] or [0], dtype=np.int32),
        np.array([g.period for g in model.sample_groups] or [0.0]),
        np.array([g.offset for g in model.sample_groups] or [0.0]),
    )


def run_stretch(
    run: Run,
    prepared: PreparedModel,
    context: Context,
    settings: Settings,
    rows: Rows,
    standing: Standing,
    until: float,
    *,
    watch: Watch | None = None,
    address: int | None = None,
    past: Past | None = None,
) -> StretchEnd:
    """Advance to `until` or to the first terminal event; rows are written on the way.

    `address` is that of the context where it is not the model's own (sensitivities wrap it).
    """
    job, arrays = make_job(prepared, context, settings, rows, standing, until, address=address, past=past)
    status = _run_watched(run, job, watch or Watch())
    rows.done = job.next_time
    rows.samples.append(arrays.sample_log[: job.n_sampled])
    logged = zip(arrays.event_times[: job.n_logged], arrays.event_numbers[: job.n_logged], strict=True)
    return StretchEnd(
        status,
        Standing(job.t, arrays.y, arrays.yp),
        Effort(job.steps, job.rejected, job.rhs_calls, job.jacobians, job.factorisations),
        np.array(job.books[:]),
        tuple((float(t), int(k)) for t, k in logged),
        tuple(map(int, arrays.event_signs[: job.n_events])),
        job.detail,
        context.failed,
        job.last_step,
    )


@final
@dataclass(frozen=True)
class JobArrays:
    """The arrays that a job points to, which must live as long. Fields have the names of the job's."""

    y: Array
    yp: Array
    atol: Array
    stops: Array
    columns: Integers
    rows: Integers
    colours: Integers
    event_times: Array
    event_numbers: Integers
    event_signs: Integers
    directions: Integers
    terminal: Integers
    periods: Array
    offsets: Array
    sample_log: Array


def make_job(
    prepared: PreparedModel,
    context: Context,
    settings: Settings,
    rows: Rows,
    standing: Standing,
    until: float,
    *,
    address: int | None = None,
    past: Past | None = None,
) -> tuple[Job, JobArrays]:
    """The struct for the solvers in C, and the arrays behind it."""
    model = prepared.model
    arrays = _job_arrays(prepared, settings, standing, until)
    job = Job()
    job.context = context.address if address is None else address
    job.history = None if past is None else past.address
    for name, function in (prepared.addresses or model.addresses).items():
        setattr(job, name, function)
    for of_job in fields(arrays):
        setattr(job, of_job.name, getattr(arrays, of_job.name).ctypes.data)
    job.order = None if prepared.order is None else prepared.order.ctypes.data
    job.n, job.blocks = prepared.width, prepared.blocks
    job.n_states, job.n_differential = len(model.states), model.size - len(model.unknowns)
    job.n_events, job.n_memory = len(model.events), len(model.memory)
    job.n_groups, job.n_observables = len(model.sample_groups), len(model.observables)
    job.n_colours = int(prepared.colours.max(initial=-1)) + 1
    job.n_stops, job.log_size = len(arrays.stops), len(arrays.event_times) - 1
    job.until, job.t = until, standing.t
    job.times, job.out_y, job.out_yp = rows.t.ctypes.data, rows.y.ctypes.data, rows.yp.ctypes.data
    job.n_times, job.next_time = len(rows.t), rows.done
    job.rtol = settings.rtol
    job.max_step = min(settings.max_step, longest_step(model), until - standing.t)
    job.first_step, job.max_steps = settings.first_step, settings.max_steps
    job.keep_books = int(settings.keep_books and "balance" in model.addresses)
    job.watch_stiffness = int(settings.watch_stiffness)
    job.sample_room = len(arrays.sample_log)
    return job, arrays


def _job_arrays(prepared: PreparedModel, settings: Settings, standing: Standing, until: float) -> JobArrays:
    model = prepared.model
    log = LOG_SIZE if model.events else 0
    breaks = prepared.breaks(standing.t, until) if np.isfinite(until) else ()
    return JobArrays(
        y=np.array(standing.y, dtype=float),
        yp=np.array(standing.yp, dtype=float),
        atol=np.ascontiguousarray(settings.atol, dtype=float),
        stops=delayed_breaks(model, breaks, standing.t, until)
        if model.delays
        else np.ascontiguousarray(breaks, dtype=float),
        columns=np.ascontiguousarray(prepared.pattern.indptr, dtype=np.int32),
        rows=np.ascontiguousarray(prepared.pattern.indices, dtype=np.int32),
        colours=np.ascontiguousarray(prepared.colours, dtype=np.int32),
        event_times=np.zeros(log + 1),
        event_numbers=np.zeros(log + 1, dtype=np.int32),
        event_signs=np.zeros(len(model.events) + 1, dtype=np.int32),
        directions=prepared.directions,
        terminal=prepared.terminal,
        periods=prepared.periods,
        offsets=prepared.offsets,
        sample_log=np.zeros((_instants(model, until - standing.t), len(model.memory) + 1)),
    )


def _instants(model: NumericModel, duration: float) -> int:
    """At most so many sampling instants come in a time."""
    if not np.isfinite(duration):
        return 0
    return sum(int(duration / group.period) + 2 for group in model.sample_groups)


def _run_watched(run: Run, job: Job, watch: Watch) -> int:
    """Run in a thread of its own, so that Ctrl-C and `cancel` are heard within a step."""
    if watch.running is not None:
        watch.running[:] = [job]
        return run(job)
    if threading.current_thread() is not threading.main_thread() and watch == Watch():
        return run(job)
    ended = threading.Event()
    status = [jobs.LIBRARY]

    def work() -> None:
        try:
            status[0] = run(job)
        finally:
            ended.set()

    thread = threading.Thread(target=work, name="tellegen-solver", daemon=True)
    thread.start()
    while not ended.is_set():
        try:
            ended.wait(POLL_S)
            if watch.cancel is not None and watch.cancel.is_set():
                job.cancel = 1
            if watch.progress is not None:
                watch.progress(float(job.progress))
        except KeyboardInterrupt:
            job.cancel = 1
    thread.join()
    return status[0]
