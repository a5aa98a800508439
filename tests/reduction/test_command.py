"""`tellegen reduce`: what it prints, what it writes, what it refuses."""

import json
from pathlib import Path

import pytest

import tellegen as tg
from tellegen.cli.main import run
from tellegen.expressions import is_zero, parse
from tellegen.reduction.steps import reduction_steps


def printed(capsys: pytest.CaptureFixture[str], *words: str, status: int = 0) -> str:
    assert run(["reduce", *words]) == status
    found = capsys.readouterr()
    return found.out if status == 0 or "--json" in words else found.err


def test_record_has_what_derive_has_and_the_transformation(capsys: pytest.CaptureFixture[str]) -> None:
    record = json.loads(printed(capsys, "dc_motor_pump", "--limit", "J_m=0", "--json"))
    assert record["states"] == ["I_a", "P_0"]
    assert record["T"] == [["1", "0"], ["K_m/b_m", "-K_p/b_m"], ["0", "1"]]
    assert record["T_u"] == [["0", "0"]] * 3
    assert is_zero(parse(record["recovered"]["omega_m"]) - parse("(K_m*I_a - K_p*P_0)/b_m"))
    assert len(record["removed_poles"]) == 1
    origin = record["origin"]
    assert origin["limits"] == {"J_m": "0"}
    assert origin["states"] == ["I_a", "omega_m", "P_0"]
    assert "J_m" not in record["parameters"]


def test_static_model_has_no_states_and_its_matrices(capsys: pytest.CaptureFixture[str]) -> None:
    limits = [w for name in ("K_se", "K_sr", "K_ce", "K_cr") for w in ("--limit", f"{name}=inf")]
    record = json.loads(printed(capsys, "corking_transmission", *limits, "--json"))
    assert record["states"] == []
    assert len(record["D"]) == len(record["D_1"]) == 4
    names = {*record["parameters"], *record["inputs"], *record.get("where", {}), *record["input_rates"]}
    for text in record["recovered"].values():
        assert parse(text.replace("**", "^")).free_symbols <= names


def test_names_in_the_record_are_defined_in_order(capsys: pytest.CaptureFixture[str]) -> None:
    record = json.loads(printed(capsys, "corking_shaft", "--limit", "K_se=inf", "--limit", "K_sr=inf", "--json"))
    known = {*record["parameters"], *record["states"], *record["inputs"]}
    for name, text in record["where"].items():
        assert parse(text.replace("**", "^")).free_symbols <= known
        known.add(name)


def test_sign_plus_negates_the_power_matrix(capsys: pytest.CaptureFixture[str]) -> None:
    record = json.loads(printed(capsys, "dc_motor_pump", "--limit", "J_m=0", "--sign", "+", "--json"))
    assert record["sign"] == "+"
    assert is_zero(parse(record["A"][0][0].replace("**", "^")) + parse("R_a + K_m^2/b_m"))


def test_written_model_gives_the_same_equations(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "small.yaml"
    printed(capsys, "corking_shaft", "--limit", "K_se=inf", "--limit", "K_sr=inf", "-o", str(path))
    assert tg.derive(tg.read(path)).states == ("omega_te", "omega_tr")
    said = printed(capsys, "corking_shaft", "--limit", "K_se=inf", "-o", str(path), status=1)
    assert "D302" in said


def test_steps_are_the_six_of_the_procedure(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, "corking_shaft", "--limit", "K_se=inf", "--limit", "K_sr=inf", "--steps")
    titles = ["Power sections", "Elements at their limit", "Equations of the full model", "Static relations"]
    titles += ["Congruent transformation", "Reduced model"]
    assert all(f"{k}. {title}" in text for k, title in enumerate(titles, start=1))
    latex = printed(capsys, "corking_shaft", "--limit", "K_se=inf", "--limit", "K_sr=inf", "--steps", "--latex")
    assert r"\begin{bmatrix}" in latex
    record = json.loads(printed(capsys, "dc_motor_pump", "--limit", "J_m=0", "--steps", "--json"))
    assert [step["title"] for step in record["steps"]] == titles


def test_steps_of_a_static_model_show_what_is_left() -> None:
    limits = dict.fromkeys(("K_se", "K_sr", "K_ce", "K_cr"), float("inf"))
    text = str(reduction_steps(tg.reduce("corking_transmission", limits)))
    assert "no state is left" in text
    assert "with rates of the inputs" in text


def test_keep_chooses_states(capsys: pytest.CaptureFixture[str]) -> None:
    record = json.loads(printed(capsys, "two_mass_drive", "--limit", "K_s=inf", "--json"))
    assert record["states"][0].startswith("omega")
    other = next(s for s in record["origin"]["states"] if s not in record["states"] and s.startswith("omega"))
    kept = json.loads(printed(capsys, "two_mass_drive", "--limit", "K_s=inf", "--keep", other, "--json"))
    assert kept["states"] == [other]


def test_wrong_limits_end_with_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert "did you mean 'J_m'?" in printed(capsys, "dc_motor_pump", "--limit", "J_n=0", status=1)
    record = json.loads(printed(capsys, "dc_motor_pump", "--limit", "J_m=0", "--limit", "J_m=inf", "--json", status=1))
    assert record["findings"][0]["code"] == "T103"
