"""Shorter forms of expressions: fractions brought together, and names for the parts of long formulas.

No greatest common divisor is computed. A numerator is divided by a factor of its denominator where that leaves no remainder,
which is what the elimination of a network leads to; anything else stays as it is. Long expressions are given back unchanged.
"""

from collections.abc import Iterable, Iterator
from fractions import Fraction
from math import gcd
from typing import final

from tellegen.expressions.calculus import rebuild
from tellegen.expressions.canonical import number, power, product, split_coefficient, symbol, total
from tellegen.expressions.nodes import Add, Call, Expression, Mul, Number, Pow, Symbol, postorder
from tellegen.expressions.printing import to_text
from tellegen.expressions.rules import DivisionByZeroError

MOST_TERMS = 200
"""Polynomials with more terms than this are not worth printing in one line."""

MOST_WRITTEN = 100_000
"""Formulas of more nodes, written out, are not read in any form."""

Monomial = tuple[tuple[str, int], ...]
Polynomial = dict[Monomial, Fraction]
Frozen = tuple[tuple[Monomial, Fraction], ...]

UNIT: Monomial = ()


class LongPolynomialError(Exception):
    """A polynomial grew beyond what anybody would read."""


class Quotient:
    """A polynomial over a product of polynomials."""

    __slots__ = ("above", "below")

    def __init__(self, above: Polynomial, below: dict[Frozen, int]) -> None:
        self.above = above
        self.below = below


def shortened(expression: Expression) -> Expression:
    """The shortest form found among the expression, its fractions brought together, and groups of them brought together."""
    if _written_size(expression) > MOST_WRITTEN:
        return expression
    # Without a sum in a denominator nothing can be brought together that canonical form has not collected.
    if not _has_sum_below(expression):
        return expression
    try:
        candidates = [expression, *_candidates(expression)]
    # Too long to be read in any form; it stays as elimination left it.
    except LongPolynomialError:
        return expression
    # Of equal length the form that was there wins, so that results do not change for nothing.
    return min(candidates, key=lambda e: (_length(e), e is not expression))


def _written_size(expression: Expression) -> int:
    """How many nodes it has when written out: shared parts count each time, without being walked each time."""
    size: dict[Expression, int] = {}
    for node in postorder(expression):
        size[node] = 1 + sum(size[part] for part in node.args)
    return size[expression]


MOST_COLLECTED = 30
"""Longer sums stay as they are: each pair of terms is looked at."""


def collected(expression: Expression) -> Expression:
    """A sum with the factors that several of its terms share written once: J + l^2*(m_1 + m_2). Others stay as they are."""
    if not isinstance(expression, Add) or len(expression.terms) > MOST_COLLECTED:
        return expression
    terms = [(number(c) * term, _whole_factors(term)) for term, c in expression.terms]
    shared = _most_shared([factors for _, factors in terms])
    if not shared:
        return expression
    common = product([power(base, number(q)) for base, q in shared.items()])
    inside = [term / common for term, factors in terms if _holds(factors, shared)]
    # -(a + b), and not (-a - b).
    if all(split_coefficient(term)[0] < 0 for term in inside):
        common, inside = -common, [-term for term in inside]
    # (a + b)/2, and not a/2 + b/2.
    (below, *others) = {Fraction(split_coefficient(term)[0]).denominator for term in inside}
    if below > 1 and not others:
        common, inside = common / below, [below * term for term in inside]
    rest = [term for term, factors in terms if not _holds(factors, shared)]
    made = total([number(expression.constant), total(rest), common * collected(total(inside))])
    # Sums that were alike are factors now: a (b + c) + d (b + c). Each time something is written once less, so it ends.
    return collected(made)


MOST_NODES = 1000
"""Larger formulas are printed as they are: looking through them would take longer than deriving them."""
_MIRRORED = {"cos": 1, "cosh": 1, **dict.fromkeys(("sin", "tan", "asin", "atan", "sinh", "tanh"), -1)}
"""Functions of the negative argument, by what they are of the argument: cos(-x) is cos(x), sin(-x) is -sin(x)."""


def readable(expression: Expression) -> Expression:
    """The expression as people write it: every sum in it as `collected` has it, no cosine of a negative angle.

    One that is too large to be read stays as it is.
    """
    nodes = postorder(expression)
    if len(nodes) > MOST_NODES or not any(isinstance(node, Add | Call) for node in nodes):
        return expression
    made: dict[Expression, Expression] = {}
    for node in nodes:
        args = tuple([made[part] for part in node.args])
        found = node if all(a is b for a, b in zip(args, node.args, strict=True)) else rebuild(node, args)
        made[node] = collected(_upright(found))
    return made[expression]


def readable_terms(expression: Expression) -> Expression:
    """The same of each term of a sum, which stay by themselves: an energy is told element by element."""
    if not isinstance(expression, Add):
        return readable(expression)
    return total([number(expression.constant), *(readable(number(c) * term) for term, c in expression.terms)])


def _upright(node: Expression) -> Expression:
    """cos(-x) as cos(x), and sin(-a - b) as -sin(a + b)."""
    if not isinstance(node, Call) or node.name not in _MIRRORED:
        return node
    (x,) = node.args
    terms = [(c, term) for term, c in x.terms] if isinstance(x, Add) else [split_coefficient(x)]
    negative = all(c < 0 for c, _ in terms) and (not isinstance(x, Add) or x.constant <= 0)
    return number(_MIRRORED[node.name]) * rebuild(node, (-x,)) if negative else node


def _whole_factors(term: Expression) -> dict[Expression, int]:
    """The factors of a term with their whole powers."""
    if isinstance(term, Mul):
        return {base: q for base, q in term.factors if type(q) is int}
    if isinstance(term, Pow) and isinstance(term.exponent, Number):
        q = term.exponent.rational
        return {term.base: q} if type(q) is int else {}
    return {term: 1}


def _holds(factors: dict[Expression, int], shared: dict[Expression, int]) -> bool:
    return all(0 < q <= factors.get(base, 0) or factors.get(base, 0) <= q < 0 for base, q in shared.items())


def _most_shared(terms: list[dict[Expression, int]]) -> dict[Expression, int]:
    """The factors that are worth most to be written once; the first of several that are worth as much."""
    best: dict[Expression, int] = {}
    saved = 0
    for k, one in enumerate(terms):
        for two in terms[:k]:
            alike = ((base, q, two[base]) for base, q in one.items() if base in two and q * two[base] > 0)
            shared = {base: min(p, q, key=abs) for base, p, q in alike}
            # Alone in its term a factor would leave a one behind: a + a*b is no shorter as a*(1 + b), but a*b + a*b*c is.
            if not shared or (len(shared) == 1 and shared in (one, two)):
                continue
            holding = [term for term in terms if _holds(term, shared)]
            worth = (len(holding) - 1) * len(shared) - (shared in holding)
            if worth > saved:
                best, saved = shared, worth
    return best


def multiplied_out(expression: Expression) -> Expression:
    """Products of sums written as one sum over one denominator; an expression that gets too long so stays as it is."""
    quotients = _Quotients()
    try:
        return _written(quotients.of(expression), quotients.names)
    except LongPolynomialError:
        return expression


def _candidates(expression: Expression) -> Iterable[Expression]:
    quotients = _Quotients()
    yield _written(quotients.of(expression), quotients.names)
    if isinstance(expression, Add):
        terms = [number(c) * term for term, c in expression.terms]
        if expression.constant:
            terms.append(number(expression.constant))
        yield _written_in_groups([quotients.of(term) for term in terms], quotients.names)


def _written_in_groups(terms: list[Quotient], names: dict[str, Expression]) -> Expression:
    """Terms over the same factors brought together, terms without a denominator joining the first group that they shorten."""
    groups: dict[frozenset[Frozen], Quotient] = {}
    for term in terms:
        # Sums in denominators decide which terms belong together; single names are common to many.
        key = frozenset(f for f in term.below if len(f) > 1) or frozenset(term.below)
        groups[key] = _sum(groups[key], term) if key in groups else term
    plain = groups.pop(frozenset(), None)
    written = {key: _written(group, names) for key, group in groups.items()}
    if plain is not None:
        alone = _written(plain, names)
        for key, group in groups.items():
            joined = _written(_sum(group, plain), names)
            if _length(joined) < _length(written[key] + alone):
                written[key] = joined
                alone = number(0)
                break
        written[frozenset()] = alone
    return total(written.values())


def _length(expression: Expression) -> int:
    """The length of the text; a fraction inside a denominator counts as much longer, because it reads so."""
    nested, stack = 0, [(expression, False)]
    while stack:
        node, below = stack.pop()
        factors = node.factors if isinstance(node, Mul) else ()
        if isinstance(node, Pow) and isinstance(node.exponent, Number):
            factors = ((node.base, node.exponent.rational),)
        for base, q in factors:
            nested += below and q < 0
            stack.append((base, below or (q < 0 and isinstance(base, Add))))
        if not factors:
            stack.extend((e, below) for e in node.args)
    # As if twenty characters longer: 1/(1/a + 1/b) is short and hard to read.
    return len(to_text(expression)) + 20 * nested


def _has_sum_below(expression: Expression) -> bool:
    stack = [expression]
    while stack:
        node = stack.pop()
        if isinstance(node, Mul) and any(q < 0 and isinstance(base, Add) for base, q in node.factors):
            return True
        if isinstance(node, Pow) and isinstance(node.base, Add):
            return True
        stack.extend(node.args)
    return False


@final
class _Quotients:
    """Expressions as quotients: what is shared between formulas is worked out once."""

    def __init__(self) -> None:
        self.names: dict[str, Expression] = {}
        self.known: dict[Expression, Quotient] = {}

    def of(self, node: Expression) -> Quotient:
        """The quotient that an expression is."""
        found = self.known.get(node)
        if found is None:
            found = self.known[node] = self._of(node)
        return found

    def _of(self, node: Expression) -> Quotient:
        if isinstance(node, Number):
            return Quotient(_constant(node.value), {})
        if isinstance(node, Symbol):
            return Quotient({((node.name, 1),): Fraction(1)}, {})
        if isinstance(node, Add):
            found = Quotient(_constant(Fraction(node.constant)), {})
            for term, c in node.terms:
                share = self.of(term)
                found = _sum(found, Quotient(_scaled(share.above, Fraction(c)), share.below))
            return found
        if isinstance(node, Mul):
            found = Quotient(_constant(Fraction(node.coefficient)), {})
            for base, q in node.factors:
                found = _product(found, self._power(base, q))
            return found
        if isinstance(node, Pow) and isinstance(node.exponent, Number):
            return self._power(node.base, node.exponent.rational)
        return self._opaque(node)

    def _opaque(self, node: Expression) -> Quotient:
        """A function or a root stands as a name of its own."""
        # No name of a model begins so.
        name = f"#{to_text(node)}"
        self.names[name] = node
        return Quotient({((name, 1),): Fraction(1)}, {})

    def _power(self, base: Expression, q: int | Fraction) -> Quotient:
        if type(q) is not int:
            return self._opaque(power(base, number(q)))
        inside = self.of(base)
        one = inside if q > 0 else _inverse(inside)
        found = one
        for _ in range(abs(q) - 1):
            found = _product(found, one)
        return found


def _constant(value: Fraction) -> Polynomial:
    return {UNIT: value} if value else {}


def _scaled(a: Polynomial, factor: Fraction) -> Polynomial:
    return {m: c * factor for m, c in a.items()} if factor else {}


def _plus(a: Polynomial, b: Polynomial) -> Polynomial:
    found = dict(a)
    for m, c in b.items():
        rest = found.get(m, Fraction(0)) + c
        if rest:
            found[m] = rest
        else:
            del found[m]
    return found


def _times(a: Polynomial, b: Polynomial) -> Polynomial:
    # Before the product is made, not after.
    if len(a) * len(b) > 20 * MOST_TERMS:
        raise LongPolynomialError
    found: Polynomial = {}
    for m, c in a.items():
        for n, d in b.items():
            key = _join(m, n)
            found[key] = found.get(key, Fraction(0)) + c * d
    found = {m: c for m, c in found.items() if c}
    if len(found) > MOST_TERMS:
        raise LongPolynomialError
    return found


def _join(a: Monomial, b: Monomial) -> Monomial:
    if not a:
        return b
    powers = dict(a)
    for name, q in b:
        powers[name] = powers.get(name, 0) + q
    return tuple(sorted(powers.items()))


def _sum(a: Quotient, b: Quotient) -> Quotient:
    below = {f: max(a.below.get(f, 0), b.below.get(f, 0)) for f in (*a.below, *b.below)}
    above = _plus(_over(a, below), _over(b, below))
    return _cancelled(above, below)


def _over(a: Quotient, below: dict[Frozen, int]) -> Polynomial:
    above = a.above
    for f, q in below.items():
        for _ in range(q - a.below.get(f, 0)):
            above = _times(above, dict(f))
    return above


def _product(a: Quotient, b: Quotient) -> Quotient:
    below = {f: a.below.get(f, 0) + b.below.get(f, 0) for f in (*a.below, *b.below)}
    return _cancelled(_times(a.above, b.above), below)


def _inverse(a: Quotient) -> Quotient:
    above: Polynomial = {UNIT: Fraction(1)}
    for f, q in a.below.items():
        for _ in range(q):
            above = _times(above, dict(f))
    factor, powers, rest = _split(a.above)
    below: dict[Frozen, int] = {((((name, 1),), Fraction(1)),): q for name, q in powers}
    if len(rest) > 1:
        below[_frozen(rest)] = 1
    return _cancelled(_scaled(above, 1 / factor), below)


def _split(a: Polynomial) -> tuple[Fraction, Monomial, Polynomial]:
    """A polynomial as a number times powers of names times a primitive rest whose first coefficient is positive."""
    if not a:
        raise DivisionByZeroError("a denominator vanishes")
    monomials = [dict(m) for m in a]
    shared = {name: q for name, q in monomials[0].items() if all(name in m for m in monomials)}
    common = tuple(sorted((name, min(m[name] for m in monomials)) for name in shared))
    top = gcd(*(c.numerator for c in a.values()))
    bottom = 1
    for c in a.values():
        bottom = bottom * c.denominator // gcd(bottom, c.denominator)
    factor = Fraction(top, bottom) * (-1 if a[min(a)] < 0 else 1)
    rest = {_without(m, dict(common)): c / factor for m, c in a.items()}
    return factor, common, rest


def _without(m: Monomial, common: dict[str, int]) -> Monomial:
    return tuple((name, q - common.get(name, 0)) for name, q in m if q > common.get(name, 0))


def _frozen(a: Polynomial) -> Frozen:
    return tuple(sorted(a.items()))


def _cancelled(above: Polynomial, below: dict[Frozen, int]) -> Quotient:
    left: dict[Frozen, int] = {}
    for f, q in below.items():
        remaining = q
        while remaining:
            divided = _divided(above, dict(f))
            if divided is None:
                break
            above = divided
            remaining -= 1
        if remaining:
            left[f] = remaining
    return Quotient(above, left if above else {})


def _divided(a: Polynomial, f: Polynomial) -> Polynomial | None:
    """a / f where it leaves no remainder, by leading monomials in the order of total degree, then of names."""
    # Division by one polynomial needs no Groebner basis: the order decides the lead, and the remainder is zero or it is not.
    lead, last = min(f, key=_order), max(f, key=_order)
    # The last monomial of a product is the product of the last ones, as the first is of the first.
    if _monomial_quotient(max(a, key=_order, default=UNIT), last) is None:
        return None
    rest = dict(a)
    found: Polynomial = {}
    # Without remainder it ends after as many steps as the quotient has terms.
    for _ in range(4 * MOST_TERMS):
        if not rest:
            return found
        m = min(rest, key=_order)
        quotient = _monomial_quotient(m, lead)
        if quotient is None:
            return None
        c = rest[m] / f[lead]
        found[quotient] = c
        rest = _plus(rest, {_join(quotient, n): -c * d for n, d in f.items()})
    return None


def _order(m: Monomial) -> tuple[int, list[tuple[str, int]]]:
    """The smallest key leads: highest total degree, then the highest power of the first name. Multiplication keeps this order."""
    return -sum(q for _, q in m), [(name, -q) for name, q in m]


def _monomial_quotient(m: Monomial, n: Monomial) -> Monomial | None:
    powers = dict(m)
    for name, q in n:
        if powers.get(name, 0) < q:
            return None
        powers[name] -= q
    return tuple((name, q) for name, q in sorted(powers.items()) if q)


def _written(a: Quotient, names: dict[str, Expression]) -> Expression:
    if not a.above:
        return number(0)
    factor, powers, rest = _split(a.above)
    factors = [number(factor), *(_base(name, names) ** q for name, q in powers), _polynomial(rest, names)]
    for f, q in a.below.items():
        factors.append(_polynomial(dict(f), names) ** -q)
    return product(factors)


def _polynomial(a: Polynomial, names: dict[str, Expression]) -> Expression:
    return total(product([number(c), *(_base(name, names) ** q for name, q in m)]) for m, c in a.items())


def _base(name: str, names: dict[str, Expression]) -> Expression:
    return names[name] if name in names else symbol(name)


BETWEEN = 3
"""Characters that a sum or a product puts between two of its members."""


@final
class NamedParts:
    """Shortens formulas by naming parts of more than `longest` characters; the same part has the same name everywhere.

    `definitions` are those of the `names` that were given, each after those that it reads.
    """

    def __init__(self, longest: int, names: Iterator[str]) -> None:
        self.definitions: dict[str, Expression] = {}
        self._longest = longest
        self._names = names
        self._short: dict[Expression, Expression] = {}
        self._named: dict[Expression, Expression] = {}
        self._length: dict[Expression, int] = {}

    def short(self, expression: Expression) -> Expression:
        """The formula over names for its long parts; it is never just a name itself."""
        for node in postorder(expression):
            if node not in self._short:
                self._short[node] = self._shortened(node)
        return self._short[expression]

    def part(self, expression: Expression) -> Expression:
        """The formula itself where it is short, else a name for it."""
        self.short(expression)
        return self._part(expression)

    def _shortened(self, node: Expression) -> Expression:
        args = tuple([self._part(arg) for arg in node.args])
        made = node if args == node.args else rebuild(node, args)
        # Estimated from the lengths of its parts; to print every part of a long formula would take the square of its length.
        self._length[node] = sum(self._written(arg) + BETWEEN for arg in args) if args else len(to_text(node))
        return made

    def _part(self, node: Expression) -> Expression:
        """What stands for a member of a sum or product: itself, or a name."""
        if self._length[node] <= self._longest:
            return self._short[node]
        if node not in self._named:
            name = next(self._names)
            self.definitions[name] = self._short[node]
            self._named[node] = symbol(name)
            self._length[self._named[node]] = len(name)
        return self._named[node]

    def _written(self, part: Expression) -> int:
        found = self._length.get(part)
        return len(to_text(part)) if found is None else found
