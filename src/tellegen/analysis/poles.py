"""Poles: natural frequencies, damping and time constants."""

import math
from dataclasses import dataclass
from typing import final

import numpy as np
import numpy.typing as npt

from tellegen.analysis import rules
from tellegen.analysis.linear_model import LinearModel, energy_coordinates

AT_REST = 1e-9
"""A pole nearer to zero than this share of the fastest one counts as an integrator."""


@final
@dataclass(frozen=True, slots=True)
class Pole:
    """A pole, or a pair of conjugate ones (`value` is the one above the real axis)."""

    value: complex

    @property
    def is_pair(self) -> bool:
        """Whether it stands for two conjugate poles."""
        return self.value.imag != 0.0

    @property
    def natural_frequency(self) -> float:
        """Its distance from the origin, in rad/s."""
        return abs(self.value)

    @property
    def damping(self) -> float:
        """The damping ratio: 1 without oscillation, 0 without decay, negative where it grows; 1 for an integrator."""
        return 1.0 if self.value == 0 else -self.value.real / abs(self.value)

    @property
    def time_constant(self) -> float:
        """In which time it decays to 1/e, in s; infinite where it does not decay."""
        return -1.0 / self.value.real if self.value.real < 0 else math.inf


def poles(model: LinearModel) -> tuple[Pole, ...]:
    """The poles, slowest first; of a conjugate pair the one above the real axis.

    Raises: EquationError (E202) when the energy matrix is singular.
    """
    return conjugate_pairs(np.linalg.eigvals(energy_coordinates(model).A)) if model.states else ()


def loop_poles(model: LinearModel) -> tuple[Pole, ...]:
    """The poles of a closed loop, whose L need not be symmetric: controllers store no energy.

    Raises: EquationError (E202) when L is singular.
    """
    if not model.states:
        return ()
    try:
        return conjugate_pairs(np.linalg.eigvals(-np.linalg.solve(model.L, model.A)))
    except np.linalg.LinAlgError:
        raise rules.SINGULAR_STORAGE.error(
            "L of the closed loop is singular", where=model.name, fix="give the states without energy a small storage"
        ) from None


def stiffness_ratio(found: tuple[Pole, ...]) -> float:
    """How much faster the fastest decay is than the slowest, integrators left out; 1 where there is nothing to compare."""
    fastest = max((pole.natural_frequency for pole in found), default=0.0)
    rates = [-p.value.real for p in found if p.value.real < -AT_REST * fastest]
    return max(rates) / min(rates) if rates else 1.0


def conjugate_pairs(values: npt.ArrayLike) -> tuple[Pole, ...]:
    """Eigenvalues as poles: tiny ones are zero, tiny imaginary parts are none, conjugates are one."""
    found = np.asarray(values, dtype=complex)
    size = np.abs(found).max(initial=0.0)
    found = np.where(np.abs(found) < AT_REST * size * 1e-3, 0.0, found)
    kept = [complex(v.real + 0.0, v.imag) for v in found if v.imag >= 0.0]  # + 0.0: no negative zeros
    return tuple(Pole(v) for v in sorted(kept, key=lambda v: (abs(v), v.imag)))
