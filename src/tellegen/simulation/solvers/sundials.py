"""The SUNDIALS libraries that come with the package scikit-sundae, as a table of addresses for native/sundials.c."""

import ctypes
import importlib.util
from functools import cache
from pathlib import Path

from tellegen.simulation import rules

MAJOR = 7
"""The version of the interface that native/sundials.c was written for."""

_LIBRARIES = ("core", "nvecserial", "sunmatrixdense", "sunlinsoldense", "cvode", "ida")

FUNCTIONS = (
    "SUNContext_Create",
    "SUNContext_ClearErrHandlers",
    "SUNContext_Free",
    "N_VNew_Serial",
    "N_VMake_Serial",
    "N_VGetArrayPointer",
    "N_VDestroy",
    "N_VWrmsNorm_Serial",
    "SUNDenseMatrix",
    "SUNMatDestroy",
    "SUNLinSol_Dense",
    "SUNLinSolFree",
    "SUNLinSolSetup_Dense",
    "SUNLinSolSolve_Dense",
    "CVodeCreate",
    "CVodeInit",
    "CVodeReInit",
    "CVodeSVtolerances",
    "CVodeSetUserData",
    "CVodeSetLinearSolver",
    "CVodeSetLinSysFn",
    "CVodeSetMaxStep",
    "CVodeSetInitStep",
    "CVodeSetStopTime",
    "CVodeSetMaxErrTestFails",
    "CVodeSetMaxHnilWarns",
    "CVode",
    "CVodeGetDky",
    "CVodeGetCurrentTime",
    "CVodeGetLastStep",
    "CVodeGetNumErrTestFails",
    "CVodeFree",
    "IDACreate",
    "IDAInit",
    "IDAReInit",
    "IDASVtolerances",
    "IDASetUserData",
    "IDASetLinearSolver",
    "IDASetJacFn",
    "IDASetMaxStep",
    "IDASetInitStep",
    "IDASetStopTime",
    "IDASetMaxErrTestFails",
    "IDASolve",
    "IDAGetDky",
    "IDAGetCurrentTime",
    "IDAGetLastStep",
    "IDAGetNumErrTestFails",
    "IDAFree",
)
"""In the order of the struct `tg_sundials`."""


@cache
def sundials_table() -> ctypes.Array[ctypes.c_void_p]:
    """The addresses of FUNCTIONS, for the whole process.

    Raises: SimulationError (S102) when the libraries are missing or of another version.
    """
    libraries = [ctypes.CDLL(str(path)) for path in _paths()]
    _check_version(libraries[0])
    return (ctypes.c_void_p * len(FUNCTIONS))(*(_address(name, libraries) for name in FUNCTIONS))


def _paths() -> list[Path]:
    """Found without importing the package, which would load SciPy."""
    spec = importlib.util.find_spec("sksundae")
    if spec is None or spec.origin is None:
        raise rules.NO_SUNDIALS.error(
            "the package scikit-sundae is not installed", fix="pip install scikit-sundae, or choose another solver"
        )
    beside = Path(spec.origin).parents[1]
    folders = [beside / "scikit_sundae.libs", Path(spec.origin).parent / ".dylibs", Path(spec.origin).parent]
    found = []
    for word in _LIBRARIES:
        names = sorted(p for folder in folders if folder.is_dir() for p in folder.glob(f"*sundials_{word}[-.]*"))
        if not names:
            raise rules.NO_SUNDIALS.error(
                f"the package scikit-sundae brings no library 'sundials_{word}'",
                fix="install scikit-sundae as a wheel, or choose another solver",
            )
        found.append(names[0])
    return found


def _check_version(core: ctypes.CDLL) -> None:
    text = ctypes.create_string_buffer(64)
    core.SUNDIALSGetVersion(text, len(text))
    version = text.value.decode()
    if version.split(".")[0] != str(MAJOR):
        raise rules.NO_SUNDIALS.error(
            f"SUNDIALS {version} was found, version {MAJOR} is needed", fix="pip install 'scikit-sundae>=1.2,<2'"
        )


def _address(name: str, libraries: list[ctypes.CDLL]) -> int:
    for library in libraries:
        function = getattr(library, name, None)
        if function is not None:
            return ctypes.cast(function, ctypes.c_void_p).value or 0
    raise rules.NO_SUNDIALS.error(f"SUNDIALS has no function '{name}'", fix="pip install 'scikit-sundae>=1.2,<2'")
