"""Signals in the graph: order, primitives, break times, sensors, and what drives sources."""

from collections.abc import Mapping
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import tellegen as tg
from tellegen.core.errors import GraphError
from tellegen.elements import KINDS
from tellegen.expressions import Expression, number, parse, symbol
from tellegen.graph import PowerGraph, SourceLaw, algebraic_signals, drive, lower
from tellegen.graph.signals import Break, Delayed, External, Integral, Sampled, SignalLaw, Table, Value, breaks_of
from tellegen.model.model import Element, known_variables
from tellegen.notations.network.builder import Network
from tellegen.notations.reading import read_model
from tellegen.notations.signals.formulas import SHAPES


def graph(signals: str, source: str = ", signal: V_c") -> PowerGraph:
    body = "".join(f"  {line.strip()}\n" for line in signals.strip().splitlines())
    return lower(
        read_model(f"""\
system: Coil
parameters: {{L: 10 mH, R: 1 ohm, K: 3 ohm, T: 2 ms}}
network:
  V: {{voltage source: [a, gnd]{source}}}
  L: {{inductor: [a, b], current: I}}
  R: {{resistor: [b, gnd]}}
signals:
{body}""")
    )


def by_name(found: PowerGraph) -> dict[str, SignalLaw]:
    return {signal.name: signal for signal in found.signals}


def value(found: PowerGraph, name: str) -> Expression:
    signal = by_name(found)[name]
    assert isinstance(signal, Value)
    return signal.expression


def course(found: PowerGraph, element: str = "V") -> Expression | None:
    (law,) = (port.law for port in found.ports if port.element == element)
    assert isinstance(law, SourceLaw)
    return law.signal


# Order


def test_signals_stand_after_those_they_read() -> None:
    found = graph("V_c: K*e\ne: r - I\nr: step(2 A)")
    assert [signal.name for signal in found.signals] == ["r", "e", "V_c"]
    assert algebraic_signals(found.signals) == ()


def test_a_state_a_sample_and_a_delay_break_a_loop() -> None:
    for block in ("{integral: V_c}", "{sample: V_c, every: T}", "{delay: V_c, by: T}"):
        assert algebraic_signals(graph(f"V_c: K*I - x\nx: {block}").signals) == ()


def test_a_loop_without_memory_leaves_one_unknown() -> None:
    found = graph("a: b/2 + I\nb: a + c\nc: I\nV_c: 1 ohm*b")
    assert algebraic_signals(found.signals) in (("a",), ("b",))
    assert [signal.name for signal in found.signals][-1] == "V_c"


# Blocks


def test_each_block_becomes_its_primitive() -> None:
    found = by_name(
        graph(
            "V_c: 1 V\nx: {integral: I, initial: 3}\nh: {sample: I, every: T, offset: 1 ms}\nd: {delay: I, by: T, initial: 2}\n"
            "m: {table: [[0, 1], [2, 5]], at: 3*t, interpolation: cubic}"
        )
    )
    T = symbol("T")
    x, h, d, m = found["x"], found["h"], found["d"], found["m"]
    assert isinstance(x, Integral)
    assert (x.rate, x.initial) == (symbol("I"), number(3))
    assert isinstance(h, Sampled)
    assert (h.expression, h.period, h.offset, h.initial) == (symbol("I"), T, parse("1e-3"), number(0))
    assert isinstance(d, Delayed)
    assert (d.by, d.initial) == (T, number(2))
    assert isinstance(m, Table)
    assert (m.argument, m.points, m.values, m.interpolation) == (parse("3*t"), (0, 2), (1, 5), "cubic")


def test_a_python_function_stays_outside_the_formulas() -> None:
    net = Network("coil")
    net.voltage_source("V", "a", signal="u")
    net.resistor("R", "a", R="1 ohm", current="I")
    net.signal("u", python=["I", "2*t"], function=max)
    (found,) = lower(net.model()).signals
    assert isinstance(found, External)
    assert (found.arguments, found.function) == ((symbol("I"), parse("2*t")), max)


def test_a_controller_is_an_integral_a_filter_and_a_limit() -> None:
    found = graph("V_c: {pid: 2 A - I, K_p: K, K_i: 8, K_d: 1e-3, filter: T, limits: [-9 V, 9 V]}")
    states = {s.name: s.rate for s in found.signals if isinstance(s, Integral)}
    assert list(states) == ["V_c_filter", "V_c_integral"]
    assert states["V_c_filter"] is parse("(2 - I - V_c_filter)/T")
    assert value(found, "V_c") is parse("min(max(V_c_unlimited, -9), 9)")
    assert value(found, "V_c_unlimited") is parse("K*(2 - I) + 1e-3*(2 - I - V_c_filter)/T + V_c_integral")


@pytest.mark.parametrize(
    ("unlimited", "error", "rate"), [(20.0, 2.0, 0.0), (20.0, -2.0, -16.0), (0.0, 2.0, 16.0), (-20.0, -2.0, 0.0)]
)
def test_clamping_stops_the_integral_where_it_would_go_further_beyond_a_limit(
    unlimited: float, error: float, rate: float
) -> None:
    found = graph("e: 2 A - I\nV_c: {pid: e, K_p: K, K_i: 8, limits: [-9 V, 9 V], anti-windup: clamp}")
    state = by_name(found)["V_c_integral"]
    assert isinstance(state, Integral)
    assert state.rate.evaluate({"V_c_unlimited": unlimited, "e": error, "V_c_integral": 3.0, "K": 1.0}) == rate


def test_clamping_has_no_jump_between_going_on_and_standing_still() -> None:
    found = graph("e: 2 A - I\nV_c: {pid: e, K_p: K, K_i: 8, limits: [-9 V, 9 V]}")
    state = by_name(found)["V_c_integral"]
    assert isinstance(state, Integral)
    at = {"e": 2.0, "V_c_integral": 3.0, "K": 1.0}  # parts of 2 and 3
    rates = [
        float(state.rate.evaluate(at | {"V_c_unlimited": 9 + over}))
        for over in (0.0, 0.0005 * 13**0.5, 0.001 * 13**0.5)
    ]
    assert rates == pytest.approx([16.0, 8.0, 0.0], abs=1e-9)


def test_back_calculation_drives_the_integral_towards_the_limit() -> None:
    found = graph("e: 2 A - I\nV_c: {pid: e, K_p: K, K_i: 8, limits: [-9 V, 9 V], anti-windup: back-calculation}")
    state = by_name(found)["V_c_integral"]
    assert isinstance(state, Integral)
    assert state.rate is parse("8*e + 8*(V_c - V_c_unlimited)/K")


def test_a_limited_integral_turns_back_at_once() -> None:
    state = by_name(graph("V_c: 1 V\nx: {integral: I, limits: [-1, 1]}"))["x"]
    assert isinstance(state, Integral)
    assert [state.rate.evaluate({"x": x, "I": i}) for x, i in ((1, 2), (1, -2), (0, 2), (-1, -2))] == [0, -2, 2, 0]


def test_inner_names_keep_clear_of_others() -> None:
    found = graph("V_c: {pid: I, K_i: 8}\nV_c_integral: 3 A")
    assert {signal.name for signal in found.signals} == {"V_c", "V_c_integral", "V_c_integral_"}


def test_static_blocks_do_what_their_words_say() -> None:
    found = graph(
        "V_c: 1 V\nq: {quantise: I, step: 0.5}\nz: {dead zone: I, limits: [-1, 2]}\ns: {saturate: I, limits: [-1, 2]}\n"
        "f: {state feedback: [I, V_c], gains: [2, 3], reference: 7, reference gain: 5}"
    )
    at = {"I": 3.3, "V_c": 1.0}
    assert [value(found, n).evaluate(at) for n in ("q", "z", "s", "f")] == pytest.approx([3.5, 1.3, 2.0, 35 - 6.6 - 3])
    assert value(found, "z").evaluate({"I": -3.0}) == -2


class Discrete:
    """Runs sampled signals by the rule that all of one instant read the values from before it."""

    def __init__(self, found: PowerGraph, values: Mapping[str, float]) -> None:
        self.signals = found.signals
        self.values = dict(values)
        self.values |= {s.name: s.initial.evaluate(values) for s in found.signals if isinstance(s, Sampled)}

    def sample(self, **inputs: float) -> dict[str, float]:
        self.values |= inputs
        for signal in self.signals:
            if isinstance(signal, Value):
                self.values[signal.name] = signal.expression.evaluate(self.values)
        sampled = [s for s in self.signals if isinstance(s, Sampled)]
        self.values |= {s.name: new for s, new in [(s, s.expression.evaluate(self.values)) for s in sampled]}
        return self.values


def test_a_sampled_controller_is_the_difference_equation_of_the_books() -> None:
    h, K_p, K_i, K_d, T_f, limit = 0.01, 2.0, 5.0, 0.1, 0.02, 3.0
    block = (
        f"V_c: {{pid: I, K_p: {K_p}, K_i: {K_i}, K_d: {K_d}, filter: {T_f}, limits: [-{limit}, {limit}], every: {h}}}"
    )
    found = Discrete(graph(block), {"R": 1.0})
    integral = derivative = before = 0.0
    for error in (0.5, 0.9, 2.0, 4.0, 4.0, -1.0, 0.2, 0.1):
        derivative = (T_f * derivative + K_d * (error - before)) / (T_f + h)
        asked = K_p * error + integral + K_i * h * error + derivative
        winding = (asked > limit and error > 0) or (asked < -limit and error < 0)
        integral += 0.0 if winding else K_i * h * error
        before = error
        assert found.sample(I=error)["V_c"] == pytest.approx(max(-limit, min(limit, asked)))
        assert found.values["V_c_integral"] == pytest.approx(integral)


coefficients = st.lists(st.integers(-5, 5), min_size=1, max_size=4)


@given(coefficients, coefficients, st.complex_numbers(min_magnitude=0.1, max_magnitude=3))
def test_a_transfer_function_is_that_of_its_states(above: list[int], below: list[int], s: complex) -> None:
    assume(below[0] and len(above) <= len(below) and abs(np.polyval(below, s)) > 1e-3)
    found = graph(f"V_c: {{transfer function: I, numerator: {above}, denominator: {below}}}")
    rates = {signal.name: signal.rate for signal in found.signals if isinstance(signal, Integral)}
    output = value(found, "V_c")

    def slope(e: Expression, name: str) -> float:
        return e.derivative(name).evaluate({})

    A = np.array([[slope(rate, x) for x in rates] for rate in rates.values()]).reshape(len(rates), len(rates))
    B = np.array([slope(rate, "I") for rate in rates.values()])
    C = np.array([slope(output, x) for x in rates])
    response = C @ np.linalg.solve(s * np.eye(len(rates)) - A, B) if rates else 0.0
    expected = np.polyval(above, s) / np.polyval(below, s)
    assert response + slope(output, "I") == pytest.approx(expected, rel=1e-6, abs=1e-9)


# Break times


def test_known_jumps_and_bends_are_told() -> None:
    found = by_name(graph("V_c: step(1 V, T) + ramp(1 V/s, 1 s, 3 s)"))["V_c"]
    assert isinstance(found, Value)
    assert set(found.breaks) == {Break(symbol("T")), Break(number(1)), Break(number(3))}


def test_periodic_jumps_have_a_period() -> None:
    one, two, four, ten = map(number, (1, 2, 4, 10))
    pulse = SHAPES["pulse"].build(two, one, number(3), ten)
    assert set(breaks_of(pulse, ())) == {Break(one), Break(one, ten), Break(four, ten)}


def test_what_a_state_decides_is_no_known_time() -> None:
    assert breaks_of(parse("if(t > x, 1, 0) + max(x, 0)"), ()) == ()


@given(st.sampled_from(["pulse", "trapezoid"]), st.lists(st.integers(1, 6), min_size=6, max_size=6))
def test_between_break_times_a_shape_is_smooth(name: str, numbers: list[int]) -> None:
    shape = SHAPES[name]
    arguments = [number(n) for n in numbers[: shape.most]]
    arguments[-1] = number(sum(numbers))  # a period longer than all the rest
    made = shape.build(*arguments)
    times = {0.0, 60.0}
    for known in breaks_of(made, ()):
        at = known.at.evaluate({})
        period = known.period.evaluate({}) if known.period is not None else 1e9
        times |= {at + k * period for k in range(-60, 60)}
    stretches = sorted(t for t in times if 0 <= t <= 60)
    for start, end in pairwise(stretches):
        if end - start > 1e-9:
            inner = [start + (end - start) * k / 4 for k in (1, 2, 3)]
            a, b, c = (made.evaluate({"t": t}) for t in inner)
            assert a - 2 * b + c == pytest.approx(0, abs=1e-9)


# Sensors


def test_contents_powers_and_differences_follow_from_variables_of_ports() -> None:
    found = graph("V_c: 1 V\nphi: phi_L\np: power.R\nv: {across: [a, b]}\nu: {across: [b]}")
    assert value(found, "phi") is parse("L*I")
    assert value(found, "p") is parse("V_R*I_R")
    assert value(found, "v") in (parse("V_L"), parse("V - V_R"))
    assert value(found, "u") in (parse("V_R"), parse("V - V_L"))


def test_variables_of_a_coupling_follow_from_its_nodes() -> None:
    model = read_model("""\
system: Motor
network:
  V: {voltage source: [a]}
  R: {resistor: [a, b], R: 1 ohm, current: I_R}
  M: {dc machine: [b, gnd, s, frame], K: 0.2 N*m/A, voltage: V_emf, torque: tau_m}
  J: {inertia: [s], J: 1 kg*m^2, angular velocity: omega}
signals: {v: V_emf, m: tau_m}
""")
    found = lower(model)
    assert value(found, "v") is parse("V - V_R")
    assert value(found, "m") is parse("tau_J")


def test_a_potential_between_couplings_alone_is_out_of_reach() -> None:
    model = read_model("""\
system: Gears
network:
  tau: {torque source: [frame, a]}
  J: {inertia: [a], J: 1 kg*m^2}
  g: {gear: [a, b], n: 3}
  h: {gear: [b, c], n: 3}
  J_c: {inertia: [c], J: 1 kg*m^2}
signals: {omega_b: {across: [b]}}
""")
    with pytest.raises(GraphError) as caught:
        lower(model)
    assert caught.value.findings[0].code == "G121"


# What drives sources


def test_a_source_on_a_signal_follows_it() -> None:
    assert course(graph("V_c: 1 V + K*I")) is symbol("V_c")
    assert course(graph("e: 2 A - I", ", signal: K*e")) is parse("K*e")


def test_a_course_with_jumps_is_a_signal_that_tells_when() -> None:
    found = graph("r: 1 A", ", signal: 'step(1 V, T)'")
    assert course(found) is symbol("V_course")
    told = by_name(found)["V_course"]
    assert isinstance(told, Value)
    assert told.breaks == (Break(symbol("T")),)


def test_drive_takes_numbers_expressions_and_signals_of_an_experiment() -> None:
    found = graph("r: 1 A", "")
    assert course(drive(found, {"V": 3.0})) is number(3)
    assert course(drive(found, {"V": parse("2*r + phi_L")})) is parse("2*r + L*I")
    model = read_model(
        "system: x\nnetwork: {V: {voltage source: [a]}, R: {resistor: [a], R: 1 ohm}}\nexperiment: {inputs: {V: step(2 V)}}\n"
    )
    driven = drive(lower(model), model.experiment.inputs)
    assert value(driven, "V_course") is parse("if(t >= 0, 2, 0)")


def test_what_nothing_drives_is_zero_and_told() -> None:
    found = drive(graph("r: 1 A", ""), {})
    assert course(found) is number(0)
    # Parameters that only other signals of these tests read are told too.
    assert [(f.code, f.severity, f.what) for f in found.findings if f.code != "D139"] == [
        ("G124", "notice", "nothing drives the input 'V': it is zero")
    ]


def test_drive_refuses_unknown_inputs_and_second_drivers() -> None:
    for given_inputs, code in (({"W": 1.0}, "G122"), ({"V": 1.0}, "G123")):
        with pytest.raises(GraphError) as caught:
            drive(graph("V_c: 1 V"), given_inputs)
        assert caught.value.findings[0].code == code


def test_a_source_named_like_the_voltage_of_a_coupling_is_read_as_the_source() -> None:
    """The variables of ports come first: V_R is the source, and the voltage of the machine R is read as V_R_1."""
    text = """system: test
network:
  V_R: {voltage source: [a, gnd]}
  r:   {resistor: [a, b], R: 2 ohm}
  R:   {dc machine: [b, gnd, s, frame], K: 0.1 N*m/A}
  J:   {inertia: [s], J: 1 kg*m^2}
signals: {seen: 2*V_R, behind: V_R_1}
"""
    laws = lower(read_model(text)).signals
    seen = {law.name: law.expression for law in laws if isinstance(law, Value)}
    assert seen["seen"] is parse("2*V_R")
    assert "V_R_1" not in seen["behind"].free_symbols


@pytest.mark.parametrize("name", ["pi_", "g", "g_1"])
def test_a_formula_reads_both_sides_of_a_coupling_whatever_its_name(name: str) -> None:
    gear = Element(name, KINDS["gear"], ("a", "frame", "b", "frame"), number(2))
    names = [told for told in known_variables([gear]) if not told.startswith("power.")]
    assert len(names) == 6
    assert [parse(told) for told in names] == [symbol(told) for told in names]


@pytest.mark.parametrize(
    "chosen", ["across_1: V_x", "across_2: V_x", "across_1: V_T", "across_2: V_T", "across_2: V_T_1"]
)
def test_a_name_chosen_for_one_side_of_a_coupling_is_no_automatic_name_of_the_other(chosen: str) -> None:
    """n = 3: the voltage of side 1 is the source's, that of side 2 a third of it."""
    side, name = chosen.split(": ")
    text = "system: x\nnetwork:\n  V: {voltage source: [a]}\n"
    text += f"  T: {{transformer: [a, b], n: 3, {chosen}}}\n  R: {{resistor: [b], R: 1}}\n"
    run = tg.simulate(read_model(text), 1, inputs={"V": 6.0})
    assert run.values(name)[-1] == pytest.approx(6 if side == "across_1" else 2)
