"""How long does `tellegen.check` take on an RC mesh of 100 by 100 nodes, written as a YAML file with repeated blocks?

A capacitor to ground at every node, a resistor between neighbours, a voltage source in one corner. Check: the capacitor on the
source depends on it and every other one has a state; the current of the source, by the descriptor form, is that of nodal analysis
in SciPy at two complex frequencies, one so low that the far corner counts; a constant voltage draws no current in the end.
"""

# ruff: noqa: PLC0415  what checks the result is loaded after the clock has stopped

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import final

from benchmarks.harness import AbstractCase, Facts, Row, Target, measure, row, written_file
from tellegen.equations.checking import Check, check
from tellegen.workflow.deriving import derive

R, C = 2.0, 0.5
TOLERANCE = 1e-9
"""Rounding in a sparse factorisation of 10 000 unknowns gives some 1e-13."""


def mesh(n: int) -> str:
    """The file."""
    return f"""system: RC mesh
parameters: {{N: {n}}}
network:
  V: {{voltage source: ["n[1,1]", gnd]}}
  nodes:
    repeat: {{i: 1..N, j: 1..N}}
    network:
      "C[i,j]": {{capacitor: ["n[i,j]", gnd], C: {C} F}}
  along:
    repeat: {{i: 1..N, j: 1..N-1}}
    network:
      "R[i,j]": {{resistor: ["n[i,j]", "n[i,j+1]"], R: {R} ohm}}
  across:
    repeat: {{i: 1..N-1, j: 1..N}}
    network:
      "Q[i,j]": {{resistor: ["n[i,j]", "n[i+1,j]"], R: {R} ohm}}
"""


@final
@dataclass(frozen=True)
class MeshCheck(AbstractCase):
    """`tellegen.check` of a file with a mesh of n by n nodes."""

    n: int

    def prepare(self) -> Path:
        return written_file(mesh(self.n), ".yaml")

    def work(self, given: Path) -> Check:
        return check(given)

    def check(self, given: Path, found: Check) -> Facts:
        capacitors = self.n**2
        expected = (True, capacitors + 2 * self.n * (self.n - 1) + 1, capacitors - 1, {"C[1,1]": ("V",)})
        counted = (found.ok, found.elements, len(found.states), dict(found.dependent))
        error = self._error(given)
        text = f"{len(found.states)} states, {len(found.dependent)} dependent, error {error:.0e}"
        return {"ok": counted == expected and error < TOLERANCE, "check": text, "error": error}

    def _error(self, path: Path) -> float:
        """The largest relative error of the response, and of the current at rest."""
        from oracles.nodal import POINTS, Branch, descriptor_response, largest_error, nodal_response

        n = self.n
        at = {(i, j): 1 + i * n + j for i in range(n) for j in range(n)}
        branches = [Branch("V", "V", at[0, 0], 0)]
        branches += [Branch("C", "C", node, 0) for node in at.values()]
        for (i, j), node in at.items():
            branches += [Branch("R", "R", node, at[end]) for end in ((i, j + 1), (i + 1, j)) if end in at]
        form = derive(path, form="dae", numeric=True)
        values = {"R": R, "C": C}
        points = (POINTS[0], 1j / n**2)
        errors = [largest_error(descriptor_response(form, s), nodal_response(branches, values, s)) for s in points]
        at_rest = abs(complex(descriptor_response(form, 0j)[0, 0])) * R
        return max(*errors, at_rest)


def run(full: bool) -> Iterator[Row]:
    """Meshes of 30 by 30 and 100 by 100, with and without `full`."""
    for n in (30, 100):
        target = Target(3.0) if n == 100 else None
        yield row(
            f"check of a mesh {n} x {n}", 3 * n * n - 2 * n + 1, measure(MeshCheck(n)), target=target, memory=True
        )
