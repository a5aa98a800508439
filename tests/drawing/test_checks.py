"""The checks of scenes find what an eye would."""

from dataclasses import replace

import pytest

from tellegen.drawing import Scene, check_scene, draw
from tellegen.scenes.geometry import Box
from tellegen.scenes.scene import Block, Bond, Label, Origin, Shape, Sum, Wire


def scene(*shapes: Shape) -> Scene:
    return Scene("", "", Box(0, 0, 300, 300), shapes)


def kinds(*shapes: Shape) -> list[str]:
    return [problem.kind for problem in check_scene(scene(*shapes))]


LABEL = Label("x", (100, 100))
BLOCK = Block(Box(80, 80, 120, 120), origin=Origin("K", "gain"))


@pytest.mark.parametrize(
    "shapes",
    [
        (LABEL, Label("y", (104, 102))),
        (LABEL, Block(Box(100, 90, 140, 120))),
        (LABEL, Sum((108, 100))),
        (LABEL, Wire(((50, 100), (150, 100)), origin=Origin(part="lead"))),
        (BLOCK, Block(Box(110, 110, 150, 150))),
        (BLOCK, Sum((124, 100))),
        (Sum((100, 100)), Sum((110, 100))),
        (BLOCK, Wire(((50, 100), (150, 100)), origin=Origin(part="lead"))),
        (Sum((100, 100)), Wire(((50, 104), (150, 104)), origin=Origin(part="lead"))),
    ],
)
def test_shapes_on_top_of_each_other_are_found(shapes: tuple[Shape, ...]) -> None:
    assert "overlap" in kinds(*shapes)


def test_the_stroke_and_the_barb_of_a_bond_are_ink() -> None:
    ends = Label("1", (40, 50)), Label("1", (160, 50))
    bond = Bond(((50, 50), (150, 50)), "end", 1)
    assert kinds(*ends, bond) == []
    assert kinds(*ends, bond, Label("x", (150, 58), 8)) == ["overlap"]
    assert kinds(*ends, bond, Label("x", (141, 56), 6)) == ["overlap"]
    assert kinds(*ends, replace(bond, flow_side=-1), Label("x", (141, 56), 6)) == []


def test_a_text_may_stand_in_its_block() -> None:
    assert kinds(BLOCK, LABEL) == []


def test_a_wire_ends_at_something() -> None:
    assert kinds(BLOCK, Wire(((120, 100), (200, 100)))) == ["free end"]
    assert kinds(BLOCK, Wire(((120, 100), (200, 100)), origin=Origin(part="lead"))) == []
    assert kinds(BLOCK, Wire(((120, 100), (191, 100)), True), Sum((200, 100))) == []


def test_a_bond_stops_at_a_text() -> None:
    assert kinds(Label("1", (40, 50)), Bond(((50, 50), (150, 50)), "end", 1)) == ["free end"]


def test_elements_are_there_and_once() -> None:
    twice = Block(Box(180, 80, 220, 120), origin=BLOCK.origin)
    assert [p.kind for p in check_scene(scene(BLOCK), ["K", "R"])] == ["missing"]
    assert kinds(BLOCK, twice) == ["twice"]


def test_ink_outside_the_figure_is_found() -> None:
    assert kinds(Block(Box(-10, 10, 40, 40))) == ["outside"]


def test_a_good_scene_has_no_problems() -> None:
    assert check_scene(draw("dc_motor_pump", "bond").scene) == ()
