"""The solvers in C, compiled when first used and kept like compiled models."""

import ctypes
import os
import threading
from collections.abc import Callable
from concurrent.futures import Future
from functools import cache
from importlib.resources import files
from typing import Literal

from tellegen.compiler.build import build
from tellegen.simulation import rules
from tellegen.simulation.jobs import Job
from tellegen.simulation.plain.solvers import plain_solver
from tellegen.simulation.poles import pole_table
from tellegen.simulation.sundials import sundials_table

Part = Literal[
    "sundials", "steady", "fixed_step", "exponential", "rational", "delays", "sensitivities", "ordering", "observing"
]

_PARTS: dict[Part, tuple[str, ...]] = {
    "sundials": ("job.h", "linear.h", "newton.h", "sundials.c"),
    "steady": ("job.h", "linear.h", "newton.h", "steady.c"),
    "fixed_step": ("job.h", "linear.h", "newton.h", "fixed_step.c"),
    "exponential": ("job.h", "linear.h", "panels.h", "exponential.c"),
    "rational": ("job.h", "linear.h", "panels.h", "rational.c"),
    "delays": ("job.h",),
    "sensitivities": ("job.h", "sensitivities.c"),
    "ordering": ("ordering.c",),
    "observing": ("observing.c",),
}

Run = Callable[[Job], int]

_LOCK = threading.Lock()
_TABLES = threading.Lock()
"""A table is made once, whoever comes first: the libraries keep its address."""
_MADE: dict[tuple[str, bool], Future[ctypes.CDLL]] = {}
"""What is loaded, or being built by one of the threads."""


def _forget_unfinished() -> None:
    """After a fork the threads that were building are gone: nobody would finish what they began, or give back their locks."""
    global _LOCK, _TABLES  # locks cannot be set free from outside
    _LOCK, _TABLES = threading.Lock(), threading.Lock()
    for key in [key for key, made in _MADE.items() if not made.done()]:
        del _MADE[key]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_unfinished)


def source_text(*names: str) -> str:
    """The C texts of the folder `native`, one after the other."""
    folder = files("tellegen.simulation") / "native"
    return "\n".join((folder / name).read_text(encoding="utf-8") for name in names)


@cache
def native_library(part: Part) -> ctypes.CDLL:
    """One of the libraries of solvers.

    Raises: SimulationError (S101) where it cannot be compiled.
    """
    library = compiled_part(part)
    with _TABLES:
        if part == "sundials":
            library.tg_use_sundials(sundials_table())
        if part == "rational":
            library.tg_use_poles(ctypes.byref(pole_table()))
    return library


def compiled_part(part: Part) -> ctypes.CDLL:
    """One of the libraries, before it is given the tables that it needs to run."""
    return compiled(source_text(*_PARTS[part]))


def compiled(source: str, *, small: bool = False) -> ctypes.CDLL:
    """The library of a C text of ours.

    Raises: SimulationError (S101) where it cannot be compiled, saying why.
    """
    with _LOCK:
        mine = (source, small) not in _MADE
        made = _MADE.setdefault((source, small), Future())
    if mine:
        try:
            built = build(source, small=small)
        except BaseException as error:  # whoever waits for the library must hear of it
            with _LOCK:
                del _MADE[source, small]
            made.set_exception(error)
            raise
        if built.library is None:
            finding = built.findings[0]
            made.set_exception(
                rules.NO_COMPILER.error(f"the solvers could not be compiled: {finding.what}", fix=finding.fix)
            )
        else:
            made.set_result(built.library)
    return made.result()


@cache
def can_compile() -> bool:
    """Whether there is a C compiler that works, or a cache that holds what is needed."""
    return build("int tg_nothing(void) { return 0; }").library is not None


def solver(part: Part, name: str) -> Run:
    """A solver by its name in C: compiled, or in Python where nothing can be compiled."""
    return runner(native_library(part), name) if can_compile() else plain_solver(name)


@cache
def runner(library: ctypes.CDLL, name: str) -> Run:
    """A solver of a library: takes a job, gives back its status. The interpreter is free meanwhile."""
    function = getattr(library, name)
    function.argtypes = [ctypes.c_void_p]
    function.restype = ctypes.c_int

    def run(job: Job) -> int:
        return int(function(ctypes.addressof(job)))

    return run
