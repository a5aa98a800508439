"""The functions that a formula may call: how each is evaluated, differentiated, folded and printed."""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import Any, Literal, NamedTuple

from tellegen.expressions import canonical, nodes
from tellegen.expressions.integrals import quadrature

Arguments = tuple[nodes.Expression, ...]


class Function(NamedTuple):
    """One row of the table. `most` is None where any number of arguments is meant.

    `partials` gives the derivative by each argument, `fold` an exact or simpler result or None.
    `c` and `latex` are the names under which it prints; an empty one means that the printer has its own form.
    `symmetric` functions do not depend on the order of their arguments.
    """

    name: str
    least: int
    most: int | None
    evaluate: Callable[..., float]
    partials: Callable[[Arguments], Sequence[nodes.Expression]]
    fold: Callable[[Arguments], nodes.Expression | None]
    c: str
    latex: str
    symmetric: bool = False

    def takes(self, count: int) -> bool:
        """Whether the function can have that many arguments."""
        return count >= self.least and (self.most is None or count <= self.most)

    @property
    def arity(self) -> str:
        """How many arguments it has, in words."""
        if self.most is None:
            return f"{self.least} or more arguments"
        return f"{self.least} argument{'s' if self.least > 1 else ''}"


def _number_of(x: nodes.Expression) -> nodes.Rational | None:
    return x.rational if isinstance(x, nodes.Number) else None


def _at(point: int, result: nodes.Expression) -> Callable[[Arguments], nodes.Expression | None]:
    """The rule that a function of one argument has an exact value at one point."""
    # Other exact values, such as sin(pi/6), are left as they are: formulas of a file seldom have them.
    return lambda args: result if _number_of(args[0]) == point else None


def quarter_turns(angle: nodes.Expression) -> int | None:
    """How many right angles an angle without names is, where it is a whole number of them but for its last digit; else None."""
    c, base = canonical.split_coefficient(angle)
    if base is canonical.PI:
        return int(2 * c) if 2 * c == int(2 * c) else None
    if base is not canonical.ONE:
        return None
    # `90 deg` and 1.5707963267948966 are the right angle as well as a number can hold it.
    value = float(c)
    turns = round(value / (math.pi / 2))
    return turns if abs(value - turns * (math.pi / 2)) <= 2 * math.ulp(value) else None


def _wave(values: Sequence[nodes.Expression]) -> Callable[[Arguments], nodes.Expression | None]:
    """The rule that a sine or a cosine is exact at whole numbers of right angles, where floats would leave 6e-17."""

    def fold(args: Arguments) -> nodes.Expression | None:
        turns = quarter_turns(args[0])
        return None if turns is None else values[turns % 4]

    return fold


def _fold_tan(args: Arguments) -> nodes.Expression | None:
    turns = quarter_turns(args[0])
    return canonical.ZERO if turns is not None and turns % 2 == 0 else None


def _rational_fold(rule: Callable[[nodes.Rational], nodes.Rational]) -> Callable[[Arguments], nodes.Expression | None]:
    """The rule that a function of one argument is exact at every rational number."""

    def fold(args: Arguments) -> nodes.Expression | None:
        q = _number_of(args[0])
        return None if q is None else canonical.number(rule(q))

    return fold


def _sign_of(x: float | Fraction) -> int:
    return (x > 0) - (x < 0)


def _fold_sign(args: Arguments) -> nodes.Expression | None:
    inner = args[0]
    if isinstance(inner, nodes.Call) and inner.name == "sign":
        return inner
    return _rational_fold(_sign_of)(args)


def _fold_abs(args: Arguments) -> nodes.Expression | None:
    inner = args[0]
    if isinstance(inner, nodes.Call) and inner.name == "abs":
        return inner
    return _rational_fold(nodes.magnitude)(args)


def _same_call(name: str, arg: nodes.Expression) -> Arguments:
    return arg.arguments if isinstance(arg, nodes.Call) and arg.name == name else (arg,)


def _fold_atan2(args: Arguments) -> nodes.Expression | None:
    y, x = args
    return canonical.ZERO if y is canonical.ZERO and isinstance(x, nodes.Number) and x.rational > 0 else None


def _fold_hypot(args: Arguments) -> nodes.Expression | None:
    a, b = args
    if isinstance(a, nodes.Number) and isinstance(b, nodes.Number):
        return canonical.sqrt(canonical.number(a.rational**2 + b.rational**2))
    # Symmetric, so one order is chosen.
    return nodes.intern_call("hypot", (b, a)) if b._digest < a._digest else None


def _fold_if(args: Arguments) -> nodes.Expression | None:
    condition, yes, no = args
    if condition is canonical.TRUE or yes is no:
        return yes
    return no if condition is canonical.FALSE else None


def _if_partials(args: Arguments) -> Sequence[nodes.Expression]:
    return (
        canonical.ZERO,
        call("if", args[0], canonical.ONE, canonical.ZERO),
        call("if", args[0], canonical.ZERO, canonical.ONE),
    )


def _inverse_root(x: nodes.Expression) -> nodes.Expression:
    """1/sqrt(x)."""
    return canonical.power(x, -canonical.HALF)


def _atan2_partials(args: Arguments) -> Sequence[nodes.Expression]:
    y, x = args
    scale = 1 / (x**2 + y**2)
    return (x * scale, -y * scale)


def _choose(condition: float, yes: float, no: float) -> float:
    return yes if condition else no


def _row(
    name: str,
    evaluate: Callable[..., float],
    slope: Callable[[nodes.Expression], nodes.Expression],
    fold: Callable[[Arguments], nodes.Expression | None],
    *,
    c: str = "",
    latex: str = "",
) -> Function:
    def partials(args: Arguments) -> Sequence[nodes.Expression]:
        return (slope(args[0]),)

    return Function(
        name=name, least=1, most=1, evaluate=evaluate, partials=partials, fold=fold, c=c or name, latex=latex
    )


def _extreme(name: str, pick: Callable[..., Any], beats: Literal["<", ">"]) -> Function:
    """`min` or `max`. Among equal arguments the first one counts, so that the slopes add up to those of one argument."""
    holds: nodes.Operator = "<=" if beats == "<" else ">="

    def partials(args: Arguments) -> Sequence[nodes.Expression]:
        gains = []
        for i, arg in enumerate(args):
            # Strict against those before it, not strict against those behind: of equal arguments exactly one has the slope 1.
            before = [canonical.relation(beats, arg, other) for other in args[:i]]
            after = [canonical.relation(holds, arg, other) for other in args[i + 1 :]]
            gains.append(call("if", canonical.logic("and", *before, *after), canonical.ONE, canonical.ZERO))
        return gains

    def fold(args: Arguments) -> nodes.Expression | None:
        """Nested ones flattened, numbers folded, the same argument kept once, in a fixed order."""
        flat = [inner for arg in args for inner in _same_call(name, arg)]
        numbers = [x.rational for x in flat if isinstance(x, nodes.Number)]
        # In an order of its own, so that min(a, b) and min(b, a) are one object.
        rest = sorted({x for x in flat if not isinstance(x, nodes.Number)}, key=lambda x: x._digest)
        if numbers:
            rest.append(canonical.number(pick(numbers)))
        return rest[0] if len(rest) == 1 else nodes.intern_call(name, tuple(rest))

    return Function(
        name=name,
        least=2,
        most=None,
        evaluate=pick,
        partials=partials,
        fold=fold,
        c=f"f{name}",
        latex=rf"\{name}",
        symmetric=True,
    )


_SINES = (canonical.ZERO, canonical.ONE, canonical.ZERO, canonical.MINUS_ONE)
"""After none, one, two and three right angles."""

_ROWS = (
    _row("sin", math.sin, lambda x: call("cos", x), _wave(_SINES), latex=r"\sin"),
    _row("cos", math.cos, lambda x: -call("sin", x), _wave(_SINES[1:] + _SINES[:1]), latex=r"\cos"),
    _row("tan", math.tan, lambda x: 1 + call("tan", x) ** 2, _fold_tan, latex=r"\tan"),
    _row("asin", math.asin, lambda x: _inverse_root(1 - x**2), _at(0, canonical.ZERO), latex=r"\arcsin"),
    _row("acos", math.acos, lambda x: -_inverse_root(1 - x**2), _at(1, canonical.ZERO), latex=r"\arccos"),
    _row("atan", math.atan, lambda x: 1 / (1 + x**2), _at(0, canonical.ZERO), latex=r"\arctan"),
    _row("sinh", math.sinh, lambda x: call("cosh", x), _at(0, canonical.ZERO), latex=r"\sinh"),
    _row("cosh", math.cosh, lambda x: call("sinh", x), _at(0, canonical.ONE), latex=r"\cosh"),
    _row("tanh", math.tanh, lambda x: 1 - call("tanh", x) ** 2, _at(0, canonical.ZERO), latex=r"\tanh"),
    _row("exp", math.exp, lambda x: call("exp", x), _at(0, canonical.ONE), latex=r"\exp"),
    _row("log", math.log, lambda x: 1 / x, _at(1, canonical.ZERO), latex=r"\ln"),
    _row("sqrt", math.sqrt, lambda x: canonical.HALF * _inverse_root(x), lambda args: canonical.sqrt(args[0])),
    _row("abs", abs, lambda x: call("sign", x), _fold_abs, c="fabs"),
    _row(
        "sign",
        lambda x: float(_sign_of(x)),
        lambda x: canonical.ZERO,
        _fold_sign,
        c="tellegen_sign",
        latex=r"\operatorname{sign}",
    ),
    _row("floor", lambda x: float(math.floor(x)), lambda x: canonical.ZERO, _rational_fold(math.floor)),
    _row("ceil", lambda x: float(math.ceil(x)), lambda x: canonical.ZERO, _rational_fold(math.ceil)),
    Function(
        name="atan2",
        least=2,
        most=2,
        evaluate=math.atan2,
        partials=_atan2_partials,
        fold=_fold_atan2,
        c="atan2",
        latex=r"\operatorname{atan2}",
    ),
    Function(
        name="hypot",
        least=2,
        most=2,
        evaluate=math.hypot,
        partials=lambda args: tuple(arg / nodes.intern_call("hypot", args) for arg in args),
        fold=_fold_hypot,
        c="hypot",
        latex=r"\operatorname{hypot}",
        symmetric=True,
    ),
    _extreme("min", min, "<"),
    _extreme("max", max, ">"),
    Function(name="if", least=3, most=3, evaluate=_choose, partials=_if_partials, fold=_fold_if, c="", latex=""),
)

FUNCTIONS: dict[str, Function] = {row.name: row for row in _ROWS}
"""Every function that a formula may call, by name."""

ALIASES = {"ln": "log"}

PYTHON_NAMESPACE: dict[str, object] = {
    **{row.name: row.evaluate for row in _ROWS if row.name != "if"},
    "pi": math.pi,
    "integral": quadrature,
    "__builtins__": {},
}
"""What the text of `to_python` needs in order to be evaluated."""


def call(name: str, *args: nodes.Expression | nodes.Scalar) -> nodes.Expression:
    """A function of the table with its arguments, folded where the result is exact.

    Raises: KeyError for an unknown name, TypeError for a wrong number or kind of arguments.
    """
    row = FUNCTIONS[ALIASES.get(name, name)]
    if not row.takes(len(args)):
        raise TypeError(f"{name} takes {row.arity}, not {len(args)}")
    arguments = tuple([canonical.as_expression(arg) for arg in args])
    for position, arg in enumerate(arguments):
        # A condition where a number belongs would be counted as 0 or 1 by some printers and refused by others.
        if isinstance(arg, nodes.Condition) != (row.name == "if" and position == 0):
            raise TypeError(
                f"argument {position + 1} of {name} must {'not ' * isinstance(arg, nodes.Condition)}be a condition: {arg!r}"
            )
    folded = row.fold(arguments)
    return nodes.intern_call(row.name, arguments) if folded is None else folded


nodes.ENGINE.absolute = partial(call, "abs")
