"""`sweep`: runs of one model over ranges, draws or a table of values."""

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, Literal, final

import numpy as np
import numpy.typing as npt

from tellegen.core.errors import SimulationError, TellegenError
from tellegen.core.names import did_you_mean, listing
from tellegen.core.units import DIMENSIONLESS, parse_unit
from tellegen.equations.system import parameter_values
from tellegen.experiments.input_signals import InputSignal
from tellegen.experiments.quantities import Quantity, refuse_scale, value_of
from tellegen.experiments.rules import BAD_CHOICE, BAD_SETTING
from tellegen.experiments.setup import refuse_scales
from tellegen.experiments.simulating import is_watched
from tellegen.graph import lower
from tellegen.model.model import Model, Start, ambient_temperatures
from tellegen.notations.loading import AnyModel, as_model
from tellegen.results.units import variable_units
from tellegen.simulation.batches import UNMADE
from tellegen.simulation.solvers.jobs import FINISHED
from tellegen.studies.runs import rules
from tellegen.studies.runs.chunks import joined
from tellegen.studies.runs.keep import names_in
from tellegen.studies.runs.lane_runs import CARD
from tellegen.studies.runs.makers import DaskMaker, Work, checked_place, chosen_maker, device_of
from tellegen.studies.runs.model_runs import Made, ModelRuns, RunSettings, pilot_rows, sorted_names
from tellegen.studies.runs.store import (
    Store,
    Writing,
    begin_store,
    open_store,
    spec_of,
    stored_model,
    stored_settings,
    writing,
)
from tellegen.studies.runs.study import Study, checked_error
from tellegen.studies.runs.table import Drawing, RunTable, make_table, names_of, table_of
from tellegen.studies.runs.variation import Reading, Variation, share_of

Check = Literal["some", "all", "none"]
OnFailure = Literal["keep", "raise"]
Progress = Callable[[int, int], None]
"""Told how many runs were begun, of how many."""

PATIENCE_S: Final = 0.5
PAUSE_S: Final = 0.2


def sweep(
    model: AnyModel,
    vary: Mapping[str, Variation] | Any,
    until: Quantity | None = None,
    *,
    inputs: Mapping[str, InputSignal] | None = None,
    initial: Mapping[str, Quantity] | None = None,
    parameters: Mapping[str, Quantity] | None = None,
    keep: str | Sequence[str] = (),
    samples: int | None = None,
    times: npt.ArrayLike | None = None,
    solver: str = "auto",
    rtol: Quantity | None = None,
    atol: float | None = None,
    max_step: Quantity | None = None,
    step: Quantity | None = None,
    start: Start | None = None,
    draws: int | None = None,
    by: Drawing = "sobol",
    seed: int = 0,
    paired: bool = False,
    check: Check = "some",
    on: Any = "local",
    single: bool = False,
    threads: int | None = None,
    into: str | Path | None = None,
    force: bool = False,
    progress: Progress | bool | None = None,
    on_failure: OnFailure = "keep",
) -> Study:
    """Many runs of a model with other values of parameters, constant inputs or initial values in each.

    `vary` gives for each name a sequence of values, `tellegen.between(...)`, or a distribution: `uniform`, `normal`, `lognormal`,
    `triangular`, or a frozen one of `scipy.stats`. Sequences make a grid, or with `paired` stand side by side; each of their points
    gets the same `draws` of the distributions, `by` Sobol's sequence, a latin hypercube or at random. In place of a mapping, a
    table has a row for each run: a DataFrame, a Dataset, or a CSV or Parquet file.

    `keep` says what is kept of each run: `NAME` (its last value; with `samples` or `times` its rows), `max(NAME)`, `min`, `mean`,
    `rms`, `integral`, `at(NAME, TIME)`, `time_of_max`, `time_of_min`. Without it these are the outputs of the experiment, or the
    states. All else means what it means in `simulate`. Some runs are made again with a tenth of the tolerance, and tell how far the
    others may be off (`study.error`). Runs that fail are kept with their findings.

    `into` is a folder: a Zarr group to which whole chunks of runs are added. The same call goes on where it ended, whatever
    ended it, and gives the same bits; more draws of Sobol's sequence or at random extend it. `force` begins anew.

    `on` says who makes the runs: `"local"` this machine, on so many `threads` (or processes, where Python takes part in runs); the
    address of a Dask scheduler (`"tcp://HOST:PORT"`), a scheduler file, or a `distributed.Client` the workers of a cluster;
    `"gpu"` a graphics card, in `single` precision where that is asked for, and with a `step` by the classic method of order 4 in
    even steps.

    >>> import tellegen as tg
    >>> study = tg.sweep("dc_motor_pump", {"R_a": tg.between(0.3, 0.7, 5)}, keep=["max(I_a)"])
    >>> study["max(I_a)"].values.round(2)
    array([46.81, 40.68, 35.98, 32.27, 29.26])

    Raises: SimulationError for a name, a range or a request that makes no sense, before any run.
    """
    for word, known, subject in (
        (check, ("some", "all", "none"), "check"),
        (on_failure, ("keep", "raise"), "on_failure"),
    ):
        if word not in known:
            fix = did_you_mean(word, known) or f"choose one of {listing(known)}"
            raise BAD_CHOICE.error(f"'{word}' is not a choice of {subject}", fix=fix)
    on = checked_place(on)
    if single and device_of(on) != CARD:
        raise BAD_CHOICE.error(
            "single precision is for a graphics card", fix="add on='gpu' (--on gpu), or leave it out"
        )
    described = as_model(model)
    settings = checked_settings(
        until,
        inputs,
        initial,
        parameters,
        solver=solver,
        rtol=rtol,
        atol=atol,
        max_step=max_step,
        step=step,
        start=start,
        samples=samples,
        times=times,
    )
    if into is not None or isinstance(on, DaskMaker):
        described, settings = stored_model(described), stored_settings(settings)
    cases = cases_of(described, vary, settings, draws=draws, by=by, seed=seed, paired=paired)
    runs = prepared_runs(described, cases, settings, names_in(keep))
    drawn = {"draws": draws, "by": by, "seed": seed} if draws else {}
    if into is not None:
        folder = Path(into)
        with writing(folder) as right:
            spec = spec_of(runs, cases, drawn)
            there = folder.exists() and not force
            plan = open_store(folder).plan if there else runs.plan(cases.values, device_of(on), single=single)
            store = begin_store(folder, spec, runs, cases, plan, anew=force)
            study = fill_store(store, runs, right, on=on, threads=threads, progress=progress, check=check)
    else:
        began = time.perf_counter()
        plan = runs.plan(cases.values, device_of(on), single=single)
        maker = chosen_maker(on, runs, plan, len(cases), usable_cores(threads))
        with shown_progress(described.name, len(cases), progress) as told:
            work = Work(runs, plan, cases.values, maker.parts(runs, plan, len(cases)), told)
            found: list[tuple[slice, Made]] = []
            for part, one in maker.chunks(work):
                told.made(one)
                if one is not None:
                    found.append((part, one))
            made = found[0][1] if len(work.parts) == 1 and found else joined(runs, len(cases), found)
        error = None
        if check != "none" and not (made.status == UNMADE).any():
            error = checked_error(runs, cases, plan, made, everything=check == "all", threads=usable_cores(threads))
        study = Study(
            runs=runs,
            cases=cases,
            plan=plan,
            made=made,
            error=error,
            seconds=time.perf_counter() - began,
            settings=drawn,
            where=maker.where,
        )
    if on_failure == "raise" and study.failed:
        first = study.failed[0]
        if first.finding is not None:
            raise SimulationError(first.finding)
        raise rules.ALL_FAILED.error(
            f"run {first.run} failed at t = {first.t:.4g} s: {first.status}", fix="look at study.failed"
        )
    return study


def resume(
    folder: str | Path,
    *,
    on: Any = "local",
    threads: int | None = None,
    check: Check = "some",
    progress: Progress | bool | None = None,
) -> Study:
    """Go on with a study in a folder, where it ended; nothing else is needed. One that is whole is only read.

    Raises: SimulationError where there is no study (S412), or somebody else is writing it (S404).
    """
    on = checked_place(on)
    with writing(Path(folder)) as right:
        store = open_store(Path(folder))
        return fill_store(store, store.runs(), right, on=on, threads=threads, progress=progress, check=check)


def read_study(folder: str | Path) -> Study:
    """The study in a folder, as far as it was made.

    Raises: SimulationError (S412) where there is none.
    """
    store = open_store(Path(folder))
    return store.study(store.runs())


def fill_store(
    store: Store,
    runs: ModelRuns,
    right: Writing,
    *,
    on: Any,
    threads: int | None,
    progress: Progress | bool | None,
    check: Check,
) -> Study:
    """Make the chunks that are missing, and write each as it is whole; Ctrl-C keeps those."""
    cases, began = store.cases(), time.perf_counter()
    missing = list(store.missing())
    before = len(cases) - sum(part.stop - part.start for part in missing)
    maker = chosen_maker(on, runs, store.plan, len(cases) - before, usable_cores(threads))
    with shown_progress(runs.model.name, len(cases), progress) as told:

        def heard(begun: int) -> bool:
            return told(before + begun)

        work = Work(runs, store.plan, cases.values, missing, heard, folder=store.folder, right=right)
        with suppress(KeyboardInterrupt):  # while a chunk is written, which is then made again
            for part, made in maker.chunks(work):
                told.made(made)
                if made is not None and not made.interrupted:
                    store.write(part, made, runs)
    study = replace(store.study(runs, time.perf_counter() - began), where=maker.where if missing else "")
    if check != "none" and missing and not study.cancelled:
        error = checked_error(
            runs, cases, store.plan, study.made, everything=check == "all", threads=usable_cores(threads)
        )
        store.keep_error(error)
        study = replace(study, error=error)
    return study


@final
class Told:
    """Tells somebody how many runs were begun, and never stops them; what of them failed is known chunk by chunk."""

    def __init__(self, count: int, progress: Progress | None) -> None:
        self._count, self._progress = count, progress

    def __call__(self, begun: int) -> bool:
        """Tell that so many were begun."""
        if self._progress is not None:
            self._progress(begun, self._count)
        return False

    def made(self, made: Made | None) -> None:
        """Count those that failed."""
        if made is not None and isinstance(self._progress, RunsLine):
            ended = made.status != UNMADE
            self._progress.failed += int(np.count_nonzero(ended & (made.status != FINISHED)))


@contextmanager
def shown_progress(name: str, count: int, progress: Progress | bool | None) -> Iterator[Told]:
    """Who is told how many runs were begun; a line on stderr where somebody looks at it."""
    line = RunsLine(name, count) if progress is True or (progress is None and is_watched()) else None
    try:
        yield Told(count, progress if callable(progress) else line)
    finally:
        if line is not None:
            line.close()


def checked_settings(
    until: Quantity | None,
    inputs: Mapping[str, InputSignal] | None,
    initial: Mapping[str, Quantity] | None,
    parameters: Mapping[str, Quantity] | None,
    *,
    solver: str,
    rtol: Quantity | None,
    atol: float | None,
    max_step: Quantity | None,
    start: Start | None,
    step: Quantity | None = None,
    samples: int | None = None,
    times: npt.ArrayLike | None = None,
) -> RunSettings:
    """The settings of all runs, as `simulate` takes them.

    Raises: SimulationError (S303) for what is no number.
    """
    return RunSettings(
        until=until,
        inputs=dict(inputs or {}),
        initial=dict(initial or {}),
        parameters=dict(parameters or {}),
        solver=solver,
        rtol=None if rtol is None else value_of(rtol, DIMENSIONLESS, "the relative tolerance"),
        atol=atol,
        max_step=max_step,
        step=step,
        start=start,
        samples=_samples(samples),
        times=None if times is None else tuple(_listed(times)),
    )


def usable_cores(threads: int | None) -> int:
    """The number of threads: that asked for, else the cores that this process may use.

    Raises: SimulationError (S303) for no positive number.
    """
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if isinstance(threads, bool) or threads != int(threads) or threads < 1:
        raise BAD_SETTING.error(f"threads is {threads}", fix="give a positive whole number")
    return int(threads)


def _samples(samples: int | None) -> int | None:
    if samples is not None and (isinstance(samples, bool) or samples != int(samples) or samples < 1):
        raise BAD_SETTING.error(f"samples is {samples}", fix="give a positive whole number")
    return None if samples is None else int(samples)


def _listed(times: npt.ArrayLike) -> list[float]:
    try:
        return list(np.asarray(times, dtype=float).ravel())
    except (TypeError, ValueError):
        raise BAD_SETTING.error("the times of the rows are not numbers", fix="give them in s: [0, 0.1]") from None


def cases_of(
    model: Model,
    vary: Mapping[str, Variation] | Any,
    settings: RunSettings,
    *,
    draws: int | None,
    by: Drawing,
    seed: int,
    paired: bool,
) -> RunTable:
    """The table of a study.

    Raises: SimulationError naming what makes no table.
    """
    readings = readings_of(model, names_of(vary), settings)
    if isinstance(vary, Mapping):
        return make_table(vary, readings, draws=draws, by=by, seed=seed, paired=paired)
    if draws is not None:
        raise rules.NO_DRAWS.error(f"{draws} draws are asked for beside a table", fix="leave them out: a row is a run")
    return table_of(vary, readings)


def readings_of(model: Model, names: Sequence[str], settings: RunSettings) -> dict[str, Reading]:
    """How the values of each name are read.

    Raises: SimulationError (S302) for a name that is no parameter, input or initial value.
    """
    kinds = sorted_names(model, names)
    units = variable_units(lower(model)) if kinds.inputs or kinds.initial else {}
    known = _KnownValues(model, settings)

    def reading(name: str) -> Reading:
        own = name in kinds.parameters
        dimension = model.parameters[name].dimension if own else unit_dimension(units.get(name, ""))

        def read(value: Quantity, subject: str) -> float:
            if own:
                refuse_scales(model, {name: value}, {n: p.expression for n, p in model.parameters.items()})
            elif name in ambient_temperatures(model.elements):
                refuse_scale(value, subject)
            share = share_of(value) if isinstance(value, str) else None
            if share is not None:
                return share * known.value(name)
            names = known.parameters if isinstance(value, str) else None
            return value_of(value, dimension, subject, names)

        return read

    return {name: reading(name) for name in names}


def unit_dimension(unit: str) -> Any:
    """What a variable with this unit measures; None where nothing says so."""
    return parse_unit(unit).dimension if unit and unit != "1" else None


@final
class _KnownValues:
    """What the model says of its own; worked out where somebody asks for a share of it."""

    def __init__(self, model: Model, settings: RunSettings) -> None:
        self._model, self._settings = model, settings
        self._base: dict[str, float] | None = None

    @property
    def parameters(self) -> dict[str, float]:
        """The parameters that have a value."""
        return parameter_values({name: p.expression for name, p in self._model.parameters.items()})

    def value(self, name: str) -> float:
        """The value that a name has where nothing is varied.

        Raises: SimulationError (S407) where it has none.
        """
        if self._base is None:
            ready = ModelRuns(self._model, (), (), self._settings).ready
            self._base = {**ready.start, **ready.inputs, **ready.parameters}
        if not self._base.get(name):
            what = (
                f"a share of '{name}' is asked for, which has {'the value zero' if name in self._base else 'no value'}"
            )
            raise rules.BAD_VARIATION.error(what, where=name, fix="give numbers in place of shares")
        return self._base[name]


def prepared_runs(model: Model, cases: RunTable, settings: RunSettings, keep: Sequence[str]) -> ModelRuns:
    """The model ready for runs, by the first of some rows that it takes.

    Raises: what the model says to the values of the first row, where it takes none.
    """
    first: TellegenError | None = None
    for number in dict.fromkeys([0, *pilot_rows(cases.values)]):
        try:
            return ModelRuns(model, cases.names, cases.values[number].tolist(), settings, keep)
        except TellegenError as error:
            # A request that makes no sense is wrong for every row.
            if error.code.startswith("S4") or error.code in ("S301", "S302", "S303"):
                raise
            first = first or error
    assert first is not None, "there is a row at least"
    raise first


@final
class RunsLine:
    """Shows how many runs were made of all, how many a second, the time left and failures: on stderr, gone at the end."""

    def __init__(self, name: str, count: int) -> None:
        self._name, self._count = name, count
        self._began = self._shown = time.perf_counter()
        self._width = 0
        self.failed = 0

    def __call__(self, begun: int, count: int) -> None:
        """Show that so many were begun."""
        now = time.perf_counter()
        if now - self._began < PATIENCE_S or now - self._shown < PAUSE_S:
            return
        self._shown = now
        speed = begun / (now - self._began)
        left = (count - begun) / speed if speed > 0.0 else float("inf")
        time_left = f", {int(left // 60)}:{int(left % 60):02} left" if left < 1e6 else ""
        failed = f", {self.failed} failed" if self.failed else ""
        self._write(f"{self._name}: {begun} of {count} runs, {speed:.3g} a second{time_left}{failed}")

    def close(self) -> None:
        """Take the line away."""
        if self._width:
            self._write("")

    def _write(self, text: str) -> None:
        # the old line is covered with blanks
        sys.stderr.write(f"\r{text.ljust(self._width)}" + ("" if text else "\r"))
        sys.stderr.flush()
        self._width = len(text)
