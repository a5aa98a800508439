"""The elementary signals that a functional mock-up unit becomes."""

import re
from collections.abc import Iterator, Mapping

from tellegen.core.names import TIME
from tellegen.expressions import ZERO, Expression, number, symbol
from tellegen.model.mockup_units import MockupUnit, UnitSignal, UnitUse, UnitVariable
from tellegen.model.signals import SignalDefinition

NEVER = number(10**30)
"""The period of what only an event changes."""

GIVEN_NAMES = {"inputs": "inputs given", "parameters": "parameters given"}
"""Where the names of what a unit is given stand beside the formulas."""


def names_given(settings: Mapping[str, object], key: str) -> tuple[str, ...]:
    """The names in the unit of what it is given, in the order of the formulas."""
    # As one text: lists of names are nodes, which parts rename.
    found = settings.get(GIVEN_NAMES[key], "")
    return tuple(found.split("\n")) if isinstance(found, str) and found else ()


def unit_variable(signal: str, name: str) -> str:
    """The inner signal of a variable of a unit: `ball_der_h` of `der(h)`."""
    return f"{signal}_{re.sub('[^A-Za-z0-9]+', '_', name).strip('_') or 'x'}"


def unit_parts(
    definition: SignalDefinition, every: Expression | None, values: dict[str, tuple[Expression, ...]]
) -> Iterator[SignalDefinition]:
    """The elementary signals of a unit; `values` are the formulas of its inputs and parameters."""
    unit = definition.settings["fmu"]
    assert isinstance(unit, MockupUnit), "the file was read"
    made = _Parts(definition, unit, values)
    yield from made.exchanged() if every is None else made.stepped(every)


class _Parts:
    """The parts of one unit."""

    def __init__(
        self, definition: SignalDefinition, unit: MockupUnit, values: dict[str, tuple[Expression, ...]]
    ) -> None:
        self.definition, self.unit = definition, unit
        self.given = (*values.get("inputs", ()), *values.get("parameters", ()))
        self.inputs = self._references("inputs", unit.inputs)
        self.parameters = self._references("parameters", unit.parameters)
        self.names: dict[int, str] = {}

    def _references(self, key: str, known: tuple[UnitVariable, ...]) -> tuple[int, ...]:
        by_name = {variable.name: variable.reference for variable in known}
        return tuple(by_name[name] for name in names_given(self.definition.settings, key))

    def _part(self, name: str, block: str, **settings: object) -> SignalDefinition:
        return SignalDefinition(name, block, settings, place=self.definition.place)  # type: ignore[arg-type]

    def _name(self, variable: UnitVariable) -> str:
        return unit_variable(self.definition.name, variable.name)

    def exchanged(self) -> Iterator[SignalDefinition]:
        """Its states are ours, and all that it tells follows from them."""
        unit, own = self.unit, self.definition.name
        events = f"{own}_events"
        states = tuple(map(self._name, unit.states))
        use = UnitUse(unit, "model exchange", self.inputs, self.parameters, states=states, events=events)
        arguments = (symbol(TIME), symbol(events), *map(symbol, states), *self.given)
        yield self._part(events, "sample", sample=symbol(events), every=NEVER, offset=NEVER, initial=ZERO)
        for k, (name, variable) in enumerate(zip(states, unit.states, strict=True)):
            yield self._part(f"{name}_rate", "python", python=arguments, function=UnitSignal(use, "rate", k))
            yield self._part(name, "integral", integral=symbol(f"{name}_rate"), initial=number(variable.start or 0.0))
            self.names[variable.reference] = name
        for k in range(unit.indicators):
            yield self._part(
                f"{own}_indicator_{k + 1}", "python", python=arguments, function=UnitSignal(use, "indicator", k)
            )
        for k, variable in enumerate(unit.outputs):
            name = self._name(variable)
            if variable.reference not in self.names:
                yield self._part(name, "python", python=arguments, function=UnitSignal(use, "output", k))
            elif name != self.names[variable.reference]:
                yield self._part(name, "formula", formula=symbol(self.names[variable.reference]))
        yield self._own([*map(self._name, unit.outputs), *states])

    def stepped(self, every: Expression) -> Iterator[SignalDefinition]:
        """It steps by itself; what it tells is held from one exchange to the next."""
        period = every.evaluate({}) if not every.free_symbols else 0.0
        use = UnitUse(self.unit, "co-simulation", self.inputs, self.parameters, every=period)
        arguments = (symbol(TIME), *self.given)
        for k, variable in enumerate(self.unit.outputs):
            name = self._name(variable)
            yield self._part(f"{name}_now", "python", python=arguments, function=UnitSignal(use, "output", k))
            initial = number(variable.start or 0.0)
            yield self._part(name, "sample", sample=symbol(f"{name}_now"), every=every, offset=ZERO, initial=initial)
        yield self._own([*map(self._name, self.unit.outputs)])

    def _own(self, names: list[str]) -> SignalDefinition:
        return self._part(self.definition.name, "formula", formula=symbol(names[0]) if names else ZERO)
