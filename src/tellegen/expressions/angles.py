"""Sums of products of sines and cosines in fewer terms: what moving bodies make of squares and of differences of angles.

    A sin(a)^2 + A cos(a)^2             = A
    A cos(a) cos(b) + A sin(a) sin(b)   = A cos(a - b)
    A sin(a) cos(b) - A cos(a) sin(b)   = A sin(a - b)

and the same with the other sign, for sums of angles. Each step takes two terms of a sum and gives back one.
"""

from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations

from tellegen.expressions.canonical import number, power, product, total
from tellegen.expressions.functions import call
from tellegen.expressions.nodes import Add, Call, Expression, Mul, Rational, postorder
from tellegen.expressions.structure import rebuild

Factors = frozenset[tuple[Expression, Rational]]
"""A product: bases with their exponents."""

MOST_TERMS = 200
"""Longer sums stay as they are: nobody reads them, and looking for partners costs the square."""


@lru_cache(maxsize=20_000)
def joined_angles(expression: Expression) -> Expression:
    """The expression with sines and cosines of its sums joined where two terms become one."""
    if not any(isinstance(node, Call) and node.name in ("sin", "cos") for node in postorder(expression)):
        return expression
    new: dict[Expression, Expression] = {}
    for node in postorder(expression):
        args = tuple(new[arg] for arg in node.args)
        made = rebuild(node, args) if args != node.args else node
        new[node] = _joined(made) if isinstance(made, Add) and len(made.terms) <= MOST_TERMS else made
    return new[expression]


def _joined(node: Add) -> Expression:
    written = {_factors(term): term for term, _ in node.terms}
    terms = {_factors(term): coefficient for term, coefficient in node.terms}
    constant = node.constant
    again = True
    while again:
        again = False
        for factors in list(terms):
            if factors in terms and (step := _step(factors, terms)) is not None:
                partner, joined, size = step
                del terms[factors], terms[partner]
                again = True
                if not joined:
                    constant = constant + size
                elif (value := terms.get(joined, 0) + size) != 0:
                    terms[joined] = value
                else:
                    terms.pop(joined, None)
    if terms.keys() == written.keys():
        return (
            node  # nothing was joined; to write its terms again, however long, would cost far more than to look at them
        )
    made = (number(c) * (written.get(factors) or _product(factors)) for factors, c in terms.items())
    return total([number(constant), *made])


def _factors(term: Expression) -> Factors:
    return frozenset(term.factors) if isinstance(term, Mul) else frozenset({(term, 1)})


def _product(factors: Factors) -> Expression:
    return product([power(base, number(exponent)) for base, exponent in sorted(factors, key=str)])


def _step(factors: Factors, terms: dict[Factors, Rational]) -> tuple[Factors, Factors, Rational] | None:
    """A partner of a term, and what both together are."""
    size = terms[factors]
    for used, wanted, by_sign in _partners(factors):
        rest = _without(factors, used)
        partner = _times(rest, wanted)
        other = terms.get(partner)
        if other is not None and partner != factors and abs(other) == abs(size) and (other == size) in by_sign:
            sign, angle = by_sign[other == size]
            return partner, rest if angle is None else _times(rest, {angle: 1}), sign * size
    return None


Partner = tuple[dict[Expression, int], dict[Expression, int], dict[bool, tuple[int, Expression | None]]]
"""Factors of a term, those of the partner instead, and what comes out where the sizes are equal or opposite."""


def _partners(factors: Factors) -> Iterator[Partner]:
    waves = sorted((b for b, q in factors if _is_wave(b) and type(q) is int and q > 0), key=str)
    for base, exponent in factors:
        if base in waves and exponent >= 2:
            yield {base: 2}, {_other(base): 2}, {True: (1, None)}
    for one, two in combinations(waves, 2):
        a, b = one.args[0], two.args[0]
        if a is b:
            continue
        used, wanted = {one: 1, two: 1}, {_other(one): 1, _other(two): 1}
        if _name(one) == _name(two):
            sign = 1 if _name(one) == "cos" else -1
            yield used, wanted, {True: (1, call("cos", a - b)), False: (sign, call("cos", a + b))}
        else:
            sign = 1 if _name(one) == "sin" else -1
            yield used, wanted, {True: (1, call("sin", a + b)), False: (sign, call("sin", a - b))}


def _is_wave(base: Expression) -> bool:
    return isinstance(base, Call) and base.name in ("sin", "cos")


def _name(wave: Expression) -> str:
    assert isinstance(wave, Call), "a wave is a call"
    return wave.name


def _other(wave: Expression) -> Expression:
    return call("cos" if _name(wave) == "sin" else "sin", *wave.args)


def _without(factors: Factors, used: dict[Expression, int]) -> Factors:
    left = ((base, exponent - used.get(base, 0)) for base, exponent in factors)
    return frozenset((base, exponent) for base, exponent in left if exponent != 0)


def _times(factors: Factors, more: dict[Expression, int]) -> Factors:
    found = dict(factors)
    for base, exponent in more.items():
        assert not isinstance(base, Mul), "sines and cosines of differences have no sign of their own"
        found[base] = found.get(base, 0) + exponent
    return frozenset((base, exponent) for base, exponent in found.items() if exponent != 0)
