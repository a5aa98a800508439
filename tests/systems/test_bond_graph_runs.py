"""Bond graphs in time: constraint forces of residual sinks, moduli that read states, detectors in a loop, energy of an IC field.

Expected values are closed forms: first-order responses and the balance of forces.
"""

from math import exp

import pytest

import tellegen
from notations.bond_graph.test_bond_graphs_vectors import MAGNET, SPEED_CONTROL
from tellegen.notations.reading import read_model

RIGID = """
system: two masses that move as one
parameters: {m_1: 1 kg, m_2: 2 kg, b: 1 N*s/m}
bond graph:
  - Se:F -> 1:a (v, translational) -> I:m_1
  - a -> 0:joint -> 1:c -> I:m_2
  - c -> R:b
  - joint -> rSe:force
"""
EXCITED = """
system: separately excited motor
parameters: {L_a: 2 mH, R_a: 1 ohm, L_f: 0.5 H, R_f: 20 ohm, k: 0.1 H, J: 1e-3 kg*m^2, b: 1e-3 N*m*s}
bond graph:
  - Se:V_f -> 1:f (I_f) -> I:L_f
  - f -> R:R_f
  - Se:V_a -> 1:a (I_a) -> I:L_a
  - a -> R:R_a
  - a -> MGY:motor -> 1:w (omega)
  - w -> I:J
  - w -> R:b
elements: {motor: {K: k*I_f}}
"""
RTOL = 1e-9


def test_a_residual_sink_reads_the_force_that_holds_two_masses_together() -> None:
    """(m_1 + m_2) v' = F - b v, and the joint carries m_2 v' + b v."""
    run = tellegen.simulate(read_model(RIGID), until=3.0, inputs={"F": 1.0}, rtol=RTOL)
    v = 1 - exp(-1.0)
    assert float(run["v"][-1]) == pytest.approx(v, rel=20 * RTOL)
    assert float(run["F_force"][-1]) == pytest.approx(2 * (1 - v) / 3 + v, rel=100 * RTOL)


def test_a_modulus_that_reads_a_state_neither_makes_nor_loses_power() -> None:
    run = tellegen.simulate(read_model(EXCITED), until=0.05, inputs={"V_f": 20.0, "V_a": 10.0}, rtol=RTOL)
    assert float(run["I_f"][-1]) == pytest.approx(1 - exp(-2.0), rel=20 * RTOL)
    assert abs(run.energy.residual) < 1e-6


def test_a_detector_feeds_the_controller_with_the_speed() -> None:
    """In steady state k_p (100 - omega) = R I + K omega and K I = b omega."""
    run = tellegen.simulate(read_model(SPEED_CONTROL), until=1.0, rtol=RTOL)
    omega = 100 * 0.5 / (0.5 + 0.1 + 1.0 * 1e-3 / 0.1)
    assert float(run["speed"][-1]) == pytest.approx(omega, rel=1e-6)
    assert float(run["omega"][-1]) == float(run["speed"][-1])


def test_the_energy_books_of_an_ic_field_close() -> None:
    run = tellegen.simulate(read_model(MAGNET), until=0.05, inputs={"V": 1.0, "F": 0.2}, rtol=RTOL)
    phi, x, v = (float(run[name][-1]) for name in ("phi_magnet[1]", "x_magnet[2]", "v"))
    assert run.energy.stored == pytest.approx(0.05 * v**2 + phi**2 * (0.005 + x) / 0.2, rel=1e-6)
    assert abs(run.energy.residual) < 1e-6
