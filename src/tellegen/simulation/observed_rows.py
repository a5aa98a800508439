"""Observables at many rows by one call into C."""

import ctypes
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tellegen.compiler.context import Context, address_of
from tellegen.compiler.numeric_model import NumericModel
from tellegen.simulation.held_rows import HeldRows
from tellegen.simulation.native_library import native_library

Array = NDArray[np.float64]


def observe_rows(
    model: NumericModel,
    context: Context,
    t: Array,
    y: Array,
    yp: Array,
    memory: HeldRows | None,
    places: NDArray[np.intp],
    into: Array,
) -> None:
    """Write the observables at `places` into the rows of `into`; one at a place below zero is left as it is.

    `memory` is what was sampled at each row. Outside the domain of a law an observable is not a number.
    """
    floats = [np.ascontiguousarray(a, dtype=float) for a in (t, y, yp)]
    held = np.zeros((len(t), 0)) if memory is None else np.ascontiguousarray(memory, dtype=float)
    everything, chosen = np.zeros(max(len(model.observables), 1)), np.ascontiguousarray(places, dtype=ctypes.c_long)
    assert into.flags.c_contiguous, "rows of an array that was just made"
    _function()(
        model.addresses["observe"],
        context.address,
        len(t),
        *map(address_of, floats),
        y.shape[1],
        address_of(held),
        held.shape[1],
        address_of(everything),
        len(everything),
        address_of(chosen),
        len(chosen),
        address_of(into),
    )


@cache
def _function() -> Any:
    function = native_library("observing").tg_observe_rows
    pointer, number = ctypes.c_void_p, ctypes.c_int
    model_and_rows: list[Any] = [pointer, pointer, ctypes.c_long, pointer, pointer, pointer, number]
    function.argtypes = [*model_and_rows, pointer, number, pointer, number, pointer, number, pointer]
    function.restype = None
    return function
