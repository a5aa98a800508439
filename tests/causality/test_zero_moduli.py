"""Couplings whose modulus is zero: a model where the variables that they hold are free to be held, a conflict where not."""

import pytest

import tellegen as tg
from tellegen.core.errors import CausalityError
from tellegen.notations.reading import read_model

GEAR = """
system: gear that stands still on one side
network:
  T: {torque source: [frame, a]}
  J_1: {inertia: [a], J: 1 kg*m^2}
  g: {gear: [a, b], n: 0}
  J_2: {inertia: [b], J: 2 kg*m^2, initial: 3 rad/s}
"""
MOTOR = """
system: motor without a field
parameters: {K: 0 N*m/A}
network:
  V: {voltage source: [a, gnd]}
  motor: {dc machine: [a, gnd, s, frame], K: K}
  J: {inertia: [s], J: 1 kg*m^2}
"""
DAMPED = MOTOR.replace("[a, gnd, s, frame]", "[b, gnd, s, frame]") + "  R: {resistor: [a, b], R: 2 ohm}\n"


def test_what_a_gear_of_zero_holds_stands_still_and_the_other_side_turns_freely() -> None:
    run = tg.simulate(read_model(GEAR), until=1, inputs={"T": 5})
    assert run.final()["omega_J_1"] == 0
    assert run.final()["omega_J_2"] == pytest.approx(3)
    assert run.energy.supplied == 0


def test_a_source_cannot_impose_what_a_coupling_holds() -> None:
    with pytest.raises(CausalityError, match="K101"):
        tg.derive(read_model(MOTOR))


def test_a_modulus_of_zero_that_nothing_is_divided_by_stays_a_symbol() -> None:
    equations = tg.derive(read_model(DAMPED))
    assert [str(e) for e in equations.matrices["B"][0]] == ["K/R"]
    run = tg.simulate(read_model(DAMPED), until=1, inputs={"V": 4})
    assert run["I_V"].values[-1] == pytest.approx(2)
    assert run.final()["omega_J"] == 0
