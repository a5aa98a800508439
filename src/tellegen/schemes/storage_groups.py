"""Storages that move together, as one vector block within a ladder: L z' + N z = -A z + what comes in at its two ends.

A storage that depends on others has no integrator of its own. The stretch of the ladder between it and the storages it depends on
is brought together by the congruent transformation; the rest of the ladder stays as it is.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import final

from tellegen.expressions import ZERO, Expression, is_zero
from tellegen.graph import SourceLaw, StorageLaw
from tellegen.schemes.gains import signal_gains
from tellegen.schemes.pog_scheme import Block, Column, Ladder, Matrix, PogScheme, Section
from tellegen.schemes.vector import vector_block


@final
@dataclass(frozen=True)
class StorageGroup:
    """Columns `first` to `last` of a ladder as one block with the states `z`.

    `left` and `right` are the rows that give what the group sends through its outer sections by its states: y = C z. What comes in
    there acts by their transposes. None where the ladder ends.
    """

    first: int
    last: int
    states: tuple[str, ...]
    L: Matrix
    N: Matrix
    A: Matrix
    left: tuple[Expression, ...] | None
    right: tuple[Expression, ...] | None
    storages: tuple[str, ...]
    others: tuple[str, ...]


def storage_groups(scheme: PogScheme, ladder: Ladder) -> tuple[StorageGroup, ...] | None:
    """The groups along a ladder whose dependent storages are derivative blocks.

    None where a group cannot stand in a ladder: its storages depend on a source, its laws are not linear, a source stands within
    it, or what comes in at its ends goes out again at once.
    """
    spans = _spans(scheme, ladder)
    groups = [] if spans is None else [_group(scheme, ladder, first, last) for first, last in spans]
    return None if spans is None or None in groups else tuple(group for group in groups if group is not None)


def _columns(ladder: Ladder, first: int, last: int) -> Iterator[Column]:
    """Columns with those of their side ladders."""
    return Ladder(ladder.columns[first : last + 1]).all_columns()


def _spans(scheme: PogScheme, ladder: Ladder) -> list[tuple[int, int]] | None:
    """The stretches from each dependent storage to what it depends on, joined where they overlap."""
    graph = scheme.causal.graph
    names = {id(item.port): item.name for item in scheme.elements.values()}
    at = {name: k for k in range(len(ladder.columns)) for column in _columns(ladder, k, k) for name in column.blocks}
    found: list[tuple[int, int]] = []
    for dependence in scheme.causal.dependent:
        members = [graph.ports[k] for k in (dependence.port, *dependence.on)]
        if names[id(members[0])] not in at:
            continue  # it stands in another ladder
        if not dependence.on or not all(isinstance(port.law, StorageLaw) for port in members):
            return None
        places = [at[names[id(port)]] for port in members]
        found.append((min(places), max(places)))
    return _joined(found, ladder)


def _joined(spans: Iterable[tuple[int, int]], ladder: Ladder) -> list[tuple[int, int]]:
    """Spans that do not overlap, each with the static elements behind its last storage, which act on the same variable."""
    made: list[tuple[int, int]] = []
    for first, last in sorted(spans):
        if made and first <= made[-1][1]:
            made[-1] = made[-1][0], max(made[-1][1], last)
        else:
            made.append((first, last))
    ends = [*(first for first, _ in made), len(ladder.columns)][1:]
    return [(first, _with_static(ladder, last, end)) for (first, last), end in zip(made, ends, strict=True)]


def _with_static(ladder: Ladder, last: int, end: int) -> int:
    columns = ladder.columns
    junction = columns[last].junction
    while last + 1 < end and columns[last + 1].branch is None and columns[last + 1].junction == junction:
        last += 1
    return last


def _group(scheme: PogScheme, ladder: Ladder, first: int, last: int) -> StorageGroup | None:
    inside = list(_columns(ladder, first, last))
    blocks = {name: scheme.blocks[name] for column in inside for name in column.blocks}
    within = {column.branch.entry for column in inside if column.branch is not None and not column.branch.columns}
    if within or not all(map(_is_linear, blocks.values())):
        return None
    ends = [scheme.sections.get(name) for name in (ladder.columns[first].left, ladder.columns[last].right)]
    left, right = ends
    inputs = tuple(s for s in (left and left.into_right, right and right.into_left) if s)
    part = replace(
        scheme,
        ladders=(),
        blocks=blocks,
        summations={name: scheme.summations[name] for column in inside for name in column.summations},
        states=tuple(name for name in scheme.states if name in blocks),
        inputs=inputs,
        outputs=(),
        vector=None,
    )
    block = vector_block(part)
    rows = _sent(part, [s for s in (left and left.into_left, right and right.into_right) if s])
    if rows is None or any(e is not ZERO for row in block.B_1 for e in row) or not _is_passive(block.B, rows, ends):
        return None
    sent = iter(rows)
    kinds = {name: _names(scheme, blocks.values(), name) for name in ("storages", "others")}
    return StorageGroup(
        first,
        last,
        block.states,
        block.L,
        block.N,
        block.A,
        None if left is None else next(sent),
        None if right is None else next(sent),
        kinds["storages"],
        kinds["others"],
    )


def _is_linear(block: Block) -> bool:
    if isinstance(block.law, StorageLaw):
        return block.law.inertia is not None or bool(block.field)
    return block.gain is not None


def _names(scheme: PogScheme, blocks: Iterable[Block], which: str) -> tuple[str, ...]:
    """The elements of a group: its storages, or resistive elements and connections."""
    found: dict[str, None] = {}
    for block in blocks:
        item = scheme.elements.get(block.name)
        if isinstance(block.law, StorageLaw) == (which == "storages"):
            assert item is None or not isinstance(item.port.law, SourceLaw), "sources have no block"
            found[block.element if item is None else item.port.element] = None
    return tuple(found)


def _sent(part: PogScheme, signals: list[str]) -> list[tuple[Expression, ...]] | None:
    """What leaves through the outer sections by the states; None where anything else counts too."""
    gains = signal_gains(part, signals)
    states = [part.blocks[name].output for name in part.states]
    rest = [e for name in signals for start, e in gains[name].items() if start not in states]
    if not all(map(is_zero, rest)):
        return None
    return [tuple(gains[name].get(state, ZERO) for state in states) for name in signals]


def _is_passive(B: Matrix, rows: list[tuple[Expression, ...]], ends: list[Section | None]) -> bool:
    """Whether what comes in acts as the transpose of what goes out, so that no power is made at the ends."""
    sections = [(k, s) for k, s in enumerate(ends) if s is not None]
    for column, (row, (end, section)) in enumerate(zip(rows, sections, strict=True)):
        inwards = (section.direction == "right") == (end == 0)
        if not all(is_zero(line[column] - (c if inwards else -c)) for line, c in zip(B, row, strict=True)):
            return False
    return True
