"""Bonds that close meshes come to a wide item from the side on which their other end is."""

from tellegen.drawing import check_scene, draw
from tellegen.scenes.geometry import Box
from tellegen.scenes.scene import Block, Bond, Scene


def box_of(scene: Scene, element: str) -> Box:
    return next(s.box for s in scene.shapes if isinstance(s, Block) and s.origin.element == element)


def bent_ends(scene: Scene, box: Box) -> list[tuple[float, float]]:
    """Where bonds with corners end at a box."""
    bent = [shape.points for shape in scene.shapes if isinstance(shape, Bond) and len(shape.points) > 2]
    near = box.grown(6)
    return [
        (x, y)
        for points in bent
        for x, y in (points[0], points[-1])
        if near.left < x < near.right and near.top < y < near.bottom
    ]


def test_bonds_from_above_end_above() -> None:
    scene = draw("corking_shaft", "bond").scene
    box = box_of(scene, "grooves")
    ends = bent_ends(scene, box)
    assert len(ends) == 2
    assert all(y < box.top for _, y in ends)
    assert check_scene(scene) == ()


def test_bonds_from_below_end_below() -> None:
    scene = draw("mobile_manipulator", "bond", whole=True).scene
    box = box_of(scene, "arm_2")
    assert [y > box.bottom for _, y in bent_ends(scene, box)] == [True, True]


def test_a_figure_with_items_put_elsewhere_keeps_them_too() -> None:
    usual = draw("corking_shaft", "bond").scene
    moved = draw("corking_shaft", "bond", places={"J_2r": (40.0, 700.0)}).scene
    assert check_scene(moved) == ()
    assert len(bent_ends(moved, box_of(moved, "grooves"))) == len(bent_ends(usual, box_of(usual, "grooves")))
