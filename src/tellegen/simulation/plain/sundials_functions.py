"""Functions of the SUNDIALS libraries, and the types of those of ours that they call."""

import ctypes
from functools import cache
from typing import Any, Final

from tellegen.simulation.plain.job_view import StoppedError
from tellegen.simulation.solvers import jobs
from tellegen.simulation.solvers.sundials import FUNCTIONS, sundials_table

_OPERATIONS: Final = 24
"""Among so many of the first operations of an object the one to replace is found."""

_P, _D, _I, _L = ctypes.c_void_p, ctypes.c_double, ctypes.c_int, ctypes.c_long
NORM: Final = ctypes.CFUNCTYPE(_D, _P, _P)
RHS: Final = ctypes.CFUNCTYPE(_I, _D, _P, _P, _P)
RESIDUAL: Final = ctypes.CFUNCTYPE(_I, _D, _P, _P, _P, _P)
SYSTEM: Final = ctypes.CFUNCTYPE(_I, _D, _P, _P, _P, _I, ctypes.POINTER(_I), _D, _P, _P, _P, _P)
JACOBIAN: Final = ctypes.CFUNCTYPE(_I, _D, _D, _P, _P, _P, _P, _P, _P, _P, _P)
SET_UP: Final = ctypes.CFUNCTYPE(_I, _P, _P)
SOLVE: Final = ctypes.CFUNCTYPE(_I, _P, _P, _P, _P, _D)

_ARGUMENTS: Final[dict[str, tuple[Any, ...]]] = {
    "SUNContext_Create": (_I, _I, _P),
    "SUNContext_ClearErrHandlers": (_I, _P),
    "SUNContext_Free": (_I, _P),
    "N_VNew_Serial": (_P, _I, _P),
    "N_VGetArrayPointer": (_P, _P),
    "N_VDestroy": (None, _P),
    "SUNDenseMatrix": (_P, _I, _I, _P),
    "SUNMatDestroy": (None, _P),
    "SUNLinSol_Dense": (_P, _P, _P, _P),
    "SUNLinSolFree": (_I, _P),
    "CVodeCreate": (_P, _I, _P),
    "CVodeInit": (_I, _P, _P, _D, _P),
    "CVodeReInit": (_I, _P, _D, _P),
    "CVodeSetLinSysFn": (_I, _P, _P),
    "CVodeSetMaxHnilWarns": (_I, _P, _I),
    "CVode": (_I, _P, _D, _P, _P, _I),
    "IDACreate": (_P, _P),
    "IDAInit": (_I, _P, _P, _D, _P, _P),
    "IDAReInit": (_I, _P, _D, _P, _P),
    "IDASetJacFn": (_I, _P, _P),
    "IDASolve": (_I, _P, _D, _P, _P, _P, _I),
} | {
    prefix + name: arguments
    for prefix in ("CVode", "IDA")
    for name, arguments in {
        "SVtolerances": (_I, _P, _D, _P),
        "SetLinearSolver": (_I, _P, _P, _P),
        "SetMaxStep": (_I, _P, _D),
        "SetInitStep": (_I, _P, _D),
        "SetStopTime": (_I, _P, _D),
        "SetMaxErrTestFails": (_I, _P, _I),
        "GetDky": (_I, _P, _D, _I, _P),
        "GetLastStep": (_I, _P, _P),
        "GetNumErrTestFails": (_I, _P, _P),
        "Free": (None, _P),
    }.items()
}
"""What functions of the library give back, and what they take."""


@cache
def sundials_function(name: str) -> Any:
    """A function of the library. Raises SimulationError (S102) where the library is missing."""
    result, *arguments = _ARGUMENTS[name]
    return ctypes.CFUNCTYPE(result, *arguments)(_address(name))


def _address(name: str) -> int:
    return int(sundials_table()[FUNCTIONS.index(name)] or 0)


def replace_operation(object_: int, name: str, ours: Any) -> None:
    """Put an operation of ours in the place of one of the library, wherever in the table of an object that stands.

    An object is a few pointers: its content, a table of operations, its context, in an order that depends on its kind.
    """
    theirs, size = _address(name), ctypes.sizeof(_P)
    for place in (1, 2):
        table = _P.from_address(object_ + place * size).value
        for k in range(_OPERATIONS if table else 0):
            operation = _P.from_address((table or 0) + k * size)
            if operation.value == theirs:
                operation.value = ours.value
                return
    raise StoppedError(jobs.LIBRARY)
