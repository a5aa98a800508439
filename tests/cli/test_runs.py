"""`tellegen simulate` and `tellegen analyse` as a user meets them."""

import json
from pathlib import Path

import pytest

import tellegen as tg
from command_line import record_of, tellegen
from tellegen.cli.options import with_plot_file
from tellegen.results import read_run
from tellegen.scenes.writers.scene_json import from_json


@pytest.fixture(autouse=True)
def own_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


# simulate


def test_simulate_prints_solver_final_values_and_books() -> None:
    found = tellegen("simulate", "dc_motor_pump")
    assert found.returncode == 0
    lines = found.stdout.splitlines()
    assert lines[0] == "DC motor driving a hydraulic pump"
    assert any(line.startswith("  solver ") and "(" in line for line in lines), "the solver, and why it was chosen"
    assert "at t = 0.5 s" in lines
    assert any(line.split() == ["V_a", "24", "V"] for line in lines)
    assert any(line.startswith("  residual") for line in lines)
    assert found.stderr == ""


def test_the_record_of_a_run() -> None:
    record = record_of("simulate", "dc_motor_pump", "--rtol", "1e-9")
    assert list(record) == ["solver", "setup_s", "solve_s", "steps", "rhs_calls", "final", "energy", "units"]
    sections = ["V_r", "Q_u", "E_m", "C_m", "C_p", "Q_p"]
    assert list(record["final"]) == ["I_a", "omega_m", "P_0", *sections, "V_a", "Q_0"]
    assert record["final"]["omega_m"] == pytest.approx(84.5362, abs=1e-3)
    assert list(record["energy"]) == ["stored", "supplied", "dissipated", "modulation", "impulsive", "residual"]
    assert abs(record["energy"]["residual"]) < 1e-6
    assert record["steps"] > 0


def test_steps_are_kept_or_limited() -> None:
    kept = record_of("simulate", "rlc", "--until", "10 ms", "--solver", "midpoint", "--step", "0.1 ms")
    assert kept["steps"] == 100
    limited = record_of("simulate", "rlc", "--until", "10 ms", "--solver", "cvode", "--max-step", "1e-5")
    assert limited["steps"] >= 1000


def test_set_takes_parameters_inputs_and_initial_values() -> None:
    given = ["--set", "R_a=700 mohm", "--set", "V_a=step(12 V)", "--set", "I_a=3 A", "--until", "1 us"]
    record = record_of("simulate", "dc_motor_pump", *given)
    assert record["final"]["V_a"] == 12.0
    assert record["final"]["I_a"] == pytest.approx(3.0, abs=0.02)
    with_parameter = record_of("simulate", "dc_motor_pump", "--set", "R_a=0.7", "--until", "2")
    expected = tg.simulate("dc_motor_pump", 2, parameters={"R_a": 0.7}).final()["I_a"]
    assert with_parameter["final"]["I_a"] == pytest.approx(expected, rel=1e-12)


def test_a_run_is_written_in_the_format_of_its_suffix(tmp_path: Path) -> None:
    found = tellegen("simulate", "rlc", "--samples", "10", "-o", "run.csv")
    assert found.returncode == 0
    assert found.stdout.splitlines()[-1] == "written to run.csv"
    assert read_run(tmp_path / "run.csv").names[:2] == ("I", "V_C")


def test_a_wrong_suffix_is_found_before_anything_is_simulated(tmp_path: Path) -> None:
    found = tellegen("simulate", "rlc", "-o", "run.xls")
    assert found.returncode == 1
    assert found.stderr.startswith("error X201: '.xls' files cannot be written")
    assert found.stdout == ""
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf", ".tex"])
def test_a_plot_is_written(suffix: str, tmp_path: Path) -> None:
    found = tellegen("simulate", "rlc", "--plot", f"run{suffix}", "--samples", "50")
    assert found.returncode == 0
    assert (tmp_path / f"run{suffix}").stat().st_size > 1000


def test_a_plot_without_a_name_is_named_like_the_model(tmp_path: Path) -> None:
    assert tellegen("simulate", "--plot", "rlc", "--samples", "50").returncode == 0
    assert [path.name for path in tmp_path.iterdir()] == ["rlc.png"]


def test_a_plot_of_an_unknown_kind_is_refused(tmp_path: Path) -> None:
    found = tellegen("simulate", "rlc", "--plot", "run.bmp")
    assert found.returncode == 1
    assert "error F104: figures are not written as '.bmp'" in found.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["simulate", "m", "--plot"], ["simulate", "m", "--plot=-"]),
        (["simulate", "m", "--plot", "--json"], ["simulate", "m", "--plot=-", "--json"]),
        (["simulate", "m", "--plot", "a.png"], ["simulate", "m", "--plot", "a.png"]),
        (["simulate", "--plot", "m.yaml"], ["simulate", "--plot=-", "m.yaml"]),
        (["simulate", "--plot", "rlc"], ["simulate", "--plot=-", "rlc"]),
    ],
)
def test_plot_takes_a_file_or_nothing(arguments: list[str], expected: list[str]) -> None:
    assert with_plot_file(arguments) == expected


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["--set", "R_b=1"], "S302", "did you mean 'R_a'?"),
        (["--set", "R_a=1 F"], "S303", "the parameter R_a is in"),
        (["--until", "5 V"], "S303", "the duration is in V"),
        (["--until", "-1"], "S105", "ends at t = -1 s"),
        (["--rtol", "0.5e-20"], "S104", "tolerance"),
        (["--solver", "euler"], "S103", "there is no solver 'euler'"),
        (["--samples", "0"], "S303", "samples is 0"),
    ],
)
def test_wrong_values_end_with_a_code(options: list[str], code: str, words: str) -> None:
    found = tellegen("simulate", "dc_motor_pump", *options)
    assert found.returncode == 1
    assert found.stderr.startswith(f"error {code}: ")
    assert words in found.stderr
    assert found.stdout == ""


def test_errors_are_json_where_that_is_asked_for() -> None:
    found = tellegen("simulate", "dc_motor_pump", "--solver", "euler", "--json")
    assert found.returncode == 1
    (finding,) = json.loads(found.stdout)["findings"]
    assert finding["code"] == "S103"


def test_a_setting_needs_an_equals_sign() -> None:
    found = tellegen("simulate", "dc_motor_pump", "--set", "R_a")
    assert found.returncode == 2
    assert "K=2e5" in found.stderr


def nothing_is_simulated(*_: object, **__: object) -> None:
    raise AssertionError("nothing should be simulated")


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--unit", "I_a=kg"], "D493"),
        (["--unit", "I_b=A"], "S201"),
        (["--plot", "run.gif"], "F104"),
        (["--plot", "nowhere/run.png"], "X202"),
        (["-o", "nowhere/run.csv"], "X202"),
    ],
)
def test_what_cannot_be_shown_is_refused_before_the_run(
    options: list[str], code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tellegen.experiments.simulating.integrate_graph", nothing_is_simulated)
    found = tellegen("simulate", "dc_motor_pump", *options)
    assert found.returncode == 1
    assert f"error {code}" in found.stderr


def test_a_steady_state_is_a_result() -> None:
    record = record_of("simulate", "dc_motor_pump", "--steady", "--set", "V_a=12")
    assert record["steady"]["V_a"] == 12
    assert set(record["power"]["given"]) == {"V_a"}
    text = tellegen("simulate", "dc_motor_pump", "--steady", "--unit", "omega_m=rpm").stdout
    assert any(line.split()[::2] == ["omega_m", "rpm"] for line in text.splitlines())
    assert tellegen("simulate", "dc_motor_pump", "--steady", "-o", "run.csv").returncode == 2


def test_a_run_may_start_in_steady_state() -> None:
    final = record_of("simulate", "dc_motor_pump", "--start", "steady", "--set", "V_a=12", "--until", "1 ms")["final"]
    steady = record_of("simulate", "dc_motor_pump", "--steady", "--set", "V_a=12")["steady"]
    assert final["omega_m"] == pytest.approx(steady["omega_m"], rel=1e-6)
    assert "error S306" in tellegen("simulate", "dc_motor_pump", "--start", "stedy").stderr


# analyse


def test_analyse_prints_poles_channels_and_power() -> None:
    found = tellegen("analyse", "dc_motor_pump")
    assert found.returncode == 0
    for words in ("-35.261 ± 4.806j", "stiffness ratio", "controllable  3 of 3", "V_a      gives", "R_a      takes"):
        assert words in found.stdout


def test_the_record_of_an_analysis() -> None:
    record = record_of("analyse", "dc_motor_pump")
    assert record["states"] == ["I_a", "omega_m", "P_0"]
    assert record["units"]["P_0"] == "Pa"
    assert [round(p["re"], 3) for p in record["poles"]] == [-35.261, -191.477]
    assert {(c["output"], c["input"]) for c in record["channels"]} == {
        (y, u) for y in ("I_a", "P_0") for u in ("V_a", "Q_0")
    }
    assert record["passive"] is True
    assert len(record["bode"]["frequency"]) == len(record["bode"]["channels"][0]["phase"]) == 100
    assert record["power"]["unit"] == "W"


def test_analyse_linearises_at_a_point() -> None:
    record = record_of("analyse", "crank_rod", "--at", "theta=90 deg", "--at", "omega=80")
    assert record["point"]["theta"] == pytest.approx(1.5707963)
    assert record["point"]["omega"] == 80.0
    assert record["states"] == ["omega", "theta"]


def test_analyse_says_when_a_point_is_needed() -> None:
    found = tellegen("analyse", "crank_rod")
    assert found.returncode == 1
    assert found.stderr.startswith("error E201: ")


def test_analyse_draws_a_bode_diagram(tmp_path: Path) -> None:
    assert tellegen("analyse", "rlc", "--plot", "bode.svg").returncode == 0
    assert "<svg" in (tmp_path / "bode.svg").read_text()


def test_analyse_draws_step_responses(tmp_path: Path) -> None:
    found = tellegen("analyse", "dc_motor_pump", "--step", "step.svg")
    assert found.stdout.splitlines()[-1] == "written to step.svg"
    assert "I_a" in (tmp_path / "step.svg").read_text(encoding="utf-8")


def test_curves_and_axes_of_a_plot_are_chosen(tmp_path: Path) -> None:
    chosen = ("simulate", "dc_motor_pump", "--samples", "50", "--force", "--plot", "run.json")
    assert tellegen(*chosen, "--curves", "I_a,omega_m", "--against", "P_0", "--max-width", "88 mm").returncode == 0
    scene = from_json((tmp_path / "run.json").read_text(encoding="utf-8"))
    assert scene.box.width == pytest.approx(88 / 25.4 * 96, abs=1e-3)
    assert {s.origin.element for s in scene.shapes if s.origin.part == "curve"} == {"I_a", "omega_m"}
    assert tellegen(*chosen, "--panels", "I_a; power.R_a,power.b_m").returncode == 0
    again = from_json((tmp_path / "run.json").read_text(encoding="utf-8"))
    assert {s.origin.port for s in again.shapes if s.origin.part == "frame"} == {"1", "2"}
    for words, code in (
        (["--curves", "I_b"], "S201"),
        (["--against", "I_b"], "S201"),
        (["--panels", "I_a,P_0"], "S210"),
    ):
        found = tellegen(*chosen, *words)
        assert found.returncode == 1
        assert found.stderr.startswith(f"error {code}: ")
    assert tellegen("simulate", "rlc", "--curves", "I").returncode == 2, "without --plot"


def test_analyse_draws_a_map_of_poles(tmp_path: Path) -> None:
    found = tellegen("analyse", "dc_motor_pump", "--map", "map.svg", "--theme", "mono")
    assert found.stdout.splitlines()[-1] == "written to map.svg"
    assert "poles" in (tmp_path / "map.svg").read_text(encoding="utf-8")
    assert "error F104" in tellegen("analyse", "dc_motor_pump", "--step", "step.gif").stderr


def test_analyse_finds_poles_near_a_point() -> None:
    record = record_of("analyse", "dc_motor_pump", "--poles", "1", "--near", "-200")
    assert record["poles"][0]["re"] == pytest.approx(-191.477, abs=1e-3)


@pytest.mark.parametrize("count", ["0", "-1"])
def test_at_least_one_pole_is_asked_for(count: str) -> None:
    found = tellegen("analyse", "dc_motor_pump", "--poles", count)
    assert (found.returncode, found.stdout) == (2, "")
    assert "--poles" in found.stderr


def test_poles_of_a_controlled_plant_are_called_so() -> None:
    said = tellegen("analyse", "dc_motor_speed_control", "--poles", "1").stdout
    assert "poles of the plant, cut open at" in said
    assert "poles of the closed loop" in said
    assert "plant" not in tellegen("analyse", "dc_motor_pump", "--poles", "1").stdout


def test_a_few_poles_of_a_model_that_is_not_linear_hold_at_its_point() -> None:
    whole = record_of("analyse", "crank_rod", "--at", "theta=1")
    few = record_of("analyse", "crank_rod", "--at", "theta=1", "--poles", "1", "--near", "-5")
    assert len(few["poles"]) == 1
    assert few["poles"][0] == min(whole["poles"], key=lambda pole: abs(complex(pole["re"], pole["im"]) + 5))
    assert few["point"] == whole["point"]


FAILING = (
    "system: Braked\nparameters: {m: 1 kg, c: 1 N, v_0: 1 m/s}\nnetwork:\n  m: {mass: a, velocity: v}\n"
    "  F: {force source: [frame, a]}\n"
    "  b: {damper: [a, frame], law: F = c*sqrt(v/v_0)}\nexperiment: {until: 1 s, inputs: {F: -5 N}, initial: {v: 1 m/s}}\n"
)


def test_a_run_that_fails_is_written_as_far_as_it_came(tmp_path: Path) -> None:
    model, target = tmp_path / "braked.yaml", tmp_path / "run.csv"
    model.write_text(FAILING)
    done = tellegen("simulate", str(model), "-o", str(target))
    assert done.returncode == 1
    assert "error S109" in done.stdout
    saved = read_run(target)
    assert 0.1 < saved.t[-1] < 0.2
    assert saved.values("v")[-1] > 0
    record = json.loads(tellegen("simulate", str(model), "--json").stdout)
    assert record["status"] == "failed"
    assert record["findings"][0]["code"] == "S109"


FREE = (
    "system: Free\nparameters: {L: 10 mH, C: 10 uF, R: 1 kohm}\nnetwork:\n  L: {inductor: [a, gnd]}\n"
    "  C: {capacitor: [a, gnd], voltage: V_C}\n  R: {resistor: [a, gnd]}\n"
)


def test_a_model_without_inputs_has_poles_and_an_empty_transfer_matrix(tmp_path: Path) -> None:
    model = tmp_path / "free.yaml"
    model.write_text(FREE)
    found = json.loads(tellegen("analyse", str(model), "--json").stdout)
    assert found["poles"][0]["re"] == pytest.approx(-50)
    assert (found["zeros"], found["channels"]) == ([], [])
    assert json.loads(tellegen("derive", str(model), "--form", "tf", "--json").stdout)["G"] == []


def test_the_power_of_a_controlled_model_is_that_at_its_end() -> None:
    """The controller holds 200 rad/s against 0.1 N*m: 20 W, whatever the reference is at t = 0."""
    found = json.loads(tellegen("analyse", "dc_motor_speed_control", "--json").stdout)
    assert found["power"]["taken"]["tau_l"] == pytest.approx(20)


def test_a_run_whose_inputs_were_forgotten_says_that_nothing_moves(tmp_path: Path) -> None:
    model = tmp_path / "rc.yaml"
    model.write_text(
        "system: rc\nnetwork:\n  V: {voltage source: [a]}\n  R: {resistor: [a, b], R: 1 ohm}\n  C: {capacitor: [b], C: 1 F}\n"
    )
    told = "notice S209: nothing moves: the run starts at rest, and 'V' is zero throughout"
    assert told in tellegen("simulate", str(model), "--until", "1").stdout
    assert told not in tellegen("simulate", str(model), "--until", "1", "--set", "V=1").stdout
    assert told not in tellegen("simulate", str(model), "--until", "1", "--set", "V_C=1").stdout
