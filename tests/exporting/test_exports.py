"""`export_model` and `tellegen export` as a user meets them: files, names, and what is refused with which words."""

from dataclasses import replace
from pathlib import Path

import pytest

from command_line import tellegen
from tellegen import ExportError, export_model, load
from tellegen.exporting.exports import simulink_files
from tellegen.exporting.matlab_program import program_name
from tellegen.exporting.simulink import quoted
from tellegen.notations.reading import read_model

RC = """
system: {title}
parameters: {{R: 2 ohm, C: 0.1 F}}
network:
  V: {{voltage source: [a, gnd]}}
  R: {{resistor: [a, b]}}
  C: {{capacitor: [b, gnd], voltage: V_C}}
experiment: {{until: 1 s, inputs: {{V: 3 V}}}}
"""


def test_an_export_is_three_programs_named_after_the_example(tmp_path: Path) -> None:
    found = export_model("rlc", "simulink", tmp_path / "new")
    assert [path.name for path in found] == ["rlc_parameters.m", "rlc_run.m", "rlc_build.m"]
    assert all(path.parent == tmp_path / "new" for path in found)


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("DC motor, 24 V", "dc_motor_24_v"),
        ("2 masses", "model_2_masses"),
        ("Motor für Öl", "motor_f_r_l"),
        ("%%%", "model"),
        ("x" * 100, "x" * 40),
    ],
)
def test_a_title_becomes_the_name_of_a_program(title: str, name: str) -> None:
    assert program_name(title) == name


def test_a_model_is_named_after_its_system_or_as_asked(tmp_path: Path) -> None:
    assert export_model(load("rlc"), "simulink", tmp_path)[1].name == "series_rlc_circuit_run.m"
    assert export_model(load("rlc"), "simulink", tmp_path, name="mine")[1].name == "mine_run.m"
    (tmp_path / "own model.yaml").write_text(RC.format(title="RC"), encoding="utf-8")
    assert export_model(tmp_path / "own model.yaml", "simulink", tmp_path)[1].name == "own_model_run.m"


def test_files_are_replaced_only_when_asked(tmp_path: Path) -> None:
    (tmp_path / "rlc_build.m").write_text("mine", encoding="utf-8")
    with pytest.raises(ExportError, match=r"X405: .*rlc_build\.m' is there already") as refused:
        export_model("rlc", "simulink", tmp_path)
    assert refused.value.finding.fix == "choose another folder, or force it (overwrite=True, --force)"
    assert [path.name for path in tmp_path.iterdir()] == ["rlc_build.m"]
    assert (tmp_path / "rlc_build.m").read_text(encoding="utf-8") == "mine"
    export_model("rlc", "simulink", tmp_path, overwrite=True)
    assert (tmp_path / "rlc_build.m").read_text(encoding="utf-8").startswith("function rlc_build")


def test_an_unknown_tool_is_refused_with_the_nearest_word(tmp_path: Path) -> None:
    with pytest.raises(ExportError, match="X403: models are not exported to 'Simulnk'") as refused:
        export_model("rlc", "Simulnk", tmp_path)
    assert refused.value.finding.fix == "did you mean 'simulink'?"
    with pytest.raises(ExportError) as refused:
        export_model("rlc", "labview", tmp_path)
    assert refused.value.finding.fix == "models are exported to simulink, fmu, python, c, modelica, ssp, slx"


def test_a_folder_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("", encoding="utf-8")
    with pytest.raises(ExportError, match=r"X404: .*rlc_parameters"):
        export_model("rlc", "simulink", tmp_path / "taken")


def test_delayed_signals_are_transport_delays() -> None:
    text = RC.format(title="RC").replace("[a, gnd]}", "[a, gnd], signal: late}", 1).replace(", inputs: {V: 3 V}", "")
    model = read_model(text + "signals:\n  late: {delay: 1 V - V_C, by: 0.1 s, initial: 0.5 V}\n")
    built = simulink_files(model, "late")["late_build.m"]
    (line,) = [line for line in built.splitlines() if "Transport Delay" in line]
    assert line.endswith("'DelayTime', '0.1', 'InitialOutput', '0.5');")


def test_too_many_modes_are_refused() -> None:
    diodes = "\n".join(f"  D_{k}: {{diode: [a, b]}}" for k in range(7))
    model = read_model(RC.format(title="RC").replace("  R: {resistor: [a, b]}", diodes))
    with pytest.raises(ExportError, match=r"X401: .* have 128 modes together, and at most 64 are exported"):
        simulink_files(model, "many")


def test_contents_that_are_not_linear_are_not_handed_over() -> None:
    text = RC.format(title="RC").replace("  R: {resistor: [a, b]}", "  S: {switch: [a, b], closed: [0.1 s]}")
    curved = text.replace("[b, gnd], voltage: V_C}", '[b, gnd], voltage: V_C, law: "Q = C*V + (1 C/V^3)*V^3"}')
    with pytest.raises(ExportError, match="X401: 'C' is not linear, and a change of mode would hand its content over"):
        simulink_files(read_model(curved), "curved")


def test_names_that_matlab_cannot_tell_apart_are_refused() -> None:
    text = RC.format(title="RC").replace("{R: 2 ohm,", "{end: 2 ohm, end_: 3 ohm,")
    model = read_model(text.replace("{resistor: [a, b]}", "{resistor: [a, b], R: end + end_}"))
    with pytest.raises(ExportError, match="X406: 'end' and 'end_' would both be 'end_' in MATLAB") as refused:
        simulink_files(model, "rc")
    assert refused.value.finding.fix == "give 'end_' another name"


SAMPLED_STOP = """\
system: Ball with a sampled push
parameters: {m: 0.1 kg}
displacements: {h: v}
network:
  push:   {force source: [ball, frame]}
  m:      {mass: [ball], velocity: v}
  ground: {hard stop: [frame, ball], gap: h, restitution: 0.8}
signals:
  seen: {sample: v, every: 10 ms}
experiment: {until: 1 s, inputs: {push: 1 N + seen*(1 N*s/m)}, initial: {h: 1 m}}
"""


def test_the_program_that_chooses_modes_is_told_what_samples_hold() -> None:
    files = simulink_files(read_model(SAMPLED_STOP), "ball")
    assert "[tg_mode, tg_x] = ball_modes(t, tg_x, tg_mode, [seen], []);" in files["ball_build.m"]
    assert files["ball_modes.m"].startswith(
        "function [tg_mode, tg_x] = ball_modes(tg_now, tg_x, tg_mode, tg_held, tg_late)"
    )


def test_a_model_with_modes_is_built_with_the_program_that_chooses_them() -> None:
    files = simulink_files(load("stick_slip"), "stick_slip")
    assert files.keys() == {f"stick_slip_{word}.m" for word in ("parameters", "run", "modes", "build")}
    assert "add_block" in files["stick_slip_build.m"]


@pytest.mark.parametrize("title", ["a'); delete('x", "100 % % of it", "{[(", "tab \t and \u00a0 and \u2028"])
def test_titles_stay_in_comments(title: str) -> None:
    model = read_model(RC.format(title="RC"))
    plain = simulink_files(model, "rc")
    odd = simulink_files(replace(model, name=title), "rc")
    for name, text in odd.items():
        code = [line for line in text.split("\n") if not line.startswith("%")]
        assert code == [line for line in plain[name].split("\n") if not line.startswith("%")]


def test_texts_of_matlab_hold_just_their_characters() -> None:
    assert quoted('it\'s\n100 % "x"') == "'it''s 100 % \"x\"'"


def test_the_command_writes_the_files_and_lists_them(tmp_path: Path) -> None:
    found = tellegen("export", "rlc", "--to", "simulink", "-o", str(tmp_path / "out"))
    assert found.returncode == 0, found.stderr
    files = [tmp_path / "out" / f"rlc_{part}.m" for part in ("parameters", "run", "build")]
    assert found.stdout.splitlines() == [f"written to {file}" for file in files]
    again = tellegen("export", "rlc", "--to", "simulink", "-o", str(tmp_path / "out"))
    assert (again.returncode, "X405" in again.stderr) == (1, True)
    forced = tellegen("export", "rlc", "--to", "simulink", "-o", str(tmp_path / "out"), "--force", "--json")
    assert '"files": ["' in forced.stdout


def test_the_command_names_the_nearest_tool(tmp_path: Path) -> None:
    found = tellegen("export", "rlc", "--to", "simulnk", "-o", str(tmp_path))
    assert found.returncode == 1
    assert "did you mean 'simulink'?" in found.stderr
