"""`response`: a study as a function of arrays, with its slopes: what searches, fits and other packages call."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from functools import cached_property
from typing import Any, Final, final

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

from tellegen.core.errors import SimulationError, TellegenError
from tellegen.core.names import TIME, unused
from tellegen.experiments.input_signals import InputSignal
from tellegen.experiments.quantities import Quantity
from tellegen.experiments.rules import BAD_SETTING
from tellegen.experiments.sensitivities import SensitivityRuns, SlopeRows, sensitivity_runs
from tellegen.expressions import symbol
from tellegen.model.model import Model, Start
from tellegen.notations.loading import AnyModel, as_model
from tellegen.notations.reading import read_model
from tellegen.notations.writing import to_yaml
from tellegen.simulation import batches
from tellegen.simulation.solvers.stretch import prepare
from tellegen.studies.runs import rules
from tellegen.studies.runs.keep import Kept, names_in, read_kept
from tellegen.studies.runs.model_runs import Made, ModelRuns, Plan, RunSettings
from tellegen.studies.runs.sweep import checked_settings, readings_of, usable_cores
from tellegen.studies.runs.variation import Reading

Array = NDArray[np.float64]

PANELS: Final = 200
"""Parts of a run over which slopes of means and integrals are summed, besides those that its breaks make."""

# Gauss and Legendre on [0, 1], exact to degree nine.
_NODES, _SHARES = (np.polynomial.legendre.leggauss(5)[0] + 1.0) / 2.0, np.polynomial.legendre.leggauss(5)[1] / 2.0


def response(
    model: AnyModel,
    by: str | Sequence[str],
    of: str | Sequence[str],
    until: Quantity | None = None,
    *,
    inputs: Mapping[str, InputSignal] | None = None,
    initial: Mapping[str, Quantity] | None = None,
    parameters: Mapping[str, Quantity] | None = None,
    solver: str = "auto",
    rtol: Quantity | None = None,
    atol: float | None = None,
    max_step: Quantity | None = None,
    start: Start | None = None,
    threads: int | None = None,
) -> "Response":
    """Numbers of runs as a function of parameters, constant inputs and initial values: `r(x)` for x of shape (n, d) gives (n, m).

    `of` is what `sweep` can keep: `NAME` (the last value), `max(NAME)`, `mean(NAME)`, `at(NAME, TIME)`, ... All values are in SI.
    `r.slopes(x)` gives values and derivatives (n, m, d), by the variational equations of the model. Runs that fail give numbers
    that are none.

    >>> import tellegen as tg
    >>> r = tg.response("dc_motor_pump", by=["R_a", "K_m"], of=["max(I_a)", "omega_m"])
    >>> r([[0.5, 0.15]]).round(2)
    array([[37.17, 84.54]])

    Raises: SimulationError for a name or a request that makes no sense, before any run.
    """
    settings = checked_settings(
        until, inputs, initial, parameters, solver=solver, rtol=rtol, atol=atol, max_step=max_step, start=start
    )
    found = Response(as_model(model), names_in(by), names_in(of), settings, usable_cores(threads))
    found.check_kept()
    return found


@final
class Response:
    """Numbers of runs as a function of arrays. It can be pickled: the model goes along as text."""

    def __init__(
        self, model: Model, by: tuple[str, ...], of: tuple[str, ...], settings: RunSettings, threads: int
    ) -> None:
        self.model, self.by, self.of = model, by, of
        self.settings, self.threads = settings, threads
        if not by or not of:
            what = "nothing is asked of the runs" if by else "no name varies"
            fix = (
                "say what is looked at, as of=['max(I_a)'] (--of)" if by else "name what varies, as by=['R_a'] (--vary)"
            )
            raise rules.BAD_VARIATION.error(what, where=model.name, fix=fix)
        if twice := [name for name in dict.fromkeys(by) if by.count(name) > 1]:
            raise rules.BAD_VARIATION.error(f"'{twice[0]}' varies twice", where=model.name, fix="name it once")
        self.readings: Mapping[str, Reading] = readings_of(model, by, settings)
        self.runs = 0
        """How many runs were made so far, those for slopes apart."""
        self.slope_runs = 0
        """How many of them were made with slopes."""
        self._made: ModelRuns | None = None
        self._plan: Plan | None = None

    def check_kept(self) -> None:
        """See that runs know what is asked of them.

        Raises: SimulationError (S408) for what they do not.
        """
        try:
            alone = self.unvaried
        except TellegenError:
            return  # a model that lacks what is varied is ready with the first point
        read_kept(self.of, alone.whole, with_rows=False, until=alone.ready.until)

    @property
    def names(self) -> tuple[str, ...]:
        """What each column of the values is."""
        return self.of

    @property
    def units(self) -> tuple[str, ...]:
        """The SI units of the columns."""
        return tuple(kept.unit for kept in self.ready_at(self.base).kept)

    @cached_property
    def unvaried(self) -> ModelRuns:
        """The model as it is."""
        return ModelRuns(self.model, (), (), self.settings)

    @cached_property
    def base(self) -> Array:
        """The values that the model has of what is varied; zero where it has none."""
        known = self.unvaried.base_value
        return np.array([known(name) for name in self.by])

    def ready_at(self, first: Array) -> ModelRuns:
        """The model ready for runs; the first values it is asked for with are those that it is prepared by."""
        if self._made is None:
            self._made = ModelRuns(self.model, self.by, first.tolist(), self.settings, self.of)
        return self._made

    def made(self, x: npt.ArrayLike) -> Made:
        """The runs with what is known of each."""
        values = self._points(x)
        if not len(values):
            return self.ready_at(self.base).nothing_made(0)
        runs = self.ready_at(values[0])
        if self._plan is None:
            # chosen once, so that the same point has the same numbers ever after
            self._plan = runs.plan(values[:1] if len(values) == 1 else values)
            if self._plan.how == "one by one" and not runs.refusal():
                self._plan = runs.plan(values[:1])
        self.runs += len(values)
        return runs.make(values, self._plan, self.threads)

    def __call__(self, x: npt.ArrayLike) -> Array:
        """The numbers of all runs, a row for each; one point may be given as a row alone, and gives one row."""
        made = self.made(x)
        if made.interrupted:
            raise KeyboardInterrupt
        found = made.out
        return found if np.ndim(x) > 1 else found[0]

    def slopes(self, x: npt.ArrayLike) -> tuple[Array, Array]:
        """Values (n, m) and their derivatives (n, m, d).

        Raises: SimulationError for a run that fails, or an event that only grazes its limit (S175).
        """
        values = self._points(x)
        found = np.empty((len(values), len(self.of))), np.empty((len(values), len(self.of), len(self.by)))
        for k, row in enumerate(values):
            found[0][k], found[1][k] = self._slopes_at(row)
        return found if np.ndim(x) > 1 else (found[0][0], found[1][0])

    def _points(self, x: npt.ArrayLike) -> Array:
        try:
            values = np.atleast_2d(np.asarray(x, dtype=float))
        except (TypeError, ValueError):
            raise BAD_SETTING.error("the points are not numbers", fix="give an array of numbers in SI units") from None
        if values.ndim != 2 or values.shape[1] != len(self.by):
            what = f"points have {values.shape[-1]} values, and {len(self.by)} names are varied"
            raise rules.BAD_VARIATION.error(what, fix=f"give an array of shape (n, {len(self.by)})")
        return values

    # -- Slopes ----------------------------------------------------------------------------------------------------------------

    def _slopes_at(self, row: Array) -> tuple[Array, Array]:
        out = self(row)
        if not np.isfinite(out).all():
            raise self.failure(row)
        assert self._made is not None, "a run was made"
        kept = self._made.kept
        self.slope_runs += 1
        until = self._made.ready.until
        times = self._times_needed(kept, row, until)
        grid = np.unique(np.concatenate([*times.values(), np.array([until])]))
        told = self.sensitivities.rows_at(row, grid)
        found = np.empty((len(kept), len(self.by)))
        for k, one in enumerate(kept):
            if one.word.startswith("time_of"):
                found[k] = self.differences(row)[k]
                continue
            column = self.sensitivities.names.index(one.name)
            at = np.searchsorted(told.t, times[k])
            slopes = told.slopes[at, column]
            if one.kind in (batches.INTEGRAL, batches.SQUARES):
                found[k] = self._summed(one, told.values[at, column], slopes, out[k], until)
            else:
                found[k] = slopes[-1]
        return out, found

    def _times_needed(self, kept: Sequence[Kept], row: Array, until: float) -> dict[int, Array]:
        extremes = [k for k, one in enumerate(kept) if one.kind in (batches.MAX, batches.MIN)]
        instants = dict(zip(extremes, self._instants([kept[k] for k in extremes], row), strict=True))
        found = {}
        for k, one in enumerate(kept):
            if one.word == "at":
                found[k] = np.array([one.at])
            elif one.kind in (batches.INTEGRAL, batches.SQUARES):
                ends = self._panels(until)
                found[k] = (ends[:-1, None] + np.diff(ends)[:, None] * _NODES).ravel()
            elif not one.word.startswith("time_of"):
                found[k] = np.array([instants.get(k, until)])
        return found

    def _panels(self, until: float) -> Array:
        assert self._made is not None, "a run was made"
        breaks = prepare(self._made.ready.numeric).breaks(0.0, until)
        return np.unique(np.concatenate([np.linspace(0.0, until, PANELS + 1), breaks]))

    def _instants(self, extremes: Sequence[Kept], row: Array) -> list[float]:
        """When each extreme comes: its slope is that of the variable at this instant."""
        if not extremes:
            return []
        of = tuple(f"time_of_{one.word}({one.name})" for one in extremes)
        if self._timing is None or self._timing.of != of:
            self._timing = Response(self.model, self.by, of, self.settings, 1)
        return [float(t) for t in np.atleast_1d(self._timing(row))]

    _timing: "Response | None" = None

    def _summed(self, one: Kept, values: Array, slopes: Array, whole: float, until: float) -> Array:
        ends = self._panels(until)
        weights = (np.diff(ends)[:, None] * _SHARES).ravel()
        if one.word == "rms":
            return (
                np.asarray((weights * values) @ slopes / (until * whole)) if whole > 0.0 else np.zeros(slopes.shape[1])
            )
        return np.asarray(weights @ slopes / (until if one.word == "mean" else 1.0))

    def differences(self, row: Array) -> Array:
        """Central differences of runs over a thousandth, by number and name: for what has no variational equation."""
        steps = 1e-3 * np.where(row == 0.0, 1.0, np.abs(row))
        sides = self(np.concatenate([row + np.diag(steps), row - np.diag(steps)]))
        return np.asarray((sides[: len(row)] - sides[len(row) :]).T / (2.0 * steps))

    @cached_property
    def sensitivities(self) -> "VariedSlopes":
        """The model ready for slopes along all that is varied."""
        assert self._made is not None, "a run was made"
        return VariedSlopes(self._made, [kept.name for kept in self._made.kept])

    def failure(self, row: Array) -> Exception:
        """Why the run with these values failed."""
        made = self.made(row)
        finding = made.findings.get(0)
        if finding is not None:
            return SimulationError(finding)
        values = ", ".join(f"{name} = {value:.6g}" for name, value in zip(self.by, row, strict=True))
        return rules.ALL_FAILED.error(
            f"the run with {values} failed: {made.status[0]}", fix="stay where the model has a motion"
        )

    # -- As text ---------------------------------------------------------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        settings = {one.name: getattr(self.settings, one.name) for one in fields(self.settings)}
        told = {name: getattr(self, name) for name in ("by", "of", "threads")}
        return {**told, "model": to_yaml(self.model), "settings": settings, "plan": self._plan}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        model = read_model(state["model"])
        self.__init__(model, state["by"], state["of"], RunSettings(**state["settings"]), state["threads"])
        self._plan = state["plan"]


@final
class VariedSlopes:
    """The slopes of variables along parameters, constant inputs and initial values: what is no parameter becomes one."""

    def __init__(self, runs: ModelRuns, outputs: Iterable[str]) -> None:
        model, kinds, s = runs.model, runs.kinds, runs.settings
        taken = {*model.parameters, *runs.ready.graph.parameters}
        self._words: dict[str, str] = {name: name for name in kinds.parameters}
        further = {}
        for name in (*kinds.inputs, *kinds.initial):
            self._words[name] = word = unused(f"varied_{name.replace('.', '_')}", taken)
            further[word] = runs.base_value(name)
        self._order = [self._words[name] for name in runs.names]
        inputs: dict[str, Any] = {**s.inputs, **{name: symbol(self._words[name]) for name in kinds.inputs}}
        initial: dict[str, Any] = {**s.initial, **{name: symbol(self._words[name]) for name in kinds.initial}}
        self._made: SensitivityRuns = sensitivity_runs(
            model,
            self._order,
            s.until,
            inputs=inputs,
            initial=initial,
            values={**s.parameters, **{name: runs.base_value(name) for name in kinds.parameters}},
            outputs=[name for name in dict.fromkeys(outputs) if name != TIME],
            solver=s.solver,
            rtol=runs.rtol,
            further=further,
            start=s.start,
        )
        self.names = list(self._made.names)

    def rows_at(self, row: Array, times: Array) -> SlopeRows:
        """Variables and their slopes at these times, with these values of what is varied.

        Raises: SimulationError where the run does not reach its end, or an event only grazes its limit (S175).
        """
        found = self._made.with_values(dict(zip(self._order, row.tolist(), strict=True))).rows(times)
        # In runs through modes rows at the seams come twice: the later ones count.
        keep = np.append(np.diff(found.t) > 0.0, True)
        return SlopeRows(found.t[keep], found.values[keep], found.slopes[keep])
