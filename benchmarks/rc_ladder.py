"""How do the seconds of a whole simulation grow with the size of a model: RC ladder and RC mesh, from file to trajectory?

The ladder is the one published for ModelingToolkit, OpenModelica and Dymola (SciMLBenchmarks, RCCircuit): a sine source of 10 Hz,
R_i = 1/i, C_i = 1/i^2, v_i(0) = i, over 10 s. All in: the file with a repeated block is read, given causality, compiled with an
empty cache and solved at rtol = atol = 1e-6 for 100 output times, all states in memory. Error: the largest at the output times,
relative to 1 V plus the size of the state. Up to 1000 sections the reference is the sum of eigenvectors; beyond, and for meshes,
a run with CVODE at a tolerance a hundred times finer. The mesh has a capacitor at each of its nodes and a step at a corner, over
10 s.
"""

# ruff: noqa: PLC0415  what checks the result is loaded after the clock has stopped

import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from benchmarks.harness import (
    AbstractCase,
    Facts,
    Outcome,
    Row,
    Target,
    exponent,
    measure,
    row,
    written_file,
)
from benchmarks.mesh_check import mesh
from tellegen.experiments.simulating import simulate

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tellegen.results.run import Run

TOLERANCE = 1e-6
TIMES = 100
LARGEST_BY_MODES = 1000
FINER = 1e-2
FACTOR = 20
"""An error may be so many times the tolerance asked for."""


def ladder(n: int) -> str:
    """The file of the published ladder."""
    return f"""system: RC ladder
parameters: {{N: {n}}}
network:
  V: {{voltage source: ["n[0]", gnd]}}
  ladder:
    repeat: {{k: 1..N}}
    network:
      "R[k]": {{resistor: ["n[k-1]", "n[k]"], R: 1 ohm/k}}
      "C[k]": {{capacitor: ["n[k]", gnd], C: 1 F/k^2, initial: k*(1 V)}}
experiment: {{until: 10 s, inputs: {{V: "sine(1 V, 10 Hz)"}}}}
"""


def _simulated(path: Path, tolerance: float, solver: str = "auto") -> "Run":
    return simulate(path, rtol=tolerance, atol=tolerance, samples=TIMES, progress=False, solver=solver)


@final
@dataclass(frozen=True)
class WholeRun(AbstractCase):
    """A file simulated, everything included."""

    kind: str
    n: int

    def prepare(self) -> Path:
        import numpy as np  # imports are no part of the work
        import scipy.sparse.linalg

        os.environ["TELLEGEN_CACHE"] = tempfile.mkdtemp(prefix="tellegen-bench-")
        assert np.pi > scipy.sparse.linalg.norm(scipy.sparse.eye_array(1))
        text = (
            ladder(self.n)
            if self.kind == "ladder"
            else mesh(self.n) + 'experiment: {until: 10 s, inputs: {V: "step(1 V)"}}\n'
        )
        return written_file(text, ".yaml")

    def work(self, given: Path) -> "Run":
        return _simulated(given, TOLERANCE)

    def check(self, given: Path, found: "Run") -> Facts:
        import numpy as np

        y = found.trajectory.y
        if self.kind == "ladder" and self.n <= LARGEST_BY_MODES:
            exact = _by_modes(self.n, found.trajectory.t)
        else:
            exact = _simulated(given, TOLERANCE * FINER, "cvode").trajectory.y
        error = float((np.abs(y - exact) / (1 + np.abs(exact))).max())
        made = found.trajectory
        phases = {"setup_s": made.setup_s, "solve_s": made.solve_s, "error": error, "residual": found.energy.residual}
        text = f"{y.shape[1]} states, error {error:.0e}, books {found.energy.residual:.0e}, {made.solver}"
        return {"ok": error < FACTOR * TOLERANCE, "check": text, **phases}


def _by_modes(n: int, times: "NDArray[np.float64]") -> "NDArray[np.float64]":
    """C v' = -G v + b sin(w t): with D = sqrt(C) the matrix D^-1 G D^-1 is symmetric and tridiagonal."""
    import numpy as np
    from scipy.linalg import eigh_tridiagonal

    k = np.arange(1.0, n + 1)
    conductance, root = k, 1 / k
    diagonal = (conductance + np.append(conductance[1:], 0.0)) / root**2
    beside = -conductance[1:] / (root[:-1] * root[1:])
    rates, shapes = eigh_tridiagonal(diagonal, beside)
    start = shapes.T @ (root * k)
    push = shapes[0] * conductance[0] / root[0]
    omega = 2 * np.pi * 10
    decay = np.exp(-np.outer(times, rates))
    sine = (rates * np.sin(omega * times)[:, None] - omega * np.cos(omega * times)[:, None] + omega * decay) / (
        rates**2 + omega**2
    )
    found: NDArray[np.float64] = (start * decay + push * sine) @ shapes.T / root
    return found


LADDER_TARGETS = {1000: Target(1.0), 10_000: Target(5.0), 100_000: Target(60.0)}
MESH_TARGETS = {100: Target(15.0)}


def run(full: bool) -> Iterator[Row]:
    """Ladders of 10 to 1000 sections and a mesh of 30 by 30; with `full`, to 100 000 sections and 100 by 100."""
    sizes = (10, 100, 1000, *((10_000, 100_000) if full else ()))
    outcomes: dict[int, Any] = {}
    for n in sizes:
        outcomes[n] = measure(WholeRun("ladder", n), repeats=3 if n < 100_000 else 1, limit=300.0)
        yield row("RC ladder", n, outcomes[n], target=LADDER_TARGETS.get(n), memory=True)
    done = {n: o.cpu for n, o in outcomes.items() if isinstance(o, Outcome) and n >= 1000}
    if len(done) > 1:
        growth = exponent(list(done), list(done.values()))
        yield Row("RC ladder: exponent of growth", check=f"{growth:.2f}", target=Target(1.2, "").judge(growth))
    for n in (30, *((100,) if full else ())):
        yield row(
            f"RC mesh {n} x {n}",
            n * n,
            measure(WholeRun("mesh", n), limit=300.0),
            target=MESH_TARGETS.get(n),
            memory=True,
        )
