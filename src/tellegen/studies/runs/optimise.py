"""`optimise`: values of what is free at which a number of a run is smallest, within bounds and constraints.

Sequential quadratic programming with exact slopes from several starts; where slopes lead nowhere, evolution (CMA-ES), whose
generations are batches. What is positive is sought as its logarithm; the search sees the unit cube.
"""

import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final, Literal, NamedTuple, final, get_args

import numpy as np
from numpy.typing import NDArray

from tellegen.core.errors import Finding, TellegenError
from tellegen.core.names import did_you_mean, listing
from tellegen.experiments.input_signals import InputSignal
from tellegen.experiments.quantities import Quantity
from tellegen.experiments.rules import BAD_CHOICE
from tellegen.model.model import Model, Start
from tellegen.notations.loading import AnyModel, as_model
from tellegen.studies.runs import rules
from tellegen.studies.runs.fit_problem import Bounds
from tellegen.studies.runs.keep import names_in
from tellegen.studies.runs.model_runs import ModelRuns
from tellegen.studies.runs.optimum import Goal, GoalLimit, Optimum, OptimumConstraint, goal_side, read_goal, read_limit
from tellegen.studies.runs.response import Response
from tellegen.studies.runs.sweep import checked_settings, readings_of, usable_cores
from tellegen.studies.runs.table import shares_drawn
from tellegen.studies.runs.variation import Variation, drawn_values, is_distribution

Array = NDArray[np.float64]
Method = Literal["auto", "slopes", "evolution"]

RTOL: Final = 1e-8
"""Of runs: their rounding must be small beside what a search still moves."""
KEPT: Final = 1e-6
"""A constraint counts as kept where it is broken by no more than this share of its size."""
ACTIVE: Final = 1e-4
"""What is so near to its limit, as a share of its size, holds the optimum there."""
BALANCED: Final = 1e-3
"""Where slopes and constraints balance to this share, the point is an optimum."""
ENDED: Final = 1e-10
MOST_STEPS: Final = 100
LOST: Final = 1e3
"""The goal where a run fails, in sizes of the goal: no search goes there."""
FIRST_STEP: Final = 0.25
GENERATIONS: Final = 300
ROUGH: Final = 0.3
ZOOM_POINTS: Final = 33
ZOOMED: Final = 1e-6


def optimise(
    model: AnyModel,
    free: Mapping[str, Bounds],
    minimise: str,
    *,
    subject_to: Sequence[str] = (),
    starts: int = 8,
    method: Method = "auto",
    over: Mapping[str, Variation] | None = None,
    quantile: float | None = None,
    draws: int = 32,
    until: Quantity | None = None,
    inputs: Mapping[str, InputSignal] | None = None,
    initial: Mapping[str, Quantity] | None = None,
    parameters: Mapping[str, Quantity] | None = None,
    solver: str = "auto",
    rtol: Quantity | None = None,
    max_step: Quantity | None = None,
    start: Start | None = None,
    seed: int = 0,
    threads: int | None = None,
) -> Optimum:
    """Values between bounds at which a number of a run is smallest, while constraints are kept.

    `free` gives the bounds of parameters, constant inputs or initial values. `minimise` is what `sweep` can keep, such as
    `max(I_a)`, or a formula of such and of free names. `subject_to` are constraints such as `"at(omega_m, 0.3 s) >= 70 rad/s"`.
    With `over`, some names follow distributions: the mean over fixed draws is minimised, or a quantile of them, and the
    constraints hold in all draws.

    `method="slopes"` goes by exact slopes from several starts, `"evolution"` by generations of runs (CMA-ES), `"auto"` by slopes
    and, where these lead nowhere, by evolution.

    >>> import tellegen as tg
    >>> found = tg.optimise("dc_motor_pump", {"K_m": (0.05, 0.5)}, "-omega_m", subject_to=["max(I_a) <= 30 A"], starts=2)
    >>> round(found.values["K_m"], 4), found.constraints[0].active
    (0.2684, True)

    Raises: SimulationError for names, bounds (S426), goals and constraints (S416) that make no sense, before any run; (S417)
        where nothing keeps all constraints.
    """
    if method not in get_args(Method):
        fix = did_you_mean(method, get_args(Method)) or f"choose one of {listing(get_args(Method))}"
        raise BAD_CHOICE.error(f"'{method}' is not a choice of method", fix=fix)
    if isinstance(starts, bool) or starts != int(starts) or starts < 1:
        raise rules.BAD_FREE.error(f"{starts} starts are asked for", fix="give a positive whole number")
    settings = checked_settings(
        until,
        inputs,
        initial,
        parameters,
        solver=solver,
        rtol=RTOL if rtol is None else rtol,
        atol=None,
        max_step=max_step,
        start=start,
    )
    described, drawn = as_model(model), dict(over or {})
    for name in drawn.keys() & free.keys():
        raise rules.BAD_FREE.error(f"'{name}' is free and follows a distribution", where=name, fix="choose one of both")
    _check_draws(drawn, quantile, draws)
    axes = _axes(described, free, settings)
    readings = readings_of(described, tuple(drawn), settings)
    shares = shares_drawn(len(drawn), draws, "sobol", seed) if drawn else np.zeros((1, 0))
    columns = [drawn_values(name, v, shares[:, k], readings[name]) for k, (name, v) in enumerate(drawn.items())]
    names = (*(axis.name for axis in axes), *drawn)
    (minimise,) = names_in((minimise,))
    goal = read_goal(minimise, described, names)
    sides = [read_goal(goal_side(text, described, names), described, names) for text in subject_to]
    kept = tuple(dict.fromkeys(text for one in (goal, *sides) for text in one.kept.values()))
    if not kept:
        what = f"nothing that a run gives is in '{minimise}' or in a constraint"
        raise rules.BAD_GOAL.error(what, fix="name a variable, as max(I_a)")
    response = Response(described, names, kept, settings, usable_cores(threads))
    ready = response.ready_at(np.array([*(axis.value(0.5) for axis in axes), *(column[0] for column in columns)]))
    units = {one.text: one.unit for one in ready.kept} | {name: ready.unit(name) for name in names}
    limits = [read_limit(text, described, names, units) for text in subject_to]
    cases = np.column_stack(columns) if columns else np.zeros((1, 0))
    search = Search(axes, goal, limits, response, cases, quantile)
    return _optimum(search, ready, units, method, _starts(search, starts, seed), seed)


def _check_draws(drawn: Mapping[str, Variation], quantile: float | None, draws: int) -> None:
    for name, variation in drawn.items():
        if not is_distribution(variation):
            raise rules.NO_DRAWS.error(
                f"'{name}' follows no distribution", where=name, fix="give one, such as uniform(1, 2)"
            )
    if isinstance(draws, bool) or draws != int(draws) or draws < 1:
        raise rules.NO_DRAWS.error(f"{draws} draws are asked for", fix="give a positive whole number")
    if quantile is not None and not drawn:
        raise rules.NO_DRAWS.error(
            "a quantile is asked for, and nothing follows a distribution", fix="give over={'R': ...}"
        )
    if quantile is not None and not 0.0 <= quantile <= 1.0:
        raise rules.NO_DRAWS.error(f"the quantile {quantile:g} is asked for", fix="give a share between 0 and 1")


# -- What is free ----------------------------------------------------------------------------------------------------------------


@final
@dataclass(frozen=True)
class FreeAxis:
    """A free name between its bounds, as a share of the way from one to the other: of its logarithm where both are positive."""

    name: str
    low: float
    high: float

    @property
    def is_log(self) -> bool:
        """Whether even steps are even ratios."""
        return self.low > 0.0

    def value(self, share: float) -> float:
        """The value at a share of the way; the bounds themselves are met exactly."""
        if share <= 0.0 or share >= 1.0:
            return self.low if share <= 0.0 else self.high
        if self.is_log:
            return float(self.low * (self.high / self.low) ** share)
        return self.low + share * (self.high - self.low)

    def slope(self, share: float) -> float:
        """How the value changes along the way."""
        return self.value(share) * float(np.log(self.high / self.low)) if self.is_log else self.high - self.low

    def share(self, value: float) -> float:
        """Where a value lies on the way."""
        if self.is_log:
            return float(np.log(value / self.low) / np.log(self.high / self.low))
        return (value - self.low) / (self.high - self.low)


def _axes(model: Model, free: Mapping[str, Bounds], settings: Any) -> list[FreeAxis]:
    """What is free, between its bounds.

    Raises: SimulationError (S302) for unknown names, (S426) for bounds that are none.
    """
    if not free:
        raise rules.BAD_FREE.error("nothing is free", fix="name what to choose with its bounds, as C=1e-6:1e-3")
    readings, found = readings_of(model, tuple(free), settings), []
    for name, bounds in free.items():
        try:
            low, high = bounds
        except (TypeError, ValueError):
            what = f"the bounds of '{name}' are {bounds!r}"
            raise rules.BAD_FREE.error(what, where=name, fix=f"give two, as {name}=0.1:10") from None
        ends = [readings[name](end, f"a bound of {name}") for end in (low, high)]
        if not ends[0] < ends[1]:
            what = f"the bounds of '{name}' are {ends[0]:g} and {ends[1]:g}"
            raise rules.BAD_FREE.error(what, where=name, fix="give the smaller one first")
        formula = model.parameters[name].expression if name in model.parameters else None
        if formula is not None and formula.free_symbols:
            what = f"'{name}' follows from {listing(sorted(formula.free_symbols))}"
            raise rules.BAD_FREE.error(what, where=name, fix="let these be free")
        found.append(FreeAxis(name, *ends))
    return found


# -- The search ------------------------------------------------------------------------------------------------------------------


class Point(NamedTuple):
    """A point of the search with its goal, and how far each constraint is from its limit, in sizes: negative where it is broken.

    Those that are `equal` to their limit have margins of either sign.
    """

    share: Array
    goal: float
    signed: Array
    equal: NDArray[np.bool_]

    @property
    def margins(self) -> Array:
        """How far each constraint is kept; negative where it is broken."""
        return np.where(self.equal, -np.abs(self.signed), self.signed)

    @property
    def broken(self) -> float:
        """By how much the constraint that is broken most is broken."""
        return float(np.max(-self.margins, initial=0.0)) if np.isfinite(self.goal) else float("inf")

    @property
    def order(self) -> tuple[float, float]:
        """What keeps all constraints comes first, then what has the smaller goal."""
        return (0.0 if self.broken <= KEPT else self.broken, self.goal)


@final
class Search:
    """Goal and constraints as functions of points in the unit cube; the last is kept, as its parts are asked for in turn."""

    def __init__(
        self,
        axes: Sequence[FreeAxis],
        goal: Goal,
        limits: Sequence[GoalLimit],
        response: Response,
        cases: Array,
        quantile: float | None,
    ) -> None:
        self.axes, self.goal, self.limits, self.response = list(axes), goal, list(limits), response
        self.cases, self.quantile = cases, quantile
        self.size = 1.0
        """What counts as much of the goal."""
        self.sizes = np.array([abs(limit.limit) or 1.0 for limit in limits])
        self.equal = np.repeat([limit.relation == "=" for limit in self.limits], len(cases)).astype(bool)
        self._last: dict[bytes, tuple[Point, Array, Array]] = {}
        self._known: dict[bytes, Point] = {}

    def values(self, share: Array) -> Array:
        """The values of what is free."""
        return np.array([axis.value(float(z)) for axis, z in zip(self.axes, share, strict=True)])

    def points(self, shares: Array) -> list[Point]:
        """Many points by one batch."""
        rows = np.concatenate([self._rows(share) for share in shares])
        told = self._told(rows, self.response(rows))
        goals, sides = self.goal.values(told), [limit.goal.values(told) for limit in self.limits]
        width, found = len(self.cases), []
        for k, share in enumerate(shares):
            part = slice(k * width, (k + 1) * width)
            margins = [self._margins(i, side[part]) for i, side in enumerate(sides)]
            goal = self._measure(goals[part])[0]
            found.append(Point(share, goal, np.concatenate([*margins, np.zeros(0)]), self.equal))
        return found

    def at(self, share: Array) -> Point:
        """One point, without slopes."""
        key = share.tobytes()
        if key not in self._known:
            self._known = {key: self.points(share[None, :])[0]}
        return self._known[key]

    def with_slopes(self, share: Array) -> tuple[Point, Array, Array]:
        """A point with the slopes of goal and margins along the unit cube.

        Raises: SimulationError where a run fails there or has no slopes.
        """
        key = share.tobytes()
        if key not in self._last:
            self._last = {key: self._with_slopes(share)}
        return self._last[key]

    def _with_slopes(self, share: Array) -> tuple[Point, Array, Array]:
        rows = self._rows(share)
        values, by = self.response.slopes(rows)
        told, count = self._told(rows, values), len(self.axes)
        along = np.array([axis.slope(float(z)) for axis, z in zip(self.axes, share, strict=True)])
        slopes = {text: by[:, k, :count] * along for k, text in enumerate(self.response.of)}
        for k, axis in enumerate(self.axes):
            slopes[axis.name] = np.zeros((len(rows), count))
            slopes[axis.name][:, k] = along[k]
        slopes |= {name: np.zeros((len(rows), count)) for name in self.response.by[count:]}
        goal, weights = self._measure(self.goal.values(told))
        margins, matrices = [np.zeros(0)], [np.zeros((0, count))]
        for i, limit in enumerate(self.limits):
            margins.append(self._margins(i, limit.goal.values(told)))
            matrices.append(limit.sign * limit.goal.slopes(told, slopes) / self.sizes[i])
        point = Point(share, goal, np.concatenate(margins), self.equal)
        return point, weights @ self.goal.slopes(told, slopes) / self.size, np.concatenate(matrices)

    def _rows(self, share: Array) -> Array:
        given = np.tile(self.values(share), (len(self.cases), 1))
        return np.hstack([given, self.cases])

    def _told(self, rows: Array, out: Array) -> dict[str, Array]:
        columns = {name: rows[:, k] for k, name in enumerate(self.response.by)}
        return {**columns, **{text: out[:, k] for k, text in enumerate(self.response.of)}}

    def _margins(self, i: int, values: Array) -> Array:
        limit = self.limits[i]
        return np.asarray(limit.sign * (values - limit.limit) / self.sizes[i])

    def _measure(self, values: Array) -> tuple[float, Array]:
        """Mean or quantile of the goal over the draws, and the weight of each draw in it."""
        count = len(values)
        if not np.isfinite(values).all():
            return float("inf"), np.zeros(count)
        if self.quantile is None:
            return float(np.mean(values)), np.full(count, 1.0 / count)
        order, place = np.argsort(values, kind="stable"), self.quantile * (count - 1)
        below, weights = int(np.floor(place)), np.zeros(count)
        weights[order[below]] = 1.0 - (place - below)
        weights[order[min(below + 1, count - 1)]] += place - below
        return float(weights @ values), weights


def _starts(search: Search, count: int, seed: int) -> Array:
    """The values of the model where they lie between the bounds, and points of Sobol's sequence."""
    base = search.response.base[: len(search.axes)].tolist()
    pairs = zip(search.axes, base, strict=True)
    own = np.array([[axis.share(v) if axis.low <= v <= axis.high else -1.0 for axis, v in pairs]])
    spread = shares_drawn(len(search.axes), count, "sobol", seed)
    inside = bool(((own >= 0.0) & (own <= 1.0)).all())
    return np.vstack([own, spread])[:count] if inside else spread


def _optimum(
    search: Search, ready: ModelRuns, units: Mapping[str, str], method: Method, shares: Array, seed: int
) -> Optimum:
    first = search.points(shares)
    good = sorted((point for point in first if np.isfinite(point.goal)), key=lambda point: point.order)
    if not good:
        raise search.response.failure(search._rows(shares[0])[0])
    goals = np.array([point.goal for point in good])
    search.size = float(np.ptp(goals)) or abs(float(goals[0])) or 1.0
    best, found, by, reason = good[0], list[tuple[Point, float]](), "slopes", "exact slopes from several starts"
    if method != "evolution":
        rough = _why_rough(search, ready, good[0].share) if method == "auto" else ""
        if rough:
            by, reason = "evolution", rough
        else:
            found = [done for point in good if (done := _by_slopes(search, point)) is not None]
            balanced = [(point, off) for point, off in found if off <= BALANCED and point.broken <= KEPT]
            best = min([*(point for point, _ in balanced or found), best], key=lambda point: point.order)
            if method == "auto" and not balanced:
                by, reason = "evolution", "no search by slopes ended where slopes and constraints balance"
    else:
        by, reason = "evolution", "asked for"
    findings: list[Finding] = []
    ended_well = True
    if by == "evolution":
        best, ended_well = _by_evolution(search, [best, *good], seed)
    if best.broken > KEPT:
        worst = int(np.argmin(best.margins)) // len(search.cases)
        where = ", ".join(f"{a.name} = {a.value(float(z)):.4g}" for a, z in zip(search.axes, best.share, strict=True))
        what = f"nothing keeps '{search.limits[worst].text}': the nearest is {where}, off by {100 * best.broken:.3g} %"
        raise rules.NO_POINT.error(
            what, where=search.limits[worst].text, fix="widen the bounds, or ease the constraint"
        )
    weights, off = _balance(search, best)
    if by == "slopes" and off > BALANCED:
        what = f"slopes and constraints balance to {100 * off:.2g} % only"
        findings.append(
            rules.NOT_ENDED.finding(what, where=ready.model.name, fix="try method='evolution', or more starts")
        )
    if not ended_well:
        what = f"{GENERATIONS} generations have not settled"
        findings.append(rules.NOT_ENDED.finding(what, where=ready.model.name, fix="give narrower bounds, or free less"))
    ended = sorted(point.goal for point, _ in found if point.broken <= KEPT)
    return _told(search, ready, units, best, weights, _How(by, reason, tuple(ended), tuple(findings)))


class _How(NamedTuple):
    method: str
    reason: str
    ended: tuple[float, ...]
    findings: tuple[Finding, ...]


def _told(
    search: Search, ready: ModelRuns, units: Mapping[str, str], best: Point, weights: Array, how: _How
) -> Optimum:
    values, width = search.values(best.share), len(search.cases)
    rows = search._rows(best.share)
    told = search._told(rows, search.response(rows))
    constraints = []
    for i, limit in enumerate(search.limits):
        mine = slice(i * width, (i + 1) * width)
        along = limit.goal.values(told)
        worst = int(np.argmin(best.margins[mine]))
        constraints.append(
            OptimumConstraint(
                text=limit.text,
                value=float(along[worst]),
                limit=limit.limit,
                unit=units.get(limit.goal.alone or str(limit.goal.formula), ""),
                multiplier=float(np.sum(weights[mine]) * search.size / search.sizes[i]),
                active=bool(abs(best.margins[mine]).min() <= ACTIVE),
            )
        )
    at_bounds = {
        axis.name: "low" if z < 0.5 else "high"
        for axis, z in zip(search.axes, best.share, strict=True)
        if min(z, 1.0 - z) <= ACTIVE
    }
    names = tuple(axis.name for axis in search.axes)
    return Optimum(
        runs=ready,
        values=dict(zip(names, values.tolist(), strict=True)),
        bounds={axis.name: (axis.low, axis.high) for axis in search.axes},
        goal=search.goal.text,
        objective=best.goal,
        unit=units.get(search.goal.alone or str(search.goal.formula), ""),
        constraints=tuple(constraints),
        at_bounds=at_bounds,
        method=how.method,
        reason=how.reason,
        run_count=search.response.runs,
        slope_count=search.response.slope_runs,
        ended=how.ended,
        findings=how.findings,
        draws=len(search.cases) if search.cases.shape[1] else 0,
    )


# -- By slopes -------------------------------------------------------------------------------------------------------------------


def _why_rough(search: Search, ready: ModelRuns, share: Array) -> str:
    """Why slopes lead nowhere: they differ from what a change of one percent does, in models with samples or events."""
    numeric, graph = ready.ready.numeric, ready.ready.graph
    if not (numeric.sample_groups or numeric.events or graph.switching):
        return ""
    inside = np.clip(share, 0.01, 0.99)
    try:
        slopes = search.with_slopes(inside)[1]
    except TellegenError as reason:
        return f"the model has no slopes there: {reason.what}"
    steps = 0.01 * np.eye(len(share))
    sides = search.points(np.concatenate([inside + steps, inside - steps]))
    goals = np.array([point.goal for point in sides]) / search.size
    told = (goals[: len(share)] - goals[len(share) :]) / 0.02
    rough = np.linalg.norm(slopes - told) > ROUGH * np.linalg.norm(told)
    return "exact slopes differ from what a change of one percent does" if rough else ""


def _by_slopes(search: Search, start: Point) -> tuple[Point, float] | None:
    """The end of one search, and how far slopes and constraints are from balance; None where it has no slopes."""
    from scipy import optimize  # noqa: PLC0415  SciPy is loaded by who searches

    minimize: Any = optimize.minimize
    seen: list[Point] = [start]

    def goal(share: Array) -> float:
        point = search.at(np.clip(share, 0.0, 1.0))
        seen.append(point)
        return point.goal / search.size if np.isfinite(point.goal) else LOST

    def margins(wanted: NDArray[np.bool_]) -> Callable[[Array], Array]:
        return lambda share: np.nan_to_num(search.at(np.clip(share, 0.0, 1.0)).signed[wanted], nan=-LOST)

    def matrix(wanted: NDArray[np.bool_]) -> Callable[[Array], Array]:
        return lambda share: search.with_slopes(np.clip(share, 0.0, 1.0))[2][wanted]

    constraints = [
        {"type": word, "fun": margins(wanted), "jac": matrix(wanted)}
        for word, wanted in (("eq", search.equal), ("ineq", ~search.equal))
        if wanted.any()
    ]
    # A run that fails on the way: what came before it counts.
    with suppress(TellegenError):
        minimize(
            goal,
            np.clip(start.share, 0.0, 1.0),
            jac=lambda share: search.with_slopes(np.clip(share, 0.0, 1.0))[1],
            bounds=[(0.0, 1.0)] * len(search.axes),
            constraints=constraints,
            method="SLSQP",
            options={"ftol": ENDED, "maxiter": MOST_STEPS},
        )
    best = min(seen, key=lambda point: point.order)
    try:
        return best, _balance(search, best)[1]
    except TellegenError:
        return None


def _balance(search: Search, point: Point) -> tuple[Array, float]:
    """The multipliers of all constraints in the units of the search, and the share of the slope that nothing balances."""
    from scipy.optimize import nnls  # noqa: PLC0415

    try:
        _, slopes, matrix = search.with_slopes(point.share)
    except TellegenError:
        return np.full(len(point.signed), np.nan), float("inf")
    active = np.flatnonzero(point.margins <= ACTIVE)
    equal = np.array([k for k in active if search.equal[k]], dtype=int)
    low, high = np.flatnonzero(point.share <= ACTIVE), np.flatnonzero(point.share >= 1.0 - ACTIVE)
    unit = np.eye(len(slopes))
    columns = np.vstack([matrix[active], -matrix[equal], unit[low], -unit[high]])
    size = float(np.linalg.norm(slopes))
    weights = np.zeros(len(point.margins))
    if not len(columns) or size == 0.0:
        return weights, min(size, 1.0)
    found, off = nnls(columns.T, slopes)
    weights[active] = found[: len(active)]
    weights[equal] -= found[len(active) : len(active) + len(equal)]
    # An equation is passed over from above as a limit from below: its sign is that of easing it upwards.
    weights[search.equal] *= -1.0
    return weights, float(off) / max(size, 1.0)


# -- By evolution ----------------------------------------------------------------------------------------------------------------


def _by_evolution(search: Search, starts: Sequence[Point], seed: int) -> tuple[Point, bool]:
    """The best point of generations of runs from the best start, and whether these settled.

    Constraints count by an augmented Lagrangian.

    Raises: SimulationError (S414) where the package is missing.
    """
    if len(search.axes) == 1:
        return _by_zooming(search, min(starts, key=lambda point: point.order)), True
    try:
        with warnings.catch_warnings():
            # It misses packages for plots of its own.
            warnings.simplefilter("ignore")
            cma: Any = import_module("cma")
    except ImportError:
        fix = "pip install 'tellegen[studies]'"
        raise rules.NO_PACKAGE.error(
            "a search by evolution needs the package cma, which is not installed", fix=fix
        ) from None
    best = min(starts, key=lambda point: point.order)
    size = max(4 + int(3 * np.log(len(search.axes))), 2 * search.response.threads, 8)
    random = np.random.default_rng(seed)
    options = {
        "bounds": [0.0, 1.0],
        "seed": np.nan,  # it would seed the random numbers of everybody
        "randn": lambda *shape: random.standard_normal(shape),
        "popsize": size,
        "maxiter": GENERATIONS,
        "tolx": 1e-6,
        "tolfun": 1e-8,  # in sizes of the goal: runs round there
        "tolfunhist": 1e-9,
        "verbose": -9,
        "verb_log": 0,
    }
    evolution = cma.CMAEvolutionStrategy(np.clip(best.share, 0.02, 0.98), FIRST_STEP, options)
    known: dict[bytes, Point] = {}

    def goal(share: Array) -> float:
        value = known[np.asarray(share).tobytes()].goal / search.size
        return value if np.isfinite(value) else LOST

    def margins(share: Array) -> list[float]:
        # What is equal is kept within a band.
        off = -known[np.asarray(share).tobytes()].margins
        off = np.where(search.equal, off - KEPT / 2.0, off)
        return [float(value) if np.isfinite(value) else 1.0 for value in off]

    # The way that the package itself names to keep it from writing files.
    cma.constraints_handler._Logger = cma.logger.LoggerDummy
    judged: Any = cma.ConstrainedFitnessAL(goal, margins, archives=()) if len(search.limits) else goal
    while not evolution.stop():
        asked = evolution.ask()
        found = search.points(np.array(asked))
        known = {np.asarray(share).tobytes(): point for share, point in zip(asked, found, strict=True)}
        best = min([best, *found], key=lambda point: point.order)
        evolution.tell(asked, [judged(share) for share in asked])
        if len(search.limits):
            judged.update(evolution)
    return best, "maxiter" not in evolution.stop()


def _by_zooming(search: Search, best: Point) -> Point:
    """The best point along a single line: even points by one batch, then closer and closer around the best of them."""
    low, high = 0.0, 1.0
    while high - low > ZOOMED:
        line = np.linspace(low, high, ZOOM_POINTS)
        best = min([best, *search.points(line[:, None])], key=lambda point: point.order)
        step = line[1] - line[0]
        low, high = max(float(best.share[0]) - step, 0.0), min(float(best.share[0]) + step, 1.0)
    return best
