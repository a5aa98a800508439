"""A reduction on its way: what the limits do to the model, before its equations are derived."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar, final

from tellegen.causality import CausalGraph
from tellegen.core.domains import Side
from tellegen.core.errors import TellegenError
from tellegen.core.names import listing
from tellegen.description.model import Model
from tellegen.expressions import ZERO, Expression
from tellegen.reduction import rules
from tellegen.reduction.choice import Choice
from tellegen.reduction.limited import Limited
from tellegen.reduction.limits import Limit
from tellegen.reduction.naming import without_index
from tellegen.reduction.remaining import initial_value
from tellegen.reduction.rewiring import Rewired, rewired
from tellegen.reduction.sources import Sources

Found = TypeVar("Found")


@final
@dataclass(frozen=True)
class Stage:
    """The full model with its causality and limits, its laws at the limit, and the states chosen among what is left."""

    model: Model
    limits: tuple[Limit, ...]
    causal: CausalGraph
    limited: Limited
    sources: Sources
    choice: Choice

    @property
    def full_states(self) -> list[str]:
        """The states of the full model."""
        return [self.causal.graph.ports[k].state for k in self.causal.integral]

    @property
    def states(self) -> list[str]:
        """The states of the reduced model."""
        causal = self.choice.causal
        return [s for k in causal.integral if (s := causal.graph.ports[k].state) not in self.idle]

    @property
    def removed(self) -> list[str]:
        """What the elements at their limit are told by the others."""
        graph, causal = self.choice.causal.graph, self.choice.causal
        return [without_index(graph.ports[k].variable(causal.follows(k))) for k in self.sources.zero]

    def row_name(self, state: str) -> str:
        """The name under which a state of the full model is found in the limit: elements of broken-up fields lose their index."""
        ports = self.choice.causal.graph.ports
        names = {n for p in ports for n in (p.across, p.through, p.state)}
        return state if state in names else without_index(state)

    @cached_property
    def rewired(self) -> Rewired:
        """The network that is left."""
        return self.rewired_with(())

    def rewired_with(self, carriers: Iterable[str]) -> Rewired:
        """The network in which some elements at their limit stay, with value zero, because others read what they carry."""
        # A constraint that holds already is taken out: to impose it again would close a rigid loop.
        loose: dict[str, Side] = dict.fromkeys(self.sources.indeterminate, "through")
        return rewired(self.sources.model, {**self.limited.vanishing, **loose}, carriers)

    @cached_property
    def idle(self) -> dict[str, Expression]:
        """The states of idle elements, with the constant that they stay at."""
        elements = {e.name: e for e in self.model.elements}
        found: dict[str, Expression] = {}
        for port in self.choice.causal.graph.ports:
            if port.element in self.rewired.idle and port.state:
                start = initial_value(self.model, elements[port.element], port.state)
                zero = self.rewired.idle[port.element] is not None
                found[port.state] = ZERO if zero or start is None else start
        return found


def solvable(limits: Iterable[Limit], step: Callable[[], Found]) -> Found:
    """Run a step; what physics forbids after the limit is reported as a limit that does not exist."""
    try:
        return step()
    except TellegenError as reason:
        if reason.code.startswith("T"):
            raise
        asked = list(limits)
        names = listing(limit.name for limit in asked)
        raise rules.UNSOLVABLE.error(
            f"with {listing(map(str, asked))} the model has no solution: {reason.what}",
            where=reason.finding.where,
            why=reason.finding.why,
            fix=f"keep {names}, or first: {reason.finding.fix}" if reason.finding.fix else f"keep {names}",
            members=reason.finding.members,
        ) from reason
