"""The wheel of this machine: installed where there is no compiler, it runs models all the same."""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tellegen.simulation.solvers.sources import library_name

ROOT = Path(__file__).parents[2]
RUNS = (("dc_motor_pump",), ("buck_converter", "--until", "2e-5"), ("sampled_position_control", "--until", "0.02"))


def quietly(*command: str, **environment: str) -> str:
    found = subprocess.run(command, capture_output=True, text=True, check=False, env=environment or None)
    assert found.returncode == 0, found.stdout + found.stderr
    return found.stdout


@pytest.mark.slow
def test_a_wheel_runs_models_where_there_is_no_compiler(tmp_path: Path) -> None:
    quietly(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", str(tmp_path / "dist"), str(ROOT))
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    assert wheel.stem.endswith(sysconfig.get_platform().replace("-", "_").replace(".", "_")), "not for any machine"
    quietly(sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "venv"))
    (site,) = (tmp_path / "venv").glob("**/site-packages")
    quietly(sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(site), str(wheel))
    assert (site / "tellegen" / "simulation" / "native" / library_name()).is_file()
    # what Tellegen needs is taken from here; an editable Tellegen is not, for its own .pth is not read again
    (site / "beside.pth").write_text(sysconfig.get_path("purelib") + "\n")
    bare = {"PATH": "/nowhere", "CC": "/nowhere/cc", "HOME": str(tmp_path), "TELLEGEN_CACHE": str(tmp_path / "cache")}
    bare |= {name: os.environ[name] for name in ("SYSTEMROOT", "LD_LIBRARY_PATH") if name in os.environ}
    (python,) = (path for path in (tmp_path / "venv").glob("*/python*") if path.stem == "python")
    for words in RUNS:
        said = quietly(str(python), "-m", "tellegen", "simulate", *words, **bare)
        assert "in Python, without a C compiler" in said
