"""Bodies at places that formulas tell: the geometry of a network as the tree of a mechanism, which figures know how to draw."""

from collections.abc import Mapping
from dataclasses import replace

from tellegen.core.names import listing
from tellegen.description.mechanisms.geometry import Angle, fixed
from tellegen.description.mechanisms.tree import Coordinate, Tree
from tellegen.description.mechanisms.tree import Pose as Placed
from tellegen.description.mechanisms.values import ORIGIN, Geometry, Joint, Mark
from tellegen.description.model import Model
from tellegen.description.values import definition_order, evaluate_in_order
from tellegen.drawing import rules
from tellegen.drawing.geometry import Point
from tellegen.expressions import Expression

HELD = ("revolute", "fixed")
"""The joints whose two points are one."""
GAP = 1e-3
"""How far these may be apart, as a share of the size of the whole."""


def placed_tree(model: Model, geometry: Geometry) -> Tree:
    """The tree of a geometry; its coordinates are the displacements and signals that the formulas read."""
    moving = _moving_parameters(model)
    read: set[str] = set()

    def told(formula: Expression) -> Expression:
        expanded = _expanded(formula, moving)
        read.update(expanded.free_symbols)
        return expanded

    bodies = {
        name: replace(body, points={point: (told(x), told(y)) for point, (x, y) in body.points.items()})
        for name, body in geometry.mechanism.bodies.items()
    }
    tree = Tree(replace(geometry.mechanism, bodies=bodies))
    for name, ((x, y), angle) in geometry.placements.items():
        tree.poses[name] = Placed(fixed((told(x), told(y))), Angle("", told(angle)))
        tree.base[name] = Mark(name, ORIGIN)
    tree.coordinates = {name: Coordinate(name, {}) for name in (*model.displacements, *model.signals) if name in read}
    return tree


def _moving_parameters(model: Model) -> dict[str, Expression]:
    """The parameters that displacements change, as formulas."""
    order, _ = definition_order(model.parameters)
    constant, _ = evaluate_in_order(model.parameters, order)
    formulas = {name: parameter.expression for name, parameter in model.parameters.items() if name not in constant}
    return {name: formula for name, formula in formulas.items() if formula is not None}


def _expanded(formula: Expression, moving: Mapping[str, Expression]) -> Expression:
    while inside := formula.free_symbols & moving.keys():
        formula = formula.substitute({name: moving[name] for name in inside})
    return formula


def check_fit(joints: Mapping[str, Joint], places: Mapping[Mark, Point], name: str) -> None:
    """Refuse a geometry whose pins hold points that are not at one place.

    Raises: FigureError (F183).
    """
    xs, ys = zip(*places.values(), strict=True)
    size = max(max(xs) - min(xs), max(ys) - min(ys))
    torn = []
    for joint in joints.values():
        (x, y), (u, v) = places[joint.first], places[joint.second]
        if joint.kind in HELD and max(abs(x - u), abs(y - v)) > GAP * size:
            torn.append(f"{joint.name} ({joint.first} at {x:.4g}, {y:.4g}; {joint.second} at {u:.4g}, {v:.4g})")
    if torn:
        what = f"the geometry of '{name}' does not fit at {listing(torn)}"
        fix = "correct the places or angles of the bodies there, or join them by a 'spring'"
        raise rules.TORN_GEOMETRY.error(what, where=name, fix=fix)
