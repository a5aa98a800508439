"""The bodies of parts as the whole shows them: under the name of the part, turned and moved to where the whole puts it."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import final

from tellegen.description.mechanisms.geometry import Angle, components, fixed, plus
from tellegen.description.mechanisms.tree import build_tree
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
from tellegen.description.model import Model, Part
from tellegen.description.parts.instances import Renaming, node_map
from tellegen.expressions import ZERO, Expression

HERE = Placement(NOWHERE, ZERO)
"""A part in the coordinates of the whole."""


def bodies_in(model: Model) -> Geometry | None:
    """Where the bodies of a model are: as its geometry tells, or as the joints of its mechanism lead to them."""
    mechanism = model.mechanism
    if model.geometry is not None or mechanism is None:
        return model.geometry
    tree = build_tree(mechanism)
    placements = {
        name: Placement(components(tree.position(Mark(name, ORIGIN))), tree.poses[name].angle.expression)
        for name in mechanism.bodies
    }
    return Geometry(mechanism, placements)


def bodies_of_parts(parts: Iterable[Part], placed: Mapping[str, Placement]) -> Geometry | None:
    """The bodies and joints of all parts in the plane of the whole; nothing where no part has any."""
    ground = {ORIGIN: NOWHERE, CENTRE: NOWHERE}
    bodies: dict[str, Body] = {}
    joints: dict[str, Joint] = {}
    placements: dict[str, Placement] = {GROUND: HERE}
    for part in parts:
        found = bodies_in(part.model)
        if found is not None:
            moved = _Moved(part, found, placed.get(part.name, HERE))
            ground |= moved.ground
            bodies |= moved.bodies
            joints |= moved.joints
            placements |= moved.placements
    if not bodies:
        return None
    still = Body(GROUND, ZERO, ZERO, ground, "", "", ("", ""), ("", ""))
    return Geometry(Mechanism({GROUND: still, **bodies}, joints), placements)


@final
class _Moved:
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
        return components(plus(fixed(self.placement.at), fixed(at, Angle("", self.placement.angle))))

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

    def _mark(self, mark: Mark) -> Mark:
        if mark.body == GROUND:
            return Mark(GROUND, self._full(mark.point))
        return Mark(self._full(mark.body), mark.point)
