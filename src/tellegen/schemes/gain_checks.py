"""Path gains of a POG against the interconnection of its model: what arrives at integrators, dependent storages and sources.

A and B are the gains of the paths from states and inputs to these places. Both sides are evaluated modulo a prime, with random
values for states, inputs and parameters: once along the blocks and summations of the scheme, once by Kirchhoff's laws, couplings
and resistive laws of the model. A wrong gain would pass with a probability of about 1e-18, and the work is near-linear.
"""

from collections.abc import Iterable, Mapping

from tellegen.core.domains import other_side
from tellegen.expressions import Expression
from tellegen.expressions.elimination import Elimination, Residues
from tellegen.expressions.nodes import PRIME
from tellegen.expressions.residues import point
from tellegen.graph import Field, Port, ResistiveLaw, SourceLaw
from tellegen.graph.interconnection import Interconnection, column
from tellegen.schemes.pog_scheme import Block, PogScheme

Row = dict[int, int]
CONSTANT = -1
"""The column of what is known."""


def wrong_gains(scheme: PogScheme) -> tuple[str, ...]:
    """The elements at which the scheme does not bring together what the model does; none for a scheme that `pog` made.

    Where a modulus or a law has no value at the random point, or the scheme is not of the whole model, nothing is said.
    """
    if not _is_whole(scheme):
        return ()
    try:
        drawn, meant = _by_scheme(scheme), _by_model(scheme)
    except _NoValueError:
        return ()
    return tuple(name for name, value in drawn.items() if meant.get(name, value) != value)


def _is_whole(scheme: PogScheme) -> bool:
    """Whether a scheme shows every element of its model: a reduction leaves some out, a transfer function hides some."""
    items = scheme.elements.values()
    return (
        {id(item.port) for item in items} == {id(port) for port in scheme.causal.graph.ports}
        and all(item.name in scheme.blocks or isinstance(item.port.law, SourceLaw) for item in items)
        and not any(block.kind == "transfer" for block in scheme.blocks.values())
    )


class _NoValueError(Exception):
    """An expression with a pole at the random point."""


def _residue(expression: Expression) -> int:
    found = expression.residues()
    if found is None:
        raise _NoValueError
    return found[0]


def _known(name: str) -> int:
    """The random value of what an element decides."""
    return point(f"decided by {name}")[0]


def _is_followed(block: Block) -> bool:
    """Whether a path goes on through a block at once."""
    return block.kind in ("connection", "static") and block.gain is not None


def _by_scheme(scheme: PogScheme) -> dict[str, int]:
    """What arrives at each element that ends a path, along the blocks and summations; products with what is decided are powers."""
    at = {name: k for k, name in enumerate(scheme.signals())}
    rows: list[Row] = []
    ends: dict[str, tuple[str, int]] = {}

    def is_decided(variable: str, by: str, told: str, sign: int) -> None:
        way = -1 if variable in scheme.turned else 1
        rows.append({at[variable]: 1, CONSTANT: -way * _known(by) % PRIME})
        ends[by] = told, way * sign

    for summation in scheme.summations.values():
        rows.append({at[summation.output]: PRIME - 1} | {at[n]: sign % PRIME for n, sign in summation.inputs})
    for block in scheme.blocks.values():
        if _is_followed(block):
            assert block.gain is not None, "a path goes on through gains only"
            row = {at[block.output]: PRIME - 1}
            for name, gain in ((block.input, block.gain), *block.terms):
                row[at[name]] = (row.get(at[name], 0) + _residue(gain)) % PRIME
            rows.append(row)
        else:
            is_decided(block.output, block.name, block.input, block.sign)
    for source, name, output in zip(scheme.sources(), scheme.inputs, scheme.outputs, strict=True):
        is_decided(name, source.name, output.signal, -output.sign)
    values = _solved(rows, at.values())
    return {name: values.get(at[signal], 0) * sign % PRIME for name, (signal, sign) in ends.items() if signal in at}


def _by_model(scheme: PogScheme) -> dict[str, int]:
    """What each element is told by the interconnection, with the laws of linear resistive elements."""
    graph = scheme.causal.graph
    ports = {id(port): k for k, port in enumerate(graph.ports)}
    interconnection = Interconnection(graph)
    rows: list[Row] = list(interconnection.rows(_residue))
    laws = {k: row for field in graph.fields for k, row in _field_laws(field, graph.ports)}
    told: dict[str, int] = {}
    for item in scheme.elements.values():
        k, block = ports[id(item.port)], scheme.blocks.get(item.name)
        if block is not None and _is_followed(block):
            rows.append(laws.get(k) or _law(k, item.port))
        elif block is not None or isinstance(item.port.law, SourceLaw):
            rows.append({column(k, item.decides): 1, CONSTANT: -_known(item.name) % PRIME})
            told[item.name] = column(k, other_side(item.decides))
    values = _solved(rows, range(interconnection.internal.stop))
    return {name: values.get(c, 0) for name, c in told.items()}


def _law(k: int, port: Port) -> Row:
    """The law of a linear resistive element as an equation."""
    law = port.law
    assert isinstance(law, ResistiveLaw), "only resistive elements are followed"
    assert law.coefficient is not None, "only linear elements are followed"
    return {column(k, law.side): PRIME - 1, column(k, other_side(law.side)): _residue(law.coefficient)}


def _field_laws(field: Field, ports: tuple[Port, ...]) -> Iterable[tuple[int, Row]]:
    if not isinstance(ports[field.ports[0]].law, ResistiveLaw):
        return
    for k, entries in zip(field.ports, field.matrix, strict=True):
        row: Row = {column(k, ports[k].law.side): PRIME - 1}
        for j, entry in zip(field.ports, entries, strict=True):
            row[column(j, other_side(ports[j].law.side))] = _residue(entry)
        yield k, row


def _solved(rows: Iterable[Mapping[int, int]], columns: Iterable[int]) -> dict[int, int]:
    """The values of columns; those that nothing decides are left out."""
    elimination = Elimination(({c: e for c, e in row.items() if e} for row in rows), Residues())
    elimination.eliminate_all(columns)
    found = elimination.express(elimination.pivots)
    return {c: entries.get(CONSTANT, 0) for c, entries in found.items() if entries.keys() <= {CONSTANT}}
