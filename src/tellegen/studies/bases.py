"""Bases for a smaller model: pyMOR finds them, and what comes back is a POG with L = 1.

Matrices come in coordinates in which L = 1, so that states are measured by their energy and ports by their strength. A congruent
projection x = V z keeps W, the symmetric part of [[A, -B], [C, D]], positive semidefinite, because [[V, 0], [0, 1]] multiplies it
from both sides. Moments of the transfer matrix are matched by the iterative rational Krylov algorithm for port-Hamiltonian systems
(S. Gugercin, R. V. Polyuga, C. Beattie and A. van der Schaft, Automatica 48, 2012).

Positive-real balancing (U. B. Desai and D. Pal, IEEE Trans. Automatic Control 29, 1984) chooses the energy too: among all functions
that a passive model can be said to store it balances the least and the largest one. What is truncated is passive with the
balanced energy, which is a POG again. It needs a resistance at each port: a small one, which stays in D.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from tellegen.core.optional import needed

Array = NDArray[np.float64]
Matrices = dict[str, Array]

RESISTANCES = (1e-2, 1e-4, 1e-6)
"""Resistances at the ports, as shares of the largest gain, with which positive-real balancing is tried."""

STARTS = (1.0, 0.1, 10.0)
"""The search for interpolation points starts from rates that the equations show, times each of these."""

PASSIVE = 1e-9
"""How far below zero rounding may bring the smallest eigenvalue of W, as a share of its largest entry."""


@final
@dataclass(frozen=True, eq=False)
class Small:
    """A model with few states: x = V z, z = W^T x, and A, B, C, D with L = 1."""

    V: Array
    W: Array
    A: Array
    B: Array
    C: Array
    D: Array

    @property
    def passive(self) -> bool:
        """Whether the symmetric part of [[A, -B], [C, D]] is positive semidefinite up to rounding."""
        W = np.block([[self.A, -self.B], [self.C, self.D]])
        return bool(np.linalg.eigvalsh((W + W.T) / 2).min(initial=0.0) >= -PASSIVE * np.abs(W).max(initial=0.0))


def congruent(m: Matrices, V: Array) -> Small:
    """The congruent projection on the columns of V, made orthonormal."""
    Q = np.linalg.qr(V)[0]
    return Small(Q, Q, Q.T @ m["A"] @ Q, Q.T @ m["B"], m["C"] @ Q, m["D"])


def by_moments(m: Matrices, states: int) -> Iterator[Small]:
    """Projections that match moments, from several starts of the search."""
    A, B, Ct = m["A"], m["B"], m["C"].T
    full = _pymor("models.iosys").PHLTIModel.from_matrices(
        (A.T - A) / 2, (A + A.T) / 2, (B + Ct) / 2, (Ct - B) / 2, (m["D"] + m["D"].T) / 2, (m["D"] - m["D"].T) / 2
    )
    inputs = max(B.shape[1], 1)
    directions = np.eye(inputs)[np.arange(states) % inputs]
    for factor in STARTS:
        reductor = _pymor("reductors.ph.ph_irka").PHIRKAReductor(full)
        try:
            reductor.reduce({"sigma": factor * _points(A, states), "b": directions, "c": directions}, tol=1e-6)
        except _failures():
            continue  # points met each other, or a pole
        yield congruent(m, _columns(reductor.V, len(A)))


def balanced(m: Matrices, states: int, gain: float) -> Iterator[Small]:
    """Truncations of balanced models; `gain` is the largest one of the transfer matrix."""
    A, B, C, D = -m["A"], m["B"], m["C"], m["D"]
    for resistance in RESISTANCES:
        through = D + resistance * gain * np.eye(len(D))
        try:
            reductor = _reduced("PRBTReductor", (A, B, C, through), states)
            sigma = np.asarray(reductor._hankel_svd()[1][:states])
        except _failures():
            continue  # a mode without loss, or a Riccati equation without a solution in floating point
        V, W = _columns(reductor.V, len(A)), _columns(reductor.W, len(A))
        root = np.sqrt(sigma)  # z in units in which the balanced energy is z^T z / 2
        V, W = V / root, W * root
        yield Small(V, W, -W.T @ A @ V, W.T @ B, C @ V, through)
    try:
        yield congruent(m, _columns(_reduced("BTReductor", (A, B, C, D), states).V, len(A)))
    except _failures():
        return


def _reduced(kind: str, matrices: tuple[Array, Array, Array, Array], states: int) -> Any:
    full = _pymor("models.iosys").LTIModel.from_matrices(*matrices)
    reductor = getattr(_pymor("reductors.bt"), kind)(full)
    reductor.reduce(states, projection="sr")
    return reductor


def _pymor(module: str) -> Any:
    found = needed(f"pymor.{module}", purpose="a projection", extra="pymor")
    needed("pymor.core.logger", purpose="a projection", extra="pymor").set_log_levels({"pymor": "FATAL"})
    return found


def _failures() -> tuple[type[Exception], ...]:
    """What pyMOR raises where a basis does not exist in floating point."""
    inexact: type[Exception] = _pymor("core.exceptions").AccuracyError
    return (np.linalg.LinAlgError, ValueError, AssertionError, inexact)


def _points(A: Array, states: int) -> Array:
    """Where the search for interpolation points begins: spread over the rates that rows of the equations show."""
    rates = np.abs(A).sum(axis=1)
    rates = rates[rates > 0]
    if not len(rates):
        return np.ones(states)
    return np.asarray(np.geomspace(rates.min() / len(A), rates.max(), states))


def _columns(V: Any, rows: int) -> Array:
    found = np.asarray(V.to_numpy(), dtype=float)
    return found if found.shape[0] == rows else found.T
