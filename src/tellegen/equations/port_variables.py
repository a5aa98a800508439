"""Power variables of ports that are neither states nor inputs, as expressions of these."""

from collections.abc import Iterable, Mapping, Set
from typing import final

from tellegen.equations.nonlinear import Row
from tellegen.equations.resistive import Told
from tellegen.equations.signal_equations import SignalEquations, jumps
from tellegen.equations.structure import CausalStructure
from tellegen.expressions import Expression, symbol, total
from tellegen.expressions.entries import substituted
from tellegen.graph import SourceLaw, StorageLaw


class PortVariables:
    """Finds what a variable of a port is once the resistive laws are solved.

    With `rates`, what rates of states decide, in dependent storages, stands by its name in what depends on it.
    """

    def __init__(self, structure: CausalStructure, told: Told, *, rates: bool = False) -> None:
        self.structure = structure
        self.causal = structure.causal
        self.told = told
        self.following = set(self.causal.derivative)
        self.rates = rates
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
        if any(j in self.following for j in gains) and not self.rates:
            return None
        found = total(gain.expression * self._decided(j) for j, gain in gains.items())
        # Power counts into elements and out of sources: the conjugate of an input has the sign of the output y.
        return -found if isinstance(self.causal.graph.ports[port].law, SourceLaw) else found

    def _decided(self, k: int) -> Expression:
        port = self.causal.graph.ports[k]
        if k in self.told.decided:
            return self.told.decided[k]
        if k in self.following:
            return symbol(port.variable(self.causal.decides[k]))
        if isinstance(port.law, SourceLaw):
            return symbol(port.law.input)
        if isinstance(port.law, StorageLaw):
            return symbol(port.state)
        return self._sum(self.told.resistive[k])

    def _sum(self, row: Row) -> Expression:
        return total(gain.expression * self._decided(j) for j, gain in row.items())


@final
class Settled:
    """Expressions of moduli written over states, inputs, displacements and time.

    Outputs of dependent storages, variables of resistive elements and signals that are formulas are replaced by what they are.
    """

    def __init__(
        self, structure: CausalStructure, told: Told, where: Mapping[str, Expression], signals: SignalEquations
    ) -> None:
        ports = structure.causal.graph.ports
        self.known = PortVariables(structure, told)
        self.where = where
        self.unknowns = frozenset(told.unknowns)
        following = {ports[k].state for k in structure.causal.derivative}
        self.given = {p.law.input if isinstance(p.law, SourceLaw) else p.state for p in ports} - following - {""}
        variables = {name for p in ports for name in (p.across, p.through, p.state)} - {""}
        self.formulas = _reading(signals, variables)
        self.names = variables | self.formulas.keys()

    def written(self, expression: Expression) -> Expression:
        """The expression with everything replaced that follows from states and inputs; a circle of names is left as it is."""
        found = substituted(expression, self.where)
        for _ in range(len(self.names)):
            wanted = self.unsettled(found)
            formulas = {name: self.formulas[name] for name in wanted & self.formulas.keys()}
            replaced = formulas | self.known.replacements(wanted)
            if not replaced:
                break
            found = substituted(found.substitute(replaced), self.where)
        return found

    def following(self, expression: Expression) -> set[str]:
        """Names of variables and formulas that are neither states, inputs nor unknowns."""
        return {n for n in expression.free_symbols & self.names if n not in self.given and n not in self.unknowns}

    def followed(self, names: Iterable[str]) -> dict[str, Expression]:
        """What names stand for, one step away; those that only rates of states decide are left out."""
        wanted = list(names)
        found = {name: self.formulas[name] for name in wanted if name in self.formulas}
        found |= self.known.replacements(name for name in wanted if name not in found)
        return {name: substituted(e, self.where) for name, e in found.items()}

    def unsettled(self, expression: Expression) -> set[str]:
        """Names of variables that are neither states nor inputs."""
        return {n for n in expression.free_symbols if n in self.names and n not in self.given} | (
            expression.free_symbols & self.unknowns
        )


def _reading(signals: SignalEquations, variables: Set[str]) -> dict[str, Expression]:
    """Signals that are smooth formulas of power variables, themselves or through each other."""
    found: dict[str, Expression] = {}
    for name, expression in signals.values.items():
        if expression.free_symbols & (variables | found.keys()) and not jumps(expression):
            found[name] = expression
    return found
