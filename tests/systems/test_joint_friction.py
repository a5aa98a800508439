"""Coulomb friction by the forces of rigid joints, against equations of motion solved together with the friction."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq

import tellegen as tg
from tellegen.notations.reading import read_model

CART = """\
system: Cart with a pendulum on a rough rail
mechanism:
  gravity: 9.81 m/s^2
  bodies:
    cart: {mass: 2 kg}
    arm: {mass: 0.7 kg, inertia: 0.02 kg*m^2, centre: [0.4 m, 0 m], angle: phi, angular velocity: omega}
  joints:
    rail: {prismatic: [ground, cart], distance: x, speed: v, friction coefficient: 0.3, slip speed: 5 mm/s}
    pin: {revolute: [cart, arm]}
experiment: {until: 1.5 s, rtol: 1e-9, initial: {phi: 0.4, v: 0.5 m/s}}
"""


def cart_rates(phi: float, omega: float, v: float) -> tuple[float, float, float]:
    """v', omega' and the friction of the cart: Newton's laws of both bodies with the normal force among the unknowns."""
    M, m, J, a, g, mu = 2.0, 0.7, 0.02, 0.4, 9.81, 0.3
    c, s, rough = math.cos(phi), math.sin(phi), mu * math.tanh(v / 0.005)

    def rates(friction: float) -> tuple[float, float]:
        matrix = np.array([[M + m, -m * a * s], [-m * a * s, J + m * a**2]])
        found = np.linalg.solve(matrix, [-friction + m * a * c * omega**2, -m * g * a * c])
        return float(found[0]), float(found[1])

    def normal(friction: float) -> float:
        _, turning = rates(friction)
        return (M + m) * g + m * a * (c * turning - s * omega**2)

    friction = brentq(lambda f: f - rough * abs(normal(f)), -100.0, 100.0, xtol=1e-12)
    return *rates(friction), friction


def test_a_cart_is_slowed_down_by_its_normal_force_which_depends_on_the_friction() -> None:
    run = tg.simulate(read_model(CART))
    assert run.status == "finished"
    for row in range(0, len(run.t), 97):
        at = [float(run.values(name)[row]) for name in ("phi", "omega", "v")]
        sliding, turning, friction = cart_rates(at[0], at[1], at[2])
        # Sizes of forces are rounded below 0.01 N: of the 26 N here that is a millionth.
        assert run.values("rail.F_f")[row] == pytest.approx(friction, rel=1e-5, abs=1e-6)
        rates = [run.trajectory.yp[row, run.state_names.index(name)] for name in ("v", "omega")]
        assert rates == pytest.approx([sliding, turning], rel=1e-4, abs=1e-4)
    books = run.trajectory.books
    assert books is not None
    assert books.dissipated > 0.2
    assert abs(books.residual) < 1e-6


PENDULUM = """\
system: Pendulum on a rough pin
mechanism:
  gravity: 9.81 m/s^2
  bodies:
    arm: {mass: 1.5 kg, inertia: 0.05 kg*m^2, centre: [0.6 m, 0 m], angle: phi, angular velocity: omega}
  joints:
    pin: {revolute: [ground, arm], friction coefficient: 0.2, radius: 30 mm, slip speed: 1 mm/s}
experiment: {until: 2 s, rtol: 1e-9, initial: {phi: 0.2}}
"""


def test_a_pin_is_rough_by_the_size_of_its_force() -> None:
    run = tg.simulate(read_model(PENDULUM))
    m, J, a, g, mu, r = 1.5, 0.05, 0.6, 9.81, 0.2, 0.03
    for row in range(0, len(run.t), 97):
        phi, omega = (float(run.values(name)[row]) for name in ("phi", "omega"))

        def moment(found: float, phi: float = phi, omega: float = omega) -> float:
            turning = (-m * g * a * math.cos(phi) - found) / (J + m * a**2)
            along, across = m * (g * math.sin(phi) - a * omega**2), m * (g * math.cos(phi) + a * turning)
            return mu * r * math.hypot(along, across) * math.tanh(r * omega / 0.001)

        wanted = brentq(lambda M, moment=moment: M - moment(M), -5.0, 5.0, xtol=1e-13)
        assert run.values("pin.M_f")[row] == pytest.approx(-wanted, rel=1e-5, abs=1e-6)  # of the ground on the arm
    assert np.abs(run.values("phi")[-200:] + math.pi / 2).max() < np.abs(run.values("phi")[:200] + math.pi / 2).max()


SLIDER_CRANK = """\
system: Slider crank
mechanism:
  bodies:
    crank: {inertia: 0.01 kg*m^2, points: {pin: [50 mm, 0 mm]}, angle: theta, angular velocity: omega}
    rod: {mass: 0.3 kg, inertia: 6e-4 kg*m^2, centre: [50 mm, 0 mm], points: {end: [150 mm, 0 mm]}}
    piston: {mass: 0.5 kg}
  joints:
JOINTS
network: {tau: {torque source: [frame, crank]}}
experiment: {until: 0.5 s, rtol: 1e-9, inputs: {tau: 1 N*m}, initial: {theta: 1.0, rod.phi: -0.3}}
"""
JOINTS = {
    "bearing": "    bearing: {revolute: [ground, crank]}",
    "pin": "    pin: {revolute: [crank.pin, rod]}",
    "bore": "    bore: {prismatic: [ground, piston], friction: 3 N*s/m, friction coefficient: 0.2, length: 40 mm}",
    "wrist": "    wrist: {revolute: [rod.end, piston], friction: 0.01 N*m*s, friction coefficient: 0.1, radius: 8 mm}",
}


@pytest.mark.slow
def test_friction_does_not_depend_on_which_joint_closes_the_loop() -> None:
    """Joints are followed in their order, so the last one closes the loop: once the wrist pin, once the bearing of the crank."""
    runs = []
    for order in (("bearing", "pin", "bore", "wrist"), ("bore", "wrist", "pin", "bearing")):
        text = SLIDER_CRANK.replace("JOINTS", "\n".join(JOINTS[name] for name in order))
        runs.append(tg.simulate(read_model(text), samples=50))
    closing = [{name.split(".")[0] for name in run.described_signals if name.endswith(".gap")} for run in runs]
    assert closing == [{"wrist"}, {"bearing"}]
    for name in ("theta", "omega", "rod.phi"):
        assert np.allclose(runs[0].values(name), runs[1].values(name), rtol=1e-6, atol=1e-6), name
    lost = [run.energy.dissipated for run in runs]
    assert lost[0] == pytest.approx(lost[1], rel=1e-6)
    assert lost[0] > 0.1


def test_a_rough_pin_needs_a_radius() -> None:
    with pytest.raises(tg.TellegenError) as raised:
        read_model(PENDULUM.replace(", radius: 30 mm", ""))
    assert "error M105: the revolute pin has a friction coefficient, but no 'radius'" in str(raised.value)
    assert "the friction moment is the friction force times this radius" in str(raised.value)


RAPSON = """
system: rigid Rapson slide
mechanism:
  bodies:
    tiller: {mass: 1 kg, inertia: 1 kg*m^2, points: {hinge: [-1.5 m, 0 m]}, angle: theta_c}
    block: {mass: 1 kg, inertia: 1 kg*m^2}
  joints:
    hinge: {revolute: [ground, tiller.hinge]}
    slide: {prismatic: [tiller.hinge, block], length: 0.4 m, friction coefficient: 0.2, slip speed: 1e-4 m/s, distance: l}
network:
  F: {force source: [block.origin.x, frame]}
experiment: {until: 10 s, rtol: 1e-6, inputs: {F: 1 N}, initial: {theta_c: "atan2(3, 4)", l: 5 m}}
"""


@pytest.mark.parametrize("rtol", ["1e-6", "1e-9"])
def test_the_rounding_of_forces_shifts_no_motion_by_more_than_the_tolerance(rtol: str) -> None:
    text = RAPSON.replace("rtol: 1e-6", f"rtol: {rtol}")
    sharp = read_model(text.replace("distance: l}", "distance: l, rounding: 1e-9 N}"))
    # Both at a finer tolerance than the one whose rounding is judged.
    found, exact = (tg.simulate(model, rtol=1e-11).final()["l"] for model in (read_model(text), sharp))
    assert abs(found - exact) <= float(rtol) * exact
