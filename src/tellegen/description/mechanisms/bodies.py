"""Bodies and the joints that lead to them as elements: velocities from the ground outwards, point by point.

v_P = v_Q + omega x (P - Q) for two points of a body. Each joint has an ideal sensor for every direction that it holds, so that its
forces can be read; the interconnection adds Coriolis and centrifugal forces by itself.
"""

from collections.abc import Iterable
from typing import final

from tellegen.description.mechanisms.geometry import components, fixed, rotated
from tellegen.description.mechanisms.making import FRAME, End, Maker, point, shaft
from tellegen.description.mechanisms.tree import Tree, axis_vector
from tellegen.description.mechanisms.values import CENTRE, GROUND, ORIGIN, Body, Joint, Mark
from tellegen.expressions import ONE, ZERO, Expression, symbol

AXES = ("x", "y")


@final
class Bodies:
    """Makes the elements of the bodies of a tree; `follows` are speeds that loops decide."""

    def __init__(self, tree: Tree, maker: Maker, follows: Iterable[str]) -> None:
        self.tree = tree
        self.maker = maker
        self.follows = frozenset(follows)
        self._made: dict[tuple[str, str], tuple[str, str]] = {}

    # -- nodes -----------------------------------------------------------------------------------------------------------------

    def turning(self, body: str) -> End:
        """The node that turns with a body."""
        return shaft(FRAME if body == GROUND else body)

    def nodes(self, mark: Mark) -> tuple[str, str]:
        """The nodes that move with a point; points in one place share them."""
        if mark.body == GROUND:
            return FRAME, FRAME
        where = self.tree.mechanism.coordinates_of(mark)
        base = self.tree.base[mark.body]
        if where == self.tree.mechanism.coordinates_of(base):
            return f"{mark.body}.{base.point}.x", f"{mark.body}.{base.point}.y"
        return f"{mark.body}.{mark.point}.x", f"{mark.body}.{mark.point}.y"

    def moving(self, mark: Mark) -> tuple[End, End]:
        """The ends at a point, whose connection is made where it is not yet."""
        nodes = self.nodes(mark)
        self.reach(mark)
        return point(nodes[0]), point(nodes[1])

    def reach(self, mark: Mark, axes: Iterable[str] = AXES) -> None:
        """Make the connection that moves a point with its body."""
        nodes = self.nodes(mark)
        base = self.tree.base.get(mark.body)
        if base is None or nodes in self._made.values() or nodes == self.nodes(base):
            return
        self._made[mark.body, mark.point] = nodes
        pose, at = self.tree.poses[mark.body], self.tree.mechanism.coordinates_of
        lever = fixed((at(mark)[0] - at(base)[0], at(mark)[1] - at(base)[1]), pose.angle)
        x, y = components(rotated(lever))
        given = (*map(point, self.nodes(base)), self.turning(mark.body))
        rows = {"x": (ONE, ZERO, x), "y": (ZERO, ONE, y)}
        wanted = [axis for axis in AXES if axis in axes]
        gives = [point(nodes[AXES.index(axis)]) for axis in wanted]
        self.maker.connection(f"{mark.body}.{mark.point}", given, gives, [rows[axis] for axis in wanted])

    # -- bodies ----------------------------------------------------------------------------------------------------------------

    def make(self, body: Body) -> None:
        """The inertia of a body, what holds it, its mass and its weight."""
        self.maker.place = body.place
        joint = self.tree.joint_to.get(body.name)
        self._inertia(body, joint)
        if joint is not None:
            self._joint(joint, body.name)
        else:
            self._floating(body)
        if body.mass is not ZERO:
            self._mass(body)

    def _inertia(self, body: Body, joint: Joint | None) -> None:
        turns = self.tree.poses[body.name].angle.coordinate == body.angle
        if turns or body.inertia is not ZERO:
            state = turns and body.speed not in self.follows
            self.maker.storage(f"{body.name}.J", self.turning(body.name), body.inertia, body.speed, state=state)

    def _mass(self, body: Body) -> None:
        centre = Mark(body.name, CENTRE)
        ends = self.moving(centre)
        floats = body.name not in self.tree.joint_to and self._at_origin(body.name, centre)
        for axis, end, speed, pull in zip(AXES, ends, body.velocity, self.tree.mechanism.gravity, strict=True):
            self.maker.storage(f"{body.name}.m{axis}", end, body.mass, speed, state=floats)
            if pull is not ZERO:
                self.maker.source(f"{body.name}.weight_{axis}", end, body.mass * pull)

    def _at_origin(self, body: str, mark: Mark) -> bool:
        base = self.tree.base[body]
        return base.point == ORIGIN and self.nodes(mark) == self.nodes(base)

    def _floating(self, body: Body) -> None:
        """A body that no joint leads to: its speeds are states, by its mass where that is in the origin."""
        base = self.tree.base[body.name]
        own = [s for s in self.tree.speeds.values() if s.node.startswith(f"{body.name}.")]
        if own and own[0].node.endswith((".along", ".across")):
            heading = self.tree.coordinates
            rates = [heading[name].rates for name in body.at]
            rows = [[row.get(speed.name, ZERO) for speed in own] for row in rates]
            ends = [point(speed.node) for speed in own]
            self.maker.connection(f"{body.name}.heading", ends, list(map(point, self.nodes(base))), rows)
        elif body.mass is not ZERO and self._at_origin(body.name, Mark(body.name, CENTRE)):
            return
        for speed in own:
            self.maker.storage(
                f"{body.name}.{speed.node.rpartition('.')[2] if speed.node.count('.') == 1 else 'p' + speed.node[-1]}",
                point(speed.node),
                ZERO,
                speed.name,
                state=speed.name not in self.follows,
            )

    # -- joints ----------------------------------------------------------------------------------------------------------------

    def _joint(self, joint: Joint, reached: str) -> None:
        self.maker.place = joint.place
        forward = joint.second.body == reached
        first, second = self.nodes(joint.first), self.nodes(joint.second)
        self.reach(joint.first if forward else joint.second)
        if joint.kind == "prismatic":
            first = self._slide(joint, forward)
        for axis, one, two in zip(AXES, first, second, strict=True):
            self.maker.sensor(f"{joint.name}.{axis}", "translational", (one, two), f"{joint.name}.F_{axis}")
        if joint.kind != "revolute":
            turning = (self.turning(joint.first.body).node, self.turning(joint.second.body).node)
            self.maker.sensor(f"{joint.name}.M", "rotational", turning, f"{joint.name}.M")

    def _slide(self, joint: Joint, forward: bool) -> tuple[str, str]:
        """The connection of a prismatic joint; gives the nodes of the first body where the second is now."""
        here = (f"{joint.name}.x", f"{joint.name}.y")
        distance, speed = symbol(joint.names["distance"]), joint.names["speed"]
        axis = axis_vector(self.tree, joint)
        along = components(axis)
        slid = components(rotated(fixed((distance, ZERO), axis[0].angle)))
        slider, body = point(joint.name), self.turning(joint.first.body)
        rows: list[list[Expression]] = [[ONE, ZERO, slid[0], along[0]], [ZERO, ONE, slid[1], along[1]]]
        fixed_to, moved = self.nodes(joint.first), here
        if not forward:
            rows = [[*row[:2], -row[2], -row[3]] for row in rows]
            fixed_to, moved = here, fixed_to
        given = (*map(point, fixed_to), body, slider)
        self.maker.connection(f"{joint.name}.guide", given, list(map(point, moved)), rows)
        self.maker.storage(f"{joint.name}.slide", slider, ZERO, speed, state=speed not in self.follows)
        return here
