"""Displacements with a potential as states of the port-Hamiltonian form.

With the rates q' = Q grad_H + Q_u u of the displacements that V reads, the forces of the weights are -Q^T dV/dq, so that

    H + V,   grad_H = [.., dV/dq],   J with Q below and -Q^T beside it,   g with Q_u below

is the same model: its weights are storages like the others, and H is constant where nothing is lost or supplied.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tellegen.equations.derivation import derive_equations
from tellegen.equations.matrices import Matrix, zeros
from tellegen.equations.system import EquationSystem
from tellegen.expressions import ONE, ZERO, Expression, is_zero, symbol, total
from tellegen.expressions.elimination import with_definitions
from tellegen.graph import ResistiveLaw

if TYPE_CHECKING:
    from tellegen.equations.forms.hamiltonian import HamiltonianSystem


def without_weights(system: EquationSystem) -> EquationSystem | None:
    """The equations without what weights pull; None where there are none, or where other than speeds moves their displacements."""
    origin = system.origin
    weights = set() if origin is None else set(origin.graph.weights())
    if origin is None or not weights or _moved_rows(system) is None:
        return None
    # Open ends in their places: causality and all other equations stay as they are.
    ports = tuple(
        replace(port, law=ResistiveLaw(port.law.side, ZERO, invertible=False)) if k in weights else port
        for k, port in enumerate(origin.graph.ports)
    )
    return derive_equations(replace(origin, graph=replace(origin.graph, ports=ports)))


def _moved_rows(system: EquationSystem) -> Mapping[str, tuple[Expression, ...]] | None:
    """The rates of the displacements that V reads, by states and inputs; None where they are no sums of these."""
    known = (*system.states, *system.inputs)
    rows: dict[str, tuple[Expression, ...]] = {}
    for name in _read(system):
        rate = with_definitions(system.displacements[name], system.where)
        rows[name] = tuple(rate.derivative(other) for other in known)
        rest = rate - total(e * symbol(other) for e, other in zip(rows[name], known, strict=True))
        if any(not set(known).isdisjoint(e.free_symbols) for e in rows[name]) or not is_zero(rest):
            return None
    return rows


def _read(system: EquationSystem) -> list[str]:
    return [name for name in system.displacements if name in system.potential_energy.free_symbols]


def with_heights(form: "HamiltonianSystem", system: EquationSystem) -> "HamiltonianSystem":
    """The form of the equations without weights, with the displacements of the weights of `system` as states and V in H."""
    rows, V = _moved_rows(system), system.potential_energy
    assert rows is not None, "models without such rates keep their weights outside of H"
    # Freed models have further states, and energy variables other names: both keep the order of the states.
    places = [form.states.index(s) if s in form.states else k for k, s in enumerate(system.states)]
    n, k, m = len(form.states), len(rows), len(form.inputs)
    Q = tuple(_spread(row[: len(places)], places, n) for row in rows.values())
    Q_u = tuple(row[len(places) :] for row in rows.values())
    below = {"J": Q, "R": zeros(k, n), "g": Q_u, "P": zeros(k, m), "E": zeros(k, n), "E_1": zeros(k, n)}
    corners = {"E": tuple(tuple(ONE if i == j else ZERO for j in range(k)) for i in range(k))}
    matrices = dict(form.matrices)
    for name, row in below.items():
        if name in ("g", "P"):
            matrices[name] = (*form.matrices[name], *row)  # type: ignore[index]
        elif name in form.matrices:
            beside = _turned(Q, n) if name == "J" else zeros(n, k)
            matrices[name] = _bordered(form.matrices[name], beside, row, corners.get(name, zeros(k, k)))  # type: ignore[index]
    return replace(
        form,
        states=(*form.states, *rows),
        matrices=matrices,
        H=None if form.H is None else form.H + V,
        grad_H=(*form.grad_H, *(V.derivative(name) for name in rows)),
        f=(*form.f, *(ZERO for _ in rows)),
        displacements={name: rate for name, rate in form.displacements.items() if name not in rows},
    )


def _spread(row: Sequence[Expression], places: Sequence[int], count: int) -> tuple[Expression, ...]:
    found: list[Expression] = [ZERO] * count
    for place, e in zip(places, row, strict=True):
        found[place] = e
    return tuple(found)


def _turned(Q: Matrix, count: int) -> Matrix:
    return tuple(tuple(-row[i] for row in Q) for i in range(count))


def _bordered(matrix: Matrix, beside: Matrix, below: Matrix, corner: Matrix) -> Matrix:
    upper = tuple((*a, *b) for a, b in zip(matrix, beside, strict=True))
    return (*upper, *((*a, *b) for a, b in zip(below, corner, strict=True)))
