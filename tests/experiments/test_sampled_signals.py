"""Signals sampled in different rhythms, as a user writes them."""

import numpy as np
import pytest

import tellegen as tg
from tellegen.notations.reading import read_model

TWO_RHYTHMS = """system: Two samplers
network:
  V: {voltage source: [a, gnd]}
  R: {resistor: [a, b], R: 1 ohm}
  L: {inductor: [b, gnd], L: 1 H, current: I}
signals:
  slow: {sample: 1 A - I, every: 0.2 s}
  fast: {sample: I, every: 0.1 s}
experiment: {until: 1 s, inputs: {V: 1 V}}
"""


@pytest.mark.parametrize("solver", ["auto", "cvode", "runge-kutta"])
def test_rhythms_that_meet_all_take_their_samples(solver: str) -> None:
    run = tg.simulate(read_model(TWO_RHYTHMS), times=np.arange(0.05, 1.0, 0.1), solver=solver, progress=False)
    last_fast = np.floor(run.t / 0.1 + 1e-9) * 0.1
    last_slow = np.floor(run.t / 0.2 + 1e-9) * 0.2
    np.testing.assert_allclose(run.values("fast"), 1 - np.exp(-last_fast), atol=1e-5)
    np.testing.assert_allclose(run.values("slow"), np.exp(-last_slow), atol=1e-5)


@pytest.mark.parametrize("solver", ["auto", "cvode", "ida", "runge-kutta", "midpoint", "discrete-gradient"])
def test_a_sample_due_at_the_very_end_is_taken(solver: str) -> None:
    """As at any other instant: the row at the end has what is held from then on."""
    step = 0.01 if solver in ("midpoint", "discrete-gradient") else None
    run = tg.simulate(read_model(TWO_RHYTHMS), solver=solver, step=step, progress=False)
    assert run.t[-1] == 1.0
    assert run.values("fast")[-1] == pytest.approx(run.values("I")[-1], abs=1e-12)
    assert run.values("slow")[-1] == pytest.approx(1 - run.values("I")[-1], abs=1e-12)
    assert run.values("I")[-1] == pytest.approx(1 - np.exp(-1.0), abs=1e-5)


def test_a_delayed_signal_is_exact_however_few_rows_there_are() -> None:
    """V_C charges as 1 - exp(-t): what comes back is that of half a second before, and not a line between rows."""
    model = read_model(
        "system: Delayed\nparameters: {R: 1 ohm, C: 1 F}\nnetwork:\n  V: {voltage source: [a, gnd]}\n"
        "  R: {resistor: [a, b]}\n  C: {capacitor: [b, gnd], voltage: v}\n"
        "signals: {d: {delay: v, by: 0.5 s}}\nexperiment: {until: 4 s, inputs: {V: 1 V}}\n"
    )
    run = tg.simulate(model, times=[1.0, 4.0], progress=False)
    np.testing.assert_allclose(run.values("d"), 1 - np.exp(-(run.t - 0.5)), rtol=20e-6)


def test_a_delayed_signal_jumps_where_the_mode_has_changed() -> None:
    """The speed of a ball that falls from 1 m is -g t until the first impact at 0.4515 s, then 0.8 g t_1 - g (t - t_1)."""
    g = 9.81
    first = (2.0 / g) ** 0.5
    model = read_model(
        "system: Ball\nparameters: {m: 0.1 kg}\ndisplacements: {h: v}\nnetwork:\n  w: {force source: [a, frame]}\n"
        "  m: {mass: [a], velocity: v}\n  ground: {hard stop: [frame, a], gap: h, restitution: 0.8}\n"
        "signals: {d: {delay: v, by: 0.25 s}}\n"
        f"experiment: {{until: 1 s, inputs: {{w: m*{g} m/s^2}}, initial: {{h: 1 m}}}}\n"
    )
    run = tg.simulate(model, times=[0.3, first + 0.249, first + 0.251, 1.0], progress=False)
    then = run.t - 0.25
    speed = np.where(then < first, -g * then, 0.8 * g * first - g * (then - first))
    np.testing.assert_allclose(run.values("d"), speed, rtol=20e-6)
