"""The rules of mechanisms: bodies, points, joints, and loops that fit."""

from functools import partial

from tellegen.core.errors import Rulebook
from tellegen.notations.rules import with_slip

_ARM = """\
system: Arm
mechanism:
  gravity: 9.81 m/s^2
  bodies:
    arm: {mass: 2 kg, inertia: 0.1 kg*m^2, centre: [0.5 m, 0 m], points: {tip: [1 m, 0 m]}}
  joints:
    pivot: {revolute: [ground, arm]}
"""
_FOUR_BAR = """\
system: Four-bar linkage
mechanism:
  bodies:
    ground: {points: {B: [0.3 m, 0 m]}}
    crank: {inertia: 0.01 kg*m^2, points: {tip: [0.1 m, 0 m]}}
    coupler: {inertia: 0.01 kg*m^2, points: {tip: [0.3 m, 0 m]}}
    rocker: {inertia: 0.01 kg*m^2, points: {tip: [0.25 m, 0 m]}}
  joints:
    O: {revolute: [ground, crank]}
    A: {revolute: [crank.tip, coupler]}
    B: {revolute: [ground.B, rocker]}
    C: {revolute: [coupler.tip, rocker.tip]}
"""
_ASSEMBLED = _FOUR_BAR + "  assembly: {tolerance: 1 mm}\n"
_arm, _four_bar = partial(with_slip, _ARM), partial(with_slip, _FOUR_BAR)

RULES = Rulebook("M", _ARM)

NO_BODY = RULES.rule(
    "M101",
    "mechanism without bodies",
    meaning="A mechanism has no 'bodies', or only the ground.",
    why="what moves in a mechanism are its bodies",
    example="system: Nothing\nmechanism:\n  bodies:\n    ground: {points: {A: [1 m, 0 m]}}\n",
)
NO_SUCH_JOINT = RULES.rule(
    "M102",
    "no such joint",
    meaning="The first key of a joint is not one of the words that join points.",
    why="the first key says how the points are joined: 'revolute: [ground, arm]'",
    example=_arm("revolute", "revolut"),
)
NO_SUCH_POINT = RULES.rule(
    "M103",
    "no such body, point or coordinate",
    meaning="A joint names a body or a point that is not described, or 'independent' a name that is no coordinate.",
    why="joints hold points of bodies, written 'body.point', or 'body' for the origin of its coordinates",
    example=_arm("[ground, arm]", "[ground, arm.tp]"),
)
NOT_A_POINT = RULES.rule(
    "M104",
    "not a pair of points or coordinates",
    meaning="A point has not two coordinates, or a joint does not join two points of two bodies.",
    why="a point of the plane has two coordinates, and a joint acts between two bodies",
    example=_arm("tip: [1 m, 0 m]", "tip: 1 m"),
)
NO_SETTING = RULES.rule(
    "M105",
    "joint without a value that it needs",
    meaning="A key that a joint cannot do without is missing.",
    why="a spring without a stiffness, or a wheel without a radius, would do nothing",
    example=_arm(
        "pivot: {revolute: [ground, arm]}", "pivot: {revolute: [ground, arm]}\n    S: {spring: [ground, arm.tip]}"
    ),
    instead=_arm(
        "pivot: {revolute: [ground, arm]}",
        "pivot: {revolute: [ground, arm]}\n    S: {spring: [ground, arm.tip], K: 10 N/m}",
    ),
)
NAME_TWICE = RULES.rule(
    "M106",
    "name used twice in a mechanism",
    meaning="A body and a joint, or two things that the mechanism makes, have one name.",
    why="nodes, elements and coordinates are named after bodies and joints",
    example=_arm("pivot:", "arm:"),
)
IMPOSSIBLE = RULES.rule(
    "M110",
    "loop that fits in no position",
    meaning="No position of the bodies was found in which the joint that closes a loop fits.",
    why="the lengths along a loop must reach round: none may be longer than all others together",
    example=_four_bar("tip: [0.25 m, 0 m]", "tip: [0.9 m, 0 m]"),
    instead=_FOUR_BAR,
)
REDUNDANT = RULES.rule(
    "M111",
    "loop that is over-constrained or starts in a singular position",
    meaning="Where the mechanism starts, a joint that closes a loop holds a direction in which nothing is left to move.",
    why="what two joints hold at once has no unique force, and in a singular position no speed follows from the others",
    example=_four_bar(
        "    C: {revolute: [coupler.tip, rocker.tip]}",
        "    C: {revolute: [coupler.tip, rocker.tip]}\n    D: {revolute: [coupler.tip, rocker.tip]}",
    ),
    instead=_FOUR_BAR,
)
WEIGHTLESS = RULES.rule(
    "M112",
    "motion without inertia",
    meaning="A mechanism can move in a way that moves no mass and no inertia.",
    why="a force on something without inertia gives it no finite acceleration; bodies without mass are fine where they move others",
    example=_arm("mass: 2 kg, inertia: 0.1 kg*m^2, ", ""),
)
DOES_NOT_FIT = RULES.rule(
    "M113",
    "initial positions that leave a gap",
    meaning="Initial values are given for all coordinates of a loop, and its joint does not close within the tolerance of 'assembly'.",
    why="positions that follow from others would be moved away from what is written",
    example=_ASSEMBLED + "experiment: {initial: {crank.phi: 1, coupler.phi: 0.5, rocker.phi: 2}}\n",
    instead=_ASSEMBLED + "experiment: {initial: {crank.phi: 1}}\n",
)
CHOSEN_POSITION = RULES.rule(
    "M114",
    "loop that nobody said where to start",
    meaning="No initial value is given to any angle or distance of a loop: it starts in one of the positions in which it closes.",
    why="a loop closes in many positions; where none is asked for, one away from stretched and folded ones is as good as another",
    example=_FOUR_BAR,
    instead=_FOUR_BAR + "experiment: {initial: {crank.phi: 1}}\n",
    severity="notice",
)
