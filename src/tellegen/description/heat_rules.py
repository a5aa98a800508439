"""The rules of heat ports (codes D700 to D709)."""

from tellegen.core.errors import Rulebook

RULES = Rulebook("D")


def _winding(heat: str = "w", more: str = "") -> str:
    """A winding that heats a mass, with one part exchanged."""
    return f"""\
system: Winding
network:
  V:   {{voltage source: [a, gnd]}}
  R:   {{resistor: [a, gnd], R: 2 ohm, heat: {heat}}}
  C_w: {{heat capacity: [w], C: 40 J/K}}
  G_w: {{thermal conductor: [w, ambient], G: 0.5 W/K}}
{more}"""


NO_THERMAL_NODE = RULES.rule(
    "D700",
    "heat into a node that is not thermal",
    meaning="The key `heat` names a node that no thermal element has.",
    why="heat needs something that takes it: a capacity that warms up, or a conductor that leads it away",
    example=_winding("c"),
    instead=_winding(),
)
HEAT_NAME_TAKEN = RULES.rule(
    "D701",
    "heat source with the name of an element",
    meaning="The heat of an element R is brought by a source named R_heat, and another element has that name.",
    why="an element has a name of its own",
    example=_winding(more="  R_heat: {heat flow source: [w]}\n"),
    instead=_winding(more="  Q_sun: {heat flow source: [w]}\n"),
)
NO_HEAT_TEMPERATURE = RULES.rule(
    "D702",
    "heat into a node without a temperature",
    meaning="The key `heat` names a node of entropy flows that has neither a capacity nor a temperature source.",
    why="the entropy that heat brings is the heat divided by the temperature, which a capacity or a source decides",
    example="""\
system: Winding
network:
  V:   {voltage source: [a, gnd]}
  R:   {resistor: [a, gnd], R: 2 ohm, heat: s}
  C_w: {entropy capacity: [w], C: 40 J/K, initial: 293 K}
  G_w: {entropy conductor: [s, w], G: 0.5 W/K}
""",
    instead="""\
system: Winding
network:
  V:   {voltage source: [a, gnd]}
  R:   {resistor: [a, gnd], R: 2 ohm, heat: w}
  C_w: {entropy capacity: [w], C: 40 J/K, initial: 293 K}
""",
)
