"""Parameters given by a table of a displacement, and slopes of other parameters."""

import math

import pytest

import tellegen as tg
from support.model_schema import VALIDATOR
from tellegen.core.errors import DescriptionError
from tellegen.model.model import Model
from tellegen.notations.reading import read_model
from tellegen.notations.writing import to_yaml

CAM = """\
system: Cam
parameters:
  h: 10 mm
  lift: h*(1 - cos(theta))
  H: {slope of: lift, by: theta}
displacements: {theta: omega}
network:
  tau: {torque source: [a]}
  J: {inertia: [a], J: 1 kg*m^2, angular velocity: omega}
  cam: {rack: [a, x], r: H}
  m: {mass: [x], m: 1 kg}
"""
TABLE = "{table: [[0 deg, 0 mm], [90 deg, 4 mm], [180 deg, 8 mm]], at: theta}"


def with_lift(lift: str) -> str:
    return CAM.replace("h*(1 - cos(theta))", lift)


def slope_at(model: Model, theta: float) -> float:
    expression = model.parameters["H"].expression
    assert expression is not None
    known = {"theta": theta, "h": 0.01}
    return float(expression.evaluate({name: known[name] for name in expression.free_symbols}))


def test_a_slope_is_the_derivative_of_its_parameter() -> None:
    assert slope_at(read_model(CAM), 0.4) == pytest.approx(0.01 * math.sin(0.4))


def test_a_slope_goes_through_parameters_that_move() -> None:
    text = CAM.replace("  lift: h*(1 - cos(theta))\n", "  lift: h*(1 - c)\n  c: cos(2*alpha)\n  alpha: theta/2\n")
    assert slope_at(read_model(text), 0.4) == pytest.approx(0.01 * math.sin(0.4))


def test_a_table_is_read_in_any_unit() -> None:
    inches = TABLE.replace("4 mm", "0.15748031496062992 in").replace("90 deg", "0.25 rev")
    for table in (TABLE, inches):
        assert slope_at(read_model(with_lift(table)), 1.0) == pytest.approx(0.008 / math.pi)
        assert read_model(with_lift(table)).parameters["lift"].unit == "m"


def test_a_table_with_a_period_begins_again() -> None:
    text = with_lift(
        TABLE.replace("[180 deg, 8 mm]", "[180 deg, 0 mm]").replace("at: theta", "at: theta, period: 180 deg")
    )
    model = read_model(text)
    for turns in range(-2, 3):
        assert slope_at(model, 0.3 + turns * math.pi) == pytest.approx(0.008 / math.pi)
        assert slope_at(model, 2.0 + turns * math.pi) == pytest.approx(-0.008 / math.pi)


@pytest.mark.parametrize("lift", ["h*(1 - cos(theta))", TABLE, TABLE.replace("theta", "theta, interpolation: cubic")])
def test_curves_are_written_as_they_are_read(lift: str) -> None:
    model = read_model(with_lift(lift))
    again = read_model(to_yaml(model))
    assert tg.derive(again).to_json() == tg.derive(model).to_json()
    assert "slope of: lift" in to_yaml(model)
    assert ("table:" in to_yaml(model)) == ("table:" in lift)


WRONG = [
    (
        "{slope of: lift, by: thta}",
        "D491",
        "takes the slope by 'thta', which is no displacement",
        "did you mean 'theta'?",
    ),
    ("{slope of: lft, by: theta}", "D491", "takes the slope of 'lft', which is no parameter", "did you mean 'lift'?"),
    ("{slope of: h, by: theta}", "D491", "'h', which does not depend on 'theta'", "let it read the displacement"),
    ("{slope of: lift}", "D490", "the slope H has no 'by'", "write"),
    ("{slope: lift, by: theta}", "D490", "without 'table' and without 'slope of'", "write"),
    ("{slope of: lift, by: theta, at: 3}", "D100", "'at'", ""),
    ("{table: [[0, 0], [1, 1]]}", "D490", "the curve H does not say where it is read", "at: theta"),
    ("{table: [[0, 0], [1, 1]], at: thta}", "D120", "'at' of H uses 'thta'", "did you mean 'theta'?"),
    ("{table: [[0, 0], [1, 1]], at: theta, period: 0}", "D490", "the period of H is '0', not a positive number", ""),
    ("{table: [[0 deg, 0], [1, 1]], at: theta, period: 3 m}", "D121", "the period of H is in m, not a number", "angle"),
    ("{table: [[0, 0], [1, 1]], at: theta, interpolation: cubik}", "D490", "'cubik'", "did you mean 'cubic'?"),
    ("{table: [[0, 0 V], [1, 1 V]], at: theta}", "D121", "the pinion radius of cam is in V, not in m", "give it in m"),
]


@pytest.mark.parametrize(("curve", "code", "what", "fix"), WRONG, ids=[f"{w[1]} {w[0]}" for w in WRONG])
def test_a_wrong_curve_is_told_what_fits(curve: str, code: str, what: str, fix: str) -> None:
    with pytest.raises(DescriptionError) as caught:
        read_model(CAM.replace("{slope of: lift, by: theta}", curve))
    (found,) = caught.value.findings
    assert found.code == code
    assert what in found.what
    assert fix in found.fix
    assert found.place is not None
    assert found.place.line == 5 or code == "D121"


def test_a_slope_of_something_broken_adds_no_error() -> None:
    with pytest.raises(DescriptionError) as caught:
        read_model(with_lift("3*"))
    assert [f.code for f in caught.value.findings] == ["D001"]


def test_the_schema_knows_curves() -> None:
    network = {"tau": {"torque source": ["a"]}}
    good = {"table": [["0 deg", "0 mm"], ["90 deg", "1 mm"]], "at": "theta"}
    for curve, right in ((good, True), ({"slope of": "lift", "by": "theta"}, True), ({"slope of": "lift"}, False)):
        file = {"system": "Cam", "parameters": {"H": curve}, "network": network}
        assert VALIDATOR.is_valid(file) == right
