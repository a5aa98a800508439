"""Motions of mechanisms with loops and springs: the coordinates that drive are given, those that follow are found."""

import numpy as np
import pytest
from numpy.typing import NDArray

import tellegen as tg
from tellegen.notations.reading import read_model

Array = NDArray[np.float64]

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


def wanted(t: Array) -> tuple[Array, ...]:
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


CAM = """
system: cam and spring
parameters: {e: 0.02 m, k: 500 N/m}
mechanism:
  bodies:
    cam: {inertia: 0.02 kg*m^2, angle: theta, angular velocity: omega}
    follower: {mass: 0.5 kg}
  joints:
    bearing: {revolute: [ground, cam]}
    guide: {prismatic: [ground, follower], distance: h}
    lobe: {cam: [cam, guide], lift: e*(1 - cos(theta))}
network:
  tau: {torque source: [frame, cam]}
  k: {spring: [guide, frame], force: F_k}
experiment: {until: 0.5 s, rtol: 1e-9, initial: {theta: 0.5, omega: 6.2 rad/s, F_k: 3 N}}
"""
CAM_MOTION = {"theta": MOTION["crank.phi"]}


def torque_of_the_cam(t: Array) -> Array:
    """M theta'' + M_theta theta'^2/2 and the spring, with M = J + m e^2 sin^2 theta; the spring has 3 N where the motion begins."""
    phi = wanted(t)[0]
    rate, second = 5 + 1.2 * np.cos(4 * t), -4.8 * np.sin(4 * t)
    pull = 3 + 500 * 0.02 * (np.cos(0.5) - np.cos(phi))
    moved = (0.02 + 0.5 * (0.02 * np.sin(phi)) ** 2) * second + 0.5 * 0.02**2 * np.sin(phi) * np.cos(phi) * rate**2
    return np.asarray(moved + pull * 0.02 * np.sin(phi))


@pytest.mark.parametrize("times", [np.linspace(0.0, 0.5, 6), np.array([0.5, 0.1])])
def test_a_motion_carries_springs_along(times: Array) -> None:
    """The elongation is a coordinate of its own, an integral along the motion; a run reads the force of the spring instead."""
    torque = tg.inverse_dynamics(read_model(CAM), CAM_MOTION)
    assert torque.at(times)["tau"] == pytest.approx(torque_of_the_cam(times), abs=1e-9)


def test_the_torque_that_reads_a_spring_produces_the_motion() -> None:
    torque = tg.inverse_dynamics(read_model(CAM), CAM_MOTION)
    run = tg.simulate(read_model(CAM), inputs=torque.courses, samples=10)
    assert run.values("theta") == pytest.approx(wanted(run.t)[0], abs=1e-7)
    assert run.values("tau") == pytest.approx(torque_of_the_cam(run.t), abs=1e-6)


def test_a_controller_reads_the_force_of_a_spring() -> None:
    tracked = tg.feedback_linearise(read_model(CAM), CAM_MOTION, K_p=400, K_d=40)
    run = tg.simulate(tracked, 0.4, initial={"theta": 0.6}, samples=10)
    error = run.values("theta") - wanted(run.t)[0]
    assert error == pytest.approx(0.1 * (1 + 20 * run.t) * np.exp(-20 * run.t), abs=1e-7)
