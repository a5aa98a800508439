"""Signals sampled in different rhythms, as a user writes them."""

import numpy as np
import pytest

import tellegen as tg
from tellegen.description import read_model

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
