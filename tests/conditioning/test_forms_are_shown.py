"""Each form of a mechanism is drawn without anything on top of anything else, printed, and simulated."""

from dataclasses import replace

import numpy as np
import pytest

import tellegen as tg
from tellegen.conditioning import FORMS
from tellegen.drawing import check_scene
from tellegen.expressions import number
from tellegen.model.model import Model
from tellegen.notations.reading import read_model

CAM = """
system: cam and spring
mechanism:
  gravity: 9.81 m/s^2
  bodies:
    cam: {inertia: 0.02 kg*m^2, angle: theta, angular velocity: omega}
    follower: {mass: 0.5 kg}
  joints:
    bearing: {revolute: [ground, cam], friction: 0.02 N*m*s}
    guide: {prismatic: [ground, follower], direction: 90 deg, distance: h}
    lobe: {cam: [cam, guide], lift: "0.02 m*(1 - cos(theta))"}
network:
  k: {spring: [guide, frame], K: 500 N/m}
experiment: {until: 0.2 s, rtol: 1e-9, initial: {theta: 0.3, omega: 5 rad/s}}
"""
# Its wheels and axles hold by rates alone; the turning of the trailer is cut off from the joint that it turns in.
TRAILER = """
system: car with a trailer
mechanism:
  bodies:
    car: {mass: 2 kg, inertia: 0.3 kg*m^2, points: {hitch: [-0.3 m, 0 m]}}
    trailer: {mass: 1 kg, inertia: 0.1 kg*m^2, centre: [-0.3 m, 0 m], points: {axle: [-0.4 m, 0 m]}}
  joints:
    rear: {skate: [car]}
    pin: {revolute: [car.hitch, trailer]}
    tail: {skate: [trailer.axle]}
experiment: {until: 0.2 s, rtol: 1e-9, initial: {car.omega: 0.4 rad/s, car.v_along: 1 m/s}}
"""
LARGE = ("crank_rod_mechanism", "planar_robot", "mobile_manipulator", "andrews_squeezer", "trolley_folder")
SHORT = {"andrews_squeezer": 0.01}


def shown(described: Model, form: str, until: float) -> None:
    """Coordinates and forces as in the model; with parasitic elements within 0.001, for which they are sized."""
    model = replace(described, experiment=replace(described.experiment, until=number(until)))
    conditioned = tg.condition(model, form)
    for notation in ("bond", "pog", "network"):
        assert not check_scene(tg.draw(conditioned, notation).scene), notation
    assert f"{form} form" in conditioned.to_text()
    assert r"\begin{" in conditioned.to_latex()
    plain, run = (tg.simulate(m, until, rtol=1e-9, samples=10) for m in (model, conditioned))
    close = 1e-3 if form == "parasitic" else 1e-6
    for name in plain.displacement_names:
        assert run.values(name) == pytest.approx(plain.values(name), abs=close), name
    forces = [n for n in plain.names if n.endswith((".F_x", ".F_y", ".M")) and not n.startswith("power.")]
    for name in forces:
        wanted = plain.values(name)
        assert run.values(name) == pytest.approx(wanted, abs=close * (1 + np.max(np.abs(wanted)))), name


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("text", [CAM, pytest.param(TRAILER, marks=pytest.mark.slow)], ids=["cam", "trailer"])
def test_each_form_of_a_mechanism_is_drawn_printed_and_simulated(text: str, form: str) -> None:
    shown(read_model(text), form, 0.2)


@pytest.mark.parametrize("form", ["derivative", "residual"])
def test_both_sides_of_an_opened_constraint_are_blocks_of_the_schematic(form: str) -> None:
    scene = tg.draw(tg.condition("rolling_disk", form), "network").scene
    assert not check_scene(scene)
    assert {"rim", "rim_lambda_rim_J"} <= {shape.origin.element for shape in scene.shapes}


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", LARGE)
def test_each_form_of_an_example_is_drawn_printed_and_simulated(name: str, form: str) -> None:
    shown(tg.load(name), form, SHORT.get(name, 0.2))


def test_a_long_name_at_a_side_ladder_keeps_clear_of_its_wires() -> None:
    assert not check_scene(tg.draw(tg.condition("planetary_gear", "parasitic"), "pog").scene)
