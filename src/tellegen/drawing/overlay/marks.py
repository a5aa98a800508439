"""The flows of a run through the items of a figure, and their marks: what is drawn for a value, and where there is room for it."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import dist, sqrt
from typing import Literal, final, get_args

import numpy as np
from numpy.typing import NDArray

from tellegen.core.domains import DOMAINS
from tellegen.drawing.pog.placement import ARROW_BELOW, SECTION_OVERHANG
from tellegen.drawing.pog.vector_blocks import BEHIND, BEHIND_N, DRIVEN, INPUT
from tellegen.graph import ResistiveLaw, SourceLaw
from tellegen.model.bond_graph import PowerBond
from tellegen.results import Run
from tellegen.results.element_variables import SectionPowers, sources_of, supplying
from tellegen.scenes.geometry import Box, Point, along, box_outline, direction, hull, polyline
from tellegen.scenes.ink import LEAD, Pen
from tellegen.scenes.scene import Block, Bond, Curve, Label, Origin, Scene, Section, Shape, Tone, Wire, label_box
from tellegen.schemes.bond_graph_scheme import BondGraphScheme, OnePort
from tellegen.schemes.pog_scheme import PogScheme

Array = NDArray[np.float64]


@final
@dataclass(frozen=True, eq=False)
class PowerFlows:
    """Rows of a run by what they belong to.

    `powers` are those of sections (by name, positive to the right) or of bonds (by `bond <number>`, positive along the half arrow),
    as far as they follow from the run. `stored` and `lost` go by the name of an item.
    """

    powers: Mapping[str, Array]
    stored: Mapping[str, Array]
    lost: Mapping[str, Array]
    items: Mapping[str, str] = field(default_factory=dict)
    """The items by the elements that they stand for."""


SUPPLIED, LOST = "all supplied", "all lost"
"""The powers of a vector block: what its inputs bring in, and what its matrix A takes."""


def pog_flows(scheme: PogScheme, run: Run, carried: Mapping[str, tuple[str, ...]]) -> PowerFlows:
    """The flows of a POG figure. `carried` are the sections of the scheme and the elements whose powers make up that of a section.

    A vector block has no order of sections; what all sources give and all losses take is known.
    """
    stored, lost = _by_item(scheme.elements, run)
    items = {item.port.element: name for name, item in scheme.elements.items()}
    if scheme.vectorial and not carried:
        given = total_power(run, sorted(supplying(run.graph)))
        taken_by_all: Array = sum(lost.values(), start=np.zeros(len(run.t)))
        return PowerFlows({SUPPLIED: given, LOST: taken_by_all}, stored, lost, items)
    sections = SectionPowers(scheme, run.channels)
    known = {name: sections.power(name) for name in sections.names}
    # The power that goes into each element; a run counts that of a source where it leaves.
    giving = sources_of(run.graph)
    taken = {
        element: run.power_values(element) * (-1 if element in giving else 1)
        for element in run.catalogue.elements("power")
    }
    powers: dict[str, Array] = {}
    for shown, names in carried.items():
        through = [name for name in names if name in scheme.sections]
        if all(name in known for name in through):
            # A connection among the elements takes nothing.
            rows = [
                *(known[name] for name in through),
                *(taken[name] for name in dict.fromkeys(names) if name in taken),
            ]
            powers[shown] = np.asarray(sum(rows, start=np.zeros(len(run.t))))
    return PowerFlows(powers, stored, lost, items)


def bond_flows(scheme: BondGraphScheme, run: Run) -> PowerFlows:
    """The flows of a bond graph figure."""
    powers = {f"bond {number}": rows for number, rows in bond_powers(scheme, run).items()}
    return PowerFlows(powers, *_by_item(scheme.one_ports, run))


def bond_powers(scheme: BondGraphScheme, run: Run) -> dict[int, Array]:
    """The powers of bonds by number.

    Those of elements are known. Junctions, transformers and gyrators neither store nor lose, so that all bonds of one but the last
    give the last; in a mesh the variables of a bond give its power where the run has both.
    """
    known = {bond.number: power for bond in scheme.bonds if (power := _at_element(bond, scheme, run)) is not None}
    inner, nothing = (*scheme.junctions, *scheme.two_ports), np.zeros(len(run.t))
    _balance(scheme, inner, known, nothing)
    # One bond of a mesh is enough to find the others of its junctions, so the balance is asked again after each.
    for bond in scheme.bonds:
        if bond.number not in known and (power := _product(bond, run)) is not None:
            known[bond.number] = power
            _balance(scheme, inner, known, nothing)
    return known


def _at_element(bond: PowerBond, scheme: BondGraphScheme, run: Run) -> Array | None:
    """The power of a bond at an element with no other bond, along the half arrow."""
    for end in (bond.head, bond.tail):
        item = scheme.one_ports.get(end)
        if item is None or len(scheme.bonds_of(end)) > 1:
            continue
        elements = elements_of_item(item)
        # A run that was asked for some channels only may not have this one.
        if not all(run.catalogue.of("power", element) for element in elements):
            return None
        given = isinstance(item.port.law, SourceLaw)  # the power of a source counts where it leaves
        total = total_power(run, elements)
        return total if (end == bond.head) != given else -total
    return None


def _product(bond: PowerBond, run: Run) -> Array | None:
    # Bonds of heat carry a flow that is a power itself; elsewhere power is the product of both variables.
    if bond.size > 1 or bond.through not in run or bond.across not in run:
        return None
    through = run.values(bond.through)
    return through if DOMAINS[bond.domain].heat_books else through * run.values(bond.across)


def _balance(scheme: BondGraphScheme, inner: Iterable[str], known: dict[int, Array], nothing: Array) -> None:
    """Complete what follows from the balance of items that conserve power, in place; `nothing` passes a bond that is alone."""
    # Power runs through the tree of junctions like water: what becomes known at one item may complete its neighbours.
    waiting = list(inner)
    while waiting:
        item = waiting.pop()
        bonds = scheme.bonds_of(item)
        unknown = [bond for bond in bonds if bond.number not in known]
        if len(unknown) != 1:
            continue
        last = unknown[0]
        arriving = sum((known[b.number] * (1 if b.head == item else -1) for b in bonds if b is not last), start=nothing)
        known[last.number] = -arriving if last.head == item else arriving
        other = last.other(item)
        if other not in scheme.one_ports:
            waiting.append(other)


def total_power(run: Run, elements: Iterable[str]) -> Array:
    """The power of some elements together, by rows of a run."""
    return sum((run.power_values(element) for element in elements), start=np.zeros(len(run.t)))


def total_energy(run: Run, elements: Iterable[str]) -> Array:
    """The energy that some elements hold together, by rows of a run."""
    return sum((run.values(f"energy.{element}") for element in elements), start=np.zeros(len(run.t)))


def elements_of_item(item: OnePort) -> tuple[str, ...]:
    """The elements that an item stands for, as a run calls them."""
    return tuple(part.port.element for part in item.parts or (item,))


def _by_item(items: Mapping[str, OnePort], run: Run) -> tuple[dict[str, Array], dict[str, Array]]:
    stored: dict[str, Array] = {}
    lost: dict[str, Array] = {}
    for name, item in items.items():
        elements = elements_of_item(item)
        if all(run.catalogue.of("energy", element) for element in elements):
            stored[name] = total_energy(run, elements)
        elif isinstance(item.port.law, ResistiveLaw) and all(run.catalogue.of("power", e) for e in elements):
            lost[name] = total_power(run, elements)
    return stored, lost


MarkKind = Literal["power", "stored", "lost"]

NARROWEST, WIDEST = 1.0, 8.0
"""Widths of power arrows."""
HEAD_LENGTH, HEAD_BESIDE = 9.0, 2.6
"""Of an arrow: its head, and how far the head stands out on each side of the shaft."""
LENGTH = 28.0
NOTHING = 1e-6
"""Less than this part of the largest power shows no arrow."""
BAR = 6.0
"""The width of an energy bar."""
LOSS_LENGTH, LOSS_DOTS = 22.0, 3
"""A loss: dots that lead away, and a head."""
LOSS_SCALE = 0.5
"""Losses are drawn so much narrower than powers, so that they fit beside blocks."""


@final
@dataclass(frozen=True, slots=True)
class OverlayMark:
    """A place: `unit` is the direction in which power counts as positive, `box` the outline of an energy bar.

    `keys` are the rows of the flows that count here; a vector block shows the sum of its elements.
    """

    kind: MarkKind
    keys: tuple[str, ...]
    centre: Point
    unit: Point = (1.0, 0.0)
    length: float = LENGTH
    box: Box | None = None
    domain: str = ""
    numbered: bool = False
    """Whether there is room for a number under it."""

    def moved(self, dx: float, dy: float) -> "OverlayMark":
        """The same mark elsewhere."""
        centre = self.centre[0] + dx, self.centre[1] + dy
        return replace(self, centre=centre, box=None if self.box is None else self.box.moved(dx, dy))

    @property
    def tone(self) -> Tone:
        """The colour of the domain."""
        return domain_tone(self.domain)


def domain_tone(domain: str) -> Tone:
    """The tone of a domain; that of power where it has none of its own."""
    name = "thermal" if domain == "heat" else domain
    tones: tuple[Tone, ...] = get_args(Tone)
    return next((tone for tone in tones if tone == name), "power")


def arrow_width(power: float, most: float) -> float:
    """The width of an arrow: as the root of the power, so that small ones can be seen beside large ones."""
    share = min(1.0, abs(power) / most) if most else 0.0
    return NARROWEST + (WIDEST - NARROWEST) * sqrt(share)


def mark_shapes(mark: OverlayMark, value: float, most: float) -> Iterator[Shape]:
    """What a mark shows for a value, the largest of the run being `most`."""
    match mark.kind:
        case "power":
            if abs(value) > NOTHING * most:
                yield _arrow(mark, value, arrow_width(value, most))
        case "stored":
            yield from _bar(mark, value / most if most else 0.0)
        case "lost":
            if abs(value) > NOTHING * most:
                yield from _loss(mark, LOSS_SCALE * arrow_width(value, most), value)


def _origin(mark: OverlayMark, part: str, sign: int = 1) -> Origin:
    name = " ".join(mark.keys)
    element, port = ("", name) if mark.kind == "power" else (name, "")
    return Origin(element, part, port, sign, mark.domain)


def _way(mark: OverlayMark, value: float) -> tuple[Point, Point]:
    """Where the arrow of a value begins, and its direction."""
    unit = mark.unit if value > 0 else (-mark.unit[0], -mark.unit[1])
    return along(mark.centre, unit, -mark.length / 2), unit


def _arrow(mark: OverlayMark, value: float, width: float) -> Curve:
    tail, unit = _way(mark, value)
    # The length is the same for all powers, so that arrows keep their places while their widths change.
    neck, half = mark.length - HEAD_LENGTH, width / 2
    points = [(0, half), (neck, half), (neck, half + HEAD_BESIDE), (mark.length, 0)]
    corners = [*points, *((forward, -right) for forward, right in reversed(points[:3]))]
    outline = polyline(tuple(along(tail, unit, forward, right) for forward, right in corners), closed=True)
    origin = _origin(mark, "flow", 1 if value > 0 else -1)
    return Curve(outline, filled=True, closed=True, tone=mark.tone, origin=origin)


def _bar(mark: OverlayMark, share: float) -> Iterator[Shape]:
    assert mark.box is not None, "an energy bar has a place"
    box = mark.box
    full = min(1.0, max(0.0, share))
    filled = Box(box.left, box.bottom - full * box.height, box.right, box.bottom)
    if filled.height > 0:
        origin = _origin(mark, "stored energy")
        yield Curve(box_outline(filled), filled=True, closed=True, tone=mark.tone, origin=origin)
    yield Curve(box_outline(box), "hair", closed=True, tone="quiet", origin=_origin(mark, "energy bar"))


def _loss(mark: OverlayMark, width: float, value: float) -> Iterator[Shape]:
    """Squares that lead away, then a head; towards the element where it gives power."""
    tail, unit = _way(mark, value)
    half, shaft = width / 2, mark.length - HEAD_LENGTH
    origin = _origin(mark, "loss", 1 if value > 0 else -1)
    step = shaft / LOSS_DOTS
    # Dots fill a little more than half of their steps, so that a loss is told from an arrow at any width.
    dot = ((0.0, half), (0.55 * step, half), (0.55 * step, -half), (0.0, -half))
    head = ((shaft, half + HEAD_BESIDE), (mark.length, 0.0), (shaft, -half - HEAD_BESIDE))
    for start, corners in (*((k * step, dot) for k in range(LOSS_DOTS)), (0.0, head)):
        begin = along(tail, unit, start)
        outline = polyline(tuple(along(begin, unit, forward, right) for forward, right in corners), closed=True)
        yield Curve(outline, filled=True, closed=True, tone=mark.tone, origin=origin)


BESIDE = 6.0
"""From a block or a text to the bar or the loss beside it."""
ON_BOND = (0.5, 0.3, 0.7, 0.24, 0.76, 0.4, 0.6, 0.19, 0.81, 0.15, 0.85, 0.11, 0.89)
"""Where along a bond its arrow may stand."""
SHORT = 14.0
"""The least length of an arrow on a bond."""
HALF_HEAD = WIDEST / 2 + HEAD_BESIDE
TALLEST = 30.0


def pog_marks(scene: Scene, flows: PowerFlows) -> tuple[OverlayMark, ...]:
    """The marks of a POG figure: under its sections, and at the left of its blocks."""
    sections = _vector_marks if SUPPLIED in flows.powers else _section_marks
    return (*sections(scene, flows), *_block_marks(scene, flows))


def bond_marks(scene: Scene, flows: PowerFlows) -> tuple[OverlayMark, ...]:
    """The marks of a bond graph: on its bonds, and beside the texts of storages and resistive elements."""
    pen = Pen()
    for shape in scene.shapes:
        pen.put(shape)
    return (*_bond_arrows(scene, flows, pen), *_text_marks(scene, flows, pen))


# -- sections --------------------------------------------------------------------------------------------------------------------


def _section_marks(scene: Scene, flows: PowerFlows) -> Iterator[OverlayMark]:
    for shape in scene.shapes:
        if not isinstance(shape, Section) or shape.origin.port not in flows.powers:
            continue
        (x, _), (end, y) = shape.start, shape.end
        name, domain = shape.origin.port, shape.origin.domain
        # A section of the main ladder is upright, and power passes it to the right; one across the wires of a side ladder is level.
        if x == end:
            yield OverlayMark("power", (name,), (x, y - SECTION_OVERHANG + ARROW_BELOW), domain=domain, numbered=True)
        else:
            unit = (0.0, 1.0 if _leads_down(scene, shape) else -1.0)
            yield OverlayMark("power", (name,), ((x + end) / 2, y), unit, domain=domain)


def _vector_marks(scene: Scene, flows: PowerFlows) -> Iterator[OverlayMark]:
    """What comes in at the first section of a vector block, and before its integrators; what is lost behind them.

    N gives back a share of what the integrators take, so that what is lost passes behind it. With losses between inputs alone, by
    a matrix D, no section behind that has all of what comes in or goes.
    """
    parts = {shape.origin.part for shape in scene.shapes if isinstance(shape, Block)}
    # Which section has which power follows from the order of the blocks of a vector ladder.
    names = {INPUT: SUPPLIED}
    if "D" not in parts:
        names |= {DRIVEN: SUPPLIED, BEHIND_N if "N" in parts else BEHIND: LOST}
    for section in (shape for shape in scene.shapes if isinstance(shape, Section)):
        if section.origin.port in names:
            x, y = section.end
            centre = (x, y - SECTION_OVERHANG + ARROW_BELOW)
            key = names[section.origin.port]
            yield OverlayMark("power", (key,), centre, domain=section.origin.domain, numbered=True)


def _leads_down(scene: Scene, section: Section) -> bool:
    """Whether the side ladder of a level section is under it."""
    # The same section is drawn twice: across the wires, and as the first one of the side ladder.
    name, y = section.origin.port, section.start[1]
    for shape in scene.shapes:
        if isinstance(shape, Section) and shape is not section and shape.origin.port == name:
            return shape.start[1] > y
    # A source has no ladder; its wires are longer on the side of the trunk.
    stubs = [s for s in scene.shapes if isinstance(s, Wire) and s.origin.port == name and s.origin.part == LEAD]
    middles = [(stub.points[0][1] + stub.points[-1][1]) / 2 for stub in stubs]
    return not middles or sum(middles) / len(middles) < y


def _block_marks(scene: Scene, flows: PowerFlows) -> Iterator[OverlayMark]:
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
            yield OverlayMark("stored", tuple(holding), bar.centre, box=bar, domain=domain)
        if taking:  # springs and dampers may share a block
            side, away = (box.right, 1.0) if holding else (box.left, -1.0)
            centre = side + away * (BESIDE + LOSS_LENGTH) / 2, box.centre[1]
            yield OverlayMark("lost", tuple(taking), centre, (away, 0.0), LOSS_LENGTH, domain=domain)


# -- bonds -----------------------------------------------------------------------------------------------------------------------


def _bond_arrows(scene: Scene, flows: PowerFlows, pen: Pen) -> Iterator[OverlayMark]:
    labels = [label_box(shape) for shape in scene.shapes if isinstance(shape, Label)]
    for shape in scene.shapes:
        if isinstance(shape, Bond) and shape.origin.port in flows.powers:
            mark = _on_bond(shape, labels)
            if mark is not None:
                pen.keep_free(_extent(mark))
                yield mark


def _on_bond(bond: Bond, labels: list[Box]) -> OverlayMark | None:
    """An arrow on the longest piece of a bond, where no label is; None where there is no such place."""
    start, end = max(pairwise(bond.points), key=lambda piece: dist(*piece))
    unit, whole = direction(start, end), dist(start, end)
    origin = bond.origin
    # As long as all others if there is any place for it; only then shorter ones, since lengths are compared too.
    for length in (LENGTH, (LENGTH + SHORT) / 2, SHORT):
        for place in ON_BOND:
            centre = along(start, unit, place * whole)
            mark = OverlayMark("power", (origin.port,), centre, unit, length, domain=origin.domain)
            inside = length / 2 + 3 <= place * whole <= whole - length / 2 - 3
            if inside and not any(_extent(mark).overlaps(box) for box in labels):
                return mark
    return None


def _extent(mark: OverlayMark, half: float = HALF_HEAD) -> Box:
    ends = (-mark.length / 2, mark.length / 2)
    return hull(along(mark.centre, mark.unit, forward, side) for forward in ends for side in (-half, half))


def _text_marks(scene: Scene, flows: PowerFlows, pen: Pen) -> Iterator[OverlayMark]:
    for shape in scene.shapes:
        name = shape.origin.element
        # A port is what the second, third, ... of several equal junctions has: an item is marked once.
        if not isinstance(shape, Label) or shape.origin.part not in ("name", "item") or shape.origin.port:
            continue
        if name in flows.stored:
            yield from first_free(bars_beside(shape), pen)
        elif name in flows.lost:
            yield from first_free(losses_beside(shape), pen)


def first_free(marks: Iterable[tuple[OverlayMark, Box]], pen: Pen) -> Iterator[OverlayMark]:
    """The first mark that stands where nothing is; none where there is no such place."""
    for mark, extent in marks:
        if pen.is_free(extent, 1):
            pen.keep_free(extent)
            yield mark
            return


def bars_beside(label: Label) -> Iterator[tuple[OverlayMark, Box]]:
    """Places for an energy bar: beside the text, right or left, then over and under it."""
    text, origin = label_box(label), label.origin
    x, y = text.centre
    # As high as its text, within limits: bars of all storages can then be compared.
    height = min(TALLEST, max(26.0, text.height + 8))
    lefts = [(text.right + BESIDE, y), (text.left - BESIDE - BAR, y)]
    beyond = [(x - BAR / 2, text.top - BESIDE - height / 2), (x - BAR / 2, text.bottom + BESIDE + height / 2)]
    for left, middle in (*lefts, *beyond):
        box = Box(left, middle - height / 2, left + BAR, middle + height / 2)
        yield OverlayMark("stored", (origin.element,), box.centre, box=box, domain=origin.domain), box


def losses_beside(label: Label) -> Iterator[tuple[OverlayMark, Box]]:
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
        mark = OverlayMark("lost", (origin.element,), centre, unit, LOSS_LENGTH, domain=origin.domain)
        yield mark, _extent(mark, LOSS_SCALE * WIDEST / 2 + HEAD_BESIDE)


def arrows_beside(label: Label) -> Iterator[tuple[OverlayMark, Box]]:
    """Places for the power of a source beside its name: at a side, then further away."""
    text, origin = label_box(label), label.origin
    for gap in (BESIDE, 3 * BESIDE, 5 * BESIDE):
        for x in (text.right + gap + HALF_HEAD, text.left - gap - HALF_HEAD):
            centre = x, text.centre[1]
            mark = OverlayMark("power", (origin.element,), centre, (0.0, -1.0), LENGTH, domain=origin.domain)
            yield mark, _extent(mark)


def without_power_directions(shapes: Iterable[Shape]) -> tuple[Shape, ...]:
    """Shapes without the thin arrows that say where power counts as positive: the marks take their places."""
    return tuple(
        shape
        for shape in shapes
        if not (isinstance(shape, Wire) and shape.tone == "power")
        and not (isinstance(shape, Label) and shape.origin.part == "power")
    )
