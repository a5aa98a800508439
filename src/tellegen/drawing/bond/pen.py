"""Draws bonds with their labels: effort above or left, flow below or right, the barb on the side of the flow."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise, product
from math import dist
from typing import Literal, final

from tellegen.drawing.bond.plan import BondLink
from tellegen.drawing.options import Options
from tellegen.scenes.geometry import Box, Point, along, direction
from tellegen.scenes.ink import Ink, Pen, inks, strokes_through, touch
from tellegen.scenes.scene import Align, Bond, Label, Level, Origin, Ring, Tone, label_box, moved
from tellegen.scenes.strokes import stroke_end
from tellegen.scenes.typesetting import set_math

ITEM, VARIABLE, SMALL_TEXT = 18.0, 15.0, 11.0
"""Sizes of texts."""
# Below is more than above by the height of a letter: both are distances to baselines.
ABOVE, BELOW, LEFT, RIGHT = 9.0, 19.0, 10.0, 11.0
"""From a bond to its labels: baselines for level bonds, ink for upright ones."""
# Labels are shifted away from the head, where the barb takes room on the side of the flow.
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
FULL_SIZE: tuple[Attempt, ...] = tuple((1.0, further, 1.0) for further in (0.0, 4.0, 8.0, 14.0, 20.0, 28.0))
"""The same where all texts of a figure have one size."""
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


class BondPen(Pen):
    """Draws bonds, and labels where there is room when all else is drawn."""

    attempts = ATTEMPTS
    """How labels are tried that find no place where they should be."""

    def __init__(self) -> None:
        super().__init__()
        self._waiting: list[_WaitingLabel] = []
        self._unnumbered: list[tuple[int, tuple[tuple[Point, Point], ...], Bond]] = []
        self._kept: set[int] = set()
        """The inks that are only kept free: nothing is drawn there."""
        self._labelled: dict[int, tuple[_WaitingLabel, Label]] = {}
        """The labels of bonds, by their ink: they may have to give way."""

    def absorb(self, other: "BondPen", dx: float, dy: float) -> None:
        """Draw all that another pen has drawn, elsewhere."""
        # Labels that wait and labels that may give way are taken over as what they are: when bonds are closed across both drawings,
        # lines may still have to go through them.
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

    def clear_way(self, points: tuple[Point, ...]) -> None:
        """Take labels of bonds off a line that had to go through them; they find other places when all is drawn."""
        for stroke in strokes_through(points):
            for k in self._grid.near(stroke.box):
                # The ink stays in the grid, which forgets nothing, and is marked as gone.
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
        return [ink.box for ink in inks]

    def keep_free(self, ink: Ink) -> None:
        """Let nothing that is drawn later stand here."""
        self._kept.add(len(self._inks))
        super().keep_free(ink)

    def bond(
        self, link: BondLink, points: tuple[Point, ...], options: Options, *, element: str = "", later: bool = False
    ) -> None:
        """Draw a bond from tail to head with its labels; `later` leaves them to `label`, when bonds beside it are drawn too."""
        bond = bond_shape(link, points, element)
        self.put(bond)
        if link.warned:
            end, unit = stroke_end(bond)
            centre = along(end, unit, -RING_BACK if bond.stroke == "end" else RING_BACK)
            self.put(Ring(centre, RING_RADIUS, True, "warning", _part(bond, "warning")))
        # The longest piece of a line with corners has the most room for a label, and is where the eye looks first.
        pieces = tuple(sorted(pairwise(points), key=lambda piece: -dist(*piece)))
        places: tuple[float, ...] = PLACES
        (x, y), (u, v) = points[:2]
        if element and min(abs(x - u), abs(y - v)) > 1e-9:  # it is slanted
            places = OUTWARDS if link.head == element else tuple(1 - place for place in OUTWARDS)
        for part, text in (("effort", link.effort), ("flow", link.flow)):
            if text and options.variables:
                self._waiting.append(_WaitingLabel(text, part, VARIABLE, pieces, bond, places))
        if link.size > 1:
            # The middle of a vector bond belongs to its variables; its dimension is looked for at an end.
            near_ends = (0.2, 0.28, 0.8, *PLACES)
            self._waiting.append(_WaitingLabel(str(link.size), "size", SMALL_TEXT, pieces, bond, near_ends))
        if options.bond_numbers and link.number:
            self._unnumbered.append((link.number, pieces, bond))
        if not later:
            self.label()

    def label(self) -> None:
        """Place the labels of the bonds drawn so far, where they should be; those that have no room there wait."""
        self._waiting = [waiting for waiting in self._waiting if not self._placed(waiting, ATTEMPTS[:1])]
        for number, pieces, bond in self._unnumbered:
            self._number(number, pieces, bond)
        self._unnumbered.clear()

    def settle(self) -> None:
        """Place the labels that still wait, now that all else is drawn."""
        for waiting in self._waiting:
            self.left_out += not self._placed(waiting, self.attempts)
        self._waiting.clear()

    def _placed(self, wanted: "_WaitingLabel", attempts: Iterable[Attempt]) -> bool:
        bond, part = wanted.bond, wanted.part
        tone: Tone = "warning" if bond.warned else "ink"
        # Every place is tried as a label should be before any is tried with a smaller or a more distant one.
        for (share, further, margin), piece, place in product(attempts, wanted.pieces, wanted.places):
            size = share * wanted.size
            beside = _beside(wanted.text, size, piece, place, upper=part != "flow", further=further)
            label = Label(wanted.text, *beside, tone=tone, origin=_part(bond, part))
            if self.is_free(label_box(label), margin):
                self._labelled[len(self._inks)] = wanted, label
                self.put(label)
                return True
        return False

    def _number(self, number: int, pieces: Iterable[tuple[Point, Point]], bond: Bond) -> None:
        for piece in pieces:
            unit = direction(*piece)
            length = dist(*piece)
            for place in (0.25, 0.75, *PLACES):
                for side in (-1, 1):
                    centre = along(piece[0], unit, place * length, side * (NUMBER_RADIUS + 4))
                    ring = Ring(centre, NUMBER_RADIUS, False, "quiet", _part(bond, "ring"))
                    if self.is_free(next(inks(ring)).box, 1):
                        self.put(Label(str(number), centre, SMALL_TEXT - 1, tone="quiet", origin=_part(bond, "number")))
                        self.shapes.append(ring)
                        return
        self.left_out += 1


def bond_shape(link: BondLink, points: tuple[Point, ...], element: str = "") -> Bond:
    """A bond from tail to head."""
    # The barb is on the side of the flow, and the flow is always below or right of its bond, whichever way power counts.
    dx, dy = direction(*points[-2:])
    right = dx > 0 if abs(dx) > 1e-9 else dy < 0
    side: Literal[1, -1] = 1 if right else -1
    origin = Origin(element, "bond", f"bond {link.number}" if link.number else "joint", 1, link.domain)
    stroke: Literal["start", "end"] = "start" if link.stroke == link.tail else "end"
    return Bond(points, stroke, side, link.warned or link.sink, link.size, origin=origin)


def _part(bond: Bond, part: str) -> Origin:
    return replace(bond.origin, part=part)


def upright_room(link: BondLink, options: Options) -> tuple[float, float]:
    """What an upright bond needs to its left and right: its labels."""
    effort, flow = ((text if options.variables else "") for text in (link.effort, link.flow))
    left, right = (set_math(text, VARIABLE).box.width + 8 if text else 0.0 for text in (effort, flow))
    return LEFT + left, RIGHT + right


def _beside(
    text: str, size: float, piece: tuple[Point, Point], place: float, *, upper: bool, further: float = 0
) -> tuple[Point, float, Align, Level]:
    """Where a label stands beside a piece of a bond: point, size, alignment and level."""
    (x, y), (u, v) = piece
    unit = direction(*piece)
    # Level and upright bonds have their labels at fixed distances, so that rows of them align; a slanted one needs what the box of
    # the text makes of its slope.
    at = along((x + (u - x) * place, y + (v - y) * place), unit, -FROM_HEAD)
    if abs(unit[1]) < 1e-9:
        return (at[0], y - ABOVE - further if upper else y + BELOW + further), size, "centre", "baseline"
    if abs(unit[0]) < 1e-9:
        beside = x - LEFT - further if upper else x + RIGHT + further
        return (beside, at[1] + size / 3), size, "right" if upper else "left", "baseline"
    box = label_box(Label(text, (0, 0), size))
    normal = (unit[1], -unit[0]) if unit[0] > 0 else (-unit[1], unit[0])  # upwards
    if not upper:
        normal = -normal[0], -normal[1]
    away = (abs(normal[0]) * box.width + abs(normal[1]) * box.height) / 2 + CLEAR + further
    return (at[0] + normal[0] * away, at[1] + normal[1] * away), size, "centre", "middle"
