"""Influence: Sobol's indices have their closed form, and slopes tell the same of a linear model."""

import numpy as np
import pytest

import tellegen as tg
from tellegen.core.errors import TellegenError
from tellegen.notations.reading import read_model

LINEAR = """
system: Weights that add up
parameters: {a: 1 V, b: 1 V, c: 1 V}
network:
  E:   {voltage source: [p, gnd], signal: a + 2*b + 3*c}
  R:   {resistor: [p, n], R: 1 kohm}
  C:   {capacitor: [n, gnd], C: 1 uF}
experiment: {until: 20 ms}
"""

PRODUCT = LINEAR.replace("a + 2*b + 3*c", "(a*b)/(1 V)")


def test_indices_of_a_linear_model_have_their_closed_form() -> None:
    vary = {"a": tg.normal(1, 0.1), "b": tg.uniform(0.5, 1.5), "c": tg.normal(1, 0.05)}
    found = tg.influence(read_model(LINEAR), vary, ["V_C"], draws=256, threads=1)
    parts = np.array([0.1**2, 4.0 / 12.0, 9.0 * 0.05**2])
    exact = parts / parts.sum()
    assert np.abs(found.first[0] - exact).max() < 0.05
    assert np.abs(found.total[0] - exact).max() < 0.05
    assert (found.first_bounds[0, :, 0] - 0.02 <= exact).all()
    assert (exact <= found.first_bounds[0, :, 1] + 0.02).all()
    assert found.runs == 5 * 256
    local = tg.influence(read_model(LINEAR), vary, ["V_C"], method="local")
    assert np.abs(local.first[0] - exact).max() < 1e-3


def test_what_acts_together_shows_in_the_total() -> None:
    vary = {"a": tg.uniform(-1, 1), "b": tg.uniform(-1, 1)}
    found = tg.influence(read_model(PRODUCT), vary, ["V_C"], draws=512, threads=1)
    assert np.abs(found.first).max() < 0.05
    assert np.abs(found.total - 1.0).max() < 0.1
    assert "in all" in str(found)
    assert found.plot().scene.shapes


@pytest.mark.parametrize("of", [["V_C"], ["V_C", "E"]])
def test_a_name_that_is_alone_has_the_whole_variance(of: list[str]) -> None:
    """Of each number, in the same shape as for several names; and a seed gives the same bounds again."""
    one, two = (
        tg.influence(read_model(LINEAR), {"b": tg.uniform(0.5, 1.5)}, of, draws=64, threads=1, seed=3) for _ in range(2)
    )
    assert one.first.shape == one.total.shape == (len(of), 1)
    assert one.first == pytest.approx(1.0, abs=0.1)
    assert one.first_bounds.shape == (len(of), 1, 2)
    assert one.to_json() == two.to_json()


def test_what_nothing_moves_has_no_shares() -> None:
    model = read_model(LINEAR.replace("a + 2*b + 3*c", "2 V"))
    found = tg.influence(model, {"b": tg.uniform(0.5, 1.5)}, ["V_C"], draws=16, threads=1)
    assert not found.first_bounds.any()


def test_indices_that_are_not_known_well_say_so() -> None:
    found = tg.influence(read_model(LINEAR), {"a": tg.normal(1, 1), "b": tg.normal(1, 1)}, ["V_C"], draws=16)
    assert [finding.code for finding in found.findings] == ["S428"]
    again = tg.influence(read_model(LINEAR), {"a": tg.normal(1, 1), "b": tg.normal(1, 1)}, ["V_C"], draws=16)
    assert again.first_bounds.tobytes() == found.first_bounds.tobytes(), "nothing is drawn that no seed decides"


def test_bad_requests_are_refused_before_any_run() -> None:
    with pytest.raises(TellegenError, match="S409"):
        tg.influence("dc_motor_pump", {"R_a": [1, 2]}, ["I_a"])
    with pytest.raises(TellegenError, match="S302"):
        tg.influence("dc_motor_pump", {"R_x": tg.uniform(1, 2)}, ["I_a"])
    with pytest.raises(TellegenError, match="S408"):
        tg.influence("dc_motor_pump", {"R_a": tg.uniform(0.4, 0.6)}, ["I_x"])
    with pytest.raises(TellegenError):
        tg.influence("dc_motor_pump", {"R_a": tg.uniform(0.4, 0.6)}, ["I_a"], method="global")  # type: ignore[arg-type]
    with pytest.raises(TellegenError):
        tg.influence("dc_motor_pump", {"J_m": tg.uniform(-1e-3, 1e-3)}, ["I_a"], draws=16)
