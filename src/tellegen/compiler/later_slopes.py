"""Slopes that are compiled when they are first asked for: of long models they take longest, and few runs need them."""

import ctypes
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import final

from tellegen.compiler.toolchain import CompilerStoppedError, stop_compiler
from tellegen.core.errors import Finding
from tellegen.core.stopping import Stoppable

_UNDER_WAY: dict[int, Stoppable] = {}
"""What each thread is making."""


def stop_making(thread: int) -> None:
    """End the making of slopes in a thread, if it is at that: its compiler, or the writing of what that is to read."""
    making = _UNDER_WAY.get(thread)
    if making is not None and not stop_compiler(thread):
        making.stop(CompilerStoppedError)


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
@dataclass(frozen=True)
class BuiltSlopes:
    """Where the functions of slopes lie while their owner lives; `findings` say why they are slow, where they are."""

    addresses: Mapping[str, int]
    owner: object
    findings: tuple[Finding, ...] = ()


@final
class LaterSlopes:
    """The slopes of one model. Whichever thread is first has `build` called."""

    def __init__(self, build: Callable[[], BuiltSlopes]) -> None:
        self.made = False
        self.findings: tuple[Finding, ...] = ()
        self._build = build
        self._built: BuiltSlopes | None = None
        self._one_at_a_time = threading.Lock()
        self._make = MAKE(self.make)
        self._struct = TgSlopes(make=ctypes.cast(self._make, ctypes.c_void_p).value)

    @property
    def address(self) -> int:
        """Where the struct lies."""
        return ctypes.addressof(self._struct)

    def make(self) -> int:
        """Compile them, unless that is done. Gives 1 where somebody has stopped it; else there is always a way, if a slow one."""
        thread, making = threading.get_ident(), Stoppable()
        _UNDER_WAY[thread] = making
        try:
            with self._one_at_a_time, making.here():
                self._make_once()
        except CompilerStoppedError:  # nothing can be raised through a solver in C
            return 1
        finally:
            del _UNDER_WAY[thread]
        return 0

    def _make_once(self) -> None:
        if self.made:
            return
        self._built = built = self._build()
        for name in ("tangent", "rhs_tangent"):
            setattr(self._struct, name, built.addresses[name])
        self.findings, self.made = built.findings, True
