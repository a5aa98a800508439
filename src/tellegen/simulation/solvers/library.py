"""The solvers in C as one library: that of the installation, or compiled when first used and kept like compiled models.

CVODE and IDA need the SUNDIALS libraries that come with the package scikit-sundae, as a table of addresses for native/sundials.c.
"""

import contextlib
import ctypes
import importlib.util
import os
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path

from tellegen.compiler.context import TgContext, raise_kept_error
from tellegen.compiler.toolchain import build_files
from tellegen.core.errors import SimulationError
from tellegen.simulation import rules
from tellegen.simulation.solvers.jobs import History, Job
from tellegen.simulation.solvers.sources import NATIVE, library_name, solver_files

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
        # Several threads may begin their first run at once; one compiles, the others wait for it.
        with _LOCK:
            if not _LOADED:
                _LOADED.append(shipped_library() or _compiled())
    return _LOADED[0]


def shipped_library() -> ctypes.CDLL | None:
    """The library that came with the installation; None where there is none, or one that was made from other texts."""
    path = NATIVE / library_name()
    # For who works on the C itself, and to check that it compiles here.
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
    # Sizes of the structs too: a library from the same texts, but with other padding, would read the wrong fields.
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
    # Only these two: who never needs SUNDIALS need not have it.
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
def function_address(symbol: str) -> int:
    """Where a solver lies, by its name in C."""
    solver(symbol)  # lets SUNDIALS be found
    return ctypes.cast(getattr(library(), symbol), ctypes.c_void_p).value or 0


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


SUNDIALS_MAJOR = 7
"""The version of the interface that native/sundials.c was written for."""

_SUNDIALS_LIBRARIES = ("core", "nvecserial", "sunmatrixdense", "sunlinsoldense", "cvode", "ida")

SUNDIALS_FUNCTIONS = """
    SUNContext_Create SUNContext_ClearErrHandlers SUNContext_Free
    N_VNew_Serial N_VMake_Serial N_VGetArrayPointer N_VDestroy N_VWrmsNorm_Serial
    SUNDenseMatrix SUNMatDestroy SUNLinSol_Dense SUNLinSolFree SUNLinSolSetup_Dense SUNLinSolSolve_Dense
    CVodeCreate CVodeInit CVodeReInit CVodeSVtolerances CVodeSetUserData CVodeSetLinearSolver CVodeSetLinSysFn
    CVodeSetMaxStep CVodeSetInitStep CVodeSetStopTime CVodeSetMaxErrTestFails CVodeSetMaxHnilWarns CVode CVodeGetDky
    CVodeGetCurrentTime CVodeGetLastStep CVodeGetNumErrTestFails CVodeFree
    IDACreate IDAInit IDAReInit IDASVtolerances IDASetUserData IDASetLinearSolver IDASetJacFn IDASetMaxStep
    IDASetInitStep IDASetStopTime IDASetMaxErrTestFails IDASolve IDAGetDky IDAGetCurrentTime IDAGetLastStep
    IDAGetNumErrTestFails IDAFree
"""
"""In the order of the struct `tg_sundials`, with blanks between."""


@cache
def sundials_table() -> ctypes.Array[ctypes.c_void_p]:
    """The addresses of SUNDIALS_FUNCTIONS, for the whole process.

    Raises: SimulationError (S102) when the libraries are missing or of another version.
    """
    names, libraries = SUNDIALS_FUNCTIONS.split(), [ctypes.CDLL(str(path)) for path in _sundials_paths()]
    _check_sundials_version(libraries[0])
    return (ctypes.c_void_p * len(names))(*(_sundials_address(name, libraries) for name in names))


def _sundials_paths() -> list[Path]:
    """Found without importing the package, which would load SciPy."""
    spec = importlib.util.find_spec("sksundae")
    if spec is None or spec.origin is None:
        raise rules.NO_SUNDIALS.error(
            "the package scikit-sundae is not installed", fix="pip install scikit-sundae, or choose another solver"
        )
    # Wheels of Linux put libraries beside the package, those of macOS and Windows inside of it.
    beside = Path(spec.origin).parents[1]
    folders = [beside / "scikit_sundae.libs", Path(spec.origin).parent / ".dylibs", Path(spec.origin).parent]
    found = []
    for word in _SUNDIALS_LIBRARIES:
        # File names carry a version or a hash that changes with every wheel.
        names = sorted(p for folder in folders if folder.is_dir() for p in folder.glob(f"*sundials_{word}[-.]*"))
        if not names:
            raise rules.NO_SUNDIALS.error(
                f"the package scikit-sundae brings no library 'sundials_{word}'",
                fix="install scikit-sundae as a wheel, or choose another solver",
            )
        found.append(names[0])
    return found


def _check_sundials_version(core: ctypes.CDLL) -> None:
    text = ctypes.create_string_buffer(64)
    core.SUNDIALSGetVersion(text, len(text))
    version = text.value.decode()
    if version.split(".")[0] != str(SUNDIALS_MAJOR):
        raise rules.NO_SUNDIALS.error(
            f"SUNDIALS {version} was found, version {SUNDIALS_MAJOR} is needed",
            fix="pip install 'scikit-sundae>=1.2,<2'",
        )


def _sundials_address(name: str, libraries: list[ctypes.CDLL]) -> int:
    for found in libraries:
        function = getattr(found, name, None)
        if function is not None:
            return ctypes.cast(function, ctypes.c_void_p).value or 0
    raise rules.NO_SUNDIALS.error(f"SUNDIALS has no function '{name}'", fix="pip install 'scikit-sundae>=1.2,<2'")
