"""Threads that solvers run in. They are kept for the next run: starting one takes as long as a short run."""

import os
import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any, TypeVar

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
