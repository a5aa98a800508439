"""The built-in controlled systems: what integral action promises, and a sampled loop run step by step."""

import numpy as np
import pytest
from scipy.linalg import expm

from tellegen.core.errors import EquationError, SimulationError
from tellegen.equations.checking import check
from tellegen.equations.system import EquationSystem
from tellegen.experiments.simulating import simulate
from tellegen.graph import lower
from tellegen.graph.signals import Integral, Sampled, Value
from tellegen.notations.loading import load
from tellegen.notations.reading import read_model
from tellegen.workflow.deriving import derive


def numbers(system: EquationSystem, name: str) -> np.ndarray:
    rows = system.matrices[name]  # type: ignore[index]
    return np.array([[entry.evaluate(system.values()) for entry in row] for row in rows])


def test_the_speed_controller_leaves_no_error_at_rest_whatever_the_load() -> None:
    """A controller with an integral follows constant references and rejects constant loads (internal model principle)."""
    loop = derive("dc_motor_speed_control", closed=True)
    A, B, C, D = (numbers(loop, name) for name in "ABCD")
    gains = C @ np.linalg.solve(A, B) + D
    speed = loop.outputs.index("omega_m")
    assert loop.inputs == ("tau_l", "omega_ref")
    assert gains[speed] == pytest.approx([0.0, 1.0], abs=1e-9)


def test_the_speed_controller_is_stable() -> None:
    loop = derive("dc_motor_speed_control", closed=True)
    poles = np.linalg.eigvals(-np.linalg.solve(numbers(loop, "L"), numbers(loop, "A")))
    assert poles.real.max() < 0


def test_beyond_its_limits_the_speed_controller_drives_no_more() -> None:
    loop = derive("dc_motor_speed_control", closed=True, at={"omega_m": -5000.0})
    voltage = loop.outputs.index("V_c")
    assert numbers(loop, "C")[voltage] == pytest.approx(0)


def test_the_sampled_controller_has_no_continuous_states() -> None:
    found = check("sampled_position_control")
    assert found.signal_states == ()
    sampled = [s.name for s in lower(load("sampled_position_control")).signals if isinstance(s, Sampled)]
    assert sampled == ["F_c_derivative", "F_c_error", "F_c_integral", "F_c"]


def test_the_sampled_controller_brings_the_carriage_to_its_place() -> None:
    """The plant between samples is linear with a constant force, so its exact solution is a matrix exponential."""
    model = load("sampled_position_control")
    plant, graph = derive(model), lower(model)
    values = plant.values()
    assert not any(isinstance(signal, Integral) for signal in graph.signals)
    A = np.linalg.solve(numbers(plant, "L"), -numbers(plant, "A"))
    B = np.linalg.solve(numbers(plant, "L"), numbers(plant, "B"))
    n, carriage = len(plant.states), plant.states.index("v_c")
    whole = np.zeros((n + 2, n + 2))  # states, position, force
    whole[:n, :n], whole[:n, n + 1 :] = A, B
    whole[n, carriage] = 1
    step = expm(whole * values["T_s"])
    state = np.zeros(n + 2)
    known = {**values, **{s.name: 0.0 for s in graph.signals if isinstance(s, Sampled)}}
    largest = 0.0
    for k in range(1500):
        known |= {"t": k * values["T_s"], "x": state[n]}
        for signal in graph.signals:
            if isinstance(signal, Value):
                known[signal.name] = signal.expression.evaluate(known)
        known |= {s.name: s.expression.evaluate(known) for s in graph.signals if isinstance(s, Sampled)}
        state[n + 1] = known["F_c"]
        largest = max(largest, abs(known["F_c"]))
        state = step @ state
    assert largest <= values["F_max"]
    # At rest the encoder cannot tell positions within one step of it apart.
    assert state[n] == pytest.approx(0.2, abs=5 * values["Delta"])
    assert state[carriage] == pytest.approx(0, abs=2e-3)


def test_the_outputs_of_the_closed_loop_are_those_asked_for() -> None:
    names = ("power.R_a", "V_c", "tau_b_m", "omega_m", "V_L_a")
    point = {"omega_m": 100.0, "I_a": 2.0}
    loop = derive("dc_motor_speed_control", closed=True, at=point, outputs=names, numeric=True)
    whole = derive("dc_motor_speed_control", closed=True, at=point, numeric=True)
    assert loop.outputs == names
    assert loop.matrices["A"] == whole.matrices["A"]
    rows = {name: [float(str(e)) for e in row] for name, row in zip(names, loop.matrices["C"], strict=True)}
    states = dict.fromkeys(loop.states, 0.0)
    assert rows["tau_b_m"] == pytest.approx([*(states | {"omega_m": 2e-4}).values()])
    assert rows["power.R_a"] == pytest.approx([*(states | {"I_a": 2 * 0.8 * 2.0}).values()])
    # V_L_a is V_c - R_a I_a - K_m omega_m
    expected = np.array(rows["V_c"]) - [*(states | {"I_a": 0.8, "omega_m": 0.06}).values()]
    assert rows["V_L_a"] == pytest.approx(expected)


def test_an_output_that_the_closed_loop_does_not_have_is_named_with_the_nearest() -> None:
    with pytest.raises(EquationError, match="'omega_n' is nothing that can be measured") as caught:
        derive("dc_motor_speed_control", closed=True, outputs=["omega_n"])
    assert "omega_m" in caught.value.findings[0].fix


def test_a_loop_that_the_experiment_closes_is_closed() -> None:
    """Its input follows a signal there, and not in the network: R C v' = -v + K (w - v)."""
    model = read_model(
        "system: Loop\nparameters: {R: 1 ohm, C: 1 F, K: 4}\nnetwork:\n  V: {voltage source: [a, gnd]}\n"
        "  R: {resistor: [a, b]}\n  C: {capacitor: [b, gnd], voltage: v}\n"
        "signals:\n  w: step(3 V)\n  u: K*(w - v)\nexperiment: {until: 5 s, inputs: {V: u}}\n"
    )
    loop = derive(model, closed=True, numeric=True)
    assert loop.inputs == ("w",)
    assert [[entry.evaluate({}) for entry in row] for row in (*loop.matrices["A"], *loop.matrices["B"])] == [
        [5.0],
        [4.0],
    ]


COIL = """
system: Current control of a coil
parameters: {R: 1 ohm, L: 1 H}
network:
  V: {voltage source: [a, gnd], signal: u}
  R: {resistor: [a, b]}
  L: {inductor: [b, gnd], current: I}
signals:
  r: 10 A - step(9 A, 3 s)
  e: r - I
  u: CONTROL
experiment: {until: 6 s}
"""


def test_a_clamped_controller_stays_at_its_limit_and_leaves_it_at_once() -> None:
    """An integral that stops dead and starts again has no solution here: the output is driven to the limit from both sides."""
    limited = "{pid: e, K_p: 0.2 ohm, K_i: 1 ohm/s, limits: [-4 V, 4 V]}"
    run = simulate(read_model(COIL.replace("CONTROL", limited)), rtol=1e-8)
    t, u, current = run.t, run.values("u"), run.values("I")
    reached = t[np.argmax(u >= 4)]
    saturated = (t > reached) & (t < 3)
    assert reached < 1
    assert np.all(u[saturated] == 4)
    k = int(np.argmax(saturated))
    assert current[saturated] == pytest.approx(4 - (4 - current[k]) * np.exp(-(t[saturated] - t[k])), rel=1e-6)
    assert np.all(run.values("u_unlimited")[saturated] <= 4 + 2e-3 * 6)  # the parts are never larger than 6 V
    assert u[np.argmax(t > 3.01)] < 4


def test_a_relay_without_hysteresis_is_named_as_what_chatters() -> None:
    with pytest.raises(SimulationError) as raised:
        simulate(read_model(COIL.replace("CONTROL", "if(I < 2 A, 10 V, 0 V)")))
    assert raised.value.code == "S131"
    assert "'u' jumped to and fro" in str(raised.value)
    assert "at t = 0.223144 s" in str(raised.value)
    assert raised.value.run is not None
    assert raised.value.run.values("I")[-1] == pytest.approx(2, abs=1e-5)
    assert {(event.element, event.what) for event in raised.value.run.events} == {("u", "jumps or bends")}
