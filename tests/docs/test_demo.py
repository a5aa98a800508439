"""What `make demo` runs: the models of the corking machine one after the other, and where to go next."""

import io
import re
import shlex
import sys
from contextlib import redirect_stdout
from pathlib import Path

import pytest

import demo
import tellegen as tg
from command_line import tellegen
from tellegen.core.shipped import SYSTEMS

QUICK = ("examples", "derive", "reduce", "draw")
"""The commands named at the end that take a moment only; the others are run by pages of the documentation."""


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, list[object]]:
    """What the demo prints over the first part of the cycle, and the limits that its report is asked for."""
    folder = tmp_path_factory.mktemp("demo")
    text = (SYSTEMS / f"{demo.MODEL}.yaml").read_text(encoding="utf-8")
    short = folder / "machine.yaml"
    short.write_text(text.replace("until: 18 s", "until: 1 s"), encoding="utf-8")
    asked: list[object] = []

    def report(model: str, output: str, **options: object) -> None:
        Path(output).write_text("a page", encoding="utf-8")
        asked.append(options["limits"])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tg, "report", report)
        patch.setattr(sys, "argv", ["demo.py", str(short), str(folder / "report.html")])
        with redirect_stdout(io.StringIO()) as printed:
            assert demo.main() == 0
    assert (folder / "report.html").is_file()
    return printed.getvalue(), asked


def test_each_model_has_fewer_states_and_closed_books(told: tuple[str, list[object]]) -> None:
    assert re.findall(r"(\d+) states of the power equations", told[0]) == ["16", "12", "8", "8"]
    residuals = [abs(float(value)) for value in re.findall(r"residual (\S+)", told[0])]
    assert len(residuals) == 4
    assert max(residuals) < 1e-8


def test_errors_between_models_grow_with_what_is_left_out(told: tuple[str, list[object]]) -> None:
    errors = [float(value) for value in re.findall(r"x (\S+) m   theta", told[0])]
    assert len(errors) == 3
    assert 0 < errors[0] < errors[1] <= errors[2] < 1e-4


def test_the_report_shows_the_same_limits_one_after_the_other(told: tuple[str, list[object]]) -> None:
    assert told[1] == [[demo.NUTS, demo.BELTS, demo.INERTIAS]]
    assert demo.MODELS["static transmission"] == demo.NUTS | demo.BELTS | demo.INERTIAS


def test_what_comes_next_works(told: tuple[str, list[object]], tmp_path: Path) -> None:
    shown = [line.strip() for line in told[0].partition("Where to go next")[2].splitlines()]
    commands = [shlex.split(re.split(" {2,}", line)[0])[1:] for line in shown if line.startswith(".venv/bin/tellegen ")]
    assert len(commands) == 8
    for words in commands:
        if words[0] in QUICK:
            assert tellegen(*words, folder=tmp_path).returncode == 0, words
