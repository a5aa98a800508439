"""The rules of parameters given by a curve: a table of a displacement, or the slope of another parameter (codes D490 to D499)."""

from tellegen.core.errors import Rulebook

RULES = Rulebook("D")


def _cam(lift: str, slope: str = "{slope of: lift, by: theta}") -> str:
    """A cam that moves a mass."""
    return f"""\
system: Cam
parameters:
  lift: {lift}
  H: {slope}
displacements: {{theta: omega}}
network:
  tau: {{torque source: [a]}}
  J:   {{inertia: [a], J: 1 kg*m^2, angular velocity: omega}}
  cam: {{rack: [a, x], r: H}}
  m:   {{mass: [x], m: 1 kg}}
"""


_GOOD = "{table: [[0 deg, 0 mm], [180 deg, 10 mm], [360 deg, 0 mm]], at: theta, interpolation: cubic, period: 360 deg}"
BAD_CURVE = RULES.rule(
    "D490",
    "curve that cannot be read",
    meaning="A parameter is a mapping, and is neither a table that is read at a displacement nor the slope of another parameter.",
    why="a parameter is a formula, a curve `{table: points, at: theta}`, or a slope `{slope of: lift, by: theta}`",
    example=_cam("{table: [[0 deg, 0 mm], [180 deg, 10 mm]]}"),
    instead=_cam(_GOOD),
)
NO_SLOPE = RULES.rule(
    "D491",
    "slope of something that does not move",
    meaning="`slope of` names no parameter, `by` names no displacement, or the one does not depend on the other.",
    why="a slope tells how much a parameter changes for each unit of a displacement that it reads",
    example=_cam("5 mm", "{slope of: lift, by: theta}"),
    instead=_cam("5 mm*(1 - cos(theta))", "{slope of: lift, by: theta}"),
)
