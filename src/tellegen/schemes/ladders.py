"""Ladders of columns from the tree of a bond graph: one element a column, sections between columns, side ladders at branches."""

from tellegen.core.domains import DOMAINS, Side, other_side
from tellegen.graph import SourceLaw, StorageLaw
from tellegen.schemes.bond_graph_scheme import Bond, BondGraphScheme, Junction
from tellegen.schemes.flow import Flow, Joint, joint
from tellegen.schemes.names import UniqueNames
from tellegen.schemes.pog_scheme import Column, Ladder, Section
from tellegen.schemes.trees import Part, heavy_children


class LadderBuilder:
    """Lays the ladders of a tree-like bond graph, and collects sections, blocks and summations on the way."""

    def __init__(self, graph: BondGraphScheme, flow: Flow) -> None:
        self.graph = graph
        self.flow = flow
        self.sections: dict[str, Section] = {}
        self.signals = UniqueNames(name for bond in graph.bonds for name in (bond.across, bond.through))
        self._away: dict[str, list[Bond]] = {}

    def ladder_of(self, part: Part) -> Ladder:
        """The main ladder of a part."""
        start = part.start()
        self._away = heavy_children(part, start)
        source = next((b for b in self._source_bonds(start)), None)
        entry = None if source is None else self._section(source, start, "across")
        return self._ladder(start, source, entry)

    # -- sections --------------------------------------------------------------------------------------------------------------

    def _source_bonds(self, junction: str) -> list[Bond]:
        found = []
        for bond in self.graph.bonds_of(junction):
            item = self.graph.one_ports.get(bond.other(junction))
            if item is not None and isinstance(item.port.law, SourceLaw):
                found.append(bond)
        return found

    def _section(self, bond: Bond, right: str, upper: Side) -> Section:
        """The section of a bond, whose right end is given."""
        left = bond.other(right)
        direction = "right" if bond.head == right else "left"
        return self._keep(
            Section(
                str(len(self.sections) + 1),
                "" if left in self.graph.one_ports else left,
                "" if right in self.graph.one_ports else right,
                bond.domain,
                bond.across,
                bond.through,
                direction,  # type: ignore[arg-type]
                bond.receives(right),
                upper,
            )
        )

    def _keep(self, section: Section) -> Section:
        self.sections[section.name] = section
        return section

    # -- ladders ---------------------------------------------------------------------------------------------------------------

    def _ladder(self, start: str, left: Bond | None, entry: Section | None) -> Ladder:
        columns: list[Column] = []
        name, upper = start, entry.upper if entry else "across"
        section = entry
        while True:
            away = self._away[name]
            ahead = away[0] if away else None
            if name in self.graph.two_ports:
                assert ahead is not None, "a two-port stands between junctions"
                upper = self._turned(name, left, upper)
                behind = self._section(ahead, ahead.other(name), upper)
                blocks = self.flow.two_port(self.graph.two_ports[name])
                columns.append(Column("connection", name, section.name if section else "", behind.name, blocks))
            else:
                if ahead is None:
                    ahead = next((b for b in reversed(self._source_bonds(name)) if b is not left), None)
                made, behind_ = self._group(name, left, ahead, section, away[1:], upper)
                columns += made
                if behind_ is None:
                    break
                behind = behind_
            assert ahead is not None, "a section has a bond"
            section, left, name = behind, ahead, ahead.other(name)
            if name in self.graph.one_ports:
                break
        return Ladder(tuple(columns), entry.name if entry else "")

    def _turned(self, two_port: str, left: Bond | None, upper: Side) -> Side:
        """The variable on the upper line behind a two-port."""
        item = self.graph.two_ports[two_port]
        assert left is not None, "a two-port stands between junctions"
        here, there = item.domains if left.head == two_port else item.domains[::-1]
        effort = (DOMAINS[here].effort == upper) == (item.kind == "TF")
        return DOMAINS[there].effort if effort else DOMAINS[there].flow

    # -- columns of one junction -----------------------------------------------------------------------------------------------

    def _group(
        self,
        name: str,
        left: Bond | None,
        right: Bond | None,
        section: Section | None,
        branches: list[Bond],
        upper: Side,
    ) -> tuple[list[Column], Section | None]:
        """The columns of a junction, and the section behind them."""
        junction = self.graph.junctions[name]
        items = self._items(junction, left, right, branches)
        joints = [joint(bond, name, junction.shares) for bond in items]
        start = None if left is None else joint(left, name, junction.shares)
        end = None if right is None else joint(right, name, junction.shares)
        forward = not start.leaves if start else end.leaves if end else True
        columns: list[Column] = []
        decided = bool(start and start.brings)
        for k in range(max(len(items), 1)):
            last = k >= len(items) - 1
            decided = decided or (k < len(items) and joints[k].brings)
            here = [j for j in (start, joints[k] if items else None) if j is not None]
            behind: Section | None
            if last:
                behind = None if right is None else self._section(right, right.other(name), upper)
                here += [] if end is None else [end]
            else:
                behind = self._link(junction, items[k], items[k + 1], forward, decided, upper)
                own = behind.variable(other_side(junction.shares))
                here.append(Joint(own, forward, not decided))
                start = Joint(own, not forward, decided)
            columns.append(self._column(junction, items[k] if items else None, here, section, behind))
            section = behind
        return columns, section

    def _items(self, junction: Junction, left: Bond | None, right: Bond | None, branches: list[Bond]) -> list[Bond]:
        """Elements and branches in the order of columns: the storage that decides, other storages, static elements, the rest."""
        name = junction.name
        elements = [
            b
            for b in self.graph.bonds_of(name)
            if b.other(name) in self.graph.one_ports and b is not left and b is not right
        ]

        def rank(bond: Bond) -> int:
            law = self.graph.one_ports[bond.other(name)].port.law
            if isinstance(law, StorageLaw):
                return 0 if bond.receives(name) == junction.shares else 1
            return 3 if isinstance(law, SourceLaw) else 2

        return [*sorted(elements, key=rank), *branches]

    def _link(self, junction: Junction, one: Bond, two: Bond, forward: bool, decided: bool, upper: Side) -> Section:
        """The section between two columns of one junction."""
        own = other_side(junction.shares)
        symbol = DOMAINS[junction.domain].power(own).symbol
        left, right = one.other(junction.name), two.other(junction.name)
        running = self.signals.take(f"{symbol}_{left}_{right}")
        across, through = (running, junction.variable) if own == "across" else (junction.variable, running)
        return self._keep(
            Section(
                str(len(self.sections) + 1),
                left,
                right,
                junction.domain,
                across,
                through,
                "right" if forward else "left",
                junction.shares if decided else own,
                upper,
            )
        )

    def _column(
        self, junction: Junction, bond: Bond | None, joints: list[Joint], left: Section | None, right: Section | None
    ) -> Column:
        output = self.flow.sum(joints)
        name = "" if bond is None else bond.other(junction.name)
        ends = ("" if left is None else left.name, "" if right is None else right.name)
        sums = (output,) if output else ()
        item = self.graph.one_ports.get(name)
        if bond is None or (item is not None and not isinstance(item.port.law, SourceLaw)):
            blocks = () if item is None else self.flow.one_port(item)
            kind = "series" if junction.series else "parallel"
            return Column(kind, name, *ends, blocks, sums, junction.variable, junction.name)  # type: ignore[arg-type]
        entry = self._section(bond, name, "across")
        branch = Ladder((), entry.name) if item is not None else self._ladder(name, bond, entry)
        return Column("branch", name, *ends, (), sums, junction.variable, junction.name, branch)
