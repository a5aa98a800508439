"""The `mechanism:` of a file: bodies and joints from their lines.

mechanism:
  gravity: 9.81 m/s^2
  bodies:
    arm: {mass: 2 kg, inertia: 0.1 kg*m^2, centre: [l/2, 0 m], points: {tip: [l, 0 m]}}
  joints:
    pivot: {revolute: [ground, arm]}
"""

from typing import final

from tellegen.core.names import did_you_mean, is_name, listing
from tellegen.core.units import DIMENSIONLESS, Dimension, parse_unit
from tellegen.expressions import ZERO, Expression, symbol
from tellegen.model.dimensions import without_marks
from tellegen.model.mechanism import (
    CENTRE,
    GROUND,
    NOWHERE,
    ORIGIN,
    OWN_POINTS,
    Body,
    BodyPoint,
    Joint,
    Mechanism,
    Pair,
)
from tellegen.model.model import Parameter
from tellegen.notations.context import ReadingContext
from tellegen.notations.grammar import Key
from tellegen.notations.mechanism import rules
from tellegen.notations.mechanism.joints import (
    ASSEMBLY,
    BODY,
    FORMULA_OF_COORDINATES,
    JOINTS,
    MECHANISM,
    NAME_OF_VARIABLE,
    JointKind,
)
from tellegen.notations.mechanism.lowering import LoweredMechanism
from tellegen.notations.quantities import parse_marked
from tellegen.notations.yaml.document import MappingNode, Node, Scalar, SequenceNode

LENGTH = parse_unit("m").dimension


@final
class _MechanismReader:
    """Reads a mechanism: bodies and joints as far as they were read, by name."""

    def __init__(self, context: ReadingContext) -> None:
        self.context = context
        self.bodies: dict[str, Body] = {}
        self.joints: dict[str, Joint] = {}

    @property
    def names(self) -> set[str]:
        """All names that the mechanism gives, as far as it was read."""
        found = {*self.bodies, *self.joints}
        for body in self.bodies.values():
            found |= {body.angle, body.speed, *body.at, *body.velocity}
        return found.union(*(joint.names.values() for joint in self.joints.values())) - {"", GROUND}

    # -- quantities ------------------------------------------------------------------------------------------------------------

    def quantity(self, node: Node, wanted: Dimension, subject: str, own: str = "") -> Expression:
        """A quantity; one that is a plain number becomes the parameter `own`, so that a run can change it."""
        context = self.context
        reading = context.quantity(node, subject)
        scalar = context.scalar(node, subject)
        settled = context.settled(reading, wanted, subject, scalar)
        # A length of zero stays a zero, so that whole terms vanish from the formulas of positions.
        if own and settled.marked is None and settled.expression is not ZERO and own not in context.parameters:
            place = context.place(scalar)
            context.parameters[own] = Parameter(own, settled.expression, settled.dimension, settled.unit, place)
            return symbol(own)
        return settled.expression

    def pair(self, node: Node, wanted: Dimension, subject: str, own: str) -> Pair:
        """Two quantities; plain numbers become the parameters `own`_x and `own`_y."""
        if not isinstance(node, SequenceNode) or len(node) != 2:
            what = f"{subject} is not a pair of coordinates"
            raise self.context.error(rules.NOT_A_POINT, node, what, fix="write '[0.1 m, 0 m]'")
        x, y = (self.quantity(item, wanted, subject, f"{own}_{axis}") for item, axis in zip(node, "xy", strict=True))
        return x, y

    # -- bodies ----------------------------------------------------------------------------------------------------------------

    def body(self, key: Scalar, node: Node) -> None:
        """A body, or the ground, by its line."""
        context = self.context
        name = self._new_name(key, "a body") if key.text != GROUND else GROUND
        mapping = context.mapping(node, f"the body {name}")
        known = ("points",) if name == GROUND else BODY.names
        for other in mapping.keys:
            if other.text not in known:
                raise context.unknown_key(other, known, f"the body {name}")
        points = {ORIGIN: NOWHERE}
        given = mapping.get("points")
        for point, at in context.mapping(given, f"the points of {name}").items() if given is not None else ():
            if not is_name(point.text) or point.text in (ORIGIN, CENTRE):
                raise context.bad_name(point, "a point")
            mark = f"{name}.{point.text}"
            points[point.text] = self.pair(at, LENGTH, f"the point {mark}", mark)
        if name == GROUND:
            self.bodies[GROUND] = Body(GROUND, {**OWN_POINTS, **points})
            return
        centre = mapping.get("centre")
        subject, own = f"the centre of {name}", f"{name}.centre"
        points[CENTRE] = NOWHERE if centre is None else self.pair(centre, LENGTH, subject, own)
        self.bodies[name] = Body(
            name=name,
            points=points,
            mass=self._optional(mapping, "mass", "kg", name),
            inertia=self._optional(mapping, "inertia", "kg*m^2", name),
            angle=self._named(mapping, "angle", f"{name}.phi"),
            speed=self._named(mapping, "angular velocity", f"{name}.omega"),
            at=self._two_names(mapping, "position", name, ("x", "y")),
            velocity=self._two_names(mapping, "velocity", name, ("vx", "vy")),
            place=context.place(key),
        )

    def _optional(self, mapping: MappingNode, key: str, unit: str, name: str) -> Expression:
        node = mapping.get(key)
        if node is None:
            return ZERO
        return self.quantity(node, parse_unit(unit).dimension, f"the {key} of {name}", f"{name}.{key}")

    def _named(self, mapping: MappingNode, key: str, default: str) -> str:
        node = mapping.get(key)
        return default if node is None else self.context.name(self.context.scalar(node, f"'{key}'"), "a variable")

    def _two_names(self, mapping: MappingNode, key: str, name: str, words: tuple[str, str]) -> tuple[str, str]:
        node = mapping.get(key)
        if node is None:
            return f"{name}.{words[0]}", f"{name}.{words[1]}"
        texts = self.context.texts(node, f"the {key} of {name}")
        if len(texts) != 2:
            what = f"the {key} of {name} has {len(texts)} names, not 2"
            raise self.context.error(rules.NOT_A_POINT, node, what, fix="write '[x, y]'")
        return self.context.name(texts[0], "a variable"), self.context.name(texts[1], "a variable")

    # -- joints ----------------------------------------------------------------------------------------------------------------

    def joint(self, key: Scalar, node: Node) -> None:
        """A joint by its line."""
        context = self.context
        name = self._new_name(key, "a joint")
        mapping = context.mapping(node, f"the joint {name}")
        kind = JOINTS.get(mapping.keys[0].text) if mapping.keys else None
        if kind is None:
            word = mapping.keys[0] if mapping.keys else key
            fix = did_you_mean(word.text, JOINTS) or f"the joints are {listing(JOINTS, 20)}"
            raise context.error(rules.NO_SUCH_JOINT, word, f"'{word.text}' is not a joint", fix=fix, where=name)
        texts = context.texts(mapping.values[0], f"what {name} joins")
        if len(texts) != kind.marks:
            what = f"the {kind.word} {name} joins {len(texts)} points, not {kind.marks}"
            fix = f"write '{kind.word}: {'[crank.A, rod]' if kind.marks == 2 else '[body.P]'}'"
            raise context.error(rules.NOT_A_POINT, mapping.values[0], what, fix=fix, where=name)
        if any(text.text.partition(".")[0] in context.broken for text in texts):
            return  # what is wrong with the body has been said
        # A cam joins coordinates, those of bodies and of other joints, which may stand further down.
        named = kind.word == "cam"
        marks = [BodyPoint(text.text, ORIGIN) if named else self.mark(text) for text in texts]
        if len(marks) == 2 and marks[0].body == marks[1].body:
            what = f"the {kind.word} {name} joins '{marks[0].body}' to itself"
            raise context.error(rules.NOT_A_POINT, mapping.values[0], what, fix="join two bodies", where=name)
        settings, names = self._settings(kind, name, mapping, key)
        second = marks[1] if kind.marks == 2 else BodyPoint(GROUND, ORIGIN)
        self.joints[name] = Joint(name, kind.word, marks[0], second, settings, names, place=context.place(key))

    def mark(self, text: Scalar) -> BodyPoint:
        """A point by its text: `crank.A`, or `crank` for the origin."""
        body, _, point = text.text.partition(".")
        known = self.bodies.get(body)
        if known is None:
            fix = did_you_mean(body, self.bodies) or f"the bodies are {listing(self.bodies)}"
            raise self.context.error(rules.NO_SUCH_POINT, text, f"'{body}' is not a body", fix=fix)
        point = point or ORIGIN
        if point not in known.points:
            fix = did_you_mean(point, known.points) or f"the points of {body} are {listing(known.points)}"
            raise self.context.error(rules.NO_SUCH_POINT, text, f"'{body}' has no point '{point}'", fix=fix)
        return BodyPoint(body, point)

    def _settings(
        self, kind: JointKind, name: str, mapping: MappingNode, at: Scalar
    ) -> tuple[dict[str, Expression], dict[str, str]]:
        context = self.context
        settings: dict[str, Expression] = {}
        names = {key.name: f"{name}.{key.own}" for key in kind.keys if key.holds == NAME_OF_VARIABLE}
        for other, value in zip(mapping.keys[1:], mapping.values[1:], strict=True):
            key = kind.key(other.text)
            if key is None:
                raise context.unknown_key(other, [k.name for k in kind.keys], f"the {kind.word} {name}")
            if key.holds == NAME_OF_VARIABLE:
                names[key.name] = self._names_of(key, value)
            elif key.holds == FORMULA_OF_COORDINATES:
                text = context.formula(value, f"the {key.name} of {name}")
                settings[key.name] = without_marks(parse_marked(text.text, context.text_place(text)))
            else:
                wanted = parse_unit(key.unit).dimension if key.unit else DIMENSIONLESS
                own = f"{name}.{key.own or key.name.replace(' ', '_')}"
                settings[key.name] = self.quantity(value, wanted, f"the {key.name} of {name}", own)
        missing = [key for key in kind.keys if key.required and key.name not in settings]
        if missing:
            fix = f"add '{missing[0].name}: ...': {missing[0].summary}"
            what = f"the {kind.word} {name} has no '{missing[0].name}'"
            raise context.error(rules.NO_SETTING, at, what, fix=fix, where=name)
        return settings, names

    def _names_of(self, key: Key, value: Node) -> str:
        """A name; several are kept with commas between them."""
        texts = self.context.texts(value, f"'{key.name}'")
        return ",".join(self.context.name(text, "a variable") for text in texts)

    def _new_name(self, key: Scalar, subject: str) -> str:
        name = self.context.name(key, subject)
        if name in self.bodies or name in self.joints:
            what = f"'{name}' names two things of the mechanism"
            raise self.context.error(rules.NAME_TWICE, key, what, fix="rename one of them")
        return name

    # -- the whole -------------------------------------------------------------------------------------------------------------

    def read(self, node: Node) -> Mechanism:
        """The mechanism that a file describes."""
        context = self.context
        mapping = context.record(node, MECHANISM, "'mechanism'", "a mechanism")
        bodies = mapping.get("bodies")
        if bodies is None:
            fix = "add 'bodies:' with a line for each"
            raise context.error(rules.NO_BODY, node, "the mechanism has no bodies", fix=fix)
        given, everywhere = mapping.get("gravity"), context.gravity
        gravity = self._gravity(given) if given is not None else NOWHERE if everywhere is None else (ZERO, -everywhere)
        self.bodies[GROUND] = Body(GROUND, OWN_POINTS)
        for word, step in (("bodies", self.body), ("joints", self.joint)):
            if (section := mapping.get(word)) is not None:
                for key, value in context.mapping(section, f"'{word}'").items():
                    with context.collecting(key.text):
                        step(key, value)
        named = mapping.get("independent")
        independent = [] if named is None else context.texts(named, "'independent'")
        moving = {name: body for name, body in self.bodies.items() if name != GROUND}
        if not moving and not context.errors:
            what = "nothing in the mechanism moves"
            raise context.error(rules.NO_BODY, bodies, what, fix="add a body beside the ground")
        self._check_coordinates(independent)
        assembly = mapping.get("assembly")
        tolerance = None if assembly is None else self._tolerance(assembly)
        return Mechanism(self.bodies, self.joints, gravity, tuple(text.text for text in independent), tolerance)

    def _tolerance(self, node: Node) -> Expression | None:
        value = self.context.record(node, ASSEMBLY, "'assembly'", "the assembly").get("tolerance")
        return None if value is None else self.quantity(value, LENGTH, "the tolerance of the assembly")

    def _gravity(self, node: Node) -> Pair:
        wanted = parse_unit("m/s^2").dimension
        if isinstance(node, SequenceNode):
            return self.pair(node, wanted, "gravity", "gravity")
        fall = self.quantity(node, wanted, "gravity", "gravity")
        # What pulls bodies pulls masses of the network too.
        self.context.gravity = self.context.gravity or fall
        return ZERO, -fall

    def _check_coordinates(self, names: list[Scalar]) -> None:
        bodies, joints = self.bodies, self.joints
        known = [body.angle for body in bodies.values() if body.name != GROUND]
        known += [joint.names["distance"] for joint in joints.values() if joint.slides]
        known += [name for body in bodies.values() if body.name != GROUND for name in body.at]
        for text in names:
            if text.text not in known:
                fix = did_you_mean(text.text, known) or f"the coordinates are {listing(known)}"
                error = self.context.error(rules.NO_SUCH_POINT, text, f"'{text.text}' is no coordinate", fix=fix)
                self.context.collect(error)


def read_mechanism(context: ReadingContext, node: Node, root: MappingNode) -> LoweredMechanism | None:
    """Read a mechanism and add its elements to the model; None where something in it is wrong, which is collected."""
    reader = _MechanismReader(context)
    with context.collecting():
        mechanism = reader.read(node)
        if not context.errors:
            return LoweredMechanism(context, mechanism, node, root)
    context.broken |= reader.names  # nothing that uses them is wrong for that reason
    return None
