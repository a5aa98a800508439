"""Machines, converters and magnetic parts of the library against their textbook equations."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq

import tellegen as tg
from support.library_use import use, values
from support.transfers import POINTS, numeric, same_transfer, transfer_at
from tellegen.equations.system import MatrixName
from tellegen.model.model import Model
from tellegen.notations.parameters import parameter_values
from tellegen.notations.reading import read_model
from tellegen.notations.writing import to_yaml

# Machines of any number of phases


def of_phases(m: int) -> Model:
    sources = ", ".join(f"V_{k}: {{voltage source: [a_{k}]}}" for k in range(1, m + 1))
    ports = ", ".join(f'"phase[{k}]": a_{k}' for k in range(1, m + 1))
    network = sources + ", tau: {torque source: [w]}"
    return use("pmsm_multiphase", f"{ports}, star: gnd, shaft: w", network, f", m: {m}")


@pytest.mark.parametrize("m", [3, 5, 6])
def test_a_machine_of_m_phases_has_the_matrices_of_the_book(m: int) -> None:
    model, theta = of_phases(m), 0.37
    system, p = tg.derive(model), values(model)
    known = {**parameter_values(model), "p.theta": theta}

    def matrix(name: MatrixName) -> np.ndarray:
        return np.array([[e.evaluate(known) for e in row] for row in system.matrices[name]])

    k = np.arange(m)
    L = p.M_0 * np.cos(2 * math.pi * (k[:, None] - k[None, :]) / m) + (p.L_e - p.M_0) * np.eye(m)
    K = -p.p * p.phi * np.sin(p.p * theta - 2 * math.pi * k / m)
    wanted_L = np.block([[L, np.zeros((m, 1))], [np.zeros((1, m)), np.array([[p.J]])]])
    wanted_A = np.block([[p.R * np.eye(m), K[:, None]], [-K[None, :], np.array([[p.b]])]])
    assert system.states == (*(f"p.I[{j + 1}]" for j in k), "p.omega")
    assert matrix("L") == pytest.approx(wanted_L, rel=1e-12, abs=1e-15)
    assert matrix("A") == pytest.approx(wanted_A, rel=1e-12, abs=1e-15)
    assert math.isclose(K @ K, m / 2 * (p.p * p.phi) ** 2)


def test_three_phases_are_the_three_phase_machine() -> None:
    ports = "phase_1: a_1, phase_2: a_2, phase_3: a_3, star: gnd, shaft: w"
    sources = ", ".join(f"V_{k}: {{voltage source: [a_{k}]}}" for k in (1, 2, 3))
    three = use("pmsm", ports, sources + ", tau: {torque source: [w]}")
    same_transfer(three, of_phases(3), at={"theta": 0.3})


# The induction machine

SUPPLY = 2 * math.pi * 50


def induction(frame: str, inputs: str) -> tg.Run:
    network = "V_d: {voltage source: [d]}, V_q: {voltage source: [q]}, W: {angular velocity source: [w]}"
    model = use("induction_machine", "d: d, q: q, shaft: w", network, f", signals: {{omega_k: {frame}}}")
    experiment = f"experiment: {{until: 1.5 s, rtol: 1e-9, inputs: {{{inputs}, W: 150 rad/s}}}}\n"
    return tg.simulate(read_model(to_yaml(model) + experiment))


def test_an_induction_machine_has_the_torque_of_its_equivalent_circuit() -> None:
    """Steady state in the frame of the supply; Krause, Analysis of Electric Machinery, the single-phase equivalent circuit."""
    run = induction(f"{SUPPLY} rad/s", "V_d: 380 V, V_q: 0 V")
    p = {name.removeprefix("p."): value for name, value in run.parameters.items()}
    slip = (SUPPLY - p["p"] * 150) / SUPPLY
    stator = p["R_s"] + 1j * SUPPLY * (p["L_s"] - p["L_m"])
    rotor = p["R_r"] / slip + 1j * SUPPLY * (p["L_r"] - p["L_m"])
    magnetising = 1j * SUPPLY * p["L_m"]
    current = 380 / (stator + magnetising * rotor / (magnetising + rotor))
    in_rotor = current * magnetising / (magnetising + rotor)
    torque = abs(in_rotor) ** 2 * p["R_r"] / slip * p["p"] / SUPPLY
    found = run.final()
    assert found["tau_W"] == pytest.approx(p["b"] * 150 - torque, rel=1e-6)  # the source holds the shaft back
    assert complex(found["p.i_ds"], found["p.i_qs"]) == pytest.approx(current, rel=1e-6)


def test_the_torque_of_an_induction_machine_does_not_depend_on_the_frame() -> None:
    still = induction("0 rad/s", 'V_d: "380 V*cos(100*pi*t)", V_q: "380 V*sin(100*pi*t)"')
    turning = induction(f"{SUPPLY} rad/s", "V_d: 380 V, V_q: 0 V")
    assert still.final()["tau_W"] == pytest.approx(turning.final()["tau_W"], rel=1e-5)


@pytest.mark.parametrize("theta", [0.0, 0.7, 4.0])
def test_park_transformation_is_that_of_the_book(theta: float) -> None:
    """Voltages given in the axes: the phases have their sum over the axes, and what is put into a phase comes out of them."""
    sources = "V_d: {voltage source: [d]}, V_q: {voltage source: [q]}, V_0: {voltage source: [z]}"
    loads = ", ".join(f"R_{k}: {{resistor: [a_{k}], R: 10 ohm, voltage: v_{k}}}" for k in (1, 2, 3))
    ports = "phase_1: a_1, phase_2: a_2, phase_3: a_3, d: d, q: q, zero: z"
    model = use("park_transformation", ports, f"{sources}, {loads}", f", R_0: 1e9 ohm, signals: {{theta: {theta}}}")
    axes = np.array([3.0, -5.0, 2.0])
    run = tg.simulate(model, until=1e-3, inputs=dict(zip(("V_d", "V_q", "V_0"), axes.tolist(), strict=True)))
    angles = theta - 2 * math.pi * np.arange(3) / 3
    P = math.sqrt(2 / 3) * np.array([np.cos(angles), -np.sin(angles), np.full(3, math.sqrt(0.5))])
    assert pytest.approx(np.eye(3), abs=1e-15) == P @ P.T
    assert [run.values(f"v_{k}")[-1] for k in (1, 2, 3)] == pytest.approx(P.T @ axes, abs=1e-9)
    assert [run.values(f"I_V_{k}")[-1] for k in "dq0"] == pytest.approx(P @ (P.T @ axes) / 10, abs=1e-7)


def test_an_induction_machine_on_three_phases_runs_as_in_its_axes() -> None:
    """A balanced supply of amplitude V is sqrt(3/2) V in d and nothing in q, also where nothing is joined to the star."""
    turning = "signals: {omega_k: 100*pi/(1 s), theta: omega_k*t}"
    machine = "motor: {use: induction_machine, ports: {d: d, q: q}, signals: {omega_k: omega_k}}"
    phases = ", ".join(f"phase_{k}: [a_{k}, star]" for k in (1, 2, 3))
    supply = ", ".join(
        f"V_{k}: {{voltage source: [a_{k}], signal: 310*cos(theta - {2 * (k - 1)}*pi/3)}}" for k in (1, 2, 3)
    )
    three = read_model(
        f"system: Test\n{turning}\nparts:\n  {machine}\n"
        f"  park: {{use: park_transformation, ports: {{{phases}, d: d, q: q}}, signals: {{theta: theta}}}}\n"
        f"network: {{{supply}}}\n"
    )
    plain = read_model(
        f"system: Test\n{turning}\nparts:\n  {machine}\n"
        "network: {V_d: {voltage source: [d]}, V_q: {voltage source: [q]}}\n"
    )
    wanted = tg.simulate(plain, until=0.1, rtol=1e-9, inputs={"V_d": math.sqrt(1.5) * 310, "V_q": 0.0}).final()
    found = tg.simulate(three, until=0.1, rtol=1e-9).final()
    for name in ("motor.omega", "motor.i_ds", "motor.i_qs"):
        assert found[name] == pytest.approx(wanted[name], rel=1e-6)


def test_a_motor_in_d_and_q_behind_its_transformation_is_the_motor_of_three_phases() -> None:
    supply = ", ".join(
        f"V_{k}: {{voltage source: [a_{k}], signal: 30 V*cos(100 s^-1*t - {2 * (k - 1)}*pi/3)}}" for k in (1, 2, 3)
    )
    load = "load: {inertia: [w], J: 1e-3 kg*m^2}, air: {friction: [w], b: 1e-3 N*m*s}"
    three = use("pmsm", "phase_1: a_1, phase_2: a_2, phase_3: a_3, shaft: w", f"{supply}, {load}")
    phases = ", ".join(f"phase_{k}: [a_{k}, star]" for k in (1, 2, 3))
    axes = read_model(
        "system: Test\nparts:\n"
        f"  park: {{use: park_transformation, ports: {{{phases}, d: d, q: q}}, signals: {{theta: p.p*p.theta}}}}\n"
        "  p: {use: pmsm_dq, ports: {d: d, q: q, shaft: w}}\n"
        f"network: {{{supply}, {load}}}\n"
    )
    grid = np.linspace(0, 0.2, 30)
    wanted, found = (tg.simulate(model, until=0.2, rtol=1e-9).resampled(grid) for model in (three, axes))
    assert max(abs(wanted.values("p.omega"))) > 1
    assert found.values("p.omega") == pytest.approx(wanted.values("p.omega"), abs=1e-5)
    theta = values(three).p * wanted.values("p.theta")
    along = [wanted.values(f"p.I_{k + 1}") * np.cos(theta - 2 * math.pi * k / 3) for k in range(3)]
    i_d = math.sqrt(2 / 3) * sum(along)
    assert found.values("p.i_d") == pytest.approx(i_d, abs=1e-5)


def test_saliency_pulls_the_rotor_to_where_its_inductance_is_large() -> None:
    network = "I_d: {current source: [gnd, d]}, I_q: {current source: [gnd, q]}, W: {angular velocity source: [w]}"
    more = ", L_d: 8 mH, L_q: 20 mH"
    model = use("pmsm_dq", "d: d, q: q, shaft: w", network, more)
    p = values(model)
    found = tg.simulate(model, until=0.01, inputs={"I_d": -4.0, "I_q": 3.0, "W": 0.0}).final()
    torque = p.p * (math.sqrt(1.5) * p.phi * 3 + (p.L_d - p.L_q) * -4 * 3)
    assert -found["tau_W"] == pytest.approx(torque, rel=1e-9)


def test_an_averaged_inverter_gives_each_phase_its_share_and_passes_all_power_on() -> None:
    load = ", ".join(
        f"L_{k}: {{inductor: [a_{k}, b_{k}], L: 10 mH}}, R_{k}: {{resistor: [b_{k}, n], R: 3 ohm}}" for k in (1, 2, 3)
    )
    network = f"V: {{voltage source: [s]}}, {load}"
    ports = "dc: [s, gnd], phase_1: a_1, phase_2: a_2, phase_3: a_3"
    duties = (0.9, 0.5, 0.2)
    mean = use(
        "averaged_inverter", ports, network, f", signals: {dict(zip(('d_1', 'd_2', 'd_3'), duties, strict=True))}"
    )
    found = tg.simulate(mean, until=0.05, inputs={"V": 100.0}, rtol=1e-9).final()
    middle, R = sum(duties) / 3, 3 + values(mean).R_on
    currents = [(d - middle) * 100 / R * (1 - math.exp(-0.05 * R / 0.01)) for d in duties]
    # The star is not joined: the third current is what the others leave.
    assert [found["I_L_1"], found["I_L_2"]] == pytest.approx(currents[:2], rel=1e-6)
    assert found["I_V"] == pytest.approx(sum(d * i for d, i in zip(duties, currents, strict=True)), rel=1e-6)


# Semiconductors


@pytest.mark.parametrize("voltage", [-5.0, 0.5, 1.0])
def test_a_junction_diode_follows_shockley(voltage: float) -> None:
    model = use("junction_diode", "ends: [a, gnd]", "V: {voltage source: [a]}")
    p, run = values(model), tg.simulate(model, until=1e-3, inputs={"V": voltage})

    def excess(i: float) -> float:
        across = voltage - p.R_s * i
        return i - p.I_s * math.expm1(across / (p.n * p.V_T)) - p.G_p * across

    wanted = brentq(excess, -2 * p.I_s, 20.0, xtol=1e-16)
    assert run.final()["I_V"] == pytest.approx(wanted, rel=1e-6, abs=1e-13)


PERIOD, DUTY = 1e-4, 0.7
PULSE = f'"pulse(1, 0 s, {PERIOD * DUTY} s, {PERIOD} s)"'
IDEAL = ", R_on: 1e-9 ohm, V_f: 0 V, R_d: 1e-9 ohm"


def mean_of_last_period(run: tg.Run, name: str, period: float) -> float:
    grid = np.linspace(run.t[-1] - period, run.t[-1], 4001)
    return float(np.trapezoid(run.resampled(grid).values(name), grid) / period)


@pytest.mark.slow
def test_a_half_bridge_gives_its_duty_cycle_of_the_supply() -> None:
    load = "V: {voltage source: [p]}, L: {inductor: [a, c], L: 0.2 mH, current: i}, R: {resistor: [c], R: 2 ohm}"
    model = use("half_bridge", "dc: [p, gnd], out: a", load, f", signals: {{u: {PULSE}}}{IDEAL}")
    run = tg.simulate(model, until=2e-3, inputs={"V": 24.0})
    assert mean_of_last_period(run, "i", PERIOD) == pytest.approx(DUTY * 24 / 2, rel=1e-4)


def test_the_diodes_of_a_half_bridge_carry_the_current_that_the_switches_leave() -> None:
    """While u <= 0 the lower switch is closed; a current that flows back from the load returns through it without a diode drop."""
    load = "V: {voltage source: [p]}, L: {inductor: [a, gnd], L: 1 mH, current: i, initial: 3 A}"
    model = use("half_bridge", "dc: [p, gnd], out: a", load, ", signals: {u: -1}, R_on: 1 ohm, V_f: 0.7 V")
    run = tg.simulate(model, until=1e-5, inputs={"V": 24.0})
    # 3 A through 1 ohm would be 3 V, so the diode beside the switch conducts at 0.7 V
    p = values(model)
    shared = (3 + 0.7 / p.R_d) / (1 / p.R_on + 1 / p.R_d)  # v of both in parallel, v/R_on + (v - 0.7)/R_d = 3
    slope = (run.values("i")[-1] - 3) / 1e-5
    assert slope == pytest.approx(-shared / 1e-3, rel=1e-2)


@pytest.mark.slow
def test_a_full_bridge_gives_both_signs() -> None:
    load = "V: {voltage source: [p]}, L: {inductor: [a, c], L: 0.2 mH, current: i}, R: {resistor: [c, b], R: 2 ohm}"
    signals = f', signals: {{u_1: {PULSE}, u_2: "1 - pulse(1, 0 s, {PERIOD * DUTY} s, {PERIOD} s)"}}'
    model = use("full_bridge", "dc: [p, gnd], out: [a, b]", load, signals + IDEAL)
    run = tg.simulate(model, until=2e-3, inputs={"V": 24.0})
    assert mean_of_last_period(run, "i", PERIOD) == pytest.approx((2 * DUTY - 1) * 24 / 2, rel=1e-4)


@pytest.mark.slow
def test_six_steps_of_an_inverter_have_the_first_harmonic_of_the_book() -> None:
    """Phase to star: 2 V/pi (Mohan, Undeland, Robbins, Power Electronics)."""
    period = 0.02
    gates = ", ".join(
        f'u_{k}: "pulse(1, {((k - 1) / 3 - 1) * period} s, {period / 2} s, {period} s)"' for k in (1, 2, 3)
    )
    loads = ", ".join(f"R_{k}: {{resistor: [a_{k}, star], R: 10 ohm, current: i_{k}}}" for k in (1, 2, 3))
    ports = "dc: [p, gnd], phase_1: a_1, phase_2: a_2, phase_3: a_3"
    model = use("inverter", ports, "V: {voltage source: [p]}, " + loads, f", signals: {{{gates}}}{IDEAL}")
    run = tg.simulate(model, until=2 * period, inputs={"V": 300.0})
    grid = period + (np.arange(6000) + 0.5) * period / 6000
    current = run.resampled(grid).values("i_1")
    harmonic = 2 * np.mean(current * np.exp(-2j * math.pi * grid / period))
    assert abs(harmonic) * 10 == pytest.approx(2 * 300 / math.pi, rel=1e-3)


# Magnetic circuits


def test_a_coil_on_iron_is_an_inductor() -> None:
    text = """\
system: Coil on iron
parts:
  p:    {use: coil_on_core, ports: {electrical: a, core: [m, mgnd]}}
  path: {use: iron_path, ports: {ends: [m, mgnd]}}
network:
  V: {voltage source: [a]}
"""
    model = read_model(text)
    known = parameter_values(model)
    lengths = known["path.l"] / known["path.mu_r"] + known["path.g"]
    reluctance = lengths / (known["path.mu_0"] * known["path.A"])
    system = numeric(model)
    for s in POINTS:
        permeance = 1 / (reluctance + s * known["path.G_e"]) + known["p.P_l"]
        wanted = 1 / (known["p.R"] + s * known["p.N"] ** 2 * permeance)
        assert transfer_at(system, s)[0, 0] == pytest.approx(wanted, rel=1e-9)


def test_two_junction_diodes_on_a_current_pass_its_positive_halves() -> None:
    """Neither current is known by itself, and both are zero at the start: near there 1 is taken from exp(v)."""
    model = read_model(
        "system: Test\nparts:\n  d_1: {use: junction_diode, ports: {ends: [s, plus]}}\n"
        "  d_2: {use: junction_diode, ports: {ends: [gnd, s]}}\n"
        "network: {I: {current source: [gnd, s]}, C: {capacitor: [plus], C: 4.7 mF, voltage: V_c}}"
    )
    run = tg.simulate(model, until=0.04, inputs={"I": tg.sine(1, 50)}, rtol=1e-8)
    charge = 2 * 2 / (2 * math.pi * 50)  # of two half waves
    assert run.final()["V_c"] == pytest.approx(charge / 4.7e-3, rel=1e-6)
    assert abs(run.energy.residual) < 1e-6
