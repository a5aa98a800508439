"""Slopes that are compiled when they are first asked for: of long models they take longest, and few runs need them."""

import ctypes
import threading
from collections.abc import Callable
from typing import final

MAKE = ctypes.CFUNCTYPE(ctypes.c_int)
"""Sets the functions; gives 1 where it cannot."""


class TgSlopes(ctypes.Structure):
    """The struct of model.h, field by field."""

    _fields_ = (
        ("tangent", ctypes.c_void_p),
        ("rhs_tangent", ctypes.c_void_p),
        ("make", ctypes.c_void_p),
    )


@final
class LaterSlopes:
    """The slopes of one model. `build` gives the library that holds them, or None; whichever thread is first has it called."""

    def __init__(self, build: Callable[[], ctypes.CDLL | None]) -> None:
        self.made = False
        self._build = build
        self._library: ctypes.CDLL | None = None
        self._one_at_a_time = threading.Lock()
        self._make = MAKE(self.make)
        self._struct = TgSlopes(make=ctypes.cast(self._make, ctypes.c_void_p).value)

    @property
    def address(self) -> int:
        """Where the struct lies."""
        return ctypes.addressof(self._struct)

    def make(self) -> int:
        """Compile them, unless that is done; gives 1 where they cannot be."""
        with self._one_at_a_time:
            if not self.made:
                self._library = library = self._build()
                if library is None:
                    return 1
                for name in ("tangent", "rhs_tangent"):
                    function = getattr(library, f"tg_{name}")
                    setattr(self._struct, name, ctypes.cast(function, ctypes.c_void_p).value)
                self.made = True
        return 0
