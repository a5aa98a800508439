"""Motions that are wanted: the inputs that produce them, and the controller that tracks them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tellegen.conditioning import lagrange_form, rules
from tellegen.conditioning.inverse import InverseDynamics, inverse_of, track
from tellegen.core.names import TIME
from tellegen.description.model import Model, Signal
from tellegen.description.opening import AnyModel, as_model
from tellegen.experiments.courses import Course, with_courses
from tellegen.experiments.quantities import Quantity, expression_of
from tellegen.expressions import Expression
from tellegen.graph import lower

Array = NDArray[np.float64]


@final
@dataclass(frozen=True)
class InputCourses:
    """The inputs that produce a motion, as formulas of time and as numbers. `found` has them with names for long parts."""

    found: InverseDynamics
    values: Mapping[str, float]

    @property
    def courses(self) -> dict[str, Expression]:
        """Each input as a formula of time and parameters: what `simulate` takes as inputs."""
        return {name: self.found.written(name) for name in self.found.inputs}

    def at(self, times: ArrayLike) -> dict[str, Array]:
        """The inputs at given times, for the sizes of actuators."""
        moments = np.asarray(times, dtype=float)
        found: dict[str, list[float]] = {name: [] for name in self.found.inputs}
        for t in moments.tolist():
            values = {**self.values, TIME: t}
            for name, formula in self.found.where.items():
                values[name] = formula.evaluate(values)
            for name, formula in self.found.inputs.items():
                found[name].append(formula.evaluate(values))
        return {name: np.array(column) for name, column in found.items()}


def inverse_dynamics(model: AnyModel, motion: Mapping[str, Course], *, by: Sequence[str] = ()) -> InputCourses:
    """The inputs that produce a motion: sizes of actuators, feed-forward.

    `motion` gives each coordinate a course: a number, a formula of time, a shape such as "quintic(0, 1, from=0, to=2)". `by` names
    the inputs asked for where there are more than coordinates; the others do what the experiment says.

    Raises: ConditioningError for a model without Lagrange form (C105), inputs that cannot produce the motion (C108), a motion that
    leaves a coordinate out (C109).
    """
    described = as_model(model)
    form = lagrange_form(described)
    given = {n: s.expression for n, s in described.experiment.inputs.items() if s.expression is not None}
    found = inverse_of(form, motion_of(described, motion), by, given)
    return InputCourses(found, form.values())


def feedback_linearise(
    model: AnyModel,
    reference: Mapping[str, Course],
    *,
    K_p: Quantity,
    K_d: Quantity,
    by: Sequence[str] = (),
) -> Model:
    """The model with a controller that tracks a motion: tau = W^-1 (M (q_d'' + K_d e' + K_p e) + C q' + R q' + G).

    The controller consists of signals, which the sources of `by` (all, without it) follow; the error of each coordinate obeys
    e'' + K_d e' + K_p e = 0.

    Raises: ConditioningError as `inverse_dynamics`.
    """
    described = as_model(model)
    gains = (expression_of(K_p, None, "K_p"), expression_of(K_d, None, "K_d"))
    return track(described, motion_of(described, reference), *gains, by)


def motion_of(model: Model, motion: Mapping[str, Course]) -> dict[str, Expression]:
    """The courses of coordinates as formulas.

    Raises: ConditioningError (C109) for a course that has no second derivative, such as a table or a Python function.
    """
    graph = lower(model)
    found: dict[str, Expression] = {}
    for name, course in motion.items():
        is_table = isinstance(course, Signal) and course.expression is None
        if is_table or (callable(course) and not isinstance(course, Signal | Expression | str)):
            what = f"the motion of '{name}' is {'a table' if is_table else 'a Python function'}, which has no second derivative"
            raise rules.BAD_MOTION.error(
                what, where=name, fix="write it as a formula of t, or as a shape such as quintic(...)"
            )
        _, courses = with_courses(graph, {name: course})
        written = courses[name]
        formula = written.expression if isinstance(written, Signal) else written
        assert isinstance(formula, Expression), "courses without functions are formulas"
        found[name] = formula
    return found
