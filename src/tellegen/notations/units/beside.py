"""A functional mock-up unit beside a model, and whether it has what a signal asks of it."""

import os
from pathlib import Path

from tellegen.core.errors import TellegenError
from tellegen.core.names import did_you_mean, listing
from tellegen.model.mockup_units import MockupUnit, UnitKind
from tellegen.notations.context import ReadingContext
from tellegen.notations.signals import rules
from tellegen.notations.units.description import MOST_NAMED, MockupUnitError, read_unit
from tellegen.notations.yaml.document import Scalar


def unit_beside(context: ReadingContext, name: str, file: Scalar) -> MockupUnit:
    """The unit in a file that lies in the folder of the model or below it; nothing of it is run.

    Raises: DescriptionError (D523) for one that cannot be used.
    """

    def refused(why: str, fix: str = "put a unit of FMI 2.0 or 3.0 beside the model") -> TellegenError:
        what = f"the signal {name} cannot use the unit '{file.text[:200]}': {why}"
        return context.error(rules.UNIT_NOT_READ, file, what, fix=fix, where=name)

    model = Path(context.file)
    beside = model.parent if os.path.isfile(model) else context.folder
    if beside is None:
        raise refused("the model is no file, so nothing lies beside it", "save the model beside the unit")
    folder = beside.resolve()
    path = (folder / file.text).resolve()
    if not path.is_relative_to(folder):
        raise refused("it is outside the folder of the model", "put the unit beside the model")
    try:
        return read_unit(path)
    except MockupUnitError as error:
        raise refused(str(error)) from error


def check_use(unit: MockupUnit, kind: UnitKind, names: dict[str, tuple[str, ...]]) -> tuple[str, str] | None:
    """What is wrong with what a unit is asked for, and what to do; None where nothing is."""
    if kind not in unit.identifiers:
        offered = listing(unit.identifiers)
        fix = "give 'every: 1 ms'" if kind == "model exchange" else "leave 'every' out"
        return f"it is for {offered.replace(chr(39), '')} alone", fix
    for key, known in (("inputs", unit.inputs), ("parameters", unit.parameters)):
        there = [variable.name for variable in known]
        for name in names.get(key, ()):
            if name not in there:
                fix = did_you_mean(name, there) or (f"its {key} are {listing(there)}" if there else f"it has no {key}")
                return f"it has no {key[:-1]} '{name}'", fix
    asked = sum(map(len, names.values())) + (len(unit.states) if kind == "model exchange" else 0)
    if asked > MOST_NAMED:
        return f"it has {asked} states, inputs and parameters, and at most {MOST_NAMED} are given", "give fewer"
    if not unit.outputs and not (unit.states and kind == "model exchange"):
        return "it has no output", "export it with outputs"
    return None
