"""The parts of the corking machine against the matrices of the paper (Mechatronics 24, 2014)."""

import random

import numpy as np
import pytest
from numpy.typing import NDArray

import tellegen as tg
from tellegen.equations.system import EquationSystem

Array = NDArray[np.float64]


def numbers(system: EquationSystem, values: dict[str, float]) -> dict[str, Array]:
    point = dict(values)
    for name, expression in system.where.items():
        point[name] = expression.evaluate(point)
    return {
        name: np.array([[entry.evaluate(point) for entry in row] for row in matrix])
        for name, matrix in system.matrices.items()
    }


def test_the_shaft_has_equations_3_and_4() -> None:
    system = tg.derive("corking_shaft")
    assert system.states == ("omega_te", "omega_tr", "F_se", "F_sr", "v_a", "omega_a")
    assert system.inputs == ("tau_te", "tau_tr", "F_x", "F_theta")
    generator = random.Random(7)
    for _ in range(5):
        v = {name: generator.uniform(0.5, 2.0) for name in system.parameters}
        s, c, r = np.sin(v["alpha"]), np.cos(v["alpha"]), v["r_a"]
        H_1 = np.array([[r * c, 0], [r * s, 0], [0, r], [0, 0]])
        H_2 = np.array([[-s, r * c], [c, r * s], [0, r], [1, 0]]).T
        T_s = np.array([[1.0, 0, 0, 0], [0, 0, 1, 0]])
        D_s = np.diag([0.0, v["d_se"], 0, v["d_sr"]])
        B_2, B_a = np.diag([v["b_2e"], v["b_2r"]]), np.diag([v["b_m"], v["b_j"]])
        expected_A = np.block(
            [
                [B_2 + H_1.T @ D_s @ H_1, H_1.T @ T_s.T, -H_1.T @ D_s @ H_2.T],
                [-T_s @ H_1, np.zeros((2, 2)), T_s @ H_2.T],
                [-H_2 @ D_s @ H_1, -H_2 @ T_s.T, B_a + H_2 @ D_s @ H_2.T],
            ]
        )
        inertias = [v["J_2e"], v["J_2r"], 1 / v["K_se"], 1 / v["K_sr"], v["m_a"], v["J_a"]]
        expected_B = np.zeros((6, 4))
        expected_B[[0, 1, 4, 5], [0, 1, 2, 3]] = 1
        m = numbers(system, v)
        assert m["L"] == pytest.approx(np.diag(inertias), rel=1e-12)
        assert m["A"] == pytest.approx(expected_A, rel=1e-12, abs=1e-14)
        assert m["B"] == pytest.approx(expected_B)
        assert m["C"] == pytest.approx(expected_B.T)


def test_the_motor_has_a_positive_inductance_and_a_torque_vector_of_zero_sum() -> None:
    system = tg.derive("pmsm")
    assert system.states == ("I_1", "I_2", "I_3", "omega")
    assert system.inputs == ("V_1", "V_2", "V_3", "tau")
    values = system.values() | {"theta": 0.37}
    m = numbers(system, values)
    inductances = np.linalg.eigvalsh(m["L"][:3, :3])
    L_e, M_0 = values["L_e"], values["M_0"]
    assert inductances == pytest.approx([L_e - M_0, L_e + M_0 / 2, L_e + M_0 / 2])
    K = m["A"][:3, 3]
    p, phi = values["p"], values["phi_c"]
    assert K.sum() == pytest.approx(0, abs=1e-12)
    assert pytest.approx(1.5 * (p * phi) ** 2) == K @ K


def test_two_axes_see_a_constant_torque_after_the_congruent_transformation() -> None:
    """Turned with the rotor, the torque vector becomes (0, sqrt(3/2) p phi_c, 0)."""
    system = tg.derive("pmsm")
    values = system.values()
    p, phi = values["p"], values["phi_c"]
    for theta in (0.0, 0.4, 2.0):
        angles = p * theta - np.arange(3) * 2 * np.pi / 3
        park = np.sqrt(2 / 3) * np.column_stack([np.cos(angles), -np.sin(angles), np.full(3, np.sqrt(0.5))])
        m = numbers(system, values | {"theta": theta})
        assert park.T @ park == pytest.approx(np.eye(3), abs=1e-12)
        assert park.T @ m["A"][:3, 3] == pytest.approx([0, np.sqrt(1.5) * p * phi, 0], abs=1e-12)


def test_the_energy_of_coupled_coils_counts_their_mutual_part() -> None:
    system = tg.derive("pmsm")
    assert system.stored_energy is not None
    values = system.values() | {"I_1": 1.0, "I_2": -2.0, "I_3": 0.5, "omega": 3.0, "theta": 0.1}
    x = np.array([1.0, -2.0, 0.5, 3.0])
    assert system.stored_energy.evaluate(values) == pytest.approx(x @ numbers(system, values)["L"] @ x / 2)


def test_the_whole_machine_is_two_motors_and_the_transmission() -> None:
    """Each motor turns with the speed that the transmission takes, and feels the torque that it asks for."""
    machine, motor, transmission = map(tg.derive, ("corking_machine_extended", "pmsm", "corking_transmission"))
    currents = [[f"I_{axis}{k}" for k in (1, 2, 3)] + [f"omega_{axis}"] for axis in "er"]
    assert machine.states == (*currents[0], *currents[1], *transmission.states)
    assert machine.inputs == ("V_e1", "V_e2", "V_e3", "V_r1", "V_r2", "V_r3", "F_x", "F_theta")
    angles = {"theta_e": 0.3, "theta_r": -0.7}
    m = numbers(machine, machine.values() | angles)
    t = numbers(transmission, transmission.values())
    assert m["L"][8:, 8:] == pytest.approx(t["L"])
    assert m["A"][8:, 8:] == pytest.approx(t["A"])
    for k, angle in enumerate(angles.values()):
        own = numbers(motor, motor.values() | {"theta": angle})
        here = slice(4 * k, 4 * k + 4)
        assert m["L"][here, here] == pytest.approx(own["L"])
        assert m["A"][here, here] == pytest.approx(own["A"])
        assert m["A"][4 * k + 3, 8:] == pytest.approx(t["C"][k])
        assert m["A"][8:, 4 * k + 3] == pytest.approx(-t["B"][:, k])
    assert m["B"][8:, 6:] == pytest.approx(t["B"][:, 2:])
