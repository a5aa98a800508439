"""Steps of the algebra of POGs side by side."""

from math import inf

import pytest

from schemes.comparing import causal_of
from support.examples import causal_example
from tellegen.core.errors import FigureError
from tellegen.drawing import draw
from tellegen.drawing.pog.steps import reduction_scene
from tellegen.notations.reading import read_model
from tellegen.scenes.ink import check_scene
from tellegen.scenes.scene import Block, Label, Scene, Section
from tellegen.schemes import (
    PogScheme,
    elementary_loops,
    flip,
    invert_path,
    orientations,
    pog,
    reduce_loop,
    reduction_pictures,
)
from tellegen.workflow.transforming import reduce


def scheme_of(name: str) -> PogScheme:
    return pog(causal_example(name))


def texts(scene: Scene, part: str) -> list[str]:
    return [s.text for s in scene.shapes if isinstance(s, Label) and s.origin.part == part]


def blocks(scene: Scene, panel: str) -> set[tuple[str, str]]:
    found = [s for s in scene.shapes if isinstance(s, Block) and s.origin.port.startswith(f"{panel}.")]
    return {(s.origin.element, s.origin.part) for s in found}


def test_a_reduction_shows_the_loop_the_inverted_loop_and_what_is_left() -> None:
    scene = reduction_scene(reduction_pictures(scheme_of("dc_motor_pump"), "J_m"))
    assert blocks(scene, "a") == {("J_m", "integrator"), ("J_m", "gain"), ("b_m", "gain")}
    assert blocks(scene, "b") == {("J_m", "derivative"), ("J_m", "gain"), ("b_m", "gain")}
    assert blocks(scene, "c") == {("b_m", "gain")}
    assert texts(scene, "caption")[-1] == "J_m = 0"
    assert texts(scene, "step") == [r"\Rightarrow", r"\Rightarrow"]
    assert check_scene(scene) == ()


def test_a_stiffness_goes_to_infinity() -> None:
    scene = reduction_scene(reduction_pictures(scheme_of("crank_rod_elastic"), "K"))
    assert r"K \rightarrow \infty" in texts(scene, "caption")
    assert check_scene(scene) == ()


def test_the_congruence_stands_beside_a_reduction() -> None:
    scene = draw(reduce("dc_motor_pump", {"J_m": 0}), "steps").scene
    (beside,) = texts(scene, "congruence")
    states, reduced = (
        rf"\begin{{bmatrix}} {names} \end{{bmatrix}}" for names in (r"I_a \\ \omega_m \\ P_0", r"I_a \\ P_0")
    )
    assert beside.startswith(f"{states} = ")
    assert r"\frac{K_m}{b_m}" in beside
    assert beside.endswith(reduced)
    assert check_scene(scene) == ()


def test_every_limit_has_a_row_of_its_own() -> None:
    scene = draw(reduce("dc_motor_pump", {"J_m": 0, "L_a": 0}), "steps").scene
    assert [s for s in texts(scene, "caption") if "=" in s] == ["L_a = 0", "J_m = 0"]
    assert len(texts(scene, "step")) == 4
    assert blocks(scene, "c") == {("R_a", "gain")}
    assert blocks(scene, "f") == {("b_m", "gain")}
    assert check_scene(scene) == ()


def test_storages_that_follow_others_in_the_limit_share_a_block_at_the_end() -> None:
    scene = draw(reduce("crank_rod_elastic", {"K": inf}), "steps").scene
    assert {part for _, part in blocks(scene, "c")} == {"integrator", "gain", "N", "A", "K", "transposed"}
    assert r"J(\theta) = J_m + H^{2} m_p" in texts(scene, "legend")
    # The force of the rod follows from rates: zero would be wrong.
    (beside,) = texts(scene, "congruence")
    assert beside.startswith(r"\begin{bmatrix} \omega \\ v_p \end{bmatrix} = ")
    assert check_scene(scene) == ()


def test_a_vector_scheme_shows_the_parameter_that_tends_to_its_limit_and_the_vector_scheme_in_the_limit() -> None:
    scene = draw(reduce("corking_shaft", {"K_se": inf, "K_sr": inf}), "steps").scene
    before, after = (
        [s.text for s in scene.shapes if isinstance(s, Label) and s.origin.port.startswith(f"{panel}.")]
        for panel in "ab"
    )
    assert any(r"K_\text{se}" in text and "diag" in text for text in before)
    assert not any(r"K_\text{se}" in text for text in after if r"\rightarrow" not in text)
    assert "derivative" not in {part for panel in "ab" for _, part in blocks(scene, panel)}
    assert [text for text in before + after if r"\infty" in text] == [
        r"K_\text{se} < \infty,\ K_\text{sr} < \infty",
        r"K_\text{se} \rightarrow \infty,\ K_\text{sr} \rightarrow \infty",
    ]
    assert check_scene(scene) == ()


def test_a_parameter_within_a_matrix_that_is_only_named_has_its_entry_under_the_figure() -> None:
    scene = draw(reduce(read_model(RING), {"C_1": 0}), "steps").scene
    assert any(r"_{1,1} = C_1" in text for text in texts(scene, "legend"))
    assert check_scene(scene) == ()


RING = (
    "system: ring\nnetwork:\n  V: {voltage source: [n1, gnd]}\n"
    + "".join(
        f"  C_{k}: {{capacitor: [n{k}, gnd]}}\n  R_{k}: {{resistor: [n{k}, n{k % 6 + 1}]}}\n" for k in range(1, 7)
    )
).replace("  C_1: {capacitor: [n1, gnd]}\n", "  C_1: {capacitor: [n2, n5]}\n")


@pytest.mark.parametrize(
    ("what", "told"),
    [
        ("rlc", "a model alone has no steps"),
        ([], "there are no steps in an empty list"),
        ([3], "what is of the kind 'int' is no step"),
    ],
)
def test_what_has_no_steps_is_refused(what: object, told: str) -> None:
    with pytest.raises(FigureError, match=told) as caught:
        draw(what, "steps")  # type: ignore[arg-type]  # what a user may try
    assert caught.value.finding.code == "F190"
    assert "--limit" in caught.value.finding.fix


def test_pictures_of_a_reduction_are_drawn_by_draw() -> None:
    pictures = reduction_pictures(scheme_of("dc_motor"), "L")
    assert draw(pictures).scene == reduction_scene(pictures)


def test_a_loop_reduced_by_masons_rule_is_one_transfer_block() -> None:
    scheme = scheme_of("dc_motor_pump")
    loop = next(loop for loop in elementary_loops(scheme) if set(loop.blocks) == {"J_m", "b_m"})
    scene = draw([scheme, reduce_loop(scheme, loop), flip(scheme)]).scene
    assert ("J_m_b_m", "gain") in blocks(scene, "b")
    assert len({s.origin.port[0] for s in scene.shapes if isinstance(s, Section)}) == 3
    assert check_scene(scene) == ()


def test_an_inverted_input_path_turns_its_arrows() -> None:
    scene = draw(orientations(scheme_of("spring_damper"))).scene
    assert len([s for s in texts(scene, "caption") if s.startswith("(")]) == 2
    assert texts(scene, "step") == []
    assert check_scene(scene) == ()


def test_orientations_that_would_differentiate_are_named_under_the_others() -> None:
    scene = draw(orientations(scheme_of("dc_motor"))).scene
    told = " ".join(texts(scene, "note"))
    assert "Not drawn: loop through" in told
    assert "it would differentiate" in told
    assert check_scene(scene) == ()


def test_a_derivative_block_that_is_asked_for_is_drawn() -> None:
    scheme = pog(causal_of(TWO_INERTIAS))
    path = next(loop for loop in elementary_loops(scheme) if set(loop.blocks) == {"J", "b"})
    step = invert_path(scheme, path, derivative=True)
    scene = draw([scheme, step]).scene
    assert ("J", "derivative") in blocks(scene, "b")
    assert check_scene(scene) == ()


TWO_INERTIAS = """
system: wheel
parameters: {J: 1, b: 1}
network:
  T: {torque source: [frame, w]}
  J: {inertia: [w]}
  b: {friction: [w, frame]}
"""


LANES = """
system: Two lanes
parameters: {K_1: 2 N/m, K_2: 3 N/m, J: 1 kg*m^2, R_1: 1 m/rad, R_2: 2 m/rad, b: 1 N*m*s}
pog:
  - domain: [rotational, rotational]
  - section: {across: [omega_1, omega_2], through: [tau_1, tau_2], given: [omega_1, omega_2]}
  - connect: {name: R, K: [[R_1, 0], [0, R_2]]}
  - series: [[K:K_1, K:K_2]]
  - connect: {name: S, K: [[R_1, 0], [0, R_2]]}
  - domain: [rotational, rotational]
  - parallel: [{J: J_t, matrix: [[2*J, J], [J, 3*J]]}, {b: b_t, matrix: [[2*b, b], [b, 3*b]]}]
"""


def test_vector_lanes_with_inverted_paths_are_still_vectors() -> None:
    scheme = pog(causal_of(LANES))
    for spring in ("K_1", "K_2"):
        loop = next(loop for loop in elementary_loops(scheme) if spring in loop.blocks)
        scheme = invert_path(scheme, loop, derivative=True).scheme
    scene = draw(scheme).scene
    warned = {(s.origin.element, s.origin.part) for s in scene.shapes if isinstance(s, Block) and s.tone == "warning"}
    assert warned == {(e, p) for e in ("K_1 K_2", "J_t[1] J_t[2]") for p in ("gain", "derivative")}
    written = [s.text for s in scene.shapes if isinstance(s, Label)]
    assert r"\mathbf{K}_{2}^{-\mathrm{T}}" in written
    (energy,) = [text for text in written if text.startswith(r"\mathbf{L}_{1} =")]
    assert r"\frac{1}{K_1}" in energy  # the belts differentiate with 1/K, as they integrate with K
    assert check_scene(scene) == ()
