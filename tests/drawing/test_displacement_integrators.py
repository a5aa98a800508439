"""The integrators of displacements beside a vector block."""

import pytest

from tellegen.drawing import check_scene, draw
from tellegen.scenes.scene import Block, Label, Scene


def parts(scene: Scene) -> list[str]:
    """The blocks that make displacements, from left to right."""
    found = [s for s in scene.shapes if isinstance(s, Block) and s.origin.part in ("T", "displacement integrator")]
    return [s.origin.part for s in sorted(found, key=lambda s: s.box.left)]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("mobile_manipulator", ["displacement integrator"]),  # its coordinates are the integrals of x, one by one
        ("crank_rod", ["displacement integrator"]),
        # Rods turn that have no state of their own.
        pytest.param("trolley_folder", ["T", "displacement integrator"], marks=pytest.mark.slow),
        ("corking_machine", ["T", "displacement integrator"]),  # currents have no displacement
    ],
)
def test_displacements_are_integrals_of_the_states(name: str, expected: list[str]) -> None:
    scene = draw(name, "pog", vectorial=True, displacements=True).scene
    assert check_scene(scene) == ()
    assert parts(scene) == expected
    labels = [s.text for s in scene.shapes if isinstance(s, Label) and s.origin.part == "displacements"]
    assert len(labels) == 1


def test_the_legend_says_what_is_integrated() -> None:
    texts = [s.text for s in draw("trolley_folder", "pog", displacements=True).scene.shapes if isinstance(s, Label)]
    coordinates = next(text for text in texts if text.startswith(r"\mathbf{z} ="))
    rates = next(text for text in texts if text.startswith(r"\mathbf{T}\,\mathbf{x} ="))
    assert coordinates.count("&") == rates.count("&") == 6


def test_nothing_is_added_unless_asked_for_or_where_nothing_moves() -> None:
    assert parts(draw("mobile_manipulator", "pog").scene) == []
    plain, asked = (draw("dc_motor_pump", "pog", vectorial=True, displacements=d).scene for d in (False, True))
    assert plain == asked
