"""Pictures that stay as they are, up to what fonts and rasterisers may change; tools/update_figures.py writes them again."""

from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from support.networks import network
from tellegen.core.shipped import SYSTEMS
from tellegen.drawing import Figure, draw
from tellegen.notations.loading import as_model

GOLDEN = Path(__file__).parent / "golden"
MOST_CHANGED = 0.005
"""The part of the pixels that may differ."""
VISIBLE = 60
"""A difference of grey that an eye would see, of 255."""


def bridge() -> Figure:
    """A Wheatstone bridge."""
    ends = {"R_1": "ab", "R_2": "bz", "R_3": "ac", "R_4": "cz", "R_5": "bc"}
    arms = [(name, "resistor", *(node.replace("z", "gnd") for node in pair)) for name, pair in ends.items()]
    return draw(network(("V", "voltage source", "a", "gnd"), *arms).model(), "network")


PICTURES = {
    "dc_motor_pump.bond": lambda: draw("dc_motor_pump", "bond"),
    "planetary_gear.bond": lambda: draw("planetary_gear", "bond", theme="mono"),
    "dc_motor_pump.network": lambda: draw("dc_motor_pump", "network"),
    "cauer_low_pass.network": lambda: draw("cauer_low_pass", "network"),
    "netlist_12.network": lambda: draw(as_model(SYSTEMS / "pog_netlists" / "example_12.txt"), "network"),
    "bridge.network": bridge,
}
"""The figures that are kept, by the names of their files."""


@pytest.mark.parametrize("name", PICTURES)
def test_pictures_stay_as_they_are(name: str) -> None:
    drawn, kept = _grey(PICTURES[name]().png(dpi=72)), _grey((GOLDEN / f"{name}.png").read_bytes())
    assert drawn.shape == kept.shape
    assert np.mean(np.abs(drawn - kept) > VISIBLE) <= MOST_CHANGED


def test_a_picture_without_one_of_its_elements_is_another_picture() -> None:
    figure = draw("dc_motor_pump", "bond")
    kept, drawn = (
        _grey(figure.png(dpi=72)),
        _grey(draw("dc_motor_pump", "bond", variables=False, labels="values").png(dpi=72)),
    )
    assert kept.shape != drawn.shape or np.mean(np.abs(drawn - kept) > VISIBLE) > MOST_CHANGED


def _grey(png: bytes) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    return np.asarray(Image.open(BytesIO(png)).convert("L"), dtype=np.float64)
