"""What joints carry is read by one name in every form, whatever became of the storages behind them; slides have all forms."""

from functools import cache

import numpy as np
import pytest

import tellegen as tg
from tellegen.conditioning import FORMS
from tellegen.conditioning.constraints import constrained_model
from tellegen.notations.reading import read_model
from tellegen.results.run import Run

EXACT = tuple(form for form in FORMS if form != "parasitic")

SLIDE = """
system: a slide on an arm that turns
parameters: {a: 0.2 m, b: 0.5 m, c: 0.1 m, d: 0.05 m}
mechanism:
  gravity: 9.81 m/s^2
  bodies:
    arm: {mass: 1 kg, inertia: 0.3 kg*m^2, centre: [a, 0 m], points: {tip: [b, c]}}
    block: {mass: 0.7 kg, inertia: 0.2 kg*m^2, centre: [c, d]}
  joints:
    hinge: {revolute: [ground, arm]}
    bore: {prismatic: [arm.tip, block], direction: 0.6 rad}
experiment: {until: 0.2 s, rtol: 1e-9, initial: {arm.phi: 0.3, arm.omega: 4 rad/s, bore.v: 0.2 m/s}}
"""
SLIDE_FORCES = {"hinge.F_x": "N", "hinge.F_y": "N", "bore.F_x": "N", "bore.F_y": "N", "bore.M": "N*m"}

# A parallelogram: its coupler stays level, so that nothing may be divided by the sine of its angle.
FOUR_BAR = """
system: four-bar linkage
mechanism:
  gravity: 9.81 m/s^2
  bodies:
    ground: {points: {right: [0.6 m, 0 m]}}
    crank: {mass: 0.5 kg, inertia: 0.01 kg*m^2, centre: [0.1 m, 0 m], points: {tip: [0.2 m, 0 m]}}
    coupler: {mass: 0.8 kg, inertia: 0.03 kg*m^2, centre: [0.3 m, 0 m], points: {tip: [0.6 m, 0 m]}}
    rocker: {mass: 0.6 kg, inertia: 0.02 kg*m^2, centre: [0.1 m, 0 m], points: {tip: [0.2 m, 0 m]}}
  joints:
    O: {revolute: [ground, crank]}
    A: {revolute: [crank.tip, coupler]}
    B: {revolute: [ground.right, rocker]}
    C: {revolute: [coupler.tip, rocker.tip]}
experiment: {until: 0.2 s, rtol: 1e-9, initial: {crank.phi: 1, coupler.phi: 0, rocker.phi: 1, crank.omega: 3 rad/s}}
"""
FOUR_BAR_FORCES = {f"{joint}.F_{axis}": "N" for joint in "OABC" for axis in "xy"}

MODELS = {"slide": (SLIDE, SLIDE_FORCES), "four-bar": (FOUR_BAR, FOUR_BAR_FORCES)}


@cache
def run_of(name: str, form: str) -> Run:
    model = read_model(MODELS[name][0])
    return tg.simulate(model if form == "plain" else tg.condition(model, form), samples=20)


def apart(one: Run, two: Run, name: str) -> float:
    return float(np.abs(one.values(name) - two.values(name)).max() / np.abs(two.values(name)).max())


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("form", EXACT)
def test_forces_of_joints_are_the_same_in_every_form(name: str, form: str) -> None:
    plain, run = run_of(name, "plain"), run_of(name, form)
    for force, unit in MODELS[name][1].items():
        assert apart(run, plain, force) < 1e-6, force
        assert run.unit(force) == unit, force


@pytest.mark.parametrize("form", EXACT)
def test_a_slide_moves_alike_in_every_form(form: str) -> None:
    plain, run = run_of("slide", "plain"), run_of("slide", form)
    for name in plain.displacement_names:
        assert apart(run, plain, name) < 1e-8, name
    assert abs(run.energy.residual) < 1e-8


def test_a_slide_without_mass_of_its_own_gets_a_small_one_beside_parasitic_springs() -> None:
    """The error falls with order one in the stiffness, that of the small mass included."""
    model, plain = read_model(SLIDE), run_of("slide", "plain")
    errors, masses = [], []
    for stiffness in (1e5, 1e6):
        elastic = tg.condition(model, "parasitic", stiffness=stiffness)
        run = tg.simulate(elastic, rtol=1e-8, samples=20)
        errors.append(max(apart(run, plain, name) for name in plain.displacement_names))
        masses.append(run.parameters["m_bore_slide"])
    assert errors[0] / errors[1] == pytest.approx(10, rel=0.1)
    assert masses[0] / masses[1] == pytest.approx(10)


def test_every_storage_of_a_slide_is_free_in_the_residual_form() -> None:
    """The speed along the guide, which has no inertia, is the state of an integral; its rate is solved for with the forces."""
    made = tg.condition(read_model(SLIDE), "residual")
    assert not constrained_model(made.model).causal.dependent
    assert "bore.v_state" in made.model.signals
    assert "bore.v_rate" in made.to_text()


def test_the_constraints_of_a_slide_are_kept() -> None:
    """Errors of the constraints stay near the tolerance, and the table reports them."""
    table = tg.compare_conditioning(read_model(SLIDE), ["residual", "lagrange"], rtol=1e-8)
    assert table["residual"].violation < 1e-6
    assert table["residual"].excess == 5
    assert table["residual"].error < 1e-6


UNTIED = """
system: a shaft that nothing moves
network:
  n: {connection: [a, frame, b, frame], domains: [rotational, rotational], relation: across_2 = 2*across_1}
  J_a: {inertia: [a], J: 1 kg*m^2, angular velocity: omega_a}
  J_b: {inertia: [b], J: 2 kg*m^2, angular velocity: omega_b}
  s: {weightless shaft: [c], causality: integral}
  K: {torsion spring: [a, c], K: 10 N*m}
experiment: {until: 1 s}
"""


def test_a_speed_that_nothing_decides_is_named() -> None:
    with pytest.raises(
        tg.ConditioningError, match="C111: the storage of 'omega_s' has no inertia, and no constraint ties it"
    ):
        tg.condition(read_model(UNTIED), "residual")


YOKE = """
system: scotch yoke
mechanism:
  bodies:
    crank: {inertia: 0.01 kg*m^2, points: {pin: [0.1 m, 0 m]}}
    block: {mass: 0.1 kg, inertia: 1e-5 kg*m^2}
    yoke: {mass: 2 kg}
  joints:
    O: {revolute: [ground, crank]}
    P: {revolute: [crank.pin, block]}
    rail: {prismatic: [ground, yoke]}
    slot: {prismatic: [yoke, block], direction: 90 deg}
experiment: {until: 0.3 s, rtol: 1e-9, initial: {crank.phi: 0.5, crank.omega: 5 rad/s}}
"""


def test_nothing_is_divided_by_the_cosine_of_a_right_angle() -> None:
    """The pin drives the yoke along x: m v^2/2 + J omega^2/2 stays, with v = -R omega sin phi."""
    run = tg.simulate(tg.condition(read_model(YOKE), "residual"), samples=20)
    phi, omega = run.values("crank.phi"), run.values("crank.omega")
    energy = 0.5 * omega**2 * (0.01 + 0.1 * 0.1**2 + 2 * (0.1 * np.sin(phi)) ** 2)
    assert energy == pytest.approx(np.full_like(energy, energy[0]), rel=1e-7)


WRITTEN = [("slide", form) for form in FORMS if form != "derivative"] + [
    ("four-bar", "residual"),
    ("four-bar", "hamilton"),
]


@pytest.mark.parametrize(("name", "form"), WRITTEN)
def test_forms_of_mechanisms_are_written_and_read_again(name: str, form: str) -> None:
    """Lengths that are numbers keep their units in the formulas that are made of them."""
    made = tg.condition(read_model(MODELS[name][0]), form)
    again = tg.simulate(read_model(tg.to_yaml(made.model)), 0.02, samples=3)
    plain = tg.simulate(made, 0.02, samples=3)
    for displacement in plain.displacement_names:
        assert again.values(displacement) == pytest.approx(plain.values(displacement), rel=1e-6, abs=1e-9)


RUBBING = """
system: a pendulum whose pin rubs
mechanism:
  gravity: 9.81 m/s^2
  bodies:
    arm: {mass: 1 kg, inertia: 0.3 kg*m^2, centre: [0.2 m, 0 m], points: {tip: [0.5 m, 0.1 m]}}
    link: {mass: 0.7 kg, inertia: 0.2 kg*m^2, centre: [0.1 m, 0.05 m]}
  joints:
    hinge: {revolute: [ground, arm], friction coefficient: 0.2, radius: 20 mm}
    pin: {revolute: [arm.tip, link]}
experiment: {until: 0.2 s, rtol: 1e-9, initial: {arm.phi: 0.3, arm.omega: 4 rad/s}}
"""


@pytest.mark.slow
@pytest.mark.parametrize("form", ["residual", "field", "lagrange"])
def test_friction_by_the_force_of_a_rigid_joint_is_the_same_in_every_form(form: str) -> None:
    """The friction reads the force of the joint: were that its static share, the pendulum would lose less."""
    model = read_model(RUBBING)
    plain, run = tg.simulate(model, samples=10), tg.simulate(tg.condition(model, form), samples=10)
    assert plain.energy.dissipated > 0.02
    for name in ("arm.phi", "link.phi", "hinge.F_x", "hinge.F_y", "hinge.M_f"):
        assert apart(run, plain, name) < 1e-7, name
    assert abs(run.energy.residual) < 1e-9


# The slot turns past a right angle, and the speed of the block in it, which has no inertia, follows from the crank.
QUICK_RETURN = """
system: quick return
mechanism:
  gravity: 9.81 m/s^2
  bodies:
    ground: {points: {pivot: [0 m, -0.3 m]}}
    crank: {mass: 0.5 kg, inertia: 0.002 kg*m^2, centre: [0.05 m, 0 m], points: {pin: [0.1 m, 0 m]}}
    block: {mass: 0.1 kg, inertia: 1e-4 kg*m^2}
    arm: {mass: 1 kg, inertia: 0.04 kg*m^2, centre: [0.3 m, 0 m]}
  joints:
    O: {revolute: [ground, crank]}
    P: {revolute: [crank.pin, block]}
    B: {revolute: [ground.pivot, arm]}
    slot: {prismatic: [arm, block]}
experiment: {until: 0.15 s, rtol: 1e-9, initial: {crank.phi: 0.5, crank.omega: 12 rad/s, block.phi: 1.3}}
"""


@pytest.mark.parametrize("form", ["derivative", "residual", "field", "lagrange"])
def test_a_slot_may_pass_a_right_angle_in_every_form(form: str) -> None:
    """The speed along the slot is freed with the others: found from one component, it was divided by the cosine of the angle."""
    model = read_model(QUICK_RETURN)
    made = tg.condition(model, form)
    plain, run = (tg.simulate(m, samples=20) for m in (model, made))
    assert plain.values("block.phi")[0] < np.pi / 2 < plain.values("block.phi")[-1]
    for name in ("crank.phi", "block.phi", "slot.s", "slot.v", "B.F_x", "P.F_y", "slot.M", "arm.tau_J"):
        assert apart(run, plain, name) < 1e-7, name
    assert "lambda_slot_slide" in made.forces
    assert tg.derive(made.model).states


def test_parasitic_springs_beside_a_slot_converge_with_order_one() -> None:
    model = read_model(QUICK_RETURN)
    plain = tg.simulate(model, samples=10)
    errors = []
    for stiffness in (1e7, 1e8):
        run = tg.simulate(tg.condition(model, "parasitic", stiffness=stiffness), rtol=1e-8, samples=10)
        errors.append(max(apart(run, plain, name) for name in plain.displacement_names))
    assert errors[0] / errors[1] == pytest.approx(10, rel=0.2)
