"""Hand-written C, built against the SUNDIALS libraries of the wheel."""

# ruff: noqa: PLC0415  NumPy is loaded where it is needed

import ctypes
import subprocess
import sysconfig
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.solvers.problems import SAMPLES, Problem

if TYPE_CHECKING:
    from benchmarks.solvers.problems import Array

SOURCE = Path(__file__).with_name("hand_written.c")
LIBRARIES = ("core", "cvode", "nvecserial", "sunmatrixband", "sunlinsolband")


@cache
def library() -> Any:
    """The compiled code."""
    folder = Path(sysconfig.get_path("platlib")) / "scikit_sundae.libs"
    wanted = [str(next(folder.glob(f"libsundials_{name}-*"))) for name in LIBRARIES]
    target = Path(tempfile.mkdtemp(prefix="tellegen-bench-")) / "hand_written.so"
    flags = ["-O2", "-march=native", "-std=c99", "-shared", "-fPIC", f"-Wl,-rpath,{folder}"]
    subprocess.run(["cc", *flags, str(SOURCE), "-o", str(target), *wanted, "-lm"], check=True)
    return ctypes.CDLL(str(target))


def build() -> None:
    """Compile; the set-up of hand-written code."""
    library()


def solve(problem: Problem, tolerance: float, *, order_8: bool = False) -> "Array":
    """The states at the sample times, in the order of the code in C; P1 by CVODE, or by a Runge-Kutta pair of order 8."""
    import numpy as np

    n = 2 if problem.name.startswith("P1") else 2 * problem.size
    out = np.empty((SAMPLES, n))
    if problem.name.startswith("P3"):
        library().ladder_by_taylor(
            problem.size, ctypes.c_double(problem.until), SAMPLES, ctypes.c_double(tolerance), _at(out)
        )
        return out
    constants = np.array([*problem.constants.values(), float(problem.size)])
    scale = np.array([1.0, 1.0]) if n == 2 else np.tile([1.0, 1e-3], problem.size)
    weights = np.ascontiguousarray(scale * tolerance)
    name = "chain_by_cvode" if n > 2 else "crank_by_order_8" if order_8 else "crank_by_cvode"
    run = getattr(library(), name)
    run(_at(constants), ctypes.c_double(problem.until), SAMPLES, ctypes.c_double(tolerance), _at(weights), _at(out))
    return out


def in_order(problem: Problem, found: "Array") -> "Array":
    """The states in the order of the problem: those of P2 alternate in the code in C."""
    import numpy as np

    return np.hstack([found[:, 1::2], found[:, 0::2]]) if problem.name.startswith("P2") else found


def _at(array: "Array") -> Any:
    return array.ctypes.data_as(ctypes.c_void_p)
