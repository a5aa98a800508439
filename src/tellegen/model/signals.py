"""Signals as values: what inputs do over time, the blocks that make signals, signal ports, and the order in which signals are
computed.

A loop of signals without a state, a sample or a delay is an equation: one signal of it is torn, which is then an algebraic unknown.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, final

from tellegen.core.errors import Place
from tellegen.core.union_find import strong_components
from tellegen.core.units import Dimension
from tellegen.expressions import Expression, is_zero, symbol
from tellegen.model.mockup_units import MockupUnit


@final
@dataclass(frozen=True, slots=True)
class Signal:
    """What an input does over time: a constant, a named shape such as `step(24 V)` with its arguments in SI units, or a formula.

    `expression` says it as a formula of time, parameters, signals and variables, whatever the shape.
    """

    shape: str
    arguments: tuple[Expression, ...]
    text: str
    expression: Expression | None = None


@final
@dataclass(frozen=True, slots=True)
class Points:
    """The points of a table, in SI units, with what they were read from: a file and its columns, or nothing.

    `on_scale` tells that they were given on a temperature scale with a zero of its own.
    """

    points: tuple[float, ...]
    values: tuple[float, ...]
    source: str = field(default="", compare=False)
    on_scale: bool = field(default=False, compare=False)


@final
@dataclass(frozen=True, slots=True)
class MapPoints:
    """Values over two arguments, in SI units: a line of `values` for each row, one value in it for each column."""

    rows: tuple[float, ...]
    columns: tuple[float, ...]
    values: tuple[tuple[float, ...], ...]
    source: str = field(default="", compare=False)
    on_scale: bool = field(default=False, compare=False)


SignalSetting = (
    MapPoints | Expression | tuple[Expression, ...] | tuple[str, ...] | str | Points | MockupUnit | Callable[..., float]
)
"""What a key of a signal block holds: a formula, several, names, a word, the points of a table or a map, a Python function."""


@final
@dataclass(frozen=True, slots=True)
class SignalDefinition:
    """A causal signal: `block` is a word of the table of signal blocks, `settings` what its keys hold, in SI units.

    A plain formula is the block `formula` with the setting `formula`. Settings that were left out are not there: the table has
    their defaults. `texts` keeps what the user wrote for each key, `dimension` is None where the unit is not known. `unit` is how
    results write it, where that is more than the dimension tells: a torque is in N*m, not in J. A variable of a power section that
    no element has lies `between` two elements of a ladder.
    """

    name: str
    block: str
    settings: Mapping[str, SignalSetting]
    dimension: Dimension | None = None
    place: Place | None = field(default=None, compare=False)
    texts: Mapping[str, str] = field(default_factory=dict, compare=False)
    unit: str = field(default="", compare=False)
    between: tuple[str, str] | None = field(default=None, compare=False)

    def formulas(self) -> tuple[Expression, ...]:
        """The expressions that its keys hold."""
        parts = (part for held in self.settings.values() for part in (held if isinstance(held, tuple) else (held,)))
        return tuple(part for part in parts if isinstance(part, Expression))


@final
@dataclass(frozen=True, slots=True)
class SignalPorts:
    """The signals that a system takes from others, and those that it offers."""

    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()


_AT_ONCE = {"formula": "formula", "table": "at", "python": "python"}
"""The key that holds what a signal reads at the same time; the others have a memory of their own."""


@final
class SignalOrder(NamedTuple):
    """Signals, each after those it reads at the same time but for the `torn` ones, and the loops that these close."""

    signals: tuple[SignalDefinition, ...]
    torn: tuple[str, ...]
    loops: tuple[tuple[str, ...], ...]


def _reads_at_once(definition: SignalDefinition) -> frozenset[str]:
    """The names whose values an elementary signal needs at the same time."""
    found = definition.settings.get(_AT_ONCE.get(definition.block, ""), ())
    parts = found if isinstance(found, tuple) else (found,)
    return frozenset().union(*(part.free_symbols for part in parts if isinstance(part, Expression)))


def order_signals(signals: Iterable[SignalDefinition]) -> SignalOrder:
    """The order of elementary signals."""
    found = {definition.name: definition for definition in signals}
    needs = {name: sorted(_reads_at_once(d) & found.keys()) for name, d in found.items()}
    torn: list[str] = []
    loops: list[tuple[str, ...]] = []
    order: list[str] = []
    for group in strong_components(needs):
        if len(group) == 1 and group[0] not in needs[group[0]]:
            order += group
            continue
        loops.append(tuple(name for name in found if name in group))
        order += _cut(group, needs, torn)
    return SignalOrder(tuple(found[name] for name in order), tuple(torn), tuple(loops))


def _cut(group: list[str], needs: Mapping[str, list[str]], torn: list[str]) -> list[str]:
    """The order inside a loop once enough of its signals are torn: those that most others read."""
    inside = set(group)
    cut: set[str] = set()
    while True:
        rest = {name: [n for n in needs[name] if n in inside and n not in cut] for name in group}
        parts = strong_components(rest)
        if all(len(part) == 1 and part[0] not in rest[part[0]] for part in parts):
            torn += [name for name in group if name in cut]
            return [part[0] for part in parts]
        looping = [n for part in parts if len(part) > 1 or part[0] in rest[part[0]] for n in part]
        readers = {name: sum(name in rest[other] for other in looping) for name in looping}
        # The signal that most others read opens the most loops at once; of equal ones the first described.
        cut.add(max(looping, key=lambda name: (readers[name], -group.index(name))))


def why_undetermined(
    loop: tuple[str, ...], definitions: Mapping[str, SignalDefinition], torn: Iterable[str]
) -> str | None:
    """Why a loop of formulas with one unknown has no single solution; None where it may have one."""
    unknown = [name for name in torn if name in loop]
    formulas = {n: f for n in loop if isinstance(f := definitions[n].settings.get("formula"), Expression)}
    if len(unknown) != 1 or len(formulas) != len(loop):
        return None
    # The loop written out as one equation of its unknown: it tells nothing where that drops out.
    residual = formulas[unknown[0]] - symbol(unknown[0])
    others = {name: formula for name, formula in formulas.items() if name != unknown[0]}
    # As often as there are formulas: each pass replaces one more step of the chain.
    for _ in others:
        residual = residual.substitute(others)
    if is_zero(residual):
        return "any value would do"
    return "no value can be right" if is_zero(residual.derivative(unknown[0])) else None
