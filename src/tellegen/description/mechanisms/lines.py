"""The lines of bodies and joints of a mechanism, one after the other."""

from collections.abc import Mapping as TypingMapping
from typing import final

from tellegen.core.names import did_you_mean, is_name, listing
from tellegen.core.units import DIMENSIONLESS, Dimension, parse_unit
from tellegen.description.context import Context
from tellegen.description.dimensions import without_marks
from tellegen.description.document import Mapping, Node, Scalar, Sequence
from tellegen.description.lines import settle
from tellegen.description.mechanisms import rules
from tellegen.description.mechanisms.joint_kinds import JOINTS, JointKind, Key
from tellegen.description.mechanisms.values import CENTRE, GROUND, NOWHERE, ORIGIN, Body, Joint, Mark, Pair
from tellegen.description.model import Parameter
from tellegen.description.quantities import parse_marked
from tellegen.expressions import ZERO, Expression, symbol

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


@final
class Lines:
    """Bodies and joints as far as they were read, by name."""

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

    def pair(self, node: Node, wanted: Dimension, subject: str, own: str) -> Pair:
        """Two quantities; plain numbers become the parameters `own`_x and `own`_y."""
        if not isinstance(node, Sequence) or len(node) != 2:
            raise self.context.error(
                rules.NOT_A_POINT, node, f"{subject} is not a pair of coordinates", fix="write '[0.1 m, 0 m]'"
            )
        x, y = (self.quantity(item, wanted, subject, f"{own}_{axis}") for item, axis in zip(node, "xy", strict=True))
        return x, y

    # -- bodies ----------------------------------------------------------------------------------------------------------------

    def body(self, key: Scalar, node: Node) -> None:
        """A body, or the ground, by its line."""
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
            mark = f"{name}.{point.text}"
            points[point.text] = self.pair(at, LENGTH, f"the point {mark}", mark)
        if name == GROUND:
            self.bodies[GROUND] = ground(points)
            return
        centre = mapping.get("centre")
        points[CENTRE] = (
            NOWHERE if centre is None else self.pair(centre, LENGTH, f"the centre of {name}", f"{name}.centre")
        )
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
                    value, wanted, f"the {key.name} of {name}", f"{name}.{key.parameter or key.name.replace(' ', '_')}"
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


def ground(points: TypingMapping[str, Pair]) -> Body:
    """The body that does not move, with its points."""
    marks = {ORIGIN: NOWHERE, CENTRE: NOWHERE, **points}
    return Body(GROUND, ZERO, ZERO, marks, "", "", ("", ""), ("", ""))
