"""Finds places for marks in a finished figure: beside blocks and texts, on bonds, under sections, and never on a label."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from math import hypot

from tellegen.drawing.bond_pen import Pen
from tellegen.drawing.geometry import Box, Point, hull
from tellegen.drawing.overlay_flows import LOST, SUPPLIED, Flows
from tellegen.drawing.overlay_marks import (
    BAR,
    HEAD_BESIDE,
    LENGTH,
    LOSS_LENGTH,
    LOSS_SCALE,
    WIDEST,
    Mark,
)
from tellegen.drawing.placing import label_box
from tellegen.drawing.pog_measures import ARROW_BELOW, SECTION_OVERHANG
from tellegen.drawing.pog_pen import LEAD_PART
from tellegen.drawing.pog_vector import BEHIND, BEHIND_N, DRIVEN, INPUT
from tellegen.drawing.scene import Block, Bond, Label, Scene, Section, Shape, Wire
from tellegen.drawing.strokes import along, direction

BESIDE = 6.0
"""From a block or a text to the bar or the loss beside it."""
ON_BOND = (0.5, 0.3, 0.7, 0.24, 0.76, 0.4, 0.6, 0.19, 0.81, 0.15, 0.85, 0.11, 0.89)
"""Where along a bond its arrow may stand."""
SHORT = 14.0
"""The least length of an arrow on a bond."""
HALF_HEAD = WIDEST / 2 + HEAD_BESIDE
TALLEST = 30.0


def pog_marks(scene: Scene, flows: Flows) -> tuple[Mark, ...]:
    """The marks of a POG figure: under its sections, and at the left of its blocks."""
    sections = _vector_marks if SUPPLIED in flows.powers else _section_marks
    return (*sections(scene, flows), *_block_marks(scene, flows))


def bond_marks(scene: Scene, flows: Flows) -> tuple[Mark, ...]:
    """The marks of a bond graph: on its bonds, and beside the texts of storages and resistive elements."""
    pen = Pen()
    for shape in scene.shapes:
        pen.put(shape)
    return (*_bond_arrows(scene, flows, pen), *_text_marks(scene, flows, pen))


# -- sections --------------------------------------------------------------------------------------------------------------------


def _section_marks(scene: Scene, flows: Flows) -> Iterator[Mark]:
    for shape in scene.shapes:
        if not isinstance(shape, Section) or shape.origin.port not in flows.powers:
            continue
        (x, _), (end, y) = shape.start, shape.end
        name, domain = shape.origin.port, shape.origin.domain
        if x == end:
            yield Mark("power", (name,), (x, y - SECTION_OVERHANG + ARROW_BELOW), domain=domain, numbered=True)
        else:
            unit = (0.0, 1.0 if _leads_down(scene, shape) else -1.0)
            yield Mark("power", (name,), ((x + end) / 2, y), unit, domain=domain)


def _vector_marks(scene: Scene, flows: Flows) -> Iterator[Mark]:
    """What comes in at the first section of a vector block, and before its integrators; what is lost behind them.

    N gives back a share of what the integrators take, so that what is lost passes behind it. With losses between inputs alone, by
    a matrix D, no section behind that has all of what comes in or goes.
    """
    parts = {shape.origin.part for shape in scene.shapes if isinstance(shape, Block)}
    names = {INPUT: SUPPLIED}
    if "D" not in parts:
        names |= {DRIVEN: SUPPLIED, BEHIND_N if "N" in parts else BEHIND: LOST}
    for section in (shape for shape in scene.shapes if isinstance(shape, Section)):
        if section.origin.port in names:
            x, y = section.end
            centre = (x, y - SECTION_OVERHANG + ARROW_BELOW)
            key = names[section.origin.port]
            yield Mark("power", (key,), centre, domain=section.origin.domain, numbered=True)


def _leads_down(scene: Scene, section: Section) -> bool:
    """Whether the side ladder of a level section is under it."""
    name, y = section.origin.port, section.start[1]
    for shape in scene.shapes:
        if isinstance(shape, Section) and shape is not section and shape.origin.port == name:
            return shape.start[1] > y
    # A source has no ladder; its wires are longer on the side of the trunk.
    stubs = [s for s in scene.shapes if isinstance(s, Wire) and s.origin.port == name and s.origin.part == LEAD_PART]
    middles = [(stub.points[0][1] + stub.points[-1][1]) / 2 for stub in stubs]
    return not middles or sum(middles) / len(middles) < y


def _block_marks(scene: Scene, flows: Flows) -> Iterator[Mark]:
    # What the matrix A of a whole model takes leaves by a section already, unless D takes some of it.
    whole = SUPPLIED in flows.powers and not any(s.origin.part == "D" for s in scene.shapes)
    shown = ("gain",) if whole else ("gain", "A")
    for shape in scene.shapes:
        if not isinstance(shape, Block) or shape.origin.part not in shown:
            continue
        # A vector block names elements as the model does, connections among them.
        names = tuple(flows.items.get(name, name) for name in shape.origin.element.split())
        holding, taking = ([name for name in names if name in rows] for rows in (flows.stored, flows.lost))
        box, domain = shape.box, shape.origin.domain
        if holding:
            bar = Box(box.left - BESIDE - BAR, box.top, box.left - BESIDE, box.bottom)
            yield Mark("stored", tuple(holding), bar.centre, box=bar, domain=domain)
        if taking:  # springs and dampers may share a block
            side, away = (box.right, 1.0) if holding else (box.left, -1.0)
            centre = side + away * (BESIDE + LOSS_LENGTH) / 2, box.centre[1]
            yield Mark("lost", tuple(taking), centre, (away, 0.0), LOSS_LENGTH, domain=domain)


# -- bonds -----------------------------------------------------------------------------------------------------------------------


def _bond_arrows(scene: Scene, flows: Flows, pen: Pen) -> Iterator[Mark]:
    labels = [label_box(shape) for shape in scene.shapes if isinstance(shape, Label)]
    for shape in scene.shapes:
        if isinstance(shape, Bond) and shape.origin.port in flows.powers:
            mark = _on_bond(shape, labels)
            if mark is not None:
                pen.keep_free(_extent(mark))
                yield mark


def _on_bond(bond: Bond, labels: list[Box]) -> Mark | None:
    """An arrow on the longest piece of a bond, where no label is; None where there is no such place."""
    start, end = max(pairwise(bond.points), key=lambda piece: hypot(*_step(*piece)))
    unit, whole = direction(start, end), hypot(*_step(start, end))
    origin = bond.origin
    for length in (LENGTH, (LENGTH + SHORT) / 2, SHORT):
        for place in ON_BOND:
            centre = along(start, unit, place * whole)
            mark = Mark("power", (origin.port,), centre, unit, length, domain=origin.domain)
            inside = length / 2 + 3 <= place * whole <= whole - length / 2 - 3
            if inside and not any(_extent(mark).overlaps(box) for box in labels):
                return mark
    return None


def _step(start: Point, end: Point) -> Point:
    return end[0] - start[0], end[1] - start[1]


def _extent(mark: Mark, half: float = HALF_HEAD) -> Box:
    ends = (-mark.length / 2, mark.length / 2)
    return hull(along(mark.centre, mark.unit, forward, side) for forward in ends for side in (-half, half))


def _text_marks(scene: Scene, flows: Flows, pen: Pen) -> Iterator[Mark]:
    for shape in scene.shapes:
        name = shape.origin.element
        if not isinstance(shape, Label) or shape.origin.part not in ("name", "item") or shape.origin.port:
            continue
        if name in flows.stored:
            yield from first_free(bars_beside(shape), pen)
        elif name in flows.lost:
            yield from first_free(losses_beside(shape), pen)


def first_free(marks: Iterable[tuple[Mark, Box]], pen: Pen) -> Iterator[Mark]:
    """The first mark that stands where nothing is; none where there is no such place."""
    for mark, extent in marks:
        if pen.is_free(extent, 1):
            pen.keep_free(extent)
            yield mark
            return


def bars_beside(label: Label) -> Iterator[tuple[Mark, Box]]:
    """Places for an energy bar: beside the text, right or left, then over and under it."""
    text, origin = label_box(label), label.origin
    x, y = text.centre
    height = min(TALLEST, max(26.0, text.height + 8))
    lefts = [(text.right + BESIDE, y), (text.left - BESIDE - BAR, y)]
    beyond = [(x - BAR / 2, text.top - BESIDE - height / 2), (x - BAR / 2, text.bottom + BESIDE + height / 2)]
    for left, middle in (*lefts, *beyond):
        box = Box(left, middle - height / 2, left + BAR, middle + height / 2)
        yield Mark("stored", (origin.element,), box.centre, box=box, domain=origin.domain), box


def losses_beside(label: Label) -> Iterator[tuple[Mark, Box]]:
    """Places for a loss: away from the text downwards, to a side, upwards."""
    text, origin = label_box(label), label.origin
    x, y = text.centre
    half = LOSS_LENGTH / 2 + BESIDE / 2
    places: Mapping[Point, Point] = {
        (0.0, 1.0): (x, text.bottom + half),
        (1.0, 0.0): (text.right + half, y),
        (-1.0, 0.0): (text.left - half, y),
        (0.0, -1.0): (x, text.top - half),
    }
    for unit, centre in places.items():
        mark = Mark("lost", (origin.element,), centre, unit, LOSS_LENGTH, domain=origin.domain)
        yield mark, _extent(mark, LOSS_SCALE * WIDEST / 2 + HEAD_BESIDE)


def arrows_beside(label: Label) -> Iterator[tuple[Mark, Box]]:
    """Places for the power of a source beside its name: at a side, then further away."""
    text, origin = label_box(label), label.origin
    for gap in (BESIDE, 3 * BESIDE, 5 * BESIDE):
        for x in (text.right + gap + HALF_HEAD, text.left - gap - HALF_HEAD):
            mark = Mark("power", (origin.element,), (x, text.centre[1]), (0.0, -1.0), LENGTH, domain=origin.domain)
            yield mark, _extent(mark)


def without_directions(shapes: Iterable[Shape]) -> tuple[Shape, ...]:
    """Shapes without the thin arrows that say where power counts as positive: the marks take their places."""
    return tuple(
        shape
        for shape in shapes
        if not (isinstance(shape, Wire) and shape.tone == "power")
        and not (isinstance(shape, Label) and shape.origin.part == "power")
    )
