"""Springs, pads, guides and contacts as elements: what pushes bodies without holding them.

Friction follows the normal forces, which are forces of springs and dampers: nothing has to be solved for it.
"""

from collections.abc import Sequence
from typing import Protocol, final

from tellegen.description.mechanisms.bodies import AXES, Bodies
from tellegen.description.mechanisms.geometry import (
    Vector,
    components,
    cross,
    direction,
    fixed,
    minus,
    plus,
    rotated,
)
from tellegen.description.mechanisms.making import FRAME, End, point
from tellegen.description.mechanisms.values import Joint, Mark
from tellegen.description.relations import Law
from tellegen.expressions import HALF, ZERO, Expression, call, number, relation, symbol, to_text, total

SLIP_SPEED = number(1) / 1000
"""Where none is given, friction rises to 76 % of its size within a millimetre per second."""


class Findings(Protocol):
    """What forces add beside elements: signals with their units, and initial values that follow from positions."""

    signals: dict[str, tuple[Expression, str]]
    initial: dict[str, Expression]


@final
class Forces:
    """Makes the elements of springs, pads, guides and contacts."""

    def __init__(self, bodies: Bodies, findings: Findings) -> None:
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
        return plus(self.tree.position(joint.second), minus(self.tree.position(joint.first)))

    def _relative(
        self, joint: Joint, name: str, node: str, rows: Sequence[tuple[Mark, Vector]], turning: dict[str, Expression]
    ) -> None:
        """The velocity of a node as a sum of velocities of points along vectors, and of angular velocities."""
        ends: list[End] = []
        factors: list[Expression] = []
        for mark, along in rows:
            ends.extend(self.bodies.moving(mark))
            factors.extend(components(along))
        for body, lever in turning.items():
            ends.append(self.bodies.turning(body))
            factors.append(lever)
        self.maker.connection(name, ends, [point(node)], [factors])

    # -- springs ---------------------------------------------------------------------------------------------------------------

    def _spring(self, joint: Joint) -> None:
        """A spring along the line between two points: its length changes by the velocities along that line."""
        x, y = components(self._between(joint))
        length = call("sqrt", x * x + y * y)
        along = fixed((x / length, y / length))
        node, K = f"{joint.name}.stretch", joint.settings["K"]
        rows = ((joint.first, minus(along)), (joint.second, along))
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
        axis = direction(self.tree.axis(joint))
        across = rotated(axis)
        own = rotated(direction(self.tree.poses[two.body].angle.turned(joint.settings.get("direction", ZERO))))
        distance = cross(self._between(joint), rotated(axis))
        half = joint.settings["length"] * HALF
        given = joint.names["normal forces"].split(",")
        normal = given if len(given) == 2 else [f"{given[0]}_1", f"{given[0]}_2"]
        for k, (name, side) in enumerate(zip(normal, (-half, half), strict=True), start=1):
            node, held = f"{joint.name}.n_{k}", f"{joint.name}.k_{k}"
            rows = ((one, across), (two, minus(own)))
            self._relative(joint, f"{joint.name}.contact_{k}", node, rows, {one.body: distance + side, two.body: -side})
            self.maker.sensor(f"{joint.name}.N_{k}", "translational", (node, held), name)
            self.maker.add(f"{joint.name}.K_{k}", "spring", (held, FRAME), joint.settings["K"])
            self._damper(joint, held, f"_{k}")
        self.findings.signals[joint.names["distance"]] = (distance, "m")
        slip = f"{joint.name}.slip"
        self._relative(joint, f"{joint.name}.along", slip, ((two, axis), (one, minus(axis))), {})
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
        up = direction(self.tree.poses[wall.body].angle.turned(joint.settings["direction"]))
        along = minus(rotated(up))  # clockwise from the normal: to the right on a floor
        away = minus(self._between(joint))
        gap = cross(away, rotated(up)) - radius
        foot = cross(away, rotated(along))
        node, slip = f"{joint.name}.approach", f"{joint.name}.slip"
        lever = {wall.body: -foot * cross(rotated(along), rotated(up))}
        self._relative(joint, f"{joint.name}.normal", node, ((one, up), (wall, minus(up))), lever)
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
        self._relative(joint, f"{joint.name}.tangent", slip, ((one, along), (wall, minus(along))), turning)
        self._friction(joint, slip, normal, f"{joint.name}.F_f")
