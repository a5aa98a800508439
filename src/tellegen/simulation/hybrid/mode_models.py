"""One compiled model for each mode, made when it is first met, and the state carried from one to the next."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from tellegen.causality import CausalGraph, assign_causality
from tellegen.compiler.context import Array, ModelContext
from tellegen.compiler.numeric_model import NumericModel
from tellegen.core.errors import CausalityError, Finding
from tellegen.core.names import did_you_mean, listing
from tellegen.equations.system import parameter_values
from tellegen.expressions import ZERO, Expression, number
from tellegen.graph import PowerGraph, StorageLaw
from tellegen.graph.power_graph import ARGUMENT
from tellegen.simulation import rules
from tellegen.simulation.problem import Problem
from tellegen.simulation.solvers.delays import Past, past_of
from tellegen.simulation.solvers.stretch import PreparedModel, StatePoint, prepare

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)


@final
class Storages:
    """Flux, charge, momentum and displacement of all storages, by their outputs.

    Storages are counted in the order of description. Those whose law gives the output of the energy variable are states in every
    mode: nothing is ever asked about them here.
    """

    def __init__(self, graph: PowerGraph, parameters: Mapping[str, float]) -> None:
        self.graph = graph
        self.ports = list(graph.storages())
        given: dict[str, Expression | None] = {name: number(value) for name, value in parameters.items()}
        self.parameters = parameter_values({**graph.parameters, **given})
        self._place = {k: i for i, k in enumerate(self.ports)}
        self._fields = {
            self._place[k]: (tuple(self._place[j] for j in coupled.ports), coupled.matrix[i])
            for coupled in graph.fields
            for i, k in enumerate(coupled.ports)
            if k in self._place
        }

    def place(self, port: int) -> int:
        """The place of a storage port among the storages."""
        return self._place[port]

    def law(self, i: int) -> StorageLaw:
        """The law of storage i."""
        law = self.graph.ports[self.ports[i]].law
        assert isinstance(law, StorageLaw), "only storages are counted"
        return law

    def partners(self, i: int) -> tuple[int, ...]:
        """The storages coupled with storage i by a field, itself among them."""
        return self._fields[i][0] if i in self._fields else (i,)

    def environment(self, displacements: Mapping[str, float]) -> dict[str, float]:
        """The values of the names that laws read: parameters, displacements, and parameters that move with them."""
        values = {**self.parameters, **displacements}
        for name, expression in self.graph.position_dependent.items():
            values[name] = expression.evaluate(values)
        return values

    def change(self, among: Sequence[int], before: Array, after: Array, environment: Mapping[str, float]) -> Array:
        """How much the contents of some storages change between two sets of outputs."""
        return np.array([self._change(i, before, after, environment) for i in among])

    def inertia(self, among: Sequence[int], outputs: Array, environment: Mapping[str, float]) -> Array:
        """The derivatives of their contents by their outputs: a matrix, diagonal but for fields."""
        found = np.zeros((len(among), len(among)))
        place = {i: row for row, i in enumerate(among)}
        for row, i in enumerate(among):
            if i in self._fields:
                others, entries = self._fields[i]
                for j, entry in zip(others, entries, strict=True):
                    if j in place:
                        found[row, place[j]] = entry.evaluate(environment)
            else:
                found[row, row] = self._slope(i, float(outputs[i]), environment)
        return found

    def energy_change(
        self, among: Sequence[int], before: Array, after: Array, environment: Mapping[str, float]
    ) -> float:
        """How much the energy of some storages changes, those that share a field all among them."""
        found = 0.0
        for i in among:
            if i in self._fields:
                others, entries = self._fields[i]
                row = np.array([entry.evaluate(environment) for entry in entries])
                both = [float(x[i] * (row @ x[list(others)])) for x in (before, after)]
                found += 0.5 * (both[1] - both[0])
                continue
            law, low, high = self.law(i), float(before[i]), float(after[i])
            if law.inertia is not None:
                found += 0.5 * law.inertia.evaluate(environment) * (high * high - low * low)
            else:  # dE = x dp
                middle, half = 0.5 * (low + high), 0.5 * (high - low)
                points = middle + half * _NODES
                found += half * float(np.dot(_WEIGHTS, [x * self._slope(i, float(x), environment) for x in points]))
        return found

    def _change(self, i: int, before: Array, after: Array, environment: Mapping[str, float]) -> float:
        if i in self._fields:
            others, entries = self._fields[i]
            steps = (
                entry.evaluate(environment) * (after[j] - before[j]) for j, entry in zip(others, entries, strict=True)
            )
            return float(sum(steps))
        law, low, high = self.law(i), float(before[i]), float(after[i])
        if law.inertia is not None:
            return law.inertia.evaluate(environment) * (high - low)
        if law.content is not None:
            at = [law.content.evaluate({**environment, ARGUMENT: x}) for x in (low, high)]
            return at[1] - at[0]
        # Only the slope is known: Gauss on the way from one output to the other.
        middle, half = 0.5 * (low + high), 0.5 * (high - low)
        slopes = [self._slope(i, middle + half * node, environment) for node in _NODES]
        return half * float(np.dot(_WEIGHTS, slopes))

    def _slope(self, i: int, output: float, environment: Mapping[str, float]) -> float:
        law = self.law(i)
        if law.inertia is not None:
            return law.inertia.evaluate(environment)
        slope = law.slope
        if slope is None:
            assert law.content is not None, "a law without inertia or slope has a content"
            slope = law.content.derivative(ARGUMENT)
        return slope.evaluate({**environment, ARGUMENT: output})


Mode = tuple[str, ...]
"""The modes of all elements that have some, in the order of the graph."""


@final
@dataclass
class HybridState:
    """What a run carries from one mode into the next: outputs of all storages, and contents where those are the states.

    `displacements` and `signals` are states by name, `unknowns` the last values of algebraic variables, `memory` what is sampled.
    """

    outputs: Array
    displacements: dict[str, float]
    signals: dict[str, float]
    unknowns: dict[str, float]
    memory: dict[str, float]


@final
@dataclass(frozen=True)
class ModeModel:
    """The model of one mode, with the places of storages in it.

    `independent[i]` is the place of storage i in y, or -1; `observed[i]` that of its output among the observables.
    """

    mode: Mode
    causal: CausalGraph
    model: NumericModel
    prepared: PreparedModel
    context: ModelContext
    independent: NDArray[np.int64]
    observed: NDArray[np.int64]
    plans: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)
    """What was worked out for this mode and serves again when it is next met."""

    @cached_property
    def own(self) -> NDArray[np.intp]:
        """The storages that are states here."""
        return np.flatnonzero(self.independent >= 0)

    @cached_property
    def _own_indices(self) -> NDArray[np.int64]:
        return self.independent[self.own]

    @cached_property
    def others(self) -> list[tuple[int, str]]:
        """The variables that no storage gives, with their places."""
        given = set(self._own_indices.tolist())
        return [(k, name) for k, name in enumerate(self.model.names) if k not in given]

    def outputs(self, t: float, y: Array, yp: Array) -> Array:
        """The outputs of all storages; of those whose energy variable is the state, that variable."""
        # Of dependent storages the observable, of the others the state itself: exact, with no way through the
        # equations.
        found = self.model.observe(t, y, yp, self.context)[self.observed]
        found[self.own] = y[self._own_indices]
        return found

    def kept_at(self, at: StatePoint, elements: Sequence[str]) -> list[float]:
        """The energies that elements keep somewhere."""
        places = {shown.element: k for k, shown in enumerate(self.model.observables) if shown.kind == "energy"}
        found = self.model.observe(at.t, at.y, at.yp, self.context)
        return [float(found[places[name]]) for name in elements]

    def compose(self, state: HybridState, outputs: Array | None = None) -> Array:
        """y of this mode at a state, or at other outputs of its storages."""
        y = np.zeros(self.model.size)
        if self.others:
            values = {**state.unknowns, **state.displacements, **state.signals}
            for k, name in self.others:
                y[k] = values.get(name, 0.0)
        y[self._own_indices] = (state.outputs if outputs is None else outputs)[self.own]
        return y

    def remember(self, state: HybridState) -> None:
        """Put what is sampled into the context of this mode."""
        for k, name in enumerate(self.model.memory):
            if name in state.memory:
                self.context.memory[k] = state.memory[name]

    def state(self, t: float, y: Array, yp: Array) -> HybridState:
        """What is carried on from this mode."""
        model = self.model
        values, states = y.tolist(), len(model.states)
        moved = states + len(model.displacements)
        signals = moved + len(model.signal_states)
        return HybridState(
            self.outputs(t, y, yp),
            dict(zip(model.displacements, values[states:moved], strict=True)),
            dict(zip(model.signal_states, values[moved:signals], strict=True)),
            dict(zip(model.unknowns, values[signals:], strict=True)),
            dict(zip(model.memory, self.context.memory.tolist(), strict=False)),
        )


@final
class ModeModels:
    """The models of all modes that a run has met."""

    def __init__(
        self,
        graph: PowerGraph,
        compiled: Callable[[CausalGraph], NumericModel],
        parameters: Mapping[str, float],
        inputs: Mapping[str, float],
        before: Mapping[str, float],
    ) -> None:
        self.graph = graph
        self.storages = Storages(graph, parameters)
        self.elements = [graph.ports[k].element for k in graph.switching]
        self.laws = list(graph.switching.values())
        # Stops with damping: they let go while they are still pressed in.
        parts = [
            (graph.ports[k].element, mode.elastic) for k, law in graph.switching.items() for mode in law.modes.values()
        ]
        self.keeping = tuple(dict.fromkeys(name for name, part in parts if part is not None and part.lost is not ZERO))
        self._compiled = compiled
        self._parameters = parameters
        self._inputs = inputs
        self.before = before
        self._known: dict[Mode, ModeModel | Finding] = {}
        self._origin: ModeModels | None = None
        self._shares_past = False
        self.past: Past | None = None

    def moved(self, name: str, value: float) -> "ModeModels":
        """The same modes with another value of one parameter; nothing is compiled again."""
        return self._copied({**self._parameters, name: value}, shares_past=True)

    def for_new_run(self) -> "ModeModels":
        """The same modes for another run from the start; nothing is compiled again."""
        return self._copied(self._parameters, shares_past=False)

    def _copied(self, parameters: Mapping[str, float], *, shares_past: bool) -> "ModeModels":
        made = ModeModels(self.graph, self._compiled, parameters, self._inputs, self.before)
        made._origin, made._shares_past = self, shares_past
        return made

    @property
    def start(self) -> Mode:
        """The mode in which the graph is."""
        return tuple(self.graph.mode_of(k) for k in self.graph.switching)

    def get(self, mode: Mode) -> ModeModel | Finding:
        """The model of a mode, or why the mode cannot be."""
        # Made when first met: of 2^n modes a run sees a handful.
        if mode not in self._known:
            try:
                self._known[mode] = self._made(mode)
            except CausalityError as error:
                # Kept as well: the search meets the same impossible mode again and again.
                self._known[mode] = error.finding
        return self._known[mode]

    def is_impossible(self, found: object) -> bool:
        """Whether this is why a mode cannot be, and not what a start in it met."""
        return isinstance(found, Finding) and any(known is found for known in self._known.values())

    @property
    def met(self) -> list[ModeModel]:
        """The models made so far."""
        return [known for known in self._known.values() if isinstance(known, ModeModel)]

    def _made(self, mode: Mode) -> ModeModel | Finding:
        # Contexts alone are new: causality, code and preparation are those of the first run.
        if self._origin is not None:
            known = self._origin.get(mode)
            return known if isinstance(known, Finding) else replace(known, context=self._context(known.model))
        causal = assign_causality(self.graph.in_mode(dict(zip(self.elements, mode, strict=True))))
        model = self._compiled(causal)
        context = self._context(model)
        own, observed = self._independent(causal, model), self._observed(model)
        return ModeModel(mode, causal, model, prepare(model), context, independent=own, observed=observed)

    def _context(self, model: NumericModel) -> ModelContext:
        given = {name: value for name, value in self._parameters.items() if name in model.parameters}
        inputs = {name: value for name, value in self._inputs.items() if name in model.inputs}
        context = model.new_context(given, inputs)
        if self.past is not None:
            self.past.tie(context)
        # One past for all modes: what was delayed does not begin anew when a switch opens.
        elif not self._shares_past:
            self.past = past_of(model, context, self.before)
        return context

    def _independent(self, causal: CausalGraph, model: NumericModel) -> NDArray[np.int64]:
        place = {name: k for k, name in enumerate(model.states)}
        own = set(causal.integral)
        ports = causal.graph.ports
        return np.array([place[ports[k].state] if k in own else -1 for k in self.storages.ports], dtype=np.int64)

    def _observed(self, model: NumericModel) -> NDArray[np.int64]:
        place = {(o.element, o.kind): k for k, o in enumerate(model.observables)}
        found = []
        for k in self.storages.ports:
            port = self.graph.ports[k]
            assert isinstance(port.law, StorageLaw), "only storages are counted"
            found.append(place[port.element, port.law.side])
        return np.array(found, dtype=np.int64)


def starting_state(
    models: ModeModels, initial: Mapping[str, float], t0: float, mode: Mode | None = None
) -> HybridState:
    """The state at t0: what is given, else what the elements say, else what follows in a mode (the first one), else zero.

    Raises: SimulationError (S116) for a name that is no variable in any mode.
    """
    storages, graph = models.storages, models.graph
    outputs = np.zeros(len(storages.ports))
    given = np.zeros(len(storages.ports), dtype=bool)
    for i, k in enumerate(storages.ports):
        port = graph.ports[k]
        if port.state in initial:
            outputs[i], given[i] = initial[port.state], True
        elif port.initial is not None:
            outputs[i], given[i] = port.initial.evaluate(storages.parameters), True
    displacements = {name: float(initial.get(name, 0.0)) for name in graph.displacements}
    state = HybridState(outputs, displacements, {}, {}, {})
    # The first mode may be impossible: then the search for one decides, from the outputs alone.
    model = models.get(models.start if mode is None else mode)
    if isinstance(model, ModeModel):
        known = {**model.model.initial, **initial}
        state.signals = {name: float(known.get(name, 0.0)) for name in model.model.signal_states}
        held = dict(zip(model.model.memory, map(float, model.model.initial_memory), strict=True))
        state.memory = {name: models.before.get(name, value) for name, value in held.items()}
        _follow(model, state, given, t0)
    names = {graph.ports[k].state for k in storages.ports}
    _check_names(initial, names | displacements.keys() | state.signals.keys(), graph.name)
    return state


def _follow(model: ModeModel, state: HybridState, given: NDArray[np.bool_], t0: float) -> None:
    """Dependent storages about which nothing is said start where the mode tells them."""
    y = model.compose(state)
    try:
        told = model.outputs(t0, y, np.zeros(len(y)))
    except FloatingPointError:
        return
    state.outputs[~given] = told[~given]


def _check_names(initial: Mapping[str, float], known: set[str], where: str) -> None:
    for name in initial:
        if name not in known:
            fix = did_you_mean(name, known) or f"the variables are {listing(sorted(known))}"
            what = f"an initial value is given for '{name}', which is not a variable of the model"
            raise rules.NO_SUCH_VARIABLE.error(what, where=where, fix=fix)


def initial_values(problem: Problem) -> dict[str, float]:
    """The initial values of a problem that are given, by name."""
    if problem.y0 is None:
        return {}
    if isinstance(problem.y0, Mapping):
        return dict(problem.y0)
    return dict(zip(problem.model.names, map(float, problem.y0), strict=True))


def named_values(values: Mapping[str, float] | Array | None, names: tuple[str, ...]) -> dict[str, float]:
    """Values by name, however they are given."""
    if values is None:
        return {}
    return dict(values) if isinstance(values, Mapping) else dict(zip(names, map(float, values), strict=True))
