"""A system structure around a unit, judged by FMPy: its schemas read both files, and it runs the system."""

import zipfile
from pathlib import Path
from typing import Any

import fmpy.ssp.simulation
import fmpy.ssp.ssd
import numpy as np
import pytest

import tellegen as tg
from tellegen.core.shipped import example_names

pytestmark = pytest.mark.usefixtures("quick_units")

ROWS = 100


def exported(name: str, folder: Path, **options: Any) -> Path:
    (path,) = tg.export_model(name, "ssp", folder, **options)
    return path


def judged(name: str, folder: Path, **options: Any) -> None:
    path = exported(name, folder, **options)
    structure = fmpy.ssp.ssd.read_ssd(str(path))
    (component,) = structure.system.elements
    assert component.source == f"resources/{name}.fmu"
    with zipfile.ZipFile(path) as archive, archive.open(f"resources/{name}.ssv") as values:
        target = folder / "values.ssv"
        target.write_bytes(values.read())
    given = fmpy.ssp.ssd.read_ssv(str(target))
    parameters = tg.load(name).parameters
    assert {p.name.removeprefix("parameter.") for p in given.parameters} <= parameters.keys()


def test_fmpy_reads_and_runs_the_system(tmp_path: Path) -> None:
    # FMPy gives inputs of a system zeros: courses are inside.
    judged("dc_motor", tmp_path, sources="experiment")
    path = tmp_path / "dc_motor.ssp"
    until = 0.1
    result = fmpy.ssp.simulation.simulate_ssp(str(path), stop_time=until, step_size=until / ROWS)
    run = tg.simulate("dc_motor", until=until, times=result["time"], rtol=1e-10, progress=False)
    # FMPy writes what a step led to under the time of its beginning.
    off = np.abs(result["omega"][:-1] - run.values("omega")[1:])
    assert np.max(off) < 1e-7 * np.max(np.abs(run.values("omega")))


@pytest.mark.slow
@pytest.mark.parametrize("version", ["2", "3"])
@pytest.mark.parametrize("name", example_names())
def test_every_example_is_a_valid_structure(name: str, version: str, tmp_path: Path) -> None:
    judged(name, tmp_path, fmi=version, sources="experiment")
