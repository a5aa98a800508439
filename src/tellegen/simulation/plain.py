"""Where there is no C compiler: the same runs by SciPy's solvers, a hundred times slower."""

from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from tellegen.compiler.context import Context
from tellegen.compiler.numeric_model import NumericModel
from tellegen.simulation import jobs, rules
from tellegen.simulation.stretch import PreparedModel, Rows, Settings, Standing, StretchEnd
from tellegen.simulation.trajectory import Effort

Array = NDArray[np.float64]
Method = Literal["DOP853", "BDF"]

_POINTS: Final = np.array([0.5 - np.sqrt(15.0) / 10.0, 0.5, 0.5 + np.sqrt(15.0) / 10.0])
_WEIGHTS: Final = np.array([5.0, 8.0, 5.0]) / 18.0
"""Of Gauss, on a step."""


def check_plain(model: NumericModel) -> None:
    """Whether a model can be advanced without a compiler.

    Raises: SimulationError (S101) saying what it has that cannot.
    """
    reasons = {
        "it is implicit": not model.explicit,
        "it has events": bool(model.events),
        "it has delayed signals": bool(model.delays),
    }
    for reason, holds in reasons.items():
        if holds:
            raise rules.NO_COMPILER.error(
                f"without a C compiler this model cannot be advanced: {reason}",
                where=model.name,
                fix="install gcc or clang, or 'pip install ziglang'",
            )


def plain_stretch(
    method: Method,
    prepared: PreparedModel,
    context: Context,
    settings: Settings,
    rows: Rows,
    standing: Standing,
    until: float,
) -> StretchEnd:
    """Advance to `until` by a method of SciPy; breaks and samples are met as by the compiled solvers."""
    from scipy.integrate import solve_ivp  # noqa: PLC0415

    model = prepared.model
    energies, effort = np.zeros(4), Effort()
    t, y = standing.t, standing.y
    halts = sorted({*model.break_times(until, t).tolist(), *_samples(model, t, until), until})
    for halt in halts:
        try:
            found: Any = solve_ivp(
                lambda time, state: model.rhs(time, state, context),
                (t, _just_before(halt) if halt < until else halt),
                y,
                method=method,
                rtol=max(settings.rtol, 3e-14),
                atol=settings.atol,
                max_step=settings.max_step,
                dense_output=True,
            )
        except FloatingPointError:
            return _ended(jobs.NOT_FINITE, model, context, t, y, effort, energies)
        effort += Effort(len(found.t) - 1, 0, int(found.nfev), int(found.njev), int(found.nlu))
        if not found.success:
            return _ended(jobs.TINY_STEP, model, context, float(found.t[-1]), found.y[:, -1], effort, energies)
        _write_rows(model, context, rows, found.sol, t, halt, last=halt == until)
        if settings.keep_books:
            energies += _energies(model, context, found)
        t, y = halt, found.y[:, -1]
        if _take_samples(model, context, t, y):
            rows.samples.append(np.concatenate([[_just_before(t)], context.memory[: len(model.memory)]])[None, :])
            if rows.done and rows.t[rows.done - 1] >= t:
                rows.yp[rows.done - 1] = model.rhs(t, y, context)
    return _ended(jobs.FINISHED, model, context, t, y, effort, energies)


def _just_before(t: float) -> float:
    """Before an instant, however that is rounded."""
    return t - 1e-14 * abs(t)


def _ended(
    status: int, model: NumericModel, context: Context, t: float, y: Array, effort: Effort, energies: Array
) -> StretchEnd:
    try:
        rates = model.rhs(t, y, context)
    except FloatingPointError:
        rates = np.full(model.size, np.nan)
    return StretchEnd(status, Standing(t, y, rates), effort, energies, failed=context.failed)


def _write_rows(
    model: NumericModel, context: Context, rows: Rows, solution: Any, start: float, halt: float, *, last: bool
) -> None:
    """Rows up to the halt; one at a break belongs to what comes after it."""
    while rows.done < len(rows.t) and (rows.t[rows.done] < _just_before(halt) or last):
        t = rows.t[rows.done]
        rows.y[rows.done] = solution(max(t, start))
        rows.yp[rows.done] = model.rhs(t, rows.y[rows.done], context)
        rows.done += 1


def _energies(model: NumericModel, context: Context, found: Any) -> Array:
    energies = np.zeros(4)
    for before, after in zip(found.t[:-1], found.t[1:], strict=True):
        for point, weight in zip(_POINTS, _WEIGHTS, strict=True):
            t = before + point * (after - before)
            y = found.sol(t)
            energies += (after - before) * weight * model.balance(t, y, model.rhs(t, y, context), context)[:4]
    return energies


def _samples(model: NumericModel, start: float, until: float) -> list[float]:
    times = [
        g.offset + g.period * k for g in model.sample_groups for k in range(int((until - g.offset) / g.period) + 1)
    ]
    return [t for t in times if start < t < until]


def _take_samples(model: NumericModel, context: Context, t: float, y: Array) -> bool:
    """The groups due now take their samples; all of them read the values from before. Gives whether there were any."""
    rates, memory, due = model.rhs(t, y, context), context.memory.copy(), False
    for number, group in enumerate(model.sample_groups):
        if abs((t - group.offset) / group.period - round((t - group.offset) / group.period)) < 1e-9:
            taken = model.sample(t, y, rates, number, context)
            memory[list(group.members)], due = taken[list(group.members)], True
    context.memory[:] = memory
    return due
