"""Rows of clusters side by side, branches under and over them, pushed away until nothing touches.

Where a figure for print could not be read so, bonds are cut: what is left are trees, whose rows can be as narrow as asked.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import floor, inf
from typing import Literal, final

from tellegen.drawing.bond.clusters import ONE_PORT, PITCH, Cluster, Side, clipped, cluster_of, is_wide, level_length
from tellegen.drawing.bond.pen import BondPen, upright_room
from tellegen.drawing.bond.plan import BondLink, BondNode, BondPlan, BondRow, ItemText, Skeleton, skeleton_of
from tellegen.drawing.options import Options
from tellegen.scenes.geometry import Box, Point, ceil_to, shifted, union
from tellegen.scenes.lettering import name_latex

Direction = Literal[1, -1]

COLUMN = 10.0
"""Heights are kept by columns of this width."""
CORRIDOR = 20.0
"""Between the labels of upright bonds between rows, and what stands beside them."""
UPRIGHT, TALLEST = 10.0, 220.0
"""Half the width of an upright bond among clusters, and how far up and down clusters reach at most."""
# Parts of a model that nothing joins: farther apart than rows, so that nobody looks for a bond between them.
BETWEEN_PARTS = 110.0


@final
@dataclass(frozen=True, slots=True)
class Spacing:
    """Free space beside and between clusters: more where bonds that close meshes must pass."""

    neighbours: float
    rows: float


# A tree has no lines between its rows. Where bonds close meshes several lines must pass there, each a grid step (10) and a label
# wide; narrow spacing is tried first, since a wide figure is drawn smaller.
PLAIN = Spacing(14.0, 20.0), Spacing(30.0, 40.0)
MESHED = Spacing(44.0, 60.0), Spacing(70.0, 100.0), Spacing(110.0, 150.0)
"""Tried one after the other, until every label finds a place."""


class BondLayout:
    """What is drawn so far, with the place of each node."""

    def __init__(self) -> None:
        self.pen = BondPen()
        self.at: dict[str, Point] = {}
        self.gaps: dict[str, Box] = {}
        self.ports: dict[tuple[str, int], Point] = {}
        """Where a bond ends at a wide node, by the name of the node and the identity of the link, about its centre."""
        self.closing: dict[str, list[Side]] = {}
        self.routes: dict[int, tuple[Point, ...]] = {}
        """The lines of bonds round others, by the identity of the link."""
        self.cut = 0
        """How many bonds are drawn at both ends only."""
        self.top: dict[int, float] = {}
        self.bottom: dict[int, float] = {}
        self._seen = 0

    def place(self, name: str, cluster: Cluster, x: float) -> None:
        """Put a cluster on the row."""
        self.at[name] = (x, 0.0)
        self.gaps[name] = cluster.gap
        self.ports |= {(name, key): point for key, point in cluster.ports.items()}
        self.pen.absorb(cluster.pen, x, 0)
        self._note_heights()

    def absorb(self, other: "BondLayout", dx: float, dy: float) -> None:
        """Put another layout elsewhere."""
        self.pen.absorb(other.pen, dx, dy)
        self.at |= {name: (x + dx, y + dy) for name, (x, y) in other.at.items()}
        self.gaps |= other.gaps
        self.ports |= other.ports
        self.routes |= {key: shifted(points, dx, dy) for key, points in other.routes.items()}
        self._note_heights()

    def join(self, link: BondLink, options: Options) -> None:
        """Draw a straight bond between two nodes."""
        ends = [self.end(name, link) for name in (link.tail, link.head)]
        points = clipped(ends[0][0], ends[1][0], ends[0][1], ends[1][1])
        self.pen.bond(link, points, options)
        self._note_heights()

    def end(self, name: str, link: BondLink) -> tuple[Point, Box]:
        """The point that a bond aims at, and the box at which it stops."""
        (x, y), gap = self.at[name], self.gaps[name]
        dx, _ = self.ports.get((name, id(link)), (0.0, 0.0))
        return (x + dx, y), gap.moved(x, y)

    def _note_heights(self) -> None:
        """Remember how far up and down ink reaches in each column."""
        # A contour instead of all boxes: to hang a branch then takes as long as the branch is wide, however much stands there.
        found = self.pen.boxes(self._seen)
        for box in found:
            for column in range(floor(box.left / COLUMN), floor(box.right / COLUMN) + 1):
                self.top[column] = min(self.top.get(column, inf), box.top)
                self.bottom[column] = max(self.bottom.get(column, -inf), box.bottom)
        self._seen += len(found)

    def extent(self) -> Box:
        """The box round all ink."""
        return union(self.pen.boxes())


def lay_out_bonds(
    plan: BondPlan,
    skeleton: Skeleton,
    options: Options,
    spacing: Spacing,
    raised: Mapping[str, Sequence[int]] | None = None,
) -> BondLayout:
    """Places for everything but the bonds that close meshes. Parts without a connection stand under each other.

    `raised` are those of these bonds, by the identity of their links, that come to a wide node from above.
    """
    ends = ClosingEnds(skeleton.closing, raised)
    rows = RowLayout(plan, options, ends, spacing)
    whole = BondLayout()
    for trunk in skeleton.trunks:
        part = rows.laid(trunk)
        if not whole.at:
            whole = part  # the first part keeps its coordinates, in which its first node is the origin
            continue
        above, below = whole.extent(), part.extent()
        drop = ceil_to(above.bottom + BETWEEN_PARTS - below.top)
        whole.absorb(part, ceil_to(above.left - below.left), drop)
    whole.closing = ends.sides
    return whole


class ClosingEnds:
    """The bonds that close meshes at each node, and the sides that they are given in this order."""

    def __init__(self, links: Iterable[BondLink] = (), raised: Mapping[str, Sequence[int]] | None = None) -> None:
        self.raised = raised or {}
        self.links: dict[str, list[BondLink]] = {}
        self.sides: dict[str, list[Side]] = {}
        for link in links:
            for name in (link.tail, link.head):
                self.links.setdefault(name, []).append(link)


@final
@dataclass
class _Hanging:
    """A branch at a node."""

    side: Side
    link: BondLink
    layout: BondLayout


@final
@dataclass(frozen=True)
class _Parent:
    """The bond to the node that a row hangs at, and the side on which it comes."""

    side: Side
    link: BondLink


@final
@dataclass
class _Draft:
    """A row before it is drawn: what hangs at its nodes, their clusters, and how far along they stand.

    `onward` is the side on which its last node leads to the row that goes on.
    """

    row: BondRow
    way: Direction
    parent: "_Parent | None"
    onward: Side | None = None
    hanging: dict[str, list[_Hanging]] = field(default_factory=dict)
    clusters: dict[str, Cluster] = field(default_factory=dict)
    xs: dict[str, float] = field(default_factory=dict)


class RowLayout:
    """Lays out rows and all that hangs at them."""

    def __init__(self, plan: BondPlan, options: Options, ends: ClosingEnds, spacing: Spacing) -> None:
        self.plan, self.options, self.ends, self.spacing = plan, options, ends, spacing

    def laid(self, row: BondRow, way: Direction = 1, parent: _Parent | None = None) -> BondLayout:
        """The layout of a row; where it is too long, it goes on below in the other direction, to and fro.

        What hangs over its parent goes on above. Branches of meshes stay in one row: the bonds that close the meshes would have to
        cross the new ones.
        """
        if parent is not None and self.ends.links:
            return self._drawn(self._draft(row, way, parent))
        # A draft of a whole row of thousands of nodes costs as much as the figure; only so many as may fit are looked at first.
        most = max(3, int(self.options.room // PITCH) + 2)
        made, joint = BondLayout(), None
        # Away from the parent: rows that go on towards it would come back to where they began.
        onward: Side = "S" if parent is None or parent.side == "N" else "N"
        while True:
            head = BondRow(row.nodes[:most], row.links[: most - 1], row.branches)
            draft = self._draft(head, way, parent)
            cut = self._cut(draft, row)
            if not cut:
                most *= 2
                continue
            rest = BondRow(row.nodes[cut:], row.links[cut:], row.branches)
            if rest.nodes:
                head = BondRow(row.nodes[:cut], row.links[: cut - 1], row.branches)
                draft = self._draft(head, way, parent, onward)
            part = self._drawn(draft)
            if joint is None:
                made = part
            else:
                self._hang(made, joint.other(head.nodes[0]), _Hanging(onward, joint, part))
            if not rest.nodes:
                return made
            # To and fro like an ox that ploughs: the bond between two rows is then short and upright.
            joint, row, way = row.links[cut - 1], rest, -1 if way > 0 else 1
            parent = _Parent("N" if onward == "S" else "S", joint)

    def _draft(self, row: BondRow, way: Direction, parent: _Parent | None, onward: Side | None = None) -> _Draft:
        draft = _Draft(row, way, parent, onward)
        back: Side = "W" if way > 0 else "E"
        forward: Side = "E" if way > 0 else "W"
        for k, name in enumerate(row.nodes):
            last = k + 1 == len(row.nodes)
            used: list[Side] = [back] if k else [parent.side] if parent else []
            used += [forward] if not last else [onward] if onward else []
            used += self._hang_branches(draft, name, used)
            # Bonds that close meshes get what is left: they can go round others, branches cannot.
            closing = self._close(name, used, (forward, back))
            used += closing
            ports = self._ports(draft, name)
            avoided: tuple[Side, ...] = (back,) if k == 0 and parent else ()
            draft.clusters[name] = cluster_of(
                self.plan,
                name,
                used,
                self.options,
                against=way < 0,
                avoided=avoided,
                closing=tuple(closing),
                ports=ports,
                raised=self.ends.raised.get(name, ()),
            )
        self._pack(draft)
        if onward:
            self._clear_last(draft, onward)
        return draft

    def _hang_branches(self, draft: _Draft, name: str, used: list[Side]) -> list[Side]:
        """Give each branch of a node a side and lay it out."""
        given: list[Side] = []
        for link, branch in draft.row.branches.get(name, ()):
            # Not above and below in turn: one branch more would turn all that follow it over.
            side: Side = "S" if is_wide(self.plan, name) else self._free(name, [*used, *given], ("S", "N"))
            made = self.laid(branch, draft.way, _Parent("N" if side == "S" else "S", link))
            draft.hanging.setdefault(name, []).append(_Hanging(side, link, made))
            given.append(side)
        return given

    def _close(self, name: str, used: list[Side], level: tuple[Side, Side]) -> list[Side]:
        """Sides for the bonds that close meshes."""
        given: list[Side] = []
        wide = is_wide(self.plan, name)
        for link in self.ends.links.get(name, ()):
            if wide:
                given.append("N" if id(link) in self.ends.raised.get(name, ()) else "S")
            else:
                given.append(self._free(name, [*used, *given], ("S", *level, "N")))
        if name in self.ends.links:
            self.ends.sides[name] = list(given)
        return given

    def _free(self, name: str, used: list[Side], wanted: tuple[Side, ...]) -> Side:
        """A side that is not used yet, where elements will miss it least."""
        # Storages are drawn above their junction and resistive elements below, so a bond there drives them to other places.
        letters = [self.plan.nodes[link.other(name)].text.letters for link in self.plan.leaves[name]]
        missed = {"N": sum(word in ("I", "C") for word in letters), "S": sum(word.endswith("R") for word in letters)}
        free = [side for side in wanted if side not in used]
        # A modulus leaves its place above only where no other side is left.
        best = [side for side in free if side != "N" or not self.plan.nodes[name].text.modulus] or free
        assert best, "the plan leaves a side for every bond between nodes"
        return min(best, key=lambda side: missed.get(side, 0))

    def _ports(self, draft: _Draft, name: str) -> list[tuple[BondLink, float, float]]:
        """Bonds under a wide node, each with the space that it needs to its left and right."""
        if not is_wide(self.plan, name):
            return []
        ports: list[tuple[BondLink, float, float]] = []
        parent = draft.parent
        if parent is not None and parent.side == "S" and name == draft.row.nodes[0]:
            ports.append((parent.link, *self._room(parent.link, draft.way)))
        for item in draft.hanging.get(name, ()):
            left, right = self._room(item.link, draft.way)
            # The whole branch hangs at this port, so all of it has to fit behind the port before it.
            left = max(left, -_forward(item.layout.extent(), draft.way).left)
            ports.append((item.link, left + CORRIDOR, right))
        return ports + [(link, 20.0, 20.0) for link in self.ends.links.get(name, ())]

    def _pack(self, draft: _Draft) -> None:
        """How far along the row each node stands."""
        row, way = draft.row, draft.way
        reach = _Reach(self.spacing.neighbours)
        # Where the last upright bond on either side is: what hangs later keeps clear of it.
        last: dict[Side, float] = {}
        if draft.parent is not None:
            last[draft.parent.side] = self._room(draft.parent.link, way)[1]
        for k, name in enumerate(row.nodes):
            cluster, x = draft.clusters[name], 0.0
            if k:
                before, link = row.nodes[k - 1], row.links[k - 1]
                gaps = _forward(draft.clusters[before].gap, way).right - _forward(cluster.gap, way).left
                x = draft.xs[before] + max(PITCH, gaps + level_length(link, self.options))
                x = max(x, reach.room(self._solid(draft, name)))
            hanging = draft.hanging.get(name, ())
            # Only the upright bond itself is kept clear of here; a branch that is wider goes further down when it is hung.
            for item in hanging if k else ():
                if item.side in last:
                    left = max(self._room(item.link, way)[0], -_forward(item.layout.extent(), way).left)
                    x = max(x, last[item.side] + left - self._offset(draft, name, item.link) + CORRIDOR)
            draft.xs[name] = x = ceil_to(x)
            for item in hanging:
                right = x + self._offset(draft, name, item.link) + self._room(item.link, way)[1]
                last[item.side] = max(last.get(item.side, -inf), right)
            reach.add([box.moved(x, 0) for box in self._solid(draft, name)])

    def _solid(self, draft: _Draft, name: str) -> list[Box]:
        """What a node brings to its row, seen along it: its cluster, and the upright bonds to other rows."""
        boxes = [_forward(box, draft.way) for box in draft.clusters[name].pen.boxes()]
        bonds: list[tuple[Side, BondLink]] = [(item.side, item.link) for item in draft.hanging.get(name, ())]
        if draft.parent is not None and name == draft.row.nodes[0]:
            bonds.append((draft.parent.side, draft.parent.link))
        uprights = [(side, self._offset(draft, name, link)) for side, link in bonds]
        if draft.onward and name == draft.row.nodes[-1]:
            uprights.append((draft.onward, 0.0))
        for side, x in uprights:
            top, bottom = (0.0, TALLEST) if side == "S" else (-TALLEST, 0.0)
            boxes.append(Box(x - UPRIGHT, top, x + UPRIGHT, bottom))
        return boxes

    def _room(self, link: BondLink, way: Direction) -> tuple[float, float]:
        """What an upright bond needs behind and before it, along the row."""
        left, right = upright_room(link, self.options)
        return (left, right) if way > 0 else (right, left)

    def _offset(self, draft: _Draft, name: str, link: BondLink) -> float:
        """How far along the row a bond hangs from the centre of its node."""
        return draft.way * draft.clusters[name].ports.get(id(link), (0.0, 0.0))[0]

    def _clear_last(self, draft: _Draft, onward: Side) -> None:
        """Move the last node of a row that goes on below or above out of the way of the branches before it."""
        last = draft.row.nodes[-1]
        for name, hanging in draft.hanging.items():
            for item in hanging:
                right = _forward(item.layout.extent(), draft.way).right + self._offset(draft, name, item.link)
                # The bond to the next row goes straight down behind all branches that hang on that side.
                if item.side == onward and name != last:
                    draft.xs[last] = ceil_to(max(draft.xs[last], draft.xs[name] + right + 3 * CORRIDOR))

    def _cut(self, draft: _Draft, row: BondRow) -> int:
        """How many nodes of a row stay beside each other; 0 where more of them must be looked at."""
        nodes, width = draft.row.nodes, self.options.room
        rights = [
            draft.xs[name] + max(_forward(box, draft.way).right for box in draft.clusters[name].pen.boxes())
            for name in nodes
        ]
        # Only clusters count: branches hang lower, and where they are wider they are cut by themselves.
        left = min(_forward(box, draft.way).left for box in draft.clusters[nodes[0]].pen.boxes())
        whole = len(nodes) == len(row.nodes)
        if whole and max(rights) - left <= width:
            return len(nodes)
        # The node behind the cut has a bond to the row above: it needs a side for that too.
        able = [k + 1 for k in range(1, len(nodes)) if k + 1 < len(row.nodes) and self._can_end(row, k)]
        fitting = [count for count in able if max(rights[:count]) - left <= width]
        return fitting[-1] if fitting else able[0] if able else len(nodes) if whole else 0

    def _can_end(self, row: BondRow, k: int) -> bool:
        """Whether a row may go on below a node: the sides of this node and of the next are enough for their other bonds."""
        name, after = row.nodes[k], row.nodes[k + 1]
        return not is_wide(self.plan, name) and self._has_room(row, name) and self._has_room(row, after)

    def _has_room(self, row: BondRow, name: str) -> bool:
        """Whether two sides are enough for what else hangs at a node, one of them for a branch; a modulus needs a side too."""
        if is_wide(self.plan, name):
            return True
        branches, closing = len(row.branches.get(name, ())), len(self.ends.links.get(name, ()))
        # Two sides are taken by the row, so two are left; a modulus takes the place above.
        return branches + closing <= (1 if self.plan.nodes[name].text.modulus else 2) and branches <= 1

    def _drawn(self, draft: _Draft) -> BondLayout:
        made = BondLayout()
        for name in draft.row.nodes:
            made.place(name, draft.clusters[name], draft.way * draft.xs[name])
        for link in draft.row.links:
            made.join(link, self.options)
        # The last first: each branch is pushed below those that stand, so the upright bonds of branches further back, which hang
        # later and lower, pass beside them and cross none.
        for name in reversed(draft.row.nodes):
            hanging = draft.hanging.get(name, [])
            for item in sorted(hanging, key=lambda item: -self._offset(draft, name, item.link)):
                self._hang(made, name, item)
        return made

    def _hang(self, made: BondLayout, name: str, item: _Hanging) -> None:
        """Put a branch under or over a node, as near as nothing touches."""
        x, y = made.at[name]
        x += made.ports.get((name, id(item.link)), (0.0, 0.0))[0]
        x -= item.layout.ports.get((item.link.other(name), id(item.link)), (0.0, 0.0))[0]
        # Contours of branch and row can only be compared column by column where both have the same columns.
        shift = round(x / COLUMN)
        assert shift * COLUMN == x, "nodes stand on the grid, so that columns of a branch are columns of the row"
        drop = ONE_PORT  # as far as an element hangs, where nothing is in the way
        if item.side == "S":
            for column, top in item.layout.top.items():
                drop = max(drop, made.bottom.get(column + shift, -inf) - y + self.spacing.rows - top)
            made.absorb(item.layout, x, y + ceil_to(drop))
        else:
            for column, bottom in item.layout.bottom.items():
                drop = max(drop, bottom + self.spacing.rows - (made.top.get(column + shift, inf) - y))
            made.absorb(item.layout, x, y - ceil_to(drop))
        made.join(item.link, self.options)


def _forward(box: Box, way: Direction) -> Box:
    """A box as seen along the row."""
    return box if way > 0 else Box(-box.right, box.top, -box.left, box.bottom)


class _Reach:
    """How far ink reaches along a row, by height."""

    def __init__(self, space: float) -> None:
        self.space = space
        self.right: dict[int, float] = {}

    def add(self, boxes: list[Box]) -> None:
        """Remember boxes."""
        for box in boxes:
            for level in _levels(box):
                self.right[level] = max(self.right.get(level, -inf), box.right)

    def room(self, boxes: list[Box]) -> float:
        """How far a cluster must be moved so that it touches nothing."""
        beside = ((self.right[level], box) for box in boxes for level in _levels(box) if level in self.right)
        return max((right + self.space - box.left for right, box in beside), default=0.0)


def _levels(box: Box) -> range:
    return range(floor(box.top / COLUMN), floor(box.bottom / COLUMN) + 1)


# -- in pieces ---------------------------------------------------------------------------------------------------------------------

SIZE = 0.6
"""At this size all texts of pieces can be read: so much wider than asked they may be."""
BESIDE, BELOW = 50.0, 60.0
"""Between pieces."""
AHEAD = 8
"""So many pieces are looked at for one that fits beside another."""


def lay_out_in_pieces(
    plan: BondPlan, closing: Collection[BondLink], whole: BondLayout, options: Options
) -> tuple[BondPlan, BondLayout]:
    """The narrowest of a whole figure and of its pieces, with the plan that it shows."""
    narrower = replace(options, max_width=options.room / SIZE)
    # Cut bonds cost the reader something, so the pieces are taken only where they are narrower than the whole.
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

    def __init__(self, plan: BondPlan, closing: Collection[BondLink], options: Options, spacing: Spacing) -> None:
        self.spacing = spacing
        # Nothing is won by rows that are narrower than the widest item.
        joints = {id(link) for link in plan.links if link.tail in plan.edges and link.head in plan.edges}
        alone = RowLayout(_cut_plan(plan, joints), options, ClosingEnds(), spacing)
        widest = max(alone.laid(BondRow([name], [])).extent().width for name in plan.edges)
        self.options = replace(options, max_width=max(options.room, widest))
        # Bonds that close meshes are cut from the start: the rows that are left are trees, and nothing has to go round them.
        self.cut = {id(link): link for link in closing}
        self.plan = _cut_plan(plan, self.cut)
        self._known: dict[frozenset[str], BondLayout] = {}
        while link := self._next_cut():
            self.cut[id(link)] = link
            self.plan = _cut_plan(plan, self.cut)

    def _next_cut(self) -> BondLink | None:
        """A bond within a piece that is too wide."""
        for row in skeleton_of(self.plan).trunks:
            if row.links or row.branches:
                layout = self._laid(row)
                if layout.extent().width > self.options.room:
                    # Branches first: a row that loses one keeps its order, a row that is cut loses its thread.
                    branches = [pair for hung in row.branches.values() for pair in hung]
                    widest = max(branches, key=lambda pair: self._laid(pair[1]).extent().width, default=None)
                    return widest[0] if widest else self._last_fitting(row)
        return None

    def _laid(self, row: BondRow) -> BondLayout:
        """The layout of a row, made once: its nodes and what hangs at them tell it from others."""
        nodes = [*_names(row)]
        names = frozenset((*nodes, *(link.other(name) for name in nodes for link in self.plan.leaves[name])))
        if names not in self._known:
            self._known[names] = RowLayout(self.plan, self.options, ClosingEnds(), self.spacing).laid(row)
        return self._known[names]

    def _last_fitting(self, row: BondRow) -> BondLink:
        """The last bond of a row before which it is narrow enough."""
        for k in range(len(row.links) - 1, 0, -1):
            if self._laid(BondRow(row.nodes[: k + 1], row.links[:k])).extent().width <= self.options.room:
                return row.links[k]
        return row.links[0]

    def packed(self) -> BondLayout:
        """All pieces in rows, each beside the one before it where there is room."""
        # On shelves, in the order of description within a few pieces: the best packing would scatter what belongs together.
        waiting = [self._laid(row) for row in skeleton_of(self.plan).trunks]
        whole = BondLayout()
        top = 0.0
        while waiting:
            shelf = self._shelf(waiting)
            waiting = [layout for layout in waiting if all(layout is not other for other in shelf)]
            right = 0.0
            for layout in shelf:
                box = layout.extent()
                whole.absorb(layout, ceil_to(right - box.left), ceil_to(top - box.top))
                right += box.width + BESIDE
            top += max(layout.extent().height for layout in shelf) + BELOW
        return whole

    def _shelf(self, waiting: list[BondLayout]) -> list[BondLayout]:
        """The first piece, and those of the next few that fit beside it."""
        found, width = [waiting[0]], waiting[0].extent().width
        for layout in waiting[1:AHEAD]:
            wider = width + BESIDE + layout.extent().width
            if wider <= self.options.room:
                found.append(layout)
                width = wider
        return found


def _names(row: BondRow) -> Iterator[str]:
    yield from row.nodes
    for hung in row.branches.values():
        for _, branch in hung:
            yield from _names(branch)


def _cut_plan(plan: BondPlan, cut: Collection[int]) -> BondPlan:
    """A plan in which some links, by identity, are two: from each end to the name of the other."""
    nodes, links, ends = dict(plan.nodes), list[BondLink](), list[BondLink]()
    for link in plan.links:
        if id(link) not in cut:
            links.append(link)
            continue
        for own in (link.tail, link.head):
            name = f"bond {link.number} at {own}" if link.number else f"joint of {link.tail} at {own}"
            text = ItemText("", name_latex(plan.nodes[link.other(own)].element))
            nodes[name] = BondNode(name, "", "leaf", text, link.domain)
            tail, head = (end if end == own else name for end in (link.tail, link.head))
            ends.append(replace(link, tail=tail, head=head, stroke=tail if link.stroke == link.tail else head))
    # What leads elsewhere comes behind what hangs at a node itself.
    return BondPlan.of(nodes, [*links, *ends])
