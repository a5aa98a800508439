"""What a figure remembers: its kind, where everything stands in it, and in which order; and figures like earlier ones.

Every file of a figure carries its memory. A figure like an earlier one is drawn as usual, and then its parts are moved apart until
they stand where they stood. Space goes only where a straight cut meets nothing but wires along its way. So nothing comes nearer to
anything, and no overlap can arise. What is new makes room for itself: what follows moves on by as much as that takes, and no more.
"""

import json
import os
import re
import zlib
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import unescape
from itertools import pairwise
from math import dist, inf
from pathlib import Path
from statistics import fmean, median_high, median_low
from typing import Literal, Protocol, TypeGuard, TypeVar, final

from tellegen.core.errors import TellegenError
from tellegen.core.files import failure_reason
from tellegen.core.names import did_you_mean, listing
from tellegen.drawing import rules
from tellegen.notations.layout import PLACED_FIGURES, ItemPositions
from tellegen.scenes.geometry import Box, Point, hull
from tellegen.scenes.ink import ink_box
from tellegen.scenes.scene import Band, Block, Curve, Label, Scene, Section, Shape, Wire, mapped, moved, tidy
from tellegen.scenes.writers.raster import MEMORY_KEY
from tellegen.scenes.writers.scene_json import from_json, from_record

LadderNames = tuple[tuple[str, ...], ...]

VERSION = 1
# TeX reads lines into a buffer that is limited; comments of a thousand characters fit everywhere.
TEX_MARK, TEX_LINE = f"%{MEMORY_KEY} ", 1000
MOST_ITEMS, LONGEST_NAME, FARTHEST = 100_000, 400, 1e7
"""What a file may remember at most: anything else was not written by us."""
MOST_BYTES = 100_000_000
"""Larger files are not looked at."""
LONGEST_MEMORY = 20_000_000
"""The longest memory, in characters."""
PNG_HEAD = b"\x89PNG\r\n\x1a\n"
CHUNK = 12
"""The bytes of a chunk of a PNG beside its data: length, kind and check sum."""
NEAR, STILL = 5.0, 1.0
"""What is so near to a place that it was given is there; what moved less than the second did not move."""
ALIKE = 1 / 3
"""Figures that have less than this share of the smaller one in common are of different models."""
KEPT, ANEW = "kept the places of", "laid out anew"
"""What notes begin with."""
MOST_NAMED = 12
"""Items that a message names."""
NAME_RISE = 6.0
"""Half the height of a capital letter of an item of a bond graph: from its row to the baseline of its name."""


class NoMemoryError(Exception):
    """The file is no figure of ours that remembers its places. The text says what it is instead."""


@final
@dataclass(frozen=True, slots=True)
class Memory:
    """The notation of a figure, the centres of its items by name, and the names along its lines, the main line first.

    That of no figure is empty, and false.
    """

    notation: str = ""
    places: ItemPositions = field(default_factory=dict)
    lines: LadderNames = field(default=())

    def __bool__(self) -> bool:
        return bool(self.notation)

    @classmethod
    def of(cls, scene: Scene) -> "Memory":
        """What a scene has to remember; nothing for a kind of figure that follows from the model alone, such as equations."""
        if scene.notation not in PLACES_BY_NOTATION:
            return NO_MEMORY
        return cls(scene.notation, PLACES_BY_NOTATION[scene.notation](scene), scene.lines)

    @classmethod
    def read(cls, path: Path) -> "Memory":
        """What the file of a figure remembers.

        Raises: NoMemoryError where it is no such file.
        """
        # Every way to fail is one error with a reason: the caller draws anew, and tells it.
        reader = READERS.get(path.suffix.lower())
        if reader is None:
            raise NoMemoryError(f"files '{path.suffix}' are no figures")
        try:
            if path.stat().st_size > MOST_BYTES:
                raise NoMemoryError("the file is too large")
            data = path.read_bytes()
        except OSError as error:
            raise NoMemoryError(f"the file cannot be read: {failure_reason(error)}") from error
        try:
            return reader(data)
        except (ValueError, TellegenError) as error:
            raise NoMemoryError("the file says nothing of places, or is damaged") from error

    @classmethod
    def from_text(cls, text: str | None) -> "Memory":
        """What a line remembers.

        Raises: ValueError where it is no such line.
        """
        if text is None or len(text) > LONGEST_MEMORY:
            raise ValueError("no memory")
        # Files come from anywhere: everything in them is measured before it is believed.
        try:
            record = json.loads(text)
            version = record.pop(MEMORY_KEY)
            found: Memory = from_record(record, cls)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise ValueError("it is no record of a memory") from error
        names = [*found.places, *(name for line in found.lines for name in line)]
        near = (abs(part) <= FARTHEST for place in found.places.values() for part in place)  # and a number at all
        few = len(names) <= MOST_ITEMS and all(len(name) <= LONGEST_NAME for name in names)
        if version != VERSION or found.notation not in PLACED_FIGURES or not (few and all(near)):
            raise ValueError("it is of another version, or has places that no figure has")
        return found

    def text(self) -> str:
        """One line of ASCII; equal figures give equal lines, and no memory gives no line."""
        if not self:
            return ""
        record = {
            MEMORY_KEY: VERSION,
            "notation": self.notation,
            "places": {name: [_short(x), _short(y)] for name, (x, y) in self.places.items()},
            "lines": self.lines,
        }
        return json.dumps(record, separators=(",", ":"))

    def tex(self) -> str:
        """The same as comments of TeX, in lines that are not too long for it."""
        text = self.text()
        pieces = (text[k : k + TEX_LINE] for k in range(0, len(text), TEX_LINE))
        return "".join(f"{TEX_MARK}{piece}\n" for piece in pieces)

    def settle(self, scene: Scene, put: ItemPositions) -> Scene:
        """A scene with its items where they were, or where a person `put` them; these come first."""
        found = Memory.of(scene)
        if not found or not (put or self):
            return scene
        return _stretched_scene(scene, found.places, self._wanted_places(dict(found.places), put))

    def _wanted_places(self, here: dict[str, Point], given: ItemPositions) -> dict[str, "WantedPlace"]:
        """Where each item shall be. What a person put somewhere outweighs all the rest, which stays as it was, or as usual."""
        put = {name: at for name, at in given.items() if name in here}
        # With most items put somewhere the usual places say nothing: the few others go along with their neighbours.
        # What a person says about a few items is a correction of the usual figure; about most, a figure of their own.
        usual = not self.places and 2 * len(put) <= len(here)
        rest = {name: here[name] if usual else self.places.get(name) for name in here if name not in put}
        # One item that was put somewhere then outweighs all the others together.
        weight = 1 + len(rest)
        return {name: (at, weight) for name, at in put.items()} | {
            name: (at, 1) for name, at in rest.items() if at is not None
        }

    def nearest(self, scenes: Iterable[Scene]) -> Scene:
        """Of several figures of a model the one that has most where it was, the first of equal ones."""
        best, least = None, inf
        for scene in scenes:
            # How far things are from where they were, in the mean.
            places = Memory.of(scene).places
            far = fmean([dist(at, self.places[name]) for name, at in places.items() if name in self.places] or [0.0])
            if best is None or far < least - NEAR:
                best, least = scene, far
            if least <= NEAR:
                break  # each scene costs a whole layout, and nobody sees the difference to a nearer one
        assert best is not None, "there is at least one way to draw a figure"
        return best


NO_MEMORY = Memory()


def check_places(places: ItemPositions, names: Iterable[str], what: str) -> None:
    """Refuse a place for something that a figure cannot have.

    Raises: FigureError (F160).
    """
    known = list(dict.fromkeys(names))
    for name in places:
        # A misspelt name would otherwise be a place that nobody has, and nobody would be told.
        if name not in known:
            fix = did_you_mean(name, known) or f"the items are {listing(known, MOST_NAMED)}"
            raise rules.NO_SUCH_ITEM.error(f"there is no '{name}' in {what} to be put anywhere", fix=fix)


def misplaced_items(scene: Scene, put: ItemPositions) -> tuple[str, ...]:
    """The items that a person put somewhere, and that could not stand there."""
    places = Memory.of(scene).places
    return tuple(name for name, at in put.items() if name in places and dist(at, places[name]) > NEAR)


# -- a figure like an earlier one --------------------------------------------------------------------------------------------------


class HasScene(Protocol):
    """A figure, as far as it can be kept."""

    @property
    def scene(self) -> Scene:
        """What it shows."""


Drawn = TypeVar("Drawn", bound=HasScene)
EarlierFigure = HasScene | str | os.PathLike[str]
"""A figure, or the file of one."""


def draw_like(earlier: EarlierFigure, notation: str, make: Callable[[Memory], Drawn]) -> tuple[Drawn, str]:
    """A figure like an earlier one, and a note that says what was kept, or why it is laid out anew.

    Raises: FigureError (F162) where there is no such file, or no figure of this kind is like another.
    """
    if notation not in PLACED_FIGURES:
        told = f"figures drawn as '{notation}' follow from the model alone"
        raise rules.NOT_LIKE.error(f"nothing can be kept: {told}", fix="draw it as 'bond', 'pog' or 'network'")
    name, found, why = _recalled(earlier)
    if found and found.notation != notation:
        found, why = NO_MEMORY, f"it is drawn as '{found.notation}'"
    if found:
        figure = make(found)
        new = Memory.of(figure.scene)
        if _alike(new, found):
            return figure, _what_was_kept(name, new, found)
        why = "it is of another model" if new else "this figure follows from the model alone"
    return make(NO_MEMORY), f"{ANEW}, not like {name}: {why}"


def _recalled(earlier: EarlierFigure) -> tuple[str, Memory, str]:
    """What an earlier figure is called, what it remembers, and why it does not."""
    if isinstance(earlier, str | os.PathLike):
        path = Path(earlier)
        # A name without a file is misspelt, and an error; a file without a memory is drawn anew, and a note says so.
        if not os.path.isfile(path):
            told = f"nothing can be kept: there is no file '{path}'"
            raise rules.NOT_LIKE.error(told, fix="give the file of a figure")
        try:
            return str(path), Memory.read(path), ""
        except NoMemoryError as error:
            return str(path), NO_MEMORY, str(error)
    if not isinstance(getattr(earlier, "scene", None), Scene):
        told = f"'{type(earlier).__name__}' is neither a figure nor the name of a file"
        raise rules.NOT_LIKE.error(f"nothing can be kept: {told}", fix="give a figure, or the file of one")
    return "the earlier figure", Memory.of(earlier.scene), "figures of its kind follow from the model alone"


def _alike(new: Memory, old: Memory) -> bool:
    # By a share of the smaller one: a model that has grown to ten times its size still has all that it had.
    common = len(new.places.keys() & old.places.keys())
    return common > 0 and common >= ALIKE * min(len(new.places), len(old.places))


def _what_was_kept(name: str, new: Memory, old: Memory) -> str:
    added = len(new.places.keys() - old.places.keys())
    # How many items are not where they were, beside the way that all have in common: a new row above moves everything down.
    ways = [(x - old.places[k][0], y - old.places[k][1]) for k, (x, y) in new.places.items() if k in old.places]
    common = median_low([x for x, _ in ways]), median_low([y for _, y in ways])
    moved = sum(dist(way, common) > STILL for way in ways)
    told = [f"{added} {'item is' if added == 1 else 'items are'} new"] if added else []
    told += [f"{moved} had to move"] if moved else []
    return f"{KEPT} {name}" + (f" ({', '.join(told)})" if told else "")


# -- read from a file --------------------------------------------------------------------------------------------------------------


def _short(value: float) -> float:
    return int(value) if value == int(value) else value


def _from_svg(data: bytes) -> Memory:
    # No parser of XML: nothing in a strange file is expanded or loaded.
    found = re.search(rb"<metadata>([^<]*)</metadata>", data)
    return Memory.from_text(unescape(found[1].decode("ascii")) if found else None)


def _from_pdf(data: bytes) -> Memory:
    # matplotlib writes text of a PDF with a backslash before brackets and backslashes, and uncompressed.
    found = re.search(rb"/Keywords \(((?:[^\\()]|\\.)*)\)", data, re.DOTALL)
    return Memory.from_text(re.sub(r"\\(.)", r"\1", found[1].decode("ascii"), flags=re.DOTALL) if found else None)


def _from_png(data: bytes) -> Memory:
    for kind, body in _chunks(data):
        name, _, text = body.partition(b"\0")
        if kind == b"tEXt" and name == MEMORY_KEY.encode():
            return Memory.from_text(text.decode("ascii"))
    return Memory.from_text(None)


def _chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The chunks of a PNG that are whole."""
    at = len(PNG_HEAD)
    while data.startswith(PNG_HEAD) and at + CHUNK <= len(data):
        length = int.from_bytes(data[at : at + 4], "big")
        kind, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        at += CHUNK + length
        # A file that was cut short or changed ends here: what came before it is still good.
        if at > len(data) or zlib.crc32(kind + body) != int.from_bytes(data[at - 4 : at], "big"):
            return
        yield kind, body


def _from_tex(data: bytes) -> Memory:
    lines = data.decode("utf-8").splitlines()
    found = [line.removeprefix(TEX_MARK) for line in lines if line.startswith(TEX_MARK)]
    return Memory.from_text("".join(found) if found else None)


def _from_json(data: bytes) -> Memory:
    # A scene has all that its memory says.
    found = Memory.of(from_json(data.decode("utf-8")))
    if not found:
        raise ValueError("no memory")
    return found


READERS: dict[str, Callable[[bytes], Memory]] = {
    ".svg": _from_svg,
    ".pdf": _from_pdf,
    ".png": _from_png,
    ".tex": _from_tex,
    ".json": _from_json,
}
"""How a memory is read, by suffix: those that figures are written with."""


# -- read off a scene --------------------------------------------------------------------------------------------------------------


def bond_places(shapes: Iterable[Shape]) -> dict[str, Point]:
    """The centres of the items of a bond graph, by name: what `layout` in a file says of them."""
    labels = (shape for shape in shapes if isinstance(shape, Label) and shape.origin.part == "name")
    return {label.origin.port or label.origin.element: (label.at[0], label.at[1] - NAME_RISE) for label in labels}


def _in_pog(scene: Scene) -> dict[str, Point]:
    """The middles of columns, by element. Those of a vector block share its place."""
    found: dict[str, list[Point]] = {}
    for shape in scene.shapes:
        if isinstance(shape, Block):
            for name in shape.origin.element.split():
                found.setdefault(name, []).append(shape.box.centre)
    return {name: _to_thousandths((fmean(x for x, _ in at), fmean(y for _, y in at))) for name, at in found.items()}


def _in_network(scene: Scene) -> dict[str, Point]:
    """The middles of symbols, by element."""
    found: dict[str, list[Point]] = {}
    for shape in scene.shapes:
        if isinstance(shape, Curve) and shape.origin.part == "symbol" and shape.origin.element:
            found.setdefault(shape.origin.element, []).extend(point for _, ends in shape.outline for point in ends)
    return {name: _to_thousandths(hull(points).centre) for name, points in found.items()}


def _to_thousandths(point: Point) -> Point:
    return round(point[0], 3), round(point[1], 3)


PLACES_BY_NOTATION: Mapping[str, Callable[[Scene], ItemPositions]] = {
    "bond": lambda scene: bond_places(scene.shapes),
    "pog": _in_pog,
    "network": _in_network,
}
"""How places are read off a scene, by notation."""


# -- stretched ---------------------------------------------------------------------------------------------------------------------


Axis = Literal[0, 1]
"""Across (0) or down (1)."""
Span = tuple[float, float]
WantedPlace = tuple[Point, int]
"""Where something shall be, and how much that weighs."""
Move = tuple[float, float, int]
"""Where something is along an axis, how far it should move, and how much that weighs."""
CLEAR = 3.0
"""Lines that are nearer to each other than twice this belong together."""
STRAIGHT = 0.01


def _stretched_scene(scene: Scene, here: Mapping[str, Point], wishes: Mapping[str, WantedPlace]) -> Scene:
    """The scene with items that are `here` as near to where they shall be as longer wires bring them.

    Rows that nothing joins are stretched each for itself.
    """
    both = [name for name in here if name in wishes]
    # Nothing to do, and rounding everything once more might still move something.
    if all(here[name] == wishes[name][0] for name in both):
        return scene

    def moves(names: Iterable[str], axis: Axis) -> list[Move]:
        return [(here[k][axis], wishes[k][0][axis] - here[k][axis], wishes[k][1]) for k in names]

    # Heights are settled for the whole figure, so that rows stay under each other; widths for each row, since a wider first row
    # need not make the second one wider.
    down = _Stretch(1, scene.shapes, moves(both, 1))
    shapes: dict[int, Shape] = {}
    for (top, bottom), numbers in _rows(scene.shapes):
        own = [name for name in both if top <= here[name][1] <= bottom]
        row = [scene.shapes[k] for k in numbers]
        across = _Stretch(0, row, moves(own, 0))
        for k, wider in zip(numbers, across.applied(), strict=True):
            shapes[k] = wider
    settled = _centred(scene.shapes, down.applied([shapes[k] for k in range(len(scene.shapes))]))
    return tidy(replace(scene, box=_frame(scene, settled), shapes=tuple(settled)))


def _centred(before: Sequence[Shape], after: Sequence[Shape]) -> list[Shape]:
    """The shapes with the names of areas in the middle of these, as they were before the areas became wider."""
    pairs = list(zip(before, after, strict=True))
    areas = [(one.box, two.box) for one, two in pairs if isinstance(one, Band) and isinstance(two, Band)]
    found: list[Shape] = []
    for one, two in pairs:
        # A caption belongs to the area whose middle it had; of several over each other, to the nearest one.
        near = [new for old, new in areas if _is_caption(one) and abs(old.centre[0] - one.at[0]) < STRAIGHT]
        if near and _is_caption(two):
            under = min(near, key=lambda area: abs(area.bottom - two.at[1]))
            found.append(moved(two, under.centre[0] - two.at[0], 0.0))
        else:
            found.append(two)
    return found


def _is_caption(shape: Shape) -> TypeGuard[Label]:
    return isinstance(shape, Label) and shape.origin.part == "caption"


def _frame(scene: Scene, shapes: Sequence[Shape]) -> Box:
    """A box with the margins of the scene round its shapes."""
    # The margins may differ from side to side, with captions below and legends beside.
    old, new, box = ink_box(scene.shapes), ink_box(shapes), scene.box
    return Box(
        new.left + box.left - old.left,
        new.top + box.top - old.top,
        new.right + box.right - old.right,
        new.bottom + box.bottom - old.bottom,
    )


def _rows(shapes: Sequence[Shape]) -> list[tuple[Span, list[int]]]:
    """Shapes by their numbers, in rows with nothing between them."""
    spans = [_span(ink_box([shape]), 1) for shape in shapes]
    rows = _merged(spans)
    tops = [top for top, _ in rows]
    members: list[list[int]] = [[] for _ in rows]
    for k, (top, _) in enumerate(spans):
        members[bisect_right(tops, top) - 1].append(k)
    return list(zip(rows, members, strict=True))


@final
class _Stretch:
    """Longer wires along one axis: everything between two cuts moves alike, and never less than what is before it."""

    def __init__(self, axis: Axis, shapes: Sequence[Shape], moves: Iterable[Move]) -> None:
        self.axis, self.shapes = axis, shapes
        self.spans = _rigid(axis, shapes)
        stiff = _merged(sorted({span for span in self.spans if span is not None}))
        # A cut goes through the middle of each gap between what is rigid; only wires and areas cross it, and they become longer.
        self.cuts = [(end + start) / 2 for (_, end), (start, _) in pairwise(stiff)]
        wanted: list[list[float]] = [[] for _ in range(len(self.cuts) + 1)]
        for at, far, weight in moves:
            wanted[bisect_right(self.cuts, at)] += [far] * weight
        self.shifts = _rising_moves(wanted)

    def shift(self, at: float) -> float:
        """How far something moves."""
        return self.shifts[bisect_right(self.cuts, at)]

    def applied(self, shapes: Sequence[Shape] | None = None) -> list[Shape]:
        """The shapes after that; `shapes` are those of this stretch, moved along the other axis."""
        found: list[Shape] = []
        for shape, span in zip(self.shapes if shapes is None else shapes, self.spans, strict=True):
            far = 0.0 if span is None else self.shift(sum(span) / 2)
            dx, dy = (far, 0.0) if self.axis == 0 else (0.0, far)
            found.append(mapped(shape, self._point, self._box) if span is None else moved(shape, dx, dy))
        return found

    def _point(self, point: Point) -> Point:
        x, y = point
        return (x + self.shift(x), y) if self.axis == 0 else (x, y + self.shift(y))

    def _box(self, box: Box) -> Box:
        (left, top), (right, bottom) = self._point((box.left, box.top)), self._point((box.right, box.bottom))
        return Box(left, top, right, bottom)


# -- what holds together -----------------------------------------------------------------------------------------------------------


def _rigid(axis: Axis, shapes: Sequence[Shape]) -> list[Span | None]:
    """The span that no cut divides, for each shape: that of all that belongs to its element or section; None for what stretches."""
    # What is of one element or one section moves as one, or its label would stay behind. A wire with right angles is no such
    # part: it takes up what is between its ends.
    sections = {shape.origin.port for shape in shapes if isinstance(shape, Section)} - {""}
    groups: dict[tuple[str, str | int], list[Shape]] = defaultdict(list)
    keys: list[tuple[str, str | int]] = []
    for k, shape in enumerate(shapes):
        origin = shape.origin
        if origin.port in sections:
            keys.append(("section", origin.port))
        else:
            keys.append(("element", origin.element) if origin.element else ("shape", k))
        if isinstance(shape, Section) or not _stretches(shape):
            groups[keys[-1]].append(shape)
    spans = {key: _span(ink_box(members).grown(CLEAR), axis) for key, members in groups.items()}
    return [None if _stretches(shape) else spans[key] for shape, key in zip(shapes, keys, strict=True)]


def _stretches(shape: Shape) -> bool:
    """Whether a shape may become longer: areas with their names, sections, and wires with right angles."""
    if isinstance(shape, Wire):
        return all(abs(x - u) < STRAIGHT or abs(y - v) < STRAIGHT for (x, y), (u, v) in pairwise(shape.points))
    return isinstance(shape, Band | Section) or _is_caption(shape)


def _span(box: Box, axis: Axis) -> Span:
    return (box.left, box.right) if axis == 0 else (box.top, box.bottom)


def _merged(spans: Iterable[Span]) -> list[Span]:
    """Spans that touch become one."""
    found: list[Span] = []
    for low, high in sorted(spans):
        if found and low <= found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], high)
        else:
            found.append((low, high))
    return found


# -- how far -----------------------------------------------------------------------------------------------------------------------


def _rising_moves(wanted: Sequence[Sequence[float]]) -> list[float]:
    """For each part a move, none smaller than that before it, so that all moves together are as near as can be to those wanted.

    Parts that would come nearer to each other move alike, by the median of what they want. One that wants nothing moves with those
    before it.
    """
    # Isotonic regression by pooling neighbours that are out of order (Ayer et al. 1955), with medians in the place of means:
    # one item that was put far away does not drag all the others along.
    pools: list[tuple[list[float], int]] = []
    for moves in wanted:
        if not moves and pools:
            pools[-1] = pools[-1][0], pools[-1][1] + 1
            continue
        pool, count = list(moves), 1
        while pools and (not pools[-1][0] or median_high(pools[-1][0]) > median_high(pool)):
            before, more = pools.pop()
            pool, count = before + pool, count + more
        pools.append((pool, count))
    return [median_high(pool) if pool else 0.0 for pool, count in pools for _ in range(count)]
