"""The `mechanism:` of a file: bodies and joints from their lines.

mechanism:
  gravity: 9.81 m/s^2
  bodies:
    arm: {mass: 2 kg, inertia: 0.1 kg*m^2, centre: [l/2, 0 m], points: {tip: [l, 0 m]}}
  joints:
    pivot: {revolute: [ground, arm]}
"""

from collections.abc import Callable
from typing import final

from tellegen.core.errors import TellegenError
from tellegen.core.names import did_you_mean, listing
from tellegen.core.units import parse_unit
from tellegen.description.context import Context
from tellegen.description.document import Mapping, Node, Scalar, Sequence
from tellegen.description.mechanisms import rules
from tellegen.description.mechanisms.lines import LENGTH, Lines, ground
from tellegen.description.mechanisms.lowering import Lowering
from tellegen.description.mechanisms.values import GROUND, NOWHERE, Mechanism, Pair
from tellegen.expressions import ZERO, Expression

KEYS = {
    "gravity": "the acceleration of free fall, along -y, or its components [x, y]",
    "bodies": "rigid bodies, one a line: {mass: m, inertia: J, centre: [x, y], points: {A: [x, y]}}; 'ground' has points only",
    "joints": "what joins them, one a line: {revolute: [ground.O, crank]}",
    "independent": "coordinates that no loop shall decide",
    "assembly": "how positions are found: {tolerance: 1 mm} is the gap that initial values may leave; without it they are guesses",
}
ASSEMBLY_KEYS = {"tolerance": "the largest gap that initial values of all coordinates of a loop may leave"}


def read_mechanism(context: Context, node: Node, root: Mapping) -> Lowering | None:
    """Read a mechanism and add its elements to the model; None where something in it is wrong, which is collected."""
    reader = _Reader(context)
    try:
        mechanism = reader.read(node)
        if not context.errors:
            return Lowering(context, mechanism, node, root)
    except TellegenError as error:
        context.collect(error)
    context.broken |= reader.lines.names  # nothing that uses them is wrong for that reason
    return None


@final
class _Reader:
    def __init__(self, context: Context) -> None:
        self.context = context
        self.lines = Lines(context)

    def read(self, node: Node) -> Mechanism:
        context, lines = self.context, self.lines
        mapping = context.mapping(node, "'mechanism'")
        context.check_keys(mapping, KEYS, "a mechanism")
        bodies = mapping.get("bodies")
        if bodies is None:
            raise context.error(
                rules.NO_BODY, node, "the mechanism has no bodies", fix="add 'bodies:' with a line for each"
            )
        gravity = NOWHERE if (g := mapping.get("gravity")) is None else self._gravity(g)
        lines.bodies[GROUND] = ground({})
        for key, value in context.mapping(bodies, "'bodies'").items():
            self._attempt(lines.body, key, value)
        if (joints := mapping.get("joints")) is not None:
            for key, value in context.mapping(joints, "'joints'").items():
                self._attempt(lines.joint, key, value)
        named = mapping.get("independent")
        independent = [] if named is None else context.texts(named, "'independent'")
        moving = {name: body for name, body in lines.bodies.items() if name != GROUND}
        if not moving and not context.errors:
            raise context.error(
                rules.NO_BODY, bodies, "nothing in the mechanism moves", fix="add a body beside the ground"
            )
        self._check_coordinates(independent)
        assembly = mapping.get("assembly")
        tolerance = None if assembly is None else self._tolerance(assembly)
        return Mechanism(lines.bodies, lines.joints, gravity, tuple(text.text for text in independent), tolerance)

    def _tolerance(self, node: Node) -> Expression | None:
        mapping = self.context.mapping(node, "'assembly'")
        self.context.check_keys(mapping, ASSEMBLY_KEYS, "the assembly")
        value = mapping.get("tolerance")
        return None if value is None else self.lines.quantity(value, LENGTH, "the tolerance of the assembly")

    def _attempt(self, step: Callable[[Scalar, Node], None], key: Scalar, value: Node) -> None:
        try:
            step(key, value)
        except TellegenError as error:
            self.context.broken.add(key.text)
            self.context.collect(error)

    def _gravity(self, node: Node) -> Pair:
        wanted = parse_unit("m/s^2").dimension
        if isinstance(node, Sequence):
            return self.lines.pair(node, wanted, "gravity", "gravity")
        return ZERO, -self.lines.quantity(node, wanted, "gravity", "gravity")

    def _check_coordinates(self, names: list[Scalar]) -> None:
        bodies, joints = self.lines.bodies, self.lines.joints
        known = [body.angle for body in bodies.values() if body.name != GROUND]
        known += [joint.names["distance"] for joint in joints.values() if joint.kind == "prismatic"]
        known += [name for body in bodies.values() if body.name != GROUND for name in body.at]
        for text in names:
            if text.text not in known:
                fix = did_you_mean(text.text, known) or f"the coordinates are {listing(known)}"
                self.context.collect(
                    self.context.error(rules.NO_SUCH_POINT, text, f"'{text.text}' is no coordinate", fix=fix)
                )
