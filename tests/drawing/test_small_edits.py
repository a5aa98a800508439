"""Figures drawn anew after a small edit: what the edit does not touch stays, and the rest moves by the space of one element."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from math import hypot

import pytest

from drawing.reading_networks import symbol_boxes
from tellegen.drawing import draw
from tellegen.drawing.memory import bond_places
from tellegen.model.model import Model
from tellegen.notations.loading import as_model
from tellegen.scenes.geometry import Point
from tellegen.scenes.scene import Block, Scene

SPACE = 75.0
"""What a symbol with its label takes in a schematic."""


def places(scene: Scene, notation: str) -> dict[str, Point]:
    """Where the items of a figure are."""
    if notation == "pog":
        return {f"{s.origin.element} {s.origin.part}": s.box.centre for s in scene.shapes if isinstance(s, Block)}
    return (
        bond_places(scene.shapes) if notation == "bond" else {k: box.centre for k, box in symbol_boxes(scene).items()}
    )


def farthest(one: dict[str, Point], two: dict[str, Point]) -> float:
    """The largest move of what both figures have, beside the move that most of it has in common."""
    moves = [(round(two[k][0] - x), round(two[k][1] - y)) for k, (x, y) in one.items() if k in two]
    right, down = (Counter(move[axis] for move in moves).most_common(1)[0][0] for axis in (0, 1))
    return max(hypot(x - right, y - down) for x, y in moves)


def without(model: Model, name: str) -> Model:
    """The model without an element."""
    return replace(model, elements=tuple(element for element in model.elements if element.name != name))


def edits(model: Model) -> Iterator[tuple[str, Model]]:
    """One element less, or one more beside another."""
    for element in model.elements:
        if len(element.nodes) == 2:
            yield f"without {element.name}", without(model, element.name)
            if element.kind.role != "source":
                twin = replace(element, name="new", variables={})
                yield f"with another {element.name}", replace(model, elements=(*model.elements, twin))


@pytest.mark.parametrize(
    "name",
    ["rlc", "dc_motor", "dc_motor_pump", "hydraulic_cylinder", "two_mass_drive", "transformer_tank", "corking_shaft"],
)
def test_an_element_more_or_less_in_a_schematic_moves_others_by_its_space(name: str) -> None:
    model = as_model(name)
    before = places(draw(model, "network").scene, "network")
    moved = {told: farthest(before, places(draw(other, "network").scene, "network")) for told, other in edits(model)}
    assert {told: far for told, far in moved.items() if far > SPACE} == {}


@pytest.mark.parametrize(
    ("name", "source", "notation"),
    [
        ("dc_motor_pump", "V_a", "network"),
        ("two_mass_drive", "tau_m", "network"),
        ("two_mass_drive", "tau_m", "bond"),
        ("crank_rod", "tau", "bond"),
        ("crank_rod_elastic", "tau", "bond"),
        ("two_mass_drive", "tau_m", "pog"),
        ("crank_rod_elastic", "tau", "pog"),
    ],
)
def test_a_figure_is_not_turned_round_when_its_first_source_is_taken_away(
    notation: str, name: str, source: str
) -> None:
    model = as_model(name)
    one, two = (places(draw(m, notation).scene, notation) for m in (model, without(model, source)))
    assert source not in two
    assert farthest(one, two) < (SPACE if notation == "network" else 1)


def test_one_storage_more_does_not_choose_another_trunk() -> None:
    model = as_model("corking_shaft")
    twin = replace(next(e for e in model.elements if e.name == "J_a"), name="new", variables={})
    other = replace(model, elements=(*model.elements, twin))
    one, two = (places(draw(m, "bond").scene, "bond") for m in (model, other))
    assert farthest(one, two) < 200


def test_one_branch_more_does_not_turn_the_others_over() -> None:
    model = as_model("cauer_low_pass")
    twin = replace(next(e for e in model.elements if e.name == "R1"), name="new", variables={})
    one, two = (
        places(draw(m, "bond").scene, "bond") for m in (model, replace(model, elements=(*model.elements, twin)))
    )
    for name in ("L1", "C2", "L2", "C4"):
        assert two[name][1] - one[name][1] == two["C1"][1] - one["C1"][1]


@pytest.mark.parametrize("notation", ["bond", "network"])
def test_names_of_nodes_decide_no_place(notation: str) -> None:
    model = as_model("dc_motor_pump")
    nodes = sorted({n for e in model.elements for n in e.nodes} - {"gnd", "frame", "tank"})
    other = dict(zip(nodes, reversed([f"z{k}" for k in range(len(nodes))]), strict=True))
    renamed = replace(
        model, elements=tuple(replace(e, nodes=tuple(other.get(n, n) for n in e.nodes)) for e in model.elements)
    )
    one, two = (places(draw(m, notation).scene, notation) for m in (model, renamed))
    assert {k: v for k, v in one.items() if k in two} == {k: v for k, v in two.items() if k in one}
    assert len(one.keys() & two.keys()) >= 10
