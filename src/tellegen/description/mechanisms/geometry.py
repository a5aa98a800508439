"""Vectors of the plane as sums of parts that turn with a body, so that their derivatives and products stay short.

A part `(along, across)` at an angle theta stands for along (cos, sin) + across (-sin, cos). The cross product of two parts needs
only the difference of their angles: sin(a) cos(b) - cos(a) sin(b) never has to be recognised.
"""

from typing import NamedTuple

from tellegen.description.mechanisms.values import Pair
from tellegen.expressions import ONE, ZERO, Expression, call, symbol, total


class Angle(NamedTuple):
    """The angle of a body: a coordinate, or none for one that does not turn, and a constant."""

    coordinate: str = ""
    offset: Expression = ZERO

    @property
    def expression(self) -> Expression:
        """The angle as a formula."""
        return symbol(self.coordinate) + self.offset if self.coordinate else self.offset

    def turned(self, by: Expression) -> "Angle":
        """The angle of what is turned against the body."""
        return Angle(self.coordinate, self.offset + by)


class Part(NamedTuple):
    """A vector fixed to something that turns."""

    along: Expression
    across: Expression
    angle: Angle


Vector = tuple[Part, ...]

FIXED = Angle()


def fixed(pair: Pair, angle: Angle = FIXED) -> Vector:
    """The vector with given components in a frame at an angle."""
    return () if pair[0] is ZERO and pair[1] is ZERO else (Part(pair[0], pair[1], angle),)


def plus(*vectors: Vector) -> Vector:
    """The sum; parts at one angle are joined."""
    found: dict[Angle, list[Expression]] = {}
    for part in (part for vector in vectors for part in vector):
        components = found.setdefault(part.angle, [ZERO, ZERO])
        components[0] = components[0] + part.along
        components[1] = components[1] + part.across
    return tuple(Part(a, b, angle) for angle, (a, b) in found.items() if a is not ZERO or b is not ZERO)


def minus(vector: Vector) -> Vector:
    """The opposite vector."""
    return tuple(Part(-part.along, -part.across, part.angle) for part in vector)


def rate_by(vector: Vector, coordinate: str) -> Vector:
    """The partial derivative by a coordinate: what turns with it moves at right angles, what it stretches moves along."""
    parts: list[Part] = []
    for along, across, angle in vector:
        stretched = (along.derivative(coordinate), across.derivative(coordinate))
        parts.extend(fixed(stretched, angle))
        if angle.coordinate == coordinate:
            parts.append(Part(-across, along, angle))
    return plus(tuple(parts))


def components(vector: Vector) -> Pair:
    """The components along the axes of the plane."""
    x, y = [], []
    for along, across, angle in vector:
        cos, sin = _cos(angle.expression), _sin(angle.expression)
        x.append(along * cos - across * sin)
        y.append(along * sin + across * cos)
    return total(x), total(y)


def cross(one: Vector, two: Vector) -> Expression:
    """The cross product, x_1 y_2 - y_1 x_2."""
    terms = []
    for a in one:
        for b in two:
            between = _between(a.angle, b.angle)
            terms.append((a.along * b.along + a.across * b.across) * _sin(between))
            terms.append((a.along * b.across - a.across * b.along) * _cos(between))
    return total(terms)


def rotated(vector: Vector) -> Vector:
    """The vector turned by a right angle, anticlockwise."""
    return tuple(Part(-part.across, part.along, part.angle) for part in vector)


def direction(angle: Angle) -> Vector:
    """The unit vector at an angle."""
    return (Part(ONE, ZERO, angle),)


def _between(one: Angle, two: Angle) -> Expression:
    if one.coordinate == two.coordinate:
        return two.offset - one.offset
    return two.expression - one.expression


def _sin(angle: Expression) -> Expression:
    return ZERO if angle is ZERO else call("sin", angle)


def _cos(angle: Expression) -> Expression:
    return ONE if angle is ZERO else call("cos", angle)
