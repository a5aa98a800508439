"""Values with units: what they are in SI, and what does not go together."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tellegen.core.errors import DescriptionError, Finding, Place
from tellegen.core.units import Dimension
from tellegen.expressions import Number, number, parse, symbol
from tellegen.model.dimensions import NoDimension, measure_of
from tellegen.notations.parameters import parameter_values
from tellegen.notations.quantities import decimal_text, read_plain, read_quantity
from tellegen.notations.reading import read_model

NETWORK = "network: {R: {resistor: [a], R: 1 ohm}}\n"


def values(**parameters: str) -> dict[str, float]:
    lines = "".join(f"  {name}: {text}\n" for name, text in parameters.items())
    return parameter_values(read_model(f"system: Test\nparameters:\n{lines}{NETWORK}"))


def error(**parameters: str) -> Finding:
    with pytest.raises(DescriptionError) as caught:
        values(**parameters)
    (only,) = caught.value.findings
    return only


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("4.7 mH", 0.0047),
        ("10", 10.0),
        ("-2e-5 m^3/s", -2e-5),
        (".5 s", 0.5),
        ("2. A", 2.0),
        ("3 km/h", 3 / 3.6),
        ("20 degC", 293.15),
        ("pi*4", 3.141592653589793 * 4),
        ("1 ohm/3", 1 / 3),
        ("2 mH + 3 uH", 0.002003),
        ("sqrt(4 m^2)", 2.0),
        ("50 %", 0.5),
        ("2 kohm * 3", 6000.0),
        ("max(2 mH, 3 uH)", 0.002),
        ("if(1 mH > 1 H, 3 V, 4 V)", 4.0),
        ("hypot(3 V, 4 V)", 5.0),
        ("atan2(1 V, 1 V)", 0.7853981633974483),
        ("exp(0 s/(1 s))", 1.0),
    ],
)
def test_values_are_held_in_si(text: str, value: float) -> None:
    assert values(x=f"'{text}'")["x"] == pytest.approx(value, rel=1e-15)


def test_definitions_may_stand_in_any_order() -> None:
    assert values(A="pi*d^2/4", d="2*r", r="0.5 m")["A"] == pytest.approx(0.7853981633974483, rel=1e-15)


def test_a_parameter_that_depends_on_a_symbol_has_no_value() -> None:
    assert values(a="2*b", b="", c="3") == {"c": 3.0, "R": 1.0}


@pytest.mark.parametrize(
    ("text", "code", "what"),
    [
        ("2 mH + 3 ohm", "D122", "the value of x adds H and ohm (V/A)"),
        ("2 mH + 3 mH - 1 V", "D122", "the value of x adds H and V"),
        ("min(2 mH, 3 ohm)", "D122", "the value of x in 'min' joins H and ohm (V/A)"),
        ("if(1 V > 1 A, 1, 2)", "D122", "the value of x compares A and V"),
        ("if(1 > 0, 1 V, 2 A)", "D122", "the value of x adds"),
        ("sin(3 m)", "D123", "the value of x takes 'sin' of something in m"),
        ("2^(3 s)", "D123", "the value of x raises to an exponent in s"),
        ("y + 1", "D120", "the value of x uses 'y', which is not a parameter"),
        ("nan", "D124", "'nan' is not a finite number"),
        (".inf", "D124", "'.inf' is not a finite number"),
        ("2*inf", "D124", "the value of x uses 'inf', which is not a finite number"),
        ("1e350", "D124", "'1e350' holds a number beyond the range of a computer"),
        ("1e-350", "D124", "'1e-350' holds a number beyond the range of a computer"),
        ("1e-350*sin(2)", "D124", "'1e-350*sin(2)' holds a number beyond the range of a computer"),
        ("sqrt(-2)", "D124", "the value of x is not a real number"),
        ("exp(1000)", "D124", "the value of x is too large for a number"),
        ("1e999", "D004", "column 1 of '1e999': the number '1e999' is out of range"),
        ("1/0", "D009", "column 2 of '1/0': division by zero"),
        ("2 kohn", "D050", "'kohn' is not a unit"),
        ("x", "D125", "'x' is defined by itself"),
        ("3 mH*degC", "D052", "'degC' stands inside a product of units"),
    ],
)
def test_a_wrong_value_is_told_what_is_wrong(text: str, code: str, what: str) -> None:
    if text.startswith("if(1 > 0"):
        assert values(x=f"'{text}'")["x"] == 1.0  # the condition is decided, so only one branch is left
        return
    found = error(x=f"'{text}'")
    assert (found.code, found.what[: len(what)]) == (code, what)
    assert found.place is not None


@pytest.mark.parametrize("key", ["C: 1 F, initial: 1e400 V", "law: Q = V*1e400*1 F"])
def test_numbers_beyond_the_range_of_a_computer_are_told_wherever_they_stand(key: str) -> None:
    text = "system: far\nnetwork:\n  V: {voltage source: [a]}\n  R: {resistor: [a, b], R: 1 ohm}\n"
    with pytest.raises(DescriptionError, match=r"D124: .* holds a number beyond the range of a computer"):
        read_model(f"{text}  C: {{capacitor: [b], {key}}}\n")


def test_a_cycle_is_named() -> None:
    found = error(a="2*b", b="c + 1", c="a/2")
    assert found.what == "parameters define each other: a -> b -> c -> a"
    assert found.members == ("a", "b", "c")


def test_division_by_a_parameter_that_is_zero() -> None:
    found = error(a="0", b="1/a")
    assert (found.code, found.what) == ("D126", "the value of b divides by zero")


def test_dimensions_follow_through_definitions() -> None:
    found = error(d="3 mm", A="d^2", x="A + d")
    assert found.what == "the value of x adds m and m^2"


def test_a_bare_number_fits_anything() -> None:
    assert values(L="2 mH", x="L + 1")["x"] == 1.002


def test_a_parameter_given_as_a_bare_number_leaves_the_unit_of_a_product_open() -> None:
    text = "system: T\nparameters: {K: 3, x: K*(2 A)}\nnetwork: {V: {voltage source: a}, R: {resistor: [a], R: x}}"
    assert read_model(text).parameters["x"].dimension is None


def test_the_unit_of_an_expression_is_the_si_unit_of_its_dimension() -> None:
    parameter = read_model(f"system: T\nparameters: {{L: 2 mH, x: 2*L}}\n{NETWORK}").parameters["x"]
    assert (parameter.unit, parameter.dimension) == ("H", Dimension(kg=1, m=2, s=-2, A=-2))


def test_a_factor_is_a_number_so_twice_an_inductance_is_no_resistance() -> None:
    text = "system: T\nparameters: {L: 2 mH}\nnetwork: {R: {resistor: [a], R: 2*L}}"
    with pytest.raises(DescriptionError, match="the resistance of R is in H, not in ohm"):
        read_model(text)


def test_a_parameter_that_is_also_a_unit_is_pointed_out() -> None:
    text = "system: T\nparameters: {d: 2}\nnetwork: {R: {resistor: [a], R: 2 ohm/d}}"
    with pytest.raises(DescriptionError) as caught:
        read_model(text)
    fix = "'d' behind a number is read as a unit: put spaces around the operator before it to mean the parameter"
    assert caught.value.finding.fix == fix


def test_the_own_parameter_of_an_element_has_its_unit() -> None:
    text = "system: T\nparameters: {R: 2 mH}\nnetwork: {R: {resistor: [a]}}"
    with pytest.raises(DescriptionError) as caught:
        read_model(text)
    place = caught.value.finding.place
    assert place is not None
    assert (place.line, place.text) == (2, "2 mH")


def test_indexed_parameters_may_be_given_and_used() -> None:
    text = 'system: T\nparameters: {"r[1]": 2 ohm, "r[2]": "2*r[1]"}\nnetwork: {R: {resistor: [a], R: "r[2]"}}'
    assert parameter_values(read_model(text))["r[2]"] == 4.0


DECIMALS = st.decimals(min_value=-(10**6), max_value=10**6, places=6)
UNITS = st.sampled_from(["ohm", "mH", "kg*m^2", "m^3/(Pa*s)", "rpm", "N*m/A", "s^-1", "degC", ""])


@given(DECIMALS, UNITS)
def test_the_quick_way_reads_a_number_with_a_unit_as_the_parser_does(value: object, unit: str) -> None:
    text = f"{value} {unit}".strip()
    quick = read_plain(text)
    assert quick is not None
    if unit == "degC":
        return  # a scale with a zero of its own has no place in a formula
    general = read_quantity(f"({text})", lambda: None)
    assert general.expression is quick.expression


@given(st.fractions(max_denominator=10**6))
def test_a_decimal_is_exact_or_not_given(value: Fraction) -> None:
    text = decimal_text(value)
    if text is not None:
        assert parse(text) is number(value)


@given(st.floats(allow_nan=False, allow_infinity=False, min_value=1e-200, max_value=1e200))
def test_every_float_is_written_so_that_it_reads_back(value: float) -> None:
    exact = number(value)
    assert isinstance(exact, Number)
    text = decimal_text(exact.rational)
    assert text is not None
    assert float(text) == value


@pytest.mark.parametrize(
    ("text", "code", "what"),
    [
        ("1/(1 V - 1)", "D009", "division by zero in SI units"),
        ("0^(-1 s)", "D009", "division by zero in SI units"),
        ("9^9^9^9 ohm", "D004", "a power with more than 4000 digits in SI units is out of range"),
    ],
)
def test_what_is_impossible_in_si_units_alone_is_told(text: str, code: str, what: str) -> None:
    found = error(x=text)
    assert (found.code, found.what) == (code, f"'{text}': {what}")
    assert found.place is not None
    assert (found.place.line, found.place.column) == (3, 6)
    assert found.fix == "check the units and the parentheses"


@given(st.integers(1, 99), st.integers(1, 99), st.sampled_from(["V", "mV", "m^3/(s*Pa^0.5)", "s"]))
def test_a_unit_behind_a_fraction_belongs_to_the_fraction(above: int, below: int, unit: str) -> None:
    def place() -> Place:
        return Place("<text>", 1, 1, "")

    one, fraction = read_quantity(f"1 {unit}", place), read_quantity(f"{above}/{below} {unit}", place)
    assert fraction.expression.evaluate({}) == pytest.approx(above / below * one.expression.evaluate({}), rel=1e-15)
    assert fraction.marked is not None
    assert measure_of(fraction.marked, {}) == one.dimension
    divided = read_quantity(f"{above}/({below} {unit})", place)
    assert divided.marked is not None
    assert measure_of(divided.marked, {}) == one.dimension.power(-1)


def test_a_displacement_that_is_also_a_unit_is_pointed_out() -> None:
    text = (
        "system: T\ndisplacements: {h: v}\n"
        "network: {m: {mass: [x], m: 2 kg, velocity: v}, w: {weight: [x], energy: 2 kg*9.81 m/s^2*h}}"
    )
    with pytest.raises(DescriptionError) as caught:
        read_model(text)
    fix = "'h' behind a number is read as a unit: put spaces around the operator before it to mean the variable"
    assert caught.value.finding.fix == fix
    assert read_model(text.replace("^2*h", "^2 * h")).elements


def test_a_symbol_without_letters_is_looked_up_as_any_other() -> None:
    """Reading takes no such name, but a formula that is put together may meet one before it is refused."""
    assert measure_of(symbol(""), lambda name: NoDimension.UNKNOWN) is NoDimension.UNKNOWN
