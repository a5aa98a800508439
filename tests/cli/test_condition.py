"""`tellegen condition`, `derive --form lagrange` and `simulate --as`."""

import json

import pytest

from tellegen.cli.main import run


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert run(list(arguments)) == 0
    return capsys.readouterr().out


def test_condition_prints_the_forms_side_by_side(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, "condition", "crank_rod", "--as", "residual,lagrange", "--until", "0.2", "--rtol", "1e-7")
    assert "residual" in text
    assert "2 (1 excess)" in text
    assert "hamilton" not in text


def test_condition_gives_json(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("--as", "parasitic,field", "--until", "0.2", "--stiffness", "1e8", "--set", "m_p=1", "--json")
    record = json.loads(printed(capsys, "condition", "crank_rod", *arguments))
    assert set(record["forms"]) == {"parasitic", "field"}
    assert record["reference"] == "field"
    assert record["forms"]["parasitic"]["error"] > record["forms"]["field"]["error"]


def test_condition_prints_equations(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, "condition", "crank_rod", "--as", "residual", "--equations")
    assert "lambda_m_p = b_lambda_m_p/(1/m_p + H^2/J_m)" in text
    latex = printed(capsys, "condition", "crank_rod", "--as", "hamilton", "--equations", "--latex")
    assert r"\begin{align*}" in latex
    record = json.loads(printed(capsys, "condition", "crank_rod", "--as", "hamilton", "--equations", "--json"))
    assert record["forms"]["hamilton"]["hamilton"]["x"] == ["theta", "p_omega"]


def test_condition_sizes_parasitic_elements(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("--as", "derivative,parasitic", "--until", "0.2", "--error", "1e-4", "--rtol", "1e-8", "--json")
    record = json.loads(printed(capsys, "condition", "crank_rod", *arguments))
    assert record["forms"]["parasitic"]["error"] <= 1e-4


@pytest.mark.parametrize(
    "arguments",
    [
        ("--stiffness", "1e6", "--error", "1e-3"),
        ("--equations",),
        ("--latex",),
        ("--as", "field", "--equations", "--latex", "--json"),
    ],
)
def test_options_that_exclude_each_other_are_wrong_usage(arguments: tuple[str, ...]) -> None:
    assert run(["condition", "crank_rod", *arguments]) == 2


def test_an_unknown_form_is_an_error_with_the_nearest_word(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["condition", "crank_rod", "--as", "hamiltonian"]) == 1
    assert "did you mean 'hamilton'" in capsys.readouterr().err


def test_simulate_runs_a_form(capsys: pytest.CaptureFixture[str]) -> None:
    record = json.loads(
        printed(capsys, "simulate", "crank_rod", "--as", "hamilton", "--until", "1", "--rtol", "1e-9", "--json")
    )
    assert record["final"]["theta"] == pytest.approx(53.4272962109, abs=1e-5)
    assert "p_IC_J_m" in record["final"]
    assert "lambda_m_p" in record["final"]


def test_derive_gives_the_lagrange_form(capsys: pytest.CaptureFixture[str]) -> None:
    record = json.loads(printed(capsys, "derive", "crank_rod", "--form", "lagrange", "--json"))
    assert record["M"] == [["J_m + H**2*m_p"]]
    assert "M q'' + C q' + R q' = K^T tau + J^T F" in printed(capsys, "derive", "crank_rod", "--form", "lagrange")
    assert "Artificial source 1" in printed(capsys, "derive", "crank_rod", "--form", "lagrange", "--steps")
    assert r"\mathbf{M}" in printed(capsys, "derive", "crank_rod", "--form", "lagrange", "--latex")
