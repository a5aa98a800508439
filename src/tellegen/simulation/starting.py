"""Starts: rates and algebraic unknowns that agree with the states, and equilibria."""

from collections.abc import Mapping, Sequence

import numpy as np

from tellegen.compiler.context import Array, ModelContext
from tellegen.compiler.numeric_model import NumericModel
from tellegen.core.errors import SimulationError, TellegenError
from tellegen.core.names import listing
from tellegen.simulation import rules
from tellegen.simulation.failures import failed_variable, open_loop, undecided_variable, without_value
from tellegen.simulation.problem import Problem
from tellegen.simulation.solvers import jobs
from tellegen.simulation.solvers.library import solver
from tellegen.simulation.solvers.stretch import PreparedModel, RunRows, SolverSettings, StatePoint, make_job, prepare

EQUILIBRIUM_STEPS = 400


def consistent_start(
    prepared: PreparedModel,
    context: ModelContext,
    settings: SolverSettings,
    t: float,
    y: Array,
    yp: Array | None = None,
) -> StatePoint:
    """y and yp at t such that 0 = F(t, y, yp): the states are kept, rates and algebraic unknowns are solved for.

    Raises: SimulationError (S108) where a law has no value at the start, (S113) naming a variable that the equations do not decide,
    (S118) when Newton's method does not converge.
    """
    model = prepared.model
    if model.explicit:
        return _explicit_start(model, context, t, y)
    # Rates of a point nearby are a good guess: after an event Newton then needs a round or two.
    given = StatePoint(t, y, np.zeros(model.size) if yp is None else yp)
    # The same struct as for a run, without rows and without an end.
    job, arrays = make_job(prepared, context, settings, RunRows.at(np.zeros(0), model.size), given, np.inf)
    status = solver("tg_consistent")(job)
    if status == jobs.FINISHED:
        return StatePoint(t, arrays.y, arrays.yp)
    if status == jobs.NOT_FINITE:
        raise _outside(model, context, given)
    if status == jobs.SINGULAR:
        name = undecided_variable(model, job.detail)
        # States are kept, so it is the rate of a state that stays open.
        word = "value" if name in model.unknowns else "rate"
        raise rules.SINGULAR.error(
            f"at the start the equations do not decide the {word} of '{name}'",
            where=model.name,
            fix=f"look for a loop of ideal elements through '{name}', or give one of them a small storage or loss",
            members=(name,),
        )
    name = _largest_residual(model, context, t, arrays.y, arrays.yp)
    near = ", ".join(f"'{unknown}'" for unknown in model.unknowns[:3]) or f"'{name}'"
    raise rules.NOT_CONSISTENT.error(
        f"no consistent start was found at t = {t:g} s; the equation of '{name}' is furthest from being met",
        where=model.name,
        fix=f"give an initial value near the solution for {near}",
        members=(name,),
    )


def restore_memory(model: NumericModel, context: ModelContext, before: Mapping[str, float]) -> None:
    """Let sampled signals hold what they held before the start, where that is given by name."""
    for k, name in enumerate(model.memory):
        context.memory[k] = before.get(name, context.memory[k])


def take_first_samples(model: NumericModel, context: ModelContext, start: StatePoint) -> bool:
    """Let the groups that are due at the start take their samples; whether there were any."""
    try:
        return _first_samples(model, context, start)
    except FloatingPointError:
        raise _outside(model, context, start) from None


def _first_samples(model: NumericModel, context: ModelContext, start: StatePoint) -> bool:
    # All groups see the memory from before the instant: the order in which they stand must not matter.
    memory, due = context.memory.copy(), False
    for number, group in enumerate(model.sample_groups):
        if group.is_latch:
            continue
        # Within rounding: t0 = 0.3 is a sampling instant of a period of 0.1, though 0.3 / 0.1 is not three.
        periods = (start.t - group.offset) / group.period
        if periods > -1e-9 and abs(periods - round(periods)) < 1e-9:
            taken = model.sample(start.t, start.y, start.yp, number, context)
            memory[list(group.members)], due = taken[list(group.members)], True
    context.memory[:] = memory
    return settle_latches(model, context, start) or due


MOST_ROUNDS = 100
"""So often latches may answer each other in one instant."""


def settle_latches(model: NumericModel, context: ModelContext, at: StatePoint) -> bool:
    """Let latches take what they would hold now, again until none changes; whether any did.

    Raises: SimulationError (S179) where they go on for ever.
    """
    latches = [number for number, group in enumerate(model.sample_groups) if group.is_latch]
    for round_ in range(MOST_ROUNDS if latches else 0):
        taken = [(model.sample_groups[k].members, model.sample(at.t, at.y, at.yp, k, context)) for k in latches]
        before = context.memory.copy()
        for members, values in taken:
            context.memory[list(members)] = values[list(members)]
        if np.array_equal(before, context.memory):
            return round_ > 0
    if latches:
        names = [model.memory[place] for k in latches for place in model.sample_groups[k].members]
        raise rules.RESTLESS_LATCHES.error(
            f"at t = {at.t:g} s {listing(names)} change for ever",
            where=names[0],
            fix="let one condition end before the other begins: a hysteresis, or a state that is entered from one other",
            members=names,
        )
    return False


def find_equilibrium(problem: Problem) -> StatePoint:
    """An equilibrium near the start: 0 = F(t0, y, 0), inputs and time held.

    Newton's method first; where it fails, implicit steps in time that grow while the motion dies away. What no motion changes is
    what it was at the start: a spring whose length follows from positions has the force that belongs to them.

    Raises: SimulationError (S119) naming what keeps drifting.
    """
    problem.checked()
    start, context = problem.start(), problem.context
    for _ in range(MOST_RETURNS):
        found = _rest_near(problem, start)
        apart = _left_behind(
            problem.model, context or problem.model.new_context(problem.parameters, problem.inputs), start, found
        )
        if apart is None:
            break
        start = found.y - apart
    return found


def _rest_near(problem: Problem, y: Array) -> StatePoint:
    model = problem.model
    prepared = prepare(model)
    context = problem.context or model.new_context(problem.parameters, problem.inputs)
    first = problem.step if problem.step is not None else 1e-3 * (problem.until - problem.t0)
    settings = SolverSettings(problem.rtol, problem.tolerances(), max_steps=EQUILIBRIUM_STEPS, first_step=first)
    start = StatePoint(problem.t0, y, np.zeros(model.size))
    job, arrays = make_job(prepared, context, settings, RunRows.at(np.zeros(0), model.size), start, np.inf)
    status = solver("tg_equilibrium")(job)
    if status == jobs.FINISHED:
        found = StatePoint(problem.t0, arrays.y, np.zeros(model.size))
        return _with_values(model, context, found)
    if status == jobs.NOT_FINITE:
        raise _outside(model, context, start)
    name, rate = _drifting(model, context, problem.t0, arrays.y, settings)
    raise rules.NO_EQUILIBRIUM.error(
        f"no equilibrium was found: '{name}' keeps drifting by {rate:.3g} per second",
        where=model.name,
        fix=f"hold '{name}' by a spring, a loss or a controller, or start nearer to the equilibrium",
        members=(name,),
    )


MOST_RETURNS = 20
"""So often a rest is sought again from where it should have been: each time it is nearer by the square of the distance."""

MOST_CONSTANTS = 60
"""In larger models the constants of motion are not looked for: dense matrices would cost more than the rest itself."""

NULL = 1e-9
"""A singular value below this share of the largest is zero."""

RETURNED = 1e-11
"""A constant of motion is kept where it is so near, beside the size of what it is made of."""

PANELS = 6
"""So many pieces of a way are integrated apart: where a body turns by a radian, slopes bend sharply."""

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(12)


def _left_behind(model: NumericModel, context: ModelContext, start: Array, at: StatePoint) -> Array | None:
    """What a rest has to be moved by for the constants of motion to be those of the start; None where they are.

    Large steps keep constants that are linear, but not those that bend, such as the length of a spring between points that turn.
    A constant C(y) has a gradient c = w F_yp along which F_y has no motion: w F_y = 0 wherever nothing moves. The difference of C
    is the integral of c along the way, and one variable of each is moved to make it zero.
    """
    way = at.y - start
    if not 0 < model.size <= MOST_CONSTANTS or not way.any():
        return None
    try:
        last = _constants(model, context, at.t, at.y)
        if not len(last):
            return None
        concerned = (np.abs(last) > NULL * np.abs(last).max()).any(axis=0)
        # A storage keeps the slope of its constant by positions; divided by that slope the gradient would be none.
        stored = np.array([name not in model.displacements for name in model.names])
        chosen = _pivots(last * np.maximum(np.abs(at.y), np.abs(way)) * np.where(stored, 1e6, 1.0))
        legs = [np.where(concerned, way, 0.0)], [np.where(concerned & part, way, 0.0) for part in (stored, ~stored)]
        total, detour = (_along(model, context, at, path, chosen) for path in legs)
        size = np.abs(at.y[chosen]) + np.abs(way[chosen])
        if np.any(np.abs(total - detour) > 1e-6 * size) or not _are_constants(model, context, at, concerned, len(last)):
            return None
    except (FloatingPointError, np.linalg.LinAlgError):
        return None
    if np.all(np.abs(total) <= RETURNED * size):
        return None
    apart = np.zeros(model.size)
    apart[chosen] = total
    return apart


def _along(
    model: NumericModel, context: ModelContext, at: StatePoint, legs: Sequence[Array], chosen: list[int]
) -> Array:
    """What the constants change by on the way to a rest, in straight legs, each as what one of its variables would change by."""
    total, here = np.zeros(len(chosen)), at.y - np.sum(legs, axis=0)
    for leg in (whole / PANELS for whole in legs for _ in range(PANELS)):
        for node, weight in zip(_NODES, _WEIGHTS, strict=True):
            gradient = _constants(model, context, at.t, here + 0.5 * (1.0 + node) * leg, len(chosen))
            total += 0.5 * weight * np.linalg.solve(gradient[:, chosen], gradient @ leg)
        here = here + leg
    return total


def _constants(model: NumericModel, context: ModelContext, t: float, y: Array, count: int | None = None) -> Array:
    """The gradients of what no motion changes, at a point where nothing moves; so many where that is known."""
    n, still = model.size, np.zeros(model.size)
    by_y = np.array([model.tangent(t, y, still, dy=e, context=context) for e in np.eye(n)]).T
    by_rates = np.array([model.tangent(t, y, still, dyp=e, context=context) for e in np.eye(n)]).T
    # Rows and columns have units of their own, between which nothing is large or small.
    rows = _reciprocals(np.abs(by_y).max(axis=1))
    scaled = by_y * rows[:, None]
    scaled = scaled * _reciprocals(np.abs(scaled).max(axis=0))
    left, sizes, _ = np.linalg.svd(scaled)
    null = count if count is not None else int((sizes <= NULL * sizes[0]).sum())
    return np.asarray((left[:, n - null :].T * rows) @ by_rates)


def _reciprocals(sizes: Array) -> Array:
    return 1.0 / np.where(sizes > 0, sizes, 1.0)


def _pivots(gradients: Array) -> list[int]:
    """One variable for each constant, by elimination with the largest entries."""
    rest, chosen = gradients.copy(), []
    for k in range(len(rest)):
        row, column = divmod(int(np.argmax(np.abs(rest[k:]))), rest.shape[1])
        rest[[k, k + row]] = rest[[k + row, k]]
        chosen.append(column)
        others = [r for r in range(len(rest)) if r != k]
        rest[others] -= np.outer(rest[others, column] / rest[k, column], rest[k])
    return chosen


def _are_constants(model: NumericModel, context: ModelContext, at: StatePoint, concerned: Array, count: int) -> bool:
    """Whether the gradients at a point nearby lie across the rates there: a singular point alone has no constant."""
    near = at.y + 1e-3 * (1.0 + np.abs(at.y)) * np.random.default_rng(1).uniform(-1.0, 1.0, model.size)
    gradients = _constants(model, context, at.t, np.where(concerned, near, at.y), count)
    rates = _rates(model, context, at.t, near)
    return bool(np.all(np.abs(gradients @ rates) <= 1e-7 * (np.abs(gradients) @ np.abs(rates))))


def _rates(model: NumericModel, context: ModelContext, t: float, y: Array) -> Array:
    if model.explicit:
        return model.rhs(t, y, context)
    still = np.zeros(model.size)
    by_rates = np.array([model.tangent(t, y, still, dyp=e, context=context) for e in np.eye(model.size)]).T
    return np.asarray(np.linalg.lstsq(by_rates, -model.residual(t, y, still, context), rcond=None)[0])


def _explicit_start(model: NumericModel, context: ModelContext, t: float, y: Array) -> StatePoint:
    try:
        return StatePoint(t, y, model.rhs(t, y, context))
    except FloatingPointError:
        raise _outside(model, context, StatePoint(t, y, np.zeros(model.size))) from None


def _with_values(model: NumericModel, context: ModelContext, at: StatePoint) -> StatePoint:
    """The point, at which everything has a value: without states a rest says nothing of the loops of a model."""
    try:
        if model.observables:
            model.observe(at.t, at.y, at.yp, context)
    except FloatingPointError:
        raise _outside(model, context, at) from None
    return at


def _outside(model: NumericModel, context: ModelContext, start: StatePoint) -> TellegenError:
    if (found := open_loop(model, context.failed, start.t)) is not None:
        return SimulationError(found)
    what, members = without_value(model, context, start, context.failed)
    return rules.BAD_START.error(
        f"at the start (t = {start.t:g} s) {what}",
        where=model.name,
        fix="choose initial values, parameters and inputs inside the domain of its law",
        members=members,
    )


def _largest_residual(model: NumericModel, context: ModelContext, t: float, y: Array, yp: Array) -> str:
    try:
        residual = np.abs(model.residual(t, y, yp, context))
    except FloatingPointError:
        return failed_variable(model, context.failed).strip("'")
    return model.names[int(np.argmax(residual))]


def _drifting(
    model: NumericModel, context: ModelContext, t: float, y: Array, settings: SolverSettings
) -> tuple[str, float]:
    """The variable that changes fastest beside its tolerance, with rates that follow from the states."""
    try:
        rates = consistent_start(prepare(model), context, settings, t, y).yp
    except (SimulationError, FloatingPointError):
        return model.names[0], float("nan")
    # Beside its tolerance: a current in A and a position in m cannot be compared otherwise.
    scale = settings.atol + settings.rtol * np.abs(y)
    k = int(np.argmax(np.abs(rates) / scale))
    return model.names[k], float(rates[k])
