"""The solvers in C: compiled when first used, or ahead, and kept like compiled models."""

import contextlib
import ctypes
import os
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from functools import cache
from importlib.resources import files
from typing import Literal

from tellegen.compiler.context import raise_kept_error
from tellegen.compiler.numeric_model import NumericModel
from tellegen.compiler.toolchain import build
from tellegen.core.errors import SimulationError
from tellegen.simulation import rules
from tellegen.simulation.plain.solvers import plain_solver
from tellegen.simulation.solvers.coefficients import DORMAND_PRINCE_8, Row, Tableau, pole_table
from tellegen.simulation.solvers.jobs import Job
from tellegen.simulation.solvers.sundials import sundials_table

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
    """A solver of a library: takes a job, gives back its status. The interpreter is free meanwhile.

    What a model in Python raised on the way is raised behind the call.
    """
    function = getattr(library, name)
    function.argtypes = [ctypes.c_void_p]
    function.restype = ctypes.c_int

    def run(job: Job) -> int:
        status = int(function(ctypes.addressof(job)))
        raise_kept_error()
        return status

    return run


_LOADED: dict[tuple[str, str, int], Run] = {}
"""By tableau, source of the model and its size; the last two where it is fused."""


def runge_kutta(model: NumericModel, tableau: Tableau = DORMAND_PRINCE_8, *, fused: bool = False) -> Run:
    """The solver for a model: one library for all of them, or fused with the model's own source.

    Fusing saves the calls, which is a few percent of small models and costs a compilation of each.

    Where nothing can be compiled it runs in Python.
    """
    if not can_compile():
        return plain_solver("tg_runge_kutta")
    fuse = fused and bool(model.source) and {"rhs", "powers"} <= model.addresses.keys()
    key = (tableau.name, model.source, model.size) if fuse else (tableau.name, "", 0)
    if key not in _LOADED:
        head = f"{model.source}\n#define TG_FUSED\n#define TG_N {model.size}\n" if fuse else ""
        _LOADED[key] = runner(compiled(head + solver_text(tableau), small=fuse), "tg_runge_kutta")
    return _LOADED[key]


def solver_text(tableau: Tableau) -> str:
    """The C source of the solver for a tableau."""
    return "\n".join((source_text("job.h"), _macros(tableau), source_text("runge_kutta.c")))


def _macros(tableau: Tableau) -> str:
    stages = len(tableau.a)
    macros = {
        "STAGES": str(stages),
        "ALL_STAGES": str(stages + 1 + len(tableau.dense_a)),
        "DENSE_ROWS": str(3 + len(tableau.dense_b)),
        "ORDER": str(tableau.order),
        "PI_SHARE": "0.04",
        "STABILITY": repr(tableau.stability),
        "STAGE_CODE": _block(_stage_code(tableau)),
        "BOOK_CODE": _block(_book_code(tableau)),
        "ERROR_0": _sum(tableau.error),
        "ERROR_1": _sum(tableau.second_error),
        "DENSE_CODE": _block(_dense_code(tableau)),
        "DENSE_VALUE": _dense_value(3 + len(tableau.dense_b)),
    }
    return "\n".join(f"#define {name} {text}" for name, text in macros.items())


def _stage_code(tableau: Tableau) -> Iterable[str]:
    for i, row in enumerate(tableau.a):
        if i == 0:
            continue
        yield f"s = w->arguments[{i}];"
        yield f"for (int i = 0; i < n; i++) s[i] = y[i] + h * ({_sum(row)});"
        call = "rates(w," if i in tableau.b else "RHS(j,"  # powers count where a stage has a weight
        yield f"if ({call} t + {tableau.c[i]!r} * h, s, k[{i}])) return 1;"
    yield f"for (int i = 0; i < n; i++) w->y1[i] = y[i] + h * ({_sum(tableau.b)});"


def _book_code(tableau: Tableau) -> Iterable[str]:
    for i, weight in tableau.b.items():
        at = "j->y" if i == 0 else f"w->arguments[{i}]"
        yield f"if (book_stage(w, {weight!r}, w->t + {tableau.c[i]!r} * w->h, {at}, w->k[{i}])) return 1;"


def _dense_code(tableau: Tableau) -> Iterable[str]:
    end = len(tableau.a)
    for i, (c, row) in enumerate(zip(tableau.dense_c, tableau.dense_a, strict=True), start=end + 1):
        yield f"for (int i = 0; i < n; i++) s[i] = y[i] + h * ({_sum(row)});"
        yield "j->rhs_calls++;"
        yield f"if (RHS(j, t + {c!r} * h, s, k[{i}])) return 1;"
    yield "for (int i = 0; i < n; i++) {"
    yield "double d = w->y1[i] - y[i];"
    yield "w->dense[0][i] = d;"
    yield "w->dense[1][i] = h * k[0][i] - d;"
    yield f"w->dense[2][i] = 2 * d - h * (k[{end}][i] + k[0][i]);"
    for i, row in enumerate(tableau.dense_b, start=3):
        yield f"w->dense[{i}][i] = h * ({_sum(row)});"
    yield "}"


def _dense_value(rows: int) -> str:
    """The interpolant as nested products, alternately by x and 1 - x."""
    text = f"w->dense[{rows - 1}][i]"
    for i in range(rows - 2, -1, -1):
        text = f"(w->dense[{i}][i] + {'z' if i % 2 == 0 else 'x'} * {text})"
    return f"x * {text}"


def _sum(row: Row) -> str:
    return " + ".join(f"{value!r} * k[{j}][i]" for j, value in row.items())


def _block(lines: Iterable[str]) -> str:
    return " \\\n  ".join(lines)


@cache
def build_solvers_ahead() -> threading.Thread:
    """Start compiling the usual solvers in a thread of their own, once in a process; libraries in the cache are only loaded."""
    thread = threading.Thread(target=_build, name="tellegen-build", daemon=True)
    thread.start()
    return thread


def _build() -> None:
    # what is wrong with the compiler, or missing, is said by the run that needs it
    with contextlib.suppress(SimulationError):
        # Takes longest; the others are soon made by the run that needs one, meanwhile. Its table of poles is left to the run: the
        # least squares behind it must not be under way where the process forks, or OpenBLAS waits for ever.
        compiled_part("rational")
        native_library("ordering")
        native_library("exponential")
        native_library("sundials")
        compiled(solver_text(DORMAND_PRINCE_8))
