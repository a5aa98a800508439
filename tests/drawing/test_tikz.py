"""Figures in TikZ, as TeX sets them; those of all examples are judged beside the other formats."""

from collections.abc import Callable
from pathlib import Path

import pytest

from drawing.latex import judge_tikz, overlaps
from tellegen.drawing import draw
from tellegen.scenes.geometry import Box


@pytest.mark.parametrize(
    "name",
    ["planetary_gear", *(pytest.param(n, marks=pytest.mark.slow) for n in ("pmsm", "dc_motor_pump", "crank_rod"))],
)
def test_equations_are_one_page_without_overlaps(name: str, tmp_path: Path, system_tool: Callable[[str], str]) -> None:
    judge_tikz(draw(name, "equations"), tmp_path, system_tool("pdflatex"))


def test_labels_that_lie_on_each_other_are_seen() -> None:
    assert overlaps([("a", Box(0, 0, 10, 10)), ("b", Box(5, 5, 20, 20))]) == [("a", "b")]
    assert overlaps([("a", Box(0, 0, 10, 10)), ("b", Box(9, 0, 20, 10))]) == []
