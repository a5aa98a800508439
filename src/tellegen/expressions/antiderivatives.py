"""Integrals of formulas over one name, from zero: sums of powers, functions of straight lines, products that a substitution or
parts undo, and cases.

A formula with cases is integrated between them: where its branches change at u = a x + b = 0, the integral is

    H(x) - H(0),   H = F(x) - F(-b/a) on the one side, G(x) - G(-b/a) on the other

which is continuous whatever the branches do, as an integral is.
"""

from collections.abc import Callable, Iterator

from tellegen.expressions.calculus import derivative, replaced
from tellegen.expressions.canonical import HALF, MINUS_ONE, ONE, ZERO, number, product, relation, symbol, total
from tellegen.expressions.functions import call
from tellegen.expressions.nodes import Add, Call, Expression, Mul, Number, Pow, Relation, postorder
from tellegen.expressions.polynomials import powers_of, sum_of_powers

MOST_STEPS = 400
"""Formulas that take more are left to quadrature: nobody could read their integrals."""
MOST_DEEP = 12

_CASES = ("abs", "sign", "max", "min", "if")


def _log_cosh(u: Expression) -> Expression:
    """Without the cosine itself, which leaves the range of numbers where this is a straight line."""
    steep = call("abs", u)
    return steep + call("log", (1 + call("exp", -2 * steep)) / 2)


_OF_LINE: dict[str, Callable[[Expression], Expression]] = {
    "sin": lambda u: -call("cos", u),
    "cos": lambda u: call("sin", u),
    "exp": lambda u: call("exp", u),
    "sinh": lambda u: call("cosh", u),
    "cosh": lambda u: call("sinh", u),
    "tanh": _log_cosh,
    "log": lambda u: u * call("log", u) - u,
    "atan": lambda u: u * call("atan", u) - HALF * call("log", 1 + u**2),
    "asin": lambda u: u * call("asin", u) + call("sqrt", 1 - u**2),
    "abs": lambda u: HALF * u * call("abs", u),
    "sign": lambda u: call("abs", u),
}
"""What has each function for its derivative."""


def integral_from_zero(expression: Expression, name: str) -> Expression | None:
    """The integral over a name from zero to it; None where no formula was found."""
    try:
        found = _Integration(name).of(expression)
        return None if found is None else found - found.substitute({name: ZERO})
    except (ArithmeticError, ValueError, RecursionError):  # no number at zero, or at a boundary of cases
        return None


def integrated_terms(expression: Expression, name: str) -> tuple[Expression, Expression]:
    """The integrals from zero of those terms of a sum that have one, and the other terms."""
    found = integral_from_zero(expression, name)
    if found is not None:
        return found, ZERO
    scale = _scale(expression, name)
    inner = expression / scale
    if not isinstance(inner, Add):
        return ZERO, expression
    parts = [integrated_terms(number(c) * term, name) for term, c in inner.terms]
    done = total([*(integral for integral, _ in parts), number(inner.constant) * symbol(name)])
    return scale * done, scale * total(rest for _, rest in parts)


class _Integration:
    def __init__(self, name: str) -> None:
        self.name = name
        self.x = symbol(name)
        self.steps = 0

    def of(self, e: Expression, deep: int = 0) -> Expression | None:
        """What has the expression for its derivative, continuous."""
        self.steps += 1
        if deep > MOST_DEEP or self.steps > MOST_STEPS:
            return None
        powers = powers_of(e, self.name)
        if powers is not None:
            # 1/x has a logarithm for its integral, which is no number at rest.
            if any(n <= -1 for n in powers):
                return None
            return sum_of_powers({n + 1: c / number(n + 1) for n, c in powers.items()}, self.name)
        if isinstance(e, Add):
            parts = [self.of(term, deep + 1) for term, _ in e.terms]
            known = [number(c) * part for part, (_, c) in zip(parts, e.terms, strict=True) if part is not None]
            return total([*known, number(e.constant) * self.x]) if len(known) == len(parts) else None
        scale = _scale(e, self.name)
        if scale is not ONE:
            found = self.of(e / scale, deep + 1)
            return None if found is None else scale * found
        for way in (self._of_line, self._by_substitution, self._by_cases, self._by_parts):
            if (found := way(e, deep)) is not None:
                return found
        return None

    def _line(self, u: Expression) -> tuple[Expression, Expression] | None:
        """a and b of a x + b."""
        powers = powers_of(u, self.name)
        if powers is None or not powers.keys() <= {0, 1} or powers.get(number(1).value, ZERO) is ZERO:
            return None
        return powers[number(1).value], powers.get(number(0).value, ZERO)

    def _of_line(self, e: Expression, deep: int) -> Expression | None:
        if not isinstance(e, Call) or e.name not in ("max", "min", *_OF_LINE):
            return None
        if e.name in _OF_LINE:
            line = self._line(e.arguments[0])
            return None if line is None else _OF_LINE[e.name](e.arguments[0]) / line[0]
        if len(e.arguments) != 2:
            return None
        one, other = sorted(e.arguments, key=lambda arg: self.name in arg.free_symbols, reverse=True)
        line, rest = self._line(one - other), self.of(other, deep + 1)
        if line is None or rest is None:
            return None
        return rest + HALF * call(e.name, one - other, ZERO) ** 2 / line[0]

    def _by_substitution(self, e: Expression, deep: int) -> Expression | None:
        """f(u) u' has the integral F(u), u^n u' has u^(n + 1)/(n + 1)."""
        for factor, power in _factors(e):
            if self.name not in factor.free_symbols:
                continue
            if isinstance(factor, Call) and power is ONE and factor.name in _OF_LINE:
                inner, F = factor.arguments[0], _OF_LINE[factor.name]
                if (share := self._share(e, factor, inner)) is not None:
                    return share * F(inner)
            if power is not ONE and (share := self._share(e, factor**power, factor)) is not None:
                raised = call("log", call("abs", factor)) if power is MINUS_ONE else factor ** (power + 1) / (power + 1)
                return share * raised
            if isinstance(factor, Call) and power is ONE and (share := self._share(e, factor, factor)) is not None:
                return share * HALF * factor**2
        return None

    def _share(self, e: Expression, part: Expression, inner: Expression) -> Expression | None:
        """e / (part inner'), where that does not change with the name."""
        slope = derivative(inner, self.name)
        if slope is ZERO or any(isinstance(n, Call) and n.name in _CASES for n in postorder(inner)):
            return None
        share = e / part / slope
        return None if self.name in share.free_symbols else share

    def _by_cases(self, e: Expression, deep: int) -> Expression | None:
        for node in postorder(e):
            if isinstance(node, Call) and node.name in _CASES and self.name in node.free_symbols:
                found = self._between(e, node, deep)
                if found is not None:
                    return found
        return None

    def _between(self, e: Expression, node: Call, deep: int) -> Expression | None:
        """The integral of an expression whose `node` changes its branch where a straight line is zero."""
        arguments = node.arguments
        if node.name in ("abs", "sign"):
            u, value = arguments[0], arguments[0] if node.name == "abs" else ONE
            yes, no = value, -value
        elif node.name == "if":
            if not isinstance(arguments[0], Relation) or arguments[0].operator in ("==", "!="):
                return None
            u = arguments[0].left - arguments[0].right
            yes, no = arguments[1:] if arguments[0].operator in (">", ">=") else reversed(arguments[1:])
        else:
            one, *others = arguments
            other = others[0] if len(others) == 1 else call(node.name, *others)
            u = one - other if node.name == "max" else other - one
            yes, no = one, other
        line = self._line(u)
        if line is None:
            return None
        F, G = (self.of(replaced(e, node, branch), deep + 1) for branch in (yes, no))
        if F is None or G is None:
            return None
        edge = {self.name: -line[1] / line[0]}
        return call("if", relation(">", u, ZERO), F - F.substitute(edge), G - G.substitute(edge))

    def _by_parts(self, e: Expression, deep: int) -> Expression | None:
        """P F minus the integral of P' F, for a polynomial P beside a function with the integral F."""
        rest = e
        polynomial: Expression = ONE
        for factor, power in _factors(e):
            powers = powers_of(factor**power, self.name) if self.name in factor.free_symbols else None
            if powers is not None and all(n >= 0 and n.denominator == 1 for n in powers):
                polynomial, rest = polynomial * factor**power, rest / factor**power
        if polynomial is ONE or rest is ONE:
            return None
        F = self.of(rest, deep + 1)
        left = None if F is None else self.of(derivative(polynomial, self.name) * F, deep + 1)
        return None if F is None or left is None else polynomial * F - left


def _scale(e: Expression, name: str) -> Expression:
    """The factors that do not change with the name."""
    constants = [base**power for base, power in _factors(e) if name not in base.free_symbols]
    return product([number(e.coefficient), *constants]) if isinstance(e, Mul) else ONE


def _factors(e: Expression) -> Iterator[tuple[Expression, Expression]]:
    if isinstance(e, Mul):
        for base, q in e.factors:
            yield base, number(q)
    elif isinstance(e, Pow) and isinstance(e.exponent, Number):
        yield e.base, e.exponent
    else:
        yield e, ONE
