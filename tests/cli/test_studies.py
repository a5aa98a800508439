"""The commands of many runs."""

import json
from pathlib import Path

import numpy as np
import pytest

import tellegen as tg
from tellegen.cli.main import run
from tellegen.studies.runs.model_runs import ModelRuns
from tellegen.studies.runs.response import Response


def test_a_sweep_is_printed_as_text_and_as_json_and_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["sweep", "dc_motor_pump", "--vary", "R_a=0.3:0.7:5", "--keep", "max(I_a)", "--check", "none"]
    assert run(words) == 0
    assert "max(I_a)  A" in capsys.readouterr().out
    assert (
        run([*words, "--json", "-o", str(tmp_path / "s.csv"), "--plot", str(tmp_path / "s.svg"), "--over", "R_a"]) == 0
    )
    told = json.loads(capsys.readouterr().out)
    assert told["finished"] == 5
    assert told["keep"]["max(I_a)"]["unit"] == "A"
    assert told["keep"]["max(I_a)"]["quantiles"]["0.5"] == pytest.approx(37.166218, rel=2e-5)
    assert (tmp_path / "s.csv").read_text(encoding="utf-8").startswith("run,R_a,max(I_a),status")
    assert (tmp_path / "s.svg").exists()


def test_a_study_in_a_folder_is_resumed_by_its_name_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(tmp_path / "motor.study")
    words = [
        "sweep",
        "dc_motor_pump",
        "--vary",
        "R_a=normal(100 %, 5 %)",
        "--draws",
        "64",
        "--keep",
        "omega_m",
        "-o",
        folder,
    ]
    assert run(words) == 0
    first = capsys.readouterr().out
    assert run(["sweep", "--resume", folder]) == 0
    assert first.splitlines()[-1] == capsys.readouterr().out.splitlines()[-1]
    assert run([*words, "--seed", "3"]) == 1
    assert "S403" in capsys.readouterr().err
    assert run([*words, "--seed", "3", "--force"]) == 0


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["sweep", "dc_motor_pump"], 1, "S407"),
        (["sweep"], 2, "name a model"),
        (["sweep", "dc_motor_pump", "--vary", "R_x=1:2:3"], 1, "S302"),
        (["sweep", "dc_motor_pump", "--vary", "R_a=1:2:x"], 1, "S407"),
        (["sweep", "dc_motor_pump", "--vary", "R_a=gauss(1, 2)", "--draws", "4"], 1, "S407"),
        (["sweep", "dc_motor_pump", "--vary", "R_a=normal(1)", "--draws", "4"], 1, "S407"),
        (["sweep", "dc_motor_pump", "--vary", "R_a=1:2:3", "--plot", "x.svg", "--over", "R_q"], 1, "S408"),
        (["sweep", "dc_motor_pump", "--vary", "J_m=-1,-2", "--check", "none"], 1, "J_m"),
        (["sweep", "dc_motor_pump", "--vary", "J_m=1e-3,-2", "--check", "none", "--strict"], 1, "J_m"),
        (["sweep", "dc_motor_pump", "--vary", "J_m=1e-3,-2", "--check", "none"], 0, "1 failed"),
    ],
)
def test_exit_codes_say_what_happened(
    words: list[str],
    code: int,
    told: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(words) == code
    shown = capsys.readouterr()
    assert told in shown.out + shown.err


def test_a_fit_is_printed_written_and_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    t = np.linspace(0.0, 0.5, 51)
    machine = tg.simulate("dc_motor_pump", 0.5, times=t, parameters={"R_a": 0.6, "K_m": 0.14})
    lines = ["t,omega_m,I_a [mA]"]
    lines += [f"{x},{w},{1e3 * i}" for x, w, i in machine.table(["t", "omega_m", "I_a"]).tolist()]
    data, target, picture = str(tmp_path / "data.csv"), str(tmp_path / "fitted.yaml"), str(tmp_path / "fit.svg")
    Path(data).write_text("\n".join(lines), encoding="utf-8")
    words = ["fit", "dc_motor_pump", data, "--free", "R_a,K_m=0.05:0.3", "--check", data, "--profile", "R_a"]
    assert run([*words, "-o", target, "--plot", picture, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["values"] == pytest.approx({"R_a": 0.6, "K_m": 0.14}, rel=1e-4)
    assert told["checks"][0]["fit_percent"]["I_a"] > 99.9
    assert len(told["profile"]["values"]) == 21
    assert tg.read(target).parameters["R_a"].expression is not None
    assert Path(picture).exists()
    assert run(words) == 0
    assert "with 95 %" in capsys.readouterr().out
    assert run(["fit", "dc_motor_pump", data]) == 1
    assert "S426" in capsys.readouterr().err
    assert run(["fit", "dc_motor_pump", data, "--free", "R_a=1"]) == 1
    assert run(["fit", "dc_motor_pump", "--free", "R_a"]) == 1
    assert "S425" in capsys.readouterr().err


def test_influence_is_printed_and_drawn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [
        "influence",
        "dc_motor_pump",
        "--vary",
        "R_a=uniform(90 %, 110 %)",
        "--vary",
        "b_m=uniform(90 %, 110 %)",
        "--of",
        "I_a",
    ]
    assert run([*words, "--draws", "64", "--json", "--plot", str(tmp_path / "i.svg")]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["runs"] == 4 * 64
    assert 0.9 < sum(one["first"] for one in told["of"]["I_a"].values()) < 1.1
    assert (tmp_path / "i.svg").exists()
    assert run([*words, "--local"]) == 0
    assert "by slopes" in capsys.readouterr().out


def test_an_optimum_is_printed_as_text_and_as_json_and_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["optimise", "dc_motor_pump", "--free", "K_m=0.05:0.5", "--minimise", "-omega_m", "--starts", "1"]
    limited = [*words, "--subject-to", "max(I_a) <= 30 A"]
    assert run([*limited, "-o", str(tmp_path / "best.yaml"), "--plot", str(tmp_path / "run.svg")]) == 0
    assert "max(I_a) <= 30 A  30" in capsys.readouterr().out
    assert run([*limited, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["constraints"][0]["active"] is True
    best = tg.simulate(tmp_path / "best.yaml")
    assert best.values("I_a").max() == pytest.approx(30.0, rel=1e-3)
    assert best.final()["omega_m"] == pytest.approx(-told["objective"], rel=1e-5)
    assert run([*words, "--subject-to", "max(I_a)"]) == 1
    assert "S416" in capsys.readouterr().err
    assert run(["optimise", "dc_motor_pump", "--free", "K_m", "--minimise", "omega_m"]) == 1
    assert "S426" in capsys.readouterr().err


MOTOR = ["dc_motor_pump"]
VARIED = [*MOTOR, "--vary", "R_a=0.3:0.7:5"]
FITTED = [*MOTOR, "m.csv", "--free", "R_a"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["sweep", *VARIED, "--plot", "p.svg", "--over", "Q"], "S408"),
        (["sweep", *VARIED, "-o", "runs.xlsx"], "X201"),
        (["sweep", *VARIED, "-o", "no/such/runs.csv"], "X202"),
        (["sweep", *MOTOR, "--vary", "R_a=0.3:0.7:1000000000"], "S401"),
        (["sweep", "--resume", "a.study", "--draws", "8"], "exclude each other"),
        (["fit", *FITTED, "--profile", "K_m"], "S426"),
        (["fit", *FITTED, "--check", "volts.csv"], "S425"),
        (["fit", *FITTED, "--check", "none.csv"], "S411"),
        (["fit", *FITTED, "-o", "no/such/model.yaml"], "X202"),
        (["optimise", *MOTOR, "--free", "R_a=0.3:1", "--minimise", "I_a", "-o", "no/such/model.yaml"], "X202"),
        (["influence", *MOTOR, "--of", "I_a"], "no name varies"),
        (["influence", *MOTOR, "--vary", "R_a=normal(100 %, 5 %)"], "nothing is asked"),
    ],
)
def test_what_makes_no_sense_is_said_before_any_run(
    words: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("m.csv").write_text("t,I_a\n0,0\n0.1,20\n0.2,10\n", encoding="utf-8")
    Path("volts.csv").write_text("t,I_a [V]\n0,0\n0.1,20\n", encoding="utf-8")

    def ran(*_: object, **__: object) -> None:
        raise AssertionError("a run was made")

    for name in ("simulated", "make", "plan"):
        monkeypatch.setattr(ModelRuns, name, ran)
    monkeypatch.setattr(Response, "slopes", ran)
    before = sorted(tmp_path.iterdir())
    assert run(words) in (1, 2)
    assert said in " ".join(capsys.readouterr().err.split())
    assert sorted(tmp_path.iterdir()) == before
