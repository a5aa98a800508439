"""Parameters given by a curve: `lift: {table: [[0 deg, 0 mm], ...], at: theta}` and `H: {slope of: lift, by: theta}`.

A slope is found when all parameters are known, so that a part whose `lift` the whole sets follows that lift.
"""

from collections.abc import Callable
from collections.abc import Mapping as TypingMapping
from dataclasses import replace
from fractions import Fraction
from typing import NoReturn

from tellegen.core.errors import Rule, TellegenError
from tellegen.core.names import did_you_mean, listing
from tellegen.core.units import Dimension
from tellegen.description import curve_rules as rules
from tellegen.description.context import Context, Pending
from tellegen.description.dimensions import Measure, Open, si_unit, without_marks
from tellegen.description.document import Mapping, Scalar
from tellegen.description.law_tables import INTERPOLATIONS, MOST_POINTS
from tellegen.description.model import Curve, Parameter, Slope
from tellegen.description.quantities import parse_marked, read_plain
from tellegen.description.relations import LawTable
from tellegen.description.signals.tables import read_table
from tellegen.expressions import ZERO, Expression, call, is_zero, number
from tellegen.expressions.piecewise import interpolated

TABLE_KEYS = {
    "table": "the points, each `[argument, value]`, or `{file: lift.csv, time: angle, column: lift}`",
    "at": "where the table is read: a displacement, or a formula of one",
    "interpolation": "linear, or cubic: smooth, rising and falling only where the points do",
    "period": "after how much the table begins again; beyond its points a table without period goes on straight",
}
SLOPE_KEYS = {"slope of": "a parameter that depends on a displacement", "by": "the displacement"}


def read_curve(context: Context, name: str, key: Scalar, node: Mapping) -> Parameter:
    """The parameter `name` that a mapping describes; the expression of a slope follows when `settle_slopes` is called.

    Raises: DescriptionError (D490) for a mapping that is neither a table nor a slope.
    """
    if "slope of" in node:
        context.check_keys(node, SLOPE_KEYS, f"the slope {name}")
        of, by = (_word(context, name, node, word) for word in SLOPE_KEYS)
        return Parameter(name, None, None, "", context.place(key), Slope(of, by))
    if "table" not in node:
        _refuse(context, node, f"the value of {name} is a mapping without 'table' and without 'slope of'")
    context.check_keys(node, TABLE_KEYS, f"the curve {name}")
    return _table(context, name, key, node)


def _word(context: Context, name: str, node: Mapping, key: str) -> str:
    value = node.get(key)
    if value is None:
        _refuse(context, node, f"the slope {name} has no '{key}'")
    return context.scalar(value, f"'{key}' of {name}").text.strip()


def _refuse(context: Context, node: Mapping, what: str) -> NoReturn:
    fix = "write '{table: [[0 deg, 0 mm], [180 deg, 10 mm]], at: theta}' or '{slope of: lift, by: theta}'"
    raise context.error(rules.BAD_CURVE, node, what, fix=fix)


# Tables


def _table(context: Context, name: str, key: Scalar, node: Mapping) -> Parameter:
    reading = read_table(context, name, node.values[node.position("table") or 0])
    if len(reading.points.points) > MOST_POINTS:
        _refuse(context, node, f"the curve {name} has more than {MOST_POINTS} points")
    at = _argument(context, name, node, reading.of_points)
    given = zip(reading.points.points, reading.points.values, strict=True)
    points = tuple((Fraction(repr(x)), Fraction(repr(y))) for x, y in given)
    curve = Curve(LawTable(points, _interpolation(context, name, node) == "cubic"), at)
    dimension = None if isinstance(reading.of_values, Open) else reading.of_values
    unit = si_unit(dimension) if dimension else ""
    return Parameter(name, curve_value(curve), dimension, unit, context.place(key), curve)


def _argument(context: Context, name: str, node: Mapping, of_points: Measure) -> Expression:
    given = node.get("at")
    if given is None:
        _refuse(context, node, f"the curve {name} does not say where it is read")
    text = context.formula(given, f"'at' of {name}")
    marked = parse_marked(text.text, context.text_place(text))
    wanted: Dimension | None = None if isinstance(of_points, Open) else of_points
    context.pending.append(Pending(marked, wanted, f"'at' of {name}", lambda: context.text_place(text), {}))
    at = without_marks(marked)
    period = _period(context, name, node, wanted)
    return at if period is None else at - period * call("floor", at / period)


def _period(context: Context, name: str, node: Mapping, wanted: Dimension | None) -> Expression | None:
    given = node.get("period")
    if given is None:
        return None
    text = context.scalar(given, f"the period of {name}")
    reading = read_plain(text.text)
    if reading is None or float(reading.expression.evaluate({})) <= 0:
        _refuse(context, node, f"the period of {name} is '{text.text}', not a positive number")
    if wanted is not None and reading.dimension is not None and reading.dimension != wanted:
        context.add_errors(
            [context.wrong_dimension(f"the period of {name}", reading.dimension, wanted, context.place(text))]
        )
    return number(Fraction(str(reading.expression.evaluate({}))))


def _interpolation(context: Context, name: str, node: Mapping) -> str:
    given = node.get("interpolation")
    word = INTERPOLATIONS[0] if given is None else context.scalar(given, f"the interpolation of {name}").text
    if word not in INTERPOLATIONS:
        fix = did_you_mean(word, INTERPOLATIONS) or f"write {' or '.join(INTERPOLATIONS)}"
        raise context.error(rules.BAD_CURVE, node, f"the curve {name} has no interpolation '{word}'", fix=fix)
    return word


# Slopes


def settle_slopes(context: Context) -> None:
    """Put in the derivatives of all slopes, now that everything they read is known; errors are collected."""
    for name, parameter in context.parameters.items():
        if isinstance(parameter.curve, Slope):
            try:
                context.parameters[name] = replace(parameter, expression=_slope(context, parameter, parameter.curve))
            except TellegenError as error:
                context.broken.add(name)
                context.collect(error)


def _slope(context: Context, parameter: Parameter, slope: Slope) -> Expression | None:
    of, by = slope.of, slope.by
    known = context.parameters
    if context.is_broken(of):
        return None  # what is wrong with it has been said
    if of not in known or known[of].expression is None:
        raise _no_slope(parameter, f"takes the slope of '{of}', which is no parameter with a value", of, known)
    if by not in context.displacements:
        raise _no_slope(parameter, f"takes the slope by '{by}', which is no displacement", by, context.displacements)
    found = _written_out(of, by, known).derivative(by)
    if is_zero(found):
        raise _no_slope(parameter, f"takes the slope of '{of}', which does not depend on '{by}'", "", ())
    return found


def _written_out(name: str, by: str, known: TypingMapping[str, Parameter]) -> Expression:
    """A parameter with those parameters written out that depend on the displacement."""
    expression = known[name].expression or ZERO
    for _ in known:  # as deep as definitions go; circles are told elsewhere
        inner = {
            other: known[other].expression or ZERO
            for other in expression.free_symbols
            if other in known and other != name and _depends(other, by, known, {name})
        }
        if not inner:
            break
        expression = expression.substitute(inner)
    return expression


def _depends(name: str, by: str, known: TypingMapping[str, Parameter], seen: set[str]) -> bool:
    seen.add(name)
    expression = known[name].expression
    if expression is None:
        return False
    used = expression.free_symbols
    return by in used or any(o in known and o not in seen and _depends(o, by, known, seen) for o in used)


def _no_slope(
    parameter: Parameter, what: str, word: str, known: TypingMapping[str, object] | tuple[()]
) -> TellegenError:
    rule: Rule = rules.NO_SLOPE
    fix = did_you_mean(word, known) if word else "let it read the displacement"
    fix = fix or (f"name one of {listing(known)}" if known else "describe it under 'displacements'")
    return rule.error(f"'{parameter.name}' {what}", fix=fix, place=parameter.place)


# As they stand in a file

Text = Callable[[Expression, str, Dimension | None, str], str]
"""Writes an expression, with units where they are needed."""


def curve_keys(parameter: Parameter, text: Text) -> dict[str, object]:
    """The keys of a parameter that is a slope, or still is its table; empty for all others."""
    curve = parameter.curve
    if isinstance(curve, Slope):
        return {"slope of": curve.of, "by": curve.by}
    if curve is None or curve_value(curve) is not parameter.expression:
        return {}
    unit = f" {parameter.unit}" if parameter.dimension else ""
    points = [[repr(float(x)), f"{float(y)!r}{unit}"] for x, y in curve.table.points]
    keys: dict[str, object] = {"table": points, "at": text(curve.at, "", None, "")}
    return keys | ({"interpolation": "cubic"} if curve.table.smooth else {})


def curve_value(curve: Curve) -> Expression:
    """The points joined, as a formula."""
    return interpolated(curve.table.points, curve.at, smooth=curve.table.smooth)
