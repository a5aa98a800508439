"""Sines and cosines joined.

Two terms of a sum become one, step by step:

    A sin(a)^2 + A cos(a)^2             = A
    A cos(a) cos(b) + A sin(a) sin(b)   = A cos(a - b)
    A sin(a) cos(b) - A cos(a) sin(b)   = A sin(a - b)

and the same with the other sign, for sums of angles. Before that the terms with the same factor beside their waves are told as
sums of harmonics, which many of them have in common: three phases, or wheels at 120 degrees, leave constants and zeros. Phases
are multiples of pi/12, and sums of their powers are exact: vectors of rational numbers over the 24th roots of unity.
"""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import combinations

from tellegen.expressions.calculus import rebuild
from tellegen.expressions.canonical import PI, number, power, product, split_coefficient, total
from tellegen.expressions.elimination import leaf_count
from tellegen.expressions.functions import call
from tellegen.expressions.nodes import Add, Call, Expression, Mul, Number, Pow, Rational, postorder
from tellegen.expressions.simplification import multiplied_out

MOST_LEAVES = 60
"""Longer formulas are not multiplied out, nor those of more angles: what cancels has one angle, or two."""
MOST_ANGLES = 2

WaveFactors = frozenset[tuple[Expression, Rational]]
"""A product: bases with their exponents."""

MOST_WAVES = 200
"""Longer sums stay as they are: nobody reads them, and looking for partners costs the square."""


@lru_cache(maxsize=20_000)
def joined_sines(expression: Expression) -> Expression:
    """The expression with sines and cosines of its sums joined where two terms become one."""
    if not any(_is_wave(node) for node in postorder(expression)):
        return expression
    found = _joined_sums(expression)
    # (a cos + b sin)^2 + (a sin - b cos)^2 is a^2 + b^2, which only shows when it is multiplied out.
    if leaf_count(found) > MOST_LEAVES or not _multiplies_waves(found):
        return found
    flat = _joined_sums(multiplied_out(found))
    # What cancels leaves much less; what is only a little shorter so is no longer the sum of squares that it was.
    return flat if 3 * leaf_count(flat) <= 2 * leaf_count(found) else found


def _multiplies_waves(expression: Expression) -> bool:
    """Whether sums of waves of few angles are multiplied with each other, and nothing is divided by waves."""
    angles: set[Expression] = set()
    multiplied = False
    for node in postorder(expression):
        if isinstance(node, Call) and _is_wave(node):
            angles.add(node.args[0])
        found = 0
        for base, q in _factors(node) if isinstance(node, Mul | Pow) else ():
            # Whatever is divided by waves has no constant that could come out of it.
            if q < 0 and any(map(_is_wave, postorder(base))):
                return False
            if isinstance(base, Add) and type(q) is int and q > 0 and any(map(_is_wave, postorder(base))):
                found += q
        multiplied = multiplied or found > 1
    return multiplied and len(angles) <= MOST_ANGLES


def _joined_sums(expression: Expression) -> Expression:
    new: dict[Expression, Expression] = {}
    for node in postorder(expression):
        args = tuple(new[arg] for arg in node.args)
        made = rebuild(node, args) if args != node.args else node
        new[node] = _joined_sum(made) if isinstance(made, Add) and len(made.terms) <= MOST_WAVES else made
    return new[expression]


def _joined_sum(node: Add) -> Expression:
    fewer = _harmonic(node)
    return _joined(fewer) if isinstance(fewer, Add) else fewer


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
    made = (number(c) * (written.get(factors) or _product_of_waves(factors)) for factors, c in terms.items())
    return total([number(constant), *made])


def _factors(term: Expression) -> WaveFactors:
    if isinstance(term, Mul):
        return frozenset(term.factors)
    if isinstance(term, Pow) and isinstance(term.exponent, Number):
        return frozenset({(term.base, term.exponent.rational)})
    return frozenset({(term, 1)})


def _product_of_waves(factors: WaveFactors) -> Expression:
    return product([power(base, number(exponent)) for base, exponent in sorted(factors, key=str)])


def _step(factors: WaveFactors, terms: dict[WaveFactors, Rational]) -> tuple[WaveFactors, WaveFactors, Rational] | None:
    """A partner of a term, and what both together are."""
    size = terms[factors]
    for used, wanted, by_sign in _partners(factors):
        rest = _without_waves(factors, used)
        partner = _times_waves(rest, wanted)
        other = terms.get(partner)
        # Only equal sizes join: 2 sin^2 + 3 cos^2 is left as it is, because splitting a term makes formulas longer.
        if other is not None and partner != factors and abs(other) == abs(size) and (other == size) in by_sign:
            sign, angle = by_sign[other == size]
            return partner, rest if angle is None else _times_waves(rest, {angle: 1}), sign * size
    return None


Partner = tuple[dict[Expression, int], dict[Expression, int], dict[bool, tuple[int, Expression | None]]]
"""Factors of a term, those of the partner instead, and what comes out where the sizes are equal or opposite."""


def _partners(factors: WaveFactors) -> Iterator[Partner]:
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


def _without_waves(factors: WaveFactors, used: dict[Expression, int]) -> WaveFactors:
    left = ((base, exponent - used.get(base, 0)) for base, exponent in factors)
    return frozenset((base, exponent) for base, exponent in left if exponent != 0)


def _times_waves(factors: WaveFactors, more: dict[Expression, int]) -> WaveFactors:
    found = dict(factors)
    for base, exponent in more.items():
        assert not isinstance(base, Mul), "sines and cosines of differences have no sign of their own"
        found[base] = found.get(base, 0) + exponent
    return frozenset((base, exponent) for base, exponent in found.items() if exponent != 0)


# -- Harmonics -----------------------------------------------------------------------------------------------------------------

TURN = 24
"""Phases are counted in parts of a turn: pi/12."""

MOST_FACTORS = 6
"""A product of more waves has too many harmonics to be shorter by them."""

Root = tuple[Fraction, ...]
"""A number as a sum of rational multiples of z^0 ... z^7, z the first 24th root of unity: z^8 = z^4 - 1."""

Angle = frozenset[tuple[Expression, Rational]]
"""What turns: angles with their multiples."""


def _powers_of_z() -> tuple[Root, ...]:
    found, now = [], [1, *[0] * 7]
    for _ in range(TURN):
        found.append(tuple(map(Fraction, now)))
        last = now[7]
        now = [-last, *now[:7]]
        now[4] += last
    return tuple(found)


_Z = _powers_of_z()
_NOTHING: Root = (Fraction(0),) * 8


def _harmonic(node: Add) -> Expression:
    """The sum with harmonics in place of terms where these are fewer."""
    groups: dict[WaveFactors, list[tuple[WaveFactors, Rational]]] = {}
    for term, size in node.terms:
        factors = _factors(term)
        waves = frozenset((base, q) for base, q in factors if _is_wave(base) and type(q) is int and q > 0)
        groups.setdefault(factors - waves, []).append((waves, size))
    # A constant is a term of the group without further factors.
    constant = node.constant
    made: list[Expression] = []
    changed = False
    for rest, terms in groups.items():
        plain = constant if not rest else 0
        told = _told_in_harmonics([*terms, *([(frozenset(), plain)] if plain else [])]) if len(terms) > 1 else None
        if told is None or len(told) >= len(terms) + bool(plain):
            made += [number(size) * _product_of_waves(waves | rest) for waves, size in terms]
            continue
        changed = True
        if not rest:
            constant = 0
        made += [_product_of_waves(rest) * harmonic for harmonic in told]
    return total([number(constant), *made]) if changed else node


def _told_in_harmonics(terms: Sequence[tuple[WaveFactors, Rational]]) -> list[Expression] | None:
    """Products of waves as harmonics, or None where a phase or an amplitude is none that can be told."""
    spectrum: dict[Angle, Root] = {}
    for waves, size in terms:
        found = _spectrum(waves)
        if found is None:
            return None
        for angle, root in found.items():
            spectrum[angle] = _sum_of_roots(spectrum.get(angle, _NOTHING), _times(root, size))
    told: list[Expression] = []
    for angle, root in sorted(spectrum.items(), key=lambda entry: _name_of(entry[0])):
        # The other half of each pair says the same of the opposite angle.
        if not any(root) or not _leads(angle):
            continue
        wave = _wave(angle, root)
        if wave is None:
            return None
        told.append(wave)
    return told


def _spectrum(waves: WaveFactors) -> dict[Angle, Root] | None:
    """The amplitude of each harmonic of a product: exp(i a) for every angle a that it turns by."""
    factors = [base for base, q in waves for _ in range(int(q))]
    if len(factors) > MOST_FACTORS:
        return None
    found: dict[Angle, Root] = {frozenset(): _Z[0]}
    for wave in factors:
        read = _angle_of(wave.args[0])
        if read is None:
            return None
        angle, phase = read
        # cos a is half the sum of exp(i a) and exp(-i a), sin a the same a quarter turn later.
        late = 0 if _name(wave) == "cos" else -TURN // 4
        grown: dict[Angle, Root] = {}
        for now, root in found.items():
            for sign in (1, -1):
                key = _turned(now, angle, sign)
                part = _times(_rotated(root, sign * (phase + late)), Fraction(1, 2))
                grown[key] = _sum_of_roots(grown.get(key, _NOTHING), part)
        found = grown
    return found


def _angle_of(argument: Expression) -> tuple[dict[Expression, Rational], int] | None:
    """The angles of an argument, and its phase in parts of a turn; None for a phase that is no whole part."""
    terms = argument.terms if isinstance(argument, Add) else (split_coefficient(argument)[::-1],)
    if isinstance(argument, Add) and argument.constant:
        return None
    angles = {term: multiple for term, multiple in terms if term is not PI}
    phase = sum((Fraction(multiple) for term, multiple in terms if term is PI), Fraction(0)) * (TURN // 2)
    return (angles, int(phase)) if phase.denominator == 1 else None


def _turned(now: Angle, by: Mapping[Expression, Rational], sign: int) -> Angle:
    found = dict(now)
    for angle, multiple in by.items():
        found[angle] = found.get(angle, 0) + sign * multiple
    return frozenset((angle, multiple) for angle, multiple in found.items() if multiple)


def _rotated(root: Root, parts: int) -> Root:
    found = _NOTHING
    for k, value in enumerate(root):
        if value:
            found = _sum_of_roots(found, _times(_Z[(k + parts) % TURN], value))
    return found


def _times(root: Root, size: Rational) -> Root:
    return tuple(value * size for value in root)


def _sum_of_roots(one: Root, two: Root) -> Root:
    return tuple(a + b for a, b in zip(one, two, strict=True))


def _name_of(angle: Angle) -> list[tuple[str, Rational]]:
    return sorted((str(term), multiple) for term, multiple in angle)


def _leads(angle: Angle) -> bool:
    """Whether an angle stands for itself and its opposite."""
    return not angle or _name_of(angle)[0][1] > 0


def _wave(angle: Angle, root: Root) -> Expression | None:
    """An amplitude with its angle, and with the opposite angle that it has beside it; None where it is no multiple of a root."""
    if not angle:
        return number(root[0]) if not any(root[1:]) else None
    for parts in range(TURN // 2):
        size = next(value / unit for value, unit in zip(root, _Z[parts], strict=True) if unit)
        if size and root == _times(_Z[parts], size):
            at = total(number(multiple) * term for term, multiple in sorted(angle, key=lambda entry: str(entry[0])))
            if parts == TURN // 4:
                return number(-2 * size) * call("sin", at)
            # Ahead by more than a quarter of a turn is behind the opposite by the rest.
            turn, sign = (parts, 1) if parts < TURN // 4 else (parts - TURN // 2, -1)
            return number(2 * sign * size) * call("cos", at + number(Fraction(turn, TURN // 2)) * PI)
    return None
