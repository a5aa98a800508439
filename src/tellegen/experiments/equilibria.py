"""`equilibrium`: the steady state of a model as a result."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import numpy as np

from tellegen.analysis.summary import PowerSplit, split_power
from tellegen.core.names import identifier
from tellegen.experiments.input_signals import InputSignal
from tellegen.experiments.quantities import Quantity
from tellegen.experiments.setup import Setup
from tellegen.experiments.simulating import run_of_trajectory
from tellegen.experiments.steady_state import RestingModel, find_rest
from tellegen.notations.loading import AnyModel, as_model
from tellegen.results.element_variables import sources_of
from tellegen.results.run import Run, table_lines
from tellegen.simulation.trajectory import HeldRows, Segment, Trajectory


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
    inputs: Mapping[str, InputSignal] | None = None,
    initial: Mapping[str, Quantity] | None = None,
    parameters: Mapping[str, Quantity] | None = None,
    units: Mapping[str, str] | None = None,
    mode: Mapping[str, str] | None = None,
    at: Quantity | None = None,
) -> SteadyState:
    """The steady state near the initial values, inputs and time held as they are at the time `at`: by default at the end of the
    experiment, when steps and ramps are over.

    Elements with modes are in the ones that agree with it; sampled signals hold what they would take again. Where several states
    are possible, as for a ball on a floor or a body that friction holds, it is the one in which the motion from the initial
    values ends.

    >>> import tellegen as tg
    >>> found = tg.equilibrium("dc_motor_pump")
    >>> abs(found["V_a"] - 100.0) < 1e-9
    True

    Raises: SimulationError (S119) naming what keeps changing where there is none.
    """
    described = as_model(model)
    found = find_rest(described, at, {"inputs": inputs, "initial": initial, "parameters": parameters, "mode": mode})
    run = run_of_trajectory(found.ready, found.problem, _one_row(found))
    return SteadyState(run.in_units(_units(found.ready, units)), _powers(run))


def _one_row(found: RestingModel) -> Trajectory:
    model, context, at = found.problem.model, found.problem.context, found.standing
    assert context is not None, "made with one"
    memory = HeldRows.of(context.memory[None, : len(model.memory)].copy()) if model.memory else None
    y, yp, past = at.y[None, :], np.zeros((1, model.size)), found.past if model.delays else None
    t, segments = np.array([at.t]), (Segment(0, model),)
    return Trajectory(t, y, yp, segments, "Newton", "a steady state", memory=memory, past=past)


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
