"""Machines and what they drive, by the laws of Kirchhoff and Newton."""

from math import asin, cos, pi, sin

import numpy as np

from systems.foreign.equations import Array, ByHand


def ward_leonard(t: float, y: Array) -> list[float]:
    field, armature, omega = y
    load = 60 if t >= 1 else 0
    return [
        (110 - 80 * field) / 20,
        (1.2 * field * 1450 * pi / 30 - 0.3 * armature - 1.9 * omega) / 6e-3,
        (1.9 * armature - 0.05 * omega - load) / 2.5,
    ]


def swing_equation(t: float, y: Array) -> list[float]:
    delta, omega = y
    grid = 0 if 0.05 <= t <= 0.15 else 3.2e6 * sin(delta)
    return [omega, (1.4e6 - grid - 1e3 * omega) / 26e3]


WINDINGS = np.linalg.inv(np.array([[71.31e-3, 69.31e-3], [69.31e-3, 71.31e-3]]))
MAIN = 2 * pi * 60


def induction_start(t: float, y: Array) -> list[float]:
    """Fluxes as complex numbers, in axes that stand; the rotor sees them turn. The factor of the torque is that of two axes."""
    stator, rotor, omega = complex(y[0], y[1]), complex(y[2], y[3]), y[4]
    flux = np.linalg.inv(WINDINGS) @ np.array([stator, rotor])
    voltage = 220 * complex(cos(MAIN * t), sin(MAIN * t))
    rate = WINDINGS @ np.array([voltage - 0.435 * stator, -0.816 * rotor + 2j * omega * flux[1]])
    torque = 2 * 69.31e-3 * (rotor.conjugate() * stator).imag
    return [rate[0].real, rate[0].imag, rate[1].real, rate[1].imag, (torque - 3e-4 * omega * abs(omega)) / 0.089]


def rikitake(t: float, y: Array) -> list[float]:
    w_1, w_2, i_1, i_2 = y
    return [1 - i_1 * i_2, 1 - i_1 * i_2, w_1 * i_2 - i_1, w_2 * i_1 - i_2]


def reluctance_motor(t: float, y: Array) -> list[float]:
    flux, theta, omega = y
    inductance = 80e-3 + 40e-3 * cos(2 * theta)
    current = flux / inductance
    torque = 0.5 * current**2 * -80e-3 * sin(2 * theta)
    return [160 * sin(100 * pi * t) - 1.5 * current, omega, (torque - 1e-4 * omega - 0.1) / 2e-3]


def stepper(t: float, y: Array) -> list[float]:
    i_1, i_2, omega, theta = y
    u_1, u_2 = 4 - 4 * (t >= 15e-3), 4 * (t >= 5e-3)
    k_1, k_2 = -0.3 * sin(50 * theta), 0.3 * cos(50 * theta)
    held = 0.02 * sin(200 * theta) + 5e-3 * omega
    return [
        (u_1 - 1.6 * i_1 - k_1 * omega) / 3e-3,
        (u_2 - 1.6 * i_2 - k_2 * omega) / 3e-3,
        (k_1 * i_1 + k_2 * i_2 - held) / 3e-5,
        omega,
    ]


def rolling_mill(t: float, y: Array) -> list[float]:
    motor, shaft, pinions, one, roll_1, two, roll_2 = y
    struck = 1.0 if t >= 0.1 else 0.0
    through = shaft + 8e3 * (motor - pinions)
    return [
        (100e3 - through) / 6000,
        12e6 * (motor - pinions),
        (through - one - two) / 900,
        25e6 * (pinions - roll_1),
        (one - 500 * roll_1 - 50e3 * struck) / 400,
        22e6 * (pinions - roll_2),
        (two - 500 * roll_2 - 48e3 * struck) / 420,
    ]


def elevator(t: float, y: Array) -> list[float]:
    omega, rope, v = y[:3]
    torque = 500 * float(np.interp(t, [0.1, 0.3, 0.6, 0.8], [0, 1, 1, 0]))
    force = rope + 2e3 * (0.3 * omega - v)
    return [
        (torque - 5 * omega - 0.3 * force + 0.3 * 1150 * 9.81) / (12 + 1150 * 0.3**2),
        400e3 * (0.3 * omega - v),
        force / 1200 - 9.81,
        v,
        -0.3 * omega,
    ]


SYSTEMS = [
    ByHand("ward_leonard", "i_f i_a omega", ward_leonard, [0, 0, 0], breaks=[1.0], rest=[1.4, 30, 120]),
    ByHand("swing_equation", "delta omega", swing_equation, [asin(1.4 / 3.2), 0], breaks=[0.05, 0.15], rest=[0.45, 0]),
    ByHand(
        "induction_start",
        "machine.i_ds machine.i_qs machine.i_dr machine.i_qr machine.omega",
        induction_start,
        [0] * 5,
    ),
    ByHand("rikitake", "omega_1 omega_2 i_1 i_2", rikitake, [1, 2.5, 1.2, 0.5]),
    ByHand("reluctance_motor", "phi_machine[1] theta_machine[2] omega", reluctance_motor, [0, 0, 314], scale=1e-2),
    ByHand("stepper", "I[1] I[2] omega theta", stepper, [0] * 4, breaks=[5e-3, 15e-3], scale=1e-2),
    ByHand(
        "rolling_mill",
        "omega_m tau_K_m omega_J_p tau_K_1 omega_1 tau_K_2 omega_2",
        rolling_mill,
        [0] * 7,
        breaks=[0.1],
        rest=[2, 1e5, 2, 5e4, 2, 5e4, 2],
    ),
    ByHand("elevator", "omega F_r v h w", elevator, [0] * 5, breaks=[0.1, 0.3, 0.6, 0.8]),
]
