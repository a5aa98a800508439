"""The numbers of a model: parameters in the order in which they follow from each other, and what physics says about them."""

import math
from collections.abc import Callable, Iterable, Mapping

from tellegen.core.errors import DescriptionError, Finding, Place
from tellegen.description import rules
from tellegen.description.model import Element, Model, Parameter
from tellegen.expressions import Expression, Number, Symbol


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


def definition_order(parameters: Mapping[str, Parameter]) -> tuple[list[str], list[Finding]]:
    """The names, each after those it uses; and a finding for each cycle, whose members are left out."""
    order: list[str] = []
    state: dict[str, bool] = {}  # False while its definition is being followed, True when done
    findings: list[Finding] = []
    for start, parameter in parameters.items():
        expression = parameter.expression
        if expression is None or type(expression) is Number:
            state[start] = True
            order.append(start)
        elif start not in state:
            _follow(start, parameters, state, order, findings)
    return order, findings


def _follow(
    start: str, parameters: Mapping[str, Parameter], state: dict[str, bool], order: list[str], findings: list[Finding]
) -> None:
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
    """The finding for a value that cannot be computed."""
    if isinstance(problem, ZeroDivisionError):
        return rules.DIVISION_BY_ZERO.finding(
            f"{subject} divides by zero", fix="check the parameters it uses", place=place
        )
    reason = str(problem) if str(problem).startswith(("too small", "not a")) else "too large for a number"
    return rules.NOT_FINITE.finding(
        f"{subject} is {reason}", fix="give a finite number; limits are taken by reduction", place=place
    )


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
        _JUDGES[element.kind.role](element, value, errors, warnings)
    return errors, warnings


Judge = Callable[[Element, float, list[Finding], list[Finding]], None]


def _judge_storage(element: Element, value: float, errors: list[Finding], warnings: list[Finding]) -> None:
    what = f"the {_quantity(element)} of {element.name} is {value:g}"
    if value == 0 and element.prefer is not None and element.kind.grounded:
        return  # a speed that shall be a state, or follow, though it has no inertia of its own
    if value < 0:
        fix = "give a positive value; turn the element round to change a sign"
        errors.append(rules.NEGATIVE_STORAGE.finding(what, where=element.name, fix=fix, place=element.place))
    else:
        fix = "remove it, or take the limit with reduce"
        errors.append(rules.EMPTY_STORAGE.finding(what, where=element.name, fix=fix, place=element.place))


def _judge_resistive(element: Element, value: float, errors: list[Finding], warnings: list[Finding]) -> None:
    if value < 0:
        what = f"{element.name} is an active element: its {_quantity(element)} is {value:g}"
        fix = "change the sign if it is meant to dissipate"
        warnings.append(rules.ACTIVE_ELEMENT.finding(what, where=element.name, fix=fix, place=element.place))


def _judge_coupling(element: Element, value: float, errors: list[Finding], warnings: list[Finding]) -> None:
    if value == 0:
        what = f"the {_quantity(element)} of {element.name} is 0: it passes no power"
        errors.append(rules.NO_PASSAGE.finding(what, where=element.name, fix="remove it", place=element.place))


def _judge_source(element: Element, value: float, errors: list[Finding], warnings: list[Finding]) -> None:
    """Sources and elements with modes have no value of their own."""


_JUDGES: dict[str, Judge] = {
    "storage": _judge_storage,
    "resistive": _judge_resistive,
    "coupling": _judge_coupling,
    "source": _judge_source,
    "switching": _judge_source,
}


def _quantity(element: Element) -> str:
    return element.kind.quantity.word if element.kind.quantity else "value"
