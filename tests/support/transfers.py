"""Transfer matrices with numbers, to compare models whose states have other names or coordinates."""

from collections.abc import Mapping

import numpy as np
import pytest

import tellegen as tg
from tellegen.equations.system import EquationSystem, MatrixName
from tellegen.expressions import ZERO
from tellegen.model.model import Model

POINTS = (0.7j, 30j + 2, 900j, 5.0)
"""Where two rational functions are compared: fast, slow, damped and real."""


def transfer_at(system: EquationSystem, s: complex, values: Mapping[str, float] | None = None) -> np.ndarray:
    """C (s L + A)^-1 B + D of a linear system whose entries are numbers once `values` are put in."""
    known = dict(values or {})
    for name, expression in system.where.items():
        known[name] = expression.evaluate(known)
    more: tuple[MatrixName, ...] = ("N", "B_1", "D_1")
    assert all(
        entry is ZERO for name in more if name in system.matrices for row in system.matrices[name] for entry in row
    )

    def matrix(name: MatrixName, rows: int, columns: int) -> np.ndarray:
        entries = [[entry.evaluate(known) for entry in row] for row in system.matrices[name]]
        return np.array(entries, dtype=float).reshape(rows, columns)

    n, m, p = len(system.states), len(system.inputs), len(system.outputs)
    L, A, B = matrix("L", n, n), matrix("A", n, n), matrix("B", n, m)
    C, D = matrix("C", p, n), matrix("D", p, m)
    found: np.ndarray = C @ np.linalg.solve(s * L + A, B) + D
    return found


def numeric(model: Model) -> EquationSystem:
    """The equations of a linear model with numbers."""
    found = tg.derive(model, numeric=True, eliminate=True)
    assert isinstance(found, EquationSystem)
    return found


def same_transfer(one: Model, two: Model, at: Mapping[str, float] | None = None) -> None:
    """Two models answer their inputs, in this order, alike; `at` sets displacements by how their names end."""
    first, second = (_linear(model, at or {}) for model in (one, two))
    assert len(first.states) == len(second.states)
    for s in POINTS:
        assert transfer_at(first, s) == pytest.approx(transfer_at(second, s), rel=1e-9, abs=1e-12)


def _linear(model: Model, at: Mapping[str, float]) -> EquationSystem:
    if not model.displacements:
        return numeric(model)
    point = {name: value for name in model.displacements for end, value in at.items() if name.endswith(end)}
    return tg.linearise(model, at=point)
