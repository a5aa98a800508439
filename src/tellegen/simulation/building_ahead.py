"""Compiling the solvers while the model is still being read: only the first run on a machine has to."""

import contextlib
import threading
from functools import cache

from tellegen.core.errors import SimulationError
from tellegen.simulation.native_library import compiled, compiled_part, native_library
from tellegen.simulation.runge_kutta import solver_text
from tellegen.simulation.tableaus import DORMAND_PRINCE_8


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
