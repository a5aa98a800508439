"""Loops without a state: which items become unknowns so that all others can be computed, few of them."""

from collections.abc import Mapping

Edges = Mapping[int, set[int]]


def torn(edges: Edges) -> list[int]:
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
