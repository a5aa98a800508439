"""Storages that follow a source: their forces contain the rate of an input, in every form that the model has."""

import numpy as np
import pytest

import tellegen as tg
from conditioning.models import BESIDE_A_SOURCE, DRIVEN_ARM, model_of

RTOL = 1e-9


@pytest.mark.parametrize("form", ["derivative", "residual", "field", "hamilton"])
def test_currents_of_capacitors_at_a_source_are_those_of_its_rate(form: str) -> None:
    """C_1 takes C_1 V' and C_4 takes C_4 (V - V_C_2)', whatever became of the loop beside them."""
    run = tg.simulate(tg.condition(model_of(BESIDE_A_SOURCE), form), rtol=RTOL, samples=40)
    plain = tg.simulate(model_of(BESIDE_A_SOURCE), rtol=RTOL, samples=40)
    assert run.values("V_C_2") == pytest.approx(plain.values("V_C_2"), abs=2e-5)
    rate = 10 * 2 * np.pi * 50 * np.cos(2 * np.pi * 50 * run.t)
    assert run.values("lambda_C_1") == pytest.approx(1e-6 * rate, abs=1e-6 * np.abs(1e-6 * rate).max())
    for name in ("C_3", "C_4"):
        taken = plain.values(f"I_{name}")
        assert run.values(f"lambda_{name}") == pytest.approx(taken, abs=1e-4 * np.abs(taken).max()), name


def test_the_rate_of_the_input_stands_in_the_printed_equations() -> None:
    model = model_of(BESIDE_A_SOURCE)
    assert "p_V_C_2' = C_4*V' + V/R - V_C_2*(1/R + 1/R_2)" in tg.condition(model, "field").to_text()
    assert tg.condition(model, "hamilton").to_json()["hamilton"]["g_1"] == [["C_4"]]  # type: ignore[index]
    assert "c_V_C_1 = V_C_1 - V" in tg.condition(model, "derivative").to_text()


def test_a_mechanism_at_a_given_speed_has_the_forms_that_need_no_rate() -> None:
    model = model_of(DRIVEN_ARM)
    rigid, elastic = (tg.simulate(tg.condition(model, f), rtol=1e-8, samples=20) for f in ("derivative", "parasitic"))
    assert elastic.values("link.phi") == pytest.approx(rigid.values("link.phi"), abs=1e-4)
    for force in tg.condition(model, "derivative").forces:
        carried = rigid.values(force)
        assert elastic.values(force) == pytest.approx(carried, abs=1e-3 * np.max(np.abs(carried))), force
    inertia = -0.3 * 2 * 2 * np.pi * np.cos(2 * np.pi * rigid.t)  # of the arm, at -2 sin(2 pi t) rad/s
    assert rigid.values("lambda_arm_J") == pytest.approx(inertia, abs=1e-4)


@pytest.mark.parametrize("form", ["residual", "field", "lagrange", "hamilton"])
def test_forms_that_need_the_rate_say_so_and_name_those_that_do_not(form: str) -> None:
    with pytest.raises(
        tg.ConditioningError, match=rf"C103: 'arm.J' follows the source 'speed', so the form {form} has"
    ) as raised:
        tg.condition(model_of(DRIVEN_ARM), form)
    assert "choose the form derivative or parasitic" in str(raised.value)
