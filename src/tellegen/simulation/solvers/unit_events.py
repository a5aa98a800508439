"""Events of functional mock-up units: where one of them comes, the unit decides how its states go on, and the run restarts.

What they begin with is their decision, too: a description need not say where a state starts.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final, final

import numpy as np

from tellegen.compiler import rules
from tellegen.compiler.context import ModelContext
from tellegen.compiler.mockup_units import UnitHost
from tellegen.compiler.numeric_model import NumericModel
from tellegen.core.errors import TellegenError
from tellegen.model.mockup_units import UnitUse
from tellegen.simulation.solvers import jobs
from tellegen.simulation.solvers.stretch import PreparedModel, RunRows, StatePoint, StretchEnd

MOST_AT_ONCE: Final = 1000
"""Events without any time between them."""


def first_states(model: NumericModel, given: Mapping[str, float], inputs: Mapping[str, float]) -> dict[str, float]:
    """The states that units of model exchange begin with under these inputs; those `given` are as they are.

    Nothing where a unit cannot be asked: its run will say why.
    """
    host = model.data.external if model.data is not None else None
    if not isinstance(host, UnitHost) or not any(use.states for use in host.uses):
        return {}
    context, found = model.new_context(None, inputs), dict[str, float]()
    # Each may be given what another one tells, so that it takes as many rounds as there are units.
    for _ in host.uses:
        y = model.start()
        for name, value in {**found, **given}.items():
            y[model.index[name]] = value
        host.begin_again()
        try:
            model.observe(0.0, y, np.zeros_like(y), context)
        except FloatingPointError:
            return {}
        known, found = found, host.first_states()
        if known == found:
            break
    return {name: value for name, value in found.items() if name not in given}


@final
class UnitEvents:
    """The events of the units of a model, in one run."""

    def __init__(self, host: UnitHost, model: NumericModel, context: ModelContext, rows: RunRows) -> None:
        self.host, self.model, self.context, self.rows = host, model, context, rows
        self.uses = [use for use in host.uses if use.events]
        self.since, self.count = -np.inf, 0

    @classmethod
    def of(cls, prepared: PreparedModel, context: ModelContext, rows: RunRows) -> "UnitEvents | None":
        """The events of a model; None where it has no units whose states are its own."""
        host = prepared.model.data.external if prepared.model.data is not None else None
        if not isinstance(host, UnitHost) or not any(use.events for use in host.uses):
            return None
        return cls(host, prepared.model, context, rows)

    def next_after(self, at: StatePoint) -> float:
        """The next time event, as far as the units know."""
        self._look(at)
        return max(self.host.next_event, at.t)

    def stopped(self, end: StretchEnd, horizon: float) -> bool:
        """Whether a stretch ended for an event of a unit."""
        return end.status == jobs.EVENT or (end.status == jobs.FINISHED and end.standing.t < horizon)

    def passed(self, end: StretchEnd) -> StatePoint:
        """Where the run goes on.

        Raises: TellegenError (N112) where a unit goes no further.
        """
        at = end.standing
        self.count = self.count + 1 if at.t <= self.since else 0
        self.since = at.t
        if self.count > MOST_AT_ONCE:
            raise self._refused(self.uses[0], f"at t = {at.t:.6g} s it has more than {MOST_AT_ONCE} events at once")
        self._look(at)
        y = at.y.copy()
        for use in self.uses:
            places = [self.model.index[name] for name in use.states]
            states = self.host.event(use, y[places])
            if states is None:
                raise self._refused(use, f"at t = {at.t:.6g} s {self.host.said or 'its event failed'}")
            y[places] = states
            self.context.memory[self.model.memory.index(use.events)] += 1.0
        held = self.context.memory[: len(self.model.memory)]
        self.rows.samples.append(np.array([[at.t, *held]]))
        rates = self.model.rhs(at.t, y[: self.model.size], self.context) if self.model.explicit else at.yp
        return replace(at, y=y, yp=np.asarray(rates))

    @staticmethod
    def told(end: StretchEnd) -> StretchEnd:
        """The stretch as one that reached its end: that it stopped for an event is no failure."""
        return replace(end, status=jobs.FINISHED)

    def _look(self, at: StatePoint) -> None:
        """Tell the units where the run stands."""
        self.model.observe(at.t, at.y[: self.model.size], at.yp[: self.model.size], self.context)

    def _refused(self, use: UnitUse, why: str) -> TellegenError:
        unit = use.unit
        return rules.UNIT_NOT_RUN.error(
            f"the unit '{unit.name}' ({Path(unit.path).name}) goes no further: {why}",
            where=unit.name,
            fix="look at what it is given, or let it step by itself ('every: 1 ms')",
        )
