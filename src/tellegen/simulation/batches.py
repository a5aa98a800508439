"""Many runs of one compiled model without Python between them, in threads: tables go in, what is kept of each run comes back."""

import ctypes
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from tellegen.compiler.context import Array, ModelContext, address_of
from tellegen.simulation.solvers import jobs
from tellegen.simulation.solvers.library import function_address, library
from tellegen.simulation.solvers.stretch import (
    PreparedModel,
    RunRows,
    SolverSettings,
    StatePoint,
    in_a_thread,
    make_job,
)

LAST, AT, MAX, MIN, TIME_OF_MAX, TIME_OF_MIN, INTEGRAL, SQUARES = range(8)
"""What is kept of a channel, as in native/batch.c."""

UNMADE: Final = -1
"""The status of a run that was not made."""

PENDING_S: Final = 0.05

_WRITTEN: Final = ("out", "rows", "status", "books", "counts", "reached")


class _Kept(ctypes.Structure):
    """The struct `tg_kept`: one number of a run. A channel counts time, then variables, then observables."""

    _fields_ = (("kind", ctypes.c_int), ("place", ctypes.c_int), ("at", ctypes.c_double))


class _Batch(ctypes.Structure):
    """The struct `tg_batch`."""

    _fields_ = (
        *((name, ctypes.c_void_p) for name in ("job", "context", "begin", "run", "instead")),
        *(
            (name, ctypes.c_int64)
            for name in (
                "n_runs",
                "n_parameters",
                "n_inputs",
                "n_memory",
                "n_scratch",
                "n_kept",
                "n_row_places",
                "n_rows",
            )
        ),
        *((name, ctypes.c_void_p) for name in ("parameters", "inputs", "starts", "memory", "untils")),
        *((name, ctypes.c_void_p) for name in ("stops", "stops_from", "kept", "row_places", "row_times")),
        *((name, ctypes.c_void_p) for name in ("out", "rows", "books", "reached", "counts", "status", "next")),
        ("cancel", ctypes.c_int),
    )


class _Worker(ctypes.Structure):
    """The struct `tg_worker`."""

    _fields_ = (("batch", ctypes.c_void_p), ("job", jobs.Job))


class RunTables(NamedTuple):
    """What differs between runs: a row for each. `stops` are the break times of each run, None where all have the same."""

    parameters: Array
    inputs: Array
    starts: Array
    memory: Array
    untils: Array
    row_times: Array
    stops: Sequence[Array] | None = None


class BatchResult(NamedTuple):
    """What came back: numbers and rows that were kept, and an account of each run; `reached` is where it ended."""

    out: Array
    rows: Array
    status: NDArray[np.int8]
    books: Array
    counts: NDArray[np.int64]
    reached: Array
    interrupted: bool = False
    """Whether Ctrl-C came before the last run."""

    def part(self, which: NDArray[Any]) -> "BatchResult":
        """Those of some runs."""
        return BatchResult._make([*(array[which] for array in self[:-1]), self.interrupted])


@final
@dataclass(frozen=True)
class Batch:
    """How all runs of a batch are made. Numbers are kept in the order given, those of kind `AT` by time."""

    prepared: PreparedModel
    context: ModelContext
    settings: SolverSettings
    solver: str
    instead: str = ""
    """The solver that makes a run again which the first one gave up."""
    kept: tuple[tuple[int, int, float], ...] = ()
    row_places: tuple[int, ...] = ()

    def run(self, tables: RunTables, threads: int = 1, between: Callable[[int], bool] | None = None) -> BatchResult:
        """Make all runs. `between` is told now and then how many were begun, and stops the rest by giving True.

        Runs that were not made have the status `UNMADE`.
        """
        model, count = self.prepared.model, len(tables.untils)
        job, arrays = self._template(tables)
        kept = (_Kept * max(len(self.kept), 1))(*(_Kept(*one) for one in self.kept))
        places = np.array(self.row_places or (0,), dtype=np.int32)
        given = {
            name: np.ascontiguousarray(values, dtype=float)
            for name, values in zip(RunTables._fields[:-1], tables, strict=False)
        }
        width, rows = len(self.kept), tables.row_times.shape[1]
        made = BatchResult(
            np.full((count, width), np.nan),
            np.full((count, rows, len(self.row_places)), np.nan),
            np.full(count, UNMADE, dtype=np.int8),
            np.zeros((count, 4)),
            np.zeros((count, 2), dtype=np.int64),
            np.zeros(count),
        )
        following = np.zeros(1, dtype=np.int64)
        batch = _Batch(ctypes.addressof(job), self.context.address, *self._functions())
        batch.n_runs, batch.n_kept, batch.n_rows, batch.n_row_places = count, width, rows, len(self.row_places)
        batch.n_parameters, batch.n_inputs = given["parameters"].shape[1], given["inputs"].shape[1]
        batch.n_memory, batch.n_scratch = len(model.memory), len(self.context.values)
        listed = {} if tables.stops is None else listed_stops(tables.stops)
        arrays_of: dict[str, NDArray[Any]] = {**given, **listed, **{n: getattr(made, n) for n in _WRITTEN}}
        for name, array in arrays_of.items():
            setattr(batch, name, address_of(array))
        batch.kept, batch.row_places, batch.next = ctypes.addressof(kept), address_of(places), address_of(following)
        workers = [_Worker(ctypes.addressof(batch)) for _ in range(max(1, min(threads, count)))]
        interrupted = _work(batch, workers, following, between)
        del arrays  # the job has pointed to them until now
        return made._replace(interrupted=interrupted)

    def _template(self, tables: RunTables) -> tuple[jobs.Job, object]:
        until = float(np.max(tables.untils, initial=0.0))
        rows = RunRows.at(np.zeros(0), self.prepared.width)
        start = StatePoint(0.0, np.zeros(self.prepared.width), np.zeros(self.prepared.width))
        job, arrays = make_job(self.prepared, self.context, self.settings, rows, start, until)
        job.log_size = job.sample_room = 0
        job.max_step = self.settings.max_step
        return job, arrays

    def _functions(self) -> tuple[int | None, ...]:
        begin = None if self.prepared.model.explicit else function_address("tg_consistent")
        return begin, function_address(self.solver), function_address(self.instead) if self.instead else None


def _work(
    batch: _Batch, workers: list[_Worker], following: NDArray[np.int64], between: Callable[[int], bool] | None
) -> bool:
    """Let all workers come to an end; Ctrl-C stops them within a step, and is told."""
    function = library().tg_run_batch
    function.argtypes, function.restype = [ctypes.c_void_p], ctypes.c_int

    def stop() -> None:
        batch.cancel = 1
        for worker in workers:
            worker.job.cancel = 1

    works = [lambda w=w: int(function(ctypes.addressof(w))) for w in workers]
    return work_in_threads(works, stop, lambda: min(int(following[0]), int(batch.n_runs)), between)


def work_in_threads(
    works: Sequence[Callable[[], int]],
    stop: Callable[[], None],
    begun: Callable[[], int],
    between: Callable[[int], bool] | None,
) -> bool:
    """Let all works come to an end, each in a thread; Ctrl-C stops them, and is told. `between` is as in `Batch.run`."""
    futures: list[Future[int]] = [in_a_thread(work) for work in works]
    interrupted = False
    wait = PENDING_S / 16
    for future in futures:
        while not future.done():
            try:
                future.exception(wait)
            except TimeoutError:
                pass
            except KeyboardInterrupt:
                interrupted = True
            wait = min(2 * wait, PENDING_S)
            # again each time: a worker that was just about to begin a run has not heard of it
            if interrupted or (between is not None and between(begun())):
                stop()
    if any(future.result() for future in futures):
        raise MemoryError("a batch of runs")
    return interrupted


def listed_stops(stops: Sequence[Array]) -> dict[str, NDArray[Any]]:
    """The break times of all runs one after the other, and where those of each begin."""
    places = np.concatenate([[0], np.cumsum([len(times) for times in stops])]).astype(np.int64)
    return {"stops": np.concatenate([*stops, np.zeros(1)]), "stops_from": places}
