"""Steps of the algebra of POGs side by side."""

from schemes.comparing import causal_of
from tellegen.causality import assign_causality
from tellegen.drawing import draw
from tellegen.drawing.checks import check_scene
from tellegen.drawing.pog_steps import orientation_scene, reduction_scene, rewriting_scene
from tellegen.drawing.scene import Block, Label, Scene, Section
from tellegen.expressions import ONE, ZERO
from tellegen.graph import lower
from tellegen.schemes import PogScheme, elementary_loops, flip, invert_path, pog, reduce_loop, reduction_pictures
from tellegen.workflow import load


def scheme_of(name: str) -> PogScheme:
    return pog(assign_causality(lower(load(name))))


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
    scene = reduction_scene(reduction_pictures(scheme_of("rlc"), "C"), T=((ONE,), (ZERO,)))
    (beside,) = texts(scene, "congruence")
    assert r"\mathbf{T}\,\mathbf{z}" in beside
    assert check_scene(scene) == ()


def test_pictures_of_a_reduction_are_drawn_by_draw() -> None:
    pictures = reduction_pictures(scheme_of("dc_motor"), "L")
    assert draw(pictures).scene == reduction_scene(pictures)


def test_a_loop_reduced_by_masons_rule_is_one_transfer_block() -> None:
    scheme = scheme_of("dc_motor_pump")
    loop = next(loop for loop in elementary_loops(scheme) if set(loop.blocks) == {"J_m", "b_m"})
    scene = rewriting_scene(scheme, [reduce_loop(scheme, loop), flip(scheme)])
    assert ("J_m_b_m", "gain") in blocks(scene, "b")
    assert len({s.origin.port[0] for s in scene.shapes if isinstance(s, Section)}) == 3
    assert check_scene(scene) == ()


def test_an_inverted_input_path_turns_its_arrows() -> None:
    scheme = scheme_of("spring_damper")
    scene = orientation_scene(scheme)
    assert len([s for s in texts(scene, "caption") if s.startswith("(")]) == 2
    assert check_scene(scene) == ()


def test_a_derivative_block_that_is_asked_for_is_drawn() -> None:
    scheme = pog(causal_of(TWO_INERTIAS))
    path = next(loop for loop in elementary_loops(scheme) if set(loop.blocks) == {"J", "b"})
    step = invert_path(scheme, path, derivative=True)
    scene = rewriting_scene(scheme, [step])
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
