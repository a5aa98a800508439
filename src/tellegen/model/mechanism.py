"""What a `mechanism:` says: rigid bodies with points, and what joins them. Lengths and angles are expressions in SI units."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple, final

from tellegen.core.errors import Place
from tellegen.expressions import ZERO, Expression

GROUND = "ground"
"""The body that does not move; its points are given in the coordinates of the plane."""

ORIGIN, CENTRE = "origin", "centre"
"""Points that every body has: the origin of its own coordinates, and its centre of mass."""

Pair = tuple[Expression, Expression]
"""The coordinates of a point, or a vector."""

NOWHERE: Pair = (ZERO, ZERO)

OWN_POINTS: Mapping[str, Pair] = MappingProxyType({ORIGIN: NOWHERE, CENTRE: NOWHERE})
"""The points of a body about which nothing else is said."""


class RigidFreedom(NamedTuple):
    """What a joint leaves free between its two bodies."""

    turns: bool
    slides: bool


RIGID = {
    "fixed": RigidFreedom(turns=False, slides=False),
    "prismatic": RigidFreedom(turns=False, slides=True),
    "revolute": RigidFreedom(turns=True, slides=False),
}
"""The joints that lead from one body to the next. Of several the first of these words is taken first: what leaves less free gives
shorter formulas to all that hangs on it."""

STEERED = ("skate", "wheel")
"""What holds a body across a direction that is fixed in it."""


class BodyPoint(NamedTuple):
    """A point of a body."""

    body: str
    point: str

    def __str__(self) -> str:
        return self.body if self.point == ORIGIN else f"{self.body}.{self.point}"


@final
@dataclass(frozen=True, slots=True)
class Body:
    """A rigid body. Its points are in its own coordinates, whose x axis makes the `angle` with that of the plane.

    `angle` and `speed` are the names of the angle (anticlockwise) and of its rate; `at` and `velocity` those of the position
    of a body that no joint leads to, and of the velocity of the centre.
    """

    name: str
    points: Mapping[str, Pair]
    mass: Expression = ZERO
    inertia: Expression = ZERO
    angle: str = ""
    speed: str = ""
    at: tuple[str, str] = ("", "")
    velocity: tuple[str, str] = ("", "")
    place: Place | None = field(default=None, compare=False)


@final
@dataclass(frozen=True, slots=True)
class Joint:
    """What joins two points: `kind` is its word, `settings` what its keys say, by the key that the table of joints has.

    Forces and moments count as those of the first body on the second.
    """

    name: str
    kind: str
    first: BodyPoint
    second: BodyPoint
    settings: Mapping[str, Expression] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    place: Place | None = field(default=None, compare=False)

    @property
    def turns(self) -> bool:
        """Whether it is rigid and lets its bodies turn against each other."""
        return self.kind in RIGID and RIGID[self.kind].turns

    @property
    def slides(self) -> bool:
        """Whether it is rigid and lets its second point slide along an axis."""
        return self.kind in RIGID and RIGID[self.kind].slides

    @property
    def steers(self) -> bool:
        """Whether it holds a body across a direction."""
        return self.kind in STEERED


@final
@dataclass(frozen=True, slots=True)
class Mechanism:
    """Bodies and joints in the order of description; `independent` are coordinates that loops shall not decide.

    `tolerance` is the gap that initial values may leave in a loop; without one they are guesses.
    """

    bodies: Mapping[str, Body]
    joints: Mapping[str, Joint]
    gravity: Pair = NOWHERE
    independent: tuple[str, ...] = ()
    tolerance: Expression | None = None

    def coordinates_of(self, mark: BodyPoint) -> Pair:
        """Where a point is in the coordinates of its body."""
        return self.bodies[mark.body].points[mark.point]


class Placement(NamedTuple):
    """Where the origin of a body is, and its angle: formulas of parameters and displacements."""

    at: Pair
    angle: Expression


@final
@dataclass(frozen=True, slots=True)
class Geometry:
    """What the bodies of a network look like: points and joints as in a mechanism, but places that formulas tell.

    `texts` is what the user wrote.
    """

    mechanism: Mechanism
    placements: Mapping[str, Placement]
    texts: Mapping[str, object] = field(default_factory=dict, compare=False, repr=False)
