"""The poles of a model together with its controllers, at an operating point."""

from collections.abc import Mapping

import numpy as np

from tellegen.analysis import ClosedLoop, linear_model
from tellegen.analysis.poles import loop_poles
from tellegen.core.errors import SimulationError, TellegenError
from tellegen.core.names import TIME
from tellegen.equations.closed_loop import close_loop
from tellegen.equations.linear_loop import linearise_loop
from tellegen.equations.linearisation import linearise_equations
from tellegen.equations.system import EquationSystem
from tellegen.experiments.setting_up import Setup
from tellegen.simulation.problem import Problem
from tellegen.simulation.starting import steady_state


def closed_loop(system: EquationSystem, at: Mapping[str, float]) -> ClosedLoop | None:
    """The closed loop at values of states, controllers, inputs and references (zero where not given); None without controllers.

    Where a sampled controller, a delay or a function leaves no linear model, the poles are None and the reason says it.
    """
    driven = tuple(system.signals.drivers)
    if not driven:
        return None
    try:
        loop = close_loop(system, float(at.get(TIME, 0.0)))
        known = {name: at[name] for name in (*loop.states, *loop.displacements, *loop.inputs) if name in at}
        linear = linearise_loop(loop, known) or linearise_equations(loop, known)
        return ClosedLoop(driven, loop_poles(linear_model(linear)))
    except TellegenError as error:
        return ClosedLoop(driven, None, error.finding.what)


def loop_at_rest(ready: Setup, problem: Problem) -> dict[str, float]:
    """The steady state of the model with its controllers, signals included; empty where there is none."""
    numeric = ready.numeric
    try:
        found = steady_state(problem)
        context = numeric.new_context(None, dict(ready.inputs))
        observed = numeric.observe(found.t, found.y, np.zeros(numeric.size), context)
    except (SimulationError, FloatingPointError):
        return {}
    signals = {
        o.name: float(value) for o, value in zip(numeric.observables, observed, strict=True) if o.kind == "signal"
    }
    return {**signals, **dict(zip(numeric.names, map(float, found.y), strict=True)), TIME: found.t}
