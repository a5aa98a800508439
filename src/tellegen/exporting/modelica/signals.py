"""Signals with a memory, and tables: declarations and equations, alike beside a network and beside equations."""

from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from typing import final

from tellegen.exporting.diagram_start import DiagramStart
from tellegen.exporting.modelica.words import FormulaPrinter, modelica_name, modelica_number, table_text, with_unit
from tellegen.expressions import Expression
from tellegen.graph.signals import Delayed, Integral, Sampled, SignalLaw, Table


@final
@dataclass(frozen=True)
class SignalLines:
    """The lines of signals. `formulas` are the variables that follow from others at the same time, by name.

    `before` says how what a sample reads is written, where that is not as elsewhere.
    """

    laws: tuple[SignalLaw, ...]
    start: DiagramStart
    printer: FormulaPrinter
    formulas: Mapping[str, Expression]
    before: Mapping[str, str]

    def declarations(self) -> Iterator[str]:
        """Their variables; those of formulas are declared with the others."""
        for law in self.laws:
            name = modelica_name(self.printer.names.get(law.name, law.name))
            if isinstance(law, Sampled):
                first = modelica_number(self.start.value(law.initial))
                yield f"discrete Real {name}{with_unit(law.unit, start=first, fixed='true')};"
            elif isinstance(law, Integral):
                first = modelica_number(self.start.initial(law.name))
                yield f"Real {name}{with_unit(law.unit, start=first, fixed='true')};"
            elif isinstance(law, Table | Delayed):
                yield f"Real {name}{with_unit(law.unit)};"

    def equations(self) -> Iterator[str]:
        """What holds for them."""
        text = self.printer.print
        for law in self.laws:
            name = self.printer.name(law.name)
            if isinstance(law, Table):
                yield f"{name} = {table_text(self.printer.enclosed_text(law.argument), law)};"
            elif isinstance(law, Integral):
                yield f"der({name}) = {text(law.rate)};"
            elif isinstance(law, Delayed):
                # Tools ask for a number there: how much they keep of what was depends on it.
                by, first = modelica_number(self.start.value(law.by)), text(law.initial)
                yield f"{name} = if time < {by} then {first} else delay({text(law.expression)}, {by});"
        yield from self._samples([law for law in self.laws if isinstance(law, Sampled)])

    def _samples(self, laws: list[Sampled]) -> Iterator[str]:
        """What is taken at one instant, together: all of it reads the values from before."""
        before = {law.name: f"pre({self.printer.name(law.name)})" for law in laws}
        text = FormulaPrinter({**self.printer.names, **self.before, **before}).print
        for offset, period in dict.fromkeys((law.offset, law.period) for law in laws):
            yield f"when sample({text(offset)}, {text(period)}) then"
            for law in laws:
                if (law.offset, law.period) == (offset, period):
                    yield f"  {self.printer.name(law.name)} = {text(self._before(law.expression, before.keys()))};"
            yield "end when;"

    def _before(self, expression: Expression, held: Set[str]) -> Expression:
        """A formula in which nothing stands that has a new value as soon as samples are taken."""
        while late := {n for n in expression.free_symbols & self.formulas.keys() if self._reaches(n, held)}:
            expression = expression.substitute({n: self.formulas[n] for n in late})
        return expression

    def _reaches(self, name: str, wanted: Set[str]) -> bool:
        """Whether a formula reads one of the names, itself or through others; or what may follow from one."""
        waiting, seen = [name], {name}
        while waiting:
            e = self.formulas.get(waiting.pop())
            read = frozenset[str]() if e is None else e.free_symbols - seen
            if read & wanted or read & self.before.keys():
                return True
            seen |= read
            waiting += read
        return False


def of_kind(laws: Iterable[SignalLaw], *kinds: type) -> tuple[SignalLaw, ...]:
    """The signals of some kinds."""
    return tuple(law for law in laws if isinstance(law, kinds))
