"""One compiled model for each mode, made when the mode is first met."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from tellegen.causality import CausalGraph, assign_causality
from tellegen.compiler.context import Context
from tellegen.compiler.numeric_model import NumericModel
from tellegen.core.errors import CausalityError, Finding
from tellegen.graph import PowerGraph, StorageLaw
from tellegen.simulation.delays import Past, past_of
from tellegen.simulation.storages import Storages
from tellegen.simulation.stretch import PreparedModel, prepare

Array = NDArray[np.float64]
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
    context: Context
    independent: NDArray[np.int64]
    observed: NDArray[np.int64]
    plans: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)
    """What was worked out for this mode and serves again when it is next met."""

    @cached_property
    def own(self) -> NDArray[np.intp]:
        """The storages that are states here."""
        return np.flatnonzero(self.independent >= 0)

    @cached_property
    def _own_places(self) -> NDArray[np.int64]:
        return self.independent[self.own]

    @cached_property
    def _others(self) -> list[tuple[int, str]]:
        """The variables that no storage gives, with their places."""
        given = set(self._own_places.tolist())
        return [(k, name) for k, name in enumerate(self.model.names) if k not in given]

    def outputs(self, t: float, y: Array, yp: Array) -> Array:
        """The outputs of all storages; of those whose energy variable is the state, that variable."""
        found = self.model.observe(t, y, yp, self.context)[self.observed]
        found[self.own] = y[self._own_places]
        return found

    def compose(self, state: HybridState, outputs: Array | None = None) -> Array:
        """y of this mode at a state, or at other outputs of its storages."""
        y = np.zeros(self.model.size)
        if self._others:
            values = {**state.unknowns, **state.displacements, **state.signals}
            for k, name in self._others:
                y[k] = values.get(name, 0.0)
        y[self._own_places] = (state.outputs if outputs is None else outputs)[self.own]
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
        made = ModeModels(self.graph, self._compiled, {**self._parameters, name: value}, self._inputs, self.before)
        made._origin, made._shares_past = self, True
        return made

    def afresh(self) -> "ModeModels":
        """The same modes for another run from the start; nothing is compiled again."""
        made = ModeModels(self.graph, self._compiled, self._parameters, self._inputs, self.before)
        made._origin = self
        return made

    @property
    def start(self) -> Mode:
        """The mode in which the graph is."""
        return tuple(self.graph.mode_of(k) for k in self.graph.switching)

    def get(self, mode: Mode) -> ModeModel | Finding:
        """The model of a mode, or why the mode cannot be."""
        if mode not in self._known:
            try:
                self._known[mode] = self._made(mode)
            except CausalityError as error:
                self._known[mode] = error.finding
        return self._known[mode]

    @property
    def met(self) -> list[ModeModel]:
        """The models made so far."""
        return [known for known in self._known.values() if isinstance(known, ModeModel)]

    def _made(self, mode: Mode) -> ModeModel | Finding:
        if self._origin is not None:
            return self._beside(self._origin.get(mode))
        causal = assign_causality(self.graph.in_mode(dict(zip(self.elements, mode, strict=True))))
        model = self._compiled(causal)
        context = self._context(model)
        return ModeModel(
            mode, causal, model, prepare(model), context, self._independent(causal, model), self._observed(model)
        )

    def _beside(self, known: ModeModel | Finding) -> ModeModel | Finding:
        return known if isinstance(known, Finding) else replace(known, context=self._context(known.model))

    def _context(self, model: NumericModel) -> Context:
        given = {name: value for name, value in self._parameters.items() if name in model.parameters}
        inputs = {name: value for name, value in self._inputs.items() if name in model.inputs}
        context = model.new_context(given, inputs)
        if self.past is not None:
            self.past.tie(context)
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
