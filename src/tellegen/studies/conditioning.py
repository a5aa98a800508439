"""The forms of a model with dependent storages: one of them, or all on one experiment with what each costs; parasitic elements
sized by runs.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from tellegen.conditioning import (
    DEFAULT_OPTIONS,
    FORMS,
    Conditioned,
    ConditioningOptions,
    FormName,
    Stiffness,
    condition_model,
    rules,
)
from tellegen.conditioning.forms import DRIFT
from tellegen.conditioning.parasitic import DAMPING, ERROR, Accuracy, parasitic_storage, stiffness_for
from tellegen.conditioning.rules import BAD_STIFFNESS
from tellegen.core.errors import ConditioningError, Finding, SimulationError, TellegenError
from tellegen.equations.start import values_of_parameters
from tellegen.experiments.input_signals import InputSignal
from tellegen.experiments.quantities import SECOND, Quantity, value_of
from tellegen.experiments.simulating import simulate
from tellegen.expressions import Expression, number
from tellegen.expressions.elimination import with_definitions
from tellegen.graph import with_experiment
from tellegen.model.model import Model
from tellegen.notations.loading import AnyModel, as_model
from tellegen.results.run import Run

Array = NDArray[np.float64]

RTOL: Final = 1e-10
SAMPLES: Final = 400
FINE: Final = 1e-13
COARSE: Final = 1e-8
"""No run is finer than this; a parasitic one not even so fine, because its springs cost more than that."""

SMALL: Final = 0.01
"""What is smaller than this share of the largest value of its unit is compared with this share."""

NOTHING: Final = 1e-9
"""Forces are rounding where all of their unit are smaller than this share of the energy, in SI."""

STILL: Final = 1e-12
"""A coordinate stands still where it is smaller than this share of the largest one, in SI."""

SETTLING: Final = 0.01
"""For this share of a run after its start and after each jump, springs settle, and their forces are not compared."""

GAP: Final = 0.2
"""Where jumps follow each other closely, they settle for this share of the time between them at most."""


@final
@dataclass(frozen=True)
class FormExperiment:
    """One experiment for all forms."""

    until: Quantity | None = None
    inputs: Mapping[str, InputSignal] | None = None
    initial: Mapping[str, Quantity] | None = None
    parameters: Mapping[str, Quantity] | None = None
    rtol: float = RTOL
    samples: int = SAMPLES

    def described(self, model: Model) -> Model:
        """The model with the duration of this experiment, by which parasitic elements may be sized."""
        if self.until is None:
            return model
        until = number(value_of(self.until, SECOND, "the duration", values_of_parameters(model)))
        return with_experiment(model, replace(model.experiment, until=until))

    def run(self, conditioned: Conditioned, *, finer: float = 1.0) -> Run:
        """The run of one form."""
        return simulate(
            conditioned,
            self.until,
            inputs=self.inputs,
            initial=self.initial,
            parameters=self.parameters,
            # Finer than rounding no solver gets, and stiff springs cost more for each digit.
            rtol=max(self.rtol / finer, COARSE if conditioned.form == "parasitic" else FINE),
            samples=self.samples,
            progress=False,
        )


THE_EXPERIMENT: Final = FormExperiment()
"""That of the model."""


@final
@dataclass(frozen=True)
class FormDistance:
    """How far a run is from the most accurate one.

    `largest` is the largest difference of a coordinate, in SI. `coordinates` and `forces` are the largest relative ones: over the
    largest value of each, or over a hundredth of the largest value of its unit where that is more; over 1 rad for angles beyond.
    """

    largest: float
    coordinates: float
    forces: float

    @property
    def worst(self) -> float:
        """The larger of the relative ones."""
        return max(self.coordinates, self.forces)


def form_distance(conditioned: Conditioned, run: Run, fine: Run) -> FormDistance:
    """How far a run is from the most accurate one; states are compared where a model has no coordinates."""
    moved = list(conditioned.found.model.displacements)
    names = moved or list(conditioned.found.system.states)
    late = settled(run, fine)
    # Forces of springs ring after a start; positions hardly notice.
    rows = np.ones_like(late) if moved else late  # coordinates never jump
    off = {name: _largest(run.values(name)[rows] - fine.values(name)[rows]) for name in names}
    sizes, carried = _sizes(fine, names), _sizes(fine, conditioned.forces)
    # A force that is zero up to rounding has no relative error.
    felt = [name for name, size in carried.items() if size > NOTHING * energy_of(fine)]
    forces = {name: _largest(run.values(name)[late] - fine.values(name)[late]) for name in felt}
    return FormDistance(
        max(off.values(), default=0.0),
        max((off[name] / _scale(fine, name, sizes) for name in names), default=0.0),
        max((forces[name] / carried[name] for name in felt), default=0.0),
    )


def energy_of(run: Run) -> float:
    """The largest energy that a run stores."""
    return _largest(np.asarray(run.stored_energy)) or 1.0


def settled(*runs: Run) -> NDArray[np.bool_]:
    """Rows at which springs have settled: those that follow no start, jump of an input or change of a mode closely."""
    t = runs[0].t
    span = float(t[-1] - t[0])
    # Jumps of both runs, since the elastic one may change its mode later than the rigid one.
    jumps = np.unique([float(t[0]), *(time for run in runs for time in _jumps(run))])
    windows = np.minimum(SETTLING * span, GAP * np.diff(jumps, append=t[-1]))
    last = np.searchsorted(jumps - 1e-9 * span, t, side="right") - 1
    found = np.asarray(t > jumps[last] + windows[last], dtype=np.bool_)
    # A run of jumps only is compared as it is: better than nothing.
    return found if found.any() else ~found


def _jumps(run: Run) -> Iterable[float]:
    made = run.trajectory
    times = (float(made.t[segment.start]) for segment in made.segments[1:])
    return (*times, *made.model.break_times(float(made.t[-1])), *(event.t for event in made.events))


def _sizes(run: Run, names: Iterable[str]) -> dict[str, float]:
    """The largest value of each variable, at least a small share of the largest of its unit."""
    own = {name: _largest(run.values(name)) for name in names}
    of_unit: dict[str, float] = {}
    for name, size in own.items():
        unit = run.unit(name)
        of_unit[unit] = max(size, of_unit.get(unit, 0.0))
    return {name: max(size, SMALL * of_unit[run.unit(name)]) for name, size in own.items()}


def _scale(run: Run, name: str, sizes: Mapping[str, float]) -> float:
    """What the difference of a coordinate is compared with; 1 in SI for what stands still."""
    size = sizes[name]
    if size <= STILL * max(sizes.values()):
        return 1.0
    return min(size, 1.0) if run.unit(name) == "rad" else size


def _largest(values: Array) -> float:
    return float(np.max(np.abs(values), initial=0.0))


ROUNDS: Final = 8
MARGIN: Final = 1.5
"""Parasitic elements are made stiffer than the order of convergence asks for, so that the next round meets the error."""

SHARE: Final = 0.01
"""The share of the energy that a spring stores in the first round, beside the error."""

LARGEST_SHARE: Final = 1e-3
"""No spring stores more than this share of the energy at the beginning, however large the error may be."""

SMALLEST: Final = 1e-7
"""Runs of stiff models show no smaller error."""

MOST: Final = 1000.0
"""Elements become so many times stiffer in a round at most; as many times as its root where a run fails."""

FINER: Final = 1e-5
"""The tolerance of the runs beside the error."""


def size_parasitic(
    model: AnyModel,
    error: float = ERROR,
    options: ConditioningOptions = DEFAULT_OPTIONS,
    setting: FormExperiment = THE_EXPERIMENT,
) -> Conditioned:
    """The parasitic form with elements stiff enough for a relative error of coordinates and forces on the experiment of the model.

    Each stiffness begins where the largest force of its constraint in the rigid model stores a share of the energy, and grows with
    the error measured, which falls with order one. Coordinates are compared with their largest values, angles beyond 1 rad with
    1 rad; forces of constraints with theirs, once the springs have settled: a hundredth of the run after its start and after jumps.

    Raises: ConditioningError (C107) when the error is too small, or not met; SimulationError where the rigid model does not run.
    """
    if not (np.isfinite(error) and error >= SMALLEST):
        fix = f"give an error of {SMALLEST:g} or more; 0.001 is usual"
        raise rules.BAD_STIFFNESS.error(f"an error of {error:g} cannot be met by parasitic elements", fix=fix)
    # The duration of this experiment counts, not the one in the file: springs are sized by it.
    described = setting.described(as_model(model))
    setting = replace(setting, rtol=FINER * error)
    # The rigid model is what the springs should be like, so the error is measured against it.
    fine = setting.run(condition_model(described, "derivative", options))
    return sized_for(described, error, options, setting, fine)


def sized_for(
    model: Model, error: float, options: ConditioningOptions, setting: FormExperiment, fine: Run
) -> Conditioned:
    """The parasitic form that is as close to a run of the rigid model as is asked for.

    Raises: ConditioningError (C107) when the error is not met.
    """
    suggested = condition_model(model, "parasitic", options)
    # By energy first (Rideout and Stein 2003): one rule for springs of any domain.
    stiff = _begin_with(suggested, fine, min(SHARE * error, LARGEST_SHARE))
    measured: FormDistance | None = None
    for _ in range(ROUNDS):
        found = _with(model, options, stiff)
        try:
            before, measured = measured, form_distance(found, setting.run(found), fine)
        # Too soft to run through, most likely: go on stiffer, without a measure.
        except SimulationError:
            stiff = {name: MOST**0.5 * value for name, value in stiff.items()}
            continue
        if measured.worst <= error:
            return replace(found, accuracy=Accuracy(error, measured.coordinates, measured.forces))
        # Stiffer is not better any more: what is left are errors of the run.
        if before is not None and measured.worst >= before.worst:
            break  # it is no error of the springs any more
        # The error falls with order one in the stiffness, so the factor follows from the error itself.
        factor = min(MARGIN * measured.worst / error, MOST)
        stiff = {name: factor * value for name, value in stiff.items()}
    raise _not_met(model, error, measured)


def _begin_with(suggested: Conditioned, run: Run, share: float) -> dict[str, float]:
    """Stiffnesses at which the largest force of each constraint stores a share of the largest energy of the run.

    Where a force is small this would be soft, and the force late: no resonance is slower than suggested. A constraint that is
    closed by a resistance alone stores nothing, and keeps what was suggested for it.
    """
    energy = energy_of(run)
    # A conductance stores no energy, so that its share of it would size nothing.
    alone = {o.name for o in suggested.opened.openings if parasitic_storage(o) is None}
    forces = {name: 0.0 if name in alone else float(np.max(np.abs(run.values(name)))) for name in suggested.stiffnesses}
    # Never softer than suggested: a small force would else be late.
    return {n: max(value, stiffness_for(forces[n], energy, share)) for n, value in suggested.stiffnesses.items()}


def _with(model: Model, options: ConditioningOptions, stiff: Mapping[str, float]) -> Conditioned:
    sized = Stiffness(stiff, options.stiffness.damping)
    return condition_model(model, "parasitic", replace(options, stiffness=sized))


def _not_met(model: Model, error: float, measured: FormDistance | None) -> TellegenError:
    left = "no run of the elastic model finishes"
    if measured is not None:
        left = f"coordinates are off by {measured.coordinates:.2g} and forces by {measured.forces:.2g}"
    return rules.BAD_STIFFNESS.error(
        f"an error of {error:g} is not met by parasitic elements: {left}",
        where=model.name,
        fix="ask for a larger error, for a shorter run, or give a stiffness",
    )


TIGHTER: Final = 100.0
"""The run that the others are compared with is so many times more accurate."""

ACCURATE: Final[tuple[FormName, ...]] = ("lagrange", "field", "hamilton", "residual", "derivative")
"""Forms in the order in which they are taken as the most accurate one: no excess states, explicit, first."""

SUITS: Final[Mapping[FormName, str]] = {
    "derivative": "no: implicit, its rates are not given by the states",
    "residual": "no: excess states, kept in place by their forces",
    "parasitic": "no: spurious states of parasitic elements, stiff",
    "field": "yes: proper, no excess states",
    "lagrange": "yes: proper, no excess states",
    "hamilton": "yes: proper, no excess states",
}


@final
@dataclass(frozen=True)
class FormRecord:
    """What one form cost and gave.

    `error` is the largest difference of a coordinate from the most accurate form, in SI, `relative` that over the largest value of
    the coordinate (over 1 rad for angles beyond), and `forces` the same of the forces of constraints, once springs have settled;
    `violation` the largest difference of a dependent storage from what the others make it. `excess` counts states beyond those of
    the independent storages. `energy` is what is left of the balance, relative to the energy handled. `note` says for which error
    parasitic elements were sized.
    """

    form: FormName
    run: Run
    states: int
    excess: int
    error: float
    relative: float
    forces: float
    violation: float
    note: str = ""

    @property
    def energy(self) -> float:
        """The residual of the energy balance."""
        return self.run.energy.residual

    @property
    def proper(self) -> bool:
        """Whether the form suits the synthesis of controllers."""
        return SUITS[self.form].startswith("yes")

    def to_json(self) -> dict[str, object]:
        """Names and numbers."""
        made = self.run.trajectory
        return {
            **made.account,
            "states": self.states,
            "excess": self.excess,
            "error": self.error,
            "relative_error": self.relative,
            "force_error": self.forces,
            "violation": self.violation,
            "energy_residual": self.energy,
            "proper": self.proper,
        }


@final
@dataclass(frozen=True)
class ConditioningTable:
    """The forms side by side; `refused` tells why forms that were not asked for by name are missing."""

    name: str
    rtol: float
    reference: FormName
    records: Mapping[FormName, FormRecord]
    refused: Mapping[FormName, Finding]

    @property
    def runs(self) -> dict[FormName, Run]:
        """The run of each form."""
        return {form: record.run for form, record in self.records.items()}

    def __getitem__(self, form: FormName) -> FormRecord:
        return self.records[form]

    def to_json(self) -> dict[str, object]:
        """The record that `condition --json` prints."""
        record: dict[str, object] = {
            "name": self.name,
            "rtol": self.rtol,
            "reference": self.reference,
            "forms": {form: found.to_json() for form, found in self.records.items()},
        }
        return record | ({"refused": {f: why.to_json() for f, why in self.refused.items()}} if self.refused else {})

    def __str__(self) -> str:
        heads: tuple[str, ...] = (
            "form",
            "solver",
            "set-up",
            "solving",
            "steps",
            "states",
            "error",
            "relative",
            "forces",
        )
        heads += ("violation", "energy")
        rows: list[tuple[str, ...]] = [heads]
        rows += [self._row(record) for record in self.records.values()]
        widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
        suits = [f"  {form:<11} {SUITS[form]}" for form in self.records]
        refused = [f"  {form:<11} {why.what}" for form, why in self.refused.items()]
        head = f"{self.name}: relative tolerance {self.rtol:g}; errors against the {self.reference} form, {TIGHTER:g} times finer"
        notes = [record.note for record in self.records.values() if record.note]
        parts = [[head], lines, notes, ["for the synthesis of controllers", *suits]]
        return "\n\n".join("\n".join(part) for part in (*parts, ["not there", *refused] if refused else []) if part)

    def _row(self, record: FormRecord) -> tuple[str, ...]:
        made = record.run.trajectory
        states = f"{record.states}" + (f" ({record.excess} excess)" if record.excess else "")
        times = (f"{made.setup_s:.3f} s", f"{made.solve_s:.4f} s")
        errors = (record.error, record.relative, record.forces, record.violation)
        shown = (*(f"{error:.2g}" for error in errors), f"{record.energy:.1e}")
        return record.form, made.solver, *times, str(made.steps), states, *shown


def compare_conditioning(
    model: AnyModel,
    forms: Sequence[str] | None = None,
    *,
    options: ConditioningOptions = DEFAULT_OPTIONS,
    error: float = ERROR,
    until: Quantity | None = None,
    inputs: Mapping[str, InputSignal] | None = None,
    initial: Mapping[str, Quantity] | None = None,
    parameters: Mapping[str, Quantity] | None = None,
    rtol: float = RTOL,
    samples: int = SAMPLES,
) -> ConditioningTable:
    """The forms of a model on one experiment: time, steps, states, error, violation of the constraints, energy.

    Without `forms`, all that the model has. Parasitic elements without a stiffness are sized for a relative `error` of coordinates
    and forces, as by `size_parasitic`; where that is not met, the form is among those refused.
    What is not given is taken from the experiment of the model. Errors are against the most accurate form, run far finer.

    Raises: ConditioningError for a form that was asked for and does not exist; SimulationError when a run fails.
    """
    setting = FormExperiment(until, inputs, initial, parameters, rtol, samples)
    described = setting.described(as_model(model))
    made, refused = _conditioned(described, forms, options)
    reference = next((form for form in ACCURATE if form in made), next(iter(made)))
    # The reference form again, but finer: its own error then counts like that of the others.
    fine = setting.run(made[reference], finer=TIGHTER)
    if "parasitic" in made and options.stiffness.value is None:
        try:
            made["parasitic"] = _sized_beside(described, made[reference], error, options, setting, fine)
        except ConditioningError as why:
            # A form that was asked for by name has to be there; one of all forms may be missing.
            if forms is not None:
                raise
            refused["parasitic"] = why.finding
            del made["parasitic"]
    records = {form: _record(found, setting.run(found), fine) for form, found in made.items()}
    return ConditioningTable(made[reference].name, rtol, reference, records, refused)


def _sized_beside(
    model: Model, reference: Conditioned, error: float, options: ConditioningOptions, setting: FormExperiment, fine: Run
) -> Conditioned:
    """The parasitic form beside the run of the reference; beside a run of its own where it is itself the only form."""
    if reference.form == "parasitic":
        return size_parasitic(model, error, options, setting)
    return sized_for(model, error, options, setting, fine)


def _conditioned(
    model: Model, forms: Sequence[str] | None, options: ConditioningOptions
) -> tuple[dict[FormName, Conditioned], dict[FormName, Finding]]:
    if forms is not None:
        found = [condition_model(model, form, options) for form in forms]
        return {conditioned.form: conditioned for conditioned in found}, {}
    made: dict[FormName, Conditioned] = {}
    refused: dict[FormName, Finding] = {}
    for form in FORMS:
        try:
            made[form] = condition_model(model, form, options)
        except TellegenError as error:
            # The derivative form exists for every model with dependent storages.
            if form == FORMS[0]:
                raise  # no form at all: there is nothing to condition
            refused[form] = error.finding
    return made, refused


def _record(conditioned: Conditioned, run: Run, fine: Run) -> FormRecord:
    found = form_distance(conditioned, run, fine)
    model = run.trajectory.segments[0].model
    # Integrals of signals that stand for states count, too: a user pays for them.
    states = len(model.states) + sum(name in conditioned.starts.formulas for name in model.signal_states)
    excess = states - len(conditioned.found.causal.integral)
    errors = (found.largest, found.coordinates, found.forces, _violation(conditioned, run))
    return FormRecord(conditioned.form, run, states, excess, *errors, conditioned.note)


def _violation(conditioned: Conditioned, run: Run) -> float:
    """The largest difference of the output of a dependent storage from what the storages that it follows make it.

    Constraints are those of the mode in which the model starts: in other modes there may be none.
    """
    found, held = conditioned.found, _rows_as_at_start(run)
    outputs = {constraint.output for constraint in found.constraints}
    largest = 0.0
    for name, formula in found.system.dependent.items():
        if name in outputs and name in run:
            off = np.abs(run.values(name) - values_along(run, found.written(formula)))
            largest = max(largest, float(np.max(off[held])))
    return largest


def _rows_as_at_start(run: Run) -> NDArray[np.bool_]:
    """The rows in the mode of the first one: a run has one compiled model for each mode."""
    first, *_ = run.trajectory.segments
    held = np.zeros(len(run.t), dtype=np.bool_)
    for model, rows in run.trajectory.parts:
        # By identity: each mode has its compiled model.
        held[rows] = model is first.model
    return held


def values_along(run: Run, formula: Expression) -> Array:
    """A formula of variables and parameters, row by row."""
    written = with_definitions(formula, run.graph.position_dependent)
    names = sorted(written.free_symbols - run.parameters.keys())
    table = run.table(names) if names else np.zeros((len(run.t), 0))
    rows = ({**run.parameters, **dict(zip(names, row, strict=True))} for row in table.tolist())
    return np.array([written.evaluate(values) for values in rows])


def condition(
    model: AnyModel,
    form: str,
    *,
    coordinates: Iterable[str] = (),
    stiffness: float | Mapping[str, float] | None = None,
    error: float | None = None,
    damping: float = DAMPING,
    drift: float = DRIFT,
    canonical: bool = False,
) -> Conditioned:
    """The model with its dependent storages treated in one of six ways; what comes back stands for a model in every other call.

    `form` is "derivative" (implicit equations, for a DAE solver), "residual" (forces of constraints solved for, every storage with
    a state; `drift` is the rate in 1/s at which errors of constraints decay), "parasitic" (springs and dampers, or their duals; one
    `stiffness`, or one for each force, in SI), "field" (an IC-field with momenta), "lagrange" (speeds and a mass matrix) or
    "hamilton" (momenta, slopes of the energy, and the gyroscopic block of constraints that are not holonomic, which `canonical`
    leaves out).
    Without a `stiffness`, parasitic elements are sized by runs of the experiment for a relative `error` (0.001) of coordinates and
    forces, as by `size_parasitic`; where the rigid model does not run, and beside a `stiffness` for some forces only, by the
    duration of the experiment alone, which the `note` of the form says.
    `coordinates` are displacements or outputs of storages that should be independent.

    Raises: ConditioningError for a form that does not exist (C101) or that the model does not have.

    >>> condition("crank_rod", "residual").forces
    ('lambda_m_p',)
    """
    options = ConditioningOptions(tuple(coordinates), Stiffness(stiffness, damping), drift, canonical)
    described = as_model(model)
    if form == "parasitic" and (stiffness is None or error is not None):
        return _sized_by_runs(described, options, error)
    return condition_model(described, form, options)


def _sized_by_runs(model: Model, options: ConditioningOptions, error: float | None) -> Conditioned:
    """The parasitic form that meets an error; what the duration suggests where nothing was asked for and nothing runs."""
    # Nothing was asked for: an error is tried, and the duration decides where no run is possible.
    if error is None:
        made = condition_model(model, "parasitic", options)
        try:
            return size_parasitic(model, ERROR, options)
        except SimulationError:
            return made
    if options.stiffness.value is not None:
        raise BAD_STIFFNESS.error("a stiffness and an error exclude each other", fix="give one of them")
    return size_parasitic(model, error, options)
