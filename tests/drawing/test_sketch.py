"""Schematics with nodes at their places: after the geometry of a netlist, and on a grid where a network is meshed."""

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawing.reading_networks import false_joints, symbol_boxes, symbols_on_each_other, wires, wires_through_symbols
from support.networks import network
from tellegen.core.shipped import SYSTEMS
from tellegen.drawing import check_scene, draw
from tellegen.drawing.options import Options
from tellegen.drawing.schematic.scene import schematic_scene
from tellegen.model.model import Model
from tellegen.notations.loading import as_model
from tellegen.notations.netlist.loading import read_netlist, read_place
from tellegen.scenes.scene import Bond, Curve, Label, Scene

NETLISTS = sorted((SYSTEMS / "pog_netlists").glob("*.txt"))
SQUARE = "eV, 1, 0, En, V, An, -90\neR, 1, 2, Kn, R\n--, 0, 3\neC, 2, 3, Kn, C\n"


def middles(scene: Scene) -> dict[str, tuple[float, float]]:
    return {name: box.centre for name, box in symbol_boxes(scene).items()}


def faults(scene: Scene, model: Model) -> list[object]:
    return [
        *check_scene(scene, [element.name for element in model.elements]),
        *symbols_on_each_other(scene),
        *wires_through_symbols(scene),
        *false_joints(scene),
    ]


# -- geometry of netlists ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", NETLISTS, ids=lambda path: path.stem)
def test_elements_stand_where_the_netlist_puts_them(path: Path) -> None:
    model = as_model(path)
    sketch, at = model.sketch, middles(schematic_scene(model))
    assert sketch is not None
    wanted = {}
    for element in model.elements:
        branch = sketch.branches[element.name]
        ends = [sketch.points[point] for point in branch.points]
        if len(ends) == 2:
            way = (ends[1] - ends[0]) / abs(ends[1] - ends[0]) * (1 if branch.drawn else -1)
            wanted[element.name] = sum(ends) / 2 + branch.shifts[0] * way * 1j
    names = list(wanted)
    first, unit = names[0], _unit(wanted, at)
    for name in names[1:]:
        step = wanted[name] - wanted[first]
        moved = at[name][0] - at[first][0], at[first][1] - at[name][1]
        assert moved == pytest.approx((step.real * unit, step.imag * unit), abs=9)  # some symbols are not symmetric


def _unit(wanted: dict[str, complex], at: dict[str, tuple[float, float]]) -> float:
    """The size of one unit of the sketch in the figure."""
    left, right = (choose(wanted, key=lambda name: wanted[name].real) for choose in (min, max))
    return (at[right][0] - at[left][0]) / (wanted[right].real - wanted[left].real)


def test_a_square_is_a_square() -> None:
    at = middles(schematic_scene(read_netlist(SQUARE)))
    assert at["V"][0] < at["R"][0] < at["C"][0]
    assert at["V"][1] == pytest.approx(at["C"][1])
    assert at["R"][1] < at["V"][1]
    assert at["C"][0] - at["V"][0] == pytest.approx(2 * (at["V"][1] - at["R"][1]), abs=0.01)


def test_another_length_and_another_angle_move_what_follows() -> None:
    square = middles(schematic_scene(read_netlist(SQUARE)))
    wide = middles(
        schematic_scene(read_netlist(SQUARE.replace("Kn, R", "Kn, R, Ln, 2").replace("--, 0, 3", "--, 0, 3, Ln, 2")))
    )
    assert wide["C"][0] - wide["V"][0] == pytest.approx(2 * (square["C"][0] - square["V"][0]), abs=0.01)
    upwards = middles(schematic_scene(read_netlist("eR, 1, 2, Kn, R, An, 90\neC, 2, 3, Kn, C\neV, 3, 1, En, V\n")))
    assert upwards["C"][1] < upwards["R"][1]


def test_a_shift_is_to_the_left_of_the_way() -> None:
    text = SQUARE + "eL, 1, 2, Kn, L, Sh, 0.8\neG, 2, 3, Kn, G, Sh, 0.8\n"
    at = middles(schematic_scene(read_netlist(text)))
    assert at["L"][1] < at["R"][1]  # above a line to the right
    assert at["G"][0] > at["C"][0]  # right of a line downwards


def test_points_have_the_places_that_are_written() -> None:
    text = "*P, 1=(0+2*1i), 2=(3+2*1i), 3=(3+0*1i)\neV, 1, 0, En, V, An, -90, Ln, 2\neR, 1, 2, Kn, R\neC, 2, 3, Kn, C\n--, 0, 3"
    model = read_netlist(text)
    assert model.sketch is not None
    assert model.sketch.points["0"] == pytest.approx(0)
    at = middles(schematic_scene(model))
    assert (at["C"][0] - at["V"][0]) / (at["V"][1] - at["R"][1]) == pytest.approx(3, abs=0.01)


def test_a_minus_puts_the_label_on_the_other_side() -> None:
    for name, above in (("R", True), ("-R", False)):
        scene = schematic_scene(read_netlist(SQUARE.replace("Kn, R", f"Kn, {name}")))
        label = next(s for s in scene.shapes if isinstance(s, Label) and s.origin.element == "R")
        assert (label.at[1] < middles(scene)["R"][1]) == above


def test_places_are_complex_numbers() -> None:
    known = {
        "(2+1*1i)": 2 + 1j,
        "(0.5-2i)": 0.5 - 2j,
        "-3": -3,
        "1i": 1j,
        "(1+i)": 1 + 1j,
        "( 1.5 + 2 * 1i )": 1.5 + 2j,
    }
    assert {text: read_place(text) for text in known} == known
    assert [read_place(text) for text in ("", "()", "here", "1e9", "2+3", "i2")] == [None] * 6


def test_a_netlist_without_geometry_and_one_that_puts_things_on_each_other_are_laid_out() -> None:
    plain = read_netlist("eV, 1, 0, En, V\neR, 1, 2, Kn, R\neC, 2, 0, Kn, C")
    assert plain.sketch is None
    piled = read_netlist(SQUARE + "eL, 2, 3, Kn, L\n")
    assert piled.sketch is not None
    for model in (plain, piled):
        assert faults(schematic_scene(model), model) == []
    assert draw(plain, "network").notes == ()
    (note,) = draw(piled, "network").notes
    assert note.startswith("laid out anew: where the netlist puts its elements they would lie on each other")


def test_numbers_that_are_none_count_as_not_given() -> None:
    one, two = (read_netlist(SQUARE + extra) for extra in ("", "eG, 2, 3, Kn, G, Sh, wide\n"))
    assert two.sketch is not None
    assert two.sketch.branches["G"].shifts == (0.0,)
    assert one.sketch is not None
    assert all(two.sketch.points[point] == place for point, place in one.sketch.points.items())


# -- meshes --------------------------------------------------------------------------------------------------------------------

BRIDGE = (
    ("V", "voltage source", "a", "gnd"),
    ("R_1", "resistor", "a", "b"),
    ("R_2", "resistor", "b", "gnd"),
    ("R_3", "resistor", "a", "c"),
    ("R_4", "resistor", "c", "gnd"),
    ("R_5", "resistor", "b", "c"),
)


def mesh(rows: int, columns: int) -> Model:
    parts = [("V", "voltage source", "n0_0", "gnd")]
    for i in range(rows):
        for j in range(columns):
            parts += [(f"C_{i}_{j}", "capacitor", f"n{i}_{j}", "gnd")]
            parts += [(f"R_{i}_{j}", "resistor", f"n{i}_{j}", f"n{i}_{j + 1}")] if j + 1 < columns else []
            parts += [(f"L_{i}_{j}", "inductor", f"n{i}_{j}", f"n{i + 1}_{j}")] if i + 1 < rows else []
    return network(*parts).model()


def test_a_bridge_looks_as_in_a_textbook() -> None:
    model = network(*BRIDGE).model()
    scene = schematic_scene(model)
    assert faults(scene, model) == []
    at = middles(scene)
    assert at["R_1"][0] == pytest.approx(at["R_2"][0])
    assert at["R_3"][0] == pytest.approx(at["R_4"][0])
    assert at["R_1"][1] == pytest.approx(at["R_3"][1])
    assert at["R_2"][1] == pytest.approx(at["R_4"][1])
    assert at["V"][0] < at["R_1"][0] < at["R_5"][0] < at["R_3"][0]
    assert at["R_1"][1] < at["R_5"][1] < at["R_2"][1]
    assert len({s.origin.port for s in scene.shapes if isinstance(s, Curve) and s.origin.part == "ground"}) == 1


@pytest.mark.parametrize(("rows", "columns"), [(2, 2), (3, 5), (5, 3)])
def test_a_mesh_is_a_grid(rows: int, columns: int) -> None:
    model = mesh(rows, columns)
    scene = schematic_scene(model)
    assert faults(scene, model) == []
    at = middles(scene)
    for letter, counts in (("R", {rows, columns - 1}), ("L", {rows - 1, columns})):
        own = [place for name, place in at.items() if name[0] == letter]
        if letter == "L":  # coils are not symmetric
            own = [(5 * round(x / 5), 5 * round(y / 5)) for x, y in own]
        # The grid may lie on its side.
        assert {len({round(x) for x, _ in own}), len({round(y) for _, y in own})} == counts


def test_three_phases_lie_under_each_other() -> None:
    parts = [("V", "voltage source", "a", "gnd"), ("R", "resistor", "a", "b"), ("L", "inductor", "b", "n")]
    phases = [
        (f"{name}_{k}", kind, *(node + str(k) if node in "ab" else node for node in ends))
        for k in (1, 2, 3)
        for name, kind, *ends in parts
    ]
    model = network(*phases).model()
    scene = schematic_scene(model)
    assert faults(scene, model) == []
    at = middles(scene)
    for k in (1, 2, 3):
        assert at[f"V_{k}"][0] < at[f"R_{k}"][0] < at[f"L_{k}"][0]
        assert at[f"V_{k}"][1] == pytest.approx(at[f"R_{k}"][1]) == pytest.approx(at[f"L_{k}"][1], abs=6)
    assert at["R_1"][1] < at["R_2"][1] < at["R_3"][1]


@given(st.integers(4, 9), st.data())
def test_any_meshed_circuit_is_drawn_without_faults(count: int, data: st.DataObject) -> None:
    nodes = [f"n{k}" for k in range(count)]
    parts = [("V", "voltage source", nodes[0], "gnd")]
    parts += [(f"R_{k}", "resistor", nodes[k], nodes[data.draw(st.integers(0, k - 1))]) for k in range(1, count)]
    pairs = data.draw(st.lists(st.tuples(st.sampled_from(nodes), st.sampled_from([*nodes, "gnd"])), max_size=8))
    parts += [(f"C_{k}", "capacitor", one, two) for k, (one, two) in enumerate(pairs) if one != two]
    parts += [(f"G_{k}", "resistor", node, "gnd") for k, node in enumerate(nodes)]
    model = network(*parts).model()
    for labels in ("symbols", "both"):
        assert faults(schematic_scene(model, Options(labels=labels)), model) == []


def test_one_more_element_in_a_mesh_moves_the_others_little() -> None:
    before, after = mesh(3, 4), mesh(3, 4).elements
    larger = network(*((e.name, e.kind.name, *e.nodes) for e in after), ("R_x", "resistor", "n2_3", "gnd")).model()
    one, two = middles(schematic_scene(before)), middles(schematic_scene(larger))
    origin = one["V"][0] - two["V"][0], one["C_0_0"][1] - two["C_0_0"][1]
    moved = [
        name
        for name, (x, y) in one.items()
        if abs(x - two[name][0] - origin[0]) > 70 or abs(y - two[name][1] - origin[1]) > 70
    ]
    assert moved == []


# -- conflicts of causality ----------------------------------------------------------------------------------------------------


def test_a_causal_conflict_is_drawn_and_marked() -> None:
    parts = (
        ("V_1", "voltage source", "a", "gnd"),
        ("V_2", "voltage source", "a", "gnd"),
        ("R", "resistor", "a", "gnd"),
    )
    scene = draw(network(*parts).model(), "bond").scene
    assert check_scene(scene) == ()
    warned = [s.origin.element for s in scene.shapes if isinstance(s, Bond) and s.warned]
    rings = [s.origin.element for s in scene.shapes if s.origin.part == "warning"]
    assert warned == rings == ["V_2"]
    assert "conflict: 'V_2' cannot impose its voltage: 'V_1' decides it already" in scene.about


def test_slanted_elements_of_a_netlist_stand_slanted() -> None:
    lines = "eV, 1, 0, En, V, An, -90\neR, 1, 2, Kn, R, An, 30\neL, 2, 3, Kn, L, An, -30\neC, 3, 4, Kn, C, An, -90\n--, 0, 4\n"
    model = read_netlist(lines)
    scene = schematic_scene(model)
    assert check_scene(scene, [element.name for element in model.elements]) == ()
    at = middles(scene)
    assert at["R"][1] == pytest.approx(at["L"][1], abs=9)
    assert at["V"][0] < at["R"][0] < at["L"][0] < at["C"][0]
    pieces = [piece for wire in wires(scene) for piece in pairwise(wire.points)]
    slants = [(one, two) for one, two in pieces if abs(one[0] - two[0]) > 1 and abs(one[1] - two[1]) > 1]
    assert len(slants) == 4


def test_slanted_symbols_on_each_other_are_drawn_another_way() -> None:
    crossed = "eV, 1, 0, En, V, An, -90\neR, 1, 2, Kn, R, An, -45, Ln, 1.414\neC, 0, 3, Kn, C, An, 45, Ln, 1.414\neL, 3, 2, Kn, L"
    model = read_netlist(crossed)
    assert faults(schematic_scene(model), model) == []
