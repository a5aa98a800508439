"""Circuits of others, by the laws of Kirchhoff."""

from math import exp, pi, sin, sqrt

import numpy as np

from systems.foreign.equations import Array, ByHand


def chua(t: float, y: Array) -> list[float]:
    v_1, v_2, i = y
    inner, outer = -0.8, -0.5
    given = inner * v_1 if abs(v_1) <= 1 else outer * v_1 + (inner - outer) * (1 if v_1 > 0 else -1)
    return [9 * (0.7 * (v_2 - v_1) - given), 0.7 * (v_1 - v_2) - i, 7 * v_2]


def van_der_pol(t: float, y: Array) -> list[float]:
    i, v = y
    return [(-v - 20 * i + 150 * i - 50e3 * i**3) / 10e-3, i / 1e-6]


def colpitts(t: float, y: Array) -> list[float]:
    i, v_ce, v_be = y
    base = max(v_be - 0.75, 0) / 100
    return [(5 - v_ce + v_be - 35 * i) / 98.5e-6, (i - 200 * base) / 54e-9, ((5 - v_be) / 400 - i - base) / 54e-9]


def nerve_line(t: float, y: Array) -> list[float]:
    v, i = y
    u = v / 65e-3
    pushed = 3e-3 if 1e-6 <= t < 2e-6 else 0.0
    return [(pushed - 1e-3 * (u - 1.2 * u**2 + 0.4 * u**3) - i) / 10e-9, (v - 20 * i - 0.13) / 20e-6]


def hodgkin_huxley(t: float, y: Array) -> list[float]:
    """In millivolts and milliseconds, as printed there."""
    u, n, m, h = y[0] * 1e3, *y[1:]
    current = (
        (10.0 if 1e-3 <= t < 11e-3 else 0.0) - 120 * m**3 * h * (u - 115) - 36 * n**4 * (u + 12) - 0.3 * (u - 10.613)
    )
    return [
        current,
        1e3 * (0.01 * (10 - u) / (exp((10 - u) / 10) - 1) * (1 - n) - 0.125 * exp(-u / 80) * n),
        1e3 * (0.1 * (25 - u) / (exp((25 - u) / 10) - 1) * (1 - m) - 4 * exp(-u / 18) * m),
        1e3 * (0.07 * exp(-u / 20) * (1 - h) - h / (exp((30 - u) / 10) + 1)),
    ]


def cuk_converter(t: float, y: Array) -> list[float]:
    i_1, v_1, i_2, v_2 = y
    d = 0.4 if t < 2e-3 else 0.5
    return [
        (24 - 0.05 * i_1 - (1 - d) * v_1) / 200e-6,
        ((1 - d) * i_1 - d * i_2) / 20e-6,
        (d * v_1 - v_2) / 150e-6,
        (i_2 - v_2 / 8) / 47e-6,
    ]


def sepic(t: float, y: Array) -> list[float]:
    """The output is at the diode while the switch is open; both coils carry current all the time."""
    i_1, i_2, v_1, v_2 = y
    if t % 10e-6 < 4.5e-6:
        return [(12 - 0.1 * i_1) / 100e-6, v_1 / 80e-6, -i_2 / 10e-6, -v_2 / 6 / 100e-6]
    return [(12 - 0.1 * i_1 - v_1 - v_2) / 100e-6, -v_2 / 80e-6, i_1 / 10e-6, (i_1 + i_2 - v_2 / 6) / 100e-6]


def llc_tank(t: float, y: Array) -> list[float]:
    i_r, v_r, i_m, v_o = y
    source = 200 * sin(2 * pi * 90e3 * t)
    return [
        (source - 0.1 * i_r - v_r - 8 * v_o) / 25e-6,
        i_r / 40e-9,
        8 * v_o / 125e-6,
        (8 * (i_r - i_m) - v_o / 1.2) / 1e-6,
    ]


def josephson(t: float, y: Array) -> list[float]:
    """Flux and voltage: I = C v' + v/R + I_c sin(2 pi phi/Phi_0)."""
    phi, v = y
    return [v, (120e-6 - v / 3 - 100e-6 * sin(2 * pi * phi / 2.067833848e-15)) / 1e-12]


def telegraph_line(t: float, y: Array) -> Array:
    current, voltage = y[:8], y[8:]
    source = 10 if 0.1e-6 <= t < 0.6e-6 else 0
    before = np.array([source - 25 * current[0], *voltage[:-1]])
    behind = np.array([*current[1:], voltage[-1] / 120])
    rates = (before - voltage - 0.5 * current) / 2.5e-6, (current - behind - 0.125e-3 * voltage) / 1e-9
    return np.concatenate(rates)


def marx_generator(t: float, y: Array) -> Array:
    """Node voltages from a conductance matrix: a_1 to a_4 are nodes 0 to 3, b_1 to b_4 nodes 4 to 7, the gap's end node 8.

    Each capacitor imposes a voltage between a_k and b_k, so that its current is an unknown too.
    """
    fired = t >= 0.3e-3
    size = 13
    matrix, right = np.zeros((size, size)), np.zeros(size)

    def conductor(one: int, two: int, g: float) -> None:
        for a, b in ((one, two), (two, one)):
            if a >= 0:
                matrix[a, a] += g
                if b >= 0:
                    matrix[a, b] -= g

    conductor(0, -1, 1e-3)
    right[0] += 10e3 * 1e-3
    conductor(4, -1, 1)
    for k in range(3):
        conductor(k, k + 1, 1e-4)
        conductor(4 + k, 5 + k, 1e-4)
        conductor(k, 5 + k, 0.2 * fired)
    conductor(3, 8, 0.2 * fired)
    conductor(8, -1, 1 / 60)
    right[8] += y[4] / 60
    for k in range(4):
        matrix[k, 9 + k], matrix[4 + k, 9 + k] = 1, -1
        matrix[9 + k, k], matrix[9 + k, 4 + k] = 1, -1
        right[9 + k] = y[k]
    found = np.linalg.solve(matrix, right)
    return np.array([*found[9:] / 20e-9, ((found[8] - y[4]) / 60 - y[4] / 300) / 1e-9])


def tesla_coil(t: float, y: Array) -> Array:
    v_1, v_2, i_1, i_2 = y
    mutual = 0.2 * sqrt(50e-6 * 25e-3)
    fluxes = np.linalg.solve([[50e-6, mutual], [mutual, 25e-3]], [v_1 - 0.3 * i_1, v_2 - 150 * i_2])
    return np.array([-i_1 / 10e-9, -i_2 / 20e-12, *fluxes])


PERIODS = [k * 10e-6 + on for k in range(20) for on in (0, 4.5e-6)][1:]
SYSTEMS = [
    ByHand("chua", "v_1 v_2 i_L", chua, [0.1, 0, 0.3], rest=[1.4, 0, 1.0], settles=False),
    ByHand(
        "van_der_pol",
        "i v_C",
        van_der_pol,
        [0, 1e-3],
        {"power.tube": lambda t, y: -150 * y[0] ** 2 + 50e3 * y[0] ** 4},
        rest=[0, 0],
        settles=False,
        scale=1e-2,
    ),
    ByHand(
        "colpitts",
        "i_L v_CE v_BE",
        colpitts,
        [0, 0, 0.7],
        {"i_B": lambda t, y: (y[2] > 0.75) * (y[2] - 0.75) / 100},
        rest=[1e-2, 5, 0.8],
        settles=False,
    ),
    ByHand("nerve_line", "v i", nerve_line, [0, 0], breaks=[1e-6, 2e-6], rest=[0.12, -3e-4], scale=1e-3),
    ByHand(
        "hodgkin_huxley",
        "v n m h",
        hodgkin_huxley,
        [0, 0.3177, 0.0529, 0.5961],
        {"i_Na": lambda t, y: 0.12 * y[2] ** 3 * y[3] * (y[0] - 0.115)},
        breaks=[1e-3, 11e-3],
        rest=[1e-6, 0.3177, 0.0529, 0.5961],
        scale=1e-1,
    ),
    ByHand("cuk_converter", "i_1 v_1 i_2 v_2", cuk_converter, [0] * 4, breaks=[2e-3], rest=[3, 48, 3, 24]),
    ByHand("sepic", "i_1 i_2 v_1 v_2", sepic, [1, 1.5, 12, 9], breaks=PERIODS),
    ByHand("llc_tank", "i_r v_r i_m v_o", llc_tank, [0] * 4),
    ByHand("josephson", "phi v", josephson, [0, 0], scale=1e-15),
    ByHand(
        "telegraph_line",
        " ".join(f"{letter}[{k}]" for letter in "iv" for k in range(1, 9)),
        telegraph_line,
        [0] * 16,
        breaks=[0.1e-6, 0.6e-6],
        rest=[0] * 16,
    ),
    ByHand("marx_generator", "v[1] v[2] v[3] v[4] v_l", marx_generator, [0] * 5, breaks=[0.3e-3]),
    ByHand("tesla_coil", "v_1 v_2 i_1 i_2", tesla_coil, [10e3, 0, 0, 0], rest=[0] * 4),
]
