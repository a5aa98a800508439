"""The reduced model: the network that is left, with everything that read what is gone reading what stands for it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import final

from tellegen.causality import assign_causality
from tellegen.core.errors import TellegenError
from tellegen.core.names import listing
from tellegen.description.model import Model
from tellegen.equations.assembly import derive_equations
from tellegen.equations.system import EquationSystem
from tellegen.expressions import ZERO, Expression
from tellegen.expressions.entries import LONGEST, leaves, substituted
from tellegen.graph import SourceLaw, lower
from tellegen.graph.heat import POWER
from tellegen.reduction import rules
from tellegen.reduction.law_readings import laws_followed, names_in_laws
from tellegen.reduction.naming import without_index
from tellegen.reduction.remaining import (
    initial_value,
    keeping_names,
    naming_outputs,
    preferring,
    with_followed,
    without_parameters,
    without_starts,
    without_variables,
)
from tellegen.reduction.rewiring import Rewired
from tellegen.reduction.stages import Stage, solvable
from tellegen.reduction.transformation import Transformation


def small_model(stage: Stage, found: Transformation) -> tuple[Model, EquationSystem]:
    """The reduced model and its equations.

    Raises: ReductionError where nothing is left, where the model has no solution, or where something reads what is gone.
    """
    if not stage.rewired.model.elements:
        raise _standstill(stage)
    return _SmallModel(stage, found).derived()


def _standstill(stage: Stage) -> TellegenError:
    """Nothing carries power any more, and no storage holds anything."""
    still = ", ".join(f"{name} = {value}" for name, value in stage.idle.items()) or "nothing is left"
    names = listing(limit.name for limit in stage.limits)
    return rules.UNSOLVABLE.error(
        f"with {listing(map(str, stage.limits))} nothing moves any more: {still}",
        where=stage.model.name,
        why="what is left has nothing to exchange power with, and holds nothing",
        fix=f"keep {names}, or add a source or another element beside what is left",
    )


@final
class _SmallModel:
    def __init__(self, stage: Stage, found: Transformation) -> None:
        self.stage = stage
        self.found = found
        carriers = self._carriers()
        self.rewired: Rewired = stage.rewired_with(carriers) if carriers else stage.rewired

    def derived(self) -> tuple[Model, EquationSystem]:
        """The model with the states chosen, asked for where causality would take others; and its equations."""
        model = self._model()
        return solvable(self.stage.limits, lambda: self._with_states(model))

    # -- who reads what is gone ------------------------------------------------------------------------------------------------

    def _carriers(self) -> list[str]:
        """The elements at their limit that stay, because nothing else tells what others read of them.

        Laws may read what only rates tell (the normal force behind a friction), and displacements what is no formula of states and
        inputs (the speed of a massless body under that friction), or too long a one for a file.
        """
        causal, model = self.stage.choice.causal, self.stage.rewired.model
        ports = {causal.graph.ports[k].variable(causal.follows(k)): k for k in self.stage.sources.zero}
        read = names_in_laws(model) & {*self.found.rates}
        rates = {name for rate in model.displacements.values() for name in rate.free_symbols}
        read |= {name for name in rates & self.found.static.keys() if not self._is_formula(self.found.static[name])}
        return [causal.graph.ports[ports[name]].element for name in sorted(read) if name in ports]

    def _is_formula(self, e: Expression) -> bool:
        """Whether an expression reads nothing but states, inputs, displacements and parameters, on a few lines."""
        model, found = self.stage.model, self.found
        moving = self.stage.causal.graph.moving
        known = {*found.states, *found.inputs, *model.displacements, *model.parameters, *moving, *self.stage.idle}
        written = substituted(e, found.where)
        return leaves(written) <= 2 * LONGEST and written.free_symbols <= known

    def _remaining(self) -> set[str]:
        return {e.name for e in self.rewired.model.elements}

    def _gone(self) -> set[str]:
        """Names of variables that the reduced model does not have."""
        remaining = self._remaining()
        ports = [p for p in self.stage.causal.graph.ports if p.element not in remaining]
        return {n for p in ports for n in (p.across, p.through, p.state, POWER + p.element) if n}

    def _followed(self) -> dict[str, Expression]:
        """What stands for variables that are gone, where no rates are needed for it."""
        stage, found = self.stage, self.found
        written = {n: substituted(e, found.where) for n, e in found.static.items() if n not in found.inputs}
        return {n: e for n, e in {**self._zeros(), **written, **stage.idle}.items() if n in self._gone()}

    def _zeros(self) -> dict[str, Expression]:
        """What vanishes: a variable of each element at its limit, those of idle ones beside what these keep, the heat of both."""
        zeros: dict[str, Expression] = {}
        for p in self.stage.causal.graph.ports:
            side = self.stage.limited.vanishing.get(p.element)
            if side is not None:
                zeros |= {p.variable(side): ZERO, POWER + p.element: ZERO}
            elif p.element in self.stage.rewired.idle:
                zeros |= {p.across: ZERO, p.through: ZERO, POWER + p.element: ZERO}
        return zeros

    def _refuse_open(self, model: Model, followed: Mapping[str, Expression]) -> None:
        """A law cannot read what is gone where nothing stands for it: the force of a redundant constraint, say."""
        read = sorted(names_in_laws(model) & self._gone() - followed.keys())
        if read:
            raise rules.RATE_IS_LOST.error(
                f"a law reads '{read[0]}', which nothing determines after the limit",
                where=read[0],
                fix=f"keep the element of '{read[0]}', or let the law read another variable",
                members=read,
            )

    # -- the model -------------------------------------------------------------------------------------------------------------

    def _model(self) -> Model:
        followed = self._followed()
        small = with_followed(self.rewired.model, followed, self.found.rates)
        self._refuse_open(small, followed)
        small = laws_followed(small, followed)
        small = without_variables(small, self._gone(), self._frozen())
        small = without_parameters(small, [limit.name for limit in self.stage.limits])
        return replace(small, about=self._about(), findings=(), source="")

    def _frozen(self) -> dict[str, Expression]:
        """Inputs of frozen storages, with the values that they started with."""
        stage = self.stage
        elements = {without_index(e.name): e for e in stage.model.elements}
        states = {without_index(p.element): p.state for p in stage.causal.graph.ports}
        found: dict[str, Expression] = {}
        for k in stage.sources.frozen:
            port = stage.sources.graph.ports[k]
            assert isinstance(port.law, SourceLaw), "a frozen storage is a source"
            name = without_index(port.element)
            start = initial_value(stage.model, elements[name], states[name])
            found[port.law.input] = ZERO if start is None else start
        return found

    def _about(self) -> str:
        said = ", ".join(map(str, self.stage.limits))
        return f"{self.stage.model.about} Reduced by {said}.".strip()

    # -- its equations ---------------------------------------------------------------------------------------------------------

    def _with_states(self, small: Model) -> tuple[Model, EquationSystem]:
        states = self.stage.states
        known = [p for p in self.stage.sources.graph.ports if p.element not in self.stage.limited.vanishing]
        small = keeping_names(small, known, lower(small).ports)
        for attempt in (small, None):
            model = attempt if attempt is not None else preferring(small, self.stage.choice.states)
            causal = assign_causality(lower(model))
            if {causal.graph.ports[k].state for k in causal.integral} == set(states):
                model = without_starts(model, [causal.graph.ports[k] for k in causal.derivative])
                return self._with_old_outputs(model, derive_equations(assign_causality(lower(model))))
        raise rules.CANNOT_KEEP.error(
            f"the reduced model has not the states {listing(states)}", where=self.stage.model.name, fix="keep others"
        )

    def _with_old_outputs(self, small: Model, system: EquationSystem) -> tuple[Model, EquationSystem]:
        """The reduced model with outputs named as in the full one: a speed that is no state any more is still that speed."""
        causal = self.stage.causal
        names = derive_equations(causal).outputs
        before = dict(zip((causal.graph.ports[k].element for k in causal.sources), names, strict=True))
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
