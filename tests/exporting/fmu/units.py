"""Units as importers see them: FMPy runs them and compares, the standard's checkers read them."""

import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import fmpy
import numpy as np
import numpy.typing as npt
from fmpy.validation import validate_fmu

import tellegen as tg

ROWS = 200
LEAST = 1e-3


@dataclass(frozen=True)
class Unit:
    """A unit in a file."""

    path: Path

    @cached_property
    def description(self) -> Any:
        return fmpy.read_model_description(str(self.path))

    @cached_property
    def folder(self) -> str:
        """Unpacked once, for many runs."""
        return str(fmpy.extract(str(self.path), str(self.path.with_suffix(""))))

    def names(self, *causalities: str) -> list[str]:
        return [v.name for v in self.description.modelVariables if v.causality in causalities]

    @property
    def states(self) -> list[str]:
        return [d.variable.derivative.name for d in self.description.derivatives]

    def problems(self) -> list[str]:
        """What FMPy and the FMU Manipulation Toolbox find wrong."""
        program = Path(sys.executable).with_name("fmutool")
        done = subprocess.run(
            [program, "-input", self.path, "-check"], capture_output=True, text=True, check=False, timeout=120
        )
        said = [line for line in (done.stdout + done.stderr).splitlines() if line.startswith(("ERROR", "WARNING"))]
        assert "compliant" in done.stdout + done.stderr or said, done.stderr
        return [*validate_fmu(str(self.path)), *said]

    def run(self, until: float, *, kind: str = "CoSimulation", rows: int = ROWS, **more: Any) -> Any:
        # Rows at the times asked for, and no others.
        more.setdefault("record_events", False)
        return fmpy.simulate_fmu(
            self.folder, fmi_type=kind, stop_time=until, output_interval=until / rows, validate=False, **more
        )


def exported(model: Any, folder: Path, version: str = "2", **options: Any) -> Unit:
    (path,) = tg.export_model(model, "fmu", folder, fmi=version, **options)
    return Unit(path)


def largest(run: tg.Run, names: Iterable[str]) -> Mapping[str, float]:
    """The largest value among all variables of the same unit: what a quantity is measured by.

    Less than a thousandth counts as that, as it does for the absolute tolerance of a run: below it stand forces that are zero, and
    what a loop is still open by.
    """
    found: dict[str, float] = {}
    names = list(names)
    for name in names:
        unit = run.unit(name)
        found[unit] = max(found.get(unit, LEAST), float(np.max(np.abs(run.values(name)))))
    return {name: found[run.unit(name)] for name in names}


def worst(run: tg.Run, result: Any, names: Iterable[str]) -> tuple[float, str]:
    """The largest difference, of the largest value, and where. Rows at changes of mode are left out: either side may be shown."""
    names = list(names)
    scale = largest(run, names)
    changes = np.array([event.t for event in run.events])
    apart = np.array([not np.any(np.abs(changes - t) < 1e-9 * run.t[-1]) for t in run.t])
    found: list[tuple[float, str]] = []
    for name in names:
        values: npt.NDArray[np.float64] = np.asarray(result[name])
        assert len(values) == len(run.t)
        off = np.abs(run.values(name) - values)[apart]
        found.append((float(np.max(off, initial=0.0)) / scale[name], name))
    return max(found, default=(0.0, ""))
