"""Advancing by Taylor series of high order with the package heyoka, which compiles them for the model at hand."""

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, final

import numpy as np

from tellegen.compiler.context import Array, ModelContext
from tellegen.compiler.numeric_model import NumericModel
from tellegen.compiler.statements import Let, Newton, Read, Routine, Solve, Statement
from tellegen.core.packages import load_package
from tellegen.expressions import Add, Call, Expression, Mul, Number, Pow, Relation, Symbol, postorder
from tellegen.simulation import rules
from tellegen.simulation.solvers import jobs
from tellegen.simulation.solvers.stretch import POLL_S, RunRows, SolverSettings, StatePoint, StretchEnd, Watch
from tellegen.simulation.trajectory import Effort

Given = Mapping[str, float]
"""The values of variables that stay constant during a run."""

SMOOTH: Final = ("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "log", "sqrt", "atan2")
"""Functions that heyoka has under the same name."""


def check_smooth(model: NumericModel) -> None:
    """Whether Taylor series can advance a model, and heyoka is there.

    Raises: SimulationError (S115) saying what the model has that cannot be expanded; ExportError (X001) without heyoka.
    """
    # Obstacles before formulas: a model without formulas has none to look at.
    why = next((reason for holds, reason in _obstacles(model) if holds), None) or _bend(rates_of(model))
    why = why or ("the model has events" if model.events else "")
    if why:
        raise rules.UNSUITED.error(
            f"'heyoka' cannot be used: {why}", where=model.name, fix="leave the choice to 'auto'"
        )
    heyoka()


def heyoka() -> Any:
    """The package.

    Raises: ExportError (X001) with the command that installs it.
    """
    return load_package("heyoka", purpose="the solver 'heyoka'", extra="heyoka")


def rates_of(model: NumericModel) -> Routine:
    """The formulas of the rates of a model that has them."""
    assert model.data is not None, "a model without formulas was refused"
    assert model.data.rates is not None, "a model without formulas was refused"
    return model.data.rates


def _obstacles(model: NumericModel) -> Iterator[tuple[bool, str]]:
    yield model.size == 0, "the model has no states"
    yield bool(model.delays), "the model has delayed signals"
    yield bool(model.sample_groups), "the model has sampled signals"
    yield model.data is None or model.data.rates is None, "the model is large or written in C, and has no formulas"


def _bend(rates: Routine) -> str:
    """What in the formulas has no Taylor series, in words; empty where nothing is."""
    # What follows from parameters and inputs alone stays constant, and may be any function of them.
    fixed = {f"%{k}" for k, (word, _) in rates.leaves.items() if word in ("p", "u")}
    time = _time(rates)
    for statement in rates.statements:
        if isinstance(statement, Let) and statement.value.free_symbols <= fixed:
            fixed.add(f"%{statement.target}")
        elif why := _cannot_be_expanded(statement, fixed):
            return why
    for value in _values(rates):
        for node in postorder(value):
            # Comparisons with time alone are known beforehand: the run is divided there, and each part is smooth.
            if isinstance(node, Relation) and not (node.free_symbols <= fixed or _switches(node, time, fixed)):
                return "a condition compares more than time with a constant"
            if isinstance(node, Call) and node.name not in (*SMOOTH, "hypot", "if") and not node.free_symbols <= fixed:
                return f"'{node.name}' has no Taylor series everywhere"
    return ""


def _cannot_be_expanded(statement: Statement, fixed: set[str]) -> str:
    match statement:
        case Read():
            return "its rates read a table or a function"
        case Newton():
            return "its rates hold equations that are solved by iteration"
        case Solve() if not all(entry.free_symbols <= fixed for row in statement.matrix for entry in row):
            return "its rates are coupled by coefficients that change"
        case _:
            return ""


def _values(rates: Routine) -> Iterator[Expression]:
    for statement in rates.statements:
        match statement:
            case Let():
                yield statement.value
            case Solve():
                yield from statement.right
    yield from rates.results


def _time(rates: Routine) -> str:
    return next(f"%{k}" for k, (word, _) in rates.leaves.items() if word == "t")


def _switches(node: Relation, time: str, fixed: set[str]) -> bool:
    """Whether a comparison is one of time itself with a constant."""
    sides = (node.left, node.right)
    return any(isinstance(a, Symbol) and a.name == time and b.free_symbols <= fixed for a, b in (sides, sides[::-1]))


def constants(rates: Routine, context: ModelContext) -> dict[str, float]:
    """The values of parameters, inputs, and all that follows from them alone."""
    arrays = {"p": context.parameters, "u": context.inputs}
    known = {f"%{k}": float(arrays[word][i]) for k, (word, i) in rates.leaves.items() if word in arrays}
    for statement in rates.statements:
        if isinstance(statement, Let) and statement.value.free_symbols <= known.keys():
            known[f"%{statement.target}"] = _number(statement.value, known)
    return known


def switching_times(rates: Routine, known: Given) -> set[float]:
    """The times at which conditions of the formulas change."""
    time = _time(rates)
    found = set()
    for value in _values(rates):
        for node in postorder(value):
            if isinstance(node, Relation) and time in node.free_symbols:
                other = node.right if isinstance(node.left, Symbol) and node.left.name == time else node.left
                found.add(_number(other, known))
    return found


def taylor_system(rates: Routine, known: Given, inside: float) -> list[tuple[Any, Any]]:
    """Variables and rates for heyoka, with the branches that hold at a time inside a stretch without switching."""
    package = heyoka()
    states = {i: k for k, (word, i) in rates.leaves.items() if word == "y"}
    variables = [package.expression(f"y_{i}") for i in range(len(states))]
    values: dict[str, Any] = {f"%{states[i]}": variable for i, variable in enumerate(variables)}
    values[_time(rates)] = package.time

    def converted(expression: Expression) -> Any:
        return _converted(expression, values, {**known, _time(rates): inside}, known)

    for statement in rates.statements:
        match statement:
            case Let():
                values[f"%{statement.target}"] = converted(statement.value)
            case Solve():
                found = _solved(statement, known, [converted(e) for e in statement.right])
                values.update(zip((f"%{k}" for k in statement.targets), found, strict=True))
    return list(zip(variables, map(converted, rates.results), strict=True))


def _solved(statement: Solve, known: Given, right: list[Any]) -> list[Any]:
    """The solution of equations with constant coefficients, as sums of their right-hand sides."""
    matrix = np.array([[_number(entry, known) for entry in row] for row in statement.matrix])
    # The matrix is constant, so its inverse is taken once; heyoka has no linear solver.
    inverse = np.linalg.inv(matrix).tolist()
    return [heyoka().sum([weight * e for weight, e in zip(row, right, strict=True)]) for row in inverse]


def _converted(root: Expression, values: Mapping[str, Any], at: Given, known: Given) -> Any:
    """An expression of heyoka; what is constant becomes a number."""
    package = heyoka()
    made: dict[Expression, Any] = {}
    stack = [root]
    while stack:
        node = stack[-1]
        if node in made:
            stack.pop()
            continue
        # Numbers instead of names: heyoka compiles less, and needs no parameters.
        if node.free_symbols <= known.keys():
            made[node] = package.expression(_number(node, known))
            continue
        # Of a choice only the branch that holds in this stretch: the other may have no value here.
        inner = _taken(node, at)
        missing = [arg for arg in inner if arg not in made]
        if missing:
            stack.extend(missing)
            continue
        made[node] = _joined(package, node, [made[arg] for arg in inner], values)
    return made[root]


def _taken(node: Expression, at: Given) -> tuple[Expression, ...]:
    """What a node is made of: of a choice, the branch that holds."""
    if isinstance(node, Call) and node.name == "if":
        condition, yes, no = node.arguments
        return (yes if _number(condition, at) else no,)
    match node:
        case Add():
            return tuple(term for term, _ in node.terms)
        case Mul():
            return tuple(factor for factor, _ in node.factors)
        case _:
            return node.args


def _joined(package: Any, node: Expression, inner: list[Any], values: Mapping[str, Any]) -> Any:
    match node:
        case Symbol():
            return values[node.name]
        case Add():
            terms = [float(weight) * e for e, (_, weight) in zip(inner, node.terms, strict=True)]
            return package.sum([*terms, package.expression(float(node.constant))])
        case Mul():
            powers = [_power(e, float(exponent)) for e, (_, exponent) in zip(inner, node.factors, strict=True)]
            return package.prod([package.expression(float(node.coefficient)), *powers])
        case Pow():
            base, exponent = inner
            if isinstance(node.exponent, Number):
                return _power(base, float(node.exponent.rational))
            return package.exp(exponent * package.log(base))
        case Call(name="if"):
            return inner[0]
        case Call(name="hypot"):
            return package.sqrt(inner[0] * inner[0] + inner[1] * inner[1])
        case Call():
            function: Callable[..., Any] = getattr(package, node.name)
            return function(*inner)
        case _:
            raise AssertionError(f"{node!r} is a number, or was refused")


def _power(base: Any, exponent: float) -> Any:
    return base if exponent == 1.0 else base**exponent


def _number(expression: Expression, known: Given) -> float:
    """The value of a constant; where it has none the run ends there, as with every solver."""
    try:
        return float(expression.evaluate(known))
    except (ArithmeticError, ValueError):
        return float("nan")


TOLERANCE: Final = float(np.finfo(float).eps)
"""Rounding, whatever is asked: steps follow from the largest variable only, and small ones beside it keep their digits too."""

LARGEST_WRITTEN_OUT: Final = 12
"""Models with more states are compiled as loops: written out, that would take seconds."""

_QUADRATURE: Final = 10
_CLOSE: Final = 4.0 * TOLERANCE


def taylor_stretch(
    model: NumericModel,
    context: ModelContext,
    settings: SolverSettings,
    rows: RunRows,
    standing: StatePoint,
    *,
    until: float,
    watch: Watch,
) -> StretchEnd:
    """Advance to `until`, from one break to the next; rows are written on the way."""
    made = _Advance(model, context, settings, rows, watch)
    made.here = standing
    status = jobs.CANCELLED
    # What was reached is a result too: rows up to here are kept.
    with contextlib.suppress(KeyboardInterrupt):
        status = made.to(until)
    return made.ended(status)


@final
class _Advance:
    """A run on its way: `here` is where it stands."""

    here: StatePoint

    def __init__(
        self, model: NumericModel, context: ModelContext, settings: SolverSettings, rows: RunRows, watch: Watch
    ) -> None:
        self.model, self.context, self.settings, self.rows, self.watch = model, context, settings, rows, watch
        self.rates = rates_of(model)
        self.known = constants(self.rates, context)
        self.steps = self.calls = 0
        self.energies = np.zeros(4)
        self.keep_books = settings.keep_books and "balance" in model.addresses
        self.points, self.weights = np.polynomial.legendre.leggauss(_QUADRATURE)
        self.looked = time.perf_counter()

    def to(self, until: float) -> int:
        """Advance to the end; the status of the last stretch."""
        start = self.here.t
        known = switching_times(self.rates, self.known) | set(self.model.stop_times(until, start).tolist())
        for halt in (*sorted(t for t in known if start < t < until), until):
            status = self._smoothly(halt, last=halt == until)
            if status != jobs.FINISHED:
                return status
        return jobs.FINISHED

    def _smoothly(self, halt: float, *, last: bool) -> int:
        """Advance to a break: up to there one set of formulas holds."""
        start = self.here.t
        series = heyoka().taylor_adaptive(
            # In the middle of the stretch no condition can be in doubt.
            taylor_system(self.rates, self.known, 0.5 * (start + halt)),
            state=self.here.y.tolist(),
            time=start,
            tol=TOLERANCE,
            compact_mode=self.model.size > LARGEST_WRITTEN_OUT,
        )
        while halt - self.here.t > _CLOSE * abs(halt):
            if self.steps >= self.settings.max_steps:
                return jobs.MANY_STEPS
            if self._cancelled():
                return jobs.CANCELLED
            status = self._step(series, halt, last=last)
            if status != jobs.FINISHED:
                return status
        self.here = StatePoint(halt, self.here.y, self.here.yp)
        return jobs.FINISHED

    def _step(self, series: Any, halt: float, *, last: bool) -> int:
        before = self.here.t
        outcome, length = series.step(max_delta_t=min(halt - before, self.settings.max_step), write_tc=True)
        if outcome == heyoka().taylor_outcome.err_nf_state or not np.all(np.isfinite(series.state)):
            return jobs.NOT_FINITE
        self.steps += 1
        now = float(series.time)
        # A step that time cannot resolve, far from the end of the stretch.
        if length <= _CLOSE * abs(now) and halt - now > _CLOSE * abs(halt):
            return jobs.TINY_STEP
        try:
            self._write_rows(series, min(now, halt), halt, last=last)
            if self.keep_books:
                self._keep_books(series, before, now)
            self.here = StatePoint(now, np.array(series.state), self._rate(now, np.array(series.state)))
        except FloatingPointError:
            return jobs.NOT_FINITE
        return jobs.FINISHED

    def _write_rows(self, series: Any, now: float, halt: float, *, last: bool) -> None:
        """Rows up to now; one at a break belongs to what comes after it."""
        rows = self.rows
        arrived = halt - now <= _CLOSE * abs(halt)
        reached = halt if arrived else now
        while rows.done < len(rows.t) and (
            rows.t[rows.done] < reached or (rows.t[rows.done] == reached and (last or not arrived))
        ):
            t = float(rows.t[rows.done])
            rows.y[rows.done] = series.update_d_output(t)
            rows.yp[rows.done] = self._rate(t, rows.y[rows.done])
            rows.done += 1

    def _keep_books(self, series: Any, before: float, now: float) -> None:
        """The energies of a step, by the points of Gauss."""
        half = 0.5 * (now - before)
        for point, weight in zip(self.points, self.weights, strict=True):
            # On the dense output, which is as exact as the step itself.
            t = before + half * (1.0 + float(point))
            y = np.array(series.update_d_output(t))
            self.energies += half * weight * self.model.balance(t, y, self._rate(t, y), self.context)[:4]

    def _rate(self, t: float, y: Array) -> Array:
        self.calls += 1
        return self.model.rhs(t, y, self.context)

    def _cancelled(self) -> bool:
        """Whether someone outside wants the run to end; they are told the time now and then."""
        now = time.perf_counter()
        if self.watch.progress is not None and now - self.looked > POLL_S:
            self.looked = now
            self.watch.progress(self.here.t)
        return self.watch.cancel is not None and self.watch.cancel.is_set()

    def ended(self, status: int) -> StretchEnd:
        """How the run ended."""
        effort = Effort(self.steps, 0, self.calls)
        return StretchEnd(status, self.here, effort, self.energies, failed=self.context.failed)
