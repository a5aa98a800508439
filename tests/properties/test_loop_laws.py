"""Random networks of monotone laws without a storage: their loops are solved as brackets solve them, and no resistor gives power.

The reference knows series and parallel parts alone: the current through a part grows with the voltage across it, so that each of
them is found between two signs (Brent 1973), inside of one another.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import tellegen as tg
from tellegen.causality import assign_causality
from tellegen.compiler import NumericModel, compile_model
from tellegen.core.errors import SimulationError
from tellegen.graph import lower
from tellegen.notations.reading import read_model

Law = Callable[[float], float]


def between_signs(f: Law) -> float:
    """The zero of a function that rises."""
    low, high = -1.0, 1.0
    while f(low) > 0.0:
        low *= 1e3
    while f(high) < 0.0:
        high *= 1e3
    return float(brentq(f, low, high, xtol=1e-300, rtol=1e-15, maxiter=500))


@dataclass(frozen=True)
class Resistor:
    """A law that gives the current (`i`) or the voltage (`v`) from the other one."""

    name: str
    side: str
    text: str
    law: Law

    def current(self, v: float) -> float:
        return self.law(v) if self.side == "i" else between_signs(lambda i: self.law(i) - v)

    def voltage(self, i: float) -> float:
        return self.law(i) if self.side == "v" else between_signs(lambda v: self.law(v) - i)

    def lines(self, a: str, b: str, fresh: Iterator[int]) -> Iterator[str]:
        n = self.name
        yield f'  {n}: {{resistor: [{a}, {b}], law: "{self.side} = {self.text}", voltage: v_{n}, current: i_{n}}}'

    def solved(self, v: float, i: float) -> dict[str, tuple[float, float]]:
        return {self.name: (v, i)}


@dataclass(frozen=True)
class Parts:
    """Parts in series or in parallel."""

    in_series: bool
    parts: tuple["Resistor | Parts", ...]

    def current(self, v: float) -> float:
        if self.in_series:
            return between_signs(lambda i: self.voltage(i) - v)
        return sum(part.current(v) for part in self.parts)

    def voltage(self, i: float) -> float:
        if self.in_series:
            return sum(part.voltage(i) for part in self.parts)
        return between_signs(lambda v: self.current(v) - i)

    def lines(self, a: str, b: str, fresh: Iterator[int]) -> Iterator[str]:
        inner = [f"n_{next(fresh)}" for _ in self.parts[1:]]
        ends = zip((a, *inner), (*inner, b), strict=True) if self.in_series else [(a, b)] * len(self.parts)
        for part, (start, end) in zip(self.parts, ends, strict=True):
            yield from part.lines(start, end, fresh)

    def solved(self, v: float, i: float) -> dict[str, tuple[float, float]]:
        found: dict[str, tuple[float, float]] = {}
        for part in self.parts:
            found |= part.solved(part.voltage(i) if self.in_series else v, i if self.in_series else part.current(v))
        return found


def decades(low: float, high: float) -> st.SearchStrategy[float]:
    return st.floats(low, high).map(lambda x: float(f"{10.0**x:.3g}"))


def _exponential(v: float, of: float, scale: float, sign: float) -> float:
    # What overflows lies beyond any zero.
    return sign * of * (math.exp(min(sign * v / scale, 700.0)) - 1.0) + 1e-12 * v


NAMES = count()


@st.composite
def resistors(draw: st.DrawFn) -> Resistor:
    """Each law is monotone and takes any current, if only through a small conductance beside it."""
    name, kind = f"e{next(NAMES)}", draw(st.integers(0, 6))
    size, steep, leak = draw(decades(-3, 1)), draw(decades(0, 4)), draw(decades(-9, -3))
    ohm, bend = draw(decades(0, 5)), draw(decades(0, 6))
    if kind == 0:
        return Resistor(name, "v", f"{ohm} ohm*i", lambda i: ohm * i)
    if kind == 1:
        text = f"{size} A*tanh({steep}*v/(1 V)) + {leak} S*v"
        return Resistor(name, "i", text, lambda v: size * math.tanh(steep * v) + leak * v)
    if kind == 2:
        of, scale, sign = draw(decades(-20, -6)), draw(decades(-2, -1)), draw(st.sampled_from([1.0, -1.0]))
        text = f"{sign * of} A*(exp({sign}*v/({scale} V)) - 1) + 1e-12 S*v"
        return Resistor(name, "i", text, lambda v: _exponential(v, of, scale, sign))
    if kind == 3:
        return Resistor(name, "v", f"{ohm} ohm*i + {bend} ohm/A^2*i^3", lambda i: ohm * i + bend * i**3)
    if kind == 4:
        text = f"max(min({steep} S*v, {size} A), -{size} A) + {leak} S*v"
        return Resistor(name, "i", text, lambda v: max(min(steep * v, size), -size) + leak * v)
    if kind == 5:
        return Resistor(name, "v", f"{bend} ohm/A*i*abs(i) + 1e-3 ohm*i", lambda i: bend * i * abs(i) + 1e-3 * i)
    text = f"{size} A*atan({steep}*v/(1 V)) + {leak} S*v"
    return Resistor(name, "i", text, lambda v: size * math.atan(steep * v) + leak * v)


@st.composite
def networks(draw: st.DrawFn) -> tuple[Resistor | Parts, float]:
    """Parts, and the resistor before them: no source of voltage bears a diode."""
    return _tree(draw, 2, in_series=True), draw(decades(0, 4))


def _tree(draw: st.DrawFn, depth: int, *, in_series: bool) -> Resistor | Parts:
    if depth == 0:
        return draw(resistors())
    parts = [_tree(draw, depth - 1, in_series=not in_series) for _ in range(draw(st.integers(1, 2)))]
    return parts[0] if len(parts) == 1 else Parts(not in_series, tuple(parts))


def compiled(part: Resistor | Parts, ohm: float) -> NumericModel:
    text = f"system: Loop\nnetwork:\n  V: {{voltage source: [a, gnd]}}\n  R: {{resistor: [a, b], R: {ohm} ohm}}\n"
    text += "\n".join(part.lines("b", "gnd", count()))
    # Both backends take the same steps; Python needs no compiler for each network.
    return compile_model(assign_causality(lower(read_model(text))), backend="python")


@settings(max_examples=40)
@given(networks(), decades(-1, 2), st.sampled_from([1.0, -1.0]))
def test_loops_are_solved_as_brackets_solve_them(
    network: tuple[Resistor | Parts, float], size: float, sign: float
) -> None:
    (part, ohm), v = network, sign * size
    model = compiled(part, ohm)
    values = model.observe(0.0, np.zeros(0), np.zeros(0), model.new_context(inputs={"V": v}))
    found = dict(zip([o.name for o in model.observables], values, strict=True))
    across = between_signs(lambda u: part.current(u) - (v - u) / ohm)
    for name, (voltage, current) in part.solved(across, part.current(across)).items():
        # A steep law does not know its voltage, a flat one its current, beyond the rounding of the whole voltage.
        near = abs(found[f"v_{name}"] - voltage) <= 1e-9 * abs(voltage) + 1e-14 * size
        assert near or found[f"i_{name}"] == pytest.approx(current, rel=1e-9)
        assert found[f"v_{name}"] * found[f"i_{name}"] >= -1e-12 * abs(v * found["I_V"])


def run_of(law: str, volt: float) -> tg.Run:
    text = (
        "system: One law\nnetwork:\n  V: {voltage source: [a, gnd]}\n  R: {resistor: [a, b], R: 1 kohm}\n"
        f'  N: {{resistor: [b, gnd], law: "{law}", voltage: v, current: i}}\n'
        f"experiment: {{until: 1 ms, inputs: {{V: {volt} V}}}}\n"
    )
    return tg.simulate(read_model(text), samples=2, progress=False)


def test_a_saturated_law_is_not_taken_at_the_wrong_end() -> None:
    run = run_of("i = 6 mA*tanh(1e4*v/(1 V))", 5.0)
    v = between_signs(lambda v: 6.0 * math.tanh(1e4 * v) - (5.0 - v))
    assert run.values("v")[-1] == pytest.approx(v, rel=1e-9)
    assert run.energy.generated == 0.0


@pytest.mark.parametrize("volt", [2.0, 12.0, 1e3, -1e3])
def test_a_diode_behind_a_resistor_starts_at_any_voltage(volt: float) -> None:
    run = run_of("i = 1e-12 A*(exp(v/(25.85 mV)) - 1)", volt)
    v = between_signs(lambda v: 1e-9 * (math.exp(min(v / 0.02585, 700.0)) - 1.0) - (volt - v))
    assert run.values("v")[-1] == pytest.approx(v, rel=1e-9)


JUMP = "i = 6 mA*sign(v)"


@pytest.mark.parametrize("rtol", [1e-6, 1e-10])
def test_a_diode_between_a_coil_and_a_capacitor_rectifies(rtol: float) -> None:
    """The coil decides the current, and the exponential law is asked for its voltage; peaks are held by the capacitor."""
    text = (
        "system: Peaks\nnetwork:\n  V: {voltage source: [a, gnd]}\n  L: {inductor: [a, b], L: 1 mH, current: i}\n"
        '  E: {resistor: [b, d], law: "i = 1e-14 A*(exp(v/(25.85 mV)) - 1) + 1e-9 S*v"}\n'
        "  C: {capacitor: [d, gnd], C: 10 uF, voltage: v_C}\n  R: {resistor: [d, gnd], R: 100 ohm}\n"
        "experiment: {until: 0.4 ms, inputs: {V: 10*sin(2*pi*1000*t)}}\n"
    )

    def rates(t: float, y: np.ndarray) -> list[float]:
        i, v = map(float, y)
        drop = between_signs(lambda e: 1e-14 * (math.exp(min(e / 0.02585, 700.0)) - 1.0) + 1e-9 * e - i)
        return [(10.0 * math.sin(2e3 * math.pi * t) - drop - v) / 1e-3, (i - v / 100.0) / 1e-5]

    run = tg.simulate(read_model(text), samples=2, rtol=rtol, progress=False)
    wanted = solve_ivp(rates, (0.0, 4e-4), [0.0, 0.0], "Radau", rtol=1e-9, atol=1e-12).y[:, -1]
    assert run.final()["v_C"] == pytest.approx(wanted[1], rel=max(10.0 * rtol, 1e-7))


def test_a_loop_that_does_not_close_is_named_and_gives_no_value() -> None:
    with pytest.raises(SimulationError, match="no value of 'v' of 'N'") as caught:
        run_of(JUMP, 5.0)
    assert caught.value.code == "S132"


def test_a_steady_state_of_a_loop_that_does_not_close_is_refused() -> None:
    text = (
        "system: Jump\nnetwork:\n  V: {voltage source: [a, gnd]}\n  R: {resistor: [a, b], R: 1 kohm}\n"
        f'  N: {{resistor: [b, gnd], law: "{JUMP}"}}\nexperiment: {{inputs: {{V: 5 V}}}}\n'
    )
    with pytest.raises(SimulationError, match="was found at which the equations of its loop are met"):
        tg.equilibrium(read_model(text))


def test_a_limited_amplifier_with_feedback_stays_off_its_rails() -> None:
    text = (
        "system: Inverting amplifier\nnetwork:\n  V: {voltage source: [a, gnd]}\n  R_1: {resistor: [a, m], R: 1 kohm}\n"
        "  R_2: {resistor: [m, o], R: 10 kohm}\n  O: {voltage source: [o, gnd], signal: out}\n"
        "  P: {resistor: [m, gnd], R: 1 Mohm, voltage: v_m}\nsignals: {out: 'max(min(-1e5*v_m, 12), -12)'}\n"
        "experiment: {until: 1 ms, inputs: {V: 1 V}}\n"
    )
    run = tg.simulate(read_model(text), samples=2, progress=False)
    gain = 10.0 / (1.0 + (1.0 + 10.0 + 10.0 / 1e3) / 1e5)
    assert run.final()["out"] == pytest.approx(-gain, rel=1e-9)


@settings(max_examples=10)
@given(st.integers(0, 10_000))
def test_a_loop_of_two_whose_laws_turn_back_is_solved_where_a_solution_exists(seed: int) -> None:
    """A path from one start may turn back where laws do; another one leads to a solution, if not to the one that was drawn."""
    draw = np.random.default_rng(seed)
    a, b, c, d, e, f, g = (float(f"{draw.choice([-1, 1]) * 10.0 ** draw.uniform(-1, 1):.3g}") for _ in range(7))
    x, y = draw.uniform(-3.0, 3.0, 2)
    first, second = x - (a * y**3 + b * x * y + c * y), y - (d * x**3 + e * x**2 + f * x + g * y**2)
    text = (
        "system: Two that turn back\nnetwork:\n  V: {voltage source: [n, gnd], signal: x*1 V}\n"
        "  R: {resistor: [n, gnd], R: 1 ohm}\nsignals:\n"
        f"  x: '{a}*y^3 + ({b})*x*y + ({c})*y + ({first!r})'\n"
        f"  y: '{d}*x^3 + ({e})*x^2 + ({f})*x + ({g})*y^2 + ({second!r})'\n"
    ).replace("np.float64", "")
    model = compile_model(assign_causality(lower(read_model(text))), backend="python")
    values = model.observe(0.0, np.zeros(0), np.zeros(0), model.new_context())
    found = dict(zip([o.name for o in model.observables], values, strict=True))
    x, y = found["x"], found["y"]
    terms = [a * y**3, b * x * y, c * y, first, -x], [d * x**3, e * x**2, f * x, g * y**2, second, -y]
    assert all(abs(sum(one)) <= 1e-9 * sum(map(abs, one)) for one in terms)
