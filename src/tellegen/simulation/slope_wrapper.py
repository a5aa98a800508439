"""The struct `tg_wrapper` of native/sensitivities.c, field by field: a model with its derivatives along parameters."""

import ctypes
from typing import Final

from tellegen.compiler.context import TgContext

FUNCTIONS: Final = ("residual", "rhs", "tangent", "rhs_tangent", "balance", "powers", "events", "sample", "observe")
"""Of a model, in the order of the struct."""


class SlopeWrapper(ctypes.Structure):
    """The struct `tg_wrapper` of native/sensitivities.c."""

    _fields_ = (
        ("head", TgContext),
        ("model", ctypes.c_void_p),
        *((name, ctypes.c_void_p) for name in FUNCTIONS),
        ("n", ctypes.c_int),
        ("count", ctypes.c_int),
        ("parameters", ctypes.c_void_p),
        ("direction", ctypes.c_void_p),
        ("n_memory", ctypes.c_int),
        ("held", ctypes.c_void_p),
        ("held_before", ctypes.c_void_p),
        ("room", ctypes.c_void_p),
        ("sampled_at", ctypes.c_double),
        ("log", ctypes.c_void_p),
        ("log_room", ctypes.c_long),
        ("log_count", ctypes.c_long),
        ("history", ctypes.c_void_p),
        ("n_delays", ctypes.c_int),
        ("n_observables", ctypes.c_int),
        ("by_slopes", ctypes.c_void_p),
        ("observed", ctypes.c_void_p),
        ("beside", ctypes.c_void_p),
        ("along", ctypes.c_int),
        ("shift", ctypes.c_double),
        ("delay_shift", ctypes.c_double),
    )
