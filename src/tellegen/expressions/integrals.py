"""Integrals without a formula: from zero to a value, found by quadrature where somebody asks for a number."""

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

from tellegen.expressions import nodes
from tellegen.expressions.canonical import ZERO, symbol

BOUND = "@"
"""What an integral runs over, inside it."""

_NODES = (
    0.991455371120813,
    0.949107912342759,
    0.864864423359769,
    0.741531185599394,
    0.586087235467691,
    0.405845151377397,
    0.207784955007898,
    0.0,
)
_KRONROD = (
    0.022935322010529,
    0.063092092629979,
    0.104790010322250,
    0.140653259715525,
    0.169004726639267,
    0.190350578064785,
    0.204432940075298,
    0.209482141084728,
)
_GAUSS = (0.129484966168870, 0.279705391489277, 0.381830050505119, 0.417959183673469)
"""Gauss and Kronrod's rules with 7 and 15 points (QUADPACK)."""

MOST_PIECES = 400
CLOSE = 1e-12
"""The share of the integral of the size to which pieces are refined, as far as rounding lets them."""


def integral(integrand: nodes.Expression, upper: nodes.Expression, letter: str = "x") -> nodes.Expression:
    """The integral of a formula of BOUND from zero to `upper`; `letter` is what it runs over in print."""
    if integrand is ZERO or upper is ZERO:
        return ZERO
    names = sorted(integrand.free_symbols - {BOUND})
    pattern = integrand.substitute({name: symbol(place(k)) for k, name in enumerate(names)})
    return nodes.intern_integral(pattern, letter, (upper, *map(symbol, names)))


def place(k: int) -> str:
    """The name of a place inside an integral."""
    return f"{BOUND}{k}"


def inside(node: nodes.DefiniteIntegral, bound: nodes.Expression) -> nodes.Expression:
    """What is integrated, over `bound` and what stands for the places."""
    told = {place(k): arg for k, arg in enumerate(node.arguments[1:])}
    return node.pattern.substitute({**told, BOUND: bound})


def slope(node: nodes.DefiniteIntegral, slopes: Mapping[nodes.Expression, nodes.Expression]) -> nodes.Expression:
    """The derivative of an integral: by its upper end, and of what is integrated."""
    upper, *others = node.arguments
    found = inside(node, upper) * slopes[upper]
    for k, arg in enumerate(others):
        if slopes[arg] is not ZERO:
            by_place = nodes.intern_integral(node.pattern.derivative(place(k)), node.letter, node.arguments)
            found = found + by_place * slopes[arg]
    return found


def value_of_integral(node: nodes.DefiniteIntegral, values: list[float]) -> float:
    """The value of an integral whose arguments have these values.

    Raises: what `evaluate` raises where what is integrated has no value.
    """
    upper, *others = values
    known = {place(k): value for k, value in enumerate(others)}
    return quadrature(lambda x: node.pattern.evaluate({**known, BOUND: x}), 0.0, upper)


def quadrature(f: Callable[[float], float], start: float, end: float) -> float:
    """The integral of a function; the piece with the largest error is halved, until all errors together are small."""
    pieces = [_piece(f, start, end)]
    while len(pieces) < MOST_PIECES:
        if sum(piece.error for piece in pieces) <= CLOSE * sum(piece.size for piece in pieces):
            break
        worst = max(pieces, key=lambda piece: piece.error)
        middle = (worst.start + worst.end) / 2
        pieces.remove(worst)
        pieces += [_piece(f, worst.start, middle), _piece(f, middle, worst.end)]
    return math.fsum(piece.value for piece in pieces)


class _Piece(NamedTuple):
    """The integral over a piece, by how much two rules differ there, and the integral of the size."""

    start: float
    end: float
    value: float
    error: float
    size: float


def _piece(f: Callable[[float], float], start: float, end: float) -> _Piece:
    middle, half = (start + end) / 2, (end - start) / 2
    found, rough, size = 0.0, 0.0, 0.0
    for k, (x, weight) in enumerate(zip(_NODES, _KRONROD, strict=True)):
        # The point in the middle stands once.
        values = [f(middle + half * x), f(middle - half * x)] if x else [f(middle)]
        found += weight * sum(values)
        size += weight * sum(map(abs, values))
        rough += _GAUSS[k // 2] * sum(values) if k % 2 else 0.0
    return _Piece(start, end, found * half, abs((found - rough) * half), abs(size * half))
