"""The storages of a graph as numbers: what a change of their outputs means for what they hold."""

from collections.abc import Mapping, Sequence
from typing import final

import numpy as np
from numpy.typing import NDArray

from tellegen.equations.system import parameter_values
from tellegen.expressions import Expression, number
from tellegen.graph import PowerGraph, StorageLaw
from tellegen.graph.laws import ARGUMENT

Array = NDArray[np.float64]

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)


@final
class Storages:
    """Flux, charge, momentum and displacement of all storages, by their outputs.

    Storages are counted in the order of description. Those whose law gives the output of the energy variable are states in every
    mode: nothing is ever asked about them here.
    """

    def __init__(self, graph: PowerGraph, parameters: Mapping[str, float]) -> None:
        self.graph = graph
        self.ports = list(graph.storages())
        given: dict[str, Expression | None] = {name: number(value) for name, value in parameters.items()}
        self.parameters = parameter_values({**graph.parameters, **given})
        self._place = {k: i for i, k in enumerate(self.ports)}
        self._fields = {
            self._place[k]: (tuple(self._place[j] for j in coupled.ports), coupled.matrix[i])
            for coupled in graph.fields
            for i, k in enumerate(coupled.ports)
            if k in self._place
        }

    def place(self, port: int) -> int:
        """The place of a storage port among the storages."""
        return self._place[port]

    def law(self, i: int) -> StorageLaw:
        """The law of storage i."""
        law = self.graph.ports[self.ports[i]].law
        assert isinstance(law, StorageLaw), "only storages are counted"
        return law

    def partners(self, i: int) -> tuple[int, ...]:
        """The storages coupled with storage i by a field, itself among them."""
        return self._fields[i][0] if i in self._fields else (i,)

    def environment(self, displacements: Mapping[str, float]) -> dict[str, float]:
        """The values of the names that laws read: parameters, displacements, and parameters that move with them."""
        values = {**self.parameters, **displacements}
        for name, expression in self.graph.moving.items():
            values[name] = expression.evaluate(values)
        return values

    def change(self, among: Sequence[int], before: Array, after: Array, environment: Mapping[str, float]) -> Array:
        """How much the contents of some storages change between two sets of outputs."""
        return np.array([self._change(i, before, after, environment) for i in among])

    def inertia(self, among: Sequence[int], outputs: Array, environment: Mapping[str, float]) -> Array:
        """The derivatives of their contents by their outputs: a matrix, diagonal but for fields."""
        found = np.zeros((len(among), len(among)))
        place = {i: row for row, i in enumerate(among)}
        for row, i in enumerate(among):
            if i in self._fields:
                others, entries = self._fields[i]
                for j, entry in zip(others, entries, strict=True):
                    if j in place:
                        found[row, place[j]] = entry.evaluate(environment)
            else:
                found[row, row] = self._slope(i, float(outputs[i]), environment)
        return found

    def energy_change(
        self, among: Sequence[int], before: Array, after: Array, environment: Mapping[str, float]
    ) -> float:
        """How much the energy of some storages changes, those that share a field all among them."""
        found = 0.0
        for i in among:
            if i in self._fields:
                others, entries = self._fields[i]
                row = np.array([entry.evaluate(environment) for entry in entries])
                both = [float(x[i] * (row @ x[list(others)])) for x in (before, after)]
                found += 0.5 * (both[1] - both[0])
                continue
            law, low, high = self.law(i), float(before[i]), float(after[i])
            if law.inertia is not None:
                found += 0.5 * law.inertia.evaluate(environment) * (high * high - low * low)
            else:  # dE = x dp
                middle, half = 0.5 * (low + high), 0.5 * (high - low)
                points = middle + half * _NODES
                found += half * float(np.dot(_WEIGHTS, [x * self._slope(i, float(x), environment) for x in points]))
        return found

    def _change(self, i: int, before: Array, after: Array, environment: Mapping[str, float]) -> float:
        if i in self._fields:
            others, entries = self._fields[i]
            steps = (
                entry.evaluate(environment) * (after[j] - before[j]) for j, entry in zip(others, entries, strict=True)
            )
            return float(sum(steps))
        law, low, high = self.law(i), float(before[i]), float(after[i])
        if law.inertia is not None:
            return law.inertia.evaluate(environment) * (high - low)
        if law.content is not None:
            at = [law.content.evaluate({**environment, ARGUMENT: x}) for x in (low, high)]
            return at[1] - at[0]
        # Only the slope is known: Gauss on the way from one output to the other.
        middle, half = 0.5 * (low + high), 0.5 * (high - low)
        slopes = [self._slope(i, middle + half * node, environment) for node in _NODES]
        return half * float(np.dot(_WEIGHTS, slopes))

    def _slope(self, i: int, output: float, environment: Mapping[str, float]) -> float:
        law = self.law(i)
        if law.inertia is not None:
            return law.inertia.evaluate(environment)
        slope = law.slope
        if slope is None:
            assert law.content is not None, "a law without inertia or slope has a content"
            slope = law.content.derivative(ARGUMENT)
        return slope.evaluate({**environment, ARGUMENT: output})
