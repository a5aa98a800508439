"""Gains that are too long to be written: each has a name made from its value, so that equal gains have equal names.

The value is taken modulo a prime at two random points. A name differs from that of another gain where their values do, and a gain
of the opposite value has the same name with a minus sign. So one sees what is zero, what is equal and what is skew.
"""

from collections.abc import Iterable, Sequence

from tellegen.expressions import ONE, ZERO, Expression, symbol
from tellegen.expressions.elimination import Elimination, Residues
from tellegen.expressions.nodes import PRIME

Equation = tuple[str, list[tuple[str, Expression]]]
"""A signal, and the signals that it is the sum of, each with its gain."""
OUTLINE = "gain "
"""How the names of outlines begin; no name of a model has a space."""


class UndeterminedError(Exception):
    """Some signals of a scheme follow from nothing: causes were turned that cannot be."""


def is_outlined(expression: Expression) -> bool:
    """Whether something in an expression is known by its value only."""
    return any(name.startswith(OUTLINE) for name in expression.free_symbols)


def outlined_gains(
    equations: Sequence[Equation], signals: Iterable[str], ends: Sequence[str]
) -> dict[str, dict[str, Expression]]:
    """For each signal asked for, its gains from the signals that no equation decides, as outlines."""
    names = list(signals)
    column = {name: k for k, name in enumerate(names)}
    one, two = (_expressed(equations, column, ends, which) for which in (0, 1))
    return {
        end: {
            names[c]: _outline(one[column[end]].get(c, 0), two[column[end]].get(c, 0))
            for c in sorted(one[column[end]].keys() | two[column[end]].keys())
        }
        if column[end] in one
        else {end: ONE}
        for end in ends
    }


def _expressed(
    equations: Sequence[Equation], column: dict[str, int], ends: Sequence[str], which: int
) -> dict[int, dict[int, int]]:
    """The rows of the signals asked for, at one of the two random points."""
    rows = []
    for output, terms in equations:
        row = {column[output]: PRIME - 1}
        for name, gain in terms:
            if gain is not ZERO:
                row[column[name]] = _residue(gain, which)
        rows.append(row)
    elimination: Elimination[int] = Elimination(rows, Residues())
    if elimination.eliminate_all([column[output] for output, _ in equations]):
        raise UndeterminedError
    return {c: dict(row) for c, row in elimination.express([column[end] for end in ends]).items()}


def _residue(gain: Expression, which: int) -> int:
    found = gain.residues()
    if found is None:
        raise ZeroDivisionError("an expression has a pole at a random point")
    return found[which]


def _outline(first: int, second: int) -> Expression:
    """A number for zero and one, else a name; of a value and its opposite, the smaller gives the name."""
    if first > PRIME - first:
        return -_outline(-first % PRIME, -second % PRIME)
    if first == second and first <= 1:
        return ONE if first else ZERO
    return symbol(f"{OUTLINE}{first:x}_{second:x}")
