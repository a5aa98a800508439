"""Starting loads no heavy library. Seconds are measured by the benchmarks; here it is asked what was loaded."""

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {"sympy", "numpy", "scipy", "pint", "xarray", "matplotlib"}

IMPORT = "import tellegen"
COMMAND = """
import contextlib, io, sys
from tellegen.cli.main import main
sys.argv = ["tellegen", *{words!r}]
with contextlib.redirect_stdout(io.StringIO()):
    try:
        status = main()
    except SystemExit as end:
        status = end.code
assert not status, status
"""


LATER = {f"tellegen.{layer}" for layer in ("reduction", "conditioning", "compiler", "simulation", "drawing")}
"""What a model is made into after it was found to be right."""


def loaded_by(code: str, among: set[str] = HEAVY) -> set[str]:
    """The libraries or layers that a fresh interpreter has loaded after running the code."""
    report = f"\nimport sys\nprint('loaded:', *({among!r} & sys.modules.keys()))"
    run = subprocess.run([sys.executable, "-c", code + report], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return set(run.stdout.splitlines()[-1].split()[1:])


SIMULATE = """
import tellegen
run = tellegen.simulate("rlc", samples=10)
assert run.values("I").shape == (11,)
"""


def test_a_simulation_loads_no_library_that_only_shows_results() -> None:
    assert loaded_by(SIMULATE) <= {"numpy", "scipy"}


def test_importing_tellegen_loads_no_heavy_library() -> None:
    assert not loaded_by(IMPORT)


@pytest.mark.parametrize(
    "words", [["--help"], ["examples"], ["check", "dc_motor_pump"], ["derive", "dc_motor_pump"]], ids=" ".join
)
def test_commands_load_no_heavy_library(words: list[str]) -> None:
    assert not loaded_by(COMMAND.format(words=words))


@pytest.mark.parametrize("words", [["examples"], ["check", "dc_motor_pump"]], ids=" ".join)
def test_looking_at_a_model_loads_no_later_layer(words: list[str]) -> None:
    assert not loaded_by(COMMAND.format(words=words), LATER)


def test_a_report_that_stands_still_loads_neither_exports_nor_studies(tmp_path: Path) -> None:
    words = ["report", "spring_damper", "-o", str(tmp_path / "report.html")]
    others = {
        "tellegen.exporting",
        "tellegen.studies.runs",
        "tellegen.reporting.live",
        "tellegen.reporting.study_reports",
    }
    assert not loaded_by(COMMAND.format(words=words), others)
