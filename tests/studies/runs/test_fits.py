"""Fits: parameters from records that were made with a model and noise; what the data tell, and what they do not."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tellegen as tg
from support.library_use import use
from tellegen.core.errors import TellegenError
from tellegen.notations.reading import read_model

TRUTH = {"R_a": 0.5, "K_m": 0.15, "J_m": 1e-3, "b_m": 2e-3}
AWAY = {"R_a": 0.8, "K_m": 0.09, "J_m": 1.5e-3, "b_m": 5e-3}
T = np.linspace(0.0, 0.5, 101)


def measured(
    names: tuple[str, ...] = ("I_a", "omega_m"), noise: float = 0.01, seed: int = 0, **more: Any
) -> dict[str, Any]:
    """A record of the motor, with noise of a share of each swing."""
    run = tg.simulate("dc_motor_pump", 0.5, times=T, rtol=1e-9, **more)
    numbers = np.random.default_rng(seed)
    columns = {n: run.values(n) for n in names}
    return {"t": T, **{n: v + noise * np.ptp(v) * numbers.standard_normal(len(v)) for n, v in columns.items()}}


def test_parameters_are_found_from_far_away_and_lie_in_their_intervals() -> None:
    fit = tg.fit("dc_motor_pump", measured(), list(TRUTH), parameters=AWAY)
    for name, (low, high) in fit.interval(0.999).items():
        assert low <= TRUTH[name] <= high
        assert 0.0 < fit.sd[name] < 0.1 * TRUTH[name]
    assert not fit.open
    assert not fit.findings
    assert abs(fit.chi2 / fit.dof - 1.0) < 1e-6, "the noise was estimated from the residuals"
    swing = np.ptp(tg.simulate("dc_motor_pump", 0.5, times=T).values("I_a"))
    assert fit.noise["I_a"] == pytest.approx(0.01 * swing, rel=0.3)
    assert fit.problem.runs < 40


def test_data_without_noise_give_the_parameters_back() -> None:
    fit = tg.fit("dc_motor_pump", measured(noise=0.0), list(TRUTH), parameters=AWAY)
    for name, value in TRUTH.items():
        assert fit.values[name] == pytest.approx(value, rel=1e-4)


def coverage(records: int, level: float = 0.9) -> float:
    """The share of intervals that hold the truth."""
    inside = 0
    model = tg.load("rlc")
    t = np.linspace(0.0, 2e-3, 41)
    exact = tg.simulate(model, 2e-3, times=t, rtol=1e-9).values("V_C")
    for seed in range(records):
        noisy = exact + 0.1 * np.random.default_rng(seed).standard_normal(len(t))
        found = tg.fit(model, {"t": t, "V_C": noisy}, ["R", "L"], parameters={"R": 25, "L": 8e-3}).interval(level)
        inside += sum(low <= truth <= high for (low, high), truth in zip(found.values(), (20.0, 10e-3), strict=True))
    return inside / (2 * records)


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    # 40 intervals of 90 %: fewer than 30 or all of them would happen once in a thousand times, and once in seventy.
    assert 0.75 <= coverage(20) <= 1.0


@pytest.mark.slow
def test_intervals_hold_the_truth_as_often_as_they_say_in_two_hundred_records() -> None:
    assert 0.92 <= coverage(200, 0.95) <= 0.98


def test_noise_is_given_in_units() -> None:
    data = {"t": T, "I_a": np.full(len(T), 40.0)}
    found = [tg.fit("dc_motor_pump", data, ["R_a"], noise={"I_a": size}).noise for size in (0.2, "200 mA")]
    assert found[0] == found[1] == {"I_a": 0.2}
    with pytest.raises(TellegenError, match="S303"):
        tg.fit("dc_motor_pump", data, ["R_a"]).interval(2.0)


def test_a_profile_that_meets_its_bounds_is_weak() -> None:
    fit = tg.fit("dc_motor_pump", measured(), {"R_a": (0.45, 0.5001), "K_m": None}, parameters={"R_a": 0.46})
    (found,) = fit.profile("R_a").findings
    assert found.code == "S422"
    assert "upper" in found.what
    assert not fit.profile("K_m").findings


def test_directions_that_the_data_leave_open_are_named_and_get_no_interval() -> None:
    names = [*TRUTH, "K_p", "C_0", "alpha_p"]
    fit = tg.fit("dc_motor_pump", measured(), names, parameters=AWAY)
    assert len(fit.open) == 1
    assert {"K_p", "C_0", "alpha_p"} <= fit.open[0].shares.keys()
    intervals = fit.interval()
    assert np.isnan(intervals["C_0"]).all()
    assert np.isfinite(intervals["R_a"]).all()
    assert "S421" in [finding.code for finding in fit.findings]
    assert "open" in str(fit)


def test_several_records_share_parameters_and_one_may_begin_elsewhere() -> None:
    first = measured(seed=1)
    second = measured(seed=2, initial={"I_a": 7.0}, inputs={"V_a": "step(12 V)"})
    records = [tg.record(first), tg.record(second, inputs={"V_a": "step(12 V)"}, free=["I_a"])]
    fit = tg.fit("dc_motor_pump", records, ["R_a", "K_m"], parameters={"R_a": 0.7, "K_m": 0.1})
    assert fit.values["I_a (record 2)"] == pytest.approx(7.0, abs=5 * fit.sd["I_a (record 2)"])
    assert fit.values["R_a"] == pytest.approx(0.5, abs=5 * fit.sd["R_a"])
    assert [set(one.fit_percent) for one in fit.records] == [{"I_a", "omega_m"}] * 2


def test_measured_inputs_drive_the_model_and_formulas_bring_names_of_their_own() -> None:
    volts = 24.0 * (T > 0.1) * (1.0 + 0.2 * np.sin(40.0 * T))
    run = tg.simulate("dc_motor_pump", 0.5, times=T, rtol=1e-9, inputs={"V_a": tg.table(T.tolist(), volts.tolist())})
    numbers = np.random.default_rng(5)
    seen = 2.0 * run.values("I_a") + 0.3 + 0.1 * numbers.standard_normal(len(T))
    data = {"t": T, "V_a": volts, "U": seen}
    formulas = {"U": "2*I_a + offset"}
    fit = tg.fit("dc_motor_pump", data, ["R_a", "offset"], measured=formulas, parameters={"R_a": 0.6})
    for name, truth in (("R_a", 0.5), ("offset", 0.3)):
        assert fit.values[name] == pytest.approx(truth, abs=5 * fit.sd[name])


def test_outliers_count_less_with_a_robust_loss() -> None:
    data = measured(("omega_m",))
    data["omega_m"][::17] += 60.0
    plain, robust = (
        tg.fit("dc_motor_pump", data, ["K_m"], loss=loss, noise={"omega_m": 1.0}) for loss in ("linear", "soft_l1")
    )
    assert abs(robust.values["K_m"] - 0.15) < 0.2 * abs(plain.values["K_m"] - 0.15)


def test_further_starts_find_the_lowest_of_several_valleys() -> None:
    t = np.linspace(0.0, 5e-3, 201)
    exact = tg.simulate("rlc", 5e-3, times=t, rtol=1e-9).values("V_C")
    data = {"t": t, "V_C": exact}
    far = {"C": 200e-6}
    found = tg.fit("rlc", data, {"C": ("1 uF", "400 uF")}, parameters=far, starts=32)
    assert found.values["C"] == pytest.approx(10e-6, rel=1e-3)


def test_what_the_model_misses_shows_in_the_residuals() -> None:
    fit = tg.fit("dc_motor_pump", measured(("omega_m",), noise=1e-4), ["K_m"], parameters={"J_m": 1.3e-3})
    assert "S423" in [finding.code for finding in fit.findings]


def test_a_fitted_model_is_a_file_and_is_checked_on_other_data(tmp_path: Path) -> None:
    fit = tg.fit("dc_motor_pump", measured(seed=1), list(TRUTH), parameters=AWAY)
    model = tg.read(fit.save(tmp_path / "fitted.yaml"))
    run = tg.simulate(model, 0.5, times=T)
    off = run.values("omega_m") - measured(noise=0.0)["omega_m"]
    assert np.abs(off).max() < 1.0
    (checked,) = fit.check(tg.record(measured(seed=9, inputs={"V_a": "step(12 V)"}), inputs={"V_a": "step(12 V)"}))
    assert checked.fit_percent["omega_m"] > 85.0
    assert fit.plot().panels
    profile = fit.profile("b_m")
    assert np.nanmin(profile.chi2) == pytest.approx(fit.chi2, rel=1e-3)
    assert profile.chi2[0] > fit.chi2 + 4.0
    assert profile.chi2[-1] > fit.chi2 + 4.0


def test_cells_may_be_empty_and_columns_have_units(tmp_path: Path) -> None:
    data = measured(noise=0.0)
    lines = ["t [ms],I_a [mA],omega_m"]
    lines += [
        f"{1e3 * t},{'' if k % 3 else 1e3 * i},{w}" for k, (t, i, w) in enumerate(zip(*data.values(), strict=True))
    ]
    file = tmp_path / "data.csv"
    file.write_text("\n".join(lines), encoding="utf-8")
    fit = tg.fit("dc_motor_pump", file, ["R_a"], parameters={"R_a": 0.7})
    assert fit.values["R_a"] == pytest.approx(0.5, rel=1e-4)
    assert fit.problem.count == 34 + 101


@pytest.mark.parametrize(
    ("data", "free", "more", "code"),
    [
        ({"t": T, "I_x": T}, ["R_a"], {}, "S420"),
        ({"t": T, "I_a": T}, [], {}, "S426"),
        ({"t": T, "I_a": T}, ["R_x"], {}, "S302"),
        ({"t": T, "I_a": T}, {"R_a": (1.0, 2.0)}, {}, "S426"),
        ({"t": T, "I_a": T}, {"R_a": (2.0, 1.0)}, {}, "S426"),
        ({"t": T, "I_a": T}, ["R_a"], {"loss": "square"}, "S426"),
        ({"t": T, "I_a": T}, ["R_a"], {"starts": 0}, "S426"),
        ({"t": T, "I_a": T}, ["R_a"], {"noise": {"I_a": -1.0}}, "S425"),
        ({"t": T, "I_a": T}, ["R_a"], {"noise": {"I_q": 1.0}}, "S420"),
        ({"t": T, "I_a": T}, ["R_a"], {"noise": {"I_a": "1 V"}}, "S303"),
        ({"t": T, "I_a": T}, ["R_a"], {"measured": {"U": "2*I_a"}}, "S420"),
        ({"t": T, "I_a": T}, {"R_a": (1.0,)}, {}, "S426"),
        ({"t": T[::-1], "I_a": T}, ["R_a"], {}, "S425"),
        ({"time": T, "I_a": T}, ["R_a"], {}, "S425"),
        ({"t": T, "I_a": ["x", *T[1:]]}, ["R_a"], {}, "S425"),
        ({"t": T, "I_a": ["nan", *T[1:]]}, ["R_a"], {}, "S425"),
        ({"t": T, "I_a": T[1:]}, ["R_a"], {}, "S425"),
        ({"t": T, "V_a": T}, ["R_a"], {}, "S425"),
        ({"t": T, "V_a": [None, *T[1:]], "I_a": T}, ["R_a"], {}, "S425"),
        ({"t": T - 1.0, "I_a": T}, ["R_a"], {}, "S425"),
        ([], ["R_a"], {}, "S425"),
    ],
)
def test_bad_data_and_free_names_are_refused_before_any_run(
    data: Any, free: Any, more: dict[str, Any], code: str
) -> None:
    with pytest.raises(TellegenError) as refused:
        tg.fit("dc_motor_pump", data, free, **more)
    assert refused.value.code == code
    assert refused.value.finding.fix


def test_columns_of_another_unit_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "data.csv"
    file.write_text("t,I_a [V]\n0,1\n1,2\n", encoding="utf-8")
    with pytest.raises(TellegenError) as refused:
        tg.fit("dc_motor_pump", file, ["R_a"])
    assert refused.value.code == "S425"


def test_a_model_that_samples_and_rounds_is_fitted_by_differences() -> None:
    t = np.linspace(0.0, 0.3, 61)
    run = tg.simulate("sampled_position_control", 0.3, times=t)
    fit = tg.fit(
        "sampled_position_control", {"t": t, "x": run.values("x")}, ["m_c"], parameters={"m_c": 2.4}, rtol=1e-6
    )
    assert fit.values["m_c"] == pytest.approx(2.0, rel=0.03)


def test_switches_beside_each_other_are_fitted() -> None:
    """Of two that are closed, one repeats the other: causality turns its law, and another value must not turn it back."""
    text = (
        "system: s\nparameters: {C: 1 mF, R: 1 ohm, R_on: 0.1 ohm}\nnetwork:\n  V: {voltage source: [p, gnd]}\n"
        "  S_1: {switch: [p, a], control: -1, R_on: R_on}\n  S_2: {switch: [a, p], control: 1, R_on: R_on}\n"
        "  D: {diode: [a, p], V_f: 1 V}\n  R: {resistor: [a, b]}\n  C: {capacitor: [b, gnd]}\nexperiment: {inputs: {V: 1 V}}\n"
    )
    t = np.linspace(0.0, 5e-3, 11)
    run = tg.simulate(read_model(text), 5e-3, times=t, parameters={"R_on": 0.4})
    assert tg.fit(read_model(text), {"t": t, "V_C": run.values("V_C")}, ["R_on"]).values["R_on"] == pytest.approx(0.4)


def test_switches_that_float_are_fitted_or_refused() -> None:
    """All that is open side by side imposes nothing, and causality turns a law: another value must not turn it back."""
    bridge = use("half_bridge", "dc: [p, n], out: a", "R: {resistor: [p, n], R: 1 ohm}")
    run = tg.simulate(bridge, 1e-3, samples=5)
    assert tg.fit(bridge, {"t": run.t, "power.R": run.values("power.R")}, ["p.R_on"]).findings


@pytest.mark.slow
def test_dense_measured_inputs_are_joined_smoothly_in_fewer_steps() -> None:
    t = np.linspace(0.0, 0.5, 2001)
    drive = 20.0 + 5.0 * np.sin(20.0 * t)
    run = tg.simulate("dc_motor_pump", 0.5, inputs={"V_a": "20 + 5*sin(20*t/(1 s))"}, times=t[::50], rtol=1e-9)
    compared = np.full(len(t), np.nan)
    compared[::50] = run.values("omega_m")
    data = {"t": t, "V_a": drive, "omega_m": compared}
    fits = {
        hold: tg.fit("dc_motor_pump", tg.record(data, hold=hold), ["R_a"], parameters={"R_a": 0.6})
        for hold in ("linear", "smooth")
    }
    for fit in fits.values():
        assert fit.values["R_a"] == pytest.approx(0.5, rel=1e-4)
    steps = {
        hold: fit.problem.records[0].runs.simulated([0.5], own_rows=True).trajectory.steps for hold, fit in fits.items()
    }
    assert steps["smooth"] < 0.7 * steps["linear"]
    (told,) = [finding for finding in fits["smooth"].findings if finding.code == "S429"]
    assert "V_a" in told.what
