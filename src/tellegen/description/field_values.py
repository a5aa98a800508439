"""What the numbers of fields say: a storage field that stores negative energy, and a resistive field that gives power.

Matrices are judged by elimination, which also gives the direction to name. Laws are judged at sampled points: a warning where one
of them gives power; no warning is no proof.
"""

import random
from collections.abc import Iterable, Mapping, Sequence

from tellegen.core.domains import other_side
from tellegen.core.errors import Finding
from tellegen.description import field_rules as rules
from tellegen.description.model import Element
from tellegen.description.relations import MatrixField
from tellegen.description.resistive_laws import argument_letters
from tellegen.expressions import Expression

_ROUNDING = 1e-9
_SIZES = tuple(10.0**k for k in range(-3, 4))
_SAMPLES = 40
"""Random directions for the arguments of laws, each tried at all sizes."""

Numbers = list[list[float]]


def check_fields(
    fields: Iterable[MatrixField], elements: Mapping[str, Element], values: Mapping[str, float]
) -> tuple[list[Finding], list[Finding]]:
    """Errors and warnings about fields whose numbers are known."""
    errors: list[Finding] = []
    warnings: list[Finding] = []
    for field in fields:
        members = [elements[name] for name in field.members]
        if members[0].kind.role == "storage" and field.energy is None:
            errors += _negative(field, members, values)
        elif members[0].kind.role == "resistive":
            warnings += _active_laws(field, members, values) if field.letters else _active(field, members, values)
    return errors, warnings


def _negative(field: MatrixField, members: Sequence[Element], values: Mapping[str, float]) -> Iterable[Finding]:
    found = _numbers(field.matrix, values)
    direction = None if found is None else negative_direction(found)
    if found is not None and direction is not None:
        shown = _shown([m.kind.domain.power(m.kind.side).letters[0] for m in members], direction)
        what = f"the field '{field.name}' stores {_form(found, direction) / 2:.4g} J at {shown}"
        fix = "check the entries beside the diagonal: the matrix is to be positive definite"
        yield rules.NEGATIVE_FIELD.finding(what, where=field.name, fix=fix, place=field.place)


def _active(field: MatrixField, members: Sequence[Element], values: Mapping[str, float]) -> Iterable[Finding]:
    found = _numbers(field.matrix, values)
    direction = None if found is None else negative_direction(found)
    if found is not None and direction is not None:
        letters = [m.kind.domain.power(other_side(m.kind.side)).letters[0] for m in members]
        yield _gives_power(field, _shown(letters, direction), -_form(found, direction))


def _gives_power(field: MatrixField, shown: str, power: float) -> Finding:
    what = f"the field '{field.name}' is active: it gives {power:.4g} W at {shown}"
    fix = "change signs if it is meant to dissipate"
    return rules.ACTIVE_FIELD.finding(what, where=field.name, fix=fix, place=field.place)


def _active_laws(field: MatrixField, members: Sequence[Element], values: Mapping[str, float]) -> Iterable[Finding]:
    """The worst of the sampled points, if it gives power."""
    laws = [member.law for member in members if member.law is not None]
    known = {name for law in laws for name in law.expression.free_symbols} - set(field.letters)
    if not known <= values.keys():
        return
    generator = random.Random(field.name)  # the same points for the same file
    worst: tuple[float, dict[str, float]] | None = None
    for _ in range(_SAMPLES):
        direction = [generator.uniform(-1, 1) for _ in laws]
        for size in _SIZES:
            at = {letter: size * x for letter, x in zip(field.letters, direction, strict=True)}
            shares = _powers([law.expression for law in laws], list(at.values()), {**values, **at})
            scale = sum(map(abs, shares))
            share = sum(shares) / scale if scale else 0.0
            if share < -_ROUNDING and (worst is None or share < worst[0]):
                worst = share, at
    if worst is not None:
        at = worst[1]
        power = -sum(_powers([law.expression for law in laws], list(at.values()), {**values, **at}))
        letters = argument_letters([m.kind for m in members], [law.gives for law in laws])
        shown = ", ".join(f"{letter} = {at[letter]:.3g}" for letter in letters)
        yield _gives_power(field, shown, power)


def _powers(laws: Sequence[Expression], told: Sequence[float], values: Mapping[str, float]) -> list[float]:
    """What each port takes; nothing where a law has no value."""
    try:
        found = [law.evaluate(values) * x for law, x in zip(laws, told, strict=True)]
    except (ArithmeticError, ValueError):
        return []
    return found if all(isinstance(x, float | int) for x in found) else []


# -- numbers -------------------------------------------------------------------------------------------------------------------


def _numbers(matrix: Sequence[Sequence[Expression]], values: Mapping[str, float]) -> Numbers | None:
    """The symmetric part of a matrix; None where a value is missing."""
    if any(not e.free_symbols <= values.keys() for row in matrix for e in row):
        return None
    try:
        found = [[float(e.evaluate(values)) for e in row] for row in matrix]
    except (ArithmeticError, ValueError, TypeError):
        return None
    n = range(len(found))
    return [[(found[i][j] + found[j][i]) / 2 for j in n] for i in n]


def negative_direction(S: Numbers) -> list[float] | None:
    """A direction x with x^T S x < 0 for a symmetric matrix that has one beyond rounding; None for others."""
    n = len(S)
    scale = [abs(S[i][i]) ** 0.5 for i in range(n)]
    size = max(scale, default=0.0)
    scale = [x if x > 1e-12 * size else size or 1.0 for x in scale]
    rest = [[S[i][j] / scale[i] / scale[j] for j in range(n)] for i in range(n)]
    # rest = T^T S T, column k of T being the direction in which its k-th entry is measured
    T = [[float(i == j) / scale[i] for j in range(n)] for i in range(n)]
    open_ = list(range(n))
    while open_:
        k = max(open_, key=lambda i: rest[i][i])
        bad = next((i for i in open_ if rest[i][i] < -_ROUNDING), None)
        if bad is not None:
            return _unit([row[bad] for row in T])
        if rest[k][k] <= _ROUNDING:
            return _saddle(rest, T, open_)
        open_.remove(k)
        for j in open_:
            ratio = rest[k][j] / rest[k][k]
            for i in open_:
                rest[i][j] -= rest[i][k] * ratio
            for row in T:
                row[j] -= row[k] * ratio
    return None


def _saddle(rest: Numbers, T: Numbers, open_: Sequence[int]) -> list[float] | None:
    """With nothing left on the diagonal, an entry beside it is negative in one of its two diagonals."""
    for a in open_:
        for b in open_:
            if a < b and abs(rest[a][b]) > _ROUNDING**0.5:
                sign = -1.0 if rest[a][b] > 0 else 1.0
                return _unit([row[a] + sign * row[b] for row in T])
    return None


def _unit(x: Sequence[float]) -> list[float]:
    largest = max(map(abs, x))
    return [v / largest for v in x]


def _form(S: Numbers, x: Sequence[float]) -> float:
    return sum(S[i][j] * x[i] * x[j] for i in range(len(x)) for j in range(len(x)))


def _shown(letters: Sequence[str], direction: Sequence[float]) -> str:
    pairs = zip(letters, direction, strict=True)
    return ", ".join(f"{letter}_{k} = {x:.3g}" for k, (letter, x) in enumerate(pairs, 1) if abs(x) > 1e-6)
