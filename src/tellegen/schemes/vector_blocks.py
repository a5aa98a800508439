"""Merge two vector blocks into one, and split one into two that speak to each other.

What one block is told of the other stands in its inputs: a state of the other by its name. Merged, these columns of B become
entries of A; split, entries of A become columns of B.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import reduce

from tellegen.core.names import did_you_mean
from tellegen.expressions import ZERO, Expression, is_zero
from tellegen.schemes import rules
from tellegen.schemes.names import listed
from tellegen.schemes.pog_scheme import Matrix, PogScheme, VectorBlock
from tellegen.schemes.rewriting import Rewriting
from tellegen.schemes.vector import vector_block


def merge_scheme(scheme: PogScheme) -> Rewriting:
    """The scheme as one vector block: its ladders, or the parts into which the block was split, become one."""
    if scheme.parts:
        merged = _ordered(reduce(merge_blocks, scheme.parts), scheme)
        whole = replace(scheme, vector=merged, parts=())
        return Rewriting(whole, f"merged {len(scheme.parts)} vector blocks: x = [{', '.join(merged.states)}]")
    block = scheme.vector or vector_block(scheme)
    account = f"wrote the scheme as one vector block: x = [{', '.join(block.states)}]"
    return Rewriting(replace(scheme, vector=block, ladders=()), account)


def split_scheme(scheme: PogScheme, states: str | Iterable[str]) -> Rewriting:
    """The scheme with a vector block of the states named and one of the others, which are told each other's states.

    A scheme that was split already is split again in the block that has these states.

    Raises: GraphError (G213) for a name that is no state, where nothing is left, and where the two hold energy together.
    """
    wanted = listed(states)
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
    return Rewriting(replace(whole, parts=(*parts[:at], one, two, *parts[at + 1 :])), account)


def _ordered(block: VectorBlock, scheme: PogScheme) -> VectorBlock:
    """The block with states and inputs in the order of the scheme; what no block was told is an input all the same."""
    assert scheme.vector is not None, "parts are those of a vector block"
    states, inputs = scheme.vector.states, scheme.vector.inputs
    rows = [block.states.index(name) for name in states]

    def taken(matrix: Matrix, names: Sequence[str], known: Sequence[str]) -> Matrix:
        places = [known.index(name) if name in known else None for name in names]
        return tuple(tuple(ZERO if j is None else matrix[i][j] for j in places) for i in rows)

    L, A, N = (taken(M, states, block.states) for M in (block.L, block.A, block.N))
    B, B_1 = (taken(M, inputs, block.inputs) for M in (block.B, block.B_1))
    return VectorBlock(states, inputs, L, A, B, B_1, N)


def merge_blocks(one: VectorBlock, two: VectorBlock) -> VectorBlock:
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
            if name in states and any(not is_zero(row[k]) for row in block.B_1):
                what = f"the rate of '{name}' is an input of one block, and '{name}' a state of the other"
                why = "then the two hold energy together, and their energy matrices do not stand apart"
                raise rules.NO_VECTOR_BLOCK.error(what, where=name, why=why, fix="derive the equations of the whole")
    inputs = tuple(dict.fromkeys(name for name in (*one.inputs, *two.inputs) if name not in states))
    rows = [(block, k) for block in (one, two) for k in range(len(block.states))]

    def gathered(names: Sequence[str], own: str, told: str, sign: int) -> Matrix:
        return tuple(
            tuple(_entry(block, k, name, own, told, sign) for name in names)  # own matrix, then what is told
            for block, k in rows
        )

    return VectorBlock(
        states,
        inputs,
        L=gathered(states, "L", "", 1),
        A=gathered(states, "A", "B", -1),
        B=gathered(inputs, "", "B", 1),
        B_1=gathered(inputs, "", "B_1", 1),
        N=gathered(states, "N", "", 1),
    )


def _entry(block: VectorBlock, row: int, name: str, own: str, told: str, sign: int) -> Expression:
    if own and name in block.states:
        entry: Expression = getattr(block, own)[row][block.states.index(name)]
        return entry
    if told and name in block.inputs:
        entry = getattr(block, told)[row][block.inputs.index(name)]
        return entry if sign > 0 else -entry
    return ZERO


def split_block(block: VectorBlock, states: str | Iterable[str]) -> tuple[VectorBlock, VectorBlock]:
    """Two blocks for one: that of the states named, and that of the others. Each has the states it is told as further inputs.

    Raises: GraphError (G213) for a name that is no state, where nothing is left, and where the two hold energy together.
    """
    wanted = listed(states)
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
            if any(not is_zero(M[a][b]) for M in (block.L, block.N) for a, b in ((i, j), (j, i))):
                what = f"{block.states[i]} and {block.states[j]} hold energy together"
                raise rules.NO_VECTOR_BLOCK.error(what, where=block.states[i], fix="leave both in one block")
    return _part(block, first, second), _part(block, second, first)


def _part(block: VectorBlock, own: Sequence[int], others: Sequence[int]) -> VectorBlock:
    driven = [
        k for k in range(len(block.inputs)) if any(not is_zero(M[i][k]) for M in (block.B, block.B_1) for i in own)
    ]
    told = [j for j in others if any(not is_zero(block.A[i][j]) for i in own)]
    names = (*(block.inputs[k] for k in driven), *(block.states[j] for j in told))
    return VectorBlock(
        tuple(block.states[i] for i in own),
        names,
        L=_taken(block.L, own, own),
        A=_taken(block.A, own, own),
        B=tuple((*(block.B[i][k] for k in driven), *(-block.A[i][j] for j in told)) for i in own),
        B_1=tuple((*(block.B_1[i][k] for k in driven), *(ZERO for _ in told)) for i in own),
        N=_taken(block.N, own, own),
    )


def _taken(matrix: Matrix, rows: Sequence[int], columns: Sequence[int]) -> Matrix:
    return tuple(tuple(matrix[i][j] for j in columns) for i in rows)
