"""The rules of units in which variables are shown, and of temperature scales (codes D492 to D499)."""

from tellegen.core.errors import Rulebook

RULES = Rulebook("D")


def _heated(initial: str, units: str) -> str:
    """A body that cools."""
    return f"""\
system: Body that cools
network:
  Q: {{heat flow source: [b]}}
  C: {{heat capacity: [b], C: 100 J/K, initial: {initial}, temperature: T}}
  G: {{thermal conductor: [b], G: 2 W/K}}
experiment: {{until: 100 s, units: {units}}}
"""


SCALE_FROM_AMBIENT = RULES.rule(
    "D492",
    "temperature scale where temperatures count from the ambient",
    meaning="A temperature of the domain `heat` is given or shown in degC or degF.",
    why="in the domain `heat` a temperature is the difference to the ambient: 20 degC would be read as 293.15 K above it",
    example=_heated("60 degC", "{T: K}"),
    instead=_heated("40 K", "{T: K}"),
)
BAD_DISPLAY_UNIT = RULES.rule(
    "D493",
    "unit that a variable cannot be shown in",
    meaning="A unit to show a variable in measures another quantity, or the variable has no unit that is known.",
    why="showing converts, and only units of one quantity convert to each other",
    example=_heated("40 K", "{T: bar}"),
    instead=_heated("40 K", "{T: mK}"),
)
