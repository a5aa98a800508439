"""From a causal graph to its POG: by way of the bond graph and its strokes, or port by port where there are none.

Ladders of columns are laid along the trees of the bond graph. Port by port needs no junctions and no strokes, so every model with a
causality has such a scheme: its gains form a skew matrix, the connection part of the vectorial scheme.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from tellegen.causality import CausalGraph
from tellegen.core.domains import DOMAINS, Side, other_side
from tellegen.core.errors import GraphError
from tellegen.expressions import ONE, ZERO, Expression, split_coefficient
from tellegen.expressions.elimination import Elimination, Entry, NamedEntries, with_definitions
from tellegen.graph import Field, ResistiveLaw, SourceLaw, StorageLaw
from tellegen.graph.interconnection import Interconnection, column
from tellegen.graph.signal_lowering import named_between, taken_names
from tellegen.model.bond_graph import BondItem, PowerBond
from tellegen.schemes import bond_graph_scheme, pog_scheme, rules
from tellegen.schemes.bond_graph_construction import bond_graph
from tellegen.schemes.gains import vector_block
from tellegen.schemes.names import UniqueNames, plain_name

FieldRow = tuple[Expression, tuple[tuple[str, Expression], ...]]
"""The gain of a port of a resistive field, and the gains from what its other ports are told."""


class JunctionBond(NamedTuple):
    """One bond at a junction: its own variable, which is not the shared one, whether power leaves, and whether it decides."""

    own: str
    leaves: bool
    brings: bool


def junction_bond(bond: PowerBond, junction: str, shares: Side) -> JunctionBond:
    """A bond as its junction sees it."""
    return JunctionBond(bond.variable(other_side(shares)), bond.tail == junction, bond.receives(junction) == shares)


def _resistive_gain(item: bond_graph_scheme.OnePort) -> Expression | None:
    """What a resistive element decides over what it is told; None where its law is not linear."""
    law = item.port.resistive
    # A resistive law is written for one side; where causality asks it the other way, its gain is the reciprocal.
    return law.coefficient if law.coefficient is None or item.decides == law.side else ONE / law.coefficient


def _storage_gain(law: StorageLaw, integral: bool) -> Expression | None:
    """The gain behind the integrator, or before the derivative; None where the law is not linear.

    None too where a storage of its own coefficient zero has a state: it carries the energy of those that depend on it.
    """
    # Derivative causality: the storage is told its own output, and energy = inertia * output, so the gain stands before
    # the derivative.
    if not integral or law.inertia is None:
        return law.inertia
    return None if law.inertia is ZERO else ONE / law.inertia


def _outputs_by_inputs(field: Field, causal: CausalGraph) -> pog_scheme.Matrix:
    """What the ports of a resistive field decide, by what they are told: its matrix, solved for the ports asked backwards.

    Raises: GraphError where it cannot be solved.
    """
    ports, n = causal.graph.ports, len(field.ports)
    arithmetic = NamedEntries(causal.graph.parameters, [p.element for p in ports])
    rows = []
    # Hybrid causality of a field: ports asked backwards change sides, which is the partial inversion of its matrix.
    for i in range(n):  # h_i = sum of M_ij g_j; columns are what ports decide, then what they are told
        row: dict[int, Expression] = {}
        for j, k_j in enumerate(field.ports):
            direct = causal.decides[k_j] == ports[k_j].law.side
            row[j if not direct else n + j] = -field.matrix[i][j]
            if i == j:
                row[j if direct else n + j] = row.get(j if direct else n + j, ZERO) + ONE
        rows.append({c: arithmetic.entry(e) for c, e in row.items() if e is not ZERO})
    elimination: Elimination[Entry] = Elimination(rows, arithmetic)
    # Causality alone does not see that the block to be inverted is singular; without this test a gain would divide by zero later.
    if elimination.eliminate_all(range(n)):
        what = f"the field '{field.element}' cannot be solved for what its ports decide"
        raise rules.NO_SCALAR_BOND.error(what, where=field.element, fix="check its matrix")
    found = elimination.express(range(n))
    return tuple(
        tuple(
            with_definitions(found[i][n + j].expression, arithmetic.where) if n + j in found.get(i, {}) else ZERO
            for j in range(n)
        )
        for i in range(n)
    )


def _field_rows(causal: CausalGraph, told: Callable[[int], str]) -> dict[int, FieldRow]:
    """For each port of a resistive field its gain, and the gains from what the other ports are `told`."""
    found: dict[int, FieldRow] = {}
    for field in causal.graph.fields:
        if isinstance(causal.graph.ports[field.ports[0]].law, ResistiveLaw) and not field.by_laws:
            for i, (k, row) in enumerate(zip(field.ports, _outputs_by_inputs(field, causal), strict=True)):
                # The own gain stands in the block, the others are further inputs of it; a gain of zero is no line of the figure.
                others = zip(field.ports, row, strict=True)
                found[k] = row[i], tuple((told(j), gain) for j, gain in others if j != k and gain is not ZERO)
    return found


def _finished(
    block: pog_scheme.SchemeBlock, item: bond_graph_scheme.OnePort | None, unit_of: Mapping[str, str]
) -> pog_scheme.SchemeBlock:
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


def _element_block(
    item: bond_graph_scheme.OnePort, told: str, given: str, row: FieldRow | None, unit_of: Mapping[str, str]
) -> pog_scheme.SchemeBlock:
    """The block of an element that is no source, from what it is told to what it decides; `row` is its share in a field."""
    law, name = item.port.law, item.name
    if isinstance(law, ResistiveLaw):
        gain, terms = (_resistive_gain(item), ()) if row is None else row
        block = pog_scheme.SchemeBlock(name, "static", told, given, gain, name, law=law, terms=terms)
    else:
        storage, integral = item.port.storage, item.causality == "integral"
        own = None if item.field else _storage_gain(storage, integral)
        kind: pog_scheme.BlockKind = "storage" if integral else "derivative"
        symbol = DOMAINS[item.domain].energy(law.side).symbol
        energy = item.port.state if storage.keeps_energy_variable else f"{symbol}_{name}"
        block = pog_scheme.SchemeBlock(name, kind, told, given, own, name, energy=energy, law=law)
    return _finished(block, item, unit_of)


class SignalFlow:
    """Collects blocks and summations."""

    def __init__(self, graph: bond_graph_scheme.BondGraphScheme) -> None:
        self.graph = graph
        self.blocks: dict[str, pog_scheme.SchemeBlock] = {}
        self.summations: dict[str, pog_scheme.Summation] = {}
        ports = graph.causal.graph.ports
        self._items = {id(item.port): item for item in graph.one_ports.values()}
        rows = _field_rows(graph.causal, lambda k: self._variable(self._items[id(ports[k])], decided=False))
        self._rows = {id(ports[k]): row for k, row in rows.items()}

    def sum(self, joints: Sequence[JunctionBond]) -> str:
        """The summation of a junction: the conjugate of the shared variable at the bond that decides it. Gives its output."""
        # Strokes promise exactly one bond that decides; two would have been a contradiction and none an undecided junction.
        (decider,) = (j for j in joints if j.brings)
        terms: dict[str, int] = {}
        for j in joints:
            if j is not decider:  # two bonds between the same junctions have one variable, and may cancel
                # Of the bonds of a junction the half arrows that leave and that enter balance (sum of powers zero),
                # which gives each sign.
                terms[j.own] = terms.get(j.own, 0) + (1 if j.leaves != decider.leaves else -1)
        # Terms that cancel are no lines of the figure, and a sign of zero would spoil the parity of loops.
        inputs = tuple((name, sign) for name, sign in terms.items() if sign)
        if not terms:
            return ""
        self.summations[decider.own] = pog_scheme.Summation(decider.own, inputs)
        return decider.own

    def one_port(self, item: bond_graph_scheme.OnePort) -> tuple[str, ...]:
        """The block of an element; sources have none."""
        if isinstance(item.port.law, SourceLaw):
            return ()
        told, given = (self._variable(item, decided=decided) for decided in (False, True))
        self.blocks[item.name] = _element_block(item, told, given, self._rows.get(id(item.port)), self._units)
        return (item.name,)

    def _variable(self, item: bond_graph_scheme.OnePort, *, decided: bool) -> str:
        """What an element decides, or what it is told, by the name that its bond has for it."""
        (bond,) = self.graph.bonds_of(item.name)
        return bond.variable(item.decides if decided else other_side(item.decides))

    def two_port(self, item: bond_graph_scheme.TwoPort) -> tuple[str, ...]:
        """The two blocks of a connection: K on one line, its transpose on the other."""
        bonds = self.graph.bonds_of(item.name)
        a, b = bonds if bonds[0].head == item.name else bonds[::-1]
        # Which of the two pairs of variables is given follows from the stroke at side a alone: TF and GY have one free choice.
        effort_enters = a.receives(item.name) == DOMAINS[a.domain].effort
        pairs = (
            ((a.effort, b.effort), (b.flow, a.flow)) if item.kind == "TF" else ((a.effort, b.flow), (b.effort, a.flow))
        )
        if not effort_enters:
            pairs = (pairs[0][::-1], pairs[1][::-1])
        # With the effort given at side a both blocks divide by the modulus, else both multiply by it: a scalar is its
        # own transpose.
        gain = ONE / item.modulus if effort_enters else item.modulus
        # The block of the line that leads away from side a comes first.
        forward = pairs if pairs[0][0] in (a.effort, a.flow) else pairs[::-1]
        names = (item.name, f"{item.name}_transposed")
        for name, (told, given) in zip(names, forward, strict=True):
            block = pog_scheme.SchemeBlock(name, "connection", told, given, gain, item.name)
            self.blocks[name] = _finished(block, None, self._units)
        return names

    def without_ladders(self) -> None:
        """Blocks and summations of all items without an order of columns: one summation a junction."""
        for item in self.graph.one_ports.values():
            self.one_port(item)
        for two_port in self.graph.two_ports.values():
            self.two_port(two_port)
        for name, junction in self.graph.junctions.items():
            self.sum([junction_bond(bond, name, junction.shares) for bond in self.graph.bonds_of(name)])

    @cached_property
    def _units(self) -> Mapping[str, str]:
        sides: tuple[Side, Side] = ("across", "through")
        return {b.variable(side): DOMAINS[b.domain].power(side).unit for b in self.graph.bonds for side in sides}

    def outputs(self) -> tuple[pog_scheme.Output, ...]:
        """The conjugates of the inputs."""
        # The half arrow leaves a source that supplies: then input times output is the power that enters the model.
        return tuple(
            pog_scheme.Output(
                self._variable(item, decided=False), 1 if self.graph.bonds_of(item.name)[0].tail == item.name else -1
            )
            for item in self.graph.sources()
        )

    def inputs(self) -> tuple[str, ...]:
        """The signals of the sources."""
        return tuple(self._variable(item, decided=True) for item in self.graph.sources())


class LadderBuilder:
    """Lays the ladders of a tree-like bond graph, and collects sections, blocks and summations on the way."""

    def __init__(self, graph: bond_graph_scheme.BondGraphScheme, flow: SignalFlow) -> None:
        self.graph = graph
        self.flow = flow
        self.sections: dict[str, pog_scheme.PowerSection] = {}
        joined = (name for bond in graph.bonds for name in (bond.across, bond.through))
        self.signals = UniqueNames([*joined, *taken_names(graph.causal.graph)])
        self._named = named_between(graph.causal.graph)
        places = {id(port): k for k, port in enumerate(graph.causal.graph.ports)}
        self._ports = {name: places[id(item.port)] for name, item in graph.one_ports.items() if id(item.port) in places}
        self._away: dict[str, list[PowerBond]] = {}

    def ladder_of(self, part: bond_graph_scheme.ConnectedPart) -> pog_scheme.Ladder:
        """The main ladder of a part."""
        start = part.start()
        # The tree is hung up at its start once; every ladder and side ladder of the part follows these branches.
        self._away = bond_graph_scheme.heavy_children(part, start)
        # The first source of the starting junction is the left section; further ones become branches or the right end.
        source = next(iter(self.graph.sources_at(self.graph.junctions[start])), None)
        return self._ladder(start, source, None if source is None else self._section(source, start, "across"))

    # -- sections --------------------------------------------------------------------------------------------------------------

    def _section(self, bond: PowerBond, right: str, upper: Side) -> pog_scheme.PowerSection:
        before, behind = ("" if end in self.graph.one_ports else end for end in (bond.other(right), right))
        way: pog_scheme.Direction = "right" if bond.head == right else "left"
        side = bond.receives(right)
        return self._kept(
            pog_scheme.PowerSection(
                "", before, behind, bond.domain, bond.across, bond.through, direction=way, rightward=side, upper=upper
            )
        )

    def _kept(self, section: pog_scheme.PowerSection) -> pog_scheme.PowerSection:
        name = str(len(self.sections) + 1)
        self.sections[name] = replace(section, name=name)
        return self.sections[name]

    # -- ladders ---------------------------------------------------------------------------------------------------------------

    def _ladder(self, start: str, left: PowerBond | None, entry: pog_scheme.PowerSection | None) -> pog_scheme.Ladder:
        # One ladder is walked in a loop and not by recursion: only side ladders recurse, and these are as deep as
        # branches are nested.
        columns: list[pog_scheme.Column] = []
        name, upper = start, entry.upper if entry else "across"
        section = entry
        while True:
            away = self._away[name]
            ahead = away[0] if away else None
            if name in self.graph.two_ports:
                assert ahead is not None, "a two-port stands between junctions"
                # Behind a gyrator the effort continues as a flow: the upper line changes its kind, or the two lines would cross.
                upper = self._turned(name, left, upper)
                behind = self._section(ahead, ahead.other(name), upper)
                blocks = self.flow.two_port(self.graph.two_ports[name])
                columns.append(
                    pog_scheme.Column("connection", name, section.name if section else "", behind.name, blocks)
                )
            else:
                if ahead is None:
                    # At the end of a ladder the last source closes it as the right section, as a load is drawn; it is
                    # no branch then.
                    ahead = next(
                        (b for b in reversed(self.graph.sources_at(self.graph.junctions[name])) if b is not left), None
                    )
                made, behind_ = self._group(name, left, ahead, section, away[1:], upper)
                columns += made
                if behind_ is None:
                    break
                behind = behind_
            assert ahead is not None, "a section has a bond"
            section, left, name = behind, ahead, ahead.other(name)
            # A source at the right end has a section and no column: nothing elaborates the power there.
            if name in self.graph.one_ports:
                break
        return pog_scheme.Ladder(tuple(columns), entry.name if entry else "")

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
        section: pog_scheme.PowerSection | None,
        branches: list[PowerBond],
        upper: Side,
    ) -> tuple[list[pog_scheme.Column], pog_scheme.PowerSection | None]:
        junction = self.graph.junctions[name]
        items = [*(b for b in self.graph.elements_at(junction) if b is not left and b is not right), *branches]
        ordered = self._as_described(name, items, right)
        items = items if ordered is None else ordered
        joints = [junction_bond(bond, name, junction.shares) for bond in items]
        start = None if left is None else junction_bond(left, name, junction.shares)
        end = None if right is None else junction_bond(right, name, junction.shares)
        # Power counts positive from left to right where the bond that comes in says so; a junction without neighbours may choose.
        forward = not start.leaves if start else end.leaves if end else True
        columns: list[pog_scheme.Column] = []
        # Until the element that decides has been passed, the shared variable runs to the left in the sections between
        # columns, after it to the right.
        decided = bool(start and start.brings)
        for k in range(max(len(items), 1)):
            last = k >= len(items) - 1
            decided = decided or (k < len(items) and joints[k].brings)
            here = [j for j in (start, joints[k] if items else None) if j is not None]
            behind: pog_scheme.PowerSection | None
            if last:
                behind = None if right is None else self._section(right, right.other(name), upper)
                here += [] if end is None else [end]
            else:
                named = "" if ordered is None else self._section_name(name, items[k], items[k + 1])
                behind = self._link(junction, items[k], items[k + 1], forward, decided, upper, named=named)
                # The running sum is split at each column, so that each summation has few inputs and each section has its own power.
                own = behind.variable(other_side(junction.shares))
                here.append(JunctionBond(own, forward, not decided))
                start = JunctionBond(own, not forward, decided)
            columns.append(self._column(junction, items[k] if items else None, here, section, behind))
            section = behind
        return columns, section

    def _link(
        self,
        junction: BondItem,
        one: PowerBond,
        two: PowerBond,
        forward: bool,
        decided: bool,
        upper: Side,
        *,
        named: str,
    ) -> pog_scheme.PowerSection:
        own = other_side(junction.shares)
        left, right = one.other(junction.name), two.other(junction.name)
        variable = DOMAINS[junction.domain].power(own)
        # Where no section names the variable between two columns, it says between which elements it is.
        running = named or self.signals.take(f"{variable.symbol}_{left}_{right}")
        pair = (running, junction.variable) if own == "across" else (junction.variable, running)
        side = junction.shares if decided else own
        return self._kept(
            pog_scheme.PowerSection(
                "",
                left,
                right,
                junction.domain,
                *pair,
                direction="right" if forward else "left",
                rightward=side,
                upper=upper,
            )
        )

    def _as_described(self, name: str, items: list[PowerBond], right: PowerBond | None) -> list[PowerBond] | None:
        """What hangs on a junction in the order of description; None where no section names what runs on there."""
        if not self._named:
            return None
        first = {bond.number: self._first_port(bond.other(name)) for bond in items}
        found = sorted(items, key=lambda bond: first[bond.number])
        # The longest way leads on; where the author went on another one, his sections cut the ladder elsewhere.
        behind = len(self.graph.causal.graph.ports) if right is None else self._first_port(right.other(name))
        named = found and first[found[-1].number] < behind
        return found if named and any(self._section_name(name, *pair) for pair in pairwise(found)) else None

    def _first_port(self, item: str) -> int:
        """The element described first of those that hang on an item."""
        return min((self._ports[name] for name in self._hanging(item) if name in self._ports), default=-1)

    def _section_name(self, name: str, one: PowerBond, two: PowerBond) -> str:
        """The name that a section of the description gives to the variable between two items of a junction."""
        junction = self.graph.junctions[name]
        own = DOMAINS[junction.domain].power(other_side(junction.shares)).unit
        left, right = self._hanging(one.other(name)), self._hanging(two.other(name))
        for (before, behind, unit), found in self._named.items():
            if unit == own and plain_name(before) in left and plain_name(behind) in right:
                return found
        return ""

    def _hanging(self, item: str) -> set[str]:
        """An item and what hangs on it."""
        found, waiting = set[str](), [item]
        while waiting:
            found.add(here := waiting.pop())
            if junction := self.graph.junctions.get(here):
                waiting += [bond.other(here) for bond in self.graph.elements_at(junction)]
            waiting += [bond.other(here) for bond in self._away.get(here, ())]
        return found

    def _column(
        self,
        junction: BondItem,
        bond: PowerBond | None,
        joints: list[JunctionBond],
        left: pog_scheme.PowerSection | None,
        right: pog_scheme.PowerSection | None,
    ) -> pog_scheme.Column:
        output = self.flow.sum(joints)
        name = "" if bond is None else bond.other(junction.name)
        item = self.graph.one_ports.get(name)
        column = pog_scheme.Column(
            "series" if junction.series else "parallel",
            name,
            left.name if left else "",
            right.name if right else "",
            summations=(output,) if output else (),
            shared=junction.variable,
            junction=junction.name,
        )
        if bond is not None and (item is None or isinstance(item.port.law, SourceLaw)):
            entry = self._section(bond, name, "across")
            side = pog_scheme.Ladder((), entry.name) if item is not None else self._ladder(name, bond, entry)
            return replace(column, kind="branch", branch=side)
        return column if item is None else replace(column, blocks=self.flow.one_port(item))


def port_gains(causal: CausalGraph) -> dict[int, dict[int, Expression]]:
    """What each port is told, as gains of what the ports decide: the rows of a skew matrix."""
    graph = causal.graph
    field = NamedEntries(graph.parameters, [name for p in graph.ports for name in (p.across, p.through)])
    interconnection = Interconnection(graph)
    elimination = Elimination(interconnection.rows(field.entry), field)
    # What ports are told is solved for, what they decide stays: no order of bonds or junctions is needed for that.
    told = {column(k, causal.follows(k)): k for k in range(len(graph.ports))}
    elimination.eliminate_all(interconnection.internal)
    left = elimination.eliminate_all(told)
    # Causal assignment has found a matching of full rank, so that no told variable can be left over here.
    assert not left, "causality has shown that every told variable is determined"
    found = elimination.express(told)
    return {
        k: {c // 2: with_definitions(e.expression, field.where) for c, e in found[at].items()} for at, k in told.items()
    }


def port_scheme(causal: CausalGraph) -> pog_scheme.PogScheme:
    """The scheme of a causal graph without ladders."""
    return _PortScheme(causal).scheme()


class _PortScheme:
    def __init__(self, causal: CausalGraph) -> None:
        self.causal = causal
        self.graph = causal.graph
        names, fields = UniqueNames(), {k: field.element for field in self.graph.fields for k in field.ports}
        # Elements with modes keep their own letters, as in bond graphs: a law would hold in one mode only.
        letters = dict.fromkeys(self.graph.switching, "Sw")
        self.items = [
            bond_graph_scheme.OnePort(
                names.take(plain_name(p.element)),
                p,
                causal.decides[k],
                field=fields.get(k, ""),
                letters=letters.get(k, ""),
            )
            for k, p in enumerate(self.graph.ports)
        ]
        self.names = names
        self.signals = UniqueNames(
            [*self.graph.parameters, *(n for p in self.graph.ports for n in (p.across, p.through))]
        )
        self.units = {
            p.variable(side): DOMAINS[p.domain].power(side).unit
            for p in self.graph.ports
            for side in ("across", "through")
        }
        self.blocks: dict[str, pog_scheme.SchemeBlock] = {}
        self.summations: dict[str, pog_scheme.Summation] = {}

    def scheme(self) -> pog_scheme.PogScheme:
        rows = _field_rows(self.causal, lambda k: self._signal(k, decided=False))
        for k, item in enumerate(self.items):
            if not isinstance(item.port.law, SourceLaw):
                told, given = self._signal(k, decided=False), self._signal(k, decided=True)
                self.blocks[item.name] = _element_block(item, told, given, rows.get(k), self.units)
        for k, gains in port_gains(self.causal).items():
            self._told(k, gains)
        sources = {k: self.items[k] for k in self.graph.sources()}
        # A port counts the power that it takes, an output the power that it supplies: hence the sign -1 of all outputs.
        return pog_scheme.PogScheme(
            name=self.graph.name,
            ladders=(),
            sections={
                str(n): pog_scheme.PowerSection(
                    str(n),
                    "",
                    item.name,
                    item.domain,
                    item.port.across,
                    item.port.through,
                    direction="left",
                    rightward=item.decides,
                )
                for n, item in enumerate(sources.values(), 1)
            },
            blocks=self.blocks,
            summations=self.summations,
            states=tuple(self.items[k].name for k in self.causal.integral),
            inputs=tuple(self._signal(k, decided=True) for k in sources),
            outputs=tuple(pog_scheme.Output(self._signal(k, decided=False), -1) for k in sources),
            bond_graph=None,
            causal=self.causal,
            elements={item.name: item for item in self.items},
        )

    def _signal(self, k: int, *, decided: bool) -> str:
        side: Side = self.causal.decides[k] if decided else self.causal.follows(k)
        return self.graph.ports[k].variable(side)

    def _told(self, k: int, gains: dict[int, Expression]) -> None:
        """The summation of what a port is told, with a connection block for each gain that is not one."""
        inputs = []
        for j, gain in gains.items():
            decided = self._signal(j, decided=True)
            # Expressions are unique objects, so that identity tells a gain of one; it goes into the sign of the
            # summation and needs no block.
            if gain is ONE or gain is -ONE:
                inputs.append((decided, 1 if gain is ONE else -1))
                continue
            name = self.names.take(f"{self.items[k].name}_by_{self.items[j].name}")
            signal = self.signals.take(f"{self._signal(k, decided=False)}_{self.items[j].name}")
            self.units[signal] = self.units[self._signal(k, decided=False)]
            block = pog_scheme.SchemeBlock(name, "connection", decided, signal, gain, name)
            self.blocks[name] = _finished(block, None, self.units)
            inputs.append((signal, 1))
        output = self._signal(k, decided=False)
        self.summations[output] = pog_scheme.Summation(output, tuple(inputs))


def pog(
    causal: CausalGraph, *, derivative: bool = False, vectorial: bool = False, earlier: Sequence[Sequence[str]] = ()
) -> pog_scheme.PogScheme:
    """The POG of a causal graph: ladders for chained and tree-like models, one vector block for all others.

    A model with dependent storages is one vector block too, because a POG has integral causality; with `derivative`, such storages
    are derivative blocks of a ladder instead. `vectorial` asks for the vector block in any case. `earlier` are the elements along
    the ladders of a scheme drawn before, the main ladder first: what is still there keeps its order and its ladder.
    """
    # No strokes, an element with both ends at one node, or a terminal that nothing meets: no ladder passes there, but the
    # equations between ports exist all the same.
    graph = None if causal.graph.has_loose_end() else _strokes(causal)
    if graph is None:
        scheme = port_scheme(causal)
        return replace(scheme, vector=vector_block(scheme))
    flow = SignalFlow(graph)
    found = bond_graph_scheme.connected_parts(graph, earlier)
    # A part with a mesh makes the whole scheme a vector block: half a ladder would hide that its states belong together.
    laddered = not vectorial and (derivative or not causal.dependent) and all(part.is_tree() for part in found)
    if laddered:
        builder = LadderBuilder(graph, flow)
        ladders = tuple(builder.ladder_of(part) for part in found)
        return _scheme(graph, flow, ladders, builder.sections)
    flow.without_ladders()
    scheme = _scheme(graph, flow, (), _flat_sections(graph))
    return replace(scheme, vector=vector_block(scheme))


def _strokes(causal: CausalGraph) -> bond_graph_scheme.BondGraphScheme | None:
    """The bond graph; None where its junctions admit no strokes."""
    try:
        return bond_graph(causal)
    except GraphError:
        return None


def _scheme(
    graph: bond_graph_scheme.BondGraphScheme,
    flow: SignalFlow,
    ladders: tuple[pog_scheme.Ladder, ...],
    sections: dict[str, pog_scheme.PowerSection],
) -> pog_scheme.PogScheme:
    states = tuple(name for name, item in graph.one_ports.items() if item.causality == "integral")
    return pog_scheme.PogScheme(
        name=graph.name,
        ladders=ladders,
        sections=sections,
        blocks=flow.blocks,
        summations=flow.summations,
        states=states,
        inputs=flow.inputs(),
        outputs=flow.outputs(),
        bond_graph=graph,
        causal=graph.causal,
        elements=graph.one_ports,
        shared=frozenset(junction.variable for junction in graph.junctions.values()),
    )


def _flat_sections(graph: bond_graph_scheme.BondGraphScheme) -> dict[str, pog_scheme.PowerSection]:
    """One section a bond between junctions, two-ports and sources; left and right are tail and head."""
    sources = {item.name for item in graph.sources()}
    leaves = set(graph.one_ports) - sources
    # Bonds of storages and resistors are no sections: they end in a block, and cut the scheme in no two parts.
    bonds = [bond for bond in graph.bonds if not {bond.tail, bond.head} & leaves]
    found = {}
    for n, b in enumerate(bonds, 1):
        left, right = ("" if end in sources else end for end in (b.tail, b.head))
        found[str(n)] = pog_scheme.PowerSection(
            str(n), left, right, b.domain, b.across, b.through, direction="right", rightward=b.receives(b.head)
        )
    return found
