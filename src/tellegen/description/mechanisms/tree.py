"""The tree of a mechanism: from the ground outwards, each body by the joint that leads to it. Joints left over close loops.

Coordinates are the angle of each body that can turn, the distance along each prismatic joint of the tree, and the position of a
body that no joint leads to.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, final

from tellegen.description.mechanisms.geometry import Angle, Vector, components, direction, fixed, minus, plus, rotated
from tellegen.description.mechanisms.values import CENTRE, GROUND, ORIGIN, Joint, Mark, Mechanism
from tellegen.expressions import ONE, ZERO, Expression, symbol, total

RIGID = ("fixed", "prismatic", "revolute")
"""The joints that lead from one body to the next; of several the first of these words is taken first."""


STEERED = ("skate", "wheel")
"""What holds a body across a direction that is fixed in it."""


class Pose(NamedTuple):
    """Where the origin of a body is, and its angle."""

    origin: Vector
    angle: Angle


class Speed(NamedTuple):
    """The velocity of a node that moves with a freedom of the tree, and the name of that velocity."""

    name: str
    node: str
    domain: str


class Coordinate(NamedTuple):
    """A coordinate and its rate, as a sum of speeds with their factors.

    A rate is one speed as a rule. A body on a wheel or a skate moves by the speeds along it and across it, which are the rates of
    no coordinates.
    """

    name: str
    rates: Mapping[str, Expression]

    @property
    def rate(self) -> Expression:
        """The rate as a formula of speeds."""
        return total(factor * symbol(speed) for speed, factor in self.rates.items())


@final
@dataclass
class Tree:
    """`joint_to[b]` leads to body b and `base[b]` is the point of b that it holds; a body without one floats."""

    mechanism: Mechanism
    poses: dict[str, Pose] = field(default_factory=dict)
    joint_to: dict[str, Joint] = field(default_factory=dict)
    base: dict[str, Mark] = field(default_factory=dict)
    speeds: dict[str, Speed] = field(default_factory=dict)
    coordinates: dict[str, Coordinate] = field(default_factory=dict)
    closing: list[Joint] = field(default_factory=list)

    def position(self, mark: Mark) -> Vector:
        """Where a point is in the plane."""
        origin, angle = self.poses[mark.body]
        return plus(origin, fixed(self.mechanism.coordinates_of(mark), angle))

    def add(self, coordinate: str, speed: str, node: str, domain: str) -> None:
        """A freedom whose speed is the rate of its coordinate."""
        self.speeds[speed] = Speed(speed, node, domain)
        self.coordinates[coordinate] = Coordinate(coordinate, {speed: ONE})

    def axis(self, joint: Joint) -> Angle:
        """The direction of a prismatic joint, which is fixed in its first body."""
        return self.poses[joint.first.body].angle.turned(joint.settings.get("direction", ZERO))


def build_tree(mechanism: Mechanism) -> Tree:
    """The tree of a mechanism and its coordinates."""
    tree = Tree(mechanism)
    tree.poses[GROUND] = Pose((), Angle())
    left = {name: joint for name, joint in mechanism.joints.items() if joint.kind in RIGID}
    while True:
        following = min(_leading_on(tree, left), key=lambda joint: RIGID.index(joint.kind), default=None)
        if following is not None:
            del left[following.name]
            _reach(tree, following)
            continue
        floating = next((name for name in mechanism.bodies if name not in tree.poses), None)
        if floating is None:
            break
        _float(tree, floating)
    tree.closing.extend(left.values())
    _sort(tree)
    return tree


def _sort(tree: Tree) -> None:
    """Coordinates and speeds in the order in which the bodies that they move are described, not in that of the tree."""
    order: list[str] = []
    for name, body in tree.mechanism.bodies.items():
        joint = tree.joint_to.get(name)
        slide = [joint.names["distance"]] if joint is not None and joint.kind == "prismatic" else []
        order += [*slide, *body.at, body.angle]
    tree.coordinates = {name: tree.coordinates[name] for name in order if name in tree.coordinates}
    speeds = dict.fromkeys(speed for c in tree.coordinates.values() for speed in c.rates)
    tree.speeds = {name: tree.speeds[name] for name in speeds}


def _leading_on(tree: Tree, joints: dict[str, Joint]) -> Iterator[Joint]:
    for joint in joints.values():
        if (joint.first.body in tree.poses) != (joint.second.body in tree.poses):
            yield joint


def _reach(tree: Tree, joint: Joint) -> None:
    forward = joint.first.body in tree.poses
    known, new = (joint.first, joint.second) if forward else (joint.second, joint.first)
    body = tree.mechanism.bodies[new.body]
    old = tree.poses[known.body].angle
    if joint.kind == "revolute":
        angle = Angle(body.angle)
        tree.add(body.angle, body.speed, new.body, "rotational")
    else:
        turn = joint.settings.get("angle", ZERO)
        angle = old.turned(turn if forward else -turn)
    at = tree.position(known)
    if joint.kind == "prismatic":
        distance, speed = joint.names["distance"], joint.names["speed"]
        axis = (old if forward else angle).turned(joint.settings.get("direction", ZERO))
        slid = fixed((symbol(distance), ZERO), axis)
        at = plus(at, slid if forward else minus(slid))
        tree.add(distance, speed, joint.name, "translational")
    tree.poses[new.body] = Pose(plus(at, minus(fixed(tree.mechanism.coordinates_of(new), angle))), angle)
    tree.joint_to[new.body] = joint
    tree.base[new.body] = new


def _float(tree: Tree, name: str) -> None:
    """A body that no joint leads to has its position and its angle as coordinates."""
    body = tree.mechanism.bodies[name]
    x, y = map(symbol, body.at)
    tree.poses[name] = Pose(fixed((x, y)), Angle(body.angle))
    rolling = next((j for j in tree.mechanism.joints.values() if j.kind in STEERED and j.first.body == name), None)
    if rolling is None:
        tree.base[name] = Mark(name, ORIGIN)
        central = body.mass is not ZERO and body.points[CENTRE] == body.points[ORIGIN]
        speeds = body.velocity if central else (f"{name}.vx_{ORIGIN}", f"{name}.vy_{ORIGIN}")
        for axis, coordinate, speed in zip("xy", body.at, speeds, strict=True):
            tree.add(coordinate, speed, f"{name}.{ORIGIN}.{axis}", "translational")
    else:
        _steer(tree, name, rolling)
    tree.add(body.angle, body.speed, name, "rotational")


def _steer(tree: Tree, name: str, rolling: Joint) -> None:
    """Along and across a wheel or a skate, so that what holds it across is one speed, whatever the angle of the body."""
    body = tree.mechanism.bodies[name]
    tree.base[name] = rolling.first
    heading = tree.axis(rolling)
    words = (f"{name}.v_along", f"{name}.v_across")
    for word, node in zip(words, ("along", "across"), strict=True):
        tree.speeds[word] = Speed(word, f"{name}.{node}", "translational")
    lever = minus(fixed(tree.mechanism.coordinates_of(rolling.first), tree.poses[name].angle))
    along, turned = components(direction(heading)), components(rotated(lever))
    across = (-along[1], along[0])
    for k, coordinate in enumerate(body.at):
        rates = {words[0]: along[k], words[1]: across[k], body.speed: turned[k]}
        tree.coordinates[coordinate] = Coordinate(coordinate, {s: e for s, e in rates.items() if e is not ZERO})


def axis_vector(tree: Tree, joint: Joint) -> Vector:
    """The unit vector along a prismatic joint."""
    return direction(tree.axis(joint))
