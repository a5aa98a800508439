"""What is fitted to what: free names, records, and residuals with their slopes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from tellegen.core.errors import TellegenError
from tellegen.core.names import did_you_mean, listing
from tellegen.equations.system import parameter_values
from tellegen.experiments.quantities import SECOND, Quantity, expression_of, value_of
from tellegen.expressions import Expression, number, parse
from tellegen.model.model import Model
from tellegen.model.signals import Signal
from tellegen.studies.runs import rules
from tellegen.studies.runs.measurements import MeasuredRecord, RecordNumbers, read_record
from tellegen.studies.runs.model_runs import ModelRuns, Names, RunSettings
from tellegen.studies.runs.response import VariedSlopes
from tellegen.studies.runs.sweep import readings_of, unit_dimension

Array = NDArray[np.float64]
Bounds = tuple[Quantity, Quantity]

RTOL: Final = 1e-8
LOST: Final = 1e6
"""The residual of a run that fails: no step of the search goes there."""
FAR: Final = 30.0
"""No positive parameter goes farther from its start than by this power of e."""
FINER: Final = 100.0
"""Noise is at least so many tolerances: what is smaller is that of the solver."""


@final
@dataclass(frozen=True)
class FreeName:
    """One number that is sought. `place` is where it stands: a parameter, an input, an initial value, or only in formulas."""

    name: str
    start: float
    low: float
    high: float
    only_record: int | None = None
    in_formulas: bool = False

    @property
    def is_log(self) -> bool:
        """Whether it is sought as its logarithm."""
        return self.start > 0.0 and self.low >= 0.0 and not self.in_formulas and self.only_record is None

    @property
    def label(self) -> str:
        """Its name in results."""
        return self.name if self.only_record is None else f"{self.name} (record {self.only_record + 1})"

    def to_search(self, value: float) -> float:
        """The coordinate of a value in the search."""
        return float(np.log(value)) if self.is_log else value

    def to_value(self, x: float) -> float:
        """The value of a coordinate."""
        if not self.is_log:
            return x
        # A parameter that no longer matters may be sought anywhere.
        return float(self.start * np.exp(np.clip(x - np.log(self.start), -FAR, FAR)))

    @property
    def limits(self) -> tuple[float, float]:
        """The bounds of the search."""
        if not self.is_log:
            return self.low, self.high
        low = float(np.log(self.low)) if self.low > 0.0 else -np.inf
        return low, float(np.log(self.high)) if self.high < np.inf else np.inf


@final
class RecordProblem:
    """One record with the model ready for it: values and slopes of what is compared."""

    def __init__(self, problem: "FitProblem", given: MeasuredRecord, number: int) -> None:
        self.given = given
        mine = [f for f in problem.free if not f.in_formulas and f.only_record in (None, number)]
        self.columns = [problem.free.index(f) for f in mine]
        names = [f.name for f in mine]
        settings = replace(problem.settings, initial={**problem.settings.initial, **given.initial})
        self.measured = self._read(problem, replace(settings, inputs={**settings.inputs, **given.inputs}), names)
        t = self.measured.t
        inputs = {**settings.inputs, **given.inputs, **self.measured.driving}
        settings = replace(settings, inputs=inputs, until=float(t[-1]), times=tuple(t.tolist()), rtol=problem.rtol)
        self.formulas = {name: problem.formula(name) for name in self.measured.compared}
        outputs = dict.fromkeys(
            n for e in self.formulas.values() for n in sorted(e.free_symbols) if n not in problem.extra
        )
        start = [f.start for f in mine]
        self.runs = ModelRuns(problem.model, names, start, settings, list(outputs))
        self.slopes = VariedSlopes(self.runs, outputs)
        self.shown = [kept.name for kept in self.runs.rows]

    def _read(self, problem: "FitProblem", settings: RunSettings, names: list[str]) -> RecordNumbers:
        # A run before its first row knows names and units; how long it takes does not matter yet.
        start = [f.start for f in problem.free if f.name in names]
        until = settings.until if settings.until is not None else 1.0
        before = ModelRuns(problem.model, names, start[: len(names)], replace(settings, until=until), ())
        run = before.whole
        known = [*run.names, *run.channels.catalogue.by_name, *problem.measured]
        units = {name: run.unit(name) for name in dict.fromkeys((*run.names, *run.channels.catalogue.by_name))}
        return read_record(self.given, run.input_names, known, units)

    def residuals(self, values: Array, problem: "FitProblem") -> tuple[dict[str, Array], dict[str, Array]]:
        """Model less measurement for each column, and its slopes along all that is free; empty cells are left out."""
        found = self.slopes.rows_at(values[self.columns], self.measured.t)
        place = {name: k for k, name in enumerate(self.slopes.names)}
        extra = {f.name: values[k] for k, f in enumerate(problem.free) if f.in_formulas}
        told = {name: found.values[:, place[name]] for name in self.shown}
        slopes = {name: found.slopes[:, place[name]] for name in self.shown}
        errors, matrices = {}, {}
        for name, formula in self.formulas.items():
            there = np.isfinite(self.measured.compared[name])
            value = _along(formula, told, extra, len(found.t))
            matrix = np.zeros((len(found.t), len(values)))
            for symbol_name in formula.free_symbols:
                by = _along(formula.derivative(symbol_name), told, extra, len(found.t))
                if symbol_name in told:
                    matrix[:, self.columns] += by[:, None] * slopes[symbol_name]
                else:
                    matrix[:, problem.index[symbol_name]] += by
            errors[name] = (value - self.measured.compared[name])[there]
            matrices[name] = matrix[there]
        return errors, matrices

    def unit(self, name: str) -> str:
        """The SI unit of a column; empty where a formula has it."""
        return self.runs.unit(name) if str(self.formulas[name]) == name else ""

    def errors_of_many(self, values: Array, problem: "FitProblem") -> Array:
        """The sum of squares over noise for many values, by one batch; infinite where a run fails."""
        rows = values[:, self.columns]
        made = self.runs.make(rows, self.runs.plan(rows[:1]), 1)
        found = np.full(len(values), np.inf)
        for k in np.flatnonzero(made.status == 0).tolist():
            told = {name: made.rows[k, :, i] for i, name in enumerate(self.shown)}
            extra = {f.name: values[k, i] for i, f in enumerate(problem.free) if f.in_formulas}
            total = 0.0
            for name, formula in self.formulas.items():
                off = (_along(formula, told, extra, made.rows.shape[1]) - self.measured.compared[name]) / problem.noise[
                    name
                ]
                total += float(np.nansum(off**2))
            found[k] = total
        return found


def _along(formula: Expression, told: Mapping[str, Array], extra: Mapping[str, float], count: int) -> Array:
    """A formula row by row."""
    if not formula.free_symbols & told.keys():
        return np.full(count, formula.evaluate(dict(extra)))
    if len(formula.free_symbols) == 1 and formula.free_symbols == {str(formula)}:
        return told[str(formula)]
    return np.array([formula.evaluate({**extra, **{n: v[k] for n, v in told.items()}}) for k in range(count)])


@final
class FitProblem:
    """What is fitted to what."""

    def __init__(
        self,
        model: Model,
        records: Sequence[MeasuredRecord],
        free: Mapping[str, Bounds | None],
        settings: RunSettings,
        *,
        measured: Mapping[str, str],
        noise: Mapping[str, Quantity],
    ) -> None:
        self.model, self.settings, self.measured = model, settings, dict(measured)
        if not free and not any(one.free for one in records):
            raise rules.BAD_FREE.error("nothing is free", fix="name what to fit, as --free b_m,K")
        if not records:
            raise rules.BAD_RECORD.error("there are no data", fix="give a record")
        self.rtol = settings.rtol if settings.rtol is not None else RTOL
        self.free = self._free(free, records)
        self.index = {f.name: k for k, f in enumerate(self.free) if f.only_record is None}
        self.extra = {f.name for f in self.free if f.in_formulas}
        self.noise: dict[str, float] = {}
        self.records = [RecordProblem(self, one, k) for k, one in enumerate(records)]
        known_noise = self.given_noise = self._given_noise(noise)
        for one in self.records:
            for name, values in one.measured.compared.items():
                spread = float(np.nanmax(values) - np.nanmin(values)) or float(np.nanmax(np.abs(values))) or 1.0
                self.noise[name] = known_noise.get(name, max(self.noise.get(name, 0.0), 0.1 * spread))
        self.runs = self.slope_runs = 0
        self.differences = False
        self._last: tuple[bytes, Array, Array] | None = None

    def _given_noise(self, noise: Mapping[str, Quantity]) -> dict[str, float]:
        """The deviations that are given, in the units of their columns.

        Raises: SimulationError (S420) for what is not measured, (S425) for what is not positive, (S303) for another unit.
        """
        columns = {name: one.unit(name) for one in self.records for name in one.measured.compared}
        for word, names in (("a noise", noise), ("a formula", self.measured)):
            for name in names:
                if name not in columns:
                    fix = did_you_mean(name, columns) or f"the columns are {listing(columns)}"
                    raise rules.NO_SUCH_HEAD.error(f"{word} is given for '{name}', which is not measured", fix=fix)
        found = {n: value_of(v, unit_dimension(columns[n]), f"the noise of {n}") for n, v in noise.items()}
        for name, value in found.items():
            if not value > 0.0:
                raise rules.BAD_RECORD.error(f"the noise of '{name}' is {value:g}", fix="give a positive deviation")
        return found

    def formula(self, name: str) -> Expression:
        """What a column measures: a variable, or a formula of some."""
        return parse(self.measured.get(name, name))

    def _free(self, free: Mapping[str, Bounds | None], records: Sequence[MeasuredRecord]) -> list[FreeName]:
        words = set().union(*(parse(text).free_symbols for text in self.measured.values())) if self.measured else set()
        own = [name for name in free if name in self.model.parameters or name not in words]
        readings = readings_of(self.model, own, self.settings)
        base = self._base()
        found = []
        for name, bounds in free.items():
            read = readings.get(name, _plain_number)
            low, high = -np.inf, np.inf
            if bounds is not None:
                if isinstance(bounds, str) or len(bounds) != 2:
                    raise rules.BAD_FREE.error(
                        f"the bounds of '{name}' are {bounds}", fix=f"give two, as {name}=0.1:10"
                    )
                low, high = (read(bound, f"a bound of {name}") for bound in bounds)
            if not low < high:
                raise rules.BAD_FREE.error(
                    f"the bounds of '{name}' are {low:g} and {high:g}", fix="give the smaller one first"
                )
            if name in own:
                formula = self.model.parameters[name].expression if name in self.model.parameters else None
                if formula is not None and formula.free_symbols:
                    what = f"'{name}' follows from {listing(sorted(formula.free_symbols))}"
                    raise rules.BAD_FREE.error(what, where=name, fix="let these be free")
            start = base.get(name)
            if start is None:
                if bounds is None and name in own:
                    raise rules.BAD_FREE.error(
                        f"'{name}' has no value to start at", where=name, fix=f"give bounds, as {name}=0.1:10"
                    )
                start = 0.0 if bounds is None else float(np.sqrt(low * high)) if low > 0.0 else 0.5 * (low + high)
            if not low <= start <= high:
                what = f"the search starts at {name} = {start:g}, outside of {low:g} to {high:g}"
                raise rules.BAD_FREE.error(what, where=name, fix="give other bounds, or set a value between them")
            if bounds is None and start > 0.0 and name in own and name in self.model.parameters:
                low = 0.0
            found.append(FreeName(name, start, low, high, in_formulas=name not in own))
        for k, one in enumerate(records):
            for name, read in readings_of(self.model, one.free, self.settings).items():
                start = read(one.initial.get(name, base.get(name, 0.0)), name)
                found.append(FreeName(name, start, -np.inf, np.inf, only_record=k))
        return found

    def _base(self) -> dict[str, float]:
        known = parameter_values({name: p.expression for name, p in self.model.parameters.items()})
        try:
            until = (
                self.settings.until
                if self.settings.until is not None or self.model.experiment.until is not None
                else 1.0
            )
            ready = ModelRuns(self.model, (), (), replace(self.settings, until=until)).ready
        except TellegenError:
            return known
        # states that nobody gives begin at zero
        return {**dict.fromkeys(ready.numeric.names, 0.0), **ready.start, **ready.inputs, **ready.parameters}

    # -- Residuals -------------------------------------------------------------------------------------------------------------

    @property
    def start(self) -> Array:
        """Where the search begins."""
        return np.array([f.to_search(f.start) for f in self.free])

    def values(self, x: Array) -> Array:
        """The values of a point of the search."""
        return np.array([f.to_value(float(c)) for f, c in zip(self.free, x, strict=True)])

    def both(self, x: Array) -> tuple[Array, Array]:
        """Residuals over noise and their slopes, from one integration of each record."""
        key = x.tobytes()
        if self._last is None or self._last[0] != key:
            self._last = (key, *self._both(x))
        return self._last[1], self._last[2]

    def _both(self, x: Array) -> tuple[Array, Array]:
        values = self.values(x)
        self.runs += len(self.records)
        self.slope_runs += len(self.records)
        parts, matrices = [], []
        inner = np.array([v if f.is_log else 1.0 for f, v in zip(self.free, values, strict=True)])
        for one in self.records:
            errors, slopes = one.residuals(values, self)
            for name in errors:
                parts.append(errors[name] / self.noise[name])
                matrices.append(slopes[name] * inner / self.noise[name])
        return np.concatenate(parts), np.concatenate(matrices)

    def residuals(self, x: Array) -> Array:
        """Residuals over noise; far off where a run fails."""
        try:
            found = self.both(x)[0]
        except TellegenError:
            return np.full(self.count, LOST)
        return np.nan_to_num(found, nan=LOST, posinf=LOST, neginf=-LOST)

    def jacobian(self, x: Array) -> Array:
        """Their slopes along the search."""
        if not self.differences:
            return self.both(x)[1]
        found = self.values(x)
        steps = [0.01 if f.is_log else 0.01 * max(abs(v), 1e-3) for f, v in zip(self.free, found, strict=True)]
        sides = [(x + h * e, x - h * e, 2.0 * h) for h, e in zip(steps, np.eye(len(x)), strict=True)]
        columns = [(self.residuals(above) - self.residuals(below)) / width for above, below, width in sides]
        return np.column_stack(columns)

    @cached_property
    def count(self) -> int:
        """How many measurements there are."""
        return sum(int(np.isfinite(v).sum()) for one in self.records for v in one.measured.compared.values())

    def by_column(self, x: Array) -> list[dict[str, Array]]:
        """Model less measurement, by record and column."""
        values = self.values(x)
        return [one.residuals(values, self)[0] for one in self.records]

    def needs_differences(self, x: Array) -> bool:
        """Whether exact slopes differ from what a change of one percent does, in models with samples or events."""
        numeric = [one.runs.ready for one in self.records]
        if not any(ready.numeric.sample_groups or ready.numeric.events or ready.graph.switching for ready in numeric):
            return False
        try:
            exact = self.both(x)[1]
        except TellegenError:
            return True
        self.differences = True
        told = self.jacobian(x)
        self.differences = False
        off = np.linalg.norm(exact - told, axis=0)
        return bool(np.any(off > 0.3 * np.linalg.norm(told, axis=0)))

    def set_noise(self, x: Array) -> bool:
        """One deviation for each column from its residuals, where none is given; whether that changed anything."""
        sums: dict[str, list[Array]] = {}
        for errors in self.by_column(x):
            for name, off in errors.items():
                sums.setdefault(name, []).append(off)
        share = max(1.0 - len(self.free) / self.count, 1e-3)
        changed = False
        for name, parts in sums.items():
            if name in self.given_noise:
                continue
            off = np.concatenate(parts)
            size = max(
                abs(float(np.nanmax(one.measured.compared[name])))
                for one in self.records
                if name in one.measured.compared
            )
            found = max(float(np.sqrt(np.mean(off**2) / share)), FINER * self.rtol * size, 1e-300)
            changed |= abs(found - self.noise[name]) > 0.01 * found
            self.noise[name] = found
        self._last = None
        return changed


def _plain_number(value: Quantity, subject: str) -> float:
    """A bound of a name that only formulas know."""
    return value_of(value, None, subject)


def fitted_model(problem: FitProblem, values: Array) -> Model:
    """The model with the fitted values of what is free in all records."""
    found = {
        f.name: value
        for f, value in zip(problem.free, values.tolist(), strict=True)
        if not f.in_formulas and f.only_record is None
    }
    return model_with(problem.model, problem.records[0].runs.kinds, problem.settings, found)


def model_with(model: Model, kinds: Names, settings: RunSettings, values: Mapping[str, float]) -> Model:
    """The model with other values of parameters, constant inputs and initial values, and with the settings of its runs."""
    parameters, experiment = dict(model.parameters), model.experiment
    inputs, initial = dict(experiment.inputs), dict(experiment.initial)
    for name, given in settings.parameters.items():
        if name in parameters:
            formula = expression_of(given, parameters[name].dimension, name)
            parameters[name] = replace(parameters[name], expression=formula)
    for name, given in settings.initial.items():
        initial[name] = expression_of(given, None, name)
    for name, course in settings.inputs.items():
        if isinstance(course, Signal):
            inputs[name] = course
        elif isinstance(course, int | float):
            inputs[name] = _constant(float(course))
    for name, value in values.items():
        if name in kinds.parameters:
            parameters[name] = replace(parameters[name], expression=number(value))
        elif name in kinds.inputs:
            inputs[name] = _constant(value)
        elif name in kinds.initial:
            initial[name] = number(value)
    if settings.until is not None:
        experiment = replace(experiment, until=expression_of(settings.until, SECOND, "until"))
    return replace(model, parameters=parameters, experiment=replace(experiment, inputs=inputs, initial=initial))


def _constant(value: float) -> Signal:
    return Signal("constant", (number(value),), repr(value), number(value))
