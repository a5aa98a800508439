"""Symbols that tell more than the kind of an element: generators, synchronous machines, coupled coils, accumulators, rings."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawing.reading_networks import symbol_boxes, wires
from drawing.test_network import problems
from tellegen.drawing import draw
from tellegen.notations.reading import read_model
from tellegen.scenes.scene import Curve, Label, Scene


def schematic(*lines: str) -> Scene:
    model = read_model("system: symbols\nnetwork:\n" + "\n".join(f"  {line}" for line in lines))
    scene = draw(model, "network").scene
    assert problems(scene, model.elements) == []
    return scene


def letters(scene: Scene) -> list[str]:
    return [shape.text for shape in scene.shapes if isinstance(shape, Label) and shape.origin.part == "letter"]


WIRED = ("R: {resistor: [a, gnd]}", "C: {capacitor: [a, gnd]}", "V: {voltage source: [a, gnd]}")
SHAFT = ("J: {inertia: [shaft]}", "tau: {torque source: [shaft]}", "b: {friction: [far]}", "T: {torque source: [far]}")


@settings(max_examples=8)
@given(st.sets(st.sampled_from(WIRED), min_size=1), st.sets(st.sampled_from(SHAFT), min_size=1), st.booleans())
def test_a_machine_is_a_generator_where_its_shaft_alone_is_driven(
    wired: set[str], shaft: set[str], geared: bool
) -> None:
    """Sources count wherever they are, behind a gear too; a driven circuit makes a motor of it."""
    gear = ("g: {gear: [shaft, frame, far, frame]}",) if geared else ()
    machine = "M: {dc machine: [a, gnd, shaft, frame], K: 1}"
    scene = schematic(machine, *sorted(wired), *sorted(shaft), *gear)
    driven = any("tau" in line or ("T:" in line and geared) for line in shaft)
    powered = any("V:" in line for line in wired)
    assert (r"\mathrm{G}" in letters(scene)) == (driven and not powered)
    assert (r"\mathrm{M}" in letters(scene)) == (powered or not driven)


def test_coils_that_share_their_flux_have_dots_at_their_first_ends() -> None:
    field = "L: {inductor field: [a, gnd, b, gnd], matrix: [[2, 1], [1, 3]]}"
    scene = schematic("V: {voltage source: [a, gnd]}", field, "R: {resistor: [b, gnd]}", "L_0: {inductor: [b, gnd]}")
    dots = {s.origin.element: s for s in scene.shapes if isinstance(s, Curve) and s.filled and "L" in s.origin.element}
    assert dots.keys() == {"L[1]", "L[2]"}
    for name, dot in dots.items():
        # The first end is the upper one: both hang from their first node.
        box = symbol_boxes(scene)[name]
        assert max(y for _, points in dot.outline for _, y in points) < (box.top + box.bottom) / 2


@pytest.mark.parametrize("nodes", ["[p]", "[p, tank]", "[tank, p]"])
def test_an_accumulator_stands_on_its_pipe_with_its_gas_above(nodes: str) -> None:
    scene = schematic(
        "Q: {flow source: [tank, p]}",
        f"C: {{accumulator: {nodes}}}",
        "G: {leak: [p, tank]}",
        "I: {fluid inertia: [p, q]}",
    )
    box = symbol_boxes(scene)["C"]
    assert box.bottom < symbol_boxes(scene)["G"].top
    # One wire alone leads there.
    assert [w.origin.port for w in wires(scene) if any(abs(y - box.bottom) < 1 for _, y in w.points)] == ["p"]


def test_an_accumulator_between_two_pipes_has_two_terminals() -> None:
    scene = schematic("Q: {flow source: [tank, p]}", "C: {accumulator: [p, q]}", "G: {leak: [q, tank]}")
    assert {w.origin.port for w in wires(scene)} >= {"p", "q"}
