"""Power variables of ports as formulas, those that rates of states decide among them: forces of constraints, guards of modes.

A storage that follows others decides how fast its content changes. So what it asks of the rest, and with it the force in a joint
or in a clutch that sticks, is a formula of the rates of states and inputs.
"""

from collections.abc import Iterable, Mapping
from typing import final

from tellegen.causality import CausalGraph
from tellegen.core.names import TIME
from tellegen.equations.port_variables import PortVariables
from tellegen.equations.resistive import Told, solve_resistive
from tellegen.equations.signal_equations import SignalRates
from tellegen.equations.structure import causal_structure
from tellegen.equations.system import EquationSystem
from tellegen.expressions import ONE, ZERO, Expression, symbol, total
from tellegen.expressions.entries import Entry, NamedEntries, substituted
from tellegen.graph import SourceLaw, StorageLaw


@final
class PortFormulas:
    """Formulas over states, inputs, displacements and signals, over the names in `where` and over rates.

    `rates` gives the names that the rates of states have. Names of `where` begin otherwise than those of the equations.
    """

    def __init__(
        self, causal: CausalGraph, system: EquationSystem, rates: Mapping[str, str], taken: Iterable[str]
    ) -> None:
        self.causal = causal
        self.system = system
        self.ports = causal.graph.ports
        self.rates = {name: symbol(rate) for name, rate in rates.items()}
        self._field = NamedEntries(causal.graph.parameters, taken, prefix="k")
        self._structure = causal_structure(causal, self._field)
        self._told: Told = solve_resistive(self._structure, self._field)
        self._places = PortVariables(self._structure, self._told).places
        self._following = set(causal.derivative)
        known = {*causal.graph.parameters}
        self._signals = SignalRates(system.signals, system.displacements, causal.graph.moving, known)

    @property
    def where(self) -> Mapping[str, Expression]:
        """What the names in the formulas stand for, in order."""
        return self._field.where

    def __contains__(self, name: str) -> bool:
        return name in self._places

    def of(self, name: str) -> Expression:
        """The formula of a power variable.

        Raises: EquationError where it reads the rate of something that jumps.
        """
        port, decided = self._places[name]
        return self._decided(port) if decided else self.told(port)

    def told(self, port: int) -> Expression:
        """What the rest of the model tells a port."""
        return self._sum(self._structure.gains[port])

    def input_rate(self, name: str) -> Expression:
        """How fast an input changes.

        Raises: EquationError where it jumps.
        """
        driver = self.system.signals.drivers.get(name)
        return ZERO if driver is None else self.rate(driver)

    def rate(self, expression: Expression) -> Expression:
        """The derivative of a formula along the motion.

        Raises: EquationError where it reads something that jumps.
        """
        written = substituted(expression, self.system.where)
        return total(written.derivative(name) * self._rate_of(name) for name in sorted(written.free_symbols))

    def _rate_of(self, name: str) -> Expression:
        if name in self.rates:
            return self.rates[name]
        if name == TIME:
            return ONE
        if name in self.system.inputs:
            return self.input_rate(name)
        if name in self.causal.graph.parameters:
            return ZERO
        return self._signals.of(name)

    def _sum(self, row: Mapping[int, Entry]) -> Expression:
        return total(gain.expression * self._decided(k) for k, gain in row.items())

    def _decided(self, k: int) -> Expression:
        port, law = self.ports[k], self.ports[k].law
        if k in self._following:
            return self._content_rate(k)
        if k in self._told.decided:
            return self._told.decided[k]
        if isinstance(law, SourceLaw):
            return symbol(law.input)
        if isinstance(law, StorageLaw):
            return symbol(port.state)
        return self._sum(self._told.resistive[k])

    def _content_rate(self, k: int) -> Expression:
        """How fast the content of a storage that follows others changes."""
        for field in self.causal.graph.fields:
            if k in field.ports:
                row = field.matrix[field.ports.index(k)]
                return self.rate(total(e * self.output(j) for e, j in zip(row, field.ports, strict=True)))
        law = self.ports[k].law
        assert isinstance(law, StorageLaw), "only storages follow others"
        output = self.output(k)
        content = law.content_at(output)
        return law.inertia_at(output) * self.rate(output) if content is None else self.rate(content)

    def output(self, k: int) -> Expression:
        """The output of a storage: a state, or what others make it."""
        port, law = self.ports[k], self.ports[k].law
        assert isinstance(law, StorageLaw), "only storages have an output"
        return self.system.dependent[port.variable(law.side)] if k in self._following else symbol(port.state)
