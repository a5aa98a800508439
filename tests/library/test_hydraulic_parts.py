"""Valves and accumulators of the library against their textbook equations."""

import math

import numpy as np
import pytest

import tellegen as tg
from support.library_use import use, values

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
