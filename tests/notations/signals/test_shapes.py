"""Shapes over time: their values, arguments by name, and what is wrong with them."""

import math

import pytest

from tellegen.core.errors import TellegenError
from tellegen.expressions import Expression
from tellegen.notations.reading import read_model
from tellegen.notations.signals.formulas import SHAPES


def course(text: str) -> Expression:
    """What an input does that is given by a text."""
    model = read_model(f"""\
system: Test
network: {{V: {{voltage source: [a]}}, R: {{resistor: [a], R: 1 ohm}}}}
experiment: {{inputs: {{V: "{text}"}}}}
""")
    found = model.experiment.inputs["V"].expression
    assert found is not None
    return found


def at(text: str, *times: float) -> list[float]:
    return [course(text).evaluate({"t": t}) for t in times]


def wrong(text: str) -> str:
    with pytest.raises(TellegenError) as caught:
        course(text)
    return str(caught.value.findings[0])


def test_a_step_waits_for_its_start() -> None:
    assert at("step(24 V, 1 s)", 0, 0.999, 1, 5) == [0, 0, 24, 24]


def test_a_ramp_stays_where_it_is_at_its_end() -> None:
    assert at("ramp(2 V/s, 1 s, 3 s)", 0, 2, 3, 9) == [0, 2, 4, 4]
    assert at("ramp(2 V/s, end=3 s)", 1, 9) == [2, 6]


def test_a_pulse_comes_again_after_each_period() -> None:
    assert at("pulse(5 V, 1 s, 2 s, 10 s)", 0, 1, 2.9, 3, 10.9, 11, 12.9, 13) == [0, 5, 5, 0, 0, 5, 5, 0]
    assert at("pulse(5 V, 1 s, 2 s)", 0, 1, 11) == [0, 5, 0]


def test_a_trapezoid_falls_as_it_rises_unless_told_otherwise() -> None:
    assert at("trapezoid(4 V, 1 s, 2 s, 3 s)", 0, 2, 3, 6, 7, 8, 20) == [0, 2, 4, 4, 2, 0, 0]
    assert at("trapezoid(4 V, 1 s, 2 s, 3 s, 4 s)", 8, 10) == [2, 0]
    assert at("trapezoid(4 V, 1 s, 2 s, 3 s, period=20 s)", 0, 22, 26) == [0, 2, 4]


def test_a_quintic_rests_at_both_ends() -> None:
    moved = course("quintic(2 V, 12 V, from=1 s, to=3 s)")
    assert [moved.evaluate({"t": t}) for t in (0, 1, 2, 3, 9)] == [2, 2, 7, 12, 12]
    u = 0.25
    assert moved.evaluate({"t": 1.5}) == pytest.approx(2 + 10 * (10 * u**3 - 15 * u**4 + 6 * u**5))
    for t in (1.0, 3.0):
        assert moved.derivative("t").evaluate({"t": t}) == pytest.approx(0)
        assert moved.derivative("t").derivative("t").evaluate({"t": t}) == pytest.approx(0)


def test_the_phase_of_a_chirp_is_the_integral_of_its_frequency() -> None:
    def cycles(t: float) -> float:
        return 1 * t + 0.5 * (5 - 1) / 4 * t**2 if t < 4 else 12 + 5 * (t - 4)

    for t in (0.3, 2.7, 4, 6.1):
        assert at("chirp(2 V, 1 Hz, 5 Hz, 4 s)", t)[0] == pytest.approx(2 * math.sin(2 * math.pi * cycles(t)))


def test_a_table_in_a_formula_is_straight_between_its_points() -> None:
    assert at("table(0 s, 1 V, 2 s, 3 V, 2 s, 7 V, 4 s, 7 V)", -1, 0, 1, 2, 3, 9) == [1, 1, 2, 7, 7, 7]


def test_the_word_of_another_program_leads_to_the_shape() -> None:
    with pytest.raises(TellegenError, match="did you mean 'pulse'"):
        read_model("system: T\nsignals: {u: 'square(1, 20 Hz)'}\nnetwork: {R: {resistor: [a]}}")


def test_shapes_add_and_multiply() -> None:
    assert at("5 V + 2*step(1 V, 1 s) - ramp(1 V/s)", 0, 2) == [5, 5]


def test_arguments_given_by_name_are_those_given_by_place() -> None:
    assert course("sine(10 V, 50 Hz, offset=2 V)") is course("sine(10 V, 50 Hz, 0, 2 V)")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("step(24 V, strat=1 s)", "has no argument 'strat'; did you mean 'start'?"),
        ("5 V + step(24 V, strat=1 s)", "'step' has no argument 'strat'"),
        ("ramp(start=1 s, end=2 s)", "it lacks its 'slope'"),
        ("5 V + ramp(start=1 s)", "'ramp' lacks its 'slope'"),
        ("step(24 V, 1 s, start=2 s)", "has its 'start' twice"),
        ("5 V + step(24 V, 1 s, start=2 s)", "has its 'start' twice"),
        ("5 V + step(start=1 s, 24 V)", "without a name follows one with a name"),
        ("quintic(0 V, 5 V, 1 s)", "has 3 arguments, not 4"),
        ("quintic(0 V, 5 A, 1 s, 2 s)", "the last of the input V is in A, not in V"),
        ("5 V + step(3 A)", "adds"),
        ("step(3 A) + step(2 A)", "the input V is in A, not in V"),
        ("chirp(1 V, 1 Hz, 5 rad/s, 1 s)", "the 'to' of V is given as an angular velocity: '5 rad/s'"),
        ("1 V + sine(1 V, 5 rpm)", "the frequency of the input V is given as an angular velocity"),
        ("table(0 s, 1 V, 2 s, 3 V, 1 s, 0 V)", "the times of a table go back, from 2 s to 1 s"),
        ("table(0 s, 1 V, 2 s, 3 V, 4 s)", "a table has 5 entries"),
    ],
)
def test_a_slip_is_named(text: str, words: str) -> None:
    assert words in wrong(text)


def test_every_shape_says_how_it_is_used() -> None:
    assert SHAPES["pulse"].usage("pulse") == "pulse(height, start, width, [period])"
    assert SHAPES["table"].usage("table") == "table(time, value, ...)"
