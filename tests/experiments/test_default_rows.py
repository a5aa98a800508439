"""Without a word about rows there are a thousand, or as many as the fastest input needs to be seen; and doubts about values set."""

import numpy as np
import pytest

import tellegen as tg
from tellegen.core.errors import DescriptionError, SimulationError
from tellegen.experiments.input_signals import InputSignal
from tellegen.experiments.setup import MOST_ROWS
from tellegen.notations.reading import read_model


@pytest.mark.parametrize(
    ("course", "rows"),
    [
        ("step(1 V)", 1001),
        ("sine(1 V, 10 Hz)", 1001),
        ("sine(1 V, 200 Hz)", 4001),
        ("pulse(1 V, 0 s, 1 ms, 2 ms)", 10001),
        pytest.param("sine(1 V, 1 MHz)", MOST_ROWS, marks=pytest.mark.slow),
    ],
)
def test_rows_follow_the_fastest_input(course: InputSignal, rows: int) -> None:
    run = tg.simulate("rlc", 1.0, inputs={"V": course}, solver="exponential", progress=False)
    assert len(run.t) == rows


def test_the_default_rows_show_the_size_of_a_fast_input() -> None:
    """A thousand rows of a sine of 1000 Hz over one second would all stand at its zeros."""
    run = tg.simulate("rlc", 1.0, inputs={"V": tg.sine(1.0, 1000.0)}, progress=False)
    assert np.abs(run.values("V")).max() == pytest.approx(1.0, rel=0.02)


def test_rows_that_are_asked_for_are_given() -> None:
    run = tg.simulate("rlc", 1.0, inputs={"V": tg.sine(1.0, 1000.0)}, samples=50, progress=False)
    assert len(run.t) == 51


def test_a_negative_resistance_that_is_set_is_warned_about() -> None:
    run = tg.simulate("rlc", parameters={"R": -1.0}, progress=False)
    assert [finding.code for finding in run.notices if finding.severity == "warning"] == ["D132"]
    assert "R is an active element" in run.notices[0].what
    assert not [f for f in tg.simulate("rlc", parameters={"R": 1.0}, progress=False).notices if f.severity == "warning"]


def test_a_storage_cannot_be_set_to_less_than_nothing() -> None:
    with pytest.raises(DescriptionError, match="the inductance of L is -1"):
        tg.simulate("rlc", parameters={"L": -1.0})


PARALLEL = """
system: Two capacitors
parameters: {R: 1 ohm, C_1: 1 F, C_2: 1 F}
network:
  R:   {resistor: [n, gnd]}
  C_1: {capacitor: [n, gnd], initial: 1 V}
  C_2: {capacitor: [n, gnd], initial: 2 V}
experiment: {until: 1 s}
"""


def test_initial_values_in_the_network_must_agree() -> None:
    with pytest.raises(SimulationError, match="the initial value of V_C_2 is 2, but 'C_1' makes it 1") as raised:
        tg.simulate(read_model(PARALLEL), progress=False)
    assert raised.value.code == "S305"
    agreeing = read_model(PARALLEL.replace("initial: 2 V", "initial: 1 V"))
    assert tg.simulate(agreeing, progress=False).status == "finished"
