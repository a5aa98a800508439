"""Schematics of bridges: legs side by side between a line above and one below, loads and sources where engineers draw them."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawing.reading_networks import symbol_boxes
from drawing.test_network import crossings, problems
from tellegen.drawing.options import Options
from tellegen.drawing.schematic.bridge import find_bridge
from tellegen.drawing.schematic.scene import schematic_scene
from tellegen.model.model import Model
from tellegen.notations.reading import read_model
from tellegen.scenes.geometry import Point
from tellegen.scenes.ink import ink_box
from tellegen.scenes.scene import Curve, Scene, Wire

SUPPLY = ["V: {voltage source: [p, gnd]}"]


def described(lines: list[str]) -> Model:
    return read_model("system: bridge\nnetwork:\n" + "\n".join(f"  {line}" for line in lines))


def switches(middles: str, below: str = "gnd") -> list[str]:
    return [
        f"S_{m}{line}: {{switch: [{ends}], control: 1}}"
        for m in middles
        for line, ends in (("p", f"p, {m}"), ("n", f"{m}, {below}"))
    ]


def diodes(middles: str, below: str = "gnd") -> list[str]:
    return [
        f"D_{m}{line}: {{diode: [{ends}]}}"
        for m in middles
        for line, ends in (("p", f"{m}, p"), ("n", f"{below}, {m}"))
    ]


def chain(name: str, start: str, end: str, kinds: tuple[str, ...] = ("inductor", "resistor")) -> list[str]:
    """One-ports in series, called by a letter and numbers."""
    nodes = [start, *(f"{name}{k}" for k in range(1, len(kinds))), end]
    return [f"{name}_{k}: {{{kind}: [{nodes[k]}, {nodes[k + 1]}]}}" for k, kind in enumerate(kinds)]


def middles_of(scene: Scene) -> dict[str, Point]:
    return {name: ((b.left + b.right) / 2, (b.top + b.bottom) / 2) for name, b in symbol_boxes(scene).items()}


def drawn(lines: list[str]) -> tuple[Scene, dict[str, Point]]:
    model = described(lines)
    scene = schematic_scene(model)
    assert problems(scene, model.elements) == []
    return scene, middles_of(scene)


def assert_legs(at: dict[str, Point], middles: str, letter: str) -> None:
    """Upper elements at one height, lower ones at another, each pair in a column, from left to right."""
    for m in middles:
        assert at[f"{letter}_{m}p"][0] == pytest.approx(at[f"{letter}_{m}n"][0], abs=8)  # open switches lean to a side
        assert at[f"{letter}_{m}p"][1] == pytest.approx(at[f"{letter}_{middles[0]}p"][1])
        assert at[f"{letter}_{m}n"][1] == pytest.approx(at[f"{letter}_{middles[0]}n"][1])
        assert at[f"{letter}_{m}p"][1] < at[f"{letter}_{m}n"][1]
    columns = [at[f"{letter}_{m}p"][0] for m in middles]
    assert columns == sorted(columns)


def grounds(scene: Scene) -> int:
    """At how many places there are marks of references."""
    marks = [ink_box([s]) for s in scene.shapes if isinstance(s, Curve) and s.origin.part == "ground"]
    return len({round(box.left + box.right) for box in marks})


def test_the_load_of_two_legs_lies_between_their_middles() -> None:
    scene, at = drawn(SUPPLY + switches("ab") + chain("Z", "a", "b"))
    assert crossings(scene) == []
    assert_legs(at, "ab", "S")
    assert at["V"][0] < at["S_ap"][0] < at["Z_0"][0] < at["Z_1"][0] < at["S_bp"][0]
    assert at["S_ap"][1] < at["Z_0"][1] < at["S_an"][1]
    assert grounds(scene) == 1


def test_diodes_beside_switches_stand_in_the_same_arms() -> None:
    source = ["V: {voltage source: [s, gnd]}", "R_s: {resistor: [s, p]}", "C: {capacitor: [p, gnd]}"]
    load = chain("Z", "a", "b", ("inductor", "resistor", "voltage source"))
    scene, at = drawn(source + switches("ab") + diodes("ab") + load)
    assert crossings(scene) == []
    assert_legs(at, "ab", "S")
    assert_legs(at, "ab", "D")
    assert at["V"][0] < at["R_s"][0] < at["C"][0] < at["S_ap"][0] < at["D_ap"][0] < at["Z_0"][0] < at["S_bp"][0]
    assert at["S_ap"][1] == pytest.approx(at["D_ap"][1], abs=8)


@pytest.mark.parametrize("below", ["gnd", "n"])
def test_a_rectifier_has_its_load_between_the_lines_on_the_right(below: str) -> None:
    loads = [f"C: {{capacitor: [p, {below}]}}", f"R: {{resistor: [p, {below}]}}"]
    scene, at = drawn(["V: {voltage source: [a, b]}", *diodes("ab", below), *loads])
    assert crossings(scene) == []
    assert_legs(at, "ab", "D")
    assert at["D_ap"][0] < at["V"][0] < at["D_bp"][0] < at["C"][0] < at["R"][0]
    assert at["V"][1] == pytest.approx(at["C"][1], abs=8)


PASSIVE = st.sampled_from(("inductor", "resistor", "capacitor"))


@settings(max_examples=10)
@given(
    st.lists(PASSIVE, max_size=3),
    st.lists(st.lists(PASSIVE, min_size=1, max_size=2), min_size=1, max_size=2),
    st.sampled_from(("gnd", "n")),
)
def test_any_rectifier_of_four_diodes_is_a_diamond(feeding: list[str], loads: list[list[str]], below: str) -> None:
    feed = chain("V", "a", "b", ("voltage source", *feeding))
    rest = [line for k, load in enumerate(loads) for line in chain("XY"[k], "p", below, tuple(load))]
    scene, at = drawn([*feed, *diodes("ab", below), *rest])
    assert crossings(scene) == []
    corners = {shape.points for shape in scene.shapes if isinstance(shape, Wire)}
    slanted = [points for points in corners if all(abs(u - v) > 1 for u, v in zip(*points[:2], strict=True))]
    assert len(slanted) >= 4  # the sides, which stand on their corners
    assert at["V_0"][1] == pytest.approx(at[f"V_{len(feeding)}"][1], abs=8)


def test_a_rectifier_whose_source_is_at_the_reference_has_its_mark_beside_a_leg() -> None:
    legs = [line.replace("b]", "gnd]").replace("[b", "[gnd") for line in diodes("ab", "n")]
    scene, at = drawn(["V: {voltage source: [a, gnd]}", *legs, "R: {resistor: [p, n]}"])
    assert crossings(scene) == []
    assert_legs(at, "ab", "D")
    assert grounds(scene) == 1


def test_what_follows_a_rectifier_goes_on_along_the_lines() -> None:
    rest = [
        "L: {inductor: [p, q]}",
        "S: {switch: [q, gnd], control: 1}",
        "D: {diode: [q, o]}",
        "C: {capacitor: [o, gnd]}",
    ]
    scene, at = drawn(["V: {voltage source: [a, b]}", *diodes("ab"), *rest])
    assert crossings(scene) == []
    assert_legs(at, "ab", "D")
    assert at["D_bp"][0] < at["L"][0] < at["S"][0] < at["D"][0] < at["C"][0]
    assert at["L"][1] == pytest.approx(at["D"][1], abs=8)
    assert at["L"][1] < at["D_ap"][1]


def test_the_star_of_an_inverter_is_on_the_right_of_its_legs() -> None:
    """Its lines cross each later leg once: no figure in the plane is without crossings."""
    scene, at = drawn(SUPPLY + switches("abc") + [line for m in "abc" for line in chain(f"Z{m}", m, "n")])
    assert len(crossings(scene)) == 3
    assert_legs(at, "abc", "S")
    assert at["S_cp"][0] < at["Za_0"][0] < at["Za_1"][0]
    assert at["S_ap"][1] < at["Za_0"][1] < at["Zb_0"][1] < at["Zc_0"][1] < at["S_an"][1]
    assert at["Za_1"][0] == pytest.approx(at["Zb_1"][0]) == pytest.approx(at["Zc_1"][0])


def test_the_star_of_sources_of_a_rectifier_is_on_the_left_of_its_legs() -> None:
    star = [line for m in "abc" for line in chain(f"Z{m}", m, "n", ("inductor", "voltage source"))]
    scene, at = drawn(diodes("abc") + star + chain("R", "p", "gnd"))
    assert len(crossings(scene)) == 3
    assert_legs(at, "abc", "D")
    assert at["Za_1"][0] < at["Za_0"][0] < at["D_ap"][0]
    assert at["D_cp"][0] < at["R_0"][0] == pytest.approx(at["R_1"][0], abs=8)


def test_two_capacitors_take_the_place_of_a_leg() -> None:
    halves = ["C_op: {capacitor: [p, o]}", "C_on: {capacitor: [o, gnd]}"]
    scene, at = drawn(SUPPLY + switches("a") + halves + chain("Z", "a", "o"))
    assert crossings(scene) == []
    assert at["C_op"][1] == pytest.approx(at["S_ap"][1], abs=8)
    assert at["C_op"][0] == pytest.approx(at["C_on"][0])


def test_the_detector_of_a_wheatstone_bridge_may_be_several_elements() -> None:
    arms = [f"R_{m}{k}: {{resistor: [{ends}]}}" for m in "ab" for k, ends in (("p", f"p, {m}"), ("n", f"{m}, gnd"))]
    scene, at = drawn(SUPPLY + arms + chain("Z", "a", "b"))
    assert crossings(scene) == []
    assert_legs(at, "ab", "R")
    assert at["Z_0"][1] == pytest.approx(at["Z_1"][1], abs=8)
    assert grounds(scene) == 1


@pytest.mark.parametrize(
    "lines",
    [
        SUPPLY + switches("ab"),  # nothing between the middles
        SUPPLY + switches("ab") + chain("Z", "a", "gnd"),
        SUPPLY + switches("abc") + chain("X", "a", "b") + chain("Y", "b", "c") + chain("Z", "c", "a"),
        SUPPLY + switches("ab") + chain("Y", "a", "b") + chain("Z", "a", "b"),
        SUPPLY + switches("abc") + [line for m in "abc" for line in chain(f"Z{m}", m, "gnd")],
    ],
)
def test_what_has_no_place_in_a_bridge_is_drawn_otherwise(lines: list[str]) -> None:
    model = described(lines)
    assert find_bridge(model.elements) is None
    assert problems(schematic_scene(model), model.elements) == []


def test_a_bridge_that_is_too_wide_is_drawn_otherwise() -> None:
    model = described(SUPPLY + switches("ab") + chain("Z", "a", "b", 4 * ("resistor",)))
    narrow = schematic_scene(model, Options(max_width=420))
    assert problems(narrow, model.elements) == []
    assert narrow.box.width < schematic_scene(model).box.width


@st.composite
def bridges(draw_from: st.DrawFn) -> Model:
    """Two to four legs, some with diodes, joined by chains or in a star, with anything between the lines."""
    middles = "abcd"[: draw_from(st.integers(2, 4))]
    lines = SUPPLY + switches(middles) + diodes(draw_from(st.sampled_from(("", middles[0], middles[1:], middles))))
    kinds = st.lists(st.sampled_from(("inductor", "resistor", "capacitor", "voltage source")), min_size=1, max_size=3)
    if len(middles) > 2 and draw_from(st.booleans()):
        lines += [line for m in middles for line in chain(f"Z{m}", m, "n", tuple(draw_from(kinds)))]
    else:
        for m, following in pairwise(middles):
            lines += chain(f"Z{m}", m, following, tuple(draw_from(kinds)))
    for k, across in enumerate(draw_from(st.lists(kinds, max_size=2))):
        lines += chain("XY"[k], "p", "gnd", tuple(across))
    return described(lines)


@settings(max_examples=25)
@given(bridges())
def test_any_bridge_is_drawn(model: Model) -> None:
    assert problems(schematic_scene(model), model.elements) == []
