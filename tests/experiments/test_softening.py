"""Laws that are infinitely steep at zero: orifices of one way and of both, driven slowly, fast and not at all."""

import math

import pytest

import tellegen as tg
from tellegen.experiments.setup import is_steep, softened
from tellegen.expressions import number, parse
from tellegen.graph.power_graph import argument
from tellegen.notations.reading import read_model

BOTH_WAYS = "Q = Q_n*sign(P)*sqrt(abs(P)/P_n)"
BY_CASES = "Q = if(P > 0, Q_n*sqrt(P/P_n), 0)"
BY_MAXIMUM = "Q = Q_n*sqrt(max(P, 0 Pa)/P_n)"


def orifice(law: str, course: str, until: float, start: float = 0.0) -> tg.Run:
    return tg.simulate(
        read_model(
            "system: Orifice\nparameters: {C: 1e-10 m^3/Pa, Q_n: 1e-5 m^3/s, P_n: 1e5 Pa}\nnetwork:\n"
            f"  p: {{pressure source: [s, tank]}}\n  o: {{leak: [s, b], law: '{law}'}}\n"
            "  C: {accumulator: [b, tank], pressure: P_C}\n"
            f"experiment: {{until: {until} s, initial: {{P_C: {start} Pa}}, inputs: {{p: '{course}'}}}}\n"
        ),
        progress=False,
    )


@pytest.mark.parametrize("law", [BOTH_WAYS, BY_CASES, BY_MAXIMUM])
def test_a_slow_pressure_is_followed(law: str) -> None:
    """The difference of pressure stays far below the tolerance, where the slope of the law grows without bound."""
    run = orifice(law, "1e5 Pa + 0.1 Pa/s*t", 5.0, 1e5)
    assert run.trajectory.effort.steps < 10_000
    assert run.final()["P_C"] == pytest.approx(1e5 + 0.5, abs=2.0 * 1e-6 * 1e5)


@pytest.mark.parametrize("law", [BY_CASES, BY_MAXIMUM])
def test_one_way_fills_up_to_the_peak_of_a_swinging_pressure(law: str) -> None:
    """It opens only near the peaks, the more briefly the fuller the accumulator is."""
    run = orifice(law, "sine(1e5 Pa, 2 Hz)", 20.0)
    assert run.final()["P_C"] == pytest.approx(
        99920.84, abs=20.0 * 1e-6 * 1e5
    )  # Runge-Kutta at 1e-12 from peak to peak


def test_filling_through_an_orifice_ends_in_finite_time() -> None:
    """sqrt(P) falls linearly: C P' = -Q_n sqrt(P/P_n) gives sqrt(P/P_0) = 1 - t/T, T = 2 C sqrt(P_0 P_n)/Q_n = 2 s."""
    run = orifice(BOTH_WAYS, "1e5 Pa", 4.0)
    assert run.values("P_C")[run.t.searchsorted(1.0)] == pytest.approx(75e3, abs=0.1)
    assert run.values("P_C")[-1] == pytest.approx(1e5, abs=0.1)


def test_a_shut_valve_before_an_orifice_leaves_no_pressure_across_it() -> None:
    model = read_model(
        "system: Valve\nparameters: {C: 1e-10 m^3/Pa, Q_n: 1e-5 m^3/s, P_n: 1e5 Pa}\nnetwork:\n"
        "  p: {pressure source: [s, tank]}\n  v: {check valve: [s, a]}\n"
        f"  o: {{leak: [a, b], law: '{BOTH_WAYS}'}}\n  C: {{accumulator: [b, tank], pressure: P_C}}\n"
        "experiment: {until: 7 s, inputs: {p: 'sine(1e5 Pa, 0.1 Hz)'}}\n"
    )
    run = tg.simulate(model, progress=False)
    assert run.final()["P_C"] == pytest.approx(1e5, rel=0.02)
    assert abs(run.values("P_o")[-1]) < 1.0


@pytest.mark.parametrize(
    ("law", "steep"),
    [
        ("sign(x)*sqrt(abs(x))", True),
        ("sqrt(max(x, 0))", True),
        ("abs(x)^0.3*sign(x)", True),
        ("x*abs(x)", False),
        ("x/(x^2 + 1)^(1/4)", False),
        ("sign(x)", False),  # jumps: that is no slope
        ("sqrt(1 + x^2)", False),
        ("a*x", False),
    ],
)
def test_what_is_steep(law: str, steep: bool) -> None:
    assert is_steep(parse(law).substitute({"x": argument()}), {"a": 2.0}, 1.0) is steep


def test_a_softened_law_needs_no_more_than_its_width_to_give_the_same() -> None:
    law, width = parse("sign(x)*sqrt(abs(x))").substitute({"x": argument()}), 0.01
    soft = softened(law, number(width))
    for x in (1e-9, 1e-3, 0.01, 0.3, 20.0):
        value = soft.evaluate({"@": x})
        assert x - width <= value * abs(value) <= x
        assert soft.evaluate({"@": -x}) == pytest.approx(-value)
    assert math.isfinite(soft.derivative("@").evaluate({"@": 0.0}))
