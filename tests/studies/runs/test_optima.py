"""Optima of circuits and drives against closed forms: values, multipliers, bounds, draws; by slopes and by evolution."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tellegen as tg
from tellegen.core.errors import TellegenError
from tellegen.notations.reading import read_model

RINGING = read_model("""
system: A circuit that rings
parameters: {L: 10 mH, C: 10 uF, R: 10 ohm}
network:
  V: {voltage source: [a, gnd]}
  L: {inductor: [a, b], current: I}
  R: {resistor: [b, c]}
  C: {capacitor: [c, gnd], voltage: V_C}
signals:
  e: V - V_C
experiment: {until: 20 ms, inputs: {V: step(1 V)}}
""")
IMPEDANCE = np.sqrt(10e-3 / 10e-6)
RATE = 1.0 / np.sqrt(10e-3 * 10e-6)

DIVIDER = read_model("""
system: Voltages that add up
parameters: {a: 1 V, b: 1 V, c: 0 V}
network:
  E: {voltage source: [p, gnd], signal: '((a - b)^2/(1 V) + c)*min(1, t/(10 ms))'}
  R: {resistor: [p, n], R: 1 kohm}
  C: {capacitor: [n, gnd], C: 1 uF}
experiment: {until: 50 ms}
""")


def damping(overshoot: float) -> float:
    """The damping ratio of a second-order system with this overshoot."""
    logarithm = -np.log(overshoot)
    return float(logarithm / np.hypot(np.pi, logarithm))


def test_the_least_squared_error_of_a_step_is_at_half_the_critical_damping() -> None:
    # The integral of e^2 is (1 + 4 z^2)/(4 z w), which is least at z = 1/2, and 1/w there.
    best = tg.optimise(RINGING, {"R": ("1 ohm", "200 ohm")}, "rms(e)", starts=3, threads=1)
    assert best.values["R"] == pytest.approx(IMPEDANCE, rel=1e-5)
    assert best.objective == pytest.approx(np.sqrt(1.0 / RATE / 20e-3), rel=1e-5)
    assert best.method == "slopes"
    assert not best.findings
    assert not best.at_bounds
    assert np.allclose(best.ended, best.objective, rtol=1e-6), "all starts ended at the one minimum"
    assert best.run.values("V_C").max() == pytest.approx(1.0 + np.exp(-np.pi / np.sqrt(3.0)), rel=1e-4)


def test_an_overshoot_as_constraint_has_its_resistance_and_its_multiplier() -> None:
    # R = 2 z sqrt(L/C) for the damping of this overshoot; the multiplier is -dR/dM.
    exact = 2.0 * damping(0.05) * IMPEDANCE
    slope = IMPEDANCE * (damping(0.05001) - damping(0.04999)) / 1e-5
    for subject, goal, sign in (("max(V_C) <= 1.05 V", "R", -1), ("1.05 V = max(V_C)", "-2*R", 2)):
        best = tg.optimise(RINGING, {"R": (1, 200)}, goal, subject_to=[subject], starts=2, threads=1)
        assert best.values["R"] == pytest.approx(exact, rel=1e-5)
        (held,) = best.constraints
        assert held.active
        assert held.value == pytest.approx(1.05, rel=1e-6)
        assert held.multiplier == pytest.approx(sign * slope, rel=1e-3)


def test_a_constraint_that_does_not_matter_is_free_and_a_bound_that_does_is_named() -> None:
    best = tg.optimise(RINGING, {"R": (50, 200)}, "rms(e)", subject_to=["max(I) <= 1 A"], starts=2, threads=1)
    assert best.values["R"] == 50.0
    assert best.at_bounds == {"R": "low"}
    assert not best.constraints[0].active
    assert best.constraints[0].multiplier == 0.0


def test_two_free_names_meet_two_limits() -> None:
    # The peak of the current is sqrt(C/L) exp(-z acos(z)/sqrt(1 - z^2)), z the damping of this overshoot.
    z = damping(0.05)
    inductance = 10e-6 * (np.exp(-z * np.arccos(z) / np.sqrt(1.0 - z * z)) / 10e-3) ** 2
    found = tg.optimise(
        RINGING,
        {"R": (5, 500), "L": (1e-3, 0.1)},
        "-R",
        subject_to=["max(V_C) = 1.05", "max(I) = 10 mA"],
        starts=2,
        threads=1,
    )
    assert found.values["L"] == pytest.approx(inductance, rel=1e-4)
    assert found.values["R"] == pytest.approx(2.0 * z * np.sqrt(inductance / 10e-6), rel=1e-4)


def test_a_buffer_of_least_force_has_the_damping_of_the_books() -> None:
    buffer = read_model("""
system: A buffer
parameters: {m: 200 kg, k: 20 kN/m, b: 500 N*s/m}
network:
  m: {mass: [x], velocity: v}
  k: {spring: [x, frame], force: F_k}
  b: {damper: [x, frame], force: F_b}
signals:
  F: F_k + F_b
experiment: {until: 1 s, initial: {v: 2 m/s}}
""")
    stroke = "max(F_k)/k <= 100 mm"
    best = tg.optimise(buffer, {"k": (1e3, 1e6), "b": (10, 1e5)}, "max(F)", subject_to=[stroke], starts=2, threads=1)

    def product(z: float) -> float:
        """The largest force times the largest stroke over m v^2, of z < 1/2."""
        root = np.sqrt(1.0 - z * z)
        return float(np.exp(-z * np.arccos(z) / root)) * force(z)

    def force(z: float) -> float:
        t = np.linspace(0.0, 3.0, 30_001)
        root = np.sqrt(1.0 - z * z)
        x, v = (
            np.exp(-z * t) * np.sin(root * t) / root,
            np.exp(-z * t) * (np.cos(root * t) - z / root * np.sin(root * t)),
        )
        return float(np.max(x + 2.0 * z * v))

    dampings = np.linspace(0.395, 0.413, 37)
    products = [product(z) for z in dampings]
    assert best.objective * 0.1 / 800.0 == pytest.approx(min(products), rel=1e-5)
    assert best.values["b"] / (2.0 * np.sqrt(best.values["k"] * 200.0)) == pytest.approx(
        dampings[int(np.argmin(products))], abs=1e-3
    )
    # The product does not depend on the stroke: so the force falls as its reciprocal.
    assert best.constraints[0].multiplier == pytest.approx(best.objective / 0.1, rel=1e-3)


def test_evolution_finds_the_same_each_time_and_leaves_no_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    # The quickest circuit has the smallest inductor; the overshoot then decides the resistance.
    exact = 2.0 * damping(0.05) * np.sqrt(1e-3 / 10e-6)
    before: Any = np.random.get_state()
    asked = {"R": (1, 200), "L": ("1 mH", "50 mH")}
    found = [
        tg.optimise(RINGING, asked, "rms(e)", subject_to=["max(V_C) <= 1.05 V"], method="evolution", rtol=1e-6)
        for _ in range(2)
    ]
    assert found[0].values["R"] == pytest.approx(exact, rel=2e-3)
    assert found[0].values["L"] == pytest.approx(1e-3, rel=2e-3)
    assert found[0].values == found[1].values
    assert found[0].method == "evolution"
    after: Any = np.random.get_state()
    assert np.array_equal(after[1], before[1]), "the random numbers of others stay"
    assert not list(tmp_path.iterdir()), "no file is written"
    alone = tg.optimise(RINGING, {"R": (1, 200)}, "rms(e)", method="evolution", rtol=1e-6)
    assert alone.values["R"] == pytest.approx(IMPEDANCE, rel=1e-3), "along a single line"


def test_the_mean_and_a_quantile_over_draws_have_their_closed_forms() -> None:
    draws = 16
    over = {"b": tg.normal("2 V", "0.2 V")}
    values = tg.sweep(DIVIDER, over, draws=draws, threads=1, check="none").cases.values[:, 0]
    mean = tg.optimise(DIVIDER, {"a": (0, 5)}, "V_C", over=over, draws=draws, starts=2, threads=1)
    assert mean.values["a"] == pytest.approx(values.mean(), rel=1e-5)
    assert mean.objective == pytest.approx(values.var(), rel=1e-4)
    worst = tg.optimise(DIVIDER, {"a": (0, 5)}, "V_C", over=over, draws=draws, quantile=1.0, starts=2, threads=1)
    middle = 0.5 * (values.min() + values.max())
    assert worst.values["a"] == pytest.approx(middle, abs=2e-3), "the worst case is least half-way between the extremes"
    # Constraints hold in all draws.
    held = tg.optimise(
        DIVIDER, {"c": (-5, 5)}, "-c", subject_to=["V_C <= 3 V"], over=over, draws=draws, starts=2, threads=1
    )
    assert held.values["c"] == pytest.approx(3.0 - ((1.0 - values) ** 2).max(), rel=1e-5)


def test_slopes_that_lead_nowhere_give_way_to_evolution() -> None:
    quantised = read_model("""
system: A setpoint in steps
parameters: {a: 1.3 V, Q: 0.01 V}
network:
  E: {voltage source: [p, gnd], signal: u}
  R: {resistor: [p, n], R: 1 kohm}
  C: {capacitor: [n, gnd], C: 1 uF}
signals:
  u: {sample: (floor(a/Q)*Q - 2 V)^2/(1 V), every: 10 ms}
experiment: {until: 50 ms}
""")
    best = tg.optimise(quantised, {"a": (0, 5)}, "V_C", starts=2, threads=1, rtol=1e-6)
    assert best.method == "evolution"
    assert best.values["a"] == pytest.approx(2.0, abs=0.011)


def test_the_optimum_is_a_model_with_the_settings_of_its_runs(tmp_path: Path) -> None:
    best = tg.optimise(
        RINGING, {"R": (1, 200)}, "rms(e)", parameters={"L": "40 mH"}, until="40 ms", starts=1, threads=1
    )
    assert best.values["R"] == pytest.approx(np.sqrt(40e-3 / 10e-6), rel=1e-4)
    again = tg.simulate(tg.read(best.save(tmp_path / "best.yaml")), rtol=1e-8)
    assert again.t[-1] == pytest.approx(0.04)
    assert np.sqrt(np.trapezoid(again.values("e") ** 2, again.t) / 0.04) == pytest.approx(best.objective, rel=1e-2)
    assert tg.simulate(best.model).final()["V_C"] == pytest.approx(best.run.final()["V_C"], rel=1e-5)


@pytest.mark.parametrize(
    ("code", "free", "goal", "more"),
    [
        ("S302", {"R_x": (1, 2)}, "rms(e)", {}),
        ("S426", {}, "rms(e)", {}),
        ("S426", {"R": (2, 1)}, "rms(e)", {}),
        ("S426", {"R": 3}, "rms(e)", {}),
        ("S303", {"R": ("1 mH", "2 mH")}, "rms(e)", {}),
        ("S408", {"R": (1, 2)}, "rms(e_x)", {}),
        ("S408", {"R": (1, 2)}, "V_Q + e", {}),
        ("S416", {"R": (1, 2)}, "max(e", {}),
        ("S416", {"R": (1, 2)}, "R", {}),
        ("S416", {"R": (1, 2)}, "rms(e)", {"subject_to": ["max(V_C)"]}),
        ("S416", {"R": (1, 2)}, "rms(e)", {"subject_to": ["1 <= max(V_C) <= 2"]}),
        ("S416", {"R": (1, 2)}, "rms(e)", {"subject_to": ["1 <= 2"]}),
        ("S416", {"R": (1, 2)}, "rms(e)", {"subject_to": ["max(e) <= max(V_C)"]}),
        ("S303", {"R": (1, 2)}, "rms(e)", {"subject_to": ["max(V_C) <= 3 A"]}),
        ("S417", {"R": (1, 20)}, "rms(e)", {"subject_to": ["max(V_C) <= 1.05 V"], "starts": 1}),
        ("S409", {"R": (1, 2)}, "rms(e)", {"over": {"C": [1e-6, 2e-6]}}),
        ("S409", {"R": (1, 2)}, "rms(e)", {"quantile": 0.5}),
        ("S409", {"R": (1, 2)}, "rms(e)", {"quantile": 2.0, "over": {"C": tg.uniform(1e-6, 2e-6)}}),
        ("S426", {"R": (1, 2)}, "rms(e)", {"over": {"R": tg.uniform(1, 2)}}),
        ("S426", {"R": (1, 2)}, "rms(e)", {"starts": 0}),
        ("S407", {"R": (1, 2)}, "rms(e)", {"over": {"C": tg.normal(1e-6, -1)}}),
    ],
)
def test_wrong_requests_are_refused_with_their_codes(code: str, free: object, goal: str, more: dict) -> None:  # type: ignore[type-arg]
    with pytest.raises(TellegenError) as caught:
        tg.optimise(RINGING, free, goal, **more)  # type: ignore[arg-type]
    assert caught.value.code == code
    assert caught.value.finding.fix
