"""The state-space form is the POG form solved for its rates, whatever stands in L."""

import json

import numpy as np
import pytest
from hypothesis import assume, given
from typer.testing import CliRunner

import tellegen as tg
from support import exact
from support.evaluated import legal
from support.networks import Network
from support.strategies import networks
from tellegen.cli.main import app
from tellegen.core.errors import TellegenError
from tellegen.equations.forms.state_space import StateSpaceForm, state_space
from tellegen.equations.matrices import Matrix
from tellegen.expressions import evaluate_exact
from tellegen.expressions.elimination import with_definitions
from tellegen.expressions.nodes import Expression
from tellegen.notations.reading import read_model

PRIME = (1 << 61) - 1


@given(networks())
def test_l_times_the_state_space_form_is_the_pog_form(network: Network) -> None:
    model = legal(network)
    assume(model.n > 0)
    found = state_space(model.system)
    values = dict(model.values)
    for name, e in found.where.items():
        values[name] = evaluate_exact(e, values)
    A, B = ([[evaluate_exact(e, values) for e in row] for row in found.matrices[name]] for name in ("A", "B"))
    assert exact.product(model.L, A, model.n) == [[-e for e in row] for row in model.A]
    assert exact.product(model.L, B, model.m) == model.B if model.m else not any(B)


def residues(matrix: Matrix, where: dict[str, Expression]) -> list[list[int]]:
    found = [[with_definitions(e, where).residues() for e in row] for row in matrix]
    assert all(pair is not None for row in found for pair in row)
    return [[pair[0] for pair in row if pair is not None] for row in found]


@pytest.mark.parametrize("name", ["crank_rod", "planar_robot", "pmsm", "planetary_gear", "solenoid", "cauer_low_pass"])
def test_moving_storages_are_solved_for_at_random_points(name: str) -> None:
    pog, found = tg.derive(name), tg.derive(name, form="ss")
    where = {**pog.where, **found.where}
    L, A, N = (residues(pog.matrices[m], where) for m in ("L", "A", "N"))
    x = residues(found.matrices["A"], where)
    f, shown = (residues((v,), where)[0] for v in (pog.vectors["f"], found.vectors["f"]))
    n = range(len(L))
    for i in n:
        for j in n:
            assert (sum(L[i][k] * x[k][j] for k in n) + A[i][j] + N[i][j]) % PRIME == 0
        assert (sum(L[i][k] * shown[k] for k in n) + f[i]) % PRIME == 0


def test_a_source_on_a_storage_keeps_its_rate() -> None:
    model = read_model("""
system: Divider
network:
  V:   {voltage source: [a, gnd]}
  C_1: {capacitor: [a, b]}
  C_2: {capacitor: [b, gnd]}
""")
    found = tg.derive(model, form="ss")
    assert "B_1 u'" in found.to_text()
    assert found.to_json()["B_1"] == [["C_1/(C_1 + C_2)"]]


def test_the_closed_loop_has_the_poles_of_its_pog_form() -> None:
    pog = tg.derive("dc_motor_speed_control", closed=True, numeric=True)
    found = tg.derive("dc_motor_speed_control", closed=True, numeric=True, form="ss")
    L, A = (np.array([[float(e.evaluate({})) for e in row] for row in pog.matrices[m]]) for m in ("L", "A"))
    x = np.array([[float(e.evaluate({})) for e in row] for row in found.matrices["A"]])
    assert np.sort_complex(np.linalg.eigvals(x)) == pytest.approx(
        np.sort_complex(np.linalg.eigvals(-np.linalg.solve(L, A)))
    )


def test_the_command_prints_text_latex_and_json() -> None:
    run = CliRunner().invoke
    text = run(app, ["derive", "rlc", "--form", "ss"]).output
    assert "x' = A x + B u,   y = [C] x   (in [ ]: letters of the form, which the model has too)" in text
    assert "-R/L" in text
    assert r"\mathbf{A}" in run(app, ["derive", "rlc", "--form", "ss", "--latex"]).output
    record = json.loads(run(app, ["derive", "rlc", "--form", "ss", "--json"]).output)
    assert record["sign"] == "+"
    assert record["A"] == [["-R/L", "-1/L"], ["1/C", "0"]]


def test_rows_may_be_chosen_and_wrong_ones_are_told() -> None:
    found = tg.derive("rlc", form="ss", outputs=("V_R",))
    assert found.outputs == ("V_R",)
    assert isinstance(found, StateSpaceForm)
    with pytest.raises(TellegenError, match="V_Q"):
        tg.derive("rlc", form="ss", outputs=("V_Q",))


def test_two_coupled_coils_have_the_rates_that_numpy_finds() -> None:
    model = read_model("""
system: Coils
parameters: {L_1: 2 H, L_2: 3 H, M: 1 H, R: 5 ohm}
network:
  V: {voltage source: [a, gnd]}
  R: {resistor: [a, b], R: R}
  coils: {inductor field: [b, gnd, c, gnd], matrix: [[L_1, M], [M, L_2]]}
  R_2: {resistor: [c, gnd], R: R}
""")
    found = tg.derive(model, form="ss", numeric=True)
    values = [[float(e.evaluate({})) for e in row] for row in found.matrices["A"]]
    assert np.array(values) == pytest.approx(-np.linalg.inv([[2, 1], [1, 3]]) @ np.diag([5, 5]))
