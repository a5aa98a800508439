"""The forms of a model with dependent storages on one experiment: what each costs, and how far it is from the most accurate one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from tellegen.conditioning import AS_USUAL, FORMS, Conditioned, FormName, Options, condition_model
from tellegen.conditioning.sizing import ERROR
from tellegen.core.errors import ConditioningError, Finding, TellegenError
from tellegen.description.model import Model
from tellegen.description.opening import AnyModel, as_model
from tellegen.experiments.courses import Course
from tellegen.experiments.quantities import Quantity
from tellegen.expressions import Expression
from tellegen.expressions.entries import substituted
from tellegen.results.observing import segments
from tellegen.results.run import Run
from tellegen.studies.form_runs import RTOL, SAMPLES, Setting, apart
from tellegen.studies.parasitic_sizing import size_parasitic, sized_for

Array = NDArray[np.float64]

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
            "solver": made.solver,
            "setup_s": made.setup_s,
            "solve_s": made.solve_s,
            "steps": made.steps,
            "rhs_calls": made.rhs_calls,
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
    options: Options = AS_USUAL,
    error: float = ERROR,
    until: Quantity | None = None,
    inputs: Mapping[str, Course] | None = None,
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
    setting = Setting(until, inputs, initial, parameters, rtol, samples)
    described = setting.described(as_model(model))
    made, refused = _conditioned(described, forms, options)
    reference = next((form for form in ACCURATE if form in made), next(iter(made)))
    fine = setting.run(made[reference], finer=TIGHTER)
    if "parasitic" in made and options.stiffness.value is None:
        try:
            made["parasitic"] = _sized(described, made[reference], error, options, setting, fine)
        except ConditioningError as why:
            if forms is not None:
                raise
            refused["parasitic"] = why.finding
            del made["parasitic"]
    records = {form: _record(found, setting.run(found), fine) for form, found in made.items()}
    return ConditioningTable(made[reference].name, rtol, reference, records, refused)


def _sized(
    model: Model, reference: Conditioned, error: float, options: Options, setting: Setting, fine: Run
) -> Conditioned:
    """The parasitic form beside the run of the reference; beside a run of its own where it is itself the only form."""
    if reference.form == "parasitic":
        return size_parasitic(model, error, options, setting)
    return sized_for(model, error, options, setting, fine)


def _conditioned(
    model: Model, forms: Sequence[str] | None, options: Options
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
            if form == FORMS[0]:
                raise  # no form at all: there is nothing to condition
            refused[form] = error.finding
    return made, refused


def _record(conditioned: Conditioned, run: Run, fine: Run) -> FormRecord:
    found = apart(conditioned, run, fine)
    model = run.trajectory.segments[0].model
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
    for model, rows in segments(run.trajectory):
        held[rows] = model is first.model
    return held


def values_along(run: Run, formula: Expression) -> Array:
    """A formula of variables and parameters, row by row."""
    written = substituted(formula, run.graph.moving)
    names = sorted(written.free_symbols - run.parameters.keys())
    table = run.table(names) if names else np.zeros((len(run.t), 0))
    rows = ({**run.parameters, **dict(zip(names, row, strict=True))} for row in table.tolist())
    return np.array([written.evaluate(values) for values in rows])
