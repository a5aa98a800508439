"""Brakes, gears with a choice, valves that hold, cells, brushless motors and heat pumps against independent calculations."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.interpolate import PchipInterpolator, RegularGridInterpolator
from scipy.optimize import brentq, fsolve

import tellegen as tg
from support.library_use import use, values
from tellegen.notations.reading import read_model


def test_a_brake_slows_a_shaft_and_then_holds_it() -> None:
    model = use(
        "brake",
        "shaft: w",
        "T: {torque source: [w]}, J: {inertia: [w], J: 1 kg*m^2, initial: 20 rad/s}",
        ", signals: {p: 'step(5 bar, start=0.1 s)'}",
    )
    p = values(model)
    run = tg.simulate(model, until=1.5, inputs={"T": 10.0}, rtol=1e-9, samples=300)
    capacity = 2 * p.mu * p.r_m * p.A * 5e5
    inertia = 1.0 + p.J
    first = 20.0 + 10.0 / inertia * 0.1
    stop = 0.1 + first * inertia / (capacity - 10.0)
    t = run.t
    wanted = np.where(t < 0.1, 20 + 10 / inertia * t, np.maximum(0, first - (capacity - 10) / inertia * (t - 0.1)))
    assert stop < 1.4
    assert run.values("omega_J" if "omega_J" in run.names else "p.omega") == pytest.approx(wanted, abs=1e-6)


@pytest.mark.parametrize(("ratio", "taken"), [(2.0, 2.0), (5.0, 2.5), (0.1, 0.5)])
def test_a_variable_transmission_takes_the_ratio_that_it_can(ratio: float, taken: float) -> None:
    network = "W: {angular velocity source: [a]}, T: {torque source: [b]}"
    model = use("cvt", "input: a, output: b", network, f", b_1: 1e-12, b_2: 1e-12, signals: {{ratio: {ratio}}}")
    p = values(model)
    found = tg.simulate(model, until=2.0, inputs={"W": 100.0, "T": -30.0}, rtol=1e-9).final()
    torque = 30.0 / taken
    assert found["p.omega_2"] == pytest.approx((100.0 - p.s * torque) / taken, rel=1e-6)
    assert found["tau_W"] == pytest.approx(torque, rel=1e-6)


@pytest.mark.parametrize(
    ("load", "pilot", "valve"), [(150e5, 0.0, 0.0), (150e5, 20e5, 0.0), (150e5, 15e5, 10e5), (50e5, 0.0, 80e5)]
)
def test_a_counterbalance_valve_holds_until_load_and_pilot_open_it(load: float, pilot: float, valve: float) -> None:
    network = "L: {pressure source: [l]}, V: {pressure source: [v]}, P: {pressure source: [q]}"
    model = use("counterbalance_valve", "load: l, valve: v, pilot: q", network)
    p = values(model)
    found = tg.simulate(model, until=0.1, inputs={"L": load, "P": pilot, "V": valve}).final()
    opening = min(1.0, max(0.0, (load + p.phi * pilot - p.P_s) / p.P_r))
    assert found["p.opening"] == pytest.approx(opening)

    def flow(area: float, drop: float) -> float:
        return float(p.C_d * area * math.sqrt(2 / p.rho) * drop / (drop**2 + p.P_0**2) ** 0.25)

    wanted = flow(p.A_0 + p.A_max * opening, load - valve) - flow(p.A_max, max(0.0, valve - load))
    # What the source of the valve's side gives comes in there.
    assert -found["Q_V"] == pytest.approx(wanted, rel=1e-9)


def test_a_stream_takes_more_heat_the_faster_it_is() -> None:
    model = use(
        "convection",
        "surface: s, stream: f",
        "S: {temperature source: [s]}, F: {temperature source: [f]}",
        ", signals: {w: 3 m/s}",
    )
    p = values(model)
    found = tg.simulate(model, until=1.0, inputs={"S": 40.0, "F": 15.0}).final()
    assert found["Q_S"] == pytest.approx(p.A * (p.h_0 + p.h_1 * 3**0.8) * 25.0, rel=1e-9)


def test_a_heat_pump_needs_the_power_that_its_lift_asks_for() -> None:
    network = "H: {temperature source: [h]}, C: {temperature source: [c]}"
    model = use("heat_pump", "warm: h, cold: c", network, ", signals: {P: 2 kW}")
    p = values(model)
    rest = tg.simulate(model, until=600.0, inputs={"H": 35.0, "C": 2.0}, rtol=1e-10).final()

    def surplus(gain: float) -> float:
        warm, cold = 35.0 + gain * 2000.0 / p.G_h, 2.0 - (gain - 1) * 2000.0 / p.G_c
        return min(p.COP_max, p.eta * (p.T_a + warm) / max(warm - cold, 1.0)) - gain

    gain = brentq(surplus, 1.0, p.COP_max)
    assert rest["p.COP"] == pytest.approx(gain, rel=1e-6)
    assert (-rest["Q_H"], rest["Q_C"]) == pytest.approx((gain * 2000.0, (gain - 1) * 2000.0), rel=1e-5)


MAPPED = """
system: Test
signals: {{{signals}}}
parts: {{p: {{use: heat_pump_by_map, ports: {{warm: h, cold: c}}, signals: {{{given}}}}}}}
network: {{H: {{temperature source: [h]}}, C: {{temperature source: [c]}}}}
"""


@pytest.mark.parametrize("own", [False, True], ids=["its map", "the user's"])
def test_a_heat_pump_by_map_brings_what_its_data_sheet_says(own: bool) -> None:
    rows, columns = [-15, -7, 2, 7, 12], [35, 45, 55]
    heat = np.array([[4.6, 4.3, 4], [6.2, 5.9, 5.6], [8, 7.6, 7.2], [9, 8.6, 8.2], [10, 9.6, 9.2]]) * 1e3
    gain = np.array(
        [[2.77, 2.39, 2.11], [3.30, 2.75, 2.38], [4.20, 3.33, 2.79], [4.95, 3.77, 3.08], [6.03, 4.34, 3.43]]
    )
    signals, given = "", "u: 0.7"
    if own:
        gain = 1 + gain / 2
        places = ", ".join(f"{key}: {[f'{x} K' for x in at]}" for key, at in (("rows", rows), ("columns", columns)))
        signals = f"mine: {{map: {{{places}, values: {gain.tolist()}}}, at: [p.T_c, p.T_h]}}"
        given = "u: 0.7, COP: mine"
    model = read_model(MAPPED.format(signals=signals, given=given))
    p = values(model)
    found = tg.simulate(model, until=600.0, inputs={"H": 38.0, "C": 4.0}, rtol=1e-9).final()
    brought, coefficient = (RegularGridInterpolator((rows, columns), x) for x in (heat, gain))

    def rest(y: np.ndarray) -> list[float]:
        warm, cold = y
        Q = 0.7 * float(brought([cold, warm])[0])
        lifted = Q - Q / float(coefficient([cold, warm])[0])
        return [p.G_h * (warm - 38) - Q, p.G_c * (4 - cold) - lifted]

    warm, cold = fsolve(rest, [40.0, 1.0], xtol=1e-12)
    assert (found["p.T_h"], found["p.T_c"]) == pytest.approx((warm, cold), rel=1e-6)
    Q = 0.7 * float(brought([cold, warm])[0])
    assert found["p.P"] == pytest.approx(Q / float(coefficient([cold, warm])[0]), rel=1e-6)
    assert -found["Q_H"] == pytest.approx(Q, rel=1e-5)


@pytest.mark.parametrize("current", [-20.0, 0.05, 10.0])
def test_brushes_drop_two_volts_at_any_current(current: float) -> None:
    model = use("brushes", "plus: a, minus: gnd", "I: {current source: [gnd, a]}")
    p = values(model)
    found = tg.simulate(model, until=0.1, inputs={"I": current}).final()
    wanted = p.V_b * math.tanh(current / p.i_0) + p.R_b * current
    assert abs(found["V_I"]) == pytest.approx(abs(wanted), rel=1e-9)


def test_a_cell_empties_warms_and_keeps_its_books() -> None:
    network = "I: {current source: [a, gnd]}, G: {thermal conductor: [cell], G: 0.2 W/K}"
    model = use("lithium_cell", "terminals: a, cooling: cell", network)
    p, run = values(model), tg.simulate(model, until=900.0, inputs={"I": 5.0}, rtol=1e-9)

    def rate(_: float, y: np.ndarray) -> list[float]:
        _, v_1, v_2, warm = y
        R = p.R_0 * math.exp(p.a * (1 / (p.T_a + warm) - 1 / p.T_0))
        heat = R * 25.0 + v_1**2 / p.R_1 + v_2**2 / p.R_2
        return [-5 / p.Q, (5 - v_1 / p.R_1) / p.C_1, (5 - v_2 / p.R_2) / p.C_2, (heat - 0.2 * warm) / p.C_th]

    s, v_1, v_2, warm = solve_ivp(rate, (0, 900), [p.s_0, 0, 0, 0], rtol=1e-11, atol=1e-12).y[:, -1]
    final = run.final()
    assert (final["p.s"], final["p.v_1"], final["p.v_2"]) == pytest.approx((s, v_1, v_2), rel=1e-6)
    assert final["p.T_cell"] == pytest.approx(warm, rel=1e-6)
    # At this state of charge the table is a cubic between inner points, as SciPy has it.
    rest = float(PchipInterpolator([0, 0.05, 0.2, 0.5, 0.8, 1], [2.8, 3.3, 3.55, 3.7, 3.95, 4.2])(s))
    wanted = rest - 5 * p.R_0 * math.exp(p.a * (1 / (p.T_a + warm) - 1 / p.T_0)) - v_1 - v_2
    assert abs(final["V_I"]) == pytest.approx(wanted, rel=1e-6)


@pytest.mark.parametrize("angle", [0.1, 0.9, 2.0])
def test_a_brushless_motor_pulls_by_trapezoids(angle: float) -> None:
    network = (
        "I_a: {current source: [s, a]}, I_b: {current source: [s, b]}, I_c: {current source: [s, c]}, "
        "g: {resistor: [s], R: 1 ohm}, W: {angular velocity source: [w]}"
    )
    model = use("bldc", "phase_1: a, phase_2: b, phase_3: c, star: s, shaft: w", network)
    p = values(model)
    found = tg.simulate(
        model, until=1e-3, inputs={"I_a": 3.0, "I_b": -3.0, "I_c": 0.0, "W": 0.0}, initial={"p.theta": angle}
    ).final()

    def trapezoid(x: float) -> float:
        x = math.remainder(x, 2 * math.pi)
        # A line through zero up to 30 degrees, flat to 150 degrees, and back.
        return math.copysign(min(1.0, abs(x) / (math.pi / 6), (math.pi - abs(x)) / (math.pi / 6)), x)

    phases = [p.K * trapezoid(p.p * angle - 2 * math.pi * k / 3) for k in range(3)]
    assert abs(found["tau_W"]) == pytest.approx(abs(3.0 * phases[0] - 3.0 * phases[1]), abs=1e-9)


def test_a_harmonic_drive_gives_way_and_hardens() -> None:
    model = use(
        "harmonic_drive", "generator: g, output: f", "W: {angular velocity source: [g]}, T: {torque source: [f]}"
    )
    p = values(model)
    rest = tg.simulate(model, until=5.0, inputs={"W": 0.0, "T": 100.0}, rtol=1e-9, initial={"p.x": 0.0}).final()
    twist = brentq(lambda x: p.K_1 * x + p.K_3 * x**3 - 100.0, 0, 0.1)
    assert abs(rest["p.x"]) == pytest.approx(twist, rel=1e-5)
    turning = tg.simulate(model, until=5.0, inputs={"W": 300.0, "T": -50.0}, rtol=1e-9).final()
    assert turning["p.omega_f"] == pytest.approx(3.0, rel=1e-6)
    assert turning["tau_W"] == pytest.approx(50.0 / p.n + p.b_g * 300.0 + p.tau_c, rel=1e-5)
