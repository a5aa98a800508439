"""Blocks and summations from the items of a bond graph, and ladders of columns laid along its trees."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from tellegen.causality import CausalGraph
from tellegen.core.domains import DOMAINS, Side, other_side
from tellegen.expressions import ONE, ZERO, Expression, split_coefficient
from tellegen.expressions.elimination import Elimination, Entry, NamedEntries, with_definitions
from tellegen.graph import Field, ResistiveLaw, SourceLaw, StorageLaw
from tellegen.model.bond_graph import BondItem, PowerBond
from tellegen.schemes import rules
from tellegen.schemes.bond_graph_scheme import BondGraphScheme, ConnectedPart, OnePort, TwoPort, heavy_children
from tellegen.schemes.names import UniqueNames
from tellegen.schemes.pog_scheme import Block, Column, Ladder, Matrix, Output, Section, Summation

Terms = tuple[tuple[str, Expression], ...]


class JunctionBond(NamedTuple):
    """One bond at a junction: its own variable, which is not the shared one, whether power leaves, and whether it decides."""

    own: str
    leaves: bool
    brings: bool


def junction_bond(bond: PowerBond, junction: str, shares: Side) -> JunctionBond:
    """A bond as its junction sees it."""
    return JunctionBond(bond.variable(other_side(shares)), bond.tail == junction, bond.receives(junction) == shares)


def resistive_gain(item: OnePort) -> Expression | None:
    """What a resistive element decides over what it is told; None where its law is not linear."""
    law = item.port.law
    assert isinstance(law, ResistiveLaw), "only resistive elements have a static gain"
    if law.coefficient is None or item.decides == law.side:
        return law.coefficient
    return ONE / law.coefficient


def storage_gain(law: StorageLaw, integral: bool) -> Expression | None:
    """The gain behind the integrator, or before the derivative; None where the law is not linear.

    None too where a storage of its own coefficient zero has a state: it carries the energy of those that depend on it.
    """
    if not integral or law.inertia is None:
        return law.inertia
    return None if law.inertia is ZERO else ONE / law.inertia


def energy_name(item: OnePort, law: StorageLaw) -> str:
    """The energy variable of a storage."""
    if law.keeps_energy_variable:
        return item.port.state
    return f"{DOMAINS[item.domain].energy(law.side).symbol}_{item.name}"


def decided_by_told(field: Field, causal: CausalGraph) -> Matrix:
    """What the ports of a resistive field decide, by what they are told: its matrix, solved for the ports asked backwards.

    Raises: GraphError where it cannot be solved.
    """
    ports, n = causal.graph.ports, len(field.ports)
    arithmetic = NamedEntries(causal.graph.parameters, [p.element for p in ports])
    rows = []
    for i in range(n):  # h_i = sum of M_ij g_j; columns are what ports decide, then what they are told
        row: dict[int, Expression] = {}
        for j, k_j in enumerate(field.ports):
            direct = causal.decides[k_j] == ports[k_j].law.side
            row[j if not direct else n + j] = -field.matrix[i][j]
            if i == j:
                row[j if direct else n + j] = row.get(j if direct else n + j, ZERO) + ONE
        rows.append({c: arithmetic.entry(e) for c, e in row.items() if e is not ZERO})
    elimination: Elimination[Entry] = Elimination(rows, arithmetic)
    if elimination.eliminate_all(range(n)):
        what = f"the field '{field.element}' cannot be solved for what its ports decide"
        raise rules.NO_SCALAR_BOND.error(what, where=field.element, fix="check its matrix")
    found = elimination.express(range(n))

    def gain(i: int, j: int) -> Expression:
        entry = found[i].get(n + j) if i in found else None
        return ZERO if entry is None else with_definitions(entry.expression, arithmetic.where)

    return tuple(tuple(gain(i, j) for j in range(n)) for i in range(n))


def finished_block(block: Block, item: OnePort | None, unit_of: Mapping[str, str]) -> Block:
    """A block with its sign, its field and the units of its variables."""
    # An active element has a negative law: that turns no variable, as a minus sign in a connection does.
    negative = item is None and block.gain is not None and split_coefficient(block.gain)[0] < 0
    energy = ""
    if item is not None and isinstance(item.port.law, StorageLaw):
        energy = DOMAINS[item.domain].energy(item.port.law.side).unit
    return replace(
        block,
        sign=-1 if negative else 1,
        field="" if item is None else item.field,
        input_unit=unit_of.get(block.input, ""),
        output_unit=unit_of.get(block.output, ""),
        energy_unit=energy,
    )


class SignalFlow:
    """Collects blocks and summations."""

    def __init__(self, graph: BondGraphScheme) -> None:
        self.graph = graph
        self.blocks: dict[str, Block] = {}
        self.summations: dict[str, Summation] = {}
        self._unit_of: dict[str, str] = {}
        self._rows = {name: row for field in graph.causal.graph.fields for name, row in self._field_rows(field)}

    def sum(self, joints: Sequence[JunctionBond]) -> str:
        """The summation of a junction: the conjugate of the shared variable at the bond that decides it. Gives its output."""
        (decider,) = (j for j in joints if j.brings)
        terms: dict[str, int] = {}
        for j in joints:
            if j is not decider:  # two bonds between the same junctions have one variable, and may cancel
                terms[j.own] = terms.get(j.own, 0) + (1 if j.leaves != decider.leaves else -1)
        inputs = tuple((name, sign) for name, sign in terms.items() if sign)
        if not terms:
            return ""
        self.summations[decider.own] = Summation(decider.own, inputs)
        return decider.own

    def one_port(self, item: OnePort) -> tuple[str, ...]:
        """The block of an element; sources have none."""
        law = item.port.law
        if isinstance(law, SourceLaw):
            return ()
        (bond,) = self.graph.bonds_of(item.name)
        given, told = bond.variable(item.decides), bond.variable(other_side(item.decides))
        if isinstance(law, ResistiveLaw):
            row = self._rows.get(item.name)
            gain, terms = (resistive_gain(item), ()) if row is None else row
            self._add(Block(item.name, "static", told, given, gain, False, item.name, law=law, terms=terms))
        else:
            integral = item.causality == "integral"
            kind = "storage" if integral else "derivative"
            gain = None if item.field else storage_gain(law, integral)
            self._add(Block(item.name, kind, told, given, gain, integral, item.name, energy_name(item, law), law))  # type: ignore[arg-type]
        return (item.name,)

    def two_port(self, item: TwoPort) -> tuple[str, ...]:
        """The two blocks of a connection: K on one line, its transpose on the other."""
        bonds = self.graph.bonds_of(item.name)
        a, b = bonds if bonds[0].head == item.name else bonds[::-1]
        m, inverse = item.modulus, ONE / item.modulus
        effort_enters = a.receives(item.name) == DOMAINS[a.domain].effort
        if item.kind == "TF":
            pairs = (
                ((a.effort, b.effort), (b.flow, a.flow)) if effort_enters else ((b.effort, a.effort), (a.flow, b.flow))
            )
        else:
            pairs = (
                ((a.effort, b.flow), (b.effort, a.flow)) if effort_enters else ((b.flow, a.effort), (a.flow, b.effort))
            )
        gain = inverse if effort_enters else m
        # The block of the line that leads away from side a comes first.
        forward = pairs if pairs[0][0] in (a.effort, a.flow) else pairs[::-1]
        names = (item.name, f"{item.name}_transposed")
        for name, (told, given) in zip(names, forward, strict=True):
            self._add(Block(name, "connection", told, given, gain, False, item.name))
        return names

    def _field_rows(self, field: Field) -> Iterator[tuple[str, tuple[Expression, Terms]]]:
        """For each port of a resistive field its gain, and the gains from what the other ports are told."""
        ports = self.graph.causal.graph.ports
        if not isinstance(ports[field.ports[0]].law, ResistiveLaw) or field.by_laws:
            return
        items = [next(i for i in self.graph.one_ports.values() if i.port is ports[k]) for k in field.ports]
        told = [self.graph.bonds_of(i.name)[0].variable(other_side(i.decides)) for i in items]
        for k, row in enumerate(decided_by_told(field, self.graph.causal)):
            terms = tuple((told[j], gain) for j, gain in enumerate(row) if j != k and gain is not ZERO)
            yield items[k].name, (row[k], terms)

    def _add(self, block: Block) -> None:
        self.blocks[block.name] = finished_block(block, self.graph.one_ports.get(block.name), self._units())

    def _units(self) -> Mapping[str, str]:
        if not self._unit_of:
            for bond in self.graph.bonds:
                domain = DOMAINS[bond.domain]
                self._unit_of[bond.across] = domain.across.unit
                self._unit_of[bond.through] = domain.through.unit
        return self._unit_of

    def outputs(self) -> tuple[Output, ...]:
        """The conjugates of the inputs."""
        found = []
        for item in self.graph.sources():
            (bond,) = self.graph.bonds_of(item.name)
            sign = 1 if bond.tail == item.name else -1
            found.append(Output(bond.variable(other_side(item.decides)), sign))
        return tuple(found)

    def inputs(self) -> tuple[str, ...]:
        """The signals of the sources."""
        return tuple(self.graph.bonds_of(i.name)[0].variable(i.decides) for i in self.graph.sources())


class LadderBuilder:
    """Lays the ladders of a tree-like bond graph, and collects sections, blocks and summations on the way."""

    def __init__(self, graph: BondGraphScheme, flow: SignalFlow) -> None:
        self.graph = graph
        self.flow = flow
        self.sections: dict[str, Section] = {}
        self.signals = UniqueNames(name for bond in graph.bonds for name in (bond.across, bond.through))
        self._away: dict[str, list[PowerBond]] = {}

    def ladder_of(self, part: ConnectedPart) -> Ladder:
        """The main ladder of a part."""
        start = part.start()
        self._away = heavy_children(part, start)
        source = next((b for b in self._source_bonds(start)), None)
        entry = None if source is None else self._section(source, start, "across")
        return self._ladder(start, source, entry)

    # -- sections --------------------------------------------------------------------------------------------------------------

    def _source_bonds(self, junction: str) -> list[PowerBond]:
        found = []
        for bond in self.graph.bonds_of(junction):
            item = self.graph.one_ports.get(bond.other(junction))
            if item is not None and isinstance(item.port.law, SourceLaw):
                found.append(bond)
        return found

    def _section(self, bond: PowerBond, right: str, upper: Side) -> Section:
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

    def _ladder(self, start: str, left: PowerBond | None, entry: Section | None) -> Ladder:
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

    def _turned(self, two_port: str, left: PowerBond | None, upper: Side) -> Side:
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
        left: PowerBond | None,
        right: PowerBond | None,
        section: Section | None,
        branches: list[PowerBond],
        upper: Side,
    ) -> tuple[list[Column], Section | None]:
        """The columns of a junction, and the section behind them."""
        junction = self.graph.junctions[name]
        items = self._items(junction, left, right, branches)
        joints = [junction_bond(bond, name, junction.shares) for bond in items]
        start = None if left is None else junction_bond(left, name, junction.shares)
        end = None if right is None else junction_bond(right, name, junction.shares)
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
                here.append(JunctionBond(own, forward, not decided))
                start = JunctionBond(own, not forward, decided)
            columns.append(self._column(junction, items[k] if items else None, here, section, behind))
            section = behind
        return columns, section

    def _items(
        self, junction: BondItem, left: PowerBond | None, right: PowerBond | None, branches: list[PowerBond]
    ) -> list[PowerBond]:
        """Elements and branches in the order of columns: the storage that decides, other storages, static elements, the rest."""
        name = junction.name
        elements = [
            b
            for b in self.graph.bonds_of(name)
            if b.other(name) in self.graph.one_ports and b is not left and b is not right
        ]

        def rank(bond: PowerBond) -> int:
            law = self.graph.one_ports[bond.other(name)].port.law
            if isinstance(law, StorageLaw):
                return 0 if bond.receives(name) == junction.shares else 1
            return 3 if isinstance(law, SourceLaw) else 2

        return [*sorted(elements, key=rank), *branches]

    def _link(
        self, junction: BondItem, one: PowerBond, two: PowerBond, forward: bool, decided: bool, upper: Side
    ) -> Section:
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
        self,
        junction: BondItem,
        bond: PowerBond | None,
        joints: list[JunctionBond],
        left: Section | None,
        right: Section | None,
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
