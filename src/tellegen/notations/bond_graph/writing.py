"""A bond graph as the lines of a file, which `read_lines` turns into the same graph."""

from tellegen.model.bond_graph import BondGraph, PowerBond


def bond_graph_lines(graph: BondGraph) -> list[str]:
    """The lines of `bond graph:`: the bonds in their order, then the signals that sources follow."""
    return [*_Lines(graph).write(), *(f"{signal.expression} => {signal.target}" for signal in graph.signals)]


class _Lines:
    """Writes each bond once, and the kind of each item where it stands first."""

    def __init__(self, graph: BondGraph) -> None:
        self.graph = graph
        self.said: set[str] = set()
        self.written: set[int] = set()

    def write(self) -> list[str]:
        lines = []
        for bond in self.graph.bonds:
            if bond.number not in self.written:
                chain = self._chain(bond)
                self.written.update(b.number for b in chain)
                first = self._item(chain[0].tail, chain[0].tail_port)
                lines.append(" -> ".join([first, *(self._item(b.head, b.head_port) for b in chain)]))
        return lines

    def _chain(self, bond: PowerBond) -> list[PowerBond]:
        """A bond with the one behind its two-port, where that has no others and is not written yet: people write so."""
        around = self.graph.bonds_of(bond.head)
        if self.graph.items[bond.head].role == "two-port" and len(around) == 2:
            behind = next(b for b in around if b is not bond)
            if behind.number not in self.written and not (bond.head_port or behind.tail_port):
                return [bond, behind]
        return [bond]

    def _item(self, name: str, port: int) -> str:
        component = f"[{port}]" if port else ""
        if name in self.said:
            return name + component
        self.said.add(name)
        item = self.graph.items[name]
        junction = item.role == "junction"
        # The sizes of all other items follow from those of junctions along the bonds, and so do domains.
        size = f"[{item.size}]" if junction and item.size > 1 else ""
        note = item.domain if junction else item.variable
        return f"{item.letters}{size}:{name}{component}" + (f" ({note})" if note else "")
