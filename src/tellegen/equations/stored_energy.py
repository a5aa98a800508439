"""What the storages of a model hold: their energy matrix, what displacements move in it, and the energy itself."""

from collections.abc import Iterable, Mapping
from typing import final

from tellegen.equations.congruence import Motion
from tellegen.equations.matrices import Sparse
from tellegen.equations.storage import held_energy
from tellegen.expressions import ONE, ZERO, Expression, total
from tellegen.graph import Port, PowerGraph, StorageLaw
from tellegen.graph.laws import ARGUMENT


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

    def moved(self, motion: Motion) -> dict[int, Expression]:
        """What storages with nonlinear contents take because displacements move their law, the output being held."""
        found = {}
        for i, (k, output) in enumerate(self.outputs.items()):
            content = storage_law(self.graph.ports[k]).content
            if content is not None and (rate := motion.rate_of(content)) is not ZERO:
                found[i] = rate.substitute({ARGUMENT: output})
        return found

    def total(self) -> Expression | None:
        """The energy of all storages together; None where that of one is not known."""
        shares = [held_energy(self.graph.ports[k], at) for k, at in self.outputs.items()]
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
