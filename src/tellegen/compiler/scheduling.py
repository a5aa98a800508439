"""The order of evaluation: the interconnection solved row by row, and the items of a model ordered over it.

Rows with one unknown are solved first, again and again, which costs linear time and makes no fill; rings inside the junction
structure, which never get that far, go through sparse elimination.

What a port is told is a sum over what all ports decide, kept in factored form (node potentials, through variables of couplings). In
that form a told variable may seem to depend on a port that it does not depend on: two node potentials share a part that cancels in
their difference. So dependence is asked of numbers: with random residues for everything not yet known and zero for the rest, what
comes out as zero does not depend on it. Such variables are computed at once, the unknown part left out; all others wait.
"""

import random
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import final

from tellegen.causality import CausalGraph
from tellegen.causality.causal_graph import position_dependent_names, tearing_order
from tellegen.compiler import steps
from tellegen.expressions import MINUS_ONE, ONE, PRIME, ZERO, Expression, total
from tellegen.expressions.elimination import Elimination, Entry, NamedEntries
from tellegen.graph.interconnection import Interconnection, column

Row = dict[int, Expression]
Terms = list[tuple[int, Expression]]
"""A sum of gains times columns."""


@final
@dataclass(frozen=True)
class SolvedInterconnection:
    """`terms[c]` gives column c by columns that ports decide and by columns that stand earlier in `order`.

    `where` are the names that elimination gave to long gains, in order; `columns` is how many there are.
    """

    order: list[int]
    terms: dict[int, Terms]
    where: dict[str, Expression]
    columns: int


def solve_interconnection(causal: CausalGraph) -> SolvedInterconnection:
    """Solve the interconnection of a causal graph for what ports are told, in factored form."""
    interconnection = Interconnection(causal.graph)
    rows = list(interconnection.rows(lambda expression: expression))
    count = interconnection.internal.stop
    unknown = bytearray(count)
    for k in range(len(causal.graph.ports)):
        unknown[column(k, causal.follows(k))] = 1
    for c in interconnection.internal:
        unknown[c] = 1
    moving = position_dependent_names(causal.graph)
    # Propagation first: it is linear in the size, makes no new entries, and most networks are trees for it.
    made = SolvedInterconnection([], {}, {}, count)
    left = _propagate(rows, unknown, moving, made)
    # Factors that move may vanish for a moment: such rows are not divided by, but torn at columns with constant
    # factors.
    if left and moving:
        _tear(left, unknown, causal, made)
        left = _propagate(left, unknown, moving, made)
    if left:
        _eliminate(left, unknown, causal, interconnection, made)
    return made


def _propagate(rows: list[Row], unknown: bytearray, moving: frozenset[str], made: SolvedInterconnection) -> list[Row]:
    """Solve for columns in the order in which some row has them as its only unknown; gives the rows that never come that far.

    A row whose factor of the unknown moves is left: where the factor vanishes for a moment, another row may decide the same.
    """
    users: dict[int, list[int]] = {}
    missing = [0] * len(rows)
    for r, row in enumerate(rows):
        for c in row:
            if unknown[c]:
                missing[r] += 1
                users.setdefault(c, []).append(r)
    ready = deque(r for r, n in enumerate(missing) if n == 1)
    while ready:
        row = rows[ready.popleft()]
        open_columns = [c for c in row if unknown[c]]
        if not open_columns:
            continue  # another row was quicker: this one is redundant
        c = open_columns[0]
        if moving and row[c].free_symbols & moving:
            continue
        made.order.append(c)
        made.terms[c] = _solved(row, c)
        unknown[c] = 0
        for r in users[c]:
            missing[r] -= 1
            if missing[r] == 1:
                ready.append(r)
    return [row for row, n in zip(rows, missing, strict=True) if n > 0]


def _solved(row: Mapping[int, Expression], c: int) -> Terms:
    """The row solved for one of its columns."""
    value = row[c]
    if value is ONE:
        return [(d, MINUS_ONE if e is ONE else ONE if e is MINUS_ONE else -e) for d, e in row.items() if d != c]
    if value is MINUS_ONE:
        return [(d, e) for d, e in row.items() if d != c]
    return [(d, -e / value) for d, e in row.items() if d != c and e is not ZERO]


def _tear(rows: list[Row], unknown: bytearray, causal: CausalGraph, made: SolvedInterconnection) -> None:
    """Solve rings for the few columns that open them; all others then follow along their paths, each by a short row."""
    field = _entries(causal)
    elimination: Elimination[Entry] = Elimination([{c: field.entry(e) for c, e in row.items()} for row in rows], field)
    left = [c for c, still in enumerate(unknown) if still]
    constant = causal.graph.parameters.keys()
    torn = elimination.tear(left, tearing_order(causal), lambda entry: entry.expression.free_symbols <= constant)
    # Backwards: a row reads columns that were eliminated after it.
    for c in reversed(torn):
        row = elimination.rows[elimination.pivots[c]]
        made.terms[c] = _solved({d: e.expression for d, e in row.items()}, c)
        made.order.append(c)
        unknown[c] = 0
    made.where.update(field.where)


def _entries(causal: CausalGraph) -> NamedEntries:
    graph = causal.graph
    names = (name for p in graph.ports for name in (p.across, p.through, p.state))
    signals = (signal.name for signal in graph.signals)
    return NamedEntries(
        graph.parameters, (*names, *graph.position_dependent, *graph.displacements, *signals), prefix="g"
    )


def _eliminate(
    rows: list[dict[int, Expression]],
    unknown: bytearray,
    causal: CausalGraph,
    interconnection: Interconnection,
    made: SolvedInterconnection,
) -> None:
    """Solve the rows left over for the columns left over; what they leave open stays zero, for no port can see it."""
    field = _entries(causal)
    elimination: Elimination[Entry] = Elimination([{c: field.entry(e) for c, e in row.items()} for row in rows], field)
    # Internal columns first: nobody reads potentials, so what is left open of them does no harm.
    elimination.eliminate_all([c for c in interconnection.internal if unknown[c]])
    elimination.eliminate_all([c for c in range(interconnection.internal.start) if unknown[c]])
    pivots = elimination.pivots
    for c, r in reversed(pivots.items()):
        row = {d: e.expression for d, e in elimination.rows[r].items() if d in pivots or not unknown[d]}
        made.terms[c] = _solved(row, c)
        made.order.append(c)
    # A floating part of a network has a potential that nothing decides and no port sees: zero will do.
    for c in range(len(unknown)):
        if unknown[c] and c not in pivots:
            made.terms[c] = []
            made.order.insert(0, c)
    made.where.update(field.where)


@final
@dataclass(eq=False, slots=True)
class ScheduledItem:
    """A variable given by a formula or a reading of others. `argument` is what a law that can be torn is told."""

    target: int
    how: steps.TemplateInstance | steps.Lookup
    argument: int | None = None

    @property
    def needs(self) -> Iterable[int]:
        """The variables it reads."""
        return self.how.arguments


@final
class Scheduler:
    """Collects steps while items become ready; `columns[c]` is the variable of column c of the interconnection."""

    def __init__(self, wiring: SolvedInterconnection, columns: list[int], variables: steps.Variables) -> None:
        self.wiring = wiring
        self.columns = columns
        self.variables = variables
        self.steps: list[steps.Step] = []
        self.known: set[int] = set()
        self.waiting: dict[int, ScheduledItem] = {}
        self.wanted: set[int] = set()
        self.zeros: set[int] = set()  # what switches decide, whatever they are told
        self._place = {c: k for k, c in enumerate(wiring.order)}
        self._column_of = {columns[c]: c for c in wiring.order}
        # The same residues in every run: the order of the code, and with it its key in the cache, must not change.
        chance = random.Random(1)
        # Modulo a prime of some sixty bits what is not zero comes out as zero once in 1e18.
        self._random = [chance.getrandbits(60) | 1 for _ in range(wiring.columns)]
        self._residues: dict[Expression, int] = {ONE: 1, MINUS_ONE: PRIME - 1}
        self._variables_of_gains: dict[Expression, tuple[int, ...]] = {}
        self._missing: dict[int, int] = {}
        self._users: dict[int, list[int]] = {}
        self._ready: list[int] = []
        self._all: list[int] = []

    def give(self, *leaves: int) -> None:
        """Variables known from outside."""
        for k in leaves:
            self._learn(k)

    def add(self, item: ScheduledItem) -> None:
        """An item to be computed as soon as it can be."""
        self.waiting[item.target] = item
        # Counted once even where a law reads a variable twice.
        missing = [k for k in dict.fromkeys(item.needs) if k not in self.known]
        self._missing[item.target] = len(missing)
        if not missing:
            self._ready.append(item.target)
        for k in missing:
            self._users.setdefault(k, []).append(item.target)
            # What ports are told is not computed before somebody asks: many potentials never are.
            if k in self._column_of:
                self.wanted.add(k)

    def want(self, variables: Iterable[int]) -> None:
        """Ask for variables that ports are told."""
        self.wanted.update(k for k in variables if k not in self.known)

    def settle(self) -> None:
        """Compute whatever can be computed."""
        while True:
            # Laws until none is ready, then one sweep over the interconnection for what they wait for; and again.
            self._run_ready()
            if not self.wanted or not self._sweep():
                return

    def add_sums(self, sums: Mapping[int, int]) -> None:
        """Compute the sums of columns, given by their targets, once more: into variables of their own."""
        terms = self.wiring.terms
        self.want({self.columns[d] for c in sums.values() for d, _ in terms[c]})
        self.settle()
        rows = steps.LinearRows()
        for target, c in sums.items():
            rows = self._append(rows, target, [(self.columns[d], gain) for d, gain in terms[c]])
        if rows.targets:
            self.steps.append(rows)
        self.give(*sums)

    def drop(self, item: ScheduledItem) -> None:
        """Take an item out of the waiting ones, because something else will decide its target."""
        del self.waiting[item.target]
        del self._missing[item.target]
        for k in dict.fromkeys(item.needs):  # it may come back with other needs: nothing is to be counted twice
            if k in self._users:
                self._users[k].remove(item.target)

    # -- items -----------------------------------------------------------------------------------------------------------------

    def _learn(self, k: int) -> None:
        if k in self.known:
            return
        self.known.add(k)
        self.wanted.discard(k)
        for target in self._users.pop(k, ()):
            if target in self._missing:
                self._missing[target] -= 1
                if self._missing[target] == 0:
                    self._ready.append(target)

    def _run_ready(self) -> None:
        while self._ready:
            ready = [target for target in self._ready if target in self.waiting]
            self._ready = []
            # All that are ready at once and have one template become one group, however far apart they stand in the
            # model.
            groups: dict[Expression, steps.LawGroup] = {}
            for target in ready:
                item = self.waiting.pop(target)
                del self._missing[target]
                if isinstance(item.how, steps.Lookup):
                    self.steps.append(item.how)
                    continue
                group = groups.get(item.how.template)
                if group is None:
                    group = groups[item.how.template] = empty_group(item.how)
                    self.steps.append(group)
                fill(group, target, item.how)
            for target in ready:
                self._learn(target)

    # -- what ports are told ---------------------------------------------------------------------------------------------------

    def dependence(self, unknown: Iterable[int] | None = None) -> list[int]:
        """For each column a residue that is zero where the column does not depend on what is unknown.

        Unknown is what ports decide and is not known yet; or, of that, only the given variables.
        """
        only = None if unknown is None else set(unknown)
        found = [0] * self.wiring.columns
        known, columns, terms = self.known, self.columns, self.wiring.terms
        for c, k in enumerate(columns):
            if c not in terms and k not in known and (only is None or k in only):
                found[c] = self._random[c]
        for c in self.wiring.order:
            if columns[c] in known:
                continue
            value = 0
            for d, gain in terms[c]:
                if gain is ONE:
                    value += found[d]
                elif gain is MINUS_ONE:
                    value -= found[d]
                # A gain that is not known yet makes the whole sum unknown, as if it had a share of its own.
                elif only is None and not self.known.issuperset(self.variables_in_gain(gain)):
                    value += self._random[c]
                elif found[d]:
                    value += found[d] * self._residue(gain)
            found[c] = value % PRIME
        return found

    def residue_of_input(self, c: int) -> int:
        """The residue of minus a told column, with a random residue for everything that ports decide."""
        if not self._all:
            # As if nothing were known: what the interconnection alone says of the column.
            known, self.known = self.known, set()
            self._all = self.dependence(k for k in self.columns if k not in self.zeros)
            self.known = known
        return -self._all[c] % PRIME

    def decided_residue(self, c: int) -> int:
        """The random residue of a column that a port decides."""
        return self._random[c]

    def variables_in_gain(self, gain: Expression) -> tuple[int, ...]:
        """The variables in a gain."""
        found = self._variables_of_gains.get(gain)
        if found is None:
            found = self._variables_of_gains[gain] = tuple(self.variables.numbers(gain.free_symbols))
        return found

    def _residue(self, gain: Expression) -> int:
        found = self._residues.get(gain)
        if found is None:
            values = gain.residues()
            # A gain whose residue divides by zero counts as any other number.
            found = self._residues[gain] = values[0] if values is not None else self._random[0]
        return found

    def _sweep(self) -> bool:
        """Compute the wanted variables that do not depend on anything unknown; whether there was one."""
        residues = self.dependence()
        # Those whose residue is zero depend on nothing unknown: terms that cancel do not count.
        exact = [c for k in self.wanted if not residues[c := self._column_of[k]]]
        if not exact:
            return False
        rows = steps.LinearRows()
        partial: dict[int, int | None] = {}
        for c in self.reached(exact):
            terms = self._known_terms(c, partial)
            if residues[c] == 0:
                target = self.columns[c]
                rows = self._append(rows, target, terms)
                self._learn(target)
            # The known part of a column that is not known itself: the unknown parts cancel in what is asked for.
            elif terms:
                partial[c] = self.variables.new(f"part of {self.variables.names[self.columns[c]]}")
                rows = self._append(rows, partial[c], terms)  # type: ignore[arg-type]
            else:
                partial[c] = None
        if rows.targets:
            self.steps.append(rows)
        return True

    def reached(self, columns: Iterable[int]) -> list[int]:
        """The columns that are needed for some others and not known, in order."""
        terms = self.wiring.terms
        reached: set[int] = set()
        stack = list(columns)
        while stack:
            c = stack.pop()
            if c not in reached and c in terms and self.columns[c] not in self.known:
                reached.add(c)
                stack.extend(d for d, _ in terms[c])
        # In the order in which the interconnection was solved: a column reads earlier ones only.
        return sorted(reached, key=self._place.__getitem__)

    def _known_terms(self, c: int, partial: dict[int, int | None]) -> Terms:
        found: Terms = []
        for d, gain in self.wiring.terms[c]:
            k: int | None = self.columns[d] if self.columns[d] in self.known else partial.get(d)
            if k is not None:
                found.append((k, gain))
        return found

    def _append(self, rows: steps.LinearRows, target: int, terms: Terms) -> steps.LinearRows:
        """Add a row; one whose gains move is a formula of its own, and a new block begins after it."""
        if not any(self.variables_in_gain(gain) for _, gain in terms if gain is not ONE and gain is not MINUS_ONE):
            rows.add(target, terms)
            return rows
        if rows.targets:
            self.steps.append(rows)
        how = steps.template_instance_of(total(gain * steps.variable(k) for k, gain in terms), self.variables.number)
        group = empty_group(how)
        fill(group, target, how)
        self.steps.append(group)
        return steps.LinearRows()


def empty_group(how: steps.TemplateInstance) -> steps.LawGroup:
    """A group for a template, without targets."""
    return steps.LawGroup(how.template, [], [[] for _ in how.arguments], [[] for _ in how.coefficients])


def fill(group: steps.LawGroup, target: int, how: steps.TemplateInstance) -> None:
    """Add a target to a group."""
    group.targets.append(target)
    for sources, k in zip(group.arguments, how.arguments, strict=True):
        sources.append(k)
    for column_of_formulas, formula in zip(group.coefficients, how.coefficients, strict=True):
        column_of_formulas.append(formula)
