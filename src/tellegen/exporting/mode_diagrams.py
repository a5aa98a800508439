"""A model with modes as one block diagram for each mode: guards, what storages hand over, and impacts.

Each mode has its own causality and so its own diagram. All of them share one state: the outputs of all storages, displacements and
states of signals. In a mode some storages follow others; their outputs are then formulas.
"""

from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import final

from tellegen.causality import assign_causality
from tellegen.core.errors import CausalityError, TellegenError
from tellegen.core.names import listing
from tellegen.equations.derivation import derive_equations
from tellegen.experiments.setup import Setup
from tellegen.experiments.steady_state import set_up_at_start
from tellegen.exporting import rules
from tellegen.exporting.diagram import Diagram, Formula, formula
from tellegen.exporting.diagram_building import refuse_signals, vector_diagram
from tellegen.exporting.diagram_start import DiagramStart, diagram_start, initial_run
from tellegen.expressions import ZERO, Expression, symbol
from tellegen.graph import PowerGraph
from tellegen.graph.power_graph import ACROSS, THROUGH
from tellegen.graph.signals import Table
from tellegen.model.model import Model
from tellegen.results import Run

MOST_MODES = 64
"""More combinations make a program that nobody reads."""

Words = tuple[str, ...]


@final
@dataclass(frozen=True, slots=True)
class Guard:
    """A change of the mode of an element when a signal rises through zero.

    With `restitution`, a signal too, the change is an impact; `speed` is then the across variable of the element.
    """

    element: int
    to: str
    signal: str
    restitution: str = ""
    speed: str = ""


@final
@dataclass(frozen=True)
class ModeDiagram:
    """The diagram of one mode and its guards; no diagram where physics forbids the mode. `following` are dependent storages."""

    words: Words
    diagram: Diagram | None
    guards: tuple[Guard, ...] = ()
    following: tuple[str, ...] = ()


@final
@dataclass(frozen=True)
class HybridDiagram:
    """The diagrams of all modes. `inertia` is the matrix that gives contents of `storages` by their outputs.

    `states` are the storages, displacements and states of signals, with their `initial` values.
    """

    name: str
    elements: tuple[str, ...]
    modes: tuple[ModeDiagram, ...]
    start: int
    storages: tuple[str, ...]
    inertia: tuple[tuple[Expression, ...], ...]
    states: tuple[str, ...]
    initial: tuple[float, ...]

    @property
    def first(self) -> Diagram:
        """The diagram in which a run begins, which has what all share."""
        found = self.modes[self.start].diagram
        assert found is not None, "a run began in this mode"
        return found


def mode_diagrams(model: Model, *, until: float | None = None) -> HybridDiagram:
    """The diagrams of a model with modes.

    Raises: ExportError for too many modes, or for storages whose contents are not proportional to their outputs (X401).
    """
    setup = set_up_at_start(model, until=until)
    graph = setup.graph
    choices = [tuple(law.modes) for law in graph.switching.values()]
    # Counted before anything is derived: ten switches are a thousand modes.
    if prod(map(len, choices)) > MOST_MODES:
        names = listing([graph.ports[k].element for k in graph.switching])
        what = f"{names} have {prod(map(len, choices))} modes together, and at most {MOST_MODES} are exported"
        raise rules.MODES.error(
            what, where=graph.name, fix="export a part of the model, or replace some by resistances"
        )
    run = initial_run(setup)
    modes = tuple(_mode(words, setup, run) for words in product(*choices))
    storages = tuple(graph.ports[k].state for k in graph.storages())
    inertia = inertia_matrix(graph) if any(mode.following for mode in modes) else ()
    start = first_words(graph, run)
    made = next(mode.diagram for mode in modes if mode.words == start)
    assert made is not None, "the run began in this mode"
    # One state vector for all modes: storages first, since only these are handed over.
    states = tuple(dict.fromkeys((*storages, *(i.name for i in made.integrators))))
    return HybridDiagram(
        name=graph.name,
        elements=tuple(graph.ports[k].element for k in graph.switching),
        modes=modes,
        start=[mode.words for mode in modes].index(start),
        storages=storages,
        inertia=inertia,
        states=states,
        initial=tuple(float(run.values(name)[0]) for name in states),
    )


def first_words(graph: PowerGraph, run: Run) -> Words:
    """The mode in which the run begins: what the graph says, and what changes at once."""
    now = {graph.ports[k].element: graph.mode_of(k) for k in graph.switching}
    for event in run.events:
        # Elements that contradict their starting mode change it before the first step; the program begins after that.
        if event.t <= 0.0 and event.element in now:
            now[event.element] = event.what.rpartition(" to ")[2]
    return tuple(now.values())


def _mode(words: Words, setup: Setup, run: Run) -> ModeDiagram:
    graph = setup.graph
    elements = [graph.ports[k].element for k in graph.switching]
    put = graph.in_mode(dict(zip(elements, words, strict=True)))
    try:
        causal = assign_causality(put)
    # Physics forbids this combination, as a short circuit of a source does; the search for a mode leaves it out.
    except CausalityError:
        return ModeDiagram(words, None)
    try:
        # From here on a failure is ours: the mode exists, and a program without it would be wrong silently.
        system = derive_equations(causal)
        refuse_signals(system)
        start = diagram_start(replace(setup, causal=causal), system, run)
        # Dependent storages have outputs too, which the next mode takes over as states.
        following = tuple(put.ports[k].state for k in causal.derivative)
        outputs = [formula(name, system.dependent[name], setup.parameters) for name in following]
        guards, formulas = _guards(words, put, start)
        made = vector_diagram(start, [*outputs, *formulas])
    except TellegenError as error:
        named = ", ".join(f"{e} {w}" for e, w in zip(elements, words, strict=True))
        what = f"the mode ({named}) has no diagram: {error.finding.what}"
        raise rules.MODES.error(what, where=graph.name, fix=error.finding.fix or "export it to fmu") from error
    # All modes record the same signals in the same order, or their columns would not fit together.
    recorded = tuple(dict.fromkeys((*(graph.ports[k].state for k in graph.storages()), *made.recorded)))
    return ModeDiagram(words, replace(made, recorded=recorded), guards, following)


def _guards(words: Words, graph: PowerGraph, start: DiagramStart) -> tuple[tuple[Guard, ...], list[Formula | Table]]:
    guards: list[Guard] = []
    formulas: list[Formula | Table] = []

    def named(name: str, expression: Expression) -> str:
        formulas.append(formula(start.fresh(name), expression, start.setup.parameters))
        return formulas[-1].name

    for place, ((k, law), word) in enumerate(zip(graph.switching.items(), words, strict=True)):
        port = graph.ports[k]
        own = {ACROSS: symbol(port.across), THROUGH: symbol(port.through)}
        for transition in law.transitions.get(word, ()):
            # Guards and restitutions are signals like others: each is evaluated with the blocks of its mode.
            guard = Guard(place, transition.to, named(f"guard_{len(guards) + 1}", transition.guard.substitute(own)))
            if transition.restitution is not None:
                kept = named(f"restitution_{len(guards) + 1}", transition.restitution)
                guard = replace(guard, restitution=kept, speed=named(f"speed_{len(guards) + 1}", own[ACROSS]))
            guards.append(guard)
    return tuple(guards), formulas


def inertia_matrix(graph: PowerGraph) -> tuple[tuple[Expression, ...], ...]:
    """Contents by outputs.

    Raises: ExportError (X401) for a storage that is not linear.
    """
    ports = list(graph.storages())
    rows: list[list[Expression]] = [[ZERO] * len(ports) for _ in ports]
    for i, k in enumerate(ports):
        law = graph.ports[k].storage
        field = next((f for f in graph.fields if k in f.ports), None)
        if field is not None:
            for j, entry in zip(field.ports, field.matrix[field.ports.index(k)], strict=True):
                rows[i][ports.index(j)] = entry
        # Handing over means L dz = 0 along what may move, which needs one matrix for all modes.
        elif law.inertia is not None:
            rows[i][i] = law.inertia
        else:
            name = graph.ports[k].element
            what = f"'{name}' is not linear, and a change of mode would hand its content over"
            raise rules.MODES.error(what, where=name, fix="replace its law by a constant one near its operating point")
    return tuple(map(tuple, rows))
