"""Vector bond graphs: the lanes of a vector ladder as one chain of vector bonds, under the letters of the POG.

A block becomes a junction with its elements, a connection a transformer or gyrator with a matrix, a source at an end a vector
source. Signals give the strokes: the end that an effort runs to has it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

from tellegen.core.domains import DOMAINS
from tellegen.drawing import rules
from tellegen.drawing.bond.layout import PLAIN, lay_out_bonds
from tellegen.drawing.bond.plan import BondLink, BondNode, BondPlan, BondTexts, ItemText, Role, skeleton_of
from tellegen.drawing.bond.scene import bands_of
from tellegen.drawing.formulas import dotted_latex
from tellegen.drawing.options import DEFAULTS, Options
from tellegen.drawing.pog.plan import (
    LINES,
    ColumnPlan,
    ConnectionPlan,
    ElementPlan,
    FigurePlan,
    LadderPlan,
    Line,
    SectionPlan,
    other_line,
)
from tellegen.drawing.pog.scene import lanes_plan, legend_shapes, star_plan
from tellegen.scenes.geometry import union
from tellegen.scenes.scene import MARGIN, Label, Scene, Shape, framed_scene, label_box
from tellegen.schemes import PogScheme, bond_graph
from tellegen.schemes.lanes import NoLanesError


@final
@dataclass(frozen=True, slots=True)
class _ElementText:
    """How a scalar bond graph writes an element: letters and parameter, effort and flow of its bond."""

    item: ItemText
    effort: str
    flow: str


Elements = Mapping[str, _ElementText]
"""The elements by name."""


@final
@dataclass(frozen=True, slots=True)
class _End:
    """Where the chain goes on: a node, and the section behind it."""

    node: str
    section: SectionPlan


@final
class _Chain:
    """Collects nodes and links from left to right."""

    def __init__(self, ladder: LadderPlan, elements: Elements) -> None:
        self.ladder, self.elements = ladder, elements
        self.nodes: dict[str, BondNode] = {}
        self.links: list[BondLink] = []
        self.shared: Line = "upper"
        """The line whose variable the elements of a column share."""

    def plan(self) -> BondPlan:
        """The whole chain, with what hangs on it.

        Raises: NoLanesError where the vectors mix efforts with flows, so that no half arrow fits.
        """
        entry = self.ladder.entry
        if entry is None:
            raise NoLanesError
        end = _End(self._source(entry, rightward=True), entry)
        for column in self.ladder.columns:
            end = self._column(column, end)
        if self.ladder.columns[-1].right is not None:
            source = self._source(end.section, rightward=False)
            self._link(end.node, source, end.section)
        return BondPlan.of(self.nodes, self.links)

    # -- along the chain -------------------------------------------------------------------------------------------------------

    def _column(self, column: ColumnPlan, end: _End) -> _End:
        match column.content:
            case ElementPlan() as element:
                # Without a summation the column ends the ladder, and shares what those before it share.
                self.shared = next((other_line(n) for n in LINES if column.node_kind(n) == "sum"), self.shared)
                node = self._junction(column, end)
                self._element(element, node, column)
                return _End(node, column.right or end.section)
            case ConnectionPlan() as connection:
                node = self._connection(connection, column)
                self._link(end.node, node, end.section)
                assert column.right is not None, "a connection leads somewhere"
                return _End(node, column.right)
            case _:
                raise NoLanesError

    def _junction(self, column: ColumnPlan, end: _End) -> str:
        """The junction of a column: that of the column before where both share one variable."""
        assert column.left is not None, "a ladder begins with a section"
        # A column shares what its summation does not add up: a 1-junction adds efforts, and its elements share the flow.
        shares_effort = self.shared == _effort_line(column.left)
        letters = "0" if shares_effort else "1"
        # Two columns that share one variable are one junction with two elements, as they would be for a reader.
        before = self.nodes[end.node]
        if before.role == "junction" and before.text.letters == letters:
            return end.node
        node = self._add(f"junction {len(self.nodes)}", "junction", ItemText(letters), column.left.first_domain)
        self._link(end.node, node, end.section)
        return node

    def _connection(self, connection: ConnectionPlan, column: ColumnPlan) -> str:
        assert column.left is not None, "a connection stands between sections"
        assert column.right is not None, "a connection stands between sections"
        line = _effort_line(column.left)
        letters = "TF" if line == _effort_line(column.right) else "GY"
        text = next(box.text for box in (connection.upper, connection.lower) if box.part == "K")
        # The POG writes what a matrix depends on as its argument, K(x); a bond graph shows it as a signal that comes in.
        moving = text.partition("(")
        item = ItemText(f"M{letters}" if moving[1] else letters, modulus=moving[0], signals=moving[2].rstrip(")"))
        return self._add(connection.element, "multiport", item, "")

    def _link(self, tail: str, head: str, section: SectionPlan) -> None:
        """A bond of the chain: power counts as positive to the right, as in the section of the POG."""
        line = _effort_line(section)
        stroke = head if section.goes_right(line) else tail
        self._bond(tail, head, stroke, section, effort=section.label(line), flow=section.label(other_line(line)))

    # -- what hangs on it ------------------------------------------------------------------------------------------------------

    def _source(self, section: SectionPlan, *, rightward: bool) -> str:
        line = _effort_line(section)
        gives_effort = section.goes_right(line) == rightward
        given = section.label(line if gives_effort else other_line(line))
        text = ItemText("Se" if gives_effort else "Sf", given)
        name = "first source" if rightward else "last source"
        return self._add(name, "leaf", text, section.first_domain)

    def _element(self, element: ElementPlan, junction: str, column: ColumnPlan) -> None:
        section = column.left
        assert section is not None, "a ladder begins with a section"
        members = [self.elements[name] for name in element.element.split()]
        line = _effort_line(section)
        takes_effort = (line == "upper") == (element.way == "down")
        shared = section.label(self.shared)
        # A single element is written as in the scalar figure; several have the letters of their matrix.
        if len(members) == 1:
            item = members[0].item
            own = members[0].flow if self.shared == line else members[0].effort
        else:
            # Without an energy its own variable has the letter of its line in the section, and the name of its matrix.
            letters = "".join(sorted({member.item.letters for member in members}))
            item = ItemText(letters, element.boxes[-1].text.removesuffix("^{-1}"))
            letter = section.label(other_line(self.shared)).partition("_")[0]
            named = f"{letter}_{{{item.parameter.partition('(')[0]}}}"
            own = dotted_latex(element.energy) if element.energy else named
        effort, flow = (shared, own) if self.shared == line else (own, shared)
        node = self._add(element.element, "leaf", item, section.first_domain)
        stroke = node if takes_effort else junction
        self._bond(junction, node, stroke, section, effort=effort, flow=flow, warned=element.tone == "warning")

    def _bond(
        self, tail: str, head: str, stroke: str, section: SectionPlan, *, effort: str, flow: str, warned: bool = False
    ) -> None:
        self.links.append(
            BondLink(
                number=len(self.links) + 1,
                tail=tail,
                head=head,
                stroke=stroke,
                domain=section.first_domain,
                effort=effort,
                flow=flow,
                size=len(section.lanes),
                warned=warned,
            )
        )

    def _add(self, name: str, role: Role, text: ItemText, domain: str) -> str:
        self.nodes[name] = BondNode(name, name, role, text, domain)
        return name


def _effort_line(section: SectionPlan) -> Line:
    """The line that carries the efforts of a section.

    Raises: NoLanesError where some lanes have their efforts on the other one.
    """
    above = {DOMAINS[domain].effort == side for domain, side in section.lanes}
    if len(above) != 1:
        raise NoLanesError
    return "upper" if above.pop() else "lower"


def vector_bond_scene(scheme: PogScheme, options: Options = DEFAULTS) -> Scene:
    """The figure of a bond graph whose bonds are vectors: like branches of the model as one chain, with matrices below.

    Raises: FigureError (F153) where the branches of the model do not run side by side.
    """
    figure, plan = vector_plans(scheme, options)
    layout = lay_out_bonds(plan, skeleton_of(plan), options, PLAIN[0])
    layout.pen.settle()
    bands, box = bands_of(plan, layout, layout.extent(), options)
    legend = legend_shapes(figure, box, options)
    shapes: list[Shape] = [*bands, *layout.pen.shapes, *legend]
    texts = [label_box(shape) for shape in legend if isinstance(shape, Label)]
    whole = union([layout.extent(), box, *texts]).grown(MARGIN)
    title = f"Vector bond graph: {scheme.name}" if scheme.name else "Vector bond graph"
    # The bonds in words, for those who cannot see the figure.
    letters = {name: node.text.letters for name, node in plan.nodes.items()}
    about = ", ".join(f"{letters[link.tail]} to {letters[link.head]} ({link.size})" for link in plan.links)
    return framed_scene(title, about, whole, shapes)


def vector_plans(scheme: PogScheme, options: Options) -> tuple[FigurePlan, BondPlan]:
    """The POG of vectors, whose legend the figure has, and what there is to place of its bond graph.

    Raises: FigureError (F153) where the branches of the model do not run side by side.
    """
    figure = lanes_plan(scheme, options) or star_plan(scheme, options)
    graph = bond_graph(scheme.causal)
    texts = BondTexts(graph, options)
    elements = {
        item.port.element: _ElementText(texts.item(name), *texts.variables(graph.bonds_of(name)[0]))
        for name, item in graph.one_ports.items()
    }
    try:
        if figure is None:
            raise NoLanesError
        return figure, _Chain(figure.ladders[0], elements).plan()
    except NoLanesError:
        raise rules.NO_LANES.error(
            f"'{scheme.name}' has no branches that run side by side from its sources", fix="draw it without `vectorial`"
        ) from None
