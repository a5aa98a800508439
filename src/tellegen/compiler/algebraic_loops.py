"""Loops without a state: a few items become unknowns, and each unknown brings a residual."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, final

from tellegen.compiler.scheduling import ScheduledItem
from tellegen.compiler.steps import BALANCE, DIVIDED, RATE_BALANCE, SCALED, TemplateInstance, slot
from tellegen.graph.interconnection import column

if TYPE_CHECKING:
    from tellegen.compiler.builder import Builder


Edges = Mapping[int, set[int]]


def tearing_set(edges: Edges) -> list[int]:
    """A small set of nodes without which the graph has no loop: greedy, by the product of the degrees (as for feedback sets).

    `edges[a]` are the nodes that read a.
    """
    after = {a: set(bs) for a, bs in edges.items()}
    before: dict[int, set[int]] = {a: set() for a in after}
    for a, bs in after.items():
        for b in bs:
            before[b].add(a)
    chosen = [a for a in after if a in after[a]]
    for a in chosen:
        _remove(a, after, before)
    while True:
        _strip(after, before)
        if not after:
            return chosen
        best = max(after, key=lambda a: (len(after[a]) * len(before[a]), -a))
        chosen.append(best)
        _remove(best, after, before)


def _strip(after: dict[int, set[int]], before: dict[int, set[int]]) -> None:
    """Remove nodes that lie on no loop because nothing comes before or after them."""
    stack = [a for a in after if not after[a] or not before[a]]
    while stack:
        a = stack.pop()
        if a in after:
            near = after[a] | before[a]
            _remove(a, after, before)
            stack.extend(b for b in near if b in after and (not after[b] or not before[b]))


def _remove(a: int, after: dict[int, set[int]], before: dict[int, set[int]]) -> None:
    for b in after.pop(a):
        if b != a:
            before[b].discard(a)
    for b in before.pop(a):
        if b != a:
            after[b].discard(a)


MOST_SEARCHED = 3_000_000
"""Up to so many entries (laws times variables) the loops between laws are looked at one by one, for the fewest unknowns."""


@final
class AlgebraicLoops:
    """The unknowns of a program, in order, each with the item that decides it."""

    def __init__(self, builder: "Builder") -> None:
        self.builder = builder
        self.unknowns: list[int] = []
        self._items: list[ScheduledItem] = []
        self._cut: list[int] = []

    def add(self, unknown: int, law: TemplateInstance, told: int) -> None:
        """An unknown at which a law gives what the interconnection tells."""
        self._add(ScheduledItem(unknown, law, told))

    def cut(self, dependent: Iterable[int]) -> None:
        """Make unknowns of all sums that other sums read, so that every residual is short.

        What storages that follow others depend on stays as it is, because its rate is needed.
        """
        builder = self.builder
        terms = builder.wiring.terms
        kept = set(builder.scheduler.reached(column(k, builder.causal.follows(k)) for k in dependent))
        read = {d for row in terms.values() for d, _ in row}
        self._cut = [c for c in builder.wiring.order if c in read and len(terms[c]) > 1 and c not in kept]
        for c in self._cut:
            self._unknown(builder.columns[c])

    def tear(self) -> bool:
        """Make unknowns of a few waiting items, so that the others can be computed; whether there was a loop."""
        waiting = dict(self.builder.scheduler.waiting)
        laws = [k for k, item in waiting.items() if item.argument is not None]
        large = len(laws) * len(self.builder.columns) > MOST_SEARCHED
        chosen = self._one_side(laws) if large else tearing_set(self._edges(waiting))
        for target in chosen:
            self._tear(waiting[target])
        return bool(chosen)

    def residuals(self) -> Iterator[int]:
        """The variables of F that belong to the unknowns."""
        yield from self._sum_residuals()
        for item in self._items:
            yield self._residual(item)

    # -- tearing ---------------------------------------------------------------------------------------------------------------

    def _add(self, item: ScheduledItem) -> None:
        self._items.append(item)
        self._unknown(item.target)
        self.builder.scheduler.want(() if item.argument is None else (item.argument,))

    def _unknown(self, k: int) -> None:
        variables = self.builder.variables
        variables.rate_of[k] = variables.new(f"{variables.names[k]}'")
        self.unknowns.append(k)
        self.builder.scheduler.give(k, variables.rate_of[k])

    def _tear(self, item: ScheduledItem) -> None:
        """The unknown is the argument of a law, because a law may be flat where its argument still moves."""
        scheduler, variables = self.builder.scheduler, self.builder.variables
        scheduler.drop(item)
        if item.argument is None or not isinstance(item.how, TemplateInstance):
            self._add(item)
        elif item.how.template is DIVIDED:  # used backwards, it decides its argument w: c*w is what it is told
            self._add(
                ScheduledItem(item.target, replace(item.how, template=SCALED, arguments=(item.target,)), item.argument)
            )
        else:
            told = item.argument
            argument = variables.new(variables.names[told])
            self._add(ScheduledItem(argument, TemplateInstance(slot(0), (argument,), ()), told))
            arguments = tuple(argument if k == told else k for k in item.how.arguments)
            scheduler.add(ScheduledItem(item.target, replace(item.how, arguments=arguments)))

    def _one_side(self, laws: list[int]) -> list[int]:
        """For large loops of resistive elements: all that decide the same side, the fewer ones.

        Gains between ports are skew, so in a network loops run to and fro between ports that decide across variables and ports that
        decide through variables: either set cuts all of them.
        """
        across = set(self.builder.columns[0 : 2 * len(self.builder.graph.ports) : 2])
        sides = [[k for k in laws if k in across], [k for k in laws if k not in across]]
        sides.sort(key=len)
        return sides[0] or sides[1]

    # -- who reads whom --------------------------------------------------------------------------------------------------------

    def _edges(self, waiting: Mapping[int, ScheduledItem]) -> dict[int, set[int]]:
        """Which waiting items read which, directly or through the interconnection."""
        builder = self.builder
        edges: dict[int, set[int]] = {target: set() for target in waiting}
        readers: dict[int, list[int]] = {}
        for target, item in waiting.items():
            for k in item.needs:
                readers.setdefault(k, []).append(target)
        told = {builder.columns[c]: c for c in builder.wiring.order}
        wanted = [(told[k], targets) for k, targets in readers.items() if k in told]
        decided = set(builder.columns)
        for target in waiting:
            edges[target].update(readers.get(target, ()))
            if target in decided:
                residues = builder.scheduler.dependence((target,))
                for c, targets in wanted:
                    if residues[c]:
                        edges[target].update(targets)
        for target, read in self._readers_by_gains(waiting, wanted):
            edges[target].update(read)
        return edges

    def _readers_by_gains(
        self, waiting: Mapping[int, ScheduledItem], wanted: Iterable[tuple[int, list[int]]]
    ) -> Iterator[tuple[int, list[int]]]:
        """Items that a gain of the interconnection waits for: whatever is told through it reads them."""
        scheduler, terms = self.builder.scheduler, self.builder.wiring.terms
        blocked = {
            c: found
            for c, row in terms.items()
            if (found := [k for _, gain in row for k in scheduler.moving_names(gain) if k in waiting])
        }
        for c, targets in wanted if blocked else ():
            for d in scheduler.reached((c,)):
                yield from ((k, targets) for k in blocked.get(d, ()))

    # -- residuals -------------------------------------------------------------------------------------------------------------

    def _sum_residuals(self) -> Iterator[int]:
        """What the interconnection says of the sums that were cut, less the unknowns."""
        builder = self.builder
        sums = {builder.variables.new(f"sum of {builder.variables.names[builder.columns[c]]}"): c for c in self._cut}
        builder.scheduler.add_sums(sums)
        for value, c in sums.items():
            k = builder.columns[c]
            yield builder.residual(k, TemplateInstance(RATE_BALANCE, (value, k), ()))

    def _residual(self, item: ScheduledItem) -> int:
        """What the item gives, less what the interconnection tells; or less the unknown itself, where the item gives it."""
        builder, k, how = self.builder, item.target, item.how
        if isinstance(how, TemplateInstance) and item.argument is not None and how.template is SCALED:
            return builder.residual(k, TemplateInstance(BALANCE, (k, item.argument), how.coefficients))
        value = builder.variables.new(f"law of {builder.variables.names[k]}")
        builder.scheduler.add(
            ScheduledItem(value, how if isinstance(how, TemplateInstance) else replace(how, target=value))
        )
        told = k if item.argument is None else item.argument
        return builder.residual(k, TemplateInstance(RATE_BALANCE, (value, told), ()))
