"""Signals beside the power equations, in moduli and coefficients, and in the closed loop."""

import math
from pathlib import Path

import numpy as np
import pytest

from support.examples import all_examples
from tellegen.core.errors import DescriptionError, EquationError
from tellegen.equations.checking import check
from tellegen.equations.forms.closed_loop import close_loop
from tellegen.equations.forms.transfer import TransferMatrix
from tellegen.equations.system import EquationSystem, with_values
from tellegen.expressions import latex_name, parse
from tellegen.model.model import Model
from tellegen.notations.loading import as_model
from tellegen.notations.reading import read_model
from tellegen.workflow.deriving import derive, linearise

COIL = """\
system: Coil
parameters: {L: 10 mH, R: 1 ohm, K: 3 ohm, K_i: 200 ohm/s}
network:
  V: {voltage source: [a, gnd], signal: V_c}
  L: {inductor: [a, b], current: I}
  R: {resistor: [b, gnd]}
signals:
  I_ref: step(2 A, 1 ms)
  e: I_ref - I
  V_c: {pid: e, K_p: K, K_i: K_i}
"""


def model(text: str, *changes: tuple[str, str]) -> Model:
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return read_model(text)


def numbers(system: EquationSystem, name: str) -> np.ndarray:
    rows = system.matrices[name]  # type: ignore[index]
    return np.array([[entry.evaluate(system.values()) for entry in row] for row in rows])


# Beside the power equations


def test_a_controlled_source_stays_an_input() -> None:
    system = derive(model(COIL))
    assert system.inputs == ("V",)
    assert system.matrices["A"] == ((parse("R"),),)
    assert system.signals.drivers == {"V": parse("V_c")}


def test_signals_are_listed_in_json_by_kind() -> None:
    extra = "  h: {sample: I, every: 1 ms}\n  d: {delay: I, by: 2 ms}\n  m: {table: [[0, 1], [2, 5]]}\n"
    record = derive(read_model(COIL + extra)).to_json()
    assert record["signals"] == {"I_ref": "(2 if t >= 1/1000 else 0)", "e": "I_ref - I", "V_c": "V_c_integral + K*e"}
    assert record["signal_states"] == {"V_c_integral": "K_i*e"}
    assert record["driven"] == {"V": "V_c"}
    assert record["sampled"] == {"h": {"of": "I", "every": "1/1000", "offset": "0"}}
    assert record["delayed"] == {"d": {"of": "I", "by": "1/500"}}
    assert record["tables"] == {"m": {"at": "t", "points": [[0.0, 1.0], [2.0, 5.0]], "interpolation": "linear"}}


def test_models_without_signals_say_nothing_of_them() -> None:
    record = derive("dc_motor").to_json()
    assert not {"signals", "signal_states", "driven", "sampled"} & record.keys()
    assert "signals" not in derive("dc_motor").to_text()


def test_signals_are_shown_in_text_and_latex() -> None:
    system = derive(model(COIL))
    assert "signals\n" in system.to_text()
    assert "  e = I_ref - I\n" in system.to_text()
    assert "  V_c = pid(e, K_p=K, K_i=K_i)\n" in system.to_text()
    assert r"V_{c} &= \operatorname{pid}\left(e,\; K_{p} = K,\; K_{i} = K_{i}\right)" in system.to_latex()


def test_variables_of_resistive_elements_are_written_by_states() -> None:
    system = derive(model(COIL, ("e: I_ref - I\n", "e: I_ref - I\n  p: power.R\n  v: V_L\n")))
    assert system.signals.values["p"] is parse("R*I^2")
    assert system.signals.values["v"] is parse("V - R*I")


# In moduli and coefficients

HOT = ("R: {resistor: [b, gnd]}", "R: {resistor: [b, gnd], R: R_hot}")


def test_a_resistance_may_follow_a_signal() -> None:
    system = derive(model(COIL, HOT, ("e: I_ref", "R_hot: 1 ohm + 0.5 ohm/s*t\n  e: I_ref")))
    assert system.matrices["A"] == ((parse("R_hot"),),)
    assert not system.linear
    assert system.dissipated_power is parse("R_hot*I^2")


SHIFT = """\
system: Shifting gear
parameters: {J_1: 1 kg*m^2, J_2: 2 kg*m^2, a: 3, w: 5 rad/s}
network:
  tau: {torque source: [frame, a]}
  J_1: {inertia: [a], angular velocity: omega}
  belt: {connection: [a, frame, b, frame], domains: [rotational, rotational], relation: across_2 = n*across_1}
  J_2: {inertia: [b]}
displacements: {theta: omega}
signals:
  n: a + sin(w*t)
"""


def test_a_storage_behind_a_moving_modulus_takes_its_rate_too() -> None:
    system = derive(model(SHIFT))
    (row,) = system.matrices["N"]
    written = row[0].substitute(system.where).substitute({"n": parse("a + sin(w*t)")})
    at = {"J_2": 2.0, "a": 3.0, "w": 5.0, "t": 0.3}
    assert system.matrices["L"] == ((parse("J_1 + J_2*n^2"),),)
    assert written.evaluate(at) == pytest.approx(2 * (3 + math.sin(1.5)) * 5 * math.cos(1.5))


def test_power_is_balanced_when_a_modulus_moves() -> None:
    """d/dt of the energy is the power supplied: 2 N = dL/dt along the motion."""
    system = derive(model(SHIFT))
    (N,) = system.matrices["N"][0]
    (L,) = system.matrices["L"][0]
    at = {**system.values(), "t": 0.7}

    def inertia(t: float) -> float:
        return L.substitute({"n": parse("a + sin(w*t)")}).evaluate({**at, "t": t})

    slope = (inertia(0.7 + 1e-6) - inertia(0.7 - 1e-6)) / 2e-6
    found = N.substitute(system.where).substitute({"n": parse("a + sin(w*t)")}).evaluate(at)
    assert 2 * found == pytest.approx(slope, rel=1e-6)


@pytest.mark.parametrize(
    ("formula", "rate"),
    [
        ("a + theta", "omega"),
        ("{integral: 2, initial: 1}", "2"),
        ("{low pass: a*t, time constant: 2 s}", "(a*t - n)/2"),
    ],
)
def test_rates_follow_from_displacements_time_and_integrals(formula: str, rate: str) -> None:
    system = derive(model(SHIFT, ("n: a + sin(w*t)", f"n: {formula}")))
    (N,) = system.matrices["N"][0]
    at = {"J_2": 2.0, "n": 3.0, "omega": 7.0, "a": 3.0, "t": 0.3, "theta": 0.5}
    expected = parse(rate).evaluate(at)
    assert N.substitute(system.where).evaluate(at) == pytest.approx(2.0 * 3.0 * expected)


@pytest.mark.parametrize(
    ("formula", "why"),
    [
        ("{sample: a*t, every: 1 s}", "it is sampled, so that it jumps"),
        ("{table: [[0, 1], [1, 2]]}", "it is read from a table, which bends at its points"),
        ("{delay: a*t, by: 1 s, initial: 1}", "it is delayed"),
        ("'1 + step(1, 1 s)'", "its formula jumps: it uses 'if'"),
        ("'1 + floor(omega/w)'", "its formula jumps: it uses 'floor'"),
    ],
)
def test_a_signal_without_a_known_rate_is_named(formula: str, why: str) -> None:
    with pytest.raises(EquationError) as caught:
        derive(model(SHIFT, ("n: a + sin(w*t)", f"n: {formula}")))
    (found,) = caught.value.findings
    assert (found.code, found.where) == ("E120", "n")
    assert found.what.endswith(why)


def test_an_open_loop_is_linearised_with_its_moduli_as_they_are_at_rest() -> None:
    hot = model(COIL, HOT, ("e: I_ref", "R_hot: 2 ohm + 0.5 ohm/s*t\n  e: I_ref"))
    assert numbers(linearise(hot), "A")[0, 0] == pytest.approx(2)


def test_signals_in_moduli_survive_numbers_and_other_forms() -> None:
    hot = model(COIL, HOT, ("e: I_ref", "R_hot: 2 ohm + 0.5 ohm/s*t\n  e: I_ref"))
    assert with_values(derive(hot)).matrices["A"] == ((parse("R_hot"),),)
    assert parse("R_hot") in derive(hot, form="dae", numeric=True).F.values()
    assert derive(hot, form="ph").matrices["R"] == ((parse("R_hot"),),)


# The closed loop


def test_the_closed_loop_holds_the_states_of_the_controller_and_references_as_inputs() -> None:
    loop = derive(model(COIL), closed=True)
    assert (loop.states, loop.inputs) == (("I", "V_c_integral"), ("I_ref",))
    assert loop.outputs == ("I", "e", "V_c")
    assert loop.matrices["L"] == ((parse("L"), parse("0")), (parse("0"), parse("1")))
    assert loop.matrices["A"] == ((parse("R + K"), parse("-1")), (parse("K_i"), parse("0")))
    assert loop.matrices["B"] == ((parse("K"),), (parse("K_i"),))


def test_the_transfer_function_of_the_closed_loop_is_that_of_the_books() -> None:
    found = derive(model(COIL), form="tf", closed=True)
    assert isinstance(found, TransferMatrix)
    at = {"s": 7.0, "L": 0.01, "R": 1.0, "K": 3.0, "K_i": 200.0}
    controller, plant = 3 + 200 / 7, 1 / (0.01 * 7 + 1)
    assert found.entries[0][0].evaluate(at) == pytest.approx(controller * plant / (1 + controller * plant))


def test_limits_count_at_the_operating_point() -> None:
    limited = model(COIL, ("K_i: K_i}", "K_i: K_i, limits: [-5 V, 5 V]}"))
    inside = derive(limited, closed=True)
    beyond = derive(limited, closed=True, at={"I": -3.0})
    assert inside.matrices["A"][0][0] is parse("R + K")
    assert beyond.matrices["A"] == ((parse("R"), parse("0")), (parse("0"), parse("0")))


def test_an_algebraic_loop_through_the_network_is_solved() -> None:
    text = """\
system: Loop
parameters: {R_1: 1 ohm, R_2: 2 ohm, K: 3 ohm, C: 1 mF}
network:
  V: {voltage source: [a, gnd], signal: u}
  R_1: {resistor: [a, b], current: I_1}
  R_2: {resistor: [b, gnd]}
  C: {capacitor: [b]}
signals: {r: step(5 V), u: r - K*I_1}
"""
    assert check(read_model(text)).algebraic_signals
    loop = derive(read_model(text), closed=True)
    # u = r - K I and I = (u - v)/R_1, so the source has the resistance K
    assert numbers(loop, "A")[0, 0] == pytest.approx(1 / (1 + 3) + 1 / 2)
    assert numbers(loop, "B")[0, 0] == pytest.approx(1 / (1 + 3))


def test_an_algebraic_loop_of_signals_is_solved() -> None:
    changed = model(COIL, ("e: I_ref - I", "e: I_ref - I - f\n  f: e/4"))
    assert check(changed).algebraic_signals
    assert numbers(derive(changed, closed=True), "A")[0, 0] == pytest.approx(1 + 3 * 0.8)


def test_a_nonlinear_plant_is_linearised_with_its_controller() -> None:
    curved = model(COIL, ("R: {resistor: [b, gnd]}", "R: {resistor: [b, gnd], law: v = R*i + 0.1*i^3}"))
    loop = derive(curved, closed=True, at={"I": 2.0})
    assert numbers(loop, "A")[0, 0] == pytest.approx(1 + 0.3 * 4 + 3)


def test_displacements_are_states_of_the_closed_loop() -> None:
    text = """\
system: Position
parameters: {m: 2 kg, b: 3 N*s/m}
network:
  F: {force source: [frame, c], signal: F_c}
  m: {mass: [c], velocity: v}
  b: {damper: [c, frame]}
displacements: {x: v}
signals:
  x_ref: step(1 m)
  F_c: {pid: x_ref - x, K_p: 50 N/m, K_d: 10 N*s/m, filter: 10 ms}
"""
    loop = derive(read_model(text), closed=True)
    assert loop.states == ("v", "x", "F_c_filter")
    A = -np.linalg.solve(numbers(loop, "L"), numbers(loop, "A"))
    # (m s^2 + b s)(T s + 1) + K_p (T s + 1) + K_d s
    expected = np.roots([2 * 0.01, 2 + 3 * 0.01, 3 + 50 * 0.01 + 10, 50])
    assert np.sort_complex(np.linalg.eigvals(A)) == pytest.approx(np.sort_complex(expected))


def test_signals_that_lead_nowhere_are_left_out() -> None:
    loop = derive(
        read_model(COIL + "  y: {low pass: I, time constant: 1 ms}\n  h: {sample: I, every: 1 ms}\n"), closed=True
    )
    assert loop.states == ("I", "V_c_integral")


@pytest.mark.parametrize("block", ["{sample: K*e, every: 1 ms}", "{delay: K*e, by: 1 ms}"])
def test_a_loop_that_is_not_continuous_is_refused(block: str) -> None:
    with pytest.raises(EquationError) as caught:
        derive(model(COIL, ("V_c: {pid: e, K_p: K, K_i: K_i}", f"V_c: {block}")), closed=True)
    assert (caught.value.findings[0].code, caught.value.findings[0].where) == ("E121", "V_c")


def test_a_source_that_fixes_a_storage_needs_a_signal_with_a_rate() -> None:
    lines = "  V: {voltage source: [a], signal: u}\n  C: {capacitor: [a], C: 1 F}\n  L: {inductor: [a], L: 1 H, current: I}\n"
    text = f"system: x\nnetwork:\n{lines}"
    smooth = derive(read_model(text + "signals: {y: {integral: I}, u: 2 V/(A*s)*y}\n"), closed=True)
    assert smooth.states == ("I", "y")
    with pytest.raises(EquationError) as caught:
        derive(read_model(text + "signals: {u: 2 ohm*I}\n"), closed=True)
    assert caught.value.findings[0].code == "E122"


def test_the_point_names_states_inputs_and_time() -> None:
    with pytest.raises(DescriptionError) as caught:
        derive(model(COIL), closed=True, at={"J": 1.0})
    assert caught.value.findings[0].code == "D305"
    assert derive(model(COIL), closed=True, at={"t": 1.0}).states == ("I", "V_c_integral")


def test_only_some_forms_have_a_closed_loop() -> None:
    with pytest.raises(DescriptionError) as caught:
        derive(model(COIL), form="ph", closed=True)
    assert caught.value.findings[0].code == "D303"


def test_the_nonlinear_closed_loop_is_a_value_of_its_own() -> None:
    loop = close_loop(derive(model(COIL, ("K_i: K_i}", "K_i: K_i, limits: [-5 V, 5 V]}"))))
    assert loop.inputs == ("I_ref",)
    assert "V_c_integral" in loop.displacements
    (f,) = loop.vectors["f"]
    assert f.evaluate({**loop.values(), "I": 0.0, "I_ref": 100.0, "V_c_integral": 0.0}) == -5.0


# What check says


def test_check_lists_signals_and_their_states() -> None:
    found = check(model(COIL))
    assert found.signals == ("I_ref", "e", "V_c_integral", "V_c")
    assert found.signal_states == ("V_c_integral",)
    assert found.algebraic_signals == ()
    assert found.to_json()["signal_states"] == ["V_c_integral"]
    assert "signal states" in str(found)


# As the author wrote them

DRIVES = """
system: Two drives
parts:
  d: {use: drive.yaml}
  e: {use: drive.yaml, K: 5 ohm}
"""
DRIVE = """
system: Drive
parameters: {L: 1 mH, R: 1 ohm, K: 2 ohm, V_0: 3 V, T: 1 ms}
network:
  V: {voltage source: [a, gnd], signal: "V_0 + step(2 V, start=1 s)"}
  L: {inductor: [a, b], current: I}
  R: {resistor: [b, c]}
  W: {voltage source: [c, gnd], signal: V_x}
signals:
  I_ref: "2*quintic(0, 2 A, from=T, to=3 ms) + sine(1e-3 A, 50 Hz)"
  V_x: {pid: I_ref - I, K_p: K, K_i: 3 ohm/s, limits: [-V_0, V_0], anti-windup: clamp}
  V_y: {saturate: V_x, limits: [0, 1 V]}
"""


def test_shapes_and_controllers_print_as_their_author_wrote_them() -> None:
    system = derive(read_model(DRIVE))
    lines = system.to_text().splitlines()
    assert "  I_ref = 2*quintic(0, 2 A, from=T, to=3 ms) + sine(1e-3 A, 50 Hz)" in lines
    assert "  V_x = pid(I_ref - I, K_p=K, K_i=3 ohm/s, limits=[-V_0, V_0], anti-windup=clamp)" in lines
    assert "  V_y = min(max(V_x, 0), 1)" in lines  # a formula says as much
    assert "  V = V_0 + step(2 V, start=1 s)" in lines
    assert not [line for line in lines if "V_x_integral" in line or "V_course" in line]
    latex = system.to_latex()
    assert (
        r"2 \operatorname{quintic}\left(0,\; 2\,\mathrm{A},\; \text{from} = T,\; \text{to} = 3\,\mathrm{ms}\right)"
        in latex
    )
    assert r"10^{-3}\,\mathrm{A},\; 50\,\mathrm{Hz}" in latex
    assert r"K_{i} = 3\,\mathrm{\Omega /s}" in latex
    assert r"\text{anti-windup} = \text{clamp}" in latex
    # What they stand for is there for those who ask.
    assert "V_x_integral" in str(system.to_json()["signal_states"])


def test_signals_of_parts_print_with_the_names_of_the_whole(tmp_path: Path) -> None:
    (tmp_path / "drive.yaml").write_text(DRIVE, encoding="utf-8")
    (tmp_path / "drives.yaml").write_text(DRIVES, encoding="utf-8")
    lines = derive(as_model(tmp_path / "drives.yaml")).to_text().splitlines()
    assert "  d.I_ref = 2*quintic(0, 2 A, from=d.T, to=3 ms) + sine(1e-3 A, 50 Hz)" in lines
    assert "  e.V = e.V_0 + step(2 V, start=1 s)" in lines
    assert any(line.startswith("  e.V_x = pid(e.I_ref - e.I, K_p=e.K, K_i=3 ohm/s,") for line in lines)


CONTROLLED = [n for n, m in all_examples().items() if any(s.block == "pid" for s in m.signals.values())]


@pytest.mark.parametrize("name", CONTROLLED)
def test_examples_print_what_stands_in_their_files(name: str) -> None:
    read = as_model(name)
    system = derive(read)
    joined = " ".join(system.to_text().split())
    latex = system.to_latex()
    for signal in read.signals.values():
        if signal.block == "pid":
            assert f"{signal.name} = pid({signal.texts['pid']}" in joined
            assert rf"{latex_name(signal.name)} &= \operatorname{{pid}}\left(" in latex
        elif "quintic(" in (text := signal.texts.get("formula", "")):
            assert f"{signal.name} = {text}" in joined
            assert latex.count(r"\operatorname{quintic}") >= text.count("quintic(")


def test_conditions_of_states_are_set_as_formulas_and_drawn() -> None:
    text = """
system: Room
network:
  heater: {heat source: [ambient, room], signal: Q}
  C:      {heat capacity: [room], C: 200 kJ/K, temperature: T}
signals:
  on:   {relay: 20 K - T, hysteresis: 1 K}
  mode: {states: {idle: {when: on < 0.5}, heat: {when: on > 0.5 and T < 30 K, after: 60 s}}}
  Q:    1 kW*mode
"""
    model = read_model(text)
    latex = derive(model).to_latex()
    assert r"\text{when}: \mathrm{on} < \frac{1}{2}\}" in latex
    assert r"\text{when}: \mathrm{on} > \frac{1}{2} \wedge T < 30" in latex
