"""The last section of a derivation: what the matrices must be, and are."""

from collections.abc import Iterator
from typing import final

from tellegen.equations.explanation import Item, Relation, Section, Sentence, ShownMatrix
from tellegen.equations.hamiltonian import storage_law
from tellegen.equations.lessons import AbstractTeller, Lesson
from tellegen.equations.matrices import Matrix, negative
from tellegen.expressions import ZERO, is_zero


def check_section(lesson: Lesson) -> Section:
    """Section 5: checks."""
    return _CheckTeller(lesson).checks()


@final
class _CheckTeller(AbstractTeller):
    """Tells what the matrices must be, and are."""

    def checks(self) -> Section:
        items: list[Item] = [Sentence(self._count(), listed=True)]
        if self.causal.integral:
            symmetric = self._equal(self.system.matrices["L"], 1)
            items.append(Sentence(f"$L$ is {'' if symmetric else 'not '}symmetric.", listed=True))
            items += self._parts()
        if self.system.dissipated_power is not ZERO:
            items.append(Sentence("The resistive elements dissipate:", listed=True))
            items.append(Relation("P_d", self.system.dissipated_power))
        else:
            items.append(Sentence("Nothing dissipates: $P_d = 0$.", listed=True))
        if self.causal.integral and self.causal.sources:
            items.append(Sentence(self._reciprocity(), listed=True))
        return Section("Checks", tuple(items))

    def _count(self) -> str:
        followers, states = len(self.causal.dependent), len(self.causal.integral)
        stored = "1 storage" if followers + states == 1 else f"{followers + states} storages"
        return f"{stored}, {followers} dependent: {states} state{'' if states == 1 else 's'}."

    def _parts(self) -> Iterator[Item]:
        """The parts of A; where a storage is given by its output, f holds some of their entries."""
        if any(storage_law(self.ports[k]).keeps_energy_variable for k in self.causal.integral):
            return
        if self.system.is_zero("A"):
            yield Sentence("$A$ is zero: the states neither lose power nor exchange it.", listed=True)
            return
        if self._equal(self.system.matrices["A"], -1):
            yield Sentence("$A$ is skew: power is redistributed and not lost between the states.", listed=True)
            return
        if self._equal(self.system.matrices["A"], 1):
            yield Sentence("$A$ is symmetric: it has no part that redistributes power.", listed=True)
            return
        yield Sentence("$A$ is the sum of $A_s$, which dissipates, and $A_w$, which only redistributes:", listed=True)
        flipped = self.sign == "+"
        for name, part in (("A_s", self.system.symmetric_part), ("A_w", self.system.skew_part)):
            yield ShownMatrix(name, negative(part) if flipped else part)

    def _equal(self, matrix: Matrix, sign: int) -> bool:
        """Whether a matrix is its transpose times a sign."""
        n = len(matrix)
        pairs = [(matrix[i][j], sign * matrix[j][i]) for i in range(n) for j in range(i + 1)]
        return all(is_zero(self.finder.written(a - b, self.system.where)) for a, b in pairs)

    def _reciprocity(self) -> str:
        B, C = self.system.matrices["B"], self.system.matrices["C"]
        pairs = [(B[i][j], C[j][i]) for i in range(len(B)) for j in range(len(C))]
        if all(is_zero(self.finder.written(b - c, self.system.where)) for b, c in pairs):
            return "$C = B^T$: each output answers its input along the same paths."
        return "$C$ is not $B^T$: elements at a source take power from it on paths that cross no integrator."
