"""Texts as outlines: numbers in subscripts are put together from digits, and stand where they would stand otherwise."""

import pytest

from tellegen.scenes.geometry import Box, hull
from tellegen.scenes.typesetting import Typeset, _set, set_math


def boxes(text: Typeset) -> list[Box]:
    return [hull(point for _, points in outline for point in points) for outline in text.outlines]


@pytest.mark.parametrize(
    "latex",
    [
        "V_{17}",
        r"\dot{\phi}_{103}",
        "R_{h,1,20}",
        r"\dot{q}_{\text{C,1,23}}",
        "F_{m_{12}}",
        r"\omega_{\omega_{12},3}",
        r"V_{\mathrm{Rh}_{1,2}}",
        r"1/\alpha_{12}",
        "m_4",
        "1/K_{20}",
        r"V_{\mathbf{R}_{1},2}",
    ],
)
def test_numbers_in_subscripts_are_set_as_they_should_be(latex: str) -> None:
    made, whole = boxes(set_math(latex, 15)), boxes(_set(latex, 15))
    assert len(made) == len(whole) > 1
    for one, two in zip(made, whole, strict=True):
        assert (one.left, one.right, one.top, one.bottom) == pytest.approx(
            (two.left, two.right, two.top, two.bottom), abs=0.1
        )


@pytest.mark.parametrize("latex", ["x_{10} = 4.25", "10^{-12}", r"2.5\,\mathrm{mH}", "V"])
def test_other_texts_are_set_as_a_whole(latex: str) -> None:
    assert set_math(latex, 15) == _set(latex, 15)
