"""The bond graph of a mechanism as people read it: a word bond graph on top, and below it one piece for each body and joint."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import final

from tellegen.drawing.bond.layout import PLAIN, BondLayout, lay_out_bonds
from tellegen.drawing.bond.owners import Owners, Piece
from tellegen.drawing.bond.pen import BondPen
from tellegen.drawing.bond.piece_texts import PieceTexts, words
from tellegen.drawing.bond.pieces import Block, PieceDrawing
from tellegen.drawing.bond.plan import BondLink, BondNode, BondPlan, ItemText, skeleton_of
from tellegen.drawing.bond.routes import Router
from tellegen.drawing.bond.scene import bonds_in_words
from tellegen.drawing.bond.clusters import side_point
from tellegen.drawing.options import Options
from tellegen.scenes.geometry import Box, Point, union
from tellegen.scenes.scene import MARGIN, Label, Origin, Scene, Shape, label_box, moved, tidy
from tellegen.scenes.scene import Block as Frame
from tellegen.scenes.typesetting import set_math
from tellegen.schemes.bond_graph_scheme import BondGraphScheme

LEAST = 7.0
"""The least size of texts in print, in points."""
CAPTION, TEXT = 15.0, 15.0
"""Sizes of captions and of the texts under the figure."""
BESIDE, BELOW, UNDER = 34.0, 34.0, 16.0
"""Between blocks, between shelves, and between a caption and what it names."""
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
    pieces = [_framed_piece(scheme, owners, piece, texts, options, room) for piece in owners.pieces]
    shapes: list[Shape] = []
    left_out = 0
    bottom = 0.0
    if words_drawn is not None:
        box = words_drawn.extent()
        shapes += [moved(shape, -box.left, -box.top) for shape in words_drawn.pen.shapes]
        bottom = box.height + 2 * BELOW
    for shelf in _shelves(pieces, room):
        x = 0.0
        height = max(box.height for _, box in shelf)
        for drawn, box in shelf:
            shapes += [moved(shape, x - box.left, bottom - box.top) for shape in drawn]
            x += box.width + BESIDE
        bottom += height + BELOW
    shapes += _under(texts.table(), bottom, room)
    del left_out
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
    from tellegen.scenes.ink import ink_box

    return ink_box([shape])


def _room(options: Options) -> float:
    """How wide shelves may be so that the smallest text can be read in print."""
    # 0.75 points to a pixel; 96 pixels to an inch.
    return min(options.room * 0.75 * TEXT / LEAST, 1040.0) - 2 * MARGIN


# -- words -------------------------------------------------------------------------------------------------------------------------


def _word_graph(scheme: BondGraphScheme, owners: Owners, options: Options, room: float) -> BondLayout | None:
    plan = word_plan(scheme, owners)
    if len(plan.nodes) < 2:
        return None
    narrow = replace(options, max_width=room, variables=False, places={}, bond_numbers=False)
    skeleton = skeleton_of(plan)
    layout = lay_out_bonds(plan, skeleton, narrow, PLAIN[1])
    router = Router(layout.pen, len(skeleton.closing))
    ends = []
    for link in skeleton.closing:
        sides = [(name, layout.closing[name].pop(0)) for name in (link.tail, link.head)]
        ends.append((link, [(side_point(side, *layout.end(name, link)), side) for name, side in sides]))
    for _, pair in ends:
        for end in pair:
            router.reserve(*end)
    router.look()
    for link, (start, end) in ends:
        layout.pen.bond(link, router.route(*start, *end), narrow)
        router.look()
    layout.pen.settle()
    frames = [
        Frame(box.moved(*layout.at[name]).grown(-3.0), origin=Origin(part="word"))
        for name, box in layout.gaps.items()
        if not any(isinstance(s, Frame) and s.box.contains(layout.at[name]) for s in layout.pen.shapes)
    ]
    layout.pen.shapes[:0] = frames
    return layout


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


def _framed_piece(
    scheme: BondGraphScheme, owners: Owners, piece: Piece, texts: PieceTexts, options: Options, room: float
) -> Drawn:
    """A piece with its caption, its blocks in rows."""
    blocks = PieceDrawing(scheme, owners, piece, texts, options).blocks
    shapes: list[Shape] = []
    x = y = height = 0.0
    for block in blocks:
        box = block.box()
        if x and x + box.width > room:
            x, y = 0.0, y + height + BESIDE
            height = 0.0
        shapes += [moved(shape, x - box.left, y - box.top) for shape in block.pen.shapes]
        x += box.width + BESIDE
        height = max(height, box.height)
    told = KIND_WORDS[piece.kind]
    caption = piece.name.replace("_", " ") + (f" ({told})" if told else "")
    label = Label(caption, (0.0, -UNDER), CAPTION, "left", "baseline", math=False, slanted=True, tone="quiet", origin=Origin(part="caption"))
    whole = union([label_box(label), *(_extent(shape) for shape in shapes)])
    return [label, *shapes], whole


def _shelves(pieces: Sequence[Drawn], room: float) -> Iterator[list[Drawn]]:
    """Pieces beside each other as far as they fit, in their order but for gaps that a later small one fills."""
    waiting = list(pieces)
    while waiting:
        shelf, width = [waiting.pop(0)], 0.0
        width = shelf[0][1].width
        for piece in list(waiting):
            wider = width + BESIDE + piece[1].width
            if wider <= room:
                shelf.append(piece)
                waiting = [one for one in waiting if one is not piece]
                width = wider
        yield shelf


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
