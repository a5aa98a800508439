"""The order in which signals are computed: each after those it reads at the same time.

A loop of signals without a state, a sample or a delay is an equation: one signal of it is torn, which is then an algebraic unknown.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple, final

from tellegen.description.signals.values import SignalDefinition
from tellegen.expressions import Expression, is_zero, symbol

_AT_ONCE = {"formula": "formula", "table": "at", "python": "python"}
"""The key that holds what a signal reads at the same time; the others have a memory of their own."""


@final
class Order(NamedTuple):
    """Signals, each after those it reads at the same time but for the `torn` ones, and the loops that these close."""

    signals: tuple[SignalDefinition, ...]
    torn: tuple[str, ...]
    loops: tuple[tuple[str, ...], ...]


def reads_at_once(definition: SignalDefinition) -> frozenset[str]:
    """The names whose values an elementary signal needs at the same time."""
    found = definition.settings.get(_AT_ONCE.get(definition.block, ""), ())
    parts = found if isinstance(found, tuple) else (found,)
    return frozenset().union(*(part.free_symbols for part in parts if isinstance(part, Expression)))


def ordered(signals: Iterable[SignalDefinition]) -> Order:
    """The order of elementary signals."""
    found = {definition.name: definition for definition in signals}
    needs = {name: sorted(reads_at_once(d) & found.keys()) for name, d in found.items()}
    torn: list[str] = []
    loops: list[tuple[str, ...]] = []
    order: list[str] = []
    for group in _components(needs):
        if len(group) == 1 and group[0] not in needs[group[0]]:
            order += group
            continue
        loops.append(tuple(name for name in found if name in group))
        order += _cut(group, needs, torn)
    return Order(tuple(found[name] for name in order), tuple(torn), tuple(loops))


def _cut(group: list[str], needs: Mapping[str, list[str]], torn: list[str]) -> list[str]:
    """The order inside a loop once enough of its signals are torn: those that most others read."""
    inside = set(group)
    cut: set[str] = set()
    while True:
        rest = {name: [n for n in needs[name] if n in inside and n not in cut] for name in group}
        parts = _components(rest)
        if all(len(part) == 1 and part[0] not in rest[part[0]] for part in parts):
            torn += [name for name in group if name in cut]
            return [part[0] for part in parts]
        looping = [n for part in parts if len(part) > 1 or part[0] in rest[part[0]] for n in part]
        readers = {name: sum(name in rest[other] for other in looping) for name in looping}
        cut.add(max(looping, key=lambda name: (readers[name], -group.index(name))))


def undetermined(loop: tuple[str, ...], definitions: Mapping[str, SignalDefinition], torn: Iterable[str]) -> str | None:
    """Why a loop of formulas with one unknown has no single solution; None where it may have one."""
    unknown = [name for name in torn if name in loop]
    formulas = {n: f for n in loop if isinstance(f := definitions[n].settings.get("formula"), Expression)}
    if len(unknown) != 1 or len(formulas) != len(loop):
        return None
    residual = formulas[unknown[0]] - symbol(unknown[0])
    others = {name: formula for name, formula in formulas.items() if name != unknown[0]}
    for _ in others:
        residual = residual.substitute(others)
    if is_zero(residual):
        return "any value would do"
    return "no value can be right" if is_zero(residual.derivative(unknown[0])) else None


def _components(needs: Mapping[str, list[str]]) -> list[list[str]]:
    """Strongly connected components, each after those it needs (Tarjan 1972), without recursion."""
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    on_path: list[str] = []
    inside: set[str] = set()
    found: list[list[str]] = []
    for start in needs:
        if start in number:
            continue
        work = [(start, iter(needs[start]))]
        number[start] = low[start] = len(number)
        on_path.append(start)
        inside.add(start)
        while work:
            name, rest = work[-1]
            following = next(rest, None)
            if following is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[name])
                if low[name] == number[name]:
                    cut = on_path.index(name)
                    found.append(on_path[cut:])
                    inside.difference_update(on_path[cut:])
                    del on_path[cut:]
            elif following not in number:
                number[following] = low[following] = len(number)
                on_path.append(following)
                inside.add(following)
                work.append((following, iter(needs[following])))
            elif following in inside:
                low[name] = min(low[name], number[following])
    return found
