"""Any model has a POG figure in which nothing overlaps and in which every element stands once."""

from math import inf
from random import Random

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from drawing.reading_pogs import shown_elements, signal_loops
from schemes.comparing import causal_of, legal_causality
from support.amount import FEWER, SLOW
from support.networks import Network
from support.strategies import networks
from tellegen.causality import CausalGraph, assign_causality
from tellegen.core.errors import GraphError, TellegenError
from tellegen.drawing.options import DEFAULTS, LabelChoice, MeshChoice, Options
from tellegen.drawing.pog.scene import plan_model_pog, pog_scene
from tellegen.drawing.pog.steps import reduction_scene, steps_scene
from tellegen.graph import SourceLaw, lower
from tellegen.notations.reading import read_model
from tellegen.scenes.ink import check_scene
from tellegen.schemes import flip, orientations, pog, reduction_pictures
from tellegen.workflow.transforming import reduce


def elements(causal: CausalGraph) -> list[str]:
    return sorted(port.element for port in causal.graph.ports if not isinstance(port.law, SourceLaw))


MESHES = st.sampled_from(["auto", "linked", "vector"])


@FEWER
@given(networks(couplings=True), st.booleans(), MESHES)
def test_nothing_overlaps_and_every_element_stands_once(network: Network, derivative: bool, meshes: MeshChoice) -> None:
    causal = legal_causality(network)
    scene = pog_scene(pog(causal, derivative=derivative), Options(meshes=meshes))
    assert check_scene(scene) == ()
    assert sorted(name for name in shown_elements(scene) if name in elements(causal)) == elements(causal)


@given(networks(couplings=True))
def test_the_loops_of_a_drawn_ladder_have_an_odd_number_of_spots(network: Network) -> None:
    scheme = pog(legal_causality(network), derivative=True)
    if scheme.vectorial or any(block.sign < 0 or block.field for block in scheme.blocks.values()):
        return
    loops = signal_loops(pog_scene(scheme, Options(max_width=100000)), most=300)
    assert all(spots % 2 == 1 for spots in loops)


@given(networks(couplings=False), st.sampled_from(["symbols", "values", "both"]), st.integers(300, 1500))
def test_every_choice_of_options_keeps_labels_apart(network: Network, labels: LabelChoice, width: int) -> None:
    options = Options(
        labels=labels,
        power_directions=True,
        section_numbers=True,
        max_width=width,
    )
    assert check_scene(pog_scene(flip(pog(legal_causality(network))).scheme, options)) == ()


@FEWER
@given(networks(couplings=True))
def test_reductions_are_drawn_side_by_side(network: Network) -> None:
    scheme = pog(legal_causality(network), derivative=True)
    for name, block in list(scheme.blocks.items())[: 4 if SLOW else 2]:
        if block.kind not in ("storage", "derivative"):
            continue
        try:
            pictures = reduction_pictures(scheme, name)
        except GraphError:
            continue
        assert check_scene(reduction_scene(pictures)) == ()


@FEWER
@given(networks(couplings=False))
def test_orientations_are_drawn_side_by_side(network: Network) -> None:
    scheme = pog(legal_causality(network))
    try:
        scene = steps_scene(orientations(scheme))
    except GraphError as error:
        assume(error.finding.code != "G208")  # too many loops
        raise
    assert check_scene(scene) == ()


def differentials(seed: int) -> str:
    """Shafts that differentials join, each with an inertia or friction and, at random, a torque."""
    chance = Random(seed)
    shafts = ["a", "b", *(f"s{k}" for k in range(chance.randint(1, 3)))]
    lines = []
    for k, shaft in enumerate(shafts):
        if k > 1:
            ends = ", ".join(f"{end}, frame" for end in (*chance.sample(shafts[:k], 2), shaft))
            relation = f"across_3 = {chance.choice([-2, 3])}*across_1 + {chance.choice([1, 2])}*across_2"
            domains = "[rotational, rotational, rotational]"
            lines.append(f"  g{k}: {{multiport: [{ends}], domains: {domains}, relation: {relation}}}")
        kind = "inertia" if chance.random() < 0.8 else "friction"
        lines.append(f"  e{k}: {{{kind}: [{shaft}, frame]}}")
        if chance.random() < 0.8:
            lines.append(f"  tau{k}: {{torque source: [frame, {shaft}]}}")
    return "\n".join(["system: differentials", "network:", *chance.sample(lines, len(lines)), ""])


@settings(max_examples=60 if SLOW else 5)
@given(st.integers(0, 2**16))
def test_differentials_with_dependent_inertias_show_every_input(seed: int) -> None:
    causal = causal_of(differentials(seed))
    assert sorted(shown_inputs(causal)) == sorted(sources_of(causal))


def sources_of(causal: CausalGraph) -> list[str]:
    return [port.element for port in causal.graph.ports if isinstance(port.law, SourceLaw)]


def shown_inputs(causal: CausalGraph) -> list[str]:
    """What comes in at the sections of a figure, whose gains from inputs to states and outputs are checked on the way."""
    plan, _ = plan_model_pog(causal, DEFAULTS)
    return [name for ladder in plan.ladders for section in ladder.all_sections() for name, _ in section.given]


def mechanism(seed: int) -> tuple[str, dict[str, float]]:
    """A chain of bodies on pins, pads and slides, pushed and turned at random, with motors on springs; and limits for it."""
    chance = Random(seed)
    values, bodies, joints, network, limits = ["{"], list[str](), list[str](), list[str](), list[tuple[str, float]]()
    for k in range(1, chance.randint(1, 3) + 1):
        values.append(f"m_{k}: 1.3 kg, J_{k}: 0.4 kg*m^2, k_{k}: 1e4 N/m, c_{k}: 50 N*m/rad,")
        centre, tip = chance.choice([0, 0.2, 0.5]), f"[{chance.choice([0.5, 1])} m, {chance.choice([0, 0.2])} m]"
        bodies.append(f"    b{k}: {{mass: m_{k}, inertia: J_{k}, centre: [{centre} m, 0 m], points: {{tip: {tip}}}}}")
        before, kind = "ground" if k == 1 else f"b{k - 1}.tip", chance.choice(["revolute", "pad", "prismatic"])
        more = {"pad": f", K: k_{k}, b: 10 N*s/m", "prismatic": ", direction: 0.5 rad"}.get(kind, "")
        joints.append(f"    j{k}: {{{kind}: [{before}, b{k}]{more}}}")
        limits += [(f"J_{k}", 0.0), (f"m_{k}", 0.0), *[(f"k_{k}", inf)] * (kind == "pad")]
        if chance.random() < 0.7:
            network.append(f"  tau_{k}: {{torque source: [{'frame' if k == 1 else f'b{k - 1}'}, b{k}]}}")
        if chance.random() < 0.5:
            network.append(f"  F_{k}: {{force source: [frame, b{k}.tip.{chance.choice('xy')}]}}")
        if chance.random() < 0.4:
            network.append(f"  M_{k}: {{inertia: [g{k}]}}\n  s_{k}: {{torsion spring: [g{k}, b{k}], K: c_{k}}}")
            network.append(f"  T_{k}: {{torque source: [frame, g{k}]}}")
            limits += [(f"c_{k}", inf), (f"M_{k}", 0.0)]
    lines = [
        "system: chain",
        f"parameters: {' '.join(values)}}}",
        "mechanism:",
        "  bodies:",
        *bodies,
        "  joints:",
        *joints,
    ]
    text = "\n".join([*lines, *["network:"] * bool(network), *network, ""])
    return text, dict(chance.sample(limits, chance.randint(1, 2)))


@settings(max_examples=100 if SLOW else 8)
@given(st.integers(0, 2**16))
def test_reduced_mechanisms_show_every_input_and_the_gains_of_their_outputs(seed: int) -> None:
    text, limits = mechanism(seed)
    try:
        reduced = reduce(read_model(text), limits)
    except TellegenError as error:
        # A limit that does not exist; a body pinned at its centre, which nothing joins to its masses.
        assume(error.code not in ("T106", "T107", "T109", "G104"))
        raise
    causal = assign_causality(lower(reduced.model))
    assert set(shown_inputs(causal)) == set(sources_of(causal)) == set(sources_of(causal_of(text)))
