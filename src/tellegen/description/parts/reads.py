"""Which names formulas of a system read, and which go with a source whose place something else takes."""

from collections.abc import Iterable, Iterator

from tellegen.description.model import Element, Model
from tellegen.description.signals.values import SignalSetting
from tellegen.description.variables import variable_name
from tellegen.expressions import Expression


def source_variables(source: Element) -> tuple[str, ...]:
    """The variables that go with a source."""
    return (variable_name(source, "across"), variable_name(source, "through"), f"power.{source.name}")


def names_read(model: Model) -> set[str]:
    """All names that formulas of a system read."""
    found: set[str] = set()
    formulas: list[Expression | None] = [p.expression for p in model.parameters.values()]
    formulas += model.displacements.values()
    for element in model.elements:
        formulas += [element.value, element.signal, element.law.expression if element.law else None]
        formulas += [entry for row in element.multiport.K for entry in row] if element.multiport else []
        formulas += element.switching.settings.values() if element.switching else []
    formulas += [f for s in model.signals.values() for f in formulas_of(s.settings.values())]
    for formula in formulas:
        if formula is not None:
            found |= formula.free_symbols
    return found


def formulas_of(settings: Iterable[SignalSetting]) -> Iterator[Expression]:
    """The formulas among the settings of a signal."""
    for value in settings:
        if isinstance(value, Expression):
            yield value
        elif isinstance(value, tuple):
            yield from (v for v in value if isinstance(v, Expression))
