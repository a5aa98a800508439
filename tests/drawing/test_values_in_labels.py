"""Figures with values show those of parameters that are made of other parameters."""

import re

import pytest

from tellegen.drawing import draw
from tellegen.notations.reading import read_model
from tellegen.scenes.scene import Label

MODEL = """
system: Made of others
network:
  V: {voltage source: [a, gnd]}
  R: {resistor: [a, b]}
  L: {inductor: [b, gnd]}
parameters: {R: 2*r, r: 1 ohm, L: 1 H}
"""


@pytest.mark.parametrize("notation", ["network", "bond", "pog"])
@pytest.mark.parametrize("labels", ["values", "both"])
def test_a_parameter_that_is_made_of_another_one_shows_its_value(notation: str, labels: str) -> None:
    shapes = draw(read_model(MODEL), notation, labels=labels).scene.shapes
    shown = {shape.text for shape in shapes if isinstance(shape, Label)}
    # A POG in values has the numbers of its gains in SI, and no units.
    value = "2" if (notation, labels) == ("pog", "values") else r"2\,\Omega"
    assert any(re.fullmatch(r"(.*(= |{:}\\,))?" + re.escape(value), text) for text in shown), shown
    assert labels == "both" or "R" not in shown
