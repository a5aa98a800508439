"""Who makes the chunks of a study: threads of this process, processes of this machine, or the workers of a cluster (Dask)."""

import math
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Any, Final, Protocol, final

from tellegen.core.errors import SimulationError, TellegenError
from tellegen.experiments.rules import BAD_CHOICE
from tellegen.studies.runs import rules
from tellegen.studies.runs.chunks import (
    ChunkMade,
    make_chunk,
    read_answer,
    read_order,
    study_text,
    write_answer,
    write_order,
)
from tellegen.studies.runs.lane_runs import CARD, CORES
from tellegen.studies.runs.model_runs import Array, Made, ModelRuns, Plan
from tellegen.studies.runs.store import BEAT_S, Writing, chunk_of

LOCAL: Final = "local"

WORTH_S: Final = 8.0
"""Runs of Python that take longer than this together go to processes: each needs a second or two to start."""
TURNS: Final = 4
"""Chunks for each process where nothing else decides their size, and tasks for each worker thread that are submitted at a time."""

PART_S: Final = 5.0
"""Runs of this process are made in parts of so many seconds."""

TRIES: Final = 3
REACHED_S: Final = 10.0
"""How long a cluster may take to answer."""


@final
@dataclass(frozen=True)
class Work:
    """What is to be made: the runs of some parts of the table. `folder` and `right` are those of a store; `told` hears how many."""

    runs: ModelRuns
    plan: Plan
    values: Array
    parts: Sequence[slice]
    told: Callable[[int], bool] | None = None
    folder: Path | None = None
    right: Writing | None = None

    def beat(self) -> None:
        """Say that the writer is there."""
        if self.right is not None:
            self.right.beat()

    def tell(self, count: int) -> None:
        """Say how many runs are done."""
        if self.told is not None:
            self.told(count)


class Maker(Protocol):
    """Who makes runs; `where` says it in words, empty for this process."""

    where: str

    def parts(self, runs: ModelRuns, plan: Plan, count: int) -> list[slice]:
        """How the runs are divided where no store says so."""
        ...

    def chunks(self, work: Work) -> Iterator[tuple[slice, Made | None]]:
        """The parts as they are made; None for what is in the store already. It ends early after Ctrl-C."""
        ...


def checked_place(on: Any) -> Any:
    """The place where runs are made, a cluster asked whether it is there: before the first run.

    Raises: SimulationError (S306) for what is no place, (S414, S419) for a cluster that is not there.
    """
    if isinstance(on, str) and on == CARD:
        return CardMaker()
    return on if isinstance(on, str) and on == LOCAL else DaskMaker(on)


def chosen_maker(on: Any, runs: ModelRuns, plan: Plan, count: int, threads: int) -> Maker:
    """Who makes so many runs; `on` is a place that was checked."""
    _check_device(on, plan)
    if isinstance(on, DaskMaker | CardMaker):
        return on
    if threads > 1:
        slow = plan.how == "one by one" and plan.seconds * count > WORTH_S
        if slow:
            with suppress(TellegenError):  # what has no text stays here
                return ProcessMaker(min(threads, count), study_text(runs, plan))
    return ThreadMaker(threads)


def device_of(on: Any) -> str:
    """What makes runs at a place that was checked."""
    return CARD if isinstance(on, CardMaker) else CORES


def _check_device(on: Any, plan: Plan) -> None:
    if plan.device != device_of(on):
        here, there = ("on the cores", "on a graphics card")[:: 1 if plan.device == CORES else -1]
        fix = "go on there" if plan.device == CORES else "go on there: --on gpu"
        raise rules.NOT_ON_CARD.error(f"the study was begun {here}, and {there} numbers would differ a little", fix=fix)


@final
class ThreadMaker:
    """Threads of this process: batches in C leave the interpreter free."""

    where = ""

    def __init__(self, threads: int) -> None:
        self._threads = threads

    def parts(self, runs: ModelRuns, plan: Plan, count: int) -> list[slice]:
        """Some seconds of work each, so that it can be told what has failed."""
        least = math.ceil(count / 100)
        return divided(count, max(least, int(PART_S * self._threads / plan.seconds)) if plan.seconds > 0.0 else count)

    def chunks(self, work: Work) -> Iterator[tuple[slice, Made | None]]:
        """One part after the other, each on all threads."""
        done = 0
        for part in work.parts:

            def between(begun: int, before: int = done) -> bool:
                work.beat()
                return work.told is not None and work.told(before + begun)

            made = work.runs.make(work.values[part], work.plan, self._threads, between)
            yield part, made
            if made.interrupted:
                return
            done += part.stop - part.start


@final
class CardMaker:
    """A graphics card; runs that it gives up are made by a thread of this process."""

    def __init__(self) -> None:
        self.where = f"on {card_name()}"
        self._threads = ThreadMaker(1)

    def parts(self, runs: ModelRuns, plan: Plan, count: int) -> list[slice]:
        """All at once."""
        return [slice(0, count)]

    def chunks(self, work: Work) -> Iterator[tuple[slice, Made | None]]:
        """One part after the other."""
        return self._threads.chunks(work)


def card_name() -> str:
    """The name of the graphics card.

    Raises: SimulationError (S414) without the package, (S430) without a card.
    """
    try:
        cupy = import_module("cupy")
    except ImportError:
        fix = "pip install 'tellegen[gpu]'"
        raise rules.NO_PACKAGE.error(
            "a graphics card needs the package cupy, which is not installed", fix=fix
        ) from None
    try:
        return str(cupy.cuda.runtime.getDeviceProperties(0)["name"].decode())
    except Exception as reason:
        what = f"no graphics card answers: {str(reason) or type(reason).__name__}"
        raise rules.NOT_ON_CARD.error(what, fix="make the runs on the cores: on='local'") from None


# -- Processes of this machine ---------------------------------------------------------------------------------------------------


@final
class ProcessMaker:
    """Processes of this machine, for runs that Python takes part in."""

    def __init__(self, count: int, text: str) -> None:
        self._count, self._text = count, text
        self.where = f"by {count} worker processes"

    def parts(self, runs: ModelRuns, plan: Plan, count: int) -> list[slice]:
        """Some turns for each process, none longer than some seconds."""
        least = math.ceil(count / (TURNS * self._count))
        return divided(count, max(1, min(least, math.ceil(3.0 / plan.seconds))))

    def chunks(self, work: Work) -> Iterator[tuple[slice, Made | None]]:
        """The parts in the order in which they are done."""
        waiting, done = list(reversed(work.parts)), 0
        idle = [WorkerProcess() for _ in range(min(self._count, len(waiting)))]
        every = list(idle)
        busy: dict[Future[ChunkMade], tuple[slice, WorkerProcess]] = {}
        with ThreadPoolExecutor(len(every) or 1) as pool:
            try:
                while waiting or busy:
                    while waiting and idle:
                        part, worker = waiting.pop(), idle.pop()
                        busy[pool.submit(worker.make, self._text, work.values[part], part.start)] = (part, worker)
                    finished, _ = wait(busy, timeout=0.2, return_when=FIRST_COMPLETED)
                    work.beat()
                    work.tell(done)
                    for one in finished:
                        part, worker = busy.pop(one)
                        idle.append(worker)
                        done += part.stop - part.start
                        yield part, made_of(one.result())
            except KeyboardInterrupt:
                return
            finally:
                for worker in every:
                    worker.close()


@final
class WorkerProcess:
    """A process that makes chunks. It is no child of `multiprocessing`, which would run the script of the user again."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._closed = False

    def make(self, text: str, rows: Array, first: int) -> ChunkMade:
        """A chunk; a process that ends in it is replaced once.

        Raises: SimulationError (S419) where the second one ends too.
        """
        for _ in range(2):
            process = self._started()
            assert process.stdin is not None, "pipes were asked for"
            assert process.stdout is not None, "pipes were asked for"
            try:
                write_order(process.stdin, text, rows, first)
                return read_answer(process.stdout)
            except (OSError, EOFError):
                self._end()
                if self._closed:
                    break
        what = f"two worker processes ended while they made runs {first} to {first + len(rows) - 1}"
        raise rules.NO_WORKERS.error(what, fix="use threads=1, and look at these runs alone")

    def _started(self) -> "subprocess.Popen[bytes]":
        if self._process is None:
            # From where this package was loaded; Ctrl-C is for the parent alone, which then ends its workers.
            place = str(Path(__file__).parents[3])
            code = f"import sys; sys.path.insert(0, {place!r}); from tellegen.studies.runs.makers import serve; serve()"
            self._process = subprocess.Popen(
                [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
            )
        return self._process

    def close(self) -> None:
        """End it, whatever it does."""
        self._closed = True
        self._end()

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()


def serve() -> None:
    """Make chunks as they are asked for, until nobody asks any more: what a worker process does."""
    # What somebody prints must not come between the answers.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    while (order := read_order(sys.stdin.buffer)) is not None:
        try:
            found = make_chunk(*order)
        except TellegenError as reason:
            found = ChunkMade(None, reason.finding)
        write_answer(answers, found)


# -- A cluster -------------------------------------------------------------------------------------------------------------------


@final
class DaskMaker:
    """The workers of a Dask cluster: an address, a scheduler file, or a client that somebody has."""

    def __init__(self, on: Any) -> None:
        self._on = on
        with DaskClient(on) as client:
            self._workers = dict(client.nthreads())
        if not self._workers:
            what = f"the cluster at {_shown(on)} has no workers"
            raise rules.NO_WORKERS.error(what, where=_shown(on), fix=f"start some: dask worker {_shown(on)}")
        self.where = f"by {len(self._workers)} workers of a cluster"

    def parts(self, runs: ModelRuns, plan: Plan, count: int) -> list[slice]:
        """As those of a store."""
        return divided(count, chunk_of(plan, runs, count))

    def chunks(self, work: Work) -> Iterator[tuple[slice, Made | None]]:
        """The parts in the order in which they are done; a worker that dies costs its chunk, which another one makes."""
        text, done = study_text(work.runs, work.plan), 0
        folder = "" if work.folder is None else str(work.folder.absolute())
        token = "" if work.right is None else work.right.token
        waiting = list(reversed(work.parts))
        most = TURNS * max(sum(self._workers.values()), 1)
        with DaskClient(self._on) as client:
            busy: dict[Any, slice] = {}
            ended: SimpleQueue[Any] = SimpleQueue()
            try:
                while waiting or busy:
                    while waiting and len(busy) < most:
                        part = waiting.pop()
                        rows = work.values[part]
                        task = client.submit(
                            make_chunk, text, rows, part.start, folder, token, pure=False, retries=TRIES
                        )
                        busy[task] = part
                        task.add_done_callback(ended.put)
                    work.beat()
                    with suppress(Empty):
                        task = ended.get(timeout=BEAT_S)
                        part = busy.pop(task)
                        made = made_of(_result(task, part))
                        done += part.stop - part.start
                        work.tell(done)
                        yield part, made
            except KeyboardInterrupt:
                return
            finally:
                client.cancel(list(busy))


def _result(task: Any, part: slice) -> ChunkMade:
    """What a worker gave.

    Raises: SimulationError (S419) where several have failed, and what a worker has said.
    """
    try:
        found = task.result()
    except TellegenError:
        raise
    except Exception as reason:
        what = f"workers failed at runs {part.start} to {part.stop - 1}: {type(reason).__name__}: {reason}"
        fix = "look at the logs of the workers; the same version of Tellegen has to be installed there"
        raise rules.NO_WORKERS.error(what, fix=fix) from None
    assert isinstance(found, ChunkMade), "what `make_chunk` gives"
    return found


@final
class DaskClient:
    """The client of a cluster, closed at the end if nobody else has it."""

    def __init__(self, on: Any) -> None:
        self._own = isinstance(on, str | Path)
        self._client = _opened(str(on)) if self._own else on
        if not self._own and not hasattr(on, "submit"):
            fix = "give 'local', tcp://HOST:PORT, a scheduler file, or a distributed.Client"
            raise BAD_CHOICE.error(f"runs cannot be made on a {type(on).__name__}", fix=fix)

    def __enter__(self) -> Any:
        return self._client

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._own:
            self._client.close()


def _opened(on: str) -> Any:
    """A client of the cluster at an address or in a scheduler file.

    Raises: SimulationError (S306) for a word that is neither, (S414) without the package, (S419) where nobody answers.
    """
    address = "://" in on
    if not address and not on.endswith(".json"):
        fix = "give local, tcp://HOST:PORT, or a scheduler file that ends in .json"
        raise BAD_CHOICE.error(f"'{on}' is no place where runs are made", where=on, fix=fix)
    if not address and not Path(on).is_file():
        raise rules.NO_WORKERS.error(
            f"there is no scheduler file '{on}'", where=on, fix="name one that dask has written"
        )
    distributed = _package()
    where = {"address": on} if address else {"scheduler_file": on}
    try:
        return distributed.Client(**where, timeout=REACHED_S, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as reason:
        what = f"no cluster answers at '{on}': {str(reason) or type(reason).__name__}"
        raise rules.NO_WORKERS.error(
            what, where=on, fix="start one: dask scheduler, and dask worker on each machine"
        ) from None


def _shown(on: Any) -> str:
    return (
        str(on) if isinstance(on, str | Path) else str(getattr(getattr(on, "scheduler", None), "address", "the client"))
    )


def _package() -> Any:
    try:
        return import_module("distributed")
    except ImportError:
        fix = "pip install 'tellegen[cluster]'"
        raise rules.NO_PACKAGE.error("a cluster needs the package dask, which is not installed", fix=fix) from None


def made_of(found: ChunkMade) -> Made | None:
    """The runs of a chunk; None where they are in the store.

    Raises: SimulationError (S406) where the worker has refused them.
    """
    if found.refused is not None:
        raise SimulationError(found.refused)
    return found.made


def divided(count: int, size: int) -> list[slice]:
    """Parts of a table."""
    return [slice(first, min(first + size, count)) for first in range(0, count, size)]
