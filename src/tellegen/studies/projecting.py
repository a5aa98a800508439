"""Smaller linear models in numbers, by pyMOR: L, A, B, C, D go there, and a POG comes back.

Several bases are tried for each method (see `bases`), and the one that comes nearest in the largest gain over all frequencies is
taken. All of them keep L symmetric and positive and W positive semidefinite.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, final

import numpy as np
from numpy.typing import NDArray

from tellegen.causality import assign_causality
from tellegen.core.errors import TellegenError
from tellegen.core.names import did_you_mean, identifier, listing
from tellegen.description.model import Model
from tellegen.description.opening import AnyModel, as_model
from tellegen.equations.assembly import derive_equations
from tellegen.equations.display import Sign
from tellegen.equations.matrices import Matrix
from tellegen.equations.record import equations_to_record
from tellegen.equations.system import Algebraic, EquationSystem, MatrixName
from tellegen.equations.values import number_of
from tellegen.expressions import ZERO, Expression, number, symbol
from tellegen.graph import lower
from tellegen.reduction.account import start_of
from tellegen.studies import rules
from tellegen.studies.bases import Matrices, Small, balanced, by_moments
from tellegen.studies.gains import band_of, gains_of
from tellegen.studies.projected_models import projected_model, without_rounding

Array = NDArray[np.float64]
Method = Literal["balanced", "moments"]
METHODS = ("balanced", "moments")

DIRECT = 2.0
"""A model with a resistance added at its ports is taken where it loses less by this factor."""


@final
@dataclass(frozen=True, eq=False)
class Projection:
    """A small model in numbers, with states z_1, z_2, ..., and the basis V of x = V z, rows by the states of `full`.

    `model` is a network with these `equations`: it can be drawn, simulated, saved and reduced again.

    `error` is the largest difference of the transfer matrices over all frequencies, as a share of the largest gain, with every
    port in units in which all act with the same strength.
    """

    full: EquationSystem
    equations: EquationSystem
    model: Model
    V: Array
    method: Method
    error: float

    def to_json(self, sign: Sign = "-") -> dict[str, object]:
        """The record of the equations, with `V`, `method`, `error` and `origin`."""
        record = equations_to_record(self.equations, sign)
        record |= {"V": self.V.tolist(), "method": self.method, "error": self.error}
        record["origin"] = {"model": self.full.name, "states": [identifier(n) for n in self.full.states]}
        return record

    def __str__(self) -> str:
        kept, all_states = len(self.equations.states), len(self.full.states)
        return f"{kept} of {all_states} states ({self.method}): gains differ by at most {self.error:.2g} of the largest"


def project(model: AnyModel, states: int, *, method: Method | None = None) -> Projection:
    """A linear model with fewer states that keeps L symmetric and positive and W positive semidefinite; made with pyMOR.

    `method` is "balanced" (positive-real balanced truncation) or "moments" (moments of the transfer matrix are matched at points
    that are found); without it, the one that loses less is taken.

    Raises: ReductionError (T306) when the model is not linear or has no fewer states; ExportError (X001) where pyMOR is missing.
    """
    if method is not None and method not in METHODS:
        fix = did_you_mean(method, METHODS) or f"choose one of {listing(METHODS)}"
        raise rules.NOT_PROJECTABLE.error(f"'{method}' is not a method of projection", fix=fix)
    described = as_model(model)
    system = derive_equations(assign_causality(lower(described)))
    _refuse(system, states)
    m = {name: _numbers(system, name) for name in ("L", "A", "B", "C", "D")}
    to_energy = _inverse_root(m["L"])
    strength = np.linalg.norm(to_energy.T @ m["B"], axis=0)
    ports = np.where(strength > 0, strength, 1.0)
    found, used, error = _best(_normal(m, to_energy, ports), states, method, system.name)
    start = start_of(described, system)
    small = _small(system, without_rounding(_of_ports(found, ports)), start, to_energy.T @ m["L"])
    made = Projection(system, small, described, to_energy @ found.V, used, error)
    about = f"Projected: {made}."
    return replace(made, model=projected_model(described, system, small, about))


def _best(m: Matrices, states: int, method: Method | None, name: str) -> tuple[Small, Method, float]:
    """The basis that loses least, with its method and its loss."""
    band = band_of(m["A"])
    full = gains_of(m["A"], m["B"], m["C"], m["D"], band)
    tried: dict[Method, Sequence[Small]] = {}
    if method != "balanced":
        tried["moments"] = tuple(by_moments(m, states))
    if method != "moments":
        tried["balanced"] = tuple(balanced(m, states, full.largest))
    found = [
        (small, used, full.apart(gains_of(small.A, small.B, small.C, small.D, band)))
        for used, several in tried.items()
        for small in several
        if small.passive
    ]
    # Outputs that answer their inputs at once where they did not before have to be worth it.
    best = min(found, key=lambda one: one[2] * (1 if np.array_equal(one[0].D, m["D"]) else DIRECT), default=None)
    if best is None:
        other = "moments" if method == "balanced" else "balanced"
        fix = f"use another method ({other})" if method else "reduce it by limits"
        raise _not_projectable(f"no projection of '{name}' was found", fix)
    return best


def _inverse_root(L: Array) -> Array:
    """S with S^T L S = 1."""
    scale = 1 / np.sqrt(np.diag(L))  # first each state by itself, so that units do not decide what is small
    root = np.linalg.cholesky(scale[:, None] * (L + L.T) / 2 * scale).T
    return np.asarray(scale[:, None] * np.linalg.inv(root))


def _normal(m: Matrices, S: Array, ports: Array) -> Matrices:
    """The matrices with L = 1, and ports in units in which all act with the same strength: pascals and volts then count alike."""
    return {
        "A": S.T @ m["A"] @ S,
        "B": S.T @ m["B"] / ports,
        "C": m["C"] @ S / ports[:, None],
        "D": m["D"] / ports / ports[:, None],
    }


def _of_ports(small: Small, ports: Array) -> Small:
    """The small model with ports in SI again."""
    return replace(small, B=small.B * ports, C=small.C * ports[:, None], D=small.D * ports * ports[:, None])


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


# -- the small model -------------------------------------------------------------------------------------------------------------


def _small(system: EquationSystem, small: Small, start: Mapping[str, float], to_energy: Array) -> EquationSystem:
    n, inputs, outputs = small.A.shape[0], len(system.inputs), len(system.outputs)
    states = tuple(f"z_{k + 1}" for k in range(n))
    written: dict[MatrixName, Matrix] = {"N": _zeros(n, n), "B_1": _zeros(n, inputs), "D_1": _zeros(outputs, inputs)}
    written |= {"L": _rows(np.eye(n)), "A": _rows(small.A), "B": _rows(small.B), "C": _rows(small.C)}
    written |= {"D": _rows(small.D)}
    z, u = [symbol(name) for name in states], [symbol(name) for name in system.inputs]
    W = np.block([[small.A, -small.B], [small.C, small.D]])
    return replace(
        system,
        states=states,
        parameters={},
        matrices=written,
        vectors={"f": (ZERO,) * n, "f_y": (ZERO,) * outputs},
        stored_energy=_quadratic(np.eye(n) / 2, z),
        dissipated_power=_quadratic((W + W.T) / 2, [*z, *u]),
        algebraic=Algebraic(),
        where={},
        dependent={},
        initial=_start([start.get(name, 0.0) for name in system.states], states, small.W.T @ to_energy),
        displacements={},
        origin=None,
    )


def _start(full: Sequence[float], states: tuple[str, ...], to_small: Array) -> dict[str, Expression]:
    """The start of the full model, as far as the small one can have it."""
    x = np.array(full)
    return {name: number(float(start)) for name, start in zip(states, to_small @ x, strict=True)} if x.any() else {}


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
