"""Oil, water, blood and air, by balances of volume and of momentum."""

from math import pi, sin, sqrt, tanh

import numpy as np

from systems.foreign.equations import Array, ByHand

RHO_G = 1000 * 9.81
AREAS, HOLES = np.array([28e-4, 32e-4, 28e-4, 32e-4]), np.array([0.071e-4, 0.057e-4, 0.071e-4, 0.057e-4])


def quadruple_tank(t: float, y: Array) -> Array:
    """Levels by Torricelli: what leaves the upper tanks 3 and 4 falls into 1 and 2."""
    level = np.maximum(y / RHO_G, 0)
    out = HOLES * np.sqrt(2 * 9.81 * level)
    one, two = 3.33e-6 * (3.5 if t >= 20 else 3.0), 3.35e-6 * 3
    into = np.array([out[2] + 0.7 * one, out[3] + 0.6 * two, 0.4 * two, 0.3 * one])
    return np.asarray((into - out) / AREAS * RHO_G)


def surge_tank(t: float, y: Array) -> list[float]:
    flow, pressure = y
    return [(1e6 - pressure - 240 * flow * abs(flow)) / (1000 * 4000 / 12), (flow - 14e6 / pressure) * RHO_G / 60]


LUMP_L, LUMP_C, LUMP_R = 1000 * 600 / 0.2 / 6, 0.2 * 600 / (1000 * 1200**2) / 6, 20e3 / 6
FULL = (-LUMP_R * 6 + sqrt((LUMP_R * 6) ** 2 + 4 * 500e3 / 4e-4**2)) / (2 / 4e-4**2)
"""The flow at rest: 500 kPa = R Q + (Q/k)^2."""


def water_hammer(t: float, y: Array) -> Array:
    flow, pressure = y[:6], y[6:]
    shut = 1 - 10 * min(max(t - 0.2, 0), 0.1)
    last = pressure[-1]
    before, behind = (
        np.array([500e3, *pressure[:-1]]),
        np.array([*flow[1:], shut * 4e-4 * np.sign(last) * sqrt(abs(last))]),
    )
    return np.concatenate([(before - pressure - LUMP_R * flow) / LUMP_L, (flow - behind) / LUMP_C])


STILL = [*[FULL] * 6, *(500e3 - LUMP_R * FULL * k for k in range(1, 7))]


def hydrostatic_drive(t: float, y: Array) -> list[float]:
    pressure, omega = y
    stroke, motor = 2 * min(max(t - 0.1, 0), 0.5), 110e-6 / (2 * pi)
    flow = stroke * 28e-6 / (2 * pi) * 60 * pi
    return [
        (flow - 4e-12 * pressure - motor * omega) / 8e-13,
        (motor * pressure - 0.8 * omega - 40 * tanh(omega / 0.5)) / 1.4,
    ]


def engine_power(t: Array, y: Array) -> Array:
    """What the engine gives."""
    return np.asarray(y[0] * 28e-6 / (2 * pi) * 2 * np.clip(t - 0.1, 0, 0.5) * 60 * pi)


def windkessel(t: float, y: Array) -> list[float]:
    bypass, pressure = y
    flow = 350e-6 * max(sin(2 * pi * t / 0.8), 0)
    return [7e6 * (flow - bypass) / 0.7e6, (flow - pressure / 130e6) / 1.2e-8]


def bass_reflex(t: float, y: Array) -> list[float]:
    i, v, force, pressure, out = y
    rate = (120 - 20) / 0.06
    source = 10 * sin(2 * pi * (20 * t + rate * t**2 / 2))
    return [
        (source - 6 * i - 7 * v) / 0.6e-3,
        (7 * i - force - 1.4 * v - 220e-4 * pressure) / 22e-3,
        1100 * v,
        (220e-4 * v - out) / 2.8e-7,
        (pressure - 900 * out) / 110,
    ]


def blow_down(t: float, y: Array) -> list[float]:
    """ISO 6358 with its laminar region: within a thousandth of equal pressures."""
    (mass,) = y
    pressure = mass * 287 * 293.15 / 5e-3
    drop = min((1 - 101325 / pressure) / (1 - 0.4), 1)
    return [-1.5e-8 * 1.185 * pressure * drop * sqrt(2 - drop) / (drop**2 + (1e-3 / 0.6) ** 2) ** 0.25]


FIRST = [level * 1e-2 * RHO_G for level in (12.4, 12.7, 1.8, 1.4)]
AIR = 287 * 293.15 / 5e-3
SYSTEMS = [
    ByHand(
        "quadruple_tank",
        "P_1 P_2 P_3 P_4",
        quadruple_tank,
        FIRST,
        {"h_1": lambda t, y: y[0] / RHO_G},
        breaks=[20],
        rest=FIRST,
        scale=100,
    ),
    ByHand("surge_tank", "Q_t P_s", surge_tank, [10, 0.95e6], rest=[14.8, 0.94e6]),
    ByHand(
        "water_hammer",
        " ".join(f"pipe.{letter}[{k}]" for letter in "QP" for k in range(1, 7)),
        water_hammer,
        STILL,
        breaks=[0.2, 0.3],
    ),
    ByHand(
        "hydrostatic_drive",
        "P omega",
        hydrostatic_drive,
        [0, 0],
        {"power.engine": engine_power},
        breaks=[0.1, 0.6],
        rest=[7e6, 46],
        scale=1.0,
    ),
    ByHand("windkessel", "Q_L P", windkessel, [0, 80 * 133.322387415], breaks=[0.4, 0.8, 1.2, 1.6], scale=1e-4),
    ByHand("bass_reflex", "i v F_K_m P U", bass_reflex, [0] * 5, scale=1e-2),
    ByHand("blow_down", "m_air", blow_down, [7e5 / AIR], {"P": lambda t, y: y[0] * AIR}, scale=1e-2),
]
