"""The joints of mechanisms: the elements that each becomes, and the table of their words, keys and units.

What holds bodies together is made with the bodies. Here are springs, pads, guides and contacts, which push without holding, wheels
and skates on the plane, and the friction of rigid joints. A new joint is an entry of the table, with the method that makes its
elements, and a symbol for figures.

Friction follows the normal forces, which are forces of springs and dampers: nothing has to be solved for it. What a rigid joint
passes on follows from the accelerations, and these from the friction: one equation of the friction force more, which is solved
along with the motion. Friction is smooth in the sliding speed, and sizes of forces are rounded near zero, so that this equation
has a slope everywhere.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import floor, log10
from typing import NamedTuple, Protocol, final

from tellegen.core.domains import DOMAINS
from tellegen.expressions import HALF, ZERO, Expression, call, number, relation, symbol, to_text, total
from tellegen.model.kinematics import (
    Vector,
    body_vector,
    components,
    cross_product,
    opposite_vector,
    perpendicular,
    unit_vector,
    vector_sum,
)
from tellegen.model.laws import Law
from tellegen.model.mechanism import BodyPoint, Joint, Pair
from tellegen.notations.grammar import PAIR, QUANTITY, TEXTS, VALUE, AnyOf, Key, Leaf, Named, Record, record
from tellegen.notations.mechanism import rules
from tellegen.notations.mechanism.bodies import AXES, FRAME, Bodies, NodeEnd, sliding_end, turning_end

SLIP_SPEED = number(1) / 1000
"""Where none is given, friction rises to 76 % of its size within a millimetre per second."""


def rounding_of(rtol: float) -> Expression:
    """The force below which sizes of forces are rounded where nothing else is given: a decade, by the tolerance of the runs.

    sqrt(N^2 + N_0^2) exceeds |N| by about N_0^2/(2 N), so that motions shift with the square: by less than rtol of themselves
    where N_0 is well below its root. In a rigid Rapson slide 0.01 N shifts 36 m by 2.5 mm in 10 s, 1e-5 N by 3 nm.
    """
    return number(Fraction(10) ** (floor(log10(rtol) / 2) - 2))


class MechanismResults(Protocol):
    """What joints add beside elements: signals with their units, initial values that follow from positions, coordinates."""

    signals: dict[str, tuple[Expression, str]]
    initial: dict[str, Expression]
    rounding: Expression

    def add_displacement(self, name: str, rate: Expression) -> None:
        """A coordinate with its rate."""


@final
class JointElements:
    """Makes the elements of joints."""

    def __init__(self, bodies: Bodies, results: MechanismResults) -> None:
        self.bodies = bodies
        self.maker = bodies.maker
        self.tree = bodies.tree
        self.results = results

    def _between(self, joint: Joint) -> Vector:
        """From the first point to the second."""
        return vector_sum(self.tree.position(joint.second), opposite_vector(self.tree.position(joint.first)))

    def _relative(
        self,
        joint: Joint,
        name: str,
        node: str,
        rows: Sequence[tuple[BodyPoint, Vector]],
        turning: dict[str, Expression],
    ) -> None:
        """The velocity of a node as a sum of velocities of points along vectors, and of angular velocities."""
        ends: list[NodeEnd] = []
        factors: list[Expression] = []
        for mark, along in rows:
            ends.extend(self.bodies.moving(mark))
            factors.extend(components(along))
        for body, lever in turning.items():
            ends.append(self.bodies.turning(body))
            factors.append(lever)
        self.maker.connection(name, ends, [sliding_end(node)], [factors])

    # -- springs ---------------------------------------------------------------------------------------------------------------

    def spring(self, joint: Joint) -> None:
        """A spring along the line between two points: its length changes by the velocities along that line."""
        x, y = components(self._between(joint))
        length = call("sqrt", x * x + y * y)
        along = body_vector((x / length, y / length))
        node, K = f"{joint.name}.stretch", joint.settings["K"]
        rows = ((joint.first, opposite_vector(along)), (joint.second, along))
        self._relative(joint, f"{joint.name}.line", node, rows, {})
        force = joint.names["force"]
        self.maker.add(f"{joint.name}.K", "spring", (node, FRAME), K, {"through": force})
        self._damper(joint, node)
        # The spring starts as long as the positions say; from zero it would pull everything into another place.
        self.results.initial[force] = K * (length - joint.settings.get("length", ZERO))
        self.results.signals[f"{joint.name}.length"] = (length, "m")

    def _damper(self, joint: Joint, node: str, suffix: str = "") -> None:
        if (b := joint.settings.get("b")) is not None:
            self.maker.add(f"{joint.name}.b{suffix}", "damper", (node, FRAME), b)

    def pad(self, joint: Joint) -> None:
        """Springs and dampers along both axes of the plane."""
        for axis, one, two in zip(AXES, self.bodies.moving(joint.first), self.bodies.moving(joint.second), strict=True):
            nodes = (one.node, two.node)
            force = {"through": f"{joint.name}.F_{axis}"}
            self.maker.add(f"{joint.name}.K_{axis}", "spring", nodes, joint.settings["K"], force)
            if (b := joint.settings.get("b")) is not None:
                self.maker.add(f"{joint.name}.b_{axis}", "damper", nodes, b)

    # -- guides ----------------------------------------------------------------------------------------------------------------

    def guide(self, joint: Joint) -> None:
        """Two contacts between a body and the axis of another: where they are on the axis moves with the sliding distance.

        The springs integrate the difference of the normal velocities at each contact, as true bond graphs do.
        """
        one, two = joint.first, joint.second
        axis = unit_vector(self.tree.axis(joint))
        across = perpendicular(axis)
        own = perpendicular(unit_vector(self.tree.poses[two.body].angle.turned(joint.settings.get("direction", ZERO))))
        distance = cross_product(self._between(joint), perpendicular(axis))
        half = joint.settings["length"] * HALF
        given = joint.names["normal forces"].split(",")
        normal = given if len(given) == 2 else [f"{given[0]}_1", f"{given[0]}_2"]
        for k, (name, side) in enumerate(zip(normal, (-half, half), strict=True), start=1):
            node, held = f"{joint.name}.n_{k}", f"{joint.name}.k_{k}"
            rows = ((one, across), (two, opposite_vector(own)))
            self._relative(joint, f"{joint.name}.contact_{k}", node, rows, {one.body: distance + side, two.body: -side})
            self.maker.sensor(f"{joint.name}.N_{k}", "translational", (node, held), name)
            self.maker.add(f"{joint.name}.K_{k}", "spring", (held, FRAME), joint.settings["K"])
            self._damper(joint, held, f"_{k}")
        self.results.signals[joint.names["distance"]] = (distance, "m")
        slip = f"{joint.name}.slip"
        self._relative(joint, f"{joint.name}.along", slip, ((two, axis), (one, opposite_vector(axis))), {})
        size = total(call("abs", symbol(name)) for name in normal)
        self._sliding_friction(joint, slip, size, joint.names["friction force"])

    def _sliding_friction(self, joint: Joint, slip: str, normal: Expression, force: str) -> None:
        """Coulomb friction by the normal force; without any, a sensor tells the sliding speed to whoever joins the node."""
        mu = joint.settings.get("friction coefficient")
        if mu is None:
            self.maker.add(f"{joint.name}.friction", "damper", (slip, FRAME), ZERO, {"through": force})
            return
        smooth = call("tanh", symbol("v") / joint.settings.get("slip speed", SLIP_SPEED))
        self._law(f"{joint.name}.friction", "damper", slip, mu * normal * smooth, {"through": force})

    def _law(self, name: str, kind: str, node: str, law: Expression, variables: dict[str, str]) -> None:
        """A dissipator with a law F of its velocity v."""
        self.maker.add(name, kind, (node, FRAME), None, variables)
        self.maker.give_law(name, Law("resistive", "v", law, "through", f"F = {to_text(law)}"))

    # -- contacts --------------------------------------------------------------------------------------------------------------

    def contact(self, joint: Joint) -> None:
        """A circle on a wall. The spring keeps the gap and pushes while it is negative; its energy is K gap^2 / 2 there."""
        one, wall = joint.first, joint.second
        radius, K = joint.settings.get("radius", ZERO), joint.settings["K"]
        up = unit_vector(self.tree.poses[wall.body].angle.turned(joint.settings["direction"]))
        along = opposite_vector(perpendicular(up))  # clockwise from the normal: to the right on a floor
        away = opposite_vector(self._between(joint))
        gap = cross_product(away, perpendicular(up)) - radius
        foot = cross_product(away, perpendicular(along))
        node, slip = f"{joint.name}.approach", f"{joint.name}.slip"
        lever = {wall.body: -foot * cross_product(perpendicular(along), perpendicular(up))}
        self._relative(joint, f"{joint.name}.normal", node, ((one, up), (wall, opposite_vector(up))), lever)
        name = joint.names["gap"]
        # An energy and no force with a condition: then the contact keeps exactly what it was given.
        pressed = call("min", symbol("x"), ZERO)
        energy = K * pressed * pressed * HALF
        self.maker.add(f"{joint.name}.K", "spring", (node, FRAME), None, {"energy": name})
        self.maker.give_law(f"{joint.name}.K", Law("energy", "x", energy, "through", to_text(energy)))
        self.results.initial[name] = gap
        touching = relation("<", symbol(name), ZERO)
        normal = -K * call("min", symbol(name), ZERO)
        if (b := joint.settings.get("b")) is not None:  # no more than the spring pushes: nothing sticks
            damped = call("if", touching, call("min", b * symbol("v"), -K * symbol(name)), ZERO)
            self._law(f"{joint.name}.b", "damper", node, damped, {"through": f"{joint.name}.F_b"})
            normal = normal - symbol(f"{joint.name}.F_b")
        self.results.signals[f"{joint.name}.N"] = (normal, "N")
        turning = {one.body: radius} if radius is not ZERO else {}
        self._relative(joint, f"{joint.name}.tangent", slip, ((one, along), (wall, opposite_vector(along))), turning)
        self._sliding_friction(joint, slip, normal, f"{joint.name}.F_f")

    # -- friction of rigid joints ------------------------------------------------------------------------------------------------

    def friction(self, joint: Joint) -> None:
        """The friction of a revolute or prismatic joint, of one that closes a loop as well; nothing where it has none.

        Raises: DescriptionError (M105) for a pin whose radius is missing.
        """
        if not joint.settings.keys() & {"friction", "friction coefficient"}:
            return
        turning = self.bodies.turning(joint.first.body).node, self.bodies.turning(joint.second.body).node
        kind, nodes = ("friction", turning) if joint.turns else ("damper", self._sliding(joint))
        viscous, coulomb = joint.settings.get("friction"), joint.settings.get("friction coefficient")
        if viscous is not None:
            self.maker.add(f"{joint.name}.b", kind, nodes, viscous)
        if coulomb is not None:
            law = self._moment(joint) if joint.turns else self._force(joint)
            name, word = (f"{joint.name}.mu", "M_f" if joint.turns else "F_f")
            self.maker.add(name, kind, nodes, None, {"through": f"{joint.name}.{word}"})
            self.maker.give_law(name, Law("resistive", _speed(joint), law, "through", to_text(law)))

    def _sliding(self, joint: Joint) -> tuple[str, str]:
        """The node that moves along the axis: that of the slide, or one made for a joint that closes a loop."""
        # A joint of the tree has its slide as a coordinate, with a node that moves along it.
        if joint not in self.tree.closing:
            return joint.name, FRAME
        axis = unit_vector(self.tree.axis(joint))
        ends = (*self.bodies.moving(joint.second), *self.bodies.moving(joint.first))
        factors = (*components(axis), *components(opposite_vector(axis)))
        self.maker.connection(f"{joint.name}.along", ends, [sliding_end(joint.name)], [factors])
        return joint.name, FRAME

    # -- forces ----------------------------------------------------------------------------------------------------------------

    def _passed_on(self, joint: Joint) -> Pair:
        """The force of the joint: variables of its sensors, or the formulas of a joint that closes a loop."""
        names = (f"{joint.name}.F_x", f"{joint.name}.F_y")
        signals = self.results.signals
        x, y = (signals[name][0] if name in signals else symbol(name) for name in names)
        return x, y

    def _moment(self, joint: Joint) -> Expression:
        """mu r |F| for a pin of radius r, against the turning."""
        radius = joint.settings.get("radius")
        if radius is None:
            what = f"the revolute {joint.name} has a friction coefficient, but no 'radius'"
            fix = "add 'radius: ...', that of its pin: the friction moment is the friction force times this radius"
            raise rules.NO_SETTING.error(what, where=joint.name, fix=fix, place=joint.place)
        x, y = self._passed_on(joint)
        rounding = joint.settings.get("rounding", self.results.rounding)
        size = call("sqrt", x * x + y * y + rounding * rounding)
        sense = self._sense(joint, radius * symbol(_speed(joint)))
        return joint.settings["friction coefficient"] * radius * size * sense

    def _force(self, joint: Joint) -> Expression:
        """mu times the sizes of the normal forces, against the sliding.

        On a slide with a length the moment counts, too: it rests on two contacts at half the length from the second point.
        """
        x, y = self._passed_on(joint)
        across = components(perpendicular(unit_vector(self.tree.axis(joint))))
        normal = x * across[0] + y * across[1]
        length, rounding = joint.settings.get("length"), joint.settings.get("rounding", self.results.rounding)
        contacts = [normal]
        if length is not None:
            lever = symbol(f"{joint.name}.M") / length
            # Two contacts at half the length on either side carry the force in halves and the moment as a couple.
            contacts = [normal * HALF - lever, normal * HALF + lever]
        sizes = [call("sqrt", n * n + rounding * rounding) for n in contacts]
        size = sizes[0] if len(sizes) == 1 else sizes[0] + sizes[1]
        return joint.settings["friction coefficient"] * size * self._sense(joint, symbol(_speed(joint)))

    def _sense(self, joint: Joint, speed: Expression) -> Expression:
        return call("tanh", speed / joint.settings.get("slip speed", SLIP_SPEED))

    # -- wheels and skates -------------------------------------------------------------------------------------------------------

    def wheel(self, joint: Joint) -> None:
        """It rolls along its direction, and does not move across."""
        self.roll(joint)
        self.hold(joint)

    def roll(self, joint: Joint) -> None:
        """The wheel turns as fast as its point moves along it."""
        ends, factors = self._velocity(joint, 0)
        radius, speed = joint.settings["radius"], joint.names["angular velocity"]
        rolling = turning_end(joint.name)
        self.maker.connection(f"{joint.name}.rolling", ends, [rolling], [[factor / radius for factor in factors]])
        # The speed of a wheel follows from the motion of its point, even where the wheel has an inertia of its own.
        self.maker.storage(f"{joint.name}.J", rolling, joint.settings.get("inertia", ZERO), speed, state=False)
        self.results.add_displacement(joint.names["angle"], symbol(speed))

    def hold(self, joint: Joint) -> None:
        """Nothing moves across a wheel or a skate."""
        ends, factors = self._velocity(joint, 1)
        node = f"{joint.name}.across"
        if len(ends) == 1:
            node = ends[0].node
        else:
            self.maker.connection(f"{joint.name}.side", ends, [sliding_end(node)], [factors])
        self.maker.sensor(f"{joint.name}.N", "translational", (FRAME, node), f"{joint.name}.N")

    def _velocity(self, joint: Joint, side: int) -> tuple[list[NodeEnd], list[Expression]]:
        """The velocity of the point along the wheel (0) or across it (1), as a sum of velocities of nodes.

        In a body that has its own speeds along and across a wheel the factors are constant: they turn together.
        """
        mark = joint.first
        heading = unit_vector(self.tree.axis(joint))
        wanted = heading if side == 0 else perpendicular(heading)
        own = [
            speed for speed in self.tree.speeds.values() if speed.node in (f"{mark.body}.along", f"{mark.body}.across")
        ]
        if not own:
            return list(self.bodies.moving(mark)), list(components(wanted))
        first = next(j for j in self.tree.mechanism.joints.values() if j.steers and j.first.body == mark.body)
        frame = unit_vector(self.tree.axis(first))
        at = self.tree.mechanism.coordinates_of
        angle = self.tree.poses[mark.body].angle
        lever = vector_sum(body_vector(at(mark), angle), opposite_vector(body_vector(at(first.first), angle)))
        parts = (frame, perpendicular(frame), perpendicular(lever))
        ends = [*(sliding_end(speed.node) for speed in own), self.bodies.turning(mark.body)]
        factors = [cross_product(part, perpendicular(wanted)) for part in parts]
        kept = [k for k, factor in enumerate(factors) if factor is not ZERO]
        return [ends[k] for k in kept], [factors[k] for k in kept]


def _speed(joint: Joint) -> str:
    """What laws of friction call the speed of turning or of sliding."""
    return DOMAINS["rotational" if joint.turns else "translational"].across.letters[0]


# The table

NAME_OF_VARIABLE = Leaf("name", TEXTS.shape)
FORMULA_OF_COORDINATES = Leaf("formula", VALUE.shape)


@final
class JointKind(NamedTuple):
    """A word that joins points, one or two of them by its `marks`; `make` makes the elements that are not those of its bodies."""

    word: str
    summary: str
    keys: tuple[Key, ...]
    make: Callable[[JointElements, Joint], None] | None = None
    marks: int = 2
    outputs: str = ""

    def key(self, name: str) -> Key | None:
        """The key of a name."""
        return next((key for key in self.keys if key.name == name), None)

    @property
    def record(self) -> Record:
        """The line of such a joint."""
        return Record((Key(self.word, TEXTS, self.summary, required=True), *self.keys))


def _quantity(name: str, summary: str, unit: str = "", own: str = "") -> Key:
    """A quantity, with a star behind its name where it is needed."""
    return Key(name.rstrip("*"), QUANTITY, summary, unit, name.endswith("*"), own=own)


def _name(name: str, summary: str, own: str) -> Key:
    return Key(name, NAME_OF_VARIABLE, summary, own=own)


_DIRECTION = _quantity("direction", "the angle of the axis in the first body", "rad")
_ANGLE = _quantity("angle", "the angle of the second body against the first", "rad")
_STIFFNESS = _quantity("K*", "stiffness", "N/m")
_DAMPING = _quantity("b", "damping", "N*s/m")
_COULOMB = _quantity("friction coefficient", "Coulomb friction by the force that the joint passes on")
_ROUNDING = _quantity(
    "rounding", "the force below which sizes of forces are rounded; without it, chosen from rtol", "N"
)
_SLIP = _quantity("slip speed", "the sliding speed at which friction has 76 % of its size", "m/s")

_WHEEL = (
    _quantity("radius*", "the radius", "m"),
    _quantity("direction", "the angle of the rolling direction in the body", "rad"),
    _quantity("inertia", "moment of inertia about its axle", "kg*m^2"),
    _name("angle", "the name of its angle", "angle"),
    _name("angular velocity", "the name of its angular velocity", "omega"),
)

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
            JointElements.friction,
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
            JointElements.friction,
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
            JointElements.hold,
            marks=1,
            outputs="`N`: the force of the plane on the body, across the edge (to the left)",
        ),
        JointKind(
            "wheel",
            "a wheel on the plane, rolling along a direction of its body",
            _WHEEL,
            JointElements.wheel,
            marks=1,
            outputs="`N`: the force of the plane on the body, across the wheel (to the left)",
        ),
        JointKind(
            "omniwheel",
            "a wheel with rollers: it rolls along its direction and is free across",
            _WHEEL,
            JointElements.roll,
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
            JointElements.spring,
            outputs="`F`: its pull",
        ),
        JointKind(
            "pad",
            "an elastic support: springs and dampers between two points, along both axes of the plane",
            (_STIFFNESS, _DAMPING),
            JointElements.pad,
            outputs="`F_x`, `F_y`: the forces of the springs",
        ),
        JointKind(
            "guide",
            "an elastic prismatic joint: the second body slides along an axis of the first on two contacts",
            (
                _DIRECTION,
                _quantity(
                    "length*", "the distance between the contacts, half of it on each side of the second point", "m"
                ),
                _STIFFNESS,
                _DAMPING,
                _quantity("friction coefficient", "Coulomb friction by the sum of the sizes of the normal forces"),
                _SLIP,
                _name("distance", "the name of the distance along the axis", "s"),
                _name("normal forces", "the names of the two normal forces", "N"),
                _name("friction force", "the name of the friction force", "F_f"),
            ),
            JointElements.guide,
            outputs="the normal forces on the second body, the friction force against the sliding",
        ),
        JointKind(
            "contact",
            "a point or a circle of the first body on a straight wall through the second point, which pushes only",
            (
                _quantity("direction*", "the angle of the outward normal of the wall in the second body", "rad"),
                _quantity("radius", "the radius of the circle around the first point", "m"),
                _STIFFNESS,
                _DAMPING,
                _quantity("friction coefficient", "Coulomb friction by the normal force"),
                _SLIP,
                _name("gap", "the name of the gap", "gap"),
            ),
            JointElements.contact,
            outputs="`N`: the normal force, with what the damper gives; `F_f`: the friction force",
        ),
    )
}


ASSEMBLY = record(
    "tolerance | quantity in m | the largest gap that initial values of all coordinates of a loop may leave"
)
BODY = record(
    """
    mass     | quantity in kg | its mass; none where left out
    inertia  | quantity in kg*m^2 | its moment of inertia about its centre of mass; none where left out
    centre   | pair | its centre of mass, in its own coordinates
    points   | points by name | further points, in its own coordinates
    angle    | text | the name of its angle
    angular velocity | text | the name of its angular velocity
    position | texts | the names of the coordinates of its origin, where no joint leads to it
    velocity | texts | the names of the components of the velocity of its centre
    """,
    empty=True,
)
MECHANISM = record(
    """
    gravity | gravity in m/s^2 | the acceleration of free fall, along -y, or its components [x, y]; that of the file where left out
    bodies* | bodies | rigid bodies, one a line: {mass: m, inertia: J, centre: [x, y], points: {A: [x, y]}}; 'ground' has \
points only
    joints  | joints | what joins them, one a line: {revolute: [ground.O, crank]}
    independent | texts | coordinates that no loop shall decide
    assembly | assembly | how positions are found: {tolerance: 1 mm} is the gap that initial values may leave; without it they \
are guesses
    """,
    {
        "gravity": AnyOf((QUANTITY, PAIR)),
        "bodies": Named(BODY, ""),
        "joints": Named(AnyOf(tuple(kind.record for kind in JOINTS.values())), ""),
        "assembly": ASSEMBLY,
    },
)
