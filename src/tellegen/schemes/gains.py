"""Gains between signals of a POG: sums over paths, by elimination, which is Mason's rule where algebraic loops exist."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from tellegen.expressions import ONE, ZERO, Expression
from tellegen.expressions.elimination import Elimination
from tellegen.expressions.entries import Entry, NamedEntries, TooManyNamesError, settled
from tellegen.graph import StorageLaw
from tellegen.schemes import rules
from tellegen.schemes.gain_outlines import Equation, UndeterminedError, outlined_gains
from tellegen.schemes.pog_scheme import Block, Matrix, PogScheme, Summation

MOST_NAMES = 4000
"""Gains that need more names for their parts than this are told by their values only: nobody could read them."""


class PathGains(NamedTuple):
    """The matrices of L x' = -A x + B u, read off the scheme."""

    A: Matrix
    B: Matrix


def path_gains(scheme: PogScheme) -> PathGains:
    """A and B by the paths from integrator outputs and inputs to integrator inputs that cross no other integrator.

    Outputs of dependent storages and of laws that are not linear count as no path: they belong to L and f.
    """
    states = [scheme.blocks[name] for name in scheme.states]
    gains = signal_gains(scheme, [block.input for block in states])
    # The state of a storage given by its output law is the energy variable: its output is a nonlinear function.
    starts = [None if _keeps_energy(block) else block.output for block in states]
    A = tuple(tuple(-_gain(gains, end.input, start) for start in starts) for end in states)
    B = tuple(tuple(_gain(gains, end.input, start) for start in scheme.inputs) for end in states)
    return PathGains(A, B)


def _keeps_energy(block: Block) -> bool:
    return isinstance(block.law, StorageLaw) and block.law.keeps_energy_variable


def _gain(gains: Mapping[str, Mapping[str, Expression]], end: str, start: str | None) -> Expression:
    return gains[end].get(start, ZERO) if start is not None else ZERO


def dependent_gains(scheme: PogScheme) -> tuple[list[Block], Matrix, Matrix]:
    """The dependent storages, and their outputs by states and by inputs: the rows of T and T_u."""
    blocks = [block for block in scheme.blocks.values() if block.kind == "derivative"]
    if not blocks:
        return [], (), ()
    gains = signal_gains(scheme, [block.input for block in blocks])
    outputs = [scheme.blocks[name].output for name in scheme.states]
    T = tuple(tuple(_gain(gains, block.input, name) for name in outputs) for block in blocks)
    T_u = tuple(tuple(_gain(gains, block.input, name) for name in scheme.inputs) for block in blocks)
    return blocks, T, T_u


def signal_gains(
    scheme: PogScheme, ends: Sequence[str], *, cut_static: bool = False
) -> dict[str, dict[str, Expression]]:
    """For each signal asked for, its gains from the signals that nothing static decides.

    These are inputs and the outputs of integrators, of dependent storages and of laws that are not linear; with `cut_static` the
    outputs of all static elements as well. Where gains would fill many pages, as those of a mesh of hundreds of resistors do, they
    are outlines: see `gain_outlines`.

    Raises: GraphError (G211) for a scheme with transfer blocks.
    """
    hidden = [block.name for block in scheme.blocks.values() if block.kind == "transfer"]
    if hidden:
        what = f"{', '.join(hidden)} is a transfer function, whose states the scheme does not show"
        fix = "ask the scheme from before the loop was reduced, or derive the equations of its model"
        raise rules.NO_MASON.error(what, where=hidden[0], fix=fix)
    equations = [*_sums(scheme.summations.values()), *_static(scheme.blocks.values(), cut_static)]
    try:
        return _written_gains(scheme, equations, ends)
    except TooManyNamesError:
        return outlined_gains(equations, scheme.signals(), ends)


def _written_gains(
    scheme: PogScheme, equations: Sequence[Equation], ends: Sequence[str]
) -> dict[str, dict[str, Expression]]:
    column = {name: k for k, name in enumerate(scheme.signals())}
    names = list(column)
    field = NamedEntries(scheme.causal.graph.parameters, names, most=MOST_NAMES)
    rows = []
    for output, terms in equations:
        row = {column[output]: field.entry(-ONE)}
        for name, gain in terms:
            if gain is not ZERO:
                row[column[name]] = field.entry(gain)
        rows.append(row)
    elimination: Elimination[Entry] = Elimination(rows, field)
    left = elimination.eliminate_all([column[output] for output, _ in equations])
    if left:
        raise UndeterminedError
    found = elimination.express([column[end] for end in ends])
    where = settled(field.where)
    return {
        end: {names[c]: e.expression.substitute(where) for c, e in found[column[end]].items()}
        if column[end] in found
        else {end: ONE}
        for end in ends
    }


def _sums(summations: Iterable[Summation]) -> Iterable[Equation]:
    return ((s.output, [(name, ONE if sign > 0 else -ONE) for name, sign in s.inputs]) for s in summations)


def _static(blocks: Iterable[Block], cut_static: bool) -> Iterable[Equation]:
    for block in blocks:
        wanted = block.kind == "connection" or (block.kind == "static" and not cut_static)
        if wanted and block.gain is not None:
            yield block.output, [(block.input, block.gain), *block.terms]
