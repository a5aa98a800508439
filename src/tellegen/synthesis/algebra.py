"""Polynomials with rational coefficients, exactly: division, common factors, where their roots lie.

Coefficients rise: (a_0, a_1, ...) is a_0 + a_1 x + ... . Zero is the empty tuple.
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import pairwise, zip_longest

# Whether a function is positive real is a question of signs: rounding could answer it wrongly, so coefficients stay fractions.
Polynomial = tuple[Fraction, ...]


def polynomial(coefficients: Iterable[Fraction | int]) -> Polynomial:
    """The polynomial without zeros in front."""
    found = [Fraction(c) for c in coefficients]
    while found and not found[-1]:
        found.pop()
    return tuple(found)


def add(a: Polynomial, b: Polynomial, factor: Fraction | int = 1) -> Polynomial:
    """a + factor*b."""
    return polynomial(x + factor * y for x, y in zip_longest(a, b, fillvalue=Fraction(0)))


def multiply(a: Polynomial, b: Polynomial) -> Polynomial:
    """a*b."""
    if not a or not b:
        return ()
    found = [Fraction(0)] * (len(a) + len(b) - 1)
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            found[i + j] += x * y
    return polynomial(found)


def divide(a: Polynomial, b: Polynomial) -> tuple[Polynomial, Polynomial]:
    """Quotient and remainder."""
    rest, quotient = list(a), [Fraction(0)] * max(len(a) - len(b) + 1, 0)
    for k in range(len(a) - len(b), -1, -1):
        quotient[k] = rest[k + len(b) - 1] / b[-1]
        for j, y in enumerate(b):
            rest[k + j] -= quotient[k] * y
    return polynomial(quotient), polynomial(rest[: max(len(b) - 1, 0)])


def common_factor(a: Polynomial, b: Polynomial) -> Polynomial:
    """The greatest common factor with leading coefficient one."""
    # Euclid, exactly: with floats the last remainder would never be zero.
    while b:
        a, b = b, divide(a, b)[1]
    return polynomial(c / a[-1] for c in a)


def derivative(a: Polynomial) -> Polynomial:
    """a'."""
    return polynomial(k * c for k, c in enumerate(a) if k)


def value(a: Sequence[float | complex], x: complex) -> complex:
    """The value at a point, as a floating-point number."""
    found = 0 * x
    for c in reversed(a):
        found = found * x + c
    return found


def exact_value(a: Polynomial, x: Fraction) -> Fraction:
    """The value at a rational point, exactly."""
    found = Fraction(0)
    for c in reversed(a):
        found = found * x + c
    return found


def solve_bezout(a: Polynomial, b: Polynomial, c: Polynomial) -> tuple[Polynomial, Polynomial]:
    """x and y with x*a + y*b = c for coprime a and b, the degree of x below that of b."""
    # The extended algorithm of Euclid; only the factor of a is carried along, that of b follows by division.
    r_0, r_1, x_0, x_1 = a, b, polynomial([1]), polynomial([])
    while r_1:
        q, r = divide(r_0, r_1)
        r_0, r_1, x_0, x_1 = r_1, r, x_1, add(x_0, multiply(q, x_1), -1)
    scaled = multiply(x_0, polynomial(k / r_0[0] for k in c))
    x = divide(scaled, b)[1]
    y, rest = divide(add(c, multiply(x, a), -1), b)
    assert not rest, "the factors are coprime"
    return x, y


def squarefree_factors(a: Polynomial) -> list[tuple[Polynomial, int]]:
    """Factors without multiple roots, each with the multiplicity of its roots (Yun 1976)."""
    found: list[tuple[Polynomial, int]] = []
    if len(a) < 2:
        return found
    g = common_factor(a, derivative(a))
    b, c = divide(a, g)[0], divide(derivative(a), g)[0]
    d = add(c, derivative(b), -1)
    k = 1
    while len(b) > 1:
        factor = common_factor(b, d) if d else polynomial(x / b[-1] for x in b)
        b, c = divide(b, factor)[0], divide(d, factor)[0] if d else ()
        d = add(c, derivative(b), -1)
        if len(factor) > 1:
            found.append((factor, k))
        k += 1
    return found


# -- real roots ----------------------------------------------------------------------------------------------------------------


def positive_roots(a: Polynomial, *, digits: int = 17) -> list[Fraction]:
    """The positive roots of a polynomial without multiple roots, isolated by Sturm's theorem and halved down to `digits`."""
    if len(a) < 2:
        return []
    chain = _sturm_chain(a)
    # Cauchy's bound: no root is larger.
    bound = 1 + max(abs(c / a[-1]) for c in a[:-1])
    found: list[Fraction] = []
    work = [(Fraction(0), Fraction(bound))]
    while work:
        low, high = work.pop()
        count = _changes(chain, low) - _changes(chain, high)
        if count == 1 and exact_value(a, low) and exact_value(a, high):
            found.append(_halved(a, low, high, digits))
        elif count:
            # Sturm counts the changes of sign between two points that are no roots, so a middle that is one steps aside.
            middle = _no_root(a, (low + high) / 2, (high - low) / 1024)
            work += [(low, middle), (middle, high)] if high - low > bound / 10**30 else []
    return sorted(found)


def _no_root(a: Polynomial, x: Fraction, step: Fraction) -> Fraction:
    while not exact_value(a, x):
        x += step
    return x


def _halved(a: Polynomial, low: Fraction, high: Fraction, digits: int) -> Fraction:
    rises = exact_value(a, high) > 0
    while high - low > high / 10**digits:
        middle = (low + high) / 2
        at = exact_value(a, middle)
        if not at:
            return middle
        low, high = (low, middle) if (at > 0) == rises else (middle, high)
    return (low + high) / 2


def _sturm_chain(a: Polynomial) -> list[Polynomial]:
    chain = [a, derivative(a)]
    while len(chain[-1]) > 1:
        rest = divide(chain[-2], chain[-1])[1]
        if not rest:
            break
        chain.append(polynomial(-c for c in rest))
    return chain


def _changes(chain: list[Polynomial], x: Fraction) -> int:
    signs = [v > 0 for v in (exact_value(p, x) for p in chain) if v]
    return sum(one != two for one, two in pairwise(signs))


def is_hurwitz(a: Polynomial) -> bool:
    """Whether all roots have negative real parts (Routh)."""
    upper, lower = list(a[::-1][0::2]), list(a[::-1][1::2])
    # A zero in the first column belongs to a root on the axis or to its right: the scheme need not go on.
    while lower:
        if not lower[0] or (lower[0] > 0) != (upper[0] > 0):
            return False
        # Routh's rows: each has the degree of the one before, less one.
        shifted = [*lower[1:], *[Fraction(0)] * (len(upper) - len(lower))]
        upper, lower = lower, [u - upper[0] / lower[0] * s for u, s in zip(upper[1:], shifted, strict=True)]
    return True


# -- complex roots -------------------------------------------------------------------------------------------------------------


def complex_roots(a: Polynomial) -> list[complex]:
    """The roots of a polynomial without multiple roots as floating-point numbers (Durand and Kerner, polished by Newton)."""
    n = len(a) - 1
    # Scaled by a bound of the roots, so that coefficients of a filter in MHz stay in the range of floats.
    scale = max((abs(float(a[k] / a[-1])) ** (1 / (n - k)) for k in range(n) if a[k]), default=1.0)
    monic = [float(c / a[-1]) / scale ** (n - k) for k, c in enumerate(a)]
    # Starting points that no symmetry of the polynomial maps onto each other, else two of them would stay together.
    roots = [(0.4 + 0.9j) ** k for k in range(n)]
    for _ in range(500):
        moved = 0.0
        for k, x in enumerate(roots):
            others = 1 + 0j
            for j, y in enumerate(roots):
                others *= x - y if j != k else 1
            step = value(monic, x) / others
            roots[k] = x - step
            moved = max(moved, abs(step))
        if moved < 1e-15:
            break
    slopes = [k * c for k, c in enumerate(monic)][1:]
    # One step of Newton on the polynomial itself takes back what the product of differences rounded.
    return [scale * (x - value(monic, x) / value(slopes, x)) for x in roots]
