"""`fit`: parameters of a model from measured data, with exact slopes, and what the data can tell of them.

Least squares of residuals over their noise; positive parameters are sought as their logarithms. The covariance is that of the
linearised problem, (J^T J)^-1: directions in which J is nothing are open, and parameters in them get no interval.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any, Final, NamedTuple, Unpack, final

import numpy as np
from numpy.typing import NDArray

from tellegen.core.errors import Finding, TellegenError
from tellegen.core.names import did_you_mean, listing
from tellegen.core.tables import table_lines
from tellegen.experiments.input_signals import InputSignal
from tellegen.experiments.quantities import Quantity
from tellegen.experiments.rules import BAD_SETTING
from tellegen.model.model import Model
from tellegen.notations.loading import AnyModel, as_model
from tellegen.notations.writing import to_yaml
from tellegen.plots import Line, Look, Panel, Plot, panels_plot
from tellegen.plots.texts import variable_latex
from tellegen.results.files import write_atomically
from tellegen.results.units import behind_number
from tellegen.studies.runs import rules
from tellegen.studies.runs.fit_problem import Bounds, FitProblem, FreeName, RecordProblem, fitted_model
from tellegen.studies.runs.keep import names_in
from tellegen.studies.runs.measurements import records_of, smoothness
from tellegen.studies.runs.model_runs import RunSettings
from tellegen.studies.runs.table import shares_drawn

Array = NDArray[np.float64]

OPEN: Final = 1e-7
"""Singular values below this share of the largest belong to directions that the data leave open."""
TOUCHED: Final = 1e-3
"""A parameter with more than this share in an open direction gets no interval; those with more than a tenth are named."""
WEAK_SHARE: Final = 0.5
ALIKE: Final = 0.3
REWEIGHTED: Final = 6
REFINED: Final = 5
PROFILE_POINTS: Final = 21
CHI2_95: Final = 3.841
"""By so much chi2 rises from its least value to the ends of an interval of 95 % of one parameter."""
AROUND: Final = 3.0
"""Where a parameter has no bounds, further starts lie within so many times its value."""
MOST_STEPS: Final = 200
FLAT: Final = 1e-6


class OpenDirection(NamedTuple):
    """The shares of the parameters that can change together without any effect on the data."""

    shares: dict[str, float]


class RecordFit(NamedTuple):
    """How a record fits: root of the mean square of its residuals, and percent of the variation explained, by column."""

    name: str
    rms: dict[str, float]
    fit_percent: dict[str, float]


class Profile(NamedTuple):
    """The sum of squares where one parameter is held at each value and the others are fitted again."""

    name: str
    values: Array
    chi2: Array
    unit: str = ""
    title: str = ""
    findings: tuple[Finding, ...] = ()
    """Whether it meets the bounds of the parameter before the sum of squares has risen."""

    @property
    def panel(self) -> Panel:
        """The sum of squares along the parameter, and how high it is at the ends of an interval of 95 %."""
        rise = float(np.nanmin(self.chi2)) + CHI2_95
        words = "95 percent"
        limit = Line(words, self.values, np.full(len(self.values), rise), words=words)
        told = Line("chi2", self.values, self.chi2, latex=r"\chi^2", words="along it")
        title = variable_latex(self.name)
        return Panel((told, limit), x_title=title, x_unit=self.unit)

    def plot(self, **look: Unpack[Look]) -> Plot:
        """The profile as a picture."""
        return panels_plot(self.title, [[self.panel]], **look)


# -- The search ------------------------------------------------------------------------------------------------------------------


def fit(
    model: AnyModel,
    data: Any,
    free: Sequence[str] | Mapping[str, Bounds | None],
    *,
    measured: Mapping[str, str] | None = None,
    noise: Mapping[str, Quantity] | None = None,
    loss: str = "linear",
    starts: int = 1,
    inputs: Mapping[str, InputSignal] | None = None,
    initial: Mapping[str, Quantity] | None = None,
    parameters: Mapping[str, Quantity] | None = None,
    solver: str = "auto",
    rtol: float | None = None,
    seed: int = 0,
) -> "Fit":
    """Parameters of a model from measured data: values with intervals, and what the data cannot tell.

    `data` is a file, a data frame, a mapping of columns, `tellegen.record(...)`, or a list of such, which share the free
    parameters. `free` names parameters, constant inputs, initial values, and names that formulas of `measured` bring, such as
    `measured={"U": "2*I_a + offset"}`; a mapping gives bounds. Positive parameters are sought as their logarithms. `noise` is
    the deviation of each column; without it one is estimated for each. `loss` is one of `scipy.optimize.least_squares`, such as
    "soft_l1". With `starts`, so many points between the bounds are tried, and the best are refined.

    Raises: SimulationError for data (S420, S425) or free names (S302, S426) that make no sense, before any run; (S427) where the
        search does not end.
    """
    described = as_model(model)
    settings = RunSettings(None, dict(inputs or {}), dict(initial or {}), dict(parameters or {}), solver, rtol)
    records = records_of(data)
    names = dict(free) if isinstance(free, Mapping) else dict.fromkeys(names_in(free))
    problem = FitProblem(described, records, names, settings, measured=measured or {}, noise=noise or {})
    _check_loss(loss)
    if isinstance(starts, bool) or starts != int(starts) or starts < 1:
        raise rules.BAD_FREE.error(f"{starts} starts are asked for", fix="give a positive whole number")
    findings = list(_joined_smoothly(problem))
    start = problem.start
    if problem.needs_differences(start):
        problem.differences = True
        findings.append(
            rules.NO_TRUE_SLOPES.finding("slopes are taken from differences over 1 %", where=described.name)
        )
    x = _searched(problem, start, loss, starts, seed)
    for _ in range(REWEIGHTED):
        if not problem.set_noise(x):
            break
        x = _refined(problem, x, loss)
    return Fit(problem, x, loss, tuple(findings))


def _joined_smoothly(problem: FitProblem) -> Iterator[Finding]:
    """How far inputs may be off that are joined smoothly."""
    for one in problem.records:
        for name, signal in one.measured.driving.items() if one.given.hold == "smooth" else ():
            share = smoothness(signal)
            what = f"'{name}' is joined smoothly: through every second point it would miss the others by up to {100 * share:.2g} %"
            fix = "take hold='linear' or 'previous' where that is too much"
            yield rules.SMOOTH_INPUT.finding(what, where=one.given.name, fix=fix, members=(name,))


def _check_loss(loss: str) -> None:
    known = ("linear", "soft_l1", "huber", "cauchy", "arctan")
    if loss not in known:
        fix = did_you_mean(loss, known) or f"choose one of {listing(known)}"
        raise rules.BAD_FREE.error(f"there is no loss '{loss}'", fix=fix)


def _searched(problem: FitProblem, start: Array, loss: str, starts: int, seed: int) -> Array:
    if starts == 1:
        return _refined(problem, start, loss)
    low, high = np.array([_range(f) for f in problem.free]).T
    points = np.vstack([start, low + (high - low) * shares_drawn(len(start), starts - 1, "sobol", seed)])
    values = np.array([problem.values(x) for x in points])
    costs = np.sum([one.errors_of_many(values, problem) for one in problem.records], axis=0)
    problem.runs += starts * len(problem.records)
    found: list[tuple[float, Array]] = []
    for k in np.argsort(costs, kind="stable")[:REFINED].tolist():
        if not np.isfinite(costs[k]):
            break
        try:
            x = _refined(problem, points[k], loss)
        except TellegenError:
            continue
        found.append((float(np.sum(problem.residuals(x) ** 2)), x))
    if not found:
        raise rules.NO_FIT.error("no start led to an end", where=problem.model.name, fix="give narrower bounds")
    return min(found, key=lambda pair: pair[0])[1]


def _range(one: FreeName) -> tuple[float, float]:
    low, high = one.limits
    x = one.to_search(one.start)
    around = float(np.log(AROUND)) if one.is_log else AROUND * (abs(one.start) or 1.0)
    return max(low, x - around) if one.low in (0.0, -np.inf) else low, high if one.high < np.inf else x + around


def _refined(problem: FitProblem, start: Array, loss: str, held: Sequence[int] = ()) -> Array:
    """The point of least squares near a start.

    Raises: SimulationError (S427) where the search does not end, and what the model says where it does not run at the start.
    """
    from scipy import optimize  # noqa: PLC0415  SciPy is loaded by who fits

    least_squares: Any = optimize.least_squares
    problem.both(start)  # what is wrong at the start is said in the words of the model
    free = [k for k in range(len(start)) if k not in held]
    if not free:
        return start

    def whole(part: Array) -> Array:
        x = start.copy()
        x[free] = part
        return x

    limits = np.array([problem.free[k].limits for k in free]).T
    inside = np.clip(start[free], np.nextafter(limits[0], np.inf), np.nextafter(limits[1], -np.inf))
    found = least_squares(
        lambda part: problem.residuals(whole(part)),
        inside,
        jac=lambda part: problem.jacobian(whole(part))[:, free],
        bounds=(limits[0], limits[1]),
        method="trf",
        x_scale="jac",
        loss=loss,
        # Of a sum of squares that is about the number of measurements: far below the one that a deviation changes it by.
        ftol=FLAT,
        xtol=1e-9,
        gtol=1e-9,
        max_nfev=MOST_STEPS,
    )
    if found.status <= 0:
        what = f"the search has made {MOST_STEPS} steps and still moves"
        raise rules.NO_FIT.error(
            what, where=problem.model.name, fix="start nearer, give bounds, or free fewer parameters"
        )
    return whole(np.asarray(found.x, dtype=float))


# -- The result ------------------------------------------------------------------------------------------------------------------


@final
@dataclass(frozen=True, eq=False, repr=False)
class Fit:
    """Fitted parameters, and what the data tell of them."""

    problem: FitProblem
    x: Array
    loss: str = "linear"
    first_findings: tuple[Finding, ...] = ()
    scale: float | None = field(default=None, repr=False)

    @property
    def names(self) -> tuple[str, ...]:
        """What was free."""
        return tuple(f.label for f in self.problem.free)

    @property
    def values(self) -> dict[str, float]:
        """The fitted values, in SI."""
        return dict(zip(self.names, self.problem.values(self.x).tolist(), strict=True))

    @cached_property
    def _numbers(self) -> tuple[Array, Array]:
        residuals = self.problem.residuals(self.x)
        return residuals, self.problem.jacobian(self.x)

    @property
    def chi2(self) -> float:
        """The sum of squares of residuals over noise."""
        return float(np.sum(self._numbers[0] ** 2))

    @property
    def dof(self) -> int:
        """Measurements less free parameters."""
        return self.problem.count - len(self.names)

    @property
    def noise(self) -> dict[str, float]:
        """The deviation of each column, given or estimated."""
        return dict(self.problem.noise)

    @cached_property
    def _directions(self) -> tuple[Array, Array, Array]:
        """Singular values of the slopes relative to each parameter, their directions, and what a relative change is."""
        sizes = np.array(
            [1.0 if f.is_log else abs(v) or 1.0 for f, v in zip(self.problem.free, self.values.values(), strict=True)]
        )
        _, singular, rows = np.linalg.svd(self._numbers[1] * sizes, full_matrices=True)
        whole = np.zeros(len(sizes))
        whole[: len(singular)] = singular
        return whole, rows, sizes

    @cached_property
    def open(self) -> tuple[OpenDirection, ...]:
        """The directions that the data leave open."""
        singular, rows, _ = self._directions
        found = []
        for size, row in zip(singular, rows, strict=True):
            if size <= OPEN * singular.max(initial=0.0):
                shares = row * np.sign(row[np.argmax(np.abs(row))])
                found.append(
                    OpenDirection({n: float(s) for n, s in zip(self.names, shares, strict=True) if abs(s) > 0.1})
                )
        return tuple(found)

    @cached_property
    def _covariance(self) -> Array:
        """Of the coordinates of the search; not a number for parameters in open directions."""
        singular, rows, sizes = self._directions
        closed = singular > OPEN * singular.max(initial=0.0)
        scaled = rows[closed] / singular[closed, None]
        spread = 1.0 if self.problem.given_noise.keys() >= self.problem.noise.keys() else self.chi2 / max(self.dof, 1)
        found = spread * (scaled.T @ scaled) * np.outer(sizes, sizes)
        lost = np.any(np.abs(rows[~closed]) > TOUCHED, axis=0) if (~closed).any() else np.zeros(len(sizes), dtype=bool)
        found[lost, :] = np.nan
        found[:, lost] = np.nan
        return np.asarray(found)

    @property
    def sd(self) -> dict[str, float]:
        """The deviation of each value; not a number where the data leave it open."""
        spread = np.sqrt(np.diag(self._covariance))
        inner = [v if f.is_log else 1.0 for f, v in zip(self.problem.free, self.values.values(), strict=True)]
        return dict(zip(self.names, (spread * np.array(inner)).tolist(), strict=True))

    def interval(self, level: float = 0.95) -> dict[str, tuple[float, float]]:
        """Within which each value lies with this probability; not a number where the data leave it open."""
        from scipy.stats import t as student  # noqa: PLC0415

        if not 0.0 < level < 1.0:
            raise BAD_SETTING.error(f"the probability of an interval is {level}", fix="give one between 0 and 1")
        reach = float(student.ppf(0.5 + level / 2.0, max(self.dof, 1))) * np.sqrt(np.diag(self._covariance))
        pairs = zip(self.problem.free, self.x, reach, strict=True)
        return {f.label: (f.to_value(float(x - r)), f.to_value(float(x + r))) for f, x, r in pairs}

    @property
    def correlation(self) -> Array:
        """Of the fitted parameters, in their order."""
        spread = np.sqrt(np.diag(self._covariance))
        return np.asarray(self._covariance / np.outer(spread, spread))

    @cached_property
    def residuals(self) -> list[dict[str, Array]]:
        """Model less measurement, by record and column."""
        return self.problem.by_column(self.x)

    @property
    def weak(self) -> tuple[str, ...]:
        """Parameters whose deviation is more than half of their value."""
        return tuple(n for n, s in self.sd.items() if np.isfinite(s) and s > WEAK_SHARE * abs(self.values[n]))

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """What is doubtful about the fit."""
        found = list(self.first_findings)
        for one in self.open:
            shares = ", ".join(f"{name} {share:+.2f}" for name, share in one.shares.items())
            what = f"the data leave open how these change together: {shares}"
            found.append(
                rules.OPEN_DIRECTION.finding(what, fix="hold one of them, or measure more", members=tuple(one.shares))
            )
        for name in self.weak:
            what = f"'{name}' is known to {100 * self.sd[name] / abs(self.values[name]):.0f} % only"
            found.append(
                rules.WEAK.finding(what, fix="hold it, or excite the machine so that it matters", members=(name,))
            )
        for k, errors in enumerate(self.residuals):
            for name, off in errors.items():
                if (alike := _lag_one(off)) > ALIKE:
                    what = f"residuals of '{name}' in record {k + 1} have the correlation {alike:.2f} from row to row"
                    found.append(
                        rules.DOUBT.finding(what, fix="look at them, and for what the model misses", members=(name,))
                    )
        return tuple(found)

    @property
    def records(self) -> tuple[RecordFit, ...]:
        """How each record fits."""
        return tuple(_record_fit(one, errors) for one, errors in zip(self.problem.records, self.residuals, strict=True))

    def profile(self, name: str) -> Profile:
        """The sum of squares along one parameter, the others fitted again at each of its values.

        Raises: SimulationError (S426) for a name that was not free.
        """
        if name not in self.names:
            fix = did_you_mean(name, self.names) or f"free were {listing(self.names)}"
            raise rules.BAD_FREE.error(f"'{name}' was not free", fix=fix)
        k = self.names.index(name)
        spread = float(np.sqrt(self._covariance[k, k]))
        one = self.problem.free[k]
        low, high = _range(one)
        reach = 3.0 * spread if np.isfinite(spread) else 0.5 * (high - low)
        points = np.linspace(
            max(self.x[k] - reach, one.limits[0]), min(self.x[k] + reach, one.limits[1]), PROFILE_POINTS
        )
        costs = np.full(PROFILE_POINTS, np.nan)
        # Outwards from the best value, each fit beginning where the last one ended.
        middle = int(np.argmin(np.abs(points - self.x[k])))
        for order in (range(middle, PROFILE_POINTS), range(middle, -1, -1)):
            x = self.x.copy()
            for i in order:
                x[k] = points[i]
                try:
                    x = _refined(self.problem, x, self.loss, held=(k,))
                except TellegenError:
                    break
                costs[i] = float(np.sum(self.problem.residuals(x) ** 2))
        values = np.array([one.to_value(float(p)) for p in points])
        unit = "" if one.in_formulas else self.problem.records[0].runs.unit(one.name)
        low, high = (abs(points[end] - one.limits[end]) <= FLAT * abs(points[-1] - points[0]) for end in (0, -1))
        met = [low and costs[0] < np.nanmin(costs) + CHI2_95, high and costs[-1] < np.nanmin(costs) + CHI2_95]
        findings: tuple[Finding, ...] = ()
        if any(met):
            what = f"the profile of '{name}' meets its {'lower' if met[0] else 'upper'} bound before the data say no"
            fix = "give wider bounds, hold it, or excite the machine so that it matters"
            findings = (rules.WEAK.finding(what, fix=fix, members=(name,)),)
        return Profile(name, values, costs, unit, self.problem.model.name, findings)

    @cached_property
    def model(self) -> Model:
        """The model with the fitted values."""
        return fitted_model(self.problem, self.problem.values(self.x))

    def save(self, path: str | Path) -> Path:
        """Write the fitted model as a file.

        Raises: ExportError where it cannot be written.
        """
        text = to_yaml(self.model)
        return write_atomically(Path(path), lambda file: file.write_text(text, encoding="utf-8"))

    def check(self, data: Any) -> tuple[RecordFit, ...]:
        """How other data fit, with the values as they are."""
        values = {
            f.name: v
            for f, v in zip(self.problem.free, self.problem.values(self.x), strict=True)
            if f.only_record is None
        }
        free: dict[str, Bounds | None] = dict.fromkeys(values)
        other = FitProblem(
            self.model, records_of(data), free, self.problem.settings, measured=self.problem.measured, noise={}
        )
        x = np.array([f.to_search(values.get(f.name, f.start)) for f in other.free])
        return tuple(_record_fit(one, errors) for one, errors in zip(other.records, other.by_column(x), strict=True))

    def plot(self, profile: Profile | None = None, **look: Unpack[Look]) -> Plot:
        """Measurements and model over time, and the residuals below; beside them a profile."""
        stacks = []
        for one, errors in zip(self.problem.records, self.residuals, strict=True):
            for name, measured in one.measured.compared.items():
                there = np.isfinite(measured)
                t, unit = one.measured.t[there], one.unit(name)
                told = Line(name, t, measured[there] + errors[name], words="model")
                dots = Line(name, t, measured[there], words="measured", mark=".")
                off = Line(name, t, errors[name], words="residual", mark=".")
                stacks.append([Panel((dots, told), unit=unit), Panel((off,), unit=unit)])
        if profile is not None:
            stacks.append([profile.panel])
        return panels_plot(self.problem.model.name, stacks, **look)

    def to_json(self) -> dict[str, object]:
        """The fit in numbers, as `tellegen fit --json` prints it."""
        return {
            "values": self.values,
            "sd": {name: _or_none(value) for name, value in self.sd.items()},
            "interval": {name: [_or_none(low), _or_none(high)] for name, (low, high) in self.interval().items()},
            "correlation": [[_or_none(float(value)) for value in row] for row in self.correlation],
            "open": [one.shares for one in self.open],
            "weak": list(self.weak),
            "chi2": self.chi2,
            "dof": self.dof,
            "runs": self.problem.runs,
            "slopes": self.problem.slope_runs,
            "noise": self.noise,
            "records": [{"rms": one.rms, "fit_percent": one.fit_percent} for one in self.records],
        }

    def __str__(self) -> str:
        intervals, units = self.interval(), self.problem.records[0].runs
        rows: list[tuple[str, ...]] = []
        for f in self.problem.free:
            low, high = intervals[f.label]
            told = f"{low:.5g} to {high:.5g}" if np.isfinite(low) else "open"
            unit = "" if f.in_formulas else behind_number(units.unit(f.name))
            rows.append((f.label, f"{self.values[f.label]:.6g}", unit, told))
        lines = [self.problem.model.name, "", *table_lines([("", "value", "", "with 95 %"), *rows]), ""]
        lines.append(f"chi2 {self.chi2:.4g} with {self.dof} degrees of freedom, {self.problem.runs} runs with slopes")
        told_records: list[tuple[str, ...]] = [
            (one.name or f"record {k + 1}", name, f"rms {rms:.4g}", f"{one.fit_percent[name]:.1f} %")
            for k, one in enumerate(self.records)
            for name, rms in one.rms.items()
        ]
        lines += ["", *table_lines(told_records)]
        lines += [part for finding in self.findings for part in ("", str(finding))]
        return "\n".join(line.rstrip() for line in lines)

    def __repr__(self) -> str:
        return f"Fit of {', '.join(f'{n} = {v:.5g}' for n, v in self.values.items())}"

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


def _record_fit(one: RecordProblem, errors: Mapping[str, Array]) -> RecordFit:
    rms, percent = {}, {}
    for name, off in errors.items():
        measured = one.measured.compared[name]
        measured = measured[np.isfinite(measured)]
        rms[name] = float(np.sqrt(np.mean(off**2)))
        swing = float(np.linalg.norm(measured - measured.mean()))
        percent[name] = 100.0 * (1.0 - float(np.linalg.norm(off)) / swing) if swing > 0.0 else float("nan")
    return RecordFit(one.given.name, rms, percent)


def _lag_one(off: Array) -> float:
    off = off - off.mean()
    whole = float(off @ off)
    return float(off[1:] @ off[:-1]) / whole if whole > 0.0 and len(off) > 10 else 0.0


def _or_none(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
