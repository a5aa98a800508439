"""The bond graph of a mechanism as people read it: a word bond graph on top, and below it one piece for each body and joint."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import ceil, inf
from typing import final

from tellegen.drawing.bond.layout import PLAIN, lay_out_bonds
from tellegen.drawing.bond.owners import Owners
from tellegen.drawing.bond.piece_texts import PieceTexts, words
from tellegen.drawing.bond.pieces import PieceDrawing
from tellegen.drawing.bond.plan import BondLink, BondNode, BondPlan, ItemText, skeleton_of
from tellegen.drawing.bond.scene import bonds_in_words, close_meshes
from tellegen.drawing.memory import NAME_RISE
from tellegen.drawing.options import Options
from tellegen.scenes.geometry import Box, Point, union
from tellegen.scenes.ink import ink_box
from tellegen.scenes.scene import MARGIN, Bond, Label, Origin, Scene, Shape, label_box, moved, tidy
from tellegen.scenes.scene import Block as Frame
from tellegen.scenes.typesetting import set_math
from tellegen.schemes.bond_graph_scheme import BondGraphScheme

WIDEST = 1090.0
"""Of the paper, whatever is asked for."""
LEAST = 7.0
"""The least size of texts in print, in points."""
CAPTION, TEXT = 15.0, 15.0
"""Sizes of captions and of the texts under the figure."""
BESIDE, BELOW, BETWEEN, HEAD = 28.0, 30.0, 20.0, 34.0
"""Beside pieces and below them, between the blocks of one, and for a caption over what it names."""
GRAIN = 20.0
"""Pieces stand on a grid of this step."""
SHARES = (0.25, 0.33, 0.4, 0.5, 0.55, 0.6, 0.67, 0.75, 1.0)
"""How wide a piece of several blocks may be, as a share of the paper: what makes the whole lowest is taken."""
MOST_FITTED = 8
"""Of more pieces fewer ways are tried to fit them together; of twice as many all are as wide."""
FLAT = 0.62
"""How much lower words stand under each other than items of a bond graph."""
WORD = 11.7
"""Half the least height of the box of a word."""
CLEAR = 2.0
"""Between such a box and the ends of bonds over and under it."""
PAD = 12.0
"""Over and under what is no piece."""
COLUMN = 30.0
"""Between the columns of a table."""
READING = (
    "A name at the end of a bond: the bond goes on in the piece of that name, or at the junction of that velocity."
)
LETTERS = "A letter in brackets stands at both ends of one bond."
FIELDS = "The matrices of fields are in the equations of the model."
KIND_WORDS = {"body": "body", "joint": "joint", "machine": "", "multiport": "", "field": "field"}


def sheet_scene(owners: Owners, options: Options, turned: Collection[str] = ()) -> Scene:
    """The figure of a mechanism in pieces."""
    scheme = owners.scheme
    title = f"Bond graph: {scheme.name}" if scheme.name else "Bond graph"
    about = bonds_in_words(scheme)
    texts = PieceTexts(scheme, owners, options, turned)
    room = _room(options)
    top = _word_graph(scheme, owners, options, room)
    drawings = [PieceDrawing(owners, piece, texts, options) for piece in owners.pieces]
    fields = any(piece.kind == "field" for piece in owners.pieces)
    notes = [READING, *([LETTERS] if texts.lettered else []), *([FIELDS] if fields else [])]
    parts: list[PaperPart] = []
    if top is not None:
        box = union(map(_extent, top)).grown(0.0, PAD)
        parts.append(PaperPart({1.0: (box.width, box.height)}, lambda _: _at_corner(top, box)))
    parts += (_piece_part(drawing, room) for drawing in drawings)
    if table := texts.table():
        parts.append(_table_part(table, room))
    height, laid = _paper(parts, room, _page_room(options, room))
    shapes: list[Shape] = []
    for part, (x, y), share in laid:
        shapes += (moved(shape, x, y) for shape in part.drawn(share))
    shapes += _read_so(notes, height + PAD)
    whole = union(_extent(shape) for shape in shapes).grown(MARGIN)
    return tidy(
        Scene(
            title,
            about,
            Box(0, 0, whole.width, whole.height),
            tuple(moved(s, -whole.left, -whole.top) for s in shapes),
            "",
        )
    )


def _extent(shape: Shape) -> Box:
    return ink_box([shape])


def _room(options: Options) -> float:
    """How wide shelves may be so that the smallest text can be read in print."""
    # 0.75 points to a pixel; 96 pixels to an inch.
    return min(options.room * 0.75 * TEXT / LEAST, WIDEST) - 2 * MARGIN


def _page_room(options: Options, room: float) -> float:
    """How much of the paper a page shows; all of it where nobody asks for pages."""
    wide = room + 2 * MARGIN
    return inf if options.max_height is None else max(options.max_height / options.zoom(wide) - 2 * MARGIN, GRAIN)


# -- words -------------------------------------------------------------------------------------------------------------------------


def _word_graph(scheme: BondGraphScheme, owners: Owners, options: Options, room: float) -> list[Shape] | None:
    """Named boxes joined by vector bonds, laid out as a bond graph is, but lower."""
    plan = word_plan(scheme, owners)
    if len(plan.nodes) < 2:
        return None
    narrow = replace(options, max_width=room, variables=False, places={}, bond_numbers=False)
    skeleton = skeleton_of(plan)
    for share in (1.0, 0.85, 0.7, 0.55):
        layout = lay_out_bonds(plan, skeleton, replace(narrow, max_width=share * room), PLAIN[1])
        close_meshes(plan, layout, skeleton.closing, narrow)
        layout.pen.settle()
        if layout.extent().width <= room:
            break
    boxes = [shape.box for shape in layout.pen.shapes if isinstance(shape, Frame)]
    for label in layout.pen.shapes:
        if isinstance(label, Label) and label.origin.part == "word":
            ink, y = label_box(label), label.at[1] - NAME_RISE
            # All as high about their bonds, whatever letters are in them, so that level bonds stay level.
            high = max(WORD, ink.bottom + CLEAR - y, y - ink.top + CLEAR)
            boxes.append(Box(ink.left - 5.0, y - high, ink.right + 5.0, y + high))
    lowered: list[Shape] = [Frame(_lowered(box), origin=Origin(part="word")) for box in boxes]
    for shape in layout.pen.shapes:
        if isinstance(shape, Bond):
            points = [_end_lowered(point, boxes) for point in shape.points]
            lowered.append(replace(shape, points=tuple(points), stroke=""))
        elif isinstance(shape, Label) and shape.origin.part == "size":
            lowered.append(_number(shape, layout.pen.shapes, lowered[: len(boxes)]))
        elif isinstance(shape, Label):
            y = shape.at[1] - NAME_RISE
            lowered.append(moved(shape, 0.0, FLAT * y - y))
    return lowered


def _number(label: Label, shapes: Sequence[Shape], words: Sequence[Shape]) -> Label:
    """How many components a bond has, as large as any text, as far from the bond as it was, and on its other side if need be."""
    label = replace(label, size=max(label.size, TEXT))
    y = label_box(label).centre[1]
    level = _level_beside(label_box(label), shapes)
    near = moved(label, 0.0, FLAT * level - level)
    assert isinstance(near, Label), "a label that moves is a label"
    if any(isinstance(word, Frame) and word.box.grown(2.0).overlaps(label_box(near)) for word in words):
        return replace(near, at=(near.at[0], near.at[1] + 2 * (level - y)))
    return near


def _level_beside(box: Box, shapes: Iterable[Shape]) -> float:
    """How high the level bond is that a number stands over or under; its own height beside an upright one."""
    (x, y), reach = box.centre, box.height / 2 + 14.0
    levels = [
        tail[1]
        for shape in shapes
        if isinstance(shape, Bond)
        for tail, head in pairwise(shape.points)
        if tail[1] == head[1] and min(tail[0], head[0]) <= x <= max(tail[0], head[0])
    ]
    return min((level for level in levels if abs(level - y) < reach), key=lambda level: abs(level - y), default=y)


def _lowered(box: Box) -> Box:
    middle = box.centre[1]
    return box.moved(0.0, FLAT * middle - middle)


def _end_lowered(point: Point, boxes: Iterable[Box]) -> Point:
    """A point of a bond; one at a box stays there."""
    (x, y), near = point, next((box for box in boxes if box.grown(10.0).contains(point)), None)
    if near is None:
        return x, FLAT * y
    low = _lowered(near)
    if near.left <= x <= near.right:
        return x, low.top - CLEAR if y < near.centre[1] else low.bottom + CLEAR
    return x, y + low.top - near.top


def word_plan(scheme: BondGraphScheme, owners: Owners) -> BondPlan:
    """Pieces as named boxes, joined by vector bonds of as many components as variables pass between them."""
    nodes: dict[str, BondNode] = {}
    for piece in owners.pieces:
        nodes[f"word {piece.name}"] = BondNode(
            f"word {piece.name}", "", "multiport", ItemText("", words(piece.name), boxed=True), ""
        )
    passed: dict[tuple[str, str], dict[str, str]] = {}
    for bond in scheme.bonds:
        tail, head = owners.of[bond.tail], owners.of[bond.head]
        if tail != head:
            variable = next(
                (end for end in (bond.tail, bond.head) if scheme.kind_of(end) == "1"), f"bond {bond.number}"
            )
            pair = (tail, head) if (head, tail) not in passed else (head, tail)
            passed.setdefault(pair, {}).setdefault(variable, bond.domain)
    links = [
        BondLink(
            0,
            f"word {tail}",
            f"word {head}",
            stroke="",
            domain=next(iter(found.values())),
            effort="",
            flow="",
            size=len(found),
        )
        for (tail, head), found in passed.items()
    ]
    for item in scheme.sources():
        name = item.port.element
        if name in scheme.one_ports and "." not in name and f"word {name}" not in nodes:
            node = f"word source {name}"
            nodes[node] = BondNode(node, "", "leaf", ItemText("", words(name), boxed=True), item.domain)
            owner = f"word {owners.of[name]}"
            (bond,) = scheme.bonds_of(name)
            ends = (node, owner) if bond.tail == name else (owner, node)
            links.append(BondLink(0, *ends, stroke="", domain=item.domain, effort="", flow=""))
    return BondPlan.of(nodes, links)


# -- pieces ------------------------------------------------------------------------------------------------------------------------


@final
@dataclass(frozen=True)
class PaperPart:
    """Something that stands on paper: its sizes for shares of the width, and what draws it from its upper left corner."""

    sizes: Mapping[float, tuple[float, float]]
    drawn: Callable[[float], Iterable[Shape]]


Laid = tuple[float, list[tuple[PaperPart, Point, float]]]
"""How high the paper is, and each part with its upper left corner and its share of the width."""


def _paper(parts: Sequence[PaperPart], room: float, page: float) -> Laid:
    """All parts on paper of a width, as low as they can be; the last, which has no place of its own, fills a gap."""
    laid = _laid(parts, room, page)
    for k in range(1, len(parts) - 1 if len(parts) <= MOST_FITTED else 0):
        laid = min(laid, _laid([*parts[:k], parts[-1], *parts[k:-1]], room, page), key=lambda found: found[0])
    return laid


def _laid(parts: Sequence[PaperPart], room: float, page: float) -> Laid:
    """The same in a given order, each part as narrow or wide as suits."""

    def packed(shares: Sequence[float]) -> tuple[float, list[Point]]:
        packing = Packing(room, BESIDE, BELOW, page)
        corners = [packing.place(*part.sizes[share]) for part, share in zip(parts, shares, strict=True)]
        return packing.height, corners

    # From what is alike for all, one part after the other: all combinations would be too many.
    starts = [[share if share in part.sizes else max(part.sizes) for part in parts] for share in SHARES]
    starts.sort(key=lambda shares: packed(shares)[0])
    for best in starts[: 3 if len(parts) <= MOST_FITTED else 1]:
        for k, part in enumerate(parts if len(parts) <= 2 * MOST_FITTED else ()):
            # Many shares make the same of a piece of few blocks.
            distinct = {size: share for share, size in part.sizes.items()}
            tried = {share: packed([*best[:k], share, *best[k + 1 :]])[0] for share in distinct.values()}
            best[k] = min(tried, key=tried.__getitem__)
    best = min(starts, key=lambda shares: packed(shares)[0])
    height, corners = packed(best)
    return height, list(zip(parts, corners, best, strict=True))


def _piece_part(drawing: PieceDrawing, room: float) -> PaperPart:
    places = {share: _together(drawing.extents(), share * room) for share in SHARES}
    sizes: dict[float, tuple[float, float]] = {}
    for share, corners in places.items():
        box = union(box.moved(*at) for box, at in zip(_at_origin(drawing), corners, strict=True))
        sizes[share] = max(box.width, label_box(_caption(drawing)).width), box.height + HEAD
    return PaperPart(sizes, lambda share: _captioned(drawing, places[share]))


def _at_corner(shapes: Sequence[Shape], box: Box) -> Iterator[Shape]:
    return (moved(shape, -box.left, -box.top) for shape in shapes)


def _at_origin(drawing: PieceDrawing) -> list[Box]:
    return [Box(0.0, 0.0, box.width, box.height) for box in drawing.extents()]


def _caption(drawing: PieceDrawing) -> Label:
    piece = drawing.piece
    told = KIND_WORDS[piece.kind]
    text = piece.name.replace("_", " ") + (f" ({told})" if told else "")
    return replace(_told(text, (0.0, CAPTION)), origin=Origin(part="caption", port=piece.name))


def _captioned(drawing: PieceDrawing, places: Sequence[Point]) -> Iterator[Shape]:
    """A piece with its caption over its blocks."""
    yield _caption(drawing)
    for pen, box, (x, y) in zip(drawing.pens, drawing.extents(), places, strict=True):
        yield from (moved(shape, x - box.left, y + HEAD - box.top) for shape in pen.shapes)


def _together(boxes: Sequence[Box], room: float) -> list[Point]:
    """Places for the blocks of a piece."""
    packing = Packing(max(room, *(box.width for box in boxes)), BESIDE, BETWEEN)
    return [packing.place(box.width, box.height) for box in boxes]


@final
class Packing:
    """Puts boxes where they find room, each as high as it can be, then as far left; none over the edge between two pages."""

    def __init__(self, room: float, beside: float, below: float, page: float = inf) -> None:
        self.beside, self.below, self.page = beside, below, page
        self._columns = [0.0] * max(1, int((room + beside) // GRAIN))
        self.height = 0.0

    def place(self, width: float, height: float) -> Point:
        """The place of the next box: its upper left corner."""
        count = min(len(self._columns), ceil((width + self.beside) / GRAIN))
        y, k = min((max(self._columns[k : k + count]), k) for k in range(len(self._columns) - count + 1))
        if self.page < inf and y % self.page + height > self.page >= height:
            y = ceil(y / self.page) * self.page
        self._columns[k : k + count] = [y + height + self.below] * count
        self.height = max(self.height, y + height)
        return k * GRAIN, y


def _table_part(table: Sequence[str], room: float) -> PaperPart:
    """The named moduli, in columns."""
    sizes = [set_math(text, TEXT).box for text in table]
    wide = max(box.width for box in sizes) + COLUMN
    most = max(1, min(len(table), int((room + COLUMN) // wide)))

    def heights(columns: int) -> list[float]:
        rows = -(-len(table) // columns)
        return [max(sizes[k].height for k in range(r, len(table), rows)) + 10.0 for r in range(rows)]

    def drawn(share: float) -> Iterator[Shape]:
        columns = round(share * most)
        high = heights(columns)
        for k, text in enumerate(table):
            column, row = divmod(k, len(high))
            at = column * wide, PAD + sum(high[:row]) + high[row] / 2
            yield Label(text, at, TEXT, "left", origin=Origin(part="legend", port=str(k)))

    shapes = {count / most: (count * wide - COLUMN, sum(heights(count)) + 2 * PAD) for count in range(most, 0, -1)}
    return PaperPart(shapes, drawn)


def _read_so(notes: Iterable[str], top: float) -> Iterator[Shape]:
    """How the figure is read."""
    return (_told(line, (0.0, top + 1.3 * k * TEXT)) for k, line in enumerate(notes, 1))


def _told(text: str, at: Point) -> Label:
    """Words beside the pieces, from a point on their baseline."""
    label = Label(text, at, CAPTION, math=False, slanted=True, tone="quiet", origin=Origin(part="note"))
    return replace(label, align="left", level="baseline")
