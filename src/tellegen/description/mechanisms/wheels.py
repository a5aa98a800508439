"""Wheels and knife edges on the plane: relations between velocities that no relation between positions stands behind."""

from typing import Protocol, final

from tellegen.description.mechanisms.bodies import Bodies
from tellegen.description.mechanisms.geometry import components, cross, direction, fixed, minus, plus, rotated
from tellegen.description.mechanisms.making import FRAME, End, point, shaft
from tellegen.description.mechanisms.tree import STEERED
from tellegen.description.mechanisms.values import Joint
from tellegen.expressions import ZERO, Expression, symbol

ROLLING = ("wheel", "omniwheel")


class Coordinates(Protocol):
    """Takes coordinates with their rates."""

    def add_displacement(self, name: str, rate: Expression) -> None:
        """A coordinate with its rate."""


@final
class Wheels:
    """Makes the elements of wheels, omniwheels and skates."""

    def __init__(self, bodies: Bodies, coordinates: Coordinates) -> None:
        self.bodies = bodies
        self.maker = bodies.maker
        self.tree = bodies.tree
        self.coordinates = coordinates

    def make(self, joint: Joint) -> None:
        """The elements of a joint that is one of these; nothing for others."""
        if joint.kind in ROLLING:
            self._roll(joint)
        if joint.kind in STEERED:
            self._hold(joint)

    def _roll(self, joint: Joint) -> None:
        """The wheel turns as fast as its point moves along it."""
        ends, factors = self._velocity(joint, 0)
        radius, speed = joint.settings["radius"], joint.names["angular velocity"]
        rolling = shaft(joint.name)
        self.maker.connection(f"{joint.name}.rolling", ends, [rolling], [[factor / radius for factor in factors]])
        self.maker.storage(f"{joint.name}.J", rolling, joint.settings.get("inertia", ZERO), speed, state=False)
        self.coordinates.add_displacement(joint.names["angle"], symbol(speed))

    def _hold(self, joint: Joint) -> None:
        """Nothing moves across a wheel or a skate."""
        ends, factors = self._velocity(joint, 1)
        node = f"{joint.name}.across"
        if len(ends) == 1:
            node = ends[0].node
        else:
            self.maker.connection(f"{joint.name}.side", ends, [point(node)], [factors])
        self.maker.sensor(f"{joint.name}.N", "translational", (FRAME, node), f"{joint.name}.N")

    def _velocity(self, joint: Joint, side: int) -> tuple[list[End], list[Expression]]:
        """The velocity of the point along the wheel (0) or across it (1), as a sum of velocities of nodes.

        In a body that has its own speeds along and across a wheel the factors are constant: they turn together.
        """
        mark = joint.first
        heading = direction(self.tree.axis(joint))
        wanted = heading if side == 0 else rotated(heading)
        own = [
            speed for speed in self.tree.speeds.values() if speed.node in (f"{mark.body}.along", f"{mark.body}.across")
        ]
        if not own:
            return list(self.bodies.moving(mark)), list(components(wanted))
        first = next(j for j in self.tree.mechanism.joints.values() if j.kind in STEERED and j.first.body == mark.body)
        frame = direction(self.tree.axis(first))
        at = self.tree.mechanism.coordinates_of
        angle = self.tree.poses[mark.body].angle
        lever = plus(fixed(at(mark), angle), minus(fixed(at(first.first), angle)))
        parts = (frame, rotated(frame), rotated(lever))
        ends = [*(point(speed.node) for speed in own), self.bodies.turning(mark.body)]
        factors = [cross(part, rotated(wanted)) for part in parts]
        kept = [k for k, factor in enumerate(factors) if factor is not ZERO]
        return [ends[k] for k in kept], [factors[k] for k in kept]
