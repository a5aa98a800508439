"""Smaller models by projection: pyMOR chooses a basis V, and V^T L V, V^T A V, V^T B are a POG again.

A congruent projection keeps what makes a model physical: L stays symmetric and positive, and W, the symmetric part of
[[A, -B], [C, D]], stays positive semidefinite, because [[V, 0], [0, I]] multiplies it from both sides. Bases come from the
iterative rational Krylov algorithm for port-Hamiltonian systems (S. Gugercin, R. V. Polyuga, C. Beattie and A. van der Schaft,
Automatica 48, 2012), or, for symmetric models, from balanced truncation, where both of its bases are the same.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, final

import numpy as np
from numpy.typing import NDArray

from tellegen.causality import assign_causality
from tellegen.core.errors import TellegenError
from tellegen.core.names import did_you_mean, listing
from tellegen.core.optional import needed
from tellegen.description.opening import AnyModel, as_model
from tellegen.equations.assembly import derive_equations
from tellegen.equations.matrices import Matrix
from tellegen.equations.system import Algebraic, EquationSystem, MatrixName
from tellegen.equations.values import number_of
from tellegen.expressions import ZERO, Expression, number, symbol
from tellegen.graph import lower
from tellegen.studies import rules

Array = NDArray[np.float64]
Method = Literal["irka", "balanced"]
METHODS = ("irka", "balanced")

SYMMETRIC = 1e-9
"""Asymmetry, relative to the largest entry, below which a matrix is symmetric."""


@final
@dataclass(frozen=True, eq=False)
class Projection:
    """A small model `equations` in numbers, with states z_1, z_2, ..., and the basis V of x = V z, rows by the states of `full`."""

    full: EquationSystem
    equations: EquationSystem
    V: Array
    method: Method


def project(model: AnyModel, states: int, *, method: Method = "irka") -> Projection:
    """A linear model with fewer states that keeps L symmetric and positive and W positive semidefinite; made with pyMOR.

    `method` is "irka", which matches moments of the transfer matrix at points that it finds, or "balanced", for models whose A is
    symmetric (one kind of storage), where truncation has the usual bound of the error.

    Raises: ReductionError (T306) when the model is not linear or has no fewer states; ExportError (X001) where pyMOR is missing.
    """
    if method not in METHODS:
        fix = did_you_mean(method, METHODS) or f"choose one of {listing(METHODS)}"
        raise rules.NOT_PROJECTABLE.error(f"'{method}' is not a method of projection", fix=fix)
    system = derive_equations(assign_causality(lower(as_model(model))))
    _refuse(system, states)
    m = {name: _numbers(system, name) for name in ("L", "A", "B", "C", "D")}
    scale = 1 / np.sqrt(np.diag(m["L"]))  # states whose squares are energies, so that units do not decide
    scaled = _of_equal_ports(_congruent(m, np.diag(scale)))
    basis = _irka(scaled, states) if method == "irka" else _balanced(scaled, states, system.name)
    V = scale[:, None] * _orthonormal(basis, scaled["L"])
    return Projection(system, _small(system, _congruent(m, V), V, m["L"]), V, method)


def _refuse(system: EquationSystem, states: int) -> None:
    rates = [name for name in ("N", "B_1", "D_1") if not system.is_zero(name)]
    if not system.linear or system.algebraic.unknowns or rates:
        what = f"rates in {listing(rates)}" if rates and system.linear else "laws that are not linear"
        raise _not_projectable(f"'{system.name}' has {what}", "linearise it first, or reduce it by limits")
    if not 0 < states < len(system.states):
        raise _not_projectable(
            f"{states} states are asked for, and '{system.name}' has {len(system.states)}",
            f"ask for 1 to {len(system.states) - 1}" if len(system.states) > 1 else "leave it as it is",
        )


def _not_projectable(what: str, fix: str) -> TellegenError:
    return rules.NOT_PROJECTABLE.error(what, fix=fix)


def _numbers(system: EquationSystem, name: MatrixName | str) -> Array:
    values = system.values()
    for word, e in system.where.items():
        values[word] = number_of(e, values, system.name)
    rows = system.matrices[name]  # type: ignore[index]
    widths = {"L": len(system.states), "A": len(system.states), "C": len(system.states)}
    found = [[number_of(e, values, system.name) if e is not ZERO else 0.0 for e in row] for row in rows]
    return np.array(found).reshape(len(rows), widths.get(name, len(system.inputs)))


def _congruent(m: dict[str, Array], V: Array) -> dict[str, Array]:
    return {"L": V.T @ m["L"] @ V, "A": V.T @ m["A"] @ V, "B": V.T @ m["B"], "C": m["C"] @ V, "D": m["D"]}


def _of_equal_ports(m: dict[str, Array]) -> dict[str, Array]:
    """The model with inputs in units in which all act with the same strength: pascals and volts then count alike."""
    strength = np.linalg.norm(m["B"], axis=0)
    per = np.diag(1 / np.where(strength > 0, strength, 1.0))
    return {**m, "B": m["B"] @ per, "C": per @ m["C"], "D": per @ m["D"] @ per}


# -- bases -----------------------------------------------------------------------------------------------------------------------


def _pymor(module: str) -> Any:
    found = needed(f"pymor.{module}", purpose="a projection", extra="pymor")
    needed("pymor.core.logger", purpose="a projection", extra="pymor").set_log_levels({"pymor": "ERROR"})
    return found


def _irka(m: dict[str, Array], states: int) -> Array:
    A, B, Ct = m["A"], m["B"], m["C"].T
    full = _pymor("models.iosys").PHLTIModel.from_matrices(
        (A.T - A) / 2,
        (A + A.T) / 2,
        (B + Ct) / 2,
        (Ct - B) / 2,
        (m["D"] + m["D"].T) / 2,
        (m["D"] - m["D"].T) / 2,
        m["L"],
    )
    inputs = max(B.shape[1], 1)
    directions = np.eye(inputs)[np.arange(states) % inputs]
    start = {"sigma": _points(m, states), "b": directions, "c": directions}
    reductor = _pymor("reductors.ph.ph_irka").PHIRKAReductor(full)
    reductor.reduce(start, tol=1e-6)
    return _columns(reductor.V, len(A))


def _points(m: dict[str, Array], states: int) -> Array:
    """Where the search for interpolation points begins: spread over the rates that rows of the equations show."""
    rates = np.abs(m["A"]).sum(axis=1) / np.diag(m["L"])
    rates = rates[rates > 0]
    if not len(rates):
        return np.ones(states)
    low, high = rates.min() / len(m["A"]), rates.max()
    return np.asarray(np.geomspace(low, high, states))


def _balanced(m: dict[str, Array], states: int, name: str) -> Array:
    A, B = m["A"], m["B"]
    # With C = +-B^T, whatever the signs, both Gramians are the same, and so are the two bases.
    if _differ(A, A.T) or _differ(B @ B.T, m["C"].T @ m["C"]):
        raise _not_projectable(f"'{name}' is not symmetric: energy swings between storages of two kinds", "use irka")
    full = _pymor("models.iosys").LTIModel.from_matrices(-A, B, m["C"], m["D"], m["L"])
    reductor = _pymor("reductors.bt").BTReductor(full)
    reductor.reduce(states)
    return _columns(reductor.V, len(A))


def _differ(one: Array, two: Array) -> bool:
    return bool(np.abs(one - two).max(initial=0.0) > SYMMETRIC * np.abs(one).max(initial=0.0))


def _columns(V: Any, rows: int) -> Array:
    found = np.asarray(V.to_numpy(), dtype=float)
    return found if found.shape[0] == rows else found.T


def _orthonormal(V: Array, L: Array) -> Array:
    """The same space with V^T L V = I."""
    C = np.linalg.cholesky((L + L.T) / 2).T
    Q = np.linalg.qr(C @ V)[0]
    return np.asarray(np.linalg.solve(C, Q))


# -- the small model -------------------------------------------------------------------------------------------------------------


def _small(system: EquationSystem, m: dict[str, Array], V: Array, L: Array) -> EquationSystem:
    states = tuple(f"z_{k + 1}" for k in range(V.shape[1]))
    m["L"] = np.eye(len(states))  # V is orthonormal in energy; what rounding leaves is no part of the model
    written: dict[MatrixName, Matrix] = {name: _zeros(len(rows), 0) for name, rows in system.matrices.items()}
    n, inputs, outputs = len(states), len(system.inputs), len(system.outputs)
    written |= {"N": _zeros(n, n), "B_1": _zeros(n, inputs), "D_1": _zeros(outputs, inputs)}
    written |= {"L": _rows(m["L"]), "A": _rows(m["A"]), "B": _rows(m["B"]), "C": _rows(m["C"]), "D": _rows(m["D"])}
    z, u = [symbol(name) for name in states], [symbol(name) for name in system.inputs]
    W = np.block([[m["A"], -m["B"]], [m["C"], m["D"]]])
    return replace(
        system,
        states=states,
        parameters={},
        matrices=written,
        vectors={"f": (ZERO,) * n, "f_y": (ZERO,) * outputs},
        stored_energy=_quadratic(m["L"] / 2, z),
        dissipated_power=_quadratic((W + W.T) / 2, [*z, *u]),
        algebraic=Algebraic(),
        where={},
        dependent={},
        initial=_start(system, states, V, L),
        displacements={},
        origin=None,
    )


def _start(system: EquationSystem, states: tuple[str, ...], V: Array, L: Array) -> dict[str, Expression]:
    """The start nearest in energy to that of the full model."""
    values = system.values()
    x = np.array([number_of(system.initial.get(name, ZERO), values, system.name) for name in system.states])
    return {name: number(float(start)) for name, start in zip(states, V.T @ L @ x, strict=True)} if x.any() else {}


def _quadratic(M: Array, names: Sequence[Expression]) -> Expression:
    found: Expression = ZERO
    for i, a in enumerate(names):
        for j, b in enumerate(names[: i + 1]):
            factor = float(M[i, j] + (M[j, i] if i != j else 0.0))
            if factor:
                found += number(factor) * a * b
    return found


def _rows(M: Array) -> Matrix:
    return tuple(tuple(number(float(e)) for e in row) for row in M)


def _zeros(rows: int, columns: int) -> Matrix:
    return ((ZERO,) * columns,) * rows
