"""The command line as a user meets it: arguments, two streams and an exit code."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from command_line import record_of, tellegen
from tellegen.cli.main import COMMANDS, run

TELLEGEN = [sys.executable, "-c", "from tellegen.cli.main import main; main()"]
NETLIST = "eV, 1, 2, En, V_a=10\neR, 1, 3, Kn, R_a=2\neL, 3, 2, Kn, L_a=0.1, Fn, I_L\n"


def tellegen_process(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command in an interpreter of its own."""
    return subprocess.run([*TELLEGEN, *arguments], capture_output=True, text=True, check=False, encoding="utf-8")


@pytest.fixture
def fight(tmp_path: Path) -> Path:
    path = tmp_path / "fight.yaml"
    path.write_text(
        "system: fight\nnetwork:\n  V_1: {voltage source: [a]}\n  V_2: {voltage source: [a]}\n  R: {resistor: [a], R: 1 ohm}\n",
        encoding="utf-8",
    )
    return path


# Help and usage


def test_help_lists_every_command() -> None:
    found = tellegen("--help")
    assert found.returncode == 0
    for command in (*COMMANDS, "--version"):
        assert command in found.stdout


def test_without_words_the_help_is_shown() -> None:
    found = tellegen()
    assert (found.returncode, found.stderr) == (2, "")
    assert found.stdout.split() == tellegen("--help").stdout.split()


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_a_command_has_an_example(command: str) -> None:
    found = tellegen(command, "--help")
    assert found.returncode == 0
    assert f"tellegen {command}" in found.stdout
    assert "Example" in found.stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_no_type_for_flags(command: str) -> None:
    found = tellegen(command, "--help")
    assert "bool" not in found.stdout
    assert "{" not in found.stdout


@pytest.mark.parametrize(
    ("words", "file"),
    [
        (["simulate", "rlc", "--samples", "2", "-o"], "run.csv"),
        (["simulate", "rlc", "--samples", "2", "--plot"], "run.svg"),
        (["analyse", "rlc", "--plot"], "bode.svg"),
        (["analyse", "rlc", "--step"], "step.svg"),
        (["draw", "rlc", "--as", "bond", "-o"], "rlc.svg"),
        (["report", "spring_damper", "-o"], "page.md"),
        (["reduce", "dc_motor_pump", "--limit", "J_m=0", "-o"], "small.yaml"),
        (["translate", "rlc", "bond", "-o"], "bond.yaml"),
        (["stiffen", "planetary_gear", "J_s", "-o"], "elastic.yaml"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else value,
)
def test_a_file_is_replaced_only_when_forced(words: list[str], file: str, tmp_path: Path) -> None:
    target = tmp_path / file
    target.write_text("mine", encoding="utf-8")
    refused = tellegen(*words, file, folder=tmp_path)
    assert (refused.returncode, target.read_text(encoding="utf-8")) == (1, "mine")
    assert f"error D302: '{file}' is there already" in refused.stderr
    assert "--force" in refused.stderr
    forced = tellegen(*words, file, "--force", folder=tmp_path)
    assert forced.returncode == 0, forced.stderr
    assert target.read_text(encoding="utf-8") != "mine"


def test_version_is_printed() -> None:
    found = tellegen("--version")
    assert (found.returncode, found.stdout.split()[0]) == (0, "tellegen")


def test_the_process_passes_on_streams_and_exit_code() -> None:
    good, bad = tellegen_process("derive", "rlc", "--json"), tellegen_process("derive", "rlcc")
    assert (good.returncode, good.stderr) == (0, "")
    assert json.loads(good.stdout)["states"] == ["I", "V_C"]
    assert (bad.returncode, bad.stdout) == (1, "")
    assert "did you mean 'rlc'?" in bad.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["derrive", "rlc"],
        ["derive"],
        ["derive", "rlc", "--form", "pogg"],
        ["derive", "rlc", "--sign", "*"],
        ["derive", "rlc", "--json", "--latex"],
        ["derive", "rlc", "--eliminate"],
        ["derive", "rlc", "--steps", "--form", "tf"],
        ["derive", "rlc", "--steps", "--numeric"],
        ["derive", "rlc", "--what"],
    ],
)
def test_wrong_usage_exits_with_two_and_explains(arguments: list[str]) -> None:
    found = tellegen(*arguments)
    assert found.returncode == 2
    assert found.stdout == ""
    assert found.stderr
    assert "Traceback" not in found.stderr


def test_a_word_that_is_none_of_an_option_is_told_those_that_are() -> None:
    told = " ".join(tellegen("derive", "rlc", "--form", "pogg").stderr.replace("│", " ").split())
    assert "Invalid value for '--form': 'pogg' is not one of 'pog', 'ph', 'lagrange', 'dae', 'tf', 'ss'." in told


# Examples, check, schema


def test_examples_are_listed_with_one_line_each() -> None:
    found = tellegen("examples")
    assert found.returncode == 0
    assert any(line.startswith("dc_motor_pump ") for line in found.stdout.splitlines())
    names = [example["name"] for example in record_of("examples")["examples"]]
    assert names == [line.split()[0] for line in found.stdout.splitlines()]


def test_check_of_a_good_model_exits_with_zero() -> None:
    found = tellegen("check", "dc_motor_pump")
    assert found.returncode == 0
    assert "no errors" in found.stdout
    assert "I_a, omega_m, P_0" in found.stdout


def test_check_of_a_bad_model_exits_with_one_and_names_the_line(fight: Path) -> None:
    found = tellegen("check", str(fight))
    assert found.returncode == 1
    assert "error K101" in found.stdout
    assert f"{fight}:4:3" in found.stdout


def test_check_prints_json_for_a_bad_model_too(fight: Path) -> None:
    found = tellegen("check", str(fight), "--json")
    assert found.returncode == 1
    record = json.loads(found.stdout)
    assert record["ok"] is False
    assert record["findings"][0]["code"] == "K101"


def test_schema_is_json() -> None:
    found = tellegen("schema")
    assert found.returncode == 0
    assert json.loads(found.stdout)["type"] == "object"


# Derive


def test_derive_prints_matrices() -> None:
    found = tellegen("derive", "dc_motor_pump")
    assert found.returncode == 0
    assert "⎡ L_a   0    0  ⎤" in found.stdout
    assert "K_p      1e-06  m^3/rad" in found.stdout
    assert "states (x)   I_a [A], omega_m [rad/s], P_0 [Pa]" in found.stdout


def test_parameters_keep_their_units_where_an_element_has_none_of_its_own(tmp_path: Path) -> None:
    text = "system: Motor\nparameters: {L: 2 mH, K: 0.06 N*m/A, J: 1e-4 kg*m^2}\npog:\n"
    rungs = ["section: [V, I]", "series: [L:L]", "connect: K", "parallel: [J:J]", "section: [omega, tau]"]
    (tmp_path / "motor.yaml").write_text(text + "".join(f"  - {rung}\n" for rung in rungs), encoding="utf-8")
    lines = tellegen("derive", str(tmp_path / "motor.yaml")).stdout.splitlines()
    assert [line.split() for line in lines[-3:]] == [
        ["L", "0.002", "H"],
        ["K", "0.06", "N*m/A"],
        ["J", "0.0001", "kg*m^2"],
    ]


def test_derive_keeps_to_ascii_where_the_terminal_does() -> None:
    found = tellegen("derive", "dc_motor_pump", encoding="ascii")
    assert found.returncode == 0
    assert found.stdout.isascii()
    assert "[ L_a   0    0  ]" in found.stdout


def test_derive_prints_the_record_of_the_contract() -> None:
    record = record_of("derive", "dc_motor_pump")
    assert list(record) == [
        "sign",
        "states",
        "inputs",
        "outputs",
        "parameters",
        "displacements",
        "L",
        "A",
        "B",
        "C",
        "D",
        "signals",
    ]
    assert record["signals"]["V_r"] == "I_a*R_a + K_m*omega_m"
    assert record["A"] == [["R_a", "K_m", "0"], ["-K_m", "b_m", "K_p"], ["0", "-K_p", "alpha_p"]]
    assert record["parameters"]["C_0"] == 2e-12


@pytest.mark.parametrize("arguments", [["--sign", "-"], ["--sign=-"], []])
def test_the_minus_sign_can_be_asked_for(arguments: list[str]) -> None:
    assert record_of("derive", "rlc", *arguments)["sign"] == "-"


def test_the_plus_sign_negates_the_power_matrix() -> None:
    assert record_of("derive", "rlc", "--sign", "+")["A"] == [["-R", "-1"], ["1", "0"]]


def test_derive_prints_latex() -> None:
    found = tellegen("derive", "rlc", "--latex")
    assert found.stdout.startswith("\\begin{align*}")


@pytest.mark.parametrize("form", ["pog", "ph", "dae", "tf"])
@pytest.mark.parametrize("output", ["", "--json", "--latex"])
@pytest.mark.parametrize("numeric", [[], ["--numeric"], ["--numeric", "--eliminate"]])
def test_every_form_prints_in_every_way(form: str, output: str, numeric: list[str]) -> None:
    found = tellegen("derive", "rlc", "--form", form, *numeric, *([output] if output else []))
    assert (found.returncode, found.stderr) == (0, "")
    assert found.stdout
    if output == "--json":
        json.loads(found.stdout)


def test_numeric_gives_the_sparse_descriptor_form_and_eliminate_the_matrices() -> None:
    sparse = record_of("derive", "rlc", "--numeric")
    assert sorted(e for _, _, e in sparse["E"]) == [1e-5, 0.01]
    assert record_of("derive", "rlc", "--numeric", "--eliminate")["A"] == [[20.0, 1.0], [-1.0, 0.0]]


def test_the_port_hamiltonian_form_prints_the_record_of_the_contract() -> None:
    record = record_of("derive", "dc_motor_pump", "--form", "ph")
    assert list(record) == ["x", "H", "grad_H", "J", "R", "g", "u", "y", "parameters", "signals"]
    assert record["J"] == [["0", "-K_m", "0"], ["K_m", "0", "-K_p"], ["0", "K_p", "0"]]
    shared = record_of("derive", "cauer_low_pass", "--form", "ph")
    assert shared["x"] == ["q_C1", "phi_L1", "q_C3", "phi_L2", "q_C5"]
    assert shared["grad_H"] == ["V_C1", "I_L1", "V_C3", "I_L2", "V_C5"]
    assert {"V_C1", "V_C3", "V_C5"} <= shared["where"].keys()


def test_the_port_hamiltonian_form_numbers_its_entries_where_asked() -> None:
    assert record_of("derive", "dc_motor", "--form", "ph", "--numeric")["R"] == [[0.8, 0.0], [0.0, 0.0002]]


def test_a_source_that_decides_the_output_of_a_storage_gives_the_descriptor_port_hamiltonian_form() -> None:
    record = record_of("derive", "stick_slip", "--form", "ph")
    assert (record["x"], record["multipliers"]) == (["v", "F_K", "F_belt"], ["F_belt"])
    assert record["E"] == [["m", "0", "0"], ["0", "1/K", "0"], ["0", "0", "0"]]


@pytest.mark.parametrize("output", ["", "--json", "--latex"])
@pytest.mark.parametrize("sign", ["-", "+"])
def test_steps_print_in_every_way(output: str, sign: str) -> None:
    found = tellegen("derive", "transformer_tank", "--steps", "--sign", sign, *([output] if output else []))
    assert (found.returncode, found.stderr) == (0, "")
    if output == "--json":
        assert len(json.loads(found.stdout)["steps"]) == 5
    elif not output:
        assert "V_C -> transformer -> R_s -> transformer -> V_C" in found.stdout


def test_steps_keep_to_ascii_where_the_terminal_does() -> None:
    found = tellegen("derive", "dc_motor_pump", "--steps", encoding="ascii")
    assert found.returncode == 0
    assert found.stdout.isascii()


# Errors


def test_a_mistyped_example_gets_the_nearest_name() -> None:
    found = tellegen("derive", "dc_moter")
    assert found.returncode == 1
    assert found.stdout == ""
    assert "did you mean 'dc_motor'?" in found.stderr


def test_errors_go_to_stderr_for_people_and_to_stdout_as_json_for_programs(fight: Path) -> None:
    people = tellegen("derive", str(fight))
    assert (people.returncode, people.stdout) == (1, "")
    assert "error K101" in people.stderr
    programs = tellegen("derive", str(fight), "--json")
    assert (programs.returncode, programs.stderr) == (1, "")
    assert json.loads(programs.stdout)["findings"][0]["code"] == "K101"


@pytest.mark.parametrize(
    "content", [b"", b"\xff\xfe", b"system: [", b"a: &x 1\nb: *x\n", b"system: x\nnetwork: {R: {law: 1}}\n"]
)
def test_no_file_leads_to_a_traceback(content: bytes, tmp_path: Path) -> None:
    for name in ("bad.yaml", "bad.txt"):
        path = tmp_path / name
        path.write_bytes(content)
        for command in ("check", "derive"):
            found = tellegen(command, str(path))
            assert found.returncode == 1, found.stdout + found.stderr
            assert "Traceback" not in found.stderr
            assert "internal error" not in found.stderr


def test_a_folder_is_not_a_model(tmp_path: Path) -> None:
    found = tellegen("check", str(tmp_path))
    assert found.returncode == 1
    assert "Traceback" not in found.stderr


def test_a_mistake_of_ours_is_a_sentence_and_an_exit_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken() -> None:
        raise RuntimeError("wheel fell off")

    monkeypatch.setattr("tellegen.cli.commands.files.built_in_systems", broken)
    monkeypatch.delenv("TELLEGEN_DEBUG", raising=False)
    assert run(["examples"]) == 3
    assert "internal error, please report it: RuntimeError: wheel fell off" in capsys.readouterr().err


@pytest.mark.skipif(os.name != "posix", reason="pipes of a POSIX shell")
def test_a_reader_that_leaves_early_is_no_error() -> None:
    process = subprocess.Popen([*TELLEGEN, "schema"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    complaint = process.stderr.read()
    process.stderr.close()
    assert (process.wait(), complaint) == (0, b"")


# Import


def test_import_writes_a_model_that_derive_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "circuit.txt").write_text(NETLIST, encoding="utf-8")
    found = tellegen("import", "circuit.txt", "-o", "circuit.yaml")
    assert (found.returncode, found.stdout) == (0, "written to circuit.yaml\n"), found.stderr
    assert tellegen("check", "circuit.yaml").returncode == 0
    again = tellegen("import", "circuit.txt", "-o", "circuit.yaml")
    assert again.returncode == 1
    assert "--force" in again.stderr
    assert tellegen("import", "circuit.txt", "-o", "circuit.yaml", "--force").returncode == 0


def test_import_without_a_target_prints_the_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "circuit.txt").write_text(NETLIST, encoding="utf-8")
    found = tellegen("import", "circuit.txt")
    assert found.returncode == 0
    assert "inductor" in found.stdout


@pytest.mark.parametrize(
    "words",
    [
        ["translate", "rlc", "bond"],
        ["stiffen", "planetary_gear", "J_s"],
        ["reduce", "dc_motor_pump", "--limit", "J_m=0"],
        ["reduce", "dc_motor_pump", "--order", "2"],
    ],
    ids=" ".join,
)
def test_a_model_is_written_or_printed_alike(words: list[str], tmp_path: Path) -> None:
    target = tmp_path / "model.yaml"
    found = tellegen(*words, "-o", str(target))
    assert found.returncode == 0, found.stderr
    assert found.stdout.splitlines()[-1] == f"written to {target}"
    assert tellegen(*words, "-o", "-").stdout.strip() == target.read_text(encoding="utf-8").strip()
    again = tellegen(*words, "-o", str(target))
    assert again.returncode == 1
    assert "error D302" in again.stderr
    assert "--force" in again.stderr


def test_an_import_as_json_says_the_model_and_where_it_went(tmp_path: Path) -> None:
    netlist, target = tmp_path / "rc.txt", tmp_path / "rc.yaml"
    netlist.write_text("eV, 1, a, En, V\neR, 1, 2, Kn, R_1=2\neC, 2, a, Kn, C_1=3\n", encoding="utf-8")
    assert record_of("import", str(netlist))["written"] is None
    record = record_of("import", str(netlist), "-o", str(target))
    assert record["written"] == str(target)
    assert target.read_text(encoding="utf-8") == record["model"]


# Closed loops


def test_derive_prints_the_closed_loop_in_every_way() -> None:
    record = record_of("derive", "dc_motor_speed_control", "--closed", "--json")
    assert record["states"] == ["I_a", "omega_m", "V_c_filter", "V_c_integral"]
    assert record["inputs"] == ["tau_l", "omega_ref"]
    assert r"\dot{V}_{\text{c,integral}}" in tellegen("derive", "dc_motor_speed_control", "--closed", "--latex").stdout
    assert "V_c_integral" in tellegen("derive", "dc_motor_speed_control", "--closed", "--numeric").stdout


def test_the_operating_point_of_a_closed_loop_is_given_by_name() -> None:
    at_rest = record_of("derive", "dc_motor_speed_control", "--closed", "--json")
    beyond = record_of("derive", "dc_motor_speed_control", "--closed", "--at", "omega_m=-5000", "--json")
    assert at_rest["A"][0][3] == "-1"
    assert beyond["A"][0][3] == "0"
    with_unit = record_of("derive", "dc_motor_speed_control", "--closed", "--at", "omega_m=-5e4 rpm", "--json")
    assert with_unit["A"][0][3] == "0"
    wrong = tellegen("derive", "dc_motor_speed_control", "--closed", "--at", "omega_m=x")
    assert "error S303: the value of omega_m uses 'x', which has no value" in wrong.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["--at", "omega_m=3"],
        ["--closed", "--at", "omega_m"],
        ["--closed", "--steps"],
    ],
)
def test_options_of_closed_loops_are_checked(arguments: list[str]) -> None:
    assert tellegen("derive", "dc_motor_speed_control", *arguments).returncode == 2
