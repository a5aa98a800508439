"""Loops and paths of signals through a scheme, with the minus signs along them, and the paths worth inverting."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import pairwise
from typing import final

from tellegen.core.names import did_you_mean
from tellegen.expressions import split_coefficient
from tellegen.schemes import rules
from tellegen.schemes.pog_scheme import Block, PogScheme, Summation

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
        edges[block.input][block.output] = (block.sign, block.name)
        for name, gain in block.terms:
            edges[name][block.output] = (-1 if split_coefficient(gain)[0] < 0 else 1, block.name)
    for summation in scheme.summations.values():
        for name, sign in summation.inputs:
            edges[name][summation.output] = (sign, "")
    return edges


def _cycles(edges: Edges) -> Iterator[list[str]]:
    """Every elementary cycle once: those through a first signal, then those of what is left without it."""
    work = [part for part in _strong_parts(edges, set(edges)) if len(part) > 1]
    while work:
        part = work.pop()
        start = min(part)
        yield from _cycles_through(start, part, edges)
        part.discard(start)
        work += [p for p in _strong_parts(edges, part) if len(p) > 1]


def _cycles_through(start: str, part: set[str], edges: Edges) -> Iterator[list[str]]:
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
        if here in closed:
            _unblock(here, blocked, waiting)
        else:
            for name in edges[here]:
                if name in part:
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
    """The strongly connected components of part of a graph (Tarjan 1972), without recursion."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    on_stack: list[str] = []
    inside: set[str] = set()
    found: list[set[str]] = []
    for root in sorted(among):
        if root in index:
            continue
        work = [(root, iter(sorted(edges[root])))]
        index[root] = low[root] = len(index)
        on_stack.append(root)
        inside.add(root)
        while work:
            here, ahead = work[-1]
            name = next((n for n in ahead if n in among), None)
            if name is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[here])
                if low[here] == index[here]:
                    cut = on_stack.index(here)
                    found.append(set(on_stack[cut:]))
                    inside.difference_update(on_stack[cut:])
                    del on_stack[cut:]
            elif name not in index:
                index[name] = low[name] = len(index)
                on_stack.append(name)
                inside.add(name)
                work.append((name, iter(sorted(edges[name]))))
            elif name in inside:
                low[here] = min(low[here], index[name])
    return found


@final
@dataclass(frozen=True, slots=True)
class SignalPath:
    """Signals in the order of a path, and what stands between each two of them. A closed one ends where it starts."""

    signals: tuple[str, ...]
    steps: tuple[Block | Summation, ...]

    @property
    def closed(self) -> bool:
        """Whether it is a loop."""
        return self.signals[0] == self.signals[-1]

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks along it."""
        return tuple(step for step in self.steps if isinstance(step, Block))

    def __str__(self) -> str:
        return " -> ".join(self.signals)


def read_path(scheme: PogScheme, path: Loop | Sequence[str]) -> SignalPath:
    """A loop, or signals one after the other, with the blocks and summations between them.

    Raises: GraphError (G206) for a name that is no variable, G209 where no line leads on or a variable is passed twice.
    """
    signals = (*path.signals, path.signals[0]) if isinstance(path, Loop) else tuple(path)
    known = scheme.signals()
    for name in signals:
        if name not in known:
            fix = did_you_mean(name, known) or f"the variables are {', '.join(known[:20])}"
            raise rules.NO_SUCH_SIGNAL.error(f"'{name}' is no variable of the scheme", fix=fix)
    if len(signals) < 2 or len(set(signals[:-1])) < len(signals) - 1 or signals[-1] in signals[1:-1]:
        what = f"{' -> '.join(signals) or 'nothing'} is no path: it has to pass two variables or more, each once"
        raise rules.NO_SUCH_PATH.error(what, fix="name each variable once; in a loop the first one again at the end")
    decided = {block.output: block for block in scheme.blocks.values()}
    steps = [_step(scheme, decided, a, b) for a, b in pairwise(signals)]
    return SignalPath(signals, tuple(steps))


def _step(scheme: PogScheme, decided: dict[str, Block], start: str, end: str) -> Block | Summation:
    block, summation = decided.get(end), scheme.summations.get(end)
    if block is not None and block.input == start:
        return block
    if summation is not None and any(name == start for name, _ in summation.inputs):
        return summation
    ahead = sorted(signal_edges(scheme)[start])
    fix = f"from '{start}' lines lead to {', '.join(ahead)}" if ahead else f"'{start}' leads nowhere"
    raise rules.NO_SUCH_PATH.error(f"no line leads from '{start}' to '{end}'", where=start, fix=fix)


def lightest_path(
    scheme: PogScheme, start: str, end: str, usable: Callable[[Block], bool] = lambda _: True
) -> SignalPath | None:
    """The path with the fewest storages on it, then the fewest steps, over `usable` blocks; None where none leads there."""
    blocks = scheme.blocks
    edges = signal_edges(scheme)
    best: dict[str, tuple[int, int]] = {start: (0, 0)}
    before: dict[str, str] = {}
    queue = [(0, 0, start)]
    while queue:
        storages, steps, here = heappop(queue)
        if here == end:
            break
        if (storages, steps) > best[here]:
            continue
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
