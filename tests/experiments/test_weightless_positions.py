"""Positions met on the way in which a mechanism cannot go on: the message names the motion or the loop, and rows are kept."""

import numpy as np
import pytest

import tellegen as tg
from tellegen.notations.reading import read_model

# A point mass at the end of two links without mass of their own: when they are in line, nothing resists their bending.
POINT_ON_TWO_LINKS = """
system: point mass on two links
mechanism:
  gravity: 9.81 m/s^2
  bodies:
    arm: {points: {tip: [0.5 m, 0 m]}}
    bob: {mass: 1 kg, centre: [0.5 m, 0 m]}
  joints:
    shoulder: {revolute: [ground, arm]}
    elbow: {revolute: [arm.tip, bob]}
experiment: {until: 0.5 s, initial: {arm.phi: 0.3, bob.phi: 0.6}}
"""

# The rod is shorter than the crank: where it stands upright, the crank can turn no further.
SHORT_ROD = """
system: crank with a short rod
mechanism:
  bodies:
    crank: {mass: 1 kg, inertia: 0.05 kg*m^2, centre: [0.1 m, 0 m], points: {tip: [0.2 m, 0 m]}}
    rod: {mass: 1 kg, inertia: 0.05 kg*m^2, centre: [0.05 m, 0 m], points: {tip: [0.1 m, 0 m]}}
    slider: {mass: 1 kg}
  joints:
    bearing: {revolute: [ground, crank]}
    pin: {revolute: [crank.tip, rod]}
    guide: {prismatic: [ground, slider], direction: 0 deg, distance: s}
    wrist: {revolute: [rod.tip, slider]}
experiment: {until: 1 s, initial: {crank.phi: 0.2, rod.phi: 0, crank.omega: 5 rad/s}}
"""


@pytest.mark.parametrize("form", [None, "derivative", "residual", "hamilton"])
def test_a_motion_that_loses_its_inertia_on_the_way_is_named(form: str | None) -> None:
    model = read_model(POINT_ON_TWO_LINKS)
    with pytest.raises(tg.SimulationError, match=r"M112: at t = 0\.42486") as raised:
        tg.simulate(model if form is None else tg.condition(model, form))
    assert "nothing has inertia for a motion with arm.omega = 1, bob.omega = -1" in str(raised.value)
    kept = raised.value.run
    assert kept.t.size > 500
    assert kept.values("arm.phi")[-1] == pytest.approx(kept.values("bob.phi")[-1], abs=1e-3)


def test_a_run_that_fails_for_another_reason_keeps_its_message() -> None:
    text = POINT_ON_TWO_LINKS.replace("centre:", "inertia: 0.1 kg*m^2, centre:")
    driven = read_model(
        text.replace("experiment:", "network:\n  tau: {torque source: [frame, bob]}\nexperiment:").replace(
            "initial:", 'inputs: {tau: "1 N*m*sqrt(1 - t/(0.1 s))"}, initial:'
        )
    )
    run = tg.simulate(driven, on_failure="return")
    assert run.status == "failed"
    assert run.finding is not None
    assert run.finding.code != "M112"


def test_a_motion_that_ends_in_a_singular_position_did_not_finish() -> None:
    held = read_model(SHORT_ROD.replace("experiment:", "  independent: [crank.phi]\nexperiment:"))
    run = tg.simulate(held, samples=100, on_failure="return")
    assert run.status == "failed"
    assert "S341: at t = 0.11 s the loop 'wrist' is in a singular position" in str(run.finding)
    assert run.t.size == 101
    upright = run.t > 0.2
    assert np.abs(run.values("crank.phi")[upright] - np.arcsin(0.5)).max() < 1e-6


def test_the_coordinate_that_decides_the_loop_all_the_way_round_is_the_state() -> None:
    """The short rod turns round and round, the crank and the slide come and go."""
    run = tg.simulate(read_model(SHORT_ROD), samples=100)
    assert run.state_names == ("rod.omega",)
    assert run.values("crank.omega")[0] == pytest.approx(5.0)
    assert run.values("crank.phi").max() == pytest.approx(np.arcsin(0.5), abs=1e-3)
    assert abs(run.energy.residual) < 1e-6
