"""What of a model can be measured: by name, and by the detectors that it has."""

from collections.abc import Sequence
from dataclasses import replace

from tellegen.description.model import Element, Model
from tellegen.description.signals.blocks import FORMULA
from tellegen.description.signals.values import SignalDefinition
from tellegen.description.variables import known_variables
from tellegen.expressions import ZERO, symbol

SENSOR = "across"
"""The block of signals that is an ideal sensor between two nodes."""


def measurable_names(model: Model) -> tuple[str, ...]:
    """Variables of elements, inputs, displacements, signals and powers."""
    energies = {f"energy.{element.name}" for element in model.elements}
    variables = (name for name in known_variables(model.elements) if name not in energies)
    return tuple(dict.fromkeys((*variables, *model.displacements, *model.signals)))


def detected_names(model: Model) -> tuple[str, ...]:
    """What the detectors of a model read: De and Df of a bond graph, and sensors between nodes.

    The ideal sensors that joints of a mechanism bring along have dotted names of no part, and are not counted.
    """
    parts = {part.name for part in model.parts}
    detectors = [e.name for e in model.elements if _is_detector(e) and _is_described(e.name, parts)]
    sensors = [name for name, signal in model.signals.items() if signal.block == SENSOR and _is_described(name, parts)]
    return (*detectors, *sensors)


def _is_detector(element: Element) -> bool:
    """An element without power whose free variable has its name."""
    return element.kind.role == "resistive" and element.value is ZERO and element.name in element.variables.values()


def _is_described(name: str, parts: set[str]) -> bool:
    head, dot, _ = name.partition(".")
    return not dot or head in parts


def with_formulas(model: Model, names: Sequence[str]) -> tuple[Model, dict[str, str]]:
    """The model with a signal for every variable that is to be measured, and the signal of each name."""
    signals = dict(model.signals)
    found: dict[str, str] = {}
    for name in names:
        found[name] = name if name in model.signals else _fresh(name, model, signals)
        if found[name] not in signals:
            signals[found[name]] = SignalDefinition(found[name], FORMULA, {FORMULA: symbol(name)})
    return replace(model, signals=signals), found


def _fresh(name: str, model: Model, signals: dict[str, SignalDefinition]) -> str:
    wanted = f"{name.replace('.', '_')}_measured"
    taken = {*signals, *model.parameters, *model.displacements, *known_variables(model.elements)}
    while wanted in taken:
        wanted += "_"
    return wanted
