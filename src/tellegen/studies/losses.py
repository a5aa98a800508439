"""What a reduction costs: the full and the reduced model on one experiment, variable by variable, and how fast the difference goes
as the model tends to its limit.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import final

import numpy as np
from numpy.typing import NDArray

from tellegen.causality import assign_causality
from tellegen.core.errors import Finding
from tellegen.core.names import identifier, listing, unused
from tellegen.core.tables import finite, text_table
from tellegen.core.units import DIMENSIONLESS
from tellegen.equations.start import followers, handed_over, initial_names, model_start, starting_at
from tellegen.equations.system import parameter_values
from tellegen.experiments.initial_values import initial_states
from tellegen.experiments.input_signals import InputSignal
from tellegen.experiments.quantities import Quantity
from tellegen.experiments.setup import Setup, set_up, with_parameters
from tellegen.experiments.simulating import simulate
from tellegen.experiments.transformed_models import recovered_variables
from tellegen.expressions import ONE, Expression, symbol, to_text
from tellegen.graph import lower
from tellegen.model.laws import MatrixField
from tellegen.model.model import Element, Model, Parameter
from tellegen.notations.loading import AnyModel, as_model
from tellegen.reduction import Limit, Limits, Reduction, reduce_model
from tellegen.reduction.limits import LimitTargets, entry_name, find_limit_targets
from tellegen.results.run import Run
from tellegen.studies import rules

Array = NDArray[np.float64]


@final
@dataclass(frozen=True)
class VariableLoss:
    """How far the reduced model is from the full one in a variable: the largest difference, when it occurs, and the rms value.

    Both are in the SI unit of the variable; the relative ones are shares of its largest value and of its own rms value in the full
    model. `recovered` tells that the reduction removed the variable and gives it by a formula.
    """

    largest: float
    rms: float
    relative: float
    relative_rms: float
    at: float
    unit: str = ""
    recovered: bool = False

    def to_json(self) -> dict[str, object]:
        """The numbers by name; None where the full model has nothing to relate to."""
        return {
            "largest": self.largest,
            "rms": self.rms,
            "relative": finite(self.relative),
            "relative_rms": finite(self.relative_rms),
            "at": self.at,
            "unit": self.unit,
            "recovered": self.recovered,
        }


@final
@dataclass(frozen=True)
class TrajectoryLoss:
    """The loss of every variable that both models have; `missing` are those of the full model that the reduced one cannot tell."""

    limits: Mapping[str, str]
    variables: Mapping[str, VariableLoss]
    missing: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()

    @property
    def worst(self) -> str:
        """The variable that loses most, by its relative root of the mean square; of those that remain, where there are any."""
        # What was removed jumps by nature; the loss that counts is that of what remains, where anything does.
        names = [name for name, loss in self.variables.items() if not loss.recovered] or list(self.variables)
        return max(names, key=lambda name: self.variables[name].relative_rms)

    @property
    def relative_rms(self) -> float:
        """The loss of the worst variable."""
        return self.variables[self.worst].relative_rms

    def to_json(self) -> dict[str, object]:
        """Limits, losses by variable, and what to beware of."""
        return {
            "limits": dict(self.limits),
            "loss": {identifier(name): loss.to_json() for name, loss in self.variables.items()},
            "worst": identifier(self.worst),
            "missing": [identifier(name) for name in self.missing],
            "findings": [finding.to_json() for finding in self.findings],
        }

    def __str__(self) -> str:
        head = ("", "largest", "rms", "unit", "of its size", "rms of its rms", "at (s)")
        rows = [
            (
                name + (" (removed)" if loss.recovered else ""),
                f"{loss.largest:.3g}",
                f"{loss.rms:.3g}",
                loss.unit,
                f"{loss.relative:.2g}",
                f"{loss.relative_rms:.2g}",
                f"{loss.at:.4g}",
            )
            for name, loss in self.variables.items()
        ]
        limits = ", ".join(f"{name}={value}" for name, value in self.limits.items())
        parts = [f"loss by {limits}", text_table((head, *rows))]
        if self.missing:
            parts.append(f"not told by the reduced model: {', '.join(self.missing)}")
        return "\n".join([*parts, *(f"\n{finding}" for finding in self.findings)])


def loss_of(full: Array, small: Array, t: Array, unit: str, recovered: bool) -> VariableLoss:
    """The loss of one variable from two courses over the same times, which need not be even."""
    # Rows need not be even: the root of the mean square is an integral over time, not a mean over rows.
    apart = np.abs(full - small)
    worst = int(np.argmax(apart))
    largest, rms = float(apart[worst]), root_mean_square(apart, t)
    size, mean = float(np.max(np.abs(full))), root_mean_square(full, t)
    return VariableLoss(
        largest, rms, _share(largest, size), _share(rms, mean), float(t[worst]), unit, recovered=recovered
    )


def root_mean_square(values: Array, t: Array) -> float:
    """The root of the mean square over time."""
    return float(np.sqrt(np.trapezoid(values**2, t) / (t[-1] - t[0])))


def _share(part: float, whole: float) -> float:
    if whole:
        return part / whole
    # A variable at rest in the full model has no size to compare with.
    return 0.0 if part == 0 else float("inf")


RTOL = 1e-9
"""Runs that are compared are far more accurate than what they should tell apart."""

APART = 10.0
"""Removed poles should be so many times faster than those that remain."""

SAME = 1e-6
"""Variables that jump by less than this share of their size do not jump."""

NO_VALUES: Mapping[str, Quantity] = {}


def trajectory_loss(
    model: AnyModel,
    reduction: Reduction | Limits,
    *,
    until: Quantity | None = None,
    inputs: Mapping[str, InputSignal] | None = None,
    initial: Mapping[str, Quantity] | None = None,
    parameters: Mapping[str, Quantity] | None = None,
    rtol: float = RTOL,
) -> TrajectoryLoss:
    """How far the reduced model is from the full one on the experiment of the model, variable by variable.

    `reduction` is what `reduce` gave, or limits. What is given otherwise is taken before what the experiment says, in both models.
    Removed variables are compared by the formulas that recover them. Findings warn where time scales are not apart, and where the
    start or a jump of an input excites what was removed.

    Raises: ReductionError when the limit does not exist, or the models share no variable; SimulationError when a run fails.
    """
    full = as_model(model)
    found = reduction if isinstance(reduction, Reduction) else reduce_model(full, reduction)
    setting = StudyExperiment(until, inputs, initial or NO_VALUES, parameters or NO_VALUES, rtol)
    # The reduced run first: its rows are dense where the difference shows, and the full model runs on the same rows.
    beside = run_reduced(found, setting)
    return losses_between(found, beside, setting.run(full, beside.run.t))


@final
@dataclass(frozen=True)
class StudyExperiment:
    """What was given beside the experiment of a model."""

    until: Quantity | None
    inputs: Mapping[str, InputSignal] | None
    initial: Mapping[str, Quantity]
    parameters: Mapping[str, Quantity]
    rtol: float

    def run(self, model: Model, times: Array | None = None) -> Run:
        """The run of a model, which takes the values that it knows."""
        initial, parameters = self._known(model)
        return simulate(
            model,
            self.until,
            inputs=self.inputs,
            initial=initial,
            parameters=parameters,
            rtol=self.rtol,
            times=times,
            progress=False,
        )

    def ready(self, model: Model) -> Setup:
        """A model compiled once for many runs."""
        initial, parameters = self._known(model)
        return set_up(model, until=self.until, inputs=self.inputs, initial=initial, parameters=parameters)

    def scaled(self, name: str, value: float) -> "StudyExperiment":
        """The setting with one more parameter."""
        return replace(self, parameters={**self.parameters, name: value})

    def begun(self, reduction: Reduction) -> "tuple[Model, StudyExperiment]":
        """The reduced model where the full one starts with what was given, and the rest of the setting."""
        full, small = reduction.original, reduction.model
        if not (self.initial or self.parameters):
            return small, self
        given, parameters = self._known(full)
        graph = with_parameters(lower(full), full, parameters)
        values = parameter_values(graph.parameters)
        said = initial_states(graph, full, {**full.experiment.initial, **given}, values)
        start = handed_over(small, model_start(full, said, values))
        states = [p.state for p in lower(small).ports if p.state] if given else []
        model = starting_at(small, start)
        follow = {p.state for p in followers(assign_causality(lower(model)))}
        return model, replace(self, initial={n: start[n] for n in states if n in start and n not in follow})

    def _known(self, model: Model) -> tuple[dict[str, Quantity], dict[str, Quantity]]:
        # The reduced model does not know all states of the full one: what it does not know is not given to it.
        starts = initial_names(lower(model), model) if self.initial else {}
        initial = {name: value for name, value in self.initial.items() if name in starts}
        return initial, {name: value for name, value in self.parameters.items() if name in model.parameters}


@final
@dataclass(frozen=True)
class ReducedRun:
    """A run of the reduced model, what it tells of removed variables, and the rows on both sides of each jump of an input."""

    run: Run
    recovered: Mapping[str, Array]
    jumps: tuple[float, ...]


def run_reduced(reduction: Reduction, setting: StudyExperiment) -> ReducedRun:
    """Run the reduced model with rows that are dense after the start and after every jump of an input."""
    model, begun = setting.begun(reduction)
    ready = begun.ready(model)
    jumps = tuple(float(t) for t in ready.numeric.break_times(ready.until))
    run = begun.run(model, _dense(ready.until, jumps))
    # States first, so that tables begin with what most readers look for.
    names = dict.fromkeys((*reduction.full_states, *reduction.recovered))
    return ReducedRun(run, recovered_variables(reduction, run, names), jumps)


def losses_between(reduction: Reduction, beside: ReducedRun, full: Run) -> TrajectoryLoss:
    """The losses of all variables that the full run has and the reduced one tells."""
    names = dict.fromkeys((*full.state_names, *full.displacement_names, *full.output_names, *reduction.recovered))
    known = [n for n in names if n in full and n not in reduction.indeterminate]
    # A name in both runs may mean another variable in the reduced model: recovered ones are taken by their formula.
    told = [n for n in known if n in beside.recovered or (n in beside.run and n not in reduction.recovered)]
    if not told:
        raise rules.NOTHING_TO_COMPARE.error(
            f"'{full.name}' and its reduced model share no variable", fix="keep a state, or name an output"
        )
    courses = dict(zip(told, full.table(told).T, strict=True))
    losses = {}
    for name in told:
        removed = name in beside.recovered
        small = beside.recovered[name] if removed else beside.run.values(name)
        losses[name] = loss_of(courses[name], small, full.t, full.unit(name), removed)
    missing = tuple(n for n in names if n not in told)
    warned = [f for f in reduction.findings if f.severity == "warning"]
    findings = (*warned, *_scales(reduction), *_jumping(reduction, beside, full, courses, warned))
    return TrajectoryLoss({x.name: x.value for x in reduction.limits}, losses, missing, findings)


def _dense(end: float, jumps: tuple[float, ...]) -> Array:
    """Even times, and times that crowd after the start and after jumps, where removed modes would show."""
    # A removed mode dies out in a time that nobody knows: geometric steps meet it whatever it is.
    crowds = [t + np.geomspace(1e-7 * end, end, 120) for t in (0.0, *jumps)]
    # One row on each side of a jump, so that the jump itself is no difference.
    beside = [np.array([t - 1e-9 * end, t + 1e-9 * end]) for t in jumps]
    times = np.unique(np.concatenate([np.linspace(0.0, end, 1001), *crowds, *beside]))
    return np.asarray(times[times <= end])


# -- warnings --------------------------------------------------------------------------------------------------------------------


def _scales(reduction: Reduction) -> list[Finding]:
    separation = reduction.account.separation
    frozen = {*reduction.full_states} & {*reduction.equations.inputs}
    # Ten times apart: then the error of the slow modes is some percent.
    if separation is None or separation >= APART or frozen:  # what freezes should be slow, not fast
        return []
    kept = max(abs(p) for p in reduction.account.kept_poles)
    removed = min(abs(p) for p in reduction.account.removed_poles)
    return [
        rules.NOT_APART.finding(
            f"the slowest removed pole ({removed:.3g} rad/s) is {separation:.2g} times as fast as the fastest kept one "
            f"({kept:.3g} rad/s)",
            where=reduction.original.name,
            fix=f"keep {listing([x.name for x in reduction.limits])}, or look at slow experiments only",
        )
    ]


def _jumping(
    reduction: Reduction,
    beside: ReducedRun,
    full: Run,
    courses: Mapping[str, Array],
    warned: list[Finding],
) -> list[Finding]:
    said = {name for finding in warned for name in finding.members}
    found = []
    for name in full.state_names:
        if name not in beside.recovered or name not in courses:
            continue
        course, size = beside.recovered[name], float(np.max(np.abs(courses[name])))
        # The start was warned of already by the reduction.
        steps = {} if name in said else {0.0: float(course[0] - courses[name][0])}
        for t in beside.jumps:
            at = int(np.searchsorted(full.t, t))
            steps[t] = float(course[min(at + 1, len(course) - 1)] - course[at - 1])
        for t, step in steps.items():
            # Against the size of the variable; against itself where the variable is at rest.
            if abs(step) > SAME * max(size, abs(step) * SAME):
                found.append(_jump(reduction, name, t, step, full.unit(name)))
    return found


def _jump(reduction: Reduction, name: str, t: float, step: float, unit: str) -> Finding:
    return rules.JUMPS.finding(
        f"'{name}' jumps by {step:.3g} {unit} at t = {t:.4g} s in the reduced model".replace("  ", " "),
        where=name,
        fix=f"let the input rise smoothly, or start at the constraint; {_how_long(reduction)}",
        members=[name],
    )


def _how_long(reduction: Reduction) -> str:
    poles = reduction.account.removed_poles
    if not poles:
        return "the full model takes a while to follow"
    # The mode that dies out last tells how long the full model takes to follow.
    slowest = min(poles, key=lambda p: abs(p.real))
    if abs(slowest.real) <= 1e-6 * abs(slowest):
        return f"the full model rings there at {abs(slowest.imag):.3g} rad/s without end"
    return f"the full model follows there with a time constant of {1 / abs(slowest.real):.3g} s"


def model_near_limit(model: Model, limits: tuple[Limit, ...]) -> tuple[Model, str]:
    """The model with a parameter that is 1 for the model itself and 0 in the limit; and the name of the parameter.

    Where a parameter of a limit occurs elsewhere, it keeps its value there, as in the limit itself.

    Raises: ReductionError when a limit names nothing, or the law of an element has nothing to scale.
    """
    name = free_factor_name(model)
    scaled = _Scaling(model, find_limit_targets(model, limits), name).model_with_scale()
    parameter = Parameter(name, ONE, DIMENSIONLESS)
    return replace(scaled, parameters={**model.parameters, name: parameter}, source=""), name


class _Scaling:
    def __init__(self, model: Model, targets: LimitTargets, name: str) -> None:
        self.model, self.targets = model, targets
        self.scale = symbol(name)

    def model_with_scale(self) -> Model:
        fields = [self._field(f) if f.name in self.targets.acting else f for f in self.model.fields]
        # Members of a field carry its diagonal as their value, which has to be scaled along.
        diagonal = {m: f.matrix[k][k] for f in fields for k, m in enumerate(f.members)}
        elements = []
        for element in self.model.elements:
            if element.name in diagonal:
                own = element.value if element.value is None else diagonal[element.name]
                elements.append(replace(element, value=own))
            else:
                elements.append(self._element(element) if element.name in self.targets.acting else element)
        return replace(self.model, elements=tuple(elements), fields=tuple(fields))

    def _element(self, element: Element) -> Element:
        if element.law is not None:
            expression = self._scaled(element.name, element.name, element.law.expression)
            return replace(
                element, law=replace(element.law, expression=expression, text=to_text(expression), table=None)
            )
        if element.multiport is not None:
            K = tuple(tuple(self._scaled(element.name, element.name, e) for e in row) for row in element.multiport.K)
            return replace(element, multiport=replace(element.multiport, K=K))
        assert element.value is not None, "a limit acts on elements with a value, a law or a matrix"
        return replace(element, value=self._scaled(element.name, element.name, element.value))

    def _field(self, field: MatrixField) -> MatrixField:
        # An energy of several variables has no single factor that would lead to the limit.
        if field.energy is not None:
            raise rules.NOT_ON_THE_WAY.error(
                f"'{field.name}' is given by its energy", where=field.name, fix="give it by a matrix"
            )
        matrix = tuple(
            tuple(self._scaled(field.name, entry_name(field.name, i, j), e) for j, e in enumerate(row))
            for i, row in enumerate(field.matrix)
        )
        return replace(field, matrix=matrix, stiffness=None)

    def _scaled(self, owner: str, place: str, expression: Expression) -> Expression:
        marked = self.targets.value(place, expression)
        # An entry that is limited by its own name is scaled as a whole, a parameter within it alone.
        own = dict.fromkeys(self.targets.marks.get(place, ONE).free_symbols, expression)
        acting = self.targets.on(owner)
        changed = {name: self._on_the_way(limit, own.get(name, symbol(name))) for name, limit in acting.items()}
        return marked.substitute(changed)  # once: what is scaled occurs in its own scaled value

    def _on_the_way(self, limit: Limit, value: Expression) -> Expression:
        # To infinity by dividing, to zero by multiplying, to a value along the straight line: 1 is the model, 0 the
        # limit.
        if limit.order == -1:
            return value / self.scale
        if limit.order == 1:
            return value * self.scale
        assert limit.to is not None, "what is not infinite has a value"
        return limit.to + (value - limit.to) * self.scale


def free_factor_name(model: Model) -> str:
    """A name for a factor that nothing else in the model has."""
    taken = {*model.parameters, *(e.name for e in model.elements), *model.displacements, *model.signals}
    taken |= {name for e in model.elements for name in e.variables.values()}
    return unused("epsilon", taken, "_1")


MOST_FACTORS = 24
"""Halvings of a parameter, where no factors are given, until the order has settled."""

SETTLED = 0.02
"""An order that changes less than this over the last halvings has settled, once the loss is small."""

SMALL_LOSS = 0.05
"""Relative loss below which an order means something."""

FLOOR = 100.0
"""Losses below this many times the tolerance are errors of solvers, not of the limit."""

FITTED = 3
"""So many factors, the ones nearest to the limit, give the order."""


@final
@dataclass(frozen=True)
class ReductionStudy:
    """Losses on the way to a limit: `losses[k]` is that of the full model with its parameters `factors[k]` times as far from it.

    `orders` are the slopes of the relative loss (root of the mean square) by variable over the last factors, `order` that of the
    worst variable that remains; NaN where the loss is too small to be measured.
    """

    limits: Mapping[str, str]
    factors: tuple[float, ...]
    losses: tuple[TrajectoryLoss, ...]
    floor: float

    @property
    def orders(self) -> dict[str, float]:
        """The order of convergence of each variable."""
        return {name: self._order([loss.variables[name].relative_rms for loss in self.losses]) for name in self._names}

    @property
    def order(self) -> float:
        """The order of the worst variable that remains."""
        return self._order([loss.relative_rms for loss in self.losses])

    @property
    def settled(self) -> bool:
        """Whether the last local orders agree, and the loss is small enough for them to mean something."""
        return _settled([loss.relative_rms for loss in self.losses], self.factors, self.floor)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Warnings of the first comparison: the model as it is."""
        return self.losses[0].findings

    @property
    def _names(self) -> list[str]:
        return list(self.losses[0].variables)

    def _order(self, losses: Sequence[float]) -> float:
        return fitted_order(self.factors, losses, self.floor)

    def to_json(self) -> dict[str, object]:
        """Factors, relative losses and orders by variable."""
        return {
            "limits": dict(self.limits),
            "factors": list(self.factors),
            "relative_rms": {
                identifier(name): [finite(loss.variables[name].relative_rms) for loss in self.losses]
                for name in self._names
            },
            "largest": {
                identifier(name): [loss.variables[name].largest for loss in self.losses] for name in self._names
            },
            "orders": {identifier(name): finite(order) for name, order in self.orders.items()},
            "order": finite(self.order),
            "settled": self.settled,
            "findings": [finding.to_json() for finding in self.findings],
        }

    def __str__(self) -> str:
        names, orders = self._names, self.orders
        rows = [("factor", *names)]
        rows += [
            (f"{factor:.3g}", *(f"{loss.variables[name].relative_rms:.3e}" for name in names))
            for factor, loss in zip(self.factors, self.losses, strict=True)
        ]
        rows.append(("order", *(_shown(orders[name]) for name in names)))
        limits = ", ".join(f"{name}={value}" for name, value in self.limits.items())
        parts = [f"convergence to {limits}: order {_shown(self.order)}{'' if self.settled else ' (not settled)'}"]
        parts.append("relative loss (rms) with the parameters scaled towards the limit")
        return "\n".join([*parts, text_table(rows), *(f"\n{finding}" for finding in self.findings)])


def reduction_study(
    model: AnyModel,
    limits: Limits,
    *,
    factors: Iterable[float] | None = None,
    keep: Iterable[str] = (),
    until: Quantity | None = None,
    inputs: Mapping[str, InputSignal] | None = None,
    initial: Mapping[str, Quantity] | None = None,
    parameters: Mapping[str, Quantity] | None = None,
    rtol: float = RTOL,
) -> ReductionStudy:
    """The order in which a model converges to its reduction, measured on its experiment.

    The full model runs with what tends to the limit scaled by each factor: 1/2 stands for half a mass that tends to zero and for
    twice a stiffness that tends to infinity. Without `factors`, halves follow each other until the order has settled.
    A regular limit that the experiment does not excite is of order one.

    Raises: ReductionError when the limit does not exist or cannot be approached, or for factors that are not in falling order.
    """
    full = as_model(model)
    reduction = reduce_model(full, limits, keep=keep)
    scaled, scale = model_near_limit(full, reduction.limits)
    setting = StudyExperiment(until, inputs, initial or NO_VALUES, parameters or NO_VALUES, rtol)
    beside = run_reduced(reduction, setting)
    losses: list[TrajectoryLoss] = []
    used: list[float] = []
    given = None if factors is None else _checked(tuple(factors))
    for factor in given or (0.5**k for k in range(MOST_FACTORS)):
        # One compiled model for all factors: only a parameter changes.
        run = setting.scaled(scale, factor).run(scaled, beside.run.t)
        losses.append(losses_between(reduction, beside, run))
        used.append(factor)
        course = [loss.relative_rms for loss in losses]
        # Below the floor halving shows the errors of solvers, and the order would be noise.
        if given is None and (course[-1] < FLOOR * rtol or _settled(course, used, FLOOR * rtol)):
            break
    return ReductionStudy({x.name: x.value for x in reduction.limits}, tuple(used), tuple(losses), FLOOR * rtol)


def fitted_order(factors: Sequence[float], losses: Sequence[float], floor: float) -> float:
    """The slope of log(loss) over log(factor) for the last factors whose loss is above the floor; NaN for fewer than two."""
    # The last factors alone: far from the limit other orders mix in.
    pairs = [(f, e) for f, e in zip(factors, losses, strict=True) if math.isfinite(e) and e > floor][-FITTED:]
    if len(pairs) < 2:
        return math.nan
    x, y = np.log(np.array(pairs)).T
    return float(np.polyfit(x, y, 1)[0])


def _settled(losses: Sequence[float], factors: Sequence[float], floor: float) -> bool:
    if len(losses) <= FITTED or not floor < losses[-1] < SMALL_LOSS:
        return False
    last = range(len(losses) - FITTED - 1, len(losses) - 1)
    # Local slopes that agree are an order; one slope over all could be a mean of two.
    local = [fitted_order(factors[k : k + 2], losses[k : k + 2], floor) for k in last]
    return max(local) - min(local) < SETTLED


def _checked(factors: tuple[float, ...]) -> tuple[float, ...]:
    falling = all(a > b for a, b in pairwise(factors))
    if len(factors) < 2 or not falling or not all(math.isfinite(f) and f > 0 for f in factors):
        raise rules.BAD_FACTORS.error(
            f"the factors are {', '.join(f'{f:g}' for f in factors) or 'none'}", fix="give some such as 1, 0.5, 0.25"
        )
    return factors


def _shown(order: float) -> str:
    return f"{order:.2f}" if math.isfinite(order) else "-"
