"""The command `invert`: equations, runs, files, and what goes with what."""

import json
from pathlib import Path

import pytest

from tellegen.cli.main import run

COURSE = "omega=quintic(0, 100, from=0, to=0.5)"


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert run([*arguments]) == 0
    return capsys.readouterr().out


def test_names_give_equations_as_text_json_and_latex(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ("invert", "dc_motor", "--prescribe", "I", "--for", "V")
    assert "V = I*R + I_d_rate*L + K*omega" in printed(capsys, *asked)
    assert json.loads(printed(capsys, *asked, "--json"))["relative_degree"] == {"I": 1}
    assert printed(capsys, *asked, "--latex").startswith("\\begin{align*}\nV &=")


def test_courses_give_a_run_that_is_written_and_plotted(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    asked = ("invert", "dc_motor", "--prescribe", COURSE, "--for", "V", "--set", "tau=0", "--until", "0.6")
    table, picture = tmp_path / "run.csv", tmp_path / "run.svg"
    text = printed(capsys, *asked, "-o", str(table), "--plot", str(picture))
    assert "peak power" in text
    assert picture.read_text(encoding="utf-8").startswith("<")
    assert "omega_d" in table.read_text(encoding="utf-8").splitlines()[0]
    record = json.loads(printed(capsys, *asked, "--json"))
    assert record["sizes"]["V"]["peak"] > record["sizes"]["V"]["rms"] > 0
    assert record["remaining"] == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--prescribe", "omega", "--prescribe", "I=1", "--for", "V"], "'omega' has no course"),
        (["--prescribe", "omega", "--for", "V", "-o", "run.csv"], "names alone give equations"),
        (["--for", "V"], "--prescribe"),
    ],
)
def test_what_does_not_go_together_is_a_wrong_use(
    capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    assert run(["invert", "dc_motor", *arguments]) == 2
    told = capsys.readouterr()
    assert words in told.out + told.err
