"""Memories read from scenes and files, and figures like earlier ones: parts are moved apart until they stand where they stood.

Space goes only where a straight cut meets nothing but wires along its way. So nothing comes nearer to anything, and no overlap can
arise. What is new makes room for itself: what follows moves on by as much as that takes, and no more.
"""

import re
import zlib
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from math import dist, inf
from pathlib import Path
from statistics import fmean, median_high
from typing import Literal, TypeGuard, final
from xml.sax.saxutils import unescape

from tellegen.core.errors import TellegenError
from tellegen.core.files import failure_reason
from tellegen.core.names import did_you_mean, listing
from tellegen.drawing import rules
from tellegen.drawing.bond.pinned import bond_places
from tellegen.drawing.geometry import Box, Point, hull
from tellegen.drawing.ink import ink_box
from tellegen.drawing.memory import TEX_MARK, FigureMemory, LadderNames, memory_from_text
from tellegen.drawing.options import Options
from tellegen.drawing.scene import Band, Block, Curve, Label, Scene, Section, Shape, Wire, mapped, moved, tidy
from tellegen.drawing.writers.raster import MEMORY
from tellegen.drawing.writers.scene_json import from_json
from tellegen.notations.layout import ItemPositions


def memory_of(scene: Scene) -> FigureMemory | None:
    """What a scene has to remember; None for a kind of figure that follows from the model alone, such as equations."""
    if scene.notation not in PLACES_BY_NOTATION:
        return None
    return FigureMemory(scene.notation, PLACES_BY_NOTATION[scene.notation](scene), scene.lines)


# -- where things stand ------------------------------------------------------------------------------------------------------------


def _in_pog(scene: Scene) -> dict[str, Point]:
    """The middles of columns, by element. Those of a vector block share its place."""
    found: dict[str, list[Point]] = {}
    for shape in scene.shapes:
        if isinstance(shape, Block):
            for name in shape.origin.element.split():
                found.setdefault(name, []).append(shape.box.centre)
    return {name: _mean(points) for name, points in found.items()}


def _in_network(scene: Scene) -> dict[str, Point]:
    """The middles of symbols, by element."""
    found: dict[str, list[Point]] = {}
    for shape in scene.shapes:
        if isinstance(shape, Curve) and shape.origin.part == "symbol" and shape.origin.element:
            found.setdefault(shape.origin.element, []).extend(_points(shape))
    return {name: tuple(round(part, 3) for part in hull(points).centre) for name, points in found.items()}  # type: ignore[misc]


def _points(curve: Curve) -> Iterator[Point]:
    return (point for _, points in curve.outline for point in points)


def _mean(points: list[Point]) -> Point:
    return round(fmean(x for x, _ in points), 3), round(fmean(y for _, y in points), 3)


PLACES_BY_NOTATION = {"bond": bond_places, "pog": _in_pog, "network": _in_network}
"""How places are read off a scene, by notation."""


MOST_BYTES = 100_000_000
"""Larger files are not looked at."""
LONGEST_MEMORY = 20_000_000
"""The longest memory, in characters."""
PNG_HEAD = b"\x89PNG\r\n\x1a\n"
CHUNK = 12
"""The bytes of a chunk of a PNG beside its data: length, kind and check sum."""


class NoMemoryError(Exception):
    """The file is no figure of ours that remembers its places. The text says what it is instead."""


def read_memory(path: Path) -> FigureMemory:
    """What the file of a figure remembers.

    Raises: NothingRememberedError where it is no such file.
    """
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


def _memory_from_line(text: str | None) -> FigureMemory:
    if text is None or len(text) > LONGEST_MEMORY:
        raise ValueError("no memory")
    return memory_from_text(text)


def _from_svg(data: bytes) -> FigureMemory:
    # No parser of XML: nothing in a strange file is expanded or loaded.
    found = re.search(rb"<metadata>([^<]*)</metadata>", data)
    return _memory_from_line(unescape(found[1].decode("ascii")) if found else None)


def _from_pdf(data: bytes) -> FigureMemory:
    found = re.search(rb"/Keywords \(((?:[^\\()]|\\.)*)\)", data, re.DOTALL)
    return _memory_from_line(re.sub(r"\\(.)", r"\1", found[1].decode("ascii"), flags=re.DOTALL) if found else None)


def _from_png(data: bytes) -> FigureMemory:
    for kind, body in _chunks(data):
        name, _, text = body.partition(b"\0")
        if kind == b"tEXt" and name == MEMORY.encode():
            return _memory_from_line(text.decode("ascii"))
    return _memory_from_line(None)


def _chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The chunks of a PNG that are whole."""
    at = len(PNG_HEAD)
    while data.startswith(PNG_HEAD) and at + CHUNK <= len(data):
        length = int.from_bytes(data[at : at + 4], "big")
        kind, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        at += CHUNK + length
        if at > len(data) or zlib.crc32(kind + body) != int.from_bytes(data[at - 4 : at], "big"):
            return
        yield kind, body


def _from_tex(data: bytes) -> FigureMemory:
    lines = data.decode("utf-8").splitlines()
    found = [line.removeprefix(TEX_MARK) for line in lines if line.startswith(TEX_MARK)]
    return _memory_from_line("".join(found) if found else None)


def _from_json(data: bytes) -> FigureMemory:
    found = memory_of(from_json(data.decode("utf-8")))
    if found is None:
        raise ValueError("no memory")
    return found


READERS: dict[str, Callable[[bytes], FigureMemory]] = {
    ".svg": _from_svg,
    ".pdf": _from_pdf,
    ".png": _from_png,
    ".tex": _from_tex,
    ".json": _from_json,
}
"""How a memory is read, by suffix: those that figures are written with."""


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
    if all(here[name] == wishes[name][0] for name in both):
        return scene

    def moves(names: Iterable[str], axis: Axis) -> list[Move]:
        return [(here[k][axis], wishes[k][0][axis] - here[k][axis], wishes[k][1]) for k in names]

    down = _Stretch(1, scene.shapes, moves(both, 1))
    shapes: dict[int, Shape] = {}
    for (top, bottom), numbers in _rows(scene.shapes):
        own = [name for name in both if top <= here[name][1] <= bottom]
        row = [scene.shapes[k] for k in numbers]
        across = _Stretch(0, row, moves(own, 0))
        for k, wider in zip(numbers, across.applied(), strict=True):
            shapes[k] = wider
    settled = down.applied([shapes[k] for k in range(len(scene.shapes))])
    settled = _centred(scene.shapes, settled)
    return tidy(replace(scene, box=_frame(scene, settled), shapes=tuple(settled)))


def _centred(before: Sequence[Shape], after: Sequence[Shape]) -> list[Shape]:
    """The shapes with the names of areas in the middle of these, as they were before the areas became wider."""
    areas = [
        (one.box, two.box)
        for one, two in zip(before, after, strict=True)
        if isinstance(one, Band) and isinstance(two, Band)
    ]
    found: list[Shape] = []
    for one, two in zip(before, after, strict=True):
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
        return [
            self._applied(shape, span)
            for shape, span in zip(self.shapes if shapes is None else shapes, self.spans, strict=True)
        ]

    def _applied(self, shape: Shape, span: Span | None) -> Shape:
        if span is not None:
            far = self.shift(sum(span) / 2)
            return moved(shape, far, 0.0) if self.axis == 0 else moved(shape, 0.0, far)
        return mapped(shape, self._point, self._box)

    def _point(self, point: Point) -> Point:
        x, y = point
        return (x + self.shift(x), y) if self.axis == 0 else (x, y + self.shift(y))

    def _box(self, box: Box) -> Box:
        (left, top), (right, bottom) = self._point((box.left, box.top)), self._point((box.right, box.bottom))
        return Box(left, top, right, bottom)


# -- what holds together -----------------------------------------------------------------------------------------------------------


def _rigid(axis: Axis, shapes: Sequence[Shape]) -> list[Span | None]:
    """The span that no cut divides, for each shape: that of all that belongs to its element or section; None for what stretches."""
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


MOST_NAMED = 12
"""Items that a message names."""
ROOMY = (1.2, 1.4)
"""What was not cut into rows before may be so much wider, and the figure is drawn smaller."""
MOST_COMPARED = 200
"""Larger figures are drawn in one way only."""
NEAR = 5.0
"""What is so near to its place is there."""


def check_places(options: Options, names: Iterable[str], what: str) -> None:
    """Refuse a place for something that a figure cannot have.

    Raises: FigureError (F160).
    """
    known = list(dict.fromkeys(names))
    for name in options.places:
        if name not in known:
            fix = did_you_mean(name, known) or f"the items are {listing(known, MOST_NAMED)}"
            raise rules.NO_SUCH_ITEM.error(f"there is no '{name}' in {what} to be put anywhere", fix=fix)


def earlier_lines(options: Options) -> LadderNames:
    """The names along the lines of an earlier figure."""
    return () if options.earlier is None else options.earlier.lines


def earlier_places(options: Options) -> ItemPositions:
    """Where everything stood in an earlier figure."""
    return {} if options.earlier is None else options.earlier.places


def placed_like_earlier(scene: Scene, options: Options) -> Scene:
    """The scene with its items where they were, or where a person put them; these come first."""
    found = memory_of(scene)
    if found is None or not (options.places or options.earlier):
        return scene
    return _stretched_scene(scene, found.places, _wanted_places(dict(found.places), options))


def layout_choices(options: Options) -> Iterator[Options]:
    """Ways to draw a figure like an earlier one: with its order and without, as wide as it may be and somewhat wider."""
    yield options
    if options.earlier is not None and len(options.earlier.places) <= MOST_COMPARED:
        for lines in dict.fromkeys((options.earlier.lines, ())):
            for wide in (1.0, *ROOMY):
                if lines != options.earlier.lines or wide > 1.0:
                    yield replace(options, max_width=wide * options.room, earlier=replace(options.earlier, lines=lines))


def nearest_to_earlier(scenes: Iterable[Scene], options: Options) -> Scene:
    """Of several figures of a model the one that has most where an earlier one had it, the first of equal ones."""
    best, least = None, inf
    for scene in scenes:
        far = _mean_distance(scene, options)
        if best is None or far < least - NEAR:
            best, least = scene, far
        if least <= NEAR:
            break
    assert best is not None, "there is at least one way to draw a figure"
    return best


def _mean_distance(scene: Scene, options: Options) -> float:
    """How far things are from where they were, in the mean."""
    found, before = memory_of(scene), earlier_places(options)
    both = [] if found is None else [name for name in found.places if name in before]
    if found is None or not both:
        return 0.0
    return fmean(dist(found.places[name], before[name]) for name in both)


def misplaced_items(scene: Scene, options: Options) -> tuple[str, ...]:
    """The items that a person put somewhere, and that could not stand there."""
    found = memory_of(scene)
    places = {} if found is None else found.places
    return tuple(name for name, at in options.places.items() if name in places and dist(at, places[name]) > NEAR)


def _wanted_places(here: dict[str, Point], options: Options) -> dict[str, WantedPlace]:
    """Where each item shall be. What a person put somewhere outweighs all the rest, which stays as it was, or as usual."""
    put = {name: at for name, at in options.places.items() if name in here}
    before = earlier_places(options)
    usual = not before and 2 * len(put) <= len(here)
    rest = {name: here[name] if usual else before.get(name) for name in here if name not in put}
    weight = 1 + len(rest)
    return {name: (at, weight) for name, at in put.items()} | {
        name: (at, 1) for name, at in rest.items() if at is not None
    }
