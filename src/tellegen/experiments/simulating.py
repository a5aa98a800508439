"""`simulate`: from a model to a run in one call, with a line that shows how far it is once it takes long enough to wonder.

Failed runs of mechanisms say which position or motion is to blame.
"""

import html
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Literal, final, get_args

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

from tellegen.causality import assign_causality
from tellegen.conditioning.forms import Conditioned
from tellegen.core.errors import SimulationError, TellegenError
from tellegen.core.names import did_you_mean, listing
from tellegen.core.units import DIMENSIONLESS, Dimension
from tellegen.equations.derivation import derive_equations
from tellegen.experiments import rules
from tellegen.experiments.input_signals import InputSignal, function_finding
from tellegen.experiments.quantities import SECOND, Quantity, value_of
from tellegen.experiments.setup import Setup, default_rows, longest_input_step, run_of_trajectory, set_up
from tellegen.experiments.several_solutions import with_several_solutions
from tellegen.experiments.steady_state import at_rest
from tellegen.experiments.transformed_models import RemovedVariables, model_at_start
from tellegen.expressions.elimination import with_definitions
from tellegen.graph import lower
from tellegen.model.model import Closure, Model, Start
from tellegen.notations.loading import AnyModel, as_model
from tellegen.notations.mechanism.rules import WEIGHTLESS
from tellegen.reduction import Reduction
from tellegen.results.run import Run, check_outputs
from tellegen.simulation.hybrid.integration import integrate_graph
from tellegen.simulation.problem import Problem
from tellegen.simulation.solvers.library import build_solvers_ahead
from tellegen.simulation.solvers.stretch import Watch
from tellegen.simulation.trajectory import Segment, Trajectory

PAUSE_S: Final = 0.2
"""A page is not written more often than this."""


PATIENCE_S = 0.5
"""Nothing is shown of shorter runs."""

Progress = Callable[[float], None]
"""Told the simulated time that was reached."""


@final
class ProgressLine:
    """Shows the simulated time, the steps made, the share done and how long it will still take; gone at the end.

    On stderr, or below the cell of a notebook.
    """

    def __init__(self, name: str, until: float) -> None:
        self.name, self.until = name, until
        self.began = time.perf_counter()
        self._in_notebook = _in_notebook()
        self._page: Any = None
        self._shown = -PAUSE_S
        self._bar: Any = None
        self._task: Any = None
        self._steps = 0

    def count(self, steps: int) -> None:
        """Show so many steps with the next time reached."""
        self._steps = steps

    def __call__(self, reached: float) -> None:
        """Show the time reached."""
        now = time.perf_counter()
        if self._bar is None and now - self.began < PATIENCE_S:
            return
        steps = f", {self._steps} steps" if self._steps else ""
        words = f"t = {reached:.4g} of {self.until:g} s{steps}"
        if not self._in_notebook:
            self._open()
            self._bar.update(self._task, completed=reached, reached=words)
        elif now - self._shown >= PAUSE_S:
            self._shown = now
            share = min(max(reached / self.until, 0.0), 1.0) if self.until > 0.0 else 0.0
            self._write(f"{self.name} {share:.0%}, {words}{_time_left(share, now - self.began)}")

    def close(self) -> None:
        """Take the line away."""
        if self._page is not None:
            self._write("")
        if self._bar is not None:
            self._bar.stop()

    def _write(self, text: str) -> None:
        from IPython.display import HTML, display  # noqa: PLC0415  there only in a notebook

        shown = HTML(f"<pre>{html.escape(text)}</pre>" if text else "")  # type: ignore[no-untyped-call]
        if self._page is None:
            self._page = display(shown, display_id=True)  # type: ignore[no-untyped-call]
        else:
            self._page.update(shown)

    def _open(self) -> None:
        if self._bar is not None:
            return
        from rich.console import Console  # noqa: PLC0415  not needed by the many runs that are over at once
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn  # noqa: PLC0415

        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TextColumn("{task.fields[reached]}"),
        )
        self._bar = Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True)
        self._task = self._bar.add_task(self.name, total=self.until, reached="")
        self._bar.start()


def _time_left(share: float, passed: float) -> str:
    if not 0.0 < share < 1.0:
        return ""
    seconds = passed * (1.0 - share) / share
    return f", {int(seconds // 60)}:{int(seconds % 60):02} left"


def is_watched() -> bool:
    """Whether somebody looks at stderr: a terminal, or a notebook."""
    return sys.stderr.isatty() or _in_notebook()


def _in_notebook() -> bool:
    return "ipykernel" in sys.modules


MARGIN = ".margin"
"""The signal of a loop that tells how far it is from a singular position: the sine between the directions that it solves for."""

STUCK = 1e-6
"""No motion comes that close to a singular position, but one that ends in it."""

NEAR = 0.05
"""A run that failed with a margin below this failed because of the loop."""


def _with_singular_position(run: Run, closures: Iterable[Closure]) -> Run:
    """The run, which failed where the margin of a loop changed its sign or vanished on the way; rows are kept."""
    met = min(_met(run, closures), default=None)
    if met is None:
        return run
    t, name, solves = met
    finding = rules.SINGULAR_POSITION.finding(
        f"at t = {t:.6g} s the loop '{name}' is in a singular position: it no longer decides {listing(solves)}",
        where=name,
        fix="stay away from this position, let another coordinate be independent, or make a joint of the loop elastic",
        members=(name, *solves),
    )
    return replace(run, trajectory=replace(run.trajectory, status="failed", finding=finding))


def _met(run: Run, closures: Iterable[Closure]) -> Iterator[tuple[float, str, tuple[str, ...]]]:
    for closure in closures:
        if closure.name + MARGIN not in run.described_signals or not run.t.size:
            continue
        margin = run.values(closure.name + MARGIN)
        # A solver may step over a singular position without noticing; the sign of the margin has changed behind it.
        turned = np.flatnonzero((np.sign(margin) != np.sign(margin[0])) | (np.abs(margin) < STUCK))
        if turned.size:
            yield float(run.t[turned[0]]), closure.name, closure.solves
        elif run.status == "failed" and abs(margin[-1]) < NEAR:
            yield float(run.t[-1]), closure.name, closure.solves


NEARLY_NONE = 1e-5
"""A motion has no inertia where it has less than this share of what its speeds have one by one."""

MOST = 30
"""With more coordinates the mass matrix takes too long for a message."""

PART = 0.05
"""Speeds that are a smaller part of a motion are not named."""


def _with_missing_inertia(run: Run, model: Model) -> Run:
    """The run, whose message names the motion without inertia where a mechanism failed for want of it; rows are kept.

    `model` is the one that was described, before its storages were conditioned.
    """
    if run.status != "failed" or not run.t.size or not 0 < len(model.displacements) <= MOST:
        return run
    try:
        motion = _without_inertia(run, model)
    except (TellegenError, ArithmeticError, KeyError, np.linalg.LinAlgError):
        return run  # the message of the solver says what there is to say
    if not motion:
        return run
    speeds = ", ".join(f"{name} = {part:.2g}" for name, part in motion.items())
    finding = WEIGHTLESS.finding(
        f"at t = {run.t[-1]:.6g} s nothing has inertia for a motion with {speeds}: those that move have no mass there",
        where=next(iter(motion)),
        fix="give a body that it moves a mass or an inertia, or stay away from this position",
        members=tuple(motion),
    )
    return replace(run, trajectory=replace(run.trajectory, finding=finding))


def _without_inertia(run: Run, model: Model) -> dict[str, float]:
    """The motion with the least inertia at the last row, by its speeds; empty where it has some."""
    causal = assign_causality(lower(model))
    system = derive_equations(causal)
    moving = {**causal.graph.position_dependent, **system.where}
    values = {**run.parameters, **{name: float(run.values(name)[-1]) for name in system.displacements}}
    rows = [[with_definitions(entry, moving).evaluate(values) for entry in row] for row in system.matrices["L"]]
    return _lightest(np.array(rows, dtype=float), system.states)


def _lightest(mass: NDArray[np.float64], names: tuple[str, ...]) -> dict[str, float]:
    # Scaled by what each speed has for itself, because angles and lengths have other units.
    own = np.sqrt(np.diag(mass))
    if not own.size or not own.all():
        return {}
    shares, motions = np.linalg.eigh(mass / np.outer(own, own))
    if shares[0] > NEARLY_NONE:
        return {}
    motion = motions[:, 0] / own
    # The largest speed counts as one, so that the message can be read.
    motion = motion / motion[np.argmax(np.abs(motion))]
    return {name: float(part) for name, part in zip(names, motion, strict=True) if abs(part) > PART}


Array = npt.NDArray[np.float64]
OnFailure = Literal["raise", "return"]

DEFAULT_RTOL = 1e-6
INSTANT = 1e-12
"""A run as long as this, in s, shows what holds at its start."""


def simulate(
    model: AnyModel,
    until: Quantity | None = None,
    *,
    inputs: Mapping[str, InputSignal] | None = None,
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
    start: Start | None = None,
    mode: Mapping[str, str] | None = None,
    progress: Progress | Watch | bool | None = None,
    on_failure: OnFailure = "raise",
) -> Run:
    """Simulate a model, and give back what happened.

    What is not given is taken from the experiment of the model. `inputs` are numbers, texts such as "step(24 V)", shapes such as
    `tellegen.step(24)`, quantities of pint, or Python functions of time, which are slow. Numbers are in SI units.
    `outputs` are variables that are shown, plotted and saved beside the others: any that `run.values` knows.
    `times` are the times of the rows, or `samples` how many even steps they make; without either there are 1000, or twenty for
    each period of the fastest input, and rows on both sides of every change of mode. `units` are those in which variables are
    shown, as by `Run.in_units`; they are checked before anything is simulated. `start="steady"` begins at the equilibrium under
    the inputs at t = 0, "initial" at the initial values. `step` is for solvers that keep theirs. `mode` gives the first mode of
    switching elements. The run of a reduction also has the variables that it removed, where a formula gives them. Ctrl-C ends the
    run and keeps what is finished: its status is then "cancelled". `progress` is told the time reached; a `Watch` can cancel, too.

    Raises: SimulationError when the run cannot start or ends early; its `run` then holds what was finished, unless `on_failure` is
    "return", which gives that back. Errors of other layers for a model that cannot be compiled.
    """
    # Solvers are compiled beside the work that follows, so that they are ready when it is done.
    build_solvers_ahead()
    if start is not None:
        _check_word(start, get_args(Start), "start")
    _check_word(on_failure, ("raise", "return"), "on_failure")
    form = model if isinstance(model, Conditioned) else None
    removed = RemovedVariables(model) if isinstance(model, Reduction) else None
    if isinstance(model, Conditioned):
        solver = model.solver if solver == "auto" else solver

        asked = {"inputs": inputs, "initial": initial, "parameters": parameters}
        model = model_at_start(model, initial, parameters, inputs, lambda rigid: _forces_at_start(rigid, asked))
        initial = None
    described = as_model(model)
    given = described.experiment
    tolerance = _first(
        None if rtol is None else _number(rtol, DIMENSIONLESS, "the relative tolerance"), given.rtol, DEFAULT_RTOL
    )
    settings: dict[str, Any] = {"inputs": inputs, "initial": initial, "parameters": parameters, "mode": mode}
    ready = set_up(described, until=until, rtol=tolerance, **settings)
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
    # A wrong unit or name is found before the run, not after an hour of it.
    before = replace(run_of_trajectory(ready, problem, _nothing(ready), tuple(outputs)), removed=removed)
    check_outputs(before.in_units(units))
    if (start or given.start) == "steady":
        ready = at_rest(ready, settings)
        problem = replace(problem, model=ready.numeric, y0=dict(ready.start), before=ready.before)
    run = run_problem(ready, problem, tuple(outputs), progress).in_units(units)
    run = replace(run, described=None if form is None else form.found.causal.graph, removed=removed)
    return _finished(_with_missing_inertia(run, described if form is None else form.base), on_failure)


def _number(value: Quantity, wanted: Dimension | None, subject: str) -> float:
    """A number as it is, for the solvers to judge; a text or a quantity in SI units."""
    return value if isinstance(value, float | int) else value_of(value, wanted, subject)


def _absolute(given: Mapping[str, Quantity] | Quantity) -> float | dict[str, float]:
    if not isinstance(given, Mapping):
        return _number(given, None, "the absolute tolerance")
    return {name: _number(value, None, f"the absolute tolerance of {name}") for name, value in given.items()}


def _forces_at_start(rigid: Conditioned, settings: Mapping[str, Any]) -> dict[str, float]:
    """What the constraints of a rigid model carry in the first instant; nothing where it does not start."""
    try:
        run = simulate(rigid, INSTANT, **settings, samples=1, progress=False, on_failure="return")
    except TellegenError:
        return {}  # the elastic model may start all the same
    return {name: float(run.values(name)[0]) for name in rigid.forces} if len(run.t) else {}


def run_problem(
    ready: Setup, problem: Problem, shown: tuple[str, ...] = (), progress: Progress | Watch | bool | None = False
) -> Run:
    """The run of a problem that was set up."""
    made = _watched(ready, problem, progress)
    made = replace(made, setup_s=made.setup_s + ready.seconds)
    # A function that gave no number is the cause; what the solver says of it is only the consequence.
    if made.status == "failed":
        made = replace(made, finding=function_finding(ready.graph) or made.finding)
    run = run_of_trajectory(ready, problem, made, shown)
    if ready.model.closures:
        run = _with_singular_position(run, ready.model.closures)
    run = with_several_solutions(run, problem)
    return run.in_units({name: unit for name, unit in ready.model.experiment.units.items() if name in run})


def _nothing(ready: Setup) -> Trajectory:
    """A trajectory before its first row: it knows its variables."""
    empty = np.zeros((0, ready.numeric.size))
    return Trajectory(np.zeros(0), empty, empty, (Segment(0, ready.numeric),), "", "")


def _watched(ready: Setup, problem: Problem, progress: Progress | Watch | bool | None) -> Trajectory:
    if isinstance(progress, Watch):
        return integrate_graph(ready.graph, problem, progress)
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
    # Zero is a value that may be given.
    return next(value for value in values if value is not None)


def _times(times: npt.ArrayLike | None, samples: int | None, ready: Setup) -> Array | int:
    if times is not None:
        return _numbers(times)
    if samples is None:
        return default_rows(ready.graph, ready.parameters, ready.until, ready.numeric.size)
    if not isinstance(samples, int | float | np.integer) or not 1 <= samples < np.inf or samples != int(samples):
        raise rules.BAD_SETTING.error(f"samples is {samples}", fix="give a positive whole number")
    # The rows of the times, of y and of yp, before anything is computed from them.
    most = int(_memory_bytes() / 2 / (8 * (1 + 2 * ready.numeric.size)))
    if samples >= most:
        what = f"{int(samples)} samples of {ready.numeric.size} variables do not fit into the memory of this machine"
        raise rules.BAD_SETTING.error(what, fix=f"ask for at most {max(most - 1, 1)} samples")
    return int(samples) + 1


def _memory_bytes() -> float:
    """How much memory the machine has; where it does not tell, what small ones have."""
    try:
        return float(os.sysconf("SC_PHYS_PAGES")) * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # Windows has no sysconf
        return 8.0 * 2**30


def _longest_step(asked: Quantity | None, ready: Setup) -> float:
    """The longest step that is asked for; else one that misses no change of an input on which a mode depends."""
    if asked is not None:
        return value_of(asked, SECOND, "max_step")
    return longest_input_step(ready.graph, ready.parameters, ready.until)


def _numbers(times: npt.ArrayLike) -> Array:
    try:
        return np.asarray(times, dtype=float)
    except (TypeError, ValueError):
        raise rules.BAD_SETTING.error("the times of the rows are not numbers", fix="give them in s: [0, 0.1]") from None


def _check_word(word: str, known: Sequence[str], subject: str) -> None:
    if word not in known:
        fix = did_you_mean(word, known) or f"choose one of {listing(known)}"
        raise rules.BAD_CHOICE.error(f"'{word}' is not a choice of {subject}", fix=fix)
