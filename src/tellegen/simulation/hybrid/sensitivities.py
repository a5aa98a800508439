"""Sensitivities through modes: the way of a run is gone again, and at every change of mode they are handed over, too.

Where the mode changes at tau(p), the state is handed over by x+ = G(x-, p), and with the rates f- and f+ on both sides

    s+ = dG/dx (s- + f- dtau/dp) + dG/dp - f+ dtau/dp.

G is the handover itself, impacts included, so its derivative is taken by central differences of that, the modes kept.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final, final

import numpy as np

from tellegen.compiler.context import Array
from tellegen.compiler.numeric_model import EventFunction
from tellegen.core.errors import SimulationError
from tellegen.graph import PowerGraph
from tellegen.simulation import sensitivities, sensitivity_jumps
from tellegen.simulation.hybrid.account import ModeChange, ModeChangeLog
from tellegen.simulation.hybrid.handover import hand_over, repeated_impact
from tellegen.simulation.hybrid.integration import EVENT_STEPS, integrate_modes
from tellegen.simulation.hybrid.mode_models import HybridState, Mode, ModeModel, ModeModels, starting_state
from tellegen.simulation.integration import settings_of
from tellegen.simulation.problem import Problem
from tellegen.simulation.solvers.choice import choose
from tellegen.simulation.solvers.stretch import RunRows, StatePoint

Starts = Callable[[str, float], Mapping[str, float]]
"""The initial values that are given, where a parameter has another value."""

SIDES: Final = (1.0, -1.0)


def integrate_mode_sensitivities(
    graph: PowerGraph,
    problem: Problem,
    parameters: Sequence[str],
    starts: Starts,
    moving: sensitivity_jumps.ParameterDependentBreaks,
    delays: sensitivities.DelaySlopes,
) -> list[sensitivities.SensitivityRows]:
    """The rows of a run through modes with their sensitivities: one part for each stretch in one mode that has rows.

    `starts` tells the initial values at another value of a parameter.

    Raises: SimulationError as the run does, or (S175) where an event only grazes its limit.
    """
    diary = ModeChangeLog()
    # First the run itself, for the order of modes and instants; then along the same way with slopes.
    made = integrate_modes(graph, replace(problem, rows_at_changes=False), diary=diary)
    if made.status != "finished":
        assert made.finding is not None, "a run that ends early says why"
        raise SimulationError(made.finding)
    return _ModeSlopes(diary, problem, parameters, moving, delays).parts(starts)


@final
class _ModeSlopes:
    """Goes the way of a diary again."""

    def __init__(
        self,
        diary: ModeChangeLog,
        problem: Problem,
        parameters: Sequence[str],
        moving: sensitivity_jumps.ParameterDependentBreaks,
        delays: sensitivities.DelaySlopes,
    ) -> None:
        assert diary.models is not None, "the run has begun"
        self.diary, self.problem, self.delays = diary, problem, delays
        self.parameters = parameters
        self.models: ModeModels = diary.models
        values = self.models.storages.parameters
        self.steps = [sensitivity_jumps.difference_step(values[name]) for name in parameters]
        # A little more and a little less of each parameter: the handover is differentiated as it is, not by a second
        # formula.
        self.beside = {
            (k, sign): self.models.moved(name, values[name] + sign * self.steps[k])
            for k, name in enumerate(parameters)
            for sign in SIDES
        }
        self.times = problem.output_times()
        self.advance = sensitivities.SensitivityIntegration(problem, moving)
        self.wide: dict[Mode, sensitivities.SensitivityModel] = {}
        self.found: list[sensitivities.SensitivityRows] = []

    def parts(self, starts: Starts) -> list[sensitivities.SensitivityRows]:
        """All rows."""
        diary = self.diary
        assert diary.first is not None, "the run has begun"
        model, at, memory = diary.first.model, diary.first.standing, diary.memory
        slopes = self._first_slopes(starts, model)
        held = self._first_held(model, at, slopes)
        for change in diary.changes:
            left, held = self._stretch(model, at, slopes, held, memory, change.left.t)
            # What is delayed has jumped with the mode.
            if change.changed and (past := self._wide(model).past) is not None:
                past.mark_break()
            slopes = self._handed_over(change, left, held)
            model, at, memory = change.entered.model, change.entered.standing, change.memory
        self._stretch(model, at, slopes, held, memory, self.problem.until)
        return self.found

    # -- one stretch -----------------------------------------------------------------------------------------------------------

    def _stretch(
        self, model: ModeModel, at: StatePoint, slopes: Array, held: Array, memory: Mapping[str, float], until: float
    ) -> tuple[Array, Array]:
        """The sensitivities of variables and of what is held at the end of a stretch, by parameter."""
        # Several changes in one instant: nothing passes between them.
        if until <= at.t:
            return slopes, held
        wide = self._wide(model)
        if wide.past is not None:
            wide.past.follow(model.model)
        model.context.memory[: len(model.model.memory)] = [memory[name] for name in model.model.memory]
        wide.held[:] = held
        start = wide.begin(at, slopes)
        done = sum(len(part.t) for part in self.found)
        # A row at a change belongs to the stretch before it; of the last stretch all that are left.
        last = np.searchsorted(self.times, until, "right") if until < self.problem.until else len(self.times)
        rows = RunRows.at(self.times[done:last], wide.prepared.width)
        choice = sensitivities.solver_with_sensitivities(
            choose(model.model, self.problem.solver, model.context, at, self.problem.until)
        )
        first_memory, first_slopes = model.context.memory[: len(model.model.memory)].copy(), wide.held.copy()
        ends, _ = self.advance.through(wide, choice, rows, start, until)
        if rows.done:
            self.found.append(sensitivities.sensitivity_rows(wide, rows, rows.memory(first_memory), first_slopes))
        return sensitivities.split_sensitivities(wide, ends[-1].standing)[1], wide.held.copy()

    def _wide(self, model: ModeModel) -> sensitivities.SensitivityModel:
        if model.mode not in self.wide:
            problem = self.problem
            settings = replace(
                settings_of(replace(problem, atol=None)),
                atol=np.array([problem.absolute_tolerance(name) for name in model.model.names]),
                max_step=min(problem.max_step, (problem.until - problem.t0) / EVENT_STEPS),
                keep_books=False,
            )
            numbers = sensitivities.parameter_numbers(model.model, self.parameters)
            made = sensitivities.SensitivityModel(model.prepared, model.context, numbers, settings, through_modes=True)
            made.delay(self.delays, next((known.past for known in self.wide.values()), None))
            self.wide[model.mode] = made
        return self.wide[model.mode]

    # -- the start -------------------------------------------------------------------------------------------------------------

    def _first_slopes(self, starts: Starts, model: ModeModel) -> Array:
        """The sensitivities in the first mode: of what is given, handed over from the mode that the graph is in."""
        found = np.zeros((len(self.parameters), model.model.size))
        for (k, sign), models in self.beside.items():
            name, t0 = self.parameters[k], self.problem.t0
            given = starts(name, models.storages.parameters[name])
            y = _entered(models, model.mode, starting_state(models, given, t0, model.mode), t0)
            found[k] += y / (2.0 * sign * self.steps[k])
        return found

    def _first_held(self, model: ModeModel, at: StatePoint, slopes: Array) -> Array:
        """d(memory)/dp after the first samples; the context still holds what they took."""
        taken = model.context.memory.copy()
        numbers = sensitivities.parameter_numbers(model.model, self.parameters)
        if not model.model.sample_groups:
            return np.zeros((len(numbers), max(len(model.model.memory), 1)))
        model.context.memory[: len(model.model.memory)] = model.model.initial_memory
        held = sensitivity_jumps.first_sample_slopes(model.model, model.context, at, numbers, slopes.T)
        model.context.memory[:] = taken
        return held

    # -- from one mode to the next ---------------------------------------------------------------------------------------------

    def _handed_over(self, change: ModeChange, slopes: Array, held: Array) -> Array:
        """The sensitivities in the mode that is entered."""
        by = self._instant(change, slopes, held)
        before, left, entered = change.before, change.left, change.entered
        if change.changed:
            self._expect_returns(before, left.t, by)
        size = before.model.size
        y, yp = left.y[:size], left.yp[:size]
        found = np.zeros((len(self.parameters), entered.model.model.size))
        for (k, sign), models in self.beside.items():
            step = sign * self.steps[k]
            t = left.t + step * by[k]
            wide = self._wide(before)
            for mode in (before.mode, entered.model.mode):
                _model(models, mode).context.share_past(wide.context)
            with wide.moved_past(k, step):
                # At the instant as it would have moved: the states there are those of the old mode, a little earlier or
                # later.
                state = self._state(models, change, t, y + step * (slopes[k] + by[k] * yp), yp, step * held[k])
                for impact in change.impacts:
                    outputs = repeated_impact(models, state, impact, before.mode, t)
                    state = replace(state, outputs=outputs)
                found[k] += _entered(models, entered.model.mode, state, t) / (2.0 * step)
        # Back to the instant of the run itself, along the motion of the new mode.
        return found - np.outer(by, entered.standing.yp[: entered.model.model.size])

    def _expect_returns(self, model: ModeModel, t: float, by: Array) -> None:
        """What jumps at an instant jumps again where it comes back through delays."""
        nothing = np.zeros(len(by)), np.zeros(len(by))
        delays = [(delay.by, np.asarray(self.delays.get(delay.name, nothing)[0])) for delay in model.model.delays]
        if delays:
            self.advance = replace(self.advance, moving=self.advance.moving.returning(t, by, delays))

    def _state(self, models: ModeModels, change: ModeChange, t: float, y: Array, yp: Array, by: Array) -> HybridState:
        """What is carried on from a point beside the one where the mode ended."""
        model = _model(models, change.before.mode)
        places = len(model.model.memory)
        model.context.memory[:places] = [change.memory[name] for name in model.model.memory]
        model.context.memory[:places] += by[:places]
        there = sensitivity_jumps.consistent_point(model.prepared, model.context, t, y, yp)
        return model.state(t, there.y, there.yp)

    def _instant(self, change: ModeChange, slopes: Array, held: Array) -> Array:
        """How the instant of a change moves with each parameter."""
        t, before = change.left.t, change.before
        if (by := self.advance.moving.slopes(t)) is not None:
            return by
        events = [*change.hits, *self._behind(change)]
        # A known instant does not move, and neither does one at which nothing changed.
        if not change.changed or not events or self._is_scheduled(before, t):
            return np.zeros(len(self.parameters))
        size = before.model.size
        at = StatePoint(t, change.left.y[:size], change.left.yp[:size])
        event = before.model.events.index(events[0])
        return sensitivity_jumps.event_time_slopes(self._wide(before), at, slopes, held, event, self.advance.aside)

    def _behind(self, change: ModeChange) -> list[EventFunction]:
        """The event functions of the elements that changed, where none was seen to pass zero."""
        after = dict(zip(self.models.elements, change.entered.model.mode, strict=True))
        now = dict(zip(self.models.elements, change.before.mode, strict=True))
        return [
            event
            for event in change.before.model.events
            if event.kind == "transition" and after[event.element] == event.to != now[event.element]
        ]

    def _is_scheduled(self, model: ModeModel, t: float) -> bool:
        """Whether the instant is a known one: a break or a sampling instant."""
        near = sensitivity_jumps.NEAR * abs(t)
        if len(model.model.break_times(t + near, t - near)):
            return True
        return any(
            abs((t - group.offset) / group.period - round((t - group.offset) / group.period)) * group.period <= near
            for group in model.model.sample_groups
            if not group.is_latch
        )


def _entered(models: ModeModels, mode: Mode, state: HybridState, t: float) -> Array:
    """y after a state is handed over to a mode."""
    model = _model(models, mode)
    model.remember(state)
    handover = hand_over(model, models.storages, state, t)
    return model.compose(state, handover.outputs)


def _model(models: ModeModels, mode: Mode) -> ModeModel:
    model = models.get(mode)
    assert isinstance(model, ModeModel), "the run was in this mode"
    return model
