"""The solvers in C as one library: that of the installation, or compiled when first used and kept like compiled models."""

import contextlib
import ctypes
import os
import threading
from collections.abc import Callable
from functools import cache

from tellegen.compiler.context import TgContext, raise_kept_error
from tellegen.compiler.toolchain import build_files
from tellegen.core.errors import SimulationError
from tellegen.simulation import rules
from tellegen.simulation.solvers.jobs import History, Job
from tellegen.simulation.solvers.sources import NATIVE, library_name, solver_files
from tellegen.simulation.solvers.sundials import sundials_table

Run = Callable[[Job], int]

_LOCK = threading.Lock()
_LOADED: list[ctypes.CDLL] = []
"""The library, once it is there."""


def _new_lock() -> None:
    """After a fork the thread that was building is gone: nobody would give back its lock, which cannot be set free from outside."""
    global _LOCK  # noqa: PLW0603
    _LOCK = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_new_lock)


def library() -> ctypes.CDLL:
    """The library of all solvers.

    Raises: SimulationError (S101) where the installation brings none that fits, and it cannot be compiled, saying why.
    """
    if not _LOADED:
        with _LOCK:
            if not _LOADED:
                _LOADED.append(shipped_library() or _compiled())
    return _LOADED[0]


def shipped_library() -> ctypes.CDLL | None:
    """The library that came with the installation; None where there is none, or one that was made from other texts."""
    path = NATIVE / library_name()
    if os.environ.get("TELLEGEN_SOLVERS") == "compile" or not path.is_file():
        return None
    try:
        # CDLL, never PyDLL: solvers must let the interpreter go, and models in Python take it again
        found = ctypes.CDLL(str(path))
        found.tg_abi.restype = ctypes.c_char_p
        said: bytes = found.tg_abi()
    except (OSError, AttributeError):  # of another machine, or no library of ours
        return None
    return found if said.decode() == _expected_abi() else None


def _expected_abi() -> str:
    """What `tg_abi` of abi.c says where it was made from the texts of this installation."""
    digest = solver_files()["digest.h"].split('"')[1]
    return " ".join([*(str(ctypes.sizeof(kind)) for kind in (TgContext, History, Job)), digest])


def _compiled() -> ctypes.CDLL:
    built = build_files(solver_files())
    if built.library is None:
        # one command that helps wherever Python runs: the package is a whole compiler
        raise rules.NO_SOLVERS.error(
            f"this installation brings no compiled solvers, and {built.why}", fix="pip install ziglang"
        )
    return built.library


@cache
def solver(symbol: str) -> Run:
    """A solver by its name in C: takes a job, gives back its status. The interpreter is free meanwhile.

    What a model in Python raised on the way is raised behind the call.
    """
    found = library()
    if symbol in ("tg_cvode", "tg_ida"):
        found.tg_use_sundials(sundials_table())
    function = getattr(found, symbol)
    function.argtypes = [ctypes.c_void_p]
    function.restype = ctypes.c_int

    def run(job: Job) -> int:
        status = int(function(ctypes.addressof(job)))
        raise_kept_error()
        return status

    return run


@cache
def build_solvers_ahead() -> threading.Thread:
    """Start compiling the solvers in a thread of its own, once in a process; a library that is there is only loaded."""
    thread = threading.Thread(target=_build, name="tellegen-build", daemon=True)
    thread.start()
    return thread


def _build() -> None:
    # what is wrong with the compiler, or missing, is said by the run that needs it
    with contextlib.suppress(SimulationError):
        library()
