"""Octave as a judge: programs are written into one folder and run by one process."""

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tellegen.experiments.simulating import simulate
from tellegen.exporting.exports import simulink_files
from tellegen.model.model import Model
from tellegen.notations.loading import load
from tellegen.notations.reading import read_model

Array = NDArray[np.float64]

ROWS = 21
MOST_SECONDS = 400
"""What a process of Octave may compute. Time of the processor, not of the clock: other work on the machine does not count."""
MOST_CHANGES = 7
MOST_STEPS = 1000
PLAIN = 8_000
IMPLICIT = 6
"""A run is whole where our own solver needs no more than about so many steps in a program of so many characters (an implicit step
costs more), which most examples do. Longer ones last so many steps, or meet so many changes of mode: an interpreter takes its
time."""


@dataclass(frozen=True)
class Case:
    """A model, its programs, and how long it runs."""

    model: Model
    files: Mapping[str, str]
    until: float


def example(name: str, *, whole: bool = False) -> Case:
    """A built-in example, for as long as an interpreter can afford, or for the whole of its experiment."""
    model = load(name)
    files = simulink_files(model, name)
    if whole:
        return Case(model, files, experiment_until(model))
    program = files[f"{name}_run.m"]
    stiff = "Radau" in program
    run = simulate(model, samples=1, rtol=1e-9, solver="auto" if stiff else "runge-kutta")
    until = float(run.t[-1])
    cost = run.trajectory.steps * max(1.0, len(program) / PLAIN) * (IMPLICIT if stiff else 1)
    times = [event.t for event in run.events[MOST_CHANGES - 1 : MOST_CHANGES + 1]]
    if cost > MOST_STEPS and len(times) == 2:
        return Case(model, files, sum(times) / 2)
    return Case(model, files, until * min(1.0, MOST_STEPS / cost))


def text(name: str, source: str) -> Case:
    """A model as a text, for the whole of its experiment."""
    model = read_model(source)
    return Case(model, simulink_files(model, name), experiment_until(model))


def experiment_until(model: Model) -> float:
    """How long the experiment of a model lasts."""
    assert model.experiment.until is not None, "the models say how long they run"
    return model.experiment.until.evaluate({})


@dataclass
class OctaveRuns:
    """All cases in one process of Octave, run when the first result is asked for."""

    cases: Mapping[str, Case]
    folder: Path
    results: dict[str, tuple[list[str], Array, Array]] = field(default_factory=dict)
    output: str = ""

    def result(self, octave: str, name: str) -> tuple[list[str], Array, Array]:
        """Names, times and values of a case."""
        if not self.output:
            self._run(octave)
        assert name in self.results, self.output
        return self.results[name]

    def _run(self, octave: str) -> None:
        lines = []
        for name, case in self.cases.items():
            for file, program in case.files.items():
                (self.folder / file).write_text(program, encoding="utf-8")
            lines += [
                f"try, tic; [t, values, names] = {name}_run({case.until!r}, {ROWS});",
                f"  dlmwrite('{name}.csv', [t, values], 'precision', '%.17g');",
                f"  file = fopen('{name}.names', 'w'); fprintf(file, '%s\\n', names{{:}}); fclose(file);",
                f"  printf('{name}: %.1f s\\n', toc);",
                f"catch problem, printf('{name}: %s\\n', problem.message); end",
            ]
        self.output = run_octave(octave, self.folder, "\n".join(lines)) or "Octave said nothing"
        for name in self.cases:
            if (self.folder / f"{name}.names").exists():
                table = np.loadtxt(self.folder / f"{name}.csv", delimiter=",", ndmin=2)
                names = (self.folder / f"{name}.names").read_text(encoding="utf-8").split()
                self.results[name] = names, table[:, 0], table[:, 1:]


def run_octave(octave: str, folder: Path, script: str) -> str:
    """Run a script in a folder; gives what was printed.

    A shell sets the limit: a function that runs between fork and exec would stop linear algebra at work in another thread.
    """
    (folder / "driver.m").write_text(f"1;\n{script}\n", encoding="utf-8")
    made = subprocess.run(
        ["sh", "-c", f'ulimit -t {MOST_SECONDS}; exec "$0" --norc --quiet --no-gui driver.m', octave],
        cwd=folder,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    return made.stdout + made.stderr
