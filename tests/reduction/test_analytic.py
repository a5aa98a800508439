"""Limits taken in equations where they are hard: laws that are not linear, inertias that freeze together, rates of inputs."""

from math import inf

import numpy as np
import pytest
from numpy.typing import NDArray

import tellegen as tg
from oracles.limits_in_equations import reduce_equations
from support.networks import agree
from tellegen.equations.system import EquationSystem, MatrixName
from tellegen.expressions import is_zero, parse
from tellegen.expressions.elimination import with_definitions
from tellegen.notations.reading import read_model

Array = NDArray[np.float64]

BENT = """
system: bent
parameters: {b: 1 N*s/m, c: 2, m: 1 kg, M: 3 kg, K: 5 N/m}
network:
  F: {force source: [frame, a]}
  M: {mass: [a], velocity: v_M}
  K: {spring: [a, b], force: F_K}
  m: {mass: [b], velocity: v_m}
  d: {damper: [b, frame], law: F = b*v + c*v^3}
"""
STIFFENING = """
system: stiffening
parameters: {b: 1 N*s/m, c: 2, k: 3, m: 1 kg, M: 3 kg}
network:
  F: {force source: [frame, a]}
  M: {mass: [a], velocity: v_M}
  S: {spring: [a, b], law: F = k*x + c*x^3}
  m: {mass: [b], velocity: v_m}
  d: {damper: [b, frame], b: b}
"""


def gains(system: EquationSystem, s: float, inputs: list[str]) -> Array:
    """C (s L + A)^-1 (B + s B_1) + D + s D_1 between some inputs and their outputs."""
    values, n, m = system.values(), len(system.states), len(system.inputs)

    def matrix(name: MatrixName, rows: int, columns: int) -> Array:
        entries = [[with_definitions(e, system.where).evaluate(values) for e in row] for row in system.matrices[name]]
        return np.array(entries, dtype=float).reshape(rows, columns)

    driven = matrix("B", n, m) + s * matrix("B_1", n, m)
    found = matrix("C", m, n) @ np.linalg.solve(s * matrix("L", n, n) + matrix("A", n, n), driven)
    order = [system.inputs.index(name) for name in inputs]
    whole: Array = (found + matrix("D", m, m) + s * matrix("D_1", m, m))[np.ix_(order, order)]
    return whole


def test_massless_body_on_a_curved_damper_is_an_unknown() -> None:
    model = read_model(BENT)
    found = reduce_equations(tg.derive(model), {"m": 0}).equations
    assert found.states == ("v_M", "F_K")
    assert found.inputs == ("F",)
    assert found.algebraic.unknowns == ("v_m",)
    assert agree([[found.algebraic.residuals[0]]], [["b*v_m + c*v_m^3 - F_K"]])
    other = tg.reduce(model, {"m": 0}).equations
    same = {"v_d": parse("v_m")}
    assert is_zero(other.algebraic.residuals[0].substitute(same) - found.algebraic.residuals[0])
    assert [e.substitute(same) for e in other.vectors["f"]] == list(found.vectors["f"])
    assert other.matrices["A"] == found.matrices["A"]


def test_massless_body_behind_a_curved_spring_is_solved_for() -> None:
    """The force of the spring is curved, but the speed follows from it through a linear damper."""
    model = read_model(STIFFENING)
    found, other = reduce_equations(tg.derive(model), {"m": 0}).equations, tg.reduce(model, {"m": 0}).equations
    assert found.algebraic.unknowns == ()
    values = {**found.values(), "v_M": 0.7, "F": 0.3}
    for name in found.states:
        values.setdefault(name, 0.4)
    assert found.states == other.states
    for system in (found, other):
        assert system.inputs == ("F",)
    rates = []
    for system in (found, other):
        x = np.array([values[name] for name in system.states])
        L, A, B = (
            np.array([[e.evaluate(values) for e in row] for row in system.matrices[name]]) for name in ("L", "A", "B")
        )
        f = np.array([e.evaluate(values) for e in system.vectors["f"]])
        rates.append(np.linalg.solve(L, -A @ x + B @ np.array([values["F"]]) - f))
    np.testing.assert_allclose(rates[0], rates[1], rtol=1e-12)


def test_inertias_joined_by_an_infinite_one_freeze_together() -> None:
    model = tg.load("planetary_gear")
    full = tg.derive(model)
    assert not is_zero(full.matrices["L"][0][1])
    found, other = reduce_equations(full, {"J_s": inf}).equations, tg.reduce(model, {"J_s": inf}).equations
    assert len(found.states) == len(other.states) == 1
    assert found.inputs == (*full.inputs, "omega_c_frozen")
    for s in (0.5, 20.0):
        driven = list(full.inputs)
        np.testing.assert_allclose(gains(found, s, driven), gains(other, s, driven), rtol=1e-9, atol=1e-12)


def test_what_holds_a_frozen_combination_counts_the_rates_of_what_shares_its_inertia() -> None:
    """omega_s = (k + 1) times the frozen combination, so the torque that holds it is counted (k + 1) times."""
    model = tg.load("planetary_gear")
    found, other = (
        reduce_equations(tg.derive(model), {"J_s": inf}).equations,
        tg.reduce(model, {"J_s": inf}).equations,
    )
    ratio = model.parameters["k"].expression
    assert ratio is not None
    scale = 1 + ratio.evaluate({})
    for s in (0.5, 20.0):
        held = gains(found, s, ["tau_s", "tau_c", "omega_c_frozen"])[2, :2]
        torque = gains(other, s, ["tau_s", "tau_c", "omega_s"])[2, :2]
        np.testing.assert_allclose(held, scale * torque, rtol=1e-9)


@pytest.mark.parametrize("limits", [{"C_2": 0.0}, {"C_1": 0.0}, {"C_1": 0.0, "C_2": 0.0}])
def test_source_that_drives_dependent_storages(limits: dict[str, float]) -> None:
    """Outputs hold quotients of the capacitances before the limit, and none of them afterwards."""
    model = read_model("""
system: divider
parameters: {C_1: 1 F, C_2: 2 F, R: 3 ohm, L: 1 H}
network:
  V: {voltage source: [a, gnd]}
  C_1: {capacitor: [a, b]}
  C_2: {capacitor: [b, gnd]}
  L: {inductor: [b, c]}
  R: {resistor: [c, gnd]}
""")
    full = tg.derive(model)
    assert not full.is_zero("B_1")
    found, other = reduce_equations(full, limits).equations, tg.reduce(model, limits).equations
    for s in (0.5, 20.0):
        np.testing.assert_allclose(gains(found, s, ["V"]), gains(other, s, ["V"]), rtol=1e-9, atol=1e-12)


def test_a_field_that_loses_rank_beside_a_curved_law() -> None:
    """The current that the coils do not see is an unknown of the curved resistor; their sum is the state."""
    model = read_model("""
system: coupled
parameters: {L: 2 H, M: 0.5 H, r: 1, c: 2}
network:
  V_1: {voltage source: [a, gnd]}
  V_2: {voltage source: [b, gnd]}
  R_1: {resistor: [a, c], law: v = r*i + c*i^3}
  R_2: {resistor: [b, d], R: 2 ohm}
  X: {inductor field: [c, gnd, d, gnd], current: [I_1, I_2], matrix: [[L, M], [M, L]]}
""")
    found, other = reduce_equations(tg.derive(model), ["M=L"]).equations, tg.reduce(model, ["M=L"]).equations
    assert found.states == other.states == ("I_1_r",)
    assert found.algebraic.unknowns == ("I_2",)
    # The state of the equations is the sum of the currents, that of the model its half.
    I_1, I_2, V_2 = 0.7, -0.2, 0.4
    V_1 = V_2 - 2 * I_2 + I_1 + 2 * I_1**3
    one = {**found.values(), "I_1_r": I_1 + I_2, "I_2": I_2, "V_1": V_1, "V_2": V_2}
    two = {**other.values(), "I_1_r": (I_1 + I_2) / 2, "I_R_1": I_1, "V_1": V_1, "V_2": V_2}
    assert found.algebraic.residuals[0].evaluate(one) == pytest.approx(0, abs=1e-12)
    assert other.algebraic.residuals[0].evaluate(two) == pytest.approx(0, abs=1e-12)
    rates = []
    for system, values in ((found, one), (other, two)):
        B, u = system.matrices["B"][0], (V_1, V_2)
        driven = sum(e.evaluate(values) * x for e, x in zip(B, u, strict=True)) - system.vectors["f"][0].evaluate(
            values
        )
        driven -= system.matrices["A"][0][0].evaluate(values) * values["I_1_r"]
        rates.append(driven / system.matrices["L"][0][0].evaluate(values))
    assert rates[0] == pytest.approx(2 * rates[1])
    assert rates[0] == pytest.approx((V_1 - I_1 - 2 * I_1**3) / 2)
