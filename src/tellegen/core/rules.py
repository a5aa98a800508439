"""The rules of units (codes D050 to D053)."""

from tellegen.core.errors import Rulebook

RULES = Rulebook("D")

_EXAMPLE = """\
system: Charging a capacitor
parameters: {{R: {R}, C: 1 mF}}
network:
  V: {{voltage source: [a, gnd]}}
  R: {{resistor: [a, b]}}
  C: {{capacitor: [b, gnd]}}
experiment: {{until: 5 s, inputs: {{V: step(10 V)}}}}
"""

UNKNOWN_UNIT = RULES.rule(
    "D050",
    "unknown unit",
    meaning="A word stands where a unit is expected, and it is not in the table of units.",
    why="a value without a known unit has no size",
    example=_EXAMPLE.format(R="2 kohn"),
    instead=_EXAMPLE.format(R="2 kohm"),
)

MALFORMED_UNIT = RULES.rule(
    "D051",
    "malformed unit",
    meaning="The parts of a unit are not joined by `*`, `/`, `^` and parentheses into a product of powers.",
    why="a unit is a product of powers of unit words",
    example=_EXAMPLE.format(R="2 ohm^99"),
    instead=_EXAMPLE.format(R="2 V/A"),
)

OFFSET_UNIT = RULES.rule(
    "D052",
    "temperature scale inside a product",
    meaning="A temperature scale with a zero of its own (`degC`, `degF`) is multiplied, divided or raised to a power.",
    why="20 degC is 293.15 K, but a difference of 20 degC is 20 K: inside a product nobody can tell which is meant",
    example=_EXAMPLE.format(R="2 kohm, alpha: 0.01 ohm/degC"),
    instead=_EXAMPLE.format(R="2 kohm, alpha: 0.01 ohm/K"),
)

DIFFERENT_DIMENSIONS = RULES.rule(
    "D053",
    "different dimensions",
    meaning="A value is asked for in a unit that measures another quantity.",
    why="a unit converts only to units of the same quantity",
)
