"""What the structure of a linear model allows: which states inputs reach, which outputs show, and whether it is passive."""

from dataclasses import dataclass
from typing import final

import numpy as np

from tellegen.analysis.linear_model import Array, LinearModel, StateSpace, energy_coordinates
from tellegen.analysis.poles import Pole, conjugate_pairs

MARGIN = 100.0
"""A direction counts as reached when it is so many times larger than its rounding errors."""

ROUNDING = 1e-11
"""How negative an eigenvalue of a passive model may come out, in the scale of its rates."""

FREQUENCIES = 400
"""At so many frequencies, from far below the slowest rate to far above the fastest, the power through the ports is looked at."""

STILL = 1e-14
"""Directions that change at less than this share of the fastest rate drive nothing."""


@final
@dataclass(frozen=True, slots=True)
class Reach:
    """How many of the states are reached (or seen), and the poles that are not."""

    rank: int
    states: int
    missed: tuple[Pole, ...]

    @property
    def complete(self) -> bool:
        """Whether all states are."""
        return self.rank == self.states


@final
@dataclass(frozen=True, slots=True)
class Passivity:
    """Whether a model can only store and lose: W, the symmetric part of [[A, -B], [C, D]], has no negative eigenvalue.

    `passive` is None where W does not decide: models with displacements, or with derivatives of inputs, and tangents of nonlinear
    models, whose L need not be their energy, where no frequency shows that the ports give power. `smallest` is the smallest
    eigenvalue of W in energy coordinates, relative to the rates of the model.
    """

    passive: bool | None
    smallest: float


def controllability(model: LinearModel) -> Reach:
    """How much of the state the inputs reach together."""
    space = energy_coordinates(model)
    return _reach(space.A, space.B)


def observability(model: LinearModel) -> Reach:
    """How much of the state the outputs show together."""
    space = energy_coordinates(model)
    return _reach(space.A.T, space.C.T)


def passivity(model: LinearModel) -> Passivity:
    """The dissipation test that holds for every passive linear model in the POG form; detectors take no part in it."""
    model = model.conjugate()
    space = energy_coordinates(model)
    speed = float(np.linalg.norm(space.A, 2)) if space.A.size else 1.0
    # A congruent change of units keeps the signs of eigenvalues: each input is measured by what it drives.
    unit = np.linalg.norm(np.vstack([space.B, space.C.T]), axis=0) if len(space.A) else np.zeros(len(space.D))
    # An input that drives no state, only an output, is measured by D; one that does nothing by one.
    unit = np.where(unit > 0, unit, np.sqrt(np.abs(space.D).max(axis=0, initial=0.0)))
    unit = np.where(unit > 0, unit, 1.0)
    B, C = -space.B / unit, (space.C.T / unit).T
    W = np.block([[-space.A / (speed or 1.0), B], [C, space.D / np.outer(unit, unit) * (speed or 1.0)]])
    smallest = float(np.linalg.eigvalsh((W + W.T) / 2)[0]) if len(W) else 0.0
    # W is the dissipation of energy stored in the states; displacements and rates of inputs are not among them.
    if model.displacements or model.B_1.any() or model.D_1.any():
        return Passivity(None, smallest)
    if smallest >= -ROUNDING * len(W):
        return Passivity(True, smallest)
    # A tangent may store energy that its L does not count: only power that comes out somewhere proves anything.
    return Passivity(None if model.point and not _gives_power(space) else False, smallest)


def _gives_power(space: StateSpace) -> bool:
    """Whether the model grows by itself, or its ports give more than they take at some frequency."""
    poles = np.linalg.eigvals(space.A)
    speeds = np.abs(poles)
    fastest = float(speeds.max(initial=1.0))
    if poles.real.max(initial=0.0) > ROUNDING * fastest:
        return True
    if not len(space.D):
        return False
    slowest = float(speeds[speeds > STILL * fastest].min(initial=fastest))
    # Positive realness is asked frequency by frequency: G + G^H must have no negative eigenvalue.
    for omega in np.geomspace(1e-3 * slowest, 1e3 * fastest, FREQUENCIES):
        response = space.D + space.C @ np.linalg.solve(1j * omega * np.eye(len(space.A)) - space.A, space.B)
        if np.linalg.eigvalsh(response + response.conj().T)[0] < -ROUNDING * np.linalg.norm(response, 2):
            return True
    return False


def _reach(A: Array, B: Array) -> Reach:
    """The space that B and all A^k B span, built direction by direction (a staircase; powers of A would lose digits)."""
    n = len(A)
    speed = float(np.linalg.norm(A, 2)) if n else 1.0
    basis = np.zeros((n, 0))
    # Columns of one length: how strong an input is does not matter for what it reaches.
    new = _unit_columns(B, 0.0)
    noise = max(n, 1) * float(np.finfo(float).eps)
    while new.size:
        for _ in range(2):  # once is not enough when the new directions almost lie in the old ones
            new = new - basis @ (basis.T @ new)
        U, found, _ = np.linalg.svd(new, full_matrices=False)
        kept = found > MARGIN * noise
        directions = U[:, kept]
        # A direction that hangs on by little carries the rounding of the whole, magnified.
        noise = min(noise / found[kept].min(initial=1.0), 1.0)
        basis = np.hstack([basis, directions])
        new = _unit_columns(A @ directions, STILL * speed)
    rank = basis.shape[1]
    # The complement is invariant under the transposed map: its eigenvalues are the poles that are not reached.
    rest = np.linalg.svd(basis)[0][:, rank:] if rank else np.eye(n)
    missed = conjugate_pairs(np.linalg.eigvals(rest.T @ A @ rest)) if rank < n else ()
    return Reach(rank, n, missed)


def _unit_columns(columns: Array, least: float) -> Array:
    """The columns with length one; those shorter than `least` are zero."""
    sizes = np.linalg.norm(columns, axis=0)
    return np.asarray(columns / np.where(sizes > least, sizes, np.inf))
