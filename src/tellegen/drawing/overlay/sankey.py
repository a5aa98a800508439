"""The energy of a run as a Sankey diagram: the streams that elements gave and took, from its energy balance."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, final

from tellegen.drawing import rules
from tellegen.drawing.formulas import name_latex, quantity_latex
from tellegen.drawing.geometry import Box, Point, union
from tellegen.drawing.overlay.marks import domain_tone
from tellegen.drawing.scene import MARGIN, Align, Curve, Label, Origin, Scene, Shape, Tone, label_box, moved, tidy
from tellegen.drawing.strokes import box_outline
from tellegen.graph import Port, SourceLaw, StorageLaw
from tellegen.results import Run

StreamKind = Literal["supplied", "stored", "dissipated", "moved", "impacts", "others", "missing"]
"""How energy came or went: `moved` is the work of what moves parameters, `missing` what the books do not close by."""

SMALL = 2e-3
"""Streams under this part of all energy are shown as one."""
MISSING = 1e-3
"""A gap of the books under this part is the tolerance of the solver."""
ROUNDING = 1e-12
"""What is under this part of the largest stream is no energy, but what rounding left of none."""


@final
@dataclass(frozen=True, slots=True)
class EnergyStream:
    """Energy in J, positive, that an element gave to the system or took from it. Some streams are of no one element."""

    name: str
    energy: float
    gives: bool
    manner: StreamKind
    domain: str = ""


def energy_streams(run: Run) -> tuple[EnergyStream, ...]:
    """The streams of a run, givers first, the largest first. What goes in comes out, but for what is `missing`.

    Storages count by what they gained or lost. Heat that dissipators bring into thermal ports stays inside the system.
    """
    found = sorted(_streams(run), key=lambda stream: (not stream.gives, -stream.energy))
    total = max(_sum(found, gives=True), _sum(found, gives=False))
    return tuple(s for gives in (True, False) for s in _few([s for s in found if s.gives == gives], SMALL * total))


def _streams(run: Run) -> Iterator[EnergyStream]:
    streams = list(_all(run))
    least = ROUNDING * max(stream.energy for stream in streams)
    streams = [stream for stream in streams if stream.energy > least]
    yield from streams
    gap = _sum(streams, gives=False) - _sum(streams, gives=True)
    handled = max(_sum(streams, gives=True), _sum(streams, gives=False))
    if abs(gap) > MISSING * handled:
        yield _signed_stream("", gap, "missing")


def _all(run: Run) -> Iterator[EnergyStream]:
    taken = run.energy.by_element()
    for port in run.graph.ports:
        if port.transferred or port.element not in taken:
            continue
        if isinstance(port.law, StorageLaw):
            yield _signed_stream(port.element, -_gained(run, port), "stored", port.domain)
        elif isinstance(port.law, SourceLaw):
            yield _signed_stream(port.element, taken[port.element], "supplied", port.domain)
        else:
            yield _signed_stream(port.element, -taken[port.element], "dissipated", port.domain)
    yield _signed_stream("", run.energy.modulation, "moved")
    yield _signed_stream("", -run.energy.impulsive, "impacts")


def _gained(run: Run, port: Port) -> float:
    rows = run.values(f"energy.{port.element}")
    return float(rows[-1] - rows[0])


def _signed_stream(name: str, given: float, manner: StreamKind, domain: str = "") -> EnergyStream:
    return EnergyStream(name, abs(given), given > 0, manner, domain)


def _few(streams: list[EnergyStream], least: float) -> list[EnergyStream]:
    """Streams with the small ones as one, where there are several of them."""
    large = [stream for stream in streams if stream.energy >= least]
    small = [stream for stream in streams if stream.energy < least]
    if len(small) < 2:
        return streams
    domains = {stream.domain for stream in small}
    domain = domains.pop() if len(domains) == 1 else ""
    return [*large, EnergyStream("", sum(s.energy for s in small), small[0].gives, "others", domain)]


def _sum(streams: Iterable[EnergyStream], *, gives: bool) -> float:
    return sum(stream.energy for stream in streams if stream.gives == gives)


HEIGHT = 300.0
"""Of all energy."""
REACH = 210.0
"""From the bar in the middle to those of the elements."""
BAR, MIDDLE = 8.0, 14.0
"""Widths of bars."""
PITCH, GAP = 38.0, 12.0
"""Between the middles of two streams, so that their texts are apart, and between their edges."""
NAME, NOTE = 16.0, 12.0
WORDS: dict[StreamKind, tuple[str, str]] = {
    "supplied": ("supplied", "taken out"),
    "stored": ("given by storage", "stored"),
    "dissipated": ("generated", "dissipated"),
    "moved": ("moving parameters", "moving parameters"),
    "impacts": ("impacts", "impacts"),
    "others": ("others", "others"),
    "missing": ("missing", "missing"),
}
"""What a giver and a taker is said to do."""


@final
@dataclass(frozen=True, slots=True)
class PlacedStream:
    """A stream with the tops of its two ends and its height."""

    stream: EnergyStream
    outer: float
    inner: float
    height: float


def sankey_scene(run: Run) -> Scene:
    """The energy of a run as a diagram: the width of a stream is its energy.

    Raises: FigureError (F206) where no energy moved.
    """
    streams = energy_streams(run)
    given, taken = ([s for s in streams if s.gives == gives] for gives in (True, False))
    total = max(sum(s.energy for s in given), sum(s.energy for s in taken))
    if not total > 0:
        raise rules.NO_ENERGY.error(
            f"in the run of '{run.name}' no energy moved", where=run.name, fix="give it an input or an initial value"
        )
    shapes: list[Shape] = []
    for side in (given, taken):
        for placed in _placed(side, HEIGHT / total):
            shapes += _stream_shapes(placed)
    shapes += _middle(total)
    return _framed(run, streams, shapes)


def _placed(streams: list[EnergyStream], scale: float) -> Iterator[PlacedStream]:
    """Streams under each other: together at the bar, apart at their elements, both about the same middle."""
    heights = [stream.energy * scale for stream in streams]
    steps = [max(GAP + (a + b) / 2, PITCH) for a, b in pairwise(heights)]
    first, last = (heights[0], heights[-1]) if heights else (0.0, 0.0)
    middle = -(first / 2 + sum(steps) + last / 2) / 2 + first / 2
    inner = -sum(heights) / 2
    for stream, height, step in zip(streams, heights, [*steps, 0.0], strict=True):
        yield PlacedStream(stream, middle - height / 2, inner, height)
        middle += step
        inner += height


def _stream_shapes(placed: PlacedStream) -> Iterator[Shape]:
    stream = placed.stream
    way = -1 if stream.gives else 1
    origin = _origin(stream, "stream")
    tone = _tone(stream)
    near, far = way * MIDDLE / 2, way * REACH
    yield Curve(
        _ribbon((far, placed.outer), (near, placed.inner), placed.height),
        "hair",
        tone=tone,
        origin=origin,
        closed=True,
        pale=True,
    )
    bar = Box(min(far, far + way * BAR), placed.outer, max(far, far + way * BAR), placed.outer + placed.height)
    yield Curve(box_outline(bar), filled=True, closed=True, tone=tone, origin=_origin(stream, "bar"))
    yield from _texts(stream, (far + way * (BAR + 8), placed.outer + placed.height / 2))


def _ribbon(far: Point, near: Point, height: float) -> tuple[tuple[str, tuple[Point, ...]], ...]:
    (x, y), (u, v) = far, near
    half = (x + u) / 2
    return (
        ("M", ((x, y),)),
        ("C", ((half, y), (half, v), (u, v))),
        ("L", ((u, v + height),)),
        ("C", ((half, v + height), (half, y + height), (x, y + height))),
        ("Z", ()),
    )


def _texts(stream: EnergyStream, at: Point) -> Iterator[Shape]:
    """The name of the element over its energy; what is of no one element has words in place of a name."""
    x, y = at
    align: Align = "right" if stream.gives else "left"
    words = WORDS[stream.manner][0 if stream.gives else 1]
    energy = quantity_latex(float(f"{stream.energy:.3g}"), "J")
    if stream.name:
        yield Label(name_latex(stream.name), (x, y - 3), NAME, align, "baseline", origin=_origin(stream, "name"))
        energy = rf"{energy}\text{{ {words}}}"
    else:
        yield Label(words, (x, y - 4), NOTE, align, "baseline", False, True, origin=_origin(stream, "name"))
    yield Label(energy, (x, y + 13), NOTE, align, "baseline", tone="quiet", origin=_origin(stream, "energy"))


def _middle(total: float) -> Iterator[Shape]:
    bar = Box(-MIDDLE / 2, -HEIGHT / 2, MIDDLE / 2, HEIGHT / 2)
    yield Curve(box_outline(bar), filled=True, closed=True, tone="quiet", origin=Origin(part="total"))
    text = quantity_latex(float(f"{total:.3g}"), "J")
    yield Label(text, (0, -HEIGHT / 2 - 10), NAME, level="baseline", origin=Origin(part="total energy"))


def _framed(run: Run, streams: tuple[EnergyStream, ...], shapes: list[Shape]) -> Scene:
    boxes = [label_box(shape) for shape in shapes if isinstance(shape, Label)]
    boxes += [_extent(shape) for shape in shapes if isinstance(shape, Curve)]
    full = union(boxes).grown(MARGIN)
    placed = tuple(moved(shape, -full.left, -full.top) for shape in shapes)
    told = ", ".join(f"{s.name or s.manner} {'gave' if s.gives else 'took'} {s.energy:.3g} J" for s in streams)
    return tidy(Scene(f"Energy: {run.name}", told, Box(0, 0, full.width, full.height), placed))


def _extent(curve: Curve) -> Box:
    points = [point for _, ends in curve.outline for point in ends]
    return union([Box(x, y, x, y) for x, y in points])


def _origin(stream: EnergyStream, part: str) -> Origin:
    side = "gives" if stream.gives else "takes"
    return Origin(stream.name, part, side if stream.name else f"{stream.manner} {side}", 1, stream.domain)


def _tone(stream: EnergyStream) -> Tone:
    if stream.manner == "missing":
        return "warning"
    return domain_tone(stream.domain) if stream.domain else "quiet"
