"""From bodies and joints to elements of the network, coordinates, and the equations that close loops where the mechanism starts."""

from collections.abc import Mapping as TypingMapping
from typing import final

from tellegen.core.errors import TellegenError
from tellegen.core.names import listing
from tellegen.core.units import parse_unit
from tellegen.expressions import ONE, ZERO, Expression, call, number, symbol, to_text, total
from tellegen.model.kinematics import (
    MechanismTree,
    build_tree,
    closest_positions,
    components,
    residuals,
    solve_positions,
)
from tellegen.model.mechanism import GROUND, BodyPoint, Joint, Mechanism
from tellegen.model.model import Closure
from tellegen.model.signals import SignalDefinition
from tellegen.notations.context import ReadingContext
from tellegen.notations.mechanism import rules
from tellegen.notations.mechanism.bodies import FRAME, SENSOR, Bodies, ElementMaker, NodeEnd, sliding_end
from tellegen.notations.mechanism.joints import JOINTS, JointElements
from tellegen.notations.mechanism.loops import (
    KinematicLoop,
    close_loop,
    equations_of,
    sliding_distance,
    solvable_coordinates,
    speed_without_inertia,
)
from tellegen.notations.parameters import definition_order, evaluate_in_order
from tellegen.notations.yaml.document import MappingNode, Node, Scalar


@final
class LoopAssembly:
    """The loops of a tree where it starts. `given` are initial values that somebody wrote, `start` those of all their coordinates.

    Raises: DescriptionError for a loop that fits nowhere (M110), that is over-constrained or singular where it starts (M111), or
    whose given positions leave a gap above the tolerance (M113).
    """

    def __init__(self, context: ReadingContext, tree: MechanismTree, given: TypingMapping[str, float]) -> None:
        self.tree = tree
        self.given = given
        order, _ = definition_order(context.parameters)
        self.known, _ = evaluate_in_order(context.parameters, order)
        self.start: dict[str, float] = {}
        self.loops = self._loops() if tree.closing else []

    def _loops(self) -> list[KinematicLoop]:
        """The loops with the coordinates that follow from each, chosen where the mechanism starts."""
        tree = self.tree
        values = self._assemble()
        taken: set[str] = set()
        found: list[KinematicLoop] = []
        for joint in tree.closing:
            possible = solvable_coordinates(tree, joint, taken, values)
            if not possible:
                raise self._redundant(joint, taken, values)
            taken |= set(possible[0])
            found.append(close_loop(tree, joint, possible[0]))
        return found

    def _assemble(self) -> dict[str, float]:
        """Values of parameters and of coordinates where all loops fit."""
        tree, known = self.tree, self.known
        equations = [e for joint in tree.closing for e in equations_of(tree, joint)]
        names = {name for e in equations for name in e.free_symbols}
        # A length without a value is a symbol: any will do to see which coordinates follow.
        fill = {name: 1.0 + 0.1 * k for k, name in enumerate(sorted(names - known.keys() - tree.coordinates.keys()))}
        values = {**known, **fill, **dict.fromkeys(tree.coordinates, 0.0), **self.given}
        if not fill:
            self._check_given(values)
        inside = [name for name in tree.coordinates if name in names]
        free = [name for name in inside if name not in self.given]
        guesses = {name: 0.1 * (k + 1) for k, name in enumerate(inside)} | dict(self.given)
        self.start = guesses
        for unknown in (free, inside):
            if unknown and (found := solve_positions(equations, unknown, values, guesses)) is not None:
                self.start = {**guesses, **found}
                return {**values, **found}
        if not fill:
            raise self._impossible(closest_positions(equations, inside, values, guesses))
        return {**values, **guesses}

    # -- what can be wrong -----------------------------------------------------------------------------------------------------

    def _gap(self, joint: Joint, values: TypingMapping[str, float]) -> float:
        return max(map(abs, residuals(equations_of(self.tree, joint), values)))

    def _check_given(self, values: TypingMapping[str, float]) -> None:
        """Initial values that say where every body of a loop is must close it, where a tolerance is asked for."""
        wanted = self.tree.mechanism.tolerance
        if wanted is None or not wanted.free_symbols <= values.keys():
            return
        tolerance = wanted.evaluate(values)
        for joint in self.tree.closing:
            names = {name for e in equations_of(self.tree, joint) for name in e.free_symbols}
            inside = [name for name in self.tree.coordinates if name in names]
            gap = self._gap(joint, values)
            if self.given.keys() >= set(inside) and gap > tolerance:
                raise rules.DOES_NOT_FIT.error(
                    f"with the initial values of {listing(inside)} the joint '{joint.name}' has a gap of {gap:.3g} m; "
                    f"the tolerance is {tolerance:.3g} m",
                    where=joint.name,
                    fix=f"leave out the initial value of {listing(inside[-2:])}, which follow, or correct them",
                    place=joint.place,
                    members=[joint.name],
                )

    def _impossible(self, values: TypingMapping[str, float]) -> TellegenError:
        worst = max(self.tree.closing, key=lambda joint: self._gap(joint, values))
        what = f"the loop closed by '{worst.name}' fits in no position: {_members(worst)} leave a gap of at least"
        return rules.IMPOSSIBLE.error(
            f"{what} {self._gap(worst, values):.3g}{' m' if worst.turns else ''}",
            where=worst.name,
            fix="check the lengths and the positions of the fixed points, or the initial values",
            place=worst.place,
            members=[worst.name],
        )

    def _redundant(self, joint: Joint, taken: set[str], values: TypingMapping[str, float]) -> TellegenError:
        held = self.tree.mechanism.independent
        free = [n for n in self.tree.coordinates if n not in taken and n not in held]
        words = _lost_direction(self.tree, joint, free, values)
        what = f"the loop closed by '{joint.name}' is over-constrained or singular where it starts: {words}"
        fix = "take the joint away or replace it by a pad, or start from another position"
        if held:
            fix = f"{fix}; or take a name out of 'independent'"
        return rules.REDUNDANT.error(what, where=joint.name, fix=fix, place=joint.place, members=[joint.name])


def _members(joint: Joint) -> str:
    return listing([name for name in (joint.first.body, joint.second.body) if name != GROUND])


def _lost_direction(tree: MechanismTree, joint: Joint, free: list[str], values: TypingMapping[str, float]) -> str:
    """The direction in which the coordinates that are left cannot move the gap of a joint."""
    equations = equations_of(tree, joint)
    columns = [[e.derivative(name).evaluate(values) for e in equations] for name in free]
    columns = [c for c in columns if any(abs(x) > 1e-12 for x in c)]
    if not columns:
        return f"no coordinate is left that moves {_members(joint)} there"
    if joint.turns:
        x, y = max(columns, key=lambda c: c[0] ** 2 + c[1] ** 2)
        size = (x * x + y * y) ** 0.5
        return f"nothing moves {_members(joint)} in the direction ({-y / size:.3g}, {x / size:.3g}) there"
    return f"the angle and the position of {_members(joint)} cannot both be held there"


def given_positions(context: ReadingContext, root: MappingNode) -> dict[str, float]:
    """What the experiment says about initial values, as numbers; what cannot be read is reported with the experiment."""
    experiment = root.get("experiment")
    initial = experiment.get("initial") if isinstance(experiment, MappingNode) else None
    if not isinstance(initial, MappingNode):
        return {}
    order, _ = definition_order(context.parameters)
    values, _ = evaluate_in_order(context.parameters, order)
    found: dict[str, float] = {}
    for key, node in initial.items():
        if isinstance(node, Scalar):
            try:
                found[key.text] = context.quantity(node, "an initial value").expression.evaluate(values)
            except (TellegenError, ArithmeticError, ValueError, KeyError):
                continue
    return found


LENGTH, FORCE = "m", "N"


@final
class LoweredMechanism:
    """Adds a mechanism to what a context holds. `closures` and `initial` are for the model; the rest goes into the context."""

    def __init__(self, context: ReadingContext, mechanism: Mechanism, node: Node, root: MappingNode) -> None:
        self.context = context
        self.mechanism = mechanism
        self.node = node
        self.tree = build_tree(mechanism)
        self.maker = ElementMaker()
        self.given = given_positions(context, root)
        self.initial: dict[str, Expression] = {}  # of coordinates and states that follow from positions
        self.signals: dict[str, tuple[Expression, str]] = {}  # with their units; "" where there is none
        fitting = LoopAssembly(context, self.tree, self.given)
        loops = fitting.loops
        self.initial |= {name: number(value) for name, value in fitting.start.items() if name not in self.given}
        self._check_inertia(loops)
        self.closures = tuple(Closure(loop.joint.name, loop.equations, loop.solves) for loop in loops)
        self._emit(loops, _wanted_points(context, mechanism))

    def _check_inertia(self, loops: list[KinematicLoop]) -> None:
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
            speed = speed_without_inertia(self.tree, loops, values)
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
        follows += [self._cam_follower(joint) for joint in cams]
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
        along = [components(row.along) for row in rows]
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
        if joint.slides:
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
                    *(j.name for j in self.mechanism.joints.values() if j.slides),
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
        here = NodeEnd(f"{joint.name}.u", speeds[1].domain)
        given = [NodeEnd(speed.node, speed.domain) for speed in speeds]
        self.maker.place = joint.place
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
