"""Times of shapes that parameters give are checked with the values of a run, wherever the shape stands."""

import pytest

import tellegen as tg
from tellegen.core.errors import DescriptionError
from tellegen.notations.reading import read_model

TEXT = """
system: Ramps
parameters: {{from_: 0.2 s, to: 0.5 s, long: 0.1 s}}
signals: {{u: '{signal}'}}
network:
  V: {{voltage source: [a, gnd], signal: u}}
  W: {{voltage source: [b, gnd]}}
  R: {{resistor: [a, b], R: 1 ohm}}
experiment: {{until: 1 s, inputs: {{W: '{course}'}}}}
"""
SHAPES = (
    "ramp(1 V/s, from_, to)",
    "quintic(0 V, 1 V, from_, to)",
    "2*ramp(1 V/s, from_, to) + 1 V",
    "pulse(1 V, from_, to - from_)",
    "trapezoid(1 V, 0 s, to - from_, long)",
)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("place", ["signal", "course", "input"])
def test_times_that_go_backwards_in_a_run_are_refused(shape: str, place: str) -> None:
    written = {"signal": "1 V", "course": "0 V"} | ({place: shape} if place != "input" else {})
    model = read_model(TEXT.format(**written))
    inputs = {"W": shape} if place == "input" else {}
    assert tg.simulate(model, inputs=inputs, samples=10).status == "finished"
    with pytest.raises(DescriptionError) as raised:
        tg.simulate(model, inputs=inputs, samples=10, parameters={"to": 0.1})
    assert raised.value.code == "D522"
