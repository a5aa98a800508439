"""The vector block of a POG: L x' + N x = -A x + B u + B_1 u'."""

from tellegen.expressions import ONE, ZERO, Expression, symbol, total
from tellegen.expressions.entries import substituted
from tellegen.graph import PowerGraph, StorageLaw
from tellegen.schemes.gains import dependent_gains, path_gains
from tellegen.schemes.pog_scheme import Block, Matrix, PogScheme, VectorBlock

Rows = tuple[tuple[Expression, ...], ...]


def vector_block(scheme: PogScheme) -> VectorBlock:
    """The dependent storages brought in by the congruent transformation x = T z + T_u u; a T that moves gives N = T^T L T'."""
    A, B = path_gains(scheme)
    states = [scheme.blocks[name] for name in scheme.states]
    dependent, T, T_u = dependent_gains(scheme)
    n, m = len(states), len(scheme.inputs)
    identity = tuple(tuple(ONE if i == j else ZERO for j in range(n)) for i in range(n))
    whole: Rows = (*identity, *T)
    whole_u: Rows = (*((ZERO,) * m for _ in states), *T_u)
    energy = _energy(scheme, [*states, *dependent])
    B_1 = _congruent(whole, energy, whole_u, n, m)
    graph = scheme.causal.graph
    rates: Rows = tuple(tuple(_rate(entry, graph) for entry in row) for row in whole)
    rates_u: Rows = tuple(tuple(_rate(entry, graph) for entry in row) for row in whole_u)
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


def _energy(scheme: PogScheme, blocks: list[Block]) -> dict[tuple[int, int], Expression]:
    """The energy matrix of storages: diagonal but for fields."""
    items = scheme.elements
    at = {items[block.name].port.element: k for k, block in enumerate(blocks)}
    found = {}
    for k, block in enumerate(blocks):
        law = block.law
        assert isinstance(law, StorageLaw), "only storages hold energy"
        port = items[block.name].port
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
    if entry is ZERO or entry is ONE or not graph.displacements:
        return ZERO
    moved = entry
    for name in reversed(list(graph.moving)):  # each after those it uses
        if name in moved.free_symbols:
            moved = substituted(moved, {name: graph.moving[name]})
    return total(
        moved.derivative(name) * rate for name, rate in graph.displacements.items() if name in moved.free_symbols
    )


def _congruent(left: Rows, middle: dict[tuple[int, int], Expression], right: Rows, rows: int, columns: int) -> Matrix:
    """left^T * middle * right, by the entries that are not zero."""
    lefts, rights = _sparse(left), _sparse(right)
    terms: dict[tuple[int, int], list[Expression]] = {}
    for (a, b), e in middle.items():
        for i, first in lefts[a].items():
            for j, last in rights[b].items():
                terms.setdefault((i, j), []).append(first * e * last)
    found = {place: total(several) for place, several in terms.items()}
    return tuple(tuple(found.get((i, j), ZERO) for j in range(columns)) for i in range(rows))


def _sparse(rows: Rows) -> list[dict[int, Expression]]:
    return [{j: entry for j, entry in enumerate(row) if entry is not ZERO} for row in rows]
