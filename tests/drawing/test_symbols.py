"""Symbols that tell more than the kind of an element: generators, synchronous machines, coupled coils, accumulators, rings;
and those of several elements: cylinders, valves."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawing.reading_networks import nodes_at, symbol_boxes, wires
from drawing.test_network import problems
from tellegen.drawing import draw
from tellegen.drawing.schematic.plan import schematic_elements
from tellegen.notations.reading import read_model
from tellegen.scenes.scene import Curve, Label, Scene


def schematic(*lines: str, more: str = "") -> Scene:
    model = read_model(f"system: symbols\n{more}network:\n" + "\n".join(f"  {line}" for line in lines))
    scene = draw(model, "network").scene
    assert problems(scene, schematic_elements(model)) == []
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


LOADS = ("m: {mass: [x]}", "k: {spring: [x]}", "b: {damper: [x]}", "F: {force source: [x]}")
OIL = ("C_a: {accumulator: [a]}", "C_b: {accumulator: [b]}", "G: {leak: [a, b]}", "R: {leak: [a, tank]}")
SPOOL = 'signals: {u: "t/(1 s)", A_p: "max(0, sin(u))", A_n: "max(0, -sin(u))"}\n'
EDGE = "{{leak: [{}], law: Q = {}*P/(P^2 + 1e10)^(1/4)}}"


def some(lines: tuple[str, ...]) -> st.SearchStrategy[set[str]]:
    return st.sets(st.sampled_from(lines), min_size=1)


@settings(max_examples=8, deadline=None)
@given(
    some(LOADS), some(OIL), st.permutations(["H: {piston: [a, tank, x, frame]}", "R_p: {piston: [b, tank, frame, x]}"])
)
def test_two_pistons_on_a_rod_are_one_cylinder(load: set[str], oil: set[str], pistons: list[str]) -> None:
    """It has a pipe at each side of its piston, and the areas of both beside it, the head first."""
    scene = schematic("P: {pressure source: [a, tank]}", "Q: {flow source: [tank, b]}", *pistons, *sorted(load | oil))
    assert {"H", "R_p"} & symbol_boxes(scene).keys() == {"H"}
    assert nodes_at(scene)["H"] >= {"a", "b"}
    (label,) = (s.text for s in scene.shapes if isinstance(s, Label) and s.origin.element == "H")
    assert label.partition(",")[0] == "H"


@pytest.mark.parametrize("second", ["[b, tank, x, frame]", "[b, tank, frame, y]", "[a, tank, frame, x]"])
def test_pistons_that_do_not_face_each_other_are_two(second: str) -> None:
    """Pushing alike, on another rod, or from one chamber."""
    lines = (
        "P: {pressure source: [a, tank]}",
        "C: {accumulator: [b]}",
        "G: {leak: [a, b]}",
        "m: {mass: [x]}",
        "M: {mass: [y]}",
    )
    scene = schematic(*lines, "K: {spring: [x, y]}", "H: {piston: [a, tank, x, frame]}", f"S: {{piston: {second}}}")
    assert {"H", "S"} <= symbol_boxes(scene).keys()


@settings(max_examples=8, deadline=None)
@given(some(LOADS), st.booleans(), st.permutations(["pa", "pb", "at", "bt"]))
def test_four_edges_that_a_spool_moves_are_one_valve(load: set[str], cylinder: bool, order: list[str]) -> None:
    wires = {"pa": ("p, a", "A_p"), "pb": ("p, b", "A_n"), "at": ("a, tank", "A_n"), "bt": ("b, tank", "A_p")}
    edges = [f"edge_{name}: {EDGE.format(*wires[name])}" for name in order]
    oil = ["C_a: {accumulator: [a]}", "C_b: {accumulator: [b]}", "P: {pressure source: [p, tank]}"]
    rod = ["H: {piston: [a, tank, x, frame]}", "R: {piston: [b, tank, frame, x]}", *sorted(load)] if cylinder else []
    scene = schematic(*oil, *edges, *rod, more=SPOOL)
    (valve,) = (name for name in symbol_boxes(scene) if name.startswith("edge"))
    assert nodes_at(scene)[valve] == {"p", "a", "b"}
    assert [s.text for s in scene.shapes if isinstance(s, Label) and s.origin.element == valve] == [r"\mathrm{edge}"]


@pytest.mark.parametrize("areas", [("A", "A", "A", "A"), ("A_p", "A_p", "A_n", "A_n"), ("A_p", "A_n", "A_p", "A_n")])
def test_other_rings_of_restrictions_are_no_valve(areas: tuple[str, ...]) -> None:
    """A bridge that nothing moves, and edges that open in other pairs."""
    ring = zip(("p, a", "p, b", "a, tank", "b, tank"), areas, strict=True)
    edges = [f"e_{k}: {EDGE.format(nodes, area)}" for k, (nodes, area) in enumerate(ring)]
    oil = ["C_a: {accumulator: [a]}", "C_b: {accumulator: [b]}", "P: {pressure source: [p, tank]}"]
    assert {f"e_{k}" for k in range(4)} <= symbol_boxes(
        schematic(*oil, *edges, more="parameters: {A: 1e-6}\n" + SPOOL)
    ).keys()


def test_powers_stand_beside_no_symbol_of_several_elements() -> None:
    """The loss of one edge would be taken for that of its valve."""
    supply = "P: {pressure source: [p, tank], pressure: P_s}"
    wires = {"pa": ("p, a", "A_p"), "pb": ("p, b", "A_n"), "at": ("a, tank", "A_n"), "bt": ("b, tank", "A_p")}
    edges = [f"edge_{name}: {EDGE.format(*told)}" for name, told in wires.items()]
    lines = [
        supply,
        "C_a: {accumulator: [a], C: 1e-12}",
        "C_b: {accumulator: [b], C: 1e-12}",
        "R: {leak: [a, b], G: 1e-12}",
    ]
    text = "\n".join(["system: marks", *SPOOL.splitlines(), "network:", *(f"  {line}" for line in (*edges, *lines))])
    model = read_model(f"{text}\nexperiment: {{until: 1 s, inputs: {{P_s: 1 bar}}}}\n")
    marks = {s.origin.element for s in draw(model, "network", at="0.5 s").scene.shapes if s.origin.part == "loss"}
    assert not any(name.startswith("edge") for name in marks)
