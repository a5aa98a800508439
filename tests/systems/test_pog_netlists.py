"""The published example netlists of POG_Modeler, derived and compared at random exact points."""

import random
from fractions import Fraction
from importlib.resources import files
from pathlib import Path

import pytest

import tellegen as tg
from notations.netlist.netlist_expectations import EXPECTED
from tellegen.expressions import Expression, evaluate_exact, parse

FOLDER = Path(str(files("tellegen"))) / "systems" / "pog_netlists"
Rows = list[list[Fraction]]


@pytest.mark.parametrize("name", list(EXPECTED))
def test_an_example_netlist_has_the_matrices_of_its_circuit(name: str) -> None:
    expected = EXPECTED[name]
    system = tg.derive(FOLDER / f"{name}.txt")
    assert system.states == expected.states
    assert system.inputs == expected.inputs
    generator = random.Random(name)
    point = {p: Fraction(generator.randint(1, 10**4), generator.randint(1, 10**4)) for p in system.parameters}

    def numbers(rows: tuple[tuple[Expression, ...], ...]) -> Rows:
        return [[evaluate_exact(entry, point) for entry in row] for row in rows]

    def wanted(rows: tuple[tuple[str, ...], ...]) -> Rows:
        return numbers(tuple(tuple(parse(entry) for entry in row) for row in rows))

    def turned(rows: Rows) -> Rows:
        return [[-e for e in row] if i in expected.turned else row for i, row in enumerate(rows)]

    inertias = wanted((expected.L,))[0]
    diagonal = [[inertias[i] if i == j else Fraction(0) for j in range(len(inertias))] for i in range(len(inertias))]
    assert numbers(system.matrices["L"]) == diagonal
    assert [[-e for e in row] for row in numbers(system.matrices["A"])] == wanted(expected.A)
    assert numbers(system.matrices["B"]) == wanted(expected.B)
    assert numbers(system.matrices["C"]) == turned(wanted(expected.C))
    assert numbers(system.matrices["D"]) == turned(wanted(expected.D))
