"""Signals in compiled models: values, states, memory, delays, tables, functions of the host, and events."""

import numpy as np
import pytest

from compiler.test_nonlinear import compiled
from support.examples import causal_example
from tellegen.causality import CausalGraph, assign_causality
from tellegen.compiler import NumericModel, compile_model
from tellegen.compiler.compiling import Backend, CodeForm, Drive
from tellegen.compiler.context import PAST, Array
from tellegen.core.errors import CompilerError
from tellegen.expressions import number, parse, symbol
from tellegen.graph import lower
from tellegen.graph.signals import Break, Delayed, External, Integral, Sampled, Table, Value
from tellegen.notations.reading import read_model

RC = """
system: rc
network:
  V: {voltage source: [a, gnd]}
  R: {resistor: [a, b], R: 2 ohm}
  C: {capacitor: [b, gnd], C: 4 F}
"""
FORMS: list[tuple[Backend, CodeForm]] = [("c", "unrolled"), ("c", "looped"), ("python", "auto")]
everywhere = pytest.mark.parametrize(("backend", "form"), FORMS, ids=str)


def causal(text: str = RC) -> CausalGraph:
    return assign_causality(lower(read_model(text)))


def rate(model: NumericModel, t: float, *y: float) -> Array:
    return model.rhs(t, np.array(y))


def driven(drive: Drive, backend: Backend = "auto", form: CodeForm = "auto") -> NumericModel:
    return compile_model(causal(), drive={"V": drive}, backend=backend, form=form)


@everywhere
def test_a_formula_of_time_drives_a_source(backend: Backend, form: CodeForm) -> None:
    model = driven(parse("3*t + V_C/2"), backend, form)
    assert model.inputs == ()
    assert rate(model, 2.0, 1.0)[0] == pytest.approx((6.0 + 0.5 - 1.0) / 8)


@everywhere
def test_an_integral_is_a_state_of_its_own(backend: Backend, form: CodeForm) -> None:
    law = Integral("s", parse("V_C - 1"), number(5))
    model = driven([law, Value("u", parse("2*s"))], backend, form)
    assert model.signal_states == ("s",)
    assert model.start().tolist() == [0.0, 5.0]
    assert rate(model, 0.0, 3.0, 0.5) == pytest.approx([(1.0 - 3.0) / 8, 2.0])


@everywhere
def test_sampled_signals_read_what_was_before_the_instant(backend: Backend, form: CodeForm) -> None:
    laws = [
        Sampled("old", symbol("new"), number(0.1), number(0), number(7)),
        Sampled("new", parse("V_C + old"), number(0.1), number(0), number(2)),
        Sampled("slow", symbol("V_C"), number(1), number(0.5), number(9)),
    ]
    model = driven([*laws, Value("u", parse("new + slow"))], backend, form)
    assert model.memory == ("old", "new", "slow")
    assert [(g.period, g.offset, g.members) for g in model.sample_groups] == [(0.1, 0.0, (0, 1)), (1.0, 0.5, (2,))]
    y, yp = np.array([3.0]), np.zeros(1)
    assert rate(model, 0.0, 3.0)[0] == pytest.approx((2 + 9 - 3) / 8)
    assert model.sample(0.0, y, yp, 0).tolist() == [2.0, 10.0, 9.0]
    assert model.sample(0.0, y, yp, 1).tolist() == [7.0, 2.0, 3.0]


@everywhere
def test_a_delayed_signal_asks_the_past(backend: Backend, form: CodeForm) -> None:
    model = driven([Delayed("late", symbol("V_C"), number(0.25), number(6))], backend, form)
    (delay,) = model.delays
    assert (delay.name, delay.by, delay.initial) == ("late", 0.25, 6.0)
    y, yp = np.array([3.0]), np.zeros(1)
    assert model.observe(1.0, y, yp)[delay.observable] == 3.0
    context = model.new_context()
    assert model.rhs(1.0, y, context)[0] == pytest.approx((6.0 - 3.0) / 8)
    context.remember(PAST(lambda history, k, t: 100.0 * t))
    assert model.rhs(1.0, y, context)[0] == pytest.approx((75.0 - 3.0) / 8)


@everywhere
@pytest.mark.parametrize("kind", ["linear", "previous", "cubic"])
def test_tables_are_read_between_their_points(backend: Backend, form: CodeForm, kind: str) -> None:
    table = Table("u", symbol("V_C"), (0.0, 1.0, 3.0), (2.0, 4.0, 10.0), kind)  # type: ignore[arg-type]
    model = driven([table], backend, form)

    def value(x: float) -> float:
        return float(8 * rate(model, 0.0, x)[0] + x)

    assert value(-5.0) == 2.0
    assert value(7.0) == 10.0
    assert value(1.0) == pytest.approx(4.0)
    between = value(2.0)
    assert {"linear": between == pytest.approx(7.0), "previous": between == 4.0, "cubic": 4.0 < between < 10.0}[kind]
    h = 1e-6
    slope = (value(2.0 + h) - value(2.0 - h)) / (2 * h) - 1.0
    assert 8 * model.rhs_tangent(0.0, np.array([2.0]), np.ones(1))[0] == pytest.approx(slope, abs=1e-7)


@everywhere
def test_a_function_of_the_host_may_drive_a_source(backend: Backend, form: CodeForm) -> None:
    law = External("u", (symbol("V_C"), symbol("t")), lambda v, t: v * v + t)
    assert rate(driven([law], backend, form), 2.0, 3.0)[0] == pytest.approx((9.0 + 2.0 - 3.0) / 8)


def test_a_loop_of_signals_is_solved() -> None:
    model = driven([Value("a", parse("1 + b/2")), Value("b", parse("a - V_C"))])
    assert model.unknowns == ()
    # b = 1 + b/2 - V_C, so b = 2 - 2*V_C
    assert rate(model, 0.0, 0.25)[0] == pytest.approx((1.5 - 0.25) / 8)


def test_a_signal_may_read_the_current_of_its_own_source() -> None:
    model = driven([Value("u", parse("10 - I_V"))])  # an inner resistance of one ohm
    assert rate(model, 0.0, 1.0)[0] == pytest.approx((10.0 - 1.0) / 3 / 4)


def test_a_source_beside_a_capacitor_needs_the_rate_of_its_signal() -> None:
    text = "system: c\nnetwork:\n  V: {voltage source: [a, gnd]}\n  C: {capacitor: [a, gnd], C: 4 F}\n"
    model = compile_model(causal(text), drive={"V": parse("sin(2*t)")})
    shown = dict(zip((o.name for o in model.observables), model.observe(0.5, np.zeros(0), np.zeros(0)), strict=True))
    assert shown["I_C"] == pytest.approx(4 * 2 * np.cos(1.0))
    late = Delayed("late", symbol("t"), number(1), number(0))
    with pytest.raises(CompilerError, match="the rate of 'late' is needed by 'C'") as caught:
        compile_model(causal(text), drive={"V": [late]})
    assert caught.value.code == "N107"


def test_known_times_are_listed() -> None:
    breaks = (Break(number(0.5)), Break(number(0.2), number(1)))
    model = driven([Value("u", symbol("t"), breaks)])
    assert model.break_times(2.5).tolist() == pytest.approx([0.2, 0.5, 1.2, 2.2])
    assert model.break_times(2.5, 1.2).tolist() == pytest.approx([2.2])


def test_an_input_that_does_not_exist_is_named() -> None:
    with pytest.raises(CompilerError, match="no input 'W'") as caught:
        compile_model(causal(), drive={"W": number(1)})
    assert "'V'" in caught.value.finding.fix


def test_a_name_without_meaning_is_named() -> None:
    with pytest.raises(CompilerError, match="'nonsense' has no value") as caught:
        driven(parse("nonsense + 1"))
    assert caught.value.code == "N108"


# -- events ----------------------------------------------------------------------------------------------------------------------


def test_switching_elements_watch_the_guards_of_their_mode() -> None:
    model = compile_model(causal_example("stick_slip"))
    assert model.events
    assert {event.element for event in model.events} == {"friction"}
    assert all(event.kind == "transition" and event.direction == 1 and event.to for event in model.events)
    graph = causal_example("stick_slip").graph
    (law,) = graph.switching.values()
    assert {event.to for event in model.events} == {transition.to for transition in law.transitions[law.start]}


@pytest.mark.parametrize(
    ("law", "kind"),
    [
        ("F_c*abs(v)*v", "bend"),
        ("F_c*max(v, 0)", "bend"),
        ("F_c*sign(v)*abs(v)", "restart"),
        ("if(v > 0, F_c, 0)", "restart"),
    ],
)
def test_bends_are_told_from_jumps(law: str, kind: str) -> None:
    text = f'F: {{force source: [frame, m]}}\nm: {{mass: [m], m: 2}}\nb: {{damper: [m, frame], law: "F = {law}"}}'
    assert [event.kind for event in compiled(text, "F_c: 3").events] == [kind]


def test_jumps_of_laws_are_places_to_restart() -> None:
    model = compiled(
        'F: {force source: [frame, m]}\nm: {mass: [m], m: 2}\nb: {damper: [m, frame], law: "F = F_c*sign(v)"}', "F_c: 3"
    )
    ((event, value),) = zip(model.events, model.event_values(0.0, np.array([0.7]), np.zeros(1)), strict=True)
    assert (event.kind, event.direction) == ("restart", 0)
    assert value == pytest.approx(0.7)


def test_jumps_at_known_times_are_no_events() -> None:
    assert driven(parse("if(t < 1, 2, 3)")).events == ()
