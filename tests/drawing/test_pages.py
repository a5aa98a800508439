"""Figures that are higher than a page go on on further ones, cut where nothing is."""

import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tellegen.core.errors import FigureError
from tellegen.drawing import draw
from tellegen.drawing.options import DEFAULTS
from tellegen.scenes.geometry import Box
from tellegen.scenes.ink import check_scene, cut_into_pages, ink_box
from tellegen.scenes.scene import MARGIN, Band, Block, framed_scene

BOXES = st.lists(
    st.tuples(st.floats(0, 300), st.floats(0, 900), st.floats(5, 60), st.floats(5, 120)), min_size=1, max_size=20
)


@settings(max_examples=40)
@given(BOXES, st.floats(150, 1200))
def test_every_shape_is_whole_on_one_page(boxes: list[tuple[float, float, float, float]], height: float) -> None:
    blocks = [Block(Box(x, y, x + wide, y + high)) for x, y, wide, high in boxes]
    box = ink_box(blocks).grown(MARGIN)
    scene = framed_scene("", "", box, (Band(box, "electrical"), *blocks))
    pages = cut_into_pages(scene, height)
    drawn = [shape for page in pages for shape in page.shapes if isinstance(shape, Block)]
    heights = [sorted(block.box.height for block in found) for found in (drawn, blocks)]
    assert heights[0] == pytest.approx(heights[1], abs=0.002)
    for page in pages:
        assert not [problem for problem in check_scene(page) if problem.kind == "outside"]
        # A page is higher only where its pieces hang together over more than its height.
        if len(pages) > 1 and page.box.height > height + 1e-6:
            assert len(cut_into_pages(page, height)) == 1


def test_a_mechanism_in_pieces_has_pages_of_the_height_asked_for() -> None:
    figure = draw("crank_rod_mechanism", "bond", max_width="181 mm", max_height="80 mm")
    pages = figure.pages
    assert len(pages) > 1
    assert all(page.box.height * figure.zoom == pytest.approx(80 / 25.4 * 96) for page in pages)
    assert sum(len(page.shapes) for page in pages) == len(figure.scene.shapes)
    assert len(re.findall(rb"/Type /Page\b", figure.pdf())) == len(pages)
    assert len(replace(figure, options=DEFAULTS).pages) == 1


@pytest.mark.parametrize("height", ["high", "-3 mm", "3 s", 0])
def test_a_height_that_is_none_is_refused(height: object) -> None:
    with pytest.raises(FigureError, match="max_height"):
        draw("rlc", "bond", max_height=height)
