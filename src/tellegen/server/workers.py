"""Processes that do the work of a studio: warm, so that a view takes milliseconds, and ended within a moment when nobody wants it.

A worker calls one of a fixed list of functions at a time. What it gives back crosses a pipe between processes of one program; no
file is read that way.
"""

import asyncio
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from importlib import import_module
from multiprocessing.connection import Connection
from typing import Any, final

from tellegen.core.errors import ERROR_OF_LAYER, Finding, TellegenError
from tellegen.server import rules

FUNCTIONS: Mapping[str, str] = {
    "structure": "tellegen.server.views",
    "picture": "tellegen.server.views",
    "thumbnail": "tellegen.server.views",
    "run": "tellegen.server.results",
    "refine": "tellegen.server.results",
    "taken": "tellegen.server.results",
    "flow": "tellegen.server.results",
    "limit": "tellegen.server.results",
    "forms": "tellegen.server.results",
    "export": "tellegen.server.results",
    "gesture": "tellegen.server.gestures",
}
"""What workers may be asked for, and where it stands."""

LONG = frozenset({"run", "refine"})
"""Those that tell how far they are, and that can be stopped."""

WARM = "tellegen.server.warm"
"""Imported before the first worker begins: everything is loaded, and one figure was drawn."""

MEMORY = 8 * 1024**3
"""Bytes of address space of a worker, where the system can bound them."""
GRACE_S = 30.0
"""A run that is cancelled has so long to hand over what is finished. The page goes on at once, and other workers are free."""
WORKERS = 3

Progress = Callable[[float, float], None]


class WorkerBugError(RuntimeError):
    """A worker met something that is no fault of the model."""


def work(connection: Connection) -> None:
    """The life of a worker: a function by its name, its arguments, what came of it; until the pipe is closed."""
    _bound_memory()
    threading.Thread(target=_end_with_studio, daemon=True).start()
    stop = threading.Event()
    # A signal asks for an end, as Ctrl-C does on a terminal; a run looks for it, whatever else is at work goes on.
    signal.signal(signal.SIGINT, lambda _signal, _frame: stop.set())
    while True:
        try:
            name, arguments = connection.recv()
        except (EOFError, OSError):
            return
        try:
            function = getattr(import_module(FUNCTIONS[name]), name)
            if name in LONG:
                stop.clear()
                arguments = (*arguments, lambda *told: connection.send(("progress", told)), stop)
            answer: tuple[str, Any] = ("value", function(*arguments))
        except TellegenError as error:
            answer = ("error", error.findings)
        except MemoryError:
            answer = ("lost", None)
        except Exception as error:
            # A bug must end neither the worker nor the studio; the page says what happened.
            answer = ("bug", f"{type(error).__name__}: {error}")
        try:
            connection.send(answer)
        except (BrokenPipeError, OSError):
            return


def _end_with_studio() -> None:
    """What is at work for a studio that was killed ends with it: nobody waits for it any more."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(0)


def _bound_memory() -> None:
    if sys.platform == "win32":
        return
    resource = import_module("resource")  # not on all systems
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


@final
class Worker:
    """One process, and the pipe to it."""

    def __init__(self, context: Any) -> None:
        self.pipe, other = context.Pipe()
        self.process = context.Process(target=work, args=(other,), daemon=True)
        self.process.start()
        other.close()

    def call(self, name: str, arguments: tuple[Any, ...], tell: Progress) -> tuple[str, Any]:
        """Ask for something and wait for it."""
        try:
            self.pipe.send((name, arguments))
            while True:
                kind, value = self.pipe.recv()
                if kind != "progress":
                    return kind, value
                tell(*value)
        except (EOFError, OSError):
            return "lost", None

    def interrupt(self) -> None:
        """Ask a run to come to its end, as Ctrl-C does on a terminal."""
        if sys.platform != "win32" and self.process.pid is not None:
            with suppress(ProcessLookupError):
                os.kill(self.process.pid, signal.SIGINT)

    def end(self) -> None:
        """End the process at once."""
        self.process.kill()
        self.process.join(1.0)
        self.pipe.close()


@final
class Workers:
    """Workers for one studio. Each piece of work has its time; what takes longer is ended, and another worker takes its place."""

    def __init__(self, count: int = WORKERS) -> None:
        # Forked from a process that has everything loaded: a new worker is there in a moment.
        forks = "forkserver" in multiprocessing.get_all_start_methods()
        self.context = multiprocessing.get_context("forkserver" if forks else "spawn")
        if forks:
            self.context.set_forkserver_preload([WARM])
        self.threads = ThreadPoolExecutor(count + 1, thread_name_prefix="studio")
        self.free: asyncio.Queue[Worker | None] = asyncio.Queue()
        for _ in range(count):
            self.free.put_nowait(None)
        self.all: set[Worker] = set()
        self.closed = False

    async def warm(self) -> None:
        """Begin the first worker before somebody waits for it."""
        worker = await self._take()
        self.free.put_nowait(worker)

    async def _take(self) -> Worker:
        worker = await self.free.get()
        if worker is not None and worker.process.is_alive():
            return worker
        if worker is not None:
            self.all.discard(worker)
        made = await asyncio.get_running_loop().run_in_executor(self.threads, Worker, self.context)
        self.all.add(made)
        return made

    async def call(
        self,
        name: str,
        *arguments: Any,
        seconds: float,
        tell: Progress = lambda _reached, _until: None,
        stop: asyncio.Event | None = None,
    ) -> Any:
        """What a function of `FUNCTIONS` gives. `stop` ends a run early, with what is finished where there is something.

        Raises: TellegenError of the function, DescriptionError (D726) for what takes too long or too much; WorkerBugError;
        asyncio.CancelledError, when the worker is ended too.
        """
        worker = await self._take()
        loop = asyncio.get_running_loop()
        done = loop.run_in_executor(self.threads, worker.call, name, arguments, tell)
        ended = False
        try:
            kind, value, ended = await self._await(worker, done, seconds, stop)
        except asyncio.CancelledError:
            ended = True
            raise
        finally:
            if ended or not worker.process.is_alive():
                self.all.discard(worker)
                loop.run_in_executor(None, worker.end)
                self.free.put_nowait(None)
            else:
                self.free.put_nowait(worker)
        if kind == "value":
            return value
        if kind == "error":
            findings: tuple[Finding, ...] = value
            raise ERROR_OF_LAYER[findings[0].code[0]](findings)
        if kind == "bug":
            raise WorkerBugError(value)
        if stop is not None and stop.is_set():
            what = "what the cancelled run had done was too much to be handed over in time"
            raise rules.TOOK_TOO_LONG.error(what, fix="stop it earlier, or choose a shorter experiment")
        what = "this took too long, or too much memory"
        raise rules.TOOK_TOO_LONG.error(
            what, fix="try a smaller model or a shorter experiment, or use the command line"
        )

    async def _await(
        self, worker: Worker, done: "asyncio.Future[tuple[str, Any]]", seconds: float, stop: asyncio.Event | None
    ) -> tuple[str, Any, bool]:
        """What came of it, and whether the worker must be ended."""
        waiting: set[asyncio.Future[Any]] = {done}
        stopping = asyncio.ensure_future(stop.wait()) if stop is not None else None
        if stopping is not None:
            waiting.add(stopping)
        try:
            await asyncio.wait(waiting, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if not done.done() and stopping is not None and stopping.done():
                worker.interrupt()
                await asyncio.wait({done}, timeout=GRACE_S)
            if done.done():
                kind, value = done.result()
                return kind, value, False
            return "lost", None, True
        finally:
            if stopping is not None:
                stopping.cancel()

    def close(self) -> None:
        """End all of them."""
        self.closed = True
        for worker in self.all:
            worker.end()
        self.threads.shutdown(wait=False, cancel_futures=True)
