"""Derivatives: one pass over the expression, each shared part differentiated once."""

from typing import Final

from tellegen.expressions.canonical import ONE, ZERO, number, power, product, total
from tellegen.expressions.conditions import relation
from tellegen.expressions.functions import FUNCTIONS, call
from tellegen.expressions.nodes import ENGINE, Add, Call, Expression, Mul, Number, Pow, Rational, Symbol, postorder

Slopes = dict[Expression, Expression]

CLIPPING: Final = ("abs", "if", "max", "min")
"""Functions that are zero over a stretch of their arguments, or turn back there."""


def derivative(expression: Expression, name: str) -> Expression:
    """The partial derivative of an expression by a name."""
    slopes: Slopes = {}
    for node in postorder(expression):
        slopes[node] = _slope(node, name, slopes)
    return slopes[expression]


def _slope(node: Expression, name: str, slopes: Slopes) -> Expression:
    if isinstance(node, Symbol):
        return ONE if node.name == name else ZERO
    if all(slopes[arg] is ZERO for arg in node.args):
        return ZERO
    if isinstance(node, Add):
        return total([number(c) * slopes[term] for term, c in node.terms])
    if isinstance(node, Mul):
        return _slope_of_product(node, slopes)
    if isinstance(node, Pow):
        return _slope_of_power(node, slopes)
    return _slope_of_call(node, slopes) if isinstance(node, Call) else ZERO


def _slope_of_product(node: Mul, slopes: Slopes) -> Expression:
    terms = []
    for i, (base, q) in enumerate(node.factors):
        if slopes[base] is not ZERO:
            others = [power(b, number(e)) for k, (b, e) in enumerate(node.factors) if k != i]
            own = _kept_finite(base, q, product([power(base, number(q - 1)), slopes[base]]))
            terms.append(product([number(node.coefficient * q), own, *others]))
    return total(terms)


def _slope_of_power(node: Pow, slopes: Slopes) -> Expression:
    base, exponent = node.base, node.exponent
    if isinstance(exponent, Number):
        own = product([power(base, exponent - 1), slopes[base]])
        return product([exponent, _kept_finite(base, exponent.rational, own)])
    by_exponent = ZERO if slopes[exponent] is ZERO else product([node, call("log", base), slopes[exponent]])
    return by_exponent + product([exponent, power(base, exponent - 1), slopes[base]])


def _kept_finite(base: Expression, q: Rational, slope: Expression) -> Expression:
    """The slope of base^q where the base may stay at zero, as that of sqrt(max(x, 0)) does: zero there, not zero times infinity."""
    factors = base.args if isinstance(base, Mul) else (base,)
    if 0 < q < 1 and any(isinstance(factor, Call) and factor.name in CLIPPING for factor in factors):
        return call("if", relation("==", base, ZERO), ZERO, slope)
    return slope


def _slope_of_call(node: Call, slopes: Slopes) -> Expression:
    args = node.arguments
    if node.name == "if":
        return call("if", args[0], slopes[args[1]], slopes[args[2]])
    if node.name in ("min", "max") and len(args) == 2:
        first = FUNCTIONS[node.name].partials(args)[0]
        assert isinstance(first, Call), "the share of an argument is decided by a condition"
        return call("if", first.arguments[0], slopes[args[0]], slopes[args[1]])
    gains = FUNCTIONS[node.name].partials(args)
    return total([gain * slopes[arg] for gain, arg in zip(gains, args, strict=True) if slopes[arg] is not ZERO])


ENGINE.derivative = derivative
