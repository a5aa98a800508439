"""From a model and limits to the reduced model, step by step."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NoReturn, TypeVar

from tellegen.causality import CausalGraph, assign_causality
from tellegen.core.domains import Side, other_side
from tellegen.core.errors import Finding, TellegenError
from tellegen.core.names import listing
from tellegen.description.model import Model
from tellegen.equations.assembly import derive_equations
from tellegen.equations.system import EquationSystem
from tellegen.expressions import ZERO, Expression
from tellegen.graph import SourceLaw, lower
from tellegen.reduction import rules
from tellegen.reduction.account import excited, inputs_at_start, start_of
from tellegen.reduction.choice import choose_states, kept_elements
from tellegen.reduction.limited import Limited, at_limits
from tellegen.reduction.limits import Limit, Limits, read_limits
from tellegen.reduction.naming import Glossary, without_index
from tellegen.reduction.recovery import Constraints
from tellegen.reduction.reduction import Reduction
from tellegen.reduction.remaining import (
    initial_value,
    keeping_names,
    naming_outputs,
    preferring,
    with_followed,
    without_parameters,
    without_variables,
)
from tellegen.reduction.rewiring import rewired
from tellegen.reduction.sources import with_sources
from tellegen.reduction.transformation import Transformation, transformation

Found = TypeVar("Found")


def reduce_model(model: Model, limits: Limits, *, keep: Iterable[str] = ()) -> Reduction:
    """The model with parameters at their limits, all at once.

    `limits` maps parameters (or elements, or entries of fields) to 0, to infinity, or to a value or relation at which the energy
    matrix loses rank. `keep` names states that should remain.

    Raises: ReductionError when a limit names nothing, does not exist, contradicts another or leaves no solution.
    """
    asked = read_limits(limits)
    causal = assign_causality(lower(model))
    limited = at_limits(model, causal.graph, asked)
    return _Reducer(model, asked, causal, limited, tuple(keep)).reduction()


class _Reducer:
    def __init__(
        self, model: Model, limits: tuple[Limit, ...], causal: CausalGraph, limited: Limited, keep: tuple[str, ...]
    ) -> None:
        self.model = model
        self.limits = limits
        self.causal = causal
        self.limited = limited
        ports = causal.graph.ports
        self.sources = with_sources(limited, causal.graph, (ports[k].element for k in causal.derivative))
        gone = {*limited.vanishing, *limited.frozen}
        kept = kept_elements(causal.graph, keep, gone)
        order = [ports[k].element for k in (*causal.integral, *causal.derivative)]
        self.choice = self._solvable(lambda: choose_states(self.sources, order, kept))
        # A constraint that holds already is taken out: to impose it again would close a rigid loop.
        loose: dict[str, Side] = dict.fromkeys(self.sources.indeterminate, "through")
        self.rewired = rewired(self.sources.model, {**limited.vanishing, **loose})

    def _solvable(self, step: Callable[[], Found]) -> Found:
        """Run a step; what physics forbids after the limit is reported as a limit that does not exist."""
        try:
            return step()
        except TellegenError as reason:
            if reason.code.startswith("T"):
                raise
            names = [limit.name for limit in self.limits]
            raise rules.UNSOLVABLE.error(
                f"with {listing(map(str, self.limits))} the model has no solution: {reason.what}",
                where=reason.finding.where,
                why=reason.finding.why,
                fix=f"keep {listing(names)}, or first: {reason.finding.fix}"
                if reason.finding.fix
                else f"keep {listing(names)}",
                members=reason.finding.members,
            ) from reason

    def reduction(self) -> Reduction:
        """The reduction, step by step."""
        full_states = [self.causal.graph.ports[k].state for k in self.causal.integral]
        removed = self._removed_variables()
        idle = self._idle()
        states = [s for k in self.choice.causal.integral if (s := self.choice.causal.graph.ports[k].state) not in idle]
        rows = list(dict.fromkeys([*map(self._row_name, full_states), *removed]))
        found = transformation(self.sources, self.choice, rows, states, idle)
        if not self.rewired.model.elements:
            self._refuse_standstill(idle)
        small = self._small_model(found, idle)
        small, system = self._solvable(lambda: self._derived(small, states))
        return self._told(found, small, system, full_states, removed, idle)

    def _refuse_standstill(self, idle: Mapping[str, Expression]) -> NoReturn:
        """Nothing carries power any more: what is left of the storages stays where it starts."""
        still = ", ".join(f"{name} = {value}" for name, value in idle.items()) or "nothing is left"
        names = listing(limit.name for limit in self.limits)
        raise rules.UNSOLVABLE.error(
            f"with {listing(map(str, self.limits))} nothing moves any more: {still}",
            where=self.model.name,
            why="the storages that are left have nothing to exchange power with, so that each keeps what it starts with",
            fix=f"keep {names}, or add a source or another element beside what is left",
        )

    def _row_name(self, state: str) -> str:
        """The name under which a state of the full model is found in the limit: elements of broken-up fields lose their index."""
        ports = self.choice.causal.graph.ports
        names = {n for p in ports for n in (p.across, p.through, p.state)}
        return state if state in names else without_index(state)

    def _removed_variables(self) -> list[str]:
        """What the elements at their limit are told by the others."""
        graph, causal = self.choice.causal.graph, self.choice.causal
        return [without_index(graph.ports[k].variable(causal.follows(k))) for k in self.sources.zero]

    def _idle(self) -> dict[str, Expression]:
        """The states of idle elements, with the constant that they stay at."""
        elements = {e.name: e for e in self.model.elements}
        found: dict[str, Expression] = {}
        for port in self.choice.causal.graph.ports:
            if port.element in self.rewired.idle and port.state:
                start = initial_value(self.model, elements[port.element], port.state)
                zero = self.rewired.idle[port.element] is not None
                found[port.state] = ZERO if zero or start is None else start
        return found

    def _small_model(self, found: Transformation, idle: Mapping[str, Expression]) -> Model:
        frozen = self._frozen()
        gone = {n for p in self.causal.graph.ports if p.element not in self._remaining() for n in (p.across, p.through)}
        gone |= {p.state for p in self.causal.graph.ports if p.state and p.element not in self._remaining()}
        written = {n: _inlined(e, found.where) for n, e in found.static.items() if n not in found.inputs}
        followed = {n: e for n, e in {**written, **idle}.items() if n in gone}
        small = with_followed(self.rewired.model, followed, found.rates)
        small = without_variables(small, gone, frozen)
        small = without_parameters(small, [limit.name for limit in self.limits])
        return replace(small, about=self._about(), findings=(), source="")

    def _remaining(self) -> set[str]:
        return {e.name for e in self.rewired.model.elements}

    def _frozen(self) -> dict[str, Expression]:
        """Inputs of frozen storages, with the values that they started with."""
        elements = {without_index(e.name): e for e in self.model.elements}
        states = {without_index(p.element): p.state for p in self.causal.graph.ports}
        found: dict[str, Expression] = {}
        for k in self.sources.frozen:
            port = self.sources.graph.ports[k]
            assert isinstance(port.law, SourceLaw), "a frozen storage is a source"
            name = without_index(port.element)
            start = initial_value(self.model, elements[name], states[name])
            found[port.law.input] = ZERO if start is None else start
        return found

    def _about(self) -> str:
        said = ", ".join(map(str, self.limits))
        return f"{self.model.about} Reduced by {said}.".strip()

    def _derived(self, small: Model, states: Sequence[str]) -> tuple[Model, EquationSystem]:
        """The reduced model with the states chosen, asked for where causality would take others; and its equations."""
        wanted = set(self.choice.states)
        small = keeping_names(small, self.sources.graph, lower(small))
        for attempt in (small, None):
            model = attempt if attempt is not None else preferring(small, wanted)
            causal = assign_causality(lower(model))
            if {causal.graph.ports[k].state for k in causal.integral} == set(states):
                return self._with_old_outputs(model, derive_equations(causal))
        raise rules.CANNOT_KEEP.error(
            f"the reduced model has not the states {listing(states)}", where=self.model.name, fix="keep others"
        )

    def _with_old_outputs(self, small: Model, system: EquationSystem) -> tuple[Model, EquationSystem]:
        """The reduced model with outputs named as in the full one: a speed that is no state any more is still that speed."""
        full = derive_equations(self.causal)
        before = dict(zip((self.causal.graph.ports[k].element for k in self.causal.sources), full.outputs, strict=True))
        assert system.origin is not None, "equations of a model know it"
        graph = system.origin.graph
        sources = [graph.ports[k].element for k in system.origin.sources]
        after = dict(zip(sources, system.outputs, strict=True))
        states = {graph.ports[k].state for k in graph.storages()}
        lost = {e: n for e, n in before.items() if after.get(e, n) not in (n, *states)}
        taken = {n for p in graph.ports for n in (p.across, p.through, p.state)} | set(small.parameters)
        named = naming_outputs(small, lost, {*taken, *small.displacements, *small.signals})
        if named is small:
            return small, system
        return named, derive_equations(assign_causality(lower(named)))

    # -- what to tell ----------------------------------------------------------------------------------------------------------

    def _told(
        self,
        found: Transformation,
        small: Model,
        system: EquationSystem,
        full_states: Sequence[str],
        removed: Sequence[str],
        idle: Mapping[str, Expression],
    ) -> Reduction:
        ports = self.causal.graph.ports
        variables = [n for p in (*ports, *self.choice.causal.graph.ports) for n in (p.across, p.through, p.state)]
        glossary = Glossary([*variables, *self.model.parameters, *system.displacements], system.where)
        at = {name: k for k, name in enumerate(found.rows)}
        order = [at[self._row_name(s)] for s in full_states]
        columns = [found.states.index(s) for s in system.states]
        into = [found.inputs.index(u) for u in system.inputs]
        T = tuple(tuple(glossary.written(found.T[r][c], found.where) for c in columns) for r in order)
        T_u = tuple(tuple(glossary.written(found.T_u[r][c], found.where) for c in into) for r in order)
        kept = {*system.states, *system.inputs}
        static = {n: glossary.written(e, found.where) for n, e in found.static.items() if n not in kept}
        static |= idle
        findings = [*self.limited.findings, *self.sources.findings, *self._idle_notices()]
        values = {**system.values(), **start_of(small, system), **inputs_at_start(small)}
        values = {**dict.fromkeys((*system.states, *system.inputs, *system.displacements), 0.0), **values}
        starts = {p.state: p.initial for p in ports if p.state and p.initial is not None}
        findings += excited(self.model, system, {s: static[s] for s in full_states if s in static}, values, starts)
        indeterminate = [
            p.variable(other_side(self.limited.vanishing[p.element]))
            for p in ports
            if p.element in self.sources.indeterminate
        ]
        return Reduction(
            self.limits,
            self.model,
            small,
            self.causal,
            system,
            T,
            T_u,
            static,
            self._constraints(found, system, idle),
            glossary,
            tuple(indeterminate),
            tuple(findings),
        )

    def _constraints(
        self, found: Transformation, system: EquationSystem, idle: Mapping[str, Expression]
    ) -> Constraints:
        causal = self.choice.causal
        if system.displacements:  # rates of displacements may have read what is gone
            causal = replace(causal, graph=replace(causal.graph, displacements=system.displacements))
        return Constraints(causal, frozenset(self.sources.zero), found.rates, idle)

    def _idle_notices(self) -> list[Finding]:
        names = list(self.rewired.idle)
        if not names:
            return []
        return [
            rules.IDLE.finding(
                f"{listing(names)} {'is' if len(names) == 1 else 'are'} idle after the limit, and left out",
                where=names[0],
                members=names,
            )
        ]


def _inlined(expression: Expression, where: Mapping[str, Expression]) -> Expression:
    while any(name in where for name in expression.free_symbols):
        expression = expression.substitute(where)
    return expression
