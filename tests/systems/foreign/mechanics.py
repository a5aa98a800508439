"""Masses, springs, wheels and weights, by the laws of Newton."""

from math import cos, exp, pi, sin, sqrt

from systems.foreign.equations import Array, ByHand

TUNED = 6e3 * 800e3 / (200e3 * 1.03**2)
TUNED_LOSS = 2 * 6e3 * sqrt(800e3 / 200e3) / 1.03 * sqrt(3 * 0.03 / (8 * 1.03**3))


def tuned_mass_damper(t: float, y: Array) -> list[float]:
    v, tower, spring, u = y
    between = spring + TUNED_LOSS * (v - u)
    return [
        (10e3 * sin(2 * pi * 0.31 * t) - tower - 4e3 * v - between) / 200e3,
        800e3 * v,
        TUNED * (v - u),
        between / 6e3,
    ]


def storeys(t: float, y: Array) -> list[float]:
    forces, speeds = y[:3], y[3:]
    below = [0.2 * sin(2 * pi * 1.5 * t), *speeds[:2]]
    columns = [f + 200e3 * (low - v) for f, low, v in zip(forces, below, speeds, strict=True)]
    above = [*columns[1:], 0]
    return [60e6 * (low - v) for low, v in zip(below, speeds, strict=True)] + [
        (c - a) / 100e3 for c, a in zip(columns, above, strict=True)
    ]


def half_car(t: float, y: Array) -> list[float]:
    tyre_f, wheel_f, strut_f, tyre_r, wheel_r, strut_r, v, omega = y
    road_f, road_r = float(0.1 <= t < 0.15), float(0.235 <= t < 0.285)
    front, rear = v + 1.2 * omega, v - 1.5 * omega
    f, r = strut_f + 1300 * (wheel_f - front), strut_r + 1400 * (wheel_r - rear)
    return [
        180e3 * (road_f - wheel_f),
        (tyre_f - f) / 40,
        20e3 * (wheel_f - front),
        180e3 * (road_r - wheel_r),
        (tyre_r - r) / 42,
        22e3 * (wheel_r - rear),
        (f + r) / 700,
        (1.2 * f - 1.5 * r) / 1100,
    ]


def wheelset(t: float, y: Array) -> list[float]:
    y_, psi, v, omega, spring, yaw = y
    return [
        v,
        omega,
        (2 * 6.2e6 * (psi - v / 35) - spring) / 1250,
        (-2 * 7.4e6 * (0.75**2 * omega / 35 + 0.75 * 0.15 * y_ / 0.45) - yaw) / 700,
        0.23e6 * v,
        2.5e6 * omega,
    ]


def bristle_block(t: float, y: Array) -> list[float]:
    bristles, spring, v = y
    carried = 1 + 0.5 * exp(-((v / 1e-3) ** 2))
    bent = v - abs(v) * bristles / carried
    return [1e5 * bent, 2 * (0.1 - v), spring - bristles - 316 * bent - 0.4 * v]


def bungee(t: float, y: Array) -> list[float]:
    x, v = y
    taut = x > 20
    rope = 90 * (x - 20) + 15 * v if taut else 0
    return [v, 9.81 - (rope + 0.25 * v * abs(v)) / 75]


def watt_governor(t: float, y: Array) -> list[float]:
    """Lagrange with T = (J + m l^2 sin(phi)^2) omega^2/2 + m l^2 phi'^2/2 and V = -m g l cos(phi)."""
    omega, rise, phi = y
    ball = 4 * 0.4**2
    torque = 220 * cos(phi) - 90 - (10 if t >= 1 else 0) - 2.5 * omega
    return [
        (torque - 2 * ball * sin(phi) * cos(phi) * rise * omega) / (6 + ball * sin(phi) ** 2),
        (ball * sin(phi) * cos(phi) * omega**2 - 4 * 9.81 * 0.4 * sin(phi) - 8 * rise) / ball,
        rise,
    ]


SYSTEMS = [
    ByHand("tuned_mass_damper", "v F_K F_k v_m", tuned_mass_damper, [0] * 4, scale=1e-2),
    ByHand("storeys", "F[1] F[2] F[3] v[1] v[2] v[3]", storeys, [0] * 6),
    ByHand(
        "half_car",
        "F_tf v_wf F_K_sf F_tr v_wr F_K_sr v omega",
        half_car,
        [0] * 8,
        breaks=[0.1, 0.15, 0.235, 0.285],
        rest=[0] * 8,
    ),
    ByHand(
        "wheelset",
        "y psi v omega F_spring tau_yaw",
        wheelset,
        [0, 0, 0.1, 0, 0, 0],
        scale=1e-3,
    ),
    ByHand("bristle_block", "F_z F_K v", bristle_block, [0, 0, 0], stiff=True, scale=1e-2),
    ByHand("bungee", "x v", bungee, [0, 0], {"x_rope": lambda t, y: y[0]}, rest=[28, 0]),
    ByHand("watt_governor", "omega w_phi phi", watt_governor, [6, 0, pi / 4], breaks=[1.0], rest=[6.8, 0, 1.0]),
]
