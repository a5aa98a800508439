"""Any model has a POG figure in which nothing overlaps and in which every element stands once."""

from hypothesis import assume, given
from hypothesis import strategies as st

from drawing.reading_pogs import shown_elements, signal_loops
from schemes.comparing import legal_causality
from support.amount import FEWER, SLOW
from support.networks import Network
from support.strategies import networks
from tellegen.causality import CausalGraph
from tellegen.core.errors import GraphError
from tellegen.drawing.options import LabelChoice, MeshChoice, Options
from tellegen.drawing.pog.scene import pog_scene
from tellegen.drawing.pog.steps import reduction_scene, steps_scene
from tellegen.graph import SourceLaw
from tellegen.scenes.ink import check_scene
from tellegen.schemes import flip, orientations, pog, reduction_pictures


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
