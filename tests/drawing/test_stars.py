"""Like branches at one node become lanes behind a connection of ones, and the equations stay what they were."""

from dataclasses import replace

import pytest

from support.networks import Network, network
from tellegen.causality import assign_causality
from tellegen.drawing import check_scene, draw
from tellegen.equations.derivation import derive_equations
from tellegen.graph import lower
from tellegen.scenes.scene import Label
from tellegen.schemes.algebra.figure_graphs import FEWEST_BRANCHES, star_graph


def star(count: int, *, odd: bool = False) -> Network:
    """A source, a capacitor, and branches of a coil and a capacitor; an odd one has a resistor in the place of its coil."""
    parts = [("V", "voltage source", "a", "gnd"), ("R", "resistor", "a", "c"), ("C", "capacitor", "c", "gnd")]
    for k in range(1, count + 1):
        kind = "resistor" if odd and k == 1 else "inductor"
        parts += [(f"L_{k}", kind, "c", f"d{k}"), (f"C_{k}", "capacitor", f"d{k}", "gnd")]
    return network(*parts)


def test_a_connection_of_ones_changes_no_equation() -> None:
    graph = lower(star(5).model())
    connected = star_graph(graph)
    assert connected is not None
    before, after = (derive_equations(assign_causality(g)) for g in (graph, connected))
    assert before.states == after.states
    for letter in "LAB":
        assert getattr(before, letter) == getattr(after, letter)


@pytest.mark.parametrize(
    "described", [star(FEWEST_BRANCHES - 1), star(FEWEST_BRANCHES, odd=True)], ids=["few", "unlike"]
)
def test_few_or_unlike_branches_are_no_star(described: Network) -> None:
    assert star_graph(lower(described.model())) is None


def test_a_star_is_drawn_as_a_vector_and_branch_by_branch_where_asked_for() -> None:
    model = star(5).model()
    scene = draw(model, "pog").scene
    assert check_scene(scene) == ()
    texts = [shape.text for shape in scene.shapes if isinstance(shape, Label)]
    assert r"\mathbf{K}_{1}" in texts
    apart = draw(model, "pog", lanes=False).scene
    drawn = {shape.origin.element for shape in apart.shapes}
    assert {f"L_{k}" for k in range(1, 6)} <= drawn


def test_cylinders_behind_their_valves_are_a_star_too() -> None:
    parts: list[tuple[str, ...]] = [("Q", "flow source", "tank", "p"), ("C", "accumulator", "p", "tank")]
    for k in range(1, FEWEST_BRANCHES + 1):
        parts += [
            (f"R_{k}", "hydraulic resistor", "p", f"q{k}"),
            (f"C_{k}", "accumulator", f"q{k}", "tank"),
            (f"A_{k}", "piston", f"q{k}", "tank", f"x{k}", "frame"),
            (f"m_{k}", "mass", f"x{k}", "frame"),
        ]
    graph = lower(network(*parts).model())
    assert star_graph(graph) is not None
    assert star_graph(replace(graph, couplings=graph.couplings[1:])) is None


def test_the_bond_graph_of_a_star_may_have_vector_bonds() -> None:
    scene = draw(star(5).model(), "bond", vectorial=True).scene
    assert check_scene(scene) == ()
    assert [shape.text for shape in scene.shapes if isinstance(shape, Label) and shape.origin.part == "size"].count(
        "5"
    ) > 2
