"""Schematics of machines whose second terminals are not at a reference: what is there stands below, and no wire crosses another."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawing.reading_networks import symbol_boxes, wires
from drawing.test_network import crossings, problems
from tellegen.core.shipped import LIBRARY
from tellegen.drawing.options import Options
from tellegen.drawing.schematic.rails import rails_of, switching_leg_nodes
from tellegen.drawing.schematic.scene import schematic_scene
from tellegen.drawing.schematic.wires import count_crossings
from tellegen.model.model import Model
from tellegen.notations.reading import read_model
from tellegen.scenes.scene import Label

SERIES_MOTOR = """
  V: {voltage source: [a, gnd]}
  R_a: {resistor: [a, b]}
  K: {dc machine: [b, c, shaft, frame]}
  L_f: {inductor: [c, d]}
  R_f: {resistor: [d, gnd]}
  J: {inertia: [shaft]}
"""
H_BRIDGE = """
  V: {voltage source: [dc, gnd]}
  S_1: {switch: [dc, left], control: 1}
  S_2: {switch: [left, gnd], control: -1}
  S_3: {switch: [dc, right], control: -1}
  S_4: {switch: [right, gnd], control: 1}
  D_3: {diode: [right, dc]}
  D_4: {diode: [gnd, right]}
  L_a: {inductor: [left, b]}
  K: {dc machine: [b, right, shaft, frame]}
  J: {inertia: [shaft]}
"""
PRESS = """
  P: {pressure source: [p, tank]}
  R_v: {hydraulic resistor: [p, a]}
  C_a: {accumulator: [a, tank]}
  A: {piston: [a, b, ram, frame]}
  C_b: {accumulator: [b, tank]}
  R_b: {hydraulic resistor: [b, tank]}
  m: {mass: [ram]}
"""
VALVE_BETWEEN = """
  tau: {torque source: [frame, drive]}
  pump: {pump: [drive, frame, p, r]}
  C_p: {accumulator: [p, tank]}
  motor: {hydraulic motor: [p, s, out, frame]}
  C_s: {accumulator: [s, tank]}
  R_r: {hydraulic resistor: [s, r]}
  C_r: {accumulator: [r, tank]}
  J: {inertia: [out]}
"""
FLOATING = """
  V: {voltage source: [a, gnd]}
  T: {transformer: [a, gnd, b, c]}
  C_1: {capacitor: [a, b]}
  R: {resistor: [b, c]}
  C_2: {capacitor: [c, gnd]}
"""
COMMON_LINE = """
  V: {voltage source: [s, z]}
  R: {resistor: [s, a]}
  T_1: {transformer: [a, z, b, z]}
  T_2: {transformer: [b, z, c, z]}
  C: {capacitor: [a, c]}
  R_c: {resistor: [c, z]}
"""
HYBRID_DRIVE = """
  tau: {torque source: [frame, e]}
  J_e: {inertia: [e]}
  c: {torsion spring: [e, s]}
  J_s: {inertia: [s]}
  G: {dc machine: [a, gnd, e, frame]}
  C: {capacitor: [a, gnd]}
  R: {resistor: [a, b]}
  M: {dc machine: [b, gnd, s, frame]}
  g: {gear: [s, frame, w, frame]}
  J_w: {inertia: [w]}
"""
BACK_TO_ITSELF = """
  T_0: {transformer: [n0, n1, gnd, n0]}
  e_0: {resistor: [n1, n2]}
  e_1: {resistor: [n1, gnd]}
"""


def described(lines: str) -> Model:
    return read_model(f"system: machines\nnetwork:\n{lines}")


@pytest.mark.parametrize(
    "lines", [SERIES_MOTOR, H_BRIDGE, PRESS, VALVE_BETWEEN, FLOATING, COMMON_LINE, HYBRID_DRIVE, BACK_TO_ITSELF]
)
def test_what_is_behind_a_machine_crosses_nothing(lines: str) -> None:
    model = described(lines)
    scene = schematic_scene(model)
    assert problems(scene, model.elements) == []
    assert crossings(scene) == []


def test_a_line_that_several_transformers_share_is_the_rail_below_them() -> None:
    elements = described(COMMON_LINE).elements
    assert "z" in rails_of(elements)
    boxes = symbol_boxes(schematic_scene(described(COMMON_LINE)))
    assert boxes["C"].bottom < boxes["T_1"].top < boxes["R_c"].bottom


def test_a_rectifier_is_left_of_what_it_feeds() -> None:
    """The figure begins at the source, though this is at no reference."""
    bridge = [f"  D_{k}: {{diode: [{ends}]}}" for k, ends in enumerate(("a, p", "gnd, a", "b, p", "gnd, b"))]
    rest = [
        "  L: {inductor: [p, q]}",
        "  D: {diode: [q, o]}",
        "  C: {capacitor: [o, gnd]}",
        "  R: {resistor: [o, gnd]}",
    ]
    lines = "\n".join(["  V: {voltage source: [a, b]}", *bridge, "  S: {switch: [q, gnd], control: 1}", *rest])
    scene = schematic_scene(described(lines))
    assert problems(scene, described(lines).elements) == []
    boxes = symbol_boxes(scene)
    assert boxes["V"].right < boxes["L"].left < boxes["S"].left < boxes["D"].left < boxes["C"].left < boxes["R"].left
    assert scene.box.width > scene.box.height


def test_the_field_winding_of_a_series_motor_is_below_its_armature() -> None:
    boxes = symbol_boxes(schematic_scene(described(SERIES_MOTOR)))
    assert boxes["K"].bottom < boxes["L_f"].top < boxes["L_f"].bottom < boxes["R_f"].top
    assert boxes["R_a"].bottom < boxes["K"].top + 1
    assert boxes["J"].left > boxes["K"].right - 1


def test_the_second_leg_of_a_bridge_is_in_line_above_and_below_the_wire_to_the_motor() -> None:
    boxes = symbol_boxes(schematic_scene(described(H_BRIDGE)))
    assert boxes["S_3"].bottom < boxes["S_4"].top
    assert boxes["D_3"].bottom < boxes["D_4"].top


WIRED = ("resistor", "capacitor", "inductor", "voltage source", "diode")


@st.composite
def machines(draw_from: st.DrawFn) -> Model:
    """Motors and transformers with wires at random between their terminals and others."""
    nodes = [f"n{k}" for k in range(draw_from(st.integers(3, 7)))]
    ends = st.sampled_from([*nodes, "gnd"])
    pairs = st.tuples(ends, ends).filter(lambda pair: pair[0] != pair[1])
    lines: list[str] = []
    for k in range(draw_from(st.integers(1, 3))):
        one, two = draw_from(pairs)
        if draw_from(st.booleans()):
            lines.append(f"  K_{k}: {{dc machine: [{one}, {two}, shaft_{k}, frame]}}")
            lines.append(f"  J_{k}: {{inertia: [shaft_{k}]}}")
        else:
            third, fourth = draw_from(pairs)
            lines.append(f"  T_{k}: {{transformer: [{one}, {two}, {third}, {fourth}]}}")
    for k, (one, two) in enumerate(draw_from(st.lists(pairs, min_size=2, max_size=9))):
        lines.append(f"  e_{k}: {{{draw_from(st.sampled_from(WIRED))}: [{one}, {two}]}}")
    return described("\n".join(lines))


@settings(max_examples=50)
@given(machines())
def test_any_machines_are_drawn(model: Model) -> None:
    scene = schematic_scene(model)
    assert problems(scene, model.elements) == []
    assert count_crossings(scene.shapes) >= len(crossings(scene))


@pytest.mark.parametrize("name", ["half_bridge", "full_bridge", "inverter"])
def test_legs_of_switches_stand_between_a_line_above_and_a_rail_below(name: str) -> None:
    model = read_model(LIBRARY / f"{name}.yaml")
    scene = schematic_scene(model)
    assert problems(scene, model.elements) == []
    assert crossings(scene) == []
    boxes = symbol_boxes(scene)
    upper = [box for element, box in boxes.items() if element.rpartition(".")[2] in ("S_p", "D_p")]
    lower = [box for element, box in boxes.items() if element.rpartition(".")[2] in ("S_n", "D_n")]
    assert 2 * len(upper) == 2 * len(lower) == len(boxes)
    names = {s.origin.element: s.at for s in scene.shapes if isinstance(s, Label) and s.origin.part == "port"}
    assert {*names} == {node for port in model.ports.values() for node in port.nodes if node != "gnd"}
    assert names["plus"][1] < min(box.top for box in upper)
    assert max(box.bottom for box in upper) < min(box.top for box in lower)
    assert names["minus"][1] > max(box.bottom for box in lower)
    between = [place[1] for node, place in names.items() if node not in ("plus", "minus")]
    assert all(max(box.bottom for box in upper) < y < min(box.top for box in lower) for y in between)


def test_a_leg_with_a_load_at_its_middle_is_no_leg_alone() -> None:
    model = described(H_BRIDGE)
    assert switching_leg_nodes(model.elements, rails_of(model.elements)) == {}


RECTIFIER = "\n".join(
    [
        *(f"  V_{k}: {{voltage source: [{k}, gnd]}}\n  L_{k}: {{inductor: [{k}, {k}_2]}}" for k in "abc"),
        *(f"  D_{k}p: {{diode: [{k}_2, p]}}\n  D_{k}n: {{diode: [n, {k}_2]}}" for k in "abc"),
        "  C: {capacitor: [p, n]}",
    ]
)


def test_the_negative_line_of_a_three_phase_rectifier_is_below_its_legs() -> None:
    model = described(RECTIFIER)
    scene = schematic_scene(model)
    assert problems(scene, model.elements) == []
    assert crossings(scene) == []
    boxes = symbol_boxes(scene)
    assert all(boxes[f"D_{k}n"].top > boxes[f"D_{k}p"].bottom for k in "abc")


def test_bridges_over_one_machine_lie_in_each_other() -> None:
    """Neither crosses the other, though both are wires of the same nodes."""
    bridged = "\n".join(
        [
            "  V: {voltage source: [s, gnd]}",
            "  R_s: {resistor: [s, a]}",
            "  T: {transformer: [a, gnd, b, gnd]}",
            "  C: {capacitor: [a, b]}",
            "  R: {resistor: [a, b]}",
            "  R_l: {resistor: [b, gnd]}",
        ]
    )
    assert count_crossings(schematic_scene(described(bridged)).shapes) == 0


@pytest.mark.parametrize("end", ["gnd", "a"])
def test_a_node_in_the_middle_of_the_line_to_which_nothing_else_is_joined_has_a_short_wire(end: str) -> None:
    lines = "  V: {voltage source: [a, gnd]}\n  R: {resistor: [a, b]}\n  C: {capacitor: [a, c]}\n"
    lines += f"  L: {{inductor: [{end}, d]}}"
    model = described(lines)
    assert problems(schematic_scene(model), model.elements) == []


def test_boxes_at_the_end_of_a_strand_do_not_stop_the_drawing() -> None:
    lines = "\n".join(
        [
            "  T_0: {transformer: [a, b, c, d]}",
            "  T_1: {transformer: [gnd, a, c, d]}",
            "  T_2: {transformer: [b, gnd, gnd, a]}",
            "  R: {resistor: [a, c]}",
        ]
    )
    model = described(lines)
    assert problems(schematic_scene(model), model.elements) == []


def test_lines_below_machines_stay_in_one_row_of_a_figure_that_is_cut() -> None:
    source = "  P: {pressure source: [p, tank]}\n  R: {hydraulic resistor: [p, q]}\n  C: {accumulator: [q, tank]}"
    legs = [
        f"  R_{k}: {{hydraulic resistor: [q, a{k}]}}\n  C_{k}: {{accumulator: [a{k}, tank]}}\n"
        f"  A_{k}: {{piston: [a{k}, b{k}, ram{k}, frame]}}\n  m_{k}: {{mass: [ram{k}]}}\n"
        f"  R_b{k}: {{hydraulic resistor: [b{k}, tank]}}"
        for k in range(2)
    ]
    model = described("\n".join([source, *legs]))
    scene = schematic_scene(model, Options(max_width=760))
    assert problems(scene, model.elements) == []
    assert crossings(scene) == []
    assert [shape for shape in scene.shapes if shape.origin.part == "row"]


@pytest.mark.parametrize(
    ("nodes", "side"),
    [
        ("[a, tank, rod, frame]", -1),
        ("[tank, a, rod, frame]", 1),
        ("[a, tank, frame, rod]", 1),
        ("[tank, a, frame, rod]", -1),
    ],
)
@pytest.mark.parametrize("on_the_left", [True, False])
def test_pressure_is_in_the_chamber_from_which_it_pushes(nodes: str, side: int, on_the_left: bool) -> None:
    """A positive force on a rod pushes to the right, whichever way the rod points: the pipe is left of the piston for it."""
    source = "  P: {pressure source: [s, tank]}\n  R: {hydraulic resistor: [s, a]}"
    other = "  P: {pressure source: [s, tank]}\n  A_0: {piston: [s, tank, lever, frame]}\n  k: {spring: [lever, rod]}"
    loaded = "  m: {mass: [rod]}"
    cylinder = f"  A: {{piston: {nodes}}}\n  C: {{accumulator: [a, tank]}}"
    model = described("\n".join([source, cylinder, loaded] if on_the_left else [other, loaded, cylinder]))
    scene = schematic_scene(model)
    assert problems(scene, model.elements) == []
    box, mass = symbol_boxes(scene)["A"], symbol_boxes(scene)["m"]
    assert (box.left < mass.left) == on_the_left
    pipe = next(x for w in wires(scene) for x, y in w.points if w.origin.port == "a" and abs(y - box.top) < 1)
    piston = box.left + (36 if on_the_left else 40)
    assert (pipe - piston) * side > 10
