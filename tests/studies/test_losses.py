"""What a reduction costs on an experiment: closed forms, warnings, and the order of convergence."""

import json
import math

import numpy as np
import pytest

import tellegen as tg
from tellegen.model.model import Model
from tellegen.notations.reading import read_model
from tellegen.studies.losses import fitted_order, model_near_limit

SETTLING = """
system: mass in honey
parameters: {m: 0.1 kg, b: 2 N*s/m, k: 4 N/m}
network:
  F: {force source: [frame, body]}
  m: {mass: [body], velocity: v}
  b: {damper: [body, frame]}
  k: {spring: [body, frame], force: F_k}
experiment:
  until: 4 s
  inputs: {F: 1 N}
"""

WEIGHT = """
system: weight on a line
parameters: {m: 0.2 kg, g: 9.81 m/s^2, b: 3 N*s/m, J: 1 kg}
network:
  F: {force source: [frame, body], signal: m*g}
  m: {mass: [body], velocity: v}
  b: {damper: [body, other]}
  J: {mass: [other], velocity: v_J}
experiment: {until: 2 s}
"""


def honey(text: str = SETTLING) -> Model:
    return read_model(text)


def test_loss_of_a_massless_body_is_that_of_the_closed_form() -> None:
    # m v' + b v + k x = F from rest, against b v + k x = F: forces of the spring from the poles of either.
    m, b, k = 0.1, 2.0, 4.0
    loss = tg.trajectory_loss(honey(), {"m": 0})
    fast, slow = np.roots([m, b, k])
    t = np.linspace(0, 4, 200_001)
    full = 1 + (slow * np.exp(fast * t) - fast * np.exp(slow * t)) / (fast - slow)
    small = 1 - np.exp(-k / b * t)
    apart = np.abs(full - small)
    found = loss.variables["F_k"]
    assert found.largest == pytest.approx(apart.max(), rel=1e-4)
    assert found.relative == pytest.approx(apart.max() / np.abs(full).max(), rel=1e-4)
    assert found.at == pytest.approx(t[apart.argmax()], abs=0.01)
    assert found.rms == pytest.approx(math.sqrt(np.trapezoid(apart**2, t) / 4), rel=1e-3)
    assert not found.recovered
    assert loss.variables["v"].recovered


def test_start_away_from_the_constraint_is_a_warning_with_its_time_constant() -> None:
    loss = tg.trajectory_loss(honey(), {"m": 0})
    jumps = [f for f in loss.findings if f.code == "T302"]
    assert [f.where for f in jumps] == ["v"]
    assert "jumps by 0.5 m/s at t = 0 s" in jumps[0].what
    assert "time constant of 0.0564 s" in (jumps[0].fix or "")


def test_step_of_an_input_on_the_way_is_a_warning_at_its_time() -> None:
    loss = tg.trajectory_loss(honey(SETTLING.replace("F: 1 N", 'F: "step(1 N, 2 s)"')), {"m": 0})
    jumps = [f for f in loss.findings if f.code == "T302"]
    assert ["at t = 2 s" in f.what for f in jumps] == [True]


def test_smooth_input_from_rest_excites_nothing() -> None:
    loss = tg.trajectory_loss(honey(SETTLING.replace("F: 1 N", 'F: "ramp(1 N/s)"')), {"m": 0})
    assert not [f for f in loss.findings if f.code in ("T203", "T302")]


def test_slow_modes_removed_are_a_warning() -> None:
    codes = {f.code for f in tg.trajectory_loss("dc_motor_pump", {"J_m": 0}).findings}
    assert "T301" in codes
    assert "T301" not in {f.code for f in tg.trajectory_loss("crank_rod_elastic", {"K": "inf"}).findings}


def test_storage_that_freezes_need_not_be_fast() -> None:
    loss = tg.trajectory_loss("dc_motor_pump", {"J_m": "inf"})
    assert "T301" not in {f.code for f in loss.findings}
    assert loss.variables["omega_m"].relative == pytest.approx(1.0)  # it stands still


def test_reduction_and_limits_give_the_same_loss() -> None:
    reduction = tg.reduce("crank_rod_elastic", {"K": "inf"})
    one = tg.trajectory_loss("crank_rod_elastic", reduction, until=0.1)
    two = tg.trajectory_loss("crank_rod_elastic", {"K": "inf"}, until=0.1)
    assert one.variables == two.variables
    assert {name for name, loss in one.variables.items() if loss.recovered} == {"F_k", "v_p"}


def test_record_is_json_and_text_names_every_variable() -> None:
    loss = tg.trajectory_loss(honey(), {"m": 0})
    record = json.loads(json.dumps(loss.to_json(), allow_nan=False))
    assert record["limits"] == {"m": "0"}
    assert record["loss"]["F_k"]["unit"] == "N"
    assert all(name in str(loss) for name in loss.variables)


def test_given_values_reach_both_models() -> None:
    stiffer = tg.trajectory_loss("crank_rod_elastic", {"K": "inf"}, parameters={"K": 1e9}, until=0.5)
    softer = tg.trajectory_loss("crank_rod_elastic", {"K": "inf"}, until=0.5)
    assert stiffer.relative_rms < 0.05 * softer.relative_rms
    braked = tg.trajectory_loss("crank_rod_elastic", {"K": "inf"}, parameters={"b_m": 1}, until=0.5)
    assert braked.relative_rms < softer.relative_rms


# -- order of convergence --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("model", "limit"), [("dc_motor_pump", "J_m=0"), ("crank_rod_elastic", "K=inf")])
def test_regular_limits_are_of_order_one(model: str, limit: str) -> None:
    study = tg.reduction_study(model, [limit])
    assert study.settled
    assert study.order == pytest.approx(1.0, abs=0.03)
    assert all(order == pytest.approx(1.0, abs=0.03) for order in study.orders.values())


def test_undamped_ringing_lowers_the_order_to_one_half() -> None:
    # A torque that jumps at t = 0 lets the shaft ring: energy tau^2/(2 K) stays, so speeds differ by 1/sqrt(K) and the torque by 1.
    study = tg.reduction_study(
        "two_mass_drive", ["K_s=inf"], parameters={"d_s": 0}, until=0.2, factors=[1, 0.25, 1 / 16]
    )
    assert study.order == pytest.approx(0.5, abs=0.05)
    assert study.orders["tau_s"] == pytest.approx(0.0, abs=0.05)


def test_study_scales_the_storage_alone() -> None:
    # m is in the weight too, which stays: with the weight scaled as well the loss would not vanish with m.
    model = read_model(WEIGHT)
    scaled, name = model_near_limit(model, tg.reduce(model, {"m": 0}).limits)
    values = {e.name: e for e in scaled.elements}
    assert values["m"].value is not None
    assert name in values["m"].value.free_symbols
    assert values["F"].signal is not None
    assert name not in values["F"].signal.free_symbols
    study = tg.reduction_study(model, {"m": 0}, factors=[0.1, 0.05, 0.025])
    assert study.losses[-1].variables["v_J"].relative_rms < study.losses[0].variables["v_J"].relative_rms / 3.5


def test_relation_is_approached_from_the_value() -> None:
    model = read_model("""
system: two coils
parameters: {L_1: 1 H, L_2: 1 H, M: 0.5 H, R: 1 ohm}
network:
  V: {voltage source: [a, gnd]}
  R: {resistor: [a, b]}
  coils: {inductor field: [b, gnd, c, gnd], current: [I_1, I_2], matrix: [[L_1, M], [M, L_2]]}
  R_2: {resistor: [c, gnd], R: R}
experiment: {until: 2 s, inputs: {V: 1 V}}
""")
    study = tg.reduction_study(model, {"M": "L_1"}, factors=[0.02, 0.01, 0.005])
    assert study.losses[-1].relative_rms < 0.75 * study.losses[0].relative_rms


@pytest.mark.parametrize("factors", [[], [1], [0.5, 1], [1, 0], [1, -1], [1, math.nan]])
def test_factors_that_lead_nowhere_are_refused(factors: list[float]) -> None:
    with pytest.raises(tg.ReductionError) as error:
        tg.reduction_study("dc_motor_pump", ["J_m=0"], factors=factors)
    assert error.value.code == "T304"
    assert "1, 0.5, 0.25" in str(error.value)


def test_order_is_the_slope_of_what_can_be_measured() -> None:
    assert fitted_order([1, 0.5, 0.25], [4.0, 1.0, 0.25], 1e-9) == pytest.approx(2.0)
    assert fitted_order([1, 0.5, 0.25], [4.0, 1.0, 1e-12], 1e-9) == pytest.approx(2.0)
    assert math.isnan(fitted_order([1, 0.5], [1e-12, 1e-13], 1e-9))


def test_study_is_a_table_and_a_record() -> None:
    study = tg.reduction_study("crank_rod_elastic", ["K=inf"], factors=[1, 0.5], until=0.2)
    record = json.loads(json.dumps(study.to_json(), allow_nan=False))
    assert record["factors"] == [1, 0.5]
    assert len(record["relative_rms"]["omega"]) == 2
    assert str(study).splitlines()[2].split() == ["factor", *study.losses[0].variables]
