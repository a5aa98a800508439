"""Values given by name alone, as on the command line: which of them are parameters, inputs and initial values."""

from collections.abc import Mapping
from typing import NamedTuple

from tellegen.core.names import did_you_mean, listing
from tellegen.description import Model
from tellegen.experiments import rules
from tellegen.experiments.initial_values import initial_names
from tellegen.graph import lower


class Settings(NamedTuple):
    """Texts by name, as `simulate` takes them."""

    parameters: dict[str, str]
    inputs: dict[str, str]
    initial: dict[str, str]


def sort_settings(model: Model, given: Mapping[str, str]) -> Settings:
    """The values by what they are for: a parameter where one has the name, else an input, else an initial value.

    Raises: SimulationError (S302) with the nearest name.
    """
    found = Settings({}, {}, {})
    names = initial_names(lower(model), model) if given else {}
    for name, text in given.items():
        if name in model.parameters:
            found.parameters[name] = text
        elif name in model.inputs:
            found.inputs[name] = text
        elif name in names:
            found.initial[name] = text
        else:
            known = [*model.parameters, *model.inputs, *names]
            fix = did_you_mean(name, known) or f"some that are: {listing(known, 20)}"
            raise rules.NO_SUCH_SETTING.error(f"'{name}' is no parameter, no input and no initial value", fix=fix)
    return found
