"""Transfer matrices with numbers, to compare models whose states have other names or coordinates."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest

import tellegen as tg
from tellegen.analysis.linear_model import StateSpace
from tellegen.conditioning import LagrangeSystem
from tellegen.equations.forms.descriptor import DescriptorSystem
from tellegen.equations.forms.hamiltonian import HamiltonianName, HamiltonianSystem
from tellegen.equations.forms.transfer import TransferMatrix
from tellegen.equations.system import EquationSystem, MatrixName
from tellegen.expressions import ONE, ZERO, Expression
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


# The forms of one model, each by its own equations


def form_at(form: object, s: complex) -> np.ndarray:
    """The transfer matrix of a linear form with numbers, from inputs to conjugate outputs."""
    if isinstance(form, EquationSystem):
        return transfer_at_with_rates(form, s)
    if isinstance(form, DescriptorSystem):
        return descriptor_at(form, s)
    if isinstance(form, HamiltonianSystem):
        return hamiltonian_at(form, s)
    if isinstance(form, TransferMatrix):
        assert s.imag == 0.0, "formulas have real values"
        known = {form.variable: s.real}
        for name, e in form.where.items():
            known[name] = e.evaluate(known)
        return np.array([[e.evaluate(known) for e in row] for row in form.entries])
    assert isinstance(form, StateSpace)
    found: np.ndarray = form.C @ np.linalg.solve(s * np.eye(len(form.A)) - form.A, form.B) + form.D + s * form.D_1
    return found


def _numbers(matrix: Sequence[Sequence[Expression]], rows: int, columns: int) -> np.ndarray:
    return np.array([[e.evaluate({}) for e in row] for row in matrix], dtype=float).reshape(rows, columns)


def transfer_at_with_rates(system: EquationSystem, s: complex) -> np.ndarray:
    """C (s L + A + N)^-1 (B + s B_1) + D + s D_1."""
    n, m, p, at = len(system.states), len(system.inputs), len(system.outputs), system.matrices
    pencil = s * _numbers(at["L"], n, n) + _numbers(at["A"], n, n) + _numbers(at["N"], n, n)
    right = _numbers(at["B"], n, m) + s * _numbers(at["B_1"], n, m)
    direct = _numbers(at["D"], p, m) + s * _numbers(at["D_1"], p, m)
    found: np.ndarray = _numbers(at["C"], p, n) @ np.linalg.solve(pencil, right) + direct
    return found


def descriptor_at(form: DescriptorSystem, s: complex) -> np.ndarray:
    """H (s E - F)^-1 G + D."""
    assert not form.h
    size, inputs, outputs = len(form.unknowns), len(form.inputs), len(form.outputs)

    def dense(entries: Mapping[tuple[int, int], Expression], rows: int, columns: int) -> np.ndarray:
        found = np.zeros((rows, columns))
        for place, e in entries.items():
            found[place] = e.evaluate({})
        return found

    E, F, G = dense(form.E, size, size), dense(form.F, size, size), dense(form.G, size, inputs)
    found: np.ndarray = dense(form.H, outputs, size) @ np.linalg.solve(s * E - F, G.astype(complex))
    found += dense(form.D, outputs, inputs)
    return found


def hamiltonian_at(form: HamiltonianSystem, s: complex) -> np.ndarray:
    """(g + P)^T Q (s E - (J - R) Q)^-1 (g - P) + S + N, with Q the Hessian of the energy."""
    n, m, at = len(form.states), len(form.inputs), form.matrices

    def matrix(name: HamiltonianName, rows: int, columns: int) -> np.ndarray:
        return _numbers(at[name], rows, columns) if name in at else np.zeros((rows, columns))

    E = matrix("E", n, n) if "E" in at else np.eye(n)
    Q = _numbers([[e.derivative(x) for x in form.states] for e in form.grad_H], n, n)
    g, P = matrix("g", n, m), matrix("P", n, m)
    pencil = s * E + matrix("E_1", n, n) - (matrix("J", n, n) - matrix("R", n, n)) @ Q
    found: np.ndarray = (g + P).T @ Q @ np.linalg.solve(pencil, (g - P).astype(complex))
    found += matrix("S", m, m) + matrix("N", m, m)
    return found


def lagrange_at(form: LagrangeSystem, s: complex) -> np.ndarray:
    """(s M + C + R + K Q / s)^-1 W, from the inputs to the speeds; K the Hessian of what the springs hold, q' = Q nu."""
    n, m, k = len(form.nu), len(form.tau), len(form.q)
    M, C, R, W = (_numbers(form.matrices[name], n, c) for name, c in (("M", n), ("C", n), ("R", n), ("W", m)))
    K = _numbers([[e.derivative(q) for q in form.q] for e in form.G], n, k)
    Q = _numbers([[e.derivative(v) for v in form.nu] for e in form.kinematics.values()], k, n)
    found: np.ndarray = np.linalg.solve(s * M + C + R + K @ Q / s, W.astype(complex))
    return found


def speeds_at(system: EquationSystem, speeds: Sequence[str], s: complex) -> np.ndarray:
    """What `lagrange_at` gives, by the POG form."""
    rows = tuple(tuple(ONE if name == state else ZERO for state in system.states) for name in speeds)
    read = {**system.matrices, "C": rows, "D": ((ZERO,) * len(system.inputs),) * len(rows)}
    read["D_1"] = read["D"]
    return transfer_at_with_rates(replace(system, outputs=tuple(speeds), matrices=read), s)
