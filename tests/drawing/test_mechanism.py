"""Drawings of mechanisms: bodies where their coordinates put them, joints on them, labels beside everything."""

import subprocess
from cmath import phase
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from math import hypot, pi
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.examples import all_examples
from support.mechanisms import Chain, closed_chains, open_chains
from tellegen.core.errors import TellegenError
from tellegen.drawing import animate, draw
from tellegen.drawing.formulas import figure_latex
from tellegen.drawing.mechanism.pose import MechanismPose, PageView
from tellegen.drawing.mechanism.scene import mechanism_scene
from tellegen.drawing.mechanism.symbols import LINK, depth_layers, rounded_hull
from tellegen.drawing.options import Options
from tellegen.expressions import ZERO
from tellegen.notations.loading import as_model
from tellegen.notations.reading import read_model
from tellegen.scenes.geometry import Point, hull, outline_points
from tellegen.scenes.ink import check_scene
from tellegen.scenes.lettering import name_latex
from tellegen.scenes.scene import Curve, Label, Origin, Scene

EXAMPLES = [name for name, model in all_examples().items() if model.mechanism is not None]


def outline(scene: Scene, element: str, part: str) -> list[Point]:
    return [
        point
        for shape in scene.shapes
        if isinstance(shape, Curve) and (shape.origin.element, shape.origin.part) == (element, part)
        for _, points in shape.outline
        for point in points
    ]


def middle(scene: Scene, joint: str) -> Point:
    """The middle of a pin: its circle is the first outline of its joint."""
    first = next(s for s in scene.shapes if isinstance(s, Curve) and s.origin.element == joint)
    return hull(point for _, points in first.outline for point in points).centre


def in_foreign_faces(scene: Scene) -> list[str]:
    """Texts in the face of a body that they do not belong to: the winding of its outline about them is not zero."""
    found = []
    faces = [s for s in scene.shapes if isinstance(s, Curve) and s.origin.part == "body" and s.pale]
    for label in (s for s in scene.shapes if isinstance(s, Label)):
        for face in (face for face in faces if face.origin.element != label.origin.element):
            around = [complex(x - label.at[0], y - label.at[1]) for _, points in face.outline for x, y in points]
            turned = sum(phase(b / a) for a, b in pairwise([*around, around[0]]) if a != 0)
            if abs(turned) > pi:
                found.append(f"{label.text} in {face.origin.element}")
    return found


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("names", [False, True])
def test_example_shows_every_body_and_joint_and_no_label_lies_on_anything(name: str, names: bool) -> None:
    model = as_model(name)
    assert model.mechanism is not None
    scene = draw(name, "mechanism", names=names).scene
    bodies = [body for body in model.mechanism.bodies if body != "ground"]
    others = [e.name for e in model.elements if "." not in e.name]
    assert check_scene(scene, [*bodies, *model.mechanism.joints, *others]) == ()
    assert in_foreign_faces(scene) == []


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_schematic_of_a_mechanism_is_its_drawing(name: str) -> None:
    assert draw(name, "network").scene == draw(name, "mechanism").scene


@given(open_chains(most=7), st.booleans())
def test_any_open_chain_is_drawn(chain: Chain, dimensions: bool) -> None:
    scene = mechanism_scene(read_model(chain.text()), Options(dimensions=dimensions))
    assert check_scene(scene) == ()
    assert in_foreign_faces(scene) == []


@given(closed_chains(most=7))
def test_any_closed_chain_is_drawn(chain: Chain) -> None:
    try:
        model = read_model(chain.text())
    except TellegenError:
        return  # a loop that fits nowhere has no picture
    scene = mechanism_scene(model)
    assert check_scene(scene) == ()
    assert in_foreign_faces(scene) == []


def test_a_rod_that_slides_in_a_body_has_a_head_in_its_bore() -> None:
    """It closes the bore and carries the contacts; a block that slides on a link has none."""
    scene = draw("piston_cylinder", "mechanism").scene
    own = [s for s in scene.shapes if isinstance(s, Curve) and s.origin.element == "bore"]
    (head,) = (hull(p for _, points in s.outline for p in points) for s in own if s.pale)
    contacts = [hull(p for _, points in s.outline for p in points).centre for s in own if s.filled]
    assert len(contacts) == 4
    assert all(head.grown(0.1).contains(at) for at in contacts)
    rod, barrel = (hull(outline(scene, name, "body")) for name in ("piston", "cylinder"))
    assert barrel.grown(0.1).contains((head.left, head.top))
    assert barrel.grown(0.1).contains((head.right, head.bottom))
    assert rod.overlaps(head)
    slide = draw("rapson_slide", "mechanism").scene
    assert not [s for s in slide.shapes if isinstance(s, Curve) and s.origin.element == "slide" and s.pale]


def test_pins_are_where_the_geometry_puts_them() -> None:
    scene = draw("five_bar", "mechanism").scene
    left, right = middle(scene, "O_l"), middle(scene, "O_r")
    model = as_model("five_bar")
    values = {
        name: float(p.expression.evaluate({})) for name, p in model.parameters.items() if p.expression is not None
    }
    scale = (right[0] - left[0]) / values["c"]
    elbow, tool = middle(scene, "A_l"), middle(scene, "tool")
    assert hypot(elbow[0] - left[0], elbow[1] - left[1]) == pytest.approx(values["a"] * scale, rel=1e-3)
    assert hypot(tool[0] - elbow[0], tool[1] - elbow[1]) == pytest.approx(values["b"] * scale, rel=1e-3)


def test_a_motion_keeps_its_scale_and_its_ground() -> None:
    model = as_model("planar_robot")
    start = mechanism_scene(model)
    later = mechanism_scene(model, coordinates={"phi_1": 0.0, "phi_2": pi / 2, "phi_3": pi / 2})
    assert middle(later, "shoulder") == middle(start, "shoulder")
    (x, y), (u, v) = middle(later, "shoulder"), middle(later, "elbow")
    assert u - x == pytest.approx(
        hypot(*(a - b for a, b in zip(middle(start, "elbow"), middle(start, "shoulder"), strict=True))), abs=0.01
    )
    assert v == pytest.approx(y, abs=0.01)
    assert check_scene(later) == ()


def test_a_disc_a_link_and_a_plate_lie_round_their_points() -> None:
    for points in ([(0.0, 0.0)], [(0.0, 0.0), (50.0, 0.0)], [(0.0, 0.0), (50.0, 0.0), (20.0, 40.0), (20.0, 10.0)]):
        box = hull(point for _, ends in rounded_hull(points).outline for point in ends)
        inner = hull(points).grown(LINK)
        sides = zip(
            (box.left, box.top, box.right, box.bottom), (inner.left, inner.top, inner.right, inner.bottom), strict=True
        )
        # The handles of a curve stand out of it by less than an eighth of its radius.
        assert all(one == pytest.approx(two, abs=LINK / 8 + 0.2) for one, two in sides)


def test_what_else_the_network_has_is_drawn_below() -> None:
    scene = draw("piston_cylinder", "mechanism").scene
    below = [s for s in scene.shapes if isinstance(s, Curve) and s.origin.part == "symbol"]
    bodies = hull(outline(scene, "cylinder", "body") + outline(scene, "beam", "body"))
    assert {"C", "G", "Q", "area"} <= {s.origin.element for s in below}
    assert min(point[1] for s in below for _, points in s.outline for point in points) > bodies.bottom


def test_a_model_without_bodies_is_sent_to_its_schematic() -> None:
    with pytest.raises(TellegenError) as caught:
        draw("rlc", "mechanism")
    assert "F181" in str(caught.value)
    assert "'Series RLC circuit' has no mechanism" in str(caught.value)
    assert "draw(model, 'network')" in str(caught.value)


def test_a_length_without_a_value_is_named() -> None:
    model = as_model("five_bar")
    unknown = {**model.parameters, "a": replace(model.parameters["a"], expression=None)}
    with pytest.raises(TellegenError) as caught:
        draw(replace(model, parameters=unknown), "mechanism")
    assert "F182" in str(caught.value)
    assert "'a' has no value" in str(caught.value)
    assert "a: 0.1 m" in str(caught.value)


def test_arrows_of_forces_point_where_they_push() -> None:
    scene = draw("crank_rod_mechanism", "mechanism").scene
    arrow = hull(outline(scene, "F", "source"))
    piston = hull(outline(scene, "piston", "body"))
    assert arrow.left > piston.right


def test_labels_are_the_names_of_bodies() -> None:
    texts = {shape.text for shape in draw("five_bar", "mechanism").scene.shapes if isinstance(shape, Label)}
    assert any("crank" in text for text in texts)
    assert not any("tool" in text for text in texts)
    named = {shape.text for shape in draw("five_bar", "mechanism", names=True).scene.shapes if isinstance(shape, Label)}
    assert any("tool" in text for text in named)


def test_the_figure_is_valid_svg() -> None:
    ElementTree.fromstring(draw("andrews_squeezer", "mechanism").svg())


def test_tikz_compiles(tmp_path: Path, system_tool: Callable[[str], str]) -> None:
    draw("trolley_folder", "mechanism").save(tmp_path / "figure.tex")
    done = subprocess.run(
        [system_tool("pdflatex"), "-interaction=nonstopmode", "figure.tex"],
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:]


# -- cams and depth ------------------------------------------------------------------------------------------------------------

CAM = """\
system: Cam
mechanism:
  bodies:
    disk: {inertia: 0.1 kg*m^2, angle: phi}
    valve: {mass: 0.5 kg}
  joints:
    axle: {revolute: [ground, disk]}
    stem: {prismatic: [ground, valve], direction: 90 deg}
    lobe: {cam: [disk, stem], lift: "0.02 m*(1 - cos(phi))"}
experiment: {until: 1 s, initial: {phi: 1 rad}}
"""


@pytest.mark.parametrize("style", ["flat", "solid"])
def test_a_cam_has_a_profile_that_reaches_further_where_it_lifts_more(style: str) -> None:
    scene = draw(read_model(CAM), "mechanism", style=style, names=True).scene
    assert check_scene(scene, ["disk", "valve", "axle", "stem", "lobe"]) == ()
    profile = next(s for s in scene.shapes if isinstance(s, Curve) and s.origin == Origin("lobe", "joint"))
    axle = middle(draw(read_model(CAM), "mechanism").scene, "axle")
    if style == "flat":
        radii = [hypot(p[0] - axle[0], p[1] - axle[1]) for _, points in profile.outline for p in points]
        assert max(radii) == pytest.approx(24 + 48, abs=0.5)
        assert min(radii) == pytest.approx(24, abs=0.5)


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_with_depth_keep_their_labels_free(name: str) -> None:
    assert check_scene(draw(name, "mechanism", style="solid").scene) == ()


def test_bodies_that_a_joint_holds_together_lie_in_different_layers() -> None:
    for name in EXAMPLES:
        mechanism = as_model(name).mechanism
        assert mechanism is not None
        layers = depth_layers(mechanism)
        assert set(layers) == {*mechanism.bodies, "ground"}
        for joint in mechanism.joints.values():
            assert joint.first.body == joint.second.body or layers[joint.first.body] != layers[joint.second.body]


def test_faces_look_up_or_to_the_right_and_are_darker_there() -> None:
    scene = draw("crank_rod_mechanism", "mechanism", style="solid").scene
    shades = {s.shade for s in scene.shapes if isinstance(s, Curve) and s.shade}
    assert shades
    assert all(0 < shade < 100 for shade in shades)
    flat = draw("crank_rod_mechanism", "mechanism").scene
    assert not [s for s in flat.shapes if isinstance(s, Curve) and s.shade]


def test_a_style_that_does_not_exist_is_refused() -> None:
    with pytest.raises(TellegenError, match=r"F102.*\n.*\n.*solid"):
        draw("crank_rod_mechanism", "mechanism", style="sold")


@pytest.mark.parametrize("name", ["crank_rod_mechanism", "rapson_slide", "planar_robot"])
def test_dimensions_name_angles_lengths_and_masses(name: str) -> None:
    model = as_model(name)
    figure = draw(model, "mechanism", dimensions=True)
    told = [s.text for s in figure.scene.shapes if isinstance(s, Label) and s.origin.part == "dimension"]
    assert model.mechanism is not None
    for body in model.mechanism.bodies.values():
        if body.mass is not ZERO:
            assert figure_latex(body.mass) in told
    assert told[:2] == ["x", "y"]
    angles = {name_latex(body.angle) for body in model.mechanism.bodies.values() if body.angle in model.displacements}
    assert angles <= {*told}
    assert check_scene(figure.scene) == ()


def test_rollers_go_with_their_body_and_springs_have_two_pins() -> None:
    motion = animate("trolley_folder", "mechanism", frames=3)
    assert not any(shape.origin.part == "rollers" for shape in motion.still.shapes)
    assert all(sum(shape.origin.part == "rollers" for shape in frame) == 2 for frame in motion.frames)
    spring = [s for s in draw("andrews_squeezer", "mechanism").scene.shapes if s.origin.element == "S"]
    assert sum(isinstance(shape, Curve) and shape.closed for shape in spring) >= 2


def test_guides_are_as_long_as_the_stroke_on_the_side_without_links() -> None:
    model = as_model("crank_rod_mechanism")
    pose = MechanismPose(model)
    view = PageView(pose)
    ground = [
        point
        for shape in draw(model, "mechanism").scene.shapes
        if isinstance(shape, Curve) and shape.origin == Origin("cylinder", "joint") and shape.weight == "thin"
        for point in outline_points(shape.outline)
    ]
    reach = (max(x for x, _ in ground) - min(x for x, _ in ground)) / view.scale
    # Both dead centres, from the lengths alone: x = sqrt((L +- R)^2 - d^2).
    R, L, d = 0.05, 0.15, 0.01
    stroke = ((L + R) ** 2 - d**2) ** 0.5 - ((L - R) ** 2 - d**2) ** 0.5
    assert stroke < reach < stroke + 120 / view.scale
    # The links come from above; nothing of the ground is there.
    assert len({y for _, y in ground}) == 1


def test_a_slide_that_nothing_drives_has_no_stroke() -> None:
    pose = MechanismPose(as_model("trolley_folder"))
    assert not pose.is_driven(pose.mechanism.joints["rails"])
    assert pose.stroke(pose.mechanism.joints["rails"]) == []


def test_dimensions_of_links_in_one_line_are_told_apart() -> None:
    """A robot that hangs straight down is drawn spread where its lengths and angles are asked for, and as it starts elsewhere."""
    straight = {
        point[0] for k in (1, 2, 3) for point in outline(draw("planar_robot", "mechanism").scene, f"link_{k}", "centre")
    }
    spread = {
        point[0]
        for k in (1, 2, 3)
        for point in outline(draw("planar_robot", "mechanism", dimensions=True).scene, f"link_{k}", "centre")
    }
    assert max(straight) - min(straight) < 20 < max(spread) - min(spread)
