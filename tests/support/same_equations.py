"""Whether two systems of equations say the same, whatever the order of their states and inputs and however entries are written."""

import contextlib
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tellegen.equations.system import EquationSystem, MatrixName, VectorName
from tellegen.expressions import Expression
from tellegen.schemes.names import plain_name

MATRICES: Mapping[MatrixName, tuple[bool, bool]] = {
    "L": (True, True),
    "A": (True, True),
    "N": (True, True),
    "B": (True, False),
    "C": (False, True),
    "D": (False, False),
    "B_1": (True, False),
    "D_1": (False, False),
}
"""The matrices of the POG form, and whether their rows and columns are those of states, else of inputs."""

VECTORS: Mapping[VectorName, bool] = {"f": True, "f_y": False}


def differences(one: EquationSystem, two: EquationSystem, points: int = 2) -> list[str]:
    """What differs, in words; empty where both have the same values at random points.

    Variables are matched by their names; where these are others, in their order.
    """
    for a, b in ((one.states, two.states), (one.inputs, two.inputs), (one.displacements, two.displacements)):
        if len(a) != len(b):
            return [f"{sorted(a)} became {sorted(b)}"]
    pair = _Pair(one, two)
    found = [line for number in range(points) for line in pair.at_a_point(random.Random(number))]
    values = {plain_name(name): value for name, value in two.values().items()}
    given = {plain_name(name): value for name, value in one.values().items()}
    return found + [
        f"{name} = {value:g} became {values[name]:g}"
        for name, value in given.items()
        if name in values and abs(value - values[name]) > 1e-12 * abs(value)
    ]


@dataclass
class _Pair:
    one: EquationSystem
    two: EquationSystem

    def at_a_point(self, chance: random.Random) -> Iterator[str]:
        one, two = self.one, self.two
        states, inputs = _order(one.states, two.states), _order(one.inputs, two.inputs)
        matched = [
            (one.states, two.states),
            (one.inputs, two.inputs),
            (tuple(one.displacements), tuple(two.displacements)),
        ]
        here: dict[str, float] = {}
        there: dict[str, float] = {}
        for names, others in matched:
            for name, k in zip(names, _order(names, others), strict=True):
                here[name] = there[others[k]] = chance.uniform(0.5, 2.0)
        known = {plain_name(name): chance.uniform(0.5, 2.0) for name in sorted(one.parameters)}
        here, there = _values(one, here, known), _values(two, there, known)
        for name, (rows, columns) in MATRICES.items():
            if name not in one.matrices or name not in two.matrices:
                continue
            for i, k in enumerate(states if rows else inputs):
                for j, m in enumerate(states if columns else inputs):
                    entries = one.matrices[name][i][j], two.matrices[name][k][m]
                    yield from _apart(f"{name}[{i + 1},{j + 1}]", *entries, here, there)
        for word, of_states in VECTORS.items():
            lines, others_ = one.vectors.get(word) or (), two.vectors.get(word) or ()
            if bool(lines) != bool(others_):
                yield f"{word} is there in one of them alone"
                continue
            for i, k in enumerate((states if of_states else inputs) if lines else ()):
                yield from _apart(f"{word}[{i + 1}]", lines[i], others_[k], here, there)


def _order(one: Sequence[str], two: Sequence[str]) -> list[int]:
    plain = [plain_name(name) for name in two]
    if sorted(map(plain_name, one)) != sorted(plain):
        return list(range(len(two)))
    return [plain.index(plain_name(name)) for name in one]


def _values(
    system: EquationSystem, variables: Mapping[str, float], parameters: Mapping[str, float]
) -> dict[str, float]:
    """The values of a point in the names of a system; what follows from others is worked out."""
    known = {name: parameters[plain_name(name)] for name in system.parameters if plain_name(name) in parameters}
    known |= variables
    made = {name: e for name, e in system.parameters.items() if e is not None and name not in known}
    for name, e in {**made, **system.where}.items():
        with contextlib.suppress(
            ValueError, KeyError, ArithmeticError
        ):  # what has no value here stands in entries that have none
            known[name] = e.evaluate(known)
    return known


def _apart(
    where: str, one: Expression, two: Expression, here: Mapping[str, float], there: Mapping[str, float]
) -> Iterator[str]:
    try:
        a = one.evaluate(here)
    except (ValueError, KeyError, ArithmeticError):
        return
    try:
        b = two.evaluate(there)
    except (ValueError, KeyError, ArithmeticError):
        yield f"{where}: {one} is {a:.6g}, {two} has no value"
        return
    if abs(a - b) > 1e-9 * (1 + abs(a)):
        yield f"{where}: {one} is {a:.6g}, {two} is {b:.6g}"
