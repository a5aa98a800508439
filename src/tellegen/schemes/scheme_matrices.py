"""The matrices of a whole scheme: L x' = -A x + B u, y = C x + D u, read off its blocks and summations."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import final

from tellegen.core.errors import TellegenError
from tellegen.expressions import ZERO, Expression, is_zero
from tellegen.schemes import rules
from tellegen.schemes.gains import signal_gains
from tellegen.schemes.pog_scheme import Matrix, PogScheme, VectorBlock
from tellegen.schemes.vector import vector_block

MOVING = (
    "constant storages behind a connection that moves make such a matrix: new coordinates would be the output of none of them, and "
    "the blocks of a scheme hold storages"
)
"""Why a scheme does not take new coordinates where its energy matrix moves, although its equations do."""


@final
@dataclass(frozen=True, slots=True)
class SchemeMatrices:
    """A linear scheme as matrices; rows of C and D are the outputs, one for each input."""

    block: VectorBlock
    C: Matrix
    D: Matrix


def scheme_matrices(scheme: PogScheme, *, moving: bool = False) -> SchemeMatrices:
    """The matrices of a scheme, with the signs that its variables have now.

    With `moving`, all but L may move with displacements and signals.

    Raises: GraphError (G232) where it is not linear, where matrices move with what they may not, or where rates of inputs
    count; G211 for a scheme with transfer blocks.
    """
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
    rates = any(not is_zero(e) for row in block.B_1 for e in row)
    if rates or any(not is_zero(e) for row in gains.values() for name, e in row.items() if name not in known):
        raise _refused(scheme, "rates of inputs count in it", scheme.name)
    C, D = (
        tuple(tuple(_signed(gains[o.signal].get(name, ZERO), o.sign) for name in names) for o in scheme.outputs)
        for names in (states, scheme.inputs)
    )
    _refuse_moving(scheme, (block.A, block.B, C, D), (block.L, block.N), moving)
    return SchemeMatrices(block, C, D)


def _refuse_moving(scheme: PogScheme, others: Iterable[Matrix], energy: Iterable[Matrix], moving: bool) -> None:
    graph = scheme.causal.graph
    states = {scheme.elements[name].port.state for name in scheme.states}
    variables = {*states, *scheme.inputs}
    slow = {*graph.displacements, *graph.moving, *(s.name for s in graph.signals)}
    for matrices, names, word in (
        (energy, variables | slow, "its energy matrix moves"),
        (others, variables if moving else variables | slow, "its matrices move"),
    ):
        read = sorted({name for M in matrices for row in M for e in row for name in e.free_symbols & names})
        if read:
            raise _refused(scheme, f"{word} with {', '.join(read)}", read[0], MOVING if matrices is energy else None)


def _in_field(scheme: PogScheme, name: str) -> bool:
    item = scheme.elements.get(name)
    return item is not None and bool(item.field)


def _signed(entry: Expression, sign: int) -> Expression:
    return entry if sign > 0 else -entry


def _refused(scheme: PogScheme, what: str, where: str, why: str | None = None) -> TellegenError:
    fix = "linearise the model at an operating point, or transform its equations (tellegen.reduction.congruent_transformation)"
    what = f"'{scheme.name}' is no system of constant matrices: {what}"
    return rules.NO_MATRICES.error(what, where=where, why=why, fix=fix)
