"""From bodies and joints to elements of the network, coordinates, and the equations that close loops."""

from typing import final

from tellegen.core.names import listing
from tellegen.core.units import parse_unit
from tellegen.description.context import Context
from tellegen.description.document import Mapping, Node
from tellegen.description.mechanisms import rules
from tellegen.description.mechanisms.bodies import Bodies
from tellegen.description.mechanisms.fitting import Fitting, given_positions
from tellegen.description.mechanisms.forces import Forces
from tellegen.description.mechanisms.friction import Friction
from tellegen.description.mechanisms.geometry import components
from tellegen.description.mechanisms.inertia import without_inertia
from tellegen.description.mechanisms.loops import Loop, sliding_distance
from tellegen.description.mechanisms.making import FRAME, SENSOR, End, Maker, point
from tellegen.description.mechanisms.tree import build_tree
from tellegen.description.mechanisms.values import GROUND, Joint, Mark, Mechanism
from tellegen.description.mechanisms.wheels import Wheels
from tellegen.description.model import Closure
from tellegen.description.signals.values import SignalDefinition
from tellegen.description.values import definition_order, evaluate_in_order
from tellegen.expressions import ONE, ZERO, Expression, call, number, symbol, to_text, total

LENGTH, FORCE = "m", "N"


@final
class Lowering:
    """Adds a mechanism to what a context holds. `closures` and `initial` are for the model; the rest goes into the context."""

    def __init__(self, context: Context, mechanism: Mechanism, node: Node, root: Mapping) -> None:
        self.context = context
        self.mechanism = mechanism
        self.node = node
        self.tree = build_tree(mechanism)
        self.maker = Maker()
        self.given = given_positions(context, root)
        self.initial: dict[str, Expression] = {}  # of coordinates and states that follow from positions
        self.signals: dict[str, tuple[Expression, str]] = {}  # with their units; "" where there is none
        fitting = Fitting(context, self.tree, self.given)
        loops = fitting.loops
        self.initial |= {name: number(value) for name, value in fitting.start.items() if name not in self.given}
        self._check_inertia(loops)
        self.closures = tuple(Closure(loop.joint.name, loop.equations, loop.solves) for loop in loops)
        self._emit(loops, _wanted_points(context, mechanism))

    def _check_inertia(self, loops: list[Loop]) -> None:
        """Every motion moves some inertia: of the mechanism, or of the network that is joined to it.

        Raises: DescriptionError (M112) naming the speed that nothing has inertia for.
        """
        if any(e.kind.role in ("storage", "coupling") for e in self.context.elements.values()):
            return
        start = {name: value.evaluate({}) for name, value in self.initial.items() if not value.free_symbols}
        order, _ = definition_order(self.context.parameters)
        known, _ = evaluate_in_order(self.context.parameters, order)
        values = {**dict.fromkeys(self.tree.coordinates, 0.1), **known, **start, **self.given}
        try:
            speed = without_inertia(self.tree, loops, values)
        except (KeyError, ArithmeticError, ValueError):  # a length or a mass without a value
            return
        if speed:
            names = [c.name for c in self.tree.coordinates.values() if speed in c.rates]
            raise rules.WEIGHTLESS.error(
                f"nothing has inertia for '{speed}', the rate of {listing(names)}: its bodies have no mass there",
                where=names[0],
                fix="give a body that it moves a mass or an inertia, or hold it by another joint",
                place=self.context.place(self.node),
                members=names,
            )

    # -- elements --------------------------------------------------------------------------------------------------------------

    def _emit(self, loops: list[Loop], wanted: list[tuple[Mark, set[str]]]) -> None:
        tree = self.tree
        follows = [speed for loop in loops for speed in loop.follows]
        cams = [joint for joint in self.mechanism.joints.values() if joint.kind == "cam"]
        follows += [self._cam_follower(joint) for joint in cams]
        bodies = Bodies(tree, self.maker, follows)
        for name, body in self.mechanism.bodies.items():
            if name != GROUND:
                bodies.make(body)
        for loop in loops:
            self._close(loop, bodies)
        self.closures += tuple(self._cam(joint) for joint in cams)
        wheels, forces, friction = Wheels(bodies, self), Forces(bodies, self), Friction(bodies, self)
        for joint in self.mechanism.joints.values():
            self.maker.place = joint.place
            wheels.make(joint)
            forces.make(joint)
            friction.make(joint)
        for mark, axes in wanted:
            bodies.reach(mark, axes)
        for coordinate in tree.coordinates.values():
            self.add_displacement(coordinate.name, coordinate.rate)
        self.maker.prune(self.context.elements.values())
        self._add_elements()
        for name, (formula, unit) in self.signals.items():
            settings = {"formula": formula}
            dimension = parse_unit(unit).dimension if unit else None
            place, texts = self.context.place(self.node), {"formula": to_text(formula)}
            self.context.signals[name] = SignalDefinition(name, "formula", settings, dimension, place, texts, unit)

    def add_displacement(self, name: str, rate: Expression) -> None:
        """A coordinate with its rate."""
        if name in self.context.displacements or name in self.context.parameters:
            raise rules.NAME_TWICE.error(
                f"'{name}' names a coordinate of the mechanism and something else",
                fix="choose another name for one of them",
                place=self.context.place(self.node),
            )
        self.context.displacements[name] = rate

    def _add_elements(self) -> None:
        elements = self.context.elements
        twice = sorted(self.maker.elements.keys() & elements.keys())
        if twice:
            what = f"{listing(twice)} is described twice: by the mechanism and in the network"
            raise rules.NAME_TWICE.error(what, fix="rename it in the network", place=elements[twice[0]].place)
        elements.update(self.maker.elements)

    def _close(self, loop: Loop, bodies: Bodies) -> None:
        """The connection and the sensors of a joint that closes a loop, and its forces as signals."""
        joint = loop.joint
        self.maker.place = joint.place
        turning = bodies.turning(joint.first.body)
        rows = [row for row in loop.rows if row.along]
        if len(rows) < len(loop.rows):
            nodes = (turning.node, bodies.turning(joint.second.body).node)
            self.maker.sensor(f"{joint.name}.M", "rotational", nodes, f"{joint.name}.M")
        given = (*bodies.moving(joint.first), *bodies.moving(joint.second), turning)
        along = [components(row.along) for row in rows]
        K = [(x, y, -x, -y, row.turning) for (x, y), row in zip(along, rows, strict=True)]
        gives = [point(f"{joint.name}.u_{k + 1}") for k in range(len(rows))]
        self.maker.connection(f"{joint.name}.loop", given, gives, K)
        for k, end in enumerate(gives, start=1):
            self.maker.sensor(f"{joint.name}.hold_{k}", "translational", (end.node, FRAME), f"{joint.name}.f_{k}")
        for axis, name in enumerate(("F_x", "F_y")):
            force = total(pair[axis] * symbol(f"{joint.name}.f_{k}") for k, pair in enumerate(along, start=1))
            self.signals[f"{joint.name}.{name}"] = (force, FORCE)
        gap = total(e * e for e in loop.equations[-2:]) if joint.kind != "prismatic" else loop.equations[1] ** 2
        self.signals[f"{joint.name}.gap"] = (call("sqrt", gap), LENGTH)
        self.signals[f"{joint.name}.margin"] = (loop.margin, "")
        if joint.kind == "prismatic":
            self.signals[joint.names["distance"]] = (sliding_distance(self.tree, joint), LENGTH)

    # -- cams ------------------------------------------------------------------------------------------------------------------

    def _cam_coordinates(self, joint: Joint) -> tuple[str, str]:
        """The coordinates of a cam and of its follower: those of bodies are their angles, those of joints their distances."""
        found = []
        for mark in (joint.first, joint.second):
            body, other = self.mechanism.bodies.get(mark.body), self.mechanism.joints.get(mark.body)
            name = body.angle if body is not None else other.names.get("distance", "") if other is not None else ""
            if name not in self.tree.coordinates:
                known = [
                    *self.mechanism.bodies,
                    *(j.name for j in self.mechanism.joints.values() if j.kind == "prismatic"),
                ]
                what = f"'{mark.body}' of the cam '{joint.name}' is neither a body that turns nor a prismatic joint"
                raise rules.NO_SUCH_POINT.error(
                    what, where=joint.name, fix=f"name one of {listing(known)}", place=joint.place
                )
            found.append(name)
        return found[0], found[1]

    def _cam_follower(self, joint: Joint) -> str:
        return next(iter(self.tree.coordinates[self._cam_coordinates(joint)[1]].rates))

    def _cam(self, joint: Joint) -> Closure:
        """The speed of a follower is the slope of the lift times that of the cam."""
        cam, follower = self._cam_coordinates(joint)
        lift = joint.settings["lift"]
        speeds = [self.tree.speeds[next(iter(self.tree.coordinates[name].rates))] for name in (cam, follower)]
        here = End(f"{joint.name}.u", speeds[1].domain)
        given = [End(speed.node, speed.domain) for speed in speeds]
        self.maker.place = joint.place
        self.maker.connection(f"{joint.name}.cam", given, [here], [[-lift.derivative(cam), ONE]])
        self.maker.add(
            f"{joint.name}.lift", SENSOR[here.domain], ("frame", here.node), ZERO, {"through": f"{joint.name}.F"}
        )
        if follower not in self.given:
            start = lift.substitute({cam: number(self.given.get(cam, 0.0))})
            self.initial[follower] = start
        return Closure(joint.name, (symbol(follower) - lift,), (follower,))


def _wanted_points(context: Context, mechanism: Mechanism) -> list[tuple[Mark, set[str]]]:
    """Points that elements of the network are joined to, with the axes that they use."""
    found: dict[Mark, set[str]] = {}
    for element in context.elements.values():
        for node in element.nodes:
            body, _, rest = node.partition(".")
            name, _, axis = rest.rpartition(".")
            if body in mechanism.bodies and axis in ("x", "y") and name in mechanism.bodies[body].points:
                found.setdefault(Mark(body, name), set()).add(axis)
    return list(found.items())
