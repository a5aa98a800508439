"""Bond graphs of vectors: like branches of a model as one chain, with the letters of the POG."""

import pytest

import tellegen as tg
from support.examples import causal_example
from tellegen.drawing import check_scene, draw
from tellegen.drawing.bond.plan import BondPlan
from tellegen.drawing.bond.vector import vector_plans
from tellegen.drawing.options import DEFAULTS
from tellegen.scenes.scene import Label
from tellegen.schemes import pog


def plan_of(name: str) -> BondPlan:
    return vector_plans(pog(causal_example(name)), DEFAULTS)[1]


def chain(plan: BondPlan) -> list[str]:
    return [node.text.letters for node in plan.nodes.values() if node.role != "leaf"]


def test_the_corking_machine_is_the_chain_of_the_paper() -> None:
    plan = plan_of("corking_machine_extended")
    # Motors, belts, nuts and shaft: currents, motor speeds, belt forces, nut speeds, ball forces, shaft speeds.
    assert chain(plan) == ["1", "MGY", "1", "TF", "0", "TF", "1", "TF", "0", "TF", "1"]
    sizes = [link.size for link in plan.links if plan.nodes[link.tail].role != "leaf" != plan.nodes[link.head].role]
    assert sizes == [6, 2, 2, 2, 2, 2, 2, 4, 4, 2]


@pytest.mark.parametrize("name", ["corking_machine_extended", "corking_transmission", "corking_shaft", "pmsm"])
def test_strokes_are_legal(name: str) -> None:
    """One bond decides what a junction shares, a transformer passes a stroke on, a gyrator turns it round."""
    plan = plan_of(name)
    for node in plan.nodes.values():
        ends = [link.stroke == node.name for link in plan.links if node.name in (link.tail, link.head)]
        if node.role == "junction":
            assert sum(ends) == (1 if node.text.letters == "0" else len(ends) - 1)
        elif node.role == "multiport":
            assert len(ends) == 2
            assert (ends[0] != ends[1]) == node.text.letters.endswith("TF")


def test_storages_have_integral_causality() -> None:
    plan = plan_of("corking_machine_extended")
    for link in plan.links:
        letters = plan.nodes[link.head].text.letters
        if letters in ("I", "C"):
            assert (link.stroke == link.head) == (letters == "I")


def test_an_element_alone_is_written_as_in_a_scalar_bond_graph() -> None:
    plan = plan_of("pmsm")
    assert plan.nodes["J"].text.latex() == r"\mathrm{I}{:}\,J"
    told = {link.head: (link.effort, link.flow) for link in plan.links}
    assert told["J"] == (r"\dot{p}_J", r"\omega")
    assert told["b"] == (r"\tau_b", r"\omega")


@pytest.mark.parametrize("name", ["corking_machine_extended", "corking_transmission", "corking_shaft", "pmsm"])
def test_every_vector_bond_has_an_effort_and_a_flow(name: str) -> None:
    assert all(link.effort and link.flow for link in plan_of(name).links)


@pytest.mark.parametrize("name", ["corking_machine_extended", "pmsm"])
def test_figures_are_drawn_without_overlaps(name: str) -> None:
    assert check_scene(draw(name, "bond", vectorial=True).scene) == ()


@pytest.mark.parametrize("name", ["corking_machine", "pmsm"])
def test_the_matrices_of_elements_are_explained_under_the_name_that_stands_in_the_figure(name: str) -> None:
    labels = [shape for shape in draw(name, "bond", whole=True).scene.shapes if isinstance(shape, Label)]
    explained = {label.text.partition(" = ")[0] for label in labels if label.origin.part == "legend"}
    shown = {label.text for label in labels if label.origin.part == "name" and r"\mathbf{R}" in label.text}
    assert shown
    for text in shown:
        assert any(left in text for left in explained if r"\mathbf{R}" in left), text


def test_a_model_without_like_branches_says_so() -> None:
    with pytest.raises(tg.FigureError, match=r"F153.*no branches that run side by side"):
        draw("planetary_gear", "bond", vectorial=True)
