"""A bond graph as what a figure has to place: nodes with texts, links with variables and marks, and rows to draw them in.

Elements with one bond are leaves; everything else is the skeleton. A junction with more bonds than fit round it becomes several
equal ones in a row. Its skeleton is a trunk from the main source, branches, and bonds that close meshes.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, final

from tellegen.core.domains import DOMAINS
from tellegen.core.union_find import UnionFind
from tellegen.drawing import formulas
from tellegen.drawing.bond.vector_names import VectorNames, are_reciprocals, shown_name, values_of_parts
from tellegen.drawing.formulas import bold_latex
from tellegen.drawing.options import Options
from tellegen.expressions import ZERO, Expression
from tellegen.graph import ResistiveLaw, SourceLaw, StorageLaw
from tellegen.model.bond_graph import SINKS, PowerBond
from tellegen.results.units import ratio_unit
from tellegen.scenes.lettering import name_latex
from tellegen.scenes.typesetting import COLON
from tellegen.schemes.bond_graph_scheme import BondGraphScheme, OnePort, TwoPort


@final
class BondWarnings:
    """What is marked in one bond graph."""

    def __init__(self, scheme: BondGraphScheme) -> None:
        self.scheme = scheme
        causal = scheme.causal
        self.conflicts = {causal.graph.ports[k].element for k in causal.conflicts}.union(causal.rigid)
        shown = {name for item in scheme.two_ports.values() for name in item.origins}.union(scheme.one_ports)
        # A coupling that only joins junctions is no item: then the loop of junctions itself is marked.
        self._loops = self._round() if not shown.issuperset(causal.rigid) else frozenset[int]()

    def marks(self, bond: PowerBond) -> bool:
        """Whether a bond is drawn as a warning."""
        return bond.number in self._loops or self._is_warned(bond.tail) or self._is_warned(bond.head)

    def is_sink(self, bond: PowerBond) -> bool:
        """Whether a bond leads to a residual sink that decides a force of its own; one that only reads a force is none."""
        ends = [self.scheme.one_ports[name] for name in (bond.tail, bond.head) if name in self.scheme.one_ports]
        return any(item.letters in SINKS and isinstance(item.port.law, SourceLaw) for item in ends)

    def _is_warned(self, name: str) -> bool:
        if name in self.scheme.two_ports:
            return not self.conflicts.isdisjoint(self.scheme.two_ports[name].origins)
        if name not in self.scheme.one_ports:
            return False
        return name in self.conflicts or self.scheme.one_ports[name].causality == "derivative"

    def _round(self) -> frozenset[int]:
        """The bonds between junctions that lie on a loop: their ends hang together without them."""
        number = {name: k for k, name in enumerate(self.scheme.junctions)}
        between = [bond for bond in self.scheme.bonds if bond.tail in number and bond.head in number]
        found: set[int] = set()
        # Each bond is taken out by itself: two loops may share bonds, and a bond that only joins two loops lies on none.
        for bond in between:
            groups = UnionFind(len(number))
            for other in between:
                if other is not bond:
                    groups.join(number[other.tail], number[other.head])
            if groups.find(number[bond.tail]) == groups.find(number[bond.head]):
                found.add(bond.number)
        return frozenset(found)


WIDEST = 90.0
"""A parameter that is wider than this is replaced by the name of its element."""


@final
@dataclass(frozen=True, slots=True)
class ItemText:
    """The texts of an item: letters, what follows them after a colon, a modulus above, and the signals that move it.

    What has no letters is no item: the name of what a bond that is cut leads to.
    """

    letters: str
    parameter: str = ""
    modulus: str = ""
    signals: str = ""
    note: str = ""
    boxed: bool = False

    @property
    def is_name(self) -> bool:
        """Whether it only names what a bond leads to."""
        return not (self.letters or self.boxed)

    def latex(self, *, reversed_: bool = False) -> str:
        """`I: L_a`; or `V_a: Se` where the bond comes from the right."""
        if not self.letters:
            return self.parameter
        letters = rf"\mathrm{{{self.letters}}}"
        if not self.parameter:
            return letters
        return f"{self.parameter}{COLON}{letters}" if reversed_ else f"{letters}{COLON}{self.parameter}"


@final
class BondTexts:
    """Texts of one bond graph."""

    def __init__(self, scheme: BondGraphScheme, options: Options) -> None:
        self.scheme, self.options = scheme, options
        self.graph = scheme.causal.graph
        self.values = formulas.ParameterValues(self.graph)
        parts = [part for item in scheme.one_ports.values() for part in (item.parts or (item,))]
        self.energies = formulas.energy_names([*scheme.one_ports.values(), *parts], scheme.causal.graph)
        self.short = formulas.short_names(scheme)
        self.vectors = VectorNames(scheme)

    def domain(self, element: str) -> str:
        """The domain of an item; empty for a two-port between domains."""
        if element in self.scheme.two_ports:
            domains = set(self.scheme.two_ports[element].domains)
            return domains.pop() if len(domains) == 1 else ""
        item = self.scheme.junctions.get(element) or self.scheme.one_ports[element]
        return item.domain

    def item(self, element: str, *, named: bool = True) -> ItemText:
        """The texts of an item; only one of several equal junctions is named."""
        letters = self.scheme.kind_of(element)
        if element in self.scheme.junctions:
            note = name_latex(self.scheme.junctions[element].name) if self.options.names and named else ""
            return ItemText(letters, note=note)
        if element in self.scheme.two_ports:
            return self._two_port(letters, self.scheme.two_ports[element])
        return self._one_port(letters, self.scheme.one_ports[element])

    def shared(self, junction: str) -> str:
        """The variable that the bonds of a junction share."""
        item = self.scheme.junctions[junction]
        return bold_latex(self.vectors.of.get(item.variable, item.name)) if item.size > 1 else name_latex(item.variable)

    def variables(self, bond: PowerBond) -> tuple[str, str]:
        """Effort and flow of a bond: rates of energy variables at storages, bold letters on vector bonds."""
        storage = next((self.scheme.one_ports[end] for end in (bond.head, bond.tail) if self._stores(end)), None)
        effort, flow = self._vector(bond, bond.effort), self._vector(bond, bond.flow)
        # The rate of the energy variable stands for the variable that the storage integrates, as in textbooks: p-dot, q-dot.
        if storage is None:
            return effort, flow
        energy = self.energies[self._component(storage, bond).name]
        rate = formulas.dotted_latex(bold_latex(energy) if bond.size > 1 else name_latex(energy))
        return (rate, flow) if storage.kind == "I" else (effort, rate)

    def _stores(self, name: str) -> bool:
        item = self.scheme.one_ports.get(name)
        return item is not None and item.kind in ("I", "C") and name in self.energies and item.letters != "IC"

    @staticmethod
    def _component(storage: OnePort, bond: PowerBond) -> OnePort:
        """The storage of a field that a scalar bond ends at; the whole on a vector bond."""
        port = bond.head_port if bond.head == storage.name else bond.tail_port
        return storage.parts[port - 1] if storage.parts and port and bond.size == 1 else storage

    def _vector(self, bond: PowerBond, name: str) -> str:
        if bond.size == 1:
            return name_latex(self.short.get(name, name))
        return bold_latex(self.vectors.of[name])

    # -- parameters ------------------------------------------------------------------------------------------------------------

    def _one_port(self, letters: str, item: OnePort) -> ItemText:
        if item.parts:
            raised = "^{-1}" if are_reciprocals(values_of_parts(item)) else ""
            return ItemText(letters, f"{bold_latex(shown_name(item))}{raised}")
        return ItemText(letters, self._parameter(item.name, *self._expression(item)), signals=self._signals(item))

    def _two_port(self, letters: str, item: TwoPort) -> ItemText:
        entries = [entry for row in item.matrix for entry in row] or [item.modulus]
        moved = dict.fromkeys(name for entry in entries for name in formulas.signals_read_by(self.graph, entry))
        signals = formulas.listed_latex(moved)
        if item.matrix:
            return ItemText(letters, modulus=bold_latex(shown_name(item)), signals=signals)
        return ItemText(letters, modulus=self._parameter(item.name, item.modulus, _modulus_unit(item)), signals=signals)

    def _parameter(self, name: str, expression: Expression | None, unit: str) -> str:
        labels = self.options.labels
        value = None if expression is None or labels == "symbols" else self.values.latex(expression, unit)
        return formulas.parameter_latex(name, expression, value, labels, 18, WIDEST)

    def _expression(self, item: OnePort) -> tuple[Expression | None, str]:
        """The coefficient in the reading of bond graphs, and its unit: R = e/f, C = q/e, I = p/f."""
        law, domain = item.port.law, DOMAINS[item.domain]
        effort, flow = domain.power(domain.effort).unit, domain.power(domain.flow).unit
        if isinstance(law, StorageLaw) and law.inertia is not None:
            return law.inertia, formulas.unit_ratio(domain.energy(law.side).unit, domain.power(law.side).unit)
        if isinstance(law, ResistiveLaw) and law.coefficient not in (None, ZERO):
            assert law.coefficient is not None, "just asked"
            return formulas.in_bond_graphs(item, law.coefficient), formulas.unit_ratio(effort, flow)
        return None, ""

    def _signals(self, item: OnePort) -> str:
        law = item.port.law
        if isinstance(law, SourceLaw):
            moved = None if item.letters in SINKS else law.signal  # a residual sink reads its own force
        else:
            moved = law.coefficient if isinstance(law, ResistiveLaw) else law.inertia
        return "" if moved is None else formulas.listed_latex(formulas.signals_read_by(self.graph, moved))


def _modulus_unit(item: TwoPort) -> str:
    """The unit of a modulus: f_b over f_a of a transformer, e_b over f_a of a gyrator. An electric machine has N*m/A, not Wb."""
    here, there = (DOMAINS[name] for name in item.domains)
    # In SI N*m/A is Wb and V*s too; data sheets of machines write it as torque per current.
    electric = next((k for k, domain in enumerate((here, there)) if domain.name == "electrical"), None)
    if item.kind == "GY" and electric is not None and here is not there:
        wires, shaft = (here, there) if electric == 0 else (there, here)
        unit = ratio_unit(shaft.power(shaft.effort).unit, wires.power(wires.flow).unit)
    else:
        side = there.flow if item.kind == "TF" else there.effort
        unit = formulas.unit_ratio(there.power(side).unit, here.power(here.flow).unit)
    return "" if unit == "1" else unit


Role = Literal["junction", "multiport", "leaf"]

# A junction has four sides and four corners: eight places. Bonds of the skeleton need a side each, elements take what is left.
MOST_LEAVES = 6
MOST_LINKS = 4
MOST_BONDS = 8


@final
@dataclass(frozen=True, slots=True)
class BondNode:
    """Something that a figure shows as a text. `name` is unique; `element` is the item that it stands for."""

    name: str
    element: str
    role: Role
    text: ItemText
    domain: str


@final
@dataclass(frozen=True, slots=True)
class BondLink:
    """A bond of the figure, from tail to head. `stroke` is the name of the node that receives the effort.

    A link between two halves of a split junction has no bond of its own: `number` is 0. `sink` is one to a residual sink, which
    stands out though nothing is wrong with it.
    """

    number: int
    tail: str
    head: str
    stroke: str
    domain: str
    effort: str
    flow: str
    size: int = 1
    warned: bool = False
    sink: bool = False

    def other(self, name: str) -> str:
        """The node at the other end."""
        return self.head if self.tail == name else self.tail


@final
@dataclass(frozen=True)
class BondPlan:
    """Nodes by name and links in order; `leaves` and `edges` list the links of each node of the skeleton."""

    nodes: Mapping[str, BondNode]
    links: tuple[BondLink, ...]
    leaves: Mapping[str, tuple[BondLink, ...]] = field(repr=False)
    edges: Mapping[str, tuple[BondLink, ...]] = field(repr=False)

    @classmethod
    def of(cls, nodes: Mapping[str, BondNode], links: Iterable[BondLink]) -> "BondPlan":
        """A plan of nodes and links: those to leaves, and those within the skeleton, in the order of links."""
        made = tuple(links)
        leaves: dict[str, list[BondLink]] = {name: [] for name, node in nodes.items() if node.role != "leaf"}
        edges: dict[str, list[BondLink]] = {name: [] for name in leaves}
        for link in made:
            for name in (link.tail, link.head):
                if name in leaves:
                    (leaves if nodes[link.other(name)].role == "leaf" else edges)[name].append(link)
        return cls(nodes, made, *({name: tuple(own) for name, own in found.items()} for found in (leaves, edges)))


def plan_bonds(scheme: BondGraphScheme, options: Options) -> BondPlan:
    """What a figure of a bond graph has to place."""
    return _BondPlanner(scheme, options).plan()


class _BondPlanner:
    """Collects nodes and links."""

    def __init__(self, scheme: BondGraphScheme, options: Options) -> None:
        self.scheme = scheme
        self.texts = BondTexts(scheme, options)
        self.warnings = BondWarnings(scheme)
        self.nodes: dict[str, BondNode] = {}
        self.home: dict[tuple[str, int], str] = {}  # the node that a bond of a split junction ends at
        self.joints: list[BondLink] = []

    def plan(self) -> BondPlan:
        scheme = self.scheme
        skeleton = [*scheme.junctions, *scheme.two_ports]
        self.skeleton = {*skeleton, *filter(self._holds_others, scheme.one_ports)}
        # Junctions first: what is split has to be known before links are made to its parts.
        for name in (*scheme.junctions, *scheme.two_ports, *scheme.one_ports):
            self._node(name)
        return BondPlan.of(self.nodes, [*map(self._link, scheme.bonds), *self.joints])

    def _holds_others(self, name: str) -> bool:
        """Whether a one-port belongs to the skeleton: a field with several bonds, or the first of a pair without a junction."""
        bonds = self.scheme.bonds_of(name)
        return len(bonds) != 1 or (bonds[0].tail == name and bonds[0].head in self.scheme.one_ports)

    def _node(self, name: str) -> None:
        bonds = self.scheme.bonds_of(name)
        if name not in self.skeleton:
            self._add(name, name, "leaf")
            return
        if name not in self.scheme.junctions:
            self._add(name, name, "multiport")
            return
        groups = self._groups(name, bonds)
        for k, group in enumerate(groups):
            own = name if k == 0 else f"{name}#{k + 1}"
            self._add(own, name, "junction")
            for bond in group:
                self.home[name, bond.number] = own
        self._join(name, groups)

    def _add(self, own: str, element: str, role: Role) -> None:
        text = self.texts.item(element, named=own == element)
        self.nodes[own] = BondNode(own, element, role, text, self.texts.domain(element))

    def _groups(self, name: str, bonds: tuple[PowerBond, ...]) -> list[list[PowerBond]]:
        """The bonds of a junction, in groups that fit round one text each."""
        links = [bond for bond in bonds if bond.other(name) in self.skeleton]
        leaves = [bond for bond in bonds if bond.other(name) not in self.skeleton]
        if len(links) <= MOST_LINKS and len(leaves) <= MOST_LEAVES and len(bonds) <= MOST_BONDS:
            return [list(bonds)]
        # Each of several has one or two links to its like, so two links of its own, and leaves on the corners and a side.
        count = max(1, -(-len(links) // 2), -(-len(leaves) // 4))
        groups: list[list[PowerBond]] = [[] for _ in range(count)]
        for items in (links, leaves):
            share = -(-len(items) // count) if items else 1
            for k, bond in enumerate(items):
                groups[min(k // share, count - 1)].append(bond)
        return [sorted(group, key=lambda bond: bond.number) for group in groups if group]

    def _join(self, name: str, groups: list[list[PowerBond]]) -> None:
        """Bonds between the equal junctions: what one bond decides for all runs away from its group."""
        junction = self.scheme.junctions[name]
        effort_shared = DOMAINS[junction.domain].effort == junction.shares
        # One bond gives the junction its shared variable; the halves of a split junction tell it on, away from there.
        deciding = next(
            (k for k, group in enumerate(groups) for bond in group if bond.brings(bond.other(name)) == junction.shares),
            0,
        )
        shared = self.texts.shared(name)
        size = self.scheme.size_of(name)
        for k in range(len(groups) - 1):
            first, second = (name if n == 0 else f"{name}#{n + 1}" for n in (k, k + 1))
            told = second if deciding <= k else first  # the one that is told the shared variable
            stroke = told if effort_shared else (first if told == second else second)
            variables = (shared, "") if effort_shared else ("", shared)
            self.joints.append(BondLink(0, first, second, stroke, junction.domain, *variables, size=size))

    def _link(self, bond: PowerBond) -> BondLink:
        tail, head = (self.home.get((end, bond.number), end) for end in (bond.tail, bond.head))
        stroke = head if bond.stroke == "head" else tail
        return BondLink(
            bond.number,
            tail,
            head,
            stroke,
            bond.domain,
            *self.texts.variables(bond),
            size=bond.size,
            warned=self.warnings.marks(bond),
            sink=self.warnings.is_sink(bond),
        )


# -- rows --------------------------------------------------------------------------------------------------------------------------

FED = ("electrical", "hydraulic")
"""What sources of effort feed from the left."""
MOST_CHILDREN = 3
"""Links of a junction away from the start: along the row, below and above."""


@final
@dataclass
class BondRow:
    """Nodes side by side, joined by links; `branches` are the rows that hang at each of them, with the link to their first node."""

    nodes: list[str]
    links: list[BondLink]
    branches: dict[str, list[tuple[BondLink, "BondRow"]]] = field(default_factory=dict)


@final
@dataclass(frozen=True)
class Skeleton:
    """The trunk of each connected part, and the links that are in no row."""

    trunks: tuple[BondRow, ...]
    closing: tuple[BondLink, ...]


def skeleton_of(plan: BondPlan) -> Skeleton:
    """The rows of a plan. The first row of a part begins at its first source."""
    used: set[str] = set()
    seen: set[int] = set()  # links of the trees, by identity
    trunks: list[BondRow] = []
    for start in _starts(plan):
        if start not in used:
            tree = _tree(plan, start, used)
            trunks += [tree.row(tree.start), *tree.apart]
            seen |= tree.taken
    # Each link is listed at both its nodes, and is counted once; in the order of description, as they are drawn.
    closing = {id(link): link for links in plan.edges.values() for link in links if id(link) not in seen}
    return Skeleton(
        tuple(trunks), tuple(sorted(closing.values(), key=lambda link: (link.number, link.tail, link.head)))
    )


def _tree(plan: BondPlan, start: str, used: set[str]) -> "_Tree":
    """The tree of a part, from the end of its trunk that is described first, unless wires or pipes are fed at the start.

    So a figure is not turned round when the first of several sources is taken away. Meshes have no such ends.
    """
    tree = _Tree(plan, start, set(used))
    end = tree.row(start).nodes[-1]
    if tree.is_whole and not _is_fed(plan, start) and _first_bond(plan, end) < _first_bond(plan, start):
        other = _Tree(plan, end, set(used))
        if other.row(end).nodes[-1] == start:
            start = end
    return _Tree(plan, start, used)


def _is_fed(plan: BondPlan, name: str) -> bool:
    """Whether a source of wires or pipes decides the effort at a node: it stands on the left."""
    leaves = ((plan.nodes[link.other(name)], link) for link in plan.leaves[name])
    return any(leaf.text.letters.endswith("Se") and link.domain in FED for leaf, link in leaves)


def _first_bond(plan: BondPlan, name: str) -> int:
    """The number of the first bond at a node, which follows the order of description."""
    return min((link.number for link in (*plan.leaves[name], *plan.edges[name]) if link.number), default=0)


def _starts(plan: BondPlan) -> Iterator[str]:
    """Where rows may begin: at the sources, then at what has one neighbour, then anywhere."""
    for link in plan.links:
        for leaf, node in ((link.tail, link.head), (link.head, link.tail)):
            if plan.nodes[leaf].role == "leaf" and plan.nodes[leaf].text.letters.lstrip("Mr")[:1] == "S":
                yield node
    yield from (name for name, links in plan.edges.items() if len(links) == 1)
    yield from plan.edges


class _Tree:
    """A spanning tree from a start, cut into longest paths."""

    def __init__(self, plan: BondPlan, start: str, used: set[str]) -> None:
        self.plan, self.start = plan, start
        self.taken: set[int] = set()
        self.apart: list[BondRow] = []
        self.children: dict[str, list[tuple[BondLink, str]]] = {}
        order = self._grow(start, used)
        # From the leaves inwards, children before their parents, so that a figure of thousands of nodes needs no recursion here.
        self.height: dict[str, tuple[int, bool]] = {}
        for name in reversed(order):
            below = [self.height[child] for _, child in self.children[name]]
            length, stored = max(below, default=(0, False))
            letters = {plan.nodes[link.other(name)].text.letters for link in plan.leaves[name]}
            self.height[name] = (length + 1, stored or not letters.isdisjoint(("I", "C", "IC")))

    @property
    def is_whole(self) -> bool:
        """Whether no bond closes a mesh."""
        return all(id(link) in self.taken for name in self.children for link in self.plan.edges[name])

    def _grow(self, start: str, used: set[str]) -> list[str]:
        # By breadth: every node then hangs as near to the start as it can, and the bonds that close meshes are short.
        order, queue = [], deque([start])
        used.add(start)
        while queue:
            name = queue.popleft()
            order.append(name)
            self.children[name] = []
            is_junction = self.plan.nodes[name].role == "junction"
            for link in self.plan.edges[name]:
                other = link.other(name)
                # A junction has only so many sides; what is left out is reached from elsewhere, or begins a tree of its own.
                if other not in used and not (is_junction and len(self.children[name]) == MOST_CHILDREN):
                    used.add(other)
                    self.taken.add(id(link))
                    self.children[name].append((link, other))
                    queue.append(other)
        return order

    def row(self, start: str, *, hangs: bool = False) -> BondRow:
        """The longest path from a node on, with the rest as branches.

        A row that hangs has its parent above or below its first node. Where that leaves no room for a second branch of a junction,
        the branch becomes a row apart, and its link closes the mesh between them.
        """
        row, name = BondRow([start], []), start
        while children := self.children[name]:
            # A path of the same length with a storage goes on, however many it has; then the order of description.
            best = max(range(len(children)), key=lambda k: (self.height[children[k][1]], -k))
            rest = [child for k, child in enumerate(children) if k != best]
            if hangs and name == start and self.plan.nodes[name].role == "junction":
                for link, child in rest[1:]:
                    self.taken.discard(id(link))
                    self.apart.append(self.row(child))
                rest = rest[:1]
            if rest:
                row.branches[name] = [(link, self.row(child, hangs=True)) for link, child in rest]
            link, name = children[best]
            row.nodes.append(name)
            row.links.append(link)
        return row
