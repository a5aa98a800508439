"""The zero test of the project: values modulo a 61-bit prime at two fixed pseudo-random points.

A rational expression that is not identically zero vanishes at a random point with a probability of about degree / 2^61
(Schwartz, Zippel), so two points decide. Functions, roots and pi are treated as independent unknowns: equal arguments
give equal residues, but an identity such as exp(x) exp(-x) = 1 is not seen. Sines and cosines are points of a circle modulo the
prime, and sums of angles turn them, so identities between them are. So the test calls nothing zero that is not (but for
that probability), and may miss a zero that only another identity shows.
"""

import hashlib
import math
from collections.abc import Iterable

from tellegen.expressions.canonical import ZERO, split_coefficient, whole_content
from tellegen.expressions.functions import FUNCTIONS
from tellegen.expressions.nodes import (
    ENGINE,
    PRIME,
    Add,
    Call,
    Constant,
    Expression,
    Logic,
    Mul,
    Number,
    Pow,
    Rational,
    Relation,
    Symbol,
    postorder,
)

_KEY = b"tellegen: the two points"


def point(name: str) -> tuple[int, int]:
    """The residues of a name at the two points; the same in every run."""
    digest = hashlib.blake2b(name.encode(), digest_size=16, key=_KEY).digest()
    return int.from_bytes(digest[:8], "big") % PRIME, int.from_bytes(digest[8:], "big") % PRIME


def _hashed(word: str, values: Iterable[int]) -> int:
    text = f"{word}({','.join(map(str, values))})"
    digest = hashlib.blake2b(text.encode(), digest_size=8, key=_KEY).digest()
    return int.from_bytes(digest, "big") % PRIME


def residues(expression: Expression) -> tuple[int, int] | None:
    """The value modulo `PRIME` at both points, or None where it divides by zero at one of them."""
    if expression._residues is None:
        for node in postorder(expression):
            if node._residues is None:
                node._residues = _both(node)
    return expression._residues or None


def is_zero(expression: Expression) -> bool:
    """Whether an expression vanishes identically; decided by its residues, never by simplification."""
    if expression is ZERO:
        return True
    if isinstance(expression, Number | Symbol | Constant):
        return False
    return residues(expression) == (0, 0)


def _both(node: Expression) -> tuple[int, int] | tuple[()]:
    if isinstance(node, Symbol):
        return point(node.name)
    if isinstance(node, Constant):
        return point(f"constant {node.name}")
    if any(arg._residues == () for arg in node.args):
        return ()
    try:
        return _at(node, 0), _at(node, 1)
    except (ValueError, ZeroDivisionError):  # Python's `pow` finds no inverse of zero
        return ()


def _of(node: Expression, k: int) -> int:
    known = node._residues
    assert known, "arguments come before what is made of them"
    return known[k]


def _rational(q: Rational) -> int:
    return q % PRIME if type(q) is int else q.numerator * pow(q.denominator, -1, PRIME) % PRIME


def _at(node: Expression, k: int) -> int:
    if isinstance(node, Number):
        return _rational(node.rational)
    if isinstance(node, Add):
        return (_rational(node.constant) + sum(_rational(c) * _of(term, k) for term, c in node.terms)) % PRIME
    if isinstance(node, Mul):
        result = _rational(node.coefficient)
        for base, q in node.factors:
            result = result * _power(_of(base, k), q) % PRIME
        return result
    if isinstance(node, Pow):
        return _at_power(node, k)
    return _at_function(node, k)


def _power(base: int, q: Rational) -> int:
    """base^q; for a fractional q, the root is an unknown of its own, and its whole powers multiply as they should."""
    if type(q) is int:
        return pow(base, q, PRIME)
    if base in (0, 1):
        return base if q > 0 or base else pow(0, -1, PRIME)
    below = math.floor(q)
    root = _hashed("root", (base, q.denominator))
    return pow(base, below, PRIME) * pow(root, (q - below).numerator, PRIME) % PRIME


def _at_power(node: Pow, k: int) -> int:
    base = _of(node.base, k)
    if isinstance(node.exponent, Number):
        return _power(base, node.exponent.rational)
    exponent = _of(node.exponent, k)
    if exponent == 0 or base == 1:
        return 1
    n, _ = whole_content(node.exponent)
    unit = exponent * pow(n, -1, PRIME) % PRIME
    return pow(_hashed("power", (base, unit)), n, PRIME)


def _circle(angle: Expression, k: int) -> tuple[int, int]:
    """Cosine and sine of an angle: each name is a point of the circle, and whole multiples of it are powers.

    An angle with products or functions in it is one point by its value.
    """
    terms, constant = (angle.terms, angle.constant) if isinstance(angle, Add) else ((_multiple(angle),), 0)
    if isinstance(angle, Number):
        terms, constant = (), angle.rational
    if not all(isinstance(base, Symbol) for base, _ in terms):
        terms, constant = ((angle, 1),), 0
    turned: list[tuple[int, Rational]] = [(_of(base, k), c) for base, c in terms]
    found = (1, 0)
    for base, c in [*turned, (1, constant)] if constant else turned:
        t = _hashed("half angle", (base, c.denominator))
        below = pow(1 + t * t, -1, PRIME)
        unit = ((1 - t * t) * below % PRIME, 2 * t * below % PRIME)
        found = _turn(found, _turned(unit, c.numerator))
    return found


def _multiple(angle: Expression) -> tuple[Expression, Rational]:
    """An angle that is no sum, as a multiple of a name where it is one."""
    coefficient, base = split_coefficient(angle)
    return (base, coefficient) if isinstance(base, Symbol) else (angle, 1)


def _turn(one: tuple[int, int], two: tuple[int, int]) -> tuple[int, int]:
    return (one[0] * two[0] - one[1] * two[1]) % PRIME, (one[0] * two[1] + one[1] * two[0]) % PRIME


def _turned(unit: tuple[int, int], times: int) -> tuple[int, int]:
    power = unit if times >= 0 else (unit[0], -unit[1] % PRIME)
    found = (1, 0)
    for digit in bin(abs(times))[:1:-1]:
        if digit == "1":
            found = _turn(found, power)
        power = _turn(power, power)
    return found


def _at_function(node: Expression, k: int) -> int:
    if isinstance(node, Call) and node.name in ("sin", "cos"):
        return _circle(node.args[0], k)[node.name == "sin"]
    values = [_of(arg, k) for arg in node.args]
    if isinstance(node, Call):
        symmetric = FUNCTIONS[node.name].symmetric
        return _hashed(node.name, sorted(values) if symmetric else values)
    assert isinstance(node, Relation | Logic), "what is left are conditions"
    return _hashed(node.operator, values)


ENGINE.residues = residues
