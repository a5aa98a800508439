"""Filters against SciPy, transformations of phases against their definition, noise against its statistics, limits and switching."""

from typing import Literal

import numpy as np
import pytest
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


def model(lines: str, until: str = "0.1 s") -> tg.Model:
    signals = "".join(f"  {line}\n" for line in lines.splitlines())
    return read_model(f"system: x\nsignals:\n{signals}{CIRCUIT}experiment: {{until: {until}}}\n")


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


def test_a_rate_is_limited_on_both_sides() -> None:
    run = tg.simulate(
        model("y: {rate limit: 'pulse(1 V, 0 s, 50 ms)', limits: [-40 V/s, 25 V/s], time constant: 0.1 ms}"),
        samples=1000,
    )
    slopes = np.diff(run.values("y")) / np.diff(run.t)
    assert np.max(slopes) == pytest.approx(25, rel=1e-4)
    assert np.min(slopes) == pytest.approx(-40, rel=1e-4)
    assert run.values("y")[500] == pytest.approx(1.0, abs=1e-3)


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
