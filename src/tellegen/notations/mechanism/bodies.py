"""Bodies and the joints that lead to them as elements: velocities from the ground outwards, point by point.

v_P = v_Q + omega x (P - Q) for two points of a body. Each joint has an ideal sensor for every direction that it holds, so that its
forces can be read; the interconnection adds Coriolis and centrifugal forces by itself.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, final

from tellegen.core.domains import Side
from tellegen.core.errors import Place
from tellegen.elements import KINDS, multiport_kind
from tellegen.expressions import ONE, ZERO, Expression, symbol, to_text
from tellegen.model.kinematics import MechanismTree, body_vector, components, perpendicular, unit_vector
from tellegen.model.laws import Law, Multiport
from tellegen.model.mechanism import CENTRE, GROUND, ORIGIN, Body, BodyPoint, Joint
from tellegen.model.model import MECHANISM, NOTHING, Element

FRAME = "frame"
STORAGE = {"translational": "mass", "rotational": "inertia"}
WEIGHTLESS = {"translational": "weightless point", "rotational": "weightless shaft"}
SENSOR = {"translational": "mobility", "rotational": "rotational mobility"}
OF_A_BODY: Mapping[str, str] = {MECHANISM: "body"}
OPEN = {"translational": "damper", "rotational": "friction"}
SOURCE = {"translational": "force source", "rotational": "torque source"}


class NodeEnd(NamedTuple):
    """A node with its domain: a port of a connection, against the frame."""

    node: str
    domain: str


def sliding_end(node: str) -> NodeEnd:
    """A node that moves along."""
    return NodeEnd(node, "translational")


def turning_end(node: str) -> NodeEnd:
    """A node that turns."""
    return NodeEnd(node, "rotational")


@final
class ElementMaker:
    """Collects elements by name, in the order in which they are made."""

    def __init__(self) -> None:
        self.elements: dict[str, Element] = {}
        self.place: Place | None = None

    def add(
        self,
        name: str,
        kind: str,
        nodes: tuple[str, str],
        value: Expression | None = None,
        variables: Mapping[str, str] = NOTHING,
        prefer: Side | None = None,
        initial: Expression | None = None,
    ) -> None:
        """An element with two nodes."""
        own = KINDS[kind]
        # By this note the pieces of one body stay one system, though no power may pass between them.
        notes = OF_A_BODY if own.role == "storage" and own.grounded else NOTHING
        self.elements[name] = Element(
            name, own, nodes, value, variables=variables, initial=initial, prefer=prefer, place=self.place, notes=notes
        )

    def storage(self, name: str, at: NodeEnd, value: Expression, speed: str, *, state: bool) -> None:
        """An inertia whose speed is a state, or follows; one of zero makes a state that only what it moves has inertia for."""
        # A speed that others decide follows: its inertia answers with a force, in derivative causality.
        prefer: Side = "across" if state else "through"
        ends = (at.node, FRAME)
        if value is ZERO:
            self.add(name, WEIGHTLESS[at.domain], ends, None, {"across": speed}, prefer)
        else:
            self.add(name, STORAGE[at.domain], ends, value, {"across": speed}, prefer)

    def sensor(self, name: str, domain: str, nodes: tuple[str, str], force: str) -> None:
        """Holds two nodes together and tells the force (or moment) that the first one exerts on the second."""
        self.add(name, SENSOR[domain], nodes, ZERO, {"through": force})

    def source(self, name: str, at: NodeEnd, force: Expression) -> None:
        """A force on a node that follows from a formula."""
        self.elements[name] = Element(
            name, KINDS[SOURCE[at.domain]], (FRAME, at.node), place=self.place, signal=force, signal_text=to_text(force)
        )

    def weight(self, name: str, at: NodeEnd, pull: Expression, energy: Expression) -> None:
        """A constant pull on a node, with the energy that it has taken at a position."""
        law = Law("potential", "", energy, "through", to_text(energy))
        self.elements[name] = Element(name, KINDS["weight"], (at.node, FRAME), pull, law, place=self.place)

    def connection(
        self, name: str, given: Sequence[NodeEnd], gives: Sequence[NodeEnd], K: Sequence[Sequence[Expression]]
    ) -> None:
        """Velocities by others: those of `gives` are K times those of `given`. Ends at the frame, and zeros, are left out."""
        # The frame stands still, and a lever of zero passes nothing: both would be ports without power.
        used = [j for j, end in enumerate(given) if end.node != FRAME and any(row[j] is not ZERO for row in K)]
        ends = [*(given[j] for j in used), *gives]
        across: Side = "across"
        sides = [across] * len(used), [across] * len(gives)
        relation = Multiport.of_sides(*sides, [[row[j] for j in used] for row in K])
        kind = multiport_kind(tuple(end.domain for end in ends))
        nodes = tuple(node for end in ends for node in (end.node, FRAME))
        self.elements[name] = Element(name, kind, nodes, multiport=relation, place=self.place)

    def give_law(self, name: str, law: Law) -> None:
        """Give an element a law instead of a value."""
        self.elements[name] = replace(self.elements[name], value=None, law=law)

    def prune(self, others: Iterable[Element]) -> None:
        """Take out sensors that lead to nodes where nothing else is: no force passes there."""
        while True:
            # Taking one sensor out may leave the next one alone.
            used = Counter(node for e in (*others, *self.elements.values()) for node in e.nodes)
            idle = [e.name for e in self.elements.values() if e.value is ZERO and any(used[n] == 1 for n in e.nodes)]
            if not idle:
                break
            for name in idle:
                del self.elements[name]
        for element in list(self.elements.values()):
            if element.kind.role == "storage" and used[element.nodes[0]] == 1:  # nothing pushes it: no force at all
                self.place = element.place
                self.add(f"{element.name}_free", OPEN[element.kind.domains[0]], (element.nodes[0], FRAME), ZERO)


AXES = ("x", "y")


@final
class Bodies:
    """Makes the elements of the bodies of a tree; `follows` are speeds that loops decide."""

    def __init__(self, tree: MechanismTree, maker: ElementMaker, follows: Iterable[str]) -> None:
        self.tree, self.maker = tree, maker
        self.follows = frozenset(follows)
        self._made: dict[tuple[str, str], tuple[str, str]] = {}

    # -- nodes -----------------------------------------------------------------------------------------------------------------

    def turning(self, body: str) -> NodeEnd:
        """The node that turns with a body."""
        return turning_end(FRAME if body == GROUND else body)

    def nodes(self, mark: BodyPoint) -> tuple[str, str]:
        """The nodes that move with a point; points in one place share them."""
        if mark.body == GROUND:
            return FRAME, FRAME
        where = self.tree.mechanism.coordinates_of(mark)
        base = self.tree.base[mark.body]
        if where == self.tree.mechanism.coordinates_of(base):
            return f"{mark.body}.{base.point}.x", f"{mark.body}.{base.point}.y"
        return f"{mark.body}.{mark.point}.x", f"{mark.body}.{mark.point}.y"

    def moving(self, mark: BodyPoint) -> tuple[NodeEnd, NodeEnd]:
        """The ends at a point, whose connection is made where it is not yet."""
        nodes = self.nodes(mark)
        self.reach(mark)
        return sliding_end(nodes[0]), sliding_end(nodes[1])

    def reach(self, mark: BodyPoint, axes: Iterable[str] = AXES) -> None:
        """Make the connection that moves a point with its body."""
        nodes = self.nodes(mark)
        base = self.tree.base.get(mark.body)
        # Points in one place share their nodes, and so one connection; the point that a joint holds needs none.
        if base is None or nodes in self._made.values() or nodes == self.nodes(base):
            return
        self._made[mark.body, mark.point] = nodes
        pose, at = self.tree.poses[mark.body], self.tree.mechanism.coordinates_of
        lever = body_vector((at(mark)[0] - at(base)[0], at(mark)[1] - at(base)[1]), pose.angle)
        x, y = components(perpendicular(lever))
        given = (*map(sliding_end, self.nodes(base)), self.turning(mark.body))
        rows = {"x": (ONE, ZERO, x), "y": (ZERO, ONE, y)}
        wanted = [axis for axis in AXES if axis in axes]
        gives = [sliding_end(nodes[AXES.index(axis)]) for axis in wanted]
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
        centre = BodyPoint(body.name, CENTRE)
        ends = self.moving(centre)
        # A free body in its centre of mass has its own speeds as states: m v is then as simple as it can be.
        floats = body.name not in self.tree.joint_to and self._at_origin(body.name, centre)
        place = components(self.tree.position(centre))
        falls = zip(place, self.tree.mechanism.gravity, strict=True)
        for axis, end, speed, (at, fall) in zip(AXES, ends, body.velocity, falls, strict=True):
            self.maker.storage(f"{body.name}.m{axis}", end, body.mass, speed, state=floats)
            if fall is not ZERO:
                pull = -body.mass * fall
                self.maker.weight(f"{body.name}.weight_{axis}", end, pull, pull * at)

    def _at_origin(self, body: str, mark: BodyPoint) -> bool:
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
            ends = [sliding_end(speed.node) for speed in own]
            self.maker.connection(f"{body.name}.heading", ends, list(map(sliding_end, self.nodes(base))), rows)
        elif body.mass is not ZERO and self._at_origin(body.name, BodyPoint(body.name, CENTRE)):
            return
        for speed in own:
            self.maker.storage(
                f"{body.name}.{speed.node.rpartition('.')[2] if speed.node.count('.') == 1 else 'p' + speed.node[-1]}",
                sliding_end(speed.node),
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
        if joint.slides:
            first = self._slide(joint, forward)
        for axis, one, two in zip(AXES, first, second, strict=True):
            self.maker.sensor(f"{joint.name}.{axis}", "translational", (one, two), f"{joint.name}.F_{axis}")
        if not joint.turns:
            turning = (self.turning(joint.first.body).node, self.turning(joint.second.body).node)
            self.maker.sensor(f"{joint.name}.M", "rotational", turning, f"{joint.name}.M")

    def _slide(self, joint: Joint, forward: bool) -> tuple[str, str]:
        """The connection of a prismatic joint; gives the nodes of the first body where the second is now."""
        here = (f"{joint.name}.x", f"{joint.name}.y")
        distance, speed = symbol(joint.names["distance"]), joint.names["speed"]
        axis = unit_vector(self.tree.axis(joint))
        along = components(axis)
        slid = components(perpendicular(body_vector((distance, ZERO), axis[0].angle)))
        slider, body = sliding_end(joint.name), self.turning(joint.first.body)
        rows: list[list[Expression]] = [[ONE, ZERO, slid[0], along[0]], [ZERO, ONE, slid[1], along[1]]]
        fixed_to, moved = self.nodes(joint.first), here
        if not forward:
            # Seen from the second body the slide runs the other way, turning with the first one still.
            rows = [[*row[:2], -row[2], -row[3]] for row in rows]
            fixed_to, moved = here, fixed_to
        given = (*map(sliding_end, fixed_to), body, slider)
        self.maker.connection(f"{joint.name}.guide", given, list(map(sliding_end, moved)), rows)
        self.maker.storage(f"{joint.name}.slide", slider, ZERO, speed, state=speed not in self.follows)
        return here
