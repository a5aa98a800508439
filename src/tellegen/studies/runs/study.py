"""A study: what was kept of many runs, with the values that they were made with."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Unpack, final

import numpy as np
from numpy.typing import NDArray

from tellegen.core.errors import Finding, TellegenError
from tellegen.core.names import did_you_mean, listing
from tellegen.core.tables import table_lines
from tellegen.plots import Line, Look, Panel, Plot, panels_plot
from tellegen.plots.texts import variable_latex
from tellegen.results.files import write_atomically
from tellegen.results.records import column
from tellegen.results.rules import BAD_SUFFIX
from tellegen.results.run import Run
from tellegen.results.units import behind_number
from tellegen.simulation import batches
from tellegen.simulation.global_error import PROMISED
from tellegen.simulation.lanes import PAIRS
from tellegen.simulation.solvers import jobs
from tellegen.studies.runs import rules
from tellegen.studies.runs.keep import Kept
from tellegen.studies.runs.lane_runs import CARD
from tellegen.studies.runs.model_runs import FAILED, REFUSED, Made, ModelRuns, Plan
from tellegen.studies.runs.table import RunTable, grid_index

if TYPE_CHECKING:
    import pandas
    import xarray

Array = NDArray[np.float64]

QUANTILES: Final = (0.05, 0.25, 0.5, 0.75, 0.95)
BANDS: Final = ("nine tenths", "half")
"""The shares of the runs between the outer and the inner ones."""
CHECKED: Final = 16
EVERY: Final = 1000
"""At least so many runs are made again more finely, and every so many-th."""

AT_START: Final = "(0)"
"""Behind the name of an initial value that is varied."""

MOST_TOLD: Final = 5
MOST_FOUND: Final = 40
"""Of so many runs that failed a store finds again why."""
CURVES: Final = 8
MOST_MATRIX: Final = 4
DOTS: Final = 300
MOST_DOTS: Final = 2000
"""Names of a matrix that nobody has chosen, and runs that are shown in it."""
BINS: Final = (5, 60)

STATUS_WORDS: Final[Mapping[int, str]] = {
    jobs.FINISHED: "finished",
    jobs.CANCELLED: "cancelled",
    jobs.NOT_FINITE: "not a number",
    jobs.TINY_STEP: "steps vanish",
    jobs.MANY_STEPS: "too many steps",
    jobs.NO_CONVERGENCE: "no convergence",
    jobs.SINGULAR: "singular",
    jobs.STIFF: "stiff",
    jobs.NO_MEMORY: "no memory",
    jobs.LIBRARY: "solver refused",
    jobs.UNSUITED: "solver unsuited",
    jobs.CHATTERING: "chatters",
    REFUSED: "refused",
    FAILED: "failed",
    batches.UNMADE: "not made",
}


class StudyError(NamedTuple):
    """How far runs are off, in tolerances, as the same runs with a tenth of the tolerance show; `run` is the worst of `checked`."""

    median: float
    largest: float
    run: int
    checked: int


class FailedRun(NamedTuple):
    """A run that did not finish: its number and values, how and when it ended, and what was found."""

    run: int
    values: dict[str, float]
    status: str
    t: float
    finding: Finding | None


class Statistics(NamedTuple):
    """Of one kept number over all runs that finished; `lowest` and `highest` are the runs with the extremes."""

    unit: str
    mean: float
    sd: float
    min: float
    max: float
    quantiles: dict[float, float]
    lowest: int
    highest: int


@final
@dataclass(frozen=True)
class Summary:
    """Statistics of all that is kept as one number."""

    of: Mapping[str, Statistics]

    def __getitem__(self, name: str) -> Statistics:
        return self.of[name]

    def __str__(self) -> str:
        rows: list[tuple[str, ...]] = [("", "", "mean", "deviation", "min", "median", "max", "runs")]
        for name, s in self.of.items():
            numbers = (s.mean, s.sd, s.min, s.quantiles[0.5], s.max)
            rows.append(
                (name, behind_number(s.unit), *(f"{value:.5g}" for value in numbers), f"{s.lowest}, {s.highest}")
            )
        return "\n".join(line.rstrip() for line in table_lines(rows))


@final
@dataclass(frozen=True, eq=False, repr=False)
class Study:
    """Runs of one model with other values in each. `study["max(I_a)"]` is a labelled array over the runs.

    Run k has row k of `cases`; runs that failed have numbers that are none, and stand in `failed`. Values are in SI.
    """

    runs: ModelRuns
    cases: RunTable
    plan: Plan
    made: Made
    error: StudyError | None = None
    seconds: float = 0.0
    settings: Mapping[str, Any] = field(default_factory=dict)
    """How the table was drawn: draws, by, seed."""
    where: str = ""
    """Who made the runs, where it was not this process alone."""

    @property
    def name(self) -> str:
        """The name of the model."""
        return self.runs.model.name

    @property
    def kept(self) -> tuple[Kept, ...]:
        """What is kept of each run."""
        return self.runs.kept

    @property
    def status(self) -> NDArray[np.int8]:
        """How each run ended: 0 where it finished, negative where it was not made."""
        return self.made.status

    @property
    def finished(self) -> int:
        """How many runs finished."""
        return int(np.count_nonzero(self.status == jobs.FINISHED))

    @property
    def cancelled(self) -> bool:
        """Whether Ctrl-C came before the last run."""
        return bool((self.status == batches.UNMADE).any())

    @cached_property
    def failed(self) -> tuple[FailedRun, ...]:
        """The runs that did not finish, one by one."""
        bad = np.flatnonzero((self.status != jobs.FINISHED) & (self.status != batches.UNMADE)).tolist()
        return tuple(
            FailedRun(
                k,
                self.cases.row(k),
                status_word(int(self.status[k])),
                float(self.made.reached[k]),
                self.made.findings.get(k) or (self._found_again(k) if number < MOST_FOUND else None),
            )
            for number, k in enumerate(bad)
        )

    def _found_again(self, number: int) -> Finding | None:
        """What is wrong with a run of which a store holds the status alone."""
        if self.status[number] not in (REFUSED, FAILED):
            return None
        try:
            return self.runs.simulated(self.cases.values[number], own_rows=True).finding
        except TellegenError as error:
            return error.finding

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What is doubtful about the study as a whole."""
        found = []
        if self.error is not None and self.error.largest > PROMISED:
            what = f"run {self.error.run} is off by {self.error.largest:.3g} tolerances"
            fix = f"ask for a finer tolerance than {self.runs.rtol:g}, or check all runs"
            found.append(rules.INACCURATE.finding(what, where=self.name, fix=fix))
        known, whole = self.runs.settings, self.runs.whole
        angles = [name for name in whole.displacement_names if whole.unit(name) == "rad"] if self.plan.single else []
        if angles and known.atol is None and self.runs.model.experiment.atol is None:
            what = f"'{angles[0]}' is an angle, and the study was made in single precision"
            found.append(rules.SINGLE_ANGLE.finding(what, where=self.name, fix="give an absolute tolerance: atol"))
        return tuple(found)

    # -- Values ----------------------------------------------------------------------------------------------------------------

    def values(self, name: str) -> Array:
        """The numbers of what is kept, or of what is varied: by run, or by run and row.

        Raises: SimulationError (S408) with the nearest name.
        """
        if name in self.varied:
            return self.varied[name]
        for group, kept in ((self.made.out, self.runs.numbers), (self.made.rows, self.runs.rows)):
            for k, one in enumerate(kept):
                if one.text == name:
                    return np.asarray(group[..., k])
        known = [*(kept.text for kept in self.kept), *self.varied]
        fix = did_you_mean(name, known) or f"there are {listing(known, 20)}"
        raise rules.NOT_KEPT.error(f"the study has no '{name}'", where=self.name, fix=fix)

    def unit(self, name: str) -> str:
        """The SI unit of what is kept or varied."""
        found = next((kept.unit for kept in self.kept if kept.text == name), None)
        return self.runs.unit(name.removesuffix(AT_START)) if found is None else found

    @cached_property
    def varied(self) -> dict[str, Array]:
        """What is varied, by run: an initial value is called `V_C(0)`, for `V_C` is what it became."""
        return {self._label(name): self.cases.values[:, k] for k, name in enumerate(self.cases.names)}

    def _label(self, name: str) -> str:
        return f"{name}{AT_START}" if name in self.runs.kinds.initial else name

    def __getitem__(self, name: str) -> "xarray.DataArray":
        import xarray  # noqa: PLC0415  heavy, and only needed by who asks for it

        values = self.values(name)
        coords: dict[str, Any] = {
            column(n): ("run", along, {"units": self.unit(n), "long_name": n})
            for n, along in self.varied.items()
            if n != name
        }
        coords["run"] = np.arange(len(self.cases))
        dims: tuple[str, ...] = ("run",)
        if values.ndim == 2:
            dims = ("run", "t")
            coords["t"] = ("t", self.t, {"units": "s", "long_name": "time"})
        attrs = {"units": self.unit(name), "long_name": name}
        return xarray.DataArray(values, dims=dims, coords=coords, name=column(name), attrs=attrs)

    @property
    def t(self) -> Array:
        """The times of rows; where durations differ from run to run, shares of the first."""
        return self.runs.row_times(self.runs.ready.until)

    def grid(self, name: str) -> "xarray.DataArray":
        """The numbers over the grid: one dimension for each sequence, and `draw`.

        Raises: SimulationError (S408) where the study is no grid.
        """
        import xarray  # noqa: PLC0415

        index = grid_index(self.cases)
        if index is None:
            raise rules.NOT_KEPT.error("the runs stand side by side: they are no grid", fix=f"use study['{name}']")
        values = self.values(name)[index]
        coords: dict[str, Any] = {}
        dims = [column(self._label(name)) for name in self.cases.shape]
        for axis, (dimension, dim) in enumerate(zip(self.cases.shape, dims, strict=True)):
            if dimension in self.cases.names:
                first = tuple(slice(None) if k == axis else 0 for k in range(index.ndim))
                along = self.varied[self._label(dimension)][index[first]]
                coords[dim] = (dim, along, {"units": self.runs.unit(dimension)})
        if values.ndim > len(dims):
            dims.append("t")
            coords["t"] = ("t", self.t, {"units": "s"})
        attrs = {"units": self.unit(name), "long_name": name}
        return xarray.DataArray(values, dims=dims, coords=coords, name=column(name), attrs=attrs)

    def dataset(self) -> "xarray.Dataset":
        """All that is varied and kept, with status and steps of each run."""
        import xarray  # noqa: PLC0415

        found = {column(kept.text): self[kept.text] for kept in self.kept}
        found["steps"] = xarray.DataArray(self.made.steps, dims="run")
        found["status"] = xarray.DataArray(self.status, dims="run", attrs={"long_name": "0 where the run finished"})
        return xarray.Dataset(found, attrs={"title": self.name})

    @property
    def table(self) -> "pandas.DataFrame":
        """A row for each run: what is varied, what is kept as one number, and how it ended."""
        import pandas  # noqa: PLC0415  comes with xarray

        numbers = {kept.text: self.made.out[:, k] for k, kept in enumerate(self.runs.numbers)}
        words = [status_word(int(status)) for status in self.status]
        return pandas.DataFrame({**self.varied, **numbers, "status": words}).rename_axis("run")

    def summary(self) -> Summary:
        """Mean, deviation, quantiles and extremes of what is kept, over the runs that finished."""
        good = np.flatnonzero(self.status == jobs.FINISHED)
        found = {}
        for k, kept in enumerate(self.runs.numbers if len(good) else ()):
            values = self.made.out[good, k]
            low, high = int(np.argmin(values)), int(np.argmax(values))
            found[kept.text] = Statistics(
                unit=kept.unit,
                mean=float(np.mean(values)),
                sd=float(np.std(values, ddof=1)) if len(values) > 1 else 0.0,
                min=float(values[low]),
                max=float(values[high]),
                quantiles={q: float(np.quantile(values, q)) for q in QUANTILES},
                lowest=int(good[low]),
                highest=int(good[high]),
            )
        return Summary(found)

    def run(self, number: int) -> Run:
        """One run again, whole, as `simulate` makes it."""
        if not 0 <= number < len(self.cases):
            what = f"there is no run {number}: the study has {len(self.cases)}"
            raise rules.NOT_KEPT.error(what, fix="count runs from 0")
        return self.runs.simulated(self.cases.values[number], own_rows=True)

    # -- Shown and written -----------------------------------------------------------------------------------------------------

    def plot(self, *names: str, over: str | None = None, **look: Unpack[Look]) -> Plot:
        """What is kept over what is varied; without `over`, how many runs have which values.

        What is kept row by row is shown over time: the median, and the bands that half and nine tenths of the runs keep to.
        """
        panels = [self._panel(name, over) for name in names or [kept.text for kept in self.kept]]
        return panels_plot(self.name, [[panel] for panel in panels], **look)

    def scatter(self, *names: str, **look: Unpack[Look]) -> Plot:
        """Each name over each other one, a dot for a run, and on the diagonal how its values are spread.

        Without names these are those that are varied, then what is kept as one number, as many as can be told apart.
        """
        chosen = names or (*list(self.varied)[:MOST_MATRIX], *(kept.text for kept in self.runs.numbers))[:MOST_MATRIX]
        good = np.flatnonzero(self.status == jobs.FINISHED)
        some = good[np.linspace(0, len(good) - 1, min(len(good), DOTS)).astype(int)]
        columns = [[self._pair(y, x, good, some) for y in chosen] for x in chosen]
        # Each panel has room for its numbers, however many there are.
        wide: Look = {"max_width": max(684.0, 171.0 * len(chosen)), **look}
        return panels_plot(self.name, columns, **wide)

    def _pair(self, y: str, x: str, good: NDArray[np.int64], some: NDArray[np.int64]) -> Panel:
        if x == y:
            return self._histogram(x, self.values(x)[good])
        dots = Line(y, self.values(x)[some], self.values(y)[some], mark=".", latex=self._latex(y))
        return Panel((dots,), unit=self.unit(y), x_title=self._latex(x), x_unit=self.unit(x))

    def _panel(self, name: str, over: str | None) -> Panel:
        values, unit = self.values(name), self.unit(name)
        good = self.status == jobs.FINISHED
        if values.ndim == 2:
            return Panel(tuple(self._fan(name, values[good])), unit=unit)
        if over is None:
            return self._histogram(name, values[good])
        lines = self._curves(name, over, self.values(over), values, good)
        return Panel(tuple(lines), unit=unit, x_title=variable_latex(over), x_unit=self.unit(over))

    def _histogram(self, name: str, values: Array) -> Panel:
        """How many runs have which values, as steps."""
        spread = float(np.ptp(values)) if len(values) else 0.0
        # Runs that all give the same have one bar.
        count = np.clip(len(np.histogram_bin_edges(values, "auto")) - 1, *BINS) if spread > 0.0 else 1
        runs, edges = np.histogram(values, int(count))
        x, y = np.repeat(edges, 2)[1:-1], np.repeat(runs.astype(float), 2)
        line = Line("runs", x, y, words="runs", latex=r"\text{runs}", under=np.zeros(len(x)), shade=45)
        return Panel((line,), x_title=self._latex(name), x_unit=self.unit(name))

    def _fan(self, name: str, values: Array) -> Iterator[Line]:
        """The bands that shares of the runs keep to over time, the wide one first, and the median upon them."""
        levels = np.nanquantile(values, QUANTILES, axis=0) if len(values) else np.full((5, len(self.t)), np.nan)
        middle = len(QUANTILES) // 2
        for k in range(middle):
            words = f"{BANDS[k]} of the runs"
            low, high = levels[k], levels[-1 - k]
            yield Line(words, self.t, high, words=words, under=low, look=(0, 0), shade=18 + 22 * k)
        yield Line(name, self.t, levels[middle], words="median", look=(0, 0))

    def _curves(self, name: str, over: str, along: Array, values: Array, good: NDArray[np.bool_]) -> Iterator[Line]:
        """A curve for each choice of the other names where these are few; else a point for each run."""
        others = [k for k, n in enumerate(self.varied) if n != over]
        groups = np.unique(self.cases.values[good][:, others], axis=0) if others else np.zeros((1, 0))
        if len(groups) > CURVES:
            some = np.flatnonzero(good)[:: max(1, int(good.sum()) // MOST_DOTS)]
            yield Line(name, along[some], values[some], mark=".", latex=self._latex(name))
            return
        for group in groups:
            mine = np.flatnonzero(good & (self.cases.values[:, others] == group).all(axis=1))
            mine = mine[np.argsort(along[mine], kind="stable")]
            words = ", ".join(f"{list(self.varied)[k]} = {value:.4g}" for k, value in zip(others, group, strict=True))
            yield Line(name, along[mine], values[mine], words=words, latex=self._latex(name))

    def _latex(self, name: str) -> str:
        kept = next((kept for kept in self.kept if kept.text == name), None)
        # The variable stands behind the parenthesis, whatever letters the word before it has; `energy.R` has none.
        word, bracket, inside = name.partition("(")
        if kept is None or not bracket:
            return variable_latex(name)
        before, _, after = inside.partition(kept.name)
        told = [rf"\text{{{part}}}".replace("_", r"\_") for part in (f"{word}({before}", after)]
        return variable_latex(kept.name).join(told)

    def save(self, path: str | Path) -> Path:
        """Write the study: .nc (netCDF) with all that is kept, .parquet or .csv with a row for each run.

        Raises: ExportError where it cannot be written.
        """
        target = Path(path)
        check_suffix(target)
        return write_atomically(target, self._write)

    def _write(self, path: Path) -> None:
        if path.suffix == ".nc":
            self.dataset().to_netcdf(path, engine="h5netcdf")
        elif path.suffix == ".parquet":
            self.table.to_parquet(path)
        else:
            self.table.to_csv(path)

    def to_json(self) -> dict[str, object]:
        """The study in numbers, as `tellegen sweep --json` prints it."""
        return {
            "runs": len(self.cases),
            "finished": self.finished,
            "failed": len(self.failed),
            "seconds": self.seconds,
            "runs_per_s": self.finished / self.seconds if self.seconds > 0.0 else None,
            "solver": self.plan.solver,
            "how": self.plan.how,
            "reason": self.plan.reason,
            "where": self.where or "local",
            "lanes": {"method": PAIRS[self.plan.pair].name} if self.plan.pair else None,
            "error": None if self.error is None else {"median": self.error.median, "largest": self.error.largest},
            "vary": {
                name: {"unit": self.unit(name), "min": float(values.min()), "max": float(values.max())}
                for name, values in self.varied.items()
            },
            "keep": {
                name: {
                    "unit": s.unit,
                    "mean": s.mean,
                    "sd": s.sd,
                    "min": s.min,
                    "max": s.max,
                    "quantiles": {f"{q:g}": value for q, value in s.quantiles.items()},
                }
                for name, s in self.summary().of.items()
            },
        }

    def __str__(self) -> str:
        lines = [self.name, "", *table_lines(list(self.facts())), "", str(self.summary())]
        for finding, count in self._repeated():
            times = f" ({count} runs)" if count > 1 else ""
            lines += ["", f"{finding}{times}"]
        lines += [part for finding in self.findings for part in ("", str(finding))]
        return "\n".join(line.rstrip() for line in lines)

    def __repr__(self) -> str:
        return f"Study of {self.name}: {self.finished} of {len(self.cases)} runs finished"

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"

    def facts(self) -> Iterator[tuple[str, str]]:
        """How many runs there are, how they were made, and how far they are off, in words."""
        shape = " x ".join(f"{name} ({count})" for name, count in self.cases.shape.items())
        yield "runs", f"{len(self.cases)}{f': {shape}' if len(self.cases.shape) > 1 else ''}"
        away = f", {len(self.failed)} failed" if self.failed else ""
        missing = int(np.count_nonzero(self.status == batches.UNMADE))
        yield "finished", f"{self.finished}{away}{f', {missing} not made' if missing else ''}"
        yield "how", f"{self._manner()} ({self.plan.reason})"
        if self.where:
            yield "made", self.where
        if self.error is not None:
            told = f"{self.error.median:.2g} tolerances in the median, {self.error.largest:.2g} at most"
            yield "error", f"{told}, of {self.error.checked} runs made again with a tenth of it"

    def _manner(self) -> str:
        if self.plan.device == CARD:
            precision = "single" if self.plan.single else "double"
            return f"on a graphics card in {precision} precision, by {PAIRS[self.plan.pair].name}"
        if self.plan.pair:
            return f"in lanes, by {PAIRS[self.plan.pair].name}"
        return f"in one batch by {self.plan.solver}" if self.plan.how == "batch" else "one by one"

    def _repeated(self) -> list[tuple[str, int]]:
        """What was found of runs that failed, alike findings once with their number."""
        counted: dict[tuple[str, str], list[FailedRun]] = {}
        for one in self.failed:
            counted.setdefault((one.status, "" if one.finding is None else one.finding.code), []).append(one)
        told = []
        for (status, _), ones in list(counted.items())[:MOST_TOLD]:
            first = ones[0]
            about = (
                str(first.finding) if first.finding is not None else f"run {first.run}: {status} at t = {first.t:.4g} s"
            )
            told.append((about, len(ones)))
        return told


SUFFIXES: Final = (".nc", ".parquet", ".csv")
FOLDERS: Final = ("", ".study", ".zarr")
"""Endings of a folder that a study grows in; a folder that is there already may end anyhow."""


def check_suffix(target: Path) -> None:
    """Refuse a file of another kind before anything is computed for it.

    Raises: ExportError (X201).
    """
    if target.suffix not in SUFFIXES:
        raise BAD_SUFFIX.error(
            f"'{target}' has no ending of a study",
            fix=f"use one of {', '.join(SUFFIXES)}, or name a folder that ends in .study",
        )


def status_word(status: int) -> str:
    """How a run ended, in words."""
    return STATUS_WORDS.get(status, f"status {status}")


def checked_error(
    runs: ModelRuns, cases: RunTable, plan: Plan, made: Made, *, everything: bool, threads: int
) -> StudyError | None:
    """Make some runs again with a tenth of the tolerance, and compare; None where nothing can be compared."""
    good = np.flatnonzero(made.status == jobs.FINISHED)
    if not len(good) or not made.out.size:
        return None
    count = len(good) if everything else min(len(good), max(CHECKED, -(-len(cases) // EVERY)))
    chosen = good[np.linspace(0, len(good) - 1, count).astype(int)]
    again = runs.make(cases.values[chosen], plan, threads, finer=0.1)
    # Times of extremes are known to the square root of the tolerance: values around them are flat.
    columns = [k for k, kept in enumerate(runs.numbers) if not kept.word.startswith("time_of")]
    sizes = np.array([runs.tolerance_of(made.out[good, k]) for k in columns])
    off = np.abs(again.out[:, columns] - made.out[chosen][:, columns]) / sizes
    worst = np.max(off, axis=1, initial=0.0)
    worst = worst[again.status == jobs.FINISHED]
    if not len(worst):
        return None
    at = chosen[again.status == jobs.FINISHED][int(np.argmax(worst))]
    return StudyError(float(np.median(worst)), float(np.max(worst)), int(at), len(worst))
