"""The rules of laws given by points (codes D710 to D719)."""

from tellegen.core.errors import Rulebook

RULES = Rulebook("D")


def _with_law(law: str) -> str:
    """An oscillator whose spring has a law by points."""
    return f"""\
system: Oscillator
network:
  F: {{force source: [a]}}
  m: {{mass: [a], m: 1 kg}}
  s: {{spring: [a, frame], law: {law}}}
"""


_GOOD = "{table: [[-1, -3], [0, 0], [1, 2]]}"
NO_POINTS = RULES.rule(
    "D710",
    "law by points that cannot be read",
    meaning="The law of an element is a mapping, and has no points, gives no variable of the element, or joins points in no known way.",
    why="a law by points gives one variable of the element by another one, between points by lines or cubics",
    example=_with_law("{table: [[-1, -3], [0, 0], [1, 2]], gives: v}"),
    instead=_with_law(_GOOD),
)
NOT_RISING = RULES.rule(
    "D711",
    "storage whose points do not rise",
    meaning="The points of the law of a storage fall or stay level.",
    why="a storage that gives less the more it holds gives energy for nothing, and a level stretch cannot be solved for its variable",
    example=_with_law("{table: [[-1, -3], [0, 0], [1, -2]]}"),
    instead=_with_law(_GOOD),
)
TOO_MANY_POINTS = RULES.rule(
    "D712",
    "law with too many points",
    meaning="The law of an element has more than 200 points.",
    why="each point is a term of a formula that is evaluated at every step",
    example=_with_law("{table: [" + ", ".join(f"[{k}, {k}]" for k in range(201)) + "]}"),
    instead=_with_law(_GOOD),
)
