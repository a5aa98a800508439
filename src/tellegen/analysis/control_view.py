"""Models as objects of python-control, for what that library does better."""

from typing import Any

import numpy as np

from tellegen.analysis import rules
from tellegen.analysis.linear_model import LinearModel, energy_coordinates
from tellegen.core.names import identifier
from tellegen.core.optional import needed


def to_control(model: LinearModel) -> Any:
    """The model as a `control.StateSpace` in the states of the model, with names.

    Raises: EquationError when inputs are differentiated (E203) or L is singular (E202); ExportError (X001) without python-control.
    """
    control = needed("control", extra="control", purpose="a model of python-control")
    if model.B_1.any() or model.D_1.any():
        raise rules.IMPROPER.error(
            f"'{model.name}' holds derivatives of its inputs",
            where=model.name,
            fix="put a small resistive element between the source and the storage",
        )
    energy_coordinates(model)
    return control.StateSpace(
        -np.linalg.solve(model.L, model.A),
        np.linalg.solve(model.L, model.B),
        model.C,
        model.D,
        name=identifier(model.name.replace(" ", "_")),
        states=list(map(identifier, model.states)),
        inputs=list(map(identifier, model.inputs)),
        outputs=list(map(identifier, model.outputs)),
    )
