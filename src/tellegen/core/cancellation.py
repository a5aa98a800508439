"""Long work in Python that another thread can cancel."""

import ctypes
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import final


@final
class Cancellable:
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
