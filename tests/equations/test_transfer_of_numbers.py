"""Transfer matrices of linearised models of many states: what rounding left of a zero divides nothing."""

import random

import numpy as np
import pytest
from numpy.typing import NDArray

import tellegen as tg
from support.amount import SLOW
from tellegen.core.errors import CausalityError
from tellegen.equations.forms.transfer import transfer_matrix
from tellegen.equations.system import EquationSystem
from tellegen.expressions.elimination import with_definitions
from tellegen.notations.reading import read_model

KINDS = {"C": "capacitor", "L": "inductor", "R": "resistor"}
SIZES = (1 / 3, 0.1, 0.3, 0.7, 1.1, 3.0)
"""Few different ones: terms cancel but for their last digit."""


def network(chance: random.Random) -> str:
    """A mesh of five to nine nodes with one resistor that is curved."""
    nodes = [*(f"n{k}" for k in range(chance.randint(5, 9))), "gnd"]
    lines = ["V: {voltage source: [n0, gnd]}", f"J: {{current source: [gnd, {nodes[-2]}]}}"]

    def add(a: str, b: str, letters: str) -> None:
        letter, size = chance.choice(letters), chance.choice(SIZES)
        lines.append(f"{letter}{len(lines)}: {{{KINDS[letter]}: [{a}, {b}], {letter}: {size!r}}}")

    for k, node in enumerate(nodes[:-1]):
        add(node, chance.choice([*nodes[:k], "gnd"]) if k else "gnd", "CLRR")
    for _ in range(chance.randint(8, 14)):
        a, b = chance.sample(nodes, 2)
        add(a, b, "CLLRR")
    a, b = chance.sample(nodes, 2)
    lines.append(f"X: {{resistor: [{a}, {b}], law: 'i = {chance.choice(SIZES)!r}*v + 0.1*v^3'}}")
    given = f"V: {chance.choice(SIZES)!r}, J: {chance.choice(SIZES)!r}"
    return "\n  ".join(["system: x\nnetwork:", *lines]) + f"\nexperiment: {{until: 1 s, inputs: {{{given}}}}}\n"


def by_numbers(system: EquationSystem, s: float) -> NDArray[np.float64]:
    """The transfer matrix at a point by the matrices, in floating point with pivots of LAPACK."""
    values = system.values()
    m = {
        name: np.array(
            [[with_definitions(e, system.where).evaluate(values) for e in row] for row in matrix], dtype=float
        )
        for name, matrix in system.matrices.items()
    }
    found: NDArray[np.float64] = (
        m["C"] @ np.linalg.solve(m["L"] * s + m["A"], m["B"] + s * m["B_1"]) + m["D"] + s * m["D_1"]
    )
    return found


@pytest.mark.parametrize("seed", range(60) if SLOW else [29, 34, 50])
def test_large_linearised_models_answer_as_their_matrices_do(seed: int) -> None:
    try:
        system = tg.linearise(read_model(network(random.Random(seed))))
    except CausalityError:  # an unlucky mesh of sources
        return
    found = transfer_matrix(system)
    for s in (0.9, 1.7):
        at = {**system.values(), found.variable: s}
        for name, e in found.where.items():
            at[name] = e.evaluate(at)
        answer = np.array([[e.evaluate(at) for e in row] for row in found.entries])
        wanted = by_numbers(system, s)
        assert np.abs(answer - wanted).max() <= 1e-9 * np.abs(wanted).max()
