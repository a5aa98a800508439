"""Power variables of ports that are neither states nor inputs, as expressions of these."""

from collections.abc import Iterable

from tellegen.equations.nonlinear import Row
from tellegen.equations.resistive import Told
from tellegen.equations.structure import CausalStructure
from tellegen.expressions import Expression, symbol, total
from tellegen.graph import SourceLaw, StorageLaw


class PortVariables:
    """Finds what a variable of a port is once the resistive laws are solved."""

    def __init__(self, structure: CausalStructure, told: Told) -> None:
        self.structure = structure
        self.causal = structure.causal
        self.told = told
        self.following = set(self.causal.derivative)
        self.places = {}
        for k, port in enumerate(self.causal.graph.ports):
            self.places[port.variable(self.causal.decides[k])] = (k, True)
            self.places[port.variable(self.causal.follows(k))] = (k, False)

    def replacements(self, names: Iterable[str]) -> dict[str, Expression]:
        """Expressions of states, inputs and unknowns for the names that stand for something else.

        What the rate of a state decides, in a dependent storage, keeps its name.
        """
        found = {}
        for name in names:
            if name in self.places:
                known = self._variable(*self.places[name])
                if known is not None and known is not symbol(name):
                    found[name] = known
        return found

    def _variable(self, port: int, decided: bool) -> Expression | None:
        if decided:
            return None if port in self.following else self._decided(port)
        gains = self.structure.gains[port]
        if any(j in self.following for j in gains):
            return None
        return total(gain.expression * self._decided(j) for j, gain in gains.items())

    def _decided(self, k: int) -> Expression:
        port = self.causal.graph.ports[k]
        if k in self.told.decided:
            return self.told.decided[k]
        if isinstance(port.law, SourceLaw):
            return symbol(port.law.input)
        if isinstance(port.law, StorageLaw):
            return symbol(port.state)
        return self._sum(self.told.resistive[k])

    def _sum(self, row: Row) -> Expression:
        return total(gain.expression * self._decided(j) for j, gain in row.items())
