"""The bodies of parts: in the figures of the whole under the names of the parts, moved and turned to where the whole puts them."""

from math import cos, pi, sin
from pathlib import Path

import pytest

from tellegen.core.errors import TellegenError
from tellegen.drawing import animate, draw
from tellegen.drawing.mechanism.pose import MechanismPose
from tellegen.model.mechanism import BodyPoint
from tellegen.model.model import Model
from tellegen.notations.reading import read_model
from tellegen.notations.writing import to_yaml
from tellegen.scenes.ink import check_scene

ARM = """
system: Arm
ports: {shaft: [bob, frame]}
parameters: {l: 0.5 m, J: 1 kg*m^2, b: 1 N*m*s}
displacements: {phi: omega}
network:
  J: {inertia: [bob], angular velocity: omega}
  b: {rotational damper: [bob, frame]}
geometry:
  bodies:
    ground: {points: {O: [0.1 m, 0 m]}}
    arm: {at: [0.1 m, 0 m], angle: phi - pi/2, points: {tip: [l, 0 m]}}
  joints: {pivot: {revolute: [ground.O, arm]}}
"""
CRANK = """
system: Crank
ports: {shaft: [crank, frame]}
parameters: {R: 0.05 m, L: 0.15 m, J_m: 0.01 kg*m^2, m_p: 0.5 kg}
mechanism:
  bodies:
    crank: {inertia: J_m, points: {pin: [R, 0 m]}, angle: theta}
    rod: {points: {end: [L, 0 m]}}
    piston: {mass: m_p}
  joints:
    bearing: {revolute: [ground, crank]}
    crank_pin: {revolute: [crank.pin, rod]}
    cylinder: {prismatic: [ground, piston]}
    wrist_pin: {revolute: [rod.end, piston]}
"""
TWO = """
system: Two arms
parts:
  left: {use: arm.yaml, ports: {shaft: a}}
  right: {use: arm.yaml, ports: {shaft: c}, l: 0.8 m}
network:
  tau: {torque source: [frame, a]}
  K: {torsion spring: [a, c], K: 3 N*m}
geometry:
  joints: {rod: {spring: [left.arm.tip, right.arm.tip]}}
  parts: {right: {at: [1 m, 0.2 m], angle: 30 deg}}
experiment: {until: 1 s, inputs: {tau: 1 N*m}}
"""
ENGINE = """
system: Engine
parts:
  one: {use: crank.yaml, ports: {shaft: s}}
network:
  tau: {torque source: [frame, s]}
experiment: {until: 1 s, inputs: {tau: 1 N*m}, initial: {one.theta: 1 rad}}
"""


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    for name, text in (("arm", ARM), ("crank", CRANK)):
        (tmp_path / f"{name}.yaml").write_text(text)
    return tmp_path / "whole.yaml"


def written(path: Path, text: str) -> Model:
    path.write_text(text)
    return read_model(path)


def test_bodies_of_parts_stand_where_the_whole_puts_them(whole: Path) -> None:
    pose = MechanismPose(written(whole, TWO), {"left.phi": 0.4, "right.phi": -0.3})
    assert pose.point(BodyPoint("left.arm", "tip")) == pytest.approx((0.1 + 0.5 * sin(0.4), -0.5 * cos(0.4)))
    turn, reach = pi / 6, -0.3 - pi / 2 + pi / 6
    x, y = 1 + 0.1 * cos(turn) + 0.8 * cos(reach), 0.2 + 0.1 * sin(turn) + 0.8 * sin(reach)
    assert pose.point(BodyPoint("right.arm", "tip")) == pytest.approx((x, y))
    assert pose.point(BodyPoint("ground", "right.O")) == pytest.approx(pose.point(BodyPoint("right.arm", "origin")))


def test_they_are_drawn_and_move(whole: Path) -> None:
    model = written(whole, TWO)
    scene = draw(model, "mechanism").scene
    assert check_scene(scene, ["left.arm", "right.arm", "left.pivot", "right.pivot", "rod"]) == ()
    frames = animate(model, "mechanism", frames=3).frames
    assert frames[0] != frames[-1]


@pytest.mark.parametrize(("geometry", "turn"), [("", 0.0), ("geometry: {parts: {one: {angle: 90 deg}}}", pi / 2)])
def test_a_mechanism_as_a_part_moves_too(whole: Path, geometry: str, turn: float) -> None:
    model = written(whole, ENGINE + geometry)
    assert check_scene(draw(model, "mechanism").scene, ["one.crank", "one.rod", "one.piston", "one.cylinder"]) == ()
    pose = MechanismPose(model)
    assert pose.point(BodyPoint("one.crank", "pin")) == pytest.approx((0.05 * cos(1 + turn), 0.05 * sin(1 + turn)))
    assert pose.point(BodyPoint("one.rod", "end")) == pytest.approx(
        pose.point(BodyPoint("one.piston", "origin")), abs=1e-9
    )
    slide = model.geometry.mechanism.joints["one.cylinder"] if model.geometry else None
    assert slide is not None
    assert pose.axis(slide) == pytest.approx((cos(turn), sin(turn)), abs=1e-12)


def test_parts_of_parts_bring_their_bodies(whole: Path, tmp_path: Path) -> None:
    (tmp_path / "two.yaml").write_text(
        TWO.replace("system:", "ports: {shaft: [a, frame]}\nsystem:").split("experiment")[0]
    )
    model = written(
        whole, "system: Nested\nparts:\n  pair: {use: two.yaml, ports: {shaft: s}}\nnetwork:\n  J: {inertia: [s]}\n"
    )
    assert model.geometry is not None
    assert {"pair.left.arm", "pair.right.arm"} <= model.geometry.mechanism.bodies.keys()
    assert MechanismPose(model).point(BodyPoint("ground", "pair.right.O")) == pytest.approx(
        (1 + 0.1 * cos(pi / 6), 0.2 + 0.05)
    )


def test_a_file_written_again_says_what_its_author_said(whole: Path) -> None:
    assert "geometry" not in to_yaml(written(whole, ENGINE))
    again = written(whole, to_yaml(written(whole, TWO)))
    assert again.geometry == written(whole, TWO).geometry


@pytest.mark.parametrize(
    ("old", "new", "code", "told"),
    [
        ("right: {at", "rigth: {at", "D100", "did you mean 'right'?"),
        ("right: {at: [1 m", "right: {at: [1 kg", "D121", "in kg, not in m"),
        ("right: {at:", "right: {place:", "D100", "the keys here are 'at'"),
        ("left.arm.tip", "left.arm.tipp", "M103", "did you mean 'left.arm.tip'?"),
    ],
)
def test_wrong_places_of_parts_are_refused(whole: Path, old: str, new: str, code: str, told: str) -> None:
    with pytest.raises(TellegenError) as caught:
        written(whole, TWO.replace(old, new))
    assert caught.value.code.startswith(code)
    assert told in str(caught.value)


def test_parts_without_bodies_have_no_place(whole: Path) -> None:
    with pytest.raises(TellegenError, match="no part of this system has bodies"):
        written(
            whole,
            TWO.replace("arm.yaml", "dc_motor").replace("{shaft: ", "{electrical: ").split("network")[0]
            + "geometry: {parts: {left: {at: [0 m, 0 m]}}}",
        )
