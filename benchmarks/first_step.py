"""How long does it take from the call of `simulate` to the first step, for a new model and for one in the cache?

Built-in examples, each in a process of its own in which another model has run, so that imports are done and solvers are compiled.
New: nothing of the model is in the cache. Cached: another process has simulated it before; the best of two. Wall seconds are those
before the solver starts, CPU seconds those of a call so short that next to nothing comes after its first step; compilers' own are
not among them. Check: the run ends well.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, final

from benchmarks.harness import AbstractCase, Facts, Outcome, Row, Stopped, Target, measure, row
from tellegen.experiments.simulating import simulate
from tellegen.notations.loading import load
from tellegen.simulation.solvers.library import build_solvers_ahead
from tellegen.workflow.files import examples

if TYPE_CHECKING:
    from tellegen.model.model import Model
    from tellegen.results.run import Run

FEW = ("dc_motor_pump", "buck_converter", "corking_machine", "andrews_squeezer")
OTHERS = ("rlc", "dc_motor")
"""One of them runs before: the second where the first is itself asked for."""
NEW, CACHED = Target(1.0), Target(0.05)
LEAST_DURATION = 1e-6
"""Of a run in s: what comes before its first step does not depend on it, and so soon no example has changed its mode often enough
for runs to be compared."""
LONGEST = 60.0


@final
@dataclass(frozen=True)
class FirstStep(AbstractCase):
    """One example, with what a folder has of it in the cache."""

    tells_times = True

    name: str
    other: str
    folder: str

    def prepare(self) -> "Model":
        os.environ["TELLEGEN_CACHE"] = self.folder
        _simulated(self.other)
        build_solvers_ahead().join()
        return load(self.name)

    def work(self, given: "Model") -> "Run":
        return _simulated(given)

    def check(self, given: "Model", found: "Run") -> Facts:
        return {"ok": found.status == "finished", "check": found.status, "first_step_s": found.trajectory.setup_s}


def _simulated(model: "Model | str") -> "Run":
    return simulate(model, LEAST_DURATION, samples=1, progress=False)


def run(full: bool) -> Iterator[Row]:
    """Four examples; with `full`, all of them."""
    with tempfile.TemporaryDirectory(prefix="tellegen-bench-") as folder:
        for other in OTHERS:  # compiles the solvers, once for all examples
            measure(FirstStep(other, other, str(Path(folder, other))), repeats=1, limit=LONGEST)
        for name in [example.name for example in examples()] if full else FEW:
            other = next(other for other in OTHERS if other != name)
            own = shutil.copytree(Path(folder, other), Path(folder, f"of {name}"))
            for label, repeats, target in (("new", 1, NEW), ("cached", 2, CACHED)):
                outcome = measure(FirstStep(name, other, str(own)), repeats=repeats, limit=LONGEST)
                yield _row(f"{name}, {label}", outcome, target)


def _row(label: str, outcome: Outcome | Stopped, target: Target) -> Row:
    if isinstance(outcome, Stopped) or not outcome.facts["ok"]:
        return row(label, None, outcome)
    seconds = float(outcome.facts["first_step_s"])
    return Row(label, seconds=seconds, cpu=outcome.cpu, check="finished", target=target.judge(seconds))
