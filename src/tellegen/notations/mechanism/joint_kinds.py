"""The table of what can join points of bodies: words, keys, units and meaning. Reader, JSON Schema and reference page are made
from it.
"""

from typing import Literal, NamedTuple, final

Shape = Literal["quantity", "name", "formula"]
"""What a key holds: a quantity of parameters, the name of a variable, a formula that reads coordinates."""


@final
class JointKey(NamedTuple):
    """A key of a joint. `default` is what a name is made of where none is given: the name of the joint stands before it.

    `parameter` is the word of the parameter that a number becomes, where that is not the key itself.
    """

    name: str
    summary: str
    unit: str = ""
    required: bool = False
    shape: Shape = "quantity"
    default: str = ""
    parameter: str = ""


@final
class JointKind(NamedTuple):
    """A word that joins points; `marks` are what it joins: one or two points of bodies."""

    word: str
    summary: str
    keys: tuple[JointKey, ...]
    marks: int = 2
    outputs: str = ""

    def key(self, name: str) -> JointKey | None:
        """The key of a name."""
        return next((key for key in self.keys if key.name == name), None)


_DIRECTION = JointKey("direction", "the angle of the axis in the first body", "rad")
_ANGLE = JointKey("angle", "the angle of the second body against the first", "rad")
_STIFFNESS = JointKey("K", "stiffness", "N/m", required=True)
_DAMPING = JointKey("b", "damping", "N*s/m")
_COULOMB = JointKey("friction coefficient", "Coulomb friction by the force that the joint passes on")
_ROUNDING = JointKey("rounding", "the force below which sizes of forces are rounded", "N")
_SLIP = JointKey("slip speed", "the sliding speed at which friction has 76 % of its size", "m/s")

JOINTS: dict[str, JointKind] = {
    kind.word: kind
    for kind in (
        JointKind(
            "revolute",
            "holds two points together; the bodies turn against each other",
            (
                JointKey("friction", "viscous friction of the bearing", "N*m*s"),
                _COULOMB,
                JointKey("radius", "the radius of the pin, on which the friction acts", "m"),
                _SLIP,
                _ROUNDING,
            ),
            outputs="`F_x`, `F_y`: the force of the first body on the second; `M_f`: that of Coulomb friction, a moment",
        ),
        JointKind(
            "prismatic",
            "lets the second point slide along an axis through the first one; the bodies do not turn against each other",
            (
                _DIRECTION,
                _ANGLE,
                JointKey("friction", "viscous friction along the axis", "N*s/m"),
                _COULOMB,
                JointKey(
                    "length", "the distance between the two contacts that carry the moment, for the friction", "m"
                ),
                _SLIP,
                _ROUNDING,
                JointKey("distance", "the name of the distance along the axis", shape="name", default="s"),
                JointKey("speed", "the name of its rate", shape="name", default="v"),
            ),
            outputs="`F_x`, `F_y`, `M`: the force and the moment of the first body on the second, at the second point; `F_f`: the "
            "force of Coulomb friction",
        ),
        JointKind("fixed", "holds two points and the bodies together", (_ANGLE,), outputs="`F_x`, `F_y`, `M`"),
        JointKind(
            "cam",
            "lets one coordinate follow another by a formula: a cam and its follower",
            (
                JointKey(
                    "lift",
                    "the coordinate of the follower as a formula of that of the cam",
                    required=True,
                    shape="formula",
                ),
            ),
            outputs="`F`: the force on the follower",
        ),
        JointKind(
            "skate",
            "a knife edge: the point does not move across the direction, which is fixed in its body",
            (JointKey("direction", "the angle of the edge in the body", "rad"),),
            marks=1,
            outputs="`N`: the force of the plane on the body, across the edge (to the left)",
        ),
        JointKind(
            "wheel",
            "a wheel on the plane, rolling along a direction of its body",
            (
                JointKey("radius", "the radius", "m", required=True),
                JointKey("direction", "the angle of the rolling direction in the body", "rad"),
                JointKey("inertia", "moment of inertia about its axle", "kg*m^2"),
                JointKey("angle", "the name of its angle", shape="name", default="angle"),
                JointKey("angular velocity", "the name of its angular velocity", shape="name", default="omega"),
            ),
            marks=1,
            outputs="`N`: the force of the plane on the body, across the wheel (to the left)",
        ),
        JointKind(
            "omniwheel",
            "a wheel with rollers: it rolls along its direction and is free across",
            (
                JointKey("radius", "the radius", "m", required=True),
                JointKey("direction", "the angle of the rolling direction in the body", "rad"),
                JointKey("inertia", "moment of inertia about its axle", "kg*m^2"),
                JointKey("angle", "the name of its angle", shape="name", default="angle"),
                JointKey("angular velocity", "the name of its angular velocity", shape="name", default="omega"),
            ),
            marks=1,
        ),
        JointKind(
            "spring",
            "a spring, with a damper beside it, along the line between two points",
            (
                _STIFFNESS,
                _DAMPING,
                JointKey("length", "the length at which it is relaxed", "m", parameter="relaxed_length"),
                JointKey("force", "the name of its force, a pull being positive", shape="name", default="F"),
            ),
            outputs="`F`: its pull",
        ),
        JointKind(
            "pad",
            "an elastic support: springs and dampers between two points, along both axes of the plane",
            (_STIFFNESS, _DAMPING),
            outputs="`F_x`, `F_y`: the forces of the springs",
        ),
        JointKind(
            "guide",
            "an elastic prismatic joint: the second body slides along an axis of the first on two contacts",
            (
                _DIRECTION,
                JointKey(
                    "length",
                    "the distance between the contacts, half of it on each side of the second point",
                    "m",
                    required=True,
                ),
                _STIFFNESS,
                _DAMPING,
                JointKey("friction coefficient", "Coulomb friction by the sum of the sizes of the normal forces"),
                _SLIP,
                JointKey("distance", "the name of the distance along the axis", shape="name", default="s"),
                JointKey("normal forces", "the names of the two normal forces", shape="name", default="N"),
                JointKey("friction force", "the name of the friction force", shape="name", default="F_f"),
            ),
            outputs="the normal forces on the second body, the friction force against the sliding",
        ),
        JointKind(
            "contact",
            "a point or a circle of the first body on a straight wall through the second point, which pushes only",
            (
                JointKey(
                    "direction", "the angle of the outward normal of the wall in the second body", "rad", required=True
                ),
                JointKey("radius", "the radius of the circle around the first point", "m"),
                _STIFFNESS,
                _DAMPING,
                JointKey("friction coefficient", "Coulomb friction by the normal force"),
                _SLIP,
                JointKey("gap", "the name of the gap", shape="name", default="gap"),
            ),
            outputs="`N`: the normal force, with what the damper gives; `F_f`: the friction force",
        ),
    )
}
