"""Mechanisms in files: what they become, and what is said where they cannot be."""

import random

import numpy as np
import pytest

import tellegen as tg
from tellegen.core.errors import SimulationError, TellegenError
from tellegen.expressions import symbol
from tellegen.notations.mechanism.rules import RULES
from tellegen.notations.reading import read_model

FOUR_BAR = RULES.rules["M110"].instead
ARM = RULES.rules["M101"].instead


def error_of(text: str) -> TellegenError:
    with pytest.raises(TellegenError) as caught:
        read_model(text)
    return caught.value


def test_a_body_becomes_two_masses_and_an_inertia_with_its_angle_as_a_displacement() -> None:
    model = read_model(ARM)
    kinds = {element.name: element.kind.name for element in model.elements}
    assert kinds["arm.J"] == "inertia"
    assert kinds["arm.mx"] == kinds["arm.my"] == "mass"
    assert model.displacements == {"arm.phi": symbol("arm.omega")}
    assert not model.closures


def test_points_that_nothing_is_joined_to_make_no_elements() -> None:
    assert "arm.tip" not in {element.name for element in read_model(ARM).elements}


def test_elements_of_the_network_are_joined_to_points_and_bodies() -> None:
    text = ARM + "network:\n  F: {force source: [arm.tip.y, frame]}\n  tau: {torque source: [frame, arm]}\n"
    system = tg.derive(read_model(text))
    assert system.states == ("arm.omega",)
    assert [str(e) for e in system.matrices["B"][0]] == ["-arm.tip_x*cos(arm.phi)", "1"]


def test_a_body_without_inertia_is_fine_where_it_moves_a_mass() -> None:
    system = tg.derive(read_model(ARM.replace("inertia: 0.1 kg*m^2, ", "")))
    assert str(system.matrices["L"][0][0]) == "arm.centre_x^2*arm.mass"


def test_the_coordinates_described_last_follow_from_a_loop() -> None:
    (closure,) = read_model(FOUR_BAR).closures
    assert closure.name == "C"
    assert set(closure.solves) == {"coupler.phi", "rocker.phi"}


def test_coordinates_can_be_kept_independent() -> None:
    model = read_model(FOUR_BAR + "  independent: [rocker.phi]\n")
    assert set(model.closures[0].solves) == {"crank.phi", "coupler.phi"}
    assert tg.derive(model).states == ("rocker.omega",)


def test_positions_that_are_left_out_are_found() -> None:
    text = FOUR_BAR + "experiment: {until: 0.1 s, initial: {crank.phi: 1}}\n"
    run = tg.simulate(read_model(text))
    assert run.values("C.gap").max() < 1e-9
    assert run.values("crank.phi")[0] == 1.0


def test_positions_that_do_not_fit_are_put_right_from_what_is_independent() -> None:
    text = FOUR_BAR + "experiment: {until: 0.1 s, initial: {crank.phi: 1, coupler.phi: 0.5, rocker.phi: 1.6}}\n"
    run = tg.simulate(read_model(text))
    assert run.values("crank.phi")[0] == 1.0
    assert run.values("C.gap")[0] < 1e-12
    assert run.values("rocker.phi")[0] != 1.6


def test_a_loop_that_fits_nowhere_is_named() -> None:
    error = error_of(FOUR_BAR.replace("tip: [0.25 m, 0 m]", "tip: [0.9 m, 0 m]"))
    assert error.code == "M110"
    assert "the loop closed by 'C' fits in no position" in error.what
    assert "'coupler', 'rocker'" in error.what


def test_a_loop_that_fits_nowhere_with_other_lengths_is_named_when_the_run_is_set_up() -> None:
    text = FOUR_BAR.replace("tip: [0.25 m, 0 m]", "tip: [r, 0 m]").replace(
        "mechanism:", "parameters: {r: 0.25 m}\nmechanism:"
    )
    model = read_model(text + "experiment: {until: 0.1 s, initial: {crank.phi: 1}}\n")
    with pytest.raises(SimulationError) as caught:
        tg.simulate(model, parameters={"r": 2.0})
    assert caught.value.code == "S340"
    assert "the loop 'C' fits in no position near the start" in caught.value.what


def test_a_second_joint_in_one_place_is_over_constrained() -> None:
    error = error_of(RULES.rules["M111"].example)
    assert error.code == "M111"
    assert "the loop closed by 'D' is over-constrained or singular where it starts" in error.what


def test_links_in_line_are_a_singular_start_with_its_direction() -> None:
    text = FOUR_BAR.replace("[0.3 m, 0 m]}}\n    rocker", "[0.1 m, 0 m]}}\n    rocker").replace("[0.25 m", "[0.1 m")
    error = error_of(text + "  independent: [crank.phi]\nexperiment: {initial: {crank.phi: 0}}\n")
    assert error.code == "M111"
    assert "direction (" in error.what


def test_a_motion_without_inertia_is_named() -> None:
    text = ARM.replace("  joints:", "    hand: {mass: 1 kg}\n  joints:") + "    wrist: {revolute: [arm.tip, hand]}\n"
    error = error_of(text)
    assert error.code == "M112"
    assert "nothing has inertia for 'hand.omega', the rate of 'hand.phi'" in error.what


def test_inertia_in_the_network_counts() -> None:
    text = ARM.replace("mass: 2 kg, inertia: 0.1 kg*m^2, ", "")
    model = read_model(text + "network:\n  J: {inertia: [arm], J: 1 kg*m^2}\n")
    assert len(tg.derive(model).states) == 1


TOGGLE = FOUR_BAR.replace("[0.1 m, 0 m]", "[0.25 m, 0 m]").replace(
    "[0.3 m, 0 m]}}\n    rocker", "[0.1 m, 0 m]}}\n    rocker"
)
TOGGLE = TOGGLE.replace(
    "rocker: {inertia: 0.01 kg*m^2, points: {tip: [0.25 m", "rocker: {inertia: 0.01 kg*m^2, points: {tip: [0.1 m"
)


def test_a_singular_position_on_the_way_names_the_loop_and_keeps_the_rows() -> None:
    text = TOGGLE + "network:\n  tau: {torque source: [frame, crank]}\n"
    model = read_model(text + "experiment: {until: 2 s, inputs: {tau: 0.2 N*m}, initial: {crank.phi: 0.2}}\n")
    with pytest.raises(SimulationError) as caught:
        tg.simulate(model)
    error = caught.value
    assert error.code == "S341"
    assert "the loop 'C' is in a singular position" in error.what
    assert error.run.t.size > 100


@pytest.mark.parametrize(
    ("old", "new", "code", "words"),
    [
        ("revolute", "revolut", "M102", "did you mean 'revolute'?"),
        ("[ground, arm]", "[ground, arn]", "M103", "did you mean 'arm'?"),
        ("[ground, arm]", "[ground, arm.tpi]", "M103", "did you mean 'tip'?"),
        ("[ground, arm]", "[ground]", "M104", "write 'revolute: [crank.A, rod]'"),
        ("[ground, arm]", "[arm, arm.tip]", "M104", "join two bodies"),
        ("pivot:", "arm:", "M106", "rename one of them"),
        ("mass: 2 kg", "mass: 2 m", "D121", "kg"),
        ("mass: 2 kg", "mas: 2 kg", "D100", "did you mean 'mass'?"),
        ("{revolute: [ground, arm]}", "{prismatic: [ground, arm], spin: 1}", "D100", "direction"),
    ],
)
def test_a_slip_is_named_with_its_repair(old: str, new: str, code: str, words: str) -> None:
    assert old in ARM
    error = error_of(ARM.replace(old, new, 1))
    assert words in str(error)
    assert code in {finding.code for finding in error.findings}
    assert error.findings[0].place is not None


def test_a_cam_moves_its_follower() -> None:
    text = (
        "system: Cam\nmechanism:\n  bodies:\n    disk: {inertia: 0.1 kg*m^2, angle: phi}\n    valve: {mass: 0.5 kg}\n"
        "  joints:\n    axle: {revolute: [ground, disk]}\n    stem: {prismatic: [ground, valve], distance: s}\n"
        '    lobe: {cam: [disk, stem], lift: "0.02 m*(1 - cos(phi))"}\n'
    )
    model = read_model(text + "experiment: {until: 1 s, rtol: 1e-9, initial: {phi: 0.4, disk.omega: 6 rad/s}}\n")
    system = tg.derive(model)
    assert system.states == ("disk.omega",)
    run = tg.simulate(model)
    phi = run.values("phi")
    assert run.values("s") == pytest.approx(0.02 * (1 - __import__("numpy").cos(phi)), abs=1e-9)
    assert run.trajectory.books is not None
    assert abs(run.trajectory.books.residual) < 1e-7


def test_a_ball_bounces_on_a_wall_that_only_pushes() -> None:
    text = (
        "system: Ball\nmechanism:\n  gravity: 9.81 m/s^2\n  bodies:\n    ball: {mass: 1 kg, inertia: 0.01 kg*m^2}\n"
        "  joints:\n    floor: {contact: [ball, ground], direction: 90 deg, radius: 0.1 m, K: 1e5 N/m}\n"
    )
    model = read_model(text + "experiment: {until: 1 s, rtol: 1e-9, initial: {ball.y: 0.6}}\n")
    run = tg.simulate(model)
    assert run.values("floor.gap")[0] == pytest.approx(0.5)
    assert run.values("floor.N").max() > 100
    assert run.values("floor.N").min() == 0
    assert abs(run.trajectory.books.residual) < 1e-6  # type: ignore[union-attr]


def test_a_spring_between_points_starts_with_the_force_of_its_length() -> None:
    text = ARM + "    S: {spring: [ground.hook, arm.tip], K: 50 N/m, length: 0.2 m}\n"
    text = text.replace("bodies:", "bodies:\n    ground: {points: {hook: [0 m, 1 m]}}")
    run = tg.simulate(read_model(text), until=0.5, rtol=1e-9)
    assert run.values("S.F")[0] == pytest.approx(50 * (2**0.5 - 0.2))
    assert run.values("S.F") == pytest.approx(50 * (run.values("S.length") - 0.2), abs=1e-6)


# Fitting, fixed joints and omniwheels


def test_the_least_gap_of_a_loop_that_fits_nowhere_is_told() -> None:
    """Rocker 0.7001 m long: crank, coupler and ground reach 0.7 m together."""
    text = str(error_of(FOUR_BAR.replace("tip: [0.25 m, 0 m]", "tip: [0.7001 m, 0 m]")))
    assert (
        "error M110: the loop closed by 'C' fits in no position: 'coupler', 'rocker' leave a gap of at least 0.0001 m"
        in text
    )


def test_given_positions_leave_no_gap_above_the_tolerance() -> None:
    text = str(error_of(RULES.rules["M113"].example))
    assert (
        "error M113: with the initial values of 'crank.phi', 'coupler.phi', 'rocker.phi' the joint 'C' has a gap of"
        in text
    )
    assert "leave out the initial value of 'coupler.phi', 'rocker.phi', which follow, or correct them" in text


def test_given_positions_within_the_tolerance_are_put_right() -> None:
    start = tg.simulate(read_model(RULES.rules["M113"].instead), until=0.001)
    angles = {name: float(start.values(name)[0]) for name in ("crank.phi", "coupler.phi", "rocker.phi")}
    near = ", ".join(f"{name}: {value + 1e-4}" for name, value in angles.items())
    run = tg.simulate(read_model(RULES.rules["M113"].instead.replace("crank.phi: 1", near)), until=0.001)
    assert run.values("crank.phi")[0] == pytest.approx(1.0001, abs=1e-9)
    assert run.values("C.gap")[0] < 1e-12


def test_a_word_of_the_assembly_is_corrected() -> None:
    wrong = RULES.rules["M113"].instead.replace("tolerance: 1 mm", "tolerence: 1 mm")
    assert "did you mean 'tolerance'?" in str(error_of(wrong))


def test_bodies_fixed_to_each_other_move_as_one() -> None:
    """A hammer: a rod of 1 kg and 1 m with a head of 2 kg at its end, held at an angle that does not matter to a point mass."""
    text = """\
system: Hammer
mechanism:
  gravity: 9.81 m/s^2
  bodies:
    rod: {mass: 1 kg, inertia: 0.08 kg*m^2, centre: [0.5 m, 0 m], points: {end: [1 m, 0 m]}}
    head: {mass: 2 kg, inertia: 0.01 kg*m^2}
  joints:
    pivot: {revolute: [ground, rod]}
    weld: {fixed: [rod.end, head], angle: 0.5 rad}
experiment: {until: 0.5 s, rtol: 1e-9, initial: {rod.phi: 0.3}}
"""
    run = tg.simulate(read_model(text))
    assert run.state_names == ("rod.omega",)
    inertia, lever = 0.08 + 0.25 + 2.0 + 0.01, 0.5 + 2.0
    turning = -9.81 * lever * np.cos(run.values("rod.phi")) / inertia
    assert np.allclose(run.trajectory.yp[:, 0], turning, rtol=1e-9)
    # The weld turns the head: its moment is what the head needs, its force is at the centre of the head.
    assert np.allclose(run.values("weld.M"), 0.01 * turning, rtol=1e-7, atol=1e-9)


def test_an_omniwheel_rolls_along_and_is_free_across() -> None:
    text = """\
system: Cart on an omniwheel
mechanism:
  bodies:
    cart: {mass: 3 kg, inertia: 0.2 kg*m^2, position: [x, y], angle: phi}
  joints:
    roll: {omniwheel: [cart], radius: 0.1 m, direction: 0.5 rad, inertia: 0.05 kg*m^2}
network: {M: {torque source: [frame, roll]}}
experiment: {until: 1 s, rtol: 1e-9, inputs: {M: 0.8 N*m}, initial: {cart.vy: 0.4 m/s}}
"""
    run = tg.simulate(read_model(text))
    along, across = np.array([np.cos(0.5), np.sin(0.5)]), np.array([-np.sin(0.5), np.cos(0.5)])
    speed = np.array([run.values("cart.vx"), run.values("cart.vy")])
    gain = 0.8 / 0.1 / (3 + 0.05 / 0.1**2)
    assert np.allclose(along @ speed, 0.4 * np.sin(0.5) + gain * run.t, atol=1e-7)
    assert np.allclose(across @ speed, 0.4 * np.cos(0.5), atol=1e-7)  # nothing acts across
    assert np.allclose(run.values("roll.omega"), along @ speed / 0.1, atol=1e-6)


DROPPED = """
system: ball on a floor
mechanism:
  gravity: 9.81 m/s^2
  bodies:
    ball: {mass: 0.2 kg, inertia: 1e-4 kg*m^2}
  joints:
    floor: {contact: [ball, ground], direction: 90 deg, radius: 20 mm, K: 1e4 N/m, b: 60 N*s/m, friction coefficient: 0.3}
experiment: {until: 0.3 s, rtol: 1e-8, initial: {ball.y: 0.3 m, ball.vx: 1 m/s}}
"""


def test_a_damped_contact_pushes_and_never_pulls() -> None:
    """The ball comes with 2.34 m/s, so that the damper pushes first; on the way back it gives no more than the spring."""
    run = tg.simulate(read_model(DROPPED), samples=3000)
    normal, rubbing = run.values("floor.N"), run.values("floor.F_f")
    assert normal.max() == pytest.approx(60 * np.sqrt(2 * 9.81 * 0.28), rel=0.02)
    assert normal.min() >= 0
    first = int(np.argmax(normal))
    assert abs(rubbing[first]) == pytest.approx(0.3 * normal[first], rel=1e-6)


@pytest.mark.parametrize("seed", range(2))
def test_a_loop_leaves_the_coordinates_to_another_that_has_no_others(seed: int) -> None:
    """The linkage of Peaucellier driven by its crank, its joints in any order: three loops share six angles."""
    chance = random.Random(seed)
    rods = {"upper": 0.3, "lower": -0.5, "near_up": -2.0, "near_low": 1.8, "far_up": -1.3, "far_low": 1.1}
    joints = [
        "C: {revolute: [ground.crank, crank]}", "U: {revolute: [ground, upper]}", "W: {revolute: [ground, lower]}",
        "A: {revolute: [upper.end, near_up]}", "E: {revolute: [upper.end, far_up]}", "B: {revolute: [lower.end, near_low]}",
        "F: {revolute: [lower.end, far_low]}", "D: {revolute: [near_up.end, near_low.end]}",
        "G: {revolute: [near_up.end, crank.end]}", "P: {revolute: [far_up.end, far_low.end]}",
    ]  # fmt: skip
    chance.shuffle(joints)
    lengths = {name: 0.5 if name in ("upper", "lower") else 0.2 for name in rods}
    bodies = "".join(f"    {name}: {{points: {{end: [{lengths[name]} m, 0 m]}}}}\n" for name in rods)
    text = (
        "system: linkage\nmechanism:\n  independent: [gamma]\n  bodies:\n    ground: {points: {crank: [0.2 m, 0 m]}}\n"
        "    crank: {inertia: 0.01 kg*m^2, points: {end: [0.2 m, 0 m]}, angle: gamma, angular velocity: omega}\n"
        f"{bodies}  joints:\n"
        + "".join(f"    {joint}\n" for joint in joints)
        + "network:\n  tau: {torque source: [frame, crank]}\n"
        "experiment:\n  until: 0.1 s\n  initial: {gamma: -0.2, "
        + ", ".join(f"{name}.phi: {angle}" for name, angle in rods.items())
        + "}\n"
    )
    assert "gamma" not in {name for closure in read_model(text).closures for name in closure.solves}
