"""Where the run of an inverse begins: on the courses of its outputs, and as near as can be to where the model begins."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from tellegen.core.names import TIME, listing
from tellegen.equations.forms.inverse import InverseSystem
from tellegen.equations.start import model_start
from tellegen.equations.system import EquationSystem
from tellegen.experiments.initial_values import initial_states
from tellegen.experiments.quantities import Quantity
from tellegen.expressions import ZERO, Expression, number
from tellegen.graph import PowerGraph
from tellegen.model.model import Model
from tellegen.studies import rules

Array = NDArray[np.float64]

STEPS: Final = 60
CLOSE: Final = 1e-10
SOLVED: Final = 1e-7
LEAST_SHARE: Final = 1e-6
MOVED: Final = 1e-9
GONE: Final = 1e-10
SECANT: Final = 1e-6
"""How long Newton's method looks for the start, and when it has found it."""


@final
@dataclass(frozen=True, eq=False)
class CourseStart:
    """States on the courses: as the `model` says, and as `found`; `values` are those of everything there.

    `moved` names those that are elsewhere, `gains` is how the highest derivatives answer the inputs there, which `acts_weakly`
    where that vanishes beside what it is close by.
    """

    model: Mapping[str, float]
    found: Mapping[str, float]
    moved: tuple[str, ...]
    values: Mapping[str, float]
    gains: Array
    acts_weakly: bool


def start_on_course(
    model: Model,
    graph: PowerGraph,
    parameters: Mapping[str, float],
    equations: InverseSystem,
    courses: Mapping[str, Sequence[Expression]],
    initial: Mapping[str, Quantity],
) -> CourseStart:
    """The states nearest to those of the model, in energy, that are on the courses.

    Raises: SimulationError (S454) where there are none.
    """
    given = initial_states(graph, model, {**model.experiment.initial, **initial}, parameters)
    known = {**model_start(model, given, parameters), **given}
    plant = equations.plant
    begun = {law: e for law, e in plant.initial.items() if law in equations.rates}
    states = {
        name: known[name] if name in known else begun[name].evaluate(parameters) if name in begun else 0.0
        for name in equations.rates
    }
    constants = {**parameters, **plant.values(), TIME: 0.0}
    rows = [r for closure in model.closures for r in closure.equations]
    rows += plant.algebraic.residuals
    for name, chain, last in zip(plant.outputs, equations.chains, equations.highest, strict=True):
        # One equation for each derivative of the course; the highest is that of the input.
        rows += [e - number(r.evaluate(constants)) for e, r in zip((*chain, last), courses[name], strict=True)]
    names = (*equations.rates, *plant.algebraic.unknowns, *plant.inputs)
    solving = _Nearest(rows, names, {**constants, **states}, _weights(plant, names, {**constants, **states}))
    found = solving.point()
    if found is None:
        courses_told = "its course" if len(courses) == 1 else "their courses"
        raise rules.NO_START_ON_COURSE.error(
            f"no state of '{model.name}' has {listing(plant.outputs)} on {courses_told} at t = 0",
            where=plant.outputs[0],
            fix="begin the course where the model can be, or give initial values near to it",
        )
    at = {**constants, **dict(zip(names, found.tolist(), strict=True))}
    gains = _slopes(equations.highest, plant.inputs, at, plant)
    moved = tuple(name for name, m in zip(names, solving.is_moved(found), strict=True) if m and name in states)
    there = {name: float(at[name]) if name in moved else value for name, value in states.items()}
    return CourseStart(states, there, moved, at, gains, _vanish(gains, equations, at))


def _vanish(gains: Array, equations: InverseSystem, at: Mapping[str, float]) -> bool:
    """Whether inputs stop acting at a point, beside how they act close by."""
    plant = equations.plant
    beside = {name: at[name] + 0.1 * (abs(at[name]) + 1.0) for name in equations.rates}
    try:
        near = _slopes(equations.highest, plant.inputs, {**at, **beside}, plant)
    except (ArithmeticError, ValueError, np.linalg.LinAlgError):
        return False
    size = np.maximum(np.abs(near), np.abs(gains))
    rows = _sizes(size, 1)
    columns = _sizes(size / np.where(rows > 0, rows, 1.0)[:, None], 0)
    scaled = gains / np.where(rows > 0, rows, 1.0)[:, None] / np.where(columns > 0, columns, 1.0)
    return bool(np.linalg.svd(scaled, compute_uv=False).min(initial=1.0) < GONE)


def _weights(plant: EquationSystem, names: Sequence[str], at: Mapping[str, float]) -> Array:
    """What a change of each name costs: the energy of a state; unknowns and inputs cost nothing."""
    inertia = {name: plant.matrices["L"][k][k] for k, name in enumerate(plant.states)}
    found = []
    for name in names:
        free = name in plant.algebraic.unknowns or name in plant.inputs
        try:
            found.append(0.0 if free else max(inertia[name].evaluate(at), 0.0) if name in inertia else 1.0)
        # A law without a slope where the model starts: any weight serves.
        except (ArithmeticError, ValueError, KeyError):
            found.append(1.0)
    return np.array(found)


@final
class _Nearest:
    """Solves equations by names, as near as can be to where they are: Newton's method with the least change by weight."""

    def __init__(
        self, rows: Sequence[Expression], names: Sequence[str], at: Mapping[str, float], weights: Array
    ) -> None:
        self.rows, self.names = rows, names
        self.known = dict(at)
        self.first = np.array([at.get(name, 0.0) for name in names])
        self.weights = weights
        self._row_sizes = np.ones(len(rows))
        self._units, self._scale = np.ones(len(names)), float(np.finfo(float).tiny)
        self.slopes = [[(j, e) for j, n in enumerate(names) if (e := row.derivative(n)) is not ZERO] for row in rows]

    def point(self) -> Array | None:
        """The values of the names; None where Newton's method finds none."""
        z, now = self.first, self._values(self.first)
        for _ in range(STEPS if now is not None else 0):
            assert now is not None, "evaluated where the step began"
            found = self._step(z, now)
            if found is None:
                return None
            step, moved, missing = found
            # In the root of energy all states have one unit, and what is left of the equations has the same.
            if moved <= CLOSE and missing <= SOLVED:
                return z
            z, now = self._shortened(z, step, now)
        return None

    def _shortened(self, z: Array, step: Array, now: Array) -> tuple[Array, Array | None]:
        """The next point: a whole step, or a share of it while the equations get worse, as at laws that are steep."""
        share = 1.0
        while share > LEAST_SHARE:
            then = self._values(z + share * step)
            if then is not None and self._size(then) <= self._size(now):
                return z + share * step, then
            share /= 2
        # Rounding makes the last steps neither better nor worse.
        return z + step, self._values(z + step)

    def is_moved(self, z: Array) -> NDArray[np.bool_]:
        """Which of the names are elsewhere, rounding apart."""
        return np.asarray(np.abs(z - self.first) * self._units > MOVED * self._scale)

    def _at(self, z: Array) -> dict[str, float]:
        return {**self.known, **dict(zip(self.names, z.tolist(), strict=True))}

    def _values(self, z: Array) -> Array | None:
        at = self._at(z)
        try:
            found = np.array([row.evaluate(at) for row in self.rows])
        except (ArithmeticError, ValueError):
            return None
        return found if np.all(np.isfinite(found)) else None

    def _jacobian(self, z: Array) -> Array:
        at, J = self._at(z), np.zeros((len(self.rows), len(self.names)))
        for i, row in enumerate(self.slopes):
            for j, e in row:
                J[i, j] = self._slope(i, j, e, at)
        return J

    def _slope(self, i: int, j: int, slope: Expression, at: Mapping[str, float]) -> float:
        """A derivative; across a place where it is infinite, as that of a root at zero, that of a secant."""
        try:
            found = slope.evaluate(at)
            if np.isfinite(found):
                return found
        except (ArithmeticError, ValueError):
            pass
        name = self.names[j]
        width = SECANT * (1.0 + abs(at[name]))
        above, below = (self.rows[i].evaluate({**at, name: at[name] + side * width}) for side in (1, -1))
        return (above - below) / (2 * width)

    def _size(self, values: Array) -> float:
        return float(np.abs(values / self._row_sizes).max(initial=0.0))

    def _step(self, z: Array, now: Array) -> tuple[Array, float, float] | None:
        """A step of Newton's method; how large it is beside the point, and so what is missing in the equations."""
        try:
            J = self._jacobian(z)
        except (ArithmeticError, ValueError):
            return None
        # States in the root of their energy, then rows and unknowns of one size: small units would be taken for zeros.
        free = self.weights <= 0
        c = np.sqrt(np.where(free, 1.0, self.weights))
        rows = _sizes(np.where(free, 0.0, J / c), 1)
        rows = np.where(rows > 0, rows, _sizes(J, 1))
        self._row_sizes = np.where(rows > 0, rows, 1.0)
        columns = _sizes(J / self._row_sizes[:, None], 0)
        c = np.where(free & (columns > 0), columns, c)
        J = J / self._row_sizes[:, None] / c
        n, m = len(self.names), len(self.rows)
        M = np.diag(np.where(free, 0.0, 1.0))
        whole = np.block([[M, J.T], [J, np.zeros((m, m))]])
        right = np.concatenate([-M @ ((z - self.first) * c), -now / self._row_sizes])
        step = np.linalg.lstsq(whole, right, rcond=1e-14)[0][:n]
        # Beside the largest on the way: where all ends at zero nothing else tells what is small.
        self._scale = max(self._scale, *(np.abs(v).max(initial=0.0) for v in (z * c, step)))
        self._units, size = c, self._scale
        return step / c, float(np.abs(step).max(initial=0.0) / size), self._size(now) / size


def _sizes(matrix: Array, axis: int) -> Array:
    return np.asarray(np.abs(matrix).max(axis=axis, initial=0.0))


def _slopes(
    functions: Sequence[Expression], names: Sequence[str], at: Mapping[str, float], plant: EquationSystem
) -> Array:
    """The derivatives of functions by inputs, algebraic unknowns following."""

    def jacobian(rows: Sequence[Expression], by: Sequence[str]) -> Array:
        return np.array([[row.derivative(n).evaluate(at) for n in by] for row in rows]).reshape(len(rows), len(by))

    direct, w = jacobian(functions, names), plant.algebraic
    if not w.unknowns:
        return direct
    follow = np.linalg.solve(jacobian(w.residuals, w.unknowns), jacobian(w.residuals, names))
    return np.asarray(direct - jacobian(functions, w.unknowns) @ follow)
