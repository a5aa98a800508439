"""Gains of the causal paths that cross no integrator: from what storages and sources decide to what storages and sources are told.

A path runs through the interconnection, where it may pass couplings, and through linear resistive elements, each of which decides
one variable of the other by its law. Resistive elements that decide each other form algebraic loops; up to three of them are
solved by Mason's rule (Mason 1956): the gain is the sum over forward paths of gain times cofactor, over the determinant Delta. A
resistive field is passed from one of its ports to another, with the gain that its matrix has there.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import permutations

from tellegen.causality import CausalGraph
from tellegen.core.names import unused
from tellegen.core.union_find import UnionFind
from tellegen.equations.printing.explanation import AlgebraicLoop, CausalPath
from tellegen.equations.structure import CausalStructure, causal_structure
from tellegen.expressions import ONE, ZERO, Add, Expression, Symbol, number, symbol, total
from tellegen.expressions.elimination import NamedEntries, used_names, with_definitions
from tellegen.graph import Coupling, Field, ResistiveLaw

MOST_COUPLED = 3
"""Algebraic loops of so many resistive elements are written out by Mason's rule; larger ones are solved by elimination."""

_MARK = "@"
"""Marks the modulus of a coupling, so that a gain tells which couplings it passes; no user can write it."""


class PathFinder:
    """Finds the paths of a causal graph. `where` holds names inside gains that would be too long otherwise."""

    def __init__(self, causal: CausalGraph, taken: Iterable[str]) -> None:
        self.causal = causal
        self.ports = causal.graph.ports
        # Each coupling gets a factor of its own that stands for one; so a gain tells by its names which couplings it
        # passes, even where two share a parameter.
        marked = [replace(c, K=tuple(tuple(e * _mark(c) for e in row) for row in c.K)) for c in causal.graph.couplings]
        field = NamedEntries(causal.graph.parameters, taken, prefix="k")
        graph = replace(causal.graph, couplings=tuple(marked))
        self.structure: CausalStructure = causal_structure(replace(causal, graph=graph), field)
        # Put in at the end, the marks are gone from every formula that is shown.
        self._marks: dict[str, Expression] = {_mark(c).name: ONE for c in causal.graph.couplings}
        self._marked_where = dict(field.where)
        self.where = {name: e.substitute(self._marks) for name, e in field.where.items()}
        self.gains = {k: self._law_gain(k) for k in causal.resistive if self._is_linear(k)}
        self._blocks = self._coupled()
        self._block_of = {k: n for n, block in enumerate(self._blocks) for k in block}
        self._whole_fields = {k: field for field in causal.graph.fields if self._is_passed(field) for k in field.ports}
        self._near = _Nearness(causal)
        self.loops = list(self._named_loops({*taken, *self.where}))
        self._loop_of = {k: n for n, block in enumerate(self._large_or_small()) for k in block}

    # -- resistive elements and their loops ------------------------------------------------------------------------------------

    def _is_linear(self, k: int) -> bool:
        law = self.ports[k].law
        return isinstance(law, ResistiveLaw) and law.linear

    def _law_gain(self, k: int) -> Expression:
        """What a resistive port decides, over what it is told."""
        law = self.ports[k].resistive
        assert law.coefficient is not None, "a linear law has a coefficient"
        return law.coefficient if self.causal.decides[k] == law.side else ONE / law.coefficient

    def _is_idle(self, k: int) -> bool:
        """Whether a port decides that something is zero, whatever it is told: no path goes on behind it."""
        law = self.ports[k].law
        # A zero on the diagonal of a field still passes on what stands beside it.
        return self.gains[k] is ZERO and not (isinstance(law, ResistiveLaw) and law.coupled)

    def _coupled(self) -> list[list[int]]:
        """Linear resistive ports in groups that decide each other."""
        groups = UnionFind(len(self.ports))
        for k in self.gains:
            for j in self.structure.gains[k]:
                # To decide each other is mutual, because the interconnection is skew: groups are enough.
                if j in self.gains and not self._is_idle(k) and not self._is_idle(j):
                    groups.join(k, j)
        for field in self.causal.graph.fields:
            # The matrix of a field joins its ports, whatever the network between them does.
            for j in field.ports[1:]:
                groups.join(field.ports[0], j)
        blocks: dict[int, list[int]] = {}
        for k in self.gains:
            blocks.setdefault(groups.find(k), []).append(k)
        return list(blocks.values())

    def _is_passed(self, field: Field) -> bool:
        """Whether a resistive field is asked in the direction of its laws, by nothing that it decides itself."""
        ports = field.ports
        if not all(k in self.gains and self.causal.decides[k] == self.ports[k].law.side for k in ports):
            return False
        return sorted(self._blocks[self._block_of[ports[0]]]) == sorted(ports) and not any(
            j in self.structure.gains[k] for k in ports for j in ports
        )

    def _large_or_small(self) -> list[list[int]]:
        return [block for block in self._blocks if len(block) > 1 and block[0] not in self._whole_fields]

    def _is_solved_by_paths(self, block: Sequence[int]) -> bool:
        in_fields = {k for field in self.causal.graph.fields for k in field.ports}
        return len(block) <= MOST_COUPLED and in_fields.isdisjoint(block)

    def _named_loops(self, taken: set[str]) -> Iterator[AlgebraicLoop]:
        blocks = self._large_or_small()
        for n, block in enumerate(blocks):
            name = "Delta" if len(blocks) == 1 else f"Delta_{n + 1}"
            members = tuple(self.ports[k].element for k in block)
            yield AlgebraicLoop(
                unused(name, taken), members, tuple(self._rounds(block)) if self._is_solved_by_paths(block) else ()
            )

    def _rounds(self, block: Sequence[int]) -> Iterator[CausalPath]:
        """The elementary loops inside a block, each once: begun at its first member."""
        # All orders of up to three members are few; this is why larger loops are left to elimination.
        for size in range(2, len(block) + 1):
            for members in permutations(block, size):
                # A loop has no beginning, so the smallest number is taken for it and each loop is counted once.
                if members[0] == min(members):
                    for forward, stops in self._chains((*members, members[0])):
                        if forward is not ZERO:
                            yield CausalPath(forward, (self.ports[members[0]].element, *stops))

    # -- legs and paths --------------------------------------------------------------------------------------------------------

    def _leg(self, told: int, decided: int) -> list[tuple[Expression, tuple[str, ...]]]:
        """The ways from what one port decides to what another is told: gain and couplings passed, one for each term of the gain."""
        found = self.structure.gain(told, decided)
        if found is None:
            return []
        expression = found.expression
        # A sum of gains is a bundle of paths; terms that pass the same couplings are one path to the eye.
        terms = [c * term for term, c in expression.terms] if isinstance(expression, Add) else [expression]
        terms += [number(expression.constant)] if isinstance(expression, Add) and expression.constant else []
        by_couplings: dict[tuple[str, ...], list[Expression]] = {}
        for term in terms:
            passed = self._near.ordered(self._passed(term), decided)
            by_couplings.setdefault(passed, []).append(term.substitute(self._marks))
        return [(total(shares), passed) for passed, shares in by_couplings.items()]

    def _passed(self, term: Expression) -> set[str]:
        names = set(term.free_symbols)
        for name in used_names([term], self._marked_where):
            names |= self._marked_where[name].free_symbols
        return {name[len(_MARK) :] for name in names if name in self._marks}

    def _chains(self, members: Sequence[int]) -> Iterator[tuple[Expression, tuple[str, ...]]]:
        """From what the first of some ports decides through the resistive ones behind it; the stops are those after the first.

        The law of the first port counts where it is resistive, that of the last one does not.
        """
        first, *rest = members
        # A storage or source decides by itself, a resistive port by its law of what it is told.
        begun = self.gains.get(first, ONE)
        ways: list[tuple[Expression, tuple[str, ...]]] = [(begun, ())]
        before = first
        for n, k in enumerate(rest, 1):
            legs = self._leg(k, before)
            # The last one is only told: its law would lead on to what it decides.
            law = self.gains.get(k, ONE) if n < len(rest) else ONE
            ways = [(g * gain * law, (*s, *passed, self.ports[k].element)) for g, s in ways for gain, passed in legs]
            before = k
        yield from ways

    def between(self, told: int, decided: int) -> list[CausalPath]:
        """All paths from what storage or source `decided` decides to what `told` is told; the ends are left out of the stops."""
        paths = [CausalPath(gain, passed) for gain, passed in self._leg(told, decided)]
        for block in self._blocks_between(told, decided):
            if block[0] in self._whole_fields:
                paths += self._through_field(self._whole_fields[block[0]], told, decided)
            elif self._is_solved_by_paths(block):
                paths += self._through(block, told, decided)
        return [path for path in paths if path.forward is not ZERO]

    def _through_field(self, field: Field, told: int, decided: int) -> Iterator[CausalPath]:
        for into, column in zip(field.ports, zip(*field.matrix, strict=True), strict=True):
            for out, entry in zip(field.ports, column, strict=True):
                if entry is not ZERO:
                    for begun, passed in self._leg(into, decided):
                        for ended, behind in self._leg(told, out):
                            yield CausalPath(begun * entry * ended, (*passed, field.element, *behind))

    def _blocks_between(self, told: int, decided: int) -> Iterator[list[int]]:
        """The groups of resistive ports that one port reaches and that reach the other."""
        gains = self.structure.gains
        for n in sorted({self._block_of[k] for k in gains[told] if k in self._block_of}):
            if any(decided in gains[k] for k in self._blocks[n]):
                yield self._blocks[n]

    def _through(self, block: Sequence[int], told: int, decided: int) -> Iterator[CausalPath]:
        loop = self.loops[self._loop_of[block[0]]] if len(block) > 1 else None
        for size in range(1, len(block) + 1):
            for members in permutations(block, size):
                for forward, stops in self._chains((decided, *members, told)):
                    passed = stops[:-1]
                    # Mason's rule: gain times the determinant of what the path does not touch, over the whole determinant.
                    cofactor = ONE if loop is None else self._cofactor(loop, members)
                    yield CausalPath(forward, passed, cofactor, "" if loop is None else loop.name)

    def _cofactor(self, loop: AlgebraicLoop, members: Sequence[int]) -> Expression:
        """The determinant of what the path does not touch."""
        touched = {self.ports[k].element for k in members}
        # With at most three members no two loops are apart from each other, so no products of loops follow (Mason 1956).
        return ONE - total(path.forward for path in loop.rounds if touched.isdisjoint(path.stops))

    def eliminated_between(self, told: int, decided: int) -> tuple[str, ...]:
        """The members of the loops solved by elimination that lie between two ports."""
        names: list[str] = []
        for block in self._blocks_between(told, decided):
            if block[0] not in self._whole_fields and not self._is_solved_by_paths(block):
                names += [self.ports[k].element for k in block]
        return tuple(names)

    def written(self, expression: Expression, where: Mapping[str, Expression]) -> Expression:
        """An expression with all names written out: determinants, long gains and the names of `where`."""
        # Checks compare paths with entries of matrices, in which no determinant has a name.
        deltas = {loop.name: loop.determinant for loop in self.loops if loop.rounds}
        return with_definitions(expression, {**where, **self.where, **deltas})


def _mark(coupling: Coupling) -> Symbol:
    return symbol(_MARK + coupling.element)


class _Nearness:
    """How far couplings lie from a port, so that a path names them in the order it meets them."""

    def __init__(self, causal: CausalGraph) -> None:
        self.ports = causal.graph.ports
        self.order = {c.element: n for n, c in enumerate(causal.graph.couplings)}
        self.ends = {c.element: c.nodes for c in causal.graph.couplings}
        self.references = {k for k, node in enumerate(causal.graph.nodes) if node.reference}
        self._joined: dict[int, set[int]] = {}
        branches = [(p.plus, p.minus) for p in self.ports]
        for a, b in branches:
            # Everything is joined at the reference: a path through it would make every coupling near.
            if a not in self.references and b not in self.references:
                self._joined.setdefault(a, set()).add(b)
                self._joined.setdefault(b, set()).add(a)
        self._known: dict[int, dict[str, int]] = {}

    def ordered(self, couplings: set[str], port: int) -> tuple[str, ...]:
        """Couplings by their distance from a port."""
        if len(couplings) < 2:
            return tuple(couplings)
        if port not in self._known:
            self._known[port] = self._distances(port)
        far = self._known[port]
        return tuple(sorted(couplings, key=lambda c: (far.get(c, len(self.order)), self.order[c])))

    def _distances(self, port: int) -> dict[str, int]:
        reached = self._spread({self.ports[port].plus, self.ports[port].minus} - self.references)
        found: dict[str, int] = {}
        distance = 0
        while True:
            # Ring by ring: the couplings that touch what has been reached are one further away.
            touched = [c for c, ends in self.ends.items() if c not in found and ends & reached]
            if not touched:
                return found
            for c in touched:
                found[c] = distance
            reached = self._spread(reached | set().union(*(self.ends[c] for c in touched)) - self.references)
            distance += 1

    def _spread(self, nodes: set[int]) -> set[int]:
        """The nodes with those that ports join to them away from the reference."""
        reached, waiting = set(nodes), list(nodes)
        while waiting:
            for other in self._joined.get(waiting.pop(), set()) - reached:
                reached.add(other)
                waiting.append(other)
        return reached
