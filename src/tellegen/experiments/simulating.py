"""`simulate`: from a model to a run in one call."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from tellegen.conditioning.forms import Conditioned
from tellegen.core.errors import SimulationError, TellegenError
from tellegen.core.names import did_you_mean, listing
from tellegen.core.units import DIMENSIONLESS, Dimension
from tellegen.description.opening import AnyModel, as_model
from tellegen.experiments import rules
from tellegen.experiments.conditioned import begun_model
from tellegen.experiments.courses import Course, function_finding
from tellegen.experiments.progress import Progress, ProgressLine, is_watched
from tellegen.experiments.quantities import SECOND, Quantity, value_of
from tellegen.experiments.recovering import RemovedVariables
from tellegen.experiments.row_count import default_rows, longest_step
from tellegen.experiments.setting_up import Setup, set_up
from tellegen.experiments.settling import settle
from tellegen.experiments.singular_positions import judged
from tellegen.experiments.weightless_positions import weighed
from tellegen.reduction import Reduction
from tellegen.results.run import Run
from tellegen.simulation.building_ahead import build_solvers_ahead
from tellegen.simulation.hybrid import integrate_graph
from tellegen.simulation.problem import Problem
from tellegen.simulation.second_run import has_memory
from tellegen.simulation.starting import steady_state
from tellegen.simulation.stretch import Watch
from tellegen.simulation.trajectory import Segment, Trajectory

Array = npt.NDArray[np.float64]
Start = Literal["initial", "steady"]
OnFailure = Literal["raise", "return"]

DEFAULT_RTOL = 1e-6
INSTANT = 1e-12
"""A run as long as this, in s, shows what holds at its start."""


def simulate(
    model: AnyModel,
    until: Quantity | None = None,
    *,
    inputs: Mapping[str, Course] | None = None,
    initial: Mapping[str, Quantity] | None = None,
    parameters: Mapping[str, Quantity] | None = None,
    solver: str = "auto",
    rtol: Quantity | None = None,
    atol: Quantity | Mapping[str, Quantity] | None = None,
    max_step: Quantity | None = None,
    step: Quantity | None = None,
    times: npt.ArrayLike | None = None,
    samples: int | None = None,
    outputs: Sequence[str] = (),
    units: Mapping[str, str] | None = None,
    start: Start = "initial",
    mode: Mapping[str, str] | None = None,
    progress: Progress | bool | None = None,
    on_failure: OnFailure = "raise",
) -> Run:
    """Simulate a model, and give back what happened.

    What is not given is taken from the experiment of the model. `inputs` are numbers, texts such as "step(24 V)", shapes such as
    `tellegen.step(24)`, quantities of pint, or Python functions of time, which are slow. Numbers are in SI units.
    `times` are the times of the rows, or `samples` how many even steps they make; without either there are 1000, or twenty for
    each period of the fastest input, and rows on both sides of every change of mode. `units` are those in which variables are
    shown, as by `Run.in_units`; they are checked before anything is simulated. `start="steady"` begins at the
    equilibrium under the inputs at t = 0. `step` is for solvers that keep theirs. `mode` gives the first mode of switching
    elements. The run of a reduction also has the variables that it removed, where a formula gives them. Ctrl-C ends the run and
    keeps what is finished: its status is then "cancelled".

    Raises: SimulationError when the run cannot start or ends early; its `run` then holds what was finished, unless `on_failure` is
    "return", which gives that back. Errors of other layers for a model that cannot be compiled.
    """
    build_solvers_ahead()
    _check_word(start, ("initial", "steady"), "start")
    _check_word(on_failure, ("raise", "return"), "on_failure")
    form = model if isinstance(model, Conditioned) else None
    removed = RemovedVariables(model) if isinstance(model, Reduction) else None
    if isinstance(model, Conditioned):
        solver = model.solver if solver == "auto" else solver

        def forces_of(rigid: Conditioned) -> dict[str, float]:
            return _forces_at_start(rigid, inputs, initial, parameters)

        model, initial = begun_model(model, initial, parameters, inputs, forces_of), None
    described = as_model(model)
    given = described.experiment
    tolerance = _first(
        None if rtol is None else _number(rtol, DIMENSIONLESS, "the relative tolerance"), given.rtol, DEFAULT_RTOL
    )
    ready = set_up(
        described, until=until, inputs=inputs, initial=initial, parameters=parameters, mode=mode, rtol=tolerance
    )
    problem = Problem(
        ready.numeric,
        ready.until,
        y0=dict(ready.start),
        times=_times(times, samples, ready),
        solver=solver,
        rtol=tolerance,
        atol=_absolute(atol) if atol is not None else given.atol,
        max_step=_longest_step(max_step, ready),
        step=None if step is None else value_of(step, SECOND, "step"),
        inputs=dict(ready.inputs),
        rows_at_changes=times is None and samples is None,
    )
    run_of(ready, problem, _nothing(ready)).in_units(units)
    if start == "steady":
        ready, problem = _from_rest(ready, problem, parameters, inputs, initial, mode)
    run = run_problem(ready, problem, tuple(outputs), progress).in_units(units)
    run = replace(run, described=None if form is None else form.found.causal.graph, removed=removed)
    return _finished(weighed(run, described if form is None else form.base), on_failure)


def _number(value: Quantity, wanted: Dimension | None, subject: str) -> float:
    """A number as it is, for the solvers to judge; a text or a quantity in SI units."""
    return value if isinstance(value, float | int) else value_of(value, wanted, subject)


def _absolute(given: Mapping[str, Quantity] | Quantity) -> float | dict[str, float]:
    if not isinstance(given, Mapping):
        return _number(given, None, "the absolute tolerance")
    return {name: _number(value, None, f"the absolute tolerance of {name}") for name, value in given.items()}


def _forces_at_start(
    rigid: Conditioned,
    inputs: Mapping[str, Course] | None,
    initial: Mapping[str, Quantity] | None,
    parameters: Mapping[str, Quantity] | None,
) -> dict[str, float]:
    """What the constraints of a rigid model carry in the first instant; nothing where it does not start."""
    try:
        run = simulate(
            rigid,
            INSTANT,
            inputs=inputs,
            initial=initial,
            parameters=parameters,
            samples=1,
            progress=False,
            on_failure="return",
        )
    except TellegenError:
        return {}  # the elastic model may start all the same
    return {name: float(run.values(name)[0]) for name in rigid.forces} if len(run.t) else {}


def _from_rest(
    ready: Setup,
    problem: Problem,
    parameters: Mapping[str, Quantity] | None,
    inputs: Mapping[str, Course] | None,
    initial: Mapping[str, Quantity] | None,
    mode: Mapping[str, str] | None,
) -> tuple[Setup, Problem]:
    """The problem that begins at the equilibrium under the inputs at t = 0, in the modes that agree with it."""
    if not (ready.graph.switching or has_memory(ready.numeric)):
        return ready, replace(problem, y0=steady_state(problem).y)
    given = {"parameters": parameters, "inputs": inputs, "initial": initial, "mode": mode}
    found = settle(ready.model, 0.0, given)
    numeric, causal = found.ready.numeric, found.ready.causal
    start = {name: v for name, v in found.values().items() if ready.graph.switching or name in numeric.places}
    settled = replace(problem, model=numeric, y0=start, before=found.before())
    return replace(ready, numeric=numeric, causal=causal), settled


def run_problem(
    ready: Setup, problem: Problem, shown: tuple[str, ...] = (), progress: Progress | bool | None = False
) -> Run:
    """The run of a problem that was set up."""
    made = _watched(ready, problem, progress)
    made = replace(made, setup_s=made.setup_s + ready.seconds)
    if made.status == "failed":
        made = replace(made, finding=function_finding(ready.graph) or made.finding)
    run = run_of(ready, problem, made, shown)
    if ready.model.closures:
        run = judged(run, ready.model.closures)
    return run.in_units({name: unit for name, unit in ready.model.experiment.units.items() if name in run})


def run_of(ready: Setup, problem: Problem, made: Trajectory, shown: tuple[str, ...] = ()) -> Run:
    """A trajectory with the names of its model."""

    def again(times: Array) -> Trajectory:
        return integrate_graph(ready.graph, replace(problem, times=times))

    return Run(
        ready.model.name,
        made,
        ready.graph,
        ready.parameters,
        ready.inputs,
        shown or ready.model.experiment.outputs,
        again,
        (*ready.doubts, *ready.causal.findings, *ready.numeric.findings, *ready.numeric.later_findings),
        tuple(ready.model.signals),
    )


def _nothing(ready: Setup) -> Trajectory:
    """A trajectory before its first row: it knows its variables."""
    empty = np.zeros((0, ready.numeric.size))
    return Trajectory(np.zeros(0), empty, empty, (Segment(0, ready.numeric),), "", "")


def _watched(ready: Setup, problem: Problem, progress: Progress | bool | None) -> Trajectory:
    if callable(progress):
        return integrate_graph(ready.graph, problem, Watch(progress))
    if progress is False or not (progress or is_watched()):
        return integrate_graph(ready.graph, problem)
    line = ProgressLine(problem.model.name, problem.until)
    try:
        return integrate_graph(ready.graph, problem, Watch(line, steps=line.count))
    finally:
        line.close()


def _finished(run: Run, on_failure: OnFailure) -> Run:
    if run.status == "failed" and on_failure == "raise":
        assert run.finding is not None, "a run that fails says why"
        error = SimulationError(run.finding)
        error.run = run
        raise error
    return run


def _first(*values: float | None) -> float:
    """The first that is given."""
    return next(value for value in values if value is not None)


def _times(times: npt.ArrayLike | None, samples: int | None, ready: Setup) -> Array | int:
    if times is not None:
        return _numbers(times)
    if samples is None:
        return default_rows(ready.graph, ready.parameters, ready.until, ready.numeric.size)
    if not isinstance(samples, int | float | np.integer) or not 1 <= samples < np.inf or samples != int(samples):
        raise rules.BAD_SETTING.error(f"samples is {samples}", fix="give a positive whole number")
    return int(samples) + 1


def _longest_step(asked: Quantity | None, ready: Setup) -> float:
    """The longest step that is asked for; else one that misses no change of an input on which a mode depends."""
    if asked is not None:
        return value_of(asked, SECOND, "max_step")
    return longest_step(ready.graph, ready.parameters, ready.until)


def _numbers(times: npt.ArrayLike) -> Array:
    try:
        return np.asarray(times, dtype=float)
    except (TypeError, ValueError):
        raise rules.BAD_SETTING.error("the times of the rows are not numbers", fix="give them in s: [0, 0.1]") from None


def _check_word(word: str, known: Sequence[str], subject: str) -> None:
    if word not in known:
        fix = did_you_mean(word, known) or f"choose one of {listing(known)}"
        raise rules.BAD_CHOICE.error(f"'{word}' is not a choice of {subject}", fix=fix)
