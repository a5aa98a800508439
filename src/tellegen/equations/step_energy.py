"""The second section of a derivation: constitutive relations and the energy matrix."""

from collections.abc import Iterator
from typing import final

from tellegen.core.domains import DOMAINS
from tellegen.core.names import named_after
from tellegen.equations.explanation import Item, Relation, Section, Sentence, ShownMatrix
from tellegen.equations.hamiltonian import storage_law
from tellegen.equations.lessons import AbstractTeller, Lesson
from tellegen.equations.matrices import Matrix, dot, zeros
from tellegen.expressions import ONE, ZERO, Expression, symbol
from tellegen.graph import Port, StorageLaw
from tellegen.graph.laws import ARGUMENT


def energy_section(lesson: Lesson) -> Section:
    """Section 2: the energy matrix."""
    return _EnergyTeller(lesson).energy()


@final
class _EnergyTeller(AbstractTeller):
    """Tells the constitutive relations, and the energy matrix that they make."""

    def energy(self) -> Section:
        if not self.causal.integral and not self.causal.dependent:
            return Section("Energy matrix", ())
        items: list[Item] = [Sentence("The constitutive relations link energy variables to outputs:")]
        items += [self._content(self.ports[k], name, symbol(self.ports[k].state)) for k, name in self._contents()]
        for k, name in zip(self.causal.derivative, self.system.dependent, strict=True):
            items.append(self._content(self.ports[k], self._free_name(self.ports[k]), symbol(name)))
        if self.causal.dependent:
            items += self._congruence()
        elif self.causal.integral:
            items.append(
                Sentence("Their coefficients, or slopes where a relation is not linear, are the entries of $L$:")
            )
        items += [ShownMatrix("L", self.system.matrices["L"])] if self.causal.integral else []
        if not self.system.is_zero("N"):
            items.append(
                Sentence("$T$ moves with the displacements, which adds $N x$ to the left side, $N = T^T L_0 T'$:")
            )
            items.append(ShownMatrix("N", self.system.matrices["N"]))
        return Section("Energy matrix", tuple(items))

    def _contents(self) -> Iterator[tuple[int, str]]:
        return zip(self.causal.integral, self.energy_names, strict=True)

    def _free_name(self, port: Port) -> str:
        name = named_after(DOMAINS[port.domain].energy(storage_law(port).side).symbol, port.element)
        while name in self.taken:
            name += "_"
        return name

    def _content(self, port: Port, name: str, output: Expression) -> Relation:
        law = storage_law(port)
        if law.output is not None:
            return Relation(port.variable(law.side), law.output.substitute({ARGUMENT: symbol(name)}))
        if law.content is not None:
            return Relation(name, law.content.substitute({ARGUMENT: output}))
        if law.inertia is None:  # the slope is all that is known
            return Relation(f"d{name}/d{output}", law.inertia_at(output))
        return Relation(name, self._coupled_content(port, law.inertia * output))

    def _coupled_content(self, port: Port, alone: Expression) -> Expression:
        """The content of a storage that belongs to a field: by the outputs of all its ports."""
        for coupled in self.causal.graph.fields:
            members = [self.ports[k] for k in coupled.ports]
            if port in members:
                outputs = [symbol(p.variable(storage_law(p).side)) for p in members if isinstance(p.law, StorageLaw)]
                return dot(coupled.matrix[members.index(port)], outputs)
        return alone

    def _congruence(self) -> Iterator[Item]:
        """The outputs of all storages by those of the independent ones."""
        states, inputs = self.system.states, self.system.inputs
        n = len(states)
        followers = tuple(self.system.dependent.values())
        T: Matrix = tuple(tuple(ONE if i == j else ZERO for j in range(n)) for i in range(n))
        T += tuple(tuple(e.derivative(x) for x in states) for e in followers)
        T_u: Matrix = zeros(n, len(inputs))
        T_u += tuple(tuple(e.derivative(u) for u in inputs) for e in followers)
        driven = any(e is not ZERO for row in T_u for e in row)
        names = ", ".join(f"`{name}`" for name in (*states, *self.system.dependent))
        share = " + T_u u" if driven else ""
        yield Sentence(f"The outputs of all storages, in the order {names}, are $T x{share}$:")
        if states:
            yield ShownMatrix("T", T)
        if driven:
            yield ShownMatrix("T_u", T_u)
        if states:
            yield Sentence("With the matrix $L_0$ of all constitutive relations, the energy matrix is $L = T^T L_0 T$:")
