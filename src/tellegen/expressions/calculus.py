"""Substitution and derivatives: one pass over an expression, each shared part once; and copies through `pickle`."""

from collections.abc import Callable, Mapping
from typing import Final

from tellegen.expressions import canonical, integrals, nodes
from tellegen.expressions.functions import FUNCTIONS, call
from tellegen.expressions.nodes import Expression, Rational, Scalar, postorder


def rebuild(node: Expression, args: tuple[Expression, ...]) -> Expression:
    """The same kind of expression around other arguments, in canonical form."""
    if isinstance(node, nodes.Add):
        scaled = [canonical.number(c) * arg for (_, c), arg in zip(node.terms, args, strict=True)]
        return canonical.total([canonical.number(node.constant), *scaled])
    if isinstance(node, nodes.Mul):
        powers = [canonical.power(arg, canonical.number(q)) for (_, q), arg in zip(node.factors, args, strict=True)]
        return canonical.product([canonical.number(node.coefficient), *powers])
    if isinstance(node, nodes.Pow):
        return canonical.power(*args)
    if isinstance(node, nodes.Call):
        return call(node.name, *args)
    if isinstance(node, nodes.DefiniteIntegral):
        return nodes.intern_integral(node.pattern, node.letter, args) if args[0] is not canonical.ZERO else args[0]
    if isinstance(node, nodes.Relation):
        return canonical.relation(node.operator, *args)
    if isinstance(node, nodes.Logic):
        return canonical.logic(node.operator, *args) if args else node
    return node


def replaced(expression: Expression, old: Expression, new: Expression) -> Expression:
    """The expression with one part of it replaced wherever it stands."""
    made: dict[Expression, Expression] = {}
    for node in postorder(expression):
        if node is old:
            made[node] = new
        else:
            made[node] = rebuild(node, tuple(made[arg] for arg in node.args)) if node.args else node
    return made[expression]


def substitute(expression: Expression, mapping: Mapping[str, Expression | Scalar]) -> Expression:
    """The expression with all names of the mapping replaced at once."""
    return substitute_all((expression,), mapping)[0]


def substitute_all(
    expressions: tuple[Expression, ...], mapping: Mapping[str, Expression | Scalar]
) -> tuple[Expression, ...]:
    """Several expressions at once, so that what they share is replaced once.

    Of an `if` whose condition is then decided only the branch that counts is made: the other one may have no value.
    """
    new: dict[Expression, Expression] = {}
    stack = list(expressions)
    while stack:
        node = stack[-1]
        # A stack of our own: formulas of a ladder are nested deeper than Python's recursion goes.
        waiting = [] if node in new else [arg for arg in _needed(node, new) if arg not in new]
        if waiting:
            stack.extend(waiting)
            continue
        stack.pop()
        if node not in new:
            new[node] = _substituted(node, new, mapping)
    return tuple([new[expression] for expression in expressions])


def _needed(node: Expression, new: Mapping[Expression, Expression]) -> tuple[Expression, ...]:
    """What must be replaced before the node is; of an `if`, its condition first."""
    if not (isinstance(node, nodes.Call) and node.name == "if"):
        return node.args
    condition, yes, no = node.args
    # The branch that does not count may divide by zero at the values put in, so the condition is decided before it is made.
    if condition not in new:
        return (condition,)
    decided = new[condition]
    if decided is canonical.TRUE:
        return (yes,)
    return (no,) if decided is canonical.FALSE else (yes, no)


def _substituted(
    node: Expression, new: Mapping[Expression, Expression], mapping: Mapping[str, Expression | Scalar]
) -> Expression:
    if isinstance(node, nodes.Symbol):
        return canonical.as_expression(mapping[node.name]) if node.name in mapping else node
    needed = _needed(node, new)
    if len(needed) == 1 and isinstance(node, nodes.Call) and node.name == "if":
        return new[needed[0]]
    old = node.args
    args = tuple([new[arg] for arg in old])
    # Unchanged parts stay the same objects, with the residues they know.
    return node if args == old else rebuild(node, args)


def _restore_add(constant: Rational, terms: tuple[tuple[Expression, Rational], ...]) -> Expression:
    return nodes.intern_add(constant, dict(terms))


def _restore_mul(coefficient: Rational, factors: tuple[tuple[Expression, Rational], ...]) -> Expression:
    return nodes.intern_mul(coefficient, dict(factors))


def _recipe(node: Expression) -> tuple[Callable[..., Expression], tuple[object, ...]]:
    """The constructor and arguments by which `pickle` makes the node again."""
    if isinstance(node, nodes.Number):
        return canonical.number, (node.rational,)
    if isinstance(node, nodes.Symbol):
        return nodes.intern_symbol, (node.name,)
    if isinstance(node, nodes.Constant):
        return nodes.intern_constant, (node.name, node.value)
    if isinstance(node, nodes.Add):
        return _restore_add, (node.constant, node.terms)
    if isinstance(node, nodes.Mul):
        return _restore_mul, (node.coefficient, node.factors)
    if isinstance(node, nodes.Pow):
        return nodes.intern_pow, (node.base, node.exponent)
    if isinstance(node, nodes.Call):
        return nodes.intern_call, (node.name, node.arguments)
    if isinstance(node, nodes.DefiniteIntegral):
        return nodes.intern_integral, (node.pattern, node.letter, node.arguments)
    if isinstance(node, nodes.Relation):
        return nodes.intern_relation, (node.operator, node.left, node.right)
    assert isinstance(node, nodes.Logic), "every kind of expression has its recipe"
    return nodes.intern_logic, (node.operator, node.arguments)


# Set here, not in the class: the methods of a node are told in modules that import its class.
nodes.ENGINE.substitute = substitute
nodes.ENGINE.rebuild = _recipe


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
    if isinstance(node, nodes.Symbol):
        return canonical.ONE if node.name == name else canonical.ZERO
    # Most parts of a formula do not read the name; they are passed over without building anything.
    if all(slopes[arg] is canonical.ZERO for arg in node.args):
        return canonical.ZERO
    if isinstance(node, nodes.Add):
        return canonical.total([canonical.number(c) * slopes[term] for term, c in node.terms])
    if isinstance(node, nodes.Mul):
        return _slope_of_product(node, slopes)
    if isinstance(node, nodes.Pow):
        return _slope_of_power(node, slopes)
    if isinstance(node, nodes.DefiniteIntegral):
        return integrals.slope(node, slopes)
    return _slope_of_call(node, slopes) if isinstance(node, nodes.Call) else canonical.ZERO


def _slope_of_product(node: nodes.Mul, slopes: Slopes) -> Expression:
    terms = []
    for i, (base, q) in enumerate(node.factors):
        if slopes[base] is not canonical.ZERO:
            others = [canonical.power(b, canonical.number(e)) for k, (b, e) in enumerate(node.factors) if k != i]
            # q x^(q-1) is infinite at zero for a root; where the base rests there (max(x, 0)) its slope is zero, and
            # the product is no number.
            own = _kept_finite(
                base, q, canonical.product([canonical.power(base, canonical.number(q - 1)), slopes[base]])
            )
            terms.append(canonical.product([canonical.number(node.coefficient * q), own, *others]))
    return canonical.total(terms)


def _slope_of_power(node: nodes.Pow, slopes: Slopes) -> Expression:
    base, exponent = node.base, node.exponent
    if isinstance(exponent, nodes.Number):
        own = canonical.product([canonical.power(base, exponent - 1), slopes[base]])
        return canonical.product([exponent, _kept_finite(base, exponent.rational, own)])
    # Without this case x^n with a symbolic n would have the logarithm of x in its slope, which a negative x does not have.
    by_exponent = (
        canonical.ZERO
        if slopes[exponent] is canonical.ZERO
        else canonical.product([node, call("log", base), slopes[exponent]])
    )
    return by_exponent + canonical.product([exponent, canonical.power(base, exponent - 1), slopes[base]])


def _kept_finite(base: Expression, q: Rational, slope: Expression) -> Expression:
    """The slope of base^q where the base may stay at zero, as that of sqrt(max(x, 0)) does: zero there, not zero times infinity."""
    factors = base.args if isinstance(base, nodes.Mul) else (base,)
    if 0 < q < 1 and any(isinstance(factor, nodes.Call) and factor.name in CLIPPING for factor in factors):
        return call("if", canonical.relation("==", base, canonical.ZERO), canonical.ZERO, slope)
    return slope


def _slope_of_call(node: nodes.Call, slopes: Slopes) -> Expression:
    args = node.arguments
    if node.name == "if":
        return call("if", args[0], slopes[args[1]], slopes[args[2]])
    # One `if` for both slopes: compiled, the comparison is made once, and symbols print as a person writes them.
    if node.name in ("min", "max") and len(args) == 2:
        first = FUNCTIONS[node.name].partials(args)[0]
        assert isinstance(first, nodes.Call), "the share of an argument is decided by a condition"
        return call("if", first.arguments[0], slopes[args[0]], slopes[args[1]])
    gains = FUNCTIONS[node.name].partials(args)
    return canonical.total(
        [gain * slopes[arg] for gain, arg in zip(gains, args, strict=True) if slopes[arg] is not canonical.ZERO]
    )


nodes.ENGINE.derivative = derivative
