"""A model that runs in its page: what can be moved there, between which ends, in the units of its file."""

import math
from collections.abc import Sequence
from typing import Final

from tellegen.core.names import did_you_mean, listing
from tellegen.core.units import Unit, parse_unit
from tellegen.equations.system import parameter_values
from tellegen.exporting.live.unit import Adjustable, live_unit
from tellegen.model.model import Model
from tellegen.reporting.formulas import readable_unit
from tellegen.reporting.pages import LiveRun, Slider
from tellegen.reporting.writing import BAD_SLIDER
from tellegen.results import Run

SPAN: Final = 5.0
"""A slider goes from a fifth of its value to five times it, where nobody says more."""


def live_run(model: Model, asked: Sequence[str], shows: str) -> LiveRun:
    """The model with its experiment, for the page; `asked` are NAME or NAME=LOW:HIGH, none for all that can be moved.

    Raises: ExportError for what a page cannot run (X402, X408, X409, X411), or for a slider that cannot be (X305).
    """
    unit = live_unit(model)
    sliders = _sliders(model, unit.settings, asked)
    return LiveRun(unit.code(), sliders, unit.variables, unit.until, unit.rtol, shows)


def kernel_run(run: Run, model: Model, asked: Sequence[str], shows: str, rtol: float) -> LiveRun:
    """The same for a page that asks the Python beside it for its curves: nothing is compiled, and nothing refused.

    Raises: ExportError for a slider that cannot be (X305).
    """
    values = parameter_values({name: item.expression for name, item in model.parameters.items()})
    settings = [
        Adjustable(name, -1, values[name], item.unit)
        for name, item in model.parameters.items()
        if name in values and name not in model.counts and not (item.expression and item.expression.free_symbols)
    ]
    courses = model.experiment.inputs
    for name in run.trajectory.segments[0].model.inputs:
        formula = courses[name].expression if name in courses else None
        if formula is None or not formula.free_symbols:
            settings.append(Adjustable(name, -1, float(run.values(name)[0]), run.unit(name)))
    variables = {name: k for k, name in enumerate(run.names)}
    return LiveRun(b"", _sliders(model, settings, asked), variables, float(run.t[-1]), rtol, shows)


def _sliders(model: Model, settings: Sequence[Adjustable], asked: Sequence[str]) -> tuple[Slider, ...]:
    ends = dict(map(_split, asked)) or {setting.name: "" for setting in settings}
    return tuple(_slider(model, settings, name, text) for name, text in ends.items())


def _split(asked: str) -> tuple[str, str]:
    name, _, ends = asked.partition("=")
    return name.strip(), ends.strip()


def _slider(model: Model, settings: Sequence[Adjustable], name: str, text: str) -> Slider:
    setting = next((setting for setting in settings if setting.name == name), None)
    if setting is None:
        names = [setting.name for setting in settings]
        fix = did_you_mean(name, names) or (f"there are {listing(names)}" if names else "leave it out")
        raise BAD_SLIDER.error(f"'{name}' cannot be moved", where=name, fix=fix)
    word, measured = _unit_of_file(model, setting)
    value = (setting.value - float(measured.offset)) / float(measured.factor)
    low, high = _ends(name, text) if text else _around(value)
    return Slider(
        name,
        setting.reference,
        value,
        low,
        high,
        unit=readable_unit(word),
        factor=float(measured.factor),
        offset=float(measured.offset),
        geometric=low > 0 and high / low > SPAN,
    )


def _unit_of_file(model: Model, setting: Adjustable) -> tuple[str, Unit]:
    known = model.parameters.get(setting.name)
    word = known.unit if known is not None and known.unit else setting.unit
    return word, parse_unit(word or "1")


def _around(value: float) -> tuple[float, float]:
    if value == 0:
        return -1.0, 1.0
    return (value / SPAN, value * SPAN) if value > 0 else (value * SPAN, value / SPAN)


def _ends(name: str, text: str) -> tuple[float, float]:
    """The ends that somebody gave, in the unit of the file."""
    try:
        low, high = map(float, text.split(":"))
    except ValueError:
        low = high = math.nan
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise BAD_SLIDER.error(
            f"'{text}' is no interval", where=name, fix=f"give {name}=LOW:HIGH, such as {name}=0.1:2"
        )
    return low, high
