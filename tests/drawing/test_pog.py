"""POG figures of models that are known: measures, order, signs, branches, vectors."""

from dataclasses import replace

import pytest

from drawing.reading_pogs import Signals, shown_elements, signal_loops
from schemes.comparing import causal_of
from support.amount import small_now
from support.examples import causal_example
from tellegen.causality import CausalGraph, assign_causality
from tellegen.core.errors import TellegenError
from tellegen.drawing import draw
from tellegen.drawing.options import DEFAULTS, Options
from tellegen.drawing.pog.scene import pog_scene
from tellegen.expressions import number
from tellegen.graph import SourceLaw, lower
from tellegen.notations.loading import load
from tellegen.scenes.geometry import Box
from tellegen.scenes.ink import check_scene
from tellegen.scenes.scene import Band, Block, Dot, Label, Origin, Ring, Scene, Section, Sum, Wire
from tellegen.schemes import Summation, elementary_loops, flip, pog
from tellegen.workflow.files import examples

NAMES = [example.name for example in examples()]
PLAIN = Options(bands=False)


def causal(name: str) -> CausalGraph:
    return causal_example(name)


def scene_of(name: str, options: Options = DEFAULTS, *, derivative: bool = False) -> Scene:
    return pog_scene(pog(causal(name), derivative=derivative), options)


@pytest.fixture(scope="module")
def motor_pump() -> Scene:
    return scene_of("dc_motor_pump")


def boxes(scene: Scene, part: str) -> list[tuple[str, Box]]:
    return [
        (s.origin.element, s.box)
        for s in sorted((s for s in scene.shapes if isinstance(s, Block)), key=lambda s: s.box.left)
        if s.origin.part == part
    ]


# -- the motor and pump of the lecture -----------------------------------------------------------------------------------------


def test_sections_stand_on_the_grid_with_their_variables(motor_pump: Scene) -> None:
    sections = sorted(s.start for s in motor_pump.shapes if isinstance(s, Section))
    assert [x for x, _ in sections] == [60, 160, 260, 360, 460, 560, 660, 760, 860]
    assert {y for _, y in sections} == {70 - 16}
    assert {s.end[1] for s in motor_pump.shapes if isinstance(s, Section)} == {240 + 16}
    upper = sorted((s.at[0], s.text) for s in motor_pump.shapes if isinstance(s, Label) and s.at[1] == 70 - 25)
    lower_ = sorted((s.at[0], s.text) for s in motor_pump.shapes if isinstance(s, Label) and s.at[1] == 240 + 36)
    assert [text for _, text in upper][3:6] == [r"\omega_m"] * 3
    assert [text for _, text in lower_][:3] == ["I_a"] * 3
    assert [text for _, text in lower_][6:] == ["P_0"] * 3
    assert [x for x, _ in upper] == [x for x, _ in lower_] == [x for x, _ in sections]


def test_blocks_have_the_sizes_and_places_of_the_lecture(motor_pump: Scene) -> None:
    assert boxes(motor_pump, "integrator")[0] == ("L_a", Box(92, 100, 128, 138))
    assert boxes(motor_pump, "gain")[:4] == [
        ("L_a", Box(92, 168, 128, 210)),
        ("R_a", Box(192, 140, 228, 170)),
        ("J_m", Box(392, 100, 428, 142)),
        ("b_m", Box(492, 140, 528, 170)),
    ]
    assert [(box.width, box.height, box.centre) for _, box in boxes(motor_pump, "K")] == [
        (40, 34, (310, 240)),
        (40, 34, (610, 70)),
    ]
    names = [name for name, _ in boxes(motor_pump, "gain")]
    assert names == ["L_a", "R_a", "J_m", "b_m", "C_0", "alpha_p"]


def test_every_loop_of_the_picture_has_one_spot(motor_pump: Scene) -> None:
    assert signal_loops(motor_pump, most=100) == [1] * 5
    spots = {s.origin.element: s.spots for s in motor_pump.shapes if isinstance(s, Sum)}
    right = ((1.0, 0.0),)
    assert spots == {"L_a": right, "R_a": (), "J_m": right, "b_m": (), "C_0": right, "alpha_p": right}


def test_shared_variables_have_branch_dots_and_arrows_end_at_blocks_sums_or_outside(motor_pump: Scene) -> None:
    dots = {s.origin.element for s in motor_pump.shapes if isinstance(s, Dot)}
    assert dots == {"L_a", "R_a", "J_m", "b_m", "C_0", "alpha_p"}
    at_dots = {s.centre for s in motor_pump.shapes if isinstance(s, Dot)}
    wires = [s for s in motor_pump.shapes if isinstance(s, Wire)]
    assert all(wire.head == (wire.points[-1] not in at_dots) for wire in wires)


def test_leads_are_34_long(motor_pump: Scene) -> None:
    ends = sorted(
        {x for s in motor_pump.shapes if isinstance(s, Wire) and s.origin.part == "lead" for x, _ in s.points}
    )
    assert (ends[0], ends[-1]) == (60 - 34, 860 + 34)
    assert motor_pump.box == Box(0, 0, 860 + 60, 320)


def test_bands_meet_in_the_middle_of_transducers(motor_pump: Scene) -> None:
    bands = [(s.domain, s.box) for s in motor_pump.shapes if isinstance(s, Band)]
    assert bands == [
        ("electrical", Box(26, 22, 310, 286)),
        ("rotational", Box(310, 22, 610, 286)),
        ("hydraulic", Box(610, 22, 894, 286)),
    ]
    captions = [s.text for s in motor_pump.shapes if isinstance(s, Label) and s.origin.part == "caption"]
    assert captions == ["electrical", "mechanical, rotational", "hydraulic"]


def test_print_has_no_bands() -> None:
    scene = scene_of("dc_motor_pump", Options(theme="mono"))
    assert not any(isinstance(s, Band) for s in scene.shapes)


def test_an_upside_down_scheme_is_the_mirror_image(motor_pump: Scene) -> None:
    turned = pog_scene(flip(pog(causal("dc_motor_pump"))).scheme)
    spots = {s.origin.element: (s.centre[0], 310 - s.centre[1]) for s in turned.shapes if isinstance(s, Sum)}
    assert spots == {s.origin.element: s.centre for s in motor_pump.shapes if isinstance(s, Sum)}


def test_a_change_of_a_value_keeps_every_place(motor_pump: Scene) -> None:
    model = load("dc_motor_pump")
    thrice = replace(model.parameters["L_a"], expression=number(6e-3))
    changed = replace(model, parameters={**model.parameters, "L_a": thrice})
    assert pog_scene(pog(assign_causality(lower(changed)))) == motor_pump


# -- all built-in examples -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", small_now(NAMES))
def test_examples_are_drawn_without_overlaps_and_with_every_element_once(name: str) -> None:
    found = causal(name)
    scene = pog_scene(pog(found))
    assert check_scene(scene) == ()
    wanted = sorted(port.element for port in found.graph.ports if not isinstance(port.law, SourceLaw))
    assert sorted(n for n in shown_elements(scene) if n in wanted) == wanted


@pytest.mark.parametrize("name", small_now(NAMES))
def test_connections_stand_as_pairs(name: str) -> None:
    scene = scene_of(name)
    assert [element for element, _ in boxes(scene, "K")] == [element for element, _ in boxes(scene, "transposed")]


@pytest.mark.parametrize(
    "name", ["rlc", "quarter_car", "hydraulic_cylinder", "buck_converter", "two_mass_drive", "loudspeaker"]
)
def test_a_picture_has_the_loops_of_its_scheme(name: str) -> None:
    scheme = pog(causal(name))
    loops = elementary_loops(scheme)
    assert sorted(signal_loops(pog_scene(scheme), most=500)) == sorted(loop.minus_signs for loop in loops)


# -- branches ------------------------------------------------------------------------------------------------------------------


def test_a_side_ladder_hangs_under_its_branch_column() -> None:
    scene = scene_of("quarter_car", PLAIN)
    flat = [s for s in scene.shapes if isinstance(s, Section) and s.start[1] == s.end[1]]
    (section,) = flat
    upright = [s for s in scene.shapes if isinstance(s, Section) and s.start[0] == s.end[0]]
    upper, under = sorted({s.start[1] + 16 for s in upright})
    assert section.start[1] == upper + 170 + 62
    assert under == upper + 170 + 118
    assert section.end[0] - section.start[0] == 2 * (14 + 22)
    crossing = [s for s in scene.shapes if isinstance(s, Wire) and len(s.points) == 3]
    assert crossing, "the wires to a side ladder turn a corner"


def test_a_source_at_a_branch_is_two_wires_with_a_section() -> None:
    text = """
system: two sources
parameters: {C: 1, R: 1, L: 1}
network:
  Q: {current source: [gnd, a]}
  C: {capacitor: [a, gnd], C: C}
  P: {current source: [gnd, a]}
  L: {inductor: [a, b], L: L}
  R: {resistor: [b, gnd], R: R}
"""
    scene = pog_scene(pog(causal_of(text)), PLAIN)
    assert check_scene(scene) == ()
    stubs = [
        s for s in scene.shapes if isinstance(s, Wire) and s.origin.part == "lead" and s.points[0][0] == s.points[-1][0]
    ]
    assert len(stubs) == 2


BRIDGE = """
system: bridge
parameters: {R: 1, C: 1, L: 1}
network:
  V: {voltage source: [a, gnd]}
  L1: {inductor: [a, b], L: L}
  C1: {capacitor: [b, gnd], C: C}
  R1: {resistor: [b, c], R: R}
  L2: {inductor: [b, d], L: L}
  C2: {capacitor: [c, gnd], C: C}
  C3: {capacitor: [d, gnd], C: C}
  L5: {inductor: [c, d], L: L}
"""


def test_a_mesh_is_cut_at_linked_sections() -> None:
    scheme = pog(causal_of(BRIDGE))
    scene = pog_scene(scheme)
    linked = {s.text: s.origin.port for s in scene.shapes if isinstance(s, Label) and s.origin.part == "link"}
    assert set(linked) == {"a", "a'"}
    variables = {
        letter: sorted(
            s.text
            for s in scene.shapes
            if isinstance(s, Label) and s.origin == Origin("", "variable", port, domain="electrical")
        )
        for letter, port in linked.items()
    }
    assert variables["a"] == variables["a'"]
    assert sorted(shown_elements(scene)) == ["C1", "C2", "C3", "L1", "L2", "L5", "R1"]
    assert check_scene(scene) == ()


def test_on_request_a_mesh_is_one_vector_block() -> None:
    scene = pog_scene(pog(causal_of(BRIDGE)), Options(meshes="vector", lanes=False))
    assert [name for name, _ in boxes(scene, "B")] == ["V"]
    assert any(isinstance(s, Label) and "its junctions close a mesh" in s.text for s in scene.shapes)


# -- vectors -------------------------------------------------------------------------------------------------------------------


def test_a_dependent_storage_makes_a_vector_block_and_the_figure_says_so() -> None:
    scene = scene_of("crank_rod")
    assert {s.origin.part for s in scene.shapes if isinstance(s, Block)} == {"B", "C", "integrator", "gain", "N", "A"}
    assert any(isinstance(s, Label) and "'m_p' depends on other storages" in s.text for s in scene.shapes)


def test_on_request_a_dependent_storage_is_a_derivative_block_in_the_warning_style() -> None:
    scene = scene_of("crank_rod", derivative=True)
    warned = {(s.origin.element, s.origin.part) for s in scene.shapes if isinstance(s, Block) and s.tone == "warning"}
    assert warned == {("m_p", "gain"), ("m_p", "derivative")}
    assert check_scene(scene) == ()


def test_lanes_of_a_motor_are_bold_until_they_join() -> None:
    scene = scene_of("pmsm")
    weights = {s.origin.port: s.weight for s in scene.shapes if isinstance(s, Wire) and s.origin.port}
    assert [weights[str(k)] for k in range(1, 7)] == ["bold"] * 3 + ["thin"] * 3
    double = scene_of("pmsm", Options(vectors="double"))
    assert {s.weight for s in double.shapes if isinstance(s, Wire)} == {"double", "thin"}


@pytest.mark.parametrize("name", ["pmsm", "corking_shaft", "corking_transmission", "corking_machine_extended"])
def test_loops_of_lanes_have_an_odd_number_of_spots(name: str) -> None:
    loops = signal_loops(scene_of(name, Options(max_width=10000)), most=200)
    assert loops
    assert all(spots % 2 == 1 for spots in loops)


def test_lanes_can_be_drawn_one_by_one() -> None:
    scene = scene_of("pmsm", Options(lanes=False, max_width=5000))
    assert check_scene(scene) == ()
    assert {"coils_1", "coils_2", "coils_3"} <= {element for element, _ in boxes(scene, "integrator")}


def test_a_moving_ratio_shows_what_it_depends_on() -> None:
    scene = scene_of("crank_rod_elastic")
    texts = [s.text for s in scene.shapes if isinstance(s, Label)]
    assert texts.count(r"H(\theta)") == 2
    assert any(text.startswith(r"H(\theta) = ") for text in texts)


# -- rows and options ----------------------------------------------------------------------------------------------------------


def test_a_long_ladder_goes_on_in_the_next_row_under_a_letter() -> None:
    scene = scene_of("dc_motor_pump", Options(max_width=600))
    rings = [s for s in scene.shapes if isinstance(s, Ring)]
    letters = [s.text for s in scene.shapes if isinstance(s, Label) and s.origin.part == "link"]
    assert letters == ["A", "A'"]
    assert len(rings) == 2
    assert scene.box.width <= 600
    assert check_scene(scene) == ()


def test_no_column_is_left_alone_in_a_row() -> None:
    scene = scene_of("corking_transmission", Options())
    heights: dict[float, list[Section]] = {}
    for section in (s for s in scene.shapes if isinstance(s, Section)):
        heights.setdefault(section.start[1], []).append(section)
    assert sorted(len(row) for row in heights.values()) == [5, 7]
    # The second row starts behind a connection: with what moves together.
    first, second = (sorted(row, key=lambda s: s.start) for _, row in sorted(heights.items()))
    assert first[-1].origin.port == second[0].origin.port
    last = max(
        (s for s in scene.shapes if isinstance(s, Block) and s.box.bottom < second[0].start[1]),
        key=lambda b: b.box.right,
    )
    assert last.origin.part in ("K", "transposed")


def test_a_very_long_ladder_has_links_of_two_letters() -> None:
    parts = [
        line
        for k in range(52)
        for line in (f"  L{k}: {{inductor: [n{k}, n{k + 1}], L: 1}}", f"  C{k}: {{capacitor: [n{k + 1}, gnd], C: 1}}")
    ]
    text = "\n".join(["system: line", "network:", "  V: {voltage source: [n0, gnd]}", *parts])
    scene = pog_scene(pog(causal_of(text)), Options(max_width=400))
    letters = {s.text for s in scene.shapes if isinstance(s, Label) and s.origin.part == "link"}
    assert {"A", "Z'", "AA", "AA'"} <= letters
    assert check_scene(scene) == ()


def test_sections_have_numbers_and_power_directions_on_request() -> None:
    scene = scene_of("dc_motor_pump", Options(section_numbers=True, power_directions=True))
    numbers = [s.text for s in scene.shapes if isinstance(s, Label) and s.origin.part == "number"]
    assert numbers == [str(k) for k in range(1, 10)]
    arrows = [s for s in scene.shapes if isinstance(s, Wire) and s.tone == "power"]
    rightward = [s.points[0][0] < s.points[-1][0] for s in sorted(arrows, key=lambda s: s.points[0][0])]
    assert rightward == [True] * 8 + [False]
    assert check_scene(scene) == ()


def test_blocks_show_values_instead_of_symbols_or_beside_them() -> None:
    values = {s.origin.element: s.text for s in _gain_texts(scene_of("dc_motor_pump", Options(labels="values")))}
    assert values["R_a"] == "0.5"
    both = scene_of("dc_motor_pump", Options(labels="both"))
    assert {s.origin.element: s.text for s in _gain_texts(both)}["R_a"] == "R_a"
    beside = {s.origin.element: s.text for s in both.shapes if isinstance(s, Label) and s.origin.part == "value"}
    assert beside["R_a"] == r"R_a = 0.5\,\Omega"
    assert beside["J_m"] == r"J_m = 0.001\,\mathrm{kg\,m^{2}}"
    assert beside["motor"].endswith(r"\,\mathrm{N\,m/A}")
    assert beside["pump"].endswith(r"\,\mathrm{m^{3}}")
    assert check_scene(both) == ()


def _gain_texts(scene: Scene) -> list[Label]:
    return [s for s in scene.shapes if isinstance(s, Label) and s.origin.part == "gain text"]


# -- what is refused -----------------------------------------------------------------------------------------------------------


def test_a_scheme_with_a_wrong_sign_is_not_drawn() -> None:
    scheme = pog(causal("dc_motor_pump"))
    sums = dict(scheme.summations)
    sums["tau_J_m"] = Summation("tau_J_m", (("C_m", 1), ("tau_J_m_b_m", 1)))
    with pytest.raises(TellegenError, match="do not conserve power") as found:
        pog_scene(replace(scheme, summations=sums))
    assert found.value.finding.code == "F151"


def test_a_ladder_that_does_not_fit_its_sums_is_not_drawn() -> None:
    scheme = pog(causal("rlc"))
    ((name, summation),) = [(n, s) for n, s in scheme.summations.items() if len(s.inputs) == 2][:1]
    sums = {**scheme.summations, name: Summation(name, (("elsewhere", 1), *summation.inputs[1:]))}
    with pytest.raises(TellegenError, match="'V' comes to the summation of 'V_L', which does not count it") as found:
        pog_scene(replace(scheme, summations=sums))
    assert found.value.finding.code == "F150"


def test_reading_a_picture_finds_a_spot_that_is_missing(motor_pump: Scene) -> None:
    bare = replace(
        motor_pump, shapes=tuple(replace(s, spots=()) if isinstance(s, Sum) else s for s in motor_pump.shapes)
    )
    assert Signals(bare).nodes
    assert signal_loops(bare, most=10) == [0] * 5


def test_no_column_stands_alone_where_a_little_less_makes_one_row() -> None:
    """At the width of a page, one of vectors is wider than that by less than a hundredth."""
    figure = draw("trolley_folder", "pog", max_width="181 mm")
    assert not [s for s in figure.scene.shapes if isinstance(s, Ring)]
    assert 0.95 < figure.zoom < 1
    assert check_scene(figure.scene) == ()
