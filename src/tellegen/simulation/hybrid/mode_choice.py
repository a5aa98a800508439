"""Which mode follows: the nearest one that agrees with itself where it begins.

Modes are tried in the order of how many elements change. A mode agrees when no guard of it is positive just after its start; one
in which no storage has to jump is preferred to one that needs an impulse. Which modes are tried next follows from what is wrong
with the last one: guards that are positive, ideal elements that would stop a current, sources that a mode would short.
"""

import heapq
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import Final, final

import numpy as np

from tellegen.compiler.context import Array, ModelContext
from tellegen.compiler.numeric_model import NumericModel
from tellegen.core.errors import Finding, TellegenError
from tellegen.core.names import listing
from tellegen.graph import ResistiveLaw, SwitchingLaw
from tellegen.simulation import rules
from tellegen.simulation.hybrid.handover import Handover, hand_over
from tellegen.simulation.hybrid.mode_models import HybridState, Mode, ModeModel, ModeModels
from tellegen.simulation.solvers.stretch import SolverSettings, StatePoint
from tellegen.simulation.starting import consistent_start


@final
@dataclass(frozen=True)
class ModeStart:
    """A consistent start, and the event functions there and a moment later, as plain numbers: one by one they are read faster."""

    standing: StatePoint
    before: list[float]
    after: list[float]


def mode_start(model: ModeModel, settings: SolverSettings, t: float, y: Array, probe: float) -> ModeStart:
    """The beginning of a mode from its states, which are kept.

    Raises: SimulationError where it has no consistent start; FloatingPointError where a guard has no value.
    """
    if model.model.explicit:
        lookout: _Lookout = model.plans.get("lookout") or model.plans.setdefault(
            "lookout", _Lookout(model.model, model.context)
        )
        # The quick way; where something has no value, the long one raises the error that says what.
        if (found := lookout.look(t, y, probe)) is not None:
            return found
    start = consistent_start(model.prepared, model.context, settings, t, y)
    # A moment later along the motion: there a guard that is zero now shows where it goes.
    later = consistent_start(
        model.prepared, model.context, settings, t + probe, _ahead(model.model, start, probe), start.yp
    )
    return ModeStart(start, _guards(model, start), _guards(model, later))


def guard_bands(model: ModeModel, settings: SolverSettings, at: StatePoint) -> Array:
    """By how much errors of the states that are within the tolerance move the event functions, at most."""
    numeric, moving = model.model, model.model.size - len(model.model.unknowns)
    here, bands = np.array(_guards(model, at)), np.zeros(len(numeric.events))
    for k in range(moving):
        y = at.y.copy()
        # One state at a time: effects of several add up at worst, and so they are added.
        y[k] += settings.atol[k] + settings.rtol * abs(y[k])
        moved = consistent_start(model.prepared, model.context, settings, at.t, y, at.yp)
        bands += np.abs(np.array(_guards(model, moved)) - here)
    return bands


def _ahead(model: NumericModel, at: StatePoint, probe: float) -> Array:
    """y a moment later; algebraic unknowns are solved for anyway."""
    y = at.y.copy()
    moving = model.size - len(model.unknowns)
    # One step of Euler: the way is so short that a better one would land in the same place.
    y[:moving] += probe * at.yp[:moving]
    return y


def _guards(model: ModeModel, at: StatePoint) -> list[float]:
    values: list[float] = model.model.event_values(at.t, at.y, at.yp, model.context).tolist()
    return values


@final
class _Lookout:
    """Functions of one explicit model tied to arrays that serve again and again: changes of mode come by the thousand."""

    def __init__(self, model: NumericModel, context: ModelContext) -> None:
        self._size, self._events = model.size, len(model.events)
        self._y, self._yp = np.zeros(max(model.size, 1)), np.zeros(max(model.size, 1))
        self._guards = np.zeros(max(self._events, 1))
        self._rates = model.prepared_call("rhs", self._y, self._yp, context=context)
        self._watch = model.prepared_call("events", self._y, self._yp, self._guards, context=context)

    def look(self, t: float, y: Array, probe: float) -> ModeStart | None:
        """The beginning, or None where something has no value: the long way round tells what."""
        here, rates, n = self._y, self._yp, self._size
        here[:n] = y
        if self._rates(t) or self._watch(t):
            return None
        start, before = StatePoint(t, y, rates[:n].copy()), self._guards[: self._events].tolist()
        here += probe * rates
        if self._rates(t + probe) or self._watch(t + probe):
            return None
        return ModeStart(start, before, self._guards[: self._events].tolist())


MOST_TRIED: Final = 512
MOST_COMBINATIONS: Final = 64
NOISE: Final = 1e-11
"""A guard that is positive by less than this share of its largest value yet is zero."""


@final
@dataclass(frozen=True)
class ModeTrial:
    """A mode with its start, and the transitions (element, mode) that it would take at once.

    `broken` tells that a guard is positive at the start already, and not only a moment later; `undecided` that a guard stays at
    zero, so that no solver would see it rise.
    """

    model: ModeModel
    standing: StatePoint
    handover: Handover
    smooth: bool
    violated: tuple[tuple[int, str], ...] = ()
    broken: bool = False
    undecided: bool = False
    against: int = 0
    """The events that speak against it, a bit for each."""


@final
class ModeChoice:
    """Finds the next mode. Remembers how large guards were, to tell zero from small."""

    def __init__(self, models: ModeModels, settings: Callable[[ModeModel], SolverSettings]) -> None:
        self.models = models
        self.settings = settings
        self._place = {name: k for k, name in enumerate(models.elements)}
        self.largest: dict[str, float] = {}
        self.scale = np.zeros(len(models.storages.ports))
        self.way: list[ModeTrial | Finding] = []
        """What was tried on the way to the last mode, where it was the first that agreed without an impulse; else nothing."""

    def next_mode(
        self, state: HybridState, now: Mode, t: float, probe: float, fired: frozenset[str] = frozenset()
    ) -> ModeTrial:
        """The mode to go on in from a state; `fired` are the names of the events that ended the last one.

        Raises: SimulationError (S130) when no mode agrees with itself.
        """
        # The largest so far: by that a jump of a storage is told from rounding.
        self.scale = np.maximum(self.scale, np.abs(state.outputs))
        impulsive: ModeTrial | None = None
        brief: ModeTrial | None = None
        last: Finding | None = None
        self.way = []
        for trial in self._candidates(state, now, t, probe, fired):
            self.way.append(trial)
            if isinstance(trial, Finding):
                last = last or trial
            elif not trial.violated:
                if trial.smooth:
                    # The first smooth one is the nearest: candidates come in the order of how much changes.
                    return trial
                # An impulse is taken only where no smooth mode is found.
                impulsive = impulsive or trial
            elif trial.smooth and not trial.broken and trial.model.mode != now:
                brief = brief or trial
        self.way = []
        if impulsive is not None:
            return impulsive
        stay = self._trial(now, state, t, probe, frozenset()) if fired else None
        if isinstance(stay, ModeTrial) and not stay.violated:  # a guard that only touched zero
            return stay
        if brief is not None:  # where modes send each other back, each of them lasts at least a moment
            return brief
        if (resting := self._resting(state, now, t, probe)) is not None:
            return resting
        raise self._stuck(now, t, last)

    def _resting(self, state: HybridState, now: Mode, t: float, probe: float) -> ModeTrial | None:
        """The present mode where only errors within the tolerance speak against it, to be looked at again soon.

        A circuit that begins at rest has guards that are nothing but such errors for a while.
        """
        trial = self._trial(now, state, t, probe, frozenset())
        if isinstance(trial, Finding) or not trial.smooth:
            return None
        model, at = trial.model, trial.standing
        events, settings = model.model.events, self.settings(model)
        bands = guard_bands(model, settings, at)
        guards = model.model.event_values(at.t, at.y, at.yp, model.context)
        above = [k for k, e in enumerate(events) if e.kind == "transition" and guards[k] > bands[k]]
        return None if above else replace(trial, violated=(), undecided=True)

    def _candidates(
        self, state: HybridState, now: Mode, t: float, probe: float, fired: frozenset[str]
    ) -> Iterator[ModeTrial | Finding]:
        """Trials: what the events ask for, then in the order of how much changes; where there are few, every other combination."""
        seen = {now}
        queue = [(0, 1, now)]
        if (asked := self._asked(now, fired)) != now:
            # First of all what the events ask for, all together: nearly always that is it.
            seen.add(asked)
            queue.insert(0, (0, 0, asked))
        while queue and len(seen) <= MOST_TRIED:
            _, _, mode = heapq.heappop(queue)
            # Events that fired count against the present mode only: in another one the guard may rightly stand at zero.
            trial = self._trial(mode, state, t, probe, fired if mode == now else frozenset())
            yield trial
            for other in self._neighbours(mode, trial):
                if other not in seen:
                    seen.add(other)
                    heapq.heappush(queue, (_distance(other, now), len(seen), other))
        words = [reachable(law, word) for law, word in zip(self.models.laws, now, strict=True)]
        # Being led by what is wrong may miss a way; where there are few combinations, none is left out.
        if prod(map(len, words)) <= MOST_COMBINATIONS:
            for mode in sorted(product(*words), key=lambda m: _distance(m, now)):
                if mode not in seen:
                    yield self._trial(mode, state, t, probe, frozenset())

    def _asked(self, now: Mode, fired: frozenset[str]) -> Mode:
        """The mode to which all events together lead."""
        model = self.models.get(now)
        if not fired or isinstance(model, Finding):
            return now
        return _changed(now, {self._place[e.element]: e.to for e in model.model.events if e.name in fired})

    def _neighbours(self, mode: Mode, trial: ModeTrial | Finding) -> Iterator[Mode]:
        if isinstance(trial, Finding):
            # A mode without a causality names the elements that conflict: one of these has to change.
            for name in trial.members:
                if name in self._place:
                    yield from self._others(mode, self._place[name])
            return
        # Together first: the diodes of a bridge change in pairs.
        if len(trial.violated) > 1:
            yield _changed(mode, dict(trial.violated))
        for element, word in trial.violated:
            yield _changed(mode, {element: word})
        if not trial.smooth:
            for element in self._holding(trial):
                yield from self._others(mode, element)

    def _others(self, mode: Mode, element: int) -> Iterator[Mode]:
        for word in reachable(self.models.laws[element], mode[element]):
            if word != mode[element]:
                yield _changed(mode, {element: word})

    def _holding(self, trial: ModeTrial) -> list[int]:
        """The elements whose ideal laws hold storages that would have to jump."""
        ports = trial.model.causal.graph.ports
        found: dict[int, None] = {}
        for d in trial.model.causal.dependent:
            if trial.handover.mismatch[self.models.storages.place(d.port)] != 0.0:
                for k in d.on:
                    law = ports[k].law
                    if isinstance(law, ResistiveLaw) and law.ideal and ports[k].element in self._place:
                        found[self._place[ports[k].element]] = None
        return list(found)

    # -- one mode --------------------------------------------------------------------------------------------------------------

    def _trial(
        self, mode: Mode, state: HybridState, t: float, probe: float, fired: frozenset[str]
    ) -> ModeTrial | Finding:
        model = self.models.get(mode)
        if isinstance(model, Finding):
            return model
        try:
            model.remember(state)
            handover = hand_over(model, self.models.storages, state, t)
            settings = self.settings(model)
            begun = mode_start(model, settings, t, model.compose(state, handover.outputs), probe)
        except TellegenError as error:
            return error.finding
        except FloatingPointError as problem:
            return rules.BAD_START.finding(
                f"at t = {t:g} s {problem}", where=model.model.name, members=self._names(mode)
            )
        smooth = handover.is_smooth(self._tolerance(settings))
        return self._judged(ModeTrial(model, begun.standing, handover, smooth), begun, fired)

    def _judged(self, trial: ModeTrial, begun: ModeStart, fired: frozenset[str]) -> ModeTrial:
        """The trial with what its guards say just after its start."""
        found, broken, undecided, against = list[tuple[int, str]](), False, False, 0
        events = zip(trial.model.model.events, begun.before, begun.after, strict=True)
        for k, (event, low, high) in enumerate(events):
            if event.kind != "transition":
                continue
            largest = max(self.largest.get(event.name, 0.0), abs(low), abs(high))
            self.largest[event.name] = largest
            # Zero within rounding, as measured by the largest value that this guard has had.
            if high > NOISE * largest or (event.name in fired and high > low):
                found.append((self._place[event.element], event.to))
                against |= 1 << k
            broken = broken or low > NOISE * largest
            undecided = undecided or abs(high) <= NOISE * largest
        return replace(trial, violated=tuple(found), broken=broken, undecided=undecided, against=against)

    def _tolerance(self, settings: SolverSettings) -> Array:
        """By how much the output of a storage may jump without being an impulse: the error that is allowed for it anyway."""
        return 10.0 * (settings.rtol * self.scale + max(settings.atol.tolist(), default=0.0))

    def _names(self, mode: Mode) -> list[str]:
        return [f"{name} ({word})" for name, word in zip(self.models.elements, mode, strict=True)]

    def _stuck(self, now: Mode, t: float, last: Finding | None) -> TellegenError:
        why = f"; {last.what}" if last is not None else ""
        return rules.NO_MODE.error(
            f"at t = {t:.6g} s no mode agrees with itself, coming from {listing(self._names(now))}{why}",
            where=self.models.graph.name,
            fix="give one of the ideal elements a resistance, or a storage beside it",
            members=self.models.elements,
        )


def reachable(law: SwitchingLaw, start: str) -> list[str]:
    """The modes that an element can come to from one of its modes, that one first: a switch that nobody commands stays."""
    found = [start]
    for word in found:
        found += [t.to for t in law.transitions.get(word, ()) if t.to not in found]
    return found


def _distance(one: Mode, two: Mode) -> int:
    return sum(a != b for a, b in zip(one, two, strict=True))


def _changed(mode: Mode, changes: dict[int, str]) -> Mode:
    return tuple(changes.get(k, word) for k, word in enumerate(mode))
