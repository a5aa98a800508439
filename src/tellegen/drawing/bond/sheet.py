"""The bond graph of a mechanism as people read it: a word bond graph on top, and below it one piece for each body and joint."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from math import ceil
from typing import final

from tellegen.drawing.bond.layout import PLAIN, lay_out_bonds
from tellegen.drawing.bond.owners import Owners
from tellegen.drawing.bond.piece_texts import PieceTexts, words
from tellegen.drawing.bond.pieces import PieceDrawing
from tellegen.drawing.bond.plan import BondLink, BondNode, BondPlan, ItemText, skeleton_of
from tellegen.drawing.bond.scene import bonds_in_words, close_meshes
from tellegen.drawing.options import Options
from tellegen.scenes.geometry import Box, Point, union
from tellegen.scenes.ink import ink_box
from tellegen.scenes.scene import MARGIN, Bond, Label, Origin, Scene, Shape, label_box, moved, tidy
from tellegen.scenes.scene import Block as Frame
from tellegen.scenes.typesetting import set_math
from tellegen.schemes.bond_graph_scheme import BondGraphScheme

LEAST = 7.0
"""The least size of texts in print, in points."""
CAPTION, TEXT = 15.0, 15.0
"""Sizes of captions and of the texts under the figure."""
BESIDE, BELOW, BETWEEN, UNDER = 30.0, 34.0, 24.0, 14.0
"""Beside pieces and below them, between the blocks of one, and between a caption and what it names."""
GRAIN = 10.0
"""Pieces stand on a grid of this step."""
SHARES = (0.3, 0.4, 0.5, 0.65, 1.0)
"""How wide a piece of several blocks may be, as a share of the paper: what makes the whole lowest is taken."""
FLAT = 0.62
"""How much lower words stand under each other than items of a bond graph."""
COLUMN = 30.0
"""Between the columns of a table."""
READING = (
    "A name at the end of a bond: the bond goes on in the piece of that name, or at the junction of that velocity.",
)
KIND_WORDS = {"body": "body", "joint": "joint", "machine": "", "multiport": ""}


def sheet_scene(owners: Owners, options: Options, turned: Collection[str] = ()) -> Scene:
    """The figure of a mechanism in pieces."""
    scheme = owners.scheme
    title = f"Bond graph: {scheme.name}" if scheme.name else "Bond graph"
    about = bonds_in_words(scheme)
    texts = PieceTexts(scheme, owners, options, turned)
    room = _room(options)
    words_drawn = _word_graph(scheme, owners, options, room)
    drawings = [PieceDrawing(owners, piece, texts, options) for piece in owners.pieces]
    shapes: list[Shape] = []
    bottom = 0.0
    if words_drawn is not None:
        box = union(map(_extent, words_drawn))
        shapes += [moved(shape, -box.left, -box.top) for shape in words_drawn]
        bottom = box.height + BELOW
    packed = min((_packed(drawings, room, room * share) for share in SHARES), key=lambda found: found[1])
    shapes += [moved(shape, 0.0, bottom) for shape in packed[0]]
    bottom += packed[1] + BELOW
    shapes += _under(texts.table(), bottom, room)
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
    return min(options.room * 0.75 * TEXT / LEAST, 1040.0) - 2 * MARGIN


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
    named = (shape for shape in layout.pen.shapes if isinstance(shape, Label) and shape.origin.part == "word")
    boxes += [label_box(label).grown(5.0) for label in named]
    lowered: list[Shape] = [Frame(_lowered(box), origin=Origin(part="word")) for box in boxes]
    for shape in layout.pen.shapes:
        if isinstance(shape, Bond):
            points = [_end_lowered(point, boxes) for point in shape.points]
            lowered.append(replace(shape, points=tuple(points), stroke=""))
        elif isinstance(shape, Label):
            box = label_box(shape).centre
            # The numbers of components are read as any other text.
            large = replace(shape, size=max(shape.size, TEXT))
            lowered.append(moved(large, 0.0, FLAT * box[1] - box[1]))
    return lowered


def _lowered(box: Box) -> Box:
    middle = box.centre[1]
    return box.moved(0.0, FLAT * middle - middle)


def _end_lowered(point: Point, boxes: Iterable[Box]) -> Point:
    """A point of a bond; one at a box keeps its distance to it."""
    near = next((box for box in boxes if box.grown(10.0).contains(point)), None)
    if near is None:
        return point[0], FLAT * point[1]
    return point[0], point[1] + _lowered(near).top - near.top


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
        BondLink(0, f"word {tail}", f"word {head}", "", next(iter(found.values())), "", "", size=len(found))
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
            links.append(BondLink(0, *ends, "", item.domain, "", ""))
    return BondPlan.of(nodes, links)


# -- pieces ------------------------------------------------------------------------------------------------------------------------

Drawn = tuple[list[Shape], Box]
"""Shapes with the box round them."""


def _packed(drawings: Sequence[PieceDrawing], room: float, width: float) -> tuple[list[Shape], float]:
    """All pieces on paper of a width, each not wider than asked if it can be, and the height of all."""
    packing = Packing(room, BESIDE, BELOW)
    shapes: list[Shape] = []
    for drawing in drawings:
        drawn, box = _captioned(drawing, width)
        x, y = packing.place(box.width, box.height)
        shapes += [moved(shape, x - box.left, y - box.top) for shape in drawn]
    return shapes, packing.height


def _captioned(drawing: PieceDrawing, room: float) -> Drawn:
    """A piece with its caption over its blocks."""
    piece = drawing.piece
    boxes = drawing.extents()
    shapes = [
        moved(shape, x - box.left, y - box.top)
        for pen, box, (x, y) in zip(drawing.pens, boxes, _together(boxes, room), strict=True)
        for shape in pen.shapes
    ]
    told = KIND_WORDS[piece.kind]
    caption = piece.name.replace("_", " ") + (f" ({told})" if told else "")
    origin = Origin(part="caption", port=piece.name)
    at = 0.0, min(_extent(shape).top for shape in shapes) - UNDER
    label = Label(caption, at, CAPTION, "left", "baseline", math=False, slanted=True, tone="quiet", origin=origin)
    return [label, *shapes], union([label_box(label), *map(_extent, shapes)])


def _together(boxes: Sequence[Box], room: float) -> list[Point]:
    """Places for the blocks of a piece."""
    packing = Packing(max(room, *(box.width for box in boxes)), BESIDE, BETWEEN)
    return [packing.place(box.width, box.height) for box in boxes]


@final
class Packing:
    """Puts boxes where they find room, each as high as it can be, then as far left."""

    def __init__(self, room: float, beside: float, below: float) -> None:
        self.beside, self.below = beside, below
        self._columns = [0.0] * max(1, ceil((room + beside) / GRAIN))
        self.height = 0.0

    def place(self, width: float, height: float) -> Point:
        """The place of the next box: its upper left corner."""
        count = min(len(self._columns), ceil((width + self.beside) / GRAIN))
        y, k = min((max(self._columns[k : k + count]), k) for k in range(len(self._columns) - count + 1))
        self._columns[k : k + count] = [y + height + self.below] * count
        self.height = max(self.height, y + height)
        return k * GRAIN, y


def _under(table: Sequence[str], top: float, room: float) -> list[Shape]:
    """The named moduli in columns, then how the figure is read."""
    shapes: list[Shape] = []
    y = top + 8.0
    if table:
        sizes = [set_math(text, TEXT).box for text in table]
        columns = max(1, int((room + COLUMN) // (max(box.width for box in sizes) + COLUMN)))
        rows = -(-len(table) // columns)
        wide = max(box.width for box in sizes) + COLUMN
        heights = [max(sizes[k].height for k in range(r, len(table), rows)) + 10 for r in range(rows)]
        for k, text in enumerate(table):
            column, row = divmod(k, rows)
            at = column * wide, y + sum(heights[:row]) + heights[row] / 2
            shapes.append(Label(text, at, TEXT, "left", origin=Origin(part="legend", port=str(k))))
        y += sum(heights) + 10
    for line in READING:
        y += TEXT
        shapes.append(
            Label(line, (0.0, y), TEXT, "left", "baseline", math=False, slanted=True, tone="quiet", origin=Origin(part="note"))
        )
    return shapes
