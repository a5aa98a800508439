"""The order of stations in a schematic like an earlier one: those that were there keep it, new ones stand beside them."""

from collections.abc import Mapping, Sequence
from math import inf

Order = tuple[str, ...]


def like_earlier(orders: Sequence[Order], near: Mapping[str, Sequence[str]], earlier: Sequence[Order]) -> list[Order]:
    """The connected parts with their stations in the order that an earlier figure had, and the parts themselves in that order.

    `near` are the neighbours of each station.
    """
    number = {key: k for k, key in enumerate(key for line in earlier for key in line)}
    found = [_like(order, near, number) for order in orders]
    return sorted(found, key=lambda order: min((number[key] for key in order if key in number), default=inf))


def _like(order: Order, near: Mapping[str, Sequence[str]], number: Mapping[str, int]) -> Order:
    line = sorted((key for key in order if key in number), key=number.__getitem__)
    waiting = [key for key in order if key not in number]
    if not line:
        return order
    usual = {key: k for k, key in enumerate(order)}
    while waiting:
        key = next((key for key in waiting if any(other in line for other in near[key])), waiting[0])
        waiting.remove(key)
        line.insert(_place(key, line, near, usual), key)
    return tuple(line)


def _place(key: str, line: Sequence[str], near: Mapping[str, Sequence[str]], usual: Mapping[str, int]) -> int:
    """Where a new station goes: between its neighbours, else on that side of one on which it would usually be."""
    places = [line.index(other) for other in near[key] if other in line]
    if not places:
        return len(line)
    first = min(places)
    return first + 1 if len(places) > 1 or usual[line[first]] < usual[key] else first
