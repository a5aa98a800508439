"""The structs of the C solvers, field by field: `tg_job` and `tg_history` of job.h, `tg_wrapper` of sensitivities.c."""

import ctypes
from typing import Final

from tellegen.compiler.context import TgContext

FINISHED: Final = 0
EVENT: Final = 1
CANCELLED: Final = 2
NOT_FINITE: Final = 3
TINY_STEP: Final = 4
MANY_STEPS: Final = 5
NO_CONVERGENCE: Final = 6
SINGULAR: Final = 7
STIFF: Final = 8
NO_MEMORY: Final = 9
LIBRARY: Final = 10
UNSUITED: Final = 11
PAUSED: Final = 12
CHATTERING: Final = 13

_pointer = ctypes.c_void_p
_int = ctypes.c_int
_long = ctypes.c_int64
_double = ctypes.c_double


class Job(ctypes.Structure):
    """One stretch of a simulation as the solvers in C see it."""

    _fields_ = (
        ("context", _pointer),
        ("residual", _pointer),
        ("rhs", _pointer),
        ("rhs_powers", _pointer),
        ("tangent", _pointer),
        ("rhs_tangent", _pointer),
        ("balance", _pointer),
        ("powers", _pointer),
        ("events", _pointer),
        ("sample", _pointer),
        ("observe", _pointer),
        ("n", _int),
        ("blocks", _int),
        ("n_states", _int),
        ("n_differential", _int),
        ("n_events", _int),
        ("n_memory", _int),
        ("n_groups", _int),
        ("n_observables", _int),
        ("history", _pointer),
        ("columns", _pointer),
        ("rows", _pointer),
        ("colours", _pointer),
        ("n_colours", _int),
        ("order", _pointer),
        ("until", _double),
        ("times", _pointer),
        ("out_y", _pointer),
        ("out_yp", _pointer),
        ("n_times", _long),
        ("stops", _pointer),
        ("n_stops", _long),
        ("periods", _pointer),
        ("offsets", _pointer),
        ("directions", _pointer),
        ("terminal", _pointer),
        ("bends", _pointer),
        ("rtol", _double),
        ("atol", _pointer),
        ("max_step", _double),
        ("first_step", _double),
        ("max_steps", _long),
        ("keep_books", _int),
        ("watch_stiffness", _int),
        ("powers_read_rates", _int),
        ("pause_at", _double),
        ("pause_turns", _long),
        ("t", _double),
        ("y", _pointer),
        ("yp", _pointer),
        ("next_time", _long),
        ("next_stop", _long),
        ("books", _double * 4),
        ("event_times", _pointer),
        ("event_numbers", _pointer),
        ("n_logged", _long),
        ("log_size", _long),
        ("event_signs", _pointer),
        ("steps", _long),
        ("rejected", _long),
        ("rhs_calls", _long),
        ("jacobians", _long),
        ("factorisations", _long),
        ("detail", _long),
        ("last_step", _double),
        ("progress", _double),
        ("cancel", _int),
        ("sample_log", _pointer),
        ("n_sampled", _long),
        ("sample_room", _long),
        ("turns", _long),
        ("n_instants", _long),
        ("doubled", _double * 6),
        ("bands", _pointer),
    )


class History(ctypes.Structure):
    """The struct `tg_history`: what delayed signals were."""

    _fields_ = (
        ("n_delays", _int),
        ("observables", _pointer),
        ("delays", _pointer),
        ("initial", _pointer),
        ("count", _long),
        ("room", _long),
        ("times", _pointer),
        ("values", _pointer),
        ("fresh", _pointer),
        ("scratch", _pointer),
        ("start", _double),
        ("breaks", _int),
        ("most_echoes", _int),
        ("echoes", _pointer),
        ("n_echoes", _long),
        ("echo_room", _long),
    )


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
        ("log_room", ctypes.c_int64),
        ("log_count", ctypes.c_int64),
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
