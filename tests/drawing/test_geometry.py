"""The bodies of networks at places that formulas tell: drawn and animated as mechanisms are, without effect on equations."""

from math import cos, hypot, sin, sqrt

import pytest

from support.examples import all_examples
from tellegen.core.errors import TellegenError
from tellegen.drawing import animate, draw
from tellegen.drawing.mechanism.pose import MechanismPose
from tellegen.experiments.simulating import simulate
from tellegen.model.mechanism import BodyPoint
from tellegen.model.model import Model
from tellegen.notations.loading import as_model
from tellegen.notations.reading import read_model
from tellegen.notations.writing import to_yaml
from tellegen.scenes.ink import check_scene

PLACED = [name for name, model in all_examples().items() if model.geometry is not None]
PENDULUM = """
system: Pendulum
parameters: {l: 0.5 m, J: 1 kg*m^2, reach: l*cos(phi)}
displacements: {phi: omega}
network:
  J: {inertia: [bob], angular velocity: omega}
  tau: {torque source: [frame, bob]}
geometry:
  bodies:
    arm: {angle: phi - pi/2, points: {tip: [l, 0 m]}}
    bob: {at: [l*sin(phi), -reach]}
  joints:
    pivot: {revolute: [ground, arm]}
    end: {fixed: [arm.tip, bob]}
experiment: {until: 1 s, inputs: {tau: 1 N*m}}
"""


def pendulum(old: str = "", new: str = "") -> Model:
    assert old in PENDULUM
    return read_model(PENDULUM.replace(old, new))


def test_examples_have_one() -> None:
    assert {"crank_rod", "crank_rod_elastic", "mobile_manipulator", "corking_machine"} <= {*PLACED}


@pytest.mark.parametrize("style", ["flat", "solid"])
@pytest.mark.parametrize("name", PLACED)
def test_example_shows_every_body_and_joint_and_no_label_lies_on_anything(name: str, style: str) -> None:
    geometry = as_model(name).geometry
    assert geometry is not None
    bodies = [body for body in geometry.mechanism.bodies if body != "ground"]
    scene = draw(name, "mechanism", style=style).scene
    shown = {shape.origin.element for shape in scene.shapes}
    assert {*bodies, *geometry.mechanism.joints} <= shown
    if style == "flat":
        assert check_scene(scene, [*bodies, *geometry.mechanism.joints]) == ()


def test_a_network_keeps_its_schematic() -> None:
    scene = draw("crank_rod", "network").scene
    assert scene.title.startswith("Schematic")
    assert check_scene(scene, [element.name for element in as_model("crank_rod").elements]) == ()


@pytest.mark.parametrize("name", ["crank_rod", "mobile_manipulator"])
def test_pins_hold_wherever_the_motion_leads(name: str) -> None:
    run = simulate(name)
    pose = MechanismPose(as_model(name))
    for row in run.table(list(pose.tree.coordinates))[:: len(run.t) // 20]:
        here = MechanismPose(as_model(name), dict(zip(pose.tree.coordinates, row, strict=True)))
        for joint in here.mechanism.joints.values():
            if joint.kind == "revolute":
                (x, y), (u, v) = here.point(joint.first), here.point(joint.second)
                assert hypot(x - u, y - v) < 1e-12


def test_the_piston_is_where_the_relation_of_the_network_leads_it() -> None:
    """H is the derivative of the position that the geometry tells."""
    model, step = as_model("crank_rod"), 1e-6
    before, after = (
        MechanismPose(model, {"theta": theta}).point(BodyPoint("piston", "origin"))[0] for theta in (1 - step, 1 + step)
    )
    R, L, d = 0.05, 0.15, 0.01
    H = -R * sin(1) - R * cos(1) * (R * sin(1) - d) / sqrt(L**2 - (R * sin(1) - d) ** 2)
    assert (after - before) / (2 * step) == pytest.approx(H, rel=1e-8)


def test_the_wheels_of_the_manipulator_roll_as_its_relations_say() -> None:
    """The speed of a wheel is that of its point along its direction, through its radius."""
    model = as_model("mobile_manipulator")
    wheels = next(e for e in model.elements if e.name == "wheels").multiport
    assert wheels is not None
    angle, step = 0.7, 1e-6
    values = {"phi_0": angle, "r": 0.05, "L": 0.2}
    pose = MechanismPose(model, {"phi_0": angle})
    for k, row in enumerate(wheels.K, start=1):
        joint = pose.mechanism.joints[f"wheel_{k}"]
        along = pose.axis(joint)
        ahead, behind = (MechanismPose(model, {"phi_0": angle + way * step}).point(joint.first) for way in (1, -1))
        turning = [(a - b) / (2 * step) for a, b in zip(ahead, behind, strict=True)]
        rolled = along[0] / 0.05, along[1] / 0.05, (along[0] * turning[0] + along[1] * turning[1]) / 0.05
        assert rolled == pytest.approx([entry.evaluate(values) for entry in row], rel=1e-6)


def test_bodies_move_with_trails_and_powers() -> None:
    film = animate("crank_rod", "mechanism", frames=4)
    parts = {shape.origin.part for shape in film.frames[-1]}
    assert {"body", "joint", "trail", "time"} <= parts
    assert len({str([s for s in frame if s.origin.part == "body"]) for frame in film.frames}) == 4


def test_a_result_is_laid_over_bodies_where_they_are() -> None:
    first, second = (draw("crank_rod", "mechanism", at=time).scene for time in (0.0, 0.2))
    assert {"crank", "rod", "piston"} <= {shape.origin.element for shape in first.shapes}
    assert [s for s in first.shapes if s.origin.part == "body"] != [s for s in second.shapes if s.origin.part == "body"]


def test_parameters_that_follow_the_motion_may_be_read() -> None:
    pose = MechanismPose(pendulum(), {"phi": 0.3})
    assert pose.point(BodyPoint("bob", "origin")) == pytest.approx((0.5 * sin(0.3), -0.5 * cos(0.3)))


def test_it_is_written_and_read_again() -> None:
    model = pendulum()
    assert model.geometry is not None
    assert read_model(to_yaml(model)).geometry == model.geometry


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("[l, 0 m]", "[l]", "the point arm.tip is not a pair of coordinates"),
        ("[l, 0 m]", "[l, 1 s]", "the point arm.tip is in s"),
        ("angle: phi", "angle: psi", "the angle of arm uses 'psi'"),
        ("angle:", "angel:", "did you mean 'angle'"),
        ("revolute", "revolut", "did you mean 'revolute'"),
        ("arm.tip, bob", "arm.tap, bob", "did you mean 'arm.tip'"),
        ("[arm.tip, bob]", "[bob]", "joins 2, not 1 points"),
        ("bodies:\n    arm", "bodys:\n    arm", "did you mean 'bodies'"),
        ("experiment:", "mechanism: {bodies: {a: {mass: 1 kg}}}\nexperiment:", "has a geometry besides"),
    ],
)
def test_wrong_words_are_told_with_the_right_ones(old: str, new: str, told: str) -> None:
    with pytest.raises(TellegenError) as caught:
        pendulum(old, new)
    assert told in str(caught.value)


def test_a_pin_that_holds_two_places_is_refused() -> None:
    with pytest.raises(TellegenError, match="F183") as caught:
        draw(pendulum("l*sin(phi)", "2*l*sin(phi) + l"), "mechanism")
    assert "end (arm.tip at" in str(caught.value)


def test_a_place_without_a_value_is_refused_with_its_formula() -> None:
    with pytest.raises(TellegenError, match="D124: the place of bob is not a real number"):
        draw(pendulum("-reach", "-sqrt(l^2 - 4*l^2)"), "mechanism")
    with pytest.raises(TellegenError, match="F182"):  # with the angle at the start
        draw(pendulum("-reach", "-sqrt(l^2*(cos(phi) - 2))"), "mechanism")
