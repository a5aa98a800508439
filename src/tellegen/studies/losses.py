"""What a reduction costs: the full and the reduced model on one experiment, variable by variable."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from tellegen.core.errors import Finding
from tellegen.core.names import identifier
from tellegen.studies.tables import finite, text_table

Array = NDArray[np.float64]


@final
@dataclass(frozen=True)
class VariableLoss:
    """How far the reduced model is from the full one in a variable: the largest difference, when it occurs, and the rms value.

    Both are in the SI unit of the variable; the relative ones are shares of its largest value and of its own rms value in the full
    model. `recovered` tells that the reduction removed the variable and gives it by a formula.
    """

    largest: float
    rms: float
    relative: float
    relative_rms: float
    at: float
    unit: str = ""
    recovered: bool = False

    def to_json(self) -> dict[str, object]:
        """The numbers by name; None where the full model has nothing to relate to."""
        return {
            "largest": self.largest,
            "rms": self.rms,
            "relative": finite(self.relative),
            "relative_rms": finite(self.relative_rms),
            "at": self.at,
            "unit": self.unit,
            "recovered": self.recovered,
        }


@final
@dataclass(frozen=True)
class TrajectoryLoss:
    """The loss of every variable that both models have; `missing` are those of the full model that the reduced one cannot tell."""

    limits: Mapping[str, str]
    variables: Mapping[str, VariableLoss]
    missing: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()

    @property
    def worst(self) -> str:
        """The variable that loses most, by its relative root of the mean square; of those that remain, where there are any."""
        names = [name for name, loss in self.variables.items() if not loss.recovered] or list(self.variables)
        return max(names, key=lambda name: self.variables[name].relative_rms)

    @property
    def relative_rms(self) -> float:
        """The loss of the worst variable."""
        return self.variables[self.worst].relative_rms

    def to_json(self) -> dict[str, object]:
        """Limits, losses by variable, and what to beware of."""
        return {
            "limits": dict(self.limits),
            "loss": {identifier(name): loss.to_json() for name, loss in self.variables.items()},
            "worst": identifier(self.worst),
            "missing": [identifier(name) for name in self.missing],
            "findings": [finding.to_json() for finding in self.findings],
        }

    def __str__(self) -> str:
        head = ("", "largest", "rms", "unit", "of its size", "rms of its rms", "at (s)")
        rows = [
            (
                name + (" (removed)" if loss.recovered else ""),
                f"{loss.largest:.3g}",
                f"{loss.rms:.3g}",
                loss.unit,
                f"{loss.relative:.2g}",
                f"{loss.relative_rms:.2g}",
                f"{loss.at:.4g}",
            )
            for name, loss in self.variables.items()
        ]
        limits = ", ".join(f"{name}={value}" for name, value in self.limits.items())
        parts = [f"loss by {limits}", text_table((head, *rows))]
        if self.missing:
            parts.append(f"not told by the reduced model: {', '.join(self.missing)}")
        return "\n".join([*parts, *(f"\n{finding}" for finding in self.findings)])


def loss_of(full: Array, small: Array, t: Array, unit: str, recovered: bool) -> VariableLoss:
    """The loss of one variable from two courses over the same times, which need not be even."""
    apart = np.abs(full - small)
    worst = int(np.argmax(apart))
    largest, rms = float(apart[worst]), root_mean_square(apart, t)
    size, mean = float(np.max(np.abs(full))), root_mean_square(full, t)
    return VariableLoss(largest, rms, _share(largest, size), _share(rms, mean), float(t[worst]), unit, recovered)


def root_mean_square(values: Array, t: Array) -> float:
    """The root of the mean square over time."""
    return float(np.sqrt(np.trapezoid(values**2, t) / (t[-1] - t[0])))


def _share(part: float, whole: float) -> float:
    if whole:
        return part / whole
    return 0.0 if part == 0 else float("inf")
