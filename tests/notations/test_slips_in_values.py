"""Values as people write them by slip: what is said leads to what is read."""

import pytest

from tellegen.core.errors import DescriptionError
from tellegen.core.units import parse_unit
from tellegen.model.model import Model
from tellegen.notations.reading import read_model


def model(value: str) -> Model:
    circuit = "network:\n  V: {voltage source: [a, gnd]}\n  R: {resistor: [a, gnd], R: 1 ohm}\n"
    return read_model(f"system: x\nparameters: {{k: '{value}'}}\n{circuit}")


@pytest.mark.parametrize(
    ("value", "fix"),
    [
        ("2,5 ohm", "write a point before decimals: 1.5"),
        ("1 000 ohm", "write the digits of a number without spaces"),
        ("500 1/s", "write s^-1"),
        ("500 s-1", "write ^-1 for the power, or spaces round the minus sign"),
        ("500/s", "as a unit, 's' stands behind its number, after a space: 1 s, or 1 s^-1"),
        ("ohm", "as a unit, 'ohm' stands behind its number, after a space: 1 ohm, or 1 ohm^-1"),
        ("1 kg*m2", "as a unit, write m^2"),
        ("5 mm2", "write mm^2 for a power"),
        ("5 kgm^2", "did you mean 'kg*m'?"),
        ("1 e-3", "write a power of ten without a space: 1e-3"),
        ("10%", "write a space before it: 10 %"),
        ("2*π", "write pi"),
        ("1 – 2", "write the minus sign -"),
        ("2*k²", "write ^2"),
    ],
)
def test_a_slip_in_a_value_gets_what_to_write(value: str, fix: str) -> None:
    with pytest.raises(DescriptionError) as caught:
        model(value)
    assert f"try: {fix}" in str(caught.value).splitlines()[-1]


@pytest.mark.parametrize(("value", "unit"), [("2 m³", "m^3"), ("3 N·m", "N*m"), ("5 s⁻¹", "1/s"), ("2 mm²/s", "m^2/s")])
def test_units_may_be_written_as_in_print(value: str, unit: str) -> None:
    assert model(value).parameters["k"].dimension == parse_unit(unit).dimension


@pytest.mark.parametrize("value", ["3 V - 1 V", "3 V-2 V", "3 V -1 V"])
def test_a_difference_behind_a_unit_is_a_difference(value: str) -> None:
    assert model(value).parameters["k"].dimension == parse_unit("V").dimension
