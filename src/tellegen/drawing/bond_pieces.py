"""Bond graphs in pieces, for narrow columns: a bond between pieces is drawn at both ends, each with the name of the other end.

What is left are trees, whose rows can be as narrow as asked; pieces stand beside each other where there is room.
"""

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import final

from tellegen.drawing.bond_clusters import ceil_to_grid
from tellegen.drawing.bond_layout import PLAIN, ClosingEnds, Layout, Rows, Spacing
from tellegen.drawing.bond_plan import Link, Node, Plan
from tellegen.drawing.bond_rows import Row, skeleton_of
from tellegen.drawing.bond_texts import ItemText
from tellegen.drawing.naming import name_latex
from tellegen.drawing.options import POINT, READABLE, SCREEN, Options
from tellegen.drawing.scene import Label

SIZE = 0.6
"""At this size all texts of pieces can be read: so much wider than asked they may be."""
BESIDE, BELOW = 50.0, 60.0
"""Between pieces."""
AHEAD = 8
"""So many pieces are looked at for one that fits beside another."""


def is_too_small(layout: Layout, options: Options) -> bool:
    """Whether a figure for print could not be read at the width asked for. On a screen one looks closer, so it is left whole."""
    sizes = [shape.size for shape in layout.pen.shapes if isinstance(shape, Label)]
    zoom = options.room / max(layout.extent().width, options.room)
    return options.room < SCREEN and round(POINT * zoom * min(sizes, default=READABLE), 1) < READABLE


def in_pieces(plan: Plan, closing: Collection[Link], whole: Layout, options: Options) -> tuple[Plan, Layout]:
    """The narrowest of a whole figure and of its pieces, with the plan that it shows."""
    narrower = replace(options, max_width=options.room / SIZE)
    found = plan, whole
    for spacing in PLAIN:
        pieces = _Pieces(plan, closing, narrower, spacing)
        layout = pieces.packed()
        layout.cut = len(pieces.cut)
        layout.pen.settle()
        if layout.extent().width < whole.extent().width:
            found = pieces.plan, layout
        if not layout.pen.left_out:
            break
    return found


@final
class _Pieces:
    """Cuts bonds until the rows of each piece are narrow enough."""

    def __init__(self, plan: Plan, closing: Collection[Link], options: Options, spacing: Spacing) -> None:
        self.spacing = spacing
        # Nothing is won by rows that are narrower than the widest item.
        self.options = replace(options, max_width=max(options.room, _widest(plan, options, spacing)))
        self.cut = {id(link): link for link in closing}
        self.plan = cut_plan(plan, self.cut)
        self._known: dict[frozenset[str], Layout] = {}
        while link := self._next_cut():
            self.cut[id(link)] = link
            self.plan = cut_plan(plan, self.cut)

    def _next_cut(self) -> Link | None:
        """A bond within a piece that is too wide."""
        for row in skeleton_of(self.plan).trunks:
            if row.links or row.branches:
                layout = self._laid(row)
                if layout.extent().width > self.options.room:
                    return self._widest_branch(row) if row.branches else self._last_fitting(row)
        return None

    def _laid(self, row: Row) -> Layout:
        """The layout of a row, made once: its nodes and what hangs at them tell it from others."""
        nodes = [*_names(row)]
        names = frozenset((*nodes, *(link.other(name) for name in nodes for link in self.plan.leaves[name])))
        if names not in self._known:
            self._known[names] = Rows(self.plan, self.options, ClosingEnds(), self.spacing).laid(row)
        return self._known[names]

    def _widest_branch(self, row: Row) -> Link:
        branches = [pair for hung in row.branches.values() for pair in hung]
        return max(branches, key=lambda pair: self._laid(pair[1]).extent().width)[0]

    def _last_fitting(self, row: Row) -> Link:
        """The last bond of a row before which it is narrow enough."""
        for k in range(len(row.links) - 1, 0, -1):
            if self._laid(Row(row.nodes[: k + 1], row.links[:k])).extent().width <= self.options.room:
                return row.links[k]
        return row.links[0]

    def packed(self) -> Layout:
        """All pieces in rows, each beside the one before it where there is room."""
        waiting = [self._laid(row) for row in skeleton_of(self.plan).trunks]
        whole = Layout()
        top = 0.0
        while waiting:
            shelf = self._shelf(waiting)
            waiting = [layout for layout in waiting if all(layout is not other for other in shelf)]
            right = 0.0
            for layout in shelf:
                box = layout.extent()
                whole.absorb(layout, ceil_to_grid(right - box.left), ceil_to_grid(top - box.top))
                right += box.width + BESIDE
            top += max(layout.extent().height for layout in shelf) + BELOW
        return whole

    def _shelf(self, waiting: list[Layout]) -> list[Layout]:
        """The first piece, and those of the next few that fit beside it."""
        found, width = [waiting[0]], waiting[0].extent().width
        for layout in waiting[1:AHEAD]:
            wider = width + BESIDE + layout.extent().width
            if wider <= self.options.room:
                found.append(layout)
                width = wider
        return found


def _widest(plan: Plan, options: Options, spacing: Spacing) -> float:
    """The width of the widest item by itself, with what hangs at it."""
    apart = cut_plan(plan, {id(link) for link in plan.links if link.tail in plan.edges and link.head in plan.edges})
    rows = Rows(apart, options, ClosingEnds(), spacing)
    return max(rows.laid(Row([name], [])).extent().width for name in plan.edges)


def _names(row: Row) -> Iterator[str]:
    yield from row.nodes
    for hung in row.branches.values():
        for _, branch in hung:
            yield from _names(branch)


def cut_plan(plan: Plan, cut: Collection[int]) -> Plan:
    """A plan in which some links, by identity, are two: from each end to the name of the other."""
    nodes, links = dict(plan.nodes), []
    leaves = {name: list(own) for name, own in plan.leaves.items()}
    edges = {name: [link for link in own if id(link) not in cut] for name, own in plan.edges.items()}
    for link in plan.links:
        if id(link) not in cut:
            links.append(link)
            continue
        for own in (link.tail, link.head):
            other = _elsewhere(plan.nodes[link.other(own)], link, own)
            nodes[other.name] = other
            end = _ended(link, own, other.name)
            links.append(end)
            leaves[own].append(end)
    return Plan(nodes, tuple(links), _frozen(leaves), _frozen(edges))


def _elsewhere(node: Node, link: Link, own: str) -> Node:
    """What stands at the free end of a bond that is cut."""
    name = f"bond {link.number} at {own}" if link.number else f"joint of {link.tail} at {own}"
    return Node(name, "", "leaf", ItemText("", name_latex(node.element)), link.domain)


def _ended(link: Link, own: str, other: str) -> Link:
    """A link that ends at a name instead of at the node that has it."""
    tail, head = (own if name == own else other for name in (link.tail, link.head))
    return replace(link, tail=tail, head=head, stroke=tail if link.stroke == link.tail else head)


def _frozen(found: dict[str, list[Link]]) -> dict[str, tuple[Link, ...]]:
    return {name: tuple(own) for name, own in found.items()}
