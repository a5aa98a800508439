"""Draws bonds with their labels: effort above or left, flow below or right, the barb on the side of the flow."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise, product
from math import hypot
from typing import Literal, final

from tellegen.drawing.bond.plan import BondLink
from tellegen.drawing.geometry import Box, Point
from tellegen.drawing.ink import Grid, Ink, inks, strokes_through, touch
from tellegen.drawing.options import Options
from tellegen.drawing.scene import Align, Bond, Label, Level, Origin, Ring, Shape, Tone, label_box, moved
from tellegen.drawing.strokes import along, direction
from tellegen.drawing.typesetting import set_math

ITEM, VARIABLE, SMALL_TEXT = 18.0, 15.0, 11.0
"""Sizes of texts."""
ABOVE, BELOW, LEFT, RIGHT = 9.0, 19.0, 10.0, 11.0
"""From a bond to its labels: baselines for level bonds, ink for upright ones."""
FROM_HEAD = 3.0
CLEAR = 5.0
"""Between ink and the labels of slanted bonds."""
PLACES = (0.5, 0.42, 0.58, 0.34, 0.66, 0.27, 0.73, 0.2, 0.8, 0.14, 0.86)
"""Where along a bond a label may stand, the best first."""
OUTWARDS = (0.6, 0.68, 0.52, 0.76, *PLACES)
"""The same on a slanted bond, from its junction to its element: farther from the labels of the level and upright bonds there."""
Attempt = tuple[float, float, float]
ATTEMPTS: tuple[Attempt, ...] = (
    (1.0, 0.0, 2.0),
    (0.8, 0.0, 1.0),
    (1.0, 7.0, 2.0),
    (0.8, 7.0, 1.0),
    (0.8, 14.0, 1.0),
    (0.8, 24.0, 1.0),
    (0.65, 0.0, 0.5),
    (0.65, 7.0, 0.5),
    (0.65, 14.0, 0.5),
)
"""How a label is tried: as it should be; where there is no room, smaller, and further from its bond.

Each is a part of the size, a distance, and the margin that is kept free."""
OTHER_END = "other end"
"""The part of a shape that names what a cut bond leads to."""
RING_RADIUS, RING_BACK = 10.0, 6.0
NUMBER_RADIUS = 8.0


@final
@dataclass(frozen=True, slots=True)
class _WaitingLabel:
    """A label that has no place yet: beside one of the pieces of its bond."""

    text: str
    part: str
    size: float
    pieces: tuple[tuple[Point, Point], ...]
    bond: Bond
    places: tuple[float, ...]

    def moved(self, dx: float, dy: float) -> "_WaitingLabel":
        """The same label elsewhere."""
        pieces = tuple(((x + dx, y + dy), (u + dx, v + dy)) for (x, y), (u, v) in self.pieces)
        return replace(self, pieces=pieces)


class BondPen:
    """Collects shapes, and knows where ink is."""

    def __init__(self) -> None:
        self.shapes: list[Shape] = []
        self.left_out = 0
        """The labels and numbers that found no free place."""
        self._waiting: list[_WaitingLabel] = []
        self._unnumbered: list[tuple[int, list[tuple[Point, Point]], Bond]] = []
        self._inks: list[Ink] = []
        self._kept: set[int] = set()
        self._labelled: dict[int, tuple[_WaitingLabel, Label]] = {}
        """The labels of bonds, by their ink: they may have to give way."""
        self._gone: set[int] = set()
        self._grid = Grid()

    def put(self, shape: Shape) -> None:
        """Draw a shape."""
        self.shapes.append(shape)
        for ink in inks(shape):
            self._grid.add(ink if isinstance(ink, Box) else ink.box, len(self._inks))
            self._inks.append(ink)

    def absorb(self, other: "BondPen", dx: float, dy: float) -> None:
        """Draw all that another pen has drawn, elsewhere."""
        self.left_out += other.left_out
        self._waiting += (waiting.moved(dx, dy) for waiting in other._waiting)
        labelled = {id(label): waiting for waiting, label in other._labelled.values()}
        for shape in other.shapes:
            elsewhere = moved(shape, dx, dy)
            if isinstance(elsewhere, Label) and (waiting := labelled.get(id(shape))) is not None:
                self._labelled[len(self._inks)] = waiting.moved(dx, dy), elsewhere
            self.put(elsewhere)
        for k in sorted(other._kept):
            box = other._inks[k]
            assert isinstance(box, Box), "what is kept free is a box"
            self.keep_free(box.moved(dx, dy))

    def is_free(self, box: Box, margin: float = 2.0) -> bool:
        """Whether a text may stand here."""
        wide = box.grown(margin)
        return not any(touch(wide, self._inks[k], 0) for k in self._grid.near(wide) if k not in self._gone)

    def clear_way(self, points: tuple[Point, ...]) -> None:
        """Take labels of bonds off a line that had to go through them; they find other places when all is drawn."""
        for stroke in strokes_through(points):
            for k in self._grid.near(stroke.box):
                if k in self._labelled and touch(self._inks[k], stroke):
                    waiting, label = self._labelled.pop(k)
                    self._gone.add(k)
                    self._waiting.append(waiting)
                    self.shapes.remove(label)

    @property
    def count(self) -> int:
        """The number of inks."""
        return len(self._inks)

    def drawn(self, since: int) -> Iterator[tuple[Ink, bool]]:
        """The ink drawn after the first few, not what is only kept free; and whether it is the label of a bond."""
        for k, ink in enumerate(self._inks[since:], since):
            if k not in self._kept:
                yield ink, k in self._labelled

    def boxes(self, since: int = 0) -> list[Box]:
        """The extents of all ink, or of that drawn after the first few."""
        inks = self._inks[since:]
        if self._gone:
            inks = [ink for k, ink in enumerate(inks, since) if k not in self._gone]
        return [ink if isinstance(ink, Box) else ink.box for ink in inks]

    def keep_free(self, box: Box) -> None:
        """Let nothing that is drawn later stand here."""
        self._grid.add(box, len(self._inks))
        self._kept.add(len(self._inks))
        self._inks.append(box)

    def bond(
        self, link: BondLink, points: tuple[Point, ...], options: Options, *, element: str = "", later: bool = False
    ) -> None:
        """Draw a bond from tail to head with its labels; `later` leaves them to `label`, when bonds beside it are drawn too."""
        side = _flow_side(*points[-2:])
        origin = Origin(element, "bond", f"bond {link.number}" if link.number else "joint", 1, link.domain)
        stroke: Literal["start", "end"] = "start" if link.stroke == link.tail else "end"
        bond = Bond(points, stroke, side, link.warned or link.sink, link.size, "ink", origin)
        self.put(bond)
        if link.warned:
            self._ring(bond)
        pieces = sorted(
            pairwise(points), key=lambda piece: -hypot(piece[1][0] - piece[0][0], piece[1][1] - piece[0][1])
        )
        places: tuple[float, ...] = PLACES
        if element and _is_slanted(*points[:2]):
            places = OUTWARDS if link.head == element else tuple(1 - place for place in OUTWARDS)
        for part, text in (("effort", link.effort), ("flow", link.flow)):
            if text and options.variables:
                self._label(text, part, VARIABLE, pieces, bond, places)
        if link.size > 1:
            self._label(str(link.size), "size", SMALL_TEXT, pieces, bond, places=(0.2, 0.28, 0.8, *PLACES))
        if options.bond_numbers and link.number:
            self._unnumbered.append((link.number, pieces, bond))
        if not later:
            self.label()

    def _ring(self, bond: Bond) -> None:
        at_end = bond.stroke == "end"
        end, unit = (
            (bond.points[-1], direction(*bond.points[-2:])) if at_end else (bond.points[0], direction(*bond.points[:2]))
        )
        centre = along(end, unit, -RING_BACK if at_end else RING_BACK)
        self.put(Ring(centre, RING_RADIUS, True, "warning", _part(bond, "warning")))

    def _label(
        self,
        text: str,
        part: str,
        size: float,
        pieces: list[tuple[Point, Point]],
        bond: Bond,
        places: tuple[float, ...] = PLACES,
    ) -> None:
        self._waiting.append(_WaitingLabel(text, part, size, tuple(pieces), bond, places))

    def label(self) -> None:
        """Place the labels of the bonds drawn so far, where they should be; those that have no room there wait."""
        self._waiting = [waiting for waiting in self._waiting if not self._placed(waiting, ATTEMPTS[:1])]
        for number, pieces, bond in self._unnumbered:
            self._number(number, pieces, bond)
        self._unnumbered.clear()

    def settle(self) -> None:
        """Place the labels that still wait, now that all else is drawn."""
        for waiting in self._waiting:
            self.left_out += not self._placed(waiting, ATTEMPTS)
        self._waiting.clear()

    def _placed(self, wanted: "_WaitingLabel", attempts: Iterable[Attempt]) -> bool:
        bond, part = wanted.bond, wanted.part
        tone: Tone = "warning" if bond.warned else "ink"
        for (share, further, margin), piece, place in product(attempts, wanted.pieces, wanted.places):
            size = share * wanted.size
            beside = _beside(wanted.text, size, piece, place, upper=part != "flow", further=further)
            label = Label(wanted.text, *beside, tone=tone, origin=_part(bond, part))
            if self.is_free(label_box(label), margin):
                self._labelled[len(self._inks)] = wanted, label
                self.put(label)
                return True
        return False

    def _number(self, number: int, pieces: list[tuple[Point, Point]], bond: Bond) -> None:
        for piece in pieces:
            unit = direction(*piece)
            length = hypot(piece[1][0] - piece[0][0], piece[1][1] - piece[0][1])
            for place in (0.25, 0.75, *PLACES):
                for side in (-1, 1):
                    centre = along(piece[0], unit, place * length, side * (NUMBER_RADIUS + 4))
                    ring = Ring(centre, NUMBER_RADIUS, False, "quiet", _part(bond, "ring"))
                    if self.is_free(next(ink.box for ink in inks(ring) if not isinstance(ink, Box)), 1):
                        self.put(Label(str(number), centre, SMALL_TEXT - 1, tone="quiet", origin=_part(bond, "number")))
                        self.shapes.append(ring)
                        return
        self.left_out += 1


def _is_slanted(start: Point, end: Point) -> bool:
    return min(abs(start[0] - end[0]), abs(start[1] - end[1])) > 1e-9


def _part(bond: Bond, part: str) -> Origin:
    origin = bond.origin
    return Origin(origin.element, part, origin.port, 1, origin.domain)


def upright_room(link: BondLink, options: Options) -> tuple[float, float]:
    """What an upright bond needs to its left and right: its labels."""
    effort, flow = ((text if options.variables else "") for text in (link.effort, link.flow))
    left, right = (set_math(text, VARIABLE).box.width + 8 if text else 0.0 for text in (effort, flow))
    return LEFT + left, RIGHT + right


def _flow_side(start: Point, end: Point) -> Literal[1, -1]:
    """+1 where the flow, below the bond or right of an upright one, is on the right of the direction of travel."""
    dx, dy = direction(start, end)
    if abs(dx) > 1e-9:
        return 1 if dx > 0 else -1
    return 1 if dy < 0 else -1


def _beside(
    text: str, size: float, piece: tuple[Point, Point], place: float, *, upper: bool, further: float = 0
) -> tuple[Point, float, Align, Level]:
    """Where a label stands beside a piece of a bond: point, size, alignment and level."""
    (x, y), (u, v) = piece
    unit = direction(*piece)
    at = along((x + (u - x) * place, y + (v - y) * place), unit, -FROM_HEAD)
    if abs(unit[1]) < 1e-9:
        return (at[0], y - ABOVE - further if upper else y + BELOW + further), size, "centre", "baseline"
    if abs(unit[0]) < 1e-9:
        return (
            (x - LEFT - further if upper else x + RIGHT + further, at[1] + size / 3),
            size,
            "right" if upper else "left",
            "baseline",
        )
    box = label_box(Label(text, (0, 0), size))
    normal = (unit[1], -unit[0]) if unit[0] > 0 else (-unit[1], unit[0])  # upwards
    if not upper:
        normal = -normal[0], -normal[1]
    away = (abs(normal[0]) * box.width + abs(normal[1]) * box.height) / 2 + CLEAR + further
    return (at[0] + normal[0] * away, at[1] + normal[1] * away), size, "centre", "middle"
