"""Vector bond graphs: the lanes of a vector ladder as one chain of vector bonds, under the letters of the POG.

A block becomes a junction with its elements, a connection a transformer or gyrator with a matrix, a source at an end a vector
source. Signals give the strokes: the end that an effort runs to has it.
"""

from collections.abc import Mapping
from typing import final

from tellegen.core.domains import DOMAINS
from tellegen.core.errors import FigureError
from tellegen.drawing import rules
from tellegen.drawing.bond.layout import PLAIN, lay_out_bonds
from tellegen.drawing.bond.plan import BondLink, BondNode, BondPlan, BondTexts, ItemText, Role, skeleton_of
from tellegen.drawing.bond.scene import bands_of, bond_scene
from tellegen.drawing.formulas import dotted_latex
from tellegen.drawing.options import DEFAULTS, Options
from tellegen.drawing.pog import plan as plans
from tellegen.drawing.pog.lanes import only
from tellegen.drawing.pog.scene import lanes_plan, legend_shapes, star_plan
from tellegen.scenes.geometry import union
from tellegen.scenes.scene import MARGIN, Label, Scene, Shape, framed_scene, label_box
from tellegen.schemes import PogScheme, bond_graph
from tellegen.schemes.lanes import NoLanesError

Elements = Mapping[str, tuple[ItemText, tuple[str, str]]]
"""How a scalar bond graph writes elements, by name: letters and parameter, effort and flow of the bond."""
ChainEnd = tuple[str, plans.SectionPlan]
"""Where the chain goes on: a node, and the section behind it."""


@final
class _Chain:
    """Collects nodes and links from left to right."""

    def __init__(self, ladder: plans.LadderPlan, elements: Elements) -> None:
        self.ladder, self.elements = ladder, elements
        self.nodes: dict[str, BondNode] = {}
        self.links: list[BondLink] = []
        self.shared: plans.Line = "upper"
        """The line whose variable the elements of a column share."""

    def plan(self) -> BondPlan:
        """The whole chain, with what hangs on it.

        Raises: NoLanesError where the vectors mix efforts with flows, so that no half arrow fits.
        """
        entry = self.ladder.entry
        if entry is None:
            raise NoLanesError
        end = self._source(entry, rightward=True), entry
        for column in self.ladder.columns:
            end = self._column(column, end)
        if self.ladder.columns[-1].right is not None:
            self._link(end[0], self._source(end[1], rightward=False), end[1])
        return BondPlan.of(self.nodes, self.links)

    # -- along the chain -------------------------------------------------------------------------------------------------------

    def _column(self, column: plans.ColumnPlan, end: ChainEnd) -> ChainEnd:
        match column.content:
            case plans.ElementPlan() as element:
                # Without a summation the column ends the ladder, and shares what those before it share.
                self.shared = next(
                    (plans.other_line(n) for n in plans.LINES if column.node_kind(n) == "sum"), self.shared
                )
                node = self._junction(column, end)
                self._element(element, node, column)
                return node, column.right or end[1]
            case plans.ConnectionPlan() as connection:
                node = self._connection(connection, column)
                self._link(end[0], node, end[1])
                assert column.right is not None, "a connection leads somewhere"
                return node, column.right
            case _:
                raise NoLanesError

    def _junction(self, column: plans.ColumnPlan, end: ChainEnd) -> str:
        """The junction of a column: that of the column before where both share one variable."""
        assert column.left is not None, "a ladder begins with a section"
        # A column shares what its summation does not add up: a 1-junction adds efforts, and its elements share the flow.
        shares_effort = self.shared == _effort_line(column.left)
        letters = "0" if shares_effort else "1"
        # Two columns that share one variable are one junction with two elements, as they would be for a reader.
        before = self.nodes[end[0]]
        if before.role == "junction" and before.text.letters == letters:
            return end[0]
        node = self._add(f"junction {len(self.nodes)}", "junction", ItemText(letters), column.left.first_domain)
        self._link(end[0], node, end[1])
        return node

    def _connection(self, connection: plans.ConnectionPlan, column: plans.ColumnPlan) -> str:
        assert column.left is not None, "a connection stands between sections"
        assert column.right is not None, "a connection stands between sections"
        line = _effort_line(column.left)
        letters = "TF" if line == _effort_line(column.right) else "GY"
        text = next(box.text for box in (connection.upper, connection.lower) if box.part == "K")
        # The POG writes what a matrix depends on as its argument, K(x); a bond graph shows it as a signal that comes in.
        moving = text.partition("(")
        item = ItemText(f"M{letters}" if moving[1] else letters, modulus=moving[0], signals=moving[2].rstrip(")"))
        return self._add(connection.element, "multiport", item, "")

    def _link(self, tail: str, head: str, section: plans.SectionPlan) -> None:
        """A bond of the chain: power counts as positive to the right, as in the section of the POG."""
        line = _effort_line(section)
        stroke = head if section.goes_right(line) else tail
        self._bond(tail, head, stroke, section, (section.label(line), section.label(plans.other_line(line))))

    # -- what hangs on it ------------------------------------------------------------------------------------------------------

    def _source(self, section: plans.SectionPlan, *, rightward: bool) -> str:
        line = _effort_line(section)
        gives_effort = section.goes_right(line) == rightward
        given = section.label(line if gives_effort else plans.other_line(line))
        text = ItemText("Se" if gives_effort else "Sf", given)
        name = "first source" if rightward else "last source"
        return self._add(name, "leaf", text, section.first_domain)

    def _element(self, element: plans.ElementPlan, junction: str, column: plans.ColumnPlan) -> None:
        section = column.left
        assert section is not None, "a ladder begins with a section"
        members = [self.elements[name] for name in element.element.split()]
        line = _effort_line(section)
        takes_effort = (line == "upper") == (element.way == "down")
        shared = section.label(self.shared)
        # A single element is written as in the scalar figure; several have the letters of their matrix.
        if len(members) == 1:
            item, (effort, flow) = members[0]
            own = flow if self.shared == line else effort
        else:
            # Without an energy its own variable has the letter of its line in the section, and the name of its matrix.
            letters = "".join(sorted({item.letters for item, _ in members}))
            item = ItemText(letters, element.boxes[-1].text.removesuffix("^{-1}"))
            letter = section.label(plans.other_line(self.shared)).partition("_")[0]
            named = f"{letter}_{{{item.parameter.partition('(')[0]}}}"
            own = dotted_latex(element.energy) if element.energy else named
        variables = (shared, own) if self.shared == line else (own, shared)
        node = self._add(element.element, "leaf", item, section.first_domain)
        stroke = node if takes_effort else junction
        self._bond(junction, node, stroke, section, variables, element.tone == "warning")

    def _bond(
        self,
        tail: str,
        head: str,
        stroke: str,
        section: plans.SectionPlan,
        variables: tuple[str, str],
        warned: bool = False,
    ) -> None:
        number, domain, size = len(self.links) + 1, section.first_domain, len(section.lanes)
        self.links.append(BondLink(number, tail, head, stroke, domain, *variables, size=size, warned=warned))

    def _add(self, name: str, role: Role, text: ItemText, domain: str) -> str:
        self.nodes[name] = BondNode(name, name, role, text, domain)
        return name


def _effort_line(section: plans.SectionPlan) -> plans.Line:
    """The line that carries the efforts of a section.

    Raises: NoLanesError where some lanes have their efforts on the other one.
    """
    return "upper" if only(DOMAINS[domain].effort == side for domain, side in section.lanes) else "lower"


def vector_bond_scene(scheme: PogScheme, options: Options = DEFAULTS) -> Scene:
    """The figure of a bond graph whose bonds are vectors: like branches of the model as one chain, with matrices below.

    Where the branches make no chain, whatever is alike is drawn as one vector item.

    Raises: FigureError (F153) where nothing is alike.
    """
    try:
        figure, plan = vector_plans(scheme, options)
    except FigureError:
        alike = bond_graph(scheme.causal, vectors=True, lanes="alike")
        if all(bond.size == 1 for bond in alike.bonds):
            raise
        return bond_scene(alike, options)
    layout = lay_out_bonds(plan, skeleton_of(plan), options, PLAIN[0])
    layout.pen.settle()
    bands, box = bands_of(plan, layout, layout.extent(), options)
    legend = legend_shapes(figure.legend, figure.notes, box, options)
    shapes: list[Shape] = [*bands, *layout.pen.shapes, *legend]
    texts = [label_box(shape) for shape in legend if isinstance(shape, Label)]
    whole = union([layout.extent(), box, *texts]).grown(MARGIN)
    title = f"Vector bond graph: {scheme.name}" if scheme.name else "Vector bond graph"
    # The bonds in words, for those who cannot see the figure.
    letters = {name: node.text.letters for name, node in plan.nodes.items()}
    about = ", ".join(f"{letters[link.tail]} to {letters[link.head]} ({link.size})" for link in plan.links)
    return framed_scene(title, about, whole, shapes)


def vector_plans(scheme: PogScheme, options: Options) -> tuple[plans.FigurePlan, BondPlan]:
    """The POG of vectors, whose legend the figure has, and what there is to place of its bond graph.

    Raises: FigureError (F153) where the branches of the model do not run side by side.
    """
    figure = lanes_plan(scheme, options) or star_plan(scheme, options)
    graph = bond_graph(scheme.causal)
    texts = BondTexts(graph, options)
    elements = {
        item.port.element: (texts.item(name), texts.variables(graph.bonds_of(name)[0]))
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
