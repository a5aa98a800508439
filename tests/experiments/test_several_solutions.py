"""A run that begins at one of several solutions says so, and one that has no choice says nothing."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.polynomial import Polynomial

import tellegen as tg
from tellegen.core.errors import Finding, SimulationError
from tellegen.experiments.several_solutions import zeros_between_signs
from tellegen.notations.reading import read_model

CUBIC = """system: Cubic
parameters: {R: 10 ohm, a: 0.5 S/V^2, b: 0.5 S, d: 0 S/V, E: 1 V}
network:
  V: {voltage source: [s, gnd], signal: E}
  R: {resistor: [s, n], R: R}
  N: {resistor: [n, gnd], law: "i = a*v^3 + d*v^2 - b*v"}
"""
DUAL = """system: Dual
parameters: {G: 0.1 S, a: 0.5 ohm/A^2, b: 0.5 ohm, d: 0 ohm/A, E: 1 A}
network:
  J: {current source: [gnd, n], signal: E}
  G: {conductance: [n, gnd], G: G}
  N: {resistor: [n, gnd], law: "v = a*i^3 + d*i^2 - b*i"}
"""
TUNNEL = """system: Tunnel
parameters: {R: 100 ohm, I_p: 1 mA, V_p: 65 mV, I_s: 1e-12 A, V_T: 26 mV, E: 0.5 V}
network:
  V: {voltage source: [s, gnd], signal: E}
  R: {resistor: [s, n], R: R}
  N: {resistor: [n, gnd], law: "i = I_p*v/V_p*exp(1 - v/V_p) + I_s*(exp(v/V_T) - 1)"}
"""
TWO = """system: Two
parameters: {R: 10 ohm, E: 0.5 V, b: 0.5 S, c: 0.5 S, k: 2}
network:
  V: {voltage source: [s, gnd], signal: E}
  R: {resistor: [s, n], R: R}
  N: {resistor: [n, gnd], law: "i = 0.5 S/V^2*v^3 - b*v"}
  W: {voltage source: [q, gnd], signal: k*E}
  S: {resistor: [q, m], R: R}
  M: {resistor: [m, gnd], law: "i = 0.5 S/V^2*v^3 - c*v"}
"""

SERIES = """system: Series
parameters: {R: 10 ohm, E: 0.5 V, b: 0.5 S, c: 0.5 S}
network:
  V: {voltage source: [s, gnd], signal: E}
  R: {resistor: [s, n], R: R}
  N: {resistor: [n, m], law: "i = 0.5 S/V^2*v^3 - b*v"}
  M: {resistor: [m, gnd], law: "i = 0.5 S/V^2*v^3 - c*v"}
  O: {resistor: [m, gnd], R: 1 ohm}
"""


def warnings_of(text: str, **parameters: float) -> list[Finding]:
    run = tg.simulate(read_model(text), until=1e-3, samples=1, parameters=parameters, rtol=1e-6)
    return [finding for finding in run.notices if finding.code == "S309"]


def decades(low: float, high: float) -> st.SearchStrategy[float]:
    return st.floats(low, high).map(lambda x: float(f"{10.0**x:.3g}"))


voltages = st.integers(-20_000, 20_000).map(lambda k: k / 1000)


def real_roots(constant: float, linear: float, square: float, cube: float) -> int:
    """How many; none of them nearly double."""
    roots = Polynomial([constant, linear, square, cube]).roots()
    size = float(np.max(np.abs(roots)))
    apart = min(abs(roots[i] - roots[j]) for i in range(3) for j in range(i))
    assume(apart > 1e-4 * size)
    return int(np.sum(np.abs(roots.imag) < 1e-6 * size))


@settings(max_examples=15)
@given(decades(-2, 4), decades(-3, 1), decades(-4, 1), st.floats(-1.0, 1.0), voltages)
def test_cubic_laws_warn_where_the_polynomial_has_three_roots(r: float, a: float, b: float, d: float, e: float) -> None:
    count = real_roots(-e / r, 1.0 / r - b, d, a)
    found = warnings_of(CUBIC, R=r, a=a, b=b, d=d, E=e)
    assert len(found) == (count > 1)
    assert all(f"{count} solutions" in finding.what for finding in found)


@settings(max_examples=10)
@given(decades(-4, 2), decades(-3, 1), decades(-4, 1), st.floats(-1.0, 1.0), voltages)
def test_so_do_their_duals(g: float, a: float, b: float, d: float, e: float) -> None:
    count = real_roots(-e / g, 1.0 / g - b, d, a)
    found = warnings_of(DUAL, G=g, a=a, b=b, d=d, E=e)
    assert len(found) == (count > 1)


@settings(max_examples=15)
@given(decades(0, 4), decades(-4, -1), decades(-2, -0.5), decades(-16, -9), st.floats(0.01, 3.0))
def test_tunnel_diodes_warn_where_brackets_find_several(r: float, top: float, at: float, leak: float, e: float) -> None:
    # What takes power lies between nothing and the source.
    v = np.linspace(0.0, e, 200_001)
    given_less = (e - v) / r - top * v / at * np.exp(1.0 - v / at) - leak * np.expm1(v / 0.026)
    turns = np.flatnonzero(np.diff(np.sign(np.diff(given_less))) != 0) + 1
    assume(all(abs(given_less[turns]) > 1e-4 * e / r))
    count = int(np.sum(np.sign(given_less[1:]) != np.sign(given_less[:-1])))
    found = warnings_of(TUNNEL, R=r, I_p=top, V_p=at, I_s=leak, E=e)
    assert len(found) == (count > 1)
    assert all(f"{count} solutions" in finding.what for finding in found)


@settings(max_examples=10)
@given(*(st.integers(low, 1000).map(lambda k: k / 1000) for low in (-1000, -1000, -500, -1000)))
def test_of_two_loops_either_is_found(e: float, k: float, b: float, c: float) -> None:
    first, second = (real_roots(-x / 10.0, 0.1 - y, 0.0, 0.5) for x, y in ((e, b), (k * e, c)))
    found = warnings_of(TWO, E=e, b=b, c=c, k=k)
    assert bool(found) == (first * second > 1)
    told = [int(finding.what.split(" solutions")[0].split()[-1]) for finding in found]
    assert all(2 <= count <= first * second for count in told)
    named = {name for finding in found for name in finding.members}
    assert named == {name for name, count in (("N", first), ("M", second)) if count > 1}


def test_the_warning_names_the_element_what_was_taken_and_what_else_there_is() -> None:
    run = tg.simulate(read_model(CUBIC), until=1e-3, parameters={"E": 0.5})
    (finding,) = [finding for finding in run.notices if finding.code == "S309"]
    assert finding.severity == "warning"
    assert finding.members == ("N",)
    taken = f"V_N = {run.values('V_N')[0]:.6g} is taken"
    assert finding.what.startswith(f"at t = 0 s the law of 'N' allows 3 solutions: {taken}, also possible: V_N = ")
    assert "small storage" in finding.fix


def test_a_storage_beside_the_law_decides() -> None:
    text = CUBIC + "  C: {capacitor: [n, gnd], C: 1 uF}\n"
    assert warnings_of(text, E=0.5) == []


def test_a_loop_beside_states_signals_and_modes_is_found() -> None:
    text = CUBIC + "  L: {inductor: [s, p], L: 1 mH}\n  D: {diode: [p, q]}\n  C: {capacitor: [q, gnd], C: 1 uF}\n"
    (finding,) = warnings_of(text, E=0.5)
    assert finding.members == ("N",)
    assert warnings_of(text, E=50.0) == []


MONOTONE = """system: Monotone
parameters: {R: 10 ohm, g: 1 S, s: 1, a: 1 ohm/A^2, I_s: 1e-9 A, E: 1 V}
network:
  V: {voltage source: [s, gnd], signal: E}
  R: {resistor: [s, n], R: R}
  T: {resistor: [n, m], law: "i = g*(1 V)*tanh(s*v/(1 V)) + 1e-6 S*v"}
  D: {resistor: [m, gnd], law: "i = I_s*(exp(v/(26 mV)) - 1) + 1e-9 S*v"}
  A: {resistor: [m, k], law: "v = a*i^3"}
  B: {resistor: [k, gnd], law: "i = max(min(g*v, 0.01 A), -0.01 A) + 1e-6 S*v"}
"""


@settings(max_examples=10)
@given(decades(-1, 4), decades(-4, 1), decades(-1, 4), decades(-2, 4), decades(-15, -6), voltages)
def test_laws_that_rise_never_warn(r: float, g: float, s: float, a: float, leak: float, e: float) -> None:
    assert warnings_of(MONOTONE, R=r, g=g, s=s, a=a, I_s=leak, E=e) == []


@pytest.mark.parametrize(
    ("formula", "zeros"),
    [
        (lambda x: 1.0 / (x - 3.3) if x != 3.3 else math.inf, []),
        (lambda x: -1.0 if x < 2.7 else 1.0, []),
        (lambda x: (x - 2.0) * (x - 2.0001), [2.0, 2.0001]),
        (lambda x: (x - 2.0) ** 2 + 1e-9, []),
        (lambda x: x * (x * x - 4.0), [-2.0, 0.0, 2.0]),
        (lambda x: float("nan") if x < 0 else x - 0.5, [0.5]),
    ],
)
def test_zeros_lie_between_signs_and_neither_at_poles_nor_at_jumps(formula, zeros) -> None:  # type: ignore[no-untyped-def]
    assert zeros_between_signs(formula, np.linspace(-10.0, 10.0, 201)) == pytest.approx(zeros)


@settings(max_examples=15)
@given(st.integers(-2000, 2000).map(lambda k: k / 1000), decades(-1, 1), decades(-1.5, 0.5), decades(-1.5, 0.5))
def test_several_unknowns_warn_where_nested_brackets_find_several(e: float, r: float, b: float, c: float) -> None:
    """Two cubic laws in series, with a resistor beside the second: of the voltage of that, everything else is a function."""
    v = np.linspace(-8.0, 8.0, 400_001)
    current = 0.5 * v**3 - c * v + v
    # The first law is told what is left of the source behind the resistor.
    left = e - v - r * current
    closed = current - (0.5 * left**3 - b * left)
    turns = np.flatnonzero(np.diff(np.sign(np.diff(closed))) != 0) + 1
    assume(np.min(np.abs(closed[turns]), initial=np.inf) > 1e-2)
    closed = closed[closed != 0.0]
    count = int(np.sum(np.sign(closed[1:]) != np.sign(closed[:-1])))
    try:
        found = warnings_of(SERIES, E=e, R=r, b=b, c=c)
    except SimulationError as refused:
        # No path leads around a turn of both laws: such a run does not begin, and says so.
        if refused.code != "S132":
            raise
        assume(False)
    assert bool(found) == (count > 1), count


@settings(max_examples=10)
@given(decades(-2, 3), decades(-3, 1), decades(-3, 1))
def test_check_tells_loops_that_turn_and_turn_back(r: float, a: float, b: float) -> None:
    """v + R i with i = a v^3 - b v falls about zero where R b is above one, and only there."""
    assume(abs(r * b - 1.0) > 0.3)
    text = CUBIC.replace("R: 10 ohm", f"R: {r} ohm").replace("a: 0.5", f"a: {a}").replace("b: 0.5", f"b: {b}")
    told = [finding for finding in tg.check(read_model(text)).findings if finding.code == "E143"]
    assert len(told) == (r * b > 1.0)
