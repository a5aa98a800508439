"""The `mechanism:` of a file: bodies and joints from their lines.

mechanism:
  gravity: 9.81 m/s^2
  bodies:
    arm: {mass: 2 kg, inertia: 0.1 kg*m^2, centre: [l/2, 0 m], points: {tip: [l, 0 m]}}
  joints:
    pivot: {revolute: [ground, arm]}
"""

from collections.abc import Callable
from collections.abc import Mapping as TypingMapping
from typing import final

from tellegen.core.errors import TellegenError
from tellegen.core.names import did_you_mean, is_name, listing
from tellegen.core.units import DIMENSIONLESS, Dimension, parse_unit
from tellegen.description.context import Context
from tellegen.description.dimensions import without_marks
from tellegen.description.document import Mapping, Node, Scalar, Sequence
from tellegen.description.mechanisms import rules
from tellegen.description.mechanisms.joint_kinds import JOINTS, JointKind, Key
from tellegen.description.mechanisms.lowering import Lowering
from tellegen.description.mechanisms.values import (
    CENTRE,
    GROUND,
    NOWHERE,
    ORIGIN,
    Body,
    Joint,
    Mark,
    Mechanism,
    Pair,
)
from tellegen.description.model import Parameter
from tellegen.description.network import settle
from tellegen.description.quantities import parse_marked
from tellegen.expressions import ZERO, Expression, symbol

KEYS = {
    "gravity": "the acceleration of free fall, along -y, or its components [x, y]",
    "bodies": "rigid bodies, one a line: {mass: m, inertia: J, centre: [x, y], points: {A: [x, y]}}; 'ground' has points only",
    "joints": "what joins them, one a line: {revolute: [ground.O, crank]}",
    "independent": "coordinates that no loop shall decide",
}
BODY_KEYS = {
    "mass": "its mass; none where left out",
    "inertia": "its moment of inertia about its centre of mass; none where left out",
    "centre": "its centre of mass, in its own coordinates",
    "points": "further points, in its own coordinates",
    "angle": "the name of its angle",
    "angular velocity": "the name of its angular velocity",
    "position": "the names of the coordinates of its origin, where no joint leads to it",
    "velocity": "the names of the components of the velocity of its centre",
}
LENGTH = parse_unit("m").dimension


def read_mechanism(context: Context, node: Node, root: Mapping) -> Lowering | None:
    """Read a mechanism and add its elements to the model; None where something in it is wrong, which is collected."""
    reader = _Reader(context)
    try:
        mechanism = reader.read(node)
        if not context.errors:
            return Lowering(context, mechanism, node, root)
    except TellegenError as error:
        context.collect(error)
    context.broken |= reader.names  # nothing that uses them is wrong for that reason
    return None


@final
class _Reader:
    def __init__(self, context: Context) -> None:
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

    def read(self, node: Node) -> Mechanism:
        context = self.context
        mapping = context.mapping(node, "'mechanism'")
        context.check_keys(mapping, KEYS, "a mechanism")
        bodies = mapping.get("bodies")
        if bodies is None:
            raise context.error(
                rules.NO_BODY, node, "the mechanism has no bodies", fix="add 'bodies:' with a line for each"
            )
        gravity = NOWHERE if (g := mapping.get("gravity")) is None else self._gravity(g)
        self.bodies[GROUND] = _ground({})
        for key, value in context.mapping(bodies, "'bodies'").items():
            self._attempt(self._body, key, value)
        if (joints := mapping.get("joints")) is not None:
            for key, value in context.mapping(joints, "'joints'").items():
                self._attempt(self._joint, key, value)
        named = mapping.get("independent")
        independent = [] if named is None else context.texts(named, "'independent'")
        moving = {name: body for name, body in self.bodies.items() if name != GROUND}
        if not moving and not context.errors:
            raise context.error(
                rules.NO_BODY, bodies, "nothing in the mechanism moves", fix="add a body beside the ground"
            )
        self._check_coordinates(independent)
        return Mechanism(self.bodies, self.joints, gravity, tuple(text.text for text in independent))

    def _attempt(self, step: Callable[[Scalar, Node], None], key: Scalar, value: Node) -> None:
        try:
            step(key, value)
        except TellegenError as error:
            self.context.broken.add(key.text)
            self.context.collect(error)

    # -- quantities ------------------------------------------------------------------------------------------------------------

    def quantity(self, node: Node, wanted: Dimension, subject: str, own: str = "") -> Expression:
        """A quantity; one that is a plain number becomes the parameter `own`, so that a run can change it."""
        context = self.context
        reading = context.quantity(node, subject)
        scalar = context.scalar(node, subject)
        settled = settle(context, reading, wanted, subject, scalar, ())
        if own and settled.marked is None and settled.expression is not ZERO and own not in context.parameters:
            context.parameters[own] = Parameter(
                own, settled.expression, settled.dimension, settled.unit, context.place(scalar)
            )
            return symbol(own)
        return settled.expression

    def pair(self, node: Node, wanted: Dimension, subject: str) -> Pair:
        """Two quantities."""
        if not isinstance(node, Sequence) or len(node) != 2:
            raise self.context.error(
                rules.NOT_A_POINT, node, f"{subject} is not a pair of coordinates", fix="write '[0.1 m, 0 m]'"
            )
        x, y = (self.quantity(item, wanted, subject) for item in node)
        return x, y

    def _gravity(self, node: Node) -> Pair:
        wanted = parse_unit("m/s^2").dimension
        if isinstance(node, Sequence):
            return self.pair(node, wanted, "gravity")
        return ZERO, -self.quantity(node, wanted, "gravity")

    # -- bodies ----------------------------------------------------------------------------------------------------------------

    def _body(self, key: Scalar, node: Node) -> None:
        context = self.context
        name = self._new_name(key, "a body") if key.text != GROUND else GROUND
        mapping = context.mapping(node, f"the body {name}")
        known = ("points",) if name == GROUND else tuple(BODY_KEYS)
        for other in mapping.keys:
            if other.text not in known:
                raise context.unknown_key(other, known, f"the body {name}")
        points = {ORIGIN: NOWHERE}
        given = mapping.get("points")
        for point, at in context.mapping(given, f"the points of {name}").items() if given is not None else ():
            if not is_name(point.text) or point.text in (ORIGIN, CENTRE):
                raise context.bad_name(point, "a point")
            points[point.text] = self.pair(at, LENGTH, f"the point {name}.{point.text}")
        if name == GROUND:
            self.bodies[GROUND] = _ground(points)
            return
        centre = mapping.get("centre")
        points[CENTRE] = NOWHERE if centre is None else self.pair(centre, LENGTH, f"the centre of {name}")
        mass = self._optional(mapping, "mass", "kg", name)
        inertia = self._optional(mapping, "inertia", "kg*m^2", name)
        self.bodies[name] = Body(
            name,
            mass,
            inertia,
            points,
            self._named(mapping, "angle", f"{name}.phi"),
            self._named(mapping, "angular velocity", f"{name}.omega"),
            self._two_names(mapping, "position", name, ("x", "y")),
            self._two_names(mapping, "velocity", name, ("vx", "vy")),
            context.place(key),
        )

    def _optional(self, mapping: Mapping, key: str, unit: str, name: str) -> Expression:
        node = mapping.get(key)
        if node is None:
            return ZERO
        return self.quantity(node, parse_unit(unit).dimension, f"the {key} of {name}", f"{name}.{key}")

    def _named(self, mapping: Mapping, key: str, default: str) -> str:
        node = mapping.get(key)
        return default if node is None else self.context.name(self.context.scalar(node, f"'{key}'"), "a variable")

    def _two_names(self, mapping: Mapping, key: str, name: str, words: tuple[str, str]) -> tuple[str, str]:
        node = mapping.get(key)
        if node is None:
            return f"{name}.{words[0]}", f"{name}.{words[1]}"
        texts = self.context.texts(node, f"the {key} of {name}")
        if len(texts) != 2:
            raise self.context.error(
                rules.NOT_A_POINT, node, f"the {key} of {name} has {len(texts)} names, not 2", fix="write '[x, y]'"
            )
        return self.context.name(texts[0], "a variable"), self.context.name(texts[1], "a variable")

    # -- joints ----------------------------------------------------------------------------------------------------------------

    def _joint(self, key: Scalar, node: Node) -> None:
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
            shown = "[crank.A, rod]" if kind.marks == 2 else "[body.P]"
            raise context.error(
                rules.NOT_A_POINT, mapping.values[0], what, fix=f"write '{kind.word}: {shown}'", where=name
            )
        if any(text.text.partition(".")[0] in context.broken for text in texts):
            return  # what is wrong with the body has been said
        # A cam joins coordinates, those of bodies and of other joints, which may stand further down.
        named = kind.word == "cam"
        marks = [Mark(text.text, ORIGIN) if named else self.mark(text) for text in texts]
        if len(marks) == 2 and marks[0].body == marks[1].body:
            what = f"the {kind.word} {name} joins '{marks[0].body}' to itself"
            raise context.error(rules.NOT_A_POINT, mapping.values[0], what, fix="join two bodies", where=name)
        settings, names = self._settings(kind, name, mapping, key)
        second = marks[1] if kind.marks == 2 else Mark(GROUND, ORIGIN)
        self.joints[name] = Joint(name, kind.word, marks[0], second, settings, names, context.place(key))

    def mark(self, text: Scalar) -> Mark:
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
        return Mark(body, point)

    def _settings(
        self, kind: JointKind, name: str, mapping: Mapping, at: Scalar
    ) -> tuple[dict[str, Expression], dict[str, str]]:
        context = self.context
        settings: dict[str, Expression] = {}
        names = {key.name: f"{name}.{key.default}" for key in kind.keys if key.shape == "name"}
        for other, value in zip(mapping.keys[1:], mapping.values[1:], strict=True):
            key = kind.key(other.text)
            if key is None:
                raise context.unknown_key(other, [k.name for k in kind.keys], f"the {kind.word} {name}")
            if key.shape == "name":
                names[key.name] = self._names_of(key, value)
            elif key.shape == "formula":
                text = context.formula(value, f"the {key.name} of {name}")
                settings[key.name] = without_marks(parse_marked(text.text, context.text_place(text)))
            else:
                wanted = parse_unit(key.unit).dimension if key.unit else DIMENSIONLESS
                settings[key.name] = self.quantity(
                    value, wanted, f"the {key.name} of {name}", f"{name}.{key.name.replace(' ', '_')}"
                )
        missing = [key for key in kind.keys if key.required and key.name not in settings]
        if missing:
            fix = f"add '{missing[0].name}: ...': {missing[0].summary}"
            raise context.error(
                rules.NO_SETTING, at, f"the {kind.word} {name} has no '{missing[0].name}'", fix=fix, where=name
            )
        return settings, names

    def _names_of(self, key: Key, value: Node) -> str:
        """A name; several are kept with commas between them."""
        texts = self.context.texts(value, f"'{key.name}'")
        return ",".join(self.context.name(text, "a variable") for text in texts)

    def _new_name(self, key: Scalar, subject: str) -> str:
        name = self.context.name(key, subject)
        if name in self.bodies or name in self.joints:
            raise self.context.error(
                rules.NAME_TWICE, key, f"'{name}' names two things of the mechanism", fix="rename one of them"
            )
        return name

    def _check_coordinates(self, names: list[Scalar]) -> None:
        known = [body.angle for body in self.bodies.values() if body.name != GROUND]
        known += [joint.names["distance"] for joint in self.joints.values() if joint.kind == "prismatic"]
        known += [name for body in self.bodies.values() if body.name != GROUND for name in body.at]
        for text in names:
            if text.text not in known:
                fix = did_you_mean(text.text, known) or f"the coordinates are {listing(known)}"
                self.context.collect(
                    self.context.error(rules.NO_SUCH_POINT, text, f"'{text.text}' is no coordinate", fix=fix)
                )


def _ground(points: TypingMapping[str, Pair]) -> Body:
    marks = {ORIGIN: NOWHERE, CENTRE: NOWHERE, **points}
    return Body(GROUND, ZERO, ZERO, marks, "", "", ("", ""), ("", ""))
