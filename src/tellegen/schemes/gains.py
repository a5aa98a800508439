"""Gains between signals of a POG: sums over paths by elimination, outlines of gains too long to be written, and the vector
block they make.

The value is taken modulo a prime at two random points. A name differs from that of another gain where their values do, and a gain
of the opposite value has the same name with a minus sign. So one sees what is zero, what is equal and what is skew.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple, TypeVar

from tellegen.expressions import ONE, ZERO, Expression, symbol, total
from tellegen.expressions.elimination import (
    Elimination,
    NamedEntries,
    NumberField,
    ResidueField,
    TooManyNamesError,
    resolved_definitions,
    with_definitions,
)
from tellegen.expressions.nodes import PRIME
from tellegen.expressions.rules import DivisionByZeroError
from tellegen.expressions.waves import joined_sines
from tellegen.graph import PowerGraph, StorageLaw
from tellegen.schemes import rules
from tellegen.schemes.pog_scheme import Matrix, PogScheme, SchemeBlock, VectorBlock

Equation = tuple[str, list[tuple[str, Expression]]]
"""A signal, and the signals that it is the sum of, each with its gain."""
E = TypeVar("E")
OUTLINE = "gain "
"""How the names of outlines begin; no name of a model has a space."""


class UndeterminedError(Exception):
    """Some signals of a scheme follow from nothing: causes were turned that cannot be."""


def is_outlined(expression: Expression) -> bool:
    """Whether something in an expression is known by its value only."""
    return any(name.startswith(OUTLINE) for name in expression.free_symbols)


def outlined_gains(
    equations: Sequence[Equation], signals: Iterable[str], ends: Sequence[str]
) -> dict[str, dict[str, Expression]]:
    """For each signal asked for, its gains from the signals that no equation decides, as outlines."""
    names = list(signals)
    # Two independent points: that two different gains agree at both by chance is not to be expected in the life of the program.
    points: list[Callable[[Expression], int]] = [partial(_residue, which=which) for which in (0, 1)]
    one, two = (_expressed(equations, names, ends, ResidueField(), point) for point in points)
    return {
        end: {names[c]: _outline(row.get(c, 0), two[end].get(c, 0)) for c in sorted(row.keys() | two[end].keys())}
        for end, row in one.items()
    }


def _expressed(
    equations: Sequence[Equation],
    names: Sequence[str],
    ends: Sequence[str],
    field: NumberField[E],
    entry: Callable[..., E],
) -> dict[str, Mapping[int, E]]:
    """For each signal asked for, what it is of the signals that no equation decides, by their places among the names.

    Raises: UndeterminedError for a loop of gains one, or an output that nothing decides, after causes were turned in a mesh.
    """
    column = {name: k for k, name in enumerate(names)}
    rows = []
    for output, terms in equations:
        # Each equation in the form 0 = -output + sum of gains: the output is the pivot of its own row.
        # Entries of zero would be pivots that the elimination has to look at and cannot use.
        row = {column[name]: entry(gain) for name, gain in terms if gain is not ZERO}
        rows.append({column[output]: entry(-ONE)} | row)
    elimination = Elimination(rows, field)
    if elimination.eliminate_all([column[output] for output, _ in equations]):
        raise UndeterminedError
    found = elimination.express([column[end] for end in ends])
    return {end: found.get(column[end], {column[end]: entry(ONE)}) for end in ends}


def _residue(gain: Expression, which: int) -> int:
    found = gain.residues()
    # A pole at a random point means that the formula divides by something that vanishes modulo the prime; nothing can be said then.
    if found is None:
        raise DivisionByZeroError("an expression has a pole at a random point")
    return found[which]


def _outline(first: int, second: int) -> Expression:
    """A number for zero and one, else a name; of a value and its opposite, the smaller gives the name."""
    # Residues above half of the prime stand for negative numbers: so a gain and its opposite get one name and a minus sign.
    if first > PRIME - first:
        return -_outline(-first % PRIME, -second % PRIME)
    if first == second and first <= 1:
        return ONE if first else ZERO
    return symbol(f"{OUTLINE}{first:x}_{second:x}")


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
    # Rows are the inputs of integrators, the rates of the energies: this is where L x' is read.
    states = [scheme.blocks[name] for name in scheme.states]
    gains = signal_gains(scheme, [block.input for block in states])
    # The state of a storage given by its output law is the energy variable: its output is a nonlinear function.
    curved = [isinstance(block.law, StorageLaw) and block.law.keeps_energy_variable for block in states]
    starts = [None if of_energy else block.output for block, of_energy in zip(states, curved, strict=True)]
    # The minus sign is that of the convention L x' = -A x + B u, in which the symmetric part of A dissipates.
    A = tuple(tuple(-_gain(gains, end.input, start) for start in starts) for end in states)
    B = tuple(tuple(_gain(gains, end.input, start) for start in scheme.inputs) for end in states)
    return PathGains(A, B)


def _gain(gains: Mapping[str, Mapping[str, Expression]], end: str, start: str | None) -> Expression:
    return gains[end].get(start, ZERO) if start is not None else ZERO


def dependent_gains(scheme: PogScheme) -> tuple[list[SchemeBlock], Matrix, Matrix]:
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
    # A path through a transfer block would cross an integrator unseen, and A and B would not be those of the states.
    if hidden:
        what = f"{', '.join(hidden)} is a transfer function, whose states the scheme does not show"
        fix = "ask the scheme from before the loop was reduced, or derive the equations of its model"
        raise rules.NO_MASON.error(what, where=hidden[0], fix=fix)
    sums = scheme.summations.values()
    equations: list[Equation] = [(s.output, [(n, ONE if sign > 0 else -ONE) for n, sign in s.inputs]) for s in sums]
    equations += _static(scheme.blocks.values(), cut_static)
    try:
        return _written_gains(scheme, equations, ends)
    # Symbols first, since they can be read; outlines only where the formulas would fill pages that nobody reads.
    except TooManyNamesError:
        return outlined_gains(equations, scheme.signals(), ends)


def _written_gains(
    scheme: PogScheme, equations: Sequence[Equation], ends: Sequence[str]
) -> dict[str, dict[str, Expression]]:
    names = scheme.signals()
    field = NamedEntries(scheme.causal.graph.parameters, names, most=MOST_NAMES)
    found = _expressed(equations, names, ends, field, field.entry)
    # Names that the elimination gave to long parts are written out: gains are compared and printed by themselves.
    where = resolved_definitions(field.where)
    return {end: {names[c]: e.expression.substitute(where) for c, e in row.items()} for end, row in found.items()}


def _static(blocks: Iterable[SchemeBlock], cut_static: bool) -> Iterable[Equation]:
    for block in blocks:
        # Static elements are cut for the test of skewness: the connection part alone has to conserve power.
        wanted = block.kind == "connection" or (block.kind == "static" and not cut_static)
        if wanted and block.gain is not None:
            yield block.output, [(block.input, block.gain), *block.terms]


def vector_block(scheme: PogScheme) -> VectorBlock:
    """The dependent storages brought in by the congruent transformation x = T z + T_u u; a T that moves gives N = T^T L T'."""
    A, B = path_gains(scheme)
    states = [scheme.blocks[name] for name in scheme.states]
    dependent, T, T_u = dependent_gains(scheme)
    n, m = len(states), len(scheme.inputs)
    identity = tuple(tuple(ONE if i == j else ZERO for j in range(n)) for i in range(n))
    # x = (z, T z): independent storages as they are, dependent ones by the states (docs/theory/power_oriented_graphs.md).
    whole: Matrix = (*identity, *T)
    whole_u: Matrix = (*((ZERO,) * m for _ in states), *T_u)
    energy = _energy(scheme, [*states, *dependent])
    # T^T L T_u u' : what a source that decides a dependent storage gives by its rate.
    B_1 = _congruent(whole, energy, whole_u, n, m)
    graph = scheme.causal.graph
    rates: Matrix = tuple(tuple(_rate(entry, graph) for entry in row) for row in whole)
    rates_u: Matrix = tuple(tuple(_rate(entry, graph) for entry in row) for row in whole_u)
    # T^T L T_u' u acts like B u, and stands on the right side: hence B less this share.
    driven = _congruent(whole, energy, rates_u, n, m)
    return VectorBlock(
        states=tuple(scheme.elements[block.name].port.state for block in states),
        inputs=scheme.inputs,
        L=_congruent(whole, energy, whole, n, n),
        A=A,
        B=tuple(tuple(b - d for b, d in zip(row, line, strict=True)) for row, line in zip(B, driven, strict=True)),
        B_1=tuple(tuple(-e for e in row) for row in B_1),
        N=_congruent(whole, energy, rates, n, n),
    )


def _energy(scheme: PogScheme, blocks: list[SchemeBlock]) -> dict[tuple[int, int], Expression]:
    """The energy matrix of storages: diagonal but for fields."""
    items = scheme.elements
    at = {items[block.name].port.element: k for k, block in enumerate(blocks)}
    found = {}
    for k, block in enumerate(blocks):
        law = block.law
        assert isinstance(law, StorageLaw), "only storages hold energy"
        port = items[block.name].port
        # A state that is the energy variable itself has L = 1, whatever the law of its output is.
        found[k, k] = ONE if law.keeps_energy_variable else law.inertia_at(symbol(port.variable(law.side)))
    ports = scheme.causal.graph.ports
    for field in scheme.causal.graph.fields:
        names = [ports[k].element for k in field.ports]
        for a, row in zip(names, field.matrix, strict=True):
            for b, entry in zip(names, row, strict=True):
                if a in at and b in at:
                    found[at[a], at[b]] = entry
    return found


def _rate(entry: Expression, graph: PowerGraph) -> Expression:
    """The derivative of a gain along the motion, by the chain rule through moving parameters."""
    # Most entries are zero or one: asking for their derivative would cost as much as all others together.
    if entry is ZERO or entry is ONE or not graph.displacements:
        return ZERO
    moved = entry
    # Moving parameters are written out before the derivative, or their dependence on displacements would not be seen.
    for name in reversed(list(graph.position_dependent)):  # each after those it uses
        if name in moved.free_symbols:
            moved = with_definitions(moved, {name: graph.position_dependent[name]})
    return total(
        moved.derivative(name) * rate for name, rate in graph.displacements.items() if name in moved.free_symbols
    )


def _congruent(
    left: Matrix, middle: dict[tuple[int, int], Expression], right: Matrix, rows: int, columns: int
) -> Matrix:
    """left^T * middle * right, by the entries that are not zero."""
    lefts, rights = _sparse(left), _sparse(right)
    terms: dict[tuple[int, int], list[Expression]] = {}
    for (a, b), e in middle.items():
        for i, first in lefts[a].items():
            for j, last in rights[b].items():
                # Terms are collected and added once: a sum built term by term is simplified again at each step.
                terms.setdefault((i, j), []).append(first * e * last)
    found = {place: joined_sines(total(several)) for place, several in terms.items()}
    return tuple(tuple(found.get((i, j), ZERO) for j in range(columns)) for i in range(rows))


def _sparse(rows: Matrix) -> list[dict[int, Expression]]:
    return [{j: entry for j, entry in enumerate(row) if entry is not ZERO} for row in rows]
