"""Vessels, chambers, valves and cylinders for air against closed forms and against an integration of the textbook's equations."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import tellegen as tg
from support.library_use import use, values
from tellegen.notations.reading import read_model
from tellegen.schemes.translation import Notation

R, T, ATMOSPHERE = 287.0, 293.15, 101325.0


def potential(pressure: float) -> float:
    return R * T * math.log(pressure / ATMOSPHERE)


def mass_flow(C: float, b: float, before: float, behind: float) -> float:
    """ISO 6358 at the temperature of reference, from the higher pressure to the lower one."""
    if behind > before:
        return -mass_flow(C, b, behind, before)
    r = behind / before
    return C * before * 1.185 * (1.0 if r <= b else math.sqrt(1 - ((r - b) / (1 - b)) ** 2))


@pytest.mark.parametrize("ends", [(7e5, 1.5e5), (7e5, 5e5), (1.2e5, 6e5), (2e5, 3e5), (7e5, 7e5)])
def test_a_valve_passes_what_the_standard_says_choked_or_not_either_way(ends: tuple[float, float]) -> None:
    network = "P: {gas potential source: [a]}, P_b: {gas potential source: [b]}"
    model = use("gas_valve", "ends: [a, b]", network, ", signals: {u: 0.5}, d: 1e-7")
    p = values(model)
    run = tg.simulate(model, until=0.01, inputs={"P": potential(ends[0]), "P_b": potential(ends[1])})
    wanted = 0.5 * mass_flow(p.C, p.b, *ends)
    assert run.final()["dm_P"] == pytest.approx(wanted, rel=1e-6, abs=1e-12)


def test_a_vessel_is_filled_at_the_speed_of_sound_then_slower() -> None:
    model = read_model(
        "system: Test\nparts: {p: {use: gas_vessel, ports: {gas: a}}, valve: {use: gas_valve, d: 1e-5, ports: {ends: [s, a]}}}\n"
        "network: {P: {gas potential source: [s]}}"
    )
    p, supply = values(model), 7e5
    run = tg.simulate(model, until=0.4, inputs={"P": potential(supply)}, rtol=1e-9)
    # while it is choked the pressure is a straight line
    slope = 2e-8 * supply * 1.185 * R * T / p.V
    choked = run.t < (0.3 * supply - ATMOSPHERE) / slope
    assert choked.sum() > 5
    assert run.values("p.P")[choked] == pytest.approx(ATMOSPHERE + slope * run.t[choked], rel=1e-7)
    found = solve_ivp(
        lambda _, P: [R * T / p.V * mass_flow(2e-8, 0.3, supply, P[0])], (0, 0.3), [ATMOSPHERE], rtol=1e-10, atol=1e-3
    )
    assert np.interp(0.3, run.t, run.values("p.P")) == pytest.approx(found.y[0, -1], rel=1e-4)


def test_an_emptied_vessel_loses_what_its_air_could_do() -> None:
    """Into the atmosphere all of P V ln(P/P_0) - (P - P_0) V is lost: the work of air at the temperature of its surroundings."""
    model = read_model(
        "system: Test\nparts: {p: {use: gas_vessel, P_i: 7 bar, ports: {gas: a}},\n"
        "  valve: {use: gas_valve, ports: {ends: [a, atmosphere]}}}"
    )
    p, run = values(model), tg.simulate(model, until=2.0, rtol=1e-9)
    assert run.final()["p.P"] == pytest.approx(ATMOSPHERE, rel=1e-5)
    work = p.V * (7e5 * math.log(7e5 / ATMOSPHERE) - (7e5 - ATMOSPHERE))
    assert run.energy.dissipated == pytest.approx(work, rel=1e-6)
    assert abs(run.energy.residual) < 1e-7


def test_a_shut_chamber_is_a_gas_spring() -> None:
    """Pushed by hand, its air obeys P V = const, and takes the work of an isothermal compression less that of the atmosphere."""
    model = use("gas_chamber", "piston: x", "v: {velocity source: [x]}", ", s_0: 40 mm")
    p, run = values(model), tg.simulate(model, until=0.3, inputs={"v": -0.1}, rtol=1e-10)
    V_1, V_2 = p.V_d + p.A * p.s_0, p.V_d + p.A * (p.s_0 - 0.03)
    P = ATMOSPHERE * V_1 / V_2
    assert run.final()["p.P"] == pytest.approx(P, rel=1e-8)
    # the source that moves it supplies the force against the piston
    assert run.final()["F_v"] == pytest.approx(-(P - ATMOSPHERE) * p.A, rel=1e-8)
    work = ATMOSPHERE * V_1 * math.log(V_1 / V_2) - ATMOSPHERE * (V_1 - V_2)
    assert run.energy.supplied == pytest.approx(work, rel=1e-7)


DRIVEN = """
system: Test
parts:
  line: {use: gas_supply, ports: {gas: s}}
  valve: {use: gas_directional_valve, C: 4e-9 m^3/(s*Pa), signals: {u: 1}, ports: {supply: s, a: a, b: b}}
  p: {use: pneumatic_cylinder, s_0: 20 mm, F_c: 0 N, ports: {head: a, rod_end: b, rod: x}}
network:
  F: {force source: [x]}
"""


@pytest.mark.slow
def test_a_cylinder_goes_as_its_textbook_equations_do_and_stops_at_its_end() -> None:
    model = read_model(DRIVEN)
    p, load, C = values(model), -100.0, 4.001e-9
    run = tg.simulate(model, until=0.4, inputs={"F": load}, rtol=1e-8)

    def rate(_: float, y: np.ndarray) -> list[float]:
        P_1, P_2, s, v = y
        flow_1 = mass_flow(C, 0.3, 7e5, P_1) - mass_flow(1e-12, 0.3, P_1, ATMOSPHERE)
        flow_2 = mass_flow(1e-12, 0.3, 7e5, P_2) - mass_flow(C, 0.3, P_2, ATMOSPHERE)
        V_1, V_2 = p.V_d + p.A_1 * (0.02 + s), p.V_d + p.A_2 * (0.08 - s)
        force = p.A_1 * (P_1 - ATMOSPHERE) - p.A_2 * (P_2 - ATMOSPHERE) - p.b * v + load
        rise_1, rise_2 = R * T * flow_1 - P_1 * p.A_1 * v, R * T * flow_2 + P_2 * p.A_2 * v
        return [rise_1 / V_1, rise_2 / V_2, v, force / p.M]

    end = 0.06
    found = solve_ivp(rate, (0, end), [ATMOSPHERE, ATMOSPHERE, 0, 0], method="LSODA", rtol=1e-9, atol=1e-9)
    own = [np.interp(end, run.t, run.values(name)) for name in ("p.P_1", "p.P_2", "p.s")]
    # psi is laminar within a thousandth of equal pressures, which the formula of the standard is not
    assert own == pytest.approx(found.y[:3, -1], rel=3e-3)
    assert 0 < found.y[2, -1] < 0.08  # still on its way
    pushed = p.A_1 * (7e5 - ATMOSPHERE) + load
    assert run.final()["p.s"] == pytest.approx(0.08 + pushed / p.K, abs=2e-5)
    assert abs(run.energy.residual) < 1e-6


@pytest.mark.parametrize("n", [1.05, 1.4])
def test_a_shut_polytropic_chamber_is_a_stiffer_spring_and_warms(n: float) -> None:
    model = use("polytropic_chamber", "piston: x", "v: {velocity source: [x]}", f", s_0: 40 mm, n: {n}")
    p, run = values(model), tg.simulate(model, until=0.3, inputs={"v": -0.1}, rtol=1e-10)
    V_1, V_2 = p.V_d + p.A * p.s_0, p.V_d + p.A * (p.s_0 - 0.03)
    P = ATMOSPHERE * (V_1 / V_2) ** n
    assert run.final()["p.P"] == pytest.approx(P, rel=1e-8)
    assert run.final()["p.T_g"] == pytest.approx(T * (V_1 / V_2) ** (n - 1), rel=1e-8)
    assert run.final()["F_v"] == pytest.approx(-(P - ATMOSPHERE) * p.A, rel=1e-8)
    work = (P * V_2 - ATMOSPHERE * V_1) / (n - 1) - ATMOSPHERE * (V_1 - V_2)
    assert run.energy.supplied == pytest.approx(work, rel=1e-6)


def test_a_polytropic_cylinder_moves_as_the_equations_of_the_book() -> None:
    model = read_model(
        """
system: Test
parts:
  line: {use: gas_supply, ports: {gas: s}}
  valve: {use: gas_directional_valve, C: 4e-9 m^3/(s*Pa), signals: {u: 1}, ports: {supply: s, a: a, b: b}}
  p: {use: polytropic_cylinder, n: 1.35, s_0: 20 mm, F_c: 0 N, ports: {head: a, rod_end: b, rod: x}}
"""
    )
    p, run = values(model), tg.simulate(model, until=0.04, rtol=1e-9, samples=40)

    def rates(_: float, y: np.ndarray) -> list[float]:
        m_1, m_2, s, v = y
        V_1, V_2 = p.V_d + p.A_1 * (p.s_0 + s), p.V_d + p.A_2 * (p.L - p.s_0 - s)
        P_1, P_2 = (ATMOSPHERE * (m * R * T / (ATMOSPHERE * V)) ** p.n for m, V in ((m_1, V_1), (m_2, V_2)))
        force = p.A_1 * (P_1 - ATMOSPHERE) - p.A_2 * (P_2 - ATMOSPHERE) - p.b * v
        return [mass_flow(4e-9, 0.3, 7e5, P_1), -mass_flow(4e-9, 0.3, P_2, ATMOSPHERE), v, force / p.M]

    start = [
        ATMOSPHERE * (p.V_d + p.A_1 * p.s_0) / (R * T),
        ATMOSPHERE * (p.V_d + p.A_2 * (p.L - p.s_0)) / (R * T),
        0,
        0,
    ]
    book = solve_ivp(rates, (0, 0.04), start, t_eval=run.t, rtol=1e-10, atol=1e-14).y
    assert book[2][-1] < p.L - p.s_0, "before it meets its end"
    assert run.values("p.s") == pytest.approx(
        book[2], abs=2e-3 * max(book[2])
    )  # near equal pressures the valve is laminar
    assert abs(run.energy.residual) < 1e-6


# -- gas with a temperature of its own -----------------------------------------------------------------------------------------

WARMS = """
system: Test
parts:
  p: {use: thermal_chamber, s_0: 40 mm, ports: {gas: a, piston: x, wall: w}}
network:
  v: {velocity source: [x]}
  dm: {mass flow source: [atmosphere, a]}
  w: {temperature source: [w]}
experiment: {until: 0.6 s, inputs: {v: "sine(0.1 m/s, 2 Hz)", dm: "sine(4e-5 kg/s, 1 Hz)", w: 20 K}}
"""
C_V = 718.0


def test_a_chamber_warms_by_work_by_what_comes_in_and_by_its_wall() -> None:
    """The first law of the book for mass and temperature; what enters is as warm as the surroundings."""
    model = read_model(WARMS)
    p, run = values(model), tg.simulate(model, rtol=1e-9, samples=40)

    def rates(t: float, y: np.ndarray) -> list[float]:
        m, warm, x = y
        v, dm = 0.1 * math.sin(4 * math.pi * t), 4e-5 * math.sin(2 * math.pi * t)
        pressure = m * R * warm / (p.V_d + p.A * x)
        heat = (C_V + R) * max(dm, 0) * (T - warm) + R * warm * dm - pressure * p.A * v - p.G * (warm - T - 20)
        return [dm, heat / (m * C_V), v]

    start = [ATMOSPHERE * (p.V_d + p.A * p.s_0) / (R * T), T, p.s_0]
    book = solve_ivp(rates, (0, 0.6), start, t_eval=run.t, rtol=1e-11, atol=1e-14, max_step=0.01).y
    assert run.values("p.T_g") == pytest.approx(book[1], rel=1e-7)
    assert run.values("p.P") == pytest.approx(book[0] * R * book[1] / (p.V_d + p.A * book[2]), rel=1e-7)
    assert abs(run.energy.residual) < 1e-6


def test_a_shut_chamber_without_a_wall_is_adiabatic() -> None:
    model = use("thermal_chamber", "piston: x", "v: {velocity source: [x]}", ", s_0: 40 mm")
    p, run = values(model), tg.simulate(model, until=0.3, inputs={"v": -0.1}, rtol=1e-10)
    ratio, kappa = (p.V_d + p.A * p.s_0) / (p.V_d + p.A * (p.s_0 - 0.03)), 1 + R / C_V
    assert run.values("p.P")[-1] == pytest.approx(ATMOSPHERE * ratio**kappa, rel=1e-8)
    assert run.values("p.T_g")[-1] == pytest.approx(T * ratio ** (kappa - 1), rel=1e-8)


@pytest.mark.parametrize("notation", ["network", "bond", "pog"])
def test_a_chamber_that_warms_moves_alike_in_every_notation(notation: Notation) -> None:
    model = read_model(WARMS)
    written = read_model(tg.translate(model, notation))
    assert not [finding for finding in tg.check(written).findings if finding.severity != "notice"]
    one, two = (tg.simulate(m, rtol=1e-9, samples=10) for m in (model, written))
    for name in ("p.T_g", "p.P", "p.Q", "p.dm"):
        assert two.values(name) == pytest.approx(one.values(name), rel=1e-6, abs=1e-7 * np.abs(one.values(name)).max())


@pytest.mark.parametrize("joined", [True, False])
def test_the_gas_of_an_accumulator_warms_and_comes_back_to_its_wall(joined: bool) -> None:
    wall = ", wall: ambient" if joined else ""
    model = use("thermal_accumulator", "inlet: i" + wall, "Q: {flow source: [tank, i]}", ", tau: 0.5 s")
    p, run = values(model), tg.simulate(model, until=1.0, inputs={"Q": tg.sine(2e-4, 1)}, rtol=1e-9, samples=40)

    def rates(t: float, y: np.ndarray) -> list[float]:
        V, warm = y
        flow, capacity = 2e-4 * math.sin(2 * math.pi * t), p.P_0 * p.V_0 / ((p.kappa - 1) * p.T)
        pressure = p.P_0 * p.V_0 / p.T * warm / (p.V_0 - V)
        return [flow, pressure * flow / capacity - (joined * (warm - p.T) / p.tau)]

    book = solve_ivp(rates, (0, 1), [0, p.T], t_eval=run.t, rtol=1e-11, atol=1e-14).y
    assert run.values("p.T_g") == pytest.approx(book[1], rel=1e-7)
    assert run.values("p.P") == pytest.approx(p.P_0 * p.V_0 / p.T * book[1] / (p.V_0 - book[0]), rel=1e-7)
    assert run.values("p.V") == pytest.approx(book[0], abs=1e-7 * max(book[0]))
    assert abs(run.energy.residual) < 1e-6


@pytest.mark.parametrize("ends", ["[atmosphere, a]", "[a, atmosphere]"])
def test_a_valve_lets_air_in_from_the_atmosphere_at_either_end(ends: str) -> None:
    model = use("gas_valve", f"ends: {ends}", "P: {gas potential source: [a]}", ", d: 1e-7")
    run = tg.simulate(model, until=0.01, inputs={"P": potential(0.9e5)})
    assert abs(run.final()["dm_P"]) == pytest.approx(mass_flow(2e-8, 0.3, ATMOSPHERE, 0.9e5), rel=1e-6)
