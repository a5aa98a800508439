"""Ticks through the wires of vectors, with the numbers of their variables."""

from typing import Any

import pytest

from tellegen.drawing import check_scene, draw
from tellegen.scenes.scene import Label, Scene, Wire


def told(scene: Scene) -> list[tuple[str, str]]:
    """The numbers at ticks, with the section beside which they stand."""
    return [(s.origin.port, s.text) for s in scene.shapes if isinstance(s, Label) and s.origin.part == "dimension"]


@pytest.mark.parametrize(
    ("name", "options", "expected"),
    [
        ("dc_motor_pump", {"vectorial": True}, {"2", "3"}),
        ("pmsm", {}, {"3"}),
        ("corking_shaft", {}, {"2", "4"}),
        ("planetary_gear", {}, {"2"}),
    ],
)
def test_every_section_of_vectors_has_its_number_on_both_lines(
    name: str, options: dict[str, Any], expected: set[str]
) -> None:
    scene = draw(name, "pog", dimensions=True, **options).scene
    assert check_scene(scene) == ()
    found = told(scene)
    assert {text for _, text in found} == expected
    bold = {s.origin.port for s in scene.shapes if isinstance(s, Wire) and s.weight == "bold" and s.origin.port}
    assert sorted(found) == sorted(2 * [*set(found)])
    assert {port for port, _ in found} == bold


def test_ticks_are_drawn_where_they_are_asked_for_and_only_on_vectors() -> None:
    assert told(draw("pmsm", "pog").scene) == []
    plain, asked = (draw("dc_motor_pump", "pog", dimensions=choice).scene for choice in (False, True))
    assert plain == asked
