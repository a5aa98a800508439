"""Pairs: a partner of its own for as many as possible, each the first one on its list where others can do without it."""

from collections.abc import Mapping, Sequence


def matched(lists: Sequence[Sequence[str]]) -> list[str | None]:
    """For each list one of its names, no name twice, None where there is none: as many as possible get one.

    The matching grows along alternating paths (Kuhn 1955), so that earlier ones give up a name only for another one.
    """
    owner: dict[str, int] = {}
    names: list[str | None] = [None] * len(lists)
    for k in range(len(lists)):
        came: dict[str, int] = {}  # by whom a name was reached
        free = _first_free(k, lists, owner, came)
        while free is not None:
            taker = came[free]
            left = names[taker]
            names[taker], owner[free] = free, taker
            free = left
    return names


def _first_free(
    start: int, lists: Sequence[Sequence[str]], owner: Mapping[str, int], came: dict[str, int]
) -> str | None:
    """A name that nobody has, reached from `start` over names that others have; `came` tells the way back."""
    waiting = [start]
    for k in waiting:  # grows while it is read
        for name in lists[k]:
            if name in came:
                continue
            came[name] = k
            if name not in owner:
                return name
            waiting.append(owner[name])
    return None
