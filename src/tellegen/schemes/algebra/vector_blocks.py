"""Vector blocks: merged, split, read off a whole scheme with its outputs, or made of the storages of a ladder that move together.

What one block is told of the other stands in its inputs: a state of the other by its name. Merged, these columns of B become
entries of A; split, entries of A become columns of B.

A storage that depends on others has no integrator of its own. The stretch of the ladder between it and the storages it depends on
is brought together by the congruent transformation; the rest of the ladder stays as it is.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import final

from tellegen.core.errors import TellegenError
from tellegen.core.names import did_you_mean
from tellegen.expressions import ZERO, Expression, is_zero
from tellegen.graph import SourceLaw, StorageLaw
from tellegen.schemes import pog_scheme, rules
from tellegen.schemes.gains import signal_gains, vector_block
from tellegen.schemes.names import without_duplicates


def merge_scheme(scheme: pog_scheme.PogScheme) -> pog_scheme.Rewriting:
    """The scheme as one vector block: its ladders, or the parts into which the block was split, become one."""
    if scheme.parts:
        # Parts are merged in any order, and the states put back into that of the scheme.
        assert scheme.vector is not None, "parts are those of a vector block"
        merged = _taken(reduce(merge_blocks, scheme.parts), scheme.vector.states, scheme.vector.inputs)
        whole = replace(scheme, vector=merged, parts=())
        return pog_scheme.Rewriting(
            whole, f"merged {len(scheme.parts)} vector blocks: x = [{', '.join(merged.states)}]"
        )
    block = scheme.vector or vector_block(scheme)
    account = f"wrote the scheme as one vector block: x = [{', '.join(block.states)}]"
    return pog_scheme.Rewriting(replace(scheme, vector=block, ladders=()), account)


def split_scheme(scheme: pog_scheme.PogScheme, states: str | Iterable[str]) -> pog_scheme.Rewriting:
    """The scheme with a vector block of the states named and one of the others, which are told each other's states.

    A scheme that was split already is split again in the block that has these states.

    Raises: GraphError (G213) for a name that is no state, where nothing is left, and where the two hold energy together.
    """
    wanted = without_duplicates(states)
    whole = scheme if scheme.vector is not None else merge_scheme(scheme).scheme
    assert whole.vector is not None, "merged schemes are vector blocks"
    parts = whole.parts or (whole.vector,)
    at = next((k for k, part in enumerate(parts) if wanted and set(wanted) <= set(part.states)), None)
    # Names that are no states, or states of several parts, are refused by the block that has the first of them.
    at = at if at is not None else next((k for k, p in enumerate(parts) if wanted and wanted[0] in p.states), 0)
    one, two = split_block(parts[at], wanted)
    joined = [name for name in (*one.inputs, *two.inputs) if name in (*one.states, *two.states)]
    account = f"split the vector block into x = [{', '.join(one.states)}] and x = [{', '.join(two.states)}], " + (
        f"which are told {', '.join(joined)} of each other" if joined else "which have nothing to do with each other"
    )
    return pog_scheme.Rewriting(replace(whole, parts=(*parts[:at], one, two, *parts[at + 1 :])), account)


def _taken(block: pog_scheme.VectorBlock, states: Sequence[str], inputs: Sequence[str]) -> pog_scheme.VectorBlock:
    """The block of some states and inputs, in their order; what it was not told is an input all the same."""
    rows = [block.states.index(name) for name in states]

    def taken(matrix: pog_scheme.Matrix, names: Sequence[str], known: Sequence[str]) -> pog_scheme.Matrix:
        places = [known.index(name) if name in known else None for name in names]
        return tuple(tuple(ZERO if j is None else matrix[i][j] for j in places) for i in rows)

    L, A, N = (taken(M, states, block.states) for M in (block.L, block.A, block.N))
    B, B_1 = (taken(M, inputs, block.inputs) for M in (block.B, block.B_1))
    return pog_scheme.VectorBlock(tuple(states), tuple(inputs), L=L, A=A, B=B, B_1=B_1, N=N)


def merge_blocks(one: pog_scheme.VectorBlock, two: pog_scheme.VectorBlock) -> pog_scheme.VectorBlock:
    """One block for two. An input that is a state of the other block becomes an entry of A; other inputs of one name are one.

    Raises: GraphError (G213) where both have a state of one name, or where one would be told the rate of a state of the other.
    """
    both = [name for name in one.states if name in two.states]
    if both:
        what = f"{', '.join(both)} is a state of both blocks"
        raise rules.NO_VECTOR_BLOCK.error(what, where=both[0], fix="rename the states of one of them")
    states = (*one.states, *two.states)
    for block in (one, two):
        for k, name in enumerate(block.inputs):
            # B_1 times the rate of a state is an entry of L between the two blocks: then they are one storage.
            if name in states and any(not is_zero(row[k]) for row in block.B_1):
                what = f"the rate of '{name}' is an input of one block, and '{name}' a state of the other"
                why = "then the two hold energy together, and their energy matrices do not stand apart"
                raise rules.NO_VECTOR_BLOCK.error(what, where=name, why=why, fix="derive the equations of the whole")
    inputs = tuple(dict.fromkeys(name for name in (*one.inputs, *two.inputs) if name not in states))
    rows = [(block, k) for block in (one, two) for k in range(len(block.states))]

    def gathered(names: Sequence[str], own: str, told: str, sign: int) -> pog_scheme.Matrix:
        return tuple(
            # Told states stand in A with a minus sign, because L x' = -A x + B u.
            tuple(_entry(block, k, name, own, told, sign) for name in names)  # own matrix, then what is told
            for block, k in rows
        )

    return pog_scheme.VectorBlock(
        states,
        inputs,
        L=gathered(states, "L", "", 1),
        A=gathered(states, "A", "B", -1),
        B=gathered(inputs, "", "B", 1),
        B_1=gathered(inputs, "", "B_1", 1),
        N=gathered(states, "N", "", 1),
    )


def _entry(block: pog_scheme.VectorBlock, row: int, name: str, own: str, told: str, sign: int) -> Expression:
    if own and name in block.states:
        entry: Expression = getattr(block, own)[row][block.states.index(name)]
        return entry
    if told and name in block.inputs:
        entry = getattr(block, told)[row][block.inputs.index(name)]
        return entry if sign > 0 else -entry
    return ZERO


def split_block(
    block: pog_scheme.VectorBlock, states: str | Iterable[str]
) -> tuple[pog_scheme.VectorBlock, pog_scheme.VectorBlock]:
    """Two blocks for one: that of the states named, and that of the others. Each has the states it is told as further inputs.

    Raises: GraphError (G213) for a name that is no state, where nothing is left, and where the two hold energy together.
    """
    wanted = without_duplicates(states)
    for name in wanted:
        if name not in block.states:
            fix = did_you_mean(name, block.states) or f"the states are {', '.join(block.states)}"
            raise rules.NO_VECTOR_BLOCK.error(f"'{name}' is no state of the block", where=name, fix=fix)
    first = [k for k, name in enumerate(block.states) if name in wanted]
    second = [k for k, name in enumerate(block.states) if name not in wanted]
    if not first or not second:
        raise rules.NO_VECTOR_BLOCK.error("one of the two blocks would be empty", fix="name some of its states")
    for i in first:
        for j in second:
            # A common entry of L or N is energy that belongs to both.
            if any(not is_zero(M[a][b]) for M in (block.L, block.N) for a, b in ((i, j), (j, i))):
                what = f"{block.states[i]} and {block.states[j]} hold energy together"
                raise rules.NO_VECTOR_BLOCK.error(what, where=block.states[i], fix="leave both in one block")
    return _part(block, first, second), _part(block, second, first)


def _part(block: pog_scheme.VectorBlock, own: Sequence[int], others: Sequence[int]) -> pog_scheme.VectorBlock:
    driven = [
        name
        for k, name in enumerate(block.inputs)
        if any(not is_zero(M[i][k]) for M in (block.B, block.B_1) for i in own)
    ]
    # Only states that are really told become inputs, so that small blocks stay small.
    told = [j for j in others if any(not is_zero(block.A[i][j]) for i in own)]
    alone = _taken(block, [block.states[i] for i in own], driven)
    return replace(
        alone,
        inputs=(*driven, *(block.states[j] for j in told)),
        B=tuple((*row, *(-block.A[i][j] for j in told)) for i, row in zip(own, alone.B, strict=True)),
        B_1=tuple((*row, *(ZERO for _ in told)) for row in alone.B_1),
    )


MOVING_ENERGY = (
    "constant storages behind a connection that moves make such a matrix: new coordinates would be the output of none of them, and "
    "the blocks of a scheme hold storages"
)
"""Why a scheme does not take new coordinates where its energy matrix moves, although its equations do."""


@final
@dataclass(frozen=True, slots=True)
class SchemeMatrices:
    """A linear scheme as matrices; rows of C and D are the outputs, one for each input."""

    block: pog_scheme.VectorBlock
    C: pog_scheme.Matrix
    D: pog_scheme.Matrix


def scheme_matrices(scheme: pog_scheme.PogScheme, *, moving: bool = False) -> SchemeMatrices:
    """The matrices of a scheme, with the signs that its variables have now.

    With `moving`, all but L may move with displacements and signals.

    Raises: GraphError (G232) where it is not linear, where matrices move with what they may not, or where rates of inputs
    count; G211 for a scheme with transfer blocks.
    """
    # Storages in fields have no gain of their own although they are linear.
    curved = [
        b for b in scheme.blocks.values() if b.gain is None and not (b.kind == "storage" and _in_field(scheme, b.name))
    ]
    if curved:
        raise _refused(scheme, f"the law of '{curved[0].name}' is not linear", curved[0].name)
    signals = [output.signal for output in scheme.outputs]
    gains = signal_gains(scheme, signals)
    states = [scheme.blocks[name].output for name in scheme.states]
    known = {*states, *scheme.inputs}
    block = vector_block(scheme)
    # New coordinates for L x' = -A x + B u + B_1 u' would need u' as a further input.
    rates = any(not is_zero(e) for row in block.B_1 for e in row)
    if rates or any(not is_zero(e) for row in gains.values() for name, e in row.items() if name not in known):
        raise _refused(scheme, "rates of inputs count in it", scheme.name)
    C, D = (
        tuple(tuple(o.sign * gains[o.signal].get(name, ZERO) for name in names) for o in scheme.outputs)
        for names in (states, scheme.inputs)
    )
    _refuse_moving(scheme, (block.A, block.B, C, D), (block.L, block.N), moving)
    return SchemeMatrices(block, C, D)


def _refuse_moving(
    scheme: pog_scheme.PogScheme, others: Iterable[pog_scheme.Matrix], energy: Iterable[pog_scheme.Matrix], moving: bool
) -> None:
    graph = scheme.causal.graph
    states = {scheme.elements[name].port.state for name in scheme.states}
    variables = {*states, *scheme.inputs}
    slow = {*graph.displacements, *graph.position_dependent, *(s.name for s in graph.signals)}
    # Energy may not move at all: the blocks of a scheme hold storages with constant coefficients.
    for matrices, names, word in (
        (energy, variables | slow, "its energy matrix moves"),
        (others, variables if moving else variables | slow, "its matrices move"),
    ):
        read = sorted({name for M in matrices for row in M for e in row for name in e.free_symbols & names})
        if read:
            raise _refused(
                scheme, f"{word} with {', '.join(read)}", read[0], MOVING_ENERGY if matrices is energy else None
            )


def _in_field(scheme: pog_scheme.PogScheme, name: str) -> bool:
    item = scheme.elements.get(name)
    return item is not None and bool(item.field)


def _refused(scheme: pog_scheme.PogScheme, what: str, where: str, why: str | None = None) -> TellegenError:
    fix = "linearise the model at an operating point, or transform its equations (tellegen.reduction.congruent_transformation)"
    what = f"'{scheme.name}' is no system of constant matrices: {what}"
    return rules.NO_MATRICES.error(what, where=where, why=why, fix=fix)


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
    L: pog_scheme.Matrix
    N: pog_scheme.Matrix
    A: pog_scheme.Matrix
    left: tuple[Expression, ...] | None
    right: tuple[Expression, ...] | None
    storages: tuple[str, ...]
    others: tuple[str, ...]


def storage_groups(scheme: pog_scheme.PogScheme, ladder: pog_scheme.Ladder) -> tuple[StorageGroup, ...] | None:
    """The groups along a ladder whose dependent storages are derivative blocks.

    None where a group cannot stand in a ladder: its storages depend on a source, its laws are not linear, a source stands within
    it, or what comes in at its ends goes out again at once.
    """
    spans = _spans(scheme, ladder)
    groups = [] if spans is None else [_group(scheme, ladder, first, last) for first, last in spans]
    return None if spans is None or None in groups else tuple(group for group in groups if group is not None)


def _columns(ladder: pog_scheme.Ladder, first: int, last: int) -> Iterator[pog_scheme.Column]:
    return pog_scheme.Ladder(ladder.columns[first : last + 1]).all_columns()


def _spans(scheme: pog_scheme.PogScheme, ladder: pog_scheme.Ladder) -> list[tuple[int, int]] | None:
    """The stretches from each dependent storage to what it depends on, joined where they overlap."""
    graph = scheme.causal.graph
    names = {id(item.port): item.name for item in scheme.elements.values()}
    at = {name: k for k in range(len(ladder.columns)) for column in _columns(ladder, k, k) for name in column.blocks}
    found: list[tuple[int, int]] = []
    for dependence in scheme.causal.dependent:
        members = [graph.ports[k] for k in (dependence.port, *dependence.on)]
        if names[id(members[0])] not in at:
            continue  # it stands in another ladder
        # A storage behind a source has no column to be joined with: its rate comes from outside.
        if not dependence.on or not all(isinstance(port.law, StorageLaw) for port in members):
            return None
        places = [at[names[id(port)]] for port in members]
        found.append((min(places), max(places)))
    return _joined(found, ladder)


def _joined(spans: Iterable[tuple[int, int]], ladder: pog_scheme.Ladder) -> list[tuple[int, int]]:
    """Spans that do not overlap, each with the static elements behind its last storage, which act on the same variable."""
    made: list[tuple[int, int]] = []
    for first, last in sorted(spans):
        # Spans that overlap share a storage, and are one group.
        if made and first <= made[-1][1]:
            made[-1] = made[-1][0], max(made[-1][1], last)
        else:
            made.append((first, last))
    ends = [*(first for first, _ in made), len(ladder.columns)][1:]
    return [(first, _with_static(ladder, last, end)) for (first, last), end in zip(made, ends, strict=True)]


def _with_static(ladder: pog_scheme.Ladder, last: int, end: int) -> int:
    columns = ladder.columns
    junction = columns[last].junction
    while last + 1 < end and columns[last + 1].branch is None and columns[last + 1].junction == junction:
        last += 1
    return last


def _group(scheme: pog_scheme.PogScheme, ladder: pog_scheme.Ladder, first: int, last: int) -> StorageGroup | None:
    inside = list(_columns(ladder, first, last))
    blocks = {name: scheme.blocks[name] for column in inside for name in column.blocks}
    outer = ladder.columns[first].left, ladder.columns[last].right
    # What enters from outside within a group would need a section in the middle of a block.
    if _is_open_within(scheme, inside, outer) or not all(map(_is_linear, blocks.values())):
        return None
    ends = [scheme.sections.get(name) for name in outer]
    left, right = ends
    # What enters through the two outer sections plays the part of inputs, so that the group is a scheme of its own.
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
    # Only a block whose outputs are the transposes of its inputs can stand between two power sections.
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
        left=None if left is None else next(sent),
        right=None if right is None else next(sent),
        storages=kinds["storages"],
        others=kinds["others"],
    )


def _is_open_within(scheme: pog_scheme.PogScheme, inside: Iterable[pog_scheme.Column], outer: tuple[str, str]) -> bool:
    """Whether a side ladder within a group leads outside, at whichever depth: a source stands at its end."""
    names = {name for c in inside for name in (c.left, c.right, c.branch.entry if c.branch else "")} - {*outer, ""}
    return any(not (scheme.sections[name].left and scheme.sections[name].right) for name in names)


def _is_linear(block: pog_scheme.SchemeBlock) -> bool:
    if isinstance(block.law, StorageLaw):
        return block.law.inertia is not None or bool(block.field)
    return block.gain is not None


def _names(scheme: pog_scheme.PogScheme, blocks: Iterable[pog_scheme.SchemeBlock], which: str) -> tuple[str, ...]:
    """The elements of a group: its storages, or resistive elements and connections."""
    found: dict[str, None] = {}
    for block in blocks:
        item = scheme.elements.get(block.name)
        if isinstance(block.law, StorageLaw) == (which == "storages"):
            assert item is None or not isinstance(item.port.law, SourceLaw), "sources have no block"
            found[block.element if item is None else item.port.element] = None
    return tuple(found)


def _sent(part: pog_scheme.PogScheme, signals: list[str]) -> list[tuple[Expression, ...]] | None:
    """What leaves through the outer sections by the states; None where anything else counts too."""
    gains = signal_gains(part, signals)
    states = [part.blocks[name].output for name in part.states]
    rest = [e for name in signals for start, e in gains[name].items() if start not in states]
    # A direct path from one section to the other would be a wire past the storages.
    if not all(map(is_zero, rest)):
        return None
    return [tuple(gains[name].get(state, ZERO) for state in states) for name in signals]


def _is_passive(
    B: pog_scheme.Matrix, rows: list[tuple[Expression, ...]], ends: list[pog_scheme.PowerSection | None]
) -> bool:
    """Whether what comes in acts as the transpose of what goes out, so that no power is made at the ends."""
    sections = [(k, s) for k, s in enumerate(ends) if s is not None]
    for column, (row, (end, section)) in enumerate(zip(rows, sections, strict=True)):
        # Power counts into the group at both ends, whatever the direction of the section.
        inwards = (section.direction == "right") == (end == 0)
        if not all(is_zero(line[column] - (c if inwards else -c)) for line, c in zip(B, row, strict=True)):
            return False
    return True
