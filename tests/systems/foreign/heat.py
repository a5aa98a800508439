"""Houses, chips and satellites, by balances of heat."""

from math import exp, pi, sin

from systems.foreign.equations import Array, ByHand

DAY = 86400.0


def house(t: float, y: Array) -> list[float]:
    """The third number is what the heater gives; it changes where the thermostat switches."""
    air, wall, heater = y
    outside = 276 - 4 * sin(2 * pi * t / DAY)
    to_wall, through_window = (air - wall) / 2e-3, (air - outside) / 12e-3
    return [(heater - to_wall - through_window) / 4e6, (to_wall - (wall - outside) / 6e-3) / 40e6, 0]


def thermostat(t: float, y: Array) -> float:
    """Falls through zero where the heater changes: half a kelvin above 293 K while it is on, as far below while it is off."""
    return float(293.5 - y[0] if y[2] else y[0] - 292.5)


def power_module(t: float, y: Array) -> list[float]:
    loss = 200 if 0.01 <= t % 0.2 < 0.06 else 0
    flows = [(y[0] - y[1]) / 0.04, (y[1] - y[2]) / 0.09, (y[2] - y[3]) / 0.12, (y[3] - 40) / 0.05]
    return [
        (loss - flows[0]) / 0.02,
        (flows[0] - flows[1]) / 0.1,
        (flows[1] - flows[2]) / 0.9,
        (flows[2] - flows[3]) / 12,
    ]


def peltier(t: float, y: Array) -> list[float]:
    """alpha I T is pumped out of the cold side and into the hot one, half of the Joule heat comes to each."""
    cold, hot = y
    back, joule = 0.5 * (hot - cold), 9 * 2 / 2
    return [(joule + back - 0.05 * 3 * cold) / 60, (joule - back + 0.05 * 3 * hot - 8 * (hot - 300)) / 400]


def thermistor(t: float, y: Array) -> list[float]:
    v, warmer = y
    i = v / (1e3 * exp(3500 * (1 / (298.15 + warmer) - 1 / 298.15)))
    return [((24 - v) / 200 - i) / 1e-6, (v * i - 3e-3 * warmer) / 0.02]


def satellite(t: float, y: Array) -> list[float]:
    box, shell = y
    over = 1.5 * (box - shell) + 6e-9 * (box**4 - shell**4)
    sun = 400 if t % 5400 < 2700 else 0
    return [(25 - over) / 3e3, (over + sun - 4e-8 * (shell**4 - 3**4)) / 8e3]


SYSTEMS = [
    ByHand(
        "house_3r2c",
        "T_i T_w on",
        house,
        [292, 289, 6e3],
        event=thermostat,
        turned=lambda y: [y[0], y[1], 6e3 - y[2]],
        scale=100,
    ),
    ByHand(
        "power_module",
        "T_j T_C_2 T_C_3 T_C_4",
        power_module,
        [40] * 4,
        {"Q_s": lambda t, y: (40 - y[3]) / 0.05},
        breaks=[0.01, 0.06, 0.21, 0.26, 0.41, 0.46],
        rest=[40] * 4,
        scale=10,
    ),
    ByHand(
        "peltier_cooler",
        "T_c T_h",
        peltier,
        [300, 300],
        {"V_I": lambda t, y: 6 + 0.05 * (y[1] - y[0])},
        rest=[250, 310],
        scale=100,
    ),
    ByHand("thermistor", "v T", thermistor, [0, 0], rest=[3, 120], stiff=True),
    ByHand("satellite", "T_b T_s", satellite, [290, 270], breaks=[2700, 5400], rest=[300, 290], scale=100),
]
