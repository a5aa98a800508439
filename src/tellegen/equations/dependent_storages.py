"""Storages that follow others: their outputs x = T z + T_u u by the states z and the inputs u."""

from typing import final

from tellegen.core.names import listing
from tellegen.equations import rules
from tellegen.equations.matrices import Matrix, Vector
from tellegen.equations.port_variables import Settled
from tellegen.equations.stored_energy import storage_law
from tellegen.equations.structure import CausalStructure
from tellegen.expressions import ZERO, Expression, symbol, total
from tellegen.expressions.entries import NamedEntries, substituted
from tellegen.graph import Port, ResistiveLaw, SourceLaw, StorageLaw


def input_of(port: Port) -> str:
    """The name of the input that a source is."""
    assert isinstance(port.law, SourceLaw), f"'{port.element}' is no source"
    return port.law.input


def refuse_denied_states(structure: CausalStructure) -> None:
    """Refuse dependent storages that would follow anything but storages and sources.

    Raises: EquationError (E101).
    """
    causal = structure.causal
    ideal = {k for k in causal.resistive if _is_ideal(causal.graph.ports[k])}  # they decide that something is zero
    free = {*causal.resistive, *causal.derivative} - ideal
    for k in causal.derivative:
        blockers = [j for j in structure.gains[k] if j in free]
        if blockers:
            port, decider = causal.graph.ports[k], causal.graph.ports[blockers[0]]
            raise rules.NOT_A_STATE.error(
                f"'{port.element}' is asked to follow, but only '{decider.element}' would decide its output",
                where=port.element,
                fix="leave its causality free",
                place=port.place,
            )


def _is_ideal(port: Port) -> bool:
    return isinstance(port.law, ResistiveLaw) and port.law.ideal


@final
class DependentStorages:
    """The rows of T and T_u for the dependent storages of a graph, and the outputs of all storages by their ports.

    Raises: EquationError where a law gives the output that others follow (E102), or a modulus reads what is not settled (E108).
    """

    def __init__(self, structure: CausalStructure, field: NamedEntries, settled: Settled) -> None:
        self.structure = structure
        self.causal = structure.causal
        self.ports = self.causal.graph.ports
        self._refuse_output_laws()
        states, sources, dependent = self.causal.integral, self.causal.sources, self.causal.derivative
        T = tuple(tuple(self._gain(k, j, field) for j in states) for k in dependent)
        T_u = tuple(tuple(self._gain(k, j, field) for j in sources) for k in dependent)
        self.T, self.T_u = self._over_states(T, settled), self._over_states(T_u, settled)
        self.outputs = self._outputs()

    def _refuse_output_laws(self) -> None:
        for k in self.causal.derivative:
            for j in self.structure.gains[k]:
                law = self.ports[j].law
                if isinstance(law, StorageLaw) and law.keeps_energy_variable:
                    raise rules.DEPENDS_ON_OUTPUT_LAW.error(
                        f"'{self.ports[k].element}' follows '{self.ports[j].element}', whose law gives its output",
                        where=self.ports[k].element,
                        fix=f"write the law of '{self.ports[j].element}' for its energy variable",
                        place=self.ports[j].place,
                    )

    def _gain(self, told: int, decided: int, field: NamedEntries) -> Expression:
        """A gain with its names written out where displacements move it, so that its rate is seen."""
        found = self.structure.gain(told, decided)
        if found is None:
            return ZERO
        moves = self.causal.graph.displacements or self.causal.graph.signals
        return substituted(found.expression, field.where) if moves else found.expression

    def _over_states(self, matrix: Matrix, settled: Settled) -> Matrix:
        """Rows of the transformation with what moduli read written over states and inputs, so that its rate is seen.

        Raises: EquationError (E108) where a modulus reads what follows from itself, or an algebraic unknown.
        """
        moduli = [c.element for c in self.causal.graph.couplings if settled.names & c.free_symbols]
        if not moduli:
            return matrix
        rows = []
        for k, row in zip(self.causal.derivative, matrix, strict=True):
            entries = [settled.written(e) for e in row]
            left = sorted(set().union(*(settled.unsettled(e) for e in entries)))
            if left:
                raise rules.CURVED_TRANSFORMATION.error(
                    f"'{self.ports[k].element}' follows other storages through a modulus that reads {listing(left)}",
                    where=self.ports[k].element,
                    fix=f"let the modulus of {listing(moduli)} read states or displacements, or put an elastic element between "
                    "the storages",
                    place=self.ports[k].place,
                )
            rows.append(tuple(entries))
        return tuple(rows)

    def _outputs(self) -> dict[int, Expression]:
        """The outputs of all storages by their ports, independent ones first."""
        outputs: dict[int, Expression] = {k: symbol(self.ports[k].state) for k in self.causal.integral}
        rows = zip(self.causal.derivative, self.T, self.T_u, strict=True)
        return outputs | {k: self._output(row, row_u) for k, row, row_u in rows}

    def _output(self, row: Vector, row_u: Vector) -> Expression:
        states = zip(self.causal.integral, row, strict=True)
        inputs = zip(self.causal.sources, row_u, strict=True)
        by_states = total(e * symbol(self.ports[k].state) for k, e in states if e is not ZERO)
        return by_states + total(e * symbol(input_of(self.ports[k])) for k, e in inputs if e is not ZERO)

    def followers(self) -> dict[str, Expression]:
        """The outputs of the dependent storages by their names."""
        ports = self.ports
        return {ports[k].variable(storage_law(ports[k]).side): self.outputs[k] for k in self.causal.derivative}

    def rates_of_displacements(self) -> dict[str, Expression]:
        """The rates of the displacements, by states and inputs."""
        follow = self.followers()
        return {name: rate.substitute(follow) for name, rate in self.causal.graph.displacements.items()}
