"""Loops and paths of signals through a scheme, with the minus signs along them, and the paths worth inverting.

By Mason's rule a loop becomes one block: 1/(F s)/(1 + G/(F s)) = 1/(F s + G).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from itertools import pairwise
from typing import final

from tellegen.core.errors import TellegenError
from tellegen.core.names import did_you_mean
from tellegen.core.union_find import strong_components
from tellegen.expressions import ONE, Expression, is_zero, product, split_coefficient, symbol
from tellegen.schemes import rules
from tellegen.schemes.bond_graph_scheme import OnePort
from tellegen.schemes.names import UniqueNames
from tellegen.schemes.pog_scheme import (
    Column,
    Ladder,
    PogScheme,
    Rewriting,
    SchemeBlock,
    Summation,
    ladder_with,
    with_ladder,
)

Edges = Mapping[str, Mapping[str, tuple[int, str]]]
"""For each signal the signals it leads to, with the sign on the way and the block passed (empty for a summation)."""


@final
@dataclass(frozen=True, slots=True)
class Loop:
    """A closed path that passes no signal twice: its signals, the blocks on it, and how many minus signs it has."""

    signals: tuple[str, ...]
    blocks: tuple[str, ...]
    minus_signs: int

    @property
    def odd(self) -> bool:
        """Whether the number of minus signs is odd, as in every loop of a chained or tree-like scheme."""
        return self.minus_signs % 2 == 1


def elementary_loops(scheme: PogScheme, *, most: int = 10_000) -> list[Loop]:
    """The elementary loops (Johnson 1975). Signs inside K count.

    Raises: GraphError when there are more than `most`.
    """
    edges = signal_edges(scheme)
    found: list[Loop] = []
    for signals in _cycles(edges):
        # In a mesh their number grows exponentially: better an error than a run of hours.
        if len(found) == most:
            raise rules.TOO_MANY_LOOPS.error(
                f"the scheme has more than {most} elementary loops", fix="check the signs by 'check_signs' instead"
            )
        steps = [edges[a][b] for a, b in zip(signals, (*signals[1:], signals[0]), strict=True)]
        blocks = tuple(block for _, block in steps if block)
        found.append(Loop(tuple(signals), blocks, sum(sign < 0 for sign, _ in steps)))
    return found


def signal_edges(scheme: PogScheme) -> Edges:
    """The signal-flow graph of a scheme."""
    edges: dict[str, dict[str, tuple[int, str]]] = {name: {} for name in scheme.signals()}
    for block in scheme.blocks.values():
        # Only signs matter for loops; the gains are asked for when a path is read.
        edges[block.input][block.output] = (block.sign, block.name)
        for name, gain in block.terms:
            edges[name][block.output] = (-1 if split_coefficient(gain)[0] < 0 else 1, block.name)
    for summation in scheme.summations.values():
        for name, sign in summation.inputs:
            edges[name][summation.output] = (sign, "")
    return edges


def _cycles(edges: Edges) -> Iterator[list[str]]:
    """Every elementary cycle once: those through a first signal, then those of what is left without it."""
    # A cycle stays within one strongly connected part, so the others are never searched.
    work = _strong_parts(edges, set(edges))
    while work:
        part = work.pop()
        # The smallest name, so that the order of loops does not change from run to run.
        start = min(part)
        yield from _cycles_through(start, part, edges)
        # All cycles through the start are known: without it none is found twice (Johnson 1975).
        part.discard(start)
        work += _strong_parts(edges, part)


def _cycles_through(start: str, part: set[str], edges: Edges) -> Iterator[list[str]]:
    # Johnson's blocking: a signal from which no cycle was closed is not entered again before something it waits for is freed.
    path, blocked, closed = [start], {start}, set[str]()
    waiting: dict[str, set[str]] = {}
    stack = [(start, [n for n in edges[start] if n in part])]
    while stack:
        here, ahead = stack[-1]
        if ahead:
            name = ahead.pop()
            if name == start:
                yield path[:]
                closed.update(path)
            elif name not in blocked:
                path.append(name)
                stack.append((name, [n for n in edges[name] if n in part]))
                closed.discard(name)
                blocked.add(name)
            continue
        # A cycle went through here, so others may: free it and all that waited for it.
        if here in closed:
            _unblock(here, blocked, waiting)
        else:
            for name in edges[here]:
                if name in part:
                    # No cycle yet: it is worth coming back only when one of its successors is freed.
                    waiting.setdefault(name, set()).add(here)
        stack.pop()
        path.pop()


def _unblock(name: str, blocked: set[str], waiting: dict[str, set[str]]) -> None:
    stack = [name]
    while stack:
        here = stack.pop()
        if here in blocked:
            blocked.discard(here)
            stack.extend(waiting.pop(here, ()))


def _strong_parts(edges: Edges, among: set[str]) -> list[set[str]]:
    """The strongly connected parts of more than one signal in part of a graph."""
    ahead = {name: [n for n in sorted(edges[name]) if n in among] for name in sorted(among)}
    return [set(part) for part in strong_components(ahead) if len(part) > 1]


@final
@dataclass(frozen=True, slots=True)
class SignalPath:
    """Signals in the order of a path, and what stands between each two of them. A closed one ends where it starts."""

    signals: tuple[str, ...]
    steps: tuple[SchemeBlock | Summation, ...]

    @property
    def closed(self) -> bool:
        """Whether it is a loop."""
        return self.signals[0] == self.signals[-1]

    @property
    def blocks(self) -> tuple[SchemeBlock, ...]:
        """The blocks along it."""
        return tuple(step for step in self.steps if isinstance(step, SchemeBlock))

    def __str__(self) -> str:
        return " -> ".join(self.signals)


def check_variables(scheme: PogScheme, names: Iterable[str]) -> None:
    """Raises: GraphError (G206) for a name that is no variable."""
    known = scheme.signals()
    for name in names:
        if name not in known:
            fix = did_you_mean(name, known) or f"the variables are {', '.join(known[:20])}"
            raise rules.NO_SUCH_SIGNAL.error(f"'{name}' is no variable of the scheme", fix=fix)


def read_path(scheme: PogScheme, path: Loop | Sequence[str]) -> SignalPath:
    """A loop, or signals one after the other, with the blocks and summations between them.

    Raises: GraphError (G206) for a name that is no variable, G209 where no line leads on or a variable is passed twice.
    """
    # A loop names each signal once; as a path it ends where it starts.
    signals = (*path.signals, path.signals[0]) if isinstance(path, Loop) else tuple(path)
    check_variables(scheme, signals)
    # Simple paths only: what passes a variable twice cannot be inverted, since the variable would be decided twice.
    if len(signals) < 2 or len(set(signals[:-1])) < len(signals) - 1 or signals[-1] in signals[1:-1]:
        what = f"{' -> '.join(signals) or 'nothing'} is no path: it has to pass two variables or more, each once"
        raise rules.NO_SUCH_PATH.error(what, fix="name each variable once; in a loop the first one again at the end")
    decided = {block.output: block for block in scheme.blocks.values()}
    steps = [_step(scheme, decided, a, b) for a, b in pairwise(signals)]
    return SignalPath(signals, tuple(steps))


def _step(scheme: PogScheme, decided: dict[str, SchemeBlock], start: str, end: str) -> SchemeBlock | Summation:
    block, summation = decided.get(end), scheme.summations.get(end)
    # Terms of a field are no step: such a block has one path, from its own input.
    if block is not None and block.input == start:
        return block
    if summation is not None and any(name == start for name, _ in summation.inputs):
        return summation
    ahead = sorted(signal_edges(scheme)[start])
    fix = f"from '{start}' lines lead to {', '.join(ahead)}" if ahead else f"'{start}' leads nowhere"
    raise rules.NO_SUCH_PATH.error(f"no line leads from '{start}' to '{end}'", where=start, fix=fix)


def lightest_path(
    scheme: PogScheme, start: str, end: str, usable: Callable[[SchemeBlock], bool] = lambda _: True
) -> SignalPath | None:
    """The path with the fewest storages on it, then the fewest steps, over `usable` blocks; None where none leads there."""
    blocks = scheme.blocks
    edges = signal_edges(scheme)
    best: dict[str, tuple[int, int]] = {start: (0, 0)}
    before: dict[str, str] = {}
    # Dijkstra with pairs: storages first, since each of them on an inverted path comes into derivative causality.
    queue = [(0, 0, start)]
    while queue:
        storages, steps, here = heappop(queue)
        if here == end:
            break
        if (storages, steps) > best[here]:
            continue
        # Sorted, so that of equally light paths always the same one is taken.
        for name, (_, block) in sorted(edges[here].items()):
            if block and (blocks[block].input != here or not usable(blocks[block])):
                continue  # a term of a field is no path through it
            cost = (storages + (block != "" and blocks[block].kind in ("storage", "derivative")), steps + 1)
            if name not in best or cost < best[name]:
                best[name], before[name] = cost, here
                heappush(queue, (*cost, name))
    if end not in before:
        return None
    signals = [end]
    while signals[-1] != start:
        signals.append(before[signals[-1]])
    return read_path(scheme, signals[::-1])


def port_paths(scheme: PogScheme) -> Iterator[tuple[str, SignalPath]]:
    """For each input from which its own output can be reached, the lightest path between them."""
    for name, output in zip(scheme.inputs, scheme.outputs, strict=True):
        found = lightest_path(scheme, name, output.signal)
        if found is not None:
            yield name, found


def reduce_loop(scheme: PogScheme, loop: Loop | Sequence[str]) -> Rewriting:
    """The scheme with a loop replaced by one transfer block from what comes in to the variable that is used outside.

    A loop is a `Loop`, or its variables with the first one again at the end. Transfer blocks show no states: equations come from
    the model behind the scheme.

    Raises: GraphError (G209) where there is no such loop, G211 where it is no transfer function from one input to one output.
    """
    path = read_path(scheme, loop)
    # Mason's rule is about loops: an open path has no return difference.
    if not path.closed:
        raise _refused(f"{path} is no loop: it does not end where it starts", path)
    if not scheme.ladders:
        raise _refused(f"'{scheme.name}' is one vector block", path, "its loops share variables with each other")
    return _Reduction(scheme, path).rewriting()


def _refused(what: str, path: SignalPath, why: str | None = None) -> TellegenError:
    return rules.NO_MASON.error(
        what,
        where=path.signals[0],
        why=why,
        fix="reduce an inner loop first, or one between the elements of a junction",
    )


@final
@dataclass(frozen=True)
class _Entry:
    """A variable that comes into the loop: its sign at the summation, and the gain from there to the output."""

    name: str
    sign: int
    gain: Expression


class _Reduction:
    def __init__(self, scheme: PogScheme, path: SignalPath) -> None:
        self.scheme = scheme
        self.inside = {step.name if isinstance(step, SchemeBlock) else step.output for step in path.steps}
        self.on = set(path.signals)
        self.path = path
        self.output = self._output()
        # The loop once round, ending at its output.
        # The loop is turned so that it ends at the variable that others use.
        k = path.signals.index(self.output)
        self.signals = (*path.signals[k:-1], *path.signals[: k + 1])
        self.steps = (*path.steps[k:], *path.steps[:k])
        # Some models have a parameter s, so that the operator takes another name there.
        self.variable = UniqueNames((*scheme.causal.graph.parameters, *scheme.signals())).take("s")

    def rewriting(self) -> Rewriting:
        gains = [self._gain(k) for k in range(len(self.steps))]
        entries = self._entries(gains)
        first = entries[0].gain
        # A positive first entry makes the block positive, as one would write it.
        if split_coefficient(first)[0] < 0:  # minus signs belong to the summation
            first = -first
        signs = [self._ratio(entry, first) for entry in entries]
        # P/(1 - L) with the forward path P and the loop gain L (Mason 1953), divided so that common factors cancel.
        transfer = ONE / (ONE / first - product(gains) / first)
        self._refuse_moving(transfer)
        names = [block.name for block in self.path.blocks if block.kind != "connection"]
        # The storage gives its name first: it is what the block behaves like.
        names.sort(key=lambda name: self.scheme.blocks[name].kind != "storage")
        block = self._block("_".join(names), transfer)
        net = Summation(block.input, tuple((e.name, e.sign * s) for e, s in zip(entries, signs, strict=True)))
        return Rewriting(self._scheme(block, net), f"reduced the loop through {', '.join(names)} to {block.gain}")

    def _refuse_moving(self, transfer: Expression) -> None:
        """A storage and a gain that moves do not change places, so that they make no transfer function; without storage they do."""
        graph = self.scheme.causal.graph
        moving = {
            *graph.displacements,
            *graph.position_dependent,
            *self.scheme.signals(),
            *(s.name for s in graph.signals),
        }
        read = sorted(transfer.free_symbols & (moving - {self.variable}))
        if read and self.variable in transfer.free_symbols:
            what = f"a gain of the loop moves with {', '.join(read)}"
            raise _refused(what, self.path, "a transfer function has constant coefficients")

    # -- what comes in and goes out -----------------------------------------------------------------------------------------------

    def _output(self) -> str:
        scheme = self.scheme
        used = {name for name in self.on if name in {o.signal for o in scheme.outputs}}
        for block in scheme.blocks.values():
            if block.name not in self.inside:
                used |= self.on & {block.input, *(name for name, _ in block.terms)}
        for summation in scheme.summations.values():
            if summation.output not in self.on:
                used |= self.on & {name for name, _ in summation.inputs}
        # One block has one output; of two variables used outside one would have no block any more.
        if len(used) > 1:
            raise _refused(f"{', '.join(sorted(used))} of the loop are all used outside", self.path)
        # Where nothing is used outside, the state is what one wants to see.
        storages = [block.output for block in self.path.blocks if block.kind == "storage"]
        return next(iter(used), (storages or self.path.signals)[0])

    def _gain(self, k: int) -> Expression:
        step, start, s = self.steps[k], self.signals[k], symbol(self.variable)
        if isinstance(step, Summation):
            return ONE if next(sign for name, sign in step.inputs if name == start) > 0 else -ONE
        if step.gain is None or step.terms:
            raise _refused(f"'{step.name}' has no linear law of its own", self.path, "a transfer function is linear")
        # A loop that was reduced before has its own operator variable.
        if step.kind == "transfer":
            return step.gain.substitute({step.variable: s})
        return step.gain / s if step.kind == "storage" else step.gain * s if step.kind == "derivative" else step.gain

    def _entries(self, gains: Sequence[Expression]) -> list[_Entry]:
        found: list[_Entry] = []
        for k, step in enumerate(self.steps):
            if not isinstance(step, Summation):
                continue
            onwards = product(gains[k + 1 :])
            for name, sign in step.inputs:
                if name == self.signals[k]:
                    continue
                # A second way back into the loop makes two loops that touch: reduce the inner one first.
                if name in self.on:
                    raise _refused(f"'{name}' comes back into the loop at '{step.output}' as well", self.path)
                found.append(_Entry(name, sign, onwards))
        if not found:
            raise _refused("nothing comes into the loop", self.path, "what nothing drives stays zero")
        return found

    def _ratio(self, entry: _Entry, first: Expression) -> int:
        for sign in (1, -1):
            # Entries may differ by a sign, which goes to the summation; anything else would need a block of its own.
            if is_zero(entry.gain - sign * first):
                return sign
        raise _refused(f"'{entry.name}' comes into the loop by another gain than the rest", self.path)

    # -- the new scheme -----------------------------------------------------------------------------------------------------------

    def _block(self, name: str, transfer: Expression) -> SchemeBlock:
        scheme = self.scheme
        last = next((b for b in reversed(self.path.blocks) if b.output == self.output), None)
        unique = UniqueNames(scheme.blocks).take(name)
        dynamic = self.variable in transfer.free_symbols
        return SchemeBlock(
            unique,
            "transfer" if dynamic else "static",
            UniqueNames(scheme.signals()).take(f"{last.input if last is not None else self.output}_net"),
            self.output,
            transfer,
            unique,
            input_unit="" if last is None else last.input_unit,
            output_unit="" if last is None else last.output_unit,
            variable=self.variable if dynamic else "",
        )

    def _scheme(self, block: SchemeBlock, net: Summation) -> PogScheme:
        scheme = self.scheme
        blocks = {name: b for name, b in scheme.blocks.items() if name not in self.inside}
        sums = {name: s for name, s in scheme.summations.items() if name not in self.on}
        result = replace(
            scheme,
            blocks={**blocks, block.name: block},
            summations={**sums, net.output: net},
            states=tuple(name for name in scheme.states if name not in self.inside),
            elements=self._elements(block),
        )
        ladder, columns, gone = self._columns(block, net)
        sections = {name: s for name, s in scheme.sections.items() if name not in gone}
        return replace(with_ladder(result, ladder, columns), sections=sections)

    def _elements(self, block: SchemeBlock) -> dict[str, OnePort]:
        """The elements of the loop as one, which stands where the first of them stood."""
        known = self.scheme.elements
        members = {name: known[name] for name in known if name in self.inside}
        if not members:
            return dict(known)
        main = next((item for item in members.values() if item.causality), next(iter(members.values())))
        parts = tuple(part for item in members.values() for part in (item.parts or (item,)))
        whole = replace(main, name=block.name, letters="", parts=parts)
        # The order of elements is that of the figure, so the new one takes the place of the first that it replaces.
        first = next(iter(members))
        return {
            block.name if name == first else name: whole if name == first else item
            for name, item in known.items()
            if name == first or name not in members
        }

    def _columns(self, block: SchemeBlock, net: Summation) -> tuple[Ladder, list[Column], set[str]]:
        """The ladder with the columns of the loop as one, and the sections that were between them."""

        def touched(column: Column) -> bool:
            return bool(self.inside & {*column.blocks, *column.summations})

        found = ladder_with(self.scheme, touched)
        if found is None:
            raise _refused("the loop runs through several ladders", self.path)
        ladder, places = found
        first, last = places[0], places[-1]
        among = ladder.columns[first : last + 1]
        own = [column for column in among if column.shared == self.output]
        others = [n for column in among for n in column.blocks if n not in self.inside]
        others += [column.name for column in among if column.branch is not None]
        if others or not own:
            raise _refused(f"{', '.join(others) or self.output} stands between its columns", self.path)
        merged = Column(
            own[0].kind,
            block.name,
            among[0].left,
            among[-1].right,
            (block.name,),
            (net.output,),
            shared=own[0].shared,
            junction=own[0].junction,
        )
        columns = [*ladder.columns[:first], merged, *ladder.columns[last + 1 :]]
        return ladder, columns, {column.right for column in among[:-1]}
