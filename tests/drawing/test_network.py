"""Schematics: every element once, with its own wires, and nothing on anything else."""

import subprocess
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import cycle, pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawing.reading_networks import (
    broken_nodes,
    false_joints,
    nodes_at,
    symbol_boxes,
    symbols_on_each_other,
    wires,
    wires_through_symbols,
)
from support.examples import all_examples
from support.networks import Network, network
from support.strategies import networks
from tellegen import FigureError
from tellegen.core.domains import REFERENCES
from tellegen.core.shipped import LIBRARY, SYSTEMS
from tellegen.drawing import draw
from tellegen.drawing.options import LabelChoice, Options
from tellegen.drawing.schematic.compounds import with_compounds
from tellegen.drawing.schematic.plan import schematic_elements
from tellegen.drawing.schematic.scene import break_letter, schematic_scene
from tellegen.drawing.schematic.symbols import MECHANICAL_DOMAINS, can_turn, one_port_symbol, two_port_symbol
from tellegen.elements import KINDS
from tellegen.model.model import Element, Model
from tellegen.notations.loading import as_model
from tellegen.notations.reading import read_model
from tellegen.scenes.geometry import hull
from tellegen.scenes.ink import check_scene
from tellegen.scenes.scene import Band, Label, Scene

EXAMPLES = [name for name, model in all_examples().items() if model.mechanism is None]
PARTS = [p for p in sorted(LIBRARY.rglob("*.yaml")) if as_model(p).mechanism is None]
NETLISTS = sorted((SYSTEMS / "pog_netlists").glob("*.txt"))


def problems(scene: Scene, elements: tuple[Element, ...]) -> list[object]:
    """All that is wrong with a schematic: what an eye would see, and what its wires say."""
    # Two pistons on a rod are one symbol; nothing moves the edges of a valve here.
    elements = with_compounds(elements, {name for e in elements if e.law for name in e.law.expression.free_symbols})
    names = [element.name for element in elements]
    found: list[object] = [*check_scene(scene, names)]
    found += symbols_on_each_other(scene)
    found += wires_through_symbols(scene)
    found += false_joints(scene)
    cut = {shape.origin.element for shape in scene.shapes if shape.origin.part == "row"}
    found += [node for node in broken_nodes(scene) if node not in cut]
    reached = nodes_at(scene)
    for element in elements:
        expected = {node for node in element.nodes if node not in REFERENCES}
        # What sits on the end of a shaft by itself needs no wire.
        alone = reached[element.name] == set() and element.kind.domains[0] in MECHANICAL_DOMAINS
        if reached[element.name] != expected and not alone:
            found.append((element.name, expected, reached[element.name]))
    return found


def crossings(scene: Scene) -> list[tuple[str, str]]:
    """The nodes whose wires cross those of others."""
    pieces = [(w.origin.port, hull(ends)) for w in wires(scene) for ends in pairwise(w.points)]
    level = [(node, box) for node, box in pieces if box.height == 0]
    upright = [(node, box) for node, box in pieces if box.width == 0]
    return [
        (one, two)
        for one, a in level
        for two, b in upright
        if one != two and a.left < b.left < a.right and b.top < a.top < b.bottom
    ]


CLOSED_CIRCUIT = """
system: closed circuit
network:
  tau_e: {torque source: [frame, drive]}
  J_p: {inertia: [drive]}
  pump: {pump: [drive, frame, high, low]}
  C_h: {accumulator: [high, tank]}
  G_h: {leak: [high, tank]}
  G: {leak: [high, low]}
  C_l: {accumulator: [low, tank]}
  Q_c: {flow source: [tank, low]}
  motor: {hydraulic motor: [high, low, load, frame]}
  J_m: {inertia: [load]}
"""


def test_the_return_line_of_a_closed_circuit_runs_below_and_carries_its_own_elements() -> None:
    model = read_model(CLOSED_CIRCUIT)
    scene = schematic_scene(model)
    assert problems(scene, model.elements) == []
    assert crossings(scene) == []
    boxes = symbol_boxes(scene)
    (low,) = {
        y
        for w in wires(scene)
        for (x, y), (u, v) in pairwise(w.points)
        if w.origin.port == "low" and y == v and abs(u - x) > 50
    }
    assert all(boxes[name].bottom < low for name in ("pump", "C_h", "G_h", "G", "motor"))
    assert all(boxes[name].top > low for name in ("C_l", "Q_c"))


def test_a_line_that_meets_the_first_terminals_of_machines_at_the_reference_is_no_return_line() -> None:
    machines = [(name, "dc machine", "gnd", "a", "frame", "shaft") for name in ("one", "two")]
    shaft = [("K", "torsion spring", "shaft", "frame"), ("w", "speed source", "shaft", "frame")]
    model = network(*machines, ("C", "capacitor", "a", "gnd"), *shaft, ("J", "inertia", "shaft", "frame")).model()
    assert problems(schematic_scene(model), model.elements) == []


def test_a_closed_circuit_that_is_too_long_for_a_row_is_drawn_all_the_same() -> None:
    model = read_model(CLOSED_CIRCUIT)
    assert problems(schematic_scene(model, Options(max_width=400)), model.elements) == []


@pytest.mark.parametrize("name", EXAMPLES)
def test_example_is_drawn_without_overlap_and_with_its_own_wires(name: str) -> None:
    model = as_model(name)
    assert problems(schematic_scene(model), schematic_elements(model)) == []


@pytest.mark.parametrize("path", NETLISTS, ids=lambda path: path.stem)
def test_netlist_is_drawn(path: Path) -> None:
    model = as_model(path)
    assert problems(schematic_scene(model), schematic_elements(model)) == []


@pytest.mark.parametrize("path", PARTS, ids=lambda path: path.stem)
def test_part_of_the_library_is_drawn_with_its_ports(path: Path) -> None:
    model = as_model(path)
    scene = schematic_scene(model)
    assert problems(scene, schematic_elements(model)) == []
    shown = {shape.origin.element for shape in scene.shapes if shape.origin.part == "port"}
    joined = {node for port in model.ports.values() if not port.source for node in port.nodes}
    assert shown == joined - REFERENCES


@given(networks(couplings=True), st.sampled_from(["symbols", "values", "both"]))
def test_any_network_is_drawn(network: Network, labels: LabelChoice) -> None:
    model = network.model()
    assert problems(schematic_scene(model, Options(labels=labels)), model.elements) == []


def turned(model: Model, angles: Sequence[int]) -> Model:
    """The model with its symbols of two ends turned by these angles, one after the other; 0 leaves one as it is."""
    names = [element.name for element in model.elements if can_turn(element.kind)]
    return replace(model, turned={name: angle for name, angle in zip(names, cycle(angles), strict=False) if angle})


QUARTERS = st.lists(st.sampled_from([0, 90, 270]), min_size=1, max_size=7)


@given(networks(couplings=True), QUARTERS)
def test_any_network_is_drawn_with_turned_symbols(network: Network, angles: list[int]) -> None:
    model = turned(network.model(), angles)
    scene = schematic_scene(model)
    assert problems(scene, model.elements) == []
    assert scene.notes == ()


@pytest.mark.parametrize(
    "name", [n if n == "dc_motor_pump" else pytest.param(n, marks=pytest.mark.slow) for n in EXAMPLES]
)
def test_example_is_drawn_with_turned_symbols(name: str) -> None:
    for angles in ([90], [270, 0, 90]):
        model = turned(as_model(name), angles)
        assert problems(schematic_scene(model), model.elements) == []


def test_a_turned_symbol_stands_across_its_line_and_a_mass_does_not() -> None:
    model = as_model("dc_motor_pump")
    usual, other = (symbol_boxes(schematic_scene(one)) for one in (model, turned(model, [90])))
    assert usual["R_a"].width > usual["R_a"].height
    assert other["R_a"].height > other["R_a"].width
    assert schematic_scene(replace(model, turned={"J_m": 90})).notes == (
        "'J_m' is not turned: its symbol has no two ends",
    )
    with pytest.raises(FigureError, match=r"F160: there is no 'R_b' in this schematic"):
        schematic_scene(replace(model, turned={"R_b": 90}))


@pytest.mark.parametrize("labels", ["values", "both"])
@pytest.mark.parametrize("name", ["dc_motor_pump", "quarter_car", "buck_converter"])
def test_values_stand_beside_the_symbols(name: str, labels: LabelChoice) -> None:
    model = as_model(name)
    assert problems(schematic_scene(model, Options(labels=labels)), model.elements) == []


def test_labels_are_parameters_values_or_both() -> None:
    texts = {
        choice: {shape.text for shape in draw("rlc", "network", labels=choice).scene.shapes if isinstance(shape, Label)}
        for choice in ("symbols", "values", "both")
    }
    assert "R" in texts["symbols"]
    assert r"20\,\Omega" in texts["values"]
    assert r"R = 20\,\Omega" in texts["both"]


def test_another_value_of_a_parameter_moves_nothing() -> None:
    text = (SYSTEMS / "dc_motor_pump.yaml").read_text()
    other = text.replace("L_a: 2 mH", "L_a: 35 uH")
    assert other != text
    one, two = (schematic_scene(read_model(source)) for source in (text, other))
    assert one.shapes == two.shapes


def test_the_parts_of_a_motor_and_pump_go_from_left_to_right() -> None:
    boxes = symbol_boxes(draw("dc_motor_pump", "network").scene)
    order = ["V_a", "L_a", "R_a", "motor", "J_m", "b_m", "pump", "C_0", "alpha_p", "Q_0"]
    assert sorted(order, key=lambda name: boxes[name].left) == order
    assert boxes["L_a"].centre[1] < boxes["motor"].centre[1] == pytest.approx(boxes["J_m"].centre[1])


def test_a_quarter_car_stands_on_its_road() -> None:
    boxes = symbol_boxes(draw("quarter_car", "network").scene)
    order = ["m_s", "K_s", "m_u", "K_t", "v_r"]
    assert sorted(order, key=lambda name: boxes[name].top) == order


def test_a_ball_is_over_its_floor_and_its_weight_pushes_it_down() -> None:
    boxes = symbol_boxes(draw("bouncing_ball", "network").scene)
    assert boxes["weight"].bottom < boxes["m"].centre[1] < boxes["ground"].top


def test_a_bond_graph_is_drawn_as_the_network_that_it_stands_for() -> None:
    model = read_model("system: s\nbond graph: [Se:V (electrical) -> 1:i, i -> R:R, i -> I:L, i -> C:C]")
    scene = schematic_scene(model)
    assert check_scene(scene, ["V", "R", "L", "C"]) == ()
    boxes = symbol_boxes(scene)
    assert len(boxes) == 4


def test_bonds_that_are_no_wires_are_drawn_as_transformers() -> None:
    scene = schematic_scene(no_graph())
    assert check_scene(scene, ["L1", "L2", "L3", "C1", "C2", "C3"]) == ()


def no_graph() -> Model:
    """The complete bipartite graph of three and three as junctions: its bonds are no wires of a network."""
    bonds = [f"0:a{i} -> 1:b{j}" for i in (1, 2, 3) for j in (1, 2, 3)]
    bonds += [f"1:b{j} -> I:L{j} (electrical)" for j in (1, 2, 3)] + [
        f"0:a{i} -> C:C{i} (electrical)" for i in (1, 2, 3)
    ]
    return read_model(f"system: s\nbond graph: [{', '.join(bonds)}]")


def test_every_kind_of_one_port_has_a_symbol_about_its_axis() -> None:
    for kind in dict.fromkeys(KINDS.values()):
        if len(kind.domains) > 1:
            continue
        symbol = one_port_symbol(kind)
        points = [point for part in symbol.parts for _, points in part.outline for point in points]
        assert min(x for x, _ in points) == -symbol.length / 2, kind.name
        assert max(x for x, _ in points) == symbol.length / 2, kind.name
        assert min(y for _, y in points) >= -symbol.up - 1, kind.name
        assert max(y for _, y in points) <= symbol.down + 1, kind.name


def test_the_figure_is_valid_svg_with_a_text_for_screen_readers() -> None:
    figure = draw("hydraulic_cylinder", "network")
    ElementTree.fromstring(figure.svg())
    assert "cylinder at chamber, tank, rod, frame" in figure.scene.about or "piston cylinder" in figure.scene.about


def test_tikz_compiles(tmp_path: Path, system_tool: Callable[[str], str]) -> None:
    draw("dc_motor_pump", "network").save(tmp_path / "figure.tex")
    done = subprocess.run(
        [system_tool("pdflatex"), "-interaction=nonstopmode", "figure.tex"],
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:]


@pytest.mark.parametrize("node", ["a", "gnd"])
def test_an_element_on_one_node_is_drawn_all_the_same(node: str) -> None:
    parts = (("V", "voltage source", "a", "gnd"), ("C", "capacitor", "a", "gnd"), ("R", "resistor", node, node))
    assert check_scene(schematic_scene(network(*parts).model()), ["V", "C", "R"]) == ()


def test_a_wire_to_a_node_without_another_element_ends_in_a_circle() -> None:
    ends = {"R_1": "ab", "R_2": "ac", "R_3": "bc", "R_4": "bd", "R_5": "ad", "R_6": "ce"}
    parts = [("V", "voltage source", "a", "gnd"), ("C", "capacitor", "c", "gnd")]
    parts += [(name, "resistor", *pair) for name, pair in ends.items()]
    scene = schematic_scene(network(*parts).model())
    assert check_scene(scene) == ()
    assert {shape.origin.port for shape in scene.shapes if shape.origin.part == "end"} == {"e"}


def test_a_circuit_without_a_reference_has_a_rail_at_the_node_where_most_elements_end() -> None:
    parts = (("V", "voltage source", "a", "z"), ("R", "resistor", "a", "b"), ("C", "capacitor", "b", "z"))
    scene = schematic_scene(network(*parts).model())
    rails = [shape for shape in scene.shapes if shape.origin.part == "rail"]
    assert {shape.origin.port for shape in rails} == {"z"}
    assert not [shape for shape in scene.shapes if shape.origin.part == "ground"]


def ladder(sections: int) -> Model:
    parts = [("V", "voltage source", "n0", "gnd")]
    for k in range(sections):
        parts += [(f"R_{k}", "resistor", f"n{k}", f"n{k + 1}"), (f"C_{k}", "capacitor", f"n{k + 1}", "gnd")]
    return network(*parts).model()


@given(st.integers(300, 2000))
def test_a_long_line_goes_on_in_rows_with_letters_at_both_ends(width: int) -> None:
    model = ladder(20)
    scene = schematic_scene(model, Options(max_width=width))
    assert check_scene(scene, [element.name for element in model.elements]) == ()
    assert symbols_on_each_other(scene) == []
    assert scene.box.width <= width
    letters = [shape.text for shape in scene.shapes if isinstance(shape, Label) and shape.origin.part == "row"]
    assert all(letters.count(letter) == 2 for letter in letters)
    assert len(letters) == 2 * (len({box.top for name, box in symbol_boxes(scene).items() if name[0] == "C"}) - 1)


def test_rows_have_as_many_letters_as_they_need() -> None:
    assert [break_letter(k) for k in (0, 25, 26, 53)] == ["A", "Z", "A1", "B2"]


def test_domains_are_areas_that_meet_in_the_machine_between_them() -> None:
    scene = draw("dc_motor_pump", "network").scene
    bands = [shape for shape in scene.shapes if isinstance(shape, Band)]
    boxes = symbol_boxes(scene)
    assert [band.domain for band in bands] == ["electrical", "rotational", "hydraulic"]
    assert boxes["motor"].left < bands[0].box.right == bands[1].box.left < boxes["motor"].right
    assert boxes["pump"].left < bands[1].box.right == bands[2].box.left < boxes["pump"].right
    assert not [s for s in draw("dc_motor_pump", "network", theme="mono").scene.shapes if isinstance(s, Band)]


def test_one_domain_needs_no_areas() -> None:
    assert not [shape for shape in draw("rlc", "network").scene.shapes if isinstance(shape, Band)]


def test_belts_and_pulleys_are_no_gears_and_racks_and_coupled_coils_have_dots() -> None:
    for word, like in (("belt", "gear"), ("pulley", "rack")):
        own, other = two_port_symbol(KINDS[word]), two_port_symbol(KINDS[like])
        assert own is not None
        assert other is not None
        assert own.parts != other.parts
        # The physics is one: what reads a symbol by its terminals finds the same ones.
        assert (KINDS[word].coupling, KINDS[word].domains) == (KINDS[like].coupling, KINDS[like].domains)
        assert len(own.pins) == len(other.pins)
    transformer = two_port_symbol(KINDS["transformer"])
    assert transformer is not None
    assert sum(part.filled for part in transformer.parts) == 2
