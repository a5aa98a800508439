"""Motions of mechanisms with loops: the coordinates that drive are given, those that follow are found."""

import numpy as np
import pytest

import tellegen as tg
from tellegen.description import read_model

YOKE = """
system: scotch yoke
mechanism:
  bodies:
    crank: {inertia: 0.01 kg*m^2, points: {pin: [0.1 m, 0 m]}}
    block: {mass: 0.1 kg}
    yoke: {mass: 2 kg}
  joints:
    O: {revolute: [ground, crank]}
    P: {revolute: [crank.pin, block]}
    rail: {prismatic: [ground, yoke]}
    slot: {prismatic: [yoke, block], direction: 90 deg}
network:
  tau: {torque source: [frame, crank]}
experiment: {until: 0.5 s, rtol: 1e-9, initial: {crank.phi: 0.5}}
"""
MOTION = {"crank.phi": "0.5 + 5*t/(1 s) + 0.3*sin(4*t/(1 s))"}


def wanted(t: np.ndarray[tuple[int], np.dtype[np.float64]]) -> tuple[np.ndarray[tuple[int], np.dtype[np.float64]], ...]:
    """The angle of the crank, and the torque: J phi'' + J_phi phi'^2/2 with J = 0.01 + 0.1 R^2 + 2 R^2 sin^2 phi."""
    phi = 0.5 + 5 * t + 0.3 * np.sin(4 * t)
    rate, second = 5 + 1.2 * np.cos(4 * t), -4.8 * np.sin(4 * t)
    inertia = 0.01 + 0.1 * 0.1**2 + 2 * (0.1 * np.sin(phi)) ** 2
    return phi, inertia * second + 2 * 0.1**2 * np.sin(phi) * np.cos(phi) * rate**2


def test_the_torque_of_a_motion_is_found_where_loops_decide_the_rest() -> None:
    times = np.linspace(0.0, 0.5, 11)
    torque = tg.inverse_dynamics(read_model(YOKE), MOTION)
    assert torque.at(times)["tau"] == pytest.approx(wanted(times)[1], abs=1e-9)
    fed = tg.simulate(read_model(YOKE), inputs=torque.courses, initial={"crank.omega": 6.2}, times=times)
    assert fed.values("crank.phi") == pytest.approx(wanted(times)[0], abs=1e-7)


def test_a_controller_tracks_the_coordinate_that_drives() -> None:
    tracked = tg.feedback_linearise(read_model(YOKE), MOTION, K_p=400, K_d=40)
    run = tg.simulate(tracked, 0.4, initial={"crank.phi": 0.6, "crank.omega": 6.2}, samples=10)
    error = run.values("crank.phi") - wanted(run.t)[0]
    assert error == pytest.approx(0.1 * (1 + 20 * run.t) * np.exp(-20 * run.t), abs=1e-7)


def test_a_coordinate_that_follows_cannot_be_given_a_motion() -> None:
    with pytest.raises(
        tg.ConditioningError, match=r"C109: 'rail.s' is no coordinate of 'scotch yoke' that moves by itself"
    ):
        tg.inverse_dynamics(read_model(YOKE), {**MOTION, "rail.s": 0})


def test_a_speed_that_is_the_rate_of_no_coordinate_is_named() -> None:
    with pytest.raises(
        tg.ConditioningError, match=r"C109: the speed 'disk.v_along' of 'Rolling disk' is the rate of no coord"
    ):
        tg.inverse_dynamics("rolling_disk", {"phi": 0})
