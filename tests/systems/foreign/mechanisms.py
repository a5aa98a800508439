"""Bodies and joints, by the equations of Lagrange."""

from math import cos, hypot, pi, sin

import numpy as np

from systems.foreign.equations import Array, ByHand

G = 9.81


def hoisting_crane(t: float, y: Array) -> list[float]:
    """The load is at x + l cos(theta), l sin(theta); theta counts from the level."""
    theta, length, v, omega, rate = y[1:]
    c, s = cos(theta), sin(theta)
    drive, winch = (1500 if 0.2 <= t < 1.2 else 0), 14715 + (300 if t >= 0.5 else 0)
    trolley, load = 800, 1500
    mass = np.array(
        [
            [trolley + load, -load * length * s, load * c],
            [-load * length * s, load * length**2, 0],
            [load * c, 0, load],
        ]
    )
    # What is left of the acceleration of the load where no speed changes, along x and y.
    a_x, a_y = -2 * rate * omega * s - length * omega**2 * c, 2 * rate * omega * c - length * omega**2 * s
    force = [
        drive - 200 * v - load * a_x,
        -load * length * (-s * a_x + c * (a_y + G)),
        -winch - load * (c * a_x + s * (a_y + G)),
    ]
    return [v, omega, rate, *np.linalg.solve(mass, force)]


def ball_and_beam(t: float, y: Array) -> list[float]:
    theta, s, omega, v = y
    torque = 0.15 * sin(2 * pi * t) - 0.01 * omega
    return [
        omega,
        v,
        (torque - 2 * 0.05 * s * v * omega - 0.05 * G * s * cos(theta)) / (0.02 + 2e-6 + 0.05 * s**2),
        0.05 * (s * omega**2 - G * sin(theta)) / (0.05 + 2e-6 / 0.01**2),
    ]


def double_pendulum_cart(t: float, y: Array) -> list[float]:
    p, q, v, w, u = y[1:]
    cart, m, n, one, two = 2.0, 0.4, 0.3, 0.5, 0.4
    half = m * one / 2 + n * one
    mass = np.array(
        [
            [cart + m + n, -half * sin(p), -n * two / 2 * sin(q)],
            [-half * sin(p), m * one**2 / 3 + n * one**2, n * one * two / 2 * cos(p - q)],
            [-n * two / 2 * sin(q), n * one * two / 2 * cos(p - q), n * two**2 / 3],
        ]
    )
    pushed = 20 if 0.1 <= t < 0.3 else 0
    force = [
        pushed - 0.5 * v + half * cos(p) * w**2 + n * two / 2 * cos(q) * u**2,
        -n * one * two / 2 * sin(p - q) * u**2 - half * G * cos(p) - 0.005 * w - 0.004 * (w - u),
        n * one * two / 2 * sin(p - q) * w**2 - n * two / 2 * G * cos(q) - 0.004 * (u - w),
    ]
    return [v, w, u, *np.linalg.solve(mass, force)]


LINE = (0.5**2 - 0.2**2) / (2 * 0.2)
"""Where the straight line of Peaucellier is: (L^2 - s^2)/(2 c). The pen is at LINE tan(gamma/2) above the axis."""


def peaucellier(t: float, y: Array) -> list[float]:
    gamma, omega, spring = y
    H = LINE / (2 * cos(gamma / 2) ** 2)
    slope = H * np.tan(gamma / 2)
    return [omega, (0.5 - 0.05 * omega - H * spring - 1.5 * H * slope * omega**2) / (0.01 + 1.5 * H**2), 40 * H * omega]


def falling_ladder(t: float, y: Array) -> list[float]:
    phi, omega = y
    return [omega, -1.5 * G / 3 * cos(phi)]


def strut(phi: float, omega: float) -> tuple[float, float, float]:
    """Length of the strut from (0.2, 0.25) to 0.3 along the arm, its slope by the angle, and its pull."""
    x, z = 0.3 * cos(phi) - 0.2, 0.3 * sin(phi) - 0.25
    length = hypot(x, z)
    slope = (-x * 0.3 * sin(phi) + z * 0.3 * cos(phi)) / length
    return length, slope, 90e3 * (length - 0.31) + 3e3 * slope * omega


def swing_arm(t: float, y: Array) -> list[float]:
    phi, omega = y
    _, slope, pull = strut(phi, omega)
    kick = 2e3 if 0.05 <= t < 0.07 else 0
    return [omega, (kick * 0.55 * cos(phi) - 18 * G * 0.44 * cos(phi) - slope * pull) / (0.9 + 18 * 0.44**2)]


def elastic_pendulum(t: float, y: Array) -> list[float]:
    x, z, v, u = y
    pull = 29.43 * (1 - 1 / hypot(x, z))
    return [v, u, -pull * x, -pull * z - G]


def kapitza_pendulum(t: float, y: Array) -> list[float]:
    phi, omega = y[1:]
    rate = 2 * pi * 60
    up = -8e-3 * rate**2 * sin(rate * t)
    return [8e-3 * rate * cos(rate * t), omega, -(G + up) / 0.2 * cos(phi) - 2e-4 * omega / (0.1 * 0.2**2)]


def reaction_wheel(t: float, y: Array) -> list[float]:
    phi, _, omega, wheel, i = y
    slip = wheel - omega
    drive = 0.05 * i - 1e-5 * slip
    u = 6 if 0.1 <= t < 0.4 else 0
    arm = 1e-3 + 0.2 * 0.125**2 + 0.1 * 0.25**2
    weight = (0.2 * 0.125 + 0.1 * 0.25) * G * cos(phi)
    return [omega, wheel, (-weight - 1e-4 * omega - drive) / arm, drive / 1e-4, (u - 3 * i - 0.05 * slip) / 1e-3]


SYSTEMS = [
    ByHand(
        "hoisting_crane",
        "x theta l v rope.omega v_l",
        hoisting_crane,
        [0, -pi / 2 + 0.02, 8, 0, 0, 0],
        breaks=[0.2, 0.5, 1.2],
    ),
    ByHand("ball_and_beam", "theta s omega v", ball_and_beam, [0, 0.1, 0, 0]),
    ByHand(
        "double_pendulum_cart",
        "x phi_1 phi_2 v w_1 w_2",
        double_pendulum_cart,
        [0, -pi / 2, -pi / 2 + 0.3, 0, 0, 0],
        breaks=[0.1, 0.3],
    ),
    ByHand("peaucellier", "gamma omega F_y", peaucellier, [-0.2, 0, 0]),
    ByHand(
        "falling_ladder",
        "phi omega",
        falling_ladder,
        [2 * pi / 3, 0],
        {"x": lambda t, y: -3 * np.cos(y[0]), "y": lambda t, y: 3 * np.sin(y[0])},
    ),
    ByHand(
        "swing_arm",
        "phi omega",
        swing_arm,
        [-0.3, 0],
        {"strut.length": lambda t, y: np.array([strut(a, b)[0] for a, b in y.T])},
        breaks=[0.05, 0.07],
        rest=[-0.16, 0],
    ),
    ByHand("elastic_pendulum", "x y v_x v_y", elastic_pendulum, [0.2, -1.5, 0, 0]),
    ByHand("kapitza_pendulum", "y phi omega", kapitza_pendulum, [0, pi / 2 + 0.3, 0]),
    ByHand("reaction_wheel", "phi psi omega omega_w i", reaction_wheel, [-pi / 2, 0, 0, 0, 0], breaks=[0.1, 0.4]),
]
