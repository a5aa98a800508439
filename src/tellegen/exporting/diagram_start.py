"""What stands before the first step of a block diagram: equations, values, an initial run, and names that are free."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import final

import numpy as np

from tellegen.core.names import TIME
from tellegen.equations.system import EquationSystem
from tellegen.experiments.setup import Setup
from tellegen.experiments.simulating import simulate
from tellegen.exporting import diagram
from tellegen.expressions import Expression, number
from tellegen.graph.signals import Delayed, Sampled, Table
from tellegen.results import Run
from tellegen.simulation.solvers.delays import delayed_breaks

STIFF = 2e4
"""So many times faster than the experiment is too fast for an explicit method in an interpreter."""
MOST_STOPS = 100_000
MOMENT = 1e-6
"""The share of the experiment that is run to see where it begins."""


@final
@dataclass(frozen=True)
class DiagramStart:
    """The equations of a model, its values, and where it begins. `taken` are names that new signals may not have.

    `sources` are the names of what goes into delays, by those of the delayed signals; `slopes` those of the rates of inputs that
    storages meet.
    """

    setup: Setup
    system: EquationSystem
    run: Run
    taken: set[str] = field(default_factory=set)
    sources: dict[str, str] = field(default_factory=dict)
    slopes: dict[str, str] = field(default_factory=dict)

    def initial(self, name: str) -> float:
        """The value of a state at the start."""
        return float(self.run.values(name)[0])

    def guess(self, name: str) -> float:
        """The value of an algebraic unknown at the start, where the run has it; a run through modes has those of one mode only."""
        # In another mode the unknowns are others, and a solution of the first mode says nothing about them.
        places = () if self.setup.graph.switching else self.setup.numeric.names
        return float(self.run.trajectory.y[0][places.index(name)]) if name in places else 0.0

    def fresh(self, name: str) -> str:
        """A name that no other signal has."""
        return diagram.fresh(name, self.taken)

    def inputs(self) -> Iterator[diagram.Formula]:
        """What the inputs are: sources of time alone, or functions of signals."""
        for name in self.system.inputs:
            # What no signal drives is constant: the value of the experiment, else zero.
            expression = self.system.signals.drivers.get(name, number(self.setup.inputs.get(name, 0.0)))
            yield diagram.formula(name, expression, self.setup.parameters)

    def beside(self) -> list[diagram.Formula | Table]:
        """Signals, tables, what is delayed, and names of the equations."""
        system = self.system
        values = {**system.signals.values, **system.where}
        values |= {self.sources[law.name]: law.expression for law in system.signals.others if isinstance(law, Delayed)}
        tables = [law for law in system.signals.others if isinstance(law, Table)]
        return [
            *self.inputs(),
            *(diagram.formula(name, e, self.setup.parameters) for name, e in values.items()),
            *tables,
        ]

    def further_states(self) -> tuple[list[diagram.Formula], list[diagram.Integrator]]:
        """Displacements and the states of signals."""
        rates = {**self.system.displacements, **self.system.signals.states}
        names = {name: self.fresh(f"{name}_rate") for name in rates}
        formulas = [diagram.formula(names[name], rate, self.setup.parameters) for name, rate in rates.items()]
        return formulas, [diagram.Integrator(name, names[name], self.initial(name)) for name in rates]

    def holds(self) -> tuple[diagram.Hold, ...]:
        """The sampled signals."""
        value = self.value
        laws = [law for law in self.system.signals.others if isinstance(law, Sampled)]
        return tuple(
            diagram.Hold(s.name, s.expression, value(s.period), value(s.offset), value(s.initial)) for s in laws
        )

    def delays(self) -> tuple[diagram.TransportDelay, ...]:
        """The delayed signals."""
        laws = [law for law in self.system.signals.others if isinstance(law, Delayed)]
        return tuple(
            diagram.TransportDelay(d.name, self.sources[d.name], self.value(d.by), self.value(d.initial)) for d in laws
        )

    def value(self, expression: Expression) -> float:
        """The value of a formula of parameters."""
        return expression.evaluate(self.setup.parameters)

    def stops(self) -> tuple[float, ...]:
        """The times at which inputs jump or bend, also where that comes back through delays."""
        until, model = self.setup.until, self.setup.numeric
        # A jump comes back through each delay that it passes, and steps must end there too.
        return tuple(delayed_breaks(model, model.break_times(until)[:MOST_STOPS], 0.0, until).tolist())

    def is_stiff(self) -> bool:
        """Whether an explicit method would need a great many steps; between changes of mode it is taken anyway."""
        if self.setup.graph.switching:
            return False
        model, y = self.setup.numeric, self.run.trajectory.y[0]
        if not model.explicit or not len(y):
            return not model.explicit
        # The linear model at the start tells the fastest rate; how it changes on the way is not known before a run.
        columns = [model.rhs_tangent(0.0, y, direction) for direction in np.eye(len(y))]
        return bool(np.abs(np.linalg.eigvals(np.array(columns))).max() * self.setup.until > STIFF)


def initial_run(setup: Setup) -> Run:
    """The run of a model over its first moment: where it begins, with what follows from the values given.

    Raises: SimulationError where there is no start.
    """
    # Our own start is taken over: initial values that follow from others would have to be solved for again in MATLAB.
    return simulate(setup.model, until=MOMENT * setup.until, samples=1, progress=False)


def diagram_start(setup: Setup, system: EquationSystem, run: Run) -> DiagramStart:
    """A start that knows the names in use."""
    ports: Iterable[str] = (name for p in setup.graph.ports for name in (p.across, p.through, p.state))
    names = {*ports, *system.parameters, *system.where, *system.displacements, *system.signals.names, *system.inputs}
    start = DiagramStart(setup, system, run, {*names, *system.algebraic.unknowns, TIME})
    delayed = [law.name for law in system.signals.others if isinstance(law, Delayed)]
    # A delay repeats one signal; what goes into it is a formula, which then needs a name.
    start.sources.update({name: start.fresh(f"{name}_before") for name in delayed})
    return start
