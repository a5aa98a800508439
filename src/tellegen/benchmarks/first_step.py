"""How long does it take from the call of `simulate` to the first step, for a new model and for one in the cache?

Built-in examples, each in a process of its own in which another model has run, so that imports are done and solvers are compiled.
New: nothing of the model is in the cache. Cached: another process has simulated it before. Wall seconds are those before the solver
starts, CPU seconds those of a call so short that next to nothing comes after its first step; compilers' own are not among them.
Check: the run ends well.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from tellegen.benchmarks.harness import AbstractCase, Facts, Outcome, Row, Target, measure, row
from tellegen.description.opening import load
from tellegen.experiments.simulating import simulate
from tellegen.simulation.building_ahead import build_solvers_ahead
from tellegen.workflow.catalogue import examples

if TYPE_CHECKING:
    from tellegen.description import Model
    from tellegen.results.run import Run

FEW = ("dc_motor_pump", "buck_converter", "corking_machine", "andrews_squeezer")
ANOTHER = "rlc"
NEW, CACHED = Target(1.0), Target(0.05)
LEAST_DURATION = 1e-6
"""Of a run in s: what comes before its first step does not depend on it, and so soon no example has changed its mode often enough
for runs to be compared."""


@final
@dataclass(frozen=True)
class FirstStep(AbstractCase):
    """One example, new or cached."""

    name: str
    cached: bool

    def prepare(self) -> "Model":
        os.environ["TELLEGEN_CACHE"] = tempfile.mkdtemp(prefix="tellegen-bench-")
        _simulated(ANOTHER)
        build_solvers_ahead().join()
        if self.cached:
            text = f"from {__name__} import _simulated; _simulated({self.name!r})"
            subprocess.run([sys.executable, "-c", text], check=True, capture_output=True)
        return load(self.name)

    def work(self, given: "Model") -> "Run":
        return _simulated(given)

    def check(self, given: "Model", found: "Run") -> Facts:
        return {"ok": found.status == "finished", "check": found.status, "first_step_s": found.trajectory.setup_s}


def _simulated(model: "Model | str") -> "Run":
    return simulate(model, LEAST_DURATION, samples=1, progress=False)


def run(full: bool) -> Iterator[Row]:
    """Four examples; with `full`, all of them."""
    for name in [example.name for example in examples()] if full else FEW:
        for cached in (False, True):
            outcome = measure(FirstStep(name, cached), repeats=1, limit=60.0)
            label = f"{name}, {'cached' if cached else 'new'}"
            if isinstance(outcome, Outcome) and outcome.facts["ok"]:
                seconds = float(outcome.facts["first_step_s"])
                target = CACHED if cached else NEW
                yield Row(label, seconds=seconds, cpu=outcome.cpu, check="finished", target=target.judge(seconds))
            else:
                yield row(label, None, outcome)
