"""Units as importers see them: FMPy runs them and compares, the standard's checkers read them."""

import subprocess
import sys
from collections.abc import Iterable
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
SHARE_OF_UNIT = 1e-2
ZERO = 1e-12


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


_MADE: dict[tuple[object, ...], tuple[str, bytes]] = {}


def exported(model: Any, folder: Path, version: str = "2", *, again: bool = False, **options: Any) -> Unit:
    """The unit of a model; one that another test has asked for is not compiled again, unless it is to be."""
    text = model.read_text(encoding="utf-8") if isinstance(model, Path) else model
    key = (text, version, *(f"{name}={value}" for name, value in sorted(options.items())))
    if again or key not in _MADE:
        (path,) = tg.export_model(model, "fmu", folder, fmi=version, **options)
        _MADE[key] = path.name, path.read_bytes()
        return Unit(path)
    name, content = _MADE[key]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content)
    return Unit(folder / name)


def worst(
    run: tg.Run, result: Any, names: Iterable[str], usual: tg.Run | None = None, of_others: float = SHARE_OF_UNIT
) -> tuple[float, str]:
    """The largest difference of a variable beside its own largest value, of the usual run where one is given, and where.

    A variable that is less than a share of the largest `of_others` with its unit, as a small difference of large forces is, is
    measured by that. What is zero but for rounding in both, such as the gap of a closed loop, does not differ.
    """
    assert len(result) == len(run.t)
    names = list(names)
    sizes = {name: float(np.max(np.abs((usual or run).values(name)))) for name in names}
    of_unit: dict[str, float] = {}
    for name, size in sizes.items():
        of_unit[run.unit(name)] = max(of_unit.get(run.unit(name), 0.0), size)
    found: list[tuple[float, str]] = []
    for name, size in sizes.items():
        values: npt.NDArray[np.float64] = np.asarray(result[name])
        scale = max(size, of_others * of_unit[run.unit(name)])
        if max(scale, float(np.max(np.abs(values)))) > ZERO:
            found.append((float(np.max(np.abs(run.values(name) - values))) / max(scale, ZERO), name))
    return max(found, default=(0.0, ""))
