"""Threads that solvers run in. They are kept for the next run: starting one takes as long as a short run."""

import ctypes
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from queue import SimpleQueue
from typing import Any, TypeVar, final

Found = TypeVar("Found")
Work = tuple[Callable[[], Any], Future[Any]]

_IDLE: list[SimpleQueue[Work]] = []


def in_a_thread(work: Callable[[], Found]) -> Future[Found]:
    """Start the work in an idle thread, or in a new one where all are busy."""
    try:
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
            _IDLE.append(queue)
            future.set_exception(error)
        else:
            _IDLE.append(queue)
            future.set_result(found)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_IDLE.clear)  # threads do not come along


@final
class Stoppable:
    """Long work in Python that another thread can end. It may take no notice of anything: an error is raised wherever it stands."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._worker: int | None = None

    @contextmanager
    def here(self) -> Iterator[None]:
        """What the present thread does inside can be stopped."""
        with self._lock:
            self._worker = threading.get_ident()
        try:
            yield
        finally:
            with self._lock:
                self._worker = None

    def stop(self, error: type[BaseException]) -> None:
        """Raise an error in the thread that is at work, if one is."""
        with self._lock:
            if self._worker is not None:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self._worker), ctypes.py_object(error))
                self._worker = None
