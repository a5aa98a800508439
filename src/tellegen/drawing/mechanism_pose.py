"""Where the points of a mechanism are, for given coordinates: at first those of its initial configuration."""

from collections.abc import Mapping
from math import atan2, hypot
from typing import final

from tellegen.core.errors import TellegenError
from tellegen.core.names import listing
from tellegen.description.mechanisms.assembly import assembled
from tellegen.description.mechanisms.geometry import Angle, components, direction
from tellegen.description.mechanisms.tree import Tree, build_tree
from tellegen.description.mechanisms.values import GROUND, ORIGIN, Joint, Mark, Mechanism
from tellegen.description.model import Model
from tellegen.description.values import definition_order, evaluate_in_order
from tellegen.drawing import rules
from tellegen.drawing.geometry import Point
from tellegen.drawing.mechanism_placing import check_fit, placed_tree
from tellegen.expressions import ZERO, Expression, to_text


@final
class Pose:
    """A mechanism at some coordinates. Lengths are in metres, y upwards."""

    def __init__(self, model: Model, coordinates: Mapping[str, float] | None = None) -> None:
        self.mechanism = _mechanism(model)
        self.tree: Tree = build_tree(self.mechanism) if model.geometry is None else placed_tree(model, model.geometry)
        self._name = model.name
        self._values = _initial(model, self.tree)
        self._values.update(coordinates or {})
        if model.geometry is not None:
            joints = self.mechanism.joints
            marks = {mark for joint in joints.values() for mark in (joint.first, joint.second)}
            check_fit(joints, {mark: self.point(mark) for mark in (*marks, Mark(GROUND, ORIGIN))}, model.name)

    def value(self, formula: Expression) -> float:
        """The value of a formula of parameters and coordinates.

        Raises: FigureError (F182) where a parameter in it has no value.
        """
        missing = sorted(formula.free_symbols - self._values.keys())
        if missing:
            what = f"the mechanism '{self._name}' cannot be drawn: {listing(missing)} has no value"
            fix = f"give it one under 'parameters:', {missing[0]}: 0.1 m, or among the coordinates"
            raise rules.NO_LENGTH.error(what, fix=fix)
        try:
            return formula.evaluate(self._values)
        except (ArithmeticError, ValueError) as error:
            what = f"the mechanism '{self._name}' cannot be drawn: {to_text(formula)} has no value there ({error})"
            raise rules.NO_LENGTH.error(what, fix="check the lengths, or where the motion leads") from error

    def point(self, mark: Mark) -> Point:
        """Where a point of a body is."""
        x, y = components(self.tree.position(mark))
        return self.value(x), self.value(y)

    def along(self, angle: Angle) -> Point:
        """The unit vector at an angle."""
        x, y = components(direction(angle))
        return self.value(x), self.value(y)

    def axis(self, joint: Joint) -> Point:
        """The direction along which a joint lets its second point slide, or a wheel roll."""
        return self.along(self.tree.axis(joint))

    def size(self, joint: Joint, setting: str) -> float:
        """A length among the settings of a joint; zero where nothing is said."""
        return self.value(joint.settings.get(setting, ZERO))


def _mechanism(model: Model) -> Mechanism:
    if model.geometry is not None:
        return model.geometry.mechanism
    if model.mechanism is None:
        what = f"'{model.name}' has no mechanism"
        fix = "draw its schematic, draw(model, 'network'), or say where its bodies are under 'geometry:'"
        raise rules.NO_MECHANISM.error(what, fix=fix)
    return model.mechanism


def _initial(model: Model, tree: Tree) -> dict[str, float]:
    """Values of parameters, and of coordinates where the loops fit."""
    order, _ = definition_order(model.parameters)
    values, _ = evaluate_in_order(model.parameters, order)
    start = dict.fromkeys(tree.coordinates, 0.0)
    for name, formula in model.experiment.initial.items():
        try:
            start[name] = formula.evaluate(values)
        except (TellegenError, ArithmeticError, ValueError, KeyError):
            continue  # what is wrong with it is reported when the model runs
    known = {**values, **start}
    equations = [equation for closure in model.closures for equation in closure.equations]
    unknown = [name for closure in model.closures for name in closure.solves]
    if unknown and all(equation.free_symbols <= known.keys() for equation in equations):
        known.update(assembled(equations, unknown, known, known) or {})
    return known


def unit(start: Point, end: Point) -> Point:
    """The direction from one point to another; to the right where they are the same."""
    length = hypot(end[0] - start[0], end[1] - start[1])
    return ((end[0] - start[0]) / length, (end[1] - start[1]) / length) if length > 0 else (1.0, 0.0)


def turn_of(vector: Point) -> float:
    """The angle of a vector on the page, in quarters of a turn, clockwise."""
    return atan2(vector[1], vector[0]) / (atan2(1.0, 0.0))
