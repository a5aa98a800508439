"""Draws a placed POG ladder: its columns, the wires between them, its power sections and its side ladders."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal, final

from tellegen.drawing.options import Options
from tellegen.drawing.pog import placement
from tellegen.drawing.pog import plan as plans
from tellegen.drawing.pog.placement import LadderSpacing, PlacedBranch, PlacedLadder
from tellegen.expressions import latex_name
from tellegen.scenes.geometry import Box, Point, box_about, straightened
from tellegen.scenes.ink import LEAD
from tellegen.scenes.scene import Block, Dot, Label, Origin, Ring, Section, Shape, Sum, Tone, Weight, Wire
from tellegen.scenes.strokes import SUM_RADIUS

NodeSide = Literal["left", "right", "up", "down"]
STEP: dict[NodeSide, Point] = {"left": (-1, 0), "right": (1, 0), "up": (0, -1), "down": (0, 1)}
# The figure 0 at the start of a wire has as much air as the circle of a summation.
ZERO_RADIUS = SUM_RADIUS


@final
@dataclass(frozen=True, slots=True)
class WireNode:
    """Where wires meet on a line: a summation, a dot, a bare corner, a zero, an end, or a box."""

    x: float
    y: float
    kind: plans.NodeKind | Literal["box"]
    half: float = 0
    """Half the width of a box."""

    @property
    def takes_head(self) -> bool:
        """Whether a wire that comes here has an arrowhead."""
        return self.kind in ("sum", "box", "end")

    def edge(self, side: NodeSide) -> Point:
        """Where a wire touches it."""
        # Wires end at the edge of a circle or a box and go through dots and bends to their middle.
        radius = {"sum": SUM_RADIUS, "zero": ZERO_RADIUS, "box": self.half}.get(self.kind, 0)
        dx, dy = STEP[side]
        return self.x + dx * radius, self.y + dy * radius


@final
class PogPen:
    """Draws into a list of shapes, moved by the origin of the ladder that is drawn."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.shapes: list[Shape] = []
        self._wires: list[Wire] = []
        self._bends: set[Point] = set()

    def weight(self, weight: Weight) -> Weight:
        """Vectors are bold, or double where the options ask for it."""
        return self.options.vectors if weight == "bold" else weight

    def add(self, *shapes: Shape) -> None:
        """Draw shapes as they are."""
        self.shapes.extend(shapes)

    def wire(self, points: Iterable[Point], head: bool, weight: Weight, origin: Origin) -> None:
        """A piece of a wire in the direction of its signal."""
        # Blocks may stand so close that nothing is left between them: a wire of no length would still have an arrowhead.
        found = tuple(points)
        if found[0] != found[-1]:
            self._wires.append(Wire(found, head, self.weight(weight), origin=origin))

    def node(self, node: WireNode, spots: tuple[Point, ...], weight: Weight, origin: Origin) -> None:
        """The mark of a node, where it has one."""
        at = (node.x, node.y)
        match node.kind:
            case "sum":
                self.add(Sum(at, spots, origin=origin))
            case "dot":
                self.add(Dot(at, self.weight(weight), origin=replace(origin, part="dot")))
            case "zero":
                self.add(Label("0", at, size=14, origin=replace(origin, part="zero")))
            case "bend":
                self._bends.add(at)
            case "end" | "none" | "box":
                pass

    def box(self, block: Block, text: str, size: float) -> None:
        """A block and its text."""
        origin = replace(block.origin, part=f"{block.origin.part} text")
        self.add(block, Label(text, block.box.centre, size=size, tone=block.tone, origin=origin))

    def finished(self) -> list[Shape]:
        """All shapes, with wires joined at bare corners."""
        return [*self.shapes, *_joined(self._wires, self._bends)]


def _joined(wires: list[Wire], bends: set[Point]) -> list[Wire]:
    """Wires that meet in a bend as one."""
    # Columns draw their own pieces, each in the direction of its signal, so the end of one piece is the start of the next.
    after = {wire.points[0]: k for k, wire in enumerate(wires) if wire.points[0] in bends}
    found: list[Wire] = []
    # Pieces are joined from those that no other piece leads to.
    gone: set[int] = set(after.values())
    begun = [k for k in range(len(wires)) if k not in gone]
    # A ring of wires without a beginning is begun anywhere.
    for k in (*begun, *sorted(gone)):
        if k in gone and k not in after.values():
            continue
        wire = wires[k]
        if k in gone:
            gone.discard(k)
            after.pop(wire.points[0], None)
        while not wire.head and (next_ := after.pop(wire.points[-1], None)) is not None:
            second = wires[next_]
            # A wire that leads outside has a free end, whatever its first piece is.
            origin = second.origin if second.origin.part == LEAD else wire.origin
            points = straightened((*wire.points, *second.points[1:]))
            wire = Wire(points, second.head, wire.weight, origin=origin)
        found.append(wire)
    return found


TICK, TICK_HALF, TICK_NUMBER = 11.0, 5.0, 10.0
"""From a section to the slash through a wire, half its height, and from the wire to the middle of its number."""
LINK_RADIUS, LONG_LINK_RADIUS = 10.0, 14.0
"""Of the ring round one letter, and round several."""


def _draw_section(pen: PogPen, section: plans.SectionPlan, at: Point, lower: float) -> None:
    """A section at a place on the upper line, down to the lower line."""
    x, upper = at
    origin = Origin(part="section", port=section.name, domain=section.domain)
    pen.add(Section((x, upper - placement.SECTION_OVERHANG), (x, lower + placement.SECTION_OVERHANG), origin))
    named = Origin(part="variable", port=section.name, domain=section.domain)
    pen.add(
        Label(section.upper, (x, upper - placement.UPPER_LABEL), size=placement.TEXT, level="baseline", origin=named)
    )
    pen.add(
        Label(section.lower, (x, lower + placement.LOWER_LABEL), size=placement.TEXT, level="baseline", origin=named)
    )
    if pen.options.section_numbers:
        number = Origin(part="number", port=section.name)
        above = x, upper - placement.UPPER_LABEL - 22
        pen.add(Label(section.name, above, size=11, level="baseline", tone="quiet", origin=number))
    if pen.options.dimensions and section.size > 1:
        _tick(pen, section, (x, upper), -1)
        _tick(pen, section, (x, lower), 1)
    if pen.options.power_directions:
        _power_arrow(pen, section, x, lower)


def _tick(pen: PogPen, section: plans.SectionPlan, at: Point, outwards: int) -> None:
    """A slash through a wire beside its section, with the number of variables on the outer side."""
    x, y = at
    # Beside the section, since on it the slash would be taken for a part of the dashed line.
    slash = (x + TICK - TICK_HALF, y + TICK_HALF), (x + TICK + TICK_HALF, y - TICK_HALF)
    pen.add(Wire(slash, False, "hair", origin=Origin(part=LEAD, port=section.name, domain=section.domain)))
    origin = Origin(part="dimension", port=section.name, domain=section.domain)
    place = x + TICK + (TICK_HALF + 2 if outwards < 0 else 2), y + outwards * TICK_NUMBER
    pen.add(Label(str(section.size), place, size=11, align="left", origin=origin))


def _power_arrow(pen: PogPen, section: plans.SectionPlan, x: float, lower: float) -> None:
    """An arrow in the direction in which power counts as positive."""
    # It points where power counts as positive, which need not be where power flows.
    half = placement.ARROW_LENGTH / 2 if section.direction == "right" else -placement.ARROW_LENGTH / 2
    y = lower + placement.ARROW_BELOW
    origin = Origin(part=LEAD, port=section.name, domain=section.domain)
    pen.add(Wire(((x - half, y), (x + half, y)), True, "hair", "power", origin))
    label, size = Origin(part="power", port=section.name, domain=section.domain), placement.SMALL - 2
    pen.add(Label(latex_name(f"P_{section.name}"), (x, y + 14), size=size, tone="power", origin=label))


def _link_radius(letters: str) -> float:
    """The radius of the ring round the letters of a link."""
    return LINK_RADIUS if len(letters.rstrip("'")) == 1 else LONG_LINK_RADIUS


def _mark_link(pen: PogPen, section: plans.SectionPlan, at: Point) -> None:
    """The letters of a link in a ring."""
    origin = Origin(part="link", port=section.name)
    ring = Ring(at, _link_radius(section.link), origin=origin)
    pen.add(ring, Label(section.link, at, size=placement.NOTE, math=False, origin=origin))


def _draw_integral(pen: PogPen, plan: plans.IntegralPlan, node: WireNode) -> None:
    """The blocks to the right of a node, one after the other, and the name of what comes out."""
    start = node.edge("right")
    for box in plan.boxes:
        width, height = placement.box_size(box.text)
        left = start[0] + placement.LEAD
        frame = box_about((left + width / 2, node.y), width, height)
        pen.wire((start, (left, node.y)), True, plan.weight, Origin(part="wire"))
        pen.box(Block(frame, origin=Origin(part=box.part)), box.text, placement.text_size(box.text))
        start = (frame.right, node.y)
    end = start[0] + placement.LEAD
    pen.wire((start, (end, node.y)), True, plan.weight, Origin(part=LEAD))
    origin = Origin(part="displacements")
    pen.add(Label(plan.label, (end + 6, node.y), size=placement.SMALL, align="left", origin=origin))


Nodes = dict[plans.Line, WireNode]


@final
@dataclass(frozen=True, slots=True)
class _Elbow:
    """The wire that comes from the node of a branch column to a line of its side ladder."""

    node: WireNode
    side: Literal["up", "down"]


@final
class LadderDrawing:
    """Draws one ladder, and its side ladders through further drawings."""

    def __init__(self, pen: PogPen, ladder: PlacedLadder, space: LadderSpacing, at: Point) -> None:
        self.pen = pen
        self.ladder = ladder
        self.space = space
        self.x, self.upper = at
        self.lower = self.upper + ladder.height
        self.branches = {branch.column: branch for branch in ladder.branches}

    def y(self, line: plans.Line) -> float:
        """The y of a line."""
        return self.upper if line == "upper" else self.lower

    def draw(self, elbows: dict[plans.Line, _Elbow] | None = None) -> None:
        """Everything of the ladder; `elbows` lead to it from the ladder it belongs to."""
        columns = self.ladder.plan.columns
        nodes = [self._column(k, column) for k, column in enumerate(columns)]
        sections = self.ladder.plan.sections()
        for k, section in enumerate(sections):
            if section is None:
                continue
            at = self.x + self.ladder.borders[k]
            _draw_section(self.pen, section, (at, self.upper), self.lower)
            if section.link and (k == len(nodes) or (k == 0 and elbows is None)):
                # At the outer end of its two wires, between them: the letter stands for both.
                away = placement.LEAD + _link_radius(section.link) + 4
                _mark_link(self.pen, section, (at + away if k else at - away, (self.upper + self.lower) / 2))
            before = nodes[k - 1] if k else None
            after = nodes[k] if k < len(nodes) else None
            for line in plans.LINES:
                self._wire(section, line, at, before, after, elbows if k == 0 else None)

    # -- wires -----------------------------------------------------------------------------------------------------------------

    def _wire(
        self,
        section: plans.SectionPlan,
        line: plans.Line,
        at: float,
        before: Nodes | None,
        after: Nodes | None,
        elbows: dict[plans.Line, _Elbow] | None,
    ) -> None:
        """The wire through a section on one line, in the direction of its signal."""
        y = self.y(line)
        left: list[Point] = [(at - placement.LEAD, y)] if before is None else [before[line].edge("right")]
        right: Point = (at + placement.LEAD, y) if after is None else after[line].edge("left")
        left_head = before is None or before[line].takes_head
        if elbows is not None:
            elbow = elbows[line]
            left = [(elbow.node.x, y), elbow.node.edge(elbow.side)]
            left_head = elbow.node.takes_head
        right_head = after is None or after[line].takes_head
        # Where nothing is drawn at an end, the end is meant to be free: its part says so to the checks of figures.
        outside = (before is None and elbows is None) or after is None
        outside = outside or any(nodes is not None and nodes[line].kind == "end" for nodes in (before, after))
        origin = Origin(part=LEAD if outside else "wire", port=section.name, domain=section.domain)
        points = [*reversed(left), right]
        if section.goes_right(line):
            self.pen.wire(points, right_head, section.weight, origin)
        else:
            self.pen.wire(reversed(points), left_head, section.weight, origin)

    # -- columns ---------------------------------------------------------------------------------------------------------------

    def _column(self, k: int, column: plans.ColumnPlan) -> Nodes:
        middle = self.x + self.ladder.middle(k)
        match column.content:
            case plans.ConnectionPlan() as connection:
                return self._connection(connection, column, middle)
            case plans.BranchPlan() as branch:
                return self._branch(branch, self.branches[k], column, middle)
            case plans.ElementPlan() as element:
                nodes = self._nodes(column, {"upper": middle, "lower": middle}, {"upper": "down", "lower": "up"})
                self._element(element, nodes, middle)
                if column.integral is not None:
                    _draw_integral(self.pen, column.integral, nodes["lower"])
                return nodes
            case None:
                return self._nodes(column, {"upper": middle, "lower": middle}, {"upper": "down", "lower": "up"})

    def _nodes(self, column: plans.ColumnPlan, x: dict[plans.Line, float], side: dict[plans.Line, NodeSide]) -> Nodes:
        """The nodes of a column, drawn; `side` is where its vertical wire is."""
        found: Nodes = {}
        element = column.content.element if isinstance(column.content, plans.ElementPlan) else ""
        for line in plans.LINES:
            node = WireNode(x[line], self.y(line), column.node_kind(line))
            sides: dict[plans.End, NodeSide] = {"left": "left", "right": "right", "vertical": side[line]}
            # Sorted, since a set has no order and the shapes of a figure must come in one.
            spots = tuple(STEP[sides[end]] for at, end in sorted(column.minus) if at == line)
            origin = Origin(element, "sum", port=line, sign=-1 if spots else 1, domain=column.wire_domain)
            self.pen.node(node, spots, _weight(column), origin)
            found[line] = node
        return found

    # -- elaboration blocks ----------------------------------------------------------------------------------------------------

    def _element(self, element: plans.ElementPlan, nodes: Nodes, x: float) -> None:
        """The boxes of an elaboration block between the lines, with equal free gaps, and the wires between them."""
        sizes = [placement.box_size(box.text) for box in element.boxes]
        # All columns of a ladder have its height, so short stacks of boxes are spread out rather than pushed to one line.
        gap = (self.ladder.height - sum(h for _, h in sizes)) / (len(sizes) + 1)
        # The signal decides the order of the boxes: from the line that it leaves to the line that it comes to.
        down = element.way == "down"
        first, last = (nodes["upper"], nodes["lower"]) if down else (nodes["lower"], nodes["upper"])
        forth: NodeSide = "down" if down else "up"
        back: NodeSide = "up" if down else "down"
        origin = Origin(element.element, "wire", domain=element.domain)
        y, start = (first.y, first.edge(forth))
        for k, (box, (width, height)) in enumerate(zip(element.boxes, sizes, strict=True)):
            near = y + gap if down else y - gap
            far = near + height if down else near - height
            frame = Box(x - width / 2, min(near, far), x + width / 2, max(near, far))
            self.pen.wire((start, (x, near)), True, element.weight, origin)
            if k == 1 and element.energy:
                between, named = (x + 8, (y + near) / 2), Origin(element.element, "energy", domain=element.domain)
                self.pen.add(Label(element.energy, between, size=placement.SMALL, align="left", origin=named))
            self._box(element.element, box, frame, element.domain, element.tone)
            y, start = far, (x, far)
        if last.kind == "end":
            origin = replace(origin, part=LEAD)
        self.pen.wire((start, last.edge(back)), last.takes_head, element.weight, origin)

    def _box(self, element: str, box: plans.BoxPlan, frame: Box, domain: str, tone: Tone = "ink") -> None:
        origin = Origin(element, box.part, domain=domain)
        self.pen.box(Block(frame, tone=tone, origin=origin), box.text, placement.text_size(box.text))
        y = frame.centre[1]
        if box.side:
            start = frame.right + placement.SIDE_WIRE
            self.pen.wire(((start, y), (frame.right, y)), True, "bold", Origin(element, LEAD, domain=domain))
            label = Origin(element, "further inputs", domain=domain)
            self.pen.add(Label(box.side, (start + 4, y), size=placement.SMALL, align="left", origin=label))
        if box.value:
            label = Origin(element, "value", domain=domain)
            self.pen.add(Label(box.value, (frame.right + 5, y), size=placement.SMALL, align="left", origin=label))

    # -- connection blocks -----------------------------------------------------------------------------------------------------

    def _connection(self, connection: plans.ConnectionPlan, column: plans.ColumnPlan, x: float) -> Nodes:
        found: Nodes = {}
        for line in plans.LINES:
            box = connection.box(line)
            width, height = placement.box_size(box.text, connection=True)
            frame = box_about((x, self.y(line)), width, height)
            origin = Origin(connection.element, box.part, domain=column.wire_domain)
            self.pen.box(Block(frame, origin=origin), box.text, placement.text_size(box.text))
            if box.value:
                inwards = frame.bottom + 12 if line == "upper" else frame.top - 12
                label = Origin(connection.element, "value", domain=column.wire_domain)
                self.pen.add(Label(box.value, (x, inwards), size=placement.SMALL, origin=label))
            found[line] = WireNode(x, self.y(line), "box", width / 2)
        return found

    # -- branches --------------------------------------------------------------------------------------------------------------

    def _branch(self, branch: plans.BranchPlan, placed: PlacedBranch, column: plans.ColumnPlan, middle: float) -> Nodes:
        """A branch column: its two nodes, the section across its wires, and the side ladder."""
        side: Literal["up", "down"] = "up" if placed.above else "down"
        near: plans.Line = "lower" if placed.above else "upper"
        # The line of the side ladder that is nearer goes in by the right wire, so that the wires do not cross.
        x: dict[plans.Line, float] = {}
        for line in plans.LINES:
            right = branch.line_there(line) == near if branch.ladder.columns else column.node_kind(line) != "dot"
            x[line] = middle + (placement.PORT_HALF if right else -placement.PORT_HALF)
        # Two wires on one place would be one: where both want the same side the upper one gives way.
        if x["upper"] == x["lower"]:
            x["upper"] = 2 * middle - x["lower"]
        nodes = self._nodes(column, x, {"upper": side, "lower": side})
        self._branch_section(branch, placed, x)
        if branch.ladder.columns:
            elbows = {branch.line_there(line): _Elbow(nodes[line], side) for line in plans.LINES}
            at = self.x + placed.x, self.upper + placed.y
            LadderDrawing(self.pen, placed.ladder, self.space, at).draw(elbows)
        else:
            self._stubs(branch, placed, nodes, side)
        return nodes

    def _branch_section(self, branch: plans.BranchPlan, placed: PlacedBranch, x: dict[plans.Line, float]) -> None:
        section = branch.ladder.entry
        if section is None:
            return
        y = self.upper - self.space.raised_section if placed.above else self.lower + self.space.branch_section
        left, right = sorted(x.values())
        start, end = left - placement.BRANCH_OVERHANG, right + placement.BRANCH_OVERHANG
        origin = Origin(part="section", port=section.name, domain=section.domain)
        self.pen.add(Section((start, y), (end, y), origin))
        for line in plans.LINES:
            text = section.label(branch.line_there(line))
            at_left = x[line] == left
            label = Origin(part="variable", port=section.name, domain=section.domain)
            place = (start - 6, y) if at_left else (end + 6, y)
            self.pen.add(Label(text, place, size=placement.TEXT, align="right" if at_left else "left", origin=label))

    def _stubs(self, branch: plans.BranchPlan, placed: PlacedBranch, nodes: Nodes, side: Literal["up", "down"]) -> None:
        """The wires of a source at a branch."""
        section = branch.ladder.entry
        weight: Weight = "thin" if section is None else section.weight
        far = self.upper + placed.y + (0 if placed.above else placement.STUB)
        origin = Origin(part=LEAD, port="" if section is None else section.name)
        if section is not None and section.link:
            radius = _link_radius(section.link)
            middle = (nodes["upper"].x + nodes["lower"].x) / 2
            _mark_link(self.pen, section, (middle, far + (-radius - 4 if placed.above else radius + 4)))
        for line, node in nodes.items():
            points = [node.edge(side), (node.x, far)]
            if branch.comes_in[line]:
                self.pen.wire(reversed(points), node.takes_head, weight, origin)
            else:
                self.pen.wire(points, True, weight, origin)


def _weight(column: plans.ColumnPlan) -> Weight:
    if isinstance(column.content, plans.ElementPlan):
        return column.content.weight
    section = column.left or column.right
    return "thin" if section is None else section.weight
