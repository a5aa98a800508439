"""Temperatures on a scale with a zero of its own, where temperatures count from the ambient: right as differences alone.

A formula is moved by the zero of the scale as much as its derivative by all the temperatures on it: `T_hot - T_amb` is not moved,
`T_hot` is. In the domain `heat` a temperature must not be moved; and one that counts from the ambient adds up with the ambient's,
`T_amb + T`, but is not compared with one that stands on the scale.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import final

from tellegen.core.errors import Finding, Place
from tellegen.core.units import SCALES
from tellegen.expressions import ZERO, Add, Call, Expression, Number, Relation, number, postorder
from tellegen.model.model import Element, Model, ambient_temperatures, input_name
from tellegen.model.signals import MapPoints, Points, SignalDefinition
from tellegen.notations import rules

_ON_SCALE = re.compile(rf"(?<![^\W\d_])(?:{'|'.join(SCALES)})(?!\w)")
_ONE = number(1)
_FIX = (
    "give it in K, as a difference to the ambient: of two temperatures such as T_hot - T_amb that may be computed; "
    "or use the domain 'thermal', whose temperatures are absolute"
)

_Moved = tuple[Expression, Expression]
"""How much the ambient's temperature moves something that counts from it, and how much the zero of the scale moves it."""


def is_on_scale(text: str) -> bool:
    """Whether a text names a temperature scale: `20 degC`, `step(60 °F)`."""
    return _ON_SCALE.search(text) is not None


def doubtful_scales(model: Model) -> Iterator[Finding]:
    """The findings (D492) where a temperature on a scale is taken for a difference to the ambient."""
    texts = [p.unit for p in model.parameters.values() if p.unit]
    texts += [text for signal in model.signals.values() for text in signal.texts.values()]
    texts += ["degC" for signal in model.signals.values() if _is_table_on_scale(signal)]
    texts += [signal.text for signal in model.experiment.inputs.values()]
    texts += model.experiment.units.values()
    if any(map(is_on_scale, texts)) and (ambient := ambient_temperatures(model.elements)):
        yield from _Scales(model, ambient).findings()


@final
class _Scales:
    """What stands on a temperature scale in a model, and what counts from the ambient."""

    def __init__(self, model: Model, ambient: set[str]) -> None:
        self.model, self.ambient = model, ambient
        self.known: dict[str, _Moved] = dict.fromkeys(ambient, (_ONE, ZERO))

    def findings(self) -> Iterator[Finding]:
        model = self.model
        for parameter in model.parameters.values():
            if parameter.expression is not None and self.mixes([], parameter.expression):
                yield _mixed(f"the parameter {parameter.name}", parameter.place)
        for signal in model.signals.values():
            if any(self.mixes(self.of_keys(signal), formula) for formula in (*signal.formulas(), ZERO)):
                yield _mixed(f"the signal {signal.name}", signal.place)
        for element in model.elements:
            yield from self.of_element(element)
        for name, initial in model.experiment.initial.items():
            if name in self.ambient and self.moves(initial):
                yield not_difference(f"the initial value of {name}", None)
        for name, unit in model.experiment.units.items():
            if is_on_scale(unit) and name in model.signals and _counts_from_ambient(self.of_name(name)):
                what = f"'{name}' counts from the ambient, and {unit} has a zero of its own"
                yield rules.SCALE_FROM_AMBIENT.finding(what, fix="show it in K, or add the ambient's temperature to it")

    def of_element(self, element: Element) -> Iterator[Finding]:
        if element.value is not None and self.mixes([], element.value):
            yield _mixed(f"the value of {element.name}", element.place)
        if element.kind.role == "coupling" or not element.kind.domain.heat_books:
            return
        if element.law is not None and element.law.variable not in self.model.parameters:
            self.known.setdefault(element.law.variable, (_ONE, ZERO))
            if self.mixes([], element.law.expression):
                yield _mixed(f"the law of {element.name}", element.place)
            if element.law.variable not in self.ambient:
                del self.known[element.law.variable]
        if element.initial is not None and self.moves(element.initial):
            yield not_difference(f"the initial value of {element.name}", element.place)
        if element.kind.role == "source" and element.kind.side == "across":
            given = self.model.experiment.inputs.get(input_name(element))
            if given is not None and (
                is_on_scale(given.text) or any(map(self.moves, (*given.arguments, given.expression or ZERO)))
            ):
                yield not_difference(f"the input {element.name}", element.place)
            if element.signal is not None and self.moves(element.signal):
                yield not_difference(f"the signal of {element.name}", element.place)

    def moves(self, formula: Expression) -> bool:
        """Whether the zero of the scale moves it."""
        return self.moved(formula)[1] != ZERO

    def mixes(self, given: Sequence[_Moved], formula: Expression) -> bool:
        """Whether something in a formula, or of what is given together, counts from both zeros."""
        if _unlike(given):
            return True
        for node in postorder(formula):
            if isinstance(node, Add):
                parts = [self.moved(number(factor) * term) for term, factor in node.terms]
                above, scale = _sum(a for a, _ in parts), _sum(c for _, c in parts)
                if ZERO not in (above, scale) and above != scale and not self.bends((above, scale)):
                    return True
            elif isinstance(node, Call | Relation) and _unlike([self.moved(arg) for arg in node.args]):
                return True
        return False

    def bends(self, moved: _Moved) -> bool:
        """Whether it is no straight line of temperatures: a fourth power, say, of which nothing follows."""
        return any(self.of_name(name) != (ZERO, ZERO) for part in moved for name in part.free_symbols)

    def moved(self, formula: Expression) -> _Moved:
        found: _Moved = ZERO, ZERO
        for name in formula.free_symbols:
            above, scale = self.of_name(name)
            if above != ZERO or scale != ZERO:
                slope = formula.derivative(name)
                found = found[0] + slope * above, found[1] + slope * scale
        return found

    def of_name(self, name: str) -> _Moved:
        if name not in self.known:
            self.known[name] = ZERO, ZERO  # of what reads itself
            self.known[name] = self._of_name(name)
        return self.known[name]

    def _of_name(self, name: str) -> _Moved:
        parameter, signal = self.model.parameters.get(name), self.model.signals.get(name)
        if parameter is not None and is_on_scale(parameter.unit):
            return ZERO, _ONE
        if parameter is not None and parameter.expression is not None:
            return self.moved(parameter.expression)
        keys = [] if signal is None else self.of_keys(signal)
        return next((moved for moved in keys if moved != (ZERO, ZERO)), (ZERO, ZERO))

    def of_keys(self, signal: SignalDefinition) -> list[_Moved]:
        """What each key of a signal counts from."""
        return [
            *((ZERO, _ONE) for text in signal.texts.values() if is_on_scale(text)),
            *((ZERO, _ONE) for _ in range(_is_table_on_scale(signal))),
            *(self.moved(formula) for formula in signal.formulas() if not isinstance(formula, Number)),
        ]


def _is_table_on_scale(signal: SignalDefinition) -> bool:
    return any(isinstance(held, Points | MapPoints) and held.on_scale for held in signal.settings.values())


def _sum(parts: Iterable[Expression]) -> Expression:
    found: Expression = ZERO
    for part in parts:
        found = found + part
    return found


def _counts_from_ambient(moved: _Moved) -> bool:
    return moved[0] != ZERO and moved[1] == ZERO


def _unlike(parts: Sequence[_Moved]) -> bool:
    return any(map(_counts_from_ambient, parts)) and any(scale != ZERO for _, scale in parts)


def not_difference(subject: str, place: Place | None) -> Finding:
    """The finding for a temperature on a scale where a difference to the ambient belongs."""
    what = f"{subject} stands on a temperature scale, and temperatures of the domain 'heat' count from the ambient"
    return rules.SCALE_FROM_AMBIENT.finding(what, fix=_FIX, place=place)


def _mixed(subject: str, place: Place | None) -> Finding:
    what = f"{subject} compares a temperature that counts from the ambient with one on a temperature scale"
    return rules.SCALE_FROM_AMBIENT.finding(what, fix=_FIX, place=place)
