"""The value of an expression: in floating point, exactly, and modulo a 61-bit prime at two fixed points, which is the zero test.

A rational expression that is not identically zero vanishes at a random point with a probability of about degree / 2^61
(Schwartz, Zippel), so two points decide. Functions, roots and pi are treated as independent unknowns: equal arguments
give equal residues, but an identity such as exp(x) exp(-x) = 1 is not seen. Sines and cosines are points of a circle modulo the
prime, and sums of angles turn them, so identities between them are. So the test calls nothing zero that is not (but for
that probability), and may miss a zero that only another identity shows.
"""

import hashlib
import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from tellegen.expressions import nodes
from tellegen.expressions.canonical import COMPARE, ZERO, split_coefficient, whole_content
from tellegen.expressions.functions import FUNCTIONS
from tellegen.expressions.integrals import value_of_integral
from tellegen.expressions.rules import DivisionByZeroError, NoRealValueError, TooLargeError


def evaluate(expression: nodes.Expression, values: Mapping[str, float]) -> float:
    """The value in floating point.

    Raises: NoValueError (D010), which is an ArithmeticError; KeyError for a name without a value.
    """
    try:
        return _evaluated(expression, values)
    except ZeroDivisionError:
        raise DivisionByZeroError("division by zero") from None
    except OverflowError:
        raise TooLargeError("too large for a number") from None


def _evaluated(expression: nodes.Expression, values: Mapping[str, float]) -> float:
    if isinstance(expression, nodes.Number):
        return float(expression.rational)
    known: dict[nodes.Expression, float] = {}
    stack = [expression]
    while stack:
        node = stack[-1]
        waiting = [] if node in known else [arg for arg in _needed(node, known) if arg not in known]
        if waiting:
            stack.extend(waiting)
            continue
        stack.pop()
        if node not in known:
            known[node] = _value(node, known, values)
    return known[expression]


def _needed(node: nodes.Expression, known: Mapping[nodes.Expression, float]) -> tuple[nodes.Expression, ...]:
    """What must be known before the node is; of an `if`, only the branch that its condition picks."""
    # Only the branch that counts is evaluated: the root in the other one may have no value there.
    args = node.args
    if isinstance(node, nodes.Call) and node.name == "if":
        condition = args[0]
        if condition not in known:
            return (condition,)
        return (args[1] if known[condition] else args[2],)
    # As in Python and C, what follows a decision is not asked: `x > 0 and log(x) > 1` never takes the logarithm of zero.
    return args[: _deciding(node, known)] if isinstance(node, nodes.Logic) else args


def _deciding(node: nodes.Logic, known: Mapping[nodes.Expression, float]) -> int:
    """How many conditions, from the first on, decide `and` or `or`, as far as is known."""
    stop = 0.0 if node.operator == "and" else 1.0
    for count, arg in enumerate(node.arguments, 1):
        if known.get(arg, stop) == stop:
            return count
    return len(node.arguments)


def _value(node: nodes.Expression, known: Mapping[nodes.Expression, float], values: Mapping[str, float]) -> float:
    if isinstance(node, nodes.Symbol):
        return float(values[node.name])
    if isinstance(node, nodes.Number):
        return float(node.rational)
    if isinstance(node, nodes.Add):
        return _sum(node, known)
    if isinstance(node, nodes.Mul):
        return _product(node, known)
    if isinstance(node, nodes.Pow):
        return _power(known[node.base], _exponent(node, known))
    if isinstance(node, nodes.Call):
        return _call(node, known)
    if isinstance(node, nodes.Constant):
        return node.value
    if isinstance(node, nodes.DefiniteIntegral):
        return value_of_integral(node, [known[arg] for arg in node.arguments])
    return _condition(node, known)


def _exponent(node: nodes.Pow, known: Mapping[nodes.Expression, float]) -> float:
    exponent = node.exponent
    # A whole exponent stays whole: (-2.0)**3 is real, (-2.0)**3.0 too, but (-8.0)**(1/3) is complex in Python.
    return (
        exponent.rational if isinstance(exponent, nodes.Number) and type(exponent.rational) is int else known[exponent]
    )


def _power(base: float, exponent: float) -> float:
    result: float | complex = base**exponent
    # Python gives the complex root of a negative number without a word.
    if isinstance(result, complex):
        raise NoRealValueError(f"{base:g} has no real power {exponent:g}")
    return result


def _sum(node: nodes.Add, known: Mapping[nodes.Expression, float]) -> float:
    result = float(node.constant)
    for term, c in node.terms:
        result += known[term] if c == 1 else float(c) * known[term]
    return result


def _product(node: nodes.Mul, known: Mapping[nodes.Expression, float]) -> float:
    result = float(node.coefficient)
    for base, q in node.factors:
        result *= known[base] if q == 1 else _power(known[base], q if type(q) is int else float(q))
    return result


def _call(node: nodes.Call, known: Mapping[nodes.Expression, float]) -> float:
    if node.name == "if":
        condition, yes, no = node.arguments
        return known[yes] if known[condition] else known[no]
    try:
        return FUNCTIONS[node.name].evaluate(*[known[arg] for arg in node.arguments])
    except ValueError as reason:  # from `math`, which knows no finer kind
        raise NoRealValueError(str(reason)) from None


def _condition(node: nodes.Expression, known: Mapping[nodes.Expression, float]) -> float:
    if isinstance(node, nodes.Relation):
        return float(COMPARE[node.operator](known[node.left], known[node.right]))
    assert isinstance(node, nodes.Logic), "what is left are joined conditions"
    if node.operator == "not":
        return float(not known[node.arguments[0]])
    held = (known[arg] for arg in node.arguments)  # one after the other, as far as they count
    return float(any(held) if node.operator in ("or", "false") else all(held))


def evaluate_exact(expression: nodes.Expression, values: Mapping[str, Fraction | int]) -> Fraction:
    """The exact value of an expression that has only rational operations.

    Raises: ValueError for functions, pi and fractional powers; KeyError and ZeroDivisionError as `evaluate`.
    """
    known: dict[nodes.Expression, Fraction] = {}
    for node in nodes.postorder(expression):
        known[node] = _exact(node, known, values)
    return known[expression]


def _exact(
    node: nodes.Expression, known: Mapping[nodes.Expression, Fraction], values: Mapping[str, Fraction | int]
) -> Fraction:
    if isinstance(node, nodes.Symbol):
        return Fraction(values[node.name])
    if isinstance(node, nodes.Number):
        return node.value
    if isinstance(node, nodes.Add):
        return sum((c * known[term] for term, c in node.terms), Fraction(node.constant))
    factors: tuple[tuple[nodes.Expression, Any], ...] = ()
    if isinstance(node, nodes.Mul):
        factors = node.factors
    elif isinstance(node, nodes.Pow) and isinstance(node.exponent, nodes.Number):
        factors = ((node.base, node.exponent.rational),)
    # A root is exact for few numbers only; here all or nothing is promised.
    if not factors or any(type(q) is not int for _, q in factors):
        raise ValueError(f"not a rational expression: {node!r}")
    result = Fraction(node.coefficient if isinstance(node, nodes.Mul) else 1)
    for base, q in factors:
        result *= known[base] ** q
    return result


nodes.ENGINE.evaluate = evaluate


_KEY = b"tellegen: the two points"


def residues_of_name(name: str) -> tuple[int, int]:
    """The residues of a name at the two points; the same in every run."""
    # Points follow from names alone, so every run and every process asks at the same ones, and results do not change
    # from day to day.
    digest = hashlib.blake2b(name.encode(), digest_size=16, key=_KEY).digest()
    return int.from_bytes(digest[:8], "big") % nodes.PRIME, int.from_bytes(digest[8:], "big") % nodes.PRIME


def _hashed(word: str, values: Iterable[int]) -> int:
    # A function is an unknown of its own, one for each argument: what is equal for equal residues of the arguments is
    # equal for equal arguments.
    text = f"{word}({','.join(map(str, values))})"
    digest = hashlib.blake2b(text.encode(), digest_size=8, key=_KEY).digest()
    return int.from_bytes(digest, "big") % nodes.PRIME


def residues(expression: nodes.Expression) -> tuple[int, int] | None:
    """The value modulo `PRIME` at both points, or None where it divides by zero at one of them."""
    # Each node keeps its residues, so a matrix of shared entries is evaluated once, part by part.
    if expression._residues is None:
        for node in nodes.postorder(expression):
            if node._residues is None:
                node._residues = _both(node)
    return expression._residues or None


def is_zero(expression: nodes.Expression) -> bool:
    """Whether an expression vanishes identically; decided by its residues, never by simplification."""
    if expression is ZERO:
        return True
    # A name is never zero by itself, whatever residue it happens to have.
    if isinstance(expression, nodes.Number | nodes.Symbol | nodes.Constant):
        return False
    return residues(expression) == (0, 0)


EPSILON = 2.0**-52


def is_rounding(expression: nodes.Expression) -> bool:
    """Whether a formula without names is zero but for its rounding in floats, such as cos(a) - sin(a) at 45 degrees.

    Rational numbers are exact: a small one is a small number.
    """
    if expression.free_symbols or not any(
        isinstance(e, nodes.Call | nodes.Constant) for e in nodes.postorder(expression)
    ):
        return False
    known: dict[nodes.Expression, float] = {}
    errors: dict[nodes.Expression, float] = {}
    try:
        for node in nodes.postorder(expression):
            known[node] = _value(node, known, {})
            errors[node] = _rounding(node, known, errors)
    except (ArithmeticError, ValueError):
        return False
    return abs(known[expression]) <= 4 * errors[expression]


def _rounding(
    node: nodes.Expression, known: dict[nodes.Expression, float], errors: dict[nodes.Expression, float]
) -> float:
    """How far a value may be from the exact one: what its arguments may be off, and one rounding."""
    value = known[node]
    off = EPSILON * abs(value)
    if isinstance(node, nodes.Add):
        return off + sum(abs(float(c)) * (errors[e] + EPSILON * abs(known[e])) for e, c in node.terms)
    # Anything else is asked beside its arguments, where it has a value there.
    for arg in node.args:
        at = known[arg]
        for beside in (at - errors[arg], at + errors[arg]):
            known[arg] = beside
            try:
                off = max(off, abs(_value(node, known, {}) - value))
            except (ArithmeticError, ValueError):
                continue
            finally:
                known[arg] = at
    return off


def _both(node: nodes.Expression) -> tuple[int, int] | tuple[()]:
    if isinstance(node, nodes.Symbol):
        return residues_of_name(node.name)
    if isinstance(node, nodes.Constant):
        return residues_of_name(f"constant {node.name}")
    # A pole inside leaves no value outside, and no proof that anything vanishes.
    if any(arg._residues == () for arg in node.args):
        return ()
    try:
        return _at(node, 0), _at(node, 1)
    except (ValueError, ZeroDivisionError):  # Python's `pow` finds no inverse of zero
        return ()


def _of(node: nodes.Expression, k: int) -> int:
    known = node._residues
    assert known, "arguments come before what is made of them"
    return known[k]


def _rational(q: nodes.Rational) -> int:
    return q % nodes.PRIME if type(q) is int else q.numerator * pow(q.denominator, -1, nodes.PRIME) % nodes.PRIME


def _at(node: nodes.Expression, k: int) -> int:
    if isinstance(node, nodes.Number):
        return _rational(node.rational)
    if isinstance(node, nodes.Add):
        return (_rational(node.constant) + sum(_rational(c) * _of(term, k) for term, c in node.terms)) % nodes.PRIME
    if isinstance(node, nodes.Mul):
        result = _rational(node.coefficient)
        for base, q in node.factors:
            result = result * _residue_of_power(_of(base, k), q) % nodes.PRIME
        return result
    if isinstance(node, nodes.Pow):
        return _at_power(node, k)
    return _at_function(node, k)


def _residue_of_power(base: int, q: nodes.Rational) -> int:
    """base^q; for a fractional q, the root is an unknown of its own, and its whole powers multiply as they should."""
    if type(q) is int:
        return pow(base, q, nodes.PRIME)
    # Roots of zero and one are known; a hashed root of zero would not vanish.
    if base in (0, 1):
        return base if q > 0 or base else pow(0, -1, nodes.PRIME)
    # Whole powers of one root multiply as they should: x^(3/2) / x^(1/2) is seen to be x.
    below = math.floor(q)
    root = _hashed("root", (base, q.denominator))
    return pow(base, below, nodes.PRIME) * pow(root, (q - below).numerator, nodes.PRIME) % nodes.PRIME


def _at_power(node: nodes.Pow, k: int) -> int:
    base = _of(node.base, k)
    if isinstance(node.exponent, nodes.Number):
        return _residue_of_power(base, node.exponent.rational)
    exponent = _of(node.exponent, k)
    if exponent == 0 or base == 1:
        return 1
    # a^(2*x) is the square of a^x by the same rule.
    n, _ = whole_content(node.exponent)
    unit = exponent * pow(n, -1, nodes.PRIME) % nodes.PRIME
    return pow(_hashed("power", (base, unit)), n, nodes.PRIME)


def _circle(angle: nodes.Expression, k: int) -> tuple[int, int]:
    """Cosine and sine of an angle: each name is a point of the circle, and whole multiples of it are powers.

    An angle with products or functions in it is one point by its value.
    """
    # The angle is taken apart into multiples of names, each a point of the circle; their sum is a product of points (decision 012).
    terms, constant = (angle.terms, angle.constant) if isinstance(angle, nodes.Add) else ((_multiple(angle),), 0)
    if isinstance(angle, nodes.Number):
        terms, constant = (), angle.rational
    if not all(isinstance(base, nodes.Symbol) for base, _ in terms):
        terms, constant = ((angle, 1),), 0
    turned: list[tuple[int, nodes.Rational]] = [(_of(base, k), c) for base, c in terms]
    found = (1, 0)
    for base, c in [*turned, (1, constant)] if constant else turned:
        # With t the tangent of half the angle, cosine and sine are rational (Weierstrass), so sin^2 + cos^2 = 1 holds
        # modulo the prime.
        t = _hashed("half angle", (base, c.denominator))
        below = pow(1 + t * t, -1, nodes.PRIME)
        unit = ((1 - t * t) * below % nodes.PRIME, 2 * t * below % nodes.PRIME)
        # Multiples by whole numbers are powers, by repeated squaring.
        found = _turn(found, _turned(unit, c.numerator))
    return found


def _multiple(angle: nodes.Expression) -> tuple[nodes.Expression, nodes.Rational]:
    """An angle that is no sum, as a multiple of a name where it is one."""
    coefficient, base = split_coefficient(angle)
    return (base, coefficient) if isinstance(base, nodes.Symbol) else (angle, 1)


def _turn(one: tuple[int, int], two: tuple[int, int]) -> tuple[int, int]:
    return (one[0] * two[0] - one[1] * two[1]) % nodes.PRIME, (one[0] * two[1] + one[1] * two[0]) % nodes.PRIME


def _turned(unit: tuple[int, int], times: int) -> tuple[int, int]:
    power = unit if times >= 0 else (unit[0], -unit[1] % nodes.PRIME)
    found = (1, 0)
    for digit in bin(abs(times))[:1:-1]:
        if digit == "1":
            found = _turn(found, power)
        power = _turn(power, power)
    return found


def _at_function(node: nodes.Expression, k: int) -> int:
    if isinstance(node, nodes.Call) and node.name in ("sin", "cos"):
        # Cosine first, sine second.
        return _circle(node.args[0], k)[node.name == "sin"]
    values = [_of(arg, k) for arg in node.args]
    if isinstance(node, nodes.Call):
        symmetric = FUNCTIONS[node.name].symmetric
        # min(a, b) and min(b, a) are one value.
        return _hashed(node.name, sorted(values) if symmetric else values)
    if isinstance(node, nodes.DefiniteIntegral):
        return _hashed("integral", (*(residues(node.pattern) or ()), *values))
    assert isinstance(node, nodes.Relation | nodes.Logic), "what is left are conditions"
    return _hashed(node.operator, values)


nodes.ENGINE.residues = residues
