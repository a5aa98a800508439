"""Parasitic elements sized by what they are to cost: stiff enough for a stated error of coordinates and forces."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import numpy as np

from tellegen.conditioning import AS_USUAL, Conditioned, Options, Stiffness, condition_model, rules
from tellegen.conditioning.parasitic import parasitic_storage
from tellegen.conditioning.sizing import ERROR, Accuracy, stiffness_for
from tellegen.core.errors import SimulationError, TellegenError
from tellegen.description.model import Model
from tellegen.description.opening import AnyModel, as_model
from tellegen.results.run import Run
from tellegen.studies.form_runs import THE_EXPERIMENT, Apart, Setting, apart, energy_of

ROUNDS: Final = 8
MARGIN: Final = 1.5
"""Parasitic elements are made stiffer than the order of convergence asks for, so that the next round meets the error."""

SHARE: Final = 0.01
"""The share of the energy that a spring stores in the first round, beside the error."""

LARGEST_SHARE: Final = 1e-3
"""No spring stores more than this share of the energy at the beginning, however large the error may be."""

SMALLEST: Final = 1e-7
"""Runs of stiff models show no smaller error."""

MOST: Final = 1000.0
"""Elements become so many times stiffer in a round at most; as many times as its root where a run fails."""

FINER: Final = 1e-5
"""The tolerance of the runs beside the error."""


def size_parasitic(
    model: AnyModel,
    error: float = ERROR,
    options: Options = AS_USUAL,
    setting: Setting = THE_EXPERIMENT,
) -> Conditioned:
    """The parasitic form with elements stiff enough for a relative error of coordinates and forces on the experiment of the model.

    Each stiffness begins where the largest force of its constraint in the rigid model stores a share of the energy, and grows with
    the error measured, which falls with order one. Coordinates are compared with their largest values, angles beyond 1 rad with
    1 rad; forces of constraints with theirs, once the springs have settled: a hundredth of the run after its start and after jumps.

    Raises: ConditioningError (C107) when the error is too small, or not met; SimulationError where the rigid model does not run.
    """
    if not (np.isfinite(error) and error >= SMALLEST):
        fix = f"give an error of {SMALLEST:g} or more; 0.001 is usual"
        raise rules.BAD_STIFFNESS.error(f"an error of {error:g} cannot be met by parasitic elements", fix=fix)
    described = setting.described(as_model(model))
    setting = replace(setting, rtol=FINER * error)
    fine = setting.run(condition_model(described, "derivative", options))
    return sized_for(described, error, options, setting, fine)


def sized_for(model: Model, error: float, options: Options, setting: Setting, fine: Run) -> Conditioned:
    """The parasitic form that is as close to a run of the rigid model as is asked for.

    Raises: ConditioningError (C107) when the error is not met.
    """
    suggested = condition_model(model, "parasitic", options)
    stiff = _begin_with(suggested, fine, min(SHARE * error, LARGEST_SHARE))
    measured: Apart | None = None
    for _ in range(ROUNDS):
        found = _with(model, options, stiff)
        try:
            before, measured = measured, apart(found, setting.run(found), fine)
        except SimulationError:
            stiff = {name: MOST**0.5 * value for name, value in stiff.items()}
            continue
        if measured.worst <= error:
            return replace(found, accuracy=Accuracy(error, measured.coordinates, measured.forces))
        if before is not None and measured.worst >= before.worst:
            break  # it is no error of the springs any more
        factor = min(MARGIN * measured.worst / error, MOST)
        stiff = {name: factor * value for name, value in stiff.items()}
    raise _not_met(model, error, measured)


def _begin_with(suggested: Conditioned, run: Run, share: float) -> dict[str, float]:
    """Stiffnesses at which the largest force of each constraint stores a share of the largest energy of the run.

    Where a force is small this would be soft, and the force late: no resonance is slower than suggested. A constraint that is
    closed by a resistance alone stores nothing, and keeps what was suggested for it.
    """
    energy = energy_of(run)
    alone = {o.name for o in suggested.opened.openings if parasitic_storage(o) is None}
    forces = {name: 0.0 if name in alone else float(np.max(np.abs(run.values(name)))) for name in suggested.stiffnesses}
    return {n: max(value, stiffness_for(forces[n], energy, share)) for n, value in suggested.stiffnesses.items()}


def _with(model: Model, options: Options, stiff: Mapping[str, float]) -> Conditioned:
    sized = Stiffness(stiff, options.stiffness.damping)
    return condition_model(model, "parasitic", replace(options, stiffness=sized))


def _not_met(model: Model, error: float, measured: Apart | None) -> TellegenError:
    left = "no run of the elastic model finishes"
    if measured is not None:
        left = f"coordinates are off by {measured.coordinates:.2g} and forces by {measured.forces:.2g}"
    return rules.BAD_STIFFNESS.error(
        f"an error of {error:g} is not met by parasitic elements: {left}",
        where=model.name,
        fix="ask for a larger error, for a shorter run, or give a stiffness",
    )
