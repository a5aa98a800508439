"""Vector bonds written out: a junction or one-port of size n becomes n of them, a bond between two such items n bonds.

Sizes are said once, as in `1[3]:i`, and spread along bonds as domains do. `i[2]` is a component: a scalar item to whoever is bonded
to it. A two-port stays one item; its ports are counted on either side.
"""

from collections.abc import Iterator
from dataclasses import replace

from tellegen.core.errors import TellegenError
from tellegen.description.bond_graphs import rules
from tellegen.description.bond_graphs.graph import TWO_PORTS, Bond, BondGraph, Item, part_name

End = tuple[str, str]
"""An item, or one side of a two-port: "in" or "out"."""


def expanded(graph: BondGraph) -> BondGraph:
    """The scalar bond graph that a bond graph stands for. Bonds of two-ports say which port they are at.

    Raises: DescriptionError where two sizes meet.
    """
    sizes = _Sizes(graph).find()
    items: dict[str, Item] = {}
    for item in graph.items.values():
        if item.kind in TWO_PORTS:
            items[item.name] = item
        else:
            items.update((part.name, part) for part in _parts(item, sizes[item.name, ""]))
    bonds = [part for bond in graph.bonds for part in _bonds(graph, bond, sizes)]
    return BondGraph(items, tuple(bonds), graph.signals)


def _parts(item: Item, size: int) -> Iterator[Item]:
    if size == 1:
        yield replace(item, size=1)
        return
    if len(item.variables) not in (0, 1, size):
        what = f"'{item.name}' has {size} components and {len(item.variables)} names of variables"
        raise rules.WRONG_SIZE.error(what, where=item.name, fix=f"give one name, or {size}", place=item.place)
    for k in range(1, size + 1):
        names = item.variables[k - 1 : k] if len(item.variables) > 1 else [part_name(v, k) for v in item.variables]
        yield replace(item, name=part_name(item.name, k), variables=tuple(names), size=size, whole=item.name, part=k)


def _bonds(graph: BondGraph, bond: Bond, sizes: dict[End, int]) -> Iterator[Bond]:
    tail, head = _end(graph, bond.tail, "out"), _end(graph, bond.head, "in")
    for k in range(1, _bond_size(bond, sizes[tail]) + 1):
        one, two = bond.tail_port or k, bond.head_port or k
        names = _name(tail, sizes[tail], one), _name(head, sizes[head], two)
        yield Bond(names[0], names[1], bond.place, one if tail[1] else 0, two if head[1] else 0)


def _bond_size(bond: Bond, whole: int) -> int:
    return 1 if bond.tail_port or bond.head_port else whole


def _name(end: End, size: int, port: int) -> str:
    return end[0] if end[1] or size == 1 else part_name(end[0], port)


def _end(graph: BondGraph, name: str, side: str) -> End:
    return (name, side if graph.items[name].kind in TWO_PORTS else "")


class _Sizes:
    """Spreads the sizes that are said along bonds of whole items."""

    def __init__(self, graph: BondGraph) -> None:
        self.graph = graph
        self.sizes: dict[End, int] = {}
        self._neighbours: dict[End, list[End]] = {}
        self._parts: dict[End, int] = {}  # the highest component that is mentioned
        for bond in graph.bonds:
            tail, head = _end(graph, bond.tail, "out"), _end(graph, bond.head, "in")
            for end, port in ((tail, bond.tail_port), (head, bond.head_port)):
                self._neighbours.setdefault(end, [])
                self._parts[end] = max(self._parts.get(end, 0), port)
            if not (bond.tail_port or bond.head_port):
                self._neighbours[tail].append(head)
                self._neighbours[head].append(tail)

    def find(self) -> dict[End, int]:
        """The size of every item and of both sides of every two-port."""
        for item in self.graph.items.values():
            if item.size:
                self._spread((item.name, ""), item.size)
        for bond in self.graph.bonds:  # a whole item beside a component is a scalar
            if bool(bond.tail_port) != bool(bond.head_port):
                end = _end(self.graph, bond.head, "in") if bond.tail_port else _end(self.graph, bond.tail, "out")
                self._spread(end, 1)
        for end, highest in self._parts.items():
            if highest and end not in self.sizes:
                self._spread(end, highest)
        for end in self._neighbours:
            self.sizes.setdefault(end, 1)
        for item in self.graph.items.values():  # what has no bond is reported later
            if item.kind not in TWO_PORTS:
                self.sizes.setdefault((item.name, ""), max(item.size, 1))
        self._refuse_missing_components()
        return self.sizes

    def _spread(self, start: End, size: int) -> None:
        stack = [start]
        while stack:
            end = stack.pop()
            if end not in self.sizes:
                self.sizes[end] = size
                stack.extend(self._neighbours.get(end, ()))
            elif self.sizes[end] != size:
                raise self._two_sizes(end, size)

    def _two_sizes(self, end: End, size: int) -> TellegenError:
        item = self.graph.items[end[0]]
        what = f"'{item.name}' would have {self.sizes[end]} components and {size}"
        fix = f"bond one component, such as '{part_name(item.name, 1)}', or put TF or GY with a matrix between the two sizes"
        return rules.WRONG_SIZE.error(what, where=item.name, fix=fix, place=item.place)

    def _refuse_missing_components(self) -> None:
        for end, highest in self._parts.items():
            if highest > self.sizes[end]:
                item, size = self.graph.items[end[0]], self.sizes[end]
                what = f"'{part_name(item.name, highest)}' is bonded, and '{item.name}' has {size} component{'s' * (size > 1)}"
                fix = f"write its size where it stands first, such as '{item.kind}[{highest}]:{item.name}'"
                if item.kind in TWO_PORTS:
                    fix = "check the size of what its other bonds lead to"
                raise rules.WRONG_SIZE.error(what, where=item.name, fix=fix, place=item.place)
