"""Forward sensitivities: how the variables of a run change with parameters, integrated beside them."""

import ctypes
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np
from numpy.typing import NDArray

from tellegen.compiler.context import Context, TgContext
from tellegen.compiler.numeric_model import PROTOTYPES, NumericModel, native_addresses
from tellegen.core.names import did_you_mean, listing
from tellegen.simulation import jobs, rules
from tellegen.simulation.choice import Choice, choose
from tellegen.simulation.integration import settings_for, settings_of, solver_run, stored_energy, trajectory_of
from tellegen.simulation.native_library import native_library, runner
from tellegen.simulation.problem import Problem
from tellegen.simulation.slope_jumps import after_event, first_held
from tellegen.simulation.starting import consistent_start
from tellegen.simulation.stretch import (
    PreparedModel,
    Rows,
    Settings,
    Standing,
    StretchEnd,
    Watch,
    make_job,
    prepare,
    run_stretch,
)
from tellegen.simulation.trajectory import Trajectory

Array = NDArray[np.float64]

_FUNCTIONS = ("residual", "rhs", "tangent", "rhs_tangent", "balance", "events", "sample", "observe")
_NUDGE = 6e-6
"""Of central differences: the cube root of the rounding unit."""


class _Wrapper(ctypes.Structure):
    """The struct `tg_wrapper` of native/sensitivities.c."""

    _fields_ = (
        ("head", TgContext),
        ("model", ctypes.c_void_p),
        *((name, ctypes.c_void_p) for name in _FUNCTIONS),
        ("n", ctypes.c_int),
        ("count", ctypes.c_int),
        ("parameters", ctypes.c_void_p),
        ("direction", ctypes.c_void_p),
        ("n_memory", ctypes.c_int),
        ("held", ctypes.c_void_p),
        ("held_before", ctypes.c_void_p),
        ("room", ctypes.c_void_p),
        ("sampled_at", ctypes.c_double),
    )


@final
@dataclass(frozen=True)
class _Wrapped:
    """A model with its derivatives, as solvers see it; the arrays live as long."""

    struct: _Wrapper
    numbers: NDArray[np.int32]
    direction: Array
    held: Array
    others: tuple[Array, ...]

    @property
    def address(self) -> int:
        return ctypes.addressof(self.struct)


def integrate_sensitivities(
    problem: Problem, parameters: Sequence[str], *, start_slopes: Array | None = None, watch: Watch | None = None
) -> Trajectory:
    """The trajectory with `sensitivities`: dy/dp in SI units, by row, variable and parameter.

    `start_slopes` is dy0/dp (variables by parameters) where initial values depend on the parameters; zero without it. The
    sensitivities keep the tolerance of the run, relative to the size of the parameter.

    At sampling instants and where a law jumps they jump as the variational equations do; sampling periods and the times of breaks
    are taken as given.

    Raises: SimulationError (S126) for a model that changes its mode, or naming a parameter that the model does not have.
    """
    began = time.perf_counter()
    problem.checked()
    model = problem.model
    numbers = _numbers(model, parameters)
    context = problem.context or model.new_context(problem.parameters, problem.inputs)
    settings, plain = settings_of(problem), prepare(model)
    start = consistent_start(plain, context, settings, problem.t0, problem.start(), problem.yp0)
    wrapped = _wrap(model, context, numbers)
    if problem.context is None and model.sample_groups:
        wrapped.held[:] = first_held(model, context, start, numbers, start_slopes)
        start = consistent_start(plain, context, settings, problem.t0, start.y, start.yp)
    held = context.memory[: len(model.memory)].copy()
    choice = _suited(choose(model, problem.solver, context, start, problem.until))
    everywhere = np.ones_like(plain.terminal) if model.explicit else plain.terminal
    prepared = replace(plain, blocks=1 + len(parameters), addresses=_addresses(model), terminal=everywhere)
    wide = replace(settings, atol=_wide_tolerances(settings.atol, context, numbers))
    standing = _wide_start(prepared, context, wide, start, start_slopes, wrapped)
    rows = Rows.at(problem.output_times(), prepared.width)
    before = stored_energy(model, context, start)
    ready = time.perf_counter()
    ends: list[StretchEnd] = []
    while True:
        run, asked = solver_run(choice.solver, model), settings_for(choice, wide)
        ends.append(
            run_stretch(
                run, prepared, context, asked, rows, standing, problem.until, watch=watch, address=wrapped.address
            )
        )
        standing = ends[-1].standing
        if ends[-1].status == jobs.EVENT:
            standing = after_event(model, context, ends[-1], numbers, problem.until - problem.t0)
        elif ends[-1].status == jobs.STIFF and problem.solver == "auto":
            choice = Choice("cvode", f"stiff from t = {standing.t:.3g} s on, where Runge-Kutta stopped")
        else:
            break
    seconds = (ready - began, time.perf_counter() - ready)
    books = before if problem.books else None
    made = trajectory_of(ends, prepared, context, rows, choice, settings, books=books, seconds=seconds, held=held)
    slopes = rows.y[: rows.done, model.size :].reshape(rows.done, len(parameters), model.size)
    return replace(made, sensitivities=np.ascontiguousarray(slopes.transpose(0, 2, 1)))


def observable_sensitivities(problem: Problem, trajectory: Trajectory, parameters: Sequence[str]) -> Array:
    """d(observable)/dp by row, observable and parameter, from a trajectory with sensitivities.

    Observables are differentiated along the known slopes by central differences, good to about nine digits.
    """
    assert trajectory.sensitivities is not None, "ask integrate_sensitivities for the trajectory"
    model, slopes = problem.model, trajectory.sensitivities
    base = model.new_context(problem.parameters, problem.inputs).parameters
    rates = _rate_slopes(problem, trajectory, parameters)
    found = np.zeros((len(trajectory.t), len(model.observables), len(parameters)))
    for k, number in enumerate(_numbers(model, parameters)):
        step = _NUDGE * (abs(base[number]) or 1.0)
        sides = []
        for sign in (1.0, -1.0):
            moved = base.copy()
            moved[number] += sign * step
            context = model.new_context(moved[: len(model.parameters)], problem.inputs)
            sides.append(
                [
                    model.observe(t, y + sign * step * s, yp + sign * step * r, context)
                    for t, y, yp, s, r in zip(
                        trajectory.t, trajectory.y, trajectory.yp, slopes[:, :, k], rates[:, :, k], strict=True
                    )
                ]
            )
        found[:, :, k] = (np.array(sides[0]) - np.array(sides[1])) / (2.0 * step)
    return found


def _rate_slopes(problem: Problem, trajectory: Trajectory, parameters: Sequence[str]) -> Array:
    """d(yp)/dp at the rows: from the tangent of explicit models, by differences in time of the others."""
    model, slopes = problem.model, trajectory.sensitivities
    assert slopes is not None, "the caller made sure"
    if not model.explicit:
        return np.gradient(slopes, trajectory.t, axis=0) if len(trajectory.t) > 1 else np.zeros_like(slopes)
    context = problem.context or model.new_context(problem.parameters, problem.inputs)
    found = np.zeros_like(slopes)
    for k, number in enumerate(_numbers(model, parameters)):
        direction = np.zeros(max(len(model.parameters), 1))
        direction[number] = 1.0
        for i, (t, y) in enumerate(zip(trajectory.t, trajectory.y, strict=True)):
            found[i, :, k] = model.rhs_tangent(t, y, slopes[i, :, k], direction, context)
    return found


def _numbers(model: NumericModel, parameters: Sequence[str]) -> NDArray[np.int32]:
    if model.sample_groups and model.data is not None and model.data.coefficients is not None:
        raise rules.NO_SENSITIVITY.error(
            "sensitivities are not integrated across the sampling instants of a model with hundreds of ports",
            where=model.name,
            fix="use differences of two runs, or a continuous controller",
        )
    if any(event.kind == "transition" for event in model.events):
        raise rules.NO_SENSITIVITY.error(
            "sensitivities are not integrated across changes of mode",
            where=model.name,
            fix="use differences of two runs, or a model without switching elements",
        )
    for name in parameters:
        if name not in model.parameters:
            raise rules.NO_SENSITIVITY.error(
                f"there is no parameter '{name}'",
                where=model.name,
                fix=did_you_mean(name, model.parameters) or f"the parameters are {listing(model.parameters)}",
            )
    return np.array([model.parameters.index(name) for name in parameters], dtype=np.int32)


def _suited(choice: Choice) -> Choice:
    """The exponential, heyoka and the methods of fixed step have no sensitivities: their neighbours have."""
    if choice.solver == "exponential":
        return Choice("runge-kutta", "sensitivities of a linear model", may_switch=True)
    if choice.solver in ("midpoint", "discrete-gradient", "heyoka"):
        raise rules.NO_SENSITIVITY.error(
            f"'{choice.solver}' gives no sensitivities", fix="choose 'runge-kutta', 'cvode' or 'ida'"
        )
    return choice


def _wrap(model: NumericModel, context: Context, numbers: NDArray[np.int32]) -> _Wrapped:
    direction = np.zeros(max(len(model.parameters), 1))
    struct = _Wrapper()
    ctypes.memmove(ctypes.addressof(struct.head), context.address, ctypes.sizeof(TgContext))
    struct.model = context.address
    for name in _FUNCTIONS:
        setattr(struct, name, model.addresses.get(name))
    struct.n, struct.count, struct.n_memory = model.size, len(numbers), len(model.memory)
    held, earlier = (np.zeros((len(numbers), max(len(model.memory), 1))) for _ in range(2))
    room = np.zeros(5 * max(model.size, len(model.memory), 1))
    struct.parameters, struct.direction = numbers.ctypes.data, direction.ctypes.data
    struct.held, struct.held_before, struct.room = held.ctypes.data, earlier.ctypes.data, room.ctypes.data
    struct.sampled_at = -np.inf
    return _Wrapped(struct, numbers, direction, held, (earlier, room))


def _addresses(model: NumericModel) -> dict[str, int]:
    ours = native_addresses(native_library("sensitivities"))
    assert ours.keys() == PROTOTYPES.keys(), "the wrapper passes on every function of a model"
    return {name: address for name, address in ours.items() if name in model.addresses}


def _wide_tolerances(atol: Array, context: Context, numbers: NDArray[np.int32]) -> Array:
    sizes = [abs(context.parameters[k]) or 1.0 for k in numbers]
    return np.concatenate([atol, *(atol / size for size in sizes)])


def _wide_start(
    prepared: PreparedModel,
    context: Context,
    settings: Settings,
    start: Standing,
    slopes: Array | None,
    wrapped: _Wrapped,
) -> Standing:
    """The start with its sensitivities; those of algebraic unknowns and rates follow from the equations."""
    model, count = prepared.model, prepared.blocks - 1
    begin = np.zeros((count, model.size)) if slopes is None else np.ascontiguousarray(np.asarray(slopes, dtype=float).T)
    y = np.concatenate([start.y, begin.ravel()])
    yp = np.concatenate([start.yp, np.zeros(count * model.size)])
    if model.explicit:
        return Standing(start.t, y, yp)
    empty = Rows.at(np.zeros(0), prepared.width)
    job, arrays = make_job(
        prepared, context, settings, empty, Standing(start.t, y, yp), np.inf, address=wrapped.address
    )
    status = runner(native_library("steady"), "tg_consistent")(job)
    if status != jobs.FINISHED:
        raise rules.NOT_CONSISTENT.error(
            "the sensitivities of the algebraic unknowns at the start were not found", where=model.name
        )
    return Standing(start.t, arrays.y, arrays.yp)
