"""Texts as outlines: numbers in subscripts are put together from digits, and stand where they would stand otherwise."""

from inspect import unwrap
from random import Random

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


SMALL = ("x", "j", "m_a", r"\theta_{c}", r"\dot{q}", "2", "-g")


def nested(random: Random, depth: int) -> str:
    """A formula of few different pieces, which therefore come again in other sizes, scripts and brackets."""
    if depth == 0:
        return random.choice(SMALL)
    one, two = nested(random, depth - 1), nested(random, depth - 1)
    made = (
        rf"\left({one} + {two}\right)",
        rf"\frac{{{one}}}{{{two}}}",
        rf"\left[{one}\right]^{{{two}}}",
        rf"\sqrt{{{one}}} \, {two}",
        rf"\cos\left({one}\right) {two}",
    )
    return random.choice(made)


def test_what_is_remembered_of_a_row_is_what_is_measured_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(7)
    formulas = [(nested(random, depth), size) for depth in (1, 2, 2, 3, 3) for size in (9.0, 12.0)]
    remembered = [_set(latex, size) for latex, size in formulas]
    # A first formula has loaded it: ziamath finds its fonts through a function that is deprecated.
    from ziamath.nodes.mnode import Mnode, _node_classes
    from ziamath.nodes.mrow import Mrow

    # Those of ziamath make each node anew; its rows measure all that is in them, each time.
    monkeypatch.setattr(Mnode, "fromelement", staticmethod(unwrap(Mnode.fromelement)))
    monkeypatch.setattr(_node_classes["mrow"], "_get_height_nostretch", Mrow._get_height_nostretch)
    assert remembered == [_set(latex, size) for latex, size in formulas]
