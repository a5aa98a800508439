"""The structs of the C solvers, field by field: `tg_job` and `tg_history` of job.h, `tg_wrapper` of sensitivities.c."""

import ctypes
from typing import Any, Final

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


def _alike(kind: Any, names: str) -> list[tuple[str, Any]]:
    """Fields of one type that follow each other."""
    return [(name, kind) for name in names.split()]


# One field too many or too few here shifts all that follow: `tg_abi` compares the sizes before any solver runs.
class Job(ctypes.Structure):
    """One stretch of a simulation as the solvers in C see it."""

    _fields_ = (
        *_alike(
            _pointer,
            "context residual rhs rhs_powers tangent rhs_tangent balance powers events contents sample observe",
        ),
        *_alike(_int, "n blocks n_states n_differential n_events n_contents n_memory n_groups n_observables"),
        *_alike(_pointer, "history columns rows colours"),
        ("n_colours", _int),
        ("order", _pointer),
        ("until", _double),
        *_alike(_pointer, "times out_y out_yp"),
        ("n_times", _long),
        ("stops", _pointer),
        ("n_stops", _long),
        *_alike(_pointer, "periods offsets directions terminal bends keepers"),
        ("rtol", _double),
        ("atol", _pointer),
        *_alike(_double, "max_step first_step"),
        ("max_steps", _long),
        *_alike(_int, "keep_books watch_stiffness powers_read_rates"),
        ("pause_at", _double),
        ("pause_turns", _long),
        ("t", _double),
        *_alike(_pointer, "y yp"),
        *_alike(_long, "next_time next_stop"),
        ("books", _double * 4),
        *_alike(_pointer, "event_times event_numbers"),
        *_alike(_long, "n_logged log_size"),
        ("event_signs", _pointer),
        *_alike(_long, "steps rejected rhs_calls jacobians factorisations detail"),
        *_alike(_double, "last_step progress"),
        ("cancel", _int),
        ("sample_log", _pointer),
        *_alike(_long, "n_sampled sample_room turns n_instants"),
        ("doubled", _double * 6),
        ("bands", _pointer),
        ("most_expected", _long),
        ("halfway", _double),
        *_alike(_pointer, "see seer"),
    )


class History(ctypes.Structure):
    """The struct `tg_history`: what delayed signals were."""

    _fields_ = (
        ("n_delays", _int),
        *_alike(_pointer, "observables delays initial"),
        *_alike(_long, "count room"),
        *_alike(_pointer, "times values fresh scratch"),
        ("start", _double),
        *_alike(_int, "breaks most_echoes"),
        ("echoes", _pointer),
        *_alike(_long, "n_echoes echo_room"),
    )


FUNCTIONS: Final = ("residual", "rhs", "tangent", "rhs_tangent", "balance", "powers", "events", "sample", "observe")
"""Of a model, in the order of the struct."""


class SlopeWrapper(ctypes.Structure):
    """The struct `tg_wrapper` of native/sensitivities.c."""

    _fields_ = (
        ("head", TgContext),
        ("model", _pointer),
        *((name, _pointer) for name in FUNCTIONS),
        *_alike(_int, "n count"),
        *_alike(_pointer, "parameters direction"),
        ("n_memory", _int),
        *_alike(_pointer, "held held_before room"),
        ("sampled_at", _double),
        ("log", _pointer),
        *_alike(_long, "log_room log_count"),
        ("history", _pointer),
        *_alike(_int, "n_delays n_observables"),
        *_alike(_pointer, "by_slopes observed beside"),
        ("along", _int),
        *_alike(_double, "shift delay_shift"),
    )
