"""The words of units as data: each defined by those above it, with exact factors."""

import math
from fractions import Fraction

PREFIXES = {
    "Y": 24, "Z": 21, "E": 18, "P": 15, "T": 12, "G": 9, "M": 6, "k": 3, "h": 2, "da": 1,
    "d": -1, "c": -2, "m": -3, "u": -6, "µ": -6, "μ": -6, "n": -9, "p": -12, "f": -15, "a": -18, "z": -21, "y": -24,
}  # fmt: skip

# Defined by other units, in order; a word may use those above it. Words of this table take SI prefixes.
PREFIXABLE = {
    "m": "", "g": "", "s": "", "A": "", "K": "", "mol": "", "cd": "",
    "rad": "1", "sr": "1",
    "Hz": "1/s", "N": "kg*m/s^2", "Pa": "N/m^2", "J": "N*m", "W": "J/s", "C": "A*s", "V": "W/A", "F": "C/V",
    "ohm": "V/A", "\u03a9": "ohm", "\u2126": "ohm", "S": "A/V", "Wb": "V*s", "T": "Wb/m^2", "H": "Wb/A",
    "lm": "cd", "lx": "lm/m^2",
    "L": "dm^3", "l": "dm^3", "VA": "V*A", "var": "V*A",
}  # fmt: skip

PREFIXABLE_FACTORS = {
    "eV": ("1.602176634e-19", "J"), "Wh": ("3600", "J"), "Ah": ("3600", "C"), "bar": ("1e5", "Pa"),
    "P": ("0.1", "Pa*s"), "St": ("1e-4", "m^2/s"),
}  # fmt: skip

PLAIN = {
    "%": ("0.01", "1"), "ppm": ("1e-6", "1"),
    "min": ("60", "s"), "h": ("3600", "s"), "d": ("86400", "s"),
    "t": ("1000", "kg"), "lb": ("0.45359237", "kg"), "oz": ("0.028349523125", "kg"),
    "in": ("0.0254", "m"), "ft": ("0.3048", "m"), "yd": ("0.9144", "m"), "mi": ("1609.344", "m"),
    "kgf": ("9.80665", "N"), "lbf": ("4.4482216152605", "N"), "atm": ("101325", "Pa"), "mmHg": ("133.322387415", "Pa"),
    "psi": ("1", "lbf/in^2"), "ksi": ("1000", "lbf/in^2"), "hp": ("550", "ft*lbf/s"), "mph": ("1", "mi/h"),
    "gal": ("231", "in^3"),
}  # fmt: skip

ANGLES = {  # a double holds pi to its last bit; these factors are as exact as a number in a file can use
    "deg": (Fraction(math.pi) / 180, "1"), "°": (Fraction(math.pi) / 180, "1"),
    "rev": (2 * Fraction(math.pi), "1"), "turn": (2 * Fraction(math.pi), "1"),
    "rpm": (Fraction(math.pi) / 30, "1/s"), "rps": (2 * Fraction(math.pi), "1/s"),
}  # fmt: skip

SCALES = {
    "degC": (Fraction(1), Fraction("273.15")), "°C": (Fraction(1), Fraction("273.15")),
    "degF": (Fraction(5, 9), Fraction("459.67") * 5 / 9), "°F": (Fraction(5, 9), Fraction("459.67") * 5 / 9),
}  # fmt: skip

HINTS = {
    "sec": "s", "hr": "h", "hour": "h", "day": "d", "days": "d", "Kg": "kg", "celsius": "degC", "Celsius": "degC",
    "kelvin": "K", "degK": "K", "lpm": "L/min", "gpm": "gal/min", "mps": "m/s", "kph": "km/h", "kmh": "km/h",
    "ampere": "A", "watt": "W", "joule": "J", "pascal": "Pa", "farad": "F", "henry": "H", "second": "s", "minute": "min",
    "gram": "g", "fahrenheit": "degF", "radians": "rad", "revolution": "rev",
    "inch": "in", "foot": "ft", "lbs": "lb", "newton": "N", "volt": "V", "amp": "A", "metre": "m", "meter": "m",
    "radian": "rad", "degree": "deg", "degrees": "deg", "litre": "L", "liter": "L", "Siemens": "S", "mho": "S",
    "ohm": "ohm", "hertz": "Hz", "coulomb": "C", "tesla": "T", "weber": "Wb", "kilogram": "kg",
}  # fmt: skip
"""Words that people write for a unit and that spelling alone would not lead to it."""
