"""Paths of signals through a scheme: which block or summation stands at each step, and the paths worth inverting."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import pairwise
from typing import final

from tellegen.core.names import did_you_mean
from tellegen.schemes import rules
from tellegen.schemes.loops import Loop, signal_edges
from tellegen.schemes.pog_scheme import Block, PogScheme, Summation


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
