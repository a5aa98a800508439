"""Bond graphs as figures: conventions, layouts that do not overlap, and pictures that stay as they are."""

import re
import subprocess
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path

import pytest
from hypothesis import given

import tellegen as tg
from schemes.comparing import legal_causality
from support.bond_graphs import Graph, graphs
from support.examples import all_examples
from support.networks import Network, network
from support.strategies import networks
from tellegen.causality import assign_causality
from tellegen.core.errors import TellegenError
from tellegen.drawing import Figure, check_scene, draw
from tellegen.drawing.bond.pen import OTHER_END, BondPen
from tellegen.drawing.bond.plan import BondLink, plan_bonds
from tellegen.drawing.bond.scene import bond_scene, bonds_in_words
from tellegen.drawing.options import read_options
from tellegen.graph import lower
from tellegen.model.model import Model
from tellegen.notations.reading import read_model
from tellegen.scenes.geometry import Box, Point
from tellegen.scenes.scene import Band, Bond, Label, Ring, Scene, Wire, label_box
from tellegen.scenes.writers.scene_json import from_json
from tellegen.schemes import BondGraphScheme, bond_graph

GOLDEN = Path(__file__).parent / "golden"
GOLDEN_NAMES = ("rlc", "dc_motor_pump", "planetary_gear", "quarter_car")
MOST_PORTS = 40
"""Examples with more elements are drawn by the slow tests."""

EXAMPLES = all_examples()


def scheme_of(model: Model) -> BondGraphScheme:
    return bond_graph(assign_causality(lower(model)), vectors=True, lanes="joined")


def assert_well_drawn(scheme: BondGraphScheme, **options: object) -> Scene:
    scene = bond_scene(scheme, read_options(options))
    problems = check_scene(scene, [*scheme.junctions, *scheme.two_ports, *scheme.one_ports])
    assert problems == ()
    ports = Counter(shape.origin.port for shape in scene.shapes if isinstance(shape, Bond))
    told = Counter(s.origin.port.partition(" at ")[0] for s in scene.shapes if s.origin.part == OTHER_END)
    # A bond that is cut is there twice, each time with the name of what is at the other end.
    for bond in scheme.bonds:
        assert ports[f"bond {bond.number}"] == (told[f"bond {bond.number}"] or 1)
        assert told[f"bond {bond.number}"] in (0, 2)
    return scene


def bond(scene: Scene, number: int) -> Bond:
    return next(s for s in scene.shapes if isinstance(s, Bond) and s.origin.port == f"bond {number}")


def label(scene: Scene, element: str, part: str) -> Label:
    return next(
        s for s in scene.shapes if isinstance(s, Label) and (s.origin.element, s.origin.part) == (element, part)
    )


def texts(scene: Scene, part: str) -> dict[str, str]:
    found = [s for s in scene.shapes if isinstance(s, Label) and s.origin.part == part]
    return {s.origin.element or s.origin.port: s.text for s in found}


def marked(name: str, model: Model) -> object:
    """The name of an example; those with many elements are left to the slow tests."""
    return pytest.param(name, marks=pytest.mark.slow if len(lower(model).ports) > MOST_PORTS else ())


@pytest.mark.parametrize("name", [marked(name, model) for name, model in EXAMPLES.items()])
def test_examples_are_drawn_without_overlaps(name: str) -> None:
    assert "left out" not in assert_well_drawn(scheme_of(EXAMPLES[name])).about


@pytest.mark.parametrize(
    "name", ["dc_motor_pump", "quarter_car", "crank_rod", "pmsm", "motor_heating", "corking_shaft"]
)
@pytest.mark.parametrize(
    "options",
    [
        {"labels": "both"},
        {"labels": "values"},
        {"bond_numbers": True, "names": True},
        {"theme": "mono"},
        {"max_width": 500},
    ],
    ids=str,
)
def test_options_lead_to_no_overlaps(name: str, options: dict[str, object]) -> None:
    assert_well_drawn(scheme_of(EXAMPLES[name]), **options)


# -- conventions ---------------------------------------------------------------------------------------------------------------

PUMP = draw("dc_motor_pump", "bond").scene


def test_the_motor_and_pump_look_as_in_the_book() -> None:
    names = texts(PUMP, "name")
    assert names["V_a"] == r"V_a{:}\,\mathrm{Se}"  # the bond comes from the right
    assert names["L_a"] == r"\mathrm{I}{:}\,L_a"
    assert names["alpha_p"] == r"\mathrm{R}{:}\,1/\alpha_p"
    assert texts(PUMP, "modulus") == {"motor": "K_m", "pump": "K_p"}
    assert texts(PUMP, "effort")["L_a"] == r"\dot{\phi}_a"
    assert texts(PUMP, "effort")["J_m"] == r"\dot{p}_m"
    assert texts(PUMP, "flow")["C_0"] == r"\dot{V}_0"
    assert [s.domain for s in PUMP.shapes if isinstance(s, Band)] == ["electrical", "rotational", "hydraulic"]
    captions = [s.text for s in PUMP.shapes if isinstance(s, Label) and s.origin.part == "caption"]
    assert captions == ["electrical", "mechanical, rotational", "hydraulic"]


def test_storages_stand_above_resistors_below_and_sources_beside_their_junction() -> None:
    junction = label(PUMP, "I_a", "name").at
    assert label(PUMP, "L_a", "name").at == (junction[0], junction[1] - 105)
    assert label(PUMP, "R_a", "name").at == (junction[0], junction[1] + 105)
    assert label(PUMP, "V_a", "name").at[1] == junction[1]
    assert label(PUMP, "V_a", "name").at[0] < junction[0] < label(PUMP, "shaft", "name").at[0]


@pytest.mark.parametrize("name", ["dc_motor_pump", "two_mass_drive", "rotational_first", "planetary_gear"])
def test_half_arrows_and_strokes_are_those_of_the_scheme(name: str) -> None:
    scheme = scheme_of(EXAMPLES[name])
    scene = bond_scene(scheme)
    places = {s.origin.element: s.at for s in scene.shapes if isinstance(s, Label) and s.origin.part == "name"}
    for wanted in scheme.bonds:
        drawn = bond(scene, wanted.number)
        start, end = drawn.points[0], drawn.points[-1]
        tail, head = places[wanted.tail], places[wanted.head]
        assert _near(start, tail) < _near(start, head)
        assert _near(end, head) < _near(end, tail)
        assert drawn.stroke == ("end" if wanted.stroke == "head" else "start")


def _near(one: tuple[float, float], two: tuple[float, float]) -> float:
    return (one[0] - two[0]) ** 2 + (one[1] - two[1]) ** 2


def test_effort_is_above_or_left_flow_below_or_right_and_the_barb_with_the_flow() -> None:
    for shape in PUMP.shapes:
        if not isinstance(shape, Bond):
            continue
        (x, y), (u, v) = shape.points
        marks = {
            s.origin.part: s.at for s in PUMP.shapes if isinstance(s, Label) and s.origin.port == shape.origin.port
        }
        if y == v:
            assert marks["effort"][1] < y < marks["flow"][1]
            assert shape.flow_side == (1 if u > x else -1)
        else:
            assert marks["effort"][0] < x < marks["flow"][0]
            assert shape.flow_side == (1 if v < y else -1)


def test_derivative_causality_is_marked_in_shape_and_colour() -> None:
    scene = draw("planetary_gear", "bond").scene
    warned = [s for s in scene.shapes if isinstance(s, Bond) and s.warned]
    rings = [s for s in scene.shapes if isinstance(s, Ring) and s.dashed and s.tone == "warning"]
    assert [s.origin.element for s in warned] == ["J_s"] == [s.origin.element for s in rings]
    assert not [s for s in PUMP.shapes if isinstance(s, Ring)]


def test_residual_sinks_stand_out_and_no_storage_is_marked() -> None:
    scene = draw(tg.condition("crank_rod", "residual"), "bond").scene
    assert [s.origin.element for s in scene.shapes if isinstance(s, Bond) and s.warned] == ["r_m_p"]
    assert "rSe:r_m_p" in scene.about
    assert not [s for s in scene.shapes if isinstance(s, Ring)]


def test_each_bond_of_a_field_has_its_own_rate_of_energy() -> None:
    scheme = tg.bond_graph(tg.condition("mobile_manipulator", "field"))
    plan = plan_bonds(scheme, read_options({}))
    rates = [link.effort for link in plan.links if "IC" in (link.tail, link.head)]
    assert len(rates) == len(set(rates)) == 5
    assert all(rate.startswith(r"\dot{p}") for rate in rates)


def test_a_modulated_transformer_has_a_signal_arrow() -> None:
    scene = draw("crank_rod", "bond").scene
    arrow = next(s for s in scene.shapes if isinstance(s, Wire))
    assert (arrow.origin.element, arrow.head, arrow.weight, arrow.tone) == ("rod", True, "signal", "quiet")
    assert label(scene, "rod", "signal").text == r"\theta"
    assert label(scene, "rod", "name").text == r"\mathrm{MTF}"


def test_vector_bonds_are_double_with_their_size() -> None:
    scene = draw("pmsm", "bond").scene
    wide = [s for s in scene.shapes if isinstance(s, Bond) and s.size > 1]
    assert {s.size for s in wide} == {3}
    sizes = [s.text for s in scene.shapes if isinstance(s, Label) and s.origin.part == "size"]
    assert sizes == ["3"] * len(wide)


def test_a_junction_with_many_elements_is_split_in_equal_ones() -> None:
    resistors = "".join(f"  - p -> R:R_{k}\n" for k in range(1, 12))
    values = ", ".join(f"R_{k}: 1 ohm" for k in range(1, 12))
    text = f"system: many\nparameters: {{{values}}}\nbond graph:\n  - Se:V -> 0:p(electrical)\n{resistors}"
    scheme = scheme_of(read_model(text))
    assert len(scheme.junctions) == 1
    scene = assert_well_drawn(scheme)
    joints = [s for s in scene.shapes if isinstance(s, Bond) and s.origin.port == "joint"]
    zeros = [s for s in scene.shapes if isinstance(s, Label) and s.text == r"\mathrm{0}"]
    assert len(zeros) == len(joints) + 1 == 3
    assert {s.stroke for s in joints} == {"end"}  # the source decides the effort for all


def test_values_stand_with_their_units() -> None:
    scene = draw("dc_motor_pump", "bond", labels="values").scene
    names = texts(scene, "name")
    assert names["L_a"] == r"\mathrm{I}{:}\,2\,\mathrm{mH}"
    assert names["R_a"] == r"\mathrm{R}{:}\,0.5\,\Omega"
    assert names["C_0"] == r"\mathrm{C}{:}\,2 \cdot 10^{-12}\,\mathrm{m^{3}/Pa}"
    assert texts(scene, "modulus") == {"motor": r"0.15\,\mathrm{N\,m/A}", "pump": r"10^{-6}\,\mathrm{m^{3}}"}
    assert texts(draw("solenoid", "bond", labels="values").scene, "modulus") == {"coil": "200"}
    both = draw("dc_motor_pump", "bond", labels="both").scene
    assert texts(both, "name")["L_a"] == r"\mathrm{I}{:}\,L_a = 2\,\mathrm{mH}"


def test_numbers_and_names_are_shown_when_asked_for() -> None:
    scene = draw("dc_motor_pump", "bond", bond_numbers=True, names=True).scene
    numbers = {s.text for s in scene.shapes if isinstance(s, Label) and s.origin.part == "number"}
    assert numbers == {str(k) for k in range(1, 13)}
    assert set(texts(scene, "note")) == {"I_a", "shaft", "out"}
    bare = draw("dc_motor_pump", "bond", variables=False).scene
    assert not texts(bare, "effort")
    assert not texts(bare, "flow")


def test_print_has_no_bands() -> None:
    assert not [s for s in draw("dc_motor_pump", "bond", theme="mono").scene.shapes if isinstance(s, Band)]


# -- layouts -------------------------------------------------------------------------------------------------------------------


def places_of(scene: Scene) -> dict[str, tuple[float, float]]:
    return {s.origin.element: s.at for s in scene.shapes if isinstance(s, Label) and s.origin.part == "name"}


def test_a_parameter_does_not_move_the_figure() -> None:
    model = EXAMPLES["dc_motor_pump"]
    changed = read_model(tg.to_yaml(model).replace("2 mH", "5 mH"))
    assert changed.parameters["L_a"] != model.parameters["L_a"]
    assert draw(changed, "bond").scene == draw(model, "bond").scene


def test_long_chains_go_to_and_fro() -> None:
    scheme = scheme_of(_ladder(30))
    scene = assert_well_drawn(scheme, max_width=1100.0)
    assert scene.box.width < 1500
    assert scene.box.height > scene.box.width


def _ladder(stages: int) -> Model:
    lines = [
        f"  R_{k}: {{resistor: [n_{k - 1}, n_{k}]}}\n  C_{k}: {{capacitor: [n_{k}, gnd]}}" for k in range(1, stages + 1)
    ]
    values = ", ".join(f"R_{k}: 1 ohm, C_{k}: 1 F" for k in range(1, stages + 1))
    return read_model(
        f"system: ladder\nparameters: {{{values}}}\nnetwork:\n  V: {{voltage source: [n_0, gnd]}}\n" + "\n".join(lines)
    )


def _mesh(*pairs: str) -> Model:
    """A source at node a, capacitors at the others, and a resistor for each pair of nodes."""
    nodes = sorted({node for pair in pairs for node in pair} - {"a"})
    parts = [("V", "voltage source", "a", "gnd"), *((f"C_{node}", "capacitor", node, "gnd") for node in nodes)]
    return network(*parts, *((f"R_{pair}", "resistor", *pair) for pair in pairs)).model()


def test_where_every_node_is_joined_to_every_other_all_labels_have_a_place() -> None:
    scheme = scheme_of(_mesh(*(one + two for one, two in combinations("abcdefgh", 2))))
    scene = assert_well_drawn(scheme)
    assert "left out" not in scene.about
    assert len(scheme.bonds) > 80


def test_a_triangle_needs_no_crossing() -> None:
    scene = assert_well_drawn(scheme_of(_mesh("ab", "bc", "ac")))
    bonds = [s for s in scene.shapes if isinstance(s, Bond)]
    pieces = [(one, two, bond) for bond in bonds for one, two in pairwise(bond.points)]
    assert len(pieces) > len(bonds)  # some bond goes round
    assert not any(_cross(a, b, c, d) for (a, b, one), (c, d, two) in combinations(pieces, 2) if one is not two)


def _cross(a: Point, b: Point, c: Point, d: Point) -> bool:
    def side(p: Point, q: Point, r: Point) -> float:
        return (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0])

    return side(a, b, c) * side(a, b, d) < -1e-6 and side(c, d, a) * side(c, d, b) < -1e-6


@given(networks())
def test_random_networks_are_drawn_without_overlaps(described: Network) -> None:
    causal = legal_causality(described)
    for vectors in (False, True):
        assert_well_drawn(bond_graph(causal, vectors=vectors))


@given(graphs(most=14))
def test_random_bond_graphs_are_drawn_without_overlaps(described: Graph) -> None:
    try:
        scheme = scheme_of(read_model(described.text))
    except TellegenError:
        return  # a graph without a causality has no figure
    assert_well_drawn(scheme)


# -- pictures ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", GOLDEN_NAMES)
def test_figures_stay_as_they_are(name: str) -> None:
    """After a change that is meant, `python tools/update_figures.py` writes the files again; look at the pictures."""
    figure = draw(name, "bond")
    kept = from_json((GOLDEN / f"{name}.bond.json").read_text(encoding="utf-8"))
    assert figure.scene == kept
    assert _normalised(figure.svg()) == _normalised(Figure(kept).svg())
    assert svg_outline(figure.svg()) == (GOLDEN / f"{name}.bond.svg.txt").read_text(encoding="utf-8")


def _normalised(svg: str) -> str:
    return re.sub(r"\s+", " ", svg)


def svg_outline(svg: str) -> str:
    """The SVG without the outlines of glyphs, which change with the fonts of the typesetting library."""
    return re.sub(
        r'(<g id="labels">)(.*)(</g>)', lambda m: m[1] + re.sub(r' d="[^"]*"', "", m[2]) + m[3], svg, flags=re.S
    )


@pytest.mark.parametrize(
    "name", [n for n, m in EXAMPLES.items() if m.mechanism is None and len(lower(m).ports) <= MOST_PORTS]
)
def test_no_label_is_missing(name: str) -> None:
    scheme = scheme_of(EXAMPLES[name])
    scene = bond_scene(scheme)
    assert "left out" not in scene.about
    for part in ("effort", "flow"):
        labelled = [s.origin.port for s in scene.shapes if isinstance(s, Label) and s.origin.part == part]
        bonds = sorted(port for port in labelled if port != "joint")
        assert bonds == sorted(f"bond {bond.number}" for bond in scheme.bonds)


def test_labels_without_room_are_counted() -> None:
    pen = BondPen()
    pen.keep_free(Box(-200, -200, 300, 200))
    link = BondLink(1, "a", "b", stroke="b", domain="electrical", effort="V", flow="I")
    pen.bond(link, ((0.0, 0.0), (100.0, 0.0)), read_options({}))
    pen.settle()
    assert pen.left_out == 2
    assert bonds_in_words(scheme_of(EXAMPLES["rlc"]), 1).endswith("; 1 label is left out for want of room")
    assert bonds_in_words(scheme_of(EXAMPLES["rlc"]), 2).endswith("; 2 labels are left out for want of room")


def test_a_large_matrix_does_not_push_equations_to_the_edge() -> None:
    """What is wide on the left begins at the margin; all other signs of equality stand below each other, near it."""
    scene = draw("corking_machine", "equations").scene
    assert check_scene(scene) == ()
    rights = [s for s in scene.shapes if isinstance(s, Label) and s.origin.part == "right"]
    signs = Counter(round(label_box(label).left) for label in rights)
    (place, count), *_ = signs.most_common()
    assert count > len(rights) / 2
    assert place < scene.box.width / 4


def test_equations_are_a_figure() -> None:
    figure = draw(tg.derive("dc_motor_pump"))
    assert check_scene(figure.scene) == ()
    texts = [s.text for s in figure.scene.shapes if isinstance(s, Label)]
    power = texts.index("P_{d}")
    assert texts[power + 1] == r"= R_{a} I_{a}^{2} + \alpha_{p} P_{0}^{2} + b_{m} \omega_{m}^{2}"
    assert texts[-2:] == ["Q_{p}", r"= K_{p} \omega_{m}"]
    assert replace(draw("dc_motor_pump", "equations").scene, title="Equations") == figure.scene


def test_one_more_element_moves_the_others_little() -> None:
    model = EXAMPLES["dc_motor_pump"]
    line = "  b_x: {friction: [shaft, frame], b: 1 mN*m*s}"
    larger = read_model(re.sub(r"(\n  Q_0:.*source)", rf"\n{line}\1", tg.to_yaml(model)))
    assert len(larger.elements) == len(model.elements) + 1
    before, after = (places_of(bond_scene(scheme_of(each))) for each in (model, larger))
    start = [one - two for one, two in zip(before["V_a"], after["V_a"], strict=True)]
    for name, (x, y) in before.items():
        assert (after[name][0] + start[0], after[name][1] + start[1]) == pytest.approx((x, y), abs=60)


def test_bonds_are_written_in_the_styles_of_the_bondgraphs_package() -> None:
    text = draw("dc_motor_pump", "bond", macros="bondgraphs").tikz()
    assert text.count(" edge[") == 12
    assert r"e_out,effort={$V_a$},flow={$I_a$}" in text
    assert r"\begin{bondgraph}" in text
    assert "diff" in draw("planetary_gear", "bond", macros="bondgraphs").tikz()
    assert "mbond" in draw("pmsm", "bond", macros="bondgraphs").tikz()
    with pytest.raises(TellegenError, match="this figure has none"):
        draw("dc_motor_pump", "network", macros="bondgraphs").tikz()


@pytest.mark.parametrize("name", ["dc_motor_pump", "corking_shaft"])
def test_the_styles_of_the_bondgraphs_package_compile(
    name: str, tmp_path: Path, system_tool: Callable[[str], str]
) -> None:
    draw(name, "bond", macros="bondgraphs").save(tmp_path / "figure.tex")
    command = [system_tool("pdflatex"), "-interaction=nonstopmode", "figure.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]


def test_a_long_branch_goes_on_in_new_rows_as_the_trunk_does() -> None:
    parts = [("V", "voltage source", "a", "gnd"), ("R", "resistor", "a", "b"), ("C", "capacitor", "b", "gnd")]
    for chain, count in (("x", 9), ("y", 8), ("z", 8)):
        nodes = ["b", *(f"{chain}{k}" for k in range(count))]
        for k, (one, two) in enumerate(pairwise(nodes)):
            parts += [(f"L_{chain}{k}", "inductor", one, two), (f"C_{chain}{k}", "capacitor", two, "gnd")]
    scene = assert_well_drawn(scheme_of(network(*parts).model()), max_width=700.0)
    assert scene.box.width < 2 * 700
