"""Filters against SciPy, transformations of phases against their definition, noise against its statistics, limits and switching."""

import math
from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import signal

import tellegen as tg
from tellegen.exporting.python.functions import functions
from tellegen.notations.reading import read_model

CIRCUIT = """
network:
  V: {voltage source: [a], signal: y}
  R: {resistor: [a, b], R: 1 ohm}
  C: {capacitor: [b], C: 1 F}
"""


def model(lines: str, until: str = "0.1 s", parameters: str = "{}") -> tg.Model:
    signals = "".join(f"  {line}\n" for line in lines.splitlines())
    return read_model(
        f"system: x\nparameters: {parameters}\nsignals:\n{signals}{CIRCUIT}experiment: {{until: {until}}}\n"
    )


@pytest.mark.parametrize("order", [1, 2, 5, 10])
@pytest.mark.parametrize(("kind", "corner"), [("low", [100.0]), ("high", [100.0]), ("band", [80.0, 160.0])])
def test_a_filter_is_the_one_of_scipy(order: int, kind: Literal["low", "high", "band"], corner: list[float]) -> None:
    written = ", ".join(f"{f} Hz" for f in corner)
    run = tg.simulate(
        model(f"u: sine(1 V, 70 Hz)\ny: {{filter: u, corner: [{written}], order: {order}, pass: {kind}}}"),
        rtol=1e-8,
        samples=2000,
    )
    turning = [2 * np.pi * f for f in corner]
    b, a = signal.butter(order, turning if kind == "band" else turning[0], kind, analog=True)
    t = np.linspace(0.0, 0.1, 20001)
    _, wanted, _ = signal.lsim((b, a), np.sin(2 * np.pi * 70 * t), t)
    # Between two of its points SciPy takes the sine for a straight line.
    assert np.max(np.abs(np.interp(run.t, t, wanted) - run.values("y"))) < 3e-5


def test_transformations_of_phases_go_both_ways() -> None:
    lines = """theta: 3*t/(1 s) + 0.4
a: 2 V*cos(theta) + 0.5 V
b: 2 V*cos(theta - 2*pi/3) + 0.5 V
c: 2 V*cos(theta + 2*pi/3) + 0.5 V
phi: 5*t/(1 s)
d: {park: [a, b, c], angle: phi}
q: {park: [a, b, c], angle: phi, axis: q}
alpha: {clarke: [a, b, c]}
beta: {clarke: [a, b, c], axis: beta}
o: {park: [a, b, c], angle: phi, axis: zero}
again: {inverse park: [d, q], angle: phi, phase: c}
at_rest: {inverse park: [alpha, beta], phase: b}
y: again + o"""
    run = tg.simulate(model(lines, "2 s"))
    theta, phi = run.values("theta"), run.values("phi")
    wanted = {
        "d": 2 * np.cos(theta - phi),
        "q": 2 * np.sin(theta - phi),
        "alpha": 2 * np.cos(theta),
        "beta": 2 * np.sin(theta),
        "o": 0.5 + 0 * theta,
        "y": run.values("c"),
        "at_rest": run.values("b") - 0.5,
    }
    for name, values in wanted.items():
        assert run.values(name) == pytest.approx(values, abs=1e-12), name


def test_noise_is_normal_white_and_the_same_for_the_same_seed() -> None:
    def drawn(seed: str) -> np.ndarray:
        run = tg.simulate(model(f"y: {{noise: 2 V, every: 0.1 ms, seed: {seed}}}", "1 s"), samples=10_000)
        return np.asarray(run.values("y"))[1:]

    first, again, other = drawn("3"), drawn("3"), drawn("4")
    assert np.array_equal(first, again)
    # Deviations of a mean and of a variance of 10 000 numbers, five times over.
    assert abs(np.mean(first)) < 5 * 2 / 100
    assert np.std(first) == pytest.approx(2.0, rel=5 * 0.0071)
    assert np.quantile(np.abs(first), 0.6827) == pytest.approx(2.0, rel=0.05)
    for apart in (first[1:] * first[:-1], first * other):
        assert abs(np.mean(apart)) / 4 < 5 / 100


def test_a_duty_gives_its_share_of_each_period_switched_and_on_average() -> None:
    switched = tg.simulate(model("d: 0.2 + 2*t/(1 s)\ny: {pwm: d, every: 10 ms, height: 3 V}"), samples=100_000)
    means = switched.values("y")[:-1].reshape(10, -1).mean(axis=1)
    # The duty is read where a period begins.
    assert means == pytest.approx([3 * (0.2 + 2 * 0.01 * k) for k in range(10)], abs=1e-3)
    averaged = tg.simulate(model("d: 0.2 + 2*t/(1 s)\ny: {pwm: d, every: 10 ms, height: 3 V, as: averaged}"))
    assert averaged.values("y") == pytest.approx(3 * (0.2 + 2 * averaged.t))


def limited_by_hand(asked: np.ndarray, low: float, high: float, step: float, start: float = 0.0) -> np.ndarray:
    """The nearest course to another one whose slope is between two limits, in small steps."""
    course = [start]
    for x in asked[1:]:
        course.append(course[-1] + min(max(x - course[-1], low * step), high * step))
    return np.array(course)


LIMITS = (-3.0, 2.0)
SWUNG = f"""r: a_1*sin(w_1*t) + a_2*sin(w_2*t) + jump*step(1, start=at)
y: {{rate limit: r, limits: [{LIMITS[0]} V/s, {LIMITS[1]} V/s]}}"""
LIMITED = model(SWUNG, until="1 s", parameters="{a_1: 1 V, w_1: 1 s^-1, a_2: 1 V, w_2: 1 s^-1, jump: 1 V, at: 0.5 s}")
SWING = st.tuples(st.floats(0.1, 2), st.floats(0.5, 12))


@settings(deadline=None)
@given(first=SWING, second=SWING, jump=st.floats(-2, 2), at=st.floats(0.1, 0.9))
def test_a_limit_of_rates_follows_without_a_lag_and_never_faster(
    first: tuple[float, float], second: tuple[float, float], jump: float, at: float
) -> None:
    values = dict(zip(("a_1", "w_1", "a_2", "w_2"), (*first, *second), strict=True))
    run = tg.simulate(LIMITED, parameters={**values, "jump": jump, "at": at}, samples=200, rtol=1e-7)
    fine = np.linspace(0, 1, 20_001)
    asked = sum(a * np.sin(w * fine) for a, w in (first, second)) + jump * (fine >= at)
    wanted = np.interp(run.t, fine, limited_by_hand(asked, *LIMITS, fine[1]))
    # By hand a change of rate is met up to a step late.
    assert run.values("y") == pytest.approx(wanted, abs=20 * (LIMITS[1] - LIMITS[0]) * fine[1])
    # What is earlier than it should be is so by a microsecond; rows at an event stand closer than that.
    steps, early = np.diff(run.t), (LIMITS[1] - LIMITS[0]) * 1e-6 + 1e-6
    rises = np.diff(run.values("y"))
    assert np.all((rises > LIMITS[0] * steps - early) & (rises < LIMITS[1] * steps + early))
    met = np.abs(run.values("y") - run.values("r")) < 1e-9
    assert met.any() or np.all(np.abs(wanted - run.values("r")) > 1e-9)


def test_a_sampled_limit_of_rates_steps_by_no_more_than_its_share() -> None:
    line = "r: sine(1 V, 1 Hz)\ny: {rate limit: r, limits: [-3 V/s, 2 V/s], every: 10 ms, initial: 0.5 V}"
    run = tg.simulate(model(line, until="1 s"), times=np.arange(0.005, 1, 0.01))
    asked = np.sin(2 * math.pi * np.arange(-0.01, 1, 0.01))
    assert run.values("y") == pytest.approx(limited_by_hand(asked, *LIMITS, 0.01, start=0.5)[1:101])


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{filter: 1 V, corner: 10 Hz, order: 2.5}", "a whole number from 1 to 10"),
        ("{filter: 1 V, corner: 10 Hz, order: 11}", "a whole number from 1 to 10"),
        ("{filter: 1 V, corner: [1 Hz, 2 Hz]}", "a low pass needs one corner"),
        ("{filter: 1 V, corner: 10 Hz, pass: band}", "two corners, the lower one first"),
        ("{filter: 1 V, corner: 10 s}", "D"),
        ("{park: [1 V, 2 V], angle: 0}", "'park' has 2 formulas"),
        ("{inverse park: [1 V], angle: 0}", "'inverse park' has 1 formulas"),
    ],
)
def test_settings_that_make_no_block_are_told(line: str, said: str) -> None:
    with pytest.raises(tg.DescriptionError) as refused:
        tg.simulate(model(f"y: {line}"))
    assert said in str(refused.value)


def test_blocks_go_into_functions_of_other_libraries() -> None:
    made = functions(model("y: {filter: 'sine(1 V, 70 Hz)', corner: 100 Hz, order: 3}"), sources="experiment")
    assert len(made.names.states) == 4
