"""Mechanisms of the Test Set for IVP Solvers (F. Mazzia and C. Magherini, University of Bari), against its published digits."""

import numpy as np
import pytest

import tellegen as tg
from tellegen.notations.reading import read_model

# Andrews' squeezing mechanism: the reference solution of the test set at 0.03 s, computed by PSIDE with tolerances of 1e-14. Its
# angles Theta, Phi and Omega count from another body; here all are absolute.
BETA, THETA, GAMMA, PHI = 0.1581077119629904e2, -0.1575637105984298e2, 0.4082224013073101e-1, -0.5347301163226948e0
DELTA, OMEGA, EPSILON = 0.5244099658805304e0, 0.5347301163226948e0, 0.1048080741042263e1
BETA_RATE, THETA_RATE, GAMMA_RATE = 0.1139920302151208e4, -0.1424379294994111e4, 0.1103291221937134e2
PHI_RATE, DELTA_RATE, OMEGA_RATE = 0.1929337464421385e2, 0.5735699284790808e0, -0.1929337464421385e2
EPSILON_RATE = 0.3231791658026955e0

ANGLES = {
    "k1.phi": BETA,
    "k2.phi": BETA + THETA,
    "k3.phi": GAMMA,
    "k4.phi": PHI + DELTA,
    "k5.phi": DELTA,
    "k6.phi": OMEGA + EPSILON,
    "k7.phi": EPSILON,
}
RATES = {
    "k1.omega": BETA_RATE,
    "k2.omega": BETA_RATE + THETA_RATE,
    "k3.omega": GAMMA_RATE,
    "k4.omega": PHI_RATE + DELTA_RATE,
    "k5.omega": DELTA_RATE,
    "k6.omega": OMEGA_RATE + EPSILON_RATE,
    "k7.omega": EPSILON_RATE,
}
FIRST_ACCELERATION = 14222.4439199541138705911625887
"""That of beta where the mechanism starts, from the consistent initial values of the test set."""


def test_andrews_squeezer_reaches_the_published_angles_and_speeds() -> None:
    """The crank turns two and a half times in a mechanism that magnifies errors: a thousand times the tolerance is left."""
    run = tg.simulate("andrews_squeezer", rtol=1e-11)
    for name, angle in ANGLES.items():
        assert run.values(name)[-1] == pytest.approx(angle, abs=2e-8), name
    for name, rate in RATES.items():
        assert run.values(name)[-1] == pytest.approx(rate, abs=2e-5), name


def test_andrews_squeezer_starts_with_the_published_acceleration() -> None:
    run = tg.simulate("andrews_squeezer", until=1e-6)
    at = run.state_names.index("k1.omega")
    assert run.trajectory.yp[0, at] == pytest.approx(FIRST_ACCELERATION, rel=1e-9)


# The slider crank of B. Simeon (Modelling a flexible slider crank mechanism by a mixed system of DAEs and PDEs, 1996): the crank
# turns at a constant speed. The rod of the test set is elastic (test_flexible_slider_crank.py). Compared here is the rigid one with
# the same masses and lengths. What differs is the bending of the rod, 0.19 mm of 300 mm at 0.1 s, and its vibration.
SLIDER_CRANK = """\
system: Slider crank of the test set, with a rigid rod
parameters: {l_1: 0.15 m, l_2: 0.30 m, m_1: 0.36 kg, m_2: 0.151104 kg, m_3: 0.075552 kg, J_1: 0.002727 kg*m^2}
mechanism:
  bodies:
    crank: {inertia: J_1, points: {pin: [l_1, 0 m]}, angle: phi_1, angular velocity: omega_1}
    # J_2 of the test set, 0.0045339259 kg m^2, is about the crank pin
    rod: {mass: m_2, inertia: 0.0045339259 kg*m^2 - m_2*l_2^2/4, centre: [l_2/2, 0 m], points: {end: [l_2, 0 m]}, angle: phi_2}
    slider: {mass: m_3}
  joints:
    bearing: {revolute: [ground, crank]}
    pin: {revolute: [crank.pin, rod]}
    guide: {prismatic: [ground, slider], distance: x_3, speed: v_3}
    wrist: {revolute: [rod.end, slider]}
network:
  drive: {angular velocity source: [crank, frame]}
experiment: {until: 0.1 s, rtol: 1e-10, inputs: {drive: 150 rad/s}, initial: {phi_1: 0, phi_2: 0, x_3: l_1 + l_2}}
"""
PUBLISHED = {
    "phi_2": -0.3311734988256260,
    "x_3": 0.1697373328427860,
    "rod.omega": 60.25346755138369,
    "v_3": -8.753116326670527,
}
"""The reference solution at 0.1 s."""

FIRST_FORCE, LAST_FORCE = 382.4589509350831, -163.7920993367306
"""The multiplier of the constraint along the guide at the start and at 0.1 s: what the slider exerts on the rod."""


def test_the_slider_crank_moves_like_the_published_one_but_for_the_bending_of_its_rod() -> None:
    run = tg.simulate(read_model(SLIDER_CRANK), samples=100)
    assert run.values("phi_1")[-1] == pytest.approx(15.0, abs=1e-9)
    for name, value in PUBLISHED.items():
        assert run.values(name)[-1] == pytest.approx(value, rel=3e-4), name


def test_the_wrist_pin_of_the_slider_crank_carries_the_published_force() -> None:
    run = tg.simulate(read_model(SLIDER_CRANK), samples=100)
    force = run.values("wrist.F_x")  # of the rod on the slider
    assert -force[0] == pytest.approx(FIRST_FORCE, rel=1e-4)
    assert -force[-1] == pytest.approx(LAST_FORCE, rel=1e-3)


def test_the_rigid_slider_crank_has_the_kinematics_of_its_lengths() -> None:
    run = tg.simulate(read_model(SLIDER_CRANK), samples=100)
    angle = 150 * run.t
    rod = -np.arcsin(0.5 * np.sin(angle))
    assert np.allclose(run.values("phi_2"), rod, atol=1e-7)
    assert np.allclose(run.values("x_3"), 0.15 * np.cos(angle) + 0.3 * np.cos(rod), atol=1e-8)
