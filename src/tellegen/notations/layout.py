"""Where bodies and items stand in figures: the parts `geometry` and `layout` of a file.

geometry:
  bodies:
    crank: {at: [0 m, 0 m], angle: theta, points: {pin: [R, 0 m]}}
    piston: {at: [x, d]}
  joints:
    bearing: {revolute: [ground, crank]}
  parts:
    left: {at: [1 m, 0 m], angle: 90 deg}

Bodies of parts are there too, under the names of these: `left.crank`. A geometry is drawn and animated as a mechanism is, and
changes no equation: places and angles are formulas of parameters and displacements.

A layout is where a person put the items of figures, by kind of figure and name, and which symbols of the schematic are turned. Only
what figures use is read, `bond: {L_a: [340, 120]}`, `turned: {R_a: 90}`; other keys are left to the programs that wrote them.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from math import isfinite
from pathlib import Path
from typing import Any, final

from tellegen.core.errors import TellegenError
from tellegen.core.names import did_you_mean, listing
from tellegen.core.units import Dimension, parse_unit
from tellegen.expressions import ZERO, Expression
from tellegen.model.kinematics import Angle, body_vector, build_tree, components, vector_sum
from tellegen.model.mechanism import (
    CENTRE,
    GROUND,
    NOWHERE,
    ORIGIN,
    OWN_POINTS,
    Body,
    BodyPoint,
    Geometry,
    Joint,
    Mechanism,
    Pair,
    Placement,
)
from tellegen.model.model import Model, Part
from tellegen.notations import rules
from tellegen.notations.context import ReadingContext
from tellegen.notations.grammar import DRAWN_JOINTS, DRAWN_SETTINGS, GEOMETRY, PLACED_BODY, PLACED_PART
from tellegen.notations.mechanism.rules import NO_SUCH_JOINT, NO_SUCH_POINT, NOT_A_POINT
from tellegen.notations.parts.instances import Renaming, node_map
from tellegen.notations.quantities import parse_marked
from tellegen.notations.yaml import rules as yaml_rules
from tellegen.notations.yaml.document import (
    Document,
    MappingNode,
    Node,
    Scalar,
    SequenceNode,
    read_document,
    write_text,
)
from tellegen.notations.yaml.writing import add_entry, find, quote_if_needed, set_scalar, tree_of

AT_ORIGIN = Placement(NOWHERE, ZERO)
"""A part in the coordinates of the whole."""


def _geometry_of_model(model: Model) -> Geometry | None:
    """Where the bodies of a model are: as its geometry tells, or as the joints of its mechanism lead to them."""
    mechanism = model.mechanism
    if model.geometry is not None or mechanism is None:
        return model.geometry
    tree = build_tree(mechanism)
    placements = {
        name: Placement(components(tree.position(BodyPoint(name, ORIGIN))), tree.poses[name].angle.expression)
        for name in mechanism.bodies
    }
    return Geometry(mechanism, placements)


def geometry_of_parts(parts: Iterable[Part], placed: Mapping[str, Placement]) -> Geometry | None:
    """The bodies and joints of all parts in the plane of the whole; nothing where no part has any."""
    ground = dict(OWN_POINTS)
    bodies: dict[str, Body] = {}
    joints: dict[str, Joint] = {}
    # The grounds of all parts are one ground, with the points of each under its name.
    placements: dict[str, Placement] = {GROUND: AT_ORIGIN}
    for part in parts:
        found = _geometry_of_model(part.model)
        if found is not None:
            moved = _MovedPart(part, found, placed.get(part.name, AT_ORIGIN))
            ground |= moved.ground
            bodies |= moved.bodies
            joints |= moved.joints
            placements |= moved.placements
    if not bodies:
        return None
    return Geometry(Mechanism({GROUND: Body(GROUND, ground), **bodies}, joints), placements)


@final
class _MovedPart:
    """The bodies of one part under their full names, where the whole puts it."""

    def __init__(self, part: Part, geometry: Geometry, placement: Placement) -> None:
        self.part, self.placement = part, placement
        self.renaming = Renaming(part.name, part.model, node_map(part), part.names)
        mechanism = geometry.mechanism
        self.ground = {
            self._full(point): self._placed(self._pair(at)) for point, at in mechanism.bodies[GROUND].points.items()
        }
        self.bodies = {self._full(name): self._body(body) for name, body in mechanism.bodies.items() if name != GROUND}
        self.joints = {self._full(name): self._joint(joint) for name, joint in mechanism.joints.items()}
        self.placements = {
            self._full(name): Placement(self._placed(self._pair(at)), self._turned(self._told(angle)))
            for name, (at, angle) in geometry.placements.items()
            if name != GROUND
        }

    def _full(self, name: str) -> str:
        return f"{self.part.name}.{name}"

    def _told(self, formula: Expression) -> Expression:
        return self.renaming.expression(formula)

    def _pair(self, pair: Pair) -> Pair:
        return self._told(pair[0]), self._told(pair[1])

    def _placed(self, at: Pair) -> Pair:
        """A point of the plane of the part in the plane of the whole."""
        return components(vector_sum(body_vector(self.placement.at), body_vector(at, Angle("", self.placement.angle))))

    def _turned(self, angle: Expression) -> Expression:
        return angle + self.placement.angle

    def _body(self, body: Body) -> Body:
        return replace(
            body,
            name=self._full(body.name),
            mass=self._told(body.mass),
            inertia=self._told(body.inertia),
            points={point: self._pair(at) for point, at in body.points.items()},
            angle=self.renaming.path(body.angle) if body.angle else "",
        )

    def _joint(self, joint: Joint) -> Joint:
        settings = {key: self._told(value) for key, value in joint.settings.items()}
        # Axes in the ground turn with the plane of the part; axes in a body turn with the body.
        if joint.first.body == GROUND and "direction" in settings:
            settings["direction"] = self._turned(settings["direction"])
        elif joint.first.body == GROUND and self.placement.angle is not ZERO:
            settings["direction"] = self.placement.angle
        names = {key: self.renaming.path(name) for key, name in joint.names.items()}
        return replace(
            joint,
            name=self._full(joint.name),
            first=self._mark(joint.first),
            second=self._mark(joint.second),
            settings=settings,
            names=names,
        )

    def _mark(self, mark: BodyPoint) -> BodyPoint:
        if mark.body == GROUND:
            return BodyPoint(GROUND, self._full(mark.point))
        return BodyPoint(self._full(mark.body), mark.point)


ONE_POINT_JOINTS = ("wheel", "omniwheel")
_WORDS = DRAWN_JOINTS.names
_SETTINGS = {key.name: parse_unit(key.unit).dimension for key in DRAWN_SETTINGS.keys}
_LENGTH, _ANGLE = parse_unit("m").dimension, parse_unit("rad").dimension


@final
class GeometryReader:
    """Reads the geometry of a file with the bodies of its parts; its formulas are checked when all displacements are known.

    Raises: DescriptionError for wrong shapes and words, bodies and points that are not there (M103).
    """

    def __init__(self, context: ReadingContext, parts: tuple[Part, ...]) -> None:
        self.context, self.parts = context, parts
        self.joints: dict[str, Joint] = {}
        self.bodies: dict[str, Body] = {GROUND: Body(GROUND, OWN_POINTS)}
        self.placements: dict[str, Placement] = {GROUND: Placement(NOWHERE, ZERO)}

    def read(self, node: Node) -> Geometry:
        """The geometry that a file describes."""
        context = self.context
        mapping = context.record(node, GEOMETRY, "'geometry'", "a geometry")
        bodies, joints, parts = (mapping.get(key) for key in GEOMETRY.names)
        self._parts(parts)
        if bodies is None and len(self.bodies) == 1:
            what, fix = "the geometry has no bodies", "add 'bodies:' with a line for each"
            raise context.error(rules.MISSING_KEY, node, what, fix=fix)
        for key, value in () if bodies is None else context.mapping(bodies, "'bodies'").items():
            self._body(context.name(key, "a body"), value)
        lines = {} if joints is None else dict(context.mapping(joints, "'joints'").items())
        # Joints after all bodies: they may stand between bodies of parts.
        for key, value in lines.items():
            self.joints[key.text] = self._joint(key, value)
        return Geometry(Mechanism(self.bodies, self.joints), self.placements, _without_gaps(tree_of(mapping)))

    def _parts(self, node: Node | None) -> None:
        """The bodies of parts, where the file puts them."""
        context = self.context
        with_bodies = [part.name for part in self.parts if _geometry_of_model(part.model) is not None]
        placed: dict[str, Placement] = {}
        if node is not None:
            mapping = context.mapping(node, "the parts of the geometry")
            if not with_bodies:
                fix = "give a part a 'geometry' of its own, or leave this out"
                raise context.error(rules.WRONG_SHAPE, node, "no part of this system has bodies", fix=fix)
            context.check_keys(mapping, with_bodies, "the parts of the geometry, which are those that have bodies")
            for key, value in mapping.items():
                line = context.record(value, PLACED_PART, f"the place of {key.text}")
                at, angle = (line.get(word) for word in PLACED_PART.names)
                place = NOWHERE if at is None else self._pair(at, f"the place of {key.text}")
                turned = ZERO if angle is None else self._formula(angle, _ANGLE, f"the angle of {key.text}")
                placed[key.text] = Placement(place, turned)
        found = geometry_of_parts(self.parts, placed)
        if found is not None:
            self.bodies |= found.mechanism.bodies
            self.joints |= found.mechanism.joints
            self.placements |= found.placements

    def _body(self, name: str, node: Node) -> None:
        subject = f"the body {name}"
        mapping = self.context.mapping(node, subject)
        self.context.check_keys(mapping, ("points",) if name == GROUND else PLACED_BODY.names, subject)
        at, angle, points = (mapping.get(key) for key in PLACED_BODY.names)
        given = {} if points is None else dict(self.context.mapping(points, f"the points of {name}").items())
        own = {key.text: self._pair(value, f"the point {name}.{key.text}") for key, value in given.items()}
        place = NOWHERE if at is None else self._pair(at, f"the place of {name}")
        turned = ZERO if angle is None else self._formula(angle, _ANGLE, f"the angle of {name}")
        if name == GROUND:
            own = {**self.bodies[GROUND].points, **own}
        self.bodies[name] = Body(name, {**OWN_POINTS, **own})  # without mass: figures show its shape
        self.placements[name] = Placement(place, turned)

    def _joint(self, key: Scalar, node: Node) -> Joint:
        context, name = self.context, self.context.name(key, "a joint")
        mapping = context.mapping(node, f"the joint {name}")
        words = [other for other in mapping.keys if other.text not in _SETTINGS]
        if not words or words[0].text not in _WORDS:
            told = words[0].text if words else name
            fix = did_you_mean(told, _WORDS) or f"the words are {listing(_WORDS, 20)}"
            raise context.error(NO_SUCH_JOINT, words[0] if words else key, f"'{told}' joins no points", fix=fix)
        kind = words[0].text
        context.check_keys(mapping, (kind, *_SETTINGS), f"the joint {name}")
        value = mapping.get(kind)
        assert value is not None, "the key was found among those of the mapping"
        marks = [self._mark(text) for text in context.texts(value, f"what {name} joins")]
        count = 1 if kind in ONE_POINT_JOINTS else 2
        if len(marks) != count:
            fix = f"write '{name}: {{{kind}: [{', '.join(['body.point'] * count)}]}}'"
            what = f"the {kind} {name} joins {count}, not {len(marks)} points"
            raise context.error(rules.WRONG_SHAPE, value, what, fix=fix)
        settings = {
            word: self._formula(given, unit, f"the {word} of {name}")
            for word, unit in _SETTINGS.items()
            if (given := mapping.get(word)) is not None
        }
        return Joint(name, kind, marks[0], marks[-1], settings)

    def _mark(self, text: Scalar) -> BodyPoint:
        # Bodies of parts have the name of the part before theirs, and so have points of the ground that parts bring.
        whole = text.text
        split = [(whole[:k], whole[k + 1 :]) for k, letter in enumerate(whole) if letter == "."]
        ends = [BodyPoint(*end) for end in ((whole, ORIGIN), *split)]
        found = next(
            (end for end in ends if end.body in self.bodies and end.point in self.bodies[end.body].points), None
        )
        if found is None:
            words = [str(BodyPoint(name, p)) for name, b in self.bodies.items() for p in b.points if p != CENTRE]
            fix = did_you_mean(text.text, words) or f"the points are {listing(words, 20)}"
            raise self.context.error(NO_SUCH_POINT, text, f"'{text.text}' is no point of a body", fix=fix)
        return found

    def _pair(self, node: Node, subject: str) -> Pair:
        if not isinstance(node, SequenceNode) or len(node) != 2:
            what = f"{subject} is not a pair of coordinates"
            raise self.context.error(NOT_A_POINT, node, what, fix="write '[0.1 m, 0 m]'")
        x, y = (self._formula(item, _LENGTH, subject) for item in node)
        return x, y

    def _formula(self, node: Node, wanted: Dimension, subject: str) -> Expression:
        text = self.context.formula(node, subject)
        return self.context.check_later(parse_marked(text.text, self.context.text_place(text)), wanted, subject, text)


ItemPositions = Mapping[str, tuple[float, float]]
"""The centres of items by name, in units of the figure: x to the right, y downwards."""

PLACED_FIGURES = ("bond", "pog", "network")
"""The kinds of figures whose items stay where they are put."""
TURNED = "turned"
QUARTERS = (90, 270)
"""The angles, in degrees, by which a symbol of a schematic stands across its line: its first end up, or down."""


def read_layout(context: ReadingContext, node: Node) -> tuple[dict[str, ItemPositions], dict[str, int]]:
    """The places in a file, by kind of figure, and the symbols that are turned.

    Raises: DescriptionError (D102) where a place is no pair of numbers, or an angle none of a quarter.
    """
    section = context.mapping(node, "'layout'")
    given = section.get(TURNED)
    angles = {} if given is None else dict(context.mapping(given, "the turned symbols").items())
    return _places_of(context, section), {key.text: _quarter(context, key.text, angle) for key, angle in angles.items()}


def _quarter(context: ReadingContext, name: str, node: Node) -> int:
    text = node.text if isinstance(node, Scalar) else ""
    if text in map(str, QUARTERS):
        return int(text)
    what = f"the symbol of '{name}' is not turned by a quarter"
    raise context.error(rules.WRONG_SHAPE, node, what, fix=f"write '{name}: 90', its first end up, or 270")


def _places_of(context: ReadingContext, section: MappingNode) -> dict[str, ItemPositions]:
    return {
        key.text: {
            name.text: _place(context, name.text, place)
            for name, place in context.mapping(value, f"the layout of '{key.text}'").items()
        }
        for key, value in section.items()
        if key.text in PLACED_FIGURES
    }


def _place(context: ReadingContext, name: str, node: Node) -> tuple[float, float]:
    texts = [item.text for item in node.items if isinstance(item, Scalar)] if isinstance(node, SequenceNode) else []
    try:
        x, y = (float(text) for text in texts)
    except ValueError:
        x = y = float("nan")
    if isfinite(x) and isfinite(y):
        return x, y
    what = f"the place of '{name}' is not two numbers"
    raise context.error(rules.WRONG_SHAPE, node, what, fix=f"write '{name}: [x, y]', in units of the figure")


def write_positions(path: Path, notation: str, places: ItemPositions) -> None:
    """Put places into the layout of a file; everything else in it stays as it is, comments too.

    Raises: DescriptionError where the file cannot be read, changed (D073) or written (D074).
    """
    document = with_positions(read_document(path), notation, places)
    mark = "\ufeff" if document.has_byte_order_mark else ""
    write_text(path, mark + document.text)


def with_positions(document: Document, notation: str, places: ItemPositions) -> Document:
    """The document with these places in its layout, beside those that it has of other items."""
    root = document.root
    if not isinstance(root, MappingNode) or not places:
        return document
    layout = root.get("layout")
    if layout is None:
        return _with_section(document, notation, places)
    if not isinstance(layout, MappingNode) or layout.get(notation) is None:
        return add_entry(document, ("layout",), notation, {name: _pair(place) for name, place in places.items()})
    for name, place in places.items():
        document = _with_place(document, notation, name, _pair(place))
    return document


def _with_place(document: Document, notation: str, name: str, pair: list[str]) -> Document:
    section = find(document, ("layout", notation))
    if not isinstance(section, MappingNode) or section.get(name) is None:
        return add_entry(document, ("layout", notation), name, pair)
    for k, text in enumerate(pair):
        document = set_scalar(document, ("layout", notation, name, k), text)
    return document


def _with_section(document: Document, notation: str, places: ItemPositions) -> Document:
    """A new section at the end, with a line for each item; on one line where the whole file is in braces."""
    text = document.text
    lines = ["layout:", f"  {notation}:"]
    lines += [f"    {quote_if_needed(name, flow=False)}: [{', '.join(_pair(place))}]" for name, place in places.items()]
    # The line ends of the file: mixed ones show up as changes of every other line in many programs.
    newline = "\r\n" if "\r\n" in text else "\n"
    longer = text + ("" if text.endswith(("\n", "\r")) else newline) + newline.join([*lines, ""])
    try:
        # The end of the text need not be the end of the mapping: the file may stand in braces, or close with `...`.
        made = read_document(longer, document.file)
    except TellegenError as error:
        if text.lstrip().startswith("{"):
            tree = {notation: {name: _pair(place) for name, place in places.items()}}
            return add_entry(document, (), "layout", tree)
        what = f"no layout can be put at the end of the file: {error.what}"
        raise yaml_rules.EDIT_DOES_NOT_FIT.error(what, fix="add a line 'layout:' where it shall stand") from error
    return replace(made, has_byte_order_mark=document.has_byte_order_mark)


def _pair(place: tuple[float, float]) -> list[str]:
    # Tenths of a unit are finer than a hand can place something.
    return [f"{round(part, 1):g}" for part in place]


def _without_gaps(tree: Any) -> Any:
    """The tree with an empty mapping behind each key that has nothing behind it: as such it was read, and a text is none."""
    if isinstance(tree, dict):
        return {key: _without_gaps(value) if value != "" else {} for key, value in tree.items()}
    return tree
