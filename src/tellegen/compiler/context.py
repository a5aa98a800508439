"""What a compiled model is given: the C struct `tg_context` and the arrays that it points to."""

import ctypes
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from tellegen.compiler.later_slopes import LaterSlopes

Array = NDArray[np.float64]
Integers = NDArray[np.int32]

PAST = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_void_p, ctypes.c_int, ctypes.c_double)
"""The value of a delayed expression: history, number of the delay, time."""

EXTERNAL = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_int, ctypes.POINTER(ctypes.c_double))
"""A signal of the host: its number, its arguments."""


_first_byte = ctypes.c_char.from_buffer
_place_of = ctypes.addressof


def address_of(values: NDArray[Any]) -> int:
    """Where the numbers of a contiguous array lie. The way round by `ctypes` takes a sixth of the time: it counts in short runs."""
    try:
        return _place_of(_first_byte(values))  # type: ignore[arg-type]  # arrays are buffers; Python 3.11 cannot say so
    except (TypeError, ValueError):  # read-only, or empty
        return int(values.__array_interface__["data"][0])


class TgContext(ctypes.Structure):
    """The struct of model.h, field by field."""

    _fields_ = (
        ("parameters", ctypes.c_void_p),
        ("inputs", ctypes.c_void_p),
        ("memory", ctypes.c_void_p),
        ("values", ctypes.c_void_p),
        ("tangents", ctypes.c_void_p),
        ("structure", ctypes.c_void_p),
        ("constants", ctypes.c_void_p),
        ("tables", ctypes.c_void_p),
        ("history", ctypes.c_void_p),
        ("failed", ctypes.c_int),
        ("past", ctypes.c_void_p),
        ("external", ctypes.c_void_p),
        ("slopes", ctypes.c_void_p),
    )


@final
class Context:
    """A `tg_context` with its arrays. One thread uses it at a time; several contexts of one model may run at once."""

    def __init__(
        self,
        *,
        parameters: Array,
        inputs: Array,
        memory: Array,
        scratch: int,
        structure: Integers,
        constants: Array,
        tables: Array,
        external: Any = None,
        slopes: LaterSlopes | None = None,
    ) -> None:
        self.parameters = parameters
        self.inputs = inputs
        self.memory = memory
        self.values = np.zeros(max(scratch, 1))
        self.tangents = np.zeros(max(scratch, 1))
        self.structure = structure
        self.constants = constants
        self.tables = tables
        self._past: Any = None
        self._external = external
        self._slopes = slopes
        arrays: tuple[NDArray[Any], ...] = (
            parameters,
            inputs,
            memory,
            self.values,
            self.tangents,
            structure,
            constants,
            tables,
        )
        self.struct = TgContext(*map(address_of, arrays))  # the first fields, in their order
        if external is not None:
            self.struct.external = ctypes.cast(external, ctypes.c_void_p).value
        if slopes is not None:
            self.struct.slopes = slopes.address

    @property
    def address(self) -> int:
        """Where the struct lies."""
        return ctypes.addressof(self.struct)

    @property
    def failed(self) -> int | None:
        """The index of the program variable that was not finite in the last call, if any."""
        return None if self.struct.failed == 0 else int(self.struct.failed) - 1

    def share_past(self, other: "Context") -> None:
        """Read the same past as another context."""
        self._past = other._past
        self.struct.past, self.struct.history = other.struct.past, other.struct.history

    def remember(self, past: Any, history: int | None = None) -> None:
        """Give the function that tells past values (a `PAST`, or the address of a C function) and its history."""
        self._past = past
        self.struct.past = past if isinstance(past, int) else ctypes.cast(past, ctypes.c_void_p).value
        self.struct.history = history
