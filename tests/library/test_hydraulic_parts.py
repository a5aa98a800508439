"""Valves and accumulators of the library against their textbook equations."""

import math

import numpy as np
import pytest

import tellegen as tg
from support.library_use import use, values
from tellegen.model.model import Model

LAMINAR = 1e-4
"""The share of the pressure drop below which the smooth law of an orifice differs from the square root by more than 1e-9."""


@pytest.mark.parametrize("drop", [-80e5, 20e5, 80e5])
def test_an_orifice_passes_the_square_root_of_its_pressure_drop(drop: float) -> None:
    model = use("orifice", "ends: [a, tank]", "P: {pressure source: [a]}", f", P_0: {abs(drop) * LAMINAR} Pa")
    p, run = values(model), tg.simulate(model, until=0.1, inputs={"P": drop})
    wanted = math.copysign(p.C_d * p.A * math.sqrt(2 * abs(drop) / p.rho), drop)
    assert run.final()["Q_P"] == pytest.approx(wanted, rel=1e-8)


@pytest.mark.parametrize(("u", "opened"), [(0.4, 0.4), (-0.25, 0.25), (3.0, 1.0)])
def test_a_servo_valve_feeds_one_side_and_drains_the_other(u: float, opened: float) -> None:
    """Both loads at one pressure: the flow of an edge is that of an orifice, and what goes in at P comes out at T."""
    network = "P: {pressure source: [p]}, P_a: {pressure source: [a]}, P_b: {pressure source: [b]}"
    model = use(
        "servo_valve",
        "supply: p, tank: tank, a: a, b: b",
        network,
        f", signals: {{u: {u}}}, A_0: 1e-16 m^2, P_0: 100 Pa",
    )
    p = values(model)
    run = tg.simulate(model, until=0.1, inputs={"P": 200e5, "P_a": 120e5, "P_b": 120e5})

    def flow(drop: float) -> float:
        return p.C_d * opened * p.A_max * math.sqrt(2 * drop / p.rho)

    fed, drained = flow(80e5), flow(120e5)
    found = run.final()
    # what a source supplies is positive out of it: the fed load takes, the drained one gives
    a, b = (-fed, drained) if u > 0 else (drained, -fed)
    assert (found["Q_P"], found["Q_P_a"], found["Q_P_b"]) == pytest.approx((fed, a, b), rel=1e-5)


def test_a_gas_accumulator_follows_its_polytropic_law() -> None:
    model = use("gas_accumulator", "inlet: a", "Q: {flow source: [a]}")
    p, run = values(model), tg.simulate(model, until=1.0, inputs={"Q": 2e-4}, rtol=1e-9)
    V = run.values("p.V")
    assert V[-1] == pytest.approx(2e-4, rel=1e-8)
    wanted = p.P_0 * (p.V_0 / (p.V_0 - V)) ** p.n
    assert run.values("p.P") == pytest.approx(wanted, rel=1e-8)
    # the work of a polytropic compression
    work = p.P_0 * p.V_0 / (p.n - 1) * ((p.V_0 / (p.V_0 - V[-1])) ** (p.n - 1) - 1)
    assert np.isclose(run.energy.stored, work, rtol=1e-7)


def test_a_cylinder_meets_the_ends_of_its_stroke_and_moves_freely_between_them() -> None:
    sources = "P: {pressure source: [a]}, vent: {leak: [b], G: 1e-9 m^3/(s*Pa)}"
    plain = use("cylinder", "head: a, rod_end: b, rod: x", sources)
    model = use("cylinder", "head: a, rod_end: b, rod: x", sources, ", stops: 1, L: 100 mm, s_0: 40 mm")
    p = values(model)
    run = tg.simulate(model, until=0.6, inputs={"P": 10e5}, rtol=1e-8, samples=60)
    free = tg.simulate(plain, until=0.6, inputs={"P": 10e5}, rtol=1e-8, samples=60).values("p.v")
    s = run.values("p.s")
    between = s < p.L - p.s_0
    assert 5 < between.sum() < 55
    assert run.values("p.v")[between] == pytest.approx(free[between], abs=1e-6)
    # The oil behind the ring has gone at the end: the cushion alone holds the piston.
    assert s[-1] == pytest.approx(p.L - p.s_0 + (p.A_1 * 10e5 - p.A_2 * run.values("p.P_2")[-1]) / p.K, abs=1e-9)
    assert abs(run.energy.residual) < 1e-7


def test_a_spool_follows_as_a_system_of_second_order_and_no_faster_than_its_stage() -> None:
    network = "P: {pressure source: [s]}, A: {pressure source: [a]}, B: {pressure source: [b]}"
    ports, pressures = "supply: s, tank: tank, a: a, b: b", {"P": 100e5, "A": 40e5, "B": 60e5}
    small = use("servo_valve_with_spool", ports, network, ", signals: {u: 'step(0.1, start=1 ms)'}")
    p, run = values(small), tg.simulate(small, until=0.02, inputs=pressures, rtol=1e-9, samples=50)
    t = np.maximum(run.t - 1e-3, 0)
    damped = p.omega_n * math.sqrt(1 - p.zeta**2)
    swing = np.cos(damped * t) + p.zeta * p.omega_n / damped * np.sin(damped * t)
    y = 0.1 * (1 - np.exp(-p.zeta * p.omega_n * t) * swing)
    assert run.values("p.y") == pytest.approx(y, abs=1e-8)
    area = p.A_0 + p.A_max * run.final()["p.y"]
    across = 60e5 / (60e5**2 + p.P_0**2) ** 0.25
    leak = p.C_d * p.A_0 * math.sqrt(2 / p.rho) * 40e5 / (40e5**2 + p.P_0**2) ** 0.25
    through = p.C_d * area * math.sqrt(2 / p.rho) * across + leak
    assert run.final()["Q_P"] == pytest.approx(through, rel=1e-6)
    large = use("servo_valve_with_spool", ports, network, ", v_max: 50 s^-1, signals: {u: 'step(5, start=1 ms)'}")
    run = tg.simulate(large, until=0.05, inputs=pressures, rtol=1e-9)
    assert max(run.values("p.v")) == pytest.approx(50, rel=1e-6)
    assert run.final()["p.y"] == pytest.approx(1, abs=1e-4), "more than full there is not"


def test_a_load_sensing_pump_gives_its_load_the_margin_and_no_more_than_the_cut_off() -> None:
    """An adjusted orifice before the load: its flow depends on the margin, not on the load, until the pump cuts off."""
    oil = "C: {accumulator: [o], C: 1e-12}, C_l: {accumulator: [l], C: 1e-12}"
    network = f"W: {{speed source: [w]}}, {oil}, adjusted: {{leak: [o, l], G: 1e-10}}"
    for load in (5e-11, 2e-11, 0.0):
        model = use(
            "load_sensing_pump", "shaft: w, hydraulic: [o, tank], load: l", f"{network}, load: {{leak: [l], G: {load}}}"
        )
        p, found = values(model), tg.simulate(model, until=3.0, inputs={"W": 150.0}, rtol=1e-9).final()
        taken = load + p.G_l
        P_l = 1e-10 * p.P_m / taken
        P = P_l + p.P_m
        if p.P_max < P:
            P, P_l = p.P_max, p.P_max * 1e-10 / (1e-10 + taken)
        a = (taken * P_l + p.G * P) / (p.D * 150 / (2 * math.pi))
        if a < p.a_min:  # shut off: what the smallest stroke still gives finds its way through the leaks
            a = p.a_min
            P = a * p.D * 150 / (2 * math.pi) / (p.G + 1e-10 * taken / (1e-10 + taken))
        assert (found["p.a"], found["P_C"]) == pytest.approx((a, P), rel=1e-5)
        assert found["tau_W"] == pytest.approx(a * p.D / (2 * math.pi) * P + p.b * 150, rel=1e-5)


def line(network: str, more: str = "") -> Model:
    return use("line_with_waves", "in: a, out: b", network, more)


def test_a_wave_in_a_line_comes_later_and_doubles_at_a_shut_end() -> None:
    model = line(
        "P: {pressure source: [a]}, C: {leak: [b], G: 1e-30}",
        ", nu: 1e-12 m^2/s",
    )
    p = values(model)
    T = p.l / math.sqrt(p.beta / p.rho)
    run = tg.simulate(model, until=2.9 * T, inputs={"P": "10 bar*sin(200 s^-1*t)^2"}, rtol=1e-8, samples=200)
    arrived = np.maximum(run.t - T, 0)
    # Until the echo of the source comes back, twice what was sent.
    assert run.values("p.P_2") == pytest.approx(2e6 * np.sin(200 * arrived) ** 2, abs=20)
    assert abs(run.energy.residual) < 1e-7


def test_a_valve_that_shuts_at_once_hammers_as_joukowsky_says() -> None:
    model = line("P: {pressure source: [a]}, Q: {flow source: [b]}", ", nu: 1e-12 m^2/s, P_i: 20 bar")
    p = values(model)
    speed = math.sqrt(p.beta / p.rho)
    flow = 1e-4
    shut = {"P": 20e5, "Q": f"-{flow} m^3/s*step(1, start=0.2 s) + {flow} m^3/s*step(1, start=0.21 s)"}
    run = tg.simulate(model, until=0.22, inputs=shut, rtol=1e-8, samples=500)
    rise = p.rho * speed * flow / (math.pi * p.d**2 / 4)
    flowing = (run.t > 0.2005) & (run.t < 0.2095)
    assert run.values("p.P_2")[flowing] == pytest.approx(20e5 - rise, rel=1e-6)
    after = run.t > 0.2105
    assert run.values("p.P_2")[after] == pytest.approx(20e5, rel=1e-6)


def test_a_step_runs_to_and_fro_in_a_line_without_losing_its_edge() -> None:
    """Nothing smooths it: after many echoes it is as sharp, and comes when it must."""
    model = line("P: {pressure source: [a]}, Q: {flow source: [b]}", ", nu: 1e-12 m^2/s")
    p = values(model)
    T = p.l / math.sqrt(p.beta / p.rho)
    run = tg.simulate(model, until=25 * T, inputs={"P": "step(1 bar)", "Q": 0.0}, samples=300)
    passed = run.t / T
    wanted = np.where(np.floor((passed + 1) / 2) % 2 == 1, 2e5, 0)
    off_edge = np.abs(passed - np.round(passed)) > 1e-6
    assert run.values("p.P_2")[off_edge] == pytest.approx(wanted[off_edge], abs=1)


def test_a_steady_flow_through_a_line_loses_what_poiseuille_says() -> None:
    model = line("P: {pressure source: [a]}, R: {hydraulic resistor: [b], R: 1e10}")
    p = values(model)
    found = tg.simulate(model, until=3.0, inputs={"P": 50e5}, rtol=1e-8).final()
    friction = 128 * p.rho * p.nu * p.l / (math.pi * p.d**4)
    assert found["Q_P"] == pytest.approx(50e5 / (1e10 + friction), rel=1e-5)
