"""From bodies and joints to elements of the network, coordinates, and the equations that close loops where the mechanism starts."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import final

from tellegen.core.errors import TellegenError
from tellegen.core.names import listing
from tellegen.core.units import parse_unit
from tellegen.expressions import ONE, ZERO, Add, Expression, call, number, symbol, to_text, total
from tellegen.model import kinematics
from tellegen.model.mechanism import CENTRE, GROUND, BodyPoint, Joint, Mechanism
from tellegen.model.model import Closure
from tellegen.model.signals import SignalDefinition
from tellegen.notations.context import ReadingContext
from tellegen.notations.mechanism import rules
from tellegen.notations.mechanism.bodies import AXES, FRAME, SENSOR, Bodies, ElementMaker, NodeEnd, sliding_end
from tellegen.notations.mechanism.joints import JOINTS, JointElements, rounding_of
from tellegen.notations.mechanism.loops import LENGTH, KinematicLoop, LoopAssembly
from tellegen.notations.parameters import known_values
from tellegen.notations.signals.blocks import FORMULA
from tellegen.notations.yaml.document import MappingNode, Node, Scalar

NO_INERTIA = 1e-12
"""An inertia below this share of the largest one counts as none."""

SpeedRow = dict[str, float]


def _speed_without_inertia(
    tree: kinematics.MechanismTree, loops: Sequence[KinematicLoop], values: Mapping[str, float]
) -> str:
    """A speed that can change without moving any inertia, at a position; empty where there is none."""
    rows = _weighted_rows(tree, values)
    for loop in loops:
        rows = _followed(rows, loop, tree, values)
    follows = {name for loop in loops for name in loop.follows}
    # A wheel or a skate holds the speed across it at zero: nothing has to have inertia for that one.
    free = [name for name, s in tree.speeds.items() if name not in follows and not s.node.endswith(".across")]
    return _without_pivot(rows, free)


def _weighted_rows(tree: kinematics.MechanismTree, values: Mapping[str, float]) -> list[SpeedRow]:
    """Velocities of masses and angular velocities of inertias by speeds, times the roots of these: M is the sum of squares."""
    rows: list[SpeedRow] = []
    for name, body in tree.mechanism.bodies.items():
        if name == GROUND:
            continue
        if body.mass is not ZERO:
            size = abs(body.mass.evaluate(values)) ** 0.5
            x, y = kinematics.components(tree.position(BodyPoint(name, CENTRE)))
            rows += [_by_speeds(tree, e, values, size) for e in (x, y)]
        if body.inertia is not ZERO:
            size = abs(body.inertia.evaluate(values)) ** 0.5
            rows.append(_by_speeds(tree, tree.poses[name].angle.expression, values, size))
    return rows


def _by_speeds(
    tree: kinematics.MechanismTree, position: Expression, values: Mapping[str, float], size: float
) -> SpeedRow:
    row: SpeedRow = {}
    terms = position.terms if isinstance(position, Add) else ((position, 1),)
    for term, count in terms:  # one by one: each reads few of the coordinates of a long chain
        for name in term.free_symbols & tree.coordinates.keys():
            slope = term.derivative(name).evaluate(values) * float(count) * size
            for speed, factor in tree.coordinates[name].rates.items():
                row[speed] = row.get(speed, 0.0) + slope * factor.evaluate(values)
    return row


def _followed(
    rows: list[SpeedRow], loop: KinematicLoop, tree: kinematics.MechanismTree, values: Mapping[str, float]
) -> list[SpeedRow]:
    """Rows in which the speeds that a loop decides are replaced by what decides them."""
    equations = [_by_speeds(tree, e, values, 1.0) for e in loop.equations]
    for speed in loop.follows:
        pivot = max(equations, key=lambda e: abs(e.get(speed, 0.0)))
        if not pivot.get(speed):
            return rows
        equations = [_minus(e, pivot, speed) for e in equations if e is not pivot]
        rows = [_minus(row, pivot, speed) for row in rows]
    return rows


def _minus(row: SpeedRow, pivot: SpeedRow, speed: str) -> SpeedRow:
    factor = row.get(speed, 0.0) / pivot[speed]
    found = {name: row.get(name, 0.0) - factor * pivot.get(name, 0.0) for name in row.keys() | pivot.keys()}
    found[speed] = 0.0
    return found


def _without_pivot(rows: list[SpeedRow], speeds: list[str]) -> str:
    largest = max((abs(x) for row in rows for x in row.values()), default=0.0)
    left = list(rows)
    for speed in speeds:
        pivot = max(left, key=lambda row: abs(row.get(speed, 0.0)), default={})
        # Rows are measured by roots of inertias, so their share is a root as well.
        if abs(pivot.get(speed, 0.0)) <= NO_INERTIA**0.5 * largest or not largest:
            return speed
        left = [_minus(row, pivot, speed) for row in left if row is not pivot]
    return ""


def _given_positions(context: ReadingContext, root: MappingNode) -> dict[str, float]:
    """What the experiment says about initial values, as numbers; what cannot be read is reported with the experiment."""
    experiment = root.get("experiment")
    initial = experiment.get("initial") if isinstance(experiment, MappingNode) else None
    if not isinstance(initial, MappingNode):
        return {}
    values = known_values(context.parameters)
    found: dict[str, float] = {}
    for key, node in initial.items():
        if isinstance(node, Scalar):
            try:
                found[key.text] = context.quantity(node, "an initial value").expression.evaluate(values)
            except (TellegenError, ArithmeticError, ValueError, KeyError):
                continue
    return found


FORCE = "N"


USUAL_RTOL = 1e-6
"""What runs are asked for where the experiment says nothing."""


def _given_tolerance(root: MappingNode) -> float:
    """The relative tolerance of the experiment; what cannot be read is reported with it."""
    experiment = root.get("experiment")
    given = experiment.get("rtol") if isinstance(experiment, MappingNode) else None
    try:
        found = float(given.text) if isinstance(given, Scalar) else USUAL_RTOL
    except ValueError:
        return USUAL_RTOL
    return found if 0.0 < found < 1.0 else USUAL_RTOL


@final
class LoweredMechanism:
    """Adds a mechanism to what a context holds. `closures` and `initial` are for the model; the rest goes into the context."""

    def __init__(self, context: ReadingContext, mechanism: Mechanism, node: Node, root: MappingNode) -> None:
        self.context, self.mechanism, self.node = context, mechanism, node
        self.tree = kinematics.build_tree(mechanism)
        self.maker = ElementMaker()
        self.given = _given_positions(context, root)
        self.rounding = rounding_of(_given_tolerance(root))
        self.initial: dict[str, Expression] = {}  # of coordinates and states that follow from positions
        self.signals: dict[str, tuple[Expression, str]] = {}  # with their units; "" where there is none
        fitting = LoopAssembly(context, self.tree, self.given)
        loops = fitting.loops
        self.initial |= {name: number(value) for name, value in fitting.start.items() if name not in self.given}
        self.signals |= fitting.followers()
        context.positions |= fitting.followers().keys()
        self._tell_position(fitting)
        self._check_inertia(loops)
        self.closures = tuple(Closure(loop.joint.name, loop.equations, loop.solves) for loop in loops)
        self._emit(loops, _wanted_points(context, mechanism))

    def _tell_position(self, fitting: LoopAssembly) -> None:
        """A notice where a loop starts that nobody gave a position."""
        followers = {name: formula for name, (formula, _) in fitting.followers().items()}
        for loop in fitting.loops:
            names = {name for equation in loop.equations for name in equation.free_symbols}
            inside = names & self.tree.coordinates.keys()
            said = [n for n in self.given if n in inside or (n in followers and followers[n].free_symbols & inside)]
            if said or not names - inside <= fitting.known.keys():  # lengths without a value are in no position
                continue
            where = [f"{name} = {fitting.start[name] + 0.0:.4g}" for name in self.tree.coordinates if name in inside]
            found = rules.CHOSEN_POSITION.finding(
                f"the loop closed by '{loop.joint.name}' starts at {', '.join(where)}, which nobody asked for",
                where=loop.joint.name,
                fix=f"give an initial value to one of {listing(sorted(inside))}",
                place=loop.joint.place,
            )
            self.context.notes.append(found)

    def _check_inertia(self, loops: list[KinematicLoop]) -> None:
        """Every motion moves some inertia: of the mechanism, or of the network that is joined to it.

        Raises: DescriptionError (M112) naming the speed that nothing has inertia for.
        """
        # Elements of the network may bring the inertia that the bodies lack.
        if any(e.kind.role in ("storage", "coupling") for e in self.context.elements.values()):
            return
        start = {name: value.evaluate({}) for name, value in self.initial.items() if not value.free_symbols}
        known = known_values(self.context.parameters)
        values = {**dict.fromkeys(self.tree.coordinates, 0.1), **known, **start, **self.given}
        try:
            speed = _speed_without_inertia(self.tree, loops, values)
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

    def _emit(self, loops: list[KinematicLoop], wanted: list[tuple[BodyPoint, set[str]]]) -> None:
        tree = self.tree
        follows = [speed for loop in loops for speed in loop.follows]
        cams = [joint for joint in self.mechanism.joints.values() if joint.kind == "cam"]
        follows += [next(iter(tree.coordinates[self._cam_coordinates(joint)[1]].rates)) for joint in cams]
        bodies = Bodies(tree, self.maker, follows)
        for name, body in self.mechanism.bodies.items():
            if name != GROUND:
                bodies.make(body)
        for loop in loops:
            self._close(loop, bodies)
        self.closures += tuple(self._cam(joint) for joint in cams)
        elements = JointElements(bodies, self)
        for joint in self.mechanism.joints.values():
            self.maker.place = joint.place
            if (make := JOINTS[joint.kind].make) is not None:
                make(elements, joint)
        # The network reads the nodes of points: a point that it names is reached along the axes that it uses.
        for mark, axes in wanted:
            bodies.reach(mark, axes)
            own = (f"{mark.body}.{mark.point}.{axis}" for axis in AXES)
            self.context.same_nodes |= {a: b for a, b in zip(own, bodies.nodes(mark), strict=True) if a != b}
        self._join_points()
        for coordinate in tree.coordinates.values():
            self.add_displacement(coordinate.name, coordinate.rate)
        # After everything that could be joined to a point has been made.
        self.maker.prune(self.context.elements.values())
        self._add_elements()
        for name, (formula, unit) in self.signals.items():
            self.context.signals[name] = SignalDefinition(
                name=name,
                block=FORMULA,
                settings={FORMULA: formula},
                dimension=parse_unit(unit).dimension if unit else None,
                place=self.context.place(self.node),
                texts={FORMULA: to_text(formula)},
                unit=unit,
            )

    def _join_points(self) -> None:
        """Elements of the network at a point take the node of the place where it stands."""
        same, elements = self.context.same_nodes, self.context.elements
        for name, element in elements.items():
            if not same.keys().isdisjoint(element.nodes):
                elements[name] = replace(element, nodes=tuple(same.get(node, node) for node in element.nodes))

    def add_displacement(self, name: str, rate: Expression) -> None:
        """A coordinate with its rate."""
        if name in self.context.displacements or name in self.context.parameters:
            what = f"'{name}' names a coordinate of the mechanism and something else"
            fix = "choose another name for one of them"
            raise rules.NAME_TWICE.error(what, fix=fix, place=self.context.place(self.node))
        self.context.displacements[name] = rate

    def _add_elements(self) -> None:
        elements = self.context.elements
        twice = sorted(self.maker.elements.keys() & elements.keys())
        if twice:
            what = f"{listing(twice)} is described twice: by the mechanism and in the network"
            raise rules.NAME_TWICE.error(what, fix="rename it in the network", place=elements[twice[0]].place)
        elements.update(self.maker.elements)

    def _close(self, loop: KinematicLoop, bodies: Bodies) -> None:
        """The connection and the sensors of a joint that closes a loop, and its forces as signals."""
        joint = loop.joint
        self.maker.place = joint.place
        turning = bodies.turning(joint.first.body)
        rows = [row for row in loop.rows if row.along]
        if len(rows) < len(loop.rows):
            nodes = (turning.node, bodies.turning(joint.second.body).node)
            self.maker.sensor(f"{joint.name}.M", "rotational", nodes, f"{joint.name}.M")
        given = (*bodies.moving(joint.first), *bodies.moving(joint.second), turning)
        along = [kinematics.components(row.along) for row in rows]
        K = [(x, y, -x, -y, row.turning) for (x, y), row in zip(along, rows, strict=True)]
        gives = [sliding_end(f"{joint.name}.u_{k + 1}") for k in range(len(rows))]
        self.maker.connection(f"{joint.name}.loop", given, gives, K)
        for k, end in enumerate(gives, start=1):
            self.maker.sensor(f"{joint.name}.hold_{k}", "translational", (end.node, FRAME), f"{joint.name}.f_{k}")
        for axis, name in enumerate(("F_x", "F_y")):
            force = total(pair[axis] * symbol(f"{joint.name}.f_{k}") for k, pair in enumerate(along, start=1))
            self.signals[f"{joint.name}.{name}"] = (force, FORCE)
        gap = total(e * e for e in loop.equations[-2:]) if not joint.slides else loop.equations[1] ** 2
        self.signals[f"{joint.name}.gap"] = (call("sqrt", gap), LENGTH)
        self.signals[f"{joint.name}.margin"] = (loop.margin, "")

    # -- cams ------------------------------------------------------------------------------------------------------------------

    def _cam_coordinates(self, joint: Joint) -> tuple[str, str]:
        """The coordinates of a cam and of its follower: those of bodies are their angles, those of joints their distances."""
        found = []
        for mark in (joint.first, joint.second):
            body, other = self.mechanism.bodies.get(mark.body), self.mechanism.joints.get(mark.body)
            name = body.angle if body is not None else other.names.get("distance", "") if other is not None else ""
            if name not in self.tree.coordinates:
                known = [*self.mechanism.bodies, *(j.name for j in self.mechanism.joints.values() if j.slides)]
                what = f"'{mark.body}' of the cam '{joint.name}' is neither a body that turns nor a prismatic joint"
                fix = f"name one of {listing(known)}"
                raise rules.NO_SUCH_POINT.error(what, where=joint.name, fix=fix, place=joint.place)
            found.append(name)
        return found[0], found[1]

    def _cam(self, joint: Joint) -> Closure:
        """The speed of a follower is the slope of the lift times that of the cam."""
        cam, follower = self._cam_coordinates(joint)
        lift = joint.settings["lift"]
        speeds = [self.tree.speeds[next(iter(self.tree.coordinates[name].rates))] for name in (cam, follower)]
        here = NodeEnd(f"{joint.name}.u", speeds[1].domain)
        given = [NodeEnd(speed.node, speed.domain) for speed in speeds]
        self.maker.place = joint.place
        # u = v_follower - lift' v_cam, which the sensor holds at zero: its force is that on the follower.
        self.maker.connection(f"{joint.name}.cam", given, [here], [[-lift.derivative(cam), ONE]])
        self.maker.add(
            f"{joint.name}.lift", SENSOR[here.domain], ("frame", here.node), ZERO, {"through": f"{joint.name}.F"}
        )
        if follower not in self.given:
            start = lift.substitute({cam: number(self.given.get(cam, 0.0))})
            self.initial[follower] = start
        return Closure(joint.name, (symbol(follower) - lift,), (follower,))


def _wanted_points(context: ReadingContext, mechanism: Mechanism) -> list[tuple[BodyPoint, set[str]]]:
    """Points that elements of the network are joined to, with the axes that they use."""
    found: dict[BodyPoint, set[str]] = {}
    for element in context.elements.values():
        for node in element.nodes:
            body, _, rest = node.partition(".")
            name, _, axis = rest.rpartition(".")
            if body in mechanism.bodies and axis in ("x", "y") and name in mechanism.bodies[body].points:
                found.setdefault(BodyPoint(body, name), set()).add(axis)
    return list(found.items())
