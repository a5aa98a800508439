"""The keys of a mechanism, and the table of what can join points of bodies: words, keys, units and meaning."""

from typing import NamedTuple, final

from tellegen.notations.grammar import PAIR, QUANTITY, TEXT, TEXTS, VALUE, AnyOf, Key, Leaf, Named, Record

NAME_OF_VARIABLE = Leaf("name", TEXTS.schema)
FORMULA_OF_COORDINATES = Leaf("formula", VALUE.schema)


@final
class JointKind(NamedTuple):
    """A word that joins points; `marks` are what it joins: one or two points of bodies."""

    word: str
    summary: str
    keys: tuple[Key, ...]
    marks: int = 2
    outputs: str = ""

    def key(self, name: str) -> Key | None:
        """The key of a name."""
        return next((key for key in self.keys if key.name == name), None)

    @property
    def record(self) -> Record:
        """The line of such a joint."""
        return Record((Key(self.word, TEXTS, self.summary, required=True), *self.keys))


def _quantity(name: str, summary: str, unit: str = "", required: bool = False, own: str = "") -> Key:
    return Key(name, QUANTITY, summary, unit, required, own=own)


def _name(name: str, summary: str, own: str) -> Key:
    return Key(name, NAME_OF_VARIABLE, summary, own=own)


_DIRECTION = _quantity("direction", "the angle of the axis in the first body", "rad")
_ANGLE = _quantity("angle", "the angle of the second body against the first", "rad")
_STIFFNESS = _quantity("K", "stiffness", "N/m", required=True)
_DAMPING = _quantity("b", "damping", "N*s/m")
_COULOMB = _quantity("friction coefficient", "Coulomb friction by the force that the joint passes on")
_ROUNDING = _quantity("rounding", "the force below which sizes of forces are rounded", "N")
_SLIP = _quantity("slip speed", "the sliding speed at which friction has 76 % of its size", "m/s")

JOINTS: dict[str, JointKind] = {
    kind.word: kind
    for kind in (
        JointKind(
            "revolute",
            "holds two points together; the bodies turn against each other",
            (
                _quantity("friction", "viscous friction of the bearing", "N*m*s"),
                _COULOMB,
                _quantity("radius", "the radius of the pin, on which the friction acts", "m"),
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
                _quantity("friction", "viscous friction along the axis", "N*s/m"),
                _COULOMB,
                _quantity(
                    "length", "the distance between the two contacts that carry the moment, for the friction", "m"
                ),
                _SLIP,
                _ROUNDING,
                _name("distance", "the name of the distance along the axis", "s"),
                _name("speed", "the name of its rate", "v"),
            ),
            outputs="`F_x`, `F_y`, `M`: the force and the moment of the first body on the second, at the second point; `F_f`: the "
            "force of Coulomb friction",
        ),
        JointKind("fixed", "holds two points and the bodies together", (_ANGLE,), outputs="`F_x`, `F_y`, `M`"),
        JointKind(
            "cam",
            "lets one coordinate follow another by a formula: a cam and its follower",
            (
                Key(
                    "lift",
                    FORMULA_OF_COORDINATES,
                    "the coordinate of the follower as a formula of that of the cam",
                    required=True,
                ),
            ),
            outputs="`F`: the force on the follower",
        ),
        JointKind(
            "skate",
            "a knife edge: the point does not move across the direction, which is fixed in its body",
            (_quantity("direction", "the angle of the edge in the body", "rad"),),
            marks=1,
            outputs="`N`: the force of the plane on the body, across the edge (to the left)",
        ),
        JointKind(
            "wheel",
            "a wheel on the plane, rolling along a direction of its body",
            (
                _quantity("radius", "the radius", "m", required=True),
                _quantity("direction", "the angle of the rolling direction in the body", "rad"),
                _quantity("inertia", "moment of inertia about its axle", "kg*m^2"),
                _name("angle", "the name of its angle", "angle"),
                _name("angular velocity", "the name of its angular velocity", "omega"),
            ),
            marks=1,
            outputs="`N`: the force of the plane on the body, across the wheel (to the left)",
        ),
        JointKind(
            "omniwheel",
            "a wheel with rollers: it rolls along its direction and is free across",
            (
                _quantity("radius", "the radius", "m", required=True),
                _quantity("direction", "the angle of the rolling direction in the body", "rad"),
                _quantity("inertia", "moment of inertia about its axle", "kg*m^2"),
                _name("angle", "the name of its angle", "angle"),
                _name("angular velocity", "the name of its angular velocity", "omega"),
            ),
            marks=1,
        ),
        JointKind(
            "spring",
            "a spring, with a damper beside it, along the line between two points",
            (
                _STIFFNESS,
                _DAMPING,
                _quantity("length", "the length at which it is relaxed", "m", own="relaxed_length"),
                _name("force", "the name of its force, a pull being positive", "F"),
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
                _quantity(
                    "length",
                    "the distance between the contacts, half of it on each side of the second point",
                    "m",
                    required=True,
                ),
                _STIFFNESS,
                _DAMPING,
                _quantity("friction coefficient", "Coulomb friction by the sum of the sizes of the normal forces"),
                _SLIP,
                _name("distance", "the name of the distance along the axis", "s"),
                _name("normal forces", "the names of the two normal forces", "N"),
                _name("friction force", "the name of the friction force", "F_f"),
            ),
            outputs="the normal forces on the second body, the friction force against the sliding",
        ),
        JointKind(
            "contact",
            "a point or a circle of the first body on a straight wall through the second point, which pushes only",
            (
                _quantity(
                    "direction", "the angle of the outward normal of the wall in the second body", "rad", required=True
                ),
                _quantity("radius", "the radius of the circle around the first point", "m"),
                _STIFFNESS,
                _DAMPING,
                _quantity("friction coefficient", "Coulomb friction by the normal force"),
                _SLIP,
                _name("gap", "the name of the gap", "gap"),
            ),
            outputs="`N`: the normal force, with what the damper gives; `F_f`: the friction force",
        ),
    )
}


ASSEMBLY = Record(
    (_quantity("tolerance", "the largest gap that initial values of all coordinates of a loop may leave"),)
)
BODY = Record(
    (
        _quantity("mass", "its mass; none where left out", "kg"),
        _quantity("inertia", "its moment of inertia about its centre of mass; none where left out", "kg*m^2"),
        Key("centre", PAIR, "its centre of mass, in its own coordinates"),
        Key("points", Named(PAIR, ""), "further points, in its own coordinates"),
        Key("angle", TEXT, "the name of its angle"),
        Key("angular velocity", TEXT, "the name of its angular velocity"),
        Key("position", TEXTS, "the names of the coordinates of its origin, where no joint leads to it"),
        Key("velocity", TEXTS, "the names of the components of the velocity of its centre"),
    ),
    empty=True,
)
MECHANISM = Record(
    (
        Key(
            "gravity",
            AnyOf((QUANTITY, PAIR)),
            "the acceleration of free fall, along -y, or its components [x, y]",
            "m/s^2",
        ),
        Key(
            "bodies",
            Named(BODY, ""),
            "rigid bodies, one a line: {mass: m, inertia: J, centre: [x, y], points: {A: [x, y]}}; 'ground' has points only",
            required=True,
        ),
        Key(
            "joints",
            Named(AnyOf(tuple(kind.record for kind in JOINTS.values())), ""),
            "what joins them, one a line: {revolute: [ground.O, crank]}",
        ),
        Key("independent", TEXTS, "coordinates that no loop shall decide"),
        Key(
            "assembly",
            ASSEMBLY,
            "how positions are found: {tolerance: 1 mm} is the gap that initial values may leave; without it they are guesses",
        ),
    )
)
