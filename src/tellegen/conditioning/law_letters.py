"""Parameters that are called like a variable of a law: a volume `V_1`, a length `x`. Laws of fields need other names for them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from tellegen.conditioning.opening import fresh
from tellegen.core.domains import Side
from tellegen.elements import ElementKind
from tellegen.equations.matrices import Matrix
from tellegen.expressions import Expression, symbol


def apart_from_letters(
    matrix: Matrix, names: Mapping[str, Expression], kinds: Sequence[ElementKind], parameters: Iterable[str]
) -> tuple[Matrix, dict[str, Expression]]:
    """The matrix of a law without names that its letters have, and `names` with those that stand there instead.

    `kinds` are those of the ports; letters of fields carry the number of the port.
    """
    letters = {letter for kind in kinds for letter in _letters(kind)}
    letters |= {f"{letter}_{k}" for letter in letters for k in range(1, len(kinds) + 1)}
    used = {name for row in matrix for e in row for name in e.free_symbols}
    taken = {*names, *used, *letters, *parameters}
    others = {name: fresh(f"{name}_value", taken) for name in sorted(used & letters)}
    renamed = {name: symbol(other) for name, other in others.items()}
    apart = tuple(tuple(e.substitute(renamed) for e in row) for row in matrix)
    return apart, {**names, **{other: symbol(name) for name, other in others.items()}}


def _letters(kind: ElementKind) -> Iterator[str]:
    """What laws call the variables of an element."""
    sides: tuple[Side, Side] = ("across", "through")
    for side in sides:
        yield side
        yield from kind.domain.power(side).letters
    yield from kind.domain.energy(kind.side).letters
