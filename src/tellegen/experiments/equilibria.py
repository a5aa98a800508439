"""`equilibrium`: the steady state of a model as a result."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from tellegen.analysis import PowerSplit, split_power
from tellegen.core.errors import CausalityError, SimulationError, TellegenError
from tellegen.core.names import identifier
from tellegen.description import Model
from tellegen.description.opening import AnyModel, as_model
from tellegen.experiments.courses import Course
from tellegen.experiments.quantities import SECOND, Quantity, value_of
from tellegen.experiments.setting_up import Setup, end_of, set_up
from tellegen.experiments.simulating import run_of
from tellegen.graph import lower
from tellegen.results.ports import sources_of
from tellegen.results.printing import table_lines
from tellegen.results.run import Run
from tellegen.simulation import rules
from tellegen.simulation.hybrid import integrate_graph
from tellegen.simulation.problem import Problem
from tellegen.simulation.starting import steady_state
from tellegen.simulation.stretch import Standing
from tellegen.simulation.trajectory import Segment, Trajectory

Array = NDArray[np.float64]

FINE: Final = 1e-10
SAME: Final = 1e-9
STILL: Final = 1e-6
AHEAD: Final = 1e-3
"""How long, in s, a run from a steady state with modes is watched, and by which share it may move."""
MOST_MODES: Final = 64
MOST_STEPS: Final = 50
NUDGE: Final = 1e-6


@final
@dataclass(frozen=True)
class SteadyState:
    """Where nothing changes any more, and which element then gives and takes how much power.

    `run` has one row, so that every variable of the model can be asked for: `run.values("I_a")`, `run.power("R")`.
    """

    run: Run
    power: PowerSplit

    @property
    def values(self) -> dict[str, float]:
        """States, displacements, signals, inputs and outputs in SI units, by name."""
        return self.run.final()

    def __getitem__(self, name: str) -> float:
        """Any variable of the model, in SI units."""
        return float(self.run.values(name)[0])

    def __str__(self) -> str:
        run, shown = self.run, self.run.display
        rows: list[tuple[str, ...]] = [
            (n, f"{shown.shown_value(n, v):.6g}", shown.unit(n, run.unit(n))) for n, v in self.values.items()
        ]
        given = [(f"{name} gives", f"{power:.5g}", "") for name, power in self.power.given.items()]
        taken = [(f"{name} takes", f"{power:.5g}", "") for name, power in self.power.taken.items()]
        lines = [run.name, "", f"steady state, inputs as at t = {run.t[0]:g} s", *table_lines(rows)]
        if given or taken:
            lines += ["", "power [W]", *table_lines([*given, *taken])]
        return "\n".join(line.rstrip() for line in lines)

    def to_json(self) -> dict[str, object]:
        """The record of it: values and powers in SI units."""
        return {
            "t": float(self.run.t[0]),
            "steady": {identifier(name): value for name, value in self.values.items()},
            "power": {
                "given": {identifier(name): power for name, power in self.power.given.items()},
                "taken": {identifier(name): power for name, power in self.power.taken.items()},
            },
        }


def equilibrium(
    model: AnyModel,
    *,
    inputs: Mapping[str, Course] | None = None,
    initial: Mapping[str, Quantity] | None = None,
    parameters: Mapping[str, Quantity] | None = None,
    units: Mapping[str, str] | None = None,
    mode: Mapping[str, str] | None = None,
    at: Quantity | None = None,
) -> SteadyState:
    """The steady state near the initial values, inputs and time held as they are at the time `at`: by default at the end of the
    experiment, when steps and ramps are over.

    Elements with modes are in the ones that agree with it; sampled signals hold what they would take again.

    >>> import tellegen as tg
    >>> found = tg.equilibrium("dc_motor_pump")
    >>> abs(found["V_a"] - 100.0) < 1e-9
    True

    Raises: SimulationError (S119) naming what keeps changing where there is none.
    """
    described = as_model(model)
    found = _found(described, at, {"inputs": inputs, "initial": initial, "parameters": parameters, "mode": mode})
    run = run_of(found.ready, found.problem, _one_row(found.problem, found.standing))
    return SteadyState(run.in_units(_units(found.ready, units)), _powers(run))


@final
@dataclass(frozen=True)
class _Found:
    ready: Setup
    problem: Problem
    standing: Standing


def _found(model: Model, at: Quantity | None, given: Mapping[str, Any]) -> _Found:
    """The steady state in the first mode that has one and keeps it; the mode that the model starts in comes first."""
    first: SimulationError | None = None
    for mode in (given["mode"], *_other_modes(model)):
        try:
            ready = set_up(model, until=1.0, **{**given, "mode": mode})
            t = end_of(model, ready.parameters) if at is None else value_of(at, SECOND, "at", ready.parameters)
            found = _Found(ready, problem := _problem(ready, t), _settled(problem))
            if not ready.graph.switching or _stays(found):
                return found
        except SimulationError as error:
            first = first or error
        except CausalityError:  # elements that cannot be in these modes together
            continue
    if first is not None:
        raise first
    what = "no mode keeps the steady state that it would have"
    raise rules.NO_EQUILIBRIUM.error(what, where=model.name, fix="simulate the model, to see how it goes on")


def _other_modes(model: Model) -> Iterator[dict[str, str]]:
    """All combinations of modes, where they are few."""
    graph = lower(model)
    words = {graph.ports[k].element: tuple(law.modes) for k, law in graph.switching.items()}
    if words and prod(map(len, words.values())) <= MOST_MODES:
        for combination in product(*words.values()):
            yield dict(zip(words, combination, strict=True))


def _problem(ready: Setup, t: float) -> Problem:
    known = {name: value for name, value in ready.start.items() if name in ready.numeric.names}
    context = ready.numeric.new_context(None, dict(ready.inputs))
    return Problem(ready.numeric, t + 1.0, t, y0=known, rtol=FINE, context=context)


def _stays(found: _Found) -> bool:
    """Whether a run from there stays there: guards alone do not tell a body on its stop from one that hangs above it."""
    numeric, at, graph = found.ready.numeric, found.standing, found.ready.graph
    switching = graph.switching.items()
    observed = numeric.observe(at.t, at.y, at.yp, found.problem.context)
    storages = {graph.ports[k].state for k in graph.storages()}
    followers = {o.name: float(v) for o, v in zip(numeric.observables, observed, strict=True) if o.name in storages}
    own = dict(zip(numeric.names, map(float, at.y), strict=True))
    start = {**followers, **{n: v for n, v in own.items() if n not in numeric.unknowns}}
    problem = Problem(found.ready.numeric, at.t + AHEAD, at.t, y0=start, inputs=dict(found.ready.inputs), times=2)
    try:
        made = integrate_graph(graph.in_mode({graph.ports[k].element: law.start for k, law in switching}), problem)
    except TellegenError:
        return False
    last = dict(zip(made.segments[-1].model.names, made.y[-1], strict=False))
    near = (abs(last[n] - v) <= STILL * (1.0 + abs(v)) for n, v in start.items() if n in last)
    return made.status == "finished" and all(near)


def _settled(problem: Problem) -> Standing:
    """The steady state; sampled signals hold what they would take again."""
    return _settled_samples(problem) if problem.model.sample_groups else steady_state(problem)


def _settled_samples(problem: Problem) -> Standing:
    """States and what is held, found together by Newton's method with differences: a controller that sums up errors is no state.

    Raises: SimulationError (S119) naming what keeps changing.
    """
    model, context = problem.model, problem.context
    assert context is not None, "made with one"
    n, t = model.size, problem.t0
    names = (*model.names, *model.memory)

    def missing(x: Array) -> Array:
        context.memory[: len(model.memory)] = x[n:]
        held = x[n:].copy()
        for number, group in enumerate(model.sample_groups):
            members = list(group.members)
            held[members] = model.sample(t, x[:n], np.zeros(n), number, context)[members]
        return np.concatenate([model.residual(t, x[:n], np.zeros(n), context), held - x[n:]])

    x = np.concatenate([problem.start(), model.initial_memory])
    for _ in range(MOST_STEPS):
        here, sizes = missing(x), NUDGE * (1.0 + np.abs(x))
        moves = [(missing(x + e) - missing(x - e)) / 2.0 for e in np.diag(sizes)]
        step = sizes * np.linalg.lstsq(np.column_stack(moves), -here, rcond=1e-12)[0]
        x = x + step
        if np.all(np.abs(step) <= SAME * (1e-6 + np.abs(x))):
            break
    here = missing(x)
    worst = int(np.argmax(np.abs(here)))
    if not np.all(np.abs(here) <= STILL * (1.0 + float(np.max(np.abs(x))))):
        raise rules.NO_EQUILIBRIUM.error(
            f"no equilibrium was found: '{names[worst]}' takes another value at every instant",
            where=model.name,
            fix="simulate the model, to see how it goes on",
            members=(names[worst],),
        )
    return Standing(t, x[:n], np.zeros(n))


def _one_row(problem: Problem, found: Standing) -> Trajectory:
    model, context = problem.model, problem.context
    assert context is not None, "made with one"
    memory = context.memory[None, : len(model.memory)].copy() if model.memory else None
    y, yp = found.y[None, :], np.zeros((1, model.size))
    return Trajectory(np.array([found.t]), y, yp, (Segment(0, model),), "Newton", "a steady state", memory=memory)


def _powers(run: Run) -> PowerSplit:
    sources = sources_of(run.graph)
    powers: dict[str, float] = {}
    for observable in run.trajectory.model.observables:
        if observable.kind == "power":
            value = float(run.values(observable.name)[0])
            powers[observable.element] = powers.get(observable.element, 0.0) + (
                -value if observable.element in sources else value
            )
    return split_power(powers)


def _units(ready: Setup, units: Mapping[str, str] | None) -> dict[str, str]:
    known = {o.name for o in ready.numeric.observables} | set(ready.numeric.names)
    own = {name: unit for name, unit in ready.model.experiment.units.items() if name in known}
    return {**own, **(units or {})}
