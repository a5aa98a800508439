"""The energy that storages hold: of one law, of a port, and of all storages of a model with their energy matrix."""

from collections.abc import Iterable, Mapping
from typing import final

from tellegen.core.domains import DOMAINS
from tellegen.equations.congruence import ParameterRates
from tellegen.equations.matrices import Sparse
from tellegen.expressions import HALF, ONE, ZERO, Expression, number, total
from tellegen.expressions.polynomials import powers_of, sum_of_powers
from tellegen.graph import Port, PowerGraph, StorageLaw
from tellegen.graph.power_graph import ARGUMENT, argument


def energy_of_port(port: Port, at: Expression) -> Expression | None:
    """The energy that a storage holds at a value of its state; where heat is counted, that is what it keeps."""
    assert isinstance(port.law, StorageLaw), f"'{port.element}' stores nothing"
    if DOMAINS[port.domain].heat_books:
        return port.law.content_at(at)
    return energy_of_law(port.law, at)


def energy_of_law(law: StorageLaw, at: Expression) -> Expression | None:
    """The stored energy at a value of the state, zero at rest; None where it has no closed form that we find.

    Linear: inertia x^2 / 2. The user's energy function as given. Otherwise the integral of output d(energy variable).
    """
    if law.inertia is not None:
        return HALF * law.inertia * at * at
    if law.energy is not None:
        return law.energy.substitute({ARGUMENT: at})
    if law.output is not None:
        found = antiderivative(law.output)
    else:
        assert law.content is not None, "a nonlinear law gives content, output or energy"
        found = antiderivative(argument() * law.content.derivative(ARGUMENT))
    return None if found is None else found.substitute({ARGUMENT: at})


def antiderivative(expression: Expression) -> Expression | None:
    """The integral over ARGUMENT of a sum of its powers, zero at zero; None for anything else."""
    powers = powers_of(expression, ARGUMENT)
    if powers is None or any(n <= -1 for n in powers):
        return None
    return sum_of_powers({n + 1: c / number(n + 1) for n, c in powers.items()}, ARGUMENT)


@final
class StoredEnergy:
    """The storages in the order of `outputs`, which gives by port what each decides, written over states and inputs."""

    def __init__(self, graph: PowerGraph, outputs: Mapping[int, Expression]) -> None:
        self.graph = graph
        self.outputs = outputs

    def matrix(self) -> Sparse:
        """The energy matrix of all storages: diagonal but for fields."""
        at = {k: i for i, k in enumerate(self.outputs)}
        energy = {(i, i): self._inertia(k) for k, i in at.items()}
        for field in self.graph.fields:
            for a, row in zip(field.ports, field.matrix, strict=True):
                for b, entry in zip(field.ports, row, strict=True):
                    if a in at and entry is not ZERO:
                        energy[at[a], at[b]] = entry
        return energy

    def _inertia(self, k: int) -> Expression:
        law = storage_law(self.graph.ports[k])
        return ONE if law.keeps_energy_variable else law.inertia_at(self.outputs[k])

    def curved(self) -> set[tuple[int, int]]:
        """The entries of the energy matrix that are slopes of nonlinear contents."""
        laws = [storage_law(self.graph.ports[k]) for k in self.outputs]
        return {(i, i) for i, law in enumerate(laws) if law.inertia is None}

    def moved(self, motion: ParameterRates) -> dict[int, Expression]:
        """What storages with nonlinear contents take because displacements move their law, the output being held."""
        found = {}
        for i, (k, output) in enumerate(self.outputs.items()):
            content = storage_law(self.graph.ports[k]).content
            if content is not None and (rate := motion.rate_of(content)) is not ZERO:
                found[i] = rate.substitute({ARGUMENT: output})
        return found

    def total(self) -> Expression | None:
        """The energy of all storages together; None where that of one is not known."""
        shares = [energy_of_port(self.graph.ports[k], at) for k, at in self.outputs.items()]
        known = [share for share in shares if share is not None]
        return total([*known, *self._mutual()]) if len(known) == len(shares) else None

    def _mutual(self) -> Iterable[Expression]:
        """What the entries of fields beside the diagonal store."""
        for coupled in self.graph.fields:
            for i, a in enumerate(coupled.ports):
                for j, b in enumerate(coupled.ports[:i]):
                    if a in self.outputs:
                        yield coupled.matrix[i][j] * self.outputs[a] * self.outputs[b]


def storage_law(port: Port) -> StorageLaw:
    """The law of a port that stores."""
    assert isinstance(port.law, StorageLaw), f"'{port.element}' stores nothing"
    return port.law
