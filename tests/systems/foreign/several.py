"""Fields between two domains, by the derivatives of their energies."""

from math import pi, sin

import numpy as np

from systems.foreign.equations import Array, ByHand


def transformer_inrush(t: float, y: Array) -> list[float]:
    """N_1 i_1 = F(Phi) - N_2 i_2: the second winding is wound the other way round, and the core gives -N_2 Phi' to it."""
    flux, second = y
    first = (60 * flux + 7e26 * flux**9 - 100 * second) / 400
    rate = (325 * sin(100 * pi * t) - 0.8 * first) / 400
    return [rate, (-100 * rate - 20.05 * second) / 0.2e-3]


def maglev(t: float, y: Array) -> list[float]:
    flux, x, v = y
    wanted = 1e-3 if t >= 20e-3 else 0
    inductance = 60e-3 + 0.4e-3 / (x + 10e-3)
    slope = -0.4e-3 / (x + 10e-3) ** 2
    current = flux / inductance
    u = 2.712 + 3000 * (x - wanted) + 60 * v
    return [u - 5 * current, v, (60e-3 * 9.81 + 0.5 * current**2 * slope) / 60e-3]


def mems_actuator(t: float, y: Array) -> list[float]:
    charge, x, v, spring = y
    field = charge / 3.5e-18
    return [(0.6 - field * (2e-6 - x)) / 1e5, v, (charge * field / 2 - spring - 2e-7 * v) / 2e-11, v]


def piezo_harvester(t: float, y: Array) -> list[float]:
    """x = s F + d V and q = d F + C V of the stack, with s = 1/K, d = theta/K, C = C_p + theta^2/K: F = K x - theta V."""
    v, force, volts = y
    bent = 0.05 * sin(2 * pi * 85 * t) - v
    out = -volts / 20e3
    rates = np.linalg.solve([[1 / 3e3, 2e-3 / 3e3], [2e-3 / 3e3, 60e-9 + 2e-3**2 / 3e3]], [bent, out])
    return [(force + 0.15 * bent) / 10e-3, *rates]


SYSTEMS = [
    ByHand("transformer_inrush", "Phi_core i_2", transformer_inrush, [0, 0], scale=1e-3),
    ByHand(
        "maglev",
        "phi_magnet[1] z v",
        maglev,
        [54.25e-3, 0, 0],
        {
            "x_magnet[2]": lambda t, y: y[1],
            "u": lambda t, y: 2.712 + 3000 * (y[1] - 1e-3 * (t >= 20e-3)) + 60 * y[2],
        },
        breaks=[20e-3],
        rest=[0.06, 1e-3, 0],
        scale=1e-2,
    ),
    ByHand("mems_actuator", "q_plate[1] x_plate[2] v F_K", mems_actuator, [0] * 4, scale=1e-9),
    ByHand("piezo_harvester", "v F_stack[1] v_p", piezo_harvester, [0] * 3, scale=1e-2),
]
