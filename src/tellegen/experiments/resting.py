"""The steady state of one mode: what is sampled is held, what is delayed was always so."""

from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from tellegen.compiler.context import PAST, Context
from tellegen.simulation import rules
from tellegen.simulation.problem import Problem
from tellegen.simulation.starting import steady_state
from tellegen.simulation.stretch import Standing

Array = NDArray[np.float64]

SAME: Final = 1e-9
STILL: Final = 1e-6
MOST_STEPS: Final = 50
NUDGE: Final = 1e-6


@final
class Lasting:
    """A past in which delayed signals were always what they are now."""

    def __init__(self, values: Array) -> None:
        self.values = values
        self._told = PAST(lambda _, number, __: float(self.values[number]))

    def tie(self, context: Context, /) -> None:
        """Let a context read it."""
        context.remember(self._told)


def lasting_past(problem: Problem) -> Lasting:
    """The past of a problem at rest, which its context reads from now on."""
    assert problem.context is not None, "made with one"
    lasting = Lasting(np.array([delay.initial for delay in problem.model.delays]))
    lasting.tie(problem.context)
    return lasting


def rest_of(problem: Problem, past: Lasting) -> Standing:
    """The steady state; sampled signals hold what they would take again, delayed ones are what they were."""
    model = problem.model
    return _lasting_rest(problem, past) if model.sample_groups or model.delays else steady_state(problem)


def _lasting_rest(problem: Problem, past: Lasting) -> Standing:
    """States, what is held and what comes back, found together by Newton's method with differences: a controller that sums up
    errors is no state.

    Raises: SimulationError (S119) naming what keeps changing.
    """
    model, context = problem.model, problem.context
    assert context is not None, "made with one"
    n, t, held_to = model.size, problem.t0, model.size + len(model.memory)
    names = (*model.names, *model.memory, *(delay.name for delay in model.delays))
    sources = [delay.observable for delay in model.delays]

    def missing(x: Array) -> Array:
        context.memory[: len(model.memory)] = x[n:held_to]
        past.values[:] = x[held_to:]
        held = x[n:held_to].copy()
        for number, group in enumerate(model.sample_groups):
            members = list(group.members)
            held[members] = model.sample(t, x[:n], np.zeros(n), number, context)[members]
        now = model.observe(t, x[:n], np.zeros(n), context)[sources] if sources else np.zeros(0)
        residual = model.residual(t, x[:n], np.zeros(n), context)
        return np.concatenate([residual, held - x[n:held_to], now - x[held_to:]])

    x = np.concatenate([problem.start(), model.initial_memory, [delay.initial for delay in model.delays]])
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
