"""Runs of the forms of one model on one experiment, and how far they are apart: coordinates, and forces of constraints."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from tellegen.conditioning import Conditioned
from tellegen.conditioning.constrained import numbers_of
from tellegen.description.model import Model
from tellegen.experiments.courses import Course
from tellegen.experiments.quantities import SECOND, Quantity, value_of
from tellegen.experiments.simulating import simulate
from tellegen.expressions import number
from tellegen.results.run import Run

Array = NDArray[np.float64]

RTOL: Final = 1e-10
SAMPLES: Final = 400
FINE: Final = 1e-13
COARSE: Final = 1e-8
"""No run is finer than this; a parasitic one not even so fine, because its springs cost more than that."""

SMALL: Final = 0.01
"""What is smaller than this share of the largest value of its unit is compared with this share."""

NOTHING: Final = 1e-9
"""Forces are rounding where all of their unit are smaller than this share of the energy, in SI."""

STILL: Final = 1e-12
"""A coordinate stands still where it is smaller than this share of the largest one, in SI."""

SETTLING: Final = 0.01
"""For this share of a run after its start and after each jump, springs settle, and their forces are not compared."""

GAP: Final = 0.2
"""Where jumps follow each other closely, they settle for this share of the time between them at most."""


@final
@dataclass(frozen=True)
class Setting:
    """One experiment for all forms."""

    until: Quantity | None = None
    inputs: Mapping[str, Course] | None = None
    initial: Mapping[str, Quantity] | None = None
    parameters: Mapping[str, Quantity] | None = None
    rtol: float = RTOL
    samples: int = SAMPLES

    def described(self, model: Model) -> Model:
        """The model with the duration of this experiment, by which parasitic elements may be sized."""
        if self.until is None:
            return model
        until = number(value_of(self.until, SECOND, "the duration", numbers_of(model)))
        return replace(model, experiment=replace(model.experiment, until=until))

    def run(self, conditioned: Conditioned, *, finer: float = 1.0) -> Run:
        """The run of one form."""
        return simulate(
            conditioned,
            self.until,
            inputs=self.inputs,
            initial=self.initial,
            parameters=self.parameters,
            rtol=max(self.rtol / finer, COARSE if conditioned.form == "parasitic" else FINE),
            samples=self.samples,
            progress=False,
        )


THE_EXPERIMENT: Final = Setting()
"""That of the model."""


@final
@dataclass(frozen=True)
class Apart:
    """How far a run is from the most accurate one.

    `largest` is the largest difference of a coordinate, in SI. `coordinates` and `forces` are the largest relative ones: over the
    largest value of each, or over a hundredth of the largest value of its unit where that is more; over 1 rad for angles beyond.
    """

    largest: float
    coordinates: float
    forces: float

    @property
    def worst(self) -> float:
        """The larger of the relative ones."""
        return max(self.coordinates, self.forces)


def apart(conditioned: Conditioned, run: Run, fine: Run) -> Apart:
    """How far a run is from the most accurate one; states are compared where a model has no coordinates."""
    moved = list(conditioned.found.model.displacements)
    names = moved or list(conditioned.found.system.states)
    late = settled(run, fine)
    rows = np.ones_like(late) if moved else late  # coordinates never jump
    off = {name: _largest(run.values(name)[rows] - fine.values(name)[rows]) for name in names}
    sizes, carried = _sizes(fine, names), _sizes(fine, conditioned.forces)
    felt = [name for name, size in carried.items() if size > NOTHING * energy_of(fine)]
    forces = {name: _largest(run.values(name)[late] - fine.values(name)[late]) for name in felt}
    return Apart(
        max(off.values()),
        max(off[name] / _scale(fine, name, sizes) for name in names),
        max((forces[name] / carried[name] for name in felt), default=0.0),
    )


def energy_of(run: Run) -> float:
    """The largest energy that a run stores."""
    return _largest(np.asarray(run.stored_energy)) or 1.0


def settled(*runs: Run) -> NDArray[np.bool_]:
    """Rows at which springs have settled: those that follow no start, jump of an input or change of a mode closely."""
    t = runs[0].t
    span = float(t[-1] - t[0])
    jumps = np.unique([float(t[0]), *(time for run in runs for time in _jumps(run))])
    windows = np.minimum(SETTLING * span, GAP * np.diff(jumps, append=t[-1]))
    last = np.searchsorted(jumps - 1e-9 * span, t, side="right") - 1
    found = np.asarray(t > jumps[last] + windows[last], dtype=np.bool_)
    return found if found.any() else ~found


def _jumps(run: Run) -> Iterable[float]:
    made = run.trajectory
    times = (float(made.t[segment.start]) for segment in made.segments[1:])
    return (*times, *made.model.break_times(float(made.t[-1])), *(event.t for event in made.events))


def _sizes(run: Run, names: Iterable[str]) -> dict[str, float]:
    """The largest value of each variable, at least a small share of the largest of its unit."""
    own = {name: _largest(run.values(name)) for name in names}
    of_unit: dict[str, float] = {}
    for name, size in own.items():
        unit = run.unit(name)
        of_unit[unit] = max(size, of_unit.get(unit, 0.0))
    return {name: max(size, SMALL * of_unit[run.unit(name)]) for name, size in own.items()}


def _scale(run: Run, name: str, sizes: Mapping[str, float]) -> float:
    """What the difference of a coordinate is compared with; 1 in SI for what stands still."""
    size = sizes[name]
    if size <= STILL * max(sizes.values()):
        return 1.0
    return min(size, 1.0) if run.unit(name) == "rad" else size


def _largest(values: Array) -> float:
    return float(np.max(np.abs(values), initial=0.0))
