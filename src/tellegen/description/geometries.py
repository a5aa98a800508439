"""The bodies of a network as figures show them: the part `geometry` of a file.

geometry:
  bodies:
    crank: {at: [0 m, 0 m], angle: theta, points: {pin: [R, 0 m]}}
    piston: {at: [x, d]}
  joints:
    bearing: {revolute: [ground, crank]}
  parts:
    left: {at: [1 m, 0 m], angle: 90 deg}

Bodies of parts are there too, under the names of these: `left.crank`. It is drawn and animated as a mechanism is, and changes no
equation: places and angles are formulas of parameters and displacements.
"""

from collections.abc import Iterable, Mapping
from typing import Any, final

from tellegen.core.names import did_you_mean, listing
from tellegen.core.units import Dimension, parse_unit
from tellegen.description import rules
from tellegen.description.context import Context, Pending
from tellegen.description.dimensions import without_marks
from tellegen.description.document import Mapping as MappingNode
from tellegen.description.document import Node, Scalar, Sequence
from tellegen.description.mechanisms.rules import NO_SUCH_JOINT, NO_SUCH_POINT, NOT_A_POINT
from tellegen.description.mechanisms.values import (
    CENTRE,
    GROUND,
    NOWHERE,
    ORIGIN,
    Body,
    Geometry,
    Joint,
    Mark,
    Mechanism,
    Pair,
    Placement,
)
from tellegen.description.model import Part
from tellegen.description.parts.geometries import bodies_in, bodies_of_parts
from tellegen.description.quantities import parse_marked
from tellegen.expressions import ZERO, Expression

KEYS = {
    "bodies": "what moves, one a line: {at: [x, y], angle: theta, points: {A: [x, y]}}; 'ground' has points only",
    "joints": "what is drawn where bodies meet, one a line: {revolute: [ground.O, crank]}",
    "parts": "where parts that have bodies are, one a line: {at: [x, y], angle: 90 deg}; at the origin where left out",
}
PART_KEYS = {
    "at": "where the origin of its plane is, [x, y]",
    "angle": "the angle by which its plane is turned, anticlockwise",
}
BODY_KEYS = {
    "at": "where its origin is, [x, y]; at the origin of the plane where left out",
    "angle": "its angle, anticlockwise; zero where left out",
    "points": "further points, in its own coordinates",
}
JOINT_KEYS = {
    "revolute": "a pin",
    "prismatic": "a slide of the second body along the first",
    "fixed": "a weld",
    "spring": "a spring between two points",
    "wheel": "a wheel at a point of a body, seen from above",
    "omniwheel": "a wheel with rollers at a point of a body, seen from above",
}
SETTINGS = {
    "direction": "the angle of a slide or of a wheel in its first body",
    "radius": "of a wheel",
}
ONE_POINT = ("wheel", "omniwheel")
_LENGTH, _ANGLE = parse_unit("m").dimension, parse_unit("rad").dimension

Schema = dict[str, Any]


def read_geometry(context: Context, node: Node, parts: Iterable[Part] = ()) -> Geometry:
    """The geometry of a file with the bodies of its parts; its formulas are checked when all displacements are known.

    Raises: DescriptionError for wrong shapes and words, bodies and points that are not there (M103).
    """
    return _Reader(context, tuple(parts)).read(node)


@final
class _Reader:
    def __init__(self, context: Context, parts: tuple[Part, ...]) -> None:
        self.context, self.parts = context, parts
        self.joints: dict[str, Joint] = {}
        self.bodies: dict[str, Body] = {GROUND: _body(GROUND, {})}
        self.placements: dict[str, Placement] = {GROUND: Placement(NOWHERE, ZERO)}

    def read(self, node: Node) -> Geometry:
        context = self.context
        mapping = context.mapping(node, "'geometry'")
        context.check_keys(mapping, KEYS, "a geometry")
        bodies, joints, parts = (mapping.get(key) for key in KEYS)
        self._parts(parts)
        if bodies is None and len(self.bodies) == 1:
            what, fix = "the geometry has no bodies", "add 'bodies:' with a line for each"
            raise context.error(rules.MISSING_KEY, node, what, fix=fix)
        for key, value in () if bodies is None else context.mapping(bodies, "'bodies'").items():
            self._body(context.name(key, "a body"), value)
        lines = {} if joints is None else dict(context.mapping(joints, "'joints'").items())
        for key, value in lines.items():
            self.joints[key.text] = self._joint(key, value)
        return Geometry(Mechanism(self.bodies, self.joints), self.placements, _texts(mapping))

    def _parts(self, node: Node | None) -> None:
        """The bodies of parts, where the file puts them."""
        context = self.context
        with_bodies = [part.name for part in self.parts if bodies_in(part.model) is not None]
        placed: dict[str, Placement] = {}
        if node is not None:
            mapping = context.mapping(node, "the parts of the geometry")
            if not with_bodies:
                fix = "give a part a 'geometry' of its own, or leave this out"
                raise context.error(rules.WRONG_SHAPE, node, "no part of this system has bodies", fix=fix)
            context.check_keys(mapping, with_bodies, "the parts of the geometry, which are those that have bodies")
            for key, value in mapping.items():
                line = context.mapping(value, f"the place of {key.text}")
                context.check_keys(line, PART_KEYS, f"the place of {key.text}")
                at, angle = (line.get(word) for word in PART_KEYS)
                place = NOWHERE if at is None else self._pair(at, f"the place of {key.text}")
                turned = ZERO if angle is None else self._formula(angle, _ANGLE, f"the angle of {key.text}")
                placed[key.text] = Placement(place, turned)
        found = bodies_of_parts(self.parts, placed)
        if found is not None:
            self.bodies |= found.mechanism.bodies
            self.joints |= found.mechanism.joints
            self.placements |= found.placements

    def _body(self, name: str, node: Node) -> None:
        subject = f"the body {name}"
        mapping = self.context.mapping(node, subject)
        self.context.check_keys(mapping, ("points",) if name == GROUND else BODY_KEYS, subject)
        at, angle, points = (mapping.get(key) for key in BODY_KEYS)
        given = {} if points is None else dict(self.context.mapping(points, f"the points of {name}").items())
        own = {key.text: self._pair(value, f"the point {name}.{key.text}") for key, value in given.items()}
        place = NOWHERE if at is None else self._pair(at, f"the place of {name}")
        turned = ZERO if angle is None else self._formula(angle, _ANGLE, f"the angle of {name}")
        if name == GROUND:
            own = {**self.bodies[GROUND].points, **own}
        self.bodies[name] = _body(name, own)
        self.placements[name] = Placement(place, turned)

    def _joint(self, key: Scalar, node: Node) -> Joint:
        context, name = self.context, self.context.name(key, "a joint")
        mapping = context.mapping(node, f"the joint {name}")
        words = [other for other in mapping.keys if other.text not in SETTINGS]
        if not words or words[0].text not in JOINT_KEYS:
            told = words[0].text if words else name
            fix = did_you_mean(told, JOINT_KEYS) or f"the words are {listing(JOINT_KEYS, 20)}"
            raise context.error(NO_SUCH_JOINT, words[0] if words else key, f"'{told}' joins no points", fix=fix)
        kind = words[0].text
        context.check_keys(mapping, (kind, *SETTINGS), f"the joint {name}")
        value = mapping.get(kind)
        assert value is not None, "the key was found among those of the mapping"
        marks = [self._mark(text) for text in context.texts(value, f"what {name} joins")]
        count = 1 if kind in ONE_POINT else 2
        if len(marks) != count:
            fix = f"write '{name}: {{{kind}: [{', '.join(['body.point'] * count)}]}}'"
            raise context.error(
                rules.WRONG_SHAPE, value, f"the {kind} {name} joins {count}, not {len(marks)} points", fix=fix
            )
        wanted = {"direction": _ANGLE, "radius": _LENGTH}
        settings = {
            word: self._formula(given, unit, f"the {word} of {name}")
            for word, unit in wanted.items()
            if (given := mapping.get(word)) is not None
        }
        return Joint(name, kind, marks[0], marks[-1], settings)

    def _mark(self, text: Scalar) -> Mark:
        # Bodies of parts have the name of the part before theirs, and so have points of the ground that parts bring.
        whole = text.text
        split = [(whole[:k], whole[k + 1 :]) for k, letter in enumerate(whole) if letter == "."]
        ends = [Mark(*end) for end in ((whole, ORIGIN), *split)]
        found = next(
            (end for end in ends if end.body in self.bodies and end.point in self.bodies[end.body].points), None
        )
        if found is None:
            words = [str(Mark(name, p)) for name, b in self.bodies.items() for p in b.points if p != CENTRE]
            fix = did_you_mean(text.text, words) or f"the points are {listing(words, 20)}"
            raise self.context.error(NO_SUCH_POINT, text, f"'{text.text}' is no point of a body", fix=fix)
        return found

    def _pair(self, node: Node, subject: str) -> Pair:
        if not isinstance(node, Sequence) or len(node) != 2:
            what = f"{subject} is not a pair of coordinates"
            raise self.context.error(NOT_A_POINT, node, what, fix="write '[0.1 m, 0 m]'")
        x, y = (self._formula(item, _LENGTH, subject) for item in node)
        return x, y

    def _formula(self, node: Node, wanted: Dimension, subject: str) -> Expression:
        text = self.context.formula(node, subject)
        marked = parse_marked(text.text, self.context.text_place(text))
        self.context.pending.append(Pending(marked, wanted, subject, lambda: self.context.text_place(text), {}))
        return without_marks(marked)


def _body(name: str, points: Mapping[str, Pair]) -> Body:
    """A body without mass: figures show its shape."""
    return Body(name, ZERO, ZERO, {ORIGIN: NOWHERE, CENTRE: NOWHERE, **points}, "", "", ("", ""), ("", ""))


def _texts(node: Node) -> Any:
    if isinstance(node, MappingNode):
        return {key.text: _texts(value) for key, value in node.items()}
    if isinstance(node, Sequence):
        return [_texts(item) for item in node]
    assert isinstance(node, Scalar), "a document has mappings, lists and texts"
    return node.text


def geometry_shape() -> Schema:
    """The geometry in the JSON Schema."""
    quantity: Schema = {"$ref": "#/$defs/quantity"}
    pair: Schema = {"type": "array", "items": quantity, "minItems": 2, "maxItems": 2}
    shapes = {"at": pair, "angle": quantity, "points": {"type": "object", "additionalProperties": pair}}
    body = {
        "type": ["object", "null"],
        "properties": {key: {**shapes[key], "description": text} for key, text in BODY_KEYS.items()},
        "additionalProperties": False,
    }
    marks: Schema = {"type": ["array", "string"], "items": {"type": "string"}}
    joint = {
        "type": "object",
        "properties": {key: {**marks, "description": text} for key, text in JOINT_KEYS.items()}
        | {key: {**quantity, "description": text} for key, text in SETTINGS.items()},
        "additionalProperties": False,
    }
    part = {
        "type": "object",
        "properties": {key: {**shapes[key], "description": text} for key, text in PART_KEYS.items()},
        "additionalProperties": False,
    }
    inside = {"bodies": body, "joints": joint, "parts": part}
    return {
        "type": "object",
        "properties": {
            key: {"type": "object", "additionalProperties": inside[key], "description": text}
            for key, text in KEYS.items()
        },
        "additionalProperties": False,
    }
