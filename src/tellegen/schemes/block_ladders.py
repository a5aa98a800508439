"""Any model as one vector block or two: a lane for each element, joined by what each is told of what the others decide.

The gains form a skew matrix S. Where the elements fall into two groups that speak only to each other, S is one connection block
between two vector blocks; otherwise it is the power matrix of a single one, which loses nothing because it is skew.
"""

from collections.abc import Sequence

from tellegen.expressions import ZERO, Expression
from tellegen.graph import StorageLaw
from tellegen.schemes import rules
from tellegen.schemes.bond_graph_scheme import OnePort
from tellegen.schemes.field_texts import field_laws
from tellegen.schemes.pog_scheme import PogScheme
from tellegen.schemes.port_scheme import port_gains
from tellegen.schemes.written import (
    Piece,
    Row,
    Way,
    WrittenBlock,
    WrittenConnection,
    WrittenField,
    WrittenLadder,
    WrittenSection,
    gives,
    takes,
)


def block_ladder(scheme: PogScheme) -> WrittenLadder:
    """The ladder of one or two vector blocks.

    Raises: GraphError (G204) where an element takes part in nothing, or no two groups exist and storages depend on each other.
    """
    by_port = {id(item.port): item for item in scheme.elements.values()}
    items = [by_port[id(port)] for port in scheme.causal.graph.ports]
    gains = port_gains(scheme.causal)
    for k, item in enumerate(items):
        if not gains[k]:
            what = f"nothing decides what '{item.port.element}' is told: it stays zero, and no section leads to it"
            raise rules.NO_LADDER.error(what, where=item.port.element, fix=f"remove '{item.port.element}'")
    groups = _groups(gains, len(items), [field.ports for field in scheme.causal.graph.fields])
    if groups is None and scheme.causal.dependent:
        # A power matrix would hide what the dependent storages depend on.
        names = ", ".join(f"'{items[k].port.element}'" for k in scheme.causal.derivative[:4])
        what = f"its elements fall into no two groups of lanes, and {names} depends on others"
        raise rules.NO_LADDER.error(what, where=scheme.name, fix="write it as a network or as a bond graph")
    if groups is None:
        return _single(scheme, items, gains)
    left, right = groups
    K = tuple(tuple(gains[i].get(j, ZERO) for j in left) for i in right)
    ladder = _begin(scheme, items, left)
    ways = tuple(_way(items[k]) for k in right)
    domains = tuple(items[k].domain for k in right)
    sides = tuple(gives(_way(items[k])) for k in left), tuple(takes(way) for way in ways)
    ladder.parts.append(WrittenConnection("K", K, *sides, domains))
    if any(not _is_source(items[k]) for k in right):
        ladder.parts.append(_block(scheme, items, right))
    # At this end a through variable comes in by default, and is decided going out.
    sources = tuple(_source(items[k], -1 if items[k].decides == "through" else 1) for k in right)
    if any(sources):
        ladder.parts.append(WrittenSection(sources))
    return ladder


def _begin(scheme: PogScheme, items: Sequence[OnePort], lanes: Sequence[int]) -> WrittenLadder:
    ladder = WrittenLadder(tuple(items[k].domain for k in lanes))
    sources = tuple(_source(items[k], 1) for k in lanes)
    if any(sources):
        ladder.parts.append(WrittenSection(sources))
    if any(not _is_source(items[k]) for k in lanes):
        ladder.parts.append(_block(scheme, items, lanes))
    return ladder


def _single(scheme: PogScheme, items: Sequence[OnePort], gains: dict[int, dict[int, Expression]]) -> WrittenLadder:
    lanes = range(len(items))
    ladder = _begin(scheme, items, lanes)
    matrix = tuple(tuple(-gains[i].get(j, ZERO) for j in lanes) for i in lanes)
    block = next(part for part in ladder.parts if isinstance(part, WrittenBlock))
    block.items.append(WrittenField("S", tuple(lanes), (), matrix, False))
    return ladder


def _way(item: OnePort) -> Way:
    return "parallel" if item.decides == "across" else "series"


def _is_source(item: OnePort) -> bool:
    return item.kind in ("Se", "Sf")


def _source(item: OnePort, sign: int) -> Piece | None:
    return Piece(item, sign) if _is_source(item) else None


def _block(scheme: PogScheme, items: Sequence[OnePort], lanes: Sequence[int]) -> WrittenBlock:
    fields = {k: field for field in scheme.causal.graph.fields for k in field.ports}
    plain: Row = tuple(None if _is_source(items[k]) or k in fields else Piece(items[k]) for k in lanes)
    block = WrittenBlock(tuple(_way(items[k]) for k in lanes), [plain] if any(plain) else [])
    for field in scheme.causal.graph.fields:
        if field.ports[0] in lanes:
            places = tuple(lanes.index(k) for k in field.ports)
            energy = isinstance(items[field.ports[0]].port.law, StorageLaw)
            pieces = tuple(Piece(items[k]) for k in field.ports)
            laws = tuple(law.text for law in field_laws(field, scheme.causal.graph.ports))
            matrix, stiff = field.stiffness or field.matrix, field.stiffness is not None
            block.items.append(WrittenField(field.element, places, pieces, matrix, energy, laws, stiff))
    return block


def _groups(
    gains: dict[int, dict[int, Expression]], count: int, fields: Sequence[Sequence[int]]
) -> tuple[list[int], list[int]] | None:
    """Two groups that speak only to each other; the ports of a field stay together. None where there are none."""
    side: dict[int, int] = {}
    mates = {k: ports for ports in fields for k in ports}
    for start in range(count):
        if start in side:
            continue
        side[start] = 0
        queue = [start]
        for k in queue:
            near = [(j, 1 - side[k]) for j in gains[k]] + [(j, side[k]) for j in mates.get(k, ())]
            for j, wanted in near:
                if side.setdefault(j, wanted) != wanted:
                    return None
                if j not in queue:
                    queue.append(j)
    left = [k for k in range(count) if side[k] == 0]
    right = [k for k in range(count) if side[k] == 1]
    return (left, right) if right else None
