"""Parasitic elements sized by what they are to cost: just stiff enough for a stated error."""

from dataclasses import replace
from typing import Final

import numpy as np

from tellegen.conditioning import AS_USUAL, Conditioned, Options, Stiffness, condition_model, rules
from tellegen.conditioning.parasitic import parasitic_storage
from tellegen.description.opening import AnyModel, as_model
from tellegen.studies.conditioning import THE_EXPERIMENT, TIGHTER, Setting, difference_of, stiffnesses_of

ROUNDS: Final = 6
MARGIN: Final = 1.5
"""Parasitic elements are made stiffer than the order of convergence asks for, so that the next round meets the error."""

LARGEST_SHARE: Final = 0.1
"""No spring stores more than this share of the energy at the beginning, however large the error may be."""


def size_parasitic(
    model: AnyModel,
    error: float,
    options: Options = AS_USUAL,
    setting: Setting = THE_EXPERIMENT,
) -> Conditioned:
    """The parasitic form with elements just stiff enough for an error of the coordinates, in SI, on the experiment of the model.

    Each stiffness begins where the force of its constraint stores the share `error` of the energy in the model, and grows with the
    error measured, which falls with order one.

    Raises: ConditioningError (C107) when the error is not positive, or not met.
    """
    if not (np.isfinite(error) and error > 0.0):
        raise rules.BAD_STIFFNESS.error(f"an error of {error:g} cannot be met", fix="give a positive error")
    described = as_model(model)
    exact = condition_model(described, "derivative", options)
    fine = setting.run(exact, finer=TIGHTER)
    is_stored = all(parasitic_storage(opening) for opening in exact.opened.openings)
    begun = (
        exact if is_stored else condition_model(described, "parasitic", options)
    )  # only resistances need a suggestion
    stiff = stiffnesses_of(begun, fine, min(error, LARGEST_SHARE))
    for _ in range(ROUNDS):
        sized = Stiffness(stiff, options.stiffness.damping)
        found = condition_model(described, "parasitic", replace(options, stiffness=sized))
        measured, _ = difference_of(found, setting.run(found), fine)
        if measured <= error:
            return found
        stiff = {name: MARGIN * value * measured / error for name, value in stiff.items()}
    raise rules.BAD_STIFFNESS.error(
        f"an error of {error:g} is not met: {measured:.2g} is left",
        where=described.name,
        fix="ask for a larger error, or a finer tolerance of the runs",
    )
