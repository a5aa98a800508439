"""`analyse` as a user calls it."""

import numpy as np
import pytest

import tellegen as tg
from tellegen.core.errors import EquationError, SimulationError
from tellegen.notations.reading import read_model


def test_the_split_of_power_in_steady_state_balances() -> None:
    split = tg.analyse("dc_motor_pump").power
    assert split is not None
    assert set(split.given) == {"V_a"}
    assert set(split.taken) == {"R_a", "alpha_p", "Q_0", "b_m"}
    assert sum(split.taken.values()) == pytest.approx(split.total, rel=1e-9)
    # I = 22.639 A through R_a = 0.5 ohm
    assert split.taken["R_a"] == pytest.approx(0.5 * 22.639175257731946**2, rel=1e-8)


def test_the_split_is_that_of_a_long_run() -> None:
    split = tg.analyse("dc_motor_pump").power
    assert split is not None
    run = tg.simulate("dc_motor_pump", 2, rtol=1e-10, samples=10)
    for element in ("R_a", "b_m", "alpha_p"):
        assert split.taken[element] == pytest.approx(float(run.power(element)[-1]), rel=1e-6)


def test_a_nonlinear_model_is_linearised_in_steady_state() -> None:
    found = tg.analyse("pmsm")
    assert found.model.states == ("I_1", "I_2", "I_3", "omega", "theta")
    assert found.model.point["omega"] == pytest.approx(0.0, abs=1e-6)
    assert found.model.point["I_2"] == pytest.approx(10 / 2.6, rel=1e-6)
    assert all(pole.value.real < 0 for pole in found.poles), "a rotor held by its magnet is stable"


def test_a_model_that_keeps_moving_wants_a_point() -> None:
    with pytest.raises(EquationError) as error:
        tg.analyse("crank_rod")
    assert error.value.code == "E201"
    assert error.value.finding.fix == "give the point at which the model is wanted, or other inputs"


def test_a_point_may_have_units() -> None:
    found = tg.analyse("crank_rod", at={"theta": "90 deg", "omega": 3})
    assert found.model.point["theta"] == pytest.approx(1.5707963267948966)
    assert found.power is None


def test_parameters_may_be_changed() -> None:
    (pole,) = tg.analyse("rlc", parameters={"R": "10 ohm"}).poles
    assert pole.value.real == pytest.approx(-500.0)


@pytest.mark.parametrize("given", [{"at": {"omga": 1}}, {"inputs": {"tu": 1}}])
def test_unknown_names_are_refused(given: dict[str, dict[str, float]]) -> None:
    with pytest.raises(SimulationError) as error:
        tg.analyse("crank_rod", **given)
    assert error.value.code == "S302"
    assert error.value.finding.fix.startswith("did you mean")


def test_controlled_sources_are_inputs_and_the_closed_loop_is_given_beside() -> None:
    found = tg.analyse("dc_motor_speed_control")
    loop = tg.derive("dc_motor_speed_control", closed=True, numeric=True)
    L, A = (np.array([[entry.evaluate({}) for entry in row] for row in loop.matrices[name]]) for name in ("L", "A"))
    expected = np.linalg.eigvals(-np.linalg.solve(L, A))
    assert found.closed_loop is not None
    assert found.closed_loop.driven == ("V_a",)
    assert found.closed_loop.poles is not None
    assert sum(2 if p.is_pair else 1 for p in found.closed_loop.poles) == len(loop.states)
    assert sum(p.value.real * (2 if p.is_pair else 1) for p in found.closed_loop.poles) == pytest.approx(
        expected.sum().real
    )
    assert "poles of the plant, cut open at V_a" in str(found)
    assert "poles of the closed loop; V_a controlled" in str(found)
    record = found.to_json()
    assert record["controlled_inputs"] == ["V_a"]
    assert record["closed_loop_poles"] != record["poles"]


def test_a_sampled_loop_has_no_poles_and_says_why() -> None:
    found = tg.analyse("sampled_position_control")
    assert found.closed_loop is not None
    assert found.closed_loop.poles is None
    assert f"no poles of the closed loop: {found.closed_loop.reason}" in str(found)
    assert found.closed_loop.reason
    assert found.to_json()["closed_loop_poles"] is None


def test_a_model_without_controllers_has_plain_poles() -> None:
    found = tg.analyse("dc_motor_pump")
    assert found.closed_loop is None
    assert "plant" not in str(found)
    assert "closed_loop_poles" not in found.to_json()


def test_a_source_that_follows_a_signal_through_the_experiment_closes_the_loop() -> None:
    """The same poles as where the line of the source names the signal; a constant instead opens the loop."""
    text = (
        "system: Loop\nparameters: {L: 2 mH, R: 0.8 ohm}\nnetwork:\n  V: {voltage source: [a, gnd]SIGNAL}\n"
        "  R: {resistor: [a, b]}\n  L: {inductor: [b, gnd], current: I}\n"
        "signals:\n  u: {pid: 2 A - I, K_p: 3 ohm, K_i: 500 ohm/s}\nexperiment: {until: 1 s, INPUTS}\n"
    )
    inside = read_model(text.replace("SIGNAL", ", signal: u").replace("INPUTS", "inputs: {}"))
    outside = read_model(text.replace("SIGNAL", "").replace("INPUTS", "inputs: {V: u}"))
    loops = [tg.analyse(model).closed_loop for model in (inside, outside)]
    assert loops[0] is not None
    assert loops[1] is not None
    assert loops[1].driven == ("V",)
    assert loops[0].poles is not None
    assert loops[1].poles is not None
    assert [p.value for p in loops[1].poles] == pytest.approx([p.value for p in loops[0].poles])
    assert tg.analyse(outside, inputs={"V": 1.0}).closed_loop is None


@pytest.mark.parametrize(
    ("given", "what"),
    [
        ({"at": {"omega_m": "80 V"}}, "the value of omega_m is in V, not in 1/s (rad/s)"),
        ({"inputs": {"V_a": "3 m"}}, "the input V_a is in m, not in V"),
    ],
)
def test_values_of_another_dimension_are_refused(given: dict[str, dict[str, str]], what: str) -> None:
    with pytest.raises(SimulationError) as error:
        tg.analyse("dc_motor_pump", **given)
    assert (error.value.code, error.value.finding.what) == ("S303", what)


def test_a_point_may_be_given_in_any_unit_of_its_dimension() -> None:
    found = tg.analyse("crank_rod", at={"theta": "30 deg", "omega": "60 rpm"})
    same = tg.analyse("crank_rod", at={"theta": np.pi / 6, "omega": 2 * np.pi})
    assert np.allclose(found.model.A, same.model.A)


BY_A_SIGNAL = """
system: a damper that a signal sets
signals:
  rate: 2 N*s/m*abs(v)/(1 m/s)
network:
  F: {force source: [frame, a]}
  m: {mass: [a], m: 1 kg, velocity: v}
  b: {damper: [a, frame], b: rate}
experiment: {until: 1 s, inputs: {F: 1 N}}
"""


def test_coefficients_that_read_signals_are_part_of_the_linear_model() -> None:
    """2 v |v| = 1 at rest, so v = 1/sqrt(2) and the pole is -4 v."""
    found = tg.analyse(read_model(BY_A_SIGNAL))
    assert found.model.point["v"] == pytest.approx(0.5**0.5)
    assert [pole.value for pole in found.poles] == pytest.approx([-4 * 0.5**0.5])
    assert [pole.value for pole in tg.analyse(read_model(BY_A_SIGNAL), at={"v": 1}).poles] == pytest.approx([-4])


def test_a_coefficient_that_reads_a_sample_keeps_what_is_sampled_there() -> None:
    """F = 2 v^3 with the rate 2 v held: the slope is that of 2 v |v|, 4 at v = 1; sampled loops have no poles in s."""
    sampled = BY_A_SIGNAL.replace("2 N*s/m*abs(v)/(1 m/s)", "{sample: 2 N*s/m*abs(v)/(1 m/s), every: 1 ms}")
    model = read_model(sampled.replace("b: rate", "law: F = rate*v*abs(v)*1 s/m"))
    found = tg.analyse(model, at={"v": 1})
    assert [pole.value for pole in found.poles] == pytest.approx([-4.0])
    assert found.cut == ("rate",)
    assert found.model.point == {"v": 1.0, "F": 1.0, "rate": pytest.approx(2.0)}
    assert found.closed_loop is not None
    assert found.closed_loop.poles is None
    held = tg.analyse(model, at={"v": 1}, as_inputs=())
    assert held.held == {"rate": pytest.approx(2.0)}
    assert "held as sampled\n  rate  2\n" in str(held)
    assert tg.analyse(model, at={"v": 1, "rate": 3}, as_inputs=()).poles[0].value == pytest.approx(-6.0)


def test_what_is_sampled_keeps_its_value_where_a_loop_is_cut_elsewhere() -> None:
    """F = 2 - v held and G = 3 (5 - v) cut: at rest v^2 = 17 - 4 v, and the slope is 2 v."""
    model = read_model("""
system: two forces
network:
  F: {force source: [frame, a], signal: u}
  G: {force source: [frame, a], signal: p}
  m: {mass: [a], m: 1 kg, velocity: v}
  b: {damper: [a, frame], law: "F = 1 N*s^2/m^2*v*abs(v)"}
signals:
  u: {sample: 2 N - 1 N*s/m*v, every: 10 ms}
  p: {pid: 5 m/s - v, K_p: 3 N*s/m}
experiment: {until: 1 s}
""")
    v = -2 + np.sqrt(21)
    found = tg.analyse(model, as_inputs=["p"])
    assert found.held == {"u": pytest.approx(2 - v)}
    assert [pole.value for pole in found.poles] == pytest.approx([-2 * v])
    assert tg.analyse(model).held == {}
    cut = tg.derive(model, closed=True, as_inputs=("p",))
    assert cut.point is not None
    assert cut.point.values == {"v": pytest.approx(v), "p": pytest.approx(3 * (5 - v))}
    assert cut.matrices["A"][0][0].evaluate({}) == pytest.approx(2 * v)


PENDULUM = """
system: pendulum
mechanism:
  gravity: 9.81 m/s^2
  bodies: {bob: {mass: 1 kg, centre: [1 m, 0 m]}}
  joints: {pin: {revolute: [ground, bob], friction: 0.1 N*m*s}}
"""


@pytest.mark.parametrize(("angle", "slope"), [("pi/2", 9.81), ("-pi/2", -9.81), ("0", 0.0)])
def test_gravity_is_part_of_the_model(angle: str, slope: float) -> None:
    """omega' = -0.1 omega - g cos(phi)."""
    model = read_model(PENDULUM)
    found = tg.analyse(model, at={"bob.phi": angle})
    expected = sorted(np.roots([1.0, 0.1, -slope]), key=lambda s: (s.real, s.imag))
    poles = sorted((p.value for p in found.poles), key=lambda s: (s.real, s.imag))
    assert [p for p in expected if p.imag >= -1e-12] == pytest.approx([p for p in poles if p.imag >= 0], abs=1e-9)
    assert found.closed_loop is None
    assert found.model.inputs == ()
    assert "linearised at the given point" in str(found)


def test_a_pendulum_without_a_point_hangs() -> None:
    found = tg.analyse(read_model(PENDULUM))
    assert np.sin(found.model.point["bob.phi"]) == pytest.approx(-1.0)
    assert found.to_json()["linearised"] == "in steady state"


FAN = """
system: fan
parameters: {K: 0.1 N*m/A, R: 1 ohm, J: 1e-3 kg*m^2, U: 12 V, L: 1 mH, c: 1e-5 N*m*s^2}
network:
  bat: {voltage source: [a, gnd], signal: U}
  L:   {inductor: [a, b], current: I}
  R:   {resistor: [b, e]}
  M:   {dc machine: [e, gnd, w, frame], K: K}
  J:   {inertia: [w], angular velocity: omega}
  fan: {friction: [w, frame], law: tau = c*omega*abs(omega)}
experiment: {until: 5 s}
"""


def test_a_battery_decides_where_its_load_is_linearised() -> None:
    """U = R I + K omega and K I = c omega^2."""
    omega = (-0.01 + np.sqrt(1e-4 + 4 * 1e-5 * 0.1 * 12)) / (2 * 1e-5)
    A = np.array([[-1e3, -1e2], [1e2, -2e-2 * omega]])
    expected = sorted(np.linalg.eigvals(A).real)
    model = read_model(FAN)
    found = tg.analyse(model)
    assert found.model.point == {"I": pytest.approx(omega**2 * 1e-4), "omega": pytest.approx(omega)}
    assert sorted(p.value.real for p in found.poles) == pytest.approx(expected)
    assert "linearised in steady state, inputs as at t = 5 s\n" in str(found)
    for linear in (tg.linearise(model), tg.derive(model, closed=True)):
        assert linear.matrices["A"][1][1].evaluate(linear.values()) == pytest.approx(2e-5 * omega)
        assert linear.point is not None
        assert linear.point.values["omega"] == pytest.approx(omega)
        assert "linearised in steady state, inputs as at t = 5 s\n  I = " in linear.to_text()
        assert linear.to_json()["linearised"] == "in steady state, inputs as at t = 5 s"
        assert "linearised in steady state" in linear.to_latex()
        assert "P_d" not in linear.to_text()
    driven = tg.analyse(model, as_inputs=["bat"])
    assert (driven.model.inputs, driven.model.outputs) == (("bat",), ("I",))
    assert driven.model.point["bat"] == 12.0
    # dI/dU at rest: 1/(R + K^2/(2 c omega))
    assert driven.dc_gain[0, 0] == pytest.approx(1 / (1 + 0.01 / (2e-5 * omega)))


BUCK = """
system: averaged buck
parameters: {U: 24 V, L: 100 uH, C: 100 uF, R: 5 ohm, V_ref: 12 V}
signals:
  e: V_ref - v
  d: {pid: e, K_p: 0.01 V^-1, K_i: 20 V^-1*s^-1, initial: 0.2}
network:
  bat: {voltage source: [a, gnd], signal: U}
  S:   {connection: [a, gnd, b, gnd], domains: [electrical, electrical], relation: across_2 = d*across_1}
  L:   {inductor: [b, c], current: i}
  C:   {capacitor: [c, gnd], voltage: v}
  R:   {resistor: [c, gnd]}
experiment: {until: 20 ms}
"""


def test_a_controller_that_drives_a_modulus_is_cut_off_and_closed() -> None:
    """v/d = U/(L C s^2 + L/R s + 1); with the controller K_p + K_i/s the characteristic polynomial is of third order."""
    model = read_model(BUCK)
    found = tg.analyse(model, outputs=["v"])
    assert found.cut == ("d",)
    assert found.model.inputs == ("d",)
    assert found.poles[0].value == pytest.approx(-1000 + 1j * np.sqrt(1e8 - 1e6))
    s = 3e3
    entry = found.transfer_functions().entries[0][0]
    assert entry.evaluate({"s": s}) == pytest.approx(24 / (1e-8 * s**2 + 2e-5 * s + 1))
    response = found.bode(np.array([3e3]))
    assert response.magnitude[0, 0, 0] == pytest.approx(abs(24 / (1 - 1e-8 * s**2 + 2e-5j * s)))
    loop = found.closed_loop
    assert loop is not None
    assert loop.driven == ("d",)
    assert loop.poles is not None
    expected = np.roots([1e-8, 2e-5, 1 + 0.24, 480])
    assert sorted(p.value.real for p in loop.poles) == pytest.approx(sorted({*np.round(expected.real, 6)}), rel=1e-6)
    given = tg.analyse(model, at={"d_integral": 0.5})
    assert given.poles[0].value == pytest.approx(found.poles[0].value)


def test_constants_that_are_named_are_inputs_of_the_plant_and_of_the_loop() -> None:
    found = tg.analyse(read_model(BUCK), outputs=["v"], as_inputs=["V_ref", "bat"])
    assert found.cut == ("d",)
    assert found.model.inputs == ("bat", "d", "V_ref")
    loop = found.closed_loop
    assert loop is not None
    assert loop.linear is not None
    assert loop.linear.model.inputs == ("bat", "V_ref")
    model = loop.linear.model
    gain = loop.linear.dc_gain[model.outputs.index("v"), model.inputs.index("V_ref")]
    assert gain == pytest.approx(1.0), "an integrator leaves no error"
    s = 500.0
    entries = loop.transfer_functions().entries[model.outputs.index("v")]
    forward = (0.01 + 20 / s) * 24 / (1e-8 * s**2 + 2e-5 * s + 1)
    assert entries[1].evaluate({"s": s}) == pytest.approx(forward / (1 + forward))


def test_plant_and_closed_loop_go_to_python_control() -> None:
    pytest.importorskip("control")
    found = tg.analyse(read_model(BUCK), outputs=["v"], as_inputs=["d", "V_ref"])
    assert found.closed_loop is not None
    loop = found.closed_loop.to_control()
    assert loop.state_labels == ["i", "v", "d_integral"]
    assert loop.input_labels == ["V_ref"]
    assert np.sort_complex(found.to_control().poles())[-1] == pytest.approx(-1000 + 1j * np.sqrt(1e8 - 1e6))
    assert found.closed_loop.bode(np.array([1.0])).magnitude[0, loop.output_labels.index("v"), 0] == pytest.approx(
        1.0, rel=1e-2
    )


def test_a_name_that_can_be_no_input_is_told() -> None:
    with pytest.raises(EquationError, match="E134: 'dd' is no source, signal, parameter or modulus of 'averaged buck'"):
        tg.analyse(read_model(BUCK), as_inputs=["dd"])


def test_what_storages_share_their_energy_by_is_no_input() -> None:
    shift = (
        "system: gear\nparameters: {J_1: 1 kg*m^2, J_2: 2 kg*m^2, n: 3}\nnetwork:\n  tau: {torque source: [frame, a]}\n"
        "  J_1: {inertia: [a], angular velocity: omega}\n  J_2: {inertia: [b]}\n"
        "  belt: {connection: [a, frame, b, frame], domains: [rotational, rotational], relation: across_2 = n*across_1}\n"
    )
    with pytest.raises(EquationError, match="E122: 'n' cannot be an input: storages share their energy by it"):
        tg.analyse(read_model(shift), as_inputs=["n"])


def test_a_model_without_inputs_is_analysed_where_a_controlled_force_leaves_passivity_open() -> None:
    model = read_model("""
system: one mass pulls another
signals: {pull: w}
network:
  m: {mass: [a], m: 1 kg, velocity: v}
  b: {damper: [a, frame], law: "F = 1 N*s/m*(v + 10*pull)"}
  c: {damper: [a, b], b: 0.01 N*s/m}
  n: {mass: [b], m: 1 kg, velocity: w}
  d: {damper: [b, frame], law: "F = 1 N*s/m*v*(1 + (v/(1 m/s))^2)"}
""")
    found = tg.analyse(model, at={"w": 0.1})
    assert all(pole.value.real < 0 for pole in found.poles)
    assert found.passivity.passive is None
    assert found.passivity.smallest < 0


def test_an_analysis_of_a_model_with_modes_says_in_which_one_it_holds() -> None:
    found = tg.analyse("buck_converter")
    assert found.modes == {"S": "closed", "D": "blocking"}
    assert "in the mode\n  S  closed\n  D  blocking\n" in str(found)
    assert found.to_json()["modes"] == {"S": "closed", "D": "blocking"}
    assert "in the mode" not in str(tg.analyse("dc_motor"))


RECTIFIER = """
system: rectifier
network:
  V: {voltage source: [a, gnd]}
  R: {resistor: [a, b], value: 10 ohm}
  D: {diode: [b, c]}
  C: {capacitor: [c, gnd], value: 1 mF}
  G: {resistor: [c, gnd], value: 100 ohm}
experiment: {until: 1 s, inputs: {V: 10 V}}
"""
SLIDE = """
system: slide
network:
  F: {force source: [frame, m]}
  m: {mass: [m], m: 2 kg}
  d: {damper: [m, frame], b: 4 N*s/m}
  f: {dry friction: [m, frame], F_c: 3 N}
experiment: {until: 20 s, inputs: {F: 10 N}}
"""


@pytest.mark.parametrize(
    ("text", "given", "mode", "value"),
    [
        (RECTIFIER, {}, {"D": "conducting"}, -110.0),
        (RECTIFIER, {"inputs": {"V": -10.0}}, {"D": "blocking"}, -10.0),
        (RECTIFIER, {"at": {"V_C": 20.0}}, {"D": "blocking"}, -10.0),
        (SLIDE, {}, {"f": "forward"}, -2.0),
        (SLIDE, {"at": {"v_m": -0.5}}, {"f": "backward"}, -2.0),
    ],
)
def test_a_model_with_modes_is_linearised_in_the_mode_that_holds_there(
    text: str, given: dict[str, dict[str, float]], mode: dict[str, str], value: float
) -> None:
    found = tg.analyse(read_model(text), **given)
    assert [pole.value for pole in found.poles] == pytest.approx([value])
    at = "".join(f"  {name}  {word}" for name, word in mode.items())
    assert f"in the mode\n{at}\n" in str(found)
