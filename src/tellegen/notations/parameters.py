"""Parameters and displacements: curves that give them, the order in which they follow from each other, their values, and what
physics says about these; rates of displacements, and the loops of positions that they close.

A slope is found when all parameters are known, so that a part whose `lift` the whole sets follows that lift. A mechanism brings
its own closures; a network whose moduli read displacements may state them, so that a run begins where positions fit.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import NoReturn, final

from tellegen.core.domains import DOMAINS, other_side
from tellegen.core.errors import DescriptionError, Finding, Place, TellegenError
from tellegen.core.names import did_you_mean, listing
from tellegen.core.units import Dimension
from tellegen.elements import ACTS_ON, ElementKind
from tellegen.expressions import ZERO, Expression, Number, Symbol, call, is_zero, number, parse, to_text
from tellegen.expressions.polynomials import interpolated
from tellegen.model.dimensions import Measure, NoDimension, si_unit
from tellegen.model.laws import LawTable
from tellegen.model.model import (
    Closure,
    Element,
    Model,
    Parameter,
    ParameterCurve,
    ParameterSlope,
    Part,
    input_name,
    sensed_variables,
    state_variables,
)
from tellegen.notations import rules
from tellegen.notations.context import ReadingContext
from tellegen.notations.grammar import CLOSURE, CURVE, SLOPE
from tellegen.notations.network.laws import MOST_LAW_POINTS
from tellegen.notations.parts.instances import Renaming
from tellegen.notations.quantities import parse_marked, read_plain
from tellegen.notations.signals.tables import read_interpolation, read_table
from tellegen.notations.yaml.document import MappingNode, Node, Scalar, SequenceNode


def parameter_values(model: Model) -> dict[str, float]:
    """The value of every parameter that has one; those that depend on a symbol without value are left out.

    Raises: DescriptionError where parameters define each other, or a value is not a finite number.
    """
    order, cycle = definition_order(model.parameters)
    if cycle:
        raise DescriptionError(cycle)
    values, problems = evaluate_in_order(model.parameters, order)
    if problems:
        raise DescriptionError(problems)
    return values


def known_values(parameters: Mapping[str, Parameter]) -> dict[str, float]:
    """The values as far as there are any; what is wrong with the others is told elsewhere."""
    return evaluate_in_order(parameters, definition_order(parameters)[0])[0]


def definition_order(parameters: Mapping[str, Parameter]) -> tuple[list[str], list[Finding]]:
    """The names, each after those it uses; and a finding for each cycle, whose members are left out."""
    order: list[str] = []
    state: dict[str, bool] = {}  # False while its definition is being followed, True when done
    findings: list[Finding] = []
    for start, parameter in parameters.items():
        expression = parameter.expression
        # Most parameters are plain numbers, and need no walk.
        if expression is None or type(expression) is Number:
            state[start] = True
            order.append(start)
        elif start not in state:
            _follow(start, parameters, state, order, findings)
    return order, findings


def _follow(
    start: str, parameters: Mapping[str, Parameter], state: dict[str, bool], order: list[str], findings: list[Finding]
) -> None:
    # A stack of its own: a chain of definitions may be longer than the recursion of Python goes.
    stack = [(start, iter(_used(parameters[start], parameters)))]
    state[start] = False
    while stack:
        name, rest = stack[-1]
        following = next((other for other in rest if state.get(other) is not True), None)
        if following is None:
            stack.pop()
            state[name] = True
            order.append(name)
        elif following in state:
            _report_cycle([entry[0] for entry in stack], following, parameters, findings)
        else:
            state[following] = False
            stack.append((following, iter(_used(parameters[following], parameters))))


def _used(parameter: Parameter, parameters: Mapping[str, Parameter]) -> list[str]:
    if parameter.expression is None:
        return []
    # In the order of names, so that the same file always reports the same circle.
    return sorted(name for name in parameter.expression.free_symbols if name in parameters)


def _report_cycle(path: list[str], closing: str, parameters: Mapping[str, Parameter], findings: list[Finding]) -> None:
    members = path[path.index(closing) :]
    shown = " -> ".join([*members, closing])
    what = f"'{closing}' is defined by itself" if len(members) == 1 else f"parameters define each other: {shown}"
    fix = f"give one of them a value, such as '{closing}: 1'"
    place = parameters[closing].place
    findings.append(rules.CYCLE.finding(what, fix=fix, place=place, members=members))


def evaluate_in_order(
    parameters: Mapping[str, Parameter], order: Iterable[str]
) -> tuple[dict[str, float], list[Finding]]:
    """The values, and a finding for each that is not a finite number."""
    values: dict[str, float] = {}
    findings: list[Finding] = []
    for name in order:
        parameter = parameters[name]
        expression = parameter.expression
        if expression is None:
            continue
        if type(expression) is not Number and any(other not in values for other in expression.free_symbols):
            continue
        try:
            values[name] = finite_value(expression, values)
        except ArithmeticError as problem:
            findings.append(value_finding(f"the value of {name}", problem, parameter.place))
    return values, findings


def finite_value(expression: Expression, values: Mapping[str, float]) -> float:
    """The number that an expression stands for.

    Raises: ZeroDivisionError, OverflowError (too large, too small), ArithmeticError (not a real number).
    """
    if type(expression) is Number:
        value = float(expression.rational)  # OverflowError beyond 1e308
        # A number below the range of floats would become a zero that nobody wrote.
        if value == 0 and expression.rational:
            raise OverflowError("too small for a number")
        return value
    try:
        value = expression.evaluate(values)
    except ValueError:
        raise ArithmeticError("not a real number") from None
    if isinstance(value, complex):
        raise ArithmeticError("not a real number")
    if not math.isfinite(value):
        raise OverflowError("not a finite number")
    return value


def value_finding(subject: str, problem: ArithmeticError, place: Place | None) -> Finding:
    """What `finite_value` found wrong with a formula."""
    if isinstance(problem, ZeroDivisionError):
        what = f"{subject} divides by zero"
        return rules.DIVISION_BY_ZERO.finding(what, fix="check the parameters it uses", place=place)
    reason = str(problem) if str(problem).startswith(("too small", "not a")) else "too large for a number"
    what = f"{subject} is {reason}"
    return rules.NOT_FINITE.finding(what, fix="give a finite number; limits are taken by reduction", place=place)


# Physics


def check_physics(elements: Iterable[Element], values: Mapping[str, float]) -> tuple[list[Finding], list[Finding]]:
    """Errors and warnings about the sizes of the values that are known."""
    errors: list[Finding] = []
    warnings: list[Finding] = []
    for element in elements:
        expression = element.value
        if expression is None:
            continue
        if type(expression) is Symbol:
            value = values.get(expression.name)
            # The fast way out: nearly all values are positive.
            if value is None or value > 0:
                continue
        else:
            if any(name not in values for name in expression.free_symbols):
                continue
            try:
                value = finite_value(expression, values)
            except ArithmeticError as problem:
                errors.append(value_finding(f"the value of {element.name}", problem, element.place))
                continue
            if value > 0:
                continue
        if (finding := _judged(element, value)) is not None:
            (warnings if finding.severity == "warning" else errors).append(finding)
    return errors, warnings


def _judged(element: Element, value: float) -> Finding | None:
    """What is wrong with a value that is not positive. Sources and elements with modes have none of their own."""
    role, what = element.kind.role, f"the {_quantity(element)} of {element.name} is {value:g}"
    if role == "storage" and value < 0:
        rule, fix = rules.NEGATIVE_STORAGE, "give a positive value; turn the element round to change a sign"
    elif role == "storage":
        if element.prefer is not None and element.kind.grounded:
            return None  # a speed that shall be a state, or follow, though it has no inertia of its own
        rule, fix = rules.EMPTY_STORAGE, "remove it, or take the limit with reduce"
    elif role == "resistive" and value < 0:
        what = f"{element.name} is an active element: its {_quantity(element)} is {value:g}"
        rule, fix = rules.ACTIVE_ELEMENT, "change the sign if it is meant to dissipate"
    elif role == "coupling" and value == 0:
        what = f"the {_quantity(element)} of {element.name} is 0: it passes no power, and holds {_held(element.kind)} at zero"
        rule, fix = rules.NO_PASSAGE, "remove it, unless it is meant to hold them"
    else:
        return None
    return rule.finding(what, where=element.name, fix=fix, place=element.place)


def _held(kind: ElementKind) -> str:
    """The variables that a coupling without a modulus holds: z_2 = K z_1, and their conjugates the other way."""
    if kind.coupling is None:
        return "a variable of each side"
    one, two = ACTS_ON[kind.coupling, kind.reciprocal]
    first, second = (DOMAINS[name] for name in (kind.domains[0], kind.domains[-1]))
    return f"the {first.power(other_side(one)).word} of its first side and the {second.power(two).word} of its second"


def _quantity(element: Element) -> str:
    return element.kind.quantity.word if element.kind.quantity else "value"


def read_curve(context: ReadingContext, name: str, key: Scalar, node: MappingNode) -> Parameter:
    """The parameter `name` that a mapping describes; the expression of a slope follows when `resolve_slopes` is called.

    Raises: DescriptionError (D490) for a mapping that is neither a table nor a slope.
    """
    return _CurveReader(context, name, node).read(key)


@final
class _CurveReader:
    """Reads one table or slope."""

    def __init__(self, context: ReadingContext, name: str, node: MappingNode) -> None:
        self.context, self.name, self.node = context, name, node

    def _refuse(self, what: str, fix: str = "") -> NoReturn:
        forms = "write '{table: [[0 deg, 0 mm], [180 deg, 10 mm]], at: theta}' or '{slope of: lift, by: theta}'"
        raise self.context.error(rules.BAD_CURVE, self.node, what, fix=fix or forms)

    def read(self, key: Scalar) -> Parameter:
        context, name, node = self.context, self.name, self.node
        if "slope of" in node:
            context.check_keys(node, SLOPE.names, f"the slope {name}")
            of, by = (self._word(word) for word in SLOPE.names)
            return Parameter(name, None, None, "", context.place(key), ParameterSlope(of, by))
        if "table" not in node:
            self._refuse(f"the value of {name} is a mapping without 'table' and without 'slope of'")
        context.check_keys(node, CURVE.names, f"the curve {name}")
        reading = read_table(context, name, node.values[node.position("table") or 0])
        if len(reading.points.points) > MOST_LAW_POINTS:
            self._refuse(f"the curve {name} has more than {MOST_LAW_POINTS} points")
        at = self._argument(reading.of_points)
        word, fix = read_interpolation(context, name, node)
        if fix:
            self._refuse(f"the curve {name} has no interpolation '{word}'", fix)
        curve = ParameterCurve(LawTable(reading.exact_points(), word == "cubic"), at)
        dimension = None if isinstance(reading.of_values, NoDimension) else reading.of_values
        unit = si_unit(dimension) if dimension else ""
        return Parameter(name, _curve_value(curve), dimension, unit, context.place(key), curve)

    def _word(self, key: str) -> str:
        value = self.node.get(key)
        if value is None:
            self._refuse(f"the slope {self.name} has no '{key}'")
        return self.context.scalar(value, f"'{key}' of {self.name}").text.strip()

    def _argument(self, of_points: Measure) -> Expression:
        given = self.node.get("at")
        if given is None:
            self._refuse(f"the curve {self.name} does not say where it is read")
        text = self.context.formula(given, f"'at' of {self.name}")
        marked = parse_marked(text.text, self.context.text_place(text))
        wanted: Dimension | None = None if isinstance(of_points, NoDimension) else of_points
        at = self.context.check_later(marked, wanted, f"'at' of {self.name}", text)
        period = self._period(wanted)
        # What is left after whole periods, from zero up to one period, for negative arguments too.
        return at if period is None else at - period * call("floor", at / period)

    def _period(self, wanted: Dimension | None) -> Expression | None:
        given, subject = self.node.get("period"), f"the period of {self.name}"
        if given is None:
            return None
        text = self.context.scalar(given, subject)
        reading = read_plain(text.text)
        if reading is None or float(reading.expression.evaluate({})) <= 0:
            self._refuse(f"{subject} is '{text.text}', not a positive number")
        self.context.check_plain(reading, wanted, subject, self.context.place(text))
        return number(Fraction(str(reading.expression.evaluate({}))))


# Slopes


def resolve_slopes(context: ReadingContext) -> None:
    """Put in the derivatives of all slopes, now that everything they read is known; errors are collected."""
    for name, parameter in context.parameters.items():
        if isinstance(parameter.curve, ParameterSlope):
            with context.collecting(name):
                context.parameters[name] = replace(parameter, expression=_slope(context, parameter, parameter.curve))


def _slope(context: ReadingContext, parameter: Parameter, slope: ParameterSlope) -> Expression | None:
    of, by = slope.of, slope.by
    known = context.parameters
    if context.is_broken(of):
        return None  # what is wrong with it has been said
    if of not in known or known[of].expression is None:
        raise _no_slope(parameter, f"takes the slope of '{of}', which is no parameter with a value", of, known)
    if by not in context.displacements:
        raise _no_slope(parameter, f"takes the slope by '{by}', which is no displacement", by, context.displacements)
    # By way of other parameters too: `lift` may be `height/2`, where `height` is the table.
    found = _written_out(of, by, known).derivative(by)
    if is_zero(found):
        raise _no_slope(parameter, f"takes the slope of '{of}', which does not depend on '{by}'", "", ())
    return found


def _written_out(name: str, by: str, known: Mapping[str, Parameter]) -> Expression:
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


def _depends(name: str, by: str, known: Mapping[str, Parameter], seen: set[str]) -> bool:
    seen.add(name)
    expression = known[name].expression
    if expression is None:
        return False
    used = expression.free_symbols
    return by in used or any(o in known and o not in seen and _depends(o, by, known, seen) for o in used)


def _no_slope(parameter: Parameter, what: str, word: str, known: Mapping[str, object] | tuple[()]) -> TellegenError:
    fix = did_you_mean(word, known) if word else "let it read the displacement"
    fix = fix or (f"name one of {listing(known)}" if known else "describe it under 'displacements'")
    return rules.NO_SLOPE.error(f"'{parameter.name}' {what}", fix=fix, place=parameter.place)


# As they stand in a file

FormulaWriter = Callable[[Expression, str, Dimension | None, str], str]
"""Writes an expression, with units where they are needed."""


def curve_keys(parameter: Parameter, text: FormulaWriter) -> dict[str, object]:
    """The keys of a parameter that is a slope, or still is its table; empty for all others."""
    curve = parameter.curve
    if isinstance(curve, ParameterSlope):
        return {"slope of": curve.of, "by": curve.by}
    if curve is None or _curve_value(curve) is not parameter.expression:
        return {}
    unit = f" {parameter.unit}" if parameter.dimension else ""
    points = [[repr(float(x)), f"{float(y)!r}{unit}"] for x, y in curve.table.points]
    keys: dict[str, object] = {"table": points, "at": text(curve.at, "", None, "")}
    return keys | ({"interpolation": "cubic"} if curve.table.smooth else {})


def _curve_value(curve: ParameterCurve) -> Expression:
    return interpolated(curve.table.points, curve.at, smooth=curve.table.smooth)


class DisplacementsReader:
    """Reads `displacements:`; what rates use is checked when all elements are known."""

    def __init__(self, context: ReadingContext) -> None:
        self.context = context
        self.rates: dict[str, Scalar] = {}

    def read(self, node: Node) -> None:
        """Parse every rate."""
        for key, value in self.context.mapping(node, "'displacements'").items():
            name = self.context.name(key, "a displacement")
            rate = self.context.formula(value, f"the rate of {name}")
            self.rates[name] = rate
            self.context.displacements[name] = parse(rate.text, place=self.context.text_place(rate))

    def check_rates(self) -> None:
        """Rates are expressions of parameters, of inputs, of what storages decide and of what ideal sensors read."""
        known = {
            *state_variables(self.context.elements.values()),
            *sensed_variables(self.context.elements.values()),
            *self.context.parameters,
            *self.context.displacements,
        }
        known |= {input_name(e) for e in self.context.elements.values() if e.kind.role == "source"}
        for name in self.rates:  # those of a mechanism are made of its own speeds
            rate = self.context.displacements.get(name)
            if rate is None:  # it could not be read, which is told already
                continue
            if name in self.context.parameters:
                what = f"'{name}' is a displacement and a parameter"
                error = self.context.error(rules.VALUE_TWICE, self.rates[name], what, fix="rename one of them")
                self.context.collect(error)
            for other in sorted(n for n in rate.free_symbols - known if not self.context.may_be_hidden(n)):
                fix = did_you_mean(other, known) or f"some that are: {listing(sorted(known))}"
                what = f"the rate of {name} uses '{other}', which is no variable of a storage or of a sensor"
                self.context.collect(self.context.error(rules.UNKNOWN_VARIABLE, self.rates[name], what, fix=fix))


def read_closures(context: ReadingContext, node: Node) -> tuple[Closure, ...]:
    """The closures of a file, checked when all displacements are known."""
    return tuple(_read_closure(context, key, value) for key, value in context.mapping(node, "'closures'").items())


def _read_closure(context: ReadingContext, key: Scalar, node: Node) -> Closure:
    mapping = context.record(node, CLOSURE, f"the closure {key.text}")
    what, fix = f"the closure {key.text} is not complete", f"write '{key.text}: {{equations: [...], solves: [...]}}'"
    given, solved = (context.needed(mapping, word, what, fix, at=key) for word in CLOSURE.names)
    equations = []
    for item in list(given) if isinstance(given, SequenceNode) else [given]:
        text = context.formula(item, f"an equation of {key.text}")
        marked = parse_marked(text.text, context.text_place(text))
        equations.append(context.check_later(marked, None, f"an equation of {key.text}", text))
    solves = context.texts(solved, f"what {key.text} solves")
    for text in solves:
        if text.text not in context.displacements:
            fix = did_you_mean(text.text, context.displacements) or f"they are {listing(context.displacements)}"
            raise context.error(rules.UNKNOWN_VARIABLE, text, f"'{text.text}' is no displacement", fix=fix)
    # A joint in the plane holds two directions and an angle at most, so a loop has three equations at most.
    if len(solves) != len(equations) or len(solves) > 3:
        what = f"the closure {key.text} has {len(equations)} equations for {len(solves)} displacements"
        raise context.error(rules.WRONG_SHAPE, node, what, fix="give as many of both, three at most")
    return Closure(context.name(key, "a closure"), tuple(equations), tuple(text.text for text in solves))


def closures_of_parts(parts: Iterable[Part]) -> tuple[Closure, ...]:
    """The closures that parts bring along, under their full names."""
    found: list[Closure] = []
    for part in parts:
        if part.model.closures:
            names = Renaming(part.name, part.model, {}, part.names)
            found += [
                Closure(
                    names.path(closure.name),
                    tuple(map(names.expression, closure.equations)),
                    tuple(map(names.path, closure.solves)),
                )
                for closure in part.model.closures
            ]
    return tuple(found)


def closure_texts(closures: Iterable[Closure]) -> dict[str, dict[str, list[str]]]:
    """Closures as the texts of a file."""
    return {c.name: {"equations": list(map(to_text, c.equations)), "solves": list(c.solves)} for c in closures}
