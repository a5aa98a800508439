"""What a reduction costs: the full and the reduced model on one experiment, variable by variable."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import final

import numpy as np
from numpy.typing import NDArray

from tellegen.core.errors import Finding
from tellegen.core.names import identifier, listing
from tellegen.core.tables import finite, text_table
from tellegen.experiments.initial_values import initial_names
from tellegen.experiments.input_signals import InputSignal
from tellegen.experiments.quantities import Quantity
from tellegen.experiments.setup import Setup, set_up
from tellegen.experiments.simulating import simulate
from tellegen.experiments.transformed_models import recovered_variables
from tellegen.graph import lower
from tellegen.model.model import Model
from tellegen.notations.loading import AnyModel, as_model
from tellegen.reduction import Limits, Reduction, reduce_model
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
    apart = np.abs(full - small)
    worst = int(np.argmax(apart))
    largest, rms = float(apart[worst]), root_mean_square(apart, t)
    size, mean = float(np.max(np.abs(full))), root_mean_square(full, t)
    return VariableLoss(largest, rms, _share(largest, size), _share(rms, mean), float(t[worst]), unit, recovered)


def root_mean_square(values: Array, t: Array) -> float:
    """The root of the mean square over time."""
    return float(np.sqrt(np.trapezoid(values**2, t) / (t[-1] - t[0])))


def _share(part: float, whole: float) -> float:
    if whole:
        return part / whole
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

    def _known(self, model: Model) -> tuple[dict[str, Quantity], dict[str, Quantity]]:
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
    ready = setting.ready(reduction.model)
    jumps = tuple(float(t) for t in ready.numeric.break_times(ready.until))
    run = setting.run(reduction.model, _dense(ready.until, jumps))
    names = dict.fromkeys((*reduction.full_states, *reduction.recovered))
    return ReducedRun(run, recovered_variables(reduction, run, names), jumps)


def losses_between(reduction: Reduction, beside: ReducedRun, full: Run) -> TrajectoryLoss:
    """The losses of all variables that the full run has and the reduced one tells."""
    names = dict.fromkeys((*full.state_names, *full.displacement_names, *full.output_names, *reduction.recovered))
    known = [n for n in names if n in full and n not in reduction.indeterminate]
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
    crowds = [t + np.geomspace(1e-7 * end, end, 120) for t in (0.0, *jumps)]
    beside = [np.array([t - 1e-9 * end, t + 1e-9 * end]) for t in jumps]
    times = np.unique(np.concatenate([np.linspace(0.0, end, 1001), *crowds, *beside]))
    return np.asarray(times[times <= end])


# -- warnings --------------------------------------------------------------------------------------------------------------------


def _scales(reduction: Reduction) -> list[Finding]:
    separation = reduction.account.separation
    frozen = {*reduction.full_states} & {*reduction.equations.inputs}
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
        steps = {} if name in said else {0.0: float(course[0] - courses[name][0])}
        for t in beside.jumps:
            at = int(np.searchsorted(full.t, t))
            steps[t] = float(course[min(at + 1, len(course) - 1)] - course[at - 1])
        for t, step in steps.items():
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
    slowest = min(poles, key=lambda p: abs(p.real))
    if abs(slowest.real) <= 1e-6 * abs(slowest):
        return f"the full model rings there at {abs(slowest.imag):.3g} rad/s without end"
    return f"the full model follows there with a time constant of {1 / abs(slowest.real):.3g} s"
