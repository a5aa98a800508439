"""Draws a placed POG ladder: its columns, the wires between them, its power sections and its side ladders."""

from dataclasses import dataclass, replace
from typing import Literal, final

from tellegen.drawing.geometry import Box, Point, box_about
from tellegen.drawing.pog_integrals import draw_integral
from tellegen.drawing.pog_measures import (
    BRANCH_OVERHANG,
    LEAD,
    PORT_HALF,
    SIDE_WIRE,
    SMALL,
    STUB,
    TEXT,
    box_size,
    text_size,
)
from tellegen.drawing.pog_pen import LEAD_PART, STEP, Node, Pen
from tellegen.drawing.pog_pen import Side as Direction
from tellegen.drawing.pog_placing import PlacedBranch, PlacedLadder, Space
from tellegen.drawing.pog_plan import (
    LINES,
    BoxPlan,
    BranchPlan,
    ColumnPlan,
    ConnectionPlan,
    ElementPlan,
    End,
    Line,
    SectionPlan,
)
from tellegen.drawing.pog_sections import draw_link, draw_section, link_radius, mark_link
from tellegen.drawing.scene import Block, Label, Origin, Section, Tone, Weight

Nodes = dict[Line, Node]


@final
@dataclass(frozen=True, slots=True)
class Elbow:
    """The wire that comes from the node of a branch column to a line of its side ladder."""

    node: Node
    side: Literal["up", "down"]


@final
class LadderDrawing:
    """Draws one ladder, and its side ladders through further drawings."""

    def __init__(self, pen: Pen, ladder: PlacedLadder, space: Space, at: Point) -> None:
        self.pen = pen
        self.ladder = ladder
        self.space = space
        self.x, self.upper = at
        self.lower = self.upper + ladder.height
        self.branches = {branch.column: branch for branch in ladder.branches}

    def y(self, line: Line) -> float:
        """The y of a line."""
        return self.upper if line == "upper" else self.lower

    def draw(self, elbows: dict[Line, Elbow] | None = None) -> None:
        """Everything of the ladder; `elbows` lead to it from the ladder it belongs to."""
        columns = self.ladder.plan.columns
        nodes = [self._column(k, column) for k, column in enumerate(columns)]
        sections = self.ladder.plan.sections()
        for k, section in enumerate(sections):
            if section is None:
                continue
            at = self.x + self.ladder.borders[k]
            draw_section(self.pen, section, (at, self.upper), self.lower)
            if section.link and (k == len(nodes) or (k == 0 and elbows is None)):
                draw_link(self.pen, section, at, (self.upper + self.lower) / 2, right=k > 0)
            before = nodes[k - 1] if k else None
            after = nodes[k] if k < len(nodes) else None
            for line in LINES:
                self._wire(section, line, at, before, after, elbows if k == 0 else None)

    # -- wires -----------------------------------------------------------------------------------------------------------------

    def _wire(
        self,
        section: SectionPlan,
        line: Line,
        at: float,
        before: Nodes | None,
        after: Nodes | None,
        elbows: dict[Line, Elbow] | None,
    ) -> None:
        """The wire through a section on one line, in the direction of its signal."""
        y = self.y(line)
        left: list[Point] = [(at - LEAD, y)] if before is None else [before[line].edge("right")]
        right: Point = (at + LEAD, y) if after is None else after[line].edge("left")
        left_head = before is None or before[line].takes_head
        if elbows is not None:
            elbow = elbows[line]
            left = [(elbow.node.x, y), elbow.node.edge(elbow.side)]
            left_head = elbow.node.takes_head
        right_head = after is None or after[line].takes_head
        outside = (before is None and elbows is None) or after is None
        outside = outside or any(nodes is not None and nodes[line].kind == "end" for nodes in (before, after))
        origin = Origin(part=LEAD_PART if outside else "wire", port=section.name, domain=section.domain)
        points = [*reversed(left), right]
        if section.goes_right(line):
            self.pen.wire(points, right_head, section.weight, origin)
        else:
            self.pen.wire(reversed(points), left_head, section.weight, origin)

    # -- columns ---------------------------------------------------------------------------------------------------------------

    def _column(self, k: int, column: ColumnPlan) -> Nodes:
        middle = self.x + self.ladder.middle(k)
        match column.content:
            case ConnectionPlan() as connection:
                return self._connection(connection, column, middle)
            case BranchPlan() as branch:
                return self._branch(branch, self.branches[k], column, middle)
            case ElementPlan() as element:
                nodes = self._nodes(column, {"upper": middle, "lower": middle}, {"upper": "down", "lower": "up"})
                self._element(element, nodes, middle)
                if column.integral is not None:
                    draw_integral(self.pen, column.integral, nodes["lower"])
                return nodes
            case None:
                return self._nodes(column, {"upper": middle, "lower": middle}, {"upper": "down", "lower": "up"})

    def _nodes(self, column: ColumnPlan, x: dict[Line, float], side: dict[Line, Direction]) -> Nodes:
        """The nodes of a column, drawn; `side` is where its vertical wire is."""
        found: Nodes = {}
        element = column.content.element if isinstance(column.content, ElementPlan) else ""
        for line in LINES:
            node = Node(x[line], self.y(line), column.node_kind(line))
            sides: dict[End, Direction] = {"left": "left", "right": "right", "vertical": side[line]}
            spots = tuple(STEP[sides[end]] for at, end in sorted(column.minus) if at == line)
            origin = Origin(element, "sum", port=line, sign=-1 if spots else 1, domain=column.wire_domain)
            self.pen.node(node, spots, _weight(column), origin)
            found[line] = node
        return found

    # -- elaboration blocks ----------------------------------------------------------------------------------------------------

    def _element(self, element: ElementPlan, nodes: Nodes, x: float) -> None:
        """The boxes of an elaboration block between the lines, with equal free gaps, and the wires between them."""
        sizes = [box_size(box.text) for box in element.boxes]
        gap = (self.ladder.height - sum(h for _, h in sizes)) / (len(sizes) + 1)
        down = element.way == "down"
        first, last = (nodes["upper"], nodes["lower"]) if down else (nodes["lower"], nodes["upper"])
        forth: Direction = "down" if down else "up"
        back: Direction = "up" if down else "down"
        origin = Origin(element.element, "wire", domain=element.domain)
        y, start = (first.y, first.edge(forth))
        for k, (box, (width, height)) in enumerate(zip(element.boxes, sizes, strict=True)):
            near = y + gap if down else y - gap
            far = near + height if down else near - height
            frame = Box(x - width / 2, min(near, far), x + width / 2, max(near, far))
            self.pen.wire((start, (x, near)), True, element.weight, origin)
            if k == 1 and element.energy:
                self._energy(element, (x + 8, (y + near) / 2))
            self._box(element.element, box, frame, element.domain, element.tone)
            y, start = far, (x, far)
        if last.kind == "end":
            origin = replace(origin, part=LEAD_PART)
        self.pen.wire((start, last.edge(back)), last.takes_head, element.weight, origin)

    def _energy(self, element: ElementPlan, at: Point) -> None:
        origin = Origin(element.element, "energy", domain=element.domain)
        self.pen.add(Label(element.energy, at, size=SMALL, align="left", origin=origin))

    def _box(self, element: str, box: BoxPlan, frame: Box, domain: str, tone: Tone = "ink") -> None:
        origin = Origin(element, box.part, domain=domain)
        self.pen.box(Block(frame, tone=tone, origin=origin), box.text, text_size(box.text))
        y = frame.centre[1]
        if box.side:
            start = frame.right + SIDE_WIRE
            self.pen.wire(((start, y), (frame.right, y)), True, "bold", Origin(element, LEAD_PART, domain=domain))
            label = Origin(element, "further inputs", domain=domain)
            self.pen.add(Label(box.side, (start + 4, y), size=SMALL, align="left", origin=label))
        if box.value:
            label = Origin(element, "value", domain=domain)
            self.pen.add(Label(box.value, (frame.right + 5, y), size=SMALL, align="left", origin=label))

    # -- connection blocks -----------------------------------------------------------------------------------------------------

    def _connection(self, connection: ConnectionPlan, column: ColumnPlan, x: float) -> Nodes:
        found: Nodes = {}
        for line in LINES:
            box = connection.box(line)
            width, height = box_size(box.text, connection=True)
            frame = box_about((x, self.y(line)), width, height)
            origin = Origin(connection.element, box.part, domain=column.wire_domain)
            self.pen.box(Block(frame, origin=origin), box.text, text_size(box.text))
            if box.value:
                inwards = frame.bottom + 12 if line == "upper" else frame.top - 12
                label = Origin(connection.element, "value", domain=column.wire_domain)
                self.pen.add(Label(box.value, (x, inwards), size=SMALL, origin=label))
            found[line] = Node(x, self.y(line), "box", width / 2)
        return found

    # -- branches --------------------------------------------------------------------------------------------------------------

    def _branch(self, branch: BranchPlan, placed: PlacedBranch, column: ColumnPlan, middle: float) -> Nodes:
        """A branch column: its two nodes, the section across its wires, and the side ladder."""
        side: Literal["up", "down"] = "up" if placed.above else "down"
        near: Line = "lower" if placed.above else "upper"
        # The line of the side ladder that is nearer goes in by the right wire, so that the wires do not cross.
        x: dict[Line, float] = {}
        for line in LINES:
            right = branch.line_there(line) == near if branch.ladder.columns else column.node_kind(line) != "dot"
            x[line] = middle + (PORT_HALF if right else -PORT_HALF)
        if x["upper"] == x["lower"]:
            x["upper"] = 2 * middle - x["lower"]
        nodes = self._nodes(column, x, {"upper": side, "lower": side})
        self._branch_section(branch, placed, x)
        if branch.ladder.columns:
            elbows = {branch.line_there(line): Elbow(nodes[line], side) for line in LINES}
            at = self.x + placed.x, self.upper + placed.y
            LadderDrawing(self.pen, placed.ladder, self.space, at).draw(elbows)
        else:
            self._stubs(branch, placed, nodes, side)
        return nodes

    def _branch_section(self, branch: BranchPlan, placed: PlacedBranch, x: dict[Line, float]) -> None:
        section = branch.ladder.entry
        if section is None:
            return
        y = self.upper - self.space.raised_section if placed.above else self.lower + self.space.branch_section
        left, right = sorted(x.values())
        start, end = left - BRANCH_OVERHANG, right + BRANCH_OVERHANG
        origin = Origin(part="section", port=section.name, domain=section.domain)
        self.pen.add(Section((start, y), (end, y), origin))
        for line in LINES:
            text = section.label(branch.line_there(line))
            at_left = x[line] == left
            label = Origin(part="variable", port=section.name, domain=section.domain)
            place = (start - 6, y) if at_left else (end + 6, y)
            self.pen.add(Label(text, place, size=TEXT, align="right" if at_left else "left", origin=label))

    def _stubs(self, branch: BranchPlan, placed: PlacedBranch, nodes: Nodes, side: Literal["up", "down"]) -> None:
        """The wires of a source at a branch."""
        section = branch.ladder.entry
        weight: Weight = "thin" if section is None else section.weight
        far = self.upper + placed.y + (0 if placed.above else STUB)
        origin = Origin(part=LEAD_PART, port="" if section is None else section.name)
        if section is not None and section.link:
            radius = link_radius(section.link)
            middle = (nodes["upper"].x + nodes["lower"].x) / 2
            mark_link(self.pen, section, (middle, far + (-radius - 4 if placed.above else radius + 4)))
        for line, node in nodes.items():
            points = [node.edge(side), (node.x, far)]
            if branch.comes_in[line]:
                self.pen.wire(reversed(points), node.takes_head, weight, origin)
            else:
                self.pen.wire(points, True, weight, origin)


def _weight(column: ColumnPlan) -> Weight:
    if isinstance(column.content, ElementPlan):
        return column.content.weight
    section = column.left or column.right
    return "thin" if section is None else section.weight
