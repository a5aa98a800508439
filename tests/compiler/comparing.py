"""Compiled models beside the equations they must agree with."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tellegen.causality import CausalGraph
from tellegen.compiler import NumericModel
from tellegen.compiler.context import Array, ModelContext
from tellegen.equations.derivation import derive_equations
from tellegen.equations.system import EquationSystem, MatrixName
from tellegen.expressions import Expression


@dataclass(frozen=True)
class Point:
    """A model at a random point, and the equations evaluated there."""

    model: NumericModel
    equations: EquationSystem
    y: Array
    yp: Array
    u: Array

    @property
    def context(self) -> ModelContext:
        return self.model.new_context(inputs=self.u)

    @property
    def x(self) -> Array:
        return self.y[: len(self.model.states)]

    @property
    def inputs(self) -> Array:
        """Every input, those that signals drive included."""
        shown = self.model.observe(0.0, self.y, self.yp, self.context)
        found = {o.name: v for o, v in zip(self.model.observables, shown, strict=True) if o.kind != "output"}
        return np.array([found[name] for name in self.equations.inputs])

    def _values(self) -> Mapping[str, float]:
        values = self.equations.values()
        values |= dict(zip(self.model.parameters, self.model.parameter_values.tolist(), strict=True))
        values |= dict(zip(self.model.names, self.y.tolist(), strict=True))
        values |= dict(zip(self.equations.inputs, self.inputs.tolist(), strict=True))
        for name, formula in self.equations.where.items():
            values[name] = formula.evaluate(values)
        return values

    def matrix(self, name: MatrixName) -> Array:
        rows, values = self.equations.matrices[name], self._values()
        wide = len(self.equations.inputs) if name in ("B", "D", "B_1", "D_1") else len(self.equations.states)
        return np.array([[e.evaluate(values) for e in row] for row in rows]).reshape(len(rows), wide)

    def vector(self, expressions: tuple[Expression, ...]) -> Array:
        values = self._values()
        return np.array([e.evaluate(values) for e in expressions])

    def residual(self) -> Array:
        """L x' + N x + f + A x - B u with constant inputs, then the displacements."""
        rates = self.yp[: len(self.model.states)]
        found = (
            self.matrix("L") @ rates + (self.matrix("N") + self.matrix("A")) @ self.x - self.matrix("B") @ self.inputs
        )
        first, last = len(self.model.states), len(self.model.states) + len(self.model.displacements)
        moved = self.yp[first:last] - self.vector(tuple(self.equations.displacements.values()))
        return np.concatenate([found + self.vector(self.equations.vectors["f"]), moved])

    def output(self) -> Array:
        """C x + D u + f_y with constant inputs."""
        linear = self.matrix("C") @ self.x + self.matrix("D") @ self.inputs
        return linear + self.vector(self.equations.vectors["f_y"])


def at_random_point(model: NumericModel, causal: CausalGraph, seed: int = 0, size: float = 1.0) -> Point:
    """The model somewhere."""
    chance = np.random.default_rng(seed)
    y, yp = size * chance.normal(size=(2, model.size))
    return Point(model, derive_equations(causal), y, yp, size * chance.normal(size=len(model.inputs)))


def close(found: Array, expected: Array, tolerance: float = 1e-10) -> bool:
    """Whether two vectors agree to a share of the largest entry."""
    scale = max(1.0, float(np.abs(expected).max(initial=0.0)), float(np.abs(found).max(initial=0.0)))
    wrong = float(np.abs(found - expected).max(initial=0.0))
    assert wrong <= tolerance * scale, f"{found} is not {expected}"
    return True
