"""The wheel of this machine: installed where there is no compiler, it runs models all the same."""

from pathlib import Path

import pytest

from support.wheel import bare_environment, installed_wheel, quietly
from tellegen.simulation.solvers.sources import library_name

RUNS = (("dc_motor_pump",), ("buck_converter", "--until", "2e-5"), ("sampled_position_control", "--until", "0.02"))


@pytest.mark.slow
def test_a_wheel_runs_models_where_there_is_no_compiler(tmp_path: Path) -> None:
    python, package = installed_wheel(tmp_path)
    assert (package / "simulation" / "native" / library_name()).is_file()
    bare = bare_environment(tmp_path, PATH="/nowhere", CC="/nowhere/cc")
    for words in RUNS:
        said = quietly(str(python), "-m", "tellegen", "simulate", *words, **bare)
        assert "in Python, without a C compiler" in said
