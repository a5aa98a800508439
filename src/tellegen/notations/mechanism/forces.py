"""What pushes bodies without holding them, as elements: springs, pads, guides, contacts, and the friction of joints.

Friction follows the normal forces, which are forces of springs and dampers: nothing has to be solved for it.

What a rigid joint passes on follows from the accelerations, and these from the friction: one equation of the friction force more,
which is solved along with the motion. Friction is smooth in the sliding speed, and sizes of forces are rounded near zero, so that
this equation has a slope everywhere.
"""

from collections.abc import Sequence
from typing import Protocol, final

from tellegen.core.domains import DOMAINS
from tellegen.core.errors import TellegenError
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
from tellegen.notations.mechanism import rules
from tellegen.notations.mechanism.bodies import AXES, FRAME, Bodies, NodeEnd, sliding_end

SLIP_SPEED = number(1) / 1000
"""Where none is given, friction rises to 76 % of its size within a millimetre per second."""


class MechanismResults(Protocol):
    """What forces add beside elements: signals with their units, and initial values that follow from positions."""

    signals: dict[str, tuple[Expression, str]]
    initial: dict[str, Expression]


@final
class AppliedForces:
    """Makes the elements of springs, pads, guides and contacts."""

    def __init__(self, bodies: Bodies, findings: MechanismResults) -> None:
        self.bodies = bodies
        self.maker = bodies.maker
        self.tree = bodies.tree
        self.findings = findings

    def make(self, joint: Joint) -> None:
        """The elements of a joint that is one of these; nothing for others."""
        makers = {"spring": self._spring, "pad": self._pad, "guide": self._guide, "contact": self._contact}
        if joint.kind in makers:
            makers[joint.kind](joint)

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

    def _spring(self, joint: Joint) -> None:
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
        self.findings.initial[force] = K * (length - joint.settings.get("length", ZERO))
        self.findings.signals[f"{joint.name}.length"] = (length, "m")

    def _damper(self, joint: Joint, node: str, suffix: str = "") -> None:
        if (b := joint.settings.get("b")) is not None:
            self.maker.add(f"{joint.name}.b{suffix}", "damper", (node, FRAME), b)

    def _pad(self, joint: Joint) -> None:
        for axis, one, two in zip(AXES, self.bodies.moving(joint.first), self.bodies.moving(joint.second), strict=True):
            nodes = (one.node, two.node)
            force = {"through": f"{joint.name}.F_{axis}"}
            self.maker.add(f"{joint.name}.K_{axis}", "spring", nodes, joint.settings["K"], force)
            if (b := joint.settings.get("b")) is not None:
                self.maker.add(f"{joint.name}.b_{axis}", "damper", nodes, b)

    # -- guides ----------------------------------------------------------------------------------------------------------------

    def _guide(self, joint: Joint) -> None:
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
        self.findings.signals[joint.names["distance"]] = (distance, "m")
        slip = f"{joint.name}.slip"
        self._relative(joint, f"{joint.name}.along", slip, ((two, axis), (one, opposite_vector(axis))), {})
        size = total(call("abs", symbol(name)) for name in normal)
        self._friction(joint, slip, size, joint.names["friction force"])

    def _friction(self, joint: Joint, slip: str, normal: Expression, force: str) -> None:
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

    def _contact(self, joint: Joint) -> None:
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
        pressed = call("min", symbol("x"), ZERO)
        energy = K * pressed * pressed * HALF
        self.maker.add(f"{joint.name}.K", "spring", (node, FRAME), None, {"energy": name})
        self.maker.give_law(f"{joint.name}.K", Law("energy", "x", energy, "through", to_text(energy)))
        self.findings.initial[name] = gap
        touching = relation("<", symbol(name), ZERO)
        normal = -K * call("min", symbol(name), ZERO)
        if (b := joint.settings.get("b")) is not None:  # no more than the spring pushes: nothing sticks
            damped = call("if", touching, call("min", b * symbol("v"), -K * symbol(name)), ZERO)
            self._law(f"{joint.name}.b", "damper", node, damped, {"through": f"{joint.name}.F_b"})
            normal = normal - symbol(f"{joint.name}.F_b")
        self.findings.signals[f"{joint.name}.N"] = (normal, "N")
        turning = {one.body: radius} if radius is not ZERO else {}
        self._relative(joint, f"{joint.name}.tangent", slip, ((one, along), (wall, opposite_vector(along))), turning)
        self._friction(joint, slip, normal, f"{joint.name}.F_f")


ROUNDING = number(1) / 100
"""Sizes of forces are rounded below a hundredth of a newton where nothing else is given."""


@final
class Friction:
    """Makes the friction of revolute and prismatic joints, of those that close loops as well."""

    def __init__(self, bodies: Bodies, findings: MechanismResults) -> None:
        self.bodies = bodies
        self.maker = bodies.maker
        self.tree = bodies.tree
        self.findings = findings

    def make(self, joint: Joint) -> None:
        """The elements of the friction of a joint; nothing for joints without any.

        Raises: DescriptionError (M105) for a pin whose radius is missing.
        """
        if joint.kind not in ("revolute", "prismatic") or not joint.settings.keys() & {
            "friction",
            "friction coefficient",
        }:
            return
        kind, nodes = (
            ("friction", self._turning(joint)) if joint.kind == "revolute" else ("damper", self._sliding(joint))
        )
        viscous, coulomb = joint.settings.get("friction"), joint.settings.get("friction coefficient")
        if viscous is not None:
            self.maker.add(f"{joint.name}.b", kind, nodes, viscous)
        if coulomb is not None:
            law = self._moment(joint) if joint.kind == "revolute" else self._force(joint)
            name, word = (f"{joint.name}.mu", "M_f" if joint.kind == "revolute" else "F_f")
            self.maker.add(name, kind, nodes, None, {"through": f"{joint.name}.{word}"})
            self.maker.give_law(name, Law("resistive", _speed(joint), law, "through", to_text(law)))

    def _turning(self, joint: Joint) -> tuple[str, str]:
        return self.bodies.turning(joint.first.body).node, self.bodies.turning(joint.second.body).node

    def _sliding(self, joint: Joint) -> tuple[str, str]:
        """The node that moves along the axis: that of the slide, or one made for a joint that closes a loop."""
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
        signals = self.findings.signals
        x, y = (signals[name][0] if name in signals else symbol(name) for name in names)
        return x, y

    def _moment(self, joint: Joint) -> Expression:
        """mu r |F| for a pin of radius r, against the turning."""
        radius = joint.settings.get("radius")
        if radius is None:
            raise _no_radius(joint)
        x, y = self._passed_on(joint)
        rounding = joint.settings.get("rounding", ROUNDING)
        size = call("sqrt", x * x + y * y + rounding * rounding)
        return (
            joint.settings["friction coefficient"] * radius * size * self._sense(joint, radius * symbol(_speed(joint)))
        )

    def _force(self, joint: Joint) -> Expression:
        """mu times the sizes of the normal forces, against the sliding.

        On a slide with a length the moment counts, too: it rests on two contacts at half the length from the second point.
        """
        x, y = self._passed_on(joint)
        across = components(perpendicular(unit_vector(self.tree.axis(joint))))
        normal = x * across[0] + y * across[1]
        length, rounding = joint.settings.get("length"), joint.settings.get("rounding", ROUNDING)
        contacts = [normal]
        if length is not None:
            lever = symbol(f"{joint.name}.M") / length
            contacts = [normal * HALF - lever, normal * HALF + lever]
        sizes = [call("sqrt", n * n + rounding * rounding) for n in contacts]
        size = sizes[0] if len(sizes) == 1 else sizes[0] + sizes[1]
        return joint.settings["friction coefficient"] * size * self._sense(joint, symbol(_speed(joint)))

    def _sense(self, joint: Joint, speed: Expression) -> Expression:
        return call("tanh", speed / joint.settings.get("slip speed", SLIP_SPEED))


def _speed(joint: Joint) -> str:
    """What laws of friction call the speed of turning or of sliding."""
    return DOMAINS["rotational" if joint.kind == "revolute" else "translational"].across.letters[0]


def _no_radius(joint: Joint) -> TellegenError:
    return rules.NO_SETTING.error(
        f"the revolute {joint.name} has a friction coefficient, but no 'radius'",
        where=joint.name,
        fix="add 'radius: ...', that of its pin: the friction moment is the friction force times this radius",
        place=joint.place,
    )
