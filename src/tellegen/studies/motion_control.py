"""Motions that are wanted: the inputs that produce them, and the controller that tracks them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tellegen.conditioning import rules
from tellegen.conditioning.constraints import constrained_model, start_values
from tellegen.conditioning.inverse_dynamics import InverseDynamics, inverse_dynamics_of, tracking_controller
from tellegen.conditioning.lagrange import lagrange_of
from tellegen.core.names import TIME, listing
from tellegen.experiments.input_signals import InputSignal, with_input_signals
from tellegen.experiments.quantities import Quantity, expression_of
from tellegen.expressions import Expression
from tellegen.graph import lower
from tellegen.graph.signals import breaks_of
from tellegen.model.kinematics import solve_positions
from tellegen.model.model import Model
from tellegen.model.signals import Signal
from tellegen.notations.loading import AnyModel, as_model

Array = NDArray[np.float64]

CLOSE: Final = 1e-10
"""How well integrals along a motion agree with their halves."""

HALVINGS: Final = 12
"""How often an interval of time is halved at most."""


@final
@dataclass(frozen=True)
class InputTrajectories:
    """The inputs that produce a motion, as formulas of time and as numbers. `found` has them with names for long parts.

    Coordinates that loops decide, or that a motion carries along as it does elongations of springs, stand in the formulas by name;
    `start` is where they are at time zero.
    """

    found: InverseDynamics
    values: Mapping[str, float]
    start: Mapping[str, float] = field(default_factory=dict)

    @property
    def courses(self) -> dict[str, Expression]:
        """Each input as a formula of time, parameters, coordinates of loops and forces of springs: inputs for `simulate`."""
        return {name: self.found.written(name) for name in self.found.inputs}

    def at(self, times: ArrayLike) -> dict[str, Array]:
        """The inputs at given times, for the sizes of actuators."""
        moments = np.asarray(times, dtype=float)
        found: dict[str, list[float]] = {name: [] for name in self.found.inputs}
        at, before = dict(self.start), 0.0
        for t in moments.tolist():
            values = {**self.values, TIME: t}
            carried = self._carried(before, t, at)
            at = {**self._followed(values, at), **carried}
            before = t
            values |= at
            for name, formula in self.found.where.items():
                values[name] = formula.evaluate(values)
            for name, formula in self.found.inputs.items():
                found[name].append(formula.evaluate(values))
        return {name: np.array(column) for name, column in found.items()}

    def _followed(self, values: Mapping[str, float], near: Mapping[str, float]) -> dict[str, float]:
        """Where loops put the coordinates that they decide.

        Raises: ConditioningError (C109) where a loop does not reach round.
        """
        closures = self.found.closures
        if not closures:
            return {}
        known = {**values, **{n: e.evaluate(values) for n, e in self.found.motion.items()}}
        equations = [e for closure in closures for e in closure.equations]
        unknown = [name for closure in closures for name in closure.solves]
        fitting = solve_positions(equations, unknown, {**near, **known}, near)
        if fitting is None:
            raise rules.BAD_MOTION.error(
                f"at t = {values[TIME]:g} s the loops {listing([c.name for c in closures])} fit in no position",
                where=closures[0].name,
                fix="choose a motion that the mechanism can make",
            )
        return fitting

    def _carried(self, since: float, until: float, near: Mapping[str, float]) -> dict[str, float]:
        """Where the motion takes the coordinates that it carries along, from where they were."""
        rates = self.found.carried
        if not rates or since == until:
            return {name: near[name] for name in rates}
        ways = _integral(lambda t: self._rates(t, near), since, until)
        return {name: near[name] + way for name, way in zip(rates, ways.tolist(), strict=True)}

    def _rates(self, t: float, near: Mapping[str, float]) -> Array:
        values = {**self.values, TIME: t}
        values |= self._followed(values, near)
        return np.array([rate.evaluate(values) for rate in self.found.carried.values()])


def _integral(rates: Callable[[float], Array], since: float, until: float, halvings: int = HALVINGS) -> Array:
    """An integral over time, halved until two halves say what the whole says."""
    middle = 0.5 * (since + until)
    whole = _gauss(rates, since, until)
    halves = _gauss(rates, since, middle) + _gauss(rates, middle, until)
    if halvings == 0 or np.allclose(whole, halves, rtol=CLOSE, atol=CLOSE * abs(until - since)):
        return halves
    return _integral(rates, since, middle, halvings - 1) + _integral(rates, middle, until, halvings - 1)


def _gauss(rates: Callable[[float], Array], since: float, until: float) -> Array:
    nodes, weights = np.polynomial.legendre.leggauss(5)
    half = 0.5 * (until - since)
    moments = since + half * (nodes + 1.0)
    return np.asarray(half * sum(w * rates(t) for w, t in zip(weights.tolist(), moments.tolist(), strict=True)))


def inverse_dynamics(
    model: AnyModel, motion: Mapping[str, InputSignal], *, by: Sequence[str] = ()
) -> InputTrajectories:
    """The inputs that produce a motion: sizes of actuators, feed-forward.

    `motion` gives each coordinate a course: a number, a formula of time, a shape such as "quintic(0, 1, from=0, to=2)". Those that
    loops decide follow. `by` names the inputs asked for where there are more than coordinates; the others do what the experiment
    says.

    Raises: ConditioningError for a model without Lagrange form (C105), inputs that cannot produce the motion (C108), a motion that
    leaves a coordinate out, or jumps or bends on the way (C109).
    """
    described = as_model(model)
    constraints = constrained_model(described)
    form = lagrange_of(constraints)
    given = {n: s.expression for n, s in described.experiment.inputs.items() if s.expression is not None}
    wanted = motion_formulas(described, motion)
    _refuse_kinks(wanted, form.values())
    found = inverse_dynamics_of(form, wanted, by, given, described.closures)
    start = start_values(described, {}, constraints.causal) if described.closures or found.carried else {}
    start |= {n: form.springs[n].evaluate(start) for n in found.carried if n in form.springs}
    return InputTrajectories(found, form.values(), {n: v for n, v in start.items() if n in form.q})


def feedback_linearise(
    model: AnyModel,
    reference: Mapping[str, InputSignal],
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
    return tracking_controller(described, motion_formulas(described, reference), *gains, by)


def _refuse_kinks(motion: Mapping[str, Expression], values: Mapping[str, float]) -> None:
    """Raises: ConditioningError (C109) where a coordinate or its rate jumps on the way, which no finite input makes it do."""
    for name, course in motion.items():
        for known in breaks_of(course, values.keys()):
            t = known.at.evaluate(values)
            for word, formula in (("jumps", course), ("bends", course.derivative(TIME))):
                if t > 0.0 and _jumps(formula, t, values):
                    raise rules.BAD_MOTION.error(
                        f"the motion of '{name}' {word} at t = {t:g} s, which no finite input makes it do",
                        where=name,
                        fix="go from one value to the next smoothly, as by quintic(...)",
                    )


def _jumps(formula: Expression, t: float, values: Mapping[str, float]) -> bool:
    """Whether a formula differs on both sides of a time, however close they are."""

    def apart(by: float) -> float:
        before, after = (formula.evaluate({**values, TIME: t + side * by * max(1.0, t)}) for side in (-1, 1))
        return abs(after - before)

    return apart(1e-7) > max(0.5 * apart(1e-6), 1e-9)


def motion_formulas(model: Model, motion: Mapping[str, InputSignal]) -> dict[str, Expression]:
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
        _, courses = with_input_signals(graph, {name: course})
        written = courses[name]
        formula = written.expression if isinstance(written, Signal) else written
        assert isinstance(formula, Expression), "courses without functions are formulas"
        found[name] = formula
    return found
