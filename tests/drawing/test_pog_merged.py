"""Storages that depend on others share one block of a ladder, as in the reduced schemes of the papers."""

from math import pi

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawing.reading_pogs import loops_through, shown_elements, signal_loops
from schemes.comparing import causal_of, legal_causality
from support.examples import causal_example
from support.networks import Network
from support.strategies import networks
from tellegen.causality import CausalGraph
from tellegen.drawing.options import DEFAULTS, Options
from tellegen.drawing.pog.scene import model_pog_scene
from tellegen.equations.derivation import derive_equations
from tellegen.expressions import is_zero
from tellegen.graph import SourceLaw
from tellegen.scenes.ink import check_scene
from tellegen.scenes.lettering import name_latex
from tellegen.scenes.scene import Block, Label, Scene, Section
from tellegen.schemes import pog
from tellegen.schemes.algebra.figure_graphs import collapsed_graph
from tellegen.schemes.algebra.vector_blocks import storage_groups


def scene_of(name: str, options: Options = DEFAULTS) -> Scene:
    return model_pog_scene(causal_example(name), options)


def texts(scene: Scene) -> list[str]:
    return [shape.text for shape in scene.shapes if isinstance(shape, Label)]


def elements(causal: CausalGraph) -> list[str]:
    return sorted(port.element for port in causal.graph.ports if not isinstance(port.law, SourceLaw))


def test_the_rigid_crank_has_the_inertia_of_its_angle_and_its_force_behind_a_moving_ratio() -> None:
    scene = scene_of("crank_rod")
    assert texts(scene).count(r"H(\theta)") == 2
    assert r"J(\theta) = J_m + H^{2} m_p" in texts(scene)
    assert r"b(\theta) = b_m + H^{2} b_p" in texts(scene)
    # Its formula is longer than a line; of one state it is half of the rate of J.
    assert r"N_{1}(\theta, \omega) = \frac{1}{2}\,\dot{J}" in texts(scene)
    sections = sorted(s.start[0] for s in scene.shapes if isinstance(s, Section))
    assert len(sections) == 5  # before the crank, behind the storages, N and A, and behind the ratio
    assert check_scene(scene) == ()


@pytest.mark.parametrize(
    ("name", "vectorial"), [("crank_rod", False), ("crank_rod", True), ("mobile_manipulator", True)]
)
def test_what_moving_ratios_bring_is_added_to_the_momenta(name: str, vectorial: bool) -> None:
    # q = L x is integrated and L' = N + N^T, so L x' + N x = B u - A x is q' = B u - A x + N^T x: d(J omega)/dt - N_1 omega = ...
    spots = loops_through(scene_of(name, Options(vectorial=vectorial)), "N")
    assert spots
    assert all(count % 2 == 0 for count in spots)
    taken = loops_through(scene_of("crank_rod", Options(vectorial=vectorial)), "A")
    assert taken
    assert all(count % 2 for count in taken)


def test_a_model_without_losses_has_no_block_for_them() -> None:
    parts = {s.origin.part for s in scene_of("mobile_manipulator").shapes if isinstance(s, Block)}
    assert parts == {"B", "C", "integrator", "gain", "N"}
    assert r"-\mathbf{N}^{\mathrm{T}}\,\mathbf{x}" in [
        text.replace(" ", "") for text in texts(scene_of("mobile_manipulator"))
    ]


def test_sections_are_numbered_from_left_to_right() -> None:
    scene = scene_of("crank_rod", Options(section_numbers=True))
    sections = sorted((s.start[0], s.origin.port) for s in scene.shapes if isinstance(s, Section))
    assert [name for _, name in sections] == ["1", "2", "3", "4", "5"]


def test_the_figure_says_that_it_is_no_scalar_pog() -> None:
    note = "No scalar POG: 'm_p' depends on other storages. One block stands for them together."
    assert note in texts(scene_of("crank_rod"))


def test_what_moves_alone_stays_in_the_ladder() -> None:
    scene = scene_of("rotational_first")
    storages = {s.origin.element for s in scene.shapes if isinstance(s, Block) and s.origin.part == "integrator"}
    assert storages == {"J_1 J_2", "c", "J_3"}
    assert r"J = J_1 + \frac{J_2}{\mathrm{ratio}^{2}}" in texts(scene)


def test_the_reduced_corking_machine_keeps_its_motors_and_belts() -> None:
    scene = scene_of("corking_machine")
    integrators = [s.origin.element for s in scene.shapes if isinstance(s, Block) and s.origin.part == "integrator"]
    assert len(integrators) == 4  # coils, rotors, belts, and the pulleys with the shaft
    assert any(set(names.split()) == {"J_2e", "J_2r", "m_a", "J_a"} for names in integrators)
    assert sorted(shown_elements(scene)).count("m_a") == 1
    assert check_scene(scene) == ()
    assert all(spots % 2 for spots in signal_loops(scene_of("corking_machine", Options(max_width=10000)), most=200))


def test_the_ratios_of_the_reduced_corking_machine_are_those_of_the_paper() -> None:
    # T_a = [[-r cot(alpha), r cot(alpha)], [0, 1]]
    graph = collapsed_graph(pog(causal_example("corking_machine")))
    assert graph is not None
    (ratios,) = [c for c in graph.couplings if c.element == "ratios"]
    values = {"r_a": 0.01, "alpha": 1.26262725568}
    shown = [entry.evaluate(values) for row in ratios.K for entry in row]
    lead = 0.02 / (2 * pi)
    # Forces come from the frame, so that both rows are counted the other way.
    assert shown == pytest.approx([lead, -lead, 0, -1], abs=1e-9)


def test_the_whole_model_is_one_block_on_request() -> None:
    scene = scene_of("crank_rod", Options(vectorial=True))
    assert {"B", "C"} <= {s.origin.part for s in scene.shapes if isinstance(s, Block)}


def test_a_storage_beside_a_source_has_no_such_block() -> None:
    text = "system: s\nnetwork:\n  V: {voltage source: [a, gnd]}\n  C: {capacitor: [a, gnd], C: 1}\n"
    laddered = pog(causal_of(text), derivative=True)
    assert [storage_groups(laddered, ladder) for ladder in laddered.ladders] == [None]


@settings(max_examples=20)
@given(networks(couplings=True))
def test_nothing_overlaps_and_every_element_stands_once(network: Network) -> None:
    causal = legal_causality(network)
    scene = model_pog_scene(causal, Options(max_width=100000))
    assert check_scene(scene) == ()
    assert sorted(name for name in shown_elements(scene) if name in elements(causal)) == elements(causal)


@st.composite
def geared_shafts(draw: st.DrawFn) -> str:
    """A tree of shafts, each with an inertia, joined by gears and springs; torques act on some of them."""
    count = draw(st.integers(3, 6))
    lines = ["system: shafts", "network:"]
    for k in range(count):
        lines.append(f"  J_{k}: {{inertia: [s{k}], J: {k + 1}}}")
        if k:
            joint = draw(st.sampled_from(["gear", "gear", "torsion spring"]))
            value = f"n: {k + 1}" if joint == "gear" else f"K: {k + 1}"
            lines.append(f"  g_{k}: {{{joint}: [s{draw(st.integers(0, k - 1))}, s{k}], {value}}}")
    driven = draw(st.sets(st.integers(0, count - 1), min_size=1))
    lines += [f"  T_{k}: {{torque source: [frame, s{k}]}}" for k in sorted(driven)]
    braked = draw(st.sets(st.integers(0, count - 1), max_size=2))
    lines += [f"  b_{k}: {{friction: [s{k}], b: {k + 1}}}" for k in sorted(braked)]
    return "\n".join(lines) + "\n"


@settings(max_examples=20)
@given(geared_shafts())
def test_every_source_is_in_the_figure_of_shafts_that_gears_join(text: str) -> None:
    assert missing_inputs(causal_of(text)) == []


def missing_inputs(causal: CausalGraph) -> list[str]:
    """The inputs that nothing written in the figure of a model names."""
    # Letter by letter, since a vector of inputs stands in the legend as a whole.
    scene = model_pog_scene(causal, Options(max_width=100000, matrices="shown"))
    written = " ".join(texts(scene))
    return [name for name in derive_equations(causal).inputs if name_latex(name) not in written]


DIFFERENTIAL = """
system: differential
bond graph:
  - Se:T_1 -> 1:a(rotational)
  - a -> I:J_1
  - Se:T_2 -> 1:b(rotational)
  - b -> I:J_2
  - a -> TF:n_1 -> 0:m(rotational)
  - b -> TF:n_2 -> m
  - m -> 1:c
  - c -> I:J_3
  - Se:T_3 -> c
"""

CRANK_ON_A_CARRIAGE = """
system: crank on a carriage
parameters: {R: 0.05 m}
displacements: {theta: omega}
network:
  tau: {torque source: [frame, crank]}
  J: {inertia: [crank], J: 0.01 kg*m^2, angular velocity: omega}
  rod: {connection: [crank, frame, pin, car], domains: [rotational, translational], relation: across_2 = -R*sin(theta)*across_1}
  m: {mass: [pin], m: 0.5 kg}
  M: {mass: [car], m: 2 kg}
  F_car: {force source: [frame, car]}
  F_pin: {force source: [frame, pin]}
"""


@pytest.mark.parametrize("text", [DIFFERENTIAL, CRANK_ON_A_CARRIAGE])
def test_a_source_at_the_end_of_a_side_ladder_within_a_group_is_not_lost(text: str) -> None:
    causal = causal_of(text)
    assert missing_inputs(causal) == []
    assert all(
        storage_groups(laddered, ladder) is None
        for laddered in [pog(causal, derivative=True)]
        for ladder in laddered.ladders
    )


@given(networks(couplings=True))
def test_a_group_has_the_energy_matrix_of_its_states_in_the_whole_model(network: Network) -> None:
    causal = legal_causality(network)
    scheme, laddered = pog(causal), pog(causal, derivative=True)
    if scheme.vector is None or not causal.derivative:
        return
    at = {state: k for k, state in enumerate(scheme.vector.states)}
    for ladder in laddered.ladders:
        for group in storage_groups(laddered, ladder) or ():
            own = [at[state] for state in group.states]
            for i, row in zip(own, group.L, strict=True):
                assert all(is_zero(e - scheme.vector.L[i][j]) for j, e in zip(own, row, strict=True))


GEARS = """
system: geared drive
network:
  V: {voltage source: [a, gnd]}
  L: {inductor: [a, b], L: 1 mH}
  motor: {dc machine: [b, gnd, s, frame], K: 0.1 N*m/A}
  J: {inertia: [s], J: 2 g*m^2}
  gear: {gear: [s, t], n: 2}
  J_2: {inertia: [t], J: 4 g*m^2}
"""


def test_a_letter_that_the_model_uses_gets_an_index() -> None:
    shown = texts(model_pog_scene(causal_of(GEARS)))
    assert shown.count(r"\frac{1}{J_{\mathrm{e}}}") == 1
    assert any(text.startswith(r"J_{\mathrm{e}} = J +") for text in shown)


def test_values_stand_in_the_legend_of_what_moves_together_too() -> None:
    assert r"J_{\mathrm{e}} = 0.003" in texts(model_pog_scene(causal_of(GEARS), Options(labels="values")))


def test_a_storage_that_the_structure_holds_at_zero_is_drawn_without_a_field() -> None:
    """Two transformers of different ratios between the same pairs of nodes leave no voltage; no storage is left to merge with."""
    held = """
        system: held
        network:
          T_1: {transformer: [a, r, b, s], n: 2}
          T_2: {transformer: [a, r, s, b], n: 3}
          I: {current source: [b, s]}
          C: {capacitor: [r, a], C: 1 mF}
    """
    assert not check_scene(model_pog_scene(causal_of(held)))
