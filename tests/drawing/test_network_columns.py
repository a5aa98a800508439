"""Schematics with elements of many ports: boxes in columns, straight wires between them, bridges over them."""

from collections import Counter
from itertools import combinations, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawing.reading_networks import symbol_boxes, wires
from drawing.test_network import problems
from tellegen.drawing import check_scene, draw
from tellegen.drawing.options import Options
from tellegen.drawing.schematic.scene import schematic_scene
from tellegen.drawing.schematic.wires import count_crossings
from tellegen.model.model import Model
from tellegen.notations.reading import read_model
from tellegen.scenes.geometry import Point
from tellegen.scenes.scene import Band, Label, Scene

BOXED = {
    "corking_shaft": ["nuts", "grooves"],
    "corking_transmission": ["nuts", "grooves"],
    "mobile_manipulator": ["wheels", "arm_1", "arm_2"],
    "pmsm": ["rotor"],
    "corking_machine": ["screw_motor.rotor", "nuts", "grooves"],
}


def crossings(scene: Scene) -> int:
    """How often wires of two nodes cross."""
    pieces = [(w.origin.port, a, b) for w in wires(scene) for a, b in pairwise(w.points)]
    return sum(_cross(one[1:], two[1:]) for one, two in combinations(pieces, 2) if one[0] != two[0])


def _cross(one: tuple[Point, Point], two: tuple[Point, Point]) -> bool:
    """Whether a level and an upright piece cross between their ends."""
    for ((a, b), (c, d)), ((p, q), (r, s)) in ((one, two), (two, one)):
        if b == d and p == r and min(a, c) < p < max(a, c) and min(q, s) < b < max(q, s):
            return True
    return False


@pytest.mark.parametrize("name", BOXED)
def test_boxes_stand_from_left_to_right_and_no_wire_crosses_another(name: str) -> None:
    scene = draw(name, "network").scene
    assert crossings(scene) == 0
    assert all(a[0] == b[0] or a[1] == b[1] for wire in wires(scene) for a, b in pairwise(wire.points))
    boxes = [symbol_boxes(scene)[box] for box in BOXED[name]]
    assert all(box.height > box.width for box in boxes)
    assert all(one.right < two.left for one, two in pairwise(boxes))


def test_what_joins_two_boxes_is_between_them_and_what_bridges_one_is_above_it() -> None:
    boxes = symbol_boxes(draw("mobile_manipulator", "network").scene)
    for name in ("m_bx", "m_by", "I_b"):
        assert boxes["wheels"].right < boxes[name].left < boxes[name].right < boxes["arm_1"].left
    for name, box in (("tau_1", "arm_1"), ("tau_2", "arm_2")):
        assert boxes[name].bottom < boxes[box].top
        assert boxes[box].left < boxes[name].left < boxes[name].right < boxes[box].right
    assert boxes["I_w1"].right < boxes["wheels"].left


def test_boxes_that_are_fed_share_a_column() -> None:
    boxes = symbol_boxes(draw("corking_machine", "network").scene)
    one, two = boxes["screw_motor.rotor"], boxes["spline_motor.rotor"]
    assert (one.left, one.right) == (two.left, two.right)
    assert one.bottom < two.top


def test_every_domain_behind_columns_has_its_word() -> None:
    shapes = draw("mobile_manipulator", "network").scene.shapes
    assert {shape.domain for shape in shapes if isinstance(shape, Band)} == {"rotational", "translational"}
    words = [shape.text for shape in shapes if isinstance(shape, Label) and shape.origin.part == "caption"]
    assert sorted(words) == ["mechanical, rotational", "mechanical, translational"]
    assert not any(isinstance(shape, Band) for shape in draw("pmsm", "network", theme="mono").scene.shapes)


def test_columns_are_whole_as_long_as_their_names_can_be_read() -> None:
    """Phases are rungs and not nested loops; what is too small even so goes on in rows."""
    figure = draw("corking_machine", "network", max_width="181 mm")
    assert not [shape for shape in figure.scene.shapes if shape.origin.part == "row"]
    assert figure.text_points >= 5
    assert check_scene(figure.scene) == ()
    narrow = draw("corking_machine", "network", max_width="150 mm")
    assert narrow.scene.box.width < figure.scene.box.width
    assert narrow.text_points >= 5


@pytest.mark.parametrize("name", ["pmsm", "corking_machine"])
def test_machines_tell_their_phases(name: str) -> None:
    scene = draw(name, "network").scene
    letters = [shape.text for shape in scene.shapes if isinstance(shape, Label) and shape.origin.part == "letter"]
    assert letters.count(r"3{\sim}") == letters.count(r"\mathrm{SM}") == (2 if name == "corking_machine" else 1)
    assert check_scene(scene) == ()


@st.composite
def boxed(draw_from: st.DrawFn) -> Model:
    """Boxes with three to five rods, and springs, dampers and masses at these."""
    count = draw_from(st.integers(1, 3))
    nodes = [f"n{k}" for k in range(draw_from(st.integers(3, 9)))]
    lines: list[str] = []
    joined: Counter[str] = Counter()
    for k in range(count):
        most = min(5, len(nodes))
        own = draw_from(st.lists(st.sampled_from(nodes), min_size=3, max_size=most, unique=True))
        joined.update(own)
        ends = ", ".join(f"{node}, frame" for node in own)
        given_ = " + ".join(f"across_{j}" for j in range(2, len(own) + 1))
        lines.append(f"  box_{k}: {{multiport: [{ends}], domains: [{', '.join(['translational'] * len(own))}],")
        lines.append(f"    relation: across_1 = {given_}}}")
    pairs = st.tuples(st.sampled_from(nodes), st.sampled_from([*nodes, "frame"])).filter(
        lambda pair: pair[0] != pair[1]
    )
    for k, (one, two) in enumerate(draw_from(st.lists(pairs, max_size=5))):
        kind = draw_from(st.sampled_from(["spring: [{}], K: 1 N/m", "damper: [{}], b: 1 N*s/m"]))
        joined.update((one, two))
        lines.append(f"  e_{k}: {{{kind.format(f'{one}, {two}')}}}")
    heavy = draw_from(st.sets(st.sampled_from(nodes)))
    lines += [f"  m_{node}: {{mass: [{node}], m: 1 kg}}" for node in nodes if joined[node] == 1 or node in heavy]
    return read_model("\n".join(["system: boxes", "network:", *lines]))


@settings(max_examples=40)
@given(boxed())
def test_any_boxes_are_drawn(model: Model) -> None:
    assert problems(schematic_scene(model, Options()), model.elements) == []


@pytest.mark.parametrize(
    "line",
    [
        "g: {multiport: [a, frame, b, frame, c, frame, d, frame], domains: [translational, translational, translational, "
        "translational], relation: across_1 = across_2 + across_3 + across_4}",
        "g: {lever: [a, frame, b, frame], n: 2}",
    ],
)
def test_terminals_to_which_nothing_is_joined_have_a_short_wire(line: str) -> None:
    model = read_model(f"system: open\nnetwork:\n  {line}\n  m: {{mass: [a], m: 1 kg}}\n")
    scene = schematic_scene(model)
    assert problems(scene, model.elements) == []
    ends = {shape.origin.port for shape in scene.shapes if shape.origin.part == "end"}
    assert ends == {node for node in model.elements[0].nodes if node not in ("a", "frame")}


def test_a_box_whose_terminals_are_joined_is_drawn_too() -> None:
    model = read_model(
        "system: joined\nnetwork:\n"
        "  g: {multiport: [a, frame, b, frame, c, frame], domains: [rotational, rotational, translational], "
        "relation: across_3 = r*across_1 - r*across_2}\n  K_x: {torsion spring: [a, b], K: 1 N*m}\n"
        "  J: {inertia: [a], J: 1 kg*m^2}\n  m: {mass: [c], m: 1 kg}\nparameters: {r: 1 m/rad}\n"
    )
    assert problems(schematic_scene(model), model.elements) == []


def test_bridges_over_one_box_that_would_meet_are_drawn_otherwise() -> None:
    box = "multiport: [a, frame, b, frame, c, frame, d, frame]"
    model = read_model(
        f"system: two bridges\nnetwork:\n  g: {{{box}, domains: [{', '.join(4 * ['translational'])}], "
        "relation: across_1 = across_2 + across_3 + across_4}\n"
        "  K: {spring: [b, c], K: 1 N/m}\n  d_1: {damper: [a, d], b: 1 N*s/m}\n"
    )
    assert problems(schematic_scene(model), model.elements) == []


def over_and_under(*bridges: str) -> Model:
    box = "multiport: [a1, gnd, b1, gnd, c, gnd, d, gnd], domains: [electrical, electrical, electrical, electrical]"
    relation = "relation: [across_3 = across_1 + across_2, across_4 = across_1 - across_2]"
    lines = [
        "V_a: {voltage source: [a, gnd]}",
        "R_a: {resistor: [a, a1]}",
        "V_b: {voltage source: [b, gnd]}",
        "R_b: {resistor: [b, b1]}",
        f"box: {{{box}, {relation}}}",
        "R_c: {resistor: [c, gnd]}",
        "R_d: {resistor: [d, gnd]}",
        *bridges,
    ]
    return read_model("\n".join(["system: bridges", "network:", *(f"  {line}" for line in lines)]))


def test_one_of_two_bridges_leads_under_the_box() -> None:
    model = over_and_under("C_1: {capacitor: [a1, c]}", "C_2: {capacitor: [b1, d]}")
    scene = schematic_scene(model)
    assert problems(scene, model.elements) == []
    assert count_crossings(scene.shapes) == 0
    boxes = symbol_boxes(scene)
    ends = sorted((boxes["C_1"], boxes["C_2"]), key=lambda box: box.top)
    assert ends[0].bottom < boxes["box"].top
    assert ends[1].top > boxes["box"].bottom


def test_bridges_between_the_same_terminals_lie_in_each_other() -> None:
    model = over_and_under("C_1: {capacitor: [a1, c]}", "R_1: {resistor: [a1, c]}")
    scene = schematic_scene(model)
    assert problems(scene, model.elements) == []
    assert count_crossings(scene.shapes) == 0
    boxes = symbol_boxes(scene)
    assert boxes["R_1"].bottom < boxes["C_1"].top < boxes["box"].top


def test_a_star_point_is_led_out_once_behind_the_phases() -> None:
    phases = [f"  V_{k}: {{voltage source: [s{k}, gnd]}}\n  R_{k}: {{resistor: [s{k}, a{k}]}}" for k in (1, 2, 3)]
    nodes = ", ".join([*(f"a{k}, star" for k in (1, 2, 3)), "shaft, frame"])
    relation = ", ".join(f"across_{k} = {k}*K*across_4" for k in (1, 2, 3))
    motor = f"  motor: {{multiport: [{nodes}], domains: [electrical, electrical, electrical, rotational], relation: [{relation}]}}"
    rest = "  C_s: {capacitor: [star, gnd]}\n  J: {inertia: [shaft]}\nparameters: {K: 0.1 N*m/A}"
    model = read_model("\n".join(["system: star", "network:", *phases, motor, rest]))
    scene = schematic_scene(model)
    assert problems(scene, model.elements) == []
    assert count_crossings(scene.shapes) == 0
    boxes = symbol_boxes(scene)
    assert boxes["R_1"].top < boxes["R_2"].top < boxes["R_3"].top < boxes["C_s"].top
    assert boxes["C_s"].right < boxes["motor"].left < boxes["J"].left
