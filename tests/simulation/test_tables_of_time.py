"""Tables over time, whose narrow pulses lie between the steps of any solver: each of their points is met."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tellegen as tg
from tellegen.expressions import symbol
from tellegen.graph.signals import MOST_TABLE_STOPS, Table, stops_of_table
from tellegen.model.model import Model
from tellegen.notations.reading import read_model
from tellegen.simulation.problem import FIXED_STEP, SOLVERS

MASS = """
system: Pushed mass
parameters: {{t_0: 0 s, m: 2 kg}}
signals:
  push: {{table: {points}, at: "{at}", interpolation: {how}}}
network:
  F: {{force source: [m], signal: push}}
  m: {{mass: [m]}}
experiment: {{until: 1 s}}
"""
AT = "(t - t_0)/(1 s)"
PULSE: list[list[float]] = [[0, 0], [0.5, 0], [0.50001, 100000], [0.50002, 0], [1, 0]]
ADAPTIVE = sorted(set(SOLVERS) - {*FIXED_STEP, "heyoka"})


def pushed(points: Sequence[Sequence[float]] | np.ndarray, how: str = "linear") -> Model:
    return read_model(MASS.format(points=[[float(x) for x in point] for point in points], at=AT, how=how))


def area(points: np.ndarray, how: str) -> float:
    """What a table over its own points brings; a cubic that is level at each point brings as much as lines."""
    x, y = points.T
    return float(np.sum(np.diff(x) * y[:-1])) if how == "previous" else float(np.trapezoid(y, x))


@st.composite
def pulses(draw: st.DrawFn) -> np.ndarray:
    """Triangles far apart on a level, each with an area of its own whatever its width."""
    level = draw(st.sampled_from([0.0, -3.0]))
    points = [(0.0, level)]
    for at in draw(st.lists(st.sampled_from([0.2, 0.45, 0.7]), min_size=1, unique=True).map(sorted)):
        width, share = 10.0 ** draw(st.integers(-6, -2)), draw(st.sampled_from([1.0, -0.5, 4.0]))
        points += [(at, level), (at + width, level + share / width), (at + 2 * width, level)]
    return np.array([*points, (1.0, level)])


@settings(max_examples=12)
@given(pulses(), st.sampled_from(ADAPTIVE), st.sampled_from(["linear", "cubic", "previous"]))
def test_narrow_pulses_are_met(points: np.ndarray, solver: str, how: str) -> None:
    found = tg.simulate(pushed(points, how=how), solver=solver, samples=5).values("v_m")[-1]
    assert found == pytest.approx(area(points, how) / 2.0, rel=2e-5, abs=2e-5)


@pytest.mark.parametrize("solver", FIXED_STEP)
def test_steps_of_one_length_meet_them_too(solver: str) -> None:
    assert tg.simulate(pushed(PULSE), solver=solver, step="30 ms").values("v_m")[-1] == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("at", "until", "area"),
    [
        ("(t - t_0 - 0.1 s)/(2 s)", 1.5, 2.0),
        ("t/(1 s) - floor(t/(1 s))", 3.2, 3.0),
        ("4*(t/(1 s) - 1/2 - floor(t/(1 s) - 1/2))", 2.2, 0.5),
        ("t/(1 s) - 5 - floor(t/(1 s) - 5)", 3.2, 3.0),
        ("-t/(1 s) - floor(-t/(1 s))", 3.2, 3.0),
        ("(t/(1 s))^2", 1.0, 0.5 / np.sqrt(0.50001)),
        ("if(t < 0.4 s, 0, t/(1 s))", 1.0, 1.0),
        ("2 - t/(1 s)", 2.0, 1.0),
        ("clock", 1.0, 1.0),
    ],
)
def test_wherever_time_leads_the_argument(at: str, until: float, area: float) -> None:
    model = read_model(
        MASS.format(points=PULSE, at=at, how="linear").replace("signals:\n", "signals:\n  clock: t/(1 s)\n")
    )
    assert tg.simulate(model, until, solver="runge-kutta").values("v_m")[-1] == pytest.approx(area / 2.0, rel=1e-4)


def test_a_sweep_meets_them() -> None:
    runs = tg.sweep(pushed(PULSE), {"t_0": np.array([0.0, 0.1, 0.2])}, 1.0)
    assert runs["v_m"].values == pytest.approx(0.5)


@pytest.mark.parametrize("how", ["linear", "cubic", "previous"])
def test_a_sensitivity_to_when_a_table_begins(how: str) -> None:
    model = read_model(
        MASS.format(points=[[0, 0], [0.5, 0], [0.51, 100], [0.52, 0], [1, 0]], at=AT, how=how).replace(
            "  m: {mass", "  K: {spring: [m], K: 3 N/m}\n  m: {mass"
        )
    )
    low, high = (tg.simulate(model, parameters={"t_0": t}, rtol=1e-10).values("v_m")[-1] for t in (-1e-4, 1e-4))
    slope = tg.sensitivities(model, ["t_0"], rtol=1e-9)["v_m"].sel(parameter="t_0").values[-1]
    assert slope == pytest.approx((high - low) / 2e-4, rel=1e-6)


def stops(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.array(stops_of_table(Table("g", symbol("t"), tuple(x.tolist()), tuple(y.tolist()))))


def test_points_on_a_line_are_no_stops() -> None:
    x = np.array([0.0, 1.0, 2.0, 3.0, 4.0, 5.0])
    assert stops(x, np.array([1.0, 1.0, 1.0, 2.0, 3.0, 3.0])).tolist() == [2.0, 4.0]


@given(st.integers(3, 9990), st.integers(1, 4), st.floats(-4.0, 4.0))
def test_a_dense_measurement_asks_for_fewer_stops_and_hides_no_pulse(at: int, wide: int, size: float) -> None:
    """A slow course of ten thousand points, and somewhere a pulse of a few of them."""
    x = np.linspace(0.0, 1.0, 10_000)
    smooth = np.sin(3.0 * x)
    assert MOST_TABLE_STOPS < 10 * len(stops(x, smooth)) < len(x)
    pulse = smooth.copy()
    pulse[at : at + wide] += 10.0**size
    found = stops(x, pulse)
    assert {x[at - 1], x[at], x[at + wide - 1], x[at + wide]} <= {*found.tolist()}
    assert (found[0], found[-1]) == (0.0, 1.0)


@given(st.integers(3, 9900), st.integers(1, 40), st.floats(-4.0, 4.0), st.floats(0.0, 30.0))
def test_a_dense_smooth_course_stops_few_steps_and_hides_no_pulse(at: int, wide: int, size: float, turn: float) -> None:
    """Steps end where a pulse of any width begins and ends, or within two points of it; a slow course alone stops hardly any."""
    x = np.linspace(0.0, 1.0, 10_000)
    slow = np.sin(turn * x)
    where = np.arange(10_000)
    pulse = slow + 10.0**size * np.where(abs(where - at) < wide, np.cos(np.pi * (where - at) / (2 * wide)) ** 2, 0.0)
    alone, found = (
        stops_of_table(Table("g", symbol("t"), tuple(x.tolist()), tuple(y.tolist()), interpolation="cubic"))
        for y in (slow, pulse)
    )
    assert len(alone) < 60
    met = np.searchsorted(x, found)
    assert np.sum((met >= at - wide - 2) & (met <= at + wide + 2)) >= (2 if at + wide < 9_990 else 1)
