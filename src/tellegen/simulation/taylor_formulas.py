"""The rates of a model as expressions of heyoka: smooth formulas, with the branches that hold between two known times."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tellegen.compiler.context import Context
from tellegen.compiler.numeric_model import NumericModel
from tellegen.compiler.statements import Formulas, Let, Newton, Read, Solve, Statement
from tellegen.core.optional import needed
from tellegen.expressions import Add, Call, Expression, Mul, Number, Pow, Relation, Symbol, postorder
from tellegen.simulation import rules

Array = NDArray[np.float64]
Given = Mapping[str, float]
"""The values of variables that stay constant during a run."""

SMOOTH: Final = ("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "log", "sqrt", "atan2")
"""Functions that heyoka has under the same name."""


def check_smooth(model: NumericModel) -> None:
    """Whether Taylor series can advance a model, and heyoka is there.

    Raises: SimulationError (S115) saying what the model has that cannot be expanded; ExportError (X001) without heyoka.
    """
    why = next((reason for holds, reason in _obstacles(model) if holds), None) or _bend(rates_of(model))
    why = why or ("the model has events" if model.events else "")
    if why:
        raise rules.UNSUITED.error(
            f"'heyoka' cannot be used: {why}", where=model.name, fix="leave the choice to 'auto'"
        )
    heyoka()


def heyoka() -> Any:
    """The package.

    Raises: ExportError (X001) with the command that installs it.
    """
    return needed("heyoka", purpose="the solver 'heyoka'", extra="heyoka")


def rates_of(model: NumericModel) -> Formulas:
    """The formulas of the rates of a model that has them."""
    assert model.data is not None, "a model without formulas was refused"
    assert model.data.rates is not None, "a model without formulas was refused"
    return model.data.rates


def _obstacles(model: NumericModel) -> Iterator[tuple[bool, str]]:
    yield model.size == 0, "the model has no states"
    yield bool(model.delays), "the model has delayed signals"
    yield bool(model.sample_groups), "the model has sampled signals"
    yield model.data is None or model.data.rates is None, "the model is large or written in C, and has no formulas"


def _bend(rates: Formulas) -> str:
    """What in the formulas has no Taylor series, in words; empty where nothing is."""
    fixed = {f"%{k}" for k, (word, _) in rates.leaves.items() if word in ("p", "u")}
    time = _time(rates)
    for statement in rates.statements:
        if isinstance(statement, Let) and statement.value.free_symbols <= fixed:
            fixed.add(f"%{statement.target}")
        elif why := _cannot_be_expanded(statement, fixed):
            return why
    for value in _values(rates):
        for node in postorder(value):
            if isinstance(node, Relation) and not (node.free_symbols <= fixed or _switches(node, time, fixed)):
                return "a condition compares more than time with a constant"
            if isinstance(node, Call) and node.name not in (*SMOOTH, "hypot", "if") and not node.free_symbols <= fixed:
                return f"'{node.name}' has no Taylor series everywhere"
    return ""


def _cannot_be_expanded(statement: Statement, fixed: set[str]) -> str:
    match statement:
        case Read():
            return "its rates read a table or a function"
        case Newton():
            return "its rates hold equations that are solved by iteration"
        case Solve() if not all(entry.free_symbols <= fixed for row in statement.matrix for entry in row):
            return "its rates are coupled by coefficients that change"
        case _:
            return ""


def _values(rates: Formulas) -> Iterator[Expression]:
    for statement in rates.statements:
        match statement:
            case Let():
                yield statement.value
            case Solve():
                yield from statement.right
    yield from rates.results


def _time(rates: Formulas) -> str:
    return next(f"%{k}" for k, (word, _) in rates.leaves.items() if word == "t")


def _switches(node: Relation, time: str, fixed: set[str]) -> bool:
    """Whether a comparison is one of time itself with a constant."""
    sides = (node.left, node.right)
    return any(isinstance(a, Symbol) and a.name == time and b.free_symbols <= fixed for a, b in (sides, sides[::-1]))


def constants(rates: Formulas, context: Context) -> dict[str, float]:
    """The values of parameters, inputs, and all that follows from them alone."""
    arrays = {"p": context.parameters, "u": context.inputs}
    known = {f"%{k}": float(arrays[word][i]) for k, (word, i) in rates.leaves.items() if word in arrays}
    for statement in rates.statements:
        if isinstance(statement, Let) and statement.value.free_symbols <= known.keys():
            known[f"%{statement.target}"] = _number(statement.value, known)
    return known


def switching_times(rates: Formulas, known: Given) -> set[float]:
    """The times at which conditions of the formulas change."""
    time = _time(rates)
    found = set()
    for value in _values(rates):
        for node in postorder(value):
            if isinstance(node, Relation) and time in node.free_symbols:
                other = node.right if isinstance(node.left, Symbol) and node.left.name == time else node.left
                found.add(_number(other, known))
    return found


def taylor_system(rates: Formulas, known: Given, inside: float) -> list[tuple[Any, Any]]:
    """Variables and rates for heyoka, with the branches that hold at a time inside a stretch without switching."""
    package = heyoka()
    states = {i: k for k, (word, i) in rates.leaves.items() if word == "y"}
    variables = [package.expression(f"y_{i}") for i in range(len(states))]
    values: dict[str, Any] = {f"%{states[i]}": variable for i, variable in enumerate(variables)}
    values[_time(rates)] = package.time

    def converted(expression: Expression) -> Any:
        return _converted(expression, values, {**known, _time(rates): inside}, known)

    for statement in rates.statements:
        match statement:
            case Let():
                values[f"%{statement.target}"] = converted(statement.value)
            case Solve():
                found = _solved(statement, known, [converted(e) for e in statement.right])
                values.update(zip((f"%{k}" for k in statement.targets), found, strict=True))
    return list(zip(variables, map(converted, rates.results), strict=True))


def _solved(statement: Solve, known: Given, right: list[Any]) -> list[Any]:
    """The solution of equations with constant coefficients, as sums of their right-hand sides."""
    matrix = np.array([[_number(entry, known) for entry in row] for row in statement.matrix])
    inverse = np.linalg.inv(matrix).tolist()
    return [heyoka().sum([weight * e for weight, e in zip(row, right, strict=True)]) for row in inverse]


def _converted(root: Expression, values: Mapping[str, Any], at: Given, known: Given) -> Any:
    """An expression of heyoka; what is constant becomes a number."""
    package = heyoka()
    made: dict[Expression, Any] = {}
    stack = [root]
    while stack:
        node = stack[-1]
        if node in made:
            stack.pop()
            continue
        if node.free_symbols <= known.keys():
            made[node] = package.expression(_number(node, known))
            continue
        inner = _taken(node, at)
        missing = [arg for arg in inner if arg not in made]
        if missing:
            stack.extend(missing)
            continue
        made[node] = _joined(package, node, [made[arg] for arg in inner], values)
    return made[root]


def _taken(node: Expression, at: Given) -> tuple[Expression, ...]:
    """What a node is made of: of a choice, the branch that holds."""
    if isinstance(node, Call) and node.name == "if":
        condition, yes, no = node.arguments
        return (yes if _number(condition, at) else no,)
    match node:
        case Add():
            return tuple(term for term, _ in node.terms)
        case Mul():
            return tuple(factor for factor, _ in node.factors)
        case _:
            return node.args


def _joined(package: Any, node: Expression, inner: list[Any], values: Mapping[str, Any]) -> Any:
    match node:
        case Symbol():
            return values[node.name]
        case Add():
            terms = [float(weight) * e for e, (_, weight) in zip(inner, node.terms, strict=True)]
            return package.sum([*terms, package.expression(float(node.constant))])
        case Mul():
            powers = [_power(e, float(exponent)) for e, (_, exponent) in zip(inner, node.factors, strict=True)]
            return package.prod([package.expression(float(node.coefficient)), *powers])
        case Pow():
            base, exponent = inner
            if isinstance(node.exponent, Number):
                return _power(base, float(node.exponent.rational))
            return package.exp(exponent * package.log(base))
        case Call(name="if"):
            return inner[0]
        case Call(name="hypot"):
            return package.sqrt(inner[0] * inner[0] + inner[1] * inner[1])
        case Call():
            function: Callable[..., Any] = getattr(package, node.name)
            return function(*inner)
        case _:
            raise AssertionError(f"{node!r} is a number, or was refused")


def _power(base: Any, exponent: float) -> Any:
    return base if exponent == 1.0 else base**exponent


def _number(expression: Expression, known: Given) -> float:
    """The value of a constant; where it has none the run ends there, as with every solver."""
    try:
        return float(expression.evaluate(known))
    except (ArithmeticError, ValueError):
        return float("nan")
