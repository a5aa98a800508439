"""The plan of a scalar POG: ladders column by column, with the signs of summations; a mesh is cut at linked sections.

Nobody draws them by hand. The sections on both sides of such a column have the same power, so that one of them is enough; what a
sensor reads is told under the figure.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from string import ascii_lowercase
from typing import final

from tellegen.core.union_find import UnionFind
from tellegen.drawing import rules
from tellegen.drawing.pog import plan as plans
from tellegen.drawing.pog.texts import PogTexts
from tellegen.graph import Port, SourceLaw
from tellegen.model.bond_graph import PowerBond
from tellegen.scenes.lettering import name_latex
from tellegen.scenes.scene import Tone
from tellegen.schemes.bond_graph_scheme import BondGraphScheme, ConnectedPart, OnePort, connected_parts
from tellegen.schemes.names import UniqueNames
from tellegen.schemes.pog_construction import LadderBuilder, SignalFlow
from tellegen.schemes.pog_scheme import Column, Ladder, PogScheme, PowerSection

SENSORS = ("De", "Df")
Names = dict[plans.Line, dict[plans.End, str]]
"""The variables at the ends of the nodes of a column."""


@final
class ScalarPlanner:
    """Turns ladders of a scheme into plans."""

    def __init__(self, scheme: PogScheme, texts: PogTexts, links: Mapping[str, str] | None = None) -> None:
        self.scheme = scheme
        self.texts = texts
        self.links = links or {}

    def ladder(self, ladder: Ladder) -> plans.LadderPlan:
        """The plan of a ladder and of its side ladders."""
        plan = plans.LadderPlan(tuple(map(self._column, ladder.columns)), self.section(ladder.entry))
        shown = self._without_bare_columns(plan)
        # What the sensors that have no column read is told under the figure.
        hidden = {*_elements(plan)} - {*_elements(shown)}
        for block in self.scheme.blocks.values():
            if block.element in hidden:
                self.texts.legend.setdefault(name_latex(block.element), self.texts.names.variable(block.input))
        return shown

    def _without_bare_columns(self, ladder: plans.LadderPlan) -> plans.LadderPlan:
        """The ladder without the columns that say nothing; the ladder itself where no others would be left."""
        kept: list[plans.ColumnPlan] = []
        before: plans.SectionPlan | None = None  # the section that stands for that behind a column left out
        for column in ladder.columns:
            moved = column if before is None else replace(column, left=before)
            if not self._is_bare(moved):
                kept.append(moved)
                before = None
            elif moved.right is not None:
                before = moved.left
            elif kept and isinstance(kept[-1].content, plans.ElementPlan):
                # Nothing stands behind the last element any more, so nothing comes from there to be negated.
                minus = frozenset(place for place in kept[-1].minus if place[1] != "right")
                kept[-1] = replace(kept[-1], right=None, minus=minus)
            else:
                return ladder
        return replace(ladder, columns=tuple(kept)) if kept else ladder

    def _is_bare(self, column: plans.ColumnPlan) -> bool:
        # At a link the reader goes on elsewhere, so its section is shown whatever stands behind it.
        if column.left is None or column.left.link or (column.right is not None and column.right.link):
            return False
        if isinstance(column.content, plans.ElementPlan):
            item = self.scheme.elements.get(column.content.element)
            return item is not None and item.letters in SENSORS
        return column.content is None and column.right is not None and not column.minus

    def section(self, name: str) -> plans.SectionPlan | None:
        """The plan of a section; None where nothing stands there."""
        section = self.scheme.sections.get(name)
        if section is None:
            return None
        upper, lower = (self.texts.names.variable(_variable(section, line)) for line in plans.LINES)
        goes_right = section.rightward == section.upper
        link = self.links.get(name, "")
        domain, signals = section.domain, (section.into_right, section.into_left)
        given = tuple((signal, 1) for signal in signals if signal in self.scheme.inputs)
        return plans.SectionPlan(
            name, upper, lower, goes_right, section.direction, domain, link=link, carries=(name,), given=given
        )

    # -- columns ---------------------------------------------------------------------------------------------------------------

    def _column(self, column: Column) -> plans.ColumnPlan:
        left, right = self.section(column.left), self.section(column.right)
        content: plans.ElementPlan | plans.ConnectionPlan | plans.BranchPlan | None
        names = self._names(column)
        if column.kind == "connection":
            content = self._connection(column)
        elif column.branch is not None:
            content = self._branch(column, column.branch, names)
        else:
            content = self._element(column, names)
        # Which inputs are negated depends on where signals come from, which the column tells when it has its content.
        plan = plans.ColumnPlan(left, right, content, wire_domain=self._domain(column))
        return replace(plan, minus=self._minus(plan, names))

    def _names(self, column: Column) -> Names:
        """The variables on both sides of a column, line by line."""
        names: Names = {"upper": {}, "lower": {}}
        sides: tuple[tuple[plans.End, str], ...] = (("left", column.left), ("right", column.right))
        for end, name in sides:
            if name in self.scheme.sections:
                for line in plans.LINES:
                    names[line][end] = _variable(self.scheme.sections[name], line)
        return names

    def _domain(self, column: Column) -> str:
        section = self.scheme.sections.get(column.left) or self.scheme.sections.get(column.right)
        return "" if section is None else section.domain

    def _shared_line(self, column: Column, names: Names) -> plans.Line:
        """The line of the variable that a junction shares; the lower one where no section tells."""
        return next((line for line in plans.LINES if column.shared in names[line].values()), "lower")

    def _connection(self, column: Column) -> plans.ConnectionPlan:
        # The first block of a connection has the modulus as it is described, on whichever line it stands.
        left = self.scheme.sections[column.left]
        blocks = [self.scheme.blocks[name] for name in column.blocks]
        upper = next(b for b in blocks if _variable(left, "upper") in (b.input, b.output))
        lower = next(b for b in blocks if b is not upper)
        box = self.texts.gain_box(blocks[0])
        boxes = {blocks[0].name: plans.BoxPlan("K", box.text, box.side, box.value, box.matrix)}
        boxes[blocks[1].name] = self.texts.transposed(self.texts.gain_box(blocks[1]))
        return plans.ConnectionPlan(blocks[0].element, boxes[upper.name], boxes[lower.name])

    def _element(self, column: Column, names: Names) -> plans.ElementPlan | None:
        shared = self._shared_line(column, names)
        away: plans.Way = "down" if shared == "upper" else "up"
        back: plans.Way = "up" if shared == "upper" else "down"
        if not column.blocks:
            held = self.scheme.summations.get(column.shared)
            if held is None or held.inputs or column.shared not in column.summations:
                return None
            # What the junction shares is held at zero, whatever comes in.
            names[plans.other_line(shared)]["vertical"] = next(
                (name for name in column.summations if name != column.shared), ""
            )
            return plans.ElementPlan(column.name, (plans.BoxPlan("gain", "0"),), back, self._domain(column))
        block = self.scheme.blocks[column.blocks[0]]
        to_shared = block.output == column.shared
        start, end = (block.input, block.output)
        names[shared]["vertical"] = end if to_shared else start
        names[plans.other_line(shared)]["vertical"] = start if to_shared else end
        tone: Tone = "warning" if block.kind == "derivative" else "ink"
        energy = self.texts.names.energy(block) if block.kind in ("storage", "derivative") else ""
        item = self.scheme.elements.get(block.element)
        domain = self._domain(column) or ("" if item is None else item.domain)
        way = back if to_shared else away
        states = ((block.output, 1),) if block.kind == "storage" else ()
        return plans.ElementPlan(block.element, self.texts.boxes(block), way, domain, energy, tone=tone, states=states)

    def _branch(self, column: Column, ladder: Ladder, names: Names) -> plans.BranchPlan:
        """The two wires of a side ladder: its entry section has them, on whichever of its lines."""
        section = self.scheme.sections[ladder.entry]
        shared = self._shared_line(column, names)
        comes_in: dict[plans.Line, bool] = {}
        for line in plans.LINES:
            unshared = section.across if section.through == column.shared else section.through
            name = column.shared if line == shared else unshared
            names[line]["vertical"] = name
            comes_in[line] = name == section.into_left
        crossed = names["upper"]["vertical"] != _variable(section, "upper")
        return plans.BranchPlan(self.ladder(ladder), comes_in, crossed)

    # -- signs -----------------------------------------------------------------------------------------------------------------

    def _minus(self, plan: plans.ColumnPlan, names: Names) -> frozenset[tuple[plans.Line, plans.End]]:
        """The negated inputs at the nodes of a column, by the summations of the scheme."""
        found: set[tuple[plans.Line, plans.End]] = set()
        if isinstance(plan.content, plans.ConnectionPlan):
            return frozenset()
        for line in plans.LINES:
            # With several ways out the line has a branch dot, and a dot changes no sign.
            comes, goes = plan.ends(line)
            if len(goes) != 1:
                continue
            output = names[line].get(goes[0], "")
            summation = self.scheme.summations.get(output)
            if summation is None:
                continue
            signs = dict(summation.inputs)
            for end in comes:
                name = names[line].get(end, "")
                if name == output:
                    continue  # the line passes by
                if name and signs and name not in signs:
                    # The figure would show a sum that the scheme does not have.
                    raise rules.NO_LADDER_PICTURE.error(
                        f"'{name}' comes to the summation of '{output}', which does not count it",
                        where=output,
                        fix="make the scheme with `pog`, or by the operations of the algebra",
                    )
                if signs.get(name, 1) < 0:
                    found.add((line, end))
        return frozenset(found)


def _elements(ladder: plans.LadderPlan) -> Iterator[str]:
    return (column.content.element for column in ladder.columns if isinstance(column.content, plans.ElementPlan))


def _variable(section: PowerSection, line: plans.Line) -> str:
    upper = section.variable(section.upper)
    return upper if line == "upper" else section.across if upper == section.through else section.through


FEW_CUTS = 2
"""So many cuts a reader follows without effort."""


@final
@dataclass(frozen=True, slots=True)
class LinkedLadders:
    """A meshed scheme as ladders; `links` gives the letters of the sections at cuts."""

    scheme: PogScheme
    links: Mapping[str, str]


def linked_ladders(scheme: PogScheme, most: int, earlier: Sequence[Sequence[str]] = ()) -> LinkedLadders | None:
    """The ladders of a meshed scheme with at most so many cuts; None where there is no such ladder.

    `earlier` are the elements along the ladders of a figure drawn before.
    """
    graph = scheme.bond_graph
    if graph is None or scheme.causal.derivative or any(item.matrix for item in graph.two_ports.values()):
        return None
    # A matrix between several bonds has no ladder, and dependent storages would be cut from those that they depend on.
    cuts: list[PowerBond] = []
    for part in connected_parts(graph, earlier):
        found = _closing(part)
        if found is None:
            return None
        cuts += found
    if not cuts or len(cuts) > min(most, len(ascii_lowercase)):
        return None
    opened, letters = _opened(graph, cuts)
    flow = SignalFlow(opened)
    builder = LadderBuilder(opened, flow)
    ladders = tuple(builder.ladder_of(part) for part in connected_parts(opened, earlier))
    laddered = replace(
        scheme, ladders=ladders, sections=builder.sections, blocks=flow.blocks, summations=flow.summations, vector=None
    )
    return LinkedLadders(laddered, _sections_at(opened, builder, letters))


def _closing(part: ConnectedPart) -> list[PowerBond] | None:
    """The bonds that close the meshes of a part: those furthest from its start, and none at a two-port."""
    number = {name: k for k, name in enumerate(part.members)}
    groups = UnionFind(len(number))

    def joined(bond: PowerBond) -> bool:
        return groups.join(number[bond.tail], number[bond.head])

    # Two-ports first: a cut there would part the two boxes of a connection. Then from the start outwards, so that what is
    # looked at last and closes a mesh lies far from the sources, where a cut disturbs the reading least.
    bonds = _from_the_start(part)
    two_ports = part.graph.two_ports
    at_two_ports = [b for b in bonds if b.tail in two_ports or b.head in two_ports]
    if sum(map(joined, at_two_ports)) < len(at_two_ports):
        return None
    return [bond for bond in bonds if bond not in at_two_ports and not joined(bond)]


def _from_the_start(part: ConnectedPart) -> list[PowerBond]:
    """The bonds between the members of a part, the nearest to its start first."""
    start = part.start()
    seen, queue = {start}, [start]
    found: dict[int, PowerBond] = {}
    for name in queue:
        for bond in part.bonds(name):
            found[bond.number] = bond
            other = bond.other(name)
            if other not in seen:
                seen.add(other)
                queue.append(other)
    return list(found.values())


def _opened(graph: BondGraphScheme, cuts: list[PowerBond]) -> tuple[BondGraphScheme, dict[str, str]]:
    """The bond graph with a pair of sources in the place of each cut bond, and their letters."""
    names = UniqueNames((*graph.junctions, *graph.one_ports, *graph.two_ports))
    bonds = [bond for bond in graph.bonds if bond not in cuts]
    one_ports, letters = dict(graph.one_ports), {}
    for bond, letter in zip(cuts, ascii_lowercase, strict=False):
        for end, mark in ((bond.tail, letter), (bond.head, f"{letter}'")):
            # A source that tells this end of the bond what the other end would: each half is then a model of its own.
            name, side = names.take(f"link_{letter}"), bond.receives(end)
            law = SourceLaw(side, bond.variable(side))
            port = Port(name, bond.domain, 0, 0, law, across=bond.across, through=bond.through)
            item = OnePort(name, port, side)
            one_ports[item.name] = item
            letters[item.name] = mark
            from_tail, to_head = replace(bond, head=name, head_port=0), replace(bond, tail=name, tail_port=0)
            bonds.append(from_tail if end == bond.tail else to_head)
    return graph.rebonded(one_ports, bonds), letters


def _sections_at(graph: BondGraphScheme, builder: LadderBuilder, letters: Mapping[str, str]) -> dict[str, str]:
    """The letters of the sections behind which a cut bond goes on."""
    found: dict[str, str] = {}
    for name, letter in letters.items():
        (bond,) = graph.bonds_of(name)
        # A section at an end has nothing on its outer side, and the item that the bond was cut from on its inner one.
        ends = ("", bond.other(name)), (bond.other(name), "")
        outside = (section for section in builder.sections.values() if (section.left, section.right) in ends)
        found |= {s.name: letter for s in outside if (s.across, s.through) == (bond.across, bond.through)}
    return found
